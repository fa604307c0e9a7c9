"""Measures of the field as pure functions over numpy arrays.

They agree with scipy, scikit-learn, sentence-transformers' evaluators and trec_eval (linear gain)
to the last digits; the tests compare them. Rankings are lists of document ids, best first;
judgements map a document id to its gain (0 or absent: not relevant).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Ranking = Sequence[Hashable]
Judgements = Mapping[Any, float]  # keyed by the ids of the rankings, whatever their type


def spearman(first: ArrayLike, second: ArrayLike) -> float:
    """Gives Spearman's rank correlation in [-1, 1], ties at their mean rank; nan when one side is constant."""
    return pearson(_ranks(np.asarray(first, np.float64)), _ranks(np.asarray(second, np.float64)))


def pearson(first: ArrayLike, second: ArrayLike) -> float:
    """Gives Pearson's correlation in [-1, 1]; nan when one side is constant."""
    a, b = np.asarray(first, np.float64), np.asarray(second, np.float64)
    a, b = a - a.mean(), b - b.mean()
    scale = np.linalg.norm(a) * np.linalg.norm(b)
    return float(a @ b / scale) if scale > 0 else float("nan")


def average_precision(scores: ArrayLike, labels: ArrayLike) -> float:
    """Gives the average precision in [0, 1] of scores against labels (True = same).

    Equal scores are one step, as in scikit-learn. 0.0 when no label is True.
    """
    hits, taken = _steps(scores, labels)
    positives = hits[-1] if len(hits) else 0
    if not positives:
        return 0.0
    gained = np.diff(hits, prepend=0) / positives
    return float(np.sum(gained * hits / taken))


def best_f1(scores: ArrayLike, labels: ArrayLike) -> tuple[float, float]:
    """Gives the best F1 in [0, 1] over all thresholds, and that threshold.

    The threshold lies half-way to the next lower score, so that it also separates new scores.
    """
    values = np.sort(np.asarray(scores, np.float64))[::-1]
    hits, taken = _steps(scores, labels)
    if not len(hits) or not hits[-1]:
        return 0.0, 0.0
    f1 = 2 * hits / (taken + hits[-1])
    best = int(np.argmax(f1))
    last = int(taken[best])  # how many are called the same
    below = values[last] if last < len(values) else values[last - 1]
    middle = (values[last - 1] + below) / 2
    return float(f1[best]), float(middle if middle > below else values[last - 1])


def triplet_accuracy(near: ArrayLike, far: ArrayLike) -> float:
    """Gives the share in [0, 1] of anchors that are nearer to the positive than to the negative."""
    return float(np.mean(np.asarray(near) > np.asarray(far)))


def ndcg(ranked: Sequence[Ranking], judged: Sequence[Judgements], k: int) -> float:
    """Gives the mean nDCG at k with linear gain. Source: trec_eval's ndcg_cut."""

    def one(ranking: Ranking, gains: Judgements) -> float:
        ideal = sorted((gain for gain in gains.values() if gain > 0), reverse=True)[:k]
        found = [max(0.0, gains.get(document, 0)) for document in ranking[:k]]
        best = _discounted(ideal)
        return _discounted(found) / best if best else 0.0

    return _mean(one, ranked, judged)


def mrr(ranked: Sequence[Ranking], judged: Sequence[Judgements], k: int) -> float:
    """Gives the mean reciprocal rank of the first relevant document within k, 0 when none is."""

    def one(ranking: Ranking, gains: Judgements) -> float:
        return next((1 / rank for rank, document in enumerate(ranking[:k], 1) if gains.get(document, 0) > 0), 0.0)

    return _mean(one, ranked, judged)


def recall(ranked: Sequence[Ranking], judged: Sequence[Judgements], k: int) -> float:
    """Gives the mean share of the relevant documents that stand within k."""

    def one(ranking: Ranking, gains: Judgements) -> float:
        relevant = {document for document, gain in gains.items() if gain > 0}
        return len(relevant.intersection(ranking[:k])) / len(relevant) if relevant else 0.0

    return _mean(one, ranked, judged)


def mean_average_precision(ranked: Sequence[Ranking], judged: Sequence[Judgements], k: int) -> float:
    """Gives the mean average precision within k, over all relevant documents. Source: trec_eval's map_cut."""

    def one(ranking: Ranking, gains: Judgements) -> float:
        relevant = sum(1 for gain in gains.values() if gain > 0)
        found, total = 0, 0.0
        for rank, document in enumerate(ranking[:k], 1):
            if gains.get(document, 0) > 0:
                found += 1
                total += found / rank
        return total / relevant if relevant else 0.0

    return _mean(one, ranked, judged)


def _mean(
    measure: Callable[[Ranking, Judgements], float], ranked: Sequence[Ranking], judged: Sequence[Judgements]
) -> float:
    values = [measure(ranking, gains) for ranking, gains in zip(ranked, judged, strict=True)]
    return float(np.mean(values)) if values else 0.0


def _discounted(gains: Sequence[float]) -> float:
    return float(np.sum(np.asarray(gains, np.float64) / np.log2(np.arange(2, len(gains) + 2))))


def _ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Gives ranks from 1, equal values sharing the mean of theirs."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    ranks: NDArray[np.float64] = (last - (counts - 1) / 2)[inverse]
    return ranks


def _steps(scores: ArrayLike, labels: ArrayLike) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Gives, per distinct score from the highest down, how many positives and how many in all."""
    values = np.asarray(scores, np.float64)
    gold = np.asarray(labels).astype(bool)
    order = np.argsort(-values, kind="stable")
    ends = np.flatnonzero(np.diff(values[order], append=-np.inf) != 0)
    if len(values) == 0:
        ends = np.empty(0, np.int64)
    return np.cumsum(gold[order])[ends].astype(np.int64), (ends + 1).astype(np.int64)


def nearest_across(first: NDArray[np.float32], second: NDArray[np.float32]) -> tuple[NDArray[np.int64], ...]:
    """Gives for each row of one side the most similar of the other, and back: two int64 [n]; unit rows."""
    to = np.empty(len(first), np.int64)
    best = np.full(len(second), -np.inf, np.float32)
    back = np.zeros(len(second), np.int64)
    for start in range(0, len(first), 2048):
        cosines = first[start : start + 2048] @ second.T
        to[start : start + 2048] = cosines.argmax(axis=1)
        rows = cosines.argmax(axis=0)
        tops = cosines[rows, np.arange(len(second))]
        better = tops > best
        best[better], back[better] = tops[better], rows[better] + start
    return to, back


def bitext_scores(found: NDArray[np.int64]) -> tuple[float, float]:
    """Gives accuracy and F1 of ``found[i]`` as the translation of row i, which is row i of the other side.

    F1 is that of each row taken as a class of its own, averaged. Source: MTEB's bitext mining (``f1``, weighted).
    """
    right = found == np.arange(len(found))
    taken = np.bincount(found, minlength=len(found))
    return float(right.mean()), float(np.mean(right * 2.0 / (1.0 + taken[: len(found)])))
