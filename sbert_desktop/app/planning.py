"""What a plan would train on, and what speaks against it: labels brought together, parted by document, checked.

:func:`gather` is the one place where that is decided; :func:`check_labels` puts it into words, and training
(``app/tuning``) takes the same. Nothing here encodes or loads a model. Any thread.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from sbert_desktop.app import label_records
from sbert_desktop.app import training_pace as pace
from sbert_desktop.app.comparing_models import is_scorer
from sbert_desktop.app.label_records import Named
from sbert_desktop.app.training_runs import run_folders
from sbert_desktop.app.training_views import CheckView, FindingView, Plan
from sbert_desktop.errors import TrainingError, UsageError
from sbert_desktop.training import checks, splitting
from sbert_desktop.training.checks import Finding, Severity
from sbert_desktop.training.enough import HELD_OUT, half_width
from sbert_desktop.training.labels import LabelKind, LabelSet, nearly_same_text, positives_of
from sbert_desktop.training.objectives import (
    FRESH_HEAD_RATE,
    LEARNING_RATE,
    HyperParameters,
    Objective,
    checked,
    defaults,
    objective,
    objectives_for,
)
from sbert_desktop.training.splitting import Split

if TYPE_CHECKING:
    from sbert_desktop.app.session import Session
    from sbert_desktop.domain import JobContext
    from sbert_desktop.training.tables import Imported

__all__ = ["Gathered", "check_labels", "gather"]

CROSS_ENCODER = "cross-encoder"
_CROSS_SENTENCE = (
    "Reads both texts at once and learns to score them; slow, but exact: it orders the first hits of a search anew."
)
_WATCHED_FROM, _WATCHED = 200, 0.15
"""Labels to learn from, from which a share of them is watched while training. With fewer, the part is too small to
choose by; the held-out part is then only looked at, and the last state is kept."""
_OPENED = frozenset(("contradictions", "chain-contradictions", "same-text-apart"))
"""Findings of which the person opens the labels, one by one."""
_LINES = 6
_WIDEST_MARGIN = 100.0
"""Cosine distances reach 2; Euclidean ones of vectors that have no unit length reach tens."""
_LEFT_OUT = "rows-left-out"
_MANY_LEFT_OUT = 0.1
"""Share of a table's rows from which it is a warning that they are no labels: likely its columns are mistaken."""


@dataclass(frozen=True, slots=True)
class Gathered:
    """All that a training needs to know of its labels.

    ``train``, ``watched`` and ``held_out`` share no document (or no text at least: see ``split.apart``). Each
    example has its texts and, in ``documents``, the sha256 of the document of each (``""`` for a question, and for
    what a table does not say).

    Attributes:
        plan: What was asked.
        kind: Kind of ``labels`` and ``held_out``, and so the measure.
        labels: All labels, in the order that ``split``, ``ids`` and ``findings`` count.
        ids: ``LabelRow.id`` of each of ``labels``, ``""`` for those of a table.
        split: How they are parted, None where they cannot be (``findings`` says why).
        train: What is learned from; positives only where the objective needs those, whatever ``kind`` is.
        watched: What the curve is drawn from and the best state chosen by: a part of its own, or ``held_out`` itself
            where labels are few (``hyper`` then keeps the last state and does not stop early).
        held_out: What the comparison is measured on.
        before: Labels that are learned from in stages before (NLI before grades), each with ``defaults`` of its kind.
        objective: The one chosen, None where there is nothing to train on.
        hyper: Its figures with the plan's own put in.
        parameters: Arguments of the loss in place of the objective's own.
        findings: What is wrong, the worst first.
    """

    plan: Plan
    kind: LabelKind
    labels: LabelSet
    ids: tuple[str, ...]
    split: Split | None
    train: LabelSet
    watched: LabelSet
    held_out: LabelSet
    before: tuple[LabelSet, ...] = ()
    objective: Objective | None = None
    hyper: HyperParameters | None = None
    parameters: Mapping[str, float] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()

    @property
    def may_train(self) -> bool:
        """True where nothing stops training."""
        return self.hyper is not None and checks.may_train(self.findings)

    @property
    def watches_held_out(self) -> bool:
        """True where what is watched is the held-out part itself."""
        return self.watched is self.held_out

    def require(self) -> tuple[Objective, HyperParameters]:
        """Gives objective and figures.

        Raises:
            TrainingError: ``cannot-train``, with the worst finding.
        """
        if not self.may_train or self.objective is None or self.hyper is None:
            worst = self.findings[0] if self.findings else _nothing(self.plan)
            hints = [_finding_view(worst, self).hint]  # with the lines of a table: here nobody can open them
            hints += [one.sentence for one in self.findings if one.code == _LEFT_OUT]
            raise TrainingError("cannot-train", worst.sentence, " ".join(hints))
        return self.objective, self.hyper


