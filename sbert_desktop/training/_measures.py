"""Measures over many weightings of the same labels at once: what a bootstrap needs.

A resample is a row of weights: how often each label was drawn. All measures take weights float64 [b, n] and give
float64 [b]; where a row allows none (no positive was drawn, all drawn values are equal) it is nan, for the caller to
leave out. With all weights 1 they are those of scikit-learn and scipy. numpy only.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


def average_precision(scores: ArrayLike, positive: ArrayLike, weights: Floats) -> Floats:
    """Gives the average precision of scores against labels; equal scores are one step, as in scikit-learn."""
    values = np.asarray(scores, np.float64)
    order = np.argsort(-values, kind="stable")
    gold = np.asarray(positive).astype(bool)[order]
    ends = np.flatnonzero(np.diff(values[order], append=-np.inf) != 0)
    drawn = weights[:, order]
    taken = np.cumsum(drawn, axis=1)[:, ends]
    hits = np.cumsum(drawn * gold, axis=1)[:, ends]
    with np.errstate(invalid="ignore", divide="ignore"):
        gained = np.diff(hits, axis=1, prepend=0.0)
        precision = np.where(taken > 0, hits / np.maximum(taken, 1e-12), 0.0)
        found = (gained * precision).sum(axis=1) / hits[:, -1]
    usable = (hits[:, -1] > 0) & (taken[:, -1] > hits[:, -1])
    return np.where(usable, found, np.nan)


def spearman(first: ArrayLike, second: ArrayLike, weights: Floats) -> Floats:
    """Gives Spearman's rank correlation, ties at their mean rank."""
    a, b = ranks(np.asarray(first, np.float64), weights), ranks(np.asarray(second, np.float64), weights)
    total = weights.sum(axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        a = a - (weights * a).sum(axis=1, keepdims=True) / total
        b = b - (weights * b).sum(axis=1, keepdims=True) / total
        spread = (weights * a * a).sum(axis=1) * (weights * b * b).sum(axis=1)
        found = (weights * a * b).sum(axis=1) / np.sqrt(spread)
    return np.where(spread > 1e-9, found, np.nan)


def ranks(values: Floats, weights: Floats) -> Floats:
    """Gives the rank of each value in its resample, [b, n]; what was drawn twice is there twice."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    order = np.argsort(inverse, kind="stable")
    starts = np.cumsum(counts) - counts
    tied = np.add.reduceat(weights[:, order], starts, axis=1)
    middles = np.cumsum(tied, axis=1) - (tied - 1) / 2
    found: Floats = middles[:, inverse]
    return found


def mean(values: ArrayLike, weights: Floats) -> Floats:
    """Gives the mean of values that each label has by itself."""
    total = weights.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(total > 0, weights @ np.asarray(values, np.float64) / total, np.nan)


def best_threshold(scores: ArrayLike, positive: ArrayLike, fairly: Floats | None = None) -> float:
    """Gives the score from which labels are called the same so that F1 is best; with ``fairly`` the share right.

    Args:
        scores: [n].
        positive: Bool [n].
        fairly: float64 [n], how much each label counts in the share that is right.

    It lies half-way to the next lower score, so that it also parts new scores.
    """
    values = np.asarray(scores, np.float64)
    order = np.argsort(-values, kind="stable")
    ranked, gold = values[order], np.asarray(positive).astype(bool)[order]
    ends = np.flatnonzero(np.diff(ranked, append=-np.inf) != 0)
    if fairly is None:
        hits = np.cumsum(gold)[ends]
        gain = 2 * hits / (ends + 1 + gold.sum())
    else:
        drawn = fairly[order]
        gain = np.cumsum(np.where(gold, drawn, -drawn))[ends]
    last = int(ends[int(np.argmax(gain))])
    below = ranked[last + 1] if last + 1 < len(ranked) else ranked[last] - 1e-6
    return float((ranked[last] + below) / 2)


def f1(said: NDArray[np.bool_], positive: NDArray[np.bool_], weights: Floats) -> Floats:
    """Gives F1 of what was called the same."""
    right = weights @ (said & positive)
    both = weights @ said.astype(np.float64) + weights @ positive.astype(np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(weights @ positive.astype(np.float64) > 0, 2 * right / np.maximum(both, 1e-12), np.nan)


def ranking(scores: Floats, relevant: NDArray[np.bool_]) -> tuple[float, float, float]:
    """Gives nDCG@10, the reciprocal rank within 10, and the average precision of one question.

    What has the same score shares its places: the order in which passages came cannot help. At least one is relevant.
    """
    order = np.argsort(-scores, kind="stable")
    _, inverse, counts = np.unique(-scores, return_inverse=True, return_counts=True)
    share = np.bincount(inverse, weights=relevant) / counts
    gains = share[inverse[order]]  # the chance that a relevant one stands there
    discount = 1 / np.log2(np.arange(2, len(gains) + 2))
    ideal = discount[: min(10, int(relevant.sum()))].sum()
    ndcg = float((gains[:10] * discount[:10]).sum() / ideal)
    missed = np.concatenate([[1.0], np.cumprod(1 - gains)])
    reciprocal = float((missed[:-1] * gains / np.arange(1, len(gains) + 1))[:10].sum())
    found = np.cumsum(gains)
    average = float((gains * found / np.arange(1, len(gains) + 1)).sum() / relevant.sum())
    return ndcg, reciprocal, average
