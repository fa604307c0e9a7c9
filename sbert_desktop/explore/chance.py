"""How similar the best of so many unrelated passages would be to a query, by chance alone.

The cosines of one query with passages that have nothing to do with it are nearly normal; where
their middle lies differs from query to query (short and vague ones are nearer to everything) and from library to
library. Middle and spread come from a fixed sample of the library, robustly, since some of it does
answer the query. The largest of ``n`` draws stays below ``middle + spread * z`` with probability ``q`` where
``z = Phi^-1(q ** (1 / n))``. Source: the distribution of a maximum, F(x) ** n (Gumbel 1958, "Statistics of Extremes");
middle and spread by quantiles; q, the quantiles and what they are worth: docs/adr/0013-ranking.md.
"""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from sbert_desktop.domain import Snapshot

FEWEST = 50
"""Passages below which nothing is said: the quantiles of so few mean little."""
SAMPLE = 4_000
"""Rows looked at; the same ones as long as the library does not change."""
CERTAINTY = 0.5
"""Probability that no unrelated passage reaches the line."""
_UPPER = 0.84
"""The spread is measured from the median up to this quantile: the upper side is the one that counts."""


def chance_level(snapshot: Snapshot, vector: NDArray[np.float32], *, among: int) -> float | None:
    """Gives the cosine that the best of ``among`` unrelated passages reaches for a query.

    Args:
        snapshot: The library; all of it is sampled, whatever the filters are.
        vector: The query's unit vector, float32 [dimension].
        among: How many passages are searched: those that pass the filters.

    Returns:
        A cosine, or None where fewer than 50 passages have a vector.
    """
    rows = np.flatnonzero(snapshot.alive)
    if len(rows) < FEWEST or among < 1:
        return None
    if len(rows) > SAMPLE:
        rows = np.sort(np.random.default_rng(0).choice(rows, SAMPLE, replace=False))
    return level_of(np.asarray(snapshot.vectors[rows]) @ vector, among=among)


def level_of(cosines: NDArray[np.float32], *, among: int, certainty: float = CERTAINTY) -> float:
    """Gives the line for the cosines of a sample, float32 [m]; at most 1."""
    middle, upper = (float(value) for value in np.quantile(cosines, (0.5, _UPPER)))
    spread = (upper - middle) / NormalDist().inv_cdf(_UPPER)
    # q ** (1 / n) loses its digits near 1: ask for the small rest instead.
    rest = -math.expm1(math.log(certainty) / max(1, among))
    return min(1.0, middle - spread * NormalDist().inv_cdf(rest))
