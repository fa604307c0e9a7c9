"""Brings answers into the list, and lets those wait that would move what is under the pointer."""

from __future__ import annotations

from PySide6.QtCore import QObject, Qt, Signal

from sbert_desktop.app.views import SearchView
from sbert_desktop.ui.search.area import ResultArea
from sbert_desktop.ui.search.model import Kind, Order, ResultModel
from sbert_desktop.ui.search.session import SearchSession
from sbert_desktop.ui.widgets import Button, announce
from sbert_desktop.ui.words import counted


class Arrival(QObject):
    """Takes each answer of the session: at once, in place, or behind the button ``newer``.

    Signals: ``shown(SearchView, final)`` when the list shows an answer; ``emptied(SearchView)`` when it
    holds no document.
    """

    shown = Signal(object, bool)
    emptied = Signal(object)

    def __init__(self, model: ResultModel, area: ResultArea, session: SearchSession, newer: Button,
                 parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._model, self._area, self._session, self._newer = model, area, session, newer
        self._list = area.list
        self._waiting: SearchView | None = None
        self._grow = False
        self.unchosen = False  # something else than a result is shown: no row is made current by itself
        newer.clicked.connect(self.show_waiting)

    def take(self, view: SearchView, quiet: bool, final: bool) -> None:
        """Takes an answer; a ``quiet`` one never moves a list that is in use."""
        self.unchosen = self.unchosen and quiet
        if not view.documents and quiet and self._area.has_results and self._in_use():
            self._hold(view, "Nothing fits any more – show")
        elif not view.documents:
            self.drop_waiting()
            self._model.set_view(view)
            self.emptied.emit(view)
        elif quiet:
            self._take_quietly(view, final)
        elif self._model.view is not None and self._area.has_results and self._is_same(view) and \
                self._model.update_view(view):
            self.shown.emit(view, final)
        else:
            self._grow = False
            self.drop_waiting()
            self._model.set_view(view, limit=self._session.top)
            self._area.show_only(self._list)
            self._list.scrollToTop()
            self._list.choose(0)
            self.shown.emit(view, final)

    def _is_same(self, view: SearchView) -> bool:
        shown = self._model.view
        return shown is not None and (shown.query, shown.mode, shown.filters) == (view.query, view.mode, view.filters)

    def _take_quietly(self, view: SearchView, final: bool) -> None:
        if not self._area.has_results:
            self._model.set_view(view, limit=self._session.top)
            self._area.show_only(self._list)
            self._list.choose(0)
            self.shown.emit(view, final)
        elif self._model.same_order(view) and self._model.rowCount():
            self.drop_waiting()
            self._model.update_view(view)
            self.shown.emit(view, final)
        elif self._wanted_by_person(view) or not self._in_use():
            self._replace(view, final)
        elif view.reranked:
            self._hold(view, "Better order ready – show")
        else:
            count = self._model.newer(view)
            self._hold(view, f"{counted(count, 'newer hit')} – show" if count else "A better order – show")

    def _in_use(self) -> bool:
        return self._list.pointer_is_over() or self._list.hasFocus()

    def _hold(self, view: SearchView, words: str) -> None:
        # nothing moves under the pointer: the new results wait behind a button
        self._waiting = view
        known = self._newer.isVisible() and self._newer.text() == words
        self._newer.setText(words)
        self._newer.show()
        if not known:
            announce(self._newer, words)

    def _wanted_by_person(self, view: SearchView) -> bool:
        # "Show more" keeps the rows above in their places, so it may grow the list under the pointer.
        before = [(d.content_id, d.path) for d in self._model.documents]
        after = [(d.content_id, d.path) for d in view.documents]
        return self._grow and (self._model.order is not Order.BEST or after[: len(before)] == before)

    def _replace(self, view: SearchView, final: bool = True) -> None:
        self._grow = False
        untouched = self._list.currentIndex().row() <= self._model.first_row() and bool(view.reranked)
        passage, offset = self.current_passage(), self._list.verticalScrollBar().value()
        self.drop_waiting()
        self._model.set_view(view, limit=self._session.top, keep_open=True)
        self.shown.emit(view, final)
        if not self.unchosen:
            self.choose_passage(-1 if untouched else passage)  # of a better order, the first is the best again
        self._list.doItemsLayout()
        self._list.verticalScrollBar().setValue(offset)

    def show_waiting(self) -> None:
        """Shows what waits."""
        if self._waiting is not None and not self._waiting.documents:
            self.take(self._waiting, False, True)
        elif self._waiting is not None:
            self._replace(self._waiting)
            self._list.scrollToTop()
            self._list.setFocus(Qt.FocusReason.OtherFocusReason)

    def drop_waiting(self) -> None:
        """Forgets what waits."""
        self._waiting = None
        self._newer.hide()

    def current_passage(self) -> int:
        """Gives the id of the current passage, -1 for none."""
        hit = self._list.current_hit()
        return hit.passage_id if hit is not None else -1

    def choose_passage(self, passage: int) -> None:
        """Makes a passage current, else the first row."""
        number = self._model.find(passage)
        self._list.choose(number if number >= 0 else 0)

    def want_more(self, number: int) -> None:
        """Fetches what the link of a row promises; the rows above stay where they are."""
        self._grow = True
        if self._model.row(number).kind is Kind.FOOTER:
            self._session.want_more()
        else:
            self._session.want_all_passages()
