"""The commands of the Duplicates page; :class:`sbert_desktop.app.facade.App` inherits them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from sbert_desktop.app.indexing import IndexRequest
from sbert_desktop.cleanup import Copy, DuplicateQuery, Removal
from sbert_desktop.domain import JobContext, JobId
from sbert_desktop.errors import LibraryError

if TYPE_CHECKING:
    from sbert_desktop.app.duplicate_views import DuplicatesView, GroupView
    from sbert_desktop.app.index_runs import IndexRuns
    from sbert_desktop.app.live import Live
    from sbert_desktop.app.session import Session
    from sbert_desktop.jobs import Jobs


class DuplicateCommands:
    """Finding, comparing and cleaning up. See :class:`sbert_desktop.app.interface.Commands`."""

    _session: Session
    _jobs: Jobs
    _live: Live
    _runs: IndexRuns

    def duplicates(self, query: DuplicateQuery, *, again: bool = False) -> JobId:
        """Finds groups."""

        def work(context: JobContext) -> object:
            from sbert_desktop.app.duplicates import run_duplicates

            return run_duplicates(self._session, query, context, again=again)

        return self._jobs.submit("duplicates", "duplicates", work, key="duplicates")

    def shared_passages(self, query: DuplicateQuery) -> JobId:
        """Finds paragraphs that stand in several documents."""

        def work(context: JobContext) -> object:
            from sbert_desktop.app.shared import run_shared_passages

            return run_shared_passages(self._session, query, context)

        return self._jobs.submit("duplicates", "shared-passages", work, key="shared-passages")

    def compare(self, left: Copy, right: Copy) -> JobId:
        """Puts two documents side by side."""

        def work(context: JobContext) -> object:
            from sbert_desktop.app.side_by_side import run_compare

            return run_compare(self._session, left, right, context)

        return self._jobs.submit("viewer", "compare", work, key="compare")

    def compare_pages(self, left: Copy, right: Copy, pages: tuple[int | None, int | None], *, width: int) -> JobId:
        """Draws a page of each."""

        def work(context: JobContext) -> object:
            from sbert_desktop.app.side_by_side import run_compare_pages

            return run_compare_pages(self._session, left, right, pages, context, width=width)

        return self._jobs.submit("viewer", "compare-pages", work, key="compare-pages")

    def have(self, path: Path) -> JobId:
        """Tells whether the library has a file already."""

        def work(context: JobContext) -> object:
            from sbert_desktop.app.having import run_have

            return run_have(self._session, path, context)

        return self._jobs.submit("study", "have", work)  # several files are asked about at once

    def not_duplicates(self, group: GroupView, *, undo: bool = False) -> JobId:
        """Remembers that no two of these are duplicates."""

        def work(context: JobContext) -> object:
            from sbert_desktop.app.deciding import not_duplicates

            not_duplicates(self._session, group, undo=undo)
            return None

        return self._jobs.submit("errand", "not-duplicates", work)

    def clean_up(self, removals: Sequence[Removal], *, dry: bool = False) -> JobId:
        """Moves files to the trash, each verified just before."""

        def work(context: JobContext) -> object:
            from sbert_desktop.app.cleaning import run_clean_up
            from sbert_desktop.app.deciding import texts_before

            moved: list[Removal] = []
            # Who watches the folders may have the library forget what went while others are still to go.
            texts = {} if dry else texts_before(self._session, removals)
            try:
                return run_clean_up(self._session, removals, context, dry=dry, on_moved=moved.append)
            finally:
                if moved:
                    self._moved(moved, texts)

        return self._jobs.submit("cleaner", "clean-up", work)

    def _moved(self, moved: Sequence[Removal], texts: Mapping[int, str]) -> None:
        """Remembers what was decided, and takes the files out of what was found and out of the library."""
        from sbert_desktop.app.deciding import decided_same
        from sbert_desktop.app.duplicates import forget_moved

        forget_moved(self._session, [one.victim.path for one in moved])
        # The library forgets what the person moved away: nobody is asked about many at once.
        gone = tuple(one.victim.path for one in moved)
        self._runs.run(IndexRequest(only=gone, confirm_removals=True, keep_leaving=True))
        with suppress(LibraryError):  # busy: that the files moved matters more than what it teaches
            decided_same(self._session, [(one.victim, one.keepers[0]) for one in moved], texts)

    def undo_clean_up(self, id: str, paths: Sequence[Path] = ()) -> JobId:
        """Brings back what a clean-up moved."""

        def work(context: JobContext) -> object:
            from sbert_desktop.app.cleaning import run_undo
            from sbert_desktop.app.deciding import undecide_same
            from sbert_desktop.app.duplicates import look_anew

            view = run_undo(self._session, id, paths, context)
            back = [one.path for one in view.files if one.state == "restored"]
            if back:
                look_anew(self._session)
                self._live.check(back)
                with suppress(LibraryError):  # busy: that the files are back matters more than what moving them taught
                    undecide_same(self._session, view.id)
            return view

        return self._jobs.submit("cleaner", "undo-clean-up", work)

    def clean_ups(self) -> JobId:
        """Lists clean-ups."""

        def work(context: JobContext) -> object:
            from sbert_desktop.app.cleaning import list_clean_ups

            return list_clean_ups(self._session)

        return self._jobs.submit("cleaner", "clean-ups", work)

    def export_duplicates(self, view: DuplicatesView, target: Path) -> JobId:
        """Writes groups into a file."""

        def work(context: JobContext) -> object:
            from sbert_desktop.app.duplicate_report import export_duplicates

            return export_duplicates(view, target)

        return self._jobs.submit("helper", "export", work)
