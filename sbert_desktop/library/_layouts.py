"""Layouts: large arrays that were computed from the library (a map's positions, a graph), one file for each.

A cache like the shelf, deletable at any time, but for what is too large to go through SQLite. It holds numbers and
hashes only, never a document's words, so that it may stay when documents are erased: its kinds of arrays are checked.
"""

from __future__ import annotations

import io
import json
import logging
import os
import re
import shutil
import tempfile
import time
import zipfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from sbert_desktop.library import _disk, _vectors

log = logging.getLogger(__name__)

FOLDER = "layouts"
META = "meta.json"
LEFT_SECONDS = 3600.0  # a half-written file so old is nobody's any more
_TEMPORARY = ".layout-"
_KINDS = "biufS"  # truth, whole and real numbers, bytes of one length (hashes)
_PLAIN = re.compile(r"[0-9A-Za-z][0-9A-Za-z_.-]{0,79}")

Arrays = dict[str, NDArray[np.generic]]


class Layouts:
    """Named sets of arrays with a few words of JSON, each in ``layouts/NAME.npz``. Any thread, any process.

    A file is replaced as a whole: who reads meanwhile has the old one or the new one. It is read into memory and
    checked (a checksum per array), not mapped: a mapped file cannot be replaced everywhere, and one that is cut
    while mapped ends the program.

    Args:
        library: The library's folder.
        read_only: Nothing is written.
    """

    def __init__(self, library: Path, *, read_only: bool = False) -> None:
        self._library = library
        self._folder = library / FOLDER
        self._read_only = read_only

    def get(self, name: str) -> tuple[dict[str, object], Arrays] | None:
        """Gives what :meth:`put` was given; None when there is nothing, or nothing whole of ours.

        The arrays may only be read: copy what is to be changed.
        """
        path = self._path(name)
        try:
            with path.open("rb") as stream, zipfile.ZipFile(stream) as archive:
                return _read(archive)
        except FileNotFoundError:
            return None
        except Exception as error:  # a damaged or foreign file makes zipfile and numpy raise anything
            log.warning("The layout %s cannot be read (%s); it is made anew.", name, type(error).__name__)
            return None

    def put(self, name: str, meta: Mapping[str, object], arrays: Mapping[str, NDArray[np.generic]]) -> bool:
        """Writes meta and arrays under a name, in the place of what had it; False when that was not possible.

        Where the library may only be read, or its disk is full, nothing is done.

        Args:
            name: Letters, digits, ``_``, ``.`` and ``-``.
            meta: What JSON can hold; no text of documents.
            arrays: By name, as plain as the name; of truth values, numbers, or bytes of one length (hashes: S64).

        Raises:
            TypeError: An array of objects or text, or ``meta`` that is no JSON.
            ValueError: A name that is not plain.
        """
        path = self._path(name)
        head = _head(meta, arrays)
        if self._read_only:
            return False
        try:
            needed = len(head) + sum(array.nbytes for array in arrays.values())
            if shutil.disk_usage(self._library).free - needed < _disk.minimum_free(self._library):
                log.warning("The layout %s is not kept: the disk is almost full.", name)
                return False
            self._folder.mkdir(mode=0o700, exist_ok=True)
            self._clear_left()
            self._write(path, head, arrays)
        except OSError as error:
            log.warning("The layout %s is not kept: %s.", name, error.strerror or type(error).__name__)
            return False
        return True

    def drop(self, name: str) -> None:
        """Takes a layout away; without effect where there is none, or where nothing may be written."""
        path = self._path(name)
        if not self._read_only:
            with suppress(OSError):
                path.unlink(missing_ok=True)

    def names(self) -> tuple[str, ...]:
        """Lists the names that have a file, whole or not, in order."""
        try:
            return tuple(sorted(path.stem for path in self._folder.glob("*.npz") if _PLAIN.fullmatch(path.stem)))
        except OSError:
            return ()

    def _path(self, name: str) -> Path:
        if not _PLAIN.fullmatch(name):
            raise ValueError(f"not a plain name: {name!r}")
        return self._folder / f"{name}.npz"

    def _write(self, path: Path, head: bytes, arrays: Mapping[str, NDArray[np.generic]]) -> None:
        handle, temporary = tempfile.mkstemp(dir=self._folder, prefix=_TEMPORARY)  # mode 0600
        try:
            with os.fdopen(handle, "wb") as stream:
                with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
                    archive.writestr(META, head)
                    for key, array in arrays.items():
                        with archive.open(f"{key}.npy", "w", force_zip64=True) as member:
                            npy.write_array(member, np.asanyarray(array), version=(1, 0), allow_pickle=False)
                stream.flush()
                os.fsync(stream.fileno())
            os.replace(temporary, path)
        except BaseException:
            with suppress(OSError):
                Path(temporary).unlink(missing_ok=True)
            raise
        _vectors.sync_folder(self._folder)

    def _clear_left(self) -> None:
        """Takes away what killed processes left half-written."""
        for left in self._folder.glob(f"{_TEMPORARY}*"):
            with suppress(OSError):
                if time.time() - left.stat().st_mtime > LEFT_SECONDS:
                    left.unlink()


def _head(meta: Mapping[str, object], arrays: Mapping[str, NDArray[np.generic]]) -> bytes:
    """Packs the meta with the kind and shape of every array, so that none can be missing or another's."""
    for key, array in arrays.items():
        if not _PLAIN.fullmatch(key):
            raise ValueError(f"not a plain name: {key!r}")
        if array.dtype.kind not in _KINDS:
            raise TypeError(f"{key}: a layout holds numbers and bytes of one length, not {array.dtype}")
    shapes = {key: [array.dtype.str, list(array.shape)] for key, array in arrays.items()}
    return json.dumps({"meta": dict(meta), "arrays": shapes}).encode("ascii")


def _read(archive: zipfile.ZipFile) -> tuple[dict[str, object], Arrays]:
    head = json.loads(archive.read(META))
    meta, shapes = head["meta"], head["arrays"]
    if not isinstance(meta, dict):
        raise TypeError(META)
    infos = archive.infolist()
    if sorted(info.filename for info in infos) != sorted([META, *(f"{key}.npy" for key in shapes)]):
        raise ValueError("other arrays than were written")
    if any(info.compress_type != zipfile.ZIP_STORED for info in infos):
        raise ValueError("compressed")  # a small file could fill the memory
    return meta, {key: _array(archive.read(f"{key}.npy"), kind, shape) for key, (kind, shape) in shapes.items()}


def _array(data: bytes, kind: str, shape: list[int]) -> NDArray[np.generic]:
    """Gives the array whose bytes these are, without copying them; ``data`` has passed its checksum."""
    stream = io.BytesIO(data)
    if npy.read_magic(stream) != (1, 0):
        raise ValueError("another format of arrays")
    found, fortran, dtype = npy.read_array_header_1_0(stream)
    if list(found) != shape or dtype.str != kind or dtype.kind not in _KINDS:
        raise ValueError("another kind of array")
    start, count = stream.tell(), int(np.prod(found, dtype=np.int64))
    if len(data) - start != count * dtype.itemsize:
        raise ValueError("not as many bytes")
    if not count or not dtype.itemsize:
        array: NDArray[np.generic] = np.zeros(found, dtype)
        array.flags.writeable = False
        return array
    flat: NDArray[np.generic] = np.frombuffer(data, dtype, count, start)
    return flat.reshape(found, order="F" if fortran else "C")
