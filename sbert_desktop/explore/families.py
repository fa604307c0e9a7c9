"""Which of several versions of a document is the newest, and what says so. Any thread."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from sbert_desktop.explore.versions import Name, read_name

_SAME_TIME = 2.0
"""Seconds; some file systems keep no finer times, and copying many files takes no longer each."""


@dataclass(frozen=True, slots=True)
class FamilyMember:
    """A file's name with its extension; the document's own date (None: it has none) and when the file was written."""

    name: str
    date: float | None
    written: float


@dataclass(frozen=True, slots=True)
class Family:
    """``newest``: place of the newest version among the members; ``words`` say so, with the reason."""

    newest: int
    words: str


def read_family(members: Sequence[FamilyMember]) -> Family | None:
    """Gives the newest of several near duplicates, None where neither their names nor their dates tell.

    Names tell where all are one but for a version ("Offer v1", "Offer final"); dates where no two are the same.
    """
    if len(members) < 2:
        return None
    names = [read_name(member.name) for member in members]
    how_many = f"newest of {len(members)}"
    if len({name.stem for name in names}) == 1:
        days = [name.day for name in names]
        if (newest := _last_by_rank(names, members)) is not None:
            label = names[newest].label or f"the others: {', '.join(name.label for name in names if name.label)}"
            return Family(newest, f"{how_many} by name ({label})")
        if None not in days and len(set(days)) == len(days):
            newest = max(range(len(days)), key=lambda number: days[number] or (0, 0, 0))
            day = "-".join(f"{part:02}" for part in days[newest] or () if part)
            return Family(newest, f"{how_many} by name ({day})")
    return _by_date(members, how_many)


def _last_by_rank(names: Sequence[Name], members: Sequence[FamilyMember]) -> int | None:
    """Gives the one whose name says that it is the last, None where names do not say or the times contradict them."""
    said = [name.rank if name.label else None for name in names]  # "Offer (2)" is a copy, not the second version
    if all(rank is None for rank in said):
        return None
    ranks = [rank or (0, (1,)) for rank in said]
    newest = max(range(len(ranks)), key=ranks.__getitem__)
    if ranks.count(ranks[newest]) > 1:
        return None
    written = [member.written for member in members]
    latest = max(range(len(written)), key=written.__getitem__)
    if latest != newest and said[latest] is None and _differ(written):
        return None  # "Offer" was worked on after "Offer v2"
    return newest


def _by_date(members: Sequence[FamilyMember], how_many: str) -> Family | None:
    own = [member.date for member in members if member.date is not None]
    if len(own) == len(members) and _differ(own):
        return _latest(own, how_many, "dated")
    written = [member.written for member in members]
    return _latest(written, how_many, "changed") if _differ(written) else None


def _differ(times: Sequence[float]) -> bool:
    """Tells whether one is later than all others, by more than copying them takes."""
    ranked = sorted(times)
    return ranked[-1] - ranked[-2] > _SAME_TIME


def _latest(times: Sequence[float], how_many: str, word: str) -> Family:
    newest = max(range(len(times)), key=times.__getitem__)
    day = time.strftime("%Y-%m-%d", time.localtime(times[newest]))
    return Family(newest, f"{how_many} by date ({word} {day})")
