"""The parts of the Map page and where they lie over the canvas; what they do is in the page."""

from __future__ import annotations

import itertools
from typing import ClassVar, Final

from PySide6.QtCore import QMargins, QPoint, QPropertyAnimation, QRect
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from sbert_desktop.ui.map.badge import QualityBadge, QualityPanel
from sbert_desktop.ui.map.canvas import MapCanvas
from sbert_desktop.ui.map.card import HoverCard
from sbert_desktop.ui.map.drawer import SelectionDrawer
from sbert_desktop.ui.map.filter_panel import FilterPanel
from sbert_desktop.ui.map.finder import MapFinder
from sbert_desktop.ui.map.legend import Legend
from sbert_desktop.ui.map.preview import MapPreview
from sbert_desktop.ui.map.strips import NoteStrip, ProgressStrip, SearchChip
from sbert_desktop.ui.map.toolbar import MapToolbar
from sbert_desktop.ui.overlay import slide
from sbert_desktop.ui.page import Desk, Page
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.widgets import EmptyState, Panel, name

EDGE: Final = 16
GAP: Final = 8
FEW: Final = 50  # points


class MapStates(Panel):
    """Instead of a map: no folders, nothing to lay out, failed, or stopped."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("surface", parent=parent)
        name(self, "map_states", "Map")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        self.stack = QStackedWidget()
        self.stack.setObjectName("map_states_stack")
        column.addWidget(self.stack)
        self.empty = EmptyState("No folders yet", "Add a folder, and its documents can be seen on a map: alike ones "
                                "lie close together.", action="Add folder...", icon="folder", object_name="map_empty")
        self.nothing = EmptyState("Nothing on the map yet", "", action="Go to Library", icon="library",
                                  object_name="map_nothing")
        self.failed = EmptyState("The map could not be drawn", "", action="Try again", icon="refresh",
                                 drawing="problem", object_name="map_failed")
        self.stopped = EmptyState("No map yet", "It was stopped before it was laid out. Documents that are alike will "
                                  "lie close together.", action="Draw the map", icon="map", object_name="map_stopped")
        for widget in (self.empty, self.nothing, self.failed, self.stopped):
            self.stack.addWidget(widget)
        self.hide()

    def shown(self) -> EmptyState | None:
        """Gives the state in front, or None."""
        widget = self.stack.currentWidget()
        return widget if isinstance(widget, EmptyState) and not self.isHidden() else None

    def show_state(self, state: EmptyState | None) -> None:
        """Puts a state in front; None: the map."""
        if state is not None:
            self.stack.setCurrentWidget(state)
        self.setVisible(state is not None)


class MapBody(Page):
    """The widgets. ``finder`` asks, ``preview`` shows documents beside the map."""

    key: ClassVar[str] = "map"
    title: ClassVar[str] = "Map"
    icon: ClassVar[str] = "map"

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self.finder = MapFinder(desk, self)
        self.preview = MapPreview(desk, self.key, self)
        self.canvas = MapCanvas(desk.errands, self)
        self.toolbar = MapToolbar(self)
        self.badge = QualityBadge(self)
        self.chip = SearchChip(self)
        self.note = NoteStrip(self)
        self.progress = ProgressStrip(self)
        self.legend = Legend(self)
        self.drawer = SelectionDrawer(desk, self)
        self.states = MapStates(self)
        self.card = HoverCard(self)
        self.filter_panel = FilterPanel(self)
        self.quality_panel = QualityPanel(self)
        self._slide: QPropertyAnimation | None = None
        self._drawer_alone = False  # the page is so narrow that the drawer takes all of it
        order = (self.toolbar, self.badge, self.chip, self.note, self.progress, self.canvas, self.legend, self.drawer,
                 self.states)
        for first, second in itertools.pairwise(order):
            QWidget.setTabOrder(_last_of(first), _first_of(second))
        self.legend.resized.connect(self._place)
        self.note.resized.connect(self._place)
        theme.themeChanged.connect(self._place)
        self._place()

    # ---- layout

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.card.put_away()
        for panel in (self.filter_panel, self.quality_panel):
            panel.close_popover()
        self._place()

    def covered(self) -> int:
        """Gives how wide the drawer lies over the right of the map."""
        if self.drawer.isHidden():
            return 0
        return self.width() if self._drawer_alone else self.drawer.wide(self.width())

    def free_room(self) -> QRect:
        """Gives the part of the page that the drawer leaves free."""
        return QRect(0, 0, max(1, self.width() - self.covered()), self.height())

    def margins(self) -> QMargins:
        """Gives what a map that is fitted leaves free around it."""
        over: tuple[QWidget, ...] = (self.toolbar, self.chip, self.note, self.badge)
        top = max((widget.geometry().bottom() for widget in over if not widget.isHidden()), default=EDGE)
        view = self.finder.view
        few = view is not None and len(view) < FEW  # a single point must not lie under the legend
        left = self.legend.width() + 2 * EDGE if few and self.free_room().width() > 2 * self.legend.width() else EDGE
        return QMargins(left, top + GAP, EDGE + self.covered(), EDGE)

    def _place(self) -> None:
        if not hasattr(self, "quality_panel"):
            return
        page = self.rect()
        self.canvas.setGeometry(page)
        self.states.setGeometry(page)
        beside_drawer = page.width() - (0 if self.drawer.isHidden() else self.drawer.wide(page.width()))
        self.toolbar.set_room(beside_drawer - 2 * EDGE)
        self._drawer_alone = not self.drawer.isHidden() and self.toolbar.width() > beside_drawer - 2 * EDGE
        wide = page.width() if self._drawer_alone else beside_drawer
        room = wide - 2 * EDGE
        self.drawer.setFixedWidth(page.width() if self._drawer_alone else self.drawer.wide(page.width()))
        self._show_over()
        if self._slide is None:
            self.drawer.setGeometry(page.width() - self.drawer.width(), 0, self.drawer.width(), page.height())
        badge = self.badge.sizeHint().width() + GAP if not self.badge.isHidden() else 0
        self.badge.set_short(False)
        self.toolbar.set_room(room)
        beside = self.toolbar.width() + badge <= room
        tall = max(self.toolbar.sizeHint().height(), theme.height(40, padding=20))
        self.toolbar.setFixedHeight(tall)
        self.toolbar.move(EDGE, EDGE)
        below = EDGE + tall + GAP
        left = EDGE
        self.badge.setFixedHeight(tall)
        if beside:
            self.badge.move(wide - EDGE - self.badge.width(), EDGE)
        else:
            self.badge.move(EDGE, below)
            left += badge
        if not self.chip.isHidden():
            self.chip.adjustSize()
            if left + self.chip.width() > wide - EDGE:
                left, below = EDGE, below + tall + GAP
            offset = (tall - self.chip.height()) // 2 if not beside and badge else 0
            self.chip.move(left, below + offset)
            left += self.chip.width() + GAP
        if left > EDGE:
            chip = self.chip.height() if not self.chip.isHidden() else 0
            below += max(tall if not beside and badge else 0, chip) + GAP
        for strip in (self.progress, self.note):
            if strip.isHidden():
                continue
            if isinstance(strip, NoteStrip):
                strip.fit(room)
            else:
                strip.fit()
            if strip is self.progress and self.finder.view is None:
                strip.move((wide - strip.width()) // 2, (page.height() - strip.height()) // 2)
                continue
            strip.move(EDGE, below)
            below += strip.height() + GAP
        self._place_legend(wide, below)
        for panel in (self.filter_panel, self.quality_panel):
            if panel.isVisible():
                panel.place()
        self._tell_obstacles()

    def _place_legend(self, wide: int, below: int) -> None:
        share = 6 if wide > 2 * self.legend.width() else 4  # of a narrow map the legend must not hide the most
        self.legend.set_most(max(120, min(self.height() - below - 2 * EDGE, self.height() * share // 10)))
        self.legend.move(EDGE, self.height() - EDGE - self.legend.height())
        room = wide >= self.legend.width() + 2 * EDGE and not self._drawer_alone
        self.legend.setVisible(room and self.finder.colours is not None and self.states.isHidden())

    def _show_over(self) -> None:
        """Leaves out what the drawer would cover: Tab must not lead under it."""
        there = not self._drawer_alone and self.finder.view is not None and self.states.isHidden()
        self.toolbar.setVisible(there)
        self.badge.setVisible(there and self.badge.has_words())
        self.chip.setVisible(there and bool(self.chip.value()))
        if not there and not self.finder.busy:
            self.note.hide()

    def _tell_obstacles(self) -> None:
        over = [widget.geometry() for widget in (self.toolbar, self.badge, self.chip, self.note, self.progress,
                                                 self.legend, self.drawer) if not widget.isHidden()]
        self.canvas.set_obstacles(over)

    # ---- the drawer

    def show_drawer(self, shown: bool) -> None:
        """Slides the drawer in or out."""
        if shown == (not self.drawer.isHidden()):
            return
        if shown:
            self.drawer.show()
            self.drawer.raise_()
        else:
            self.drawer.hide()
        self._stop_sliding()
        self._place()
        if shown and theme.duration(160):
            end = self.drawer.pos()
            self._slide = slide(self.drawer, b"pos", end + QPoint(self.drawer.width(), 0), end, 160)
            self._slide.finished.connect(self._slid)

    def _slid(self) -> None:
        self._slide = None
        self._place()

    def _stop_sliding(self) -> None:
        if self._slide is not None:
            moving, self._slide = self._slide, None
            moving.stop()


def _focusable(widget: QWidget) -> list[QWidget]:
    found = [each for each in widget.findChildren(QWidget) if each.focusPolicy().value & 1]
    return found or [widget]


def _first_of(widget: QWidget) -> QWidget:
    return _focusable(widget)[0]


def _last_of(widget: QWidget) -> QWidget:
    return _focusable(widget)[-1]
