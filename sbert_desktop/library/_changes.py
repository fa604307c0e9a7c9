"""The log of changes: which rows a commit touched, so that readers need not read everything anew."""

from __future__ import annotations

import sqlite3
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

LOG_KEPT = 50_000  # entries of the log of changes; a reader further behind loads anew


class Change(IntEnum):
    """What an entry of the log names."""

    CONTENT = 0
    FILE = 1
    FOLDER = 2
    SPACE = 3  # its rows were renumbered or lost: load anew
    INDEX = 4


def where_changed(column: str, kind: Change, since: int | None) -> tuple[str, tuple[int, ...]]:
    """Gives the condition, with its values, that an id was touched after an entry of the log; None: none at all."""
    if since is None:
        return "", ()
    return f"WHERE {column} IN (SELECT id FROM change WHERE seq>? AND kind=?)", (since, int(kind))


def changed_ids(connection: sqlite3.Connection, kind: Change, since: int | None) -> NDArray[np.int64]:
    """Gives the ids that were touched after an entry of the log, int64 [n]; None: nothing."""
    if since is None:
        return np.zeros(0, np.int64)
    rows = connection.execute("SELECT DISTINCT id FROM change WHERE seq>? AND kind=?", (since, int(kind)))
    return np.array([row[0] for row in rows], np.int64)
