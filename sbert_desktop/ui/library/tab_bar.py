"""Tabs of 40 px with an underline and a count."""

from __future__ import annotations

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QTabBar, QWidget

from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.widgets import KeyboardFocus, name, paint_focus, paint_tag, tag_width

GAP = 24
INSET = 6  # room for the focus ring around the first word too


class Tabs(KeyboardFocus, QTabBar):
    """A tab bar painted in tokens; each tab may carry a count, in ``warn`` if it is trouble."""

    def __init__(self, *, object_name: str, accessible: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        name(self, object_name, accessible)
        theme.set_role(self, "medium")
        self.setDrawBase(False)
        self.setExpanding(False)
        self.setUsesScrollButtons(False)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self._counts: dict[int, tuple[str, str]] = {}

    def add(self, text: str) -> int:
        """Adds a tab."""
        at = self.addTab(text)
        self.setTabToolTip(at, "")
        return at

    def set_count(self, at: int, count: str, tone: str = "neutral") -> None:
        """Shows a count behind the tab's word; "" for none."""
        if self._counts.get(at) == (count, tone):
            return
        self._counts[at] = (count, tone)
        self.setAccessibleTabName(at, f"{self.tabText(at)}, {count}" if count else self.tabText(at))
        # Qt asks for new sizes only when a tab changes
        self.setTabText(at, self.tabText(at))
        self.update()

    def _width(self, at: int) -> int:
        width = QFontMetrics(theme.font("strong")).horizontalAdvance(self.tabText(at))
        count = self._counts.get(at, ("", ""))[0]
        return width + (8 + tag_width(count) if count else 0)

    def tabSizeHint(self, index: int) -> QSize:
        return QSize(self._width(index) + GAP, theme.height(40, padding=20))

    def minimumTabSizeHint(self, index: int) -> QSize:
        return self.tabSizeHint(index)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        height = theme.height(20, role="meta", padding=4)
        for at in range(self.count()):
            rect = self.tabRect(at)
            box = QRect(rect.x() + INSET, rect.y(), self._width(at), rect.height())
            chosen = at == self.currentIndex()
            painter.setFont(theme.font("strong" if chosen else "medium"))
            painter.setPen(theme.color("text" if chosen else "muted"))
            painter.drawText(box, Qt.AlignmentFlag.AlignVCenter, self.tabText(at))
            count, tone = self._counts.get(at, ("", ""))
            if count:
                width = tag_width(count)
                x = box.x() + painter.fontMetrics().horizontalAdvance(self.tabText(at)) + 8
                paint_tag(painter, QRect(x, box.center().y() - height // 2 + 1, width, height), count, tone)
            if chosen:
                painter.fillRect(QRect(box.x(), rect.bottom() - 1, box.width(), 2), theme.color("accent"))
                if self.shows_focus():
                    paint_focus(painter, box.adjusted(-INSET, 6, 6, -5))
