"""The Train page as a whole: nothing that happens behind another step or page is lost."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from sbert_desktop.app.training_views import Plan, Task
from sbert_desktop.domain import Failure, Finished, Outcome
from sbert_desktop.ui.train.words import FROM_A_TITLE
from tests.ui.conftest import fake

pytestmark = pytest.mark.gui
WINDOW_PAGES = ("search", "train", "settings")


@pytest.fixture
def window(make_window, qtbot):
    made = make_window()
    fake(made).hold_training = True
    made.activateWindow()
    qtbot.waitUntil(lambda: QApplication.activeWindow() is made)
    return made


def test_a_page_chosen_with_the_pointer_takes_the_keys_and_one_chosen_by_keys_leaves_them(window, qtbot) -> None:
    QTest.mouseClick(window.rail.item("train"), Qt.MouseButton.LeftButton)
    page = window.page("train")
    qtbot.waitUntil(lambda: page.labelling.feeds[page.labelling.task].current() is not None)
    QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_S)
    assert [call[2] for call in fake(window).calls if call[0] == "label"] == ["same"]
    labelling = page.labelling
    labelling.show_task(Task.ANSWERS)
    feed = labelling.feeds[Task.ANSWERS]
    qtbot.waitUntil(lambda: feed.current() is not None)
    assert labelling.left.place.full_text() == "What you searched for"
    feed.put_back(replace(feed.current(), id="title", why="title"))
    assert labelling.left.place.full_text() == FROM_A_TITLE  # nobody asked that
    window.rail.item("search").setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Space)
    assert window.current_page() == "search"
    assert window.rail.item("search").hasFocus()  # the arrows and Tab go on from there


def test_a_training_that_ends_behind_another_step_or_page_says_so(window, qtbot) -> None:
    program, page = fake(window), window.page("train")
    window.show_page("train")
    page.train(Plan(name="Home 2"))
    page.show_step("judge")
    program.let_training_go()
    qtbot.waitUntil(lambda: "is trained" in window.toast.label.full_text())
    assert page.step() == "judge"
    window.toast.run_action()
    assert page.step() == "compare"
    window.toast.dismiss()
    page.train(Plan(name="Home 3"))
    page.show_step("compare")  # an older one is read meanwhile
    before = page.comparing.headline.text()
    program.let_training_go()
    qtbot.waitUntil(lambda: not page.running.running())
    assert window.toast.label.full_text() == "Home 1 is trained."
    assert page.comparing.headline.text() == before
    page.train(Plan(name="Home 4"))
    window.show_page("search")
    program.say([Finished(program.held_training, Outcome.FAILED, None, Failure("x", "The disk is full.", ""))])
    qtbot.waitUntil(lambda: window.toast.label.full_text() == "The training failed. The disk is full.")
    window.toast.run_action()
    assert (window.current_page(), page.step()) == ("train", "train")
    assert page.running.failed.isVisible()
