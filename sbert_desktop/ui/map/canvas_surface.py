"""The canvas's lower half: which part of the map shows, how it moves, and the painting of it.

:class:`Surface` draws what :class:`~sbert_desktop.ui.map.canvas.MapCanvas` sets. One frame of points is kept and only
drawn anew when points, colours or the part shown changed; labels, contours, the lasso and rings are painted over it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEasingCurve, QLineF, QMargins, QPoint, QPointF, QRect, Qt, QTimer, QVariantAnimation, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QPen, QPolygonF, QResizeEvent
from PySide6.QtWidgets import QWidget

from sbert_desktop.app.atlas_views import ColourBy, MapView, View
from sbert_desktop.domain import Mask
from sbert_desktop.ui.map.canvas_lens import Lens, fitting_lens
from sbert_desktop.ui.map.canvas_marks import Marks, Rows, dressed, shown_points
from sbert_desktop.ui.map.drawing import Codes, Dim, Frame, Painter, Style, codes_of, dot_width, palette_of
from sbert_desktop.ui.map.labels import LabelBook, Shown
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.widgets import paint_focus

_GLIDING: Final = 150_000  # points that move in a glide, at most; of more only every so many-th is seen moving
_SHARP: Final = 2_500_000  # pixels of a frame above which a moving map of many points is drawn at half size
_RINGS: Final = 500
_FRESH_LABELS: Final = 16  # painted for the first time in one frame, at most
_NEAR: Final = 8  # logical pixels around the pointer


def _motion(of: QWidget) -> QVariantAnimation:
    motion = QVariantAnimation(of)
    motion.setStartValue(0.0)
    motion.setEndValue(1.0)
    return motion


class Surface(QWidget):
    """A part of a map, painted."""

    viewChanged = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        # what is drawn
        self._map: MapView | None = None
        self._painter: Painter | None = None
        self._marks = Marks()
        self._hidden: frozenset[int] = frozenset()
        self._dates: tuple[float | None, float | None] = (None, None)
        self._faded = False
        self._obstacles: tuple[QRect, ...] = ()
        self._line: NDArray[np.float32] | None = None  # being drawn, in the map's units
        self._outline: NDArray[np.float32] | None = None  # around the selection
        self._contours: list[tuple[float, list[QLineF]]] = []
        # what follows from that; None: to be found anew
        self._codes: Codes | None = None
        self._shown: Mask | None = None
        self._dressed = False
        self._palette = palette_of(None, theme, Dim())
        self._book = LabelBook(theme)
        self._labels: list[Shown] | None = None
        self._marked: frozenset[int] = frozenset()
        # which part shows
        self._lens = Lens()
        self._fitting = Lens()
        self._margins: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)
        self._at_fit = True
        self._frame: Frame | None = None
        self._stale = True
        self._by_keys = False  # the keyboard brought the focus here
        # movement
        self._lens_way: tuple[Lens, Lens] | None = None
        self._lens_motion = _motion(self)
        self._lens_motion.setEasingCurve(QEasingCurve.Type.OutCubic)
        self._lens_motion.valueChanged.connect(self._on_lens_motion)
        self._glide: tuple[NDArray[np.float32], NDArray[np.float32], Rows | None] | None = None
        self._glide_motion = _motion(self)
        self._glide_motion.setEasingCurve(QEasingCurve.Type.InOutCubic)
        self._glide_motion.valueChanged.connect(self._redraw)
        self._glide_motion.finished.connect(self._end_glide)
        self._still = QTimer(self)
        self._still.setSingleShot(True)
        self._still.setInterval(120)
        self._still.timeout.connect(self._on_still)
        theme.themeChanged.connect(self._on_theme)

    # ---- which part of it

    def fit(self, margins: QMargins | None = None, *, animate: bool = True) -> None:
        """Shows the whole map beside margins that something covers; they are kept for later fits, None: as before."""
        if margins is not None:
            self._margins = (float(margins.left()), float(margins.top()), float(margins.right()),
                             float(margins.bottom()))
        self._fitting = self._fit_lens()
        self._at_fit = True
        self._go(self._fitting, animate=animate)

    def _fit_lens(self) -> Lens:
        corners = self._painter.cloud.corners if self._painter is not None else np.zeros((0, 2), np.float32)
        return fitting_lens(corners, self.width(), self.height(), self._margins)

    def _refit(self, *, keep: bool) -> None:
        self._fitting = self._fit_lens()
        if not keep:
            self._lens, self._at_fit = self._fitting, True
        self._labels = None

    def zoom_in(self) -> None:
        """Zooms in by a half around the middle of the free part."""
        self.zoom_by(1.5)

    def zoom_out(self) -> None:
        """Zooms out likewise."""
        self.zoom_by(1 / 1.5)

    def zoom_by(self, factor: float, at: QPointF | None = None) -> None:
        """Zooms around a spot at once, or around the middle of the free part with a short movement."""
        goal = self._lens_way[1] if self._lens_way is not None else self._lens
        if at is not None:
            right, down = at.x() - self.width() / 2, at.y() - self.height() / 2
        else:
            left, top, margin_right, bottom = self._margins
            right, down = (left - margin_right) / 2, (top - bottom) / 2
        self._at_fit = False
        self._go(goal.zoomed(factor, right, down, self._fitting.scale), animate=at is None)

    def pan_by(self, right: float, down: float) -> None:
        """Moves the map along with a pointer that went so many pixels."""
        self._at_fit = False
        self._go(self._lens.moved(right, down), animate=False)

    def reveal(self, points: Sequence[int] | Rows) -> None:
        """Moves the map, without zooming where that does, so that these points show."""
        if self._painter is None or not len(points):
            return
        spots = self._painter.cloud.positions[np.asarray(points, np.int32)]
        low, high = spots.min(axis=0), spots.max(axis=0)
        left, top, right, bottom = self._margins
        room = np.array([self.width() - left - right - 80, self.height() - top - bottom - 80])
        if ((high - low) * self._lens.scale > np.maximum(room, 40)).any():
            goal = fitting_lens(spots, self.width(), self.height(), self._margins)
        else:
            scale = self._lens.scale
            corner = np.array([self._lens.x - (self.width() / 2 - left - 40) / scale,
                               self._lens.y - (self.height() / 2 - top - 40) / scale])
            shift = np.minimum(low - corner, 0) + np.maximum(high - corner - room / scale, 0)
            if not shift.any():
                return
            goal = Lens(self._lens.x + float(shift[0]), self._lens.y + float(shift[1]), scale)
        self._at_fit = False
        self._go(goal, animate=True)

    def _go(self, lens: Lens, *, animate: bool) -> None:
        self._lens_motion.stop()
        self._end_glide()
        milliseconds = theme.duration(160) if animate and self.isVisible() else 0
        if milliseconds and lens != self._lens:
            self._lens_way = (self._lens, lens)
            self._lens_motion.setDuration(milliseconds)
            self._lens_motion.start()
            return
        self._lens_way = None
        self._set_lens(lens)

    def _on_lens_motion(self, share: float) -> None:
        if self._lens_way is not None:
            first, last = self._lens_way
            if share >= 1:
                self._lens_way = None
            self._set_lens(last if share >= 1 else first.towards(last, share))

    def _set_lens(self, lens: Lens) -> None:
        self._lens = lens
        self._labels = None
        self._still.start()
        self._redraw()
        self.viewChanged.emit()

    @property
    def map_view(self) -> View:
        """The part that shows, in device pixels (see devicePixelRatio)."""
        return self._lens.view(self.width(), self.height(), self.devicePixelRatioF())

    @property
    def zoom(self) -> float:
        """How large the map is drawn; 1 when it fits."""
        return self._lens.scale / self._fitting.scale

    def point_at(self, at: QPoint) -> int:
        """Gives the shown point nearest to a spot in this widget's pixels, within 8 of them; -1: none."""
        if self._painter is None:
            return -1
        cloud, scale = self._painter.cloud, self._lens.scale
        x = self._lens.x + (at.x() - self.width() / 2) / scale
        y = self._lens.y + (at.y() - self.height() / 2) / scale
        near = max(_NEAR, self._dot() / 2 + 3) / scale
        rows = cloud.points.within(x - near, y - near, x + near, y + near)
        rows = rows[self.shown[rows]]
        if not len(rows):
            return -1
        away = np.hypot(cloud.positions[rows, 0] - x, cloud.positions[rows, 1] - y)
        best = int(away.argmin())
        return int(rows[best]) if away[best] <= near else -1

    def position_of(self, point: int) -> QPoint:
        """Gives where a point is in this widget's pixels, for a card beside it; may lie outside."""
        if self._painter is None or not 0 <= point < len(self._painter.cloud.positions):
            return QPoint()
        x, y = self._painter.cloud.positions[point].tolist()
        return QPoint(round((x - self._lens.x) * self._lens.scale + self.width() / 2),
                      round((y - self._lens.y) * self._lens.scale + self.height() / 2))

    def to_map(self, at: QPointF) -> tuple[float, float]:
        """Gives the map's coordinates of a spot in this widget's pixels."""
        return (self._lens.x + (at.x() - self.width() / 2) / self._lens.scale,
                self._lens.y + (at.y() - self.height() / 2) / self._lens.scale)

    @property
    def shown(self) -> Mask:
        """Bool [points]: neither their group nor their date is hidden."""
        if self._shown is None:
            points = len(self._map) if self._map is not None else 0
            self._shown = shown_points(self._marks.colours, points, self._hidden, *self._dates)
        return self._shown

    # ---- movement of points

    def _begin_glide(self, start: NDArray[np.float32], before: View) -> None:
        """Lets points go to their places from where they were. ``before``: the part that showed them there."""
        assert self._painter is not None
        goal = self._painter.cloud.positions
        step = max(1, -(-len(goal) // _GLIDING))
        rows = None if step == 1 else np.arange(0, len(goal), step, dtype=np.int32)
        if rows is not None:
            start, goal = start[rows], goal[rows]
        now = self.map_view
        last = now.to_pixels(goal)
        first = before.to_pixels(start)
        first = np.where(np.isfinite(first), first, last)
        away = float(np.median(np.hypot(*(last - first).T))) / self.devicePixelRatioF()
        if away < 0.5 or not self.isVisible():
            return
        self._glide = (first, last, rows)
        self._glide_motion.setDuration(theme.duration(round(min(600, 160 + 2 * away))))
        self._glide_motion.start()

    def _end_glide(self) -> None:
        if self._glide is not None:
            self._glide = None
            self._glide_motion.stop()
            self._redraw()

    def finish_motion(self) -> None:
        """Shows at once where a movement of the map or of its points leads to."""
        if self._lens_way is not None:
            self._lens_motion.stop()
            goal, self._lens_way = self._lens_way[1], None
            self._set_lens(goal)
        self._end_glide()

    # ---- painting

    def _redraw(self) -> None:
        self._stale = True
        self.update()

    def _on_still(self) -> None:
        if self._frame is not None and self._frame.image.width() < self.map_view.width:
            self._stale = True
        self.update()

    def _on_theme(self) -> None:
        self._book.forget()
        self._labels = None
        self._dressed = False
        self._redraw()

    def _dress(self) -> None:
        """Gives each point its colour: 20 ms per million, and only after something was set."""
        assert self._painter is not None
        marks, points = self._marks, len(self._painter.cloud.positions)
        if self._codes is None:
            self._codes = codes_of(marks.colours, points)
        codes, front = dressed(self._codes, self.shown, marks.lit, marks.selection)
        self._painter.dress(codes, front)
        dim = Dim(selected=len(marks.selection) > 0, lit=marks.lit is not None, faded=self._faded)
        self._palette = palette_of(marks.colours, theme, dim)
        self._dressed = True

    def _style(self, ratio: float) -> Style:
        return Style(self._palette, ratio, self.zoom, float(self.width() * self.height()))

    def _dot(self) -> float:
        points = len(self._map) if self._map is not None else 0
        return dot_width(points, float(self.width() * self.height()), self.zoom)

    def _draw_frame(self) -> Frame | None:
        """Draws the points where they are not drawn yet."""
        if self._painter is None:
            return None
        if not self._dressed:
            self._dress()
        view, ratio = self.map_view, self.devicePixelRatioF()
        many = self._painter.many(view, self._style(ratio))
        if many and view.width * view.height > _SHARP and self._still.isActive():
            ratio /= 2  # while it moves; it is sharp once it stands still
            view = View(view.left, view.top, view.scale / 2, max(1, view.width // 2), max(1, view.height // 2))
        if self._frame is None or self._frame.size != (view.width, view.height):
            self._frame = Frame(view.width, view.height)
        if self._glide is not None:
            first, last, rows = self._glide
            share = np.float32(self._glide_motion.currentValue() or 0.0)
            spots = first + (last - first) * share
            scale = np.float32(view.width / self.map_view.width)
            self._painter.draw_at(spots * scale, rows, self._style(ratio), self._frame.pixels)
        else:
            self._painter.draw(view, self._style(ratio), self._frame.pixels)
        self._frame.image.setDevicePixelRatio(ratio)
        self._stale = False
        return self._frame

    def paintEvent(self, event: QPaintEvent) -> None:
        frame = self._frame if not self._stale and self._painter is not None else self._draw_frame()
        painter = QPainter(self)
        try:  # a painter that outlives its event ends the process
            if frame is None:
                painter.fillRect(self.rect(), theme.color("surface"))
            else:
                painter.drawImage(QPointF(0, 0), frame.image)
                if self._glide is None:
                    self._paint_over(painter)
            if self._by_keys and self.hasFocus():
                paint_focus(painter, self.rect(), 2)
        finally:
            painter.end()

    def _paint_over(self, painter: QPainter) -> None:
        ratio, view = self.devicePixelRatioF(), self.map_view
        if self._contours:
            self._paint_contours(painter)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for line in (self._outline, self._line):
            if line is not None and len(line) > 1:
                self._paint_line(painter, line)
        self._paint_rings(painter)
        if self._labels is None:
            self._labels = self._book.arrange(view, ratio, self.zoom, self._obstacles, self._marked,
                                              self._hidden_themes())
        if not self._book.paint(painter, self._labels, ratio, self._marked, fresh=_FRESH_LABELS):
            self.update()  # the others with the next frame

    def _hidden_themes(self) -> frozenset[int]:
        colours = self._marks.colours
        if colours is None or colours.by is not ColourBy.THEME:
            return frozenset()
        return frozenset(colours.groups[at].theme for at in self._hidden if 0 <= at < len(colours.groups))

    def _paint_contours(self, painter: QPainter) -> None:
        painter.save()
        painter.translate(self.width() / 2, self.height() / 2)
        painter.scale(self._lens.scale, self._lens.scale)
        painter.translate(-self._lens.x, -self._lens.y)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, not self._still.isActive())
        for share, lines in self._contours:
            pen = QPen(theme.faded("text", 0.55 - 0.35 * share), 1.0)
            pen.setCosmetic(True)
            painter.setPen(pen)
            painter.drawLines(lines)
        painter.restore()

    def _paint_line(self, painter: QPainter, line: NDArray[np.float32]) -> None:
        pen = QPen(theme.color("accent"), 1.5)
        pen.setDashPattern([5 / 1.5, 4 / 1.5])
        painter.setPen(pen)
        painter.setBrush(theme.color("accent_tint"))
        x = (line[:, 0] - self._lens.x) * self._lens.scale + self.width() / 2
        y = (line[:, 1] - self._lens.y) * self._lens.scale + self.height() / 2
        painter.drawPolygon(QPolygonF([QPointF(*spot) for spot in zip(x.tolist(), y.tolist(), strict=True)]))

    def _paint_rings(self, painter: QPainter) -> None:
        painter.setBrush(Qt.BrushStyle.NoBrush)
        radius = max(self._dot() * 1.35, 3.4) / 2 + 3
        for points, token, more in ((self._marks.chosen[:_RINGS].tolist(), "accent", 0.0),
                                    ([self._marks.focus] if self._marks.focus >= 0 else [], "text", 2.5)):
            for point in points:
                if not self.shown[point]:
                    continue
                spot = QPointF(self.position_of(point))
                for color, width in (("surface", 4.0), (token, 2.0)):
                    painter.setPen(QPen(theme.color(color), width))
                    painter.drawEllipse(spot, radius + more, radius + more)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._end_glide()
        self._refit(keep=not self._at_fit)
        self._redraw()
        self.viewChanged.emit()
