"""The right side of the Clusters page: one cluster, all its documents, or all that is unsorted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QScrollArea, QStackedWidget, QVBoxLayout, QWidget

from sbert_desktop.app.atlas_views import ClustersView, ThemeView
from sbert_desktop.ui.clusters.centre import ThemeCentre
from sbert_desktop.ui.clusters.panes import DocumentsPane, UnsortedPane
from sbert_desktop.ui.clusters.side import ThemeSide
from sbert_desktop.ui.clusters.title import ThemeHead
from sbert_desktop.ui.clusters.words import facts
from sbert_desktop.ui.errands import Errands
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.widgets import Label, Line, Panel, name

SIDE: Final = 292
LEAST_CENTRE: Final = 380


class ThemeDetail(Panel):
    """See the module; which part is shown: ``overview``, ``documents``, ``unsorted`` or ``none``."""

    partChanged = Signal(str)

    def __init__(self, errands: Errands, *, with_map: bool, deeds: Sequence[str], parent: QWidget | None = None
                 ) -> None:
        super().__init__("surface", parent=parent)
        name(self, "clusters_detail", "Cluster")
        self._without_side = False
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        self.head = ThemeHead()
        column.addWidget(self.head)
        self.stack = QStackedWidget()
        self.stack.setObjectName("clusters_detail_stack")
        self.centre = ThemeCentre(deeds)
        self.side = ThemeSide(errands, with_map=with_map)
        self.overview = self._build_overview()
        self.documents = DocumentsPane(errands)
        self.unsorted = UnsortedPane(errands)
        self.none = Label("Choose a cluster to see what is in it.", tone="muted", wrap=True,
                          object_name="clusters_detail_none")
        self.none.setAlignment(Qt.AlignmentFlag.AlignCenter)
        for widget in (self.none, self.overview, self.documents, self.unsorted):
            self.stack.addWidget(widget)
        column.addWidget(self.stack, 1)
        theme.themeChanged.connect(self._share)
        self.show_none()

    def _build_overview(self) -> QWidget:
        area = QScrollArea()
        name(area, "clusters_overview", "Cluster")
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        inner = Panel("surface")
        box = self._box = QBoxLayout(QBoxLayout.Direction.LeftToRight, inner)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(0)
        self.line = Line(vertical=True)
        box.addWidget(self.centre, 1)
        box.addWidget(self.line)
        box.addWidget(self.side)
        area.setWidget(inner)
        return area

    def part(self) -> str:
        """Gives which part is shown."""
        return {id(self.overview): "overview", id(self.documents): "documents",
                id(self.unsorted): "unsorted"}.get(id(self.stack.currentWidget()), "none")

    def show_theme(self, shown: ThemeView, view: ClustersView, *, may_edit: bool, why_not: str) -> None:
        """Shows a cluster, or goes on showing it."""
        self.head.show_theme(shown, facts(shown, alone=len(view.themes) < 2), may_edit=may_edit, why_not=why_not)
        self.centre.show_theme(shown, view, may_edit=may_edit)
        self.side.show_theme(shown)

    def show_part(self, part: str) -> None:
        """Brings a part to the front."""
        widget = {"overview": self.overview, "documents": self.documents, "unsorted": self.unsorted}.get(
            part, self.none)
        self.head.setVisible(part in ("overview", "documents"))
        if self.stack.currentWidget() is not widget:
            self.stack.setCurrentWidget(widget)
            self.partChanged.emit(part)

    def show_none(self, text: str = "Choose a cluster to see what is in it.") -> None:
        """Shows that none is chosen."""
        self.none.setText(text)
        self.show_part("none")

    def set_without_side(self, without: bool) -> None:
        """Gives up the side column: the preview lies in its place."""
        self._without_side = without
        self._share()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._share()

    def _share(self) -> None:
        # beside the middle where both have room, below it else
        grow = max(100, theme.text_scale)
        side = SIDE * (100 + (grow - 100) // 2) // 100
        wide = self.width() >= side + LEAST_CENTRE * grow // 100
        beside = wide and not self._without_side
        self._box.setDirection(QBoxLayout.Direction.LeftToRight if beside else QBoxLayout.Direction.TopToBottom)
        self.line.setVisible(beside)
        self.side.setVisible(beside or not self._without_side)
        if beside:
            self.side.setFixedWidth(side - 1)
        else:
            self.side.setMinimumWidth(0)
            self.side.setMaximumWidth(16_777_215)
