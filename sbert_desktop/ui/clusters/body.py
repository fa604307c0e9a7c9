"""The parts of the Clusters page and how they share its room; what they do is in the page."""

from __future__ import annotations

from typing import ClassVar

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import QSplitter, QStackedWidget, QVBoxLayout

from sbert_desktop.app.atlas_views import ThemeView
from sbert_desktop.ui.clusters.centre import DEEDS
from sbert_desktop.ui.clusters.column import ThemesColumn
from sbert_desktop.ui.clusters.deeds import DocumentDeeds
from sbert_desktop.ui.clusters.detail import ThemeDetail
from sbert_desktop.ui.clusters.finder import ClusterFinder
from sbert_desktop.ui.clusters.states import StartStates
from sbert_desktop.ui.page import Desk, Page
from sbert_desktop.ui.theme import theme

COLUMN = 376
_NEEDS = {"map": "map", "collect": "collect_documents", "duplicates": "duplicates", "label": "label"}


class ClustersBody(Page):
    """The widgets. ``finder`` asks, ``deeds`` does what is done with documents."""

    key: ClassVar[str] = "clusters"
    title: ClassVar[str] = "Clusters"
    icon: ClassVar[str] = "clusters"

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self.finder = ClusterFinder(desk, self)
        self.deeds = DocumentDeeds(desk, self, self.key)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        self.stack = QStackedWidget()
        self.stack.setObjectName("clusters_stack")
        column.addWidget(self.stack)
        self.states = StartStates()
        self.column = ThemesColumn()
        offered = [key for key, _, _ in DEEDS if key not in _NEEDS or desk.can(_NEEDS[key])]
        self.detail = ThemeDetail(desk.errands, with_map=desk.can("map"), deeds=offered)
        self.splitter = QSplitter(Qt.Orientation.Horizontal)
        self.splitter.setObjectName("clusters_splitter")
        self.splitter.setChildrenCollapsible(False)
        self.splitter.setHandleWidth(1)
        self.splitter.addWidget(self.column)
        self.splitter.addWidget(self.detail)
        self.splitter.setStretchFactor(1, 1)
        self._column_width = 0
        self.stack.addWidget(self.states)
        self.stack.addWidget(self.splitter)
        self._share()

    def theme_shown(self) -> ThemeView | None:
        """Gives the cluster chosen."""
        return self.column.list.current()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Shares the room once the splitter has its new size; before that it would be shared by the old one."""
        if watched is self.splitter and event.type() == QEvent.Type.Resize:
            self._share()
        return super().eventFilter(watched, event)

    def _on_splitter(self) -> None:
        self._column_width = self.splitter.sizes()[0]

    def _share(self) -> None:
        grow = max(100, theme.text_scale)
        whole = self.splitter.width()
        self.column.setMinimumWidth(min(240 * grow // 100, whole * 2 // 5))
        wish = COLUMN * (100 + (grow - 100) // 3) // 100
        left = self._column_width or min(wish, max(280, whole * 2 // 5))
        self.splitter.setSizes([left, whole - left - 1])
        self.detail.set_without_side(self.deeds.previewing())
