"""The Clusters page: what it asks, what it shows, every change and its undo, states, keys, names, dropping."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QMimeData, QPointF, Qt
from PySide6.QtGui import QDropEvent, QKeyEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QLabel, QLineEdit, QMenu, QWidget

from sbert_desktop.app.atlas_views import (
    UNSORTED,
    ClusterRequest,
    ClustersView,
    MapRequest,
    MapView,
    Method,
    ThemeChange,
    ThemeDeed,
)
from sbert_desktop.domain import Failure, Finished, JobId, Outcome, Started
from sbert_desktop.settings import Settings
from sbert_desktop.ui.clusters.cards import CARDS_MIME, DOCUMENTS_MIME, CardRole, pack, unpack
from sbert_desktop.ui.clusters.page import ClustersPage
from sbert_desktop.ui.clusters.sheets import HowManySheet, PickSheet, curve_words
from sbert_desktop.ui.clusters.words import closeness, facts, label_of, percent, would_be
from sbert_desktop.ui.theme import theme as look
from sbert_desktop.ui.widgets import Button
from tests.effort import least_cpu
from tests.ui.conftest import every_widget, fake
from tests.ui.fake_app import FakeApp
from tests.ui.fake_clusters import curve, row, theme
from tests.ui.test_access import CONTROLS, _action, _place, own

WINDOW_PAGES = ("search", "clusters", "map", "library")

pytestmark = pytest.mark.gui
T = ThemeDeed


def opened(make_window, qtbot, state: str = "full", **more) -> tuple[object, ClustersPage]:
    window = make_window(state, **more)
    window.activateWindow()
    window.show_page("clusters")
    page = window.page("clusters")
    qtbot.waitUntil(lambda: page.finder.view is not None and not page.finder.busy())
    return window, page


def calls(window, name: str) -> list[tuple[object, ...]]:
    return [call for call in fake(window).calls if call[0] == name]


def changes(window) -> list[ThemeChange]:
    return [call[1] for call in calls(window, "change_clusters")]


def choose(page: ClustersPage, theme_id: int) -> None:
    page.show_cluster(theme_id)
    assert page.theme_shown().id == theme_id


def wait_change(qtbot, window, page: ClustersPage, number: int = 1) -> ThemeChange:
    qtbot.waitUntil(lambda: len(changes(window)) == number and not page.finder.busy())
    return changes(window)[-1]


def titles(page: ClustersPage) -> list[str]:
    return [one.label for one in page.column.list.cards.themes]


def menu_of(page: ClustersPage, object_name: str) -> QMenu:
    return next(one for one in page.findChildren(QMenu, object_name) if one.isVisible())


def entry(shown: QMenu, text: str):
    return next(action for action in shown.actions() if action.text().split("\t")[0] == text)


# ---------------------------------------------------------------- what it asks and shows


def test_opening_asks_for_what_is_stored_and_shows_the_largest_cluster(make_window, qtbot) -> None:
    window, page = opened(make_window, qtbot)
    assert calls(window, "clusters") == [("clusters", None, False, ())]
    assert titles(page)[:2] == ["Invoices and receipts", "Soil research"]
    choose(page, 1)
    detail = page.detail
    assert detail.head.title.text() == "Soil research"
    assert detail.head.facts.text() == ("634 documents in 3 folders, 2016 to 2024. Close to each other: typical "
                                        "similarity 0.63, and 0.31 to the rest.")
    assert detail.centre.show_all.label() == "Show all 634"
    assert [one.text for one in detail.side.words.rows()][:2] == ["moisture", "sensor"]
    assert [one.number for one in detail.side.folders.rows()] == ["498", "104", "32"]
    assert page.column.foot.count.text() == "9 clusters, 90 of 4,102 documents unsorted"
    assert not calls(window, "map")  # opening the page never lays out a map


def test_bars_never_contradict_the_order(make_window, qtbot) -> None:
    _, page = opened(make_window, qtbot)
    choose(page, 1)
    qtbot.waitUntil(lambda: bool(page.detail.centre.split.rows()))
    for table in (page.detail.side.words, page.detail.centre.split):
        shares = [one.share for one in table.rows()]
        assert shares == sorted(shares, reverse=True)


def test_the_split_is_looked_at_when_the_choice_rests_and_done_by_the_button(make_window, qtbot) -> None:
    window, page = opened(make_window, qtbot)
    before = len(calls(window, "split_preview"))  # where the machine stood still, the first one rested long enough
    for at in (0, 2, 3, 1):
        choose(page, at)
    qtbot.waitUntil(lambda: bool(page.detail.centre.split.rows()))
    assert calls(window, "split_preview")[before:] == [("split_preview", 1)]  # not for those that were passed by
    assert page.detail.centre.split_title.full_text() == "Split would make 3"
    assert [one.number for one in page.detail.centre.split.rows()] == ["301", "198", "135"]
    page.detail.head.split.click()
    assert wait_change(qtbot, window, page) == ThemeChange(T.SPLIT, (1,))
    assert page.theme_shown().label == "Sensor readings"


def test_the_slider_asks_once_when_it_rests_and_the_cards_pale(make_window, qtbot) -> None:
    window, page = opened(make_window, qtbot)
    for value in range(1, 8):
        page.column.lean.setValue(value)
    fake(window).hold_clusters = True
    qtbot.waitUntil(lambda: len(calls(window, "clusters")) == 2)
    assert calls(window, "clusters")[1][1] == ClusterRequest(detail=0.7)
    assert page.column.list.dimmed
    assert page.column.busy.isVisible()
    qtbot.waitUntil(lambda: page.column.working.label.text() == "Comparing documents, 1,240 of 4,102")
    qtbot.keyClick(page.column.list, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: not page.finder.looking)
    assert not page.column.list.dimmed
    assert page.column.lean.value() == 0  # given up: it stands where the clusters shown have it


def test_method_number_and_draw_are_asked_for(make_window, qtbot) -> None:
    window, page = opened(make_window, qtbot)
    page.column.more.click()
    entry(menu_of(page, "clusters_more_menu"), "HDBSCAN").trigger()
    qtbot.waitUntil(lambda: not page.finder.busy())
    assert calls(window, "clusters")[-1][1].method is Method.HDBSCAN
    page.ask_how_many()
    sheet = window.findChild(HowManySheet)
    assert sheet.plot.isVisible()
    assert "9: clearness 0.40" in sheet.plot.accessibleDescription()
    assert sheet.said.text() == curve_words(curve()) == "The clearest are 9 clusters; after 6 more help little."
    sheet.number.setValue(5)
    sheet.seed.setValue(3)
    sheet.go.click()
    qtbot.waitUntil(lambda: not page.finder.busy())
    assert calls(window, "clusters")[-1][1] == ClusterRequest(Method.KMEANS, count=5, seed=3)


def test_sorting_and_filtering(make_window, qtbot) -> None:
    _, page = opened(make_window, qtbot)
    choose(page, 1)
    for order, first in (("name", "Choir"), ("alike", "Recipes"), ("size", "Invoices and receipts")):
        page.column.sort.setCurrentIndex(page.column.sort.findData(order))
        page.column.sort.activated.emit(page.column.sort.currentIndex())
        assert titles(page)[0] == first
        assert page.theme_shown().id == 1
    page.column.filter_button.click()
    page.column.filter.set_text("compost")
    assert titles(page) == ["Garden notebook"]
    page.column.filter.set_text("zebra")
    assert page.column.stack.currentWidget() is page.column.none
    page.column.filter_button.click()
    assert len(titles(page)) == 9


def test_a_failure_of_what_another_page_asked_for_in_our_place_is_told(make_window, qtbot, settings: Settings) -> None:
    program = FakeApp(settings)
    program.hold_clusters = True
    window = make_window(app=program)
    window.show_page("clusters")
    page = window.page("clusters")
    qtbot.waitUntil(lambda: bool(program.held_clusters))
    program.let_clusters_go(Outcome.SUPERSEDED)
    job, why = JobId("clusters-y"), Failure("child", "It did not work.", "")
    program.say([Started(job, "clusters"), Finished(job, Outcome.FAILED, None, why)])
    qtbot.waitUntil(page.states.is_failed)


def test_another_page_that_asks_is_followed(make_window, qtbot) -> None:
    window, page = opened(make_window, qtbot)
    view = replace(fake(window).clusters_view, themes=(theme(4),))
    fake(window).say([Started(JobId("clusters-x"), "clusters"), Finished(JobId("clusters-x"), Outcome.DONE, view)])
    qtbot.waitUntil(lambda: titles(page) == ["Travel plans"])


# ---------------------------------------------------------------- changes


def test_rename_in_the_head_and_on_the_card(make_window, qtbot) -> None:
    window, page = opened(make_window, qtbot)
    choose(page, 1)
    page.detail.head.rename.click()
    edit = page.detail.head.edit
    assert edit.hasFocus()
    edit.setText("  Soil,  wet ")
    qtbot.keyClick(edit, Qt.Key.Key_Return)
    assert wait_change(qtbot, window, page) == ThemeChange(T.RENAME, (1,), "Soil, wet")
    assert page.detail.head.title.text() == "Soil, wet"
    assert window.toast.label.full_text() == "Renamed “Soil research” to “Soil, wet”"
    page.column.list.setFocus()
    qtbot.keyClick(page.column.list, Qt.Key.Key_F2)
    card = page.column.list.findChild(QLineEdit, "clusters_card_edit")
    card.setText("Ground")
    qtbot.keyClick(card, Qt.Key.Key_Return)
    assert wait_change(qtbot, window, page, 2).name == "Ground"
    page.detail.head.start_rename()
    qtbot.keyClick(edit, Qt.Key.Key_Escape)
    assert len(changes(window)) == 2
    assert page.detail.head.title.text() == "Ground"


def test_merge_by_neighbour_menu_and_drop(make_window, qtbot) -> None:
    window, page = opened(make_window, qtbot)
    choose(page, 1)
    page.detail.centre.beside[0].merge.click()
    assert wait_change(qtbot, window, page) == ThemeChange(T.MERGE, (1, 6))
    assert window.toast.label.full_text() == "Merged “Soil research” and “Garden notebook”"
    window.toast.run_action()
    qtbot.waitUntil(lambda: "Garden notebook" in titles(page))
    page.detail.head.merge.click()
    shown = menu_of(page, "clusters_merge_menu")
    assert shown.actions()[0].text() == "Garden notebook"  # the nearest first
    shown.actions()[1].trigger()
    assert wait_change(qtbot, window, page, 3) == ThemeChange(T.MERGE, (1, 7))
    shown.close()
    drop(page, 0, CARDS_MIME, (3,))
    assert wait_change(qtbot, window, page, 4) == ThemeChange(T.MERGE, (page.column.list.cards.themes[0].id, 3))


def drop(page: ClustersPage, card: int, form: str, numbers: tuple[int, ...]) -> None:
    view, mime = page.column.list, QMimeData()
    mime.setData(form, pack(numbers))
    place = QPointF(view.visualRect(view.cards.index(card)).center())
    event = QDropEvent(place, Qt.DropAction.CopyAction, mime, Qt.MouseButton.LeftButton,
                       Qt.KeyboardModifier.NoModifier)
    view.dropEvent(event)


def test_documents_are_moved_by_dropping_them_on_a_card(make_window, qtbot) -> None:
    window, page = opened(make_window, qtbot)
    target = page.column.list.cards.themes[2].id
    drop(page, 2, DOCUMENTS_MIME, (11, 12))
    assert wait_change(qtbot, window, page) == ThemeChange(T.MOVE, (target,), contents=(11, 12))
    drop(page, 0, CARDS_MIME, (page.column.list.cards.themes[0].id,))  # on itself
    assert len(changes(window)) == 1


def test_what_is_dropped_and_damaged_is_nothing() -> None:
    mime = QMimeData()
    assert unpack(mime, CARDS_MIME) == ()
    mime.setData(CARDS_MIME, b"\xff{")
    assert unpack(mime, CARDS_MIME) == ()
    mime.setData(CARDS_MIME, b'[1, "2"]')
    assert unpack(mime, CARDS_MIME) == (1,)


def test_keys_of_the_cards(make_window, qtbot) -> None:
    window, page = opened(make_window, qtbot)
    view = page.column.list
    view.setFocus()
    choose(page, 1)
    qtbot.keyClick(view, Qt.Key.Key_Delete)
    qtbot.keyClick(view, Qt.Key.Key_P)
    assert wait_change(qtbot, window, page) == ThemeChange(T.PIN, (1,))
    qtbot.keyClick(view, Qt.Key.Key_P)
    assert wait_change(qtbot, window, page, 2) == ThemeChange(T.UNPIN, (1,))
    qtbot.keyClick(view, Qt.Key.Key_M)
    menu_of(page, "clusters_merge_menu").close()
    qtbot.keyClick(view, Qt.Key.Key_Return)
    assert page.detail.part() == "documents"
    qtbot.waitUntil(lambda: len(page.detail.documents.list.documents.rows) == 634)
    qtbot.waitUntil(lambda: window.focusWidget() is page.detail.documents.list)
    qtbot.keyClick(page.detail.documents.list, Qt.Key.Key_Escape)
    assert page.detail.part() == "overview"
    view.setFocus()
    qtbot.keyClick(view, Qt.Key.Key_S)
    assert wait_change(qtbot, window, page, 3).deed is T.SPLIT


def test_undo_and_redo_by_keys_when_no_message_offers_it(make_window, qtbot) -> None:
    window, page = opened(make_window, qtbot)
    qtbot.waitUntil(lambda: QApplication.activeWindow() is window)
    choose(page, 1)
    page.pin()
    wait_change(qtbot, window, page)
    page.column.list.setFocus()
    QTest.keyClick(page.column.list, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert wait_change(qtbot, window, page, 2).deed is T.UNDO  # by the message
    assert not window.toast.has_action()
    QTest.keyClick(page.column.list, Qt.Key.Key_Z,
                   Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    assert wait_change(qtbot, window, page, 3).deed is T.REDO
    window.toast.dismiss()
    QTest.keyClick(page.column.list, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert wait_change(qtbot, window, page, 4).deed is T.UNDO  # by the page
    assert window.toast.label.full_text() == "Undone: pin"


def test_strictness_says_what_it_would_do_before_it_does_it(make_window, qtbot) -> None:
    window, page = opened(make_window, qtbot)
    foot = page.column.foot
    foot.slider.setSliderDown(True)
    foot.slider.setValue(20)
    assert foot.share.text() == "20 % unsorted (829)"
    assert foot.share.isVisible()
    assert "20 % unsorted" in foot.slider.accessibleDescription()
    assert not changes(window)
    foot.slider.setSliderDown(False)
    assert wait_change(qtbot, window, page) == ThemeChange(T.STRICTNESS, strictness=1.0)
    assert "829 of 4,102" in foot.count.text()


# ---------------------------------------------------------------- documents and unsorted


def test_unsorted_documents_are_assigned_one_some_all(make_window, qtbot) -> None:
    window, page = opened(make_window, qtbot)
    page.column.foot.unsorted.click()
    pane = page.detail.unsorted
    qtbot.waitUntil(lambda: len(pane.list.documents.rows) == 90)
    assert "90 documents of 4,102 (2 %)" in pane.sentence.text()
    index = pane.list.documents.index(0)
    said = index.data(Qt.ItemDataRole.AccessibleTextRole)
    assert "24 %" in said
    assert "nearest Invoices and receipts" in said
    link = pane.list.rows.link_rect(pane.list.visualRect(index)).center()
    qtbot.mouseClick(pane.list.viewport(), Qt.MouseButton.LeftButton, pos=link)
    assert wait_change(qtbot, window, page) == ThemeChange(T.ASSIGN, contents=(90_000,))
    assert window.toast.label.full_text() == "Assigned 1 document to the nearest cluster"
    qtbot.waitUntil(lambda: len(pane.list.documents.rows) == 89)
    assert page.detail.part() == "unsorted"
    pane.list.selectAll()
    assert pane.chosen_button.label() == "Assign 89 to nearest"
    pane.all_button.click()
    assert wait_change(qtbot, window, page, 2) == ThemeChange(T.ASSIGN)
    assert page.detail.part() == "overview"  # nothing is left there
    assert page.column.foot.unsorted.isHidden()


def test_the_menu_of_documents_moves_takes_out_and_hands_on(make_window, qtbot) -> None:
    window, page = opened(make_window, qtbot)
    choose(page, 1)
    page.show_documents()
    rows_view = page.detail.documents.list
    qtbot.waitUntil(lambda: len(rows_view.documents.rows) == 634)
    rows = rows_view.documents.rows[:3]
    page.show_documents_menu(rows, page.mapToGlobal(page.rect().center()))
    shown = menu_of(page, "clusters_documents_menu")
    names = [action.text().split("\t")[0] for action in shown.actions() if action.text()]
    assert names == ["Open 3 documents", "Open with...", "Copy paths", "Move to", "Take out of the cluster",
                     "Search in these", "Show on the map", "Add to a collection..."]
    move = next(action for action in shown.actions() if action.text() == "Move to").menu()
    move.actions()[0].trigger()
    contents = tuple(one.content for one in rows)
    assert wait_change(qtbot, window, page) == ThemeChange(T.MOVE, (6,), contents=contents)
    entry(shown, "Take out of the cluster").trigger()
    assert wait_change(qtbot, window, page, 2) == ThemeChange(T.MOVE, (UNSORTED,), contents=contents)
    shown.close()


def test_enter_shows_the_preview_and_a_double_click_opens(make_window, qtbot) -> None:
    window, page = opened(make_window, qtbot)
    choose(page, 1)
    central = page.detail.centre.central
    central.setCurrentIndex(central.documents.index(0))
    qtbot.keyClick(central, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: bool(calls(window, "preview")))
    assert window.inspector.isVisible()
    assert not page.detail.side.isVisible()  # the preview lies in its place
    central.doubleClicked.emit(central.documents.index(1))
    assert calls(window, "open_file")[-1][1] == central.documents.rows[1].path
    page.deeds.close_preview()
    assert not window.inspector.isVisible()


def test_all_documents_are_handed_on_to_other_pages(make_window, qtbot, monkeypatch) -> None:
    window, page = opened(make_window, qtbot)
    choose(page, 3)
    asked: list[tuple[str, int, str]] = []
    monkeypatch.setattr(window.desk, "go_with", lambda to, contents, label: asked.append((to, len(contents), label)))
    for key, to in (("search", "search"), ("map", "map"), ("duplicates", "duplicates"), ("label", "train")):
        page.detail.centre.deeds[key].click()
        qtbot.waitUntil(lambda to=to: bool(asked) and asked[-1][0] == to)
    assert asked[0] == ("search", 468, "468 documents of “Recipes”")
    assert len(calls(window, "theme_documents")) == 1  # they are read once
    questions: list[int] = []
    page.deeds.may_open_many = lambda _parent, number: questions.append(number) or False
    page.detail.centre.deeds["open"].click()
    assert questions == [468]
    assert not calls(window, "open_file")


def test_export_asks_for_a_file(make_window, qtbot, monkeypatch, tmp_path) -> None:
    window, page = opened(make_window, qtbot)
    target = tmp_path / "out.html"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_a, **_k: (str(target), ""))
    page.detail.head.export.click()
    qtbot.waitUntil(window.toast.isVisible)
    assert calls(window, "export_clusters") == [("export_clusters", target)]
    assert window.toast.label.full_text() == "Saved 9 clusters to out.html"


def test_the_small_map_shows_the_cluster_when_a_map_is_there(make_window, qtbot) -> None:
    window, page = opened(make_window, qtbot)
    choose(page, 1)
    side = page.detail.side
    assert side.no_map.isVisible()
    members = np.array([one.content for one in fake(window).rows_of(1)][:40] + list(range(70_000, 70_060)), np.int64)
    places = np.random.default_rng(1).normal(size=(100, 2)).astype(np.float32)
    view = MapView(MapRequest(), places, np.ones(100, np.int32), members, members, np.arange(101, dtype=np.int64),
                   np.zeros(100, bool))
    fake(window).say([Started(JobId("m1"), "map"), Finished(JobId("m1"), Outcome.DONE, view)])
    qtbot.waitUntil(lambda: side.map.accessibleDescription().startswith("Soil research: 40 points"))
    assert side.map.isVisible()
    picture = side.map.grab().toImage()
    own_color = look.group_color(3).rgb()
    assert any(picture.pixel(x, y) == own_color for x in range(picture.width()) for y in range(picture.height()))


# ---------------------------------------------------------------- states


@pytest.mark.parametrize(("state", "title"), [("empty", "clusters_empty"), ("full", "")])
def test_an_empty_library_offers_a_folder(make_window, qtbot, state: str, title: str) -> None:
    window = make_window(state)
    window.show_page("clusters")
    page = window.page("clusters")
    if title:
        assert page.states.stack.currentWidget().objectName() == title
        assert not calls(window, "clusters")
    else:
        qtbot.waitUntil(lambda: page.stack.currentWidget() is page.splitter)


def with_view(settings: Settings, **changes_: object) -> FakeApp:
    program = FakeApp(settings)
    program.clusters_view = replace(program.clusters_view, **changes_)
    return program


def test_few_documents_are_shown_and_it_is_said(make_window, qtbot, settings: Settings) -> None:
    few = (replace(theme(0), size=2, central=theme(0).central[:2], beside=()),)
    program = with_view(settings, themes=few, documents=3, unsorted=1, note="Three documents are hardly a collection.",
                        unsorted_at=())
    _window, page = opened(make_window, qtbot, app=program)
    assert page.column.few.label.text() == "Only 3 documents: clusters say more with 30 or more."
    assert page.column.notes.label.text() == "Three documents are hardly a collection."
    assert page.column.foot.strict_row.isHidden()
    assert "to the rest" not in page.detail.head.facts.text()


def test_a_cluster_whose_documents_are_all_unsorted_is_shown_only_if_the_person_made_it(
    make_window, qtbot, settings: Settings
) -> None:
    empty = tuple(replace(theme(at), size=0, central=(), named=at == 1) for at in range(3))
    program = with_view(settings, themes=(*empty, theme(3)))
    _window, page = opened(make_window, qtbot, app=program)
    assert titles(page) == ["Recipes", "Soil research"]
    assert page.column.foot.count.text().startswith("2 clusters, ")
    choose(page, 1)
    assert page.detail.centre.show_all.isHidden()


def test_nothing_to_sort_is_a_state_with_a_sentence(make_window, qtbot, settings: Settings) -> None:
    program = with_view(settings, themes=(), documents=0, unsorted=0, waiting=12)
    _window, page = opened(make_window, qtbot, app=program)
    assert page.states.stack.currentWidget() is page.states.waiting
    assert page.states.waiting.sentence.text().startswith("12 documents wait")


def test_a_failure_is_told_and_can_be_tried_again(make_window, qtbot, settings: Settings) -> None:
    program = FakeApp(settings)
    program.fail["clusters"] = Failure("child", "The clusters could not be found.", "Try again.")
    window = make_window(app=program)
    window.show_page("clusters")
    page = window.page("clusters")
    qtbot.waitUntil(page.states.is_failed)
    program.fail.clear()
    page.states.failed.button.click()
    qtbot.waitUntil(lambda: page.stack.currentWidget() is page.splitter)


def test_the_first_time_shows_progress_and_can_be_given_up(make_window, qtbot, settings: Settings) -> None:
    program = FakeApp(settings)
    program.hold_clusters = True
    window = make_window(app=program)
    window.show_page("clusters")
    page = window.page("clusters")
    qtbot.waitUntil(lambda: page.states.working.label.text() == "Comparing documents, 1,240 of 4,102")
    page.states.working.cancel.click()
    qtbot.waitUntil(lambda: page.states.stack.currentWidget() is page.states.never)


def test_new_documents_offer_to_find_anew(make_window, qtbot, settings: Settings) -> None:
    window, page = opened(make_window, qtbot, app=with_view(settings, fresh=12, waiting=1))
    assert page.column.fresh.label.text() == "12 documents came since. Each lies in the nearest cluster."
    assert page.column.notes.label.text() == "1 document waits to be read and takes no part yet."
    page.column.fresh.button.click()
    qtbot.waitUntil(lambda: page.column.fresh.isHidden())
    assert calls(window, "clusters")[-1] == ("clusters", None, True, ())


def test_a_read_only_library_can_be_looked_at(make_window, qtbot) -> None:
    window, page = opened(make_window, qtbot, "readonly")
    choose(page, 1)
    head = page.detail.head
    assert not head.rename.isEnabled()
    assert "read-only" in head.rename.accessibleDescription()
    page.pin()
    assert window.toast.label.full_text() == "This library is read-only: clusters cannot be changed."
    assert not changes(window)
    assert page.detail.centre.split_head.isHidden()
    assert page.column.foot.strict_row.isHidden()


def test_only_some_documents_are_sorted_and_nothing_of_it_is_kept(make_window, qtbot) -> None:
    window, page = opened(make_window, qtbot)
    window.desk.go_with("clusters", range(99), "99 documents of the map")
    qtbot.waitUntil(lambda: page.finder.view is not None and bool(page.finder.view.scope))
    assert calls(window, "clusters")[-1][3] == tuple(range(99))
    assert page.column.back.label.text() == "Clusters of 99 documents of the map. They are not kept."
    assert page.detail.head.rename.isHidden()
    page.show_documents()
    qtbot.waitUntil(lambda: bool(calls(window, "theme_documents")))
    assert calls(window, "theme_documents")[-1][2] == tuple(range(99))
    page.column.back.button.click()
    qtbot.waitUntil(lambda: len(titles(page)) == 9)
    assert page.column.back.isHidden()


# ---------------------------------------------------------------- access


def test_every_control_is_named_and_does_something(make_window, qtbot) -> None:
    window, page = opened(make_window, qtbot)
    choose(page, 1)
    page.show_documents()
    page.show_unsorted()
    page.ask_how_many()
    page._pick("Merge with", "Merge", page._others(1), lambda _: None)
    for sheet in (HowManySheet, PickSheet):
        window.findChild(sheet).close_sheet()
    parts = [*every_widget(page), *every_widget(window.findChild(HowManySheet)),
             *every_widget(window.findChild(PickSheet))]
    faults, names = [], []
    for widget in parts:
        if isinstance(widget, QLabel):
            assert widget.textFormat() == Qt.TextFormat.PlainText, _place(widget)
        if not isinstance(widget, CONTROLS) or not own(widget):
            continue
        names.append(widget.objectName())
        waiting = isinstance(widget, Button) and not widget.label() and not widget.isVisible()
        if not widget.objectName() or (not widget.accessibleName() and not waiting) or not _action(widget):
            faults.append(_place(widget))
    assert not faults
    assert len(names) == len(set(names))
    assert len(names) > 40
    actions = [action.name for action in page.actions_list()]
    assert len(actions) == len(set(actions))


def test_tab_reaches_the_parts_in_their_order(make_window, qtbot) -> None:
    window, page = opened(make_window, qtbot)
    qtbot.waitUntil(lambda: QApplication.activeWindow() is window)
    choose(page, 1)
    window.rail.item("clusters").setFocus()
    seen: list[str] = []
    for _ in range(60):
        qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
        seen.append(QApplication.focusWidget().objectName())
    wanted = ["clusters_filter", "clusters_again", "clusters_more", "clusters_lean", "clusters_sort", "clusters_list",
              "clusters_unsorted", "clusters_strictness", "clusters_theme_title", "clusters_rename", "clusters_merge",
              "clusters_split", "clusters_export", "clusters_pin", "clusters_theme_more", "clusters_show_all",
              "clusters_central", "clusters_beside_0_go", "clusters_beside_0_merge", "clusters_do_search",
              "clusters_open_map"]
    assert [one for one in dict.fromkeys(seen) if one in wanted] == wanted


@pytest.mark.parametrize(("size", "text"), [((960, 640), 100), ((960, 640), 200), ((1280, 800), 200)])
def test_nothing_is_cut_off_at_the_sides(make_window, qtbot, settings: Settings, size, text: int) -> None:
    settings.set("appearance.text_scale", text)
    _, page = opened(make_window, qtbot, size=size)
    choose(page, 1)
    qtbot.wait(60)
    area = page.detail.overview
    assert area.widget().width() <= area.viewport().width()
    for part in (page.column.sort, page.column.lean, page.detail.head.pin, page.column.foot.slider):
        place = part.mapTo(page, part.rect().topLeft()).x()
        assert place >= 0
        assert place + part.width() <= page.width()


def test_labels_of_any_kind_are_shown_letter_by_letter(make_window, qtbot, settings: Settings) -> None:
    odd = ("<img src=x> & co", "土壤水分", "🌱 garden", "", "a\u202eb")
    program = with_view(settings, themes=tuple(replace(theme(n), label=text) for n, text in enumerate(odd)))
    _, page = opened(make_window, qtbot, app=program)
    for number, text in enumerate(("<img src=x> & co", "土壤水分", "🌱 garden", "Untitled")):
        choose(page, number)
        assert page.detail.head.title.text() == text
        index = page.column.list.currentIndex()
        assert "<img" not in index.data(Qt.ItemDataRole.ToolTipRole)
        assert index.data(CardRole).id == number
    assert "\u202e" not in label_of(program.clusters_view.themes[4])


def test_ten_thousand_documents_do_not_hold_the_window(make_window, qtbot) -> None:
    window, page = opened(make_window, qtbot)
    fake(window).cluster_rows[1] = tuple(row(at, f"Documents/Many/{10_000 - at:05}.pdf", 0.5) for at in range(10_000))
    choose(page, 1)
    page.show_documents()
    pane = page.detail.documents
    qtbot.waitUntil(lambda: len(pane.list.documents.rows) == 10_000)

    def show() -> None:
        pane.list.set_rows(fake(window).cluster_rows[1])
        pane.list.viewport().repaint()

    assert least_cpu(show, enough=0.3) < 0.3
    pane.sort.activated.emit(pane.sort.findData("title"))  # sorted in a thread
    assert pane.list.documents.rows[0].content == 0
    fake_order = sorted(fake(window).cluster_rows[1], key=lambda one: one.path.name)
    qtbot.waitUntil(lambda: pane.list.documents.rows == fake_order)


def test_what_was_chosen_is_remembered(make_window, qtbot) -> None:
    window, page = opened(make_window, qtbot)
    choose(page, 4)
    page.column.sort.setCurrentIndex(page.column.sort.findData("name"))
    state = page.save_state()
    other = ClustersPage(window.desk)
    other.restore_state(state)
    other.finder._take(page.finder.view)
    other._chosen = 4
    other._on_answer(page.finder.view)
    assert other.theme_shown().id == 4
    assert other.column.sort.currentData() == "name"
    other.deleteLater()


def test_sentences() -> None:
    assert [percent(value) for value in (0, 0.001, 0.02, 1)] == ["0 %", "under 1 %", "2 %", "100 %"]
    one = theme(1)
    assert closeness(one) == "Close to each other"
    assert closeness(replace(one, similarity=0.45)) == "Fairly close to each other"
    assert closeness(replace(one, similarity=0.35)) == "Loosely connected"
    single = replace(one, size=1, folders=one.folders[:1], first=None, last=None, pinned=True)
    assert facts(single) == "1 document in 1 folder. Pinned: it stays as it is when clusters are found anew."
    view = ClustersView((one,), 100, 0, ClusterRequest(), 0.0, 0.0, unsorted_at=(0.0, *[0.1] * 20))
    assert would_be(view, 0) == "All sorted"
    assert would_be(view, 5) == "10 % unsorted (10)"
    assert would_be(view, 99) == ""


def test_escape_belongs_to_the_name_that_is_edited(make_window, qtbot) -> None:
    _, page = opened(make_window, qtbot)
    choose(page, 1)
    page.detail.head.start_rename()
    press = QKeyEvent(QEvent.Type.ShortcutOverride, Qt.Key.Key_Escape, Qt.KeyboardModifier.NoModifier)
    press.setAccepted(False)
    QApplication.sendEvent(page.detail.head.edit, press)
    assert press.isAccepted()
    assert isinstance(page.detail.head.edit, QWidget)


def test_the_small_map_is_that_of_an_earlier_session_and_none_is_laid_out(make_window, qtbot, monkeypatch) -> None:
    monkeypatch.setattr(FakeApp, "map_kept", True)
    window, page = opened(make_window, qtbot)
    qtbot.waitUntil(page.detail.side.map.has_map)
    assert calls(window, "map-stored")
    assert not calls(window, "map")
    window.show_page("search")
    window.show_page("clusters")
    qtbot.wait(50)
    assert len(calls(window, "map-stored")) == 1


def test_without_a_map_the_small_one_offers_to_open_it(make_window, qtbot) -> None:
    window, page = opened(make_window, qtbot)
    qtbot.waitUntil(lambda: bool(calls(window, "map-stored")))
    assert not page.detail.side.map.has_map()
    assert not calls(window, "map")
