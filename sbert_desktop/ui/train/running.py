"""The step in which a model is trained: live curves, pause, cancel, and runs that can be gone on with."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from sbert_desktop.app.training_views import Plan
from sbert_desktop.ui.page import Action, Desk
from sbert_desktop.ui.widgets import Label


class RunningStep(QWidget):
    """Trains a plan and shows how it goes.

    ``back``: the person wants to go to the step before. ``finished(ComparisonView)``: a training ended, or the person
    opened the comparison of an older one: the page goes to the comparison. ``runningChanged(bool)``: a training began
    or ended.
    """

    back = Signal()
    finished = Signal(object)
    runningChanged = Signal(bool)

    def __init__(self, desk: Desk, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.desk = desk
        self.setObjectName("train_running")
        column = QVBoxLayout(self)
        column.addWidget(Label("Train", role="section"))
        column.addStretch(1)

    def start(self, plan: Plan) -> None:
        """Trains."""
        self.desk.commands.train(plan)

    def running(self) -> bool:
        """True while a training goes on."""
        return False

    def activate(self) -> None:
        """Called each time the step comes to the front."""

    def focus_first(self) -> None:
        """Puts the focus where work on this step begins."""
        self.setFocus()

    def actions_list(self) -> Sequence[Action]:
        """Gives the step's commands for the palette."""
        return ()

    def head_widgets(self) -> Sequence[QWidget]:
        """Gives buttons that stand at the right of the page's head while this step is in front."""
        return ()
