"""Where the lines of a comparison stand and how they are painted: both sides in one scrolled area.

A table view in nothing but its model and what a screen reader hears (Qt knows no other item view as one): where lines
stand and how they look is all decided here, since the rows of a table view are as high as they are told. Only
what can be seen is laid out; heights of the rest are estimated and made exact in slices of a few milliseconds.
"""

from __future__ import annotations

import math
import time
from bisect import bisect_right
from collections import OrderedDict
from itertools import accumulate

from PySide6.QtCore import (
    QItemSelection,
    QItemSelectionModel,
    QModelIndex,
    QPoint,
    QPointF,
    QRect,
    Qt,
    QTimer,
    Signal,
)
from PySide6.QtGui import (
    QFontMetricsF,
    QHideEvent,
    QPainter,
    QPaintEvent,
    QRegion,
    QResizeEvent,
    QShowEvent,
)
from PySide6.QtWidgets import QAbstractButton, QAbstractItemView, QTableView, QWidget

from sbert_desktop.ui import icons
from sbert_desktop.ui.duplicates.diff_lines import Line
from sbert_desktop.ui.duplicates.diff_model import AnyIndex, DiffModel
from sbert_desktop.ui.duplicates.diff_text import LEFT_INK, RIGHT_INK, CellText
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.widgets import KeyboardFocus, paint_focus

SIDE = 16  # padding of each side
ROW = 4  # padding above and below a row
GAP = 32
TOP = 4
KEPT = 400  # cells laid out that are kept
SLICE = 0.006  # seconds of one slice of measuring
AHEAD = 6  # lines above and below the visible ones that are laid out too

Picked = tuple[int, int, int, int]
"""Line, side, first and last UTF-16 unit of the text that is selected."""


