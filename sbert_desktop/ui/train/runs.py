"""Earlier trainings: what they are, how much they gained, and what can be done with each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QApplication, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from sbert_desktop.app.training_views import RunView
from sbert_desktop.ui import words
from sbert_desktop.ui.train.comparing_words import by_what_decides, clear, counted, interval, metric_words
from sbert_desktop.ui.widgets import Button, ElidedLabel, FlowLayout, IconButton, Label, Line, Tag, announce, name

STATES: Final = {
    "interrupted": ("Not finished", "warn", "pause"), "trained": ("To be decided", "accent", ""),
    "adopted": ("Adopted", "good", "check"), "kept": ("Kept for later", "neutral", ""),
    "running": ("Under way", "accent", ""), "discarded": ("Discarded", "neutral", ""),
}  # fmt: skip


def gain_words(run: RunView) -> str:
    """Gives what a training brought: ``13 of 100 more right: 6 to 20 better``, or why nothing is known."""
    view = run.comparison
    if run.state == "interrupted":
        if not run.of or not run.step:
            return "Stopped before the first step"
        return f"Stopped after step {words.count(run.step)} of {words.count(run.of)}"
    if run.state == "running":
        return f"At step {words.count(run.step)} of {words.count(run.of)}" if run.of else "Getting ready"
    if view is None:
        return "Not compared"
    if not view.measured:
        return "Cannot measure whether it is better"
    view = by_what_decides(view)
    if not clear(view):
        return f"Not clearly better: {interval(view)}"
    return interval(view) if counted(view) else f"{interval(view)} by {metric_words(view.metric)}"


def run_label(run: RunView) -> str:
    """Gives the name of a training, that of its model once it has one: two of the same name are told apart."""
    return run.model or (run.comparison.name if run.comparison is not None else "") or run.name or "A training"


class RunRow(QWidget):
    """One training, with its buttons."""

    resumeWanted = Signal(object)
    compareWanted = Signal(object)
    adoptWanted = Signal(object)
    backWanted = Signal(object)
    discardWanted = Signal(object)

    def __init__(self, run: RunView, at: int, *, busy: bool, back: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.run = run
        label = run_label(run)
        state, tone, icon = STATES.get(run.state, (run.state, "neutral", ""))
        name(self, f"train_run_{at}", f"{label}: {state}. {gain_words(run)}")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 8, 0, 8)
        row.setSpacing(12)
        texts = QVBoxLayout()
        texts.setSpacing(2)
        top = QHBoxLayout()
        top.setSpacing(8)
        title = ElidedLabel(label, role="medium", object_name=f"train_run_{at}_name")
        title.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        top.addWidget(title)
        top.addWidget(Tag(state, tone, icon=icon, object_name=f"train_run_{at}_state"))
        top.addStretch(1)
        texts.addLayout(top)
        texts.addWidget(ElidedLabel(f"{gain_words(run)}, {words.ago(run.made)}" if run.made else gain_words(run),
                                    role="meta", tone="muted", object_name=f"train_run_{at}_facts"))
        row.addLayout(texts, 1)
        self.resume = Button("Continue", size="small", icon="play", object_name=f"train_run_{at}_resume",
                             accessible=f"Continue training {label}", tip="Trains on from where it stopped")
        self.compare = Button("Compare", size="small", object_name=f"train_run_{at}_compare",
                              accessible=f"Compare {label}", tip="Shows what it would change")
        self.adopt = Button("Adopt", size="small", object_name=f"train_run_{at}_adopt", accessible=f"Adopt {label}",
                            tip="Puts it to use; its vectors are prepared in the background")
        self.back = Button("Go back", size="small", icon="undo", object_name=f"train_run_{at}_back",
                           accessible=f"Go back from {label} to {back}",
                           tip=f"Searches answer by {back}, as before {label} was adopted")
        adopted = run.state == "adopted"
        self.discard = IconButton("trash", f"Remove {label} from this list; its model stays" if adopted else
                                  f"Discard {label}", object_name=f"train_run_{at}_discard", size=24,
                                  icon_size=16)
        view = run.comparison
        self.resume.setVisible(run.state == "interrupted")
        self.resume.setEnabled(not busy)
        self.compare.setVisible(view is not None)
        self.adopt.setVisible(view is not None and run.state in ("trained", "kept") and not view.refusal)
        self.back.setVisible(adopted and bool(back))
        self.discard.setVisible(run.state != "running")
        self.discard.setEnabled(not (busy and run.state == "interrupted"))
        for button, signal in ((self.resume, self.resumeWanted), (self.compare, self.compareWanted),
                               (self.adopt, self.adoptWanted), (self.back, self.backWanted),
                               (self.discard, self.discardWanted)):
            button.clicked.connect(lambda _=False, signal=signal: signal.emit(self.run))
            row.addWidget(button, 0, Qt.AlignmentFlag.AlignVCenter)


class RunsList(QWidget):
    """All of them, newest first. ``resumeWanted(RunView)`` and so on; empty without any."""

    resumeWanted = Signal(object)
    compareWanted = Signal(object)
    adoptWanted = Signal(object)
    backWanted = Signal(object)
    discardWanted = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        name(self, "train_runs", "Earlier trainings")
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(0)
        self._column.addWidget(Label("Earlier trainings", role="section", object_name="train_runs_title"))
        self._column.addSpacing(4)
        self._rows = QVBoxLayout()
        self._rows.setSpacing(0)
        self._column.addLayout(self._rows)
        self.rows: tuple[RunRow, ...] = ()
        self._shown: tuple[object, ...] = ()
        self.hide()

    def show_runs(self, runs: Sequence[RunView], *, busy: bool, backs: Mapping[str, str] | None = None) -> None:
        """Shows trainings; none can be gone on with while another one runs (``busy``).

        ``backs``: the model that can be gone back to from one that is in use, by its run.
        """
        backs = backs or {}
        wanted = (tuple(runs), busy, tuple(sorted(backs.items())))
        if wanted == self._shown:
            return
        self._shown = wanted
        focus = QApplication.focusWidget()
        focused = next((at for at, row in enumerate(self.rows) if focus is not None and row.isAncestorOf(focus)), -1)
        while self._rows.count():
            item = self._rows.takeAt(0)
            widget = item.widget() if item is not None else None
            if widget is not None:
                widget.hide()
                widget.setParent(None)
                widget.deleteLater()
        self.rows = tuple(RunRow(run, at, busy=busy, back=backs.get(run.run, ""), parent=self)
                          for at, run in enumerate(runs))
        for row in self.rows:
            self._rows.addWidget(row)
            row.show()
            self._rows.addWidget(Line())
            row.resumeWanted.connect(self.resumeWanted)
            row.compareWanted.connect(self.compareWanted)
            row.adoptWanted.connect(self.adoptWanted)
            row.backWanted.connect(self.backWanted)
            row.discardWanted.connect(self.discardWanted)
        self.setVisible(bool(self.rows))
        if focused >= 0 and self.rows:  # the row that had the focus may have gone
            self.rows[min(focused, len(self.rows) - 1)].discard.setFocus(Qt.FocusReason.OtherFocusReason)


class ResumeOffer(QWidget):
    """An unfinished training that can be gone on with: a strip with two buttons, for the newest of them."""

    resumeWanted = Signal(object)
    discardWanted = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        name(self, "train_resume_offer", "A training was not finished")
        self._run: RunView | None = None
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        self.title = Label("", role="page_title", wrap=True, object_name="train_resume_title")
        self.sentence = Label("", tone="muted", wrap=True, object_name="train_resume_sentence")
        self.resume = Button("Continue training", kind="primary", size="large", icon="play", object_name="train_resume")
        self.discard = Button("Discard", size="large", icon="trash", object_name="train_resume_discard")
        self.buttons = QWidget()
        flow = FlowLayout(self.buttons, gap=8)
        flow.addWidget(self.resume)
        flow.addWidget(self.discard)
        column.addWidget(self.title)
        column.addWidget(self.sentence)
        column.addSpacing(4)
        column.addWidget(self.buttons)
        self.resume.clicked.connect(lambda: self.resumeWanted.emit(self._run))
        self.discard.clicked.connect(lambda: self.discardWanted.emit(self._run))
        self.hide()

    def run(self) -> RunView | None:
        """Gives the training that is offered."""
        return self._run

    def show_run(self, run: RunView | None) -> None:
        """Offers a training; None: none."""
        new = run is not None and run != self._run
        self._run = run
        self.setVisible(run is not None)
        if run is None:
            return
        label = run.name or "A training"
        self.title.setText(f"{label} is not finished")
        self.sentence.setText(
            f"It stopped after step {words.count(run.step)} of {words.count(run.of)}. What was learned is kept, and "
            "training goes on from there." if run.step and run.of else
            "It stopped before anything of it was stored. Training begins from its first step.")
        if new:
            announce(self.title, f"{self.title.text()}. {self.sentence.text()}")

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.buttons.updateGeometry()
