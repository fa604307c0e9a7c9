"""Placing new points on a map that stays put: where most of their neighbours are.

The neighbours of a new point often lie in several places of the map. Their mean is then a spot in the void, so a point
goes to the thickest of these places: it starts at the neighbour that most others stand around, and is drawn to the
middle of what stands near. Old points are only read.
"""

from __future__ import annotations

from typing import cast

import numpy as np

from sbert_desktop.domain import JobContext, Vectors
from sbert_desktop.explore.layout import Floats, Neighbours, Positions

_BLOCK = 16_000_000  # cosines held at once: 64 MB
_REACH = 0.1  # map units within which neighbours count as one place: the least distance of a layout
_TURNS = 15  # the last ones move a point by less than a pixel
_PART = 4096  # new points at once


def place(positions: Positions, neighbours: Neighbours, *, context: JobContext | None = None) -> Positions:
    """Gives a place to each new point.

    Args:
        positions: float32 [old points, 2], from ``layout.lay_out``. Not changed.
        neighbours: The nearest old points of each new one, from the stored graph or :func:`nearest_old`; ``rows``
            count old points, -1 where there are no more. Without any, the place is 0.
        context: Asked per 4,096 points.

    Returns:
        float32 [new points, 2].

    Raises:
        Cancelled: Through ``context``.
    """
    new, count = neighbours.rows.shape
    places = np.zeros((new, 2), np.float32)
    for at in range(0, new if count and len(positions) else 0, _PART):
        if context is not None:
            context.check()
        rows = neighbours.rows[at : at + _PART]
        # The cosine itself, not the layout's steep weight: where they are many says more than where the nearest one is.
        weights = np.where(rows >= 0, np.maximum(neighbours.cosine[at : at + _PART], 1e-3), 0).astype(np.float32)
        known = np.flatnonzero(weights.any(axis=1))
        if len(known):
            spots = positions[np.maximum(rows[known], 0)].astype(np.float32)
            places[at + known] = _thickest(spots, weights[known])
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
        best = np.argpartition(-block, min(count, block.shape[1]) - 1, axis=1)[:, :count]
        rows = np.concatenate([rows, best + at], axis=1)
        cosine = np.concatenate([cosine, np.take_along_axis(block, best, 1)], axis=1)
        order = np.lexsort((rows, -cosine), axis=1)[:, :count]
        rows, cosine = np.take_along_axis(rows, order, 1), np.take_along_axis(cosine, order, 1)
    return Neighbours(rows.astype(np.int32), np.minimum(cosine, np.float32(1)))


def _thickest(spots: Floats, weights: Floats) -> Positions:
    """Gives the mode of each row's weighted spots, float32 [n, k, 2] and [n, k]: mean shift with a Cauchy kernel.

    Source: Y. Cheng, "Mean shift, mode seeking, and clustering", 1995.
    """
    square = np.float32(_REACH * _REACH)
    apart = ((spots[:, :, None] - spots[:, None]) ** 2).sum(axis=3)
    thick = (weights[:, None] / (1 + apart / square)).sum(axis=2)
    thick[weights == 0] = -1
    places = spots[np.arange(len(spots)), thick.argmax(axis=1)]
    for _ in range(_TURNS):
        pull = weights / (1 + ((spots - places[:, None]) ** 2).sum(axis=2) / square)
        places = np.einsum("nk,nkd->nd", pull / pull.sum(axis=1, keepdims=True), spots)
    return cast("Positions", places.astype(np.float32))
