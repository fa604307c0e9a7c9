"""All pairs of passages whose vectors are nearly the same, exactly, in a tenth of what comparing everything costs.

The vectors are rotated onto their principal axes (found on a sample). Of each only the first few coordinates are kept
and, as one more, the length of the rest: by Cauchy and Schwarz the product of two such short rows is never below the
cosine, so one thin matrix product rules out nearly all pairs without losing any; the others are looked at with more
coordinates, then with all. Measured in tests/benchmarks/near_pairs.py. Any thread; numpy only.

Products are made of tiles so small that OpenBLAS computes each in the thread that asks: its own threads wait for each
other in a busy loop, which cost up to twenty times the work itself where other programs wanted the cores.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from sbert_desktop.domain import JobContext, Mask, Vectors
from sbert_desktop.explore._pair_store import PairStore, few

Rows = NDArray[np.int32]

_WHOLE = 0.85
"""Where there are millions of pairs: cosine from which all are kept; below, the best of each row only (_pair_store)."""
_TILE = 64
"""Rows of a tile, and coordinates multiplied at a time: from a bit over 64 x 64 x 64 on OpenBLAS uses its threads.

Source: GEMM_MULTITHREAD_THRESHOLD of OpenBLAS, 4 x 65,536 products.
"""
_CHUNK = 64
"""Tiles that are computed and looked through at a time: a megabyte, which stays in the cache."""
_MOST_WORKERS = 8
_SAMPLE = 2_048
_HEADS = (8, 12, 16, 24, 32, 40, 48, 63, 79, 95, 111, 127)
"""How many coordinates the first look may use; the rest is one more."""
_SECOND = 128
"""Coordinates of the second look."""
_MARGIN = 1e-5
"""Bounds and float32 products may be this much too low."""
_DENSE = _TILE * _TILE // 12
"""From so many pairs of a tile on, computing the whole tile is cheaper than fetching the pairs' rows."""
_MIX = np.uint64(0x9E3779B97F4A7C15)
"""Odd, its bits in no order: spreads the bits of a number. Source: 2 to the 64th over the golden ratio."""
_FETCH = 8_192
"""Pairs whose rows are fetched at a time."""
# Nanoseconds per pair on one core: a look's fixed part, each coordinate of it, a pair that it leaves over.
_FIXED, _COORDINATE, _LEFT_OVER = 1.1, 0.03, 600.0


@dataclass(frozen=True, slots=True)
class NearPairs:
    """Pairs of rows, ``a < b``, sorted by ``a``, then ``b``.

    Rows with equal vectors stand here as one, the first of them: ``same`` tells which.

    Attributes:
        a: int32 [m].
        b: int32 [m].
        cosine: float32 [m], at least ``floor``.
        same: int32 [rows]: the first live row with the same vector, itself where there is none before it; -1 if dead.
        marks: uint64 [rows]: a number for the vector of each live row, by which a later run knows it again.
        left_out: Bool [rows]: rows of which pairs below ``whole`` were left out.
        floor: What was asked for.
        whole: Cosine from which all pairs are there, at least ``floor``.
    """

    a: Rows
    b: Rows
    cosine: NDArray[np.float32]
    same: Rows
    marks: NDArray[np.uint64]
    left_out: Mask
    floor: float
    whole: float

    @property
    def cut(self) -> int:
        """How many rows have further pairs between ``floor`` and ``whole`` that were left out."""
        return int(np.count_nonzero(self.left_out))

    @property
    def rows(self) -> int:
        """How many rows were looked at, dead ones counted."""
        return len(self.same)

    def at_least(self, cosine: float) -> NearPairs:
        """Gives the pairs from a higher cosine on."""
        if cosine <= self.floor:
            return self
        keep = self.cosine >= np.float32(cosine)
        whole = max(cosine, self.whole)
        left_out = self.left_out if cosine < self.whole else np.zeros_like(self.left_out)
        return NearPairs(self.a[keep], self.b[keep], self.cosine[keep], self.same, self.marks, left_out, cosine, whole)


