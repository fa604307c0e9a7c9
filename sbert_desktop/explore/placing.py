"""Placing new points on a map that stays put: where their neighbours are.

A new point goes to the middle of its nearest old points, weighed as the layout weighs them; the middle that least
distance decides, not the mean, so that a point between two themes joins the stronger one instead of lying in the void
between them. Old points are only read.
"""

from __future__ import annotations

from typing import cast

import numpy as np

from sbert_desktop.domain import JobContext, Vectors
from sbert_desktop.explore.layout import Floats, Neighbours, Positions, one_sided

_BLOCK = 16_000_000  # cosines held at once: 64 MB
_TURNS = 12  # of Weiszfeld's iteration; the last ones move a point by less than a pixel


def place(positions: Positions, neighbours: Neighbours) -> Positions:
    """Gives a place to each new point.

    Args:
        positions: float32 [old points, 2]. Not changed.
        neighbours: The nearest old points of each new one, from the stored graph or :func:`nearest_old`; ``rows``
            count old points, -1 where there are no more. Without any, the place is 0.

    Returns:
        float32 [new points, 2].
    """
    new, count = neighbours.rows.shape
    if not new or not count or not len(positions):
        return np.zeros((new, 2), np.float32)
    weights = one_sided(neighbours)
    weights *= np.maximum(neighbours.cosine, 1e-3)  # where none stands out, the nearer one still says more
    weights[neighbours.rows < 0] = 0
    total = weights.sum(axis=1, keepdims=True)
    known = total[:, 0] > 0
    places = np.zeros((new, 2), np.float32)
    spots = positions[np.maximum(neighbours.rows[known], 0)].astype(np.float32)
    places[known] = _middle(spots, weights[known] / total[known])
    return places


def nearest_old(
    new_vectors: Vectors, vectors: Vectors, count: int = 15, *, context: JobContext | None = None
) -> Neighbours:
    """Finds the ``count`` nearest old points of each new one exactly, in blocks of 64 MB.

    Float32 [new points, dimension] and [old points, dimension], unit rows; ``vectors`` may be mapped from a file.

    Raises:
        Cancelled: Through ``context``.
    """
    new, old = len(new_vectors), len(vectors)
    count = min(count, old)
    rows, cosine = np.empty((new, 0), np.int64), np.empty((new, 0), np.float32)
    step = max(1024, _BLOCK // max(1, new))
    for at in range(0, old if new and count else 0, step):
        if context is not None:
            context.check()
        block = new_vectors @ vectors[at : at + step].T
        rows = np.concatenate([rows, np.broadcast_to(np.arange(at, at + block.shape[1]), block.shape)], axis=1)
        cosine = np.concatenate([cosine, block], axis=1)
        if cosine.shape[1] > count:
            best = np.argpartition(-cosine, count - 1, axis=1)[:, :count]
            rows, cosine = np.take_along_axis(rows, best, 1), np.take_along_axis(cosine, best, 1)
    order = np.lexsort((rows, -cosine), axis=1)
    return Neighbours(
        np.take_along_axis(rows, order, 1).astype(np.int32),
        np.minimum(np.take_along_axis(cosine, order, 1), np.float32(1)).astype(np.float32),
    )


def _middle(spots: Floats, weights: Floats) -> Positions:
    """Gives the weighted geometric median of each row's spots, float32 [n, k, 2] and [n, k] that sum to 1.

    Source: E. Weiszfeld, "Sur le point pour lequel la somme des distances de n points donnés est minimum", 1937.
    """
    place = np.einsum("nk,nkd->nd", weights, spots)
    # Below a thousandth of the neighbourhood's width a spot counts as reached, else it would weigh without bound.
    width = np.sqrt((spots - place[:, None]) ** 2 @ np.ones(2, np.float32)).max(axis=1, keepdims=True)
    for _ in range(_TURNS):
        away = np.sqrt(((spots - place[:, None]) ** 2).sum(axis=2))
        pull = weights / np.maximum(away, 1e-3 * width + np.float32(1e-9))
        place = np.einsum("nk,nkd->nd", pull / pull.sum(axis=1, keepdims=True), spots)
    return cast("Positions", place.astype(np.float32))
