"""What there is to say of a selection: worked out over arrays, off the GUI thread where it is large."""

from __future__ import annotations

from typing import Final

import numpy as np

from sbert_desktop.app.atlas_views import UNSORTED, ClustersView, ColourBy, ColourView, MapUnit, MapView
from sbert_desktop.ui import words
from sbert_desktop.ui.map.drawer import Facts
from sbert_desktop.ui.map.points import Rows, central_first, contents_of, newest_first
from sbert_desktop.ui.map.words import counted, years
from sbert_desktop.ui.naming import quick_path

MOST: Final = 0.5  # share of a selection from which a cluster is said to be what it is about
TAGS: Final = 4


def dominant(view: MapView, points: Rows, colours: ColourView | None) -> int:
    """Gives the place in ``colours.groups`` of the cluster that most of a selection is in, -1 for none."""
    if colours is None or colours.by is not ColourBy.THEME or not len(points) or not colours.groups:
        return -1
    groups = colours.point_groups[points]
    inside = groups >= 0
    weights = np.bincount(groups[inside], view.counts[points][inside], len(colours.groups))
    best = int(weights.argmax())
    share = float(weights[best]) / max(1, int(view.counts[points].sum()))
    return best if share >= MOST and colours.groups[best].theme != UNSORTED else -1


def describe(view: MapView, points: Rows, colours: ColourView | None, themes: ClustersView | None) -> Facts:
    """Gives what the drawer says of points; ``colours`` by cluster where they are known."""
    central = central_first(view, points)
    contents = contents_of(view, central)
    newest = contents_of(view, newest_first(points, colours.dates)) if colours is not None else contents
    title = f"{counted(len(contents))} selected"
    if view.request.unit is MapUnit.PASSAGES:
        passages = int(view.counts[points].sum())
        title = f"{counted(passages, MapUnit.PASSAGES)} in {counted(len(contents))}"
    line: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    best = dominant(view, points, colours)
    if colours is not None and best >= 0:
        group = colours.groups[best]
        line = (quick_path(group.label),)
        theme = themes.theme(group.theme) if themes is not None else None
        if theme is not None:
            tags = tuple(keyword.text for keyword in theme.keywords[:TAGS])
    dates = ""
    if colours is not None:
        known = colours.dates[points]
        known = known[~np.isnan(known)]
        dates = years(float(known.min()), float(known.max())) if len(known) else ""
    return Facts(contents, newest, title, line, dates, tags)


def theme_of(view: MapView, points: Rows, colours: ColourView | None) -> int:
    """Gives the id of the cluster that most of a selection is in, or UNSORTED."""
    best = dominant(view, points, colours)
    return colours.groups[best].theme if colours is not None and best >= 0 else UNSORTED


def few_words(number: int, of: int) -> str:
    """Gives what is said where only some of the documents asked for are on the map."""
    if not number:
        return "None of them is on the map yet" if of > 1 else "It is not on the map yet"
    return f"{words.count(number)} of {words.counted(of, 'document')} are on the map"
