"""A library of made documents whose vectors are given, and themes that stand in for those of the program."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import numpy as np

from sbert_desktop.app.atlas_views import DocumentRow, Grouping, ThemeView
from sbert_desktop.app.session import Session
from sbert_desktop.domain import Block, EncoderInfo, ExtractedText, Passage, SourceFile, SplitRules
from sbert_desktop.jobs import NullContext

DIMENSION = 32


class Listening(NullContext):
    """Keeps what a job says; may end it at the n-th question."""

    def __init__(self, end_at: int | None = None) -> None:
        self.partials: list = []
        self.phases: list[str] = []
        self.asked = 0
        self._end_at = end_at

    def check(self) -> None:
        from sbert_desktop.errors import Cancelled

        self.asked += 1
        if self._end_at is not None and self.asked >= self._end_at:
            raise Cancelled

    def progress(self, phase, done, total, detail="") -> None:
        if not self.phases or self.phases[-1] != phase:
            self.phases.append(phase)

    def partial(self, result) -> None:
        self.partials.append(result)


def clustered(
    count: int, groups: int = 4, seed: int = 0, dimension: int = DIMENSION, noise: float = 0.35
) -> np.ndarray:
    """Gives unit vectors around so many directions, float32 [count, dimension]; the group of row i is i % groups."""
    random = np.random.default_rng(seed)
    middles = random.standard_normal((groups, dimension))
    middles /= np.linalg.norm(middles, axis=1, keepdims=True)
    rows = middles[np.arange(count) % groups] + noise * random.standard_normal((count, dimension)) / np.sqrt(dimension)
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def put_documents(
    session: Session,
    root: Path,
    vectors: np.ndarray,
    *,
    first: int = 0,
    texts=None,
    fingerprint: str = "made",
    languages=("en",),
    formats=("txt",),
    folders: int = 2,
    hashes=None,
    extractor_version: int | None = None,
) -> list[int]:
    """Puts a document of one passage for each vector; gives the content ids in this order.

    ``root`` is the folder of the library they lie in, below ``sub-0``, ``sub-1`` ... in turn.
    """
    library = session.library
    if extractor_version is not None:
        library.extractor_version = extractor_version
    info = EncoderInfo(fingerprint, "made", vectors.shape[1], 128, "mean", "made", "cpu", "float32")
    root.mkdir(parents=True, exist_ok=True)
    with library.writer() as store:
        store.use_space(info, "made", SplitRules())
        folder = next((one.id for one in library.folders() if one.path == root), None) or store.add_folder(root)
        paths = []
        for row in range(len(vectors)):
            number = first + row
            text = texts[row] if texts is not None else f"Made document number {number} of its kind."
            suffix = formats[number % len(formats)]
            path = root / f"sub-{number % folders}" / f"made-{number}.{suffix}"
            paths.append(path)
            sha256 = hashes[row] if hashes is not None else f"{number + 1:064x}"
            when = 1_600_000_000_000_000_000 + number * 86_400_000_000_000
            file = SourceFile(path, len(text), when, content_hash=sha256)
            blocks, language = (Block(0, len(text)),), languages[number % len(languages)]
            extracted = ExtractedText(suffix, text, blocks, title=f"Title {number}", language=language)
            store.put(folder, file, extracted, [Passage(0, 0, len(text), text)], ())
        store.commit()
        contents = [int(library.content_at(path)) for path in paths]
        row_of = {content: row for row, content in enumerate(contents)}
        while pending := store.pending():
            ids = [passage for document in pending for passage, _ in document.passages]
            rows = [row_of[document.content_id] for document in pending for _ in document.passages]
            store.put_vectors(ids, np.ascontiguousarray(vectors[rows]))
            store.commit()
    return contents


def theme(id_: int, label: str, size: int, colour: int | None = None) -> ThemeView:
    return ThemeView(
        id_, label, False, False, id_ if colour is None else colour, size, "words", (), "", (), (), 0.5, 0.1, ()
    )  # fmt: skip


def themes_of(contents, labels, names) -> Grouping:
    """Gives themes with the ids 10, 11 ..."""
    order = np.argsort(contents)
    labels = np.asarray(labels, np.int32)[order]
    return Grouping(
        np.asarray(contents, np.int64)[order],
        labels,
        tuple(theme(10 + at, name, int((labels == at).sum()), at) for at, name in enumerate(names)),
    )


def stand_in(monkeypatch, themes: Grouping | None = None) -> ModuleType:
    """Puts a module in the place of the one that finds themes; set its ``themes`` to have others."""
    module = ModuleType("sbert_desktop.app.clustering")
    module.themes = themes
    module.grouping = lambda session: module.themes

    def document_rows(session, contents):
        rows = []
        for content in contents:
            places = session.library.paths_of(content)
            if not places:
                continue
            found, at = module.themes, -1
            if found is not None and content in found.contents:
                at = int(found.labels[np.searchsorted(found.contents, content)])
            id_ = found.themes[at].id if at >= 0 else -1
            path = places[0].path
            rows.append(
                DocumentRow(content, path, places[0].member, f"Title of {content}", path.suffix[1:], "en", 1.6e9,
                            path.parent.parent, id_, sorted_in=at >= 0, copies=len(places))
            )  # fmt: skip
        return tuple(rows)

    module.document_rows = document_rows
    monkeypatch.setitem(sys.modules, "sbert_desktop.app.clustering", module)
    return module
