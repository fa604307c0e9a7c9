"""The open library: what everybody may read, the lock for the one who writes, and snapshots."""

from __future__ import annotations

import logging
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from sbert_desktop.domain import (
    ContentId,
    ExtractedText,
    FolderId,
    NeighbourIndex,
    Snapshot,
    SourceFile,
    Vectors,
)
from sbert_desktop.errors import Cancelled, LibraryError
from sbert_desktop.library import (
    _captions,
    _disk,
    _filtering,
    _health,
    _history,
    _kept,
    _known,
    _layouts,
    _listing,
    _measuring,
    _phrases,
    _reading,
    _schema,
    _shelf,
    _snapshot,
    _spaces,
    _text,
    _vectors,
    _words,
)
from sbert_desktop.library._connections import Connections
from sbert_desktop.library._files import member_name
from sbert_desktop.library._indexes import Indexes
from sbert_desktop.library._keeping import Keeping
from sbert_desktop.library._lock import WriterLock
from sbert_desktop.library._matching import Matcher
from sbert_desktop.library._readiness import make_ready
from sbert_desktop.library._records import (
    ChangeRecord,
    CopyRecord,
    Counts,
    FolderRecord,
    HealthRecord,
    KnownFile,
    ProblemRecord,
    SpaceRecord,
    WantedSpace,
)
from sbert_desktop.library._view import View
from sbert_desktop.library._views import Views
from sbert_desktop.library._writer import Writer

log = logging.getLogger(__name__)


