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

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QMargins, QPoint, QRect, Signal
from PySide6.QtWidgets import QWidget

from sbert_desktop.app.atlas_views import ColourView, MapLabel, MapView, View
from sbert_desktop.domain import Mask
from sbert_desktop.ui.errands import Errands

Rows = NDArray[np.int32]
Tool = Literal["pan", "lasso", "rectangle"]


class MapCanvas(QWidget):
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
    viewChanged = Signal()
    menuAsked = Signal(int, QPoint)
    ready = Signal()
    toolChanged = Signal(str)

    def __init__(self, errands: Errands, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._errands = errands
        self._tool: Tool = "pan"

    # ---- what is shown

    def set_map(self, view: MapView | None, *, animate: bool = True) -> None:
        """Shows a map; None: an empty ground.

        Points glide there from ``view.moved`` or from where the same documents lay before; not with reduced motion.
        Colours, selection, results and chosen points are carried over by document until they are set anew; the part
        shown stays if the person has moved or zoomed it and this is the same map refitted, else the map is fitted.
        """

    def set_colours(self, colours: ColourView | None) -> None:
        """Colours the points; None: all in the plain grey. Hidden groups stay hidden only while ``by`` is the same."""

    def set_lit(self, lit: Mask | None) -> None:
        """Lights points (bool [points]: the search results) and greys the others; None: no search."""

    def set_selection(self, points: Sequence[int] | Rows) -> None:
        """Selects points; sends no signal."""

    def set_chosen(self, points: Sequence[int] | Rows) -> None:
        """Puts a ring around points: what is chosen on this or another page (500 at most are drawn)."""

    def set_hidden_groups(self, groups: set[int]) -> None:
        """Hides the points of groups: places in ``ColourView.groups``, -1 for those in none."""

    def set_date_range(self, low: float | None, high: float | None) -> None:
        """Hides points outside of a range in seconds, ends included, and those without a date; None: open."""

    def set_labels(self, labels: Sequence[MapLabel] | None) -> None:
        """Shows these labels; None: the map's own; empty: none."""

    def set_contours(self, on: bool) -> None:
        """Shows lines of equal density around what is shown, or not."""

    def set_obstacles(self, rectangles: Sequence[QRect]) -> None:
        """Keeps labels away from what lies over the canvas (toolbar, legend, badge), in its own pixels."""

    def set_faded(self, on: bool) -> None:
        """Draws the points at 40 %: a new map is being laid out."""

    # ---- which part of it

    def fit(self, margins: QMargins | None = None, *, animate: bool = True) -> None:
        """Shows the whole map beside margins that something covers; they are kept for later fits, None: as before."""

    def zoom_in(self) -> None:
        """Zooms in by a half around the middle of the free part."""

    def zoom_out(self) -> None:
        """Zooms out likewise."""

    def reveal(self, points: Sequence[int] | Rows) -> None:
        """Moves the map, without zooming where that does, so that these points show."""

    @property
    def map_view(self) -> View:
        """The part that shows, in device pixels (see devicePixelRatio)."""
        return View(0.0, 0.0, 1.0, 1, 1)

    @property
    def zoom(self) -> float:
        """How large the map is drawn; 1 when it fits."""
        return 1.0

    def point_at(self, at: QPoint) -> int:
        """Gives the shown point nearest to a spot in this widget's pixels, within 8 of them; -1: none."""
        return -1

    def position_of(self, point: int) -> QPoint:
        """Gives where a point is in this widget's pixels, for a card beside it; may lie outside."""
        return QPoint()

    # ---- what the person does with it

    @property
    def tool(self) -> Tool:
        """What dragging does: ``pan``, ``lasso`` or ``rectangle``."""
        return self._tool

    @tool.setter
    def tool(self, tool: Tool) -> None:
        self._tool = tool

    @property
    def selection(self) -> Rows:
        """The points selected: int32, ascending."""
        return np.zeros(0, np.int32)

    @property
    def focused_point(self) -> int:
        """The point that the keyboard is on, -1 without."""
        return -1

    @property
    def shown(self) -> Mask:
        """Bool [points]: neither their group nor their date is hidden."""
        return np.zeros(0, np.bool_)

    def select_shown(self) -> None:
        """Selects all points that are shown (Ctrl+A); sends selectionChanged."""

    def clear_selection(self) -> None:
        """Selects nothing and takes the line around it away; sends selectionChanged if there was one."""

    def say_point(self, point: int, text: str) -> None:
        """Tells a screen reader what a point is, if the keyboard is still on it: call it when its card has come."""
