"""Looks at folders and paths on the disk: of any length, following no link."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Sequence

PATH_MAX = 4096 if sys.platform != "darwin" else 1024
"""Bytes of a path, its closing NUL included, that the system opens. Source: PATH_MAX of limits.h."""
_FAR = PATH_MAX - 260
"""From this length of a folder's path on, its entries are reached from an opened folder."""


def list_folder(folder: bytes) -> tuple[list[os.DirEntry[bytes]], bool]:
    """Lists a folder; the flag says that the entries know only their name, as the path is too long."""
    if len(folder) < _FAR or sys.platform == "win32":
        with os.scandir(folder) as entries:
            return list(entries), False
    return _list_far(folder), True


class _FarEntry:
    """A directory entry with bytes for its name; what ``os.scandir`` of a descriptor gives has text."""

    def __init__(self, entry: os.DirEntry[str], status: os.stat_result) -> None:
        self.name = os.fsencode(entry.name)
        self.path = self.name
        self._status = status

    def is_symlink(self) -> bool:
        return stat.S_ISLNK(self._status.st_mode)

    def is_dir(self, *, follow_symlinks: bool = True) -> bool:
        return stat.S_ISDIR(self._status.st_mode)

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:
        return self._status


def _list_far(folder: bytes) -> list[os.DirEntry[bytes]]:
    handle = open_far(folder)
    try:
        with os.scandir(handle) as entries:
            found = []
            for entry in entries:
                try:
                    found.append(_FarEntry(entry, entry.stat(follow_symlinks=False)))
                except FileNotFoundError:
                    continue
            return found  # type: ignore[return-value]
    finally:
        os.close(handle)


def open_far(path: bytes, flags: int = os.O_RDONLY) -> int:
    """Opens a path of any length, piece by piece, and gives the descriptor.

    Raises:
        OSError: It cannot be opened, or is a link.
    """
    handle = os.open(b"/", os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
    parts = path.strip(b"/").split(b"/")
    piece: list[bytes] = []
    try:
        for number, part in enumerate(parts):
            piece.append(part)
            last = number == len(parts) - 1
            if last or sum(map(len, piece)) + len(piece) > PATH_MAX // 4:
                kind = flags if last else os.O_RDONLY | getattr(os, "O_DIRECTORY", 0)
                step = os.open(b"/".join(piece), kind | getattr(os, "O_NOFOLLOW", 0), dir_fd=handle)
                os.close(handle)
                handle, piece = step, []
    except OSError:
        os.close(handle)
        raise
    return handle


def stat_of(path: bytes) -> os.stat_result:
    """Gives the status of a path of any length itself, not of what it links to.

    Raises:
        OSError: It is not there, or closed to us.
    """
    if len(path) < PATH_MAX or sys.platform == "win32":
        return os.lstat(path)
    parent, name = os.path.split(path)
    handle = open_far(parent)
    try:
        return os.stat(name, dir_fd=handle, follow_symlinks=False)
    finally:
        os.close(handle)


def identity_of(path: bytes) -> tuple[int, int] | None:
    """Gives device and inode of what a path leads to; None when it is not there."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def is_junction(entry: os.DirEntry[bytes]) -> bool:
    """Says whether a Windows folder is a junction or mounted in: followed, it could lead in a circle."""
    return getattr(entry.stat(follow_symlinks=False), "st_reparse_tag", 0) == 0xA000_0003  # IO_REPARSE_TAG_MOUNT_POINT


def topmost(paths: Sequence[bytes], root: bytes) -> tuple[bytes, ...]:
    """Gives the paths below the root without those that lie below another one."""
    prefix = os.path.join(root, b"")
    kept: set[bytes] = set()
    for path in sorted({os.path.normpath(path) for path in paths}, key=len):
        if path.startswith(prefix) and not below(path, kept):
            kept.add(path)
    return tuple(sorted(kept))


def passes_link(root: bytes, folder: bytes) -> bool:
    """Says whether a link stands between the root and a folder below it."""
    while len(folder) > len(root):
        try:
            if stat.S_ISLNK(stat_of(folder).st_mode):
                return True
        except OSError:
            pass  # a folder that is gone is no link
        folder = os.path.dirname(folder)
    return False


def below(path: bytes, folders: set[bytes] | frozenset[bytes]) -> bool:
    """Says whether a path is one of the folders or lies below one."""
    if not folders:
        return False
    while path not in folders:
        parent = os.path.dirname(path)
        if parent == path:
            return False
        path = parent
    return True


def nearest_place(folder: bytes) -> tuple[bytes, int, bool]:
    """Gives the nearest folder that exists, its device, and whether it is bare of the file's own folder."""
    bare = False
    while True:
        try:
            device = os.lstat(folder).st_dev
            break
        except OSError:
            parent = os.path.dirname(folder)
            if parent == folder:
                return folder, 0, True
            bare, folder = True, parent
    if not bare:
        try:
            with os.scandir(folder) as entries:
                bare = next(entries, None) is None
        except OSError:
            bare = True
    return folder, device, bare
