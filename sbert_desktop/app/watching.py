"""Hears of changes in the folders of the library and says which paths to look at.

The system tells of every write; a person thinks of a document that was saved. So a path is reported
once it was quiet for a second, a save by way of a temporary file is one change of the real file, a move
is its old and its new place together, and a burst is the folders that it happened in. Folders of which
the system tells nothing (network drives, no watches left) are checked again after some minutes.

Nothing is decided here about documents: whoever is called looks at the paths (see ``scanning``).
"""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from sbert_desktop.app.disk import below
from sbert_desktop.app.places import network_share, shares_below
from sbert_desktop.app.rules import GIT_FILE, IGNORE_FILE, KERNEL_FOLDERS, Judge, Rules
from sbert_desktop.domain import FolderRules
from sbert_desktop.settings import Settings

if TYPE_CHECKING:
    from watchdog.events import FileSystemEvent
    from watchdog.observers.api import BaseObserver

_QUIET, _LATEST, _AGAIN = 1.0, 5.0, 60.0
"""Seconds: quiet before a report; the first report at latest; further ones of what never is quiet."""
_TICK, _GAP, _LOOK = 0.2, 1.0, 2.0
"""Seconds between two looks at what is pending, between two reports, between two looks at the folders."""
_BLIND = 0.2
"""A folder whose watches took longer than this to add is looked at once: a change in it may have gone unheard."""
_CROWD = 500
"""More pending paths than this are a burst: it is waited for, up to the latest, before it is reported."""
_MOST_PATHS = 200
"""A report names at most so many paths; more are united into the folders that hold them."""
_FLOOD, _FLOOD_SECONDS = 8_000, 5.0
"""So many events of one folder in so short a time, and it is looked at whole: the kernel drops some from
16,384 waiting ones on, those of paths that are left out included.

Source: /proc/sys/fs/inotify/max_queued_events.
"""

Report = Callable[[frozenset[Path]], None]


@dataclass(slots=True)
class _Pending:
    """A path that changed and was not reported yet."""

    root: bytes
    first: float
    last: float
    folder: bool
    created: bool = False
    reported: float = 0.0
    seen: tuple[int, int] | None = None
    partner: bytes | None = None


@dataclass(slots=True)
class _Root:
    """One watched folder."""

    path: Path
    raw: bytes
    own: FolderRules
    rules: Rules
    judge: Judge | None = None
    observer: BaseObserver | None = None
    identity: tuple[int, int] | None = None
    watch: str = ""
    note: str = "Watching has not begun yet."
    share: str = ""
    looked: float = 0.0
    seen: bool = False
    events: int = 0
    counted: float = 0.0
    grown: bool = False
    failures: int = field(default=0)


