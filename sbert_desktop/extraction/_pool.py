"""A pool of extraction children: files in, texts and problems out, whatever the files do."""

from __future__ import annotations

import os
import queue
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import cast

from sbert_desktop.domain import Child, ExtractedText, JobContext, Problem, SourceFile
from sbert_desktop.errors import Cancelled, JobError
from sbert_desktop.extraction._codec import decode_document, decode_problem
from sbert_desktop.extraction._extract import FILE_LIMIT
from sbert_desktop.extraction._problems import problem, problem_of_child
from sbert_desktop.extraction._registry import SUPPORTED
from sbert_desktop.extraction._source import suffix_of

RECYCLE_FILES = 200
RECYCLE_BYTES = 512 * 1024 * 1024
"""A child is replaced after this much work. Source: RELIABILITY R1."""
_BATCH_FILES = 32
_BATCH_BYTES = 512 * 1024
_SMALL = 64 * 1024  # larger files travel alone
_PLAIN_WEIGHT = 0.05
"""What a plain text counts for recycling: no foreign code touches it, and a new child costs 0.7 s of CPU."""
_PLAIN = frozenset(("txt", "data", "xml", "md", "table", "code"))
_HASH_FIRST = 256 * 1024  # larger files are hashed first: their text may be known
_STARTS, _START_TIME = 3, 120.0  # children that die before they answered a first time: then the pool gives up
_BATCH_TIME = 10.0  # a batch that takes longer is tried again file by file

Outcome = ExtractedText | Problem | None
Result = tuple[SourceFile, Outcome]
Known = Callable[[str], bool]


@dataclass(slots=True)
class _Seat:
    """One place of the pool with the child that sits on it now."""

    child: Child | None = None
    files: float = 0.0
    bytes: int = 0


