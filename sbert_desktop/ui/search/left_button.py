"""The button that goes back: the chevron to the right, turned round."""

from __future__ import annotations

from PySide6.QtGui import QColor, QPainter, QPaintEvent

from sbert_desktop.ui import icons
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.widgets import IconButton, paint_box, paint_focus


class LeftButton(IconButton):
    """The chevron to the right, turned round."""

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        hover = self.underMouse() and self.isEnabled()
        if hover:
            paint_box(painter, self.rect(), "selected" if self.isDown() else "hover", None)
        painter.save()
        painter.translate(self.width(), 0)
        painter.scale(-1, 1)
        color = self._theme_color(hover)
        icons.paint(painter, "chevron_right", self.rect().adjusted(5, 5, -5, -5), color)
        painter.restore()
        if self.shows_focus():
            paint_focus(painter, self.rect())

    def _theme_color(self, hover: bool) -> QColor:
        return theme.color("text" if hover else "muted") if self.isEnabled() else theme.faded("muted", 0.45)
