"""The step in which the tuned model is compared with the one in use, and adopted, kept or discarded."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from sbert_desktop.app.training_views import ComparisonView
from sbert_desktop.ui.page import Action, Desk
from sbert_desktop.ui.widgets import Label


class ComparingStep(QWidget):
    """Shows a comparison.

    ``back``: the person wants to go to the step before. ``adopted``: the tuned model is being put to use, or was kept.
    ``discarded``: it was removed.
    """

    back = Signal()
    adopted = Signal()
    discarded = Signal()

    def __init__(self, desk: Desk, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.desk = desk
        self.setObjectName("train_comparing")
        column = QVBoxLayout(self)
        column.addWidget(Label("Compare", role="section"))
        column.addStretch(1)

    def show_comparison(self, comparison: ComparisonView) -> None:
        """Shows a comparison."""

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
