"""Text as the Search page shows it: one-line snippets, spans that follow, UTF-16 offsets.

Pure functions, no Qt. Everything the program stores counts in code points; Qt counts in UTF-16
units, and a list shows whitespace collapsed. Each function here keeps spans on the same words.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from sbert_desktop.domain import display_path

Span = tuple[int, int]

# Beyond the Basic Multilingual Plane a code point takes two UTF-16 units.
_ASTRAL = re.compile("[\U00010000-\U0010ffff]")
# Dropped from snippets: overrides and embeddings that could show a text in a wrong order, and soft
# or zero-width marks that would only split words. Joiners stay: scripts and emoji need them.
_DROPPED = frozenset(
    [0x00AD, 0x200B, 0xFEFF, 0x200E, 0x200F, 0x061C, *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
)
_SENTENCE_END = re.compile(r"[.!?。！？…][\"'”’)\]]*\s+")
_LEAD = 48  # code points of an unfinished thought that may stand before the best sentence
_LEAST = 120  # a window at the end of a passage begins earlier, so that its second line is not left empty


class Utf16Map:
    """Converts between code points and UTF-16 units of one text, both ways, in O(log n)."""

    def __init__(self, text: str) -> None:
        self._points = [] if text.isascii() else [found.start() for found in _ASTRAL.finditer(text)]
        self._units = [point + number for number, point in enumerate(self._points)]

    def unit(self, point: int) -> int:
        """Gives the UTF-16 offset of a code point offset."""
        return point + bisect_left(self._points, point)

    def point(self, unit: int) -> int:
        """Gives the code point offset of a UTF-16 offset; the middle of a pair counts as its start."""
        before = bisect_left(self._units, unit)
        if before and self._units[before - 1] == unit - 1:  # between the two halves of a pair
            return self._points[before - 1]
        return unit - before

    def span(self, span: Span) -> Span:
        """Gives a span's UTF-16 start and length."""
        start = self.unit(span[0])
        return start, self.unit(span[1]) - start


def drawable(text: str) -> str:
    """Gives the text with every character that Qt would drop, join or break replaced, length kept.

    Carriage returns become spaces (QTextDocument would swallow them and shift all offsets), other
    control characters and lone surrogates become U+FFFD; tabs and line feeds stay.
    """
    return text.translate(_DRAWABLE)


_DRAWABLE: dict[int, str] = dict.fromkeys((*range(32), *range(127, 160), *range(55296, 57344)), "�")
_DRAWABLE.update({9: "\t", 10: "\n", 13: " ", 0x0B: " ", 0x0C: " ", 0x85: " ", 0x2028: " ", 0x2029: " ", 0xFDD0: "�",
                  0xFDD1: "�"})


def one_line(name: str) -> str:
    """Gives a name or title as harmless text on one line: controls and bidi signs made visible."""
    return display_path(re.sub("[\ud800-\udbff]|[\udc00-\udc7f]|[\udd00-\udfff]", "�", name))


def collapse(text: str, spans: Sequence[Span] = ()) -> tuple[str, tuple[Span, ...]]:
    """Gives the text with each run of whitespace as one space, and the spans on the same words.

    Args:
        text: Any text.
        spans: Half-open code point ranges; parts outside the text are cut off.

    Returns:
        The collapsed text without space at its ends, and one span per span given (empty where a
        span held nothing that is shown). No span begins or ends with a space.
    """
    out: list[str] = []
    places = [0] * (len(text) + 1)
    for number, ch in enumerate(text):
        places[number] = len(out)
        code = ord(ch)
        if code in _DROPPED:
            continue
        if ch.isspace() or code < 32 or 0x7F <= code < 0xA0:
            if out and out[-1] != " ":
                out.append(" ")
        else:
            out.append("�" if 0xD800 <= code < 0xE000 else ch)
    places[len(text)] = len(out)
    if out and out[-1] == " ":
        out.pop()
    result = "".join(out)
    return result, tuple(_moved(span, places, result) for span in spans)


def _moved(span: Span, places: Sequence[int], text: str) -> Span:
    last = len(places) - 1
    start, end = max(0, min(span[0], last)), max(0, min(span[1], last))
    if end < start:
        end = start
    start, end = min(places[start], len(text)), min(places[end], len(text))
    while start < end and text[start] == " ":
        start += 1
    while end > start and text[end - 1] == " ":
        end -= 1
    return start, end


@dataclass(frozen=True, slots=True)
class Snippet:
    """A stretch of a passage as the list shows it; ``mark`` is the best sentence, if any."""

    text: str
    mark: Span | None
    words: tuple[Span, ...]


