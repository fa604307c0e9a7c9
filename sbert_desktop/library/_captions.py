"""The person's own words about a file: rows of files that name the row they caption, and a table by bytes.

The row makes the words findable and moves with the file. The table keeps them by the sha256 of the captioned
bytes, so that they come back when a file with these bytes does; they leave it when the person takes them away or
the folder is forgotten.
"""

from __future__ import annotations

import sqlite3
import time
import zlib

from sbert_desktop.domain import FolderId

NAME = "caption"
FORMAT = "caption"


def name_for(connection: sqlite3.Connection, path: bytes, member: str) -> str:
    """Gives the member's name of a new caption's row: ``caption`` unless a real member is called so."""
    base = f"{member}/{NAME}" if member else NAME
    return _free_name(connection, path, base)


def make_way(connection: sqlite3.Connection, file: int) -> None:
    """Gives a caption's row another name, because a real member has this one."""
    path, member = connection.execute("SELECT path, member FROM file WHERE id=?", (file,)).fetchone()
    connection.execute("UPDATE file SET member=? WHERE id=?", (_free_name(connection, path, member), file))


def _free_name(connection: sqlite3.Connection, path: bytes, base: str) -> str:
    name, number = base, 1
    while connection.execute("SELECT 1 FROM file WHERE path=? AND member=?", (path, name)).fetchone():
        number += 1
        name = f"{base} {number}"
    return name


def of(connection: sqlite3.Connection, path: bytes, member: str) -> tuple[int, int] | None:
    """Gives the row and the content of a file's caption."""
    row: tuple[int, int] | None = connection.execute(
        "SELECT c.id, c.content FROM file f JOIN file c ON c.captions=f.id WHERE f.path=? AND f.member=?"
        " AND f.captions IS NULL",
        (path, member),
    ).fetchone()
    return row


def keep(connection: sqlite3.Connection, sha256: str, folder: FolderId, text: str) -> None:
    """Remembers a text for these bytes; bytes that are not known cannot be recognised again."""
    if sha256:
        data = zlib.compress(text.encode("utf-8", "surrogatepass"))
        connection.execute("INSERT OR REPLACE INTO caption VALUES(?,?,?,?)", (sha256, folder, data, time.time()))


def drop(connection: sqlite3.Connection, sha256: str) -> None:
    """Forgets the text for these bytes."""
    connection.execute("DELETE FROM caption WHERE sha256=?", (sha256,))


def kept(connection: sqlite3.Connection, sha256: str) -> str:
    """Gives the text that was put to a file with these bytes, or ``""``."""
    row = connection.execute("SELECT text FROM caption WHERE sha256=?", (sha256,)).fetchone()
    return zlib.decompress(row[0]).decode("utf-8", "surrogatepass") if row else ""


def follow(connection: sqlite3.Connection, file: int, old: str, new: str, folder: FolderId) -> None:
    """Lets the text go with a captioned file whose bytes have changed."""
    if not new or not connection.execute("SELECT 1 FROM file WHERE captions=?", (file,)).fetchone():
        return
    text = kept(connection, old)
    if text:
        keep(connection, new, folder, text)
        if not connection.execute("SELECT 1 FROM file WHERE sha256=? LIMIT 1", (old,)).fetchone():
            drop(connection, old)


def change_folder(connection: sqlite3.Connection, file: int, folder: FolderId) -> None:
    """Notes that a file with captions, or with members that have some, lies in another folder now."""
    connection.execute(
        "UPDATE caption SET folder=? WHERE sha256 IN (SELECT f.sha256 FROM file c JOIN file f ON f.id=c.captions"
        " WHERE c.parent=?)",
        (folder, file),
    )


def forget_folder(connection: sqlite3.Connection, folder: FolderId) -> None:
    """Forgets the texts of a folder whose files are gone; those that fit a file elsewhere stay for that one."""
    mine = [row[0] for row in connection.execute("SELECT sha256 FROM caption WHERE folder=?", (folder,))]
    if not mine:
        return
    others = dict(
        connection.execute(
            "SELECT sha256, folder FROM file WHERE folder!=? AND sha256 IN (SELECT sha256 FROM caption WHERE folder=?)",
            (folder, folder),
        ).fetchall()
    )
    connection.executemany("UPDATE caption SET folder=? WHERE sha256=?", [(at, sha) for sha, at in others.items()])
    connection.execute("DELETE FROM caption WHERE folder=?", (folder,))
