"""One vector for each document, from those of its passages: what themes and the map of documents are made of.

It is the mean of the passages' vectors, weighted by their words, brought to length one. Equal weights, square roots,
the first passage alone or doubled, and weights by agreement with the rest were no better (docs/adr/0018).
Any thread; numpy only.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sbert_desktop.domain import Mask, Vectors

_CHUNK = 16_384
"""Rows read at a time; the vectors may be mapped from a file."""
_NONE = 1e-6
"""A mean shorter than this points nowhere."""


@dataclass(frozen=True, slots=True)
class DocumentVectors:
    """Documents, by rising content id.

    Attributes:
        contents: int64 [n].
        vectors: float32 [n, dimension], unit rows.
        passages: int32 [n]: how many passages each has.
        words: int64 [n]: words in them.
    """

    contents: NDArray[np.int64]
    vectors: Vectors
    passages: NDArray[np.int32]
    words: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.contents)


def document_vectors(
    vectors: Vectors,
    contents: NDArray[np.int64],
    words: NDArray[np.int64],
    alive: Mask,
    chosen: Mask | None = None,
) -> DocumentVectors:
    """Gives the vectors of all documents that have live passages.

    Args:
        vectors: float32 [rows, dimension], unit rows, as a snapshot has them.
        contents: int64 [rows].
        words: int64 [rows]: words of each passage; one without any counts as one.
        alive: Bool [rows].
        chosen: Bool [max content id + 1]: only these contents, as ``Snapshot.select`` gives it.
    """
    use = alive.copy()
    if chosen is not None:
        inside = contents < len(chosen)
        use &= inside
        use[inside] &= chosen[contents[inside]]
    rows = np.flatnonzero(use)
    found, place, passages = np.unique(contents[rows], return_inverse=True, return_counts=True)
    weights = np.maximum(words[rows], 1).astype(np.float64)
    sums = np.zeros((len(found), vectors.shape[1]))
    for at in range(0, len(rows), _CHUNK):
        part = rows[at : at + _CHUNK]
        add_rows(sums, place[at : at + _CHUNK], vectors[part] * weights[at : at + _CHUNK, None])
    lengths = np.linalg.norm(sums, axis=1)
    total = np.bincount(place, weights, len(found)) if len(found) else np.zeros(0)
    for empty in np.flatnonzero(lengths < _NONE * total):  # passages that cancel each other out: the longest one stands
        own = np.flatnonzero(place == empty)
        sums[empty] = vectors[rows[own[np.argmax(weights[own])]]]
        lengths[empty] = max(float(np.linalg.norm(sums[empty])), 1e-12)
    means = (sums / lengths[:, None]).astype(np.float32) if len(found) else sums.astype(np.float32)
    counts = np.bincount(place, words[rows], len(found)).astype(np.int64) if len(found) else np.zeros(0, np.int64)
    return DocumentVectors(found, means, passages.astype(np.int32), counts)


def add_rows(sums: NDArray[np.float64], place: NDArray[np.int64], rows: NDArray[np.floating]) -> None:
    """Adds each row to the sum at its place; ten times as fast as ``np.add.at``."""
    if not len(place):
        return
    order = np.argsort(place, kind="stable")
    ranked = place[order]
    starts = np.flatnonzero(np.r_[True, ranked[1:] != ranked[:-1]])
    sums[ranked[starts]] += np.add.reduceat(rows[order], starts, axis=0, dtype=np.float64)
