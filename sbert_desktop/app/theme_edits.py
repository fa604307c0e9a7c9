"""Edits of themes: each a function from one state to another."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sbert_desktop.app.atlas_views import DEFAULT_STRICTNESS, UNSORTED, Keyword
from sbert_desktop.app.themes import ThemeRecord, Themes, free_colour, tidy
from sbert_desktop.explore.cluster_labels import ThemeLabel
from sbert_desktop.explore.communities import Labels

_LONGEST_NAME = 200


def clean_name(name: str) -> str:
    """Gives a name on one line, without signs that cannot be seen, of at most 200 code points."""
    kept = "".join(" " if unicodedata.category(sign) in {"Cc", "Cs", "Zl", "Zp"} else sign for sign in name)
    kept = "".join(sign for sign in kept if unicodedata.category(sign) != "Cf" or sign in "\u200c\u200d")
    if not any(unicodedata.category(sign)[0] not in "ZC" for sign in kept):
        return ""
    return " ".join(kept.split())[:_LONGEST_NAME].strip()


def rename(themes: Themes, id_: int, name: str) -> Themes:
    """Gives a theme a name; without one it is called by its own label again."""
    return themes.with_theme(themes.place(id_), name=clean_name(name))


def pin(themes: Themes, ids: Sequence[int], *, pinned: bool = True) -> Themes:
    """Pins themes, or lets them go."""
    for id_ in ids:
        themes = themes.with_theme(themes.place(id_), pinned=pinned)
    return themes


def with_strictness(themes: Themes, strictness: float) -> Themes:
    """Sets how sure a document must be; what was assigned before is looked at anew."""
    value = float(np.clip(strictness, 0, 1)) if np.isfinite(strictness) else DEFAULT_STRICTNESS
    return replace(themes, strictness=value, assigned=np.zeros(len(themes), bool))


def merge(themes: Themes, ids: Sequence[int]) -> Themes:
    """Joins themes under the id of the first.

    The name is that of the first one, or else of a pinned one, or else of any that the person named.
    """
    places = list(dict.fromkeys(themes.place(id_) for id_ in ids))
    if len(places) < 2:
        return themes
    records = [themes.themes[place] for place in places]
    named = [record for record in records[1:] if record.name]
    named.sort(key=lambda record: not record.pinned)
    name = records[0].name or (named[0].name if named else "")
    joined = replace(records[0], name=name, pinned=any(record.pinned for record in records))
    nearest = np.where(np.isin(themes.nearest, places), np.int32(places[0]), themes.nearest).astype(np.int32)
    kept = tuple(joined if place == places[0] else record for place, record in enumerate(themes.themes))
    return tidy(replace(themes, nearest=nearest, themes=kept))


def split(themes: Themes, id_: int, rows: NDArray[np.int64], parts: Labels) -> Themes:
    """Parts a theme: the largest part keeps its id and colour, not its name; all keep its pin.

    Args:
        themes: As they are.
        id_: Of the theme.
        rows: int64 [m]: documents; those of another theme are left alone.
        parts: int32 [m]: the part of each; the theme's documents that are not among ``rows`` go with the largest.
    """
    place = themes.place(id_)
    inside = themes.nearest[rows] == place
    rows, parts = rows[inside], parts[inside]
    numbers, counts = np.unique(parts, return_counts=True)
    if len(numbers) < 2:
        return themes
    order = numbers[np.lexsort((numbers, -counts))]
    old = themes.themes[place]
    records = list(themes.themes)
    records[place] = replace(old, name="", label=old.label)
    nearest = themes.nearest.copy()
    next_id = themes.next_id
    for number in order[1:]:
        colour = free_colour(record.colour for record in records)
        records.append(ThemeRecord(next_id, colour, f"{old.label} ({len(records) - len(themes.themes) + 2})",
                                   pinned=old.pinned))  # fmt: skip
        next_id += 1
        nearest[rows[parts == number]] = len(records) - 1
    return replace(themes, themes=tuple(records), nearest=nearest, next_id=next_id)


def move(themes: Themes, rows: NDArray[np.int64], id_: int) -> Themes:
    """Puts documents to a theme by hand, or to none (:data:`UNSORTED`); they stay there whatever is found."""
    if not len(rows):
        return themes
    nearest, outside = themes.nearest.copy(), themes.outside.copy()
    confidence, by_hand = themes.confidence.copy(), themes.by_hand.copy()
    by_hand[rows] = True
    if id_ == UNSORTED:
        outside[rows] = True
    else:
        nearest[rows] = themes.place(id_)
        outside[rows] = False
    confidence[rows] = 0 if id_ == UNSORTED else 1
    moved = replace(themes, nearest=nearest, outside=outside, confidence=confidence, by_hand=by_hand)
    return tidy(moved)


def assign(themes: Themes, rows: NDArray[np.int64] | None = None) -> Themes:
    """Has unsorted documents, or these, count as ones of their nearest theme.

    Of those put to none by hand, only what is named here.
    """
    assigned = themes.assigned.copy()
    by_hand, outside = themes.by_hand.copy(), themes.outside.copy()
    if rows is None:
        assigned |= (themes.labels() < 0) & ~themes.by_hand
    else:
        taken = rows[themes.nearest[rows] >= 0]
        freed = taken[by_hand[taken] & outside[taken]]
        by_hand[freed], outside[freed] = False, False
        assigned[taken] |= ~by_hand[taken]
    return replace(themes, assigned=assigned, by_hand=by_hand, outside=outside)


def relabelled(themes: Themes, labels: Mapping[int, ThemeLabel]) -> Themes:
    """Gives themes the labels that were found for them, by id; one that is empty changes nothing."""
    records = []
    for theme in themes.themes:
        found = labels.get(theme.id)
        if found is None or not found.label:
            records.append(theme)
            continue
        best = max((word.score for word in found.keywords), default=0.0) or 1.0
        words = tuple(Keyword(w.text, w.score / best, w.share, w.elsewhere) for w in found.keywords)
        records.append(replace(theme, label=found.label, source=found.source, keywords=words,
                               central_title=found.central))  # fmt: skip
    return replace(themes, themes=tuple(records))


def with_confidence(themes: Themes, rows: NDArray[np.int64], confidence: NDArray[np.float32]) -> Themes:
    """Sets how sure documents are of their theme; what was put by hand stays as it is."""
    values = themes.confidence.copy()
    open_ = ~themes.by_hand[rows]
    values[rows[open_]] = np.clip(np.nan_to_num(confidence[open_]), 0, 1)
    return replace(themes, confidence=values)


def distinct(themes: Themes, ids: Collection[int]) -> Themes:
    """Gives these themes a number behind their label where another is called the same."""
    taken = {theme.shown.casefold() for theme in themes.themes if theme.id not in ids}
    for place, theme in enumerate(themes.themes):
        if theme.id not in ids:
            continue
        label, number = theme.label, 2
        while not theme.name and label.casefold() in taken:
            label, number = f"{theme.label} ({number})", number + 1
        taken.add((theme.name or label).casefold())
        themes = themes.with_theme(place, label=label)
    return themes
