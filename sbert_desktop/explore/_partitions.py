"""Parting unit vectors into themes: spherical k-means, merging by least loss, the silhouette. numpy only.

All are made of the sums of the themes' vectors: with unit rows the mean cosine to a theme is one product.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sbert_desktop.domain import Vectors
from sbert_desktop.explore.document_vectors import add_rows

Labels = NDArray[np.int32]
_TINY = 1e-12


def theme_sums(vectors: Vectors, labels: Labels, count: int) -> NDArray[np.float64]:
    """Gives the sum of each theme's vectors, float64 [count, dimension]; rows labelled -1 belong to none."""
    sums = np.zeros((count, vectors.shape[1]))
    inside = np.flatnonzero(labels >= 0)
    for at in range(0, len(inside), 16_384):
        part = inside[at : at + 16_384]
        add_rows(sums, labels[part].astype(np.int64), vectors[part])
    return sums


def centres(vectors: Vectors, labels: Labels, count: int) -> Vectors:
    """Gives the direction of each theme, float32 [count, dimension], zeros for an empty one."""
    sums = theme_sums(vectors, labels, count)
    lengths = np.linalg.norm(sums, axis=1, keepdims=True)
    return np.where(lengths > _TINY, sums / np.maximum(lengths, _TINY), 0).astype(np.float32)


def polish(vectors: Vectors, labels: Labels, count: int, rounds: int) -> Labels:
    """Moves each row to the theme whose direction is nearest, some rounds long; a theme never empties."""
    for _ in range(rounds):
        cosines = vectors @ centres(vectors, labels, count).T
        moved = cosines.argmax(axis=1).astype(np.int32)
        _fill_empty(moved, labels, cosines, count)
        if np.array_equal(moved, labels):
            break
        labels = moved
    return labels


def _fill_empty(moved: Labels, before: Labels, cosines: Vectors, count: int) -> None:
    """Gives each theme that lost all its rows one back: of its own the nearest, else one that fits ill where it is."""
    sizes = np.bincount(moved, minlength=count)
    for theme in np.flatnonzero(sizes == 0):
        free = sizes[moved] > 1
        own = np.flatnonzero(free & (before == theme))
        if len(own):
            row = own[np.argmax(cosines[own, theme])]
        else:
            others = np.flatnonzero(free)
            row = others[np.argmin(cosines[others, moved[others]])]
        sizes[moved[row]] -= 1
        moved[row] = theme
        sizes[theme] = 1


def k_means(vectors: Vectors, count: int, *, seed: int = 0, tries: int = 4, rounds: int = 40) -> tuple[Labels, float]:
    """Parts rows by the direction that is nearest; gives the labels and the mean cosine to it.

    Begins are drawn far from each other (k-means++), and the best of some tries is kept.
    """
    best: tuple[Labels, float] | None = None
    for turn in range(tries):
        rng = np.random.default_rng((seed, turn))
        begins = _spread_out(vectors, count, rng)
        labels = (vectors @ vectors[begins].T).argmax(axis=1).astype(np.int32)
        for theme, row in enumerate(begins):
            labels[row] = theme
        labels = polish(vectors, labels, count, rounds)
        fit = float(np.linalg.norm(theme_sums(vectors, labels, count), axis=1).sum() / len(vectors))
        if best is None or fit > best[1] + 1e-9:
            best = labels, fit
    assert best is not None
    return best


def _spread_out(vectors: Vectors, count: int, rng: np.random.Generator) -> list[int]:
    chosen = [int(rng.integers(len(vectors)))]
    far = np.maximum(1 - vectors @ vectors[chosen[0]], 0).astype(np.float64)
    far[chosen[0]] = 0
    while len(chosen) < count:
        total = far.sum()
        if total <= _TINY:
            chosen += [row for row in range(len(vectors)) if row not in set(chosen)][: count - len(chosen)]
            break
        row = int(np.searchsorted(np.cumsum(far), rng.random() * total, "right"))
        if row >= len(vectors) or far[row] <= 0:  # rounding at the end of the sums
            row = int(far.argmax())
        chosen.append(row)
        far = np.minimum(far, np.maximum(1 - vectors @ vectors[row], 0))
        far[chosen] = 0
    return chosen


