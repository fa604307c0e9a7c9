"""The drawer of the selection, what leads from it, and what other pages show on the map."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication, QMenu

from sbert_desktop.app.atlas_views import ColourBy
from sbert_desktop.domain import Query
from sbert_desktop.ui.collections.collect_sheet import CollectSheet
from sbert_desktop.ui.map import deeds
from sbert_desktop.ui.map.picture_sheet import PictureSheet
from sbert_desktop.ui.map.points import only, only_colours
from tests.ui.fake_map import FIRST
from tests.ui.map.conftest import called, in_cluster, program_of, select

WINDOW_PAGES = ("search", "duplicates", "clusters", "map", "library", "collections")

pytestmark = pytest.mark.gui


def ready(page, qtbot) -> None:
    qtbot.waitUntil(lambda: page.drawer.rows.row_at(0) is not None)


def test_selecting_opens_the_drawer_with_facts_and_rows(make_map, qtbot) -> None:
    page = make_map()
    points = in_cluster(page, 3)
    select(page, points)
    ready(page, qtbot)
    view = page.finder.view
    number = int(view.counts[points].sum())
    assert page.drawer.title.full_text() == f"{number} documents selected"
    assert page.drawer.line.full_text().startswith("Soil research, ")
    assert "folders" in page.drawer.line.full_text()
    assert page.drawer.export.label() == f"Export {number}"
    assert page.drawer.rows.rowCount() == number
    page.canvas.selectionChanged.emit(np.zeros(0, np.int32))
    assert not page.drawer.isVisible()


def test_the_most_central_come_first_and_other_orders_sort(make_map, qtbot) -> None:
    page = make_map()
    points = in_cluster(page, 3)
    select(page, points)
    ready(page, qtbot)
    view, rows = page.finder.view, page.drawer.rows
    places = view.positions[points]
    middle = np.median(places, axis=0)
    nearest = int(points[((places - middle) ** 2).sum(axis=1).argmin()])
    assert int(rows.contents[0]) == int(view.contents[view.starts[nearest]])
    for order in ("title", "newest", "folder"):
        page.drawer.sort.setCurrentIndex(page.drawer.sort.findData(order))
        page.drawer.sort.activated.emit(page.drawer.sort.currentIndex())
        qtbot.waitUntil(lambda: len(rows.known()) == rows.rowCount())
        found = rows.known()
        if order == "title":
            names = [row.title.casefold() if row.format == "eml" else row.path.name.casefold() for row in found]
            assert names == sorted(names)
        elif order == "folder":
            folders = [str(row.path if row.member else row.path.parent).casefold() for row in found]
            assert folders == sorted(folders)


def test_rows_are_fetched_by_the_page_and_only_where_somebody_looks(make_map, qtbot) -> None:
    page = make_map()
    select(page, np.arange(4102, dtype=np.int32))
    ready(page, qtbot)
    qtbot.wait(80)
    asked = called(page, "document_rows")
    assert len(asked) == 1
    assert len(asked[0][1]) == 500
    page.drawer.list.scrollToBottom()
    qtbot.waitUntil(lambda: page.drawer.rows.row_at(page.drawer.rows.rowCount() - 1) is not None)
    assert len(called(page, "document_rows")) == 2


def test_enter_shows_a_document_and_the_arrows_lead_the_preview_along(make_map, qtbot) -> None:
    page = make_map()
    page.window().activateWindow()
    select(page, in_cluster(page, 3))
    ready(page, qtbot)
    view = page.drawer.list
    view.setFocus()
    view.setCurrentIndex(page.drawer.rows.index(0))
    assert not page.preview.is_open()
    qtbot.keyClick(view, Qt.Key.Key_Return)
    qtbot.waitUntil(page.preview.is_open)
    assert page.preview.shown == page.drawer.rows.row_at(0)
    view.setFocus()
    qtbot.keyClick(view, Qt.Key.Key_Down)
    assert page.preview.shown == page.drawer.rows.row_at(1)
    qtbot.keyClick(view, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: bool(called(page, "open_file")))
    qtbot.keyClick(view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QApplication.clipboard().text() == str(page.drawer.rows.row_at(1).path)
    qtbot.keyClick(view, Qt.Key.Key_Escape)
    assert not page.drawer.isVisible()
    assert len(page.points) == 0
    page.preview.close()


@pytest.mark.parametrize(("button", "where"), [("search", "search"), ("duplicates", "duplicates")])
def test_buttons_go_on_with_all_documents_selected(make_map, qtbot, button: str, where: str) -> None:
    page = make_map()
    select(page, in_cluster(page, 3))
    contents = set(page.selected_contents().tolist())
    with qtbot.waitSignal(page.desk.amongRequested) as wanted:
        getattr(page.drawer, button).click()
    assert wanted.args[0] == where
    assert set(wanted.args[1]) == contents
    assert wanted.args[2] == f"{len(contents)} documents of the map"


def test_the_menu_of_the_selection_leads_where_the_program_can_go(make_map, qtbot) -> None:
    page = make_map()
    select(page, in_cluster(page, 3))
    page.desk.commands.clusters = lambda *_, **__: None
    made = page.deeds.selection_menu()
    texts = [action.text().split("\t")[0] for action in made.actions() if action.text()]
    assert "Sort only these into clusters" in texts
    with qtbot.waitSignal(page.desk.amongRequested) as wanted:
        next(action for action in made.actions() if action.text().startswith("Label pairs of these")).trigger()
    assert wanted.args[0] == "train"
    with qtbot.waitSignal(page.desk.amongRequested) as wanted:
        next(action for action in made.actions() if action.text().startswith("Sort")).trigger()
    assert wanted.args[0] == "clusters"
    made.close()
    page.desk.commands.label = lambda *_, **__: None
    assert any("Label pairs" in action.text() for action in page.deeds.selection_menu().actions())
    row = page.deeds.row_menu((program_of(page).map_row(FIRST + 1),), QPoint())
    assert any(action.text().startswith("Show in folder") for action in row.actions())
    for opened in page.findChildren(QMenu):
        if opened.objectName() in ("map_selection_menu", "map_row_menu"):
            opened.deleteLater()


def test_a_selection_becomes_a_collection_by_a_name(make_map, qtbot) -> None:
    page = make_map()
    select(page, in_cluster(page, 3))
    page.drawer.own_name.click()
    sheet = page.window().findChild(CollectSheet)
    assert sheet.isVisible()
    assert sheet.edit.text() == "Soil research"
    sheet.add.click()
    call = called(page, "collect_documents")[0]
    assert call[1] == "Soil research"
    assert set(call[2]) == set(page.selected_contents().tolist())


def test_a_library_that_cannot_be_written_keeps_no_collection_of_it(make_map) -> None:
    page = make_map("readonly")
    select(page, in_cluster(page, 3))
    assert not page.drawer.own_name.isEnabled()
    assert page.drawer.search.isEnabled()


def test_exports_write_the_map_or_the_selection_alone(make_map, qtbot, monkeypatch, tmp_path: Path) -> None:
    page = make_map()
    points = in_cluster(page, 3)
    for kind in ("csv", "html"):
        monkeypatch.setattr(deeds, "ask_target", lambda *_, kind=kind: tmp_path / f"map.{kind}")
        page.toolbar.actions_of[kind].trigger()
        call = called(page, "export_map")[-1]
        assert call[3] == tmp_path / f"map.{kind}"
        assert len(call[1]) == 4102
        assert call[4][0].startswith("#")
    select(page, points)
    page.drawer.export.click()
    call = called(page, "export_map")[-1]
    view, colours = call[1], call[2]
    assert len(view) == len(points) == len(colours.point_groups)
    assert set(view.contents.tolist()) == set(page.selected_contents().tolist())
    assert view.starts[-1] == len(view.contents)
    qtbot.waitUntil(lambda: "Saved map.html" in page.window().toast.label.full_text())


def test_an_export_has_the_colours_of_its_own_map_though_another_comes_while_the_name_is_asked_for(
    make_map, qtbot, monkeypatch, tmp_path: Path
) -> None:
    page = make_map()
    points = in_cluster(page, 3)
    select(page, points)
    drawn, known = page.finder.view, page.finder.colours
    few = np.arange(40, dtype=np.int32)
    less, its_colours = only(drawn, few), only_colours(known, few)

    def have_another_come(*_: object) -> Path:
        page.finder.view, page.finder.kept = less, {its_colours.by: its_colours}
        return tmp_path / "map.csv"

    monkeypatch.setattr(deeds, "ask_target", have_another_come)
    page.deeds.export("csv")
    page.finder.view, page.finder.kept = drawn, {known.by: known}
    page.deeds.export_selection()
    page.finder.view, page.finder.kept = drawn, {known.by: known}
    for call, wanted in zip(called(page, "export_map"), (known, only_colours(known, points)), strict=True):
        assert len(call[1]) == len(call[2].point_groups)
        assert np.array_equal(call[2].point_groups, wanted.point_groups)


def test_a_picture_is_asked_for_in_millimetres_and_written(make_map, qtbot, monkeypatch, tmp_path: Path) -> None:
    page = make_map()
    page.toolbar.actions_of["picture"].trigger()
    sheet = page.window().findChild(PictureSheet)
    assert sheet.isVisible()
    assert (sheet.pixels().width(), sheet.pixels().height()) == (3508, 2480)  # A4 at 300 dots per inch
    assert not sheet.wide.isEnabled()
    sheet.paper.set_value("own")
    sheet.paper.changed.emit("own")
    sheet.wide.setValue(100)
    sheet.dpi.setValue(254)
    assert sheet.pixels().width() == 1000
    sheet.tall.setValue(70)
    monkeypatch.setattr(deeds, "ask_target", lambda *_: tmp_path / "map.png")
    page.legend.list.isolateWanted.emit(3)
    sheet.save.click()
    assert not sheet.isVisible()
    qtbot.waitUntil(lambda: "Saved map.png" in page.window().toast.label.full_text())
    image = QImage(str(tmp_path / "map.png"))
    assert (image.width(), image.height()) == (1000, 700)
    assert image.dotsPerMeterX() == 10_000


def test_results_of_a_search_are_lit_and_the_chip_puts_them_out(make_map, qtbot) -> None:
    page = make_map()
    lit: list[object] = []
    page.canvas.set_lit = lit.append
    contents = page.finder.view.contents[[5, 9, 700]].tolist()
    page.desk.set_found(Query("deposit"), tuple(contents))
    assert page.chip.isVisible()
    assert page.chip.value() == "deposit"
    assert int(lit[-1].sum()) == 3
    page.chip.cleared.emit()
    assert lit[-1] is None
    assert not page.chip.isVisible()
    page.desk.set_found(Query("boiler"), tuple(contents[:1]))
    assert int(lit[-1].sum()) == 1
    page.desk.set_found(None, ())
    assert lit[-1] is None
    assert not page.chip.isVisible()


def test_another_search_colours_by_similarity_anew(make_map, qtbot) -> None:
    page = make_map()
    page.desk.set_found(Query("deposit"), (FIRST,))
    page.colour_by(ColourBy.QUERY)
    qtbot.waitUntil(lambda: page.finder.colours is not None)
    page.desk.set_found(Query("boiler"), (FIRST,))
    qtbot.waitUntil(lambda: page.finder.colours is not None)
    asked = [call[2] for call in called(page, "map_colours") if call[1] is ColourBy.QUERY]
    assert asked == [Query("deposit"), Query("boiler")]


def test_what_is_chosen_on_another_page_gets_rings(make_map) -> None:
    page = make_map()
    rings: list[object] = []
    page.canvas.set_chosen = lambda points: rings.append(points.tolist())
    view = page.finder.view
    page.desk.set_chosen("search", (int(view.contents[view.starts[12]]), 3))
    assert rings == [[12]]
    page.desk.set_chosen("map", (int(view.contents[0]),))
    assert rings == [[12]]  # its own choice is no news


def test_show_on_the_map_selects_them_also_before_the_map_is_there(make_map, qtbot) -> None:
    page = make_map(prepare=lambda app: setattr(app, "hold_map", True), wait=False)
    view = program_of(page).map_view()
    wanted = tuple(view.contents[view.starts[[4, 90, 91]]].tolist())
    page.desk.go_with("map", (*wanted, 12), "4 files alike")
    assert not page.drawer.isVisible()
    program_of(page).let_map_go()
    qtbot.waitUntil(page.drawer.isVisible)
    assert page.points.tolist() == [4, 90, 91]
    assert page.canvas.selection.tolist() == [4, 90, 91]
    qtbot.waitUntil(lambda: page.window().toast.label.full_text() == "3 of 4 documents are on the map")


def test_other_clusters_change_colours_and_labels_only(make_map, qtbot) -> None:
    page = make_map()
    before = page.finder.view.positions
    program_of(page).clusters()
    qtbot.waitUntil(lambda: len(called(page, "map")) == 2 and not page.finder.busy)
    qtbot.waitUntil(lambda: page.finder.colours is not None)
    assert len([call for call in called(page, "map_colours") if call[1] is ColourBy.THEME]) == 2
    assert page.finder.view.positions is before
    assert not called(page, "map")[-1][1].refit