class DiffCanvas(KeyboardFocus, QTableView):
    """Paints the lines of its model. :class:`~sbert_desktop.ui.duplicates.diff_view.DiffView` says which these are."""

    pagesChanged = Signal(object, object)  # pages of the topmost row of each side, None where there are none

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        # Qt asks for geometry while it is set up, so all that answers stands first
        self._model = DiffModel(self)
        self._heights: list[int] = []
        self._exact: list[bool] = []
        self._tops: list[int] = [0]
        self._dirty = False
        self._anchor = (0, 0)  # topmost line, and how much of it is above the edge
        self._fitting = False
        self._fresh = True  # nobody has moved yet
        self._cells: OrderedDict[tuple[int, int], CellText] = OrderedDict()
        self._picked: Picked | None = None
        self._pages: tuple[int | None, int | None] = (None, None)
        self._measured = 0
        self._idle = QTimer(self)
        self._idle.setInterval(12)
        self._idle.timeout.connect(self._measure_some)
        self.setFrameShape(QAbstractItemView.Shape.NoFrame)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAutoScroll(False)
        self.viewport().setMouseTracking(True)
        for header in (self.horizontalHeader(), self.verticalHeader()):
            header.hide()
        for corner in self.findChildren(QAbstractButton, options=Qt.FindChildOption.FindDirectChildrenOnly):
            corner.hide()
        self.setTabKeyNavigation(False)
        self.setModel(self._model)
        theme.themeChanged.connect(self._on_theme)

    def _place_first(self) -> None:
        """Scrolls to where reading begins; called while the person has not moved."""
        raise NotImplementedError

    # ---- heights

    def _forget(self) -> None:
        """Estimates all heights: another width, font or set of lines."""
        self._cells.clear()
        font = theme.font("body")
        wide = max(3.0, QFontMetricsF(font).averageCharWidth())
        fitting, line = max(1.0, self._text_width(1) / wide), theme.line("body", 20)
        fold_height = theme.height(GAP, role="meta", padding=12)
        self._heights = [
            fold_height if longest < 0 else (1 + int(longest / fitting)) * line + 2 * ROW
            for longest in self._model.longest
        ]
        self._exact = [one.gap for one in self._model.lines]
        self._measured = 0
        self._dirty = True
        self._anchor = (min(self._anchor[0], max(0, len(self._heights) - 1)), self._anchor[1])
        self._settle()
        if self.isVisible():
            self._idle.start()

    def _middle(self) -> int:
        """Gives where the line between the sides stands: the middle of the whole, where the headings part."""
        return self.width() // 2

    def _text_width(self, side: int) -> int:
        middle = self._middle()
        return max(60, (middle if side == 0 else self.viewport().width() - middle) - 2 * SIDE)

    def _measure(self, number: int) -> bool:
        """Makes the height of a line exact; True when it was another."""
        if self._exact[number]:
            return False
        self._exact[number] = True
        found = self._model.lines[number]
        tall = 0.0
        for side in (0, 1):
            cell = self._cell(number, side)
            tall = max(tall, cell.height if cell is not None else 0.0)
        if found.first >= 0 and self._model.rows[found.first].moved:
            tall += self._note_height()
        height = math.ceil(tall) + 2 * ROW + (4 if found.first >= 0 and self._model.rows[found.first].heading else 0)
        if height == self._heights[number]:
            return False
        self._heights[number] = height
        self._dirty = True
        return True

    def _note_height(self) -> int:
        return theme.line("meta", 16) + 2

    def _cell(self, number: int, side: int) -> CellText | None:
        key = (number, side)
        found = self._cells.get(key)
        if found is not None:
            self._cells.move_to_end(key)
            return found
        line = self._model.lines[number]
        if line.gap:
            return None
        if line.first < 0:
            text: str | None = line.caption if side == 0 else None
            marks: tuple[tuple[int, int], ...] = ()
        else:
            row = self._model.rows[line.first]
            text, marks = (row.left, row.left_marks) if side == 0 else (row.right, row.right_marks)
        if text is None:
            return None
        heading = line.first >= 0 and self._model.rows[line.first].heading
        cell = CellText(text, marks, theme.font("strong" if heading else "body"), self._text_width(side),
                        theme.line("body", 20))
        self._cells[key] = cell
        if len(self._cells) > KEPT:
            self._cells.popitem(last=False)
        return cell

    def _offsets(self) -> list[int]:
        if self._dirty:
            self._tops = list(accumulate(self._heights, initial=TOP))
            self._dirty = False
        return self._tops

    def _offset(self, number: int) -> int:
        return self._offsets()[number]

    def _line_at(self, y: int) -> int:
        """Gives the line at a height of the content."""
        return max(0, min(len(self._heights) - 1, bisect_right(self._offsets(), y) - 1))

    def _settle(self) -> None:
        """Makes exact what can be seen, and a little around it; what stands at the top stays there."""
        if not self._heights:
            self._fit_bar()
            return
        top, over = self._anchor
        height = self.viewport().height()
        for number in range(max(0, top - AHEAD), top):
            self._measure(number)
        self._measure(top)
        over = min(over, max(0, self._heights[top] - 1))
        bottom, number = -over, top
        while number < len(self._heights) and bottom < height:
            self._measure(number)
            bottom += self._heights[number]
            number += 1
        for more in range(number, min(len(self._heights), number + AHEAD)):
            self._measure(more)
        self._anchor = (top, over)
        self._fit_bar()

    def _fit_bar(self) -> None:
        bar, view = self.verticalScrollBar(), self.viewport().height()
        tops = self._offsets()
        self._fitting = True
        bar.setRange(0, max(0, tops[-1] + TOP - view))
        bar.setPageStep(view)
        bar.setSingleStep(theme.line("body", 20) * 2)
        if self._heights:
            at = tops[self._anchor[0]] + self._anchor[1] if self._anchor != (0, 0) else 0
            bar.setValue(at)
        self._fitting = False
        self._read_anchor()
        self.viewport().update()

    def _read_anchor(self) -> None:
        value = self.verticalScrollBar().value()
        if not self._heights or value <= 0:
            self._anchor = (0, 0)
            return
        at = self._line_at(value)
        self._anchor = (at, max(0, value - self._offset(at)))

    def _measure_some(self) -> None:
        until = time.perf_counter() + SLICE
        changed = False
        while self._measured < len(self._heights):
            changed |= self._measure(self._measured)
            self._measured += 1
            if time.perf_counter() > until:
                break
        if changed:
            self._fit_bar()
        if self._measured >= len(self._heights):
            self._idle.stop()

    # ---- what an item view has to give

    def horizontalOffset(self) -> int:
        """Gives nothing: it is never wider than it can be seen."""
        return 0

    def verticalOffset(self) -> int:
        """Gives how far it is scrolled."""
        return self.verticalScrollBar().value()

    def isIndexHidden(self, index: AnyIndex) -> bool:
        """Gives False: no line is hidden."""
        return False

    def visualRect(self, index: AnyIndex) -> QRect:
        """Gives where a cell stands in the viewport."""
        if not index.isValid() or index.row() >= len(self._heights):
            return QRect()
        number = index.row()
        top = self._offset(number) - self.verticalScrollBar().value()
        width = self.viewport().width()
        line = self._model.lines[number]
        if line.gap or line.first < 0:
            return QRect(0, top, width, self._heights[number])
        middle = self._middle()
        left, right = (0, middle) if index.column() == 0 else (middle, width)
        return QRect(left, top, right - left, self._heights[number])

    def indexAt(self, point: QPoint) -> QModelIndex:
        """Gives the cell at a point of the viewport."""
        y = point.y() + self.verticalScrollBar().value()
        if not self._heights or y < TOP or y >= self._offsets()[-1]:
            return QModelIndex()
        return self._model.index(self._line_at(y), 0 if point.x() < self._middle() else 1)

    def scrollTo(self, index: AnyIndex, hint: QAbstractItemView.ScrollHint = QAbstractItemView.ScrollHint.EnsureVisible
                 ) -> None:
        """Scrolls as little as brings a line into view."""
        if not index.isValid() or index.row() >= len(self._heights):
            return
        number = index.row()
        for near in range(max(0, number - AHEAD), min(len(self._heights), number + AHEAD)):
            self._measure(near)
        top, height, view = self._offset(number), self._heights[number], self.viewport().height()
        bar = self.verticalScrollBar()
        self._fit_range()
        if hint == QAbstractItemView.ScrollHint.PositionAtTop:
            bar.setValue(top - TOP)
        elif hint == QAbstractItemView.ScrollHint.PositionAtCenter:
            bar.setValue(top - view // 3)
        elif top < bar.value() or height > view:
            bar.setValue(top - TOP)
        elif top + height > bar.value() + view:
            bar.setValue(top + height - view + TOP)
        self.viewport().update()

    def _fit_range(self) -> None:
        self._fitting = True
        self.verticalScrollBar().setRange(0, max(0, self._offsets()[-1] + TOP - self.viewport().height()))
        self._fitting = False

    def setSelection(self, rect: QRect, command: QItemSelectionModel.SelectionFlag) -> None:
        """Selects the cell in a rectangle."""
        index = self.indexAt(rect.center())
        if index.isValid():
            self.selectionModel().select(QItemSelection(index, index), command)

    def visualRegionForSelection(self, selection: QItemSelection) -> QRegion:
        """Gives where the selected cells stand."""
        region = QRegion()
        for index in selection.indexes():
            region += self.visualRect(index)
        return region

    def updateGeometries(self) -> None:
        """Fits the scroll bar."""
        QAbstractItemView.updateGeometries(self)  # not the table's: it would fit the bars to its own heights
        self._fit_bar()

    def keyboardSearch(self, search: str) -> None:
        """Does nothing: letters are for the page."""

    def moveCursor(self, action: QAbstractItemView.CursorAction, modifiers: Qt.KeyboardModifier) -> QModelIndex:
        """Gives the cell to which a key leads."""
        count = len(self._heights)
        if not count:
            return QModelIndex()
        here = self.currentIndex()
        row, column = max(0, here.row()), max(0, here.column())
        deed = QAbstractItemView.CursorAction
        if action in (deed.MoveUp, deed.MovePrevious):
            row -= 1
        elif action in (deed.MoveDown, deed.MoveNext):
            row += 1
        elif action == deed.MoveLeft:
            column = 0
        elif action == deed.MoveRight:
            column = 1
        elif action == deed.MoveHome:
            row = 0
        elif action == deed.MoveEnd:
            row = count - 1
        elif action in (deed.MovePageUp, deed.MovePageDown):
            sign = -1 if action == deed.MovePageUp else 1
            page = self._line_at(self._offset(row) + sign * max(40, self.viewport().height() - 40))
            row = page if page != row else row + sign
        return self._model.index(max(0, min(count - 1, row)), column)

    # ---- events

    def scrollContentsBy(self, dx: int, dy: int) -> None:
        """Paints anew at the new place."""
        if not self._fitting:
            self._fresh = False
            self._read_anchor()
            self._settle()
        self.viewport().update()
        self._tell_pages()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Lays out anew for another width."""
        super().resizeEvent(event)
        fresh = self._fresh
        if event.oldSize().width() != event.size().width():
            self._forget()
        else:
            self._settle()
        if fresh:
            self._place_first()
        self._tell_pages()

    def showEvent(self, event: QShowEvent) -> None:
        """Goes on with measuring."""
        super().showEvent(event)
        if self._measured < len(self._heights):
            self._idle.start()

    def hideEvent(self, event: QHideEvent) -> None:
        """Measures nothing that cannot be seen."""
        super().hideEvent(event)
        self._idle.stop()

    def _on_theme(self) -> None:
        self._forget()

    def _tell_pages(self) -> None:
        pages = self._top_pages()
        if pages != self._pages:
            self._pages = pages
            self.pagesChanged.emit(*pages)

    def _top_pages(self) -> tuple[int | None, int | None]:
        """Gives the page of the topmost row that each side has."""
        found: list[int | None] = [None, None]
        for line in self._model.lines[self._anchor[0] : self._anchor[0] + 40]:
            if line.first < 0 or (line.gap and not line.opened):
                continue
            row = self._model.rows[line.first]
            for side, page in enumerate((row.left_page, row.right_page)):
                found[side] = found[side] or page
            if found[0] is not None and found[1] is not None:
                break
        return found[0], found[1]

    # ---- painting

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paints the lines that can be seen."""
        painter = QPainter(self.viewport())
        painter.fillRect(event.rect(), theme.color("surface"))
        if not self._heights:
            return
        height, width = self.viewport().height(), self.viewport().width()
        number, y = self._anchor[0], self._offset(self._anchor[0]) - self.verticalScrollBar().value()
        while number < len(self._heights) and y < height:
            line = self._model.lines[number]
            place = QRect(0, y, width, self._heights[number])
            if line.gap:
                self._paint_gap(painter, place, line)
            elif line.first < 0:
                self._paint_tail(painter, place, line)
            else:
                self._paint_row(painter, place, number)
            y += place.height()
            number += 1
        if self.shows_focus() and self.currentIndex().isValid():
            ring = self.visualRect(self.currentIndex()).adjusted(4, 0, -4, 0)
            paint_focus(painter, ring, 4)

    def _paint_gap(self, painter: QPainter, place: QRect, line: Line) -> None:
        font = theme.font("meta")
        metrics = QFontMetricsF(font)
        text = metrics.elidedText(line.caption, Qt.TextElideMode.ElideMiddle, place.width() - 2 * SIDE - 80)
        wide = metrics.horizontalAdvance(text)
        used = wide + 8 + 16
        x = place.x() + (place.width() - used) / 2
        middle = place.center().y()
        painter.setPen(theme.color("border"))
        painter.drawLine(SIDE, middle, int(x) - 12, middle)
        painter.drawLine(int(x + used) + 12, middle, place.right() - SIDE, middle)
        painter.setFont(font)
        painter.setPen(theme.color("muted"))
        painter.drawText(QRect(int(x), place.y(), int(wide) + 2, place.height()), Qt.AlignmentFlag.AlignVCenter, text)
        box = QRect(int(x + wide) + 8, middle - 8, 16, 16)
        icons.paint(painter, "up" if line.opened else "chevron", box, "muted")

    def _paint_tail(self, painter: QPainter, place: QRect, line: Line) -> None:
        painter.setFont(theme.font("meta"))
        painter.setPen(theme.color("muted"))
        painter.drawText(place.adjusted(SIDE, 0, -SIDE, 0), Qt.AlignmentFlag.AlignCenter, line.caption)

    def _paint_row(self, painter: QPainter, place: QRect, number: int) -> None:
        middle = self._middle()
        painter.setPen(theme.color("border"))
        painter.drawLine(middle, place.top(), middle, place.bottom())
        row = self._model.rows[self._model.lines[number].first]
        for side, (x, ink) in enumerate(((SIDE, LEFT_INK), (middle + SIDE, RIGHT_INK))):
            cell = self._cell(number, side)
            if cell is None:
                continue
            top = place.y() + ROW + (4 if row.heading else 0)
            if row.moved:
                painter.setFont(theme.font("meta"))
                painter.setPen(theme.color("muted"))
                other = self._model.names[1 - side]
                box = QRect(x, top, self._text_width(side), self._note_height())
                painter.drawText(box, Qt.AlignmentFlag.AlignVCenter,
                                 f"Moved: stands elsewhere in {other}")
                top += self._note_height()
            cell.draw(painter, QPointF(x, top), ink, self._picked_in(number, side))

    def _picked_in(self, line: int, side: int) -> tuple[int, int] | None:
        picked = self._picked
        return (picked[2], picked[3]) if picked is not None and picked[:2] == (line, side) else None

    def _text_top(self, number: int) -> int:
        """Gives where the text of a row begins, below the upper edge of its line."""
        row = self._model.rows[self._model.lines[number].first]
        return ROW + (4 if row.heading else 0) + (self._note_height() if row.moved else 0)
