"""The frozen records that the library hands out."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from sbert_desktop.domain import ContentId, FileId, FolderId, FolderRules, PassageId


@dataclass(frozen=True, slots=True)
class FolderRecord:
    """One folder of the library.

    ``state`` is ``active`` or ``leaving`` (hidden, not yet erased). ``documents`` counts files and members with
    text (captions not), ``problems`` files and members with a problem that is not ignored, ``ignored`` the ignored
    ones; files of kinds that are not read count as neither. ``passages`` counts the passages meant to be
    embedded, ``embedded`` those with a vector in the space asked about. ``last_change`` and ``last_scan``
    are seconds since the epoch.
    """

    id: FolderId
    path: Path
    added: float
    state: str
    words_only: bool
    documents: int
    passages: int
    embedded: int
    problems: int
    last_change: float | None
    last_scan: float | None
    rules: FolderRules = field(default_factory=FolderRules)
    ignored: int = 0


class KnownFile(NamedTuple):
    """One file as the catalog remembers it.

    ``content`` is None when nothing could be read, and for a container without a text of its own; ``outdated``
    says that the file was read, or tried, by an earlier version of the extractor. ``size`` is -1 while a container
    was gone through only in part, so that it never equals the file's. ``cursor``: see
    :class:`sbert_desktop.domain.SourceFile`. A tuple, since a library holds hundreds of thousands of them.
    """

    id: FileId
    path: bytes
    size: int
    mtime_ns: int
    device: int
    inode: int
    content: ContentId | None
    problem_code: str
    member: str = ""
    outdated: bool = False
    cursor: str = ""
    ignored: bool = False


class CopyRecord(NamedTuple):
    """One file, or member of a container, of an active folder: what tells copies apart.

    ``sha256`` is ``""`` where the bytes were not read (files of kinds that are not read, mostly); ``content`` is 0
    where no text was; ``date``: the document's own, None where it has none; ``language``: the code of the text's
    language, ``""`` where there is none.
    """

    path: bytes
    member: str
    size: int
    mtime_ns: int
    device: int
    inode: int
    sha256: str
    content: int
    folder: bytes
    format: str
    title: str
    date: float | None
    problem: str
    language: str = ""


@dataclass(frozen=True, slots=True)
class Counts:
    """Totals over the active folders, counted as in :class:`FolderRecord`."""

    documents: int
    passages: int
    embedded: int
    problems: int
    ignored: int = 0


@dataclass(frozen=True, slots=True)
class ProblemRecord:
    """Why one file, or member of a container, was not read, or only in part.

    ``size`` is that of the file on disk in bytes, ``when`` it was tried in seconds since the epoch.
    """

    path: Path
    folder: Path
    code: str
    message: str
    hint: str
    partial: bool
    member: str = ""
    ignored: bool = False
    size: int = 0
    when: float = 0.0


@dataclass(frozen=True, slots=True)
class ChangeRecord:
    """One document read recently; ``when`` is in seconds since the epoch."""

    path: Path
    title: str
    when: float
    passages: int
    member: str = ""


@dataclass(frozen=True, slots=True)
class PendingDocument:
    """One document that still needs vectors: its passages with the text that the encoder sees.

    ``mtime`` is the newest modification time of its files, in seconds since the epoch.
    """

    content_id: ContentId
    passages: tuple[tuple[PassageId, str], ...]
    mtime: float


@dataclass(frozen=True, slots=True)
class SpaceRecord:
    """One space: the vectors of one encoder fingerprint over one segmentation.

    ``state``: ``active``; ``inactive`` (was active once); ``part`` (never was: being prepared, or given up).
    ``passages`` (with a vector), ``of`` (meant to have one), ``bytes`` and ``uncut`` (documents whose text was never
    cut for it, so that ``of`` does not count them): :meth:`Library.measured_spaces` fills them in.
    """

    fingerprint: str
    dimension: int
    state: str
    name: str
    segmentation: str
    passages: int = 0
    of: int = 0
    bytes: int = 0
    uncut: int = 0


@dataclass(frozen=True, slots=True)
class WantedSpace:
    """The space that is to be prepared beside the active one, and to take its place when it is complete.

    ``model`` as the settings name it (``""``: the bundled one).
    """

    model: str
    fingerprint: str


@dataclass(frozen=True, slots=True)
class SpaceRow:
    """A space as the catalog describes it now."""

    id: int
    fingerprint: str
    segmentation: int
    dimension: int
    generation: int
    rows: int


@dataclass(frozen=True, slots=True)
class IndexRecord:
    """The accelerator's file as the catalog describes it."""

    file: str
    rows: int
    count: int
    dimension: int
    sha256: str
    bytes: int


