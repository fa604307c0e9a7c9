"""The vectors of a space: an append-only file of little-endian float32 rows, aligned with the catalog.

The catalog says how many rows are committed. Only the holder of the writer's lock writes, cuts or
deletes; readers map committed rows only. A file is replaced by one with another number in its
name, never by renaming over it: somebody may have it mapped.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sbert_desktop.domain import Vectors

DTYPE = np.dtype("<f4")
COPY_ROWS = 16_384


def space_folder(library: Path, fingerprint: str) -> Path:
    """Gives the folder of a space; a fingerprint that is no plain name is hashed."""
    plain = re.fullmatch(r"[0-9A-Za-z][0-9A-Za-z_.-]{0,79}", fingerprint) is not None
    return library / "spaces" / (fingerprint if plain else hashlib.sha256(fingerprint.encode()).hexdigest())


def vectors_path(library: Path, fingerprint: str, generation: int) -> Path:
    """Gives the vectors file of one generation of a space."""
    return space_folder(library, fingerprint) / f"vectors-{generation:06d}.f32"


def available_rows(path: Path, dimension: int) -> int:
    """Gives how many whole rows a file holds; 0 when it is missing."""
    try:
        return path.stat().st_size // (dimension * DTYPE.itemsize)
    except FileNotFoundError:
        return 0


def map_rows(path: Path, dimension: int, rows: int) -> Vectors:
    """Maps the first ``rows`` rows, read-only, float32 [rows, dimension].

    The file must hold that many rows: touching a mapped page behind its end kills the process.
    """
    if rows == 0:
        empty: Vectors = np.zeros((0, dimension), np.float32)
        return empty
    mapped: Vectors = np.asarray(np.memmap(path, DTYPE, "r", shape=(rows, dimension)))
    return mapped


class VectorFile:
    """The open vectors file of the lock's holder."""

    def __init__(self, path: Path, dimension: int, rows: int) -> None:
        """Opens or makes the file and cuts off rows that were never committed."""
        path.parent.parent.mkdir(mode=0o700, exist_ok=True)
        path.parent.mkdir(mode=0o700, exist_ok=True)
        self.path = path
        self.dimension = dimension
        self._stride = dimension * DTYPE.itemsize
        self._handle = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o600)
        self._dirty = False
        if os.fstat(self._handle).st_size > rows * self._stride:
            os.ftruncate(self._handle, rows * self._stride)
            self._dirty = True

    def write(self, first: int, vectors: Vectors) -> None:
        """Writes rows from row ``first`` on; not safe on disk before :meth:`sync`."""
        data = memoryview(np.ascontiguousarray(vectors, DTYPE).tobytes())
        os.lseek(self._handle, first * self._stride, os.SEEK_SET)
        self._dirty = True
        while data.nbytes:
            data = data[os.write(self._handle, data) :]

    def erase(self, rows: Iterable[int]) -> None:
        """Overwrites rows with zeros; not safe on disk before :meth:`sync`."""
        zero = bytes(self._stride)
        for row in rows:
            os.lseek(self._handle, row * self._stride, os.SEEK_SET)
            os.write(self._handle, zero)
            self._dirty = True

    def read(self, rows: Sequence[int]) -> Vectors:
        """Reads rows, float32 [len(rows), dimension]."""
        out: Vectors = np.empty((len(rows), self.dimension), np.float32)
        for at, row in enumerate(rows):
            os.lseek(self._handle, row * self._stride, os.SEEK_SET)
            out[at] = np.frombuffer(os.read(self._handle, self._stride), DTYPE)
        return out

    def sync(self) -> None:
        """Waits until everything written is safe on disk."""
        if self._dirty:
            os.fsync(self._handle)
            self._dirty = False

    def close(self) -> None:
        """Closes the file; idempotent."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1

    def copy_to(self, path: Path, rows: NDArray[np.int64]) -> None:
        """Writes the rows named, in that order, into a new file and syncs it."""
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0), 0o600)
        try:
            for at in range(0, len(rows), COPY_ROWS):
                data = memoryview(self.read(rows[at : at + COPY_ROWS].tolist()).astype(DTYPE).tobytes())
                while data.nbytes:
                    data = data[os.write(handle, data) :]
            os.fsync(handle)
        finally:
            os.close(handle)
        sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Makes a new file's name safe on disk, where the system can."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
