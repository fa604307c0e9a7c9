"""Second thoughts about an answer: steered by what the person marked, reordered by a cross-encoder."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sbert_desktop.domain import Hit, PassageId, ScoreKind, SearchResults, Vectors

ALPHA, BETA, GAMMA = 1.0, 0.75, 0.25
"""Shares of query, wanted and unwanted passages. Source: Rocchio 1971, with the weights of Salton & Buckley
1990, "Improving Retrieval Performance by Relevance Feedback"."""

SHARE = 0.55
"""Of the cross-encoder in the score of both stages. Source: docs/adr/0015-second-stage.md."""
FULL_SPREAD = 6.0
"""Logits between best and worst from which a cross-encoder has its full share. One that knows nothing, or the
language not, tells the passages hardly apart, and must not have its noise blown up."""
_NEAR = 1e-6  # float32 knows nothing nearer to 1


def steer(vector: NDArray[np.float32], more: Vectors, less: Vectors) -> NDArray[np.float32]:
    """Moves a query towards some passages and away from others.

    Args:
        vector: The query's unit vector, float32 [dimension].
        more: Passages to be more like, float32 [m, dimension]; may be empty.
        less: Passages to be less like, float32 [l, dimension]; may be empty.

    Returns:
        The new unit vector, float32 [dimension]; the query itself where nothing would be left of it.
    """
    moved = ALPHA * vector.astype(np.float64)
    if len(more):
        moved += BETA * np.asarray(more, np.float64).mean(axis=0)
    if len(less):
        moved -= GAMMA * np.asarray(less, np.float64).mean(axis=0)
    length = float(np.linalg.norm(moved))
    if length < 1e-6:
        return vector
    unit: NDArray[np.float32] = (moved / length).astype(np.float32)
    return unit


def shortlist(results: SearchResults, count: int) -> tuple[PassageId, ...]:
    """Gives the passages to be scored again: the best of each document first, then the second best."""
    depth = max((len(document.hits) for document in results.documents), default=0)
    ranked = [
        document.hits[level].passage_id
        for level in range(depth)
        for document in results.documents
        if level < len(document.hits)
    ]
    return tuple(ranked[: max(0, count)])


def reorder(
    results: SearchResults, scores: Mapping[int, float], *, top: int | None = None, share: float = SHARE
) -> SearchResults:
    """Orders the passages that a cross-encoder scored by both stages; the others stay below in their order.

    The score of both is ``share * second + (1 - share) * first``, each brought to [0, 1] over the scored
    passages: a cross-encoder that knows little moves a good order little. Documents stand by their best
    scored passage; equal scores keep the order they had.

    Args:
        results: As ``search`` gave them; ask it for as many documents as are to be scored.
        scores: By passage, on the model's own scale; what is not finite counts as not scored.
        top: Cut to so many documents afterwards; None for all.
        share: Of the cross-encoder in the order, in [0, 1].

    Returns:
        The same hits; those with a score are of the kind ``RERANK``, their ``score`` is that of both stages.
    """
    known = {passage: float(value) for passage, value in scores.items() if math.isfinite(value)}
    second = _spread({passage: _logit(value, known) for passage, value in known.items()}, least=FULL_SPREAD)
    first = _spread({hit.passage_id: hit.score for one in results.documents for hit in one.hits
                     if hit.passage_id in known})

    def scored(hit: Hit) -> Hit:
        value = known.get(hit.passage_id)
        if value is None:
            return replace(hit, rerank=None)
        both = share * second[hit.passage_id] + (1.0 - share) * first[hit.passage_id]
        return replace(hit, score=min(1.0, both), score_kind=ScoreKind.RERANK, rerank=value)

    def rank(hit: Hit) -> float:
        return math.inf if hit.rerank is None else -hit.score

    documents = [
        replace(document, hits=tuple(sorted(map(scored, document.hits), key=rank))) for document in results.documents
    ]
    documents.sort(key=lambda document: rank(document.hits[0]) if document.hits else math.inf)
    return replace(results, documents=tuple(documents[:top]))


def _spread(values: Mapping[int, float], *, least: float = 0.0) -> dict[int, float]:
    """Brings values to [0, 1], the greatest to 1; the least to 0 where they differ by ``least`` or more."""
    low, high = min(values.values(), default=0.0), max(values.values(), default=0.0)
    width = max(high / 2 - low / 2, least / 2)  # the difference itself may be beyond what a float holds
    return {key: 1.0 - (high / 2 - value / 2) / width if width > 0 else 1.0 for key, value in values.items()}


def _logit(value: float, among: Mapping[int, float]) -> float:
    """Undoes the logistic function of a model whose scores all lie in [0, 1]: near 1 all good ones look alike."""
    if any(not 0.0 <= one <= 1.0 for one in among.values()):
        return value
    inside = min(1.0 - _NEAR, max(_NEAR, value))
    return math.log(inside / (1.0 - inside))
