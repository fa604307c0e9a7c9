"""The map: given as it is kept, with what is new placed on it; laid out where there is none, or when asked for.

Old points never move by themselves. A new layout is laid over the old one before it is shown, and tells where each
point was. Positions are kept by content id and sha256 (:mod:`sbert_desktop.app.map_memory`).
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sbert_desktop.app import map_memory
from sbert_desktop.app.atlas_views import LayoutRules, MapRequest, MapUnit, MapView
from sbert_desktop.app.map_cards import map_card
from sbert_desktop.app.map_memory import Kept, stored_request
from sbert_desktop.app.map_names import grouping_of, part_labels, theme_labels
from sbert_desktop.app.neighbourhood import DOCUMENTS, NEIGHBOURS, PASSAGES, exact_rows, stored_graph
from sbert_desktop.explore.document_vectors import document_vectors
from sbert_desktop.explore.layout import (
    Collapsed,
    Neighbours,
    Positions,
    collapse,
    collapse_neighbours,
    lay_out,
    membership,
    principal_plane,
)
from sbert_desktop.explore.map_quality import measure_quality
from sbert_desktop.explore.neighbours import EXACT, neighbour_graph
from sbert_desktop.explore.placing import nearest_old, place
from sbert_desktop.explore.registration import register

if TYPE_CHECKING:
    from sbert_desktop.app.session import Session
    from sbert_desktop.domain import JobContext, Snapshot, Vectors

__all__ = ["map_card", "run_map", "stored_request"]

_EVERY = 0.1
"""Seconds between two previews."""
_SAME = 1 - 1e-5
"""Cosine from which it is worth looking whether two vectors are equal."""
_MANY = 20
"""New documents from which, and the share of all, a redraw is suggested."""
_MANY_SHARE = 0.1
_AGREEING = 0.6
"""Misfit above which a new layout is only turned to the old one: the best scale would shrink it to a spot."""
_MEASURED = 20_000_000
"""Points times points asked for the quality: bounds what it costs at about two seconds."""
_FEWEST = 10
"""Documents below which there are no groups to see."""


@dataclass(frozen=True, slots=True)
class _Units:
    """What is on the map now: int64 [n] each, by rising id."""

    ids: NDArray[np.int64]
    contents: NDArray[np.int64]
    passages: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.ids)


_NO_MAP = Kept(
    "umap", LayoutRules(), "", np.zeros((0, 2), np.float32), np.zeros(0, np.bool_), np.zeros(0, np.int64),
    np.zeros(0, np.int32), np.zeros((0, 32), np.uint8), 0,
)  # fmt: skip


def run_map(session: Session, request: MapRequest, context: JobContext, *, parts: bool = True) -> MapView:
    """Gives the map.

    While it is laid out, ``Partial`` views with ``preview`` come. Where the names of parts of themes are not known
    yet, the whole map comes as a ``Partial`` without ``preview`` first, and the same with these names at the end.

    Args:
        session: The opened library.
        request: Which; ``method`` and ``rules`` only count where it is laid out.
        context: Asked for a cancel and told throughout.
        parts: Name parts of themes, too.

    Raises:
        Cancelled: Through ``context``.
    """
    context.check()
    space, snapshot = session.space_and_snapshot()
    units = _units(snapshot, request.unit)
    waiting = _waiting(session, snapshot, len(units))
    kept = map_memory.read(session, request.unit)
    if request.stored:
        return _view(units, kept or _NO_MAP, request, snapshot.generation, None)
    anew = request.refit or kept is None or (len(units) > 0 and not np.isin(units.ids, kept.ids).any())
    moved = None
    if kept is None or anew:
        kept, moved = _laid_out(session, space, snapshot, units, kept, request, context)
    else:
        kept = _brought_up(session, snapshot, units, kept, request.unit, waiting, context)
    made = MapRequest(request.unit, False, kept.method, kept.rules)
    view = _view(units, kept, made, snapshot.generation, moved)
    view = replace(view, waiting=waiting, note=_note(session, view, units, kept, waiting))
    themes = grouping_of(session)
    themed = replace(view, labels=theme_labels(view, themes))
    if not parts or themes is None:
        return themed
    named = part_labels(session, view, themes, context, only_known=True)
    if named is None:
        context.partial(themed)
        named = part_labels(session, view, themes, context) or ()
    return replace(themed, labels=(*themed.labels, *named))


def _units(snapshot: Snapshot, unit: MapUnit) -> _Units:
    rows = np.flatnonzero(snapshot.alive)
    passages = snapshot.passage_ids[rows]
    order = np.argsort(passages, kind="stable")
    passages, contents = passages[order], snapshot.contents[rows][order]
    if unit is MapUnit.PASSAGES:
        return _Units(passages, contents, passages)
    found, first = np.unique(contents, return_index=True)
    return _Units(found, found, passages[first])


def _waiting(session: Session, snapshot: Snapshot, there: int) -> int:
    """Counts the documents that still need vectors."""
    waiting = session.library.pending_count(session.fingerprint())[0]
    if not waiting and not there and snapshot.passages:  # there is no space yet to wait for
        return int(np.isfinite(snapshot.dates()).sum())
    return waiting


def _vectors(snapshot: Snapshot, unit: MapUnit) -> Vectors:
    """Gives the vectors of all units, float32 [n, dimension], in their order."""
    if unit is MapUnit.DOCUMENTS:
        return document_vectors(snapshot.vectors, snapshot.contents, snapshot.lengths, snapshot.alive).vectors
    rows = np.flatnonzero(snapshot.alive)
    rows = rows[np.argsort(snapshot.passage_ids[rows], kind="stable")]
    return np.asarray(snapshot.vectors[rows], np.float32)


# ---------------------------------------------------------------- the kept map


def _brought_up(
    session: Session,
    snapshot: Snapshot,
    units: _Units,
    kept: Kept,
    unit: MapUnit,
    waiting: int,
    context: JobContext,
) -> Kept:
    """Puts what is new on the map that is kept; nothing on it moves."""
    fresh = np.flatnonzero(~np.isin(units.ids, kept.ids))
    if not len(fresh):
        return kept
    context.progress("placing", 0, len(fresh))
    shas = np.zeros((0, 32), np.uint8)
    points = np.full(len(fresh), -1, np.int32)
    if unit is MapUnit.DOCUMENTS:
        shas = map_memory.hashes(session, units.ids[fresh].tolist())
        places = map_memory.by_hash(kept)
        points[:] = [places.get(sha.tobytes(), -1) for sha in shas]
    left = np.flatnonzero(points < 0)
    positions, marks = kept.positions, kept.fresh
    if len(left):
        points[left], new = _placed(_vectors(snapshot, unit), units, fresh[left], kept, context)
        positions = np.concatenate([positions, new])
        marks = np.concatenate([marks, np.ones(len(new), np.bool_)])
    kept = replace(
        kept,
        positions=positions,
        fresh=marks,
        ids=np.concatenate([kept.ids, units.ids[fresh]]),
        points=np.concatenate([kept.points, points]),
        shas=np.concatenate([kept.shas, shas]),
    )
    context.check()
    map_memory.write(session, unit, kept if _may_return(session, waiting) else _without_gone(kept, units))
    return kept


def _placed(
    vectors: Vectors, units: _Units, fresh: NDArray[np.int64], kept: Kept, context: JobContext
) -> tuple[NDArray[np.int32], Positions]:
    """Gives the points of new rows, and the positions of points that there were not before."""
    row_of, point_of = np.full(len(kept.ids), -1, np.int64), kept.points
    at = np.searchsorted(units.ids, kept.ids)
    at[at == len(units)] = 0
    there = units.ids[at] == kept.ids
    row_of[there] = at[there]
    old = np.flatnonzero(row_of >= 0)  # members that are on the map and in the library
    new = vectors[fresh]
    same = collapse(new, np.ones(len(new), np.bool_))
    distinct = new[same.rows]
    old_vectors = vectors[row_of[old]]
    nearest = nearest_old(distinct, old_vectors, NEIGHBOURS, context=context)
    points = np.full(len(distinct), -1, np.int32)
    if nearest.rows.shape[1]:
        near = np.flatnonzero(nearest.cosine[:, 0] >= _SAME)
        for rank in range(nearest.rows.shape[1]):
            equal = (distinct[near] == old_vectors[nearest.rows[near, rank]]).all(axis=1) & (points[near] < 0)
            points[near[equal]] = point_of[old[nearest.rows[near[equal], rank]]]
    lonely = np.flatnonzero(points < 0)
    points[lonely] = len(kept.positions) + np.arange(len(lonely), dtype=np.int32)
    spots = kept.positions[point_of[old]]
    places = place(spots, Neighbours(nearest.rows[lonely], nearest.cosine[lonely]), context=context)
    return points[same.point], places


def _may_return(session: Session, waiting: int) -> bool:
    """Something that is not there may come back to its place: vectors are missing, a folder's removal can be undone."""
    return waiting > 0 or any(record.state != "active" for record in session.library.folders())


