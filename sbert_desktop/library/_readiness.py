"""Makes a catalog ready to be read when a library is opened: whole after an unclean end, and of this version."""

from __future__ import annotations

from pathlib import Path

from sbert_desktop.domain import short_path
from sbert_desktop.errors import LibraryBusy, LibraryError
from sbert_desktop.library import _disk, _health, _schema
from sbert_desktop.library._connections import Connections
from sbert_desktop.library._lock import HOLDER, WriterLock


def make_ready(library: Path, connections: Connections, *, read_only: bool) -> None:
    """Sees that the catalog can be read, and brings it up to date where it may be written.

    Raises:
        LibraryError: ``library-damaged``, ``library-older``, ``library-busy`` (an earlier version of the program has
            it) or ``disk-full``.
    """
    with _disk.known_errors(library):
        with connections.lend() as connection:
            version = _schema.version_of(connection)
            connection.execute("SELECT count(*) FROM (SELECT 1 FROM folder LIMIT 1)").fetchone()
        if not read_only:
            _recover(library, version)
            with connections.lend() as connection:
                version = _schema.version_of(connection)
        if version != _schema.SCHEMA_VERSION:
            raise _too_old(library, read_only)


def _too_old(library: Path, read_only: bool) -> LibraryError:
    if read_only:
        return LibraryError(
            "library-older",
            f"The library {short_path(library)} was made by an earlier version and cannot be brought up to date.",
            "Open it once where this program may write to it.",
        )
    return LibraryBusy(
        "library-busy",
        f"The library is being written by {WriterLock(library).holder()}, an earlier version of this program.",
        "Close the other program, then try again.",
    )


def _recover(library: Path, version: int) -> None:
    """Checks the catalog after an unclean end, makes an interrupted catalog whole, migrates an old one."""
    unclean = (library / HOLDER).exists()
    if not unclean and version == _schema.SCHEMA_VERSION:
        return
    lock = WriterLock(library)
    if not lock.try_acquire():
        return  # the holder lives
    clean = False
    try:
        if version == 0:
            _schema.create(library)
        connection = _schema.connect(library, mode="rw")
        try:
            _schema.migrate(library, connection)
            if lock.unclean:
                _health.require_sound(library, connection)
            clean = True
        finally:
            connection.close()
    finally:
        lock.release(clean=clean)
