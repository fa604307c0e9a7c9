"""The accelerator's file: loaded once, checked, and refused where it is damaged."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

from sbert_desktop.domain import NeighbourIndex
from sbert_desktop.library import _disk, _health, _hnsw, _vectors
from sbert_desktop.library._view import View


class Indexes:
    """Keeps the one that was used last; every method may be called from any thread.

    Args:
        library: The library's folder.
        notice: Told when one is refused.
    """

    def __init__(self, library: Path, notice: Callable[[str], None]) -> None:
        self._library = library
        self._notice = notice
        self._loaded: dict[str, NeighbourIndex | None] = {}
        self._refused = ""  # the stamp of the file that was refused
        self._lock = threading.Lock()

    def get(self, view: View) -> NeighbourIndex | None:
        """Gives that of a space, or None where it has none that can be used."""
        if view.index is None or view.space is None:
            return None
        with self._lock:
            path = _vectors.space_folder(self._library, view.space.fingerprint) / view.index.file
            key = f"{view.index.file} {view.index.sha256}"
            # What was refused once may be built anew with the same name and bytes: the file itself is looked at.
            stamp = "" if self._loaded.get(key) is not None else _disk.stamp(path)
            if key not in self._loaded or (self._loaded[key] is None and stamp != self._refused):
                index = _hnsw.load(path, view.index) if view.index.dimension == view.space.dimension else None
                if index is None:
                    self._refused = stamp
                    self._notice(_health.BAD_INDEX)
                self._loaded.clear()  # an earlier generation lives on as long as a snapshot's search runs
                self._loaded[key] = index
            return self._loaded[key]

    def clear(self) -> None:
        """Lets go of it."""
        self._loaded.clear()
