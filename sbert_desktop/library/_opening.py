"""Opening a library: making one where there is none, and finding out what may be done with it."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path

from sbert_desktop.domain import short_path
from sbert_desktop.errors import LibraryError
from sbert_desktop.library import _disk, _schema
from sbert_desktop.library._library import Library


def open_library(
    path: Path,
    *,
    create: bool = True,
    read_only: bool | None = None,
    exact_below: int = 100_000,
    index_from: int = 10_000,
    extractor_version: int = 1,
) -> Library:
    """Opens the library in a folder, making it where there is none.

    Args:
        path: The library's folder; made with mode 0700.
        create: Make an empty library when there is none.
        read_only: None finds out: a folder that cannot be written is opened as it stands, and so is, without
            ``create``, one on a disk that is full.
        exact_below: Live passages up to which a snapshot offers no index.
        index_from: Passages from which :meth:`Writer.build_index` builds one.
        extractor_version: Texts read by another version count as unknown to :meth:`Library.has_content`.

    Raises:
        LibraryError: ``library-missing``, ``library-newer`` and ``library-older`` (nothing is changed),
            ``library-damaged``, ``library-busy`` (an earlier version of the program has it),
            ``library-readonly``, ``library-network-share`` or ``disk-full``.
    """
    path = Path(os.path.abspath(path.expanduser()))
    exists = _catalog_exists(path)
    if not exists and (not create or read_only):
        raise LibraryError(
            "library-missing", f"There is no library in {short_path(path)}", "Index a folder first, or choose another."
        )
    mode = _mode(path, exists, read_only)
    try:
        return _opened(path, mode, exists, exact_below, index_from, extractor_version)
    except LibraryError as error:
        # Not even a reader's few bytes have room. Whoever only asks needs none, if nothing waits in the log.
        searchable = exists and read_only is None and not create and not _size(path / (_schema.CATALOG + "-wal"))
        if error.code != "disk-full" or not searchable:
            raise
    library = Library(path, "immutable", exact_below, index_from, extractor_version)
    library.notices.append("The disk that holds the library is full: it can be searched, but nothing can be kept.")
    return library


def _opened(
    path: Path, mode: str, exists: bool, exact_below: int, index_from: int, extractor_version: int
) -> Library:
    with _disk.known_errors(path):
        if mode == "rw":
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not exists:
                os.chmod(path, 0o700)
                _disk.check_room(path)
        version = _check_version(path, mode, exists)
        # A process that was killed while it made the catalog leaves an empty one, and nothing beside it.
        if mode == "rw" and not version and not (path / "spaces").exists():
            _schema.create(path)
    return Library(path, mode, exact_below, index_from, extractor_version)


def _catalog_exists(path: Path) -> bool:
    """Says whether there is a catalog; a folder that does not tell is no missing library."""
    try:
        return (path / _schema.CATALOG).exists()
    except PermissionError as error:
        raise _disk.unreadable(path, str(error)) from error


def _mode(path: Path, exists: bool, read_only: bool | None) -> str:
    writable = _writable(path if path.exists() else _nearest(path))
    if read_only is False and not writable:
        raise _disk.read_only(path)
    if writable and not read_only:
        if _disk.is_network(_nearest(path)):
            raise LibraryError(
                "library-network-share",
                f"The library {short_path(path)} lies on a network share, where its locks do not hold.",
                "Choose a folder on a disk of this computer; the folders you search may lie anywhere.",
            )
        return "rw"
    if not exists:
        reason = "is a file" if _nearest(path).is_file() else "can only be read"
        raise LibraryError(
            "library-readonly",
            f"No library can be made in {short_path(path)}: {short_path(_nearest(path))} {reason}.",
            "Choose a folder that you may write to.",
        )
    if writable or _size(path / (_schema.CATALOG + "-wal")):
        return "ro"  # somebody may be writing, or left a log that must be read too
    return "immutable"


def _writable(path: Path) -> bool:
    if not os.access(path, os.W_OK | os.X_OK):
        return False
    try:
        return not os.statvfs(path).f_flag & os.ST_RDONLY
    except (AttributeError, OSError):
        return True


def _nearest(path: Path) -> Path:
    while not path.exists() and path != path.parent:
        path = path.parent
    return path


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _check_version(path: Path, mode: str, exists: bool) -> int:
    """Refuses a newer catalog through a read-only connection, so that not one byte of it changes; 0: no tables yet."""
    if not exists:
        return 0
    with closing(_schema.connect(path, mode="immutable" if mode == "immutable" else "ro")) as connection:
        return _schema.version_of(connection)
