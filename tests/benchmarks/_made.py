"""Libraries and folders made for measuring: seeded, of any size, with words of our own."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from sbert_desktop.domain import Block, ExtractedText, Passage, SourceFile

_SYLLABLES = [
    "ba",
    "ke",
    "li",
    "mo",
    "nu",
    "pra",
    "ste",
    "vi",
    "gor",
    "ten",
    "sal",
    "mir",
    "dun",
    "fe",
    "ro",
    "cha",
    "lin",
    "os",
    "ar",
    "ved",
    "tum",
    "kip",
    "wen",
    "hol",
    "jas",
]


def vocabulary(size: int = 20_000, seed: int = 3) -> list[str]:
    """Gives made-up words, the first ones short and common."""
    rng = random.Random(seed)
    words: dict[str, None] = {}
    while len(words) < size:
        words["".join(rng.choice(_SYLLABLES) for _ in range(rng.choice((1, 2, 2, 3, 3, 4))))] = None
    return list(words)


class Writer:
    """Writes sentences whose words follow Zipf's law, as real ones do."""

    def __init__(self, seed: int = 5) -> None:
        self._rng = np.random.default_rng(seed)
        self._words = vocabulary()
        ranks = np.arange(1, len(self._words) + 1)
        self._p = (1 / ranks) / (1 / ranks).sum()

    def sentence(self) -> str:
        """Gives one sentence of 6 to 18 words."""
        count = int(self._rng.integers(6, 19))
        chosen = self._rng.choice(len(self._words), count, p=self._p)
        return " ".join(self._words[i] for i in chosen).capitalize() + "."

    def text(self, words: int) -> str:
        """Gives a text of about so many words."""
        out: list[str] = []
        count = 0
        while count < words:
            out.append(self.sentence())
            count += out[-1].count(" ") + 1
        return " ".join(out)


def write_files(folder: Path, count: int, words: int, seed: int = 5) -> None:
    """Writes ``count`` text files in sub-folders of 500."""
    writer = Writer(seed)
    for number in range(count):
        place = folder / f"part-{number // 500:03d}"
        if number % 500 == 0:
            place.mkdir(parents=True, exist_ok=True)
        (place / f"file-{number:06d}.txt").write_text(writer.text(words), encoding="utf-8")


def fill_library(path: Path, passages: int, session, per_document: int = 5, seed: int = 9) -> Path:  # type: ignore[no-untyped-def]
    """Makes a library with real word entries and random unit vectors; gives its folder.

    Ten sub-folders, so that a folder filter keeps a tenth.
    """
    rng = np.random.default_rng(seed)
    writer = Writer(seed)
    encoder = session.encoder()
    root = path.parent / "made"
    root.mkdir(parents=True, exist_ok=True)
    (root / "keep.txt").write_text("kept")
    with session.library.writer() as store:
        store.use_space(encoder.info, encoder.tokenizer.key, session.rules(encoder))
        folder = store.add_folder(root)
        done = 0
        number = 0
        while done < passages:
            parts = [writer.text(60) for _ in range(per_document)]
            text = "\n".join(parts)
            cuts: list[Passage] = []
            start = 0
            for ordinal, part in enumerate(parts):
                cuts.append(Passage(ordinal, start, start + len(part), part))
                start += len(part) + 1
            file = SourceFile(
                root / f"sub-{number % 10}" / f"made-{number}.txt", len(text), number + 1, content_hash=f"{number:064x}"
            )
            store.put(folder, file, ExtractedText("txt", text, (Block(0, len(text)),), language="en"), cuts, ())
            done += per_document
            number += 1
            if number % 200 == 0:
                _fill(store, rng, encoder.info.dimension)
        _fill(store, rng, encoder.info.dimension)
        store.set_scanned(folder, 1.0)
        store.commit()
        store.build_index(None)
    return root


def _fill(store, rng, dimension: int) -> None:  # type: ignore[no-untyped-def]
    store.commit()
    while pending := store.pending():
        ids = [pid for document in pending for pid, _ in document.passages]
        vectors = rng.standard_normal((len(ids), dimension)).astype(np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        store.put_vectors(ids, vectors)
        store.commit()


def queries(count: int, seed: int = 21) -> Iterator[str]:
    """Gives queries of two to six words."""
    writer = Writer(seed)
    rng = random.Random(seed)
    for _ in range(count):
        yield " ".join(writer.sentence().rstrip(".").lower().split()[: rng.randint(2, 6)])
