"""Rows of the library drawn by lot and compared: where pairs to judge come from, without reading a text. Any thread.

Some rows are drawn as anchors, evenly over the clusters where these are kept, and compared with a part of the library
that is taken in stretches (neighbours on the disk are often versions of one another) and with their neighbours in the
index. Of each anchor those nearest, those near the threshold and some by lot are candidates.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from sbert_desktop.domain import Snapshot, Vectors
from sbert_desktop.training import proposing

Integers = NDArray[np.int64]
Marks = NDArray[np.uint64]

ANCHORS, POOL, STRETCH = 192, 16_384, 128
"""Rows that are compared with others; rows that they are compared with; rows in one piece of these."""
_ASKED_OF_INDEX, _FROM_INDEX = 48, 12
_NEAREST, _UNSURE, _BY_LOT = 5, 8, 4
"""Candidates of each anchor."""
_FEWEST_WORDS = 5
"""Words of a passage that can be judged; fewer only where there is nothing else."""


@dataclass(frozen=True, slots=True)
class DrawnPairs(proposing.Candidates):
    """Candidates with the passages that they are of: ids, int64 [n]."""

    left: Integers = field(default_factory=lambda: np.empty(0, np.int64))
    right: Integers = field(default_factory=lambda: np.empty(0, np.int64))

    def only(self, places: Integers) -> DrawnPairs:
        """Gives those at these places."""

        def at(values: NDArray[np.int64] | None) -> NDArray[np.int64] | None:
            return None if values is None else values[places]

        return DrawnPairs(self.cosines[places], self.first[places], self.second[places], at(self.clusters),
                          at(self.first_documents), at(self.second_documents), self.left[places],
                          self.right[places])  # fmt: skip


@dataclass(frozen=True, slots=True)
class Drawn:
    """Rows of the library that were drawn, and the cosines of some with all.

    Attributes:
        rows: int64 [p], rising: rows of the snapshot.
        anchors: int64 [a]: places in ``rows``.
        cosines: float32 [a, p]; -2 where both are of one document.
        vectors: float32 [p, dimension].
        contents: int64 [p].
        clusters: int64 [a], None where none are kept.
        chance: Mean cosine of two passages drawn by lot, between 0 and 0.95.
        among: int64 [m], rising: contents that alone are asked about; none: all.
    """

    rows: Integers
    anchors: Integers
    cosines: NDArray[np.float32]
    vectors: Vectors
    contents: Integers
    clusters: Integers | None
    chance: float
    among: Integers

    def candidates(self, threshold: float, rng: np.random.Generator, snapshot: Snapshot) -> DrawnPairs:
        """Gives pairs of each anchor: the nearest, those near the threshold, and some by lot."""
        usable = self.cosines > -1.5
        left, right = [], []
        ranked = (
            (np.where(usable, -self.cosines, np.inf), _NEAREST),
            (np.where(usable, np.abs(self.cosines - np.float32(threshold)), np.inf), _UNSURE),
            (np.where(usable, rng.random(self.cosines.shape, np.float32), np.inf), _BY_LOT),
        )
        for order, most in ranked:
            most = min(most, order.shape[1])
            best = np.argpartition(order, most - 1, axis=1)[:, :most]
            left.append(np.repeat(np.arange(len(self.anchors)), most))
            right.append(best.ravel())
        anchor, other = np.concatenate(left), np.concatenate(right)
        fine = usable[anchor, other]
        anchor, other = anchor[fine], other[fine]
        one, two = self.rows[self.anchors[anchor]], self.rows[other]
        cosines = self.cosines[anchor, other]
        more = self._of_index(rng, snapshot)
        anchor = np.concatenate([anchor, more[0]])
        one, two = np.concatenate([one, more[1]]), np.concatenate([two, more[2]])
        cosines = np.concatenate([cosines, more[3]])
        # each pair once, whichever was the anchor
        _, first = np.unique(np.stack([np.minimum(one, two), np.maximum(one, two)]), axis=1, return_index=True)
        first.sort()
        anchor, one, two, cosines = anchor[first], one[first], two[first], cosines[first]
        ids, contents = snapshot.passage_ids, snapshot.contents
        return DrawnPairs(
            cosines.astype(np.float64), marks_of(snapshot.vectors[one]), marks_of(snapshot.vectors[two]),
            None if self.clusters is None else self.clusters[anchor], contents[one], contents[two], ids[one], ids[two],
        )  # fmt: skip

    def _of_index(
        self, rng: np.random.Generator, snapshot: Snapshot
    ) -> tuple[Integers, Integers, Integers, NDArray[np.float32]]:
        """Gives anchors' nearest in the whole library, where it has an index: anchor, both rows, cosine."""
        index = snapshot.index
        found: list[tuple[int, int, int, float]] = []
        if index is not None:
            alive, contents = snapshot.alive, snapshot.contents
            for place in rng.permutation(len(self.anchors))[:_ASKED_OF_INDEX].tolist():
                at = int(self.anchors[place])
                rows, cosines = index.search(self.vectors[at], _FROM_INDEX)
                found += [
                    (place, int(self.rows[at]), int(row), float(cosine))
                    for row, cosine in zip(rows.tolist(), cosines.tolist(), strict=True)
                    if alive[row] and contents[row] != self.contents[at] and self._wanted(int(contents[row]))
                ]
        table = np.array(found, np.float64).reshape(-1, 4)
        whole = table[:, :3].astype(np.int64)
        return whole[:, 0], whole[:, 1], whole[:, 2], table[:, 3].astype(np.float32)

    def _wanted(self, content: int) -> bool:
        at = int(np.searchsorted(self.among, content))
        return not len(self.among) or (at < len(self.among) and int(self.among[at]) == content)


