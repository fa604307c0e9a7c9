"""The words of each document in their order, as numbers: what a phrase of common words is looked for in.

One table per segmentation, one row per document, written with its passages and erased with them. A number is 32 bits
of a word's exact form (see :func:`_analysis.units`), so going through all texts of a library is comparing arrays.
0 is no word: it ends the title and the document, and no phrase runs over it.
"""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sbert_desktop.library import _analysis
from sbert_desktop.library._text import Slices

CACHE_WORDS = 50_000
DOCUMENTS_AT_ONCE = 500  # more at once are slower: their arrays outgrow the caches
DENSE = 0.25  # from this share of the ids on, going through all rows is cheaper than looking each one up
_END = bytes(4)
_BODY, _EDGE, _TITLE = range(3)  # kinds of stretches; edges of pages are passages that are not embedded

_Numbers = NDArray[np.uint32]
_Ids = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _Documents:
    """Some documents in a row.

    ``numbers``: uint32 [words]. Of each stretch (a title, a passage), in the order of the text, arrays [stretches]:
    ``ends``: where it ends in them; ``passages``: its passage; ``contents``: its document; ``kinds``.
    """

    numbers: _Numbers
    ends: _Ids
    passages: _Ids
    contents: _Ids
    kinds: _Ids


class _Known(dict[str, bytes]):
    """Numbers of words already seen. Each use is one step of the interpreter, so threads may share it."""

    def __missing__(self, word: str) -> bytes:
        if len(self) >= CACHE_WORDS:
            self.clear()
        made = b"".join(number(unit.text).to_bytes(4, "little") for unit in _analysis.units(word))
        if len(word) <= _analysis.LONGEST:
            self[word] = made
        return made


_known = _Known()


def number(unit: str) -> int:
    """Gives the number of a word's exact form, never 0."""
    return zlib.crc32(unit.encode("utf-8", "surrogatepass")) or 1


def up_to_date(connection: sqlite3.Connection) -> bool:
    """Says whether the tables of words are of this version: not so in an older library that cannot be written."""
    row = connection.execute("SELECT value FROM meta WHERE key='analysis'").fetchone()
    return row is not None and row[0] == str(_analysis.VERSION)


def create(connection: sqlite3.Connection, segmentation: int) -> None:
    """Makes the table of a segmentation."""
    connection.execute(
        f"CREATE TABLE words_in_order_{segmentation}(content INTEGER PRIMARY KEY, first INTEGER NOT NULL,"
        " stretches BLOB NOT NULL, numbers BLOB NOT NULL) STRICT"
    )


def drop(connection: sqlite3.Connection, segmentation: int) -> None:
    """Drops the table of a segmentation."""
    connection.execute(f"DROP TABLE IF EXISTS words_in_order_{segmentation}")


