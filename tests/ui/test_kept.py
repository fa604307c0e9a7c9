"""Collections and saved searches: the rail, the page, the sheets, and that nothing is lost on the way."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QFileDialog

from sbert_desktop.domain import Failure, Filters, Mode, Query
from sbert_desktop.explore import parse
from sbert_desktop.settings import Settings
from sbert_desktop.ui.collections.collect_sheet import CollectSheet
from sbert_desktop.ui.collections.name_sheet import NameSheet
from sbert_desktop.ui.collections.query_text import query_text
from tests.ui.conftest import fake
from tests.ui.fake_app import FakeApp, documents

WINDOW_PAGES = ("search", "models", "library", "collections")

pytestmark = pytest.mark.gui


def opened(make_window, qtbot, state: str = "kept"):
    window = make_window(state)
    qtbot.waitUntil(lambda: window.desk.shelf.known)
    window.show_page("collections")
    return window, window.page("collections")


def changes(window) -> list[tuple[object, ...]]:
    return [call for call in fake(window).calls if call[0] in ("change_collection", "collect")]


def test_the_rail_lists_collections_with_counts_and_marks_the_one_in_front(make_window, qtbot) -> None:
    window, page = opened(make_window, qtbot)
    rows = window.rail.kept("collections")
    assert [(row.row.text, row.row.badge) for row in rows] == [("Deposit", "4"), ("Thesis, chapter 2", "2"),
                                                               ("Empty", "0")]
    assert [row.is_current() for row in rows] == [True, False, False]
    rows[1].click()
    assert page.current() == "Thesis, chapter 2"
    assert [row.is_current() for row in rows] == [False, True, False]
    assert page.table.rows_model.rowCount() == 2
    rows[2].click()
    assert page.stack.currentWidget() is page.empty
    window.show_page("models")
    assert not any(row.is_current() for row in rows)
    window.rail.set_collapsed(True)
    assert not any(row.isVisible() for row in rows)


def test_without_collections_the_page_says_how_to_begin(make_window, qtbot) -> None:
    window, page = opened(make_window, qtbot, "full")
    assert page.stack.currentWidget() is page.none
    assert "press M" in page.none.sentence.text()
    assert not page.export.isVisible()
    page.none.button.click()
    assert window.current_page() == "search"


def test_a_program_without_collections_has_no_page_for_them(make_window, settings: Settings) -> None:
    class Old(FakeApp):
        collections = None

    window = make_window(app=Old(settings))
    assert "collections" not in window.rail._items
    assert "Collections" not in [action.text for _, action in window.actions_by_group()]


def test_hits_go_into_a_collection_that_is_typed_or_chosen(make_window, qtbot) -> None:
    window, _ = opened(make_window, qtbot)
    hits = documents()[0].hits
    window.desk.collect(hits)
    sheet = window.findChild(CollectSheet, "collect_sheet")
    assert sheet.chosen() == "Deposit"
    qtbot.keyClick(sheet.edit, Qt.Key.Key_Down)
    assert sheet.chosen() == "Empty"
    sheet.edit.setText("deposit")
    assert [sheet.list.item(at).text() for at in range(sheet.list.count())] == ["Deposit  (4)"]
    sheet.edit.setText("Keys & <b>")
    assert sheet.chosen() == "Keys & <b>"
    qtbot.keyClick(sheet.edit, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: window.desk.shelf.collection("Keys & <b>") is not None)
    assert not sheet.isVisible()
    assert len(window.desk.shelf.collection("Keys & <b>").items) == len(hits)
    qtbot.waitUntil(lambda: window.toast.has_action())
    window.toast.run_action()  # the collection was made for them: it goes with them
    qtbot.waitUntil(lambda: window.desk.shelf.collection("Keys & <b>") is None)


def test_taking_out_and_deleting_can_be_undone_and_are_final_after_it(make_window, qtbot) -> None:
    window, page = opened(make_window, qtbot)
    page.table.selectRow(1)
    qtbot.keyClick(page.table, Qt.Key.Key_Delete)
    assert page.table.rows_model.rowCount() == 3
    window.toast.run_action()
    assert page.table.rows_model.rowCount() == 4
    assert not changes(window)
    page.table.selectRow(1)
    page.detail.take_out.click()
    window.toast.dismiss()
    assert changes(window) == [("change_collection", "Deposit", "", None, (2,), False, None)]
    qtbot.waitUntil(lambda: len(fake(window).kept[0].items) == 3 and page.table.rows_model.rowCount() == 3)
    page.delete("Deposit")
    assert page.current() == "Thesis, chapter 2"
    window.toast.run_action()
    assert page.current() == "Deposit"
    page.delete("Deposit")
    window.toast.dismiss()
    qtbot.waitUntil(lambda: [view.name for view in fake(window).kept] == ["Thesis, chapter 2", "Empty"])


def test_what_is_put_into_a_name_that_is_being_deleted_is_not_deleted_with_it(make_window, qtbot) -> None:
    window, page = opened(make_window, qtbot)
    page.delete("Deposit")
    hits = documents()[1].hits
    window.frame._collect(lambda own: window.commands.collect(own, hits), len(hits), "passage", "Deposit")
    qtbot.waitUntil(lambda: window.desk.shelf.collection("Deposit") is not None)
    window.toast.dismiss()
    assert [call[0] for call in changes(window)] == ["change_collection", "collect"]
    assert len(window.desk.shelf.collection("Deposit").items) == len(documents()[1].hits)


def test_notes_are_kept_when_they_are_left(make_window, qtbot) -> None:
    window, page = opened(make_window, qtbot)
    page.table.selectRow(2)
    assert page.detail.note.toPlainText() == "Done on 31 October"
    page.detail.note.setPlainText("Done, <b>twice</b>")
    page.table.selectRow(0)
    assert changes(window)[-1] == ("change_collection", "Deposit", "", None, (), False, (3, "Done, <b>twice</b>"))
    qtbot.waitUntil(lambda: fake(window).kept[0].items[2].note == "Done, <b>twice</b>")
    page.note.setPlainText("For Monday")
    page.show_collection("Empty")
    assert changes(window)[-1] == ("change_collection", "Deposit", "", "For Monday", (), False, None)


def test_a_collection_is_renamed_but_not_to_the_name_of_another(make_window, qtbot) -> None:
    window, page = opened(make_window, qtbot)
    page.ask_rename("Deposit")
    sheet = window.findChild(NameSheet, "name_sheet")
    sheet.edit.setText("EMPTY")
    assert not sheet.save.isEnabled()
    assert sheet.error.isVisible()
    sheet.edit.setText("Deposit 2023")
    sheet.save.click()
    qtbot.waitUntil(lambda: page.current() == "Deposit 2023")
    assert window.rail.kept("collections")[0].row.text == "Deposit 2023"


def test_search_in_it_export_open_and_reveal(make_window, qtbot, monkeypatch, tmp_path: Path) -> None:
    window, page = opened(make_window, qtbot)
    page.show_collection("Thesis, chapter 2")
    target = tmp_path / "out"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(target), "BibTeX list (*.bib)"))
    page.export.click()
    assert ("export_collection", "Thesis, chapter 2", tmp_path / "out.bib") in fake(window).calls
    page.table.selectRow(0)
    page.detail.open_button.click()
    page.detail.reveal_button.click()
    page.table.selectRow(1)
    page.detail.open_button.click()  # a message in a mailbox: the mailbox, without a page
    opens = [call for call in fake(window).calls if call[0] in ("open_file", "reveal")]
    assert [call[0] for call in opens] == ["open_file", "reveal", "open_file"]
    assert opens[0][2] == 3
    assert opens[2][2] is None
    page.search_in.click()
    assert window.current_page() == "search"
    assert window.page("search").page.query.text().strip() == 'in:"Thesis, chapter 2"'


def test_a_list_that_fails_says_why(make_window, qtbot, settings: Settings) -> None:
    program = FakeApp(settings, state="kept")
    program.fail["collections"] = Failure("library-damaged", "The catalog cannot be read.", "Run the doctor.")
    window = make_window(app=program)
    window.show_page("collections")
    page = window.page("collections")
    qtbot.waitUntil(lambda: page.stack.currentWidget() is page.failed)
    program.fail.clear()
    page.failed.button.click()
    qtbot.waitUntil(lambda: page.stack.currentWidget() is page.full)


def test_saved_searches_show_a_dot_run_in_their_mode_and_are_renamed_and_removed(make_window, qtbot) -> None:
    window = make_window("kept")
    qtbot.waitUntil(lambda: len(window.rail.kept("search")) == 2)
    first, second = window.rail.kept("search")
    assert first.row.fresh
    assert first.row.badge == "3"
    assert "3 new passages" in first.accessibleDescription()
    assert not second.row.fresh
    second.click()
    qtbot.waitUntil(lambda: any(call[0] == "search" for call in fake(window).calls))
    query = next(call[1] for call in reversed(fake(window).calls) if call[0] == "search")
    assert (query.text, query.mode) == ('"scooter hire"', Mode.KEYWORD)
    window.frame.ask_rename_saved("Scooter")
    sheet = window.findChild(NameSheet, "name_sheet")
    sheet.edit.setText("Hire")
    sheet.save.click()
    qtbot.waitUntil(lambda: [view.name for view in fake(window).searches] == ["Deposit news", "Hire"])
    qtbot.waitUntil(lambda: [row.row.text for row in window.rail.kept("search")] == ["Deposit news", "Hire"])
    qtbot.keyClick(window.rail.kept("search")[1], Qt.Key.Key_Delete)
    qtbot.waitUntil(lambda: len(fake(window).searches) == 1 and window.toast.has_action())
    window.toast.run_action()
    qtbot.waitUntil(lambda: [view.text for view in fake(window).searches][-1] == '"scooter hire"')


def test_ctrl_d_keeps_the_search_on_screen(make_window, qtbot) -> None:
    window = make_window()
    window.activateWindow()
    qtbot.waitUntil(lambda: QApplication.activeWindow() is window)
    window.search_for("deposit")
    qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_D, Qt.KeyboardModifier.ControlModifier)
    sheet = window.findChild(NameSheet, "name_sheet")
    assert sheet.isVisible()
    assert sheet.edit.text() == "deposit"
    sheet.edit.setText("Money back")
    sheet.save.click()
    qtbot.waitUntil(lambda: len(window.rail.kept("search")) == 1)
    assert fake(window).searches[0].text == "deposit"
    texts = [action.text for _, action in window.actions_by_group()]
    assert "Money back" in texts


def test_a_kept_search_says_its_filters_in_words() -> None:
    filters = Filters(folder=Path("/a b"), types=("pdf",), languages=("de",), collections=('My "own"',),
                      attachments=False, size_from=10)
    assert query_text(Query(" tax ", filters=filters)) == \
        'tax folder:"/a b" type:pdf lang:de in:«My "own"» -has:attachment size:>10'


def test_results_of_a_collection_follow_what_it_holds(make_window, qtbot) -> None:
    window, _ = opened(make_window, qtbot)
    page = window.page("search").page
    window.show_page("search")

    def searches() -> list[str]:
        return [call[1].text for call in fake(window).calls if call[0] == "search"]

    page.run("in:Deposit keys")
    qtbot.waitUntil(lambda: page.session.settled)
    window.desk.start(fake(window).change_collection("Deposit", rename="Flat"))
    qtbot.waitUntil(lambda: searches() == ["in:Deposit keys"] * 2)
    page.run("keys")
    qtbot.waitUntil(lambda: page.session.settled)
    window.desk.start(fake(window).change_collection("Flat", delete=True))
    qtbot.waitUntil(lambda: window.desk.shelf.collection("Flat") is None)
    assert not page.session._rerun.isActive()
    assert searches()[2:] == ["keys"]


@pytest.mark.parametrize("own", [
    'a "quoted" name', "a, b", "-minus", "in:other", "Straße", "“both” and 'single'", "plain"])
def test_a_collection_of_any_name_can_be_searched_in(make_window, qtbot, own: str) -> None:
    window, page = opened(make_window, qtbot)
    page.search_in_it(own)
    parsed = parse(window.page("search").page.query.text(), now=0.0)
    assert parsed.filters.collections == (own,)
    assert not parsed.words
    again = parse(query_text(Query("x", filters=Filters(collections=(own,), names=(own,)))), now=0.0)
    assert (again.filters.collections, again.filters.names, again.words) == ((own,), (own,), "x")


def test_filters_behind_a_quotation_left_open_stay_filters() -> None:
    text = query_text(Query('find "this one', filters=Filters(types=("pdf",))))
    assert text == 'find "this one" type:pdf'
    parsed = parse(text, now=0.0)
    assert (parsed.phrases, parsed.filters.types) == (("this one",), ("pdf",))
