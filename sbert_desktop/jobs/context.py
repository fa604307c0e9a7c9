"""Job contexts: for a lane, and one that says nothing."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from sbert_desktop.domain import Event, JobId, Partial, Progress
from sbert_desktop.errors import Cancelled


class NullContext:
    """Says nothing and never ends; the default of tests and of calls without a window."""

    @property
    def paused(self) -> bool:
        """Never paused."""
        return False

    def check(self) -> None:
        """Goes on."""

    def progress(self, phase: str, done: int, total: int | None, detail: str = "") -> None:
        """Ignores it."""

    def partial(self, result: object) -> None:
        """Ignores it."""


class LaneContext:
    """The context of one job on a lane: may be cancelled and paused from any thread.

    Progress is posted at most every 50 ms, except where the phase changes or ends.
    """

    _EVERY = 0.05

    def __init__(self, job_id: JobId, post: Callable[[Event], None]) -> None:
        self.job_id = job_id
        self._post = post
        self._condition = threading.Condition()
        self._cancelled = False
        self._paused = False
        self._last: tuple[str, float] = ("", 0.0)

    @property
    def paused(self) -> bool:
        """True while ``check`` would wait."""
        return self._paused

    @property
    def cancelled(self) -> bool:
        """True after :meth:`cancel`."""
        return self._cancelled

    def cancel(self) -> None:
        """Makes the next ``check`` raise, also one that waits in a pause."""
        with self._condition:
            self._cancelled = True
            self._condition.notify_all()

    def pause(self) -> None:
        """Makes the next ``check`` wait."""
        with self._condition:
            self._paused = True

    def resume(self) -> None:
        """Lets it go on."""
        with self._condition:
            self._paused = False
            self._condition.notify_all()

    def check(self) -> None:
        """Waits while paused; raises Cancelled after a cancel."""
        if self._cancelled or self._paused:
            with self._condition:
                while self._paused and not self._cancelled:
                    self._condition.wait()
            if self._cancelled:
                raise Cancelled

    def progress(self, phase: str, done: int, total: int | None, detail: str = "") -> None:
        """Posts a Progress event, thinned out."""
        now = time.monotonic()
        last_phase, last_time = self._last
        if phase == last_phase and done != total and now - last_time < self._EVERY:
            return
        self._last = (phase, now)
        self._post(Progress(self.job_id, phase, done, total, detail))

    def partial(self, result: object) -> None:
        """Posts a Partial event."""
        self._post(Partial(self.job_id, result))
