"""A small panel that opens under a button of the page: a child of it, never a window of its own."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget
from shiboken6 import isValid

from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.widgets import Card, name

GAP = 8


class Popover(Card):
    """What it holds goes into ``column``. Esc, or a click beside it, closes it; the focus then goes back."""

    closed = Signal()

    def __init__(self, host: QWidget, object_name: str, accessible: str, *, width: int = 320) -> None:
        super().__init__(parent=host)
        name(self, object_name, accessible)
        self._host, self._wide = host, width
        self._under: QWidget | None = None
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(16, 12, 16, 16)
        self.column.setSpacing(8)
        self.hide()

    def open_under(self, button: QWidget) -> None:
        """Opens, or closes where it is open."""
        if self.isVisible():
            self.close_popover()
            return
        self._under = button
        self.place()
        self.show()
        self.raise_()
        app = QApplication.instance()
        if app is not None:
            app.installEventFilter(self)
        self.first_focus().setFocus(Qt.FocusReason.OtherFocusReason)

    def first_focus(self) -> QWidget:
        """Gives what gets the focus when it opens."""
        return self

    def place(self) -> None:
        """Lays it under its button, inside of the page."""
        if self._under is None:
            return
        room = self._host.rect().adjusted(GAP, GAP, -GAP, -GAP)
        wide = min(self._wide * max(100, theme.text_scale) // 100, room.width())
        self.setFixedWidth(wide)
        self.column.activate()
        tall = self.column.heightForWidth(wide) if self.column.hasHeightForWidth() else self.sizeHint().height()
        tall = min(max(tall, self.minimumSizeHint().height()), room.height())
        below = self._under.mapTo(self._host, QPoint(0, self._under.height() + GAP))
        x = max(room.left(), min(below.x(), room.right() - wide + 1))
        y = max(room.top(), min(below.y(), room.bottom() - tall + 1))
        self.setGeometry(QRect(x, y, wide, tall))

    def close_popover(self) -> None:
        """Closes and gives the focus back."""
        if not self.isVisible():
            return
        within = self.isAncestorOf(QApplication.focusWidget() or self._host) or self.hasFocus()
        self.hide()
        if within and self._under is not None and isValid(self._under) and self._under.isVisible():
            self._under.setFocus(Qt.FocusReason.OtherFocusReason)
        self.closed.emit()

    def hideEvent(self, event: object) -> None:
        app = QApplication.instance()
        if app is not None:
            app.removeEventFilter(self)
        super().hideEvent(event)  # type: ignore[arg-type]

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.close_popover()
        else:
            super().keyPressEvent(event)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Closes it when something else is pressed; its own button closes it by itself."""
        if event.type() == QEvent.Type.MouseButtonPress and isinstance(watched, QWidget) \
                and isinstance(event, QMouseEvent) and watched.window() is self.window():
            inside = watched is self or self.isAncestorOf(watched)
            if not inside and watched is not self._under:
                self.close_popover()
        return super().eventFilter(watched, event)
