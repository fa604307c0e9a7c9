"""What the use cases of themes and of the map hand to the window and to the command line: frozen and complete.

Arrays in them are read-only by agreement. The window draws with the functions of ``explore`` that are named here, so
that it need not know that room.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sbert_desktop.explore.communities import DEFAULT_STRICTNESS, ClusterRequest, Curve, Method
from sbert_desktop.explore.layout import LayoutRules
from sbert_desktop.explore.map_density import Contour, contours
from sbert_desktop.explore.map_labels import PlacedLabel, arrange_labels
from sbert_desktop.explore.map_points import FRONT, MapPoints, View

__all__ = [
    "DEFAULT_STRICTNESS",
    "FRONT",
    "UNSORTED",
    "ClusterRequest",
    "ClustersView",
    "ColourBy",
    "ColourGroup",
    "ColourView",
    "Contour",
    "Curve",
    "DocumentRow",
    "Grouping",
    "Keyword",
    "LayoutRules",
    "MapCard",
    "MapLabel",
    "MapPoints",
    "MapRequest",
    "MapUnit",
    "MapView",
    "Method",
    "Neighbour",
    "PlacedLabel",
    "SplitPart",
    "SplitView",
    "ThemeChange",
    "ThemeDeed",
    "ThemeView",
    "View",
    "arrange_labels",
    "contours",
]

UNSORTED = -1
"""Stands in the place of a theme's id for the documents that are in none."""


# ---------------------------------------------------------------- themes


@dataclass(frozen=True, slots=True)
class Keyword:
    """A word or phrase that is significant for a theme.

    ``weight``: 0-1, of the best one. ``share``: of its documents, how many have it; ``elsewhere``: of others.
    """

    text: str
    weight: float
    share: float
    elsewhere: float


