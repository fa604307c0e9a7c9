"""What has to be done: known folders against the disk, whole or below a few paths only."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from sbert_desktop.app.asking import problem_words
from sbert_desktop.app.reporting import Tally
from sbert_desktop.app.rules import Rules
from sbert_desktop.app.scanning import Changes, compare, root_problem, scan
from sbert_desktop.app.session import Session
from sbert_desktop.domain import JobContext, SourceFile, display_path, short_path
from sbert_desktop.errors import UsageError

if TYPE_CHECKING:
    from sbert_desktop.library import FolderRecord, KnownFile, Writer

_OF_THE_MOMENT = frozenset({"changed-while-read", "unreadable", "folder-unreadable"})
"""Problems of the moment: such a file is tried again at each update though it looks unchanged."""
_NEEDS_PROGRAM = "needs-program"
_TOO_LARGE = "too-large"


_NEVER = -2
"""A size that no file has: what is remembered with it looks changed."""


@dataclass(slots=True)
class Findings:
    """What differs in one folder.

    ``outdated``: unchanged files that an earlier version of the reader read. ``cursors``: where to go on in
    those that may only have grown. ``whole``: the folder was walked from its root.
    """

    record: FolderRecord
    changes: Changes = field(default_factory=Changes)
    outdated: list[SourceFile] = field(default_factory=list)
    cursors: dict[bytes, str] = field(default_factory=dict)
    whole: bool = True
    offline: bool = False


@dataclass(frozen=True, slots=True)
class Looking:
    """How to look.

    ``confirm_removals``: many files gone at once were really deleted. ``retry``: paths that are read again
    though they look unchanged. ``programs``: LibreOffice is here, so files that waited for it are tried.
    """

    confirm_removals: bool = False
    retry: frozenset[bytes] = frozenset()
    programs: bool = False


def look(
    session: Session,
    writer: Writer,
    record: FolderRecord,
    context: JobContext,
    tally: Tally,
    how: Looking,
    only: Sequence[Path] | None = None,
) -> Findings:
    """Compares a folder with what the library knows of it; opens no document.

    Args:
        session: The opened library.
        writer: Gets what is listed without being read: folders that are closed to us, files only in the cloud.
        record: The folder.
        context: Asked for a cancel.
        tally: Gets notices.
        how: What is asked for.
        only: Look at and below these paths only, which lie in the folder; None: everywhere.
    """
    total = record.documents + record.problems + record.ignored
    trouble = root_problem(record.path, total)
    known = session.library.known_files(record.id, below=only)
    if trouble:
        tally.notice(f"{short_path(record.path)} is offline ({trouble}): its {total:,} files stay in the library.")
        return Findings(record, Changes(unchanged=len(known)), whole=only is None, offline=True)
    limit = session.settings.number("reading.size_limit") * 1024 * 1024
    again = {path for path, entry in known.items() if path in how.retry or _worth_trying(entry, limit, how.programs)}
    for path in again:
        known[path] = known[path]._replace(size=_NEVER, cursor="")
    found = scan(
        record.path,
        context,
        skip=(session.library.path,),
        rules=Rules.of(session.settings, record.rules),
        only=only,
        known=known,
    )
    changes = compare(found, known, confirm_removals=how.confirm_removals, known_total=total)
    for place, problem in found.unreadable:
        writer.put(record.id, SourceFile(place, 0, 0), None, (), (problem,))
    for file, problem in changes.listed:
        writer.put(record.id, file, None, (), (problem,))
    _tell(record, changes, tally)
    busy = {os.fsencode(file.path) for file in (*changes.added, *changes.changed)}
    absent = busy | (found.missing or set()) | set(found.listed)
    return Findings(
        record,
        changes,
        [_source(entry) for path, entry in known.items() if entry.outdated and path not in absent],
        {path: known[path].cursor for path in busy if path in known and known[path].cursor},
        whole=only is None,
    )


def _source(entry: KnownFile) -> SourceFile:
    return SourceFile(Path(os.fsdecode(entry.path)), entry.size, entry.mtime_ns, entry.device, entry.inode)


def _tell(record: FolderRecord, changes: Changes, tally: Tally) -> None:
    if changes.removed_pending:
        tally.notice(
            f"{changes.removed_pending:,} files of {short_path(record.path)} are gone at once; they were kept. "
            "Run index with --confirm-removals if they were really deleted."
        )
    if changes.offline:
        places = ", ".join(short_path(path) for path in changes.offline_folders) or short_path(record.path)
        tally.notice(f"{places} is offline: {changes.offline:,} files stay in the library.")


def check_place(session: Session, record: FolderRecord, place: Path) -> None:
    """Refuses a place that holds none of the folder's files: it would lose their texts, and read something else.

    Raises:
        UsageError: ``place-differs``.
    """
    separator = os.sep.encode()
    old, new = (os.fsencode(path).rstrip(separator) for path in (record.path, place))
    inside = [path for path in session.library.known_files(record.id) if path.startswith(old + separator)]
    if inside and not any(os.path.lexists(new + path[len(old) :]) for path in inside):
        raise UsageError(
            "place-differs",
            f"{display_path(place)} holds none of the {len(inside):,} files of {short_path(record.path)}.",
            "Choose the folder in which these files lie now.",
        )


def skip_interrupted(session: Session, writer: Writer, retry: frozenset[bytes]) -> int:
    """Lists the files that were being read when the program was killed, and leaves them alone.

    Each is skipped until it changes or the person asks. Gives how many.
    """
    library = session.library
    left = library.interrupted()
    if not left:
        return 0
    folders = [record for record in library.folders() if record.state == "active"]
    count = 0
    for path, size, mtime_ns in left:
        if path not in retry:
            count += _skip(writer, folders, path, size, mtime_ns)
    writer.commit()
    for path, _, _ in left:
        library.done_reading(path)
    return count


def _skip(writer: Writer, folders: Sequence[FolderRecord], path: bytes, size: int, mtime_ns: int) -> int:
    owner = next((r for r in folders if path.startswith(os.fsencode(r.path).rstrip(b"/") + b"/")), None)
    try:
        status = os.lstat(path)
    except OSError:
        return 0
    if owner is None or (status.st_size, status.st_mtime_ns) != (size, mtime_ns):
        return 0
    file = SourceFile(Path(os.fsdecode(path)), size, mtime_ns, status.st_dev, status.st_ino)
    problem = problem_words("interrupted")
    writer.begin_container(owner.id, file)  # keeps the members that were read before the kill
    writer.finish_container(owner.id, file, None, (), (problem,), cursor="", grown=True)
    return 1


def _worth_trying(entry: KnownFile, size_limit: int, programs: bool) -> bool:
    code = entry.problem_code
    if not code or entry.ignored:
        return False
    if code in _OF_THE_MOMENT:
        return True
    if code == _TOO_LARGE:
        return entry.content is None and 0 <= entry.size <= size_limit
    return code == _NEEDS_PROGRAM and programs