def near_pairs(
    vectors: Vectors,
    alive: Mask,
    *,
    floor: float,
    context: JobContext | None = None,
    known: NearPairs | None = None,
    workers: int | None = None,
) -> NearPairs:
    """Finds all pairs of live rows with a cosine of at least ``floor``.

    Memory stays below 1 GB beside the vectors whatever they are: where there are more pairs than fit, ``whole`` of the
    result lies above the floor, and below it each row keeps its best ones only.

    Args:
        vectors: float32 [rows, dimension], unit rows; may be mapped from a file.
        alive: Bool [rows].
        floor: Least cosine, above 0.
        context: Asked per strip of 64 rows; hears the progress in rows.
        known: An earlier result with the same or a lower floor. Rows are known again by their vectors, wherever they
            stand now; only those that were not there are compared. The result is that of a full run.
        workers: Threads; as many as there are cores by default, at most 8.

    Raises:
        Cancelled: Through ``context``.
    """
    same, marks = first_equal(vectors, alive)
    rows = np.flatnonzero(same == np.arange(len(same))).astype(np.int32)
    store = PairStore(len(same), floor, max(floor, _WHOLE))
    fresh = rows
    if known is not None and known.floor <= floor:
        fresh = _take_over(known, marks, rows, store)
    if len(fresh):
        old = rows[~np.isin(rows, fresh, assume_unique=True)]
        search = _Search(vectors, np.concatenate([fresh, old]), len(fresh), floor, store)
        search.run(context, workers or min(os.cpu_count() or 1, _MOST_WORKERS))
    a, b, _ = store.finish()
    cosine = np.empty(len(a), np.float32)
    for at in range(0, len(a), _FETCH):
        part = slice(at, at + _FETCH)
        cosine[part] = _products(vectors, a[part], b[part])
        if context is not None and at % (64 * _FETCH) == 0:
            context.check()
    keep = cosine >= np.float32(floor)
    a, b, cosine = a[keep], b[keep], np.minimum(cosine[keep], np.float32(1))
    order = np.argsort((a.astype(np.int64) << 32) | b)
    return NearPairs(a[order], b[order], cosine[order], same, marks, store.left_out, floor, store.whole)


def _products(vectors: Vectors, a: Rows, b: Rows) -> NDArray[np.float32]:
    """Gives the product of each pair of rows."""
    return cast("NDArray[np.float32]", np.einsum("ij,ij->i", vectors[a], vectors[b]))


def first_equal(vectors: Vectors, alive: Mask) -> tuple[Rows, NDArray[np.uint64]]:
    """Gives the first live row with the same vector as each, int32 [rows], -1 for dead rows; and the marks."""
    same = np.full(len(alive), -1, np.int32)
    marks = np.zeros(len(alive), np.uint64)
    live = np.flatnonzero(alive)
    if not len(live):
        return same, marks
    factors = np.random.default_rng(17).integers(1, 2**63, vectors.shape[1], dtype=np.uint64) | np.uint64(1)
    for at in range(0, len(live), 4096):
        bits = np.ascontiguousarray(vectors[live[at : at + 4096]], np.float32).view(np.uint32) * _MIX
        bits ^= bits >> np.uint64(32)
        marks[live[at : at + 4096]] = (bits * factors).sum(axis=1, dtype=np.uint64)
    _, first, which = np.unique(marks[live], return_index=True, return_inverse=True)
    head = live[first[which]]
    twins = np.flatnonzero(head != live)
    for at in range(0, len(twins), 4096):  # two vectors may have one mark by chance
        part = twins[at : at + 4096]
        differ = (vectors[live[part]] != vectors[head[part]]).any(axis=1)
        head[part[differ]] = live[part[differ]]
    same[live] = head
    return same, marks


def _take_over(known: NearPairs, marks: NDArray[np.uint64], rows: Rows, store: PairStore) -> Rows:
    """Puts the pairs that an earlier run found into the store; gives the rows that are to be compared with all."""
    moved = _moved(known, marks, rows)
    a, b = moved[known.a], moved[known.b]
    there = (a >= 0) & (b >= 0)
    again = np.zeros(len(marks), bool)  # a row that lost a pair may have room for one that was left out
    if known.left_out.any():
        if not there.all() and (few(len(a)) or known.whole > max(known.floor, _WHOLE)):
            return rows  # what was left out then may all have room now
        for before, ours, others in ((known.a, a, b), (known.b, b, a)):
            lost = known.left_out[before] & (ours >= 0) & (others < 0)
            again[ours[lost]] = True
    was_cut = moved[np.flatnonzero(known.left_out & (moved >= 0))]
    store.left_out[was_cut] = ~again[was_cut]
    there &= known.cosine >= np.float32(store.floor)
    there[there] = ~again[a[there]] & ~again[b[there]]
    a, b = a[there], b[there]
    store.add(np.minimum(a, b), np.maximum(a, b), known.cosine[there])
    seen = np.zeros(len(marks), bool)
    seen[moved[moved >= 0]] = True
    return rows[~seen[rows] | again[rows]]


