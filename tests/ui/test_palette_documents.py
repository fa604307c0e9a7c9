"""Documents in the command palette: found by name off the GUI thread, shown by Enter, opened by Ctrl+Enter."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt

pytestmark = pytest.mark.gui

CONTROL = Qt.KeyboardModifier.ControlModifier


@pytest.fixture
def palette(make_window, qtbot):
    window = make_window()
    window.show_page("library")
    qtbot.waitUntil(lambda: window.desk is not None and window.desk.library is not None)
    window.open_palette()
    return window, window.palette_sheet


def groups(palette) -> list[str]:
    return [entry.group for entry in palette._model.entries if entry.action is None]


def calls(window, name: str) -> list[tuple[object, ...]]:
    return [call for call in window.commands.calls if call[0] == name]


def test_documents_come_last_and_move_nothing(palette, qtbot) -> None:
    window, sheet = palette
    qtbot.keyClicks(sheet.edit, "te")
    before = sheet.shown()
    assert before
    row = sheet.list.currentIndex().row()
    qtbot.waitUntil(lambda: "Documents" in groups(sheet))
    assert groups(sheet)[-1] == "Documents"
    assert sheet.shown()[: len(before)] == before
    assert "Tenancy agreement Alder Street 14.pdf" in sheet.shown()
    assert sheet.list.currentIndex().row() == row
    assert not sheet.opens.isVisible()
    assert calls(window, "documents") == [("documents", "te")]  # not for each letter


def test_enter_shows_a_document_in_the_preview_without_touching_the_search(palette, qtbot) -> None:
    window, sheet = palette
    qtbot.keyClicks(sheet.edit, "tenancy agree")
    qtbot.waitUntil(lambda: sheet.shown() == ["Tenancy agreement Alder Street 14.pdf"])
    assert sheet.opens.isVisible()
    assert sheet.runs.text() == "show"
    searches = len(calls(window, "search"))
    qtbot.keyClick(sheet.edit, Qt.Key.Key_Return)
    assert not sheet.isVisible()
    assert window.current_page() == "search"
    preview = window.page("search").page.inspector
    assert preview.isVisible()
    assert preview.title.full_text() == "Tenancy agreement Alder Street 14.pdf"
    assert len(calls(window, "search")) == searches
    assert not calls(window, "open")


def test_control_enter_opens_the_file(palette, qtbot) -> None:
    window, sheet = palette
    qtbot.keyClicks(sheet.edit, "tenancy agree")
    qtbot.waitUntil(lambda: bool(sheet.shown()))
    qtbot.keyClick(sheet.edit, Qt.Key.Key_Return, CONTROL)
    assert not sheet.isVisible()
    assert window.current_page() == "library"
    assert [call for call in window.commands.calls if "open" in call[0] and "Tenancy" in str(call)]


def test_enter_before_the_answer_waits_for_it(palette, qtbot) -> None:
    window, sheet = palette
    sheet.edit.setText("tenancy agree")
    assert sheet.none.isVisible()
    assert "Looking" in sheet.none.text()
    qtbot.keyClick(sheet.edit, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: window.current_page() == "search")


def test_nothing_of_that_name_is_said_and_one_letter_asks_nothing(palette, qtbot) -> None:
    window, sheet = palette
    sheet.edit.setText("q")
    sheet.edit.setText("zebra crossing")
    qtbot.waitUntil(lambda: "Nothing is called that" in sheet.none.text())
    assert sheet.none.isVisible()
    assert calls(window, "documents") == [("documents", "zebra crossing")]
    sheet.edit.setText("tenan")
    sheet.close_sheet()
    qtbot.wait(150)
    assert len(calls(window, "documents")) == 1  # a closed palette asks nothing


def test_a_narrow_window_opens_its_preview_for_a_document(make_window, qtbot) -> None:
    window = make_window()
    window.resize(960, 640)
    window.show_page("library")
    window.open_palette()
    window.palette_sheet.edit.setText("tenancy agree")
    qtbot.waitUntil(lambda: bool(window.palette_sheet.shown()))
    qtbot.keyClick(window.palette_sheet.edit, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: window.page("search").page.inspector.isVisible())


def test_the_list_of_keys_names_those_of_results_before_there_is_one(make_window) -> None:
    window = make_window()
    window.show_page("search")
    keys = {action.name: action for _, action in window.actions_by_group()}
    assert keys["search_relevant"].shortcut == "S"
    assert keys["search_not_relevant"].shortcut == "D"
    assert keys["search_relevant"].enabled is not None
    assert not keys["search_relevant"].enabled()


def test_a_folder_of_the_library_is_gone_to_by_its_name(palette, qtbot) -> None:
    window, sheet = palette
    folder = window.desk.library.folders[0].path
    sheet.edit.setText(folder.name.casefold())
    assert any(folder.name in text for text in sheet.shown())
    entry = next(each for each in sheet._model.entries if each.action is not None and each.action.name == "folder_0")
    assert entry.group == "Go to"
    assert "documents" in entry.action.note
    sheet.close_sheet()
    entry.action.run()
    assert window.current_page() == "search"
    assert window.page("search").page.filters.filters().folder == folder
