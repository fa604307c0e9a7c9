"""Pairs of documents that may be duplicates, found without comparing all with all.

Two sources: pairs of passages that are near by meaning, and word runs that documents share. What stands in very many
documents (a disclaimer, a form) makes no more than so many pairs for each of them. Any thread; numpy only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sbert_desktop.domain import Vectors
from sbert_desktop.explore.comparable import SMALLEST_SKETCH, Fingerprint

Integers = NDArray[np.int64]

MOST_PARTNERS = 64
"""Documents that one is compared with for one reason: a group of more alike ones comes in parts."""
COVERED = 0.5
"""Share of each document's characters that has a near passage in the other, from which both are a pair."""
_FEWEST_SHARED, _SHARED, _HELD = 2, 0.2, 0.5
"""Runs that two sketches share: at least so many, so much of the larger part, or so much of the smaller.

With 30 % of its words changed here and there a text keeps a third of its runs of three.
"""
_FEW_RUNS = 12
"""Runs of a sketch that say nothing by not being shared."""
_BANDS = 4
"""Smallest runs of a sketch by which documents of one form find each other."""
_RUNS_AT_ONCE = 1_500_000
"""Runs of sketches for each of which a share of the pairs is counted apart."""
_AT_ONCE = 4_000_000
"""Pairs of one step. Both bound the memory: 0.7 GB for 100,000 documents of which each overlaps with twelve."""


@dataclass(frozen=True, slots=True)
class DocumentPairs:
    """Pairs of documents, each once, rising.

    Attributes:
        a: int64 [m].
        b: int64 [m], greater than ``a``.
        cosine: float32 [m]: the lesser of both directions' length-weighted means of best passage cosines, where a
            passage without a partner counts 0; all 0 for pairs that were found by words.
        cut: Documents that have more partners than are listed.
    """

    a: Integers
    b: Integers
    cosine: NDArray[np.float32]
    cut: int = 0

    def __len__(self) -> int:
        return len(self.a)


def by_passages(
    a: NDArray[np.int32] | Integers,
    b: NDArray[np.int32] | Integers,
    cosine: NDArray[np.float32],
    owners: Integers,
    lengths: Integers,
    *,
    twins: Integers | None = None,
) -> DocumentPairs:
    """Gives the pairs of documents of which at least half of each is near to the other by meaning.

    Args:
        a: [p], rows of passages near to those of ``b``.
        b: [p].
        cosine: [p].
        owners: [rows], the document of each row, -1 for rows that are not compared.
        lengths: [rows], characters of each passage.
        twins: [rows], the first row with the same vector (its own number if none): only that one is in ``a`` and
            ``b``. Pairs of such rows have cosine 1.
    """
    if not len(owners):
        return _none()
    weights = np.maximum(lengths, 1).astype(np.float64)
    used = owners >= 0
    totals = np.bincount(owners[used], weights[used]) if used.any() else np.zeros(0)
    best: list[tuple[Integers, NDArray[np.float64]]] = []
    fresh = 0
    for left, right, values in _row_pairs(a, b, cosine, owners, twins):
        best.append(_best(left, right, values, owners))
        fresh += len(left)
        if fresh > _AT_ONCE:
            best, fresh = [_merged(best)], 0
    if not best:
        return _none()
    keys, means = _merged(best)
    # A key is a row and a document: its best cosine there. Sum by documents.
    size = np.int64(len(totals))
    rows, others = keys // size, keys % size
    pairs = owners[rows] * size + others
    distinct, places = np.unique(pairs, return_inverse=True)
    mine, theirs = distinct // size, distinct % size
    covered = np.bincount(places, weights[rows]) / totals[mine]
    means = np.bincount(places, weights[rows] * means) / totals[mine]
    back = np.searchsorted(distinct, theirs * size + mine)
    there = (back < len(distinct)) & (distinct[np.minimum(back, len(distinct) - 1)] == theirs * size + mine)
    kept = (mine < theirs) & there
    kept[kept] = (covered[kept] >= COVERED) & (covered[back[kept]] >= COVERED)
    found = np.minimum(means[kept], means[back[kept]]).astype(np.float32)
    return _best_partners(mine[kept], theirs[kept], found)


