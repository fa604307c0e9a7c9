"""What a format's reader gets: one file or member, as bytes or as a stream, and its suffix."""

from __future__ import annotations

import errno
import io
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from sbert_desktop.extraction._budget import Budget
from sbert_desktop.extraction._problems import failure


class Source:
    """One file or member of a container. Plain formats use ``data``, large ones ``stream()``.

    Args:
        name: Its last path component, for its suffix only.
        data: Its bytes, where they are in memory.
        password: What the person typed to unlock it.
        file: Descriptor of the open file, in place of ``data``; it stays the caller's to close.
        budget: What archives inside may still unpack, shared by all levels; a fresh one by default.
    """

    __slots__ = ("_data", "_file", "_size", "budget", "name", "password")

    def __init__(self, name: str, data: bytes | None = None, password: str | None = None, *,
                 file: int | None = None, budget: Budget | None = None) -> None:
        self.name = name
        self.password = password
        self._data = data if data is not None or file is not None else b""
        self._file = file
        self._size = len(data) if data is not None else os.fstat(file).st_size if file is not None else 0
        self.budget = budget if budget is not None else Budget(self._size)

    @property
    def suffix(self) -> str:
        """The lower-case suffix without its dot."""
        return suffix_of(self.name)

    @property
    def size(self) -> int:
        """How many bytes it has (a file: when it was opened)."""
        return self._size

    @property
    def data(self) -> bytes:
        """All its bytes; a file is read as a whole at the first use."""
        if self._data is None:
            with self.stream() as stream:
                self._data = stream.read()
        return self._data

    def head(self, count: int) -> bytes:
        """Gives its first bytes."""
        if self._data is not None:
            return self._data[:count]
        with self.stream() as stream:
            return stream.read(count)

    def stream(self) -> BinaryIO:
        """Gives a seekable stream from its beginning on; each has a place of its own. Not for several threads."""
        if self._data is not None:
            return io.BytesIO(self._data)
        assert self._file is not None
        return cast(BinaryIO, io.BufferedReader(_Reading(self._file, self._size), 1 << 16))


class _Reading(io.RawIOBase):
    """Reads an open file from its own place, whatever else reads it; closing it leaves the file open.

    It ends where the file ended when it was opened: a file that grows as fast as it is read has no other end.
    """

    def __init__(self, file: int, size: int) -> None:
        super().__init__()
        self._file = file
        self._size = size
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._at}.get(whence)
        if start is None:
            start = min(self._size, os.fstat(self._file).st_size)
        if start + offset < 0:
            raise ValueError("negative seek position")
        self._at = start + offset
        return self._at

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        view = memoryview(buffer)
        os.lseek(self._file, self._at, os.SEEK_SET)
        data = os.read(self._file, min(len(view), max(0, self._size - self._at)))
        view[: len(data)] = data
        self._at += len(data)
        return len(data)


@dataclass(frozen=True, slots=True)
class OpenFile:
    """A regular file that is open, with the size and time that it had when it was opened."""

    file: int
    size: int
    mtime_ns: int

    def steady(self) -> bool:
        """Tells whether the file is still as it was when it was opened."""
        now = os.fstat(self.file)
        return (self.size, self.mtime_ns) == (now.st_size, now.st_mtime_ns)


def suffix_of(name: str) -> str:
    """Gives the lower-case suffix without its dot, ``""`` where there is none."""
    stem, dot, suffix = name.rstrip().rpartition(".")  # "notes.txt " is text all the same
    return suffix.lower() if dot and stem else ""


@contextmanager
def open_file(path: Path) -> Iterator[OpenFile]:
    """Opens a regular file without ever waiting on a pipe or device.

    Raises:
        ExtractionError: ``unreadable``.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
                             | getattr(os, "O_CLOEXEC", 0))
    except OSError as error:
        raise failure("unreadable", why(error), detail=type(error).__name__) from error
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise failure("unreadable", "This is not a regular file.", "")
        yield OpenFile(descriptor, status.st_size, status.st_mtime_ns)
    finally:
        os.close(descriptor)


def check_size(size: int, limit: int) -> None:
    """Refuses what is larger than the setting allows.

    Raises:
        ExtractionError: ``too-large``.
    """
    if size > limit:
        raise failure("too-large", f"The file has {size / 1e6:,.0f} MB; the limit is {limit / 1e6:,.0f} MB.")


def why(error: OSError) -> str:
    """Gives a system error as the sentence that the list of problems shows."""
    if error.errno in {errno.EACCES, errno.EPERM}:
        return "You may not read this file."
    if error.errno in {errno.ENOENT, errno.ENOTDIR}:
        return "The file is no longer there."
    if error.errno == errno.EISDIR:
        return "This is not a regular file."
    return f"The file could not be opened ({error.strerror or 'unknown reason'})."
