from __future__ import annotations

import numpy as np
import pytest

from sbert_desktop.explore.map_points import FRONT, MapPoints, View, whole_view

PALETTE = np.arange(256, dtype=np.uint32) * 7 + 1  # a colour tells its place
GROUND = int(PALETTE[0])


def strewn(points: int = 3000, seed: int = 8) -> np.ndarray:
    return np.random.default_rng(seed).normal(0, 4, (points, 2)).astype(np.float32)


def drawn(positions: np.ndarray, view: View, groups: np.ndarray, size: int = 1, **more: np.ndarray) -> np.ndarray:
    points = MapPoints(positions)
    picture = points.draw(view, points.paint(groups.astype(np.uint8), **more), PALETTE, size=size)
    assert picture.dtype == np.uint32
    assert picture.shape == (view.height, view.width)
    return (picture - 1) // 7


def test_each_point_in_view_is_one_pixel_of_its_colour_and_the_others_none():
    positions = strewn()
    view = View(-3.0, -2.0, 50.0, 320, 240)
    groups = np.random.default_rng(1).integers(1, 9, len(positions))
    picture = drawn(positions, view, groups)
    truth = np.zeros((240, 320), object)
    x, y = np.floor(view.to_pixels(positions)).astype(int).T
    for column, line, group in zip(x, y, groups, strict=True):
        if 0 <= column < 320 and 0 <= line < 240:
            truth[line, column] = (*(truth[line, column] or ()), int(group))
    wrong = [
        spot
        for spot in np.ndindex(240, 320)
        if (picture[spot] != 0) != bool(truth[spot]) or (truth[spot] and picture[spot] not in truth[spot])
    ]
    assert len(wrong) <= 2  # a point on a pixel's edge may fall to either side


@pytest.mark.parametrize(("size", "pixels"), [(1, 1), (2, 4), (3, 5), (4, 12), (5, 21)])
def test_a_dot_has_its_size_in_the_middle_and_is_cut_at_the_rim(size: int, pixels: int):
    view = View(0.0, 0.0, 1.0, 40, 30)
    picture = drawn(np.array([[20.5, 15.5]], np.float32), view, np.array([3]), size)
    assert (picture == 3).sum() == pixels
    assert picture[15, 20] == 3
    at_rim = drawn(np.array([[0.5, 0.5]], np.float32), view, np.array([3]), size)
    assert 0 < (at_rim == 3).sum() <= pixels
    beyond = drawn(np.array([[-0.5, 15.5], [40.5, 15.5]], np.float32), view, np.array([3, 4]), size)
    assert (beyond[:, 3:-3] == 0).all()
    far = drawn(np.array([[-9.0, 15.5], [20.0, 99.0], [60.0, 15.5]], np.float32), view, np.array([3, 4, 5]), size)
    assert (far == 0).all()


def test_what_lies_in_front_shows_over_all_others_in_its_own_colour():
    positions = np.tile(np.array([[5.5, 5.5]], np.float32), (50, 1))
    positions[1:, 0] += np.linspace(-1, 1, 49).astype(np.float32)
    groups = np.full(50, 100)
    groups[0] = 2
    front = np.zeros(50, bool)
    front[0] = True
    picture = drawn(positions, View(0, 0, 1, 11, 11), groups, 3, front=front)
    assert (picture == FRONT + 2).sum() == 5
    assert picture[5, 5] == FRONT + 2


def test_group_0_is_not_drawn_not_even_in_front():
    picture = drawn(strewn(), View(-4, -4, 20, 160, 160), np.zeros(3000), 3, front=np.ones(3000, bool))
    assert not picture.any()