class Watching:
    """Watches folders in threads of its own.

    Args:
        on_change: Called with files and folders to look at, existing or vanished; always from the same
            thread, never at the same time twice. It must not wait long.
        skip: Folders of which nothing is reported (the library).
        settings: Values in force, for the rules and the minutes between checks.
    """

    def __init__(self, on_change: Report, *, skip: Sequence[Path] = (), settings: Settings | None = None) -> None:
        self._on_change = on_change
        self._skip = KERNEL_FOLDERS.union(
            os.fsencode(place) for path in skip for place in (path, os.path.realpath(path))
        )
        self._settings = settings
        self._lock = threading.Condition()
        self._roots: dict[bytes, _Root] = {}
        self._retired: list[BaseObserver] = []
        self._pending: dict[bytes, _Pending] = {}
        self._whole: set[bytes] = set()
        self._ending = threading.Event()
        self._woken = threading.Event()
        self._last_report = self._last_event = 0.0
        self._threads: list[threading.Thread] = []

    # ------------------------------------------------------------- for everyone

    def start(self, folders: Sequence[tuple[Path, FolderRules]]) -> None:
        """Begins to watch; returns at once. Adding watches to many folders goes on in a thread."""
        self.update(folders)
        if self._threads:
            return
        self._threads = [
            threading.Thread(target=self._tend, name="watching-folders", daemon=True),
            threading.Thread(target=self._tell, name="watching-changes", daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def update(self, folders: Sequence[tuple[Path, FolderRules]]) -> None:
        """Watches these folders from now on and no others; rules that changed are in force at once."""
        wanted = {os.fsencode(path): (path, rules) for path, rules in folders}
        with self._lock:
            for raw in [raw for raw in self._roots if raw not in wanted]:
                self._retire(self._roots.pop(raw))
                self._pending = {path: entry for path, entry in self._pending.items() if entry.root != raw}
                self._whole.discard(raw)
            for raw, (path, own) in wanted.items():
                root = self._roots.get(raw)
                if root is None:
                    self._roots[raw] = _Root(path, raw, own, self._rules(own))
                else:
                    root.own, root.rules, root.judge = own, self._rules(own), None
        self._woken.set()

    def states(self) -> dict[Path, tuple[str, str]]:
        """Gives of each folder how it is watched (``live``, ``periodic`` or ``""``) and why not live."""
        with self._lock:
            return {root.path: (root.watch, root.note) for root in self._roots.values()}

    def has_pending(self) -> bool:
        """Says whether something was heard of that was not reported yet."""
        with self._lock:
            return bool(self._pending or self._whole)

    def stop(self, timeout: float = 2.0) -> None:
        """Ends watching; waits at most so long for the threads. Idempotent."""
        until = time.monotonic() + timeout
        with self._lock:
            self._ending.set()
            for root in self._roots.values():
                self._retire(root)
            self._roots.clear()
            self._pending.clear()
            self._lock.notify_all()
        self._woken.set()
        for thread in self._threads:
            if thread is not threading.current_thread():
                thread.join(max(0.0, until - time.monotonic()))
        self._threads = [thread for thread in self._threads if thread.is_alive()]

    # ------------------------------------------------------------- folders

    def _rules(self, own: FolderRules) -> Rules:
        return Rules.of(self._settings, own) if self._settings is not None else Rules(own)

    def _minutes(self) -> int:
        return self._settings.number("indexing.rescan_minutes") if self._settings is not None else 15

    def _retire(self, root: _Root) -> None:
        """Hands an observer to the thread that ends it, which may take a moment. Called with the lock."""
        if root.observer is not None:
            self._retired.append(root.observer)
            root.observer = None

    def _tend(self) -> None:
        """Starts and ends observers, notices roots that vanish and return, and times the checks."""
        while True:
            self._end_retired()
            with self._lock:
                if self._ending.is_set():
                    return
                roots = list(self._roots.values())
            for root in roots:
                if self._ending.is_set():
                    break
                try:
                    self._look_after(root)
                except Exception:  # one folder must not end the watching of the others
                    sys.excepthook(*sys.exc_info())
                    root.seen = True
                    self._fall_back(root, "Watching it failed", _identity(root.raw) or (0, 0))
            self._woken.wait(0.0 if self._ending.is_set() else _LOOK)
            self._woken.clear()

    def _end_retired(self) -> None:
        with self._lock:
            ending, self._retired = self._retired, []
        for observer in ending:
            with contextlib.suppress(RuntimeError, OSError):
                observer.stop()
                observer.join(1.0)

    def _look_after(self, root: _Root) -> None:
        now = time.monotonic()
        every = self._minutes() * 60.0
        due = now - root.looked >= every
        if root.share and not due:
            return  # a network drive that does not answer would hold up the others
        if not root.seen:
            root.share = network_share(root.path)
        identity = _identity(root.raw)
        if identity is None:
            self._set(root, "", "The folder is not there now.", identity=None)
            root.seen = True
            root.looked = now if root.share else 0.0
            return
        came_back = root.seen and root.identity != identity
        begins = not root.seen or came_back
        root.seen = True
        if begins:
            with self._lock:
                self._retire(root)
            root.looked = now
            self._begin(root, identity)
        elif root.observer is not None and not _alive(root.observer):
            with self._lock:
                self._retire(root)
            root.failures += 1
            self._begin(root, identity)
            came_back = True  # what happened meanwhile was not heard of
        elif root.grown:
            root.grown = False
            if root.observer is not None and _no_watches_left(root.observer):
                self._fall_back(root, _LIMIT, identity)
        if root.watch == "periodic" and due and not begins:
            root.looked, came_back = now, True
        if came_back:
            self._look_at(root.raw)

    def _begin(self, root: _Root, identity: tuple[int, int]) -> None:
        """Watches a folder live if the system can, else marks it for periodic checks."""
        if root.share:
            self._fall_back(root, f"The folder is on a network drive ({root.share})", identity)
            return
        if root.failures > 2:
            self._fall_back(root, "The system's reports broke off several times", identity)
            return
        began = time.monotonic()
        try:
            observer = _observe(root.raw, lambda event: self._hear(root, event))
        except OSError as error:
            limit = error.errno in (errno.ENOSPC, errno.EMFILE)
            self._fall_back(root, _LIMIT if limit else f"The system cannot watch it ({error.strerror})", identity)
            return
        except RecursionError:
            self._fall_back(root, "Its folders lie too deep in one another to be watched", identity)
            return
        if _no_watches_left(observer):
            with self._lock:
                self._retired.append(observer)
            self._fall_back(root, _LIMIT, identity)
            return
        shares = shares_below(root.path)
        if time.monotonic() - began > _BLIND:
            self._look_at(root.raw)
        with self._lock:
            if self._roots.get(root.raw) is not root or self._ending.is_set():
                self._retired.append(observer)
                return
            root.observer = observer
        if shares:
            place, kind = shares[0]
            note = f"{place.name} in it is on a network drive ({kind}): it is checked every {self._minutes()} minutes."
            self._set(root, "periodic", note, identity=identity)
        else:
            self._set(root, "live", "", identity=identity)

    def _fall_back(self, root: _Root, why: str, identity: tuple[int, int]) -> None:
        with self._lock:
            self._retire(root)
        self._set(root, "periodic", f"{why}: it is checked every {self._minutes()} minutes.", identity=identity)

    def _set(self, root: _Root, watch: str, note: str, *, identity: tuple[int, int] | None) -> None:
        with self._lock:
            root.watch, root.note, root.identity = watch, note, identity
            if identity is None:
                self._retire(root)

    def _look_at(self, raw: bytes) -> None:
        with self._lock:
            if raw in self._roots:
                self._whole.add(raw)
                self._lock.notify_all()

    # ------------------------------------------------------------- events

    def _hear(self, root: _Root, event: FileSystemEvent) -> None:
        """Takes one event; called from the observer's thread."""
        kind = event.event_type
        source, target = os.fsencode(event.src_path), os.fsencode(event.dest_path or b"")
        with self._lock:
            if self._ending.is_set() or self._roots.get(root.raw) is not root:
                return
            now = time.monotonic()
            self._count(root, now)
            if event.is_directory and kind in ("created", "moved"):
                root.grown = True
            was_created = False
            if kind == "moved" and source in self._pending:
                was_created = self._pending[source].created
                if was_created:  # a temporary file that became the real one: it never was a document
                    del self._pending[source]
            told = [] if was_created else [self._note(root, source, event.is_directory, kind == "created", now)]
            if kind == "moved" and target:
                told.append(self._note(root, target, event.is_directory, was_created, now))
                old, new = self._pending.get(source), self._pending.get(target)
                if old is not None and new is not None:
                    old.partner, new.partner = target, source
            if any(told):
                self._last_event = now
                self._lock.notify_all()

    def _count(self, root: _Root, now: float) -> None:
        """Has the whole folder looked at once a flood of events is over."""
        if now - root.counted > _FLOOD_SECONDS:
            root.counted, root.events = now, 0
        root.events += 1
        whole = self._pending.get(root.raw)
        if whole is not None:
            whole.last = now
        elif root.events == _FLOOD:
            self._pending[root.raw] = _Pending(root.raw, now, now, True)
            self._lock.notify_all()

    def _note(self, root: _Root, path: bytes, folder: bool, created: bool, now: float) -> bool:
        if root.judge is None:
            root.judge = Judge(root.raw, root.rules, self._skip)
        if path == root.raw:
            return False
        name = os.path.basename(path)
        if name == IGNORE_FILE or (name == GIT_FILE and root.rules.gitignore):
            root.judge = Judge(root.raw, root.rules, self._skip)
            path, folder, created = os.path.dirname(path), True, False
        if path != root.raw and not root.judge.wants(path, folder):
            return False
        entry = self._pending.get(path)
        if entry is None:
            self._pending[path] = _Pending(root.raw, now, now, folder, created)
        else:
            entry.last, entry.folder = now, folder
        return True

    # ------------------------------------------------------------- reports

    def _tell(self) -> None:
        """Reports what was quiet long enough."""
        while True:
            with self._lock:
                if not self._whole and not self._ending.is_set():
                    self._lock.wait(_TICK if self._pending else None)
                if self._ending.is_set():
                    return
                watched = [path for path, entry in self._pending.items() if not entry.folder][:_CROWD]
            sizes = {path: _size(path) for path in watched}
            with self._lock:
                due = self._due(sizes, time.monotonic())
            if due and not self._ending.is_set():
                try:
                    self._on_change(frozenset(Path(os.fsdecode(path)) for path in due))
                except Exception:  # a caller's bug must not end the watching
                    sys.excepthook(*sys.exc_info())

    def _due(self, sizes: dict[bytes, tuple[int, int]], now: float) -> set[bytes]:
        """Takes out what is to be reported now. Called with the lock."""
        for path, size in sizes.items():
            entry = self._pending.get(path)
            if entry is not None and entry.seen != size:
                if entry.seen is not None:
                    entry.last = now  # it grows though nobody told
                entry.seen = size
        due, self._whole = set(self._whole), set()
        if not due and now - self._last_report < _GAP:
            return due
        if len(self._pending) > _CROWD and now - self._last_event < _QUIET:
            oldest = min(entry.reported or entry.first for entry in self._pending.values())
            if now - oldest < _LATEST:
                return due
        quiet = {path for path, entry in self._pending.items() if now - entry.last >= _QUIET}
        late = {
            path
            for path, entry in self._pending.items()
            if path not in quiet
            and (now - entry.reported >= _AGAIN if entry.reported else now - entry.first >= _LATEST)
        }
        due |= late | {path for path in quiet if self._is_complete(path, quiet, now)}
        for path in due & self._pending.keys():
            if path in late:
                self._pending[path].reported = now
            else:
                del self._pending[path]
        if due:
            self._last_report = now
        return united(due, frozenset(self._roots))

    def _is_complete(self, path: bytes, quiet: set[bytes], now: float) -> bool:
        """Says whether what belongs to a quiet path is quiet too: the other end of a move, what lies below."""
        entry = self._pending[path]
        if now - entry.first >= _LATEST:
            return True
        if entry.partner is not None and entry.partner in self._pending and entry.partner not in quiet:
            return False
        if not entry.folder or len(self._pending) > _CROWD:
            return True
        prefix = path + os.fsencode(os.sep)
        return not any(other.startswith(prefix) and other not in quiet for other in self._pending)


_LIMIT = "The system watches no more folders (its limit of watches is reached)"


def united(paths: set[bytes], roots: frozenset[bytes]) -> set[bytes]:
    """Gives at most some hundred paths that hold all of these.

    What lies below another one is left out, and many in one folder become that folder. Roots are never
    left upwards.
    """
    rest = {path for path in paths if not below(os.path.dirname(path), paths) or path in roots}
    while len(rest) > _MOST_PATHS:
        parents = Counter(os.path.dirname(path) for path in rest if path not in roots)
        if not parents:
            break
        crowded = {parent for parent, count in parents.items() if count > 8} or set(parents)
        rest = {path for path in rest if path in roots or os.path.dirname(path) not in crowded} | crowded
        rest = {path for path in rest if path in roots or not below(os.path.dirname(path), rest)}
    return rest


def _observe(raw: bytes, hear: Callable[[FileSystemEvent], None]) -> BaseObserver:
    """Starts watchdog on a folder and all below it.

    Raises:
        OSError: The system refuses.
    """
    from watchdog import events
    from watchdog.observers import Observer

    # its errors would go to standard error, with paths
    logger = logging.getLogger("watchdog")
    logger.propagate = False
    logger.addHandler(logging.NullHandler())

    class Handler(events.FileSystemEventHandler):
        def dispatch(self, event: FileSystemEvent) -> None:
            hear(event)

    # reading files (open, close without a write) is no change, and a folder's own time none either
    kinds = [
        events.FileCreatedEvent,
        events.FileModifiedEvent,
        events.FileDeletedEvent,
        events.FileMovedEvent,
        events.DirCreatedEvent,
        events.DirDeletedEvent,
        events.DirMovedEvent,
        *(getattr(events, name) for name in ("FileAttribEvent", "DirAttribEvent") if hasattr(events, name)),
    ]
    observer = Observer()
    observer.schedule(Handler(), os.fsdecode(raw), recursive=True, event_filter=kinds)
    try:
        observer.start()
    except OSError:
        with contextlib.suppress(RuntimeError):
            observer.stop()
        raise
    return observer


def _no_watches_left(observer: BaseObserver) -> bool:
    """Says whether the system refuses another watch; watchdog keeps silent about folders it could not add."""
    if not sys.platform.startswith("linux"):
        return False
    from watchdog.events import FileSystemEventHandler

    with tempfile.TemporaryDirectory(prefix="sbert-desktop-watch-") as place:
        try:
            watch = observer.schedule(FileSystemEventHandler(), place, event_filter=[])
        except OSError as error:
            return error.errno in (errno.ENOSPC, errno.EMFILE)
        observer.unschedule(watch)
    return False


def _alive(observer: BaseObserver) -> bool:
    if not observer.is_alive():
        return False
    for emitter in observer.emitters:
        reader = getattr(emitter, "_inotify_fd", None)  # one thread reads for all; it may end by itself
        if not emitter.is_alive() or (isinstance(reader, threading.Thread) and not reader.is_alive()):
            return False
    return True


def _identity(path: bytes) -> tuple[int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return (status.st_dev, status.st_ino) if os.path.isdir(path) else None


def _size(path: bytes) -> tuple[int, int]:
    try:
        status = os.lstat(path)
    except OSError:
        return -1, -1
    return status.st_size, status.st_mtime_ns
