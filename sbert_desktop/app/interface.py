"""What the window may ask of the program. ``App`` fulfils it; tests give a fake.

Every command returns at once with a job id; the answer arrives as events through the ``post``
callable given to :meth:`Commands.connect` (from a worker thread). The type of
``Finished.result`` stands at each command. Safe from the GUI thread: none of them waits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from sbert_desktop.app.views import HitView
from sbert_desktop.domain import Event, JobId, Query
from sbert_desktop.settings import Settings


class Commands(Protocol):
    """The commands of the window."""

    settings: Settings

    def connect(self, post: Callable[[Event], None]) -> None:
        """Names the one receiver of events."""
        ...

    # library -------------------------------------------------------------
    def refresh(self) -> JobId:
        """Reads the library's state (kind ``refresh``): LibraryView.

        An indexing run also posts ``Partial(job of the run, LibraryView)`` now and then.
        """
        ...

    def estimate(self, folders: Sequence[Path]) -> JobId:
        """Measures what adding the folders takes (kind ``estimate``): Estimate."""
        ...

    def add_folders(self, folders: Sequence[Path], *, words_only: bool = False) -> JobId:
        """Adds and indexes folders (kind ``index``): partials IndexProgress and LibraryView; IndexReport."""
        ...

    def add_sample(self) -> JobId:
        """Adds the sample library that comes with the program (kind ``index``): IndexReport."""
        ...

    def update(self, *, confirm_removals: bool = False) -> JobId:
        """Brings all folders up to date (kind ``index``): IndexReport."""
        ...

    def pause(self) -> None:
        """Pauses the indexing run at the next file or batch."""
        ...

    def resume(self) -> None:
        """Goes on with it."""
        ...

    def set_pace(self, pace: str) -> None:
        """``gentle``, ``full`` or ``auto``; takes effect at the next batch and is remembered."""
        ...

    def cancel(self, job: JobId) -> None:
        """Asks a job to end; what was committed stays."""
        ...

    def remove_folder(self, folder: Path) -> JobId:
        """Hides a folder at once (kind ``remove``): LibraryView. Erased by ``finish_removals``."""
        ...

    def undo_remove(self, folder: Path) -> JobId:
        """Brings a folder back that was hidden and not yet erased (kind ``remove``): LibraryView."""
        ...

    def finish_removals(self) -> JobId:
        """Erases hidden folders for good (kind ``remove``): LibraryView. Also done at close and start."""
        ...

    def problems(self) -> JobId:
        """Lists problems (kind ``problems``): tuple[ProblemView, ...]."""
        ...

    def recent(self, limit: int = 200) -> JobId:
        """Lists the documents read last (kind ``recent``): tuple[ChangeView, ...]."""
        ...

    # search --------------------------------------------------------------
    def typing(self) -> None:
        """Tells that the person types: bulk encoding steps aside for a second."""
        ...

    def search(self, query: Query) -> JobId:
        """Searches (kind ``search``): Partial(SearchView), Partial(Marks) maybe, Finished(SearchView).

        The newest wins; an older one ends as ``superseded``.
        """
        ...

    def similar(self, path: Path, *, top: int = 10) -> JobId:
        """Finds documents like this one (kind ``search``): SearchView."""
        ...

    def preview(self, hit: HitView, *, page: int | None = None, width: int = 704) -> JobId:
        """Prepares the preview of a hit (kind ``preview``): PreviewView; ``page`` turns the page."""
        ...

    def history(self) -> tuple[str, ...]:
        """Gives earlier queries, newest first (from memory)."""
        ...

    def clear_history(self) -> None:
        """Forgets them."""
        ...

    # files ---------------------------------------------------------------
    def open_file(self, path: Path, page: int | None = None) -> JobId:
        """Opens a file with the system's program (kind ``open``): None; programs are revealed instead."""
        ...

    def reveal(self, path: Path) -> JobId:
        """Shows a file in the file manager (kind ``open``): None."""
        ...

    # models --------------------------------------------------------------
    def models(self) -> JobId:
        """Lists models (kind ``models``): tuple[ModelView, ...]."""
        ...

    def verify_models(self) -> JobId:
        """Checks every model file's sha256 (kind ``models``): tuple[ModelView, ...]."""
        ...

    def close(self, timeout: float = 5.0) -> None:
        """Cancels the lanes, joins them, ends children, closes the library."""
        ...
