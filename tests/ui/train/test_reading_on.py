"""Reading a passage where it stands while judging: beside the pair, and every key goes on meaning what it meant."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from sbert_desktop.app.training_views import Task
from sbert_desktop.ui.train.page import TrainPage
from tests.ui.conftest import fake
from tests.ui.train.test_labelling_page import calls, judging, said

WINDOW_PAGES = ("search", "train", "library")

pytestmark = pytest.mark.gui
K = Qt.Key


def key(which: Qt.Key) -> None:
    QTest.keyClick(QApplication.focusWidget(), which)


def marked(page: TrainPage) -> tuple[object, ...]:
    """Gives what the preview shows: document, first and last character of the mark."""
    document, hit = page.labelling.preview.inspector.shown()
    return document.content_id, hit.start, hit.end


def place(side) -> tuple[object, ...]:
    return side.content, side.start, side.end


def test_one_key_shows_the_first_passage_then_the_second_then_none_and_judging_keeps_the_focus(
    make_window, qtbot
) -> None:
    window, page = judging(make_window, qtbot)
    step = page.labelling
    left, right = step.left.side(), step.right.side()
    centre = QApplication.focusWidget()
    assert step.side.isVisible()
    key(K.Key_P)
    assert step.preview.shown() == left
    assert marked(page) == place(left)
    assert window.inspector.isVisible()
    assert QApplication.focusWidget() is centre
    assert step.read.isChecked()
    assert not step.side.isVisible()  # the document has its room
    key(K.Key_P)
    assert marked(page) == place(right)
    # the next pair: the same side of it is shown, without a further key
    key(K.Key_S)
    assert said(window) == ["same"]
    assert step.right.side() != right
    assert marked(page) == place(step.right.side())
    assert QApplication.focusWidget() is centre
    key(K.Key_P)
    assert step.preview.shown() is None
    assert not window.inspector.isVisible()
    assert step.side.isVisible()
    assert not step.read.isChecked()
    assert QApplication.focusWidget() is centre
    key(K.Key_D)
    assert said(window) == ["same", "different"]


def test_who_clicked_into_the_document_still_judges_and_comes_back(make_window, qtbot) -> None:
    window, page = judging(make_window, qtbot)
    step = page.labelling
    step.left.read_button.click()
    inspector = step.preview.inspector
    qtbot.waitUntil(lambda: inspector.stack.currentWidget() in (inspector.text_view, inspector.page_view))
    inspector.stack.currentWidget().setFocus()
    assert inspector.isAncestorOf(QApplication.focusWidget())
    key(K.Key_D)
    key(K.Key_1)
    assert said(window) == ["different", "same"]
    key(K.Key_Backspace)
    assert said(window)[-1] == ""  # taken back
    assert marked(page) == place(step.left.side())
    assert inspector.isAncestorOf(QApplication.focusWidget())
    key(K.Key_Escape)
    assert not window.inspector.isVisible()
    assert page.labelling.isAncestorOf(QApplication.focusWidget())
    key(K.Key_S)
    assert said(window)[-1] == "same"


def test_arrows_scroll_the_document_while_it_is_shown_and_the_cards_after_it(make_window, qtbot, monkeypatch) -> None:
    _, page = judging(make_window, qtbot)
    step = page.labelling
    pressed: list[Qt.Key] = []
    monkeypatch.setattr(step.preview, "press", pressed.append)
    key(K.Key_Down)
    assert not pressed
    key(K.Key_P)
    for which in (K.Key_Down, K.Key_PageDown, K.Key_Up, K.Key_PageUp):
        key(which)
    assert pressed == [K.Key_Down, K.Key_PageDown, K.Key_Up, K.Key_PageUp]
    key(K.Key_P)
    key(K.Key_P)
    key(K.Key_Down)
    assert len(pressed) == 4


def test_a_key_given_to_the_document_scrolls_it(make_window, qtbot) -> None:
    _, page = judging(make_window, qtbot)
    step = page.labelling
    step.preview.show(step.left.side())
    view = step.preview.inspector.text_view
    qtbot.waitUntil(lambda: step.preview.inspector.stack.currentWidget() is view and
                    view.verticalScrollBar().maximum() > 0)
    view.verticalScrollBar().setValue(0)
    key(K.Key_PageDown)
    assert view.verticalScrollBar().value() > 0


def test_a_question_has_no_place_and_pairs_that_ran_out_leave_no_preview(make_window, qtbot) -> None:
    window, page = judging(make_window, qtbot)
    step = page.labelling
    step.show_task(Task.ANSWERS)
    qtbot.waitUntil(lambda: step.feeds[Task.ANSWERS].current() is not None)
    assert step.left.read_button.isHidden()
    step.read_next()
    assert step.preview.shown() == step.right.side()
    step.read_next()
    assert step.preview.shown() is None
    step.read_next()
    page.stack.setCurrentWidget(page.checking)
    assert step.preview.shown() is None  # it stands beside pairs only
    page.stack.setCurrentWidget(step)
    step.read_next()
    fake(window).pairs_left = 0
    feed = step.feeds[Task.ANSWERS]
    while feed.current() is not None:
        step.skip_pair()
    assert step.preview.shown() is None
    assert not window.inspector.isVisible()
    assert not calls(window, "label")


def test_a_panel_that_was_folded_away_by_hand_gives_the_room_back_and_comes_back_with_the_key(
    make_window, qtbot
) -> None:
    window, page = judging(make_window, qtbot)
    step = page.labelling
    key(K.Key_P)
    window.toggle_inspector()
    assert step.side.isVisible()
    assert not step.read.isChecked()
    key(K.Key_S)
    assert not window.inspector.has_content()  # nothing of the pair before is brought back with the panel
    key(K.Key_P)
    assert marked(page) == place(step.left.side())
    window.show_page("search")
    window.show_page("train")
    assert step.preview.shown() == step.left.side()
    assert not step.side.isVisible()


def test_in_a_small_window_it_opens_too(make_window, qtbot) -> None:
    window, page = judging(make_window, qtbot, size=(960, 640))
    step = page.labelling
    key(K.Key_P)
    assert window.inspector.isVisible()
    assert step.left.width() >= 160
    assert step.left.area.height() >= 80
    key(K.Key_P)
    key(K.Key_P)
    assert not window.inspector.isVisible()


@pytest.mark.parametrize("width", [960, 1100, 1280, 1600])
def test_what_the_small_keys_do_stands_in_one_line(make_window, qtbot, width: int) -> None:
    _, page = judging(make_window, qtbot, size=(width, 700))
    step = page.labelling
    buttons = (step.skip, step.undo, step.more, step.read, step.graded)
    qtbot.waitUntil(lambda: len({button.y() for button in buttons}) == 1)
    assert all(button.accessibleName() for button in buttons)
