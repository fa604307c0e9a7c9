"""Themes of a collection as objects: what was found, what is unsorted, what is typical, what lies beside, what stays.

They are found by ``_heavy_clusters.find_clusters`` in a child; all here is cheap enough for any thread. numpy only.

A document always has a nearest theme and a confidence. Which documents are shown as unsorted is decided afterwards, by
a strictness: none at 0 (that is "assign to nearest"), and moving the slider computes nothing anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from sbert_desktop.domain import Mask, Vectors
from sbert_desktop.explore._partitions import MergeTree, centres, theme_sums
from sbert_desktop.explore.neighbours import NeighbourGraph

Labels = NDArray[np.int32]

DEFAULT_STRICTNESS = 0.25
"""A quarter of a document's near documents must be of its theme. Measured: docs/adr/0018."""
_ASKED = 3
"""Neighbours that decide how sure a document is of its theme, however small that is."""
_SAME = 0.5
"""Share of members two themes must have in common (of the smaller of both views) to be the same one."""


class Method(StrEnum):
    """How themes are found."""

    AUTO = "auto"
    COMMUNITIES = "communities"
    KMEANS = "kmeans"
    HDBSCAN = "hdbscan"
    THRESHOLD = "threshold"


@dataclass(frozen=True, slots=True)
class ClusterRequest:
    """What is asked for.

    Attributes:
        method: Auto is communities.
        count: How many themes; None lets the data say. HDBSCAN and threshold communities find their own.
        detail: Fewer (-1) to more (1) themes than the data say; 0 as they say. Not used with ``count``.
        seed: Of what is drawn by lot.
        smallest: Documents that a theme of HDBSCAN or of threshold communities has at least; None: by the collection.
        threshold: Cosine to the middle document of threshold communities; None: by the collection.
    """

    method: Method = Method.AUTO
    count: int | None = None
    detail: float = 0.0
    seed: int = 0
    smallest: int | None = None
    threshold: float | None = None


@dataclass(frozen=True, slots=True)
class Curve:
    """What each number of themes would give, for a plot.

    Attributes:
        counts: int32 [m], rising.
        silhouettes: float64 [m]: higher is better.
        losses: float64 [m]: mean cosine distance to the theme's direction; falls.
        by_silhouette: The number with the best silhouette.
        by_elbow: The number after which the loss falls slowly.
    """

    counts: NDArray[np.int32]
    silhouettes: NDArray[np.float64]
    losses: NDArray[np.float64]
    by_silhouette: int
    by_elbow: int


@dataclass(frozen=True, slots=True)
class Clustering:
    """Themes, the largest first.

    Attributes:
        method: By which they were found.
        nearest: int32 [n]: the nearest theme of each document.
        confidence: float32 [n], 0-1: the share of its near documents that are of its theme, the nearer counting more;
            0 where nothing is near.
        outside: Bool [n]: left out by the method itself (HDBSCAN, threshold communities).
        count: How many themes.
        silhouette: Mean, -1 to 1.
        curve: By the number of themes, where the method has one.
        note: A plain sentence where the answer is not what was asked for, else empty.
        tree: The levels of communities, else None.
    """

    method: Method
    nearest: Labels
    confidence: NDArray[np.float32]
    outside: Mask
    count: int
    silhouette: float
    curve: Curve | None = None
    note: str = ""
    tree: MergeTree | None = field(default=None, repr=False, compare=False)

    def labels(self, strictness: float = DEFAULT_STRICTNESS) -> Labels:
        """Gives the theme of each document, -1 where it is unsorted; at 0 each has one."""
        if strictness <= 0:
            return self.nearest.copy()
        unsorted = self.outside | (self.confidence < strictness)
        return np.where(unsorted, np.int32(-1), self.nearest).astype(np.int32)

    def unsorted_share(self, strictness: float = DEFAULT_STRICTNESS) -> float:
        """Gives the share of documents without a theme, 0-1."""
        return float(np.mean(self.labels(strictness) < 0)) if len(self.nearest) else 0.0

    def sizes(self, strictness: float = DEFAULT_STRICTNESS) -> NDArray[np.int64]:
        """Gives how many documents each theme has."""
        labels = self.labels(strictness)
        return np.bincount(labels[labels >= 0], minlength=self.count)


def confidences(graph: NeighbourGraph, labels: Labels, background: float) -> NDArray[np.float32]:
    """Gives the share of each row's near rows that have its label, float32 [n].

    A row of a small theme is asked only about as many neighbours as its theme has other members (3 at least): of 15,
    most would have to be of other themes.

    Args:
        graph: The neighbours of each row.
        labels: The theme of each row.
        background: Cosine of rows that have nothing to do with each other; neighbours count by what they exceed it.
    """
    if not graph.k:
        return np.ones(len(labels), np.float32)
    weights = np.where(graph.neighbours >= 0, np.maximum(graph.cosines - background, 0), 0)
    others = np.maximum(np.bincount(labels)[labels] - 1, _ASKED)
    weights = np.where(np.arange(graph.k) < others[:, None], weights, 0)
    same = labels[np.maximum(graph.neighbours, 0)] == labels[:, None]
    total = weights.sum(axis=1)
    share = (weights * same).sum(axis=1) / np.maximum(total, 1e-9)
    return np.where(total > 0, share, 0).astype(np.float32)


def background_cosine(vectors: Vectors, seed: int = 0) -> float:
    """Gives the cosine that 17 of 20 random pairs stay below; 0 with fewer than 20 rows.

    Not more: where a collection has few themes, many random pairs are of one theme.
    """
    if len(vectors) < 20:
        return 0.0
    rng = np.random.default_rng(seed)
    first = rng.integers(len(vectors), size=4_000)
    second = (first + rng.integers(1, len(vectors), size=4_000)) % len(vectors)
    found = float(np.quantile(np.einsum("ij,ij->i", vectors[first], vectors[second]), 0.85))
    return min(found, 0.9)


