"""Finds duplicates: what is there is compared once (:func:`find`), groups are cut from it at every question."""

from __future__ import annotations

import bisect
import hashlib
import itertools
import os
import time
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from sbert_desktop.app import deciding
from sbert_desktop.app.copies import Gathered, gather, is_signed, may_be_signed, names_of, strangers
from sbert_desktop.app.duplicate_views import DuplicatesView, GroupView, MemberView
from sbert_desktop.app.session import Session
from sbert_desktop.cleanup import (
    FLOOR,
    NEVER_TICKED,
    Assistant,
    Copy,
    DuplicateKind,
    DuplicateQuery,
    Relation,
    is_below,
    with_links,
)
from sbert_desktop.domain import ContentId, Filters, JobContext, Mask, Snapshot, display_path
from sbert_desktop.errors import LibraryError
from sbert_desktop.explore.candidates import by_passages, document_cosine
from sbert_desktop.explore.choosing import Choice, choose
from sbert_desktop.explore.comparable import FINGERPRINT_VERSION, Comparable, Fingerprint
from sbert_desktop.explore.families import FamilyMember, read_family
from sbert_desktop.explore.grouping import Group, Kinship, group_key
from sbert_desktop.explore.kinship import find_relations
from sbert_desktop.explore.near_pairs import NearPairs, near_pairs
from sbert_desktop.explore.twin_folders import equal_folders
from sbert_desktop.jobs import NullContext

_VERSION = 1
"""Raised when relations are found otherwise: those on the shelf are then found again."""
_PICTURE = "picture"
"""Format of pictures: two that hold the same words need not show the same, so only their bytes are compared."""
_MADE = 30_000
"""Groups that are kept made, some 100 MB at most."""
_BATCH = 200  # fingerprints between two writes
_FAMILY = frozenset({DuplicateKind.TEXT, DuplicateKind.FORMAT, DuplicateKind.NEAR, DuplicateKind.CONTAINED})

_SEPARATOR = os.fsencode(os.sep)

Rows = dict[int, NDArray[np.int64]]
Folders = tuple[tuple[Path, tuple[Copy, ...]], ...]


@dataclass(frozen=True, slots=True)
class Found:
    """Everything that was compared, ready to be cut.

    ``signed``: units with a signature. ``pairs``: of passages. ``folders``: equal ones with their files. ``stale``:
    files came back since, the disk is to be looked at again. ``made``: groups that were made before, by their copies
    (which live as long as this does); a moved slider changes few.
    """

    gathered: Gathered
    kinship: Kinship
    pairs: NearPairs | None
    signed: frozenset[int]
    folders: tuple[Folders, ...]
    key: str
    generation: int
    waiting: int
    stale: bool = False
    made: dict[Assistant, dict[tuple[object, ...], GroupView]] = field(default_factory=dict, compare=False)


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
    snapshot = session.snapshot()
    gathered = gather(session, context)
    key = _key(session, snapshot, gathered)
    if old is not None and old.key == key:
        kinship, pairs = old.kinship, old.pairs
    else:
        kinship, pairs = _relations(session, snapshot, gathered, key, old, context)
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
    )
    _FOUND[session] = found
    return found


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


def last_found(session: Session) -> Found | None:
    """Gives what was found last, if anything was."""
    return _FOUND.get(session)


def _key(session: Session, snapshot: Snapshot, gathered: Gathered) -> str:
    """Names the state that relations were found in: the same bytes and the same vectors."""
    digest = hashlib.sha256(f"{_VERSION}:{FINGERPRINT_VERSION}:{session.fingerprint()}".encode())
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
    pairs = _pairs(session, snapshot, old, context)
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


def passage_pairs(session: Session, context: JobContext) -> NearPairs:
    """Gives all near pairs of passages; those found before are taken over."""
    return _pairs(session, session.snapshot(), _FOUND.get(session), context)


def _pairs(session: Session, snapshot: Snapshot, old: Found | None, context: JobContext) -> NearPairs:
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
    involved = (_counts(gathered.copies, len(gathered.shas)) > 1) | kinship.related_units()
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


def _counts(copies: Iterable[Copy], units: int) -> NDArray[np.int64]:
    """Counts the copies of each unit; further hard links are no copies."""
    counts = np.zeros(units, np.int64)
    for copy in copies:
        if not copy.linked:
            counts[copy.unit] += 1
    return counts


