"""Points of a map as pixels: which colour each has, how large a dot is, and dots with smooth edges.

There are two ways to draw. Many points go through ``MapPoints.draw``, which writes a million in a few milliseconds as
dots of whole pixels. Few are stamped here as discs with smooth edges, and so is what lies on top of many: a selection,
what was found, what is new. Both work on the memory of a QImage. Nothing here needs a widget or a thread of its own.

Source: opacities, sizes and the ring around selected points: the design's mock-ups.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from PySide6.QtGui import QColor, QGuiApplication, QImage

from sbert_desktop.app.atlas_views import FRONT, ColourView, MapPoints, View
from sbert_desktop.domain import Mask
from sbert_desktop.ui.theme import Theme

Pixels = NDArray[np.uint32]
Codes = NDArray[np.uint8]
Rows = NDArray[np.int32]
Positions = NDArray[np.float32]

GROUND: Final = 0
"""Place in the palette of what is not drawn."""
GREY: Final = 1
"""Of what was not found, while something was."""
PLAIN: Final = 2
"""Of points in no group, or without a value."""
FIRST: Final = 3
"""Of the first group, or of the lowest step of a scale."""
STEPS: Final = 96
"""Of a scale."""

_CELLS: Final = 300_000  # pixels that discs may take in one frame: some 10 ms
_STAMPED: Final = 5_000  # new points that are drawn as rings on top of many, at most
_PHASES: Final = 4  # places of a disc's middle within a pixel, each way
_LEVELS: Final = 16  # of its edge's opacity


# ---------------------------------------------------------------- colours


class Scheme(Theme):
    """Light or dark colours and fonts whatever the window wears: for pictures, in any thread."""

    def __init__(self, dark: bool, pixels: int = 13) -> None:
        super().__init__()
        self._dark = dark
        self._base = QGuiApplication.font()
        self._base.setPixelSize(pixels)


def scale_color(value: float, dark: bool) -> QColor:
    """Gives the colour of a value from 0 to 1: even steps for the eye, told apart without seeing red or green.

    Lightness runs evenly (in light colours downwards, in dark ones upwards, so that high values stand out), hue from
    yellow over green to blue, all at one strength. Source: OKLab, Björn Ottosson, 2020 (its two matrices).
    """
    value = min(1.0, max(0.0, value))
    lightness = 0.53 + 0.38 * value if dark else 0.66 - 0.38 * value
    hue = math.radians(285 - 185 * value if dark else 100 + 185 * value)
    a, b = 0.1 * math.cos(hue), 0.1 * math.sin(hue)
    long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
    middle = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3
    linear = (
        4.0767416621 * long - 3.3077115913 * middle + 0.2309699292 * short,
        -1.2684380046 * long + 2.6097574011 * middle - 0.3413193965 * short,
        -0.0041960863 * long - 0.7034186147 * middle + 1.7076147010 * short,
    )
    return QColor.fromRgbF(*(_to_srgb(part) for part in linear))


def _to_srgb(part: float) -> float:
    part = min(1.0, max(0.0, part))
    return 12.92 * part if part <= 0.0031308 else 1.055 * part ** (1 / 2.4) - 0.055


def mixed(color: QColor, ground: QColor, opacity: float) -> QColor:
    """Gives what a colour at an opacity looks like on a ground."""
    return QColor.fromRgbF(*(
        over * opacity + under * (1 - opacity)
        for over, under in zip(color.getRgbF()[:3], ground.getRgbF()[:3], strict=True)  # type: ignore[index]
    ))


def _ranks(colours: ColourView) -> list[int]:
    """Gives the place in the palette of each group: small groups lie over large ones, the grey ones under all."""
    order = sorted(range(len(colours.groups)),
                   key=lambda at: (colours.groups[at].colour >= 0, -colours.groups[at].count, at))
    places = [PLAIN] * len(order)
    for rank, at in enumerate(order[: FRONT - FIRST]):
        places[at] = FIRST + rank
    return places


def codes_of(colours: ColourView | None, points: int) -> Codes:
    """Gives each point's place in the palette: uint8 [points]; all plain where the colours are of another map."""
    if colours is None or len(colours.point_groups) != points:
        return np.full(points, PLAIN, np.uint8)
    if colours.values is not None:
        steps = np.nan_to_num(colours.values, nan=-1.0) * np.float32(STEPS)
        codes: Codes = np.clip(steps, 0, STEPS - 1).astype(np.uint8) + np.uint8(FIRST)
        codes[steps < 0] = PLAIN
        return codes
    places: Codes = np.array([*_ranks(colours), PLAIN], np.uint8)  # the last is that of -1
    chosen: Codes = places[colours.point_groups]
    return chosen


