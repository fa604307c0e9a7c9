"""Comparing: what is said of a model, what is painted, what may be done with it, and what would change."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from sbert_desktop.app.training_views import (
    ChangeRow,
    ComparisonView,
    GuardView,
    MeasureView,
    Plan,
    RunView,
    SideBySide,
    SpaceView,
)
from sbert_desktop.domain import Failure, Finished, JobId, Outcome, Started
from sbert_desktop.ui import words
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.train.arrows import ArrowMap
from sbert_desktop.ui.train.changes import differing, groups_words, places
from sbert_desktop.ui.train.changes_table import change_words
from sbert_desktop.ui.train.comparing import ComparingStep
from sbert_desktop.ui.train.comparing_bars import ComparisonBars
from sbert_desktop.ui.train.comparing_report import report
from sbert_desktop.ui.train.comparing_words import (
    adopted_words,
    by_what_decides,
    difference_axis,
    interval,
    judge,
    picture_words,
    rank,
    shortened,
)
from sbert_desktop.ui.train.runs import gain_words
from tests.ui.fake_training import NOW, comparison
from tests.ui.train.conftest import Host

pytestmark = pytest.mark.gui

CHANCE = "Finds 60 of 100 pairs right instead of 58; that could be chance: from 5 worse to 8 better, 95 % sure."
WEAK = comparison(base=0.58, tuned=0.60, difference=0.02, low=-0.05, high=0.08, recommended=False, verdict=CHANCE,
                  refusal=CHANCE)
COLLAPSED = GuardView("collapse", "Unrelated texts stay apart", "Unrelated texts come to 0.83, before 0.05.", False)
RUINED = comparison(guards=(*comparison().guards, COLLAPSED), recommended=False, refusal=COLLAPSED.sentence)


def test_the_axis_of_the_difference_holds_the_interval_and_no_difference() -> None:
    assert [word for _, word in difference_axis(comparison()).ticks] == \
        ["−10", "−5", "same", "+5", "+10", "+15", "+20", "+25"]
    for low, high in ((0.001, 0.002), (-0.3, -0.01), (-0.5, 0.6), (0.0, 0.0), (-1.0, 0.99), (0.2, 0.2)):
        for unit in ("of 100 pairs right", "correlation with your grades"):
            view = comparison(low=low, high=high, unit=unit)
            axis, factor = difference_axis(view), 100 if "100" in unit else 1
            assert axis.low <= factor * low, (low, high, unit)
            assert axis.high >= factor * high, (low, high, unit)
            assert axis.low < 0 < axis.high, (low, high, unit)
            assert sum(word == "same" for _, word in axis.ticks) == 1
            assert len(axis.ticks) <= 12


def test_the_verdict_speaks_as_the_interval_does() -> None:
    good = judge(comparison())
    assert (good.tag, good.tone) == ("Recommended", "good")
    assert good.headline == "Finds the right document first in 71 of 100 questions instead of 58"
    assert good.below == "Asked with 100 questions kept aside: 14 got better, 85 stayed the same, 1 got worse."
    weak = judge(WEAK)
    assert (weak.tag, weak.tone, weak.headline) == ("Not clearly better", "warn", "About as good as MiniLM")
    assert CHANCE in weak.below
    assert judge(replace(WEAK, low=0.0)).tag == "Not clearly better"  # one that ends at no difference touches it
    worse = judge(comparison(low=-0.2, high=-0.1, recommended=False))
    assert (worse.tag, worse.tone) == ("Worse", "danger")
    assert interval(comparison(low=-0.2, high=-0.1)) == "10 to 20 worse"
    ruined = judge(RUINED)
    assert (ruined.tag, ruined.tone) == ("Not recommended", "danger")
    assert COLLAPSED.sentence in ruined.below
    nothing = judge(comparison(measured=False, verdict="Cannot measure: all grades kept aside are equal."))
    assert nothing.tag == "Cannot measure"
    assert "all grades kept aside are equal" in nothing.below
    assert interval(comparison(low=0.002, high=0.004)) == "0.2 to 0.4 better"  # never "0 to 0 better"
    # as many on the right side of the threshold, yet clearly better in order: that measure decides, and is shown
    order = comparison(low=-0.02, high=0.05, verdict="Finds 60 of 100 pairs right instead of 58, which could be chance;"
                       " but it orders them clearly better (ap 0.80 instead of 0.70).",
                       measures=(MeasureView("ap", 0.7, 0.8, 0.05, 0.15),))
    decided = by_what_decides(order)
    assert judge(decided).headline == "Orders your pairs clearly better than MiniLM"
    assert interval(decided) == "0.05 to 0.15 better"
    listed = RunView("r", "Home", "trained", 0.0, Plan(), comparison=order)
    assert gain_words(listed) == "0.05 to 0.15 better by average precision", "the list says what the page says"


def test_what_gets_worse_is_never_left_out() -> None:
    rows = (*(ChangeRow(f"q{at}", "d", 3, 1, True) for at in range(20)), ChangeRow("fell", "d", 1, 3, True),
            ChangeRow("lost", "d", 2, 0, True), ChangeRow("stays", "d", 1, 1, True))
    shown = shortened(rows, 7)
    assert [row.query for row in shown] == ["q0", "q1", "q2", "q3", "q4", "fell", "lost"]
    assert shortened(rows[20:], 7) == rows[20:22]
    # what nobody judged is no gain: it comes last, and is not painted as one
    guessed = replace(rows[0], query="guessed", judged=False)
    assert [row.query for row in shortened((guessed, *rows[19:]), 7)] == ["q19", "fell", "lost", "guessed"]
    assert "Nobody judged" in change_words(guessed)
    assert "better" not in change_words(guessed)
    assert (rank(1), rank(2), rank(3), rank(11), rank(22), rank(0)) == ("1st", "2nd", "3rd", "11th", "22nd", "100+")
    search = SideBySide("q", ("a", "b", "c"), ("b", "a", "d"), True)
    assert [place.words() for place in places(search.tuned, search.now, tuned=True)] == ["was 2nd", "was 1st", "new"]
    assert [place.words() for place in places(search.now, search.tuned, tuned=False)] == \
        ["goes to 2nd", "goes to 1st", "gone"]
    assert differing(search) == 3
    assert groups_words(comparison()) == "Duplicates: 12 groups more would be found and 3 groups would not be found " \
        "any more."


def _runs_of(image: QImage, y: int, color: QColor) -> tuple[int, int]:
    """Gives first and last pixel of a colour in a row left of the words, -1 where there is none."""
    at = [x for x in range(130, 540) if image.pixelColor(x, y) == color]
    return (at[0], at[-1]) if at else (-1, -1)


def test_bars_and_interval_are_painted_to_scale_and_said_as_text(qtbot) -> None:
    bars = ComparisonBars()
    qtbot.addWidget(bars)
    bars.show_comparison(comparison())
    bars.resize(716, bars.heightForWidth(716))
    bars.ensurePolished()
    image = bars.grab().toImage()
    now, tuned = _runs_of(image, 18, theme.color("muted")), _runs_of(image, 54, theme.color("accent"))
    assert now[0] == pytest.approx(136, abs=3)
    assert now[1] == pytest.approx(136 + 0.58 * 400, abs=3)
    assert tuned[1] == pytest.approx(136 + 0.71 * 400, abs=3)
    band = _runs_of(image, 92, theme.color("good_soft"))
    same = 136 + 400 * 10 / 35
    assert band[0] == pytest.approx(same, abs=3)
    assert band[1] == pytest.approx(536, abs=2)
    line = _runs_of(image, 106, theme.color("good"))
    assert line[0] == pytest.approx(same + 400 * 6 / 35, abs=3)
    assert line[1] == pytest.approx(same + 400 * 20 / 35, abs=3)
    assert "between 6 and 20 better, 95 % sure" in bars.accessibleName()
    assert "58 of 100 right first" in bars.accessibleName()
    # where it touches no difference it is not painted as good
    bars.show_comparison(WEAK)
    image = bars.grab().toImage()
    assert _runs_of(image, 106, theme.color("good")) == (-1, -1)
    assert _runs_of(image, 106, theme.color("warn"))[0] > 0
    assert "it could be chance" in picture_words(WEAK)
    bars.resize(260, bars.heightForWidth(260))  # narrow: words above the bars, nothing outside of the picture
    assert bars.heightForWidth(260) > bars.heightForWidth(716)
    bars.grab()


def test_arrows_can_be_walked_by_keyboard_and_pointed_at(qtbot) -> None:
    view = ArrowMap()
    qtbot.addWidget(view)
    view.resize(500, 400)
    view.show_arrows(comparison().arrows)
    farthest = view.arrows()[0]
    QTest.keyClick(view, Qt.Key.Key_Right)
    assert view.looked_at() == farthest
    QTest.keyClick(view, Qt.Key.Key_End)
    assert view.looked_at() == view.arrows()[-1]
    QTest.keyClick(view, Qt.Key.Key_Escape)
    assert view.looked_at() is None
    start = view._ends(farthest)[0]
    assert view.arrows()[view.nearest(start)].title in {arrow.title for arrow in view.arrows()
                                                        if abs(arrow.x - farthest.x) < 0.05}
    assert view.nearest(QPointF(-200, -200)) == -1
    assert "160 documents" in view.accessibleName()
    view.show_arrows(())
    view.grab()
    assert "no map" in view.accessibleName()


def test_the_time_of_an_adoption_is_told_today_and_its_day_after_that() -> None:
    assert adopted_words(0.0) == ""
    assert adopted_words(1e300) == ""  # no calendar holds it
    hour = time.strftime("%H:%M", time.localtime(NOW))
    assert adopted_words(NOW, NOW) == f", adopted today at {hour}"
    assert adopted_words(NOW, NOW + 3 * 86_400) == f", adopted {words.day(NOW)}"


@pytest.fixture
def step(host: Host, qtbot) -> Callable[[ComparisonView], ComparingStep]:
    """Shows a comparison in a bare window, of a training that the program knows."""
    page = host.put(ComparingStep)

    def show(view: ComparisonView) -> ComparingStep:
        host.program.comparison = view
        host.program.runs = (RunView(view.run, view.name, "trained", NOW, Plan(), 240, 240, view),)
        page.show_comparison(view)
        qtbot.waitUntil(lambda: page.deeds.state_of(view.run) == "trained" and bool(page.deeds._spaces))
        return page

    return show


def test_adopting_says_so_with_undo_and_undo_takes_it_back(host, step, qtbot) -> None:
    page = step(comparison())
    assert (page.tag.text(), page.headline.text()) == ("Recommended", judge(comparison()).headline)
    assert page.deed_part.adopt_button() is page.deed_part.primary
    assert [page.table.rows_model.data(page.table.rows_model.index(6, at)) for at in (2, 3)] == ["1st", "3rd"]
    page.focus_first()
    QTest.keyClick(page.deed_part.primary, Qt.Key.Key_Return)
    qtbot.waitUntil(host.toast.has_action)
    assert host.called("adopt") == [("adopt", comparison().run)]
    assert host.toast.label.full_text() == "Home 1 is being prepared"
    qtbot.waitUntil(lambda: page.deed_part.primary.label() == "Adopted")
    assert not page.deed_part.discard.isEnabled()
    host.toast.run_action()
    qtbot.waitUntil(lambda: bool(host.called("remove_space")))
    assert host.called("remove_space") == [("remove_space", "b71c02")]
    qtbot.waitUntil(page.deed_part.primary.isEnabled)
    assert host.toast.label.full_text() == "MiniLM stays in use, Home 1 is kept for later"
    assert host.called("keep_training") == [("keep_training", comparison().run)]
    # it was ready before Undo was pressed: then the old space is gone back to
    page.adopt()
    qtbot.waitUntil(host.toast.has_action)
    host.program.space_rows = tuple(replace(row, state="kept" if row.state == "in use" else "in use")
                               for row in host.program.space_rows)
    host.toast.run_action()
    qtbot.waitUntil(lambda: host.called("use_space") == [("use_space", "f3a9c1")])
    qtbot.waitUntil(lambda: page.deeds.state_of(comparison().run) == "kept")
    assert page.deed_part.keep.label() == "Kept"


def test_the_way_back_from_an_adopted_model_stays_when_the_message_has_gone(host, step, qtbot) -> None:
    page = step(comparison())
    part = page.deed_part
    assert part.back.isHidden()
    page.adopt()
    qtbot.waitUntil(lambda: not part.back.isHidden())
    host.toast.dismiss()
    assert part.back.label() == "Stay with MiniLM"
    assert part.reason.text() == "Home 1 is being prepared. Until it is ready, search uses the model before."
    assert page.tag.text() == "Being prepared"
    assert page.checks.adoption.isHidden()  # what adopting would mean is over
    assert (part.primary.isHidden(), part.keep.isHidden(), part.discard.isHidden()) == (True, True, True)
    page.focus_first()
    assert part.back.hasFocus()
    # an indexing run ends, and with it the model is in use: nobody has to come back to the page for it to say so
    host.program.space_rows = tuple(replace(row, state="kept" if row.state == "in use" else "in use")
                                    for row in host.program.space_rows)
    host.program.say([Started(JobId("an index run"), "index"), Finished(JobId("an index run"), Outcome.DONE, None)])
    qtbot.waitUntil(lambda: part.back.label() == "Go back to MiniLM")
    assert page.tag.text() == "In use"
    assert page.bars._base_tail() == " (before)"
    assert part.reason.text() == f"Home 1 is in use, adopted {words.day(NOW)}."
    assert [action.text for action in page.actions_list() if action.name == "train_go_back" and action.enabled()] == \
        ["Go back to MiniLM"]
    part.back.setFocus()
    QTest.keyClick(part.back, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: host.called("use_space") == [("use_space", "f3a9c1")])
    qtbot.waitUntil(lambda: page.deeds.state_of(comparison().run) == "kept" and part.back.isHidden())
    assert host.toast.label.full_text() == "MiniLM is in use again, Home 1 is kept for later"
    assert part.primary.isEnabled()  # and forth again
    assert page.tag.text() == "Recommended"
    assert not page.checks.adoption.isHidden()
    assert "read anew in the background" in page.checks.facts[0][1]  # as long as nobody says that its vectors are kept
    rows = host.program.runs
    host.program.runs = tuple(replace(row, comparison=replace(row.comparison, passages=0)) for row in rows)
    page.deeds.refresh()
    qtbot.waitUntil(lambda: page.checks.facts[0][1] == "No text is read anew: its vectors are kept in this library.")
    assert page.checks.facts[1][1] == "Search uses it at once."
    assert page.bars._base_tail() == " (now)"
    assert part.keep.label() == "Kept"


def test_without_kept_vectors_there_is_no_way_back_and_one_that_fails_can_be_tried_again(host, step, qtbot) -> None:
    page = step(comparison())
    part, old = page.deed_part, host.program.space_rows[0]
    page.adopt()
    qtbot.waitUntil(lambda: not part.back.isHidden())
    ready = replace(host.program.space_rows[1], state="in use")
    for gone in (replace(old, state="kept", model=""), replace(old, state="kept", passages=5), None):
        host.program.space_rows = (ready, replace(old, state="kept"))
        page.deeds.refresh()
        qtbot.waitUntil(lambda: not part.back.isHidden())
        host.program.space_rows = (ready, gone) if gone is not None else (ready,)
        page.deeds.refresh()
        qtbot.waitUntil(part.back.isHidden)  # its model, or its vectors, are not there
    assert part.primary.label() == "Adopted"
    # of several the one is gone back to that it was tuned from
    other = SpaceView("aaaaaa", "Other", "kept", 1, 9, 9, "other")
    host.program.space_rows = (ready, other, replace(old, state="kept"))
    page.deeds._before = ""
    page.deeds.refresh()
    qtbot.waitUntil(lambda: part.back.label() == "Go back to MiniLM" and not part.back.isHidden())
    fail = host.program.fail
    host.program.fail = {"spaces": Failure("library-busy", "Another program writes.", "Try again.")}
    part.back.click()
    assert not part.back.isEnabled()
    qtbot.waitUntil(part.back.isEnabled)
    assert "Another program writes" in host.toast.label.full_text()
    host.program.fail = fail
    part.back.click()
    qtbot.waitUntil(part.back.isHidden)
    assert host.called("use_space") == [("use_space", "f3a9c1")]


def test_what_is_not_better_or_fails_a_check_cannot_be_adopted_and_says_why(host, step, qtbot) -> None:
    page = step(WEAK)
    assert page.tag.text() == "Not clearly better"
    assert page.deed_part.primary.isHidden()
    assert not page.deed_part.plain.isEnabled()
    assert "not clearly better" in page.deed_part.reason.text()
    page.adopt()
    page.show_comparison(RUINED)
    assert page.tag.text() == "Not recommended"
    assert "Unrelated texts stay apart" in page.deed_part.reason.text()
    assert not page.deed_part.adopt_button().isEnabled()
    first = page.checks.rows[0]
    assert first.isChecked()  # a failed check stands first, with its detail open
    assert "failed" in first.accessibleName()
    passed = page.checks.rows[1]
    closed = passed.height()
    page.details.setFocus()
    for wanted in (*page.checks.rows, page.deed_part.keep, page.deed_part.discard):  # Adopt can't be pressed
        QTest.keyClick(host.window.focusWidget(), Qt.Key.Key_Tab)
        assert host.window.focusWidget() is wanted
    QTest.keyClick(passed, Qt.Key.Key_Space)
    assert passed.height() > closed
    assert passed.detail() in passed.accessibleDescription()
    # what the program refuses in spite of the button is said too
    host.program.fail["spaces"] = Failure("not-adopted", "The model is no longer better: the labels changed.")
    page.show_comparison(comparison())
    page.adopt()
    qtbot.waitUntil(lambda: "no longer better" in page.deed_part.reason.text())
    assert page.deed_part.primary.isEnabled()
    assert host.called("adopt") == [("adopt", comparison().run)]
    page.show_comparison(comparison(measured=False, verdict="Cannot measure: all alike.", refusal="All alike."))
    assert page.bars.isHidden()
    assert not page.deed_part.keep.isEnabled()


def test_discarding_can_be_undone_and_asks_after_a_long_training(host, step, qtbot) -> None:
    page = step(comparison())
    page.discard()
    assert page.stack.currentWidget() is page.empty
    host.toast.run_action()
    assert page.stack.currentWidget() is page.page
    assert not host.called("discard_training")
    qtbot.waitUntil(page.deed_part.discard.isEnabled)
    page.discard()
    host.toast.dismiss()
    qtbot.waitUntil(lambda: host.called("discard_training") == [("discard_training", comparison().run)])
    long = comparison(run="long", seconds=1500.0)
    page.show_comparison(long)
    page.discard()
    sheet = host.window.findChild(QWidget, "train_discard_sheet")
    assert "25 min" in sheet.text.text()
    QTest.keyClick(sheet, Qt.Key.Key_Escape)
    assert page.stack.currentWidget() is page.page
    page.discard()
    QTest.keyClick(sheet.go, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: ("discard_training", "long") in host.program.calls)


def test_all_that_would_change_is_reached_by_keyboard_and_as_tables(host, step, qtbot) -> None:
    page = step(comparison())
    QTest.keyClick(page.all, Qt.Key.Key_Return)
    pane = page.changes
    assert page.centre.currentWidget() is pane
    assert pane.questions.rows_model.rowCount() == 15
    pane.show_part("searches")
    assert pane.searches.list.rows_model.rowCount() == 7
    pane.searches.list.selectRow(1)
    assert [pane.searches.tuned.rows_model.columns[2].text(row) for row in pane.searches.tuned.rows_model.rows][:1] == \
        ["was 2nd"]
    pane.show_part("map")
    pane.focus_first()
    assert host.window.focusWidget() is pane.moves.map
    QTest.keyClick(pane.moves.map, Qt.Key.Key_Down)
    assert "of the map" in pane.moves.looked.text()
    pane.moves.switch.click()
    assert pane.moves.stack.currentWidget() is pane.moves.table
    assert pane.moves.table.rows_model.rowCount() == 160
    QTest.keyClick(pane.moves.table, Qt.Key.Key_Escape)
    assert page.centre.currentWidget() is page.area
    assert host.window.focusWidget() is page.all
    page.show_comparison(comparison(changes=(), searches=(), arrows=()))
    assert page.all.isHidden()
    assert page.table.isHidden()


def test_it_fits_a_narrow_window_and_large_text(host, step, qtbot) -> None:
    page = step(comparison())
    host.window.resize(908, 556)  # what a window of 960 x 640 leaves
    for scale in (100, 200):
        theme.apply(text_scale=scale)
        QApplication.processEvents()
        inner = page.area.widget()
        assert inner.width() <= page.area.viewport().width(), scale
        button = page.deed_part.primary
        corner = button.mapTo(host.window, button.rect().bottomRight())
        assert host.window.rect().contains(corner), scale
        assert page.side.isHidden() is (scale == 200)  # the checks go below where there is no room beside
        assert page.checks.isVisible()


def test_the_report_holds_every_figure(tmp_path: Path, step, qtbot, monkeypatch) -> None:
    page = step(replace(comparison(), name="Home | 1"))
    target = tmp_path / "report.md"
    monkeypatch.setattr("sbert_desktop.ui.train.comparing.ask_target", lambda *_: target)
    page.save.click()
    qtbot.waitUntil(target.exists)
    text = target.read_text(encoding="utf-8")
    assert text == report(page._view)
    for part in ("Recommended", "between 6 and 20 better", "nDCG@10", "when do I get my deposit back",
                 "12 groups more", "Home \\| 1", "take care"):
        assert part in text


def test_where_too_little_is_independent_no_interval_is_shown_and_nothing_is_called_worse() -> None:
    said = "Finds 40 of 100 pairs right instead of 58; too few independent labels were kept aside (1)"
    view = replace(comparison(), low=-1.0, high=1.0, tuned=0.40, base=0.58, difference=-0.18, recommended=False,
                   refusal=said, verdict=said, measures=(MeasureView("ap", 0.58, 0.40, -1.0, 1.0),))  # fmt: skip
    assert interval(view) == "could be chance"
    assert (judge(view).tag, judge(view).headline) == ("Not clearly better", "Too little to tell which is better")
    assert -50 < difference_axis(view).low < -18 < 0 < difference_axis(view).high < 50
    told = report(view)
    assert "95 % interval not known" in told
    assert "95 % sure" not in told
    assert "-1.0" not in told
