"""The room that page and preview share, side by side; in a narrow window the preview is folded away until asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSplitter, QWidget

from sbert_desktop.ui.page import Inspector
from sbert_desktop.ui.widgets import name

INSPECTOR_WIDTH: Final = 392
LEAST_PAGE: Final = 360


class InspectorSplit(QSplitter):
    """Holds the pages and the inspector.

    ``shared`` is emitted whenever the room was shared anew: whether there is something to preview, and whether it is
    shown.

    Args:
        pages: What stands on the left.
        inspector: What stands on the right.
        narrow: Says whether the window is too narrow for both.
        width: What :meth:`inspector_width` gave when the window was closed last; what cannot be one counts as none.
    """

    shared = Signal(bool, bool)

    def __init__(self, pages: QWidget, inspector: Inspector, *, narrow: Callable[[], bool], width: object) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        name(self, "main_splitter", "Page and preview")
        self._inspector = inspector
        self._narrow = narrow
        self._narrow_open = False
        self._width = width if isinstance(width, int) and 300 <= width <= 2000 else INSPECTOR_WIDTH
        self.setHandleWidth(1)
        self.addWidget(pages)
        self.addWidget(inspector)
        self.setCollapsible(0, False)
        self.setCollapsible(1, False)
        self.setStretchFactor(0, 1)
        self.setStretchFactor(1, 0)
        self.splitterMoved.connect(self._on_moved)
        inspector.contentChanged.connect(self.share)
        inspector.toggled.connect(self._on_toggled)
        inspector.hide()

    def inspector_width(self) -> int:
        """Gives how wide the person drew the preview; its own width where they did not."""
        return self._width

    def inspector_shown(self) -> bool:
        """True while the preview is to be seen."""
        if not self._inspector.has_content():
            return False
        return self._narrow_open if self._narrow() else self._inspector.is_open()

    def show_inspector(self, shown: bool) -> None:
        """Shows or hides the preview; in a narrow window only until it is wide again."""
        if self._narrow():
            self._narrow_open = shown
            self.share()
        else:
            self._inspector.set_open(shown)

    def fold(self) -> None:
        """Puts the preview away in a window that became narrow."""
        self._narrow_open = False

    def share(self) -> None:
        """Shares the room anew."""
        shown = self.inspector_shown()
        if shown != self._inspector.isVisibleTo(self):
            self._inspector.setVisible(shown)
        if shown:
            whole = self.width()
            dragged = self._width != INSPECTOR_WIDTH  # then it is as wide on every page
            wanted = self._width if dragged else self._inspector.usual_width(INSPECTOR_WIDTH)
            width = max(self._inspector.least_width(), min(wanted, whole - LEAST_PAGE))
            self.setSizes([whole - width - 1, width])
        self.shared.emit(self._inspector.has_content(), shown)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Shares the room by the new size; before that it would be shared by the old one."""
        self.share()
        super().resizeEvent(event)

    def _on_toggled(self, shown: bool) -> None:
        if self._narrow():
            self._narrow_open = shown

    def _on_moved(self) -> None:
        self._width = self.sizes()[1]
