"""How documents would move on the map: an arrow for each, painted; the same as a table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QEvent, QLineF, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from sbert_desktop.app.training_views import Arrow
from sbert_desktop.ui import words
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.widgets import KeyboardFocus, announce, name, paint_box, paint_focus, plain_tip

MARGIN: Final = 16
STILL: Final = 0.01
"""Way over the map (its side is 1) under which a document counts as staying where it is."""
HEAD: Final = 5.0
REACH: Final = 12.0
"""Pixels within which the pointer means an arrow."""


def way(arrow: Arrow) -> float:
    """Gives how far a document moves: 1 is the map's side."""
    return math.hypot(arrow.new_x - arrow.x, arrow.new_y - arrow.y)


def way_words(arrow: Arrow) -> str:
    """Gives how far a document moves, in words: ``moves by 6 % of the map``."""
    length = way(arrow)
    return "stays where it is" if length < STILL else f"moves by {100 * length:.0f} % of the map"


def arrows_words(arrows: Sequence[Arrow]) -> str:
    """Gives the whole picture in one sentence."""
    if not arrows:
        return "There is no map to compare yet."
    moved = [arrow for arrow in arrows if way(arrow) >= STILL]
    far = [arrow for arrow in moved if way(arrow) >= 0.1]
    text = f"{words.counted(len(arrows), 'document')}: {words.count(len(moved))} would move"
    return f"{text}, {words.count(len(far))} of them by a tenth of the map or more." if far else f"{text}, none far."


