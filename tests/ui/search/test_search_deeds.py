"""What is done with one or several hits: verdicts, citations, export, dragging out; why, and finding in the text."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog, QMenu
from pytestqt.qtbot import QtBot

from sbert_desktop.app.views import HitView, OpenerView, PreviewText
from sbert_desktop.domain import Failure
from sbert_desktop.ui.search.citing import citation
from sbert_desktop.ui.search.page import SearchPage
from sbert_desktop.ui.search.why import parts_of
from tests.ui.search.search_fakes import HOME, FakeCommands, document, hit, tenancy, view

pytestmark = pytest.mark.gui
SHIFT, CONTROL = Qt.KeyboardModifier.ShiftModifier, Qt.KeyboardModifier.ControlModifier


def answer(qtbot: QtBot, page: SearchPage, text: str = "deposit") -> None:
    page.run(text)
    qtbot.waitUntil(lambda: page.session.settled)
    page.list.setFocus()


def verdicts(page: SearchPage) -> list[str]:
    return [each.hits[0].judged for each in page.model.documents]


def test_several_hits_are_chosen_by_keys_and_done_with_together(
    qtbot: QtBot, page: SearchPage, commands: FakeCommands
) -> None:
    answer(qtbot, page)
    page.list.choose(0)
    for _ in range(2):
        QTest.keyClick(page.list, Qt.Key.Key_Down, SHIFT)
    assert page.count.text() == "3 results chosen"
    paths = [each.path for each in tenancy()[:3]]
    QTest.keyClick(page.list, Qt.Key.Key_C, CONTROL)
    assert QGuiApplication.clipboard().text() == "\n".join(map(str, paths))
    QTest.keyClick(page.list, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: len(commands.named("open")) == 3)
    texts = [action.text() for action in page.list.make_menu().actions()]
    assert {"Open 3 files", "Copy 3 paths", "Copy 3 passages", "Copy 3 citations"} <= set(texts)
    data = page.model.mimeData(page.list.selectionModel().selectedRows())
    assert [Path(url.toLocalFile()) for url in data.urls()] == paths
    assert "§ 7 Deposit." in data.text()
    with qtbot.waitSignal(page.collectWanted) as collected:
        QTest.keyClick(page.list, Qt.Key.Key_M)
    assert len(collected.args[0]) == 3
    QTest.keyClick(page.list, Qt.Key.Key_Down)
    assert page.count.text().startswith("12 passages")


def test_verdicts_are_kept_by_key_shown_and_taken_back(
    qtbot: QtBot, page: SearchPage, commands: FakeCommands
) -> None:
    answer(qtbot, page)
    page.list.choose(1)
    passage = page.list.current_hit().passage_id  # type: ignore[union-attr]
    with qtbot.waitSignal(page.undoOffered) as offered:
        QTest.keyClick(page.list, Qt.Key.Key_1)
    assert offered.args[0] == "Kept 1 passage as what you meant"
    assert commands.named("judge") == [("judge", "deposit", passage, "relevant")]
    assert verdicts(page)[:3] == ["", "relevant", ""]
    assert "judged relevant" in page.list.spoken()[1]
    qtbot.waitUntil(lambda: page.inspector.why.relevant.isChecked())
    offered.args[1]()
    assert commands.named("judge")[-1] == ("judge", "deposit", passage, "")
    assert verdicts(page)[1] == ""
    QTest.keyClick(page.list, Qt.Key.Key_2)
    QTest.keyClick(page.list, Qt.Key.Key_2)  # the same again takes it back
    assert [call[3] for call in commands.named("judge")[-2:]] == ["not relevant", ""]
    QTest.keyClick(page.list, Qt.Key.Key_S)  # the letters do the same
    QTest.keyClick(page.list, Qt.Key.Key_D)
    assert [call[3] for call in commands.named("judge")[-2:]] == ["relevant", "not relevant"]
    assert page.inspector.why.relevant.toolTip().endswith("(S)</span>")
    commands.settings.set("search.key_relevant", "F")
    qtbot.waitUntil(lambda: page.list.row.relevant.shortcut().toString() == "F")
    assert page.inspector.why.relevant.toolTip().endswith("(F)</span>")
    QTest.keyClick(page.list, Qt.Key.Key_F)
    assert verdicts(page)[1] == "relevant"
    commands.settings.set("search.key_relevant", "")
    qtbot.waitUntil(lambda: not page.list.row.relevant.shortcuts())


def test_a_verdict_that_could_not_be_kept_is_not_shown(
    qtbot: QtBot, page: SearchPage, commands: FakeCommands
) -> None:
    answer(qtbot, page)
    commands.fail["judge"] = Failure("read-only", "The library can only be read.", "")
    page.inspector.show_hit(page.list.current_document(), page.list.current_hit(), page.model.view)
    with qtbot.waitSignal(page.statusMessage) as said:
        page.inspector.why.not_relevant.click()
    assert said.args == ["The library can only be read."]
    assert set(verdicts(page)) == {""}


def test_a_citation_holds_the_words_the_page_and_the_path(qtbot: QtBot, page: SearchPage) -> None:
    answer(qtbot, page)
    page.list.choose(0)
    QTest.keyClick(page.list, Qt.Key.Key_C, CONTROL | Qt.KeyboardModifier.AltModifier)
    words, where, path = QGuiApplication.clipboard().text().split("\n")
    assert words.startswith("“§ 7 Deposit. The landlord")
    assert where == "Tenancy agreement Alder Street 14.pdf, 14 Mar 2023, p. 3"
    assert path == str(tenancy()[0].path)
    nasty = document("a\u202eb.txt", [hit("one\n two")])
    assert "\u202e" not in citation(nasty, nasty.hits[0])


def test_results_are_exported_all_or_the_chosen_ones(
    qtbot: QtBot, page: SearchPage, commands: FakeCommands, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    answer(qtbot, page)
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *a, **k: (str(tmp_path / "out"), "BibTeX (*.bib)"))
    with qtbot.waitSignal(page.statusMessage) as said:
        page.list.row.export.trigger()
    assert said.args == ["Written to out.bib"]
    _, whole, target = commands.named("export_hits")[0]
    assert (len(whole.documents), target) == (7, tmp_path / "out.bib")
    page.list.choose(0)
    QTest.keyClick(page.list, Qt.Key.Key_Down, SHIFT)
    page.list.row.export.trigger()
    _, some, _ = commands.named("export_hits")[1]
    assert [len(each.hits) for each in some.documents] == [1, 1]
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *a, **k: ("", ""))
    page.list.row.export.trigger()
    assert len(commands.named("export_hits")) == 2


def test_a_program_can_be_chosen_to_open_files_with(
    qtbot: QtBot, page: SearchPage, commands: FakeCommands, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer(qtbot, page)
    page.list.choose(0)
    QTest.keyClick(page.list, Qt.Key.Key_Down, SHIFT)
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *a, **k: ("/usr/bin/reader", ""))
    with qtbot.waitSignal(page.statusMessage) as said:
        page.list.row.open_with.trigger()
    assert said.args == ["Opening 2 files with reader"]
    assert commands.named("open_with") == [
        ("open_with", each.path, Path("/usr/bin/reader")) for each in tenancy()[:2]]


def test_the_programs_that_the_desktop_knows_are_offered_first(
    qtbot: QtBot, page: SearchPage, commands: FakeCommands, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands.programs = (OpenerView("Reader & co", Path("/apps/reader.desktop")),)
    answer(qtbot, page)
    page.list.choose(0)
    page.list.row.open_with.trigger()
    qtbot.waitUntil(lambda: page.findChild(QMenu, "open_with_menu") is not None)
    offered = page.findChild(QMenu, "open_with_menu")
    assert isinstance(offered, QMenu)
    assert [action.text() for action in offered.actions() if action.text()] == ["Reader && co", "Another program…"]
    with qtbot.waitSignal(page.statusMessage) as said:
        offered.actions()[0].trigger()
    assert said.args == ["Opening Tenancy agreement Alder Street 14.pdf with Reader & co"]
    assert commands.named("open_with") == [("open_with", tenancy()[0].path, Path("/apps/reader.desktop"))]
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *a, **k: ("/usr/bin/other", ""))
    offered.actions()[-1].trigger()
    assert commands.named("open_with")[-1][2] == Path("/usr/bin/other")
    offered.close()


def test_why_gives_all_parts_of_the_score_on_demand(qtbot: QtBot, page: SearchPage, commands: FakeCommands) -> None:
    told = replace(hit("deposit", score=0.7, page=9), rerank=0.93, folded=2)
    commands.answer = view([document("a.pdf", [told])], chance=0.41)
    answer(qtbot, page)
    why = page.inspector.why
    qtbot.waitUntil(why.isVisible)
    assert not why.details.isVisible()
    why.details_button.click()
    assert why.details.text().split("\n") == [
        "Score 0.70: meaning and words together", "Weights: 60 % meaning, 40 % words",
        "Cosine 0.700 (chance reaches 0.41)", "Weight of the words found (BM25) 4.20", "Second look 0.930",
        "2 further passages say nearly the same"]
    assert "Newer documents raised by up to 30 %" in parts_of(told, None, 40, 0.3)
    qtbot.waitUntil(lambda: why.family.text() == "Newest of 2")
    why.details_button.click()
    assert not why.details.isVisible()


def test_words_are_found_in_the_text_and_by_keys(qtbot: QtBot, page: SearchPage, commands: FakeCommands) -> None:
    text = "One deposit. " + "Filler words. " * 200 + "Two DEPOSITS. " + "More. " * 200 + "Third deposit."

    def preview(found: HitView, number: int | None, width: int) -> object:
        return PreviewText(found.path, "a", "txt", text, 0, (0, 12), None, ())

    commands.previews = preview
    answer(qtbot, page)
    tools, find = page.inspector.tools, page.inspector.find_bar
    qtbot.waitUntil(lambda: page.inspector.stack.currentWidget() is page.inspector.text_view)
    assert tools.find_button.isVisible()
    QTest.keyClick(page.list, Qt.Key.Key_F, CONTROL)
    assert find.box.edit.hasFocus()
    QTest.keyClicks(find.box.edit, "deposit")
    assert find.count.text() == "1 of 3"
    QTest.keyClick(find.box.edit, Qt.Key.Key_Return)
    assert find.count.text() == "2 of 3"
    assert page.inspector.text_view.textCursor().selectedText() == "DEPOSIT"
    QTest.keyClick(find.box.edit, Qt.Key.Key_Return, SHIFT)
    QTest.keyClick(find.box.edit, Qt.Key.Key_Return, SHIFT)
    assert find.count.text() == "3 of 3"
    QTest.keyClicks(find.box.edit, "x")
    assert find.count.text() == "not found"
    QTest.keyClick(find.box.edit, Qt.Key.Key_Escape)
    assert not find.isVisible()
    assert page.inspector.text_view.hasFocus()


def test_the_next_passage_of_a_document_comes_by_key(qtbot: QtBot, page: SearchPage) -> None:
    answer(qtbot, page)
    qtbot.waitUntil(lambda: page.inspector.shown()[1] is not None)
    QTest.keyClick(page.list, Qt.Key.Key_F3)
    assert page.list.currentIndex().row() == 2  # the document opened, its second passage is shown
    QTest.keyClick(page.list, Qt.Key.Key_F3, SHIFT)
    assert page.list.currentIndex().row() == 1


def test_what_the_program_cannot_do_has_no_control(qtbot: QtBot, commands: FakeCommands, bridge) -> None:  # type: ignore[no-untyped-def]
    plain = SearchPage(commands, bridge, can=lambda command: False)  # type: ignore[arg-type]
    qtbot.addWidget(plain)
    qtbot.addWidget(plain.inspector)
    names = {action.objectName() for action in plain.list.row_actions()}
    assert not names & {"search_relevant", "search_more_like", "search_export", "search_collect", "search_unfold"}
    assert plain.filters.add_button.isHidden()
    assert plain.inspector.why.relevant.isHidden()
    assert HOME  # the fakes' paths


def test_a_key_held_down_does_its_deed_once(qtbot: QtBot, page: SearchPage) -> None:
    answer(qtbot, page)
    assert [action.objectName() for action in page.list.row_actions() if action.autoRepeat()] == []


def test_nothing_is_steered_from_a_row_that_is_no_hit(qtbot: QtBot, page: SearchPage, monkeypatch) -> None:
    answer(qtbot, page)
    monkeypatch.setattr(page.list, "chosen", lambda: ())
    with qtbot.assertNotEmitted(page.undoOffered):
        page.list.row.more.trigger()
    assert page.session.steer == ()


def test_a_setting_changed_in_a_lane_reaches_the_page_on_the_gui_thread(
    qtbot: QtBot, page: SearchPage, commands: FakeCommands, monkeypatch
) -> None:
    seen: list[threading.Thread] = []
    monkeypatch.setattr(page.balance, "set_weight", lambda _weight: seen.append(threading.current_thread()))
    thread = threading.Thread(target=commands.settings.set, args=("search.words_weight", 77))
    thread.start()
    thread.join()
    qtbot.waitUntil(lambda: page.session.words_weight == 77)
    assert seen == [threading.current_thread()]
