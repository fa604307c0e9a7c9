"""What is asked: chips of the query language, fields by menu, steering, a second look, texts and files to look like."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QAction, QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu
from pytestqt.qtbot import QtBot

from sbert_desktop.app.views import ModelView
from sbert_desktop.domain import Term, TermKind
from sbert_desktop.ui.search import language_help
from sbert_desktop.ui.search.model import Kind
from sbert_desktop.ui.search.page import SearchPage
from sbert_desktop.ui.search.typed_chips import without
from tests.ui.search.search_fakes import HOME, FakeCommands, document, hit, view

pytestmark = pytest.mark.gui

READER = ModelView("ms-marco", HOME / "m", 0, 512, "", "", True, kind="cross-encoder")


def answer(qtbot: QtBot, page: SearchPage, text: str = "deposit") -> None:
    page.run(text)
    qtbot.waitUntil(lambda: page.session.settled)


def chips(page: SearchPage) -> list[str]:
    return [chip.accessibleName() for chip in page.narrowing.chips.chips()]


def test_fields_phrases_and_exclusions_stand_as_chips_and_go_by_click_and_backspace(
    qtbot: QtBot, page: SearchPage, commands: FakeCommands
) -> None:
    answer(qtbot, page, 'rent type:pdf "thirty days" -car -from:anna')
    assert chips(page) == ["Type: pdf", "Exactly: thirty days", "Without: car", "Not from: anna"]
    assert page.filters.type_chip.isHidden()  # one control says what the type is
    page.narrowing.chips.chips()[0].click()
    assert page.query.text() == 'rent "thirty days" -car -from:anna'
    assert not page.filters.type_chip.isHidden()
    QTest.keyClick(page.narrowing.chips.chips()[1], Qt.Key.Key_Backspace)
    assert page.query.text() == 'rent "thirty days" -from:anna'
    qtbot.waitUntil(lambda: page.session.settled)
    assert commands.searches()[-1].text == 'rent "thirty days" -from:anna'
    assert len(chips(page)) == 2


@pytest.mark.parametrize(("text", "span", "left"), [
    ("a type:pdf b", (2, 10), "a b"), ("type:pdf b", (0, 8), "b"), ("a type:pdf", (2, 10), "a"),
    ("🙂 type:pdf", (2, 10), "🙂"), ("type:pdf", (0, 8), "")])
def test_a_piece_is_taken_out_with_its_space(text: str, span: tuple[int, int], left: str) -> None:
    assert without(text, Term(*span, TermKind.FIELD, "pdf", "type")) == left


def test_every_filter_of_the_menu_writes_its_field_or_opens_its_chip(
    qtbot: QtBot, page: SearchPage, commands: FakeCommands
) -> None:
    answer(qtbot, page, "rent")
    add = page.filters.add_button
    opened: list[str] = []
    add.chipWanted.disconnect()
    add.chipWanted.connect(opened.append)
    written = []
    for number in range(len(add.menu().actions())):
        add.menu().aboutToShow.emit()
        action = add.menu().actions()[number]
        if action.isSeparator():
            continue
        assert action.objectName()
        page.query.set_text("rent")
        action.trigger()
        written.append(page.query.text().removeprefix("rent").strip())
    assert opened == ["Type", "Folder", "Language"]
    assert [each for each in written if each] == [
        "after:", "before:", "name:", "size:>1mb", "size:<100kb", "size:", "from:", "to:", "subject:",
        "has:attachment"]
    page.query.set_text("rent lang:de")
    add.menu().aboutToShow.emit()
    assert page.filters.language_chip.isHidden()
    page.query.set_text("rent")
    page.narrowing.write_field("has:attachment")
    assert page.query.edit.hasFocus()
    qtbot.waitUntil(lambda: commands.searches()[-1].text == "rent has:attachment")


def test_the_menu_lists_the_collections_types_and_languages_there_are(
    qtbot: QtBot, page: SearchPage, commands: FakeCommands
) -> None:
    answer(qtbot, page, "rent")
    add = page.filters.add_button

    def values(field: str) -> list[QAction]:
        add.menu().aboutToShow.emit()
        found = add.menu().findChild(QMenu, f"filter_add_{field}_menu")
        return list(found.actions()) if found is not None else []

    [none] = values("in")
    assert not none.isEnabled()
    page.filters.collections = lambda: ["Flat & keys", "Tax 2023"]
    assert [action.text().replace("&&", "&") for action in values("in")] == ["Flat & keys", "Tax 2023"]
    values("in")[0].trigger()
    assert page.query.text() == 'rent in:"Flat & keys"'
    qtbot.waitUntil(lambda: commands.searches()[-1].text == 'rent in:"Flat & keys"')
    assert not values("type")  # the chip lists them, and is opened instead
    page.query.set_text("rent type:txt lang:fr")
    assert page.filters.type_chip.isHidden()
    assert "PDF" in [action.text() for action in values("type")]
    german = next(action for action in values("lang") if action.text() == "German (de)")
    page.query.set_text('rent "not closed')
    page.narrowing.write_field("name:")
    assert page.query.text() == 'rent "not closed" name:'
    page.query.set_text("rent type:txt lang:fr")
    german.trigger()
    assert page.query.text() == "rent type:txt lang:fr lang:de"


def test_quotations_are_offered_in_words_at_the_start_and_as_a_sign_beside_results(
    qtbot: QtBot, page: SearchPage
) -> None:
    if not page.can("quotes"):
        page.can = lambda command: True  # type: ignore[method-assign]
        page.start.set_quotes(True)
    assert page.start.quotes.isVisible()
    assert not page.head.quotes.isVisible()
    with qtbot.waitSignal(page.quotesWanted):
        page.start.quotes.click()
    answer(qtbot, page, "rent")
    assert page.head.quotes.isVisible()
    with qtbot.waitSignal(page.quotesWanted):
        page.head.quotes.click()


def test_the_language_stands_in_ten_lines(qtbot: QtBot, page: SearchPage) -> None:
    assert len(language_help.LINES) == 10
    page.filters.help_button.click()
    sheet = page.narrowing.help
    assert sheet is not None
    assert sheet.isVisible()
    assert sheet.done.hasFocus()
    QTest.keyClick(sheet, Qt.Key.Key_Escape)
    assert not sheet.isVisible()


def test_more_and_less_like_hits_steer_the_search_and_can_be_taken_back(
    qtbot: QtBot, page: SearchPage, commands: FakeCommands
) -> None:
    answer(qtbot, page)
    ids = [each.hits[0].passage_id for each in page.model.documents]
    page.list.choose(0)
    with qtbot.waitSignal(page.undoOffered) as offered:
        page.list.row.more.trigger()
    assert offered.args[0] == "More like “Tenancy agreement Alder Street 14.pdf”"
    qtbot.waitUntil(lambda: commands.searches()[-1].more == (ids[0],))
    page.list.choose(2)
    page.list.row.less.trigger()
    qtbot.waitUntil(lambda: page.session.settled)
    assert (commands.searches()[-1].more, commands.searches()[-1].less) == ((ids[0],), (ids[2],))
    assert chips(page) == ["More like: Tenancy agreement Alder Street 14.pdf", "Less like: Moving out checklist.md"]
    page.narrowing.chips.chips()[1].cleared.emit()
    qtbot.waitUntil(lambda: commands.searches()[-1].less == ())
    offered.args[1]()
    qtbot.waitUntil(lambda: commands.searches()[-1].more == ())
    assert chips(page) == []
    page.list.row.more.trigger()
    page.query.set_text("")
    answer(qtbot, page, "other words")  # they belonged to the words before
    assert commands.searches()[-1].more == ()


def test_nearly_the_same_passages_are_counted_and_shown_one_by_one(
    qtbot: QtBot, page: SearchPage, commands: FakeCommands
) -> None:
    first = document("a.txt", [replace(hit("deposit", score=0.9), folded=3)])
    commands.answer = view([first, document("b.txt", [hit("b")])])
    answer(qtbot, page)
    rect = page.list.visualRect(page.model.index(0))
    link = page.list._delegate.folded_rect(rect, 0)
    assert "3 further nearly the same" in page.list.spoken()[0]
    assert not page.list._delegate.folded_rect(page.list.visualRect(page.model.index(1)), 1).isValid()
    QTest.mouseClick(page.list.viewport(), Qt.MouseButton.LeftButton, pos=link.center())
    qtbot.waitUntil(lambda: commands.searches()[-1].fold is False)
    assert chips(page) == ["Nearly the same: one by one"]
    page.narrowing.chips.chips()[0].click()
    qtbot.waitUntil(lambda: commands.searches()[-1].fold is True)


def test_the_line_of_chance_stands_before_the_first_from_which_nothing_is_closer(
    qtbot: QtBot, page: SearchPage, commands: FakeCommands
) -> None:
    scores = (0.9, 0.3, 0.6, 0.2, 0.1)
    found = [document(f"{n}.txt", [hit("deposit", score=score)]) for n, score in enumerate(scores)]
    commands.answer = view(found, chance=0.4)
    answer(qtbot, page)
    kinds = [page.model.row(n).kind for n in range(page.model.rowCount())]
    assert kinds.index(Kind.CHANCE) == 3  # the one of 0.3 stands above one that is closer
    page.list.setFocus()
    page.list.choose(2)
    QTest.keyClick(page.list, Qt.Key.Key_Down)
    assert page.list.currentIndex().row() == 4
    commands.answer = view(found[3:], chance=0.4)
    answer(qtbot, page, "again")
    assert page.list.spoken()[0] == "Nothing found is closer in meaning than chance"
    assert page.list.currentIndex().row() == 1
    QTest.keyClick(page.list, Qt.Key.Key_Up)
    assert page.query.edit.hasFocus()
    page.sort.setCurrentIndex(1)  # another order than that of meaning
    assert Kind.CHANCE not in [page.model.row(n).kind for n in range(page.model.rowCount())]


def test_a_second_look_is_offered_only_with_its_model_and_moves_nothing_in_use(
    qtbot: QtBot, page: SearchPage, commands: FakeCommands, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page.list, "pointer_is_over", lambda: False)
    answer(qtbot, page)
    assert page.head.second.isHidden()
    assert commands.searches()[-1].rerank == 0
    assert "search_get_reader" in {action.objectName() for action in page.actions()}
    found = page.model.documents
    commands.better = replace(commands.answer, documents=tuple(reversed(found)), reranked=12)
    commands.kinds = (READER,)
    commands.models()
    qtbot.waitUntil(lambda: commands.searches()[-1].rerank > 0 and page.session.settled)
    assert page.head.second.isVisible()
    assert page.head.second.isChecked()
    qtbot.waitUntil(lambda: page.model.documents[0].path == found[-1].path)
    assert page.list.currentIndex().row() == 0
    monkeypatch.setattr(page.list, "pointer_is_over", lambda: True)
    page.run("tenancy")
    qtbot.waitUntil(lambda: page.newer.isVisible())
    assert page.newer.text() == "Better order ready – show"
    assert page.model.documents[0].path == found[0].path
    page.newer.click()
    assert page.model.documents[0].path == found[-1].path
    monkeypatch.setattr(page.list, "pointer_is_over", lambda: False)
    page.head.second.click()
    qtbot.waitUntil(lambda: commands.searches()[-1].rerank == 0)


def test_a_pasted_text_is_looked_for_by_meaning(qtbot: QtBot, page: SearchPage, commands: FakeCommands) -> None:
    text = "The landlord returns the deposit after the keys are handed over. " * 8
    page.focus_query()
    QTest.keyClicks(page.query.edit, "deposit")
    page.query.edit.selectAll()
    page.query.edit.insert(text)
    qtbot.waitUntil(lambda: page.count.text() == "7 similar documents")
    assert commands.named("similar_text") == [("similar_text", text.strip())]
    assert page.filters.similar_chip.value().startswith("The landlord returns")
    page.filters.similar_chip.cleared.emit()
    assert page.stack.currentWidget() is page.start


def test_newer_ones_can_be_preferred(qtbot: QtBot, page: SearchPage, commands: FakeCommands) -> None:
    answer(qtbot, page)
    page.sort.setCurrentIndex(3)
    qtbot.waitUntil(lambda: commands.searches()[-1].recency > 0)
    page.sort.setCurrentIndex(0)
    qtbot.waitUntil(lambda: commands.searches()[-1].recency == 0)


def test_a_file_dropped_on_the_upper_part_is_searched_by(qtbot: QtBot, tmp_path: Path) -> None:
    from PySide6.QtWidgets import QWidget

    from sbert_desktop.ui.drop import DropOverlay

    host = QWidget()
    qtbot.addWidget(host)
    host.resize(1000, 700)
    host.show()
    overlay = DropOverlay(host)
    overlay.offer((tmp_path / "<b>.pdf",), search=True)
    assert overlay.search_title() == "Search for documents like “<b>.pdf”"
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(tmp_path / "<b>.pdf"))])

    def drop(place: QPoint) -> QDropEvent:
        return QDropEvent(QPointF(place), Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton,
                          Qt.KeyboardModifier.NoModifier)

    with qtbot.waitSignal(overlay.searched) as searched:
        overlay.dropEvent(drop(overlay.search_area().center()))
    assert searched.args == [tmp_path / "<b>.pdf"]
    overlay.offer((tmp_path / "<b>.pdf",), search=True)
    with qtbot.waitSignal(overlay.dropped):
        overlay.dropEvent(drop(QPoint(500, 650)))
    overlay.offer((tmp_path / "a", tmp_path / "b"), search=True)
    assert not overlay.search_area().isValid()
    overlay.hide()


def test_a_collection_that_is_not_there_is_the_reason_for_an_empty_list(
    qtbot: QtBot, page: SearchPage, commands: FakeCommands
) -> None:
    note = "No collection is called “tax”; there are Flat and Garden."
    commands.answer = view((), notes=(note,))
    answer(qtbot, page, "rent in:tax")
    assert page.stack.currentWidget() is page.stack.empty_words
    assert page.stack.empty_words.sentence.text() == note
    assert "No collection is called “tax”" in page.notes.full_text()


def test_undo_of_steering_leaves_other_words_alone(qtbot: QtBot, page: SearchPage, commands: FakeCommands) -> None:
    answer(qtbot, page)
    page.list.choose(0)
    page.list.row.more.trigger()
    page.list.choose(1)
    with qtbot.waitSignal(page.undoOffered) as offered:
        page.list.row.less.trigger()
    answer(qtbot, page, "other words")
    offered.args[1]()  # the toast still stands
    assert page.session.steer == ()
    assert chips(page) == []
    answer(qtbot, page)
    page.list.choose(0)
    with qtbot.waitSignal(page.undoOffered) as offered:
        page.list.row.more.trigger()
    offered.args[1]()
    qtbot.waitUntil(lambda: page.session.settled)
    assert commands.searches()[-1].more == ()


def test_the_last_chip_gives_the_focus_to_the_query_box(qtbot: QtBot, page: SearchPage) -> None:
    answer(qtbot, page, "rent -car")
    (chip,) = page.narrowing.chips.chips()
    chip.setFocus()
    QTest.keyClick(chip, Qt.Key.Key_Delete)
    assert page.query.text() == "rent"
    assert page.query.edit.hasFocus()
    answer(qtbot, page, "rent -car")
    page.list.setFocus()
    page.narrowing.chips.chips()[0].cleared.emit()  # by the mouse, the focus stays where it is
    assert page.list.hasFocus()
