"""Base and tuned on the same held-out labels: a difference with its 95 % interval, and one sentence about it.

The measure fits the kind of label: average precision of pairs, Spearman's correlation of grades, nDCG@10 of questions,
the share of triplets in the right order. Thresholds are chosen on the part that was learned from, never on the one kept
aside. The interval is that of a paired bootstrap which draws labels that share documents together, since they are
not independent (resampling.py). What cannot be measured is a :class:`CannotMeasure` with its reason, never a number.
numpy only; any thread.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sbert_desktop.domain import Vectors
from sbert_desktop.training import _measures
from sbert_desktop.training._measures import Floats
from sbert_desktop.training.guards import Guard
from sbert_desktop.training.labels import LabelKind, LabelSet, same_text
from sbert_desktop.training.resampling import Draws
from sbert_desktop.training.splitting import Apart, Split

RESAMPLES = 2_000
"""Resamples of the bootstrap: the ends of a 95 % interval move by about a fiftieth of its width."""
UNKNOWN = (-1.0, 1.0)
"""The interval where too little is independent: it could be anything."""
_CELLS = 4_000_000
"""Weights that are held at a time: 32 MB."""
_SKEWED = 0.30
"""Share of the rarer answer below which both answers count alike, or "always different" would look good."""
_MOST_RANKED = 2_000
"""Held-out texts among which the right one is looked for."""

Columns = Sequence[Vectors]
"""For each text of a label (first, second, third) the vectors of all labels, float32 [labels, dimension], unit rows."""
Both = Callable[[Floats], tuple[Floats, Floats]]


@dataclass(frozen=True, slots=True)
class CannotMeasure:
    """Why there is no number: one plain sentence."""

    reason: str


@dataclass(frozen=True, slots=True)
class Measured:
    """One measure of both models.

    Attributes:
        metric: Its name in the field: ``ap``, ``f1``, ``accuracy``, ``balanced_accuracy``, ``spearman_cosine``,
            ``ndcg@10``, ``mrr@10``, ``map``, ``accuracy_cosine``, ``accuracy@1``.
        base: Of the model as it was.
        tuned: Of the tuned one.
        low: Lower end of the 95 % interval of ``tuned - base``; with ``high`` ``UNKNOWN`` where there is none.
        high: Upper end.
    """

    metric: str
    base: float
    tuned: float
    low: float
    high: float

    @property
    def difference(self) -> float:
        """Tuned less base: above 0 is better."""
        return self.tuned - self.base


@dataclass(frozen=True, slots=True)
class Comparison:
    """What is known of base and tuned.

    Attributes:
        kind: Of the labels.
        n: Labels kept aside (questions, for relevance).
        clusters: Independent groups of them, or the documents that they share where all hang together.
        primary: What the verdict rests on.
        shown: The measure in the unit of the labels, for bars "71 of 100".
        unit: What the bars count: ``of 100 pairs right``.
        others: Further measures.
        better: Labels (or questions) that only the tuned model gets right, or more right.
        same: That both get alike.
        worse: That only the base gets right, or more right.
        clearly_better: The whole interval lies above 0, of enough independent groups.
        verdict: One sentence in the unit of the labels, or why nothing can be said.
        thresholds: Cosine from which base and tuned call a pair the same; None where there is none.
    """

    kind: LabelKind
    n: int
    clusters: int
    primary: Measured | CannotMeasure
    shown: Measured | CannotMeasure
    unit: str
    others: tuple[Measured, ...]
    better: int
    same: int
    worse: int
    clearly_better: bool
    verdict: str
    thresholds: tuple[float, float] | None = None

    @property
    def measured(self) -> bool:
        """There is a number to rest a verdict on."""
        return isinstance(self.primary, Measured)


@dataclass(frozen=True, slots=True)
class _Found:
    """What one kind of label gives: how each measure is computed under weights, and each label's own result."""

    metric: str
    both: Both
    shown_metric: str
    shown: Both
    unit: str
    gains: Floats
    draws: Draws
    words: str  # "Finds {} of 100 pairs right"
    others: tuple[tuple[str, Both], ...] = ()
    thresholds: tuple[float, float] | None = None


