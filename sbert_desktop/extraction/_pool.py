"""A pool of extraction children: files in, texts and problems out, whatever the files do."""

from __future__ import annotations

import os
import queue
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

from sbert_desktop.domain import Child, ExtractedText, JobContext, Problem, SourceFile
from sbert_desktop.errors import Cancelled, JobError
from sbert_desktop.extraction._extract import FILE_LIMIT
from sbert_desktop.extraction._limits import MEMORY_MB
from sbert_desktop.extraction._paging import Limits, Page, Result, SeriesState, page_of, seen_as
from sbert_desktop.extraction._parts import PART
from sbert_desktop.extraction._problems import problem, problem_of_child
from sbert_desktop.extraction._registry import BY_NAME, FORMATS, SUPPORTED
from sbert_desktop.extraction._source import suffix_of
from sbert_desktop.extraction._watcher import Watched, Watcher

RECYCLE_FILES = 200
RECYCLE_BYTES = 512 * 1024 * 1024
"""A child is replaced after this much work. Source: RELIABILITY R1."""
_BATCH_FILES = 32
_BATCH_BYTES = 512 * 1024
_SMALL = 64 * 1024  # larger files travel alone
_PLAIN_WEIGHT = 0.05
"""What a plain text counts for recycling: no foreign code touches it, and a new child costs 0.7 s of CPU."""
_PLAIN = frozenset(("txt", "data", "xml", "md", "table", "code"))
_ALONE = frozenset(entry.name for entry in FORMATS
                   if entry.name in {"pdf", "docx"} or (entry.container and entry.name != "eml"))
_HASH_FIRST = 256 * 1024  # larger files are hashed first: their text may be known
_DEATHS = frozenset(("child-timeout", "child-died"))
_STARTS, _START_TIME = 3, 120.0  # children that die before they answered a first time: then the pool gives up
_BATCH_TIME = 10.0  # a batch that takes longer is tried again file by file


Known = Callable[[str], bool]
OnSlow = Callable[[SourceFile, bool], None]


@dataclass(slots=True)
class _Seat:
    """One place of the pool with the child that sits on it now, and what it is doing."""

    child: Child | None = None
    files: float = 0.0
    bytes: int = 0
    watched: Watched = field(default_factory=Watched)


