"""Reads files in a thread of its own, a bounded number ahead of who stores them."""

from __future__ import annotations

import contextlib
import os
import queue
import threading
from collections.abc import Callable, Iterator, Sequence

from sbert_desktop.app.session import Session, cores
from sbert_desktop.domain import ExtractedText, JobContext, Listing, Problem, SourceFile
from sbert_desktop.errors import Cancelled, SbertDesktopError

_STORE_AHEAD = 256
_CHARACTERS_AHEAD = 6_000_000
"""Text that may wait to be stored: parts of a huge file have 4 MB each; a queue full of them would be a gigabyte."""
_FILES_PER_CHILD = 4


class Mark:
    """A value that cannot come from a pool."""


NOTHING, END = Mark(), Mark()
Outcome = ExtractedText | Problem | Listing | None
Item = tuple[SourceFile, Outcome]
Source = Callable[[JobContext], Iterator[Item]]


class Feeder:
    """Runs a source of results in a thread, a bounded number ahead of who takes them.

    Args:
        source: Gives the results; its context is this object: it ends with the job or with the feeder.
        context: Of the job.
        close: Ends what the source waits for (its children).
    """

    def __init__(self, source: Source, context: JobContext, close: Callable[[], None]) -> None:
        self._items: queue.Queue[Item | Mark | BaseException] = queue.Queue(_STORE_AHEAD)
        self._room = threading.Condition()
        self._characters = 0  # of the texts in the queue
        self._stop = threading.Event()
        self._context = context
        self._close = close
        self._thread = threading.Thread(target=self._run, args=(source,), name="extraction-feeder", daemon=True)
        self._thread.start()

    # The source asks this object as its JobContext.

    @property
    def paused(self) -> bool:
        """As the job's context."""
        return self._context.paused

    def check(self) -> None:
        """Ends the source when the feeder is closed; waits in a pause."""
        if self._stop.is_set():
            raise Cancelled
        self._context.check()

    def progress(self, phase: str, done: int, total: int | None, detail: str = "") -> None:
        """Left to the run."""

    def partial(self, result: object) -> None:
        """Left to the run."""

    def take(self, *, wait: bool) -> Item | Mark:
        """Gives the next item, ``END``, or ``NOTHING`` when none is ready (after 0.2 s at most)."""
        try:
            item = self._items.get(timeout=0.2) if wait else self._items.get_nowait()
        except queue.Empty:
            self._context.check()
            return NOTHING
        if isinstance(item, BaseException):
            raise item
        with self._room:
            self._characters -= _characters_of(item)
            self._room.notify()
        return item

    def close(self) -> None:
        """Ends the children and the thread."""
        self._stop.set()
        self._close()
        while self._thread.is_alive():
            try:
                self._items.get(timeout=0.05)
            except queue.Empty:
                continue
        self._thread.join()

    def _run(self, source: Source) -> None:
        end: Mark | BaseException = END
        try:
            for item in source(self):
                self._put(item)
        except Cancelled:
            return
        except SbertDesktopError as error:
            end = error
        except Exception as error:
            end = error
        with contextlib.suppress(Cancelled):  # closed meanwhile: nobody waits for the end
            self._put(end)

    def _put(self, item: Item | Mark | BaseException) -> None:
        size = _characters_of(item)
        with self._room:
            while self._characters and self._characters + size > _CHARACTERS_AHEAD and not self._stop.is_set():
                self._room.wait(0.2)
            self._characters += size
        while not self._stop.is_set():
            try:
                self._items.put(item, timeout=0.2)
                return
            except queue.Full:
                continue
        raise Cancelled


def _characters_of(item: Item | Mark | BaseException) -> int:
    outcome = item[1] if isinstance(item, tuple) else None
    if isinstance(outcome, Listing):
        outcome = outcome.document
    return len(outcome.text) if isinstance(outcome, ExtractedText) else 0


def read_through_pool(
    session: Session, files: Sequence[SourceFile], context: JobContext, *, afresh: bool = False
) -> Feeder:
    """Begins to read files in children.

    Files under way for long are noted in the library, so that a run after a kill knows whom to skip.

    Args:
        session: The opened library.
        files: What to read, in this order.
        context: Of the job.
        afresh: Read also what the library has the text of.
    """
    library = session.library
    under_way = _UnderWay(session)
    most = max(1, cores() // 2) if session.gentle() else cores()
    pool = session.extraction_pool(
        max(1, min(most, -(-len(files) // _FILES_PER_CHILD))),
        known=None if afresh else lambda sha: library.has_content(sha) is not None,
        on_slow=under_way.note,
    )

    def close() -> None:
        pool.close()
        under_way.forget()

    return Feeder(lambda inner: pool.results(list(files), inner), context, close)


class _UnderWay:
    """Notes on disk which files are being read, so that the one that a kill interrupted is known."""

    def __init__(self, session: Session) -> None:
        self._library = session.library
        self._noted: set[bytes] = set()
        self._lock = threading.Lock()

    def note(self, file: SourceFile, begins: bool) -> None:
        """Called from the pool's threads."""
        path = os.fsencode(file.path)
        with self._lock:
            if begins:
                self._library.note_reading(path, file.size, file.mtime_ns)
                self._noted.add(path)
            elif path in self._noted:
                self._library.done_reading(path)
                self._noted.discard(path)

    def forget(self) -> None:
        """The run ends in good order: nothing was interrupted by a kill."""
        with self._lock:
            for path in self._noted:
                self._library.done_reading(path)
            self._noted.clear()
