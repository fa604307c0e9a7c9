"""Our measures against those of scipy, scikit-learn and sentence-transformers."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sbert_desktop.encoder import evaluate

RNG = np.random.default_rng(11)
CASES = [
    (RNG.normal(size=200), RNG.integers(0, 6, 200)),
    (np.round(RNG.normal(size=300), 1), RNG.integers(0, 2, 300)),  # many ties
    (np.arange(5.0), np.array([0, 0, 1, 1, 1])),
    (np.array([0.5, 0.5, 0.5]), np.array([1, 0, 1])),
]


@pytest.mark.parametrize(("scores", "gold"), CASES)
def test_spearman_and_pearson_are_scipys(scores: np.ndarray, gold: np.ndarray) -> None:
    stats = pytest.importorskip("scipy.stats")
    if len(set(scores)) == 1:
        assert math.isnan(evaluate.spearman(scores, gold))
        return
    assert evaluate.spearman(scores, gold) == pytest.approx(stats.spearmanr(scores, gold).statistic, abs=1e-12)
    assert evaluate.pearson(scores, gold) == pytest.approx(stats.pearsonr(scores, gold).statistic, abs=1e-12)


@pytest.mark.parametrize(("scores", "gold"), CASES)
def test_average_precision_is_scikit_learns(scores: np.ndarray, gold: np.ndarray) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    labels = gold > 0
    assert evaluate.average_precision(scores, labels) == pytest.approx(
        metrics.average_precision_score(labels, scores), abs=1e-12
    )


@pytest.mark.parametrize(("scores", "gold"), CASES)
def test_best_f1_is_the_best_over_all_thresholds(scores: np.ndarray, gold: np.ndarray) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    labels = gold > 0
    f1, threshold = evaluate.best_f1(scores, labels)
    assert metrics.f1_score(labels, scores >= threshold) == pytest.approx(f1, abs=1e-12)
    assert f1 == pytest.approx(max(metrics.f1_score(labels, scores >= cut) for cut in scores), abs=1e-12)


def test_nothing_to_find_is_no_error() -> None:
    assert evaluate.average_precision([], []) == 0.0
    assert evaluate.average_precision([0.1, 0.2], [0, 0]) == 0.0
    assert evaluate.best_f1([0.1], [0]) == (0.0, 0.0)
    assert evaluate.ndcg([], [], 10) == 0.0
    assert evaluate.ndcg([["a"]], [{}], 10) == 0.0
    assert evaluate.recall([["a"]], [{"b": 0}], 10) == 0.0


def test_triplets_count_only_strictly_nearer_ones() -> None:
    assert evaluate.triplet_accuracy([0.9, 0.5, 0.1], [0.1, 0.5, 0.9]) == pytest.approx(1 / 3)


def test_ndcg_has_linear_gain_over_the_ideal_of_all_judgements() -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    gains = RNG.integers(0, 4, (20, 30))
    scores = RNG.normal(size=(20, 30))
    ranked = [np.argsort(-row).tolist() for row in scores]
    judged = [dict(enumerate(row.tolist())) for row in gains]
    for k in (1, 10, 30):
        assert evaluate.ndcg(ranked, judged, k) == pytest.approx(metrics.ndcg_score(gains, scores, k=k), abs=1e-12)


def test_ranks_of_a_small_case_by_hand() -> None:
    ranked = [["x", "a", "y", "b"], ["q"]]
    judged = [{"a": 1, "b": 2, "c": 1}, {"z": 1}]
    assert evaluate.mrr(ranked, judged, 10) == pytest.approx((1 / 2 + 0) / 2)
    assert evaluate.mrr(ranked, judged, 1) == 0
    assert evaluate.recall(ranked, judged, 10) == pytest.approx((2 / 3 + 0) / 2)
    assert evaluate.mean_average_precision(ranked, judged, 10) == pytest.approx(((1 / 2 + 2 / 4) / 3 + 0) / 2)
    ideal = 2 / math.log2(2) + 1 / math.log2(3) + 1 / math.log2(4)
    assert evaluate.ndcg(ranked, judged, 10) == pytest.approx((1 / math.log2(3) + 2 / math.log2(5)) / ideal / 2)
