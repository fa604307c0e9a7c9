"""The commands for the library as a whole; :class:`sbert_desktop.app.facade.App` inherits them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sbert_desktop.app import estimating, keeping, overview
from sbert_desktop.app.indexing import IndexRequest
from sbert_desktop.app.session import sample_folder
from sbert_desktop.app.views import LibraryView
from sbert_desktop.domain import FolderRules, JobContext, JobId
from sbert_desktop.errors import UsageError
from sbert_desktop.settings import Settings

if TYPE_CHECKING:
    from sbert_desktop.app.index_runs import IndexRuns
    from sbert_desktop.app.live import Live
    from sbert_desktop.app.session import Session
    from sbert_desktop.jobs import Jobs


class LibraryCommands:
    """Folders, indexing, the daily copy, the index's health. See :class:`sbert_desktop.app.interface.Commands`."""

    settings: Settings
    _session: Session
    _jobs: Jobs
    _live: Live
    _runs: IndexRuns
    _kinds: tuple[tuple[str, ...], tuple[str, ...]]  # kinds and languages of the library when it was last read

    def refresh(self) -> JobId:
        """Reads the library's state."""
        return self._jobs.submit("helper", "refresh", lambda context: self._refreshed(), key="refresh")

    def _refresh_unasked(self) -> None:
        """The same of the program's own accord; who asked for the state still gets an answer."""
        self._jobs.submit("helper", "refresh", lambda context: self._refreshed(), key="refresh unasked")

    def _refreshed(self) -> LibraryView:
        view = overview.library_view(self._session, indexing=self._runs.indexing)
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

    def recent(self, limit: int = 200) -> JobId:
        """Lists the documents read last."""
        return self._jobs.submit("helper", "recent", lambda context: overview.recent_views(self._session, limit))

    # folders ---------------------------------------------------------------

    def add_folders(self, folders: Sequence[Path], *, words_only: bool = False) -> JobId:
        """Adds and indexes folders."""
        return self._runs.run(IndexRequest(tuple(folders), words_only=words_only))

    def add_sample(self) -> JobId:
        """Adds the sample library."""
        return self._runs.run(IndexRequest((sample_folder(),)))

    def remove_folder(self, folder: Path) -> JobId:
        """Hides a folder at once; a running indexing steps aside and goes on after."""
        return self._folder_state(folder, "leaving")

    def undo_remove(self, folder: Path) -> JobId:
        """Brings a hidden folder back."""
        return self._folder_state(folder, "active")

    def _folder_state(self, folder: Path, state: str) -> JobId:
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

        return self._runs.ahead(lambda: self._jobs.submit("writer", "remove", work), go_on=state == "active")

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

    def set_rules(self, folder: Path, rules: FolderRules) -> JobId:
        """Sets what of a folder is read, then checks it; a running indexing steps aside and goes on after."""
        return self._runs.first(IndexRequest(folder=folder, rules=rules, keep_leaving=True))

    def locate(self, folder: Path, place: Path) -> JobId:
        """Says where a folder that is offline lies now."""
        return self._runs.first(IndexRequest(folder=folder, place=place, keep_leaving=True))

    # indexing --------------------------------------------------------------

    def update(self, *, confirm_removals: bool = False) -> JobId:
        """Brings all folders up to date."""
        return self._runs.run(IndexRequest(confirm_removals=confirm_removals))

    def pause(self) -> None:
        """Pauses the indexing run."""
        self._jobs.pause("writer")

    def resume(self) -> None:
        """Goes on with it."""
        self._jobs.resume("writer")

    def set_pace(self, pace: str) -> None:
        """Remembers the pace; in force at the next batch."""
        self._jobs.submit("helper", "setting", lambda context: self.settings.set("indexing.pace", pace))

    def check(self, paths: Sequence[Path]) -> JobId:
        """Looks for changes below these paths."""
        return self._live.check(paths)

    # the daily copy --------------------------------------------------------

    def kept_copy(self) -> JobId:
        """Looks for a daily copy that holds more than the library."""
        return self._jobs.submit("errand", "kept", lambda context: keeping.newest_with_more(self._session), key="kept")

    def restore_kept(self, source: Path | None = None) -> JobId:
        """Brings back what a copy holds and the library lacks."""
        return self._jobs.submit("errand", "kept", lambda context: keeping.restore(self._session, source))

    # index health ----------------------------------------------------------

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
            if view.waiting:
                self._runs.go_on()  # what lost its vectors gets them again
            return view

        return self._jobs.submit("writer", "index", work)