class ExtractionPool:
    """Reads files in children with limits; a file can cost itself, never the program.

    Args:
        launch: Starts one child that serves :func:`sbert_desktop.extraction.child.make_handler`.
        size: How many children.
        time_limit: Seconds that one file may take.
        size_limit: Bytes of the largest file that is read.
        known: Tells whether the text of a content (sha256 hex) is known already. Called from the
            pool's threads; such a file gives None in place of a text.
        recycle_after: Files after which a child is replaced.
    """

    def __init__(self, launch: Callable[[], Child], size: int = 2, *, time_limit: float = 60.0,
                 size_limit: int = FILE_LIMIT, known: Known | None = None, recycle_after: int = RECYCLE_FILES) -> None:
        self._launch = launch
        self._time_limit = time_limit
        self._size_limit = size_limit
        self._known = known
        self.recycle_after = recycle_after
        self._seats = [_Seat() for _ in range(max(1, size))]
        self._lock = threading.Lock()
        self._closed = False
        self._ending = threading.Event()  # a run ends early, or the pool is closed

    def results(self, files: Iterable[SourceFile], context: JobContext) -> Iterator[Result]:
        """Gives each file with its text, its problem, or None for a known content, as they finish.

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
        try:
            yield from run.results()
        finally:
            run.stop()

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

    def read(self, seat: _Seat, batch: list[SourceFile]) -> list[Result]:
        """Reads a batch; a batch that kills its child is tried again file by file."""
        if len(batch) == 1:
            return [self._read_one(seat, batch[0])]
        try:
            return self._request(seat, batch, min(self._time_limit, _BATCH_TIME))
        except JobError as error:
            self._survive(seat, error)
        return [self._read_one(seat, file) for file in batch]

    def _read_one(self, seat: _Seat, file: SourceFile) -> Result:
        if file.size > self._size_limit:
            return file, problem("too-large", f"The file has {file.size / 1e6:,.0f} MB; the limit is "
                                 f"{self._size_limit / 1e6:,.0f} MB.")
        try:
            if self._known is not None and file.size > _HASH_FIRST:
                header, _ = self._child(seat).request(
                    {"op": "hash", "path": _hex(file), "size_limit": self._size_limit}, timeout=self._time_limit)
                sha = header.get("sha256")
                if isinstance(sha, str) and sha and self._known(sha):
                    return _seen(file, header), None
            return self._request(seat, [file], self._time_limit)[0]
        except JobError as error:
            self._survive(seat, error)
            return file, problem_of_child(error)

    def _survive(self, seat: _Seat, error: JobError) -> None:
        """Replaces the child after a failure, unless no child can be had or the pool was closed."""
        if error.code == "child-not-started" or self._ending.is_set():
            raise error
        self.drop(seat)

    def _request(self, seat: _Seat, batch: list[SourceFile], timeout: float) -> list[Result]:
        header, payload = self._child(seat).request(
            {"op": "extract", "files": [_hex(file) for file in batch], "size_limit": self._size_limit}, timeout=timeout)
        results = _results_of(batch, header, payload)
        spent = any(isinstance(outcome, Problem) and outcome.code == "too-much-memory" for _, outcome in results)
        seat.files += sum(map(_weight, batch))
        seat.bytes += len(payload)
        if spent or seat.files >= self.recycle_after or seat.bytes >= RECYCLE_BYTES:
            self.drop(seat)
        if self._known is None:
            return results
        return [(file, None if isinstance(outcome, ExtractedText) and self._known(file.content_hash) else outcome)
                for file, outcome in results]

    def _child(self, seat: _Seat) -> Child:
        with self._lock:
            child = seat.child
        if child is not None:
            return child
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
        self._done: queue.SimpleQueue[list[Result] | BaseException] = queue.SimpleQueue()
        self._under_way = 0  # batches
        self._left: deque[SourceFile] = deque()
        self._exhausted = False
        self._stopped = False
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
            self._under_way -= 1
            for result in done:
                yield result
                self._context.check()

    def stop(self) -> None:
        """Ends the threads; children in the middle of a file are ended with them."""
        self._stopped = True
        if self._under_way:
            self._pool.end_run()
        for _ in self._threads:
            self._tasks.put(None)
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
            if self._stopped:
                return
            try:
                self._done.put(self._pool.read(seat, batch))
            except BaseException as error:
                self._done.put(error)
                return


def _weight(file: SourceFile) -> float:
    return _PLAIN_WEIGHT if SUPPORTED.get(suffix_of(file.path.name)) in _PLAIN else 1.0


def _travels_in_batch(file: SourceFile) -> bool:
    return file.size <= _SMALL and suffix_of(file.path.name) not in {"pdf", "docx", "docm"}


def _hex(file: SourceFile) -> str:
    return os.fsencode(file.path).hex()


def _results_of(batch: list[SourceFile], header: dict[str, object], payload: bytes) -> list[Result]:
    entries = header.get("results")
    if not isinstance(entries, list) or len(entries) != len(batch):
        raise JobError("child-refused", "A helper process gave an answer that makes no sense.")
    results: list[Result] = []
    at = 0
    for file, entry in zip(batch, cast(list[dict[str, object]], entries), strict=True):
        seen = _seen(file, entry)
        document = entry.get("document")
        if isinstance(document, dict):
            size = document.get("bytes")
            if not isinstance(size, int) or size < 0 or at + size > len(payload):
                raise JobError("child-refused", "A helper process gave an answer that makes no sense.")
            results.append((seen, decode_document(document, payload[at : at + size])))
            at += size
        else:
            results.append((seen, decode_problem(cast(dict[str, object], entry.get("problem")))))
    return results


def _seen(file: SourceFile, entry: dict[str, object]) -> SourceFile:
    """Gives the file as the child saw it when it read it."""
    sha, size, mtime = entry.get("sha256"), entry.get("size"), entry.get("mtime_ns")
    if not (isinstance(sha, str) and sha and isinstance(size, int) and isinstance(mtime, int)):
        return file
    return replace(file, content_hash=sha, size=size, mtime_ns=mtime)
