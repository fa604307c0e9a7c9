"""Arabic and Hebrew in PDFs: the order of letters inside a word, marks, ligatures, and words of two directions.

pdfium turns right-to-left text into the order in which it is read, sign by sign. Three things come out wrong and are
put right here, by where the signs stand: a glyph that draws two letters (lam with alef) gives them backwards; a vowel
mark that was drawn before its letter lands on the one before; and the gap beside a word of the other direction is lost.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise

RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_ALEFS = frozenset("\u0627\u0622\u0623\u0625\u0671")
_LAM = "\u0644"
_MARKS = re.compile("[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc]")
_SCRIPTS = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]+|[^\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]+")
_GAP = 0.13  # of the letters' height: a gap as wide is a space

Box = tuple[float, float, float, float]  # left, right, bottom, top
BoxOf = Callable[[int], Box]


def split_at_scripts(words: Iterable[tuple[int, int]], text: str, box: BoxOf,
                     orders: dict[int, list[int]]) -> Iterator[tuple[int, int]]:
    """Cuts words where the direction changes over a gap, and notes the order of letters that pdfium has wrong."""
    for start, end in words:
        if not RIGHT_TO_LEFT.search(text, start, end):
            yield start, end
            continue
        for low, high in _pieces(start, end, text, box):
            order = _order(low, high, text, box)
            if order is not None:
                orders[low] = order
            yield low, high


def _pieces(start: int, end: int, text: str, box: BoxOf) -> Iterator[tuple[int, int]]:
    at = start
    parts = [match.span() for match in _SCRIPTS.finditer(text, start, end)]
    for before, after in pairwise(parts):
        one, other = _around(*before, box), _around(*after, box)
        height = max(one[3] - one[2], other[3] - other[2])
        latin = before if RIGHT_TO_LEFT.match(text[after[0]]) else after
        wordlike = any(char.isalpha() for char in text[latin[0] : latin[1]])
        # Arabic puts short words before a foreign one without a space, but nothing behind it
        behind = latin == before and before[1] - before[0] > 1 and text[before[1] - 1].isalpha()
        if wordlike and (behind or max(other[0] - one[1], one[0] - other[1]) > _GAP * height):
            yield at, after[0]
            at = after[0]
    yield at, end


def _around(start: int, end: int, box: BoxOf) -> Box:
    first, last = box(start), box(end - 1)
    return (min(first[0], last[0]), max(first[1], last[1]), min(first[2], last[2]), max(first[3], last[3]))


def _order(start: int, end: int, text: str, box: BoxOf) -> list[int] | None:
    """Gives the order of a word's characters where it is not theirs in the file."""
    places = list(range(start, end))
    if end - start < 2:
        return None
    boxes = {place: box(place) for place in places}
    turned = _ligatures_turned(places, text, boxes)
    turned = _marks_behind_letters(turned, text, boxes)
    return turned if turned != places else None


def _ligatures_turned(places: list[int], text: str, boxes: dict[int, Box]) -> list[int]:
    """Turns the letters of each glyph that draws several: they lie in one and the same box."""
    out: list[int] = []
    at = 0
    while at < len(places):
        end = at + 1
        while end < len(places) and RIGHT_TO_LEFT.match(text[places[at]]) and RIGHT_TO_LEFT.match(
                text[places[end]]) and _same(boxes[places[at]], boxes[places[end]]):
            end += 1
        group = places[at:end]
        right = len(group) < 2 or (text[group[0]] == _LAM and text[group[1]] in _ALEFS) or any(
            _MARKS.match(text[place]) for place in group)
        out += group if right else group[::-1]
        at = end
    return out


def _same(one: Box, other: Box) -> bool:
    return one[1] - one[0] > 0.1 and abs(one[0] - other[0]) < 0.01 and abs(one[1] - other[1]) < 0.01


def _marks_behind_letters(places: list[int], text: str, boxes: dict[int, Box]) -> list[int]:
    """Puts a mark that stands over the letter behind it behind that letter."""
    out = list(places)
    at = 0
    while at < len(out) - 1:
        mark, letter = out[at], out[at + 1]
        if _MARKS.match(text[mark]) and RIGHT_TO_LEFT.match(text[letter]) and not _MARKS.match(text[letter]):
            middle = (boxes[mark][0] + boxes[mark][1]) / 2
            over = boxes[letter][0] <= middle <= boxes[letter][1]
            before = at and boxes[out[at - 1]][0] <= middle <= boxes[out[at - 1]][1]
            if over and not before:
                out[at], out[at + 1] = letter, mark
                at += 1
        at += 1
    return out


def in_logical_order(words: list[tuple[int, int]], breaks: list[bool], text: str, box: BoxOf) -> None:
    """Mends a line that runs from right to left, in place: a mark that goes with the word before has no space there."""
    for at in range(1, len(words)):
        if breaks[at] and _MARKS.match(text[words[at][0]]):
            before, here = box(words[at - 1][1] - 1), box(words[at][0])
            following = box(words[at][0] + 1) if words[at][1] - words[at][0] > 1 else here
            gap = before[0] - max(here[1], following[1])
            breaks[at] = gap > _GAP * (following[3] - following[2])
