"""The newest committed state of the library in memory, for each space that is searched."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path

from sbert_desktop.errors import LibraryError
from sbert_desktop.library import _disk, _health
from sbert_desktop.library._columns import Columns
from sbert_desktop.library._connections import Connections
from sbert_desktop.library._view import View

_KEPT = 2  # a search may still be under way in the space that was left


class Views:
    """Gives them, read anew as far as something was committed; every method may be called from any thread.

    Args:
        library: The library's folder.
        connections: To its catalog.
        notice: Told what was found wrong.
    """

    def __init__(self, library: Path, connections: Connections, notice: Callable[[str], None]) -> None:
        self._library = library
        self._connections = connections
        self._notice = notice
        self._closed = False
        self._columns: dict[str, Columns] = {}
        self._versions: dict[str, int] = {}
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None

    def get(self, fingerprint: str) -> View:
        """Gives that of a space; cheap when nothing changed.

        Raises:
            LibraryError: ``library-closed``.
        """
        with self._lock, _disk.known_errors(self._library):
            if self._closed:
                raise LibraryError("library-closed", "The library is closed.")
            if self._connection is None:
                self._connection = self._connections.open()
            connection = self._connection
            # Taken before reading: a commit in between is then read once more, never missed.
            version = int(connection.execute("PRAGMA data_version").fetchone()[0])
            columns = self._columns.get(fingerprint)
            if columns is None:
                while len(self._columns) >= _KEPT:  # those of a space that nobody searches any more
                    self._columns.pop(next(iter(self._columns)))
                columns = self._columns[fingerprint] = Columns(self._library, fingerprint)
            if columns.view is None or self._versions.get(fingerprint) != version:
                columns.refresh(connection)
                self._versions[fingerprint] = version
                if columns.view is not None and columns.view.damaged:
                    self._notice(_health.SHORT_VECTORS)
            assert columns.view is not None
            return columns.view

    def close(self) -> None:
        """Lets go of all; those that were given keep their arrays. Idempotent."""
        with self._lock:
            self._closed = True
            connection, self._connection = self._connection, None
            self._columns.clear()
        if connection is not None:
            connection.close()