def _row_pairs(
    a: NDArray[np.int32] | Integers,
    b: NDArray[np.int32] | Integers,
    cosine: NDArray[np.float32],
    owners: Integers,
    twins: Integers | None,
) -> Iterator[tuple[Integers, Integers, NDArray[np.float32]]]:
    """Gives pairs of rows of different documents, both ways, those of rows with equal vectors spread out."""
    if twins is None:
        for start in range(0, len(a), _AT_ONCE):
            left, right = a[start : start + _AT_ONCE].astype(np.int64), b[start : start + _AT_ONCE].astype(np.int64)
            yield from _both_ways(left, right, cosine[start : start + _AT_ONCE], owners)
        return
    live = np.flatnonzero(owners >= 0)
    if not len(live):
        return
    order = live[np.lexsort((live, owners[live], twins[live]))]
    ranked = twins[order]
    starts = np.flatnonzero(np.concatenate([[True], ranked[1:] != ranked[:-1]]))
    sizes = np.diff(np.concatenate([starts, [len(order)]]))
    first, count = np.full(len(owners), -1, np.int64), np.zeros(len(owners), np.int64)
    first[ranked[starts]], count[ranked[starts]] = starts, sizes
    # Equal vectors: each with so many that follow it, by document.
    for step in range(1, MOST_PARTNERS):
        left = np.flatnonzero(np.arange(len(order)) + step < (first + count)[ranked])
        place = left - first[ranked[left]]
        left = left[place // MOST_PARTNERS == (place + step) // MOST_PARTNERS]
        if not len(left):
            break
        yield from _both_ways(order[left], order[left + step], np.ones(len(left), np.float32), owners)
    # Near vectors: each of the one with each of the other, but no more than so many.
    lefts, rights = np.minimum(count[a], MOST_PARTNERS), np.minimum(count[b], MOST_PARTNERS)
    many = lefts * rights
    parts = np.cumsum(many) // _AT_ONCE
    for part in np.split(np.arange(len(a)), np.flatnonzero(np.diff(parts)) + 1):
        picks = np.repeat(part, many[part])
        within = np.arange(len(picks)) - np.repeat(np.cumsum(many[part]) - many[part], many[part])
        left = order[first[a[picks]] + within // rights[picks]]
        right = order[first[b[picks]] + within % rights[picks]]
        yield from _both_ways(left, right, cosine[picks], owners)


def _both_ways(
    left: Integers, right: Integers, cosine: NDArray[np.float32], owners: Integers
) -> Iterator[tuple[Integers, Integers, NDArray[np.float32]]]:
    other = (owners[left] >= 0) & (owners[right] >= 0) & (owners[left] != owners[right])
    if other.any():
        yield left[other], right[other], cosine[other]
        yield right[other], left[other], cosine[other]


def _best(
    left: Integers, right: Integers, cosine: NDArray[np.float32], owners: Integers
) -> tuple[Integers, NDArray[np.float64]]:
    """Gives row * documents + other document, each once, and the best cosine there."""
    keys = left * np.int64(int(owners.max()) + 1) + owners[right]
    return _merged([(keys, cosine.astype(np.float64))])


def _merged(found: Sequence[tuple[Integers, NDArray[np.float64]]]) -> tuple[Integers, NDArray[np.float64]]:
    keys = np.concatenate([keys for keys, _ in found])
    values = np.concatenate([values for _, values in found])
    order = np.argsort(keys, kind="stable")
    keys, values = keys[order], values[order]
    starts = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
    return keys[starts], np.maximum.reduceat(values, starts)


def _none() -> DocumentPairs:
    return DocumentPairs(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.float32))


def _best_partners(a: Integers, b: Integers, strength: NDArray[np.float32]) -> DocumentPairs:
    """Keeps the pairs that are among the strongest of one of their documents."""
    both = np.concatenate([a, b])
    partner = np.concatenate([b, a])
    twice = np.concatenate([strength, strength])
    order = np.lexsort((partner, -twice, both))
    ranked = both[order]
    starts = np.searchsorted(ranked, ranked)
    place = np.arange(len(order)) - starts
    listed = np.zeros(len(both), bool)
    listed[order[place < MOST_PARTNERS]] = True
    kept = listed[: len(a)] | listed[len(a) :]
    cut = len(np.unique(ranked[place >= MOST_PARTNERS]))
    order = np.lexsort((b[kept], a[kept]))
    return DocumentPairs(a[kept][order], b[kept][order], strength[kept][order], cut)


def document_cosine(vectors_a: Vectors, lengths_a: Integers, vectors_b: Vectors, lengths_b: Integers) -> float:
    """Gives how alike two documents are by meaning; for single passages the cosine of their vectors.

    Args:
        vectors_a: float32 [n, dimension], unit rows of the one's passages.
        lengths_a: [n], characters of each.
        vectors_b: float32 [m, dimension] of the other.
        lengths_b: [m].
    """
    if not len(vectors_a) or not len(vectors_b):
        return 0.0
    best_a = np.full(len(vectors_a), -1.0)
    best_b = np.full(len(vectors_b), -1.0)
    for start in range(0, len(vectors_a), 1024):
        cosines = vectors_a[start : start + 1024] @ vectors_b.T
        best_a[start : start + 1024] = cosines.max(axis=1)
        np.maximum(best_b, cosines.max(axis=0), out=best_b)
    one = np.average(best_a, weights=np.maximum(lengths_a, 1))
    other = np.average(best_b, weights=np.maximum(lengths_b, 1))
    return float(min(one, other))


def by_sketches(fingerprints: Sequence[Fingerprint | None]) -> DocumentPairs:
    """Gives the pairs of documents that share word runs enough to be near, or to lie one in the other.

    A run of three words that stands in more than 64 documents pairs each of them with at most 63, and only where it
    is among the smallest of their sketches, as it is for documents that are alike; the outcome depends on the
    numbers of the documents, not on where they lie.
    """
    numbers = [n for n, found in enumerate(fingerprints) if found is not None and len(found.sketch)]
    if len(numbers) < 2:
        return _none()
    sketches = [found.sketch for n in numbers if (found := fingerprints[n]) is not None]
    begins = np.array([[sketch[min(i, len(sketch) - 1)] for i in range(_BANDS)] for sketch in sketches])
    ranked = np.lexsort((np.arange(len(numbers)), *begins.T[::-1])).tolist()  # alike sketches stand side by side
    sizes = np.array([len(sketches[n]) for n in ranked])
    owner = np.repeat(np.array(ranked, np.int32), sizes)
    place = (np.arange(len(owner)) - np.repeat(np.cumsum(sizes) - sizes, sizes)).astype(np.int16)
    runs = np.concatenate([sketches[n] for n in ranked])
    order = np.argsort(runs, kind="stable")
    runs, owner, place = runs[order], owner[order], place[order]
    del order
    starts = np.flatnonzero(np.concatenate([[True], runs[1:] != runs[:-1]]))
    times = np.diff(np.concatenate([starts, [len(runs)]]))
    many = np.repeat(times > MOST_PARTNERS, times)
    seldom = np.repeat(times > 1, times) & ~many
    first = many & (place < _BANDS)
    keys = np.union1d(
        _together(runs[seldom], owner[seldom], len(numbers), _FEWEST_SHARED),
        _together(runs[first], owner[first], len(numbers), 1),
    )
    left, right = keys // len(numbers), keys % len(numbers)
    kept, strength = _alike(left, right, _Sketches(sketches))
    names = np.array(numbers, np.int64)
    pairs = _best_partners(names[left[kept]], names[right[kept]], strength.astype(np.float32))
    return DocumentPairs(pairs.a, pairs.b, np.zeros(len(pairs), np.float32), pairs.cut)


def may_share_words(fingerprints: Sequence[Fingerprint | None], a: Integers, b: Integers) -> NDArray[np.bool_]:
    """Tells of pairs whether their sketches leave it open that they share most words, bool [m].

    Where they do not, the texts need not be read: nearness by meaning is all that there is.
    """
    known = sorted({*a.tolist(), *b.tolist()})
    place = {number: n for n, number in enumerate(known)}
    sketches = [np.zeros(0, np.uint64) if (found := fingerprints[n]) is None else found.sketch for n in known]
    left, right = (np.array([place[number] for number in side.tolist()], np.int64) for side in (a, b))
    if not len(left):
        return np.zeros(0, bool)
    one, other, both = _Sketches(sketches).compare(left, right)
    smaller, larger = np.minimum(one, other), np.maximum(one, other)
    maybe: NDArray[np.bool_] = (smaller < _FEW_RUNS) | (both >= _SHARED / 2 * larger) | (both >= _HELD / 2 * smaller)
    return maybe


def _together(runs: NDArray[np.uint64], owner: NDArray[np.int32], size: int, fewest: int) -> Integers:
    """Gives the pairs of documents, as one number each, that so many runs list side by side in parts of 64."""
    found = np.zeros(0, np.int64)
    if not len(runs):
        return found
    starts = np.flatnonzero(np.concatenate([[True], runs[1:] != runs[:-1]]))
    times = np.diff(np.concatenate([starts, [len(runs)]]))
    block = ((np.arange(len(runs)) - np.repeat(starts, times)) // MOST_PARTNERS).astype(np.int32)
    parts = 1 + len(runs) // _RUNS_AT_ONCE  # of the pairs, one after the other: bounds the memory
    return np.concatenate([_repeated(runs, owner, block, size, fewest, (part, parts)) for part in range(parts)])


def _repeated(
    runs: NDArray[np.uint64],
    owner: NDArray[np.int32],
    block: NDArray[np.int32],
    size: int,
    fewest: int,
    part: tuple[int, int],
) -> Integers:
    found = np.zeros(0, np.int64)
    waiting: list[Integers] = []
    amount = 0
    for step in range(1, MOST_PARTNERS):
        left = np.flatnonzero((runs[:-step] == runs[step:]) & (block[:-step] == block[step:]))
        if not len(left):
            break
        one, other = owner[left], owner[left + step]
        one, other = np.minimum(one, other).astype(np.int64), np.maximum(one, other).astype(np.int64)
        mine = one % part[1] == part[0]
        waiting.append((one[mine] * size + other[mine]) * 256 + 1)
        amount += len(waiting[-1])
        if amount > _AT_ONCE:
            found, waiting, amount = _counted([found, *waiting]), [], 0
    found = _counted([found, *waiting])
    return found[found % 256 >= fewest] // 256


def _counted(found: Sequence[Integers]) -> Integers:
    """Adds up pairs: each number is a pair times 256 and how often it was found, 255 at most."""
    packed = np.concatenate(found)
    packed.sort()
    pairs = packed >> 8
    starts = np.flatnonzero(np.concatenate([[True], pairs[1:] != pairs[:-1]])) if len(pairs) else pairs
    if not len(starts):
        return packed
    times = np.add.reduceat(packed & 255, starts)
    return (pairs[starts] << 8) | np.minimum(times, 255)


class _Sketches:
    """Sketches, compared many pairs at a time by their first 64 runs, and one by one where one is longer."""

    def __init__(self, sketches: Sequence[NDArray[np.uint64]]) -> None:
        self._all = sketches
        self._sizes = np.array([len(sketch) for sketch in sketches])
        width = SMALLEST_SKETCH
        self._table = np.zeros((len(sketches), width), np.uint64)
        for number, sketch in enumerate(sketches):
            head = sketch[:width]
            self._table[number, : len(head)] = head
            # What is not there is like nothing: odd numbers of its own, above all others.
            self._table[number, len(head) :] = np.uint64(2**64 - 1) - np.arange(width - len(head), dtype=np.uint64)
        # A sketch of fewer than 64 runs holds all of them: it does not end.
        self._ends = np.where(self._sizes < width, np.uint64(2**64 - 1), self._table[:, -1])

    def compare(self, left: Integers, right: Integers) -> tuple[Integers, Integers, Integers]:
        """Gives for each pair the runs of the one, of the other, and of both, up to the lesser end of the two."""
        one, other, both = (np.zeros(len(left), np.int64) for _ in range(3))
        long = np.maximum(self._sizes[left], self._sizes[right]) > SMALLEST_SKETCH
        short = np.flatnonzero(~long)
        for start in range(0, len(short), 50_000):
            part = short[start : start + 50_000]
            a, b = self._table[left[part]], self._table[right[part]]
            end = np.minimum(self._ends[left[part]], self._ends[right[part]])[:, None]
            one[part] = np.minimum((a <= end).sum(axis=1), self._sizes[left[part]])
            other[part] = np.minimum((b <= end).sum(axis=1), self._sizes[right[part]])
            mixed = np.sort(np.concatenate([a, b], axis=1), axis=1)
            padding = np.minimum(SMALLEST_SKETCH - self._sizes[left[part]], SMALLEST_SKETCH - self._sizes[right[part]])
            both[part] = (mixed[:, 1:] == mixed[:, :-1]).sum(axis=1) - padding
        for place in np.flatnonzero(long).tolist():
            a, b = self._all[int(left[place])], self._all[int(right[place])]
            end = np.minimum(self._ends[left[place]], self._ends[right[place]])
            a, b = a[: np.searchsorted(a, end, "right")], b[: np.searchsorted(b, end, "right")]
            one[place], other[place] = len(a), len(b)
            both[place] = len(np.intersect1d(a, b, assume_unique=True))
        return one, other, both


def _alike(left: Integers, right: Integers, sketches: _Sketches) -> tuple[Integers, NDArray[np.float64]]:
    """Gives the places of pairs that share enough, and how much."""
    one, other, both = sketches.compare(left, right)
    of_larger = both / np.maximum(np.maximum(one, other), 1)
    of_smaller = both / np.maximum(np.minimum(one, other), 1)
    good = (both >= _FEWEST_SHARED) & ((of_larger >= _SHARED) | (of_smaller >= _HELD))
    return np.flatnonzero(good), np.maximum(of_larger, of_smaller)[good]
