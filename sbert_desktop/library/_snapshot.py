"""One consistent state of the library for one space, as the rest of the program sees it."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sbert_desktop.domain import (
    ContentId,
    Filters,
    Holding,
    Location,
    Mask,
    NeighbourIndex,
    PassageId,
    PassageRecord,
    SourceFile,
    Vectors,
)
from sbert_desktop.library import _analysis, _dates, _filtering, _phrases, _words
from sbert_desktop.library._text import Slices
from sbert_desktop.library._view import View


@dataclass(frozen=True, slots=True)
class Shared:
    """What the snapshots of one library have in common.

    Attributes:
        reading: Lends a connection to the catalog.
        index_of: Gives the accelerator of a state, or None where every search is exact.
        details: What some filters need.
        postings: Of words.
        answers: To phrases.
    """

    reading: Callable[[], AbstractContextManager[sqlite3.Connection]]
    index_of: Callable[[View], NeighbourIndex | None]
    details: _filtering.Details
    postings: _words.Postings
    answers: _phrases.Answers


class LibrarySnapshot:
    """Fulfils :class:`sbert_desktop.domain.Snapshot`. Safe from any thread; holds no transaction."""

    def __init__(self, shared: Shared, view: View) -> None:
        self._shared = shared
        self._view = view

    @property
    def generation(self) -> int:
        """Rises with every commit that changes what can be found."""
        return self._view.generation

    @property
    def vectors(self) -> Vectors:
        """Committed rows, float32 [rows, dimension]; read-only."""
        return self._view.vectors

    @property
    def alive(self) -> Mask:
        """Marks live rows, bool [rows]: False where the document was removed or replaced."""
        return self._view.alive

    @property
    def passage_ids(self) -> NDArray[np.int64]:
        """int64 [rows]: the passage of each row."""
        return self._view.row_passage

    @property
    def contents(self) -> NDArray[np.int64]:
        """int64 [rows]: the content of each row."""
        return self._view.row_content

    @property
    def lengths(self) -> NDArray[np.int64]:
        """int64 [rows]: words of the passage of each row, 0 for dead rows."""
        known = self._view.passage_length
        rows = self._view.row_passage
        return np.where(self._view.alive, known[np.clip(rows, 0, len(known) - 1)], 0).astype(np.int64)

    @property
    def passages(self) -> int:
        """Live passages meant to be embedded, with a vector or not yet."""
        return self._view.passages

    @property
    def index(self) -> NeighbourIndex | None:
        """The accelerator, or None: then every search is exact. The first use loads and checks it."""
        return self._shared.index_of(self._view)

    def select(self, filters: Filters) -> Mask | None:
        """Gives bool [max content id + 1], True where the content passes; None when all do."""
        return _filtering.select(self._view, filters, self._shared.details)

    def dates(self) -> NDArray[np.float64]:
        """Gives the date of each content, float64 [max content id + 1]; see :func:`_dates.dates`."""
        return _dates.dates(self._view)

    def newest(self, mask: Mask | None, limit: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Gives the first passages of the newest documents; see :func:`_dates.newest`."""
        return _dates.newest(self._view, mask, limit)

    def keyword(
        self, text: str, mask: Mask | None, limit: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int64]]:
        """BM25 search by words; see :class:`sbert_desktop.domain.Snapshot`."""
        view = self._view
        if view.segmentation is None or limit <= 0:
            return np.zeros(0, np.int64), np.zeros(0, np.float64), np.zeros(0, np.int64)
        wanted = view.content_live if mask is None else view.content_live & mask
        languages = _analysis.query_languages(view.language_order())
        with self._shared.reading() as connection:
            ids, scores = _words.search(
                connection,
                self._shared.postings,
                view.segmentation,
                text,
                languages,
                view.passage_length,
                view.words,
                view.mean_length,
                view.generation,
            )
        contents = view.passage_content[ids]
        passing = (contents >= 0) & wanted[contents]
        ids, scores, contents = ids[passing], scores[passing], contents[passing]
        if len(ids) > limit:
            best = np.argpartition(-scores, limit - 1)[:limit]
            # Of passages with the score of the last one taken, those with the lowest ids.
            edge = scores[best].min()
            above, level = np.flatnonzero(scores > edge), np.flatnonzero(scores == edge)
            chosen = np.concatenate([above, level[: limit - len(above)]])
            ids, scores, contents = ids[chosen], scores[chosen], contents[chosen]
        order = np.lexsort((ids, -scores))
        return ids[order], scores[order], contents[order]

    def holding(
        self, phrases: Sequence[str], excluded_words: Sequence[str], excluded_phrases: Sequence[str], mask: Mask | None
    ) -> Holding | None:
        """Gives the documents that hold all phrases; see :class:`sbert_desktop.domain.Snapshot`.

        A phrase may run over the border of passages, and over a page's footer. In ``passages`` stand those in
        which one begins, int64, rising. An excluded word takes its other forms with it (stems).
        """
        if not (phrases or excluded_words or excluded_phrases):
            return None
        shared = self._shared
        with shared.reading() as connection:
            return _phrases.holding(
                connection,
                shared.postings,
                shared.answers,
                self._view,
                phrases,
                excluded_words,
                excluded_phrases,
                mask,
            )

    def fetch(self, passage_ids: Sequence[int]) -> dict[int, PassageRecord]:
        """Reads text and places of passages; ids that are gone are left out."""
        with self._shared.reading() as connection:
            connection.execute("BEGIN")
            try:
                return fetch(connection, passage_ids)
            finally:
                connection.execute("COMMIT")


def fetch(connection: sqlite3.Connection, passage_ids: Sequence[int]) -> dict[int, PassageRecord]:
    """Reads passages with their text and the places of their contents."""
    slices = Slices(connection)
    places: dict[int, tuple[SourceFile, ...]] = {}
    found: dict[int, PassageRecord] = {}
    for passage in dict.fromkeys(int(id_) for id_ in passage_ids):
        row = connection.execute(
            "SELECT p.content, p.start, p.end, p.page, p.heading, p.part, c.title, c.format, c.language, c.date"
            " FROM passage p JOIN content c ON c.id=p.content WHERE p.id=?",
            (passage,),
        ).fetchone()
        if row is None:
            continue
        content, start, end = row[:3]
        if content not in places:
            places[content] = paths_of(connection, content)
        if not places[content]:
            continue
        date = row[9] if row[9] is not None else max(file.mtime_ns for file in places[content]) / 1e9
        found[passage] = PassageRecord(
            PassageId(passage),
            ContentId(content),
            slices.get(content, start, end),
            start,
            end,
            Location(row[3], row[4], row[5]),
            row[6],
            row[7],
            row[8],
            date,
            places[content],
        )
    return found


def paths_of(connection: sqlite3.Connection, content: int) -> tuple[SourceFile, ...]:
    """Gives every place of a content in an active folder, the shortest path first.

    A member has the size and time of its container: those can be compared with the disk.
    """
    rows = connection.execute(
        "SELECT f.path, coalesce(p.size, f.size), coalesce(p.mtime_ns, f.mtime_ns), f.device, f.inode, f.sha256,"
        " f.member FROM file f JOIN folder d ON d.id=f.folder AND d.state='active'"
        " LEFT JOIN file p ON p.id=f.parent WHERE f.content=? ORDER BY length(f.path), f.path, f.member",
        (content,),
    )
    return tuple(
        SourceFile(Path(os.fsdecode(row[0])), row[1], row[2], row[3] % 2**64, row[4] % 2**64, row[5], row[6])
        for row in rows
    )
