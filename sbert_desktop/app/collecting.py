"""Collections of passages, and searches kept by name with what is new for them."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from sbert_desktop.app import exporting
from sbert_desktop.app.searching import parse_query
from sbert_desktop.app.session import Session
from sbert_desktop.app.views import CollectionItem, CollectionView, HitView, SavedSearchView
from sbert_desktop.domain import ContentId, Filters, Mask, Mode, Query, Snapshot
from sbert_desktop.errors import EncoderError, LibraryError, UsageError
from sbert_desktop.explore.chance import standing_out

if TYPE_CHECKING:
    from sbert_desktop.domain import PassageRecord
    from sbert_desktop.library import ItemRecord, KeptPassage, SavedRecord

_FRESH_WORDS = 1_000
"""Passages found by words that are counted at most where no line of chance is known."""


# ---------------------------------------------------------------- collections


def collections(session: Session) -> tuple[CollectionView, ...]:
    """Lists collections by name."""
    return tuple(
        CollectionView(record.name, record.note, tuple(_item(item) for item in record.items))
        for record in session.library.collections()
    )


def _item(item: ItemRecord) -> CollectionItem:
    return CollectionItem(
        id=item.id,
        path=item.path,
        member=item.member,
        title=item.title,
        text=item.text,
        page=item.page,
        note=item.note,
        added=item.added,
        passage_id=item.passage_id,
        content_id=item.content_id,
    )


def collect(session: Session, name: str, hits: Sequence[HitView], *, note: str = "") -> None:
    """Puts passages into a collection, made when new. ``note`` is put to each of them.

    Raises:
        LibraryError: ``content-gone`` when none of the documents is there any more; ``name-missing``.
    """
    from sbert_desktop.library import KeptPassage

    library = session.library
    records = session.snapshot().fetch([hit.passage_id for hit in hits])
    items = []
    for hit in hits:
        sha256 = library.sha256_of(ContentId(hit.content_id))
        if sha256:
            title = records[hit.passage_id].title if hit.passage_id in records else ""
            items.append(KeptPassage(sha256, hit.start, hit.end, hit.text, hit.path, hit.member, title, hit.page, note))
    if hits and not items:
        raise LibraryError("content-gone", "These documents are no longer in the library.", "Search again.")
    library.collect(name, items)


def collect_documents(session: Session, name: str, contents: Sequence[int], *, note: str = "") -> None:
    """Puts whole documents into a collection, made when new; ``note`` is put to each of them.

    Each stands in it by its first passage, so that there is something to read and to export; one without a passage
    by its name alone.

    Args:
        session: The opened library.
        name: Of the collection.
        contents: Content ids; those that are gone are left out.
        note: What is put to each of them.

    Raises:
        LibraryError: ``content-gone`` when none of the documents is there any more; ``name-missing``.
    """
    wanted = list(dict.fromkeys(int(content) for content in contents))
    first = _first_passages(session.snapshot(), wanted)
    hashes = session.library.sha256s(wanted)
    there = [content for content in wanted if content in hashes]
    made = [_whole(session, content, hashes[content], first.get(content), note) for content in there]
    items = [item for item in made if item is not None]
    if wanted and not items:
        raise LibraryError("content-gone", "These documents are no longer in the library.", "Choose others.")
    session.library.collect(name, items)


def _first_passages(snapshot: Snapshot, contents: Sequence[int]) -> dict[int, PassageRecord]:
    """Gives the first passage of each document that has one, by its content."""
    mask: Mask = np.zeros(len(snapshot.dates()), np.bool_)
    mask[[content for content in contents if 0 <= content < len(mask)]] = True
    passages, _ = snapshot.newest(mask, len(contents))
    return {record.content_id: record for record in snapshot.fetch(passages.tolist()).values()}


def _whole(
    session: Session, content: int, sha256: str, passage: PassageRecord | None, note: str
) -> KeptPassage | None:
    """Gives a document as a collection keeps it; None when it lies in no folder of the library any more."""
    from sbert_desktop.library import KeptPassage

    places = passage.paths if passage is not None else session.library.paths_of(ContentId(content))
    if not places:
        return None
    path, member = places[0].path, places[0].member
    if passage is None:
        return KeptPassage(sha256, 0, 0, "", path, member, "", None, note)
    return KeptPassage(
        sha256, passage.start, passage.end, passage.text, path, member, passage.title, passage.location.page, note
    )


def export_collection(session: Session, name: str, target: Path, *, form: str = "", replace: bool = True) -> Path:
    """Writes a collection as the end of the target's name, or ``form``, says.

    Raises:
        LibraryError: ``collection-unknown``.
        SbertDesktopError: As :func:`sbert_desktop.app.exporting.write`.
    """
    return exporting.export_collection(collection(session, name), target, form=form, replace=replace)


def collection(session: Session, name: str) -> CollectionView:
    """Gives one collection.

    Raises:
        LibraryError: ``collection-unknown``.
    """
    listed = collections(session)
    found = next((view for view in listed if view.name == name), None)
    if found is None:
        known = ", ".join(view.name for view in listed) or "none"
        raise LibraryError("collection-unknown", f"There is no collection “{name}”.", f"There are: {known}.")
    return found


# ---------------------------------------------------------------- saved searches


def save_search(session: Session, name: str, query: Query) -> None:
    """Keeps a search under a name; what is in the library now is not fresh for it.

    Raises:
        UsageError: ``empty-query``; ``selection-not-kept`` when it searches only in documents chosen by hand.
        LibraryError: ``name-missing``.
    """
    if not query.text.strip() and not query.filters:
        raise UsageError("empty-query", "The query is empty.", "Search for something first.")
    session.library.save_search(name, pack_query(query))  # what waits for vectors is noted with it


def pack_query(query: Query) -> str:
    """Gives what brings a search back, as JSON: what was typed, the mode, the weights and the filters.

    Raises:
        UsageError: ``selection-not-kept``: documents chosen by hand change their ids whenever they are read anew.
    """
    chosen = _selection(query.filters)
    if chosen is not None:
        what = f"“{chosen.contents_label}”" if chosen.contents_label else "a selection of documents"
        raise UsageError(
            "selection-not-kept", f"A saved search cannot hold {what}.",
            "Save these as a collection first, then search in it.",
        )  # fmt: skip
    return json.dumps(
        {
            "text": query.text,
            "mode": query.mode.value,
            "words_weight": query.words_weight,
            "recency": query.recency,
            "filters": _pack_filters(query.filters),
        },
        ensure_ascii=True,
    )


def unpack_query(data: str) -> Query:
    """Gives the search that :func:`pack_query` packed; what a newer version added to it is left out."""
    try:
        packed = json.loads(data)
        mode = packed.get("mode", "")
        return Query(
            text=str(packed.get("text", "")),
            mode=Mode(mode) if mode in set(Mode) else Mode.HYBRID,
            words_weight=float(packed.get("words_weight", Query("").words_weight)),
            recency=float(packed.get("recency", 0.0)),
            filters=_unpack_filters(packed.get("filters", {})),
        )
    except (ValueError, TypeError, AttributeError):
        return Query("")


def _selection(filters: Filters) -> Filters | None:
    """Gives the filters, of these and those that are left out, that name documents one by one."""
    if filters.contents:
        return filters
    return next((found for other in filters.without if (found := _selection(other)) is not None), None)


def _pack_filters(filters: Filters) -> dict[str, object]:
    packed: dict[str, object] = {}
    for field in fields(filters):
        value = getattr(filters, field.name)
        if value is None or value == () or field.name == "contents_label":
            continue
        if field.name == "without":
            packed[field.name] = [_pack_filters(other) for other in value]
        else:
            packed[field.name] = str(value) if isinstance(value, Path) else value
    return packed


def _unpack_filters(packed: object) -> Filters:
    known = {field.name for field in fields(Filters)} - {"contents", "contents_label"}
    values: dict[str, object] = {}
    for name, value in cast(dict[str, object], packed if isinstance(packed, dict) else {}).items():
        if name == "folder":
            values[name] = Path(str(value))
        elif name == "without" and isinstance(value, list):
            values[name] = tuple(_unpack_filters(other) for other in value)
        elif name in known:
            values[name] = tuple(value) if isinstance(value, list) else value
    return replace(Filters(), **values)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class _Counted:
    key: tuple[object, ...]
    fresh: int


class SavedSearches:
    """The saved searches of a session; remembers what it counted until the library changes. Any thread."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._counted: dict[str, _Counted] = {}
        self._vectors: dict[tuple[str, str], NDArray[np.float32]] = {}
        self._names: dict[tuple[str, Filters], str] = {}
        self._lock = threading.Lock()

    def list(self) -> tuple[SavedSearchView, ...]:
        """Lists them, newest first, with how many passages were indexed since that match."""
        records = self._session.library.saved_searches()
        snapshot = self._session.snapshot() if records else None
        views, names = [], {}
        for record in records:
            query = unpack_query(record.query)
            names[(query.text, query.filters)] = record.name
            fresh = self._fresh(snapshot, record, query) if snapshot is not None else 0
            views.append(SavedSearchView(record.name, query.text, query.mode, record.saved, fresh))
        with self._lock:
            self._names = names
        return tuple(views)

    def has_fresh(self, query: Query) -> bool:
        """Says whether a query is a saved one for which something was fresh when they were listed; never waits."""
        with self._lock:
            counted = self._counted.get(self._names.get((query.text, query.filters), ""))
            return counted is not None and counted.fresh > 0

    def looked_at(self, query: Query, snapshot: Snapshot) -> tuple[SavedSearchView, ...]:
        """Notes that the person sees what a saved search finds in a snapshot; gives the new list.

        What has no vectors in it is not seen yet by its meaning, and is fresh when it has.
        """
        with self._lock:
            name = self._names.get((query.text, query.filters))
        if name is not None and not self._session.library.read_only:
            live = np.isfinite(snapshot.dates())
            waiting = _ranges(np.flatnonzero(live & ~_with_vectors(snapshot, len(live))))
            self._session.library.mark_seen(name, len(live) - 1, waiting=waiting)
        return self.list()

    def _fresh(self, snapshot: Snapshot, record: SavedRecord, query: Query) -> int:
        encoder = self._session.ready_encoder()
        model = encoder.info.fingerprint if encoder is not None else ""
        key = (record.query, record.seen, record.waiting, snapshot.generation, model)
        with self._lock:
            counted = self._counted.get(record.name)
        if counted is None or counted.key != key:
            counted = _Counted(key, self._count(snapshot, record, query))
            with self._lock:
                self._counted[record.name] = counted
        return counted.fresh

    def _count(self, snapshot: Snapshot, record: SavedRecord, query: Query) -> int:
        """Counts passages of newer contents that stand out, or hold the words where that is not known.

        What waited for vectors counts by its meaning only: by its words it was found before.
        """
        query = replace(query, parsed=parse_query(self._session, query.text))
        mask, late = _newer(snapshot, record, query)
        if not (mask.any() or late.any()):
            return 0
        vector = self._vector(query) if query.mode is not Mode.KEYWORD and query.words.strip() else None
        level = (
            standing_out(snapshot, vector, among=int(np.count_nonzero(snapshot.alive))) if vector is not None else None
        )
        if vector is None or level is None:
            if not query.words.strip():
                return int(np.count_nonzero(mask))
            return len(snapshot.keyword(query.words, mask, _FRESH_WORDS)[0])
        mask = mask | late
        known = snapshot.contents < len(mask)
        rows = np.flatnonzero(snapshot.alive & known & mask[np.where(known, snapshot.contents, 0)])
        return int(np.count_nonzero(np.asarray(snapshot.vectors[rows]) @ vector >= level)) if len(rows) else 0

    def _vector(self, query: Query) -> NDArray[np.float32] | None:
        encoder = self._session.ready_encoder()
        if encoder is None:
            return None
        key = (encoder.info.fingerprint, query.words)
        vector = self._vectors.get(key)
        if vector is None:
            try:
                vector = self._vectors[key] = encoder.encode_query(query.words)
            except EncoderError:
                return None  # another model was chosen at this moment; counted again with it
        return vector