def test_a_picture_is_drawn_into_memory_that_is_given_and_an_earlier_frame_leaves_nothing():
    positions = strewn()
    points = MapPoints(positions)
    paint = points.paint(np.ones(len(positions), np.uint8))
    out = np.empty((100, 120), np.uint32)
    view = View(-3.0, -2.0, 20.0, 120, 100)
    first = points.draw(view, paint, PALETTE, out=out)
    assert first is out
    kept = first.copy()
    points.draw(View(-1.0, 3.0, 70.0, 120, 100), paint, PALETTE, out=out)
    points.draw(View(-1.0, 3.0, 70.0, 50, 40), paint, PALETTE)
    np.testing.assert_array_equal(points.draw(view, paint, PALETTE, out=out), kept)
    assert (out == GROUND).any()


@pytest.mark.parametrize("points", [0, 1, 3])
def test_a_few_points_are_shown_whole_and_drawn(points: int):
    positions = strewn(points)
    view = whole_view(positions, 200, 100)
    assert (drawn(positions, view, np.full(points, 4)) == 4).sum() == points
    assert MapPoints(positions).inside(np.array([[-99, -99], [99, -99], [99, 99], [-99, 99]])).tolist() == list(
        range(points)
    )
    assert (MapPoints(positions).at(0, 0, 99) >= 0) == (points > 0)


def test_the_whole_view_shows_every_point_with_room_around():
    positions = strewn()
    pixels = whole_view(positions, 640, 300, margin=20).to_pixels(positions)
    assert pixels.min() >= 19.9
    assert pixels[:, 0].max() <= 620.1
    assert pixels[:, 1].max() <= 280.1
    assert pixels[:, 1].max() > 279


def test_zooming_keeps_the_spot_under_the_pointer():
    view = View(-3.0, -2.0, 50.0, 320, 240)
    closer = view.zoomed(3, 100, 70)
    assert closer.to_map(100, 70) == pytest.approx(view.to_map(100, 70))
    assert closer.scale == 150


def test_the_nearest_point_within_reach_is_found_and_none_beyond():
    positions = strewn()
    points = MapPoints(positions)
    for x, y in np.random.default_rng(3).normal(0, 5, (200, 2)).tolist():
        away = np.linalg.norm(positions - [x, y], axis=1)
        found = points.at(x, y, 0.2)
        if away.min() > 0.2:
            assert found == -1
        else:
            assert away[found] == pytest.approx(away.min(), abs=1e-5)


def test_a_rectangle_takes_what_lies_in_it():
    positions = strewn()
    truth = np.flatnonzero(((positions >= [-1, -2]) & (positions <= [3, 0.5])).all(axis=1))
    assert MapPoints(positions).within(-1, -2, 3, 0.5).tolist() == truth.tolist()


def angles_inside(line: np.ndarray, spot: np.ndarray) -> bool:
    """Goes around once or not: the sum of angles, a way of its own to tell."""
    ways = line - spot
    angle = np.arctan2(ways[:, 1], ways[:, 0])
    turns = np.diff(np.append(angle, angle[0]))
    return abs(((turns + np.pi) % (2 * np.pi) - np.pi).sum()) > np.pi


def test_a_drawn_line_takes_what_it_encloses():
    positions = strewn(600)
    around = np.linspace(0, 2 * np.pi, 60, endpoint=False)
    line = (3 + np.sin(5 * around))[:, None] * np.stack([np.cos(around), np.sin(around)], axis=1)
    truth = [row for row in range(600) if angles_inside(line, positions[row])]
    assert 50 < len(truth) < 550
    assert MapPoints(positions).inside(line).tolist() == truth
    assert MapPoints(positions).inside(line[::-1]).tolist() == truth


def test_points_level_with_a_corner_are_counted_once():
    positions = np.array([[0, 0], [2, 0], [-2, 0], [0, 0.9], [0, 1.1]], np.float32)
    diamond = np.array([[0, -1], [1, 0], [0, 1], [-1, 0]])
    assert MapPoints(positions).inside(diamond).tolist() == [0, 3]


def test_a_line_of_two_corners_encloses_nothing():
    assert len(MapPoints(strewn()).inside(np.array([[0, 0], [1, 1]]))) == 0
