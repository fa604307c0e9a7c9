"""What is told of themes: sizes, typical documents, what lies beside, folders, dates. Read from a room, never kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sbert_desktop.app.atlas_views import UNSORTED, ClustersView, DocumentRow, Neighbour, ThemeView
from sbert_desktop.app.theme_desk import Room
from sbert_desktop.app.themes import Themes
from sbert_desktop.explore.communities import (
    Clustering,
    Labels,
    Method,
    describe_themes,
    shared_words,
    sum_of_themes,
)

_CENTRAL, _BESIDE = 6, 3
_CHUNK = 16_384
_KEYWORDS = 8


def first_passages(room: Room, most: int) -> dict[int, tuple[int, ...]]:
    """Gives the first passages of each document that has vectors, by content."""
    snapshot = room.snapshot
    rows = np.flatnonzero(snapshot.alive)
    contents, ids = snapshot.contents[rows], snapshot.passage_ids[rows]
    order = np.lexsort((ids, contents))
    contents, ids = contents[order], ids[order]
    starts = np.flatnonzero(np.r_[True, contents[1:] != contents[:-1]]) if len(contents) else np.zeros(0, np.int64)
    ends = np.r_[starts[1:], len(contents)]
    return {
        int(contents[start]): tuple(ids[start : min(end, start + most)].tolist())
        for start, end in zip(starts.tolist(), ends.tolist(), strict=False)
    }


def sums_of(room: Room, labels: Labels, count: int) -> NDArray[np.float64]:
    """Gives the sum of the vectors of each theme, float64 [count, dimension]; ``labels`` are those of a room's rows."""
    none = np.zeros(len(labels), bool)
    plain = Clustering(Method.AUTO, labels, np.ones(len(labels), np.float32), none, count, 0.0)
    return sum_of_themes(room.vectors, plain)


def row_labels(room: Room, themes: Themes, labels: Labels) -> Labels:
    """Gives the label of each row of a room, -1 for those in none."""
    rows = room.rows_of(themes.keys)
    found = np.full(len(room.at), -1, np.int32)
    found[rows[rows >= 0]] = labels[rows >= 0]
    return found


def fits(room: Room, themes: Themes) -> NDArray[np.float32]:
    """Gives the cosine of each document to its nearest theme's direction, float32 [n]; 0 without a vector."""
    sums = sums_of(room, row_labels(room, themes, themes.labels()), len(themes.themes))
    lengths = np.linalg.norm(sums, axis=1, keepdims=True)
    directions = (sums / np.maximum(lengths, 1e-12)).astype(np.float32)
    rows = room.rows_of(themes.keys)
    usable = np.flatnonzero((rows >= 0) & (themes.nearest >= 0))
    fit = np.zeros(len(themes), np.float32)
    for at in range(0, len(usable), _CHUNK):
        part = usable[at : at + _CHUNK]
        fit[part] = np.einsum("ij,ij->i", room.vectors[rows[part]], directions[themes.nearest[part]])
    return fit


def central_documents(room: Room, rows: NDArray[np.int64], labels: Labels, count: int, most: int) -> list[list[int]]:
    """Gives the most typical documents of each theme as places in ``rows``; those without vectors come last.

    Args:
        room: The documents with their vectors.
        rows: int64 [n]: the row of each document in the room, -1 without a vector.
        labels: int32 [n].
        count: Themes.
        most: Documents of each.
    """
    seen = np.flatnonzero(rows >= 0)
    of_rows = np.full(len(room.at), -1, np.int32)
    of_rows[rows[seen]] = labels[seen]
    back = np.full(len(room.at) + 1, -1, np.int64)
    back[rows[seen]] = seen
    found = []
    described = describe_themes(room.vectors, of_rows, count, central=most) if len(room.at) else []
    for theme in range(count):
        chosen = back[described[theme].central].tolist() if described else []
        found.append(chosen or np.flatnonzero(labels == theme)[:most].tolist())
    return found


