from __future__ import annotations

import os
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QDialog, QFileDialog, QPushButton, QWidget

from sbert_desktop.domain import Failure, Finished, JobId, Outcome, Partial, Progress, Started
from sbert_desktop.settings import Settings
from sbert_desktop.ui import window_state
from sbert_desktop.ui.pages import PAGES
from sbert_desktop.ui.palette import match
from sbert_desktop.ui.theme import theme
from tests.ui.conftest import fake
from tests.ui.fake_app import FakeApp

pytestmark = pytest.mark.gui

FEW = ("search", "models", "library", "settings")
"""Pages enough where only the window itself is looked at: all of them cost a second of each test."""


def key(window, sequence_key, modifier=Qt.KeyboardModifier.ControlModifier, qtbot=None) -> None:
    target = QApplication.focusWidget() or window
    qtbot.keyClick(target, sequence_key, modifier)


def active(window, qtbot) -> None:
    window.activateWindow()
    qtbot.waitUntil(lambda: QApplication.activeWindow() is window)


def test_window_is_shown_before_the_program_is_there(make_window) -> None:
    window = make_window(connect=False)
    assert window.isVisible()
    assert window.stack.currentWidget() is window._opening
    assert window.status.text.full_text() == "Opening the library..."
    assert [spec.key for spec in window._specs] == ["search", "duplicates", "clusters", "map", "train", "models",
                                                      "library", "settings", "collections"]


def test_pages_not_delivered_yet_are_absent(make_window) -> None:
    window = make_window()
    assert set(window.rail._items) == {spec.key for spec in PAGES if not spec.needs or window.desk.can(spec.needs)}
    assert list(window.rail._items) == ["search", "duplicates", "clusters", "map", "train", "models", "library",
                                        "settings", "collections"]


def test_a_page_that_the_program_cannot_fill_is_left_out_and_the_keys_of_the_others_stay(make_window, settings, qtbot):
    class Old(FakeApp):
        clusters = map = pairs = None

    window = make_window(app=Old(settings))
    active(window, qtbot)
    assert set(window.rail._items) == {"search", "duplicates", "models", "library", "settings", "collections"}
    shown = {action.name: action.shortcut for group, action in window.actions_by_group() if group == "Go to"}
    assert shown == {"go_search": "Ctrl+1", "go_duplicates": "Ctrl+2", "go_models": "Ctrl+6", "go_library": "Ctrl+7",
                     "go_settings": "Ctrl+8", "go_collections": "Ctrl+9"}
    key(window, Qt.Key.Key_6, qtbot=qtbot)
    assert window.current_page() == "models"
    key(window, Qt.Key.Key_4, qtbot=qtbot)
    assert window.current_page() == "models"
    window.desk.go_with("map", (1, 2), "2 documents")
    assert window.current_page() == "models"


def test_ctrl_digits_and_the_rail_go_to_the_pages(make_window, qtbot) -> None:
    window = make_window()
    active(window, qtbot)
    for number, page in enumerate((spec.key for spec in PAGES), start=1):
        if not window.desk.has_page(page):
            continue
        key(window, Qt.Key.Key_0 + number, qtbot=qtbot)
        assert window.current_page() == page
        assert window.rail.item(page).isChecked()
        assert window.stack.currentWidget() is window.page(page)
    window.rail.item("models").click()
    assert window.current_page() == "models"
    assert "Models" in window.windowTitle()


def test_ctrl_k_reaches_the_search_box_from_everywhere(make_window, qtbot) -> None:
    window = make_window(pages=FEW)
    active(window, qtbot)
    for page in ("library", "models", "settings"):
        window.show_page(page)
        key(window, Qt.Key.Key_K, qtbot=qtbot)
        assert window.current_page() == "search"
        assert window.page("search").isAncestorOf(QApplication.focusWidget())


def test_f5_checks_for_changes_and_ctrl_dot_pauses(make_window, qtbot) -> None:
    window = make_window("indexing", pages=FEW)
    active(window, qtbot)
    qtbot.waitUntil(lambda: window.desk.index_progress is not None)
    key(window, Qt.Key.Key_F5, Qt.KeyboardModifier.NoModifier, qtbot=qtbot)
    assert ("update", False) in fake(window).calls
    window.desk.index_progress = window.desk.index_progress or fake(window).progress()
    key(window, Qt.Key.Key_Period, qtbot=qtbot)
    assert ("pause",) in fake(window).calls


