"""What is known of two documents, compared in a table; rows that differ stand out."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, Qt
from PySide6.QtGui import QFontMetrics, QGuiApplication, QKeyEvent, QKeySequence, QPainter, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableWidget,
    QTableWidgetItem,
    QWidget,
)

from sbert_desktop.ui.search.text import one_line
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.widgets import KeyboardFocus, name, paint_focus, plain_tip

ROW = 32
LABELS = 132


class _Painter(QStyledItemDelegate):
    """Paints a cell; what differs is bold, what does not is muted."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
              ) -> None:
        rect: QRect = option.rect
        table = self.parent()
        assert isinstance(table, FactsTable)
        differs = table.differs(index.row())
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        if chosen:
            painter.fillRect(rect, theme.color("selected"))
        painter.fillRect(QRect(rect.x(), rect.bottom(), rect.width(), 1), theme.color("border"))
        box = rect.adjusted(16 if index.column() == 0 else 8, 0, -8, -1)
        font = theme.font("strong" if differs and index.column() else "body")
        text = QFontMetrics(font).elidedText(str(index.data()), Qt.TextElideMode.ElideMiddle, box.width())
        painter.setFont(font)
        painter.setPen(theme.color("text" if differs else "muted"))
        painter.drawText(box, Qt.AlignmentFlag.AlignVCenter, text)
        if index == table.currentIndex() and table.shows_focus():
            paint_focus(painter, rect, 4)


class FactsTable(KeyboardFocus, QTableWidget):
    """Rows of label, left and right value. A row that differs has a sign and is bold; Ctrl+C copies the cell."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(0, 3, parent)
        name(self, "compare_facts", "Facts of both documents")
        self.setFrameShape(QAbstractItemView.Shape.NoFrame)
        self.setShowGrid(False)
        self.verticalHeader().hide()
        head = self.horizontalHeader()
        name(head, "compare_facts_head", "Documents")
        head.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        head.setHighlightSections(False)
        head.setSectionsClickable(False)
        head.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        head.setSectionResizeMode(head.ResizeMode.Fixed)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setItemDelegate(_Painter(self))
        self._facts: Sequence[tuple[str, str, str]] = ()
        self._names = ("A", "B")
        self._titles = ("", "")
        theme.themeChanged.connect(self._fill)

    def set_facts(self, facts: Sequence[tuple[str, str, str]], names: tuple[str, str],
                  titles: tuple[str, str] = ("", "")) -> None:
        """Shows facts: label, left, right; ``names`` are the marks of the two, ``titles`` their heads."""
        self._facts, self._names, self._titles = facts, names, titles
        self._fill()

    def differing(self) -> list[str]:
        """Gives the labels of rows that differ."""
        return [label for label, left, right in self._facts if left != right]

    def differs(self, row: int) -> bool:
        """Tells whether a row differs."""
        _, left, right = self._facts[row]
        return left != right

    def _fill(self) -> None:
        self.setRowCount(len(self._facts))
        heads = (f"{mark}   {title}" for mark, title in zip(self._names, self._titles, strict=True))
        self.setHorizontalHeaderLabels(["", *heads])
        height = theme.height(ROW, padding=12)
        for number, (label, left, right) in enumerate(self._facts):
            differs = left != right
            said = "differs" if differs else "the same"
            for column, text in enumerate((label, left, right)):
                cell = QTableWidgetItem(("≠ " if differs else "") + label if column == 0 else one_line(text) or "–")
                cell.setToolTip(plain_tip(text))
                who = f"{label}, {self._names[column - 1]}" if column else ""
                heard = f"{who}: {text or 'nothing'}" if column else f"{label}, {said}"
                cell.setData(Qt.ItemDataRole.AccessibleTextRole, heard)
                self.setItem(number, column, cell)
            self.setRowHeight(number, height)
        self._fit()

    def _fit(self) -> None:
        self.horizontalHeader().setFixedHeight(theme.height(37, padding=16))
        self.horizontalHeader().setFont(theme.font("medium"))
        labels = min(theme.metrics("body").horizontalAdvance("≠ Last modified by") + 40, self.viewport().width() // 3)
        rest = max(80, self.viewport().width() - labels)
        self.setColumnWidth(0, labels)
        self.setColumnWidth(1, rest // 2)
        self.setColumnWidth(2, rest - rest // 2)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Shares the width out."""
        super().resizeEvent(event)
        self._fit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Copies the whole value, not the shortened one."""
        row, column = self.currentRow(), self.currentColumn()
        if event.matches(QKeySequence.StandardKey.Copy) and row >= 0:
            QGuiApplication.clipboard().setText(self._facts[row][max(0, column)])
            event.accept()
            return
        super().keyPressEvent(event)
