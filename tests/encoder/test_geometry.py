"""Figures of a cloud of vectors, and smaller forms of it."""

from __future__ import annotations

import numpy as np
import pytest

from sbert_desktop.encoder.geometry import (
    FEWEST_TEXTS,
    cut,
    eight_bits,
    isoscore,
    isotropy_after_whitening,
    mean_cosine,
    principal_directions,
    unit,
)


def cloud(n: int = 600, dimension: int = 24, *, shift: float = 0.0, uneven: bool = True) -> np.ndarray:
    lot = np.random.default_rng(9)
    scale = np.linspace(3.0, 0.2, dimension) if uneven else np.ones(dimension)
    return unit((lot.normal(size=(n, dimension)) * scale + shift).astype(np.float32))


def test_mean_cosine_is_that_of_all_pairs_and_rises_where_all_lean_one_way():
    vectors = cloud(60)
    cosines = vectors.astype(np.float64) @ vectors.T
    assert mean_cosine(vectors) == pytest.approx((cosines.sum() - np.trace(cosines)) / (60 * 59), abs=1e-7)
    assert mean_cosine(cloud(shift=3.0)) > 0.5 > 0.1 > abs(mean_cosine(cloud()) or 0)
    assert mean_cosine(vectors[:1]) is None


def test_isoscore_is_one_for_even_and_nought_for_one_direction():
    assert isoscore(np.full(20, 0.3)) == pytest.approx(1.0)
    assert isoscore(np.array([1.0, *[0.0] * 19])) == pytest.approx(0.0, abs=1e-9)
    # k of n directions used alike give (k - 1) / (n - 1). Source: Rudman et al. 2022, section 4.
    for used in (2, 10, 15):
        assert isoscore(np.array([1.0] * used + [0.0] * (20 - used))) == pytest.approx((used - 1) / 19)


def test_whitening_makes_an_uneven_cloud_even_but_not_one_that_it_was_not_learned_from():
    assert isotropy_after_whitening(cloud()) > 0.95
    half = cloud(400)
    odd = np.concatenate([half, np.roll(half, 12, axis=1)])
    assert isotropy_after_whitening(odd) is not None
    assert isotropy_after_whitening(cloud(FEWEST_TEXTS - 1)) is None
    assert isotropy_after_whitening(np.tile(cloud(1), (100, 1))) == 0.0


def test_principal_directions_are_those_of_scikit_learn():
    decomposition = pytest.importorskip("sklearn.decomposition")
    vectors = cloud(300)
    theirs = decomposition.PCA(8, svd_solver="full").fit(vectors.astype(np.float64)).components_
    ours = principal_directions(vectors, 8)
    np.testing.assert_allclose(np.abs(np.einsum("kd,kd->k", ours, theirs)), 1.0, atol=1e-4)
    with pytest.raises(ValueError, match="cannot be learned"):
        principal_directions(vectors[:8], 8)


def test_smaller_forms_are_of_unit_length_and_near_the_whole():
    vectors = cloud()
    assert np.allclose(cut(vectors, 16), unit(vectors[:, :16]))
    back = eight_bits(vectors)
    assert np.einsum("nd,nd->n", back, vectors).min() > 0.9995
    largest = np.abs(vectors).max(axis=1, keepdims=True)
    steps = unit(np.rint(vectors / largest * 127))  # integers again but for the scale
    np.testing.assert_allclose(back, steps, atol=1e-6)
    assert not eight_bits(np.zeros((1, 8), np.float32)).any()
