"""The accelerator: an hnswlib index over the rows of a space. The only place that knows hnswlib.

hnswlib crashes on some damaged files and loads others silently (DESIGN section 10), so a file is
only given to it after its size, sha256, row count and dimension agreed with the catalog.
"""

from __future__ import annotations

import hashlib
import os
import struct
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sbert_desktop.domain import Mask, Vectors
from sbert_desktop.library._records import IndexRecord

if TYPE_CHECKING:
    import hnswlib

METRIC = "ip"  # unit rows: inner product is the cosine
LINKS = 16
# Source: DESIGN section 10: at 100k, 200 gives recall 0.993 at ef 64, 100 gives 0.976.
EF_CONSTRUCTION = 200
EF_SEARCH = 128
ADD_ROWS = 1_000
# offsetLevel0, max_elements, cur_element_count, size_data_per_element, label_offset, offsetData.
# Source: hnswlib 0.8 hnswalg.h saveIndex(); hnswlib itself loads a file of another dimension silently.
_HEADER = struct.Struct("@6N")
PARAMETERS = f"M={LINKS} ef_construction={EF_CONSTRUCTION}"


class HnswIndex:
    """Finds near rows among the first ``rows`` rows. Safe from any thread once it is handed over."""

    def __init__(self, index: hnswlib.Index, rows: int) -> None:
        self._index = index
        self._rows = rows
        self._lock = threading.Lock()
        self._ef = EF_SEARCH
        index.set_ef(EF_SEARCH)

    @property
    def rows(self) -> int:
        """How many rows, from the first on, the index covers."""
        return self._rows

    @property
    def count(self) -> int:
        """How many rows it holds; rows that were dead when it was built are not in it."""
        return int(self._index.get_current_count())

    def search(self, vector: NDArray[np.float32], k: int) -> tuple[NDArray[np.int64], Vectors]:
        """Gives row numbers int64 [<=k] and cosines float32 [<=k], best first; dead rows too."""
        k = min(k, self.count)
        if k <= 0:
            return np.zeros(0, np.int64), np.zeros(0, np.float32)
        with self._lock:
            if k > self._ef:  # hnswlib fails to return k rows with a smaller ef
                self._ef = k
                self._index.set_ef(k)
        labels, distances = self._index.knn_query(np.asarray(vector, np.float32).reshape(1, -1), k=k, num_threads=1)
        return labels[0].astype(np.int64), (1.0 - distances[0]).astype(np.float32)


def load(path: Path, record: IndexRecord) -> HnswIndex | None:
    """Loads an index file; None when anything about it differs from the catalog."""
    if not verify(path, record):
        return None
    import hnswlib

    index = hnswlib.Index(space=METRIC, dim=record.dimension)
    try:
        index.load_index(os.fspath(path))
    except RuntimeError:
        return None
    if index.get_current_count() != record.count or index.dim != record.dimension:
        return None
    return HnswIndex(index, record.rows)


def verify(path: Path, record: IndexRecord) -> bool:
    """Tells whether a file is byte for byte the one that was saved, and is what the catalog says."""
    try:
        if path.stat().st_size != record.bytes or digest(path) != record.sha256:
            return False
        with path.open("rb") as stream:
            header = _HEADER.unpack(stream.read(_HEADER.size))
    except (OSError, struct.error):
        return False
    _, _, count, _, label_offset, data_offset = header
    vector_bytes = label_offset - data_offset
    return bool(count == record.count and vector_bytes == record.dimension * 4)


def digest(path: Path) -> str:
    """Gives the sha256 of a file, hex."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def build(
    path: Path,
    vectors: Vectors,
    alive: Mask,
    base: tuple[Path, IndexRecord] | None = None,
    step: Callable[[int, int], None] | None = None,
    threads: int = 0,
) -> IndexRecord:
    """Builds an index over the live rows and saves it under a new name.

    Args:
        path: Where to save; must not exist.
        vectors: float32 [rows, dimension] of unit rows.
        alive: bool [rows].
        base: An earlier index of the same rows; a private copy of it is extended.
        step: Called with done and total per thousand rows; may raise to give up.
        threads: Threads to add with; 0 takes all.
    """
    import hnswlib

    rows, dimension = vectors.shape
    index = hnswlib.Index(space=METRIC, dim=dimension)
    first = 0
    if base is not None and verify(*base):
        index.load_index(os.fspath(base[0]), max_elements=max(rows, 1))
        first = base[1].rows
    else:
        index.init_index(max_elements=max(rows, 1), M=LINKS, ef_construction=EF_CONSTRUCTION, random_seed=100)
    index.set_num_threads(threads or os.cpu_count() or 1)
    wanted = first + np.flatnonzero(alive[first:])
    for at in range(0, len(wanted), ADD_ROWS):
        if step is not None:
            step(at, len(wanted))
        labels = wanted[at : at + ADD_ROWS]
        index.add_items(np.ascontiguousarray(vectors[labels]), labels)
    if step is not None:
        step(len(wanted), len(wanted))
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    try:
        index.save_index(os.fspath(path))
        with path.open("rb+") as stream:
            os.fsync(stream.fileno())
        size = path.stat().st_size
        return IndexRecord(path.name, rows, int(index.get_current_count()), dimension, digest(path), size)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