class Library(Keeping):
    """One open library. Every method may be called from any thread.

    Attributes:
        path: The library's folder.
        read_only: True when nothing can be written.
        notices: Plain sentences about what was found and done while opening and since.
        shelf: What was computed from the library and is slow to compute again.
        layouts: The same for large arrays: a map's positions, a graph.
    """

    def __init__(self, path: Path, mode: str, exact_below: int, index_from: int, extractor_version: int) -> None:
        super().__init__()
        self.path = path
        self.read_only = mode != "rw"
        self.notices: list[str] = []
        self.exact_below = exact_below
        self.index_from = index_from
        self.extractor_version = extractor_version
        self._mode = mode
        self._closed = False
        self._connections = Connections(path, mode)
        self._views = Views(path, self._connections, self.notice)
        self._indexes = Indexes(path, self.notice)
        postings = _words.Postings()
        self._matcher = Matcher(self._reading, postings)
        self._shared = _snapshot.Shared(
            self._reading, self._index_of, _filtering.Details(self._reading), postings, _phrases.Answers()
        )
        self._history = _history.History(path)
        self.shelf = _shelf.Shelf(path, read_only=self.read_only)
        self.layouts = _layouts.Layouts(path, read_only=self.read_only)
        try:
            make_ready(path, self._connections, read_only=self.read_only)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Closes every connection; idempotent. Snapshots keep their arrays."""
        if not self._closed and not self.read_only:
            try:
                self._history.close()
                self.copy_kept()
            except (OSError, sqlite3.Error, LibraryError):
                pass
        self._closed = True
        self._views.close()
        self._indexes.clear()
        self._connections.close()

    def __enter__(self) -> Library:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _reading(self) -> AbstractContextManager[sqlite3.Connection]:
        return self._connections.lend()

    # ------------------------------------------------------------ what is in it

    def folders(self, fingerprint: str | None = None) -> tuple[FolderRecord, ...]:
        """Lists the folders, oldest first, counted for a space (None: the active one)."""
        view = self._view(fingerprint)
        with self._reading() as connection:
            return _listing.folders(connection, view)

    def counts(self, fingerprint: str | None = None) -> Counts:
        """Gives the totals over the active folders for a space (None: the active one)."""
        view = self._view(fingerprint)
        documents, problems, ignored = view.totals()
        return Counts(documents, view.passages, int(view.alive.sum()), problems, ignored)

    def problems(self, folder: FolderId | None = None, codes: Sequence[str] | None = None) -> tuple[ProblemRecord, ...]:
        """Lists the problems of active folders, or of one folder, by path and member; ignored ones too.

        ``codes``: only these (a list of all takes about 11 microseconds each).
        """
        with self._reading() as connection:
            return _listing.problems(connection, folder, codes)

    def recent(self, limit: int = 200) -> tuple[ChangeRecord, ...]:
        """Lists the documents read last, newest first."""
        with self._reading() as connection:
            return _listing.recent(connection, limit)

    def copies(self) -> list[CopyRecord]:
        """Lists every file and member of active folders, by path and member."""
        with self._reading() as connection:
            return _listing.copies(connection)

    def known_files(self, folder: FolderId, below: Sequence[Path] | None = None) -> dict[bytes, KnownFile]:
        """Gives what the catalog remembers of a folder's files by path; what is inside containers is left out.

        Args:
            folder: Whose files.
            below: Only these files and what lies below these folders; None: all.
        """
        known: dict[bytes, KnownFile] = {}
        with self._reading() as connection:
            if below is None:
                _known.read(connection, folder, self.extractor_version, None, known)
            for place in below or ():
                _known.read(connection, folder, self.extractor_version, os.fsencode(place), known)
        return known

    def has_content(self, sha256: str) -> ContentId | None:
        """Gives the content with these bytes, read by the current extractor, or None.

        A container's own text does not tell what is inside it: a copy of a container is not known.
        """
        with self._reading() as connection:
            row = connection.execute(
                "SELECT id FROM content c WHERE sha256=? AND extractor_version=? AND NOT EXISTS (SELECT 1 FROM file f"
                " JOIN file m ON m.parent=f.id AND m.captions IS NULL WHERE f.content=c.id)",
                (sha256, self.extractor_version),
            ).fetchone()
        return ContentId(row[0]) if row else None

    def text_of(self, content: ContentId) -> ExtractedText:
        """Gives the stored text of a content.

        Raises:
            LibraryError: ``content-gone``.
        """
        with self._reading() as connection:
            text = _text.read_record(connection, content)
        if text is None:
            raise LibraryError("content-gone", "This document is no longer in the library.", "Search again.")
        return text

    def paths_of(self, content: ContentId) -> tuple[SourceFile, ...]:
        """Gives every place of a content in active folders, the shortest path first."""
        with self._reading() as connection:
            return _snapshot.paths_of(connection, content)

    def content_at(self, path: Path, member: str | None = None) -> ContentId | None:
        """Gives the content of the file at a path, or None; without a member: its own, or of the first inside."""
        name = None if member is None else member_name(member)
        with self._reading() as connection:
            row = connection.execute(
                "SELECT content FROM file WHERE path=? AND content IS NOT NULL AND (? IS NULL OR member=?)"
                " ORDER BY captions IS NOT NULL, member LIMIT 1",
                (os.fsencode(path), name, name),
            ).fetchone()
        return ContentId(row[0]) if row else None

    def caption_of(self, path: Path, member: str = "") -> str:
        """Gives the person's own words about a file or member, ``""`` when there are none."""
        with self._reading() as connection:
            row = _captions.of(connection, os.fsencode(path), member_name(member))
            return (_text.read(connection, row[1]) or "") if row else ""

    def caption_for(self, sha256: str) -> str:
        """Gives what the person once wrote about a file with these bytes, ``""`` when there is nothing.

        A file that comes back has no caption yet: give it this one with :meth:`Writer.put_caption`.
        """
        with self._reading() as connection:
            return _captions.kept(connection, sha256)

    # ------------------------------------------------------------ what is being read

    def note_reading(self, path: bytes, size: int, mtime_ns: int) -> None:
        """Notes on disk that a file is being read now, for the case that this kills the program. Any thread."""
        if not self.read_only:
            with _disk.known_errors(self.path):
                _reading.note(self.path, path, size, mtime_ns)

    def done_reading(self, path: bytes) -> None:
        """Takes the note away. Any thread."""
        if not self.read_only:
            _reading.done(self.path, path)

    def interrupted(self) -> tuple[tuple[bytes, int, int], ...]:
        """Gives path, size and time of files that have a note: ask while nobody reads, with the writer's lock."""
        return _reading.left(self.path)

    def active_space(self) -> SpaceRecord | None:
        """Gives the space that new vectors go to, or None in an empty library."""
        spaces = [space for space in self.spaces() if space.state == "active"]
        return spaces[0] if spaces else None

    def spaces(self) -> tuple[SpaceRecord, ...]:
        """Lists all spaces."""
        with self._reading() as connection:
            rows = connection.execute(
                "SELECT x.fingerprint, x.dimension, x.state, x.name, s.key FROM space x"
                " JOIN segmentation s ON s.id=x.segmentation ORDER BY x.id"
            ).fetchall()
        return tuple(SpaceRecord(*row) for row in rows)

    def measured_spaces(self) -> tuple[SpaceRecord, ...]:
        """Lists all spaces with what they hold and their size on the disk."""
        with self._reading() as connection:
            return _spaces.measure(self.path, connection)

    def held(self, fingerprint: str) -> int:
        """Gives how many rows a space has, those of removed documents included; quick."""
        with self._reading() as connection:
            row = connection.execute("SELECT rows FROM space WHERE fingerprint=?", (fingerprint,)).fetchone()
        return int(row[0]) if row else 0

    def wanted_space(self) -> WantedSpace | None:
        """Gives the space that is to be prepared and then to take the active one's place, or None."""
        with self._reading() as connection:
            return _spaces.wanted(connection)

    def want_space(self, space: WantedSpace | None) -> None:
        """Says which space is to be prepared; None: none, and what was made of it stays. Needs no writer's lock."""
        if self.read_only:
            raise _disk.read_only(self.path)
        with self._kept_lock, _disk.known_errors(self.path), _kept.writing(self.path) as connection:
            _spaces.want(connection, space)

    def room(self) -> int:
        """Gives the bytes that may still be written: what is free beyond the least that has to stay so."""
        return shutil.disk_usage(self.path).free - _disk.minimum_free(self.path)

    def pending_count(self, fingerprint: str | None = None) -> tuple[int, int, int]:
        """Gives documents, passages and characters that still need vectors in a space (None or "": the active one)."""
        fingerprint = fingerprint or None
        with self._reading() as connection:
            row = connection.execute(
                "SELECT count(*), coalesce(sum(t.passages), 0), coalesce(sum(t.characters), 0) FROM todo t"
                " JOIN space x ON x.id=t.space WHERE (x.fingerprint=? OR (? IS NULL AND x.state='active'))"
                " AND (NOT EXISTS (SELECT 1 FROM folder WHERE state!='active' OR words_only) OR EXISTS"
                " (SELECT 1 FROM file f JOIN folder d ON d.id=f.folder WHERE f.content=t.content AND d.state='active'"
                " AND NOT d.words_only))",
                (fingerprint, fingerprint),
            ).fetchone()
        return int(row[0]), int(row[1]), int(row[2])

    def formats(self) -> tuple[str, ...]:
        """Gives the types of live documents as filters know them (lower-case extensions), most common first."""
        return self._view(None).type_order()

    def languages(self) -> tuple[str, ...]:
        """Gives the languages of live documents, most common first."""
        return self._view(None).language_order()

    # ------------------------------------------------------------ searching

    def snapshot(self, fingerprint: str) -> Snapshot:
        """Gives the newest committed state for a space ("": the active one); cheap when nothing changed."""
        return _snapshot.LibrarySnapshot(self._shared, self._view(fingerprint))

    def _view(self, fingerprint: str | None) -> View:
        if not fingerprint:
            space = self.active_space()
            fingerprint = space.fingerprint if space else ""
        return self._views.get(fingerprint)

    def _index_of(self, view: View) -> NeighbourIndex | None:
        exact = view.index is None or int(view.alive.sum()) < self.exact_below
        return None if exact else self._indexes.get(view)

    def match_words(self, query: str, text: str) -> list[tuple[int, int]]:
        """Gives where words of a text match words of the query (folded, or by stem), in order.

        What the query wants is worked out once per query and state of the library.
        """
        return self._matcher.match(self._view(None), query, text)

    # ------------------------------------------------------------ health

    def quick_check(self) -> list[str]:
        """Gives what SQLite's quick check found; empty when all is well."""
        with self._reading() as connection:
            return _health.quick_check(connection)

    def integrity(self) -> dict[str, int]:
        """Counts what must agree; every value of a key that starts with ``bad_`` must be 0."""
        with _disk.known_errors(self.path):
            connection = _schema.connect(self.path, mode=self._mode)  # needs temporary tables
            try:
                return _health.integrity(self.path, connection)
            finally:
                connection.close()

    def health(
        self,
        queries: Vectors | None = None,
        *,
        fingerprint: str | None = None,
        step: Callable[[int, int], None] | None = None,
    ) -> HealthRecord:
        """Counts the rows of a space and measures the accelerator against exact search.

        Args:
            queries: Vectors of real queries, float32 [n, dimension] of unit rows; filled up to a hundred with rows
                of the library.
            fingerprint: Which space; None: the active one.
            step: Called with done and total rows now and then; may raise to give up.
        """
        view = self._view(fingerprint)
        index = self._index_of(view)
        if queries is not None and queries.shape[1:] != view.vectors.shape[1:]:
            queries = None
        with self._reading() as connection:
            folder = _vectors.space_folder(self.path, view.space.fingerprint) if view.space is not None else self.path
            return _measuring.measure(connection, view, index, queries, step, index_from=self.index_from, folder=folder)

    def notice(self, text: str) -> None:
        """Keeps a plain sentence about what was found or done, once."""
        if text not in self.notices:
            self.notices.append(text)
            log.warning("%s", text)

    # ------------------------------------------------------------ writing

    @contextmanager
    def writer(
        self,
        *,
        wait: bool = True,
        on_wait: Callable[[str], None] | None = None,
        check: Callable[[], None] | None = None,
    ) -> Iterator[Writer]:
        """Takes the writer's lock and gives the one object that may change the library.

        Leaving normally, or by a cancel, commits; leaving by any other error rolls back to the last commit.

        Args:
            wait: Wait for another holder; else raise.
            on_wait: Called once with the holder's name when waiting begins.
            check: Called at each poll while waiting; may raise to give up.

        Raises:
            LibraryBusy: ``library-busy`` naming the holder (pid and host).
            LibraryError: ``library-readonly``, ``library-damaged`` or ``disk-full``.
        """
        if self.read_only:
            raise _disk.read_only(self.path)
        lock = WriterLock(self.path)
        with _disk.known_errors(self.path):
            lock.acquire(wait=wait, on_wait=on_wait, check=check)
        clean = False
        try:
            with _disk.known_errors(self.path):
                writer = Writer(self, unclean=lock.unclean)
            clean = True  # from here on only a killed process leaves the holder's note behind
            try:
                yield writer
            except (Cancelled, KeyboardInterrupt):
                writer.commit()
                raise
            else:
                writer.commit()
            finally:
                writer.close()
        finally:
            lock.release(clean=clean or not lock.unclean)

    # ------------------------------------------------------------ history

    def history(self, limit: int = _history.KEPT) -> tuple[str, ...]:
        """Gives earlier queries, newest first."""
        with self._reading() as connection:
            return self._history.latest(connection, limit)

    def add_history(self, query: str) -> None:
        """Remembers a query; never waits for the writer: it is written later. Without effect in a read-only library."""
        query = _text.clean(query.strip())
        if query and not self.read_only:
            self._history.add(query)

    def clear_history(self) -> None:
        """Forgets all queries, also on disk."""
        with _disk.known_errors(self.path):
            self._history.clear(on_disk=not self.read_only)
