"""Dropping on the Duplicates page: above "Do I have this?", below the usual "Add folder"."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from sbert_desktop.ui import words
from sbert_desktop.ui.drop import PageDrop, quoted
from sbert_desktop.ui.widgets import name


class HaveDrop(PageDrop):
    """``offered(paths)``: files to be looked for; ``dropped(paths)``: folders to be added."""

    icon = "question"

    def __init__(self, host: QWidget) -> None:
        super().__init__(host)
        name(self, "duplicates_drop", "Drop files here to see whether you have them")

    def search_title(self) -> str:
        """Gives what a drop on the upper part would do."""
        if len(self._paths) == 1:
            return f"Do I have {quoted(self._paths[0])} already?"
        return f"Do I have these {words.count(len(self._paths))} already?" if self._paths else ""

    def line(self) -> str:
        """Gives what stands below that title."""
        return "It is only read; nothing is added to the library." if len(self._paths) < 2 else \
            "They are only read; nothing is added to the library."