@dataclass(frozen=True, slots=True)
class JudgementRecord:
    """What the person said of a passage (or of two). Offsets are code points; ``made`` is seconds since the epoch.

    ``kind`` names what was asked (``relevance``...), ``verdict`` the answer. ``sha256`` is that of the document.
    """

    kind: str
    verdict: str
    query: str
    sha256: str
    start: int
    end: int
    text: str
    other_sha256: str = ""
    other_start: int = 0
    other_end: int = 0
    other_text: str = ""
    made: float = 0.0


@dataclass(frozen=True, slots=True)
class KeptPassage:
    """A passage to put into a collection: the document's sha256, code points, the text, and where it is now.

    A whole document has no text, and 0 for both offsets. ``added``: seconds since the epoch, 0 for now.
    """

    sha256: str
    start: int
    end: int
    text: str
    path: Path
    member: str = ""
    title: str = ""
    page: int | None = None
    note: str = ""
    added: float = 0.0


@dataclass(frozen=True, slots=True)
class ItemRecord:
    """A passage in a collection. ``path`` and ``member``: where it is now, else where it was.

    ``content_id`` is 0 when the library does not hold the document any more, ``passage_id`` also when the document
    does not hold the text any more.
    """

    id: int
    sha256: str
    start: int
    end: int
    text: str
    note: str
    path: Path
    member: str
    title: str
    page: int | None
    added: float
    content_id: int = 0
    passage_id: int = 0

    def at(self, content: int, passage: int, path: Path, member: str) -> ItemRecord:
        """Gives the same item with the place where it is now."""
        return replace(self, content_id=content, passage_id=passage, path=path, member=member)


@dataclass(frozen=True, slots=True)
class CollectionRecord:
    """A named set of passages and documents."""

    name: str
    note: str
    made: float
    items: tuple[ItemRecord, ...]


@dataclass(frozen=True, slots=True)
class SavedRecord:
    """A search kept by name; ``query`` is the caller's JSON. ``seen``: contents up to this id were there.

    ``waiting``: ranges (first, last) of contents among them that had no vectors yet, so that nobody has seen them
    by their meaning.
    """

    name: str
    query: str
    saved: float
    seen: int
    waiting: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class HealthRecord:
    """The rows of a space, counted, and how the accelerator compares with exact search.

    ``live``: rows that can be found; ``dead``: places in the vectors file that nothing names any more; ``orphans``:
    rows whose passage or file is gone. ``recall_at_10`` over ``queries`` queries, None without an accelerator;
    ``behind``: live rows that it does not cover yet (searched exactly). ``lost``: rows that the vectors file should
    hold and does not; ``bad``: live ones in it that are no unit vectors; ``no_index``: the accelerator is missing or
    damaged, though nothing waits for vectors.
    """

    live: int
    dead: int
    orphans: int
    recall_at_10: float | None
    queries: int
    behind: int
    lost: int = 0
    bad: int = 0
    no_index: bool = False

    def with_recall(self, recall: float | None, queries: int, behind: int) -> HealthRecord:
        """Gives the same counts with what was measured."""
        return replace(self, recall_at_10=recall, queries=queries, behind=behind)
