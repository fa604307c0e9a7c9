"""The themes of a library as they are kept: which document has which, names, pins, what was put by hand; and edits.

Documents are known by their hash, so that themes survive re-indexing and another model. Every edit is a function from
one state to another; an earlier state is what takes an edit back. numpy only, nothing is read or written here.
"""

from __future__ import annotations

import json
import struct
import unicodedata
import zlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import cast

import numpy as np
from numpy.typing import NDArray

from sbert_desktop.app.atlas_views import DEFAULT_STRICTNESS, UNSORTED, ClusterRequest, Curve, Keyword, Method
from sbert_desktop.errors import UsageError
from sbert_desktop.explore.cluster_labels import ThemeLabel
from sbert_desktop.explore.communities import Clustering, Labels, match_themes

Keys = NDArray[np.bytes_]
KEY = "S72"
"""Holds a sha256 in hex, with the word that says of what it is where it is none of a file's bytes."""
_MAGIC, _VERSION = b"SBDTHEME", 1
_HEAD = struct.Struct("<8sHIII")
_LONGEST_NAME = 200
_ARRAYS = ("keys", "nearest", "confidence", "outside", "by_hand", "assigned", "fresh")
UNNAMED = "Untitled"


@dataclass(frozen=True, slots=True)
class ThemeRecord:
    """One theme. ``label``: what it is called by itself; ``name``: what the person calls it. See ``ThemeView``."""

    id: int
    colour: int
    label: str = UNNAMED
    name: str = ""
    pinned: bool = False
    source: str = "none"
    keywords: tuple[Keyword, ...] = ()
    central_title: str = ""

    @property
    def shown(self) -> str:
        """What it is called; never empty."""
        return self.name or self.label


@dataclass(frozen=True, eq=False)
class Themes:
    """All themes and where each document belongs. Documents rise by their key, and no two have the same.

    Attributes:
        keys: Bytes [n]: the hash of each document.
        nearest: int32 [n]: place in ``themes``; -1 only for documents that were put to none by hand.
        confidence: float32 [n], 0-1.
        outside: Bool [n]: left out by the method, or put to none by hand.
        by_hand: Bool [n]: where it is, the person put it.
        assigned: Bool [n]: counts as one of its nearest theme, however unsure.
        fresh: Bool [n]: came since the themes were found.
        next_id: The id of the next new theme: none is given twice.
    """

    keys: Keys
    nearest: Labels
    confidence: NDArray[np.float32]
    outside: NDArray[np.bool_]
    by_hand: NDArray[np.bool_]
    assigned: NDArray[np.bool_]
    fresh: NDArray[np.bool_]
    themes: tuple[ThemeRecord, ...] = ()
    request: ClusterRequest = field(default_factory=ClusterRequest)
    strictness: float = DEFAULT_STRICTNESS
    silhouette: float = 0.0
    curve: Curve | None = None
    note: str = ""
    generation: int = 0
    next_id: int = 1

    def __len__(self) -> int:
        return len(self.keys)

    def labels(self, strictness: float | None = None) -> Labels:
        """Gives the place of each document's theme, int32 [n], -1 unsorted; at strictness 0 only what by hand is."""
        least = self.strictness if strictness is None else strictness
        unsure = (self.outside | (self.confidence < least)) if least > 0 else np.zeros(len(self), bool)
        unsorted = np.where(self.by_hand, self.outside, unsure & ~self.assigned)
        return np.where(unsorted, np.int32(-1), self.nearest).astype(np.int32)

    def sizes(self) -> NDArray[np.int64]:
        """Gives how many documents each theme has, int64 [themes]; with the unsorted ones they are all."""
        labels = self.labels()
        return np.bincount(labels[labels >= 0], minlength=len(self.themes)).astype(np.int64)

    def place(self, id_: int) -> int:
        """Gives the place of a theme.

        Raises:
            UsageError: ``theme-gone``.
        """
        for place, theme in enumerate(self.themes):
            if theme.id == id_:
                return place
        raise UsageError("theme-gone", "This cluster is no longer there.", "Look at the clusters as they are now.")

    def rows(self, keys: Keys) -> NDArray[np.int64]:
        """Gives the places of documents, int64 [m]; those that are not here are left out."""
        found = np.searchsorted(self.keys, keys)
        here = found < len(self)
        here[here] = self.keys[found[here]] == keys[here]
        return found[here].astype(np.int64)

    def same(self, other: Themes) -> bool:
        """Says whether two states are equal, bit for bit."""
        return pack(self) == pack(other)


def empty(keys: Keys | None = None) -> Themes:
    """Gives a state without themes; documents, where there are any, are put to none."""
    known = np.unique(np.asarray([] if keys is None else keys, KEY))
    none = np.zeros(len(known), bool)
    return Themes(
        known, np.full(len(known), -1, np.int32), np.zeros(len(known), np.float32), ~none, ~none, none, none.copy()
    )


