"""Takes what was found to other pages, and tells them what the search in front found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from PySide6.QtCore import QObject, Signal

from sbert_desktop.domain import Query
from sbert_desktop.ui.search.area import ResultArea
from sbert_desktop.ui.search.arrival import Arrival
from sbert_desktop.ui.search.citing import short_text
from sbert_desktop.ui.search.filters import FilterBar
from sbert_desktop.ui.search.model import ResultModel, title_of
from sbert_desktop.ui.search.session import SearchSession
from sbert_desktop.ui.words import counted


class Onward(QObject):
    """What is listed, for the map and the clusters.

    Signals: ``answered(Query, content ids)`` when the list shows an answer, ``answered(None, ())`` when nothing is
    searched for; ``goWanted(page, content ids, what they are)``. ``has_page`` tells whether there is a page.
    """

    answered = Signal(object, object)
    goWanted = Signal(str, object, str)

    def __init__(self, model: ResultModel, area: ResultArea, session: SearchSession, filters: FilterBar,
                 arrival: Arrival, has_page: Callable[[str], bool], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._model, self._area, self._session, self._filters = model, area, session, filters
        self.has_page = has_page
        for signal in (arrival.shown, arrival.emptied):
            signal.connect(lambda *_: self.answered.emit(self.query(), self.found()))
        for signal in (session.cleared, session.failed):
            signal.connect(lambda *_: self.answered.emit(None, ()))
        area.list.mapWanted.connect(self.show_chosen)

    def found(self) -> tuple[int, ...]:
        """Gives the content ids of the documents listed."""
        view = self._model.view
        documents = view.documents if view is not None and self._area.has_results else ()
        return tuple(dict.fromkeys(document.content_id for document in documents))

    def can_take(self, page: str) -> bool:
        """True while there are results, and a page that they can be taken to."""
        return self.has_page(page) and bool(self.found())

    def query(self) -> Query:
        """Gives the search whose results are listed; its ``text`` is "" when they are like a document."""
        session, view = self._session, self._model.view
        query = session.query()
        if session.similar_path is not None or session.like:
            return replace(query, text="", like=session.like)
        return replace(query, parsed=view.parsed if view is not None else None)

    def take_results(self, page: str) -> None:
        """Goes to another page with the documents listed."""
        if self.can_take(page):
            contents = self.found()
            self.goWanted.emit(page, contents, f"{counted(len(contents), 'document')} {self._how()}")

    def show_chosen(self) -> None:
        """Goes to the map with the documents of the rows chosen."""
        documents = self._area.list.chosen_documents()
        contents = tuple(dict.fromkeys(each.content_id for each in documents))
        if contents and self.has_page("map"):
            label = short_text(title_of(documents[0]), 60) if len(contents) == 1 else \
                f"{counted(len(contents), 'document')} {self._how()}"
            self.goWanted.emit("map", contents, label)

    def _how(self) -> str:
        session = self._session
        if session.similar_path is not None:
            return f"similar to “{self._filters.similar_chip.value()}”"
        if session.like:
            return f"similar to “{short_text(session.like, 40)}”"
        return f"found for “{short_text(session.text, 40)}”"
