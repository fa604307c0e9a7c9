"""A sheet over the window: a scrim and one card, a child widget, never a window of its own."""

from __future__ import annotations

from PySide6.QtCore import QEasingCurve, QEvent, QObject, QPropertyAnimation, Qt, QVariantAnimation, Signal
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget
from shiboken6 import isValid

from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.widgets import Card


class Sheet(QWidget):
    """Covers ``host``; the content goes into ``card``. Esc or a click beside it closes it.

    The focus stays inside while it is open and goes back to where it was. ``closed(accepted)`` is
    emitted once per opening.
    """

    closed = Signal(bool)

    def __init__(self, host: QWidget, *, width: int = 480, top: int | None = None) -> None:
        super().__init__(host)
        self._width, self._top = width, top
        self._before: QWidget | None = None
        self._opacity = 1.0
        self.card = Card(parent=self)
        self.column = QVBoxLayout(self.card)
        self.column.setContentsMargins(24, 24, 24, 24)
        self.column.setSpacing(12)
        self._fade = QVariantAnimation(self)
        self._fade.setEasingCurve(QEasingCurve.Type.OutCubic)
        self._fade.valueChanged.connect(self._on_fade)
        host.installEventFilter(self)
        self.hide()

    def open(self) -> None:
        """Shows the sheet and takes the focus."""
        if self.isVisible():
            return
        self._before = QApplication.focusWidget()
        self.place()
        self.show()
        self.raise_()
        if theme.duration(120):
            self._fade.setDuration(theme.duration(120))
            self._fade.setStartValue(0.0)
            self._fade.setEndValue(1.0)
            self._fade.start()
        self.first_focus().setFocus(Qt.FocusReason.OtherFocusReason)

    def first_focus(self) -> QWidget:
        """Gives the widget that gets the focus when the sheet opens."""
        return self.card

    def close_sheet(self, accepted: bool = False) -> None:
        """Closes the sheet and gives the focus back."""
        if not self.isVisible():
            return
        self._fade.stop()
        self._opacity = 1.0
        self.hide()
        before, self._before = self._before, None
        host = self.parentWidget()
        if before is not None and isValid(before) and before.isVisible() and before.isEnabled():
            before.setFocus(Qt.FocusReason.OtherFocusReason)
        elif host is not None:  # it went meanwhile; what is hidden must not keep the focus
            host.setFocus(Qt.FocusReason.OtherFocusReason)
        self.closed.emit(accepted)

    def place(self) -> None:
        """Lays the sheet over the host and centres the card."""
        host = self.parentWidget()
        assert host is not None
        self.setGeometry(host.rect())
        grown = self._width * (100 + max(0, theme.text_scale - 100) // 2) // 100  # large text needs a wider card
        width = min(grown, host.width() - 48)
        self.card.setFixedWidth(width)
        layout = self.card.layout()
        assert layout is not None
        layout.activate()
        height = layout.heightForWidth(width) if layout.hasHeightForWidth() else self.card.sizeHint().height()
        height = min(max(height, self.card.minimumSizeHint().height()), host.height() - 48)
        top = self._top if self._top is not None else max(24, (host.height() - height) // 3)
        self.card.setGeometry((host.width() - width) // 2, min(top, host.height() - height - 24), width, height)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize and self.isVisible() and watched is self.parentWidget():
            self.place()
        return super().eventFilter(watched, event)

    def focusNextPrevChild(self, next_: bool) -> bool:
        # Tab stays inside: walk the window's chain until the next focusable widget of this sheet
        at: QWidget | None = QApplication.focusWidget() or self.card
        start = at
        for _ in range(2000):
            assert at is not None
            at = at.nextInFocusChain() if next_ else at.previousInFocusChain()
            if at is start or at is None:
                break
            if self.isAncestorOf(at) and at.isVisible() and at.isEnabled() \
                    and at.focusPolicy() & Qt.FocusPolicy.TabFocus:
                at.setFocus(Qt.FocusReason.TabFocusReason if next_ else Qt.FocusReason.BacktabFocusReason)
                return True
        return True

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.close_sheet(False)
        else:
            super().keyPressEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if not self.card.geometry().contains(event.position().toPoint()):
            self.close_sheet(False)

    def _on_fade(self, value: float) -> None:
        self._opacity = float(value)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        scrim = QColor(theme.color("scrim"))
        scrim.setAlphaF(scrim.alphaF() * self._opacity)
        QPainter(self).fillRect(self.rect(), scrim)


def slide(widget: QWidget, prop: bytes, start: object, end: object, milliseconds: int) -> QPropertyAnimation:
    """Moves a property from start to end with the theme's curve; at once when less motion is asked for."""
    animation = QPropertyAnimation(widget, prop, widget)
    animation.setDuration(theme.duration(milliseconds))
    animation.setStartValue(start)
    animation.setEndValue(end)
    animation.setEasingCurve(QEasingCurve.Type.OutCubic)
    animation.start(QPropertyAnimation.DeletionPolicy.DeleteWhenStopped)
    return animation
