"""Folders that hold the same files, whatever these are called. Any thread."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

FEWEST_FILES = 2
"""Files of a folder that is told as one; a single file is a duplicate of its own."""


def equal_folders(files: Iterable[tuple[Path, str]]) -> list[tuple[Path, ...]]:
    """Gives groups of folders whose files, those of their sub-folders among them, are the same byte by byte.

    Only the topmost folders: what lies below them is told with them. Of folders that lie in each other only the
    outer one.

    Args:
        files: Path and sha256 of all files there are, readable or not; "" where it is not known (nothing equals it).
    """
    direct: dict[Path, _Sum] = defaultdict(lambda: (0, 0))
    for path, sha256 in files:
        direct[path.parent] = _added(direct[path.parent], (1, _number(sha256 or f"unknown\0{path}")))
    contents: dict[Path, _Sum] = defaultdict(lambda: (0, 0))
    for folder, content in direct.items():
        for around in (folder, *folder.parents):
            contents[around] = _added(contents[around], content)
    alike: dict[_Sum, list[Path]] = defaultdict(list)
    for folder, content in contents.items():
        if content[0] >= FEWEST_FILES:
            alike[content].append(folder)
    groups: list[tuple[Path, ...]] = []
    told: set[Path] = set()
    several = [(count, folders) for (count, _), folders in alike.items() if len(folders) > 1]
    for _, folders in sorted(several, key=lambda item: (-item[0], min(item[1]))):
        outer = _outermost(folder for folder in folders if told.isdisjoint(folder.parents))
        if len(outer) > 1:
            groups.append(tuple(outer))
            told.update(outer)
    return sorted(groups)


_Sum = tuple[int, int]
"""How many files, and the sum of their numbers: the same in whatever order they are added."""


def _added(one: _Sum, other: _Sum) -> _Sum:
    return one[0] + other[0], (one[1] + other[1]) % 2**256


def _number(token: str) -> int:
    return int.from_bytes(hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest(), "little")


def _outermost(folders: Iterable[Path]) -> list[Path]:
    kept: list[Path] = []
    for folder in sorted(folders, key=lambda path: (len(path.parts), path)):
        if not any(outer in folder.parents for outer in kept):
            kept.append(folder)
    return sorted(kept)
