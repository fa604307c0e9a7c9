"""Finds the quotations of a text: what stands in quotation marks of any script, and block quotes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sbert_desktop.explore.wording import Gap, Span, Wording

LEAST_WORDS = 4
"""Fewer words in quotation marks are a term or a title, not a quotation."""
_SIGNS_PER_WORD = 2
"""Signs of a script without spaces that count as one word. Source: Chinese and Japanese words mostly have two."""
_LONGEST = 12_000
"""Characters after which a mark that was not closed is a stray one."""
_NESTED = 12
"""Quotations inside each other that are followed; of more open marks the outer ones are strays."""
_BRACKET_WORDS = 8
"""Words of a source that a bracket of the quoting person may stand for."""

# Opening mark -> marks that close it. A mark may close in one country what it opens in another.
_PAIRS = {
    "“": "”",
    "„": "“”‟",
    "”": "”",
    "‟": "”",
    "«": "»",
    "»": "«»",
    "‹": "›",
    "›": "‹›",
    "‘": "’",
    "‚": "‘’",
    "’": "’",
    '"': '"',
    "'": "'",
    "「": "」",
    "『": "』",
    "﹁": "﹂",
    "﹃": "﹄",
    "〝": "〞〟",
    "＂": "＂",
}
_APOSTROPHES = "'’"
_FACING = "“„‟«‹‘‚「『﹁﹃〝"
"""Marks that open by their shape; the others only where they stand before a word and after none."""
_MARKS = re.compile("[" + re.escape("".join(dict.fromkeys("".join(_PAIRS) + "".join(_PAIRS.values())))) + "]")
_BLANK_LINE = re.compile(r"\r?\n[ \t]*\r?\n\s*")
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|$)")
_MAIL_MARK = re.compile(r"[ \t]{0,3}(?:>[ \t]?)+")
_INDENT = re.compile(r"(?: {4,}|\t)[ \t]*(?=\S)")
_LIST = re.compile(r"(?:[-*+•‣▪–—]|\(?(?:\d{1,3}|[A-Za-z])[.)])[ \t]")
_CUT_OFF = re.compile(r"(?:tis|twas|twere|twill|til|till|em|cause|bout|round|n|s)\b", re.IGNORECASE)
"""What is written with an apostrophe before it."""
_CODE = re.compile(r"(?:[;{}]|\)\s*:|=>|->)\s*$|^\s*(?:def|class|import|return|#include|\$ )\b", re.MULTILINE)
_ATTRIBUTION = re.compile(r"(?:\s*\([^()\n]{0,80}\d[^()\n]{0,40}\)|\n[\s>]*(?:[—–―]|--)[^\n]{2,100})[.\s]*$")
_GAP = re.compile(
    r"(?P<any>\[\s*(?:\.(?:\s?\.)+|…)\s*\]|\(\s*(?:\.(?:\s?\.){2,}|…)\s*\)|\.(?:\s?\.){2,}|…)"
    r"|(?P<few>(?<!\w)\[[^\[\]]{1,200}\](?!\w))"
)
# Source: CommonMark 0.31 (4.5, fenced code), the manuals of Org mode and AsciiDoc.
_CODE_BEGINS = {
    ".md": re.compile(r"[\s>]*(?:(?:[-*+]|\d{1,9}[.)])\s+)?(?P<mark>`{3,}(?=[^`]*$)|~{3,})"),
    ".org": re.compile(r"\s*(?P<mark>#)\+begin_(?P<kind>src|example)\b", re.IGNORECASE),
    ".adoc": re.compile(r"(?P<mark>-{4,}|\.{4,})\s*$"),
}
_CODE_BEGINS[".markdown"] = _CODE_BEGINS[".mdown"] = _CODE_BEGINS[".md"]
_ANNOUNCES_CODE = re.compile(r"^(?!\s*\.\. ).*::\s*$|^\s*\.\. (?:code|code-block|sourcecode|parsed-literal)::")
_NUMBERS = re.compile(r"\[[\d,;–\- ]+\]")


@dataclass(frozen=True, slots=True)
class Quotation:
    """One quotation: code points of the draft, without its marks. ``within``: number of the one around it."""

    text: str
    start: int
    end: int
    within: int | None = None


@dataclass(frozen=True, slots=True)
class Quoted:
    """A quotation's words, with the places where something was left out or put in brackets."""

    wording: Wording
    gaps: tuple[Gap, ...]


