"""The lists of the library's page: folders with their counts, problems, and what was read last."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Sequence
from pathlib import Path

from sbert_desktop.domain import FolderId
from sbert_desktop.library import _folders
from sbert_desktop.library._records import ChangeRecord, CopyRecord, FolderRecord, ProblemRecord
from sbert_desktop.library._view import View


def folders(connection: sqlite3.Connection, view: View) -> tuple[FolderRecord, ...]:
    """Lists the folders, oldest first; documents and problems are counted from the columns."""
    rows = connection.execute(
        "SELECT d.id, d.path, d.added, d.state, d.words_only, d.last_scan, d.rules,"
        " (SELECT max(read_at) FROM file WHERE folder=d.id) FROM folder d ORDER BY d.id"
    ).fetchall()
    records = []
    for id_, path, added, state, words_only, last_scan, rules, last_change in rows:
        documents, passages, embedded, unread, ignored = view.folder_counts(id_)
        records.append(
            FolderRecord(
                id=FolderId(id_),
                path=_path(path),
                added=added,
                state=state,
                words_only=bool(words_only),
                documents=documents,
                passages=passages,
                embedded=embedded,
                problems=unread,
                last_change=last_change,
                last_scan=last_scan,
                rules=_folders.unpack_rules(rules),
                ignored=ignored,
            )
        )
    return tuple(records)


def problems(
    connection: sqlite3.Connection, folder: FolderId | None, codes: Sequence[str] | None
) -> tuple[ProblemRecord, ...]:
    """Lists the problems of active folders, or of one folder, by path and member."""
    where = "d.id=?" if folder is not None else "d.state='active'"
    values: list[object] = [folder] if folder is not None else []
    if codes is not None:
        where += f" AND p.code IN ({','.join('?' * len(codes))})"
        values += codes
    rows = connection.execute(
        "SELECT f.path, d.path, p.code, p.message, p.hint, p.partial, f.member, f.ignored,"
        " coalesce(c.size, f.size), f.read_at FROM problem p JOIN file f ON f.id=p.file"
        " JOIN folder d ON d.id=f.folder LEFT JOIN file c ON c.id=f.parent"
        f" WHERE {where} ORDER BY f.path, f.member, p.id",
        values,
    ).fetchall()
    places = {raw: _path(raw) for raw in {row[1] for row in rows}}
    return tuple(
        ProblemRecord(
            _path(path), places[root], code, message, hint, bool(partial), member, bool(ignored), max(0, size), when
        )
        for path, root, code, message, hint, partial, member, ignored, size, when in rows
    )


def recent(connection: sqlite3.Connection, limit: int) -> tuple[ChangeRecord, ...]:
    """Lists the documents read last, newest first."""
    rows = connection.execute(
        "SELECT f.path, c.title, f.read_at, (SELECT s.embeddable FROM segmented s JOIN space x"
        " ON x.segmentation=s.segmentation AND x.state='active' WHERE s.content=c.id), f.member"
        " FROM file f JOIN content c ON c.id=f.content JOIN folder d ON d.id=f.folder AND d.state='active'"
        " ORDER BY f.read_at DESC, f.id DESC LIMIT ?",
        (max(0, limit),),
    ).fetchall()
    return tuple(ChangeRecord(_path(row[0]), row[1], row[2], row[3] or 0, row[4]) for row in rows)


def copies(connection: sqlite3.Connection) -> list[CopyRecord]:
    """Lists every file and member of active folders, by path and member; captions of other files left out."""
    rows = connection.execute(
        "SELECT f.path, f.member, f.size, f.mtime_ns, f.device, f.inode, f.sha256, coalesce(f.content, 0), d.path,"
        " coalesce(c.format, ''), coalesce(c.title, ''), c.date,"
        " coalesce((SELECT p.code FROM problem p WHERE p.file=f.id ORDER BY p.partial LIMIT 1), ''),"
        " coalesce(c.language, '')"
        " FROM file f JOIN folder d ON d.id=f.folder AND d.state='active' LEFT JOIN content c ON c.id=f.content"
        " WHERE f.captions IS NULL ORDER BY f.path, f.member"
    )
    made = []
    for row in map(CopyRecord._make, rows):
        if row.device < 0 or row.inode < 0:  # kept as signed numbers
            row = row._replace(device=row.device % 2**64, inode=row.inode % 2**64)
        made.append(row)
    return made


def _path(raw: bytes) -> Path:
    return Path(os.fsdecode(raw))
