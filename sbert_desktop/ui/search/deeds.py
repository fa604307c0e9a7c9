"""What is done with the chosen hits: verdicts, more and less like them, citations, export."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from sbert_desktop.app.interface import Commands
from sbert_desktop.app.views import HitView, SearchView
from sbert_desktop.domain import Finished, Outcome
from sbert_desktop.errors import SbertDesktopError
from sbert_desktop.ui.bridge import Bridge
from sbert_desktop.ui.naming import quick_path
from sbert_desktop.ui.saving import ask_target
from sbert_desktop.ui.search.citing import citations, put_on_clipboard
from sbert_desktop.ui.search.model import ResultModel, title_of
from sbert_desktop.ui.search.result_list import Chosen, ResultList
from sbert_desktop.ui.search.session import SearchSession, Steer
from sbert_desktop.ui.words import counted

EXPORTS: tuple[tuple[str, str], ...] = (
    ("Table", ".csv"), ("JSON", ".json"), ("Web page", ".html"), ("BibTeX", ".bib"))


class Deeds(QObject):
    """Signals: ``said(str)``, ``undoOffered(str, callable)``, ``judged(dict)`` - verdicts by passage id."""

    said = Signal(str)
    undoOffered = Signal(str, object)
    judged = Signal(object)

    def __init__(self, commands: Commands, bridge: Bridge, view: ResultList, session: SearchSession,
                 parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._commands, self._bridge, self._list, self._session = commands, bridge, view, session
        self._model: ResultModel = view.results

    # ---- verdicts -------------------------------------------------------------------------
    def judge(self, verdict: str, chosen: Chosen | None = None) -> None:
        """Keeps a verdict on hits, shows it at once, and offers to take it back."""
        chosen = self._list.chosen() if chosen is None else chosen
        query = self._session.text.strip()
        if not query or self._session.similar_path is not None or self._session.like:
            self.said.emit("Only results of a search with words can be judged")
            return
        hits = [hit for _, hit in chosen]
        before = {hit.passage_id: hit.judged for hit in hits}
        self._keep(query, hits, {hit.passage_id: verdict for hit in hits})
        what = counted(len(hits), "passage")
        words = {"relevant": f"Kept {what} as what you meant", "not relevant": f"Kept {what} as not what you meant"}
        self.undoOffered.emit(words.get(verdict, f"Took back the verdict on {what}"),
                              lambda: self._keep(query, hits, before))

    def _keep(self, query: str, hits: list[HitView], verdicts: Mapping[int, str]) -> None:
        shown = {}
        for hit in hits:
            verdict = verdicts[hit.passage_id]
            try:
                job = self._commands.judge(query, hit, verdict)
            except SbertDesktopError as error:
                self.said.emit(str(error))
                continue
            shown[hit.passage_id] = verdict
            self._bridge.watch(job, on_finished=partial(self._on_kept, hit))
        self._show(shown)

    def _on_kept(self, hit: HitView, event: Finished) -> None:
        if event.outcome is Outcome.FAILED and event.failure is not None:
            self._show({hit.passage_id: hit.judged})  # what was shown is not so
            self.said.emit(f"{event.failure.message} {event.failure.hint}".strip())

    def _show(self, verdicts: Mapping[int, str]) -> None:
        if verdicts:
            self._model.set_judged(verdicts)
            self.judged.emit(dict(verdicts))

    # ---- steering -------------------------------------------------------------------------
    def steer(self, sign: int) -> None:
        """Searches for more (+1) or less (-1) like the chosen hits, and offers to take it back."""
        if not self._session.text.strip() or self._session.similar_path is not None or self._session.like:
            self.said.emit("More and less like this need a search with words")
            return
        before = self._session.steer
        added = tuple(Steer(hit.passage_id, sign, title_of(document)) for document, hit in self._list.chosen())
        if not added:  # the current row is a link, not a hit
            return
        query = self._session.text
        self._session.set_steer((*before, *added))
        what = f"“{added[0].words}”" if len(added) == 1 else counted(len(added), "passage")
        words = f"{'More' if sign > 0 else 'Less'} like {what}"
        self.undoOffered.emit(words, lambda: self._unsteer(query, before))

    def _unsteer(self, query: str, before: tuple[Steer, ...]) -> None:
        # other words have begun without steering: passages of the old ones mean nothing there
        if self._session.text.strip() == query.strip():
            self._session.set_steer(before)

    # ---- out of the window ----------------------------------------------------------------
    def cite(self) -> None:
        """Copies the chosen passages with where they stand."""
        chosen = self._list.chosen()
        if chosen:
            put_on_clipboard(citations(chosen))
            self.said.emit("Citation copied" if len(chosen) == 1 else f"{len(chosen)} citations copied")

    def export(self, parent: QWidget) -> None:
        """Asks for a file and writes the chosen results, or all of them when only one is chosen."""
        view = self._model.view
        if view is None or not view.documents:
            return
        target = ask_target(parent, "Export results", str(Path.home() / "results.csv"), EXPORTS)
        if target is None:
            return
        try:
            job = self._commands.export_hits(self.chosen_view(view), target)
        except SbertDesktopError as error:
            self.said.emit(str(error))
            return
        self._bridge.watch(job, on_finished=lambda event: self._on_exported(event, target))

    def chosen_view(self, view: SearchView) -> SearchView:
        """Gives the answer with the chosen hits only, if several are chosen."""
        chosen = self._list.chosen()
        if len(chosen) < 2:
            return replace(view, documents=tuple(self._model.documents))
        ids = {hit.passage_id for _, hit in chosen}
        kept = [replace(document, hits=tuple(hit for hit in document.hits if hit.passage_id in ids), more=0)
                for document in self._model.documents]
        documents = tuple(document for document in kept if document.hits)
        return replace(view, documents=documents, passages_found=sum(len(each.hits) for each in documents))

    def _on_exported(self, event: Finished, target: Path) -> None:
        if event.outcome is Outcome.FAILED and event.failure is not None:
            self.said.emit(f"{event.failure.message} {event.failure.hint}".strip())
        elif event.outcome is Outcome.DONE:
            self.said.emit(f"Written to {quick_path(target.name)}")
