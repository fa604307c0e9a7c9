"""What waits for the writer: files that changed, files to be read again, and small errands of the person.

A long indexing run looks in here between two steps, so that none of them waits for its end.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from sbert_desktop.domain import JobContext

if TYPE_CHECKING:
    from sbert_desktop.library import Writer

_POLL = 0.05
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Look:
    """Paths to look at, and of these the ones to be read again though they look unchanged."""

    paths: frozenset[Path] = frozenset()
    retry: frozenset[Path] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.paths or self.retry)


class Errand(Generic[T]):
    """One small change of the library; whoever holds the writer does it, whoever asked waits for it."""

    def __init__(self, work: Callable[[Writer], T]) -> None:
        self._work = work
        self._done = threading.Event()
        self._cancelled = False
        self._result: T | None = None
        self._error: BaseException | None = None

    def perform(self, writer: Writer) -> None:
        """Does it; what goes wrong is told to who asked."""
        if self._cancelled:
            return
        try:
            self._result = self._work(writer)
        except Exception as error:
            self._error = error
        self._done.set()

    def wait(self, context: JobContext) -> T:
        """Waits until it is done and gives its result, or raises what went wrong."""
        try:
            while not self._done.wait(_POLL):
                context.check()
        except BaseException:
            self._cancelled = True
            raise
        if self._error is not None:
            raise self._error
        return self._result  # type: ignore[return-value]


class Waiting:
    """Safe from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._paths: set[Path] = set()
        self._retry: set[Path] = set()
        self._errands: deque[Errand[object]] = deque()

    def __bool__(self) -> bool:
        with self._lock:
            return bool(self._paths or self._retry or self._errands)

    def note(self, paths: Iterable[Path] = (), retry: Iterable[Path] = ()) -> None:
        """Adds paths to look at."""
        with self._lock:
            self._paths.update(paths)
            self._retry.update(retry)

    def take(self) -> Look:
        """Gives all paths that wait, and forgets them."""
        with self._lock:
            look = Look(frozenset(self._paths), frozenset(self._retry))
            self._paths.clear()
            self._retry.clear()
        return look

    def add(self, errand: Errand[object]) -> None:
        """Adds an errand."""
        with self._lock:
            self._errands.append(errand)

    def run_errands(self, writer: Writer) -> bool:
        """Does all errands that wait; True if there were any."""
        any_done = False
        while True:
            with self._lock:
                errand = self._errands.popleft() if self._errands else None
            if errand is None:
                return any_done
            writer.commit()  # what an errand cannot do is rolled back: only the errand's own
            errand.perform(writer)
            any_done = True
