"""The map's canvas: what it shows, how it moves, how points are pointed at and selected."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QMargins, QPoint, QPointF, QRect, Qt
from PySide6.QtGui import QColor, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from sbert_desktop.app.atlas_views import ColourBy, ColourGroup, ColourView, MapLabel, MapRequest, MapView
from sbert_desktop.ui.errands import Errands
from sbert_desktop.ui.map.canvas import MapCanvas
from sbert_desktop.ui.map.canvas_lens import FARTHEST, NEAREST, Lens, fitting_lens
from sbert_desktop.ui.map.canvas_marks import same_points, theme_tops
from sbert_desktop.ui.theme import theme
from tests.effort import least_cpu

pytestmark = pytest.mark.gui
LEFT, NONE = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
Key = Qt.Key


def a_map(positions: np.ndarray, *, first: int = 100, **more: object) -> MapView:
    n = len(positions)
    starts = np.arange(n + 1, dtype=np.int64)
    keys = np.arange(first, first + n, dtype=np.int64)
    made = MapView(MapRequest(), np.asarray(positions, np.float32).reshape(-1, 2), np.ones(n, np.int32), keys, keys,
                   starts, np.zeros(n, np.bool_))
    return replace(made, **more)  # type: ignore[arg-type]


def grid(side: int = 5) -> np.ndarray:
    return np.stack(np.meshgrid(np.arange(side), np.arange(side)), axis=-1).reshape(-1, 2).astype(np.float32)


def two_groups(view: MapView) -> ColourView:
    groups = np.arange(len(view), dtype=np.int32) % 2
    return ColourView(ColourBy.THEME, groups, (ColourGroup("even", 13, 0, 0), ColourGroup("odd", 12, 1, 1)), None, "",
                      "", np.arange(len(view), dtype=np.float64))


@pytest.fixture
def canvas(qapp: QApplication) -> Iterator[MapCanvas]:
    errands = Errands()
    made = MapCanvas(errands)
    made.resize(600, 400)
    made.show()
    yield made
    errands.close()
    made.close()
    made.deleteLater()


@pytest.fixture
def shown(canvas: MapCanvas) -> MapCanvas:
    view = a_map(grid())
    canvas.set_map(view)
    canvas.set_colours(two_groups(view))
    return canvas


def drag(canvas: MapCanvas, spots: list[QPoint], held: Qt.KeyboardModifier = NONE, button=LEFT) -> None:
    QTest.mousePress(canvas, button, held, spots[0])
    for spot in spots[1:]:
        QTest.mouseMove(canvas, spot)
    QTest.mouseRelease(canvas, button, held, spots[-1])


def colour_at(canvas: MapCanvas, point: int) -> QColor:
    return canvas.grab().toImage().pixelColor(canvas.position_of(point))


def around(canvas: MapCanvas, points: list[int], by: int = 12) -> list[QPoint]:
    box = QRect(canvas.position_of(points[0]), canvas.position_of(points[-1])).normalized().adjusted(-by, -by, by, by)
    return [box.topLeft(), box.topRight(), box.bottomRight(), box.bottomLeft(), box.topLeft()]


# ---- showing


@pytest.mark.parametrize("positions", [[], [(3, 3)], [(0, 0), (1, 1)], [(0, 0), (1, 0), (2, 9)], [(5, 5)] * 9,
                                       [(1e4, 1e4), (1e4 + 1e-5, 1e4)]])
def test_hardly_any_points_and_points_all_at_one_place_are_shown(canvas, positions):
    view = a_map(np.array(positions, np.float32).reshape(-1, 2))
    canvas.set_map(view)
    canvas.fit()
    assert np.isfinite(canvas.map_view.scale)
    assert canvas.zoom == pytest.approx(1)
    for point in range(len(positions)):
        assert canvas.rect().contains(canvas.position_of(point))
    if positions:
        assert colour_at(canvas, 0) != theme.color("surface")
    assert f"Map of {len(positions)} document" in canvas.accessibleDescription()
    canvas.set_map(None)
    assert canvas.point_at(QPoint(300, 200)) == -1


def test_points_wear_the_colours_of_their_groups(shown):
    even, odd = colour_at(shown, 0), colour_at(shown, 1)
    wanted = theme.group_color(0)
    assert even != odd
    assert abs(even.hslHue() - wanted.hslHue()) < 12
    theme.apply(scheme="dark")
    assert colour_at(shown, 1) != odd


def test_what_was_not_found_turns_grey_and_stays(shown):
    lit = np.zeros(25, np.bool_)
    lit[0] = True
    shown.set_lit(lit)
    assert colour_at(shown, 0) == theme.group_color(0)
    grey = colour_at(shown, 1)
    assert grey.hslSaturation() < 30
    assert grey != theme.color("surface")
    assert shown.point_at(shown.position_of(1)) == 1


def test_hidden_groups_and_dates_are_neither_drawn_nor_hit_nor_selected(shown):
    shown.set_hidden_groups({1})
    shown.set_date_range(4, None)
    assert np.flatnonzero(shown.shown).tolist() == list(range(4, 25, 2))
    for point in (1, 2):
        assert colour_at(shown, point) == theme.color("surface")
        assert shown.point_at(shown.position_of(point)) == -1
    shown.select_shown()
    assert shown.selection.tolist() == list(range(4, 25, 2))
    shown.set_hidden_groups(set())
    shown.set_date_range(None, None)
    assert shown.shown.all()


def test_documents_without_a_date_hide_while_a_range_is_set(shown):
    view = shown.map
    dates = np.arange(25, dtype=np.float64)
    dates[7] = np.nan
    shown.set_colours(replace(two_groups(view), dates=dates))
    shown.set_date_range(0, 100)
    assert np.flatnonzero(~shown.shown).tolist() == [7]


def test_what_is_set_before_a_large_map_is_ready_belongs_to_it(canvas, qtbot):
    rng = np.random.default_rng(1)
    view = a_map(rng.normal(size=(60_000, 2)))
    with qtbot.waitSignal(canvas.ready):
        canvas.set_map(view)
        canvas.set_selection([59_999, 3])
        canvas.set_colours(two_groups(view))
        assert canvas.map is None
    assert canvas.map is view
    assert canvas.selection.tolist() == [3, 59_999]
    assert canvas.grab().toImage().pixelColor(300, 200) != theme.color("surface")


def test_only_the_newest_map_is_drawn(canvas, qtbot):
    canvas.set_map(a_map(np.random.default_rng(1).normal(size=(60_000, 2))))
    newest = a_map(grid())
    canvas.set_map(newest)
    qtbot.waitUntil(lambda: canvas.map is newest)
    qtbot.wait(150)
    assert canvas.map is newest


def test_the_next_map_keeps_selection_and_colours_by_document(shown, qtbot):
    shown.set_selection([3, 4])
    shown.set_chosen([4])
    old = shown.map
    order = np.array([*range(24, 2, -1)])  # documents 0 to 2 are gone, the others come in another order
    view = replace(a_map(grid()[:22] * 3), contents=old.contents[order], passages=old.passages[order])
    assert same_points(view, old).tolist() == order.tolist()
    shown.set_map(view)
    assert sorted(view.contents[shown.selection].tolist()) == old.contents[[3, 4]].tolist()
    assert shown._marks.colours.point_groups.tolist() == (order % 2).tolist()
    gone = replace(view, contents=view.contents + 5000, passages=view.passages + 5000)
    with qtbot.waitSignal(shown.selectionChanged):
        shown.set_map(gone)
    assert not len(shown.selection)


def test_a_refitted_map_stays_where_the_person_moved_it_another_one_is_fitted(shown):
    shown.zoom_by(3.0, QPointF(300, 200))
    before = shown.map_view
    shown.set_map(a_map(grid() + np.float32(0.01), moved=grid()))
    assert shown.map_view == before
    shown.set_map(a_map(grid() * 5))
    assert shown.zoom == pytest.approx(1)


def test_points_glide_from_where_they_were_unless_less_motion_is_asked_for(shown):
    view = a_map(grid()[::-1].copy())
    shown.set_map(view)
    assert shown._glide is None
    theme.apply(reduce_motion=False)
    shown.set_map(a_map(grid()), animate=True)
    assert shown._glide is not None
    assert 160 <= shown._glide_motion.duration() <= 600
    start = shown._glide[0][0]
    shown.grab()
    shown.finish_motion()
    assert shown._glide is None
    corner = shown.position_of(24)  # where point 0 was
    assert (start - (corner.x(), corner.y())).max() < 2
    shown.set_map(a_map(grid()[::-1].copy()), animate=False)
    assert shown._glide is None


# ---- labels


def test_labels_keep_away_from_what_lies_over_the_map_and_from_each_other(canvas):
    labels = tuple(MapLabel(f"Theme {at}", *map(float, spot), 5, 0, at) for at, spot in enumerate(grid() * 0.2))
    canvas.set_map(a_map(grid() * 0.2, labels=labels))
    block = QRect(0, 0, 600, 120)
    canvas.set_obstacles([block, QRect(500, 60, 100, 340)])
    canvas.grab()
    rects = [label.rect for label in canvas._labels]
    assert len(rects) > 5
    assert not any(rect.intersects(block) or rect.intersects(QRect(500, 60, 100, 340)) for rect in rects)
    assert not any(a.intersects(b) for at, a in enumerate(rects) for b in rects[:at])


def test_the_label_of_a_theme_stands_over_its_points_not_over_one_far_off():
    rng = np.random.default_rng(4)
    near = rng.normal(size=(12, 2)).astype(np.float32) * 0.1
    spots = np.vstack([near, np.float32([[0.1, -9.0]])])
    groups = (ColourGroup("Soil", 13, 0, 0),)
    by_theme = ColourView(ColourBy.THEME, np.zeros(13, np.int32), groups, None, "", "", np.full(13, np.nan))
    (_, top), = theme_tops(a_map(spots), by_theme).values()
    assert -0.6 < top <= near[:, 1].min() + 0.1


def test_labels_of_parts_come_with_zoom(canvas):
    labels = (MapLabel("Whole", 2, 2, 9, 0, 0), MapLabel("Part", 2.5, 1, 4, 1, 0))
    canvas.set_map(a_map(grid(), labels=labels))
    canvas.grab()
    assert len(canvas._labels) == 1
    canvas.zoom_by(1.6, QPointF(300, 200))
    canvas.grab()
    assert len(canvas._labels) == 2
    canvas.set_labels(())
    canvas.grab()
    assert not canvas._labels


def test_many_new_labels_are_painted_over_several_frames_the_weightiest_first(canvas):
    labels = tuple(MapLabel(f"T{at}", *map(float, spot), 100 - at, 0, at) for at, spot in enumerate(grid(6)))
    canvas.set_map(a_map(grid(6), labels=labels))
    canvas.repaint()
    assert sorted(key[0] for key in canvas._book._pictures) == list(range(16))
    for _ in range(3):
        QApplication.processEvents()
        canvas.repaint()
    assert len(canvas._labels) == 36
    assert len(canvas._book._pictures) == 36


def test_contours_lie_around_what_is_shown(shown):
    before = shown.grab().toImage()
    shown.set_contours(True)
    assert shown.grab().toImage() != before
    shown.set_contours(False)
    assert shown.grab().toImage() == before


# ---- moving


def test_a_fit_leaves_free_what_a_drawer_covers(shown):
    shown.fit(QMargins(0, 0, 250, 0))
    assert all(shown.position_of(point).x() <= 350 for point in range(25))
    shown.resize(700, 500)
    assert all(shown.position_of(point).x() <= 450 for point in range(25))


def test_dragging_moves_the_map_with_the_pointer_and_the_middle_button_with_any_tool(shown):
    before = shown.position_of(12)
    drag(shown, [QPoint(310, 230), QPoint(330, 230), QPoint(350, 250)])
    assert shown.position_of(12) - before == QPoint(40, 20)
    shown.tool = "lasso"
    drag(shown, [QPoint(350, 250), QPoint(330, 230), QPoint(310, 230)], button=Qt.MouseButton.MiddleButton)
    assert shown.position_of(12) == before


def test_the_wheel_zooms_towards_the_pointer_within_limits(shown):
    at = shown.position_of(6)
    for turn in (120, 120, -120):
        event = QWheelEvent(QPointF(at), QPointF(at), QPoint(), QPoint(0, turn), Qt.MouseButton.NoButton, NONE,
                            Qt.ScrollPhase.NoScrollPhase, False)
        QApplication.sendEvent(shown, event)
    assert shown.zoom == pytest.approx(1.0018 ** 120)
    assert (shown.position_of(6) - at).manhattanLength() <= 1
    for _ in range(60):
        shown.zoom_by(3.0)
    assert shown.zoom == pytest.approx(NEAREST)
    for _ in range(60):
        shown.zoom_by(1 / 3)
    assert shown.zoom == pytest.approx(FARTHEST)
    shown.fit()
    assert shown.zoom == pytest.approx(1)


def test_a_lens_on_its_way_begins_and_ends_where_it_should():
    first, last = Lens(0, 0, 10), Lens(4, 2, 80)
    assert first.towards(last, 0).scale == pytest.approx(10)
    end = first.towards(last, 1)
    assert (end.x, end.y, end.scale) == pytest.approx((4, 2, 80))
    assert 0 < first.towards(last, 0.5).x < 4
    assert fitting_lens(np.zeros((0, 2), np.float32), 300, 200, (0, 0, 0, 0)).scale > 0


def test_revealing_moves_only_as_far_as_needed(shown):
    shown.zoom_by(8.0, QPointF(shown.position_of(0)))
    assert not shown.rect().contains(shown.position_of(24))
    scale = shown.map_view.scale
    shown.reveal([24])
    assert shown.rect().contains(shown.position_of(24))
    assert shown.map_view.scale == scale
    view = shown.map_view
    shown.reveal([24])
    assert shown.map_view == view
    shown.reveal([0, 24])
    assert shown.rect().contains(shown.position_of(0))
    assert shown.rect().contains(shown.position_of(24))


# ---- pointing and selecting


def test_the_pointer_tells_what_is_under_it_once(shown):
    seen: list[int] = []
    shown.hovered.connect(lambda point, _: seen.append(point))
    at = shown.position_of(7)
    for spot in (at, at + QPoint(2, 1), at + QPoint(25, 25)):
        QTest.mouseMove(shown, spot)
    assert seen == [7, -1]


def test_clicks_name_the_point_or_the_ground(shown):
    clicked: list[int] = []
    opened: list[int] = []
    shown.clicked.connect(clicked.append)
    shown.doubleClicked.connect(opened.append)
    QTest.mouseClick(shown, LEFT, NONE, shown.position_of(8) + QPoint(2, 2))
    QTest.mouseClick(shown, LEFT, NONE, shown.position_of(8) + QPoint(28, 28))
    QTest.mouseDClick(shown, LEFT, NONE, shown.position_of(9))
    assert clicked == [8, -1]
    assert opened == [9]


def test_ctrl_click_takes_a_point_in_and_out(shown):
    for wanted in ([8], []):
        QTest.mouseClick(shown, LEFT, Qt.KeyboardModifier.ControlModifier, shown.position_of(8))
        assert shown.selection.tolist() == wanted


@pytest.mark.parametrize("tool", ["lasso", "rectangle"])
def test_what_is_encircled_is_selected_added_and_removed(shown, tool):
    said: list[list[int]] = []
    shown.selectionChanged.connect(lambda rows: said.append(rows.tolist()))
    shown.tool = tool

    def encircle(points: list[int], held: Qt.KeyboardModifier = NONE) -> None:
        corners = around(shown, points)
        drag(shown, corners if tool == "lasso" else corners[:3:2], held)

    encircle([0, 1])
    encircle([5, 6], Qt.KeyboardModifier.ShiftModifier)
    encircle([0, 5], Qt.KeyboardModifier.AltModifier)
    encircle([12, 12])
    assert said == [[0, 1], [0, 1, 5, 6], [1, 6], [12]]
    assert "1 selected" in shown.accessibleDescription()
    QTest.keyClick(shown, Key.Key_Escape)
    assert said[-1] == []


def test_escape_gives_up_a_line_and_keeps_the_selection(shown):
    shown.set_selection([4])
    shown.tool = "lasso"
    spots = around(shown, [0, 6])
    QTest.mousePress(shown, LEFT, NONE, spots[0])
    for spot in spots[1:3]:
        QTest.mouseMove(shown, spot)
    assert shown._line is not None
    QTest.keyClick(shown, Key.Key_Escape)
    assert shown._line is None
    QTest.mouseRelease(shown, LEFT, NONE, spots[3])
    assert shown.selection.tolist() == [4]


def test_a_selection_that_the_page_sets_sends_nothing_and_keeps_the_line_if_it_is_the_same(shown, qtbot):
    shown.tool = "rectangle"
    drag(shown, around(shown, [0, 1])[:3:2])
    assert shown._outline is not None
    with qtbot.assertNotEmitted(shown.selectionChanged):
        shown.set_selection([1, 0])
        assert shown._outline is not None
        shown.set_selection([2, 99, -4])
    assert shown._outline is None
    assert shown.selection.tolist() == [2]


def test_a_menu_names_its_point(shown, qtbot):
    from PySide6.QtGui import QContextMenuEvent

    at = shown.position_of(3)
    with qtbot.waitSignal(shown.menuAsked) as asked:
        QApplication.sendEvent(shown, QContextMenuEvent(QContextMenuEvent.Reason.Mouse, at, shown.mapToGlobal(at)))
    assert asked.args == [3, shown.mapToGlobal(at)]


# ---- the keyboard


def test_arrows_walk_from_point_to_point_and_space_selects(shown):
    heard: list[int] = []
    shown.hovered.connect(lambda point, _: heard.append(point))
    for key in (Key.Key_Right, Key.Key_Right, Key.Key_Down, Key.Key_Left, Key.Key_Up):
        QTest.keyClick(shown, key)
    assert heard == [12, 13, 18, 17, 12]
    QTest.keyClick(shown, Key.Key_Space)
    assert shown.selection.tolist() == [12]
    QTest.keyClick(shown, Key.Key_Space)
    assert not len(shown.selection)


def test_walking_leaves_hidden_points_out_and_ends_at_the_rim(shown):
    shown.set_hidden_groups({1})
    shown.focus_point(0)
    for _ in range(6):
        QTest.keyClick(shown, Key.Key_Right)
    assert shown.focused_point == 4


def test_plus_grows_the_selection_from_the_point_and_minus_takes_it_back(shown):
    shown.focus_point(12)
    QTest.keyClick(shown, Key.Key_Plus)
    first = shown.selection.tolist()
    assert 12 in first
    assert len(first) == 8
    QTest.keyClick(shown, Key.Key_Plus)
    assert set(first) < set(shown.selection.tolist())
    QTest.keyClick(shown, Key.Key_Minus)
    assert shown.selection.tolist() == first


def test_plus_zooms_while_the_keyboard_is_on_no_point(shown):
    QTest.keyClick(shown, Key.Key_Plus)
    assert shown.zoom == pytest.approx(1.5)
    QTest.keyClick(shown, Key.Key_F)
    assert shown.zoom == pytest.approx(1)


def test_space_held_moves_the_map_with_the_lasso_and_selects_nothing(shown):
    shown.tool = "lasso"
    shown.focus_point(12)
    before = shown.position_of(12)
    QTest.keyPress(shown, Key.Key_Space)
    drag(shown, [QPoint(310, 230), QPoint(330, 230), QPoint(350, 250)])
    QTest.keyRelease(shown, Key.Key_Space)
    assert shown.position_of(12) - before == QPoint(40, 20)
    assert not len(shown.selection)


def test_enter_opens_ctrl_and_an_arrow_moves_escape_leaves(shown, qtbot):
    shown.focus_point(6)
    with qtbot.waitSignal(shown.doubleClicked) as opened:
        QTest.keyClick(shown, Key.Key_Return)
    assert opened.args == [6]
    before = shown.position_of(6)
    QTest.keyClick(shown, Key.Key_Right, Qt.KeyboardModifier.ControlModifier)
    assert shown.position_of(6).x() < before.x()
    assert shown.focused_point == 6
    QTest.keyClick(shown, Key.Key_Escape)
    assert shown.focused_point == -1


def test_a_million_points_keep_the_window_awake(canvas, qtbot):
    # not a benchmark (that is tests/benchmarks/map_canvas.py): ten times the promise
    view = a_map(np.random.default_rng(4).normal(size=(1_000_000, 2)))
    with qtbot.waitSignal(canvas.ready):
        began = time.thread_time()
        canvas.set_map(view)
        assert time.thread_time() - began < 0.3
    canvas.grab()

    def move() -> None:
        canvas.pan_by(2, 3)
        canvas.repaint()

    assert least_cpu(move, enough=0.16) < 0.16
