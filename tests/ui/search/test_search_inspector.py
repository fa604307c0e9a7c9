"""The preview: the right page and text, the right marks, and never more than is needed."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot

from sbert_desktop.app.views import HitView, PreviewText
from sbert_desktop.domain import Failure, Finished, JobId, Mode, Outcome
from sbert_desktop.ui.search.inspector import PreviewInspector
from sbert_desktop.ui.search.page import SearchPage
from sbert_desktop.ui.search.text_view import WINDOW, TextView, cut_window
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.widgets import Button, ElidedLabel
from tests.ui.search.search_fakes import FakeCommands, document, hit, page_picture, spans_of, tenancy, view

pytestmark = pytest.mark.gui

SENTENCE = "The deposit 🙂 comes back."
PASSAGE = f"🙂 Keys first.\r\n{SENTENCE} Later."


def text_preview(passage: str = PASSAGE, sentence: str = SENTENCE, before: str = "Hello 🙂🙂\n\n") -> PreviewText:
    text = before + passage + "\n\nBye 🙂"
    at = len(before)
    inside = at + passage.index(sentence)
    words = tuple((at + s, at + e) for s, e in spans_of(passage, "deposit"))
    return PreviewText(tenancy()[1].path, "Mail", "eml", text, 0, (at, at + len(passage)),
                       (inside, inside + len(sentence)), words)


@pytest.fixture
def inspector(page: SearchPage) -> PreviewInspector:
    return page.inspector


def settle(qtbot: QtBot, inspector: PreviewInspector) -> None:
    """Waits for the page as sharp as the panel is wide: the first one is asked for before the panel has its width."""
    view = inspector.page_view
    qtbot.waitUntil(lambda: view.page() is not None and not inspector._sharpen.isActive()
                    and inspector._latest.job is None)


def hold_previews(commands: FakeCommands, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets pictures come only with ``commands.release()``."""
    def preview(hit: HitView, *, page: int | None = None, width: int = 704, as_text: bool = False) -> JobId:
        commands.calls.append(("preview", hit.passage_id, page, width))
        picture = page_picture(page or 3, 12, max(200, width))
        return commands._submit("preview", lambda job: [Finished(job, Outcome.DONE, picture)], True)

    monkeypatch.setattr(commands, "preview", preview)


def choose(qtbot: QtBot, page: SearchPage, row: int = 0) -> None:
    page.run("deposit")
    qtbot.waitUntil(lambda: page.session.settled)
    page.list.choose(row)
    page._show_preview()


def test_marks_stand_on_their_words_behind_emoji(qtbot: QtBot) -> None:
    widget = TextView(theme)
    qtbot.addWidget(widget)
    widget.set_preview(text_preview())
    assert widget.marked_text() == SENTENCE
    assert widget.passage_text().replace("\u2029", "\n") == PASSAGE.replace("\r\n", " \n")
    bold = [place for place in range(widget.document().characterCount() - 1) if _weight(widget, place) > 400]
    assert "".join(widget.document().characterAt(place) for place in bold) == "deposit"


def _weight(widget: TextView, place: int) -> int:
    cursor = widget._cursor((place, place + 1))
    return cursor.charFormat().fontWeight() or 400


def test_a_text_of_megabytes_is_cut_to_the_stretch_around_the_passage() -> None:
    before = "line of text\n" * 200_000
    window = cut_window(text_preview(before=before))
    assert len(window.text) < 2 * WINDOW + len(PASSAGE) + 10
    assert window.before
    assert window.sentence is not None
    assert window.text[slice(*window.sentence)] == SENTENCE
    assert window.text[slice(*window.passage)] == PASSAGE.replace("\r", " ")
    assert window.text.startswith("line of text\n")


def test_markup_in_a_text_is_shown_and_never_parsed(qtbot: QtBot) -> None:
    widget = TextView(theme)
    qtbot.addWidget(widget)
    bad = "<img src='file:///etc/passwd'><b>x</b>"
    widget.set_preview(text_preview(passage=bad, sentence="<b>x</b>"))
    assert bad in widget.toPlainText()
    assert widget.marked_text() == "<b>x</b>"


