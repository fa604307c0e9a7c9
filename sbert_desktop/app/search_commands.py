"""The commands of the Search page; :class:`sbert_desktop.app.facade.App` inherits them."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from sbert_desktop.app import exporting, judging, marking, reranking, searching
from sbert_desktop.app.naming import find_documents
from sbert_desktop.app.views import HitView, Marks, SearchView, Span
from sbert_desktop.domain import JobContext, JobId, Mode, Parsed, Query, Snapshot
from sbert_desktop.errors import EncoderError
from sbert_desktop.explore import parse
from sbert_desktop.settings import Settings

if TYPE_CHECKING:
    from sbert_desktop.app.collecting import SavedSearches
    from sbert_desktop.app.live import Live
    from sbert_desktop.app.query_history import QueryHistory
    from sbert_desktop.app.session import Session
    from sbert_desktop.jobs import Jobs

_TYPING_SECONDS = 1.0


class SearchCommands:
    """Searching, likeness, quotations, earlier queries. See :class:`sbert_desktop.app.interface.Commands`."""

    settings: Settings
    _session: Session
    _jobs: Jobs
    _live: Live
    _saved: SavedSearches
    _queries: QueryHistory
    _kinds: tuple[tuple[str, ...], tuple[str, ...]]

    def typing(self) -> None:
        """Makes bulk work step aside; the cross-encoder in use is made ready for the query that comes."""
        self._session.hold_bulk(_TYPING_SECONDS)
        if self.settings.text("models.cross_encoder") and self.settings.text("search.rerank") != "0":
            self._session.second_stage.start()

    def search(self, query: Query) -> JobId:
        """Searches; the newest query wins."""
        self.typing()
        self._queries.asked(query.text)

        return self._jobs.submit("reader", "search", lambda context: self._answer(query, context), key="search")

    def _answer(self, query: Query, context: JobContext) -> SearchView:
        """First what was found, then in the order of the second stage, then the best sentences."""
        self._session.hold_bulk(_TYPING_SECONDS)
        found = searching.find(self._session, query, wait_for_model=False)
        view = searching.show(self._session, found, on_stale=self._live.stale)
        self._session.hold_bulk(_TYPING_SECONDS)
        context.check()
        context.partial(view)
        self._look_at_saved(query, found.snapshot)
        again = self._read_again(found, context)
        if again is not found:
            view = searching.show(self._session, again, on_stale=self._live.stale)
            context.partial(view)
        if query.mode is Mode.KEYWORD or not self.settings.flag("search.best_sentence"):
            return view
        spans: dict[int, Span] = {}
        for marks in marking.mark_some(self._session, view, context):
            context.check()
            context.partial(marks)
            spans.update(marks.spans)
        return marking.with_marks(view, Marks(spans))

    def _look_at_saved(self, query: Query, snapshot: Snapshot) -> None:
        """What is fresh for a saved search is seen now: its dot goes out."""
        if self._saved.has_fresh(query):
            self._jobs.submit("errand", "saved", lambda context: self._saved.looked_at(query, snapshot))

    def _read_again(self, found: searching.Found, context: JobContext) -> searching.Found:
        """Gives the answer in the cross-encoder's order; as it is where none is in use, or where it fails."""
        if not found.query.rerank or not found.results.documents:
            return found
        try:
            cross = self._session.second_stage.wait(context)
            return found if cross is None else reranking.rerank(found, cross, context, hold=self._session.hold_bulk)
        except EncoderError as error:
            return replace(found, notes=(*found.notes, f"{error.message} This is the order of the first search."))

    def parse(self, text: str) -> Parsed:
        """Gives what a typed query means; knows of kinds and languages what the last refresh told."""
        types, languages = self._kinds
        return parse(text, now=time.time(), types=types, languages=languages)

    def documents(self, words: str, *, limit: int = 8) -> JobId:
        """Finds documents by name or title; the newest words win."""

        def work(context: JobContext) -> object:
            return find_documents(self._session, words, limit=limit)

        return self._jobs.submit("reader", "documents", work, key="documents")

    def similar(self, path: Path, *, top: int = 10) -> JobId:
        """Finds documents like this one."""
        self.typing()
        return self._jobs.submit(
            "reader",
            "search",
            lambda context: searching.run_similar(self._session, path, top=top, on_stale=self._live.stale),
            key="search",
        )

    def similar_text(self, text: str, *, top: int = 10) -> JobId:
        """Finds documents like a pasted text."""
        self.typing()
        return self._jobs.submit(
            "reader",
            "search",
            lambda context: searching.run_similar_text(self._session, text, top=top, on_stale=self._live.stale),
            key="search",
        )

    def quotes(self, draft: Path | str) -> JobId:
        """Looks for the quotations of a draft."""

        def work(context: JobContext) -> object:
            from sbert_desktop.app.quoting import run_quotes

            return run_quotes(self._session, draft, context)

        return self._jobs.submit("study", "quotes", work, key="quotes")

    def family(self, hit: HitView) -> JobId:
        """Finds the versions of a hit's document."""

        def work(context: JobContext) -> object:
            from sbert_desktop.app.quoting import run_family

            return run_family(self._session, hit)

        return self._jobs.submit("study", "family", work, key="family")

    def judge(self, query: str, hit: HitView, verdict: str) -> JobId:
        """Keeps what the person says of a hit."""
        return self._jobs.submit("errand", "judge", lambda context: judging.judge(self._session, query, hit, verdict))

    def export_hits(self, view: SearchView, target: Path) -> JobId:
        """Writes hits in the form that the end of the name says."""
        return self._jobs.submit("helper", "export", lambda context: exporting.export_hits(view, target))

    def history(self) -> tuple[str, ...]:
        """Gives earlier queries, newest first."""
        return self._queries.texts()

    def clear_history(self) -> None:
        """Forgets them, on disk too."""
        self._queries.clear()
