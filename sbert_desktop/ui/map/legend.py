"""What the colours say: a list of groups that filters, or a scale."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPointF,
    QRect,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QKeyEvent, QLinearGradient, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import (
    QHBoxLayout,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from sbert_desktop.app.atlas_views import ColourBy, ColourGroup, ColourView
from sbert_desktop.ui import words
from sbert_desktop.ui.map.drawing import scale_color
from sbert_desktop.ui.map.words import LEGEND
from sbert_desktop.ui.naming import quick_path
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.widgets import (
    Button,
    Card,
    ElidedLabel,
    IconButton,
    KeyboardFocus,
    Label,
    announce,
    name,
    paint_focus,
    plain_tip,
)

Index = QModelIndex | QPersistentModelIndex
GroupRole: Final = Qt.ItemDataRole.UserRole + 1
HiddenRole: Final = Qt.ItemDataRole.UserRole + 2
MOST: Final = 41  # 40 and "Other"
WIDE: Final = 216
NONE: Final = -1  # points in no group


class GroupModel(QAbstractListModel):
    """The groups of the colours in force, and which are hidden."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.groups: tuple[ColourGroup, ...] = ()
        self.hidden: set[int] = set()

    def set_groups(self, groups: tuple[ColourGroup, ...]) -> None:
        """Shows other groups."""
        self.beginResetModel()
        self.groups = groups[:MOST]
        self.endResetModel()

    def set_hidden(self, hidden: set[int]) -> None:
        """Marks the groups that are hidden."""
        self.hidden = set(hidden)
        if self.groups:
            self.dataChanged.emit(self.index(0), self.index(len(self.groups) - 1))

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008  Qt's own signature
        return 0 if parent.isValid() else len(self.groups)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not 0 <= index.row() < len(self.groups):
            return None
        group, hidden = self.groups[index.row()], index.row() in self.hidden
        if role == GroupRole:
            return group
        if role == HiddenRole:
            return hidden
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return f"{quick_path(group.label)}, {words.count(group.count)}{', hidden' if hidden else ''}"
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tip(f"{quick_path(group.label)}: {words.count(group.count)}\n"
                             "Click shows only this, Ctrl+click shows or hides it")
        return None


