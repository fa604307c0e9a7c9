"""Reads files as indexing would, without a library: what ``extract`` shows."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from sbert_desktop.app.scanning import scan
from sbert_desktop.app.session import Session
from sbert_desktop.domain import ExtractedText, JobContext, Problem, SourceFile, display_path
from sbert_desktop.errors import ExtractionError, UsageError
from sbert_desktop.jobs import NullContext

Read = tuple[Path, ExtractedText | None, Problem | None]


def read_files(session: Session, paths: Sequence[Path], context: JobContext) -> Iterator[Read]:
    """Reads files, and those of folders, in children; gives them in the order of their paths.

    Raises:
        UsageError: ``file-missing`` for a path that is not there.
    """
    files: list[SourceFile] = []
    for path in paths:
        if os.path.isdir(path):
            found = scan(Path(os.path.abspath(path)), context, hidden=session.settings.flag("indexing.hidden"))
            files += sorted(found.files.values(), key=lambda file: os.fsencode(file.path))
        else:
            files.append(_source(path))
    pool = session.extraction_pool(min(len(files), 4) or 1)
    waiting: dict[bytes, Read] = {}
    order = [os.fsencode(file.path) for file in files]
    given = 0
    try:
        for done, (file, outcome) in enumerate(pool.results(files, context), 1):
            context.progress("Reading", done, len(files), display_path(file.path))
            text = outcome if isinstance(outcome, ExtractedText) else None
            waiting[os.fsencode(file.path)] = (file.path, text, outcome if isinstance(outcome, Problem) else None)
            while given < len(order) and order[given] in waiting:
                yield waiting[order[given]]
                given += 1
    finally:
        pool.close()


def read_file(session: Session, path: Path) -> ExtractedText:
    """Reads one file in a child.

    Raises:
        UsageError: ``file-missing`` or ``not-a-file``.
        ExtractionError: It could not be read; the code says why.
    """
    _source(path)
    for _, text, problem in read_files(session, [path], NullContext()):
        if text is not None:
            return text
        if problem is not None:
            raise ExtractionError(problem.code, f"{display_path(path)}: {problem.message}", problem.hint)
    raise ExtractionError("unreadable", f"{display_path(path)} could not be read.")


def _source(path: Path) -> SourceFile:
    try:
        status = path.stat()
    except OSError as error:
        raise UsageError(
            "file-missing", f"{display_path(path)} cannot be read: {error.strerror}.", "Check the name."
        ) from None
    if not path.is_file():
        raise UsageError("not-a-file", f"{display_path(path)} is neither a file nor a folder.", "Name a file.")
    return SourceFile(Path(os.path.abspath(path)), status.st_size, status.st_mtime_ns, status.st_dev, status.st_ino)
