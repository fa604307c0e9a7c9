"""How many labels are enough: as many as let a real difference be told from chance on the part that is held out.

The verdict on a tuned model is a difference with a 95 % interval. How wide it will be follows from how many labels are
held out, before anything is trained. Pure functions, any thread.

Shares (pairs right, triplets right): of n held-out labels a share ``changed`` gets another answer by tuning; one label
contributes +1, 0 or -1 to the difference d, so its variance is ``changed - d**2``. Grades: Spearman's variance
by Fisher's z is ``(1 + r**2 / 2) / (n - 3)``; two correlations on the same pairs vary together. Questions: the nDCG of
one question changes with a standard deviation of about a quarter.
Source: paired differences (McNemar); Bonett & Wright 2000, Psychometrika 65; Wilson 1927; Kish 1965 for clusters.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from sbert_desktop.training.labels import LabelKind

HELD_OUT = 0.25
"""Share of the labels that are kept aside: every fourth."""
SURE = 1.959964
"""Standard deviations on each side that 95 % of a normal distribution lie within."""

_CHANGED = 0.20
"""Share of held-out labels that get another answer by tuning. An assumption, on the side of many."""
_SPEARMAN, _TOGETHER = 0.75, 0.80
"""Usual correlation with the grades, and how far those of base and tuned vary together. Assumptions."""
_NDCG_SPREAD = 0.25
"""Standard deviation of the change in nDCG@10 of one question. An assumption, on the side of wide."""

_MORE, _MOST = 1.25, 4.0
"""How many times the labels without anything in common must be needed to speak of it, and up to where the number means
something: labels of the same few documents hang together ever more, so that it would rise with each."""

DIFFERENCE: dict[LabelKind, float] = {
    LabelKind.PAIRS: 0.15,
    LabelKind.TRIPLETS: 0.15,
    LabelKind.NLI: 0.15,
    LabelKind.GRADED: 0.10,
    LabelKind.POSITIVES: 0.10,
    LabelKind.RELEVANCE: 0.10,
}
"""The difference that must be visible: 15 of 100 pairs, a tenth of the scale of a correlation or of nDCG."""


@dataclass(frozen=True, slots=True)
class Enough:
    """Where a person stands.

    Attributes:
        count: Labels that there are (questions, for relevance).
        needed: About as many let the wanted difference be seen, if they share documents as those that there are.
        alone: About as many do if none has anything in common with another.
        half_width: Half the expected 95 % interval of the difference with ``count`` labels, at most 1.
        difference: The difference that is to be seen.
        enough: ``half_width`` is no larger than ``difference``.
        ring: For the progress ring: ``64 of about 120``.
        sentence: One plain sentence on what so many allow.
        shared: Why ``needed`` is more than ``alone``, or what helps instead; empty where there are enough, and where
            it is not.
    """

    count: int
    needed: int
    alone: int
    half_width: float
    difference: float
    enough: bool
    ring: str
    sentence: str
    shared: str = ""

    @property
    def share(self) -> float:
        """How far the ring is filled, 0 to 1."""
        return min(1.0, self.count / self.needed)


def wilson(hits: float, count: int) -> tuple[float, float]:
    """Gives the 95 % interval of a share, also where it is 0 or 1; (0, 1) for nothing counted. Source: Wilson 1927."""
    if count <= 0:
        return 0.0, 1.0
    share, square = hits / count, SURE**2
    middle = (share + square / (2 * count)) / (1 + square / count)
    half = SURE * math.sqrt(share * (1 - share) / count + square / (4 * count**2)) / (1 + square / count)
    return max(0.0, middle - half), min(1.0, middle + half)


def effective(sizes: Sequence[int]) -> float:
    """Gives how many independent labels so many clusters are worth: labels of one document say much the same.

    Args:
        sizes: How many labels each cluster has.
    """
    total = sum(sizes)
    return total * total / sum(size * size for size in sizes) if total else 0.0


def half_width(kind: LabelKind, held_out: float) -> float:
    """Gives half of the expected 95 % interval of the difference between base and tuned, at most 1.

    Args:
        kind: Kind of label, and so the measure.
        held_out: Independent labels (questions, for relevance and positives) that are held out.
    """
    if kind is LabelKind.GRADED:
        if held_out <= 4:
            return 1.0
        one = (1 - _SPEARMAN**2) ** 2 * (1 + _SPEARMAN**2 / 2) / (held_out - 3)
        return min(1.0, SURE * math.sqrt(2 * (1 - _TOGETHER) * one))
    if held_out < 2:
        return 1.0
    if kind in {LabelKind.RELEVANCE, LabelKind.POSITIVES}:
        return min(1.0, SURE * _NDCG_SPREAD / math.sqrt(held_out))
    return min(1.0, SURE * math.sqrt((_CHANGED - DIFFERENCE[kind] ** 2) / held_out))


def count_enough(
    kind: LabelKind, count: int, *, share: float = HELD_OUT, difference: float | None = None,
    worth: float = 1.0, aim: float | None = None,
) -> Enough:  # fmt: skip
    """Says whether there are enough labels, and how many that would be.

    Args:
        kind: Kind of label.
        count: Labels that there are (for relevance: questions).
        share: Share of them that is held out, above 0 and below 1.
        difference: The difference that is to be seen; None: ``DIFFERENCE``.
        worth: What a label is worth beside one that has nothing in common with others, above 0 and at most 1.
        aim: Share that was to be held out, where what documents have in common left no such choice; None: ``share``.
    """
    wanted = DIFFERENCE[kind] if difference is None else difference
    held = count * share * worth
    width = half_width(kind, held)
    needed, alone = _needed(kind, share * worth, wanted), _needed(kind, share if aim is None else aim, wanted)
    is_enough = count > 0 and (width <= wanted or count >= needed)
    unit = {LabelKind.RELEVANCE: "questions"}.get(kind, kind.unit)
    return Enough(count, needed, alone, width, wanted, is_enough, f"{count:,} of about {needed:,}",
                  _sentence(kind, unit, count, round(count * share), width, is_enough),
                  "" if is_enough else _shared(unit, count, needed, alone))  # fmt: skip


def _needed(kind: LabelKind, share: float, wanted: float) -> int:
    """Gives about how many labels let a difference be seen, if such a share of them are independent and held out."""
    low, high = 2, 2
    while half_width(kind, high * share) > wanted and high < 1_000_000_000:
        low, high = high, high * 2
    while low < high:  # the fewest that do
        middle = (low + high) // 2
        if half_width(kind, middle * share) > wanted:
            low = middle + 1
        else:
            high = middle
    return _rounded(high)


def _shared(unit: str, count: int, needed: int, alone: int) -> str:
    if needed <= _MORE * alone and count < alone:
        return ""
    if needed <= _MOST * alone:
        return (f"Those with a document or text in common count for less: about {needed:,} {unit} are needed in place "
                f"of {alone:,}.")  # fmt: skip
    return f"They come from so few documents that more of the same hardly help: add {unit} of other documents."


def _sentence(kind: LabelKind, unit: str, count: int, held: int, width: float, is_enough: bool) -> str:
    if not count:
        return "Nothing is labelled yet."
    if width >= 0.995:
        return f"With {count:,} {unit} nothing could be told from chance."
    counted = kind in {LabelKind.PAIRS, LabelKind.TRIPLETS, LabelKind.NLI}
    seen = f"{100 * width:.0f} of 100" if counted else f"{width:.2f}"
    kept = f"Of {count:,} {unit}, {held:,} are kept aside to check the result"
    if is_enough:
        return f"{kept}: enough to see a difference of about {seen}."
    return f"{kept}: expect noise, a difference below about {seen} could be chance."


def _rounded(count: int) -> int:
    """Gives two digits of a number: more would claim to know more than is known."""
    step = int(10 ** max(0, len(str(count)) - 2))
    return math.ceil(count / step - 0.5) * step
