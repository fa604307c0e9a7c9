"""Themes when documents come and go, and when they are found anew: what the person did goes on."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sbert_desktop.app.atlas_views import DEFAULT_STRICTNESS, ClusterRequest
from sbert_desktop.app.themes import KEY, Keys, ThemeRecord, Themes, empty, free_colour, tidy
from sbert_desktop.explore.communities import Clustering, Labels, match_themes


def prune(themes: Themes, live: Keys) -> tuple[Themes, tuple[int, ...]]:
    """Drops documents that are gone, with the themes of which nothing is left.

    Gives the state, and the ids of the remaining themes that lost some: their labels may hold words of what is gone.
    """
    keep = np.isin(themes.keys, live)
    if keep.all():
        return themes, ()
    hit = set(themes.nearest[~keep].tolist())
    losers = [theme.id for place, theme in enumerate(themes.themes) if place in hit]
    pruned = tidy(themes.only(keep))
    left = {theme.id for theme in pruned.themes}
    return pruned, tuple(id_ for id_ in losers if id_ in left)


def extended(themes: Themes, keys: Keys, nearest: Labels, confidence: NDArray[np.float32]) -> Themes:
    """Adds documents that came, each to its nearest theme; those that are here already are left out."""
    keys = np.asarray(keys, KEY)
    new = ~np.isin(keys, themes.keys) & (nearest >= 0)
    if not new.any() or not themes.themes:
        return themes
    added = np.zeros(int(new.sum()), bool)
    return themes.joined(
        keys[new], nearest[new].astype(np.int32), np.clip(confidence[new], 0, 1), added, added, added, ~added
    )


def pinned_keys(themes: Themes) -> Keys:
    """Gives the documents of pinned themes, which no new clustering sorts."""
    pinned = np.array([theme.pinned for theme in themes.themes], bool)
    labels = themes.labels()
    inside = labels >= 0
    inside[inside] = pinned[labels[inside]]
    return themes.keys[inside]


def renew(
    old: Themes | None, keys: Keys, found: Clustering, *, request: ClusterRequest, generation: int = 0,
    strictness: float = DEFAULT_STRICTNESS,
) -> Themes:  # fmt: skip
    """Makes themes of a new clustering; ids, names and colours go on where a theme is recognised by its documents.

    Args:
        old: What there was. Its pinned themes keep exactly their documents; documents put by hand stay where they are,
            or, where that theme is gone, where most of its documents went.
        keys: Bytes [m]: the documents that were clustered, no two equal, without those of :func:`pinned_keys`.
        found: What was found among them.
        request: What was asked for.
        generation: Of the library.
        strictness: Where there was nothing before.
    """
    before = empty() if old is None else old
    keys = np.asarray(keys, KEY)
    order = np.argsort(keys)
    keys, nearest = keys[order], found.nearest[order].astype(np.int32)
    confidence, outside = found.confidence[order].astype(np.float32), found.outside[order].copy()
    held = np.isin(before.keys, pinned_keys(before))
    free = before.nearest.copy()
    free[held | (before.by_hand & before.outside)] = -1
    pinned_places = {place for place, theme in enumerate(before.themes) if theme.pinned}
    free[np.isin(free, list(pinned_places))] = -1  # unsorted ones beside a pinned theme do not make another that theme
    # what the person named goes on in its largest part, however many it falls into
    named = [place for place, theme in enumerate(before.themes) if theme.name and not theme.pinned]
    matched = match_themes(_texts(before.keys), free, _texts(keys), nearest, pinned=named)
    records: list[ThemeRecord] = [before.themes[place] for place in sorted(pinned_places)]
    number = {place: at for at, place in enumerate(sorted(pinned_places))}
    shift = len(records)
    next_id = before.next_id
    for new in range(found.count):
        was = int(matched.before[new]) if new < len(matched.before) else -1
        if was >= 0:
            records.append(before.themes[was])
            number[was] = len(records) - 1
        else:
            kept_colours = [r.colour for r in records] + [before.themes[w].colour for w in matched.before if w >= 0]
            records.append(ThemeRecord(next_id, free_colour(kept_colours)))
            next_id += 1
    none = np.zeros(len(keys), bool)
    made = Themes(
        keys, (nearest + shift).astype(np.int32), confidence, outside, none, none, none, tuple(records),
        request, before.strictness if old is not None else strictness, found.silhouette, found.curve, found.note,
        generation, next_id,
    )  # fmt: skip
    made = _put_by_hand(made, before, number)
    if held.any():
        part = before.only(held)
        stands = np.array([number.get(place, -1) for place in range(len(before.themes))], np.int32)
        made = made.joined(
            part.keys, stands[part.nearest], part.confidence, part.outside, part.by_hand, part.assigned,
            np.zeros(len(part), bool),
        )  # fmt: skip
    return tidy(made)


def _put_by_hand(made: Themes, before: Themes, number: dict[int, int]) -> Themes:
    """Puts documents back where the person had put them."""
    chosen = np.flatnonzero(before.by_hand & np.isin(before.keys, made.keys))
    if not len(chosen):
        return made
    at = made.rows(before.keys[chosen])
    records, next_id = list(made.themes), made.next_id
    nearest, outside = made.nearest.copy(), made.outside.copy()
    confidence, by_hand = made.confidence.copy(), made.by_hand.copy()
    target = {}
    for place in sorted(set(before.nearest[chosen][~before.outside[chosen]].tolist())):
        if place not in number:
            others = made.rows(before.keys[(before.nearest == place) & ~before.by_hand])
            if len(others):
                number[place] = int(np.bincount(made.nearest[others]).argmax())
            else:  # only documents put by hand were in it: it stays theirs
                old = before.themes[place]
                taken = [record.colour for record in records]
                records.append(old if old.colour not in taken else replace(old, colour=free_colour(taken)))
                number[place] = len(records) - 1
        target[place] = number[place]
    for row, was in zip(at.tolist(), chosen.tolist(), strict=True):
        by_hand[row] = True
        outside[row] = bool(before.outside[was])
        confidence[row] = 0 if outside[row] else 1
        if not outside[row]:
            nearest[row] = target[int(before.nearest[was])]
    return replace(made, themes=tuple(records), nearest=nearest, outside=outside, confidence=confidence,
                   by_hand=by_hand, next_id=next_id)  # fmt: skip


def _texts(keys: Keys) -> list[str]:
    return [key.decode("ascii", "replace") for key in keys.tolist()]
