"""The daily copy of what the person made: one JSON object a line, so that a lost catalog does not take it along."""

from __future__ import annotations

import base64
import datetime
import json
import os
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from sbert_desktop.domain import FolderId
from sbert_desktop.errors import LibraryError
from sbert_desktop.library import _captions, _erasing, _kept, _vectors
from sbert_desktop.library._records import JudgementRecord, KeptPassage, SavedRecord

FOLDER = "kept"
COPIES = 14  # days
_NAMES = "????-??-??.jsonl"
_LONGEST_LINE = 4 * _kept.LARGEST // 3 + 10_000  # characters: the largest arrangement; nothing else is so long

_Line = dict[str, object]


def copies(library: Path) -> list[Path]:
    """Lists the copies, newest first."""
    return sorted((library / FOLDER).glob(_NAMES), reverse=True)


def kept_copies(folder: Path) -> tuple[Path, ...]:
    """Lists the copies of the library in a folder, or those in a folder of copies, newest first."""
    return tuple(copies(folder) or sorted(folder.glob(_NAMES), reverse=True))


def today(library: Path) -> Path:
    """Gives where today's copy belongs."""
    return library / FOLDER / f"{datetime.date.today().isoformat()}.jsonl"


def write(library: Path, connection: sqlite3.Connection) -> Path | None:
    """Writes today's copy, in the place of one made earlier today; None when there is nothing to keep."""
    lines = [json.dumps(line) + "\n" for line in _lines(connection)]
    path = today(library)
    if not lines and not path.exists():
        return None
    path.parent.mkdir(mode=0o700, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".kept-")  # mode 0600
    try:
        with os.fdopen(handle, "w", encoding="ascii") as stream:
            stream.writelines(lines)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    _vectors.sync_folder(path.parent)
    for old in copies(library)[COPIES:]:
        _erasing.discard(old)
    return path


def write_anew(library: Path, connection: sqlite3.Connection) -> None:
    """Takes all copies away, which hold what was removed, and writes today's from what is left."""
    if (library / FOLDER).exists():
        for old in (library / FOLDER).iterdir():
            _erasing.discard(old)
        write(library, connection)


def _lines(connection: sqlite3.Connection) -> Iterator[_Line]:
    for record in _kept.judgements(connection, None, None):
        yield {"keeps": "judgement", **{name: getattr(record, name) for name in record.__slots__}}
    for name, note, made in connection.execute("SELECT name, note, made FROM collection ORDER BY id").fetchall():
        yield {"keeps": "collection", "name": name, "note": note, "made": made}
    for row in connection.execute(
        "SELECT c.name, i.sha256, i.start, i.end, i.text, i.note, i.path, i.member, i.title, i.page, i.added"
        " FROM collection_item i JOIN collection c ON c.id=i.collection ORDER BY i.id"
    ).fetchall():
        names = ("collection", "sha256", "start", "end", "text", "note", "path", "member", "title", "page", "added")
        yield {"keeps": "item", **dict(zip(names, row, strict=True)), "path": os.fsdecode(row[6])}
    for saved in _kept.saved_searches(connection):
        yield {"keeps": "search", "name": saved.name, "query": saved.query, "saved": saved.saved, "seen": saved.seen}
    for sha256, made in connection.execute("SELECT sha256, made FROM caption ORDER BY made").fetchall():
        yield {"keeps": "caption", "sha256": sha256, "text": _captions.kept(connection, sha256), "made": made}
    for name, data, changed in connection.execute("SELECT name, data, changed FROM arrangement ORDER BY name"):
        yield {"keeps": "arrangement", "name": name, "changed": changed, "data": base64.b64encode(data).decode("ascii")}


# ---------------------------------------------------------------- coming back


def read_back(connection: sqlite3.Connection, source: Path) -> dict[str, int]:
    """Adds what a copy holds and the library does not; what is there stays as it is.

    Gives how many of each kind were new, ``later`` (captions, as long as the library has no folder), and ``unread``
    lines.

    Raises:
        LibraryError: ``kept-unreadable``, ``kept-damaged`` (not one line says anything).
    """
    kinds = ("judgements", "collections", "items", "searches", "captions", "arrangements", "later", "unread")
    counts = dict.fromkeys(kinds, 0)
    readers: dict[object, tuple[str, Callable[[sqlite3.Connection, _Line], int]]] = {
        "judgement": ("judgements", _judgement),
        "collection": ("collections", _collection),
        "item": ("items", _item),
        "search": ("searches", _search),
        "caption": ("captions", _caption),
        "arrangement": ("arrangements", _arrangement),
    }
    understood = 0
    try:
        with source.open(encoding="utf-8", errors="replace") as stream:
            while text := stream.readline(_LONGEST_LINE):
                if not text.strip():
                    continue
                try:
                    line = json.loads(text)
                    kind, reader = readers[line["keeps"]]
                    counts[kind] += reader(connection, line)
                    understood += 1
                except _NoFolderError:
                    counts["later"] += 1
                    understood += 1
                except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
                    counts["unread"] += 1
    except OSError as error:
        raise LibraryError(
            "kept-unreadable", f"The copy cannot be read: {error.strerror}.", "Choose another file."
        ) from error
    if counts["unread"] and not understood:
        raise LibraryError(
            "kept-damaged", "This file is no copy of judgements and collections.", "Choose a .jsonl file from “kept”."
        )
    return counts


