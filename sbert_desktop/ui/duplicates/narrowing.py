"""Chips that narrow what is compared: one folder, some types, documents chosen on another page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QFileDialog, QMenu, QWidget

from sbert_desktop.app.views import LibraryView
from sbert_desktop.domain import Filters, short_path
from sbert_desktop.ui.naming import quick_path
from sbert_desktop.ui.search.filters import among_words, type_word
from sbert_desktop.ui.widgets import Chip, FlowLayout, name, no_mnemonic


class NarrowBar(QWidget):
    """The chips; ``changed(Filters)`` when the person chose or cleared one."""

    changed = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        name(self, "duplicates_filters", "Filters")
        self._folder: Path | None = None
        self._types: tuple[str, ...] = ()
        self._among = Filters()  # holds the documents chosen on another page, and what they are
        self._folders: tuple[Path, ...] = ()
        self._formats: tuple[str, ...] = ()
        row = FlowLayout(self, gap=8)
        self.folder_chip = Chip("Only in", unset="all folders", object_name="duplicates_filter_folder", parent=self)
        self.type_chip = Chip("Type", object_name="duplicates_filter_type", parent=self)
        self.among_chip = Chip("Only", object_name="duplicates_filter_among", parent=self)
        self.among_chip.hide()  # until another page chose
        for signal in (self.among_chip.cleared, self.among_chip.clicked):
            signal.connect(self._leave_among)
        row.addWidget(self.among_chip)
        row.addWidget(self.folder_chip)
        row.addWidget(self.type_chip)
        self._folder_menu = QMenu(self)
        name(self._folder_menu, "duplicates_filter_folder_menu", "Only in a folder")
        self._type_menu = _StayingMenu(self)
        name(self._type_menu, "duplicates_filter_type_menu", "Type")
        for chip, choice, fill, clear in (
            (self.folder_chip, self._folder_menu, self._fill_folders, lambda: self._choose(None)),
            (self.type_chip, self._type_menu, self._fill_types, self._clear_types),
        ):
            chip.setMenu(choice)
            choice.aboutToShow.connect(fill)
            chip.cleared.connect(clear)
            fill()

    def filters(self) -> Filters:
        """Gives what is chosen."""
        return replace(self._among, folder=self._folder, types=self._types)

    def set_filters(self, filters: Filters) -> None:
        """Shows filters without telling."""
        self._folder, self._types = filters.folder, filters.types
        self._among = Filters(contents=filters.contents, contents_label=filters.contents_label)
        self._show()

    def set_among(self, contents: Sequence[int], label: str) -> None:
        """Narrows to these documents (content ids), and tells; other filters would hide some of them."""
        self.set_filters(Filters(contents=tuple(contents), contents_label=label))
        self.changed.emit(self.filters())

    def clear(self) -> None:
        """Takes every filter away, and tells."""
        if self.filters():
            self.set_filters(Filters())
            self.changed.emit(self.filters())

    def set_library(self, view: LibraryView) -> None:
        """Takes the choices from the library."""
        self._folders = tuple(folder.path for folder in view.folders)
        self._formats = view.formats

    def _show(self) -> None:
        self.among_chip.set_value(among_words(self._among))
        self.among_chip.setVisible(bool(self._among.contents))
        folder = self._folder
        self.folder_chip.set_value(quick_path(folder.name or str(folder)) if folder is not None else "",
                                   short_path(folder) if folder is not None else "")
        kinds = list(dict.fromkeys(type_word(kind) for kind in self._types))
        self.type_chip.set_value(", ".join(kinds[:2]) + (f" +{len(kinds) - 2}" if len(kinds) > 2 else ""))
        self.updateGeometry()

    def _tell(self) -> None:
        self._show()
        self.changed.emit(self.filters())

    def _leave_among(self) -> None:
        self.folder_chip.setFocus(Qt.FocusReason.OtherFocusReason)  # the chip goes, and the focus would go with it
        self._among = Filters()
        self._tell()

    def _choose(self, folder: Path | None) -> None:
        if folder != self._folder:
            self._folder = folder
            self._tell()

    def _fill_folders(self) -> None:
        choice = self._folder_menu
        choice.clear()
        for text, folder in (("All folders", None), *((short_path(one), one) for one in self._folders)):
            action = choice.addAction(no_mnemonic(text))
            action.setCheckable(True)
            action.setChecked(folder == self._folder)
            action.triggered.connect(lambda _=False, folder=folder: self._choose(folder))
        if self._folder is not None and self._folder not in self._folders:
            action = choice.addAction(no_mnemonic(short_path(self._folder)))
            action.setCheckable(True)
            action.setChecked(True)
        choice.addSeparator()
        choice.addAction("Choose a folder...").triggered.connect(self._ask_folder)

    def _ask_folder(self) -> None:
        start = self._folder or (self._folders[0] if self._folders else Path.home())
        found = QFileDialog.getExistingDirectory(self, "Only duplicates in this folder", str(start))
        if found:
            self._choose(Path(found))

    def _fill_types(self) -> None:
        choice = self._type_menu
        choice.clear()
        every = choice.addAction("Any type")
        every.setCheckable(True)
        every.setChecked(not self._types)
        every.triggered.connect(self._clear_types)
        groups: dict[str, list[str]] = {}
        for kind in (*self._formats, *(kind for kind in self._types if kind not in self._formats)):
            groups.setdefault(type_word(kind), []).append(kind)
        for text in sorted(groups, key=str.casefold):
            action = choice.addAction(no_mnemonic(text))
            action.setCheckable(True)
            action.setChecked(any(kind in self._types for kind in groups[text]))
            action.triggered.connect(lambda on, kinds=tuple(groups[text]): self._toggle(kinds, on))

    def _toggle(self, kinds: Sequence[str], on: bool) -> None:
        kept = tuple(kind for kind in self._types if kind not in kinds)
        self._types = (*kept, *kinds) if on else kept
        self._type_menu.actions()[0].setChecked(not self._types)
        self._tell()

    def _clear_types(self) -> None:
        for action in self._type_menu.actions()[1:]:
            action.setChecked(False)
        if self._type_menu.actions():
            self._type_menu.actions()[0].setChecked(True)
        if self._types:
            self._types = ()
            self._tell()


class _StayingMenu(QMenu):
    """Stays open while boxes are ticked, so that several can be chosen at once."""

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        action = self.actionAt(event.position().toPoint())
        if action is not None and action.isCheckable():
            action.trigger()
            return
        super().mouseReleaseEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        action = self.activeAction()
        if event.key() == Qt.Key.Key_Space and action is not None and action.isCheckable():
            action.trigger()
            return
        super().keyPressEvent(event)
