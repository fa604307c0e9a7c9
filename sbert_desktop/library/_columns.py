"""The catalog as numpy columns: read once, then kept up to date from the log of changes.

One :class:`Columns` belongs to one encoder fingerprint. Each refresh is one short read transaction
and gives a :class:`View`: arrays that nobody changes any more. Buffers that only grow (rows,
passages) are shared between views; columns that change in place are copied when they do.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from sbert_desktop.domain import NOT_COUNTED, Vectors
from sbert_desktop.library import _vectors
from sbert_desktop.library._changes import Change, changed_ids, where_changed
from sbert_desktop.library._file_names import file_type
from sbert_desktop.library._records import IndexRecord, SpaceRow
from sbert_desktop.library._view import View

_T = TypeVar("_T", bound=np.generic)

_NOT_COUNTED = ", ".join(f"'{code}'" for code in sorted(NOT_COUNTED))


class Columns:
    """Keeps the columns of one fingerprint. Not safe for several threads at once: the caller locks."""

    def __init__(self, library: Path, fingerprint: str) -> None:
        self._library = library
        self._fingerprint = fingerprint
        self.view: View | None = None
        self._seen = -1
        self._reset()

    def _reset(self) -> None:
        self._row_passage = np.zeros(0, np.int64)
        self._row_content = np.zeros(0, np.int64)
        self._row_used = np.zeros(0, np.bool_)
        self._passage_content = np.full(0, -1, np.int64)
        self._passage_length = np.zeros(0, np.float32)
        self._content_passages = np.zeros(0, np.int32)
        self._content_words = np.zeros(0, np.int32)
        self._content_length = np.zeros(0, np.int64)
        self._content_exists = np.zeros(0, np.bool_)
        self._content_date = np.full(0, np.nan)
        self._content_language = np.zeros(0, np.int32)
        self._content_format = np.zeros(0, np.int32)
        self._file_content = np.full(0, -1, np.int64)
        self._file_folder = np.zeros(0, np.int32)
        self._file_directory = np.zeros(0, np.int32)
        self._file_type = np.zeros(0, np.int32)
        self._file_mtime = np.zeros(0)
        self._file_marks = np.zeros(0, np.uint8)
        self._directories = _Codes()
        self._types = _Codes()
        self._languages = _Codes()
        self._formats = _Codes()
        self._rows = 0
        self._passages_end = 0
        self._contents_end = 1
        self._files_end = 1

    def refresh(self, connection: sqlite3.Connection) -> View:
        """Brings the columns up to date in one read transaction and gives the new state."""
        connection.execute("BEGIN")
        try:
            newest = _scalar(connection, "SELECT seq FROM sqlite_sequence WHERE name='change'")
            space = _space(connection, self._fingerprint)
            old = self.view
            if old is not None and newest == self._seen and space == old.space:
                return old
            segmentation = space.segmentation if space else _any_segmentation(connection)
            if old is not None and self._can_follow(connection, old, space, segmentation):
                self._read(connection, space, segmentation, self._seen)
            else:
                self._reset()
                self._read(connection, space, segmentation, None)
            active = [row[0] for row in connection.execute("SELECT id FROM folder WHERE state='active'")]
            index = _index_record(connection, space)
        finally:
            connection.execute("COMMIT")
        self._seen = newest
        self.view = self._make_view(newest, space, segmentation, index, active)
        return self.view

    def _can_follow(
        self, connection: sqlite3.Connection, old: View, space: SpaceRow | None, segmentation: int | None
    ) -> bool:
        if (old.space is None) != (space is None) or old.segmentation != segmentation or old.damaged:
            return False
        if space and old.space and (space.id, space.generation) != (old.space.id, old.space.generation):
            return False
        oldest = _scalar(connection, "SELECT min(seq) FROM change")
        if oldest > self._seen + 1:
            return False
        reload = connection.execute(
            "SELECT 1 FROM change WHERE seq>? AND kind=?", (self._seen, Change.SPACE)
        ).fetchone()
        return reload is None

    # ------------------------------------------------------------ reading

    def _read(
        self, connection: sqlite3.Connection, space: SpaceRow | None, segmentation: int | None, since: int | None
    ) -> None:
        self._read_contents(connection, segmentation, since)
        self._read_files(connection, since)
        self._read_rows(connection, space, segmentation, since)

    def _read_contents(self, connection: sqlite3.Connection, segmentation: int | None, since: int | None) -> None:
        where, values = where_changed("c.id", Change.CONTENT, since)
        rows = connection.execute(
            "SELECT c.id, c.date, c.language, c.format, s.first, s.passages, s.embeddable, s.lengths FROM content c"
            f" LEFT JOIN segmented s ON s.content=c.id AND s.segmentation=? {where}",
            (segmentation, *values),
        ).fetchall()
        changed = changed_ids(connection, Change.CONTENT, since)
        if since is not None:
            if not changed.size:
                return
            self._copy_contents()
            self._forget_contents(changed)
        if not rows:
            return
        ids = np.array([row[0] for row in rows], np.int64)
        self._contents_end = max(self._contents_end, int(ids.max()) + 1)
        self._grow_contents(self._contents_end)
        self._content_exists[ids] = True
        self._content_date[ids] = np.array([row[1] for row in rows], np.float64)  # None becomes nan
        self._content_language[ids] = self._languages.of(row[2] for row in rows)
        self._content_format[ids] = self._formats.of(row[3] for row in rows)
        self._content_passages[ids] = [row[6] or 0 for row in rows]
        self._content_words[ids] = [row[5] or 0 for row in rows]
        self._content_length[ids] = 0
        first = np.array([row[4] or 0 for row in rows], np.int64)
        count = np.array([row[5] or 0 for row in rows], np.int64)
        if count.sum() == 0:
            return
        # The passages of a content have consecutive ids.
        self._passages_end = max(self._passages_end, int((first + count).max()))
        self._passage_content = _grown(self._passage_content, self._passages_end, -1)
        offsets = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
        places = np.repeat(first, count) + offsets
        self._passage_content[places] = np.repeat(ids, count)
        self._passage_length = _grown(self._passage_length, self._passages_end, 0)
        lengths = unpack_lengths(b"".join(row[7] for row in rows if row[5]))
        self._passage_length[places] = lengths
        np.add.at(self._content_length, np.repeat(ids, count), lengths)

    def _read_files(self, connection: sqlite3.Connection, since: int | None) -> None:
        where, values = where_changed("f.id", Change.FILE, since)
        rows = connection.execute(
            "SELECT f.id, f.folder, f.path, f.mtime_ns, f.content, f.member, f.ignored*2+(f.captions IS NOT NULL)*4"
            f" +EXISTS (SELECT 1 FROM problem p WHERE p.file=f.id AND p.code NOT IN ({_NOT_COUNTED}))"
            f" FROM file f {where}",
            values,
        ).fetchall()
        if since is not None:
            changed = changed_ids(connection, Change.FILE, since)
            if not changed.size:
                return
            self._copy_files()
            known = changed[changed < len(self._file_content)]
            self._file_content[known] = -1
            self._file_marks[known] = 0
        if not rows:
            return
        ids = np.array([row[0] for row in rows], np.int64)
        self._files_end = max(self._files_end, int(ids.max()) + 1)
        self._grow_files(self._files_end)
        self._file_folder[ids] = [row[1] for row in rows]
        self._file_mtime[ids] = np.array([row[3] for row in rows], np.float64) / 1e9
        self._file_content[ids] = [-1 if row[4] is None else row[4] for row in rows]
        separator = os.sep.encode()
        cut = [row[2].rpartition(separator) for row in rows]
        self._file_directory[ids] = self._directories.of(parts[0] or separator for parts in cut)
        self._file_type[ids] = self._types.of(file_type(parts[2], row[5]) for row, parts in zip(rows, cut, strict=True))
        self._file_marks[ids] = np.array([row[6] for row in rows], np.uint8)

    def _read_rows(
        self, connection: sqlite3.Connection, space: SpaceRow | None, segmentation: int | None, since: int | None
    ) -> None:
        if space is None:
            return
        if since is None:
            found = connection.execute("SELECT row, passage FROM row WHERE space=?", (space.id,)).fetchall()
        else:
            found = connection.execute(
                "SELECT r.row, r.passage FROM (SELECT DISTINCT id FROM change WHERE seq>? AND kind=?) c"
                " CROSS JOIN segmented s ON s.segmentation=? AND s.content=c.id"
                " CROSS JOIN row r INDEXED BY row_passage ON r.passage>=s.first AND r.passage<s.first+s.passages"
                " AND r.space=?",
                (since, Change.CONTENT, segmentation, space.id),
            ).fetchall()
        if space.rows > len(self._row_passage):
            self._row_passage = _grown(self._row_passage, space.rows, -1)
            self._row_content = _grown(self._row_content, space.rows, 0)
            self._row_used = _grown(self._row_used, space.rows, False)
        self._rows = space.rows
        if found:
            pairs = np.array(found, np.int64)
            rows, passages = pairs[:, 0], pairs[:, 1]
            self._row_passage[rows] = passages
            self._row_content[rows] = self._passage_content[passages]
            self._row_used[rows] = True

    def _forget_contents(self, changed: NDArray[np.int64]) -> None:
        known = changed[changed < len(self._content_exists)]
        self._content_exists[known] = False
        self._content_passages[known] = 0
        self._content_words[known] = 0
        self._content_length[known] = 0
        named = np.zeros(max(len(self._content_exists), self._contents_end), np.bool_)
        named[known] = True
        rows = self._row_content[: self._rows]
        self._row_used[: self._rows] &= ~named[rows]

    # ------------------------------------------------------------ growing

    def _grow_contents(self, size: int) -> None:
        self._content_exists = _grown(self._content_exists, size, False)
        self._content_passages = _grown(self._content_passages, size, 0)
        self._content_words = _grown(self._content_words, size, 0)
        self._content_length = _grown(self._content_length, size, 0)
        self._content_date = _grown(self._content_date, size, np.nan)
        self._content_language = _grown(self._content_language, size, 0)
        self._content_format = _grown(self._content_format, size, 0)

    def _grow_files(self, size: int) -> None:
        self._file_content = _grown(self._file_content, size, -1)
        self._file_folder = _grown(self._file_folder, size, 0)
        self._file_directory = _grown(self._file_directory, size, 0)
        self._file_type = _grown(self._file_type, size, 0)
        self._file_mtime = _grown(self._file_mtime, size, 0)
        self._file_marks = _grown(self._file_marks, size, 0)

    def _copy_contents(self) -> None:
        self._content_exists = self._content_exists.copy()
        self._content_passages = self._content_passages.copy()
        self._content_date = self._content_date.copy()
        self._content_language = self._content_language.copy()
        self._content_format = self._content_format.copy()

    def _copy_files(self) -> None:
        self._file_content = self._file_content.copy()
        self._file_folder = self._file_folder.copy()
        self._file_directory = self._file_directory.copy()
        self._file_type = self._file_type.copy()
        self._file_mtime = self._file_mtime.copy()
        self._file_marks = self._file_marks.copy()

    # ------------------------------------------------------------ the view

    def _make_view(
        self,
        generation: int,
        space: SpaceRow | None,
        segmentation: int | None,
        index: IndexRecord | None,
        active: list[int],
    ) -> View:
        contents, files, rows = self._contents_end, self._files_end, self._rows
        self._grow_contents(contents)
        self._grow_files(files)
        file_content, file_folder = self._file_content[:files], self._file_folder[:files]
        is_active = np.zeros(max(int(file_folder.max(initial=0)) + 1, *active, 0) + 1, np.bool_)
        is_active[active] = True
        file_live = is_active[file_folder] & (file_content >= 0)
        live = np.zeros(contents, np.bool_)
        live[file_content[file_live]] = True
        live &= self._content_exists[:contents]
        vectors, damaged = self._map(space)
        rows = min(rows, len(vectors))
        row_content, used = self._row_content[:rows], self._row_used[:rows]
        if index is not None and index.rows > rows:
            index = None
        return View(
            generation=generation,
            space=space,
            segmentation=segmentation,
            index=index,
            vectors=vectors,
            row_passage=_frozen(self._row_passage[:rows]),
            row_content=_frozen(row_content),
            alive=_frozen(used & live[row_content]) if rows else np.zeros(0, np.bool_),
            passage_content=self._passage_content[: self._passages_end],
            passage_length=self._passage_length[: self._passages_end],
            content_live=live,
            content_passages=self._content_passages[:contents],
            content_rows=np.bincount(row_content[used], minlength=contents),
            content_date=self._content_date[:contents],
            content_language=self._content_language[:contents],
            content_format=self._content_format[:contents],
            file_content=file_content,
            file_folder=file_folder,
            file_directory=self._file_directory[:files],
            file_type=self._file_type[:files],
            file_mtime=self._file_mtime[:files],
            file_marks=self._file_marks[:files],
            file_live=file_live,
            active=is_active,
            directories=self._directories.names,
            types=self._types.texts,
            languages=self._languages.texts,
            formats=self._formats.texts,
            passages=int(self._content_passages[:contents][live].sum()),
            words=int(self._content_words.sum()),
            mean_length=float(self._content_length.sum()) / max(1, int(self._content_words.sum())),
            damaged=damaged,
        )

    def _map(self, space: SpaceRow | None) -> tuple[Vectors, bool]:
        if space is None:
            return np.zeros((0, 0), np.float32), False
        path = _vectors.vectors_path(self._library, space.fingerprint, space.generation)
        rows = min(space.rows, _vectors.available_rows(path, space.dimension))
        return _vectors.map_rows(path, space.dimension, rows), rows < space.rows


def pack_lengths(lengths: Iterable[int]) -> bytes:
    """Gives the lengths of a content's passages as two bytes each, capped."""
    return np.minimum(np.array(list(lengths), np.int64), 65_535).astype("<u2").tobytes()


