"""How far a map can be trusted, as figures and in words.

Two questions are asked of a sample of points: are those that stand beside each other on the map alike
(trustworthiness), and are those that are most alike side by side (neighbour overlap)? Two dimensions can not keep all
of it; the words say what a person may read off the map.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sbert_desktop.domain import JobContext, Vectors
from sbert_desktop.explore.layout import Positions

_PLANE = 3  # points that lie in a plane whatever their distances: nothing can go wrong
_BLOCK = 8_000_000  # cosines held at once: 32 MB
_LEVELS = ((0.95, "very good"), (0.88, "good"), (0.78, "fair"), (-np.inf, "poor"))


@dataclass(frozen=True, slots=True)
class MapQuality:
    """What was measured.

    Args:
        trustworthiness: 0 to 1; 1: whatever stands near on the map is near in meaning. About 0.5: by chance.
        overlap: 0 to 1, the share of a point's nearest on the map that are among its nearest in meaning.
        chance: 0 to 1, what ``overlap`` would be if points were strewn.
        neighbours: How many nearest were looked at (k).
        points: Points on the map.
        sampled: Points that were asked.
    """

    trustworthiness: float
    overlap: float
    chance: float
    neighbours: int
    points: int
    sampled: int

    @property
    def level(self) -> str:
        """Gives ``very good``, ``good``, ``fair`` or ``poor``; ``exact`` where there is nothing to go wrong."""
        if not self.neighbours:
            return "exact"
        return next(word for least, word in _LEVELS if self.trustworthiness >= least)

    def sentence(self) -> str:
        """Gives one sentence that a person understands."""
        if not self.neighbours:
            return "So few points cannot lie wrong."
        kept = self.overlap * self.neighbours
        close = f"{kept:.0f}" if kept >= 0.5 else "hardly any"
        words = {
            "very good": "What stands close on this map is alike in meaning.",
            "good": "What stands close on this map is mostly alike in meaning.",
            "fair": "Groups on this map can be trusted, single neighbours less so.",
            "poor": "Read this map with care: much of what stands close is not alike.",
        }[self.level]
        of = self.neighbours
        return f"{words} Of a point's {of} nearest on the map, {close} are among its {of} most similar."


def measure_quality(
    vectors: Vectors,
    positions: Positions,
    *,
    neighbours: int = 15,
    sample: int = 1000,
    seed: int = 0,
    context: JobContext | None = None,
) -> MapQuality:
    """Measures a map on a sample of its points against all others; memory stays below 100 MB.

    Args:
        vectors: float32 [points, dimension], unit rows.
        positions: float32 [points, 2].
        neighbours: k, cut to less than half of the points.
        sample: Points asked; the error of 1000 is about 0.005.
        seed: Of the sample.
        context: Asked per block.

    Raises:
        Cancelled: Through ``context``.

    Source: J. Venna, S. Kaski, "Neighborhood preservation in nonlinear projection methods", 2001 (trustworthiness).
    """
    points = len(vectors)
    count = min(neighbours, (points - 1) // 2)
    if points <= _PLANE:
        return MapQuality(1.0, 1.0, 1.0, 0, points, points)
    asked = np.sort(np.random.default_rng(seed).permutation(points)[:sample])
    across, down = np.ascontiguousarray(positions[:, 0]), np.ascontiguousarray(positions[:, 1])
    step = max(1, _BLOCK // points)
    penalty, kept = 0.0, 0
    for at in range(0, len(asked), step):
        if context is not None:
            context.check()
        part = asked[at : at + step]
        line = np.arange(len(part))
        cosines = np.asarray(vectors[part] @ vectors.T, np.float32)
        cosines[line, part] = -np.inf
        distance = (across[part, None] - across) ** 2
        distance += (down[part, None] - down) ** 2
        distance[line, part] = np.inf
        near = np.argpartition(distance, count - 1, axis=1)[:, :count]
        theirs = np.take_along_axis(cosines, near, 1)
        for row, values in enumerate(theirs):
            ranks = _ranks(cosines[row], values)
            penalty += float(np.maximum(ranks - count, 0).sum())
            kept += int((ranks <= count).sum())
    worst = count * (2 * points - 3 * count - 1) / 2  # of the sum over one point
    return MapQuality(
        trustworthiness=max(0.0, 1 - penalty / (len(asked) * worst)),
        overlap=kept / (len(asked) * count),
        chance=count / (points - 1),
        neighbours=count,
        points=points,
        sampled=len(asked),
    )


def _ranks(cosines: Vectors, values: Vectors) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    """Gives the place of each value among the cosines, 1 for the greatest; equal ones share the better place."""
    above = np.sort(cosines[cosines > values.min()])
    return len(above) - np.searchsorted(above, values, side="right") + 1
