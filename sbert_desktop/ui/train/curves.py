"""A curve over the steps of a training: axes, a label at its end, a point to walk along, and the same as text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import QEvent, QLineF, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from sbert_desktop.ui import words
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.train.comparing_words import nice_step
from sbert_desktop.ui.widgets import KeyboardFocus, announce, name, paint_box, paint_focus

HEIGHT: Final = 232
TOP: Final = 12
RIGHT: Final = 56
"""Room for the number at the end of the line."""


@dataclass(frozen=True, slots=True)
class Spot:
    """One point: a step and its value."""

    step: int
    value: float


class CurveChart(KeyboardFocus, QWidget):
    """One curve.

    Args:
        object_name: Of the widget.
        title: What it shows, for a screen reader.
        color: Token of the line.
        dots: Points are marked (few measurements); else only the line is drawn.
        best: The highest point is ringed.
        start: A dashed line stands at the height of the first point, with its word: ``before``.
    """

    def __init__(self, object_name: str, title: str, *, color: str = "accent", dots: bool = False, best: bool = False,
                 start: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._title, self._color, self._dots, self._best, self._start = title, color, dots, best, start
        self._spots: tuple[Spot, ...] = ()
        self._of = 0
        self._at: int | None = None  # the point that is looked at
        self._waiting = "The curve begins with the first steps."
        name(self, object_name, title)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        theme.themeChanged.connect(self.updateGeometry)
        self._describe()

    def show_points(self, points: Sequence[tuple[int, float | None]], of: int, waiting: str = "") -> None:
        """Shows points in the order of their steps; values that are none, or no numbers, are left out."""
        self._spots = tuple(Spot(step, value) for step, value in points if value is not None and math.isfinite(value))
        self._of = max(of, self._spots[-1].step if self._spots else 0)
        self._waiting = waiting or self._waiting
        if self._at is not None and self._at >= len(self._spots):
            self._at = None
        self._describe()
        self.update()

    def spots(self) -> tuple[Spot, ...]:
        """Gives what is drawn."""
        return self._spots

    def summary(self) -> str:
        """Gives the curve in words."""
        if not self._spots:
            return self._waiting
        first, last = self._spots[0], self._spots[-1]
        best = max(self._spots, key=lambda spot: spot.value)
        text = f"{last.value:.3f} after {words.counted(last.step, 'step')}"
        if len(self._spots) > 1:
            way = "up from" if last.value > first.value else "down from" if last.value < first.value else "as at first,"
            text += f", {way} {first.value:.3f}"
        if self._best and best is not last:
            text += f"; best {best.value:.3f} after {words.counted(best.step, 'step')}"
        return text

    def _describe(self) -> None:
        self.setAccessibleName(f"{self._title}: {self.summary()}")
        self.setAccessibleDescription("Left and right go along the curve")

    # ---- measures

    def sizeHint(self) -> QSize:
        return QSize(320, theme.height(HEIGHT, role="meta", lines=6, padding=72))

    def minimumSizeHint(self) -> QSize:
        return QSize(200, theme.height(120, role="meta", lines=4, padding=40))

    def _plot(self) -> QRectF:
        left = theme.metrics("meta").horizontalAdvance("0.000") + 10
        right = max(RIGHT, theme.metrics("meta_strong").horizontalAdvance("0.000") + 18)
        bottom = 2 * theme.line("meta", 16) + 10
        return QRectF(left, TOP, max(10, self.width() - left - right), max(10, self.height() - TOP - bottom))

    def _scale(self) -> tuple[float, float, float]:
        """Gives low end, high end and step of the upright axis."""
        values = [spot.value for spot in self._spots]
        low, high = min(values), max(values)
        span = max(high - low, 0.15 * max(abs(high), 0.1))
        step = nice_step(span * 1.1, 4)
        first = math.floor(low / step + 1e-9) * step
        last = math.ceil(high / step - 1e-9) * step
        if last <= first:
            last = first + step
        return first, last, step

    def _place(self, spot: Spot, plot: QRectF, low: float, high: float) -> QPointF:
        return QPointF(plot.x() + plot.width() * spot.step / max(1, self._of),
                       plot.bottom() - plot.height() * (spot.value - low) / (high - low))

    # ---- painting

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        plot = self._plot()
        if not self._spots:
            painter.setPen(QPen(theme.color("muted"), 1))
            painter.drawLine(QLineF(plot.x(), plot.bottom() + 0.5, plot.right(), plot.bottom() + 0.5))
            painter.setFont(theme.font("meta"))
            painter.drawText(plot, Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap, self._waiting)
        else:
            self._paint_curve(painter, plot)
        if self.shows_focus():
            paint_focus(painter, self.rect())

    def _paint_curve(self, painter: QPainter, plot: QRectF) -> None:
        low, high, step = self._scale()
        self._paint_axes(painter, plot, low, high, step)
        places = [self._place(spot, plot, low, high) for spot in self._spots]
        if self._start and len(places) > 1:
            self._paint_start(painter, plot, places[0].y())
        color = theme.color(self._color)
        pen = QPen(color, 2)
        pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
        painter.setPen(pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPolyline(QPolygonF(_thinned(places)))
        if self._dots or len(places) == 1:
            painter.setBrush(color)
            painter.setPen(Qt.PenStyle.NoPen)
            for place in places:
                painter.drawEllipse(place, 3, 3)
        if self._best and len(places) > 1:
            best = max(range(len(places)), key=lambda at: self._spots[at].value)
            painter.setPen(QPen(color, 2))
            painter.setBrush(theme.color("surface"))
            painter.drawEllipse(places[best], 4.5, 4.5)
        self._paint_end(painter, plot, places[-1])
        if self._at is not None:
            self._paint_look(painter, plot, places[self._at])

    def _paint_axes(self, painter: QPainter, plot: QRectF, low: float, high: float, step: float) -> None:
        painter.setFont(theme.numbers_font("meta"))
        digits = max(0, min(4, math.ceil(-math.log10(step) - 1e-9)))
        count = round((high - low) / step)
        tall = theme.line("meta", 16)
        for at in range(count + 1):
            y = plot.bottom() - plot.height() * at / count
            painter.setPen(QPen(theme.color("muted" if not at else "border"), 1))
            painter.drawLine(QLineF(plot.x(), round(y) + 0.5, plot.right(), round(y) + 0.5))
            painter.setPen(theme.color("muted"))
            painter.drawText(QRectF(0, y - tall / 2, plot.x() - 8, tall),
                             Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter,
                             f"{low + at * step:.{digits}f}")
        across = max(1, int(nice_step(max(1, self._of), max(2, int(plot.width() // 90)))))
        painter.setPen(theme.color("muted"))
        metrics = theme.metrics("meta")
        for at in range(0, self._of + 1, across):
            x = plot.x() + plot.width() * at / max(1, self._of)
            painter.drawLine(QLineF(x, plot.bottom(), x, plot.bottom() + 4))
            wide = metrics.horizontalAdvance(words.count(at)) + 4
            painter.drawText(QRectF(x - wide / 2, plot.bottom() + 5, wide, tall), Qt.AlignmentFlag.AlignCenter,
                             words.count(at))
        painter.drawText(QRectF(plot.x(), plot.bottom() + 7 + tall, plot.width(), tall),
                         Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, "step")

    def _paint_start(self, painter: QPainter, plot: QRectF, y: float) -> None:
        pen = QPen(theme.color("muted"), 1, Qt.PenStyle.CustomDashLine)
        pen.setDashPattern([4, 4])
        painter.setPen(pen)
        painter.drawLine(QLineF(plot.x(), y, plot.right(), y))
        painter.setFont(theme.font("meta"))
        painter.setPen(theme.color("muted"))
        tall = theme.line("meta", 16)
        top = y - tall - 2 if y - tall - 2 > plot.y() else y + 2
        painter.drawText(QRectF(plot.x(), top, plot.width() - 4, tall), Qt.AlignmentFlag.AlignRight, self._start)

    def _paint_end(self, painter: QPainter, plot: QRectF, place: QPointF) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.color(self._color))
        painter.drawEllipse(place, 3, 3)
        tall = theme.line("meta_strong", 16)
        painter.setFont(theme.numbers_font("meta_strong"))
        painter.setPen(theme.color("text"))
        room = QRectF(place.x() + 9, min(max(place.y() - tall / 2, 0), plot.bottom() - tall), 120, tall)
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter, f"{self._spots[-1].value:.3f}")

    def _paint_look(self, painter: QPainter, plot: QRectF, place: QPointF) -> None:
        assert self._at is not None
        painter.setPen(QPen(theme.color("muted"), 1))
        painter.drawLine(QLineF(place.x(), plot.y(), place.x(), plot.bottom()))
        painter.setBrush(theme.color(self._color))
        painter.setPen(QPen(theme.color("surface"), 2))
        painter.drawEllipse(place, 5, 5)
        text = self.look_words()
        metrics = theme.metrics("meta_medium")
        wide, tall = metrics.horizontalAdvance(text) + 16, theme.line("meta_medium", 16) + 8
        x = place.x() + 10 if place.x() + 10 + wide < self.width() else place.x() - 10 - wide
        box = QRectF(max(0.0, x), plot.y(), wide, tall).toRect()
        paint_box(painter, box, "raised", "border")
        painter.setFont(theme.numbers_font("meta_medium"))
        painter.setPen(theme.color("text"))
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)

    # ---- looking at one point

    def look_words(self) -> str:
        """Gives the point that is looked at in words, "" without one."""
        if self._at is None:
            return ""
        spot = self._spots[self._at]
        return f"step {words.count(spot.step)}: {spot.value:.3f}"

    def look_at(self, at: int | None) -> None:
        """Looks at one point by its number; None: at none."""
        if at is not None:
            at = min(max(0, at), len(self._spots) - 1) if self._spots else None
        if at != self._at:
            self._at = at
            self.update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        moves = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1, Qt.Key.Key_Home: -10**6, Qt.Key.Key_End: 10**6}
        if event.key() in moves and self._spots:
            start = self._at if self._at is not None else len(self._spots)
            self.look_at(start + moves[Qt.Key(event.key())])
            announce(self, self.look_words())
        elif event.key() == Qt.Key.Key_Escape and self._at is not None:
            self.look_at(None)
        else:
            super().keyPressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        plot = self._plot()
        x = event.position().x()
        if not self._spots or not plot.adjusted(-12, -12, 12, 12).contains(event.position()):
            self.look_at(None)
            return
        step = (x - plot.x()) / plot.width() * max(1, self._of)
        self.look_at(min(range(len(self._spots)), key=lambda at: abs(self._spots[at].step - step)))

    def leaveEvent(self, event: QEvent) -> None:
        self.look_at(None)
        super().leaveEvent(event)


def _thinned(places: list[QPointF]) -> list[QPointF]:
    """Gives at most a few points for each pixel: a long training has thousands, and all are painted each second."""
    if len(places) <= 2000:
        return places
    step = len(places) / 2000
    return [places[int(at * step)] for at in range(2000)] + [places[-1]]
