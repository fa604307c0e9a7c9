"""The linear probe against scikit-learn, and how texts are drawn."""

from __future__ import annotations

import numpy as np
import pytest

from sbert_desktop.encoder.evaluate import bitext_scores, nearest_across
from sbert_desktop.encoder.probe import accuracy, few_of_each, fit_probe, halves, macro_f1


def made(count: int, n: int, dimension: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    lot = np.random.default_rng(seed)
    middles = lot.normal(size=(count, dimension))
    labels = np.concatenate([np.arange(count), lot.integers(0, count, n - count)])
    vectors = middles[labels] + 1.5 * lot.normal(size=(n, dimension))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors.astype(np.float32), labels.astype(np.int64)


@pytest.mark.parametrize(("count", "n", "dimension"), [(2, 16, 32), (7, 56, 24), (20, 400, 48)])
def test_probability_of_each_label_is_that_of_scikit_learn(count, n, dimension):
    linear = pytest.importorskip("sklearn.linear_model")
    vectors, labels = made(count, n, dimension)
    asked, _ = made(count, 300, dimension, seed=2)
    own = fit_probe(vectors, labels, count)
    theirs = linear.LogisticRegression(max_iter=2000, tol=1e-8).fit(vectors.astype(np.float64), labels)
    scores = asked @ own.weights.T + own.intercepts
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(shares, theirs.predict_proba(asked.astype(np.float64)), atol=2e-4)
    sure = np.abs(np.sort(shares)[:, -1] - np.sort(shares)[:, -2]) > 1e-3
    assert (own.predict(asked) == theirs.predict(asked))[sure].all()


def test_scores_are_those_of_scikit_learn():
    metrics = pytest.importorskip("sklearn.metrics")
    lot = np.random.default_rng(3)
    truth, said = lot.integers(0, 6, 200), lot.integers(0, 7, 200)
    assert accuracy(truth, said) == pytest.approx(metrics.accuracy_score(truth, said))
    assert macro_f1(truth, said) == pytest.approx(metrics.f1_score(truth, said, average="macro"))


def test_translations_are_scored_as_mteb_scores_them():
    metrics = pytest.importorskip("sklearn.metrics")
    lot = np.random.default_rng(4)
    first = lot.normal(size=(3000, 6)).astype(np.float32)
    second = (first + 0.6 * lot.normal(size=first.shape)).astype(np.float32)
    first /= np.linalg.norm(first, axis=1, keepdims=True)
    second /= np.linalg.norm(second, axis=1, keepdims=True)
    to, back = nearest_across(first, second)
    cosines = first @ second.T
    assert (to == cosines.argmax(axis=1)).all()
    assert (back == cosines.argmax(axis=0)).all()
    gold = np.arange(len(first))
    assert bitext_scores(to) == pytest.approx(
        (metrics.accuracy_score(gold, to), metrics.f1_score(gold, to, average="weighted", zero_division=0)))


def test_halves_share_no_row_and_keep_every_label():
    labels = np.array([0, 0, 0, 1, 1, 1, 1, 2] * 5 + [3], np.int64)
    train, test = halves(labels)
    assert sorted([*train, *test]) == list(range(len(labels)))
    assert set(labels[train]) == {0, 1, 2, 3}
    assert np.bincount(labels[test], minlength=4).tolist() == [7, 10, 2, 0]
    assert (halves(labels)[1] == test).all()


def test_each_experiment_draws_other_rows_of_every_label():
    labels = np.repeat(np.arange(4), 30).astype(np.int64)
    drawn = list(few_of_each(labels, 8, 3))
    assert all(np.bincount(labels[rows]).tolist() == [8] * 4 for rows in drawn)
    assert len({tuple(rows.tolist()) for rows in drawn}) == 3
    few = next(few_of_each(np.array([0, 0, 1], np.int64), 8, 1))
    assert few.tolist() == [0, 1, 2]
