"""What can be done with a training that ended: adopt, keep, discard, and take an adoption back; one for the window."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from sbert_desktop.app.training_views import ComparisonView, RunView, SpaceView
from sbert_desktop.domain import Finished, JobId, Outcome
from sbert_desktop.ui.models.words import is_whole
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
    ``stayed(run)``: it could not be gone back from; ``refused(run, why)``: it may not be adopted. A training is
    discarded only when the message with Undo is gone.
    """

    runsChanged = Signal()
    adopted = Signal(str)
    kept = Signal(str)
    discarded = Signal(str)
    undone = Signal(str)
    stayed = Signal(str)
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
        for kind in ("train", "index"):  # an indexing run may have put a model to use
            desk.bridge.listen(kind, on_finished=lambda _: self.refresh())

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

    def comparison(self, run: str) -> ComparisonView | None:
        """Gives the comparison of a training as things are now, None when it isn't known."""
        return next((one.comparison for one in self._runs if one.run == run), None)

    def decided(self, run: str) -> float:
        """Gives when a training was kept or adopted, seconds, 0 not known."""
        return next((one.decided for one in self._runs if one.run == run), 0.0)

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
                         run=lambda: self.go_back(run, comparison))

    def go_back(self, run: str, comparison: ComparisonView) -> None:
        """Takes an adoption back: stops preparing the model, or searches again with the one before, at once."""

        def on_spaces(finished: Finished) -> None:
            if self._desk.report_failure(finished) or not isinstance(finished.result, tuple):
                self.stayed.emit(run)
                return
            self._spaces = tuple(space for space in finished.result if isinstance(space, SpaceView))
            own, old = self._space_of(run, comparison), self.way_back(run, comparison)
            if own is None or old is None:
                self._desk.toast("There is nothing kept to go back to. Models lists what can be used", action="Models",
                                 run=lambda: self._desk.show_page("models"))
                self.stayed.emit(run)
            elif own.state == "building":
                then(self._desk.commands.remove_space(own.fingerprint), f"{old.name} stays in use")
            else:
                then(self._desk.commands.use_space(old.fingerprint), f"{old.name} is in use again")

        def then(job: JobId, said: str) -> None:
            def on_finished(finished: Finished) -> None:
                if self._desk.report_failure(finished) or finished.outcome is not Outcome.DONE:
                    self.stayed.emit(run)
                    return
                # its model is among the models by now: it is kept, and can be adopted again
                self._desk.start(self._desk.commands.keep_training(run))
                self._desk.toast(f"{said}, {comparison.name} is kept for later")
                self._desk.refresh()
                self.refresh()
                self.undone.emit(run)

            self._desk.bridge.watch(job, on_finished=on_finished)

        self._desk.bridge.watch(self._desk.commands.spaces(), on_finished=on_spaces)

    def way_back(self, run: str, comparison: ComparisonView) -> SpaceView | None:
        """Gives the vectors that search would use if an adoption were taken back now; None where none are kept."""
        own = self._space_of(run, comparison)
        if own is None:
            return None
        if own.state == "building":
            return next((space for space in self._spaces if space.state == "in use"), None)
        kept = [space for space in self._spaces if space.state == "kept" and space.model and is_whole(space)]
        before = [space for space in kept if space.fingerprint == self._before]
        base = [space for space in kept if comparison.base_name in (space.name, space.model)]
        return next(iter((*before, *base, *kept)), None)

    def preparing(self, run: str, comparison: ComparisonView) -> bool:
        """True while the vectors of an adopted model are being prepared."""
        own = self._space_of(run, comparison)
        return own is not None and own.state == "building"

    def _space_of(self, run: str, comparison: ComparisonView) -> SpaceView | None:
        """Gives the vectors of a training's model, while they are in use or being prepared."""
        model = next((one.model for one in self._runs if one.run == run and one.model), comparison.name)
        return next((space for space in self._spaces if model in (space.model, space.name) and
                     space.state in ("in use", "building")), None)

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
