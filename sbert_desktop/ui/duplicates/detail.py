"""The right side of the Duplicates page: one group with its files, and two of them side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QResizeEvent, QShortcut
from PySide6.QtWidgets import QHBoxLayout, QListView, QStackedWidget, QVBoxLayout, QWidget

from sbert_desktop.app.duplicate_views import GroupView, MemberView
from sbert_desktop.cleanup import Copy, DuplicateKind
from sbert_desktop.ui import words
from sbert_desktop.ui.duplicates.members import MemberList
from sbert_desktop.ui.duplicates.selection import Selection
from sbert_desktop.ui.duplicates.words import counted_members, kind_long, listed, similarity
from sbert_desktop.ui.naming import quick_path
from sbert_desktop.ui.page import Desk
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.widgets import (
    Button,
    ElidedLabel,
    EmptyState,
    IconButton,
    KeyboardFocus,
    Label,
    Line,
    Panel,
    name,
    plain_tip,
)

if TYPE_CHECKING:
    from sbert_desktop.ui.duplicates.side_by_side import SideBySide

Index = QModelIndex | QPersistentModelIndex


class GroupHead(QWidget):
    """Title, kind and sums of a group; "Not duplicates" and the menu."""

    notDuplicatesWanted = Signal()
    moreWanted = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        name(self, "duplicates_group_head", "Group")
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 8, 16, 8)
        row.setSpacing(12)
        titles = QVBoxLayout()
        titles.setSpacing(0)
        self.title = ElidedLabel(role="section", object_name="duplicates_group_title")
        self.meta = ElidedLabel(role="meta", tone="muted", object_name="duplicates_group_meta")
        self.versions = ElidedLabel(role="meta", tone="muted", object_name="duplicates_group_versions")
        for label in (self.title, self.meta, self.versions):
            titles.addWidget(label)
        row.addLayout(titles, 1)
        self.apart = Button("Not duplicates", icon="not_relevant", object_name="duplicates_apart",
                            tip="Remember for good that these are no duplicates (Ctrl+Shift+D)")
        self.more = IconButton("more", "More about this group", object_name="duplicates_more")
        row.addWidget(self.apart)
        row.addWidget(self.more)
        self.apart.clicked.connect(self.notDuplicatesWanted)
        self.more.clicked.connect(lambda: self.moreWanted.emit(self.more.mapToGlobal(self.more.rect().bottomLeft())))
        theme.themeChanged.connect(self._fit)
        self._fit()

    def show_group(self, group: GroupView) -> None:
        """Shows a group."""
        self.title.set_full_text(quick_path(group.title))
        win = f"{words.size(group.bytes_to_win)} to win" if group.bytes_to_win else "nothing to win"
        lowest = "" if group.kind is DuplicateKind.BYTES else f"lowest similarity {similarity(group.lowest)}"
        self.meta.set_full_text(listed((kind_long(group), counted_members(group), lowest, win)))
        text = group.versions[:1].upper() + group.versions[1:]
        self.versions.set_full_text(text)
        self.versions.setVisible(bool(text))
        self._share()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._share()

    def _share(self) -> None:
        wide = theme.metrics("medium").horizontalAdvance("Not duplicates") + 60
        text = "Not duplicates" if self.width() > 2 * wide + 120 else ""
        if self.apart.label() != text:
            self.apart.setText(text)
            self.apart.setAccessibleName("Not duplicates")

    def _fit(self) -> None:
        self.setMinimumHeight(theme.height(56, lines=2, padding=20))


class _Files(QAbstractListModel):
    """The files below a folder that stands for all it holds."""

    def __init__(self) -> None:
        super().__init__()
        self.member: MemberView | None = None

    def set_member(self, member: MemberView | None) -> None:
        self.beginResetModel()
        self.member = member
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008  Qt's own signature
        return 0 if parent.isValid() or self.member is None else len(self.member.files)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if self.member is None or not 0 <= index.row() < len(self.member.files):
            return None
        copy = self.member.files[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            base = self.member.copy.path
            own = copy.path.relative_to(base) if base in copy.path.parents else copy.path
            return f"{quick_path(own)}   {words.size(copy.size)}"
        return plain_tip(quick_path(copy.path)) if role == Qt.ItemDataRole.ToolTipRole else None


class FolderFiles(KeyboardFocus, QListView):
    """What identical folders hold."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        name(self, "duplicates_folder_files", "Files in the folder")
        self.files_model = _Files()
        self.files_model.setParent(self)
        self.setModel(self.files_model)
        self.setUniformItemSizes(True)
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.setStyleSheet("QListView::item { padding: 4px 12px; }")
        theme.set_role(self, "body")


