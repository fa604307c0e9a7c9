"""Search: two rankings over one snapshot, fused, grouped by document, near-identical passages folded.

Semantic is the cosine of unit vectors; keyword is BM25 of the library. Hybrid is the convex sum
``w * bm25 / max(bm25) + (1 - w) * minmax(cosine)`` over the union of both candidate lists. Source:
Bruch et al. 2023, "An Analysis of Fusion Functions for Hybrid Retrieval"; w and everything else that
orders hits were measured here (docs/adr/0009-passages-and-fusion.md, docs/adr/0014-ranking.md). Runs
in any thread; numpy only.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, replace

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
from sbert_desktop.explore._scan import Scan, rows_of
from sbert_desktop.explore.chance import Chance
from sbert_desktop.explore.folding import fold

CANDIDATES = 200
"""Passages that each ranking gives to the fusion at first; more when few documents result."""
_WORDS_WITH_PHRASE = 50_000
"""Passages scored by words when there is a phrase: few documents are left then, and all are wanted."""
_OWNERS_READ = 500
"""Passages without a vector whose document is looked up, where a phrase begins in them."""
HALF_LIFE = 365 * 86_400.0
"""Age in seconds at which a document's newness is half of that of a new one."""


@dataclass(frozen=True, slots=True)
class _Candidates:
    """Union of both rankings, parallel arrays [m]; absent parts are NaN, ranks 0.

    ``first`` marks passages that stand before all others of their document: a phrase begins in them.
    ``exhausted``: there are no more. ``narrowest``: documents in that ranking which has the fewest, of
    those that could give more.
    """

    passages: NDArray[np.int64]
    contents: NDArray[np.int64]
    cosine: NDArray[np.float64]
    bm25: NDArray[np.float64]
    meaning_rank: NDArray[np.int64]
    words_rank: NDArray[np.int64]
    first: Mask
    exhausted: bool
    narrowest: int


@dataclass(frozen=True, slots=True)
class _Scope:
    """Which contents may be found, None for all, and the passages in which a phrase begins."""

    mask: Mask | None
    begins: NDArray[np.int64]


def search(
    snapshot: Snapshot,
    query: Query,
    vector: NDArray[np.float32] | None,
    *,
    chance: Chance | None = None,
    now: float | None = None,
) -> SearchResults:
    """Ranks the passages of a snapshot for one query.

    Filters, phrases and excluded words decide first which documents may be found at all. Passages in
    which a phrase begins stand before the others of their document, and documents stand by them.
    Without a word (a query of filters alone) the newest documents come first, by their first passage,
    with a score of 0: nothing was asked that they could answer better or worse.

    Args:
        snapshot: The state of the library to search.
        query: What is asked. ``top`` counts documents (or passages with ``by='passage'``).
        vector: The query's unit vector, float32 [dimension]; None when there is no model, then
            words alone decide whatever the mode says.
        chance: Tells the cosine that unrelated passages reach, for the results; None: they do not say.
        now: Seconds since the epoch that ages are counted from; the clock's by default.

    Returns:
        Documents best first, each with its best passages best first.
    """
    scope = _scope(snapshot, query)
    if _asks_nothing(query, vector) and not len(scope.begins):
        return _newest(snapshot, scope, query)
    mode, weight = _effective(query, vector)
    scan = Scan(snapshot, scope.mask, vector) if mode is not Mode.KEYWORD and vector is not None else None
    line = chance.level(snapshot, among=scan.count) if chance is not None and scan is not None else None
    fresh = _Freshness(snapshot, query.recency, time.time() if now is None else now)
    kind = {Mode.HYBRID: ScoreKind.FUSED, Mode.SEMANTIC: ScoreKind.COSINE, Mode.KEYWORD: ScoreKind.BM25}[mode]
    if fresh.weight:
        kind = ScoreKind.FUSED
    limit = max(CANDIDATES, 3 * query.top)
    while True:
        candidates = _gather(snapshot, query, scope, scan, mode, limit)
        scores = fresh.mixed(_scores(candidates, mode, weight), candidates.contents)
        documents = _grouped(snapshot, candidates, scores, kind, query)
        # A long document may fill one ranking alone, and hide there what the other does not find.
        if candidates.exhausted or (len(documents) >= query.top and candidates.narrowest >= query.top):
            break
        limit *= 4
    return _results(snapshot, candidates, documents, line)


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
    query = Query("", mode=Mode.SEMANTIC, top=top, fold=False)
    scope = _Scope(mask, np.zeros(0, np.int64))
    scan = Scan(snapshot, mask, vector)
    limit = max(CANDIDATES, 3 * top)
    while True:
        candidates = _gather(snapshot, query, scope, scan, Mode.SEMANTIC, limit)
        if candidates.exhausted or candidates.narrowest >= top:
            break
        limit *= 4
    scores = _scores(candidates, Mode.SEMANTIC, 0.0)
    documents = _grouped(snapshot, candidates, scores, ScoreKind.COSINE, query)
    return _results(snapshot, candidates, documents, None)