# ---------------------------------------------------------------- bytes


def pack(themes: Themes) -> bytes:
    """Gives a state as bytes: a head with checksum, JSON, the arrays one after the other."""
    curve = themes.curve
    header = {
        "n": len(themes),
        "themes": [
            {**{f.name: getattr(theme, f.name) for f in fields(theme) if f.name != "keywords"},
             "keywords": [[k.text, k.weight, k.share, k.elsewhere] for k in theme.keywords]}
            for theme in themes.themes
        ],
        "request": {f.name: getattr(themes.request, f.name) for f in fields(themes.request)},
        "strictness": themes.strictness,
        "silhouette": themes.silhouette,
        "curve": None if curve is None else {
            "counts": curve.counts.tolist(), "silhouettes": curve.silhouettes.tolist(),
            "losses": curve.losses.tolist(), "by_silhouette": curve.by_silhouette, "by_elbow": curve.by_elbow,
        },
        "note": themes.note,
        "generation": themes.generation,
        "next_id": themes.next_id,
    }  # fmt: skip
    text = json.dumps(header, ensure_ascii=True, sort_keys=True).encode("ascii")
    whole = b"".join([text, *(np.ascontiguousarray(getattr(themes, name)).tobytes() for name in _ARRAYS)])
    body = zlib.compress(whole, 1)  # a library takes 64 MB of it at most: hashes in hex halve
    return _HEAD.pack(_MAGIC, _VERSION, len(text), len(body), zlib.crc32(body)) + body


def unpack(data: bytes | None) -> Themes | None:
    """Gives the state that bytes hold; None for none, damaged ones and those of a newer version."""
    try:
        if not data:
            return None
        magic, version, length, whole, check = _HEAD.unpack_from(data)
        body = data[_HEAD.size :]
        if magic != _MAGIC or version != _VERSION or len(body) != whole or zlib.crc32(body) != check:
            return None
        plain = zlib.decompress(body)
        return _checked(_unpacked(json.loads(plain[:length]), plain, length))
    except (ValueError, KeyError, TypeError, struct.error, zlib.error, AttributeError, OverflowError):
        return None


def is_newer(data: bytes | None) -> bool:
    """Says whether bytes are themes that a newer version of the program keeps: those are not to be written over."""
    return data is not None and data[:8] == _MAGIC and int.from_bytes(data[8:10], "little") > _VERSION


def _unpacked(header: dict[str, object], body: bytes, at: int) -> Themes:
    count = cast(int, header["n"])
    types = (np.dtype(KEY), np.dtype("<i4"), np.dtype("<f4"), *[np.dtype(bool)] * 4)
    arrays: dict[str, NDArray[np.generic]] = {}
    for name, type_ in zip(_ARRAYS, types, strict=True):
        arrays[name] = np.frombuffer(body, type_, count, at)
        at += count * type_.itemsize
    records = []
    for one in cast("list[dict[str, object]]", header["themes"]):
        words = tuple(Keyword(*word) for word in cast("list[tuple[str, float, float, float]]", one["keywords"]))
        records.append(ThemeRecord(**{**one, "keywords": words}))  # type: ignore[arg-type]
    asked = cast("dict[str, object]", header["request"])
    request = ClusterRequest(**{**asked, "method": Method(cast(str, asked["method"]))})  # type: ignore[arg-type]
    drawn = cast("dict[str, object] | None", header["curve"])
    curve = None
    if drawn is not None:
        curve = Curve(
            np.array(drawn["counts"], np.int32), np.array(drawn["silhouettes"], np.float64),
            np.array(drawn["losses"], np.float64), cast(int, drawn["by_silhouette"]), cast(int, drawn["by_elbow"]),
        )  # fmt: skip
    return Themes(
        **arrays,  # type: ignore[arg-type]
        themes=tuple(records),
        request=request,
        strictness=float(cast(float, header["strictness"])),
        silhouette=float(cast(float, header["silhouette"])),
        curve=curve,
        note=str(header["note"]),
        generation=int(cast(int, header["generation"])),
        next_id=int(cast(int, header["next_id"])),
    )


def _checked(themes: Themes) -> Themes | None:
    """Gives the state if it is one: bytes with a right checksum may still be another program's."""
    ids = [theme.id for theme in themes.themes]
    lost = themes.nearest < 0
    sound = (
        len(set(ids)) == len(ids)
        and all(isinstance(theme.label, str) and theme.label for theme in themes.themes)
        and bool(np.all(themes.keys[1:] > themes.keys[:-1]))
        and bool(np.all((themes.nearest >= -1) & (themes.nearest < max(1, len(ids)))))
        and (bool(ids) or bool(lost.all()))
        and bool(np.all(themes.outside[lost] & themes.by_hand[lost]))
    )
    return themes if sound else None


