"""``App``: the commands of the window on lanes; nothing here waits in the caller's thread.

Four lanes of plain threads: *writer* (alone changes the library), *reader* (search, newest wins),
*viewer* (previews, opening files: a page that takes seconds must not hold up a search) and
*helper* (state, lists, estimates). See docs/adr/0008-lanes.md.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from sbert_desktop.app import estimating, indexing, overview, preview, searching
from sbert_desktop.app.session import Session, sample_folder
from sbert_desktop.app.views import HitView, Marks, Span
from sbert_desktop.domain import Event, JobContext, JobId, Mode, Query
from sbert_desktop.errors import Cancelled, UsageError
from sbert_desktop.jobs import Jobs
from sbert_desktop.settings import Settings

_TYPING_SECONDS = 1.0
_SWITCH_SECONDS = 0.001
_HISTORY_AFTER = 2.0
_HISTORY_LENGTH = 200


class App:
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
        self._jobs = Jobs(lambda event: self._post(event), lanes=("writer", "reader", "viewer", "helper"))
        self._lock = threading.Lock()
        self._history: list[str] = []
        self._asked: tuple[str, float] = ("", 0.0)
        self._index_job: JobId | None = None
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
        if self.settings.flag("indexing.check_at_start"):
            self._jobs.submit("helper", "start", self._check_at_start)

    # ------------------------------------------------------------- library

    def refresh(self) -> JobId:
        """Reads the library's state."""
        return self._jobs.submit(
            "helper",
            "refresh",
            lambda context: overview.library_view(self._session, indexing=self._indexing()),
            key="refresh",
        )

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
            return overview.library_view(self._session)

        return self._jobs.submit("writer", "remove", work)

    def problems(self) -> JobId:
        """Lists problems."""
        return self._jobs.submit("helper", "problems", lambda context: overview.problem_views(self._session))

    def recent(self, limit: int = 200) -> JobId:
        """Lists the documents read last."""
        return self._jobs.submit("helper", "recent", lambda context: overview.recent_views(self._session, limit))

    # ------------------------------------------------------------- search

    def typing(self) -> None:
        """Makes bulk work step aside."""
        self._session.hold_bulk(_TYPING_SECONDS)

    def search(self, query: Query) -> JobId:
        """Searches; the newest query wins."""
        self.typing()
        self._remember_later(query.text)

        def work(context: JobContext) -> object:
            self._session.hold_bulk(_TYPING_SECONDS)
            view = searching.run_search(self._session, query, wait_for_model=False)
            self._session.hold_bulk(_TYPING_SECONDS)
            context.check()
            context.partial(view)
            if query.mode is Mode.KEYWORD or not self.settings.flag("search.best_sentence"):
                return view
            spans: dict[int, Span] = {}
            for marks in searching.mark_some(self._session, view, context):
                context.check()
                context.partial(marks)
                spans.update(marks.spans)
            return searching.with_marks(view, Marks(spans))

        return self._jobs.submit("reader", "search", work, key="search")

    def similar(self, path: Path, *, top: int = 10) -> JobId:
        """Finds documents like this one."""
        self.typing()
        return self._jobs.submit(
            "reader", "search", lambda context: searching.run_similar(self._session, path, top=top), key="search"
        )

    def preview(self, hit: HitView, *, page: int | None = None, width: int = 704) -> JobId:
        """Prepares the preview of a hit."""
        self._session.touch()
        return self._jobs.submit(
            "viewer",
            "preview",
            lambda context: preview.run_preview(self._session, hit, page=page, width=width),
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
        self._jobs.submit("helper", "history", lambda context: self._session.library.clear_history())

    # ------------------------------------------------------------- files and models

    def open_file(self, path: Path, page: int | None = None) -> JobId:
        """Opens a file; a program is refused, never started."""
        self._remember_now()

        def work(context: JobContext) -> object:
            from sbert_desktop.platform import open_file

            open_file(path, page)
            return None

        return self._jobs.submit("viewer", "open", work)

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
        return self._jobs.submit("helper", "models", lambda context: overview.models(self._session))

    def verify_models(self) -> JobId:
        """Checks every model file."""
        return self._jobs.submit("helper", "models", lambda context: overview.models(self._session, verify=True))

    def close(self, timeout: float = 5.0) -> None:
        """Cancels and joins the lanes, then closes the session. Idempotent."""
        if self._closed:
            return
        self._closed = True
        self._flush_history()
        self._jobs.close(timeout)
        self._session.close()

    # ------------------------------------------------------------- within

    def _index(self, request: indexing.IndexRequest) -> JobId:
        job = self._jobs.submit("writer", "index", lambda context: indexing.run_index(self._session, request, context))
        self._index_job = job
        return job

    def _indexing(self) -> bool:
        return "index" in self._jobs.kinds("writer")

    def _folder_state(self, folder: Path, state: str) -> JobId:
        interrupted = self._indexing()
        if interrupted:
            self._jobs.cancel_kind("writer", "index")

        def work(context: JobContext) -> object:
            library = self._session.library
            with library.writer(check=context.check) as writer:
                record = next((r for r in library.folders() if r.path == folder), None)
                if record is None:
                    raise UsageError("folder-unknown", f"{folder.name} is not in the library.", "")
                writer.set_folder_state(record.id, state)
                writer.commit()
            return overview.library_view(self._session)

        job = self._jobs.submit("writer", "remove", work)
        if (interrupted or state == "active") and not self._closed:
            self._index(indexing.IndexRequest(keep_leaving=True))
        return job

    def _check_at_start(self, context: JobContext) -> object:
        if self._session.library.folders() and not self._session.library.read_only:
            self.update()
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
        asked, since = self._asked
        if asked and asked != text and time.monotonic() - since >= _HISTORY_AFTER and not text.startswith(asked):
            self._remember(asked)
        self._asked = (text, time.monotonic() if text != asked else since)

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
