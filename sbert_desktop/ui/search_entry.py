"""Puts the Search page into the window's frame."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import ClassVar

from PySide6.QtWidgets import QVBoxLayout

from sbert_desktop.app.views import DocumentView, LibraryView
from sbert_desktop.domain import Filters, Query
from sbert_desktop.ui.caption import edit_caption
from sbert_desktop.ui.page import Action, Desk, Page
from sbert_desktop.ui.search.page import SearchPage
from sbert_desktop.ui.theme import theme

OWN_ICONS = {"search_clear_filters": "close", "search_choose_folder": "folder", "search_choose_dates": "clock",
             "search_as_text": "text", "search_language": "info", "search_save": "star", "search_get_reader": "get",
             "search_caption": "pencil", "search_forget": "history", "search_next_hit": "chevron_right",
             "search_previous_hit": "up", "search_results_on_map": "map", "search_results_themes": "clusters"}


class SearchEntry(Page):
    """The Search page with its preview in the shared inspector."""

    key: ClassVar[str] = "search"
    title: ClassVar[str] = "Search"
    icon: ClassVar[str] = "search"

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self.setObjectName("search_entry")
        self.page = SearchPage(desk.commands, desk.bridge, theme, can=desk.can, has_page=desk.has_page)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.page)
        desk.inspector.set_content(self.key, self.page.inspector)
        self.page.statusMessage.connect(lambda text: desk.toast(text))
        self.page.undoOffered.connect(lambda text, undo: desk.toast(text, action="Undo", run=undo))
        self.page.collectWanted.connect(desk.collect)
        self.page.saveWanted.connect(desk.save_search)
        self.page.modelWanted.connect(desk.get_model)
        self.page.onward.answered.connect(desk.set_found)
        self.page.onward.goWanted.connect(desk.go_with)
        self.page.list.chosenChanged.connect(self._on_chosen)
        self.page.openRequested.connect(desk.show_page)
        self.page.inspectorWanted.connect(desk.inspector.set_open)
        self.page.captionWanted.connect(lambda document: edit_caption(
            self.window(), desk, document.path, document.member, self.page.library_changed))
        self.page.quotesWanted.connect(lambda: desk.check_quotes())
        self.page.filters.collections = lambda: [view.name for view in desk.shelf.collections]
        desk.inspector.toggled.connect(self.page.inspector_shown)
        desk.libraryChanged.connect(self._on_library_changed)
        desk.shelf.collectionsChanged.connect(self._on_collections_changed)
        if desk.library is not None:
            self.page.set_library(desk.library)

    def focus_first(self) -> None:
        self.page.focus_query()

    def search(self, words: str) -> None:
        """Searches for words."""
        if words:
            self.page.run(words)
        else:
            self.page.focus_query()

    def current_query(self) -> Query | None:
        """Gives the search as it stands; None while there are no words."""
        query = self.page.session.query()
        return query if query.text else None

    def search_in(self, folder: Path) -> None:
        """Narrows the search to a folder."""
        self.page.filters.set_filters(Filters(folder=folder))
        self.page.focus_query()

    def take_among(self, contents: tuple[int, ...], label: str) -> None:
        """Searches only in these documents."""
        self.page.search_among(contents, label)

    def _on_chosen(self, _number: int) -> None:
        documents = self.page.list.chosen_documents()
        self.desk.set_chosen(self.key, tuple(dict.fromkeys(each.content_id for each in documents)))

    def show_document(self, document: DocumentView) -> None:
        """Shows a document in the preview; the results stay as they are."""
        self.page.show_document(document)

    def search_by(self, path: Path) -> None:
        """Searches for documents like a file."""
        self.page.search_by_file(path)

    def actions_list(self) -> Sequence[Action]:
        return [Action(action.objectName(), action.text().replace("&", ""), action.trigger,
                       icon=self.page.list.row.icon_of(action) or OWN_ICONS.get(action.objectName(), "search"),
                       shortcut=action.shortcut().toString(), enabled=partial(self.page.possible, action),
                       bind=False)
                for action in self.page.actions() if action.text()]

    def _on_library_changed(self, view: LibraryView) -> None:
        self.page.set_library(view)

    def _on_collections_changed(self) -> None:
        # what a collection holds, or that there is one of this name, changes nothing that the library tells
        query = self.page.session.query()
        typed = self.desk.commands.parse(query.text).terms if query.text and self.desk.can("parse") else ()
        if query.filters.collections or any(term.field == "in" for term in typed):
            self.page.library_changed()
