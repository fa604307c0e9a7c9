"""Vectors in themes, made for tests of the map."""

from __future__ import annotations

import numpy as np

from sbert_desktop.domain import Vectors


def themes(count: int, each: int, *, dimension: int = 32, spread: float = 0.6, seed: int = 3) -> Vectors:
    """Gives ``count`` themes of ``each`` unit vectors, theme after theme."""
    random = np.random.default_rng(seed)
    middles = np.repeat(random.standard_normal((count, dimension)), each, axis=0)
    rows = middles + spread * random.standard_normal((count * each, dimension))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
