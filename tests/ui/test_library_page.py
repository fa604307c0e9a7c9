from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from sbert_desktop.app.views import FolderView, IndexHealth, UnreadLanguage
from sbert_desktop.domain import Failure
from sbert_desktop.ui import words
from sbert_desktop.ui.library.adding import AddSheet, add_folders, language_sentence
from sbert_desktop.ui.library.cards import state_words
from sbert_desktop.ui.library.health import statements
from sbert_desktop.ui.library.page import PROBLEMS, RECENT
from sbert_desktop.ui.status_bar import fraction, progress_text, run_text
from tests.ui.conftest import fake
from tests.ui.fake_app import FOLDERS, FakeApp

WINDOW_PAGES = ("search", "library", "settings", "models")

pytestmark = pytest.mark.gui


@pytest.fixture
def library_window(make_window):
    def make(state: str = "full", **kwargs):
        window = make_window(state, **kwargs)
        window.show_page("library")
        return window

    return make


def test_empty_library_invites(library_window, qtbot, monkeypatch, tmp_path: Path) -> None:
    (tmp_path / "Documents").mkdir()
    monkeypatch.setattr(
        "sbert_desktop.ui.library.welcome.home_folders", lambda: [("Documents", "folder", tmp_path / "Documents")]
    )
    window = library_window("empty")
    page = window.page("library")
    assert page.stack.currentWidget() is page.welcome
    assert page.welcome.zone.choose.isVisible()
    assert not page.add.isVisible()
    qtbot.waitUntil(lambda: page.welcome.heading.isVisible())
    page.welcome.findChild(type(page.add), "library_suggest_documents").click()
    assert ("estimate", (tmp_path / "Documents",)) in fake(window).calls


def test_sample_library_is_one_click_away(library_window, qtbot) -> None:
    window = library_window("empty")
    page = window.page("library")
    page.welcome.zone.sample.emit()
    qtbot.waitUntil(lambda: window.toast.isVisible())
    assert ("add_sample",) in fake(window).calls
    qtbot.waitUntil(lambda: page.stack.currentWidget() is page.full)
    assert len(page._cards) == 1
    assert page.cards_area.height() >= page._cards[next(iter(page._cards))].sizeHint().height()  # seen at once
    window.toast.button.click()
    assert window.current_page() == "search"


def test_cards_show_state_counts_and_problems(library_window, qtbot) -> None:
    window = library_window("indexing")
    page = window.page("library")
    cards = list(page._cards.values())
    assert [card.view.path for card in cards] == [folder.path for folder in FOLDERS]
    first = cards[0]
    assert first.accessibleName() == "Documents, 599 of 4,912 documents, Indexing now, 21 problems"
    assert first._bar.isVisible()
    assert not cards[1]._bar.isVisible()
    assert cards[1]._state.full_text().startswith("Up to date")
    assert cards[2]._state.full_text() == "Waiting, next in line"
    away = replace(FOLDERS[0], state="offline", documents=1204)
    assert state_words(away) == (
        "disk", "warn", "Drive not connected; 1,204 documents stay findable by their stored text")
    assert state_words(replace(FOLDERS[0], watch="live"), now=FOLDERS[0].last_change)[2].startswith("Kept up to date")
    slow = replace(FOLDERS[0], watch="periodic", watch_note="Network drive")
    assert state_words(slow)[2] == "Checked every 10 minutes: network drive"
    told = replace(slow, watch_note="The folder is on a network drive (nfs): it is checked every 15 minutes.")
    assert state_words(told)[2] == "Checked every 15 minutes: network drive (nfs)"


def test_removing_a_folder_can_be_undone_and_is_final_only_afterwards(library_window, qtbot) -> None:
    window = library_window()
    page = window.page("library")
    folder = FOLDERS[1].path
    page._cards[folder].setFocus()
    qtbot.keyClick(page._cards[folder], Qt.Key.Key_Delete)
    qtbot.waitUntil(lambda: folder not in page._cards)
    qtbot.waitUntil(lambda: window.toast.isVisible())
    assert window.toast.label.full_text() == "Removed Notes from the library; its files are untouched"
    window.toast.button.click()
    qtbot.waitUntil(lambda: folder in page._cards)
    assert ("finish_removals",) not in fake(window).calls
    page.remove(folder)
    qtbot.waitUntil(lambda: window.toast.isVisible() and folder not in page._cards)
    window.toast.dismiss()
    assert ("finish_removals",) in fake(window).calls


def test_card_menu_has_each_command_and_they_work(library_window, qtbot) -> None:
    window = library_window()
    page = window.page("library")
    card = page._cards[FOLDERS[0].path]
    made = card._make_menu()
    texts = [action.text().split("\t")[0] for action in made.actions() if action.text()]
    assert texts == [
        "Search",
        "Show in file manager",
        "Check now",
        "Rules...",
        "Show its problems",
        "Remove from the library",
    ]
    for action in made.actions():
        if action.text().startswith(("Show in", "Check")):
            action.trigger()
    made.deleteLater()
    assert ("reveal", FOLDERS[0].path) in fake(window).calls
    assert ("check", (FOLDERS[0].path,)) in fake(window).calls


