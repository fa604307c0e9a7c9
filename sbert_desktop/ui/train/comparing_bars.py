"""Base and tuned as bars, and their difference with its interval: painted by one widget, and said as text."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QEvent, QLineF, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFont, QFontMetrics, QHelpEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from sbert_desktop.app.training_views import ComparisonView, is_known
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.train.comparing_words import (
    clear,
    difference_axis,
    interval,
    metric_words,
    most_likely,
    number,
    picture_words,
    shown_ends,
)
from sbert_desktop.ui.widgets import name, plain_tip

LABEL: Final = 136
BAR: Final = 400
GAP: Final = 16
THICK: Final = 12
ROW: Final = 36
BAND: Final = 36
CAP: Final = 14
DOT: Final = 12
NARROW: Final = 150
"""Width of a bar under which the words stand above it."""
_MIDDLE: Final = Qt.AlignmentFlag.AlignVCenter


class ComparisonBars(QWidget):
    """The picture of a comparison."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        name(self, "train_compare_bars", "Comparison")
        self._view: ComparisonView | None = None
        self._replaced = False
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        theme.themeChanged.connect(self.updateGeometry)

    def show_comparison(self, view: ComparisonView) -> None:
        """Shows a comparison."""
        self._view = view
        self.setAccessibleName(picture_words(view))
        self.setAccessibleDescription(f"Measured as {metric_words(view.metric)}")
        self.updateGeometry()
        self.update()

    def _base_tail(self) -> str:
        return " (before)" if self._replaced else " (now)"

    def set_replaced(self, replaced: bool) -> None:
        """Says whether the model that it was tuned from was in use before, and is not now."""
        if replaced != self._replaced:
            self._replaced = replaced
            self.update()

    # ---- measures

    def _row(self) -> int:
        return theme.height(ROW, role="big_number", padding=12)

    def _band(self) -> int:
        return theme.height(BAND, role="meta", padding=16)

    def _axis(self) -> int:
        return theme.line("meta", 16) + 8

    def _columns(self, width: int) -> tuple[int, int, bool]:
        """Gives the widths of label and bar, and whether the words stand above the bars."""
        body, scale = theme.metrics("body"), max(100, theme.text_scale)
        words: list[str] = []
        if self._view is not None:
            words = [f"{self._view.base_name}{self._base_tail()}", f"{self._view.name} (tuned)"]
        needed = max(body.horizontalAdvance(text) for text in (*words, "Difference")) + 12
        label = max(LABEL, min(needed, LABEL * scale // 100 * 3 // 2, width * 3 // 10))
        bar = min(BAR * scale // 100, width - label - GAP - self._caption_width())
        return (0, width, True) if bar < NARROW * scale // 100 else (label, bar, False)

    def _caption_width(self) -> int:
        view = self._view
        if view is None:
            return 0
        numbers, unit = theme.metrics("big_number"), theme.metrics("body")
        values = [numbers.horizontalAdvance(number(view, value)) for value in (view.base, view.tuned)]
        wide = max(values) + 6 + min(unit.horizontalAdvance(view.unit), 170 * max(100, theme.text_scale) // 100)
        words = max(numbers.horizontalAdvance(interval(view)), theme.metrics("meta").horizontalAdvance(
            most_likely(view)))
        return max(wide, words) + 2

    def heightForWidth(self, width: int) -> int:
        stacked = self._columns(width)[2]
        extra = 3 * self._words() if stacked else 0
        return 2 * self._row() + 16 + self._band() + self._axis() + extra

    def hasHeightForWidth(self) -> bool:
        return True

    def _words(self) -> int:
        return theme.line("big_number", 20)

    def sizeHint(self) -> QSize:
        return QSize(LABEL + BAR + GAP + self._caption_width(), self.heightForWidth(self.width()))

    def minimumSizeHint(self) -> QSize:
        return QSize(240, self.heightForWidth(self.width()))

    # ---- painting

    def paintEvent(self, event: QPaintEvent) -> None:
        view = self._view
        if view is None or not view.measured:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        label, bar, stacked = self._columns(self.width())
        top = 0
        for text, tail, value, color in ((view.base_name, self._base_tail(), view.base, "muted"),
                                         (view.name, " (tuned)", view.tuned, "accent")):
            line = QRect(0, top, self.width(), self._words() if stacked else self._row())
            self._paint_label(painter, line, text, tail, self.width() * 2 // 3 if stacked else label - 8)
            self._paint_value(painter, line, view, value, label + bar + GAP, stacked)
            middle = line.bottom() + 8 if stacked else line.center().y() + 1
            self._paint_bar(painter, QRectF(label, middle - THICK / 2, bar, THICK), value, color)
            top += self._row() + (self._words() if stacked else 0)
        self._paint_difference(painter, view, top, label, bar, stacked)

    def _paint_label(self, painter: QPainter, line: QRect, text: str, tail: str, room: int) -> None:
        metrics = theme.metrics("body")
        painter.setFont(theme.font("body"))
        painter.setPen(theme.color("text"))
        left = max(0, room - metrics.horizontalAdvance(tail))
        shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, left) + tail
        painter.drawText(QRect(line.x(), line.y(), room, line.height()), _MIDDLE, shown)

    def _paint_value(self, painter: QPainter, line: QRect, view: ComparisonView, value: float, left: int,
                     right: bool) -> None:
        font, text = theme.numbers_font("big_number"), number(view, value)
        wide = QFontMetrics(font).horizontalAdvance(text)
        body = theme.metrics("body")
        if right:
            left = max(self.width() // 3, self.width() - wide - 10 - body.horizontalAdvance(view.unit))
        painter.setFont(font)
        painter.setPen(theme.color("text"))
        painter.drawText(QRect(left, line.y(), wide + 1, line.height()), _MIDDLE, text)
        place = QRect(left + wide + 6, line.y(), max(0, self.width() - left - wide - 6), line.height())
        painter.setFont(theme.font("body"))
        painter.setPen(theme.color("muted"))
        painter.drawText(place, _MIDDLE, body.elidedText(view.unit, Qt.TextElideMode.ElideRight, place.width()))

    def _paint_bar(self, painter: QPainter, place: QRectF, value: float, color: str) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.color("track"))
        painter.drawRoundedRect(place, 3, 3)
        filled = QRectF(place)
        filled.setWidth(place.width() * min(1.0, max(0.0, value)))
        if filled.width() > 0:
            painter.setBrush(theme.color(color))
            painter.drawRoundedRect(filled, min(3.0, filled.width() / 2), 3)

    def _paint_difference(self, painter: QPainter, view: ComparisonView, top: int, label: int, bar: int,
                          stacked: bool) -> None:
        band = QRectF(label, top + 16 + (self._words() if stacked else 0), bar, self._band())
        words = QRect(0, top + 4, self.width(), self._words()) if stacked else band.toRect()
        painter.setFont(theme.font("body"))
        painter.setPen(theme.color("text"))
        painter.drawText(QRect(0, words.y(), self.width(), words.height()), _MIDDLE, "Difference")
        axis = difference_axis(view)
        same = band.x() + axis.at(0) * band.width()
        painter.fillRect(QRectF(same, band.y(), band.right() - same, band.height()), theme.color("good_soft"))
        self._paint_axis(painter, band, view, same)
        self._paint_interval(painter, band, view)
        self._paint_answer(painter, view, band, words, stacked)

    def _paint_axis(self, painter: QPainter, band: QRectF, view: ComparisonView, same: float) -> None:
        axis, metrics = difference_axis(view), theme.metrics("meta")
        painter.setPen(QPen(theme.color("muted"), 1))
        painter.drawLine(QLineF(band.x(), band.bottom() + 0.5, band.right(), band.bottom() + 0.5))
        painter.setFont(theme.numbers_font("meta"))
        high = theme.line("meta", 16)
        ticks = sorted(axis.ticks, key=lambda tick: (tick[1] != "same", tick[0]))
        taken: list[QRectF] = []
        for value, text in ticks:
            x = band.x() + axis.at(value) * band.width()
            painter.setPen(QPen(theme.color("muted"), 1))
            painter.drawLine(QLineF(x, band.bottom(), x, band.bottom() + 4))
            wide = metrics.horizontalAdvance(text) + 2
            left = x - wide / 2  # the outer ones may stand beside the axis, never outside of the picture
            place = QRectF(min(max(0.0, left), self.width() - wide), band.bottom() + 6, wide, high)
            if any(place.adjusted(-6, 0, 6, 0).intersects(other) for other in taken):
                continue
            taken.append(place)
            painter.drawText(place, Qt.AlignmentFlag.AlignCenter, text)
        painter.fillRect(QRectF(same - 1, band.y() - 4, 2, band.height() + 4), theme.color("text"))
        low, high_end = (band.x() + axis.at(end) * band.width() for end in self._ends(view))
        for text, place in (("worse", QRectF(band.x(), band.y(), same - 8 - band.x(), band.height())),
                            ("better", QRectF(same + 8, band.y(), band.right() - same - 16, band.height()))):
            wide = metrics.horizontalAdvance(text)
            x0, x1 = place.right() - wide - 4, place.right() + 4
            if place.width() < wide + 4 or (low - CAP / 2 < x1 and high_end + CAP / 2 > x0):
                continue  # the interval lies there, and its side says the same
            painter.setPen(theme.color("muted" if text == "worse" else "good"))
            painter.drawText(place, Qt.AlignmentFlag.AlignRight | _MIDDLE, text)

    @staticmethod
    def _ends(view: ComparisonView) -> tuple[float, float]:
        factor = 100.0 if "of 100" in view.unit else 1.0
        low, high = shown_ends(view)
        return factor * low, factor * high

    def _paint_interval(self, painter: QPainter, band: QRectF, view: ComparisonView) -> None:
        axis = difference_axis(view)
        factor = 100.0 if "of 100" in view.unit else 1.0
        left, middle, right = (band.x() + axis.at(factor * value) * band.width()
                               for value in (view.low, view.difference, view.high))
        color = theme.color({1: "good", 0: "warn", -1: "danger"}[clear(view)])
        y = band.center().y()
        pen = QPen(color, 3)
        pen.setCapStyle(Qt.PenCapStyle.FlatCap)
        painter.setPen(pen)
        if is_known(view.low, view.high):
            painter.drawLine(QLineF(left, y, right, y))
            pen.setWidth(2)
            painter.setPen(pen)
            for x in (left, right):
                painter.drawLine(QLineF(x, y - CAP / 2, x, y + CAP / 2))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color)
        painter.drawEllipse(QPointF(middle, y), DOT / 2, DOT / 2)

    def _paint_answer(self, painter: QPainter, view: ComparisonView, band: QRectF, words: QRect,
                      stacked: bool) -> None:
        if stacked:
            place = QRect(self.width() // 3, words.y(), self.width() - self.width() // 3, words.height())
            text = f"{interval(view)}, {'95 % sure' if is_known(view.low, view.high) else most_likely(view)}"
            painter.setFont(_fitting("medium", text, place.width()))
            painter.drawText(place, Qt.AlignmentFlag.AlignRight | _MIDDLE, text)
            return
        left = band.right() + GAP
        first, second = theme.line("big_number", 20), theme.line("meta", 16)
        top = band.center().y() - (first + second) / 2
        painter.setFont(theme.numbers_font("big_number"))
        painter.setPen(theme.color("text"))
        painter.drawText(QRectF(left, top, self.width() - left, first), _MIDDLE, interval(view))
        painter.setFont(theme.numbers_font("meta"))
        painter.setPen(theme.color("muted"))
        painter.drawText(QRectF(left, top + first, self.width() - left, second), _MIDDLE, most_likely(view))

    def event(self, event: QEvent) -> bool:
        """Says the whole of it in a tooltip, with the field's name of the measure."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent) and self._view is not None:
            text = f"{picture_words(self._view)}. Measured as {metric_words(self._view.metric)}."
            QToolTip.showText(event.globalPos(), plain_tip(text), self)
            return True
        return super().event(event)


def _fitting(role: str, text: str, room: int) -> QFont:
    """Gives the font of a role, or a smaller one where the text would not fit."""
    if theme.metrics(role).horizontalAdvance(text) <= room:
        return theme.font(role)
    return theme.font("meta")
