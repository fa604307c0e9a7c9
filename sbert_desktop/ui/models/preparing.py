"""The strip that tells that the library is prepared anew for another model, while the old one answers."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from sbert_desktop.app.training_views import SpaceView
from sbert_desktop.app.views import IndexProgress
from sbert_desktop.ui import words
from sbert_desktop.ui.widgets import Button, Card, Label, ProgressBar, announce, name


class Preparing(QWidget):
    """Shown while a space is built: which model, how far, what answers until then; ``cancelAsked(fingerprint)``."""

    cancelAsked = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("models_preparing")
        self._space: SpaceView | None = None
        outer = QVBoxLayout(self)
        outer.setContentsMargins(16, 12, 16, 12)
        self.card = Card()
        name(self.card, "models_preparing_card", "Preparing the library for another model")
        row = QHBoxLayout(self.card)
        row.setContentsMargins(12, 8, 8, 8)
        row.setSpacing(12)
        self.label = Label("", wrap=True, object_name="models_preparing_text")
        self.bar = ProgressBar(object_name="models_preparing_bar", accessible="Preparing the library")
        self.bar.setFixedWidth(120)
        self.cancel = Button("Cancel", size="small", object_name="models_preparing_cancel",
                             tip="The model in use stays; what was prepared is given up")
        row.addWidget(self.label, 1)
        row.addWidget(self.bar, 0, Qt.AlignmentFlag.AlignVCenter)
        row.addWidget(self.cancel, 0, Qt.AlignmentFlag.AlignVCenter)
        outer.addWidget(self.card)
        self.cancel.clicked.connect(self._on_cancel)
        self.hide()

    def show_spaces(self, spaces: Sequence[SpaceView], progress: IndexProgress | None, *, may_cancel: bool) -> None:
        """Shows the space that is built, or nothing; ``progress`` is that of the run under way."""
        before, self._space = self._space, next((space for space in spaces if space.state == "building"), None)
        space = self._space
        self.setVisible(space is not None)
        if space is None:
            return
        serving = next((other for other in spaces if other.state == "in use"), None)
        left = words.left(progress.seconds_left) if progress is not None and not progress.paused else ""
        far = f": {words.count(space.passages)} of {words.counted(space.of, 'passage')}" if space.of else ""
        until = f" {serving.name} answers until then." if serving is not None else " Words answer until then."
        if progress is not None and progress.paused:
            left = "paused"
        self.label.setText(f"Your library is prepared for {space.name}{far}{f', {left}' if left else ''}.{until}")
        self.bar.set_fraction(space.passages / space.of if space.of else None)
        self.bar.set_paused(progress is not None and progress.paused)
        self.cancel.setVisible(may_cancel)
        if before is None or before.fingerprint != space.fingerprint:
            announce(self, self.label.text())

    def _on_cancel(self) -> None:
        if self._space is not None:
            self.cancelAsked.emit(self._space.fingerprint)
