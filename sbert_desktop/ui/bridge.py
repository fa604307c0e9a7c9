"""The one door from worker threads into the window.

Workers call :meth:`Bridge.post`; the window watches jobs by id or by kind. Measured reason for the
shape (DESIGN section 4): a signal with a payload per event freezes the window in a burst, one
argument-less signal and a drained list do not. There is no lock around the lists: appending to a deque and setting
a key of a dict are single steps, while a busy worker that took a lock 200,000 times kept the GUI
thread waiting for it for up to 150 ms (seen with 2 cores).
"""

from __future__ import annotations

import gc
import sys
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import QObject, QTimer

from sbert_desktop.domain import Event, Finished, JobId, Partial, Progress, Started
from sbert_desktop.ui.doorbell import Doorbell

SLICE: Final = 0.008  # seconds of deliveries before the event loop gets its turn again


@dataclass(frozen=True, slots=True)
class _Watch:
    on_started: Callable[[Started], None] | None = None
    on_progress: Callable[[Progress], None] | None = None
    on_partial: Callable[[object], None] | None = None
    on_finished: Callable[[Finished], None] | None = None


class Bridge(QObject):
    """Carries events to the GUI thread and hands them to whoever watches the job.

    Of the Progress events of a job only the last one is kept; all others arrive, in order, and a
    job's last Progress arrives before its Finished. Events of jobs that nobody watches are dropped.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._events: deque[Event] = deque()
        self._progress: dict[JobId, Progress] = {}
        self._signalled = False
        self._delivering = False
        self._watches: dict[JobId, _Watch] = {}
        self._listeners: dict[str, list[_Watch]] = {}
        self._kinds: dict[JobId, str] = {}
        self._closed = False
        self._bell = Doorbell(self, self._on_arrived)

    def post(self, event: Event) -> None:
        """Takes an event; callable from any thread, never waits for the window."""
        if self._closed:
            return
        if isinstance(event, Progress):
            self._progress[event.job_id] = event
        else:
            self._events.append(event)
        # the event is in before the flag is read, and the flag falls before the list is drained:
        # whatever the order, an event is drained or a signal follows it
        if not self._signalled:
            self._signalled = True
            self._bell.ring()

    def watch(self, job_id: JobId, *, on_started: Callable[[Started], None] | None = None,
              on_progress: Callable[[Progress], None] | None = None,
              on_partial: Callable[[object], None] | None = None,
              on_finished: Callable[[Finished], None] | None = None) -> JobId:
        """Registers callbacks for one job until it ends; call it in the turn that started the job.

        ``on_partial`` gets the partial's result, ``on_finished`` the whole event. GUI thread only.
        """
        self._watches[job_id] = _Watch(on_started, on_progress, on_partial, on_finished)
        return job_id

    def unwatch(self, job_id: JobId | None) -> None:
        """Ignores everything that still comes from a job. GUI thread only."""
        if job_id is not None:
            self._watches.pop(job_id, None)

    def listen(self, kind: str, *, on_started: Callable[[Started], None] | None = None,
               on_progress: Callable[[Progress], None] | None = None,
               on_partial: Callable[[object], None] | None = None,
               on_finished: Callable[[Finished], None] | None = None) -> None:
        """Registers callbacks for every job of a kind, whoever started it. GUI thread only."""
        self._listeners.setdefault(kind, []).append(_Watch(on_started, on_progress, on_partial, on_finished))

    def close(self) -> None:
        """Takes and delivers nothing more."""
        self._closed = True
        self._bell.shut()
        self._events.clear()
        self._progress.clear()
        self._watches.clear()
        self._listeners.clear()

    def _on_arrived(self) -> None:
        self._signalled = False
        if not self._delivering:
            self._deliver()

    def _deliver(self) -> None:
        self._delivering = True
        until = time.perf_counter() + SLICE
        while self._events:
            event = self._events.popleft()
            if isinstance(event, Finished):
                last = self._progress.pop(event.job_id, None)
                if last is not None:
                    self._hand_over(last)
            self._hand_over(event)
            if self._events and time.perf_counter() > until:
                # a timer and not a posted event: those would all be served before the window is
                QTimer.singleShot(0, self, self._deliver)
                return
        self._delivering = False
        while self._progress:
            self._hand_over(self._progress.popitem()[1])

    def _hand_over(self, event: Event) -> None:
        job = event.job_id
        if isinstance(event, Started):
            self._kinds[job] = event.kind
        receivers = list(self._listeners.get(self._kinds.get(job, ""), ()))
        watch = self._watches.get(job)
        if watch is not None:
            receivers.append(watch)
        if isinstance(event, Finished):
            self._kinds.pop(job, None)
            self._watches.pop(job, None)
        for receiver in receivers:
            try:
                _call(receiver, event)
            except Exception:
                # one page's fault must not cost the other pages their events
                sys.excepthook(*sys.exc_info())


def _call(receiver: _Watch, event: Event) -> None:
    if isinstance(event, Started):
        if receiver.on_started is not None:
            receiver.on_started(event)
    elif isinstance(event, Progress):
        if receiver.on_progress is not None:
            receiver.on_progress(event)
    elif isinstance(event, Partial):
        if receiver.on_partial is not None:
            receiver.on_partial(event.result)
    elif receiver.on_finished is not None:
        receiver.on_finished(event)


class Latest:
    """Remembers the newest job of one view and watches only that; older answers never arrive."""

    def __init__(self, bridge: Bridge) -> None:
        self._bridge = bridge
        self.job: JobId | None = None

    def watch(self, job_id: JobId, *, on_progress: Callable[[Progress], None] | None = None,
              on_partial: Callable[[object], None] | None = None,
              on_finished: Callable[[Finished], None] | None = None) -> None:
        """Watches ``job_id`` and drops the one before."""
        if self.job != job_id:
            self._bridge.unwatch(self.job)
        self.job = job_id
        self._bridge.watch(job_id, on_progress=on_progress, on_partial=on_partial, on_finished=on_finished)

    def drop(self) -> None:
        """Ignores what still comes."""
        self._bridge.unwatch(self.job)
        self.job = None


class GuiCollector(QObject):
    """Collects garbage on the GUI thread only.

    A collection that starts in a worker thread can destroy Qt objects there. Automatic collection
    is off while this lives; a timer does the young generations often and the old one rarely.
    """

    def __init__(self, parent: QObject | None = None, *, every_ms: int = 500) -> None:
        super().__init__(parent)
        self._was_enabled = gc.isenabled()
        self._thresholds = gc.get_threshold()
        gc.disable()
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._on_timeout)
        self._timer.start(every_ms)

    def close(self) -> None:
        """Puts automatic collection back as it was."""
        self._timer.stop()
        if self._was_enabled:
            gc.enable()

    def _on_timeout(self) -> None:
        counts = gc.get_count()
        for generation in (2, 1, 0):
            if counts[generation] > self._thresholds[generation]:
                gc.collect(generation)
                return
