"""Earlier queries: written beside the one who writes, and by a thread of their own while that takes too long."""

from __future__ import annotations

import logging
import sqlite3
import threading
import time
from pathlib import Path

from sbert_desktop.library import _schema

log = logging.getLogger(__name__)

KEPT = 500
WAIT = 0.05  # seconds that a small write may wait for the writer before it is put off
LATER = 1.0  # seconds that the thread waits for the writer, and between two tries
LAST = 2.0  # the same when the library is closed; who indexes commits at least once a second


class History:
    """The queries of one library. Safe from any thread; nothing here waits longer than :data:`WAIT` but the end."""

    def __init__(self, library: Path) -> None:
        self._library = library
        self._unsaved: list[tuple[str, float]] = []
        self._lock = threading.Lock()  # held for moments only
        self._writing = threading.Lock()  # held while the disk is asked
        self._ending = threading.Event()
        self._later: threading.Thread | None = None

    def latest(self, connection: sqlite3.Connection, limit: int) -> tuple[str, ...]:
        """Gives queries, newest first, those included that are not on disk yet."""
        with self._lock:
            unsaved = dict(self._unsaved)
        rows = connection.execute("SELECT query, used FROM history ORDER BY used DESC LIMIT ?", (limit,)).fetchall()
        merged = {**dict(rows), **unsaved}
        return tuple(sorted(merged, key=lambda query: -merged[query]))[:limit]

    def add(self, query: str) -> None:
        """Remembers a query; what the writer leaves no room for now is written as soon as it does."""
        with self._lock:
            self._unsaved.append((query, time.time()))
        if not self.flush():
            self._write_later()

    def clear(self, *, on_disk: bool) -> None:
        """Forgets all of them."""
        with self._writing:  # else what is being written now would come back
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

    def flush(self, wait: float = WAIT) -> bool:
        """Writes what is only in memory, if the writer leaves room for it within so many seconds; says whether."""
        if not self._writing.acquire(timeout=wait):
            return False
        try:
            with self._lock:
                items = list(self._unsaved)
            if not items:
                return True
            if not self._write(items, wait):
                return False
            with self._lock:
                del self._unsaved[: len(items)]
                return not self._unsaved
        finally:
            self._writing.release()

    def close(self) -> None:
        """Ends the thread and writes what is left; says in the log when that could not be. Idempotent."""
        self._ending.set()
        with self._lock:
            later = self._later
        if later is not None:
            later.join()
        if not self.flush(LAST):
            log.warning("%d earlier queries were not kept: the library is busy, or the disk full", len(self._unsaved))

    def _write_later(self) -> None:
        with self._lock:
            if self._ending.is_set() or self._later is not None:
                return
            self._later = threading.Thread(target=self._try_again, name="history", daemon=True)
            self._later.start()

    def _try_again(self) -> None:
        while not self._ending.wait(LATER):
            self.flush(LATER)
            with self._lock:
                if not self._unsaved:
                    self._later = None
                    return

    def _write(self, items: list[tuple[str, float]], wait: float) -> bool:
        connection: sqlite3.Connection | None = None
        try:
            connection = _schema.connect(self._library, mode="rw")
            connection.execute(f"PRAGMA busy_timeout={int(wait * 1000)}")
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany("INSERT OR REPLACE INTO history(query, used) VALUES(?,?)", items)
            connection.execute(
                "DELETE FROM history WHERE query NOT IN (SELECT query FROM history ORDER BY used DESC LIMIT ?)",
                (KEPT,),
            )
            connection.execute("COMMIT")
            return True
        except sqlite3.Error:
            return False  # the writer is at it, or the disk is full
        finally:
            if connection is not None:
                connection.close()