@dataclass(frozen=True, slots=True)
class Dim:
    """What makes points fainter: something is selected, something was found, a new map is on its way."""

    selected: bool = False
    lit: bool = False
    faded: bool = False

    def opacity(self, dark: bool) -> float:
        """Gives the opacity of the points that do not stand out."""
        if self.faded:
            return 0.40
        return (0.75 if dark else 0.60) if self.selected else 0.85


def palette_of(colours: ColourView | None, scheme: Theme, dim: Dim) -> Pixels:
    """Gives the palette of :func:`codes_of`: uint32 [256]; from FRONT on the colours of what stands out."""
    ground = scheme.color("surface")
    opacity = dim.opacity(scheme.dark)
    palette = np.full(256, ground.rgb(), np.uint32)
    table = {GREY: scheme.color("group_none"), PLAIN: scheme.color("group_none")}
    if colours is not None and colours.values is not None:
        table |= {FIRST + step: scale_color(step / (STEPS - 1), scheme.dark) for step in range(STEPS)}
    elif colours is not None:
        table |= {
            place: scheme.group_color(group.colour)
            for place, group in zip(_ranks(colours), colours.groups, strict=True) if place != PLAIN
        }
    for place, color in table.items():
        palette[place] = mixed(color, ground, min(opacity, 0.5) if place == GREY else opacity).rgb()
        palette[place | FRONT] = mixed(color, ground, 0.40).rgb() if dim.faded else color.rgb()
    return palette


# ---------------------------------------------------------------- sizes


def dot_width(points: int, area: float, zoom: float) -> float:
    """Gives how wide a dot is in logical pixels, 1 to 8: 3.4 for some 4,000 points on a page.

    It depends on how many points there are and how far one is in, not on what shows: panning changes no size.
    """
    spacing = math.sqrt(max(area, 1.0) / max(points, 1)) * zoom
    return min(8.0, max(1.0, 0.87 * math.sqrt(spacing)))


def _class_of(counts: NDArray[np.int32]) -> NDArray[np.intp]:
    """Gives a class of size: 0 for one document, 1 for up to 4, 2 for up to 20, 3 above."""
    return np.searchsorted(np.array([1, 4, 20]), counts, side="left")


_GROWN: Final = (1.0, 1.25, 1.5, 1.8)  # by class


# ---------------------------------------------------------------- discs


@dataclass(frozen=True, slots=True)
class _Stamp:
    """A disc's pixels: ``steps`` int32 [cells, 2] (dy, dx), ``levels`` uint8 [phases, cells], ``reach`` of them."""

    steps: NDArray[np.int32]
    levels: Codes
    reach: int


def _make_stamp(radius: float, hole: float) -> _Stamp:
    reach = math.ceil(radius + 0.5)
    across = np.arange(-reach, reach + 1)
    steps = np.stack(np.meshgrid(across, across, indexing="ij"), axis=-1).reshape(-1, 2).astype(np.int32)
    middles = (np.arange(_PHASES) + 0.5) / _PHASES - 0.5
    spots = np.stack(np.meshgrid(middles, middles, indexing="ij"), axis=-1).reshape(-1, 1, 2)
    away = np.hypot(*np.moveaxis(steps - spots, -1, 0))
    opacity = np.clip(radius + 0.5 - away, 0, 1)
    if hole > 0:
        opacity = np.minimum(opacity, np.clip(away - hole + 0.5, 0, 1))
    levels = np.round(opacity * _LEVELS).astype(np.uint8)
    used = levels.any(axis=0)
    return _Stamp(steps[used], levels[:, used], reach)


