"""What is known of two documents, compared in a table; rows that differ stand out."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QTableWidget, QTableWidgetItem, QWidget

from sbert_desktop.ui.search.text import one_line
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.widgets import KeyboardFocus, name, plain_tip

ROW = 32
LABELS = 132


class FactsTable(KeyboardFocus, QTableWidget):
    """Rows of label, left and right value. A row that differs has a sign and is bold; Ctrl+C copies the cell."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(0, 3, parent)
        name(self, "compare_facts", "Facts of both documents")
        self.setFrameShape(QAbstractItemView.Shape.NoFrame)
        self.setShowGrid(False)
        self.verticalHeader().hide()
        self.horizontalHeader().hide()
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self._facts: Sequence[tuple[str, str, str]] = ()
        self._names = ("A", "B")
        theme.themeChanged.connect(self._fill)

    def set_facts(self, facts: Sequence[tuple[str, str, str]], names: tuple[str, str]) -> None:
        """Shows facts: label, left, right."""
        self._facts, self._names = facts, names
        self._fill()

    def differing(self) -> list[str]:
        """Gives the labels of rows that differ."""
        return [label for label, left, right in self._facts if left != right]

    def _fill(self) -> None:
        self.setRowCount(len(self._facts))
        self.setHorizontalHeaderLabels(["", *self._names])
        height = theme.height(ROW, padding=12)
        for number, (label, left, right) in enumerate(self._facts):
            differs = left != right
            said = "differs" if differs else "the same"
            for column, text in enumerate((label, left, right)):
                cell = QTableWidgetItem(("≠ " if differs else "") + label if column == 0 else one_line(text) or "–")
                strong = differs and column > 0
                cell.setFont(theme.font("strong" if strong else "body"))
                cell.setForeground(theme.color("text" if differs else "muted"))
                cell.setToolTip(plain_tip(text))
                who = f"{label}, {self._names[column - 1]}" if column else ""
                heard = f"{who}: {text or 'nothing'}" if column else f"{label}, {said}"
                cell.setData(Qt.ItemDataRole.AccessibleTextRole, heard)
                self.setItem(number, column, cell)
            self.setRowHeight(number, height)
        self._fit()

    def _fit(self) -> None:
        labels = min(theme.metrics("body").horizontalAdvance("≠ Last modified by") + 32, self.viewport().width() // 3)
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
