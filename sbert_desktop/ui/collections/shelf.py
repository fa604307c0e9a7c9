"""What is kept by name, as the window knows it now: collections and saved searches.

Whatever asks for them, the answer ends here, so that the rail, the page and the palette agree. What the
person took away is hidden at once and given up only when Undo is no longer offered.
"""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QObject, Signal

from sbert_desktop.app.interface import Commands
from sbert_desktop.app.views import CollectionView, SavedSearchView
from sbert_desktop.domain import Finished, Outcome
from sbert_desktop.ui.bridge import Bridge


class Shelf(QObject):
    """The lists, newest answer first in force; ``known`` is False until the collections have come once."""

    collectionsChanged = Signal()
    savedChanged = Signal()
    shownChanged = Signal()  # another collection is in front
    failed = Signal(object)  # Failure of a list that could not be read

    def __init__(self, commands: Commands, bridge: Bridge, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._commands = commands
        self.known = False
        self.shown = ""
        self.saved: tuple[SavedSearchView, ...] = ()
        self._all: tuple[CollectionView, ...] = ()
        self._deleted: set[str] = set()
        self._taken: dict[str, set[int]] = {}
        bridge.listen("collections", on_finished=self._on_collections)
        bridge.listen("saved", on_finished=self._on_saved)

    def can(self, command: str) -> bool:
        """True when the program behind the window knows a command."""
        return callable(getattr(self._commands, command, None))

    def refresh(self) -> None:
        """Asks for both lists."""
        if self.can("collections"):
            self._commands.collections()
        if self.can("saved_searches"):
            self._commands.saved_searches()

    def show(self, name: str) -> None:
        """Says which collection the page shows."""
        if name != self.shown:
            self.shown = name
            self.shownChanged.emit()

    # ---- collections

    @property
    def collections(self) -> tuple[CollectionView, ...]:
        """The collections without what is being taken away."""
        out = []
        for view in self._all:
            if view.name not in self._deleted:
                gone = self._taken.get(view.name, ())
                out.append(replace(view, items=tuple(i for i in view.items if i.id not in gone)) if gone else view)
        return tuple(out)

    def collection(self, name: str) -> CollectionView | None:
        """Gives one by its name."""
        return next((view for view in self.collections if view.name == name), None)

    def free_name(self, name: str, but: str = "") -> bool:
        """True when no other collection is called that (as a person reads it)."""
        return all(view.name.casefold() != name.casefold() or view.name == but for view in self._all)

    def hide(self, name: str) -> None:
        """Hides a collection that is being deleted."""
        self._deleted.add(name)
        self.collectionsChanged.emit()

    def hide_items(self, name: str, ids: set[int]) -> None:
        """Hides items that are being taken out."""
        self._taken.setdefault(name, set()).update(ids)
        self.collectionsChanged.emit()

    def bring_back(self, name: str, ids: set[int] | None = None) -> None:
        """Shows again what was hidden: the collection, or some of its items."""
        if ids is None:
            self._deleted.discard(name)
        else:
            self._taken.get(name, set()).difference_update(ids)
        self.collectionsChanged.emit()

    def give_up(self, name: str, ids: set[int] | None = None) -> None:
        """Deletes for good what was hidden."""
        if ids is None:
            self._commands.change_collection(name, delete=True)
        else:
            self._commands.change_collection(name, take_out=tuple(sorted(ids)))

    def _on_collections(self, finished: Finished) -> None:
        if finished.outcome is Outcome.FAILED:
            # what was hidden and could not be deleted is there still
            self._deleted.clear()
            self._taken.clear()
            self.collectionsChanged.emit()
            self.failed.emit(finished.failure)
        elif isinstance(finished.result, tuple):
            self._all = finished.result
            self.known = True
            self._deleted &= {view.name for view in self._all}
            # the number of an item that is gone may be given to another one
            there = {view.name: {item.id for item in view.items} for view in self._all}
            self._taken = {key: ids & there[key] for key, ids in self._taken.items() if key in there}
            self.collectionsChanged.emit()

    # ---- saved searches

    def saved_search(self, name: str) -> SavedSearchView | None:
        """Gives one by its name."""
        return next((view for view in self.saved if view.name == name), None)

    def _on_saved(self, finished: Finished) -> None:
        if isinstance(finished.result, tuple) and finished.outcome is not Outcome.FAILED:
            self.saved = finished.result
            self.savedChanged.emit()
