"""The panel of the filter: a range of dates, and groups that are hidden."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Final

import numpy as np
from PySide6.QtCore import QDate, QModelIndex, QPersistentModelIndex, QRect, Qt, Signal
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import (
    QDateEdit,
    QHBoxLayout,
    QListWidget,
    QListWidgetItem,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from sbert_desktop.app.atlas_views import ColourView
from sbert_desktop.ui import icons, words
from sbert_desktop.ui.duplicates.group_list import paint_check
from sbert_desktop.ui.map.popover import Popover
from sbert_desktop.ui.map.range_slider import RangeSlider
from sbert_desktop.ui.map.words import LEGEND
from sbert_desktop.ui.naming import quick_path
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.widgets import Button, Label, name, plain_tip

Index = QModelIndex | QPersistentModelIndex
DAY: Final = 86_400.0
EARLIEST: Final = -2_000_000_000.0  # 1906: what lies before is a fault of a file, and would make the scale useless


class _TickDelegate(QStyledItemDelegate):
    """A box of the theme's look and the name of the group."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        rect: QRect = option.rect
        if option.state & (QStyle.StateFlag.State_MouseOver | QStyle.StateFlag.State_HasFocus):
            painter.fillRect(rect, theme.color("hover"))
        paint_check(painter, QRect(rect.x() + 4, rect.center().y() - 7, 16, 16),
                    Qt.CheckState(index.data(Qt.ItemDataRole.CheckStateRole)))
        painter.setFont(theme.font("body"))
        painter.setPen(theme.color("text"))
        room = rect.adjusted(28, 0, -4, 0)
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter, painter.fontMetrics().elidedText(
            str(index.data()), Qt.TextElideMode.ElideRight, room.width()))