@dataclass(frozen=True, slots=True)
class Theme:
    """What a theme looks like.

    Attributes:
        size: Documents.
        central: int32: its most typical documents, the most typical first.
        spread: Mean cosine distance to its direction: 0 where all say the same.
        beside: The nearest other themes and the cosine to each, the nearest first.
    """

    size: int
    central: NDArray[np.int32]
    spread: float
    beside: tuple[tuple[int, float], ...]


def describe_themes(vectors: Vectors, labels: Labels, count: int, *, central: int = 5, beside: int = 3) -> list[Theme]:
    """Gives size, typical documents, spread and neighbours of each theme.

    Args:
        vectors: float32 [n, dimension], unit rows.
        labels: int32 [n], -1 unsorted.
        count: How many themes.
        central: How many typical documents.
        beside: How many neighbouring themes.
    """
    directions = centres(vectors, labels, count)
    cosines = directions @ directions.T
    np.fill_diagonal(cosines, -2)
    themes = []
    for theme in range(count):
        rows = np.flatnonzero(labels == theme)
        fit = vectors[rows] @ directions[theme]
        typical = rows[np.argsort(-np.round(fit, 6), kind="stable")[:central]]
        near = [int(other) for other in np.argsort(-cosines[theme], kind="stable") if cosines[theme, other] > -2]
        pairs = tuple((other, float(cosines[theme, other])) for other in near[:beside])
        spread = float(np.clip(1 - fit.mean(), 0, 2)) if len(rows) else 0.0
        themes.append(Theme(len(rows), typical.astype(np.int32), spread, pairs))
    return themes


def shared_words(first: Sequence[str], second: Sequence[str]) -> tuple[str, ...]:
    """Gives the keywords of the first theme that the second has too, whatever their case, in the first's order."""
    others = {word.casefold() for word in second}
    return tuple(word for word in first if word.casefold() in others)


@dataclass(frozen=True, slots=True)
class Matched:
    """What became of the themes of an earlier run.

    Attributes:
        before: int32 [new themes]: which earlier theme each is, -1 for a new one.
        shares: float32 [new themes]: of the documents in both runs, the share (Jaccard) that both themes have.
        gone: Earlier themes that none continues.
    """

    before: Labels
    shares: NDArray[np.float32]
    gone: tuple[int, ...]


def match_themes(
    old_keys: Sequence[str], old_labels: Labels, new_keys: Sequence[str], new_labels: Labels,
    *, pinned: Sequence[int] = (),
) -> Matched:  # fmt: skip
    """Knows themes of an earlier run again by their documents, so that names and pins stay.

    Each theme is continued by one at most: the pairs with the largest overlap first, pinned ones before all others. A
    theme that was split goes on in its largest part; one that was merged is the larger of both.

    Args:
        old_keys: What the documents of the earlier run are known by (their content's hash).
        old_labels: int32 [n], -1 unsorted.
        new_keys: Likewise.
        new_labels: Likewise.
        pinned: Earlier themes that are matched first, and from less overlap on.
    """
    old_count = int(old_labels.max(initial=-1)) + 1
    new_count = int(new_labels.max(initial=-1)) + 1
    at = {key: place for place, key in enumerate(old_keys)}
    both = [(at[key], place) for place, key in enumerate(new_keys) if key in at]
    table = np.zeros((old_count + 1, new_count + 1))  # the last ones stand for unsorted
    for old, new in both:
        table[old_labels[old], new_labels[new]] += 1
    ours, theirs = table.sum(axis=1)[:old_count], table.sum(axis=0)[:new_count]
    inner = table[:old_count, :new_count]
    jaccard = inner / np.maximum(ours[:, None] + theirs - inner, 1)
    smaller = inner / np.maximum(np.minimum(ours[:, None], theirs), 1)
    before = np.full(new_count, -1, np.int32)
    shares = np.zeros(new_count, np.float32)
    taken: set[int] = set()
    firmly = set(pinned)
    order = sorted(
        ((int(old), int(new)) for old, new in zip(*np.nonzero(inner), strict=True)),
        key=lambda pair: (pair[0] not in firmly, -jaccard[pair], pair),
    )
    for old, new in order:
        enough = inner[old, new] >= _SAME * ours[old] or jaccard[old, new] >= _SAME
        enough = enough or (old in firmly and smaller[old, new] >= _SAME)
        if enough and before[new] < 0 and old not in taken:
            before[new], shares[new] = old, jaccard[old, new]
            taken.add(old)
    return Matched(before, shares, tuple(old for old in range(old_count) if old not in taken))


def sum_of_themes(vectors: Vectors, clustering: Clustering) -> NDArray[np.float64]:
    """Gives the sum of each theme's vectors, float64 [count, dimension]: what new documents are compared with."""
    return theme_sums(vectors, clustering.nearest, clustering.count)


def assign(vectors: Vectors, sums: NDArray[np.float64]) -> tuple[Labels, NDArray[np.float32]]:
    """Gives the nearest theme of new documents and the cosine to its direction, without finding themes anew."""
    lengths = np.linalg.norm(sums, axis=1, keepdims=True)
    if not len(sums):
        return np.full(len(vectors), -1, np.int32), np.zeros(len(vectors), np.float32)
    cosines = vectors @ (sums / np.maximum(lengths, 1e-12)).T.astype(np.float32)
    nearest = cosines.argmax(axis=1).astype(np.int32)
    return nearest, cosines[np.arange(len(vectors)), nearest].astype(np.float32)
