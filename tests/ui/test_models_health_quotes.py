"""Getting, using and removing models; measuring and repairing the index; checking quotations."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QApplication, QFileDialog

from sbert_desktop.app.views import UnreadLanguage
from sbert_desktop.domain import Failure
from sbert_desktop.ui.library.adding import add_folders
from sbert_desktop.ui.models.get_sheet import MULTILINGUAL, GetSheet
from sbert_desktop.ui.quotes.list import QuoteRole
from sbert_desktop.ui.quotes.sheet import QuotesSheet, summary
from tests.ui.conftest import fake
from tests.ui.fake_app import HOME
from tests.ui.fake_kept import QUOTES

WINDOW_PAGES = ("search", "models", "library")

pytestmark = pytest.mark.gui


def models(make_window, qtbot, state: str = "kept"):
    window = make_window(state)
    window.show_page("models")
    page = window.page("models")
    qtbot.waitUntil(lambda: page.table.rows_model.rowCount() > 0)
    return window, page


def called(window, name: str) -> list[tuple[object, ...]]:
    return [call for call in fake(window).calls if call[0] == name]


def test_nothing_is_asked_of_the_hub_before_the_click(make_window, qtbot) -> None:
    window, page = models(make_window, qtbot)
    page.get.click()
    sheet = window.findChild(GetSheet, "get_model_sheet")
    assert "contacts huggingface.co" in sheet.contact.text()
    assert not sheet.get.isEnabled()
    sheet.edit.setText("not a name!")
    assert not sheet.get.isEnabled()
    assert sheet.error.isVisible()
    sheet.suggestions[0].click()
    assert sheet.edit.text() == MULTILINGUAL
    assert not called(window, "add_model")
    sheet.edit.setText("https://huggingface.co/owner/name-1.5")
    sheet.get.click()
    assert called(window, "add_model") == [("add_model", "owner/name-1.5")]
    qtbot.waitUntil(lambda: page.chosen().name == "name-1.5")
    assert window.toast.button.label() == "Use it"


def test_a_model_that_is_being_got_can_be_cancelled_and_says_why_it_failed(make_window, qtbot) -> None:
    window, page = models(make_window, qtbot)
    fake(window).hold_models = True
    page.getting.add("owner/name")
    qtbot.waitUntil(lambda: "120 MB of 471 MB" in page.getting.label.full_text())
    page.getting.add("owner/other")
    assert called(window, "add_model") == [("add_model", "owner/name")]
    page.getting.cancel.click()
    assert called(window, "cancel") == [("cancel", "models-held")]
    fake(window).fail_held()
    qtbot.waitUntil(page.getting.notice.isVisible)
    assert "huggingface.co could not be reached" in page.getting.notice.label.text()
    fake(window).hold_models = False
    page.getting.notice.button.click()
    qtbot.waitUntil(lambda: page.chosen().name == "name")
    assert not page.getting.isVisible()


def test_a_model_from_a_folder_is_used_and_removed_but_the_bundled_one_stays(make_window, qtbot, monkeypatch) -> None:
    window, page = models(make_window, qtbot)
    assert page.chosen().bundled
    assert not page.detail.use.isVisible()
    assert not page.detail.remove.isVisible()
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: str(HOME / "mine"))
    page.from_folder.click()
    qtbot.waitUntil(lambda: page.chosen().name == "mine")
    page.detail.use.click()
    assert called(window, "use_model") == [("use_model", "mine")]
    qtbot.waitUntil(lambda: page.chosen().active)
    qtbot.waitUntil(lambda: not page.detail.use.isVisible())  # in use or prepared: neither used again nor removed
    assert not page.detail.remove.isEnabled()
    page.choose("home-1")
    qtbot.keyClick(page.table, Qt.Key.Key_Delete)
    assert "home-1" not in [row.name for row in page.table.rows_model.rows]
    window.toast.run_action()
    assert page.chosen().name == "home-1"
    assert not called(window, "remove_model")
    page.detail.remove.click()
    window.toast.dismiss()
    assert called(window, "remove_model") == [("remove_model", "home-1")]


def test_a_model_of_the_second_look_is_removed_though_it_is_in_use(make_window, qtbot) -> None:
    window, page = models(make_window, qtbot)
    page.choose("minilm-rerank")
    page.detail.use.click()
    qtbot.waitUntil(lambda: page.chosen().active)
    assert page.detail.remove.isVisible()
    assert "Stop using" in page.detail.remove.toolTip()
    page.detail.remove.click()
    assert "without a second look" in window.toast.label.full_text()
    window.toast.dismiss()
    assert called(window, "remove_model") == [("remove_model", "minilm-rerank")]


def test_models_for_a_second_look_come_last_and_are_explained(make_window, qtbot) -> None:
    _, page = models(make_window, qtbot)
    assert [row.name for row in page.table.rows_model.rows][-1] == "minilm-rerank"
    assert page.table.rows_model.index(3, 1).data() == "Second look"
    assert not page.offer.isVisible()
    page.choose("minilm-rerank")
    assert not page.detail.values["dimension"].isVisible()
    assert "first hits" in page.detail.purpose.text()
    without, other = models(make_window, qtbot, "full")
    other.offer.click()
    assert "cross-encoder" in without.findChild(GetSheet, "get_model_sheet").edit.text()


def test_the_question_of_languages_leads_to_a_multilingual_model(make_window, qtbot) -> None:
    window = make_window()
    fake(window).unread = (UnreadLanguage("de", "German", 4031),)
    sheet = add_folders(window, window.desk, (Path("/a/b"),))
    qtbot.waitUntil(sheet.multilingual.isVisible)
    sheet.multilingual.click()
    assert window.current_page() == "models"
    assert window.findChild(GetSheet, "get_model_sheet").edit.text() == MULTILINGUAL
    assert not called(window, "add_model")
    assert not called(window, "add_folders")


def test_index_health_is_measured_once_told_in_words_and_repaired(make_window, qtbot) -> None:
    window = make_window()
    window.show_page("library")
    page = window.page("library")
    page.tabs.setCurrentIndex(4)
    tab = page.health
    qtbot.waitUntil(tab.repair.isVisible)
    texts = [label.text() for label in tab.widget().findChildren(type(tab.said))]
    assert any("93 of 100" in text for text in texts)
    assert {"1,310", "12", "0.930"} <= set(texts)
    page.tabs.setCurrentIndex(0)
    page.tabs.setCurrentIndex(4)
    assert len(called(window, "health")) == 1  # nothing changed since
    tab.again.click()
    assert len(called(window, "health")) == 2
    qtbot.waitUntil(tab.repair.isVisible)
    tab.repair.click()
    qtbot.waitUntil(lambda: not tab.repair.isVisible() and tab.again.isVisible())
    assert called(window, "repair")
    qtbot.waitUntil(lambda: any("99 of 100" in label.text() for label in tab.widget().findChildren(type(tab.said))))


def test_quotations_of_a_draft_are_listed_with_verdict_place_and_changes(make_window, qtbot) -> None:
    window = make_window()
    next(action for _, action in window.actions_by_group() if action.name == "check_quotes").run()
    sheet = window.findChild(QuotesSheet, "quotes_sheet")
    assert sheet.isVisible()
    sheet.close_sheet()
    window.page("search").page.start.quotes.click()
    assert sheet.isVisible()
    assert not sheet.check_button.isEnabled()
    sheet.edit.setPlainText("He wrote “they have six weeks after handover to pay it back”.")
    qtbot.keyClick(sheet.edit, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: sheet.stack.currentWidget() is sheet.list)
    assert summary(QUOTES) == "3 quotations: 1 word for word, 1 changed, 1 not found"
    assert sheet.said.text().endswith(summary(QUOTES))
    rows = [sheet.list.quotes_model.index(at) for at in range(3)]
    assert "Changed: six weeks" in rows[1].data(Qt.ItemDataRole.AccessibleTextRole)
    assert rows[2].data(QuoteRole).path is None
    sheet.list.setCurrentIndex(rows[2])
    assert not sheet.source.isEnabled()
    sheet.list.setCurrentIndex(rows[0])
    sheet.open_button.click()
    assert called(window, "open_file")[0][2] == 3
    sheet.copy.click()
    assert "not found\tas safe as houses" in QApplication.clipboard().text()
    qtbot.keyClick(sheet.list, Qt.Key.Key_Return)
    assert not sheet.isVisible()
    assert window.current_page() == "search"
    assert window.page("search").page.query.text().startswith('"The landlord returns the deposit within thirty days"')
    window.toast.run_action()
    assert sheet.isVisible()
    assert sheet.list.quotes_model.rowCount() == 3


def test_a_dropped_draft_without_quotations_or_one_that_fails_says_so(make_window, qtbot) -> None:
    window = make_window()
    window.desk.check_quotes()
    sheet = window.findChild(QuotesSheet, "quotes_sheet")
    fake(window).quote_rows = ()
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(HOME / "Draft.docx"))])
    sheet.dropEvent(QDropEvent(QPointF(300, 300), Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton,
                               Qt.KeyboardModifier.NoModifier))
    qtbot.waitUntil(lambda: sheet.stack.currentWidget() is sheet.none)
    assert called(window, "quotes") == [("quotes", HOME / "Draft.docx")]
    fake(window).fail["quotes"] = Failure("encrypted", "The file is protected with a password.", "Save it without one.")
    sheet.another.click()
    sheet.edit.setPlainText("x")
    sheet.check_button.click()
    qtbot.waitUntil(lambda: sheet.stack.currentWidget() is sheet.failed)
    assert "protected" in sheet.failed.sentence.text()
    sheet.close_button.click()
