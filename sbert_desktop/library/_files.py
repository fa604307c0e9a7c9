"""Rows of files inside the writer's transaction: plain files, containers and their members.

A container is a row with member ``""`` and one row for each member below it (``parent``). While it is gone
through its row is marked ``unfinished``; each member that is put takes the container's number of the current
reading, so that the end knows which ones were not seen again.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Sequence

from sbert_desktop.domain import FileId, FolderId, Problem, SourceFile
from sbert_desktop.library import _captions, _text
from sbert_desktop.library._changes import Change

_IDS = 500  # names in one list of a statement; SQLite takes 999 in its oldest builds

_Key = tuple[bytes, str]
# id, content, hash, ignored, size, time, number of the reading, which row it captions
_Row = tuple[int, int | None, str, int, int, int, int, int | None]


class Files:
    """Changes rows of files. ``forget`` is told which contents may have lost their last file."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        changes: set[tuple[Change, int]],
        forget: Callable[[Iterable[int]], None],
        extractor_version: int,
    ) -> None:
        self._connection = connection
        self._changes = changes
        self._forget = forget
        self._version = extractor_version

    # ------------------------------------------------------------ putting

    def put(self, folder: FolderId, file: SourceFile, content: int | None, problems: Sequence[Problem]) -> FileId:
        """Puts a plain file, or one member of a container, in the place of what its path had."""
        row = self._row(key_of(file))
        parent, reading = self._parent(folder, file) if file.member else (None, 0)
        if row is None:
            id_ = self._insert(folder, file, content, parent, reading, file.cursor)
        else:
            id_, old_content, old_sha = FileId(row[0]), row[1], row[2]
            ignored = row[3] and _is_same(row, file)
            self._connection.execute(
                "UPDATE file SET folder=?, size=?, mtime_ns=?, device=?, inode=?, content=?, sha256=?, read_at=?,"
                " parent=?, reading=?, ignored=?, extractor_version=?, unfinished=0, cursor='' WHERE id=?",
                (*self._values(folder, file, content), parent, reading, ignored, self._version, id_),
            )
            if not file.member:
                self.remove(self._members(id_))
            self._after(id_, old_content, content, old_sha, file.content_hash, folder)
        self._set_problems(id_, problems, fresh=row is None)
        return id_

    def begin(self, folder: FolderId, file: SourceFile) -> FileId:
        """Marks a container as being gone through; its members stay, and what is put now is counted as seen."""
        key = (os.fsencode(file.path), "")
        row = self._row(key)
        if row is None:
            id_ = self._insert(folder, file, None, None, 1, file.cursor)
            self._connection.execute("UPDATE file SET unfinished=1 WHERE id=?", (id_,))
            return id_
        id_ = FileId(row[0])
        self._connection.execute(
            "UPDATE file SET folder=?, size=?, mtime_ns=?, device=?, inode=?, reading=reading+1, unfinished=1,"
            " ignored=?, cursor=? WHERE id=?",
            (folder, *stat_values(file), row[3] and _is_same(row, file), file.cursor, id_),
        )
        self._changes.add((Change.FILE, id_))
        return id_

    def finish(
        self,
        folder: FolderId,
        file: SourceFile,
        content: int | None,
        problems: Sequence[Problem],
        *,
        cursor: str,
        grown: bool,
    ) -> FileId:
        """Ends what :meth:`begin` began: members that were not put since then leave, unless the file only grew."""
        row = self._row((os.fsencode(file.path), ""))
        if row is None:
            self.begin(folder, file)
            row = self._row((os.fsencode(file.path), ""))
        assert row is not None
        id_ = FileId(row[0])
        self._connection.execute(
            "UPDATE file SET folder=?, size=?, mtime_ns=?, device=?, inode=?, content=?, sha256=?, read_at=?,"
            " extractor_version=?, unfinished=0, cursor=? WHERE id=?",
            (*self._values(folder, file, content), self._version, cursor, id_),
        )
        if not grown:
            self.remove(self._members(id_, seen=row[6]))
        self._after(id_, row[1], content, row[2], file.content_hash, folder)
        self._set_problems(id_, problems, fresh=False)
        return id_

    def _row(self, key: _Key) -> _Row | None:
        """Gives what stands at a place."""
        row: _Row | None = self._connection.execute(
            "SELECT id, content, sha256, ignored, size, mtime_ns, reading, captions FROM file"
            " WHERE path=? AND member=?",
            key,
        ).fetchone()
        if row is not None and row[7] is not None:
            _captions.make_way(self._connection, row[0])  # a member is really called like the caption's row
            self._changes.add((Change.FILE, row[0]))
            return None
        return row

    def _values(self, folder: FolderId, file: SourceFile, content: int | None) -> tuple[object, ...]:
        return folder, *stat_values(file), content, file.content_hash, time.time()

    def _insert(
        self, folder: FolderId, file: SourceFile, content: int | None, parent: int | None, reading: int, cursor: str
    ) -> FileId:
        key = key_of(file)
        inserted = self._connection.execute(
            "INSERT INTO file(folder, size, mtime_ns, device, inode, content, sha256, read_at, path, member, parent,"
            " reading, cursor, extractor_version) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
            (*self._values(folder, file, content), *key, parent, reading, cursor, self._version),
        )
        id_ = FileId(int(inserted.lastrowid or 0))
        self._changes.add((Change.FILE, id_))
        return id_

    def _parent(self, folder: FolderId, file: SourceFile) -> tuple[int, int]:
        """Gives the container's row and the number of its reading; a row that is missing is made, unfinished."""
        query = "SELECT id, reading FROM file WHERE path=? AND member=''"
        row = self._connection.execute(query, (os.fsencode(file.path),)).fetchone()
        if row is None:
            return self.begin(folder, SourceFile(file.path, -1, file.mtime_ns, file.device, file.inode)), 1
        return int(row[0]), int(row[1])

    def _members(self, container: int, *, seen: int | None = None) -> list[FileId]:
        """Gives the members of a container, captions not; with ``seen`` those that this reading has not met."""
        rows = self._connection.execute(
            "SELECT id FROM file WHERE parent=? AND (captions IS NULL OR captions!=?) AND (? IS NULL OR"
            " (reading!=? AND captions IS NULL))",
            (container, container, seen, seen),
        )
        return [FileId(row[0]) for row in rows]

    def _after(self, id_: int, old: int | None, new: int | None, old_sha: str, new_sha: str, folder: FolderId) -> None:
        self._changes.add((Change.FILE, id_))
        if old_sha != new_sha:
            _captions.follow(self._connection, id_, old_sha, new_sha, folder)
        if old is not None and old != new:
            self._forget([old])

    def _set_problems(self, file: int, problems: Sequence[Problem], *, fresh: bool) -> None:
        if not fresh:
            self._connection.execute("DELETE FROM problem WHERE file=?", (file,))
        if problems:
            self._connection.executemany(
                "INSERT INTO problem(file, code, message, hint, partial) VALUES(?,?,?,?,?)",
                [(file, p.code, _text.clean(p.message), _text.clean(p.hint), p.partial) for p in problems],
            )

    def put_caption(self, captioned: int, content: int | None, sha256: str, size: int) -> None:
        """Puts the row of a caption, or takes it away when there is no content."""
        known = self._connection.execute("SELECT id, content FROM file WHERE captions=?", (captioned,)).fetchone()
        if content is None:
            self.remove([FileId(known[0])] if known else [])
            return
        path, member, folder, parent, mtime_ns = self._connection.execute(
            "SELECT path, member, folder, coalesce(parent, id), mtime_ns FROM file WHERE id=?", (captioned,)
        ).fetchone()
        if known is None:
            name = _captions.name_for(self._connection, path, member)
            inserted = self._connection.execute(
                "INSERT INTO file(folder, path, member, parent, size, mtime_ns, device, inode, read_at, captions)"
                " VALUES(?,?,?,?,0,?,0,0,0,?)",
                (folder, path, name, parent, mtime_ns, captioned),
            )
            known = (int(inserted.lastrowid or 0), None)
        self._connection.execute(
            "UPDATE file SET content=?, sha256=?, size=?, read_at=?, extractor_version=? WHERE id=?",
            (content, sha256, size, time.time(), self._version, known[0]),
        )
        self._changes.add((Change.FILE, known[0]))
        if known[1] is not None and known[1] != content:
            self._forget([known[1]])

    # ------------------------------------------------------------ moving, ignoring, removing

    def move(self, file_id: FileId, file: SourceFile, folder: FolderId) -> None:
        """Gives a known file another path; its members and captions go with it."""
        key = key_of(file)
        other = self._connection.execute(
            "SELECT id FROM file WHERE path=? AND member=? AND id!=?", (*key, file_id)
        ).fetchone()
        if other is not None:
            self.remove([other[0]])
        below = self._connection.execute("SELECT id FROM file WHERE parent=?", (file_id,)).fetchall()
        if below:
            self._connection.execute("UPDATE file SET folder=?, path=? WHERE parent=?", (folder, key[0], file_id))
            self._changes.update((Change.FILE, row[0]) for row in below)
            _captions.change_folder(self._connection, file_id, folder)
        self._connection.execute(
            "UPDATE file SET folder=?, path=?, member=?, size=?, mtime_ns=?, device=?, inode=? WHERE id=?",
            (folder, *key, *stat_values(file), file_id),
        )
        self._changes.add((Change.FILE, file_id))

    def touch(self, file_id: FileId, file: SourceFile) -> None:
        """Notes a new time, device or inode."""
        self._connection.execute(
            "UPDATE file SET size=?, mtime_ns=?, device=?, inode=? WHERE id=?", (*stat_values(file), file_id)
        )
        self._changes.add((Change.FILE, file_id))

    def set_ignored(self, places: Iterable[tuple[bytes, str | None]], ignored: bool) -> None:
        """Sets the mark on members of files; None: on a file and on everything inside it."""
        for path, member in places:
            rows = self._connection.execute(
                "SELECT id FROM file WHERE path=? AND (? IS NULL OR member=?) AND ignored!=? AND (NOT ? OR EXISTS"
                " (SELECT 1 FROM problem WHERE file=file.id))",
                (path, member, member, ignored, ignored),
            ).fetchall()
            self._connection.executemany("UPDATE file SET ignored=? WHERE id=?", [(ignored, row[0]) for row in rows])
            self._changes.update((Change.FILE, row[0]) for row in rows)

    def remove(self, ids: Sequence[FileId]) -> None:
        """Removes files with their members and captions; the bytes that a caption belongs to remember it."""
        if not ids:
            return
        found: dict[int, tuple[int, int | None]] = {}
        for names in _lists(ids):
            marks = ",".join("?" * len(names))
            for id_, content, depth in self._connection.execute(
                " UNION ".join(
                    f"SELECT id, content, (parent IS NOT NULL)+(captions IS NOT NULL) FROM file WHERE {column} IN"
                    f" ({marks})"
                    for column in ("id", "parent", "captions")
                ),
                names * 3,
            ):
                found[id_] = (depth, content)
        order = sorted(found, key=lambda id_: -found[id_][0])  # what points to another row goes before it
        self._connection.executemany("DELETE FROM problem WHERE file=?", ((id_,) for id_ in order))
        self._connection.executemany("DELETE FROM file WHERE id=?", ((id_,) for id_ in order))
        self._changes.update((Change.FILE, id_) for id_ in order)
        self._forget(content for _, content in found.values() if content is not None)


def key_of(file: SourceFile) -> _Key:
    """Gives path and member as they stand in the catalog, which holds no lone surrogates."""
    return os.fsencode(file.path), member_name(file.member)


def member_name(member: str) -> str:
    """Gives a member's name as text that can be stored; different names stay different."""
    return member.encode("utf-8", "backslashreplace").decode("utf-8")


def stat_values(file: SourceFile) -> tuple[int, int, int, int]:
    """Gives size, time, device and inode as SQLite's signed 64 bits can hold them."""
    limit = 2**63
    signed = [(value + limit) % (2 * limit) - limit for value in (file.device, file.inode)]
    return file.size, max(-limit, min(limit - 1, file.mtime_ns)), signed[0], signed[1]


def _is_same(row: _Row, file: SourceFile) -> bool:
    """Says whether a file is the one that was put last: an ignored one then stays ignored."""
    return bool(row[2] and row[2] == file.content_hash) or (row[4], row[5]) == stat_values(file)[:2]


def _lists(ids: Sequence[int]) -> Iterator[list[int]]:
    for at in range(0, len(ids), _IDS):
        yield list(ids[at : at + _IDS])
