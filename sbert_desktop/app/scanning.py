"""Walks a folder and says what changed since the last time; opens no file.

Symbolic links are not followed and special files (pipes, sockets, devices) are skipped, so a walk
always ends. Folders that cannot be read are listed, not raised.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from sbert_desktop.domain import ContentId, FileId, JobContext, Problem, SourceFile

_LOCK_FILES = ("~$", ".~lock.", "._")
_SYSTEM_FILES = frozenset({"thumbs.db", "desktop.ini", ".ds_store"})
_SYSTEM_FOLDERS = frozenset({"$recycle.bin", "system volume information", "lost+found", "__macosx"})

_REMOVED_SHARE, _REMOVED_COUNT = 0.20, 100
"""More files gone at once than both: ask before they leave the library (R7)."""


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


@dataclass(slots=True)
class Scan:
    """What a walk found: files by path bytes, and folders that could not be read."""

    files: dict[bytes, SourceFile] = field(default_factory=dict)
    unreadable: list[tuple[Path, Problem]] = field(default_factory=list)
    skipped: int = 0


@dataclass(slots=True)
class Changes:
    """What differs between a walk and the library. ``moved`` pairs a known id with its new place."""

    added: list[SourceFile] = field(default_factory=list)
    changed: list[SourceFile] = field(default_factory=list)
    moved: list[tuple[FileId, SourceFile]] = field(default_factory=list)
    removed: list[FileId] = field(default_factory=list)
    removed_contents: list[ContentId] = field(default_factory=list)
    removed_pending: int = 0
    unchanged: int = 0


def scan(folder: Path, context: JobContext, *, hidden: bool = False, skip: tuple[Path, ...] = ()) -> Scan:
    """Walks a folder and stats its files.

    Args:
        folder: Root of the walk.
        context: Asked for a cancel once per folder; gets progress.
        hidden: Include names that begin with a dot.
        skip: Folders that are left out whole (the library itself).
    """
    found = Scan()
    banned = {os.fsencode(path) for path in skip}
    waiting = [os.fsencode(folder)]
    while waiting:
        current = waiting.pop()
        context.check()
        try:
            entries = list(os.scandir(current))
        except OSError as error:
            problem = Problem(
                "folder-unreadable",
                f"This folder could not be read: {error.strerror}.",
                "Check its permissions, then check for changes.",
            )
            found.unreadable.append((Path(os.fsdecode(current)), problem))
            continue
        for entry in _wanted(entries, hidden, found):
            if entry.is_dir(follow_symlinks=False):
                if entry.path not in banned:
                    waiting.append(entry.path)
                continue
            try:
                status = entry.stat(follow_symlinks=False)
            except OSError:
                continue
            if not stat.S_ISREG(status.st_mode):
                found.skipped += 1
                continue
            found.files[entry.path] = SourceFile(
                Path(os.fsdecode(entry.path)), status.st_size, status.st_mtime_ns, status.st_dev, status.st_ino
            )
        context.progress("Looking for files", len(found.files), None, "")
    return found


def _wanted(entries: list[os.DirEntry[bytes]], hidden: bool, found: Scan) -> Iterator[os.DirEntry[bytes]]:
    for entry in entries:
        name = os.fsdecode(entry.name)
        if entry.is_symlink():
            found.skipped += 1
            continue
        if name.startswith(_LOCK_FILES) or name.lower() in _SYSTEM_FILES or name.lower() in _SYSTEM_FOLDERS:
            found.skipped += 1
            continue
        if not hidden and name.startswith("."):
            found.skipped += 1
            continue
        yield entry


def compare(found: Scan, known: Mapping[bytes, Known], *, confirm_removals: bool = False) -> Changes:
    """Compares a walk with what the library knows of the folder.

    A file is unchanged when size and modification time are. A vanished and a new file with the
    same device, inode, size, time and type are one moved file. Many files gone at once are kept and
    counted in ``removed_pending`` unless ``confirm_removals``.
    """
    changes = Changes()
    unreadable = [os.fsencode(path) + b"/" for path, _ in found.unreadable]
    gone = {
        path: entry
        for path, entry in known.items()
        if path not in found.files and not any(path.startswith(prefix) for prefix in unreadable)
    }
    by_identity = {(k.device, k.inode, k.size, k.mtime_ns): path for path, k in gone.items() if k.inode}
    for path, file in found.files.items():
        entry_or_none = known.get(path)
        if entry_or_none is None:
            identity = (file.device, file.inode, file.size, file.mtime_ns)
            old = by_identity.get(identity)
            if old is not None and _type(old) == _type(path):  # another type is read in another way
                del by_identity[identity]
                changes.moved.append((gone.pop(old).id, file))
            else:
                changes.added.append(file)
        elif entry_or_none.size == file.size and entry_or_none.mtime_ns == file.mtime_ns:
            changes.unchanged += 1
        else:
            changes.changed.append(file)
    many = len(gone) > _REMOVED_COUNT and len(gone) > _REMOVED_SHARE * max(1, len(known))
    if many and not confirm_removals:
        changes.removed_pending = len(gone)
    else:
        changes.removed = [entry.id for entry in gone.values()]
        changes.removed_contents = [entry.content for entry in gone.values() if entry.content is not None]
    return changes


def _type(path: bytes) -> bytes:
    return os.path.splitext(path)[1].lower()


def root_problem(folder: Path, known_count: int) -> str:
    """Gives why a folder must be taken as offline, or ``""``: a vanished drive is not a deletion."""
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