@dataclass(frozen=True, slots=True)
class DocumentRow:
    """One document of a theme or of a selection on the map.

    ``fit``: cosine to its theme's direction, -1 to 1. ``confidence``: 0-1, how sure it is of its theme. ``theme``: id
    of the nearest theme, :data:`UNSORTED` without any; ``sorted_in``: it counts as one of that theme. ``copies``:
    places where the same content lies. ``passage``: its first passage, 0 without any; on a map of passages the one
    meant, with ``start`` and ``end`` in the document's text and ``page``.
    """

    content: int
    path: Path
    member: str
    title: str
    format: str
    language: str
    date: float | None
    folder: Path
    theme: int = UNSORTED
    fit: float = 0.0
    confidence: float = 0.0
    sorted_in: bool = True
    by_hand: bool = False
    copies: int = 1
    passage: int = 0
    start: int = 0
    end: int = 0
    page: int | None = None


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A theme beside another: its id, the cosine between both directions, and keywords that both have."""

    theme: int
    cosine: float
    shared: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ThemeView:
    """One theme.

    ``id`` stays while the theme is recognised, through re-indexing and another method. ``named``: the person gave the
    label. ``pinned``: it stays as it is when themes are found anew. ``colour``: 0, 1, 2...: place in the palette of
    groups, stays with the id. ``source``: where the label comes from: ``person``, ``words``, ``title``, ``names`` or
    ``none``. ``similarity``: mean cosine to its own direction; ``rest``: mean cosine of its documents to all others'
    direction. ``folders``: roots of the library with how many of its documents lie there, the most first. ``central``:
    its most typical documents, at most 6. ``first``, ``last``: seconds, None where no document has a date.
    """

    id: int
    label: str
    named: bool
    pinned: bool
    colour: int
    size: int
    source: str
    keywords: tuple[Keyword, ...]
    central_title: str
    central: tuple[DocumentRow, ...]
    folders: tuple[tuple[Path, int], ...]
    similarity: float
    rest: float
    beside: tuple[Neighbour, ...]
    first: float | None = None
    last: float | None = None


@dataclass(frozen=True, slots=True)
class ClustersView:
    """All themes, pinned ones first, then the largest.

    ``request``: what they were found with. ``note``: a plain sentence where the answer is not what was asked for, or
    where there is too little to sort. ``fresh``: documents that came since the themes were found, put to their nearest
    one. ``waiting``: documents that have no vector yet and take no part. ``scope``: content ids where only these were
    sorted (nothing of it is kept), else empty. ``undo``, ``redo``: what would be taken back or done again ("rename"),
    "" for nothing. ``unsorted_at``: share of documents that would be unsorted at strictness 0, 0.05 ... 1 (21 values),
    for the slider.
    """

    themes: tuple[ThemeView, ...]
    documents: int
    unsorted: int
    request: ClusterRequest
    strictness: float
    silhouette: float
    curve: Curve | None = None
    note: str = ""
    fresh: int = 0
    waiting: int = 0
    scope: tuple[int, ...] = ()
    undo: str = ""
    redo: str = ""
    seconds: float = 0.0
    generation: int = 0
    unsorted_at: tuple[float, ...] = ()

    def theme(self, id_: int) -> ThemeView | None:
        """Gives a theme by its id."""
        return next((theme for theme in self.themes if theme.id == id_), None)


@dataclass(frozen=True, slots=True)
class SplitPart:
    """What a theme would become in part."""

    label: str
    size: int
    keywords: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SplitView:
    """What splitting a theme would make; ``note`` says why where it would make nothing."""

    theme: int
    parts: tuple[SplitPart, ...]
    note: str = ""


class ThemeDeed(StrEnum):
    """What a person does to themes."""

    RENAME = "rename"
    """``themes[0]`` is called ``name`` from now on; "" gives its own label back."""
    MERGE = "merge"
    """``themes`` become one: the first of them."""
    SPLIT = "split"
    """``themes[0]`` becomes several: what :class:`SplitView` showed."""
    MOVE = "move"
    """``contents`` belong to ``themes[0]`` (:data:`UNSORTED`: to none), whatever is found."""
    PIN = "pin"
    """``themes`` stay as they are when themes are found anew."""
    UNPIN = "unpin"
    ASSIGN = "assign"
    """``contents``, or all unsorted documents where there are none, belong to their nearest theme."""
    STRICTNESS = "strictness"
    """Documents less sure than ``strictness`` are unsorted."""
    UNDO = "undo"
    REDO = "redo"


@dataclass(frozen=True, slots=True)
class ThemeChange:
    """One deed; see :class:`ThemeDeed` for what each needs."""

    deed: ThemeDeed
    themes: tuple[int, ...] = ()
    name: str = ""
    contents: tuple[int, ...] = ()
    strictness: float = DEFAULT_STRICTNESS


@dataclass(frozen=True, slots=True)
class Grouping:
    """Which theme each document has, for whoever colours or lists by theme.

    Attributes:
        contents: int64 [n], rising.
        labels: int32 [n]: place in ``themes``, -1 for unsorted.
        themes: As :class:`ClustersView` has them.
    """

    contents: NDArray[np.int64]
    labels: NDArray[np.int32]
    themes: tuple[ThemeView, ...]


# ---------------------------------------------------------------- the map


class MapUnit(StrEnum):
    """What a point is."""

    DOCUMENTS = "documents"
    PASSAGES = "passages"


@dataclass(frozen=True, slots=True)
class MapRequest:
    """Which map is asked for.

    ``refit``: lay it out anew (registered to the old one); else what is stored is given, new documents placed, and a
    map is only laid out where there is none. ``method``: ``umap`` or ``pca``. ``stored``: only what is stored, as it
    lies there: nothing is laid out or placed, and without a map the answer has no points.
    """

    unit: MapUnit = MapUnit.DOCUMENTS
    refit: bool = False
    method: str = "umap"
    rules: LayoutRules = field(default_factory=LayoutRules)
    stored: bool = False


@dataclass(frozen=True, slots=True)
class MapLabel:
    """A label at a spot of the map. ``level``: 0 for themes, 1 for parts of them. ``theme``: its id."""

    text: str
    x: float
    y: float
    weight: float
    level: int
    theme: int


@dataclass(frozen=True, slots=True)
class MapView:
    """A map. A point stands for all documents (or passages) with one and the same vector.

    Attributes:
        positions: float32 [points, 2], finite; y grows downwards.
        counts: int32 [points]: documents (or passages) that each stands for.
        contents: int64 [members]: the content of each document or passage, grouped by point.
        passages: int64 [members]: its passage (of a document its first one).
        starts: int64 [points + 1]: members of point i are ``starts[i]:starts[i + 1]``.
        fresh: Bool [points]: placed since the map was laid out.
        moved: None, or float32 [points, 2]: where each point lay on the map before this refit (NaN: it was not there).
        labels: By theme, and by part of a theme.
    """

    request: MapRequest
    positions: NDArray[np.float32]
    counts: NDArray[np.int32]
    contents: NDArray[np.int64]
    passages: NDArray[np.int64]
    starts: NDArray[np.int64]
    fresh: NDArray[np.bool_]
    labels: tuple[MapLabel, ...] = ()
    moved: NDArray[np.float32] | None = None
    preview: bool = False
    note: str = ""
    quality: str = ""  # very good, good, fair, poor, exact; "" not measured
    quality_sentence: str = ""
    trustworthiness: float = 0.0
    kept: float = 0.0  # share of the nearest neighbours that are neighbours on the map, 0-1
    seconds: float = 0.0
    waiting: int = 0
    generation: int = 0

    def __len__(self) -> int:
        return len(self.positions)


class ColourBy(StrEnum):
    """What the colours of points say."""

    THEME = "theme"
    FOLDER = "folder"
    TYPE = "type"
    DATE = "date"
    QUERY = "query"
    DUPLICATES = "duplicates"
    LANGUAGE = "language"


@dataclass(frozen=True, slots=True)
class ColourGroup:
    """One entry of the legend. ``colour``: place in the palette of groups, -1 for the plain grey. ``theme``: its id."""

    label: str
    count: int
    colour: int
    theme: int = UNSORTED


@dataclass(frozen=True, slots=True)
class ColourView:
    """The colours of a map's points.

    Attributes:
        by: What they say.
        point_groups: int32 [points]: place in ``groups``, -1 for none.
        groups: The legend, in its order; at most 40, the rest under "Other".
        values: float32 [points] from 0 to 1 where colours are a scale (date, query), NaN unknown; else None.
        low: What 0 means on the scale.
        high: What 1 means.
        dates: float64 [points] in seconds, NaN unknown: for the filter by date, whatever the colours say.
        note: A sentence where there is nothing to colour by ("Search for something first.").
    """

    by: ColourBy
    point_groups: NDArray[np.int32]
    groups: tuple[ColourGroup, ...]
    values: NDArray[np.float32] | None
    low: str
    high: str
    dates: NDArray[np.float64]
    note: str = ""


@dataclass(frozen=True, slots=True)
class MapCard:
    """What the card beside the pointer says. ``more``: other documents on the same spot."""

    point: int
    document: DocumentRow
    text: str
    theme: str
    more: int = 0
