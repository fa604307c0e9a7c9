"""Passwords, captions, rules, folders that are away, and what the rules leave out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QFileDialog, QLabel, QLineEdit

from sbert_desktop.app.views import LeftOut, ProgramsView, UnlockView
from sbert_desktop.domain import Failure, Finished, FolderRules, JobId, Outcome
from sbert_desktop.ui.caption import edit_caption
from sbert_desktop.ui.helpers_row import helper_words
from sbert_desktop.ui.library.page import LEFT_OUT, PROBLEMS
from sbert_desktop.ui.library.rules import edit_rules, explain, patterns
from sbert_desktop.ui.library.unlock import SHOWN, ask_password
from tests.ui.conftest import every_widget, fake
from tests.ui.fake_app import HOME, KINDS, TEXT, left_out

WINDOW_PAGES = ("search", "library", "settings")

pytestmark = pytest.mark.gui

LOCKED = HOME / "Documents" / "Bank" / "Bank statement 2021-04.pdf"
HOSTILE = "<img src='file:///etc/hostname'>\u202egnp.exe"


@pytest.fixture
def library_window(make_window):
    def make(state: str = "kinds", **kwargs):
        window = make_window(state, **kwargs)
        window.activateWindow()
        window.show_page("library")
        return window

    return make


# ---- password


def test_a_wrong_password_is_said_beside_it_and_a_right_one_shows_the_text_once(library_window, qtbot) -> None:
    window = library_window()
    sheet = ask_password(window, window.desk, LOCKED)
    assert sheet.file.full_text() == "Bank statement 2021-04.pdf"
    assert QApplication.focusWidget() is sheet.edit
    assert not sheet.keep.isChecked()  # kept only after a yes
    assert not sheet.go.isEnabled()
    assert sheet.edit.echoMode() == QLineEdit.EchoMode.Password
    qtbot.keyClicks(sheet.edit, "wrong")
    qtbot.keyClick(sheet.edit, Qt.Key.Key_Return)
    qtbot.waitUntil(sheet.error.isVisible)
    assert sheet.error.text() == "This password does not open the file."
    assert sheet.edit.selectedText()  # typing again replaces it
    sheet.eye.click()
    assert sheet.edit.echoMode() == QLineEdit.EchoMode.Normal
    assert sheet.eye.accessibleName() == "Hide the password"
    qtbot.keyClicks(sheet.edit, "open sesame")
    qtbot.keyClick(sheet.edit, Qt.Key.Key_Return)
    qtbot.waitUntil(sheet.text.isVisible)
    assert sheet.text.toPlainText() == TEXT
    assert sheet.text.isReadOnly()
    assert not sheet.edit.text()
    assert ("unlock", LOCKED, False, "") in fake(window).calls
    qtbot.keyClick(sheet.text, Qt.Key.Key_Escape)
    assert not sheet.isVisible()
    assert not sheet.text.toPlainText()  # nor does the text outlive the sheet


def test_the_text_is_kept_after_a_yes(library_window, qtbot) -> None:
    window = library_window()
    window.page("library").tabs.setCurrentIndex(PROBLEMS)
    tab = window.page("library").problems
    qtbot.waitUntil(lambda: tab.table.rows_model.rowCount() > 0)
    rows = tab.table.rows_model.rows
    tab.table.selectRow(next(i for i, row in enumerate(rows) if row.problem.path == LOCKED))
    tab.detail.unlock.click()
    sheet = window.findChild(object, "password_sheet")
    sheet.keep.click()
    assert "The password is not stored" in sheet.note.text()
    sheet.edit.setText("open sesame")
    sheet.go.click()
    qtbot.waitUntil(lambda: window.toast.isVisible())
    assert window.toast.label.full_text() == "Bank statement 2021-04.pdf is in the results now"
    assert ("unlock", LOCKED, True, "") in fake(window).calls
    qtbot.waitUntil(lambda: not any(row.problem.path == LOCKED for row in tab.table.rows_model.rows))


def test_closing_the_sheet_forgets_the_password_and_an_answer_under_way(library_window, qtbot) -> None:
    window = library_window()
    fake(window).delay = 0.2
    sheet = ask_password(window, window.desk, LOCKED)
    sheet.edit.setText("open sesame")
    sheet.eye.click()
    sheet.go.click()
    assert not sheet.edit.isEnabled()
    sheet.close_sheet()
    assert not sheet.edit.text()
    assert sheet.edit.echoMode() == QLineEdit.EchoMode.Password
    qtbot.wait(300)
    assert not sheet.isVisible()
    assert not sheet.text.toPlainText()
    again = ask_password(window, window.desk, HOME / "other.pdf")
    assert again.edit.isEnabled()
    assert not again.keep.isChecked()
    again.close_sheet()
    assert any(call[0] == "cancel" for call in fake(window).calls)  # or its text would be kept all the same


def test_a_failure_to_unlock_is_said_and_a_huge_text_is_cut(library_window, qtbot) -> None:
    window = library_window()
    program = fake(window)
    program.fail["unlock"] = Failure("unreadable", "The file could not be opened.", "Check that it exists.")
    sheet = ask_password(window, window.desk, LOCKED)
    sheet.edit.setText("x")
    sheet.go.click()
    qtbot.waitUntil(sheet.error.isVisible)
    assert "Check that it exists" in sheet.error.text()
    program.fail.clear()
    program.unlock = lambda path, password, *, keep, member="": program._job(
        "unlock", UnlockView(path, True, "", False, "a" * (SHOWN + 5)))
    sheet.go.click()
    qtbot.waitUntil(sheet.text.isVisible)
    assert sheet.text.toPlainText().count("a") == SHOWN
    assert "first 200,000 characters" in sheet.note.text()
    sheet.close_sheet()


# ---- caption


def test_a_caption_is_written_changed_removed_and_brought_back(library_window, qtbot) -> None:
    window = library_window()
    box, member = HOME / "Mail" / "mail-2022-11.mbox", "418 Re: flat.eml/plan.pdf"
    done: list[bool] = []
    sheet = edit_caption(window, window.desk, box, member, lambda: done.append(True))
    assert sheet.file.full_text() == "mail-2022-11.mbox / Re: flat / plan.pdf"
    qtbot.waitUntil(sheet.text.isEnabled)
    assert QApplication.focusWidget() is sheet.text
    assert not sheet.save.isEnabled()
    assert not sheet.remove.isVisible()
    qtbot.keyClicks(sheet.text, "Plan of the flat")
    qtbot.keyClick(sheet.text, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: not sheet.isVisible())
    assert ("set_caption", box, "Plan of the flat", member) in fake(window).calls
    assert done == [True]
    sheet = edit_caption(window, window.desk, box, member)
    qtbot.waitUntil(lambda: sheet.text.toPlainText() == "Plan of the flat")
    assert not sheet.save.isEnabled()  # nothing changed yet
    sheet.remove.click()
    qtbot.waitUntil(lambda: not sheet.isVisible() and window.toast.isVisible())
    assert fake(window).captions[box, member] == ""
    window.toast.button.click()
    qtbot.waitUntil(lambda: fake(window).captions[box, member] == "Plan of the flat")


def test_a_caption_that_cannot_be_stored_stays_in_the_sheet(library_window, qtbot) -> None:
    window = library_window()
    sheet = edit_caption(window, window.desk, LOCKED)
    qtbot.waitUntil(sheet.text.isEnabled)
    fake(window).fail["caption"] = Failure("library-busy", "Another program has the library.", "Try again.")
    sheet.text.setPlainText("words")
    sheet.save.click()
    qtbot.waitUntil(sheet.error.isVisible)
    assert sheet.text.toPlainText() == "words"
    assert sheet.save.isEnabled()
    sheet.close_sheet()


# ---- rules


def test_each_pattern_is_explained_in_a_sentence() -> None:
    assert explain("*.pdf", "Reads") == "Reads every file whose name ends in “.pdf”."
    assert explain("drafts/", "Leaves out") == \
        "Leaves out every folder called “drafts” and all that lies in it, however deep."
    assert explain("/a/b", "Leaves out") == "Leaves out “a/b” counted from this folder."
    assert explain("notes", "Leaves out") == "Leaves out every file or folder called “notes”, however deep."
    assert explain("draft*", "Leaves out").endswith("whose name begins with “draft”.")
    assert explain("*a?", "Leaves out").endswith("(* is any letters, ? is one).")
    assert explain("!keep.txt", "Leaves out").startswith("Takes back an earlier line")
    assert explain("# why", "Reads") == "A remark: it does nothing."
    assert explain("  ", "Reads") == ""
    assert patterns(" *.pdf \n\n*.md\n*.pdf\n") == ("*.pdf", "*.md")


def test_rules_are_edited_saved_and_undone(library_window, qtbot) -> None:
    window = library_window()
    folder = window.desk.library.folders[0]
    card = window.page("library")._cards[folder.path]
    made = card._make_menu()
    next(action for action in made.actions() if action.text() == "Rules...").trigger()
    made.deleteLater()
    sheet = window.findChild(object, "rules_sheet")
    assert sheet.title.text() == "What is read in Documents"
    assert sheet.exclude.toPlainText() == "drafts/\n*.bak"
    assert not sheet.save.isEnabled()
    sheet.include.setPlainText("*.pdf")
    assert sheet.include_words.text() == "Reads every file whose name ends in “.pdf”."
    sheet.hidden.setCurrentIndex(1)
    sheet.hidden.activated.emit(1)
    sheet.save.click()
    wanted = FolderRules(("*.pdf",), ("drafts/", "*.bak"), True)
    assert ("set_rules", folder.path, wanted) in fake(window).calls
    qtbot.waitUntil(window.toast.isVisible)
    window.toast.button.click()
    assert fake(window).calls[-1] == ("set_rules", folder.path, folder.rules)
    qtbot.waitUntil(lambda: window.desk.library.folders[0].rules == folder.rules)
    sheet = edit_rules(window, window.desk, folder)
    sheet.clear.click()
    assert sheet.rules() == FolderRules()
    qtbot.keyClick(sheet, Qt.Key.Key_Escape)
    assert fake(window).calls[-1][0] != "set_rules" or fake(window).calls[-1][2] == folder.rules


# ---- left out


def test_what_rules_leave_out_is_counted_explained_and_looked_for_again(library_window, qtbot) -> None:
    window = library_window()
    page = window.page("library")
    assert not any(call[0] == "left_out" for call in fake(window).calls)  # a walk only when somebody looks
    page.tabs.setCurrentIndex(LEFT_OUT)
    tab = page.left_out
    qtbot.waitUntil(lambda: tab.table.rows_model.rowCount() == left_out().total)
    assert tab.sentence.full_text() == "51 files and folders are left out"
    texts = [tab.table.rows_model.index(2, column).data() for column in range(4)]
    assert texts == ["drafts", "~/Documents/Letters", "Your rule drafts/ leaves it out", "All inside"]
    next(chip for chip in tab.reasons.chips if chip.word() == "Your rules").click()
    assert tab.table.rows_model.rowCount() == 2
    tab.search.set_text("thesis")
    qtbot.waitUntil(lambda: tab.table.rows_model.rowCount() == 1)
    tab.table.selectRow(0)
    tab.table.rowActivated.emit(tab.table.current_row())
    assert fake(window).calls[-1] == ("reveal", HOME / "Documents" / "Research" / "Thesis.bak")
    tab.rules.click()
    sheet = window.findChild(object, "rules_sheet")
    assert sheet.title.text() == "What is read in Documents"
    sheet.exclude.setPlainText("drafts/")
    sheet.save.click()
    qtbot.waitUntil(lambda: sum(call[0] == "left_out" for call in fake(window).calls) == 2)
    qtbot.waitUntil(tab.look.isEnabled)
    tab.look.click()
    assert sum(call[0] == "left_out" for call in fake(window).calls) == 3
    tab.search.set_text("nowhere")
    qtbot.waitUntil(lambda: tab.stack.currentWidget() is tab.filtered)
    tab.filtered.button.click()
    assert tab.table.rows_model.rowCount() == 51
    tab.export_to(Path("x.csv"))
    assert fake(window).calls[-1][0] == "export_problems"


def test_what_changes_while_the_folders_are_looked_through_is_looked_at_after_it(library_window, qtbot) -> None:
    window = library_window()
    program, tab, held = fake(window), window.page("library").left_out, JobId("left-out-held")
    program.left_out = lambda: held
    window.page("library").tabs.setCurrentIndex(LEFT_OUT)
    window.desk.rulesChanged.emit(HOME / "Documents")
    tab.ensure()  # as at the end of the run that took the new rules in
    del program.left_out
    program.say([Finished(held, Outcome.DONE, LeftOut((), 0))])
    qtbot.waitUntil(lambda: tab.table.rows_model.rowCount() == left_out().total)


def test_left_out_has_its_empty_its_cut_and_its_failed_state(library_window, qtbot) -> None:
    window = library_window("calm")
    tab = window.page("library").left_out
    window.page("library").tabs.setCurrentIndex(LEFT_OUT)
    qtbot.waitUntil(lambda: tab.stack.currentWidget() is tab.none)
    assert window.page("library").tabs.accessibleTabName(LEFT_OUT) in ("", "Left out")  # a badge "0" is noise
    program = fake(window)
    program.left_out = lambda: program._job("left-out", replace(left_out(), total=12_000))
    tab.look.click()
    qtbot.waitUntil(lambda: "the first 51 are listed" in tab.sentence.full_text())
    program.fail["left-out"] = Failure("unreadable", "A folder could not be read.", "Check the drive.")
    tab.look.click()
    qtbot.waitUntil(lambda: tab.stack.currentWidget() is tab.failed)
    assert "Check the drive" in tab.failed.sentence.text()


# ---- folders


def test_a_folder_that_is_away_keeps_its_documents_and_can_be_located(library_window, qtbot, monkeypatch) -> None:
    window = library_window()
    card = window.page("library")._cards[KINDS[3].path]
    assert card._away.text() == "Drive not connected; 1,204 documents stay findable by their stored text"
    assert card._away.isVisible()
    assert card._tag.text() == "Offline"
    assert not card.problems.isVisible()
    assert window.status.text.full_text() == "1 folder not connected; the rest is up to date"
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", staticmethod(lambda *_: "/media/other/Photos"))
    card.locate.click()
    assert ("locate", KINDS[3].path, Path("/media/other/Photos")) in fake(window).calls
    qtbot.waitUntil(lambda: Path("/media/other/Photos") in window.page("library")._cards)
    assert not window.page("library")._cards[Path("/media/other/Photos")].locate.isVisible()


def test_cards_say_how_a_folder_is_followed(library_window) -> None:
    window = library_window()
    cards = window.page("library")._cards
    assert cards[KINDS[0].path]._state.full_text().startswith("Kept up to date")
    assert cards[KINDS[0].path]._rules.isVisible()
    assert cards[KINDS[1].path]._state.full_text() == "Checked every 10 minutes: network drive (nfs)"
    assert not cards[KINDS[1].path]._rules.isVisible()


# ---- helpers


def test_programs_that_help_are_said_in_plain_words(make_window, qtbot) -> None:
    there, absent = ProgramsView("5.3.0", ("eng", "deu", "osd"), "7.4.7"), ProgramsView("", (), "")
    assert helper_words(there)[0] == (True, "Text recognition: Tesseract 5.3.0", "Reads English and German.")
    assert all(not found for found, _, _ in helper_words(absent))
    assert all("nstall" in detail for _, _, detail in helper_words(absent))
    window = make_window("bare")
    window.show_page("settings")
    row = window.page("settings").helpers
    qtbot.waitUntil(lambda: row._lines[0][1].text() == "Text recognition: Tesseract is not on this computer")
    fake(window).helpers = there
    row.again.click()
    qtbot.waitUntil(lambda: row._lines[0][1].text() == "Text recognition: Tesseract 5.3.0")
    window.page("settings").search.set_text("libreoffice")
    assert row.isVisible()
    window.page("settings").search.set_text("colours")
    assert not row.isVisible()


# ---- names that mean harm


def test_a_hostile_name_is_shown_letter_by_letter_in_the_sheets(library_window, qtbot) -> None:
    window = library_window()
    path = HOME / HOSTILE.replace("/", "∕")
    program = fake(window)
    folder = replace(KINDS[0], path=path)
    sheets = [ask_password(window, window.desk, path, HOSTILE)]
    program.captions[path, HOSTILE] = HOSTILE
    sheets.append(edit_caption(window, window.desk, path, HOSTILE))
    sheets.append(edit_rules(window, window.desk, folder))
    sheets[2].exclude.setPlainText(HOSTILE)
    window.desk.toast(f"Ignoring {sheets[0].file.full_text()}")
    for sheet in sheets:
        for widget in every_widget(sheet):
            assert "<img" not in widget.toolTip()
            if isinstance(widget, QLabel):
                assert widget.textFormat() == Qt.TextFormat.PlainText
                assert "\u202e" not in widget.text(), widget.objectName()
        sheet.close_sheet()


def test_the_title_of_the_rules_stays_in_the_sheet_whatever_the_folder_is_called(library_window) -> None:
    window = library_window()
    view = window.desk.library.folders[0]
    sheet = edit_rules(window, window.desk, replace(view, path=HOME / ("n" * 255)))
    assert sheet.title.minimumSizeHint().width() <= sheet.card.width() - 48
    assert sheet.title.text().startswith("What is read in nnn")
    sheet.close_sheet()
