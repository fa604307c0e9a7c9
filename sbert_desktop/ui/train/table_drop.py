"""Dropping on the Train page: above a table of judgements to be taken in, below the usual "Add folder"."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from PySide6.QtWidgets import QWidget

from sbert_desktop.ui.drop import PageDrop, quoted
from sbert_desktop.ui.widgets import name

ENDINGS: Final = frozenset({".csv", ".tsv", ".tab", ".txt"})


def is_like_a_table(path: Path) -> bool:
    """True for a name that a table in plain text may have; the disk is not asked."""
    return path.suffix.lower() in ENDINGS


class TableDrop(PageDrop):
    """``offered(paths)``: a table to be taken in, or what was held for one; ``dropped(paths)``: folders to be added."""

    icon = "table"

    def __init__(self, host: QWidget) -> None:
        super().__init__(host)
        name(self, "train_drop", "Drop a table here to import its pairs")

    def search_title(self) -> str:
        """Gives what a drop on the upper part would do."""
        if len(self._paths) == 1:
            return f"Import pairs from {quoted(self._paths[0])}"
        return "Import pairs from a table" if self._paths else ""

    def line(self) -> str:
        """Gives what stands below that title."""
        if len(self._paths) > 1:
            return "Tables are taken in one at a time."
        if self._paths and is_like_a_table(self._paths[0]):
            return "You see what is in it first; nothing is taken in by itself."
        return "It has to be a table, .csv or .tsv, with a pair in each row."
