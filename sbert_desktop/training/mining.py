"""Hard negatives: passages that look like the answer and are none, found among the passages of the library.

For each question (or text) the candidates are what the encoder ranks high, and what shares its words where such a
ranking is given. Of these go out: the positive's own document and those judged right; the very first ranks, where right
answers that nobody judged are likely; what is as near as the positive; and what a cross-encoder calls right. Pure
functions over arrays, any thread.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sbert_desktop.domain import Vectors
from sbert_desktop.errors import UsageError
from sbert_desktop.training.labels import Example, LabelKind, LabelSet, same_text

Integers = NDArray[np.int64]
Score = Callable[[int, Integers], NDArray[np.floating]]
"""Gives the scores (0 to 1) of a cross-encoder for one anchor, by its place, with passages, by their rows."""
_BLOCK = 64 * 1024 * 1024
"""Cosines held at a time."""


@dataclass(frozen=True, slots=True)
class Rules:
    """What counts as a hard negative.

    Attributes:
        per_positive: So many for each, at most.
        first: Ranks before this one are passed over, counted from 1 without what is excluded.
        last: Ranks after this one are not looked at.
        share: A negative's cosine is at most this share of the positive's. Source: 0.95 as in NV-Retriever (Moreira
            et al. 2024).
        margin: And at least so far below it.
        highest_score: From this score of a cross-encoder on a passage counts as right after all.
    """

    per_positive: int = 1
    first: int = 5
    last: int = 100
    share: float = 0.95
    margin: float = 0.0
    highest_score: float = 0.5

    def __post_init__(self) -> None:
        if self.per_positive < 1 or not 1 <= self.first <= self.last or not 0.0 < self.share <= 1.0 or self.margin < 0:
            raise UsageError("bad-mining-rules", "Hard negatives cannot be looked for in this way.",
                             "Choose ranks from 1 on, the first before the last, and a share of up to 1.")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Mined:
    """What was found.

    Attributes:
        rows: For each positive the rows of its negatives, the hardest first; fewer than wanted where there are none.
        without: Positives without any.
        too_near: Candidates that were left out for being as near as the positive.
        called_right: Candidates that the cross-encoder called right.
    """

    rows: tuple[tuple[int, ...], ...]
    without: int
    too_near: int
    called_right: int


def mine(
    anchors: Vectors,
    positives: Vectors,
    passages: Vectors,
    documents: Integers,
    excluded: Sequence[Collection[int]],
    *,
    rules: Rules | None = None,
    by_words: Sequence[Sequence[int]] | None = None,
    score: Score | None = None,
) -> Mined:
    """Finds hard negatives for each positive.

    Args:
        anchors: Questions or texts, float32 [n, dimension], unit rows.
        positives: What answers each, float32 [n, dimension], unit rows.
        passages: Where to look, float32 [m, dimension], unit rows.
        documents: The document of each passage, int64 [m].
        excluded: For each anchor the documents that may not be taken: the positive's own, the anchor's own, and all
            that were judged right for it.
        rules: See :class:`Rules`.
        by_words: For each anchor rows of passages ranked by words, candidates too, the best first.
        score: Scores of a cross-encoder, as a filter.
    """
    rules = rules or Rules()
    if not len(anchors) == len(positives) == len(excluded):
        raise ValueError("anchors, positives and excluded must be of one length")
    limits = _limits(anchors, positives, rules)
    found: list[tuple[int, ...]] = []
    too_near = called_right = 0
    block = max(1, _BLOCK // max(1, 4 * len(passages)))
    for start in range(0, len(anchors), block):
        cosines = anchors[start : start + block] @ passages.T
        for place, row in enumerate(cosines, start):
            ranked = _ranked(row, documents, excluded[place], rules)
            if by_words is not None:
                ranked = _joined(ranked, by_words[place], row, documents, excluded[place], rules)
            near = row[ranked] > limits[place]
            too_near += int(near.sum())
            ranked = ranked[~near]
            if score is not None:
                ranked, dropped = _scored(ranked, place, score, rules)
                called_right += dropped
            found.append(tuple(ranked[: rules.per_positive].tolist()))
    return Mined(tuple(found), sum(not rows for rows in found), too_near, called_right)


def with_negatives(labels: LabelSet, mined: Mined, texts: Sequence[str], names: Sequence[str] = ()) -> LabelSet:
    """Gives positives with their negatives as triplets, one for each negative; those without any are left out.

    Args:
        labels: The positives that were mined for, in their order; further texts of an example are not looked at.
        mined: What was found for them.
        texts: Of the passages, by row.
        names: sha256 of the documents of the passages, by row; none: not known.
    """
    found = []
    for example, rows in zip(labels.examples, mined.rows, strict=True):
        own = {same_text(text) for text in example.texts[:2]}
        for row in rows:
            if same_text(texts[row]) in own:
                continue
            documents = (example.document(0), example.document(1), names[row] if names else "")
            found.append(Example((*example.texts[:2], texts[row]), 1.0, documents, example.source, example.line,
                                 example.made))  # fmt: skip
    return LabelSet(LabelKind.TRIPLETS, tuple(found))


def _limits(anchors: Vectors, positives: Vectors, rules: Rules) -> NDArray[np.float32]:
    """Gives the highest cosine that a negative of each anchor may have, float32 [n]."""
    cosines = np.einsum("nd,nd->n", anchors, positives)
    # A share of a cosine below 0 would lie above it.
    limits: NDArray[np.float32] = np.minimum(cosines * rules.share, cosines) - np.float32(rules.margin)
    return limits


def _allowed(rows: Integers, documents: Integers, excluded: Collection[int]) -> Integers:
    return rows[~np.isin(documents[rows], np.fromiter(excluded, np.int64, len(excluded)))]


def _ranked(row: NDArray[np.float32], documents: Integers, excluded: Collection[int], rules: Rules) -> Integers:
    """Gives the passages of the ranks that are looked at, the nearest first."""
    # All of the excluded documents' passages may stand before the last rank.
    away = int(np.isin(documents, np.fromiter(excluded, np.int64, len(excluded))).sum())
    count = min(len(row), rules.last + away)
    if not count:
        return np.empty(0, np.int64)
    top = np.argpartition(-row, count - 1)[:count]
    top = top[np.lexsort((top, -row[top]))]  # of equals the earlier row, so that the same is found again
    return _allowed(top, documents, excluded)[rules.first - 1 : rules.last]


def _joined(
    ranked: Integers, words: Sequence[int], row: NDArray[np.float32], documents: Integers, excluded: Collection[int],
    rules: Rules,
) -> Integers:
    """Adds what ranks high by words; together they stand by their cosine."""
    more = _allowed(np.asarray(words, np.int64), documents, excluded)[rules.first - 1 : rules.last]
    both = np.union1d(ranked, more)
    return both[np.lexsort((both, -row[both]))]


def _scored(ranked: Integers, place: int, score: Score, rules: Rules) -> tuple[Integers, int]:
    """Keeps candidates that a cross-encoder does not call right, until there are enough; gives also how many it did."""
    kept: list[int] = []
    dropped = 0
    step = max(8, 4 * rules.per_positive)
    for start in range(0, len(ranked), step):
        some = ranked[start : start + step]
        right = np.asarray(score(place, some)) >= rules.highest_score
        for one, is_right in zip(some.tolist(), right.tolist(), strict=True):
            if len(kept) == rules.per_positive:
                break
            if is_right:
                dropped += 1
            else:
                kept.append(one)
        if len(kept) == rules.per_positive:
            break
    return np.array(kept, np.int64), dropped
