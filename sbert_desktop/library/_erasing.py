"""Erasing: what a removed document leaves in texts, words and vectors, until no byte of it is left."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sbert_desktop.domain import FileId, FolderId
from sbert_desktop.library import _kept, _schema, _units, _vectors, _words
from sbert_desktop.library._changes import Change
from sbert_desktop.library._records import SpaceRow
from sbert_desktop.library._text import Slices

if TYPE_CHECKING:
    from sbert_desktop.library._space import Space
    from sbert_desktop.library._writer import Writer

FILES_PER_COMMIT = 200
REBUILD_FROM = 2_000  # passages; below, nobody notices
FREE_PAGES_SHARE = 0.2  # of the catalog: so many empty pages are given back to the disk
PAGES_PER_STEP = 2_000
VACUUM_BYTES = 256 * 1_000_000  # a catalog that cannot shrink in steps is copied once, in memory


@dataclass(frozen=True, slots=True)
class Removed:
    """The contents whose passages were erased."""

    contents: tuple[int, ...]


def erase_passages(
    connection: sqlite3.Connection, contents: Sequence[int], segmentation: int | None = None, *, words: bool = True
) -> Removed:
    """Erases passages, words and row entries of contents, in one segmentation or in all.

    Their places in the vectors files go to ``dead_row``, to be zeroed after the commit. Without ``words`` the
    keyword tables keep them, until they are made anew.
    """
    slices = Slices(connection)
    for content in contents:
        known = connection.execute(
            "SELECT s.segmentation, s.first, s.passages, c.language, c.title FROM segmented s"
            " JOIN content c ON c.id=s.content WHERE s.content=?",
            (content,),
        ).fetchall()
        for number, first, count, language, title in known:
            if segmentation is not None and number != segmentation:
                continue
            if words:
                rows = _words.tokens_again(connection, slices, number, content, language, title)
                _words.remove(connection, number, rows)
            _units.remove(connection, number, content)
            span = (first, first + count)
            connection.execute("INSERT INTO dead_row SELECT space, row FROM row WHERE passage>=? AND passage<?", span)
            connection.execute("DELETE FROM row WHERE passage>=? AND passage<?", span)
            connection.execute("DELETE FROM passage WHERE id>=? AND id<?", span)
            connection.execute("DELETE FROM segmented WHERE segmentation=? AND content=?", (number, content))
    return Removed(tuple(contents))


def erase_contents(connection: sqlite3.Connection, contents: Sequence[int], *, words: bool = True) -> Removed:
    """Erases contents that no file has any more, with their texts, passages, words and rows."""
    removed = erase_passages(connection, contents, words=words)
    for table, column in (("todo", "content"), ("text_part", "content"), ("content", "id")):
        connection.executemany(f"DELETE FROM {table} WHERE {column}=?", [(content,) for content in contents])
    if contents:
        _kept.note_erasing(connection)
    return removed


def is_most(library: Path, connection: sqlite3.Connection, folder: FolderId) -> bool:
    """Says whether making the keyword tables anew without a folder is cheaper than taking its words out of them.

    Taking a passage out costs about twice as much as putting one in (220 and 100 microseconds for 90 words). A disk
    without room for a second table cannot do it.
    """
    mine = connection.execute(
        "SELECT coalesce(sum(passages), 0) FROM segmented WHERE content IN (SELECT content FROM file WHERE folder=?)",
        (folder,),
    ).fetchone()[0]
    total = connection.execute("SELECT coalesce(sum(passages), 0) FROM segmented").fetchone()[0]
    size = (library / _schema.CATALOG).stat().st_size
    return bool(mine >= REBUILD_FROM and 3 * mine >= total and shutil.disk_usage(library).free > 2 * size)


def remove_files_of(writer: Writer, connection: sqlite3.Connection, folder: FolderId) -> tuple[int, int]:
    """Removes all files of a folder, some hundred per commit; gives documents and passages."""
    documents = connection.execute(
        "SELECT count(content) FROM file WHERE folder=? AND captions IS NULL", (folder,)
    ).fetchone()[0]
    passages = connection.execute(
        "SELECT coalesce(sum(s.embeddable), 0) FROM segmented s JOIN space x ON x.segmentation=s.segmentation"
        " AND x.state='active' WHERE s.content IN (SELECT content FROM file WHERE folder=?)",
        (folder,),
    ).fetchone()[0]
    # Captions and members first: a container then leaves in steps as well.
    ids = [
        FileId(row[0])
        for row in connection.execute(
            "SELECT id FROM file WHERE folder=? ORDER BY (parent IS NULL)+(captions IS NULL), id", (folder,)
        )
    ]
    for at in range(0, len(ids), FILES_PER_COMMIT):
        writer.remove(ids[at : at + FILES_PER_COMMIT])
        writer.commit()
    return int(documents), int(passages)


def zero_dead_rows(library: Path, connection: sqlite3.Connection, spaces: Sequence[Space]) -> None:
    """Overwrites the places of removed vectors; after the commit that removed them. ``spaces``: those that are open."""
    rows = connection.execute(
        "SELECT d.space, d.row, x.fingerprint, x.generation, x.dimension, x.rows FROM dead_row d"
        " JOIN space x ON x.id=d.space ORDER BY d.space, d.row"
    ).fetchall()
    if not rows:
        return
    for space in dict.fromkeys(row[0] for row in rows):
        mine = [row for row in rows if row[0] == space]
        _, _, fingerprint, generation, dimension, committed = mine[0]
        own = next((one for one in spaces if one.row.id == space), None)
        path = _vectors.vectors_path(library, fingerprint, generation)
        file = own.file if own is not None else _vectors.VectorFile(path, dimension, committed)
        try:
            file.erase(row[1] for row in mine)
            file.sync()
        finally:
            if own is None:
                file.close()
    # One transaction: each statement of its own would wait for the disk.
    connection.execute("BEGIN IMMEDIATE")
    connection.executemany("DELETE FROM dead_row WHERE space=? AND row=?", [row[:2] for row in rows])
    connection.execute("COMMIT")


def compact(library: Path, connection: sqlite3.Connection, share: float) -> bool:
    """Rewrites the vectors file of each space with too many dead rows under the next number."""
    done = False
    for row in connection.execute(
        "SELECT id, fingerprint, segmentation, dimension, generation, rows FROM space WHERE rows>0"
    ).fetchall():
        space = SpaceRow(*row)
        live = connection.execute("SELECT count(*) FROM row WHERE space=?", (space.id,)).fetchone()[0]
        if space.rows - live > share * space.rows:
            _compact_space(library, connection, space)
            done = True
    return done


def _compact_space(library: Path, connection: sqlite3.Connection, space: SpaceRow) -> None:
    rows = connection.execute(
        "SELECT row, passage, input_sha FROM row WHERE space=? ORDER BY row", (space.id,)
    ).fetchall()
    old = _vectors.vectors_path(library, space.fingerprint, space.generation)
    new = _vectors.vectors_path(library, space.fingerprint, space.generation + 1)
    file = _vectors.VectorFile(old, space.dimension, space.rows)
    try:
        file.copy_to(new, np.array([row[0] for row in rows], np.int64))
    finally:
        file.close()
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("DELETE FROM row WHERE space=?", (space.id,))
    connection.executemany(
        "INSERT INTO row VALUES(?,?,?,?)", [(space.id, at, passage, sha) for at, (_, passage, sha) in enumerate(rows)]
    )
    connection.execute("DELETE FROM dead_row WHERE space=?", (space.id,))
    connection.execute("DELETE FROM index_state WHERE space=?", (space.id,))
    connection.execute("UPDATE space SET generation=generation+1, rows=? WHERE id=?", (len(rows), space.id))
    connection.execute("INSERT INTO change(kind, id) VALUES(?,?)", (int(Change.SPACE), space.id))
    connection.execute("COMMIT")
    discard(old)
    for index in old.parent.glob("hnsw-*"):
        discard(index)


def leave_no_trace(library: Path, connection: sqlite3.Connection, *, words: bool = True) -> None:
    """Takes what was removed out of the keyword tables, the index, old backups and the log.

    Args:
        library: The library's folder.
        connection: The writer's, outside a transaction.
        words: Whether the keyword tables still hold something of it.
    """
    for (segmentation,) in connection.execute("SELECT id FROM segmentation").fetchall() if words else ():
        _words.compact(connection, segmentation)
    rows = connection.execute(
        "SELECT x.id, x.fingerprint, i.file, i.count, (SELECT count(*) FROM row r WHERE r.space=x.id AND r.row<i.rows)"
        " FROM index_state i JOIN space x ON x.id=i.space"
    ).fetchall()
    for space, fingerprint, file, count, live in rows:
        if live < count:  # the index file holds vectors of removed documents
            connection.execute("DELETE FROM index_state WHERE space=?", (space,))
            connection.execute("INSERT INTO change(kind, id) VALUES(?,?)", (int(Change.INDEX), space))
            discard(_vectors.space_folder(library, fingerprint) / file)
    for backup in _schema.backups(library):
        discard(backup)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    if give_back(library, connection):
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def give_back(library: Path, connection: sqlite3.Connection) -> bool:
    """Gives empty pages of the catalog back to the disk when they are many; they hold zeros already."""

    def pragma(name: str) -> int:
        return int(connection.execute(f"PRAGMA {name}").fetchone()[0])

    pages, empty = pragma("page_count"), pragma("freelist_count")
    if empty < FREE_PAGES_SHARE * pages:
        return False
    if pragma("auto_vacuum") == 2:
        while pragma("freelist_count"):
            connection.executescript(f"PRAGMA incremental_vacuum({PAGES_PER_STEP})")  # execute does one page only
        return True
    used = (pages - empty) * pragma("page_size")
    if used > VACUUM_BYTES or shutil.disk_usage(library).free < 3 * used:
        return False
    connection.execute("PRAGMA auto_vacuum=INCREMENTAL")
    connection.execute("VACUUM")
    return True


def discard(path: Path) -> None:
    """Removes a file; where somebody has it mapped and the system minds, the next writer does it."""
    try:
        path.unlink(missing_ok=True)
    except OSError:
        pass