class ArrowMap(KeyboardFocus, QWidget):
    """The picture. The arrow keys go from the longest way to the next; ``lookedAt(number)``, -1: at none."""

    lookedAt = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        name(self, "train_changes_map", "Map of what would move", "The arrow keys go from document to document, the "
             "one that moves farthest first")
        self._arrows: tuple[Arrow, ...] = ()
        self._at = -1
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        theme.themeChanged.connect(self.update)

    def show_arrows(self, arrows: Sequence[Arrow]) -> None:
        """Shows arrows; the farthest first."""
        self._arrows = tuple(sorted(arrows, key=way, reverse=True))
        self._at = -1
        self.setAccessibleName(f"Map of what would move. {arrows_words(arrows)}")
        self.update()

    def arrows(self) -> tuple[Arrow, ...]:
        """Gives what is shown, the farthest first."""
        return self._arrows

    def looked_at(self) -> Arrow | None:
        """Gives the document that is looked at."""
        return self._arrows[self._at] if 0 <= self._at < len(self._arrows) else None

    def look_at(self, at: int) -> None:
        """Looks at a document by its number, -1: at none."""
        at = at if -1 <= at < len(self._arrows) else -1
        if at != self._at:
            self._at = at
            self.update()
            self.lookedAt.emit(at)

    def sizeHint(self) -> QSize:
        return QSize(520, 420)

    def minimumSizeHint(self) -> QSize:
        return QSize(240, 220)

    # ---- painting

    def _square(self) -> QRectF:
        side = max(10, min(self.width(), self.height()) - 2 * MARGIN)
        wide = max(10, min(self.width() - 2 * MARGIN, side * 1.6))  # a little wider than high, as the room is
        return QRectF((self.width() - wide) / 2, (self.height() - side) / 2, wide, side)

    def _ends(self, arrow: Arrow) -> tuple[QPointF, QPointF]:
        box = self._square()
        return (QPointF(box.x() + arrow.x * box.width(), box.bottom() - arrow.y * box.height()),
                QPointF(box.x() + arrow.new_x * box.width(), box.bottom() - arrow.new_y * box.height()))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        paint_box(painter, self.rect(), "rail", "border")
        if not self._arrows:
            painter.setFont(theme.font("body"))
            painter.setPen(theme.color("muted"))
            painter.drawText(self.rect().adjusted(16, 16, -16, -16),
                             Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap, arrows_words(()))
        quiet = theme.faded("muted", 0.75 if self._at < 0 else 0.5)
        bright = theme.faded("accent", 0.9 if self._at < 0 else 0.5)
        for arrow in reversed(self._arrows):
            self._paint_arrow(painter, arrow, quiet, bright, 1.25)
        looked = self.looked_at()
        if looked is not None:
            self._paint_arrow(painter, looked, theme.color("text"), theme.color("accent"), 2.5)
            self._paint_title(painter, looked)
        if self.shows_focus():
            paint_focus(painter, self.rect())

    def _paint_arrow(self, painter: QPainter, arrow: Arrow, quiet: QColor, bright: QColor, width: float) -> None:
        start, end = self._ends(arrow)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(quiet)
        painter.drawEllipse(start, 1.7 + width / 2, 1.7 + width / 2)
        line = QLineF(start, end)
        if way(arrow) < STILL or line.length() < HEAD:
            return
        pen = QPen(bright, width)
        pen.setCapStyle(Qt.PenCapStyle.RoundCap)
        painter.setPen(pen)
        angle = math.atan2(end.y() - start.y(), end.x() - start.x())
        head = HEAD + width
        painter.drawLine(QLineF(start, end - QPointF(math.cos(angle), math.sin(angle)) * head * 0.7))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(bright)
        sides = [end - QPointF(math.cos(angle + turn), math.sin(angle + turn)) * head for turn in (-0.45, 0.45)]
        painter.drawPolygon(QPolygonF([end, *sides]))

    def _paint_title(self, painter: QPainter, arrow: Arrow) -> None:
        end = self._ends(arrow)[1]
        metrics = theme.metrics("medium")
        text = metrics.elidedText(arrow.title, Qt.TextElideMode.ElideMiddle, self.width() - 48)
        wide, tall = metrics.horizontalAdvance(text) + 16, theme.line("medium", 20) + 8
        x = min(max(4.0, end.x() + 10), self.width() - wide - 4)
        y = end.y() - tall - 8 if end.y() - tall - 8 > 4 else end.y() + 10
        box = QRect(round(x), round(y), wide, tall)
        paint_box(painter, box, "raised", "border")
        painter.setFont(theme.font("medium"))
        painter.setPen(theme.color("text"))
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)

    # ---- looking

    def nearest(self, spot: QPointF) -> int:
        """Gives the document whose arrow or place is nearest to a spot, -1 where none is near."""
        best, found = REACH, -1
        for at, arrow in enumerate(self._arrows):
            start, end = self._ends(arrow)
            far = _distance(spot, start, end)
            if far < best:
                best, found = far, at
        return found

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self.look_at(self.nearest(event.position()))
        arrow = self.looked_at()
        if arrow is not None:
            QToolTip.showText(event.globalPosition().toPoint(), plain_tip(f"{arrow.title}: {way_words(arrow)}"), self)
        else:
            QToolTip.hideText()

    def leaveEvent(self, event: QEvent) -> None:
        if not self.hasFocus():
            self.look_at(-1)
        super().leaveEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = event.key()
        if key in (Qt.Key.Key_Right, Qt.Key.Key_Down):
            self.look_at(min(self._at + 1, len(self._arrows) - 1))
        elif key in (Qt.Key.Key_Left, Qt.Key.Key_Up):
            self.look_at(max(self._at - 1, 0) if self._arrows else -1)
        elif key == Qt.Key.Key_Home:
            self.look_at(0)
        elif key == Qt.Key.Key_End:
            self.look_at(len(self._arrows) - 1)
        elif key == Qt.Key.Key_Escape and self._at >= 0:
            self.look_at(-1)
        else:
            super().keyPressEvent(event)
            return
        arrow = self.looked_at()
        if arrow is not None:
            announce(self, f"{arrow.title}, {way_words(arrow)}")


def _distance(spot: QPointF, start: QPointF, end: QPointF) -> float:
    dx, dy = end.x() - start.x(), end.y() - start.y()
    length = dx * dx + dy * dy
    along = (spot.x() - start.x()) * dx + (spot.y() - start.y()) * dy
    share = max(0.0, min(1.0, along / length)) if length else 0.0
    return math.hypot(spot.x() - start.x() - share * dx, spot.y() - start.y() - share * dy)
