"""Drives a training in a child: progress, the held-out curve, pause, cancel, checkpoints, and what survives a kill.

Begin one with :func:`begin`, run it with :class:`Training`; where it was broken off, by whatever, a new
:class:`Training` on the same folder goes on from its newest checkpoint. Two stages, as NLI and then grades, are two
trainings: the second has the first one's model as its base (:func:`sbert_desktop.training.saving.assemble`).
"""

from __future__ import annotations

import contextlib
import json
import math
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import cast

import numpy as np

from sbert_desktop.domain import Child, JobContext, Vectors
from sbert_desktop.errors import Cancelled, JobError, TrainingError
from sbert_desktop.training import _work
from sbert_desktop.training._work import CROSS_ENCODER, ENCODER, Recipe
from sbert_desktop.training.files import read_json, write_json
from sbert_desktop.training.labels import LabelSet

__all__ = ["CROSS_ENCODER", "ENCODER", "HeldOut", "Point", "Recipe", "Standing", "Trained", "Training", "Unfinished",
           "begin", "hold_out", "recipe_of", "result_of", "resumable"]  # fmt: skip

Launch = Callable[..., Child]
RESTARTS = 2
"""How often a child that died is replaced in one run."""
_LOOKS = 10
_POINTS = 300
_REQUEST_S = 600.0  # loading a model from a slow disk, one step of long texts on a slow machine
_PATIENCE_TO_END_S = 2.0  # a cancel waits so long for the step under way, to keep what it has
_POLL_S = 0.05


@dataclass(frozen=True, slots=True)
class HeldOut:
    """What is looked at again and again while training.

    Attributes:
        columns: Texts, one column for each text of an example; of a cross-encoder two, its pairs.
        measure: Gives the metric (higher is better) of one array for each column, float32 [n, dimension], unit rows;
            of a cross-encoder one array of scores, [n, 1]. None: cannot be measured.
        prompts: Put before each text of a column; none: as the recipe has it, whose labels are of this kind then.

    The state that does best here is kept, so the figure of the part that chose it is a little too good. Where enough
    labels are there, take another part for the comparison.
    """

    columns: tuple[tuple[str, ...], ...]
    measure: Callable[[Sequence[Vectors]], float | None]
    prompts: tuple[str, ...] = ()


def hold_out(labels: LabelSet, measure: Callable[[Sequence[Vectors]], float | None]) -> HeldOut:
    """Gives labels that were kept aside as what is looked at."""
    columns = tuple(tuple(one.texts[place] for one in labels.examples) for place in range(labels.kind.texts))
    return HeldOut(columns, measure)


@dataclass(frozen=True, slots=True)
class Point:
    """One point of the curves: the mean loss since the last point, the held-out metric, either None."""

    step: int
    loss: float | None
    held_out: float | None


@dataclass(frozen=True, slots=True)
class Standing:
    """How a training stands.

    Attributes:
        phase: In plain words.
        step: Steps made.
        of: Steps in all; 0 while it is not known.
        epoch: The present one, from 1.
        epochs: In all.
        loss: Mean of the newest steps, None at the beginning.
        held_out: The newest figure, None without one.
        curve: All points so far.
        seconds_left: None while it cannot be said.
        device: ``cpu``, ``cuda``, ``mps`` or ``xpu``.
        notices: Plain sentences on what was given up (a smaller batch, the card).
    """

    phase: str
    step: int = 0
    of: int = 0
    epoch: int = 1
    epochs: int = 1
    loss: float | None = None
    held_out: float | None = None
    curve: tuple[Point, ...] = ()
    seconds_left: float | None = None
    device: str = ""
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Trained:
    """What came of a training; its model lies in the work folder until :mod:`~sbert_desktop.training.saving` takes it.

    Attributes:
        folder: The work folder.
        step: Steps made.
        of: Steps that were planned; more than ``step`` where it stopped early.
        best: After how many steps the state is that was kept, None for the last one.
        held_out: Its figure on the held-out part.
        before: That of the base.
        curve: All points.
        seconds: Of training, all runs together.
        device: Where it ended.
        notices: As in :class:`Standing`.
    """

    folder: Path
    step: int
    of: int
    best: int | None
    held_out: float | None
    before: float | None
    curve: tuple[Point, ...]
    seconds: float
    device: str
    notices: tuple[str, ...] = ()

    @property
    def stopped_early(self) -> bool:
        """True where the held-out figure had not risen for long."""
        return self.step < self.of


