"""How well the accelerator finds what is there, and what lies in the vectors file that nothing needs."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from sbert_desktop.domain import NeighbourIndex, Vectors
from sbert_desktop.library import _erasing, _health
from sbert_desktop.library._columns import Change, View
from sbert_desktop.library._records import HealthRecord

SAMPLE = 100  # queries
TOP = 10
ROWS_AT_ONCE = 16_384
DEAD_ALLOWANCE = 128  # dead rows that a search may meet among the best

# A row whose document has no file any more, or whose passage is gone: no search should ever meet one.
_ORPHANS = (
    "SELECT r.space, r.row, p.content FROM row r LEFT JOIN passage p ON p.id=r.passage WHERE p.id IS NULL OR NOT EXISTS"
    " (SELECT 1 FROM file f WHERE f.content=p.content)"
)


def measure(
    connection: sqlite3.Connection,
    view: View,
    index: NeighbourIndex | None,
    queries: Vectors | None,
    step: Callable[[int, int], None] | None,
) -> HealthRecord:
    """Counts rows, and compares the index with exact search over the rows that it covers."""
    if view.space is None:
        return HealthRecord(0, 0, 0, None, 0, 0)
    used = int(connection.execute("SELECT count(*) FROM row WHERE space=?", (view.space.id,)).fetchone()[0])
    orphans = sum(row[0] == view.space.id for row in connection.execute(_ORPHANS))
    live = int(view.alive.sum())
    record = HealthRecord(live, max(0, view.space.rows - used), orphans, None, 0, 0)
    if index is None or not live:
        return record
    asked = _asked(view, index, queries)
    recall = _recall(view, index, asked, step) if len(asked) else None
    return record.with_recall(recall, len(asked), int(view.alive[index.rows :].sum()))


def _asked(view: View, index: NeighbourIndex, queries: Vectors | None) -> Vectors:
    """Gives the queries, filled up with live rows taken with a fixed seed; float32 [n, dimension]."""
    rows = np.flatnonzero(view.alive[: index.rows])
    given = np.zeros((0, view.vectors.shape[1]), np.float32) if queries is None else queries[:SAMPLE]
    wanted = min(SAMPLE - len(given), len(rows))
    chosen = np.sort(np.random.default_rng(10).choice(rows, max(0, wanted), replace=False))
    return np.concatenate([np.asarray(given, np.float32), np.asarray(view.vectors[chosen])])


def _recall(view: View, index: NeighbourIndex, queries: Vectors, step: Callable[[int, int], None] | None) -> float:
    """Gives the share of the exact ten best live rows that the index finds; one as near as the tenth counts."""
    alive = view.alive[: index.rows]
    best: NDArray[np.float32] = np.full((len(queries), TOP), -np.inf, np.float32)
    for at in range(0, index.rows, ROWS_AT_ONCE):
        if step is not None:
            step(at, index.rows)
        end = min(at + ROWS_AT_ONCE, index.rows)
        cosines = queries @ np.asarray(view.vectors[at:end]).T
        cosines[:, ~alive[at:end]] = -np.inf
        both = np.concatenate([best, cosines], axis=1)
        best = -np.partition(-both, TOP - 1, axis=1)[:, :TOP]
    limit = best.min(axis=1, initial=np.inf, where=np.isfinite(best)) - 1e-5
    wanted = np.isfinite(best).sum(axis=1)
    found = 0
    for query, least, most in zip(queries, limit, wanted, strict=True):
        rows, cosines = index.search(query, TOP + DEAD_ALLOWANCE)
        found += min(int(most), int((cosines[alive[rows]][:TOP] >= least).sum()))
    return found / max(1, int(wanted.sum()))


def drop_orphans(connection: sqlite3.Connection) -> int:
    """Takes out rows, passages and texts that no file has any more, inside a transaction; gives how many rows.

    What is left of a document without all of its rows waits for vectors again.
    """
    rows = connection.execute(_ORPHANS).fetchall()
    for space, row, _ in rows:
        connection.execute("DELETE FROM row WHERE space=? AND row=?", (space, row))
        connection.execute("INSERT OR IGNORE INTO dead_row VALUES(?,?)", (space, row))
    contents = [
        row[0]
        for row in connection.execute(
            "SELECT id FROM content WHERE id NOT IN (SELECT content FROM file WHERE content IS NOT NULL)"
        )
    ]
    _erasing.erase_contents(connection, contents)
    spaces = [row[0] for row in connection.execute("SELECT id FROM space")]
    if rows or contents:
        for space in spaces:
            _health.fill_todo(connection, space)
            connection.execute("INSERT INTO change(kind, id) VALUES(?,?)", (int(Change.SPACE), space))
    return len(rows)
