"""Which labels are learned from and which are kept aside: parted by document, never by label.

Labels that share a document, or a text, stand on one side: else the model is asked about what it was shown. They are
joined into components, and whole components are kept aside. Texts count as the same when they differ in case,
punctuation and accents only. Where everything hangs together, labels between two sides are left out; where that
would cost too many, texts alone are kept apart, and the split says so; where that fails, there is none.
Pure functions, any thread; the same seed gives the same split.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from sbert_desktop.errors import TrainingError
from sbert_desktop.training.enough import HELD_OUT
from sbert_desktop.training.labels import LabelKind, LabelSet, nearly_same_text

Integers = NDArray[np.int64]

MOST_LEFT_OUT = 1 / 3
"""Share of the labels that may be left out to keep documents apart."""
_LEAST_OF_WANTED = 0.5
"""Share of the wanted number from which a held-out part is taken as it came."""
_TRIES = 8
"""Orders in which components are tried; the best balanced is taken."""
_LOOKED_AT = 200
"""Labels of a text or document that say how near it is to a side that grows."""
_MANY = 5_000
"""Components from which one order is as good as another."""


class Apart(StrEnum):
    """What is never on both sides."""

    DOCUMENT = "document"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class Split:
    """Places of labels in their set, each in one of the three at most.

    Attributes:
        train: Those to learn from, rising.
        held_out: Those kept aside, rising.
        left_out: Those that lie between both sides and are used for nothing, rising.
        apart: What is never on both sides: documents (and texts), or texts only.
        clusters: int64 [labels]: the component of each label, for intervals: those of one component are not
            independent. With labels left out, components are those within a side.
        note: A plain sentence where the split is not what was asked for, else empty.
    """

    train: tuple[int, ...]
    held_out: tuple[int, ...]
    left_out: tuple[int, ...]
    apart: Apart
    clusters: Integers
    note: str = ""

    def sizes(self, places: Sequence[int] | None = None) -> list[int]:
        """Gives how many labels each component has, of all or of these labels, the largest first."""
        chosen = self.clusters if places is None else self.clusters[np.asarray(places, np.int64)]
        return sorted(np.unique(chosen, return_counts=True)[1].tolist(), reverse=True)


def components(labels: LabelSet, apart: Apart = Apart.DOCUMENT) -> Integers:
    """Gives the component of each label, int64 [labels], numbered from 0 in their order."""
    return _components(_nodes(labels, apart), np.arange(len(labels)))


def split(labels: LabelSet, *, share: float = HELD_OUT, seed: int = 0) -> Split:
    """Parts labels into those to learn from and those kept aside.

    Args:
        labels: All of them.
        share: Share to keep aside, above 0 and below 1; met as nearly as the components allow.
        seed: The same seed gives the same split.

    Raises:
        TrainingError: ``cannot-split``: no two parts can be made that have nothing in common.
    """
    if not 0.0 < share < 1.0:
        raise TrainingError("cannot-split", f"A share of {share:g} cannot be kept aside.", "Choose one of 0.1 to 0.5.")
    strata = _strata(labels)
    for apart in Apart:
        nodes = _nodes(labels, apart)
        found = _components(nodes, np.arange(len(labels)))
        held = _held_out(found, strata, share, seed)
        if held is not None:
            note = "" if apart is Apart.DOCUMENT else _NO_DOCUMENTS
            return _made(held, np.zeros(len(labels), bool), apart, found, note)
        cut = _cut(nodes, found, share, seed)
        if cut is None:
            continue
        held, lost = cut
        if _usable(held, ~held & ~lost, strata, share * len(labels)):
            parts = _components(nodes, np.flatnonzero(held) if held.any() else np.arange(0))
            clusters = found.copy()
            clusters[held] = parts + len(labels)
            rest = np.flatnonzero(~held & ~lost)
            clusters[rest] = _components(nodes, rest)
            clusters[lost] = 2 * len(labels) + 1
            note = (f"Nearly all labels hang together by their {apart.value}s; {int(lost.sum()):,} of {len(labels):,} "
                    f"that lie between both parts are left out.")  # fmt: skip
            clusters = np.unique(clusters, return_inverse=True)[1].astype(np.int64)
            return _made(held, lost, apart, clusters, note if apart is Apart.DOCUMENT else f"{note} {_NO_DOCUMENTS}")
    raise TrainingError(
        "cannot-split",
        "Nothing can be kept aside: the labels all hang together by their texts, or one answer is too rare."
        if len(labels) > 1 else "Nothing can be kept aside of so few labels.",
        "Label texts of more documents, with both answers.",
    )  # fmt: skip


_NO_DOCUMENTS = (
    "The labels come from too few documents to keep documents apart: no text is on both sides, but documents are, so "
    "the result may look better than it will be on new documents."
)


def _made(held: NDArray[np.bool_], lost: NDArray[np.bool_], apart: Apart, clusters: Integers, note: str) -> Split:
    train = np.flatnonzero(~held & ~lost)
    return Split(tuple(train.tolist()), tuple(np.flatnonzero(held).tolist()), tuple(np.flatnonzero(lost).tolist()),
                 apart, clusters, note)  # fmt: skip


def _nodes(labels: LabelSet, apart: Apart) -> list[list[int]]:
    """Gives for each label the numbers of what it touches: its texts, and their documents."""
    numbers: dict[tuple[str, str], int] = {}
    forms: dict[str, str] = {}
    found = []
    for example in labels.examples:
        touched = []
        for place, text in enumerate(example.texts):
            form = forms.get(text)
            if form is None:
                form = forms[text] = nearly_same_text(text)
            touched.append(numbers.setdefault(("text", form), len(numbers)))
            document = example.document(place)
            if document and apart is Apart.DOCUMENT:
                touched.append(numbers.setdefault(("document", document), len(numbers)))
        found.append(touched)
    return found


def _components(nodes: Sequence[Sequence[int]], places: Integers) -> Integers:
    """Gives the component of each of these labels, numbered from 0."""
    parent: dict[int, int] = {}

    def root(node: int) -> int:
        while parent.setdefault(node, node) != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    chosen = places.tolist()
    for place in chosen:
        first = root(nodes[place][0])
        for node in nodes[place][1:]:
            parent[root(node)] = first
    numbers: dict[int, int] = {}
    return np.array([numbers.setdefault(root(nodes[place][0]), len(numbers)) for place in chosen], np.int64)


def _strata(labels: LabelSet) -> Integers:
    """Gives the class of each label, int64 [labels]; grades are parted into fifths of the scale."""
    values = np.array([example.value for example in labels.examples], np.float64)
    if labels.kind is LabelKind.GRADED:
        return np.minimum(values, 4.999).astype(np.int64)
    return values.astype(np.int64)


def _held_out(found: Integers, strata: Integers, share: float, seed: int) -> NDArray[np.bool_] | None:
    """Chooses whole components, None where they leave no fair choice."""
    count = len(found)
    if not count or found.max() < 1:
        return None
    classes = int(strata.max()) + 1
    weights = np.zeros((int(found.max()) + 1, classes))
    np.add.at(weights, (found, strata), 1)
    sizes = weights.sum(axis=1)
    target = weights.sum(axis=0) * share
    best: tuple[float, NDArray[np.bool_]] | None = None
    # Small components first: a large one would be half of the held-out part, and weigh as one document.
    for limit in (0.5, 1.0, 1.5):
        allowed = np.flatnonzero(sizes <= max(1.0, limit * target.sum()))
        for attempt in range(1 if len(allowed) > _MANY else _TRIES):
            order = np.random.default_rng((seed, attempt)).permutation(allowed)
            chosen, missed = _greedy(weights, order, target)
            held = np.isin(found, chosen)
            if (best is None or missed < best[0] - 1e-9) and _usable(held, ~held, strata, target.sum()):
                best = missed, held
        if best is not None:
            return best[1]
    return None


def _greedy(weights: NDArray[np.float64], order: Integers, target: NDArray[np.float64]) -> tuple[list[int], float]:
    """Takes components in order while each brings the classes nearer to their targets; gives also what is missed."""
    rows = weights[order].tolist()
    left = target.tolist()
    chosen = []
    for component, row in zip(order.tolist(), rows, strict=True):
        # |left - row|^2 < |left|^2
        if sum(have * (have - 2 * want) for have, want in zip(row, left, strict=True)) < 0:
            chosen.append(component)
            left = [want - have for have, want in zip(row, left, strict=True)]
    return chosen, float(sum(want * want for want in left))


def _usable(held: NDArray[np.bool_], train: NDArray[np.bool_], strata: Integers, wanted: float) -> bool:
    """Says whether both sides have labels, enough of them, and each class that has two labels or more."""
    if not held.any() or not train.any() or not _LEAST_OF_WANTED * wanted <= held.sum() <= 1.5 * wanted + 1:
        return False
    counts = np.bincount(strata)
    needed = np.flatnonzero(counts >= max(2, 0.02 * len(strata)))
    if len(needed) > 3:  # fifths of a scale may be missing, but there must be two
        return len(np.unique(strata[held])) >= 2 and len(np.unique(strata[train])) >= 2
    return bool(np.isin(needed, strata[held]).all() and np.isin(needed, strata[train]).all())


def _cut(
    nodes: Sequence[Sequence[int]], found: Integers, share: float, seed: int
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]] | None:
    """Cuts the labels into two sides so that few lie between; None where too many would.

    A side is grown from one node: next comes the one with the largest part of its labels inside already. Gives which
    labels are held out and which lie between.
    """
    count = len(nodes)
    if count < 4:
        return None
    at: dict[int, list[int]] = defaultdict(list)
    for place, touched in enumerate(nodes):
        for node in set(touched):
            at[node].append(place)
    best: tuple[int, NDArray[np.bool_], NDArray[np.bool_]] | None = None
    rng = np.random.default_rng((seed, 1_000))
    starts = [sorted(at)[int(pick)] for pick in rng.integers(len(at), size=_TRIES)]
    for start in starts:
        held, lost = _grown(nodes, at, start, share * count)
        if held.sum() >= _LEAST_OF_WANTED * share * count and lost.sum() <= MOST_LEFT_OUT * count:
            missed = int(lost.sum())
            if best is None or missed < best[0]:
                best = missed, held, lost
    return None if best is None else (best[1], best[2])


def _grown(
    nodes: Sequence[Sequence[int]], at: dict[int, list[int]], start: int, wanted: float
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Grows a side from a node until it holds the wanted number of labels whole."""
    inside: set[int] = set()
    touching = [0] * len(nodes)
    parts = [len(set(touched)) for touched in nodes]
    # Of each node, how many of its labels (of its first, where they are many) are touched by the side.
    near = dict.fromkeys(at, 0)
    counts: list[list[int]] = [[] for _ in nodes]
    for node, places in at.items():
        for place in places[:_LOOKED_AT]:
            counts[place].append(node)
    whole = 0
    queue: list[tuple[float, int]] = [(0.0, start)]
    rest = iter(sorted(at))
    while whole < wanted:
        while queue and queue[0][1] in inside:
            heapq.heappop(queue)
        node = heapq.heappop(queue)[1] if queue else next((node for node in rest if node not in inside), -1)
        if node < 0:
            break
        inside.add(node)
        for place in at[node]:
            touching[place] += 1
            whole += touching[place] == parts[place]
            if touching[place] == 1:
                for other in counts[place]:
                    near[other] += 1
            for other in nodes[place]:
                if other not in inside:
                    heapq.heappush(queue, (-near[other] / min(_LOOKED_AT, len(at[other])), other))
    held = np.array(touching) == np.array(parts)
    return held, (np.array(touching) > 0) & ~held
