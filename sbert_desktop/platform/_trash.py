"""The system's trash: a file is moved there, found again and put back; nothing is ever deleted for good.

Qt moves (it tells where to); names that are not UTF-8, which Qt cannot hold, go by Send2Trash.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Collection
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote_to_bytes

from sbert_desktop.domain import short_path
from sbert_desktop.errors import PlatformError

_NAMES = re.compile(r"\.trash(es|-\d+)?|\$recycle\.bin", re.IGNORECASE)
_INFO = ".trashinfo"
_LONGEST = 255  # bytes of a file's name
_NO_LINKS = frozenset({errno.EXDEV, errno.EPERM, errno.ENOTSUP, errno.EMLINK, errno.EOPNOTSUPP, errno.ENOSYS})


def is_in_trash(path: Path) -> bool:
    """Tells whether a path lies in a trash: what lies there is no copy that stays."""
    text = os.fspath(path)
    lower = text.lower()
    if "trash" not in lower and "$recycle.bin" not in lower:
        return False  # quick for nearly all; every trash has one of these in its path
    parts = path.parts
    if any(_NAMES.fullmatch(part) for part in parts):
        return True
    pairs = pairwise(parts)
    return any(part == "Trash" and inner in ("files", "expunged") for part, inner in pairs) or any(
        folder == path or folder in path.parents for folder in _home_trashes()
    )


def _home_trashes() -> tuple[Path, ...]:
    if sys.platform == "darwin":
        return (Path.home() / ".Trash",)
    return () if os.name == "nt" else (_data_home() / "Trash",)


def _data_home() -> Path:
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")


class SystemTrash:
    """The trash of the system; fulfils :class:`sbert_desktop.cleanup.Trash`. Any thread."""

    def move(self, path: Path) -> Path | None:
        """Moves a file to the trash and gives where it lies there, None where the system does not tell."""
        if path.is_symlink() or not path.is_file():
            raise PlatformError("trash-refused", f"{short_path(path)} is not a file.", "Look for duplicates again.")
        if os.name == "posix" and sys.platform != "darwin":
            with contextlib.suppress(OSError):
                _data_home().mkdir(mode=0o700, parents=True, exist_ok=True)  # Qt makes the trash in it, not it
        real = _real(path)  # of a path through links, Qt would note down another one on other volumes
        if not _is_text(real):
            return self._move_bytes(real)
        moved, why = _move_by_qt(real)
        if why:
            raise _refusal(path, why)
        if moved and moved != str(real) and os.path.lexists(moved):
            return Path(moved)
        return next(iter(self.find(path)), None)

    def _move_bytes(self, path: Path) -> Path | None:
        import send2trash

        try:
            send2trash.send2trash(os.fsencode(path))
        except OSError as error:
            raise _refusal(path, str(error.strerror or error.errno)) from error
        return next(iter(self.find(path)), None)

    def find(self, original: Path) -> tuple[Path, ...]:
        """Gives what lies in the trash that came from a path, newest first."""
        found: list[tuple[str, Path]] = []
        real = _real(original)
        originals = {os.path.normpath(original), str(real)}
        for trash, top in _trashes(real):
            with contextlib.suppress(OSError):
                notes = [name for name in os.listdir(trash / "info") if name.endswith(_INFO)]
                days = [(_names(trash / "info" / name, top, originals), name) for name in notes]
                found += [(day, trash / "files" / name.removesuffix(_INFO)) for day, name in days if day is not None]
        return tuple(path for _, path in sorted(found, reverse=True) if os.path.lexists(path))

    def restore(self, trashed: Path, target: Path) -> None:
        """Puts a file back; never over another one."""
        name = short_path(target)
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            why = "is no folder any more" if isinstance(error, FileExistsError | NotADirectoryError) else error.strerror
            raise PlatformError(
                "trash-refused",
                f"{name} could not be put back: {short_path(target.parent)}: {why}.",
                f"It lies in the trash, at {short_path(trashed)}.",
            ) from error
        try:
            _move_aside(trashed, target)
        except FileExistsError as error:
            raise PlatformError("file-exists", f"Another file lies at {short_path(target)} now.", "") from error
        except OSError as error:
            raise PlatformError(
                "trash-refused",
                f"{short_path(target)} could not be put back: {error.strerror}.",
                f"It lies in the trash, at {short_path(trashed)}.",
            ) from error
        if trashed.parent.name == "files":
            with contextlib.suppress(OSError):
                (trashed.parent.parent / "info" / f"{trashed.name}{_INFO}").unlink(missing_ok=True)


def _move_by_qt(path: Path) -> tuple[str, str]:
    """Gives where the file lies now, and why it was not moved."""
    from PySide6.QtCore import QFile

    file = QFile(str(path))
    if file.moveToTrash():
        return file.fileName(), ""
    return "", file.errorString() or "unknown"


def _is_text(path: Path) -> bool:
    try:
        str(path).encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _refusal(path: Path, detail: str) -> PlatformError:
    name = short_path(path)
    if not os.path.lexists(path):
        return PlatformError("trash-refused", f"{name} is gone.", "Look for duplicates again.", detail)
    if not os.access(path.parent, os.W_OK | os.X_OK):
        return PlatformError(
            "trash-refused", f"You may not change the folder of {name}.", "Ask for the right to, or leave it.", detail
        )
    if detail == os.strerror(errno.ENOSPC):
        return PlatformError("trash-refused", f"The drive that holds {name} is full.", "Make room on it first.", detail)
    if len(os.fsencode(path.name)) + len(_INFO) > _LONGEST:
        return PlatformError(
            "trash-refused", f"The name of {name} is too long for the trash.", "Give it a shorter one.", detail
        )
    if _same_volume(path, Path.home()):
        return PlatformError(
            "trash-refused", f"The system refused to move {name} to the trash.", "Look at your trash.", detail
        )
    return PlatformError(
        "no-trash",
        f"The drive that holds {name} has no trash.",
        "Nothing is ever deleted for good here: move the file away yourself.",
        detail,
    )


def _same_volume(path: Path, other: Path) -> bool:
    try:
        return os.lstat(path).st_dev == os.stat(other).st_dev
    except OSError:
        return False


def _real(path: Path) -> Path:
    """Gives a path by which its folder is not a link."""
    return Path(os.path.realpath(path.parent)) / path.name


def _trashes(original: Path) -> list[tuple[Path, Path | None]]:
    """Gives the trash folders that a file of this path may lie in; paths in their notes are relative to the second."""
    if os.name == "nt" or sys.platform == "darwin":
        return []  # Qt tells where to it moved
    found: list[tuple[Path, Path | None]] = [(_data_home() / "Trash", _data_home())]
    top = original.parent
    while not os.path.ismount(top) and top != top.parent:
        top = top.parent
    user = os.getuid()
    return [*found, (top / ".Trash" / str(user), top), (top / f".Trash-{user}", top)]


def _names(info: Path, top: Path | None, originals: Collection[str]) -> str | None:
    """Gives the day of deletion when a note of the trash is of this file."""
    try:
        lines = info.read_bytes().splitlines()
    except OSError:
        return None
    said = dict(reversed([line.split(b"=", 1) for line in lines if b"=" in line]))  # the first of a key counts
    path = os.fsdecode(unquote_to_bytes(said.get(b"Path", b"")))
    if not path:
        return None
    whole = path if os.path.isabs(path) or top is None else os.path.join(top, path)
    if os.path.normpath(whole) not in originals:
        return None
    return os.fsdecode(said.get(b"DeletionDate", b""))


def _move_aside(source: Path, target: Path) -> None:
    """Moves a file where nothing lies; what lies there stops it.

    Raises:
        FileExistsError: Something does.
    """
    if os.name == "nt":
        os.rename(source, target)  # refuses by itself
        return
    try:
        os.link(source, target, follow_symlinks=False)  # unlike rename, never replaces
    except FileExistsError:
        if not _is_one_file(source, target):
            raise
        os.unlink(source)  # what was cut short between the link and this
        return
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
    else:
        os.unlink(source)
        return
    if os.path.lexists(target):
        raise FileExistsError(errno.EEXIST, "exists", str(target))
    if os.lstat(source).st_dev == os.stat(target.parent).st_dev:
        os.rename(source, target)
        return
    _copy_over(source, target)


def _is_one_file(one: Path, other: Path) -> bool:
    first, second = os.lstat(one), os.lstat(other)
    return (first.st_dev, first.st_ino) == (second.st_dev, second.st_ino) and first.st_ino != 0


def _copy_over(source: Path, target: Path) -> None:
    """Copies a file to another volume; it appears under its name when it is whole, and only then leaves the trash."""
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=".restoring-")
    try:
        with os.fdopen(handle, "wb") as out, source.open("rb") as stream:
            shutil.copyfileobj(stream, out, 1 << 20)
            out.flush()
            os.fsync(out.fileno())
        shutil.copystat(source, temporary)
        try:
            os.link(temporary, target)  # unlike rename, never replaces
            os.unlink(temporary)
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            if os.path.lexists(target):
                raise FileExistsError(errno.EEXIST, "exists", str(target)) from error
            os.rename(temporary, target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    os.unlink(source)
