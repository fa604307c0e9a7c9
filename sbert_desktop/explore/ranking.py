"""Search: two rankings over one snapshot, fused, and grouped by document.

Semantic is the cosine of unit vectors; keyword is BM25 of the library. Hybrid is the convex sum
``w * bm25 / max(bm25) + (1 - w) * minmax(cosine)`` over the union of both candidate lists. Source:
Bruch et al. 2023, "An Analysis of Fusion Functions for Hybrid Retrieval"; w measured here
(docs/adr/0009-passages-and-fusion.md). Runs in any thread; numpy only.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sbert_desktop.domain import (
    ContentId,
    DocumentHits,
    Filters,
    Hit,
    Mask,
    Mode,
    PassageId,
    Query,
    ScoreKind,
    SearchResults,
    Snapshot,
)

CANDIDATES = 200
"""Passages that each ranking gives to the fusion at first; more when few documents result."""

_GATHER_BELOW = 0.25
"""Below this share of selected rows, gathering them is cheaper than scanning all."""


@dataclass(frozen=True, slots=True)
class _Candidates:
    """Union of both rankings, parallel arrays [m]; absent parts are NaN, ranks 0."""

    passages: NDArray[np.int64]
    contents: NDArray[np.int64]
    cosine: NDArray[np.float64]
    bm25: NDArray[np.float64]
    meaning_rank: NDArray[np.int64]
    words_rank: NDArray[np.int64]


def search(snapshot: Snapshot, query: Query, vector: NDArray[np.float32] | None) -> SearchResults:
    """Ranks the passages of a snapshot for one query.

    Args:
        snapshot: The state of the library to search.
        query: What is asked. ``top`` counts documents (or passages with ``by='passage'``).
        vector: The query's unit vector, float32 [dimension]; None when there is no model, then
            words alone decide whatever the mode says.

    Returns:
        Documents best first, each with its best passages best first.
    """
    mask = snapshot.select(query.filters)
    mode, weight = _effective(query, vector)
    scan = _Scan(snapshot, mask, vector) if mode is not Mode.KEYWORD and vector is not None else None
    limit = max(CANDIDATES, 3 * query.top)
    total = max(1, snapshot.passages)
    while True:
        candidates, exhausted = _gather(snapshot, query, mask, scan, mode, limit)
        found = len(candidates.passages) if query.by == "passage" else _distinct(candidates.contents)
        if exhausted or limit >= total or found >= query.top:
            break
        limit *= 4
    kind = {Mode.HYBRID: ScoreKind.FUSED, Mode.SEMANTIC: ScoreKind.COSINE, Mode.KEYWORD: ScoreKind.BM25}[mode]
    return _results(snapshot, candidates, _scores(candidates, mode, weight), kind, query)


def similar(
    snapshot: Snapshot,
    vector: NDArray[np.float32],
    *,
    top: int,
    exclude: Iterable[int] = (),
    filters: Filters | None = None,
) -> SearchResults:
    """Finds the documents nearest to a vector, without the contents in ``exclude``."""
    mask = snapshot.select(filters or Filters())
    banned = list(exclude)
    if banned:
        size = int(max(snapshot.contents.max(initial=0), max(banned))) + 1
        full = np.ones(size, dtype=bool)
        if mask is not None:
            full[: len(mask)] &= mask[:size] if len(mask) >= size else mask
            full[len(mask) :] = False
        full[banned] = False
        mask = full
    query = Query("", mode=Mode.SEMANTIC, top=top)
    scan = _Scan(snapshot, mask, vector)
    limit = max(CANDIDATES, 3 * top)
    while True:
        candidates, exhausted = _gather(snapshot, query, mask, scan, Mode.SEMANTIC, limit)
        if exhausted or _distinct(candidates.contents) >= top:
            break
        limit *= 4
    return _results(snapshot, candidates, _scores(candidates, Mode.SEMANTIC, 0.0), ScoreKind.COSINE, query)


def _results(
    snapshot: Snapshot, candidates: _Candidates, scores: NDArray[np.float64], kind: ScoreKind, query: Query
) -> SearchResults:
    return SearchResults(
        documents=_grouped(candidates, scores, kind, query),
        generation=snapshot.generation,
        passages=snapshot.passages,
        embedded=int(np.count_nonzero(snapshot.alive)),
        candidates=len(candidates.passages),
    )


def _effective(query: Query, vector: NDArray[np.float32] | None) -> tuple[Mode, float]:
    weight = min(1.0, max(0.0, query.words_weight))
    if vector is None:
        return Mode.KEYWORD, 1.0
    if query.mode is Mode.HYBRID and weight >= 1.0:
        return Mode.KEYWORD, 1.0
    if query.mode is Mode.HYBRID and weight <= 0.0:
        return Mode.SEMANTIC, 0.0
    return query.mode, weight


class _Scan:
    """The semantic ranking of one query: scans once, gives as many as are asked for."""

    def __init__(self, snapshot: Snapshot, mask: Mask | None, vector: NDArray[np.float32]) -> None:
        self._snapshot = snapshot
        self._vector = np.ascontiguousarray(vector, dtype=np.float32)
        self._live = snapshot.alive.copy() if mask is None else snapshot.alive & _lookup(mask, snapshot.contents)
        self._live_count = int(np.count_nonzero(self._live))
        self._cosines: NDArray[np.float32] | None = None
        self._inverse: NDArray[np.int64] | None = None

    def best(self, limit: int) -> tuple[NDArray[np.int64], NDArray[np.float64], bool]:
        """Gives rows int64 [k<=limit], cosines float64 [k] best first, and whether that is all."""
        index = self._snapshot.index
        if self._cosines is None and index is not None and self._live_count >= 0.5 * len(self._live):
            found = self._by_index(limit)
            if found is not None:
                return found
        rows, cosines = self._exact()
        take = min(limit, len(rows))
        if take == 0:
            return np.zeros(0, np.int64), np.zeros(0, np.float64), True
        part = np.argpartition(-cosines, take - 1)[:take] if take < len(rows) else np.arange(len(rows))
        part = part[np.lexsort((rows[part], -cosines[part]))]
        return rows[part], cosines[part].astype(np.float64), take == len(rows)

    def cosines_of(self, passages: NDArray[np.int64]) -> NDArray[np.float64]:
        """Gives the cosines of passages, float64 [m]; NaN where there is no live vector."""
        out = np.full(len(passages), np.nan)
        if not len(passages) or not self._live_count:
            return out
        row_of = self._row_of()
        known = passages < len(row_of)
        rows = row_of[passages[known]]
        alive = rows >= 0
        known[known] = alive
        out[known] = np.asarray(self._snapshot.vectors[rows[alive]]) @ self._vector
        return out

    def _row_of(self) -> NDArray[np.int64]:
        """Gives the live row of each passage, int64 [max passage id + 1], -1 where there is none."""
        if self._inverse is None:
            rows = np.flatnonzero(self._live)
            passages = self._snapshot.passage_ids[rows]
            self._inverse = np.full(int(passages.max()) + 1, -1, dtype=np.int64)
            self._inverse[passages] = rows
        return self._inverse

    def _exact(self) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        if self._cosines is None:
            vectors = self._snapshot.vectors
            self._rows = np.flatnonzero(self._live)
            if len(self._rows) < _GATHER_BELOW * len(vectors):
                self._cosines = np.asarray(vectors[self._rows]) @ self._vector
            else:
                self._cosines = (np.asarray(vectors) @ self._vector)[self._rows]
        return self._rows, self._cosines

    def _by_index(self, limit: int) -> tuple[NDArray[np.int64], NDArray[np.float64], bool] | None:
        index = self._snapshot.index
        assert index is not None
        wanted = min(index.rows, int(limit * 1.2) + 32)
        rows, cosines = index.search(self._vector, wanted)
        keep = self._live[rows]
        rows, cosines = rows[keep], cosines[keep]
        tail = np.flatnonzero(self._live[index.rows :]) + index.rows
        if len(tail):
            tail_cosines = np.asarray(self._snapshot.vectors[tail[0] :]) @ self._vector
            rows = np.concatenate([rows, tail])
            cosines = np.concatenate([cosines, tail_cosines[tail - tail[0]]])
        if len(rows) < min(limit, self._live_count):
            return None
        order = np.lexsort((rows, -cosines))[:limit]
        return rows[order], cosines[order].astype(np.float64), len(order) >= self._live_count


def _gather(
    snapshot: Snapshot, query: Query, mask: Mask | None, scan: _Scan | None, mode: Mode, limit: int
) -> tuple[_Candidates, bool]:
    passages: list[NDArray[np.int64]] = []
    contents: list[NDArray[np.int64]] = []
    exhausted = True
    meaning: dict[int, int] = {}
    words: dict[int, tuple[int, float]] = {}
    if scan is not None:
        rows, _cosines, all_rows = scan.best(limit)
        found = snapshot.passage_ids[rows]
        meaning = {int(p): rank for rank, p in enumerate(found, 1)}
        passages.append(found)
        contents.append(snapshot.contents[rows])
        exhausted &= all_rows
    if mode is not Mode.SEMANTIC:
        found, scores, owners = snapshot.keyword(query.text, mask, limit)
        words = {int(p): (rank, float(s)) for rank, (p, s) in enumerate(zip(found, scores, strict=True), 1)}
        passages.append(found)
        contents.append(owners)
        exhausted &= len(found) < limit
    if not passages:
        empty = np.zeros(0, np.int64)
        return _Candidates(empty, empty, np.zeros(0), np.zeros(0), empty, empty), True
    merged, first = np.unique(np.concatenate(passages), return_index=True)
    owner = np.concatenate(contents)[first]
    cosine = scan.cosines_of(merged) if scan is not None else np.full(len(merged), np.nan)
    return _Candidates(
        passages=merged,
        contents=owner,
        cosine=cosine,
        bm25=np.array([words[int(p)][1] if int(p) in words else np.nan for p in merged], dtype=np.float64),
        meaning_rank=np.array([meaning.get(int(p), 0) for p in merged], dtype=np.int64),
        words_rank=np.array([words[int(p)][0] if int(p) in words else 0 for p in merged], dtype=np.int64),
    ), exhausted


def _scores(candidates: _Candidates, mode: Mode, weight: float) -> NDArray[np.float64]:
    """Gives the score that orders the hits, float64 [m]: in [0, 1], a cosine in [-1, 1]."""
    if not len(candidates.passages):
        return np.zeros(0)
    best = np.nanmax(candidates.bm25) if np.isfinite(candidates.bm25).any() else 0.0
    words = np.nan_to_num(candidates.bm25 / best if best > 0 else candidates.bm25, nan=0.0)
    if mode is Mode.KEYWORD:
        return words
    if mode is Mode.SEMANTIC:
        return np.nan_to_num(candidates.cosine, nan=-1.0)
    known = np.isfinite(candidates.cosine)
    if not known.any():
        return words
    low, high = candidates.cosine[known].min(), candidates.cosine[known].max()
    spread = (candidates.cosine - low) / (high - low) if high > low else np.where(known, 1.0, np.nan)
    if not known.all():
        # Passages still without a vector stand where the typical passage found by words stands.
        by_words = spread[known & np.isfinite(candidates.bm25)]
        spread = np.where(known, spread, float(np.median(by_words)) if len(by_words) else 0.5)
    return weight * words + (1.0 - weight) * spread


def _hit(candidates: _Candidates, i: int, score: float, kind: ScoreKind) -> Hit:
    cosine, bm25 = float(candidates.cosine[i]), float(candidates.bm25[i])
    return Hit(
        passage_id=PassageId(int(candidates.passages[i])),
        content_id=ContentId(int(candidates.contents[i])),
        score=min(1.0, max(0.0, score)),
        score_kind=kind,
        cosine=None if np.isnan(cosine) else cosine,
        bm25=None if np.isnan(bm25) else bm25,
        meaning_rank=int(candidates.meaning_rank[i]) or None,
        words_rank=int(candidates.words_rank[i]) or None,
    )


def _grouped(
    candidates: _Candidates, scores: NDArray[np.float64], kind: ScoreKind, query: Query
) -> tuple[DocumentHits, ...]:
    """Groups the candidates by document, best first; only hits that are shown become objects."""
    order = np.lexsort((candidates.passages, -scores)).tolist()
    owners = candidates.contents.tolist()

    def hits(chosen: Sequence[int]) -> tuple[Hit, ...]:
        return tuple(_hit(candidates, i, float(scores[i]), kind) for i in chosen)

    if query.by == "passage":
        return tuple(DocumentHits(ContentId(owners[i]), hits([i])) for i in order[: query.top])
    groups: dict[int, list[int]] = {}
    for i in order:
        group = groups.get(owners[i])
        if group is None:
            if len(groups) >= query.top:
                continue
            group = groups[owners[i]] = []
        group.append(i)
    keep = max(1, query.passages_per_document)
    return tuple(
        DocumentHits(ContentId(content), hits(group[:keep]), max(0, len(group) - keep))
        for content, group in groups.items()
    )


def _lookup(mask: Mask, contents: NDArray[np.int64]) -> Mask:
    """Gives bool [rows]; contents newer than the mask do not pass."""
    out = np.zeros(len(contents), dtype=bool)
    known = contents < len(mask)
    out[known] = mask[contents[known]]
    return out


def _distinct(contents: NDArray[np.int64]) -> int:
    return len(np.unique(contents))