def mean_silhouette(to_themes: NDArray[np.float64], own: Labels, sizes: NDArray[np.float64]) -> float:
    """Gives the mean silhouette under cosine distance, exact for the rows given.

    Args:
        to_themes: [rows, themes]: the product of each row with the sum of each theme.
        own: The theme of each row.
        sizes: [themes].
    """
    rows = np.arange(len(own))
    size = sizes[own]
    within = 1 - (to_themes[rows, own] - 1) / np.maximum(size - 1, 1)
    others = 1 - to_themes / np.maximum(sizes, 1)
    others[rows, own] = np.inf
    others[:, sizes == 0] = np.inf
    beyond = others.min(axis=1)
    usable = (size > 1) & np.isfinite(beyond)
    scores = np.where(usable, (beyond - within) / np.maximum(np.maximum(beyond, within), 1e-6), 0)
    return float(np.nan_to_num(scores).mean()) if len(own) else 0.0


def silhouette(vectors: Vectors, labels: Labels, count: int, *, most: int = 5_000) -> float:
    """Gives the mean silhouette of at most so many rows against all themes; 0 with fewer than two themes."""
    if count < 2:
        return 0.0
    inside = np.flatnonzero(labels >= 0)
    rows = inside[:: max(1, -(-len(inside) // most))]
    sizes = np.bincount(labels[inside], minlength=count).astype(np.float64)
    return mean_silhouette(vectors[rows] @ theme_sums(vectors, labels, count).T, labels[rows], sizes)


@dataclass(frozen=True, slots=True)
class MergeTree:
    """Fine themes and the order in which they merge: each number of themes is a level, and levels are nested.

    Attributes:
        fine: int32 [n]: the finest level.
        count: How many themes that has.
        merges: int32 [count - 1, 2]: which theme (the second) joins which (the first), in their order.
        silhouettes: float [count + 1]: the mean silhouette by the number of themes; NaN for 0 and 1.
    """

    fine: Labels
    count: int
    merges: NDArray[np.int32]
    silhouettes: NDArray[np.float64]

    def level(self, count: int) -> Labels:
        """Gives the labels with so many themes, numbered without gaps, int32 [n]."""
        stands = np.arange(self.count)
        for first, second in self.merges[: self.count - max(1, min(count, self.count))]:
            stands[stands == second] = first
        _, numbered = np.unique(stands, return_inverse=True)
        return numbered[self.fine].astype(np.int32)

    def best(self, most: int | None = None) -> int:
        """Gives the number of themes with the best silhouette, the smaller of equal ones.

        Args:
            most: Not more than so many; None: any number.
        """
        scores = np.round(self.silhouettes[2 : None if most is None else max(most, 2) + 1], 6)
        if not len(scores) or np.isnan(scores).all():
            return min(self.count, 1)
        return 2 + int(np.nanargmax(scores))


def merge_tree(vectors: Vectors, fine: Labels, count: int, *, most: int = 5_000) -> MergeTree:
    """Merges, again and again, the two themes that lose the least: by how much their sums' lengths exceed their sum's.

    That is Ward's rule for directions, and the same aim that spherical k-means has.
    """
    sums = theme_sums(vectors, fine, count)
    sizes = np.bincount(fine, minlength=count).astype(np.float64)
    rows = np.arange(len(fine))[:: max(1, -(-len(fine) // most))]
    to_themes = vectors[rows] @ sums.T
    own = fine[rows].copy()
    products = sums @ sums.T
    lengths = np.sqrt(np.maximum(np.diagonal(products), 0))
    loss = lengths[:, None] + lengths - np.sqrt(np.maximum(products * 2 + lengths[:, None] ** 2 + lengths**2, 0))
    np.fill_diagonal(loss, np.inf)
    merges = np.zeros((max(0, count - 1), 2), np.int32)
    scores = np.full(count + 1, np.nan)
    alive = np.ones(count, bool)
    for step in range(count):
        left = count - step
        if left > 1:
            scores[left] = mean_silhouette(to_themes, own, sizes)
        else:
            break
        first, second = sorted(divmod(int(np.argmin(loss)), count))
        merges[step] = first, second
        sums[first] += sums[second]
        sizes[first] += sizes[second]
        sizes[second] = 0
        to_themes[:, first] += to_themes[:, second]
        own[own == second] = first
        alive[second] = False
        loss[second] = loss[:, second] = np.inf
        _renew(loss, sums, alive, first)
    return MergeTree(fine, count, merges, scores)


def _renew(loss: NDArray[np.float64], sums: NDArray[np.float64], alive: NDArray[np.bool_], theme: int) -> None:
    """Writes the losses of one theme that has grown."""
    living = np.flatnonzero(alive & (np.arange(len(alive)) != theme))
    if not len(living):
        return
    own = float(np.linalg.norm(sums[theme]))
    others = np.linalg.norm(sums[living], axis=1)
    joined = np.sqrt(np.maximum(own**2 + others**2 + 2 * (sums[living] @ sums[theme]), 0))
    loss[theme, living] = loss[living, theme] = own + others - joined
