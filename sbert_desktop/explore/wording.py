"""Texts as sequences of words: what two wordings share, and what one of them says otherwise.

Words are compared without case, compatibility forms, apostrophes, punctuation and line ends; accents and the
points of numbers count. Scripts without spaces are compared sign by sign. Any thread; numpy only.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Span = tuple[int, int]

SIGNS = (
    "\u0e01-\u0e4e\u0e80-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
)
"""Scripts that are written without spaces, as a character class."""
_LETTERS = rf"[^\W\d_{SIGNS}]"
_WORD = re.compile(
    r"(?P<cited>\[\d{1,3}(?:\s?[,;–-]\s?\d{1,3})*\])"  # a number that leads to a list of sources is no wording
    rf"|(?P<altered>\[{_LETTERS}{{1,20}}\]{_LETTERS}+|{_LETTERS}+\[{_LETTERS}{{1,20}}\]{_LETTERS}*)"
    rf"|(?P<word>{_LETTERS}+(?:['’ʼ]{_LETTERS}+)*)"
    r"|(?P<number>(?:(?<![^\s(\[\"“‘„«'])[-−–])?\d+(?:[.,]\d+)*)"
    rf"|(?P<sign>[{SIGNS}])"
    r"|(?P<symbol>[%‰°§€$£¥+=×±])"
)
_DROPPED = str.maketrans("", "", "'’ʼ[]")
_MINUS = str.maketrans("−–", "--")
_BETWEEN = "\x1f"  # keeps "1 5" from being 15
_LARGEST = 40_000_000
"""Cells of an alignment; beyond (a quotation of dozens of pages) nothing is aligned."""
_MOST_WORDS = 20_000


class Wording:
    """The words of a text, each with its place.

    Attributes:
        words: As they are compared.
        spans: Code points of the text, one per word.
    """

    __slots__ = ("_begins", "_joined", "spans", "words")

    def __init__(self, text: str, spans: Sequence[Span] | None = None) -> None:
        self.words: list[str] = []
        self.spans: list[Span] = []
        for low, high in spans if spans is not None else ((0, len(text)),):
            for match in _WORD.finditer(text, low, high):
                if match.lastgroup != "cited":
                    self.words.append(_folded(match.group(), match.lastgroup or ""))
                    self.spans.append(match.span())
        self._joined: str | None = None
        self._begins: list[int] = []

    def __len__(self) -> int:
        return len(self.words)

    def find(self, words: Sequence[str], first: int = 0) -> Span | None:
        """Gives the first place of a run of words from word ``first`` on, or None.

        A word that a hyphen or a line end parts in one of the texts is the same word.
        """
        if self._joined is None:
            self._joined, self._begins = _join(self.words)
        wanted, _ = _join(words)
        if not wanted or first >= len(self.words):
            return None
        at = self._joined.find(wanted, self._begins[first])
        while at >= 0:
            end = at + len(wanted)
            low, high = bisect_left(self._begins, at), bisect_left(self._begins, end)
            whole = end == len(self._joined) or self._joined[end] == _BETWEEN
            whole = whole or (high < len(self._begins) and self._begins[high] == end)
            if whole and low < len(self._begins) and self._begins[low] == at:
                return low, high
            at = self._joined.find(wanted, at + 1)
        return None


def _folded(word: str, kind: str) -> str:
    if kind == "number":
        return word.translate(_MINUS)
    if word.isascii():
        return word.translate(_DROPPED).lower()
    return unicodedata.normalize("NFKC", word.translate(_DROPPED)).casefold()


def _join(words: Sequence[str]) -> tuple[str, list[int]]:
    """Gives the words without anything between them, and where each begins."""
    parts: list[str] = []
    begins: list[int] = []
    at = 0
    digit = False
    for word in words:
        if digit and word[0].isdigit():
            parts.append(_BETWEEN)
            at += 1
        begins.append(at)
        parts.append(word)
        at += len(word)
        digit = word[-1:].isdigit()
    return "".join(parts), begins


@dataclass(frozen=True, slots=True)
class Gap:
    """Before word ``at`` something may be left out: at most ``most`` words, None for any number."""

    at: int
    most: int | None


@dataclass(frozen=True, slots=True)
class Alignment:
    """How words stand in a source.

    ``pairs``: for each word the source's word that it equals, -1 where it says otherwise. ``missing``: word
    numbers before which the source has words that are not there. ``first``/``last``: the source's words, half
    open. ``similarity`` in [0, 1]: equal words among all of both sides, gaps left out.
    """

    pairs: tuple[int, ...]
    missing: tuple[int, ...]
    first: int
    last: int
    similarity: float


def find_exactly(words: Sequence[str], gaps: Sequence[Gap], source: Wording) -> list[Span] | None:
    """Gives the source's words for each piece between gaps, in order; None when one of them is not there."""
    borders = [0, *(gap.at for gap in gaps), len(words)]
    pieces = [words[low:high] for low, high in pairwise(borders)]
    at = 0
    while True:
        begin = source.find(pieces[0], at)
        if begin is None:
            return None
        found = [begin]
        for gap, piece in zip(gaps, pieces[1:], strict=True):
            following = source.find(piece, found[-1][1])
            if following is None or (gap.most is not None and following[0] - found[-1][1] > gap.most):
                break
            found.append(following)
        if len(found) == len(pieces):
            return found
        at = begin[0] + 1


