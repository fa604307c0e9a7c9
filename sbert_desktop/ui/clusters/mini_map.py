"""The small map beside a cluster: its documents in their colour among all others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from PySide6.QtCore import QEvent, QRect, QSize, Qt, Signal
from PySide6.QtGui import QColor, QImage, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from sbert_desktop.app.atlas_views import FRONT, MapPoints, MapUnit, MapView, View
from sbert_desktop.ui.errands import Errands
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.widgets import KeyboardFocus, name, paint_box, paint_focus

WIDTH: Final = 258
HEIGHT: Final = 196
MARGIN: Final = 14
OTHERS: Final = 0.45  # of group_none: the documents of other clusters


@dataclass(frozen=True, slots=True)
class _Wish:
    view: MapView
    contents: tuple[int, ...]
    width: int
    height: int
    ground: int
    quiet: int
    bright: int
    dot: int
    ratio: float


def _pixel(color: QColor) -> int:
    return color.rgba() & 0xFFFFFFFF


def _mixed(front: QColor, ground: QColor, share: float) -> QColor:
    parts = zip((front.red(), front.green(), front.blue()), (ground.red(), ground.green(), ground.blue()), strict=True)
    return QColor(*(round(one * share + other * (1 - share)) for one, other in parts))


def _dot(points: int, ratio: float) -> int:
    """Gives the pixels across a dot: few points are drawn large, so that they are seen at all."""
    size = 4 if points < 500 else 2 if points < 50_000 else 1
    return min(5, round(size * ratio))


class _Drawer:
    """Draws in a thread; the points of one map are made ready once."""

    def __init__(self) -> None:
        self._of: MapView | None = None
        self._points: MapPoints | None = None

    def draw(self, wish: _Wish) -> tuple[QImage, int]:
        """Gives the picture, and how many points are of the cluster."""
        view = wish.view
        if self._of is not view or self._points is None:
            self._of, self._points = view, MapPoints(view.positions)
        wanted = np.fromiter(wish.contents, np.int64, len(wish.contents))
        own = np.zeros(len(view), bool)
        hit = np.flatnonzero(np.isin(view.contents, wanted))
        own[np.searchsorted(view.starts, hit, side="right") - 1] = True
        groups = np.ones(len(view), np.uint8)
        palette = np.full(256, wish.ground, np.uint32)
        palette[1] = wish.quiet
        palette[1 + FRONT] = wish.bright
        pixels = self._points.draw(_whole(view, wish.width, wish.height, round(MARGIN * wish.ratio)),
                                   self._points.paint(groups, front=own), palette, size=wish.dot)
        picture = QImage(pixels.data, wish.width, wish.height, wish.width * 4, QImage.Format.Format_RGB32).copy()
        picture.setDevicePixelRatio(wish.ratio)
        return picture, int(own.sum())


def _whole(view: MapView, width: int, height: int, margin: int) -> View:
    low, high = view.positions.min(axis=0).astype(float), view.positions.max(axis=0).astype(float)
    room = np.maximum(np.array([width, height]) - 2.0 * margin, 1.0)
    scale = float(np.min(room / np.maximum(high - low, 1e-3)))
    left, top = (low + high) / 2 - np.array([width, height]) / (2 * scale)
    return View(float(left), float(top), scale, width, height)


class MiniMap(KeyboardFocus, QWidget):
    """The picture; without a map a sentence. Click or Enter goes to the map: ``openWanted``."""

    openWanted = Signal()

    def __init__(self, errands: Errands, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        name(self, "clusters_mini_map", "On the map", "Enter opens the map")
        self._errands = errands
        self._drawer = _Drawer()
        self._view: MapView | None = None
        self._contents: tuple[int, ...] = ()
        self._colour, self._said = -1, ""
        self._picture: QImage | None = None
        self._drawing = False
        self._wish: _Wish | None = None
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.themeChanged.connect(self._draw)

    def has_map(self) -> bool:
        """True when there is a map to draw on."""
        return self._view is not None and len(self._view) > 0

    def set_map(self, view: MapView | None) -> None:
        """Takes another map; only one of documents is of use."""
        if view is not None and view.request.unit is not MapUnit.DOCUMENTS:
            return
        self._view = view
        self._picture = None
        self._draw()

    def show_documents(self, contents: Sequence[int], colour: int, said: str) -> None:
        """Shows where documents lie."""
        self._contents, self._colour, self._said = tuple(contents), colour, said
        self._draw()

    def clear(self) -> None:
        """Shows none until the documents are known."""
        self._contents = ()
        self._wish = None
        self._picture = None
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(WIDTH, HEIGHT)

    def minimumSizeHint(self) -> QSize:
        return QSize(120, HEIGHT)

    def _draw(self) -> None:
        if self._view is None or not len(self._view) or not self._contents or not self.isVisible():
            self.update()
            return
        ratio = self.devicePixelRatioF()
        ground = theme.color("raised")
        self._wish = _Wish(self._view, self._contents, max(8, round((self.width() - 2) * ratio)),
                           max(8, round((self.height() - 2) * ratio)), _pixel(ground),
                           _pixel(_mixed(theme.color("group_none"), ground, OTHERS)),
                           _pixel(theme.group_color(self._colour)), _dot(len(self._view), ratio), ratio)
        self._next()

    def _next(self) -> None:
        if self._drawing or self._wish is None:
            return
        wish, self._wish = self._wish, None
        self._drawing = True
        self._errands.run(lambda: self._drawer.draw(wish), self._on_drawn, self._on_failed)

    def _on_drawn(self, answer: tuple[QImage, int]) -> None:
        self._drawing = False
        self._picture, points = answer
        self.setAccessibleDescription(f"{self._said}: {points:,} points on the map. Enter opens the map")
        self.update()
        self._next()

    def _on_failed(self, error: Exception) -> None:
        self._drawing = False
        self._picture = None
        self.update()

    def resizeEvent(self, event: QEvent) -> None:
        super().resizeEvent(event)  # type: ignore[arg-type]
        self._draw()

    def showEvent(self, event: QEvent) -> None:
        super().showEvent(event)  # type: ignore[arg-type]
        self._draw()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and self.rect().contains(event.position().toPoint()):
            self.openWanted.emit()

    def keyPressEvent(self, event: QEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):  # type: ignore[attr-defined]
            self.openWanted.emit()
        else:
            super().keyPressEvent(event)  # type: ignore[arg-type]

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        paint_box(painter, self.rect(), "raised", "border")
        if self._picture is not None:
            painter.drawImage(QRect(1, 1, self.width() - 2, self.height() - 2), self._picture)
            paint_box(painter, self.rect(), None, "border")
        if self.shows_focus():
            paint_focus(painter, self.rect())