def view_of(room: Room, themes: Themes, *, scope: tuple[int, ...] = ()) -> ClustersView:
    """Gives all that is shown of a state."""
    labels = themes.labels()
    views = _themes(room, themes, labels)
    total = len(themes)
    unsorted = int(np.count_nonzero(labels < 0))
    waiting = room.waiting
    if scope:
        at = room.catalogue.of_contents(np.array(scope, np.int64))
        waiting = int(np.count_nonzero(room.rows_of(room.catalogue.keys[at[at >= 0]]) < 0))
    return ClustersView(
        themes=views,
        documents=total,
        unsorted=unsorted,
        request=themes.request,
        strictness=themes.strictness,
        silhouette=themes.silhouette,
        curve=themes.curve,
        note=_note(room, themes, waiting),
        fresh=int(np.count_nonzero(themes.fresh)),
        waiting=waiting,
        scope=scope,
        generation=room.catalogue.generation,
        unsorted_at=_unsorted_at(themes),
    )


def _unsorted_at(themes: Themes) -> tuple[float, ...]:
    if not len(themes):
        return (0.0,) * 21
    loose = np.zeros(len(themes), bool)
    bare = Themes(themes.keys, themes.nearest, themes.confidence, themes.outside, themes.by_hand, loose, loose)
    return tuple(float(np.mean(bare.labels(step / 20) < 0)) for step in range(21))


def _note(room: Room, themes: Themes, waiting: int) -> str:
    if not len(themes):
        if waiting:
            one = "1 document waits for its vector" if waiting == 1 else f"{waiting:,} documents wait for their vectors"
            return (
                f"{one}; clusters are found when it is there."
                if waiting == 1
                else (f"{one}; clusters are found when they are there.")
            )
        return "There are no documents to sort into clusters."
    lacking = int(np.count_nonzero(room.rows_of(themes.keys) < 0))
    if lacking:
        have = "1 document has" if lacking == 1 else f"{lacking:,} documents have"
        stays = "it stays where it was" if lacking == 1 else "they stay where they were"
        return f"{have} no vector of the model in use yet; {stays}."
    return themes.note


def _order(themes: Themes, sizes: NDArray[np.int64]) -> list[int]:
    """Pinned ones first, then the largest."""
    return sorted(range(len(themes.themes)), key=lambda p: (not themes.themes[p].pinned, -int(sizes[p]), p))


def plain_views(themes: Themes) -> tuple[ThemeView, ...]:
    """Gives the themes with what is known without any vector."""
    sizes = themes.sizes()
    return tuple(
        ThemeView(
            record.id, record.shown, bool(record.name), record.pinned, record.colour, int(sizes[place]),
            "person" if record.name else record.source, record.keywords[:_KEYWORDS], record.central_title, (), (),
            0.0, 0.0, (),
        )
        for place, record in ((place, themes.themes[place]) for place in _order(themes, sizes))
    )  # fmt: skip


def _themes(room: Room, themes: Themes, labels: Labels) -> tuple[ThemeView, ...]:
    count = len(themes.themes)
    if not count:
        return ()
    catalogue = room.catalogue
    of_rows = row_labels(room, themes, labels)
    described = describe_themes(room.vectors, of_rows, count, central=_CENTRAL, beside=_BESIDE) if len(room.at) else []
    rest = _rest(room, of_rows, count)
    at = catalogue.of_keys(themes.keys)
    inside = np.flatnonzero((labels >= 0) & (at >= 0))
    folders = np.array([place.folder for place in catalogue.places], np.int64)
    table = np.zeros((count, len(catalogue.roots)), np.int64)
    np.add.at(table, (labels[inside], folders[at[inside]]), 1)
    first, last = np.full(count, np.inf), np.full(count, -np.inf)
    dates = catalogue.dates[at[inside]]
    dated = np.isfinite(dates)
    np.minimum.at(first, labels[inside][dated], dates[dated])
    np.maximum.at(last, labels[inside][dated], dates[dated])
    back = np.full(len(room.at) + 1, -1, np.int64)
    rows = room.rows_of(themes.keys)
    back[rows[rows >= 0]] = np.flatnonzero(rows >= 0)
    fit = fits(room, themes)
    plain = {view.id: view for view in plain_views(themes)}
    words = [[keyword.text for keyword in record.keywords] for record in themes.themes]
    views = []
    for view in plain.values():
        place = themes.place(view.id)
        known = described[place] if described else None
        central: Sequence[int] = back[known.central].tolist() if known is not None else ()
        if not len(central):
            central = np.flatnonzero(labels == place)[:_CENTRAL].tolist()
        beside = tuple(
            Neighbour(themes.themes[other].id, cosine, shared_words(words[place], words[other]))
            for other, cosine in (known.beside if known is not None else ())
        )
        views.append(
            _filled(
                view,
                central=rows_of(room, themes, np.array(central, np.int64), fit, labels),
                folders=_folders(catalogue.roots, table[place]),
                similarity=1 - known.spread if known is not None and len(known.central) else 0.0,
                rest=float(rest[place]),
                beside=beside,
                first=float(first[place]) if np.isfinite(first[place]) else None,
                last=float(last[place]) if np.isfinite(last[place]) else None,
            )
        )  # fmt: skip
    return tuple(views)


