from __future__ import annotations

import numpy as np
import pytest

from sbert_desktop.explore.registration import register


def cloud(points: int = 200) -> np.ndarray:
    return (np.random.default_rng(4).standard_normal((points, 2)) * [3, 1] + [5, 2]).astype(np.float32)


@pytest.mark.parametrize("mirrored", [False, True])
def test_a_turned_mirrored_scaled_and_moved_map_is_laid_exactly_over_the_old_one(mirrored: bool):
    old = cloud()
    turn = np.array([[np.cos(2.1), np.sin(2.1)], [-np.sin(2.1), np.cos(2.1)]]) @ np.diag([1, -1 if mirrored else 1])
    new = (old @ turn * 0.3 + [-8, 40]).astype(np.float32)
    found = register(new, old)
    np.testing.assert_allclose(found.apply(new), old, atol=1e-4)
    assert found.misfit < 1e-6
    assert found.scale == pytest.approx(1 / 0.3, rel=1e-4)
    assert np.linalg.det(found.turn) == pytest.approx(-1 if mirrored else 1)


def test_no_other_turn_comes_closer_when_the_layouts_differ():
    old = cloud()
    new = (old[:, ::-1] + np.random.default_rng(5).standard_normal(old.shape)).astype(np.float32)
    found = register(new, old)
    best = ((found.apply(new) - old) ** 2).sum()
    for angle in np.linspace(-0.2, 0.2, 9):
        small = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
        middle = old.mean(axis=0)
        assert (((found.apply(new) - middle) @ small + middle - old) ** 2).sum() >= best - 1e-3
    assert 0 < found.misfit < 1


def test_heavy_points_decide_where_weights_say_so():
    old = cloud(40)
    new = old.copy()
    new[:20] += np.array([50, 0], np.float32)
    weights = np.where(np.arange(40) < 20, 1e-6, 1).astype(np.float32)
    np.testing.assert_allclose(register(new, old, weights=weights).apply(new)[20:], old[20:], atol=1e-2)


def test_unrelated_layouts_have_a_high_misfit():
    other = np.random.default_rng(6).standard_normal((200, 2)).astype(np.float32)
    assert register(other, cloud()).misfit > 0.9


@pytest.mark.parametrize("points", [0, 1, 2])
def test_a_few_points_are_moved_without_nonsense(points: int):
    old = cloud(points)
    found = register(old + 3, old)
    np.testing.assert_allclose(found.apply(old + 3), old, atol=1e-4)
    assert found.scale > 0


def test_maps_on_one_spot_are_only_moved():
    spot = np.full((5, 2), 4, np.float32)
    found = register(spot, cloud(5))
    assert found.scale == 1
    np.testing.assert_allclose(found.apply(spot).mean(axis=0), cloud(5).mean(axis=0), atol=1e-5)