class GroupDelegate(QStyledItemDelegate):
    """A row of 20: dot 10, name, count. What is hidden is struck through and its dot hollow."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(120, self.row_height())

    @staticmethod
    def row_height() -> int:
        """Gives the height of every row."""
        return theme.height(20, role="meta", padding=4)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        group: ColourGroup = index.data(GroupRole)
        hidden = bool(index.data(HiddenRole))
        rect: QRect = option.rect
        view = option.widget
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if option.state & QStyle.StateFlag.State_MouseOver:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.color("hover"))
            painter.drawRoundedRect(QRectF(rect), 4, 4)
        ink = theme.group_color(group.colour)
        dot = QPointF(rect.x() + 12 + 5, rect.center().y() + 0.5)
        hollow = hidden or group.colour < 0
        painter.setPen(QPen(ink, 1.2) if hollow else Qt.PenStyle.NoPen)
        painter.setBrush(Qt.BrushStyle.NoBrush if hollow else ink)
        painter.drawEllipse(dot, 4.6 if hollow else 5, 4.6 if hollow else 5)
        font = theme.font("meta")
        count_font = theme.numbers_font("meta")
        quiet = hidden or group.colour < 0
        painter.setPen(theme.color("muted"))
        painter.setFont(count_font)
        count = words.count(group.count)
        right = rect.adjusted(0, 0, -12, 0)
        painter.drawText(right, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, count)
        room = right.adjusted(30, 0, -painter.fontMetrics().horizontalAdvance(count) - 8, 0)
        font.setStrikeOut(hidden)
        painter.setFont(font)
        painter.setPen(theme.color("muted" if quiet else "text"))
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter, painter.fontMetrics().elidedText(
            quick_path(group.label), Qt.TextElideMode.ElideRight, room.width()))
        painter.restore()
        if isinstance(view, GroupList) and view.shows_focus() and view.currentIndex().row() == index.row():
            paint_focus(painter, rect, 4)


class GroupList(KeyboardFocus, QListView):
    """``isolateWanted(row)`` by click and Enter, ``toggleWanted(row)`` by Ctrl+click and Space."""

    isolateWanted = Signal(int)
    toggleWanted = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        name(self, "map_legend_list", "Groups of the map", "Enter shows only this group, Space shows or hides it")
        self.rows = GroupModel(self)
        self.setModel(self.rows)
        self.setItemDelegate(GroupDelegate(self))
        self.setUniformItemSizes(True)
        self.setMouseTracking(True)
        self.setSelectionMode(QListView.SelectionMode.NoSelection)
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setStyleSheet("QListView { background: transparent; }")
        theme.themeChanged.connect(self.doItemsLayout)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        index = self.indexAt(event.position().toPoint())
        if event.button() == Qt.MouseButton.LeftButton and index.isValid() and index == self.currentIndex():
            control = event.modifiers() & Qt.KeyboardModifier.ControlModifier
            (self.toggleWanted if control else self.isolateWanted).emit(index.row())
        super().mouseReleaseEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        row = self.currentIndex().row()
        if row >= 0 and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.isolateWanted.emit(row)
        elif row >= 0 and event.key() == Qt.Key.Key_Space:
            self.toggleWanted.emit(row)
        else:
            super().keyPressEvent(event)


class ScaleBar(QWidget):
    """The colours of a scale from low to high, with its two ends in words."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        name(self, "map_scale", "Scale of colours")
        self._low = self._high = ""

    def set_ends(self, low: str, high: str) -> None:
        """Names the ends."""
        self._low, self._high = low, high
        self.setAccessibleName(f"Scale of colours from {low} to {high}")
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(160, 10 + 6 + theme.line("meta", 16))

    minimumSizeHint = sizeHint

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        fill = QLinearGradient(0, 0, self.width(), 0)
        for step in range(11):
            fill.setColorAt(step / 10, scale_color(step / 10, theme.dark))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(fill)
        painter.drawRoundedRect(QRectF(0, 0, self.width(), 10), 2, 2)
        painter.setFont(theme.font("meta"))
        painter.setPen(theme.color("muted"))
        room = QRect(0, 16, self.width(), self.height() - 16)
        painter.drawText(room, Qt.AlignmentFlag.AlignLeft, self._low)
        painter.drawText(room, Qt.AlignmentFlag.AlignRight, self._high)


