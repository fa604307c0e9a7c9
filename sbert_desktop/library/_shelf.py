"""A shelf of what was computed from the library and is slow to compute again: a cache, deletable at any time."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from urllib.parse import quote

from sbert_desktop.library._schema import make_private

FILE = "shelf.sqlite"
_BATCH = 500  # keys of one statement


class Shelf:
    """Bytes by key, in one file beside the catalog. Any thread; where it cannot be read or written, it is empty.

    Nothing that a person made lies here. The file goes when documents are erased, since what was computed from
    their texts lies in it.
    """

    def __init__(self, library: Path, *, read_only: bool = False) -> None:
        self._path = library / FILE
        self._read_only = read_only
        self._lock = threading.Lock()

    def get(self, keys: Iterable[str]) -> dict[str, bytes]:
        """Gives what lies there under these keys."""
        wanted = list(keys)
        found: dict[str, bytes] = {}
        with self._open() as connection:
            for start in range(0, len(wanted) if connection else 0, _BATCH):
                part = wanted[start : start + _BATCH]
                marks = ",".join("?" * len(part))
                assert connection is not None
                found.update(connection.execute(f"SELECT key, value FROM kept WHERE key IN ({marks})", part))
        return found

    def put(self, things: Mapping[str, bytes]) -> None:
        """Lays things there, in the place of what had their keys."""
        if self._read_only or not things:
            return
        with contextlib.suppress(OSError):
            make_private(self._path)
        with self._open() as connection:
            if connection is not None:
                with connection:
                    connection.executemany("INSERT OR REPLACE INTO kept VALUES(?, ?)", list(things.items()))

    def keep_only(self, prefix: str, keys: Iterable[str]) -> None:
        """Takes away what has this prefix and is not among the keys."""
        kept = set(keys)
        with self._open() as connection:
            if connection is None or self._read_only:
                return
            span = (prefix, prefix + "\U0010ffff")
            have = connection.execute("SELECT key FROM kept WHERE key>=? AND key<?", span).fetchall()
            with connection:
                connection.executemany("DELETE FROM kept WHERE key=?", [key for key in have if key[0] not in kept])

    @contextlib.contextmanager
    def _open(self) -> Iterator[sqlite3.Connection | None]:
        """Gives a connection, or None; what goes wrong with it ends the work quietly, a damaged file goes away."""
        with self._lock:
            connection = self._tried()
            try:
                yield connection
            except sqlite3.DatabaseError as error:
                self._failed(error)
            finally:
                if connection is not None:
                    connection.close()

    def _tried(self) -> sqlite3.Connection | None:
        try:
            return self._connect() if self._path.exists() else None
        except sqlite3.DatabaseError as error:
            self._failed(error)
        except OSError:
            pass
        return None

    def _failed(self, error: sqlite3.DatabaseError) -> None:
        """Takes a damaged file away; a busy, full or closed one stays."""
        if not self._read_only and not isinstance(error, sqlite3.OperationalError):
            clear(self._path.parent)

    def _connect(self) -> sqlite3.Connection:
        path = quote(os.fsencode(self._path))
        mode = "ro" if self._read_only else "rw"
        connection = sqlite3.connect(f"file:{path}?mode={mode}", uri=True, timeout=1.0)
        try:
            self._prepare(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        if not self._read_only:
            connection.execute("PRAGMA secure_delete=ON")
            connection.execute("PRAGMA synchronous=NORMAL")
            connection.execute(
                "CREATE TABLE IF NOT EXISTS kept(key TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID"
            )


def clear(library: Path) -> None:
    """Takes the shelf away, with what SQLite may have left beside it."""
    for name in (FILE, f"{FILE}-journal"):
        with contextlib.suppress(OSError):
            (library / name).unlink(missing_ok=True)
