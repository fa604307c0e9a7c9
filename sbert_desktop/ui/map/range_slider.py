"""A range of dates: how many documents there are of each time, and two handles."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from sbert_desktop.ui import words
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.widgets import KeyboardFocus, announce, name, paint_focus

BARS = 48
HANDLE = 14
STEPS = 100


class RangeSlider(KeyboardFocus, QWidget):
    """Two handles from 0 to 1 over a histogram. The arrows move one, Space changes to the other.

    ``changed(low, high)`` while it is moved.
    """

    changed = Signal(float, float)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        name(self, "map_dates", "Range of dates", "The arrow keys move an end, Space changes to the other end")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.low, self.high = 0.0, 1.0
        self._first = self._last = 0.0
        self._bars: NDArray[np.float64] = np.zeros(BARS)
        self._upper = False  # which end the keys move
        self.setMinimumWidth(120)

    def set_dates(self, dates: NDArray[np.float64], weights: NDArray[np.int32], first: float, last: float) -> None:
        """Shows how many there are of each time between two moments in seconds."""
        self._first, self._last = first, last
        known = ~np.isnan(dates)
        at = ((dates[known] - first) * (BARS / max(last - first, 1.0))).astype(np.int64)
        inside = (at >= 0) & (at <= BARS)
        counts = np.bincount(np.minimum(at[inside], BARS - 1), weights[known][inside], BARS)
        self._bars = np.sqrt(counts / max(1.0, float(counts.max()))) if counts.any() else np.zeros(BARS)
        self.update()

    def set_range(self, low: float, high: float) -> None:
        """Shows a range; sends nothing."""
        self.low, self.high = max(0.0, min(low, 1.0)), min(1.0, max(high, 0.0))
        self._describe()
        self.update()

    def _describe(self) -> None:
        span = self._last - self._first
        self.setAccessibleName(f"From {words.day(self._first + self.low * span)} "
                               f"to {words.day(self._first + self.high * span)}")

    def sizeHint(self) -> QSize:
        return QSize(240, 72)

    minimumSizeHint = sizeHint

    def _x(self, share: float) -> float:
        return HANDLE / 2 + share * (self.width() - HANDLE)

    def _share(self, x: float) -> float:
        return min(1.0, max(0.0, (x - HANDLE / 2) / max(1, self.width() - HANDLE)))

    def _move(self, share: float) -> None:
        if self._upper:
            self.high = max(share, self.low)
        else:
            self.low = min(share, self.high)
        self._describe()
        self.update()
        self.changed.emit(self.low, self.high)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        share = self._share(event.position().x())
        near_low, near_high = abs(share - self.low), abs(share - self.high)
        self._upper = near_high < near_low or (near_high == near_low and share > self.high)
        self._move(share)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if event.buttons() & Qt.MouseButton.LeftButton:
            self._move(self._share(event.position().x()))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        steps = {Qt.Key.Key_Left: -1, Qt.Key.Key_Down: -1, Qt.Key.Key_Right: 1, Qt.Key.Key_Up: 1,
                 Qt.Key.Key_PageDown: -10, Qt.Key.Key_PageUp: 10, Qt.Key.Key_Home: -STEPS, Qt.Key.Key_End: STEPS}
        key = Qt.Key(event.key())
        if key == Qt.Key.Key_Space:
            self._upper = not self._upper
            announce(self, "End of the range" if self._upper else "Beginning of the range")
            self.update()
        elif key in steps:
            now = self.high if self._upper else self.low
            self._move(min(1.0, max(0.0, now + steps[key] / STEPS)))
            announce(self, self.accessibleName())
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        base = self.height() - HANDLE - 2
        wide = (self.width() - HANDLE) / BARS
        painter.setPen(Qt.PenStyle.NoPen)
        for at, share in enumerate(self._bars):
            inside = self.low <= (at + 1) / BARS and at / BARS <= self.high
            painter.setBrush(theme.color("accent" if inside else "track"))
            tall = math.ceil(share * (base - 4))
            painter.drawRect(QRectF(HANDLE / 2 + at * wide, base - tall, max(1.0, wide - 1), tall))
        middle = self.height() - HANDLE // 2 - 1
        painter.setBrush(theme.color("track"))
        painter.drawRoundedRect(QRectF(HANDLE / 2, middle - 2, self.width() - HANDLE, 4), 2, 2)
        painter.setBrush(theme.color("accent"))
        painter.drawRect(QRectF(self._x(self.low), middle - 2, self._x(self.high) - self._x(self.low), 4))
        for upper, share in ((False, self.low), (True, self.high)):
            spot = QRectF(self._x(share) - 6, middle - 6, 12, 12)
            painter.setPen(QPen(theme.color("accent"), 2))
            painter.setBrush(theme.color("accent" if self.shows_focus() and upper == self._upper else "raised"))
            painter.drawEllipse(spot)
        if self.shows_focus():
            paint_focus(painter, QRect(0, 0, self.width(), self.height()))
