"""Plain text of any kind; a transcript or an exported chat keeps who speaks when."""

from __future__ import annotations

import re

from sbert_desktop.domain import ExtractedText
from sbert_desktop.extraction._builder import TextBuilder
from sbert_desktop.extraction._encoding import decode
from sbert_desktop.extraction._normalise import normalise, tidy_lines
from sbert_desktop.extraction._problems import failure
from sbert_desktop.extraction._source import Source

_PARAGRAPH = re.compile(r"\n[ \t]*(?:\n[ \t]*)+")
_XML_DECLARATION = re.compile(rb"""^\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([A-Za-z0-9._:-]{1,40})["']""")
_CODING = re.compile(rb"""(?:coding|charset)\s*[=:]\s*["']?([A-Za-z0-9._-]{2,40})""")
_SENTENCE_END = re.compile(r"[.!?。！？…,;:]['\"”’)]*$")
_NUMBERED = re.compile(r"^(?:\d+|[ivxlc]+)[.)]\s*$", re.IGNORECASE)
_UNDERLINE = re.compile(r"^([=\-~#*^+])\1{2,}\s*$")
_FEW_WORDS = 12
_CLOCK = re.compile(r"\d:\d\d")
_LOOKED_AT = 20_000  # a transcript has a time in its first lines


def read(source: Source) -> ExtractedText:
    """Reads plain text; blank lines part its paragraphs.

    Raises:
        ExtractionError: ``empty``.
    """
    text = normalise(decode_text(source.data))
    out = TextBuilder("txt")
    if _CLOCK.search(text, 0, _LOOKED_AT):
        from sbert_desktop.extraction._subtitles import transcript, write_turns

        turns = transcript(text)
        if turns:
            write_turns(turns, out)
            return out.finish()
    paragraphs = [piece for piece in map(tidy_lines, _PARAGRAPH.split(text)) if piece and not piece.isspace()]
    if not paragraphs:
        raise failure("empty")
    out.title = title_of(paragraphs)
    for piece in paragraphs:
        out.add(piece, ready=True)
        if out.full:
            break
    return out.finish()


def decode_text(data: bytes) -> str:
    """Decodes bytes, honouring an encoding that the first lines declare (XML, Python, Emacs, CSS)."""
    head = data[:400]
    match = _XML_DECLARATION.match(head) or _CODING.search(head)
    declared = match.group(1).decode("ascii") if match else ""
    return decode(data, declared)[0]


def title_of(paragraphs: list[str]) -> str:
    """Gives the first line where it looks like a title, else ``""``.

    A title stands alone (a blank line or a rule follows), is short, and does not end like a
    sentence or look like data.
    """
    lines = paragraphs[0].split("\n")
    first = lines[0].strip().strip("#=*").strip()
    alone = (len(lines) == 1 and len(paragraphs) > 1) or (len(lines) == 2 and bool(_UNDERLINE.match(lines[1])))
    if not alone or not first or len(first) > 120 or len(first.split()) > _FEW_WORDS + 8:
        return ""
    if _SENTENCE_END.search(first) or _NUMBERED.match(first) or _UNDERLINE.match(lines[0]):
        return ""
    letters = sum(char.isalpha() or char.isspace() for char in first)
    if letters < 0.7 * len(first) or not any(char.isalpha() for char in first):
        return ""
    return first