class _NoFolderError(Exception):
    """There is no folder yet to which a caption could belong."""


def _judgement(connection: sqlite3.Connection, line: _Line) -> int:
    record = JudgementRecord(
        kind=_text(line, "kind"),
        verdict=_text(line, "verdict"),
        query=_text(line, "query"),
        sha256=_text(line, "sha256"),
        start=_whole(line, "start"),
        end=_whole(line, "end"),
        text=_text(line, "text"),
        other_sha256=_text(line, "other_sha256"),
        other_start=_whole(line, "other_start"),
        other_end=_whole(line, "other_end"),
        other_text=_text(line, "other_text"),
        made=_time(line, "made"),
    )
    if not record.verdict or connection.execute(
        "SELECT 1 FROM judgement WHERE kind=? AND query=? AND sha256_a=? AND start_a=? AND end_a=? AND sha256_b=?"
        " AND start_b=? AND end_b=?",
        (record.kind, record.query, record.sha256, record.start, record.end, record.other_sha256, record.other_start,
         record.other_end),
    ).fetchone():  # fmt: skip
        return 0
    _kept.judge(connection, record)
    return 1


def _collection(connection: sqlite3.Connection, line: _Line) -> int:
    values = (_kept.checked_name(_text(line, "name")), _text(line, "note"), _time(line, "made"))
    return connection.execute("INSERT OR IGNORE INTO collection(name, note, made) VALUES(?,?,?)", values).rowcount


def _item(connection: sqlite3.Connection, line: _Line) -> int:
    page = line["page"]
    if page is not None and not isinstance(page, int):
        raise TypeError(page)
    item = KeptPassage(
        sha256=_text(line, "sha256"),
        start=_whole(line, "start"),
        end=_whole(line, "end"),
        text=_text(line, "text"),
        path=Path(os.fsdecode(_raw_path(line))),
        member=_text(line, "member"),
        title=_text(line, "title"),
        page=page,
        note=_text(line, "note"),
        added=_time(line, "added"),
    )
    before = connection.total_changes
    name = _kept.checked_name(_text(line, "collection"))
    fresh = connection.execute("SELECT 1 FROM collection WHERE name=?", (name,)).fetchone() is None
    _kept.collect(connection, name, (item,), None)
    return connection.total_changes - before - fresh


def _search(connection: sqlite3.Connection, line: _Line) -> int:
    record = SavedRecord(_kept.checked_name(_text(line, "name")), _text(line, "query"), _time(line, "saved"), 0)
    if connection.execute("SELECT 1 FROM saved_search WHERE name=?", (record.name,)).fetchone():
        return 0
    # Numbers of contents mean nothing in another library: all that is there counts as seen.
    newest = connection.execute("SELECT coalesce(max(id), 0) FROM content").fetchone()[0]
    waiting = _kept.without_vectors(connection)
    _kept.save_search(connection, SavedRecord(record.name, record.query, record.saved, newest, waiting))
    return 1


def _caption(connection: sqlite3.Connection, line: _Line) -> int:
    sha256, text = _text(line, "sha256"), _text(line, "text")
    if not sha256 or not text or connection.execute("SELECT 1 FROM caption WHERE sha256=?", (sha256,)).fetchone():
        return 0
    row = connection.execute(
        "SELECT coalesce((SELECT folder FROM file WHERE sha256=? LIMIT 1), (SELECT min(id) FROM folder))", (sha256,)
    ).fetchone()
    if row[0] is None:
        raise _NoFolderError  # a caption belongs to one
    _captions.keep(connection, sha256, FolderId(row[0]), text)
    return 1


def _arrangement(connection: sqlite3.Connection, line: _Line) -> int:
    """Keeps an arrangement where there is none of its name.

    One that is there stays, be it older: it may hold what the person did since the copy was made elsewhere, and two
    cannot be put together here. With its own time, so that it is stale where documents were erased after it.
    """
    name, data = _text(line, "name"), base64.b64decode(_text(line, "data"), validate=True)
    if not data or len(data) > _kept.LARGEST or _kept.arrangement(connection, name) is not None:
        return 0
    _kept.arrange(connection, name, data, _time(line, "changed"))
    return 1


def _text(line: _Line, name: str) -> str:
    value = line[name]
    if not isinstance(value, str):
        raise TypeError(name)
    return value.encode("utf-8", "replace").decode("utf-8")


def _raw_path(line: _Line) -> bytes:
    value = line["path"]
    if not isinstance(value, str) or "\0" in value:
        raise TypeError("path")
    return os.fsencode(value)


def _whole(line: _Line, name: str) -> int:
    value = line[name]
    if not isinstance(value, int) or not 0 <= value < 2**53:
        raise ValueError(name)
    return int(value)


def _time(line: _Line, name: str) -> float:
    value = line[name]
    if not isinstance(value, int | float):
        raise TypeError(name)
    return min(max(0.0, float(value)), time.time())
