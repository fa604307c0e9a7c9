"""What can be done with a training that ended: adopt, keep, discard, and take an adoption back; one for the window."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from sbert_desktop.app.training_views import ComparisonView, RunView, SpaceView
from sbert_desktop.domain import Finished, Outcome
from sbert_desktop.ui.overlay import Sheet
from sbert_desktop.ui.page import Desk, failure_text
from sbert_desktop.ui.train.comparing_words import took
from sbert_desktop.ui.widgets import Button, Label, name

LONG = 600.0
"""Seconds of training from which discarding asks first."""


def run_deeds(desk: Desk) -> RunDeeds:
    """Gives the one of a window, so that its lists agree on what was discarded a moment ago."""
    found = desk.findChild(RunDeeds, "train_deeds")
    return found if isinstance(found, RunDeeds) else RunDeeds(desk)


class RunDeeds(QObject):
    """Knows the trainings, and does what the person wants with one.

    ``runsChanged``: the list is another one. ``adopted(run)``, ``kept(run)``, ``discarded(run)``, ``undone(run)``;
    ``refused(run, why)``: it may not be adopted. A training is discarded only when the message with Undo is gone.
    """

    runsChanged = Signal()
    adopted = Signal(str)
    kept = Signal(str)
    discarded = Signal(str)
    undone = Signal(str)
    refused = Signal(str, str)

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self.setObjectName("train_deeds")
        self._desk = desk
        self._runs: tuple[RunView, ...] = ()
        self._known = False
        self._leaving: set[str] = set()  # discarded, but Undo is still on the screen
        self._before = ""  # the space in use when a model was adopted last
        self._spaces: tuple[SpaceView, ...] = ()
        desk.bridge.listen("trainings", on_finished=self._on_trainings)
        desk.bridge.listen("spaces", on_finished=self._on_spaces)
        desk.bridge.listen("train", on_finished=lambda _: self.refresh())

    # ---- knowing

    def refresh(self) -> None:
        """Asks for the trainings, and for the space in use."""
        self._desk.commands.trainings()
        self._desk.commands.spaces()

    def known(self) -> bool:
        """True once the trainings were listed."""
        return self._known

    def runs(self) -> tuple[RunView, ...]:
        """Gives the trainings, newest first, without those that were discarded."""
        return tuple(run for run in self._runs if run.run not in self._leaving and run.state != "discarded")

    def state_of(self, run: str) -> str:
        """Gives the state of a training, "" when it isn't known."""
        if run in self._leaving:
            return "discarded"
        return next((one.state for one in self._runs if one.run == run), "")

    def _on_trainings(self, finished: Finished) -> None:
        result = finished.result
        if finished.outcome is Outcome.DONE and isinstance(result, tuple):
            self._runs = tuple(run for run in result if isinstance(run, RunView))
            self._known = True
            self._leaving &= {run.run for run in self._runs}
            self.runsChanged.emit()

    def _on_spaces(self, finished: Finished) -> None:
        if finished.outcome is Outcome.DONE and isinstance(finished.result, tuple):
            self._spaces = tuple(space for space in finished.result if isinstance(space, SpaceView))
            self.runsChanged.emit()

    # ---- doing

    def adopt(self, run: str, comparison: ComparisonView) -> None:
        """Puts a tuned model to use; the message has Undo."""
        self._before = next((space.fingerprint for space in self._spaces if space.state == "in use"), "")

        def on_finished(finished: Finished) -> None:
            if finished.outcome is Outcome.FAILED and finished.failure is not None:
                self.refused.emit(run, failure_text(finished.failure))
                return
            if finished.outcome is not Outcome.DONE:
                self.undone.emit(run)
                return
            self._tell_adopted(run, comparison, finished.result)
            self.refresh()
            self.adopted.emit(run)

        self._desk.bridge.watch(self._desk.commands.adopt(run), on_finished=on_finished)

    def _tell_adopted(self, run: str, comparison: ComparisonView, result: object) -> None:
        if comparison.kind == "cross-encoder":
            self._desk.toast(f"{comparison.name} now takes the second look at what was found", action="Models",
                             run=lambda: self._desk.show_page("models"))
            return
        spaces = [space for space in result if isinstance(space, SpaceView)] if isinstance(result, tuple) else []
        building = any(space.state == "building" for space in spaces)
        self._desk.toast(f"{comparison.name} is {'being prepared' if building else 'in use'}", action="Undo",
                         run=lambda: self._undo(run, comparison))

    def _undo(self, run: str, comparison: ComparisonView) -> None:
        before = self._before

        def on_spaces(finished: Finished) -> None:
            spaces = [space for space in finished.result if isinstance(space, SpaceView)] \
                if isinstance(finished.result, tuple) else []
            building = next((space for space in spaces if space.state == "building"), None)
            old = next((space for space in spaces if space.fingerprint == before), None)
            if building is not None:
                self._desk.start(self._desk.commands.remove_space(building.fingerprint), on_done)
            elif old is not None and old.state == "kept":  # it was ready before Undo was pressed
                self._desk.start(self._desk.commands.use_space(old.fingerprint), on_done)

        def on_done(_result: object) -> None:
            # its model is among the models by now: it is kept, and can be adopted again
            self._desk.start(self._desk.commands.keep_training(run), lambda _: self._tell_undone(run, comparison))

        self._desk.bridge.watch(self._desk.commands.spaces(), on_finished=on_spaces)

    def _tell_undone(self, run: str, comparison: ComparisonView) -> None:
        self._desk.toast(f"{comparison.base_name} stays in use, {comparison.name} is kept for later")
        self.refresh()
        self.undone.emit(run)

    def preparing(self) -> bool:
        """True while the vectors of an adopted model are being prepared."""
        return any(space.state == "building" for space in self._spaces)

    def keep(self, run: str, label: str) -> None:
        """Keeps a tuned model among the models."""

        def on_done(_result: object) -> None:
            self._desk.toast(f"{label} is kept among your models", action="Show",
                             run=lambda: self._desk.show_page("models"))
            self.kept.emit(run)

        self._desk.start(self._desk.commands.keep_training(run), on_done)

    def discard(self, host: QWidget, run: str, label: str, seconds: float) -> None:
        """Removes a training: one that took long after a question, else with Undo."""
        if seconds > LONG:
            sheet = host.findChild(DiscardSheet, "train_discard_sheet") or DiscardSheet(host)
            sheet.ask(label, seconds, lambda: self._remove(run))
            return
        self._leaving.add(run)
        self.runsChanged.emit()
        self.discarded.emit(run)
        self._desk.toast(f"{label} was discarded", action="Undo", run=lambda: self._bring_back(run),
                         expired=lambda: self._finish(run))

    def _remove(self, run: str) -> None:
        self._leaving.add(run)
        self.runsChanged.emit()
        self.discarded.emit(run)
        self._finish(run)

    def _finish(self, run: str) -> None:
        def on_finished(finished: Finished) -> None:
            if self._desk.report_failure(finished):
                self._bring_back(run)

        self._desk.bridge.watch(self._desk.commands.discard_training(run), on_finished=on_finished)

    def _bring_back(self, run: str) -> None:
        self._leaving.discard(run)
        self.runsChanged.emit()
        self.refresh()
        self.undone.emit(run)


