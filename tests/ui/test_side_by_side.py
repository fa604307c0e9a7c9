"""Two documents side by side in the window, and the passages that several documents share."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAccessible, QGuiApplication, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from sbert_desktop.app.duplicate_views import ComparisonView, DiffRow, PagesView, SharedPassage, Span
from sbert_desktop.app.views import PreviewPage
from sbert_desktop.cleanup import Copy, DuplicateQuery
from sbert_desktop.domain import Failure, Finished, JobId, Outcome, Progress, Started
from sbert_desktop.settings import Settings
from sbert_desktop.ui.bridge import Bridge
from sbert_desktop.ui.duplicates.diff_lines import fold
from sbert_desktop.ui.duplicates.diff_text import LEFT_INK, CellText
from sbert_desktop.ui.duplicates.diff_view import DiffView
from sbert_desktop.ui.duplicates.passages import PassagesView
from sbert_desktop.ui.duplicates.side_by_side import SideBySide, count_text
from sbert_desktop.ui.page import Desk, Inspector
from sbert_desktop.ui.theme import theme

pytestmark = pytest.mark.gui

HOME = Path.home()


class Program:
    """Answers what these views ask; ``answer`` gives the result by kind, ``failure`` fails all, ``silent`` none."""

    def __init__(self, settings: Settings, bridge: Bridge) -> None:
        self.settings = settings
        self.calls: list[tuple[object, ...]] = []
        self.answer: dict[str, Callable[..., object]] = {}
        self.failure: Failure | None = None
        self.silent = False
        self._bridge = bridge
        self._jobs = count(1)

    def _job(self, kind: str, *asked: object) -> JobId:
        job = JobId(next(self._jobs))
        self.calls.append((kind, *asked))
        if not self.silent:
            self._bridge.post(Started(job, kind))
            if self.failure is not None:
                self._bridge.post(Finished(job, Outcome.FAILED, None, self.failure))
            else:
                make = self.answer.get(kind)
                self._bridge.post(Finished(job, Outcome.DONE, make(*asked) if make else None))
        return job

    def compare(self, left: Copy, right: Copy) -> JobId:
        return self._job("compare", left, right)

    def compare_pages(self, left: Copy, right: Copy, pages: tuple[int | None, int | None], *, width: int) -> JobId:
        return self._job("compare-pages", left, right, pages)

    def shared_passages(self, query: DuplicateQuery) -> JobId:
        return self._job("shared-passages", query)

    def open_file(self, path: Path, page: int | None = None) -> JobId:
        return self._job("open", path, page)

    def reveal(self, path: Path) -> JobId:
        return self._job("reveal", path)

    def preview(self, hit: object, **_: object) -> JobId:
        return self._job("preview", hit)

    def cancel(self, job: JobId) -> None:
        self.calls.append(("cancel", job))
        self._bridge.post(Finished(job, Outcome.CANCELLED))

    def refresh(self) -> JobId:
        return self._job("refresh")

    def asked(self, kind: str) -> list[tuple[object, ...]]:
        return [call[1:] for call in self.calls if call[0] == kind]


@pytest.fixture
def program(settings: Settings, own_bridge: Bridge) -> Program:
    return Program(settings, own_bridge)


@pytest.fixture
def desk(program: Program, own_bridge: Bridge) -> Iterator[Desk]:
    inspector = Inspector()
    made = Desk(program, own_bridge, inspector, None)  # type: ignore[arg-type]
    yield made
    made.close()
    inspector.deleteLater()
    made.deleteLater()


@pytest.fixture
def shown(qtbot) -> Callable[..., None]:
    """Shows a widget at a size."""

    def show(widget: QWidget, width: int = 788, height: int = 500) -> None:
        qtbot.addWidget(widget)
        widget.resize(width, height)
        widget.show()
        qtbot.wait(10)

    return show


def _copy(path: str, number: int, **more: object) -> Copy:
    made = Copy(0, HOME / path, 800 + number, 1_700_000_000_000_000_000, 1, number, str(number) * 64,
                content=number, format="odt")  # fmt: skip
    return replace(made, **more)  # type: ignore[arg-type]


ONE, TWO, THREE = _copy("Travel/Plan.odt", 1), _copy("Downloads/plan (1).odt", 2), _copy("Old/Plan old.odt", 3)


def _spans(text: str, *words: str) -> tuple[Span, ...]:
    return tuple((text.index(word), text.index(word) + len(word)) for word in words)


def _same(text: str, *, heading: bool = False, page: int | None = None) -> DiffRow:
    return DiffRow(text, text, True, heading=heading, left_page=page, right_page=page)


def _differs(left: str | None, right: str | None, mine: tuple[str, ...] = (), theirs: tuple[str, ...] = (),
             page: int | None = None) -> DiffRow:  # fmt: skip
    return DiffRow(left, right, False, _spans(left or "", *mine), _spans(right or "", *theirs), page, page)


ROWS = (
    *(_same(f"Line {n} is the same in both of them.", page=1) for n in range(34)),
    _same("Second day", heading=True, page=2),
    _differs("The way down is slippery after rain 😀 here.", "The way down is dry 😀 here.", ("slippery after rain",),
             ("dry",), 2),
    _differs("They have soup and a dry room.", "They have soup.", ("and a dry room",), (), 2),
    _same("Third day", heading=True, page=2),
    *(_same(f"Bus {n} leaves at {n}.", page=3) for n in range(5)),
    _differs(None, "Bring socks.", (), ("Bring socks.",), 3),
    *(_same(f"Home by way {n}.", page=4) for n in range(51)),
)  # fmt: skip
FACTS = (("Size", "801 bytes", "802 bytes"), ("Format", "odt", "odt"), ("Author", "", "Ines"))


def _view(left: Copy = ONE, right: Copy = TWO, rows: tuple[DiffRow, ...] = ROWS, **more: object) -> ComparisonView:
    differing = sum(not row.same for row in rows)
    return ComparisonView(left, right, rows, differing, FACTS, **more)  # type: ignore[arg-type]


def _captions(view: DiffView) -> list[str]:
    return [line.caption for line in view.lines() if line.gap]


# ---------------------------------------------------------------- folding


def test_equal_rows_fold_and_headings_say_where() -> None:
    lines = fold(ROWS, only_differences=True)
    assert [line.caption for line in lines if line.gap] == [
        "34 lines the same", "Third day, 6 lines the same", "51 lines the same"]  # fmt: skip
    assert next(ROWS[line.first].left for line in lines if not line.gap) == "Second day"
    assert sum(line.rows for line in lines) == len(ROWS)
    assert len(fold(ROWS, only_differences=False)) == len(ROWS)
    assert fold((), only_differences=True) == []
    everything = fold(ROWS[:34], only_differences=True)
    assert [line.caption for line in everything] == ["All 34 lines the same"]
    assert fold(ROWS[:1], only_differences=True, tail="The end.")[-1].caption == "The end."


def test_a_single_short_equal_row_is_no_longer_than_its_fold() -> None:
    rows = [ROWS[35], _same("Short."), ROWS[36], _same("Long. " * 60), ROWS[36]]
    assert [line.gap for line in fold(rows, only_differences=True)] == [False, False, False, True, False]


# ---------------------------------------------------------------- the painted text


def test_marks_lie_on_their_words_beside_emoji(qapp) -> None:
    text = "😀😀 The socks are dry."
    cell = CellText(text, _spans(text, "socks"), theme.font("body"), 400, 20)
    plain = CellText("😀😀 The ", (), theme.font("body"), 400, 20)
    [rect] = cell.mark_rects()
    before = plain._layout.lineAt(0).naturalTextWidth()
    assert abs(rect.left() - before) < 3
    assert rect.width() == pytest.approx(theme.metrics("body").horizontalAdvance("socks"), abs=3)
    assert cell.piece(cell.units() - 4, cell.units()) == "dry."


def test_marks_from_right_to_left_lie_on_the_right(qapp) -> None:
    text = "שלום עולם טוב מאוד"
    cell = CellText(text, _spans(text, "שלום"), theme.font("body"), 400, 20)
    [rect] = cell.mark_rects()
    assert rect.right() > 380
    last = CellText(text, _spans(text, "מאוד"), theme.font("body"), 400, 20)
    assert last.mark_rects()[0].right() < rect.left()
    mixed = "שלום abc עולם"
    [inside] = CellText(mixed, _spans(mixed, "abc"), theme.font("body"), 400, 20).mark_rects()
    assert inside.left() > 300


def test_marks_over_several_lines_have_one_rectangle_for_each(qapp) -> None:
    text = "word " * 60
    cell = CellText(text, ((0, 299),), theme.font("body"), 200, 20)
    rects = cell.mark_rects()
    assert len(rects) > 3
    assert all(rect.left() >= 0 and rect.right() <= 201 for rect in rects)
    assert cell.height == 20 * len(rects)


def test_differing_words_are_filled_and_have_a_line_never_colour_alone(qapp, shown) -> None:
    view = DiffView()
    shown(view)
    view.set_rows(ROWS)
    image = view.grab().toImage()
    found = _colours(image)
    for token in (LEFT_INK.fill, LEFT_INK.line, "danger_soft", "danger"):
        assert theme.color(token).rgb() in found, token


def _colours(image: QImage) -> set[int]:
    image = image.convertToFormat(QImage.Format.Format_RGB32)
    return {image.pixel(x, y) for y in range(image.height()) for x in range(0, image.width())}


# ---------------------------------------------------------------- the view


def test_keys_go_from_difference_to_difference_and_around(shown, qtbot) -> None:
    view = DiffView()
    shown(view)
    view.set_rows(ROWS)
    places = []
    view.stepped.connect(lambda number, total: places.append((number, total)))
    assert view.place() == (1, 3)
    for _ in range(3):
        view.step(1)
    assert places == [(2, 3), (3, 3), (1, 3)]
    view.step(-1)
    assert view.place() == (3, 3)
    rect = view.visualRect(view.currentIndex())
    assert view.viewport().rect().contains(rect)


def test_enter_opens_a_fold_and_closes_it_where_it_stands(shown) -> None:
    view = DiffView()
    shown(view)
    view.set_rows(ROWS)
    at = next(n for n, line in enumerate(view.lines()) if line.caption.startswith("Third"))
    view.setCurrentIndex(view.model().index(at, 0))
    top, before = view.visualRect(view.currentIndex()).top(), len(view.lines())
    QTest.keyClick(view, Qt.Key.Key_Return)
    assert len(view.lines()) == before + 6
    assert view.lines()[at].opened
    assert view.currentIndex().row() == at
    assert abs(view.visualRect(view.currentIndex()).top() - top) <= 1
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=view.visualRect(view.currentIndex()).center())
    assert len(view.lines()) == before


def test_what_is_painted_is_heard(shown) -> None:
    view = DiffView()
    shown(view)
    view.set_rows(ROWS, names=("A", "C"))
    interface = QAccessible.queryAccessibleInterface(view)
    assert interface.role() == QAccessible.Role.Table
    heard = [interface.child(n).text(QAccessible.Text.Name) for n in range(interface.childCount())]
    assert "A: The way down is slippery after rain 😀 here. Only in A: “slippery after rain”" in heard
    assert "C: The way down is dry 😀 here. Only in C: “dry”" in heard
    assert "C, less than in A: They have soup." in heard
    assert "A: nothing here" in heard
    assert "C, only in C: Bring socks." in heard
    assert "Heading, A, the same: Second day" in heard
    assert "34 lines the same, folded" in heard
    assert view.accessibleName()


def test_text_is_selected_and_copied(shown) -> None:
    view = DiffView()
    shown(view)
    view.set_rows(ROWS)
    view.step(1)
    QTest.keyClick(view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == "They have soup and a dry room."
    QTest.keyClick(view, Qt.Key.Key_Right)
    QTest.keyClick(view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == "They have soup."
    view.copy_left.trigger()
    assert QGuiApplication.clipboard().text() == "They have soup and a dry room."
    place = view.visualRect(view.model().index(view.currentIndex().row(), 0))
    at = QPoint(place.x() + 16 + theme.metrics("body").horizontalAdvance("They h"), place.y() + 14)
    QTest.mouseDClick(view.viewport(), Qt.MouseButton.LeftButton, pos=at)
    assert view.selected_text() == "have"
    start = QPoint(place.x() + 16, place.y() + 14)
    QTest.mousePress(view.viewport(), Qt.MouseButton.LeftButton, pos=start)
    QTest.mouseMove(view.viewport(), at)
    QTest.mouseRelease(view.viewport(), Qt.MouseButton.LeftButton, pos=at)
    QTest.keyClick(view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() in ("They h", "They have")


def test_ten_thousand_rows_are_laid_out_where_they_are_seen_only(shown) -> None:
    rng = random.Random(1)
    rows = tuple(
        _differs(text, text + " more", ("a",), ("more",)) if n % 3 else _same(text)
        for n, text in enumerate(" ".join(rng.choices(("wall", "a", "harbour"), k=rng.randint(5, 90)))
                                 for _ in range(10_000)))  # fmt: skip
    rows = tuple(replace(row, left_marks=((0, 1),)) for row in rows)
    view = DiffView()
    shown(view)
    view.set_rows(rows)
    view._idle.stop()
    assert sum(view._exact) < 3_400 + 60  # folds are known without being laid out
    view.set_only_differences(False)
    view._idle.stop()
    assert sum(view._exact) < 100
    began = time.process_time()
    bar = view.verticalScrollBar()
    for number in range(100):
        bar.setValue(bar.maximum() * (number * 37 % 100) // 100)
        view.viewport().grab()
    assert (time.process_time() - began) / 100 < 0.05  # some 5 ms on an idle machine


def test_what_stands_at_the_top_stays_there_while_heights_become_exact(shown, qtbot) -> None:
    rng = random.Random(2)
    rows = tuple(replace(_same("i" * rng.randint(5, 900)), same=n % 2 == 0) for n in range(600))
    view = DiffView()
    shown(view)
    view.set_only_differences(False)
    view.set_rows(rows)
    view._idle.stop()
    bar = view.verticalScrollBar()
    bar.setValue(bar.maximum() // 2)
    top = view.indexAt(QPoint(20, 1)).row()
    where = view.visualRect(view.model().index(top, 0)).top()
    view._idle.start()
    qtbot.waitUntil(lambda: not view._idle.isActive(), timeout=20_000)
    assert all(view._exact)
    assert view.indexAt(QPoint(20, 1)).row() == top
    assert view.visualRect(view.model().index(top, 0)).top() == where
    below = view.visualRect(view.model().index(top + 2, 0)).top()
    bar.setValue(bar.value() - 40)
    assert view.visualRect(view.model().index(top + 2, 0)).top() == below + 40
    bar.setValue(bar.maximum())
    last = view.visualRect(view.model().index(len(rows) - 1, 0))
    assert last.bottom() <= view.viewport().height()


def test_both_sides_of_a_row_stand_on_one_height_at_any_width(shown, qtbot) -> None:
    view = DiffView()
    shown(view)
    view.set_rows((_differs("one " * 80, "one", ("one",), ()), _same("Next.")))
    for width in (300, 588, 1100):
        view.resize(width, 400)
        qtbot.wait(4)
        left, right = (view.visualRect(view.model().index(0, side)) for side in (0, 1))
        assert (left.top(), left.height()) == (right.top(), right.height())
        assert left.right() < right.left() + 1 <= width
        assert view.visualRect(view.model().index(1, 0)).top() == left.bottom() + 1


# ---------------------------------------------------------------- side by side


@pytest.fixture
def sides(program: Program, desk: Desk, shown) -> SideBySide:
    program.answer["compare"] = lambda left, right: _view(left, right)
    made = SideBySide(desk)
    shown(made)
    return made


def _wait(sides: SideBySide, qtbot) -> None:
    qtbot.waitUntil(lambda: sides.comparison() is not None)


def test_a_pair_is_compared_named_and_counted(sides, program, qtbot) -> None:
    sides.set_members([("A", ONE, "", "keep"), ("B", TWO, "", "to trash"), ("C", THREE, "", "to trash")])
    sides.show_pair(ONE, TWO)
    _wait(sides, qtbot)
    assert program.asked("compare") == [(ONE, TWO)]
    assert sides.bar.count.full_text() == "3 differences in wording"
    assert sides.bar.place.text() == "1 of 3"
    assert sides.headings.left.title.full_text() == "Travel / Plan.odt"
    assert sides.headings.right.note.text() == "to trash, p. 2"
    pairs = [sides.bar.pair.itemText(n) for n in range(sides.bar.pair.count())]
    assert pairs == ["A with B", "A with C", "B with C"]
    assert sides.bar.pair.isVisible()
    with qtbot.waitSignal(sides.pairChanged) as told:
        sides.bar.pair.setCurrentIndex(2)
        sides.bar.pair.activated.emit(2)
    assert told.args == [TWO, THREE]
    assert program.asked("compare")[-1] == (TWO, THREE)
    assert sides.headings.left.tag.text() == "B"


def test_asking_for_the_same_pair_again_changes_fates_only(sides, program, qtbot) -> None:
    sides.show_pair(ONE, TWO)
    _wait(sides, qtbot)
    sides.show_pair(ONE, TWO, fates=("to trash", "keep"))
    assert len(program.asked("compare")) == 1
    assert sides.headings.left.note.text().startswith("to trash")
    sides.set_fates("keep", "keep")
    assert sides.headings.right.note.text() == "keep, p. 2"


def test_a_group_of_two_has_nothing_to_choose(sides, qtbot) -> None:
    sides.set_members([("A", ONE, "", "keep"), ("B", TWO, "", "to trash")])
    sides.show_pair(ONE, TWO)
    _wait(sides, qtbot)
    assert not sides.bar.pair.isVisible()


def test_f7_steps_from_anywhere_inside(sides, qtbot) -> None:
    sides.show_pair(ONE, TWO)
    _wait(sides, qtbot)
    sides.activateWindow()
    sides.bar.only.setFocus()
    QTest.keyClick(sides.bar.only, Qt.Key.Key_F7)
    assert sides.bar.place.text() == "2 of 3"
    QTest.keyClick(sides.bar.only, Qt.Key.Key_F7, Qt.KeyboardModifier.ShiftModifier)
    assert sides.bar.place.text() == "1 of 3"
    sides.bar.next.click()
    assert sides.text.place() == (2, 3)


def test_only_differences_unfolds_and_is_remembered(sides, qtbot) -> None:
    sides.show_pair(ONE, TWO)
    _wait(sides, qtbot)
    assert len(_captions(sides.text)) == 3
    sides.bar.only.click()
    assert _captions(sides.text) == []
    assert sides.save_state() == {"mode": "text", "only": False}
    sides.show_pair(ONE, THREE, right_mark="C")
    _wait(sides, qtbot)
    assert _captions(sides.text) == []
    sides.restore_state({"mode": "facts", "only": True})
    assert sides.only_differences()
    sides.restore_state({"mode": 7})
    assert sides.save_state()["mode"] == "facts"


def test_facts_that_differ_stand_out(sides, qtbot) -> None:
    sides.show_pair(ONE, TWO)
    _wait(sides, qtbot)
    sides.set_mode("facts")
    table = sides.facts
    assert table.isVisible()
    assert [table.item(row, 0).text() for row in range(3)] == ["≠ Size", "Format", "≠ Author"]
    assert table.differing() == ["Size", "Author"]
    heard = table.item(2, 1).data(Qt.ItemDataRole.AccessibleTextRole)
    assert heard == "Author, A: nothing"
    table.setCurrentCell(0, 2)
    QTest.keyClick(table, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == "802 bytes"


def _page(copy: Copy, number: int) -> PreviewPage:
    return PreviewPage(copy.path, "", number, 4, 200, 283, b"\xff" * (200 * 283 * 3), ((20.0, 30.0, 50.0, 12.0),), ())


def test_pages_turn_together_and_f7_goes_to_those_that_differ(sides, program, qtbot) -> None:
    program.answer["compare"] = lambda left, right: _view(left, right, left_pages=4, right_pages=2)
    program.answer["compare-pages"] = lambda left, right, pages: PagesView(
        *(_page(copy, page) if page else None for copy, page in zip((left, right), pages, strict=True)))
    sides.show_pair(ONE, TWO)
    _wait(sides, qtbot)
    assert sides.bar.count.full_text() == "3 differences in wording, 4 pages"
    sides.set_mode("pages")
    pages = sides.pages
    qtbot.waitUntil(lambda: pages.views[1].page() is not None)
    assert [view.page().page for view in pages.views] == [2, 2]  # the first on which words differ
    assert pages.views[0].page().sentence == ((20.0, 30.0, 50.0, 12.0),)
    assert pages.views[0].accessibleDescription() == "Page 2 of 4, 1 place differs"
    sides.step(1)
    assert program.asked("compare-pages")[-1][2] == (3, None)
    qtbot.waitUntil(lambda: "2 pages only" in pages._notes[1].text())
    pages.turn(-1)
    qtbot.waitUntil(lambda: pages.views[1].page() is not None)
    pages.views[0].set_zoom(2.0)
    assert pages.views[1].zoom == 2.0
    pages.views[0].verticalScrollBar().setValue(60)
    assert pages.views[1].verticalScrollBar().value() == 60
    pages.turn(-1)
    pages.turn(-1)
    assert pages.number() == 1


def test_pages_are_offered_only_where_there_are_any(sides, program, qtbot) -> None:
    segment = sides.findChild(QWidget, "compare_mode_pages")
    sides.set_mode("pages")
    sides.show_pair(ONE, TWO)
    _wait(sides, qtbot)
    assert not segment.isVisible()
    assert sides.mode() == "text"
    program.answer["compare"] = lambda left, right: _view(left, right, left_pages=1)
    sides.show_pair(ONE, THREE)
    _wait(sides, qtbot)
    assert segment.isVisible()
    assert sides.mode() == "pages"  # what the person wanted


def test_files_without_text_show_their_facts_and_say_why(sides, program, qtbot) -> None:
    program.answer["compare"] = lambda left, right: _view(left, right, (), note="The files are identical.")
    sides.show_pair(ONE, TWO)
    _wait(sides, qtbot)
    assert sides.facts.isVisible()
    assert sides.bar.count.full_text() == "The files are identical"
    sides.set_mode("text")
    assert sides.note.text() == "The files are identical."
    assert sides.note.isVisible()


def test_a_failure_says_what_to_do_and_can_be_tried_again(sides, program, qtbot) -> None:
    program.failure = Failure("x", "The library is in use.", "Close the other window.")
    sides.show_pair(ONE, TWO)
    qtbot.waitUntil(lambda: sides.again.isVisible())
    assert sides.note.text() == "The library is in use. Close the other window."
    program.failure = None
    sides.again.click()
    _wait(sides, qtbot)
    assert sides.text.isVisible()


def test_a_slow_comparison_shows_that_it_is_under_way_and_a_late_answer_is_dropped(sides, program, qtbot) -> None:
    program.silent = True
    sides.show_pair(ONE, TWO)
    qtbot.waitUntil(lambda: sides.progress.isVisible())
    program.silent = False
    sides.show_pair(ONE, THREE)
    _wait(sides, qtbot)
    own = sides.comparison()
    sides._desk.bridge.post(Finished(JobId(1), Outcome.DONE, _view(ONE, TWO)))
    qtbot.wait(20)
    assert sides.comparison() is own
    sides.clear()
    assert sides.comparison() is None
    assert sides.pair() is None


def test_long_texts_say_that_their_end_was_not_compared(sides, program, qtbot) -> None:
    program.answer["compare"] = lambda left, right: _view(left, right, cut=True)
    sides.show_pair(ONE, TWO)
    _wait(sides, qtbot)
    assert "not compared" in sides.text.lines()[-1].caption


def test_words_of_the_count() -> None:
    assert count_text(_view(rows=ROWS[35:36], left_pages=1)) == "1 difference in wording, 1 page"
    assert count_text(_view(rows=ROWS[:1], note="The words are the same in both.")) == "The words are the same in both"


@pytest.mark.parametrize("scale", [100, 200])
@pytest.mark.parametrize("width", [588, 788, 1100])
def test_nothing_is_cut_off_at_any_width(sides, qtbot, scale, width) -> None:
    theme.apply(text_scale=scale)
    sides.resize(width, 420)
    sides.set_members([("A", ONE, "", "keep"), ("B", TWO, "", "to trash"), ("C", THREE, "", "to trash")])
    sides.show_pair(ONE, TWO)
    _wait(sides, qtbot)
    bar = sides.bar
    controls = (bar.pair, bar.mode, bar.previous, bar.next, bar.only)
    # laid out some turns after the words came
    qtbot.waitUntil(lambda: all(control.width() >= control.sizeHint().width() - 1 for control in controls))
    assert sides.width() == width
    for control in controls:
        place = control.mapTo(bar, QPoint(0, 0))
        assert control.width() >= control.sizeHint().width() - 1, control.objectName()
        assert place.x() >= 0
        assert place.x() + control.width() <= bar.width(), control.objectName()
        assert place.y() + control.height() <= bar.height(), control.objectName()
    assert sides.text.height() > 150


def test_every_control_has_a_name(sides, qtbot) -> None:
    sides.show_pair(ONE, TWO)
    _wait(sides, qtbot)
    for widget in sides.findChildren(QWidget):
        if widget.focusPolicy() != Qt.FocusPolicy.NoFocus and not widget.objectName().startswith("qt_"):
            assert widget.objectName(), type(widget)
            assert widget.accessibleName(), widget.objectName()


# ---------------------------------------------------------------- passages

TEXT = "The deposit is returned within thirty days to the tenant."
OTHER = "The deposit is returned within sixty days to the tenant."


def _passage(number: int, lowest: float = 0.93) -> SharedPassage:
    places = tuple((HOME / f"Contracts/Tenancy {n}.pdf", "", n + 1, 10 + n, OTHER if n == 1 else TEXT)
                   for n in range(number))  # fmt: skip
    spans = tuple((n + 1, 40, 40 + len(TEXT)) for n in range(number))
    return SharedPassage(places, lowest, spans, ("pdf",) * number)


@pytest.fixture
def passages(program: Program, desk: Desk, shown) -> PassagesView:
    program.answer["shared-passages"] = lambda query: (_passage(12), _passage(2, 1.0))
    made = PassagesView(desk)
    shown(made, 1000, 600)
    return made


def test_passages_are_listed_with_their_places_and_marks(passages, program, qtbot) -> None:
    passages.ask()
    qtbot.waitUntil(lambda: passages.list.isVisible())
    [(query,)] = program.asked("shared-passages")
    assert query.related == 0.8
    assert passages.count.full_text() == "2 passages in several documents"
    assert "In 12 documents, lowest similarity 0.93" in passages.title.full_text()
    places = passages.places.places
    assert places.rowCount() == 12
    assert [OTHER[low:high] for low, high in places.marks(1)] == ["sixty"]
    assert places.marks(0) == places.marks(2) == ()
    heard = places.index(1).data(Qt.ItemDataRole.AccessibleTextRole)
    assert heard.startswith("Tenancy 1.pdf, ~/Contracts, page 2: The deposit")
    assert heard.endswith("Other than in the first: “sixty”")
    passages.list.setCurrentIndex(passages.list.passages.index(1))
    assert places.rowCount() == 2


def test_a_place_is_opened_revealed_and_copied(passages, program, qtbot) -> None:
    passages.ask()
    qtbot.waitUntil(lambda: passages.list.isVisible())
    passages.activateWindow()
    passages.places.setFocus()
    passages.places.setCurrentIndex(passages.places.places.index(3))
    QTest.keyClick(passages.places, Qt.Key.Key_Return)
    assert program.asked("open") == [(HOME / "Contracts/Tenancy 3.pdf", 4)]
    passages.reveal_button.click()
    assert program.asked("reveal") == [(HOME / "Contracts/Tenancy 3.pdf",)]
    QTest.keyClick(passages.places, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == TEXT
    passages.copy_path()
    assert QGuiApplication.clipboard().text().endswith("Tenancy 3.pdf")


def test_a_place_is_shown_in_the_preview_until_the_view_goes(passages, program, desk, qtbot) -> None:
    passages.ask()
    qtbot.waitUntil(lambda: passages.list.isVisible())
    desk.inspector.show_for(PassagesView.KEY)
    passages.preview_button.click()
    assert desk.inspector.has_content()
    shown = passages._preview.shown()[1]
    assert (shown.content_id, shown.start, shown.end, shown.page) == (1, 40, 40 + len(TEXT), 1)
    assert not passages._preview.similar_button.isVisibleTo(passages._preview)
    assert not passages._preview.why.isVisibleTo(passages._preview)
    passages.places.setCurrentIndex(passages.places.places.index(1))
    assert passages._preview.shown()[1].content_id == 2
    passages.hide()
    assert not desk.inspector.has_content()


def test_looking_shows_progress_and_can_be_ended(passages, program, qtbot) -> None:
    program.silent = True
    passages.ask()
    assert passages.busy.isVisible()
    passages._desk.bridge.post(Progress(passages._latest.job, "Comparing passages", 12, 96))
    qtbot.waitUntil(lambda: passages.phase.text() == "Comparing passages, 12 of 96")
    passages.cancel_button.click()
    qtbot.waitUntil(lambda: passages.never.isVisible())
    assert program.asked("cancel")
    assert not passages.is_looking()


def test_nothing_found_and_a_failure_say_why(passages, program, qtbot) -> None:
    program.answer["shared-passages"] = lambda query: ()
    passages.ask()
    qtbot.waitUntil(lambda: passages.empty.isVisible())
    program.failure = Failure("no-model", "The model is missing.", "Get it again.")
    passages.empty.button.click()
    qtbot.waitUntil(lambda: passages.failed.isVisible())
    assert passages.failed.sentence.text() == "The model is missing. Get it again."
    program.failure = None
    program.answer["shared-passages"] = lambda query: (_passage(3),)
    passages.failed.button.click()
    qtbot.waitUntil(lambda: passages.list.isVisible())


def test_hostile_names_and_texts_are_shown_as_they_are(passages, program, qtbot) -> None:
    name = "<b>x\u202egnp.exe"
    place = (HOME / name, "", None, 1, "<img src=x> one two three four five six")
    program.answer["shared-passages"] = lambda query: (SharedPassage((place, place), 0.9),)
    passages.ask()
    qtbot.waitUntil(lambda: passages.list.isVisible())
    own, _ = passages.places.places.place_words(0)
    assert "\u202e" not in own
    assert "<b>" in own
    passages.toggle_preview()  # it has no place in a text: nothing happens
    assert passages._preview is None or passages._preview.shown() == (None, None)
