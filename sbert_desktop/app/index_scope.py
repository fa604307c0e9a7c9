"""Where an indexing run looks: which folders are meant, and what differs in them or below a few paths of theirs."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sbert_desktop.app.asking import find_programs
from sbert_desktop.app.checking import Findings, Looking, look
from sbert_desktop.app.reporting import Tally
from sbert_desktop.app.session import Session
from sbert_desktop.domain import JobContext, display_path
from sbert_desktop.errors import UsageError

if TYPE_CHECKING:
    from sbert_desktop.library import FolderRecord, Writer


def checked_folder(path: Path) -> Path:
    """Gives the real absolute folder.

    Raises:
        UsageError: It is missing, is a file, or cannot be read.
    """
    real = Path(os.path.realpath(path.expanduser()))
    if not real.exists():
        raise UsageError("folder-missing", f"There is no folder {display_path(path)}.", "Check the name.")
    if not real.is_dir():
        raise UsageError("not-a-folder", f"{display_path(path)} is a file, not a folder.", "Add the folder it lies in.")
    if not os.access(real, os.R_OK | os.X_OK):
        raise UsageError(
            "folder-unreadable",
            f"{display_path(path)} cannot be read: permission denied.",
            "Ask its owner, or choose another folder.",
        )
    return real


def folder_record(session: Session, path: Path) -> FolderRecord:
    """Gives a folder of the library.

    Raises:
        UsageError: ``folder-unknown``.
    """
    wanted = {os.fsencode(os.path.abspath(path.expanduser())), os.fsencode(os.path.realpath(path.expanduser()))}
    records = session.library.folders()
    for record in records:
        if os.fsencode(record.path) in wanted:
            return record
    known = ", ".join(display_path(record.path) for record in records) or "none"
    raise UsageError(
        "folder-unknown", f"{display_path(path)} is not a folder of this library.", f"Its folders: {known}."
    )


class Scope:
    """Looks for work; opens no document. On the writer lane.

    Args:
        session: The opened library.
        writer: Gets what is listed without being read.
        context: Asked for a cancel.
        tally: Gets notices.
    """

    def __init__(self, session: Session, writer: Writer, context: JobContext, tally: Tally) -> None:
        self._session = session
        self._writer = writer
        self._context = context
        self._tally = tally

    def folders(self, only: Path | None = None, added: Sequence[Path] = ()) -> list[FolderRecord]:
        """Gives the folders that are meant: this one, or those that were added, or all that are active.

        Raises:
            UsageError: ``folder-unknown``.
        """
        if only is not None:
            return [folder_record(self._session, only)]
        wanted = {os.fsencode(path) for path in added}
        active = [record for record in self._session.library.folders() if record.state == "active"]
        return [record for record in active if not wanted or os.fsencode(record.path) in wanted]

    def whole(self, folders: Sequence[FolderRecord], *, confirm_removals: bool) -> list[Findings]:
        """Looks through whole folders; what a limit stopped that is higher now is read again.

        Args:
            folders: Which.
            confirm_removals: Many files gone at once were really deleted.
        """
        how = Looking(confirm_removals, self._limits_raised(), programs=self._programs_came(folders))
        return [self._look(record, how) for record in folders]

    def below(self, folders: Sequence[FolderRecord], paths: Iterable[Path], how: Looking) -> list[Findings]:
        """Looks at some paths only; a folder without any of them is not touched."""
        wanted = [Path(os.path.abspath(path)) for path in dict.fromkeys(paths)]
        work = []
        for record in folders:
            inside = [path for path in wanted if path.is_relative_to(record.path)]
            if inside:
                found = self._look(record, how, inside)
                found.outdated.clear()
                work.append(found)
        return work

    def _look(self, record: FolderRecord, how: Looking, only: Sequence[Path] | None = None) -> Findings:
        return look(self._session, self._writer, record, self._context, self._tally, how, only)

    def _programs_came(self, records: Sequence[FolderRecord]) -> bool:
        """Says whether files wait for LibreOffice, and it is here; asked only when some do."""
        waiting = any(
            record.code == "needs-program" and not record.ignored for record in self._session.library.problems()
        )
        return bool(waiting and records and find_programs(self._session).libreoffice)

    def _limits_raised(self) -> frozenset[bytes]:
        """Gives the files that took longer, or more memory, than a limit that is higher now."""
        from sbert_desktop.extraction import limit_told

        settings = self._session.settings
        limits = {"timed-out": settings.number("reading.time_limit"),
                  "too-much-memory": settings.number("reading.memory_limit")}  # fmt: skip
        stopped = self._session.library.problems(codes=tuple(limits))
        return frozenset(
            os.fsencode(record.path)
            for record in stopped
            if not record.ignored and (limit_told(record.message) or math.inf) < limits[record.code]
        )