def compare(
    labels: LabelSet, split: Split, base: Columns, tuned: Columns, *, seed: int = 0, resamples: int = RESAMPLES
) -> Comparison:
    """Compares two models on the labels that were kept aside.

    Args:
        labels: All of them.
        split: Which were learned from and which kept aside.
        base: Vectors of the base; rows of labels that were left out are not read.
        tuned: Vectors of the tuned model; its dimension may differ.
        seed: Of the bootstrap.
        resamples: How many.
    """
    held = np.array(split.held_out, np.int64)
    try:
        if not len(held):
            raise _Refused("No labels were kept aside.")
        used = np.concatenate([held, np.array(split.train, np.int64)])
        for name, columns in (("base", base), ("tuned model", tuned)):
            for column in columns[: labels.kind.texts]:
                if not _sound(column[used]):
                    raise _Refused(f"The {name} gives vectors that are zero or no numbers.")
        found = _KINDS[labels.kind](labels, split, base, tuned)
    except _Refused as refused:
        return _nothing(labels.kind, len(held), refused.reason)
    return _compared(labels.kind, found, seed, resamples)


def measure(labels: LabelSet, columns: Columns) -> float | None:
    """Gives what one model reaches on labels, by the measure that a comparison rests on; None: cannot be measured.

    Args:
        labels: Those that are looked at.
        columns: Vectors of their texts.
    """
    places = tuple(range(len(labels)))
    whole = Split(places, places, (), Apart.TEXT, np.arange(len(labels), dtype=np.int64))
    if not places or not all(_sound(column) for column in columns[: labels.kind.texts]):
        return None
    try:
        found = _KINDS[labels.kind](labels, whole, columns, columns)
    except _Refused:
        return None
    value = float(found.both(np.ones((1, len(found.draws))))[0][0])
    return value if math.isfinite(value) else None


METRIC = {
    LabelKind.PAIRS: "ap", LabelKind.GRADED: "spearman_cosine", LabelKind.TRIPLETS: "accuracy_cosine",
    LabelKind.RELEVANCE: "ndcg@10", LabelKind.POSITIVES: "ndcg@10", LabelKind.NLI: "",
}  # fmt: skip
"""What :func:`measure` measures, and a comparison rests on."""


def as_columns(scores: NDArray[np.floating]) -> tuple[Vectors, ...]:
    """Gives scores of pairs (of a cross-encoder) as vectors whose cosines they are, so that they can be compared.

    Args:
        scores: 0 to 1, [labels]; of triplets [labels, 2]: those of the right and of the wrong pair.
    """
    values = np.clip(np.asarray(scores, np.float64).reshape(len(scores), -1), 0.0, 1.0)
    first = np.zeros((len(values), 2), np.float32)
    first[:, 0] = 1.0
    return (first, *(np.stack([row, np.sqrt(1 - row**2)], axis=1).astype(np.float32) for row in values.T))


def may_adopt(comparison: Comparison, guards: Sequence[Guard]) -> tuple[bool, str]:
    """Says whether Adopt may be offered, and if not, why: one plain sentence, else ``""``.

    Only what is clearly better may, and only if no guard stops it.
    """
    tripped = [guard for guard in guards if guard.stops]
    if tripped:
        return False, " ".join(guard.sentence for guard in tripped)
    if not guards:
        return False, "The tuned model was not looked at on general text."
    if not comparison.clearly_better:
        return False, comparison.verdict
    return True, ""


class _Refused(Exception):  # noqa: N818  caught in this module
    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def _nothing(kind: LabelKind, count: int, reason: str) -> Comparison:
    said = CannotMeasure(reason)
    return Comparison(kind, count, 0, said, said, "", (), 0, 0, 0, False, f"Cannot measure: {_lowered(reason)}")


def _lowered(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]


def _compared(kind: LabelKind, found: _Found, seed: int, resamples: int) -> Comparison:
    count = found.draws.count
    functions = (found.both, found.shown, *(both for _, both in found.others))
    names = (found.metric, found.shown_metric, *(name for name, _ in found.others))
    results = _bootstrap(functions, found.draws, seed, resamples)
    measured = [_measured(name, *result, enough=found.draws.enough)
                for name, result in zip(names, results, strict=True)]  # fmt: skip
    primary, shown = measured[0], measured[1]
    gains = found.gains
    tally = int((gains > 0).sum()), int((gains == 0).sum()), int((gains < 0).sum())
    clear = isinstance(primary, Measured) and primary.low > 0 and found.draws.enough
    return Comparison(
        kind, len(gains), count, primary, shown, found.unit, tuple(m for m in measured[2:] if isinstance(m, Measured)),
        *tally, clear, _verdict(found, primary, shown), found.thresholds,
    )  # fmt: skip


