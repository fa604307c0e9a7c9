"""Source code: blocks end where a top-level definition or, failing that, a blank line begins."""

from __future__ import annotations

import re

from sbert_desktop.domain import ExtractedText
from sbert_desktop.extraction._builder import TextBuilder
from sbert_desktop.extraction._normalise import normalise
from sbert_desktop.extraction._problems import failure
from sbert_desktop.extraction._source import Source
from sbert_desktop.extraction._text import decode_text

_DEFINITION = re.compile(
    r"^(?:(?:export|default|public|private|protected|internal|static|final|abstract|async|pub(?:\([a-z]+\))?|unsafe|"
    r"extern|inline|template|open|sealed|data)\s+)*"
    r"(?:def|class|function|func|fn|interface|struct|enum|trait|impl|module|namespace|type|object|record|macro_rules!|"
    r"sub|procedure|CREATE\s+\w+|create\s+\w+)\b\s*\*?\s*([\w$:.<>]{0,80})"
)
_ATTACHED = re.compile(r"^(?:@|#\[|//|/\*|\*| \*|#(?!include|define|if|endif|pragma)|--|\"\"\"|;)")
_LONG = 4000


def read(source: Source) -> ExtractedText:
    """Reads source code as CODE blocks; ``heading`` names the top-level definition.

    Raises:
        ExtractionError: ``empty``.
    """
    text = normalise(decode_text(source.data)).expandtabs(4)
    out = TextBuilder("code")
    out.metadata.append(("language", source.suffix))
    for name, piece in _pieces(text.split("\n")):
        out.add_code(piece, name)
        if out.full:
            break
    extracted = out.finish()
    if not extracted.blocks:
        raise failure("empty")
    return extracted


def _pieces(lines: list[str]) -> list[tuple[str, str]]:
    starts: list[tuple[int, str]] = [(0, "")]
    for at, line in enumerate(lines):
        match = _DEFINITION.match(line)
        if not match:
            continue
        first = at
        while first > starts[-1][0] + 1 and lines[first - 1].strip() and _ATTACHED.match(lines[first - 1]):
            first -= 1
        if first == starts[-1][0] or (first == 0 and len(starts) == 1):
            starts[-1] = (first, (match.group(1) or "").rstrip(":.<>"))
        else:
            starts.append((first, (match.group(1) or "").rstrip(":.<>")))
    pieces: list[tuple[str, str]] = []
    for (begin, name), (end, _) in zip(starts, [*starts[1:], (len(lines), "")], strict=True):
        pieces += [(name, part) for part in _at_blank_lines("\n".join(lines[begin:end]))]
    return pieces


def _at_blank_lines(text: str) -> list[str]:
    """Parts a long definition at blank lines into pieces of about 4,000 characters."""
    if len(text) <= _LONG:
        return [text]
    parts: list[str] = []
    held: list[str] = []
    size = 0
    for piece in text.split("\n\n"):
        if held and size + len(piece) > _LONG:
            parts.append("\n\n".join(held))
            held, size = [], 0
        held.append(piece)
        size += len(piece)
    parts.append("\n\n".join(held))
    return parts
