"""One source to text: find the format, call its reader, name what went wrong."""

from __future__ import annotations

import io
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from sbert_desktop.domain import BlockKind, ExtractedText
from sbert_desktop.errors import ExtractionError
from sbert_desktop.extraction._language import detect_language
from sbert_desktop.extraction._problems import failure
from sbert_desktop.extraction._registry import BY_NAME, HEAD, SUPPORTED, format_of
from sbert_desktop.extraction._source import Source, check_size, open_file, suffix_of

FILE_LIMIT = 1024 * 1024 * 1024
"""Bytes of the largest file that is read. Source: RELIABILITY R1."""


def extract(path: Path, *, password: str | None = None) -> ExtractedText:
    """Reads one file as a whole in this process, without limits on time and memory.

    Of a container this gives the text of its own (the mail without its attachments).

    Raises:
        ExtractionError: ``encrypted``, ``no-text-layer``, ``empty``, ``unreadable``, ``too-large``,
            ``damaged``, ``unknown-type`` or ``needs-program``.
    """
    with open_file(path) as opened:
        check_size(opened.size, FILE_LIMIT)
        return extract_source(Source(path.name, password=password, file=opened.file))


def extract_bytes(path: Path, data: bytes, password: str | None = None) -> ExtractedText:
    """Reads the bytes of a file as :func:`extract` does; ``path`` tells its suffix only."""
    return extract_source(Source(path.name, data, password))


def extract_source(source: Source) -> ExtractedText:
    """Reads a source as a whole.

    Raises:
        ExtractionError: As :func:`extract`; any failure of a reader is ``damaged``.
        MemoryError: The memory limit of this process was reached.
    """
    name = name_format(source)
    if BY_NAME[name].container:
        return _own_text(source, name)
    return read_as(source, name)


def name_format(source: Source) -> str:
    """Gives the name of a source's format.

    Raises:
        ExtractionError: ``empty`` for 0 bytes, ``unknown-type``, ``encrypted``.
    """
    if not source.size:
        raise failure("empty", "The file has 0 bytes.")
    with source.stream() as stream:
        head = stream.read(HEAD)
        name = format_of(Path(source.name), head, stream)
    if name is None:
        raise _unknown(source.name)
    return name


def read_as(source: Source, name: str) -> ExtractedText:
    """Reads a source as a whole in a format.

    Raises:
        ExtractionError: As :func:`extract`.
        MemoryError: The memory limit of this process was reached.
    """
    try:
        extracted = BY_NAME[name].reader()(source)
    except (ExtractionError, MemoryError):
        raise
    except Exception as error:  # one of the three places (DESIGN section 8): one file's reader
        raise failure("damaged", detail=f"{type(error).__name__} in the reader of {name}") from error
    return with_language(extracted)


def with_language(extracted: ExtractedText) -> ExtractedText:
    """Gives a document its language unless its reader knew it."""
    return extracted if extracted.language else replace(extracted, language=detect_language(_words_of(extracted)))


def _own_text(source: Source, name: str) -> ExtractedText:
    with closing(BY_NAME[name].members()(source, "")) as members:
        for member in members:
            if not member.name and member.document is not None:
                return with_language(member.document)
    raise failure("unknown-type", "This file only holds other files; it has no text of its own.")


def _unknown(name: str) -> ExtractionError:
    suffix = suffix_of(name)
    if suffix in SUPPORTED:
        return failure("unknown-type", f"The name ends in .{suffix}, but the content is not text of that type.",
                       "Give the file its right suffix.")
    if suffix and len(suffix) <= 12 and suffix.isalnum():
        return failure("unknown-type", f"Files of type .{suffix} are not read.")
    return failure("unknown-type")


_TELLING = (
    (BlockKind.PARAGRAPH, BlockKind.HEADING),
    (BlockKind.QUOTE, BlockKind.TABLE, BlockKind.CODE, BlockKind.HEADER),
)


def _words_of(extracted: ExtractedText) -> str:
    """Gives the prose of a document for language detection: mail headers and code say little."""
    if len(extracted.text) <= 5000 and all(block.kind is BlockKind.PARAGRAPH for block in extracted.blocks):
        return extracted.text
    out = io.StringIO()
    for kinds in _TELLING:
        for block in extracted.blocks:
            if block.kind in kinds:
                out.write(extracted.text[block.start : block.end])
                out.write("\n")
        if out.tell() > 200:
            break
    return out.getvalue()
