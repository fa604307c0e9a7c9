"""The vocabulary of duplicates and of their clean-up; every room may import this module.

A *unit* is all files (and members of containers) with the same bytes. Groups are made of units; a group's
kind is the weakest relation that holds between two of its units, and holds between **every** two of them.
Times are seconds since the epoch unless a name says ``_ns``; similarities lie in [0, 1].
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from sbert_desktop.domain import Filters

FLOOR = 0.70
"""Similarity below which no pair is kept, so that a threshold can be moved without computing again."""
NEAR_THRESHOLD = 0.80
"""Share of words shared from which documents are near duplicates by default."""
RELATED_THRESHOLD = 0.80
"""Cosine from which documents are related by default."""


class DuplicateKind(StrEnum):
    """What is the same, strongest first; a kind is never claimed from a cosine alone but ``RELATED``."""

    BYTES = "bytes"  # identical files
    TEXT = "text"  # the same words, other bytes, same format
    FORMAT = "format"  # the same words in another format
    NEAR = "near"  # most words shared
    CONTAINED = "contained"  # one is an excerpt or an earlier, shorter version of the other
    NUMBERS = "numbers"  # the words are the same, numbers or dates differ: never ticked by a rule
    RELATED = "related"  # says the same in other words: never ticked by a rule

    @property
    def rank(self) -> int:
        """0 for the strongest kind."""
        return list(DuplicateKind).index(self)


KINDS_BY_NAME = {
    "bytes": (DuplicateKind.BYTES,),
    "text": (DuplicateKind.TEXT, DuplicateKind.FORMAT),
    "near": (DuplicateKind.NEAR, DuplicateKind.CONTAINED, DuplicateKind.NUMBERS),
    "related": (DuplicateKind.RELATED,),
    "all": tuple(DuplicateKind),
}
"""The kinds as the window's segments and ``duplicates --kind`` name them."""
NEVER_TICKED = frozenset((DuplicateKind.NUMBERS, DuplicateKind.RELATED))


@dataclass(frozen=True, slots=True)
class Relation:
    """What holds between two units ``a < b``, verified on their texts.

    ``similarity``: 1.0 for the same bytes or words; the share of words shared for near, contained and numbers
    (of the shorter one for contained); the cosine for related. ``missing_a``: sentences of ``a`` that ``b``
    lacks, ``missing_b`` the other way round (-1: not counted). ``smaller``: for contained the unit that lies in
    the other, else -1.
    """

    a: int
    b: int
    kind: DuplicateKind
    similarity: float
    missing_a: int = 0
    missing_b: int = 0
    smaller: int = -1


class RuleKind(StrEnum):
    """By which the copy that stays is chosen; the first rule that tells two copies apart decides."""

    NEWEST = "newest"
    OLDEST = "oldest"
    LARGEST = "largest"
    SMALLEST = "smallest"
    IN_FOLDER = "in"  # value: a folder; copies below it stay
    NOT_IN_FOLDER = "not-in"  # value: a folder; copies below it go first
    SHORTEST_PATH = "shortest-path"
    NO_COPY_NAME = "no-copy-name"  # a name without "copy", "(1)", "old"
    BEST_FORMAT = "best-format"  # what can be edited before what was printed from it
    LAST_VERSION = "last-version"  # by name: v3 before v2, final before draft


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule; ``folder`` only for the two kinds that need one."""

    kind: RuleKind
    folder: Path | None = None


DEFAULT_RULES = (
    Rule(RuleKind.NO_COPY_NAME),
    Rule(RuleKind.NEWEST),
    Rule(RuleKind.SHORTEST_PATH),
)


@dataclass(frozen=True, slots=True)
class Assistant:
    """How copies are chosen and ticked: rules in their order, in which kinds of groups, where never.

    ``invert``: what the rules would keep goes and what would go stays (one copy always stays). ``only_in``: ticks
    only below these folders, empty for everywhere. Files below ``protected`` are never ticked.
    """

    rules: tuple[Rule, ...] = DEFAULT_RULES
    kinds: tuple[DuplicateKind, ...] = (DuplicateKind.BYTES,)
    protected: tuple[Path, ...] = ()
    only_in: tuple[Path, ...] = ()
    invert: bool = False


@dataclass(frozen=True, slots=True)
class DuplicateQuery:
    """Which groups are asked for. ``near`` and ``related`` are thresholds, never below :data:`FLOOR`.

    ``kinds``: relations that are used. ``filters``: only documents that pass. ``paths``: only these files.
    """

    kinds: tuple[DuplicateKind, ...] = tuple(DuplicateKind)
    near: float = NEAR_THRESHOLD
    related: float = RELATED_THRESHOLD
    filters: Filters = field(default_factory=Filters)
    paths: tuple[Path, ...] = ()
    assistant: Assistant = Assistant()


@dataclass(frozen=True, slots=True)
class Copy:
    """A file or member as the duplicate finder sees it.

    ``unit``: number of its unit. ``linked``: hard links (or the same file reached twice) to a copy that was named
    before: it frees nothing and is no copy. ``member``: inside a container: never ticked, never the copy that
    stays. ``signed``: carries a signature. ``content`` is 0 where no text was read.
    """

    unit: int
    path: Path
    size: int
    mtime_ns: int
    device: int
    inode: int
    sha256: str
    member: str = ""
    content: int = 0
    format: str = ""
    title: str = ""
    date: float | None = None
    folder: Path = Path()
    linked: bool = False
    signed: bool = False


Ticks = frozenset[tuple[Path, str]]
"""Path and member of the copies that are ticked."""


@dataclass(frozen=True, slots=True)
class Removal:
    """One file that is to go to the trash, and the copies of which one must be alive and readable for it.

    ``keepers`` are files on disk (never members), each with the state in which it was compared.
    """

    victim: Copy
    keepers: tuple[Copy, ...]
    kind: DuplicateKind


def with_links(copies: Iterable[Copy]) -> frozenset[tuple[int, int]]:
    """Gives device and inode of the files that have further hard links among these: one that goes frees nothing."""
    return frozenset((copy.device, copy.inode) for copy in copies if copy.linked and copy.inode)


def is_below(path: Path, folders: Sequence[Path]) -> bool:
    """Tells whether a path is one of the folders or lies below one."""
    return any(path == folder or folder in path.parents for folder in folders)


class Trash(Protocol):
    """Where files go; the system's one, or a test's."""

    def move(self, path: Path) -> Path | None:
        """Moves a file to the trash and gives where it lies there (None: the system does not tell).

        Raises:
            PlatformError: ``no-trash`` (the volume has none), ``trash-refused``; the file is where it was.
        """
        ...

    def find(self, original: Path) -> tuple[Path, ...]:
        """Gives what lies in the trash that came from a path, newest first."""
        ...

    def restore(self, trashed: Path, target: Path) -> None:
        """Puts a file back; never over another one.

        Raises:
            PlatformError: ``trash-refused``; ``file-exists``.
        """
        ...
