"""The points of a map as they are drawn, pointed at and encircled: a million of them, without OpenGL.

Points are kept sorted by y. A view then is one slice of them, its rows of pixels are runs in that slice, and writing
them goes through the picture from top to bottom, which memory likes. The same order answers what lies under the
pointer and what lies inside a line that was drawn around points.

y grows downwards, as in a picture.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from sbert_desktop.domain import Mask
from sbert_desktop.explore.layout import Floats, Positions, Rows

Groups = NDArray[np.uint8]
Pixels = NDArray[np.uint32]

FRONT = 128
"""Added to the group of what lies on top: where dots overlap, the greater number shows."""

# Which pixels beside its own a dot of a size takes, right and below first; sizes above stay at the last.
_DOTS: dict[int, tuple[tuple[int, int], ...]] = {
    1: (),
    2: ((0, 1), (1, 0), (1, 1)),
    3: ((0, 1), (0, -1), (1, 0), (-1, 0)),
    4: tuple((dy, dx) for dy in range(-1, 3) for dx in range(-1, 3) if (dy in (0, 1) or dx in (0, 1)) and (dy or dx)),
    5: tuple((dy, dx) for dy in range(-2, 3) for dx in range(-2, 3) if abs(dy) + abs(dx) < 4 and (dy or dx)),
}


@dataclass(frozen=True, slots=True)
class View:
    """The part of the map that a picture shows.

    ``left``, ``top``: the map's coordinates at the picture's corner. ``scale``: pixels per unit, above 0. ``width``,
    ``height``: pixels of the device, at least 1.
    """

    left: float
    top: float
    scale: float
    width: int
    height: int

    def to_pixels(self, positions: Positions) -> Positions:
        """Gives float32 [n, 2], where positions lie in the picture."""
        return cast("Positions", ((positions - np.array([self.left, self.top])) * self.scale).astype(np.float32))

    def to_map(self, x: float, y: float) -> tuple[float, float]:
        """Gives the map's coordinates of a pixel."""
        return self.left + x / self.scale, self.top + y / self.scale

    def zoomed(self, factor: float, x: float, y: float) -> View:
        """Gives the view that is ``factor`` times as large, with the spot under pixel x, y kept in place."""
        at_x, at_y = self.to_map(x, y)
        scale = self.scale * factor
        return View(at_x - x / scale, at_y - y / scale, scale, self.width, self.height)


def whole_view(positions: Positions, width: int, height: int, *, margin: int = 24) -> View:
    """Gives the view that shows all positions with so many pixels around."""
    if not len(positions):
        return View(-1.0, -1.0, min(width, height) / 2, width, height)
    low, high = positions.min(axis=0).astype(np.float64), positions.max(axis=0).astype(np.float64)
    room = np.maximum(np.array([width, height]) - 2.0 * margin, 1.0)
    scale = float(np.min(room / np.maximum(high - low, 1e-3)))
    left, top = (low + high) / 2 - np.array([width, height]) / (2 * scale)
    return View(float(left), float(top), scale, width, height)


@dataclass(frozen=True, slots=True)
class Paint:
    """Which colour each point has, from :meth:`MapPoints.paint`: in drawing order, and again those that lie on top."""

    groups: Groups
    front: Groups
    front_x: Floats
    front_y: Floats