class ComparePane(QWidget):
    """Two files of a group side by side; of identical folders, what they hold."""

    def __init__(self, desk: Desk, selection: Selection, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        name(self, "duplicates_compare", "Side by side")
        self._desk, self._selection = desk, selection
        self._group: GroupView | None = None
        self._rows = (0, 1)
        self.sides: SideBySide | None = None
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        self.stack = QStackedWidget()
        self.stack.setObjectName("duplicates_compare_stack")
        self.empty = QWidget()
        self.held = QWidget()
        inner = QVBoxLayout(self.held)
        inner.setContentsMargins(0, 0, 0, 0)
        inner.setSpacing(0)
        self.held_head = Label("", role="strong", object_name="duplicates_folder_head")
        self.held_head.setContentsMargins(16, 0, 16, 0)
        self.folders = FolderFiles()
        inner.addWidget(self.held_head)
        inner.addWidget(Line())
        inner.addWidget(self.folders, 1)
        self.stack.addWidget(self.empty)
        self.stack.addWidget(self.held)
        column.addWidget(self.stack, 1)
        selection.changed.connect(self._on_ticks)
        theme.themeChanged.connect(self._fit)
        self._fit()

    def show_group(self, group: GroupView | None) -> None:
        """Shows the one that stays beside the next one."""
        self._group = group
        if group is None or len(group.members) < 2:
            self._group = None
            if self.sides is not None:
                self.sides.clear()
            self.stack.setCurrentWidget(self.empty)
            return
        if not group.folders:
            self._make().set_members(self._members())
        self._show(0, 1)

    def show_member(self, member: MemberView | None) -> None:
        """Compares a row with the first one; the first one with what is beside it."""
        if self._group is not None and member is not None:
            row = next((at for at, one in enumerate(self._group.members) if one.key == member.key), 0)
            if row and row not in self._rows:
                self._show(0, row)

    def pair_shown(self) -> tuple[Copy, Copy] | None:
        """Gives the two files shown."""
        if self._group is None:
            return None
        one, other = (self._group.members[row].copy for row in self._rows)
        return one, other

    def step(self, forward: bool) -> None:
        """Goes to the next or previous difference."""
        if self.sides is not None and self.stack.currentWidget() is self.sides:
            self.sides.step(1 if forward else -1)

    def _members(self) -> list[tuple[str, Copy, str, str]]:
        assert self._group is not None
        return [(one.mark, one.copy, "", self._fate(one)) for one in self._group.members]

    def _fate(self, member: MemberView) -> str:
        assert self._group is not None
        if self._selection.is_ticked(self._group, member):
            return "to trash"
        return "keep" if member.keep else "stays"

    def _show(self, first: int, second: int) -> None:
        assert self._group is not None
        self._rows = (first, second)
        left, right = self._group.members[first], self._group.members[second]
        if self._group.folders:
            self.folders.files_model.set_member(left)
            self.held_head.setText(f"Each holds the same {words.counted(len(left.files), 'file')}")
            self.stack.setCurrentWidget(self.held)
            return
        sides = self._make()
        self.stack.setCurrentWidget(sides)
        sides.show_pair(left.copy, right.copy, left_mark=left.mark, right_mark=right.mark,
                        fates=(self._fate(left), self._fate(right)))

    def _on_chosen(self, left: Copy, right: Copy) -> None:
        if self._group is not None:
            rows = [at for at, one in enumerate(self._group.members) if one.copy in (left, right)]
            if len(rows) == 2:
                self._rows = (rows[0], rows[1])

    def _on_ticks(self, keys: tuple[str, ...]) -> None:
        if self._group is not None and self.sides is not None and not self._group.folders and \
                (not keys or self._group.key in keys):
            self.sides.set_members(self._members())
            self.sides.set_fates(*(self._fate(self._group.members[row]) for row in self._rows))

    def _make(self) -> SideBySide:
        if self.sides is None:
            from sbert_desktop.ui.duplicates.side_by_side import SideBySide

            self.sides = SideBySide(self._desk)
            for shortcut in self.sides.findChildren(QShortcut, options=Qt.FindChildOption.FindDirectChildrenOnly):
                shortcut.setEnabled(False)  # the page has these keys wherever the focus is; two would be ambiguous
            self.sides.pairChanged.connect(self._on_chosen)
            self.stack.addWidget(self.sides)
            before: QWidget = self.folders  # made late, its controls would come last of all by Tab
            for part in self.sides.findChildren(QWidget):
                if part.focusPolicy() & Qt.FocusPolicy.TabFocus and part.window() is before.window():
                    QWidget.setTabOrder(before, part)
                    before = part
        return self.sides

    def _fit(self) -> None:
        self.held_head.setFixedHeight(theme.height(44, padding=20))


class GroupDetail(Panel):
    """A group: head, files, comparison; instead a drawing where there is none."""

    def __init__(self, desk: Desk, selection: Selection, parent: QWidget | None = None) -> None:
        super().__init__("surface", parent=parent)
        name(self, "duplicates_detail", "Group")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        self.stack = QStackedWidget()
        self.stack.setObjectName("duplicates_detail_stack")
        self.full = QWidget()
        inner = QVBoxLayout(self.full)
        inner.setContentsMargins(0, 0, 0, 0)
        inner.setSpacing(0)
        self.head = GroupHead()
        self.members = MemberList(selection)
        self.compare = ComparePane(desk, selection)
        inner.addWidget(self.head)
        inner.addWidget(Line())
        inner.addWidget(self.members)
        inner.addWidget(self.compare, 1)
        self.none = EmptyState("No duplicates", "", drawing="done", action="Show all kinds", primary=False,
                               object_name="duplicates_none")
        self.stack.addWidget(self.none)
        self.stack.addWidget(self.full)
        column.addWidget(self.stack)
        self.members.currentMemberChanged.connect(self.compare.show_member)
        self._key = ""

    def show_group(self, group: GroupView | None) -> None:
        """Shows a group."""
        if group is None:
            self._key = ""
            self.members.set_group(None)
            self.compare.show_group(None)
            self.stack.setCurrentWidget(self.none)
            return
        self.head.show_group(group)
        same = group.key == self._key
        self._key = group.key
        if not same:
            self.members.members_model.set_group(None)
        self.members.set_group(group)
        if not same or self.compare.pair_shown() is None:
            self.compare.show_group(group)
        self.stack.setCurrentWidget(self.full)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        # the comparison keeps some room however low the window is
        grow = max(1.0, theme.line("body") / 18)
        rows = max(1, min(6, round((self.height() - 260 * grow) / max(1, self.members.rows.line_height()))))
        self.members.set_most(rows)
