"""Connections to the catalog for those who read."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sbert_desktop.errors import LibraryError
from sbert_desktop.library import _disk, _schema

_IDLE = 4
"""Connections that are kept for the next who reads."""


class Connections:
    """Lends them; every method may be called from any thread.

    Args:
        library: The library's folder.
        mode: As :func:`_schema.connect` knows it.
    """

    def __init__(self, library: Path, mode: str) -> None:
        self._library = library
        self._mode = mode
        self._closed = False
        self._idle: list[sqlite3.Connection] = []
        self._lock = threading.Lock()

    @contextmanager
    def lend(self) -> Iterator[sqlite3.Connection]:
        """Lends a connection; problems of SQLite become known ones.

        Raises:
            LibraryError: ``library-closed``.
        """
        with self._lock:
            if self._closed:
                raise LibraryError("library-closed", "The library is closed.")
            connection = self._idle.pop() if self._idle else None
        with _disk.known_errors(self._library):
            if connection is None:
                connection = self.open()
            try:
                yield connection
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
            finally:
                with self._lock:
                    keep = not self._closed and len(self._idle) < _IDLE
                    if keep:
                        self._idle.append(connection)
                if not keep:
                    connection.close()

    def open(self) -> sqlite3.Connection:
        """Opens one that whoever asks closes."""
        connection = _schema.connect(self._library, mode=self._mode)
        if self._mode == "rw":
            connection.execute("PRAGMA query_only=ON")
        return connection

    def close(self) -> None:
        """Closes those that nobody has; the others are closed when they come back. Idempotent."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()
