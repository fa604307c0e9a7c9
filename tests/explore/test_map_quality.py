from __future__ import annotations

import numpy as np
import pytest

from sbert_desktop.explore.layout import make_layout
from sbert_desktop.explore.map_quality import MapQuality, measure_quality
from tests.explore.made_themes import themes


def test_trustworthiness_is_that_of_scikit_learn():
    manifold = pytest.importorskip("sklearn.manifold")
    vectors = themes(6, 50)
    layout = make_layout(vectors)
    found = measure_quality(vectors, layout, neighbours=10)
    assert found.trustworthiness == pytest.approx(
        manifold.trustworthiness(vectors, layout, n_neighbors=10, metric="cosine"), abs=1e-4
    )


def test_points_on_a_ring_laid_out_as_the_ring_are_exact_and_strewn_points_are_chance():
    angle = np.linspace(0, 2 * np.pi, 400, endpoint=False) + np.random.default_rng(1).uniform(0, 1e-3, 400)
    ring = np.stack([np.cos(angle), np.sin(angle)], axis=1).astype(np.float32)
    exact = measure_quality(ring, ring, neighbours=10)
    assert exact.trustworthiness > 0.999
    assert exact.overlap > 0.97
    strewn = measure_quality(ring, np.random.default_rng(2).standard_normal((400, 2)).astype(np.float32), neighbours=10)
    assert strewn.trustworthiness == pytest.approx(0.5, abs=0.06)
    assert strewn.overlap == pytest.approx(strewn.chance, abs=0.02)


def test_blocks_and_samples_come_near_the_whole(monkeypatch):
    vectors = themes(6, 200, spread=1.0)
    layout = make_layout(vectors)
    whole = measure_quality(vectors, layout, sample=1200)
    monkeypatch.setattr("sbert_desktop.explore.map_quality._BLOCK", 5000)
    cut = measure_quality(vectors, layout, sample=1200)
    assert cut.trustworthiness == pytest.approx(whole.trustworthiness, abs=1e-6)
    sampled = measure_quality(vectors, layout, sample=300)
    assert sampled.sampled == 300
    assert sampled.trustworthiness == pytest.approx(whole.trustworthiness, abs=0.02)


@pytest.mark.parametrize("points", [0, 1, 2, 3, 5])
def test_a_few_points_have_a_plain_answer(points: int):
    vectors = themes(1, 5)[:points]
    found = measure_quality(vectors, make_layout(vectors))
    assert 0 <= found.trustworthiness <= 1
    assert found.sentence().endswith(".")
    assert (found.level == "exact") == (points <= 3)


def test_equal_vectors_cannot_lie_wrong():
    vectors = np.tile(themes(1, 1), (50, 1))
    layout = np.random.default_rng(0).standard_normal((50, 2)).astype(np.float32)
    assert measure_quality(vectors, layout).trustworthiness == 1


@pytest.mark.parametrize(
    ("trust", "level"), [(0.97, "very good"), (0.94, "good"), (0.88, "good"), (0.8, "fair"), (0.5, "poor")]
)
def test_the_words_say_how_far_the_map_can_be_trusted(trust: float, level: str):
    found = MapQuality(trust, 0.25, 0.001, 15, 5000, 1000)
    assert found.level == level
    assert "4 are among its 15 most similar" in found.sentence()
    assert "hardly any" in MapQuality(trust, 0.02, 0.001, 15, 5000, 1000).sentence()
