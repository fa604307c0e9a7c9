"""Rows of a word, a bar and a number: painted, and said as text to a screen reader."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPoint, QRect, QSize, Qt
from PySide6.QtGui import QHelpEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.widgets import name, paint_bar, plain_tip


@dataclass(frozen=True, slots=True)
class BarRow:
    """One row. ``share``: 0-1, how long its bar is; ``tip``: the whole of it."""

    text: str
    share: float
    number: str
    tip: str = ""


class BarTable(QWidget):
    """The rows, in the order given; ``bar`` is the bar's width, 0 for none; ``lines`` below each row."""

    def __init__(self, object_name: str, title: str, *, bar: int = 104, row: int = 28, color: str = "accent",
                 lines: bool = False, middle: bool = False, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        name(self, object_name, title)
        self._title, self._bar, self._row, self._color, self._lines = title, bar, row, color, lines
        self._elide = Qt.TextElideMode.ElideMiddle if middle else Qt.TextElideMode.ElideRight
        self._rows: tuple[BarRow, ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.themeChanged.connect(self.updateGeometry)

    def rows(self) -> tuple[BarRow, ...]:
        """Gives what is shown."""
        return self._rows

    def set_rows(self, rows: Sequence[BarRow]) -> None:
        """Shows other rows."""
        self._rows = tuple(rows)
        self.setAccessibleDescription("; ".join(f"{row.text} {row.number}" for row in self._rows))
        self.updateGeometry()
        self.update()

    def row_height(self) -> int:
        """Gives the height of a row."""
        return theme.height(self._row, padding=8)

    def sizeHint(self) -> QSize:
        return QSize(200, self.row_height() * len(self._rows))

    def minimumSizeHint(self) -> QSize:
        return QSize(80, self.sizeHint().height())

    def event(self, event: QEvent) -> bool:
        """Shows the tooltip of the row under the pointer."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            at = event.pos().y() // max(1, self.row_height())
            tip = self._rows[at].tip or self._rows[at].text if 0 <= at < len(self._rows) else ""
            QToolTip.showText(event.globalPos(), plain_tip(tip), self)
            return True
        return super().event(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        high = self.row_height()
        numbers = theme.numbers_font("body")
        painter.setFont(numbers)
        widest = max((painter.fontMetrics().horizontalAdvance(row.number) for row in self._rows), default=0)
        column = max(widest, 28) + 12 if self._bar else widest + 12
        bar = min(self._bar, self.width() // 3)
        for at, row in enumerate(self._rows):
            line = QRect(0, at * high, self.width(), high)
            self._paint_row(painter, line, row, bar, column)

    def _paint_row(self, painter: QPainter, line: QRect, row: BarRow, bar: int, column: int) -> None:
        middle = Qt.AlignmentFlag.AlignVCenter
        painter.setFont(theme.numbers_font("body"))
        painter.setPen(theme.color("muted"))
        painter.drawText(line, Qt.AlignmentFlag.AlignRight | middle, row.number)
        right = line.right() + 1 - column
        if bar:
            place = QRect(QPoint(right - bar, line.center().y() - 1), QSize(bar, 4))
            paint_bar(painter, place, row.share, self._color)
            right -= bar + 12
        painter.setFont(theme.font("body"))
        painter.setPen(theme.color("text"))
        room = QRect(line.x(), line.y(), max(0, right - line.x()), line.height())
        painter.drawText(room, middle, painter.fontMetrics().elidedText(row.text, self._elide, room.width()))
        if self._lines:
            painter.fillRect(QRect(line.x(), line.bottom(), line.width(), 1), theme.color("border"))
