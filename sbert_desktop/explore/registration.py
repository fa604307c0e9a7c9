"""Laying a refitted map over the old one: turned, mirrored, scaled and moved, so that what was left stays left.

Only the picture as a whole moves; no distance changes relative to another.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sbert_desktop.explore.layout import Positions


@dataclass(frozen=True, slots=True)
class Registration:
    """How a new layout is laid over an old one, and how well they then agree.

    ``turn``: float64 [2, 2], rotation or reflection. ``scale``: above 0. ``shift``: float64 [2]. ``misfit``: 0 (the
    same picture) to 1 (nothing in common), the share of the old layout's variance that the new one does not explain.
    """

    turn: NDArray[np.float64]
    scale: float
    shift: NDArray[np.float64]
    misfit: float

    def apply(self, positions: Positions) -> Positions:
        """Gives float32 [n, 2], the positions as they lie over the old map."""
        return (np.asarray(positions, np.float64) @ self.turn * self.scale + self.shift).astype(np.float32)


def register(new: Positions, old: Positions, *, weights: NDArray[np.float32] | None = None) -> Registration:
    """Finds rotation, reflection, scale and shift that bring ``new`` closest to ``old``.

    Args:
        new: float32 [n, 2], the new places of the points that both maps have.
        old: float32 [n, 2], their old places, in the same order.
        weights: float32 [n], rows that each point stands for; None: 1 each.

    Returns:
        With fewer than 2 points, or all on one spot in either map, only a shift (misfit 0 for an exact one).

    Source: P. Schönemann, R. Carroll, "Fitting one matrix to another under choice of a central dilation and a rigid
    motion", 1970.
    """
    if not len(new):
        return Registration(np.eye(2), 1.0, np.zeros(2), 0.0)
    share = np.ones(len(new)) if weights is None else np.asarray(weights, np.float64)
    share = share / share.sum()
    a, b = np.asarray(new, np.float64), np.asarray(old, np.float64)
    middle_a, middle_b = share @ a, share @ b
    a, b = a - middle_a, b - middle_b
    spread_a, spread_b = float(share @ (a**2).sum(axis=1)), float(share @ (b**2).sum(axis=1))
    if spread_a < 1e-12 or spread_b < 1e-12:
        return Registration(np.eye(2), 1.0, middle_b - middle_a, float(spread_a > 1e-12 or spread_b > 1e-12))
    left, strength, right = np.linalg.svd((a * share[:, None]).T @ b)
    turn = left @ right
    agreement = float(strength.sum())
    scale = agreement / spread_a
    misfit = max(0.0, 1 - agreement**2 / (spread_a * spread_b))
    if scale < 1e-6:
        scale = float(np.sqrt(spread_b / spread_a))
    return Registration(turn, scale, middle_b - middle_a @ turn * scale, misfit)
