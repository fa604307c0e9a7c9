"""The journals of clean-ups: what was to be moved to the trash, and what became of each file.

One file of JSON lines per clean-up in ``<library>/cleanups``; each line is on disk before what it announces is
done, so that a crash leaves at most one file whose fate has to be looked up.
"""

from __future__ import annotations

import json
import math
import os
import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from sbert_desktop.errors import LibraryBusy, LibraryError
from sbert_desktop.library import _disk
from sbert_desktop.library._lock import WriterLock
from sbert_desktop.library._vectors import sync_folder

FOLDER = "cleanups"
PLANNED, MOVING, MOVED, SKIPPED, FAILED, RESTORED, LOST = (
    "planned", "moving", "moved", "skipped", "failed", "restored", "lost"
)  # fmt: skip
_STATES = frozenset({PLANNED, MOVING, MOVED, SKIPPED, FAILED, RESTORED, LOST})


@dataclass(frozen=True, slots=True)
class CleanUpEntry:
    """One file of a clean-up as its journal tells; ``trash``: where it was moved to, ``at``: where it was put back.

    ``moving``: the journal ends before it says whether the file was moved.
    """

    path: Path
    size: int
    mtime_ns: int
    device: int
    inode: int
    sha256: str
    state: str = PLANNED
    message: str = ""
    trash: Path | None = None
    at: Path | None = None


@dataclass(frozen=True, slots=True)
class CleanUpRecord:
    """One clean-up; ``when`` it began in seconds since the epoch. ``finished`` False: it was cut short.

    ``number`` rises from clean-up to clean-up, whatever the clock says.
    """

    id: str
    when: float
    entries: tuple[CleanUpEntry, ...]
    finished: bool
    number: int = 0


class CleanUpJournal:
    """An open journal; every note is on disk when it returns.

    Raises of all methods: LibraryError ``disk-full``, ``library-readonly``.
    """

    def __init__(self, library: Path, path: Path) -> None:
        self._library = library
        self._torn = False
        self.id = path.stem
        with _disk.known_errors(library):
            handle = os.open(path, os.O_CREAT | os.O_RDWR | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o600)
            self._stream = os.fdopen(handle, "r+b", buffering=0)
            size = self._stream.seek(0, os.SEEK_END)
            if size:
                self._stream.seek(size - 1)
                self._torn = self._stream.read(1) != b"\n"  # by a crash

    def __enter__(self) -> CleanUpJournal:
        return self

    def __exit__(self, *_: object) -> None:
        self._stream.close()

    def note(
        self, number: int, state: str, *, message: str = "", trash: Path | None = None, at: Path | None = None
    ) -> None:
        """Says what is about to happen to, or what became of, the n-th file."""
        line: dict[str, object] = {"file": number, "state": state, "when": time.time()}
        if message:
            line["message"] = message
        for key, path in (("trash", trash), ("at", at)):
            if path is not None:
                line[key] = os.fsencode(path).hex()
        self._line(line)

    def end(self) -> None:
        """Says that nothing more follows."""
        self._line({"end": time.time()})

    def begin(self, entries: Sequence[CleanUpEntry], number: int) -> None:
        """Says what is meant to go; ``number`` is one more than that of the clean-up before."""
        files = [
            [os.fsencode(one.path).hex(), one.size, one.mtime_ns, one.device, one.inode, one.sha256] for one in entries
        ]
        self._line({"begin": time.time(), "number": number, "files": files})

    def _line(self, line: dict[str, object]) -> None:
        with _disk.known_errors(self._library):
            self._write(json.dumps(line).encode("ascii") + b"\n")

    def _write(self, data: bytes) -> None:
        """Writes a line; after one that was torn (a crash, a full disk) it begins on a new line."""
        view = memoryview(b"\n" + data if self._torn else data)
        self._torn = True
        while view:
            view = view[self._stream.write(view) or 0 :]
        os.fsync(self._stream.fileno())
        self._torn = False