# ---------------------------------------------------------------- cutting


def cut(session: Session, found: Found, query: DuplicateQuery) -> DuplicatesView:
    """Cuts the groups for a query: quick, nothing is read but the person's judgements."""
    asked = query
    query, missing = _by_its_names(found, asked)
    copies = _chosen(session, found, query)
    apart = deciding.apart(session)
    folders, inside = _folder_groups(found, query, apart)
    rest = [copy for copy in copies if copy.path not in inside] if inside else copies
    numbers = {sha256: number for number, sha256 in enumerate(found.gathered.shas)}
    excluded = {(numbers[a], numbers[b]) for a, b in apart if a in numbers and b in numbers}
    singles = {a for a, b in excluded if a == b}
    counts = _counts(rest, len(found.gathered.shas))
    for unit in singles:
        counts[unit] = min(1, counts[unit])
    wanted = found.kinship.group(
        counts,
        kinds=query.kinds,
        near=max(FLOOR, query.near),
        related=max(FLOOR, query.related),
        excluded={pair for pair in excluded if pair[0] != pair[1]},
    )
    by_unit: dict[int, list[Copy]] = defaultdict(list)
    for copy in rest:
        if copy.unit not in singles or not by_unit[copy.unit]:
            by_unit[copy.unit].append(copy)
    groups = _group_views(found, wanted, by_unit, query)
    groups += folders
    groups.sort(key=lambda group: (-group.bytes_to_win, group.title.casefold(), group.key))
    ticked = [member for group in groups for member in group.members if member.ticked]
    return DuplicatesView(
        query=asked,
        groups=tuple(groups),
        bytes_to_win=sum(group.bytes_to_win for group in groups),
        ticked=sum(len(member.files) or 1 for member in ticked),
        bytes_ticked=sum(member.copy.size for member in ticked),
        files=len(copies),
        unread=sum(not copy.content for copy in copies),
        left=_left(groups),
        notes=(*missing, *_notes(session, found)),
        generation=found.generation,
    )


def _by_its_names(found: Found, query: DuplicateQuery) -> tuple[DuplicateQuery, list[str]]:
    """Gives folders of the rules all the names that files have them by, and says which protected ones are not there.

    A protected folder is protected however it is named: through a link, in other letters where these do not count.
    """
    assistant = query.assistant
    homes = found.gathered.homes
    missing = [
        f"The protected folder {display_path(folder)} is not there."
        for folder in assistant.protected
        if not folder.exists()
    ]

    def all_names(folders: Iterable[Path]) -> tuple[Path, ...]:
        return tuple(dict.fromkeys(name for folder in folders for name in names_of(homes, folder)))

    rules = tuple(
        rule if rule.folder is None else replace(rule, folder=names_of(homes, rule.folder)[-1])
        for rule in assistant.rules
    )
    assistant = replace(
        assistant, rules=rules, protected=all_names(assistant.protected), only_in=all_names(assistant.only_in)
    )
    return replace(query, assistant=assistant), missing


def _chosen(session: Session, found: Found, query: DuplicateQuery) -> list[Copy]:
    """Gives the copies that take part."""
    copies: Iterable[Copy] = found.gathered.copies
    if not query.paths and not query.filters:
        return list(copies)
    if query.paths:
        wanted = set(query.paths)
        copies = [copy for copy in copies if copy.path in wanted]
    if query.filters:
        mask = session.snapshot().select(query.filters)
        if mask is not None:
            copies = [copy for copy in copies if _passes(copy, mask, query.filters)]
    return list(_linked_among(copies))


def _linked_among(copies: Iterable[Copy]) -> Iterator[Copy]:
    """Says anew which are hard links: the first name of a file may not take part."""
    seen: set[tuple[int, int]] = set()
    for copy in copies:
        inode = (copy.device, copy.inode)
        linked = not copy.member and copy.inode != 0 and inode in seen
        if not copy.member:
            seen.add(inode)
        yield copy if linked == copy.linked else replace(copy, linked=linked)


