"""Every control of every page can be found, is named, does something, and shows untrusted text as it is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QMetaMethod, Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QDialog,
    QHeaderView,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QSlider,
    QTabBar,
    QTextEdit,
    QWidget,
)

from sbert_desktop.app.views import ProblemView, UnreadLanguage
from sbert_desktop.domain import Query
from sbert_desktop.settings import Settings
from sbert_desktop.ui.caption import edit_caption
from sbert_desktop.ui.library.adding import add_folders
from sbert_desktop.ui.library.rules import edit_rules
from sbert_desktop.ui.library.unlock import ask_password
from sbert_desktop.ui.overlay import Sheet
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.train.history_sheet import HistorySheet
from sbert_desktop.ui.train.import_sheet import ImportSheet
from sbert_desktop.ui.widgets import Button
from tests.ui.conftest import every_widget, fake
from tests.ui.fake_app import FOLDERS, HOME, FakeApp, hit

pytestmark = pytest.mark.gui

CONTROLS = (QAbstractButton, QLineEdit, QComboBox, QAbstractItemView, QAbstractSpinBox, QSlider, QTabBar, QTextEdit,
            QPlainTextEdit)
HOSTILE = "<img src='file:///etc/hostname'>&lt;b&gt; \u202egnp.exe"
SIGNALS = {
    QAbstractButton: ("clicked(bool)", "toggled(bool)"),
    QComboBox: ("activated(int)", "currentIndexChanged(int)"),
    QLineEdit: ("textChanged(QString)", "returnPressed()", "textEdited(QString)", "editingFinished()"),
    QAbstractSpinBox: ("valueChanged(int)", "dateChanged(QDate)"),
    QSlider: ("valueChanged(int)",),
    QTabBar: ("currentChanged(int)",),
}


def own(widget: QWidget) -> bool:
    """True for our controls; False for the parts that Qt makes inside of its own."""
    if widget.objectName().startswith("qt_"):
        return False
    if isinstance(widget, QHeaderView) and not widget.isVisibleTo(widget.parentWidget()):
        return False
    # the list inside a combo box belongs to it and is named with it; its container is Qt's
    return type(widget).__name__ not in ("QComboBoxPrivateContainer", "QTableCornerButton", "QAbstractButton")


def full_window(make_window, qtbot, state: str = "indexing"):
    window = make_window(state)
    window.search_for("deposit")
    qtbot.wait(150)
    for page in ("models", "library", "settings", "collections", "duplicates", "train", "search"):
        window.show_page(page)
        qtbot.wait(30)
    open_training(window, qtbot)
    duplicates = window.page("duplicates")
    if window.desk.library.folders:
        qtbot.waitUntil(lambda: duplicates.finder.view is not None or duplicates.states.never.isVisibleTo(duplicates))
        duplicates.show_view("passages")
        duplicates.show_view("files")
    duplicates.edit_rules()
    duplicates.show_history()
    duplicates.ask_have((HOME / "a.pdf", HOME / "b.pdf"))
    qtbot.wait(30)
    window.open_palette()
    window.palette_sheet.close_sheet()
    window.open_shortcuts()
    window.shortcuts_sheet.close_sheet()
    fake(window).unread = (UnreadLanguage("de", "German", 4031),)
    sheet = add_folders(window, window.desk, (Path("/a/b"),))
    qtbot.waitUntil(lambda: sheet.facts.isVisible())
    sheet.close_sheet()
    for at in range(window.page("library").tabs.count()):
        window.page("library").tabs.setCurrentIndex(at)
        qtbot.wait(20)
    window.page("library").tabs.setCurrentIndex(0)
    folder = fake(window).folders[0] if fake(window).folders else FOLDERS[0]
    for opened in (
        ask_password(window, window.desk, HOME / "a.pdf"),
        edit_caption(window, window.desk, HOME / "a.pdf"),
        edit_rules(window, window.desk, folder),
    ):
        opened.close_sheet()
    window.desk.collect((hit(1, HOME / "a.pdf"),))
    window.desk.save_search(Query("deposit"))
    window.desk.get_model()
    window.desk.check_quotes()
    for opened in window.findChildren(Sheet):
        opened.close_sheet()
    window.desk.toast("Message", action="Undo", run=lambda: None)
    return window


def open_training(window, qtbot) -> None:
    """Opens what the Train page has."""
    page = window.page("train")
    fake(window).judge(130)
    fake(window).import_labels(HOME / "pairs.csv", "pairs", ())
    page.show_history()
    page.import_pairs()
    window.findChild(ImportSheet).look(HOME / "pairs.csv")
    qtbot.waitUntil(lambda: not window.findChild(ImportSheet).mapping.isHidden() and bool(page.imported))
    for sheet in (window.findChild(ImportSheet), window.findChild(HistorySheet)):
        sheet.close_sheet()
    window.show_page("train")
    page.show_step("check")
    page.checking.options.more.click()
    qtbot.waitUntil(lambda: page.checking.train_button.isEnabled())
    for step in ("train", "compare", "judge"):
        page.show_step(step)
    window.show_page("search")


@pytest.mark.parametrize("state", ["indexing", "empty", "refused", "kinds"])
def test_every_control_has_an_object_name_an_accessible_name_and_an_action(
    make_window, qtbot, state: str, capsys
) -> None:
    window = full_window(make_window, qtbot, state)
    listed: list[str] = []
    faults: list[str] = []
    for widget in every_widget(window):
        if not isinstance(widget, CONTROLS) or not own(widget):
            continue
        kind = next(kind for kind in CONTROLS if isinstance(widget, kind))
        if not widget.objectName():
            faults.append(f"no objectName: {type(widget).__name__} in {_place(widget)}")
        waiting = isinstance(widget, Button) and not widget.label() and not widget.isVisible()
        if not widget.accessibleName() and not waiting:  # a button is named by the words that it gets when shown
            faults.append(f"no accessible name: {widget.objectName() or _place(widget)}")
        action = _action(widget)
        if not action:
            faults.append(f"does nothing: {widget.objectName() or _place(widget)}")
        listed.append(f"{widget.objectName()}: {kind.__name__} -> {action} ({widget.accessibleName()})")
    print("\n".join(sorted(listed)))
    assert not faults, "\n".join(sorted(set(faults)))
    assert len(listed) > 40


def _place(widget: QWidget) -> str:
    names = []
    at: QWidget | None = widget
    while at is not None:
        names.append(at.objectName() or type(at).__name__)
        at = at.parentWidget()
    return " < ".join(names[:5])


def _action(widget: QWidget) -> str:
    for kind, signatures in SIGNALS.items():
        if isinstance(widget, kind):
            heard = [s for s in signatures if _heard(widget, s)]
            if isinstance(widget, QAbstractButton) and getattr(widget, "menu", lambda: None)() is not None:
                heard.append("menu")
            if isinstance(widget, QLineEdit) and isinstance(widget.parentWidget(), QAbstractSpinBox | QComboBox):
                heard.append("part of its box")
            return ", ".join(heard)
    return "keys and pointer"  # views and texts act through their own keys


def _heard(widget: QWidget, signature: str) -> bool:
    meta = widget.metaObject()
    at = meta.indexOfSignal(signature)
    return at >= 0 and widget.isSignalConnected(QMetaMethod(meta.method(at)))


def test_object_names_of_controls_are_unique(make_window, qtbot) -> None:
    window = full_window(make_window, qtbot)
    names: dict[str, QWidget] = {}
    twice = set()
    for widget in every_widget(window):
        if isinstance(widget, CONTROLS) and own(widget) and widget.objectName():
            if widget.objectName() in names:
                twice.add(widget.objectName())
            names[widget.objectName()] = widget
    assert not twice


@pytest.mark.parametrize("state", ["indexing", "empty", "huge", "bare"])
def test_every_label_is_plain_text(make_window, qtbot, state: str) -> None:
    window = full_window(make_window, qtbot, state)
    labels = [widget for widget in every_widget(window) if isinstance(widget, QLabel)]
    rich = [_place(label) for label in labels if label.textFormat() != Qt.TextFormat.PlainText]
    assert len(labels) > 40
    assert not rich


def test_a_hostile_name_is_shown_letter_by_letter_everywhere(make_window, qtbot, settings: Settings) -> None:
    program = FakeApp(settings)
    folder = Path("/tmp") / HOSTILE.replace("/", "∕")
    program.folders = (replace(FOLDERS[0], path=folder),)
    row = ProblemView(folder / "x<b>.pdf", folder, "damaged", HOSTILE, HOSTILE, False)
    program.problem_rows = (row,)
    window = make_window(app=program)
    window.show_page("library")
    window.page("library").tabs.setCurrentIndex(1)
    tab = window.page("library").problems
    qtbot.waitUntil(lambda: tab.table.rows_model.rowCount() == 1)
    window.page("library").remove(folder)
    qtbot.waitUntil(window.toast.isVisible)
    for widget in every_widget(window):
        assert "<img" not in widget.toolTip()
        if isinstance(widget, QLabel):
            assert widget.textFormat() == Qt.TextFormat.PlainText
            assert "\u202e" not in widget.text()  # it would turn the text around it
    for column in range(tab.table.rows_model.columnCount()):
        tip = tab.table.rows_model.index(0, column).data(Qt.ItemDataRole.ToolTipRole)
        assert "<img" not in (tip or "")
    window.drop.offer((folder,))
    assert "\u202e" not in window.drop.title()
    window.drop.hide()


def test_tab_reaches_every_part_of_a_page_and_comes_round(make_window, qtbot) -> None:
    window = make_window("kinds")
    window.activateWindow()
    window.show_page("library")
    qtbot.waitUntil(lambda: QApplication.activeWindow() is window)
    folders = _walk(qtbot, window)
    wanted = ["library_check", "library_add", "library_tabs", "folder_0", "folder_0_problems", "folder_0_menu",
              "folder_1", "folder_3_locate"]
    assert [name for name in folders if name in wanted] == wanted
    window.page("library").tabs.setCurrentIndex(1)
    qtbot.waitUntil(window.page("library").problems.table.isVisible)
    window.page("library").problems.table.selectRow(0)
    problems = _walk(qtbot, window)
    wanted = ["library_tabs", "problems_export", "problems_search", "problems_folder", "problems_show_ignored",
              "problems_causes_0", "problems_table", "problems_retry", "problems_ignore", "problems_caption",
              "problems_open", "rail_collapse"]
    assert set(wanted) <= set(problems)
    order = [name for name in problems if name in wanted[:-1]]
    assert order == wanted[:-1]


def _walk(qtbot, window) -> list[str]:
    """Gives what Tab comes to from the rail on, once round."""
    window.rail.item("library").setFocus()
    seen: list[str] = []
    for _ in range(120):
        qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
        seen.append(QApplication.focusWidget().objectName())
        if len(seen) > 3 and seen[-1] == seen[0]:
            return seen[:-1]
    return seen


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_focus_ring_is_visible(make_window, qtbot, scheme: str) -> None:
    window = make_window()
    window.desk.settings.set("appearance.theme", scheme)
    window.activateWindow()
    window.show_page("library")
    qtbot.waitUntil(lambda: QApplication.activeWindow() is window and theme.dark == (scheme == "dark"))
    page = window.page("library")
    for widget in (page.check, window.rail.item("search"), next(iter(page._cards.values())), page.problems.export):
        if widget is page.problems.export:
            page.tabs.setCurrentIndex(1)
            qtbot.waitUntil(page.problems.export.isVisible)
        widget.clearFocus()
        before = widget.grab().toImage()
        widget.setFocus(Qt.FocusReason.TabFocusReason)
        after = widget.grab().toImage()
        ring = theme.color("accent")
        changed = [
            (x, y)
            for x in range(0, after.width(), 2)
            for y in (1, after.height() - 2)
            if after.pixelColor(x, y) != before.pixelColor(x, y)
        ]
        assert len(changed) > 8, widget.objectName()
        middle = after.pixelColor(after.width() // 2, 1)
        assert max(abs(middle.red() - ring.red()), abs(middle.blue() - ring.blue())) < 12, widget.objectName()


def test_toasts_and_progress_are_said_to_a_screen_reader(make_window, qtbot, monkeypatch) -> None:
    window = make_window("indexing")
    said: list[str] = []
    monkeypatch.setattr(QAccessible, "isActive", staticmethod(lambda: True))
    monkeypatch.setattr(QAccessible, "updateAccessibility", staticmethod(lambda event: said.append(event.message())))
    window.desk.toast("Moved 12 files", action="Undo", run=lambda: None)
    assert said == ["Moved 12 files. Undo with Ctrl+Z"]
    said.clear()
    progress = fake(window).progress()
    for done in range(0, 8801, 400):
        window.status.set_progress(replace(progress, files_done=done, passages_total=0))
    assert 3 <= len(said) <= 6  # each quarter, not every file
    assert "of 8,800 files" in said[0]


def test_pages_and_dialogs_have_roles_for_a_screen_reader(make_window, qtbot) -> None:
    window = make_window()
    window.show_page("library")
    for name, role in (
        ("library_add", QAccessible.Role.PushButton),
        ("library_tabs", QAccessible.Role.PageTabList),
        ("problems_table", QAccessible.Role.Table),
        ("problems_folder", QAccessible.Role.ComboBox),
        ("setting_indexing_hidden", QAccessible.Role.CheckBox),
    ):
        widget = window.findChild(QWidget, name)
        interface = QAccessible.queryAccessibleInterface(widget)
        assert interface is not None, name
        assert interface.role() == role, name
        assert interface.text(QAccessible.Text.Name), name
    assert not [w for w in QApplication.topLevelWidgets() if isinstance(w, QDialog) and w.isVisible()]
