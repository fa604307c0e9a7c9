"""Base against tuned: on the labels kept aside, and on general text; what may be adopted, and if not, why.

Both models read the very same texts. The verdict rests on the measure that fits the labels with its 95 % interval; the
guards look at sentences that have nothing to do with the person's labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from sbert_desktop.app.model_readers import Reader, ScoreReader
from sbert_desktop.app.training_runs import Material
from sbert_desktop.app.training_views import ComparisonView, GuardView, MeasureView, Plan
from sbert_desktop.domain import JobContext, Vectors
from sbert_desktop.training import _measures
from sbert_desktop.training.comparing import CannotMeasure, Comparison, Measured, compare, may_adopt
from sbert_desktop.training.guards import MOST_DROP, GeneralSet, Guard, check_guards, load_general_set
from sbert_desktop.training.labels import Example, LabelKind, LabelSet, same_text
from sbert_desktop.training.splitting import Apart, Split

_THRESHOLD_FROM = 1_000
"""Labels of the part learned from that thresholds are chosen on: more would be read for nothing."""
_LEAST_SPREAD = 0.05
"""Standard deviation of a cross-encoder's scores on general pairs under which it tells nothing apart."""


@dataclass(frozen=True, slots=True)
class Compared:
    """What was found of base and tuned."""

    comparison: Comparison
    guards: tuple[Guard, ...]
    base_name: str
    recommended: bool
    refusal: str


@dataclass(frozen=True, slots=True)
class Read:
    """What one model gave: vectors of the labels' texts, and of the general sentences (of a cross-encoder: scores)."""

    name: str
    columns: tuple[Vectors, ...]
    general: tuple[Vectors, ...]


@dataclass(frozen=True, slots=True)
class Question:
    """What both models are asked: the labels that are needed, parted, and the general set."""

    labels: LabelSet
    split: Split
    general: GeneralSet
    scores: bool
    """One of them is a cross-encoder, so that only pairs can be compared."""


def question_of(material: Material, *, scores: bool = False) -> Question:
    """Chooses what both models read: the part kept aside, and for thresholds some of the part learned from."""
    labels, split = material.labels, material.split
    train = np.array(split.train if labels.kind is LabelKind.PAIRS or scores else (), np.int64)
    if len(train) > _THRESHOLD_FROM:
        train = np.sort(np.random.default_rng(material.hyper.seed).permutation(train)[:_THRESHOLD_FROM])
    used = np.concatenate([train, np.array(split.held_out, np.int64)])
    chosen, clusters, count = labels.only(used.tolist()), split.clusters[used], len(train)
    if scores and labels.kind in {LabelKind.RELEVANCE, LabelKind.POSITIVES, LabelKind.NLI}:
        parts = [_as_pairs(labels.only(some.tolist())) for some in np.split(used, [count])]
        chosen = LabelSet(LabelKind.PAIRS, tuple(example for part in parts for example, _ in part))
        clusters = np.concatenate([split.clusters[some[[place for _, place in part]]]
                                   for some, part in zip(np.split(used, [count]), parts, strict=True) if part])
        count = len(parts[0])
    parted = Split(tuple(range(count)), tuple(range(count, len(chosen))), (), split.apart, clusters, split.note)
    return Question(chosen, parted, load_general_set(), scores)


def as_scored(labels: LabelSet) -> LabelSet:
    """Gives labels in the form in which a cross-encoder's scores of them are measured."""
    if labels.kind not in {LabelKind.RELEVANCE, LabelKind.POSITIVES, LabelKind.NLI}:
        return labels
    return LabelSet(LabelKind.PAIRS, tuple(example for example, _ in _as_pairs(labels)))


def _as_pairs(labels: LabelSet) -> list[tuple[Example, int]]:
    """Gives labels as pairs that are right or wrong, with the place of the label that each is from.

    A cross-encoder ranks what is put before it, so a question's judged passages count and not all others. To pairs
    that only belong together comes one with the next one's partner.
    """
    found = []
    for place, example in enumerate(labels.examples):
        right = example.value == 0.0 if labels.kind is LabelKind.NLI else example.value > 0.5
        found.append((Example(example.texts[:2], float(right)), place))
        if labels.kind is LabelKind.POSITIVES:
            other = labels.examples[(place + 1) % len(labels)].texts[1]
            if same_text(other) not in {same_text(text) for text in example.texts}:
                found.append((Example((example.texts[0], other), 0.0), place))
    return found


def read(reader: Reader, question: Question, context: JobContext) -> Read:
    """Has a model read all that is asked."""
    columns = reader.columns(question.labels, context)
    general = question.general
    if isinstance(reader, ScoreReader):
        found: tuple[Vectors, ...] = (reader.scores(general.first, general.second, context).reshape(-1, 1),)
    else:
        found = reader.passages(general.first, context), reader.passages(general.second, context)
    return Read(reader.name, columns, found)


