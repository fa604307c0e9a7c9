"""What the person made and the files do not hold: judgements, collections, saved searches, arrangements.

Everything names a passage by the sha256 of its document, its offsets and its text, never by the number of a row, so
that it outlives re-splitting, another model and moves. Written beside the one who writes, in short transactions of
its own (no writer's lock); a write is on disk when it returns.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Iterator, Sequence, Set
from contextlib import contextmanager
from pathlib import Path

from sbert_desktop.errors import LibraryBusy, LibraryError
from sbert_desktop.library import _schema, _snapshot, _text
from sbert_desktop.library._records import (
    CollectionRecord,
    ItemRecord,
    JudgementRecord,
    KeptPassage,
    SavedRecord,
)

FEW = 500  # contents whose hashes are asked for one by one
WAIT_MS = 20_000  # a commit of the one who indexes takes a second; remaking a large keyword table longer


@contextmanager
def writing(library: Path) -> Iterator[sqlite3.Connection]:
    """One short transaction beside the writer's.

    Raises:
        LibraryBusy: ``library-busy`` when the writer takes too long.
    """
    connection = _schema.connect(library, mode="rw")
    try:
        connection.execute(f"PRAGMA busy_timeout={WAIT_MS}")
        try:
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY:
                raise LibraryBusy(
                    "library-busy", "The library is being written and does not answer.", "Try again in a minute."
                ) from error
            raise
        yield connection
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    finally:
        connection.close()


# ---------------------------------------------------------------- judgements

_JUDGEMENT = "kind, verdict, query, sha256_a, start_a, end_a, text_a, sha256_b, start_b, end_b, text_b, made"


def judge(connection: sqlite3.Connection, record: JudgementRecord) -> None:
    """Keeps what the person said, in the place of what was said before of the same; ``""`` takes it back."""
    connection.execute(
        "DELETE FROM judgement WHERE kind=? AND query=? AND sha256_a=? AND start_a=? AND end_a=? AND sha256_b=?"
        " AND start_b=? AND end_b=?",
        (record.kind, record.query, record.sha256, record.start, record.end, record.other_sha256, record.other_start,
         record.other_end),
    )  # fmt: skip
    if record.verdict:
        connection.execute(
            f"INSERT INTO judgement({_JUDGEMENT}) VALUES(?,?,?,?,?,?,?,?,?,?,?,?)",
            (record.kind, record.verdict, record.query, record.sha256, record.start, record.end,
             _text.clean(record.text), record.other_sha256, record.other_start, record.other_end,
             _text.clean(record.other_text), record.made),
        )  # fmt: skip


def judgements(connection: sqlite3.Connection, kind: str | None, query: str | None) -> tuple[JudgementRecord, ...]:
    """Lists judgements, oldest first."""
    rows = connection.execute(
        f"SELECT {_JUDGEMENT} FROM judgement WHERE (? IS NULL OR kind=?) AND (? IS NULL OR query=?) ORDER BY id",
        (kind, kind, query, query),
    )
    return tuple(JudgementRecord(*row) for row in rows)


def sha256s(connection: sqlite3.Connection, contents: Set[int]) -> dict[int, str]:
    """Gives the hashes of contents by id; what is gone is left out."""
    if len(contents) <= FEW:
        marks = ",".join("?" * len(contents))
        rows = connection.execute(f"SELECT id, sha256 FROM content WHERE id IN ({marks})", list(contents))
        return {int(id_): str(sha256) for id_, sha256 in rows}
    # One pass over the index of hashes, which is a tenth of the table.
    rows = connection.execute("SELECT id, sha256 FROM content INDEXED BY sqlite_autoindex_content_1")
    return {id_: sha256 for id_, sha256 in rows if id_ in contents}


# ---------------------------------------------------------------- collections


def collect(connection: sqlite3.Connection, name: str, items: Sequence[KeptPassage], note: str | None) -> None:
    """Puts passages into a collection, made when new; one that is in it already stays as it is."""
    name = checked_name(name)
    now = time.time()
    connection.execute("INSERT OR IGNORE INTO collection(name, note, made) VALUES(?,'',?)", (name, now))
    id_ = _collection(connection, name)
    if note is not None:
        connection.execute("UPDATE collection SET note=? WHERE id=?", (_text.clean(note), id_))
    connection.executemany(
        "INSERT OR IGNORE INTO collection_item(collection, sha256, start, end, text, note, path, member, title, page,"
        " added) VALUES(?,?,?,?,?,?,?,?,?,?,?)",
        [
            (id_, item.sha256, item.start, item.end, _text.clean(item.text), _text.clean(item.note),
             os.fsencode(item.path), _text.clean(item.member), _text.clean(item.title), item.page, item.added or now)
            for item in items
        ],
    )  # fmt: skip


def change_collection(
    connection: sqlite3.Connection,
    name: str,
    rename: str,
    note: str | None,
    take_out: Sequence[int],
    item_note: tuple[int, str] | None,
    delete: bool,
) -> None:
    """Changes a collection; see :meth:`Library.change_collection`."""
    id_ = _collection(connection, name.strip())
    if delete:
        connection.execute("DELETE FROM collection_item WHERE collection=?", (id_,))
        connection.execute("DELETE FROM collection WHERE id=?", (id_,))
        return
    connection.executemany(
        "DELETE FROM collection_item WHERE collection=? AND id=?", [(id_, item) for item in take_out]
    )
    if note is not None:
        connection.execute("UPDATE collection SET note=? WHERE id=?", (_text.clean(note), id_))
    if item_note is not None:
        connection.execute(
            "UPDATE collection_item SET note=? WHERE collection=? AND id=?",
            (_text.clean(item_note[1]), id_, item_note[0]),
        )
    if rename.strip() and rename.strip() != name.strip():
        rename = checked_name(rename)
        if connection.execute("SELECT 1 FROM collection WHERE name=?", (rename,)).fetchone():
            raise LibraryError("collection-known", f"There is a collection “{rename}” already.", "Choose another name.")
        connection.execute("UPDATE collection SET name=? WHERE id=?", (rename, id_))


def _collection(connection: sqlite3.Connection, name: str) -> int:
    row = connection.execute("SELECT id FROM collection WHERE name=?", (_text.clean(name),)).fetchone()
    if row is None:
        raise LibraryError("collection-unknown", f"There is no collection “{name}”.", "Look at the list again.")
    return int(row[0])


def checked_name(name: str) -> str:
    """Gives a name on one line.

    Raises:
        LibraryError: ``name-missing``.
    """
    name = " ".join(_text.clean(name).replace("\0", " ").split())
    if not name:
        raise LibraryError("name-missing", "A name is needed.", "Type one.")
    return name


def collections(connection: sqlite3.Connection) -> tuple[CollectionRecord, ...]:
    """Lists collections by name, with their items in the order they came in and where each is now."""
    items: dict[int, list[ItemRecord]] = {}
    for row in connection.execute(
        "SELECT collection, id, sha256, start, end, text, note, path, member, title, page, added FROM collection_item"
        " ORDER BY id"
    ).fetchall():
        items.setdefault(row[0], []).append(_located(connection, row[1:]))
    rows = connection.execute("SELECT id, name, note, made FROM collection ORDER BY name COLLATE NOCASE, name")
    return tuple(CollectionRecord(name, note, made, tuple(items.get(id_, ()))) for id_, name, note, made in rows)


def _located(connection: sqlite3.Connection, row: tuple[object, ...]) -> ItemRecord:
    id_, sha256, start, end, text, note, path, member, title, page, added = row
    item = ItemRecord(
        id=int(id_),  # type: ignore[call-overload]
        sha256=str(sha256),
        start=int(start),  # type: ignore[call-overload]
        end=int(end),  # type: ignore[call-overload]
        text=str(text),
        note=str(note),
        path=Path(os.fsdecode(path)),  # type: ignore[arg-type]
        member=str(member),
        title=str(title),
        page=page,  # type: ignore[arg-type]
        added=float(added),  # type: ignore[arg-type]
    )
    return item.at(*_place(connection, item))


def _place(connection: sqlite3.Connection, item: ItemRecord) -> tuple[int, int, Path, str]:
    """Gives content, passage, path and member of an item now; zeros and the old place when it is gone."""
    gone = (0, 0, item.path, item.member)
    rows = connection.execute(
        "SELECT id FROM content WHERE sha256=? ORDER BY extractor_version DESC", (item.sha256,)
    ).fetchall()
    for (content,) in rows:
        files = _snapshot.paths_of(connection, content)
        if not files:
            continue
        same = [file for file in files if file.path == item.path and file.member == item.member]
        file = (same or list(files))[0]
        return content, _passage_at(connection, content, item), file.path, file.member
    return gone


def _passage_at(connection: sqlite3.Connection, content: int, item: ItemRecord) -> int:
    """Gives the passage of the active segmentation in which the item begins, 0 when its text is not there any more."""
    start = item.start
    if item.text and _text.Slices(connection).get(content, item.start, item.end) != item.text:
        whole = _text.read(connection, content) or ""  # read by another version of the extractor
        start = whole.find(item.text)
        if start < 0:
            return 0
    row = connection.execute(
        "SELECT p.id FROM passage p JOIN space x ON x.segmentation=p.segmentation AND x.state='active'"
        " WHERE p.content=? AND p.start<=? ORDER BY p.start DESC LIMIT 1",
        (content, start),
    ).fetchone()
    return int(row[0]) if row else 0


# ---------------------------------------------------------------- saved searches


def save_search(connection: sqlite3.Connection, record: SavedRecord) -> None:
    """Keeps a search under its name, in the place of one that had it."""
    name = checked_name(record.name)
    connection.execute(
        "INSERT INTO saved_search(name, query, saved, seen) VALUES(?,?,?,?) ON CONFLICT(name) DO UPDATE SET"
        " query=excluded.query, saved=excluded.saved, seen=excluded.seen",
        (name, _text.clean(record.query), record.saved, record.seen),
    )
    _set_waiting(connection, name, record.waiting)


def remove_saved(connection: sqlite3.Connection, name: str) -> None:
    """Forgets a search."""
    _set_waiting(connection, name, ())
    connection.execute("DELETE FROM saved_search WHERE name=?", (name,))


def mark_seen(
    connection: sqlite3.Connection, name: str, seen: int, waiting: Sequence[tuple[int, int]] | None
) -> None:
    """Notes up to which content the person has seen what a search finds, and what had no vectors; it never goes back.

    ``waiting`` None: as before.
    """
    row = connection.execute("SELECT seen FROM saved_search WHERE name=?", (name,)).fetchone()
    if row is None or seen < row[0]:
        return
    connection.execute("UPDATE saved_search SET seen=? WHERE name=?", (seen, name))
    if waiting is not None:
        _set_waiting(connection, name, waiting)


def without_vectors(connection: sqlite3.Connection) -> tuple[tuple[int, int], ...]:
    """Gives ranges (first, last) of the contents that wait for vectors in the active space."""
    ranges: list[tuple[int, int]] = []
    for (content,) in connection.execute(
        "SELECT t.content FROM todo t JOIN space x ON x.id=t.space WHERE x.state='active' ORDER BY t.content"
    ):
        if ranges and ranges[-1][1] == content - 1:
            ranges[-1] = (ranges[-1][0], content)
        else:
            ranges.append((content, content))
    return tuple(ranges)


# The ranges stand in meta, since the table has no column for them: a library of this schema may be open elsewhere.
_WAITING = "waiting:"


def _set_waiting(connection: sqlite3.Connection, name: str, ranges: Sequence[tuple[int, int]]) -> None:
    row = connection.execute("SELECT id FROM saved_search WHERE name=?", (name,)).fetchone()
    if row is None:
        return
    if ranges:
        connection.execute("INSERT OR REPLACE INTO meta VALUES(?,?)", (f"{_WAITING}{row[0]}", json.dumps(ranges)))
    else:
        connection.execute("DELETE FROM meta WHERE key=?", (f"{_WAITING}{row[0]}",))


def _ranges(text: str | None) -> tuple[tuple[int, int], ...]:
    return tuple((int(first), int(last)) for first, last in json.loads(text)) if text else ()


def saved_searches(connection: sqlite3.Connection) -> tuple[SavedRecord, ...]:
    """Lists saved searches, newest first."""
    rows = connection.execute(
        "SELECT s.name, s.query, s.saved, s.seen, m.value FROM saved_search s LEFT JOIN meta m ON m.key=?||s.id"
        " ORDER BY s.saved DESC, s.id DESC",
        (_WAITING,),
    )
    return tuple(SavedRecord(name, query, saved, seen, _ranges(waiting)) for name, query, saved, seen, waiting in rows)


# ---------------------------------------------------------------- arrangements

LARGEST = 64_000_000  # bytes of an arrangement: a million documents by their hashes
_ERASED = "erased"  # in meta: the time at which documents were last erased for good


def arrange(connection: sqlite3.Connection, name: str, data: bytes, changed: float | None = None) -> None:
    """Keeps an arrangement in the place of what had its name; ``b""`` forgets it.

    ``changed`` None: now, and in any case not before the last erasing, whatever the clock says.
    """
    if not data:
        connection.execute("DELETE FROM arrangement WHERE name=?", (name,))
        return
    when = max(time.time(), erased(connection)) if changed is None else changed
    connection.execute("INSERT OR REPLACE INTO arrangement VALUES(?,?,?)", (name, data, when))


def arrangement(connection: sqlite3.Connection, name: str) -> bytes | None:
    """Gives an arrangement as it was kept, or None."""
    row = connection.execute("SELECT data FROM arrangement WHERE name=?", (name,)).fetchone()
    return bytes(row[0]) if row else None


def is_stale(connection: sqlite3.Connection, name: str) -> bool:
    """Says whether documents were erased since an arrangement was kept."""
    row = connection.execute("SELECT changed FROM arrangement WHERE name=?", (name,)).fetchone()
    return row is not None and erased(connection) > row[0]


def erased(connection: sqlite3.Connection) -> float:
    """Gives when documents were last erased for good, in seconds since the epoch; 0 for never."""
    row = connection.execute("SELECT value FROM meta WHERE key=?", (_ERASED,)).fetchone()
    return float(row[0]) if row else 0.0


def note_erasing(connection: sqlite3.Connection) -> None:
    """Notes, in the transaction that erases documents, that arrangements may still hold words of theirs.

    The time is after that of every arrangement, also where the clock was put back.
    """
    newest = connection.execute("SELECT coalesce(max(changed), 0.0) FROM arrangement").fetchone()[0]
    when = max(time.time(), erased(connection), newest + 0.001)
    connection.execute("INSERT OR REPLACE INTO meta VALUES(?,?)", (_ERASED, repr(when)))
