"""What the Search page shows before anything is typed: a hint and the searches made last."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter
from PySide6.QtWidgets import (
    QHBoxLayout,
    QListWidget,
    QListWidgetItem,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from sbert_desktop.ui import icons
from sbert_desktop.ui.search.text import one_line
from sbert_desktop.ui.theme import Theme
from sbert_desktop.ui.widgets import Button, Drawing, Label, paint_box, paint_focus

RECENT = 8


class RecentDelegate(QStyledItemDelegate):
    """Rows of earlier queries with a clock; a row without one (``plain``) is a command."""

    def __init__(self, theme: Theme, parent: QWidget, *, popup: bool = False) -> None:
        super().__init__(parent)
        self._theme = theme
        self._popup = popup  # the chosen row of a pop-up shows even while the focus is elsewhere

    def sizeHint(self, option: QStyleOptionViewItem, index) -> QSize:  # type: ignore[no-untyped-def]
        """Gives the height of a row."""
        return QSize(120, self._theme.height(32, padding=12))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index) -> None:  # type: ignore[no-untyped-def]
        """Paints a row."""
        theme, rect = self._theme, option.rect
        view = option.widget
        focused = view is not None and view.hasFocus() and bool(option.state & QStyle.StateFlag.State_HasFocus)
        focused = focused or (self._popup and bool(option.state & QStyle.StateFlag.State_Selected))
        command = self._popup and index.row() == index.model().rowCount() - 1
        over = bool(option.state & QStyle.StateFlag.State_MouseOver)
        if focused or over:
            paint_box(painter, rect.adjusted(3, 1, -3, -1) if self._popup else rect,
                      "selected" if focused else "hover", None)
        spot = rect.adjusted(8, 0, 0, 0)
        spot.setSize(QSize(16, rect.height()))
        icons.paint(painter, "close" if command else "history", spot, "muted")
        font, metrics = theme.font("body"), theme.metrics("body")
        painter.setFont(font)
        painter.setPen(theme.color("muted" if command else "text"))
        place = rect.adjusted(34, 0, -8, 0)
        text = metrics.elidedText(str(index.data()), Qt.TextElideMode.ElideRight, place.width())
        painter.drawText(place, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, text)
        if focused and not self._popup:
            paint_focus(painter, rect)


class StartPanel(QWidget):
    """A drawing, a hint, and the last searches as a list that can be clicked."""

    chosen = Signal(str)
    cleared = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setObjectName("search_start")
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 24, 24, 24)
        column.setSpacing(0)
        column.addStretch(2)
        column.addWidget(Drawing("documents"), 0, Qt.AlignmentFlag.AlignHCenter)
        column.addSpacing(16)
        self.title = Label("What do you remember?", role="page_title", object_name="search_start_title")
        self.title.setAlignment(Qt.AlignmentFlag.AlignCenter)
        column.addWidget(self.title)
        column.addSpacing(8)
        self.hint = Label("Say it in your own words. The words of the document need not be the same.",
                          tone="muted", wrap=True, object_name="search_start_hint")
        self.hint.setAlignment(Qt.AlignmentFlag.AlignCenter)
        column.addWidget(self.hint)
        column.addSpacing(24)
        self._recent = QWidget(self)
        self._recent.setMaximumWidth(480)
        inner = QVBoxLayout(self._recent)
        inner.setContentsMargins(0, 0, 0, 0)
        inner.setSpacing(4)
        head = QHBoxLayout()
        head.addWidget(Label("Recent searches", role="meta_medium", tone="muted"))
        head.addStretch(1)
        self.clear_button = Button("Clear", kind="link", size="small", object_name="search_history_clear",
                                   accessible="Clear recent searches")
        self.clear_button.clicked.connect(self.cleared)
        head.addWidget(self.clear_button)
        inner.addLayout(head)
        self.list = _KeyList(self._recent)
        self.list.setObjectName("search_recent")
        self.list.setAccessibleName("Recent searches")
        self.list.setItemDelegate(RecentDelegate(theme, self.list))
        self.list.setMouseTracking(True)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setFrameShape(QListWidget.Shape.NoFrame)
        self.list.itemClicked.connect(self._choose)
        self.list.entered_by_key.connect(self._choose)
        inner.addWidget(self.list)
        row = QHBoxLayout()
        row.addStretch(1)
        row.addWidget(self._recent, 8)
        row.addStretch(1)
        column.addLayout(row)
        column.addSpacing(16)
        self.quotes = Button("Check the quotations of a draft…", kind="link", icon="quote",
                             object_name="search_start_quotes",
                             tip="Finds each quotation in your library, with its page and the words that changed")
        column.addWidget(self.quotes, 0, Qt.AlignmentFlag.AlignHCenter)
        self.quotes.hide()
        column.addStretch(3)
        theme.themeChanged.connect(self._fit)
        self.set_history(())

    def parts(self) -> list[QWidget]:
        """Gives the controls in the order of Tab."""
        return [self.clear_button, self.list, self.quotes]

    def set_quotes(self, possible: bool) -> None:
        """Offers to check quotations, where the program can."""
        self.quotes.setVisible(possible)

    def set_history(self, queries: Sequence[str]) -> None:
        """Shows the last searches, newest first."""
        self.list.clear()
        for query in queries[:RECENT]:
            item = QListWidgetItem(one_line(query))
            item.setData(Qt.ItemDataRole.UserRole, query)
            self.list.addItem(item)
        if queries:
            self.list.setCurrentRow(0)
        self._recent.setVisible(bool(queries))
        self._fit()

    def _fit(self) -> None:
        row = self._theme.height(32, padding=12)
        self.list.setMinimumHeight(min(2, self.list.count()) * row)
        self.list.setMaximumHeight(max(1, self.list.count()) * row + 2)

    def _choose(self, item: QListWidgetItem) -> None:
        self.chosen.emit(str(item.data(Qt.ItemDataRole.UserRole)))


class _KeyList(QListWidget):
    entered_by_key = Signal(QListWidgetItem)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        item = self.currentItem()
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space) and item is not None:
            self.entered_by_key.emit(item)
            return
        super().keyPressEvent(event)
