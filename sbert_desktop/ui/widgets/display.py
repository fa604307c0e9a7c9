"""What is only looked at: tags, bars, key caps, lines, cards."""

from __future__ import annotations

from typing import ClassVar

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QProgressBar, QSizePolicy, QWidget

from sbert_desktop.ui import icons
from sbert_desktop.ui.theme import RADIUS_SMALL, theme
from sbert_desktop.ui.widgets.painting import name, paint_bar, paint_box


class Tag(QWidget):
    """A short word on a soft fill: neutral, good, warn, danger or accent; with an icon if named."""

    FILLS: ClassVar = {"neutral": ("hover", "muted"), "good": ("good_soft", "good"), "warn": ("warn_soft", "warn"),
              "danger": ("danger_soft", "danger"), "accent": ("selected", "accent")}

    def __init__(self, text: str = "", tone: str = "neutral", *, icon: str = "", object_name: str = "",
                 parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._text, self._tone, self._icon = text, tone, icon
        theme.set_role(self, "meta_medium")
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(text)
        if object_name:
            self.setObjectName(object_name)

    def text(self) -> str:
        """Gives the word shown."""
        return self._text

    def set_text(self, text: str, tone: str | None = None, icon: str | None = None) -> None:
        """Changes word, tone and icon."""
        self._text, self._tone = text, tone or self._tone
        self._icon = self._icon if icon is None else icon
        self.setAccessibleName(text)
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        width = QFontMetrics(self.font()).horizontalAdvance(self._text) + 12 + (18 if self._icon else 0)
        return QSize(width + 1, theme.height(20, role="meta", padding=4))

    minimumSizeHint = sizeHint

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        paint_tag(painter, self.rect(), self._text, self._tone, self._icon)


def tag_width(text: str, icon: str = "") -> int:
    """Gives the width that :func:`paint_tag` needs."""
    return theme.metrics("meta_medium").horizontalAdvance(text) + 13 + (18 if icon else 0)


def paint_tag(painter: QPainter, rect: QRect, text: str, tone: str = "neutral", icon: str = "") -> None:
    """Paints a tag as :class:`Tag` does, for delegates."""
    fill, ink = Tag.FILLS[tone]
    paint_box(painter, rect, fill, None, RADIUS_SMALL)
    x = rect.x() + 6
    if icon:
        icons.paint(painter, icon, QRect(x, rect.y() + (rect.height() - 14) // 2, 14, 14), ink)
        x += 18
    painter.setFont(theme.font("meta_medium"))
    painter.setPen(theme.color(ink))
    painter.drawText(QRect(x, rect.y(), rect.right() - x + 1, rect.height()), Qt.AlignmentFlag.AlignVCenter, text)


class ScoreBar(QWidget):
    """A number in [0, 1] with its bar of 64 x 4; the bar shows what the order used."""

    def __init__(self, value: float = 0.0, *, number: bool = True, width: int = 64, object_name: str = "",
                 parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._number, self._bar = number, width
        self._value = 0.0
        theme.set_role(self, "strong")
        # with its number it keeps the width of a column; the bare bar gives way to words
        across = QSizePolicy.Policy.Fixed if number else QSizePolicy.Policy.Preferred
        self.setSizePolicy(across, QSizePolicy.Policy.Fixed)
        if object_name:
            self.setObjectName(object_name)
        self.set_value(value)

    def set_value(self, value: float) -> None:
        """Shows a score in [0, 1]."""
        self._value = value
        self.setAccessibleName(f"Score {value:.2f}")
        self.update()

    def sizeHint(self) -> QSize:
        metrics = QFontMetrics(theme.numbers_font("strong"))
        extra = metrics.horizontalAdvance("0.00") + 8 if self._number else 0
        return QSize(extra + self._bar, theme.height(20, padding=2))

    def minimumSizeHint(self) -> QSize:
        hint = self.sizeHint()
        return hint if self._number else QSize(24, hint.height())

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        bar = min(self._bar, self.width())
        if self._number:
            painter.setFont(theme.numbers_font("strong"))
            painter.setPen(theme.color("text"))
            painter.drawText(QRect(0, 0, self.width() - self._bar - 8, self.height()),
                             Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, f"{self._value:.2f}")
        left = self.width() - bar if self._number else 0
        paint_bar(painter, QRect(left, self.height() // 2 - 2, bar, 4), self._value)


class ProgressBar(QProgressBar):
    """A thin bar; ``set_fraction(None)`` while the end is not known; ``set_paused`` greys it."""

    def __init__(self, *, thickness: int = 4, object_name: str = "", accessible: str = "Progress",
                 parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._paused = False
        self._shown = 0.0
        self.setTextVisible(False)
        self.setRange(0, 1000)
        self.setValue(0)
        self.setFixedHeight(thickness)
        name(self, object_name, accessible)

    def set_fraction(self, fraction: float | None) -> None:
        """Shows a fraction in [0, 1]; None: under way, the end unknown."""
        if fraction is None:
            self.setRange(0, 0)
        else:
            self.setRange(0, 1000)
            self.setValue(round(1000 * min(1.0, max(0.0, fraction))))
        self.update()

    def set_paused(self, paused: bool) -> None:
        """Greys the bar while the work stands still."""
        self._paused = paused
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        color = "muted" if self._paused else "accent"
        known = self.maximum() > 0
        # unknown end: a quarter, standing still; a busy animation would only cost the encoder its core
        paint_bar(QPainter(self), self.rect(), self.value() / 1000 if known else 0.25, color)


class KeyCap(QWidget):
    """One key of a shortcut, drawn as a cap."""

    def __init__(self, text: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._text = text
        theme.set_role(self, "key")
        self.setAccessibleName(text)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        return QSize(key_cap_width(self._text), theme.height(20, role="key", padding=6))

    minimumSizeHint = sizeHint

    def paintEvent(self, event: QPaintEvent) -> None:
        paint_key_cap(QPainter(self), self.rect(), self._text)


def key_cap_width(text: str) -> int:
    """Gives the width of a key cap in logical pixels."""
    return max(20, theme.metrics("key").horizontalAdvance(text) + 12)


def paint_key_cap(painter: QPainter, rect: QRect, text: str) -> None:
    """Paints a key cap, for delegates."""
    paint_box(painter, rect, "raised", "border", RADIUS_SMALL)
    painter.setFont(theme.font("key"))
    painter.setPen(theme.color("muted"))
    painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, text)


class Line(QFrame):
    """A line of one pixel, horizontal or vertical."""

    def __init__(self, *, vertical: bool = False, length: int = 0, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        if vertical:
            self.setFixedWidth(1)
            if length:
                self.setFixedHeight(length)
        else:
            self.setFixedHeight(1)

    def paintEvent(self, event: QPaintEvent) -> None:
        QPainter(self).fillRect(self.rect(), theme.color("border"))


class Card(QFrame):
    """A rounded frame on ``raised`` (or another token) with a border; lays nothing out itself."""

    def __init__(self, *, fill: str = "raised", edge: str | None = "border", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._card_fill, self._card_edge = fill, edge

    def set_fill(self, fill: str) -> None:
        """Changes the token of the fill."""
        self._card_fill = fill
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        paint_box(QPainter(self), self.rect(), self._card_fill, self._card_edge)


class Panel(QWidget):
    """A flat area filled with a token, with lines on the sides named (``"left bottom"``)."""

    def __init__(self, fill: str = "surface", *, lines: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._panel_fill, self._panel_lines = fill, lines.split()

    def set_fill(self, fill: str) -> None:
        """Changes the token of the fill."""
        self._panel_fill = fill
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), theme.color(self._panel_fill))
        line = theme.color("border")
        width, height = self.width(), self.height()
        sides = {"left": QRect(0, 0, 1, height), "right": QRect(width - 1, 0, 1, height),
                 "top": QRect(0, 0, width, 1), "bottom": QRect(0, height - 1, width, 1)}
        for side in self._panel_lines:
            painter.fillRect(sides[side], line)
