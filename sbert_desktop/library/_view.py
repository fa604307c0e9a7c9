"""One consistent state of the library in memory."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntFlag

import numpy as np
from numpy.typing import NDArray

from sbert_desktop.domain import Mask, Vectors
from sbert_desktop.library._records import IndexRecord, SpaceRow


class Mark(IntFlag):
    """What the library counts of a file beside its content."""

    PROBLEM = 1
    IGNORED = 2
    CAPTION = 4


@dataclass(frozen=True, slots=True)
class View:
    """One consistent state of the library for one fingerprint; every array is read-only in spirit.

    Arrays named ``file_*`` are indexed by file id, ``content_*`` by content id, ``row_*`` by row;
    ``passage_content`` gives the content of a passage id, -1 where there is none, and
    ``passage_length`` its words. ``file_marks`` are the bits of :class:`Mark`; ``active`` is indexed by
    folder id.
    """

    generation: int
    space: SpaceRow | None
    segmentation: int | None
    index: IndexRecord | None
    vectors: Vectors
    row_passage: NDArray[np.int64]
    row_content: NDArray[np.int64]
    alive: Mask
    passage_content: NDArray[np.int64]
    passage_length: NDArray[np.float32]
    content_live: Mask
    content_passages: NDArray[np.int32]
    content_rows: NDArray[np.int64]
    content_date: NDArray[np.float64]
    content_language: NDArray[np.int32]
    content_format: NDArray[np.int32]
    file_content: NDArray[np.int64]
    file_folder: NDArray[np.int32]
    file_directory: NDArray[np.int32]
    file_type: NDArray[np.int32]
    file_mtime: NDArray[np.float64]
    file_marks: NDArray[np.uint8]
    file_live: Mask
    active: Mask
    directories: list[bytes]
    types: list[str]
    languages: list[str]
    formats: list[str]
    passages: int
    words: int  # passages in the keyword table
    mean_length: float  # words of a passage there
    damaged: bool

    def language_order(self) -> tuple[str, ...]:
        """Gives the languages of live documents, most common first."""
        return _common(self.languages, self.content_language[self.file_content[self.file_live]])

    def type_order(self) -> tuple[str, ...]:
        """Gives the types of live files and members, most common first."""
        return _common(self.types, self.file_type[self.file_live])

    def totals(self) -> tuple[int, int, int]:
        """Gives documents, files with a problem and ignored ones over the active folders."""
        marks = self.file_marks[self.active[self.file_folder]]
        documents = np.count_nonzero(self.file_live & ((self.file_marks & Mark.CAPTION) == 0))
        return int(documents), *_problems(marks)

    def folder_counts(self, folder: int) -> tuple[int, int, int, int, int]:
        """Gives documents, passages, those with a vector, problems and ignored ones below a folder, leaving or not."""
        mine = self.file_folder == folder
        marks, contents = self.file_marks[mine], self.file_content[mine]
        documents = np.count_nonzero((contents >= 0) & ((marks & Mark.CAPTION) == 0))
        held = np.zeros(len(self.content_live), np.bool_)
        held[contents[contents >= 0]] = True
        passages, embedded = self.content_passages[held].sum(), self.content_rows[held].sum()
        return int(documents), int(passages), int(embedded), *_problems(marks)


def _problems(marks: NDArray[np.uint8]) -> tuple[int, int]:
    counted = np.bincount(marks & (Mark.PROBLEM | Mark.IGNORED), minlength=4)
    return int(counted[Mark.PROBLEM]), int(counted[Mark.PROBLEM | Mark.IGNORED])


def _common(names: list[str], codes: NDArray[np.int32]) -> tuple[str, ...]:
    counts = np.bincount(codes, minlength=len(names)) if len(codes) else np.zeros(len(names), np.int64)
    order = sorted(range(len(names)), key=lambda code: (-int(counts[code]), names[code]))
    return tuple(names[code] for code in order if counts[code] and names[code])