def marks_of(vectors: Vectors) -> Marks:
    """Gives a mark of each vector, uint64 [n]: equal for equal texts in equal contexts, else nearly never."""
    head = np.ascontiguousarray(vectors[:, :2], np.float32)
    if head.shape[1] < 2:
        head = np.ascontiguousarray(np.pad(head, ((0, 0), (0, 2 - head.shape[1]))))
    marks: Marks = head.view(np.uint64).ravel()
    return marks


def draw(
    snapshot: Snapshot, rng: np.random.Generator, clusters_of: Callable[[Integers], Integers | None] | None = None,
    among: Integers | None = None,
) -> Drawn | None:  # fmt: skip
    """Draws rows and compares some with all of them; None where there are no two documents to compare.

    Args:
        snapshot: A state of the library.
        rng: Says which.
        clusters_of: Gives the cluster of each content, None where none are known.
        among: Of these contents (rising) only; none: of all.
    """
    among = np.zeros(0, np.int64) if among is None else among
    alive = np.asarray(snapshot.alive)
    if len(among):
        alive = alive & np.isin(np.asarray(snapshot.contents), among)
    usable = alive & (np.asarray(snapshot.lengths) >= _FEWEST_WORDS)
    if int(usable.sum()) < min(50, int(alive.sum())):
        usable = alive
    rows = np.flatnonzero(usable)
    if len(rows) < 2:
        return None
    if len(rows) > POOL:
        starts = rng.permutation(-(-len(rows) // STRETCH))[: POOL // STRETCH] * STRETCH
        places = (np.sort(starts)[:, None] + np.arange(STRETCH)).ravel()
        rows = rows[places[places < len(rows)]]
    vectors = np.asarray(snapshot.vectors[rows], np.float32)
    contents = np.asarray(snapshot.contents[rows], np.int64)
    labels = None if clusters_of is None else clusters_of(contents)
    anchors = _anchors(labels, contents, rng)
    cosines = vectors[anchors] @ vectors.T
    cosines[contents[anchors][:, None] == contents[None, :]] = -2.0
    other = cosines[cosines > -1.5]
    if not len(other):
        return None
    chance = float(np.clip(other.mean(), 0.0, 0.95))
    return Drawn(rows, anchors, cosines, vectors, contents, None if labels is None else labels[anchors], chance, among)


def _anchors(labels: Integers | None, contents: Integers, rng: np.random.Generator) -> Integers:
    """Draws anchors: clusters take turns, and within one its documents do."""
    order = rng.permutation(len(contents))
    order = order[np.argsort(_turns(contents[order]), kind="stable")]
    if labels is not None:
        order = order[np.argsort(_turns(labels[order]), kind="stable")]
    return np.sort(order[:ANCHORS])


def _turns(values: Integers) -> Integers:
    """Gives how often each value stood before: 0 for the first of its kind, 1 for the second, and so on."""
    order = np.argsort(values, kind="stable")
    ranked = values[order]
    first = np.flatnonzero(np.diff(ranked, prepend=ranked[:1] - 1))
    sizes = np.diff(np.append(first, len(ranked)))
    turns = np.empty(len(values), np.int64)
    turns[order] = np.arange(len(values)) - np.repeat(first, sizes)
    return turns
