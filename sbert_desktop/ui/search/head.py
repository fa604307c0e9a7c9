"""The head of the Search page: the box and its balance, the filters, the result line."""

from __future__ import annotations

from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from sbert_desktop.app.interface import Commands
from sbert_desktop.ui.search.filters import FilterBar
from sbert_desktop.ui.search.model import Order
from sbert_desktop.ui.search.query_box import BalanceSlider, QueryBox, SortBox
from sbert_desktop.ui.theme import Theme
from sbert_desktop.ui.widgets import Button, ElidedLabel, IconButton, Label, ProgressBar

ORDERS = ((Order.BEST, "Best first"), (Order.NEWEST, "Newest first"), (Order.NAME, "Name"),
          (Order.BEST, "Best, newer preferred"))
NEWER_PREFERRED = 3
SIDE = 8  # of a flat choice beside its chevron, which is to end where the slider's words end
RECENCY = 0.3  # weight of newness while newer ones are preferred


class SearchHead(QWidget):
    """Holds the controls above the results; the page connects them."""

    def __init__(self, commands: Commands, weight: int, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self.query = QueryBox(commands.history, self)
        self.balance = BalanceSlider(weight, self)
        self.filters = FilterBar(self)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 12, 16 - SIDE, 0)
        column.setSpacing(8)
        first = QHBoxLayout()
        first.setSpacing(16)
        first.setContentsMargins(0, 0, SIDE, 0)
        first.addWidget(self.query, 1)
        first.addWidget(self.balance)
        column.addLayout(first)
        column.addWidget(self.filters)
        column.addWidget(self._make_line())
        self.fit()

    def _make_line(self) -> QWidget:
        self.count = Label("", role="meta", object_name="search_count")
        self.count.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Preferred)
        self.notes = ElidedLabel("", role="meta", tone="muted", object_name="search_notes")
        self.newer = Button("", kind="link", size="small", icon="refresh", object_name="search_newer")
        self.progress = ProgressBar(object_name="search_progress", accessible="Second look")
        self.progress.setFixedWidth(64)
        self.second = Button("Second look", size="small", object_name="search_second_look",
                             tip="Reads the best passages again together with your words, and puts them in order")
        self.second.setCheckable(True)
        self.quotes = IconButton("quote", "Check my quotes", object_name="search_quotes")
        self.sort = SortBox(object_name="search_sort", accessible="Sort by", flat=True)
        for order, words in ORDERS:
            self.sort.addItem(words, order)
        self.line = QWidget(self)
        row = QHBoxLayout(self.line)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        counts = QHBoxLayout()
        counts.setSpacing(0)
        counts.addWidget(self.count)
        counts.addWidget(self.notes, 1)
        row.addLayout(counts, 1)
        # in the line, not above the list: appearing there would push the rows from under the pointer
        for widget in (self.progress, self.newer, self.second, self.quotes):
            widget.hide()
            row.addWidget(widget)
        row.addWidget(self.sort)
        return self.line

    def fit(self) -> None:
        """Follows the size of the text."""
        self.filters.help_button.setFixedHeight(self.filters.add_button.sizeHint().height())
        self.line.setFixedHeight(self._theme.height(28, role="meta", padding=8))

    def parts(self, chips: list[QWidget]) -> list[QWidget]:
        """Gives the controls in the order of Tab; ``chips`` are those of what is typed."""
        return [self.query.edit, self.query.clear_button, self.balance.slider, *self.filters.chips(),
                *chips, self.filters.add_button, self.filters.help_button, self.newer, self.second, self.quotes,
                self.sort]
