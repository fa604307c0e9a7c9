"""Puts what was read into the library: plain files, members of containers, twins, captions."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from sbert_desktop.app.feeding import Item, Outcome
from sbert_desktop.app.reporting import Reporter
from sbert_desktop.domain import (
    Block,
    ContentId,
    ExtractedText,
    FolderId,
    Listing,
    Passage,
    Problem,
    SourceFile,
    display_path,
    short_path,
)

if TYPE_CHECKING:
    from sbert_desktop.library import Library, Writer

_COMMIT_SECONDS = 1.0
_COMMIT_PASSAGES = 256
UNSETTLED = "changed-while-read"
"""Code of a file that somebody was writing to."""

Split = Callable[[ExtractedText], list[Passage]]


@dataclass(slots=True)
class Batch:
    """Files to be read together, and what is known of them.

    ``owner``: the folder of each path. ``new_paths``: those the library did not know. ``quiet``: read
    again for the library's own sake, so they count as unchanged. ``afresh``: texts replace stored ones
    of the same bytes. ``twins``: further hard links to a path. ``again``: twins of containers, which
    have to be read by themselves.
    """

    files: list[SourceFile] = field(default_factory=list)
    owner: dict[bytes, FolderId] = field(default_factory=dict)
    new_paths: set[bytes] = field(default_factory=set)
    quiet: bool = False
    afresh: bool = False
    twins: dict[bytes, list[SourceFile]] = field(default_factory=dict)
    again: list[SourceFile] = field(default_factory=list)
    by_path: dict[bytes, SourceFile] = field(default_factory=dict)

    def add(self, file: SourceFile, folder: FolderId, *, new: bool) -> None:
        """Takes a file in."""
        path = os.fsencode(file.path)
        if path in self.owner:
            return
        self.owner[path] = folder
        self.by_path[path] = file
        self.files.append(file)
        if new:
            self.new_paths.add(path)

    def part_twins(self, links: Mapping[bytes, bytes]) -> None:
        """Leaves one of several hard links to be read; the others get what it gives.

        Args:
            links: Path of a link -> path of the one that is read.
        """
        kept = []
        for file in self.files:
            path = os.fsencode(file.path)
            first = links.get(path, b"")
            if first in self.by_path and os.path.splitext(first)[1].lower() == os.path.splitext(path)[1].lower():
                self.twins.setdefault(first, []).append(file)
            else:
                kept.append(file)
        self.files = kept


class Storing:
    """Stores results one by one and commits at a steady pace.

    Args:
        library: Asked for captions.
        writer: The one that changes the library.
        reporter: Told what was done.
        split: Cuts a text by the rules in force.

    Attributes:
        unsettled: Files that changed while they were read.
        stored: Paths that were stored, in this run.
    """

    def __init__(self, library: Library, writer: Writer, reporter: Reporter, split: Split) -> None:
        self.unsettled: list[SourceFile] = []
        self.stored: set[bytes] = set()
        self.leaving: Counter[int] = Counter()
        self._library = library
        self._writer = writer
        self._reporter = reporter
        self._split = split
        self._open: set[bytes] = set()
        self._since_commit = 0
        self._last_commit = time.monotonic()

    def store(self, item: Item, batch: Batch) -> None:
        """Stores one result of a batch's series."""
        file, outcome = item
        path = os.fsencode(file.path)
        folder = batch.owner[path]
        if file.member:
            self._store_member(folder, file, outcome, batch)
            return
        moved = False
        if isinstance(outcome, Listing):
            self._finish_container(folder, file, outcome, batch)
        elif path in self._open:
            self._break_off(folder, file, outcome, batch)
        else:
            moved = self._store_plain(folder, file, outcome, batch)
        self._count(file, path, batch, moved)
        for twin in batch.twins.pop(path, ()):
            self._store_twin(folder, file, outcome, twin, batch)
        self.stored.add(path)
        self._pace(file)

    def store_recognised(self, item: Item, batch: Batch) -> None:
        """Stores what text recognition gave for a file or one member; text from before stays where it gave none."""
        file, outcome = item
        path = os.fsencode(file.path)
        folder = batch.owner[path]
        if isinstance(outcome, ExtractedText):
            self._drop_stored(folder, file)
            self._put_text(folder, file, outcome)
        elif isinstance(outcome, Problem):
            known = bool(file.content_hash) and self._library.has_content(file.content_hash) is not None
            self._writer.put(folder, file, None, (), (replace(outcome, partial=known),))
        self._count(file, path, batch, moved=False)
        self._pace(file)

    def is_open(self, path: Path) -> bool:
        """Says whether members of this container are being stored."""
        return os.fsencode(path) in self._open

    def commit_if_due(self, *, force: bool = False) -> None:
        """Commits every second or 256 passages."""
        now = time.monotonic()
        if force or self._since_commit >= _COMMIT_PASSAGES or now - self._last_commit >= _COMMIT_SECONDS:
            self._writer.commit()
            self._since_commit = 0
            self._last_commit = now
            self._reporter.view()

    # ------------------------------------------------------------- kinds of results

    def _store_plain(self, folder: FolderId, file: SourceFile, outcome: Outcome, batch: Batch) -> bool:
        """Stores a file without members; True when it turns out to be one that moved here."""
        moved = False
        if isinstance(outcome, ExtractedText):
            if batch.afresh:
                self._drop_stored(folder, file)
            self._put_text(folder, file, outcome)
        elif isinstance(outcome, Problem):
            self._writer.put(folder, file, None, (), (outcome,))
            if outcome.code == UNSETTLED:
                self.unsettled.append(file)
        else:
            content = self._writer.put(folder, file, None, (), ())
            if content is not None and os.fsencode(file.path) in batch.new_paths and self.leaving[content] > 0:
                moved = True
                self.leaving[content] -= 1
        self._caption(file)
        return moved

    def _store_member(self, folder: FolderId, file: SourceFile, outcome: Outcome, batch: Batch) -> None:
        path = os.fsencode(file.path)
        if path not in self._open:
            self._writer.begin_container(folder, batch.by_path[path])
            self._open.add(path)
        if isinstance(outcome, ExtractedText):
            if batch.afresh:
                self._drop_stored(folder, file)
            self._put_text(folder, file, outcome)
        else:
            self._writer.put(folder, file, None, (), (outcome,) if isinstance(outcome, Problem) else ())
        self._caption(file)
        self._pace(file)

    def _finish_container(self, folder: FolderId, file: SourceFile, listing: Listing, batch: Batch) -> None:
        path = os.fsencode(file.path)
        if path not in self._open:
            self._writer.begin_container(folder, batch.by_path[path])
        self._open.discard(path)
        document = listing.document
        passages = self._split(document) if document is not None else []
        self._note_passages(len(passages))
        problems = (*listing.problems, *(document.problems if document is not None else ()))
        self._writer.finish_container(
            folder,
            file,
            document,
            passages,
            tuple(dict.fromkeys(problems)),
            cursor=listing.cursor,
            grown=listing.grown,
        )
        if any(problem.code == UNSETTLED for problem in problems):
            self.unsettled.append(file)
        self._caption(file)

    def _break_off(self, folder: FolderId, file: SourceFile, outcome: Outcome, batch: Batch) -> None:
        """A container that could not be gone through to its end: what was read of it stays, and it is said."""
        self._open.discard(os.fsencode(file.path))
        problem = outcome if isinstance(outcome, Problem) else Problem("internal", "The container was not read whole.")
        known = batch.by_path[os.fsencode(file.path)]
        seen = file if file.mtime_ns else known
        self._writer.finish_container(folder, seen, None, (), (replace(problem, partial=True),), cursor="", grown=True)
        if problem.code == UNSETTLED:
            self.unsettled.append(seen)

    def _store_twin(self, folder: FolderId, file: SourceFile, outcome: Outcome, twin: SourceFile, batch: Batch) -> None:
        """A second hard link gets what the first one gave."""
        path = os.fsencode(twin.path)
        if isinstance(outcome, Listing):
            batch.again.append(twin)
            return
        owner = batch.owner[path]
        same = replace(twin, content_hash=file.content_hash, size=file.size, mtime_ns=file.mtime_ns)
        self._writer.put(owner, same, None, (), (outcome,) if isinstance(outcome, Problem) else ())
        self._caption(same)
        self._count(same, path, batch, moved=False)
        self.stored.add(path)

    # ------------------------------------------------------------- texts and captions

    def _put_text(self, folder: FolderId, file: SourceFile, text: ExtractedText) -> ContentId | None:
        passages = self._split(text)
        content = self._writer.put(folder, file, text, passages, text.problems)
        self._note_passages(len(passages))
        return content

    def _drop_stored(self, folder: FolderId, file: SourceFile) -> None:
        """Lets go of the stored text of these bytes, so that the new one takes its place; within one commit."""
        content = self._library.has_content(file.content_hash) if file.content_hash else None
        places = self._library.paths_of(content) if content is not None else ()
        if any((place.path, place.member) != (file.path, file.member) for place in places):
            return  # other files share it: it stays as it is for all of them
        if content is not None:
            self._writer.put(folder, replace(file, content_hash=""), None, (), ())

    def _caption(self, file: SourceFile) -> None:
        """Brings the person's own words back to bytes that had some."""
        if not file.content_hash:
            return
        words = self._library.caption_for(file.content_hash)
        if words and self._library.caption_of(file.path, file.member) != words:
            put_caption(self._writer, self._split, file.path, file.member, words)

    # ------------------------------------------------------------- counting

    def _note_passages(self, count: int) -> None:
        self._reporter.tally.stored_passages += count
        self._since_commit += count

    def _count(self, file: SourceFile, path: bytes, batch: Batch, moved: bool) -> None:
        tally = self._reporter.tally
        tally.files_done += 1
        if batch.quiet:
            return
        if moved:
            tally.moved += 1
            tally.removed -= 1
        elif path in self.stored:
            pass  # counted already: it changed while it waited for its turn
        elif path in batch.new_paths:
            tally.added += 1
        else:
            tally.changed += 1

    def _pace(self, file: SourceFile) -> None:
        inside = f" \N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK} {display_path(file.member)}" if file.member else ""
        self._reporter.current = (file.path.parent, short_path(file.path) + inside)
        self.commit_if_due()
        self._reporter.progress()


def put_caption(writer: Writer, split: Split, path: Path, member: str, words: str) -> None:
    """Stores a caption, cut into passages; ``""`` takes it away."""
    text = caption_text(words)
    writer.put_caption(path, member, text, split(text) if text is not None else [])


def caption_text(words: str) -> ExtractedText | None:
    """Gives a caption as a document of paragraphs, or None when there is nothing in it."""
    import unicodedata

    words = unicodedata.normalize("NFC", words.replace("\r\n", "\n").replace("\0", "")).strip()
    if not words:
        return None
    return ExtractedText("caption", words, tuple(_paragraphs(words)))


def _paragraphs(text: str) -> Iterable[Block]:
    start = 0
    for part in text.split("\n\n"):
        if part.strip():
            yield Block(start, start + len(part))
        start += len(part) + 2
