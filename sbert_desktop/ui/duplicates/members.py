"""The files of a group: a box, a letter, name, place, date, size, and what becomes of each."""

from __future__ import annotations

from typing import Final, NamedTuple

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
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QResizeEvent
from PySide6.QtWidgets import QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from sbert_desktop.app.duplicate_views import GroupView, MemberView
from sbert_desktop.domain import short_path
from sbert_desktop.ui import icons, words
from sbert_desktop.ui.duplicates.group_list import paint_check
from sbert_desktop.ui.duplicates.selection import Selection
from sbert_desktop.ui.duplicates.words import KIND_LONG, fate, folder_words, member_name, remark, similarity
from sbert_desktop.ui.naming import quick_path
from sbert_desktop.ui.theme import RADIUS_SMALL, theme
from sbert_desktop.ui.widgets import KeyboardFocus, name, paint_box, paint_focus, paint_tag, plain_tip, tag_width

Index = QModelIndex | QPersistentModelIndex
MemberRole: Final = Qt.ItemDataRole.UserRole + 1
SHOWN: Final = 5  # rows without scrolling


class Columns(NamedTuple):
    """Where the columns of a row begin and how wide they are; a width of 0: left out."""

    name: int
    place: int
    date: int
    size: int
    fate: int


def said(member: MemberView, ticked: bool) -> str:
    """Gives a row as a screen reader says it."""
    copy = member.copy
    out = f"{member.mark}: {member_name(member)}, in {folder_words(copy)}, {words.day(copy.mtime_ns / 1e9)}, " \
          f"{words.size(copy.size)}, {fate(member, ticked)[0].lower()}"
    if ticked and member.reason:
        out += f", {member.reason}"
    note = remark(member)
    return f"{out}. {note}" if note else out