def test_choosing_a_result_shows_its_page_with_the_sentence_marked(
    qtbot: QtBot, page: SearchPage, inspector: PreviewInspector
) -> None:
    choose(qtbot, page)
    qtbot.waitUntil(lambda: inspector.page_view.page() is not None)
    assert inspector.title.full_text() == "Tenancy agreement Alder Street 14.pdf"
    assert inspector.page_label.text() == "Page 3 of 12"
    assert inspector.hit_label.text() == "Passage 1 of 3"
    assert inspector.open_button.label() == "Open at page 3"
    assert "passage is marked" in inspector.page_view.accessibleDescription()
    picture = inspector.page_view.viewport().grab().toImage()
    [first, _] = inspector.page_view.mark_rects()
    column = round(first.center().x())
    colors = [picture.pixelColor(column, y) for y in range(round(first.top()), round(first.bottom()))]
    assert theme.color("page_mark") in colors
    assert theme.color("page_mark") not in [picture.pixelColor(column, round(first.bottom()) + 60)]


def test_the_page_keeps_its_ink_and_gets_paper_in_the_dark(
    qtbot: QtBot, page: SearchPage, inspector: PreviewInspector
) -> None:
    choose(qtbot, page)
    qtbot.waitUntil(lambda: inspector.page_view.page() is not None)
    theme.apply(scheme="dark")
    image = inspector.page_view._image
    assert image is not None
    assert image.pixelColor(4, 4) == theme.color("paper")
    assert image.pixelColor(60, 41).lightness() < 90


def test_pages_are_turned_by_button_key_and_wheel(
    qtbot: QtBot, page: SearchPage, commands: FakeCommands, inspector: PreviewInspector
) -> None:
    choose(qtbot, page)
    qtbot.waitUntil(lambda: inspector.page_label.text() == "Page 3 of 12")
    inspector.next_page.click()
    qtbot.waitUntil(lambda: inspector.page_label.text() == "Page 4 of 12")
    inspector.page_view.setFocus()
    QTest.keyClick(inspector.page_view, Qt.Key.Key_PageDown)
    qtbot.waitUntil(lambda: inspector.page_label.text() == "Page 5 of 12")
    for _ in range(40):
        _wheel(inspector.page_view, -120)
    qtbot.waitUntil(lambda: inspector.page_label.text() == "Page 6 of 12")
    settle(qtbot, inspector)
    asked = len(commands.named("preview"))
    inspector.previous_page.click()  # seen before: not rendered again
    qtbot.waitUntil(lambda: inspector.page_label.text() == "Page 5 of 12")
    assert len(commands.named("preview")) == asked


