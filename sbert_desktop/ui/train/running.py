"""The step in which a model is trained: live curves, pause, cancel, and runs that can be gone on with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QApplication,
    QBoxLayout,
    QFrame,
    QHBoxLayout,
    QScrollArea,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from sbert_desktop.app.training_views import ComparisonView, Plan, RunView, TrainingView
from sbert_desktop.domain import Finished, JobId, Outcome, Progress, Started
from sbert_desktop.ui import words
from sbert_desktop.ui.page import Action, Desk, failure_text
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.train.comparing_words import metric_words
from sbert_desktop.ui.train.curves import CurveChart
from sbert_desktop.ui.train.runs import ResumeOffer, RunsList, run_label
from sbert_desktop.ui.train.runs_deeds import run_deeds
from sbert_desktop.ui.widgets import (
    Button,
    EmptyState,
    Label,
    Notice,
    ProgressBar,
    announce,
    name,
    set_tip,
)

PAUSED: Final = "Paused"
CLOSING: Final = "You may close the window: what was learned is kept, and you can continue from there."
KEEPS: Final = "Cancel keeps what was learned so far; you can continue later, or discard it."
LEARNS: Final = "Falls while the model learns; it need not reach 0"
ASIDE: Final = "Rises while the model gets better at pairs that it does not learn from"


class ChartBox(QWidget):
    """A chart with its title and a sentence on how to read it."""

    def __init__(self, chart: CurveChart, title: str, sentence: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        self.chart = chart
        self.title = Label(title, role="section", wrap=True)
        column.addWidget(self.title)
        column.addWidget(Label(sentence, role="meta", tone="muted", wrap=True))
        column.addSpacing(4)
        column.addWidget(chart, 1)


class LivePart(QWidget):
    """A training that goes on. ``pauseWanted``, ``continueWanted``, ``cancelWanted``."""

    pauseWanted = Signal()
    continueWanted = Signal()
    cancelWanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        name(self, "train_live", "Training")
        self._paused = False  # the person wants it to stand still
        self._stopping = False
        self._phase = self._label = ""
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        top = QHBoxLayout()
        top.setSpacing(16)
        self.phase = Label("Getting ready", role="page_title", wrap=True, object_name="train_phase")
        self.pause = Button("Pause", icon="pause", object_name="train_pause", tip="Stands still after the next step")
        self.cancel = Button("Cancel", icon="close", object_name="train_cancel", tip=KEEPS)
        top.addWidget(self.phase, 1)
        top.addWidget(self.pause, 0, Qt.AlignmentFlag.AlignTop)
        top.addWidget(self.cancel, 0, Qt.AlignmentFlag.AlignTop)
        column.addLayout(top)
        self.bar = ProgressBar(thickness=6, object_name="train_progress", accessible="Progress of the training")
        self.bar.set_fraction(None)
        self.steps = Label("", tone="muted", wrap=True, object_name="train_steps")
        self.notice = Label("", tone="warn", wrap=True, object_name="train_live_notice")
        self.notice.hide()
        column.addWidget(self.bar)
        column.addWidget(self.steps)
        column.addWidget(self.notice)
        column.addSpacing(8)
        self.charts = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self.charts.setSpacing(24)
        self.held_out = CurveChart("train_curve_held_out", "On the pairs kept aside", dots=True, best=True,
                                   start="before training")
        self.loss = CurveChart("train_curve_loss", "Mistakes while learning", color="muted")
        set_tip(self.loss, "The training loss, its mean since the last point")
        self.aside_box = ChartBox(self.held_out, "On the pairs kept aside", ASIDE)
        self.charts.addWidget(self.aside_box, 1)
        self.charts.addWidget(ChartBox(self.loss, "Mistakes while learning", LEARNS), 1)
        column.addLayout(self.charts)
        column.addSpacing(4)
        self.safe = Label(f"{CLOSING} {KEEPS}", role="meta", tone="muted", wrap=True, object_name="train_safe")
        column.addWidget(self.safe)
        self.pause.clicked.connect(self._on_pause)
        self.cancel.clicked.connect(self.cancelWanted)

    def begin(self, label: str) -> None:
        """Shows a training that was just asked for."""
        self._paused, self._stopping, self._phase = False, False, ""
        self._label = label
        self.show_phase("Getting ready")
        self.bar.set_fraction(None)
        self.bar.set_paused(False)
        self.steps.setText("The model is loaded and the pairs are read.")
        self.notice.hide()
        self.pause.setEnabled(True)
        self.cancel.setEnabled(True)
        self._show_pause()
        self.loss.show_points((), 0, "The curve begins with the first steps.")
        self.held_out.show_points((), 0, "The first point is the model as it is now.")

    def show_phase(self, phase: str) -> None:
        """Says what is being done."""
        text = f"{self._label}: {phase[:1].lower()}{phase[1:]}" if self._label else phase
        if phase != self._phase:
            self._phase = phase
            announce(self.phase, text)
        self.phase.setText(text)

    def name_it(self, label: str) -> None:
        """Says which training it is, where that was learned late."""
        if label and label != self._label:
            self._label = label
            self.show_phase(self._phase)

    def _hear(self, phase: str) -> None:
        stands = phase == PAUSED
        if self._paused != stands and not self._stopping:
            phase = "Pausing" if self._paused else "Continuing"
        self.show_phase("Stopping" if self._stopping else phase)

    def show_progress(self, progress: Progress) -> None:
        """Shows a step that has no curve: getting ready, comparing."""
        if progress.phase:
            self._hear(progress.phase)
        if progress.total:
            self.bar.set_fraction(progress.done / progress.total)

    def show_training(self, view: TrainingView) -> None:
        """Shows how a training stands."""
        stands = view.phase == PAUSED
        self._hear(view.phase)
        self.bar.set_fraction(view.step / view.of if view.of else None)
        self.bar.set_paused(stands and self._paused)
        parts = [f"Step {words.count(view.step)} of {words.count(view.of)}"] if view.of else []
        if view.seconds_left is not None and not stands and view.step < view.of:
            parts.append(words.left(view.seconds_left))
        self.steps.setText(", ".join(parts))
        if view.notice and view.notice != self.notice.text():
            announce(self.notice, view.notice)
        self.notice.setText(view.notice)
        self.notice.setVisible(bool(view.notice))
        self.loss.show_points([(point.step, point.loss) for point in view.curve], view.of)
        self.held_out.show_points([(point.step, point.held_out) for point in view.curve], view.of,
                                  "The first point is the model as it is now.")
        if view.metric:
            set_tip(self.held_out, f"Measured as {metric_words(view.metric)}, the best point is ringed and kept")

    def show_cancelling(self) -> None:
        """It was asked to end."""
        self._stopping = True
        self.show_phase("Stopping")
        self.steps.setText("What was learned is being stored.")
        self.pause.setEnabled(False)
        self.cancel.setEnabled(False)

    def _on_pause(self) -> None:
        self._paused = not self._paused
        self._show_pause()
        self.show_phase("Pausing" if self._paused else "Continuing")
        (self.pauseWanted if self._paused else self.continueWanted).emit()

    def _show_pause(self) -> None:
        self.pause.setText("Continue" if self._paused else "Pause")
        self.pause.set_icon("play" if self._paused else "pause")

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        wide = self.width() >= 640 * max(100, theme.text_scale) // 100
        self.charts.setDirection(QBoxLayout.Direction.LeftToRight if wide else QBoxLayout.Direction.TopToBottom)


class RunningStep(QWidget):
    """Trains a plan and shows how it goes.

    ``back``: the person wants to go to the step before. ``finished(ComparisonView)``: a training ended;
    ``broke(str)``: it failed, and why. ``wanted(ComparisonView)``: the person asks for an older comparison.
    ``runningChanged(bool)``: a training began or ended.
    """

    back = Signal()
    finished = Signal(object)
    wanted = Signal(object)
    broke = Signal(str)
    runningChanged = Signal(bool)

    def __init__(self, desk: Desk, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.desk = desk
        self.setObjectName("train_running")
        self._job: JobId | None = None
        self._label = self._run = ""
        self.deeds = run_deeds(desk)
        self.live, self.offer, self.runs = LivePart(), ResumeOffer(), RunsList()
        self.failed = Notice("train_failed")
        self.empty = EmptyState("No training yet", "Judge pairs and check them first; training then takes minutes, and "
                                "nothing changes before you adopt what came of it.", action="Back to the check",
                                primary=False, object_name="train_running_empty")
        inner = QWidget()
        inner.setProperty("page", True)
        column = QVBoxLayout(inner)
        column.setContentsMargins(24, 24, 24, 24)
        column.setSpacing(24)
        for widget in (self.failed, self.live, self.offer, self.runs):
            column.addWidget(widget)
        column.addStretch(1)
        self.area = QScrollArea()
        name(self.area, "train_running_scroll", "Training")
        self.area.setWidget(inner)
        self.area.setWidgetResizable(True)
        self.area.setFrameShape(QFrame.Shape.NoFrame)
        self.area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.stack = QStackedWidget()
        self.stack.setObjectName("train_running_stack")
        self.stack.addWidget(self.empty)
        self.stack.addWidget(self.area)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(self.stack)
        self._connect()
        self._show_state()

    def _connect(self) -> None:
        self.empty.clicked.connect(self.back)
        self.failed.close_button.clicked.connect(self._on_put_away)
        self.live.pauseWanted.connect(self.desk.commands.pause_training)
        self.live.continueWanted.connect(self.desk.commands.continue_training)
        self.live.cancelWanted.connect(self.cancel)
        for part in (self.offer, self.runs):
            part.resumeWanted.connect(self.resume)
            part.discardWanted.connect(self._on_discard)
        self.runs.compareWanted.connect(self._on_compare)
        self.runs.adoptWanted.connect(self._on_adopt)
        self.runs.backWanted.connect(self._go_back)
        self.deeds.runsChanged.connect(self._show_state)
        self.deeds.refused.connect(lambda _run, why: self.failed.show_text(why) if self.isVisible() else None)
        # whoever started it: the check, this step, or another window's command
        self.desk.bridge.listen("train", on_started=self._on_started, on_progress=self._on_progress,
                                on_partial=self._on_partial, on_finished=self._on_finished)

    # ---- for the page

    def start(self, plan: Plan) -> None:
        """Trains; one at a time."""
        if self.running():
            self.desk.toast("Another training is under way.")
            return
        self._begin(plan.name)
        self._job = self.desk.commands.train(plan)

    def running(self) -> bool:
        """True while a training goes on."""
        return self._job is not None

    def tells_failure(self) -> bool:
        """True while it says why the last training failed."""
        return not self.failed.isHidden()

    def activate(self) -> None:
        """Called each time the step comes to the front."""
        self.deeds.refresh()
        self._show_state()

    def focus_first(self) -> None:
        """Puts the focus where work on this step begins."""
        rows = self.runs.rows
        if self.running():
            target: QWidget | None = self.live.pause
        elif not self.offer.isHidden():
            target = self.offer.resume
        elif not self.failed.isHidden() and not self.failed.button.isHidden():
            target = self.failed.button
        elif rows:
            target = rows[0].compare if not rows[0].compare.isHidden() else rows[0].discard
        else:
            target = self.empty.button
        if target is not None:
            target.setFocus(Qt.FocusReason.OtherFocusReason)

    def actions_list(self) -> Sequence[Action]:
        """Gives the step's commands for the palette."""
        return (
            Action("train_pause", "Pause or continue the training", self.live.pause.click, icon="pause",
                   enabled=lambda: self.running() and self.live.pause.isEnabled()),
            Action("train_cancel", "Cancel the training and keep what was learned", self.cancel, icon="close",
                   enabled=lambda: self.running() and self.live.cancel.isEnabled()),
            Action("train_resume", "Continue the training that was not finished",
                   lambda: self.resume(self.offer.run()), icon="play",
                   enabled=lambda: not self.running() and self.offer.run() is not None),
        )

    def head_widgets(self) -> Sequence[QWidget]:
        """Gives buttons that stand at the right of the page's head while this step is in front."""
        return ()

    # ---- doing

    def resume(self, run: object) -> None:
        """Goes on with a training that was not finished."""
        if isinstance(run, RunView) and not self.running():
            self._begin(run.name)
            self._job = self.desk.commands.resume_training(run.run)
            self.focus_first()

    def cancel(self) -> None:
        """Asks the training to end; what was learned stays."""
        if self._job is not None:
            self.live.show_cancelling()
            self.desk.commands.continue_training()  # one that stands still would never hear of it
            self.desk.commands.cancel(self._job)

    def _on_discard(self, run: object) -> None:
        if isinstance(run, RunView):
            seconds = run.comparison.seconds if run.comparison is not None else 0.0
            self.deeds.discard(self.window(), run.run, run_label(run), seconds)

    def _on_compare(self, run: object) -> None:
        if isinstance(run, RunView) and run.comparison is not None:
            self.wanted.emit(run.comparison)

    def _on_adopt(self, run: object) -> None:
        if isinstance(run, RunView) and run.comparison is not None:
            self.deeds.adopt(run.run, run.comparison)

    def _go_back(self, run: object) -> None:
        if isinstance(run, RunView) and run.comparison is not None:
            self.deeds.go_back(run.run, run.comparison)

    def _backs(self) -> dict[str, str]:
        """Gives the model that can be gone back to from each training that is in use, by its run."""
        found = {run.run: self.deeds.way_back(run.run, run.comparison) for run in self.deeds.runs()
                 if run.state == "adopted" and run.comparison is not None and run.comparison.kind != "cross-encoder"}
        return {run: space.name for run, space in found.items() if space is not None}

    # ---- hearing

    def _begin(self, label: str) -> None:
        self._label, self._run = label or "Training", ""
        self.failed.hide()
        self.live.begin(self._label)
        was, self._job = self._job, self._job or JobId("")
        self._show_state()
        if was is None:
            self.runningChanged.emit(True)

    def _on_started(self, started: Started) -> None:
        if self._job is None:
            self._begin("")
        self._job = started.job_id

    def _on_progress(self, progress: Progress) -> None:
        if progress.job_id == self._job:
            self.live.show_progress(progress)

    def _on_partial(self, result: object) -> None:
        if isinstance(result, TrainingView) and self._job is not None:
            if result.run != self._run:
                self._run = result.run
                self._show_state()
            self.live.name_it(next((run.name for run in self.deeds.runs() if run.run == result.run), ""))
            self.live.show_training(result)

    def _on_finished(self, finished: Finished) -> None:
        if finished.job_id != self._job:
            return
        self._job = None
        self._show_state()
        self.runningChanged.emit(False)
        if finished.outcome is Outcome.DONE and isinstance(finished.result, ComparisonView):
            self.finished.emit(finished.result)
        elif finished.outcome is Outcome.FAILED and finished.failure is not None:
            self.failed.show_text(failure_text(finished.failure), action="Back to the check", run=self._on_back)
            self._show_state()
            self.broke.emit(finished.failure.message)
        else:
            self.desk.toast("The training was stopped. What was learned is kept.")
        if self.isVisible():
            self.focus_first()

    def _on_back(self) -> None:
        self._on_put_away()
        self.back.emit()

    def _on_put_away(self) -> None:
        had_focus = self.isAncestorOf(QApplication.focusWidget() or self.desk.inspector)
        self.failed.hide()
        self._show_state()
        if had_focus or QApplication.focusWidget() is None:  # the button that was pressed went with the notice
            self.focus_first()

    def _show_state(self) -> None:
        runs = self.deeds.runs()
        running = self.running()
        self.live.setVisible(running)
        unfinished = next((run for run in runs if run.state == "interrupted"), None) if not running else None
        # the newest of all is offered with large buttons; an older one stands in the list
        offered = unfinished if unfinished is not None and runs and runs[0] is unfinished else None
        self.offer.show_run(offered)
        if running:  # the one under way is not an earlier one
            runs = tuple(run for run in runs if run.run != self._run)
            if not self._run and runs and runs[0].state in ("interrupted", "running"):
                runs = runs[1:]
        self.runs.show_runs([run for run in runs if run is not offered], busy=running, backs=self._backs())
        self.stack.setCurrentWidget(self.area if running or runs or not self.failed.isHidden() else self.empty)
