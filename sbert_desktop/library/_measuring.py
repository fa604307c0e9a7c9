"""How well the accelerator finds what is there, and what lies in the vectors file that nothing needs."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sbert_desktop.domain import NeighbourIndex, Vectors
from sbert_desktop.library import _erasing, _health, _hnsw
from sbert_desktop.library._changes import Change
from sbert_desktop.library._records import HealthRecord, IndexRecord, SpaceRow
from sbert_desktop.library._view import View

SAMPLE = 100  # queries
TOP = 10
ROWS_AT_ONCE = 16_384
UNIT = 0.02  # by which the length of a unit vector may differ from 1
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
    *,
    index_from: int,
    folder: Path,
) -> HealthRecord:
    """Counts rows, and compares the index with exact search over the rows that it covers.

    ``folder``: where the files of the space lie; ``index_from``: live rows from which there should be an index.
    """
    if view.space is None:
        return HealthRecord(0, 0, 0, None, 0, 0)
    used = int(connection.execute("SELECT count(*) FROM row WHERE space=?", (view.space.id,)).fetchone()[0])
    orphans = sum(row[0] == view.space.id for row in connection.execute(_ORPHANS))
    live = int(view.alive.sum())
    record = HealthRecord(
        live,
        max(0, view.space.rows - used),
        orphans,
        None,
        0,
        0,
        lost=_count(connection, "SELECT count(*) FROM row WHERE space=? AND row>=?", view.space.id, len(view.vectors)),
        bad=len(bad_rows(view.vectors, np.flatnonzero(view.alive))),
        no_index=_lacks_index(connection, view.space.id, folder, live >= index_from),
    )
    if index is None or not live:
        return record
    asked = _asked(view, index, queries)
    recall = _recall(view, index, asked, step) if len(asked) else None
    return record.with_recall(recall, len(asked), int(view.alive[index.rows :].sum()))


def _count(connection: sqlite3.Connection, sql: str, *values: object) -> int:
    return int(connection.execute(sql, values).fetchone()[0])


def _lacks_index(connection: sqlite3.Connection, space: int, folder: Path, wanted: bool) -> bool:
    """Tells whether the index is not what the catalog says, or whether there is none though there should be."""
    row = connection.execute(
        "SELECT file, rows, count, dimension, sha256, bytes FROM index_state WHERE space=?", (space,)
    ).fetchone()
    if row is not None:
        return not _hnsw.verify(folder / row[0], IndexRecord(*row))
    return wanted and not _count(connection, "SELECT count(*) FROM todo WHERE space=?", space)


def bad_rows(vectors: Vectors, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Gives those of the rows that hold no unit vector: a disk that forgot a page, a flipped exponent.

    Rows of zeros pass: a text without a single token has no direction.
    """
    bad: list[NDArray[np.int64]] = [np.zeros(0, np.int64)]
    for at in range(0, len(rows), ROWS_AT_ONCE):
        some = rows[at : at + ROWS_AT_ONCE]
        with np.errstate(all="ignore"):
            block = np.asarray(vectors[some], np.float64)
            norms = np.sqrt(np.einsum("ij,ij->i", block, block))
            wrong = ~np.isfinite(norms) | ((norms > 0) & (np.abs(norms - 1.0) > UNIT))
        bad.append(some[wrong])
    return np.concatenate(bad)


def drop_bad_rows(connection: sqlite3.Connection, space: SpaceRow, vectors: Vectors) -> int:
    """Takes out the documents with rows that hold no unit vector, inside a transaction; gives how many rows.

    They wait for vectors again.
    """
    rows = np.array([row[0] for row in connection.execute("SELECT row FROM row WHERE space=?", (space.id,))], np.int64)
    bad = bad_rows(vectors, rows)
    for row in bad.tolist():
        found = connection.execute(
            "SELECT p.content FROM row r JOIN passage p ON p.id=r.passage WHERE r.space=? AND r.row=?", (space.id, row)
        ).fetchone()
        if found is None:
            continue  # went with another row of its document
        whole = connection.execute(
            "SELECT r.row FROM passage p JOIN row r ON r.passage=p.id AND r.space=? WHERE p.content=?",
            (space.id, found[0]),
        ).fetchall()
        connection.executemany("DELETE FROM row WHERE space=? AND row=?", [(space.id, own) for (own,) in whole])
        connection.executemany("INSERT OR IGNORE INTO dead_row VALUES(?,?)", [(space.id, own) for (own,) in whole])
    if len(bad):
        _health.fill_todo(connection, space.id)
        connection.execute("INSERT INTO change(kind, id) VALUES(?,?)", (int(Change.SPACE), space.id))
    return len(bad)


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
