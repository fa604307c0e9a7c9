"""Org mode: headings, keywords, blocks, tables and links."""

from __future__ import annotations

import re
from bisect import bisect_left

from sbert_desktop.domain import BlockKind, ExtractedText
from sbert_desktop.extraction._builder import TextBuilder
from sbert_desktop.extraction._dates import parse_date
from sbert_desktop.extraction._normalise import normalise, one_line
from sbert_desktop.extraction._problems import failure
from sbert_desktop.extraction._source import Source
from sbert_desktop.extraction._text import decode_text

_HEADING = re.compile(r"^(\*{1,20})\s+(.*?)(?:\s+(:[\w@#%:]{1,200}:))?\s*$")
_STATE = re.compile(r"^(?:TODO|DONE|NEXT|WAITING|HOLD|CANCELLED|CANCELED|STARTED|SOMEDAY)\s+")
_PRIORITY = re.compile(r"^\[#[A-Z0-9]\]\s*")
_KEYWORD = re.compile(r"^\s*#\+([A-Za-z_]{1,40}):\s*(.*)$")
_BEGIN = re.compile(r"^\s*#\+BEGIN_(\w{1,40})", re.IGNORECASE)
_DRAWER = re.compile(r"^\s*:([\w-]{1,40}):\s*$")
_DRAWER_END = re.compile(r"^\s*:END:\s*$", re.IGNORECASE)
_LONGEST_DRAWER = 200  # lines
_RULE = re.compile(r"^\s*\|[-+|]+\s*$|^\s*-{5,}\s*$")
_LINK = re.compile(r"\[\[([^\[\]\n]{1,1000})\](?:\[([^\[\]\n]{1,1000})\])?\]")
_TARGET = re.compile(r"<{2,3}([^<>\n]{1,200})>{2,3}")
_MARK = re.compile(r"""(?<![\w*/_=~+])([*/_=~+])(?=\S)([^\n]{1,150}?)(?<=\S)\1(?![\w*/_=~+])""")
_DATE = re.compile(r"[<\[](\d{4}-\d{2}-\d{2})")
_CODE = {"src", "example", "export", "latex", "html"}


def read(source: Source) -> ExtractedText:
    """Reads Org mode.

    Raises:
        ExtractionError: ``empty``.
    """
    out = TextBuilder("org")
    write_org(normalise(decode_text(source.data)).split("\n"), out)
    extracted = out.finish()
    if not extracted.blocks:
        raise failure("empty")
    return extracted


def write_org(lines: list[str], out: TextBuilder) -> None:
    """Adds the blocks of Org lines; sets title and date where they have them."""
    held: list[str] = []
    first_heading = ""
    ends = [number for number, line in enumerate(lines) if _DRAWER_END.match(line)]
    at = 0
    while at < len(lines) and not out.full:
        line = lines[at]
        at += 1
        heading = _HEADING.match(line)
        begin, drawer, keyword = _BEGIN.match(line), _DRAWER.match(line), _KEYWORD.match(line)
        plain_line = bool(line.strip()) and not (
            heading or begin or drawer or keyword or line.startswith(("# ", "#\t")) or line.strip() == "#")
        table = line.lstrip().startswith("|")
        if held and (not plain_line or table != held[-1].lstrip().startswith("|")):
            _flush(held, out)
        if heading:
            text = _PRIORITY.sub("", _STATE.sub("", heading[2]))
            first_heading = first_heading or plain(text)
            out.add_heading(plain(text) + (f" {heading[3]}" if heading[3] else ""), len(heading[1]))
        elif begin:
            end = _end_of(lines, at, rf"^\s*#\+END_{re.escape(begin[1])}\b")
            _write_block(begin[1].lower(), lines[at:end], out)
            at = end + 1
        elif drawer and drawer[1].upper() != "END":
            following = bisect_left(ends, at)
            end = ends[following] if following < len(ends) else len(lines)
            if end < min(len(lines), at + _LONGEST_DRAWER):
                out.add("\n".join(lines[at:end]), BlockKind.FURNITURE)
                at = end + 1
        elif keyword:
            _write_keyword(keyword[1].lower(), keyword[2].strip(), out)
        elif plain_line:
            held.append(line)
    _flush(held, out)
    out.title = out.title or first_heading


def _write_keyword(key: str, value: str, out: TextBuilder) -> None:
    if key == "title":
        out.title = plain(f"{out.title} {value}".strip())
        out.add(plain(value), BlockKind.HEADER)
    elif key == "date":
        found = _DATE.search(value)
        out.date = parse_date(found[1] if found else value)
    elif key in {"author", "description", "keywords", "subtitle", "email"}:
        out.metadata.append((key, value))
        out.add(plain(value), BlockKind.HEADER)
    elif key == "caption":
        out.add(plain(value))


def _write_block(kind: str, lines: list[str], out: TextBuilder) -> None:
    if kind == "comment":
        return
    if kind in _CODE:
        out.add_code("\n".join(lines), out.heading)
    else:  # quote, verse, center and special blocks
        for piece in re.split(r"\n\s*\n", "\n".join(lines)):
            out.add(plain(piece))


def _end_of(lines: list[str], start: int, pattern: str) -> int:
    found = re.compile(pattern, re.IGNORECASE)
    for at in range(start, len(lines)):
        if found.match(lines[at]):
            return at
    return len(lines)


def _flush(held: list[str], out: TextBuilder) -> None:
    if held and held[0].lstrip().startswith("|"):
        rows = ["\t".join(plain(cell.strip()) for cell in line.strip().strip("|").split("|"))
                for line in held if not _RULE.match(line)]
        out.add("\n".join(rows), BlockKind.TABLE)
    elif held and all(line.lstrip().startswith(": ") or line.strip() == ":" for line in held):
        out.add_code("\n".join(line.lstrip()[2:] for line in held), out.heading)
    elif held:
        out.add(plain("\n".join(line for line in held if not _RULE.match(line))))
    held.clear()


def plain(text: str) -> str:
    """Takes links, targets and emphasis away from a piece of Org; keeps their text."""
    if "[[" in text:
        text = _LINK.sub(lambda match: match[2] or match[1], text)
    if "<<" in text:
        text = _TARGET.sub(r"\1", text)
    for _ in range(2):
        text = _MARK.sub(r"\2", text)
    return one_line(text, 100_000) if "\n" not in text else text
