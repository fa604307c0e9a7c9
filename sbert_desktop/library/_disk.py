"""What the library must know about the disk it lies on, and what goes wrong there in plain words."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import shutil
import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from sbert_desktop.domain import short_path
from sbert_desktop.errors import LibraryBusy, LibraryError

MIN_FREE_BYTES = 500 * 1_000_000
MIN_FREE_SHARE = 0.02
MIN_FREE_VARIABLE = "SBERT_DESKTOP_MIN_FREE_MB"

# SQLite's locks and shared memory do not work reliably over these (sqlite.org/wal.html, section 1).
NETWORK_FILESYSTEMS = frozenset(
    {
        "nfs",
        "nfs4",
        "cifs",
        "smb3",
        "smbfs",
        "smb2",
        "afpfs",
        "webdav",
        "ncpfs",
        "afs",
        "ceph",
        "glusterfs",
        "lustre",
        "fuse.sshfs",
        "fuse.davfs2",
        "davfs",
        "fuse.rclone",
        "fuse.glusterfs",
        "fuse.gvfsd-fuse",
        "osxfuse",
        "macfuse",
    }
)


def filesystem_of(path: Path) -> str:
    """Gives the file system type that a path lies on, lower case; ``""`` where it cannot be told."""
    try:
        mounts = _mounts()
    except OSError:
        return ""
    target = os.path.realpath(path)
    best, kind = "", ""
    for point, name in mounts:
        inside = target == point or target.startswith(point.rstrip(os.sep) + os.sep)
        if inside and len(point) >= len(best):
            best, kind = point, name
    return kind.lower()


def _mounts() -> list[tuple[str, str]]:
    table = Path("/proc/self/mounts")
    if table.exists():
        rows = [line.split(" ") for line in table.read_text("utf-8", "surrogateescape").splitlines()]
        return [(_unescaped(row[1]), row[2]) for row in rows if len(row) > 2]
    import psutil

    return [(part.mountpoint, part.fstype) for part in psutil.disk_partitions(all=True)]


def _unescaped(text: str) -> str:
    """Undoes the octal escapes (blank, tab, newline, backslash) of the table of mounts."""
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), text)


def is_network(path: Path) -> bool:
    """Tells whether a path lies on a network share."""
    return str(path).startswith("\\\\") or filesystem_of(path) in NETWORK_FILESYSTEMS


def minimum_free(path: Path) -> int:
    """Gives how many bytes must stay free: 500 MB or 2 %, whichever is more, or what the environment says."""
    named = os.environ.get(MIN_FREE_VARIABLE)
    with contextlib.suppress(ValueError, OverflowError):  # a word that is no number says nothing
        return int(float(named or "") * 1_000_000)
    return int(max(MIN_FREE_BYTES, MIN_FREE_SHARE * shutil.disk_usage(path).total))


def check_room(path: Path) -> None:
    """Makes sure that enough of the disk is free.

    Raises:
        LibraryError: ``disk-full``.
    """
    free, wanted = shutil.disk_usage(path).free, minimum_free(path)
    if free < wanted:
        raise disk_full(path, f"{free} bytes free, {wanted} wanted")


def disk_full(path: Path, detail: str = "") -> LibraryError:
    """Gives the error for a full disk."""
    return LibraryError(
        "disk-full",
        f"The disk that holds the library {short_path(path)} is almost full.",
        "Make room on it; indexing then goes on by itself. What was stored so far is safe.",
        detail,
    )


def damaged(path: Path, detail: str = "") -> LibraryError:
    """Gives the error for a catalog that cannot be trusted."""
    return LibraryError(
        "library-damaged",
        f"The catalog of the library {short_path(path)} is damaged.",
        "Restore a backup of the library, or move it away and index your folders again. Your files are untouched.",
        detail,
    )


def read_only(path: Path, detail: str = "") -> LibraryError:
    """Gives the error for a library that may only be read, be it for want of room."""
    if _no_room(path):
        return disk_full(path, detail)
    return LibraryError(
        "library-readonly",
        f"The library {short_path(path)} can only be read.",
        "Searching works. To index, make its folder writable or choose another library.",
        detail,
    )


def unreadable(path: Path, detail: str = "") -> LibraryError:
    """Gives the error for a library of which a part is closed to us, or that the disk does not give."""
    return LibraryError(
        "library-unreadable",
        f"The library {short_path(path)} cannot be read.",
        "Check the permissions of its folder and files, and the disk that it lies on.",
        detail,
    )


@contextmanager
def known_errors(path: Path) -> Iterator[None]:
    """Turns what SQLite and the disk say into known problems; everything else passes unchanged."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        known = _of_sqlite(path, error)
        if known is None:
            raise
        raise known from error
    except (UnicodeDecodeError, zlib.error, json.JSONDecodeError) as error:
        raise damaged(path, f"{type(error).__name__}") from error  # never the text: it may be a document's
    except (ArithmeticError, LookupError, MemoryError, TypeError, ValueError) as error:
        # A bug of ours, or a catalog in which numbers and links are wrong: only a look at it tells.
        if looks_damaged(path):
            raise damaged(path, f"{type(error).__name__}") from error
        raise
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise disk_full(path, str(error)) from error
        if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
            closed = _closed(path) or _closed(error.filename)
            raise (unreadable if closed else read_only)(path, str(error)) from error
        if error.errno is not None and _lies_in(path, error.filename):
            raise unreadable(path, str(error)) from error
        raise


