"""The keyword table and its BM25: one contentless FTS5 table of tokens per segmentation.

FTS5 keeps the posting lists (with the documents, in their transaction) and nothing else: no
positions, no columns, no sizes. Scores are computed here from whole posting lists as arrays, which
is several times faster than FTS5's own ``bm25()`` and lets a filter apply before the best are
taken. Contentless tables delete by being given the same tokens again (``contentless_delete`` needs
SQLite 3.43).
"""

from __future__ import annotations

import math
import sqlite3
import threading
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sbert_desktop.library import _analysis
from sbert_desktop.library._analysis import QueryToken
from sbert_desktop.library._text import Slices

# Source: measured on Cranfield and XQuAD, docs/adr/0006-library.md.
K1 = 1.5
B = 0.75
MORE = {2: 1.0, 3: 1.3, 5: 3.0}  # what each mark adds to the one time that a token stands for itself
PRUNE_SHARE = 0.02  # Source: DESIGN section 10
PRUNE_FROM = 5_000  # passages; below, common words cost nothing
TELLING_SHARE = 0.15  # words in more of the passages are not marked in a text
TELLING_FROM = 50
QUERY_TOKENS = 128
CACHED_IDS = 4_000_000
KEPT_VERDICTS = 20_000
VERDICT_DRIFT = 1.25  # a word is looked at anew when the library has grown or shrunk so much

_Ids = NDArray[np.int64]


def create(connection: sqlite3.Connection, segmentation: int) -> None:
    """Makes the table of a segmentation."""
    connection.execute(
        f"CREATE VIRTUAL TABLE words_{segmentation} USING fts5(tokens, content='', columnsize=0, detail=none,"
        f" tokenize=\"ascii tokenchars '{_analysis.TOKEN_CHARS}'\")"
    )


def drop(connection: sqlite3.Connection, segmentation: int) -> None:
    """Drops the table of a segmentation."""
    connection.execute(f"DROP TABLE IF EXISTS words_{segmentation}")


def tokens(words: Sequence[str], language: str, title: str, *, first: bool) -> tuple[str, int]:
    """Gives the tokens of a passage and its length in words; the same ones every time.

    The first passage of a document carries the words of its title too: nDCG@10 on Cranfield
    rises from .527 to .536 and on XQuAD from .968 to .972.
    """
    return _analysis.analyzer(language).tokens_of([*_analysis.words(title), *words] if first and title else words)


def tokens_again(
    connection: sqlite3.Connection, slices: Slices, segmentation: int, content: int, language: str, title: str
) -> list[tuple[int, str]]:
    """Makes the tokens of a content's passages again, exactly as they were added."""
    found = connection.execute(
        "SELECT id, start, end FROM passage WHERE content=? AND segmentation=? ORDER BY id", (content, segmentation)
    ).fetchall()
    return [
        (id_, tokens(_analysis.words(slices.get(content, start, end)), language, title, first=number == 0)[0])
        for number, (id_, start, end) in enumerate(found)
    ]


def add(connection: sqlite3.Connection, segmentation: int, rows: Sequence[tuple[int, str]]) -> None:
    """Adds passages: ids with their tokens."""
    connection.executemany(f"INSERT INTO words_{segmentation}(rowid, tokens) VALUES(?,?)", rows)


def remove(connection: sqlite3.Connection, segmentation: int, rows: Sequence[tuple[int, str]]) -> None:
    """Removes passages; the rows must be those that were added."""
    table = f"words_{segmentation}"
    connection.executemany(f"INSERT INTO {table}({table}, rowid, tokens) VALUES('delete',?,?)", rows)


def compact(connection: sqlite3.Connection, segmentation: int) -> None:
    """Merges the table into one piece, so that no removed word is left in it."""
    table = f"words_{segmentation}"
    connection.execute(f"INSERT INTO {table}({table}) VALUES('optimize')")


def indexed(connection: sqlite3.Connection, segmentation: int) -> set[int]:
    """Gives the ids of all passages that the table knows; slow, for checks."""
    connection.execute(
        f"CREATE VIRTUAL TABLE IF NOT EXISTS temp.check_{segmentation}"
        f" USING fts5vocab('main', 'words_{segmentation}', 'instance')"
    )
    return {row[0] for row in connection.execute(f"SELECT DISTINCT doc FROM temp.check_{segmentation}")}