def _bootstrap(
    functions: Sequence[Both], draws: Draws, seed: int, resamples: int
) -> list[tuple[float, float, Floats]]:
    """Gives for each measure base, tuned, and the differences in the resamples in which both can be measured."""
    rng = np.random.default_rng(seed)
    whole = np.ones((1, len(draws)))
    points = [both(whole) for both in functions]
    differences: list[list[Floats]] = [[] for _ in functions]
    step = max(1, _CELLS // max(1, len(draws)))
    for start in range(0, resamples, step):
        weights = draws.weights(rng, min(step, resamples - start))
        for place, both in enumerate(functions):
            one, other = both(weights)
            differences[place].append(other - one)
    return [(float(one[0]), float(other[0]), np.concatenate(parts) if parts else np.empty(0))
            for (one, other), parts in zip(points, differences, strict=True)]  # fmt: skip


def _measured(
    metric: str, base: float, tuned: float, differences: Floats, *, enough: bool
) -> Measured | CannotMeasure:
    good = differences[np.isfinite(differences)]
    if not (math.isfinite(base) and math.isfinite(tuned)):
        return CannotMeasure("The held-out labels, or the similarities of them, are all alike.")
    if not enough:
        return Measured(metric, base, tuned, *UNKNOWN)
    if len(good) < max(1, 0.9 * len(differences)):
        return CannotMeasure("One answer is too rare among the held-out labels for an interval.")
    low, high = np.quantile(good, (0.025, 0.975))
    return Measured(metric, base, tuned, float(low), float(high))


_SAID = {"ap": "average precision"}


def _verdict(found: _Found, primary: Measured | CannotMeasure, shown: Measured | CannotMeasure) -> str:
    if isinstance(primary, CannotMeasure):
        return f"Cannot measure: {_lowered(primary.reason)}"
    speaking = shown if isinstance(shown, Measured) else primary
    counted = "of 100" in found.words and isinstance(shown, Measured)
    if counted:
        said = found.words.format(*(f"{100 * value:.0f}" for value in (speaking.tuned, speaking.base)))
    elif "of 100" in found.words:
        said = "Orders the labels with {} {} instead of {}".format(primary.metric, *_told_apart(primary))
    else:
        said = found.words.format(*_told_apart(speaking))
    if not found.draws.enough:
        return f"{said}; too few independent labels were kept aside ({found.draws.count}) to tell it from chance."
    clear = np.sign(primary.low) == np.sign(primary.high) != 0
    if clear and np.sign(speaking.low) != np.sign(primary.low):
        # The order is clearly another one, yet as many lie on the right side of the threshold.
        word = "better" if primary.low > 0 else "worse"
        order = "{} {} instead of {}".format(_SAID.get(primary.metric, primary.metric), *_told_apart(primary))
        return f"{said}, which could be chance; but it orders them clearly {word} ({order})."
    if not clear and np.sign(speaking.low) == np.sign(speaking.high) != 0:
        return f"{said}; but their order ({_SAID.get(primary.metric, primary.metric)}) changed no more than by chance."
    return f"{said}; {_range(speaking, counted, clear)}."


def _decimals(*values: float) -> int:
    """Gives how many decimals show that these differ, and that none of them is 0: from 2 to 4."""
    for count in (2, 3):
        shown = {float(f"{value:.{count}f}") for value in values}
        if len(shown) == len(values) and 0.0 not in shown:
            return count
    return 4


def _told_apart(measure: Measured) -> tuple[str, str]:
    """Gives tuned and base with the decimals that tell them apart, where they differ."""
    count = 2 if measure.tuned == measure.base else _decimals(measure.tuned, measure.base)
    return f"{measure.tuned:.{count}f}", f"{measure.base:.{count}f}"


def _range(measure: Measured, counted: bool, clear: bool) -> str:
    """Gives an interval in words: ``between 6 and 20 better, 95 % sure``."""
    low, high = measure.low, measure.high
    decimals = _decimals(low, high) if clear else 2

    def number(value: float) -> str:
        return f"{100 * abs(value):.0f}" if counted else f"{abs(value):.{decimals}f}"

    if clear and low > 0:
        return f"between {number(low)} and {number(high)} better, 95 % sure"
    if clear:
        return f"between {number(high)} and {number(low)} worse, 95 % sure"
    return (
        "no difference that could not be chance"
        if low == high == 0
        else (f"that could be chance: from {number(min(0.0, low))} worse to {number(max(0.0, high))} better, 95 % sure")
    )


# ---------------------------------------------------------------- by kind of label


def _sound(vectors: Vectors) -> bool:
    return bool(np.isfinite(vectors).all() and (np.abs(vectors).sum(axis=1) > 0).all())


def _cosines(columns: Columns, first: int, second: int) -> Floats:
    """Gives the cosine of two texts of each label, float64 [labels]."""
    a, b = columns[first].astype(np.float64), columns[second].astype(np.float64)
    scale = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
    found: Floats = np.einsum("ij,ij->i", a, b) / np.where(scale > 0, scale, 1.0)
    return found


def _values(labels: LabelSet) -> Floats:
    return np.array([example.value for example in labels.examples], np.float64)


def _varied(name: str, cosines: Floats) -> Floats:
    if len(cosines) and np.ptp(cosines) < 1e-6:
        raise _Refused(f"The {name} gives every pair the same similarity.")
    return cosines


def _of_pairs(labels: LabelSet, split: Split, base: Columns, tuned: Columns) -> _Found:
    held, train = np.array(split.held_out, np.int64), np.array(split.train, np.int64)
    gold = _values(labels) > 0.5
    for part, name in ((held, "kept aside"), (train, "to learn from")):
        if gold[part].all() or not gold[part].any():
            raise _Refused(f"The labels {name} have one answer only.")
    cosines = [_cosines(columns, 0, 1) for columns in (base, tuned)]
    for name, values in zip(("base", "tuned model"), cosines, strict=True):
        _varied(name, values[held])
    positive = gold[held]
    skewed = min(gold.mean(), 1 - gold.mean()) < _SKEWED
    fair = np.where(gold, 1 / max(1e-9, gold.mean()), 1 / max(1e-9, 1 - gold.mean())) if skewed else np.ones(len(gold))
    cuts = [_measures.best_threshold(values[train], gold[train], fair[train]) for values in cosines]
    best = [_measures.best_threshold(values[train], gold[train]) for values in cosines]
    right = [(values[held] >= cut) == positive for values, cut in zip(cosines, cuts, strict=True)]
    said = [values[held] >= cut for values, cut in zip(cosines, best, strict=True)]
    weight = fair[held]

    def both(weights: Floats) -> tuple[Floats, Floats]:
        one, other = (_measures.average_precision(values[held], positive, weights) for values in cosines)
        return one, other

    def accuracy(weights: Floats) -> tuple[Floats, Floats]:
        one, other = (_measures.mean(part, weights * weight) for part in right)
        return one, other

    def f1(weights: Floats) -> tuple[Floats, Floats]:
        one, other = (_measures.f1(part, positive, weights) for part in said)
        return one, other

    words = "Finds {} of 100 pairs right instead of {}"
    return _Found("ap", both, "balanced_accuracy" if skewed else "accuracy", accuracy, "of 100 pairs right",
                  right[1].astype(np.float64) - right[0], Draws.of_labels(labels, held, split.clusters[held]),
                  words + (", same and different ones counting alike" if skewed else ""), (("f1", f1),),
                  (best[0], best[1]))  # fmt: skip


def _of_grades(labels: LabelSet, split: Split, base: Columns, tuned: Columns) -> _Found:
    held = np.array(split.held_out, np.int64)
    grades = _values(labels)[held]
    if np.ptp(grades) < 1e-9:
        raise _Refused("All grades kept aside are equal.")
    cosines = [_varied(name, _cosines(columns, 0, 1)[held])
               for name, columns in (("base", base), ("tuned model", tuned))]  # fmt: skip

    def both(weights: Floats) -> tuple[Floats, Floats]:
        one, other = (_measures.spearman(values, grades, weights) for values in cosines)
        return one, other

    whole = np.ones((1, len(held)))
    wanted = _measures.ranks(grades, whole)[0]
    missed = [np.abs(_measures.ranks(values, whole)[0] - wanted) / len(held) for values in cosines]
    gains = missed[0] - missed[1]
    gains[np.abs(gains) < 0.02] = 0.0  # of the way from the lowest to the highest rank
    return _Found("spearman_cosine", both, "spearman_cosine", both, "correlation with your grades", gains,
                  Draws.of_labels(labels, held, split.clusters[held]),
                  "Follows your grades with a correlation of {} instead of {}")  # fmt: skip


def _of_triplets(labels: LabelSet, split: Split, base: Columns, tuned: Columns) -> _Found:
    held = np.array(split.held_out, np.int64)
    right = []
    for name, columns in (("base", base), ("tuned model", tuned)):
        margin = (_cosines(columns, 0, 1) - _cosines(columns, 0, 2))[held]
        if not np.abs(margin).max() > 1e-6:
            raise _Refused(f"The {name} gives every text the same similarity.")
        right.append((margin > 0).astype(np.float64))

    def both(weights: Floats) -> tuple[Floats, Floats]:
        one, other = (_measures.mean(part, weights) for part in right)
        return one, other

    return _Found("accuracy_cosine", both, "accuracy_cosine", both, "of 100 triplets right", right[1] - right[0],
                  Draws.of_labels(labels, held, split.clusters[held]),
                  "Puts {} of 100 triplets in the right order instead of {}")  # fmt: skip


def _of_questions(labels: LabelSet, split: Split, base: Columns, tuned: Columns) -> _Found:
    """Ranks for each question all passages kept aside; those that nobody judged for it count as not relevant."""
    held = np.array(split.held_out, np.int64)
    forms = [tuple(same_text(text) for text in labels.examples[place].texts[:2]) for place in split.held_out]
    passages = list(dict.fromkeys(form[1] for form in forms))[:_MOST_RANKED]
    number = {form: place for place, form in enumerate(passages)}
    relevant: dict[str, set[int]] = {}
    asked: dict[str, int] = {}
    answers: dict[str, list[int]] = {}
    row_of = {form[1]: int(place) for form, place in zip(forms, held, strict=True)}
    for (question, passage), place in zip(forms, held, strict=True):
        asked.setdefault(question, int(place))
        if labels.examples[int(place)].value > 0.5 and passage in number:
            relevant.setdefault(question, set()).add(number[passage])
            answers.setdefault(question, []).append(int(place))
    questions = [question for question in asked if relevant.get(question)][:_MOST_RANKED]
    if not questions:
        raise _Refused("No question kept aside has a relevant passage.")
    if len(passages) < 2 or all(len(relevant[question]) == len(passages) for question in questions):
        raise _Refused("There are no passages kept aside that do not answer.")
    rows = np.array([row_of[passage] for passage in passages])
    results = []
    for name, columns in (("base", base), ("tuned model", tuned)):
        q, p = _unit(columns[0][[asked[question] for question in questions]]), _unit(columns[1][rows])
        scores = _varied(name, (q @ p.T).ravel()).reshape(len(questions), len(passages))
        each = []
        for question, row in zip(questions, scores, strict=True):
            mask = np.zeros(len(passages), bool)
            mask[list(relevant[question])] = True
            ndcg, mrr, average = _measures.ranking(row, mask)
            top = row >= row.max()
            each.append((ndcg, mrr, average, mask[top].mean()))
        results.append(np.array(each))

    def of(column: int) -> Both:
        def both(weights: Floats) -> tuple[Floats, Floats]:
            one, other = (_measures.mean(result[:, column], weights) for result in results)
            return one, other

        return both

    gains = results[1][:, 0] - results[0][:, 0]
    gains[np.abs(gains) < 1e-9] = 0.0
    what = "passage" if labels.kind is LabelKind.RELEVANCE else "text"
    asks = "questions" if labels.kind is LabelKind.RELEVANCE else "cases"
    return _Found("ndcg@10", of(0), "accuracy@1", of(3), f"of 100 {asks} right first", gains,
                  Draws.of_units(labels, [answers[question] for question in questions],
                                 split.clusters[[asked[question] for question in questions]]),
                  f"Finds the right {what} first in {{}} of 100 {asks} instead of {{}}",
                  (("mrr@10", of(1)), ("map", of(2))))  # fmt: skip


def _unit(vectors: Vectors) -> Floats:
    found = vectors.astype(np.float64)
    found /= np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-12)
    return found


def _of_classes(labels: LabelSet, split: Split, base: Columns, tuned: Columns) -> _Found:
    raise _Refused("Entailment is no similarity: whether the tuned model is better shows on pairs or grades.")


_KINDS: dict[LabelKind, Callable[[LabelSet, Split, Columns, Columns], _Found]] = {
    LabelKind.PAIRS: _of_pairs,
    LabelKind.GRADED: _of_grades,
    LabelKind.TRIPLETS: _of_triplets,
    LabelKind.RELEVANCE: _of_questions,
    LabelKind.POSITIVES: _of_questions,
    LabelKind.NLI: _of_classes,
}
