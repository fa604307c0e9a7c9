"""Where points lie thick: lines of equal density, like those of height on a map of mountains."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sbert_desktop.explore.layout import Positions

Grid = NDArray[np.float64]

# Marching squares: which sides of a square (0 above, 1 right, 2 below, 3 left) a line joins, by the corners over the
# level (1 left above, 2 right above, 4 right below, 8 left below). 5 and 10 are saddles.
_JOINS: dict[int, tuple[tuple[int, int], ...]] = {
    1: ((3, 0),), 2: ((0, 1),), 3: ((3, 1),), 4: ((1, 2),), 5: ((3, 0), (1, 2)), 6: ((0, 2),), 7: ((3, 2),),
    8: ((2, 3),), 9: ((0, 2),), 10: ((0, 1), (2, 3)), 11: ((1, 2),), 12: ((3, 1),), 13: ((0, 1),), 14: ((3, 0),),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Contour:
    """Pieces of line around what is at least so dense.

    ``share``: of all points that lie within, 0 to 1. ``pieces``: float32 [pieces, 4]: x0, y0, x1, y1 in the map's
    units.
    """

    share: float
    pieces: NDArray[np.float32]


def contours(
    positions: Positions, *, shares: tuple[float, ...] = (0.9, 0.6, 0.3), cells: int = 192, blur: float = 2.5
) -> list[Contour]:
    """Gives the lines that enclose the densest places with so many of the points each; some 10 ms per million points.

    Args:
        positions: float32 [points, 2].
        shares: Of the points within each line.
        cells: Across the longer side of the map.
        blur: Width of the smoothing in cells.
    """
    if len(positions) < 3:
        return []
    low, high = positions.min(axis=0).astype(np.float64), positions.max(axis=0).astype(np.float64)
    size = float((high - low).max()) / cells
    if size <= 0:
        return []
    rim = int(4 * blur) + 2
    corner = low - rim * size
    columns, lines = (int(value) for value in np.ceil((high - low) / size) + 2 * rim + 1)
    spots = ((positions - corner) / size).astype(np.intp)
    flat = spots[:, 1] * columns + spots[:, 0]
    grid = _blurred(np.bincount(flat, minlength=lines * columns).reshape(lines, columns), blur)
    at_points = np.sort(grid.ravel()[flat])[::-1]
    found = []
    for share in shares:
        level = float(at_points[min(int(share * len(flat)), len(flat) - 1)])
        pieces = _march(grid, level)
        placed = (pieces + 0.5) * size + np.tile(corner, 2)
        found.append(Contour(float(np.mean(at_points >= level)), placed.astype(np.float32)))
    return found


def _blurred(counts: NDArray[np.int64], width: float) -> Grid:
    reach = int(4 * width) + 1
    bell = np.exp(-0.5 * (np.arange(-reach, reach + 1) / width) ** 2)
    bell /= bell.sum()
    grid = counts.astype(np.float64)
    for axis in (0, 1):
        padded = np.pad(grid, [(reach, reach) if along == axis else (0, 0) for along in (0, 1)])
        grid = sum(
            weight * padded.take(range(step, step + grid.shape[axis]), axis=axis) for step, weight in enumerate(bell)
        )
    return grid


def _march(grid: Grid, level: float) -> Grid:
    """Gives pieces of the line at a level, float64 [pieces, 4], in cells (x0, y0, x1, y1)."""
    over = grid >= level
    kinds = over[:-1, :-1] + 2 * over[:-1, 1:] + 4 * over[1:, 1:] + 8 * over[1:, :-1]
    pieces = []
    for kind, joins in _JOINS.items():
        y, x = np.nonzero(kinds == kind)
        for first, last in joins:
            pieces.append(np.concatenate([_crossing(grid, level, y, x, first), _crossing(grid, level, y, x, last)], 1))
    return np.concatenate(pieces) if pieces else np.empty((0, 4))


def _crossing(grid: Grid, level: float, y: NDArray[np.intp], x: NDArray[np.intp], side: int) -> Grid:
    """Gives where the level is crossed on one side of squares, float64 [squares, 2] (x, y)."""
    y0, x0, y1, x1 = ((y, x, y, x + 1), (y, x + 1, y + 1, x + 1), (y + 1, x, y + 1, x + 1), (y, x, y + 1, x))[side]
    from_value, to_value = grid[y0, x0], grid[y1, x1]
    share = (level - from_value) / np.where(to_value == from_value, 1, to_value - from_value)
    return np.stack([x0 + share * (x1 - x0), y0 + share * (y1 - y0)], axis=1)
