"""The parts of the Duplicates page and how they share its room; what they do is in the page."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QDragEnterEvent, QDragMoveEvent
from PySide6.QtWidgets import QSplitter, QStackedWidget, QVBoxLayout, QWidget

from sbert_desktop.app.duplicate_views import GroupView, MemberView
from sbert_desktop.ui.drop import local_paths
from sbert_desktop.ui.duplicates.cleaning import Cleaning
from sbert_desktop.ui.duplicates.column import GroupColumn
from sbert_desktop.ui.duplicates.detail import GroupDetail
from sbert_desktop.ui.duplicates.finder import Finder
from sbert_desktop.ui.duplicates.foot import Foot
from sbert_desktop.ui.duplicates.have_drop import HaveDrop
from sbert_desktop.ui.duplicates.selection import Selection
from sbert_desktop.ui.duplicates.states import Bubble, StartStates
from sbert_desktop.ui.duplicates.strip import AssistantStrip
from sbert_desktop.ui.page import Desk, Page
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.widgets import Notice, Panel

if TYPE_CHECKING:
    from sbert_desktop.ui.duplicates.passages_page import PassagesPane


class DuplicatesBody(Page):
    """The widgets. ``finder`` asks, ``selection`` holds the ticks, ``cleaning`` moves."""

    key: ClassVar[str] = "duplicates"
    title: ClassVar[str] = "Duplicates"
    icon: ClassVar[str] = "duplicates"

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self.finder = Finder(desk, self)
        self.selection = Selection(self)
        self.cleaning = Cleaning(desk, self)
        self._passages: PassagesPane | None = None
        self._build()

    def _build(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        self.stack = QStackedWidget()
        self.stack.setObjectName("duplicates_stack")
        column.addWidget(self.stack)
        self.states = StartStates()
        self.column = GroupColumn(self.selection)
        self.detail = GroupDetail(self.desk, self.selection)
        self.strip = AssistantStrip()
        self.strip.show_rules(self.finder.assistant)
        self.foot_bar = Foot()
        self.notice = Notice("duplicates_notice")
        right = Panel("surface")
        below = QVBoxLayout(right)
        below.setContentsMargins(0, 0, 0, 0)
        below.setSpacing(0)
        holder = QWidget()
        margin = QVBoxLayout(holder)
        margin.setContentsMargins(16, 8, 16, 8)
        margin.addWidget(self.notice)
        self._notice_holder = holder
        holder.hide()
        for widget in (holder, self.detail, self.strip, self.foot_bar):
            below.addWidget(widget, 1 if widget is self.detail else 0)
        self.splitter = QSplitter(Qt.Orientation.Horizontal)
        self.splitter.setObjectName("duplicates_splitter")
        self.splitter.setChildrenCollapsible(False)
        self.splitter.setHandleWidth(1)
        self.splitter.addWidget(self.column)
        self.splitter.addWidget(right)
        self.splitter.setStretchFactor(1, 1)
        self._column_width = 0
        self.files = self.splitter
        self.stack.addWidget(self.states)
        self.stack.addWidget(self.files)
        self.bubble = Bubble(self)
        self.drop = HaveDrop(self)
        self.setAcceptDrops(True)
        self._share()

    def group(self) -> GroupView | None:
        """Gives the group shown."""
        return self.column.list.current() if self.finder.view is not None else None

    def passages(self) -> PassagesPane | None:
        """Gives the second view while it is in front."""
        return self._passages if self._passages is not None and self.stack.currentWidget() is self._passages else None

    def member(self) -> MemberView | None:
        """Gives the row chosen, else the one that stays."""
        chosen, group = self.detail.members.current(), self.group()
        if chosen is not None or group is None:
            return chosen
        return next((one for one in group.members if one.keep), group.members[0])

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        paths = local_paths(event.mimeData())
        if paths and event.source() is None:  # what is dragged out of the window is in the library already
            event.acceptProposedAction()
            self.drop.offer(paths)
        else:
            event.ignore()

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        event.acceptProposedAction()

    # ---- layout

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Shares the room once the splitter has its new size; before that it would be shared by the old one."""
        if watched is self.splitter and event.type() == QEvent.Type.Resize:
            self.bubble.hide()
            self._share()
        return super().eventFilter(watched, event)

    def _on_splitter(self) -> None:
        self._column_width = self.splitter.sizes()[0]

    def _share(self) -> None:
        wish = max(320, min(380, self.column.kinds.sizeHint().width() + 32))
        grow = max(100, theme.text_scale)
        whole = self.splitter.width()
        self.column.setMinimumWidth(min(240 * grow // 100, whole * 2 // 5))
        share = whole // 3 if grow < 150 else whole * 2 // 5
        left = self._column_width or min(wish, max(280, share))
        self.splitter.setSizes([left, whole - left - 1])
        self.strip.set_low(self.splitter.height() < 600 * grow // 100)