class MapPoints:
    """Positions made ready for drawing; one thread at a time, for the working memory is kept between frames.

    Args:
        positions: float32 [points, 2], finite. Not changed; rows in all answers count these.
    """

    def __init__(self, positions: Positions) -> None:
        self._rows = np.argsort(positions[:, 1], kind="stable").astype(np.int32)
        self._x = np.ascontiguousarray(positions[self._rows, 0], np.float32)
        self._y = np.ascontiguousarray(positions[self._rows, 1], np.float32)
        self._across = np.empty(len(positions), np.float32)
        self._places = np.empty(len(positions), np.intp)
        self._canvas = np.zeros((1, 1), np.uint8)

    def paint(self, groups: Groups, *, front: Mask | None = None) -> Paint:
        """Gives what :meth:`draw` needs of the colours; once per change of colours, not per frame.

        Args:
            groups: uint8 [points], places in the palette, at most 127; 0: not drawn.
            front: Bool [points], which are drawn over all others (search results, a selection), in the colours that
                stand 128 places further in the palette.
        """
        colours = np.ascontiguousarray(groups[self._rows] & 127, np.uint8)
        above = np.zeros(0, np.intp)
        if front is not None:
            above = np.flatnonzero(front[self._rows] & (colours > 0))
            colours[above] |= FRONT
        return Paint(colours, colours[above], self._x[above], self._y[above])

    def draw(self, view: View, paint: Paint, palette: Pixels, *, size: int = 3, out: Pixels | None = None) -> Pixels:
        """Draws the points.

        Args:
            view: The part to show.
            paint: From :meth:`paint`.
            palette: uint32 [256], 0xAARRGGBB in the machine's byte order (QImage.Format_ARGB32_Premultiplied); place 0
                is the ground.
            size: Pixels across a dot, 1 to 5.
            out: uint32 [height, width] to draw into, for instance over the memory of a QImage; None: a new one.

        Returns:
            uint32 [height, width].
        """
        canvas = self._cleared(view)
        self._write(canvas, view, self._x, self._y, paint.groups)
        if len(paint.front):  # again, for of those on one pixel the last one shows
            self._write(canvas, view, paint.front_x, paint.front_y, paint.front)
        picture = _grow(canvas, size)[2:-2, 2:-2]
        if out is None:
            out = np.empty((view.height, view.width), np.uint32)
        return np.take(palette, picture, out=out, mode="clip")

    def at(self, x: float, y: float, radius: float) -> int:
        """Gives the row of the point nearest to x, y in the map's units within ``radius``, -1 if there is none."""
        low, high = self._band(y - radius, y + radius)
        if low == high:
            return -1
        square = (self._x[low:high] - np.float32(x)) ** 2 + (self._y[low:high] - np.float32(y)) ** 2
        best = int(square.argmin())
        return int(self._rows[low + best]) if square[best] <= radius * radius else -1

    def within(self, left: float, top: float, right: float, bottom: float) -> Rows:
        """Gives the rows of the points in a rectangle, int32, ascending."""
        low, high = self._band(top, bottom)
        x = self._x[low:high]
        return np.sort(self._rows[low:high][(x >= left) & (x <= right)])

    def inside(self, line: Positions) -> Rows:
        """Gives the rows of the points inside a closed line, int32, ascending.

        Where the line crosses itself, what it goes around twice is outside again.

        Args:
            line: float [corners, 2] in the map's units; the last is joined with the first. Below 3 corners: nothing.
        """
        if len(line) < 3:
            return np.empty(0, np.int32)
        corners = np.asarray(line, np.float64)
        low, high = self._band(float(corners[:, 1].min()), float(corners[:, 1].max()))
        x = self._x[low:high]
        close = np.flatnonzero((x >= corners[:, 0].min()) & (x <= corners[:, 0].max()))
        x, y = x[close].astype(np.float64), self._y[low:high][close].astype(np.float64)
        odd = np.zeros(len(close), bool)
        starts, ends = corners, np.roll(corners, -1, axis=0)
        tops, bottoms = np.minimum(starts[:, 1], ends[:, 1]), np.maximum(starts[:, 1], ends[:, 1])
        # An edge concerns the points that are level with it: half-open, so that a corner is crossed once.
        firsts, lasts = np.searchsorted(y, tops, side="left"), np.searchsorted(y, bottoms, side="left")
        for (x0, y0), (x1, y1), first, last in zip(
            starts.tolist(), ends.tolist(), firsts.tolist(), lasts.tolist(), strict=True
        ):
            if first < last:
                odd[first:last] ^= x[first:last] < x0 + (y[first:last] - y0) * ((x1 - x0) / (y1 - y0))
        return np.sort(self._rows[low:high][close[odd]])

    def _band(self, top: float, bottom: float) -> tuple[int, int]:
        """Gives the first point at or below ``top`` and the first beyond ``bottom``."""
        return int(np.searchsorted(self._y, np.float32(top), "left")), int(
            np.searchsorted(self._y, np.float32(bottom), "right")
        )

    def _cleared(self, view: View) -> Groups:
        """Gives an empty canvas with two pixels around, so that dots at the rim need no care."""
        shape = (view.height + 4, view.width + 4)
        if self._canvas.shape != shape:
            self._canvas = np.zeros(shape, np.uint8)
        else:
            self._canvas.fill(0)
        return self._canvas

    def _write(self, canvas: Groups, view: View, xs: Floats, ys: Floats, groups: Groups) -> None:
        """Writes the group of each visible point, which are sorted by y, at its pixel; two pixels around count."""
        height, width = canvas.shape
        edges = (view.top + (np.arange(height + 1) - 2.0) / view.scale).astype(np.float32)
        ends = np.searchsorted(ys, edges)
        low, high = int(ends[0]), int(ends[-1])
        across, places = self._across[: high - low], self._places[: high - low]
        np.subtract(xs[low:high], np.float32(view.left), out=across)
        np.multiply(across, np.float32(view.scale), out=across)
        np.add(across, np.float32(2), out=across)
        np.clip(across, 0, width - 1, out=across)
        np.copyto(places, across, casting="unsafe")
        places += np.repeat(np.arange(height, dtype=np.intp) * width, np.diff(ends))
        canvas.ravel()[places] = groups[low:high]
        canvas[:, 0] = 0  # what lies beyond the left and right ends was swept here
        canvas[:, -1] = 0


def _grow(canvas: Groups, size: int) -> Groups:
    """Makes each pixel a dot; where dots overlap, the greater group shows."""
    steps = _DOTS[min(max(size, 1), 5)]
    if not steps:
        return canvas
    height, width = canvas.shape
    grown = canvas.copy()
    for dy, dx in steps:
        to = grown[max(dy, 0) : height + min(dy, 0), max(dx, 0) : width + min(dx, 0)]
        np.maximum(to, canvas[max(-dy, 0) : height + min(-dy, 0), max(-dx, 0) : width + min(-dx, 0)], out=to)
    return grown
