"""Names, plain tooltips, live regions and the painting that controls and delegates share."""

from __future__ import annotations

import html

from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QFocusEvent, QKeyEvent, QPainter, QPen
from PySide6.QtWidgets import QAbstractButton, QAbstractItemView, QWidget

from sbert_desktop.ui.theme import RADIUS, theme


def name(widget: QWidget, object_name: str, accessible: str = "", description: str = "") -> None:
    """Gives a widget the names by which a test, a script and a screen reader find it."""
    widget.setObjectName(object_name)
    if accessible:
        widget.setAccessibleName(accessible)
    if description:
        widget.setAccessibleDescription(description)


def plain_tip(text: str) -> str:
    """Gives a tooltip's text so that Qt shows it letter by letter, whatever it holds.

    Qt takes a tooltip that looks like HTML for HTML; a file may be called ``<img src=...>``.
    """
    return f"<span>{html.escape(text)}</span>" if text else ""


def set_tip(widget: QWidget, text: str) -> None:
    """Sets a plain tooltip and, if there is none yet, the accessible description."""
    widget.setToolTip(plain_tip(text))
    if not widget.accessibleDescription() and text != widget.accessibleName():
        widget.setAccessibleDescription(text)


def no_mnemonic(text: str) -> str:
    """Gives a text for a menu or a button in which ``&`` is only an ``&``."""
    return text.replace("&", "&&")


def announce(widget: QWidget, text: str) -> None:
    """Says a text through the screen reader without moving the focus (a live region)."""
    if text and QAccessible.isActive():
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(widget, text))


def paint_focus(painter: QPainter, rect: QRect, radius: float = RADIUS) -> None:
    """Paints the focus ring: 2 px accent inside the control's edge."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(theme.color("accent"), 2))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRoundedRect(QRectF(rect).adjusted(1, 1, -1, -1), radius - 1, radius - 1)
    painter.restore()


def paint_box(painter: QPainter, rect: QRect, fill: str | None, edge: str | None, radius: float = RADIUS,
              width: float = 1) -> None:
    """Paints a rounded rectangle in tokens; the edge lies inside ``rect``."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setBrush(theme.color(fill) if fill else Qt.BrushStyle.NoBrush)
    painter.setPen(QPen(theme.color(edge), width) if edge else Qt.PenStyle.NoPen)
    inset = width / 2 if edge else 0.0
    painter.drawRoundedRect(QRectF(rect).adjusted(inset, inset, -inset, -inset), radius, radius)
    painter.restore()


def paint_bar(painter: QPainter, rect: QRect, value: float, color: str = "accent", track: str = "track") -> None:
    """Paints a bar for a value in [0, 1], as score bars and progress bars are."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    radius = rect.height() / 2
    painter.setBrush(theme.color(track))
    painter.drawRoundedRect(QRectF(rect), radius, radius)
    value = min(1.0, max(0.0, value))
    if value > 0:
        full = QRectF(rect)
        full.setWidth(max(rect.height(), rect.width() * value))
        painter.setBrush(theme.color(color))
        painter.drawRoundedRect(full, radius, radius)
    painter.restore()


class KeyboardFocus:
    """Knows whether the focus came by keyboard: only then is the ring shown. Mixed into controls.

    Enter presses a button that has the focus; Qt alone does that in dialogs only.
    """

    _by_keyboard = False

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and isinstance(self, QAbstractButton):
            self.click()
            event.accept()
            return
        super().keyPressEvent(event)  # type: ignore[misc]

    def focusInEvent(self, event: QFocusEvent) -> None:
        self._by_keyboard = event.reason() not in (Qt.FocusReason.MouseFocusReason, Qt.FocusReason.PopupFocusReason)
        super().focusInEvent(event)  # type: ignore[misc]
        self._repaint()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)  # type: ignore[misc]
        self._repaint()

    def _repaint(self) -> None:
        if isinstance(self, QAbstractItemView):
            self.viewport().update()  # QAbstractItemView.update() wants an index
        else:
            self.update()  # type: ignore[attr-defined]

    def shows_focus(self) -> bool:
        """True while the ring should be painted."""
        return bool(self.hasFocus()) and self._by_keyboard  # type: ignore[attr-defined]
