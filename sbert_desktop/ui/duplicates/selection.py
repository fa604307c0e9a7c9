"""What is ticked on the Duplicates page: the rules' suggestion, and what the person changed by hand.

Sums are kept with every tick, so that ten thousand groups cost no more than one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from sbert_desktop.app.duplicate_views import DuplicatesView, GroupView, MemberView
from sbert_desktop.app.ticking import stays
from sbert_desktop.cleanup import NEVER_TICKED, Ticks

Key = tuple[Path, str]
ONE_STAYS = "One file always stays"
BY_HAND = "The rules leave these files alone: tick them one by one"


class Box(Enum):
    """The box of a group: nothing ticked, some by hand, or what is suggested."""

    OFF = 0
    PART = 1
    ON = 2


@dataclass(frozen=True, slots=True)
class Total:
    """What is ticked: files, their bytes, and in how many groups."""

    files: int = 0
    bytes: int = 0
    groups: int = 0


@dataclass(frozen=True, slots=True)
class Kept:
    """A state of the ticks that can be brought back: by group, what a hand ticked."""

    ticks: dict[str, Ticks]
    by_hand: dict[str, Ticks]


def suggestion(group: GroupView) -> Ticks:
    """Gives what the box of a group ticks.

    That is what the rules tick. Where they tick nothing, all but the one that stays, as far as nothing speaks against
    it: no warning, and not merely related or different in numbers.
    """
    ticked = frozenset(member.key for member in group.members if member.ticked)
    if ticked:
        return ticked
    if group.kind in NEVER_TICKED or not any(member.keep for member in group.members):
        return frozenset()
    return frozenset(
        member.key for member in group.members
        if member.may_tick and not member.keep and not member.warning and member.relation not in NEVER_TICKED)


class Selection(QObject):
    """The ticks of all groups; ``changed(keys)`` names the groups that changed, empty for all of them."""

    changed = Signal(object)  # tuple[str, ...]
    refused = Signal(str, object, str)  # key of the group, key of the row or None, why

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._groups: dict[str, GroupView] = {}
        self._ticks: dict[str, Ticks] = {}  # of groups in which anything is ticked
        self._by_hand: dict[str, Ticks] = {}
        self._files = self._bytes = 0
        self.frozen = False  # while files are moved nothing is ticked under them

    # ---- what is ticked

    @property
    def total(self) -> Total:
        """Files and bytes that would go, and the groups they are in."""
        return Total(self._files, self._bytes, len(self._ticks))

    def ticks(self) -> Ticks:
        """Gives everything that is ticked."""
        return frozenset(key for ticked in self._ticks.values() for key in ticked)

    def of(self, group: GroupView) -> Ticks:
        """Gives what is ticked in a group."""
        return self._ticks.get(group.key, frozenset())

    def ticked_groups(self) -> list[GroupView]:
        """Gives the groups in which anything is ticked."""
        return [self._groups[key] for key in self._ticks]

    def is_ticked(self, group: GroupView, member: MemberView) -> bool:
        """True for a row that goes."""
        return member.key in self._ticks.get(group.key, ())

    def box(self, group: GroupView) -> Box:
        """Gives the state of a group's box."""
        ticked = self._ticks.get(group.key)
        if not ticked:
            return Box.OFF
        return Box.ON if ticked == suggestion(group) else Box.PART

    def by_hand(self) -> int:
        """Gives in how many groups the person changed the suggestion."""
        return len(self._by_hand)

    # ---- other groups

    def set_groups(self, groups: Sequence[GroupView]) -> None:
        """Takes an answer: the rules' ticks, and in groups that are still there what a hand changed."""
        self._groups = {group.key: group for group in groups}
        self._by_hand = {key: ticks for key, ticks in self._by_hand.items()
                         if key in self._groups and _is_safe(self._groups[key], ticks)}
        self._ticks = {}
        self._files = self._bytes = 0
        for group in groups:
            ticked = self._by_hand.get(group.key)
            if ticked is None:
                ticked = frozenset(member.key for member in group.members if member.ticked)
            self._put(group, ticked)
        self.changed.emit(())

    # ---- ticking

    def toggle(self, group: GroupView, member: MemberView) -> bool:
        """Ticks or unticks a row; False when it may not be."""
        if self.frozen:
            return False
        before = self.of(group)
        if member.key in before:
            return self._set(group, before - {member.key})
        if not member.may_tick:
            self.refused.emit(group.key, member.key, member.why_not or "This file is never ticked")
            return False
        after = before | {member.key}
        if not stays(group, after):
            self.refused.emit(group.key, member.key, ONE_STAYS)
            return False
        return self._set(group, after)

    def toggle_group(self, group: GroupView) -> bool:
        """Takes a group's suggestion, or unticks all of it."""
        if self.frozen:
            return False
        if self.box(group) is Box.ON:
            return self._set(group, frozenset())
        wanted = suggestion(group)
        if not wanted or not stays(group, wanted):
            if self.of(group):
                return self._set(group, frozenset())
            self.refused.emit(group.key, None, BY_HAND)
            return False
        return self._set(group, wanted)

    def tick_all_but_kept(self, group: GroupView) -> bool:
        """Ticks every row that may be ticked but the one that the rules keep; the person asked for it."""
        if self.frozen:
            return False
        kept = next((member for member in group.members if member.keep), group.members[0])
        wanted = frozenset(one.key for one in group.members if one.may_tick and one is not kept)
        if not wanted or not stays(group, wanted):
            self.refused.emit(group.key, None, ONE_STAYS)
            return False
        return self._set(group, wanted)

    def tick_none(self, groups: Iterable[GroupView]) -> None:
        """Unticks groups."""
        keys = []
        for group in () if self.frozen else groups:
            if self.of(group):
                self._take(group)
                self._by_hand[group.key] = frozenset()
                keys.append(group.key)
        if keys:
            self.changed.emit(tuple(keys))

    def tick_suggested(self, groups: Iterable[GroupView]) -> None:
        """Forgets what was ticked by hand: the rules' ticks are in force again."""
        keys = []
        for group in () if self.frozen else groups:
            wanted = frozenset(member.key for member in group.members if member.ticked)
            self._by_hand.pop(group.key, None)
            if wanted != self.of(group):
                self._take(group)
                self._put(group, wanted)
                keys.append(group.key)
        if keys:
            self.changed.emit(tuple(keys))

    # ---- undo

    def keep(self) -> Kept:
        """Gives the state as it is, for :meth:`bring_back`."""
        return Kept(dict(self._ticks), dict(self._by_hand))

    def bring_back(self, kept: Kept) -> None:
        """Puts ticks back, in the groups that are still there."""
        self._by_hand = dict(kept.by_hand)
        self._ticks = {}
        self._files = self._bytes = 0
        for key, ticked in kept.ticks.items():
            group = self._groups.get(key)
            if group is not None and _is_safe(group, ticked):
                self._put(group, ticked)
        self.changed.emit(())

    # ---- private

    def _set(self, group: GroupView, ticked: Ticks) -> bool:
        self._take(group)
        self._put(group, ticked)
        self._by_hand[group.key] = ticked
        self.changed.emit((group.key,))
        return True

    def _take(self, group: GroupView) -> None:
        ticked = self._ticks.pop(group.key, frozenset())
        files, size = _sums(group, ticked)
        self._files -= files
        self._bytes -= size

    def _put(self, group: GroupView, ticked: Ticks) -> None:
        if ticked:
            self._ticks[group.key] = ticked
            files, size = _sums(group, ticked)
            self._files += files
            self._bytes += size


