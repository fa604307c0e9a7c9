"""Cuts groups from what was found, at every question: a threshold, a kind, a filter, a rule. Quick."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from sbert_desktop.app import deciding
from sbert_desktop.app.copies import names_of
from sbert_desktop.app.duplicate_views import DuplicatesView, GroupView, MemberView
from sbert_desktop.app.found import Found, count_copies
from sbert_desktop.app.session import Session
from sbert_desktop.cleanup import (
    FLOOR,
    NEVER_TICKED,
    Copy,
    DuplicateKind,
    DuplicateQuery,
    Relation,
    is_below,
    with_links,
)
from sbert_desktop.domain import Filters, Mask, display_path
from sbert_desktop.explore.choosing import Choice, choose
from sbert_desktop.explore.families import FamilyMember, read_family
from sbert_desktop.explore.grouping import Group, group_key

_MADE = 30_000
"""Groups that are kept made, some 100 MB at most."""
_FAMILY = frozenset({DuplicateKind.TEXT, DuplicateKind.FORMAT, DuplicateKind.NEAR, DuplicateKind.CONTAINED})


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
    counts = count_copies(rest, len(found.gathered.shas))
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
            if row.may_tick
            and not row.keep
            and row.relation not in NEVER_TICKED
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
