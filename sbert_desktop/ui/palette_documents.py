"""The documents that the command palette offers: found by name off the GUI thread, shown or opened."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final, cast

from PySide6.QtCore import QObject, QTimer, Signal

from sbert_desktop.app.views import DocumentView
from sbert_desktop.domain import Finished, short_path
from sbert_desktop.ui import icons
from sbert_desktop.ui.bridge import Latest
from sbert_desktop.ui.page import Action
from sbert_desktop.ui.search.model import place_of, title_of
from sbert_desktop.ui.words import counted

if TYPE_CHECKING:
    from sbert_desktop.ui.main_window import MainWindow

OFFERED: Final = 8  # documents; who wants more of them searches
WAIT_MS: Final = 80  # after a key: not every letter asks the library
LEAST: Final = 2  # letters; one stands in nearly every name


class DocumentFinder(QObject):
    """Asks for documents by name. ``found(words, tuple[DocumentView, ...])``."""

    found = Signal(str, object)

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._latest = Latest(window.bridge)
        self._words = ""
        self._wait = QTimer(self)
        self._wait.setSingleShot(True)
        self._wait.setInterval(WAIT_MS)
        self._wait.timeout.connect(self._ask)

    def ask(self, words: str) -> bool:
        """Asks soon for documents whose name or title holds the words; False when that is not asked."""
        self.drop()
        desk = self._window.desk
        if desk is None or not desk.can("documents") or len(words.strip()) < LEAST:
            return False
        self._words = words
        self._wait.start()
        return True

    def drop(self) -> None:
        """Ignores what still comes."""
        self._wait.stop()
        self._latest.drop()

    def _ask(self) -> None:
        desk, words = self._window.desk, self._words
        if desk is not None:
            self._latest.watch(desk.commands.documents(words.strip(), limit=OFFERED),
                               on_finished=lambda event: self._on_found(words, event))

    def _on_found(self, words: str, event: Finished) -> None:
        self._latest.job = None
        documents = event.result if isinstance(event.result, tuple) else ()  # a failed look is one that finds none
        self.found.emit(words, cast(tuple[DocumentView, ...], documents))

    def action(self, document: DocumentView) -> Action:
        """Makes the row of a document; running it shows the document in the preview."""
        return Action(f"document_{document.content_id}", title_of(document), lambda: self.show(document),
                      icon=icons.for_format(document.format), note=place_of(document))

    def folders(self) -> list[Action]:
        """Makes a row for each folder of the library; running it narrows the search to the folder."""
        desk = self._window.desk
        if desk is None or desk.library is None:
            return []
        return [Action(f"folder_{number}", short_path(folder.path), partial(desk.searchInRequested.emit, folder.path),
                       icon="folder", note=f"folder, {counted(folder.documents, 'document')}")
                for number, folder in enumerate(desk.library.folders)]

    def show(self, document: DocumentView) -> None:
        """Shows a document in the preview of the Search page."""
        window = self._window
        window.show_page("search")
        show = getattr(window.page("search"), "show_document", None)
        if show is None:
            return
        if not window.inspector.isVisible():
            window.toggle_inspector()
        show(document)

    def open(self, document: DocumentView) -> None:
        """Opens a document's file with the system's program."""
        desk = self._window.desk
        if desk is not None:
            desk.toast(f"Opening {title_of(document)}")
            desk.start(desk.commands.open_file(document.path, None))
