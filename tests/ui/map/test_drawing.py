"""Points as pixels: colours, sizes, discs and frames."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtGui import QColor

from sbert_desktop.app.atlas_views import FRONT, ColourBy, ColourGroup, ColourView, View
from sbert_desktop.ui.map.drawing import (
    FIRST,
    GREY,
    GROUND,
    PLAIN,
    STEPS,
    Dim,
    Discs,
    Frame,
    Painter,
    Style,
    codes_of,
    dot_width,
    make_cloud,
    palette_of,
    scale_color,
)
from sbert_desktop.ui.theme import theme

pytestmark = pytest.mark.gui


def grouped(point_groups: list[int], sizes: list[int], colours: list[int] | None = None) -> ColourView:
    places = colours or list(range(len(sizes)))
    groups = tuple(ColourGroup(f"g{at}", size, place, at)
                   for at, (size, place) in enumerate(zip(sizes, places, strict=True)))
    return ColourView(ColourBy.THEME, np.array(point_groups, np.int32), groups, None, "", "",
                      np.full(len(point_groups), np.nan))


def lightness(color: QColor) -> float:
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in color.getRgbF()[:3]]
    light = float(np.dot(linear, [0.2126, 0.7152, 0.0722]))
    return 116 * light ** (1 / 3) - 16


@pytest.mark.parametrize("dark", [False, True])
def test_a_scale_grows_evenly_in_lightness_and_never_leaves_the_screens_colours(dark):
    light = np.array([lightness(scale_color(value, dark)) for value in np.linspace(0, 1, 33)])
    steps = np.diff(light) * (1 if dark else -1)
    assert steps.min() > 0.6 * steps.mean()
    assert steps.max() < 1.5 * steps.mean()
    assert abs(light[-1] - light[0]) > 35
    assert scale_color(-3, dark) == scale_color(0, dark)
    assert scale_color(7, dark) == scale_color(1, dark)


def test_small_groups_lie_over_large_ones_and_grey_ones_under_all():
    colours = grouped([0, 1, 2, -1], [5, 90, 40], [0, 1, -1])
    large, small = codes_of(colours, 4)[1], codes_of(colours, 4)[0]
    assert FIRST <= large < small
    assert PLAIN <= codes_of(colours, 4)[2:].max() < large


def test_colours_of_another_map_leave_points_plain():
    assert codes_of(grouped([0, 0], [2]), 3).tolist() == [PLAIN] * 3
    assert codes_of(None, 2).tolist() == [PLAIN] * 2


def test_values_fall_into_steps_and_unknown_ones_are_plain():
    colours = ColourView(ColourBy.DATE, np.full(4, -1, np.int32), (), np.array([0, 0.5, 1, np.nan], np.float32), "", "",
                         np.zeros(4))
    assert codes_of(colours, 4).tolist() == [FIRST, FIRST + STEPS // 2, FIRST + STEPS - 1, PLAIN]
    assert FIRST + STEPS <= FRONT


def test_forty_groups_and_the_others_have_places_of_their_own():
    colours = grouped(list(range(41)), list(range(100, 59, -1)), [*range(40), -1])
    assert len(set(codes_of(colours, 41).tolist())) == 41


def test_what_stands_out_is_opaque_and_what_does_not_is_fainter():
    colours = grouped([0], [1])
    place = int(codes_of(colours, 1)[0])
    plain, among = palette_of(colours, theme, Dim()), palette_of(colours, theme, Dim(selected=True))
    assert QColor.fromRgb(int(among[place | FRONT])) == theme.group_color(0)
    assert lightness(QColor.fromRgb(int(among[place]))) > lightness(QColor.fromRgb(int(plain[place])))
    assert QColor.fromRgb(int(plain[GROUND])) == theme.color("surface")
    assert among[GREY] != among[GROUND]


def test_dots_are_as_wide_as_in_the_design_and_grow_with_zoom_but_not_with_panning():
    assert dot_width(4102, 1108 * 772, 1) == pytest.approx(3.4, abs=0.3)
    assert dot_width(1_000_000, 1280 * 772, 1) == 1
    assert dot_width(3, 1280 * 772, 1) == 8
    assert dot_width(4102, 1108 * 772, 3) > 1.5 * dot_width(4102, 1108 * 772, 1)


PALETTE = np.full(256, 0xFF000000, np.uint32)
PALETTE[5], PALETTE[6] = 0xFFFF0000, 0xFF00FF00


def test_a_disc_has_its_area_and_its_colour():
    out = np.full((40, 40), 0xFF000000, np.uint32)
    Discs().draw(out, np.array([[20.3, 19.8]], np.float32), np.array([5], np.uint8), PALETTE, 8.0)
    red = (out >> 16 & 255) / 255
    assert red.sum() == pytest.approx(np.pi * 16, rel=0.06)
    assert out[20, 20] == 0xFFFF0000
    assert (red * np.arange(40)).sum() / red.sum() + 0.5 == pytest.approx(20.3, abs=0.15)
    assert not (out & 0xFFFF).any()


def test_where_discs_overlap_the_greater_place_shows_whatever_the_order():
    spots = np.array([[20, 20], [20, 20]], np.float32)
    for codes in ([5, 6], [6, 5]):
        out = np.full((40, 40), 0xFF000000, np.uint32)
        Discs().draw(out, spots, np.array(codes, np.uint8), PALETTE, 6.0)
        assert out[20, 20] == 0xFF00FF00


def test_discs_at_the_rim_do_not_come_in_at_the_other_side():
    out = np.full((30, 30), 0xFF000000, np.uint32)
    spots = np.array([[0, 15], [15, 0], [29.9, 29.9], [-50, 5], [5, 900]], np.float32)
    Discs().draw(out, spots, np.full(5, 5, np.uint8), PALETTE, 6.0)
    drawn = out != 0xFF000000
    assert drawn[15, 0]
    assert drawn[0, 15]
    assert drawn[29, 29]
    assert not drawn[10:20, 20:].any()
    assert not drawn[10:20, 8:28].any()
    assert drawn.sum() < 60


def test_a_ring_has_a_hole():
    out = np.full((40, 40), 0xFF000000, np.uint32)
    Discs().draw(out, np.array([[20.5, 20.5]], np.float32), np.array([5], np.uint8), PALETTE, 12.0, hole=7.0)
    assert out[20, 20] == 0xFF000000
    assert out[20, 25] != 0xFF000000


def drawn(positions: np.ndarray, *, front=None, codes=None, view=None, zoom=1.0) -> np.ndarray:
    n = len(positions)
    painter = Painter(make_cloud(positions.astype(np.float32), np.ones(n, np.int32), np.zeros(n, np.bool_)))
    painter.dress(np.full(n, 5, np.uint8) if codes is None else codes, front)
    view = view or View(0, 0, 1, 300, 200)
    frame = Frame(view.width, view.height)
    palette = PALETTE.copy()
    palette[5 | FRONT] = 0xFF0000FF
    painter.draw(view, Style(palette, 1.0, zoom, 60_000.0), frame.pixels)
    return frame.pixels.copy()


@pytest.mark.parametrize("many", [1, 60_000])
def test_hidden_points_are_not_drawn_and_front_ones_lie_on_top_of_few_and_of_many(many):
    rng = np.random.default_rng(3)
    positions = rng.uniform(20, 90, (many + 2, 2))
    positions[-2], positions[-1] = (150, 100), (250, 100)
    codes = np.full(len(positions), 5, np.uint8)
    codes[-1] = 0
    front = np.zeros(len(positions), np.bool_)
    front[-2] = True
    picture = drawn(positions, codes=codes, front=front)
    assert picture[100, 150] == 0xFF0000FF
    assert (picture[80:120, 230:270] == 0xFF000000).all()
    assert (picture[20:90, 20:90] != 0xFF000000).any()


def test_counting_what_a_view_shows_never_gives_too_few():
    rng = np.random.default_rng(5)
    positions = rng.normal(size=(5000, 2)).astype(np.float32) * 20 + 100
    cloud = make_cloud(positions, np.ones(5000, np.int32), np.zeros(5000, np.bool_))
    for left, top, scale in ((60, 60, 4), (100, 90, 20), (-500, -500, 0.2), (400, 400, 3)):
        view = View(left, top, scale, 300, 200)
        right, bottom = view.to_map(300, 200)
        inside = ((positions >= (left, top)) & (positions <= (right, bottom))).all(axis=1).sum()
        assert inside <= cloud.about(view) <= inside + 400


@pytest.mark.parametrize("points", [0, 1, 2, 3])
def test_hardly_any_points_are_drawn_like_others(points):
    picture = drawn(np.full((points, 2), 100.0))
    assert (picture != 0xFF000000).any() == (points > 0)
