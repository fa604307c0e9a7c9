"""Checking before training: what is asked, what stops it, what is shown of it, and the way through the steps."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from sbert_desktop.app.training_views import Plan, Task
from sbert_desktop.domain import Failure
from sbert_desktop.ui.train.history_sheet import HistorySheet
from sbert_desktop.ui.train.words import brief
from tests.ui.conftest import fake
from tests.ui.train.test_labelling_page import calls, opened

WINDOW_PAGES = ("search", "train", "library")

pytestmark = pytest.mark.gui


def checking(make_window, qtbot, judged: int = 130):
    window, page = opened(make_window, qtbot, judged=judged)
    page.show_step("check")
    qtbot.waitUntil(lambda: page.checking._view is not None and page.checking._latest.job is None)
    return window, page


def test_enough_judgements_lead_to_the_checks_and_on_to_training(make_window, qtbot) -> None:
    window, page = opened(make_window, qtbot, judged=119)
    side = page.labelling.side
    assert (side.check.label(), side.check.isEnabled()) == ("Check and train, 1 pair to go", False)
    qtbot.waitUntil(lambda: page.labelling.feeds[Task.SAME].current() is not None)
    page.focus_first()
    page.labelling.judge("same")
    qtbot.waitUntil(side.check.isEnabled)
    side.check.click()
    step = page.checking
    qtbot.waitUntil(step.may_train)
    assert step.title.text() == "90 pairs to learn from, 30 kept aside"
    assert step.sentence.text().startswith("Draws together")
    assert "30 pairs kept aside" in step.interval.text()
    assert step.reason.text() == "Takes 3 to 9 min. The window may be closed meanwhile."
    assert step.train_button.hasFocus()
    QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert page.step() in ("train", "compare")
    assert calls(window, "train") == [("train", Plan(name="My model"))]
    qtbot.waitUntil(lambda: page.step() == "compare")
    assert page.stepper.buttons["compare"].accessibleName() == "4. Compare, current step"
    page.stepper.buttons["judge"].click()
    assert page.step() == "judge"
    assert page.stepper.buttons["compare"].isEnabled()


def test_what_stops_training_is_said_beside_the_button_that_is_disabled(make_window, qtbot) -> None:
    window, page = checking(make_window, qtbot, judged=8)
    step = page.checking
    assert not step.train_button.isEnabled()
    assert step.reason.text() == "There are only 8 pairs, too few to learn from."
    assert step.train_button.accessibleDescription() == step.reason.text()
    step.train()
    assert not calls(window, "train")
    row = step.findings.findChild(object, "train_finding_1_show")
    row.click()
    sheet = window.findChild(HistorySheet)
    assert len(sheet.table.rows_model.rows) == 4  # those that the finding is about
    sheet.only.cleared.emit()
    assert len(sheet.table.rows_model.rows) == 8
    sheet.take_back_chosen()
    qtbot.waitUntil(lambda: "only 7 pairs" in step.reason.text())  # checked again at once


def test_every_choice_is_in_the_plan_that_is_checked_and_trained(make_window, qtbot) -> None:
    window, page = checking(make_window, qtbot)
    step, options = page.checking, page.checking.options
    options.more.click()
    options.name_edit.setText("  Garden   words ")
    for box, value in ((options.epochs, 7), (options.batch, 24), (options.warm_up, 20), (options.tokens, 64),
                       (options.patience, 0), (options.held_out, 30), (options.negatives, 3), (options.seed, 11)):
        box.setValue(value)
    options.rate.setText("1e-3")
    options.margin.setText("0.4")
    options.margin.editingFinished.emit()
    options.objective.setCurrentIndex(options.objective.findData("contrastive"))
    options.objective.activated.emit(options.objective.currentIndex())
    assert not step.may_train()  # not before the new plan is checked
    qtbot.waitUntil(step.may_train)
    wanted = Plan(name="Garden words", epochs=7, batch=24, learning_rate=1e-3, warm_up=0.2, margin=0.4, seed=11,
                  max_tokens=64, held_out=0.3, patience=0, hard_negatives=3, objective="contrastive")
    assert calls(window, "check_labels")[-1] == ("check_labels", wanted)
    kept = page.save_state()
    options.reset.click()
    assert step.plan() == replace(Plan(), name="Garden words")
    page.restore_state(kept)
    assert step.plan() == wanted
    options.form.changed.emit("encoder")
    options.rate.setText("9")  # out of reach: what is usual
    assert step.plan().learning_rate == Plan().learning_rate


def test_tables_stand_beside_the_judgements_and_each_can_be_left_out(make_window, qtbot) -> None:
    window, page = checking(make_window, qtbot)
    fake(window).import_labels(fake(window).view().path / "quora.csv", "pairs", ())
    qtbot.waitUntil(lambda: len(page.checking._boxes) == 1)
    step = page.checking
    qtbot.waitUntil(step.may_train)
    assert len(step.plan().labels) == 1
    step.own.setChecked(False)
    assert not step.plan().judgements
    step.own.setChecked(True)
    step._boxes[0].setChecked(False)
    assert step.plan() == Plan(name="My model")
    qtbot.waitUntil(step.may_train)


def test_a_check_that_fails_says_what_to_do_and_can_be_repeated(make_window, qtbot) -> None:
    window, page = opened(make_window, qtbot, judged=130)
    fake(window).fail["check-labels"] = Failure("no-table", "A table is gone.", "Import it again.")
    page.show_step("check")
    step = page.checking
    qtbot.waitUntil(lambda: "A table is gone. Import it again." in step.notice.label.text())
    assert not step.may_train()
    del fake(window).fail["check-labels"]
    step.notice.button.click()
    qtbot.waitUntil(step.may_train)
    assert not step.notice.isVisible()


class Windows(QObject):
    """Notes whatever is shown as a window of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.shown: list[str] = []

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Show and isinstance(watched, QWidget) and watched.isWindow():
            self.shown.append(watched.objectName())
        return False


def test_nothing_of_these_steps_is_ever_a_window_of_its_own(make_window, qtbot, qapp) -> None:
    windows = Windows()
    qapp.installEventFilter(windows)
    _, page = checking(make_window, qtbot, judged=8)
    page.show_step("judge")
    page.labelling.show_task(Task.ANSWERS)
    qapp.removeEventFilter(windows)
    assert "main_window" in windows.shown
    assert not [name for name in windows.shown if name.startswith("train_")]


def test_a_reason_beside_its_button_is_short() -> None:
    short = "There are only 8 pairs, too few to learn from."
    assert brief(short) == short
    chain = "10 labels contradict others by way of a third text: " + " = ".join(["“The committee met”"] * 9) + "."
    assert brief(chain) == "10 labels contradict others by way of a third text."
    assert brief("word " * 60).endswith("word…")
    assert len(brief("word " * 60)) <= 121
