"""Reads files through the pool in a thread of its own, a bounded number ahead of who stores them."""

from __future__ import annotations

import queue
import threading
from collections.abc import Sequence

from sbert_desktop.app.session import Session, cores
from sbert_desktop.domain import ExtractedText, JobContext, Problem, SourceFile
from sbert_desktop.errors import Cancelled, SbertDesktopError

_STORE_AHEAD = 256


class Mark:
    """A value that cannot come from a pool."""


NOTHING, END = Mark(), Mark()
Item = tuple[SourceFile, ExtractedText | Problem | None]


class Feeder:
    """Reads files through the pool in a thread of its own, a bounded number ahead."""

    def __init__(self, session: Session, files: Sequence[SourceFile], context: JobContext) -> None:
        self._items: queue.Queue[Item | Mark | BaseException] = queue.Queue(_STORE_AHEAD)
        self._stop = threading.Event()
        self._context = context
        library = session.library
        self._pool = session.extraction_pool(
            max(1, cores() // 2) if session.gentle() else cores(),
            known=lambda sha: library.has_content(sha) is not None,
        )
        self._thread = threading.Thread(target=self._run, args=(list(files),), name="extraction-feeder", daemon=True)
        self._thread.start()

    # The pool asks this object as its JobContext: it ends with the job or with the feeder.

    @property
    def paused(self) -> bool:
        """As the job's context."""
        return self._context.paused

    def check(self) -> None:
        """Ends the pool when the feeder is closed; waits in a pause."""
        if self._stop.is_set():
            raise Cancelled
        self._context.check()

    def progress(self, phase: str, done: int, total: int | None, detail: str = "") -> None:
        """Left to the run."""

    def partial(self, result: object) -> None:
        """Left to the run."""

    def take(self, *, wait: bool) -> Item | Mark:
        """Gives the next item, ``END``, or ``NOTHING`` when none is ready."""
        while True:
            try:
                item = self._items.get(timeout=0.2) if wait else self._items.get_nowait()
            except queue.Empty:
                self._context.check()
                if not wait:
                    return NOTHING
                continue
            if isinstance(item, BaseException):
                raise item
            return item

    def close(self) -> None:
        """Ends the children and the thread."""
        self._stop.set()
        self._pool.close()
        while self._thread.is_alive():
            try:
                self._items.get(timeout=0.05)
            except queue.Empty:
                continue
        self._thread.join()

    def _run(self, files: list[SourceFile]) -> None:
        end: Mark | BaseException = END
        try:
            for item in self._pool.results(files, self):
                self._put(item)
        except Cancelled:
            return
        except SbertDesktopError as error:
            end = error
        except Exception as error:
            end = error
        self._put(end)

    def _put(self, item: Item | Mark | BaseException) -> None:
        while not self._stop.is_set():
            try:
                self._items.put(item, timeout=0.2)
                return
            except queue.Full:
                continue
        raise Cancelled
