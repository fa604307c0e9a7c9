"""The list of groups: a box, a title, how alike, how much there is to win, and the kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import (
    QAbstractListModel,
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter
from PySide6.QtWidgets import QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from sbert_desktop.app.duplicate_views import GroupView
from sbert_desktop.ui import icons, words
from sbert_desktop.ui.duplicates.selection import Box, Selection
from sbert_desktop.ui.duplicates.words import (
    NUMBERS_DIFFER,
    counted_members,
    kind_words,
    listed,
    similarity,
)
from sbert_desktop.ui.naming import quick_path
from sbert_desktop.ui.theme import RADIUS_SMALL, theme
from sbert_desktop.ui.widgets import KeyboardFocus, name, paint_box, paint_focus, paint_tag, plain_tip, tag_width

Index = QModelIndex | QPersistentModelIndex
GroupRole: Final = Qt.ItemDataRole.UserRole + 1
ORDERS: Final = (
    ("largest", "Largest first"),
    ("files", "Most files first"),
    ("alike", "Most alike first"),
    ("name", "By name"),
)
STATES: Final = {Box.OFF: Qt.CheckState.Unchecked, Box.PART: Qt.CheckState.PartiallyChecked,
                 Box.ON: Qt.CheckState.Checked}


def in_order(groups: Sequence[GroupView], order: str) -> list[GroupView]:
    """Gives groups in one of :data:`ORDERS`; as they came for the first, which is how they are answered."""
    if order == "files":
        return sorted(groups, key=lambda group: -len(group.members))
    if order == "alike":
        return sorted(groups, key=lambda group: (-group.lowest, group.kind.rank))
    if order == "name":
        return sorted(groups, key=lambda group: group.title.casefold())
    return list(groups)


def meta(group: GroupView, ticked: bool) -> str:
    """Gives the second line of a row."""
    win = f"{words.size(group.bytes_to_win)} to win" if group.bytes_to_win else "nothing to win"
    return listed((counted_members(group), win if ticked else "not ticked"))


def said(group: GroupView, box: Box) -> str:
    """Gives a row as a screen reader says it."""
    ticked = {Box.OFF: "nothing ticked", Box.PART: "partly ticked", Box.ON: "ticked as suggested"}[box]
    numbers = f", {NUMBERS_DIFFER.lower()}" if group.numbers else ""
    return (f"{quick_path(group.title)}, {kind_words(group).lower()}{numbers}, similarity {similarity(group.lowest)}, "
            f"{counted_members(group)}, {words.size(group.bytes_to_win)} to win, {ticked}")


class GroupModel(QAbstractListModel):
    """Groups in an order; nothing is worked out before a row is shown."""

    def __init__(self, selection: Selection, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._selection = selection
        self._all: tuple[GroupView, ...] = ()
        self._order = "largest"
        self.groups: list[GroupView] = []
        self._rows: dict[str, int] = {}
        selection.changed.connect(self._on_ticks)

    def set_groups(self, groups: Sequence[GroupView]) -> None:
        """Shows other groups."""
        self._all = tuple(groups)
        self._arrange()

    def set_order(self, order: str) -> None:
        """Sorts."""
        if order != self._order:
            self._order = order
            self._arrange()

    def row_of(self, key: str) -> int:
        """Gives the row of a group, -1 for none."""
        return self._rows.get(key, -1)

    def _arrange(self) -> None:
        self.beginResetModel()
        self.groups = in_order(self._all, self._order)
        self._rows = {group.key: row for row, group in enumerate(self.groups)}
        self.endResetModel()

    def _on_ticks(self, keys: tuple[str, ...]) -> None:
        rows = [row for row in (self._rows.get(key, -1) for key in keys) if row >= 0]
        if not keys or len(rows) > 50:
            rows = [0, len(self.groups) - 1]
            if self.groups:
                self.dataChanged.emit(self.index(0), self.index(len(self.groups) - 1))
            return
        for row in rows:
            self.dataChanged.emit(self.index(row), self.index(row))

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008  Qt's own signature
        return 0 if parent.isValid() else len(self.groups)

    def flags(self, index: Index) -> Qt.ItemFlag:
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsUserCheckable

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not 0 <= index.row() < len(self.groups):
            return None
        group = self.groups[index.row()]
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return said(group, self._selection.box(group))
        if role == Qt.ItemDataRole.CheckStateRole:
            return STATES[self._selection.box(group)]
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tip(quick_path(group.title))
        return group if role == GroupRole else None


class GroupDelegate(QStyledItemDelegate):
    """Paints a row of 56: box 16, title and similarity, meta and kind."""

    def __init__(self, view: GroupList, selection: Selection) -> None:
        super().__init__(view)
        self._view, self._selection = view, selection

    @staticmethod
    def box_rect(rect: QRect) -> QRect:
        """Gives where the box of a row lies."""
        return QRect(rect.x() + 16, rect.y() + (rect.height() - 17) // 2, 16, 16)

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(200, self.row_height())

    @staticmethod
    def row_height() -> int:
        """Gives the height of every row."""
        need = theme.line("body", 20) + theme.line("meta", 16) + 20
        return max(56, -(-need // 4) * 4)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        group: GroupView = index.data(GroupRole)
        rect: QRect = option.rect
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        if chosen:
            painter.fillRect(rect, theme.color("selected"))
            painter.fillRect(QRect(rect.x(), rect.y() + 4, 3, rect.height() - 9), theme.color("accent"))
        elif option.state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(rect, theme.color("hover"))
        painter.fillRect(QRect(rect.x(), rect.bottom(), rect.width(), 1), theme.color("border"))
        box = self._selection.box(group)
        paint_check(painter, self.box_rect(rect), STATES[box])
        inner = rect.adjusted(44, 0, -(16 - self._view.bar_width()), -1)
        top, low = theme.line("body", 20), theme.line("meta", 16)
        y = rect.y() + (rect.height() - 1 - top - low) // 2
        first, second = QRect(inner.x(), y, inner.width(), top), QRect(inner.x(), y + top, inner.width(), low)
        self._paint_first(painter, first, group, chosen)
        self._paint_second(painter, second, group, box)
        if chosen and self._view.shows_focus():
            paint_focus(painter, rect.adjusted(0, 0, 0, -1))

    @staticmethod
    def _paint_first(painter: QPainter, room: QRect, group: GroupView, chosen: bool) -> None:
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        painter.setFont(theme.numbers_font("strong"))
        painter.setPen(theme.color("text"))
        score = similarity(group.lowest)
        painter.drawText(room, right, score)
        left = room.adjusted(0, 0, -painter.fontMetrics().horizontalAdvance(score) - 8, 0)
        if group.folders:
            icons.paint(painter, "folder", QRect(left.x(), left.y() + (left.height() - 16) // 2, 16, 16),
                        "accent" if chosen else "muted")
            left.setLeft(left.left() + 22)
        painter.setFont(theme.font("strong" if chosen else "medium"))
        painter.drawText(left, Qt.AlignmentFlag.AlignVCenter, painter.fontMetrics().elidedText(
            quick_path(group.title), Qt.TextElideMode.ElideRight, left.width()))

    @staticmethod
    def _paint_second(painter: QPainter, room: QRect, group: GroupView, box: Box) -> None:
        flags = Qt.AlignmentFlag.AlignVCenter
        painter.setFont(theme.font("meta"))
        metrics = painter.fontMetrics()
        if group.numbers:
            wide = tag_width(NUMBERS_DIFFER, "warning")
            height = min(theme.height(18, role="meta", padding=2), room.height() + 4)
            tag = QRect(room.right() + 1 - wide, room.y() + (room.height() - height) // 2, wide, height)
            paint_tag(painter, tag, NUMBERS_DIFFER, "warn", "warning")
        else:
            kind = kind_words(group)
            wide = metrics.horizontalAdvance(kind)
            painter.setPen(theme.color("muted"))
            painter.drawText(room, Qt.AlignmentFlag.AlignRight | flags, kind)
        left = room.adjusted(0, 0, -wide - 8, 0)
        painter.setFont(theme.font("meta"))
        painter.setPen(theme.color("muted"))
        painter.drawText(left, flags, metrics.elidedText(meta(group, box is not Box.OFF), Qt.TextElideMode.ElideRight,
                                                         left.width()))


def paint_check(painter: QPainter, box: QRect, state: Qt.CheckState, *, enabled: bool = True) -> None:
    """Paints a check box of 16 px as :class:`CheckBox` does, for delegates."""
    if not enabled:
        paint_box(painter, box, None, "border", RADIUS_SMALL, 1.5)
    elif state == Qt.CheckState.Unchecked:
        paint_box(painter, box, "raised", "muted", RADIUS_SMALL, 1.5)
    else:
        paint_box(painter, box, "accent", None, RADIUS_SMALL)
        icons.paint(painter, "check" if state == Qt.CheckState.Checked else "minus", box.adjusted(2, 2, -2, -2),
                    "on_accent")


class GroupList(KeyboardFocus, QListView):
    """The groups. Space ticks, the arrows go, Enter and Right lead to the files; Delete does nothing.

    ``currentGroupChanged(GroupView | None)``, ``tickWanted(GroupView)``, ``enterWanted()``, ``menuAsked(QPoint)``.
    """

    currentGroupChanged = Signal(object)
    tickWanted = Signal(object)
    enterWanted = Signal()
    menuAsked = Signal(object)

    def __init__(self, selection: Selection, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        name(self, "duplicates_groups", "Groups of duplicates", "Space ticks, Enter goes to the files of the group")
        self.groups_model = GroupModel(selection, self)
        self.setModel(self.groups_model)
        self.rows = GroupDelegate(self, selection)
        self.setItemDelegate(self.rows)
        self.setUniformItemSizes(True)
        self.setMouseTracking(True)
        self.setSelectionMode(QListView.SelectionMode.SingleSelection)
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._on_menu)
        self.selectionModel().currentChanged.connect(lambda *_: self._tell())
        theme.themeChanged.connect(self.doItemsLayout)
        self._told: GroupView | None = None

    def bar_width(self) -> int:
        """Gives the width of the scroll bar while it is there: the text keeps its edge."""
        return min(10, self.width() - self.viewport().width())

    def current(self) -> GroupView | None:
        """Gives the group chosen."""
        index = self.currentIndex()
        return index.data(GroupRole) if index.isValid() else None

    def set_groups(self, groups: Sequence[GroupView]) -> None:
        """Shows other groups; the one chosen stays so while it is there, else the one in its place is."""
        now, row = self.current(), self.currentIndex().row()
        offset = self.verticalScrollBar().value()
        self.groups_model.set_groups(groups)
        self._choose_again(now, row, offset)

    def set_order(self, order: str) -> None:
        """Sorts; the group chosen stays chosen."""
        now = self.current()
        self.groups_model.set_order(order)
        self._choose_again(now, 0, 0)
        if now is not None:
            self.scrollTo(self.currentIndex(), QListView.ScrollHint.PositionAtCenter)

    def _choose_again(self, now: GroupView | None, row: int, offset: int) -> None:
        count = len(self.groups_model.groups)
        at = self.groups_model.row_of(now.key) if now is not None else -1
        if at < 0:
            at = max(0, min(row, count - 1))
        if count:
            self.setCurrentIndex(self.groups_model.index(at))
            self.verticalScrollBar().setValue(offset)
        self._tell()

    def choose(self, row: int) -> None:
        """Chooses a group by its row."""
        if 0 <= row < len(self.groups_model.groups):
            self.setCurrentIndex(self.groups_model.index(row))

    def _tell(self) -> None:
        now = self.current()
        if now is not self._told:
            self._told = now
            self.currentGroupChanged.emit(now)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, plain = event.key(), event.modifiers() in (Qt.KeyboardModifier.NoModifier,
                                                        Qt.KeyboardModifier.KeypadModifier)
        group = self.current()
        if plain and key == Qt.Key.Key_Space:
            if group is not None and not event.isAutoRepeat():
                self.tickWanted.emit(group)
        elif plain and key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Right):
            self.enterWanted.emit()
        elif key in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            event.accept()  # nothing goes by a key that is hit by mistake
        else:
            super().keyPressEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        index = self.indexAt(event.position().toPoint())
        if event.button() == Qt.MouseButton.LeftButton and index.isValid():
            box = self.rows.box_rect(self.visualRect(index)).adjusted(-12, -14, 8, 14)
            if box.contains(event.position().toPoint()):
                self.setCurrentIndex(index)
                self.tickWanted.emit(index.data(GroupRole))
                event.accept()
                return
        super().mousePressEvent(event)

    def box_of(self, key: str) -> QRect:
        """Gives where the box of a group lies in the viewport; empty when it is not in sight."""
        row = self.groups_model.row_of(key)
        rect = self.visualRect(self.groups_model.index(row)) if row >= 0 else QRect()
        return self.rows.box_rect(rect) if rect.intersects(self.viewport().rect()) else QRect()

    def _on_menu(self, position: QPoint) -> None:
        index = self.indexAt(position)
        if index.isValid():
            self.setCurrentIndex(index)
        elif self.currentIndex().isValid():
            position = self.visualRect(self.currentIndex()).center()
        if self.current() is not None:
            self.menuAsked.emit(self.viewport().mapToGlobal(position))

    def event(self, event: QEvent) -> bool:
        """Keeps Space and Delete from the window's shortcuts."""
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) \
                and event.key() in (Qt.Key.Key_Space, Qt.Key.Key_Delete) \
                and event.modifiers() == Qt.KeyboardModifier.NoModifier:
            event.accept()
            return True
        return super().event(event)
