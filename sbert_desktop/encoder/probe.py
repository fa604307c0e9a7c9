"""A linear probe: how well a plain classifier on top of vectors tells labels apart. numpy only, any thread.

The classifier is multinomial logistic regression with an intercept and an L2 penalty on the weights: the loss of
scikit-learn's ``LogisticRegression`` at its default C of 1, whose minimum is one point, so that any solver that gets
there gives the same answers. Sampling follows MTEB's classification tasks: a few texts of each label are learned from,
all others of the test part are asked, and that is repeated with other texts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sbert_desktop.domain import Vectors

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

SAMPLES, EXPERIMENTS, ITERATIONS, SEED = 8, 10, 100, 42
"""Texts of each label that are learned from, repetitions, steps of the solver, and the seed. Source: the defaults of
MTEB's AbsTaskClassification and of its logistic regression."""
TEST_SHARE = 0.5
"""Share of each label's texts that is asked where there is no test file."""
_GRADIENT = 1e-5  # of the mean loss; scikit-learn stops at 1e-4
_MEMORY = 10  # steps that the solver remembers


@dataclass(frozen=True, slots=True)
class Probe:
    """A fitted classifier: ``weights`` float64 [labels, dimension], ``intercepts`` float64 [labels]."""

    weights: Floats
    intercepts: Floats

    def predict(self, vectors: Vectors) -> Integers:
        """Gives the number of the likeliest label of each row, int64 [n]."""
        found: Integers = np.argmax(vectors @ self.weights.T + self.intercepts, axis=1).astype(np.int64)
        return found


def fit_probe(
    vectors: Vectors, labels: Integers, count: int, *, strength: float = 1.0, iterations: int = ITERATIONS,
    check: Callable[[], None] = lambda: None,
) -> Probe:  # fmt: skip
    """Fits logistic regression by L-BFGS.

    Args:
        vectors: float32 [n, dimension].
        labels: int64 [n], from 0 to ``count - 1``, at least two different ones.
        count: How many labels there are.
        strength: C, the inverse of the penalty.
        iterations: Most steps.
        check: Called in each step; what it raises ends the fitting.
    """
    rows = vectors.astype(np.float64)
    n, dimension = rows.shape
    truth = np.zeros((n, count))
    truth[np.arange(n), labels] = 1.0
    # With two labels scikit-learn fits one row of weights; in two opposite rows of half the size it weighs half.
    penalty = (2.0 if count == 2 else 1.0) / (strength * n)

    def loss(flat: Floats) -> tuple[float, Floats]:
        table = flat.reshape(count, dimension + 1)
        weights = table[:, :dimension]
        scores = rows @ weights.T + table[:, dimension]
        scores -= scores.max(axis=1, keepdims=True)
        sums = np.log(np.exp(scores).sum(axis=1, keepdims=True))
        value = float((sums[:, 0] - (scores * truth).sum(axis=1)).mean() + 0.5 * penalty * (weights * weights).sum())
        off = (np.exp(scores - sums) - truth) / n
        slope = np.concatenate([off.T @ rows + penalty * weights, off.sum(axis=0)[:, None]], axis=1)
        return value, slope.ravel()

    found = _minimum(loss, np.zeros(count * (dimension + 1)), iterations, check).reshape(count, dimension + 1)
    return Probe(found[:, :dimension], found[:, dimension])


def _minimum(
    loss: Callable[[Floats], tuple[float, Floats]], place: Floats, iterations: int, check: Callable[[], None]
) -> Floats:
    """Goes down to the minimum of a convex function. Source: Nocedal and Wright, Numerical Optimization, 7.4, 7.5."""
    value, slope = loss(place)
    steps: list[tuple[Floats, Floats, float]] = []
    for _ in range(iterations):
        check()
        if np.abs(slope).max() < _GRADIENT:
            break
        direction = -_curved(slope, steps)
        down = float(direction @ slope)
        length = 1.0 if steps else min(1.0, 1.0 / float(np.abs(slope).sum()))
        while True:
            there = place + length * direction
            new_value, new_slope = loss(there)
            if new_value <= value + 1e-4 * length * down or length < 1e-12:
                break
            length /= 2
        moved, turned = there - place, new_slope - slope
        curve = float(moved @ turned)
        if curve > 1e-14:
            steps = [*steps[-_MEMORY + 1 :], (moved, turned, 1.0 / curve)]
        if new_value >= value:
            break
        place, value, slope = there, new_value, new_slope
    return place


def _curved(slope: Floats, steps: list[tuple[Floats, Floats, float]]) -> Floats:
    """Gives the slope times the approximate inverse of the second derivative."""
    found = slope.copy()
    shares = []
    for moved, turned, scale in reversed(steps):
        share = scale * float(moved @ found)
        shares.append(share)
        found -= share * turned
    if steps:
        moved, turned, scale = steps[-1]
        found *= 1.0 / (scale * float(turned @ turned))
    for (moved, turned, scale), share in zip(steps, reversed(shares), strict=True):
        found += (share - scale * float(turned @ found)) * moved
    return found


def halves(labels: Integers, *, seed: int = SEED) -> tuple[Integers, Integers]:
    """Parts rows into those to learn from and those to ask, half of each label's, drawn by lot; both rising.

    Of a label with one text that text is learned from: one that was never seen cannot be told.
    """
    lot = np.random.default_rng(seed)
    asked = []
    for label in range(int(labels.max(initial=-1)) + 1):
        mine = lot.permutation(np.flatnonzero(labels == label))
        asked.append(mine[: int(len(mine) * TEST_SHARE)])
    test = np.sort(np.concatenate(asked)) if asked else np.empty(0, np.int64)
    train = np.setdiff1d(np.arange(len(labels)), test)
    return train.astype(np.int64), test.astype(np.int64)


def few_of_each(labels: Integers, samples: int, times: int, *, seed: int = SEED) -> Iterator[Integers]:
    """Gives, so many times, the places of ``samples`` rows of each label (all where there are fewer).

    One order is shuffled on for each time, and the first of each label are taken, as MTEB does.
    """
    lot = np.random.default_rng(seed)
    order = np.arange(len(labels))
    for _ in range(times):
        lot.shuffle(order)
        chosen = [order[labels[order] == label][:samples] for label in range(int(labels.max(initial=-1)) + 1)]
        yield np.sort(np.concatenate(chosen)).astype(np.int64)


def accuracy(truth: Integers, said: Integers) -> float:
    """Gives the share of rows that were told right, 0-1."""
    return float(np.mean(truth == said))


def macro_f1(truth: Integers, said: Integers) -> float:
    """Gives F1 of each label that occurs in either, averaged with equal weight: as scikit-learn's macro average."""
    kinds = np.union1d(truth, said)
    right = np.array([np.count_nonzero((truth == kind) & (said == kind)) for kind in kinds], np.float64)
    both = np.array([np.count_nonzero(truth == kind) + np.count_nonzero(said == kind) for kind in kinds], np.float64)
    return float(np.mean(2 * right / both))
