"""Layouts and containers."""

from __future__ import annotations

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QLayout, QLayoutItem, QMenu, QStyle, QStyleOption, QWidget

from sbert_desktop.ui.widgets.painting import name


class FlowLayout(QLayout):
    """Lays widgets out from left to right and wraps; hidden ones take no room.

    With ``least`` all items get the same width, at least so wide, so that they fill each row (cards).
    """

    def __init__(self, parent: QWidget | None = None, *, gap: int = 8, row_gap: int | None = None,
                 least: int = 0) -> None:
        super().__init__(parent)
        self._items: list[QLayoutItem] = []
        self._gap = gap
        self._row_gap = gap if row_gap is None else row_gap
        self._least = least
        self.setContentsMargins(0, 0, 0, 0)

    def set_least(self, least: int) -> None:
        """Changes the least width of equal items (the text grew)."""
        if least != self._least:
            self._least = least
            self.invalidate()

    def addItem(self, item: QLayoutItem) -> None:
        self._items.append(item)

    def count(self) -> int:
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return self._arrange(QRect(0, 0, width, 0), move=False)

    def setGeometry(self, rect: QRect) -> None:
        super().setGeometry(rect)
        self._arrange(rect, move=True)

    def sizeHint(self) -> QSize:
        return self.minimumSize()

    def minimumSize(self) -> QSize:
        size = QSize()
        for item in self._items:
            if not item.isEmpty():
                size = size.expandedTo(item.minimumSize())
        margins = self.contentsMargins()
        return size + QSize(margins.left() + margins.right(), margins.top() + margins.bottom())

    def _arrange(self, rect: QRect, *, move: bool) -> int:
        margins = self.contentsMargins()
        area = rect.adjusted(margins.left(), margins.top(), -margins.right(), -margins.bottom())
        fixed = 0
        if self._least:
            columns = max(1, (area.width() + self._gap) // (self._least + self._gap))
            fixed = (area.width() - self._gap * (columns - 1)) // columns
        x, y, tallest = area.x(), area.y(), 0
        line: list[QLayoutItem] = []  # cards of one row are equally high
        for item in self._items:
            if item.isEmpty():
                continue
            hint = item.sizeHint()
            width = fixed or min(hint.width(), max(area.width(), item.minimumSize().width()))
            if x > area.x() and x + width > area.x() + area.width():
                self._even(line, tallest)
                x, y, tallest = area.x(), y + tallest + self._row_gap, 0
            if move:
                if fixed:
                    line.append(item)
                item.setGeometry(QRect(x, y, width, hint.height()))
            x += width + self._gap
            tallest = max(tallest, hint.height())
        self._even(line, tallest)
        return y + tallest - rect.y() + margins.bottom()

    @staticmethod
    def _even(line: list[QLayoutItem], height: int) -> None:
        for item in line:
            box = item.geometry()
            if box.height() != height:
                item.setGeometry(QRect(box.x(), box.y(), box.width(), height))
        line.clear()


class StyledWidget(QWidget):
    """A plain container that the style sheet can fill (a bare QWidget subclass ignores it)."""

    def paintEvent(self, event: QPaintEvent) -> None:
        option = QStyleOption()
        option.initFrom(self)
        self.style().drawPrimitive(QStyle.PrimitiveElement.PE_Widget, option, QPainter(self), self)


def menu(parent: QWidget, object_name: str, title: str) -> QMenu:
    """Makes a menu with its names set."""
    made = QMenu(parent)
    name(made, object_name, title)
    return made
