"""One cell of the comparison: plain text laid out for a width, with the words marked that only this side has."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFont, QPainter, QPen, QTextCharFormat, QTextLayout, QTextLine, QTextOption

from sbert_desktop.ui.search.text import Utf16Map, drawable
from sbert_desktop.ui.theme import theme

Span = tuple[int, int]
THICK = 1.5


@dataclass(frozen=True, slots=True)
class Ink:
    """How words are marked that only one side has: a fill, and a line under or through them, never colour alone."""

    fill: str
    line: str
    through: bool


LEFT_INK = Ink("good_soft", "good", through=False)
RIGHT_INK = Ink("danger_soft", "danger", through=True)


class CellText:
    """A text laid out for a width in logical pixels; ``height`` is what its lines take."""

    def __init__(self, text: str, marks: Sequence[Span], font: QFont, width: float, line: float) -> None:
        shown = drawable(text)
        self._map = Utf16Map(shown)
        self.text = text
        self._layout = QTextLayout(shown, font)
        self._rtl = is_right_to_left(shown)
        # a text in which nothing runs from right to left needs two places per mark only
        self._plain = not self._rtl and not any(unicodedata.bidirectional(ch) in ("R", "AL", "AN") for ch in shown) \
            if not shown.isascii() else True
        option = QTextOption()
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        directions, sides = Qt.LayoutDirection, Qt.AlignmentFlag
        option.setTextDirection(directions.RightToLeft if self._rtl else directions.LeftToRight)
        option.setAlignment((sides.AlignRight if self._rtl else sides.AlignLeft) | sides.AlignAbsolute)
        self._layout.setTextOption(option)
        self._marks = [self._map.span((max(0, low), min(len(shown), high))) for low, high in marks if high > low]
        self._rects: list[QRectF] | None = None
        self.height = self._lay_out(max(40.0, width), line)

    def _lay_out(self, width: float, least: float) -> float:
        y = 0.0
        self._layout.beginLayout()
        while True:
            line = self._layout.createLine()
            if not line.isValid():
                break
            line.setLineWidth(width)
            tall = max(least, math.ceil(line.height()))
            line.setPosition(QPointF(0, y + (tall - line.height()) / 2))
            y += tall
        self._layout.endLayout()
        return max(y, least)

    def mark_rects(self) -> list[QRectF]:
        """Gives where marked words stand, one rectangle per line and direction, relative to the text's corner."""
        if self._rects is None:
            self._rects = [rect for start, length in self._marks for rect in self.span_rects(start, start + length)]
        return self._rects

    def span_rects(self, start: int, end: int) -> list[QRectF]:
        """Gives where UTF-16 units ``start`` to ``end`` stand."""
        found: list[QRectF] = []
        for number in range(self._layout.lineCount()):
            line = self._layout.lineAt(number)
            first, last = max(start, line.textStart()), min(end, line.textStart() + line.textLength())
            if last > first:
                found += [QRectF(left, line.y(), right - left, line.height())
                          for left, right in self._stretches(line, first, last)]
        return found

    def _stretches(self, line: QTextLine, first: int, last: int) -> list[tuple[float, float]]:
        if self._plain:
            left, right = _x(line, first), _x(line, last)
            used = line.naturalTextRect()  # a blank at the line's end stands beyond it
            return [(left, max(left, min(right, used.right() + 1)))] if right > left else []
        edge = QTextLine.Edge
        pieces = sorted(sorted((_x(line, at, edge.Leading), _x(line, at, edge.Trailing))) for at in range(first, last))
        out: list[tuple[float, float]] = []
        for left, right in pieces:
            if out and left <= out[-1][1] + 0.5:
                out[-1] = (out[-1][0], max(out[-1][1], right))
            elif right > left:
                out.append((left, right))
        return out

    def draw(self, painter: QPainter, place: QPointF, ink: Ink, chosen: tuple[int, int] | None = None) -> None:
        """Paints marks and text with the corner at ``place``; ``chosen``: UTF-16 units that are selected."""
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.color(ink.fill))
        rects = [rect.translated(place) for rect in self.mark_rects()]
        for rect in rects:
            painter.drawRoundedRect(rect, 2, 2)
        picked = []
        if chosen is not None and chosen[1] > chosen[0]:
            piece = QTextLayout.FormatRange()
            piece.start, piece.length = chosen[0], chosen[1] - chosen[0]
            style = QTextCharFormat()
            style.setBackground(theme.color("accent"))
            style.setForeground(theme.color("on_accent"))
            piece.format = style
            picked.append(piece)
        painter.setPen(theme.color("text"))
        self._layout.draw(painter, place, picked)
        painter.setPen(QPen(theme.color(ink.line), THICK, Qt.PenStyle.SolidLine, Qt.PenCapStyle.FlatCap))
        for rect in rects:
            y = rect.center().y() + 0.5 if ink.through else rect.bottom() - THICK / 2
            painter.drawLine(QPointF(rect.left(), y), QPointF(rect.right(), y))
        painter.restore()

    def unit_at(self, place: QPointF) -> int:
        """Gives the UTF-16 unit before which a point relative to the text's corner lies."""
        count = self._layout.lineCount()
        for number in range(count):
            line = self._layout.lineAt(number)
            if place.y() < line.y() + line.height() or number == count - 1:
                return int(line.xToCursor(place.x()))
        return 0

    def word_at(self, unit: int) -> tuple[int, int]:
        """Gives the first and last UTF-16 unit of the word at a place."""
        mode = QTextLayout.CursorMode.SkipWords
        first = unit if unit <= 0 else self._layout.previousCursorPosition(unit + 1, mode)
        piece = self.piece(first, self.units())
        length = len(re.match(r"\w*(?:['’]\w+)*", piece).group()) if piece else 0  # type: ignore[union-attr]
        last = self._map.unit(self._map.point(first) + length)
        return first, max(last, min(first + 1, self.units()))

    def units(self) -> int:
        """Gives the length of the text in UTF-16 units."""
        return self._map.unit(len(self.text))

    def piece(self, start: int, end: int) -> str:
        """Gives the text between two UTF-16 units."""
        return self.text[self._map.point(start) : self._map.point(end)]


def _x(line: QTextLine, at: int, edge: QTextLine.Edge = QTextLine.Edge.Leading) -> float:
    place: object = line.cursorToX(at, edge)
    x = place[0] if isinstance(place, tuple) else place
    assert isinstance(x, float | int)
    return float(x)


def is_right_to_left(text: str) -> bool:
    """Tells by the first letter with a direction how a text runs."""
    if text.isascii():
        return False
    for ch in text:
        kind = unicodedata.bidirectional(ch)
        if kind in ("R", "AL"):
            return True
        if kind == "L":
            return False
    return False
