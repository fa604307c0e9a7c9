"""Watches the children of a pool: slow files, too much processor time, too much memory."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, cast

from sbert_desktop.domain import Child, SourceFile

if TYPE_CHECKING:
    import psutil

SLOW = 1.0  # seconds after which a file counts as slow
_STEP = 0.2


class Watched:
    """What one child is doing now; written by its thread, read by the watcher."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.file: SourceFile | None = None
        self.since = 0.0
        self.told = False
        self.child: Child | None = None  # in a request
        self.process: psutil.Process | None = None
        self.processor_before = 0.0
        self.shares = 1.0
        self._cause = ""

    def wait_for_start(self) -> None:
        """Notes that a child has to be started first: that is not the file's time."""
        with self.lock:
            self.since = math.inf

    def started(self) -> None:
        """Notes that the child is there: the file's time begins."""
        with self.lock:
            self.since = time.monotonic()

    def request(self, child: Child, shares: float = 1.0) -> None:
        """Notes that a request begins: processor time counts from here on.

        Args:
            child: Who answers it.
            shares: So many times the limit of processor time are allowed (a large file has more of it).
        """
        import psutil

        pid = getattr(child, "pid", None)
        process, before = None, 0.0
        if isinstance(pid, int):
            with suppress(psutil.Error):
                process = self.process if self.process is not None and self.process.pid == pid else psutil.Process(pid)
                before = _seconds(process)
        with self.lock:
            self.child, self.process, self.processor_before, self._cause = child, process, before, ""
            self.shares = shares
            if not self.told:
                self.since = time.monotonic()

    def done(self) -> None:
        """Notes that a request is over."""
        with self.lock:
            self.child = None

    def end(self, cause: str) -> None:
        """Ends the child for a cause (code of a problem); the lock is held."""
        child, self.child = self.child, None
        if child is not None:
            self._cause = cause
            cast(Callable[[], None], getattr(child, "kill", child.close))()

    def ended_for(self) -> str:
        """Gives the code of the problem for which the child was ended, ``""`` if it was not; asked once."""
        with self.lock:
            cause, self._cause = self._cause, ""
        return cause


class Watcher:
    """One thread that looks at all children of a pool five times a second.

    Args:
        watched: What the children do.
        on_slow: See :class:`sbert_desktop.extraction.ExtractionPool`.
        cpu_limit: Seconds of processor time of one request.
        memory_limit: Bytes of resident memory, or None where the system limits it.
    """

    def __init__(self, watched: Sequence[Watched], on_slow: Callable[[SourceFile, bool], None] | None, *,
                 cpu_limit: float, memory_limit: int | None) -> None:
        self._watched = watched
        self._on_slow = on_slow
        self._cpu_limit = cpu_limit
        self._memory_limit = memory_limit
        self._thread: threading.Thread | None = None
        self._stopping = threading.Event()

    def start(self) -> None:
        """Begins to watch."""
        self._stopping.clear()
        self._thread = threading.Thread(target=self._watch, name="extraction-watcher", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Ends watching; waits for the thread."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    @contextmanager
    def watching(self, watched: Watched, file: SourceFile | None) -> Iterator[None]:
        """Notes that a file is under way (None: a batch, which is never slow)."""
        with watched.lock:
            watched.file, watched.since, watched.told = file, time.monotonic(), False
        try:
            yield
        finally:
            with watched.lock:
                told, watched.file = watched.told, None
            if told and file is not None and self._on_slow is not None:
                self._on_slow(file, False)

    def _watch(self) -> None:
        while not self._stopping.wait(_STEP):
            for watched in self._watched:
                self._look_at(watched)

    def _look_at(self, watched: Watched) -> None:
        import psutil

        with watched.lock:
            file = watched.file
            slow = (self._on_slow is not None and file is not None and not watched.told
                    and time.monotonic() - watched.since > SLOW)
            if slow and file is not None and self._on_slow is not None:
                watched.told = True
                self._on_slow(file, True)  # with the lock held: its end cannot overtake it
            if watched.child is None or watched.process is None:
                return
            with suppress(psutil.Error):
                if _seconds(watched.process) - watched.processor_before > self._cpu_limit * watched.shares:
                    watched.end("timed-out")
                elif self._memory_limit is not None and watched.process.memory_info().rss > self._memory_limit:
                    watched.end("too-much-memory")


def _seconds(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)