def _folders(roots: Sequence[Path], counts: NDArray[np.int64]) -> tuple[tuple[Path, int], ...]:
    order = np.argsort(-counts, kind="stable").tolist()
    return tuple((roots[folder], int(counts[folder])) for folder in order if counts[folder])


def _filled(view: ThemeView, **facts: object) -> ThemeView:
    return replace(view, **facts)  # type: ignore[arg-type]


def _rest(room: Room, labels: Labels, count: int) -> NDArray[np.float64]:
    """Gives the mean cosine of each theme's documents to the direction of all others, float64 [count]."""
    if not len(room.at):
        return np.zeros(count)
    sums = sums_of(room, labels, count)
    sizes = np.bincount(labels[labels >= 0], minlength=count)
    others = room.vectors[room.at >= 0].sum(axis=0, dtype=np.float64) - sums
    lengths = np.linalg.norm(others, axis=1)
    products = np.einsum("ij,ij->i", sums, others)
    return np.where((sizes > 0) & (lengths > 1e-9), products / np.maximum(sizes * lengths, 1e-12), 0.0)


def rows_of(
    room: Room, themes: Themes, rows: NDArray[np.int64], fit: NDArray[np.float32], labels: Labels
) -> tuple[DocumentRow, ...]:
    """Gives documents of a state as lists show them; those that are gone from the library are left out."""
    at = room.catalogue.of_keys(themes.keys[rows])
    made = []
    for row, place in zip(rows.tolist(), at.tolist(), strict=True):
        if place < 0:
            continue
        near = int(themes.nearest[row])
        made.append(
            _row(
                room, place, theme=themes.themes[near].id if near >= 0 else UNSORTED, fit=float(fit[row]),
                confidence=float(themes.confidence[row]), sorted_in=bool(labels[row] >= 0),
                by_hand=bool(themes.by_hand[row]),
            )
        )  # fmt: skip
    return tuple(made)


def rows_at(room: Room, themes: Themes, at: NDArray[np.int64]) -> tuple[DocumentRow, ...]:
    """Gives documents of the catalogue, in this order, with their theme where they have one."""
    labels, fit = themes.labels(), fits(room, themes)
    keys = room.catalogue.keys[at]
    found = np.searchsorted(themes.keys, keys)
    made: list[DocumentRow] = []
    for place, key, row in zip(at.tolist(), keys.tolist(), found.tolist(), strict=True):
        if row < len(themes) and themes.keys[row] == key:
            made += rows_of(room, themes, np.array([row]), fit, labels)
        else:
            made.append(_row(room, place, sorted_in=False))
    return tuple(made)


def _row(
    room: Room, place: int, *, theme: int = UNSORTED, fit: float = 0.0, confidence: float = 0.0,
    sorted_in: bool = True, by_hand: bool = False,
) -> DocumentRow:  # fmt: skip
    catalogue = room.catalogue
    known = catalogue.places[place]
    date = float(catalogue.dates[place])
    return DocumentRow(
        content=int(catalogue.contents[place]),
        path=known.path,
        member=known.member,
        title=known.title,
        format=known.format,
        language=known.language,
        date=date if np.isfinite(date) else None,
        folder=catalogue.roots[known.folder],
        theme=theme,
        fit=fit,
        confidence=confidence,
        sorted_in=sorted_in,
        by_hand=by_hand,
        copies=int(catalogue.copies[place]),
        passage=int(catalogue.first[place]),
    )
