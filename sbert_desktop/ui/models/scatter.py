"""Quality over speed: one disc for each model, with what its quality surely lies between."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetricsF,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QPen,
)
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from sbert_desktop.app.training_views import LabRow
from sbert_desktop.ui.models.words import is_correlation, row_words
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.widgets import KeyboardFocus, announce, name, plain_tip

WIDTH: Final = 384
HEIGHT: Final = 352
APART: Final = 10  # pixels between models of equal speed
DISC: Final = 10
LABEL: Final = 116  # the widest name


@dataclass(frozen=True, slots=True)
class Point:
    """One model. ``mark``: what stands below its name, ``in use`` or ``tuned``; ``hollow``: it was tuned."""

    row: LabRow
    mark: str = ""
    hollow: bool = False

    @property
    def accent(self) -> bool:
        """True for one that stands out."""
        return bool(self.mark)


class Scatter(KeyboardFocus, QWidget):
    """A plot of 384 x 352, larger with larger text. ``chosen(model)`` by click or Enter; arrows go along."""

    chosen = Signal(str)

    def __init__(self, object_name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        name(self, object_name, "Quality and speed")
        self._points: tuple[Point, ...] = ()
        self._places: tuple[QPointF, ...] = ()
        self._at = -1
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        theme.themeChanged.connect(self.updateGeometry)

    # ---- what is shown

    def set_points(self, points: Sequence[Point]) -> None:
        """Shows models, those without speed or quality left out; the order on the axis is that of speed."""
        drawn = [point for point in points if point.row.speed and point.row.quality is not None]
        self._points = tuple(sorted(drawn, key=lambda point: point.row.speed or 0.0))
        self._at = min(self._at, len(self._points) - 1)
        said = ". ".join(_said(point) for point in self._points)
        self.setAccessibleDescription(said or "No model was measured yet")
        self.update()

    def points(self) -> tuple[Point, ...]:
        """Gives what is drawn, from the slowest to the quickest."""
        return self._points

    def current(self) -> Point | None:
        """Gives the point that the keys are at."""
        return self._points[self._at] if 0 <= self._at < len(self._points) else None

    # ---- measures

    def _grow(self) -> float:
        return max(1.0, theme.line("meta") / 15)

    def sizeHint(self) -> QSize:
        grow = min(1.6, self._grow())
        return QSize(round(WIDTH * grow), round(HEIGHT * grow))

    def minimumSizeHint(self) -> QSize:
        return QSize(240, self.sizeHint().height())

    def _area(self) -> QRectF:
        grow = self._grow()
        return QRectF(36 * grow, 8 * grow, self.width() - 36 * grow - 8, self.height() - 52 * grow)

    def _scale(self) -> float:
        return 1.0 if self._points and is_correlation(self._points[0].row.metric) else 100.0

    def _range_y(self) -> tuple[float, float, float]:
        """Gives lowest, highest and step of the upright axis."""
        scale = self._scale()
        values = [value * scale for point in self._points
                  for value in (point.row.quality, point.row.low, point.row.high) if value is not None]
        low, high = (min(values), max(values)) if values else (0.0, scale)
        room = max(0.0, 0.1 * scale - (high - low))  # else a hair's breadth would look like a gap
        low, high = low - room / 2, high + room / 2
        pad = max((high - low) * 0.08, scale * 0.02)
        step = _nice((high - low + 2 * pad) / 4)
        bottom = max(math.floor((low - pad) / step * 2) / 2 * step, -scale if scale == 1 else 0.0)
        top = min(max(math.ceil((high + pad) / step * 2) / 2 * step, bottom + step), scale)
        return bottom, top, step

    def _range_x(self, wide: float) -> tuple[float, float]:
        """Gives the ends of the log axis so that the name of the quickest has room beside its disc."""
        speeds = [point.row.speed for point in self._points if point.row.speed]
        low, high = (min(speeds), max(speeds)) if speeds else (50.0, 400.0)
        low, high = low / 1.25, max(high, low * 1.6)
        label = QFontMetricsF(theme.font("meta_strong"))
        names = [label.horizontalAdvance(point.row.model) for point in self._points[-2:]]
        room = min(max(names, default=0.0), LABEL * self._grow()) + 12
        share = max(0.5, (wide - room) / wide) if wide > 0 else 0.75
        return low, low * (high / low) ** (1 / share)

    def _places_of(self, area: QRectF) -> tuple[QPointF, ...]:
        """Gives where each disc lies; models of equal speed stand beside each other."""
        bottom, top, _ = self._range_y()
        left, right = (math.log(value) for value in self._range_x(area.width()))
        out: list[QPointF] = []
        before = -math.inf
        for point in self._points:
            share = (math.log(point.row.speed or 1.0) - left) / (right - left)
            x = max(area.left() + share * area.width(), before + APART)
            before = x
            out.append(QPointF(x, self._y(point.row.quality or 0.0, area, bottom, top)))
        return tuple(out)

    def _y(self, value: float, area: QRectF, bottom: float, top: float) -> float:
        share = (value * self._scale() - bottom) / (top - bottom)
        return area.bottom() - min(1.0, max(0.0, share)) * area.height()

    # ---- painting

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        area = self._area()
        self._paint_axes(painter, area)
        self._places = self._places_of(area)
        bottom, top, _ = self._range_y()
        for point, place in zip(self._points, self._places, strict=True):
            if point.row.low is not None and point.row.high is not None:
                painter.setPen(QPen(theme.faded("accent" if point.accent else "muted", 0.5), 1.5))
                painter.drawLine(QPointF(place.x(), self._y(point.row.low, area, bottom, top)),
                                 QPointF(place.x(), self._y(point.row.high, area, bottom, top)))
        for at, (point, place) in enumerate(zip(self._points, self._places, strict=True)):
            color = theme.color("accent" if point.accent else "muted")
            painter.setPen(QPen(color, 2))
            painter.setBrush(theme.color("surface") if point.hollow else color)
            painter.drawEllipse(place, DISC / 2 - 0.5, DISC / 2 - 0.5)
            if at == self._at and self.shows_focus():
                painter.setPen(QPen(theme.color("accent"), 2))
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawEllipse(place, DISC, DISC)
        self._paint_labels(painter, area)
        if self.shows_focus() and self._at < 0:
            painter.setPen(QPen(theme.color("accent"), 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 5, 5)

    def _paint_axes(self, painter: QPainter, area: QRectF) -> None:
        painter.setFont(theme.numbers_font("meta"))
        metrics = QFontMetricsF(painter.font())
        bottom, top, step = self._range_y()
        right = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        value = math.ceil(bottom / step - 1e-9) * step
        while value <= top + step * 1e-6:
            y = area.bottom() - (value - bottom) / (top - bottom) * area.height()
            painter.setPen(QPen(theme.color("border"), 1))
            painter.drawLine(QPointF(area.left(), round(y) + 0.5), QPointF(area.right(), round(y) + 0.5))
            painter.setPen(theme.color("muted"))
            painter.drawText(QRectF(0, y - 10, area.left() - 8, 20), right, _figure(value, step))
            value += step
        base = round(area.bottom()) + 0.5
        painter.setPen(QPen(theme.color("muted"), 1))
        painter.drawLine(QPointF(area.left(), base), QPointF(area.right(), base))
        low, high = self._range_x(area.width())
        beyond = -math.inf
        for tick in _log_ticks(low, high):
            x = area.left() + (math.log(tick) - math.log(low)) / (math.log(high) - math.log(low)) * area.width()
            text = f"{tick:,.0f}" if tick == int(tick) else f"{tick:g}"
            wide = metrics.horizontalAdvance(text)
            painter.setPen(QPen(theme.color("muted"), 1))
            painter.drawLine(QPointF(x, base), QPointF(x, base + 4))
            if x - wide / 2 > beyond:
                painter.drawText(QRectF(x - wide, base + 6, 2 * wide, metrics.height()),
                                 int(Qt.AlignmentFlag.AlignHCenter), text)
                beyond = x + wide / 2 + 8
        painter.drawText(QRectF(0, base + 8 + metrics.height(), area.right(), metrics.height() + 4),
                         int(Qt.AlignmentFlag.AlignRight), "passages per second on this computer")

    def _paint_labels(self, painter: QPainter, area: QRectF) -> None:
        """Puts each name beside its disc where it covers no other name and no disc."""
        taken = [QRectF(place.x() - 8, place.y() - 8, 16, 16) for place in self._places]
        bottom, top, _ = self._range_y()
        lines = [QRectF(place.x() - 3, self._y(point.row.high, area, bottom, top), 6,
                        self._y(point.row.low, area, bottom, top) - self._y(point.row.high, area, bottom, top))
                 if point.row.low is not None and point.row.high is not None else QRectF()
                 for point, place in zip(self._points, self._places, strict=True)]
        widest = LABEL * self._grow()
        order = sorted(range(len(self._points)), key=lambda at: not self._points[at].accent)  # what stands out first
        for at in order:
            point, place = self._points[at], self._places[at]
            font = theme.font("meta_strong" if point.accent else "meta_medium")
            metrics = QFontMetricsF(font)
            text = metrics.elidedText(point.row.model, Qt.TextElideMode.ElideMiddle, widest)
            wide = max(metrics.horizontalAdvance(text),
                       QFontMetricsF(theme.font("meta")).horizontalAdvance(point.mark) if point.mark else 0.0)
            high = metrics.height() * (2 if point.mark else 1)
            others = [*taken[:at], *taken[at + 1 :], *lines[:at], *lines[at + 1 :]]
            box = self._free_box(place, wide, high, area, others)
            taken.append(box)
            _paint_halo(painter, box.topLeft() + QPointF(0, metrics.ascent()), text, font, theme.color("text"))
            if point.mark:
                _paint_halo(painter, box.topLeft() + QPointF(0, metrics.height() + metrics.ascent()), point.mark,
                            theme.font("meta"), theme.color("muted"))

    @staticmethod
    def _free_box(place: QPointF, wide: float, high: float, area: QRectF, taken: Sequence[QRectF]) -> QRectF:
        x_right, x_left, gap = place.x() + 10, place.x() - 10 - wide, 4
        middle = place.y() - high / 2
        tries = [(x, y) for y in (middle, place.y() - high - gap, place.y() + gap, middle - high, middle + high)
                 for x in (x_right, x_left)]  # fmt: skip
        inside = [QRectF(x, y, wide, high) for x, y in tries
                  if x >= area.left() - 4 and x + wide <= area.right() + 8 and area.top() - 8 <= y
                  and y + high <= area.bottom() + 4]
        if not inside:
            return QRectF(min(x_right, area.right() + 8 - wide), middle, wide, high)
        return min(inside, key=lambda box: sum(_shared(box, other) for other in taken))

    # ---- pointer and keys

    def _point_at(self, place: QPointF) -> int:
        near = [(math.dist((place.x(), place.y()), (own.x(), own.y())), at) for at, own in enumerate(self._places)]
        best = min(near, default=(math.inf, -1))
        return best[1] if best[0] <= 12 else -1

    def mousePressEvent(self, event: QMouseEvent) -> None:
        at = self._point_at(event.position())
        if at >= 0:
            self._at = at
            self.chosen.emit(self._points[at].row.model)
            self.update()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        hand = self._point_at(event.position()) >= 0
        self.setCursor(Qt.CursorShape.PointingHandCursor if hand else Qt.CursorShape.ArrowCursor)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        steps = {Qt.Key.Key_Right: 1, Qt.Key.Key_Down: 1, Qt.Key.Key_Left: -1, Qt.Key.Key_Up: -1}
        key = Qt.Key(event.key())
        if key in steps and self._points:
            self._at = min(len(self._points) - 1, max(0, self._at + steps[key]))
            announce(self, _said(self._points[self._at]))
            self.update()
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space) and (point := self.current()) is not None:
            self.chosen.emit(point.row.model)
        else:
            super().keyPressEvent(event)

    def event(self, event: QEvent) -> bool:
        """Tells the figures of the disc under the pointer."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            at = self._point_at(QPointF(event.pos()))
            QToolTip.showText(event.globalPos(), plain_tip(_said(self._points[at]) if at >= 0 else ""), self)
            return True
        return super().event(event)


