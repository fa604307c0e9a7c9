"""Reads files as indexing would, without a library: what ``extract`` shows."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sbert_desktop.app.feeding import Outcome
from sbert_desktop.app.rules import Rules
from sbert_desktop.app.scanning import scan
from sbert_desktop.app.session import Session
from sbert_desktop.domain import ExtractedText, JobContext, Listing, Problem, SourceFile, display_path
from sbert_desktop.errors import ExtractionError, UsageError
from sbert_desktop.jobs import NullContext

MOST_JOINED = 20_000_000
"""Characters of the members' texts that stand for a container; the members themselves are given whole."""


@dataclass(frozen=True, slots=True)
class Read:
    """What one file, or one member of a container, gave.

    ``members``: how many results of the container came before; its text is its own one (``own``: that alone,
    what a mail says) and theirs, joined.
    """

    path: Path
    text: ExtractedText | None
    problems: tuple[Problem, ...] = ()
    member: str = ""
    members: int = 0
    own: str = ""


def read_files(session: Session, paths: Sequence[Path], context: JobContext) -> Iterator[Read]:
    """Reads files, and those of folders, in children; gives them in the order of their paths.

    The members of a container come before the container itself.

    Raises:
        UsageError: ``file-missing`` for a path that is not there.
    """
    files: list[SourceFile] = []
    for path in paths:
        if os.path.isdir(path):
            found = scan(Path(os.path.abspath(path)), context, rules=Rules.of(session.settings))
            files += sorted(found.files.values(), key=lambda file: os.fsencode(file.path))
        else:
            files.append(_source(path))
    pool = session.extraction_pool(min(len(files), 4) or 1)
    series: dict[bytes, list[Read]] = {os.fsencode(file.path): [] for file in files}
    ended: set[bytes] = set()
    order = list(series)
    given = 0
    try:
        for file, outcome in pool.results(files, context):
            key = os.fsencode(file.path)
            series[key].append(_read_of(file, outcome, series[key]))
            if file.member:
                continue
            ended.add(key)
            context.progress("Reading", len(ended), len(files), display_path(file.path))
            while given < len(order) and order[given] in ended:
                yield from series.pop(order[given])
                given += 1
    finally:
        pool.close()


def _read_of(file: SourceFile, outcome: Outcome, before: Sequence[Read]) -> Read:
    if isinstance(outcome, Listing):
        own = outcome.document.text if outcome.document is not None else ""
        return Read(file.path, _joined(outcome, before), outcome.problems, members=len(before), own=own)
    if isinstance(outcome, ExtractedText):
        return Read(file.path, outcome, outcome.problems, file.member)
    return Read(file.path, None, (outcome,) if outcome is not None else (), file.member, len(before))


def _joined(listing: Listing, members: Sequence[Read]) -> ExtractedText | None:
    """Gives a container's own text and those of its members as one, up to a bound; blocks are its own ones."""
    own = listing.document
    texts = [own.text] if own is not None and own.text else []
    size = sum(map(len, texts))
    for member in members:
        if size >= MOST_JOINED:
            break
        if member.text is not None:
            texts.append(member.text.text[: MOST_JOINED - size])
            size += len(texts[-1])
    if own is not None:
        return replace(own, text="\n\n".join(texts), problems=())
    return ExtractedText("container", "\n\n".join(texts)) if texts else None


def read_file(session: Session, path: Path) -> ExtractedText:
    """Reads one file in a child; see :func:`read_text`."""
    return read_text(session, path)[0]


def read_text(session: Session, path: Path) -> tuple[ExtractedText, tuple[Problem, ...]]:
    """Reads one file in a child; gives its text, and what of it is missing there.

    Raises:
        UsageError: ``file-missing`` or ``not-a-file``.
        ExtractionError: It could not be read; the code says why.
    """
    _source(path)
    *_, read = read_files(session, [path], NullContext())
    if read.text is not None:
        return read.text, read.problems
    for problem in read.problems:
        raise ExtractionError(problem.code, f"{display_path(path)}: {problem.message}", problem.hint)
    raise ExtractionError("unreadable", f"{display_path(path)} could not be read.")


def _source(path: Path) -> SourceFile:
    try:
        status = path.stat()
    except OSError as error:
        raise UsageError(
            "file-missing", f"{display_path(path)} cannot be read: {error.strerror}.", "Check the name."
        ) from None
    if path.is_dir():
        raise UsageError("not-a-file", f"{display_path(path)} is a folder.", "Name a file in it.")
    if not path.is_file():
        raise UsageError("not-a-file", f"{display_path(path)} is neither a file nor a folder.", "Name a file.")
    return SourceFile(Path(os.path.abspath(path)), status.st_size, status.st_mtime_ns, status.st_dev, status.st_ino)
