"""The commands for files that were not read, or only in part; :class:`~sbert_desktop.app.facade.App` inherits them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sbert_desktop.app import embedding, overview, problems
from sbert_desktop.app.indexing import IndexRequest
from sbert_desktop.app.views import CaptionView, LeftOutView, ProblemView, UnlockView
from sbert_desktop.domain import JobContext, JobId

if TYPE_CHECKING:
    from sbert_desktop.app.index_runs import IndexRuns
    from sbert_desktop.app.live import Live
    from sbert_desktop.app.session import Session
    from sbert_desktop.jobs import Jobs
    from sbert_desktop.library import Writer


class ProblemCommands:
    """Problems and what helps: passwords, captions, OCR. See :class:`sbert_desktop.app.interface.Commands`."""

    _session: Session
    _jobs: Jobs
    _live: Live
    _runs: IndexRuns

    def problems(self) -> JobId:
        """Lists problems."""
        return self._jobs.submit("helper", "problems", lambda context: overview.problem_views(self._session))

    def left_out(self) -> JobId:
        """Lists what rules leave out."""

        def work(context: JobContext) -> object:
            from sbert_desktop.app.left_out import run_left_out

            return run_left_out(self._session, context)

        return self._jobs.submit("viewer", "left-out", work, key="left-out")

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

    def export_problems(self, target: Path, rows: Sequence[ProblemView | LeftOutView]) -> JobId:
        """Writes rows as CSV."""
        chosen = tuple(rows)
        return self._jobs.submit("helper", "export", lambda context: problems.write_problems(target, chosen))

    def recognise(self, paths: Sequence[Path], *, members: Sequence[tuple[Path, str]] = ()) -> JobId:
        """Recognises the text of scans and pictures."""
        return self._runs.run(IndexRequest(recognise=tuple(paths), recognise_members=tuple(members)))

    def programs(self) -> JobId:
        """Looks for Tesseract and LibreOffice."""

        def work(context: JobContext) -> object:
            from sbert_desktop.app.asking import find_programs

            return find_programs(self._session)

        return self._jobs.submit("viewer", "programs", work, key="programs")

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
