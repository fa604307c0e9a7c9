"""Dropping a table of judgements on the page: from any step, one at a time, and what is no table is said."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QWidget

from sbert_desktop.domain import Failure
from sbert_desktop.ui.train.import_sheet import ImportSheet
from tests.ui.conftest import fake
from tests.ui.train.test_labelling_page import calls, opened

WINDOW_PAGES = ("search", "train", "library")

pytestmark = pytest.mark.gui
NONE, LEFT = Qt.KeyboardModifier.NoModifier, Qt.MouseButton.LeftButton


def mime(*paths: Path) -> QMimeData:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    return data


def drag(page, data: QMimeData) -> QDragEnterEvent:
    event = QDragEnterEvent(page.rect().center(), Qt.DropAction.CopyAction, data, LEFT, NONE)
    page.dragEnterEvent(event)
    return event


def drop(target: QWidget, data: QMimeData, at: QPointF | None = None) -> QDropEvent:
    event = QDropEvent(at or QPointF(60, 60), Qt.DropAction.CopyAction | Qt.DropAction.MoveAction, data, LEFT, NONE)
    target.dropEvent(event)
    return event


def sheet_of(window) -> ImportSheet:
    sheet = window.findChild(ImportSheet, "train_import_sheet")
    assert sheet is not None
    return sheet


def test_a_table_dropped_on_any_step_opens_the_sheet_with_it(make_window, qtbot, tmp_path: Path) -> None:
    window, page = opened(make_window, qtbot, judged=130)
    table = tmp_path / "pairs.csv"
    table.write_text("question1,question2,is_duplicate\na,b,1\n", encoding="utf-8")
    data = mime(table)  # a mouse that drags keeps it; an event does not
    for step in ("judge", "check"):
        page.show_step(step)
        assert drag(page, data).isAccepted()
        assert page.drop.isVisible()
        assert page.drop.geometry() == page.rect()
        assert page.drop.search_title() == "Import pairs from “pairs.csv”"
        assert "nothing is taken in by itself" in page.drop.line()
        assert drop(page.drop, data).dropAction() == Qt.DropAction.CopyAction  # its owner keeps the file
        assert not page.drop.isVisible()
        sheet = sheet_of(window)
        qtbot.waitUntil(sheet.go.isEnabled)
        assert calls(window, "look_at_table")[-1] == ("look_at_table", table, (), "")
        assert not sheet.notice.isVisible()
        assert sheet.preview.rowCount() == 5
        sheet.close_sheet(False)
    assert not calls(window, "import_labels")  # nothing is taken in by itself
    edits = [edit for edit in page.findChildren(QWidget) if edit.acceptDrops() and edit not in (page, page.drop)]
    assert not edits  # or the file would be dropped into them


def test_the_lower_part_still_adds_a_folder(make_window, qtbot, tmp_path: Path) -> None:
    window, page = opened(make_window, qtbot)
    added: list[object] = []
    window.desk.addFoldersRequested.disconnect()
    window.desk.addFoldersRequested.connect(added.append)
    data = mime(tmp_path)
    drag(page, data)
    drop(page.drop, data, QPointF(60, page.drop.height() - 40))
    assert added == [(tmp_path,)]
    assert window.findChild(ImportSheet, "train_import_sheet") is None


def test_a_folder_is_said_to_be_none(make_window, qtbot, tmp_path: Path) -> None:
    window, page = opened(make_window, qtbot)
    data = mime(tmp_path)
    drag(page, data)
    assert "has to be a table" in page.drop.line()
    drop(page.drop, data)
    sheet = sheet_of(window)
    qtbot.waitUntil(sheet.notice.isVisible)
    assert sheet.notice.label.text() == f"“{tmp_path.name}” is a folder. Choose the table in it, or drop that."
    assert not sheet.go.isEnabled()
    assert not sheet.mapping.isVisible()
    assert not calls(window, "look_at_table")
    assert sheet.choose.hasFocus()  # the way by keys is where it was


def test_what_is_no_table_says_why_and_the_next_drop_is_looked_at(make_window, qtbot, tmp_path: Path) -> None:
    window, page = opened(make_window, qtbot)
    fake(window).fail["table"] = Failure("no-table", "photo.png is not text.", "Choose a table, saved as CSV.")
    data = mime(tmp_path / "photo.png")
    drag(page, data)
    drop(page.drop, data)
    sheet = sheet_of(window)
    qtbot.waitUntil(sheet.notice.isVisible)
    assert sheet.notice.label.text() == "photo.png is not text. Choose a table, saved as CSV."
    assert not sheet.mapping.isVisible()
    del fake(window).fail["table"]
    again = mime(tmp_path / "pairs.tsv")
    drop(sheet, again)
    qtbot.waitUntil(sheet.go.isEnabled)
    assert not sheet.notice.isVisible()


def test_of_several_the_first_table_is_looked_at_and_the_others_are_told(make_window, qtbot, tmp_path: Path) -> None:
    window, page = opened(make_window, qtbot)
    data = mime(tmp_path / "read me.pdf", tmp_path / "one.csv", tmp_path / "two.csv")
    drag(page, data)
    assert page.drop.search_title() == "Import pairs from a table"
    assert page.drop.line() == "Tables are taken in one at a time."
    drop(page.drop, data)
    sheet = sheet_of(window)
    qtbot.waitUntil(sheet.go.isEnabled)
    assert calls(window, "look_at_table") == [("look_at_table", tmp_path / "one.csv", (), "")]
    assert sheet.notice.label.text() == \
        "Tables are taken in one at a time: this is “one.csv”. Drop the other 2 files after it."
    sheet.notice.close_button.click()
    sheet.kind.activated.emit(sheet.kind.currentIndex())
    qtbot.waitUntil(lambda: len(calls(window, "look_at_table")) == 2 and sheet.go.isEnabled())
    assert not sheet.notice.isVisible()  # it was read


def test_what_is_dragged_out_of_the_window_is_left_alone(make_window, qtbot, tmp_path: Path) -> None:
    _, page = opened(make_window, qtbot)
    data = QMimeData()
    data.setText("only words")
    assert not drag(page, data).isAccepted()
    assert not page.drop.isVisible()
