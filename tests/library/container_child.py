"""Reads containers again and again until it is killed, committing between members at random.

Run as ``python container_child.py LIBRARY SEED [stay]``. Prints ``inside`` after a commit between members and
``done PATH VERSION`` after the commit that ended a container. With ``stay`` it stays where it first said ``inside``.
"""

from __future__ import annotations

import random
import sys
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from library.makers import RULES, document, file_at, info
from sbert_desktop.domain import SourceFile
from sbert_desktop.library import open_library


def main() -> None:
    chance = random.Random(int(sys.argv[2]))
    library = open_library(Path(sys.argv[1]))
    with library.writer() as writer:
        writer.use_space(info(), "tokenizer", RULES)
        folder = writer.add_folder(Path("/docs"))
        writer.commit()
        print("ready", flush=True)
        for round_ in range(100_000):
            path, version = Path(f"/docs/{chance.randrange(3)}.mbox"), 1_000 * int(sys.argv[2]) + 3 * round_
            container = SourceFile(path, 1000 + version, 1)
            writer.begin_container(folder, container)
            for number in range(version, version + 20):
                text, passages = document([f"message {number}"])
                writer.put(folder, replace(file_at(path, text.text), member=f"{number}.eml"), text, passages, ())
                if chance.random() < 0.1:
                    writer.commit()
                    print("inside", flush=True)
                    if sys.argv[3:] == ["stay"]:
                        sys.stdin.read()
            writer.finish_container(folder, container, None, (), ())
            writer.commit()
            print(f"done {path} {version}", flush=True)


if __name__ == "__main__":
    main()
