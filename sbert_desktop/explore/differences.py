"""What two sequences have in common, in order: exact where they are short, by what is unique in both where not.

The time is bounded: where two long stretches share nothing that stands out they are not aligned to their last word.
Any thread; numpy only.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]

_EXACT = 400_000
"""Cells of a table that is filled for two stretches; longer ones are parted first."""
_SIDE = 600
"""Elements of each side of a stretch in which nothing is unique, aligned piece by piece."""
_BUDGET = 20_000_000
"""Cells that are filled in all, some 0.4 s; what is left then counts as different."""
_DEEPEST = 24
_RUNS = (3, 1)
"""Lengths of runs that are looked for as anchors, the surest first."""


def match(a: Sequence[int], b: Sequence[int], check: Callable[[], object] | None = None) -> Numbers:
    """Pairs elements of two sequences, in order on both sides.

    Args:
        a: Numbers that are equal where elements are.
        b: The same of the other side.
        check: Called every few milliseconds; may raise to end it.

    Returns:
        int64 [len(a)]: the place in ``b`` of each element's partner, rising; -1 for none.
    """
    left, right = np.asarray(a, np.int64), np.asarray(b, np.int64)
    partner: Numbers = np.full(len(left), -1, np.int64)
    # what only one side has can have no partner, and would only be in the way
    at, other = np.flatnonzero(np.isin(left, right)), np.flatnonzero(np.isin(right, left))
    if len(at):
        matcher = _Matcher(left[at], right[other], check)
        matcher.run()
        held = matcher.partner >= 0
        partner[at[held]] = other[matcher.partner[held]]
    return partner


class _Matcher:
    def __init__(self, a: Numbers, b: Numbers, check: Callable[[], object] | None) -> None:
        self._a, self._b, self._check = a, b, check
        self._budget = _BUDGET
        self.partner: Numbers = np.full(len(a), -1, np.int64)

    def run(self) -> None:
        todo = [(0, len(self._a), 0, len(self._b), 0)]
        while todo:
            if self._check is not None:
                self._check()
            a0, a1, b0, b1, depth = todo.pop()
            a0, a1, b0, b1 = self._trim(a0, a1, b0, b1)
            if a0 == a1 or b0 == b1:
                continue
            if (a1 - a0) * (b1 - b0) <= _EXACT:
                self._align(a0, a1, b0, b1)
                continue
            anchors = self._anchors(a0, a1, b0, b1) if depth < _DEEPEST else []
            if anchors:
                todo += self._between(a0, a1, b0, b1, anchors, depth + 1)
            else:
                self._align_in_pieces(a0, a1, b0, b1)

    def _trim(self, a0: int, a1: int, b0: int, b1: int) -> tuple[int, int, int, int]:
        """Pairs what is equal at both ends, and gives what is left between."""
        count = min(a1 - a0, b1 - b0)
        other = self._a[a0 : a0 + count] != self._b[b0 : b0 + count]
        head = int(np.argmax(other)) if other.any() else count
        self.partner[a0 : a0 + head] = np.arange(b0, b0 + head)
        a0, b0, count = a0 + head, b0 + head, count - head
        other = (self._a[a1 - count : a1] != self._b[b1 - count : b1])[::-1]
        tail = int(np.argmax(other)) if other.any() else count
        self.partner[a1 - tail : a1] = np.arange(b1 - tail, b1)
        return a0, a1 - tail, b0, b1 - tail

    def _anchors(self, a0: int, a1: int, b0: int, b1: int) -> list[tuple[int, int, int]]:
        """Gives runs that stand once on each side, in order on both: place, place, length."""
        for length in _RUNS:
            mine, theirs = _hashed(self._a[a0:a1], length), _hashed(self._b[b0:b1], length)
            left, left_at = _once(mine)
            right, right_at = _once(theirs)
            _, at, other = np.intersect1d(left, right, assume_unique=True, return_indices=True)
            if not len(at):
                continue
            places = sorted(zip((left_at[at] + a0).tolist(), (right_at[other] + b0).tolist(), strict=True))
            return [(i, j, length) for i, j in _rising(places)]
        return []

    def _between(
        self, a0: int, a1: int, b0: int, b1: int, anchors: Sequence[tuple[int, int, int]], depth: int
    ) -> list[tuple[int, int, int, int, int]]:
        """Pairs anchors, and gives the stretches between them."""
        todo = []
        i, j = a0, b0
        for at, other, length in anchors:
            if at < i or other < j:  # overlaps the anchor before, which runs on
                skip = max(i - at, j - other)
                if skip >= length:
                    continue
                at, other, length = at + skip, other + skip, length - skip
            if not np.array_equal(self._a[at : at + length], self._b[other : other + length]):
                continue  # equal by chance only
            self.partner[at : at + length] = np.arange(other, other + length)
            todo.append((i, at, j, other, depth))
            i, j = at + length, other + length
        todo.append((i, a1, j, b1, depth))
        if len(todo) == 1:  # nothing held: it would go round for ever
            self._align_in_pieces(a0, a1, b0, b1)
            return []
        return [one for one in todo if one[0] < one[1] and one[2] < one[3]]

    def _align_in_pieces(self, a0: int, a1: int, b0: int, b1: int) -> None:
        """Aligns pieces that stand at the same share of both stretches."""
        pieces = -(-max(a1 - a0, b1 - b0) // _SIDE)
        for number in range(pieces):
            if self._check is not None:
                self._check()
            low, high = a0 + (a1 - a0) * number // pieces, a0 + (a1 - a0) * (number + 1) // pieces
            from_, to = b0 + (b1 - b0) * number // pieces, b0 + (b1 - b0) * (number + 1) // pieces
            self._align(low, high, from_, to)

    def _align(self, a0: int, a1: int, b0: int, b1: int) -> None:
        """Finds the longest common subsequence of two short stretches."""
        mine, theirs = self._a[a0:a1], self._b[b0:b1]
        at, other = np.flatnonzero(np.isin(mine, theirs)), np.flatnonzero(np.isin(theirs, mine))
        size = len(at) * len(other)
        if not size or self._budget < size:
            return
        self._budget -= size
        mine, theirs = mine[at], theirs[other]
        steps = np.arange(len(theirs) + 1, dtype=np.int32)
        places = {value: np.flatnonzero(theirs == value) for value in set(mine.tolist())}
        table = np.empty((len(mine) + 1, len(theirs) + 1), np.int32)
        table[0] = steps
        for row, value in enumerate(mine.tolist()):
            above = table[row]
            best = above + 1
            equal = places[value]
            best[equal + 1] = above[equal]
            best -= steps
            np.minimum.accumulate(best, out=best)
            np.add(best, steps, out=table[row + 1])
        i, j = len(mine), len(theirs)
        left, right = mine.tolist(), theirs.tolist()
        while i and j:
            here = table[i, j]
            if left[i - 1] == right[j - 1] and here == table[i - 1, j - 1]:
                i, j = i - 1, j - 1
                self.partner[a0 + at[i]] = b0 + other[j]
            elif here == table[i - 1, j] + 1:
                i -= 1
            else:
                j -= 1


def _hashed(values: Numbers, length: int) -> NDArray[np.uint64]:
    """Gives a number for each run, uint64 [n - length + 1]."""
    count = len(values) - length + 1
    if length == 1 or count <= 0:
        return values[: max(0, count)].astype(np.uint64)
    out = np.zeros(count, np.uint64)
    for place in range(length):  # wraps around, as hashes may
        out = (out ^ values[place : place + count].astype(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        out ^= out >> np.uint64(29)
    return out


def _once(values: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], Numbers]:
    """Gives the values that stand once, rising, and where."""
    found, places, counts = np.unique(values, return_index=True, return_counts=True)
    return found[counts == 1], places[counts == 1]


def _rising(places: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Gives the longest part of places, rising on the left, that rises on the right as well."""
    tops: list[int] = []  # smallest last place of a rising part of each length
    ends: list[int] = []
    before = [-1] * len(places)
    for number, (_, other) in enumerate(places):
        at = bisect_left(tops, other)
        if at == len(tops):
            tops.append(other)
            ends.append(number)
        else:
            tops[at], ends[at] = other, number
        before[number] = ends[at - 1] if at else -1
    out = []
    number = ends[-1] if ends else -1
    while number >= 0:
        out.append(places[number])
        number = before[number]
    return out[::-1]
