"""The one object that changes a library, alive while its process holds the writer's lock.

All changes between two commits are one SQLite transaction, :mod:`._transaction`. What is changed inside it stands
with the rows: :mod:`._folders`, :mod:`._files`, :mod:`._contents`, :mod:`._spaces`, :mod:`._space`.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sbert_desktop.domain import (
    ContentId,
    EncoderInfo,
    ExtractedText,
    FileId,
    FolderId,
    FolderRules,
    JobContext,
    Passage,
    PassageId,
    Problem,
    SourceFile,
    SplitRules,
)
from sbert_desktop.errors import LibraryError
from sbert_desktop.library import (
    _captions,
    _erasing,
    _folders,
    _health,
    _kept_copies,
    _reading,
    _schema,
    _shelf,
    _spaces,
)
from sbert_desktop.library._changes import Change
from sbert_desktop.library._contents import Contents
from sbert_desktop.library._files import Files, member_name
from sbert_desktop.library._open_spaces import OpenSpaces
from sbert_desktop.library._records import PendingDocument
from sbert_desktop.library._transaction import Transaction

if TYPE_CHECKING:
    from sbert_desktop.library._library import Library


class Writer:
    """Changes the library; made by :meth:`Library.writer`. For one thread at a time.

    Every method may raise LibraryError ``disk-full`` or ``library-damaged``; then everything since
    the last commit is rolled back, except after ``disk-full`` from the check that begins
    :meth:`commit`, which may simply be called again when there is room.
    """

    def __init__(self, library: Library, *, unclean: bool) -> None:
        self._library = library
        self._folder = library.path
        self._changes: set[tuple[Change, int]] = set()
        self._connection = _schema.connect(self._folder, mode="rw")
        self._open_spaces = OpenSpaces(self._folder, self._connection, self._changes)
        self._transaction = Transaction(self._folder, self._connection, self._open_spaces, self._changes)
        self._contents = Contents(self._connection, self._changes, self._open_spaces, library.extractor_version)
        self._files = Files(self._connection, self._changes, self._contents.forget, library.extractor_version)
        try:
            if unclean:
                _health.require_sound(self._folder, self._connection)
            _health.recover(self._folder, self._connection, library.notice)
            self._open_spaces.load()
        except BaseException:
            self.close()
            raise

    # ------------------------------------------------------------ folders

    def add_folder(self, path: Path, *, words_only: bool = False) -> FolderId:
        """Adds a folder; the same one twice gives the same id (and brings it back when it was leaving).

        Raises:
            LibraryError: ``folder-nested`` when it lies inside a known folder or holds one;
                ``folder-is-library`` for the library's own.
        """
        with self._transaction.change():
            id_ = _folders.add(self._connection, self._folder, path, words_only)
            self._changes.add((Change.FOLDER, id_))
            return id_

    def relocate_folder(self, folder: FolderId, place: Path) -> None:
        """Says where a folder lies now: every path below it changes; texts and vectors stay as they are.

        Raises:
            LibraryError: ``folder-known`` when another folder of the library is there, ``folder-nested``
                when one lies inside or holds it, ``folder-is-library``, ``folder-unknown``.
        """
        with self._transaction.change():
            if _folders.relocate(self._connection, self._folder, folder, place):
                space = self._connection.execute("SELECT coalesce(max(id), 0) FROM space").fetchone()[0]
                self._changes.add((Change.SPACE, space))  # one word for all files: load anew

    def set_rules(self, folder: FolderId, rules: FolderRules) -> None:
        """Remembers which files of a folder are to be read."""
        with self._transaction.change(grows=False):
            self._connection.execute("UPDATE folder SET rules=? WHERE id=?", (_folders.pack_rules(rules), folder))
            self._changes.add((Change.FOLDER, folder))

    def set_folder_state(self, folder: FolderId, state: str) -> None:
        """Makes a folder ``active`` or ``leaving`` (hidden everywhere, not yet erased)."""
        if state not in ("active", "leaving"):
            raise ValueError(state)
        with self._transaction.change(grows=False):
            self._connection.execute("UPDATE folder SET state=? WHERE id=?", (state, folder))
            self._changes.add((Change.FOLDER, folder))

    def set_scanned(self, folder: FolderId, when: float) -> None:
        """Remembers when a folder was last gone through, in seconds since the epoch."""
        with self._transaction.change(grows=False):
            self._connection.execute("UPDATE folder SET last_scan=? WHERE id=?", (when, folder))

    def remove_folder(self, folder: FolderId) -> tuple[int, int]:
        """Erases a folder for good: texts, words, vectors, backups; its files are not touched.

        Commits as it goes, so that a killed removal goes on where it stopped. Gives the documents
        and passages that were removed. Works on an almost full disk too, since it makes room.
        """
        self._transaction.making_room = True
        try:
            return self._erase_folder(folder)
        finally:
            self._transaction.making_room = self._contents.keep_words = False

    def _erase_folder(self, folder: FolderId) -> tuple[int, int]:
        self.set_folder_state(folder, "leaving")
        anew = _erasing.is_most(self._folder, self._connection, folder)
        if anew:
            _health.outdate_words(self._connection)
            self._contents.keep_words = True
        self.commit()
        documents, passages = _erasing.remove_files_of(self, self._connection, folder)
        row = self._connection.execute("SELECT path FROM folder WHERE id=?", (folder,)).fetchone()
        with self._transaction.change():
            _captions.forget_folder(self._connection, folder)
            self._connection.execute("DELETE FROM folder WHERE id=?", (folder,))
            self._changes.add((Change.FOLDER, folder))
        self.commit()
        if row is not None:
            _reading.forget(self._folder, row[0])
        self.compact()
        with self._transaction.change(begin=False, grows=False):
            if anew:
                _health.rebuild_all_words(self._connection)
            _kept_copies.write_anew(self._folder, self._connection)
            _shelf.clear(self._folder)
            _erasing.leave_no_trace(self._folder, self._connection, words=not anew)
        return documents, passages

    # ------------------------------------------------------------ files and texts

    def put(
        self,
        folder: FolderId,
        file: SourceFile,
        text: ExtractedText | None,
        passages: Sequence[Passage],
        problems: Sequence[Problem],
    ) -> ContentId | None:
        """Puts what was read of a file in the place of what its path had before.

        Args:
            folder: The folder that the file belongs to.
            file: The file; ``content_hash`` names its bytes.
            text: What was read. None: the content with that hash, if it is known (a copy, a move);
                else only the problems are kept.
            passages: The text cut by the rules of the active space; ``text`` of each is its
                stretch of the document's text.
            problems: Why the file was not read, or only in part.

        Returns:
            The content, or None when there is none.
        """
        with self._transaction.change():
            content = self._contents.put(file, text, passages)
            if content is not None and text is None and not problems:
                problems = self._contents.problems(content)
            self._files.put(folder, file, content, problems)
            if content is not None:
                self._contents.freshen(content, file)
            return content

    def begin_container(self, folder: FolderId, file: SourceFile) -> FileId:
        """Says that a file with members is gone through now; :meth:`put` its members, then finish it.

        Until then its :class:`KnownFile` has the size -1, so that a killed run reads it again, and
        ``file.cursor`` as its cursor: give the one that the reading goes on from, ``""`` when it starts anew.
        Members from before stay meanwhile. May be committed at any point.
        """
        with self._transaction.change():
            return self._files.begin(folder, file)

    def finish_container(
        self,
        folder: FolderId,
        file: SourceFile,
        text: ExtractedText | None,
        passages: Sequence[Passage],
        problems: Sequence[Problem],
        *,
        cursor: str = "",
        grown: bool = False,
    ) -> ContentId | None:
        """Ends a container: its real size and time, its own text if it has one, and its problems.

        Args:
            folder: The folder that the file belongs to.
            file: The file, with member ``""``.
            text: The container's own text (a mail with attachments); None for a mere container.
            passages: That text, cut.
            problems: What was not read of it.
            cursor: Where to go on when the file has grown.
            grown: The reading went on from a cursor, so members from before stay; else a member
                that was not put since :meth:`begin_container` leaves. Captions of those that stay do, too.

        Returns:
            The content of the container's own text, or None.
        """
        with self._transaction.change():
            content = self._contents.put(file, text, passages) if text is not None else None
            self._files.finish(folder, file, content, problems, cursor=cursor, grown=grown)
            if content is not None:
                self._contents.freshen(content, file)
            return content

    def put_caption(
        self, path: Path, member: str, text: ExtractedText | None, passages: Sequence[Passage]
    ) -> ContentId | None:
        """Puts the person's own words to a known file or member; None takes them away.

        They stay with the file when it is read again or moves, and are remembered by its bytes.

        Raises:
            LibraryError: ``file-unknown``.
        """
        self._library.note_kept()
        with self._transaction.change():
            row = self._connection.execute(
                "SELECT id, sha256, folder, mtime_ns FROM file WHERE path=? AND member=? AND captions IS NULL",
                (os.fsencode(path), member_name(member)),
            ).fetchone()
            if row is None:
                raise LibraryError("file-unknown", "This file is not in the library.", "Check its folder for changes.")
            if text is None:
                self._files.put_caption(row[0], None, "", 0)
                _captions.drop(self._connection, row[1])
                return None
            raw = text.text.encode("utf-8", "surrogatepass")
            sha256 = "caption:" + hashlib.sha256(raw).hexdigest()
            file = SourceFile(path, len(raw), row[3], content_hash=sha256)
            content = self._contents.put(file, replace(text, format=_captions.FORMAT), passages)
            assert content is not None
            self._files.put_caption(row[0], content, sha256, len(raw))
            _captions.keep(self._connection, row[1], row[2], text.text)
            self._contents.freshen(content, file)
            return content

    def put_passages(self, content: ContentId, passages: Sequence[Passage], fingerprint: str = "") -> None:
        """Puts the passages of a known text for the segmentation of a space ("": the active), replacing any there."""
        with self._transaction.change():
            self._contents.cut(content, passages, self._open_spaces.get(fingerprint).row.segmentation)

    def move(self, file_id: FileId, file: SourceFile, folder: FolderId) -> None:
        """Gives a known file another path (same content); what stood at that path is replaced.

        Members and captions go with it.
        """
        with self._transaction.change(grows=False):
            self._files.move(file_id, file, folder)

    def touch(self, file_id: FileId, file: SourceFile) -> None:
        """Notes a new time, device or inode of a file whose content is the same."""
        with self._transaction.change(grows=False):
            self._files.touch(file_id, file)

    def set_ignored(self, paths: Sequence[Path], ignored: bool, *, members: Sequence[tuple[Path, str]] = ()) -> None:
        """Takes the problems of files and of what is inside them off the count, or puts them back.

        Of a pair in ``members`` only that member of that file is meant. A file that changes is no longer ignored.
        """
        with self._transaction.change(grows=False):
            places: list[tuple[bytes, str | None]] = [(os.fsencode(path), None) for path in paths]
            places += [(os.fsencode(path), member_name(member)) for path, member in members]
            self._files.set_ignored(places, ignored)

    def remove(self, file_ids: Sequence[FileId]) -> None:
        """Forgets files with their members; a content that no file has any more is erased with them.

        The person's captions are kept for the day the same bytes come back, until the folder is removed.
        """
        with self._transaction.change(grows=False):
            self._files.remove(file_ids)

    # ------------------------------------------------------------ spaces and vectors

    def use_space(self, info: EncoderInfo, tokenizer_key: str, rules: SplitRules) -> None:
        """Makes the space of an encoder the active one, with its segmentation, making both if new."""
        with self._transaction.change():
            space = _spaces.make(self._folder, self._connection, info, tokenizer_key, rules)
            if self._open_spaces.active is not None and self._open_spaces.active.row.id == space:
                return
            self._make_active(space, info.fingerprint)
        self.commit()
        self._open_spaces.load()

    def prepare_space(self, info: EncoderInfo, tokenizer_key: str, rules: SplitRules) -> None:
        """Makes the space of an encoder beside the active one, or goes on with it: name it to get and put its passages.

        From now on what is put into the library waits for it too, where both are cut alike; else see
        :meth:`resegment_needed`.
        """
        with self._transaction.change():
            space = _spaces.make(self._folder, self._connection, info, tokenizer_key, rules)
            _health.fill_todo(self._connection, space)
        self._open_spaces.prepared = info.fingerprint
        self.commit()
        self._open_spaces.load()

    def activate(self, fingerprint: str, *, if_wanted: bool = False) -> bool:
        """Makes a space that there is the active one, as it is, in one transaction; the other one is kept.

        No space is wanted afterwards. With ``if_wanted`` it has to be the wanted one: else nothing changes, and False
        is given.

        Raises:
            LibraryError: ``no-space``.
        """
        self.commit()
        with self._transaction.change(grows=False):
            wanted = _spaces.wanted(self._connection)
            agreed = not if_wanted or (wanted is not None and wanted.fingerprint == fingerprint)
            if agreed:
                self._make_active(_spaces.known(self._connection, fingerprint)[0], fingerprint)
                _spaces.want(self._connection, None)
        self.commit()
        if agreed:
            self._open_spaces.load()
        return agreed

    def _make_active(self, space: int, fingerprint: str) -> None:
        _spaces.activate(self._connection, space)
        wanted = _spaces.wanted(self._connection)
        if wanted is not None and wanted.fingerprint == fingerprint:
            _spaces.want(self._connection, None)
        self._open_spaces.prepared = ""
        self._changes.add((Change.SPACE, space))

    def drop_space(self, fingerprint: str) -> None:
        """Removes a space that is not the active one, and passages that no other one is made of. Not wanted any more.

        Raises:
            LibraryError: ``no-space`` or ``space-in-use``.
        """
        self.commit()
        with self._transaction.change(grows=False):
            space, state, segmentation = _spaces.known(self._connection, fingerprint)
            if state == "active":
                raise LibraryError("space-in-use", "This space is in use.", "Go back to another one first.")
            wanted = _spaces.wanted(self._connection)
            if wanted is not None and wanted.fingerprint == fingerprint:
                _spaces.want(self._connection, None)
            self._open_spaces.let_go(space)
            _spaces.drop_rows(self._connection, space)
            emptied = _spaces.drop_segmentation(self._connection, segmentation)
        self.commit()
        self._open_spaces.load()
        with self._transaction.change(begin=False, grows=False):
            _spaces.discard_files(self._folder, fingerprint)
            if emptied:
                _erasing.give_back(self._folder, self._connection)

    def resegment_needed(self, fingerprint: str = "") -> list[ContentId]:
        """Lists contents with a stored text but without passages in the segmentation of a space ("": the active)."""
        return self._contents.uncut(self._open_spaces.get(fingerprint).row.segmentation)

    def pending(self, *, tokens_hint_chars: int = 200_000, fingerprint: str = "") -> list[PendingDocument]:
        """Gives documents without vectors in a space, newest file first.

        A passage whose text already has a vector in this space is copied here and not returned; of
        equal passages in one batch only the first is. Documents of words-only folders are skipped.

        Args:
            tokens_hint_chars: About how many characters to give; at least one document if any.
            fingerprint: Of the space that is being prepared; "": the active one.
        """
        with self._transaction.change():
            return self._open_spaces.get(fingerprint).pending(tokens_hint_chars)

    def put_vectors(self, ids: Sequence[PassageId], vectors: NDArray[np.float32], fingerprint: str = "") -> None:
        """Takes vectors of passages, float32 [len(ids), dimension] of unit rows, in any order.

        A document is written once all its vectors are there. Ids that are gone are ignored.

        Raises:
            ValueError: wrong shape or values that are not finite.
        """
        with self._transaction.change():
            self._open_spaces.get(fingerprint).put(ids, vectors)

    def commit(self) -> None:
        """Makes everything so far safe on disk and visible to readers.

        Raises:
            LibraryError: ``disk-full``. Raised before anything is written it leaves the changes
                pending, and the call may be repeated.
        """
        self._transaction.commit()

    # ------------------------------------------------------------ upkeep

    def build_index(
        self, context: JobContext | None = None, *, force: bool = False, threads: int = 0, fingerprint: str = ""
    ) -> bool:
        """Builds or extends the accelerator of a space ("": the active one); True when a new one was published.

        Only from ``index_from`` live rows on, and only when enough rows are not in it yet
        (``force``: any). Searches go on with the old one meanwhile.
        """
        from sbert_desktop.library._building import build_index

        self.commit()
        with self._transaction.change(begin=False, grows=False):
            built = build_index(
                self._folder,
                self._connection,
                self._open_spaces.get(fingerprint).row,
                index_from=self._library.index_from,
                context=context,
                force=force,
                threads=threads,
                notice=self._library.notice,
            )
        return built

    def compact(self, *, share: float = 0.3) -> bool:
        """Rewrites the vectors file of each space of which more than ``share`` of the rows is dead."""
        self.commit()
        with self._transaction.change(begin=False, grows=False):
            done = _erasing.compact(self._folder, self._connection, share)
        if done:
            self._open_spaces.load()
        return done

    def repair(self, context: JobContext | None = None, *, threads: int = 0) -> bool:
        """Drops rows that are damaged or that nothing needs, in every space; builds the active one's accelerator anew.

        Documents whose vectors were damaged wait for them again; keyword tables that differ from the texts are made
        anew. Searches go on meanwhile. True when a new accelerator was published: only from ``index_from`` live rows
        on.
        """
        from sbert_desktop.library import _measuring, _vectors
        from sbert_desktop.library._building import build_index

        with self._transaction.change(grows=False):
            _measuring.drop_orphans(self._connection)
            self._open_spaces.get()
            for row in _spaces.holding(self._connection):
                path = _vectors.vectors_path(self._folder, row.fingerprint, row.generation)
                vectors = _vectors.map_rows(path, row.dimension, row.rows)
                _measuring.drop_bad_rows(self._connection, row, vectors)
                del vectors
        self.commit()
        with self._transaction.change(begin=False, grows=False):
            _health.mend_words(self._connection)
        self.compact(share=0.0)
        with self._transaction.change(begin=False, grows=False):
            return build_index(
                self._folder,
                self._connection,
                self._open_spaces.get().row,
                index_from=self._library.index_from,
                context=context,
                force=True,
                threads=threads,
                notice=self._library.notice,
                fresh=True,
            )

    def close(self) -> None:
        """Rolls back what was not committed and closes; called by :meth:`Library.writer`."""
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")
        self._open_spaces.close()
        self._connection.close()
