"""Notes of files that are being read, one small file each: what a killed program leaves says which one killed it.

They lie beside the catalog, so that they need neither its lock nor its transaction: any thread may write them.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

from sbert_desktop.library import _erasing, _vectors

FOLDER = "reading"


def note(library: Path, path: bytes, size: int, mtime_ns: int) -> None:
    """Notes that a file is being read; on disk when this returns."""
    place = _place(library, path)
    place.parent.mkdir(mode=0o700, exist_ok=True)
    data = json.dumps({"path": path.hex(), "size": size, "mtime_ns": mtime_ns}).encode()
    handle = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0), 0o600)
    try:
        os.write(handle, data)
        os.fsync(handle)
    finally:
        os.close(handle)
    _vectors.sync_folder(place.parent)


def done(library: Path, path: bytes) -> None:
    """Takes the note away; harmless when there is none."""
    _erasing.discard(_place(library, path))


def left(library: Path) -> tuple[tuple[bytes, int, int], ...]:
    """Gives path, size in bytes and time of the files that have a note, by path; a torn note says nothing."""
    found = []
    for place in (library / FOLDER).glob("*.json"):
        try:
            record = json.loads(place.read_bytes())
            found.append((bytes.fromhex(record["path"]), int(record["size"]), int(record["mtime_ns"])))
        except (OSError, ValueError, KeyError, TypeError):
            _erasing.discard(place)
    return tuple(sorted(found))


def forget(library: Path, folder: bytes) -> None:
    """Takes the notes of all files below a folder away."""
    below = folder.rstrip(os.sep.encode()) + os.sep.encode()
    for path, _, _ in left(library):
        if path.startswith(below):
            done(library, path)


def _place(library: Path, path: bytes) -> Path:
    return library / FOLDER / f"{hashlib.sha256(path).hexdigest()[:32]}.json"
