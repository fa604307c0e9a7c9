"""Text that is never parsed as rich text."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QFontMetrics, QResizeEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.widgets.painting import plain_tip


class Label(QLabel):
    """Plain text in a role of the theme and a tone; never parsed as rich text."""

    def __init__(self, text: str = "", *, role: str = "body", tone: str = "", wrap: bool = False,
                 object_name: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setText(text)
        self.setWordWrap(wrap)
        theme.set_role(self, role)
        if tone:
            theme.set_tone(self, tone)
        if object_name:
            self.setObjectName(object_name)


class ElidedLabel(Label):
    """One line that is shortened to the room it has; the whole text stands in the tooltip.

    Use ``Qt.TextElideMode.ElideMiddle`` for paths, ``ElideRight`` (the default) for titles.
    """

    def __init__(self, text: str = "", *, mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight, role: str = "body",
                 tone: str = "", object_name: str = "", parent: QWidget | None = None) -> None:
        super().__init__("", role=role, tone=tone, object_name=object_name, parent=parent)
        self._mode = mode
        self._full = self._tail = ""
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.set_full_text(text)

    def full_text(self) -> str:
        """Gives the text as it was set."""
        return self._full

    def set_full_text(self, text: str, tail: str = "") -> None:
        """Shows a text, shortened where it must be; ``tail`` stands behind it and is shortened last."""
        self._full, self._tail = text + tail, tail
        self.setToolTip(plain_tip(self._full))
        self.setAccessibleName(self._full)
        self.updateGeometry()
        self._elide()

    def sizeHint(self) -> QSize:
        metrics = QFontMetrics(self.font())
        return QSize(metrics.horizontalAdvance(self._full) + 2, metrics.height())

    def minimumSizeHint(self) -> QSize:
        return QSize(24, QFontMetrics(self.font()).height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._elide()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and hasattr(self, "_full"):
            self._elide()

    def _elide(self) -> None:
        metrics, width, tail = QFontMetrics(self.font()), max(0, self.width()), self._tail
        room = width - metrics.horizontalAdvance(tail)
        if tail and room < metrics.horizontalAdvance("…" * 4):
            tail, room = "", width
        head = self._full[: len(self._full) - len(tail)]
        super().setText(metrics.elidedText(head, self._mode, room) + tail)
