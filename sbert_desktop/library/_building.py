"""Building the accelerator of a space and publishing it: a new file, then one UPDATE."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import numpy as np

from sbert_desktop.domain import JobContext
from sbert_desktop.library import _erasing, _health, _hnsw, _vectors
from sbert_desktop.library._changes import Change
from sbert_desktop.library._records import IndexRecord, SpaceRow

TAIL_SHARE = 0.05  # rows behind the index that make a new one worth its time
TAIL_ROWS = 2_000
DEAD_SHARE = 0.2  # dead rows inside that make a fresh one better than an extended one


def build_index(
    library: Path,
    connection: sqlite3.Connection,
    space: SpaceRow,
    *,
    index_from: int,
    context: JobContext | None,
    force: bool,
    threads: int,
    notice: Callable[[str], None],
    fresh: bool = False,
) -> bool:
    """Builds or extends the index of a space outside any transaction; True when one was published.

    ``fresh``: a new one, not an extended one, in any case.
    """
    live = np.array([row[0] for row in connection.execute("SELECT row FROM row WHERE space=?", (space.id,))], np.int64)
    if len(live) < index_from:
        return False
    alive = np.zeros(space.rows, np.bool_)
    alive[live] = True
    folder = _vectors.space_folder(library, space.fingerprint)
    base = _base(connection, folder, space, notice)
    if fresh:
        base = None
    if base is not None:
        held = int(np.count_nonzero(alive[: base[1].rows]))
        dead = base[1].count - held
        tail = len(live) - held
        if dead <= DEAD_SHARE * base[1].count and tail <= (0 if force else max(TAIL_ROWS, TAIL_SHARE * len(live))):
            return False
        if dead > DEAD_SHARE * base[1].count:
            base = None
    path = folder / f"hnsw-{_next_number(folder):06d}.bin"
    vectors = _vectors.map_rows(
        _vectors.vectors_path(library, space.fingerprint, space.generation), space.dimension, space.rows
    )

    def step(done: int, total: int) -> None:
        if context is not None:
            context.check()
            context.progress("index", done, total)

    record = _hnsw.build(path, vectors, alive, base, step, threads)
    try:
        _publish(connection, space, record)
    except BaseException:
        _erasing.discard(path)
        raise
    for old in folder.glob("hnsw-*"):
        if old.name != record.file:
            _erasing.discard(old)
    return True


def _base(
    connection: sqlite3.Connection, folder: Path, space: SpaceRow, notice: Callable[[str], None]
) -> tuple[Path, IndexRecord] | None:
    row = connection.execute(
        "SELECT file, rows, count, dimension, sha256, bytes FROM index_state WHERE space=?", (space.id,)
    ).fetchone()
    if row is None:
        return None
    record = IndexRecord(*row)
    if record.dimension == space.dimension and record.rows <= space.rows and _hnsw.verify(folder / record.file, record):
        return folder / record.file, record
    _health.drop_index(connection, space.id)
    notice(_health.BAD_INDEX)
    return None


def _publish(connection: sqlite3.Connection, space: SpaceRow, record: IndexRecord) -> None:
    connection.execute("BEGIN IMMEDIATE")
    connection.execute(
        "INSERT OR REPLACE INTO index_state VALUES(?,?,?,?,?,?,?,?,?)",
        (
            space.id,
            record.file,
            record.rows,
            record.count,
            record.dimension,
            _hnsw.METRIC,
            _hnsw.PARAMETERS,
            record.sha256,
            record.bytes,
        ),
    )
    connection.execute("INSERT INTO change(kind, id) VALUES(?,?)", (int(Change.INDEX), space.id))
    connection.execute("COMMIT")


def _next_number(folder: Path) -> int:
    numbers = [int(path.stem.partition("-")[2]) for path in folder.glob("hnsw-*.bin") if path.stem[5:].isdigit()]
    return max(numbers, default=0) + 1