def _with_vectors(snapshot: Snapshot, size: int) -> Mask:
    """Gives bool [size], True where a content has live rows."""
    has: Mask = np.zeros(size, np.bool_)
    contents = snapshot.contents[snapshot.alive]
    has[contents[(contents >= 0) & (contents < size)]] = True
    return has


def _ranges(contents: NDArray[np.intp]) -> tuple[tuple[int, int], ...]:
    """Gives (first, last) of each run of rising numbers without a gap."""
    if not len(contents):
        return ()
    cuts = np.flatnonzero(np.diff(contents) != 1)
    firsts, lasts = contents[np.r_[0, cuts + 1]], contents[np.r_[cuts, len(contents) - 1]]
    return tuple(zip(firsts.tolist(), lasts.tolist(), strict=True))


def _newer(snapshot: Snapshot, record: SavedRecord, query: Query) -> tuple[Mask, Mask]:
    """Gives contents that pass the filters, phrases and exclusions of a query, twice bool [n].

    Those that came since a saved search was looked at, and those that had no vectors then.
    """
    parsed = query.parsed
    masks = [snapshot.select(query.filters)]
    if parsed is not None:
        masks.append(snapshot.select(parsed.filters))
        held = snapshot.holding(parsed.phrases, parsed.excluded_words, parsed.excluded_phrases, None)
        masks.append(held.mask if held is not None else None)
    live = np.isfinite(snapshot.dates())
    for mask in masks:
        if mask is not None:
            size = min(len(mask), len(live))
            live[:size] &= mask[:size]
            live[size:] = False
    newer, late = live.copy(), np.zeros_like(live)
    newer[: record.seen + 1] = False
    for first, last in record.waiting:
        late[first : last + 1] = live[first : last + 1]
    late[record.seen + 1 :] = False
    return newer, late