def _without_gone(kept: Kept, units: _Units) -> Kept:
    """Forgets what is gone for good."""
    there = np.isin(kept.ids, units.ids)
    if there.all():
        return kept
    used, points = np.unique(kept.points[there], return_inverse=True)
    return replace(
        kept,
        positions=kept.positions[used],
        fresh=kept.fresh[used],
        ids=kept.ids[there],
        points=points.astype(np.int32),
        shas=kept.shas[there] if len(kept.shas) else kept.shas,
    )


# ---------------------------------------------------------------- laying out


def _laid_out(
    session: Session,
    space: str,
    snapshot: Snapshot,
    units: _Units,
    old: Kept | None,
    request: MapRequest,
    context: JobContext,
) -> tuple[Kept, Positions | None]:
    """Lays the map out, over the old one where there is one; also gives where points were, NaN for new ones."""
    began = time.monotonic()
    context.progress("reading vectors", 0, None)
    vectors = _vectors(snapshot, request.unit)
    collapsed = collapse(vectors, np.ones(len(vectors), np.bool_))
    points = np.ascontiguousarray(vectors[collapsed.rows])
    shas = np.zeros((0, 32), np.uint8)
    hashed = request.unit is MapUnit.DOCUMENTS
    if hashed and old is not None:  # else they can wait until the first preview is seen
        shas = map_memory.hashes(session, units.ids.tolist())
    before = _old_places(old, units, shas, collapsed)
    context.check()
    made = Kept(
        request.method, request.rules, space, np.zeros((len(points), 2), np.float32),
        np.zeros(len(points), np.bool_), units.ids, collapsed.point, shas, len(units),
    )  # fmt: skip
    work = _Work(session, points, collapsed, before, _Previews(units, made, request, snapshot.generation, context))
    same_way = old is not None and (old.method, old.rules) == (request.method, request.rules)
    positions = work.positions(vectors, units, request, context, from_old=same_way)
    context.progress("measuring", 0, None)
    sample = int(np.clip(_MEASURED / max(1, len(points)), 200, 1000))
    # in a small library the 15 nearest would be a third of everything, and no group is so large
    near = int(np.clip(len(points) // 8, 3, NEIGHBOURS))
    quality = measure_quality(points, positions, neighbours=near, sample=sample, context=context)
    if hashed and old is None:
        shas = map_memory.hashes(session, units.ids.tolist())
    made = replace(
        made,
        positions=positions,
        shas=shas,
        quality=quality.level,
        sentence=quality.sentence(),
        trustworthiness=quality.trustworthiness,
        overlap=quality.overlap,
        seconds=time.monotonic() - began,
    )
    context.check()
    if len(units):
        map_memory.write(session, request.unit, made)
    return made, before


def _old_places(
    old: Kept | None, units: _Units, shas: NDArray[np.uint8], collapsed: Collapsed
) -> Positions | None:
    """Gives where each point lay, float32 [points, 2], NaN for those that were not there; None without an old map."""
    if old is None:
        return None
    order = np.argsort(old.ids, kind="stable")
    at = np.searchsorted(old.ids[order], units.ids)
    at[at == len(order)] = 0
    point = np.full(len(units), -1, np.int64)
    if len(order):
        found = old.ids[order[at]] == units.ids
        point[found] = old.points[order[at[found]]]
    if len(shas):
        places = map_memory.by_hash(old)
        for row in np.flatnonzero(point < 0).tolist():
            point[row] = places.get(shas[row].tobytes(), -1)
    before = np.full((len(collapsed.rows), 2), np.nan, np.float32)
    known = np.flatnonzero(point >= 0)[::-1]  # the first member of a point has the last word
    before[collapsed.point[known]] = old.positions[point[known]]
    return before


class _Previews:
    """Shows positions on the way: at most ten times a second, laid over the old map."""

    def __init__(
        self, units: _Units, made: Kept, request: MapRequest, generation: int, context: JobContext
    ) -> None:
        self._empty = _view(units, made, replace(request, refit=False), generation, None)
        self._context = context
        self._last = -1e9

    def show(self, positions: Positions) -> None:
        """Hands them on unless the last ones are too young."""
        now = time.monotonic()
        if now - self._last >= _EVERY:
            self._last = now
            self._context.partial(replace(self._empty, positions=positions, preview=True))


class _Work:
    """One laying out, as far as it is about distinct points."""

    def __init__(
        self, session: Session, points: Vectors, collapsed: Collapsed, before: Positions | None, previews: _Previews
    ) -> None:
        self._session = session
        self._points = points
        self._collapsed = collapsed
        self._before = before
        self._previews = previews
        known = np.zeros(len(points), np.bool_) if before is None else np.isfinite(before[:, 0])
        self._known = np.flatnonzero(known)

    def positions(
        self, vectors: Vectors, units: _Units, request: MapRequest, context: JobContext, *, from_old: bool
    ) -> Positions:
        """Gives float32 [points, 2]; previews come on the way."""
        plane = self._over_old(principal_plane(self._points, context=context))
        from_old = from_old and request.method == "umap" and 2 * len(self._known) >= len(self._points)
        if len(self._points) < 4 or request.method == "pca":
            return plane
        if not from_old:
            self._previews.show(plane)
        neighbours = self._neighbours(vectors, units, request, context)
        start = self._from_old(plane, neighbours, context) if from_old else plane
        if from_old:
            self._previews.show(start)
        laid = lay_out(
            membership(neighbours, context=context),
            start,
            request.rules,
            context=context,
            on_positions=lambda positions: self._previews.show(self._over_old(positions)),
        )
        return self._over_old(laid)

    def _over_old(self, positions: Positions) -> Positions:
        """Turns, scales and moves a layout so that it lies over the old map."""
        if self._before is None or not len(self._known):
            return positions
        weights = self._collapsed.count[self._known].astype(np.float32)
        found = register(positions[self._known], self._before[self._known], weights=weights)
        if found.misfit > _AGREEING:
            share = (weights / weights.sum()).astype(np.float64)
            middle, old = share @ positions[self._known], share @ self._before[self._known]
            found = replace(found, scale=1.0, shift=old - middle @ found.turn)
        return found.apply(positions)

    def _from_old(self, plane: Positions, neighbours: Neighbours, context: JobContext) -> Positions:
        """Gives the old places, and where the neighbours of new points lie for these."""
        assert self._before is not None
        start = self._before.copy()
        number = np.full(len(start), -1, np.int32)
        number[self._known] = np.arange(len(self._known), dtype=np.int32)
        new = np.flatnonzero(number < 0)
        rows = np.where(neighbours.rows[new] >= 0, number[neighbours.rows[new]], -1)
        start[new] = place(self._before[self._known], Neighbours(rows, neighbours.cosine[new]), context=context)
        lost = new[(rows < 0).all(axis=1)]
        start[lost] = plane[lost]
        return start

    def _neighbours(
        self, vectors: Vectors, units: _Units, request: MapRequest, context: JobContext
    ) -> Neighbours:
        """Gives the nearest other points of each, from the stored graph as far as it reaches."""
        points, wanted = self._points, min(max(1, request.rules.neighbours), len(self._points) - 1)
        if wanted > NEIGHBOURS:
            graph = neighbour_graph(points, wanted, context=context)
            return Neighbours(graph.neighbours, graph.cosines)
        name = DOCUMENTS if request.unit is MapUnit.DOCUMENTS else PASSAGES
        graph = stored_graph(self._session, name, units.ids, vectors, context)
        found = collapse_neighbours(Neighbours(graph.neighbours, graph.cosines), self._collapsed, most=wanted)
        if found.rows.shape[1] < wanted:
            gap = wanted - found.rows.shape[1]
            found = Neighbours(
                np.pad(found.rows, ((0, 0), (0, gap)), constant_values=-1), np.pad(found.cosine, ((0, 0), (0, gap)))
            )
        lacking = np.flatnonzero((found.rows < 0).any(axis=1))  # copies of a document fill its list
        if len(points) > EXACT and 4 * len(lacking) > len(points):
            graph = neighbour_graph(points, wanted, context=context)
            return Neighbours(graph.neighbours, graph.cosines)
        if len(lacking):
            nearest = exact_rows(points, lacking, wanted, context=context)
            found.rows[lacking], found.cosine[lacking] = nearest.neighbours, nearest.cosines
        return found


# ---------------------------------------------------------------- views


def _view(
    units: _Units, kept: Kept, request: MapRequest, generation: int, moved: Positions | None
) -> MapView:
    """Gives what the window draws: the points of which something is there, each with its members."""
    at = np.searchsorted(units.ids, kept.ids)
    at[at == len(units)] = 0
    there = units.ids[at] == kept.ids if len(units) else np.zeros(len(kept.ids), np.bool_)
    members, rows = np.flatnonzero(there), at[there]
    order = np.lexsort((units.ids[rows], kept.points[members]))
    rows, points = rows[order], kept.points[members[order]]
    used, starts = np.unique(points, return_index=True)
    ends = np.append(starts, len(rows)).astype(np.int64)
    return MapView(
        request=request,
        positions=kept.positions[used],
        counts=np.diff(ends).astype(np.int32),
        contents=units.contents[rows],
        passages=units.passages[rows],
        starts=ends,
        fresh=kept.fresh[used],
        moved=None if moved is None else moved[used],
        quality=kept.quality,
        quality_sentence=kept.sentence,
        trustworthiness=kept.trustworthiness,
        kept=kept.overlap,
        seconds=kept.seconds,
        generation=generation,
    )


def _note(session: Session, view: MapView, units: _Units, kept: Kept, waiting: int) -> str:
    """Says in plain sentences what the picture does not."""
    one, many = ("document", "documents") if view.request.unit is MapUnit.DOCUMENTS else ("passage", "passages")
    said = []
    fresh = int(view.counts[view.fresh].sum())
    if not len(units):
        said.append("There is nothing to show yet." if waiting else "There is nothing to show yet: add a folder.")
    elif len(units) == 1:
        said.append(f"A map needs more than one {one}.")
    elif len(view) == 1:
        said.append(f"All {len(units):,} {many} say the same, so they lie on one spot.")
    elif len(view) < _FEWEST:
        said.append(f"So few {many} make no groups; they stand as far apart as they differ.")
    if fresh >= _MANY and fresh >= _MANY_SHARE * len(units):
        said.append(f"{fresh:,} {many} came since this map was drawn; Redraw to lay them out with the others.")
    if kept.fingerprint != session.fingerprint() and len(units):
        said.append("Another model is in use since this map was drawn; Redraw to see what it makes of it.")
    if waiting:
        said.append(
            "1 document waits for its vector and is not on the map yet."
            if waiting == 1
            else f"{waiting:,} documents wait for their vectors and are not on the map yet."
        )
    return " ".join(said)
