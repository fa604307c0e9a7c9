from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLineEdit

from sbert_desktop.domain import Failure
from sbert_desktop.settings import GROUPS, SCHEMA, Settings
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.widgets import CheckBox, ComboBox, NumberBox
from tests.ui.conftest import fake
from tests.ui.fake_app import MODEL, FakeApp

WINDOW_PAGES = ("search", "models", "library", "settings")

pytestmark = pytest.mark.gui


def test_models_are_listed_with_their_facts(make_window, qtbot) -> None:
    window = make_window()
    window.show_page("models")
    page = window.page("models")
    qtbot.waitUntil(lambda: page.table.rows_model.rowCount() == 2)
    texts = [page.table.rows_model.index(0, c).data() for c in range(page.table.rows_model.columnCount())]
    assert texts == ["all-MiniLM-L6-v2", "Search", "384", "256", "English", "", "91 MB", "In use"]
    detail = page.detail
    assert [detail.values[key].text() for key in ("pooling", "prompts", "licence", "languages", "device")] == [
        "Mean", "None", "Apache 2.0", "English", "CPU, bf16"]  # fmt: skip
    assert detail.sums["checksum"].full_text() == MODEL.sha256
    for key, value in (("checksum", MODEL.sha256), ("fingerprint", MODEL.fingerprint)):
        detail.copies[key].click()
        assert QApplication.clipboard().text() == value
    page.table.selectRow(1)
    assert detail.title.full_text() == "home-1"
    assert not detail.values["device"].isVisible()


def test_verify_runs_once_at_a_time_and_says_what_it_found(make_window, qtbot, settings: Settings) -> None:
    program = FakeApp(settings)
    window = make_window(app=program)
    window.show_page("models")
    page = window.page("models")
    qtbot.waitUntil(lambda: page.table.rows_model.rowCount() == 2)
    program._models = lambda: (replace(MODEL, state="refused", note="model.safetensors is not what it should be."),)
    verify = page.detail.first
    assert verify.label() == "Verify files"
    verify.click()
    page.verify_files()
    assert program.calls.count(("verify_models",)) == 1
    assert not verify.isEnabled()
    qtbot.waitUntil(verify.isEnabled)
    assert window.toast.label.full_text() == "Not usable: all-MiniLM-L6-v2"
    assert page.table.rows_model.index(0, 7).data() == "Files changed"
    assert page.detail.note.isVisible()
    program.fail["models"] = Failure("model-missing", "The model's folder is gone.", "Install the program again.")
    verify.click()
    qtbot.waitUntil(lambda: "folder is gone" in window.toast.label.full_text())
    assert verify.isEnabled()


def test_a_list_that_fails_offers_to_try_again(make_window, qtbot, settings: Settings) -> None:
    program = FakeApp(settings)
    program.fail["models"] = Failure("x", "It failed.", "Try again.")
    window = make_window(app=program)
    window.show_page("models")
    page = window.page("models")
    qtbot.waitUntil(lambda: page.stack.currentWidget() is page.failed)
    program.fail.clear()
    page.failed.button.click()
    qtbot.waitUntil(lambda: page.stack.currentWidget() is page.full)


def test_every_setting_has_its_control_its_default_and_its_reset(make_window) -> None:
    window = make_window()
    window.show_page("settings")
    page = window.page("settings")
    assert [row.setting.key for row in page.rows] == [s.key for group in GROUPS for s in SCHEMA if s.group == group]
    assert len(page.rows) == len(SCHEMA)
    for row in page.rows:
        kind = CheckBox if isinstance(row.setting.default, bool) else ComboBox if row.setting.choices else \
            QLineEdit if isinstance(row.setting.default, str) else NumberBox
        assert isinstance(row.control, kind), row.setting.key
        help_label = row.findChild(object, f"setting_{row.setting.key.replace('.', '_')}_help")
        assert "Default:" in help_label.text()


def test_settings_apply_at_once_and_reset(make_window, qtbot, settings: Settings) -> None:
    window = make_window()
    window.show_page("settings")
    page = window.page("settings")
    rows = {row.setting.key: row for row in page.rows}
    look = rows["appearance.theme"]
    look.control.setCurrentIndex(look.control.findData("dark"))
    look.control.activated.emit(look.control.currentIndex())
    qtbot.waitUntil(lambda: theme.dark)
    assert settings["appearance.theme"] == "dark"
    assert look.reset.isVisible()
    look.reset.click()
    assert settings["appearance.theme"] == "system"
    assert not look.reset.isVisible()
    hidden = rows["indexing.hidden"]
    hidden.control.click()
    assert settings["indexing.hidden"] is True
    size = rows["appearance.text_scale"]
    size.control.setValue(150)
    qtbot.waitUntil(lambda: theme.text_scale == 150)
    size.reset.click()
    qtbot.waitUntil(lambda: theme.text_scale == 100)
    settings.set("search.history", False)  # changed elsewhere: the page follows
    qtbot.waitUntil(lambda: not rows["search.history"].control.isChecked())


def test_settings_are_searchable(make_window, qtbot) -> None:
    window = make_window()
    window.show_page("settings")
    page = window.page("settings")
    page.search.set_text("memory limit")
    shown = [row.setting.key for row in page.rows if row.isVisible()]
    assert shown == ["reading.memory_limit"]
    page.search.set_text("zzz")
    assert page.nothing.isVisible()
    page.search.set_text("")
    assert all(row.isVisible() for row in page.rows)


def test_palette_reaches_single_settings(make_window, qtbot) -> None:
    window = make_window()
    window.activateWindow()
    window.open_palette()
    qtbot.keyClicks(window.palette_sheet.edit, "text size")
    assert "Settings: text size" in window.palette_sheet.shown()
    window.palette_sheet.edit.setText("settings: text size")
    qtbot.keyClick(window.palette_sheet.edit, Qt.Key.Key_Return)
    window.show_page("settings")
    page = window.page("settings")
    assert page.isVisible()
    assert fake(window)
