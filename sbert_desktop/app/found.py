"""What a look for duplicates found: kept, and cut anew at every question."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sbert_desktop.app.copies import Gathered
from sbert_desktop.app.duplicate_views import GroupView
from sbert_desktop.cleanup import Assistant, Copy
from sbert_desktop.explore.grouping import Kinship
from sbert_desktop.explore.near_pairs import NearPairs

Folders = tuple[tuple[Path, tuple[Copy, ...]], ...]
"""Equal folders, each with its files."""


@dataclass(frozen=True, slots=True)
class Found:
    """Everything that was compared, ready to be cut.

    ``signed``: units with a signature. ``pairs``: of passages. ``folders``: equal ones with their files. ``stale``:
    files came back since, the disk is to be looked at again. ``made``: groups that were made before, by their copies
    (which live as long as this does); a moved slider changes few. ``space``: fingerprint of the vectors.
    """

    gathered: Gathered
    kinship: Kinship
    pairs: NearPairs | None
    signed: frozenset[int]
    folders: tuple[Folders, ...]
    key: str
    generation: int
    waiting: int
    stale: bool = False
    space: str = ""
    made: dict[Assistant, dict[tuple[object, ...], GroupView]] = field(default_factory=dict, compare=False)


def count_copies(copies: Iterable[Copy], units: int) -> NDArray[np.int64]:
    """Counts the copies of each unit; further hard links are no copies."""
    counts = np.zeros(units, np.int64)
    for copy in copies:
        if not copy.linked:
            counts[copy.unit] += 1
    return counts
