"""Folders inside the writer's transaction: which may be added, and giving one another place."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from pathlib import Path

from sbert_desktop.domain import FolderId, FolderRules, short_path
from sbert_desktop.errors import LibraryError

REFUSALS = frozenset({"folder-nested", "folder-known", "folder-unknown", "folder-is-library"})


def add(connection: sqlite3.Connection, library: Path, path: Path, words_only: bool) -> FolderId:
    """Adds a folder, or brings a known one back; see :meth:`Writer.add_folder`."""
    path = Path(os.path.abspath(path))
    real = _real(path, library)
    for id_, raw, state in connection.execute("SELECT id, path, state FROM folder").fetchall():
        known = os.path.realpath(os.fsdecode(raw))
        if known == real:
            connection.execute("UPDATE folder SET state='active', words_only=? WHERE id=?", (words_only, id_))
            return FolderId(id_)
        if state == "active":
            _refuse_nested(path, real, raw, known)
    cursor = connection.execute(
        "INSERT INTO folder(path, added, words_only) VALUES(?,?,?)", (os.fsencode(path), time.time(), words_only)
    )
    return FolderId(int(cursor.lastrowid or 0))


def relocate(connection: sqlite3.Connection, library: Path, folder: FolderId, place: Path) -> bool:
    """Gives a folder and all paths below it another place; False when it is there already.

    Raises:
        LibraryError: ``folder-unknown``, ``folder-known``, ``folder-nested`` or ``folder-is-library``.
    """
    row = connection.execute("SELECT path FROM folder WHERE id=?", (folder,)).fetchone()
    if row is None:
        raise LibraryError("folder-unknown", "This folder is no longer in the library.", "Add it again.")
    place = Path(os.path.abspath(place))
    real = _real(place, library)
    for (raw,) in connection.execute("SELECT path FROM folder WHERE id!=?", (folder,)).fetchall():
        known = os.path.realpath(os.fsdecode(raw))
        if known == real:
            raise LibraryError(
                "folder-known",
                f"{short_path(place)} is a folder of this library already.",
                "Choose another place, or remove one of the two folders first.",
            )
        _refuse_nested(place, real, raw, known)
    old, new = row[0], os.fsencode(place)
    if old == new:
        return False
    connection.execute("UPDATE folder SET path=? WHERE id=?", (new, folder))
    separator = os.sep.encode()
    old, new = old.rstrip(separator), new.rstrip(separator)
    if new.startswith(old + separator) or old.startswith(new + separator):
        # Old and new paths may meet half-way: first to where no path can be.
        _change_prefix(connection, folder, old, b"\0" + new)
        old = b"\0" + new
    _change_prefix(connection, folder, old, new)
    return True


def _change_prefix(connection: sqlite3.Connection, folder: FolderId, old: bytes, new: bytes) -> None:
    # Concatenation gives text, which a cast makes bytes again without touching them.
    connection.execute(
        "UPDATE file SET path=CAST(? || substr(path, ?) AS BLOB) WHERE folder=?", (new, len(old) + 1, folder)
    )


def pack_rules(rules: FolderRules) -> str:
    """Gives rules as JSON, ``""`` when there are none."""
    if rules == FolderRules():
        return ""
    return json.dumps({"include": rules.include, "exclude": rules.exclude, "hidden": rules.hidden})


def unpack_rules(data: str) -> FolderRules:
    """Gives rules back."""
    if not data:
        return FolderRules()
    record = json.loads(data)
    return FolderRules(tuple(record["include"]), tuple(record["exclude"]), record["hidden"])


def _real(path: Path, library: Path) -> str:
    real = os.path.realpath(path)
    if _within(real, os.path.realpath(library)):
        raise LibraryError("folder-is-library", f"{short_path(path)} is the library itself.", "Choose another folder.")
    return real


def _within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def _refuse_nested(path: Path, real: str, raw: bytes, known: str) -> None:
    if _within(real, known):
        raise LibraryError(
            "folder-nested",
            f"{short_path(path)} lies inside {short_path(raw)}, which is in the library already.",
            "Its files are found there. Nothing needs to be added.",
        )
    if _within(known, real):
        raise LibraryError(
            "folder-nested",
            f"{short_path(path)} holds {short_path(raw)}, which is in the library already.",
            "Remove that folder from the library first, then add this one.",
        )