def unpack_lengths(data: bytes) -> NDArray[np.uint16]:
    """Gives the lengths back."""
    return np.frombuffer(data, "<u2")


class _Codes:
    """Small numbers for names that repeat; only grows, so older views may share it."""

    def __init__(self) -> None:
        self.names: list[bytes] = []
        self.texts: list[str] = []
        self._codes: dict[bytes | str, int] = {}

    def of(self, names: Iterable[bytes | str]) -> list[int]:
        codes = self._codes
        out = []
        for name in names:
            code = codes.get(name)
            if code is None:
                code = codes[name] = len(codes)
                if isinstance(name, bytes):
                    self.names.append(name)
                else:
                    self.texts.append(name)
            out.append(code)
        return out


def _grown(array: NDArray[_T], size: int, fill: object) -> NDArray[_T]:
    if size <= len(array):
        return array
    out = np.full(max(size + size // 8, 64), fill, array.dtype)
    out[: len(array)] = array
    return out


def _frozen(array: NDArray[_T]) -> NDArray[_T]:
    view = array.view()
    view.flags.writeable = False
    return view


def _scalar(connection: sqlite3.Connection, sql: str) -> int:
    row = connection.execute(sql).fetchone()
    return int(row[0]) if row and row[0] is not None else 0


def _space(connection: sqlite3.Connection, fingerprint: str) -> SpaceRow | None:
    row = connection.execute(
        "SELECT id, fingerprint, segmentation, dimension, generation, rows FROM space WHERE fingerprint=?",
        (fingerprint,),
    ).fetchone()
    return SpaceRow(*row) if row else None


def _any_segmentation(connection: sqlite3.Connection) -> int | None:
    row = connection.execute("SELECT segmentation FROM space ORDER BY state='active' DESC, id DESC LIMIT 1").fetchone()
    return int(row[0]) if row else None


def _index_record(connection: sqlite3.Connection, space: SpaceRow | None) -> IndexRecord | None:
    if space is None:
        return None
    row = connection.execute(
        "SELECT file, rows, count, dimension, sha256, bytes FROM index_state WHERE space=?", (space.id,)
    ).fetchone()
    return IndexRecord(*row) if row else None
