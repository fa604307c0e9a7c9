"""Keeps a library up to date while the program runs: watches folders, collects what changed, has it read.

What comes up while a long run goes on is done by that run between two steps; else one short job on the
writer lane does it. However many changes come in, at most one such job waits.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, cast

from sbert_desktop.app import indexing
from sbert_desktop.app.reporting import Reporter
from sbert_desktop.app.session import Session
from sbert_desktop.app.views import IndexReport
from sbert_desktop.app.waiting import Errand, Waiting
from sbert_desktop.domain import JobContext, JobId
from sbert_desktop.errors import Cancelled
from sbert_desktop.jobs import Jobs

if TYPE_CHECKING:
    from sbert_desktop.app.watching import Watching
    from sbert_desktop.library import Writer

_FIRST_AGAIN, _LAST_AGAIN = 5.0, 300.0
"""Seconds after which a file that somebody writes to is tried again, at first and at most."""
_STALE_AFTER, _STALE_WAITS = 3.0, 3
"""Seconds until a stale file is looked at; so many times longer at most while whoever watches has yet to tell."""

T = TypeVar("T")
SubmitIndex = Callable[[indexing.IndexRequest, Callable[[JobContext], object]], JobId]


class Live:
    """Watches, collects and runs; every method may be called from any thread.

    Args:
        session: The opened library.
        jobs: The lanes.
        submit: Queues an indexing job on the writer lane.
    """

    def __init__(self, session: Session, jobs: Jobs, submit: SubmitIndex) -> None:
        self._session = session
        self._jobs = jobs
        self._submit = submit
        self._waiting = Waiting()
        self._lock = threading.Lock()
        self._watching: Watching | None = None
        self._check_job: JobId | None = None
        self._stopped = False
        self._again: threading.Timer | None = None
        self._again_after = _FIRST_AGAIN
        self._again_at = 0.0
        self._stale: set[Path] = set()
        self._stale_timer: threading.Timer | None = None
        self._stale_waits = 0
        session.settings.subscribe(self._on_setting)

    # ------------------------------------------------------------- watching

    def follow(self) -> None:
        """Watches the folders of the library as they are now, or none where the settings say so."""
        if self._ended() or self._session.library.read_only:
            return
        wanted = self._session.settings.flag("indexing.watch")
        folders = [(r.path, r.rules) for r in self._session.library.folders() if r.state == "active"]
        with self._lock:
            if self._ended():
                return
            watching = self._watching
            if watching is None:
                if not wanted or not folders:
                    return
                from sbert_desktop.app.watching import Watching

                watching = self._watching = Watching(
                    self.changed, skip=(self._session.library.path,), settings=self._session.settings
                )
                self._session.watch_states = watching.states
                watching.start(folders)
                return
        watching.update(folders if wanted else [])

    def _ended(self) -> bool:
        return self._stopped

    def changed(self, paths: Iterable[Path]) -> None:
        """Takes note of files and folders to look at."""
        if not self._stopped and not self._session.library.read_only:
            self.check(tuple(paths))

    def stale(self, paths: Iterable[Path]) -> None:
        """Takes note of shown files that changed or are gone.

        A moment later, for what is gone here may have moved: then whoever watches names both places, and the
        file keeps its vectors.
        """
        with self._lock:
            if self._ended():
                return
            self._stale.update(paths)
            if self._stale_timer is None:
                self._stale_waits = 0
                self._tell_stale_later()

    def _tell_stale_later(self) -> None:
        self._stale_timer = threading.Timer(_STALE_AFTER, self._tell_stale)
        self._stale_timer.daemon = True
        self._stale_timer.start()

    def _tell_stale(self) -> None:
        with self._lock:
            if self._ended():
                return
            watching = self._watching
            if watching is not None and watching.has_pending() and self._stale_waits < _STALE_WAITS:
                self._stale_waits += 1
                self._tell_stale_later()
                return
            paths, self._stale = self._stale, set()
            self._stale_timer = None
        self.changed(paths)

    def stop(self) -> None:
        """Ends watching; what waits is found by the next start."""
        with self._lock:
            self._stopped = True
            watching, self._watching = self._watching, None
            for timer in (self._again, self._stale_timer):
                if timer is not None:
                    timer.cancel()
        if watching is not None:
            watching.stop()

    def _on_setting(self, key: str) -> None:
        if key in {"indexing.watch", "indexing.hidden", "indexing.exclude", "indexing.gitignore"} and not self._stopped:
            self._jobs.submit("helper", "watch", lambda context: self.follow(), key="watch")

    # ------------------------------------------------------------- runs

    def run(self, request: indexing.IndexRequest, context: JobContext) -> IndexReport:
        """Runs one request; looks after what comes up meanwhile, and watches new folders."""
        if request.add or request.folder is not None:
            context = _FollowSoon(context, self.follow)
        try:
            return indexing.run_index(
                self._session, request, context, waiting=self._waiting, on_unsettled=self._try_again
            )
        finally:
            self.follow()

    def check(self, paths: Sequence[Path], *, retry: Sequence[Path] = ()) -> JobId:
        """Has paths looked at; joins a job that waits already."""
        with self._lock:
            self._waiting.note(paths, retry)
            if self._check_job is not None and self._check_job in self._jobs.ids("writer"):
                return self._check_job  # one that was cancelled while it waited never comes to its turn
            self._check_job = self._submit(indexing.IndexRequest(keep_leaving=True), self._check)
            return self._check_job

    def _check(self, context: JobContext) -> object:
        with self._lock:
            self._check_job = None
            look = self._waiting.take()
        if not look:  # a run that went on did it
            return Reporter(self._session, context).report()
        request = indexing.IndexRequest(only=tuple(look.paths), retry=tuple(look.retry), keep_leaving=True)
        try:
            return indexing.run_index(
                self._session, request, context, waiting=self._waiting, on_unsettled=self._try_again
            )
        except Cancelled:
            self._waiting.note(look.paths, look.retry)
            raise

    def errand(self, work: Callable[[Writer], T], context: JobContext) -> T:
        """Has a small change made by whoever holds the writer, and waits for it. Not on the writer lane."""
        errand = Errand(work)
        self._waiting.add(cast(Errand[object], errand))
        self._jobs.submit("writer", "errand", self._run_errands)
        return errand.wait(context)

    def _run_errands(self, context: JobContext) -> object:
        with self._session.library.writer(
            on_wait=lambda holder: context.progress(f"Waiting for {holder}", 0, None), check=context.check
        ) as writer:
            self._waiting.run_errands(writer)
        return None

    def _try_again(self, paths: frozenset[Path]) -> None:
        """Looks again soon at files that somebody was writing to; less and less often while that goes on."""
        with self._lock:
            now = time.monotonic()
            if now - self._again_at > 2 * self._again_after:
                self._again_after = _FIRST_AGAIN
            if self._stopped:
                return
            if self._again is not None:
                self._again.cancel()
            self._again = threading.Timer(self._again_after, self.changed, [paths])
            self._again.daemon = True
            self._again.start()
            self._again_at = now + self._again_after
            self._again_after = min(_LAST_AGAIN, self._again_after * 2)


class _FollowSoon:
    """A context that begins to watch once the run's first state is told: the folder is in the library then."""

    def __init__(self, context: JobContext, follow: Callable[[], None]) -> None:
        self._context = context
        self._follow: Callable[[], None] | None = follow

    @property
    def paused(self) -> bool:
        """As the job's context."""
        return self._context.paused

    @property
    def cancelled(self) -> bool:
        """As the job's context."""
        return bool(getattr(self._context, "cancelled", False))

    def check(self) -> None:
        """As the job's context."""
        self._context.check()

    def progress(self, phase: str, done: int, total: int | None, detail: str = "") -> None:
        """As the job's context."""
        self._context.progress(phase, done, total, detail)

    def partial(self, result: object) -> None:
        """As the job's context; the first one is told after the folders were added."""
        self._context.partial(result)
        follow, self._follow = self._follow, None
        if follow is not None:
            follow()