class Legend(Card):
    """216 wide, at the lower left. ``hiddenChanged(set)``; ``findWanted()``; ``resized()`` when its height changed."""

    hiddenChanged = Signal(object)
    findWanted = Signal()
    resized = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        name(self, "map_legend", "Legend")
        self.collapsed = False
        self._by = ColourBy.THEME
        self._most = 400
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 6, 0, 8)
        column.setSpacing(2)
        head = QHBoxLayout()
        head.setContentsMargins(12, 0, 6, 0)
        head.setSpacing(4)
        self.title = ElidedLabel("Clusters", role="meta_strong", object_name="map_legend_title")
        self.count = Label("", role="meta", tone="muted", object_name="map_legend_count")
        self.fold = IconButton("chevron", "Fold the legend", object_name="map_legend_fold", size=24, icon_size=16)
        head.addWidget(self.title, 1)
        head.addWidget(self.count)
        head.addWidget(self.fold)
        column.addLayout(head)
        self.list = GroupList()
        self.scale = ScaleBar()
        self.note = Label("", role="meta", tone="muted", wrap=True, object_name="map_legend_note")
        self.find_button = Button("Find clusters", size="small", icon="clusters", object_name="map_find_clusters")
        self.all = Button("Show all", kind="link", size="small", object_name="map_show_all")
        self._rest = QWidget()
        rest = QVBoxLayout(self._rest)
        rest.setContentsMargins(12, 2, 12, 4)
        rest.setSpacing(6)
        for widget in (self.scale, self.note, self.find_button):
            rest.addWidget(widget)
        column.addWidget(self.list)
        column.addWidget(self._rest)
        below = QHBoxLayout()
        below.setContentsMargins(8, 0, 8, 0)
        below.addWidget(self.all)
        below.addStretch(1)
        column.addLayout(below)
        self.list.isolateWanted.connect(self._isolate)
        self.list.toggleWanted.connect(self._toggle)
        self.fold.clicked.connect(lambda: self.set_collapsed(not self.collapsed))
        self.find_button.clicked.connect(self.findWanted)
        self.all.clicked.connect(lambda: self._hide(set()))
        theme.themeChanged.connect(self._fit)
        self._fit()

    def hidden(self) -> set[int]:
        """Gives the groups that are hidden."""
        return set(self.list.rows.hidden)

    def show_colours(self, colours: ColourView, counted: str, hidden: set[int], *, may_find: bool) -> None:
        """Shows what colours say; ``counted`` is how much there is on the map, in words."""
        self._by = colours.by
        self.title.set_full_text(LEGEND[colours.by])
        self.count.setText(counted)
        same = colours.groups == self.list.rows.groups
        if not same:
            self.list.rows.set_groups(colours.groups)
            if colours.groups:
                self.list.setCurrentIndex(self.list.rows.index(0))
        self.list.rows.set_hidden(hidden)
        self.scale.set_ends(colours.low, colours.high)
        self._scaled = colours.values is not None
        self.note.setText(colours.note)
        self._may_find = may_find
        self._fit()

    _scaled = False
    _may_find = False

    def set_hidden(self, hidden: set[int]) -> None:
        """Marks the groups that are hidden; sends nothing."""
        self.list.rows.set_hidden(hidden)
        self._fit()

    def set_collapsed(self, collapsed: bool) -> None:
        """Shows only the title, or all."""
        self.collapsed = collapsed
        self.fold.set_icon("up" if collapsed else "chevron")
        self.fold.set_tip("Unfold the legend" if collapsed else "Fold the legend")
        self._fit()

    def set_most(self, height: int) -> None:
        """Says how high it may become."""
        if height != self._most:
            self._most = height
            self._fit()

    def _fit(self) -> None:
        groups = len(self.list.rows.groups)
        self.list.setVisible(bool(groups) and not self.collapsed)
        self.scale.setVisible(self._scaled)
        self.note.setVisible(bool(self.note.text()))
        self.find_button.setVisible(self._may_find)
        self._rest.setVisible((self._scaled or bool(self.note.text()) or self._may_find) and not self.collapsed)
        self.all.setVisible(bool(self.list.rows.hidden) and not self.collapsed)
        wide = WIDE * (100 + max(0, theme.text_scale - 100) * 6 // 10) // 100
        self.setFixedWidth(wide)
        self.count.setVisible(theme.text_scale <= 140)  # else the title would have no room
        self.note.setFixedWidth(wide - 24)
        self.note.setMinimumHeight(self.note.heightForWidth(wide - 24) if self.note.text() else 0)
        row = GroupDelegate.row_height()
        room = max(3 * row, self._most - theme.height(28, padding=6) - 40)
        self.list.setFixedHeight(min(groups * row, room // row * row) + 2)
        layout = self.layout()
        assert layout is not None
        layout.invalidate()
        self.adjustSize()
        self.resized.emit()

    # ---- filtering

    def _isolate(self, row: int) -> None:
        others = {NONE, *range(len(self.list.rows.groups))} - {row}
        self._hide(set() if self.list.rows.hidden == others else others)

    def _toggle(self, row: int) -> None:
        hidden = self.hidden() ^ {row}
        if row not in hidden and len(hidden) == 1:
            hidden.discard(NONE)
        self._hide(hidden)

    def _hide(self, hidden: set[int]) -> None:
        if hidden >= set(range(len(self.list.rows.groups))):
            hidden = set()  # nothing would be left to see
        had_focus = self.all.hasFocus()
        self.list.rows.set_hidden(hidden)
        self._fit()
        if had_focus:
            self.list.setFocus(Qt.FocusReason.OtherFocusReason)
        shown = len(self.list.rows.groups) - len(hidden - {NONE})
        announce(self, f"{shown} of {len(self.list.rows.groups)} groups shown")
        self.hiddenChanged.emit(hidden)
