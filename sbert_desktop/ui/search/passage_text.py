"""Paints a snippet: plain text in a few lines, its best sentence on ``mark``, found words bold.

QTextLayout with character formats only. No rich text, so nothing in a document's text or name
can be taken for markup, load a picture or open an address.
"""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QTextCharFormat, QTextLayout, QTextOption

from sbert_desktop.ui.search.text import Snippet, Utf16Map

ELLIPSIS = "…"


class PassageText:
    """One snippet laid out for a width; ``lines`` is how many lines it takes, ``most`` at most.

    Args:
        snippet: What to show.
        font: Font of the text; found words are DemiBold of it.
        width: Logical pixels.
        line: Height of one line in logical pixels.
        most: Lines at most; the last one ends with an ellipsis when text is left.
    """

    def __init__(self, snippet: Snippet, font: QFont, width: float, line: float, most: int = 2) -> None:
        self._line = line
        self._width = max(40.0, width)
        self._map = Utf16Map(snippet.text)
        self._layout = QTextLayout(snippet.text, font)
        option = QTextOption()
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self._rtl = _right_to_left(snippet.text)
        directions = Qt.LayoutDirection
        option.setTextDirection(directions.RightToLeft if self._rtl else directions.LeftToRight)
        sides = Qt.AlignmentFlag
        option.setAlignment((sides.AlignRight if self._rtl else sides.AlignLeft) | sides.AlignAbsolute)
        self._layout.setTextOption(option)
        self._layout.setFormats([self._bold(span) for span in snippet.words])
        self._mark = self._map.span(snippet.mark) if snippet.mark else None
        self._elided = False
        self._ellipsis = QFontMetricsF(font).horizontalAdvance(ELLIPSIS)
        self.lines = self._lay_out(self._map.unit(len(snippet.text)), most)

    def _bold(self, span: tuple[int, int]) -> QTextLayout.FormatRange:
        piece = QTextLayout.FormatRange()
        piece.start, piece.length = self._map.span(span)
        style = QTextCharFormat()
        style.setFontWeight(QFont.Weight.DemiBold)
        piece.format = style
        return piece

    def _lay_out(self, length: int, most: int) -> int:
        count = 0
        self._layout.beginLayout()
        while count < most:
            line = self._layout.createLine()
            if not line.isValid():
                break
            line.setLineWidth(self._width)
            x = 0.0
            if count == most - 1 and line.textStart() + line.textLength() < length:
                line.setLineWidth(max(20.0, self._width - self._ellipsis))
                self._elided = True
                x = self._ellipsis if self._rtl else 0.0  # it stands at the left of the last line then
            line.setPosition(QPointF(x, count * self._line + (self._line - line.height()) / 2))
            count += 1
        self._layout.endLayout()
        return max(1, count)

    @property
    def height(self) -> float:
        """Height of the lines in logical pixels."""
        return self.lines * self._line

    def marks(self) -> list[QRectF]:
        """Gives the rectangles of the best sentence, one per line, relative to the text's corner."""
        if self._mark is None:
            return []
        start, length = self._mark
        found = []
        for number in range(self._layout.lineCount()):
            line = self._layout.lineAt(number)
            first = max(start, line.textStart())
            last = min(start + length, line.textStart() + line.textLength())
            if last <= first:
                continue
            left, right = _edges(line, first, last)
            top = line.y() - 1
            found.append(QRectF(left, top, right - left, line.height() + 2))
        return found

    def draw(self, painter: QPainter, place: QPointF, text: QColor, mark: QColor) -> None:
        """Paints the text with its corner at ``place``."""
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(mark)
        for rect in self.marks():
            painter.drawRoundedRect(rect.translated(place), 2, 2)
        painter.setPen(text)
        self._layout.draw(painter, place)
        if self._elided:
            line = self._layout.lineAt(self._layout.lineCount() - 1)
            used = line.naturalTextRect()
            x = used.left() - self._ellipsis if self._rtl else used.right()
            painter.setFont(self._layout.font())
            painter.drawText(place + QPointF(x, line.y() + line.ascent()), ELLIPSIS)
        painter.restore()


def _edges(line, first: int, last: int) -> tuple[float, float]:  # type: ignore[no-untyped-def]
    # PySide gives (x, cursor position); in mixed directions the ends of a span need not be its edges.
    places = [line.cursorToX(place) for place in {first, last, (first + last) // 2}]
    xs = [place[0] if isinstance(place, tuple) else place for place in places]
    used = line.naturalTextRect()
    return max(min(xs), used.left()), min(max(xs), used.right()) if max(xs) > used.left() else max(xs)


def _right_to_left(text: str) -> bool:
    import unicodedata

    for ch in text:
        kind = unicodedata.bidirectional(ch)
        if kind in ("R", "AL"):
            return True
        if kind == "L":
            return False
    return False