# ---------------------------------------------------------------- edits


def clean_name(name: str) -> str:
    """Gives a name on one line, without signs that cannot be seen, of at most 200 code points."""
    kept = "".join(" " if unicodedata.category(sign) in {"Cc", "Cs", "Zl", "Zp"} else sign for sign in name)
    kept = "".join(sign for sign in kept if unicodedata.category(sign) != "Cf" or sign in "\u200c\u200d")
    if not any(unicodedata.category(sign)[0] not in "ZC" for sign in kept):
        return ""
    return " ".join(kept.split())[:_LONGEST_NAME].strip()


def rename(themes: Themes, id_: int, name: str) -> Themes:
    """Gives a theme a name; without one it is called by its own label again."""
    return _with(themes, themes.place(id_), name=clean_name(name))


def pin(themes: Themes, ids: Sequence[int], *, pinned: bool = True) -> Themes:
    """Pins themes, or lets them go."""
    for id_ in ids:
        themes = _with(themes, themes.place(id_), pinned=pinned)
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


def tidy(themes: Themes) -> Themes:
    """Takes away themes that no document belongs to, whatever the strictness."""
    lost = themes.by_hand & themes.outside
    used = np.bincount(themes.nearest[~lost & (themes.nearest >= 0)], minlength=len(themes.themes)) > 0
    if used.all():
        return themes
    stands = np.where(used, np.cumsum(used) - 1, -1).astype(np.int32)
    nearest = np.where(themes.nearest >= 0, stands[np.maximum(themes.nearest, 0)], -1) if len(used) else themes.nearest
    kept = tuple(theme for theme, keep in zip(themes.themes, used.tolist(), strict=True) if keep)
    return replace(themes, nearest=np.asarray(nearest, np.int32), themes=kept)


# ---------------------------------------------------------------- documents that come and go


def prune(themes: Themes, live: Keys) -> tuple[Themes, tuple[int, ...]]:
    """Drops documents that are gone, with the themes of which nothing is left.

    Gives the state, and the ids of the remaining themes that lost some: their labels may hold words of what is gone.
    """
    keep = np.isin(themes.keys, live)
    if keep.all():
        return themes, ()
    hit = set(themes.nearest[~keep].tolist())
    losers = [theme.id for place, theme in enumerate(themes.themes) if place in hit]
    pruned = tidy(_only(themes, keep))
    left = {theme.id for theme in pruned.themes}
    return pruned, tuple(id_ for id_ in losers if id_ in left)


def extended(themes: Themes, keys: Keys, nearest: Labels, confidence: NDArray[np.float32]) -> Themes:
    """Adds documents that came, each to its nearest theme; those that are here already are left out."""
    keys = np.asarray(keys, KEY)
    new = ~np.isin(keys, themes.keys) & (nearest >= 0)
    if not new.any() or not themes.themes:
        return themes
    added = np.zeros(int(new.sum()), bool)
    return _joined(
        themes, keys[new], nearest[new].astype(np.int32), np.clip(confidence[new], 0, 1), added, added, added, ~added
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
        part = _only(before, held)
        stands = np.array([number.get(place, -1) for place in range(len(before.themes))], np.int32)
        made = _joined(
            made, part.keys, stands[part.nearest], part.confidence, part.outside, part.by_hand, part.assigned,
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
        themes = _with(themes, place, label=label)
    return themes


def free_colour(taken: Iterable[int]) -> int:
    """Gives the first place in the palette that no theme has."""
    used: Collection[int] = set(taken)
    colour = 0
    while colour in used:
        colour += 1
    return colour


def _with(themes: Themes, place: int, **changes: object) -> Themes:
    records = list(themes.themes)
    records[place] = replace(records[place], **changes)  # type: ignore[arg-type]
    return replace(themes, themes=tuple(records))


def _only(themes: Themes, keep: NDArray[np.bool_]) -> Themes:
    return _with_arrays(themes, [getattr(themes, name)[keep] for name in _ARRAYS])


def _joined(themes: Themes, keys: Keys, *arrays: NDArray[np.generic]) -> Themes:
    """Adds rows, in the order of the arrays, and brings all into the order of their keys."""
    whole = [np.concatenate([getattr(themes, name), more])
             for name, more in zip(_ARRAYS, (keys, *arrays), strict=True)]  # fmt: skip
    order = np.argsort(whole[0])
    return _with_arrays(themes, [array[order] for array in whole])


def _with_arrays(themes: Themes, arrays: Sequence[NDArray[np.generic]]) -> Themes:
    changes = {name: array.astype(getattr(themes, name).dtype) for name, array in zip(_ARRAYS, arrays, strict=True)}
    return replace(themes, **changes)  # type: ignore[arg-type]


def _texts(keys: Keys) -> list[str]:
    return [key.decode("ascii", "replace") for key in keys.tolist()]
