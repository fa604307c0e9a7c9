"""Markdown: headings with their hierarchy, front matter, code, tables; little markup is taken away.

A line-based reader, not a full CommonMark parser: what matters for finding is where a text belongs,
not how it would be drawn. Text inside links, emphasis and images stays; addresses of links go.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

from sbert_desktop.domain import BlockKind, ExtractedText
from sbert_desktop.extraction._builder import TextBuilder
from sbert_desktop.extraction._dates import parse_date
from sbert_desktop.extraction._normalise import normalise, without_spans
from sbert_desktop.extraction._problems import failure
from sbert_desktop.extraction._source import Source
from sbert_desktop.extraction._text import decode_text

_FRONT = re.compile(r"\A(---|\+\+\+)[ \t]*\n(.{0,20000}?)\n(?:\1|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_FRONT_LINE = re.compile(r"^([A-Za-z][\w -]{0,40}?)\s*[:=]\s*(\S.*)$")
_HEADING = re.compile(r"^ {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})(.*)$")
_SETEXT = re.compile(r"^ {0,3}(=+|-{2,})[ \t]*$")
_RULE = re.compile(r"^ {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*$")
_TABLE_RULE = re.compile(r"^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$")
_COMMENT = (re.compile(r"<!--"), re.compile(r"-->"))
_TAG = re.compile(r"</?[A-Za-z][A-Za-z0-9-]{0,20}(?:\s[^<>\n]{0,500})?/?>")
_TARGET = r"(?:\([^()\n]{0,1000}(?:\([^()\n]{0,300}\)[^()\n]{0,300})?\)|\[[^\]\n]{0,200}\])"
_IMAGE = re.compile(r"!\[([^\]\n]{0,500})\]" + _TARGET)
_LINK = re.compile(r"\[([^\[\]\n]{1,500})\]" + _TARGET)
_REFERENCE = re.compile(r"^ {0,3}\[[^\]\n]{1,200}\]:\s*\S+.*$")
_STRONG = re.compile(r"(?<![\w*_])(\*{1,3}|_{1,3})(?=\S)([^*_\n]{1,1000}?)(?<=\S)\1(?![\w*_])")
_CODE_SPAN = re.compile(r"(`+)([^`\n]{1,500}?)\1")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_TITLE_KEYS = {"title"}
_DATE_KEYS = ("date", "created", "published", "updated", "modified", "lastmod")


def read(source: Source) -> ExtractedText:
    """Reads Markdown.

    Raises:
        ExtractionError: ``empty``.
    """
    out = TextBuilder("md")
    write_markdown(normalise(decode_text(source.data)), out)
    extracted = out.finish()
    if not extracted.blocks:
        raise failure("empty")
    return extracted


def write_markdown(text: str, out: TextBuilder) -> None:
    """Adds the blocks of normalised Markdown; sets title and date where the text has them."""
    front = _FRONT.match(text)
    if front:
        _read_front(front.group(2), out)
        text = text[front.end() :]
    first_heading = ""
    for kind, level, piece in _pieces(text):
        if level:
            heading = plain(piece)
            if not first_heading and (level == 1 or not out.heading):
                first_heading = heading
            out.add_heading(heading, level)
        elif kind is BlockKind.CODE:
            out.add(piece, kind)
        else:
            out.add(plain(piece), kind)
        if out.full:
            break
    out.title = out.title or first_heading


def plain(text: str) -> str:
    """Takes links, emphasis, code ticks and tags away from a piece of Markdown; keeps their text."""
    if "<" in text:
        text = _TAG.sub("", text)
    if "[" in text:
        text = _IMAGE.sub(r"\1", text)
        text = _LINK.sub(r"\1", text)
    if "*" in text or "_" in text:
        for _ in range(2):
            text = _STRONG.sub(r"\2", text)
    if "`" in text:
        text = _CODE_SPAN.sub(r"\2", text)
    if "\\" in text:
        text = _ESCAPE.sub(r"\1", text)
    return html.unescape(text) if "&" in text else text


def _read_front(text: str, out: TextBuilder) -> None:
    values: dict[str, str] = {}
    for line in text.split("\n"):
        match = _FRONT_LINE.match(line)
        if match:
            values.setdefault(match.group(1).strip().lower(), match.group(2).strip().strip("\"'"))
    out.title = next((values[key] for key in _TITLE_KEYS if values.get(key)), "")
    out.date = next((date for key in _DATE_KEYS if (date := parse_date(values.get(key, ""))) is not None), None)
    for key in ("author", "tags", "description"):
        if values.get(key):
            out.metadata.append((key, values[key]))
    out.add(text, BlockKind.HEADER)


def _pieces(text: str) -> Iterator[tuple[BlockKind, int, str]]:
    """Gives (kind, heading level or 0, text) of each block in order."""
    if "<!--" in text:
        text = without_spans(text, *_COMMENT)
    lines = text.split("\n")
    held: list[str] = []
    at = 0
    while at < len(lines):
        line = lines[at]
        fence = _FENCE.match(line)
        if fence:
            yield from _flush(held)
            end = _fence_end(lines, at + 1, fence.group(1))
            yield BlockKind.CODE, 0, "\n".join(lines[at + 1 : end])
            at = end + 1
            continue
        heading = _HEADING.match(line)
        if heading:
            yield from _flush(held)
            yield BlockKind.HEADING, len(heading.group(1)), heading.group(2) or ""
        elif held and len(held) == 1 and _SETEXT.match(line) and held[0].strip():
            yield BlockKind.HEADING, 1 if line.strip()[0] == "=" else 2, held[0].strip()
            held.clear()
        elif not line.strip():
            yield from _flush(held)
        elif not (_RULE.match(line) or _REFERENCE.match(line)):
            held.append(line)
        at += 1
    yield from _flush(held)


def _fence_end(lines: list[str], start: int, fence: str) -> int:
    for at in range(start, len(lines)):
        stripped = lines[at].strip()
        if stripped.startswith(fence) and set(stripped) == {fence[0]}:
            return at
    return len(lines)


def _flush(held: list[str]) -> Iterator[tuple[BlockKind, int, str]]:
    if not held:
        return
    if len(held) > 1 and "|" in held[0] and _TABLE_RULE.match(held[1]):
        rows = [held[0], *held[2:]]
        yield BlockKind.TABLE, 0, "\n".join(_row(row) for row in rows)
    elif all(line.startswith(("    ", "\t")) for line in held):
        yield BlockKind.CODE, 0, "\n".join(line[4:] if line.startswith("    ") else line[1:] for line in held)
    else:
        yield BlockKind.PARAGRAPH, 0, "\n".join(_unquoted(line) for line in held)
    held.clear()


def _row(line: str) -> str:
    return "\t".join(cell.strip() for cell in line.strip().strip("|").split("|"))


def _unquoted(line: str) -> str:
    return re.sub(r"^ {0,3}(?:> ?)+", "", line)
