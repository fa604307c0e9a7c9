"""Which part of a map shows: arithmetic only, in logical pixels."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from sbert_desktop.app.atlas_views import View

PADDING: Final = 32
"""Logical pixels kept free around a map that fits: a dot and half a label."""
NEAREST: Final = 2000.0
FARTHEST: Final = 0.4
"""Zoom is kept between these."""

Margins = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class Lens:
    """A place and a size. ``x``, ``y``: what lies in the middle, in the map's units. ``scale``: pixels per unit."""

    x: float = 0.0
    y: float = 0.0
    scale: float = 1.0

    def view(self, width: int, height: int, ratio: float) -> View:
        """Gives the part that a widget shows, in device pixels."""
        wide, high = max(1, round(width * ratio)), max(1, round(height * ratio))
        scale = self.scale * ratio
        return View(self.x - wide / (2 * scale), self.y - high / (2 * scale), scale, wide, high)

    def moved(self, right: float, down: float) -> Lens:
        """Gives the lens after the map was drawn so many pixels along with the pointer."""
        return Lens(self.x - right / self.scale, self.y - down / self.scale, self.scale)

    def zoomed(self, factor: float, right: float, down: float, fitting: float) -> Lens:
        """Gives the lens that shows things ``factor`` times as large around a spot.

        ``right``, ``down``: where the spot lies from the middle, in pixels. ``fitting``: the scale at which all fits.
        """
        scale = min(NEAREST * fitting, max(FARTHEST * fitting, self.scale * factor))
        return Lens(self.x + right / self.scale - right / scale, self.y + down / self.scale - down / scale, scale)

    def towards(self, other: Lens, share: float) -> Lens:
        """Gives the lens on the way to another one, 0 to 1."""
        scale = math.exp((1 - share) * math.log(self.scale) + share * math.log(other.scale))
        # so that both ends of the way are seen to move evenly: the middle moves as the scale does
        part = share
        if abs(other.scale - self.scale) > 1e-9 * self.scale:
            part = (1 / scale - 1 / self.scale) / (1 / other.scale - 1 / self.scale)
        return Lens(self.x + part * (other.x - self.x), self.y + part * (other.y - self.y), scale)


def fitting_lens(positions: NDArray[np.float32], width: int, height: int, margins: Margins) -> Lens:
    """Gives the lens that shows all positions in what margins (left, top, right, bottom) leave free.

    Of points that all lie at one place, or of none, it shows that place in the middle.
    """
    left, top, right, bottom = margins
    free_wide = max(width - left - right - 2 * PADDING, 40.0)
    free_high = max(height - top - bottom - 2 * PADDING, 40.0)
    low, high = np.zeros(2), np.zeros(2)
    if len(positions):
        low, high = positions.min(axis=0).astype(np.float64), positions.max(axis=0).astype(np.float64)
    extent = high - low
    least = 1e-6 * max(1.0, float(np.abs(low).max()), float(np.abs(high).max()))  # finer than float32 tells apart
    if extent.max() <= least:
        scale = min(free_wide, free_high)
    else:
        scale = float(min(free_wide / max(extent[0], least), free_high / max(extent[1], least)))
    x, y = (low + high) / 2
    return Lens(float(x) - (left - right) / (2 * scale), float(y) - (top - bottom) / (2 * scale), scale)
