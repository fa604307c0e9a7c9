"""Pairs as they are found, in memory that is bounded whatever the data.

All are kept while they are few; else the near ones all, and of the others the best of each row.

Which pairs stay does not depend on the order in which they come, nor on how many threads bring them (but for equal
cosines in such a number that not even they can all be kept).
"""

from __future__ import annotations

import threading

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.int32]

_LEVELS = (0.9, 0.95, 0.98, 0.99, 0.995, 0.999, np.inf)
"""Where ``whole`` goes when there are too many pairs above it."""
_FEW = 2_000_000
"""Up to so many pairs are all kept, however many of them one row has."""
_MOST_WHOLE = 6_000_000
"""Pairs from ``whole`` on that are kept at most: 72 MB."""
_MOST_BEST = 8_000_000
"""Pairs that are kept at most because they are among the best of their rows, in about."""
_ROOM = 4_000_000
"""Pairs that come between two prunings."""


def few(count: int) -> bool:
    """Tells whether so many pairs are all kept."""
    return count <= _FEW


def most_per_row(rows: int) -> int:
    """Gives how many pairs below ``whole`` a row may keep: 64 up to 125,000 rows, 8 at least."""
    return min(64, max(8, _MOST_BEST // max(1, rows)))


class PairStore:
    """Collects pairs; any thread.

    Args:
        rows: How many rows there are.
        floor: Least cosine.
        whole: From which cosine all pairs are to be kept, if they are not too many.
    """

    def __init__(self, rows: int, floor: float, whole: float) -> None:
        self.floor = floor
        self.whole = whole
        self.left_out = np.zeros(rows, np.bool_)
        """Bool [rows]: rows of which pairs were left out."""
        self._each = most_per_row(rows)
        self._lock = threading.Lock()
        self._bars = np.full(rows, -np.inf, np.float32)  # below, a pair is not among the best of the row
        self._a: Rows = np.empty(0, np.int32)
        self._b: Rows = np.empty(0, np.int32)
        self._cosine: NDArray[np.float32] = np.empty(0, np.float32)
        self._count = 0
        self._most = _MOST_WHOLE + rows * self._each + _ROOM

    def add(self, a: Rows, b: Rows, cosine: NDArray[np.float32]) -> None:
        """Takes pairs, each once: int32 [m], int32 [m], float32 [m]."""
        with self._lock:
            for at in range(0, len(a), _ROOM // 4):
                part = slice(at, at + _ROOM // 4)
                self._add(a[part], b[part], cosine[part])

    def sift(self, a: Rows, b: Rows, cosines: NDArray[np.float32], least: np.float32) -> NDArray[np.bool_]:
        """Tells which of all pairs of some rows with others are worth adding, by what has come so far.

        Args:
            a: int32 [m].
            b: int32 [n].
            cosines: float32 [m, n].
            least: Pairs below are none.

        Returns:
            Bool [m, n].
        """
        near = cosines >= least
        bars = np.minimum(self._bars[a][:, None], self._bars[b][None, :])
        keep: NDArray[np.bool_] = cosines >= np.minimum(bars, np.float32(self.whole))
        keep &= near
        gone = near ^ keep
        self.left_out[a[gone.any(axis=1)]] = True
        self.left_out[b[gone.any(axis=0)]] = True
        return keep

    def finish(self) -> tuple[Rows, Rows, NDArray[np.float32]]:
        """Gives the pairs that stay, in no order. The store is empty afterwards."""
        with self._lock:
            if self.whole > self.floor and (self._count > _FEW or self.left_out.any()):
                self._prune()
            count, self._count = self._count, 0
            out = self._a[:count], self._b[:count], self._cosine[:count]
            self._a, self._b, self._cosine = np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0, np.float32)
            if self.whole > self.floor and not self.left_out.any():
                self.whole = self.floor
            return out

    def _add(self, a: Rows, b: Rows, cosine: NDArray[np.float32]) -> None:
        keep = self._stays(a, b, cosine)
        if not keep.all():
            a, b, cosine = a[keep], b[keep], cosine[keep]
        end = self._count + len(a)
        if end > self._most:
            self._prune()
            end = self._count + len(a)
        if end > len(self._a):
            size = min(max(end, 2 * len(self._a), 1 << 16), max(end, self._most))
            for name in ("_a", "_b", "_cosine"):
                old = getattr(self, name)
                new = np.empty(size, old.dtype)
                new[: self._count] = old[: self._count]
                setattr(self, name, new)
        self._a[self._count : end] = a
        self._b[self._count : end] = b
        self._cosine[self._count : end] = cosine
        self._count = end

    def _stays(self, a: Rows, b: Rows, cosine: NDArray[np.float32]) -> NDArray[np.bool_]:
        """Tells which pairs are near enough or among the best of one of their rows so far; marks the rows of others."""
        keep = cosine >= np.float32(self.whole)
        keep |= cosine >= self._bars[a]
        keep |= cosine >= self._bars[b]
        gone = ~keep
        self.left_out[a[gone]] = True
        self.left_out[b[gone]] = True
        return keep

    def _prune(self) -> None:
        """Drops what is not among the best; raises ``whole`` while too many pairs lie above it."""
        cosine = self._cosine[: self._count]
        for level in _LEVELS:
            if np.count_nonzero(cosine >= np.float32(self.whole)) <= _MOST_WHOLE:
                break
            self.whole = max(self.whole, level)
        self._raise_bars()
        self._compact()
        if self._count > _MOST_WHOLE + len(self._bars) * self._each:  # ties without number
            self._bars = np.nextafter(self._bars, np.float32(np.inf))
            self._compact()

    def _compact(self) -> None:
        """Drops the pairs that do not stay."""
        end = 0
        for at in range(0, self._count, _ROOM // 4):
            part = slice(at, min(at + _ROOM // 4, self._count))
            keep = self._stays(self._a[part], self._b[part], self._cosine[part])
            to = slice(end, end + int(np.count_nonzero(keep)))
            self._a[to], self._b[to] = self._a[part][keep], self._b[part][keep]
            self._cosine[to] = self._cosine[part][keep]
            end = to.stop
        self._count = end

    def _raise_bars(self) -> None:
        """Sets each full row's bar to the cosine of the last of its best pairs; ties stay as long as there is room."""
        a, b, cosine = self._a[: self._count], self._b[: self._count], self._cosine[: self._count]
        rows = len(self._bars)
        counts = np.bincount(a, minlength=rows) + np.bincount(b, minlength=rows)
        step = max(1, -(-rows // 4))
        for low in range(0, rows, step):  # a quarter of the rows at a time, for the memory's sake
            full = counts[low : low + step] > self._each
            keys = np.concatenate([self._keys(side, cosine, low, full) for side in (a, b)])
            keys.sort()
            which = np.flatnonzero(full)
            starts = np.cumsum(counts[low : low + step][full]) - counts[low : low + step][full]
            last = (keys[starts + self._each - 1] & np.uint64(0xFFFFFFFF)).astype(np.uint32)
            values = (~last).view(np.float32)
            bars = self._bars[low : low + step]
            bars[which] = np.maximum(bars[which], values)

    def _keys(self, side: Rows, cosine: NDArray[np.float32], low: int, full: NDArray[np.bool_]) -> NDArray[np.uint64]:
        """Gives numbers that sort by row, then by falling cosine (positive floats sort as their bits do)."""
        near = side - np.int32(low)
        take = np.flatnonzero((near >= 0) & (near < len(full)))
        take = take[full[near[take]]]
        bits = ~np.maximum(cosine[take], np.float32(0)).view(np.uint32)
        keys: NDArray[np.uint64] = (near[take].astype(np.uint64) << np.uint64(32)) | bits
        return keys