@dataclass(frozen=True, slots=True)
class Unfinished:
    """A training that was begun: how far its newest checkpoint is. ``finished``: its result lies there.

    ``seconds``: trained up to the checkpoint, on ``device``.
    """

    folder: Path
    made: float
    step: int
    of: int
    base: Path
    base_name: str
    kind: str
    label_kind: str
    labels: int
    finished: bool
    seconds: float = 0.0
    device: str = ""


def begin(folder: Path, recipe: Recipe) -> None:
    """Makes a work folder; train in it with :class:`Training`.

    Raises:
        TrainingError: ``training-exists``, ``nothing-to-learn``, ``disk-full``.
    """
    if (folder / _work.RUN).exists():
        raise TrainingError("training-exists", "There is a training in this folder already.", "Resume it.")
    if not recipe.labels.examples:
        raise TrainingError("nothing-to-learn", "There are no labels to learn from.", "Label some pairs first.")
    try:
        _work.write_recipe(folder, recipe, time.time())
    except OSError as error:
        raise TrainingError("disk-full", f"The training could not be stored: {error.strerror}.",
                            "See whether the disk is full.") from error  # fmt: skip


def recipe_of(folder: Path) -> Recipe:
    """Gives what a training was begun with.

    Raises:
        TrainingError: ``training-damaged``.
    """
    return _work.read_recipe(folder)


def resumable(folder: Path) -> Unfinished | None:
    """Says how far a training is, None where none was begun (or it cannot be read)."""
    run = read_json(folder / _work.RUN)
    if run is None or not (folder / _work.LABELS).is_file():
        return None
    newest = _work.all_numbered(folder, _work.CHECKPOINT)
    state = read_json(newest[0][1] / _work.STATE) if newest else None
    try:
        return Unfinished(
            folder, float(cast(float, run["made"])), int(cast(int, state["step"])) if state else 0,
            int(cast(int, state["of"])) if state else 0, Path(str(run["base"])), str(run["base_name"]),
            str(run["kind"]), str(run["label_kind"]), int(cast(int, run["labels"])),
            (folder / _work.TRAINED).is_file() and (folder / _work.FINAL).is_dir(),
            *_spent(state),
        )  # fmt: skip
    except (KeyError, TypeError, ValueError):
        return None


def _spent(state: Mapping[str, object] | None) -> tuple[float, str]:
    """Gives the seconds that were trained up to a checkpoint, and where; 0 where it does not say."""
    note = state.get("note") if state is not None else None
    seconds = note.get("seconds") if isinstance(note, dict) else None
    return (float(seconds), str(state["device"])) if state and isinstance(seconds, int | float) else (0.0, "")


def result_of(folder: Path) -> Trained | None:
    """Gives what came of a training that has ended, else None."""
    kept = read_json(folder / _work.TRAINED)
    if kept is None or not (folder / _work.FINAL).is_dir():
        return None
    try:
        curve = tuple(Point(*one) for one in cast("list[list[float]]", kept["curve"]))  # type: ignore[arg-type]
        notices = tuple(cast("list[str]", kept["notices"]))
        rest = {name: kept[name] for name in ("step", "of", "best", "held_out", "before", "seconds", "device")}
        return Trained(folder=folder, curve=curve, notices=notices, **rest)  # type: ignore[arg-type]
    except (KeyError, TypeError):
        return None