def test_pause_is_shown_at_once_and_continues(make_window, qtbot) -> None:
    window = make_window("indexing", pages=FEW)
    qtbot.waitUntil(lambda: window.status.pause.isVisible())
    assert window.status.text.full_text() == "Indexing 1,240 of 8,800 files"
    assert window.status.eta.text() == "about 4 min left"
    window.status.pause.click()
    assert ("pause",) in fake(window).calls
    assert window.status.pause.label() == "Continue"
    assert window.status.text.full_text().startswith("Paused at")
    assert window.page("library").progress.pause.label() == "Continue"
    assert "Paused" in [card._state.full_text() for card in window.page("library")._cards.values()]
    window.status.pause.click()
    assert "Paused" not in [card._state.full_text() for card in window.page("library")._cards.values()]
    assert ("resume",) in fake(window).calls
    assert window.status.pause.label() == "Pause"


def test_pace_is_chosen_beside_pause(make_window, qtbot) -> None:
    window = make_window("indexing", pages=FEW)
    qtbot.waitUntil(lambda: window.status.pace.isVisible())
    window.status.pace.setCurrentIndex(window.status.pace.findData("full"))
    window.status.pace.activated.emit(window.status.pace.currentIndex())
    assert ("set_pace", "full") in fake(window).calls


def test_end_of_a_run_leaves_the_bar_idle_and_asks_for_the_library(make_window, qtbot) -> None:
    window = make_window("indexing", pages=FEW)
    qtbot.waitUntil(lambda: window.desk.index_job is not None and window.status.pause.isVisible())
    before = fake(window).calls.count(("refresh",))
    fake(window).end_index(window.desk.index_job)
    qtbot.waitUntil(lambda: not window.status.pause.isVisible())
    qtbot.waitUntil(lambda: window.status.text.full_text().startswith("Up to date"))
    assert fake(window).calls.count(("refresh",)) == before + 1
    assert not window.page("library").progress.isVisibleTo(window.page("library"))


def test_a_run_shows_itself_before_its_first_file(make_window, qtbot) -> None:
    window = make_window(pages=FEW)
    job = JobId("index-99")
    fake(window).say([Started(job, "index")])
    qtbot.waitUntil(lambda: window.status.text.full_text() == "Looking for changes...")
    assert not window.status.pause.isVisible()  # most looks find nothing: only the sign and the words change
    fake(window).say([Progress(job, "Waiting for process 4711 on lamp", 0, None)])
    qtbot.waitUntil(lambda: window.status.text.full_text() == "Waiting for process 4711 on lamp...")
    assert window.status.pause.isVisible()
    assert window.page("library").progress.title.text() == "Waiting for process 4711 on lamp..."
    fake(window).say([Finished(job, Outcome.DONE, fake(window).report())])
    qtbot.waitUntil(lambda: window.status.text.full_text().startswith("Up to date"))


def test_a_handful_of_changed_files_is_taken_in_without_moving_anything(make_window, qtbot) -> None:
    window = make_window(pages=FEW)
    window.show_page("library")
    page = window.page("library")
    job = JobId("index-97")
    few = replace(fake(window).progress(), files_done=1, files_total=3, passages_done=4, passages_total=12)
    fake(window).say([Started(job, "index"), Partial(job, few)])
    qtbot.waitUntil(lambda: window.status.text.full_text() == "Taking in 3 changed files")
    assert not window.status.bar.isVisible()
    assert not window.status.pause.isVisible()
    assert not page.progress.isVisibleTo(page)
    assert page.check.isVisible()
    # a run that grows beyond a handful shows itself, and stays shown until it ends
    fake(window).say([Partial(job, replace(few, files_total=900))])
    qtbot.waitUntil(window.status.bar.isVisible)
    fake(window).say([Partial(job, few)])
    qtbot.wait(300)
    assert window.status.bar.isVisible()
    fake(window).say([Finished(job, Outcome.DONE, fake(window).report())])
    qtbot.waitUntil(lambda: window.status.text.full_text().startswith("Up to date"))


