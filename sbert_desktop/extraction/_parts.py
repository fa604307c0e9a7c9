"""Huge texts in parts: plain text is decoded as a stream, any other long text is cut at block borders."""

from __future__ import annotations

import codecs
import html
import re
from bisect import bisect_right
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import BinaryIO

from sbert_desktop.domain import Block, ExtractedText, Run
from sbert_desktop.extraction._builder import TextBuilder
from sbert_desktop.extraction._container import Member, Members, MembersOf
from sbert_desktop.extraction._encoding import decode
from sbert_desktop.extraction._normalise import normalise, tidy_lines
from sbert_desktop.extraction._problems import failure
from sbert_desktop.extraction._registry import BY_NAME
from sbert_desktop.extraction._source import Source

PART = 4_000_000
"""Characters of a part, and bytes from which on a text is read in parts. Source: RELIABILITY R1 (4 MB parts)."""
STREAMED = frozenset(("txt", "data", "xml", "table", "code", "md", "rst", "org", "adoc", "tex", "subtitles",
                      "html"))
_WHOLE = {"html": 4}
"""So many parts are still read as a whole: the frame around an article is told best there. Memory is 34 times
the page's size (measured)."""
_BLOCK = 1 << 20
_SAMPLE = 1 << 18
_HIGH = re.compile(rb"[\x80-\xff]")
_DECLARED = re.compile(rb"""(?:encoding|coding|charset)\s*[=:]\s*["']?([A-Za-z0-9._:-]{2,40})""")
_LAST_SHARE = 0.25  # a border is looked for in the last quarter of a part
_BORDERS = (re.compile(r"\n[ \t]*\n"), re.compile(r"\n"), re.compile(r"[.!?。！？]['\"”’)]*\s|[。！？]"),
            re.compile(r"[}\]>][,\s]?"), re.compile(r"[\s,;]"))
_RECORD = (re.compile(r"\nEND:(?:VEVENT|VTODO|VJOURNAL|VCARD)[ \t\r]*\n", re.IGNORECASE),)
_OWN_BORDERS: Mapping[str, Sequence[re.Pattern[str]]] = {
    **dict.fromkeys(("ics", "ical", "ifb", "vcf", "vcard"), _RECORD),
    "html": (re.compile(r"</(?:p|div|section|article|tr|li|table|h[1-6])\s{0,9}>", re.IGNORECASE),)}
"""Where a part of such a text may end without losing what it cuts in two."""
_DATA_URI = re.compile(r"data:[\w/+.;=-]{0,100},[A-Za-z0-9+/=%]{200,}")
_TAGS = re.compile(r"<[^<>]*>")
_BLANK = re.compile(r"\n\s*\n\s*")
_LONGEST_HEADER = 4000
_ASS_FORMAT = re.compile(r"^\[Events\]\s*?\nFormat:[^\n]{0,1000}", re.MULTILINE | re.IGNORECASE)


def streamed(name: str, size: int) -> MembersOf | None:
    """Gives the generator that reads a text of this format and size in parts; None for a whole one."""
    return partial(_members, name) if name in STREAMED and size > PART * _WHOLE.get(name, 1) else None


def _members(name: str, source: Source, cursor: str = "") -> Members:
    title: list[str] = []
    with source.stream() as stream:
        encoding = encoding_of(stream)
        stream.seek(0)
        header = ""
        borders = (*_OWN_BORDERS.get(source.suffix if name == "data" else name, ()), *_BORDERS)
        for number, text in enumerate(_pieces(_decoded(stream, encoding), borders), 1):
            whole = header + text
            if number == 1:
                header = _header(name, source.suffix, text)
            yield Member(f"part {number}", load=partial(_read, name, source, whole, title))
    return None


def _header(name: str, suffix: str, text: str) -> str:
    """Gives the lines of the first part that the others need in front of theirs to be understood."""
    if name == "table":
        from sbert_desktop.extraction._table import header_lines

        header = header_lines(text[: 2 * _LONGEST_HEADER], suffix)
        return header if len(header) <= _LONGEST_HEADER else ""
    if suffix in {"ass", "ssa"}:  # which column of a line is what
        match = _ASS_FORMAT.search(text[:_SAMPLE])
        return f"{match[0]}\n" if match else ""
    return ""


def encoding_of(stream: BinaryIO) -> str:
    """Decides the encoding of a stream from its mark, its head, and the first bytes beyond ASCII."""
    stream.seek(0)
    sample = stream.read(_SAMPLE)
    match = _DECLARED.search(sample[:400]) or (_DECLARED.search(sample[:4096]) if b"<meta" in sample[:4096] else None)
    declared = match.group(1).decode("ascii") if match else ""
    start = sample
    while start and not _HIGH.search(start) and b"\0" not in start and b"\x1b" not in start:
        start = stream.read(_BLOCK)
    if start is not sample:
        found = _HIGH.search(start)
        if found is None:
            return "utf-8"
        sample = start[max(0, found.start() - 2000) : found.start() + _SAMPLE]
    if not sample.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) and b"\0" not in sample:
        sample = _whole_characters(sample)
    return decode(sample, declared)[1]


