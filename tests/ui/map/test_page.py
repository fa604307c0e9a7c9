"""The Map page: what it asks for, what it shows, and its states."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QWidget

from sbert_desktop.app.atlas_views import ColourBy, MapRequest, MapUnit
from sbert_desktop.domain import Failure, Outcome, Query
from sbert_desktop.ui.map import canvas
from sbert_desktop.ui.map.advanced_sheet import AdvancedSheet
from sbert_desktop.ui.map.deeds import plain_colours
from sbert_desktop.ui.map.points import only
from tests.ui.fake_map import FIRST, view_of
from tests.ui.map.conftest import called, in_cluster, program_of, select

WINDOW_PAGES = ("search", "duplicates", "clusters", "map", "library", "collections")

pytestmark = pytest.mark.gui


def test_opening_the_page_asks_for_the_map_once_and_not_again(make_map, qtbot) -> None:
    page = make_map()
    assert len(called(page, "map")) == 1
    assert called(page, "map")[0][1].refit is False
    for _ in range(3):
        page.window().show_page("library")
        page.window().show_page("map")
    qtbot.wait(30)
    assert len(called(page, "map")) == 1


def test_a_library_that_grew_is_asked_for_quietly_and_the_old_points_stay(make_map, qtbot) -> None:
    page = make_map()
    before = page.finder.view.positions
    program = program_of(page)
    program.folders = (replace(program.folders[0], documents=5000, embedded=5000), *program.folders[1:])
    program.refresh()
    qtbot.waitUntil(lambda: len(called(page, "map")) == 2)
    qtbot.waitUntil(lambda: not page.finder.busy)
    assert not page.progress.isVisible()
    assert page.finder.view.positions is before


def test_progress_can_be_cancelled_and_without_a_map_the_page_offers_to_draw_one(make_map, qtbot) -> None:
    page = make_map(prepare=lambda app: setattr(app, "hold_map", True), wait=False)
    qtbot.waitUntil(lambda: "120 of 400" in page.progress.label.text())
    assert page.progress.isVisible()
    qtbot.mouseClick(page.progress.cancel, Qt.MouseButton.LeftButton)
    assert called(page, "cancel")
    program_of(page).let_map_go(Outcome.CANCELLED)
    qtbot.waitUntil(lambda: page.states.shown() is page.states.stopped)
    program_of(page).hold_map = False
    qtbot.mouseClick(page.states.stopped.button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(page.has_map)
    assert page.states.shown() is None


def test_a_preview_is_drawn_before_the_map_is_there_and_gets_no_colours(make_map, qtbot) -> None:
    page = make_map(prepare=lambda app: setattr(app, "hold_map", True), wait=False)
    qtbot.waitUntil(page.progress.isVisible)
    program_of(page).let_map_go(preview=True)
    qtbot.waitUntil(page.has_map)
    assert page.finder.view.preview
    assert not called(page, "map_colours")
    assert page.progress.isVisible()
    program_of(page).let_map_go()
    qtbot.waitUntil(lambda: page.finder.colours is not None)
    assert not page.finder.view.preview
    assert not page.progress.isVisible()


@pytest.mark.parametrize(("prepare", "state", "words"), [
    (lambda app: setattr(app, "map_state", "none"), "nothing", "nothing to lay out"),
    (lambda app: app.fail.update(map=Failure("x", "The child ended.", "Try again.")), "failed", "The child ended."),
])
def test_states_say_why_there_is_no_map(make_map, qtbot, prepare, state: str, words: str) -> None:
    page = make_map(prepare=prepare, wait=False)
    wanted = getattr(page.states, state)
    qtbot.waitUntil(lambda: page.states.shown() is wanted)
    assert words in wanted.sentence.text()
    assert not page.toolbar.isVisible()


def test_without_folders_nothing_is_asked_and_one_can_be_added(make_map, qtbot) -> None:
    page = make_map("empty", wait=False)
    qtbot.waitUntil(lambda: page.states.shown() is page.states.empty)
    assert not called(page, "map")
    page.desk.addFoldersRequested.disconnect(page.window().add_folders_from)  # it would ask for a folder, and wait
    with qtbot.waitSignal(page.desk.addFoldersRequested):
        page.states.empty.clicked.emit()


def test_three_documents_are_shown_with_a_sentence_and_no_offer_of_clusters(make_map, qtbot) -> None:
    page = make_map(prepare=lambda app: setattr(app, "map_state", "few"))
    assert len(page.finder.view) == 3
    assert page.note.isVisible()
    assert "3 documents" in page.note.label.text()
    assert page.legend.find_button.isHidden()
    assert page.badge.accessibleName() == "Map quality exact"


def test_without_clusters_the_legend_leads_to_them(make_map, qtbot) -> None:
    page = make_map(prepare=lambda app: setattr(app, "clusters_known", False))
    page.desk.commands.clusters = lambda *_, **__: None
    page.finder.ask_colours(ColourBy.THEME, again=True)
    qtbot.waitUntil(page.legend.find_button.isVisible)
    assert "not sorted" in page.legend.note.text()
    with qtbot.waitSignal(page.desk.pageRequested) as wanted:
        page.legend.find_button.click()
    assert wanted.args == ["clusters"]


def test_redraw_refits_fades_the_old_map_and_keeps_the_selection(make_map, qtbot) -> None:
    page = make_map()
    select(page, in_cluster(page, 3))
    program = program_of(page)
    program.hold_map = True
    page.redraw()
    qtbot.waitUntil(lambda: "Placing" in page.progress.label.text())
    request = called(page, "map")[-1][1]
    assert request.refit
    assert not page.toolbar.actions_of["redraw"].isEnabled()
    program.let_map_go()
    qtbot.waitUntil(lambda: not page.finder.busy)
    qtbot.waitUntil(lambda: page.finder.colours is not None)
    assert len(page.points) == 60
    assert page.drawer.isVisible()


def test_points_of_a_large_map_that_is_being_made_ready_are_taken_for_no_other_documents(
    make_map, qtbot, monkeypatch
) -> None:
    page = make_map()
    points = in_cluster(page, 3)
    select(page, points)
    wanted = set(page.selected_contents().tolist())
    monkeypatch.setattr(canvas, "AT_ONCE", 0)
    waiting: list[tuple] = []
    page.canvas._errands = SimpleNamespace(run=lambda work, done: waiting.append((work, done)))
    program = program_of(page)
    moved = only(program.map_view(), np.roll(np.arange(4102, dtype=np.int32), 900))  # each point has another number
    monkeypatch.setattr(program, "map_view", lambda request: replace(moved, request=request))
    page.finder.ask(quiet=True)
    qtbot.waitUntil(lambda: not page.finder.busy and page.finder.colours is not None)
    assert waiting
    assert set(page.selected_contents().tolist()) == wanted
    page.drawer.export.click()
    page.canvas.clicked.emit(20)
    page.canvas.hovered.emit(20, QPoint(300, 300))
    page.canvas.select_shown()
    qtbot.wait(200)
    assert not called(page, "export_map")
    assert not called(page, "map_card")
    while waiting:
        work, done = waiting.pop(0)
        done(work())
    assert set(page.selected_contents().tolist()) == wanted
    assert page.points.tolist() == sorted((points + 900) % 4102)
    page.canvas.clicked.emit(20)
    assert called(page, "map_card") == [("map_card", 20)]
    qtbot.waitUntil(page.preview.is_open)
    page.preview.close()


def have_a_large_map_come(page, qtbot) -> tuple:
    waiting: list[tuple] = []
    page.canvas._errands = SimpleNamespace(run=lambda work, done: waiting.append((work, done)))
    program = program_of(page)
    more = view_of(np.resize(program.map_view().positions, (60_000, 2)), MapRequest())  # a large one
    program.map_view = lambda request: more
    program.colours = lambda view, by, query: replace(plain_colours(view), by=by)
    page.finder.ask(quiet=True)
    qtbot.waitUntil(lambda: page.finder.view is more)
    assert waiting
    return more, waiting


def test_show_on_the_map_waits_for_a_large_one_that_is_being_made_ready(make_map, qtbot) -> None:
    page = make_map()
    more, waiting = have_a_large_map_come(page, qtbot)
    content = int(more.contents[more.starts[59_999]])  # there are no such points on the map that is still drawn
    page.take_among((content,), "the newest")
    assert not page.drawer.isVisible()
    while waiting:
        work, done = waiting.pop(0)
        done(work())
    assert page.drawer.isVisible()
    assert page.points.tolist() == page.canvas.selection.tolist() == [59_999]


def test_what_is_selected_for_a_large_map_that_comes_is_let_go_again_before_it_is_there(make_map, qtbot) -> None:
    page = make_map()
    more, waiting = have_a_large_map_come(page, qtbot)
    page.select_contents((int(more.contents[more.starts[59_999]]),))
    page.reveal_selection()  # it has no place on the map that is still drawn
    page.clear_selection()
    while waiting:
        work, done = waiting.pop(0)
        done(work())
    assert page.points.tolist() == page.canvas.selection.tolist() == []
    assert not page.drawer.isVisible()


def test_the_advanced_sheet_sets_the_rules_and_only_redraw_uses_them(make_map, qtbot) -> None:
    page = make_map()
    page.edit_rules()
    sheet = page.window().findChild(AdvancedSheet)
    assert sheet.isVisible()
    assert not sheet.reset.isEnabled()
    sheet.neighbours.setValue(40)
    sheet.distance.setValue(0.3)
    sheet.seed.setValue(7)
    assert sheet.reset.isEnabled()
    assert len(called(page, "map")) == 1
    sheet.redraw.click()
    rules = called(page, "map")[-1][1].rules
    assert (rules.neighbours, rules.minimum_distance, rules.seed) == (40, 0.3, 7)
    assert called(page, "map")[-1][1].refit
    qtbot.waitUntil(lambda: not page.finder.busy)
    page.edit_rules()
    sheet.reset.click()
    assert sheet.rules().neighbours == 15
    sheet.method.changed.emit("pca")
    sheet.method.set_value("pca")
    sheet.close_sheet()


def test_a_note_with_redraw_in_it_offers_just_that_and_can_be_put_away(make_map, qtbot) -> None:
    def prepare(app: object) -> None:
        app.fresh, app.map_note = 12, "12 documents came since this map was drawn; Redraw to lay them out."

    page = make_map(prepare=prepare)
    assert page.note.isVisible()
    assert not page.note.redraw.isHidden()
    page.note.close_button.click()
    assert not page.note.isVisible()
    page.finder.ask(quiet=True)
    qtbot.waitUntil(lambda: not page.finder.busy)
    assert not page.note.isVisible()
    page.note.redrawWanted.emit()
    assert called(page, "map")[-1][1].refit


@pytest.mark.parametrize("by", list(ColourBy))
def test_every_colouring_is_asked_for_and_fills_the_legend(make_map, qtbot, by: ColourBy) -> None:
    page = make_map()
    page.desk.set_found(Query("deposit"), (FIRST + 3,))
    page.toolbar.colour_actions[by].trigger()
    qtbot.waitUntil(lambda: page.finder.colours is not None and page.finder.colours.by is by)
    asked = [call for call in called(page, "map_colours") if call[1] is by]
    assert len(asked) == 1
    assert asked[0][2] == (Query("deposit") if by is ColourBy.QUERY else None)
    scale = by in (ColourBy.DATE, ColourBy.QUERY)
    assert page.legend.scale.isHidden() != scale
    assert (page.legend.list.rows.rowCount() > 0) != scale
    page.colour_by(ColourBy.THEME)
    page.colour_by(by)
    qtbot.wait(20)
    assert len([call for call in called(page, "map_colours") if call[1] is by]) == 1  # it is remembered


def test_the_legend_isolates_and_toggles_groups_by_pointer_and_by_keys(make_map, qtbot) -> None:
    page = make_map()
    legend = page.legend.list
    spot = legend.visualRect(legend.rows.index(3)).center()
    qtbot.mouseClick(legend.viewport(), Qt.MouseButton.LeftButton, pos=spot)
    colours = page.finder.colours
    assert np.array_equal(page.canvas.shown, colours.point_groups == 3)
    qtbot.mouseClick(legend.viewport(), Qt.MouseButton.LeftButton, pos=spot)
    assert page.canvas.shown.all()
    qtbot.mouseClick(legend.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ControlModifier, spot)
    assert np.array_equal(page.canvas.shown, colours.point_groups != 3)
    assert page.toolbar.filter.value() == "1 hidden"
    legend.setCurrentIndex(legend.rows.index(3))
    qtbot.keyClick(legend, Qt.Key.Key_Space)
    assert page.canvas.shown.all()
    qtbot.keyClick(legend, Qt.Key.Key_Return)
    assert page.legend.hidden() == {-1, *range(10)} - {3}
    page.colour_by(ColourBy.TYPE)
    qtbot.waitUntil(lambda: page.finder.colours is not None)
    assert page.canvas.shown.all()
    assert not page.legend.hidden()


def test_the_filter_narrows_by_date_and_says_so(make_map, qtbot) -> None:
    page = make_map()
    page.open_filter()
    panel = page.filter_panel
    assert panel.isVisible()
    panel.slider.setFocus()
    for _ in range(5):
        qtbot.keyClick(panel.slider, Qt.Key.Key_PageUp)
    low, high = panel.dates()
    assert high is None
    dates = page.finder.colours.dates
    assert np.array_equal(page.canvas.shown, dates >= low)
    assert page.toolbar.filter.value().startswith("Since ")
    assert panel.low.date().year() == 2019
    panel.high.setDate(panel.low.date().addYears(1))
    assert panel.dates()[1] is not None
    assert " to " in page.toolbar.filter.value()
    panel.clear.click()
    assert panel.dates() == (None, None)
    assert page.toolbar.filter.value() == ""
    panel.list.item(0).setCheckState(Qt.CheckState.Unchecked)
    assert page.legend.hidden() == {0}
    panel.clear.click()
    qtbot.keyClick(panel, Qt.Key.Key_Escape)
    assert not panel.isVisible()


def test_the_quality_stands_in_words_with_its_figures_behind(make_map) -> None:
    page = make_map()
    assert page.badge.accessibleName() == "Map quality good"
    assert "0.94" in page.badge.accessibleDescription()
    assert "47%" in page.badge.toolTip()
    page.open_quality()
    assert page.quality_panel.isVisible()
    assert "alike" in page.quality_panel.sentence.text()
    page.open_quality()
    assert not page.quality_panel.isVisible()


def test_the_card_comes_after_a_moment_and_never_under_the_pointer(make_map, qtbot) -> None:
    page = make_map()
    room = page.free_room()
    for spot in (QPoint(300, 300), QPoint(room.right() - 5, room.bottom() - 5), QPoint(4, 4)):
        page.canvas.hovered.emit(7, spot)
        qtbot.waitUntil(page.card.isVisible)
        assert not page.card.geometry().contains(spot)
        page.canvas.hovered.emit(-1, spot)
        assert not page.card.isVisible()
    assert "+ 3 more" in page.card.more.text()
    assert page.card.testAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
    page.canvas.hovered.emit(9, QPoint(300, 300))
    page.canvas.hovered.emit(-1, QPoint(300, 300))
    qtbot.waitUntil(lambda: not page.card.isVisible())
    qtbot.wait(200)
    assert not page.card.isVisible()


def test_a_click_shows_the_document_and_a_double_click_opens_its_file(make_map, qtbot) -> None:
    page = make_map()
    chosen: list[object] = []
    page.desk.chosenChanged.connect(lambda key, contents: chosen.append((key, contents)))
    page.canvas.clicked.emit(20)
    qtbot.waitUntil(page.preview.is_open)
    content = int(page.finder.view.contents[page.finder.view.starts[20]])
    assert page.preview.shown.content == content
    assert chosen[-1] == ("map", (content,))
    qtbot.waitUntil(lambda: bool(called(page, "preview")))
    page.canvas.doubleClicked.emit(21)
    qtbot.waitUntil(lambda: bool(called(page, "open_file")))
    page.preview.close()
    assert not page.desk.inspector.isVisible()


def test_points_can_be_passages_and_what_is_chosen_is_remembered(make_map, qtbot) -> None:
    page = make_map()
    page.toolbar.actions_of["passages"].trigger()
    assert called(page, "map")[-1][1].unit is MapUnit.PASSAGES
    qtbot.waitUntil(lambda: page.finder.colours is not None and not page.finder.busy)
    assert page.legend.count.text().endswith("passages")
    page.toolbar.actions_of["contours"].trigger()
    page.toolbar.actions_of["labels"].trigger()
    page.colour_by(ColourBy.FOLDER)
    page.fold_legend()
    kept = page.save_state()
    assert kept == {"unit": "passages", "by": "folder", "contours": True, "labels": False, "folded": True}
    qtbot.waitUntil(lambda: page.finder.colours is not None)
    page.restore_state({"unit": "documents", "by": "theme", "contours": False, "labels": True, "folded": False})
    page.restore_state(kept)
    assert page.save_state() == kept
    page.restore_state({"unit": 5, "by": "nonsense"})
    assert page.save_state()["by"] == "folder"


def test_letters_choose_tools_on_the_map(make_map, qtbot) -> None:
    page = make_map()
    page.window().activateWindow()
    page.canvas.setFocus()
    qtbot.waitUntil(page.canvas.hasFocus)
    for key, tool in ((Qt.Key.Key_L, "lasso"), (Qt.Key.Key_R, "rectangle"), (Qt.Key.Key_H, "pan")):
        qtbot.keyClick(page.canvas, key)
        assert page.canvas.tool == tool
        assert page.toolbar.tools[tool].isChecked()
    page.toolbar.tools["lasso"].click()
    assert page.canvas.tool == "lasso"


def test_every_command_of_the_palette_is_there_and_named_once(make_map, qtbot) -> None:
    page = make_map()
    actions = page.actions_list()
    names = [action.name for action in actions]
    assert len(names) == len(set(names))
    selected = next(action for action in actions if action.name == "map_search_selected")
    assert not selected.enabled()
    select(page, in_cluster(page, 1))
    assert next(a for a in page.actions_list() if a.name == "map_search_selected").enabled()
    fit = next(action for action in actions if action.name == "map_fit")
    fit.run()


@pytest.mark.parametrize(("size", "text"), [((960, 640), 100), ((1280, 800), 200), ((720, 480), 150)])
def test_nothing_that_lies_over_the_map_leaves_the_page_or_lies_over_another(make_map, qtbot, size, text) -> None:
    page = make_map(size=size)
    page.desk.settings.set("appearance.text_scale", text)
    page.desk.set_found(Query("deposit"), (FIRST + 3,))
    select(page, in_cluster(page, 3))
    qtbot.wait(60)
    over: list[QWidget] = [page.toolbar, page.badge, page.chip, page.drawer, page.legend]
    shown = [widget for widget in over if widget.isVisible()]
    assert page.drawer in shown
    if page.drawer.width() < page.width():  # else there is no room beside it, and it takes the page
        assert page.toolbar in shown
    for at, widget in enumerate(shown):
        assert page.rect().contains(widget.geometry()), (widget.objectName(), widget.geometry(), page.rect())
        for other in shown[at + 1:]:
            assert not widget.geometry().intersects(other.geometry()), (widget.objectName(), other.objectName())


def test_selecting_is_said_to_a_screen_reader(make_map, qtbot, monkeypatch) -> None:
    page = make_map()
    said: list[str] = []
    monkeypatch.setattr(QAccessible, "isActive", staticmethod(lambda: True))
    monkeypatch.setattr(QAccessible, "updateAccessibility", staticmethod(
        lambda event: said.append(event.message()) if hasattr(event, "message") else None))
    select(page, in_cluster(page, 3, 10))
    number = len(page.selected_contents())
    assert f"{number} documents selected" in said
    page.clear_selection()
    assert "Nothing selected" in said
