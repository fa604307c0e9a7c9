"""What a person does about files that were not read: ignore, unlock, caption, write the list into a file."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from sbert_desktop.app import exporting
from sbert_desktop.app.asking import ask_for_file
from sbert_desktop.app.embedding import Cutter
from sbert_desktop.app.feeding import Item
from sbert_desktop.app.recognising import on_disk
from sbert_desktop.app.reporting import Reporter
from sbert_desktop.app.session import Session
from sbert_desktop.app.storing import Batch, Storing, put_caption
from sbert_desktop.app.views import CaptionView, LeftOutView, ProblemView, UnlockView
from sbert_desktop.domain import ExtractedText, FolderId, JobContext, Listing, Problem, SourceFile, display_path
from sbert_desktop.errors import UsageError
from sbert_desktop.jobs import NullContext

if TYPE_CHECKING:
    from sbert_desktop.library import Writer

CAPTION_LIMIT = 1_000_000
"""Characters of a caption; a transcript of ten hours of speech has about half of it."""
_SHOWN = 200_000
_COLUMNS = (
    "path", "member", "folder", "code", "message", "hint", "partial", "ignored", "is_folder", "size", "when", "path_hex"
)  # fmt: skip
_WORDS = {
    "encrypted": "The password does not open this file.",
    "needs-program": "This kind of protection cannot be opened here.",
}

Row = ProblemView | LeftOutView


# ---------------------------------------------------------------- known files


def known_path(session: Session, path: Path) -> Path:
    """Gives a file, or folder, of the library as the library names it.

    Raises:
        UsageError: ``file-unknown``: it lies in no folder of the library.
    """
    given = Path(os.path.abspath(path.expanduser()))
    roots = [record.path for record in session.library.folders() if record.state == "active"]
    # The folder may have been named by a link; the file itself must not be followed if it is one.
    real = Path(os.path.realpath(given.parent)) / given.name if given.name else given
    for candidate in (given, real):
        if any(candidate.is_relative_to(root) for root in roots):
            return candidate
    raise UsageError(
        "file-unknown",
        f"{display_path(path)} lies in no folder of this library.",
        "Add its folder first.",
    )


def owner_of(session: Session, path: Path) -> FolderId:
    """Gives the folder that a file belongs to.

    Raises:
        UsageError: ``file-unknown``.
    """
    for record in session.library.folders():
        if record.state == "active" and path.is_relative_to(record.path):
            return record.id
    raise UsageError(
        "file-unknown", f"{display_path(path)} lies in no folder of this library.", "Add its folder first."
    )


# ---------------------------------------------------------------- passwords


@dataclass(frozen=True, slots=True)
class Opened:
    """What a password gave: the results as the pool gives them, and the view of them."""

    view: UnlockView
    file: SourceFile
    items: tuple[Item, ...] = ()


def open_locked(session: Session, path: Path, password: str, context: JobContext, *, member: str = "") -> Opened:
    """Reads a protected file with a password, in one child that ends afterwards.

    The password goes to that child through its pipe; it is neither stored nor logged.

    Raises:
        UsageError: ``file-missing`` or ``empty-password``.
    """
    if not password:
        raise UsageError("empty-password", "The password is empty.", "Type the password of the file.")
    file = on_disk(SourceFile(path, 0, 0, member=member))
    if file is None:
        raise UsageError("file-missing", f"{display_path(path)} is not there.", "Check for changes first.")
    items = _read_member(session, file, password) if member else _read_file(session, file, password, context)
    texts = [text for text in map(_text_of, items) if text is not None]
    whole = "\n\n".join(text.text for text in texts)
    if not texts:
        problem = next((p for p in map(_problem_of, items) if p is not None), None)
        message = _WORDS.get(problem.code, problem.message) if problem else "There is no text in this file."
        return Opened(UnlockView(path, False, message, member=member), file)
    known = session.library.problems(codes=["encrypted"])
    locked = any((record.path, record.member) == (path, member) for record in known)
    words = "The password opens this file." if locked else "The file could be read."  # no password may be needed
    view = UnlockView(path, True, words, text=whole[:_SHOWN], member=member)
    return Opened(view, file, tuple(items))


def _read_file(session: Session, file: SourceFile, password: str, context: JobContext) -> list[Item]:
    pool = session.extraction_pool(1, password=password)
    try:
        return list(pool.results([file], context))
    finally:
        pool.close()


def _read_member(session: Session, file: SourceFile, password: str) -> list[Item]:
    child = session.launch("extract", env={"SBERT_DESKTOP_CHILD_MEMORY_MB": _memory(session)})
    header = {
        "op": "extract",
        "files": [os.fsencode(file.path).hex()],
        "member": file.member,
        "password": password,
        "size_limit": session.settings.number("reading.size_limit") * 1024 * 1024,
    }
    try:
        return [ask_for_file(child, header, file, timeout=float(session.settings.number("reading.time_limit")))]
    finally:
        child.close()


def _memory(session: Session) -> str:
    return str(session.settings.number("reading.memory_limit"))


def keep_opened(session: Session, writer: Writer, cutter: Cutter, opened: Opened) -> UnlockView:
    """Stores the text of a file that a password opened; it stays until the file changes."""
    if not opened.items:
        return opened.view
    cutter.use(writer)
    storing = Storing(session.library, writer, Reporter(session, NullContext()), cutter.split)
    batch = Batch(quiet=True, afresh=True)
    batch.add(replace(opened.file, member=""), owner_of(session, opened.file.path), new=False)
    for item in opened.items:
        if opened.file.member:
            storing.store_recognised(item, batch)
        else:
            storing.store(item, batch)
    writer.commit()
    return replace(opened.view, kept=True, message="The text is in the library now.")


def _text_of(item: Item) -> ExtractedText | None:
    outcome = item[1]
    if isinstance(outcome, Listing):
        return outcome.document
    return outcome if isinstance(outcome, ExtractedText) else None


def _problem_of(item: Item) -> Problem | None:
    outcome = item[1]
    if isinstance(outcome, Listing):
        return next(iter(outcome.problems), None)
    return outcome if isinstance(outcome, Problem) else None


# ---------------------------------------------------------------- captions


def caption_view(session: Session, path: Path, member: str = "") -> CaptionView:
    """Reads the person's own words about a file."""
    return CaptionView(path, session.library.caption_of(path, member), member)


