"""Bars with a name above, a figure at the right and a line below: the ways to use a model, beside each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import QEvent, QPoint, QRect, QSize, Qt
from PySide6.QtGui import QHelpEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.widgets import name, plain_tip

WIDTH: Final = 296
FIGURE: Final = 44  # what the figure takes at the right, at least
BAR: Final = 12


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar. ``share``: 0-1, how long; ``strong``: the one in use; ``tail`` stands muted behind the name.

    ``tip``: all that is known of it, shown while the pointer is over it.
    """

    title: str
    share: float | None
    figure: str
    below: str = ""
    tail: str = ""
    strong: bool = False
    tip: str = ""


class Bars(QWidget):
    """The bars, in the order given; as text to a screen reader. A bar without a share has its figure only."""

    def __init__(self, object_name: str, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        name(self, object_name, title)
        self._bars: tuple[Bar, ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        theme.themeChanged.connect(self.updateGeometry)

    def bars(self) -> tuple[Bar, ...]:
        """Gives what is shown."""
        return self._bars

    def set_bars(self, title: str, bars: Sequence[Bar]) -> None:
        """Shows other bars."""
        self._bars = tuple(bars)
        self.setAccessibleName(title)
        self.setAccessibleDescription("; ".join(
            ", ".join(part for part in (f"{bar.title} {bar.tail}".strip(), bar.figure, bar.below) if part)
            for bar in self._bars))
        self.updateGeometry()
        self.update()

    def _heights(self) -> tuple[int, int, int]:
        return theme.line("meta", 16), 16, 14  # a line of text, the bar with air around it, air below

    def sizeHint(self) -> QSize:
        line, bar, air = self._heights()
        high = sum(line + bar + air + (line if row.below else 0) for row in self._bars)
        return QSize(WIDTH, max(0, high - air))

    def minimumSizeHint(self) -> QSize:
        return QSize(200, self.sizeHint().height())

    def _bar_at(self, y: float) -> Bar | None:
        line, high, air = self._heights()
        foot = 0
        for bar in self._bars:
            foot += line + high + air + (line if bar.below else 0)
            if y < foot:
                return bar
        return None

    def event(self, event: QEvent) -> bool:
        """Tells all that is known of the bar under the pointer."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            bar = self._bar_at(event.pos().y())
            QToolTip.showText(event.globalPos(), plain_tip(bar.tip if bar is not None else ""), self)
            return True
        return super().event(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        line, bar_high, air = self._heights()
        painter.setFont(theme.numbers_font("meta_strong"))
        figure = max([FIGURE, *(painter.fontMetrics().horizontalAdvance(bar.figure) + 12 for bar in self._bars)])
        y = 0
        for bar in self._bars:
            self._paint_head(painter, QRect(0, y, self.width() - figure, line), bar)
            place = QRect(QPoint(0, y + line + 2), QSize(self.width() - figure, BAR))
            painter.setPen(Qt.PenStyle.NoPen)
            if bar.share is not None:
                painter.setBrush(theme.color("track"))
                painter.drawRoundedRect(place, 2, 2)
                painter.setBrush(theme.color("accent" if bar.strong else "muted"))
                full = QRect(place.topLeft(), QSize(round(place.width() * min(1.0, max(0.0, bar.share))), BAR))
                if full.width():
                    painter.drawRoundedRect(full, 2, 2)
            painter.setFont(theme.numbers_font("meta_strong"))
            painter.setPen(theme.color("text" if bar.share is not None else "muted"))
            painter.drawText(QRect(self.width() - figure, place.y() - line // 2, figure, BAR + line),
                             int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter), bar.figure)
            y += line + bar_high
            if bar.below:
                painter.setFont(theme.font("meta"))
                painter.setPen(theme.color("muted"))
                text = painter.fontMetrics().elidedText(bar.below, Qt.TextElideMode.ElideRight, self.width())
                painter.drawText(QRect(0, y, self.width(), line), int(Qt.AlignmentFlag.AlignVCenter), text)
                y += line
            y += air

    def _paint_head(self, painter: QPainter, place: QRect, bar: Bar) -> None:
        painter.setFont(theme.font("meta_strong" if bar.strong else "meta"))
        metrics = painter.fontMetrics()
        room = place.width() - (metrics.horizontalAdvance(f" {bar.tail}") if bar.tail else 0)
        title = metrics.elidedText(bar.title, Qt.TextElideMode.ElideMiddle, room)
        painter.setPen(theme.color("text"))
        painter.drawText(place, int(Qt.AlignmentFlag.AlignVCenter), title)
        if bar.tail:
            place = place.adjusted(metrics.horizontalAdvance(f"{title} "), 0, 0, 0)
            painter.setFont(theme.font("meta"))
            painter.setPen(theme.color("muted"))
            painter.drawText(place, int(Qt.AlignmentFlag.AlignVCenter), bar.tail)