class CleanUps:
    """The clean-ups of a library. Any thread; :meth:`alone` lets one process act at a time.

    Args:
        library: The library's folder.
    """

    def __init__(self, library: Path) -> None:
        self._library = library
        self._folder = library / FOLDER

    @contextmanager
    def alone(self, check: Callable[[], None] | None = None) -> Iterator[None]:
        """Holds the clean-up lock: two clean-ups at once could each take what the other keeps.

        Raises:
            LibraryError: ``library-readonly``, ``clean-up-busy``.
        """
        with _disk.known_errors(self._library):
            self._folder.mkdir(mode=0o700, exist_ok=True)
            lock = WriterLock(self._folder)
            try:
                lock.acquire(wait=False, check=check)
            except LibraryBusy as error:
                raise LibraryError(
                    "clean-up-busy",
                    f"Another clean-up is under way, by {lock.holder()}.",
                    "Wait until it has finished.",
                ) from error
        try:
            yield
        finally:
            lock.release()

    def begin(self, entries: Sequence[CleanUpEntry]) -> CleanUpJournal:
        """Opens the journal of a new clean-up and writes down what is meant to go."""
        with _disk.known_errors(self._library):
            self._folder.mkdir(mode=0o700, exist_ok=True)
        number = 1 + max((record.number for record in self.all()), default=0)
        name = f"{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}-{secrets.token_hex(3)}"
        journal = CleanUpJournal(self._library, self._folder / f"{name}.jsonl")
        try:
            journal.begin(entries, number)
            with _disk.known_errors(self._library):
                sync_folder(self._folder)
        except BaseException:
            journal.__exit__()
            raise
        return journal

    def reopen(self, id: str) -> CleanUpJournal:
        """Opens a journal to go on with it.

        Raises:
            LibraryError: ``clean-up-unknown``.
        """
        self.read(id)
        return CleanUpJournal(self._library, self._folder / f"{id}.jsonl")

    def read(self, id: str) -> CleanUpRecord:
        """Gives one clean-up.

        Raises:
            LibraryError: ``clean-up-unknown``.
        """
        record = _read(self._folder / f"{id}.jsonl") if id == Path(id).name else None
        if record is None:
            raise LibraryError("clean-up-unknown", f"There is no clean-up {id!r}.", "See 'undo --list'.")
        return record

    def all(self) -> tuple[CleanUpRecord, ...]:
        """Lists clean-ups, newest first."""
        try:
            paths = sorted(self._folder.glob("*.jsonl"), reverse=True)
        except OSError:
            return ()
        records = [record for path in paths if (record := _read(path)) is not None]
        return tuple(sorted(records, key=lambda record: (record.number, record.when, record.id), reverse=True))


def _read(path: Path) -> CleanUpRecord | None:
    """Reads a journal; None when it never began. A line that was torn is as if it had not been written."""
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError:
        return None
    entries: list[CleanUpEntry] = []
    when, finished, number = 0.0, False, 0
    for raw in lines:
        try:
            line = json.loads(raw)
            if "begin" in line:
                entries = [_entry(*one) for one in line["files"]]
                when, number = _finite(line["begin"]), int(line.get("number", 0))
            elif "end" in line:
                finished = True
            elif line["state"] in _STATES and 0 <= line["file"] < len(entries):
                place = line["file"]
                entries[place] = replace(
                    entries[place],
                    state=line["state"],
                    message=str(line.get("message", "")),
                    trash=_path(line.get("trash")) or entries[place].trash,
                    at=_path(line.get("at")),
                )
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
            continue
    return CleanUpRecord(path.stem, when, tuple(entries), finished, number) if when else None


def _finite(value: object) -> float:
    when = float(value) if isinstance(value, int | float) else math.nan
    time.localtime(when)  # raises for what is no time
    return when


def _entry(path: str, size: int, mtime_ns: int, device: int, inode: int, sha256: str) -> CleanUpEntry:
    if not all(type(one) is int for one in (size, mtime_ns, device, inode)) or not isinstance(sha256, str):
        raise TypeError
    return CleanUpEntry(Path(os.fsdecode(bytes.fromhex(path))), size, mtime_ns, device, inode, sha256)


def _path(text: object) -> Path | None:
    return Path(os.fsdecode(bytes.fromhex(text))) if isinstance(text, str) else None