class ExtractionPool:
    """Reads files in children with limits; a file can cost itself, never the program.

    Args:
        launch: Starts one child that serves :func:`sbert_desktop.extraction.child.make_handler`.
        size: How many children.
        time_limit: Seconds that one file, or one page of a file with members, may take; half as many
            seconds of processor time for every 4 MB that it has (RELIABILITY R1).
        size_limit: Bytes of the largest file that is read; mailboxes have none.
        known: Tells whether the text of a content (sha256 hex) is known already. Called from the
            pool's threads; such a file gives None in place of a text.
        recycle_after: Files after which a child is replaced.
        on_slow: Called with a file and True once when it has been under way for over a second, and with
            False when that is over; from the pool's threads.
        memory_limit: Bytes of a child, watched from here where the system does not limit it.
        watch_memory: Watch it even where the system does.
        password: What the person typed to unlock the files.
    """

    def __init__(self, launch: Callable[[], Child], size: int = 2, *, time_limit: float = 60.0,
                 size_limit: int = FILE_LIMIT, known: Known | None = None, recycle_after: int = RECYCLE_FILES,
                 on_slow: OnSlow | None = None, memory_limit: int = MEMORY_MB * 1024 * 1024,
                 watch_memory: bool = sys.platform != "linux", password: str | None = None) -> None:
        self._launch = launch
        self._time_limit = time_limit
        self._size_limit = size_limit
        self._known = known
        self._password = password
        self._limits = Limits(time_limit, memory_limit // (1024 * 1024))
        self.recycle_after = recycle_after
        self._seats = [_Seat() for _ in range(max(1, size))]
        self._lock = threading.Lock()
        self._closed = False
        self._ending = threading.Event()  # a run ends early, or the pool is closed
        self._watcher = Watcher([seat.watched for seat in self._seats], on_slow, cpu_limit=time_limit / 2,
                                memory_limit=memory_limit if watch_memory else None)

    def results(self, files: Iterable[SourceFile], context: JobContext) -> Iterator[Result]:
        """Gives each file with its text, its problem, or None for a known content, as they finish.

        A file with members (archive, mailbox, huge text) gives a series in order, with results of other
        files in between: each member as a file of its own (``member`` is set), at the end the file itself
        with its :class:`~sbert_desktop.domain.Listing`.

        ``content_hash`` (and size and time as they were when it was read) are filled in. At most a
        few hundred files are under way, so ``files`` may be endless. One caller at a time. Ends its
        children when the caller stops early or ``context.check()`` raises.

        Raises:
            Cancelled: From ``context.check()``, or because the pool was closed meanwhile.
            JobError: ``child-not-started`` when no child can be started at all.
        """
        if self._closed:
            raise Cancelled
        self._ending.clear()
        run = _Run(self, files, context)
        self._watcher.start()
        try:
            yield from run.results()
        finally:
            run.stop()
            self._watcher.stop()

    def close(self) -> None:
        """Ends all children, also in the middle of a file; idempotent."""
        with self._lock:
            self._closed = True
            self._ending.set()
        for seat in self._seats:
            self.drop(seat)

    # ---- used by the threads of a run

    @property
    def seats(self) -> list[_Seat]:
        """The places of the pool."""
        return self._seats

    @property
    def closed(self) -> bool:
        """True once the pool was closed."""
        return self._closed

    def end_run(self) -> None:
        """Ends all children now and lets no thread start another one until the next run."""
        self._ending.set()
        for seat in self._seats:
            self.drop(seat)

    def drop(self, seat: _Seat) -> None:
        """Ends the child of a seat."""
        with self._lock:
            child, seat.child = seat.child, None
            seat.files, seat.bytes = 0.0, 0
        if child is not None:
            child.close()

    def read(self, seat: _Seat, batch: list[SourceFile]) -> Generator[list[Result], None, None]:
        """Reads a batch; one that kills its child is tried again file by file, as are long series."""
        with closing(self._read(seat, batch)) as pages:
            for results in pages:
                yield [(file, self._limits.told(outcome)) for file, outcome in results]

    def _read(self, seat: _Seat, batch: list[SourceFile]) -> Generator[list[Result], None, None]:
        alone = batch
        if len(batch) > 1:
            try:
                with self._watcher.watching(seat.watched, None):
                    page = self._request(seat, batch, {}, min(self._time_limit, _BATCH_TIME))
                yield page.results
                alone = page.alone
            except JobError as error:
                self._survive(seat, error)
        for file in alone:
            with self._watcher.watching(seat.watched, file):
                yield from self._read_one(seat, file)

    def _read_one(self, seat: _Seat, file: SourceFile) -> Iterator[list[Result]]:
        told = BY_NAME.get(SUPPORTED.get(suffix_of(file.path.name), ""))
        if file.size > self._size_limit and told is not None and not told.growing:
            yield [(file, problem("too-large", f"The file has {file.size / 1e6:,.0f} MB; the limit is "
                                  f"{self._size_limit / 1e6:,.0f} MB."))]
            return
        try:
            if self._known is not None and file.size > _HASH_FIRST and not (told is not None and told.container):
                header, _ = self._child(seat).request(
                    {"op": "hash", "path": _hex(file), "size_limit": self._size_limit}, timeout=self._time_limit)
                sha = header.get("sha256")
                if isinstance(sha, str) and sha and self._known(sha):
                    yield [(seen_as(file, header), None)]
                    return
        except JobError as error:
            yield [(file, self._survive(seat, error))]
            return
        yield from self._series(seat, file, may_have_members=told is None or told.container
                                or (told.textual and file.size > PART))

    def _series(self, seat: _Seat, file: SourceFile, *, may_have_members: bool) -> Iterator[list[Result]]:
        """Asks for one page after the other; a page that kills its child is gone through one by one."""
        state = SeriesState(file)
        while True:
            try:
                self._child(seat)  # its start is not the file's time
                began = time.monotonic()
                page = self._request(seat, [file], state.header(), state.timeout(self._time_limit))
            except JobError as error:
                cause = self._survive(seat, error)
                if state.place is None and not may_have_members:
                    # Once more after a crash: a child may be ended from outside, or by what it read before.
                    again = cause.code == "crashed-parser" and state.try_again()
                else:
                    again = error.code in _DEATHS and state.after_death(cause)
                if not again:
                    yield state.give_up(cause)
                    return
                continue
            yield state.taken(page, time.monotonic() - began)
            if page.ended:
                return
            if seat.child is None:  # it ran out of memory, or has done its share
                state.next = None

    def _survive(self, seat: _Seat, error: JobError) -> Problem:
        """Replaces the child after a failure, unless no child can be had or the pool was closed."""
        if error.code == "child-not-started" or self._ending.is_set():
            raise error
        self.drop(seat)
        code = seat.watched.ended_for()
        return problem(code) if code else problem_of_child(error)

    def _request(self, seat: _Seat, batch: list[SourceFile], more: Mapping[str, object], timeout: float) -> Page:
        header: dict[str, object] = {"op": "extract", "files": [_hex(file) for file in batch],
                                     "size_limit": self._size_limit, **more}
        if self._password is not None:
            header["password"] = self._password
        child = self._child(seat)
        seat.watched.request(child, max(1.0, sum(file.size for file in batch) / PART))
        try:
            reply, payload = child.request(header, timeout=timeout)
        finally:
            seat.watched.done()
        page = page_of(batch, reply, payload)
        self._account(seat, batch, page, len(payload))
        if self._known is not None:
            page.results = [
                (file, None if isinstance(outcome, ExtractedText) and self._known(file.content_hash) else outcome)
                for file, outcome in page.results]
        return page

    def _account(self, seat: _Seat, batch: list[SourceFile], page: Page, size: int) -> None:
        """Notes a child's work and replaces it after its share, if no series would have to begin again."""
        spent = any(isinstance(outcome, Problem) and outcome.code == "too-much-memory" for _, outcome in page.results)
        if len(batch) > 1 or not page.results or page.results[0][0].member == "":
            seat.files += sum(map(_weight, batch))
        else:
            seat.files += sum(_weight(replace(batch[0], path=Path(file.member))) for file, _ in page.results)
        seat.bytes += size
        resumable = page.next is None or (page.place is not None and page.place[0] != batch[0].cursor)
        if spent or (resumable and (seat.files >= self.recycle_after or seat.bytes >= RECYCLE_BYTES)):
            self.drop(seat)

    def _child(self, seat: _Seat) -> Child:
        with self._lock:
            child = seat.child
        if child is not None:
            return child
        seat.watched.wait_for_start()
        for attempt in range(_STARTS):
            child = self._launch()
            with self._lock:
                ending = self._ending.is_set()
                if not ending:
                    seat.child = child
            if ending:
                child.close()
                raise JobError("child-died", "The pool is closed.")
            try:
                # Importing and unpacking the language model must not count against a file's time.
                child.request({"op": "ping"}, timeout=_START_TIME)
                seat.watched.started()
                return child
            except JobError as error:
                self.drop(seat)
                if self._ending.is_set():
                    raise
                if attempt == _STARTS - 1:
                    raise JobError("child-not-started", "The processes that read files end as soon as they start.",
                                   "Install the program again, or report this.", error.detail) from error
        raise AssertionError("unreachable")


class _Run:
    """One pass over files: a thread per child, a bounded number of files under way."""

    def __init__(self, pool: ExtractionPool, files: Iterable[SourceFile], context: JobContext) -> None:
        self._pool = pool
        self._files = iter(files)
        self._context = context
        self._tasks: queue.SimpleQueue[list[SourceFile] | None] = queue.SimpleQueue()
        self._done: queue.SimpleQueue[list[Result] | BaseException | None] = queue.SimpleQueue()
        self._room = threading.Semaphore(2 * len(pool.seats))  # pages that wait to be taken: bounds the memory
        self._under_way = 0  # batches
        self._left: deque[SourceFile] = deque()
        self._exhausted = False
        self._stopped = threading.Event()
        self._threads = [threading.Thread(target=self._work, args=(seat,), name="extraction", daemon=True)
                         for seat in pool.seats]

    def results(self) -> Iterator[Result]:
        for thread in self._threads:
            thread.start()
        while True:
            self._context.check()
            while self._under_way < 3 * len(self._threads) and (batch := self._next_batch()):
                self._under_way += 1
                self._tasks.put(batch)
            if not self._under_way:
                return
            try:
                done = self._done.get(timeout=0.1)
            except queue.Empty:
                continue
            if isinstance(done, BaseException):
                if self._pool.closed:
                    raise Cancelled from done
                raise done
            if done is None:
                self._under_way -= 1
                continue
            for result in done:
                yield result
                self._context.check()
            self._room.release()

    def stop(self) -> None:
        """Ends the threads; children in the middle of a file are ended with them."""
        self._stopped.set()
        if self._under_way:
            self._pool.end_run()
        for _ in self._threads:
            self._tasks.put(None)
            self._room.release(1000)
        for thread in self._threads:
            if thread.ident is not None:
                thread.join()

    def _next_batch(self) -> list[SourceFile]:
        batch: list[SourceFile] = []
        total, weight = 0, 0.0
        while len(batch) < _BATCH_FILES and total < _BATCH_BYTES and weight < self._pool.recycle_after:
            file = self._left.popleft() if self._left else next(self._files, None)
            if file is None:
                break
            if not _travels_in_batch(file):
                if not batch:
                    return [file]
                self._left.append(file)
                break
            batch.append(file)
            total += file.size
            weight += _weight(file)
        return batch

    def _work(self, seat: _Seat) -> None:
        while (batch := self._tasks.get()) is not None:
            if self._stopped.is_set():
                return
            try:
                with closing(self._pool.read(seat, batch)) as pages:
                    for results in pages:
                        self._done.put(results)
                        self._room.acquire()
                        if self._stopped.is_set():
                            return
                self._done.put(None)
            except BaseException as error:
                self._done.put(error)
                return


def _weight(file: SourceFile) -> float:
    return _PLAIN_WEIGHT if SUPPORTED.get(suffix_of(file.path.name)) in _PLAIN else 1.0


def _travels_in_batch(file: SourceFile) -> bool:
    name = SUPPORTED.get(suffix_of(file.path.name), "")
    return file.size <= _SMALL and name not in _ALONE


def _hex(file: SourceFile) -> str:
    return os.fsencode(file.path).hex()
