"""Single questions to an extraction child, outside the pool: one file, a password, the programs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import cast

from sbert_desktop.app.session import Session
from sbert_desktop.app.views import ProgramsView
from sbert_desktop.domain import Child, ExtractedText, Problem, SourceFile
from sbert_desktop.errors import JobError

_PROGRAMS_TIME = 30.0


def ask_for_file(
    child: Child, header: Mapping[str, object], file: SourceFile, *, timeout: float
) -> tuple[SourceFile, ExtractedText | Problem]:
    """Asks a child for one file or member; its death is a problem of the file, not an error.

    Args:
        child: Serves extraction; dead afterwards when it overran or crashed.
        header: The request.
        file: What is asked for; given back as the child saw it.
        timeout: Seconds after which the child is ended.

    Raises:
        JobError: The child refused the request as a whole.
    """
    from sbert_desktop.extraction import decode_document, decode_problem, problem, problem_of_child

    try:
        reply, payload = child.request(header, timeout=timeout)
    except JobError as error:
        if error.code in {"child-timeout", "child-died"}:
            return file, problem_of_child(error)
        raise
    results = reply.get("results")
    if not isinstance(results, list) or not results:
        return file, problem("internal")
    entry = cast(dict[str, object], results[0])
    seen = file
    sha, size, mtime = entry.get("sha256"), entry.get("size"), entry.get("mtime_ns")
    if isinstance(sha, str) and sha and isinstance(size, int) and isinstance(mtime, int):
        seen = replace(file, content_hash=sha, size=size, mtime_ns=mtime)
    document = entry.get("document")
    if isinstance(document, dict):
        count = document.get("bytes")
        return seen, decode_document(document, payload[: count if isinstance(count, int) else 0])
    given = entry.get("problem")
    return seen, decode_problem(cast(dict[str, object], given)) if isinstance(given, dict) else problem("internal")


def find_programs(session: Session) -> ProgramsView:
    """Looks for Tesseract and LibreOffice, in a child; all empty when it cannot tell."""
    child = session.launch("extract")
    try:
        reply, _ = child.request({"op": "programs"}, timeout=_PROGRAMS_TIME)
    except JobError:
        return ProgramsView("", (), "")
    finally:
        child.close()
    languages = reply.get("languages")
    return ProgramsView(
        str(reply.get("tesseract") or ""),
        tuple(str(code) for code in languages) if isinstance(languages, list) else (),
        str(reply.get("libreoffice") or ""),
    )


def problem_words(code: str) -> Problem:
    """Gives the problem of a code in the words that readers use."""
    from sbert_desktop.extraction import problem

    return problem(code)
