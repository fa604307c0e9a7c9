"""What runs inside an extraction child: one request, one reply, no trust in any file."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path

from sbert_desktop.domain import ExtractedText, Problem
from sbert_desktop.errors import ExtractionError
from sbert_desktop.extraction._codec import encode_document, encode_problem
from sbert_desktop.extraction._extract import FILE_LIMIT, extract_bytes
from sbert_desktop.extraction._language import detect_language
from sbert_desktop.extraction._limits import set_limits
from sbert_desktop.extraction._problems import failure, problem, problem_of
from sbert_desktop.extraction._source import Opened, read_file
from sbert_desktop.wire import Handler

_CHUNK = 1 << 20


def make_handler(*, limits: bool = True) -> Handler:
    """Gives the handler of an extraction child; sets the limits of this process first.

    Requests (``path`` is the hex of ``os.fsencode``):

    - ``{"op": "extract", "files": [path...], "size_limit", "password"}`` ->
      ``{"results": [{"sha256", "size", "mtime_ns", "document" | "problem"}...]}``, payload: the texts
      one behind the other.
    - ``{"op": "ping"}`` -> ``{"version"}``: the child lives and has loaded what every file needs.
    - ``{"op": "hash", "path", "size_limit"}`` -> ``{"sha256", "size", "mtime_ns"}`` or ``{"problem"}``.
    - ``{"op": "render", "path", "page", "width", "ranges": {name: [[char_start, length]...]}}`` ->
      ``{"width", "height", "page", "pages", "rects": {name: [[x, y, w, h]...]}}``, payload: RGB rows,
      top-down. ``ranges`` may be a list of groups instead of a table; ``rects`` is one then, too.

    Args:
        limits: False only in tests that call the handler in their own process.
    """
    if limits:
        set_limits()
    return _handle


def _handle(header: dict[str, object], payload: bytes) -> tuple[Mapping[str, object], bytes]:
    operation = header.get("op")
    if operation == "extract":
        return _extract(header)
    if operation == "ping":
        detect_language("This sentence only makes the model of languages ready for use.")
        return {"version": 1}, b""
    if operation == "hash":
        return _hash(header), b""
    if operation == "render":
        from sbert_desktop.extraction._render import render

        return render(header, read_file(_path(header["path"]), _number(header, "size_limit", FILE_LIMIT)).data)
    raise ExtractionError("unknown-request", f"There is no operation {operation!r}.")


def _extract(header: dict[str, object]) -> tuple[Mapping[str, object], bytes]:
    files, password = header["files"], header.get("password")
    assert isinstance(files, list)
    results: list[dict[str, object]] = []
    texts: list[bytes] = []
    for entry in files:
        result, text = _extract_one(_path(entry), _number(header, "size_limit", FILE_LIMIT),
                                    password if isinstance(password, str) else None)
        results.append(result)
        texts.append(text)
    return {"results": results}, b"".join(texts)


def _extract_one(path: Path, size_limit: int, password: str | None) -> tuple[dict[str, object], bytes]:
    result: dict[str, object] = {"sha256": "", "size": 0, "mtime_ns": 0}
    outcome: ExtractedText | Problem
    try:
        opened = read_file(path, size_limit)
        result = _identity(opened)
        outcome = extract_bytes(path, opened.data, password) if opened.steady else problem("changed-while-read")
        if isinstance(outcome, ExtractedText):
            result["document"], text = encode_document(outcome)
            return result, text
    except ExtractionError as error:
        outcome = problem_of(error)
    except MemoryError:
        outcome = problem("too-much-memory")
    result["problem"] = encode_problem(outcome)
    return result, b""


def _identity(opened: Opened) -> dict[str, object]:
    return {"sha256": hashlib.sha256(opened.data).hexdigest(), "size": opened.size, "mtime_ns": opened.mtime_ns}


def _hash(header: dict[str, object]) -> dict[str, object]:
    """Hashes a file in pieces: the memory limit does not matter for it."""
    path, limit = _path(header["path"]), _number(header, "size_limit", FILE_LIMIT)
    try:
        digest = hashlib.sha256()
        with path.open("rb", buffering=0) as stream:
            status = os.fstat(stream.fileno())
            if status.st_size > limit:
                raise failure("too-large")
            while chunk := stream.read(_CHUNK):
                digest.update(chunk)
        return {"sha256": digest.hexdigest(), "size": status.st_size, "mtime_ns": status.st_mtime_ns}
    except ExtractionError as error:
        return {"problem": encode_problem(problem_of(error))}
    except OSError:
        return {"problem": encode_problem(problem("unreadable"))}


def _path(value: object) -> Path:
    assert isinstance(value, str)
    return Path(os.fsdecode(bytes.fromhex(value)))


def _number(header: Mapping[str, object], key: str, default: int) -> int:
    value = header.get(key, default)
    return value if isinstance(value, int) else default
