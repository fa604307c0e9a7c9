"""Files with members (archives, mailboxes, mails with attachments, huge texts): what their readers give.

A container's format says ``Format(..., container=True)`` in :mod:`._registry`, and its module has a
generator ``members(source, cursor)``. :mod:`._series` drives it: it reads each member in the format
of its name and content, opens containers inside containers, counts limits, hashes, and makes pages.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass

from sbert_desktop.domain import ExtractedText, Problem
from sbert_desktop.extraction._source import Source


@dataclass(frozen=True, slots=True)
class Member:
    """What lies inside a container; one of ``data``, ``load``, ``document`` and ``problem`` is given.

    Args:
        name: Its name inside this container, unique; ``""`` for the container's own text (a mail),
            which comes with ``document``.
        data: Its bytes.
        mtime: Its own time in seconds, where the container tells one.
        document: Its text, where the reader of the container read it already.
        problem: Why it cannot be read.
        cursor: Where to go on *after* this member (growing mailboxes), ``""`` if that is not told.
        load: Gives its bytes or its text, called at most once and before the next member is asked
            for; not called when the member is passed over. May raise ExtractionError, which costs the member
            only, or :class:`Stop`, which ends the container.
    """

    name: str
    data: bytes | None = None
    mtime: float | None = None
    document: ExtractedText | None = None
    problem: Problem | None = None
    cursor: str = ""
    load: Callable[[], bytes | ExtractedText] | None = None


@dataclass(frozen=True, slots=True)
class Remainder:
    """What a container's generator returns at its end: see :class:`sbert_desktop.domain.Listing`."""

    problems: tuple[Problem, ...] = ()
    cursor: str = ""
    grown: bool = False


class Stop(Exception):  # noqa: N818  not an error: the members so far are given
    """Ends a container early, with the problem that says why."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


Members = Generator[Member, None, Remainder | None]
MembersOf = Callable[[Source, str], Members]
"""Type of ``members(source, cursor)``. ``cursor`` is ``""`` or what an earlier run left behind. An
ExtractionError before the first member is the container's own failure; later it ends the container
with a partial problem."""
