"""Asks for clusters and changes them; one answer is in force at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final, cast

from PySide6.QtCore import QObject, QTimer, Signal

from sbert_desktop.app.atlas_views import (
    ClusterRequest,
    ClustersView,
    DocumentRow,
    SplitView,
    ThemeChange,
    ThemeDeed,
)
from sbert_desktop.domain import Failure, Finished, JobId, Outcome, Progress
from sbert_desktop.ui.bridge import Latest
from sbert_desktop.ui.page import Desk

LATER_MS: Final = 250  # a slider that moves, a choice that goes on: the last one is asked for
KEPT: Final = 8  # lists of documents kept for the clusters looked at last

Rows = tuple[DocumentRow, ...]


class ClusterFinder(QObject):
    """The question in force and its answer.

    ``began()``, ``progressed(Progress)``, ``answered(ClustersView)``, ``failed(Failure)``, ``cancelled()``;
    ``changed(ThemeChange, view before, view after)``; ``splitShown(SplitView | None)``.
    """

    began = Signal()
    progressed = Signal(object)
    answered = Signal(object)
    failed = Signal(object)
    cancelled = Signal()
    changed = Signal(object, object, object)
    splitShown = Signal(object)

    def __init__(self, desk: Desk, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._desk = desk
        self._latest = Latest(desk.bridge)
        self._documents = Latest(desk.bridge)
        self._split = Latest(desk.bridge)
        self.view: ClustersView | None = None
        self.scope: tuple[int, ...] = ()
        self.scope_label = ""
        self.looking = False
        self.changing = 0
        self._whole: ClustersView | None = None  # of the whole library, while only some documents are shown
        self._lists: dict[int, Rows] = {}
        self._loading: int | None = None
        self._waiting: list[tuple[Callable[[Rows], object], Callable[[Failure], object] | None]] = []
        self._splits: dict[int, SplitView] = {}
        self._wish: ClusterRequest | None = None
        self._split_wish = -1
        self._later = self._timer(self._send_wish)
        self._split_later = self._timer(self._ask_split)
        desk.themesChanged.connect(self._on_themes)
        desk.bridge.listen("clusters", on_progress=self._on_other_progress, on_finished=self._on_other_finished)

    def _timer(self, run: Callable[[], object]) -> QTimer:
        timer = QTimer(self)
        timer.setSingleShot(True)
        timer.setInterval(LATER_MS)
        timer.timeout.connect(run)
        return timer

    @property
    def job(self) -> JobId | None:
        """The job that is under way."""
        return self._latest.job

    def busy(self) -> bool:
        """True while clusters are found or changed."""
        return self.looking or self.changing > 0

    # ---- finding

    def ask(self, request: ClusterRequest | None = None, *, again: bool = False) -> None:
        """Asks for clusters: those that are stored, or found anew with a request or ``again``."""
        self._later.stop()
        self._wish = None
        self._send(request, again)

    def ask_later(self, request: ClusterRequest) -> None:
        """Asks when the slider rests."""
        self._wish = request
        self._later.start()

    def request(self) -> ClusterRequest:
        """Gives the request in force."""
        if self._wish is not None:
            return self._wish
        return self.view.request if self.view is not None else ClusterRequest()

    def cancel(self) -> None:
        """Gives up what is under way."""
        self._later.stop()
        self._wish = None
        if self._latest.job is not None:
            self._desk.commands.cancel(self._latest.job)
        elif self.looking:  # another page asked meanwhile, and the answer comes from there
            self.looking = False
            self.cancelled.emit()

    def show_among(self, contents: Sequence[int], label: str) -> None:
        """Finds clusters among some documents only; without any goes back to the whole library."""
        if not self.scope and contents:
            self._whole = self.view
        self.scope, self.scope_label = tuple(contents), label
        self._forget()
        if contents:
            self.view = None
            self._send(ClusterRequest(), False)
            return
        self._latest.drop()
        self.looking = False
        self.view, self._whole = self._whole, None
        if self._desk.themes is not None:
            self.view = self._desk.themes
        if self.view is None:
            self._send(None, False)
        else:
            self.answered.emit(self.view)

    def _send_wish(self) -> None:
        wish, self._wish = self._wish, None
        if wish is not None:
            self._send(wish, False)

    def _send(self, request: ClusterRequest | None, again: bool) -> None:
        self.looking = True
        job = self._desk.commands.clusters(request, again=again, contents=self.scope)
        self._latest.watch(job, on_progress=self.progressed.emit, on_finished=self._on_finished)
        self.began.emit()

    def _on_finished(self, finished: Finished) -> None:
        self._latest.job = None
        if finished.outcome is Outcome.DONE and isinstance(finished.result, ClustersView):
            self._take(finished.result)
        elif finished.outcome is Outcome.FAILED:
            self.looking = False
            self.failed.emit(finished.failure or Failure("unknown", "The clusters could not be found.", ""))
        elif finished.outcome is Outcome.SUPERSEDED and not self.scope:
            pass  # another page asked for the same: its answer comes to all
        else:
            self.looking = False
            self.cancelled.emit()

    def _on_themes(self, view: ClustersView) -> None:
        if self.scope:
            self._whole = view
        elif self._latest.job is None and self.changing == 0 and view is not self.view:
            self._take(view)

    def _on_other_progress(self, progress: Progress) -> None:
        if self.looking and self._latest.job is None and not self.scope:
            self.progressed.emit(progress)

    def _on_other_finished(self, finished: Finished) -> None:
        # what another page asked for in our place did not come to an answer either
        if self.looking and self._latest.job is None and not self.scope and \
                finished.outcome not in (Outcome.DONE, Outcome.SUPERSEDED):
            self.looking = False
            if finished.outcome is Outcome.FAILED and finished.failure is not None:
                self.failed.emit(finished.failure)
            else:
                self.cancelled.emit()

    def _take(self, view: ClustersView) -> None:
        self.looking = False
        if view is not self.view:
            self._forget()
        self.view = view
        self.answered.emit(view)

    def _forget(self) -> None:
        self._lists.clear()
        self._splits.clear()
        self._loading, self._waiting = None, []
        self._documents.drop()
        self._split.drop()

    # ---- changing

    def change(self, change: ThemeChange) -> None:
        """Changes clusters; ``changed`` tells when it is done."""
        before = self.view
        self.changing += 1

        def on_finished(finished: Finished) -> None:
            self.changing -= 1
            if finished.outcome is Outcome.DONE and isinstance(finished.result, ClustersView):
                if not self.scope:
                    self._take(finished.result)
                self.changed.emit(change, before, finished.result)
            elif self.view is not None:
                self._desk.report_failure(finished)
                self.answered.emit(self.view)  # what was moved by hand goes back to its place

        self._desk.bridge.watch(self._desk.commands.change_clusters(change), on_finished=on_finished)
        self.began.emit()

    def undo(self) -> None:
        """Takes the last change back."""
        if self.view is not None and self.view.undo and not self.scope:
            self.change(ThemeChange(ThemeDeed.UNDO))

    def redo(self) -> None:
        """Does it again."""
        if self.view is not None and self.view.redo and not self.scope:
            self.change(ThemeChange(ThemeDeed.REDO))

    # ---- documents of a cluster

    def documents_of(self, theme: int) -> Rows | None:
        """Gives the documents of a cluster if they are known already."""
        return self._lists.get(theme)

    def load_documents(self, theme: int, done: Callable[[Rows], object],
                       failed: Callable[[Failure], object] | None = None) -> None:
        """Gives the documents of a cluster to ``done``; the newest wish alone is answered."""
        known = self._lists.get(theme)
        if known is not None:
            done(known)
            return

        asked = (done, failed)
        if self._loading == theme:
            self._waiting.append(asked)
            return
        self._loading, self._waiting = theme, [asked]
        self._documents.watch(self._desk.commands.theme_documents(theme, scope=self.scope),
                              on_finished=self._on_documents)

    def _on_documents(self, finished: Finished) -> None:
        theme, waiting = self._loading, self._waiting
        self._documents.job = None
        self._loading, self._waiting = None, []
        if finished.outcome is Outcome.DONE and isinstance(finished.result, tuple) and theme is not None:
            rows = cast(Rows, finished.result)
            while len(self._lists) >= KEPT:
                self._lists.pop(next(iter(self._lists)))
            self._lists[theme] = rows
            for done, _ in waiting:
                done(rows)
        elif finished.outcome is Outcome.FAILED and finished.failure is not None:
            told = [failed for _, failed in waiting if failed is not None]
            for failed in told:
                failed(finished.failure)
            if not told:
                self._desk.show_failure(finished.failure)

    # ---- what a split would make

    def show_split(self, theme: int) -> None:
        """Tells by ``splitShown`` what splitting a cluster would make, when the choice rests."""
        self._split_later.stop()
        self._split_wish = theme
        known = self._splits.get(theme)
        if known is not None or theme < 0 or self.scope:
            self._split.drop()
            self.splitShown.emit(known)
        else:
            self._split_later.start()

    def _ask_split(self) -> None:
        wanted = self._split_wish
        if wanted < 0 or self.scope:
            return

        def on_finished(finished: Finished) -> None:
            self._split.job = None
            if finished.outcome is Outcome.DONE and isinstance(finished.result, SplitView):
                self._splits[finished.result.theme] = finished.result
                if finished.result.theme == self._split_wish:
                    self.splitShown.emit(finished.result)
            elif finished.outcome is Outcome.FAILED and finished.failure is not None:
                self.splitShown.emit(SplitView(wanted, (), finished.failure.message))

        self._split.watch(self._desk.commands.split_preview(wanted), on_finished=on_finished)

    def close(self) -> None:
        """Stops timers (the page is not in front)."""
        self._split_later.stop()

    def without_detail(self) -> ClusterRequest:
        """Gives the request in force without a number and a lean."""
        return replace(self.request(), count=None, detail=0.0)
