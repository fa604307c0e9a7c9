"""The commands for models; :class:`sbert_desktop.app.facade.App` inherits them."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING

from sbert_desktop.app import models
from sbert_desktop.domain import JobContext, JobId

if TYPE_CHECKING:
    from sbert_desktop.app.index_runs import IndexRuns
    from sbert_desktop.app.session import Session
    from sbert_desktop.jobs import Jobs


class ModelCommands:
    """Listing, adding, choosing and removing models. See :class:`sbert_desktop.app.interface.Commands`."""

    _session: Session
    _jobs: Jobs
    _runs: IndexRuns

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
            with self._runs.aside() if changes else nullcontext():
                return models.use_model(self._session, name)

        return self._jobs.submit("helper", "models", work)

    def remove_model(self, name: str) -> JobId:
        """Removes the files of a model that was added."""
        return self._jobs.submit("helper", "models", lambda context: models.remove_model(self._session, name))
