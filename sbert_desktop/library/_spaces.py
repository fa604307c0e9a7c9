"""Spaces beside the active one: which there are, which is wanted, and how large each is."""

from __future__ import annotations

import json
import os
import sqlite3
from pathlib import Path

from sbert_desktop.domain import EncoderInfo, SplitRules
from sbert_desktop.errors import LibraryError
from sbert_desktop.library import _erasing, _health, _units, _vectors, _words
from sbert_desktop.library._records import SpaceRecord, SpaceRow, WantedSpace

_WANTED = "wanted-space"  # in meta: it may be said while another process writes, and schema 4 needs no new table

# What a space should hold: the passages of its segmentation of documents in folders searched by meaning.
_WANTED_PASSAGES = (
    "SELECT coalesce(sum(s.embeddable), 0) FROM segmented s WHERE s.segmentation=? AND EXISTS (SELECT 1 FROM file f"
    " JOIN folder d ON d.id=f.folder WHERE f.content=s.content AND d.state='active' AND NOT d.words_only)"
)
_UNCUT = (
    "SELECT count(*) FROM content c WHERE NOT EXISTS (SELECT 1 FROM segmented s WHERE s.segmentation=? AND"
    " s.content=c.id) AND EXISTS (SELECT 1 FROM file f JOIN folder d ON d.id=f.folder WHERE f.content=c.id"
    " AND d.state='active' AND NOT d.words_only)"
)


def measure(library: Path, connection: sqlite3.Connection) -> tuple[SpaceRecord, ...]:
    """Lists all spaces with what they hold and how large they are."""
    rows = connection.execute(
        "SELECT x.fingerprint, x.dimension, x.state, x.name, s.key, x.id, x.segmentation FROM space x"
        " JOIN segmentation s ON s.id=x.segmentation ORDER BY x.id"
    ).fetchall()
    records = []
    for fingerprint, dimension, state, name, key, space, segmentation in rows:
        held = int(connection.execute("SELECT count(*) FROM row WHERE space=?", (space,)).fetchone()[0])
        wanted = int(connection.execute(_WANTED_PASSAGES, (segmentation,)).fetchone()[0])
        size = _size(_vectors.space_folder(library, fingerprint))
        uncut = int(connection.execute(_UNCUT, (segmentation,)).fetchone()[0])
        records.append(SpaceRecord(fingerprint, dimension, state, name, key, held, max(held, wanted), size, uncut))
    return tuple(records)


def holding(connection: sqlite3.Connection) -> list[SpaceRow]:
    """Gives all spaces that hold something, those that are kept, too."""
    rows = connection.execute(
        "SELECT id, fingerprint, segmentation, dimension, generation, rows FROM space WHERE rows>0 ORDER BY id"
    ).fetchall()
    return [SpaceRow(*row) for row in rows]


def _size(folder: Path) -> int:
    try:
        with os.scandir(folder) as entries:
            return sum(entry.stat().st_size for entry in entries if entry.is_file(follow_symlinks=False))
    except OSError:
        return 0


# ------------------------------------------------------------ which is wanted


def wanted(connection: sqlite3.Connection) -> WantedSpace | None:
    """Gives the space that is to be prepared, or None."""
    row = connection.execute("SELECT value FROM meta WHERE key=?", (_WANTED,)).fetchone()
    if row is None:
        return None
    try:
        said = json.loads(row[0])
        return WantedSpace(str(said["model"]), str(said["fingerprint"]))
    except (ValueError, LookupError, TypeError):
        return None  # a wish that cannot be read is none: nothing else hangs on it


def want(connection: sqlite3.Connection, space: WantedSpace | None) -> None:
    """Says which space is to be prepared; None: none. Inside a transaction."""
    if space is None:
        connection.execute("DELETE FROM meta WHERE key=?", (_WANTED,))
        return
    said = json.dumps({"model": space.model, "fingerprint": space.fingerprint})
    connection.execute("INSERT OR REPLACE INTO meta VALUES(?,?)", (_WANTED, said))


# ------------------------------------------------------------ made, active, dropped; inside the writer's transaction


