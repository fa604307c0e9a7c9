"""The commands for single files: preview, opening, showing; :class:`sbert_desktop.app.facade.App` inherits them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sbert_desktop.app import preview
from sbert_desktop.app.views import HitView, OpenerView
from sbert_desktop.domain import JobContext, JobId

if TYPE_CHECKING:
    from sbert_desktop.app.query_history import QueryHistory
    from sbert_desktop.app.session import Session
    from sbert_desktop.jobs import Jobs


class FileCommands:
    """Looking at files and opening them. See :class:`sbert_desktop.app.interface.Commands`."""

    _session: Session
    _jobs: Jobs
    _queries: QueryHistory
    _pages: preview.PageCache

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

    def open_file(self, path: Path, page: int | None = None) -> JobId:
        """Opens a file; a program is refused, never started."""
        self._queries.led_on()

        def work(context: JobContext) -> object:
            from sbert_desktop.platform import open_file

            open_file(path, page)
            return None

        return self._jobs.submit("viewer", "open", work)

    def open_with(self, path: Path, program: Path) -> JobId:
        """Opens a file with a program that the person chose."""
        self._queries.led_on()

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
        self._queries.led_on()

        def work(context: JobContext) -> object:
            from sbert_desktop.platform import reveal

            reveal(path)
            return None

        return self._jobs.submit("viewer", "open", work)