class DiscardSheet(Sheet):
    """Asks before what took long is removed: that cannot be undone."""

    def __init__(self, host: QWidget) -> None:
        super().__init__(host, width=440)
        name(self, "train_discard_sheet", "Discard a training")
        self._run: object = None
        self.title = Label("", role="page_title", wrap=True, object_name="train_discard_title")
        self.text = Label("", wrap=True, object_name="train_discard_text")
        self.cancel = Button("Cancel", object_name="train_discard_cancel")
        self.go = Button("Discard", icon="trash", object_name="train_discard_go")
        self.column.addWidget(self.title)
        self.column.addWidget(self.text)
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addStretch(1)
        row.addWidget(self.cancel)
        row.addWidget(self.go)
        self.column.addLayout(row)
        self.cancel.clicked.connect(lambda: self.close_sheet(False))
        self.go.clicked.connect(lambda: self.close_sheet(True))
        self.closed.connect(self._on_closed)

    def ask(self, label: str, seconds: float, run: object) -> None:
        """Asks whether a training is to go."""
        self._run = run
        self.title.setText(f"Discard {label}?")
        self.text.setText(f"It took {took(seconds)} to train and cannot be brought back. What you judged stays.")
        self.open()

    def first_focus(self) -> QWidget:
        return self.cancel

    def _on_closed(self, accepted: bool) -> None:
        run, self._run = self._run, None
        if accepted and callable(run):
            run()
