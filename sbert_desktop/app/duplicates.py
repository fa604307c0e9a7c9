"""Finds duplicates: what is there is compared once; groups are cut from it at every question (``app/cutting``)."""

from __future__ import annotations

import bisect
import hashlib
import itertools
import os
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from sbert_desktop.app.copies import Gathered, gather, is_signed, may_be_signed, strangers
from sbert_desktop.app.cutting import cut
from sbert_desktop.app.duplicate_views import DuplicatesView
from sbert_desktop.app.found import Folders, Found, count_copies
from sbert_desktop.app.session import Session
from sbert_desktop.cleanup import (
    FLOOR,
    Copy,
    DuplicateQuery,
)
from sbert_desktop.domain import ContentId, JobContext, Snapshot
from sbert_desktop.errors import LibraryError
from sbert_desktop.explore.candidates import by_passages, document_cosine
from sbert_desktop.explore.comparable import FINGERPRINT_VERSION, Comparable, Fingerprint
from sbert_desktop.explore.grouping import Kinship
from sbert_desktop.explore.kinship import find_relations
from sbert_desktop.explore.near_pairs import NearPairs, near_pairs
from sbert_desktop.explore.twin_folders import equal_folders
from sbert_desktop.jobs import NullContext

_VERSION = 1
"""Raised when relations are found otherwise: those on the shelf are then found again."""
_PICTURE = "picture"
"""Format of pictures: two that hold the same words need not show the same, so only their bytes are compared."""
_BATCH = 200  # fingerprints between two writes

_SEPARATOR = os.fsencode(os.sep)

Rows = dict[int, NDArray[np.int64]]
_FOUND: WeakKeyDictionary[Session, Found] = WeakKeyDictionary()


def run_duplicates(
    session: Session, query: DuplicateQuery, context: JobContext, *, again: bool = False
) -> DuplicatesView:
    """Gives the groups for a query; what was found before is taken unless ``again``."""
    began = time.monotonic()
    found = find(session, context, again=again)
    return replace(cut(session, found, query), seconds=time.monotonic() - began)


def find(session: Session, context: JobContext, *, again: bool = False) -> Found:
    """Compares everything that is there; takes what was found before where nothing changed.

    Args:
        session: The opened library.
        context: Told how far it is; asked for a cancel all the time.
        again: Look at the disk and the library anew.
    """
    old = _FOUND.get(session)
    if old is not None and not again and not old.stale:
        return old
    space, snapshot = session.space_and_snapshot()
    gathered = gather(session, context)  # takes its time: another model may be in use after it
    key = _key(space, snapshot, gathered)
    if old is not None and old.key == key:
        kinship, pairs = old.kinship, old.pairs
    else:
        known = old if old is not None and old.space == space else None  # pairs of another model's vectors are none
        kinship, pairs = _relations(session, snapshot, gathered, key, known, context)
    signed = _signed(session, gathered, kinship, context)
    gathered = replace(gathered, copies=tuple(replace(c, signed=c.unit in signed) for c in gathered.copies))
    context.progress("Comparing folders", 0, None)
    found = Found(
        gathered,
        kinship,
        pairs,
        signed,
        _folders(gathered, context),
        key,
        snapshot.generation,
        max(0, snapshot.passages - int(np.count_nonzero(snapshot.alive))),
        space=space,
    )
    _FOUND[session] = found
    return found


def kept_found(session: Session) -> Found | None:
    """Gives what was found in this session, None where nobody looked yet; compares nothing."""
    return _FOUND.get(session)


def forget_moved(session: Session, paths: Iterable[Path]) -> None:
    """Takes files that went to the trash, and what was in them, out of what was found."""
    old = _FOUND.get(session)
    if old is None:
        return
    gone = set(paths)
    copies = tuple(copy for copy in old.gathered.copies if copy.path not in gone)
    names = tuple((path, sha256) for path, sha256 in old.gathered.names if path not in gone)
    gathered = replace(old.gathered, copies=copies, names=names, unread=sum(not copy.content for copy in copies))
    _FOUND[session] = replace(old, gathered=gathered, folders=_folders(gathered, NullContext()), made={})


