"""What is ticked on the Duplicates page: the rules' suggestion, and what the person changed by hand.

Sums are kept with every tick, so that ten thousand groups cost no more than one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from sbert_desktop.app.duplicate_views import DuplicatesView, GroupView, MemberView
from sbert_desktop.app.ticking import bytes_of, stays
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
    """A state of the ticks that can be brought back: by group, what a hand ticked; rows that a hand unticked."""

    ticks: dict[str, Ticks]
    by_hand: dict[str, Ticks]
    spared: Ticks = field(default_factory=frozenset)


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
        self._by_hand: dict[str, Ticks] = {}  # of groups that are not shown now, too
        self._spared: set[Key] = set()  # rows that a hand unticked: no rule ticks them, whatever group they come in
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
        return len(self._by_hand.keys() & self._groups.keys())

    # ---- other groups

    def set_groups(self, groups: Sequence[GroupView]) -> None:
        """Takes an answer: the rules' ticks, and what a hand changed.

        What a hand did is kept while other kinds or folders are shown: what the person unticked stays so.
        """
        self._groups = {group.key: group for group in groups}
        self._ticks = {}
        self._files = self._bytes = 0
        for group in groups:
            self._put(group, self._in_force(group))
        self.changed.emit(())

    def _in_force(self, group: GroupView) -> Ticks:
        ticked = self._by_hand.get(group.key)
        if ticked is not None:
            ticked &= _may(group)  # one went or may no longer go: the others stay as they were left
            if not ticked or stays(group, ticked):
                self._by_hand[group.key] = ticked
                return ticked
            del self._by_hand[group.key]
        suggested = frozenset(member.key for member in group.members if member.ticked)
        ticked = suggested - self._spared if self._spared else suggested
        if ticked != suggested:
            self._by_hand[group.key] = ticked
        return ticked

    # ---- ticking

    def toggle(self, group: GroupView, member: MemberView) -> bool:
        """Ticks or unticks a row; False when it may not be."""
        found = None if self.frozen else self._now(group, member)
        if found is None:
            return False
        group, member = found
        before = self.of(group)
        if member.key in before:
            return self._set(group, before - {member.key})
        if not member.may_tick:
            self.refused.emit(group.key, member.key, _sentence(member.why_not) or "This file is never ticked")
            return False
        after = before | {member.key}
        if not stays(group, after):
            self.refused.emit(group.key, member.key, ONE_STAYS)
            return False
        return self._set(group, after)

    def toggle_group(self, group: GroupView) -> bool:
        """Takes a group's suggestion, or unticks all of it."""
        if self.frozen or group.key not in self._groups:
            return False
        group = self._groups[group.key]
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
        if self.frozen or group.key not in self._groups:
            return False
        group = self._groups[group.key]
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
            before = self.of(group)
            if before:
                self._take(group)
                self._by_hand[group.key] = frozenset()
                self._spared |= before
                keys.append(group.key)
        if keys:
            self.changed.emit(tuple(keys))

    def tick_suggested(self, groups: Iterable[GroupView]) -> None:
        """Forgets what was ticked by hand: the rules' ticks are in force again."""
        keys = []
        for asked in () if self.frozen else groups:
            group = self._groups.get(asked.key)
            if group is None:
                continue
            wanted = frozenset(member.key for member in group.members if member.ticked)
            self._by_hand.pop(group.key, None)
            self._spared.difference_update(member.key for member in group.members)
            if wanted != self.of(group):
                self._take(group)
                self._put(group, wanted)
                keys.append(group.key)
        if keys:
            self.changed.emit(tuple(keys))

    # ---- undo

    def keep(self) -> Kept:
        """Gives the state as it is, for :meth:`bring_back`."""
        return Kept(dict(self._ticks), dict(self._by_hand), frozenset(self._spared))

    def bring_back(self, kept: Kept) -> None:
        """Puts ticks back, in the groups that are still there; nothing while files are moved."""
        if self.frozen:
            return
        self._by_hand = dict(kept.by_hand)
        self._spared = set(kept.spared)
        self._ticks = {}
        self._files = self._bytes = 0
        for key, ticked in kept.ticks.items():
            group = self._groups.get(key)
            if group is not None and _is_safe(group, ticked):
                self._put(group, ticked)
        self.changed.emit(())

    # ---- private

    def _now(self, group: GroupView, member: MemberView) -> tuple[GroupView, MemberView] | None:
        """Gives a row as it was answered last: what was clicked may be of an answer before."""
        latest = self._groups.get(group.key)
        if latest is None:
            return None
        return next(((latest, one) for one in latest.members if one.key == member.key), None)

    def _set(self, group: GroupView, ticked: Ticks) -> bool:
        before = self.of(group)
        self._take(group)
        self._put(group, ticked)
        self._by_hand[group.key] = ticked
        self._spared |= before - ticked
        self._spared -= ticked
        self.changed.emit((group.key,))
        return True

    def _take(self, group: GroupView) -> None:
        ticked = self._ticks.pop(group.key, frozenset())
        files, size = _sums(self._groups.get(group.key, group), ticked)
        self._files -= files
        self._bytes -= size

    def _put(self, group: GroupView, ticked: Ticks) -> None:
        if ticked:
            self._ticks[group.key] = ticked
            files, size = _sums(group, ticked)
            self._files += files
            self._bytes += size


def _may(group: GroupView) -> Ticks:
    return frozenset(member.key for member in group.members if member.may_tick)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _is_safe(group: GroupView, ticked: Ticks) -> bool:
    return ticked <= _may(group) and (not ticked or bool(stays(group, ticked)))


def _sums(group: GroupView, ticked: Ticks) -> tuple[int, int]:
    files = size = 0
    if ticked:
        for member in group.members:
            if member.key in ticked:
                files += len(member.files) or 1
                size += member.copy.size
        if any(copy.linked for member in group.members for copy in (member.files or (member.copy,))):
            size = bytes_of((group,), ticked)  # a file of which a hard link stays frees nothing
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
