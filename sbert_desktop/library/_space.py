"""The active space while the writer works on it: which documents wait, and vectors on their way to disk."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sbert_desktop.domain import ContentId, PassageId, Vectors
from sbert_desktop.library._changes import Change
from sbert_desktop.library._records import PendingDocument, SpaceRow
from sbert_desktop.library._text import Slices
from sbert_desktop.library._vectors import VectorFile, vectors_path

BATCH = 256  # waiting documents looked at in one go

_Vector = NDArray[np.float32]

# A document waits as long as it has an active folder that is not for words only.
_WAITING = (
    "SELECT t.content, t.mtime_ns FROM todo t WHERE t.space=? AND (t.mtime_ns, t.content) < (?, ?) AND EXISTS"
    " (SELECT 1 FROM file f JOIN folder d ON d.id=f.folder WHERE f.content=t.content AND d.state='active'"
    " AND NOT d.words_only) ORDER BY t.mtime_ns DESC, t.content DESC LIMIT ?"
)


class Space:
    """Vectors of the active space. Runs inside the writer's transaction."""

    def __init__(
        self, library: Path, connection: sqlite3.Connection, row: SpaceRow, changes: set[tuple[Change, int]]
    ) -> None:
        self.row = row
        self._connection = connection
        self._changes = changes
        self._rows = row.rows
        self.file = VectorFile(vectors_path(library, row.fingerprint, row.generation), row.dimension, row.rows)
        # content -> its passages meant to be embedded, and the vectors that have arrived
        self._wanted: dict[int, dict[int, bytes]] = {}
        self._arrived: dict[int, dict[int, _Vector]] = {}
        self._content_of: dict[int, int] = {}
        self._waiting: dict[bytes, list[int]] = {}  # equal inputs: passages that wait for the first one

    def close(self) -> None:
        """Closes the vectors file."""
        self.file.close()

    def sync(self) -> None:
        """Makes written vectors safe on disk and counts them in; before the catalog commits."""
        self.file.sync()
        if self._rows != self.row.rows:
            self._connection.execute("UPDATE space SET rows=? WHERE id=?", (self._rows, self.row.id))
            row = self.row
            self.row = SpaceRow(row.id, row.fingerprint, row.segmentation, row.dimension, row.generation, self._rows)

    def forget(self, content: int) -> None:
        """Drops what arrived for a content that is being erased or cut anew."""
        for passage in self._wanted.pop(content, {}):
            self._content_of.pop(passage, None)
        self._arrived.pop(content, None)

    # ------------------------------------------------------------ what waits

    def pending(self, characters: int) -> list[PendingDocument]:
        """Gives waiting documents, newest first; copies the vectors that the space has already."""
        self._waiting.clear()
        documents: list[PendingDocument] = []
        slices = Slices(self._connection)
        left = characters
        for content, mtime_ns in self._waiting_contents():
            inputs = self._inputs(content, slices)
            missing = self._copy_known(content, inputs)
            if missing:
                documents.append(
                    PendingDocument(
                        ContentId(content), tuple((PassageId(id_), inputs[id_][0]) for id_ in missing), mtime_ns / 1e9
                    )
                )
                left -= sum(len(inputs[id_][0]) for id_ in missing)
            if left <= 0:
                break
        return documents

    def _waiting_contents(self) -> Iterator[tuple[int, int]]:
        last = (2**63 - 1, 2**63 - 1)
        while True:
            rows = self._connection.execute(_WAITING, (self.row.id, *last, BATCH)).fetchall()
            yield from rows
            if len(rows) < BATCH:
                return
            last = (rows[-1][1], rows[-1][0])

    def _inputs(self, content: int, slices: Slices) -> dict[int, tuple[str, bytes]]:
        rows = self._connection.execute(
            "SELECT id, start, end, context, input_sha FROM passage WHERE content=? AND segmentation=? AND embedded"
            " ORDER BY ordinal",
            (content, self.row.segmentation),
        ).fetchall()
        inputs = {}
        for id_, start, end, context, sha in rows:
            text = slices.get(content, start, end)
            inputs[id_] = (f"{context}\n{text}" if context else text, sha)
        self._want(content, {id_: sha for id_, (_, sha) in inputs.items()})
        return inputs

    def _want(self, content: int, passages: dict[int, bytes]) -> None:
        self._wanted[content] = passages
        self._content_of.update(dict.fromkeys(passages, content))

    def _copy_known(self, content: int, inputs: dict[int, tuple[str, bytes]]) -> list[int]:
        """Gives the passages that must be encoded; copies or leaves waiting the others."""
        arrived = self._arrived.get(content, {})
        missing, copied = [], {}
        for id_, (_, sha) in inputs.items():
            if id_ in arrived:
                continue
            row = self._connection.execute(
                "SELECT row FROM row WHERE input_sha=? AND space=? LIMIT 1", (sha, self.row.id)
            ).fetchone()
            if row is not None:
                copied[id_] = self.file.read([row[0]])[0]
            elif sha in self._waiting:
                self._waiting[sha].append(id_)
            else:
                self._waiting[sha] = []
                missing.append(id_)
        if copied:
            self._arrived.setdefault(content, {}).update(copied)
            self._finish([content])
        return missing

    # ------------------------------------------------------------ what arrives

    def put(self, ids: Sequence[PassageId], vectors: NDArray[np.float32]) -> None:
        """Takes vectors; documents that are complete get their rows."""
        if vectors.ndim != 2 or vectors.shape != (len(ids), self.row.dimension):
            raise ValueError(f"vectors of shape {vectors.shape}, wanted {(len(ids), self.row.dimension)}")
        if not np.isfinite(vectors).all():
            raise ValueError("vectors hold values that are not finite")
        touched: dict[int, None] = {}
        for id_, vector in zip(ids, vectors, strict=True):
            content = self._content(int(id_))
            if content is None:
                continue
            own = np.array(vector, np.float32)
            self._arrive(content, int(id_), own, touched)
            for follower in self._waiting.pop(self._wanted[content][int(id_)], ()):
                other = self._content(follower)
                if other is not None:
                    self._arrive(other, follower, own, touched)
        self._finish(list(touched))

    def _arrive(self, content: int, passage: int, vector: _Vector, touched: dict[int, None]) -> None:
        self._arrived.setdefault(content, {})[passage] = vector
        touched[content] = None

    def _content(self, passage: int) -> int | None:
        if passage in self._content_of:
            return self._content_of[passage]
        row = self._connection.execute(
            "SELECT p.content FROM passage p WHERE p.id=? AND p.segmentation=? AND p.embedded AND NOT EXISTS"
            " (SELECT 1 FROM row r WHERE r.passage=p.id AND r.space=?)",
            (passage, self.row.segmentation, self.row.id),
        ).fetchone()
        if row is None:
            return None
        rows = self._connection.execute(
            "SELECT id, input_sha FROM passage WHERE content=? AND segmentation=? AND embedded",
            (row[0], self.row.segmentation),
        )
        self._want(row[0], dict(rows.fetchall()))
        return int(row[0])

    def _finish(self, contents: Sequence[int]) -> None:
        """Writes the documents that are complete: vectors to the file, rows to the catalog."""
        rows: list[tuple[int, int, int, bytes]] = []
        vectors: list[_Vector] = []
        for content in contents:
            wanted, arrived = self._wanted[content], self._arrived.get(content, {})
            if len(arrived) < len(wanted):
                continue
            for id_, sha in sorted(wanted.items()):
                rows.append((self.row.id, self._rows + len(rows), id_, sha))
                vectors.append(arrived[id_])
            self._connection.execute("DELETE FROM todo WHERE space=? AND content=?", (self.row.id, content))
            self._changes.add((Change.CONTENT, content))
            self.forget(content)
        if rows:
            block: Vectors = np.stack(vectors)
            self.file.write(self._rows, block)
            self._connection.executemany("INSERT INTO row VALUES(?,?,?,?)", rows)
            self._rows += len(rows)
