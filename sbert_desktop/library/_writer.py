"""The one object that changes a library, alive while its process holds the writer's lock.

All changes between two commits are one SQLite transaction. Order of a commit: vectors are written,
flushed and synced, then the catalog commits; rows behind the committed ones are cut by the next
holder. What a removed document leaves in the vectors file is overwritten with zeros afterwards,
remembered in ``dead_row`` until that is safe on disk.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
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
    _analysis,
    _captions,
    _disk,
    _erasing,
    _folders,
    _health,
    _kept_copies,
    _reading,
    _schema,
    _shelf,
    _spaces,
    _text,
    _units,
    _words,
)
from sbert_desktop.library._columns import LOG_KEPT, Change, SpaceRow, pack_lengths
from sbert_desktop.library._erasing import Removed
from sbert_desktop.library._files import Files, member_name, stat_values
from sbert_desktop.library._records import PendingDocument
from sbert_desktop.library._space import Space

if TYPE_CHECKING:
    from sbert_desktop.library._library import Library


_REFUSALS = _folders.REFUSALS | {"no-space", "file-unknown"}  # said before anything was changed


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
        self._making_room = False
        self._grown = False  # since the last commit
        self._keep_words = False  # erased passages stay in the keyword tables, which are made anew at the end
        self._space: Space | None = None  # the active one
        self._beside: Space | None = None  # the one that is being prepared
        self._prepared = ""  # its fingerprint, where that was said
        self._connection = _schema.connect(self._folder, mode="rw")
        self._files = Files(self._connection, self._changes, self._forget, library.extractor_version)
        try:
            if unclean:
                _health.require_sound(self._folder, self._connection)
            _health.recover(self._folder, self._connection, library._notice)
            self._load_space()
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
        with self._change():
            id_ = _folders.add(self._connection, self._folder, path, words_only)
            self._changes.add((Change.FOLDER, id_))
            return id_

    def relocate_folder(self, folder: FolderId, place: Path) -> None:
        """Says where a folder lies now: every path below it changes; texts and vectors stay as they are.

        Raises:
            LibraryError: ``folder-known`` when another folder of the library is there, ``folder-nested``
                when one lies inside or holds it, ``folder-is-library``, ``folder-unknown``.
        """
        with self._change():
            if _folders.relocate(self._connection, self._folder, folder, place):
                space = self._connection.execute("SELECT coalesce(max(id), 0) FROM space").fetchone()[0]
                self._changes.add((Change.SPACE, space))  # one word for all files: load anew

    def set_rules(self, folder: FolderId, rules: FolderRules) -> None:
        """Remembers which files of a folder are to be read."""
        with self._change(grows=False):
            self._connection.execute("UPDATE folder SET rules=? WHERE id=?", (_folders.pack_rules(rules), folder))
            self._changes.add((Change.FOLDER, folder))

    def set_folder_state(self, folder: FolderId, state: str) -> None:
        """Makes a folder ``active`` or ``leaving`` (hidden everywhere, not yet erased)."""
        if state not in ("active", "leaving"):
            raise ValueError(state)
        with self._change(grows=False):
            self._connection.execute("UPDATE folder SET state=? WHERE id=?", (state, folder))
            self._changes.add((Change.FOLDER, folder))

    def set_scanned(self, folder: FolderId, when: float) -> None:
        """Remembers when a folder was last gone through, in seconds since the epoch."""
        with self._change(grows=False):
            self._connection.execute("UPDATE folder SET last_scan=? WHERE id=?", (when, folder))

    def remove_folder(self, folder: FolderId) -> tuple[int, int]:
        """Erases a folder for good: texts, words, vectors, backups; its files are not touched.

        Commits as it goes, so that a killed removal goes on where it stopped. Gives the documents
        and passages that were removed. Works on an almost full disk too, since it makes room.
        """
        self._making_room = True
        try:
            return self._erase_folder(folder)
        finally:
            self._making_room = self._keep_words = False

    def _erase_folder(self, folder: FolderId) -> tuple[int, int]:
        self.set_folder_state(folder, "leaving")
        anew = _erasing.is_most(self._folder, self._connection, folder)
        if anew:
            _health.outdate_words(self._connection)
            self._keep_words = True
        self.commit()
        documents, passages = _erasing.remove_files_of(self, self._connection, folder)
        row = self._connection.execute("SELECT path FROM folder WHERE id=?", (folder,)).fetchone()
        with self._change():
            _captions.forget_folder(self._connection, folder)
            self._connection.execute("DELETE FROM folder WHERE id=?", (folder,))
            self._changes.add((Change.FOLDER, folder))
        self.commit()
        if row is not None:
            _reading.forget(self._folder, row[0])
        self.compact()
        with self._change(begin=False, grows=False):
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
        with self._change():
            content = self._content_for(file, text, passages)
            if content is not None and text is None and not problems:
                stored = self._connection.execute("SELECT problems FROM content WHERE id=?", (content,)).fetchone()
                problems = _text.unpack_problems(stored[0])
            self._files.put(folder, file, content, problems)
            if content is not None:
                self._freshen(content, file)
            return content

    def begin_container(self, folder: FolderId, file: SourceFile) -> FileId:
        """Says that a file with members is gone through now; :meth:`put` its members, then finish it.

        Until then its :class:`KnownFile` has the size -1, so that a killed run reads it again, and
        ``file.cursor`` as its cursor: give the one that the reading goes on from, ``""`` when it starts anew.
        Members from before stay meanwhile. May be committed at any point.
        """
        with self._change():
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
        with self._change():
            content = self._content_for(file, text, passages) if text is not None else None
            self._files.finish(folder, file, content, problems, cursor=cursor, grown=grown)
            if content is not None:
                self._freshen(content, file)
            return content

    def put_caption(
        self, path: Path, member: str, text: ExtractedText | None, passages: Sequence[Passage]
    ) -> ContentId | None:
        """Puts the person's own words to a known file or member; None takes them away.

        They stay with the file when it is read again or moves, and are remembered by its bytes.

        Raises:
            LibraryError: ``file-unknown``.
        """
        self._library._kept_changed = True
        with self._change():
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
            content = self._content_for(file, replace(text, format=_captions.FORMAT), passages)
            assert content is not None
            self._files.put_caption(row[0], content, sha256, len(raw))
            _captions.keep(self._connection, row[1], row[2], text.text)
            self._freshen(content, file)
            return content

    def put_passages(self, content: ContentId, passages: Sequence[Passage], fingerprint: str = "") -> None:
        """Puts the passages of a known text for the segmentation of a space ("": the active), replacing any there."""
        with self._change():
            text = _text.read_record(self._connection, content)
            if text is None:
                return
            segmentation = self._open(fingerprint).row.segmentation
            removed = _erasing.erase_passages(self._connection, [content], segmentation)
            self._note_dead(removed, segmentation)
            self._insert_passages(content, text, passages, segmentation)

    def move(self, file_id: FileId, file: SourceFile, folder: FolderId) -> None:
        """Gives a known file another path (same content); what stood at that path is replaced.

        Members and captions go with it.
        """
        with self._change(grows=False):
            self._files.move(file_id, file, folder)

    def touch(self, file_id: FileId, file: SourceFile) -> None:
        """Notes a new time, device or inode of a file whose content is the same."""
        with self._change(grows=False):
            self._files.touch(file_id, file)

    def set_ignored(self, paths: Sequence[Path], ignored: bool, *, members: Sequence[tuple[Path, str]] = ()) -> None:
        """Takes the problems of files and of what is inside them off the count, or puts them back.

        Of a pair in ``members`` only that member of that file is meant. A file that changes is no longer ignored.
        """
        with self._change(grows=False):
            places: list[tuple[bytes, str | None]] = [(os.fsencode(path), None) for path in paths]
            places += [(os.fsencode(path), member_name(member)) for path, member in members]
            self._files.set_ignored(places, ignored)

    def remove(self, file_ids: Sequence[FileId]) -> None:
        """Forgets files with their members; a content that no file has any more is erased with them.

        The person's captions are kept for the day the same bytes come back, until the folder is removed.
        """
        with self._change(grows=False):
            self._files.remove(file_ids)

    # ------------------------------------------------------------ spaces and vectors

    def use_space(self, info: EncoderInfo, tokenizer_key: str, rules: SplitRules) -> None:
        """Makes the space of an encoder the active one, with its segmentation, making both if new."""
        with self._change():
            space = _spaces.make(self._folder, self._connection, info, tokenizer_key, rules)
            if self._space is not None and self._space.row.id == space:
                return
            self._make_active(space, info.fingerprint)
        self.commit()
        self._load_space()

    def prepare_space(self, info: EncoderInfo, tokenizer_key: str, rules: SplitRules) -> None:
        """Makes the space of an encoder beside the active one, or goes on with it: name it to get and put its passages.

        From now on what is put into the library waits for it too, where both are cut alike; else see
        :meth:`resegment_needed`.
        """
        with self._change():
            space = _spaces.make(self._folder, self._connection, info, tokenizer_key, rules)
            _health.fill_todo(self._connection, space)
        self._prepared = info.fingerprint
        self.commit()
        self._load_space()

    def activate(self, fingerprint: str, *, if_wanted: bool = False) -> bool:
        """Makes a space that there is the active one, as it is, in one transaction; the other one is kept.

        No space is wanted afterwards. With ``if_wanted`` it has to be the wanted one: else nothing changes, and False
        is given.

        Raises:
            LibraryError: ``no-space``.
        """
        self.commit()
        with self._change(grows=False):
            wanted = _spaces.wanted(self._connection)
            agreed = not if_wanted or (wanted is not None and wanted.fingerprint == fingerprint)
            if agreed:
                self._make_active(_spaces.known(self._connection, fingerprint)[0], fingerprint)
                _spaces.want(self._connection, None)
        self.commit()
        if agreed:
            self._load_space()
        return agreed

    def _make_active(self, space: int, fingerprint: str) -> None:
        _spaces.activate(self._connection, space)
        wanted = _spaces.wanted(self._connection)
        if wanted is not None and wanted.fingerprint == fingerprint:
            _spaces.want(self._connection, None)
        self._prepared = ""
        self._changes.add((Change.SPACE, space))

    def drop_space(self, fingerprint: str) -> None:
        """Removes a space that is not the active one, and passages that no other one is made of. Not wanted any more.

        Raises:
            LibraryError: ``no-space`` or ``space-in-use``.
        """
        self.commit()
        with self._change(grows=False):
            space, state, segmentation = _spaces.known(self._connection, fingerprint)
            if state == "active":
                raise LibraryError("space-in-use", "This space is in use.", "Go back to another one first.")
            wanted = _spaces.wanted(self._connection)
            if wanted is not None and wanted.fingerprint == fingerprint:
                _spaces.want(self._connection, None)
            if self._beside is not None and self._beside.row.id == space:
                self._prepared = ""
                self._beside.close()
                self._beside = None
            _spaces.drop_rows(self._connection, space)
            emptied = _spaces.drop_segmentation(self._connection, segmentation)
        self.commit()
        self._load_space()
        with self._change(begin=False, grows=False):
            _spaces.discard_files(self._folder, fingerprint)
            if emptied:
                _erasing.give_back(self._folder, self._connection)

    def resegment_needed(self, fingerprint: str = "") -> list[ContentId]:
        """Lists contents with a stored text but without passages in the segmentation of a space ("": the active)."""
        space = self._open(fingerprint)
        rows = self._connection.execute(
            "SELECT id FROM content WHERE id NOT IN (SELECT content FROM segmented WHERE segmentation=?)"
            " ORDER BY id DESC",
            (space.row.segmentation,),
        )
        return [ContentId(row[0]) for row in rows]

    def pending(self, *, tokens_hint_chars: int = 200_000, fingerprint: str = "") -> list[PendingDocument]:
        """Gives documents without vectors in a space, newest file first.

        A passage whose text already has a vector in this space is copied here and not returned; of
        equal passages in one batch only the first is. Documents of words-only folders are skipped.

        Args:
            tokens_hint_chars: About how many characters to give; at least one document if any.
            fingerprint: Of the space that is being prepared; "": the active one.
        """
        with self._change():
            return self._open(fingerprint).pending(tokens_hint_chars)

    def put_vectors(self, ids: Sequence[PassageId], vectors: NDArray[np.float32], fingerprint: str = "") -> None:
        """Takes vectors of passages, float32 [len(ids), dimension] of unit rows, in any order.

        A document is written once all its vectors are there. Ids that are gone are ignored.

        Raises:
            ValueError: wrong shape or values that are not finite.
        """
        with self._change():
            self._open(fingerprint).put(ids, vectors)

    def commit(self) -> None:
        """Makes everything so far safe on disk and visible to readers.

        Raises:
            LibraryError: ``disk-full``. Raised before anything is written it leaves the changes
                pending, and the call may be repeated.
        """
        if not self._connection.in_transaction:
            return
        if self._grown and not self._making_room:
            _disk.check_room(self._folder)
        with self._change():
            for space in self._spaces():
                space.sync()
            if self._changes:
                self._connection.executemany(
                    "INSERT INTO change(kind, id) VALUES(?,?)",
                    [(int(kind), id_) for kind, id_ in sorted(self._changes)],
                )
                self._connection.execute(
                    "DELETE FROM change WHERE seq <= (SELECT max(seq) FROM change) - ?", (LOG_KEPT,)
                )
            self._connection.execute("COMMIT")
            self._changes.clear()
            self._grown = False
            _erasing.zero_dead_rows(self._folder, self._connection, self._spaces())

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
        with self._change(begin=False, grows=False):
            built = build_index(
                self._folder,
                self._connection,
                self._open(fingerprint).row,
                index_from=self._library.index_from,
                context=context,
                force=force,
                threads=threads,
                notice=self._library._notice,
            )
        return built

    def compact(self, *, share: float = 0.3) -> bool:
        """Rewrites the vectors file of each space of which more than ``share`` of the rows is dead."""
        self.commit()
        with self._change(begin=False, grows=False):
            done = _erasing.compact(self._folder, self._connection, share)
        if done:
            self._load_space()
        return done

    def repair(self, context: JobContext | None = None, *, threads: int = 0) -> bool:
        """Drops rows that are damaged or that nothing needs, in every space; builds the active one's accelerator anew.

        Documents whose vectors were damaged wait for them again; keyword tables that differ from the texts are made
        anew. Searches go on meanwhile. True when a new accelerator was published: only from ``index_from`` live rows
        on.
        """
        from sbert_desktop.library import _measuring, _vectors
        from sbert_desktop.library._building import build_index

        with self._change(grows=False):
            _measuring.drop_orphans(self._connection)
            self._require_space()
            for row in self._rows_of_spaces():
                path = _vectors.vectors_path(self._folder, row.fingerprint, row.generation)
                vectors = _vectors.map_rows(path, row.dimension, row.rows)
                _measuring.drop_bad_rows(self._connection, row, vectors)
                del vectors
        self.commit()
        with self._change(begin=False, grows=False):
            _health.mend_words(self._connection)
        self.compact(share=0.0)
        with self._change(begin=False, grows=False):
            return build_index(
                self._folder,
                self._connection,
                self._require_space().row,
                index_from=self._library.index_from,
                context=context,
                force=True,
                threads=threads,
                notice=self._library._notice,
                fresh=True,
            )

    def close(self) -> None:
        """Rolls back what was not committed and closes; called by :meth:`Library.writer`."""
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")
        self._close_spaces()
        self._connection.close()

    # ------------------------------------------------------------ inside a transaction

    @contextmanager
    def _change(self, *, begin: bool = True, grows: bool = True) -> Iterator[None]:
        """One change: whole or, after an error, rolled back together with all since the last commit.

        What does not make the library larger (``grows``) may be committed on an almost full disk too.
        """
        self._grown |= grows
        try:
            with _disk.known_errors(self._folder):
                if begin and not self._connection.in_transaction:
                    self._connection.execute("BEGIN IMMEDIATE")
                yield
        except BaseException as error:
            if not isinstance(error, LibraryError) or error.code not in _REFUSALS:
                self._rollback()
            raise

    def _rollback(self) -> None:
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")
        self._changes.clear()
        self._grown = False
        try:
            self._load_space()
        except (OSError, LibraryError):
            self._close_spaces()

    def _close_spaces(self) -> None:
        for space in self._spaces():
            space.close()
        self._space = self._beside = None

    def _load_space(self) -> None:
        self._close_spaces()
        self._space = self._load("state='active'", (), self._changes)
        wanted = _spaces.wanted(self._connection)
        beside = self._prepared or (wanted.fingerprint if wanted is not None else "")
        # What comes into it is not found yet: readers need not be told.
        self._beside = self._load("fingerprint=? AND state!='active'", (beside,), set())

    def _load(self, which: str, values: tuple[str, ...], changes: set[tuple[Change, int]]) -> Space | None:
        row = self._connection.execute(
            f"SELECT id, fingerprint, segmentation, dimension, generation, rows FROM space WHERE {which}", values
        ).fetchone()
        return Space(self._folder, self._connection, SpaceRow(*row), changes) if row is not None else None

    def _rows_of_spaces(self) -> list[SpaceRow]:
        """Gives all spaces that hold something, those that are kept, too."""
        rows = self._connection.execute(
            "SELECT id, fingerprint, segmentation, dimension, generation, rows FROM space WHERE rows>0 ORDER BY id"
        ).fetchall()
        return [SpaceRow(*row) for row in rows]

    def _spaces(self) -> list[Space]:
        return [space for space in (self._space, self._beside) if space is not None]

    def _open(self, fingerprint: str) -> Space:
        """Gives the active space, or the one beside it, by its fingerprint."""
        if not fingerprint:
            return self._require_space()
        for space in self._spaces():
            if space.row.fingerprint == fingerprint:
                return space
        raise LibraryError("no-space", "The library has no such space.", "List the spaces again.")

    def _require_space(self) -> Space:
        if self._space is None:
            raise LibraryError("no-space", "The library has no encoder yet.", "Choose a model first.")
        return self._space

    def _content_for(
        self, file: SourceFile, text: ExtractedText | None, passages: Sequence[Passage]
    ) -> ContentId | None:
        sha256 = file.content_hash
        if text is not None and not sha256:
            sha256 = "text:" + hashlib.sha256(text.text.encode("utf-8", "surrogatepass")).hexdigest()
        version = self._library.extractor_version
        row = self._connection.execute(
            "SELECT id FROM content WHERE sha256=? AND extractor_version=?", (sha256, version)
        ).fetchone()
        if row is None and text is None:
            return None
        if row is not None:
            content = ContentId(row[0])
        else:
            assert text is not None
            content = _text.insert(self._connection, sha256, version, text)
        self._changes.add((Change.CONTENT, content))
        if text is not None and not self._is_segmented(content):
            self._insert_passages(content, text, passages, self._require_space().row.segmentation)
        return content

    def _is_segmented(self, content: ContentId) -> bool:
        segmentation = self._require_space().row.segmentation
        return (
            self._connection.execute(
                "SELECT 1 FROM segmented WHERE segmentation=? AND content=?", (segmentation, content)
            ).fetchone()
            is not None
        )

    def _insert_passages(
        self, content: ContentId, text: ExtractedText, passages: Sequence[Passage], segmentation: int
    ) -> None:
        first = _next_id(self._connection, "passage")
        title = _text.clean(text.title)
        rows, words, lengths, in_order = [], [], [], {}
        for id_, passage in enumerate(passages, first):
            stretch = text.text[passage.start : passage.end]
            rows.append((id_, segmentation, content, *_passage_values(passage, stretch)))
            found = in_order[passage.start, passage.end] = _analysis.words(stretch)
            tokens, length = _words.tokens(found, text.language, title, first=id_ == first)
            words.append((id_, tokens))
            lengths.append(length)
        own = [passage for passage in passages if passage.embedded]
        characters = sum(passage.end - passage.start for passage in own)
        self._connection.execute(
            "INSERT INTO segmented VALUES(?,?,?,?,?,?,?)",
            (segmentation, content, first, len(passages), len(own), characters, pack_lengths(lengths)),
        )
        self._connection.executemany("INSERT INTO passage VALUES(?,?,?,?,?,?,?,?,?,?,?,?)", rows)
        _words.add(self._connection, segmentation, words)
        spans = [(id_, passage.start, passage.end, passage.embedded) for id_, passage in enumerate(passages, first)]
        _units.add(
            self._connection,
            segmentation,
            content,
            title,
            spans,
            lambda start, end: in_order.get((start, end)) or _analysis.words(text.text[start:end]),
        )
        for space in self._spaces() if own else ():
            if space.row.segmentation == segmentation:
                self._connection.execute(
                    "INSERT OR REPLACE INTO todo"
                    " VALUES(?,?,coalesce((SELECT max(mtime_ns) FROM file WHERE content=?), 0),?,?)",
                    (space.row.id, content, content, len(own), characters),
                )
        if self._is_searched(segmentation):
            self._changes.add((Change.CONTENT, content))

    def _is_searched(self, segmentation: int) -> bool:
        return self._space is not None and self._space.row.segmentation == segmentation

    def _freshen(self, content: ContentId, file: SourceFile) -> None:
        self._connection.execute(
            "UPDATE todo SET mtime_ns=max(mtime_ns, ?) WHERE content=?", (stat_values(file)[1], content)
        )

    def _forget(self, contents: Iterable[int]) -> None:
        orphans = [
            content
            for content in dict.fromkeys(contents)
            if self._connection.execute("SELECT 1 FROM file WHERE content=? LIMIT 1", (content,)).fetchone() is None
        ]
        if orphans:
            self._note_dead(_erasing.erase_contents(self._connection, orphans, words=not self._keep_words))

    def _note_dead(self, removed: Removed, segmentation: int | None = None) -> None:
        """Tells readers and open spaces; with ``segmentation`` only its passages were erased."""
        for content in removed.contents:
            if segmentation is None or self._is_searched(segmentation):
                self._changes.add((Change.CONTENT, content))
            for space in self._spaces():
                if segmentation in (None, space.row.segmentation):
                    space.forget(content)


def input_sha(text: str) -> bytes:
    """Gives the identity of what the encoder sees: 16 bytes of sha256."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:16]


def _passage_values(passage: Passage, text: str) -> tuple[object, ...]:
    context, place = _text.clean(passage.context), passage.location
    sha = input_sha(f"{context}\n{text}" if context else text)
    heading, part = _text.clean(place.heading), _text.clean(place.part)
    return passage.ordinal, passage.start, passage.end, sha, passage.embedded, place.page, heading, part, context


def _next_id(connection: object, table: str) -> int:
    import sqlite3

    assert isinstance(connection, sqlite3.Connection)
    row = connection.execute("SELECT seq FROM sqlite_sequence WHERE name=?", (table,)).fetchone()
    return (int(row[0]) if row else 0) + 1
