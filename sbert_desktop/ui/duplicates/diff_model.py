"""The lines of a comparison as a table of two columns, for the view and for screen readers."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtWidgets import QWidget

from sbert_desktop.app.duplicate_views import DiffRow
from sbert_desktop.ui.duplicates.diff_lines import Line

AnyIndex = QModelIndex | QPersistentModelIndex
_ROOT = QModelIndex()
INVISIBLE = "\u2060"  # stands for a hyphen at a line's end


class DiffModel(QAbstractTableModel):
    """The lines as a table of two columns; a gap says the same in both."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.rows: Sequence[DiffRow] = ()
        self.lines: list[Line] = []
        self.longest: list[int] = []  # code points of the longer side of each line, -1 for a fold
        self.names = ("A", "B")

    def set_lines(self, rows: Sequence[DiffRow], lines: list[Line]) -> None:
        """Takes other lines."""
        self.beginResetModel()
        self.rows, self.lines = rows, lines
        self.longest = [
            -1 if line.gap or line.first < 0
            else max(len(rows[line.first].left or ""), len(rows[line.first].right or "")) for line in lines
        ]
        self.endResetModel()

    def rowCount(self, parent: AnyIndex = _ROOT) -> int:
        """Gives the number of lines."""
        return 0 if parent.isValid() else len(self.lines)

    def columnCount(self, parent: AnyIndex = _ROOT) -> int:
        """Gives two."""
        return 0 if parent.isValid() else 2

    def data(self, index: AnyIndex, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Gives the text of a cell, and for a screen reader what of it the other side lacks."""
        if not index.isValid() or index.row() >= len(self.lines):
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self.text(index.row(), index.column())
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return self.spoken(index.row(), index.column())
        return None

    def headerData(self, section: int, orientation: Qt.Orientation,
                   role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Gives the marks of the two documents."""
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole and section < 2:
            return self.names[section]
        return None

    def text(self, number: int, side: int) -> str:
        """Gives the text of one side of a line."""
        line = self.lines[number]
        if line.gap or line.first < 0:
            return line.caption
        row = self.rows[line.first]
        return ((row.left if side == 0 else row.right) or "").replace(INVISIBLE, "")

    def spoken(self, number: int, side: int) -> str:
        """Gives what a screen reader says of a cell."""
        line = self.lines[number]
        if line.gap:
            return f"{line.caption}, {'shown' if line.opened else 'folded'}"
        if line.first < 0:
            return line.caption
        row = self.rows[line.first]
        text, marks = (row.left, row.left_marks) if side == 0 else (row.right, row.right_marks)
        mine, other = self.names[side], self.names[1 - side]
        if text is None:
            return f"{mine}: nothing here"
        head = f"Heading, {mine}" if row.heading else mine
        if row.same:
            return f"{head}, the same: {text}".replace(INVISIBLE, "")
        if row.moved:
            return f"{head}, moved, stands elsewhere in {other}: {text}".replace(INVISIBLE, "")
        if marks == ((0, len(text)),):
            return f"{head}, only in {mine}: {text}".replace(INVISIBLE, "")
        only = "; ".join(f"“{text[low:high]}”" for low, high in marks)
        said = f"{head}: {text} Only in {mine}: {only}" if only else f"{head}, less than in {other}: {text}"
        return said.replace(INVISIBLE, "")