def _results(
    snapshot: Snapshot, candidates: _Candidates, documents: tuple[DocumentHits, ...], chance: float | None
) -> SearchResults:
    return SearchResults(
        documents=documents,
        generation=snapshot.generation,
        passages=snapshot.passages,
        embedded=int(np.count_nonzero(snapshot.alive)),
        candidates=len(candidates.passages),
        chance=chance,
    )


def _scope(snapshot: Snapshot, query: Query) -> _Scope:
    none = np.zeros(0, np.int64)
    mask = snapshot.select(query.filters)
    parsed = query.parsed
    if parsed is None:
        return _Scope(mask, none)
    if parsed.filters and parsed.filters != query.filters:
        typed = snapshot.select(parsed.filters)
        mask = typed if mask is None else _both(mask, typed)
    held = snapshot.holding(parsed.phrases, parsed.excluded_words, parsed.excluded_phrases, mask)
    return _Scope(mask, none) if held is None else _Scope(held.mask, held.passages)


def _both(one: Mask, other: Mask | None) -> Mask:
    if other is None:
        return one
    size = min(len(one), len(other))
    both: Mask = one[:size] & other[:size]
    return both


def _asks_nothing(query: Query, vector: NDArray[np.float32] | None) -> bool:
    """Tells a query of filters alone, whatever the encoder makes of no words, from a text or passages as a query."""
    if query.words.strip():
        return False
    return vector is None or (query.parsed is not None and not query.like.strip() and not query.more)


def _newest(snapshot: Snapshot, scope: _Scope, query: Query) -> SearchResults:
    passages, contents = snapshot.newest(scope.mask, query.top)
    documents = tuple(
        DocumentHits(
            ContentId(content), (Hit(PassageId(passage), ContentId(content), 0.0, ScoreKind.BM25, None, None),)
        )
        for passage, content in zip(passages.tolist(), contents.tolist(), strict=True)
    )
    return SearchResults(
        documents=documents,
        generation=snapshot.generation,
        passages=snapshot.passages,
        embedded=int(np.count_nonzero(snapshot.alive)),
        candidates=len(passages),
    )


def _effective(query: Query, vector: NDArray[np.float32] | None) -> tuple[Mode, float]:
    weight = min(1.0, max(0.0, query.words_weight))
    if vector is None:
        return Mode.KEYWORD, 1.0
    if not query.words.strip():  # a pasted text, or passages to be more like: nothing to look up
        return Mode.SEMANTIC, 0.0
    if query.mode is Mode.HYBRID and weight >= 1.0:
        return Mode.KEYWORD, 1.0
    if query.mode is Mode.HYBRID and weight <= 0.0:
        return Mode.SEMANTIC, 0.0
    return query.mode, weight


class _Freshness:
    """Mixes newness into scores: convex, with ``1 / (1 + age / HALF_LIFE)``, which keeps old years apart too."""

    def __init__(self, snapshot: Snapshot, weight: float, now: float) -> None:
        self.weight = min(1.0, max(0.0, weight))
        self._now = now
        self._dates = snapshot.dates() if self.weight else np.zeros(0)

    def mixed(self, scores: NDArray[np.float64], contents: NDArray[np.int64]) -> NDArray[np.float64]:
        """Gives scores float64 [m]; a document without a date counts as very old."""
        if not self.weight or not len(scores):
            return scores
        dates = np.full(len(contents), np.nan)
        known = contents < len(self._dates)
        dates[known] = self._dates[contents[known]]
        age = np.maximum(0.0, self._now - dates)
        newness = np.nan_to_num(1.0 / (1.0 + age / HALF_LIFE), nan=0.0)
        return (1.0 - self.weight) * np.maximum(0.0, scores) + self.weight * newness


