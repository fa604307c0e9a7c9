"""A training while it runs: curves, pause, cancel, going on; and the list of earlier ones."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from sbert_desktop.app.training_views import Plan, RunView
from sbert_desktop.domain import Failure, Finished, Outcome
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.train.curves import CurveChart
from sbert_desktop.ui.train.running import RunningStep
from sbert_desktop.ui.train.runs import run_label
from tests.ui.fake_training import NOW, RUN, STEPS, comparison
from tests.ui.train.conftest import Host

pytestmark = pytest.mark.gui


def test_a_curve_is_painted_walked_along_and_said(qtbot) -> None:
    chart = CurveChart("curve", "Held out", dots=True, best=True, start="before")
    qtbot.addWidget(chart)
    chart.resize(400, 200)
    chart.show()
    assert "begins with the first steps" in chart.accessibleName()
    chart.grab()
    chart.show_points([(0, 0.5), (10, float("nan")), (20, 0.9), (30, None), (40, 0.8)], 80)
    assert [(spot.step, spot.value) for spot in chart.spots()] == [(0, 0.5), (20, 0.9), (40, 0.8)]
    assert chart.accessibleName() == "Held out: 0.800 after 40 steps, up from 0.500; best 0.900 after 20 steps"
    image = chart.grab().toImage()
    accent = theme.color("accent")
    found = [(x, y) for x in range(image.width()) for y in range(image.height()) if image.pixelColor(x, y) == accent]
    plot = chart._plot()
    left, right = min(found), max(found)
    assert left[0] == pytest.approx(plot.x(), abs=5)
    assert right[0] == pytest.approx(plot.center().x(), abs=5)  # 40 of 80 steps
    assert left[1] > right[1]  # it rises
    QTest.keyClick(chart, Qt.Key.Key_End)
    QTest.keyClick(chart, Qt.Key.Key_Left)
    assert chart.look_words() == "step 20: 0.900"
    QTest.keyClick(chart, Qt.Key.Key_Escape)
    assert not chart.look_words()
    QTest.mouseMove(chart, QPoint(int(plot.x()) + 1, 100))
    qtbot.waitUntil(lambda: chart.look_words() == "step 0: 0.500")
    chart.show_points([(step, 1.0) for step in range(9000)], 9000)  # constant, and many
    chart.grab()
    assert len(chart.spots()) == 9000


@pytest.fixture
def step(host: Host) -> RunningStep:
    host.program.hold_training = True
    return host.put(RunningStep)


def test_a_training_is_followed_paused_cancelled_and_gone_on_with(host, step, qtbot) -> None:
    program = host.program
    assert step.stack.currentWidget() is step.empty
    step.start(Plan(name="Home 2"))
    step.focus_first()
    assert step.running()
    assert host.window.focusWidget() is step.live.pause
    qtbot.waitUntil(lambda: step.live.phase.text() == "Home 2: preparing")
    program.step_training(96, notice="The batch was halved: the card had too little memory.")
    qtbot.waitUntil(lambda: step.live.steps.text() == f"Step 96 of {STEPS}, about 2 min left")
    assert step.live.loss.spots()[-1].step == 96
    assert [spot.step for spot in step.live.held_out.spots()] == [0, 24, 48, 72, 96]
    assert "halved" in step.live.notice.text()
    assert "close the window" in step.live.safe.text()
    QTest.keyClick(step.live.pause, Qt.Key.Key_Space)
    assert ("pause_training",) in program.calls
    assert step.live.phase.text() == "Home 2: pausing"
    program.step_training(97, phase="Paused")
    qtbot.waitUntil(lambda: step.live.phase.text() == "Home 2: paused")
    assert step.live.pause.label() == "Continue"
    assert step.live.steps.text() == f"Step 97 of {STEPS}"
    QTest.keyClick(step.live.pause, Qt.Key.Key_Space)
    assert ("continue_training",) in program.calls
    assert step.live.pause.label() == "Pause"
    QTest.keyClick(step.live.cancel, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: not step.running())
    assert "kept" in host.toast.label.full_text()
    qtbot.waitUntil(lambda: not step.offer.isHidden())
    assert "after step 96 of 240" in step.offer.sentence.text()
    assert step.live.isHidden()
    step.focus_first()
    QTest.keyClick(step.offer.resume, Qt.Key.Key_Return)
    assert ("resume_training", RUN) in program.calls
    assert step.running()
    assert step.offer.isHidden()
    with qtbot.waitSignal(step.finished) as caught:
        program.let_training_go()
    assert caught.args == [comparison()]
    assert not step.running()


def test_a_training_that_fails_says_why_and_stays_to_be_gone_on_with(host, step, qtbot) -> None:
    program = host.program
    step.start(Plan(name="Home 2"))
    program.say([Finished(program.held_training, Outcome.FAILED, None,
                          Failure("disk-full", "The disk is full.", "Free 2 GB and continue."))])
    qtbot.waitUntil(lambda: not step.running())
    assert step.failed.label.text() == "The disk is full. Free 2 GB and continue."
    assert step.failed.isVisible()
    qtbot.waitUntil(lambda: step.offer.run() is not None)


def test_a_training_that_never_began_leaves_a_way_back(host, step, qtbot) -> None:
    program = host.program
    step.start(Plan(name="Home 2"))
    told: list[str] = []
    step.broke.connect(told.append)
    for leave in (step.failed.button.click, step.failed.close_button.click):
        program.say([Finished(program.held_training, Outcome.FAILED, None, Failure("no-pairs", "Too few pairs.", ""))])
        qtbot.waitUntil(lambda: not step.running())
        program.runs = ()
        step.deeds.refresh()
        qtbot.waitUntil(lambda: step.offer.isHidden() and not step.runs.rows)
        assert step.stack.currentWidget() is step.area
        step.focus_first()
        assert host.window.focusWidget() is step.failed.button
        assert step.failed.button.label() == "Back to the check"
        leave()
        assert step.stack.currentWidget() is step.empty
        assert host.window.focusWidget() is step.empty.button
        step.start(Plan(name="Home 2"))
    assert told == ["Too few pairs."] * 2
    step.offer.show_run(RunView("half", "Home 2", "interrupted", NOW, Plan(), 0, STEPS))
    assert "kept" not in step.offer.sentence.text()  # nothing was


def test_earlier_trainings_offer_what_can_be_done_with_each(host, step, qtbot) -> None:
    program = host.program
    weak = comparison(run="weak", recommended=False, refusal="It is not better.", low=-0.05, high=0.08)
    program.runs = (
        RunView("new", "Home 1", "trained", NOW, Plan(), STEPS, STEPS, replace(comparison(), run="new")),
        RunView("weak", "Kitchen", "kept", NOW, Plan(), STEPS, STEPS, weak),
        RunView("old", "Home 0", "adopted", NOW, Plan(), STEPS, STEPS, replace(comparison(), run="old"), "home-0"),
        RunView("half", "Old try", "interrupted", NOW, Plan(), 96, STEPS),
        RunView("other", "Elsewhere", "running", NOW, Plan(), 5, STEPS),
    )
    step.deeds.refresh()
    qtbot.waitUntil(lambda: len(step.runs.rows) == 5)

    def shown(at: int) -> list[str]:
        row = step.runs.rows[at]
        return [key for key in ("resume", "compare", "adopt", "discard") if not getattr(row, key).isHidden()]

    assert shown(0) == ["compare", "adopt", "discard"]
    assert shown(1) == ["compare", "discard"]
    assert shown(2) == ["compare", "discard"]
    assert shown(3) == ["resume", "discard"]
    assert shown(4) == []
    assert run_label(replace(program.runs[0], model="Home-1-2")) == "Home-1-2"  # as the list of models has it
    assert "6 to 20 better" in step.runs.rows[0].accessibleName()
    assert "Not clearly better: 5 worse to 8 better" in step.runs.rows[1].accessibleName()
    assert step.stack.currentWidget() is step.area
    with qtbot.waitSignal(step.wanted) as caught:
        step.runs.rows[2].compare.click()
    assert caught.args[0].run == "old"
    step.runs.rows[0].adopt.click()
    qtbot.waitUntil(lambda: ("adopt", "new") in program.calls)
    qtbot.waitUntil(lambda: not step.runs.rows[0].back.isHidden())
    assert step.runs.rows[0].back.accessibleName() == "Go back from home-1 to MiniLM"
    assert step.runs.rows[2].back.isHidden()  # another model is being prepared now
    step.runs.rows[0].back.click()
    qtbot.waitUntil(lambda: ("remove_space", "b71c02") in program.calls)
    qtbot.waitUntil(lambda: step.runs.rows[0].back.isHidden() and not step.runs.rows[0].adopt.isHidden())
    step.runs.rows[3].discard.click()
    assert [row.run.run for row in step.runs.rows] == ["new", "weak", "old", "other"]
    assert host.toast.has_action()
    step.runs.rows[1].discard.click()  # the message before it goes, and with it the chance to undo
    qtbot.waitUntil(lambda: ("discard_training", "half") in program.calls)
    host.toast.run_action()
    assert "weak" in [row.run.run for row in step.runs.rows]
