"""Bytes to text: find the format, call its reader, name what went wrong."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

from sbert_desktop.domain import BlockKind, ExtractedText
from sbert_desktop.errors import ExtractionError
from sbert_desktop.extraction._builder import TEXT_LIMIT
from sbert_desktop.extraction._language import detect_language
from sbert_desktop.extraction._problems import failure, problem
from sbert_desktop.extraction._registry import BY_NAME, HEAD, format_of
from sbert_desktop.extraction._source import Source, read_file, suffix_of

FILE_LIMIT = 1024 * 1024 * 1024
"""Bytes of the largest file that is read. Source: RELIABILITY R1."""


def extract(path: Path, *, password: str | None = None) -> ExtractedText:
    """Reads one file in this process, without limits on time and memory.

    Raises:
        ExtractionError: ``encrypted``, ``no-text-layer``, ``empty``, ``unreadable``, ``too-large``,
            ``damaged``, ``unknown-type`` or ``needs-program``.
    """
    return extract_bytes(path, read_file(path, FILE_LIMIT).data, password)


def extract_bytes(path: Path, data: bytes, password: str | None = None) -> ExtractedText:
    """Reads the bytes of a file; ``path`` tells its suffix only.

    Raises:
        ExtractionError: As :func:`extract`; any failure of a reader is ``damaged``.
        MemoryError: The memory limit of this process was reached.
    """
    if not data:
        raise failure("empty", "The file has 0 bytes.")
    name = format_of(path, data[:HEAD], data)
    if name is None:
        raise _unknown(path)
    extracted: ExtractedText
    cut = BY_NAME[name].textual and len(data) > TEXT_LIMIT
    try:
        extracted = BY_NAME[name].reader()(Source(path.name, data[:TEXT_LIMIT] if cut else data, password))
    except (ExtractionError, MemoryError):
        raise
    except Exception as error:  # one of the three places (DESIGN section 8): one file's reader
        raise failure("damaged", detail=f"{type(error).__name__} in the reader of {name}") from error
    if cut and not extracted.problems:
        rest = problem("too-large", f"Only the first {TEXT_LIMIT // 1024 // 1024} MB of the text were read.", "",
                       partial=True)
        extracted = replace(extracted, problems=(rest,))
    return extracted if extracted.language else replace(extracted, language=detect_language(_words_of(extracted)))


def _unknown(path: Path) -> ExtractionError:
    suffix = suffix_of(path.name)
    from sbert_desktop.extraction._registry import SUPPORTED

    if suffix in SUPPORTED:
        return failure("unknown-type", f"The name ends in .{suffix}, but the content is not text of that type.",
                       "Give the file its right suffix.")
    if suffix and len(suffix) <= 12 and suffix.isalnum():
        return failure("unknown-type", f"Files of type .{suffix} are not read.")
    return failure("unknown-type")


def _words_of(extracted: ExtractedText) -> str:
    """Gives the prose of a document for language detection: mail headers and code say little."""
    if len(extracted.text) <= 5000 and all(block.kind is BlockKind.PARAGRAPH for block in extracted.blocks):
        return extracted.text
    out = io.StringIO()
    for kinds in ((BlockKind.PARAGRAPH, BlockKind.HEADING), (BlockKind.TABLE, BlockKind.CODE, BlockKind.HEADER)):
        for block in extracted.blocks:
            if block.kind in kinds:
                out.write(extracted.text[block.start : block.end])
                out.write("\n")
        if out.tell() > 200:
            break
    return out.getvalue()