def test_a_setting_asked_for_by_another_page_is_shown_and_focused(make_window, qtbot) -> None:
    window = make_window(pages=FEW)
    window.activateWindow()
    window.desk.show_setting("reading.size_limit")
    assert window.current_page() == "settings"
    control = window.page("settings").findChild(QWidget, "setting_reading_size_limit")
    qtbot.waitUntil(lambda: control.hasFocus() or control.isAncestorOf(QApplication.focusWidget()))


def test_a_look_that_finds_nothing_new_shows_no_progress(make_window, qtbot) -> None:
    window = make_window(pages=FEW)
    shown = []
    window.desk.indexProgressed.connect(shown.append)
    window.desk._first.setInterval(3_600_000)  # the look is over before, however long the machine stands still
    with qtbot.waitSignal(window.desk.indexFinished):
        fake(window).say([Started(JobId("index-98"), "index"), Finished(JobId("index-98"), Outcome.DONE)])
    assert shown == [None]
    assert not window.desk._first.isActive()  # nor does it show itself later


def test_failed_run_says_what_and_why(make_window, qtbot) -> None:
    window = make_window("indexing", pages=FEW)
    qtbot.waitUntil(lambda: window.desk.index_job is not None)
    fake(window).end_index(
        window.desk.index_job,
        Outcome.FAILED,
        Failure("disk-full", "The disk is full.", "Make room and press Continue."),
    )
    qtbot.waitUntil(lambda: window.toast.isVisible())
    assert window.toast.label.full_text() == "The disk is full. Make room and press Continue."


def test_narrow_windows_fold_the_rail_and_the_inspector(make_window, qtbot) -> None:
    window = make_window()
    window.show_page("models")
    assert not window.rail.collapsed()
    assert window.inspector.isVisible()
    window.resize(1100, 700)
    assert window.rail.collapsed()
    assert window.rail.width() == 52
    assert window.inspector.isVisible()
    window.resize(960, 640)
    qtbot.waitUntil(lambda: not window.inspector.isVisible())
    qtbot.waitUntil(window.page("models").table.isVisible)
    window.toggle_inspector()
    assert window.inspector.isVisible()
    assert window.page("models").width() >= 360
    window.resize(1280, 800)
    assert not window.rail.collapsed()
    assert window.inspector.isVisible()
    qtbot.waitUntil(lambda: window.inspector.width() == 336)  # as wide as this page has it


@pytest.mark.parametrize("page", ["search", "train", "models", "library", "settings"])
def test_every_page_fits_into_960_by_640(make_window, qtbot, page: str) -> None:
    window = make_window(size=(960, 640))
    window.show_page(page)
    QApplication.processEvents()
    assert (window.width(), window.height()) == (960, 640)
    for button in window.findChildren(type(window.status.pause)):
        if button.isVisible():
            place = button.mapTo(window, button.rect().topLeft())
            inside = window.rect().contains(place) or button.window() is not window
            assert inside or _scrolled(button), button.objectName()


def _scrolled(widget) -> bool:
    from PySide6.QtWidgets import QScrollArea

    at = widget.parentWidget()
    while at is not None:
        if isinstance(at, QScrollArea):
            return True
        at = at.parentWidget()
    return False


def test_the_window_remembers_its_state(make_window, qtbot, tmp_path: Path) -> None:
    file = tmp_path / "state" / "window.json"
    window = make_window(save=lambda state: window_state.save(file, state))
    window.show_page("library")
    window.page("library").tabs.setCurrentIndex(2)
    window.rail.toggle()
    window.inspector.set_open(False)
    window.resize(1234, 777)
    with qtbot.waitSignal(window.closed):
        window.close()
    saved = window_state.load(file)
    again = make_window(saved=saved, size=(1234, 777))
    assert again.current_page() == "library"
    assert again.page("library").tabs.currentIndex() == 2
    assert again.rail.collapsed()
    assert not again.inspector.is_open()


@pytest.mark.parametrize("text", ["", "{", "[1, 2]", '{"geometry": 7, "page": "nowhere", "inspector_width": "x"}'])
def test_a_damaged_state_file_costs_only_the_memory(make_window, tmp_path: Path, text: str) -> None:
    file = tmp_path / "window.json"
    file.write_text(text)
    window = make_window(saved=window_state.load(file), pages=FEW)
    assert window.current_page() == "search"
    assert window.isVisible()


