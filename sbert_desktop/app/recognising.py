"""Text recognition of scans and pictures: off the hot path, one file at a time, in a child."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from sbert_desktop.app.asking import ask_for_file, find_programs
from sbert_desktop.app.feeding import Feeder, Item
from sbert_desktop.app.session import Session
from sbert_desktop.domain import PICTURE, WORDLESS, FolderId, JobContext, Problem, SourceFile
from sbert_desktop.errors import Cancelled

if TYPE_CHECKING:
    from sbert_desktop.jobs import ChildProcess

SCANNED = frozenset({"no-text-layer", PICTURE})
"""Problems that text recognition may solve."""
_GRACE = 15.0
"""Seconds beyond the limit that the child stops at by itself, pages it has read kept."""
_HINT = "Add a transcript of your own to make it findable."
_IN_VAIN = {
    "no-text-layer": Problem("empty", "Text recognition found no text.", _HINT),
    PICTURE: Problem(WORDLESS, "Text recognition found no words in this picture.", _HINT),
}
"""What stands in place of a problem that recognition did not solve, else it would be tried again in each run."""


def scanned_files(
    session: Session, within: Collection[bytes] | None = None, *, members: Collection[tuple[Path, str]] = ()
) -> list[tuple[FolderId, SourceFile]]:
    """Lists files and members whose text may be recognised, with the folder of each.

    Args:
        session: The opened library.
        within: Only these paths, and what lies below them; None: all that are not ignored.
        members: With ``within``: these members too, each with the file that holds it.
    """
    single = {(os.fsencode(os.path.abspath(path)), member) for path, member in members}
    owners = {record.path: record.id for record in session.library.folders() if record.state == "active"}
    found: dict[tuple[bytes, str], tuple[FolderId, SourceFile]] = {}
    for record in session.library.problems():
        if record.code not in SCANNED or record.folder not in owners:
            continue
        if within is None:
            if record.ignored:
                continue
        elif (os.fsencode(record.path), record.member) not in single and not _lies_within(
            os.fsencode(record.path), within
        ):
            continue
        key = (os.fsencode(record.path), record.member)
        found[key] = (owners[record.folder], SourceFile(record.path, record.size, 0, member=record.member))
    return list(found.values())


def why_not(session: Session) -> str:
    """Says why text cannot be recognised here, or ``""``."""
    programs = find_programs(session)
    if not programs.tesseract:
        return "Text recognition needs Tesseract, which is not installed (the package tesseract-ocr)."
    wanted = [code for code in session.settings.text("reading.ocr_languages").split("+") if code]
    missing = [code for code in wanted if code not in programs.languages]
    if missing and len(missing) == len(wanted):
        return f"Text recognition has no language pack for {', '.join(missing)}; see the settings."
    return ""


def recognise_files(session: Session, files: Sequence[SourceFile], context: JobContext) -> Feeder:
    """Begins to recognise the text of files, in order, in one child of its own."""
    holder = _Recogniser(session)
    return Feeder(lambda inner: holder.results(files, inner), context, holder.close)


class _Recogniser:
    """One child that recognises one file after the other, and is replaced when it dies."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._child: ChildProcess | None = None
        self._closed = False

    def results(self, files: Sequence[SourceFile], context: JobContext) -> Iterator[Item]:
        settings = self._session.settings
        limit = settings.number("reading.ocr_time_limit")
        for file in files:
            context.check()
            if self._child is None or not self._child.alive:
                self._child = self._session.launch(
                    "extract",
                    env={
                        "SBERT_DESKTOP_CHILD_MEMORY_MB": str(settings.number("reading.memory_limit")),
                        "OMP_THREAD_LIMIT": "1",
                    },
                    nice=10,
                )
            if self._closed:
                self.close()
                raise Cancelled
            header = {
                "op": "recognise",
                "path": os.fsencode(file.path).hex(),
                "member": file.member,
                "languages": settings.text("reading.ocr_languages"),
                "time_limit": limit,
                "size_limit": settings.number("reading.size_limit") * 1024 * 1024,
            }
            seen, outcome = ask_for_file(self._child, header, file, timeout=limit + _GRACE)
            if self._closed:
                raise Cancelled
            if isinstance(outcome, Problem):
                outcome = _IN_VAIN.get(outcome.code, outcome)
            yield seen, outcome

    def close(self) -> None:
        self._closed = True
        child = self._child
        if child is not None:
            child.kill()
            child.close()


def _lies_within(path: bytes, places: Collection[bytes]) -> bool:
    return path in places or any(path.startswith(place.rstrip(b"/") + b"/") for place in places)


def on_disk(file: SourceFile) -> SourceFile | None:
    """Gives a file with its size and time as they are now, or None when it is gone."""
    try:
        status = os.stat(file.path, follow_symlinks=False)
    except OSError:
        return None
    return replace(file, size=status.st_size, mtime_ns=status.st_mtime_ns, device=status.st_dev, inode=status.st_ino)


def names_of(paths: Sequence[Path]) -> frozenset[bytes]:
    """Gives paths as absolute bytes."""
    return frozenset(os.fsencode(os.path.abspath(path)) for path in paths)