def _is_safe(group: GroupView, ticked: Ticks) -> bool:
    may = {member.key for member in group.members if member.may_tick}
    return ticked <= may and (not ticked or bool(stays(group, ticked)))


def _sums(group: GroupView, ticked: Ticks) -> tuple[int, int]:
    files = size = 0
    if ticked:
        for member in group.members:
            if member.key in ticked:
                files += len(member.files) or 1
                size += member.copy.size
    return files, size


def with_ticks(view: DuplicatesView, selection: Selection) -> DuplicatesView:
    """Gives an answer with the ticks as they are now, for a report."""
    groups = tuple(
        group if all(selection.is_ticked(group, one) == one.ticked for one in group.members)
        else replace(group, members=tuple(replace(one, ticked=selection.is_ticked(group, one))
                                          for one in group.members))
        for group in view.groups)
    total = selection.total
    return replace(view, groups=groups, ticked=total.files, bytes_ticked=total.bytes)


def without(groups: Iterable[GroupView], gone: frozenset[Path]) -> tuple[GroupView, ...]:
    """Gives groups without files that went; a group of which one is left is none."""
    out = []
    for group in groups:
        left = tuple(one for one in group.members if one.copy.path not in gone and not _all_gone(one, gone))
        if len(left) == len(group.members):
            out.append(group)
        elif len(left) > 1:
            saved = sum(one.copy.size for one in group.members if one not in left)
            out.append(replace(group, members=left, bytes_to_win=max(0, group.bytes_to_win - saved)))
    return tuple(out)


def _all_gone(member: MemberView, gone: frozenset[Path]) -> bool:
    return bool(member.files) and all(copy.path in gone for copy in member.files)
