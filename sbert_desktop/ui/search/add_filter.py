"""The menu "Filter": every way to narrow a search, each writes its field into the box or opens its chip."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from sbert_desktop.ui.widgets import Chip, menu

# text of the menu, what is written (a field that ends with ":" waits for its value), and what explains it
WRITTEN: tuple[tuple[str, str], ...] = (
    ("Type…", "type:"),
    ("Folder…", "folder:"),
    ("After a date…", "after:"),
    ("Before a date…", "before:"),
    ("Language…", "lang:"),
    ("", ""),
    ("Name of the file…", "name:"),
    ("Larger than 1 MB", "size:>1mb"),
    ("Smaller than 100 kB", "size:<100kb"),
    ("Size…", "size:"),
    ("", ""),
    ("Mail from…", "from:"),
    ("Mail to…", "to:"),
    ("Subject of a mail…", "subject:"),
    ("Mail with attachment", "has:attachment"),
    ("", ""),
    ("In a collection…", "in:"),
)
INSTEAD = {"type:": "Type", "folder:": "Folder", "lang:": "Language"}  # a chip with a menu knows the choices


class AddFilter(Chip):
    """A plain chip with the menu. ``fieldWanted(str)``: text for the box; ``chipWanted(str)``: a chip's menu."""

    fieldWanted = Signal(str)
    chipWanted = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Filter", object_name="filter_add", icon="plus", plain=True, parent=parent)
        self.setAccessibleDescription("Offers every way to narrow the search")
        self.offered: Callable[[], Sequence[str]] = tuple  # names of the chips that can be opened
        self._menu = menu(self, "filter_add_menu", "Filter")
        self.setMenu(self._menu)
        self._menu.aboutToShow.connect(self._fill)
        self._fill()

    def _fill(self) -> None:
        self._menu.clear()
        chips = set(self.offered())
        for text, field in WRITTEN:
            if not text:
                self._menu.addSeparator()
                continue
            action = self._menu.addAction(text)
            chip = INSTEAD.get(field, "")
            action.setObjectName(f"filter_add_{field.partition(':')[0]}")
            if chip in chips:
                action.triggered.connect(lambda _=False, chip=chip: self.chipWanted.emit(chip))
            else:
                action.triggered.connect(lambda _=False, field=field: self.fieldWanted.emit(field))
