"""Dropping on the Train page: above a table of judgements to be taken in, below the usual "Add folder"."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from PySide6.QtCore import QRect, Qt, Signal
from PySide6.QtGui import QDropEvent, QPainter
from PySide6.QtWidgets import QWidget

from sbert_desktop.domain import display_path
from sbert_desktop.ui import words
from sbert_desktop.ui.drop import DropOverlay, local_paths
from sbert_desktop.ui.widgets import name

ENDINGS: Final = frozenset({".csv", ".tsv", ".tab", ".txt"})


def is_like_a_table(path: Path) -> bool:
    """True for a name that a table in plain text may have; the disk is not asked."""
    return path.suffix.lower() in ENDINGS


class TableDrop(DropOverlay):
    """``offered(paths)``: a table to be taken in, or what was held for one; ``dropped(paths)``: folders to be added."""

    offered = Signal(object)

    def __init__(self, host: QWidget) -> None:
        super().__init__(host)
        name(self, "train_drop", "Drop a table here to import its pairs")

    def search_title(self) -> str:
        """Gives what a drop on the upper part would do."""
        if len(self._paths) == 1:
            return f"Import pairs from “{display_path(self._paths[0].name or str(self._paths[0]))}”"
        return f"Import pairs from one of {words.count(len(self._paths))} files" if self._paths else ""

    def line(self) -> str:
        """Gives what stands below that title."""
        if len(self._paths) > 1:
            return "Tables are taken in one at a time."
        if self._paths and is_like_a_table(self._paths[0]):
            return "You see what is in it first; nothing is taken in by itself."
        return "It has to be a table, .csv or .tsv, with a pair in each row."

    def search_area(self) -> QRect:
        """Gives the part that takes tables: on this page the larger one."""
        return QRect(24, 24, self.width() - 48, (self.height() - 72) * 3 // 5)

    def dropEvent(self, event: QDropEvent) -> None:
        paths = local_paths(event.mimeData())
        # never Move: the sender would delete what it thinks has been taken
        event.setDropAction(Qt.DropAction.CopyAction)
        event.accept()
        self.hide()
        if paths:
            upper = self.search_area().contains(event.position().toPoint())
            (self.offered if upper else self.dropped).emit(paths)

    def _paint_area(self, painter: QPainter, area: QRect, icon: str, title: str, line: str) -> None:
        if area == self.search_area():
            icon, line = "table", self.line()
        super()._paint_area(painter, area, icon, title, line)
