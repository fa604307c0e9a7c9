"""Indexing: bring folders and library into agreement, words first and meaning after.

Files are read by a pool of children while this thread stores what they give; whenever nothing
waits to be stored, it encodes what has no vector yet, newest files first. So words are findable at
once, and reading and encoding overlap on as many cores as there are.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from sbert_desktop.app.feeding import END, NOTHING, Feeder
from sbert_desktop.app.overview import library_view
from sbert_desktop.app.scanning import Changes, Known, compare, root_problem, scan
from sbert_desktop.app.session import Session
from sbert_desktop.app.views import IndexProgress, IndexReport
from sbert_desktop.domain import (
    Encoder,
    EncoderInfo,
    ExtractedText,
    FolderId,
    JobContext,
    Passage,
    Problem,
    SourceFile,
    SplitRules,
    Tokenizer,
    display_path,
    short_path,
)
from sbert_desktop.errors import Cancelled, EncoderError, UsageError

if TYPE_CHECKING:
    from sbert_desktop.library import FolderRecord, PendingDocument, Writer

_COMMIT_SECONDS = 1.0
_COMMIT_PASSAGES = 256
_REPORT_SECONDS = 0.25
_STEP_ASIDE = 0.05
_VIEW_SECONDS = 2.0
_ENCODE_CHARS_WINDOW = 24_000
_ENCODE_CHARS_CONSOLE = 160_000
_WORDS_ONLY_TOKENS = 254
_WORDS_ONLY = EncoderInfo("words-only", "words only", 1, 256, "none", "none", "none", "none")
"""Stands for the encoder while there is no model: its space never gets a vector."""

_RETRY_CODES = frozenset({"changed-while-read", "unreadable", "folder-unreadable"})
"""Problems of the moment: such a file is tried again at each update though it looks unchanged."""


@dataclass(frozen=True, slots=True)
class IndexRequest:
    """What to do: folders to add first (none: bring all known ones up to date).

    ``keep_leaving`` leaves folders alone that were hidden and may still be brought back.
    """

    add: tuple[Path, ...] = ()
    words_only: bool = False
    confirm_removals: bool = False
    keep_leaving: bool = False


@dataclass(slots=True)
class _Tally:
    added: int = 0
    changed: int = 0
    unchanged: int = 0
    moved: int = 0
    removed: int = 0
    removed_pending: int = 0
    stored_passages: int = 0
    files_done: int = 0
    files_total: int = 0
    encoded: int = 0
    tokens: int = 0
    encode_seconds: float = 0.0
    notices: list[str] = field(default_factory=list)


def run_index(session: Session, request: IndexRequest, context: JobContext, *, wait: bool = True) -> IndexReport:
    """Adds folders and brings the library into agreement with the disk.

    Args:
        session: The opened library.
        request: What to do.
        context: Asked for pause and cancel per file and batch; gets Progress, IndexProgress and
            LibraryView partials.
        wait: Wait for another process that writes to the library; else refuse at once.

    Raises:
        UsageError: ``folder-missing``, ``not-a-folder``, ``folder-unreadable``.
        LibraryError: ``folder-nested``, ``library-busy``, ``disk-full``, ``library-readonly``.
        Cancelled: After a cancel; what was committed stays.
    """
    folders = tuple(checked_folder(path) for path in request.add)
    session.start_encoder()
    run = _Run(session, request, context)
    with session.library.writer(
        wait=wait, on_wait=lambda holder: context.progress(f"Waiting for {holder}", 0, None), check=context.check
    ) as writer:
        return run.perform(writer, folders)


def checked_folder(path: Path) -> Path:
    """Gives the real absolute folder.

    Raises:
        UsageError: It is missing, is a file, or cannot be read.
    """
    real = Path(os.path.realpath(path.expanduser()))
    if not real.exists():
        raise UsageError("folder-missing", f"There is no folder {display_path(path)}.", "Check the name.")
    if not real.is_dir():
        raise UsageError("not-a-folder", f"{display_path(path)} is a file, not a folder.", "Add the folder it lies in.")
    if not os.access(real, os.R_OK | os.X_OK):
        raise UsageError(
            "folder-unreadable",
            f"{display_path(path)} cannot be read: permission denied.",
            "Ask its owner, or choose another folder.",
        )
    return real


class _Run:
    """One indexing run; lives on the writer lane."""

    def __init__(self, session: Session, request: IndexRequest, context: JobContext) -> None:
        self._session = session
        self._request = request
        self._context = context
        self._library = session.library
        self._tally = _Tally()
        self._began = time.monotonic()
        self._last_commit = self._began
        self._last_report = self._last_view = 0.0
        self._since_commit = 0
        self._current: tuple[Path | None, str] = (None, "")
        self._split_with: tuple[Tokenizer, SplitRules] | None = None
        self._encoder: Encoder | None = None
        self._nothing_pending = False
        self._leaving: Counter[int] = Counter()

    # ------------------------------------------------------------- the order of things

    def perform(self, writer: Writer, folders: Sequence[Path]) -> IndexReport:
        """Runs all steps; commits on every way out."""
        try:
            if not self._request.keep_leaving:
                self._finish_removals(writer)
            for folder in folders:
                writer.add_folder(folder, words_only=self._request.words_only)
            writer.commit()
            self._send_view(force=True)
            work = [(record, self._changes(writer, record)) for record in self._records(folders)]
            unread = any(changes.added or changes.changed for _, changes in work)
            if unread or self._library.pending_count("")[1] or self._is_behind(writer):
                self._prepare(writer, unread=unread)
            else:
                self._prepare_if_ready(writer)
            self._apply(writer, work)
            self._encode_all(writer)
            writer.commit()
            self._build_index(writer)
            for record, _ in work:
                writer.set_scanned(record.id, time.time())
            writer.commit()
        except (Cancelled, KeyboardInterrupt):
            writer.commit()
            raise
        self._send_progress(force=True)
        self._send_view(force=True)
        return self._report()

    def _records(self, folders: Sequence[Path]) -> list[FolderRecord]:
        wanted = {os.fsencode(path) for path in folders}
        records = [record for record in self._library.folders() if record.state == "active"]
        if not wanted:
            return records
        return [record for record in records if os.fsencode(record.path) in wanted]

    def _finish_removals(self, writer: Writer) -> None:
        for record in self._library.folders():
            if record.state == "leaving":
                writer.remove_folder(record.id)

    def _changes(self, writer: Writer, record: FolderRecord) -> Changes:
        known = self._library.known_files(record.id)
        trouble = root_problem(record.path, len(known))
        if trouble:
            self._tally.notices.append(
                f"{short_path(record.path)} is {trouble} now: its {len(known):,} files stay in the library."
            )
            return Changes(unchanged=len(known))
        found = scan(
            record.path,
            self._context,
            hidden=self._session.settings.flag("indexing.hidden"),
            skip=(self._library.path,),
        )
        kept: Mapping[bytes, Known] = {
            path: entry for path, entry in known.items() if entry.problem_code not in _RETRY_CODES
        }
        retried = len(known) - len(kept)
        changes = compare(found, kept, confirm_removals=self._request.confirm_removals)
        if retried:
            self._split_retries(changes, known, kept, found.files)
        for path, problem in found.unreadable:
            writer.put(record.id, SourceFile(path, 0, 0), None, (), (problem,))
        if changes.removed_pending:
            self._tally.notices.append(
                f"{changes.removed_pending:,} files of {short_path(record.path)} are gone at once; they were kept. "
                "Run index with --confirm-removals if they were really deleted."
            )
        return changes

    @staticmethod
    def _split_retries(
        changes: Changes, known: Mapping[bytes, Known], kept: Mapping[bytes, Known], files: Mapping[bytes, SourceFile]
    ) -> None:
        """Files tried again count as changed; those that vanished leave."""
        again = {path for path in known if path not in kept}
        changes.changed += [file for file in changes.added if os.fsencode(file.path) in again]
        changes.added = [file for file in changes.added if os.fsencode(file.path) not in again]
        changes.removed += [known[path].id for path in again if path not in files]

    # ------------------------------------------------------------- encoder and splitting

    def _is_behind(self, writer: Writer) -> bool:
        """Says whether vectors are another encoder's than the one in force, or a change to it was cut short."""
        active = self._library.active_space()
        if active is None:
            return False
        return bool(writer.resegment_needed()) or self._session.expected_fingerprint() not in ("", active.fingerprint)

    def _prepare(self, writer: Writer, *, unread: bool) -> None:
        """Waits for the encoder; without one, texts are still cut and found by words, old and new ones alike."""
        self._context.progress("Preparing the model", 0, None)
        try:
            encoder = self._session.encoder()
        except EncoderError as error:
            from sbert_desktop.encoder.hashing import HashingEncoder

            self._tally.notices.append(f"{error.message} Only words can be searched until there is a model.")
            active = self._library.active_space()
            if unread or (active is not None and active.fingerprint == _WORDS_ONLY.fingerprint):
                rules = SplitRules(max_tokens=_WORDS_ONLY_TOKENS)
                self._cut_with(writer, _WORDS_ONLY, HashingEncoder().tokenizer, rules)
            return
        self._use(writer, encoder)

    def _prepare_if_ready(self, writer: Writer) -> None:
        encoder = self._session.ready_encoder()
        if encoder is not None and self._library.active_space() is not None:
            self._use(writer, encoder)

    def _use(self, writer: Writer, encoder: Encoder) -> None:
        self._encoder = encoder
        self._cut_with(writer, encoder.info, encoder.tokenizer, self._session.rules(encoder))
        self._tally.notices += [notice for notice in encoder.info.notices if notice not in self._tally.notices]

    def _cut_with(self, writer: Writer, info: EncoderInfo, tokenizer: Tokenizer, rules: SplitRules) -> None:
        """Makes a space the active one and cuts every stored text that was not cut for it yet."""
        self._split_with = (tokenizer, rules)
        writer.use_space(info, tokenizer.key, rules)
        for content in writer.resegment_needed():
            self._context.check()
            writer.put_passages(content, self._split(self._library.text_of(content)))
            self._maybe_commit(writer)

    def _split(self, text: ExtractedText) -> list[Passage]:
        from sbert_desktop.extraction import split

        assert self._split_with is not None
        tokenizer, rules = self._split_with
        return split(text, rules, tokenizer)

    # ------------------------------------------------------------- files

    def _apply(self, writer: Writer, work: Sequence[tuple[FolderRecord, Changes]]) -> None:
        tally = self._tally
        owner: dict[bytes, FolderId] = {}
        fresh: list[SourceFile] = []
        removed = []
        new_paths: set[bytes] = set()
        self._leaving = Counter(content for _, changes in work for content in changes.removed_contents)
        for record, changes in work:
            tally.unchanged += changes.unchanged
            tally.moved += len(changes.moved)
            tally.removed_pending += changes.removed_pending
            for file_id, file in changes.moved:
                writer.move(file_id, file, record.id)
            removed += changes.removed
            for file in (*changes.added, *changes.changed):
                owner[os.fsencode(file.path)] = record.id
                fresh.append(file)
            new_paths.update(os.fsencode(file.path) for file in changes.added)
        fresh.sort(key=lambda file: -file.mtime_ns)
        tally.files_total = len(fresh)
        if fresh:
            self._read(writer, fresh, owner, new_paths)
        # Files that vanished leave last: what moved between folders was linked by its content before.
        if removed:
            tally.removed += len(removed)
            writer.remove(removed)
        writer.commit()

    def _read(
        self, writer: Writer, files: Sequence[SourceFile], owner: dict[bytes, FolderId], new_paths: set[bytes]
    ) -> None:
        feeder = Feeder(self._session, files, self._context)
        try:
            while True:
                self._obey(writer)
                item = feeder.take(wait=not self._can_encode())
                if item is NOTHING:
                    self._encode_some(writer)
                    continue
                if item is END:
                    return
                assert isinstance(item, tuple)
                self._store(writer, item[0], item[1], owner, new_paths)
        finally:
            feeder.close()

    def _store(
        self,
        writer: Writer,
        file: SourceFile,
        outcome: ExtractedText | Problem | None,
        owner: dict[bytes, FolderId],
        new_paths: set[bytes],
    ) -> None:
        key = os.fsencode(file.path)
        folder = owner[key]
        tally = self._tally
        moved = False
        if outcome is None:
            content = writer.put(folder, file, None, (), ())
            if content is not None and key in new_paths and self._leaving[content] > 0:
                moved = True
                self._leaving[content] -= 1
        elif isinstance(outcome, Problem):
            writer.put(folder, file, None, (), (outcome,))
        else:
            passages = self._split(outcome)
            writer.put(folder, file, outcome, passages, outcome.problems)
            tally.stored_passages += len(passages)
            self._since_commit += len(passages)
            self._nothing_pending = False
        tally.files_done += 1
        if moved:
            tally.moved += 1
            tally.removed -= 1
        elif key in new_paths:
            tally.added += 1
        else:
            tally.changed += 1
        self._current = (file.path.parent, short_path(file.path))
        self._maybe_commit(writer)
        self._send_progress()

    # ------------------------------------------------------------- vectors

    def _can_encode(self) -> bool:
        return self._encoder is not None and not self._nothing_pending

    def _encode_all(self, writer: Writer) -> None:
        self._nothing_pending = False
        self._send_progress(force=True)  # the first batch takes seconds: until then "Preparing the model" would stand
        while self._can_encode():
            self._obey(writer)
            self._encode_some(writer)

    def _encode_some(self, writer: Writer) -> None:
        """Encodes the newest documents without vectors; whole documents are committed together."""
        encoder = self._encoder
        assert encoder is not None
        chars = _ENCODE_CHARS_WINDOW if self._session.interactive else _ENCODE_CHARS_CONSOLE
        writer.commit()
        pending = writer.pending(tokens_hint_chars=chars)
        writer.commit()
        if not pending:
            self._nothing_pending = True
            return
        ids = [pid for document in pending for pid, _ in document.passages]
        texts = [text for document in pending for _, text in document.passages]
        encoder.set_pace(gentle=self._session.gentle())
        began = time.monotonic()
        for start, stop in _slices(pending, chars * 4):
            part = texts[start:stop]
            vectors = encoder.encode_passages(part, self._context)
            writer.put_vectors(ids[start:stop], vectors)
            self._tally.encoded += len(part)
            self._tally.tokens += encoder.count_tokens(part)
            self._tally.encode_seconds += time.monotonic() - began
            began = time.monotonic()
            self._maybe_commit(writer, force=True)
            self._send_progress()

    def _build_index(self, writer: Writer) -> None:
        if self._encoder is None:
            return
        self._context.progress("Building the index", 0, None)
        writer.build_index(self._context)

    # ------------------------------------------------------------- commits, pause, reports

    def _obey(self, writer: Writer) -> None:
        """Commits before a pause, so that nothing waits in memory; steps aside while the person asks."""
        if self._context.paused:
            writer.commit()
            self._send_progress(force=True)
        self._context.check()
        while self._session.held() > 0:
            time.sleep(min(_STEP_ASIDE, self._session.held()))
            self._context.check()

    def _maybe_commit(self, writer: Writer, *, force: bool = False) -> None:
        now = time.monotonic()
        if force or self._since_commit >= _COMMIT_PASSAGES or now - self._last_commit >= _COMMIT_SECONDS:
            writer.commit()
            self._since_commit = 0
            self._last_commit = now
            self._send_view()

    def _send_view(self, *, force: bool = False) -> None:
        now = time.monotonic()
        if self._session.interactive and (force or now - self._last_view >= _VIEW_SECONDS):
            self._last_view = now
            self._context.partial(library_view(self._session, indexing=True))

    def _send_progress(self, *, force: bool = False) -> None:
        now = time.monotonic()
        if not force and now - self._last_report < _REPORT_SECONDS:
            return
        self._last_report = now
        tally = self._tally
        pending = self._library.pending_count(self._session.fingerprint())[1] if self._encoder is not None else 0
        left = tally.files_total - tally.files_done
        per_file = tally.stored_passages / tally.files_done if tally.files_done else 1.0
        passages_total = tally.encoded + pending + (int(left * per_file) if self._encoder is not None else 0)
        elapsed = now - self._began
        speed = tally.encoded / tally.encode_seconds if tally.encode_seconds > 0 else 0.0
        seconds_left: float | None = None
        if elapsed > 5.0 and (tally.files_done or tally.encoded):
            busy_reading = max(0.1, elapsed - tally.encode_seconds)
            seconds_left = left * busy_reading / max(1, tally.files_done) if left else 0.0
            if self._encoder is not None and speed > 0:
                seconds_left += (passages_total - tally.encoded) / speed
        self._context.partial(
            IndexProgress(
                folder=self._current[0],
                current=self._current[1],
                files_done=tally.files_done,
                files_total=tally.files_total,
                passages_done=tally.encoded,
                passages_total=passages_total,
                passages_per_second=speed,
                tokens_per_second=tally.tokens / tally.encode_seconds if tally.encode_seconds > 0 else 0.0,
                seconds_left=seconds_left,
                paused=self._context.paused,
                pace="gentle" if self._session.gentle() else "full",
            )
        )
        if left:
            self._context.progress("Reading", tally.files_done, tally.files_total, self._current[1])
        else:
            self._context.progress(
                "Passages by meaning",
                tally.encoded,
                passages_total,
                f"{speed:,.0f} passages/s" + (f", about {seconds_left / 60:,.1f} min left" if seconds_left else ""),
            )

    def _report(self) -> IndexReport:
        tally = self._tally
        encoder = self._encoder
        counts = self._library.counts(self._session.fingerprint())
        seconds = time.monotonic() - self._began
        spent = tally.encode_seconds
        return IndexReport(
            documents=counts.documents,
            passages=counts.passages,
            problems=counts.problems,
            added=tally.added,
            changed=tally.changed,
            unchanged=tally.unchanged,
            moved=tally.moved,
            removed=tally.removed,
            encoded_passages=tally.encoded,
            seconds=seconds,
            passages_per_second=tally.encoded / spent if spent else 0.0,
            tokens_per_second=tally.tokens / spent if spent else 0.0,
            backend=encoder.info.backend if encoder else "none",
            device=encoder.info.device if encoder else "none",
            removed_pending=tally.removed_pending,
            notices=tuple(dict.fromkeys((*tally.notices, *self._session.notices()))),
        )


def _slices(pending: Sequence[PendingDocument], chars: int) -> list[tuple[int, int]]:
    """Cuts the flat list of passages at document borders, about ``chars`` characters each."""
    out: list[tuple[int, int]] = []
    start = position = size = 0
    for document in pending:
        position += len(document.passages)
        size += sum(len(text) for _, text in document.passages)
        if size >= chars:
            out.append((start, position))
            start, size = position, 0
    if position > start:
        out.append((start, position))
    return out
