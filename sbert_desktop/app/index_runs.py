"""The indexing runs of a program that is open: which of them wait, and how other work gets ahead of them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from sbert_desktop.app.indexing import IndexRequest
from sbert_desktop.app.session import Session
from sbert_desktop.app.views import IndexReport
from sbert_desktop.domain import JobContext, JobId
from sbert_desktop.jobs import Jobs

_PLAIN = IndexRequest(keep_leaving=True)


class IndexRuns:
    """Puts indexing on the writer lane; every method may be called from any thread.

    What has to come first makes the runs step aside: they are cancelled, and begun again after it.

    Args:
        session: The opened library.
        jobs: The lanes.
        run: Does one request, in the writer lane's thread.
    """

    def __init__(self, session: Session, jobs: Jobs, run: Callable[[IndexRequest, JobContext], object]) -> None:
        self._session = session
        self._jobs = jobs
        self._run = run
        self._lock = threading.Lock()
        self._requests: dict[JobId, IndexRequest] = {}
        self._stopped = False

    @property
    def indexing(self) -> bool:
        """Whether a run is under way or waits."""
        return "index" in self._jobs.kinds("writer")

    def run(self, request: IndexRequest) -> JobId:
        """Runs a request after those that wait."""
        return self.submit(request, lambda context: self._run(request, context))

    def submit(self, request: IndexRequest, work: Callable[[JobContext], object]) -> JobId:
        """Does the work in a request's place: what makes the runs step aside has the request begun again."""

        def run(context: JobContext) -> object:
            report = work(context)
            if isinstance(report, IndexReport) and report.preparing:
                self.go_on()  # it let others pass: taken up after them
            return report

        job = self._jobs.submit("writer", "index", run)
        with self._lock:
            running = set(self._jobs.ids("writer"))
            self._requests = {known: old for known, old in self._requests.items() if known in running}
            self._requests[job] = request
        return job

    def go_on(self) -> None:
        """Has what is left to do done after what waits; nothing once the program closes."""
        if not self._stopped:
            self.run(_PLAIN)

    def first(self, request: IndexRequest) -> JobId:
        """Runs a request ahead of the others."""
        return self.ahead(lambda: self.run(request))

    def ahead(self, start: Callable[[], JobId], *, go_on: bool = False) -> JobId:
        """Has a job of the writer lane come ahead of the runs.

        Args:
            start: Submits it.
            go_on: Follow it with a run even where none stepped aside.
        """
        after = self._step_aside()
        job = start()
        for request in after or ([_PLAIN] if go_on else []):
            if not self._stopped:
                self.run(request)
        return job

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Keeps the runs off while the space in force changes; one follows in any case, which comes to its model."""
        after = self._step_aside()
        try:
            yield
        finally:
            if not (self._session.library.read_only or self._stopped):
                for request in after or [_PLAIN]:
                    self.run(request)

    def others_wait(self) -> bool:
        """Says whether something waits behind an indexing run that this does not look after between two steps."""
        with self._lock:
            known = self._jobs.ids("writer")
            behind = [request for job, request in self._requests.items() if job in known][1:]
        others = self._jobs.kinds("writer") - {"index", "errand"}
        return bool(others) or any(request != _PLAIN for request in behind)

    def stop(self) -> None:
        """Lets nothing be begun again any more."""
        self._stopped = True

    def _step_aside(self) -> list[IndexRequest]:
        """Cancels what indexes or waits to; gives what has to be begun again after."""
        with self._lock:
            waiting = self._jobs.ids("writer")
            stopped = [request for job, request in self._requests.items() if job in waiting]
        if stopped:
            self._jobs.cancel_kind("writer", "index")
        again = [replace(request, keep_leaving=True) for request in stopped if request != IndexRequest()]
        plain = [_PLAIN] if stopped else []
        return [*(request for request in again if not request.empty), *plain]
