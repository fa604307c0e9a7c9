"""What holds between two documents, verified on their texts.

Words shared are the words that both have in the same order, or in runs of five words or more wherever these stand
(a moved paragraph is still shared), of the words of the longer one. The first two million words of each are
compared; what lies behind them counts as not shared. Any thread; numpy only.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from sbert_desktop.cleanup import FLOOR, DuplicateKind
from sbert_desktop.explore.comparable import FEWEST_WORDS, RUN, Comparable, Numbers, Places, Span, coded, written

FEWEST_HELD = 20
"""Words of an excerpt; what is shorter (a greeting, a signature) lies in much."""
HELD = 0.9
"""Share of the words of the shorter one that stand in runs of the longer, from which it is contained."""
LONGER = 1.25
"""How much longer the one that contains the other is."""
FEWEST_PLAIN = 4
"""Words that are no numbers; tables with fewer say nothing by having them in common."""
NUMBERS_FLOOR = 0.5
"""Words shared, numbers included, from which documents that differ in numbers only are a pair."""
_MOST_CELLS = 2_500_000_000
"""Words of one times words of the other that are put in order (0.2 s); beyond, runs alone count."""
_MOST_SOUGHT = 200_000_000
"""Words gone through for sentences that do not stand there word by word (about 1 s)."""
_FEWEST_JOINED = 12
"""Letters of a sentence that is looked for with its words parted otherwise."""
_SLIP = 6
"""Letters of a word that may have a slip of the pen inside."""
_WORDS_PER_SLIP = 10
_TRIED = 50
"""Places of a rare word at which a sentence with a slip is looked for."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What holds between ``a`` and ``b``; see :class:`sbert_desktop.cleanup.Relation`.

    ``smaller``: 0 when ``a`` lies in ``b``, 1 when ``b`` lies in ``a``, else -1.
    """

    kind: DuplicateKind
    similarity: float
    missing_a: int = 0
    missing_b: int = 0
    smaller: int = -1

    def turned(self) -> Verdict:
        """Gives the same of ``b`` and ``a``."""
        smaller = self.smaller if self.smaller < 0 else 1 - self.smaller
        return Verdict(self.kind, self.similarity, self.missing_b, self.missing_a, smaller)


def relate(a: Comparable, b: Comparable, *, floor: float = FLOOR, count: bool = True) -> Verdict | None:
    """Gives the relation of two documents, or None: text, format, numbers, near or contained.

    Args:
        a: One document.
        b: The other; the order changes nothing but sides.
        floor: Share of words shared, below which they are not near.
        count: Count the sentences that each lacks; else -1.
    """
    if not a.total or not b.total:
        return None
    if a.text == b.text:
        return Verdict(DuplicateKind.TEXT if a.format == b.format else DuplicateKind.FORMAT, 1.0)
    longest, shortest = max(a.total, b.total), min(a.total, b.total)
    if shortest < FEWEST_WORDS:
        return None
    only_numbers = a.letters == b.letters and min(a.plain, b.plain) >= FEWEST_PLAIN
    needed = min(floor, NUMBERS_FLOOR) if only_numbers else floor
    shared = _most_shared(a.words, b.words)
    kind, similarity, smaller = None, 0.0, -1
    if shared >= needed * longest:
        covered_a, covered_b = covered(a, b), covered(b, a)
        runs = min(int(covered_a.sum()), int(covered_b.sum()))
        similarity = max(runs, in_order(a.words, b.words)) / longest
        if similarity >= needed:
            kind = DuplicateKind.NUMBERS if only_numbers else DuplicateKind.NEAR
    if not only_numbers and longest >= LONGER * shortest and shortest >= FEWEST_HELD and shared >= HELD * shortest:
        small, large = (a, b) if a.total < b.total else (b, a)
        held = 0.0 if small.is_cut else float(covered(small, large).mean())
        if held >= HELD:
            kind, similarity, smaller = DuplicateKind.CONTAINED, held, 0 if small is a else 1
    if kind is None:
        return None
    missing = (-1, -1) if not count else count_missing(a, b)
    return Verdict(kind, similarity, *missing, smaller)


def _most_shared(a: Numbers, b: Numbers) -> int:
    """Gives how many words two texts have in common in any order: no alignment shares more."""
    if not len(a) or not len(b):
        return 0
    both = np.sort(np.concatenate([a, b]))
    starts = np.flatnonzero(np.concatenate([[True], both[1:] != both[:-1]]))
    distinct = both[starts]
    order_a, order_b = np.sort(a), np.sort(b)
    count_a = np.searchsorted(order_a, distinct, "right") - np.searchsorted(order_a, distinct)
    count_b = np.searchsorted(order_b, distinct, "right") - np.searchsorted(order_b, distinct)
    return int(np.minimum(count_a, count_b).sum())


def covered(a: Comparable, b: Comparable, length: int = RUN) -> NDArray[np.bool_]:
    """Tells which words of ``a`` stand in a run of so many words that ``b`` has too, bool [len(a)]."""
    runs, _ = a.runs(length)
    _, theirs = b.runs(length)
    marks = np.zeros(len(a) + 1, np.int64)
    if len(runs) and len(theirs):
        places = np.minimum(np.searchsorted(theirs, runs), len(theirs) - 1)
        held = theirs[places] == runs
        marks[: len(runs)] += held
        marks[length : length + len(runs)] -= held
    inside: NDArray[np.bool_] = np.cumsum(marks)[: len(a)] > 0
    return inside


def in_order(a: Numbers, b: Numbers) -> int:
    """Gives how many words two sequences share in the same order: the longest common subsequence.

    0 where the middle that differs is too long for it. Source: Crochemore, Iliopoulos, Pinzon, Reid, "A fast and
    practical bit-vector algorithm for the longest common subsequence problem", 2001 (the integers are the vectors).
    """
    head = _same_start(a, b)
    a, b = a[head:], b[head:]
    tail = _same_start(a[::-1], b[::-1])
    a, b = a[: len(a) - tail], b[: len(b) - tail]
    a, b = a[np.isin(a, b)], b[np.isin(b, a)]  # words that only one has are in no common sequence
    if len(a) > len(b):
        a, b = b, a
    if not len(a) or len(a) * len(b) > _MOST_CELLS:
        return head + tail
    places: dict[int, int] = {}
    if len(b) < 20_000:
        for place, word in enumerate(b.tolist()):
            places[word] = places.get(word, 0) | (1 << place)
    else:
        places = _places(b)
    every = (1 << len(b)) - 1
    free = every
    for word in a.tolist():
        hit = free & places[word]
        free = ((free + hit) | (free - hit)) & every
    return head + tail + len(b) - free.bit_count()


def _places(words: Numbers) -> dict[int, int]:
    """Gives for each word an integer whose bits are its places."""
    order = np.argsort(words, kind="stable")
    distinct, starts = np.unique(words[order], return_index=True)
    places = {}
    for word, (low, high) in zip(distinct.tolist(), pairwise([*starts.tolist(), len(words)]), strict=True):
        bits = np.zeros(len(words), np.uint8)
        bits[order[low:high]] = 1
        places[word] = int.from_bytes(np.packbits(bits, bitorder="little").tobytes(), "little")
    return places


def _same_start(a: Numbers, b: Numbers) -> int:
    size = min(len(a), len(b))
    differs = np.flatnonzero(a[:size] != b[:size])
    return int(differs[0]) if len(differs) else size


# ---------------------------------------------------------------- sentences


def count_missing(a: Comparable, b: Comparable) -> tuple[int, int]:
    """Gives how many sentences of ``a`` ``b`` lacks, and the other way round."""
    return len(missing_sentences(a, b)), len(missing_sentences(b, a))


def missing_sentences(a: Comparable, b: Comparable) -> list[Span]:
    """Gives the sentences of ``a`` whose words stand nowhere in ``b``, as spans of its text (code points).

    A sentence stands in ``b`` when all its words do, in a row, however they are parted. A slip inside a long word
    (colour, color) is let pass, one in ten words; a number said otherwise, or any other word, is not. Words behind
    the two million that are compared count as one more sentence that is lacked, an empty span at the text's end.
    """
    sentences = a.sentences()
    lacked: list[Span] = []
    if sentences:
        said = b.said()
        left = [sentence for sentence in sentences if written(sentence[1]) not in said]
        places = b.places()
        held = _held([coded(words) for _, words in left], places)
        left = [sentence for sentence, is_held in zip(left, held, strict=True) if not is_held]
        for number, (span, words) in enumerate(left):
            looked_up = number * max(1, b.total) < _MOST_SOUGHT  # else it counts as lacked
            if not looked_up or not (_stands_parted(words, b) or _stands_misspelt(words, places, b)):
                lacked.append(span)
    if a.is_cut:
        end = max((high for _, high in lacked), default=0)
        lacked.append((end, end))
    return lacked


def _held(sentences: list[Numbers], places: Places) -> list[bool]:
    """Tells of each sentence whether it stands in the text, in a row."""
    if not sentences:
        return []
    lows, highs = places.spans(np.concatenate(sentences))
    counts = highs - lows
    found = []
    at = 0
    for sentence in sentences:
        size = len(sentence)
        rarest = int(np.argmin(counts[at : at + size]))
        starts = places.at(int(lows[at + rarest]), int(highs[at + rarest])) - rarest
        starts = starts[(starts >= 0) & (starts + size <= len(places.words))]
        for place in range(size):
            if not len(starts):
                break
            starts = starts[places.words[starts + place] == sentence[place]]
        found.append(bool(len(starts)))
        at += size
    return found


def _stands_parted(words: list[str], b: Comparable) -> bool:
    """Tells whether a sentence stands in ``b`` with its words parted otherwise (hyphens, lost spaces)."""
    text, begins = b.joined()
    wanted = written(words)
    at = text.find(wanted) if len(wanted) >= _FEWEST_JOINED else -1
    while at >= 0:
        first, last = np.searchsorted(begins, (at, at + len(wanted))).tolist()
        if begins[first] == at and begins[last] == at + len(wanted):  # "unable to" holds no "able to"
            return True
        at = text.find(wanted, at + 1)
    return False


def _stands_misspelt(words: list[str], places: Places, b: Comparable) -> bool:
    """Tells whether a sentence stands in ``b`` but for slips inside long words, one in ten words."""
    allowed = len(words) // _WORDS_PER_SLIP
    if not allowed:
        return False
    codes = coded(words)
    lows, highs = places.spans(codes)
    counts = highs - lows
    if np.count_nonzero(counts == 0) > allowed:
        return False
    rare = np.argsort(counts, kind="stable")
    rare = rare[counts[rare] > 0][: allowed + 1]  # one of these is no slip
    listed = b.listed()
    for word in rare.tolist():
        for start in (places.at(int(lows[word]), int(highs[word]))[:_TRIED] - word).tolist():
            if start < 0 or start + len(words) > len(places.words):
                continue
            other = np.flatnonzero(places.words[start : start + len(words)] != codes).tolist()
            if len(other) <= allowed and all(_is_slip(words[place], listed[start + place]) for place in other):
                return True
    return False


def _is_slip(one: str, other: str) -> bool:
    """Tells whether two words differ by one letter inside, or by two letters that changed places."""
    if min(len(one), len(other)) < _SLIP or one[0] != other[0] or one[-1] != other[-1]:
        return False
    if not one.isalpha() or not other.isalpha() or abs(len(one) - len(other)) > 1:
        return False
    head = next((n for n, (x, y) in enumerate(zip(one, other, strict=False)) if x != y), min(len(one), len(other)))
    if len(one) == len(other):
        rest = one[head + 1 :] == other[head + 1 :]
        return rest or (one[head : head + 2] == other[head : head + 2][::-1] and one[head + 2 :] == other[head + 2 :])
    short, long = sorted((one, other), key=len)
    return short[head:] == long[head + 1 :]