class Postings:
    """Posting lists as they are needed, kept while the library does not change. Safe from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._generation = -1
        self._lists: dict[tuple[int, str], _Ids] = {}
        self._size = 0
        self._common: dict[tuple[int, str, float], tuple[bool, int]] = {}

    def get(self, connection: sqlite3.Connection, segmentation: int, token: QueryToken, generation: int) -> _Ids:
        """Gives the passages with a token, int64, in rising order."""
        key = (segmentation, token.text + ("*" if token.prefix else ""))
        with self._lock:
            if generation == self._generation and key in self._lists:
                return self._lists[key]
        row = connection.execute(
            f"SELECT group_concat(rowid) FROM words_{segmentation} WHERE words_{segmentation} MATCH ?",
            (_quoted(token),),
        ).fetchone()
        # One string is three times faster to fetch and parse than a row for each id.
        ids = np.fromstring(row[0], np.int64, sep=",") if row[0] else np.zeros(0, np.int64)
        with self._lock:
            if generation > self._generation or self._size > CACHED_IDS:
                self._lists.clear()
                self._size = 0
                self._generation = max(generation, self._generation)
            if generation == self._generation:
                self._lists[key] = ids
                self._size += len(ids)
        return ids

    def is_common(
        self, connection: sqlite3.Connection, segmentation: int, token: QueryToken, share: float, total: int
    ) -> bool:
        """Tells whether a token stands in more than a share of the passages; counts no further than that."""
        key = (segmentation, token.text, share)
        with self._lock:
            then = self._common.get(key)
        if then is not None and then[1] / VERDICT_DRIFT < total < then[1] * VERDICT_DRIFT:
            return then[0]
        limit = int(share * total)
        table = f"words_{segmentation}"
        found = connection.execute(
            f"SELECT count(*) FROM (SELECT 1 FROM {table} WHERE {table} MATCH ? LIMIT ?)", (_quoted(token), limit + 1)
        ).fetchone()[0]
        common = int(found) > limit
        with self._lock:
            if len(self._common) > KEPT_VERDICTS:
                self._common.clear()
            self._common[key] = (common, total)
        return common

    def telling(
        self, connection: sqlite3.Connection, segmentation: int, wanted: Sequence[QueryToken], total: int, share: float
    ) -> list[QueryToken]:
        """Leaves out tokens that stand in too many passages, unless nothing remains: then in still more."""
        while share < 1:
            kept = [t for t in wanted if t.prefix or not self.is_common(connection, segmentation, t, share, total)]
            if kept and any(self._stands(connection, segmentation, token) for token in kept):
                return kept
            share *= 4
        return list(wanted)

    def _stands(self, connection: sqlite3.Connection, segmentation: int, token: QueryToken) -> bool:
        table = f"words_{segmentation}"
        return (
            connection.execute(f"SELECT 1 FROM {table} WHERE {table} MATCH ? LIMIT 1", (_quoted(token),)).fetchone()
            is not None
        )


def search(
    connection: sqlite3.Connection,
    postings: Postings,
    segmentation: int,
    text: str,
    languages: tuple[str, ...],
    lengths: NDArray[np.float32],
    total: int,
    mean_length: float,
    generation: int,
) -> tuple[_Ids, NDArray[np.float64]]:
    """Gives passage ids with a word of the query and their BM25 scores, in rising order of ids.

    Args:
        connection: For reading.
        postings: The lists already read.
        segmentation: Whose table.
        text: The query as typed.
        languages: To stem it in.
        lengths: float32 [max passage id + 1], words of each passage, 0 where there is none.
        total: Passages in the table.
        mean_length: Their mean number of words.
        generation: Of the snapshot that asks.
    """
    wanted = _analysis.query_tokens(text, languages)[:QUERY_TOKENS]
    if total >= PRUNE_FROM:
        wanted = postings.telling(connection, segmentation, wanted, total, PRUNE_SHARE)
    scores = np.zeros(len(lengths))
    mean = mean_length or 1.0
    for token in wanted:
        ids = postings.get(connection, segmentation, token, generation)
        found = len(ids)
        ids = ids[ids < len(lengths)]
        if not len(ids):
            continue
        times = np.ones(len(ids))
        for mark, more in MORE.items():
            again = QueryToken(_analysis.marked(token.text, mark), token.weight)
            often = postings.get(connection, segmentation, again, generation) if not token.prefix else ids[:0]
            if not len(often):
                break
            _add_at(times, ids, often, more)
        rarity = math.log(1 + (max(total, found) - found + 0.5) / (found + 0.5))
        times *= token.weight
        scores[ids] += rarity * times * (K1 + 1) / (times + K1 * (1 - B + B * lengths[ids] / mean))
    ids = np.flatnonzero(scores)
    return ids, scores[ids]


def _add_at(times: NDArray[np.float64], ids: _Ids, often: _Ids, more: float) -> None:
    # Both lists are sorted, but may have been read on two sides of a commit.
    places = np.searchsorted(ids, often)
    inside = places < len(ids)
    places = places[inside]
    times[places[ids[places] == often[inside]]] += more


def _quoted(token: QueryToken) -> str:
    return f'"{token.text}"' + (" *" if token.prefix else "")
