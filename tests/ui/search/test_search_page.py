"""The Search page as a person uses it: typing, keys, filters, states; answers come from a thread."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime, timedelta
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QWidget
from pytestqt.qtbot import QtBot

from sbert_desktop.app.views import Marks
from sbert_desktop.domain import Failure, Filters, JobId, Mode, Partial, Query
from sbert_desktop.settings import BY_KEY
from sbert_desktop.ui.search import session as search_session
from sbert_desktop.ui.search.filters import DateRangeDialog, start_of
from sbert_desktop.ui.search.model import Kind
from sbert_desktop.ui.search.page import SearchPage
from sbert_desktop.ui.theme import theme
from tests.ui.search.search_fakes import HOME, FakeCommands, document, hit, library, tenancy, view

pytestmark = pytest.mark.gui


def answer(qtbot: QtBot, page: SearchPage, text: str = "deposit") -> None:
    page.run(text)
    qtbot.waitUntil(lambda: page.session.settled)


def test_typing_to_opening_needs_only_the_keyboard(qtbot: QtBot, page: SearchPage, commands: FakeCommands) -> None:
    page.focus_query()
    QTest.keyClicks(page.query.edit, "deposit")
    assert commands.named("typing")
    assert not commands.searches()  # not while typing goes on
    qtbot.waitUntil(lambda: page.session.settled)
    assert len(commands.searches()) == 1
    QTest.keyClick(page.query.edit, Qt.Key.Key_Return)  # nothing new to search: into the list
    assert page.list.hasFocus()
    QTest.keyClick(page.list, Qt.Key.Key_Right)
    QTest.keyClick(page.list, Qt.Key.Key_Down)
    QTest.keyClick(page.list, Qt.Key.Key_Return)
    assert commands.named("open") == [("open", tenancy()[0].path, 3)]
    QTest.keyClick(page.list, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert commands.named("reveal") == [("reveal", tenancy()[0].path)]
    QTest.keyClick(page.list, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == str(tenancy()[0].path)
    QTest.keyClick(page.list, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    assert QGuiApplication.clipboard().text().startswith("§ 7 Deposit.")
    with qtbot.waitSignal(page.inspectorWanted) as wanted:
        QTest.keyClick(page.list, Qt.Key.Key_Space)
    assert wanted.args == [False]
    QTest.keyClick(page.list, Qt.Key.Key_Escape)
    assert page.query.edit.hasFocus()


def test_enter_searches_at_once(qtbot: QtBot, page: SearchPage, commands: FakeCommands) -> None:
    page.focus_query()
    QTest.keyClicks(page.query.edit, "keys")
    QTest.keyClick(page.query.edit, Qt.Key.Key_Return)
    assert [query.text for query in commands.searches()] == ["keys"]


def test_an_answer_that_comes_too_late_is_never_shown(qtbot: QtBot, page: SearchPage, commands: FakeCommands) -> None:
    commands.answers = {"old": view([document("old.txt", [hit("old")])]),
                        "new": view([document("new.txt", [hit("n")])])}
    commands.hold.add("old")
    page.run("old")
    page.run("new")
    qtbot.waitUntil(lambda: page.session.settled)
    shown: list[object] = []
    page.session.answered.connect(lambda *args: shown.append(args))
    commands.release()
    ended: list[object] = []  # it comes after the late answer
    page._bridge.watch(commands.open_file(Path("x")), on_finished=ended.append)
    qtbot.waitUntil(lambda: bool(ended))
    assert page.list.current_document().path.name == "new.txt"  # type: ignore[union-attr]
    assert not shown


def test_right_opens_left_goes_up_and_closes(qtbot: QtBot, page: SearchPage) -> None:
    answer(qtbot, page)
    page.list.setFocus()
    QTest.keyClick(page.list, Qt.Key.Key_Right)
    assert page.model.rowCount() == 9 + 1
    QTest.keyClick(page.list, Qt.Key.Key_Right)
    assert page.list.currentIndex().row() == 1
    QTest.keyClick(page.list, Qt.Key.Key_Left)
    assert page.list.currentIndex().row() == 0
    QTest.keyClick(page.list, Qt.Key.Key_Left)
    assert page.model.rowCount() == 7
    QTest.keyClick(page.list, Qt.Key.Key_Up)
    assert page.query.edit.hasFocus()


def test_letters_typed_in_the_list_go_to_the_query_box(qtbot: QtBot, page: SearchPage) -> None:
    answer(qtbot, page)
    page.list.setFocus()
    QTest.keyClicks(page.list, "r")
    assert page.query.edit.hasFocus()
    assert page.query.text() == "r"


def test_the_link_opens_further_passages_by_mouse(qtbot: QtBot, page: SearchPage) -> None:
    answer(qtbot, page)
    index = page.model.index(1)
    link = page.list.itemDelegate().link_rect(page.list.visualRect(index), 1)  # type: ignore[attr-defined]
    QTest.mouseClick(page.list.viewport(), Qt.MouseButton.LeftButton, pos=link.center())
    assert page.model.is_open(1)
    link = page.list.itemDelegate().link_rect(page.list.visualRect(page.model.index(1)), 1)  # type: ignore[attr-defined]
    QTest.mouseClick(page.list.viewport(), Qt.MouseButton.LeftButton, pos=link.center())
    assert not page.model.is_open(1)


def test_marks_move_no_row(qtbot: QtBot, page: SearchPage, commands: FakeCommands) -> None:
    text = "This sentence is far away from everything that was asked for today. " * 20 + "Here."
    commands.answer = view([document("a.txt", [hit(text)]), document("b.txt", [hit("b")])])
    answer(qtbot, page)
    before = [page.list.visualRect(page.model.index(n)) for n in range(2)]
    passage = page.model.document_at(0).hits[0].passage_id
    page._on_marks(Marks({passage: (len(text) - 5, len(text))}))  # one line of text where two were
    qtbot.wait(20)
    assert [page.list.visualRect(page.model.index(n)) for n in range(2)] == before
    assert page.model.snippet_at(0).text == "… away from everything that was asked for today. Here."


def test_a_passage_never_runs_over_its_row(qtbot: QtBot, page: SearchPage, commands: FakeCommands) -> None:
    text = "End of it. " + "This sentence is far away from everything that was asked for today. " * 20
    at = text.index("This", 400)
    commands.answer = view([document("a.txt", [hit(text[-60:] + text, best=text[-60:].strip())])])
    answer(qtbot, page)
    passage = page.model.document_at(0).hits[0].passage_id
    page._on_marks(Marks({passage: (at, at + 300)}))
    delegate, width = page.list._delegate, page.list.viewport().width()
    assert delegate._text(0, width).height <= delegate._text_height(0, width)
    short = view([document("c.txt", [hit("One line. Of text.")])])
    commands.answer = short
    answer(qtbot, page, "other")
    assert delegate._text_height(0, width) == delegate._text(0, width).height == delegate._line()


def test_marks_of_the_stream_reach_the_list(qtbot: QtBot, page: SearchPage, commands: FakeCommands) -> None:
    documents = tenancy()
    passage = documents[5].hits[0].passage_id
    commands.answer = view(documents)
    commands.marks = Marks({passage: (0, 9)})
    answer(qtbot, page)
    assert page.model.snippet_at(5).mark == (0, 9)


def test_nothing_moves_under_the_pointer(
    qtbot: QtBot, page: SearchPage, commands: FakeCommands, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer(qtbot, page)
    monkeypatch.setattr(page.list, "pointer_is_over", lambda: True)
    shown = [each.path for each in page.model.documents]
    place = page.list.mapTo(page, QPoint(0, 0)), page.list.visualRect(page.model.index(1))
    commands.answer = view([document("brand new.txt", [hit("deposit", score=0.9)]), *page.model.documents])
    page.library_changed()
    qtbot.waitUntil(lambda: page.newer.isVisible())
    assert page.newer.text() == "1 newer hit – show"
    assert [each.path for each in page.model.documents] == shown
    qtbot.wait(50)
    assert (page.list.mapTo(page, QPoint(0, 0)), page.list.visualRect(page.model.index(1))) == place
    page.newer.click()
    assert page.model.documents[0].path.name == "brand new.txt"
    assert not page.newer.isVisible()


def test_a_quiet_answer_of_the_same_order_is_taken_in_place(
    qtbot: QtBot, page: SearchPage, commands: FakeCommands, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer(qtbot, page)
    monkeypatch.setattr(page.list, "pointer_is_over", lambda: True)
    commands.answer = replace(page.model.view, passages_found=99)  # type: ignore[type-var]
    page.library_changed()
    qtbot.waitUntil(lambda: page.count.text().startswith("99 passages"))
    assert not page.newer.isVisible()


def test_without_a_pointer_the_list_takes_new_hits_and_keeps_the_choice(
    qtbot: QtBot, page: SearchPage, commands: FakeCommands
) -> None:
    answer(qtbot, page)
    page.list.choose(2)
    chosen = page.list.current_hit()
    commands.answer = view([document("brand new.txt", [hit("deposit", score=0.9)]), *page.model.documents])
    page.query.edit.setFocus()
    page.library_changed()
    qtbot.waitUntil(lambda: page.model.documents[0].path.name == "brand new.txt")
    assert page.list.current_hit() == chosen


def test_the_query_is_run_again_at_most_every_three_seconds(
    qtbot: QtBot, page: SearchPage, commands: FakeCommands, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer(qtbot, page)
    for _ in range(50):
        page.library_changed()
    qtbot.waitUntil(lambda: len(commands.searches()) == 2)
    assert search_session.RERUN_MS == 3000
    monkeypatch.setattr(search_session, "RERUN_MS", 3_600_000)  # the machine may stand still for three seconds
    for _ in range(50):
        page.library_changed()
    qtbot.wait(100)
    assert len(commands.searches()) == 2
    assert page.session._rerun.remainingTime() > 3_000_000


def test_a_library_that_keeps_changing_does_not_keep_the_answer_from_coming(
    qtbot: QtBot, page: SearchPage, commands: FakeCommands, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer(qtbot, page)
    monkeypatch.setattr(search_session, "RERUN_MS", 20)
    commands.hold.add(page.session.text)  # a search that takes longer than the pause between two
    commands.answer = view([document("brand new.txt", [hit("deposit", score=0.9)]), *page.model.documents])
    for _ in range(5):
        page.library_changed()
        qtbot.wait(60)
    assert len(commands.searches()) == 2  # a newer one would throw away the one under way, and so on for ever
    commands.hold.clear()
    commands.release()
    qtbot.waitUntil(lambda: page.model.documents[0].path.name == "brand new.txt")
    qtbot.waitUntil(lambda: len(commands.searches()) == 3)  # for what changed meanwhile


def test_a_quiet_answer_shows_its_hits_before_the_best_sentences_are_found_anew(
    qtbot: QtBot, page: SearchPage, commands: FakeCommands, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = next(h for d in commands.answer.documents for h in d.hits)  # type: ignore[union-attr]
    commands.marks = Marks({known.passage_id: (0, 9)})
    answer(qtbot, page)
    plain = [replace(d, hits=tuple(replace(h, best_sentence=None) for h in d.hits)) for d in page.model.documents]
    early = view([document("brand new.txt", [hit("deposit", score=0.9)]), *plain])

    def search(query: Query) -> JobId:
        shown = replace(early, query=query.text, mode=query.mode, filters=query.filters)
        return commands._submit("search", lambda job: [Partial(job, shown)])  # the sentences take seconds

    monkeypatch.setattr(commands, "search", search)
    page.query.edit.setFocus()
    page.library_changed()
    qtbot.waitUntil(lambda: page.model.documents[0].path.name == "brand new.txt")
    same = next(h for d in page.model.documents for h in d.hits if h.passage_id == known.passage_id)
    assert same.best_sentence == (0, 9)  # what was marked stays marked


def test_the_slider_sets_mode_and_weight_and_is_remembered(
    qtbot: QtBot, page: SearchPage, commands: FakeCommands
) -> None:
    default = BY_KEY["search.words_weight"].default
    answer(qtbot, page)
    slider = page.balance.slider
    assert commands.searches()[-1].words_weight == pytest.approx(default / 100)
    slider.setFocus()
    QTest.keyClick(slider, Qt.Key.Key_Right)
    assert commands.settings["search.words_weight"] == default - 10
    qtbot.waitUntil(lambda: len(commands.searches()) == 2)
    assert commands.searches()[-1].words_weight == pytest.approx(default / 100 - 0.1)
    assert commands.searches()[-1].mode is Mode.HYBRID
    slider.setValue(0)
    qtbot.waitUntil(lambda: commands.searches()[-1].mode is Mode.KEYWORD)
    slider.setValue(100)
    qtbot.waitUntil(lambda: commands.searches()[-1].mode is Mode.SEMANTIC)
    assert page.balance.words() == "Meaning only"


def test_chips_make_the_filters(qtbot: QtBot, page: SearchPage, commands: FakeCommands) -> None:
    answer(qtbot, page)
    bar = page.filters

    def pick(chip: object, text: str) -> None:
        choice = chip.menu()  # type: ignore[attr-defined]
        choice.aboutToShow.emit()
        next(action for action in choice.actions() if action.text() == text).trigger()

    pick(bar.folder_chip, "~/Mail")
    assert bar.filters() == Filters(folder=HOME / "Mail")
    assert bar.folder_chip.value() == "Mail"
    pick(bar.type_chip, "mail")
    assert set(bar.filters().types) == {"eml", "mbox"}
    pick(bar.type_chip, "PDF")
    assert set(bar.filters().types) == {"eml", "mbox", "pdf"}
    pick(bar.type_chip, "mail")
    assert bar.filters().types == ("pdf",)
    pick(bar.language_chip, "German")
    assert bar.filters().languages == ("de",)
    before = date.today()
    pick(bar.date_chip, "Last week")
    assert bar.filters().after in {start_of(day - timedelta(days=7)) for day in (before, date.today())}  # at midnight
    assert bar.date_chip.value() == "last week"
    qtbot.waitUntil(lambda: commands.searches()[-1].filters == bar.filters())
    bar.type_chip.cleared.emit()
    bar.folder_chip.cleared.emit()
    bar.language_chip.cleared.emit()
    QTest.keyClick(bar.date_chip, Qt.Key.Key_Delete)
    assert not bar.filters()


def test_since_a_year_and_a_range_of_days(qtbot: QtBot, page: SearchPage) -> None:
    choice = page.filters.date_chip.menu()
    choice.aboutToShow.emit()
    since = next(action.menu() for action in choice.actions() if action.menu() is not None)
    year = since.actions()[1]
    year.trigger()
    assert page.filters.filters().after == start_of(date(int(year.text()), 1, 1))
    assert page.filters.date_chip.value() == f"since {year.text()}"
    after, before = datetime(2022, 3, 5).timestamp(), datetime(2022, 3, 7).timestamp()
    dialog = DateRangeDialog(after, before)
    qtbot.addWidget(dialog)
    assert dialog.range() == (after, before)  # both days whole: the 5th and the 6th
    dialog.first_box.setChecked(False)
    assert dialog.range() == (None, before)


def test_similar_documents_and_back(qtbot: QtBot, page: SearchPage, commands: FakeCommands) -> None:
    answer(qtbot, page)
    page.list.similar_action.trigger()
    qtbot.waitUntil(lambda: page.count.text() == "7 similar documents")
    assert commands.named("similar") == [("similar", tenancy()[0].path)]
    assert page.filters.similar_chip.isVisible()
    page.filters.similar_chip.cleared.emit()
    qtbot.waitUntil(lambda: page.count.text().startswith("12 passages"))
    assert not page.filters.similar_chip.isVisible()


def test_result_line_counts_and_says_what_is_missing(qtbot: QtBot, page: SearchPage, commands: FakeCommands) -> None:
    commands.answer = view(tenancy(), embedded=1240, notes=("Still indexing, more may come.",))
    answer(qtbot, page)
    assert page.count.text() == "12 passages in 7 documents"
    assert page.notes.full_text() == (
        " · 38 ms · 1,240 of 40,000 also by meaning · Still indexing, more may come")


def test_more_documents_are_fetched_without_moving_those_above(
    qtbot: QtBot, page: SearchPage, commands: FakeCommands
) -> None:
    many = [document(f"{n}.txt", [hit("deposit", score=0.9 - n / 1000)], content=9000 + n) for n in range(80)]
    commands.answer = view(many[:50])
    answer(qtbot, page)
    footer = page.model.rowCount() - 1
    assert page.model.row(footer).kind is Kind.FOOTER
    commands.answer = view(many)
    page.list.setFocus()
    page.list.choose(footer)
    QTest.keyClick(page.list, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: len(page.model.documents) == 80)
    assert commands.searches()[-1].top == 100


def test_before_anything_is_typed_recent_searches_are_offered(
    qtbot: QtBot, page: SearchPage, commands: FakeCommands
) -> None:
    assert page.stack.currentWidget() is page.start
    assert page.start.list.count() == 3
    QTest.keyClick(page.start.list, Qt.Key.Key_Down)
    QTest.keyClick(page.start.list, Qt.Key.Key_Return)
    assert commands.searches()[-1].text == "rent increase"
    assert page.query.text() == "rent increase"


def test_history_opens_with_down_and_can_be_forgotten(
    qtbot: QtBot, page: SearchPage, commands: FakeCommands
) -> None:
    page.focus_query()
    QTest.keyClick(page.query.edit, Qt.Key.Key_Down)
    popup = page.query.completer.popup()
    assert popup.isVisible()
    rows = [popup.model().index(n, 0).data() for n in range(popup.model().rowCount())]
    assert rows == ["deposit", "rent increase", "water meter", "Clear recent searches"]
    popup.hide()
    page.start.clear_button.click()
    assert commands.named("clear_history")
    assert not page.query.open_history()
    assert not page.start.list.isVisible()


def test_nothing_found_says_why_and_offers_one_way_out(
    qtbot: QtBot, page: SearchPage, commands: FakeCommands
) -> None:
    commands.answer = view(())
    answer(qtbot, page)
    assert page.stack.currentWidget() is page.stack.empty_words
    page.filters.set_filters(Filters(types=("pdf",)))
    qtbot.waitUntil(lambda: page.stack.currentWidget() is page.stack.empty_filters)
    assert page.stack.empty_filters.button is not None
    commands.answer = view(tenancy())
    page.stack.empty_filters.button.click()
    qtbot.waitUntil(lambda: page.stack.has_results)
    assert not page.filters.filters()


def test_an_empty_library_leads_to_the_library(qtbot: QtBot, page: SearchPage, commands: FakeCommands) -> None:
    page.set_library(library(documents=0, passages=0, embedded=0, folders=()))
    assert page.stack.currentWidget() is page.stack.empty_library
    with qtbot.waitSignal(page.openRequested) as asked:
        page.stack.empty_library.button.click()  # type: ignore[union-attr]
    assert asked.args == ["library"]
    commands.answer = view((), passages=0, embedded=0)
    answer(qtbot, page)
    assert page.stack.currentWidget() is page.stack.empty_library


def test_a_failed_search_says_what_and_why_and_tries_again(
    qtbot: QtBot, page: SearchPage, commands: FakeCommands
) -> None:
    commands.answer = Failure("model-changed", "The model file was changed.", "Get it again under Models.")
    page.run("deposit")
    qtbot.waitUntil(lambda: page.stack.currentWidget() is page.stack.failed)
    assert page.stack.failed.sentence.text() == "The model file was changed. Get it again under Models."
    commands.answer = view(tenancy())
    page.stack.failed.button.click()  # type: ignore[union-attr]
    qtbot.waitUntil(lambda: page.stack.has_results)


def test_skeleton_rows_come_only_when_it_takes_long(qtbot: QtBot, page: SearchPage, commands: FakeCommands) -> None:
    commands.hold.add("slow")
    timer = page.session._slow
    assert timer.interval() == search_session.SLOW_MS
    timer.setInterval(3_600_000)  # however long the machine stands still: the answer is there in time
    answer(qtbot, page)
    assert not timer.isActive()
    timer.setInterval(search_session.SLOW_MS)
    page.run("slow")
    assert page.stack.has_results  # the old answer stays until it is known that the new one takes long
    qtbot.waitUntil(lambda: page.stack.currentWidget() is page.stack.skeleton)
    commands.release()
    qtbot.waitUntil(lambda: page.stack.has_results)


def test_clearing_the_words_goes_back_to_the_start(qtbot: QtBot, page: SearchPage) -> None:
    answer(qtbot, page)
    page.query.clear_button.click()
    assert page.stack.currentWidget() is page.start
    assert page.model.rowCount() == 0


def test_every_control_has_a_name_and_the_tab_order_is_the_reading_order(qtbot: QtBot, page: SearchPage) -> None:
    answer(qtbot, page)
    for root in (page, page.inspector):
        for widget in root.findChildren(QWidget):
            if widget.focusPolicy() != Qt.FocusPolicy.NoFocus and widget.isVisibleTo(root):
                if widget.objectName().startswith("qt_"):
                    continue
                assert widget.objectName(), type(widget)
                assert widget.accessibleName(), widget.objectName()
    order = ["search_query", "search_query_clear", "search_balance", "filter_folder", "filter_type", "filter_date",
             "filter_language", "search_sort", "search_results"]
    found, widget = [], page.query.edit
    for _ in range(200):
        if widget.objectName() in order and widget.objectName() not in found:
            found.append(widget.objectName())
        widget = widget.nextInFocusChain()  # type: ignore[assignment]
    assert found == order


def test_labels_never_parse_rich_text(qtbot: QtBot, page: SearchPage) -> None:
    answer(qtbot, page)
    for root in (page, page.inspector):
        for label in root.findChildren(QLabel):
            assert label.textFormat() == Qt.TextFormat.PlainText, label.objectName()


def test_the_menu_of_a_row_offers_everything_with_its_keys(qtbot: QtBot, page: SearchPage) -> None:
    answer(qtbot, page)
    page.list.choose(0)
    menu = page.list.make_menu()
    texts = {action.text(): action.shortcut().toString() for action in menu.actions() if action.text()}
    assert list(texts) == ["Open", "Open with…", "Show in folder", "Copy path", "Copy passage", "Copy as citation",
                           "Export…", "Add to a collection…", "This is what I meant", "This is not what I meant",
                           "More like this", "Less like this", "Find similar documents",
                           "Show passages that say nearly the same", "Show or hide further passages",
                           "Show or hide the preview"]
    assert texts["Show in folder"] == "Ctrl+Return"
    names = [action.objectName() for action in page.actions()]
    assert len(names) == len(set(names))
    assert {"search_focus", "search_open", "search_similar"} <= set(names)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("scale", [100, 200])
def test_the_page_paints_in_both_schemes_and_large_type(
    qtbot: QtBot, page: SearchPage, commands: FakeCommands, scheme: str, scale: int
) -> None:
    hostile = document("<img src=x> \u202eevil.pdf", [hit("<b>plain</b> السلام عليكم " * 9, location="<i>p</i>")],
                       title="<img src=x>")
    arabic = document("تقرير.txt", [hit("هذا نص طويل عن الوديعة " * 30, words=("الوديعة",), best="هذا نص طويل")])
    commands.answer = view([*tenancy(), hostile, arabic])
    theme.apply(scheme=scheme, text_scale=scale)
    answer(qtbot, page)
    page.model.set_open(0, True)
    page.list.choose(1)
    wanted = {theme.color("mark").rgb(), theme.color("selected").rgb()}

    def painted() -> bool:
        picture = page.grab().toImage()
        return wanted <= {picture.pixel(x, y) for x in range(0, picture.width(), 2)
                          for y in range(120, picture.height(), 2)}

    qtbot.waitUntil(painted)
    page.list.scrollToBottom()
    assert not page.grab().isNull()
    assert not page.inspector.grab().isNull()


def test_the_mark_lies_under_the_best_sentence(qtbot: QtBot, page: SearchPage) -> None:
    from sbert_desktop.ui.search.passage_text import PassageText
    from sbert_desktop.ui.search.text import Snippet

    text = PassageText(Snippet("🙂 one two three four", (2, 9), ()), theme.font("body"), 600, 20)
    [mark] = text.marks()
    whole = PassageText(Snippet("🙂 one two three four", (0, 20), ()), theme.font("body"), 600, 20).marks()[0]
    assert whole.left() < mark.left() < mark.right() < whole.right()
    wide = theme.metrics("body").horizontalAdvance("one two")
    assert mark.width() == pytest.approx(wide, abs=3)


def test_leaving_the_list_clears_the_hovered_link(qtbot: QtBot, page: SearchPage) -> None:
    answer(qtbot, page)
    index = page.model.index(0)
    link = page.list.itemDelegate().link_rect(page.list.visualRect(index), 0)  # type: ignore[attr-defined]
    QTest.mouseMove(page.list.viewport(), link.center())
    page.list._hover(page.list._link_at(QPoint(link.center())))
    assert page.list.itemDelegate().hovered_link == 0  # type: ignore[attr-defined]
    page.list.viewportEvent(QEvent(QEvent.Type.Leave))
    assert page.list.itemDelegate().hovered_link == -1  # type: ignore[attr-defined]


def test_the_settings_page_moves_the_slider(qtbot: QtBot, page: SearchPage, commands: FakeCommands) -> None:
    answer(qtbot, page)
    commands.settings.set("search.words_weight", 60)
    qtbot.waitUntil(lambda: page.balance.weight() == 60)
    qtbot.waitUntil(lambda: commands.searches()[-1].words_weight == pytest.approx(0.6))


def test_a_hidden_page_searches_again_only_when_it_is_seen(
    qtbot: QtBot, page: SearchPage, commands: FakeCommands
) -> None:
    answer(qtbot, page)
    page.hide()
    page.set_library(library(passages=50_000))
    qtbot.wait(60)
    assert len(commands.searches()) == 1
    page.show()
    qtbot.waitUntil(lambda: len(commands.searches()) == 2)


def test_filters_leave_similar_documents_alone_without_words(
    qtbot: QtBot, page: SearchPage, commands: FakeCommands
) -> None:
    page._show_similar(tenancy()[0])
    qtbot.waitUntil(lambda: page.count.text() == "7 similar documents")
    page.filters.set_filters(Filters(types=("pdf",)))
    assert page.filters.similar_chip.isVisible()
    page.filters.similar_chip.cleared.emit()
    assert page.stack.currentWidget() is page.start


def test_all_passages_of_a_document_are_fetched_in_place(
    qtbot: QtBot, page: SearchPage, commands: FakeCommands
) -> None:
    first, second = (document(f"{n}.txt", [hit("deposit", score=0.9 - n / 10)], content=70 + n, more=3 - 3 * n)
                     for n in range(2))
    commands.answer = view([first, second])
    answer(qtbot, page)
    page.model.set_open(0, True)
    assert page.model.row(2).kind is Kind.REST
    whole = replace(first, hits=(*first.hits, *(replace(hit("more"), content_id=70) for _ in range(3))), more=0)
    commands.answer = view([whole, second])
    page.list.setFocus()
    page.list.choose(2)
    QTest.keyClick(page.list, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: page.model.rowCount() == 6)
    assert commands.searches()[-1].passages_per_document >= 200
    assert page.model.is_open(0)


def test_a_recent_search_is_chosen_by_keyboard_and_the_last_line_forgets_all(
    qtbot: QtBot, page: SearchPage, commands: FakeCommands
) -> None:
    page.focus_query()
    QTest.keyClick(page.query.edit, Qt.Key.Key_Down)
    popup = page.query.completer.popup()
    QTest.keyClick(popup, Qt.Key.Key_Down)
    QTest.keyClick(popup, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: page.session.settled)
    assert [query.text for query in commands.searches()] == ["rent increase"]
    assert page.query.text() == "rent increase"
    page.query.clear_button.click()
    QTest.keyClick(page.query.edit, Qt.Key.Key_Down)
    for _ in range(3):
        QTest.keyClick(popup, Qt.Key.Key_Down)
    assert popup.currentIndex().data() == "Clear recent searches"
    QTest.keyClick(popup, Qt.Key.Key_Return)
    assert commands.named("clear_history")
    assert page.query.text() == ""


def test_a_failed_look_for_similar_documents_is_tried_again_as_such(
    qtbot: QtBot, page: SearchPage, commands: FakeCommands
) -> None:
    answer(qtbot, page)
    page.session.failed.emit(Failure("x", "No.", ""))
    page.session.show_similar(tenancy()[0].path)
    qtbot.waitUntil(lambda: page.session.settled)
    page.session.failed.emit(Failure("x", "No.", ""))
    page.stack.failed.button.click()  # type: ignore[union-attr]
    assert len(commands.named("similar")) == 2