def test_enter_on_a_card_searches_in_it(library_window, qtbot) -> None:
    window = library_window()
    card = window.page("library")._cards[FOLDERS[0].path]
    card.setFocus()
    qtbot.keyClick(card, Qt.Key.Key_Return)
    assert window.current_page() == "search"
    assert window.page("search").page.filters.filters().folder == FOLDERS[0].path


def test_no_problems_is_a_good_state(library_window, qtbot, settings) -> None:
    program = FakeApp(settings)
    program.problem_rows = ()
    window = library_window(app=program)
    window.page("library").tabs.setCurrentIndex(PROBLEMS)
    tab = window.page("library").problems
    qtbot.waitUntil(lambda: tab.stack.currentWidget() is tab.none)


def test_failed_list_offers_to_try_again(library_window, qtbot, settings) -> None:
    program = FakeApp(settings)
    program.fail["problems"] = Failure("library-damaged", "The catalog cannot be read.", "Run the doctor.")
    window = library_window(app=program)
    window.page("library").tabs.setCurrentIndex(PROBLEMS)
    tab = window.page("library").problems
    qtbot.waitUntil(lambda: tab.stack.currentWidget() is tab.failed)
    assert "Run the doctor" in tab.failed.sentence.text()
    program.fail.clear()
    tab.failed.button.click()
    qtbot.waitUntil(lambda: tab.stack.currentWidget() is tab.table)


def test_tables_sort_by_their_heads(library_window, qtbot) -> None:
    window = library_window()
    page = window.page("library")
    page.tabs.setCurrentIndex(RECENT)
    table = page.recent.table
    qtbot.waitUntil(lambda: table.rows_model.rowCount() == 6)
    table.horizontalHeader().sectionClicked.emit(2)
    assert [row.passages for row in table.rows_model.rows] == sorted(row.passages for row in table.rows_model.rows)
    table.horizontalHeader().sectionClicked.emit(2)
    assert table.rows_model.rows[0].passages == max(row.passages for row in table.rows_model.rows)
    table.selectRow(0)
    table.rowActivated.emit(table.current_row())
    assert fake(window).calls[-1][0] == "open_file"


def test_health_says_it_in_words(library_window, settings) -> None:
    window = library_window()
    view = window.desk.library
    texts = [sentence for _, _, sentence, _ in statements(view)]
    assert "The search accelerator finds 99 of 100 of the best hits." in texts
    exact = replace(
        view,
        index=IndexHealth("exact", 400),
        embedded=view.passages - 3,
        model=replace(view.model, state="refused", note="model.safetensors changed"),
    )
    texts = [sentence for _, _, sentence, _ in statements(exact)]
    assert any("nothing is missed" in text for text in texts)
    assert any("words only" in text for text in texts)
    for word in ("cosine", "vector", "bf16", "hnsw", "recall"):
        assert not any(word in text for text in texts)


def test_adding_shows_what_it_takes_before_anything_is_read(library_window, qtbot) -> None:
    window = library_window()
    sheet = add_folders(window, window.desk, (Path("/some/Folder"),))
    assert isinstance(sheet, AddSheet)
    assert sheet.measuring.isVisible()
    assert sheet.add.isEnabled()  # nobody has to wait for it
    qtbot.waitUntil(lambda: sheet.facts.isVisible())
    assert sheet.values["files"].text() == "8,800, 1.3 GB"
    assert sheet.values["meaning"].text() == "in 19 to 29 min; you can search meanwhile"
    assert sheet.values["disk"].text() == "118 to 174 MB (41 GB free)"
    assert not sheet.words_only.isVisible()
    assert not any(call[0] == "add_folders" for call in fake(window).calls)
    sheet.add.click()
    assert ("add_folders", (Path("/some/Folder"),), False) in fake(window).calls
    assert not sheet.isVisible()
    qtbot.waitUntil(lambda: Path("/some/Folder") in window.page("library")._cards)


def test_unread_languages_are_said_before_encoding(library_window, qtbot) -> None:
    window = library_window()
    fake(window).unread = (UnreadLanguage("de", "German", 4031),)
    sheet = add_folders(window, window.desk, (Path("/some/Folder"),))
    qtbot.waitUntil(lambda: sheet.warning.isVisible())
    assert "About 4,000 documents are German: this model reads English." in sheet.warning_text.text()
    assert [b.label() for b in (sheet.cancel, sheet.words_only, sheet.add) if b.isVisible()] == [
        "Cancel",
        "Words only",
        "Go on",
    ]
    sheet.words_only.click()
    assert ("add_folders", (Path("/some/Folder"),), True) in fake(window).calls