def gather(session: Session | None, plan: Plan, context: JobContext | None = None) -> Gathered:
    """Brings together what a plan trains on: the library's judgements of its task, and its tables.

    Args:
        session: The opened library; None where ``plan.judgements`` is False.
        plan: As the person set it.
        context: Asked between steps.

    Raises:
        TrainingError: A table cannot be read (``no-table``, ``unknown-columns``, ``unknown-labels``, ``no-labels``).
        UsageError: ``unknown-objective``, ``objective-does-not-fit``, ``bad-hyper-parameter``, ``bad-label-kind``.
        Cancelled: Through ``context``.
    """
    more: list[Finding] = []
    if plan.learning_rate is None:
        plan = replace(plan, learning_rate=_usual_rate(session, plan))
    found = _found(session, plan, context, more)
    chosen = objective(plan.objective) if plan.objective != "auto" else None
    wanted = () if chosen is None else chosen.kinds
    kind = label_records.main_kind(found, wanted)
    if kind is None:
        empty = LabelSet(LabelKind.PAIRS if plan.task == "same" else LabelKind.RELEVANCE)
        return Gathered(plan, empty.kind, empty, (), None, empty, empty, empty, findings=(_nothing(plan),))
    _tell(context, "Checking labels")
    before = _before(found, kind)
    rest = {one: named for one, named in found.items() if one is not LabelKind.NLI or kind is LabelKind.NLI}
    named, lost = label_records.as_kind(rest, kind)
    if lost:
        more.append(_told("other-labels", f"{lost:,} labels of another kind are not used.",
                          f"This trains on {kind.unit}; train on the others by themselves."))  # fmt: skip
    named, kind = _without_class(named, more)
    return _parted(plan, named, before, chosen, more, context)


def check_labels(session: Session | None, plan: Plan, context: JobContext | None = None) -> CheckView:
    """Says what a plan would train on, and what speaks against it.

    Raises:
        TrainingError, UsageError, Cancelled: As :func:`gather`.
    """
    return view_of(gather(session, plan, context), session)


# ---------------------------------------------------------------- bringing together


def _found(
    session: Session | None, plan: Plan, context: JobContext | None, more: list[Finding]
) -> dict[LabelKind, Named]:
    """Gives all labels by kind: the judgements of the task, and the tables; adds which rows of these are left out."""
    from sbert_desktop.app.label_tables import kind_named, read_taken

    sets: dict[LabelKind, list[Named]] = {}
    if plan.judgements and session is not None:
        _tell(context, "Reading judgements")
        records = label_records.records_of(session.library.judgements(), plan.task)
        for kind, named in label_records.labels_from(records).items():
            sets.setdefault(kind, []).append(named)
    for path in plan.labels:
        _tell(context, "Reading tables")
        read = read_taken(path, kind_named(plan.labels_kind))
        labels = read.labels
        if read.bad_count:
            more.append(_left_out(read))
        sets.setdefault(labels.kind, []).append(Named(labels, ("",) * len(labels)))
    return {kind: label_records.joined(found, kind) for kind, found in sets.items()}


def _left_out(read: Imported) -> Finding:
    """Says how many rows of a table are no labels, and why the first is none."""
    count, total, first = read.bad_count, read.bad_count + len(read.labels), read.bad[0]
    verb = "is" if count == 1 else "are"
    said = f"{count:,} of {total:,} rows of {read.table.name} {verb} left out; line {first.line}: {first.reason}."
    severity = Severity.WARNS if count > _MANY_LEFT_OUT * total else Severity.TELLS
    return Finding(_LEFT_OUT, severity, said, "Correct the table, or go on without them.")


def _before(found: Mapping[LabelKind, Named], kind: LabelKind) -> tuple[LabelSet, ...]:
    nli = found.get(LabelKind.NLI)
    return (nli.labels,) if nli is not None and kind is LabelKind.GRADED else ()


def _without_class(named: Named, more: list[Finding]) -> tuple[Named, LabelKind]:
    """Takes pairs that are all the same as positives: nothing can be told apart, but they can still be learned from."""
    kind = named.labels.kind
    if kind not in {LabelKind.PAIRS, LabelKind.RELEVANCE} or not len(named):
        return named, kind
    if any(example.value < 0.5 for example in named.labels.examples):
        return named, kind
    more.append(_told(
        "positives-only", f"All {len(named):,} {kind.unit} belong together: each is told apart from all others.",
        f"Add some that are {'different' if kind is LabelKind.PAIRS else 'not relevant'} to learn from both.",
    ))  # fmt: skip
    labels = LabelSet(LabelKind.POSITIVES, named.labels.examples)
    return Named(labels, named.ids), LabelKind.POSITIVES


