"""The drawing of the map: a widget that shows a :class:`MapView`, is panned and zoomed, and selects points.

Use::

    canvas = MapCanvas(errands, parent)
    canvas.set_map(view, animate=True)      # at once for small maps, else as soon as it is made ready
    canvas.set_colours(colours)
    canvas.set_obstacles([toolbar.geometry(), legend.geometry()])
    canvas.fit(QMargins(0, 0, 344, 0))      # 344 px on the right are covered

A *point* is a row of ``MapView.positions`` throughout. What is set after :meth:`MapCanvas.set_map` belongs to that
map, even where it is not drawn yet. All of it belongs to the GUI thread.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QLineF, QPoint, QRect, Qt, Signal
from PySide6.QtGui import (
    QAccessible,
    QAccessibleEvent,
    QContextMenuEvent,
    QFocusEvent,
    QKeyEvent,
    QMouseEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QWidget

from sbert_desktop.app.atlas_views import ColourBy, ColourView, Contour, MapLabel, MapUnit, MapView, contours
from sbert_desktop.domain import Mask
from sbert_desktop.ui import words
from sbert_desktop.ui.errands import Errands
from sbert_desktop.ui.map.canvas_keys import Keys
from sbert_desktop.ui.map.canvas_marks import Marks, Prepared, Rows, prepare, theme_tops
from sbert_desktop.ui.map.canvas_pointer import Pointer
from sbert_desktop.ui.map.canvas_surface import Surface
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.widgets import announce, name

Tool = Literal["pan", "lasso", "rectangle"]
T = TypeVar("T")

AT_ONCE: Final = 50_000
"""Points up to which a map is made ready on the GUI thread: some 20 ms; larger ones in an errand."""


class MapCanvas(Surface):
    """The map itself. Needs nothing of the page: errands make large maps ready off the GUI thread.

    Signals:
        hovered(int, QPoint): The point under the pointer changed (-1: none) and where it is, in this widget's pixels.
            Also sent when the keyboard moves to a point, so that the card is there without a mouse.
        clicked(int): A point was clicked; -1: the ground was.
        doubleClicked(int): A point was double-clicked, or Enter was pressed on the focused one.
        selectionChanged(object): int32 [n], the points selected, ascending; by hand only, not by set_selection.
        viewChanged(): What part of the map shows, or how large, changed.
        menuAsked(int, QPoint): A menu is wanted for a point (-1: for the ground or the selection); global position.
        ready(): A map given to set_map is now drawn (the end of its glide is not waited for).
        toolChanged(str): The tool was changed, by whomever.
    """

    hovered = Signal(int, QPoint)
    clicked = Signal(int)
    doubleClicked = Signal(int)
    selectionChanged = Signal(object)
    menuAsked = Signal(int, QPoint)
    ready = Signal()
    toolChanged = Signal(str)

    def __init__(self, errands: Errands, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        name(self, "map_canvas", "Map")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.grabGesture(Qt.GestureType.PinchGesture)
        self.setMinimumSize(120, 120)
        self._errands = errands
        self._tool: Tool = "pan"
        self._coming: MapView | None = None  # being made ready
        self._early: dict[str, object] = {}  # what was set for it
        self._serial = 0
        self._own_labels: tuple[MapLabel, ...] | None = None
        self._contours_on = False
        self._contours_serial = 0
        self._pointer = Pointer(self)
        self._keys = Keys(self)
        self._describe()

    # ---- what is shown

    def set_map(self, view: MapView | None, *, animate: bool = True) -> None:
        """Shows a map; None: an empty ground.

        Points glide there from ``view.moved`` or from where the same documents lay before; not with reduced motion.
        Colours, selection, results and chosen points are carried over by document until they are set anew; the part
        shown stays if the person has moved or zoomed it and this is the same map refitted, else the map is fitted.
        """
        self._serial += 1
        serial = self._serial
        self._early = {}
        if view is None or not len(view):
            self._coming = None
            self.finish_motion()
            self._map, self._painter, self._marks = view, None, Marks()
            self._book.set_labels(())
            self._after_map()
            return
        self._coming = view
        old, marks, glide = self._map, self._marks, animate and theme.duration(1) > 0

        def done(ready: Prepared) -> None:
            if serial == self._serial:
                self._take(ready, glide)

        self._do(lambda: prepare(view, old, marks, glide=glide), done, len(view))

    def _do(self, work: Callable[[], T], done: Callable[[T], None], points: int) -> None:
        if points <= AT_ONCE:
            done(work())
        else:
            self._errands.run(work, done)

    def _take(self, ready: Prepared, glide: bool) -> None:
        """Draws a map that was made ready from now on."""
        self.finish_motion()
        view, before = self.map_view, self._map
        had = self._marks.selection
        self._map, self._coming = ready.view, None
        self._painter = ready.painter
        self._marks = replace(ready.marks, **self._early).fitted(len(ready.view))  # type: ignore[arg-type]
        lost = before is not None and len(had) != len(self._marks.selection) and "selection" not in self._early
        self._early = {}
        self._book.set_labels(ready.view.labels if self._own_labels is None else self._own_labels)
        stays = not self._at_fit and before is not None and ready.view.moved is not None
        self._refit(keep=stays)
        self._after_map()
        if glide and ready.start is not None:
            self._begin_glide(ready.start, view if before is not None else self.map_view)
        if lost:
            self.selectionChanged.emit(self._marks.selection)
        self.ready.emit()

    def _after_map(self) -> None:
        self._codes = self._shown = self._labels = None
        self._outline, self._marked = None, frozenset()
        self._dressed = False
        self._pointer.forget()
        self._find_tops()
        self._find_contours()
        self._describe()
        self._redraw()
        self.viewChanged.emit()

    def set_colours(self, colours: ColourView | None) -> None:
        """Colours the points; None: all in the plain grey. Hidden groups stay hidden only while ``by`` is the same."""
        before = self._marks.colours
        if before is None or colours is None or before.by is not colours.by:
            self._hidden = frozenset()
        if self._set(colours=colours):
            self._codes = self._shown = None
            self._find_tops()
            self._find_contours()

    def set_lit(self, lit: Mask | None) -> None:
        """Lights points (bool [points]: the search results) and greys the others; None: no search."""
        self._set(lit=lit)

    def set_selection(self, points: Sequence[int] | Rows) -> None:
        """Selects points; sends no signal. The line drawn around them stays if they are the same."""
        rows = np.unique(np.asarray(points, np.int32))
        if self._coming is None and np.array_equal(rows, self._marks.selection):
            return
        self._outline, self._marked = None, frozenset()
        self._labels = None
        self._set(selection=rows)
        self._describe()

    def set_chosen(self, points: Sequence[int] | Rows) -> None:
        """Puts a ring around points: what is chosen on this or another page (500 at most are drawn)."""
        self._set(chosen=np.asarray(points, np.int32))

    def _set(self, **what: object) -> bool:
        """Sets marks of the map that is drawn, or keeps them for the coming one; says whether they are drawn."""
        if self._coming is not None:
            self._early |= what
            return False
        points = len(self._map) if self._map is not None else 0
        self._marks = replace(self._marks, **what).fitted(points)  # type: ignore[arg-type]
        self._dressed = False
        self._redraw()
        return True

    def set_hidden_groups(self, groups: set[int]) -> None:
        """Hides the points of groups: places in ``ColourView.groups``, -1 for those in none."""
        self._hidden = frozenset(groups)
        self._filter()

    def set_date_range(self, low: float | None, high: float | None) -> None:
        """Hides points outside of a range in seconds, ends included, and those without a date; None: open."""
        self._dates = (low, high)
        self._filter()

    def _filter(self) -> None:
        self._shown, self._dressed, self._labels = None, False, None
        self._find_contours()
        self._redraw()

    def set_labels(self, labels: Sequence[MapLabel] | None) -> None:
        """Shows these labels; None: the map's own; empty: none."""
        self._own_labels = None if labels is None else tuple(labels)
        self._book.set_labels((self._map.labels if self._map is not None else ()) if labels is None else labels)
        self._marked, self._labels = frozenset(), None
        self._find_tops()
        self._redraw()

    def set_contours(self, on: bool) -> None:
        """Shows lines of equal density around what is shown, or not."""
        if on != self._contours_on:
            self._contours_on = on
            self._find_contours()
            self.update()

    def set_obstacles(self, rectangles: Sequence[QRect]) -> None:
        """Keeps labels away from what lies over the canvas (toolbar, legend, badge), in its own pixels."""
        self._obstacles = tuple(QRect(rect) for rect in rectangles)
        self._labels = None
        self.update()

    def set_faded(self, on: bool) -> None:
        """Draws the points at 40 %: a new map is being laid out."""
        self._faded = on
        self._dressed = False
        self._redraw()

    def _find_tops(self) -> None:
        view, colours, serial = self._map, self._marks.colours, self._serial
        if view is None or colours is None or colours.by is not ColourBy.THEME:
            return

        def done(tops: dict[int, tuple[float, float]]) -> None:
            if serial == self._serial:
                self._book.set_tops(tops)
                self._labels = None
                self.update()

        self._do(lambda: theme_tops(view, colours), done, len(view))

    def _find_contours(self) -> None:
        self._contours_serial += 1
        serial, view = self._contours_serial, self._map
        if not self._contours_on or view is None or not len(view):
            self._contours = []
            return
        shown = self.shown

        def done(found: list[Contour]) -> None:
            if serial == self._contours_serial:
                self._contours = [(line.share, [QLineF(*piece) for piece in line.pieces.tolist()]) for line in found]
                self.update()

        self._do(lambda: contours(view.positions[shown]), done, len(view))

    # ---- what the person does with it

    @property
    def tool(self) -> Tool:
        """What dragging does: ``pan``, ``lasso`` or ``rectangle``."""
        return self._tool

    @tool.setter
    def tool(self, tool: Tool) -> None:
        if tool != self._tool:
            self._tool = tool
            self._pointer.cancel()
            self._pointer.show_cursor()
            self.toolChanged.emit(tool)

    @property
    def map(self) -> MapView | None:
        """The map that is drawn."""
        return self._map

    @property
    def coming(self) -> bool:
        """True while another map is made ready: what is drawn and selected has the numbers of the one before."""
        return self._coming is not None

    @property
    def selection(self) -> Rows:
        """The points selected: int32, ascending."""
        return self._marks.selection

    @property
    def focused_point(self) -> int:
        """The point that the keyboard is on, -1 without."""
        return self._marks.focus

    @property
    def positions(self) -> NDArray[np.float32]:
        """float32 [points, 2] of the map that is drawn."""
        return self._painter.cloud.positions if self._painter is not None else np.zeros((0, 2), np.float32)

    def points_inside(self, line: NDArray[np.float32]) -> Rows:
        """Gives the shown points inside a closed line in the map's units: int32, ascending."""
        if self._painter is None:
            return np.zeros(0, np.int32)
        found = self._painter.cloud.points.inside(line)
        return found[self.shown[found]]

    def select(self, points: Rows, *, how: str = "replace", outline: NDArray[np.float32] | None = None) -> None:
        """Selects by hand and sends selectionChanged.

        Args:
            points: Which; hidden ones are left out.
            how: ``replace``, ``add`` or ``remove``.
            outline: float32 [corners, 2], the line in the map's units that stays drawn around them.
        """
        if self.coming and (len(points) or how != "replace"):
            return  # they would be other documents on the map that comes
        points = points[self.shown[points]] if len(points) else points
        if how == "add":
            points = np.union1d(self.selection, points)
        elif how == "remove":
            points = np.setdiff1d(self.selection, points)
        changed = "selection" in self._early or not np.array_equal(points, self.selection)
        if changed:
            self.set_selection(points.astype(np.int32))
        self._outline = outline if how == "replace" and len(points) else None
        self._marked = self._book.inside(self._outline) if self._outline is not None else frozenset()
        self._labels = None
        self.update()
        if changed:
            announce(self, f"{words.count(self._documents(points))} selected")
            self.selectionChanged.emit(points.astype(np.int32))

    def select_shown(self) -> None:
        """Selects all points that are shown (Ctrl+A); sends selectionChanged."""
        self.select(np.flatnonzero(self.shown).astype(np.int32))

    def clear_selection(self) -> None:
        """Selects nothing and takes the line around it away; sends selectionChanged if there was one."""
        self.select(np.zeros(0, np.int32))

    def focus_point(self, point: int) -> None:
        """Puts the keyboard on a point (-1: on none), shows it and says it."""
        self._marks = replace(self._marks, focus=point)
        self.update()
        if point >= 0:
            self.reveal([point])
            self.finish_motion()
            self.hovered.emit(point, self.position_of(point))
            state = ", selected" if bool(np.isin(point, self.selection)) else ""
            which = f"{self._unit().capitalize()} {point + 1:,} of {len(self.shown):,}"
            announce(self, f"{which}{self._group_of(point)}{state}")
        self._describe()

    def say_point(self, point: int, text: str) -> None:
        """Tells a screen reader what a point is, if the keyboard is still on it: call it when its card has come."""
        if point == self._marks.focus and point >= 0:
            announce(self, text)
            self._describe(text)

    def _group_of(self, point: int) -> str:
        colours = self._marks.colours
        if colours is None or not 0 <= colours.point_groups[point] < len(colours.groups):
            return ""
        return f", {colours.groups[colours.point_groups[point]].label}"

    def _unit(self) -> str:
        passages = self._map is not None and self._map.request.unit is MapUnit.PASSAGES
        return "passage" if passages else "document"

    def _documents(self, points: Rows) -> int:
        return int(self._map.counts[points].sum()) if self._map is not None else 0

    def _describe(self, focused: str = "") -> None:
        """Says what is drawn as text, for who cannot see it."""
        count = int(self._map.counts.sum()) if self._map is not None else 0
        parts = [f"Map of {words.counted(count, self._unit())}"]
        if len(self.selection):
            parts.append(f"{words.count(self._documents(self.selection))} selected")
        text = ", ".join(parts)
        if focused:
            text += f". On: {focused}"
        if text != self.accessibleDescription():
            self.setAccessibleDescription(text)
            if QAccessible.isActive():
                QAccessible.updateAccessibility(QAccessibleEvent(self, QAccessible.Event.DescriptionChanged))

    # ---- events

    def draw_line(self, line: NDArray[np.float32] | None) -> None:
        """Shows the line that is being drawn around points, float32 [corners, 2] in the map's units."""
        self._line = line
        self.update()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.finish_motion()
        self._pointer.press(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._pointer.move(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._pointer.release(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self._pointer.double_click(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        self._pointer.wheel(event)

    def leaveEvent(self, event: QEvent) -> None:
        self._pointer.leave()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        if event.reason() is QContextMenuEvent.Reason.Keyboard:
            point = self.focused_point
            at = self.position_of(point) if point >= 0 else self.rect().center()
            self.menuAsked.emit(point, self.mapToGlobal(at))
        else:
            self.menuAsked.emit(self.point_at(event.pos()), event.globalPos())
        event.accept()

    def event(self, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.NativeGesture, QEvent.Type.Gesture) and self._pointer.gesture(event):
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not self._keys.press(event):
            super().keyPressEvent(event)

    def keyReleaseEvent(self, event: QKeyEvent) -> None:
        if not self._keys.release(event):
            super().keyReleaseEvent(event)

    @property
    def pointer(self) -> Pointer:
        """What the mouse is doing."""
        return self._pointer

    @property
    def keys(self) -> Keys:
        """What the keyboard is doing."""
        return self._keys

    def focusInEvent(self, event: QFocusEvent) -> None:
        self._by_keys = event.reason() in (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason,
                                           Qt.FocusReason.ShortcutFocusReason)
        super().focusInEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        self._keys.let_go()
        super().focusOutEvent(event)