class FilterPanel(Popover):
    """``datesChanged(low, high)`` in seconds, None where an end is open; ``hiddenChanged(set of groups)``."""

    datesChanged = Signal(object, object)
    hiddenChanged = Signal(object)

    def __init__(self, host: QWidget) -> None:
        super().__init__(host, "map_filter_panel", "Filter the map", width=320)
        self._first = self._last = 0.0
        self._hidden: set[int] = set()
        self._filling = False
        self._later: Callable[[], object] = lambda: None
        self.dates_title = Label("Date", role="section", object_name="map_filter_dates_title")
        self.slider = RangeSlider()
        self.column.addWidget(self.dates_title)
        self.column.addWidget(self.slider)
        row = QHBoxLayout()
        row.setSpacing(8)
        self.low, self.high = self._date_edit("map_date_low", "From"), self._date_edit("map_date_high", "To")
        row.addWidget(self.low, 1)
        row.addWidget(Label("to", tone="muted"))
        row.addWidget(self.high, 1)
        self.column.addLayout(row)
        self.note = Label("", role="meta", tone="muted", wrap=True, object_name="map_filter_note")
        self.column.addWidget(self.note)
        self.groups_title = Label("", role="section", object_name="map_filter_groups_title")
        self.list = QListWidget()
        name(self.list, "map_filter_groups", "Groups shown", "Space shows or hides a group")
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setStyleSheet("QListWidget { background: transparent; }")  # it lies on a card
        theme.set_role(self.list, "body")
        self.list.setItemDelegate(_TickDelegate(self.list))
        self.list.setMouseTracking(True)
        self.column.addWidget(self.groups_title)
        self.column.addWidget(self.list)
        self.clear = Button("Show everything", size="small", object_name="map_filter_clear")
        self.column.addWidget(self.clear)
        self.slider.changed.connect(self._on_slider)
        self.low.dateChanged.connect(lambda _: self._on_fields())
        self.high.dateChanged.connect(lambda _: self._on_fields())
        self.list.itemChanged.connect(self._on_item)
        self.clear.clicked.connect(self.show_everything)

    def _date_edit(self, object_name: str, accessible: str) -> QDateEdit:
        made = QDateEdit()
        name(made, object_name, accessible)
        made.setDisplayFormat("yyyy-MM-dd")
        theme.set_role(made, "body")
        made.setMinimumHeight(theme.height(28, padding=8))
        line = made.lineEdit()
        assert line is not None
        name(line, f"{object_name}_line", accessible)
        return made

    def open_under(self, button: QWidget) -> None:
        """Opens; only now it is counted how many documents there are of each time."""
        self._draw_dates()
        super().open_under(button)

    def _draw_dates(self) -> None:
        later, self._later = self._later, lambda: None
        later()

    def first_focus(self) -> QWidget:
        return self.slider if self.slider.isVisibleTo(self) else self.list

    # ---- what there is

    def set_colours(self, colours: ColourView, weights: np.ndarray, hidden: set[int]) -> None:
        """Takes the dates and groups of a map; a range chosen before stays while it is within."""
        self._filling = True
        known = colours.dates[~np.isnan(colours.dates)]
        known = known[known > EARLIEST]
        dated = len(known) > 1 and float(known.max()) > float(known.min())
        for widget in (self.dates_title, self.slider, self.low, self.high, self.note):
            widget.setVisible(dated)
        if dated:
            before = self.dates()
            self._first, self._last = float(known.min()), float(known.max())
            self._later = lambda: self.slider.set_dates(colours.dates, weights, self._first, self._last)
            if self.isVisible():
                self._draw_dates()
            for edit in (self.low, self.high):
                edit.setDateRange(_date(self._first), _date(self._last))
            self._show_dates(*before)
            undated = int(weights[np.isnan(colours.dates)].sum())
            self.note.setText(f"{words.counted(undated, 'document')} without a date "
                              f"{'is' if undated == 1 else 'are'} hidden while a range is chosen." if undated else "")
            self.note.setVisible(bool(undated))
        self._hidden = set(hidden)
        self._fill_groups(colours)
        self._filling = False

    def _fill_groups(self, colours: ColourView) -> None:
        self.groups_title.setText(LEGEND[colours.by])
        self.list.clear()
        height = theme.height(24, padding=4)
        for at, group in enumerate(colours.groups):
            item = QListWidgetItem(f"{quick_path(group.label)}  {words.count(group.count)}")
            item.setData(Qt.ItemDataRole.UserRole, at)
            item.setFlags(Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsUserCheckable)
            item.setCheckState(Qt.CheckState.Unchecked if at in self._hidden else Qt.CheckState.Checked)
            item.setToolTip(plain_tip(group.label))
            item.setSizeHint(icons.size_of(height))
            self.list.addItem(item)
        there = bool(colours.groups)
        self.groups_title.setVisible(there)
        self.list.setVisible(there)
        self.list.setFixedHeight(min(7, max(1, len(colours.groups))) * height + 2)

    def set_hidden(self, hidden: set[int]) -> None:
        """Shows which groups are hidden; sends nothing."""
        self._filling = True
        self._hidden = set(hidden)
        for at in range(self.list.count()):
            item = self.list.item(at)
            item.setCheckState(Qt.CheckState.Unchecked if at in hidden else Qt.CheckState.Checked)
        self._filling = False

    # ---- what is chosen

    def dates(self) -> tuple[float | None, float | None]:
        """Gives the range in seconds; None where an end is open."""
        span = self._last - self._first
        low = self._first + self.slider.low * span if self.slider.low > 0 else None
        high = self._first + self.slider.high * span if self.slider.high < 1 else None
        return low, high

    def words(self) -> str:
        """Gives the range in words: ``Since 2016``; "" where all dates are shown."""
        low, high = self.dates()
        first = words.day(low) if low is not None else ""
        last = words.day(high) if high is not None else ""
        if low is not None and high is None:
            return f"Since {first[-4:]}"
        if low is None and high is not None:
            return f"Until {last[-4:]}"
        if low is None:
            return ""
        return f"{first[-4:]} to {last[-4:]}" if first[-4:] != last[-4:] else f"In {first[-4:]}"

    def set_dates(self, low: float | None, high: float | None) -> None:
        """Chooses a range, and tells."""
        self._show_dates(low, high)
        self.datesChanged.emit(*self.dates())

    def show_everything(self) -> None:
        """Takes every filter away."""
        self.set_dates(None, None)
        self.set_hidden(set())
        self.hiddenChanged.emit(set())

    def _show_dates(self, low: float | None, high: float | None) -> None:
        span = max(1.0, self._last - self._first)
        self.slider.set_range((low - self._first) / span if low is not None else 0.0,
                              (high - self._first) / span if high is not None else 1.0)
        self._show_fields()

    def _show_fields(self) -> None:
        was, self._filling = self._filling, True
        span = self._last - self._first
        self.low.setDate(_date(self._first + self.slider.low * span))
        self.high.setDate(_date(self._first + self.slider.high * span))
        self._filling = was

    def _on_slider(self, *_: float) -> None:
        self._show_fields()
        self.datesChanged.emit(*self.dates())

    def _on_fields(self) -> None:
        if self._filling:
            return
        low, high = _seconds(self.low.date()), _seconds(self.high.date()) + DAY - 1
        span = max(1.0, self._last - self._first)
        begin, end = (low - self._first) / span, (high - self._first) / span
        self.slider.set_range(min(begin, end), max(begin, end))
        self.datesChanged.emit(*self.dates())

    def _on_item(self, item: QListWidgetItem) -> None:
        if self._filling:
            return
        at = int(item.data(Qt.ItemDataRole.UserRole))
        if item.checkState() == Qt.CheckState.Checked:
            self._hidden.discard(at)
        else:
            self._hidden.add(at)
        self.hiddenChanged.emit(set(self._hidden))


def _date(seconds: float) -> QDate:
    try:
        day = datetime.datetime.fromtimestamp(seconds)
    except (OverflowError, ValueError, OSError):
        return QDate(1970, 1, 1)
    return QDate(day.year, day.month, day.day)


def _seconds(date: QDate) -> float:
    return datetime.datetime(date.year(), date.month(), date.day()).timestamp()