def look_anew(session: Session) -> None:
    """Has the next question look at the disk: files came back."""
    old = _FOUND.get(session)
    if old is not None:
        _FOUND[session] = replace(old, stale=True)


def _key(space: str, snapshot: Snapshot, gathered: Gathered) -> str:
    """Names the state that relations were found in: the same bytes and the same vectors."""
    digest = hashlib.sha256(f"{_VERSION}:{FINGERPRINT_VERSION}:{space}".encode())
    digest.update("".join(gathered.shas).encode())
    digest.update(np.ascontiguousarray(snapshot.passage_ids[snapshot.alive]).tobytes())
    return digest.hexdigest()


def _relations(
    session: Session,
    snapshot: Snapshot,
    gathered: Gathered,
    key: str,
    old: Found | None,
    context: JobContext,
) -> tuple[Kinship, NearPairs | None]:
    """Finds what holds between the units, or takes it from the shelf."""
    shelf = session.library.shelf
    name = f"kinship:{key}"
    stored = shelf.get([name]).get(name)
    if stored is not None:
        try:
            return Kinship.unpack(stored), None
        except (ValueError, KeyError, EOFError):
            pass
    contents = _contents(gathered.copies)
    prints = _fingerprints(session, gathered, contents, context)
    pairs = _pairs(snapshot, old, context)
    owners = _owners(snapshot, contents)
    near = by_passages(pairs.a, pairs.b, pairs.cosine, owners, snapshot.lengths, twins=pairs.same.astype(np.int64))
    rows = _rows_of(owners, {unit for both in (near.a, near.b) for unit in both.tolist()})

    def load(unit: int) -> Comparable | None:
        return _load(session, contents.get(unit, 0))

    def cosine(a: int, b: int) -> float:
        one, other = rows[a], rows[b]
        lengths = snapshot.lengths
        return document_cosine(snapshot.vectors[one], lengths[one], snapshot.vectors[other], lengths[other])

    def step(done: int, total: int) -> None:
        context.check()  # two long texts take seconds: a cancel waits for no more than one pair
        if done % 16 == 0 or done == total:
            context.progress("Comparing texts", done, total)

    formats = [""] * len(gathered.shas)
    for copy in gathered.copies:
        formats[copy.unit] = copy.format or copy.path.suffix.lower().lstrip(".")
    kinship = find_relations(prints, formats, load, near, cosine=cosine, on_step=step)
    shelf.put({name: kinship.pack()})
    shelf.keep_only("kinship:", [name])
    return kinship, pairs


def _contents(copies: Sequence[Copy]) -> dict[int, int]:
    """Gives the content of each unit that has one."""
    return {copy.unit: copy.content for copy in copies if copy.content}


def _fingerprints(
    session: Session, gathered: Gathered, contents: Mapping[int, int], context: JobContext
) -> list[Fingerprint | None]:
    """Gives the words of each unit in short; those seen before come from the shelf."""
    shelf = session.library.shelf
    pictures = {copy.unit for copy in gathered.copies if copy.format == _PICTURE}
    contents = {unit: content for unit, content in contents.items() if unit not in pictures}
    names = {unit: f"words:{FINGERPRINT_VERSION}:{gathered.shas[unit]}" for unit in contents}
    stored = shelf.get(names.values())
    prints: list[Fingerprint | None] = [None] * len(gathered.shas)
    fresh: dict[str, bytes] = {}
    for done, (unit, content) in enumerate(contents.items()):
        known = stored.get(names[unit])
        if known is not None:
            prints[unit] = Fingerprint.unpack(known)
            continue
        context.check()
        context.progress("Reading texts", done, len(contents))
        text = _load(session, content)
        if text is None:
            continue
        made = text.fingerprint()
        prints[unit] = made
        fresh[names[unit]] = made.pack()
        if len(fresh) >= _BATCH:
            shelf.put(fresh)
            fresh = {}
    shelf.put(fresh)
    shelf.keep_only("words:", names.values())
    return prints


def _load(session: Session, content: int) -> Comparable | None:
    if not content:
        return None
    try:
        text = session.library.text_of(ContentId(content))
    except LibraryError:
        return None  # gone meanwhile
    return Comparable(text.text, text.blocks, format=text.format)