def find_quotations(
    text: str, *, leave_out: Sequence[Span] = (), set_apart: Sequence[Span] = ()
) -> tuple[Quotation, ...]:
    """Gives the quotations of a text in the order of their beginnings.

    Args:
        text: The draft.
        leave_out: Stretches without quotations (code, mail heads).
        set_apart: Stretches that the document's own form marks as quotations.
    """
    marked = {span for part in set_apart if (span := _without_attribution(text, part))[0] < span[1]}
    spans = sorted({*_block_quotes(text), *_in_marks(text), *marked}, key=lambda span: (span[0], -span[1]))
    found: list[Quotation] = []
    open_ones: list[int] = []
    for start, end in spans:
        if not _is_long_enough(text[start:end]) or any(low < end and start < high for low, high in leave_out):
            continue
        while open_ones and found[open_ones[-1]].end < end:
            open_ones.pop()
        around = open_ones[-1] if open_ones else None
        if around is not None and _same(text, found[around], (start, end)):
            continue
        found.append(Quotation(text[start:end], start, end, around))
        open_ones.append(len(found) - 1)
    return tuple(found)


def find_code(text: str, form: str) -> tuple[Span, ...]:
    """Gives the stretches of a draft that its markup sets apart as code.

    Args:
        text: The draft as it stands in its file.
        form: Its suffix: ``.md``, ``.org``, ``.adoc``, ``.rst``; in others nothing is code.
    """
    if form == ".rst":
        return _indented_code(text)
    begins = _CODE_BEGINS.get(form)
    if begins is None:
        return ()
    spans: list[Span] = []
    start, closer = 0, ""  # closer: what ends the stretch that is open
    for match in _LINE.finditer(text):
        line = match.group().rstrip()
        if not closer:
            begin = begins.match(line)
            if begin is not None:
                start, closer = match.start(), _closer(begin)
        elif re.fullmatch(closer, line, re.IGNORECASE):
            spans.append((start, match.end()))
            closer = ""
    if closer:  # it runs to the end
        spans.append((start, len(text)))
    return tuple(spans)


def _closer(begin: re.Match[str]) -> str:
    """Gives what the line is like that ends a stretch of code which begins so."""
    mark = begin["mark"]
    if mark[0] in "`~":
        return rf"[\s>]*{re.escape(mark[0])}{{{len(mark)},}}"
    if mark[0] == "#":
        return rf"\s*#\+end_{begin['kind']}"
    return re.escape(mark)


def _indented_code(text: str) -> tuple[Span, ...]:
    """Gives the indented stretches behind a line that ends in ``::``, and behind the directives for code."""
    spans: list[Span] = []
    indent = -1  # of the line that announced it
    for match in _LINE.finditer(text):
        line = match.group()
        own = len(line) - len(line.lstrip())
        if line.strip() and own <= indent:
            indent = -1
        if indent >= 0 and line.strip():
            spans.append(match.span())
        elif indent < 0 and _ANNOUNCES_CODE.search(line):
            indent = own
    return tuple(spans)


def quoted_words(text: str) -> Quoted:
    """Gives the words of a quotation; what was left out (``…``, ``[...]``) or put in (``[The]``) are gaps.

    ``[T]he`` is one word.
    """
    kept: list[Span] = []
    cuts: list[tuple[int, bool]] = []
    at = 0
    for match in _GAP.finditer(text):
        if match.lastgroup == "few" and _NUMBERS.fullmatch(match.group()):
            continue
        kept.append((at, match.start()))
        cuts.append((len(kept), match.lastgroup == "any"))
        at = match.end()
    kept.append((at, len(text)))
    wording = Wording(text, kept)
    gaps: dict[int, int | None] = {}
    for number, unlimited in cuts:
        before = sum(1 for span in wording.spans if span[1] <= kept[number - 1][1])
        if not 0 < before < len(wording):
            continue
        few = 0 if unlimited else _BRACKET_WORDS
        known = gaps.get(before, 0)
        gaps[before] = None if unlimited or known is None else max(known, few)
    return Quoted(wording, tuple(Gap(place, most) for place, most in sorted(gaps.items())))


def _is_long_enough(text: str) -> bool:
    words = quoted_words(text).wording.words
    signs = sum(len(word) == 1 and not word.isascii() and word.isalpha() for word in words)
    return len(words) - signs + signs / _SIGNS_PER_WORD >= LEAST_WORDS


def _same(text: str, around: Quotation, span: Span) -> bool:
    """Tells whether an inner one is all that the outer one says: a block quote that also has its marks."""
    rest = text[around.start : span[0]] + text[span[1] : around.end]
    return not Wording(rest).words


# ---------------------------------------------------------------- marks


def _in_marks(text: str) -> list[Span]:
    spans: list[Span] = []
    open_marks: list[tuple[str, int]] = []
    borders = [(match.start(), match.end()) for match in _BLANK_LINE.finditer(text)]
    border, repeated = 0, -1
    for match in _MARKS.finditer(text):
        at, mark = match.start(), match.group()
        while border < len(borders) and borders[border][1] <= at:
            open_marks = _carried_over(text, open_marks, borders[border][1])
            border += 1
            if open_marks and at == borders[border - 1][1]:
                repeated = at
        if at == repeated:
            continue
        open_marks = [entry for entry in open_marks if at - entry[1] <= _LONGEST]
        place = _closed_by(text, open_marks, at, mark)
        if place is not None:
            spans.append((open_marks[place][1] + 1, at))
            del open_marks[place:]
        elif _opens(text, at, mark) and not any(entry[0] == mark and mark in _PAIRS[mark] for entry in open_marks):
            open_marks = [*open_marks[1 - _NESTED :], (mark, at)]
    return [_trimmed(text, span) for span in spans]


