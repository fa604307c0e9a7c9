"""Second thoughts about an answer: steered by what the person marked, reordered by a cross-encoder."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sbert_desktop.domain import DocumentHits, Hit, PassageId, ScoreKind, SearchResults, Vectors

ALPHA, BETA, GAMMA = 1.0, 0.75, 0.25
"""Shares of query, wanted and unwanted passages. Source: Rocchio 1971, with the weights of Salton & Buckley
1990, "Improving Retrieval Performance by Relevance Feedback"."""


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


def reorder(results: SearchResults, scores: Mapping[int, float], *, top: int | None = None) -> SearchResults:
    """Puts the passages that a cross-encoder scored into its order; the others stay below in theirs.

    Documents stand by their best scored passage; equal scores keep the order they had.

    Args:
        results: As ``search`` gave them; ask it for as many documents as are to be scored.
        scores: By passage, on the model's own scale. Where all lie in [0, 1] they are shown as they are,
            else through the logistic function: the order is the same.
        top: Cut to so many documents afterwards; None for all.

    Returns:
        The same hits; those with a score are of the kind ``RERANK``.
    """
    logits = any(not 0.0 <= value <= 1.0 for value in scores.values())

    def scored(hit: Hit) -> Hit:
        value = scores.get(hit.passage_id)
        if value is None or not math.isfinite(value):
            return hit
        shown = _logistic(value) if logits else value
        return replace(hit, score=shown, score_kind=ScoreKind.RERANK, rerank=float(value))

    def rank(hit: Hit) -> float:
        return math.inf if hit.rerank is None else -hit.rerank

    documents: list[DocumentHits] = []
    for document in results.documents:
        hits = [scored(replace(hit, rerank=None)) for hit in document.hits]
        documents.append(replace(document, hits=tuple(sorted(hits, key=rank))))
    documents.sort(key=lambda document: rank(document.hits[0]) if document.hits else math.inf)
    return replace(results, documents=tuple(documents[:top]))


def _logistic(value: float) -> float:
    return 1.0 / (1.0 + math.exp(-value)) if value >= 0 else math.exp(value) / (1.0 + math.exp(value))