def make(
    library: Path, connection: sqlite3.Connection, info: EncoderInfo, tokenizer_key: str, rules: SplitRules
) -> int:
    """Gives the id of an encoder's space, made when there is none with these rules; never the state of one changes.

    A new one is ``part``. One of the same encoder over another segmentation is dropped: its rows are of no use.
    """
    segmentation = _segmentation(connection, info, tokenizer_key, rules)
    row = connection.execute(
        "SELECT id, segmentation, dimension FROM space WHERE fingerprint=?", (info.fingerprint,)
    ).fetchone()
    if row is not None and row[1:] == (segmentation, info.dimension):
        return int(row[0])
    if row is not None:
        drop_rows(connection, row[0])
    generation = _health.last_generation(library, info.fingerprint) + 1
    cursor = connection.execute(
        "INSERT INTO space(fingerprint, segmentation, dimension, name, state, generation, rows)"
        " VALUES(?,?,?,?,'part',?,0)",
        (info.fingerprint, segmentation, info.dimension, info.name, generation),
    )
    return int(cursor.lastrowid or 0)


def _segmentation(connection: sqlite3.Connection, info: EncoderInfo, tokenizer_key: str, rules: SplitRules) -> int:
    key = f"{tokenizer_key}|{info.max_tokens}|{rules.key()}"
    known = connection.execute("SELECT id FROM segmentation WHERE key=?", (key,)).fetchone()
    if known is not None:
        return int(known[0])
    cursor = connection.execute(
        "INSERT INTO segmentation(key, tokenizer, max_tokens, rules) VALUES(?,?,?,?)",
        (key, tokenizer_key, info.max_tokens, rules.key()),
    )
    segmentation = int(cursor.lastrowid or 0)
    _words.create(connection, segmentation)
    _units.create(connection, segmentation)
    return segmentation


def activate(connection: sqlite3.Connection, space: int) -> None:
    """Makes a space the active one and the one before inactive; lists what it still lacks."""
    connection.execute("UPDATE space SET state='inactive' WHERE state='active' AND id!=?", (space,))
    connection.execute("UPDATE space SET state='active' WHERE id=?", (space,))
    _health.fill_todo(connection, space)


def known(connection: sqlite3.Connection, fingerprint: str) -> tuple[int, str, int]:
    """Gives id, state and segmentation of a space.

    Raises:
        LibraryError: ``no-space``.
    """
    row = connection.execute("SELECT id, state, segmentation FROM space WHERE fingerprint=?", (fingerprint,)).fetchone()
    if row is None:
        raise LibraryError("no-space", "The library has no such space.", "List the spaces again.")
    return int(row[0]), str(row[1]), int(row[2])


def drop_rows(connection: sqlite3.Connection, space: int) -> None:
    """Takes a space out of the catalog; its files are left to who holds the lock."""
    for table in ("row", "dead_row", "todo", "index_state"):
        connection.execute(f"DELETE FROM {table} WHERE space=?", (space,))
    connection.execute("DELETE FROM space WHERE id=?", (space,))


def drop_segmentation(connection: sqlite3.Connection, segmentation: int) -> bool:
    """Takes out passages and words that no space is made of any more; says whether."""
    if connection.execute("SELECT 1 FROM space WHERE segmentation=? LIMIT 1", (segmentation,)).fetchone():
        return False
    for table in ("passage", "segmented"):
        connection.execute(f"DELETE FROM {table} WHERE segmentation=?", (segmentation,))
    connection.execute("DELETE FROM segmentation WHERE id=?", (segmentation,))
    _words.drop(connection, segmentation)
    _units.drop(connection, segmentation)
    return True


def discard_files(library: Path, fingerprint: str) -> None:
    """Removes the files of a space that was dropped."""
    folder = _vectors.space_folder(library, fingerprint)
    for pattern in ("vectors-*", "hnsw-*"):
        for path in folder.glob(pattern):
            _erasing.discard(path)
    try:
        folder.rmdir()
    except OSError:
        pass  # somebody has a file of it mapped: the next writer takes it