def looks_damaged(path: Path) -> bool:
    """Examines the catalog: its pages, the kinds of its values and its links."""
    try:
        connection = sqlite3.connect(f"file:{quote(os.fsencode(path / 'catalog.sqlite'))}?mode=ro", uri=True)
    except sqlite3.Error:
        return False
    try:
        found = connection.execute("PRAGMA quick_check(1)").fetchall()
        return found != [("ok",)] or connection.execute("PRAGMA foreign_key_check").fetchone() is not None
    except sqlite3.DatabaseError:
        return True
    finally:
        connection.close()


# What SQLite says of a schema or a value that it cannot make sense of; all our statements are fixed texts.
_NONSENSE = re.compile(
    r"no such (column|table|tokenizer)|could not decode|unsupported file format|invalid fts5|foreign key mismatch"
    r"|malformed|vtable constructor failed",
    re.IGNORECASE,
)


def _of_sqlite(path: Path, error: sqlite3.DatabaseError) -> LibraryError | None:
    code = getattr(error, "sqlite_errorcode", None)
    name = str(getattr(error, "sqlite_errorname", "") or "")
    primary = code & 0xFF if isinstance(code, int) else None
    if primary == sqlite3.SQLITE_FULL or (primary == sqlite3.SQLITE_IOERR and _no_room(path)):
        return disk_full(path, f"{name}: {error}")
    # A bare "constraint failed" comes from inside a keyword table whose pages contradict each other: a constraint of
    # ours that is broken is named.
    if primary in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB) or code == sqlite3.SQLITE_CONSTRAINT:
        return damaged(path, f"{name}: {error}")
    nonsense = _NONSENSE.search(str(error))
    if nonsense:
        return damaged(path, nonsense[0])  # never the whole message: it may quote a document
    if primary in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
        closed = _closed(path) or _closed(path / "catalog.sqlite")
        return (unreadable if closed else read_only)(path, f"{name}: {error}")
    if primary == sqlite3.SQLITE_IOERR:
        return unreadable(path, name)
    if primary in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return LibraryBusy("library-busy", "Another program is writing to the library.", "Try again in a moment.", name)
    return None


def _closed(path: object) -> bool:
    """Says whether a file or folder that is there may not be read."""
    if not isinstance(path, str | bytes | os.PathLike):
        return False
    try:
        os.lstat(path)
    except PermissionError:
        return True  # a folder above it is closed
    except OSError:
        return False
    return not os.access(path, os.R_OK)


def _lies_in(path: Path, file: object) -> bool:
    return isinstance(file, str | bytes | os.PathLike) and Path(os.fsdecode(file)).is_relative_to(path)


def _no_room(path: Path) -> bool:
    try:
        return shutil.disk_usage(path).free < 1_000_000
    except OSError:
        return False


def stamp(path: Path) -> str:
    """Gives what changes when a file is written anew, ``""`` when there is none."""
    try:
        status = path.stat()
    except OSError:
        return ""
    return f"{status.st_ino} {status.st_size} {status.st_mtime_ns}"
