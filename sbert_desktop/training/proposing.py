"""Which pair to ask a person about next: those that teach most, mixed with sure ones, and none twice.

Near the decision threshold an answer moves it most; answers that are sure keep the labels honest (a person who only
sees hard cases loses the measure, and a model needs both ends). Pairs are spread over clusters, no text is shown twice
in a session, nothing that was judged is asked again. numpy only; the same seed gives the same pairs; any thread.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Texts = NDArray[np.uint64]

UNSURE, SURE_SAME, SURE_DIFFERENT = 0.6, 0.2, 0.2
"""Shares of the pairs: near the threshold, well above it, well below it."""
_FAR = 0.12
"""Cosine above or below the threshold from which an answer counts as sure, if there are such pairs."""
_DRAWN = 60
"""Candidates looked at for each pair that is wanted; those further from what is looked for are not needed."""


class Why(StrEnum):
    """Why a pair is asked; shown in place of its similarity, which would sway the person."""

    UNSURE = "unsure"
    SURE_SAME = "sure-same"
    SURE_DIFFERENT = "sure-different"


@dataclass(frozen=True, slots=True)
class Proposal:
    """One pair to ask: the place of the candidate, and why it was chosen."""

    place: int
    why: Why


@dataclass(frozen=True, slots=True)
class Candidates:
    """Pairs that could be asked.

    Attributes:
        cosines: float [n].
        first: uint64 [n], a hash of the first text (of its normalised form).
        second: uint64 [n], the same of the second.
        clusters: int64 [n], where the pair lies; None: all in one. -1 is a cluster like others.
        first_documents: int64 [n], the document of the first text; None: not known.
        second_documents: int64 [n], the same of the second.
    """

    cosines: NDArray[np.floating]
    first: Texts
    second: Texts
    clusters: Integers | None = None
    first_documents: Integers | None = None
    second_documents: Integers | None = None

    def __len__(self) -> int:
        return len(self.cosines)


def propose_pairs(
    candidates: Candidates, threshold: float, count: int, *, shown: Collection[int] = (),
    judged: Collection[tuple[int, int]] = (), seed: int = 0,
) -> tuple[Proposal, ...]:  # fmt: skip
    """Chooses the pairs to ask next, in the order in which to ask them; fewer where there are no more.

    Args:
        candidates: What could be asked.
        threshold: Cosine from which the model calls two texts the same at present.
        count: Pairs wanted.
        shown: Hashes of texts that were shown in this session.
        judged: Hashes of the two texts of pairs that were judged, in any order.
        seed: The same seed gives the same pairs.
    """
    total = len(candidates)
    if not total or count < 1:
        return ()
    cosines = np.asarray(candidates.cosines, np.float64)
    rng = np.random.default_rng(seed)
    free = np.isfinite(cosines) & (candidates.first != candidates.second)
    if shown:
        seen = np.fromiter(shown, np.uint64, len(shown))
        free &= ~np.isin(candidates.first, seen) & ~np.isin(candidates.second, seen)
    free &= ~_judged(candidates, judged)
    places = np.flatnonzero(free)
    if not len(places):
        return ()
    distance = cosines[places] - threshold
    wanted = _wanted(count)
    used = _Used(candidates)
    chosen: dict[Why, list[int]] = {}
    for why in (Why.UNSURE, Why.SURE_SAME, Why.SURE_DIFFERENT):
        ranked = _ranked(places, distance, why, wanted[why], rng)
        chosen[why] = used.take(ranked, wanted[why])
    missing = count - sum(len(found) for found in chosen.values())
    if missing:  # no sure ones: more of the unsure, as near as there are
        nearest = places[np.argsort(np.abs(distance), kind="stable")[: max(5_000, _DRAWN * count)]]
        chosen[Why.UNSURE] += used.take(nearest, missing)
    return tuple(_mixed(chosen, rng))


def _judged(candidates: Candidates, judged: Collection[tuple[int, int]]) -> NDArray[np.bool_]:
    """Says which candidates were judged, whichever text came first."""
    if not judged:
        return np.zeros(len(candidates), bool)
    pairs = np.array([(min(pair), max(pair)) for pair in judged], np.uint64)
    low, high = np.minimum(candidates.first, candidates.second), np.maximum(candidates.first, candidates.second)
    maybe = np.flatnonzero(np.isin(low, pairs[:, 0]) & np.isin(high, pairs[:, 1]))
    known = set(map(tuple, pairs.tolist()))
    found = np.zeros(len(candidates), bool)
    found[maybe] = [pair in known for pair in zip(low[maybe].tolist(), high[maybe].tolist(), strict=True)]
    return found


def _wanted(count: int) -> dict[Why, int]:
    """Gives how many of each; one alone is unsure."""
    sure = round(count * SURE_SAME), round(count * SURE_DIFFERENT)
    return {Why.UNSURE: count - sum(sure), Why.SURE_SAME: sure[0], Why.SURE_DIFFERENT: sure[1]}


def _ranked(
    places: Integers, distance: NDArray[np.float64], why: Why, wanted: int, rng: np.random.Generator
) -> Integers:
    """Gives candidates for one reason, the best first."""
    if not wanted:
        return places[:0]
    most = max(2_000, _DRAWN * wanted)
    if why is Why.UNSURE:
        off = np.abs(distance)
        near = np.argpartition(off, most)[:most] if len(off) > most else np.arange(len(off))
        return places[near[np.argsort(off[near], kind="stable")]]
    side = distance if why is Why.SURE_SAME else -distance
    sure = np.flatnonzero(side >= _FAR)
    if not len(sure):
        sure = np.flatnonzero(side > 0)
        sure = sure[np.argsort(-side[sure], kind="stable")[:most]]
    # By lot: the surest of all are copies, or have nothing in common, and all look alike.
    drawn: Integers = places[rng.permutation(sure)[:most]]
    return drawn


class _Used:
    """What was chosen so far: no text twice, clusters and documents as evenly as the candidates allow."""

    def __init__(self, candidates: Candidates) -> None:
        self._candidates = candidates
        self._texts: set[int] = set()
        self._clusters: dict[int, int] = {}
        self._documents: dict[int, int] = {}

    def take(self, ranked: Integers, count: int) -> list[int]:
        """Takes the first that are free, those of clusters and documents that were used least before others."""
        rows = self._rows(ranked)
        found: list[int] = []
        taken: set[int] = set()
        rounds, most = 0, count + len(self._texts) // 2
        # In each round a cluster and a document may be used once more than in the one before.
        while len(found) < count and len(taken) < len(rows) and rounds <= most:
            for place, first, second, cluster, documents in rows:
                if len(found) == count:
                    break
                if place in taken:
                    continue
                if first in self._texts or second in self._texts:
                    taken.add(place)
                    continue
                used = (self._clusters.get(cluster, 0), *(self._documents.get(document, 0) for document in documents))
                if max(used) > rounds:
                    continue
                taken.add(place)
                found.append(place)
                self._texts.update((first, second))
                self._clusters[cluster] = self._clusters.get(cluster, 0) + 1
                for document in documents:
                    self._documents[document] = self._documents.get(document, 0) + 1
            rounds += 1
        return found

    def _rows(self, ranked: Integers) -> list[tuple[int, int, int, int, tuple[int, ...]]]:
        of = self._candidates
        # Without clusters each pair is one of its own, and nothing is spread.
        clusters = ranked.tolist() if of.clusters is None else of.clusters[ranked].tolist()
        homes = [part[ranked].tolist() for part in (of.first_documents, of.second_documents) if part is not None]
        documents = [tuple(sorted(set(pair))) for pair in zip(*homes, strict=True)] if homes else [()] * len(ranked)
        return list(zip(ranked.tolist(), of.first[ranked].tolist(), of.second[ranked].tolist(), clusters, documents,
                        strict=True))  # fmt: skip


def _mixed(chosen: dict[Why, list[int]], rng: np.random.Generator) -> list[Proposal]:
    """Gives all in an order that tells nothing: each kind is spread over the whole."""
    keyed = []
    for why, places in chosen.items():
        start = rng.random()
        keyed += [((place + start) / len(places), why, at) for place, at in enumerate(places)]
    return [Proposal(at, why) for _, why, at in sorted(keyed, key=lambda item: (item[0], item[1]))]


def propose_passages(
    questions: Integers, scores: NDArray[np.floating], passages: Texts, count: int, *,
    judged: Collection[tuple[int, int]] = (), shown: Collection[int] = (), documents: Integers | None = None,
    seed: int = 0,
) -> tuple[Proposal, ...]:  # fmt: skip
    """Chooses which passages to ask about: "does this answer?".

    Of each question first what stands on top, then what stands where scores no longer part right from wrong, and now
    and then one from the end, so that there are wrong ones; questions take turns.

    Args:
        questions: int64 [n], the number of the question of each candidate.
        scores: float [n], what the ranking of its question used: larger is better.
        passages: uint64 [n], a hash of the passage's text.
        count: Candidates wanted.
        judged: Question and hash of passages that were judged for it.
        shown: Hashes of passages that were shown in this session.
        documents: int64 [n]: of one document not two are asked for one question; None: not known.
        seed: The same seed gives the same.
    """
    rng = np.random.default_rng(seed)
    known = set(judged)
    texts = set(shown)
    places = np.flatnonzero(np.isfinite(np.asarray(scores, np.float64)))
    order = places[np.lexsort((-np.asarray(scores, np.float64)[places], questions[places]))]
    if not len(order):
        return ()
    starts = np.flatnonzero(np.diff(questions[order], prepend=questions[order][:1] - 1))
    queues: list[list[tuple[int, Why]]] = []
    for start, end in zip(starts.tolist(), [*starts[1:].tolist(), len(order)], strict=True):
        queues.append(_queue(order[start:end].tolist(), rng))
    turns = [queues[place] for place in rng.permutation(len(queues)).tolist()]
    asked: set[tuple[int, int]] = set()
    found: list[Proposal] = []
    while len(found) < count and any(turns):
        for queue in turns:
            while queue and len(found) < count:
                place, why = queue.pop(0)
                question, text = int(questions[place]), int(passages[place])
                home = (question, int(documents[place])) if documents is not None else None
                if (question, text) in known or text in texts or home in asked:
                    continue
                texts.add(text)
                if home is not None:
                    asked.add(home)
                found.append(Proposal(place, why))
                break
    return tuple(found)


def _queue(ranked: list[int], rng: np.random.Generator) -> list[tuple[int, Why]]:
    """Gives the candidates of one question in the order to ask: top, middle, middle, top, end, and so on."""
    count = len(ranked)
    third = max(1, count // 10)
    top, end = ranked[:third], ranked[max(third, count - 2 * third) :]
    middle = [ranked[place] for place in range(third, max(third, count - 2 * third))]
    rng.shuffle(end)
    queue: list[tuple[int, Why]] = []
    pattern = (Why.SURE_SAME, Why.UNSURE, Why.UNSURE, Why.UNSURE, Why.SURE_DIFFERENT)
    stores = {Why.SURE_SAME: top, Why.UNSURE: middle, Why.SURE_DIFFERENT: end}
    for why in pattern * count:
        if stores[why]:
            queue.append((stores[why].pop(0), why))
        if len(queue) == count:
            break
    return queue
