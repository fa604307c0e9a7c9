"""The nearest neighbours of each vector: exactly up to some thousands, beyond that among those of the nearest regions.

Any thread, but meant for a child: products use all threads of the process's BLAS. numpy only.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sbert_desktop.domain import JobContext, Vectors
from sbert_desktop.explore.document_vectors import add_rows

EXACT = 20_000
"""Rows up to which all are compared with all."""
_BLOCK = 512
"""Rows compared with others at a time: 40 MB at ``EXACT``."""
_REGIONS = 32
"""Nearest regions whose rows are looked at. Measured: docs/adr/0018."""
_ROUNDS = 4


@dataclass(frozen=True, slots=True)
class NeighbourGraph:
    """The k nearest other rows of each row, nearest first, equal ones by their place.

    Attributes:
        neighbours: int32 [n, k]; -1 where there is none.
        cosines: float32 [n, k]; -1 where there is none.
    """

    neighbours: NDArray[np.int32]
    cosines: NDArray[np.float32]

    @property
    def k(self) -> int:
        """Neighbours of each."""
        return int(self.neighbours.shape[1])

    def __len__(self) -> int:
        return len(self.neighbours)

    def nearest(self, k: int) -> NeighbourGraph:
        """Gives the graph with fewer neighbours."""
        return NeighbourGraph(self.neighbours[:, :k], self.cosines[:, :k])


def neighbour_graph(
    vectors: Vectors, k: int, *, exact: int = EXACT, seed: int = 0, context: JobContext | None = None
) -> NeighbourGraph:
    """Finds the nearest neighbours.

    Args:
        vectors: float32 [n, dimension], unit rows.
        k: How many; at most n - 1 are given.
        exact: Rows up to which all are compared with all.
        seed: Of the regions beyond that.
        context: Asked per block; hears the progress in rows.

    Raises:
        Cancelled: Through ``context``.
    """
    count = len(vectors)
    k = max(0, min(k, count - 1))
    graph = NeighbourGraph(np.full((count, k), -1, np.int32), np.full((count, k), -1, np.float32))
    if not k:
        return graph
    if count <= exact:
        everything = np.arange(count, dtype=np.int32)
        for at in range(0, count, _BLOCK):
            _fill(graph, vectors, everything[at : at + _BLOCK], everything)
            _tell(context, min(at + _BLOCK, count), count)
        return graph
    lists, near = _regions(vectors, seed)
    done = 0
    for region, rows in enumerate(lists):
        others = np.sort(np.concatenate([lists[other] for other in near[region]]))
        for at in range(0, len(rows), _BLOCK):
            _fill(graph, vectors, rows[at : at + _BLOCK], others)
        done += len(rows)
        _tell(context, done, count)
    return graph


def _fill(graph: NeighbourGraph, vectors: Vectors, rows: NDArray[np.int32], others: NDArray[np.int32]) -> None:
    """Writes the nearest of ``others`` (rising; the rows among them) for some rows."""
    cosines = vectors[rows] @ vectors[others].T
    cosines[np.arange(len(rows)), np.searchsorted(others, rows)] = -2
    k = min(graph.k, len(others) - 1)
    if k <= 0:
        return
    best = np.argpartition(-cosines, k - 1, axis=1)[:, :k]
    values = np.take_along_axis(cosines, best, axis=1)
    order = np.lexsort((best, -values), axis=1)
    graph.neighbours[rows, :k] = others[np.take_along_axis(best, order, axis=1)]
    graph.cosines[rows, :k] = np.minimum(np.take_along_axis(values, order, axis=1), 1)


def _regions(vectors: Vectors, seed: int) -> tuple[list[NDArray[np.int32]], NDArray[np.int64]]:
    """Parts the rows by their nearest of about sqrt(n) means; gives their rows, and which regions are near which."""
    count = int(np.sqrt(len(vectors)))
    rng = np.random.default_rng(seed)
    sample = vectors[np.sort(rng.choice(len(vectors), min(len(vectors), 32 * count), replace=False))]
    means = sample[np.sort(rng.choice(len(sample), count, replace=False))].copy()
    for _ in range(_ROUNDS):
        nearest = _nearest(sample, means)
        sums = np.zeros(means.shape)
        add_rows(sums, nearest, sample)
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        means = np.where(lengths > 0, sums / np.maximum(lengths, 1e-12), means).astype(np.float32)
    nearest = _nearest(vectors, means)
    lists = [np.flatnonzero(nearest == region).astype(np.int32) for region in range(count)]
    near = np.argsort(-(means @ means.T), axis=1, kind="stable")
    near = np.stack([np.r_[own, row[row != own][: _REGIONS - 1]] for own, row in enumerate(near)])
    return lists, near


def _nearest(vectors: Vectors, means: Vectors) -> NDArray[np.int64]:
    parts = [(vectors[at : at + 8192] @ means.T).argmax(axis=1) for at in range(0, len(vectors), 8192)]
    return np.concatenate(parts)


def _tell(context: JobContext | None, done: int, total: int) -> None:
    if context is not None:
        context.check()
        context.progress("comparing", done, total)
