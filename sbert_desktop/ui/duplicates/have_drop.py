"""Dropping on the Duplicates page: above "Do I have this?", below the usual "Add folder"."""

from __future__ import annotations

from PySide6.QtCore import QRect, Qt, Signal
from PySide6.QtGui import QDropEvent, QPainter
from PySide6.QtWidgets import QWidget

from sbert_desktop.domain import display_path
from sbert_desktop.ui import words
from sbert_desktop.ui.drop import DropOverlay, local_paths
from sbert_desktop.ui.widgets import name


class HaveDrop(DropOverlay):
    """``asked(paths)``: files to be looked for; ``dropped(paths)``: folders to be added."""

    asked = Signal(object)

    def __init__(self, host: QWidget) -> None:
        super().__init__(host)
        name(self, "duplicates_drop", "Drop files here to see whether you have them")

    def search_title(self) -> str:
        """Gives what a drop on the upper part would do."""
        if len(self._paths) == 1:
            return f"Do I have “{display_path(self._paths[0].name or str(self._paths[0]))}” already?"
        return f"Do I have these {words.count(len(self._paths))} files already?" if self._paths else ""

    def search_area(self) -> QRect:
        """Gives the part that takes files to be looked for: on this page the larger one."""
        return QRect(24, 24, self.width() - 48, (self.height() - 72) * 3 // 5)

    def dropEvent(self, event: QDropEvent) -> None:
        paths = local_paths(event.mimeData())
        # never Move: the sender would delete what it thinks has been taken
        event.setDropAction(Qt.DropAction.CopyAction)
        event.accept()
        self.hide()
        if paths:
            upper = self.search_area().contains(event.position().toPoint())
            (self.asked if upper else self.dropped).emit(paths)

    def _paint_area(self, painter: QPainter, area: QRect, icon: str, title: str, line: str) -> None:
        if area == self.search_area():
            icon, line = "question", "It is only read; nothing is added to the library."
        super()._paint_area(painter, area, icon, title, line)