def passage_pairs(session: Session, context: JobContext) -> tuple[Snapshot, NearPairs]:
    """Gives all near pairs of passages, and the state whose rows they name; those found before are taken over."""
    space, snapshot = session.space_and_snapshot()
    old = _FOUND.get(session)
    return snapshot, _pairs(snapshot, old if old is not None and old.space == space else None, context)


def _pairs(snapshot: Snapshot, old: Found | None, context: JobContext) -> NearPairs:
    context.progress("Comparing passages", 0, None)
    known = old.pairs if old is not None and old.pairs is not None else None
    if known is not None and known.rows > len(snapshot.vectors):
        known = None
    return near_pairs(snapshot.vectors, snapshot.alive, floor=FLOOR, context=context, known=known)


def _owners(snapshot: Snapshot, contents: Mapping[int, int]) -> NDArray[np.int64]:
    """Gives the unit of each row, int64 [rows], -1 for rows that take no part."""
    most = max([0, *contents.values()])
    if len(snapshot.contents):
        most = max(most, int(snapshot.contents.max()))
    table = np.full(most + 1, -1, np.int64)
    for unit, content in contents.items():
        table[content] = unit
    return np.where(snapshot.alive, table[np.clip(snapshot.contents, 0, most)], -1)


def _rows_of(owners: NDArray[np.int64], wanted: set[int]) -> Rows:
    order = np.argsort(owners, kind="stable")
    units, first = np.unique(owners[order], return_index=True)
    parts = np.split(order, first[1:]) if len(first) else []
    return {int(unit): part for unit, part in zip(units, parts, strict=True) if int(unit) in wanted}


def _signed(session: Session, gathered: Gathered, kinship: Kinship, context: JobContext) -> frozenset[int]:
    """Gives the units that may ever be in a group, whatever is asked, and carry a signature."""
    involved = (count_copies(gathered.copies, len(gathered.shas)) > 1) | kinship.related_units()
    places = {c.unit: c for c in gathered.copies if involved[c.unit] and not c.member and may_be_signed(c)}
    shelf = session.library.shelf
    names = {unit: f"signed:{gathered.shas[unit]}" for unit in places}
    known = shelf.get(names.values())
    signed, fresh = set(), {}
    for done, (unit, copy) in enumerate(places.items()):
        told = known.get(names[unit])
        if told is None:
            context.check()
            context.progress("Looking for signatures", done, len(places))
            found = is_signed(copy.path, copy.format, context.check)
            if found is None:
                continue  # it cannot be read: it cannot go either
            told = fresh[names[unit]] = b"1" if found else b"0"
        if told == b"1":
            signed.add(unit)
    shelf.put(fresh)
    shelf.keep_only("signed:", names.values())
    return frozenset(signed)


def _folders(gathered: Gathered, context: JobContext) -> tuple[Folders, ...]:
    """Gives equal folders with their files; one that holds something that the library does not know equals none."""
    known = {path for path, _ in gathered.names}
    more: list[tuple[Path, str]] = []
    seen: set[Path] = set()
    while True:
        alike = equal_folders([*gathered.names, *more])
        before = len(more)
        for folder in itertools.chain.from_iterable(alike):
            context.check()
            if folder not in seen:
                seen.add(folder)
                more += [(path, "") for path in strangers(folder, known)]
        if len(more) == before:
            break
    files = sorted((copy for copy in gathered.copies if not copy.member), key=lambda copy: os.fsencode(copy.path))
    places = [os.fsencode(copy.path) for copy in files]
    found = []
    for folders in alike:
        inside = []
        for folder in folders:
            start = os.fsencode(folder).rstrip(_SEPARATOR) + _SEPARATOR
            first = bisect.bisect_left(places, start)
            last = bisect.bisect_left(places, start[:-1] + bytes([start[-1] + 1]))
            inside.append((folder, tuple(files[first:last])))
        # The same files by other names: nothing to win.
        found.append(tuple((folder, held) for folder, held in inside if held and not any(c.linked for c in held)))
    return tuple(folders for folders in found if len(folders) > 1)
