"""The writer's one transaction: what belongs together on disk comes there together, or not at all.

Order of a commit: vectors are written, flushed and synced, then the catalog commits; rows behind the committed
ones are cut by the next holder. What a removed document leaves in the vectors file is overwritten with zeros
afterwards, remembered in ``dead_row`` until that is safe on disk.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sbert_desktop.errors import LibraryError
from sbert_desktop.library import _disk, _erasing, _folders
from sbert_desktop.library._changes import LOG_KEPT, Change
from sbert_desktop.library._open_spaces import OpenSpaces

_REFUSALS = _folders.REFUSALS | {"no-space", "file-unknown"}  # said before anything was changed


class Transaction:
    """All changes between two commits. For the writer's thread.

    Attributes:
        making_room: Whether to commit on an almost full disk too, whatever was changed.
    """

    def __init__(
        self, library: Path, connection: sqlite3.Connection, spaces: OpenSpaces, changes: set[tuple[Change, int]]
    ) -> None:
        self.making_room = False
        self._library = library
        self._connection = connection
        self._spaces = spaces
        self._changes = changes
        self._grown = False  # since the last commit

    @contextmanager
    def change(self, *, begin: bool = True, grows: bool = True) -> Iterator[None]:
        """One change: whole or, after an error, rolled back together with all since the last commit.

        What does not make the library larger (``grows``) may be committed on an almost full disk too.
        """
        self._grown |= grows
        try:
            with _disk.known_errors(self._library):
                if begin and not self._connection.in_transaction:
                    self._connection.execute("BEGIN IMMEDIATE")
                yield
        except BaseException as error:
            if not isinstance(error, LibraryError) or error.code not in _REFUSALS:
                self.rollback()
            raise

    def commit(self) -> None:
        """Makes everything so far safe on disk and visible to readers; see :meth:`Writer.commit`."""
        if not self._connection.in_transaction:
            return
        if self._grown and not self.making_room:
            _disk.check_room(self._library)
        with self.change():
            for space in self._spaces:
                space.sync()
            if self._changes:
                self._connection.executemany(
                    "INSERT INTO change(kind, id) VALUES(?,?)",
                    [(int(kind), id_) for kind, id_ in sorted(self._changes)],
                )
                self._connection.execute(
                    "DELETE FROM change WHERE seq <= (SELECT max(seq) FROM change) - ?", (LOG_KEPT,)
                )
            self._connection.execute("COMMIT")
            self._changes.clear()
            self._grown = False
            _erasing.zero_dead_rows(self._library, self._connection, list(self._spaces))

    def rollback(self) -> None:
        """Takes back everything since the last commit, in the spaces too."""
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")
        self._changes.clear()
        self._grown = False
        try:
            self._spaces.load()
        except (OSError, LibraryError):
            self._spaces.close()
