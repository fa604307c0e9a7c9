"""The writer's lock: one process at a time changes a library, and the others can say who."""

from __future__ import annotations

import json
import os
import socket
import sqlite3
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from sbert_desktop.errors import LibraryBusy
from sbert_desktop.library._schema import make_private

LOCK = "lock.sqlite"
HOLDER = "writer.json"
POLL_SECONDS = 0.1


class WriterLock:
    """An exclusive transaction on ``lock.sqlite``; the system frees it even after SIGKILL.

    SQLite keeps the lock also between connections of one process, so two threads exclude each
    other too. ``unclean`` tells after :meth:`acquire` that the last holder never let go properly.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._connection: sqlite3.Connection | None = None
        self.unclean = False

    def acquire(
        self, *, wait: bool, on_wait: Callable[[str], None] | None = None, check: Callable[[], None] | None = None
    ) -> None:
        """Takes the lock, waiting for it when ``wait``; ``check`` is called at each poll and may raise.

        Raises:
            LibraryBusy: ``library-busy`` naming the holder, when not waiting.
        """
        told = False
        while not self.try_acquire():
            if not wait:
                raise LibraryBusy(
                    "library-busy",
                    f"The library is being written by {self.holder()}.",
                    "Wait until it has finished, or close the other program.",
                )
            if not told and on_wait is not None:
                on_wait(self.holder())
            told = True
            if check is not None:
                check()
            time.sleep(POLL_SECONDS)

    def try_acquire(self) -> bool:
        """Takes the lock if it is free."""
        make_private(self._folder / LOCK)
        connection = sqlite3.connect(self._folder / LOCK, timeout=0, isolation_level=None, check_same_thread=False)
        try:
            connection.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError as error:
            connection.close()
            if error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY:
                return False
            raise
        except BaseException:
            connection.close()
            raise
        self._connection = connection
        try:
            self.unclean = (self._folder / HOLDER).exists()
            self._write_holder()
        except BaseException:
            self.release(clean=not self.unclean)
            raise
        return True

    def release(self, *, clean: bool = True) -> None:
        """Lets go; idempotent. ``clean=False`` leaves the holder's note, so the next one checks."""
        connection, self._connection = self._connection, None
        if connection is None:
            return
        if clean:
            try:
                (self._folder / HOLDER).unlink(missing_ok=True)
            except OSError:
                pass
        connection.close()

    def holder(self) -> str:
        """Names who holds the lock, e.g. ``process 4711 on lamp``."""
        try:
            record = json.loads((self._folder / HOLDER).read_text("utf-8"))
            return f"process {int(record['pid'])} on {record['host']}"
        except (OSError, ValueError, KeyError, TypeError):
            return "another process"

    def _write_holder(self) -> None:
        record = {"pid": os.getpid(), "host": socket.gethostname(), "since": time.time()}
        handle, temporary = tempfile.mkstemp(dir=self._folder, prefix=".writer-")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as stream:
                json.dump(record, stream)
            os.replace(temporary, self._folder / HOLDER)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
