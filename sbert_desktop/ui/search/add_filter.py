"""The menu "Filter": every way to narrow a search, each writes its field into the box or opens its chip."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QMenu, QWidget

from sbert_desktop.ui.widgets import Chip, menu, no_mnemonic

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
    ("In a collection", "in:"),
)
LISTED = 30  # values in one menu; more are typed
INSTEAD = {"type:": "Type", "folder:": "Folder", "lang:": "Language"}  # a chip with a menu knows the choices


class AddFilter(Chip):
    """A plain chip with the menu.

    ``fieldWanted(str)``: text for the box; ``valueWanted(field, value)``: a whole one, not yet quoted;
    ``chipWanted(str)``: a chip's menu.
    """

    fieldWanted = Signal(str)
    valueWanted = Signal(str, str)
    chipWanted = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Filter", object_name="filter_add", icon="plus", plain=True, parent=parent)
        self.setAccessibleDescription("Offers every way to narrow the search")
        self.offered: Callable[[], Sequence[str]] = tuple  # names of the chips that can be opened
        # what there is of a field (``in``, ``lang``, ``type``), each as its name and as it is typed
        self.values: Callable[[str], Sequence[tuple[str, str]]] = lambda field: ()
        self._lists: list[QMenu] = []
        self._menu = menu(self, "filter_add_menu", "Filter")
        self.setMenu(self._menu)
        self._menu.aboutToShow.connect(self._fill)
        self._fill()

    def _fill(self) -> None:
        self._menu.clear()
        for old in self._lists:  # clear() leaves the menus of its entries alive
            old.setParent(None)
            old.deleteLater()
        self._lists = []
        chips = set(self.offered())
        for text, field in WRITTEN:
            if not text:
                self._menu.addSeparator()
                continue
            chip = INSTEAD.get(field, "")
            values = self.values(field.partition(":")[0]) if field.endswith(":") and chip not in chips else ()
            if values or field == "in:":
                self._fill_values(text.rstrip("…"), field, values)
                continue
            action = self._menu.addAction(text)
            action.setObjectName(f"filter_add_{field.partition(':')[0]}")
            if chip in chips:
                action.triggered.connect(lambda _=False, chip=chip: self.chipWanted.emit(chip))
            else:
                action.triggered.connect(lambda _=False, field=field: self.fieldWanted.emit(field))

    def _fill_values(self, text: str, field: str, values: Sequence[tuple[str, str]]) -> None:
        """Lists what there is, so that nothing has to be known by heart."""
        key = field.partition(":")[0]
        listed = menu(self._menu, f"filter_add_{key}_menu", text)
        listed.setTitle(text)
        listed.menuAction().setObjectName(f"filter_add_{key}")
        self._menu.addMenu(listed)
        self._lists.append(listed)
        for shown, typed in values[:LISTED]:
            action = listed.addAction(no_mnemonic(shown))
            action.triggered.connect(lambda _=False, typed=typed: self.valueWanted.emit(key, typed))
        if not values:
            listed.addAction("No collection yet: M puts a result into one").setEnabled(False)
