"""The labels of the map: of themes at once, of parts of large themes from the shelf, or read from their texts.

A part is where points of one theme stand together on the map; its name is made of the words that tell it from the other
parts of the theme. Reading texts takes a while: names lie on the shelf by the members of all parts of a theme.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sbert_desktop.app.atlas_views import Grouping, MapLabel, MapView
from sbert_desktop.domain import ContentId
from sbert_desktop.errors import LibraryError
from sbert_desktop.explore.cluster_labels import TermTable, read_terms
from sbert_desktop.explore.layout import Positions
from sbert_desktop.explore.map_labels import theme_anchors

if TYPE_CHECKING:
    from sbert_desktop.app.session import Session
    from sbert_desktop.domain import JobContext

_VERSION = 1
_PREFIX = "map-part:"
_LARGE, _PER_PART = 120, 60
"""Points from which a theme has parts, and points that a part stands for at least."""
_PARTS = 5
_THEMES = 24
"""Themes, the largest ones, that have parts at all: bounds what naming them costs."""
_READ = 60
"""Texts read of each part."""
_WORDS = 2
_KEYWORDS = 6
_SAMPLE = 4_000
_ROUNDS = 25


@dataclass(frozen=True, slots=True)
class _Split:
    """A theme with the parts of its points: int32 [points of the map], -1 for those of other themes."""

    theme: int
    label: str
    parts: NDArray[np.int32]
    count: int


def grouping_of(session: Session) -> Grouping | None:
    """Gives the themes that there are; never computes."""
    from sbert_desktop.app.clustering import grouping

    return grouping(session)


def point_themes(view: MapView, themes: Grouping) -> NDArray[np.int32]:
    """Gives the place in ``themes.themes`` of each point's first document, int32 [points], -1 for none."""
    first = view.contents[view.starts[:-1]]
    if not len(themes.contents):
        return np.full(len(first), -1, np.int32)
    at = np.minimum(np.searchsorted(themes.contents, first), len(themes.contents) - 1)
    return np.where(themes.contents[at] == first, themes.labels[at], -1).astype(np.int32)


def theme_labels(view: MapView, themes: Grouping | None) -> tuple[MapLabel, ...]:
    """Gives a label for each theme that is on the map; none without themes."""
    if themes is None or not len(view):
        return ()
    labels = point_themes(view, themes)
    anchors = theme_anchors(view.positions, labels, len(themes.themes))
    weights = np.bincount(labels[labels >= 0], view.counts[labels >= 0], len(themes.themes))
    return tuple(
        MapLabel(theme.label, float(anchors[at, 0]), float(anchors[at, 1]), float(weights[at]), 0, theme.id)
        for at, theme in enumerate(themes.themes)
        if np.isfinite(anchors[at, 0])
    )


def part_labels(
    session: Session, view: MapView, themes: Grouping | None, context: JobContext, *, only_known: bool = False
) -> tuple[MapLabel, ...] | None:
    """Gives the labels of parts of large themes.

    Args:
        session: Whose shelf keeps them, and whose texts are read.
        view: The map.
        themes: Of its documents.
        context: Asked for a cancel per text.
        only_known: Read no texts; None where some would have to be read.

    Raises:
        Cancelled: Through ``context``.
    """
    if themes is None or not len(view):
        return ()
    splits = _splits(view, themes, context)
    shelf = session.library.shelf
    keys = [_key(view, split) for split in splits]
    known = shelf.get(keys)
    if only_known and any(key not in known for key in keys):
        return None
    made: list[MapLabel] = []
    for done, (split, key) in enumerate(zip(splits, keys, strict=True)):
        names = _unpacked(known.get(key), split.count)
        if names is None:
            context.progress("naming parts", done, len(splits))
            names = _names(session, view, split, context)
            shelf.put({key: json.dumps(names, ensure_ascii=False).encode("utf-8", "replace")})
        made += _labels(view, split, names)
    if any(key not in known for key in keys):
        shelf.keep_only(_PREFIX, keys)
    return tuple(made)


def _unpacked(data: bytes | None, count: int) -> list[str] | None:
    if data is None:
        return None
    try:
        names = json.loads(data)
    except ValueError:
        return None
    sound = isinstance(names, list) and len(names) == count and all(isinstance(name, str) for name in names)
    return names if sound else None