def _said(point: Point) -> str:
    return f"{row_words(point.row)}{f', {point.mark}' if point.mark else ''}"


def _paint_halo(painter: QPainter, base: QPointF, text: str, font: QFont, color: QColor) -> None:
    path = QPainterPath()
    path.addText(base, font, text)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.strokePath(path, QPen(theme.color("surface"), 4, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap,
                                  Qt.PenJoinStyle.RoundJoin))
    painter.setFont(font)
    painter.setPen(color)
    painter.drawText(base, text)


def _shared(one: QRectF, other: QRectF) -> float:
    cut = one.intersected(other)
    return max(0.0, cut.width()) * max(0.0, cut.height())


def _nice(step: float) -> float:
    power: float = 10.0 ** math.floor(math.log10(step))
    return next((factor * power for factor in (1, 2, 2.5, 5) if factor * power >= step * 0.999), 10 * power)


def _figure(value: float, step: float) -> str:
    if step >= 1 and step == int(step):
        return f"{value:.0f}"
    return f"{value:.1f}" if step * 10 == int(step * 10) else f"{value:.2f}"


def _log_ticks(low: float, high: float) -> list[float]:
    """Gives ticks of a log axis: doublings of 25, or 1, 2, 5 and their tens where those would be too many."""
    if high / low < 40:
        step = math.ceil(math.log2(low / 25))
        doublings = [25 * 2.0**at for at in range(step, step + 7)]
        return [tick for tick in doublings if low <= tick <= high]
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks = [factor * 10.0**power for power in powers for factor in (1, 2, 5)]
    return [tick for tick in ticks if low <= tick <= high]