class Discs:
    """Draws discs with smooth edges; keeps working memory and the shapes of the last sizes."""

    def __init__(self) -> None:
        self._scratch = np.zeros(0, np.uint16)
        self._stamps: dict[tuple[float, float], _Stamp] = {}

    @staticmethod
    def cells(width: float) -> float:
        """Gives how many pixels a disc of so many device pixels takes."""
        return (width + 1.2) ** 2

    def draw(self, out: Pixels, spots: Positions, codes: Codes, palette: Pixels, width: float,
             *, hole: float = 0.0) -> None:
        """Draws discs onto a picture.

        Args:
            out: uint32 [height, width], changed; rows without gaps between them.
            spots: float32 [n, 2], middles in its pixels; those outside are left out.
            codes: uint8 [n], places in ``palette``; of two equally opaque pixels the greater place shows.
            palette: uint32 [256].
            width: Of a disc in pixels.
            hole: Width of the hole in it: above 0 it is a ring.
        """
        height, wide = out.shape
        key = (round(width * 4) / 4, round(hole * 4) / 4)
        stamp = self._stamps.get(key)
        if stamp is None:
            if len(self._stamps) > 64:
                self._stamps.clear()
            stamp = self._stamps[key] = _make_stamp(key[0] / 2, key[1] / 2)
        corner = np.floor(spots).astype(np.int32)
        reach = stamp.reach
        near = ((corner >= -reach) & (corner < (wide + reach, height + reach))).all(axis=1)
        order = np.flatnonzero(near)
        if not len(order):
            return
        corner, codes = corner[order], codes[order]
        part = ((spots[order] - corner) * _PHASES).astype(np.intp).clip(0, _PHASES - 1)
        levels = stamp.levels.take(part[:, 1] * _PHASES + part[:, 0], axis=0)
        first = (corner[:, 1] * wide + corner[:, 0]).astype(np.intp)
        flat = first[:, None] + (stamp.steps[:, 0] * wide + stamp.steps[:, 1]).astype(np.intp)
        used = levels > 0
        rim = np.flatnonzero(((corner < reach) | (corner >= (wide - reach, height - reach))).any(axis=1))
        if len(rim):
            rows = corner[rim, 1, None] + stamp.steps[:, 0]
            columns = corner[rim, 0, None] + stamp.steps[:, 1]
            used[rim] &= (rows >= 0) & (rows < height) & (columns >= 0) & (columns < wide)
        what = (levels.astype(np.uint16) << 8) | codes[:, None]
        cells = np.flatnonzero(used)
        self._blend(out, flat.reshape(-1).take(cells), what.reshape(-1).take(cells), palette)

    def _blend(self, out: Pixels, places: NDArray[np.intp], what: NDArray[np.uint16], palette: Pixels) -> None:
        """Mixes colours into pixels: the most opaque one of all that fall on a pixel, of equals the greatest."""
        if self._scratch.size != out.size:
            self._scratch = np.zeros(out.size, np.uint16)
        scratch, picture = self._scratch, out.reshape(-1)
        scratch[places] = what
        lost = np.flatnonzero(scratch.take(places, mode="clip") < what)
        while len(lost):  # of those on one pixel the last one stands there, not the greatest yet
            scratch[places[lost]] = what[lost]
            lost = lost[scratch[places[lost]] < what[lost]]
        found = scratch.take(places, mode="clip")
        share = (found >> 8).astype(np.uint32)
        over, under = palette.take(found & 255), picture.take(places, mode="clip")
        # red and blue in one go, green in another: neither's sum reaches beyond its own bits
        keep = np.uint32(_LEVELS) - share
        pair, one = np.uint32(0x00FF00FF), np.uint32(0x0000FF00)
        both = (((over & pair) * share + (under & pair) * keep) >> 4) & pair
        green = (((over & one) * share + (under & one) * keep) >> 4) & one
        picture[places] = both | green | np.uint32(0xFF000000)


# ---------------------------------------------------------------- a frame


