"""``App``: the commands of the window on lanes; nothing here waits in the caller's thread.

The commands stand in the modules ``*_commands``, one for each matter; here is what they share, and how the
program begins and ends.

Thirteen lanes of plain threads: *writer* (alone changes the library), *reader* (search, newest wins),
*viewer* (previews, opening files: a page that takes seconds must not hold up a search),
*helper* (state, lists, estimates), *errand* (waits for small changes, which whoever holds the writer
does between two steps), *study* (what reads for long: the quotations of a draft), *models* (adding
one), *duplicates* (finding them), *cleaner* (moving them to the trash, and back), *themes* (finding and changing
them), *map* (laying it out), *training* (tuning an encoder) and *lab* (comparing models).
See docs/adr/0008-lanes.md.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from sbert_desktop.app.atlas_commands import AtlasCommands
from sbert_desktop.app.collecting import SavedSearches
from sbert_desktop.app.collection_commands import CollectionCommands
from sbert_desktop.app.duplicate_commands import DuplicateCommands
from sbert_desktop.app.file_commands import FileCommands
from sbert_desktop.app.index_runs import IndexRuns
from sbert_desktop.app.indexing import IndexRequest
from sbert_desktop.app.library_commands import LibraryCommands
from sbert_desktop.app.live import Live
from sbert_desktop.app.model_commands import ModelCommands
from sbert_desktop.app.preview import PageCache
from sbert_desktop.app.problem_commands import ProblemCommands
from sbert_desktop.app.query_history import QueryHistory
from sbert_desktop.app.search_commands import SearchCommands
from sbert_desktop.app.session import Session
from sbert_desktop.app.training_commands import TrainingCommands
from sbert_desktop.domain import Event, JobContext, JobId
from sbert_desktop.jobs import Jobs
from sbert_desktop.settings import Settings

_LANES = (
    "writer", "reader", "viewer", "helper", "errand", "study", "models", "duplicates", "cleaner", "themes", "map",
    "training", "lab",
)  # fmt: skip
_SWITCH_SECONDS = 0.001


class App(
    LibraryCommands,
    ProblemCommands,
    SearchCommands,
    CollectionCommands,
    FileCommands,
    ModelCommands,
    DuplicateCommands,
    AtlasCommands,
    TrainingCommands,
):
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
        # opened here, so that whoever makes the program hears why it cannot be opened
        try:
            folders = self._session.library.folders()
        except BaseException:
            self._session.close()  # what is damaged may only show now; its files must not stay open
            raise
        self._found_folders = bool(folders)
        self._found_leaving = any(record.state == "leaving" for record in folders)
        self._jobs = Jobs(lambda event: self._post(event), lanes=_LANES)
        self._runs = IndexRuns(self._session, self._jobs, lambda request, context: self._live.run(request, context))
        self._live = Live(self._session, self._jobs, self._runs.submit)
        self._session.others_wait = self._runs.others_wait
        self._queries = QueryHistory(self._session, self._jobs)
        self._pages = PageCache()
        self._saved = SavedSearches(self._session)
        self._kinds = ((), ())
        self._connected = False
        self._closed = False

    def connect(self, post: Callable[[Event], None]) -> None:
        """Names the receiver of events, prepares the encoder and looks for changes."""
        # Storing is Python code; a query beside it would wait 5 ms for each turn at the interpreter.
        sys.setswitchinterval(_SWITCH_SECONDS)
        self._post = post
        self._connected = True
        self._session.start_encoder()
        self._queries.start()
        self._jobs.submit("helper", "start", self._begin)

    def cancel(self, job: JobId) -> None:
        """Asks a job to end."""
        self._jobs.cancel(job)

    def close(self, timeout: float = 5.0) -> None:
        """Cancels and joins the lanes, then closes the session. Idempotent."""
        if self._closed:
            return
        self._closed = True
        self._runs.stop()
        self._queries.close()
        self._live.stop()
        self._jobs.close(timeout)
        self._session.close()

    def _begin(self, context: JobContext) -> object:
        """Watches the folders, then looks for what changed while nobody watched."""
        self._live.follow()
        if (
            self.settings.flag("indexing.check_at_start")
            and self._found_folders
            and not self._session.library.read_only
        ):
            # What was hidden by an earlier run is erased now. Where nothing was, nothing is: the person may have hidden
            # a folder since this one began.
            self._runs.run(IndexRequest(keep_leaving=not self._found_leaving))
        elif self._session.library.wanted_space() is not None and not self._session.library.read_only:
            self._runs.go_on()  # with what it was preparing
        return None

    def _on_encoder(self) -> None:
        if self._connected and not self._closed:
            self._refresh_unasked()

    def _on_notice(self, line: str) -> None:
        if self._connected and not self._closed:
            self._refresh_unasked()
