"""What the Duplicates page shows before there are groups, and the bubble that says why a tick was refused."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from sbert_desktop.ui import words
from sbert_desktop.ui.duplicates.column import Looking
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.widgets import Drawing, EmptyState, Label, Panel, announce, name, paint_box

BUBBLE_MS = 2600


class StartStates(Panel):
    """No folders, never looked, looking for the first time, failed. ``lookWanted``, ``addWanted``."""

    lookWanted = Signal()
    addWanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("surface", parent=parent)
        name(self, "duplicates_states", "Duplicates")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        self.stack = QStackedWidget()
        self.stack.setObjectName("duplicates_states_stack")
        column.addWidget(self.stack)
        self.empty = EmptyState("No folders yet", "Add a folder, and files that you have twice can be found in it.",
                                action="Add folder...", icon="folder", object_name="duplicates_empty")
        self.never = EmptyState("Files that you have more than once", "", action="Look for duplicates",
                                icon="duplicates", object_name="duplicates_never")
        self.failed = EmptyState("The duplicates could not be looked for", "", action="Try again", drawing="problem",
                                 object_name="duplicates_failed")
        self.busy = self._build_busy()
        for widget in (self.never, self.empty, self.failed, self.busy):
            self.stack.addWidget(widget)
        self.empty.clicked.connect(self.addWanted)
        self.never.clicked.connect(self.lookWanted)
        self.failed.clicked.connect(self.lookWanted)

    def _build_busy(self) -> QWidget:
        busy = QWidget()
        busy.setObjectName("duplicates_busy")
        column = QVBoxLayout(busy)
        column.setContentsMargins(24, 24, 24, 24)
        column.setSpacing(8)
        column.addStretch(1)
        column.addWidget(Drawing("nothing"), 0, Qt.AlignmentFlag.AlignHCenter)
        title = Label("Looking for duplicates", role="page_title", object_name="duplicates_busy_title")
        title.setAlignment(Qt.AlignmentFlag.AlignCenter)
        column.addSpacing(8)
        column.addWidget(title)
        self.looking = Looking("duplicates_looking")
        self.looking.setFixedWidth(440)
        column.addWidget(self.looking, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addStretch(1)
        return busy

    def show_empty(self) -> None:
        """There is no folder."""
        self.stack.setCurrentWidget(self.empty)

    def show_never(self, documents: int) -> None:
        """Nothing was compared yet."""
        self.never.sentence.setText(
            f"{words.counted(documents, 'document')} can be compared: by their bytes, by their words, and by what they "
            "say. Nothing is moved before you say so.")
        self.stack.setCurrentWidget(self.never)

    def show_looking(self) -> None:
        """It is under way for the first time."""
        self.stack.setCurrentWidget(self.busy)

    def show_failed(self, why: str) -> None:
        """It did not work."""
        self.failed.set_texts("The duplicates could not be looked for", why)
        self.stack.setCurrentWidget(self.failed)

    def is_failed(self) -> bool:
        """True while the failure is shown."""
        return self.stack.currentWidget() is self.failed

    def focus_first(self) -> None:
        """Puts the focus on the one thing that can be done."""
        shown = self.stack.currentWidget()
        button = shown.button if isinstance(shown, EmptyState) else self.looking.cancel
        if button is not None:
            button.setFocus(Qt.FocusReason.OtherFocusReason)


class Bubble(QWidget):
    """A few words beside a box, for a moment; said to screen readers. It takes neither focus nor clicks."""

    def __init__(self, host: QWidget) -> None:
        super().__init__(host)
        name(self, "duplicates_bubble", "")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._text = ""
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(BUBBLE_MS)
        self._timer.timeout.connect(self.hide)
        self.hide()

    def text(self) -> str:
        """Gives the words shown."""
        return self._text

    def show_at(self, text: str, place: QPoint) -> None:
        """Shows words with their left edge at a place of the host."""
        host = self.parentWidget()
        assert host is not None
        self._text = text
        font = theme.font("meta_medium")
        metrics = QFontMetrics(font)
        self.resize(min(metrics.horizontalAdvance(text) + 20, host.width() - 16), theme.height(28, role="meta"))
        x = max(8, min(place.x(), host.width() - self.width() - 8))
        y = max(8, min(place.y() - self.height() // 2, host.height() - self.height() - 8))
        self.move(x, y)
        self.show()
        self.raise_()
        self._timer.start()
        announce(host, text)

    def hideEvent(self, event: object) -> None:
        self._timer.stop()
        super().hideEvent(event)  # type: ignore[arg-type]

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        paint_box(painter, self.rect(), "raised", "warn")
        painter.setFont(theme.font("meta_medium"))
        painter.setPen(theme.color("text"))
        shown = painter.fontMetrics().elidedText(self._text, Qt.TextElideMode.ElideRight, self.width() - 16)
        painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter, shown)