def compare_models(question: Question, base: Read, tuned: Read, *, seed: int = 0) -> Compared:
    """Compares what both models gave."""
    comparison = compare(question.labels, question.split, base.columns, tuned.columns, seed=seed)
    if len(tuned.general) == 1:
        guards = _score_guards(question.general, base, tuned)
    else:
        first, second = base.general
        guards = check_guards((first, second), (tuned.general[0], tuned.general[1]), question.general.grades)
    fine, refusal = may_adopt(comparison, guards)
    return Compared(comparison, guards, base.name, fine, refusal)


def _score_guards(general: GeneralSet, base: Read, tuned: Read) -> tuple[Guard, ...]:
    """Looks at a cross-encoder on the general pairs; beside an encoder its order can only warn: it learned another."""
    whole = np.ones((1, len(general)))
    scores = tuned.general[0][:, 0].astype(np.float64)
    title = "Tells general text apart"
    if not np.isfinite(scores).all():
        return (Guard("collapse", title, False, "The tuned model gives scores that are no numbers."),)
    spread = float(scores.std())
    said = f"Its scores of general sentence pairs spread by {spread:.2f}"
    apart = spread >= _LEAST_SPREAD
    collapse = Guard("collapse", title, apart, f"{said}." if apart else f"{said}: it gives all pairs nearly the same.",
                     tuned=spread)  # fmt: skip
    alone = len(base.general) > 1
    before = base.general[0][:, 0] if not alone else np.einsum("ij,ij->i", *base.general)
    was, now = (float(_measures.spearman(values, general.grades, whole)[0]) for values in (before, scores))
    title = "Still good at general text"
    if not (np.isfinite(was) and np.isfinite(now)):
        return collapse, Guard("general", title, False, "It gives all general pairs the same score.")
    passed = was - now <= MOST_DROP
    said = f"Its order of general sentence pairs agrees with people's by {now:.2f}, before {was:.2f}"
    severity = "warns" if alone else "stops"
    return collapse, Guard("general", title, passed, f"{said}.", severity, was, now)


# ---------------------------------------------------------------- as it is shown


def view_of(
    compared: Compared, plan: Plan, material: Material, *, run: str, name: str, seconds: float, device: str = "",
    notes: Sequence[str] = (),
) -> ComparisonView:  # fmt: skip
    """Puts a comparison into the form that is shown and kept; what would change is added elsewhere."""
    found = compared.comparison
    primary, shown = found.primary, found.shown
    measures = tuple(
        MeasureView(one.metric, one.base, one.tuned, one.low, one.high)
        for one in dict.fromkeys((primary, shown, *found.others)) if isinstance(one, Measured)
    )  # fmt: skip
    speaking = shown if isinstance(shown, Measured) else primary
    unit = found.unit if speaking is shown else speaking.metric if isinstance(speaking, Measured) else ""
    view = ComparisonView(
        run=run, name=name, base_name=compared.base_name, metric="", unit=unit, base=0.0, tuned=0.0, difference=0.0,
        low=0.0, high=0.0, measured=found.measured, verdict=found.verdict, recommended=compared.recommended,
        refusal=compared.refusal, better=found.better, same=found.same, worse=found.worse, held_out=found.n,
        trained_on=len(material.train), seconds=seconds, guards=(*map(_guard_view, compared.guards), _fair(material)),
        kind=plan.kind, measures=measures, device=device, notes=tuple(notes),
    )  # fmt: skip
    if isinstance(primary, CannotMeasure) or isinstance(speaking, CannotMeasure):
        return view
    return replace(view, metric=speaking.metric, base=speaking.base, tuned=speaking.tuned,
                   difference=speaking.difference, low=speaking.low, high=speaking.high,
                   other_metrics=tuple((one.metric, one.base, one.tuned) for one in measures
                                       if one.metric != speaking.metric))  # fmt: skip


def _guard_view(guard: Guard) -> GuardView:
    return GuardView(guard.code, guard.title, guard.sentence, guard.passed, guard.severity, _brief(guard))


def _brief(guard: Guard) -> str:
    """Gives what a guard measured in a few words."""
    base, tuned = guard.base, guard.tuned
    if base is None or tuned is None:
        return ""
    match guard.code:
        case "collapse":
            return f"Typical score {tuned:.2f}, before {base:.2f}"
        case "general":
            return f"Agreement {tuned:.2f}, before {base:.2f}"
        case "neighbours":
            return f"{10 * tuned:.0f} of 10 neighbours are the same"
    return ""


def _fair(material: Material) -> GuardView:
    """Says whether the pairs that are asked were unknown to the model."""
    if material.split.apart is Apart.DOCUMENT:
        sentence = "No text, and no document, is on both sides: what is asked was not learned from."
        return GuardView("leak", "Fair test", sentence, True, "warns", "Nothing asked was learned from")
    return GuardView("leak", "Fair test", material.split.note or "Documents are on both sides.", False, "warns")


def is_scorer(folder: Path) -> bool:
    """Says whether a model folder holds a cross-encoder."""
    from sbert_desktop.encoder.models import CROSS_ENCODER, describe

    return describe(folder).kind == CROSS_ENCODER
