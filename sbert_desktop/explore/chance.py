"""How similar the best of so many passages is to a question that has nothing to do with them.

The cosines of a query with the passages of a library do not tell that by themselves: in a library about one subject
every passage is somewhat near to every sensible question. So questions of no concern (see
:mod:`sbert_desktop.explore.strangers`) are asked instead. Their cosines with unrelated passages are
nearly normal, and the largest of ``n`` draws stays below ``middle + spread * z`` with probability ``c``
where ``z = Phi^-1(c ** (1 / n))``. Middle and spread are taken from quantiles, since a library may
well answer some of the questions; of the levels of all questions the third quartile is the line. A model takes
questions and passages in one language that it does not read for similar on account of the language alone: where most of
the questions in such languages lie above the line, those in its own give it. In a small library a subject is a large
share of all: nothing is said of it.
Source: F(x) ** n for the largest of n (Gumbel 1958, "Statistics of Extremes"); the parameters, and what the line is
worth: docs/adr/0014-ranking.md.
"""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from sbert_desktop.domain import Mask, Snapshot, Vectors
from sbert_desktop.explore._scan import dot

FEWEST = 200
"""Passages below which there is no line. Source: docs/adr/0014-ranking.md, "Small libraries, many languages"."""
_FEWEST_STANDING_OUT = 50
"""Passages below which nothing stands out: quantiles of so few mean little."""
SAMPLE = 4_000
"""Rows looked at, drawn with a fixed seed."""
CERTAINTY = 0.99
"""Probability that no unrelated passage reaches the level of one question."""
_UPPER = 0.95
"""The spread is taken from the median up to this quantile: the upper side is the one that counts."""
_SHARE = 0.75
"""Share of the questions whose level the line is not below."""
_DRIFT = 0.05
"""Share of the rows that may come or go before the sample is drawn anew."""


class Chance:
    """Tells the line of one encoder in one library; keeps what it measured while the library hardly changes.

    Safe from any thread.

    Args:
        strangers: Unit vectors of questions of no concern, as queries, float32 [q, dimension].
        readable: Which of them are in a language that the model reads, bool [q]; None: all.
    """

    def __init__(self, strangers: Vectors, readable: Mask | None = None) -> None:
        self._strangers = np.ascontiguousarray(strangers, dtype=np.float32)
        self._readable = np.ones(len(strangers), np.bool_) if readable is None else readable
        self._measured: tuple[int, int, NDArray[np.float64], NDArray[np.float64]] | None = None

    def level(self, snapshot: Snapshot, *, among: int) -> float | None:
        """Gives the cosine that the best of ``among`` unrelated passages reaches.

        Args:
            snapshot: The library; all of it is sampled, whatever the filters are.
            among: How many passages are searched: those that pass the filters.

        Returns:
            A cosine, or None where fewer than 200 passages have a vector, or vectors of another length.
        """
        live = int(np.count_nonzero(snapshot.alive))
        if live < FEWEST or among < 1 or snapshot.vectors.shape[1] != self._strangers.shape[1]:
            return None
        kept = self._measured
        if kept is None or (kept[0] != snapshot.generation and abs(kept[1] - live) > _DRIFT * kept[1]):
            kept = self._measured = (snapshot.generation, live, *self._measure(snapshot))
        levels = kept[2] + kept[3] * _reach(CERTAINTY, among)
        line = np.quantile(levels, _SHARE)
        foreign = levels[~self._readable]
        if len(foreign) and np.median(foreign) > line:
            line = np.quantile(levels[self._readable], _SHARE)
        return min(1.0, float(line))

    def _measure(self, snapshot: Snapshot) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Gives middle and spread of each question's cosines, float64 [q]."""
        rows = _sampled(snapshot)
        cosines = self._strangers @ np.asarray(snapshot.vectors[rows]).T
        middle, upper = np.quantile(cosines.astype(np.float64), (0.5, _UPPER), axis=1)
        return middle, (upper - middle) / NormalDist().inv_cdf(_UPPER)


def standing_out(snapshot: Snapshot, vector: NDArray[np.float32], *, among: int) -> float | None:
    """Gives the cosine from which a passage stands out from what the library holds for a query anyway.

    In a library about one subject this is far above the line of chance. It is the level that
    one of ``among`` passages reaches in half of all libraries of that kind.

    Args:
        snapshot: The library; all of it is sampled.
        vector: The query's unit vector, float32 [dimension].
        among: How many passages the library has.

    Returns:
        A cosine, or None where fewer than 50 passages have a vector.
    """
    rows = _sampled(snapshot)
    if len(rows) < _FEWEST_STANDING_OUT or among < 1 or snapshot.vectors.shape[1] != len(vector):
        return None
    cosines = dot(snapshot.vectors[rows], vector)
    middle, upper = (float(value) for value in np.quantile(cosines, (0.5, _UPPER)))
    spread = (upper - middle) / NormalDist().inv_cdf(_UPPER)
    return min(1.0, middle + spread * _reach(0.5, among))


def _sampled(snapshot: Snapshot) -> NDArray[np.int64]:
    rows = np.flatnonzero(snapshot.alive)
    if len(rows) > SAMPLE:
        rows = np.sort(np.random.default_rng(0).choice(rows, SAMPLE, replace=False))
    return rows


def _reach(certainty: float, among: int) -> float:
    """Gives ``Phi^-1(c ** (1 / n))``; the small rest keeps the digits that a number near 1 loses."""
    return -NormalDist().inv_cdf(-math.expm1(math.log(certainty) / among))