def align(words: Sequence[str], gaps: Sequence[Gap], source: Sequence[str]) -> Alignment | None:
    """Aligns all words with the stretch of the source that fits best, at the least number of changed words.

    Semi-global edit distance; leaving out source words at a gap costs nothing. None when there is nothing to
    align, or too much.
    """
    count, size = len(words), len(source)
    if not count or not size or count > _MOST_WORDS or count * size > _LARGEST:
        return None
    numbers = {word: number for number, word in enumerate(dict.fromkeys(words))}
    theirs = np.array([numbers.get(word, -1) for word in source], np.int32)
    steps = np.arange(size + 1, dtype=np.int32)
    free = {gap.at: gap.most for gap in gaps}
    table = np.zeros((count + 1, size + 1), np.int16)
    before: dict[int, NDArray[np.int16]] = {}  # rows at gaps, as they were before anything was left out
    for row, word in enumerate(words, 1):
        above = table[row - 1].astype(np.int32)
        best = above + 1
        np.minimum(best[1:], above[:-1] + (theirs != numbers[word]), out=best[1:])
        table[row] = np.minimum.accumulate(best - steps) + steps
        if row in free:
            before[row] = table[row].copy()
            table[row] = _skipped(table[row], free[row])
    return _walk_back(words, theirs, numbers, table, before, free)


def _skipped(row: NDArray[np.int16], most: int | None) -> NDArray[np.int16]:
    if most is None:
        return np.minimum.accumulate(row)
    out = row.copy()
    for shift in range(1, min(most, len(row) - 1) + 1):
        np.minimum(out[shift:], row[:-shift], out=out[shift:])
    return out


def _walk_back(
    words: Sequence[str],
    theirs: NDArray[np.int32],
    numbers: dict[str, int],
    table: NDArray[np.int16],
    before: dict[int, NDArray[np.int16]],
    free: dict[int, int | None],
) -> Alignment:
    row, column = len(words), int(np.argmin(table[-1]))
    while column < len(theirs) and table[-1, column + 1] == table[-1, column]:
        column += 1  # a word said otherwise rather than one that the source lacks
    last = column
    pairs = [-1] * len(words)
    missing: set[int] = set()
    skipped = 0
    while row > 0:
        cells = table[row]
        if row in before:
            most = free[row]
            low = 0 if most is None else max(0, column - most)
            back = int(np.argmax(before[row][low : column + 1][::-1] == cells[column]))
            skipped += back
            column -= back
            cells = before[row]
        while True:
            value = int(cells[column])
            equal = column > 0 and int(theirs[column - 1]) == numbers[words[row - 1]]
            if column > 0 and value == int(table[row - 1, column - 1]) + (not equal):
                column -= 1
                break
            if value == int(table[row - 1, column]) + 1:
                equal = False
                break
            column -= 1  # the source has a word more
            missing.add(row)
        row -= 1
        if equal:
            pairs[row] = column
    same = sum(pair >= 0 for pair in pairs)
    return Alignment(
        tuple(pairs), tuple(sorted(missing)), column, last, same / max(1, len(words), last - column - skipped)
    )


def changed_spans(wording: Wording, alignment: Alignment) -> tuple[Span, ...]:
    """Gives the stretches of the text that the source says otherwise, code points.

    Where the source only has words that the text lacks, the stretch between the neighbours of these.
    """
    spans: list[Span] = []
    places = wording.spans
    for number, pair in enumerate(alignment.pairs):
        start, end = places[number]
        follows = number > 0 and alignment.pairs[number - 1] < 0
        if pair < 0 and follows:
            spans[-1] = (spans[-1][0], end)
        elif pair < 0:
            spans.append((start, end))
        elif number in alignment.missing and number > 0 and not follows and places[number - 1][1] < start:
            spans.append((places[number - 1][1], start))
    return tuple(spans)
