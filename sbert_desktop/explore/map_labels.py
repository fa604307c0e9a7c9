"""Labels of a map that never overlap: the weightiest first, each as near to its theme as there is room.

What fits is decided anew for each view, so zooming in brings smaller themes out; a label keeps its side where it can,
so that it does not jump about while one zooms.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sbert_desktop.explore.layout import Positions

_GAP = 4.0  # pixels between labels
_SIDES = (
    (-0.5, -0.5),
    (-0.5, -1.2),
    (-0.5, 0.2),
    (-1.1, -0.5),
    (0.1, -0.5),
)  # in its own sizes: on, over, under, beside


@dataclass(frozen=True, slots=True)
class PlacedLabel:
    """Where label ``index`` goes: its left upper corner in pixels, and which side of its theme that is."""

    index: int
    left: float
    top: float
    side: int


def arrange_labels(
    anchors: Positions,
    sizes: Positions,
    weights: NDArray[np.float32],
    width: int,
    height: int,
    *,
    most: int = 40,
    before: dict[int, int] | None = None,
) -> list[PlacedLabel]:
    """Chooses which labels a view shows, and where.

    Args:
        anchors: float32 [labels, 2], the middle of each theme in pixels (``View.to_pixels``); may lie outside.
        sizes: float32 [labels, 2], width and height of each text in pixels.
        weights: float32 [labels], which matter more (points, level); above all, equal ones in the order given.
        width: Of the view.
        height: Of the view.
        most: Labels shown at most.
        before: Side that labels had in the last view, by index: tried first.

    Returns:
        Labels that lie in the view as a whole and keep a gap of 4 pixels between them, weightiest first.
    """
    inside = (anchors >= 0).all(axis=1) & (anchors[:, 0] <= width) & (anchors[:, 1] <= height)
    order = np.argsort(-weights, kind="stable")
    taken = np.empty((0, 4))
    placed: list[PlacedLabel] = []
    for index in order[inside[order]].tolist():
        if len(placed) == most:
            break
        wide, high = (float(value) for value in sizes[index])
        sides = list(range(len(_SIDES)))
        if before is not None and index in before:
            sides.sort(key=lambda side: side != before[index])
        for side in sides:
            left = float(anchors[index, 0]) + _SIDES[side][0] * wide
            top = float(anchors[index, 1]) + _SIDES[side][1] * high
            if left < 0 or top < 0 or left + wide > width or top + high > height:
                continue
            apart = (
                (taken[:, 0] >= left + wide + _GAP)
                | (taken[:, 2] + _GAP <= left)
                | (taken[:, 1] >= top + high + _GAP)
                | (taken[:, 3] + _GAP <= top)
            )
            if apart.all():
                taken = np.vstack([taken, [left, top, left + wide, top + high]])
                placed.append(PlacedLabel(index, left, top, side))
                break
    return placed


def theme_anchors(positions: Positions, clusters: NDArray[np.int32], count: int) -> Positions:
    """Gives where each cluster's label belongs: float32 [count, 2], the median of its points; NaN without points.

    ``clusters``: int32 [points], 0 to ``count`` - 1; anything else is in none.
    """
    anchors = np.full((count, 2), np.nan, np.float32)
    order = np.argsort(clusters, kind="stable")
    ends = np.searchsorted(clusters[order], np.arange(count + 1))
    for cluster in range(count):
        members = positions[order[ends[cluster] : ends[cluster + 1]]]
        if len(members):
            anchors[cluster] = np.median(members, axis=0)
    return anchors
