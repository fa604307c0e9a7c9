"""Walks a folder and says what changed since the last time; opens no file but ``.sbertignore`` and its like.

Symbolic links are not followed and special files (pipes, sockets, devices) are skipped, so a walk
always ends. Folders that cannot be read, files that lie only in the cloud and paths that are too long
to be opened are listed, not raised. Given what the library knows, a walk compares as it goes and keeps
only what differs: 200,000 unchanged files cost no memory.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from sbert_desktop.app.disk import (
    PATH_MAX,
    below,
    identity_of,
    is_junction,
    list_folder,
    nearest_place,
    passes_link,
    stat_of,
    topmost,
)
from sbert_desktop.app.rules import (
    GIT_FILE,
    IGNORE_FILE,
    KERNEL_FOLDERS,
    LINK,
    MARKED_HIDDEN,
    SPECIAL,
    Judge,
    Rules,
    Stack,
    Verdict,
    in_maildir,
    inside_of,
    is_marked_hidden,
    is_online_only,
)
from sbert_desktop.domain import ContentId, FileId, JobContext, Problem, SourceFile

_REMOVED_SHARE, _REMOVED_COUNT = 0.20, 100
"""More files gone at once than both: ask before they leave the library (R7)."""

_REPORT_EVERY = 64

CLOUD_ONLY = Problem("cloud-only", "The file lies only in the cloud.", "Make it available offline to have it read.")
TOO_LONG = Problem(
    "path-too-long",
    "The path of this file is longer than programs may open.",
    "Shorten the names of the folders that it lies in.",
)
_LINK = Verdict(LINK, "a symbolic link: what it points to is read in its own place")
_SPECIAL = Verdict(SPECIAL, "neither a file nor a folder")
_LIBRARY = Verdict("system", "the library of this program")
_KERNEL = Verdict("system", "made up by the system's kernel: no documents")
_MARKS = sys.platform in ("win32", "darwin")
"""Systems that mark files as hidden, or as lying in the cloud."""


class Known(Protocol):
    """What the library remembers of a file."""

    @property
    def id(self) -> FileId: ...  # noqa: D102
    @property
    def size(self) -> int: ...  # noqa: D102
    @property
    def mtime_ns(self) -> int: ...  # noqa: D102
    @property
    def device(self) -> int: ...  # noqa: D102
    @property
    def inode(self) -> int: ...  # noqa: D102
    @property
    def content(self) -> ContentId | None: ...  # noqa: D102
    @property
    def problem_code(self) -> str: ...  # noqa: D102


@dataclass(slots=True)
class Scan:
    """What a walk found.

    ``files`` by path bytes: all that are read, or with ``known`` given only the new and changed ones.
    ``listed``: files that are there but must not or cannot be opened, with the reason; also only new ones.
    ``unreadable``: folders, and files not known yet, that could not be looked at; ``closed`` are all such
    paths: what is known of them and below them stays.
    ``skipped`` and ``left_out`` count what the rules leave out, in all and by reason; ``rows`` are the
    first of them (path, is it a folder, why). ``missing``: known paths that were not met, None when the
    walk was not told what is known. ``cut_off``: the root went away during the walk, so nothing that is
    missing may be taken as deleted.
    """

    root: bytes = b""
    only: tuple[bytes, ...] | None = None
    files: dict[bytes, SourceFile] = field(default_factory=dict)
    listed: dict[bytes, tuple[SourceFile, Problem]] = field(default_factory=dict)
    unreadable: list[tuple[Path, Problem]] = field(default_factory=list)
    closed: set[bytes] = field(default_factory=set)
    linked: dict[bytes, tuple[int, int]] = field(default_factory=dict)
    renumbered: dict[int, set[int]] = field(default_factory=dict)
    missing: set[bytes] | None = None
    unchanged: int = 0
    skipped: int = 0
    folders: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    rows: list[tuple[bytes, bool, Verdict]] = field(default_factory=list)
    cut_off: bool = False


@dataclass(slots=True)
class Changes:
    """What differs between a walk and the library.

    ``moved`` pairs a known id with its new place. ``links``: of the added and changed files, those that
    are hard links of another: path of the link -> path of the one that is read, which is among the added
    and changed ones or is a known, unchanged file. ``listed``: as in :class:`Scan`. ``offline`` counts
    known files kept because the drive that they lie on is not there (below ``offline_folders``), or the
    whole folder went away during the walk.
    """

    added: list[SourceFile] = field(default_factory=list)
    changed: list[SourceFile] = field(default_factory=list)
    moved: list[tuple[FileId, SourceFile]] = field(default_factory=list)
    removed: list[FileId] = field(default_factory=list)
    removed_contents: list[ContentId] = field(default_factory=list)
    removed_pending: int = 0
    unchanged: int = 0
    links: dict[bytes, bytes] = field(default_factory=dict)
    listed: list[tuple[SourceFile, Problem]] = field(default_factory=list)
    offline: int = 0
    offline_folders: tuple[Path, ...] = ()


def scan(
    folder: Path,
    context: JobContext,
    *,
    hidden: bool = False,
    skip: tuple[Path, ...] = (),
    rules: Rules | None = None,
    only: Sequence[Path] | None = None,
    known: Mapping[bytes, Known] | None = None,
    rows: int = 0,
    count_only: bool = False,
) -> Scan:
    """Walks a folder and stats its files.

    Args:
        folder: Root of the walk.
        context: Asked for a cancel once per folder; gets progress.
        hidden: Include names that begin with a dot; only asked when there are no ``rules``.
        skip: Folders that are left out whole (the library itself).
        rules: What is read; see :class:`sbert_desktop.app.rules.Rules`.
        only: Files and folders below the root to which the walk is restricted, existing or not.
        known: What the library knows of the folder (with ``only``: at least of those): unchanged files
            are then counted and not kept.
        rows: Keep so many rows of what is left out.
        count_only: Keep no files; for a list of what is left out.
    """
    walk = _Walk(
        os.fsencode(folder),
        context,
        rules or Rules(hidden=hidden),
        KERNEL_FOLDERS.union(os.fsencode(place) for path in skip for place in (path, os.path.realpath(path))),
        known,
        rows,
    )
    walk.keep = not count_only
    return walk.run(None if only is None else [os.fsencode(path) for path in only])


class _Walk:
    def __init__(
        self,
        root: bytes,
        context: JobContext,
        rules: Rules,
        skip: frozenset[bytes],
        known: Mapping[bytes, Known] | None,
        rows: int,
    ) -> None:
        self._root, self._context, self._rules, self._skip, self._known = root, context, rules, skip, known
        self._rows = rows
        self._waiting: list[tuple[bytes, Stack]] = []
        self.found = Scan(root=root, missing=set(known) if known is not None else None)
        self.keep = True

    def run(self, only: Sequence[bytes] | None) -> Scan:
        before = identity_of(self._root)
        if only is None or self._root in only:
            self._waiting.append((self._root, self._rules.start()))
        else:
            self.found.only = topmost(only, self._root)
            judge = Judge(self._root, self._rules, self._skip)
            for path in self.found.only:
                self._begin(path, judge)
        folders = 0
        while self._waiting:
            self._context.check()
            current, stack = self._waiting.pop()
            self._folder(current, stack)
            folders += 1
            if folders % _REPORT_EVERY == 1:
                self._context.progress("Looking for files", self._count(), None, "")
        self._context.progress("Looking for files", self._count(), None, "")
        self.found.folders = folders
        self.found.cut_off = before != identity_of(self._root)
        return self.found

    def _count(self) -> int:
        return len(self.found.files) + self.found.unchanged

    def _begin(self, path: bytes, judge: Judge) -> None:
        """Enters one of the paths that the walk is restricted to, if the rules let it in."""
        parent, name = os.path.split(path)
        above = judge.stack(parent)
        if above is None or passes_link(self._root, parent):
            return
        try:
            status = stat_of(path)
        except OSError as error:
            if error.errno not in (errno.ENOENT, errno.ENOTDIR):
                self._unreadable(path, error, "file")
            return
        is_folder = stat.S_ISDIR(status.st_mode)
        if stat.S_ISLNK(status.st_mode):
            self._leave_out(path, False, _LINK)
        elif (verdict := self._rules.judge_at(above, parent, name, inside_of(self._root, parent), is_folder)) \
                is not None:
            self._leave_out(path, is_folder, verdict)
        elif _MARKS and self._is_hidden(status):
            self._leave_out(path, is_folder, MARKED_HIDDEN)
        elif not is_folder:
            self._file(path, status)
        elif path not in self._skip:
            self._waiting.append((path, above))

    def _folder(self, current: bytes, stack: Stack) -> None:
        try:
            entries, far = list_folder(current)
        except OSError as error:
            if error.errno not in (errno.ENOENT, errno.ENOTDIR) or current == self._root:
                self._unreadable(current, error, "folder")
            return  # a folder that was deleted meanwhile has no files
        rules = self._rules
        inside = inside_of(self._root, current)
        names = [entry.name for entry in entries]
        sbert, git = IGNORE_FILE in names, rules.gitignore and GIT_FILE in names
        if sbert or git:
            stack = rules.enter(stack, current, inside, sbert=sbert, git=git)
        by_name, by_pattern = rules.by_name, rules.by_pattern
        for entry in entries:
            name = entry.name
            path = current + b"/" + name if far else entry.path
            try:
                if entry.is_symlink():
                    self._leave_out(path, False, _LINK)
                    continue
                is_folder = entry.is_dir(follow_symlinks=False)
                verdict = by_name(name, is_folder)
                if is_folder and (name[:1] == b"." or name == b"tmp"):
                    verdict = in_maildir(current, name, verdict)
                if verdict is None:
                    verdict = by_pattern(stack, name, inside, is_folder)
                elif verdict.reason == "hidden" and name.endswith(b".icloud") and not is_folder:
                    self._placeholder(current, name, entry.stat(follow_symlinks=False))
                    continue
                if verdict is None and _MARKS and self._is_hidden(entry.stat(follow_symlinks=False)):
                    verdict = MARKED_HIDDEN
                if verdict is not None:
                    self._leave_out(path, is_folder, verdict)
                elif not is_folder:
                    self._file(path, entry.stat(follow_symlinks=False))
                elif path in self._skip:
                    self._leave_out(path, True, _KERNEL if path in KERNEL_FOLDERS else _LIBRARY)
                elif _MARKS and is_junction(entry):
                    self._leave_out(path, True, _LINK)
                else:
                    self._waiting.append((path, stack))
            except OSError as error:
                if error.errno != errno.ENOENT:
                    self._unreadable(path, error, "file")

    def _is_hidden(self, status: os.stat_result) -> bool:
        return not self._rules.hidden and is_marked_hidden(status)

    def _file(self, path: bytes, status: os.stat_result) -> None:
        if not stat.S_ISREG(status.st_mode):
            self._leave_out(path, False, _SPECIAL)
            return
        cloud = _MARKS and is_online_only(status)
        found = self.found
        if self._known is not None:
            entry = self._known.get(path)
            if entry is not None:
                if (
                    entry.size == status.st_size
                    and entry.mtime_ns == status.st_mtime_ns
                    and (cloud or entry.problem_code != CLOUD_ONLY.code)
                ):
                    found.unchanged += 1
                    assert found.missing is not None
                    found.missing.discard(path)
                    if entry.device != status.st_dev and status.st_dev:
                        found.renumbered.setdefault(entry.device, set()).add(status.st_dev)
                    return
                assert found.missing is not None
                found.missing.discard(path)
        if not self.keep:
            found.unchanged += 1
            return
        if not status.st_ino:  # Windows' directory entries have no identity: ask for it, once, for new files
            status = os.lstat(path)
        file = SourceFile(Path(os.fsdecode(path)), status.st_size, status.st_mtime_ns, status.st_dev, status.st_ino)
        if cloud:
            found.listed[path] = (file, CLOUD_ONLY)
        elif len(path) >= PATH_MAX and sys.platform != "win32":
            found.listed[path] = (file, TOO_LONG)
        else:
            found.files[path] = file
            if status.st_nlink > 1:
                found.linked[path] = (status.st_dev, status.st_ino)

    def _placeholder(self, folder: bytes, name: bytes, status: os.stat_result) -> None:
        """Lists ``.Report.pdf.icloud`` as Report.pdf; what is known of that file stays as it is."""
        path = folder + b"/" + name[1 : -len(b".icloud")]
        if self._known is not None and path in self._known:
            assert self.found.missing is not None
            self.found.missing.discard(path)
            self.found.unchanged += 1
        elif self.keep:
            file = SourceFile(Path(os.fsdecode(path)), status.st_size, status.st_mtime_ns, status.st_dev, status.st_ino)
            self.found.listed[path] = (file, CLOUD_ONLY)

    def _leave_out(self, path: bytes, is_folder: bool, verdict: Verdict) -> None:
        found = self.found
        found.skipped += 1
        found.left_out[verdict.reason] += 1
        if len(found.rows) < self._rows:
            found.rows.append((path, is_folder, verdict))

    def _unreadable(self, path: bytes, error: OSError, kind: str) -> None:
        self.found.closed.add(path)
        if self._known is not None and path in self._known and kind == "file":
            return  # its text stays, and a problem in its place would take it away
        problem = Problem(
            f"{kind}-unreadable" if kind == "folder" else "unreadable",
            f"This {kind} could not be read: {error.strerror}.",
            "Check its permissions, then check for changes.",
        )
        self.found.unreadable.append((Path(os.fsdecode(path)), problem))


def compare(
    found: Scan,
    known: Mapping[bytes, Known],
    *,
    confirm_removals: bool = False,
    known_total: int | None = None,
) -> Changes:
    """Compares a walk with what the library knows of the folder.

    A file is unchanged when size and modification time are. A vanished and a new file with the
    same device, inode, size, time and type are one moved file. Many files gone at once are kept and
    counted in ``removed_pending`` unless ``confirm_removals``.

    Args:
        found: The walk; with ``only``, known files elsewhere are left alone.
        known: The same mapping that was given to :func:`scan`, if one was.
        confirm_removals: The person said that the files were really deleted.
        known_total: Files known of the whole folder, when ``known`` holds only some of them.
    """
    changes = Changes(unchanged=found.unchanged, listed=list(found.listed.values()))
    gone = _gone(found, known, changes)
    by_identity: dict[tuple[int, int, int], bytes] = {
        (k.inode, k.size, k.mtime_ns): path for path, k in gone.items() if k.inode
    }
    for path, file in found.files.items():
        entry = known.get(path)
        if entry is None:
            identity = (file.inode, file.size, file.mtime_ns)
            old = by_identity.get(identity)
            # another type is read in another way
            if old is not None and _type(old) == _type(path) and _same_drive(gone[old].device, file.device, found):
                del by_identity[identity]
                changes.moved.append((gone.pop(old).id, file))
            else:
                changes.added.append(file)
        elif entry.size == file.size and entry.mtime_ns == file.mtime_ns and entry.problem_code != CLOUD_ONLY.code:
            changes.unchanged += 1
        else:
            changes.changed.append(file)
    _keep_offline(gone, found, changes)
    many = len(gone) > _REMOVED_COUNT and len(gone) > _REMOVED_SHARE * max(1, known_total or 0, len(known))
    if many and not confirm_removals:
        changes.removed_pending = len(gone)
    else:
        changes.removed = [entry.id for entry in gone.values()]
        changes.removed_contents = [entry.content for entry in gone.values() if entry.content is not None]
    if found.linked:
        _pair_links(found, known, gone, changes)
    return changes


def _gone(found: Scan, known: Mapping[bytes, Known], changes: Changes) -> dict[bytes, Known]:
    """Gives what is known, was looked for, and is not there any more."""
    missing: Iterable[bytes] = found.missing if found.missing is not None else known
    scope = frozenset(found.only) if found.only is not None else None
    closed = found.closed | {os.fsencode(path) for path, _ in found.unreadable}
    gone = {}
    for path in missing:
        if path in found.files or path in found.listed or (scope is not None and not below(path, scope)):
            continue
        entry = known.get(path)
        if entry is not None and not below(path, closed):
            gone[path] = entry
    if found.cut_off:
        changes.offline = len(gone)
        changes.offline_folders = (Path(os.fsdecode(found.root)),)
        return {}
    return gone


def _keep_offline(gone: dict[bytes, Known], found: Scan, changes: Changes) -> None:
    """Takes out of ``gone`` what lies on a drive that was mounted below the root and is not there now.

    Such a file's device differs from the device of the nearest folder that is still there, and that
    folder is empty or the file's own one is gone. A system that numbers its drives anew at each start is
    seen by the files that are still there under another number.
    """
    places: dict[bytes, tuple[bytes, int, bool]] = {}
    offline: set[bytes] = set()
    for path, entry in list(gone.items()):
        if not entry.device:
            continue
        folder = os.path.dirname(path)
        if folder not in places:
            places[folder] = nearest_place(folder)
        there, device, bare = places[folder]
        if bare and device and device != entry.device and device not in found.renumbered.get(entry.device, ()):
            del gone[path]
            offline.add(there)
            changes.offline += 1
    changes.offline_folders = (*changes.offline_folders, *(Path(os.fsdecode(path)) for path in sorted(offline)))


def _same_drive(old: int, new: int, found: Scan) -> bool:
    return old == new or new in found.renumbered.get(old, ())


def _pair_links(found: Scan, known: Mapping[bytes, Known], gone: Mapping[bytes, Known], changes: Changes) -> None:
    """Says of each hard link among the new files which other path of the same file is read."""
    fresh = {os.fsencode(file.path) for file in (*changes.added, *changes.changed)}
    wanted = set(found.linked.values())
    first: dict[tuple[int, int], bytes] = {}
    for path, entry in known.items():
        identity = (entry.device, entry.inode)
        if identity in wanted and path not in gone and path not in fresh and entry.content is not None:
            first.setdefault(identity, path)
    for path in sorted(fresh):
        linked = found.linked.get(path)
        if linked is not None and first.setdefault(linked, path) != path:
            changes.links[path] = first[linked]


def _type(path: bytes) -> bytes:
    return os.path.splitext(path)[1].lower()


def root_problem(folder: Path, known_count: int) -> str:
    """Gives why a folder must be taken as offline, or ``""``: a vanished drive is not a deletion.

    ``missing``, ``unreadable``, or ``empty`` (a place where a drive is mounted is empty without it). Another
    drive in its place is noticed by :func:`compare`.
    """
    try:
        with os.scandir(folder) as entries:
            empty = next(entries, None) is None
    except FileNotFoundError:
        return "missing"
    except NotADirectoryError:
        return "missing"
    except OSError:
        return "unreadable"
    return "empty" if empty and known_count else ""
