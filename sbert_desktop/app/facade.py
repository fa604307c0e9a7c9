"""``App``: the commands of the window on lanes; nothing here waits in the caller's thread.

Twelve lanes of plain threads: *writer* (alone changes the library), *reader* (search, newest wins),
*viewer* (previews, opening files: a page that takes seconds must not hold up a search),
*helper* (state, lists, estimates), *errand* (waits for small changes, which whoever holds the writer
does between two steps), *study* (what reads for long: the quotations of a draft), *models* (adding
one), *duplicates* (finding them), *cleaner* (moving them to the trash, and back), *themes* (finding and changing
them), *map* (laying it out) and *training* (tuning an encoder). See docs/adr/0008-lanes.md.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from sbert_desktop.app import (
    collecting,
    embedding,
    estimating,
    exporting,
    indexing,
    judging,
    keeping,
    marking,
    models,
    overview,
    preview,
    problems,
    reranking,
    searching,
)
from sbert_desktop.app.atlas_commands import AtlasCommands
from sbert_desktop.app.duplicate_commands import DuplicateCommands
from sbert_desktop.app.live import Live
from sbert_desktop.app.naming import find_documents
from sbert_desktop.app.session import Session, sample_folder
from sbert_desktop.app.training_commands import TrainingCommands
from sbert_desktop.app.views import (
    CaptionView,
    HitView,
    IndexReport,
    LeftOutView,
    LibraryView,
    Marks,
    OpenerView,
    ProblemView,
    SearchView,
    Span,
    UnlockView,
)
from sbert_desktop.domain import Event, FolderRules, JobContext, JobId, Mode, Parsed, Query, Snapshot
from sbert_desktop.errors import Cancelled, EncoderError, UsageError
from sbert_desktop.explore import parse
from sbert_desktop.jobs import Jobs
from sbert_desktop.settings import Settings

if TYPE_CHECKING:
    from sbert_desktop.library import Writer

_LANES = (
    "writer", "reader", "viewer", "helper", "errand", "study", "models", "duplicates", "cleaner", "themes", "map",
    "training", "lab",
)  # fmt: skip
_TYPING_SECONDS = 1.0
_SWITCH_SECONDS = 0.001
_HISTORY_AFTER = 2.0
_HISTORY_LENGTH = 200


class App(DuplicateCommands, AtlasCommands, TrainingCommands):
    """The program behind the window; fulfils :class:`sbert_desktop.app.interface.Commands`.

    Args:
        library: Folder of the library; made when missing.
        settings: Values in force.

    Raises:
        LibraryError: The library cannot be opened. Call it off the GUI thread: opening reads the disk.
    """

    def __init__(self, library: Path, settings: Settings | None = None) -> None:
        self.settings = settings or Settings()
        self._post: Callable[[Event], None] = lambda event: None
        self._session = Session(
            library, self.settings, interactive=True, notify=self._on_notice, on_encoder=self._on_encoder
        )
        _ = self._session.library  # opened here, so that whoever makes the program hears why it cannot be opened
        self._jobs = Jobs(lambda event: self._post(event), lanes=_LANES)
        self._live = Live(self._session, self._jobs, self._submit_index)
        self._session.others_wait = self._others_wait
        self._lock = threading.Lock()
        self._history: list[str] = []
        self._asked: tuple[str, float] = ("", 0.0)
        self._remembering: threading.Timer | None = None
        self._requests: dict[JobId, indexing.IndexRequest] = {}
        self._pages = preview.PageCache()
        self._saved = collecting.SavedSearches(self._session)
        self._kinds: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
        self._connected = False
        self._closed = False

    def connect(self, post: Callable[[Event], None]) -> None:
        """Names the receiver of events, prepares the encoder and looks for changes."""
        # Storing is Python code; a query beside it would wait 5 ms for each turn at the interpreter.
        sys.setswitchinterval(_SWITCH_SECONDS)
        self._post = post
        self._connected = True
        self._session.start_encoder()
        self._jobs.submit("helper", "history", self._load_history)
        self._jobs.submit("helper", "start", self._begin)

    # ------------------------------------------------------------- library

    def refresh(self) -> JobId:
        """Reads the library's state."""
        return self._jobs.submit(
            "helper",
            "refresh",
            lambda context: self._refreshed(),
            key="refresh",
        )

    def _refreshed(self) -> LibraryView:
        view = overview.library_view(self._session, indexing=self._indexing())
        self._kinds = (view.formats, view.languages)
        return view

    def estimate(self, folders: Sequence[Path]) -> JobId:
        """Measures what adding the folders takes."""
        chosen = tuple(folders)
        return self._jobs.submit(
            "helper",
            "estimate",
            lambda context: estimating.run_estimate(self._session, chosen, context),
            key="estimate",
        )

    def add_folders(self, folders: Sequence[Path], *, words_only: bool = False) -> JobId:
        """Adds and indexes folders."""
        return self._index(indexing.IndexRequest(tuple(folders), words_only=words_only))

    def add_sample(self) -> JobId:
        """Adds the sample library."""
        return self._index(indexing.IndexRequest((sample_folder(),)))

    def update(self, *, confirm_removals: bool = False) -> JobId:
        """Brings all folders up to date."""
        return self._index(indexing.IndexRequest(confirm_removals=confirm_removals))

    def pause(self) -> None:
        """Pauses the indexing run."""
        self._jobs.pause("writer")

    def resume(self) -> None:
        """Goes on with it."""
        self._jobs.resume("writer")

    def set_pace(self, pace: str) -> None:
        """Remembers the pace; in force at the next batch."""
        self._jobs.submit("helper", "setting", lambda context: self.settings.set("indexing.pace", pace))

    def cancel(self, job: JobId) -> None:
        """Asks a job to end."""
        self._jobs.cancel(job)

    def remove_folder(self, folder: Path) -> JobId:
        """Hides a folder at once; a running indexing steps aside and goes on after."""
        return self._folder_state(folder, "leaving")

    def undo_remove(self, folder: Path) -> JobId:
        """Brings a hidden folder back."""
        return self._folder_state(folder, "active")

    def finish_removals(self) -> JobId:
        """Erases hidden folders for good."""

        def work(context: JobContext) -> object:
            with self._session.library.writer(check=context.check) as writer:
                for record in self._session.library.folders():
                    if record.state == "leaving":
                        writer.remove_folder(record.id)
                writer.commit()
            self._live.follow()
            return overview.library_view(self._session)

        return self._jobs.submit("writer", "remove", work)

    def problems(self) -> JobId:
        """Lists problems."""
        return self._jobs.submit("helper", "problems", lambda context: overview.problem_views(self._session))

    def left_out(self) -> JobId:
        """Lists what rules leave out."""

        def work(context: JobContext) -> object:
            from sbert_desktop.app.left_out import run_left_out

            return run_left_out(self._session, context)

        return self._jobs.submit("viewer", "left-out", work, key="left-out")

    def check(self, paths: Sequence[Path]) -> JobId:
        """Looks for changes below these paths."""
        return self._live.check(paths)

    def retry(self, paths: Sequence[Path]) -> JobId:
        """Reads files again."""
        return self._live.check((), retry=paths)

    def ignore(self, paths: Sequence[Path], *, ignored: bool = True, members: Sequence[tuple[Path, str]] = ()) -> JobId:
        """Takes files, or single members, off the list of problems, or puts them back."""
        chosen, parts = tuple(paths), tuple(members)

        def work(context: JobContext) -> object:
            def change(writer: Writer) -> None:
                writer.set_ignored(chosen, ignored, members=parts)
                writer.commit()

            self._live.errand(change, context)
            return overview.problem_views(self._session)

        return self._jobs.submit("errand", "problems", work)

    def recognise(self, paths: Sequence[Path], *, members: Sequence[tuple[Path, str]] = ()) -> JobId:
        """Recognises the text of scans and pictures."""
        return self._index(indexing.IndexRequest(recognise=tuple(paths), recognise_members=tuple(members)))

    def unlock(self, path: Path, password: str, *, keep: bool, member: str = "") -> JobId:
        """Opens a protected file; the password is nowhere kept."""

        def work(context: JobContext) -> object:
            opened = problems.open_locked(self._session, path, password, context, member=member)
            if not (keep and opened.view.opened):
                return opened.view
            cutter = embedding.cutter_in_force(self._session)

            def store(writer: Writer) -> UnlockView:
                return problems.keep_opened(self._session, writer, cutter, opened)

            view = self._live.errand(store, context)
            self._live.check([path])  # its passages get their vectors
            return view

        return self._jobs.submit("errand", "unlock", work)

    def caption(self, path: Path, member: str = "") -> JobId:
        """Reads the person's own words about a file."""
        return self._jobs.submit(
            "helper", "caption", lambda context: problems.caption_view(self._session, path, member), key="caption"
        )

    def set_caption(self, path: Path, text: str, member: str = "") -> JobId:
        """Stores them."""

        def work(context: JobContext) -> object:
            cutter = embedding.cutter_in_force(self._session)

            def store(writer: Writer) -> CaptionView:
                return problems.store_caption(writer, cutter, path, text, member)

            view = self._live.errand(store, context)
            self._live.check([path])
            return view

        return self._jobs.submit("errand", "caption", work)

    def set_rules(self, folder: Path, rules: FolderRules) -> JobId:
        """Sets what of a folder is read, then checks it; a running indexing steps aside and goes on after."""
        return self._first(indexing.IndexRequest(folder=folder, rules=rules, keep_leaving=True))

    def locate(self, folder: Path, place: Path) -> JobId:
        """Says where a folder that is offline lies now."""
        return self._first(indexing.IndexRequest(folder=folder, place=place, keep_leaving=True))

    def export_problems(self, target: Path, rows: Sequence[ProblemView | LeftOutView]) -> JobId:
        """Writes rows as CSV."""
        chosen = tuple(rows)
        return self._jobs.submit("helper", "export", lambda context: problems.write_problems(target, chosen))

    def programs(self) -> JobId:
        """Looks for Tesseract and LibreOffice."""

        def work(context: JobContext) -> object:
            from sbert_desktop.app.asking import find_programs

            return find_programs(self._session)

        return self._jobs.submit("viewer", "programs", work, key="programs")

    def recent(self, limit: int = 200) -> JobId:
        """Lists the documents read last."""
        return self._jobs.submit("helper", "recent", lambda context: overview.recent_views(self._session, limit))

    # ------------------------------------------------------------- search

    def typing(self) -> None:
        """Makes bulk work step aside; the cross-encoder in use is made ready for the query that comes."""
        self._session.hold_bulk(_TYPING_SECONDS)
        if self.settings.text("models.cross_encoder") and self.settings.text("search.rerank") != "0":
            self._session.second_stage.start()

    def search(self, query: Query) -> JobId:
        """Searches; the newest query wins."""
        self.typing()
        self._remember_later(query.text)

        return self._jobs.submit("reader", "search", lambda context: self._answer(query, context), key="search")

    def _answer(self, query: Query, context: JobContext) -> SearchView:
        """First what was found, then in the order of the second stage, then the best sentences."""
        self._session.hold_bulk(_TYPING_SECONDS)
        found = searching.find(self._session, query, wait_for_model=False)
        view = searching.show(self._session, found, on_stale=self._live.stale)
        self._session.hold_bulk(_TYPING_SECONDS)
        context.check()
        context.partial(view)
        self._look_at_saved(query, found.snapshot)
        again = self._read_again(found, context)
        if again is not found:
            view = searching.show(self._session, again, on_stale=self._live.stale)
            context.partial(view)
        if query.mode is Mode.KEYWORD or not self.settings.flag("search.best_sentence"):
            return view
        spans: dict[int, Span] = {}
        for marks in marking.mark_some(self._session, view, context):
            context.check()
            context.partial(marks)
            spans.update(marks.spans)
        return marking.with_marks(view, Marks(spans))

    def _look_at_saved(self, query: Query, snapshot: Snapshot) -> None:
        """What is fresh for a saved search is seen now: its dot goes out."""
        if self._saved.has_fresh(query):
            self._jobs.submit("errand", "saved", lambda context: self._saved.looked_at(query, snapshot))

    def _read_again(self, found: searching.Found, context: JobContext) -> searching.Found:
        """Gives the answer in the cross-encoder's order; as it is where none is in use, or where it fails."""
        if not found.query.rerank or not found.results.documents:
            return found
        try:
            cross = self._session.second_stage.wait(context)
            return found if cross is None else reranking.rerank(found, cross, context, hold=self._session.hold_bulk)
        except EncoderError as error:
            return replace(found, notes=(*found.notes, f"{error.message} This is the order of the first search."))

    def documents(self, words: str, *, limit: int = 8) -> JobId:
        """Finds documents by name or title; the newest words win."""

        def work(context: JobContext) -> object:
            return find_documents(self._session, words, limit=limit)

        return self._jobs.submit("reader", "documents", work, key="documents")

    def parse(self, text: str) -> Parsed:
        """Gives what a typed query means; knows of kinds and languages what the last refresh told."""
        types, languages = self._kinds
        return parse(text, now=time.time(), types=types, languages=languages)

    def similar(self, path: Path, *, top: int = 10) -> JobId:
        """Finds documents like this one."""
        self.typing()
        return self._jobs.submit(
            "reader",
            "search",
            lambda context: searching.run_similar(self._session, path, top=top, on_stale=self._live.stale),
            key="search",
        )

    def similar_text(self, text: str, *, top: int = 10) -> JobId:
        """Finds documents like a pasted text."""
        self.typing()
        return self._jobs.submit(
            "reader",
            "search",
            lambda context: searching.run_similar_text(self._session, text, top=top, on_stale=self._live.stale),
            key="search",
        )

    def export_hits(self, view: SearchView, target: Path) -> JobId:
        """Writes hits in the form that the end of the name says."""
        return self._jobs.submit("helper", "export", lambda context: exporting.export_hits(view, target))

    def judge(self, query: str, hit: HitView, verdict: str) -> JobId:
        """Keeps what the person says of a hit."""
        return self._jobs.submit("errand", "judge", lambda context: judging.judge(self._session, query, hit, verdict))

    def quotes(self, draft: Path | str) -> JobId:
        """Looks for the quotations of a draft."""

        def work(context: JobContext) -> object:
            from sbert_desktop.app.quoting import run_quotes

            return run_quotes(self._session, draft, context)

        return self._jobs.submit("study", "quotes", work, key="quotes")

    def family(self, hit: HitView) -> JobId:
        """Finds the versions of a hit's document."""

        def work(context: JobContext) -> object:
            from sbert_desktop.app.quoting import run_family

            return run_family(self._session, hit)

        return self._jobs.submit("study", "family", work, key="family")

    # ------------------------------------------------------------- collections and saved searches

    def collections(self) -> JobId:
        """Lists collections."""
        return self._collections(lambda: None)

    def collect(self, name: str, hits: Sequence[HitView], *, note: str = "") -> JobId:
        """Puts passages into a collection."""
        chosen = tuple(hits)
        return self._collections(lambda: collecting.collect(self._session, name, chosen, note=note))

    def change_collection(
        self,
        name: str,
        *,
        rename: str = "",
        note: str | None = None,
        take_out: Sequence[int] = (),
        delete: bool = False,
        item_note: tuple[int, str] | None = None,
    ) -> JobId:
        """Changes a collection."""
        items = tuple(take_out)
        return self._collections(
            lambda: self._session.library.change_collection(
                name, rename=rename, note=note, take_out=items, item_note=item_note, delete=delete
            )
        )

    def export_collection(self, name: str, target: Path) -> JobId:
        """Writes a collection in the form that the end of the name says."""
        return self._jobs.submit(
            "helper", "export", lambda context: collecting.export_collection(self._session, name, target)
        )

    def saved_searches(self) -> JobId:
        """Lists saved searches with what is fresh for them."""
        return self._jobs.submit("errand", "saved", lambda context: self._saved.list(), key="saved")

    def save_search(self, name: str, query: Query) -> JobId:
        """Keeps a search."""

        def work(context: JobContext) -> object:
            collecting.save_search(self._session, name, query)
            return self._saved.list()

        return self._jobs.submit("errand", "saved", work)

    def remove_saved(self, name: str) -> JobId:
        """Forgets a saved search."""

        def work(context: JobContext) -> object:
            self._session.library.remove_saved(name)
            return self._saved.list()

        return self._jobs.submit("errand", "saved", work)

    def _collections(self, change: Callable[[], None]) -> JobId:
        def work(context: JobContext) -> object:
            change()
            return collecting.collections(self._session)

        return self._jobs.submit("errand", "collections", work)

    def preview(self, hit: HitView, *, page: int | None = None, width: int = 704, as_text: bool = False) -> JobId:
        """Prepares the preview of a hit."""
        self._session.touch()
        return self._jobs.submit(
            "viewer",
            "preview",
            lambda context: preview.run_preview(
                self._session, hit, page=page, width=width, cache=self._pages, as_text=as_text
            ),
            key="preview",
        )

    def history(self) -> tuple[str, ...]:
        """Gives earlier queries, newest first."""
        with self._lock:
            return tuple(self._history)

    def clear_history(self) -> None:
        """Forgets them, on disk too."""
        with self._lock:
            self._history.clear()
            self._asked = ("", 0.0)
            if self._remembering is not None:
                self._remembering.cancel()
        self._jobs.submit("helper", "history", lambda context: self._session.library.clear_history())

    # ------------------------------------------------------------- the daily copy

    def kept_copy(self) -> JobId:
        """Looks for a daily copy that holds more than the library."""
        return self._jobs.submit("errand", "kept", lambda context: keeping.newest_with_more(self._session), key="kept")

    def restore_kept(self, source: Path | None = None) -> JobId:
        """Brings back what a copy holds and the library lacks."""
        return self._jobs.submit("errand", "kept", lambda context: keeping.restore(self._session, source))

    # ------------------------------------------------------------- index health

    def health(self) -> JobId:
        """Measures the index."""

        def work(context: JobContext) -> object:
            from sbert_desktop.app.health import run_health

            return run_health(self._session, context)

        return self._jobs.submit("study", "health", work, key="health")

    def repair(self) -> JobId:
        """Rebuilds the index."""

        def work(context: JobContext) -> object:
            from sbert_desktop.app.health import run_repair

            view = run_repair(self._session, context)
            if view.waiting and not self._closed:
                self._index(indexing.IndexRequest(keep_leaving=True))  # what lost its vectors gets them again
            return view

        return self._jobs.submit("writer", "index", work)

    # ------------------------------------------------------------- duplicates

    def _removed(self, paths: Sequence[Path]) -> None:
        """Has the library forget files that the person moved to the trash: nobody is asked about many at once."""
        self._index(indexing.IndexRequest(only=tuple(paths), confirm_removals=True, keep_leaving=True))

    # ------------------------------------------------------------- files and models

    def open_file(self, path: Path, page: int | None = None) -> JobId:
        """Opens a file; a program is refused, never started."""
        self._remember_now()

        def work(context: JobContext) -> object:
            from sbert_desktop.platform import open_file

            open_file(path, page)
            return None

        return self._jobs.submit("viewer", "open", work)

    def open_with(self, path: Path, program: Path) -> JobId:
        """Opens a file with a program that the person chose."""
        self._remember_now()

        def work(context: JobContext) -> object:
            from sbert_desktop.platform import open_with

            open_with(path, program)
            return None

        return self._jobs.submit("viewer", "open", work)

    def openers(self, path: Path) -> JobId:
        """Lists the programs that the desktop knows for a file."""

        def work(context: JobContext) -> object:
            from sbert_desktop.platform import programs_for

            return tuple(OpenerView(own, program) for own, program in programs_for(path))

        return self._jobs.submit("viewer", "openers", work, key="openers")

    def reveal(self, path: Path) -> JobId:
        """Shows a file in the file manager."""
        self._remember_now()

        def work(context: JobContext) -> object:
            from sbert_desktop.platform import reveal

            reveal(path)
            return None

        return self._jobs.submit("viewer", "open", work)

    def models(self) -> JobId:
        """Lists models."""
        return self._jobs.submit("helper", "models", lambda context: models.list_models(self._session))

    def verify_models(self) -> JobId:
        """Checks every model file."""
        return self._jobs.submit("helper", "models", lambda context: models.list_models(self._session, verify=True))

    def add_model(self, source: str, *, again: str = "") -> JobId:
        """Adds a model from a folder, or from the hub by its name; ``again``: in place of the one of that name."""

        def work(context: JobContext) -> object:
            return models.add_model(self._session, source, context, again=again)

        return self._jobs.submit("models", "models", work)

    def use_model(self, name: str) -> JobId:
        """Has the library come to a model: its space is prepared, and the one in use serves until then."""

        def work(context: JobContext) -> object:
            changes = models.changes_encoder(self._session, name)
            after = self._step_aside() if changes else []
            try:
                return models.use_model(self._session, name)
            finally:
                if changes:
                    self._go_on(after)

        return self._jobs.submit("helper", "models", work)

    def _change_space(self, kind: str, work: Callable[[JobContext], object]) -> JobId:
        def change(context: JobContext) -> object:
            after = self._step_aside()
            try:
                return work(context)
            finally:
                self._go_on(after)

        return self._jobs.submit("helper", kind, change)

    def _go_on(self, after: Sequence[indexing.IndexRequest]) -> None:
        """Begins again what stepped aside; a run in any case, which brings the library to its model."""
        if not (self._session.library.read_only or self._closed):
            for request in after or [indexing.IndexRequest(keep_leaving=True)]:
                self._index(request)

    def remove_model(self, name: str) -> JobId:
        """Removes the files of a model that was added."""
        return self._jobs.submit("helper", "models", lambda context: models.remove_model(self._session, name))

    def close(self, timeout: float = 5.0) -> None:
        """Cancels and joins the lanes, then closes the session. Idempotent."""
        if self._closed:
            return
        self._closed = True
        with self._lock:
            if self._remembering is not None:
                self._remembering.cancel()
        self._flush_history()
        self._live.stop()
        self._jobs.close(timeout)
        self._session.close()

    # ------------------------------------------------------------- within

    def _index(self, request: indexing.IndexRequest) -> JobId:
        return self._submit_index(request, lambda context: self._live.run(request, context))

    def _submit_index(self, request: indexing.IndexRequest, work: Callable[[JobContext], object]) -> JobId:
        def run(context: JobContext) -> object:
            report = work(context)
            if isinstance(report, IndexReport) and report.preparing and not self._closed:
                self._index(indexing.IndexRequest(keep_leaving=True))  # it let others pass: taken up after them
            return report

        job = self._jobs.submit("writer", "index", run)
        with self._lock:
            running = set(self._jobs.ids("writer"))
            self._requests = {known: old for known, old in self._requests.items() if known in running}
            self._requests[job] = request
        return job

    def _others_wait(self) -> bool:
        """Says whether something waits behind an indexing run that this does not look after between two steps."""
        with self._lock:
            known = self._jobs.ids("writer")
            behind = [request for job, request in self._requests.items() if job in known][1:]
        others = self._jobs.kinds("writer") - {"index", "errand"}
        return bool(others) or any(request != indexing.IndexRequest(keep_leaving=True) for request in behind)

    def _indexing(self) -> bool:
        return "index" in self._jobs.kinds("writer")

    def _step_aside(self) -> list[indexing.IndexRequest]:
        """Cancels what indexes or waits to; gives what has to be begun again after."""
        with self._lock:
            waiting = self._jobs.ids("writer")
            stopped = [request for job, request in self._requests.items() if job in waiting]
        if stopped:
            self._jobs.cancel_kind("writer", "index")
        again = [replace(request, keep_leaving=True) for request in stopped if request != indexing.IndexRequest()]
        plain = [indexing.IndexRequest(keep_leaving=True)] if stopped else []
        return [*(request for request in again if not request.empty), *plain]

    def _first(self, request: indexing.IndexRequest) -> JobId:
        """Runs a request ahead of the others."""
        after = self._step_aside()
        job = self._index(request)
        for other in after:
            self._index(other)
        return job

    def _folder_state(self, folder: Path, state: str) -> JobId:
        after = self._step_aside()

        def work(context: JobContext) -> object:
            library = self._session.library
            with library.writer(check=context.check) as writer:
                record = next((r for r in library.folders() if r.path == folder), None)
                if record is None:
                    raise UsageError("folder-unknown", f"{folder.name} is not in the library.", "")
                writer.set_folder_state(record.id, state)
                writer.commit()
            self._live.follow()
            return overview.library_view(self._session)

        job = self._jobs.submit("writer", "remove", work)
        if state == "active" and not after:
            after = [indexing.IndexRequest(keep_leaving=True)]
        for request in after if not self._closed else ():
            self._index(request)
        return job

    def _begin(self, context: JobContext) -> object:
        """Watches the folders, then looks for what changed while nobody watched."""
        self._live.follow()
        if (
            self.settings.flag("indexing.check_at_start")
            and self._session.library.folders()
            and not self._session.library.read_only
        ):
            self.update()
        elif self._session.library.wanted_space() is not None and not self._session.library.read_only:
            self._index(indexing.IndexRequest(keep_leaving=True))  # goes on with what it was preparing
        return None

    def _on_encoder(self) -> None:
        if self._connected and not self._closed:
            self.refresh()

    def _on_notice(self, line: str) -> None:
        if self._connected and not self._closed:
            self.refresh()

    # ------------------------------------------------------------- history

    def _load_history(self, context: JobContext) -> object:
        found = list(self._session.library.history())[:_HISTORY_LENGTH]
        with self._lock:
            self._history = [*self._history, *(text for text in found if text not in self._history)]
        return None

    def _remember_later(self, text: str) -> None:
        """A query is remembered once it stood for two seconds, so half-typed ones are not."""
        if text == self._asked[0]:
            return
        self._asked = (text, time.monotonic())
        with self._lock:
            if self._remembering is not None:
                self._remembering.cancel()
            self._remembering = threading.Timer(_HISTORY_AFTER, self._remember, (text,)) if text.strip() else None
            if self._remembering is not None:
                self._remembering.daemon = True
                self._remembering.start()

    def _remember_now(self) -> None:
        if self._asked[0]:
            self._remember(self._asked[0])

    def _remember(self, text: str) -> None:
        text = " ".join(text.split())
        if not text or not self.settings.flag("search.history"):
            return
        with self._lock:
            if self._history[:1] == [text]:
                return
            self._history = [text, *(old for old in self._history if old != text)][:_HISTORY_LENGTH]
        self._jobs.submit("helper", "history", lambda context: self._session.library.add_history(text))

    def _flush_history(self) -> None:
        text, since = self._asked
        if text and time.monotonic() - since >= _HISTORY_AFTER and self.settings.flag("search.history"):
            try:
                self._session.library.add_history(" ".join(text.split()))
            except (Exception, Cancelled):  # the last query is not worth a failed exit
                return