def _passes(copy: Copy, mask: Mask, filters: Filters) -> bool:
    """Says of one copy whether it passes: its content does, and it lies where it should."""
    if not copy.content:
        return _passes_unread(copy, filters)
    if copy.content >= len(mask) or not mask[copy.content]:
        return False
    return filters.folder is None or is_below(copy.path, (filters.folder,))


def _passes_unread(copy: Copy, filters: Filters) -> bool:
    """Says of a file without text whether it passes: only folder, type and size are known of it."""
    known = Filters(folder=filters.folder, types=filters.types, size_from=filters.size_from, size_to=filters.size_to)
    if known != filters:
        return False
    if filters.folder is not None and not is_below(copy.path, (filters.folder,)):
        return False
    if filters.types and copy.path.suffix.lower().lstrip(".") not in filters.types:
        return False
    low, high = filters.size_from or 0, filters.size_to
    return copy.size >= low and (high is None or copy.size < high)


def _group_views(
    found: Found, wanted: Sequence[Group], by_unit: Mapping[int, Sequence[Copy]], query: DuplicateQuery
) -> list[GroupView]:
    """Makes groups, or takes those of the same copies that were made before by the same rules."""
    made = found.made.get(query.assistant)
    if made is None or len(made) > _MADE:
        made = {}
        found.made.clear()
        found.made[query.assistant] = made
    narrowed = bool(query.filters or query.paths)  # copies are made anew then
    views = []
    for group in wanted:
        members = [copy for unit in group.units for copy in by_unit[unit]]
        key = (group.kind, group.lowest, *map(id, members))
        view = None if narrowed else made.get(key)
        if view is None:
            view = _group_view(found, group, members, query)
            if not narrowed:
                made[key] = view
        views.append(view)
    return views


def _group_view(found: Found, group: Group, members: Sequence[Copy], query: DuplicateQuery) -> GroupView:
    family = None
    if group.kind in _FAMILY and len(group.units) > 1:
        family = read_family([FamilyMember(_name(copy), copy.date, copy.mtime_ns / 1e9) for copy in members])
    versions = {members[family.newest].unit: 1} if family is not None else None
    choices = choose(members, query.assistant, found.kinship.between, versions=versions)
    order = sorted(
        range(len(members)), key=lambda n: (not choices[n].keep, bool(members[n].member), _place(members[n]))
    )
    rows = tuple(_member_view(members[n], choices[n], place) for place, n in enumerate(order))
    held = with_links(members)
    return GroupView(
        key=group_key(copy.sha256 for copy in members),
        title=_title(rows[0].copy),
        kind=group.kind,
        lowest=group.lowest,
        members=rows,
        bytes_to_win=sum(
            row.copy.size
            for row in rows
            if row.may_tick and not row.keep and row.relation not in NEVER_TICKED
            and (row.copy.device, row.copy.inode) not in held
        ),
        versions=family.words if family is not None else "",
        numbers=any(row.relation is DuplicateKind.NUMBERS for row in rows) or group.kind is DuplicateKind.NUMBERS,
    )


def _member_view(copy: Copy, choice: Choice, place: int) -> MemberView:
    return MemberView(
        copy=copy,
        mark=_mark(place),
        keep=choice.keep,
        ticked=choice.ticked,
        may_tick=choice.may_tick,
        why_not=choice.why_not,
        reason=choice.reason,
        warning=choice.warning,
        relation=choice.relation,
        similarity=choice.similarity,
    )


def _mark(place: int) -> str:
    """Gives A to Z, then AA, AB..."""
    name = ""
    place += 1
    while place:
        place, rest = divmod(place - 1, 26)
        name = chr(65 + rest) + name
    return name


def _place(copy: Copy) -> tuple[str, str]:
    return (display_path(copy.path).casefold(), copy.member)


def _name(copy: Copy) -> str:
    return copy.member.rsplit("/", 1)[-1] if copy.member else copy.path.name


def _title(copy: Copy) -> str:
    name = display_path(_name(copy))
    stem, dot, suffix = name.rpartition(".")
    return stem if dot and stem and len(suffix) <= 5 else name


