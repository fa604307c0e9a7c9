from __future__ import annotations

import numpy as np
import pytest

from sbert_desktop.explore.map_density import contours


def two_hills() -> np.ndarray:
    random = np.random.default_rng(2)
    return np.concatenate([random.normal((0, 0), 1, (6000, 2)), random.normal((12, 3), 1, (2000, 2))]).astype(
        np.float32
    )


def test_each_line_holds_its_share_of_the_points_and_the_inner_ones_less():
    found = contours(two_hills(), shares=(0.9, 0.5))
    assert [one.share for one in found] == [pytest.approx(0.9, abs=0.02), pytest.approx(0.5, abs=0.02)]
    wide, narrow = (np.abs(one.pieces[:, 0]).min(initial=99) for one in found)
    assert np.isfinite([wide, narrow]).all()


def test_a_round_hill_has_a_round_line_at_the_radius_of_its_share():
    points = np.random.default_rng(3).standard_normal((40000, 2)).astype(np.float32)
    (line,) = contours(points, shares=(0.5,))
    radius = np.hypot(line.pieces[:, 0], line.pieces[:, 1])
    assert np.median(radius) == pytest.approx(np.sqrt(2 * np.log(2)), rel=0.05)  # half of a round normal lies within
    assert radius.std() < 0.12


def test_lines_are_closed_for_every_piece_goes_on():
    for line in contours(two_hills()):
        ends = np.round(line.pieces.reshape(-1, 2), 4)
        _, counts = np.unique(ends, axis=0, return_counts=True)
        assert (counts % 2 == 0).mean() > 0.99


def test_two_hills_have_two_lines():
    (line,) = contours(two_hills(), shares=(0.8,))
    middles = (line.pieces[:, 0] + line.pieces[:, 2]) / 2
    assert (middles < 4).any()
    assert (middles > 8).any()
    assert not ((middles > 5) & (middles < 7)).any()


@pytest.mark.parametrize("points", [0, 1, 2])
def test_a_few_points_have_no_lines(points: int):
    assert contours(np.zeros((points, 2), np.float32)) == []


def test_points_on_one_spot_and_in_a_row_do_no_harm():
    assert contours(np.zeros((50, 2), np.float32)) == []
    row = np.stack([np.arange(50), np.zeros(50)], axis=1).astype(np.float32)
    assert all(np.isfinite(one.pieces).all() for one in contours(row))