def store_caption(writer: Writer, cutter: Cutter, path: Path, text: str, member: str = "") -> CaptionView:
    """Stores the person's own words about a known file; ``""`` takes them away.

    Raises:
        UsageError: ``caption-too-long``.
        LibraryError: ``file-unknown``.
    """
    if len(text) > CAPTION_LIMIT:
        raise UsageError(
            "caption-too-long", f"The transcript has {len(text):,} characters.", f"At most {CAPTION_LIMIT:,} are kept."
        )
    if text.strip():
        cutter.use(writer)
    put_caption(writer, cutter.split, path, member, text)
    writer.commit()
    return CaptionView(path, text.strip(), member)


# ---------------------------------------------------------------- the list as a file


def write_problems(target: Path, rows: Sequence[Row]) -> Path:
    """Writes rows as CSV in UTF-8, in the place of what ``target`` was.

    Raises:
        SbertDesktopError: ``output-unwritable``.
    """
    out = io.StringIO(newline="")
    out.write("\ufeff")
    problems_as_csv(out, rows)
    return exporting.write(target, out.getvalue(), replace=True)


def problems_as_csv(stream: TextIO, rows: Iterable[Row], *, line_end: str = "\r\n") -> None:
    """Writes rows as CSV: names as they can be shown, with ``path_hex`` where that is not the name itself.

    A cell that a spreadsheet would take as a formula gets a quote in front.
    """
    writer = csv.writer(stream, lineterminator=line_end)
    writer.writerow(_COLUMNS)
    for row in rows:
        writer.writerow([exporting.harmless(cell) for cell in _cells(row)])


def _cells(row: Row) -> list[str]:
    shown = display_path(row.path)
    raw = os.fsencode(row.path)
    hexed = "" if raw == shown.encode("utf-8") else raw.hex()
    folder = display_path(row.folder)
    if isinstance(row, LeftOutView):
        return [shown, "", folder, row.reason, row.message, "", "", "", _yes(row.is_folder), "", "", hexed]
    return [
        shown,
        display_path(row.member),
        folder,
        row.code,
        row.message,
        row.hint,
        _yes(row.partial),
        _yes(row.ignored),
        "",
        str(row.size),
        _moment(row.when),
        hexed,
    ]


def _yes(value: bool) -> str:
    return "yes" if value else "no"


def _moment(when: float) -> str:
    from datetime import datetime

    return datetime.fromtimestamp(when).isoformat(" ", "seconds") if when > 0 else ""
