"""What lies under the toolbar for a while: how far the layout is, a sentence with Redraw, the search that is lit."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from sbert_desktop.domain import Progress
from sbert_desktop.ui import words
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.widgets import (
    Button,
    Card,
    Chip,
    IconButton,
    Label,
    ProgressBar,
    announce,
    name,
    paint_box,
)

CANCEL_LATE = "Stopping..."


class ProgressStrip(Card):
    """A thin bar, the step in words, and Cancel. ``cancelWanted``."""

    cancelWanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        name(self, "map_progress", "Laying out the map")
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 6, 8, 8)
        column.setSpacing(6)
        row = QHBoxLayout()
        row.setSpacing(12)
        self.label = Label("", role="meta", object_name="map_progress_phase")
        self.cancel = Button("Cancel", size="small", object_name="map_progress_cancel", tip="Stop laying out the map")
        row.addWidget(self.label, 1)
        row.addWidget(self.cancel)
        column.addLayout(row)
        self.bar = ProgressBar(object_name="map_progress_bar", accessible="Laying out the map")
        column.addWidget(self.bar)
        self._phase = ""
        self.cancel.clicked.connect(self._on_cancel)
        self.hide()

    def begin(self, text: str) -> None:
        """Shows that it begins."""
        self._phase = ""
        self.label.setText(text)
        self.bar.set_fraction(None)
        self.cancel.setEnabled(True)
        self.fit()
        self.show()
        self.raise_()

    def show_progress(self, progress: Progress) -> None:
        """Shows a step."""
        total = progress.total or 0
        shown = f"{progress.phase}, {words.count(progress.done)} of {words.count(total)}" if total else progress.phase
        self.label.setText(shown)
        self.bar.set_fraction(progress.done / total if total else None)
        self.fit()
        if progress.phase != self._phase:
            self._phase = progress.phase
            announce(self, progress.phase)

    def fit(self) -> None:
        """Gives it its width; it grows with the text and does not tremble with each number."""
        self.setFixedWidth(min(360 * max(100, theme.text_scale) // 100, 640))
        self.adjustSize()

    def _on_cancel(self) -> None:
        self.label.setText(CANCEL_LATE)
        self.cancel.setEnabled(False)
        self.cancelWanted.emit()


class NoteStrip(QFrame):
    """A sentence about the map, with Redraw where that helps; it can be put away. ``redrawWanted``, ``resized``."""

    redrawWanted = Signal()
    resized = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        name(self, "map_note", "About this map")
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 6, 6, 6)
        row.setSpacing(12)
        self.label = Label("", role="meta", wrap=True, object_name="map_note_text")
        self.label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.redraw = Button("Redraw", size="small", object_name="map_note_redraw", tip="Lay the map out anew")
        self.close_button = IconButton("close", "Put this away", object_name="map_note_close", size=24, icon_size=16)
        row.addWidget(self.label, 1)
        row.addWidget(self.redraw)
        row.addWidget(self.close_button)
        self._put_away = ""
        self._room = 420
        self.redraw.clicked.connect(self.redrawWanted)
        self.close_button.clicked.connect(self._on_close)
        self.hide()

    def show_text(self, text: str, *, redraw: bool) -> None:
        """Shows a sentence, or nothing; one that was put away does not come back."""
        shown = bool(text) and text != self._put_away
        if shown and (text != self.label.text() or self.isHidden()):
            announce(self, text)
        self.label.setText(text)
        self.redraw.setVisible(redraw)
        self.setVisible(shown)
        self.fit(self._room)

    def fit(self, room: int) -> None:
        """Gives it a width in the page."""
        self._room = room
        margins = 18 + 12 + 24 + (self.redraw.sizeHint().width() + 12 if not self.redraw.isHidden() else 0)
        one_line = self.label.fontMetrics().horizontalAdvance(self.label.text()) + 4
        wide = max(160, min(room, one_line + margins, 620))
        self.setFixedWidth(wide)
        words_tall = max(self.label.heightForWidth(max(60, wide - margins)), self.label.fontMetrics().height())
        self.setFixedHeight(max(words_tall, self.redraw.sizeHint().height(), 24) + 12)

    def _on_close(self) -> None:
        self._put_away = self.label.text()
        self.hide()
        self.resized.emit()

    def paintEvent(self, event: QPaintEvent) -> None:
        paint_box(QPainter(self), self.rect(), "warn_soft" if not self.redraw.isHidden() else "raised", "border")


class SearchChip(Chip):
    """Names the search whose results are lit; its x puts them out again."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Search", object_name="map_search_chip", parent=parent)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.hide()