class MemberModel(QAbstractListModel):
    """The rows of one group."""

    def __init__(self, selection: Selection, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._selection = selection
        self.group: GroupView | None = None
        selection.changed.connect(self._on_ticks)

    @property
    def members(self) -> tuple[MemberView, ...]:
        """The rows."""
        return self.group.members if self.group is not None else ()

    def set_group(self, group: GroupView | None) -> None:
        """Shows another group."""
        self.beginResetModel()
        self.group = group
        self.endResetModel()

    def is_ticked(self, row: int) -> bool:
        """True for a row that goes."""
        return self.group is not None and self._selection.is_ticked(self.group, self.members[row])

    def _on_ticks(self, keys: tuple[str, ...]) -> None:
        if self.group is not None and self.members and (not keys or self.group.key in keys):
            self.dataChanged.emit(self.index(0), self.index(len(self.members) - 1))

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008  Qt's own signature
        return 0 if parent.isValid() else len(self.members)

    def flags(self, index: Index) -> Qt.ItemFlag:
        flags = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        if 0 <= index.row() < len(self.members) and self.members[index.row()].may_tick:
            flags |= Qt.ItemFlag.ItemIsUserCheckable
        return flags

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not 0 <= index.row() < len(self.members):
            return None
        member, ticked = self.members[index.row()], self.is_ticked(index.row())
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return said(member, ticked)
        if role == Qt.ItemDataRole.CheckStateRole and member.may_tick:
            return Qt.CheckState.Checked if ticked else Qt.CheckState.Unchecked
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tip(_tip(member, ticked))
        return member if role == MemberRole else None


def _tip(member: MemberView, ticked: bool) -> str:
    inside = f" / {quick_path(member.copy.member)}" if member.copy.member else ""
    lines = [short_path(member.copy.path) + inside]
    if not member.keep:
        lines.append(f"{KIND_LONG[member.relation]}, {similarity(member.similarity)} to the one that stays")
    if member.reason and (ticked or member.keep):
        lines.append(f"{'Goes' if ticked else 'Stays'}: {member.reason}")
    note = remark(member)
    if note:
        lines.append(note)
    if not member.may_tick:
        lines.append("It can never be ticked here")
    return "\n".join(lines)


class MemberDelegate(QStyledItemDelegate):
    """Paints a row of 32; one with a remark has a second line for it."""

    def __init__(self, view: MemberList, selection: Selection) -> None:
        super().__init__(view)
        self._view = view

    def columns(self, width: int) -> Columns:
        """Shares the width; the date goes first where there is little."""
        grow = max(1.0, theme.line("body") / 18)
        model = self._view.members_model
        most = min(round(150 * grow), max(round(84 * grow), width // 4))
        fates = [self._fate_width(row, most) for row in range(min(40, model.rowCount()))]
        last = max([round(84 * grow), *fates]) + 16
        metrics = self._view.fontMetrics()
        sizes = [metrics.horizontalAdvance(words.size(one.copy.size)) + 12 for one in model.members[:40]]
        size, date = max([round(68 * grow), *sizes]), round(100 * grow)
        room = width - 76 - last - size - date
        if room < 270 * grow:
            room, date = room + date, 0
        if room < 250 * grow:  # the place stands over the comparison, too; a name of three letters says nothing
            return Columns(room, 0, date, size, last)
        own = max(120, min(round(room * 0.56), round(room - 110 * grow)))
        return Columns(own, max(0, room - own), date, size, last)

    def _fate_width(self, row: int, most: int) -> int:
        """Gives the room for what becomes of a row; a reason that has none is left to the tooltip."""
        model = self._view.members_model
        what, icon = _shape(fate(model.members[row], model.is_ticked(row)))
        wide = tag_width(what, icon) + 2
        return wide if wide <= most else min(most, tag_width(what.partition(",")[0], icon) + 2)

    @staticmethod
    def line_height() -> int:
        """Gives the height of a row without a remark."""
        return theme.height(32, padding=12)

    def height(self, member: MemberView) -> int:
        """Gives the height of a row."""
        return self.line_height() + (theme.line("meta", 16) + 4 if remark(member) else 0)

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        member: MemberView | None = index.data(MemberRole)
        return QSize(200, self.height(member) if member is not None else self.line_height())

    @staticmethod
    def box_rect(rect: QRect) -> QRect:
        """Gives where the box of a row lies."""
        return QRect(rect.x() + 16, rect.y() + (MemberDelegate.line_height() - 17) // 2, 16, 16)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        member: MemberView = index.data(MemberRole)
        rect: QRect = option.rect
        ticked = self._view.members_model.is_ticked(index.row())
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        if chosen:
            painter.fillRect(rect, theme.color("selected"))
        elif option.state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(rect, theme.color("hover"))
        painter.fillRect(QRect(rect.x(), rect.bottom(), rect.width(), 1), theme.color("border"))
        line = QRect(rect.x(), rect.y(), rect.width(), self.line_height())
        if member.may_tick:
            paint_check(painter, self.box_rect(rect), Qt.CheckState.Checked if ticked else Qt.CheckState.Unchecked)
        elif not member.keep or member.why_not:
            icons.paint(painter, "lock", self.box_rect(rect), "muted")
        self._paint_mark(painter, line, member)
        self._paint_cells(painter, line, member, ticked, chosen)
        note = remark(member)
        if note:
            self._paint_remark(painter, rect, note)
        if chosen and self._view.shows_focus():
            paint_focus(painter, rect.adjusted(0, 0, 0, -1))

    @staticmethod
    def _paint_mark(painter: QPainter, line: QRect, member: MemberView) -> None:
        painter.setFont(theme.font("meta_medium"))
        side = max(20, theme.line("meta") + 2)
        wide = max(side, painter.fontMetrics().horizontalAdvance(member.mark) + 8)
        box = QRect(line.x() + 40, line.y() + (line.height() - 1 - side) // 2, min(wide, 34), side)
        paint_box(painter, box, "hover", None, RADIUS_SMALL)
        painter.setPen(theme.color("muted"))
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, member.mark)

    def _paint_cells(self, painter: QPainter, line: QRect, member: MemberView, ticked: bool, chosen: bool) -> None:
        widths = self.columns(self._view.viewport().width())
        left, right = Qt.AlignmentFlag.AlignVCenter, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight
        x = line.x() + 76
        room = QRect(x, line.y(), widths.name - 12, line.height() - 1)
        if member.files or member.copy.member:
            icons.paint(painter, "folder" if member.files else "mail" if ".eml" in member.copy.member else "file",
                        QRect(x, room.center().y() - 7, 16, 16), "muted")
            room.setLeft(x + 22)
        _text(painter, room, member_name(member), "strong" if chosen else "medium", "text", left,
              Qt.TextElideMode.ElideMiddle)
        x += widths.name
        _text(painter, QRect(x, line.y(), widths.place - 12, line.height() - 1), folder_words(member.copy), "body",
              "muted", left, Qt.TextElideMode.ElideMiddle)
        x += widths.place
        if widths.date:
            _text(painter, QRect(x, line.y(), widths.date - 8, line.height() - 1),
                  words.day(member.copy.mtime_ns / 1e9), "body", "text", left, numbers=True)
            x += widths.date
        _text(painter, QRect(x, line.y(), widths.size - 8, line.height() - 1), words.size(member.copy.size), "body",
              "text", right, numbers=True)
        x += widths.size
        what, tone, icon = fate(member, ticked)
        room = QRect(x, line.y(), widths.fate - 16, line.height() - 1)
        if not tone:
            _text(painter, room, what, "meta", "muted", right)
            return
        height = theme.height(20, role="meta", padding=4)
        if tag_width(what, icon) > room.width():
            what = what.partition(",")[0]  # the reason is in the tooltip
        what = theme.metrics("meta_medium").elidedText(what, Qt.TextElideMode.ElideMiddle,
                                                       room.width() - 13 - (18 if icon else 0))
        wide = tag_width(what, icon)
        paint_tag(painter, QRect(room.right() + 1 - wide, room.center().y() - height // 2 + 1, wide, height), what,
                  tone, icon)

    def _paint_remark(self, painter: QPainter, rect: QRect, note: str) -> None:
        top = rect.y() + self.line_height() - 6
        room = QRect(rect.x() + 76, top, rect.width() - 92, theme.line("meta", 16))
        icons.paint(painter, "warning", QRect(room.x(), room.center().y() - 6, 14, 14), "warn")
        _text(painter, room.adjusted(20, 0, 0, 0), note, "meta", "warn", Qt.AlignmentFlag.AlignVCenter)


def _shape(told: tuple[str, str, str]) -> tuple[str, str]:
    return told[0], told[2]


def _text(painter: QPainter, room: QRect, text: str, role: str, tone: str, flags: Qt.AlignmentFlag,
          elide: Qt.TextElideMode = Qt.TextElideMode.ElideRight, *, numbers: bool = False) -> None:
    if room.width() <= 0:
        return
    painter.setFont(theme.numbers_font(role) if numbers else theme.font(role))
    painter.setPen(theme.color(tone))
    painter.drawText(room, flags, painter.fontMetrics().elidedText(text, elide, room.width()))


class MemberList(KeyboardFocus, QListView):
    """The files. Space ticks, Enter opens, the row chosen is compared; Delete does nothing.

    ``tickWanted(MemberView)``, ``openWanted(MemberView)``, ``currentMemberChanged(MemberView | None)``,
    ``menuAsked(QPoint)``, ``copyWanted()``, ``leftWanted()``: back to the groups.
    """

    tickWanted = Signal(object)
    openWanted = Signal(object)
    revealWanted = Signal(object)
    currentMemberChanged = Signal(object)
    menuAsked = Signal(object)
    copyWanted = Signal()
    leftWanted = Signal()

    def __init__(self, selection: Selection, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        name(self, "duplicates_members", "Files of the group", "Space ticks, Enter opens, Escape goes to the groups")
        self.members_model = MemberModel(selection, self)
        self.setModel(self.members_model)
        self.rows = MemberDelegate(self, selection)
        self.setItemDelegate(self.rows)
        self.setMouseTracking(True)
        self.setSelectionMode(QListView.SelectionMode.SingleSelection)
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._on_menu)
        self.doubleClicked.connect(lambda index: self.openWanted.emit(index.data(MemberRole)))
        self.selectionModel().currentChanged.connect(lambda *_: self.currentMemberChanged.emit(self.current()))
        self._most = SHOWN
        theme.themeChanged.connect(self.fit)

    def current(self) -> MemberView | None:
        """Gives the row chosen."""
        index = self.currentIndex()
        return index.data(MemberRole) if index.isValid() else None

    def set_group(self, group: GroupView | None) -> None:
        """Shows the files of a group; a row chosen stays chosen while it is there."""
        before = self.current()
        self.members_model.set_group(group)
        self.setUniformItemSizes(group is not None and not any(remark(one) for one in group.members))
        rows = [row for row, one in enumerate(self.members_model.members) if before is not None
                and one.key == before.key]
        if rows:
            self.setCurrentIndex(self.members_model.index(rows[0]))
        self.fit()

    def set_most(self, rows: int) -> None:
        """Changes how many rows are shown before the list scrolls."""
        if rows != self._most:
            self._most = rows
            self.fit()

    def fit(self) -> None:
        """Makes the list as high as its rows, up to so many."""
        heights = [self.rows.height(one) for one in self.members_model.members[: self._most]]
        more = len(self.members_model.members) > self._most
        # a part of the next row shows that there are more
        self.setFixedHeight(sum(heights) + (self.rows.line_height() // 2 if more else 0))
        self.scheduleDelayedItemsLayout()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, plain = event.key(), event.modifiers() in (Qt.KeyboardModifier.NoModifier,
                                                        Qt.KeyboardModifier.KeypadModifier)
        member = self.current()
        if plain and key == Qt.Key.Key_Space:
            if member is not None and not event.isAutoRepeat():
                self.tickWanted.emit(member)
        elif plain and key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            if member is not None:
                self.openWanted.emit(member)
        elif key == Qt.Key.Key_C and event.modifiers() == Qt.KeyboardModifier.ControlModifier:
            self.copyWanted.emit()
        elif plain and key in (Qt.Key.Key_Escape, Qt.Key.Key_Left):
            self.leftWanted.emit()
        elif key in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            event.accept()  # nothing goes by a key that is hit by mistake
        else:
            super().keyPressEvent(event)

    def focus_row(self) -> None:
        """Takes the focus, on the first row if none is chosen."""
        if not self.currentIndex().isValid() and self.members_model.members:
            self.setCurrentIndex(self.members_model.index(0))
        self.setFocus(Qt.FocusReason.TabFocusReason)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        index = self.indexAt(event.position().toPoint())
        if event.button() == Qt.MouseButton.LeftButton and index.isValid():
            box = self.rows.box_rect(self.visualRect(index)).adjusted(-12, -8, 4, 8)
            if box.contains(event.position().toPoint()):
                self.setCurrentIndex(index)
                self.tickWanted.emit(index.data(MemberRole))
                event.accept()
                return
        super().mousePressEvent(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        index = self.indexAt(event.position().toPoint())
        if index.isValid() and self.rows.box_rect(self.visualRect(index)).adjusted(-12, -8, 4, 8).contains(
                event.position().toPoint()):
            self.mousePressEvent(event)  # two quick clicks on a box tick and untick
            return
        super().mouseDoubleClickEvent(event)

    def box_of(self, key: object) -> QRect:
        """Gives where the box of a row lies in the viewport."""
        for row, one in enumerate(self.members_model.members):
            if one.key == key:
                return self.rows.box_rect(self.visualRect(self.members_model.index(row)))
        return QRect()

    def _on_menu(self, position: QPoint) -> None:
        index = self.indexAt(position)
        if index.isValid():
            self.setCurrentIndex(index)
        elif self.currentIndex().isValid():
            position = self.visualRect(self.currentIndex()).center()
        if self.current() is not None:
            self.menuAsked.emit(self.viewport().mapToGlobal(position))

    def event(self, event: QEvent) -> bool:
        """Keeps the keys of this list from the window's shortcuts."""
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            plain = event.modifiers() == Qt.KeyboardModifier.NoModifier
            if plain and event.key() in (Qt.Key.Key_Space, Qt.Key.Key_Delete, Qt.Key.Key_Escape):
                event.accept()
                return True
        return super().event(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.viewport().update()
