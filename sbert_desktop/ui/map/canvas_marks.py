"""What is set for a map besides its points, and how it is carried over to the next map by document."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from sbert_desktop.app.atlas_views import ColourBy, ColourView, MapUnit, MapView
from sbert_desktop.domain import Mask
from sbert_desktop.ui.map.drawing import GREY, Codes, Painter, make_cloud

Rows = NDArray[np.int32]
Positions = NDArray[np.float32]
_REACH = 4.0  # in a round cloud 2 % of the points lie 3 times as far from its middle as a quarter does


def no_rows() -> Rows:
    """Gives no points."""
    return np.zeros(0, np.int32)


@dataclass(frozen=True, slots=True)
class Marks:
    """Colours and what stands out. Rows and masks are of one map's points."""

    colours: ColourView | None = None
    lit: Mask | None = None
    selection: Rows = field(default_factory=no_rows)
    chosen: Rows = field(default_factory=no_rows)
    focus: int = -1

    def fitted(self, points: int) -> Marks:
        """Gives what can belong to a map of so many points."""
        def inside(rows: Rows) -> Rows:
            return rows[(rows >= 0) & (rows < points)]

        return Marks(
            self.colours if self.colours is not None and len(self.colours.point_groups) == points else None,
            self.lit if self.lit is not None and len(self.lit) == points else None,
            inside(self.selection), inside(self.chosen), self.focus if self.focus < points else -1)

    def carried(self, before: Rows, points: int) -> Marks:
        """Gives the same for another map. ``before``: the point that each was here, -1: new; ``points``: there are."""
        known = before >= 0
        was = np.where(known, before, 0)

        def rows(mine: Rows) -> Rows:
            mask = np.zeros(points, np.bool_)
            mask[mine] = True
            return np.flatnonzero(mask[was] & known).astype(np.int32)

        colours = self.colours
        if colours is not None:
            values = colours.values
            colours = replace(
                colours,
                point_groups=np.where(known, colours.point_groups[was], -1).astype(np.int32),
                values=None if values is None else np.where(known, values[was], np.nan).astype(np.float32),
                dates=np.where(known, colours.dates[was], np.nan),
            )
        at = np.flatnonzero(known & (before == self.focus))
        return Marks(colours, None if self.lit is None else self.lit[was] & known, rows(self.selection),
                     rows(self.chosen), int(at[0]) if len(at) else -1)


def shown_points(colours: ColourView | None, points: int, hidden: frozenset[int], low: float | None,
                 high: float | None) -> Mask:
    """Gives bool [points]: those whose group is not hidden and whose date lies in the range."""
    shown = np.ones(points, np.bool_)
    if colours is None or len(colours.point_groups) != points:
        return shown
    if hidden:
        visible = np.ones(len(colours.groups) + 1, np.bool_)
        visible[[at for at in hidden if -1 <= at < len(colours.groups)]] = False  # -1 is the last: those in none
        shown &= visible[colours.point_groups]
    if low is not None or high is not None:
        with np.errstate(invalid="ignore"):  # a date not known is in no range
            shown &= (colours.dates >= (-np.inf if low is None else low)) & (
                colours.dates <= (np.inf if high is None else high))
    return shown


def dressed(codes: Codes, shown: Mask, lit: Mask | None, selection: Rows) -> tuple[Codes, Mask | None]:
    """Gives the places in the palette with the hidden points out and the others grey, and what lies on top."""
    codes = np.where(shown, codes, np.uint8(0))
    if lit is None and not len(selection):
        return codes, None
    front = np.zeros(len(codes), np.bool_) if lit is None else lit.copy()
    if lit is not None:
        chosen = codes[selection]
        codes[~lit & shown] = GREY
        codes[selection] = chosen
    front[selection] = True
    return codes, front


# ---------------------------------------------------------------- from one map to the next


@dataclass(frozen=True, slots=True)
class Prepared:
    """A map made ready, off the GUI thread where it is large.

    ``before``: int32 [points], the point of the map before that each was, -1 for new ones; None: no map before.
    ``start``: float32 [points, 2], where each glides from in the map's units (NaN: it is new), None: from nowhere.
    """

    view: MapView
    painter: Painter
    before: Rows | None
    start: Positions | None
    marks: Marks


def prepare(view: MapView, old: MapView | None, marks: Marks, *, glide: bool) -> Prepared:
    """Makes a map ready to be drawn and carries over what was set for the one before."""
    painter = Painter(make_cloud(view.positions, view.counts, view.fresh))
    if old is None or not len(old) or not len(view) or old.request.unit is not view.request.unit:
        return Prepared(view, painter, None, view.moved if glide else None, Marks())
    before = same_points(view, old)
    start = None
    if glide:
        start = view.moved
        if start is None and (before >= 0).any():
            start = np.where((before >= 0)[:, None], old.positions[before], np.float32(np.nan))
    return Prepared(view, painter, before, start, marks.carried(before, len(old)))


def same_points(view: MapView, old: MapView) -> Rows:
    """Gives int32 [points]: which point of the old map each was, by its first document or passage; -1: none."""
    def keys(of: MapView) -> NDArray[np.int64]:
        members = of.passages if of.request.unit is MapUnit.PASSAGES else of.contents
        return members[of.starts[:-1]]

    mine, others = keys(view), keys(old)
    if len(mine) == len(others) and np.array_equal(mine, others):
        return np.arange(len(mine), dtype=np.int32)
    order = np.argsort(others, kind="stable")
    at = np.minimum(np.searchsorted(others[order], mine), len(others) - 1)
    found = order[at]
    return np.where(others[found] == mine, found, -1).astype(np.int32)


def theme_tops(view: MapView, colours: ColourView | None) -> dict[int, tuple[float, float]]:
    """Gives where the upper end of each theme lies, by id: its middle across, above all but 2 % of its points.

    A point far off does not lift it: no higher than four times as far as a quarter of the points reaches.
    """
    if colours is None or colours.by is not ColourBy.THEME or len(colours.point_groups) != len(view):
        return {}
    order = np.argsort(colours.point_groups, kind="stable")
    ends = np.searchsorted(colours.point_groups[order], np.arange(len(colours.groups) + 1))
    tops = {}
    for at, group in enumerate(colours.groups):
        members = view.positions[order[ends[at] : ends[at + 1]]]
        if group.theme >= 0 and len(members):
            across = float(np.median(members[:, 0]))
            end, quarter, middle = np.quantile(members[:, 1], (0.02, 0.25, 0.5))
            tops[group.theme] = (across, float(max(end, middle - _REACH * (middle - quarter))))
    return tops
