"""Two texts side by side: what is the same folds, keys go from difference to difference, text can be copied."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from PySide6.QtCore import (
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QPointF,
    QRect,
    Qt,
    Signal,
)
from PySide6.QtGui import (
    QAction,
    QContextMenuEvent,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
)
from PySide6.QtWidgets import QAbstractItemView, QWidget

from sbert_desktop.app.duplicate_views import DiffRow
from sbert_desktop.ui.duplicates.diff_canvas import SIDE, DiffCanvas, Picked
from sbert_desktop.ui.duplicates.diff_lines import Line, fold
from sbert_desktop.ui.duplicates.diff_model import INVISIBLE
from sbert_desktop.ui.widgets import announce, menu, name


class DiffView(DiffCanvas):
    """Shows the rows of a comparison. ``step(+1)`` goes to the next difference."""

    stepped = Signal(int, int)  # number of the difference from 1 on (0: before the first), and how many there are

    def __init__(self, parent: QWidget | None = None) -> None:
        self._rows: Sequence[DiffRow] = ()
        self._only, self._tail = True, ""
        self._opened: set[int] = set()
        self._differing: list[int] = []  # numbers of rows
        self._pressed: tuple[int, int, int] | None = None  # line, side and place where the button went down
        super().__init__(parent)
        name(self, "compare_text", "Differences", "Up and Down go from row to row, F7 to the next difference")
        self.copy_left = self._action("compare_copy_left", "Copy left paragraph", lambda: self.copy_side(0))
        self.copy_selection = self._action("compare_copy_selection", "Copy selected text", self.copy)
        self.copy_right = self._action("compare_copy_right", "Copy right paragraph", lambda: self.copy_side(1))

    def _action(self, object_name: str, text: str, slot: object) -> QAction:
        action = QAction(text, self)
        action.setObjectName(object_name)
        action.triggered.connect(slot)
        return action

    # ---- content

    def set_rows(self, rows: Sequence[DiffRow], *, names: tuple[str, str] = ("A", "B"), tail: str = "") -> None:
        """Shows a comparison from its first difference on."""
        self._rows, self._tail = rows, tail
        self._model.names = names
        self._opened.clear()
        self._differing = [number for number, row in enumerate(rows) if not row.same]
        self._anchor = (0, 0)
        self._refold(None)
        self._place_first()
        self._tell_place()

    def _place_first(self) -> None:
        """Shows the beginning, or as far down as the first difference can be seen; until the person moves."""
        first = self._line_of(self._differing[0]) if self._differing else 0
        self._fresh = False
        self.verticalScrollBar().setValue(0)
        if self._model.lines:
            self.setCurrentIndex(self._model.index(first, 0))
            if self._offset(first) + self._heights[first] > self.viewport().height():
                above = first - 1 if first and self._model.lines[first - 1].first >= 0 else first
                self.scrollTo(self._model.index(above, 0), QAbstractItemView.ScrollHint.PositionAtTop)
        self._fresh = True

    def set_names(self, names: tuple[str, str]) -> None:
        """Changes the marks of the two documents."""
        self._model.names = names
        self.viewport().update()

    def pages(self) -> tuple[int | None, int | None]:
        """Gives the pages that stand at the top."""
        return self._top_pages()

    def set_only_differences(self, only: bool) -> None:
        """Folds what is the same, or shows all; the row under the eye stays."""
        if only == self._only:
            return
        self._only = only
        self._opened.clear()
        self._refold(self._row_in_view())

    def only_differences(self) -> bool:
        """Tells whether what is the same is folded."""
        return self._only

    def lines(self) -> Sequence[Line]:
        """Gives the lines as they are shown."""
        return self._model.lines

    def spoken(self, line: int, side: int) -> str:
        """Gives what a screen reader says of a cell."""
        return self._model.spoken(line, side)

    def differences(self) -> int:
        """Gives the number of rows that differ."""
        return len(self._differing)

    def toggle(self, line: int) -> None:
        """Opens or closes the fold on a line."""
        found = self._model.lines[line]
        if not found.gap:
            return
        self._opened ^= {found.first}
        top, current = self._offset(line) - self.verticalScrollBar().value(), self.currentIndex().column()
        self._refold(None)
        self.setCurrentIndex(self._model.index(line, max(0, current)))
        self.verticalScrollBar().setValue(self._offset(line) - top)
        announce(self, self._model.spoken(line, 0))

    def _row_in_view(self) -> int | None:
        """Gives the number of the row at which the eye is: the current one, else the topmost."""
        lines = self._model.lines
        if not lines:
            return None
        current = self.currentIndex().row()
        rect = self.visualRect(self.currentIndex()) if current >= 0 else QRect()
        at = current if rect.intersects(self.viewport().rect()) else self._anchor[0]
        return lines[min(at, len(lines) - 1)].first

    def _refold(self, keep: int | None) -> None:
        """Makes the lines anew; row ``keep`` is the current one afterwards, at the height where it was."""
        old = self.currentIndex()
        top = self.visualRect(old).top() if old.isValid() else 0
        column = max(0, old.column())
        self._picked = self._pressed = None
        lines = fold(self._rows, only_differences=self._only, opened=self._opened, tail=self._tail)
        self._model.set_lines(self._rows, lines)
        self._forget()
        if keep is not None and lines:
            at = self._line_of(keep)
            self.setCurrentIndex(self._model.index(at, column))
            self.verticalScrollBar().setValue(self._offset(at) - max(0, min(top, self.viewport().height() // 2)))

    def _line_of(self, row: int) -> int:
        """Gives the line that shows a row, or the fold that it is in."""
        for number, line in enumerate(self._model.lines):
            if line.first >= 0 and line.first <= row < line.first + line.rows and not (line.gap and line.opened):
                return number
        return 0

    # ---- going from difference to difference

    def step(self, by: int) -> None:
        """Goes to the next or previous difference, around at the end."""
        if not self._differing:
            return
        line = self._model.lines[max(0, self.currentIndex().row())] if self._model.lines else None
        at = line.first if line is not None else -1
        if by > 0:
            found = next((row for row in self._differing if row > at), self._differing[0])
        else:
            found = next((row for row in reversed(self._differing) if row < at), self._differing[-1])
        index = self._model.index(self._line_of(found), max(0, self.currentIndex().column()))
        self.setCurrentIndex(index)
        if not self.viewport().rect().contains(self.visualRect(index)):
            self.scrollTo(index, QAbstractItemView.ScrollHint.PositionAtCenter)
        number = self._differing.index(found)
        spoken = (self._model.spoken(index.row(), side) for side in (0, 1))
        announce(self, f"Difference {number + 1} of {len(self._differing)}. {'. '.join(spoken)}")

    def place(self) -> tuple[int, int]:
        """Gives the number of the difference at the current line, 0 before the first, and how many there are."""
        lines, row = self._model.lines, self.currentIndex().row()
        at = lines[row].first if 0 <= row < len(lines) else -1
        return bisect_right(self._differing, at), len(self._differing)

    def _tell_place(self) -> None:
        self.stepped.emit(*self.place())

    def currentChanged(
        self, current: QModelIndex | QPersistentModelIndex, previous: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Tells which difference is current, and brings it into view."""
        super().currentChanged(current, previous)
        if current.isValid():
            self.scrollTo(current)
        self._tell_place()
        self.viewport().update()

    # ---- copying

    def copy_side(self, side: int) -> None:
        """Puts the current row's text of one side on the clipboard."""
        line = self.currentIndex().row()
        self._put(self._model.text(line, side) if 0 <= line < len(self._model.lines) else "")

    def copy(self) -> None:
        """Puts the selected text on the clipboard; without one the current cell's."""
        picked = self.selected_text()
        if picked:
            self._put(picked)
        else:
            self.copy_side(max(0, self.currentIndex().column()))

    def selected_text(self) -> str:
        """Gives the text selected with the pointer, "" for none."""
        if self._picked is None:
            return ""
        line, side, first, last = self._picked
        cell = self._cell(line, side)
        return cell.piece(first, last).replace(INVISIBLE, "") if cell is not None else ""

    def _put(self, text: str) -> None:
        if text:
            QGuiApplication.clipboard().setText(text)
            announce(self, "Copied")

    def _pick(self, picked: Picked | None) -> None:
        if picked != self._picked:
            self._picked = picked
            self.viewport().update()

    def _unit_at(self, point: QPoint, line: int, side: int) -> int | None:
        """Gives the place in a cell's text at a point of the viewport; None where it has no text."""
        found = self._model.lines[line]
        cell = None if found.gap or found.first < 0 else self._cell(line, side)
        if cell is None:
            return None
        place = self.visualRect(self._model.index(line, side))
        return cell.unit_at(QPointF(point.x() - place.x() - SIDE, point.y() - place.y() - self._text_top(line)))

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offers to copy."""
        index = self.currentIndex()
        if event.reason() == QContextMenuEvent.Reason.Mouse:
            index = self.indexAt(event.pos())
            if index.isValid():
                self.setCurrentIndex(index)
        if not index.isValid():
            return
        line = self._model.lines[index.row()]
        row = self._rows[line.first] if line.first >= 0 and not line.gap else None
        self.copy_left.setEnabled(row is not None and row.left is not None)
        self.copy_right.setEnabled(row is not None and row.right is not None)
        opened = menu(self, "compare_menu", "Row")
        opened.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        if self._picked is not None:
            opened.addAction(self.copy_selection)
        opened.addAction(self.copy_left)
        opened.addAction(self.copy_right)
        place = event.globalPos() if event.reason() == QContextMenuEvent.Reason.Mouse else \
            self.viewport().mapToGlobal(self.visualRect(index).bottomLeft())
        opened.popup(place)

    # ---- events

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter and Space open a fold; copies the current cell."""
        row = self.currentIndex().row()
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            if 0 <= row < len(self._model.lines):
                self.toggle(row)
            event.accept()
        elif event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
            event.accept()
        elif event.text() and event.text().isprintable():
            event.ignore()
        else:
            super().keyPressEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Begins to select text of one cell."""
        super().mousePressEvent(event)
        if event.button() == Qt.MouseButton.LeftButton:
            self._pick(None)
            point = event.position().toPoint()
            index = self.indexAt(point)
            unit = self._unit_at(point, index.row(), index.column()) if index.isValid() else None
            self._pressed = (index.row(), index.column(), unit) if unit is not None else None

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Selects text; shows by the pointer's shape what opens and what can be selected."""
        point = event.position().toPoint()
        if self._pressed is not None and event.buttons() & Qt.MouseButton.LeftButton:
            line, side, first = self._pressed
            unit = self._unit_at(point, line, side)
            if unit is not None:
                self._pick((line, side, min(first, unit), max(first, unit)) if unit != first else None)
            return
        index = self.indexAt(point)
        shapes = Qt.CursorShape
        shape = shapes.ArrowCursor
        if index.isValid():
            line_ = self._model.lines[index.row()]
            shape = shapes.PointingHandCursor if line_.gap else shapes.IBeamCursor if line_.first >= 0 else shape
        self.viewport().setCursor(shape)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Selects a word."""
        point = event.position().toPoint()
        index = self.indexAt(point)
        unit = self._unit_at(point, index.row(), index.column()) if index.isValid() else None
        cell = self._cell(index.row(), index.column()) if unit is not None else None
        if unit is not None and cell is not None:
            self._pick((index.row(), index.column(), *cell.word_at(unit)))
            self._pressed = None

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Opens the fold that is clicked."""
        super().mouseReleaseEvent(event)
        self._pressed = None
        index = self.indexAt(event.position().toPoint())
        if event.button() == Qt.MouseButton.LeftButton and index.isValid():
            self.toggle(index.row())
