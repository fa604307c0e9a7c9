"""What the lock's holder puts right before it writes, and what a check of the library counts."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable
from pathlib import Path

from sbert_desktop.library import _analysis, _disk, _erasing, _units, _vectors, _words
from sbert_desktop.library._changes import Change
from sbert_desktop.library._columns import unpack_lengths
from sbert_desktop.library._records import SpaceRow
from sbert_desktop.library._text import Slices

_GENERATION = re.compile(r"-(\d+)\.")
SHORT_VECTORS = "The vectors file was shorter than the catalog says; what is missing is computed again."
LOST_INDEX = "The index file was missing or had the wrong size; it was discarded and is rebuilt from the vectors."
BAD_INDEX = "The index did not match its checksum; it was discarded and is rebuilt from the vectors."
OUTDATED_WORDS = "outdated"
NEW_ANALYSIS = "The rules for words changed; the keyword table was rebuilt from the stored texts."


def require_sound(library: Path, connection: sqlite3.Connection) -> None:
    """Checks the catalog after a writer ended without letting go.

    Raises:
        LibraryError: ``library-damaged``.
    """
    found = quick_check(connection)
    if found:
        raise _disk.damaged(library, "; ".join(found[:5]))


def quick_check(connection: sqlite3.Connection) -> list[str]:
    """Gives what SQLite's quick check found; empty when all is well."""
    try:
        found = [str(row[0]) for row in connection.execute("PRAGMA quick_check(20)")]
    except sqlite3.DatabaseError as error:
        return [str(error)]
    return [] if found == ["ok"] else found


def recover(library: Path, connection: sqlite3.Connection, notice: Callable[[str], None]) -> None:
    """Brings files and catalog together again: short vectors, rows to erase, files nobody names."""
    _check_analysis(connection, notice)
    spaces = [
        SpaceRow(*row)
        for row in connection.execute("SELECT id, fingerprint, segmentation, dimension, generation, rows FROM space")
    ]
    for space in spaces:
        path = _vectors.vectors_path(library, space.fingerprint, space.generation)
        available = _vectors.available_rows(path, space.dimension)
        if available < space.rows:
            _drop_missing_rows(connection, space, available)
            notice(SHORT_VECTORS)
        _check_index(library, connection, space, notice)
    _erasing.zero_dead_rows(library, connection, ())
    _remove_leftovers(library, connection, spaces)


def _check_analysis(connection: sqlite3.Connection, notice: Callable[[str], None]) -> None:
    if _units.up_to_date(connection):
        return
    row = connection.execute("SELECT value FROM meta WHERE key='analysis'").fetchone()
    if rebuild_all_words(connection) and row is not None and row[0] != OUTDATED_WORDS:
        notice(NEW_ANALYSIS)


def outdate_words(connection: sqlite3.Connection) -> None:
    """Says that the keyword tables hold words of passages that are gone: whoever writes next makes them anew."""
    connection.execute("INSERT OR REPLACE INTO meta VALUES('analysis', ?)", (OUTDATED_WORDS,))


