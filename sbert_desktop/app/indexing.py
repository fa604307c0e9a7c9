"""Indexing: bring folders and library into agreement, words first and meaning after.

Files are read by a pool of children while this thread stores what they give; whenever nothing
waits to be stored, it encodes what has no vector yet, newest files first. So words are findable at
once, and reading and encoding overlap on as many cores as there are. Files that change meanwhile are
looked after between two steps, so that they are found within seconds also while a long run goes on.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from sbert_desktop.app.chance import prepare_chance
from sbert_desktop.app.checking import Findings, Looking, check_place, skip_interrupted
from sbert_desktop.app.embedding import Embedding
from sbert_desktop.app.feeding import END, NOTHING, Feeder, Item, read_through_pool
from sbert_desktop.app.index_scope import Scope, checked_folder, folder_record
from sbert_desktop.app.preparing import Preparing, begin_preparing, say_it_stays
from sbert_desktop.app.recognising import names_of, on_disk, recognise_files, scanned_files, why_not
from sbert_desktop.app.reporting import Reporter
from sbert_desktop.app.session import Session
from sbert_desktop.app.storing import Batch, Storing
from sbert_desktop.app.views import IndexReport
from sbert_desktop.app.waiting import Waiting
from sbert_desktop.domain import (
    FolderRules,
    JobContext,
    SourceFile,
)
from sbert_desktop.errors import Cancelled, EncoderError

if TYPE_CHECKING:
    from sbert_desktop.library import Writer

_STEP_ASIDE = 0.05
_SETTLE_SECONDS = 2.0

Paths = frozenset[Path]


@dataclass(frozen=True, slots=True)
class IndexRequest:
    """What to do; without anything: bring all known folders up to date.

    Args:
        add: Folders to add first; then only they are gone through.
        words_only: Added folders are not encoded.
        confirm_removals: Many files gone at once were really deleted.
        keep_leaving: Leave folders alone that were hidden and may still be brought back.
        only: Look at and below these paths only.
        retry: Files to read again though they look unchanged; with ``only`` or alone.
        recognise: Scans and pictures whose text is to be recognised now.
        recognise_members: The same for single members, each with the file that holds it.
        folder: Go through this folder only.
        rules: Given to ``folder`` first.
        place: Where ``folder`` lies now.
    """

    add: tuple[Path, ...] = ()
    words_only: bool = False
    confirm_removals: bool = False
    keep_leaving: bool = False
    only: tuple[Path, ...] = ()
    retry: tuple[Path, ...] = ()
    recognise: tuple[Path, ...] = ()
    recognise_members: tuple[tuple[Path, str], ...] = ()
    folder: Path | None = None
    rules: FolderRules | None = None
    place: Path | None = None

    @property
    def partial(self) -> bool:
        """Says whether only some paths are looked at."""
        return bool(self.only or self.retry or self.recognises)

    @property
    def recognises(self) -> bool:
        """Says whether text is to be recognised because the person asked for it."""
        return bool(self.recognise or self.recognise_members)

    @property
    def empty(self) -> bool:
        """Says whether nothing in particular is asked for."""
        return not (self.add or self.partial or self.folder)


def run_index(
    session: Session,
    request: IndexRequest,
    context: JobContext,
    *,
    wait: bool = True,
    waiting: Waiting | None = None,
    on_unsettled: Callable[[Paths], None] | None = None,
) -> IndexReport:
    """Adds folders and brings the library into agreement with the disk.

    Args:
        session: The opened library.
        request: What to do.
        context: Asked for pause and cancel per file and batch; gets Progress, IndexProgress and
            LibraryView partials.
        wait: Wait for another process that writes to the library; else refuse at once.
        waiting: What comes up meanwhile; it is done between two steps.
        on_unsettled: Told which files somebody was still writing to; they should be looked at again soon.

    Raises:
        UsageError: ``folder-missing``, ``not-a-folder``, ``folder-unreadable``, ``folder-unknown``.
        LibraryError: ``folder-nested``, ``library-busy``, ``disk-full``, ``library-readonly``.
        Cancelled: After a cancel; what was committed stays.
    """
    folders = tuple(checked_folder(path) for path in request.add)
    if request.place is not None:
        request = replace(request, place=checked_folder(request.place))
    session.start_encoder()
    with session.library.writer(
        wait=wait, on_wait=lambda holder: context.progress(f"Waiting for {holder}", 0, None), check=context.check
    ) as writer:
        session.follow_space()
        run = _Run(session, writer, request, context, Waiting() if waiting is None else waiting)
        report = run.perform(writer, folders)
    if run.unsettled and on_unsettled is not None:
        on_unsettled(run.unsettled)
    return report


class _Run:
    """One indexing run; lives on the writer lane."""

    def __init__(
        self,
        session: Session,
        writer: Writer,
        request: IndexRequest,
        context: JobContext,
        waiting: Waiting,
    ) -> None:
        self._session = session
        self._request = request
        self._context = context
        self._waiting = waiting
        self._library = session.library
        self._report = Reporter(session, context)
        self._tally = self._report.tally
        self._scope = Scope(session, writer, context, self._tally)
        self._embedding = Embedding(session, writer, context, self._report)
        self._storing = Storing(self._library, writer, self._report, self._embedding.split)
        self._embedding.commit = self._storing.commit_if_due
        self._embedding.aside = lambda: bool(self._waiting) and session.held() > 0
        self._preparing = False
        self._busy_live = False
        self._under_way: Batch | None = None
        self.unsettled: Paths = frozenset()

    # ------------------------------------------------------------- the order of things

    def perform(self, writer: Writer, folders: Sequence[Path]) -> IndexReport:
        """Runs all steps; commits on every way out."""
        try:
            self._before(writer, folders)
            work = self._find_work(folders)
            unread = any(found.changes.added or found.changes.changed or found.outdated for found in work)
            if unread or self._request.recognises or self._library.pending_count("")[1] or self._embedding.behind():
                self._embedding.prepare(unread=unread or self._request.recognises)
            else:
                self._embedding.prepare_if_ready()
            self._apply(writer, work, afresh=self._retry())
            self._settle(writer)
            self._encode_all(writer)
            self._after(writer, work)
            writer.commit()
            self._prepare_wanted(writer)
            writer.commit()
        except (Cancelled, KeyboardInterrupt):
            writer.commit()
            raise
        self.unsettled = frozenset(file.path for file in self._storing.unsettled)
        self._report.progress(force=True)
        self._report.view(force=True)
        return self._report.report()

    def _before(self, writer: Writer, folders: Sequence[Path]) -> None:
        """What comes before the walk: folders that leave, come, move or get rules; files that a kill interrupted."""
        request = self._request
        if not (request.keep_leaving or request.partial):
            for record in self._library.folders():
                if record.state == "leaving":
                    writer.remove_folder(record.id)
        for folder in folders:
            writer.add_folder(folder, words_only=request.words_only)
        if request.folder is not None:
            record = folder_record(self._session, request.folder)
            if request.rules is not None:
                writer.set_rules(record.id, request.rules)
            if request.place is not None:
                check_place(self._session, record, request.place)
                writer.relocate_folder(record.id, request.place)
                self._request = replace(request, folder=request.place)
        writer.commit()
        skipped = skip_interrupted(self._session, writer, self._retry())
        if skipped:
            files = "1 file was" if skipped == 1 else f"{skipped:,} files were"
            self._tally.notice(f"{files} being read when the program was ended; skipped and listed under Problems.")
        self._report.view(force=True)

    def _after(self, writer: Writer, work: Sequence[Findings]) -> None:
        """What may wait: texts of an earlier reader, recognition, the accelerator."""
        self._reread(writer, work)
        self._recognise(writer)
        self._encode_all(writer)
        writer.commit()
        self._embedding.build_index()
        encoder = self._session.ready_encoder()
        if encoder is not None and self._report.tally.encoded:  # so that the first answer has the line of chance, too
            prepare_chance(self._session, encoder, self._context)
        for found in work:
            if found.whole and not found.offline:
                writer.set_scanned(found.record.id, time.time())

    def _prepare_wanted(self, writer: Writer) -> None:
        """Prepares the space that is wanted, last of all: what is new gets into the one in use first.

        Where another one is wanted by then, that one.
        """
        from sbert_desktop.encoder.models import BUNDLED_NAME

        while (wanted := self._library.wanted_space()) is not None:
            self._report.preparing = (wanted.model or BUNDLED_NAME, wanted.fingerprint)
            if self._session.others_wait():
                return
            preparing = begin_preparing(self._session, writer, self._context, self._report, self._embedding)
            if preparing is None:
                return
            self._preparing = True
            try:
                if not self._prepare(writer, preparing):
                    return
            finally:
                self._preparing = False
                preparing.close()

    def _prepare(self, writer: Writer, preparing: Preparing) -> bool:
        """Prepares a space and switches; False where others are to pass first, or its model cannot go on."""
        while not preparing.given_up:
            self._obey(writer)
            while self._embedding.waiting:
                self._obey(writer)
                self._embedding.encode_some()
            if self._session.others_wait():
                return False
            try:
                if preparing.go_on():
                    continue
                switched = preparing.switch()
            except EncoderError as error:
                if error.code == "encoder-closed":
                    raise
                say_it_stays(self._session, self._report, error)
                return False
            if switched:
                self._encode_all(writer)
                return True
            break
        self._report.preparing = None
        return preparing.given_up

    def _retry(self) -> frozenset[bytes]:
        return names_of(self._request.retry)

    def _find_work(self, folders: Sequence[Path]) -> list[Findings]:
        request = self._request
        records = self._scope.folders(request.folder, folders)
        if request.partial:
            how = Looking(request.confirm_removals, self._retry())
            return self._scope.below(records, (*request.only, *request.retry), how)
        return self._scope.whole(records, confirm_removals=request.confirm_removals)

    # ------------------------------------------------------------- files

    def _apply(self, writer: Writer, work: Sequence[Findings], *, afresh: frozenset[bytes]) -> None:
        """Moves, reads and removes; newest files first. With ``afresh``, texts take the place of stored ones."""
        tally, storing = self._tally, self._storing
        batch = Batch(afresh=bool(afresh))
        removed = []
        storing.leaving.clear()
        for found in work:
            changes, folder = found.changes, found.record.id
            tally.unchanged += changes.unchanged
            tally.moved += len(changes.moved)
            tally.removed_pending += changes.removed_pending
            storing.leaving.update(changes.removed_contents)
            for file_id, file in changes.moved:
                writer.move(file_id, file, folder)
            removed += changes.removed
            for file in changes.added:
                if not self._is_due(file, afresh):
                    batch.add(file, folder, new=True)
            for file in changes.changed:
                if self._is_due(file, afresh):
                    continue
                cursor = found.cursors.get(os.fsencode(file.path), "")
                batch.add(replace(file, cursor=cursor) if cursor else file, folder, new=False)
        batch.files.sort(key=lambda file: -file.mtime_ns)
        tally.files_total += len(batch.files)
        batch.part_twins({path: first for found in work for path, first in found.changes.links.items()})
        if batch.files:
            outer, self._under_way = self._under_way, batch
            try:
                self._read(writer, batch)
            finally:
                self._under_way = outer
        # Files that vanished leave last: what moved between folders was linked by its content before.
        if removed:
            tally.removed += len(removed)
            writer.remove(removed)
        writer.commit()

    def _is_due(self, file: SourceFile, afresh: frozenset[bytes]) -> bool:
        """Says whether the reading that goes on comes to this file anyway, as it is now."""
        path = os.fsencode(file.path)
        listed = self._under_way.by_path.get(path) if self._under_way is not None else None
        if listed is None or path in afresh or path in self._storing.stored:
            return False
        return (listed.size, listed.mtime_ns) == (file.size, file.mtime_ns)

    def _read(self, writer: Writer, batch: Batch) -> None:
        storing = self._storing
        while batch.files:
            feeder = read_through_pool(self._session, batch.files, self._context, afresh=batch.afresh)
            self._drain(writer, feeder, lambda item: storing.store(item, batch))
            batch.files, batch.again = batch.again, []

    def _drain(self, writer: Writer, feeder: Feeder, store: Callable[[Item], None]) -> None:
        """Stores what comes; encodes while nothing does."""
        try:
            while True:
                self._obey(writer)
                item = feeder.take(wait=not self._may_encode())
                if item is END:
                    return
                if item is NOTHING:
                    if self._may_encode():
                        self._embedding.encode_some()
                    continue
                assert isinstance(item, tuple)
                store(item)
        finally:
            feeder.close()

    def _may_encode(self) -> bool:
        """Says whether to encode while nothing waits to be stored; a few changed files are stored first."""
        return self._embedding.waiting and not (self._busy_live or self._request.partial)

    def _settle(self, writer: Writer) -> None:
        """Reads those again that changed while they were read, once they rest."""
        waiting, self._storing.unsettled = self._storing.unsettled, []
        if not waiting:
            return
        if not self._library.pending_count("")[1]:
            self._rest(_SETTLE_SECONDS)
        batch = Batch(quiet=True)
        owners = [(record.path, record.id) for record in self._library.folders()]
        for file in waiting:
            seen = on_disk(replace(file, content_hash=""))
            owner = next((id_ for path, id_ in owners if file.path.is_relative_to(path)), None)
            if seen is not None and owner is not None:
                batch.add(seen, owner, new=False)
        self._tally.files_total += len(batch.files)
        if batch.files:
            self._read(writer, batch)

    def _rest(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self._context.check()
            time.sleep(_STEP_ASIDE)

    def _look_after(self, writer: Writer) -> None:
        """Takes care of what came up meanwhile, in the middle of whatever runs."""
        if self._busy_live:
            return
        if self._waiting.run_errands(writer):
            self._embedding.look_again()
        look = self._waiting.take()
        if not look:
            return
        paths = look.paths | look.retry
        under_way = [path for path in paths if self._storing.is_open(path)]
        self._storing.unsettled += [SourceFile(path, 0, 0) for path in under_way]
        leaving = self._storing.leaving.copy()
        self._busy_live = True
        try:
            if not self._embedding.prepared:
                self._embedding.prepare(unread=True)
            self._storing.commit_if_due(force=True)  # what was stored is known to whoever compares
            retry = names_of(tuple(look.retry))
            how = Looking(self._request.confirm_removals, retry)
            found = self._scope.below(self._scope.folders(), paths.difference(under_way), how)
            self._apply(writer, found, afresh=retry)
        finally:
            self._busy_live = False
            self._storing.leaving = leaving

    # ------------------------------------------------------------- what may wait

    def _reread(self, writer: Writer, work: Sequence[Findings]) -> None:
        """Reads files again whose text an earlier version of the reader made; it is found meanwhile."""
        batch = Batch(quiet=True)
        for found in work:
            for file in found.outdated:
                batch.add(file, found.record.id, new=False)
        if not batch.files:
            return
        batch.files.sort(key=lambda file: -file.mtime_ns)
        self._tally.files_total += len(batch.files)
        self._report.phase = "Reading again with the newer reader"
        try:
            self._read(writer, batch)
        finally:
            self._report.phase = "Reading"

    def _recognise(self, writer: Writer) -> None:
        """Recognises the text of scans and pictures, last of all."""
        storing = self._storing
        request = self._request
        asked = request.recognises
        if not asked and not self._session.settings.flag("reading.ocr"):
            return
        within = names_of(request.recognise) if asked else storing.stored if request.partial else None
        files = scanned_files(self._session, within, members=request.recognise_members)
        if not files:
            if asked:
                self._tally.notice("None of these files is a scan or a picture without text.")
            return
        reason = why_not(self._session)
        if reason:
            self._tally.notice(reason)
            return
        batch = Batch(quiet=not asked, afresh=True)
        wanted: list[SourceFile] = []
        for folder, file in files:
            seen = on_disk(file)
            if seen is not None:
                batch.owner[os.fsencode(file.path)] = folder
                batch.by_path[os.fsencode(file.path)] = replace(seen, member="")
                wanted.append(seen)
        self._tally.files_total += len(wanted)
        self._report.phase = "Recognising text"
        self._report.progress(force=True)
        try:
            feeder = recognise_files(self._session, wanted, self._context)
            self._drain(writer, feeder, lambda item: storing.store_recognised(item, batch))
        finally:
            self._report.phase = "Reading"

    # ------------------------------------------------------------- between two steps

    def _encode_all(self, writer: Writer) -> None:
        self._embedding.look_again()
        self._report.progress(force=True)  # the first batch takes seconds: "Preparing the model" would stand until then
        while self._embedding.waiting:
            self._obey(writer)
            self._embedding.encode_some()

    def _obey(self, writer: Writer) -> None:
        """Commits before a pause, so that nothing waits in memory; steps aside while the person asks."""
        if self._context.paused:
            writer.commit()
            self._report.progress(force=True)
            while self._context.paused and not getattr(self._context, "cancelled", False):
                self._waiting.run_errands(writer)
                time.sleep(_STEP_ASIDE)
        self._context.check()
        # A few changed files are no bulk: they do not step aside, and nothing makes them wait.
        small = (self._request.partial and not self._preparing) or self._busy_live
        while self._session.held() > 0 and not (small or self._waiting):
            time.sleep(min(_STEP_ASIDE, self._session.held()))
            self._context.check()
        self._look_after(writer)
