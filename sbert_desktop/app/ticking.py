"""What is ticked in groups of duplicates: what a person may tick, and what then goes. Pure; quick; any thread."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from sbert_desktop.app.duplicate_views import GroupView, MemberView
from sbert_desktop.cleanup import Copy, DuplicateKind, Removal, Ticks
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
    """Gives what goes, each file with the copies of which one must be alive for it."""
    found: list[Removal] = []
    for group in groups:
        ticked = [member for member in group.members if member.key in ticks and member.may_tick]
        left = stays(group, ticks)
        if not ticked or not left:
            continue
        victims = [victim for member in ticked for victim in member.files or (member.copy,)]
        found += [_removal(victim, left, group.kind) for victim in victims]
    return tuple(found)


def _removal(victim: Copy, left: Sequence[MemberView], kind: DuplicateKind) -> Removal:
    others = [copy for member in left for copy in (member.files or (member.copy,)) if not copy.member]
    twins = [copy for copy in others if copy.sha256 == victim.sha256]
    if twins:
        return Removal(victim, tuple(twins), DuplicateKind.BYTES)
    return Removal(victim, tuple(others), kind)


def bytes_of(groups: Iterable[GroupView], ticks: Ticks) -> int:
    """Gives how many bytes go with what is ticked."""
    return sum(
        copy.size
        for group in groups
        for member in group.members
        if member.key in ticks and member.may_tick
        for copy in (member.files or (member.copy,))
    )


def files_of(groups: Iterable[GroupView], ticks: Ticks) -> int:
    """Gives how many files go with what is ticked."""
    return sum(
        len(member.files) or 1
        for group in groups
        for member in group.members
        if member.key in ticks and member.may_tick
    )