def _parted(
    plan: Plan, named: Named, before: tuple[LabelSet, ...], chosen: Objective | None, more: list[Finding],
    context: JobContext | None,
) -> Gathered:  # fmt: skip
    labels = named.labels
    empty = LabelSet(labels.kind)
    try:
        split = splitting.split(labels, share=plan.held_out, seed=plan.seed)
    except TrainingError as error:
        more.append(Finding(error.code, Severity.STOPS, error.message, error.hint))
        split = None
    _tell(context, "Checking labels")
    findings = [*checks.check(labels, split, share=plan.held_out if split is not None else HELD_OUT), *more]
    findings.sort(key=lambda finding: list(Severity).index(finding.severity))
    train = held = watched = empty
    if split is not None:
        held = labels.only(split.held_out)
        train, watched = _watched(labels.only(split.train), held, plan.seed)
    goal, learned = _learned(plan, train, chosen)
    if split is not None and not len(learned):
        findings.insert(
            0,
            Finding(
                "nothing-to-learn",
                Severity.STOPS,
                f"{goal.name}: there is nothing to learn from.",
                "It needs pairs that belong together: judge some, or choose another objective.",
            ),
        )
    hyper = _hyper(plan, learned, goal, keeps_best=watched is not held)
    parameters = {} if plan.margin is None else _margin(goal, plan.margin)
    if plan.margin is not None and (not parameters or plan.kind == CROSS_ENCODER):
        findings.append(_told("margin-not-used", "The margin is not used: this way of learning has none.",
                              "Leave it out, or choose an objective that has one."))  # fmt: skip
    if before:
        before = tuple(_apart_from(one, (watched, held)) for one in before)
    return Gathered(plan, labels.kind, labels, named.ids, split, learned, watched, held, before, goal, hyper,
                    parameters, tuple(findings))  # fmt: skip


def _watched(train: LabelSet, held: LabelSet, seed: int) -> tuple[LabelSet, LabelSet]:
    """Parts what is learned from once more, by document, where there is enough of it."""
    if len(train) >= _WATCHED_FROM:
        try:
            again = splitting.split(train, share=_WATCHED, seed=seed)
        except TrainingError:
            return train, held
        if again.apart is splitting.Apart.DOCUMENT and not again.left_out:
            return train.only(again.train), train.only(again.held_out)
    return train, held


def _learned(plan: Plan, train: LabelSet, chosen: Objective | None) -> tuple[Objective, LabelSet]:
    """Gives the objective, and the labels in the form that it learns from."""
    if plan.kind == CROSS_ENCODER:
        return objectives_for(train.kind)[0], train  # it takes labels of every kind; the objective is not looked at
    several = objective("multiple-negatives")
    mined = plan.hard_negatives > 0 and train.kind not in {LabelKind.TRIPLETS, LabelKind.GRADED, LabelKind.NLI}
    if chosen is None:
        chosen = several if mined else objectives_for(train.kind)[0]
    if train.kind in chosen.kinds and not (mined and chosen is several):
        return chosen, train
    if LabelKind.POSITIVES in chosen.kinds:
        return chosen, positives_of(train)
    fitting = ", ".join(known.key for known in objectives_for(train.kind))
    raise UsageError("objective-does-not-fit", f"{chosen.key} cannot learn from {train.unit}.",
                     f"Those that can: {fitting}.")  # fmt: skip


def _usual_rate(session: Session | None, plan: Plan) -> float:
    """Gives the rate of what a plan begins with: a cross-encoder made of an encoder has a head that knows nothing."""
    if plan.kind != CROSS_ENCODER:
        return LEARNING_RATE
    base = pace.base_of(session, plan.base, plan.kind)
    return LEARNING_RATE if base is None or is_scorer(base) else FRESH_HEAD_RATE


def _hyper(plan: Plan, learned: LabelSet, goal: Objective, *, keeps_best: bool) -> HyperParameters:
    begin = defaults(learned.kind, len(learned), goal.key)
    return checked(replace(
        begin,
        epochs=begin.epochs if plan.epochs is None else plan.epochs,
        batch=begin.batch if plan.batch is None else plan.batch,
        learning_rate=LEARNING_RATE if plan.learning_rate is None else plan.learning_rate, warm_up=plan.warm_up,
        seed=plan.seed, max_tokens=plan.max_tokens,
        patience=plan.patience if keeps_best and plan.patience > 0 else None, keep_best=keeps_best,
    ))  # fmt: skip