def rebuild_all_words(connection: sqlite3.Connection) -> int:
    """Makes all keyword tables anew in one transaction; gives how many there are."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        segmentations = [row[0] for row in connection.execute("SELECT id FROM segmentation")]
        for segmentation in segmentations:
            rebuild_words(connection, segmentation)
        connection.execute("INSERT OR REPLACE INTO meta VALUES('analysis', ?)", (str(_analysis.VERSION),))
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    return len(segmentations)


def mend_words(connection: sqlite3.Connection) -> bool:
    """Makes the keyword tables anew where one does not hold the words of its passages; says whether."""
    segmentations = [row[0] for row in connection.execute("SELECT id FROM segmentation")]
    if not any(_differing_words(connection, name) or _units.differing(connection, name) for name in segmentations):
        return False
    rebuild_all_words(connection)
    return True


def rebuild_words(connection: sqlite3.Connection, segmentation: int) -> None:
    """Makes the keyword table of a segmentation anew from the stored texts, inside a transaction."""
    _words.drop(connection, segmentation)
    _words.create(connection, segmentation)
    _units.drop(connection, segmentation)
    _units.create(connection, segmentation)
    rows = connection.execute(
        "SELECT s.content, c.language, c.title FROM segmented s JOIN content c ON c.id=s.content"
        " WHERE s.segmentation=? ORDER BY s.first",
        (segmentation,),
    ).fetchall()
    for content, language, title in rows:
        slices = Slices(connection)
        _words.add(
            connection, segmentation, _words.tokens_again(connection, slices, segmentation, content, language, title)
        )
        _units.fill(connection, segmentation, content, title, slices)


def _drop_missing_rows(connection: sqlite3.Connection, space: SpaceRow, available: int) -> None:
    """Forgets rows that the file does not hold; their documents, as wholes, wait for vectors again."""
    connection.execute("BEGIN IMMEDIATE")
    lost = "SELECT p.content FROM row r JOIN passage p ON p.id=r.passage WHERE r.space=? AND r.row>=?"
    touched = f"SELECT r.row FROM row r JOIN passage p ON p.id=r.passage WHERE r.space=? AND p.content IN ({lost})"
    key = (space.id, available)
    rows = [row[0] for row in connection.execute(touched, (space.id, *key))]
    connection.executemany("DELETE FROM row WHERE space=? AND row=?", [(space.id, row) for row in rows])
    connection.execute("DELETE FROM dead_row WHERE space=? AND row>=?", key)
    connection.executemany(
        "INSERT OR IGNORE INTO dead_row VALUES(?,?)", [(space.id, row) for row in rows if row < available]
    )
    connection.execute("UPDATE space SET rows=? WHERE id=?", (available, space.id))
    connection.execute("DELETE FROM index_state WHERE space=? AND rows>?", key)
    fill_todo(connection, space.id)
    connection.execute("INSERT INTO change(kind, id) VALUES(?,?)", (int(Change.SPACE), space.id))
    connection.execute("COMMIT")


def fill_todo(connection: sqlite3.Connection, space: int) -> None:
    """Lists anew the documents that wait for vectors in a space."""
    connection.execute("DELETE FROM todo WHERE space=?", (space,))
    connection.execute(
        "INSERT INTO todo SELECT x.id, s.content,"
        " coalesce((SELECT max(mtime_ns) FROM file f WHERE f.content=s.content), 0),"
        " s.embeddable, s.characters FROM space x JOIN segmented s ON s.segmentation=x.segmentation WHERE x.id=?"
        " AND s.embeddable>0 AND NOT EXISTS (SELECT 1 FROM row r INDEXED BY row_passage WHERE r.space=x.id"
        " AND r.passage>=s.first AND r.passage<s.first+s.passages)",
        (space,),
    )


def _check_index(library: Path, connection: sqlite3.Connection, space: SpaceRow, notice: Callable[[str], None]) -> None:
    row = connection.execute("SELECT file, bytes FROM index_state WHERE space=?", (space.id,)).fetchone()
    if row is None:
        return
    try:
        sound = (_vectors.space_folder(library, space.fingerprint) / row[0]).stat().st_size == row[1]
    except OSError:
        sound = False
    if not sound:
        drop_index(connection, space.id)
        notice(LOST_INDEX)


def drop_index(connection: sqlite3.Connection, space: int) -> None:
    """Makes the catalog forget the index of a space; outside a transaction."""
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("DELETE FROM index_state WHERE space=?", (space,))
    connection.execute("INSERT INTO change(kind, id) VALUES(?,?)", (int(Change.INDEX), space))
    connection.execute("COMMIT")


def _remove_leftovers(library: Path, connection: sqlite3.Connection, spaces: list[SpaceRow]) -> None:
    named = {_vectors.vectors_path(library, s.fingerprint, s.generation) for s in spaces}
    by_id = {space.id: space for space in spaces}
    for space, file in connection.execute("SELECT space, file FROM index_state"):
        named.add(_vectors.space_folder(library, by_id[space].fingerprint) / file)
    for pattern in ("spaces/*/vectors-*", "spaces/*/hnsw-*", ".writer-*"):
        for path in library.glob(pattern):
            if path not in named:
                _erasing.discard(path)


def last_generation(library: Path, fingerprint: str) -> int:
    """Gives the highest number that a vectors file of a space has, 0 without one."""
    numbers = [
        int(match[1])
        for path in _vectors.space_folder(library, fingerprint).glob("vectors-*")
        if (match := _GENERATION.search(path.name))
    ]
    return max(numbers, default=0)


# Left to itself SQLite goes through all rows of the space for each document.
_ROWS_OF = (
    "SELECT {} FROM row r INDEXED BY row_passage WHERE r.space=x.id AND r.passage>=s.first"
    " AND r.passage<s.first+s.passages"
)
_SPACES = "FROM space x JOIN segmented s ON s.segmentation=x.segmentation"
_COUNTS = {
    "files": "SELECT count(*) FROM file",
    "contents": "SELECT count(*) FROM content",
    "passages": "SELECT count(*) FROM passage",
    "rows": "SELECT count(*) FROM row",
    "waiting": "SELECT count(*) FROM todo",
    # What is inside a container lies where the container lies; nothing else has a parent.
    "bad_members": "SELECT count(*) FROM file m LEFT JOIN file p ON p.id=m.parent WHERE (m.member='') !="
    " (m.parent IS NULL) OR p.path!=m.path OR p.folder!=m.folder OR p.member!=''",
    "bad_captions": "SELECT count(*) FROM file c JOIN file f ON f.id=c.captions WHERE f.path!=c.path"
    " OR f.captions IS NOT NULL OR c.content IS NULL",
    "bad_contents_without_file": "SELECT count(*) FROM content WHERE id NOT IN"
    " (SELECT content FROM file WHERE content IS NOT NULL)",
    "bad_contents_without_text": "SELECT count(*) FROM content WHERE id NOT IN (SELECT content FROM text_part)",
    "bad_passage_counts": "SELECT count(*) FROM segmented s WHERE s.passages != (SELECT count(*) FROM passage p"
    " WHERE p.segmentation=s.segmentation AND p.content=s.content AND p.id>=s.first AND p.id<s.first+s.passages)",
    "bad_half_documents": f"SELECT count(*) FROM (SELECT s.embeddable AS wanted, ({_ROWS_OF.format('count(*)')})"
    f" AS found {_SPACES}) WHERE found NOT IN (0, wanted)",
    # A document of the active space either waits for vectors or has them.
    "bad_waiting": f"SELECT count(*) {_SPACES} WHERE x.state='active' AND s.embeddable>0 AND (EXISTS (SELECT 1 FROM"
    f" todo t WHERE t.space=x.id AND t.content=s.content)) = (EXISTS ({_ROWS_OF.format('1')}))",
}


def _differing_words(connection: sqlite3.Connection, segmentation: int) -> int:
    wanted: set[int] = set()
    for first, lengths in connection.execute(
        "SELECT first, lengths FROM segmented WHERE segmentation=?", (segmentation,)
    ):
        wanted.update(first + at for at, length in enumerate(unpack_lengths(lengths)) if length)
    return len(wanted ^ _words.indexed(connection, segmentation))


def integrity(library: Path, connection: sqlite3.Connection) -> dict[str, int]:
    """Counts what must agree; every value whose key starts with ``bad_`` must be 0."""

    def count(sql: str) -> int:
        return int(connection.execute(sql).fetchone()[0])

    out = {name: count(sql) for name, sql in _COUNTS.items()}
    out["bad_foreign_keys"] = len(connection.execute("PRAGMA foreign_key_check").fetchall())
    out |= {"bad_words": 0, "bad_units": 0, "bad_vectors": 0}
    for (segmentation,) in connection.execute("SELECT id FROM segmentation").fetchall():
        out["bad_words"] += _differing_words(connection, segmentation)
        out["bad_units"] += _units.differing(connection, segmentation)
    for row in connection.execute(
        "SELECT id, fingerprint, segmentation, dimension, generation, rows FROM space"
    ).fetchall():
        space = SpaceRow(*row)
        path = _vectors.vectors_path(library, space.fingerprint, space.generation)
        out["bad_vectors"] += max(0, space.rows - _vectors.available_rows(path, space.dimension))
        out["bad_vectors"] += count(f"SELECT count(*) FROM row WHERE space={space.id} AND row>={space.rows}")
    return out
