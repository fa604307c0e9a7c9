"""What labelling, training, comparing and adopting hand to the window and to the command line: frozen and complete."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path


class Task(StrEnum):
    """What is judged."""

    SAME = "same"
    """Two texts: do they say the same? Verdicts: ``same``, ``different``, or a grade from 0 to 5."""
    ANSWERS = "answers"
    """A question and a passage: does it answer? Verdicts: ``relevant``, ``not relevant``."""


@dataclass(frozen=True, slots=True)
class TextSide:
    """A passage that is judged, with where it stands and what stands around it. A question has only its ``text``."""

    text: str
    path: Path | None = None
    member: str = ""
    title: str = ""
    page: int | None = None
    before: str = ""
    after: str = ""
    content: int = 0
    sha256: str = ""
    start: int = 0
    end: int = 0


@dataclass(frozen=True, slots=True)
class PairView:
    """A pair to be judged. ``why``: ``unsure``, ``sure-same``, ``sure-different`` or ``chosen``: never its score.

    ``title``: the person has not searched yet, and the question is the title of a document.
    """

    id: str
    task: Task
    left: TextSide
    right: TextSide
    why: str


@dataclass(frozen=True, slots=True)
class LabelRow:
    """A judgement that was made. ``verdict`` as in :class:`Task`, or a grade as text; ``made``: seconds."""

    id: str
    task: Task
    left: str
    right: str
    verdict: str
    made: float
    source: str = ""
    left_title: str = ""
    right_title: str = ""


@dataclass(frozen=True, slots=True)
class LabelsView:
    """What was judged so far.

    ``counts``: by verdict. ``enough``: labels from which a difference worth having can be seen where none shares a
    document with another; ``left``: how many are missing to it; both count questions where questions are judged.
    ``sentence``: says what so many allow, as the check before training does. ``shared``: why that will ask for more,
    "" where it will not.
    ``balance``: a sentence on whether one side is short. ``rows``: all, newest first.
    """

    task: Task
    total: int
    counts: tuple[tuple[str, int], ...]
    enough: int
    left: int
    sentence: str
    balance: str
    rows: tuple[LabelRow, ...]
    generation: int = 0
    shared: str = ""


@dataclass(frozen=True, slots=True)
class TableView:
    """The head of a table that is to be imported.

    ``kind``: as ``training.labels.LabelKind``; ``mapping``: field -> column guessed; ``sample``: first rows.
    """

    path: Path
    columns: tuple[str, ...]
    kind: str
    mapping: tuple[tuple[str, str], ...]
    sample: tuple[tuple[str, ...], ...]
    rows: int
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ImportedView:
    """A table of labels that was taken in. ``path``: its copy, to be named in ``Plan.labels``."""

    name: str
    path: Path
    kind: str
    rows: int
    counts: tuple[tuple[str, int], ...]
    made: float


@dataclass(frozen=True, slots=True)
class FindingView:
    """One thing that the checks found. ``severity``: ``stops``, ``warns`` or ``tells``."""

    code: str
    severity: str
    sentence: str
    hint: str
    rows: tuple[str, ...] = ()  # ids of the labels concerned


@dataclass(frozen=True, slots=True)
class Plan:
    """What to train with. ``objective``: ``auto`` or a name of ``training.objectives``.

    ``base``: a model's name, "" for the one in use. ``kind``: ``encoder`` or ``cross-encoder``. ``labels``: tables
    that are trained on beside (or, with ``judgements`` False, in place of) the library's judgements. None is what
    is usual.
    """

    task: Task = Task.SAME
    name: str = ""
    base: str = ""
    kind: str = "encoder"
    objective: str = "auto"
    epochs: int | None = None
    batch: int | None = None
    learning_rate: float | None = None
    warm_up: float = 0.1
    margin: float | None = None
    seed: int = 0
    max_tokens: int | None = None
    held_out: float = 0.25
    patience: int = 3
    hard_negatives: int = 0
    judgements: bool = True
    labels: tuple[Path, ...] = ()
    labels_kind: str = ""


@dataclass(frozen=True, slots=True)
class CheckView:
    """What a plan would train on, and what speaks against it.

    ``objective``: the one chosen, ``objective_sentence`` says what it does. ``interval``: the width of the 95 %
    interval that the held-out part allows, in words. ``minutes`` to ``most_minutes``: about how long, 0 unknown.
    """

    plan: Plan
    train: int
    held_out: int
    findings: tuple[FindingView, ...]
    objective: str
    objective_sentence: str
    interval: str
    may_train: bool
    minutes: float = 0.0
    most_minutes: float = 0.0


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """One point of the live curves. ``loss`` mean since the last one; ``held_out`` None between two measurements."""

    step: int
    loss: float | None
    held_out: float | None


@dataclass(frozen=True, slots=True)
class TrainingView:
    """How a run stands, sent as Partial while it goes on. ``phase`` in plain words."""

    run: str
    phase: str
    step: int
    of: int
    curve: tuple[CurvePoint, ...]
    metric: str
    seconds_left: float | None = None
    notice: str = ""


@dataclass(frozen=True, slots=True)
class GuardView:
    """One check of the tuned model. ``severity`` of a failed one: ``stops`` (it may not be adopted) or ``warns``.

    ``brief``: what it found in a few words, for a narrow row; "" where only the sentence says it.
    """

    code: str
    title: str
    sentence: str
    passed: bool
    severity: str = "stops"
    brief: str = ""


@dataclass(frozen=True, slots=True)
class ChangeRow:
    """How one query changes. Ranks from 1, 0 where the document is not among the first 100."""

    query: str
    document: str
    now: int
    tuned: int
    judged: bool


@dataclass(frozen=True, slots=True)
class SideBySide:
    """The first hits of one query with the model in use and with the tuned one. Titles, best first."""

    query: str
    now: tuple[str, ...]
    tuned: tuple[str, ...]
    saved: bool
    """A saved search of the person; else one that was sampled."""


@dataclass(frozen=True, slots=True)
class Arrow:
    """How one document would move on the map. Places between 0 and 1, y upwards; both maps are laid over each other."""

    title: str
    x: float
    y: float
    new_x: float
    new_y: float


def is_known(low: float, high: float) -> bool:
    """Says whether an interval says anything; where too little of what is kept aside is independent it does not.

    Source: ``training.comparing.UNKNOWN``.
    """
    return (low, high) != (-1.0, 1.0)


def interval_words(low: float, high: float, decimals: int = 4) -> str:
    """Gives the ends of an interval as figures, or that it is not known."""
    return f"{low:+.{decimals}f} to {high:+.{decimals}f}" if is_known(low, high) else "not known"


@dataclass(frozen=True, slots=True)
class MeasureView:
    """One measure of base and tuned, by its name in the field, with the 95 % interval of the difference."""

    metric: str
    base: float
    tuned: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class ComparisonView:
    """Base and tuned on the same held-out part, and what would change.

    ``metric``: its name in the field; ``base``, ``tuned``, ``difference``, ``low``, ``high``: in its own unit (0-1, or
    -1 to 1 for correlations), ``low``/``high`` the 95 % interval of the difference. ``measured`` False: ``verdict``
    says why nothing can be said. ``unit``: what the bars count ("of 100 pairs right"). ``verdict``: one sentence in
    that unit. ``recommended``: clearly better and no guard stops it; ``refusal``: why it may not be adopted, else "".
    ``measures``: all that was measured; the first decides (``ap``, ``spearman_cosine``, ``ndcg@10``...). ``device``:
    where it was trained; ``notes``: plain sentences on what was decided or given up on the way.
    """

    run: str
    name: str
    base_name: str
    metric: str
    unit: str
    base: float
    tuned: float
    difference: float
    low: float
    high: float
    measured: bool
    verdict: str
    recommended: bool
    refusal: str
    better: int
    same: int
    worse: int
    held_out: int
    trained_on: int
    seconds: float
    guards: tuple[GuardView, ...]
    changes: tuple[ChangeRow, ...] = ()
    groups_gained: int = 0
    groups_lost: int = 0
    passages: int = 0
    minutes: float = 0.0
    bytes: int = 0
    other_metrics: tuple[tuple[str, float, float], ...] = ()
    searches: tuple[SideBySide, ...] = ()
    arrows: tuple[Arrow, ...] = ()
    kind: str = "encoder"
    measures: tuple[MeasureView, ...] = ()
    device: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RunView:
    """A training that was begun. ``state``: ``interrupted``, ``trained``, ``adopted``, ``kept`` or ``discarded``.

    ``running``: it is under way, here or in another window or terminal. ``model``: its name among the models, ""
    while it is not there; ``folder``: where it lies, there or with the training, None without one. ``decided``: when it
    was kept or adopted, seconds, 0 not known.
    """

    run: str
    name: str
    state: str
    made: float
    plan: Plan
    step: int = 0
    of: int = 0
    comparison: ComparisonView | None = None
    model: str = ""
    folder: Path | None = None
    decided: float = 0.0


@dataclass(frozen=True, slots=True)
class SpaceView:
    """The vectors of one model in this library. ``state``: ``in use``, ``building``, ``kept`` or ``words only``."""

    fingerprint: str
    name: str
    state: str
    bytes: int
    passages: int
    of: int = 0
    model: str = ""


@dataclass(frozen=True, slots=True)
class LabRow:
    """What was measured of one model, or of one way to use it (a pooling, a cut dimension, int8).

    ``quality`` with ``low`` and ``high`` (95 %); ``mean_cosine``: of random pairs (anisotropy); ``isotropy``: after
    whitening, 0-1; ``speed``: passages per second on this machine; ``size``: bytes; ``dimension`` of its vectors.
    ``change`` of the quality against the model as it is, with the ends of its paired 95 % interval; None for that one.
    """

    model: str
    way: str
    metric: str
    quality: float | None
    low: float | None
    high: float | None
    mean_cosine: float | None
    isotropy: float | None
    speed: float | None
    size: int
    dimension: int
    note: str = ""
    change: float | None = None
    change_low: float | None = None
    change_high: float | None = None


@dataclass(frozen=True, slots=True)
class LabView:
    """The lab's table. ``data``: what it was measured on, in words."""

    rows: tuple[LabRow, ...]
    data: str
    n: int
    made: float
    notes: tuple[str, ...] = field(default=())
