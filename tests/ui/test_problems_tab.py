"""The Problems tab: what is listed, found, sorted and chosen, and that each action does what it says."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QPoint, QRect, Qt, QTimer
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication, QMenu

from sbert_desktop.domain import PICTURE, Failure, Finished, JobId, Outcome
from sbert_desktop.ui.caption import edit_caption
from sbert_desktop.ui.library.causes import CAUSES, cause_words
from sbert_desktop.ui.library.page import PROBLEMS
from sbert_desktop.ui.library.problem_rows import Wanted, causes_of, filtered, make_rows, summary
from sbert_desktop.ui.naming import file_words, kind_of, member_words, quick_path
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.widgets import Button, tag_width
from tests.ui.conftest import fake
from tests.ui.fake_app import HOME, FakeApp, many_problems, problems

WINDOW_PAGES = ("search", "library", "settings")

pytestmark = pytest.mark.gui

SHOWN = [row for row in problems() if not row.ignored]


@pytest.fixture
def open_tab(make_window, qtbot):
    def make(state: str = "kinds", **kwargs):
        window = make_window(state, **kwargs)
        window.activateWindow()
        window.show_page("library")
        window.page("library").tabs.setCurrentIndex(PROBLEMS)
        tab = window.page("library").problems
        qtbot.waitUntil(lambda: tab.stack.currentWidget() is not tab.loading)
        return window, tab

    return make


def choose(tab, code: str, member: bool = False) -> object:
    """Chooses the first row with this cause."""
    rows = tab.table.rows_model.rows
    at = next(i for i, row in enumerate(rows) if row.problem.code == code and bool(row.problem.member) == member)
    tab.table.selectRow(at)
    return rows[at].problem


# ---- words


def test_a_message_of_a_mailbox_is_shown_by_its_subject() -> None:
    assert member_words("418 Re: flat.eml") == "Re: flat"
    assert member_words("418 Re: flat.eml/plan.pdf") == "Re: flat / plan.pdf"
    assert member_words("docs/a.txt") == "docs/a.txt"
    assert member_words("inner.zip/doc.txt") == "inner.zip / doc.txt"
    assert member_words("7.eml") == member_words("7 .eml") == "Message 7"
    assert member_words("Meeting notes.eml") == "Meeting notes.eml"  # no message of a mailbox: a file of its own
    assert member_words("part 2") == "part 2"
    assert file_words(Path("/a/mail-2022-11.mbox"), "418 Re: flat.eml") == "mail-2022-11.mbox / Re: flat"
    assert "\u202e" not in file_words(Path("/a/x.zip"), "\u202egnp.exe")
    assert kind_of(Path("/a/x.zip"), "docs/plan.PDF") == "pdf"
    assert quick_path("/a/ü\n") == "/a/ü\\n"


def test_the_summary_counts_what_is_missing_and_what_is_partial_but_not_what_is_ignored() -> None:
    rows = make_rows(problems())
    partial = sum(row.partial for row in SHOWN)
    # a picture and the one of a kind that is not read are listed, but no problems
    assert summary(rows) == (f"{len(SHOWN) - partial - 2} files are not in the results, {partial} only in part; "
                             "1 picture without its text; 1 of a kind that is not read")
    photos = [replace(row, code=PICTURE, partial=at == 1) for at, row in enumerate(SHOWN[:2])]
    assert summary(make_rows(photos)) == "2 pictures without their text"  # with EXIF words or without
    assert summary(make_rows(row for row in SHOWN if row.partial)) == \
        f"{partial} files are in the results only in part"
    assert summary(make_rows(SHOWN[:1])) == "1 file is not in the results"
    assert summary(make_rows(row for row in problems() if row.ignored)) == ""


def test_every_cause_has_words_and_an_unknown_one_is_named_by_its_message() -> None:
    assert {row.code for row in problems()} | {"changed-while-read", "internal", "wordless"} == set(CAUSES)
    strange = replace(problems()[0], code="from-a-later-version", message="The moon is in the way.")
    assert cause_words(strange) == "The moon is in the way"


def test_counts_of_causes_follow_the_other_filters() -> None:
    rows = make_rows(problems())
    counts = dict(causes_of(rows, Wanted(text="scan", cause="Damaged")))
    assert counts["No text layer"] == 11  # the cause chosen does not hide the others' counts
    assert len(filtered(rows, Wanted(text="FLOOR plan"))) == 1
    assert not filtered(rows, Wanted(folder=HOME / "Nowhere"))


# ---- the list


def test_all_that_was_not_read_is_listed_with_member_cause_and_time(open_tab) -> None:
    _, tab = open_tab()
    rows = tab.table.rows_model.rows
    assert len(rows) == len(SHOWN)
    names = {row.name for row in rows}
    assert "mail-2022-11.mbox / Re: flat, handing over the keys / Floor plan.pdf" in names
    texts = [tab.table.rows_model.index(1, column).data() for column in range(5)]
    assert texts == ["Bank statement 2021-04.pdf", "~/Documents/Bank", "The file is protected with a password", "No",
                     "14 Nov 2023"]
    assert "encrypted" not in " ".join(texts)  # words, not codes
    assert tab.sentence.full_text() == summary(make_rows(problems()))


def test_search_causes_folder_and_ignored_narrow_the_list(open_tab, qtbot) -> None:
    window, tab = open_tab()
    assert tab.show_ignored.text() == "Show ignored (3)"
    tab.show_ignored.click()
    assert tab.table.rows_model.rowCount() == len(problems())
    tab.show_ignored.click()
    chip = next(chip for chip in tab.causes.chips if chip.word() == "No text layer")
    chip.click()
    assert {row.problem.code for row in tab.table.rows_model.rows} == {"no-text-layer"}
    assert chip.isChecked()
    assert chip.accessibleName() == "No text layer, 12"
    chip.click()
    assert tab.table.rows_model.rowCount() == len(SHOWN)
    tab.causes._fill_menu()
    rare = next(a for a in tab.causes.menu.actions() if a.text().startswith("Only in the cloud"))
    rare.trigger()
    assert [row.problem.code for row in tab.table.rows_model.rows] == ["cloud-only"]
    assert tab.causes.more.value() == "Only in the cloud"
    qtbot.keyClick(tab.causes.more, Qt.Key.Key_Delete)
    assert tab.table.rows_model.rowCount() == len(SHOWN)
    tab.search.set_text("diary")
    qtbot.waitUntil(lambda: tab.table.rows_model.rowCount() == 1)
    tab.search.set_text("no such file")
    qtbot.waitUntil(lambda: tab.stack.currentWidget() is tab.filtered)
    tab.filtered.button.click()
    assert tab.table.rows_model.rowCount() == len(SHOWN)
    card = window.page("library")._cards[HOME / "Notes"]
    card.problems.click()
    assert {row.problem.folder for row in tab.table.rows_model.rows} == {HOME / "Notes"}
    window.page("library")._cards[HOME / "Documents"].ignored.click()
    assert any(row.problem.ignored for row in tab.table.rows_model.rows)


def test_sorting_keeps_the_rows_that_are_chosen(open_tab) -> None:
    _, tab = open_tab()
    chosen = choose(tab, "encrypted")
    for column in (0, 2, 4, 4):
        tab.table.horizontalHeader().sectionClicked.emit(column)
        assert [row.problem for row in tab.chosen()] == [chosen]
    times = [row.problem.when for row in tab.table.rows_model.rows]
    assert times == sorted(times, reverse=True)
    tab.reload()
    assert [row.problem for row in tab.chosen()] == [chosen]


def test_a_reload_keeps_what_is_chosen_and_takes_the_next_when_it_is_gone(open_tab, qtbot) -> None:
    window, tab = open_tab()
    problem = choose(tab, "needs-program")
    at = tab.table.currentIndex().row()
    after = tab.table.rows_model.rows[at + 1].problem
    fake(window).problem_rows = tuple(row for row in problems() if row != problem)
    tab.reload()
    qtbot.waitUntil(lambda: tab.table.rows_model.rowCount() == len(SHOWN) - 1)
    assert [row.problem for row in tab.chosen()] == [after]


def test_nothing_left_out_of_the_results_is_a_good_state(open_tab, qtbot) -> None:
    window, tab = open_tab("calm")
    assert tab.stack.currentWidget() is tab.none
    assert tab.none.title.text() == "Everything was read"
    assert not tab.head.isVisible()
    assert not tab.detail.isVisible()
    fake(window).problem_rows = tuple(row for row in problems() if row.ignored)
    tab.reload()
    qtbot.waitUntil(lambda: tab.stack.currentWidget() is tab.hushed)
    tab.hushed.button.click()
    assert tab.table.rows_model.rowCount() == 3


# ---- actions


def test_trying_again_says_what_came_of_it(open_tab, qtbot) -> None:
    window, tab = open_tab()
    problem = choose(tab, "interrupted")
    fake(window).problem_rows = tuple(row for row in problems() if row != problem)
    tab.detail.retry.click()
    assert ("retry", (problem.path,)) in fake(window).calls
    qtbot.waitUntil(lambda: window.toast.label.full_text() == "It is in the results now")
    choose(tab, "damaged")
    tab.table.setFocus()
    qtbot.keyClick(tab.table, Qt.Key.Key_R)
    qtbot.waitUntil(lambda: window.toast.label.full_text() == "It could still not be read")
    calls = fake(window).calls
    assert sum(call[0] == "retry" for call in calls) == 2
    before = sum(call[0] == "update" for call in calls)
    override = QKeyEvent(QEvent.Type.ShortcutOverride, Qt.Key.Key_F5, Qt.KeyboardModifier.NoModifier)
    override.ignore()
    QApplication.sendEvent(tab.table, override)
    assert override.isAccepted()  # the table keeps F5 from the window, which would check all folders
    qtbot.keyClick(tab.table, Qt.Key.Key_F5)
    assert sum(call[0] == "retry" for call in fake(window).calls) == 3
    assert sum(call[0] == "update" for call in fake(window).calls) == before


def test_a_list_asked_for_before_a_try_says_nothing_of_it_and_another_follows(open_tab, qtbot) -> None:
    window, tab = open_tab()
    problem = choose(tab, "interrupted")
    said: list[str] = []
    window.desk.toastRequested.connect(lambda text, *_: said.append(text))
    tab.reload()  # as the page does by itself while the library changes
    fake(window).problem_rows = tuple(row for row in problems() if row != problem)
    tab.detail.retry.click()
    qtbot.waitUntil(lambda: window.toast.label.full_text() == "It is in the results now")
    assert "It could still not be read" not in said
    assert problem not in [row.problem for row in tab.table.rows_model.rows]


def test_a_list_asked_for_before_files_were_ignored_does_not_bring_them_back(open_tab, qtbot) -> None:
    window, tab = open_tab()
    program, problem, held = fake(window), choose(tab, "interrupted"), JobId("problems-held")
    old, program.problems = program.problem_rows, lambda: held
    tab.reload()
    tab.detail.ignore.click()
    qtbot.waitUntil(lambda: "Ignoring" in window.toast.label.full_text())
    del program.problems
    program.say([Finished(held, Outcome.DONE, old)])
    qtbot.waitUntil(lambda: not tab._busy)
    assert problem not in [row.problem for row in tab.table.rows_model.rows]


def test_several_files_are_ignored_at_once_and_brought_back(open_tab, qtbot) -> None:
    window, tab = open_tab()
    tab.table.selectRow(0)
    tab.table.setFocus()
    qtbot.keyClick(tab.table, Qt.Key.Key_Down, Qt.KeyboardModifier.ShiftModifier)
    places = tuple((row.problem.path, row.problem.member) for row in tab.chosen())
    assert len(places) == 2
    assert tab.detail.title.full_text() == "2 files chosen"
    qtbot.keyClick(tab.table, Qt.Key.Key_I)
    assert ("ignore", (), True, places) in fake(window).calls
    qtbot.waitUntil(lambda: tab.table.rows_model.rowCount() == len(SHOWN) - 2)
    assert len(tab.chosen()) == 1  # the next one, so that the keyboard goes on from there
    qtbot.waitUntil(window.toast.isVisible)
    assert window.toast.label.full_text() == "Ignoring 2 files"
    window.toast.button.click()
    qtbot.waitUntil(lambda: tab.table.rows_model.rowCount() == len(SHOWN))
    assert ("ignore", (), False, places) in fake(window).calls
    tab.show_ignored.click()
    at = next(i for i, row in enumerate(tab.table.rows_model.rows) if row.problem.ignored)
    tab.table.selectRow(at)
    assert tab.detail.ignore.label() == "Stop ignoring"
    tab.detail.ignore.click()
    qtbot.waitUntil(lambda: "back on the list" in window.toast.label.full_text())


def test_of_a_member_only_that_member_is_ignored_or_recognised_but_the_whole_file_is_read(open_tab, qtbot) -> None:
    window, tab = open_tab()
    locked = choose(tab, "encrypted", member=True)
    tab.detail.ignore.click()
    said = "Ignoring mail-2022-11.mbox / Payslip November / payslip.pdf"
    qtbot.waitUntil(lambda: window.toast.label.full_text() == said)
    scan = choose(tab, "no-text-layer", member=True)  # the other one of this mailbox is still there
    assert scan.path == locked.path
    assert tab.detail.retry.label() == "Try the whole file again"  # a mailbox is read as a whole
    assert "mail-2022-11.mbox again, all that is in it" in tab.detail.retry.toolTip()
    tab.detail.recognise.click()
    qtbot.waitUntil(lambda: ("recognise", (), ((scan.path, scan.member),)) in fake(window).calls)
    choose(tab, "damaged")
    assert tab.detail.retry.label() == "Try again"


def test_opening_showing_and_copying(open_tab, qtbot, monkeypatch) -> None:
    window, tab = open_tab()
    problem = choose(tab, "encrypted", member=True)
    assert "mail-2022-11.mbox, which holds it" in tab.open_button.toolTip()
    tab.open_button.click()
    tab.reveal_button.click()
    tab.copy_button.click()
    assert ("open_file", problem.path, None) in fake(window).calls
    assert ("reveal", problem.path) in fake(window).calls
    copied = QApplication.clipboard().text()
    assert problem.code in copied
    assert problem.member in copied
    tab.table.setFocus()
    qtbot.keyClick(tab.table, Qt.Key.Key_Return)
    assert fake(window).calls.count(("open_file", problem.path, None)) == 2
    tab.table.selectAll()
    assert not tab.open_button.isEnabled()
    assert not tab.detail.caption.isEnabled()


def test_the_context_menu_offers_what_the_buttons_offer(open_tab, qtbot) -> None:
    _, tab = open_tab()
    texts = {}
    for code in ("encrypted", "no-text-layer", "too-large", "damaged"):
        choose(tab, code)
        tab._on_menu(tab.mapToGlobal(tab.rect().center()))
        made = tab.findChild(QMenu, "problems_menu")
        texts[code] = [action.text().split("\t")[0] for action in made.actions() if action.text()]
        made.close()
        made.deleteLater()
        QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    always = ["Try again", "Ignore", "Add a caption or transcript...", "Open", "Show in file manager", "Copy details",
              "Export CSV..."]
    assert texts["damaged"] == always
    assert texts["encrypted"] == ["Enter password...", *always]
    assert texts["no-text-layer"] == ["Read with text recognition", *always]
    assert texts["too-large"] == ["Raise the limit...", *always]


def test_a_row_chosen_by_the_program_is_chosen_alone_while_ctrl_is_held(open_tab, qtbot) -> None:
    _, tab = open_tab()
    qtbot.mouseClick(tab.head, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ControlModifier)
    assert QApplication.keyboardModifiers() == Qt.KeyboardModifier.ControlModifier
    choose(tab, "too-large")
    choose(tab, "timed-out")
    assert [row.problem.code for row in tab.chosen()] == ["timed-out"]


def test_a_limit_is_raised_where_it_is_set(open_tab, qtbot) -> None:
    window, tab = open_tab()
    for code, key in (("too-large", "size"), ("timed-out", "time"), ("too-much-memory", "memory")):
        window.show_page("library")
        choose(tab, code)
        tab.detail.limit.click()
        assert window.current_page() == "settings"
        assert QApplication.focusWidget().objectName().startswith(f"setting_reading_{key}_limit")
    assert not tab.detail.unlock.isVisibleTo(tab.detail)


def test_text_recognition_is_offered_only_where_it_helps(open_tab, qtbot, monkeypatch) -> None:
    window, tab = open_tab()
    window.desk.settings.set("reading.ocr", True)
    choose(tab, "damaged")
    assert not tab.detail.recognise.isVisible()
    choose(tab, "unknown-type")
    assert not tab.detail.recognise.isVisible()
    choose(tab, "picture")
    assert tab.detail.recognise.isVisible()
    problem = choose(tab, "no-text-layer")
    tab.detail.recognise.click()
    qtbot.waitUntil(lambda: ("recognise", (), ((problem.path, ""),)) in fake(window).calls)
    assert not tab.notice.isVisible()
    qtbot.waitUntil(lambda: tab.table.rows_model.rowCount() == len(SHOWN) - 1)
    choose(tab, "picture")
    with monkeypatch.context() as patch:
        patch.setattr(fake(window), "recognise", lambda paths, members=(): fake(window).retry(paths))  # finds nothing
        tab.detail.recognise.click()
        qtbot.waitUntil(lambda: window.toast.label.full_text() == "Text recognition found no text in it")
    tab.table.selectAll()
    assert tab.detail.recognise.label() == "Read 13 with text recognition"
    tab.all_scans.click()
    qtbot.waitUntil(lambda: any(call[0] == "recognise" and len(call[2]) == 13 for call in fake(window).calls))


def test_without_tesseract_the_reason_and_the_way_out_are_said(open_tab, qtbot) -> None:
    window, tab = open_tab("bare")
    choose(tab, "no-text-layer")
    tab.detail.recognise.click()
    qtbot.waitUntil(tab.notice.isVisible)
    assert "Tesseract, which is not on this computer" in tab.notice.label.text()
    assert "nstall" in tab.notice.label.text()
    assert not any(call[0] == "recognise" for call in fake(window).calls)
    fake(window).helpers = replace(fake(window).helpers, tesseract="5.3.0")
    tab.notice.button.click()  # "Look again": it is there now; asked for by hand it is used whatever the setting says
    qtbot.waitUntil(lambda: any(call[0] == "recognise" for call in fake(window).calls))
    assert not window.desk.settings.flag("reading.ocr")
    assert "Scans that come later" in tab.notice.label.text()
    tab.notice.button.click()
    assert window.desk.settings.flag("reading.ocr")
    assert not tab.notice.isVisible()


def test_rows_shown_are_exported(open_tab, qtbot, tmp_path: Path) -> None:
    window, tab = open_tab()
    next(chip for chip in tab.causes.chips if chip.word() == "Damaged").click()
    tab.export_to(tmp_path / "x.csv")
    qtbot.waitUntil(lambda: "Saved 3 rows to x.csv" in window.toast.label.full_text())
    _, target, rows = next(call for call in fake(window).calls if call[0] == "export_problems")
    assert target == tmp_path / "x.csv"
    assert {row.code for row in rows} == {"damaged"}
    fake(window).fail["export"] = Failure("disk-full", "There is no room left on the disk.", "Make room.")
    tab.export_to(tmp_path / "y.csv")
    qtbot.waitUntil(lambda: "no room left" in window.toast.label.full_text())


def test_a_read_only_library_offers_only_what_changes_nothing(open_tab) -> None:
    _, tab = open_tab("readonly")
    choose(tab, "encrypted")
    assert not tab.detail.unlock.isVisible()
    assert "can only be read" in tab.detail.hint.full_text()  # why the buttons are off
    assert not tab.detail.retry.isEnabled()
    assert not tab.detail.ignore.isEnabled()
    assert tab.open_button.isEnabled()


def test_fifty_thousand_rows_never_hold_the_window_up(open_tab, qtbot, settings) -> None:
    program = FakeApp(settings, state="kinds")
    program.problem_rows = many_problems(50_000)
    gaps: list[float] = []
    last = time.thread_time()
    clock = QTimer()

    def tick() -> None:
        nonlocal last
        now = time.thread_time()
        gaps.append(now - last)
        last = now

    _, tab = open_tab(app=program)
    clock.timeout.connect(tick)
    clock.start(5)
    last = time.thread_time()
    tab.reload()
    qtbot.waitUntil(lambda: tab.table.rows_model.rowCount() > 40_000, timeout=20_000)
    tab.search.set_text("file 01234")
    qtbot.waitUntil(lambda: 0 < tab.table.rows_model.rowCount() <= 1, timeout=10_000)
    tab.search.set_text("")
    qtbot.waitUntil(lambda: tab.table.rows_model.rowCount() > 40_000, timeout=10_000)
    tab.table.selectAll()
    assert len(tab.chosen()) > 40_000
    qtbot.wait(50)
    clock.stop()
    # seconds that the window's own thread worked between two turns of its loop: choosing all rows is the longest
    print(f"longest work at a stretch {1000 * max(gaps):.0f} ms")
    assert max(gaps) < 0.6


def test_large_text_in_a_small_window_cuts_nothing_off(open_tab, qtbot) -> None:
    window, tab = open_tab(size=(960, 640))
    window.desk.settings.set("appearance.text_scale", 200)
    qtbot.waitUntil(lambda: theme.text_scale == 200)
    window.resize(960, 640)
    choose(tab, "no-text-layer", member=True)
    qtbot.wait(50)
    for part in (tab.head, tab.detail):
        inside = [w for w in part.findChildren(Button) + tab.causes.chips if w.isVisible() and part.isAncestorOf(w)]
        assert inside
        for widget in inside:
            rect = QRect(widget.mapTo(part, QPoint(0, 0)), widget.size())
            assert part.rect().contains(rect), widget.objectName()
        assert part.height() >= part.minimumSizeHint().height()
    column = next(at for at, each in enumerate(tab.table.rows_model.columns) if each.tag)
    assert tab.table.columnWidth(column) >= tag_width("In part") + 16
    sheet = edit_caption(window, window.desk, HOME / "a.pdf")
    qtbot.wait(50)
    assert sheet.title.height() >= sheet.title.heightForWidth(sheet.title.width())
    assert sheet.title.wordWrap()
    sheet.close_sheet()


def test_the_chosen_row_stays_in_sight_when_the_strip_below_grows(open_tab, qtbot) -> None:
    _, tab = open_tab()
    table = tab.table
    last = table.rowAt(table.viewport().height() - 40)
    table.selectRow(last)
    qtbot.wait(20)
    table.setFixedHeight(table.height() - 60)
    qtbot.waitUntil(lambda: table.visualRect(table.currentIndex()).bottom() <= table.viewport().height())