def _moved(known: NearPairs, marks: NDArray[np.uint64], rows: Rows) -> Rows:
    """Gives where each row that stood for others or itself stands now, int32 [rows then], -1 where it is gone."""
    moved = np.full(known.rows, -1, np.int32)
    then = np.flatnonzero(known.same == np.arange(known.rows))
    now, first, count = np.unique(marks[rows], return_index=True, return_counts=True)
    before, place, count_then = np.unique(known.marks[then], return_index=True, return_counts=True)
    _, at_now, at_then = np.intersect1d(now, before, assume_unique=True, return_indices=True)
    sure = (count[at_now] == 1) & (count_then[at_then] == 1)
    moved[then[place[at_then[sure]]]] = rows[first[at_now[sure]]]
    return moved


class _Search:
    """One comparison of the first ``fresh`` rows with all rows."""

    def __init__(self, vectors: Vectors, rows: Rows, fresh: int, floor: float, store: PairStore) -> None:
        self._vectors = vectors
        self._rows = rows
        self._fresh = fresh
        self._bar = np.float32(floor - _MARGIN)
        self._store = store
        self._stop = threading.Event()
        axes = _principal_axes(vectors, rows)
        self._head = _choose_head(vectors, rows, axes, floor)
        self._second = axes.shape[1]
        self._heads, self._seconds = self._shorten(axes)

    def run(self, context: JobContext | None, workers: int) -> None:
        """Compares strip after strip; few at a time, so that a pause and a cancel are heard soon."""
        strips = -(-self._fresh // _TILE)
        waiting: deque[Future[None]] = deque()
        done = 0

        def settle() -> None:
            nonlocal done
            waiting.popleft().result()
            done += 1
            if context is not None:
                context.progress("comparing", min(done * _TILE, self._fresh), self._fresh)

        with ThreadPoolExecutor(workers, thread_name_prefix="near-pairs") as pool:
            try:
                for strip in range(strips):
                    if context is not None:
                        context.check()
                    waiting.append(pool.submit(self._strip, strip))
                    if len(waiting) > 2 * workers:
                        settle()
                while waiting:
                    if context is not None:
                        context.check()
                    settle()
            finally:
                self._stop.set()

    def _shorten(self, axes: Vectors) -> tuple[Vectors, Vectors]:
        """Gives the rows for the first look in tiles, float32 [tiles, head + 1, 64], and for the second."""
        count, head = len(self._rows), self._head
        heads = np.zeros((-(-count // _TILE), head + 1, _TILE), np.float32)
        seconds = np.empty((count, self._second + 1), np.float32)
        for at in range(0, count, 64 * _TILE):
            part = self._vectors[self._rows[at : at + 64 * _TILE]]
            turned = part @ axes
            squares = np.einsum("ij,ij->i", part, part, dtype=np.float64)
            seconds[at : at + len(part), :-1] = turned
            seconds[at : at + len(part), -1] = _rest(squares, turned)
            short = np.zeros((-(-len(part) // _TILE) * _TILE, head + 1), np.float32)
            short[: len(part), :head] = turned[:, :head]
            short[: len(part), head] = _rest(squares, turned[:, :head])
            tiles = short.reshape(-1, _TILE, head + 1).transpose(0, 2, 1)
            heads[at // _TILE : at // _TILE + len(tiles)] = tiles
        return heads, seconds

    def _strip(self, strip: int) -> None:
        """Compares the 64 rows of one tile with those of this tile and of all after it."""
        left = self._heads[strip].T
        parts = [slice(at, at + _TILE) for at in range(0, left.shape[1], _TILE)]
        lefts = [np.ascontiguousarray(left[:, part]) for part in parts]
        out = np.empty((_CHUNK, _TILE, _TILE), np.float32)
        more = np.empty_like(out) if len(parts) > 1 else out
        over = np.empty((_CHUNK, _TILE, _TILE), np.bool_)
        for first in range(strip, len(self._heads), _CHUNK):
            if self._stop.is_set():
                return
            right = self._heads[first : first + _CHUNK]
            count = len(right)
            np.matmul(lefts[0], right[:, parts[0]], out=out[:count])
            for ours, part in zip(lefts[1:], parts[1:], strict=True):
                np.matmul(ours, right[:, part], out=more[:count])
                out[:count] += more[:count]
            np.greater_equal(out[:count], self._bar, out=over[:count])
            found = np.flatnonzero(over[:count])
            if len(found):
                self._look(strip, first, found)

    def _look(self, strip: int, first: int, found: NDArray[np.int64]) -> None:
        """Verifies the pairs that the first look left over; ``found`` are places in the tiles from ``first`` on."""
        counts = np.bincount(found >> 12, minlength=1)
        dense = np.flatnonzero(counts >= _DENSE)
        for tile in dense:
            self._tile(strip, first + int(tile))
        if len(dense):
            found = found[counts[found >> 12] < _DENSE]
        a = strip * _TILE + ((found >> 6) & 63)
        b = (first + (found >> 12)) * _TILE + (found & 63)
        keep = (b > a) & (a < self._fresh) & (b < len(self._rows))
        a, b = a[keep], b[keep]
        for at in range(0, len(a), _FETCH):
            pa, pb = a[at : at + _FETCH], b[at : at + _FETCH]
            likely = _products(self._seconds, pa, pb) >= self._bar
            pa, pb = pa[likely], pb[likely]
            if len(pa):
                self._keep(pa, pb, _products(self._vectors, self._rows[pa], self._rows[pb]))

    def _tile(self, strip: int, tile: int) -> None:
        """Computes all cosines of two tiles."""
        ours = self._vectors[self._rows[strip * _TILE : (strip + 1) * _TILE]]
        theirs = self._vectors[self._rows[tile * _TILE : (tile + 1) * _TILE]]
        cosines = np.zeros((len(ours), len(theirs)), np.float32)
        for at in range(0, ours.shape[1], _TILE):
            cosines += ours[:, at : at + _TILE] @ theirs[:, at : at + _TILE].T
        low, high = slice(strip * _TILE, (strip + 1) * _TILE), slice(tile * _TILE, (tile + 1) * _TILE)
        a, b = np.nonzero(self._store.sift(self._rows[low], self._rows[high], cosines, self._bar))
        values = cosines[a, b]
        a, b = a + low.start, b + high.start
        keep = (b > a) & (a < self._fresh)
        self._keep(a[keep], b[keep], values[keep])

    def _keep(self, a: NDArray[np.int64], b: NDArray[np.int64], cosines: NDArray[np.float32]) -> None:
        near = cosines >= self._bar
        ra, rb = self._rows[a[near]], self._rows[b[near]]
        self._store.add(np.minimum(ra, rb), np.maximum(ra, rb), cosines[near])


def _rest(squares: NDArray[np.float64], head: Vectors) -> Vectors:
    """Gives the length of what the head lacks of each row, rather too long than too short."""
    rest = squares - np.einsum("ij,ij->i", head, head, dtype=np.float64)
    return cast("Vectors", np.sqrt(np.maximum(rest, 0) + 1e-6).astype(np.float32))


def _sample(rows: Rows, count: int) -> Rows:
    """Gives rows from everywhere; always the same ones."""
    if len(rows) <= count:
        return rows
    return np.random.default_rng(29).permutation(rows)[:count]


def _principal_axes(vectors: Vectors, rows: Rows) -> Vectors:
    """Gives orthonormal columns, float32 [dimension, at most 128], about those along which rows are longest, in order.

    Any orthonormal columns would do for the bound; the better they are, the fewer pairs it leaves over. A few steps of
    subspace iteration come close enough, and cost little however long the vectors are.
    """
    part = np.asarray(vectors[_sample(rows, _SAMPLE)], np.float64)
    wanted = min(_SECOND, vectors.shape[1])
    axes = np.random.default_rng(31).standard_normal((vectors.shape[1], min(wanted + 16, vectors.shape[1])))
    for _ in range(3):
        axes = _orthonormal(part.T @ (part @ axes))
    turned = part @ axes
    _, order = np.linalg.eigh(turned.T @ turned)
    return np.ascontiguousarray((axes @ order[:, ::-1])[:, :wanted], np.float32)


def _orthonormal(columns: NDArray[np.float64]) -> NDArray[np.float64]:
    """Gives orthonormal columns that span the same, fewer where some depend on others.

    Not by ``np.linalg.qr``: that one kept the other threads waiting for up to 3 s where the cores were busy.
    """
    for _ in range(2):  # once leaves them off by 1e-7
        lengths, turn = np.linalg.eigh(columns.T @ columns)
        keep = lengths > 1e-9 * lengths.max(initial=0)
        columns = columns @ (turn[:, keep] / np.sqrt(lengths[keep]))
    return columns


def _choose_head(vectors: Vectors, rows: Rows, axes: Vectors, floor: float) -> int:
    """Gives how many coordinates the first look should use, by what each would leave over of a sample of pairs."""
    part = vectors[_sample(rows, _SAMPLE // 2)]
    squares = np.einsum("ij,ij->i", part, part, dtype=np.float64)
    best, least = int(axes.shape[1]), np.inf
    for head in (head for head in _HEADS if head <= axes.shape[1]):
        turned = part @ axes[:, :head]
        rest = _rest(squares, turned)
        bounds = turned @ turned.T + np.outer(rest, rest)
        share = (np.count_nonzero(bounds >= floor - _MARGIN) - len(part)) / max(1, len(part) * (len(part) - 1))
        cost = _FIXED + _COORDINATE * head + _LEFT_OVER * share
        if cost < least:
            best, least = head, cost
    return best
