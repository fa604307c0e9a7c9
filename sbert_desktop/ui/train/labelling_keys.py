"""The keys that judge: two large ones, or six for grades, and the small ones below them."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QRect, QSize, Qt, QTimer
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QPushButton, QSizePolicy, QWidget

from sbert_desktop.ui import icons
from sbert_desktop.ui.theme import RADIUS, theme
from sbert_desktop.ui.train.words import Key
from sbert_desktop.ui.widgets import (
    KeyboardFocus,
    key_cap_width,
    name,
    no_mnemonic,
    paint_box,
    paint_focus,
    paint_key_cap,
    plain_tip,
)

FLASH_MS: Final = 120


class _PaintedButton(KeyboardFocus, QPushButton):
    """A button that paints itself. A click leaves the focus where it is: the next key belongs to the next pair."""

    def __init__(self, object_name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(object_name)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self._lit = False
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(lambda: self._light(False))

    def flash(self) -> None:
        """Shows for a moment that its key was pressed."""
        if theme.duration(FLASH_MS):
            self._light(True)
            self._timer.start(FLASH_MS)

    def _light(self, lit: bool) -> None:
        self._lit = lit
        self.update()

    def _fill(self) -> str:
        if self.isDown() or self._lit:
            return "selected"
        return "hover" if self.underMouse() and self.isEnabled() else "raised"


class KeyButton(_PaintedButton):
    """One of the two keys: its cap, what it is called, what it means."""

    def __init__(self, object_name: str, parent: QWidget | None = None) -> None:
        super().__init__(object_name, parent)
        self.key: Key | None = None
        self._low = False
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_key(self, key: Key, digit: str) -> None:
        """Shows a key; ``digit`` does the same."""
        self.key = key
        self.setText(no_mnemonic(key.title))
        self.setAccessibleName(key.title)
        self.setAccessibleDescription(f"{key.meaning}. Key {key.key} or {digit}")
        self.setToolTip(plain_tip(f"{key.meaning} ({key.key} or {digit})"))
        self.update()

    def sizeHint(self) -> QSize:
        least = 48 if self._low else 72
        return QSize(260, max(least, theme.line("big_number") + theme.line("meta") + (8 if self._low else 24)))

    def set_low(self, low: bool) -> None:
        """Makes it lower where the window is low: the passages need the room."""
        if low != self._low:
            self._low = low
            self.updateGeometry()

    def minimumSizeHint(self) -> QSize:
        return QSize(160, self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        rect, key = self.rect(), self.key
        paint_box(painter, rect, self._fill(), "border")
        if key is None:
            return
        faded = not self.isEnabled()
        edge = 20 if rect.width() >= 260 + 2 * max(0, theme.text_scale - 100) else 10
        left = edge + 36 + (16 if edge == 20 else 10)
        cap = QRect(edge, (rect.height() - 36) // 2, 36, 36)
        paint_box(painter, cap, "surface", "border", RADIUS)
        ink = theme.faded("muted", 0.6) if faded else theme.color("text")
        painter.setPen(ink)
        painter.setFont(theme.font("big_number"))
        painter.drawText(cap, Qt.AlignmentFlag.AlignCenter, key.key)
        high, low = theme.line("big_number"), theme.line("meta")
        top = (rect.height() - high - low) // 2
        room = rect.width() - left - edge - 28
        painter.drawText(QRect(left, top, room, high), Qt.AlignmentFlag.AlignVCenter,
                         painter.fontMetrics().elidedText(key.title, Qt.TextElideMode.ElideRight, room))
        painter.setFont(theme.font("meta"))
        painter.setPen(theme.faded("muted", 0.6) if faded else theme.color("muted"))
        painter.drawText(QRect(left, top + high, room, low), Qt.AlignmentFlag.AlignVCenter,
                         painter.fontMetrics().elidedText(key.meaning, Qt.TextElideMode.ElideRight, room))
        box = QRect(rect.width() - edge - 20, (rect.height() - 18) // 2, 18, 18)
        icons.paint(painter, key.icon, box, theme.faded("muted", 0.6) if faded else theme.color(key.tone))
        if self.shows_focus():
            paint_focus(painter, rect)


class GradeButton(_PaintedButton):
    """One of the six grades: its figure and what it means."""

    def __init__(self, grade: str, meaning: str, brief: str, parent: QWidget | None = None) -> None:
        super().__init__(f"train_grade_{grade}", parent)
        self.grade, self._meaning, self._brief = grade, meaning, brief
        self.setText(grade)
        name(self, f"train_grade_{grade}", f"{grade}, {meaning.lower()}")
        self.setToolTip(plain_tip(f"{meaning} ({grade})"))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        return QSize(110, max(72, 28 + theme.line("meta") + 16))

    def minimumSizeHint(self) -> QSize:
        return QSize(56, self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        rect = self.rect()
        paint_box(painter, rect, self._fill(), "border")
        low = theme.line("meta")
        side = max(28, theme.line("strong") + 4)
        top = (rect.height() - side - 4 - low) // 2
        cap = QRect((rect.width() - side) // 2, top, side, side)
        paint_box(painter, cap, "surface", "border", RADIUS)
        painter.setPen(theme.color("text") if self.isEnabled() else theme.faded("muted", 0.6))
        painter.setFont(theme.font("strong"))
        painter.drawText(cap, Qt.AlignmentFlag.AlignCenter, self.grade)
        painter.setFont(theme.font("meta"))
        painter.setPen(theme.color("muted"))
        room = rect.width() - 8
        metrics = painter.fontMetrics()
        shown = self._meaning if metrics.horizontalAdvance(self._meaning) <= room else self._brief
        painter.drawText(QRect(4, top + side + 4, room, low), Qt.AlignmentFlag.AlignCenter,
                         metrics.elidedText(shown, Qt.TextElideMode.ElideRight, room))
        if self.shows_focus():
            paint_focus(painter, rect)


class HintButton(_PaintedButton):
    """A small key with what it does, that can be pressed with the pointer, too."""

    def __init__(self, key: str, text: str, *, object_name: str, tip: str = "", checkable: bool = False,
                 parent: QWidget | None = None) -> None:
        super().__init__(object_name, parent)
        self._key = key
        self.setCheckable(checkable)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        theme.set_role(self, "meta")
        self.show_text(text, tip)

    def show_text(self, text: str, tip: str = "") -> None:
        """Changes what it does."""
        self.setText(no_mnemonic(text))
        self.setAccessibleName(text)
        self.setAccessibleDescription(f"Key {self._key}. {tip}".strip())
        self.setToolTip(plain_tip(tip))
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        text = QFontMetrics(theme.font("meta")).horizontalAdvance(self.text().replace("&&", "&"))
        return QSize(4 + key_cap_width(self._key) + 8 + text + 6, theme.height(28, role="meta", padding=8))

    minimumSizeHint = sizeHint

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        rect = self.rect()
        fill = self._fill()
        if self.isChecked():
            paint_box(painter, rect, "selected", None)
        elif fill != "raised":
            paint_box(painter, rect, fill, None)
        tall = theme.height(20, role="key", padding=6)
        wide = key_cap_width(self._key)
        paint_key_cap(painter, QRect(4, (rect.height() - tall) // 2, wide, tall), self._key)
        painter.setFont(theme.font("meta"))
        painter.setPen(theme.color("text" if self.isChecked() else "muted") if self.isEnabled()
                       else theme.faded("muted", 0.6))
        painter.drawText(QRect(4 + wide + 8, 0, rect.width(), rect.height()), Qt.AlignmentFlag.AlignVCenter,
                         self.text().replace("&&", "&"))
        if self.shows_focus():
            paint_focus(painter, rect)
