"""Which documents the points of a map stand for, and back: arrays only, a few milliseconds for a million points."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sbert_desktop.app.atlas_views import ColourView, MapUnit, MapView
from sbert_desktop.domain import Mask

Contents = NDArray[np.int64]
Rows = NDArray[np.int32]
_PIECE = 50_000

AT_ONCE = 20_000
"""Points up to which this is done on the GUI thread; above, in an errand."""


def unit_of(view: MapView) -> MapUnit:
    """Gives what a point of the map is."""
    return view.request.unit


def members_of(view: MapView, points: Rows) -> NDArray[np.int64]:
    """Gives int64 [members]: which entries of ``contents`` and ``passages`` stand behind points, in their order."""
    first = view.starts[points]
    sizes = view.starts[np.asarray(points, np.int64) + 1] - first
    whole = int(sizes.sum())
    steps = np.arange(whole, dtype=np.int64)
    begins = np.cumsum(sizes) - sizes
    found: NDArray[np.int64] = steps + np.repeat(first - begins, sizes)
    return found


def contents_of(view: MapView, points: Rows) -> Contents:
    """Gives int64 [documents]: the documents behind points, each once, in the order of the points."""
    found = view.contents[members_of(view, points)]
    if unit_of(view) is MapUnit.DOCUMENTS or len(found) < 2:
        return found  # a document lies at one point only
    _, first = np.unique(found, return_index=True)
    return found[np.sort(first)]


def array_of(contents: Sequence[int] | Contents) -> Contents:
    """Gives int64 [n]. A long tuple is read in pieces: in one it would keep the window waiting for its turn."""
    if isinstance(contents, np.ndarray) or len(contents) <= _PIECE:
        return np.asarray(contents, np.int64)
    out = np.empty(len(contents), np.int64)
    for begin in range(0, len(contents), _PIECE):
        out[begin: begin + _PIECE] = contents[begin: begin + _PIECE]
        time.sleep(0)
    return out


def mask_of(view: MapView, contents: Sequence[int] | Contents) -> Mask:
    """Gives bool [points]: which stand for one of these documents."""
    wanted = array_of(contents)
    if not len(wanted) or not len(view):
        return np.zeros(len(view), np.bool_)
    hit = np.isin(view.contents, wanted)
    found = np.zeros(len(view), np.bool_)
    point = np.searchsorted(view.starts, np.flatnonzero(hit), side="right") - 1
    found[point] = True
    return found


def points_of(view: MapView, contents: Sequence[int] | Contents) -> Rows:
    """Gives int32 [n], ascending: the points that stand for these documents."""
    return np.flatnonzero(mask_of(view, contents)).astype(np.int32)


def central_first(view: MapView, points: Rows) -> Rows:
    """Gives points with those in the middle of all of them first."""
    if len(points) < 3:
        return points
    places = view.positions[points]
    square = ((places - np.median(places, axis=0)) ** 2).sum(axis=1)
    return points[np.argsort(square, kind="stable")]


def newest_first(points: Rows, dates: NDArray[np.float64]) -> Rows:
    """Gives points with the newest first, those without a date last."""
    own = dates[points]
    return points[np.argsort(np.where(np.isnan(own), np.inf, -own), kind="stable")]


def only(view: MapView, points: Rows) -> MapView:
    """Gives a map of these points alone, to be exported."""
    members = members_of(view, points)
    sizes = view.starts[np.asarray(points, np.int64) + 1] - view.starts[points]
    return replace(
        view,
        positions=view.positions[points],
        counts=view.counts[points],
        contents=view.contents[members],
        passages=view.passages[members],
        starts=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        fresh=view.fresh[points],
        moved=None,
    )


def only_colours(colours: ColourView, points: Rows) -> ColourView:
    """Gives the colours of these points alone."""
    return replace(
        colours,
        point_groups=colours.point_groups[points],
        values=colours.values[points] if colours.values is not None else None,
        dates=colours.dates[points],
    )
