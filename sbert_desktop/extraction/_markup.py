"""XML files that are documents or data: their text without tags, without ever running an XML parser.

A parser would have to be kept from entities and external files; taking tags away cannot be attacked.
"""

from __future__ import annotations

import html
import re

from sbert_desktop.domain import BlockKind, ExtractedText
from sbert_desktop.extraction._builder import TextBuilder
from sbert_desktop.extraction._dates import parse_date
from sbert_desktop.extraction._normalise import normalise, one_line, without_spans
from sbert_desktop.extraction._problems import failure
from sbert_desktop.extraction._source import Source
from sbert_desktop.extraction._text import decode_text

_HIDDEN = (
    (re.compile(r"<!--"), re.compile(r"-->")),
    (re.compile(r"<\?"), re.compile(r"\?>")),
    (re.compile(r"<!DOCTYPE[^>\[]{0,1000}\[", re.IGNORECASE), re.compile(r"\]\s{0,100}>")),
    (re.compile(r"<!DOCTYPE", re.IGNORECASE), re.compile(r">")),
)
_CDATA, _CDATA_END = "<![CDATA[", "]]>"
_TAG = re.compile(r"<(/?)([A-Za-z_][\w:.-]{0,80})([^<>]{0,20000})>")
_INNER_TAG = re.compile(r"</?[A-Za-z][^<>]{0,2000}>")
_VALUE = re.compile(r"""([\w:.-]{1,80})\s*=\s*(?:"([^"<]{2,500})"|'([^'<]{2,500})')""")
_WORDS = re.compile(r"[^\W\d_]{2,}\s+[^\W\d_]{2,}")
_TITLE = re.compile(r"<(?:\w+:)?title[^>]{0,200}>(.{1,1000}?)</(?:\w+:)?title\s*>", re.DOTALL | re.IGNORECASE)
_DATE = re.compile(r"<(?:pubDate|updated|published|dc:date|lastBuildDate)>([^<]{4,60})<", re.IGNORECASE)
_GROUP = 2000  # characters of short elements that make one block


def read(source: Source) -> ExtractedText:
    """Reads the text between the tags, and attribute values that hold several words.

    Raises:
        ExtractionError: ``empty``.
    """
    text = normalise(decode_text(source.data))
    out = TextBuilder(source.suffix)
    title, date = _TITLE.search(text), _DATE.search(text)
    out.title = one_line(_plain(title.group(1))) if title else ""
    out.date = parse_date(date.group(1)) if date else None
    text = without_hidden(text)
    held: list[str] = []
    size = 0
    for piece in _TAG.sub(_in_place, text).split("\n\n"):
        line = _plain(piece)
        if not line:
            continue
        held.append(line)
        size += len(line)
        if size > _GROUP:
            out.add("\n".join(held), BlockKind.PARAGRAPH)
            held, size = [], 0
        if out.full:
            break
    out.add("\n".join(held), BlockKind.PARAGRAPH)
    extracted = out.finish()
    if not extracted.blocks:  # all of it stands in the tags
        out.add(normalise(decode_text(source.data)))
        extracted = out.finish()
    if not extracted.blocks:
        raise failure("empty")
    return extracted


def without_hidden(text: str) -> str:
    """Takes comments, instructions and declarations away; what stands as CDATA becomes text as any other."""
    for begin, end in _HIDDEN:
        text = without_spans(text, begin, end, " ")
    parts: list[str] = []
    at = 0
    while (opened := text.find(_CDATA, at)) >= 0 and (closed := text.find(_CDATA_END, opened)) >= 0:
        parts += (text[at:opened], html.escape(text[opened + len(_CDATA) : closed]))
        at = closed + len(_CDATA_END)
    return "".join(parts) + text[at:] if parts else text


def _in_place(match: re.Match[str]) -> str:
    """Gives what stands in place of a tag: a border, and attribute values that are texts."""
    values = [value for _, first, second in _VALUE.findall(match.group(3)) if _WORDS.search(value := first or second)]
    return "\n\n" + "".join(f"{value}\n\n" for value in values)


def _plain(piece: str) -> str:
    """Resolves the five entities and character references; takes HTML inside the text away too."""
    text = html.unescape(piece)
    if "<" in text:
        text = html.unescape(_INNER_TAG.sub(" ", text))
    return " ".join(normalise(text).split())
