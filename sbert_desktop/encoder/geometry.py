"""What vectors look like as a cloud, and smaller forms of them. Pure functions over numpy arrays, any thread.

Vectors are float32 [n, dimension] with rows of unit length, and so are the smaller forms.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sbert_desktop.domain import Vectors

Floats = NDArray[np.float64]

FEWEST_TEXTS = 64
"""Texts below which isotropy is not told."""
_ROWS_PER_DIRECTION = 4  # rows that are learned from for each direction that is whitened


def mean_cosine(vectors: Vectors) -> float | None:
    """Gives the mean cosine of all pairs of different rows: the anisotropy, near 0 is good; None below two rows.

    Source: Ethayarajh 2019, "How Contextual are Contextualized Word Representations?", who draws pairs by lot.
    """
    count = len(vectors)
    if count < 2:
        return None
    rows = vectors.astype(np.float64)
    total = rows.sum(axis=0)
    return float((total @ total - np.einsum("ij,ij->", rows, rows)) / (count * (count - 1)))


def isotropy_after_whitening(vectors: Vectors, *, seed: int = 0) -> float | None:
    """Gives how evenly whitened vectors fill their directions, 0 to 1; None below :data:`FEWEST_TEXTS` rows.

    Whitening is learned from one half of the rows, drawn by lot, and looked at on the other half, along as many
    leading directions as that half allows: on what it was learned from it would be 1 for every model. The measure is
    the IsoScore of the variances along these directions: 1 where they are equal, 0 where one has all.

    Source: Su et al. 2021, "Whitening Sentence Representations"; Rudman et al. 2022, "IsoScore", equation 4.
    """
    if len(vectors) < FEWEST_TEXTS:
        return None
    order = np.random.default_rng(seed).permutation(len(vectors))
    learned, asked = (vectors[part].astype(np.float64) for part in np.array_split(order, 2))
    middle = learned.mean(axis=0)
    _, sizes, directions = np.linalg.svd(learned - middle, full_matrices=False)
    kept = min(int((sizes > 1e-6 * max(1e-12, sizes[0])).sum()), max(2, len(learned) // _ROWS_PER_DIRECTION))
    if kept < 2:
        return 0.0
    scale = np.sqrt(len(learned)) / sizes[:kept]
    whitened = (asked - middle) @ directions[:kept].T * scale
    return isoscore(whitened.var(axis=0))


def isoscore(variances: Floats) -> float:
    """Gives how even variances are, 0 to 1, by the formula of IsoScore (Rudman et al. 2022), steps 4 to 7."""
    count = len(variances)
    length = float(np.linalg.norm(variances))
    if count < 2 or not length:
        return 0.0
    normed = variances * (np.sqrt(count) / length)
    defect = float(np.linalg.norm(normed - 1.0)) / np.sqrt(2.0 * (count - np.sqrt(count)))
    used = (count - defect**2 * (count - np.sqrt(count))) ** 2 / count**2
    return float(min(1.0, max(0.0, (count * used - 1.0) / (count - 1.0))))


def principal_directions(vectors: Vectors, count: int) -> NDArray[np.float32]:
    """Gives the directions in which vectors differ most, float32 [count, dimension], as sentence-transformers' example.

    They are learned around the mean and applied without taking it away, as a dense layer without bias would.

    Raises:
        ValueError: There are not more than ``count`` rows, or not so many dimensions.
    """
    if count > vectors.shape[1] or count >= len(vectors):
        raise ValueError(f"{count} directions cannot be learned from {len(vectors)} rows")
    rows = vectors.astype(np.float64)
    spread = np.cov(rows.T)
    _, found = np.linalg.eigh(spread)
    return np.ascontiguousarray(found[:, ::-1][:, :count].T, dtype=np.float32)


def cut(vectors: Vectors, count: int) -> Vectors:
    """Gives the first dimensions, brought to unit length: what Matryoshka models are trained for."""
    return unit(vectors[:, :count])


def eight_bits(vectors: Vectors) -> Vectors:
    """Gives vectors as they come back from one byte a number: each scaled by its largest number, and of unit length."""
    largest = np.abs(vectors).max(axis=1, keepdims=True) if vectors.size else np.ones((len(vectors), 1), np.float32)
    steps = np.rint(vectors / np.maximum(largest, 1e-12) * 127.0).astype(np.int8)
    return unit(steps.astype(np.float32))


def unit(vectors: Vectors) -> Vectors:
    """Gives rows of unit length; a row of zeros stays one."""
    found: Vectors = (vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)).astype(np.float32)
    return found