def test_a_folder_that_cannot_be_added_is_refused_with_the_reason(library_window, qtbot) -> None:
    window = library_window()
    fake(window).estimate_problem = "This is a file. Choose the folder that it lies in."
    sheet = add_folders(window, window.desk, (Path("/some/file.txt"),))
    qtbot.waitUntil(lambda: sheet.warning.isVisible())
    assert sheet.warning_text.text() == "This is a file. Choose the folder that it lies in."
    assert not sheet.add.isVisible()
    sheet.cancel.click()
    assert not sheet.isVisible()


def test_cancelling_the_measurement_cancels_its_job(library_window, qtbot, settings) -> None:
    program = FakeApp(settings)
    window = library_window(app=program)
    program.delay = 0.2
    sheet = add_folders(window, window.desk, (Path("/some/Folder"),))
    qtbot.keyClick(sheet.cancel, Qt.Key.Key_Escape)
    assert not sheet.isVisible()
    assert any(call[0] == "cancel" for call in program.calls)
    qtbot.wait(250)
    assert not sheet.isVisible()


def test_focus_stays_in_the_sheet(library_window, qtbot) -> None:
    window = library_window()
    window.activateWindow()
    sheet = add_folders(window, window.desk, (Path("/some/Folder"),))
    qtbot.waitUntil(lambda: sheet.add.isEnabled())
    seen = set()
    for _ in range(12):
        qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
        assert sheet.isAncestorOf(QApplication.focusWidget())
        seen.add(QApplication.focusWidget().objectName())
    assert {"add_cancel", "add_confirm"} <= seen
    sheet.close_sheet()


def test_entries_of_gone_files_are_kept_until_the_person_says_so(library_window, qtbot) -> None:
    window = library_window("indexing")
    qtbot.waitUntil(lambda: window.desk.index_job is not None)
    program = fake(window)
    report = replace(program.report(), removed_pending=1240)
    program.report = lambda: report
    program.end_index(window.desk.index_job)
    page = window.page("library")
    qtbot.waitUntil(lambda: page.pending.isVisible())
    assert "1,240 files" in page.pending_text.text()
    page.pending_apply.click()
    assert ("update", True) in program.calls


def test_progress_is_said_honestly() -> None:
    program_progress = FakeApp.progress

    class Fake:
        paused, pace = False, "full"

    progress = program_progress(Fake())  # type: ignore[arg-type]
    assert progress_text(progress) == "1,240 of 8,800 files"
    assert fraction(progress) == pytest.approx(min(1240 / 8800, 4100 / 29000))
    late = replace(progress, files_done=8800, passages_done=14_500)
    assert progress_text(late) == "14,500 of 29,000 passages"
    assert fraction(late) == pytest.approx(0.5)
    # nothing to read, only to encode
    assert fraction(replace(progress, files_total=0)) == pytest.approx(4100 / 29000)
    assert fraction(replace(progress, files_total=0, passages_total=0)) is None
    assert run_text(replace(progress, files_total=0, passages_total=0)) == "Looking for changes..."
    assert run_text(replace(progress, note="Building the index")) == "Building the index..."
    preparing = replace(progress, files_total=0, passages_done=1240, passages_total=8800, preparing="home-1")
    assert run_text(preparing) == "Preparing home-1: 1,240 of 8,800 passages"
    assert run_text(replace(preparing, paused=True)) == "Paused: preparing home-1: 1,240 of 8,800 passages"
    assert words.left(None) == ""
    assert words.left(30) == "less than 1 min left"


def test_words_for_numbers_and_times() -> None:
    assert words.between(50, 80) == "50 s to 2 min"
    assert words.between(1100, 1700) == "19 to 29 min"
    assert words.between(100, 110) == "about 2 min"
    assert words.sizes_between(118e6, 174e6) == "118 to 174 MB"
    assert words.counted(1, "file") == "1 file"
    assert words.size(999) == "999 bytes"
    assert words.ago(1000, 1030) == "just now"
    assert words.ago(1000, 1000 + 600) == "10 min ago"
    assert (
        language_sentence((UnreadLanguage("de", "German", 4031), UnreadLanguage("fr", "French", 57)), ("en",))
        == "About 4,000 documents are German and 57 documents are French: this model reads English."
    )


def test_while_files_are_being_read_nobody_claims_that_all_could_be(library_window, qtbot) -> None:
    window = library_window("indexing")
    tab = window.page("library").problems
    qtbot.waitUntil(lambda: window.desk.index_progress is not None)
    assert tab.none.title.text() == "No problems so far"
    fake(window).end_index(window.desk.index_job)
    qtbot.waitUntil(lambda: window.desk.index_progress is None)
    assert tab.none.title.text() == "Everything was read"


def test_folder_chosen_to_be_words_only_is_up_to_date():
    view = FolderView(Path("/x/letters"), 30, 0, 60, 0, "current", None, words_only=True)
    assert state_words(view) == ("check", "good", "Up to date, findable by words only")
    waiting = FolderView(Path("/x/letters"), 30, 10, 60, 0, "current", None)
    assert "20 findable by words only" in state_words(waiting)[2]