def make_snippet(text: str, sentence: Span | None, words: Sequence[Span], size: int = 400) -> Snippet:
    """Cuts a window out of a passage: around its best sentence, else where the found words lie.

    Args:
        text: The passage.
        sentence: The best sentence, relative to the passage.
        words: The found words, relative to the passage.
        size: Code points that the window holds at most, ellipses not counted.

    Returns:
        The window with collapsed whitespace and spans relative to it. An ellipsis stands at a
        side where text was left out.
    """
    wanted = list(words)
    flat, moved = collapse(text, ([sentence] if sentence else []) + wanted)
    mark = moved[0] if sentence else None
    found = [span for span in moved[1 if sentence else 0 :] if span[1] > span[0]]
    if mark is not None and mark[1] <= mark[0]:
        mark = None
    start = _window_start(flat, mark, found, size)
    end = min(len(flat), start + size)
    if end < len(flat):
        cut = flat.rfind(" ", start + size // 2, end)
        end = cut if cut > (start if mark is None else max(start, mark[0])) else end
    head = "… " if start else ""
    shift = len(head) - start
    kept = tuple((s + shift, min(e, end) + shift) for s, e in found if s >= start and s < end)
    shown = None
    if mark is not None and mark[0] < end:
        shown = (mark[0] + shift, min(mark[1], end) + shift)
    return Snippet(head + flat[start:end] + (" …" if end < len(flat) else ""), shown, kept)


def _window_start(flat: str, mark: Span | None, words: Sequence[Span], size: int) -> int:
    if mark is not None:
        if mark[0] <= _LEAD:
            return 0
        # A short sentence before the marked one gives it a context; a long one would push it away.
        before = flat[max(0, mark[0] - _LEAD) : mark[0] - 1]
        ends = [found.end() for found in _SENTENCE_END.finditer(before + " ")]
        ends = [end for end in ends if end < len(before)]
        start = max(0, mark[0] - _LEAD) + ends[0] if ends else mark[0]
        if not ends and len(flat) - start < _LEAST:
            cut = flat.find(" ", max(0, len(flat) - _LEAST, mark[0] - _LEAD), start)
            start = cut + 1 if cut >= 0 else start
        return start
    if not words:
        return 0
    best, most = words[0][0], 0
    for start, _ in words:
        inside = {flat[s:e].casefold() for s, e in words if start <= s and e <= start + size // 2}
        if len(inside) > most:
            best, most = start, len(inside)
    if best <= _LEAD:
        return 0
    cut = flat.find(" ", best - _LEAD // 2, best)
    return cut + 1 if cut >= 0 else best


def count_words(text: str, words: Sequence[Span]) -> tuple[tuple[str, int], ...]:
    """Gives the found words of a passage with how often each stands in it, most frequent first."""
    counted = Counter(text[start:end].casefold() for start, end in words if end > start)
    return tuple(counted.most_common())


def ordinal(number: int) -> str:
    """Gives 1st, 2nd, 3rd, 4th, 11th..."""
    if 10 <= number % 100 <= 20:
        return f"{number}th"
    return f"{number}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"


# Formats whose line ends inside a paragraph only show where a program once wrapped it.
_WRAPPED = frozenset({"txt", "text", "html", "htm", "xhtml", "eml", "mbox", "msg", "mail", "md", "markdown", "pdf",
                      "rtf", "epub"})


def unwrap(text: str, form: str) -> str:
    """Gives prose with the line ends of hard-wrapped paragraphs as spaces, length kept.

    A line end goes only where the first word of the next line would not have fitted into the
    paragraph's widest line, and the next line is neither indented nor a list item.
    """
    if form.lower() not in _WRAPPED:
        return text
    lines = text.split("\n")
    out: list[str] = []
    first = 0
    while first < len(lines):
        last = first
        while last < len(lines) and lines[last].strip():
            last += 1
        widest = max((len(line) for line in lines[first:last]), default=0)
        for number in range(first, min(last + 1, len(lines))):
            joined = number + 1 < last and _is_wrapped(lines[number], lines[number + 1], widest)
            out.append(lines[number] + (" " if joined else "\n"))
        first = last + 1
    return "".join(out)[: len(text)]


def _is_wrapped(line: str, following: str, widest: int) -> bool:
    if not 45 <= widest <= 120 or following[0].isspace() or _LIST_ITEM.match(following):
        return False
    return len(line.rstrip()) + 1 + len(following.split(maxsplit=1)[0]) > widest


_LIST_ITEM = re.compile(r"([-*+•–>|#]|\(?\w{1,3}[.)])\s")
