"""Writes, changes and removes documents until it is killed; says what is safe, after each commit.

Run as ``python crash_child.py LIBRARY SEED``. A line ``put PATH VERSION``, ``gone PATH`` or
``vectors PATH VERSION`` is printed only after the commit that holds it.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from library.makers import RULES, encode, info, put_text
from sbert_desktop.library import Writer, open_library


def words_of(path: str, version: str) -> list[str]:
    """The paragraphs of one version of one file: both sides make them from the name."""
    return [f"{path} version {version} paragraph {number} {chr(97 + number) * 3}" for number in range(3)]


def work(writer: Writer, folder: int, chance: random.Random, base: str) -> None:
    known: dict[str, str] = {}
    for round_ in range(10_000):
        said = []
        for number in range(chance.randrange(1, 6)):
            path = f"/docs/{base}-{chance.randrange(40)}"
            if chance.random() < 0.2 and path in known:
                known_files = writer._library.known_files(folder)  # type: ignore[arg-type]
                if path.encode() in known_files:
                    writer.remove([known_files[path.encode()].id])
                    said.append(f"gone {path}")
                    known.pop(path)
                continue
            known[path] = f"{base}.{round_}.{number}"
            put_text(writer, folder, Path(path), words_of(path, known[path]))
            said.append(f"put {path} {known[path]}")
        # Said before the commit as begun, after it as done: a killed process may have committed unseen.
        print("\n".join(f"begin {line}" for line in said), flush=True)
        writer.commit()
        print("\n".join(said), flush=True)
        if chance.random() < 0.7:
            waiting = writer.pending(tokens_hint_chars=600)
            for pending in waiting:
                ids, texts = zip(*pending.passages, strict=True)
                writer.put_vectors(ids, encode(texts))
            writer.commit()
        if chance.random() < 0.1:
            writer.compact(share=0.05)


def main() -> None:
    library = open_library(Path(sys.argv[1]))
    with library.writer() as writer:
        writer.use_space(info(), "tokenizer", RULES)
        folder = writer.add_folder(Path("/docs"))
        writer.commit()
        print("ready", flush=True)
        work(writer, folder, random.Random(int(sys.argv[2])), sys.argv[2])


if __name__ == "__main__":
    main()
