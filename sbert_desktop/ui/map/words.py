"""How the Map page calls what it shows."""

from __future__ import annotations

from typing import Final

from sbert_desktop.app.atlas_views import ColourBy, MapUnit, MapView
from sbert_desktop.ui import words

COLOUR_BY: Final = {
    ColourBy.THEME: "cluster",
    ColourBy.FOLDER: "folder",
    ColourBy.TYPE: "type",
    ColourBy.DATE: "date",
    ColourBy.QUERY: "similarity to the search",
    ColourBy.DUPLICATES: "duplicates",
    ColourBy.LANGUAGE: "language",
}
"""What the choice "Colour by" offers, in its order."""

LEGEND: Final = {
    ColourBy.THEME: "Clusters",
    ColourBy.FOLDER: "Folders",
    ColourBy.TYPE: "Types",
    ColourBy.DATE: "Date",
    ColourBy.QUERY: "Similarity to the search",
    ColourBy.DUPLICATES: "Duplicates",
    ColourBy.LANGUAGE: "Languages",
}
"""The title of the legend."""

# words of MapView.quality: (adjective of "Map quality ...", tone of its icon, what it means for the reader)
_QUALITY: Final = {
    "very good": ("very good", "good", "What lies close together is alike, almost everywhere."),
    "good": ("good", "good", "What lies close together is alike, with few exceptions."),
    "fair": ("fair", "warn", "Clusters can be trusted; distances between them mislead."),
    "poor": ("poor", "warn", "Many documents lie beside others that are not alike. Use the clusters instead."),
    "exact": ("exact", "good", "There are so few documents that the map shows them as they are."),
}


def quality(view: MapView) -> tuple[str, str, str]:
    """Gives the adjective, the tone and a sentence for a map's quality; empty words where none was measured."""
    word, tone, sentence = _QUALITY.get(view.quality, (view.quality, "muted", ""))
    return word, tone, view.quality_sentence or sentence


def unit_word(unit: MapUnit) -> str:
    """Gives what a point is: ``document`` or ``passage``."""
    return "passage" if unit is MapUnit.PASSAGES else "document"


def counted(number: int, unit: MapUnit = MapUnit.DOCUMENTS) -> str:
    """Gives ``99 documents``."""
    return words.counted(number, unit_word(unit))


def of_the_map(number: int) -> str:
    """Gives what documents of a selection are called on the other pages."""
    return f"{words.counted(number, 'document')} of the map"


def years(first: float, last: float) -> str:
    """Gives ``2019 to 2024``, ``2024``, or "" where a date is not one that a calendar holds."""
    low, high = words.day(first)[-4:], words.day(last)[-4:]
    return low if low == high else f"{low} to {high}" if low and high else low or high
