"""The commands of collections and saved searches; :class:`sbert_desktop.app.facade.App` inherits them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sbert_desktop.app import collecting
from sbert_desktop.app.views import HitView
from sbert_desktop.domain import JobContext, JobId, Query

if TYPE_CHECKING:
    from sbert_desktop.app.session import Session
    from sbert_desktop.jobs import Jobs


class CollectionCommands:
    """What the person keeps of searches. See :class:`sbert_desktop.app.interface.Commands`."""

    _session: Session
    _jobs: Jobs
    _saved: collecting.SavedSearches

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

    def _collections(self, change: Callable[[], None]) -> JobId:
        def work(context: JobContext) -> object:
            change()
            return collecting.collections(self._session)

        return self._jobs.submit("errand", "collections", work)

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
