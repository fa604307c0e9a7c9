"""Themes of the library: finding them, keeping them up to date, changing them, and what is shown of them.

What is kept is a state (``app/themes``) in the library; heavy work is done in a child (``app/theme_desk``).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sbert_desktop.app import theme_bytes, theme_edits, theme_renewal
from sbert_desktop.app import theme_facts as facts
from sbert_desktop.app.atlas_views import (
    UNSORTED,
    ClusterRequest,
    ClustersView,
    DocumentRow,
    Grouping,
    SplitPart,
    SplitView,
    ThemeChange,
    ThemeDeed,
)
from sbert_desktop.app.theme_desk import CHANGED, Desk, Parting, Room, Terms, desk_of
from sbert_desktop.app.themes import UNNAMED, Keys, Themes, empty
from sbert_desktop.errors import LibraryError, UsageError
from sbert_desktop.explore.cluster_labels import Read, TermTable, ThemeLabel, name_themes, read_terms
from sbert_desktop.explore.communities import Clustering, Method, assign, confidences, sum_of_themes
from sbert_desktop.jobs import NullContext

if TYPE_CHECKING:
    from sbert_desktop.app.session import Session
    from sbert_desktop.domain import JobContext

__all__ = ["change_clusters", "document_rows", "grouping", "run_clusters", "run_split_preview", "theme_documents"]

COMPARING, FINDING, NAMING = "Comparing documents", "Finding clusters", "Naming clusters"
_READ = 700
"""Documents read to name all themes: 0.6 s of CPU for news the first time, a sixth of it again."""
_FEWEST, _MOST = 15, 200
_PASSAGES = 3
"""Passages read of each: with the first alone, labels say what reports begin with, not what they are about."""
_BATCH = 50
_FIND = "find"
_TURNS = 20
"""Times that a change is made anew because another process was faster; each of these has kept one of its own."""


def run_clusters(
    session: Session, context: JobContext, request: ClusterRequest | None = None, *, again: bool = False,
    contents: Sequence[int] = (),
) -> ClustersView:  # fmt: skip
    """Gives the themes; finds them where there are none, or where a request (or ``again``) says so.

    Args:
        session: The opened library.
        context: Hears the progress; a cancel is heard within a tenth of a second.
        request: How; None: as before.
        again: Find them anew though nothing is asked for.
        contents: Sort only these, and keep nothing of it.

    Raises:
        Cancelled: Through ``context``.
        SbertDesktopError: ``clusters-failed``.
    """
    return _in_turn(lambda: _run_clusters(session, context, request, again, contents))


def _in_turn(work: Callable[[], ClustersView]) -> ClustersView:
    """Does what ends with keeping themes; anew from the kept ones where another process has kept others meanwhile."""
    for _ in range(_TURNS - 1):
        try:
            return work()
        except LibraryError as error:
            if error.code != CHANGED:
                raise
    return work()


def _run_clusters(
    session: Session, context: JobContext, request: ClusterRequest | None, again: bool, contents: Sequence[int]
) -> ClustersView:
    began = time.monotonic()
    desk = desk_of(session)
    context.progress(COMPARING, 0, None)
    room = desk.room(session, context)
    if contents:
        return _scoped(session, desk, room, context, request, tuple(sorted(set(contents))), again, began)
    old, finding = desk.stored(session), False
    if old is not None and request is None and not again:
        themes = caught_up(session, desk, room, old, context)
    elif old is not None and len(old) and not np.any(room.at >= 0):
        themes = caught_up(session, desk, room, old, context)  # a model without vectors yet: nothing is found now
    else:
        wanted = request or (old.request if old is not None else ClusterRequest())
        themes = _found(session, desk, room, old, wanted, context)
        if old is not None and len(old):
            finding = True
    if themes is not old and (len(themes) or old is not None):
        desk.keep(session, themes, old, quietly=True)
    if finding and old is not None:
        desk.remember(_FIND, old)
    return _shown(session, desk, room, themes, began)


def caught_up(session: Session, desk: Desk, room: Room, old: Themes, context: JobContext) -> Themes:
    """Gives the kept themes without what is gone, and with what came; finds nothing anew where there are any."""
    themes, poorer = theme_renewal.prune(old, room.catalogue.keys)
    if not len(themes) and np.any(room.at >= 0):
        return _found(session, desk, room, None, old.request, context)
    new = np.flatnonzero((room.at >= 0) & ~np.isin(room.keys, themes.keys))
    if len(new) and themes.themes:
        nearest = _labels_of(room, themes)
        sums = sum_of_themes(room.vectors, _as_clustering(nearest, len(themes.themes)))
        if np.any(np.linalg.norm(sums, axis=1) > 0):
            nearest[new] = assign(room.vectors[new], sums)[0]
            confidence = confidences(room.graph.graph, nearest, room.background)
            themes = theme_renewal.extended(themes, room.keys[new], nearest[new], confidence[new])
    if poorer:
        themes = named(desk, room, themes, poorer, context)
    if themes is not old:
        themes = replace(themes, generation=room.catalogue.generation)
    return themes


def _found(
    session: Session, desk: Desk, room: Room, old: Themes | None, request: ClusterRequest, context: JobContext
) -> Themes:
    """Finds themes among all documents but those of pinned themes."""
    taking = room.at >= 0
    held = theme_renewal.pinned_keys(old) if old is not None else empty().keys
    rows = np.flatnonzero(taking & ~np.isin(room.keys, held))
    context.progress(FINDING, 0, None)
    everything = len(rows) == len(taking)
    part = "" if everything else _name_of(rows)
    found = desk.ask(
        session, room, context,
        lambda client, ask: client.find(request, None if everything else rows, part=part, ask=ask),
    )  # fmt: skip
    if old is not None:
        old = theme_renewal.prune(old, room.catalogue.keys)[0]
    themes = theme_renewal.renew(old, room.keys[rows], found, request=request, generation=room.catalogue.generation)
    changed = _changed(old, themes)
    return named(desk, room, themes, changed, context) if changed else themes


def _name_of(rows: NDArray[np.int64]) -> str:
    import hashlib

    return hashlib.sha256(rows.tobytes()).hexdigest()


def _changed(old: Themes | None, new: Themes) -> tuple[int, ...]:
    """Gives the themes that have other documents than before: only these are named again."""
    before: dict[int, bytes] = {}
    if old is not None:
        labels = old.labels()
        before = {theme.id: old.keys[labels == place].tobytes() for place, theme in enumerate(old.themes)}
    labels = new.labels()
    return tuple(
        theme.id for place, theme in enumerate(new.themes)
        if theme.label == UNNAMED or before.get(theme.id) != new.keys[labels == place].tobytes()
    )  # fmt: skip


def _as_clustering(labels: NDArray[np.int32], count: int) -> Clustering:
    return Clustering(
        Method.AUTO, labels, np.ones(len(labels), np.float32), np.zeros(len(labels), bool), count, 0.0
    )  # fmt: skip


def _labels_of(room: Room, themes: Themes, labels: NDArray[np.int32] | None = None) -> NDArray[np.int32]:
    """Gives the place of the theme of each row of a room, int32 [n], -1 for those in none."""
    given = themes.nearest if labels is None else labels
    rows = room.rows_of(themes.keys)
    result = np.full(len(room.at), -1, np.int32)
    result[rows[rows >= 0]] = given[rows >= 0]
    return result


# ---------------------------------------------------------------- names


def named(
    desk: Desk, room: Room, themes: Themes, ids: Sequence[int], context: JobContext
) -> Themes:  # fmt: skip
    """Gives these themes labels of their own; the others' documents are read too, for the contrast."""
    if not themes.themes:
        return themes
    labels = themes.labels()
    for place in range(len(themes.themes)):  # a theme of unsure documents alone is still called something
        if not np.any(labels == place):
            labels[themes.nearest == place] = place
    made = _read(desk, room, themes.keys, labels, len(themes.themes), context)
    found = {theme.id: label for theme, label in zip(themes.themes, made, strict=True) if theme.id in set(ids)}
    return theme_edits.distinct(theme_edits.relabelled(themes, found), set(ids))