def _wheel(widget: object, delta: int, modifiers: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
    viewport = widget.viewport()  # type: ignore[attr-defined]
    place = QPointF(viewport.rect().center())
    event = QWheelEvent(place, viewport.mapToGlobal(place), QPoint(), QPoint(0, delta), Qt.MouseButton.NoButton,
                        modifiers, Qt.ScrollPhase.NoScrollPhase, False)
    QApplication.sendEvent(viewport, event)


def test_zoom_makes_the_page_larger_then_sharper_and_fits_again(
    qtbot: QtBot, page: SearchPage, commands: FakeCommands, inspector: PreviewInspector
) -> None:
    choose(qtbot, page)
    qtbot.waitUntil(lambda: inspector.page_view.page() is not None)
    before = commands.named("preview")[-1][3]
    _wheel(inspector.page_view, 120, Qt.KeyboardModifier.ControlModifier)
    inspector.zoom_in.click()
    assert inspector.page_view.zoom == 1.5
    qtbot.waitUntil(lambda: commands.named("preview")[-1][3] > before)
    inspector.zoom_fit.click()
    assert inspector.page_view.zoom == 1.0


def test_a_page_that_comes_late_is_made_sharp_all_the_same(
    qtbot: QtBot, page: SearchPage, commands: FakeCommands, inspector: PreviewInspector,
    monkeypatch: pytest.MonkeyPatch
) -> None:
    hold_previews(commands, monkeypatch)
    choose(qtbot, page)
    inspector.setFixedWidth(600)
    qtbot.waitUntil(lambda: inspector.width() == 600 and inspector.page_view.loading()
                    and not inspector._sharpen.isActive())
    assert {call[3] for call in commands.named("preview")} == {200}
    commands.release()
    qtbot.waitUntil(lambda: commands.named("preview")[-1][3] > 200)
    assert commands.named("preview")[-1][2] == 3
    commands.release()
    settle(qtbot, inspector)
    shown = inspector.page_view.page()
    assert shown is not None
    assert shown.width == inspector.page_view.wanted_width() > 450


def test_a_sharper_page_takes_the_place_of_no_other_that_is_asked_for(
    qtbot: QtBot, page: SearchPage, commands: FakeCommands, inspector: PreviewInspector,
    monkeypatch: pytest.MonkeyPatch
) -> None:
    choose(qtbot, page)
    settle(qtbot, inspector)
    hold_previews(commands, monkeypatch)
    inspector.page_view.set_zoom(1.5)
    inspector.turn_page(1)
    inspector._sharpen.timeout.emit()
    assert commands.named("preview")[-1][2] == 4
    commands.release()
    qtbot.waitUntil(lambda: inspector.page_label.text() == "Page 4 of 12")
    settle(qtbot, inspector)
    inspector.page_view.set_zoom(2.0)
    page.list.choose(4)
    page._show_preview()
    other = page.model.document_at(4).hits[0].passage_id
    assert inspector.page_view.page().page == 4  # type: ignore[union-attr]  # of the document before
    inspector._sharpen.timeout.emit()
    inspector.turn_page(1)
    assert commands.named("preview")[-1][1:3] == (other, None)


def test_the_next_passage_opens_the_document_in_the_list(
    qtbot: QtBot, page: SearchPage, inspector: PreviewInspector
) -> None:
    choose(qtbot, page)
    inspector.next_hit.click()
    assert inspector.hit_label.text() == "Passage 2 of 3"
    assert page.model.is_open(0)
    assert page.list.currentIndex().row() == 2
    assert inspector.previous_hit.isEnabled()
    inspector.next_hit.click()
    assert not inspector.next_hit.isEnabled()


def test_text_documents_have_no_page_tools(
    qtbot: QtBot, page: SearchPage, commands: FakeCommands, inspector: PreviewInspector
) -> None:
    commands.previews = lambda hit, page, width: text_preview()
    choose(qtbot, page, 1)
    qtbot.waitUntil(lambda: inspector.stack.currentWidget() is inspector.text_view)
    assert inspector.page_label.text() == "Text"
    assert not inspector.next_page.isVisible()
    assert inspector.open_button.label() == "Open"
    rect = inspector.text_view.passage_rect()
    assert inspector.text_view.viewport().rect().intersects(rect)
    size = inspector.text_view.fontMetrics().height()
    for _ in range(4):
        inspector.zoom_in.click()
    assert inspector.text_view.fontMetrics().height() > size
    inspector.zoom_fit.click()
    assert inspector.text_view.fontMetrics().height() == size


def test_why_names_ranks_similarity_and_words(qtbot: QtBot, page: SearchPage, inspector: PreviewInspector) -> None:
    choose(qtbot, page)
    why = inspector.why
    assert (why.meaning.text(), why.cosine.text(), why.words.text()) == ("1st of 12", "0.71", "3rd of 12")
    assert why.found.text() == "deposit twice, thirty days"
    assert why.spoken() == "Meaning 1st of 12, similarity 0.71. Words 3rd of 12: deposit twice, thirty days."


def test_why_says_what_was_not_used(qtbot: QtBot, page: SearchPage, inspector: PreviewInspector) -> None:
    one = hit("no words here", words=(), words_rank=None)
    inspector.show_hit(document("a.txt", [one]), one, view((), mode=Mode.SEMANTIC))
    assert inspector.why.words.text() == "not used"
    inspector.show_hit(document("a.txt", [one]), one, view((), mode=Mode.KEYWORD))
    assert inspector.why.meaning.text() == "not used"


def test_a_late_picture_leaves_a_white_page_with_a_bar(
    qtbot: QtBot, page: SearchPage, commands: FakeCommands, inspector: PreviewInspector
) -> None:
    commands.previews = lambda hit, page, width: None  # held
    choose(qtbot, page)
    qtbot.waitUntil(inspector.page_view.loading)
    assert inspector.stack.currentWidget() is inspector.page_view
    assert not inspector.page_view.grab().isNull()


def test_a_failed_preview_is_a_sentence(
    qtbot: QtBot, page: SearchPage, commands: FakeCommands, inspector: PreviewInspector
) -> None:
    missing = Failure("gone", "The file is not there any more.", "Update the folder.")
    commands.previews = lambda hit, page, width: missing
    choose(qtbot, page)
    qtbot.waitUntil(lambda: inspector.note.text() == "The file is not there any more. Update the folder.")
    assert inspector.stack.currentWidget() is inspector.note


def test_nothing_is_rendered_while_the_preview_is_hidden(
    qtbot: QtBot, page: SearchPage, commands: FakeCommands, inspector: PreviewInspector
) -> None:
    inspector.hide()
    choose(qtbot, page)
    qtbot.wait(100)
    assert not commands.named("preview")
    inspector.show()
    qtbot.waitUntil(lambda: bool(commands.named("preview")))


def test_only_the_last_of_many_choices_is_rendered(
    qtbot: QtBot, page: SearchPage, commands: FakeCommands, inspector: PreviewInspector
) -> None:
    choose(qtbot, page)
    settle(qtbot, inspector)
    asked = len(commands.named("preview"))
    page.list.setFocus()
    for _ in range(5):
        QTest.keyClick(page.list, Qt.Key.Key_Down)
    qtbot.waitUntil(lambda: inspector.title.full_text() == "Scooter hire invoice 2024-03.pdf")
    assert len(commands.named("preview")) == asked + 1


def test_a_gone_document_cannot_be_opened_and_says_so(
    qtbot: QtBot, page: SearchPage, inspector: PreviewInspector
) -> None:
    choose(qtbot, page, 6)
    assert "file is gone" in inspector.place.full_text()
    assert not inspector.open_button.isEnabled()


def test_nothing_chosen_says_so(qtbot: QtBot, inspector: PreviewInspector) -> None:
    assert inspector.note.text() == "Choose a result to see it here."
    assert not inspector.why.isVisible()


def test_a_page_with_too_few_bytes_is_not_painted(qtbot: QtBot, page: SearchPage, inspector: PreviewInspector) -> None:
    from dataclasses import replace

    inspector.page_view.set_page(replace(page_picture(), rgb=b"\x00" * 10))
    assert not inspector.page_view.grab().isNull()


def test_a_bold_word_leaves_the_next_text_alone(qtbot: QtBot) -> None:
    widget = TextView(theme)
    qtbot.addWidget(widget)
    widget.set_preview(text_preview(passage="deposit first", sentence="deposit first"))
    widget.set_preview(text_preview(passage="Nothing of it here", sentence="Nothing of it here"))
    assert all(_weight(widget, place) <= 400 for place in range(widget.document().characterCount() - 1))


@pytest.mark.parametrize("scale", [100, 200])
@pytest.mark.parametrize("width", [0, 392, 520])
def test_no_word_of_the_preview_is_cut_off(qtbot: QtBot, page: SearchPage, inspector: PreviewInspector,
                                           commands: FakeCommands, scale: int, width: int) -> None:
    theme.apply(text_scale=scale)
    commands.previews = lambda hit, page, width: page_picture(number=12, pages=120)
    choose(qtbot, page)
    settle(qtbot, inspector)
    least = 300 + max(0, scale - 100) * 6 // 5  # of the window's inspector
    inspector.setFixedWidth(max(width, least))
    qtbot.waitUntil(lambda: inspector.width() == max(width, least))
    qtbot.wait(20)
    settle(qtbot, inspector)
    assert "120" in inspector.page_label.text()

    def nothing_is_cut_off() -> None:  # once words that have changed are laid out
        for label in inspector.findChildren(QLabel):
            if label.isVisible() and not isinstance(label, ElidedLabel) and not label.wordWrap():
                assert label.width() >= label.sizeHint().width(), (label.objectName(), label.text())
        for button in inspector.findChildren(Button):
            if button.isVisible():
                assert button.width() >= button.sizeHint().width(), button.text()

    qtbot.waitUntil(nothing_is_cut_off)


def test_turning_to_the_last_page_leaves_the_focus_with_the_page(
    qtbot: QtBot, page: SearchPage, inspector: PreviewInspector, commands: FakeCommands
) -> None:
    choose(qtbot, page)
    qtbot.waitUntil(lambda: inspector.page_view.page() is not None)
    inspector.next_page.setEnabled(True)
    inspector.next_page.setFocus()
    inspector._show_page_tools(12, 12)
    assert inspector.page_view.hasFocus()


def test_the_text_of_a_page_can_be_read_selected_and_searched(
    qtbot: QtBot, page: SearchPage, commands: FakeCommands, inspector: PreviewInspector
) -> None:
    choose(qtbot, page)
    qtbot.waitUntil(lambda: inspector.page_view.page() is not None)
    assert inspector.text_switch.isVisible()
    assert inspector.text_switch.label() == "Text"
    inspector.page_view.setFocus()
    inspector.text_switch.click()
    qtbot.waitUntil(lambda: inspector.stack.currentWidget() is inspector.text_view)
    assert inspector.text_view.passage_text() == page.list.current_hit().text  # type: ignore[union-attr]
    assert inspector.text_switch.label() == "Page"
    inspector.text_view.selectAll()
    QTest.keyClick(inspector.text_view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QApplication.clipboard().text().startswith("Before.")
    inspector.step_hit(1)  # the next passage is shown as text too
    qtbot.waitUntil(lambda: inspector.text_view.passage_text() == inspector.shown()[1].text,  # type: ignore[union-attr]
                    timeout=3000)
    inspector.text_switch.click()
    qtbot.waitUntil(lambda: inspector.page_view.page() is not None
                    and inspector.stack.currentWidget() is inspector.page_view)
    inspector.open_find()  # words are found in the text of the page
    qtbot.waitUntil(inspector.find_bar.isVisible)
    assert inspector.stack.currentWidget() is inspector.text_view


def test_a_page_copies_its_passage_and_a_text_offers_no_page(
    qtbot: QtBot, page: SearchPage, commands: FakeCommands, inspector: PreviewInspector
) -> None:
    choose(qtbot, page)
    qtbot.waitUntil(lambda: inspector.page_view.page() is not None)
    with qtbot.waitSignal(page.statusMessage) as said:
        QTest.keyClick(inspector.page_view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert said.args == ["Passage copied"]
    assert QApplication.clipboard().text() == page.list.current_hit().text.strip()  # type: ignore[union-attr]
    inspector.show_hit(document("a.txt", [hit("words")]), hit("words"), None)
    assert not inspector.text_switch.isVisible()


def test_a_document_that_was_not_searched_for_is_shown_without_mark_or_why(
    qtbot: QtBot, page: SearchPage, commands: FakeCommands, inspector: PreviewInspector
) -> None:
    choose(qtbot, page)
    wanted = document("Will.pdf", [hit("last words", page=1)])
    page.show_document(wanted)
    assert inspector.title.full_text() == "Will.pdf"
    assert not inspector.why.isVisible()
    assert page.list.current_document() is None
    assert page.model.rowCount()  # the results stand
    page.session.library_changed()
    commands.answer = view([*tenancy()[1:], tenancy()[0]])
    page.session._run_quietly()
    qtbot.waitUntil(lambda: page.session._latest.job is None)
    qtbot.wait(120)
    assert inspector.title.full_text() == "Will.pdf"  # new results do not take it away
    page.list.choose(1)
    qtbot.waitUntil(lambda: inspector.title.full_text() != "Will.pdf")
    assert inspector.why.isVisible()


def test_going_to_the_last_passage_by_key_leaves_the_focus_with_the_page(
    qtbot: QtBot, page: SearchPage, inspector: PreviewInspector
) -> None:
    choose(qtbot, page)
    qtbot.waitUntil(lambda: inspector.page_view.page() is not None)
    inspector.next_hit.setFocus()
    for _ in range(4):
        if inspector.next_hit.hasFocus():
            inspector.next_hit.click()
    assert inspector.hit_label.text() == "Passage 3 of 3"
    assert inspector.page_view.hasFocus()
    inspector.previous_hit.setFocus()
    for _ in range(4):
        if inspector.previous_hit.hasFocus():
            inspector.previous_hit.click()
    assert inspector.hit_label.text() == "Passage 1 of 3"
    assert inspector.page_view.hasFocus()