def _whole_characters(sample: bytes) -> bytes:
    """Leaves out a last line or character that the sample cuts in two."""
    line = sample.rfind(b"\n")
    if line > len(sample) // 2:
        return sample[: line + 1]
    space = sample.rfind(b" ")
    if space > len(sample) // 2:
        return sample[:space]
    for back in range(1, min(4, len(sample)) + 1):
        if sample[-back] >= 0xC0:
            return sample[:-back]
        if sample[-back] < 0x80:
            break
    return sample


def _decoded(stream: BinaryIO, encoding: str) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    while block := stream.read(_BLOCK):
        yield decoder.decode(block)
    yield decoder.decode(b"", final=True)


def _pieces(texts: Iterator[str], borders: Sequence[re.Pattern[str]]) -> Iterator[str]:
    """Cuts a stream of text into parts at a paragraph, line, sentence or other border where there is one."""
    held: list[str] = []
    size = 0
    for text in texts:
        held.append(text)
        size += len(text)
        while size >= PART:
            whole = "".join(held)
            at = border(whole, PART, borders)
            yield whole[:at]
            held, size = [whole[at:]], len(whole) - at
    if size:
        yield "".join(held)


def border(text: str, most: int, borders: Sequence[re.Pattern[str]] = _BORDERS) -> int:
    """Gives the best place to cut a text at or before a length."""
    low = int(most * (1 - _LAST_SHARE))
    for pattern in borders:
        for window in (max(low, most - 100_000), low):  # close to the end is found soonest
            last = deque(pattern.finditer(text, window, most), maxlen=1)
            if last:
                return last[0].end()
            if window == low:
                break
    return most


def _read(name: str, source: Source, text: str, title: list[str]) -> ExtractedText:
    """Reads one part in the format's own reader; all parts carry the title of the first."""
    from sbert_desktop.extraction._extract import with_language

    if name == "xml":
        document = _read_xml(source, text)
    else:
        if name == "html":
            text = _DATA_URI.sub("", text)
        data = codecs.BOM_UTF8 + text.encode("utf-8", "replace")
        document = BY_NAME[name].reader()(Source(source.name, data))
    if not title:
        title.append(document.title)
    return with_language(replace(document, title=title[0]))


def _read_xml(source: Source, text: str) -> ExtractedText:
    """Takes the tags away: a part of a file is no XML that a parser would read. Entities stay unresolved."""
    from sbert_desktop.extraction._markup import without_hidden

    plain = html.unescape(_TAGS.sub("\n", without_hidden(text)))
    out = TextBuilder(source.suffix or "xml")
    lines: list[str] = []
    for piece in _BLANK.split(normalise(plain)):
        lines.append(tidy_lines(piece))
        if sum(map(len, lines)) > 2000:
            out.add("\n".join(lines), ready=True)
            lines = []
    out.add("\n".join(lines), ready=True)
    document = out.finish()
    if not document.blocks:
        raise failure("empty")
    return document


# ---------------------------------------------------------------- a text that was read as a whole


def cut(document: ExtractedText, most: int = PART) -> list[ExtractedText]:
    """Cuts a long document at block borders into documents of at most ``most`` characters.

    A block that is longer by itself is cut, too. Offsets of blocks and runs are those of the part.
    """
    if len(document.text) <= most:
        return [document]
    parts: list[ExtractedText] = []
    held: list[Block] = []
    for block in _short_blocks(document, most):
        if held and block.end - held[0].start > most:
            parts.append(_part(document, held, len(parts)))
            held = []
        held.append(block)
    if held:
        parts.append(_part(document, held, len(parts)))
    return parts


def _short_blocks(document: ExtractedText, most: int) -> Iterator[Block]:
    for block in document.blocks:
        while block.end - block.start > most:
            at = block.start + border(document.text[block.start : block.start + most], most)
            starts = [run.text_start for run in block.runs]
            between = bisect_right(starts, at - 1)
            first, rest = list(block.runs[:between]), list(block.runs[between:])
            if first and first[-1].text_start + first[-1].length > at:  # a run across the cut
                last = first[-1]
                kept = at - last.text_start
                first[-1] = replace(last, length=kept)
                rest.insert(0, Run(at, last.page, last.char_start + kept, last.length - kept, last.box))
            yield replace(block, end=at, runs=tuple(first))
            block = replace(block, start=at, runs=tuple(rest))
        yield block


def _part(document: ExtractedText, blocks: list[Block], number: int) -> ExtractedText:
    start, end = blocks[0].start, blocks[-1].end
    moved = tuple(
        replace(block, start=block.start - start, end=block.end - start,
                runs=tuple(replace(run, text_start=run.text_start - start) for run in block.runs))
        for block in blocks)
    return replace(document, text=document.text[start:end], blocks=moved,
                   problems=document.problems if number == 0 else ())
