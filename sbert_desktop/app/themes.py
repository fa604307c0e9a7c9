"""The themes of a library: which document has which, what they are called, and what the person did by hand.

Documents are known by their hash, so that themes survive re-indexing and another model. A state never changes: what
is done to one (``app/theme_edits``, ``app/theme_renewal``) gives another, and an earlier one is what takes an edit
back. numpy only, nothing is read or written here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from sbert_desktop.app.atlas_views import DEFAULT_STRICTNESS, ClusterRequest, Curve, Keyword
from sbert_desktop.errors import UsageError
from sbert_desktop.explore.communities import Labels

Keys = NDArray[np.bytes_]
KEY = "S72"
"""Holds a sha256 in hex, with the word that says of what it is where it is none of a file's bytes."""
ARRAYS = ("keys", "nearest", "confidence", "outside", "by_hand", "assigned", "fresh")
"""What :class:`Themes` has of each document."""
UNNAMED = "Untitled"


@dataclass(frozen=True, slots=True)
class ThemeRecord:
    """One theme. ``label``: what it is called by itself; ``name``: what the person calls it. See ``ThemeView``."""

    id: int
    colour: int
    label: str = UNNAMED
    name: str = ""
    pinned: bool = False
    source: str = "none"
    keywords: tuple[Keyword, ...] = ()
    central_title: str = ""

    @property
    def shown(self) -> str:
        """What it is called; never empty."""
        return self.name or self.label


@dataclass(frozen=True, eq=False)
class Themes:
    """All themes and where each document belongs. Documents rise by their key, and no two have the same.

    Attributes:
        keys: Bytes [n]: the hash of each document.
        nearest: int32 [n]: place in ``themes``; -1 only for documents that were put to none by hand.
        confidence: float32 [n], 0-1.
        outside: Bool [n]: left out by the method, or put to none by hand.
        by_hand: Bool [n]: where it is, the person put it.
        assigned: Bool [n]: counts as one of its nearest theme, however unsure.
        fresh: Bool [n]: came since the themes were found.
        next_id: The id of the next new theme: none is given twice.
    """

    keys: Keys
    nearest: Labels
    confidence: NDArray[np.float32]
    outside: NDArray[np.bool_]
    by_hand: NDArray[np.bool_]
    assigned: NDArray[np.bool_]
    fresh: NDArray[np.bool_]
    themes: tuple[ThemeRecord, ...] = ()
    request: ClusterRequest = field(default_factory=ClusterRequest)
    strictness: float = DEFAULT_STRICTNESS
    silhouette: float = 0.0
    curve: Curve | None = None
    note: str = ""
    generation: int = 0
    next_id: int = 1

    def __len__(self) -> int:
        return len(self.keys)

    def labels(self, strictness: float | None = None) -> Labels:
        """Gives the place of each document's theme, int32 [n], -1 unsorted; at strictness 0 only what by hand is."""
        least = self.strictness if strictness is None else strictness
        unsure = (self.outside | (self.confidence < least)) if least > 0 else np.zeros(len(self), bool)
        unsorted = np.where(self.by_hand, self.outside, unsure & ~self.assigned)
        return np.where(unsorted, np.int32(-1), self.nearest).astype(np.int32)

    def sizes(self) -> NDArray[np.int64]:
        """Gives how many documents each theme has, int64 [themes]; with the unsorted ones they are all."""
        labels = self.labels()
        return np.bincount(labels[labels >= 0], minlength=len(self.themes)).astype(np.int64)

    def place(self, id_: int) -> int:
        """Gives the place of a theme.

        Raises:
            UsageError: ``theme-gone``.
        """
        for place, theme in enumerate(self.themes):
            if theme.id == id_:
                return place
        raise UsageError("theme-gone", "This cluster is no longer there.", "Look at the clusters as they are now.")

    def rows(self, keys: Keys) -> NDArray[np.int64]:
        """Gives the places of documents, int64 [m]; those that are not here are left out."""
        found = np.searchsorted(self.keys, keys)
        here = found < len(self)
        here[here] = self.keys[found[here]] == keys[here]
        return found[here].astype(np.int64)

    def with_theme(self, place: int, **changes: object) -> Themes:
        """Gives the state with something else in one theme's record."""
        records = list(self.themes)
        records[place] = replace(records[place], **changes)  # type: ignore[arg-type]
        return replace(self, themes=tuple(records))

    def only(self, keep: NDArray[np.bool_]) -> Themes:
        """Gives the state with some of its documents only, bool [n]."""
        return self._with_arrays([getattr(self, name)[keep] for name in ARRAYS])

    def joined(self, keys: Keys, *arrays: NDArray[np.generic]) -> Themes:
        """Adds documents that are not here yet: their keys, then the other arrays in the order of :data:`ARRAYS`."""
        whole = [np.concatenate([getattr(self, name), more])
                 for name, more in zip(ARRAYS, (keys, *arrays), strict=True)]  # fmt: skip
        order = np.argsort(whole[0])
        return self._with_arrays([array[order] for array in whole])

    def _with_arrays(self, arrays: Sequence[NDArray[np.generic]]) -> Themes:
        changes = {name: array.astype(getattr(self, name).dtype) for name, array in zip(ARRAYS, arrays, strict=True)}
        return replace(self, **changes)  # type: ignore[arg-type]


def empty(keys: Keys | None = None) -> Themes:
    """Gives a state without themes; documents, where there are any, are put to none."""
    known = np.unique(np.asarray([] if keys is None else keys, KEY))
    none = np.zeros(len(known), bool)
    return Themes(
        known, np.full(len(known), -1, np.int32), np.zeros(len(known), np.float32), ~none, ~none, none, none.copy()
    )


def tidy(themes: Themes) -> Themes:
    """Takes away themes that no document belongs to, whatever the strictness."""
    lost = themes.by_hand & themes.outside
    used = np.bincount(themes.nearest[~lost & (themes.nearest >= 0)], minlength=len(themes.themes)) > 0
    if used.all():
        return themes
    stands = np.where(used, np.cumsum(used) - 1, -1).astype(np.int32)
    nearest = np.where(themes.nearest >= 0, stands[np.maximum(themes.nearest, 0)], -1) if len(used) else themes.nearest
    kept = tuple(theme for theme, keep in zip(themes.themes, used.tolist(), strict=True) if keep)
    return replace(themes, nearest=np.asarray(nearest, np.int32), themes=kept)


def free_colour(taken: Iterable[int]) -> int:
    """Gives the first place in the palette that no theme has."""
    used: Collection[int] = set(taken)
    colour = 0
    while colour in used:
        colour += 1
    return colour
