"""Labels on a map: which show, where, and their text with a halo, painted once and kept.

A label is never resized. Where two would overlap, the less important one hides, and so does one that lies beneath
something over the map. ``arrange_labels`` decides; this keeps what it needs between frames: sizes and sides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRect, QRectF, QSizeF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QImage, QPainter, QPainterPath, QPen

from sbert_desktop.app.atlas_views import MapLabel, View, arrange_labels
from sbert_desktop.ui.theme import Theme

HALO: Final = 4.0
"""Width of the line of the ground around letters, half of it outside of them."""
PARTS_FROM: Final = 1.5
"""Zoom from which labels of parts of themes show."""

_WIDEST = 320.0  # logical pixels; longer labels are shortened at the end
_MOST = 40
_CONSIDERED = 400  # labels of parts looked at: the weightiest


@dataclass(frozen=True, slots=True)
class Shown:
    """A label in place: its index, its rectangle in logical pixels."""

    index: int
    rect: QRectF


class LabelBook:
    """The labels of one map. ``scheme`` gives fonts and colours; call :meth:`forget` when they changed."""

    def __init__(self, scheme: Theme) -> None:
        self._scheme = scheme
        self._labels: tuple[MapLabel, ...] = ()
        self._anchors = np.zeros((0, 2), np.float32)
        self._tops = np.zeros((0, 2), np.float32)
        self._levels = np.zeros(0, np.intp)
        self._weights = np.zeros(0, np.float32)
        self._sides: dict[int, int] = {}
        self._sizes: NDArray[np.float32] | None = None
        self._pictures: dict[tuple[int, bool, float], QImage] = {}

    @property
    def labels(self) -> tuple[MapLabel, ...]:
        """Those that may show."""
        return self._labels

    def set_labels(self, labels: Sequence[MapLabel]) -> None:
        """Takes other labels; labels without a text or a place are left out."""
        kept = [label for label in labels if label.text.strip() and np.isfinite((label.x, label.y)).all()]
        parts = sorted((label for label in kept if label.level > 0), key=lambda label: -label.weight)[:_CONSIDERED]
        self._labels = (*(label for label in kept if label.level <= 0), *parts)
        self._anchors = np.array([(label.x, label.y) for label in self._labels], np.float32).reshape(-1, 2)
        self._tops = self._anchors
        self._levels = np.array([label.level for label in self._labels], np.intp)
        weights = np.array([label.weight for label in self._labels], np.float32)
        self._weights = weights / max(float(weights.max(initial=0)), 1e-9) + np.where(self._levels <= 0, 2.0, 0.0)
        self._sides.clear()
        self.forget()

    def set_tops(self, tops: dict[int, tuple[float, float]]) -> None:
        """Says where the upper end of themes lies, by id: their label stands there, above them, while it shows."""
        self._tops = self._anchors.copy()
        for at, label in enumerate(self._labels):
            if label.level <= 0 and label.theme in tops:
                self._tops[at] = tops[label.theme]

    def forget(self) -> None:
        """Drops sizes and pictures: fonts or colours are others now."""
        self._sizes = None
        self._pictures.clear()

    def arrange(self, view: View, ratio: float, zoom: float, obstacles: Sequence[QRect] = (),
                marked: frozenset[int] = frozenset(), hidden: frozenset[int] = frozenset()) -> list[Shown]:
        """Chooses the labels of a view.

        Args:
            view: In device pixels.
            ratio: Device pixels per logical one.
            zoom: 1 when the map fits.
            obstacles: Rectangles in logical pixels that labels keep away from.
            marked: Indexes that come first and show at any zoom.
            hidden: Ids of themes whose labels do not show.
        """
        if not self._labels:
            return []
        if self._sizes is None:
            self._sizes = self._measure()
        wanted = [at for at, label in enumerate(self._labels) if label.theme not in hidden
                  and (label.level <= 0 or zoom >= PARTS_FROM or at in marked)]
        if not wanted:
            return []
        width, height = view.width / ratio, view.height / ratio
        chosen = np.array(wanted)
        middles = view.to_pixels(self._anchors[chosen]) / np.float32(ratio)
        tops = view.to_pixels(self._tops[chosen]) / np.float32(ratio)
        sizes = self._sizes[chosen]
        above = tops - np.stack([np.zeros(len(chosen)), sizes[:, 1] * 0.5 + 2], axis=1)
        # the upper end may lie outside while much of the theme shows: the label stands in its middle then
        fits = (above > sizes / 2).all(axis=1) & (above < (width, height) - sizes / 2).all(axis=1)
        anchors = np.where(fits[:, None], above, middles).astype(np.float32)
        weights = self._weights[chosen] + np.array([3.0 if at in marked else 0.0 for at in wanted], np.float32)
        blocks = [block for block in (rect.intersected(QRect(0, 0, int(width), int(height))) for rect in obstacles)
                  if not block.isEmpty()]
        first = len(blocks)
        if blocks:  # they take their place before any label does
            middle = [(block.x() + block.width() / 2, block.y() + block.height() / 2) for block in blocks]
            anchors = np.vstack([np.array(middle, np.float32), anchors])
            sizes = np.vstack([np.array([(block.width(), block.height()) for block in blocks], np.float32), sizes])
            weights = np.concatenate([np.full(first, 100, np.float32), weights])
        before = {at + first: self._sides[index] for at, index in enumerate(wanted) if index in self._sides}
        placed = arrange_labels(anchors, sizes, weights.astype(np.float32), int(width), int(height),
                                most=_MOST + first, before=before)
        shown = []
        for label in placed:
            if label.index < first:
                continue
            index = wanted[label.index - first]
            rect = QRectF(QPointF(label.left, label.top), QSizeF(*(float(side) for side in sizes[label.index])))
            if not any(QRectF(block).intersects(rect) for block in blocks):  # two of them may overlap each other
                self._sides[index] = label.side
                shown.append(Shown(index, rect))
        return shown

    def paint(self, painter: QPainter, shown: Sequence[Shown], ratio: float,
              marked: frozenset[int] = frozenset(), *, fresh: int = _MOST) -> bool:
        """Paints labels, the less important ones first; says whether all of them.

        A label's first picture costs a millisecond: of those that have none yet, only ``fresh`` get one, the most
        important ones.
        """
        lacking = [label.index for label in shown if (label.index, label.index in marked, ratio) not in self._pictures]
        later = frozenset(lacking[fresh:])
        for label in reversed(shown):
            if label.index in later:
                continue
            picture = self._picture(label.index, label.index in marked, ratio)
            # on whole device pixels: the letters keep their shape
            spot = QPointF(round((label.rect.x() - HALO) * ratio) / ratio,
                           round((label.rect.y() - HALO) * ratio) / ratio)
            painter.drawImage(spot, picture)
        return not later

    def inside(self, corners: NDArray[np.float32]) -> frozenset[int]:
        """Gives the labels whose middle lies inside a closed line, float32 [corners, 2] in the map's units."""
        path = QPainterPath()
        for at, (x, y) in enumerate(corners.tolist()):
            (path.lineTo if at else path.moveTo)(x, y)
        return frozenset(at for at, label in enumerate(self._labels) if path.contains(QPointF(label.x, label.y)))

    def _font(self, level: int) -> QFont:
        return self._scheme.font("strong" if level <= 0 else "meta_medium")

    def _measure(self) -> NDArray[np.float32]:
        metrics = [QFontMetricsF(self._font(0)), QFontMetricsF(self._font(1))]
        sizes = []
        for label in self._labels:
            metric = metrics[min(max(label.level, 0), 1)]
            sizes.append((min(metric.horizontalAdvance(label.text) + 1, _WIDEST), metric.height()))
        return np.array(sizes, np.float32)

    def _picture(self, index: int, marked: bool, ratio: float) -> QImage:
        key = (index, marked, ratio)
        found = self._pictures.get(key)
        if found is None:
            label = self._labels[index]
            color = self._scheme.color("accent" if marked else "text" if label.level <= 0 else "muted")
            if len(self._pictures) > 600:
                self._pictures.clear()
            found = self._pictures[key] = halo_text(label.text, self._font(label.level), color,
                                                    self._scheme.color("surface"), ratio)
        return found


def halo_text(text: str, font: QFont, color: QColor, ground: QColor, ratio: float, widest: float = _WIDEST) -> QImage:
    """Gives a text in letters with a halo, :data:`HALO` logical pixels of room around it."""
    metrics = QFontMetricsF(font)
    text = metrics.elidedText(text, Qt.TextElideMode.ElideRight, widest)
    width, height = metrics.horizontalAdvance(text) + 1 + 2 * HALO, metrics.height() + 2 * HALO
    image = QImage(round(width * ratio), round(height * ratio), QImage.Format.Format_ARGB32_Premultiplied)
    image.setDevicePixelRatio(ratio)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setRenderHint(QPainter.RenderHint.TextAntialiasing)
    base = QPointF(HALO, HALO + metrics.ascent())
    path = QPainterPath()
    path.addText(base, font, text)
    pen = QPen(ground, HALO, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap, Qt.PenJoinStyle.RoundJoin)
    painter.strokePath(path, pen)
    painter.setFont(font)
    painter.setPen(color)
    painter.drawText(base, text)
    painter.end()
    return image
