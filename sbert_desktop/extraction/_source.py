"""What a format's reader gets: the bytes of one file, opened once, and its suffix."""

from __future__ import annotations

import errno
import os
import stat
from dataclasses import dataclass
from pathlib import Path

from sbert_desktop.extraction._problems import failure


@dataclass(frozen=True, slots=True)
class Source:
    """The bytes of one file. ``name`` is its last path component, for its suffix only."""

    name: str
    data: bytes
    password: str | None = None

    @property
    def suffix(self) -> str:
        """The lower-case suffix without its dot."""
        return suffix_of(self.name)


@dataclass(frozen=True, slots=True)
class Opened:
    """Bytes with the size and time that the file had before and after they were read."""

    data: bytes
    size: int
    mtime_ns: int
    steady: bool


def suffix_of(name: str) -> str:
    """Gives the lower-case suffix without its dot, ``""`` where there is none."""
    stem, dot, suffix = name.rpartition(".")
    return suffix.lower() if dot and stem else ""


def read_file(path: Path, size_limit: int) -> Opened:
    """Reads a regular file without ever waiting on a pipe or device.

    Raises:
        ExtractionError: ``unreadable`` or ``too-large``.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
                             | getattr(os, "O_CLOEXEC", 0))
    except OSError as error:
        raise failure("unreadable", _why(error), detail=type(error).__name__) from error
    try:
        before = os.fstat(descriptor)
        if not stat.S_ISREG(before.st_mode):
            raise failure("unreadable", "This is not a regular file.", "")
        if before.st_size > size_limit:
            raise failure("too-large", f"The file has {before.st_size / 1e6:,.0f} MB; the limit is "
                          f"{size_limit / 1e6:,.0f} MB.")
        with os.fdopen(os.dup(descriptor), "rb", buffering=0) as stream:
            data = stream.readall()
        after = os.fstat(descriptor)
    except OSError as error:
        raise failure("unreadable", _why(error), detail=type(error).__name__) from error
    finally:
        os.close(descriptor)
    steady = (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns) and len(data) == after.st_size
    return Opened(data, before.st_size, before.st_mtime_ns, steady)


def _why(error: OSError) -> str:
    if error.errno in {errno.EACCES, errno.EPERM}:
        return "You may not read this file."
    if error.errno in {errno.ENOENT, errno.ENOTDIR}:
        return "The file is no longer there."
    if error.errno == errno.EISDIR:
        return "This is not a regular file."
    return f"The file could not be opened ({error.strerror or 'unknown reason'})."
