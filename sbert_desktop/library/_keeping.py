"""The part of the library's interface that keeps what the person made; :class:`Library` inherits it."""

from __future__ import annotations

import sqlite3
import threading
import time
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from types import EllipsisType

from sbert_desktop.domain import ContentId
from sbert_desktop.errors import LibraryError
from sbert_desktop.library import _disk, _kept, _kept_copies
from sbert_desktop.library._records import CollectionRecord, JudgementRecord, KeptPassage, SavedRecord


class Keeping:
    """Judgements, collections, saved searches and arrangements. Every method may be called from any thread.

    They wait for no writer's lock, and what they write is on disk when they return. All raise
    LibraryError ``library-readonly`` when they would write, and LibraryBusy ``library-busy``.
    """

    path: Path
    read_only: bool

    def __init__(self) -> None:
        self._kept_lock = threading.Lock()
        self._kept_changed = False

    @abstractmethod
    def _reading(self) -> AbstractContextManager[sqlite3.Connection]: ...

    @contextmanager
    def _keeping(self) -> Iterator[sqlite3.Connection]:
        if self.read_only:
            raise _disk.read_only(self.path)
        with self._kept_lock, _disk.known_errors(self.path):
            with _kept.writing(self.path) as connection:
                yield connection
            self._kept_changed = True
            if not _kept_copies.today(self.path).exists():
                self._write_copy()

    def note_kept(self) -> None:
        """Notes that today's copy lacks something that was just kept."""
        self._kept_changed = True

    def _write_copy(self) -> None:
        with self._reading() as connection:
            _kept_copies.write(self.path, connection)
        self._kept_changed = False

    def copy_kept(self) -> Path | None:
        """Writes today's copy (``kept/YYYY-MM-DD.jsonl``) now if anything changed since it was written; gives its path.

        Done by itself at the first change of a day and when the library is closed.
        """
        path = _kept_copies.today(self.path)
        if not self.read_only and self._kept_changed:
            with self._kept_lock, _disk.known_errors(self.path):
                self._write_copy()
        return path if path.exists() else None

    def import_kept(self, source: Path) -> dict[str, int]:
        """Adds what a copy holds and the library does not; what is there stays as it is.

        Gives how many ``judgements``, ``collections``, ``items``, ``searches``, ``captions`` and ``arrangements`` were
        new, ``later`` (captions, while the library has no folder: import again then), and the ``unread`` lines. A
        caption is found again when its file is read the next time; an arrangement comes back only where the library
        has none of its name. Twice the same copy brings nothing twice.

        Raises:
            LibraryError: ``kept-unreadable``, ``kept-damaged``.
        """
        with self._keeping() as connection:
            return _kept_copies.read_back(connection, source)

    def missing_from(self, source: Path) -> dict[str, int]:
        """Counts what :meth:`import_kept` would bring from a copy; changes nothing.

        Raises:
            LibraryError: As :meth:`import_kept`.
        """
        if self.read_only:
            raise _disk.read_only(self.path)
        with self._kept_lock, _disk.known_errors(self.path):
            counts: dict[str, int] = {}
            try:
                with _kept.writing(self.path) as connection:
                    counts = _kept_copies.read_back(connection, source)
                    raise _Undone
            except _Undone:
                return counts

    def kept_copies(self) -> tuple[Path, ...]:
        """Lists the daily copies of this library, newest first."""
        return tuple(_kept_copies.copies(self.path))

    # ------------------------------------------------------------ judgements

    def sha256s(self, contents: Iterable[ContentId | int]) -> dict[int, str]:
        """Gives the hashes of many documents by content id; those that are gone are left out.

        100,000 take about 0.1 s.
        """
        wanted = {int(content) for content in contents}
        with self._reading() as connection:
            return _kept.sha256s(connection, wanted)

    def sha256_of(self, content: ContentId | int) -> str:
        """Gives the hash by which judgements and collections name a document, ``""`` when it is gone."""
        with self._reading() as connection:
            row = connection.execute("SELECT sha256 FROM content WHERE id=?", (content,)).fetchone()
        return str(row[0]) if row else ""

    def judge(
        self,
        kind: str,
        verdict: str,
        query: str,
        sha256: str,
        start: int,
        end: int,
        text: str,
        *,
        other: tuple[str, int, int, str] | None = None,
    ) -> None:
        """Keeps what the person said of a passage for a query; a later verdict takes the place of an earlier one.

        Args:
            kind: What was asked, e.g. ``relevance``.
            verdict: The answer; ``""`` takes it back.
            query: For which query, ``""`` for none.
            sha256: The document, see :meth:`sha256_of`.
            start: Code points into its text.
            end: The same, exclusive.
            text: The passage itself.
            other: sha256, start, end and text of a second passage, where two are compared.
        """
        second = other or ("", 0, 0, "")
        record = JudgementRecord(kind, verdict, _clean(query), sha256, start, end, text, *second, made=time.time())
        with self._keeping() as connection:
            _kept.judge(connection, record)

    def judge_all(self, records: Sequence[JudgementRecord]) -> None:
        """Keeps many judgements at once: all or none. As :meth:`judge`, ``made`` is taken from the record."""
        with self._keeping() as connection:
            for record in records:
                _kept.judge(connection, record)

    def judged_pairs(self, kind: str, query: str, verdict: str) -> frozenset[tuple[str, str]]:
        """Gives the sha256 of every two that were judged so, without reading their texts."""
        with self._reading() as connection:
            rows = connection.execute(
                "SELECT sha256_a, sha256_b FROM judgement WHERE kind=? AND query=? AND verdict=?",
                (kind, query, verdict),
            )
            return frozenset((str(one), str(other)) for one, other in rows)

    def judgements(self, kind: str | None = None, query: str | None = None) -> tuple[JudgementRecord, ...]:
        """Lists judgements, oldest first; of one kind, or for one query, if so asked."""
        with self._reading() as connection:
            return _kept.judgements(connection, kind, None if query is None else _clean(query))

    # ------------------------------------------------------------ collections

    def collections(self) -> tuple[CollectionRecord, ...]:
        """Lists collections by name, each with its items and where these are now."""
        with self._reading() as connection:
            connection.execute("BEGIN")
            try:
                return _kept.collections(connection)
            finally:
                connection.execute("COMMIT")

    def collect(self, name: str, items: Sequence[KeptPassage], note: str | None = None) -> None:
        """Puts passages or documents into a collection, made when new; what is in it already stays as it is.

        Raises:
            LibraryError: ``name-missing``.
        """
        with self._keeping() as connection:
            _kept.collect(connection, name, items, note)

    def change_collection(
        self,
        name: str,
        *,
        rename: str = "",
        note: str | None = None,
        take_out: Sequence[int] = (),
        item_note: tuple[int, str] | None = None,
        delete: bool = False,
    ) -> None:
        """Changes a collection: its name, its note, the note of an item (id, text), which items leave, all of it.

        Raises:
            LibraryError: ``collection-unknown``, ``collection-known`` (the new name is taken).
        """
        with self._keeping() as connection:
            _kept.change_collection(connection, name, rename, note, take_out, item_note, delete)

    # ------------------------------------------------------------ saved searches

    def saved_searches(self) -> tuple[SavedRecord, ...]:
        """Lists saved searches, newest first."""
        with self._reading() as connection:
            return _kept.saved_searches(connection)

    def save_search(
        self, name: str, query: str, *, seen: int | None = None, waiting: Sequence[tuple[int, int]] | None = None
    ) -> None:
        """Keeps a search (the caller's JSON) under a name, in the place of one that had it.

        Args:
            name: One line of text.
            query: What brings the search back.
            seen: The highest content id that its results were made from; None: all that is there.
            waiting: Ranges (first, last) of contents that had no vectors then; None: those that have none now.

        Raises:
            LibraryError: ``name-missing``.
        """
        with self._keeping() as connection:
            newest = self._newest(connection) if seen is None else seen
            without = _kept.without_vectors(connection) if waiting is None else tuple(waiting)
            _kept.save_search(connection, SavedRecord(name, query, time.time(), newest, without))

    def mark_seen(
        self, name: str, seen: int | None = None, *, waiting: Sequence[tuple[int, int]] | None = None
    ) -> None:
        """Notes that the person has looked: contents above ``seen`` (None: all that is there) are fresh from now on.

        Args:
            name: Of the search.
            seen: The highest content id that was there.
            waiting: Ranges (first, last) of contents that had no vectors then: they are fresh once they have;
                None: those that have none now.
        """
        with self._keeping() as connection:
            newest = self._newest(connection) if seen is None else seen
            without = _kept.without_vectors(connection) if waiting is None else waiting
            _kept.mark_seen(connection, name, newest, without)

    def remove_saved(self, name: str) -> None:
        """Forgets a saved search."""
        with self._keeping() as connection:
            _kept.remove_saved(connection, name)

    # ------------------------------------------------------------ arrangements

    def arrangement(self, name: str) -> bytes | None:
        """Gives what was last kept under a name by :meth:`arrange`, or None."""
        with self._reading() as connection:
            return _kept.arrangement(connection, name)

    def arrange(self, name: str, data: bytes, *, over: bytes | EllipsisType | None = ...) -> None:
        """Keeps how the person has arranged documents (their themes), packed by the caller, as a whole.

        Documents are to be named by sha256. When documents are erased, the data stays as it is, as the person's own
        work; hashes may stay in it, words taken from those documents may not: whoever packs it asks
        :meth:`is_arrangement_stale` when loading, takes them out, and keeps it again.

        Args:
            name: E.g. ``themes``.
            data: At most 64 MB; ``b""`` forgets what was kept.
            over: What it was made from, None for nothing: it only takes the place of that. Without it, of anything.

        Raises:
            ValueError: More than 64 MB.
            LibraryError: ``arrangement-changed``: another process has kept something else meanwhile.
        """
        if len(data) > _kept.LARGEST:
            raise ValueError("an arrangement holds 64 MB at most")
        with self._keeping() as connection:
            if over is not ... and _kept.arrangement(connection, _clean(name)) != over:
                raise LibraryError(
                    "arrangement-changed", "Another program changed the clusters at the same time.", "Try again."
                )
            _kept.arrange(connection, _clean(name), data)

    def is_arrangement_stale(self, name: str) -> bool:
        """Says whether documents were erased for good since an arrangement was kept: see :meth:`arrange`."""
        with self._reading() as connection:
            return _kept.is_stale(connection, name)

    def _newest(self, connection: sqlite3.Connection) -> int:
        return int(connection.execute("SELECT coalesce(max(id), 0) FROM content").fetchone()[0])


class _Undone(Exception):  # noqa: N818
    """Leaves a transaction without a trace."""


def _clean(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")