def add(
    connection: sqlite3.Connection,
    segmentation: int,
    content: int,
    title: str,
    passages: Iterable[tuple[int, int, int, bool]],
    words_of: Callable[[int, int], Sequence[str]],
) -> None:
    """Adds a document.

    Args:
        connection: The writer's, in its transaction.
        segmentation: Whose table.
        content: The document.
        title: Its title, read as a text of its own.
        passages: Id, start, end, and whether it is embedded, of each passage; their ids are consecutive.
        words_of: Gives the words of a stretch of its text, as :func:`_analysis.words` does.
    """
    ordered = sorted(passages, key=lambda passage: (passage[1], passage[0]))
    if not ordered:
        return
    first = min(passage[0] for passage in ordered)
    numbers, stretches, covered = [], [], 0
    if title:
        numbers += [*map(_known.__getitem__, _analysis.words(title)), _END]
        stretches += [_TITLE, sum(map(len, numbers)) // 4]
    for id_, start, end, embedded in ordered:
        own: list[bytes] = []
        if end > covered:
            own += map(_known.__getitem__, words_of(max(start, covered), end))
            covered = end
        numbers += own
        stretches += [(id_ - first) * 4 + (_BODY if embedded else _EDGE), sum(map(len, own)) // 4]
    numbers.append(_END)
    stretches[-1] += 1
    connection.execute(
        f"INSERT INTO words_in_order_{segmentation} VALUES(?,?,?,?)",
        (content, first, np.array(stretches, "<i4").tobytes(), b"".join(numbers)),
    )


def fill(connection: sqlite3.Connection, segmentation: int, content: int, title: str, slices: Slices) -> None:
    """Adds a document that the catalog holds."""
    rows = connection.execute(
        "SELECT id, start, end, embedded FROM passage WHERE content=? AND segmentation=?", (content, segmentation)
    ).fetchall()
    add(connection, segmentation, content, title, rows, lambda *span: _analysis.words(slices.get(content, *span)))


def remove(connection: sqlite3.Connection, segmentation: int, content: int) -> None:
    """Removes a document."""
    connection.execute(f"DELETE FROM words_in_order_{segmentation} WHERE content=?", (content,))


def differing(connection: sqlite3.Connection, segmentation: int) -> int:
    """Gives how many documents the table lacks or has too many; slow, for checks."""
    wanted = connection.execute("SELECT content FROM segmented WHERE segmentation=? AND passages>0", (segmentation,))
    held = connection.execute(f"SELECT content FROM words_in_order_{segmentation}")
    return len(set(wanted.fetchall()) ^ set(held.fetchall()))


def find(
    connection: sqlite3.Connection, segmentation: int, contents: _Ids, steps: Sequence[str]
) -> tuple[_Ids, _Ids, _Ids]:
    """Looks for words in a row.

    Two words share a number once in four thousand million: what is found in few documents is worth reading again.

    Args:
        connection: For reading.
        segmentation: Whose table.
        contents: int64, where to look, in rising order.
        steps: The words, as :func:`_analysis.units` gives them.

    Returns:
        The passages in which they begin and their contents, int64 [m]; and the passages in which they begin when the
        edges of pages are left out, of the other contents, int64 [k].
    """
    wanted = np.array([number(step) for step in steps], np.uint32)
    passages, owners, broken = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for documents in _read(connection, segmentation, contents):
        stretch = np.searchsorted(documents.ends, _places(documents.numbers, wanted), side="right")
        stretch = np.unique(stretch)
        passages.append(documents.passages[stretch])
        owners.append(documents.contents[stretch])
        apart = _over_edges(documents, wanted)
        broken.append(documents.passages[apart[~np.isin(documents.contents[apart], owners[-1])]])
    return np.concatenate(passages), np.concatenate(owners), np.concatenate(broken)


def _places(numbers: _Numbers, wanted: _Numbers) -> _Ids:
    """Gives where the wanted numbers begin, in rising order."""
    count = len(numbers) - len(wanted) + 1
    if count <= 0:
        return np.zeros(0, np.int64)
    held = numbers[:count] == wanted[0]
    if len(wanted) > 1:
        held &= numbers[1 : count + 1] == wanted[1]
    places = np.flatnonzero(held)
    for step in range(2, len(wanted)):
        if not len(places):
            break
        places = places[numbers[places + step] == wanted[step]]
    return places


def _over_edges(documents: _Documents, wanted: _Numbers) -> _Ids:
    """Gives the stretches in which the numbers begin without the edges of pages, of documents that have some."""
    edged = np.unique(documents.contents[documents.kinds == _EDGE])
    if not len(edged) or len(wanted) < 2:
        return np.zeros(0, np.int64)
    kept = np.flatnonzero((documents.kinds == _BODY) & np.isin(documents.contents, edged))
    counts = np.diff(documents.ends, prepend=0)
    stretch = np.repeat(np.arange(len(counts)), counts)
    left = np.zeros(len(counts), np.bool_)
    left[kept] = True
    left = left[stretch]
    stretch = stretch[left]
    places = _places(documents.numbers[left], wanted)
    # A document's end may have gone with its last edge: words of two documents are not in a row.
    owners = documents.contents
    same = owners[stretch[places]] == owners[stretch[places + len(wanted) - 1]]
    return np.unique(stretch[places[same]])


def _read(connection: sqlite3.Connection, segmentation: int, contents: _Ids) -> Iterator[_Documents]:
    for at in range(0, len(contents), DOCUMENTS_AT_ONCE):
        some = contents[at : at + DOCUMENTS_AT_ONCE]
        low, high = int(some[0]), int(some[-1])
        select = f"SELECT content, first, stretches, numbers FROM words_in_order_{segmentation} WHERE content"
        if len(some) >= DENSE * (high - low + 1):
            wanted = set(some.tolist())
            rows = connection.execute(f"{select} BETWEEN ? AND ? ORDER BY content", (low, high)).fetchall()
            rows = [row for row in rows if row[0] in wanted]
        else:
            marks = ",".join("?" * len(some))
            rows = connection.execute(f"{select} IN ({marks}) ORDER BY content", some.tolist()).fetchall()
        if rows:
            yield _decoded(rows)


def _decoded(rows: list[tuple[int, int, bytes, bytes]]) -> _Documents:
    stretches = np.frombuffer(b"".join(row[2] for row in rows), "<i4").reshape(-1, 2).astype(np.int64)
    counts = [len(row[2]) // 8 for row in rows]
    return _Documents(
        numbers=np.frombuffer(b"".join(row[3] for row in rows), "<u4"),
        ends=np.cumsum(stretches[:, 1]),
        passages=np.repeat(np.array([row[1] for row in rows], np.int64), counts) + (stretches[:, 0] >> 2),
        contents=np.repeat(np.array([row[0] for row in rows], np.int64), counts),
        kinds=stretches[:, 0] & 3,
    )