class Frame:
    """A picture of points, and the memory behind it."""

    def __init__(self, width: int, height: int) -> None:
        self.image = QImage(width, height, QImage.Format.Format_RGB32)
        self.pixels: Pixels = np.ndarray((height, width), np.uint32, self.image.bits())

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in pixels of the device."""
        return self.image.width(), self.image.height()


@dataclass
class Cloud:
    """The points of one map with all that :class:`Painter` needs to know of them.

    Attributes:
        positions: float32 [points, 2].
        counts: int32 [points].
        fresh: Bool [points], drawn as rings.
        points: The same, made ready for drawing many.
        sums: int64 [cells + 1, cells + 1]: how many points lie above and left of each line of a grid.
        corner: Where that grid begins.
        cell: Width of its cells.
        corners: float32 [2, 2], the least and the greatest coordinates; [0, 2] without points.
        fresh_rows: int32, the points that are fresh.
    """

    positions: Positions
    counts: NDArray[np.int32]
    fresh: Mask
    points: MapPoints
    sums: NDArray[np.int64]
    corner: tuple[float, float]
    cell: float
    corners: Positions
    fresh_rows: Rows

    def about(self, view: View) -> int:
        """Gives how many points a view shows: a little too many, never too few."""
        last = len(self.sums) - 1
        left, top = (math.floor((at - start) / self.cell)
                     for at, start in zip((view.left, view.top), self.corner, strict=True))
        right, bottom = (math.ceil((at - start) / self.cell) for at, start in
                         zip(view.to_map(view.width, view.height), self.corner, strict=True))
        left, top, right, bottom = (min(last, max(0, at)) for at in (left, top, right, bottom))
        sums = self.sums
        return int(sums[bottom, right] - sums[top, right] - sums[bottom, left] + sums[top, left])


_GRID: Final = 128


def make_cloud(positions: Positions, counts: NDArray[np.int32], fresh: Mask) -> Cloud:
    """Makes points ready; a quarter of a second per million, so not in the GUI thread."""
    positions = np.ascontiguousarray(positions, np.float32)
    grid = np.zeros((_GRID + 1, _GRID + 1), np.int64)
    low, cell, corners = np.zeros(2), 1.0, positions[:0]
    if len(positions):
        corners = np.stack([positions.min(axis=0), positions.max(axis=0)])
        low = corners[0].astype(np.float64)
        cell = max(float((corners[1] - low).max()) / _GRID, 1e-9)
        spots = np.clip((positions - low) / cell, 0, _GRID - 1).astype(np.intp)
        seen = np.bincount(spots[:, 1] * _GRID + spots[:, 0], minlength=_GRID * _GRID)
        grid[1:, 1:] = seen.reshape(_GRID, _GRID).cumsum(axis=0).cumsum(axis=1)
    return Cloud(positions, counts, fresh, MapPoints(positions), grid, (float(low[0]), float(low[1])), cell, corners,
                 np.flatnonzero(fresh).astype(np.int32))


@dataclass(frozen=True, slots=True)
class Style:
    """How a frame is drawn. ``ratio``: device pixels per logical one. ``zoom``: 1 when the map fits."""

    palette: Pixels
    ratio: float
    zoom: float
    area: float  # logical pixels that the map fits into


class Painter:
    """Draws a cloud's points in the colours that :meth:`dress` was given last."""

    def __init__(self, cloud: Cloud) -> None:
        self.cloud = cloud
        self._discs = Discs()
        points = len(cloud.positions)
        self._codes: Codes = np.zeros(points, np.uint8)
        self._front: Mask | None = None
        self._front_rows: Rows = np.zeros(0, np.int32)
        self._paint = cloud.points.paint(self._codes)

    def dress(self, codes: Codes, front: Mask | None) -> None:
        """Takes each point's place in the palette (0: hidden) and which ones lie on top; 15 ms per million."""
        self._codes = codes
        self._front = None if front is None or not front.any() else front & (codes > 0)
        self._front_rows = np.zeros(0, np.int32)
        if self._front is not None:
            self._front_rows = np.flatnonzero(self._front).astype(np.int32)
        self._paint = self.cloud.points.paint(codes, front=self._front)

    def many(self, view: View, style: Style) -> bool:
        """Says whether a view shows too many points for discs."""
        width = dot_width(len(self.cloud.positions), style.area, style.zoom) * style.ratio
        return self.cloud.about(view) * Discs.cells(width) > _CELLS

    def draw(self, view: View, style: Style, out: Pixels) -> None:
        """Draws one frame over all of ``out``, uint32 [view.height, view.width]."""
        cloud = self.cloud
        width = dot_width(len(cloud.positions), style.area, style.zoom) * style.ratio
        if not self.many(view, style):
            rows = self._visible(view, width)
            rows = rows[self._codes[rows] > 0]
            self._draw_few(rows, view, style, out, width)
            front = rows[:0] if self._front is None else rows[self._front[rows]]
        else:
            cloud.points.draw(view, self._paint, style.palette, size=min(5, max(1, round(width))), out=out)
            # where there are very many, they stand out by their colours alone
            self._draw_fresh(view, style, out, width)
            few = len(self._front_rows) * Discs.cells(width + 3 * style.ratio) <= _CELLS / 2
            front = self._front_rows if few else self._front_rows[:0]
        if len(front):
            self._draw_front(front, view, style, out, width)

    def _draw_few(self, rows: Rows, view: View, style: Style, out: Pixels, width: float) -> None:
        out.fill(style.palette[GROUND])
        for class_, chosen in self._by_size(rows, style.zoom):
            hollow = self.cloud.fresh[chosen]
            full, size = chosen[~hollow], width * _GROWN[class_]
            if len(full):
                spots = view.to_pixels(self.cloud.positions[full])
                self._discs.draw(out, spots, self._codes[full], style.palette, size)
            if hollow.any():
                self._draw_rings(chosen[hollow], view, style, out, size)

    def _draw_fresh(self, view: View, style: Style, out: Pixels, width: float) -> None:
        rows = self.cloud.fresh_rows
        rows = rows[self._codes[rows] > 0] if len(rows) <= _STAMPED else rows[:0]
        if len(rows):
            self._draw_rings(rows, view, style, out, width)

    def _draw_rings(self, rows: Rows, view: View, style: Style, out: Pixels, width: float) -> None:
        across = max(width, 3.0 * style.ratio) + 1.6 * style.ratio
        spots = view.to_pixels(self.cloud.positions[rows])
        ground = np.zeros(len(rows), np.uint8)
        self._discs.draw(out, spots, ground, style.palette, across - 1)
        self._discs.draw(out, spots, self._codes[rows] | np.uint8(FRONT), style.palette, across,
                         hole=across - 2.6 * style.ratio)

    def _draw_front(self, rows: Rows, view: View, style: Style, out: Pixels, width: float) -> None:
        """Draws selected and found points on top, larger and with a ring of the ground around."""
        large = max(width * 1.35, 3.4 * style.ratio)
        ring = large + 2 * style.ratio
        spots = view.to_pixels(self.cloud.positions[rows])
        inside = ((spots > -ring) & (spots < (view.width + ring, view.height + ring))).all(axis=1)
        rows, spots = rows[inside], spots[inside]
        self._discs.draw(out, spots, np.zeros(len(rows), np.uint8), style.palette, ring)
        self._discs.draw(out, spots, self._codes[rows] | np.uint8(FRONT), style.palette, large)

    def _visible(self, view: View, width: float) -> Rows:
        positions = self.cloud.positions
        if len(positions) <= 30_000:
            return np.arange(len(positions), dtype=np.int32)  # the discs leave out what lies outside
        rim = width / view.scale
        right, bottom = view.to_map(view.width, view.height)
        return self.cloud.points.within(view.left - rim, view.top - rim, right + rim, bottom + rim)

    def _by_size(self, rows: Rows, zoom: float) -> list[tuple[int, Rows]]:
        if zoom < 1.5:
            return [(0, rows)]
        classes = _class_of(self.cloud.counts[rows])
        return [(class_, rows[classes == class_]) for class_ in range(len(_GROWN)) if (classes == class_).any()]

    def draw_at(self, spots: Positions, rows: Rows | None, style: Style, out: Pixels) -> None:
        """Draws points at other places, in pixels, for a frame of a glide; of very many only a part moves."""
        codes = self._codes if rows is None else self._codes[rows]
        width = dot_width(len(self.cloud.positions), style.area, style.zoom) * style.ratio
        out.fill(style.palette[GROUND])
        seen = np.flatnonzero(codes > 0)
        if len(seen) * Discs.cells(width) <= _CELLS:
            self._discs.draw(out, spots[seen], codes[seen], style.palette, width)
            return
        height, wide = out.shape
        at = spots.astype(np.int32)
        seen = np.flatnonzero((codes > 0) & (at >= 0).all(axis=1) & (at < (wide - 1, height - 1)).all(axis=1))
        places, colors = at[seen, 1] * wide + at[seen, 0], style.palette[codes[seen]]
        for step in (0, 1, wide, wide + 1)[: 4 if width >= 1.5 else 1]:
            out.reshape(-1)[places + step] = colors