def _gather(snapshot: Snapshot, query: Query, scope: _Scope, scan: Scan | None, mode: Mode, limit: int) -> _Candidates:
    """Takes the best of each ranking, and the passages in which a phrase begins."""
    passages: list[NDArray[np.int64]] = []
    contents: list[NDArray[np.int64]] = []
    meaning = words = np.zeros(0, np.int64)
    scores = np.zeros(0)
    more: list[int] = []  # documents in each ranking that could give more
    if scan is not None:
        rows, whole = scan.best(limit)
        meaning = snapshot.passage_ids[rows]
        passages.append(meaning)
        contents.append(snapshot.contents[rows])
        more += [] if whole else [len(np.unique(contents[-1]))]
    if mode is not Mode.SEMANTIC:
        wanted = max(limit, _WORDS_WITH_PHRASE) if len(scope.begins) else limit
        words, scores, owners = snapshot.keyword(query.words, scope.mask, wanted)
        passages.append(words)
        contents.append(owners)
        more += [] if len(words) < wanted else [len(np.unique(owners))]
    if len(scope.begins):
        begins, owners = _owned(snapshot, scope.begins, words, contents[-1] if len(words) else words)
        passages.append(begins)
        contents.append(owners)
    merged, first = np.unique(np.concatenate(passages), return_index=True)
    at_meaning, at_words = np.searchsorted(merged, meaning), np.searchsorted(merged, words)
    meaning_rank, words_rank = np.zeros(len(merged), np.int64), np.zeros(len(merged), np.int64)
    meaning_rank[at_meaning] = np.arange(1, len(meaning) + 1)
    words_rank[at_words] = np.arange(1, len(words) + 1)
    bm25 = np.full(len(merged), np.nan)
    bm25[at_words] = scores
    return _Candidates(
        passages=merged,
        contents=np.concatenate(contents)[first],
        cosine=scan.cosines_of(merged) if scan is not None else np.full(len(merged), np.nan),
        bm25=bm25,
        meaning_rank=meaning_rank,
        words_rank=words_rank,
        first=np.isin(merged, scope.begins) if len(scope.begins) else np.zeros(len(merged), np.bool_),
        exhausted=not more,
        narrowest=min(more, default=len(merged)),
    )


def _owned(
    snapshot: Snapshot, begins: NDArray[np.int64], words: NDArray[np.int64], owners: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Gives the passages whose content is known, and the contents: by their rows, by words, else read."""
    contents = np.full(len(begins), -1, np.int64)
    rows = rows_of(snapshot.passage_ids, snapshot.alive, begins)
    contents[rows >= 0] = snapshot.contents[rows[rows >= 0]]
    order = np.argsort(words)
    place = np.minimum(np.searchsorted(words, begins, sorter=order), max(0, len(words) - 1))
    if len(words):
        same = words[order[place]] == begins
        contents[same] = owners[order[place[same]]]
    unknown = np.flatnonzero(contents < 0)[:_OWNERS_READ]
    if len(unknown):
        records = snapshot.fetch(begins[unknown].tolist())
        for i in unknown.tolist():
            record = records.get(int(begins[i]))
            contents[i] = -1 if record is None else record.content_id
    known = contents >= 0
    return begins[known], contents[known]


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
    snapshot: Snapshot, candidates: _Candidates, scores: NDArray[np.float64], kind: ScoreKind, query: Query
) -> tuple[DocumentHits, ...]:
    """Groups the candidates by document, best first; only hits that are shown become objects."""
    order = np.lexsort((candidates.passages, -scores, ~candidates.first))
    owners = candidates.contents[order]
    leaders = np.arange(len(order)) if query.by == "passage" else np.sort(np.unique(owners, return_index=True)[1])
    best = order[leaders]
    if query.fold:
        kept, counts = fold(snapshot, candidates.passages[best], candidates.contents[best], query.top)
    else:
        kept = list(range(min(len(best), query.top)))
        counts = [0] * len(kept)
    if query.by == "passage":
        groups = [[int(best[place])] for place in kept]
    else:
        wanted: dict[int, list[int]] = {int(candidates.contents[best[place]]): [] for place in kept}
        for i, owner in zip(order.tolist(), owners.tolist(), strict=True):
            if owner in wanted:
                wanted[owner].append(i)
        groups = list(wanted.values())
    keep = max(1, query.passages_per_document)
    documents = []
    for group, count in zip(groups, counts, strict=True):
        hits = [_hit(candidates, i, float(scores[i]), kind) for i in group[:keep]]
        if count:
            hits[0] = replace(hits[0], folded=count)
        documents.append(DocumentHits(hits[0].content_id, tuple(hits), max(0, len(group) - keep)))
    return tuple(documents)
