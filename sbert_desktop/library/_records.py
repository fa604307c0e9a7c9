"""The frozen records that the library hands out."""

from __future__ import annotations

from dataclasses import dataclass, field
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
    """One space: the vectors of one encoder fingerprint over one segmentation."""

    fingerprint: str
    dimension: int
    state: str
    name: str
    segmentation: str


@dataclass(frozen=True, slots=True)
class IndexRecord:
    """The accelerator's file as the catalog describes it."""

    file: str
    rows: int
    count: int
    dimension: int
    sha256: str
    bytes: int