def _read(
    desk: Desk, room: Room, keys: Keys, labels: NDArray[np.int32], count: int, context: JobContext
) -> list[ThemeLabel]:
    """Names themes by the words of their documents; of a theme those with the lowest hashes are read.

    So another number of themes reads mostly the same documents, whose terms are at hand.
    """
    at = room.catalogue.of_keys(keys)
    passages = facts.first_passages(room, _PASSAGES)
    most = max(_FEWEST, min(_MOST, _READ // max(1, count)))
    chosen = [np.flatnonzero((labels == theme) & (at >= 0))[:most].tolist() for theme in range(count)]
    total, done = sum(map(len, chosen)), 0
    table = TermTable(count)
    for theme, rows in enumerate(chosen):
        for start in range(0, len(rows), _BATCH):
            context.check()
            context.progress(NAMING, done, total)
            part = rows[start : start + _BATCH]
            wanted = {}
            for row in part:
                content = int(room.catalogue.contents[at[row]])
                wanted[content] = passages.get(content) or (int(room.catalogue.first[at[row]]),)
            for read in _terms_of(desk.terms, room, wanted):
                table.add(theme, read)
            done += len(part)
    typical = facts.central_documents(room, room.rows_of(keys), labels, count, 3)
    titles, names = [], []
    for theme in range(count):
        members = [int(at[row]) for row in typical[theme] if at[row] >= 0]
        places = [room.catalogue.places[place] for place in members]
        titles.append(places[0].title if places else "")
        names.append([(place.member or place.path.name).rpartition("/")[2] for place in places])
    return name_themes(table, titles, names)


def _terms_of(known: Terms, room: Room, wanted: Mapping[int, tuple[int, ...]]) -> Iterator[Read]:
    """Gives the terms of documents, by content with its passages to be read; those that are gone are left out."""
    missing = [ids for content, ids in wanted.items() if known.get(content, ids) is None]
    records = room.snapshot.fetch([id_ for ids in missing for id_ in ids]) if missing else {}
    for content, ids in wanted.items():
        read = known.get(content, ids)
        if read is None:
            found = [records[id_] for id_ in ids if id_ in records]
            if not found:
                continue
            read = read_terms("\n".join(record.text for record in found), found[0].language)
            known.put(content, ids, read)
        yield read


# ---------------------------------------------------------------- only some documents


def _scoped(
    session: Session, desk: Desk, room: Room, context: JobContext, request: ClusterRequest | None,
    contents: tuple[int, ...], again: bool, began: float,
) -> ClustersView:  # fmt: skip
    """Sorts only some documents; the ids are negative, so that none is taken for a kept theme."""
    known = desk.scoped
    if known is not None and known[0] == contents and request is None and not again:
        return _shown(session, desk, room, known[1], began, scope=contents)
    wanted = request or ClusterRequest()
    rows = np.flatnonzero((room.at >= 0) & np.isin(room.graph.documents.contents, contents))
    context.progress(FINDING, 0, None)
    part = f"scope:{_name_of(rows)}"
    found = desk.ask(session, room, context, lambda client, ask: client.find(wanted, rows, part=part, ask=ask))
    themes = theme_renewal.renew(None, room.keys[rows], found, request=wanted, generation=room.catalogue.generation)
    themes = replace(themes, themes=tuple(replace(one, id=-1 - one.id) for one in themes.themes))
    themes = named(desk, room, themes, [one.id for one in themes.themes], context)
    desk.scoped = contents, themes
    return _shown(session, desk, room, themes, began, scope=contents)


# ---------------------------------------------------------------- what is shown


def _shown(
    session: Session, desk: Desk, room: Room, themes: Themes, began: float, *, scope: tuple[int, ...] = ()
) -> ClustersView:
    view = facts.view_of(room, themes, scope=scope)
    if not scope:
        with desk.lock:
            undo = desk.undo[-1][0] if desk.undo else ""
            redo = desk.redo[-1][0] if desk.redo else ""
            view = replace(view, undo=undo, redo=redo)
            desk.shown = themes, room.key, view
    return replace(view, seconds=time.monotonic() - began)


def _themes_now(session: Session, desk: Desk, scope: Sequence[int] = ()) -> Themes:
    """Gives the themes that are shown.

    Raises:
        UsageError: ``no-themes``.
    """
    if scope:
        known = desk.scoped
        if known is not None and known[0] == tuple(sorted(set(scope))):
            return known[1]
        raise UsageError("no-themes", "These documents are not sorted now.", "Sort them again.")
    themes = desk.stored(session)
    if themes is None:
        raise UsageError("no-themes", "No clusters were found yet.", "Find them first.")
    return themes


def theme_documents(session: Session, theme: int, *, scope: Sequence[int] = ()) -> tuple[DocumentRow, ...]:
    """Lists the documents of a theme, the most typical first; of those in none, the surest first.

    Raises:
        UsageError: ``no-themes``, ``theme-gone``.
    """
    desk = desk_of(session)
    themes = _themes_now(session, desk, scope)
    labels = themes.labels()
    rows = np.flatnonzero(labels == (UNSORTED if theme == UNSORTED else themes.place(theme)))
    room = desk.room(session, NullContext())
    fit = facts.fits(room, themes)
    by = themes.confidence if theme == UNSORTED else fit
    rows = rows[np.lexsort((rows, -fit[rows], -by[rows]))]
    return facts.rows_of(room, themes, rows, fit, labels)


def document_rows(session: Session, contents: Sequence[int]) -> tuple[DocumentRow, ...]:
    """Gives what lists show of documents, in this order; those that are gone are left out."""
    desk = desk_of(session)
    room = desk.room(session, NullContext())
    themes = desk.stored(session) or empty()
    at = room.catalogue.of_contents(np.asarray(contents, np.int64))
    return facts.rows_at(room, themes, at[at >= 0])


def grouping(session: Session) -> Grouping | None:
    """Gives which theme each document has, from what is kept; None without themes. Finds and names nothing."""
    desk = desk_of(session)
    themes = desk.stored(session)
    if themes is None or not themes.themes:
        return None
    catalogue = desk.catalogue(session, session.snapshot())
    shown = desk.shown
    views = shown[2].themes if shown is not None and shown[0] is themes else facts.plain_views(themes)
    number = {view.id: place for place, view in enumerate(views)}
    stands = np.array([number.get(theme.id, -1) for theme in themes.themes], np.int32)
    labels = themes.labels()
    at = catalogue.of_keys(themes.keys)
    live = np.flatnonzero(at >= 0)
    contents = catalogue.contents[at[live]]
    order = np.argsort(contents)
    given = labels[live[order]]
    return Grouping(contents[order], np.where(given >= 0, stands[given], -1).astype(np.int32), views)


# ---------------------------------------------------------------- splitting


def run_split_preview(session: Session, theme: int, context: JobContext) -> SplitView:
    """Tells what splitting a theme would make.

    Raises:
        UsageError: ``no-themes``, ``theme-gone``.
        Cancelled: Through ``context``.
    """
    desk = desk_of(session)
    scope = desk.scoped[0] if theme < UNSORTED and desk.scoped is not None else ()
    themes = _themes_now(session, desk, scope)
    parting = _parting(session, desk, themes, theme, context)
    if len(parting.labels) < 2:
        return SplitView(theme, (), parting.note or "Its documents are too much alike to part them.")
    sizes = np.bincount(parting.parts, minlength=len(parting.labels))
    order = np.argsort(-sizes, kind="stable")
    parts = tuple(
        SplitPart(parting.labels[part].label, int(sizes[part]), tuple(k.text for k in parting.labels[part].keywords))
        for part in order.tolist()
    )
    return SplitView(theme, parts)


def _parting(session: Session, desk: Desk, themes: Themes, theme: int, context: JobContext) -> Parting:
    """Finds the parts of a theme; what was shown last is taken."""
    place = themes.place(theme)
    known = desk.split
    if known is not None and known.themes is themes and known.theme == theme:
        return known
    room = desk.room(session, context)
    rows = room.rows_of(themes.keys)
    members = np.flatnonzero((themes.labels() == place) & (rows >= 0))
    none = np.zeros(0, np.int32)
    if len(members) < 2:
        note = "It has only one document." if len(members) else "Its documents have no vectors yet."
        return Parting(themes, theme, themes.keys[members], none, (), note)
    context.progress(FINDING, 0, None)
    request = ClusterRequest(seed=themes.request.seed)
    found = desk.ask(session, room, context, lambda client, ask: client.split(rows[members], request, ask=ask))
    keys = themes.keys[members]
    if found.count < 2:
        return Parting(themes, theme, keys, found.nearest, (), "All its documents are the same.")
    labels = _read(desk, room, keys, found.nearest, found.count, context)
    made = desk.split = Parting(themes, theme, keys, found.nearest, tuple(labels))
    return made


# ---------------------------------------------------------------- changing


def change_clusters(session: Session, change: ThemeChange, context: JobContext) -> ClustersView:
    """Changes themes and keeps it.

    Raises:
        UsageError: ``no-themes``, ``theme-gone``, ``nothing-to-undo``.
        LibraryError: It cannot be kept.
    """
    return _in_turn(lambda: _change_clusters(session, change, context))


def _change_clusters(session: Session, change: ThemeChange, context: JobContext) -> ClustersView:
    began = time.monotonic()
    desk = desk_of(session)
    if any(theme < UNSORTED for theme in change.themes):
        raise UsageError(
            "only-looked-at", "Clusters of a selection are not kept, so they cannot be changed.",
            "Sort all documents to change clusters.",
        )  # fmt: skip
    old = _themes_now(session, desk)
    room = desk.room(session, context)
    if change.deed in (ThemeDeed.UNDO, ThemeDeed.REDO):
        themes = _back(session, desk, room, old, context, forth=change.deed is ThemeDeed.REDO)
        return _shown(session, desk, room, themes, began)
    themes = _edited(session, desk, room, old, change, context)
    if themes is not old and not theme_bytes.same(themes, old):
        desk.keep(session, themes, old)
        desk.remember(change.deed.value, old)
    else:
        themes = old
    return _shown(session, desk, room, themes, began)


def _back(session: Session, desk: Desk, room: Room, old: Themes, context: JobContext, *, forth: bool) -> Themes:
    """Gives the earlier (or later) state, kept, without documents that are gone since."""
    with desk.lock:
        source, other = (desk.redo, desk.undo) if forth else (desk.undo, desk.redo)
        if not source:
            raise UsageError("nothing-to-undo", "There is nothing to take back.", "Each step is kept until you leave.")
        word, state = source[-1]
    themes = caught_up(session, desk, room, state, context)
    desk.keep(session, themes, old)
    with desk.lock:
        source.pop()
        other.append((word, old))
    return themes


def _edited(session: Session, desk: Desk, room: Room, old: Themes, change: ThemeChange, context: JobContext) -> Themes:
    first = change.themes[0] if change.themes else UNSORTED
    match change.deed:
        case ThemeDeed.RENAME:
            return theme_edits.rename(old, first, change.name)
        case ThemeDeed.PIN | ThemeDeed.UNPIN:
            return theme_edits.pin(old, change.themes, pinned=change.deed is ThemeDeed.PIN)
        case ThemeDeed.STRICTNESS:
            return theme_edits.with_strictness(old, change.strictness)
        case ThemeDeed.ASSIGN:
            return theme_edits.assign(old, _chosen(room, old, change.contents) if change.contents else None)
        case ThemeDeed.MOVE:
            added = theme_renewal.extended(*_arrived(room, old, change.contents))
            return theme_edits.move(added, _chosen(room, added, change.contents), first)
        case ThemeDeed.MERGE:
            merged = theme_edits.merge(old, change.themes)
            if merged is old:
                return old
            return named(desk, room, _sure(room, merged, [first]), [first], context)
        case ThemeDeed.SPLIT:
            return _parted(room, old, _parting(session, desk, old, first, context))
    return old


def _chosen(room: Room, themes: Themes, contents: Sequence[int]) -> NDArray[np.int64]:
    at = room.catalogue.of_contents(np.asarray(contents, np.int64))
    return themes.rows(np.unique(room.catalogue.keys[at[at >= 0]]))


def _arrived(
    room: Room, themes: Themes, contents: Sequence[int]
) -> tuple[Themes, Keys, NDArray[np.int32], NDArray[np.float32]]:
    """Gives what :func:`theme_renewal.extended` needs to take in chosen documents that have no vector yet."""
    at = room.catalogue.of_contents(np.asarray(contents, np.int64))
    keys = np.unique(room.catalogue.keys[at[at >= 0]])
    return themes, keys, np.zeros(len(keys), np.int32), np.zeros(len(keys), np.float32)


def _sure(room: Room, themes: Themes, ids: Iterable[int]) -> Themes:
    """Works out anew how sure the documents of themes are that were joined or parted; no other's changes."""
    places = [themes.place(id_) for id_ in ids]
    confidence = confidences(room.graph.graph, _labels_of(room, themes), room.background)
    rows = room.rows_of(themes.keys)
    chosen = np.flatnonzero(np.isin(themes.nearest, places) & (rows >= 0))
    return theme_edits.with_confidence(themes, chosen, confidence[rows[chosen]])


def _parted(room: Room, old: Themes, parting: Parting) -> Themes:
    if len(parting.labels) < 2:
        raise UsageError(
            "theme-is-one", parting.note or "Its documents are too much alike to part them.", "Choose another cluster."
        )
    split = theme_edits.split(old, parting.theme, old.rows(parting.keys), parting.parts)
    numbers = {int(place): int(part) for place, part in _parts_of(split, parting)}
    found = {split.themes[place].id: parting.labels[part] for place, part in numbers.items()}
    split = theme_edits.distinct(theme_edits.relabelled(split, found), set(found))
    return _sure(room, split, found)


def _parts_of(split: Themes, parting: Parting) -> Iterator[tuple[int, int]]:
    """Gives which theme each part has become."""
    places = split.nearest[split.rows(parting.keys)]
    for part in range(len(parting.labels)):
        inside = places[parting.parts == part]
        if len(inside):
            yield int(inside[0]), part