def _folder_groups(
    found: Found, query: DuplicateQuery, apart: Collection[tuple[str, str]]
) -> tuple[list[GroupView], set[Path]]:
    """Gives a group for each set of equal folders, and the files that it stands for.

    The files of the first folder stay among the others, for further copies of them elsewhere.
    """
    if DuplicateKind.BYTES not in query.kinds or query.filters or query.paths or not found.folders:
        return [], set()
    groups: list[GroupView] = []
    hidden: set[Path] = set()
    for pairs in found.folders:
        folders, inside = zip(*pairs, strict=True)
        if all((copy.sha256, copy.sha256) in apart for copy in inside[0]):
            continue  # the person said that these are no duplicates
        tops = [_folder_copy(folder, files) for folder, files in zip(folders, inside, strict=True)]
        choices = choose(tops, query.assistant, _no_relation)
        guarded = [any(is_below(copy.path, query.assistant.protected) for copy in files) for files in inside]
        signed = [any(copy.unit in found.signed for copy in files) for files in inside]
        order = sorted(range(len(tops)), key=lambda n: (not choices[n].keep, _place(tops[n])))
        rows = []
        for place, n in enumerate(order):
            row = replace(_member_view(tops[n], choices[n], place), files=inside[n])
            if guarded[n]:
                row = replace(row, may_tick=False, ticked=False, why_not="holds a protected folder")
            elif signed[n]:
                row = replace(row, ticked=False, warning="holds signed files")
            rows.append(row)
        groups.append(
            GroupView(
                key=group_key([str(folder) for folder in folders]),
                title=display_path(rows[0].copy.path.name),
                kind=DuplicateKind.BYTES,
                lowest=1.0,
                members=tuple(rows),
                bytes_to_win=sum(row.copy.size for row in rows if row.may_tick and not row.keep),
                folders=True,
            )
        )
        hidden.update(copy.path for n in order[1:] for copy in inside[n])
    return groups, hidden


def _folder_copy(folder: Path, files: Sequence[Copy]) -> Copy:
    """Gives a folder as one copy of what it holds."""
    newest = max((copy.mtime_ns for copy in files), default=0)
    return Copy(
        unit=0,
        path=folder,
        size=sum(copy.size for copy in files),
        mtime_ns=newest,
        device=0,
        inode=0,
        sha256="",
        format="folder",
    )


def _no_relation(a: int, b: int) -> Relation | None:
    return None


def _left(groups: Sequence[GroupView]) -> str:
    """Says what no rule ticks."""
    numbers = sum(group.numbers for group in groups)
    related = sum(group.kind is DuplicateKind.RELATED for group in groups)
    signed = sum(any(member.warning.startswith("signed") for member in group.members) for group in groups)
    parts = []
    if numbers:
        parts.append(f"{_count(numbers, 'group')} where numbers or dates differ")
    if related:
        parts.append(_count(related, "related group"))
    if signed:
        parts.append(f"{_count(signed, 'group')} with signed files")
    return f"Left alone: {_listed(parts)}." if parts else ""


def _count(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def _listed(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _notes(session: Session, found: Found) -> tuple[str, ...]:
    notes = list(found.gathered.notes)
    if found.waiting:
        notes.append(f"{found.waiting:,} passages are not compared by meaning yet; their words were compared.")
    if found.pairs is not None and found.pairs.cut:
        notes.append("Very many passages are alike; related documents are listed in part.")
    if session.snapshot().generation != found.generation:
        notes.append("The library has changed since this was looked for.")
    return tuple(notes)


# ---------------------------------------------------------------- decisions


def not_duplicates(session: Session, group: GroupView, *, undo: bool = False) -> None:
    """Remembers for good that no two of a group are duplicates, or takes that back."""
    first: dict[int, Copy] = {}
    for member in group.members:
        for copy in member.files or (member.copy,):
            first.setdefault(copy.unit, copy)
    units = list(first.values())
    pairs = list(itertools.combinations(units, 2)) if len(units) > 1 and not group.folders else []
    if not pairs:
        pairs = [(copy, copy) for copy in units]
    deciding.remember(session, pairs, "" if undo else deciding.DIFFERENT)


def decided_same(session: Session, removal_pairs: Iterable[tuple[Copy, Copy]]) -> None:
    """Keeps as the same what the person sent to the trash for another copy; equal bytes teach nothing."""
    pairs = [(a, b) for a, b in removal_pairs if a.sha256 != b.sha256 and a.content and b.content]
    if pairs:
        deciding.remember(session, pairs, deciding.SAME)
