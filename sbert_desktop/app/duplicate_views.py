"""What the duplicate use cases hand to the window and to the command line: frozen, complete, printable."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from sbert_desktop.app.views import PreviewPage
from sbert_desktop.cleanup import Copy, DuplicateKind, DuplicateQuery

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class MemberView:
    """One row of a group: a file, a member of a container, or (``files``) a folder with all that it holds.

    ``keep``: the copy that the rules let stay. ``ticked``: the rules tick it. ``may_tick`` False: it can never be
    ticked, ``why_not`` says why (in a container, protected, hard link). ``reason``: why it stays or goes
    ("newest", "name says copy"). ``warning``: why a rule left it alone ("signed", "3 sentences that the kept one
    lacks"). ``relation`` and ``similarity``: to the copy that stays. ``mark``: A, B, C...
    """

    copy: Copy
    mark: str
    keep: bool
    ticked: bool
    may_tick: bool
    why_not: str
    reason: str
    warning: str
    relation: DuplicateKind
    similarity: float
    state: str = "current"  # as in DocumentView
    files: tuple[Copy, ...] = ()

    @property
    def key(self) -> tuple[Path, str]:
        """What ticks name it by."""
        return (self.copy.path, self.copy.member)


@dataclass(frozen=True, slots=True)
class GroupView:
    """Files of which every two are at least as alike as ``lowest``. ``key`` is stable while its files are.

    ``bytes_to_win``: bytes that go when one copy stays (hard links and members count 0). ``versions``: says which
    is newest and why when names or dates make it a family of versions. ``numbers``: some differ in numbers only.
    """

    key: str
    title: str
    kind: DuplicateKind
    lowest: float
    members: tuple[MemberView, ...]
    bytes_to_win: int
    versions: str = ""
    numbers: bool = False
    folders: bool = False


@dataclass(frozen=True, slots=True)
class DuplicatesView:
    """All groups for one query, most bytes first.

    ``files`` were compared, of them ``unread`` by their bytes alone; ``left`` groups that no rule ticks ("Left
    alone: ..." in words). ``notes``: plain sentences (still indexing, folder offline, no meaning yet).
    """

    query: DuplicateQuery
    groups: tuple[GroupView, ...]
    bytes_to_win: int
    ticked: int
    bytes_ticked: int
    files: int
    unread: int
    left: str = ""
    notes: tuple[str, ...] = ()
    generation: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class SharedPassage:
    """A passage that stands, in these or other words, in several documents (the second view).

    ``places``: path, member, page, passage id and text of each, ``lowest`` the lowest cosine between two of them.
    ``spans``: for each place the document's content id and where in its text the passage stands; ``formats``: its
    format. ``more`` places were left out.
    """

    places: tuple[tuple[Path, str, int | None, int, str], ...]
    lowest: float
    spans: tuple[tuple[int, int, int], ...] = ()
    formats: tuple[str, ...] = ()
    more: int = 0


@dataclass(frozen=True, slots=True)
class DiffRow:
    """One aligned stretch of two texts: paragraphs side by side, ``None`` where one side has nothing.

    ``same``: nothing differs. Spans are code points of the side's own text: words that the other lacks.
    ``moved``: one side only, and the other has the same words elsewhere.
    """

    left: str | None
    right: str | None
    same: bool
    left_marks: tuple[Span, ...] = ()
    right_marks: tuple[Span, ...] = ()
    left_page: int | None = None
    right_page: int | None = None
    heading: bool = False
    moved: bool = False


@dataclass(frozen=True, slots=True)
class ComparisonView:
    """Two documents side by side. ``facts``: label, left, right of what is known of both (size, dates, author...).

    ``differences`` counts rows that differ; ``cut``: the texts were too long to be compared to their end.
    """

    left: Copy
    right: Copy
    rows: tuple[DiffRow, ...]
    differences: int
    facts: tuple[tuple[str, str, str], ...] = ()
    left_pages: int = 0
    right_pages: int = 0
    cut: bool = False
    note: str = ""


@dataclass(frozen=True, slots=True)
class PagesView:
    """A page of each of two PDFs as pictures, with what differs on them marked; None where one has no such page."""

    left: PreviewPage | None
    right: PreviewPage | None


@dataclass(frozen=True, slots=True)
class HaveView:
    """Whether the library has a file already.

    ``verdict``: ``identical``, ``newer version``, ``older version``, ``same text``, ``similar`` or ``new``;
    ``words`` says it in a sentence. ``files``: path, member and similarity of what it is like, nearest first.
    ``folder``: where its neighbours lie.
    """

    path: Path
    verdict: str
    words: str
    files: tuple[tuple[Path, str, float], ...] = ()
    folder: Path | None = None


@dataclass(frozen=True, slots=True)
class MovedView:
    """What became of one file of a clean-up.

    ``state``: ``moved``, ``skipped``, ``failed``, ``restored`` or ``lost`` (it cannot be found where it was put).
    ``message``: why, for all but moved.
    """

    path: Path
    size: int
    state: str
    message: str = ""
    trash: Path | None = None


@dataclass(frozen=True, slots=True)
class CleanUpView:
    """One clean-up: what was meant, what happened. ``when`` it began; ``bytes`` moved; ``undone``: all is back."""

    id: str
    when: float
    files: tuple[MovedView, ...]
    moved: int
    skipped: int
    failed: int
    bytes: int
    undone: bool = False
    finished: bool = True
    dry: bool = False
    notes: tuple[str, ...] = field(default_factory=tuple)
