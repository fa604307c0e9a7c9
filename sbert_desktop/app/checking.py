"""What has to be done: known folders against the disk, whole or below a few paths only."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from sbert_desktop.app.asking import problem_words
from sbert_desktop.app.reporting import Tally
from sbert_desktop.app.scanning import Changes, Scan, compare, root_problem, scan
from sbert_desktop.app.session import Session
from sbert_desktop.domain import JobContext, SourceFile, short_path

if TYPE_CHECKING:
    from sbert_desktop.library import FolderRecord, KnownFile, Writer

_OF_THE_MOMENT = frozenset({"changed-while-read", "unreadable", "folder-unreadable", "cloud-only"})
"""Problems of the moment: such a file is tried again at each update though it looks unchanged."""
_NEEDS_PROGRAM = "needs-program"
_TOO_LARGE = "too-large"


@dataclass(slots=True)
class Findings:
    """What differs in one folder. ``outdated``: unchanged files whose text an earlier reader made."""

    record: FolderRecord
    changes: Changes = field(default_factory=Changes)
    outdated: list[SourceFile] = field(default_factory=list)
    cursors: dict[bytes, str] = field(default_factory=dict)
    whole: bool = True
    offline: bool = False


def look(
    session: Session,
    writer: Writer,
    record: FolderRecord,
    context: JobContext,
    tally: Tally,
    *,
    confirm_removals: bool = False,
    only: Sequence[Path] | None = None,
    retry: frozenset[bytes] = frozenset(),
    programs: bool = False,
) -> Findings:
    """Compares a folder with what the library knows of it; opens no file.

    Args:
        session: The opened library.
        writer: Gets the problems of folders that cannot be read.
        record: The folder.
        context: Asked for a cancel.
        tally: Gets notices.
        confirm_removals: Many files gone at once were really deleted.
        only: Look at and below these paths only, which lie in the folder.
        retry: Paths that are read again though they look unchanged.
        programs: LibreOffice is here: files that waited for it are tried again.
    """
    library = session.library
    known = library.known_files(record.id, below=only)
    trouble = root_problem(record.path, record.documents + record.problems)
    if trouble:
        tally.notice(f"{short_path(record.path)} is offline ({trouble}): its files stay in the library.")
        return Findings(record, Changes(unchanged=len(known)), whole=only is None, offline=True)
    found = scan_folder(session, record, context, only=only)
    limit = session.settings.number("reading.size_limit") * 1024 * 1024
    again = {
        path
        for path, entry in known.items()
        if path in retry or _worth_trying(entry, found.files.get(path), limit, programs)
    }
    kept = {path: entry for path, entry in known.items() if path not in again} if again else known
    changes = compare(found, kept, confirm_removals=confirm_removals)
    if again:
        _split_retries(changes, known, again, found.files)
    for path, problem in found.unreadable:
        writer.put(record.id, SourceFile(path, 0, 0), None, (), (problem,))
    if changes.removed_pending:
        tally.notice(
            f"{changes.removed_pending:,} files of {short_path(record.path)} are gone at once; they were kept. "
            "Run index with --confirm-removals if they were really deleted."
        )
    busy = {os.fsencode(file.path) for file in (*changes.added, *changes.changed)}
    outdated = [
        found.files[path]
        for path, entry in known.items()
        if entry.outdated and path in found.files and path not in busy
    ]
    cursors = {path: known[path].cursor for path in busy if path in known and known[path].cursor and path not in retry}
    return Findings(record, changes, outdated, cursors, whole=only is None)


def scan_folder(
    session: Session, record: FolderRecord, context: JobContext, *, only: Sequence[Path] | None = None
) -> Scan:
    """Walks a folder under its rules."""
    return scan(
        record.path,
        context,
        hidden=session.settings.flag("indexing.hidden"),
        skip=(session.library.path,),
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


def _worth_trying(entry: KnownFile, file: SourceFile | None, size_limit: int, programs: bool) -> bool:
    code = entry.problem_code
    if not code or entry.ignored:
        return False
    if code in _OF_THE_MOMENT:
        return True
    if code == _TOO_LARGE:
        return file is not None and file.size <= size_limit and entry.content is None
    return code == _NEEDS_PROGRAM and programs


def _split_retries(
    changes: Changes, known: Mapping[bytes, KnownFile], again: set[bytes], files: Mapping[bytes, SourceFile]
) -> None:
    """Files tried again count as changed; those that vanished leave."""
    changes.changed += [file for file in changes.added if os.fsencode(file.path) in again]
    changes.added = [file for file in changes.added if os.fsencode(file.path) not in again]
    changes.removed += [known[path].id for path in again if path not in files]
