"""The spaces that the writer has open: the active one, and the one that is prepared beside it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

from sbert_desktop.errors import LibraryError
from sbert_desktop.library import _spaces
from sbert_desktop.library._changes import Change
from sbert_desktop.library._records import SpaceRow
from sbert_desktop.library._space import Space


class OpenSpaces:
    """Opens them as the catalog has them; going through it gives those that are open. For the writer's thread.

    Attributes:
        active: The active one, or None while the library has no encoder.
        prepared: The fingerprint of the one to have beside it from the next :meth:`load` on; "": the one that is
            wanted, if any.
    """

    def __init__(self, library: Path, connection: sqlite3.Connection, changes: set[tuple[Change, int]]) -> None:
        self.active: Space | None = None
        self.prepared = ""
        self._beside: Space | None = None
        self._library = library
        self._connection = connection
        self._changes = changes

    def __iter__(self) -> Iterator[Space]:
        return (space for space in (self.active, self._beside) if space is not None)

    def load(self) -> None:
        """Opens them anew."""
        self.close()
        self.active = self._load("state='active'", (), self._changes)
        wanted = _spaces.wanted(self._connection)
        beside = self.prepared or (wanted.fingerprint if wanted is not None else "")
        # What comes into it is not found yet: readers need not be told.
        self._beside = self._load("fingerprint=? AND state!='active'", (beside,), set())

    def close(self) -> None:
        """Closes their vectors files."""
        for space in self:
            space.close()
        self.active = self._beside = None

    def get(self, fingerprint: str = "") -> Space:
        """Gives one by its fingerprint; "": the active one.

        Raises:
            LibraryError: ``no-space``.
        """
        if not fingerprint:
            if self.active is None:
                raise LibraryError("no-space", "The library has no encoder yet.", "Choose a model first.")
            return self.active
        for space in self:
            if space.row.fingerprint == fingerprint:
                return space
        raise LibraryError("no-space", "The library has no such space.", "List the spaces again.")

    def searched(self, segmentation: int) -> bool:
        """Says whether the passages of a segmentation are those that are searched."""
        return self.active is not None and self.active.row.segmentation == segmentation

    def let_go(self, space: int) -> None:
        """Closes the one beside the active one if it is this, by its id; it is not to be prepared any more."""
        if self._beside is not None and self._beside.row.id == space:
            self.prepared = ""
            self._beside.close()
            self._beside = None

    def _load(self, which: str, values: tuple[str, ...], changes: set[tuple[Change, int]]) -> Space | None:
        row = self._connection.execute(
            f"SELECT id, fingerprint, segmentation, dimension, generation, rows FROM space WHERE {which}", values
        ).fetchone()
        return Space(self._library, self._connection, SpaceRow(*row), changes) if row is not None else None