def _carried_over(text: str, open_marks: list[tuple[str, int]], paragraph: int) -> list[tuple[str, int]]:
    """At a new paragraph: a quotation goes on only if the paragraph begins with its opening mark again."""
    first = text[paragraph : paragraph + 1]
    for number, (mark, _) in enumerate(open_marks):
        if mark == first and mark in _FACING:
            return open_marks[: number + 1]
    return []


def _closed_by(text: str, open_marks: Sequence[tuple[str, int]], at: int, mark: str) -> int | None:
    before, after = text[at - 1 : at], text[at + 1 : at + 2]
    if not before or (before.isspace() and mark not in "»›«‹"):
        return None
    for number in range(len(open_marks) - 1, -1, -1):
        opening, start = open_marks[number]
        if mark not in _PAIRS[opening] or start == at - 1:
            continue
        if mark in _APOSTROPHES and (after.isalnum() or _is_apostrophe(text, at, opening)):
            return None
        if mark in _FACING and opening in "»›" and before.isspace():
            return None
        return number
    return None


def _is_apostrophe(text: str, at: int, opening: str) -> bool:
    """Tells the apostrophe of "the dogs' bones" from the end of a quotation: one that ends it comes later."""
    if text[at - 1] not in "sSxXzZ" or not re.match(r"\s+\w", text[at + 1 : at + 8]):
        return False
    end = _BLANK_LINE.search(text, at)
    rest = text[at + 1 : min(end.start() if end else len(text), at + _LONGEST)]
    for later in re.finditer(rf"[{opening}{_APOSTROPHES}]", rest):
        around = rest[max(0, later.start() - 1) : later.end() + 1]
        if later.group() in _PAIRS[opening] and not around[-1].isalnum() and not around[:1].isspace():
            return True
        if later.group() == opening and around[:1].isspace():
            return False
    return False


def _opens(text: str, at: int, mark: str) -> bool:
    if mark not in _PAIRS:
        return False
    before, after = text[at - 1 : at] if at else "", text[at + 1 : at + 2]
    if not after or (after.isspace() and mark not in "«‹»›"):
        return False
    if mark in _FACING:
        return not (mark in "‘‚" and before.isalnum())
    if mark in _APOSTROPHES and (not (after.isalpha() or after in '[(“"…¿¡') or _CUT_OFF.match(text, at + 1)):
        return False
    return not before or before.isspace() or before in "([{—–-/:=>“‘«„‹" or before in "「『（，。：；、"


def _trimmed(text: str, span: Span) -> Span:
    start, end = span
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


# ---------------------------------------------------------------- block quotes


def _block_quotes(text: str) -> list[Span]:
    lines = [match.span() for match in _LINE.finditer(text) if match.end() > match.start()]
    spans = _marked_lines(text, lines)
    paragraphs = _paragraphs(text, lines)
    indented = [part for part in paragraphs if all(_INDENT.match(text, *line) for line in part)]
    if len(indented) * 2 > len(paragraphs) and len(paragraphs) > 1:
        indented = [part for part in indented if len(part) > 1]  # here every paragraph begins with an indent
    for part in indented:
        start, end = part[0][0], part[-1][1]
        stretch = text[start:end]
        if not _LIST.match(stretch.lstrip()) and not _CODE.search(stretch):
            spans.append((start, end))
    return [span for span in (_without_attribution(text, span) for span in spans) if span[0] < span[1]]


def _marked_lines(text: str, lines: Sequence[Span]) -> list[Span]:
    """Gives the runs of lines that begin with ``>``."""
    spans: list[Span] = []
    goes_on = False
    for start, end in lines:
        match = _MAIL_MARK.match(text, start, end)
        if match is None:
            goes_on = False
            continue
        empty = not text[match.end() : end].strip()
        if goes_on and not empty:
            spans[-1] = (spans[-1][0], end)
        elif not empty:
            spans.append((match.end(), end))
        goes_on = not empty
    return spans


def _paragraphs(text: str, lines: Sequence[Span]) -> list[list[Span]]:
    parts: list[list[Span]] = [[]]
    for start, end in lines:
        if text[start:end].strip():
            parts[-1].append((start, end))
        elif parts[-1]:
            parts.append([])
    return [part for part in parts if part]


def _without_attribution(text: str, span: Span) -> Span:
    start, end = _trimmed(text, span)
    found = _ATTRIBUTION.search(text, max(start, end - 200), end)
    return _trimmed(text, (start, found.start())) if found and found.start() > start else (start, end)