def test_closing_leaves_the_screen_at_once_and_closes_the_program_off_the_gui_thread(make_window, qtbot) -> None:
    window = make_window(pages=FEW)
    program = fake(window)
    where: list[threading.Thread] = []
    close = program.close

    def slow_close(timeout: float = 5.0) -> None:
        where.append(threading.current_thread())
        close(timeout)

    program.close = slow_close
    with qtbot.waitSignal(window.closed):
        window.close()
        assert not window.isVisible()
    assert program.closed
    assert where[0] is not threading.main_thread()


def test_failed_opening_shows_why_and_one_action(make_window, qtbot, settings: Settings) -> None:
    window = make_window(connect=False, pages=FEW)
    window.show_opening_failure(Failure("library-busy", "Another program holds this library.", "Close it first."))
    button = window.findChild(type(window.status.pause), "opening_failed_action")
    assert button.isVisible()
    with qtbot.waitSignal(window.retryRequested):
        button.click()
    assert window.stack.currentWidget() is window._opening


def drag(paths) -> QMimeData:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    return data


def test_folders_can_be_dropped_anywhere(make_window, qtbot, tmp_path: Path) -> None:
    window = make_window(pages=FEW)
    window.show_page("models")
    data = drag([tmp_path / "One", tmp_path / "Two"])
    enter = QDragEnterEvent(
        window.rect().center(),
        Qt.DropAction.CopyAction,
        data,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    window.dragEnterEvent(enter)
    assert enter.isAccepted()
    assert window.drop.isVisible()
    assert window.drop.title() == "Add “One” and “Two”"
    drop = QDropEvent(
        QPointF(window.rect().center()),
        Qt.DropAction.MoveAction | Qt.DropAction.CopyAction,
        data,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    window.drop.dropEvent(drop)
    assert drop.dropAction() == Qt.DropAction.CopyAction  # a move would make the sender delete the folder
    assert not window.drop.isVisible()
    assert ("estimate", (tmp_path / "One", tmp_path / "Two")) in fake(window).calls


def test_text_and_addresses_are_not_taken_for_folders(make_window) -> None:
    window = make_window(pages=FEW)
    data = QMimeData()
    data.setUrls([QUrl("https://example.org/x")])
    enter = QDragEnterEvent(
        window.rect().center(),
        Qt.DropAction.CopyAction,
        data,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    window.dragEnterEvent(enter)
    assert not enter.isAccepted()
    assert not window.drop.isVisible()


def test_palette_finds_runs_and_gives_the_focus_back(make_window, qtbot) -> None:
    window = make_window(pages=FEW)
    active(window, qtbot)
    window.show_page("library")
    before = QApplication.focusWidget()
    key(window, Qt.Key.Key_P, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier, qtbot=qtbot)
    palette = window.palette_sheet
    assert palette.isVisible()
    assert QApplication.focusWidget() is palette.edit
    qtbot.keyClick(palette.edit, Qt.Key.Key_Escape)
    assert not palette.isVisible()
    assert QApplication.focusWidget() is before
    window.open_palette()
    qtbot.keyClicks(palette.edit, "check chan")
    assert palette.shown() == ["Check for changes"]
    qtbot.keyClick(palette.edit, Qt.Key.Key_Return)
    assert ("update", False) in fake(window).calls
    window.open_palette()
    assert palette.shown()[0] == "Check for changes"  # recent first
    qtbot.keyClick(palette.edit, Qt.Key.Key_Down)
    assert palette.list.currentIndex().row() > 1
    palette.edit.setText("? deposit")
    qtbot.keyClick(palette.edit, Qt.Key.Key_Return)
    assert window.current_page() == "search"
    assert window.page("search").page.query.text() == "deposit"
    window.open_palette()
    palette.edit.setText("zzzz")
    assert palette.none.isVisible()
    qtbot.keyClick(palette.edit, Qt.Key.Key_Return)
    palette.close_sheet()


def test_matching_marks_word_starts_first() -> None:
    assert match("fold", "Unfold the folder") == (11, 12, 13, 14)
    assert match("a f", "Add folder") == (0, 4)
    assert match("xyz", "Add folder") is None
    assert match("", "Add") == ()


def test_every_command_runs_without_a_fault(make_window, qtbot, monkeypatch) -> None:
    window = make_window()
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *a, **k: "")
    monkeypatch.setattr(QDialog, "exec", lambda self: 0)
    done: set[str] = set()
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *a, **k: ("", ""))
    for page in ("search", "train", "models", "library", "settings"):
        window.show_page(page)
        for _, action in window.actions_by_group():
            if action.name in done or action.name == "quit" or (action.enabled is not None and not action.enabled()):
                continue
            done.add(action.name)
            action.run()
            QApplication.processEvents()
            for sheet in ("palette_sheet", "shortcuts_sheet"):
                if hasattr(window, sheet):
                    getattr(window, sheet).close_sheet()
            for dialog in QApplication.topLevelWidgets():
                if dialog is not window and dialog.isVisible():
                    dialog.close()
            window.show_page(page)


def test_shortcut_list_is_made_of_the_commands(make_window) -> None:
    window = make_window()
    window.open_shortcuts()
    sheet = window.shortcuts_sheet
    assert sheet.isVisible()
    from sbert_desktop.ui.widgets import KeyCap

    caps = [cap.accessibleName() for cap in sheet.findChildren(KeyCap)]
    assert "K" in caps
    assert "F5" in caps
    sheet.close_sheet()


def test_no_two_shortcuts_of_the_window_are_the_same(make_window) -> None:
    window = make_window()
    keys = [shortcut.key().toString() for shortcut in window._shortcuts]
    assert len(keys) == len(set(keys))


def test_text_size_and_colours_change_live(make_window, qtbot) -> None:
    window = make_window()
    active(window, qtbot)
    key(window, Qt.Key.Key_Plus, qtbot=qtbot)
    assert theme.text_scale == 110
    window.desk.settings.set("appearance.theme", "dark")
    qtbot.waitUntil(lambda: theme.dark)
    assert window.grab().toImage().pixelColor(window.width() - 4, 300).lightness() < 80
    key(window, Qt.Key.Key_0, qtbot=qtbot)
    assert theme.text_scale == 100


def test_ctrl_z_undoes_what_the_toast_offers(make_window, qtbot) -> None:
    window = make_window(pages=FEW)
    active(window, qtbot)
    window.show_page("library")
    done: list[int] = []
    window.desk.toast("Removed", action="Undo", run=lambda: done.append(1))
    key(window, Qt.Key.Key_Z, qtbot=qtbot)
    assert done == [1]
    assert not window.toast.isVisible()


def test_nothing_is_read_from_disk_by_the_window(make_window, monkeypatch, qtbot) -> None:
    window = make_window("empty")
    main = threading.main_thread()
    seen: list[str] = []
    real = os.stat

    def watched(path, *args, **kwargs):
        if threading.current_thread() is main:
            seen.append(str(path))
        return real(path, *args, **kwargs)

    monkeypatch.setattr(os, "stat", watched)
    for page in ("library", "train", "models", "search", "settings"):
        window.show_page(page)
        qtbot.wait(20)
    monkeypatch.undo()
    assert not [path for path in seen if "python" not in path and "/sbert_desktop/ui/" not in path]


def test_events_after_the_window_closed_are_harmless(make_window, qtbot, settings: Settings) -> None:
    program = FakeApp(settings, delay=0.05)
    window = make_window(app=program, pages=FEW)
    program.refresh()
    window.close()
    qtbot.waitUntil(lambda: program.closed)


@pytest.mark.parametrize("when", ["while it is made", "as it comes"])
def test_a_program_that_comes_after_the_window_was_closed_is_closed_too(make_window, qtbot, settings, when) -> None:
    window = make_window(connect=False, pages=FEW)
    begun, go, made = threading.Event(), threading.Event(), FakeApp(settings)

    def make() -> FakeApp:
        begun.set()
        assert go.wait(60)
        return made

    window.errands.run(make, window.connect_program, None, lambda program: program.close())
    assert begun.wait(60)
    if when == "as it comes":
        go.set()
        window.errands._threads[0][0].join()  # its answer waits for the GUI thread
    window.close()
    go.set()
    window.finish()
    for thread, _ in window.errands._threads:
        thread.join(60)
    assert made.closed
    assert not made._thread.is_alive()
    assert not window._pages


def test_finish_waits_for_the_program_behind(make_window, settings: Settings) -> None:
    program = FakeApp(settings)
    window = make_window(app=program, pages=FEW)
    plain, order = program.close, []

    def close(timeout: float = 5.0) -> None:
        plain(timeout)
        order.append("closed behind")

    program.close = close
    program.delay = 0.3
    program.refresh()
    window.close()  # as Qt itself does on a Mac's Quit, which ends the event loop at once
    window.finish()
    assert order == ["closed behind"]
    window.finish()  # again is nothing


def test_a_drive_that_went_away_is_noticed_though_nothing_tells(make_window, qtbot) -> None:
    window = make_window(pages=FEW)
    active(window, qtbot)
    seen: list[object] = []
    window.desk.libraryChanged.connect(seen.append)
    window.desk.refresh()
    qtbot.wait(80)
    assert not seen  # nothing is new: nothing is read again
    view = window.desk.library
    gone = replace(view, folders=(replace(view.folders[0], state="offline"), *view.folders[1:]))
    fake(window).view = lambda: gone
    window.desk._beat.timeout.emit()
    qtbot.waitUntil(lambda: window.desk.library.folders[0].state == "offline")
    assert seen
    window.close()
    assert not window.desk._beat.isActive()


def test_a_message_does_not_cover_the_buttons_for_problems(make_window, qtbot) -> None:
    window = make_window("kinds", pages=FEW)
    window.show_page("library")
    page = window.page("library")
    page.tabs.setCurrentIndex(1)
    qtbot.waitUntil(page.problems.detail.isVisible)
    window.desk.toast("Ignoring a file", action="Undo", run=lambda: None)
    strip = page.problems.detail
    top = strip.mapTo(window, strip.rect().topLeft()).y()
    assert window.toast.geometry().bottom() < top
    page.tabs.setCurrentIndex(0)
    window.desk.toast("Elsewhere it stands at the foot")
    assert window.toast.geometry().bottom() > top


def test_a_change_that_waits_for_another_program_says_so(make_window, qtbot) -> None:
    window = make_window(pages=FEW)
    job = JobId("errand-1")
    window.bridge.post(Started(job, "errand"))
    window.bridge.post(Progress(job, "Waiting for process 4711 on lamp", 0, None))
    qtbot.waitUntil(lambda: window.toast.label.full_text() ==
                    "Waiting for process 4711 on lamp, which writes to this library")


def test_keys_do_not_change_the_page_under_an_open_sheet(make_window, qtbot) -> None:
    window = make_window()
    active(window, qtbot)
    window.show_page("library")
    window.open_shortcuts()
    sheet = window.shortcuts_sheet
    calls = len(fake(window).calls)
    for pressed in (Qt.Key.Key_1, Qt.Key.Key_K, Qt.Key.Key_Comma, Qt.Key.Key_O):
        key(window, pressed, qtbot=qtbot)
        assert window.current_page() == "library"
        assert sheet.isAncestorOf(QApplication.focusWidget())
    key(window, Qt.Key.Key_F5, Qt.KeyboardModifier.NoModifier, qtbot=qtbot)
    assert ("update", False) not in fake(window).calls[calls:]
    key(window, Qt.Key.Key_Plus, qtbot=qtbot)
    assert theme.text_scale == 110  # what only makes it readable works
    key(window, Qt.Key.Key_0, qtbot=qtbot)
    sheet.close_sheet()
    key(window, Qt.Key.Key_1, qtbot=qtbot)
    assert window.current_page() == "search"


def test_a_sheet_gives_the_focus_to_the_window_when_what_had_it_is_gone(make_window, qtbot) -> None:
    window = make_window(pages=FEW)
    active(window, qtbot)
    for gone in ("hidden", "destroyed"):
        button = QPushButton("Gone soon", window)
        button.show()
        button.setFocus()
        window.open_shortcuts()
        if gone == "hidden":
            button.hide()
        else:
            button.deleteLater()
            QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Escape)
        assert not window.shortcuts_sheet.isVisible()
        assert QApplication.focusWidget() is window