def _margin(goal: Objective, margin: float) -> dict[str, float]:
    """Gives the plan's margin by the name that the loss has for it; nothing where it has none.

    Raises:
        UsageError: ``bad-hyper-parameter``.
    """
    if not 0.0 < margin <= _WIDEST_MARGIN:
        raise UsageError("bad-hyper-parameter", f"{margin:g} is no margin that training can use.",
                         f"Choose one above 0, up to {_WIDEST_MARGIN:g}.")  # fmt: skip
    return {name: margin for name in goal.parameters if name.endswith("margin")}


def _apart_from(labels: LabelSet, others: tuple[LabelSet, ...]) -> LabelSet:
    """Gives the labels that share no text with those that are kept aside."""
    aside = {nearly_same_text(text) for other in others for example in other.examples for text in example.texts}
    return labels.only(
        place for place, example in enumerate(labels.examples)
        if not any(nearly_same_text(text) in aside for text in example.texts)
    )  # fmt: skip


def _told(code: str, sentence: str, advice: str) -> Finding:
    return Finding(code, Severity.TELLS, sentence, advice)


def _nothing(plan: Plan) -> Finding:
    where = "Judge some pairs, or take in a table." if plan.judgements else "Choose a table."
    return Finding("no-labels", Severity.STOPS, "Nothing is labelled yet.", where)


def _tell(context: JobContext | None, phase: str) -> None:
    if context is not None:
        context.check()
        context.progress(phase, 0, None)


# ---------------------------------------------------------------- in words


def view_of(gathered: Gathered, session: Session | None = None) -> CheckView:
    """Puts what was gathered into words."""
    goal = gathered.objective
    low, high = _minutes(gathered, session)
    sentence = _CROSS_SENTENCE if gathered.plan.kind == CROSS_ENCODER else goal.sentence if goal is not None else ""
    return CheckView(
        gathered.plan, len(gathered.train), len(gathered.held_out),
        tuple(_finding_view(one, gathered) for one in gathered.findings),
        "" if goal is None else goal.key, sentence, _interval(gathered), gathered.may_train,
        low, high,
    )  # fmt: skip


def _finding_view(finding: Finding, gathered: Gathered) -> FindingView:
    """Gives a finding with the ids of the judgements that the person can open: of chains in the chains' order.

    What stands in a table is named by its lines.
    """
    ids = gathered.ids
    places = [place for chain in finding.chains for place in chain] or list(finding.examples)
    rows = dict.fromkeys(ids[place] for place in places if place < len(ids) and ids[place])
    hint = finding.advice
    if finding.code in _OPENED:
        lines: dict[str, list[int]] = {}
        for place in dict.fromkeys(places):
            example = gathered.labels.examples[place]
            if example.line:
                lines.setdefault(example.source, []).append(example.line)
        for name, found in lines.items():
            shown = ", ".join(map(str, found[:_LINES])) + (f" and {len(found) - _LINES:,} more" * (len(found) > _LINES))
            hint += f" In {name}: line{'s' * (len(found) > 1)} {shown}."
    return FindingView(finding.code, finding.severity.value, finding.sentence, hint, tuple(rows))


def _interval(gathered: Gathered) -> str:
    """Says how wide the 95 % interval of the difference will be."""
    kind = gathered.kind
    if not len(gathered.held_out) or gathered.split is None:
        return ""
    draws = checks.held_draws(gathered.labels, gathered.split)
    count, unit = len(draws), "questions" if kind is LabelKind.RELEVANCE else kind.unit
    width = half_width(kind, draws.worth) if draws.enough else 1.0
    if width >= 0.995:
        return f"{count:,} {unit} kept aside are too few to measure a difference."
    if kind in {LabelKind.PAIRS, LabelKind.TRIPLETS, LabelKind.NLI}:
        return f"Measured on {count:,} {unit}, give or take {100 * width:.0f} of 100."
    return f"Measured on {count:,} {unit}, give or take {width:.2f}."


def _minutes(gathered: Gathered, session: Session | None) -> tuple[float, float]:
    """Gives about how long the training takes, at least and at most, in minutes; 0 with nothing to train on."""
    plan, hyper = gathered.plan, gathered.hyper
    if hyper is None or not len(gathered.train):
        return 0.0, 0.0
    base = pace.base_of(session, plan.base, plan.kind)
    work = pace.work_of(gathered.train, hyper.epochs, base)
    if plan.hard_negatives and gathered.train.kind is LabelKind.POSITIVES:
        work *= 1.5 * plan.hard_negatives  # each pair becomes so many triplets
    work += sum(pace.work_of(one, defaults(one.kind, len(one)).epochs, base) for one in gathered.before if len(one))
    folders = [] if session is None else run_folders(session)
    cpu = session is not None and session.settings.text("advanced.encoder") == "torch-cpu"
    low, high = pace.minutes_for(work, plan.kind, pace.read_paces(folders), cpu=cpu)
    return max(0.1, round(low, 1)), max(0.1, round(high, 1))
