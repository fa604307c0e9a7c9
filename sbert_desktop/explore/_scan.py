"""The ranking by meaning: cosines of one query over one snapshot, by the index or exactly."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sbert_desktop.domain import Mask, Snapshot, Vectors

_GATHER_BELOW = 0.25
"""Below this share of selected rows, gathering them is cheaper than scanning all."""
_INDEX_UP_TO = 5_000
"""Neighbours that the index is asked for at most: beyond, a scan of everything is the faster one."""
_AT_ONCE = 256
"""Rows gathered at a time: few enough to stay in the processor's cache until they are multiplied."""
_BLAS_FROM = 50_000
"""Rows from which a product is worth BLAS: below, waking its threads on a busy machine costs more than the product."""


class Scan:
    """The semantic ranking of one query: scans once, gives as many as are asked for.

    Args:
        snapshot: What is searched.
        mask: Bool [max content id + 1], which contents may be found; None for all.
        vector: The query's unit vector, float32 [dimension].
    """

    def __init__(self, snapshot: Snapshot, mask: Mask | None, vector: NDArray[np.float32]) -> None:
        self._snapshot = snapshot
        self._vector = np.ascontiguousarray(vector, dtype=np.float32)
        self._live = snapshot.alive.copy() if mask is None else snapshot.alive & lookup(mask, snapshot.contents)
        self.count = int(np.count_nonzero(self._live))
        """How many rows may be found."""
        self._cosines: NDArray[np.float32] | None = None
        self._rows = np.zeros(0, np.int64)

    def best(self, limit: int) -> tuple[NDArray[np.int64], bool]:
        """Gives rows int64 [k<=limit] best first, and whether that is all."""
        index = self._snapshot.index
        if (
            self._cosines is None
            and index is not None
            and limit <= _INDEX_UP_TO
            and self.count >= 0.5 * len(self._live)
        ):
            found = self._by_index(limit)
            if found is not None:
                return found
        rows, cosines = self._exact()
        take = min(limit, len(rows))
        if take == 0:
            return np.zeros(0, np.int64), True
        part = np.argpartition(-cosines, take - 1)[:take] if take < len(rows) else np.arange(len(rows))
        part = part[np.lexsort((rows[part], -cosines[part]))]
        return rows[part], take == len(rows)

    def cosines_of(self, passages: NDArray[np.int64]) -> NDArray[np.float64]:
        """Gives the cosines of passages, float64 [m]; NaN where there is no live vector."""
        out = np.full(len(passages), np.nan)
        rows = rows_of(self._snapshot.passage_ids, self._live, passages)
        known = rows >= 0
        if known.any():
            out[known] = dot(self._snapshot.vectors[rows[known]], self._vector)
        return out

    def _exact(self) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        if self._cosines is None:
            vectors = self._snapshot.vectors
            self._rows = np.flatnonzero(self._live)
            if len(self._rows) < _GATHER_BELOW * len(vectors):
                self._cosines = _gathered(vectors, self._rows, self._vector)
            else:
                self._cosines = dot(vectors, self._vector)[self._rows]
        return self._rows, self._cosines

    def _by_index(self, limit: int) -> tuple[NDArray[np.int64], bool] | None:
        index = self._snapshot.index
        assert index is not None
        wanted = min(index.rows, int(limit * 1.2) + 32)
        rows, cosines = index.search(self._vector, wanted)
        keep = self._live[rows]
        rows, cosines = rows[keep], cosines[keep]
        tail = np.flatnonzero(self._live[index.rows :]) + index.rows
        if len(tail):
            tail_cosines = dot(self._snapshot.vectors[tail[0] :], self._vector)
            rows = np.concatenate([rows, tail])
            cosines = np.concatenate([cosines, tail_cosines[tail - tail[0]]])
        if len(rows) < min(limit, self.count):
            return None
        order = np.lexsort((rows, -cosines))[:limit]
        return rows[order], len(order) >= self.count


def dot(vectors: Vectors, vector: NDArray[np.float32]) -> NDArray[np.float32]:
    """Gives the product of each row with a vector, float32 [n].

    Of few rows without BLAS, whose threads wait for each other: 2,000 rows took 0.1 ms so, and 28 ms with two threads
    where other programs kept both cores busy.
    """
    rows = np.asarray(vectors)
    return rows @ vector if len(rows) >= _BLAS_FROM else np.einsum("ij,j->i", rows, vector)


def _gathered(vectors: Vectors, rows: NDArray[np.int64], vector: NDArray[np.float32]) -> NDArray[np.float32]:
    out = np.empty(len(rows), np.float32)
    for at in range(0, len(rows), _AT_ONCE):
        some = slice(at, at + _AT_ONCE)
        out[some] = dot(vectors[rows[some]], vector)
    return out


def rows_of(passage_ids: NDArray[np.int64], live: Mask, wanted: NDArray[np.int64]) -> NDArray[np.int64]:
    """Gives the live row of each wanted passage, int64 [m], -1 where there is none.

    Args:
        passage_ids: int64 [rows], the passage of each row.
        live: Bool [rows].
        wanted: int64 [m], passage ids, each once.
    """
    out = np.full(len(wanted), -1, np.int64)
    if not len(wanted) or not len(passage_ids):
        return out
    place = np.full(int(wanted.max()) + 2, -1, np.int64)  # the last one stays -1, for ids beyond
    place[wanted] = np.arange(len(wanted))
    at = place[np.minimum(passage_ids, len(place) - 1)]
    rows = np.flatnonzero((at >= 0) & live)
    out[at[rows]] = rows
    return out


def lookup(mask: Mask, contents: NDArray[np.int64]) -> Mask:
    """Gives bool [rows]: whether the content of each row passes; contents newer than the mask do not."""
    out = np.zeros(len(contents), dtype=bool)
    known = contents < len(mask)
    out[known] = mask[contents[known]]
    return out
