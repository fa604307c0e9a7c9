"""Which objective fits which labels, in one sentence each, and the figures that training starts with. Data only.

The objectives are those of the literature; the losses are sentence-transformers' own, by the names they have there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from sbert_desktop.errors import UsageError
from sbert_desktop.training.labels import LabelKind


@dataclass(frozen=True, slots=True)
class Objective:
    """One way to learn from labels.

    Attributes:
        key: Its name on the command line and in a report.
        loss: The class of ``sentence_transformers.losses``.
        name: What a person reads.
        sentence: What it does, in one plain sentence.
        kinds: Labels that it can learn from as they are, the best fitting first.
        parameters: Arguments of the loss.
        note: On the margin or the scale: which one, and why.
        batch: Examples per step to begin with.
        distinct: No text may be twice in a batch: another's positive would count as a wrong answer.
        head: A layer is trained on top and thrown away afterwards.
    """

    key: str
    loss: str
    name: str
    sentence: str
    kinds: tuple[LabelKind, ...]
    parameters: Mapping[str, float] = field(default_factory=dict)
    note: str = ""
    batch: int = 16
    distinct: bool = False
    head: bool = False


OBJECTIVES: tuple[Objective, ...] = (
    Objective(
        "online-contrastive", "OnlineContrastiveLoss", "Same or different, hard pairs",
        "Draws together what you called the same and pushes apart what you called different, learning only from the "
        "pairs that the model still gets wrong.",
        (LabelKind.PAIRS, LabelKind.RELEVANCE), {"margin": 0.5},
        "Margin 0.5 of cosine distance: different pairs are left alone once their cosine is under 0.5.", batch=32,
    ),
    Objective(
        "contrastive", "ContrastiveLoss", "Same or different, all pairs",
        "Draws together what you called the same and pushes apart what you called different, learning from every pair.",
        (LabelKind.PAIRS, LabelKind.RELEVANCE), {"margin": 0.5},
        "Margin 0.5 of cosine distance: different pairs are left alone once their cosine is under 0.5.", batch=32,
    ),
    Objective(
        "multiple-negatives", "MultipleNegativesRankingLoss", "Belongs together, all others do not",
        "Each text must find its partner among all partners of the batch; needs only pairs that belong together.",
        (LabelKind.POSITIVES, LabelKind.TRIPLETS), {"scale": 20.0},
        "Scale 20 (a temperature of 0.05), the usual one for cosines; larger batches are better.", batch=32,
        distinct=True,
    ),
    Objective(
        "cosent", "CoSENTLoss", "Graded, by order",
        "Pairs with a higher grade must be more similar than pairs with a lower one; the grades' order counts.",
        (LabelKind.GRADED,), {"scale": 20.0}, "Scale 20, as its authors use it.", batch=16,
    ),
    Objective(
        "angle", "AnglELoss", "Graded, by order of angles",
        "As by order, but on angles, which still move where cosines are close to their ends.",
        (LabelKind.GRADED,), {"scale": 20.0}, "Scale 20, as its authors use it.", batch=16,
    ),
    Objective(
        "cosine", "CosineSimilarityLoss", "Graded, by value",
        "The cosine of a pair must become its grade, brought to 0-1; the paper's regression objective.",
        (LabelKind.GRADED, LabelKind.PAIRS), {}, "Grades 0-5 become targets 0-1.", batch=16,
    ),
    Objective(
        "triplet", "TripletLoss", "Nearer and farther",
        "A text must be nearer to its right partner than to its wrong one, by a margin.",
        (LabelKind.TRIPLETS,), {"triplet_margin": 1.0},
        "Margin 1 with Euclidean distance, as in the paper. The library's 5 cannot be reached: two unit vectors are "
        "never farther apart than 2, so every triplet would be pushed for ever.", batch=16,
    ),
    Objective(
        "softmax", "SoftmaxLoss", "Entailment, neutral or contradiction",
        "A layer on both vectors and their difference tells the three classes apart; it is thrown away afterwards.",
        (LabelKind.NLI,), {"num_labels": 3}, "On (u, v, |u - v|): the difference is what matters most.", head=True,
    ),
)  # fmt: skip
"""All of them. Source: Reimers & Gurevych 2019 (softmax, regression, triplet, batch 16); Hadsell et al. 2006
(contrastive); Henderson et al. 2017 (multiple negatives); Su 2022 (CoSENT); Li & Li 2023 (AnglE)."""

LEARNING_RATE = 2e-5
"""Source: Reimers & Gurevych 2019."""
FRESH_HEAD_RATE = 2e-4
"""Of a cross-encoder that begins as an encoder. Measured on 400 pairs of XQuAD, 10 epochs: average precision .73
against .60 with the other rate."""
WARM_UP = 0.10
"""Share of the steps over which the learning rate rises from 0. Source: as above."""
LIMITS: Mapping[str, tuple[float, float]] = MappingProxyType({
    "epochs": (1, 100), "batch": (2, 512), "learning_rate": (1e-7, 1e-2), "warm_up": (0.0, 0.9),
    "max_tokens": (8, 8192),
})  # fmt: skip
"""What each may be: lowest and highest."""
_STEPS = 300
"""Steps to aim at on few labels: fewer hardly move a model."""
_FEWEST_STEPS_AN_EPOCH = 10


@dataclass(frozen=True, slots=True)
class HyperParameters:
    """The figures of a run; each may be changed before it starts.

    Attributes:
        objective: ``Objective.key``.
        epochs: How often every label is seen.
        batch: Examples per step.
        learning_rate: The highest, after warming up; then it falls evenly to 0.
        warm_up: Share of the steps.
        seed: Of the order of the labels.
        max_tokens: Tokens read of a text; None: as the model does.
        patience: Looks at the held-out curve without a gain after which training stops; None: never.
        keep_best: The state that did best is kept, not the last one.
    """

    objective: str
    epochs: int
    batch: int
    learning_rate: float = LEARNING_RATE
    warm_up: float = WARM_UP
    seed: int = 0
    max_tokens: int | None = None
    patience: int | None = 3
    keep_best: bool = True


def objective(key: str) -> Objective:
    """Gives an objective by its key.

    Raises:
        UsageError: ``unknown-objective``, naming those there are.
    """
    for known in OBJECTIVES:
        if known.key == key:
            return known
    raise UsageError("unknown-objective", f"There is no objective called {key!r}.",
                     f"There are {', '.join(known.key for known in OBJECTIVES)}.")  # fmt: skip


def objectives_for(kind: LabelKind) -> tuple[Objective, ...]:
    """Gives the objectives that fit a kind of label, the recommended one first."""
    fitting = [known for known in OBJECTIVES if kind in known.kinds]
    return tuple(sorted(fitting, key=lambda known: (known.key != _FIRST[kind], known.kinds.index(kind))))


_FIRST = {
    LabelKind.PAIRS: "online-contrastive",
    LabelKind.RELEVANCE: "online-contrastive",
    LabelKind.POSITIVES: "multiple-negatives",
    LabelKind.GRADED: "cosent",
    LabelKind.TRIPLETS: "triplet",
    LabelKind.NLI: "softmax",
}


def defaults(kind: LabelKind, count: int, key: str = "auto") -> HyperParameters:
    """Gives the figures that training starts with.

    Args:
        kind: Kind of label.
        count: Labels that are learned from.
        key: An objective, ``auto`` for the recommended one.

    Raises:
        UsageError: ``unknown-objective``, or ``objective-does-not-fit`` the kind of label.
    """
    chosen = objectives_for(kind)[0] if key == "auto" else objective(key)
    if kind not in chosen.kinds:
        fitting = ", ".join(known.key for known in objectives_for(kind))
        raise UsageError("objective-does-not-fit", f"{chosen.key} cannot learn from {kind.unit}.",
                         f"Those that can: {fitting}.")  # fmt: skip
    # Few labels: smaller batches, so that an epoch is more than one step. Many: one epoch, as the paper's NLI.
    batch = chosen.batch
    while batch > 8 and count / batch < _FEWEST_STEPS_AN_EPOCH:
        batch //= 2
    steps = max(1, -(-count // batch))
    epochs = min(10, max(1, round(_STEPS / steps)))
    return HyperParameters(chosen.key, epochs, batch)


def checked(wanted: HyperParameters) -> HyperParameters:
    """Gives the figures back if each is one that training can use.

    Raises:
        UsageError: ``bad-hyper-parameter``, naming the one and its limits.
    """
    for name, (low, high) in LIMITS.items():
        value = getattr(wanted, name)
        if value is not None and not low <= value <= high:
            shown = f"{value:,}" if isinstance(value, int) else f"{value:g}"
            raise UsageError("bad-hyper-parameter", f"{shown} is no {name.replace('_', ' ')} that training can use.",
                             f"Choose one from {low:g} to {high:g}.")  # fmt: skip
    return replace(wanted, objective=objective(wanted.objective).key)