def _key(view: MapView, split: _Split) -> str:
    """Names the members of all parts of a theme, and what its own label says."""
    digest = hashlib.sha256(f"{_VERSION}:{view.request.unit}:{split.label}".encode("utf-8", "replace"))
    for part in range(split.count):
        digest.update(np.sort(view.passages[view.starts[:-1][split.parts == part]]).tobytes())
        digest.update(b";")
    return _PREFIX + digest.hexdigest()


def _splits(view: MapView, themes: Grouping, context: JobContext) -> list[_Split]:
    labels = point_themes(view, themes)
    sizes = np.bincount(labels[labels >= 0], minlength=len(themes.themes))
    large = [at for at in np.argsort(-sizes, kind="stable")[:_THEMES].tolist() if sizes[at] >= _LARGE]
    splits = []
    for at in large:
        context.check()
        rows = np.flatnonzero(labels == at)
        count = int(min(_PARTS, len(rows) // _PER_PART, max(2, round(np.sqrt(len(rows) / 40)))))
        parts = np.full(len(view), -1, np.int32)
        parts[rows] = split_plane(view.positions[rows], count)
        splits.append(_Split(themes.themes[at].id, themes.themes[at].label, parts, count))
    return splits


def split_plane(positions: Positions, count: int) -> NDArray[np.int32]:
    """Parts spots of the plane into groups, int32 [n] from float32 [n, 2]; the same spots give the same groups.

    k-means from the best of spread-out beginnings. Source: Arthur, Vassilvitskii, "k-means++", 2007.
    """
    random = np.random.default_rng(0)
    spots = positions.astype(np.float64)
    sample = spots if len(spots) <= _SAMPLE else spots[np.sort(random.choice(len(spots), _SAMPLE, replace=False))]
    middles = sample[[int(random.integers(len(sample)))]]
    while len(middles) < count:
        away = _squares(sample, middles).min(axis=1)
        total = away.sum()
        if total <= 0:
            break
        middles = np.vstack([middles, sample[[int(random.choice(len(sample), p=away / total))]]])
    for _ in range(_ROUNDS):
        nearest = _squares(sample, middles).argmin(axis=1)
        held = np.bincount(nearest, minlength=len(middles))
        sums = np.stack([np.bincount(nearest, sample[:, axis], len(middles)) for axis in (0, 1)], axis=1)
        moved = np.where(held[:, None] > 0, sums / np.maximum(held, 1)[:, None], middles)
        if np.allclose(moved, middles):
            break
        middles = moved
    return np.asarray(_squares(spots, middles).argmin(axis=1), np.int32)


def _squares(spots: NDArray[np.float64], middles: NDArray[np.float64]) -> NDArray[np.float64]:
    across = (spots[:, 0, None] - middles[None, :, 0]) ** 2
    down = (spots[:, 1, None] - middles[None, :, 1]) ** 2
    return np.asarray(across + down)


def _names(session: Session, view: MapView, split: _Split, context: JobContext) -> list[str]:
    """Reads some texts of each part; gives the words that tell it from the others, "" where there are none."""
    table = TermTable(split.count)
    firsts = view.starts[:-1]
    for part in range(split.count):
        rows = np.flatnonzero(split.parts == part)
        rows = rows[:: max(1, -(-len(rows) // _READ))]
        passages = view.passages[firsts[rows]] if view.request.unit.value == "passages" else None
        fetched = session.snapshot().fetch(passages.tolist()) if passages is not None else {}
        for record in fetched.values():
            context.check()
            table.add(part, read_terms(record.text, record.language))
        for content in view.contents[firsts[rows]].tolist() if passages is None else ():
            context.check()
            try:
                text = session.library.text_of(ContentId(content))
            except LibraryError:  # it went meanwhile
                continue
            table.add(part, read_terms(text.text, text.language))
    said = {word.casefold() for word in split.label.replace(",", " ").split()}
    named = []
    for keywords in table.keywords(_KEYWORDS):
        telling = [keyword.text for keyword in keywords if said.isdisjoint(keyword.text.casefold().split())]
        named.append(", ".join(telling[:_WORDS]))
    return [name if named.count(name) == 1 else "" for name in named]


def _labels(view: MapView, split: _Split, names: list[str]) -> list[MapLabel]:
    anchors = theme_anchors(view.positions, split.parts, split.count)
    inside = split.parts >= 0
    weights = np.bincount(split.parts[inside], view.counts[inside], split.count)
    return [
        MapLabel(name, float(anchors[at, 0]), float(anchors[at, 1]), float(weights[at]), 1, split.theme)
        for at, name in enumerate(names)
        if name and np.isfinite(anchors[at, 0])
    ]
