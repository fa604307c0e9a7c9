"""What the catalog remembers of a folder's files, read fast: hundreds of thousands at each check for changes."""

from __future__ import annotations

import os
import sqlite3

from sbert_desktop.domain import FileId
from sbert_desktop.library._records import KnownFile


def read(
    connection: sqlite3.Connection,
    folder: int,
    extractor_version: int,
    below: bytes | None,
    into: dict[bytes, KnownFile],
) -> None:
    """Reads the files of a folder, or those at and below one path, without what is inside containers."""
    where, values = "f.folder=? AND f.member=''", [folder]
    bounds: list[bytes] = []
    if below is not None:
        start = below.rstrip(os.sep.encode()) + os.sep.encode()
        # One range of the index of paths, instead of all files of the folder.
        where = "+" + where + " AND f.path>=? AND f.path<? AND (f.path=? OR f.path>=?)"
        bounds = [below, start[:-1] + bytes([start[-1] + 1]), below, start]
    codes = dict(
        connection.execute(  # of several problems the first that says most: dict keeps the last
            f"SELECT p.file, p.code FROM problem p JOIN file f ON f.id=p.file WHERE {where}"
            " ORDER BY p.partial DESC, p.id DESC",
            (*values, *bounds),
        )
    )
    rows = connection.execute(
        "SELECT f.id, f.path, iif(f.unfinished, -1, f.size), f.mtime_ns, f.device, f.inode, f.content, '', f.member,"
        f" f.extractor_version!=?, f.cursor, f.ignored FROM file f WHERE {where}",
        (extractor_version, *values, *bounds),
    )
    make = KnownFile._make
    for row in rows:
        known = make(row)
        # Device and inode are kept as signed numbers; few are so large.
        if known.id in codes or known.device < 0 or known.inode < 0:
            known = known._replace(
                problem_code=codes.get(FileId(known.id), ""), device=known.device % 2**64, inode=known.inode % 2**64
            )
        into[known.path] = known
