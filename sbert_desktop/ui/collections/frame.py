"""Joins what is kept by name to the window: rows of the rail, sheets, commands of the palette."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QObject, QPoint, Qt
from PySide6.QtGui import QKeySequence, QShortcut

from sbert_desktop.app.views import CollectionView, HitView, SavedSearchView
from sbert_desktop.domain import Finished, JobId, Mode, Outcome, Query
from sbert_desktop.settings import BY_KEY
from sbert_desktop.ui import icons, words
from sbert_desktop.ui.collections.collect_sheet import CollectSheet
from sbert_desktop.ui.collections.name_sheet import ask_name
from sbert_desktop.ui.collections.query_text import query_text
from sbert_desktop.ui.naming import in_title
from sbert_desktop.ui.page import Action
from sbert_desktop.ui.rail import Kept
from sbert_desktop.ui.search.filters import among_words
from sbert_desktop.ui.widgets import menu, no_mnemonic

if TYPE_CHECKING:
    from sbert_desktop.ui.collections.page import CollectionsPage
    from sbert_desktop.ui.main_window import MainWindow
    from sbert_desktop.ui.page import Desk

WEIGHT = "search.words_weight"


class ShelfFrame(QObject):
    """What the window does with collections, saved searches and drafts to check."""

    def __init__(self, window: MainWindow, desk: Desk) -> None:
        super().__init__(window)
        self._window, self._desk, self._shelf = window, desk, desk.shelf
        self._looking = False
        rail = window.rail
        rail.keptChosen.connect(self._on_chosen)
        rail.keptMenuAsked.connect(self._on_menu)
        rail.keptRenameAsked.connect(self._on_rename)
        rail.keptRemoveAsked.connect(self._on_remove)
        self._shelf.collectionsChanged.connect(self._show_collections)
        self._shelf.savedChanged.connect(self._show_saved)
        self._shelf.shownChanged.connect(self._mark)
        desk.collectRequested.connect(self.collect)
        desk.collectDocumentsRequested.connect(self.collect_documents)
        desk.saveSearchRequested.connect(self.save_search)
        desk.quotesRequested.connect(self.check_quotes)
        desk.modelWanted.connect(self.get_model)
        desk.indexFinished.connect(lambda _: self._ask_saved())
        # a saved search that is run is looked at: the program notes it, and its dot goes
        desk.bridge.listen("search", on_finished=self._on_searched)
        if desk.can("save_search"):
            shortcut = QShortcut(QKeySequence("Ctrl+D"), window)
            shortcut.activated.connect(lambda: None if window.covered() else self.save_current())
        self._shelf.refresh()

    # ---- the rail

    def _show_collections(self) -> None:
        if not self._desk.can("collections"):
            return
        self._window.rail.set_kept("collections", [
            Kept(view.name, view.name, words.count(len(view.items)), False, words.counted(len(view.items), "passage"))
            for view in self._shelf.collections])
        self._mark()

    def _mark(self) -> None:
        front = self._window.current_page() == "collections"
        self._window.rail.show_kept("collections", self._shelf.shown if front else "")

    def page_changed(self) -> None:
        """Marks the row of the collection in front."""
        self._mark()

    def _show_saved(self) -> None:
        fresh = [view for view in self._shelf.saved if view.fresh]
        rail = self._window.rail
        rail.set_kept("search", [
            Kept(view.name, view.name, words.count(view.fresh) if view.fresh else "", bool(view.fresh),
                 f"{words.counted(view.fresh, 'new passage')} since you last looked" if view.fresh else view.text)
            for view in self._shelf.saved])
        rail.item("search").set_dot(
            f"New passages for {words.listed([view.name for view in fresh])}" if fresh else "")

    def _on_chosen(self, page: str, key: str) -> None:
        if page == "collections":
            self.show_collection(key)
        else:
            self.run_saved(key)

    def _on_menu(self, page: str, key: str, position: QPoint) -> None:
        made = menu(self._window, "rail_kept_menu", key)
        made.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        entries = self._collections().menu_entries(key) if page == "collections" else self._saved_entries(key)
        for icon, text, run in entries:
            made.addAction(icons.icon(icon, 16), no_mnemonic(text), run)
        made.popup(position)

    def _saved_entries(self, key: str) -> list[tuple[str, str, Callable[[], None]]]:
        return [("search", "Search", lambda: self.run_saved(key)),
                ("pencil", "Rename...", lambda: self.ask_rename_saved(key)),
                ("trash", "Remove", lambda: self.remove_saved(key))]

    def _on_rename(self, page: str, key: str) -> None:
        if page == "collections":
            self._collections().ask_rename(key)
        else:
            self.ask_rename_saved(key)

    def _on_remove(self, page: str, key: str) -> None:
        if page == "collections":
            self._collections().delete(key)
        else:
            self.remove_saved(key)

    # ---- collections

    def _collections(self) -> CollectionsPage:
        return cast("CollectionsPage", self._window.page("collections"))

    def show_collection(self, own: str) -> None:
        """Goes to a collection."""
        self._collections().show_collection(own)
        self._window.show_page("collections")

    def collect(self, hits: Sequence[HitView]) -> None:
        """Asks into which collection passages go."""
        chosen = tuple(hits)
        self._sheet().ask(chosen, self._shelf.collections, partial(
            self._collect, lambda own: self._desk.commands.collect(own, chosen), len(chosen), "passage"))

    def collect_documents(self, contents: Sequence[int], label: str) -> None:
        """Asks into which collection whole documents (content ids) go."""
        chosen = tuple(contents)
        self._sheet().ask_for(words.counted(len(chosen), "document"), label, self._shelf.collections, partial(
            self._collect, lambda own: self._desk.commands.collect_documents(own, chosen), len(chosen), "document"))

    def _sheet(self) -> CollectSheet:
        sheet = self._window.findChild(CollectSheet, "collect_sheet")
        return sheet if sheet is not None else CollectSheet(self._window)

    def _collect(self, put: Callable[[str], JobId], number: int, thing: str, own: str) -> None:
        # what is still being deleted is gone before something is put into one of the same name
        self._window.toast.dismiss()
        view = self._shelf.collection(own)
        before = {item.id for item in view.items} if view is not None else set()

        def done(result: object) -> None:
            after = next((v for v in cast(tuple[CollectionView, ...], result) if v.name == own), None)
            new = {item.id for item in after.items} - before if after is not None else set()
            if not new:
                self._desk.toast(f"{in_title(own)} holds {'it' if number == 1 else 'them'} already")
            else:
                self._desk.toast(f"Added {words.counted(len(new), thing)} to {in_title(own)}", action="Undo",
                                 run=partial(self._uncollect, own, new, view is None))

        self._desk.start(put(own), done)

    def _uncollect(self, own: str, ids: set[int], made: bool) -> None:
        view = self._shelf.collection(own)
        if made and view is not None and {item.id for item in view.items} <= ids:
            self._desk.start(self._desk.commands.change_collection(own, delete=True))
        else:
            self._desk.start(self._desk.commands.change_collection(own, take_out=tuple(sorted(ids))))

    # ---- saved searches

    def _ask_saved(self) -> None:
        if self._desk.can("saved_searches"):
            self._desk.commands.saved_searches()

    def save_current(self) -> None:
        """Keeps the search on the Search page by a name."""
        query = self._current()
        if query is None:
            self._window.search_for("")
            self._desk.toast("Search for something first, then keep it with Ctrl+D")
        else:
            self.save_search(query)

    def _current(self) -> Query | None:
        ask = getattr(self._window.made_page("search"), "current_query", None)
        query = ask() if ask is not None else None
        return query if isinstance(query, Query) and query_text(query) else None

    def save_search(self, query: Query) -> None:
        """Asks for a name and keeps a search by it; of one in documents chosen by hand, says how it can be kept."""
        chosen = query.filters
        if chosen.contents:
            self._desk.toast(f"A saved search cannot hold {in_title(among_words(chosen))}. Save these as a collection "
                             "first, then search in it.", action="Save as a collection...",
                             run=lambda: self._desk.collect_documents(chosen.contents, chosen.contents_label))
            return
        text = query_text(query)
        names = {view.name.casefold() for view in self._shelf.saved}
        kept = next((view.name for view in self._shelf.saved if view.text == text), "")

        def refuse(own: str) -> str:
            return "Another search is called that." if own.casefold() in names and own != kept else ""

        def keep(own: str) -> None:
            self._desk.start(self._desk.commands.save_search(own, Query(text=text, mode=query.mode)), lambda _: (
                self._desk.toast(f"Kept as {in_title(own)}; a dot shows when something new fits", action="Undo",
                                 run=lambda: self._desk.start(self._desk.commands.remove_saved(own)))))

        ask_name(self._window, title="Save this search", action="Save", text=kept or text, refuse=refuse, done=keep,
                 note="It stands in the list on the left, below Search, with a dot when something new fits.")

    def run_saved(self, own: str) -> None:
        """Searches for what was kept; from now on it is looked at."""
        view = self._shelf.saved_search(own)
        if view is None:
            return
        self._looking = bool(view.fresh)
        self._set_mode(view.mode)
        self._window.search_for(view.text)

    def _on_searched(self, finished: Finished) -> None:
        if self._looking and finished.outcome is Outcome.DONE:
            self._looking = False
            self._ask_saved()

    def _set_mode(self, mode: Mode) -> None:
        now = self._desk.settings.number(WEIGHT)
        weight = {Mode.KEYWORD: 100, Mode.SEMANTIC: 0}.get(mode, now if 0 < now < 100 else BY_KEY[WEIGHT].default)
        if weight != now:
            self._desk.settings.set(WEIGHT, weight)

    def ask_rename_saved(self, own: str) -> None:
        """Asks for another name of a saved search."""
        view = self._shelf.saved_search(own)
        if view is None:
            return
        names = {each.name.casefold() for each in self._shelf.saved if each.name != own}
        ask_name(self._window, title="Rename saved search", action="Rename", text=own, note=view.text,
                 refuse=lambda text: "Another search is called that." if text.casefold() in names else "",
                 done=lambda text: self._rename_saved(view, text))

    def _rename_saved(self, view: SavedSearchView, text: str) -> None:
        if text != view.name:
            commands = self._desk.commands

            def forget(_saved: object) -> None:
                self._desk.start(commands.remove_saved(view.name))

            self._desk.start(commands.save_search(text, Query(text=view.text, mode=view.mode)), forget)

    def remove_saved(self, own: str) -> None:
        """Forgets a saved search."""
        view = self._shelf.saved_search(own)
        if view is None:
            return
        commands = self._desk.commands
        self._desk.start(commands.remove_saved(own), lambda _: self._desk.toast(
            f"Removed the saved search {in_title(own)}", action="Undo",
            run=lambda: self._desk.start(commands.save_search(own, Query(text=view.text, mode=view.mode)))))

    # ---- quotes and models

    def check_quotes(self, draft: object = None) -> None:
        """Opens "Check my quotes"."""
        from sbert_desktop.ui.quotes.sheet import open_quotes

        open_quotes(self._window, self._desk, draft)

    def get_model(self, suggested: str) -> None:
        """Goes to Models and offers to get one."""
        self._window.show_page("models")
        get = getattr(self._window.page("models"), "get_model", None)
        if get is not None:
            get(suggested)

    # ---- the palette

    def actions(self) -> list[tuple[str, Action]]:
        """Gives the commands with their groups."""
        out: list[tuple[str, Action]] = []
        if self._desk.can("save_search"):
            out.append(("Commands", Action("save_search", "Save this search...", self.save_current, "Ctrl+D", "star",
                                           enabled=lambda: self._current() is not None, bind=False)))
        if self._desk.can("quotes"):
            out.append(("Commands", Action("check_quotes", "Check my quotes...", self.check_quotes, "", "quote",
                                           "find each quotation of a draft in your library")))
        for number, view in enumerate(self._shelf.saved):
            out.append(("Saved searches", Action(f"saved_{number}", view.name, partial(self.run_saved, view.name), "",
                                                 "star", view.text)))
        for number, each in enumerate(self._shelf.collections):
            out.append(("Collections", Action(f"collection_{number}", each.name,
                                              partial(self.show_collection, each.name), "", "collection",
                                              words.counted(len(each.items), "passage"))))
        return out
