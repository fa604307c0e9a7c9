"""The keyword table: one contentless FTS5 table per segmentation, with the columns exact and stem.

FTS5's own tokenizer only cuts at spaces here; the tokens come from :mod:`._analysis`. Contentless
tables delete by being given the same tokens again (``contentless_delete`` needs SQLite 3.43).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sbert_desktop.library import _analysis
from sbert_desktop.library._text import Slices

EXACT_WEIGHT = 0.3
STEM_WEIGHT = 1.0
PRUNE_SHARE = 0.02  # Source: DESIGN section 10, p95 411 -> 24 ms at 200,000 passages
PRUNE_FROM = 5_000  # passages; below, common words cost nothing
QUERY_WORDS = 64
TITLE_WORDS = True
QUERY_LANGUAGES = 3  # a query is stemmed in so many of the library's languages

_Row = tuple[int, str, str]


def create(connection: sqlite3.Connection, segmentation: int) -> None:
    """Makes the table of a segmentation."""
    connection.execute(
        f"CREATE VIRTUAL TABLE words_{segmentation} USING fts5(exact, stem, content='',"
        f" tokenize=\"ascii tokenchars '{_analysis.TOKEN_CHARS}'\")"
    )
    connection.execute(f"CREATE VIRTUAL TABLE vocabulary_{segmentation} USING fts5vocab(words_{segmentation}, 'col')")


def drop(connection: sqlite3.Connection, segmentation: int) -> None:
    """Drops the table of a segmentation."""
    connection.execute(f"DROP TABLE IF EXISTS vocabulary_{segmentation}")
    connection.execute(f"DROP TABLE IF EXISTS words_{segmentation}")


def title_of(title: str, is_first: bool) -> str:
    """Gives the words of a document's title that its first passage carries, ``""`` for the others."""
    return title if is_first and TITLE_WORDS else ""


def tokens(text: str, language: str, title: str) -> tuple[str, str]:
    """Gives the two token streams of a passage; the same ones every time."""
    return _analysis.analyzer(language).streams(f"{title}\n{text}" if title else text)


def rows_of(
    connection: sqlite3.Connection, slices: Slices, segmentation: int, content: int, language: str, title: str
) -> list[_Row]:
    """Makes the rows of a content's passages again, exactly as they were added."""
    found = connection.execute(
        "SELECT id, start, end FROM passage WHERE content=? AND segmentation=? ORDER BY id", (content, segmentation)
    ).fetchall()
    return [
        (id_, *tokens(slices.get(content, start, end), language, title_of(title, number == 0)))
        for number, (id_, start, end) in enumerate(found)
    ]


def add(connection: sqlite3.Connection, segmentation: int, rows: Sequence[_Row]) -> None:
    """Adds passages."""
    connection.executemany(f"INSERT INTO words_{segmentation}(rowid, exact, stem) VALUES(?,?,?)", rows)


def remove(connection: sqlite3.Connection, segmentation: int, rows: Sequence[_Row]) -> None:
    """Removes passages; the rows must be those that were added."""
    table = f"words_{segmentation}"
    connection.executemany(f"INSERT INTO {table}({table}, rowid, exact, stem) VALUES('delete',?,?,?)", rows)


def compact(connection: sqlite3.Connection, segmentation: int) -> None:
    """Merges the table into one piece, so that no removed word is left in it."""
    table = f"words_{segmentation}"
    connection.execute(f"INSERT INTO {table}({table}) VALUES('optimize')")


def search(
    connection: sqlite3.Connection,
    segmentation: int,
    text: str,
    languages: tuple[str, ...],
    total: int,
    limit: int | None,
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Gives passage ids and BM25 scores, best first; ``limit`` None gives every passage with a word."""
    empty = np.zeros(0, np.int64), np.zeros(0, np.float64)
    expression = match_expression(connection, segmentation, text, languages, total)
    if not expression or limit == 0:
        return empty
    table = f"words_{segmentation}"
    order = "ORDER BY rank LIMIT ?" if limit is not None else ""
    score = f"bm25({table}, {EXACT_WEIGHT}, {STEM_WEIGHT})"
    rows = connection.execute(
        f"SELECT rowid, {score} AS rank FROM {table} WHERE {table} MATCH ? {order}",
        (expression, limit) if limit is not None else (expression,),
    ).fetchall()
    if not rows:
        return empty
    found = np.array(rows, np.float64)
    ids, scores = found[:, 0].astype(np.int64), -found[:, 1]
    ranking = np.lexsort((ids, -scores))
    return ids[ranking], scores[ranking]


def match_expression(
    connection: sqlite3.Connection, segmentation: int, text: str, languages: tuple[str, ...], total: int
) -> str:
    """Gives the FTS5 expression for the words of a query, all of them quoted; ``""`` without words."""
    terms: dict[tuple[str, str], bool] = {}
    for word in _analysis.query_words(text, languages)[:QUERY_WORDS]:
        for token in word.exact:
            terms[("exact", token)] = word.prefix
        for token in word.stems:
            terms[("stem", token)] = word.prefix
    kept = prune(connection, segmentation, terms, total)
    return " OR ".join(f'{column} : "{token}"{" *" if prefix else ""}' for (column, token), prefix in kept.items())


def prune(
    connection: sqlite3.Connection, segmentation: int, terms: dict[tuple[str, str], bool], total: int
) -> dict[tuple[str, str], bool]:
    """Leaves out words that stand in too many passages, unless nothing remains."""
    if total < PRUNE_FROM:
        return terms
    limit = PRUNE_SHARE * total
    kept = {}
    for (column, token), prefix in terms.items():
        found = connection.execute(
            f"SELECT doc FROM vocabulary_{segmentation} WHERE term=? AND col=?", (token, column)
        ).fetchone()
        if prefix or (found is not None and found[0] <= limit):
            kept[(column, token)] = prefix
    return kept or terms


def telling(
    connection: sqlite3.Connection, segmentation: int, words: list[_analysis.QueryWord], total: int
) -> list[_analysis.QueryWord]:
    """Gives the words of a query that are worth marking: those that did not stand everywhere."""
    return words
