"""Earlier queries: written beside the one who writes, and kept in memory while that takes too long."""

from __future__ import annotations

import sqlite3
import threading
import time
from pathlib import Path

from sbert_desktop.library import _schema

KEPT = 500
WAIT = 0.05  # seconds that a small write may wait for the writer before it is put off


class History:
    """The queries of one library. Safe from any thread."""

    def __init__(self, library: Path) -> None:
        self._library = library
        self._unsaved: list[tuple[str, float]] = []
        self._lock = threading.Lock()

    def latest(self, connection: sqlite3.Connection, limit: int) -> tuple[str, ...]:
        """Gives queries, newest first, those included that are not on disk yet."""
        with self._lock:
            unsaved = dict(self._unsaved)
        rows = connection.execute("SELECT query, used FROM history ORDER BY used DESC LIMIT ?", (limit,)).fetchall()
        merged = {**dict(rows), **unsaved}
        return tuple(sorted(merged, key=lambda query: -merged[query]))[:limit]

    def add(self, query: str) -> None:
        """Remembers a query."""
        with self._lock:
            self._unsaved.append((query, time.time()))
        self.flush()

    def clear(self, *, on_disk: bool) -> None:
        """Forgets all of them."""
        with self._lock:
            self._unsaved.clear()
        if not on_disk:
            return
        connection = _schema.connect(self._library, mode="rw")
        try:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("DELETE FROM history")
            connection.execute("COMMIT")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        finally:
            connection.close()

    def flush(self) -> None:
        """Writes what is only in memory, if the writer leaves room for it."""
        with self._lock:
            if not self._unsaved:
                return
            connection = _schema.connect(self._library, mode="rw")
            try:
                connection.execute(f"PRAGMA busy_timeout={int(WAIT * 1000)}")
                connection.execute("BEGIN IMMEDIATE")
                connection.executemany("INSERT OR REPLACE INTO history(query, used) VALUES(?,?)", self._unsaved)
                connection.execute(
                    "DELETE FROM history WHERE query NOT IN (SELECT query FROM history ORDER BY used DESC LIMIT ?)",
                    (KEPT,),
                )
                connection.execute("COMMIT")
                self._unsaved.clear()
            except sqlite3.OperationalError:
                pass  # the writer is at it, or the disk is full: kept in memory until the next time
            finally:
                connection.close()
