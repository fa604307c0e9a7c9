"""How labels are drawn anew for an interval: those that have something in common vary together.

Labels that share a document, or a text, are joined into groups, and whole groups are drawn. Many labels of few
documents all hang together in one group, though, of which nothing can be drawn. Then each document gets a chance of
its own, and a label the product of those of its documents: the pigeonhole bootstrap. It is rather too wide where there
are many documents, and somewhat too narrow where there are few (FEWEST_DOCUMENTS). Questions are drawn by what answers
them.

Source: Owen 2007, Annals of Applied Statistics 1 (the pigeonhole bootstrap); Rubin 1981, Annals of Statistics 9
(exponential weights).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sbert_desktop.training.enough import effective
from sbert_desktop.training.labels import LabelSet, nearly_same_text

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

FEWEST_GROUPS = 8
"""Groups below which no interval is trusted: a bootstrap of fewer is too narrow."""
FEWEST_DOCUMENTS = 15
"""Documents below which they are not drawn one by one. Intervals of means over pairs of 15 held the truth in 88 to 99
of 100 samples, of 25 and more in 92 to 100, of 10 in 86 to 97; drawn as if independent, of 15 in 52 to 94.
Source: tests/benchmarks/coverage.py."""
_WIDEST = 0.25
"""Share of the units that one document may be in: what all have in common cancels out and is never seen to vary."""
_MOST = 3
"""Documents that count of a question, those that most others share: each more triples what its weight varies by."""


class Draws:
    """Units (labels or questions) and how they are drawn.

    Args:
        groups: int64 [units]: the group of each.
        touched: For each unit the numbers of what it touches; empty: groups are all there is.

    Attributes:
        count: How many groups, or documents, are drawn independently.
        by_document: Documents are drawn, not groups.
        worth: As many independent units have a mean that varies as much, if what is shared decides all.
    """

    def __init__(self, groups: Integers, touched: Sequence[Sequence[int]] = ()) -> None:
        _, self._group, sizes = np.unique(groups, return_inverse=True, return_counts=True)
        self._order = np.argsort(self._group, kind="stable")
        self._sizes, self._starts = sizes, np.cumsum(sizes) - sizes
        self.count, self.by_document = len(sizes), False
        self.worth = effective(sizes.tolist())
        if not len(touched) or len(sizes) == len(touched):
            return
        self._rows, degrees = _shared(touched)
        spread = degrees.max() <= _WIDEST * len(touched)
        if self.worth < FEWEST_GROUPS and len(degrees) >= FEWEST_DOCUMENTS and spread:
            self.count, self.by_document = len(degrees), True
        if not self.enough:
            return
        # pairs of units that vary together, each with itself once: those that share two things count twice
        together = np.square(degrees).sum() - ((self._rows < len(degrees)).sum() - len(touched))
        self.worth = max(self.worth, len(touched) ** 2 / float(together))

    @classmethod
    def of_labels(cls, labels: LabelSet, places: Integers, groups: Integers) -> Draws:
        """Gives the draws of these labels; ``groups``: int64 [places]."""
        return cls.of_units(labels, [[place] for place in places.tolist()], groups)

    @classmethod
    def of_units(cls, labels: LabelSet, units: Sequence[Sequence[int]], groups: Integers) -> Draws:
        """Gives the draws of units of several labels: a question is the places of those that answer it."""
        return cls(groups, _touched(labels, units))

    def __len__(self) -> int:
        """Gives the number of units."""
        return len(self._group)

    @property
    def enough(self) -> bool:
        """Says whether an interval of these can be trusted."""
        return self.count >= FEWEST_GROUPS

    def weights(self, rng: np.random.Generator, number: int) -> Floats:
        """Draws weights, float64 [number, units], of mean 1."""
        if not self.by_document:
            drawn = rng.multinomial(self.count, np.full(self.count, 1 / self.count), size=number)
            return drawn[:, self._group].astype(np.float64)
        chances = np.ones((number, self.count + 1))  # the last one is of what no other unit touches
        chances[:, :-1] = rng.exponential(size=(number, self.count))
        found = chances[:, self._rows[:, 0]]
        for column in self._rows.T[1:]:
            found *= chances[:, column]
        return found

    def units(self, rng: np.random.Generator) -> Integers:
        """Draws the numbers of units, which may repeat; of documents none at all may come out."""
        if self.by_document:
            times = np.ones(self.count + 1, np.int64)
            times[:-1] = rng.multinomial(self.count, np.full(self.count, 1 / self.count))
            return np.repeat(np.arange(len(self)), times[self._rows].prod(axis=1))
        drawn = rng.integers(0, self.count, self.count)
        sizes = self._sizes[drawn]
        # The members of each group drawn, one behind the other.
        inside = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        found: Integers = self._order[np.repeat(self._starts[drawn], sizes) + inside]
        return found


def _touched(labels: LabelSet, units: Sequence[Sequence[int]]) -> list[list[int]]:
    """Gives the numbers of the documents of each unit's labels; of the texts, where they are of none or of several."""
    documents: dict[str, set[str]] = defaultdict(set)
    forms = [[nearly_same_text(text) for text in labels.examples[place].texts] for unit in units for place in unit]
    each = iter(forms)
    for unit in units:
        for place in unit:
            for slot, form in enumerate(next(each)):
                documents[form].add(labels.examples[place].document(slot))
    numbers: dict[tuple[str, str], int] = {}
    each = iter(forms)
    found = []
    for unit in units:
        touched: dict[int, None] = {}
        for place in unit:
            for slot, form in enumerate(next(each)):
                document = labels.examples[place].document(slot)
                if document:
                    touched[numbers.setdefault(("document", document), len(numbers))] = None
                if not document or len(documents[form]) > 1:
                    touched[numbers.setdefault(("text", form), len(numbers))] = None
        found.append(list(touched))
    return found


def _shared(touched: Sequence[Sequence[int]]) -> tuple[Integers, Integers]:
    """Gives the numbers of what each unit shares, int64 [units, at most 3], and how many units share each.

    A unit that shares nothing has a number of its own; places that are over have the number behind the last.
    """
    often = Counter(thing for things in touched for thing in things)
    numbers: dict[int, int] = {}
    rows: list[list[int]] = []
    for unit, things in enumerate(touched):
        common = sorted((thing for thing in things if often[thing] > 1), key=lambda thing: (-often[thing], thing))
        rows.append([numbers.setdefault(thing, len(numbers)) for thing in common[:_MOST] or [-1 - unit]])
    width = max(map(len, rows))
    padded = np.array([row + [len(numbers)] * (width - len(row)) for row in rows], np.int64)
    return padded, np.bincount(padded.ravel(), minlength=len(numbers) + 1)[:-1]
