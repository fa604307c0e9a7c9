"""What is ticked in groups of duplicates: what a person may tick, and what then goes. Pure; quick; any thread."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from sbert_desktop.app.duplicate_views import GroupView, MemberView
from sbert_desktop.cleanup import Copy, DuplicateKind, Removal, Ticks, with_links
from sbert_desktop.explore.choosing import format_rules, parse_rules

__all__ = ["bytes_of", "can_tick", "files_of", "format_rules", "parse_rules", "removals", "stays", "ticks_of"]

Key = tuple[Path, str]


def ticks_of(groups: Iterable[GroupView]) -> Ticks:
    """Gives what the rules tick."""
    return frozenset(member.key for group in groups for member in group.members if member.ticked)


def stays(group: GroupView, ticks: Ticks) -> list[MemberView]:
    """Gives the rows of which at least one must be left: on disk, no hard link, not ticked."""
    return [
        member
        for member in group.members
        if not member.copy.member and not member.copy.linked and member.key not in ticks
    ]


def can_tick(group: GroupView, ticks: Ticks, key: Key) -> bool:
    """Tells whether a row may be ticked: one file always stays."""
    member = next((one for one in group.members if one.key == key), None)
    return member is not None and member.may_tick and bool(stays(group, ticks | {key}))


def removals(groups: Iterable[GroupView], ticks: Ticks) -> tuple[Removal, ...]:
    """Gives what goes, each file with the copies of which one must be alive for it.

    A file with equal ones anywhere that stay needs one of these, whichever groups they are in. Any other one needs
    the copy that its group keeps, which it was compared with; if the person ticked that one, too, one of those left.
    """
    shown = tuple(groups)
    chosen = [(group, ticked) for group in shown if (ticked := _ticked(group, ticks)) and stays(group, ticks)]
    going = {copy.path for _, ticked in chosen for member in ticked for copy in _files(member)}
    alive: dict[str, list[Copy]] = defaultdict(list)
    for group in shown:
        for member in group.members:
            for copy in _files(member):
                if _may_stay(copy) and copy.path not in going:
                    alive[copy.sha256].append(copy)
    twins = {sha256: tuple(dict.fromkeys(copies)) for sha256, copies in alive.items() if sha256}
    found: dict[Path, Removal] = {}
    for group, ticked in chosen:
        left = _left(group, going)
        for victim in (copy for member in ticked for copy in _files(member)):
            same = twins.get(victim.sha256, ())
            found[victim.path] = Removal(victim, same or left, DuplicateKind.BYTES if same else group.kind)
    return tuple(found.values())


def _ticked(group: GroupView, ticks: Ticks) -> list[MemberView]:
    return [member for member in group.members if member.key in ticks and member.may_tick]


def _files(member: MemberView) -> tuple[Copy, ...]:
    return member.files or (member.copy,)


def _may_stay(copy: Copy) -> bool:
    return not copy.member and not copy.linked


def _left(group: GroupView, going: set[Path]) -> tuple[Copy, ...]:
    """Gives the files of a group that stay: the one that the rules keep and its equals, if it is among them."""
    if group.folders:
        return ()  # its files are equal or nothing
    rows = [member for member in group.members if _may_stay(member.copy) and member.copy.path not in going]
    kept = next((member.copy.sha256 for member in rows if member.keep), "")
    return tuple(member.copy for member in rows if not kept or member.copy.sha256 == kept)


def bytes_of(groups: Iterable[GroupView], ticks: Ticks) -> int:
    """Gives how many bytes go with what is ticked; a file with hard links that stay frees none."""
    total = 0
    for group in groups:
        ticked = _ticked(group, ticks)
        if ticked:
            held = with_links(copy for member in group.members for copy in _files(member))
            total += sum(copy.size for member in ticked for copy in _files(member) if _inode(copy) not in held)
    return total


def _inode(copy: Copy) -> tuple[int, int]:
    return (copy.device, copy.inode)


def files_of(groups: Iterable[GroupView], ticks: Ticks) -> int:
    """Gives how many files go with what is ticked."""
    return sum(len(_files(member)) for group in groups for member in _ticked(group, ticks))
