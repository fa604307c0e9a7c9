"""The open library: what everybody may read, the lock for the one who writes, and snapshots."""

from __future__ import annotations

import logging
import os
import shutil
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from sbert_desktop.domain import (
    ContentId,
    ExtractedText,
    FolderId,
    NeighbourIndex,
    Snapshot,
    SourceFile,
    Vectors,
    short_path,
)
from sbert_desktop.errors import Cancelled, LibraryBusy, LibraryError
from sbert_desktop.library import (
    _analysis,
    _captions,
    _columns,
    _disk,
    _filtering,
    _health,
    _history,
    _hnsw,
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
from sbert_desktop.library._files import member_name
from sbert_desktop.library._keeping import Keeping
from sbert_desktop.library._lock import HOLDER, WriterLock
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
from sbert_desktop.library._writer import Writer

log = logging.getLogger(__name__)

_Wanted = tuple[set[str], set[str], tuple[str, ...]]
COLUMNS_KEPT = 2  # a search may still be under way in the space that was left
DISCARDED = "The index did not match its checksum; it was discarded and is rebuilt from the vectors."


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
        self._idle: list[sqlite3.Connection] = []
        self._idle_lock = threading.Lock()
        self._columns: dict[str, _columns.Columns] = {}
        self._columns_lock = threading.Lock()
        self._columns_connection: sqlite3.Connection | None = None
        self._data_version: dict[str, int] = {}
        self._indexes: dict[str, NeighbourIndex | None] = {}
        self._refused = ""  # the stamp of the index file that was refused
        self._index_lock = threading.Lock()
        self._postings = _words.Postings()
        self._answers = _phrases.Answers()
        self._details = _filtering.Details(self._reading)
        self._wanted: tuple[tuple[str, int], _Wanted] | None = None
        self._history = _history.History(path)
        self.shelf = _shelf.Shelf(path, read_only=self.read_only)
        self.layouts = _layouts.Layouts(path, read_only=self.read_only)
        try:
            self._start()
        except BaseException:
            self.close()
            raise

    def _start(self) -> None:
        with _disk.known_errors(self.path):
            with self._reading() as connection:
                version = _schema.version_of(connection)
                connection.execute("SELECT count(*) FROM (SELECT 1 FROM folder LIMIT 1)").fetchone()
            if not self.read_only:
                self._recover(version)
                with self._reading() as connection:
                    version = _schema.version_of(connection)
            if version != _schema.SCHEMA_VERSION:
                raise self._too_old()

    def _too_old(self) -> LibraryError:
        if self.read_only:
            return LibraryError(
                "library-older",
                f"The library {short_path(self.path)} was made by an earlier version and cannot be brought up to date.",
                "Open it once where this program may write to it.",
            )
        return LibraryBusy(
            "library-busy",
            f"The library is being written by {WriterLock(self.path).holder()}, an earlier version of this program.",
            "Close the other program, then try again.",
        )

    def _recover(self, version: int) -> None:
        """Checks the catalog after an unclean end, makes an interrupted catalog whole, migrates an old one."""
        unclean = (self.path / HOLDER).exists()
        if not unclean and version == _schema.SCHEMA_VERSION:
            return
        lock = WriterLock(self.path)
        if not lock.try_acquire():
            return  # the holder lives
        clean = False
        try:
            if version == 0:
                _schema.create(self.path)
            connection = _schema.connect(self.path, mode="rw")
            try:
                _schema.migrate(self.path, connection)
                if lock.unclean:
                    found = _health.quick_check(connection)
                    if found:
                        raise _disk.damaged(self.path, "; ".join(found[:5]))
                clean = True
            finally:
                connection.close()
        finally:
            lock.release(clean=clean)

    def close(self) -> None:
        """Closes every connection; idempotent. Snapshots keep their arrays."""
        if not self._closed and not self.read_only:
            try:
                self._history.close()
                self.copy_kept()
            except (OSError, sqlite3.Error, LibraryError):
                pass
        self._closed = True
        with self._idle_lock:
            idle, self._idle = self._idle, []
        with self._columns_lock:
            if self._columns_connection is not None:
                idle.append(self._columns_connection)
                self._columns_connection = None
            self._columns.clear()
        self._indexes.clear()
        for connection in idle:
            connection.close()

    def __enter__(self) -> Library:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        """Lends a connection for reading; problems of SQLite become known ones."""
        with self._idle_lock:
            if self._closed:
                raise LibraryError("library-closed", "The library is closed.")
            connection = self._idle.pop() if self._idle else None
        with _disk.known_errors(self.path):
            if connection is None:
                connection = self._connect()
            try:
                yield connection
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
            finally:
                with self._idle_lock:
                    keep = not self._closed and len(self._idle) < 4
                    if keep:
                        self._idle.append(connection)
                if not keep:
                    connection.close()

    def _connect(self) -> sqlite3.Connection:
        connection = _schema.connect(self.path, mode=self._mode)
        if self._mode == "rw":
            connection.execute("PRAGMA query_only=ON")
        return connection

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
        return _snapshot.LibrarySnapshot(self, self._view(fingerprint))

    def _view(self, fingerprint: str | None) -> _columns.View:
        if not fingerprint:
            space = self.active_space()
            fingerprint = space.fingerprint if space else ""
        with self._columns_lock, _disk.known_errors(self.path):
            if self._closed:
                raise LibraryError("library-closed", "The library is closed.")
            if self._columns_connection is None:
                self._columns_connection = self._connect()
            connection = self._columns_connection
            # Taken before reading: a commit in between is then read once more, never missed.
            version = int(connection.execute("PRAGMA data_version").fetchone()[0])
            columns = self._columns.get(fingerprint)
            if columns is None:
                while len(self._columns) >= COLUMNS_KEPT:  # those of a space that nobody searches any more
                    self._columns.pop(next(iter(self._columns)))
                columns = self._columns[fingerprint] = _columns.Columns(self.path, fingerprint)
            if columns.view is None or self._data_version.get(fingerprint) != version:
                columns.refresh(connection)
                self._data_version[fingerprint] = version
                if columns.view is not None and columns.view.damaged:
                    self._notice(_health.SHORT_VECTORS)
            assert columns.view is not None
            return columns.view

    def _index_of(self, view: _columns.View) -> NeighbourIndex | None:
        if view.index is None or view.space is None or int(view.alive.sum()) < self.exact_below:
            return None
        with self._index_lock:
            path = _vectors.space_folder(self.path, view.space.fingerprint) / view.index.file
            key = f"{view.index.file} {view.index.sha256}"
            # What was refused once may be built anew with the same name and bytes: the file itself is looked at.
            stamp = "" if self._indexes.get(key) is not None else _disk.stamp(path)
            if key not in self._indexes or (self._indexes[key] is None and stamp != self._refused):
                index = _hnsw.load(path, view.index) if view.index.dimension == view.space.dimension else None
                if index is None:
                    self._refused = stamp
                    self._notice(DISCARDED)
                self._indexes.clear()  # an earlier generation lives on as long as a snapshot's search runs
                self._indexes[key] = index
            return self._indexes[key]

    def match_words(self, query: str, text: str) -> list[tuple[int, int]]:
        """Gives where words of a text match words of the query (folded, or by stem), in order.

        What the query wants is worked out once per query and state of the library.
        """
        view = self._view(None)
        known = self._wanted
        if known is None or known[0] != (query, view.generation):
            known = self._wanted = ((query, view.generation), self._wanted_words(query, view))
        wanted, single, languages = known[1]
        return _analysis.match(wanted, single, text, languages)

    def _wanted_words(self, query: str, view: _columns.View) -> _Wanted:
        languages = _analysis.query_languages(view.language_order())
        wanted = _analysis.query_tokens(query, languages)
        if view.segmentation is not None and view.words >= _words.TELLING_FROM and wanted:
            with self._reading() as connection:
                wanted = self._postings.telling(connection, view.segmentation, wanted, view.words, _words.TELLING_SHARE)
        single = {token.text for token in wanted if token.prefix}
        return {token.text for token in wanted}, single, languages

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
            return _measuring.measure(
                connection, view, index, queries, step, index_from=self.index_from, folder=folder
            )

    def _notice(self, text: str) -> None:
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