@dataclass(slots=True)
class _Memory:
    """What the parent keeps between checkpoints; it is stored with each, so that both always fit together."""

    curve: list[Point] = field(default_factory=list)
    before: float | None = None
    best: int | None = None
    best_value: float | None = None
    without_gain: int = 0
    looked: int = -1
    seconds: float = 0.0
    notices: list[str] = field(default_factory=list)

    def to_note(self) -> dict[str, object]:
        return {**asdict(self), "curve": [[one.step, one.loss, one.held_out] for one in self.curve]}

    @classmethod
    def of_note(cls, note: Mapping[str, object]) -> _Memory:
        if not note:
            return cls()
        curve = [Point(*one) for one in cast("list[list[float]]", note["curve"])]  # type: ignore[arg-type]
        return cls(**{**note, "curve": curve})  # type: ignore[arg-type]


class Training:
    """One training that was begun in a folder; :meth:`run` it in a thread that may wait (a lane).

    Args:
        folder: The work folder, see :func:`begin`.
        launch: ``launch("train", nice=...)`` gives the child.
        held_out: What is looked at; None: there is no curve of it, no early stop, and the last state is kept.
        report: Hears how it stands, about twice a second.
        threads: Cores to use; all by default.
        nice: Added to the niceness of the child.
        looks: How often the held-out part is looked at in a run (each epoch's end is not special).
        checkpoint_seconds: At most so long between two checkpoints.
        checkpoint_steps: Also after so many steps; None: only by time.
    """

    def __init__(
        self,
        folder: Path,
        launch: Launch,
        *,
        held_out: HeldOut | None = None,
        report: Callable[[Standing], None] = lambda standing: None,
        threads: int | None = None,
        nice: int = 10,
        looks: int = _LOOKS,
        checkpoint_seconds: float = 30.0,
        checkpoint_steps: int | None = None,
    ) -> None:
        self.folder = folder
        self._launch = launch
        self._held_out = held_out
        self._report = report
        self._threads = threads
        self._nice = nice
        self._looks = max(1, looks)
        self._checkpoint_seconds = checkpoint_seconds
        self._checkpoint_steps = checkpoint_steps
        self._recipe = _work.read_recipe(folder)
        self._memory = _Memory()
        self._standing = Standing("Loading the model")
        self._step_seconds: float | None = None
        self._look_seconds = 0.0
        self._stored = (0, 0.0)  # step and time of the last checkpoint
        self._losses: list[float] = []
        self._own_notices: list[str] = []

    def run(self, context: JobContext) -> Trained:
        """Trains to the end, from where it was broken off.

        A pause first stores a checkpoint; a cancel ends the child and leaves a run that can be resumed.

        Raises:
            TrainingError: ``training-diverged``, ``training-damaged``, ``base-missing``, ``no-gpu``, ``disk-full``,
                ``training-died`` when the child died a third time.
            Cancelled: From ``context.check()``.
        """
        ended = result_of(self.folder)
        if ended is not None:
            return ended
        for restarts in range(RESTARTS + 1):
            self._tell(context, phase="Loading the model")
            child = self._launch("train", nice=self._nice)
            try:
                return self._drive(_Asking(child, context), context)
            except JobError as error:
                if error.code not in {"child-died", "child-timeout"}:
                    raise TrainingError(error.code, error.message, error.hint, error.detail) from error
                if restarts == RESTARTS:
                    raise TrainingError(
                        "training-died", "The helper that trains ended unexpectedly, more than once.",
                        "Close other programs, choose a smaller batch, then resume.", detail=error.detail,
                    ) from error
                self._own_notices.append("The helper that trains ended unexpectedly and was started again.")
            finally:
                child.close()
        raise AssertionError("unreachable")

    # ------------------------------------------------------------ one child

    def _drive(self, ask: _Asking, context: JobContext) -> Trained:
        reply = ask({"do": "begin", "work": str(self.folder), "threads": self._threads})
        self._memory = _Memory.of_note(cast("Mapping[str, object]", reply["note"]))
        self._losses = []
        self._take(reply)
        self._stored = (self._standing.step, time.monotonic())
        try:
            while True:
                self._look_if_due(ask, context)
                if self._standing.step >= self._standing.of or self._is_enough():
                    break
                self._pause(ask, context)
                self._go_on(ask, context)
        except Cancelled:
            self._store_quietly(ask)
            raise
        return self._end(ask, context)

    def _go_on(self, ask: _Asking, context: JobContext) -> None:
        """Trains for half a second, or to the next look, and stores what is due."""
        due = min(self._standing.of, (self._standing.step // self._every + 1) * self._every)
        reply = ask({"do": "steps", "until": due, "seconds": 0.5})
        losses, seconds = cast("list[float]", reply["losses"]), cast(float, reply["seconds"])
        self._losses += losses
        self._memory.seconds += seconds
        if losses:
            now = seconds / len(losses)
            self._step_seconds = now if self._step_seconds is None else 0.7 * self._step_seconds + 0.3 * now
        self._take(reply)
        if len(self._losses) >= max(1, self._standing.of // _POINTS) or self._standing.step == due:
            self._draw(None)
        self._tell(context, phase="Training")
        step, at = self._stored
        late = time.monotonic() - at >= self._checkpoint_seconds
        many = self._checkpoint_steps is not None and self._standing.step - step >= self._checkpoint_steps
        if (late or many) and self._standing.step < self._standing.of:
            self._store(ask)

    @property
    def _every(self) -> int:
        """Steps from one look to the next."""
        return max(1, round(self._standing.of / self._looks))

    def _look_if_due(self, ask: _Asking, context: JobContext) -> None:
        """Looks at the held-out part at the beginning, on the way and at the end, once each, and keeps the best."""
        step, memory = self._standing.step, self._memory
        if memory.looked == step or (step % self._every and step != self._standing.of):
            return
        value = self._look(ask, context)
        if step == 0:
            memory.before = value
        else:
            self._judge(ask, value)
        memory.looked = step

    def _is_enough(self) -> bool:
        patience = self._recipe.hyper.patience
        return patience is not None and self._memory.without_gain >= patience

    def _look(self, ask: _Asking, context: JobContext) -> float | None:
        """Measures the held-out part, None where there is none or it cannot be measured."""
        held = self._held_out
        if held is None or not held.columns or not held.columns[0]:
            return None
        self._tell(context, phase="Looking at the pairs kept aside")
        begun = time.monotonic()
        prompts = held.prompts or self._recipe.column_prompts()
        header = {"do": "evaluate", "prompts": list(prompts)}
        reply, payload = ask.for_arrays(header, json.dumps(held.columns).encode())
        arrays, at = [], 0
        for shape in cast("list[tuple[int, int]]", reply["shapes"]):
            count = int(np.prod(shape))
            arrays.append(np.frombuffer(payload, "<f4", count, at).reshape(shape))
            at += 4 * count
        value = held.measure(arrays)
        if value is not None and not math.isfinite(value):
            value = None
        self._look_seconds = time.monotonic() - begun
        self._memory.seconds += self._look_seconds
        self._draw(value)
        return value

    def _judge(self, ask: _Asking, value: float | None) -> None:
        """Keeps the state when it is the best so far."""
        memory = self._memory
        if value is None:
            return
        if memory.best_value is None or value > memory.best_value:
            memory.best, memory.best_value, memory.without_gain = self._standing.step, value, 0
            if self._recipe.hyper.keep_best:
                ask({"do": "keep"})
        else:
            memory.without_gain += 1

    def _pause(self, ask: _Asking, context: JobContext) -> None:
        if context.paused:
            self._store(ask)
            self._tell(context, phase="Paused")
        context.check()

    def _store(self, ask: _Asking, timeout: float = _REQUEST_S) -> None:
        if self._standing.step != self._stored[0]:
            ask({"do": "checkpoint", "note": self._memory.to_note()}, timeout=timeout, cancel=False)
        self._stored = (self._standing.step, time.monotonic())

    def _store_quietly(self, ask: _Asking) -> None:
        """Keeps what a cancelled run has, where its child still listens."""
        if ask.idle:
            with contextlib.suppress(JobError):
                self._store(ask, timeout=30.0)

    def _end(self, ask: _Asking, context: JobContext) -> Trained:
        self._tell(context, phase="Storing the result")
        memory, standing = self._memory, self._standing
        best = memory.best if self._recipe.hyper.keep_best else None
        reply = ask({"do": "finish", "best": best}, cancel=False)
        value = memory.best_value if best is not None else standing.held_out
        trained = Trained(
            self.folder, standing.step, standing.of, best, value, memory.before, tuple(memory.curve),
            round(memory.seconds, 2), str(reply["device"]), self._standing.notices,
        )  # fmt: skip
        kept = {**asdict(trained), "curve": memory.to_note()["curve"]}
        del kept["folder"]
        write_json(self.folder / _work.TRAINED, kept)
        _work.remove_numbered(self.folder, _work.CHECKPOINT, keep=None)
        _work.remove_numbered(self.folder, _work.BEST, keep=None)
        return trained

    # ------------------------------------------------------------ what is told

    def _take(self, reply: Mapping[str, object]) -> None:
        for notice in cast("list[str]", reply["notices"]):
            if notice not in self._memory.notices:
                self._memory.notices.append(notice)
        loss = float(np.mean(self._losses)) if self._losses else self._standing.loss
        self._standing = replace(
            self._standing, step=cast(int, reply["step"]), of=cast(int, reply["of"]), epoch=cast(int, reply["epoch"]),
            epochs=cast(int, reply["epochs"]), device=str(reply["device"]), loss=loss,
            notices=(*self._memory.notices, *self._own_notices),
        )  # fmt: skip

    def _draw(self, held_out: float | None) -> None:
        """Adds a point to the curves, or the held-out figure to the one that is there."""
        step, curve = self._standing.step, self._memory.curve
        loss = float(np.mean(self._losses)) if self._losses else None
        self._losses = []
        if curve and curve[-1].step == step:
            last = curve.pop()
            loss, held_out = last.loss if loss is None else loss, last.held_out if held_out is None else held_out
        curve.append(Point(step, loss, held_out))
        newest = held_out if held_out is not None else self._standing.held_out
        self._standing = replace(self._standing, held_out=newest)

    def _tell(self, context: JobContext, *, phase: str) -> None:
        standing = self._standing
        left = None
        if self._step_seconds is not None and standing.of:
            looks = standing.of // self._every - standing.step // self._every
            left = self._step_seconds * (standing.of - standing.step) + self._look_seconds * looks
        self._standing = replace(standing, phase=phase, seconds_left=left, curve=tuple(self._memory.curve))
        context.progress(phase, standing.step, standing.of or None)
        self._report(self._standing)


class _Asking:
    """Asks the child in a thread, so that a cancel is heard while it works; then a child that is slow is ended."""

    def __init__(self, child: Child, context: JobContext) -> None:
        self._child = child
        self._context = context
        self.idle = True

    def __call__(
        self, header: Mapping[str, object], payload: bytes = b"", *, timeout: float = _REQUEST_S, cancel: bool = True
    ) -> dict[str, object]:
        return self.for_arrays(header, payload, timeout=timeout, cancel=cancel)[0]

    def for_arrays(
        self, header: Mapping[str, object], payload: bytes = b"", *, timeout: float = _REQUEST_S, cancel: bool = True
    ) -> tuple[dict[str, object], bytes]:
        found: list[tuple[dict[str, object], bytes]] = []
        failed: list[BaseException] = []

        def request() -> None:
            try:
                found.append(self._child.request(header, payload, timeout=timeout))
            except BaseException as error:  # raised again below, in the thread that asked
                failed.append(error)

        if cancel and not self._context.paused:
            self._context.check()
        worker = threading.Thread(target=request, name="ask-the-trainer", daemon=True)
        self.idle = False
        worker.start()
        while worker.is_alive():
            worker.join(_POLL_S)
            if cancel and not self._context.paused:  # while paused, check would wait before a checkpoint is stored
                try:
                    self._context.check()
                except Cancelled:
                    worker.join(_PATIENCE_TO_END_S)
                    if found:
                        break  # what it did counts; the next check cancels
                    self._child.close()
                    worker.join()
                    raise
        if failed:
            raise failed[0]
        self.idle = True
        return found[0]
