"""Judging: one key a decision, the next pair at once, nothing lost; all judgements; tables that are imported."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu

from sbert_desktop.app.training_views import Task
from sbert_desktop.domain import Failure, JobId
from sbert_desktop.settings import Settings
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.train.history_sheet import HistorySheet
from sbert_desktop.ui.train.import_sheet import ImportSheet
from sbert_desktop.ui.train.labelling import LabellingStep
from sbert_desktop.ui.train.labelling_card import flowing
from sbert_desktop.ui.train.labelling_feed import AHEAD
from sbert_desktop.ui.train.page import TrainPage
from tests.ui.conftest import fake
from tests.ui.fake_app import FakeApp
from tests.ui.train.conftest import Host

WINDOW_PAGES = ("search", "train", "library")

pytestmark = pytest.mark.gui
K = Qt.Key


def opened(make_window, qtbot, *, judged: int = 0, **more) -> tuple[object, TrainPage]:
    program = more.pop("app", None)
    window = make_window(**more) if program is None else make_window(app=program, **more)
    fake(window).judge(judged)
    window.activateWindow()
    window.show_page("train")
    page = window.page("train")
    qtbot.waitUntil(lambda: QApplication.activeWindow() is window and page.labelling.view() is not None)
    return window, page


def judging(make_window, qtbot, **more) -> tuple[object, TrainPage]:
    window, page = opened(make_window, qtbot, **more)
    qtbot.waitUntil(lambda: page.labelling.feeds[page.labelling.task].current() is not None)
    page.focus_first()
    return window, page


def press(*keys: Qt.Key) -> None:
    for key in keys:
        QTest.keyClick(QApplication.focusWidget(), key)


def calls(window, name: str) -> list[tuple[object, ...]]:
    return [call for call in fake(window).calls if call[0] == name]


def said(window) -> list[str]:
    return [str(call[2]) for call in calls(window, "label")]


def front(page: TrainPage) -> str:
    pair = page.labelling.feeds[page.labelling.task].current()
    assert pair is not None
    assert page.labelling.left.side() == pair.left
    return pair.id


def test_each_key_is_one_decision_and_the_next_pair_is_there_before_the_answer(make_window, qtbot) -> None:
    window, page = judging(make_window, qtbot)
    first = front(page)
    seen = [first]
    for key in (K.Key_S, K.Key_D, K.Key_1, K.Key_2, K.Key_Space):
        press(key)
        seen.append(front(page))  # in the same turn: no answer was waited for
    assert len(set(seen)) == 6
    assert said(window) == ["same", "different", "same", "different"]
    assert [call[1] for call in calls(window, "label")] == seen[:4]
    qtbot.waitUntil(lambda: len(page.labelling.view().rows) == 4)
    assert page.labelling.side.ring.accessibleName() == "4 of 120 pairs"
    assert page.labelling.side.bar.accessibleName() == "2 same, 2 different"
    shown = " ".join(widget.text() for widget in (page.labelling.hint, page.labelling.number))
    assert "0." not in shown  # no score before the answer
    assert page.labelling.why.text() in ("The model is unsure here", "The model is sure here", "")


def test_pairs_that_count_for_less_are_told_of_before_the_check(make_window, qtbot) -> None:
    _, page = judging(make_window, qtbot, judged=130)
    side = page.labelling.side
    assert side.said.text() == "Enough to learn from"
    why = "Those with a document or text in common count for less: about 260 pairs are needed in place of 120."
    side.show_view(replace(page.labelling.view(), shared=why))
    assert side.said.text() == "Enough to learn from; the result will be rough"
    assert why in side.note.text()
    assert side.check.isEnabled()


def test_pairs_are_asked_for_long_before_they_run_out(make_window, qtbot) -> None:
    window, page = judging(make_window, qtbot)
    feed = page.labelling.feeds[Task.SAME]
    asked = len(calls(window, "pairs"))
    while feed.left() > AHEAD:
        press(K.Key_S)
    fake(window).hold_pairs = True
    press(K.Key_D)
    assert len(calls(window, "pairs")) == asked + 1
    for _ in range(6):
        press(K.Key_D)
    assert len(calls(window, "pairs")) == asked + 1  # one request at a time
    assert feed.current() is not None
    fake(window).let_pairs_go()
    qtbot.waitUntil(lambda: feed.left() > AHEAD)


def test_backspace_takes_back_before_and_after_the_answer_and_brings_skipped_pairs_back(make_window, qtbot) -> None:
    _, page = judging(make_window, qtbot, judged=1)
    first = front(page)
    press(K.Key_S, K.Key_Backspace)  # the answer is still to come
    assert front(page) == first
    press(K.Key_Space, K.Key_Backspace)
    assert front(page) == first
    press(K.Key_D)
    second = front(page)
    press(K.Key_S)
    qtbot.waitUntil(lambda: len(page.labelling.view().rows) == 3)
    press(K.Key_Backspace)
    assert front(page) == second
    press(K.Key_Backspace)
    assert front(page) == first
    qtbot.waitUntil(lambda: [row.id for row in page.labelling.view().rows] == ["same-0"])
    press(K.Key_Backspace)  # one of an earlier day: nothing to bring back, but it goes
    qtbot.waitUntil(lambda: not page.labelling.view().rows)


def test_letters_go_into_a_field_and_space_presses_the_button_that_has_the_focus(make_window, qtbot) -> None:
    window, page = judging(make_window, qtbot, judged=3)
    before = front(page)
    page.labelling.graded.setFocus(Qt.FocusReason.TabFocusReason)
    press(K.Key_Space)
    assert page.labelling.by_grades()
    assert front(page) == before
    page.show_history()
    sheet = window.findChild(HistorySheet)
    sheet.search.edit.setFocus()
    QTest.keyClicks(sheet.search.edit, "sd12 y")
    assert sheet.search.text() == "sd12 y"
    assert not said(window)
    sheet.close_sheet()
    page.labelling.yes.click()
    assert not page.labelling.yes.hasFocus()


def test_grades_and_questions_have_keys_of_their_own_that_mean_one_thing(make_window, qtbot) -> None:
    window, page = judging(make_window, qtbot)
    press(K.Key_G, K.Key_4, K.Key_0, K.Key_S)
    assert said(window) == ["4", "0"]
    press(K.Key_G, K.Key_S)
    page.labelling.tasks.changed.emit("answers")
    page.labelling.show_task(Task.ANSWERS)
    qtbot.waitUntil(lambda: page.labelling.feeds[Task.ANSWERS].current() is not None)
    assert page.labelling.left.title.full_text() == "Your question"
    press(K.Key_S, K.Key_D, K.Key_G)
    assert said(window)[2:] == ["same"]
    press(K.Key_Y, K.Key_N)
    assert said(window)[3:] == ["relevant", "not relevant"]
    qtbot.waitUntil(lambda: page.labelling.view().total == 2)
    page.labelling.show_task(Task.SAME)
    press(K.Key_Y, K.Key_N)
    assert len(said(window)) == 5


def test_a_judgement_that_could_not_be_kept_is_told_and_kept_on_the_next_try(make_window, qtbot) -> None:
    window, page = judging(make_window, qtbot)
    fake(window).fail["labels"] = Failure("disk-full", "The disk is full.", "Free some space.")
    press(K.Key_S, K.Key_D)
    notice = page.labelling.notice
    qtbot.waitUntil(lambda: notice.label.text().startswith("2 judgements were not kept. The disk is full."))
    del fake(window).fail["labels"]
    notice.button.click()
    qtbot.waitUntil(lambda: len(fake(window).label_rows[Task.SAME]) == 2)
    assert not notice.isVisible()


def test_the_last_judgements_can_be_changed_and_taken_back_one_by_one(make_window, qtbot) -> None:
    window, page = judging(make_window, qtbot, judged=9)
    rows = [row for row in page.labelling.side.rows if not row.isHidden()]
    assert 1 < len(rows) <= 8
    row = rows[1].row
    rows[1].sign.click()
    shown = page.findChild(QMenu, "train_change_menu")
    entry = next(action for action in shown.actions() if action.text() == "Grade 5")
    entry.trigger()
    shown.close()
    qtbot.waitUntil(lambda: page.labelling.view().rows[1].verdict == "5")
    rows[1].undo.click()
    qtbot.waitUntil(lambda: row.id not in [one.id for one in page.labelling.view().rows])
    assert calls(window, "relabel") == [("relabel", Task.SAME, row.id, "5")]


def test_all_judgements_are_filtered_changed_and_taken_back_with_keys(make_window, qtbot) -> None:
    window, page = judging(make_window, qtbot, judged=12)
    page.labelling.side.all.click()
    sheet = window.findChild(HistorySheet)
    sheet.search.set_text("ferry june")
    ferries = [row.id for row in sheet.table.rows_model.rows]
    assert 0 < len(ferries) < 12
    sheet.table.selectAll()
    sheet.table.setFocus()
    press(K.Key_D)
    qtbot.waitUntil(lambda: all(row.verdict == "different" for row in page.labelling.view().rows
                                if row.id in ferries))
    sheet.table.setFocus()
    press(K.Key_Delete)
    qtbot.waitUntil(lambda: len(page.labelling.view().rows) == 12 - len(ferries))
    assert sheet.stack.currentWidget() is sheet.none
    sheet.none.button.click()
    assert len(sheet.table.rows_model.rows) == 12 - len(ferries)


def test_a_table_is_mapped_previewed_taken_in_and_removed(make_window, qtbot) -> None:
    window, page = judging(make_window, qtbot)
    assert not page.stepper.buttons["check"].isEnabled()
    page.import_button.click()
    sheet = window.findChild(ImportSheet)
    assert not sheet.go.isEnabled()
    sheet.look(Path("/a/pairs.csv"))
    qtbot.waitUntil(lambda: sheet.go.isEnabled())
    assert sheet.preview.rowCount() == 5
    sheet.kind.setCurrentIndex(sheet.kind.findData("triplets"))
    sheet.kind.activated.emit(sheet.kind.currentIndex())
    qtbot.waitUntil(lambda: len(sheet._fields) == 3 and sheet._fields[2][0] == "negative" and sheet._latest.job is None)
    assert not sheet.go.isEnabled()  # nothing is the wrong partner yet
    box = sheet._fields[2][1]
    box.setCurrentIndex(box.findData("is_duplicate"))
    box.activated.emit(box.currentIndex())
    qtbot.waitUntil(lambda: sheet.go.isEnabled())
    sheet.go.click()
    qtbot.waitUntil(lambda: not sheet.isVisible() and len(page.imported) == 1)
    assert calls(window, "import_labels")[0][2:] == ("triplets", (("anchor", "question1"), ("positive", "question2"),
                                                                 ("negative", "is_duplicate")))
    assert page.stepper.buttons["check"].isEnabled()
    window.toast.run_action()
    qtbot.waitUntil(lambda: not page.imported)


def test_what_stands_in_place_of_a_pair_says_why_and_what_to_do(make_window, qtbot, settings: Settings) -> None:
    _, page = opened(make_window, qtbot, state="empty")
    states = page.labelling.states
    assert states.stack.currentWidget() is states.empty
    program = FakeApp(settings)
    program.pairs_left = 2
    window, page = judging(make_window, qtbot, app=program)
    states = page.labelling.states
    press(K.Key_S, K.Key_S)
    qtbot.waitUntil(lambda: states.stack.currentWidget() is states.none and states.isVisible())
    assert states.none.button.hasFocus()
    press(K.Key_S, K.Key_D)  # nothing is judged blindly
    assert len(said(window)) == 2
    press(K.Key_Backspace)
    assert page.labelling.stack.currentWidget() is page.labelling.centre
    page.labelling.show_task(Task.ANSWERS)
    qtbot.waitUntil(lambda: states.stack.currentWidget() is states.questions and states.isVisible())
    program.fail["pairs"] = Failure("no-model", "The model could not be loaded.", "Choose another.")
    page.labelling.feeds[Task.ANSWERS].again()
    qtbot.waitUntil(lambda: states.stack.currentWidget() is states.failed)
    assert "The model could not be loaded. Choose another." in states.failed.sentence.text()
    del program.fail["pairs"]
    program.pairs_left = None
    states.failed.button.click()
    qtbot.waitUntil(lambda: page.labelling.feeds[Task.ANSWERS].current() is not None)


def test_a_passage_keeps_its_paragraphs_and_loses_the_breaks_at_which_it_was_wrapped() -> None:
    wrapped = "Dear Mr Whitlock,\non 31 July we handed over the flat at 9 Quarry Lane, second\nfloor.\n\n\nYours\n"
    assert flowing(wrapped).split("\u2028") == [
        "Dear Mr Whitlock,", "on 31 July we handed over the flat at 9 Quarry Lane, second floor.", "Yours"]


@pytest.mark.parametrize("scale", [100, 150])
def test_both_passages_begin_on_one_line_and_all_fits_into_a_small_window(make_window, qtbot, scale: int) -> None:
    window, page = judging(make_window, qtbot, size=(960, 640))
    theme.apply(text_scale=scale)
    window.resize(960, 640)
    QApplication.processEvents()
    step = page.labelling
    assert step.left.body.passage_top() == step.right.body.passage_top()
    assert step.left.area.height() > 80
    for widget in (step.yes, step.no, step.skip, step.undo, step.more, step.graded, step.tasks, step.side.check):
        place = widget.mapTo(page, widget.rect().bottomRight())
        assert page.rect().contains(place), widget.objectName()
    assert step.side.area.widget().minimumSizeHint().width() <= step.side.area.viewport().width() + 2
    before = step.left.body.height()
    if step.more.isEnabled():
        press(K.Key_C)
        assert step.left.body.height() >= before
        assert step.left.body.passage_top() == step.right.body.passage_top()


def test_pairs_of_chosen_documents_are_judged_until_the_chip_is_cleared_or_they_run_out(make_window, qtbot) -> None:
    window, page = judging(make_window, qtbot)
    window.desk.go_with("train", (3, 4), "2 documents of Soil")
    qtbot.waitUntil(lambda: page.labelling.feeds[Task.SAME].current() is not None)
    assert calls(window, "pairs")[-1][-1] == (3, 4)
    assert page.labelling.among.isVisible()
    assert page.labelling.among.value() == "2 documents of Soil"
    page.labelling.among.cleared.emit()
    assert not page.labelling.among.isVisible()
    qtbot.waitUntil(lambda: page.labelling.feeds[Task.SAME].current() is not None)
    assert calls(window, "pairs")[-1] == calls(window, "pairs")[0]
    program = fake(window)
    program.pairs_left = 0
    window.desk.go_with("train", (5,), "1 document")
    qtbot.waitUntil(lambda: calls(window, "pairs")[-2][-1] == (5,))
    assert calls(window, "pairs")[-1] == calls(window, "pairs")[0], "it went on with all"
    assert not page.labelling.among.isVisible()


def test_no_numbers_stand_beside_the_pair_before_they_are_known(host: Host, qtbot) -> None:
    labels, asked = host.program.labels, []
    host.program.labels = lambda task: asked.append(task) or JobId("labels held")
    step = host.put(LabellingStep)
    step.activate()
    qtbot.waitUntil(lambda: bool(asked))
    side = step.side
    assert side.ring.accessibleName() == "Not counted yet"
    assert [side.said.text(), side.pace.text(), side.note.text()] == ["", "", ""]
    assert all(widget.isHidden() for widget in (side.bar, side.none, side.all, side.fewer))
    assert not side.check.isEnabled()
    host.program.labels = labels
    labels(Task.SAME)
    qtbot.waitUntil(lambda: side.ring.accessibleName() == "0 of 120 pairs")
    assert side.said.text() == "120 pairs to go"
    assert not side.bar.isHidden()
    assert not side.none.isHidden()
