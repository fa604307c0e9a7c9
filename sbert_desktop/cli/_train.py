"""Training on the command line: ``train PAIRS.csv --name NAME``, ``train --list``, ``train --resume RUN``."""

from __future__ import annotations

import argparse
import contextlib
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

from sbert_desktop.app.session import Session
from sbert_desktop.app.training_views import (
    ComparisonView,
    MeasureView,
    Plan,
    RunView,
    Task,
    TrainingView,
    interval_words,
    is_known,
)
from sbert_desktop.cli import _output as output
from sbert_desktop.cli._console import ConsoleContext
from sbert_desktop.cli._opening import as_json, session
from sbert_desktop.domain import JobContext, display_path
from sbert_desktop.errors import Cancelled, SbertDesktopError, UsageError


class TrainingConsole(ConsoleContext):
    """The progress of a training; Ctrl+C cancels it in good order, so that it keeps what it has. A second one ends."""

    def __init__(self, *, quiet: bool = False) -> None:
        super().__init__(quiet=quiet)
        self.run = ""
        self._stopped = False
        self._shown: tuple[float | None, float | None] = (None, None)

    def check(self) -> None:
        """Raises Cancelled after Ctrl+C."""
        if self._stopped:
            raise Cancelled

    def partial(self, result: object) -> None:
        """Remembers which run it is, and its newest figures."""
        if isinstance(result, TrainingView):
            self.run = result.run
            losses = [point.loss for point in result.curve if point.loss is not None]
            figures = [point.held_out for point in result.curve if point.held_out is not None]
            self._shown = losses[-1] if losses else None, figures[-1] if figures else None
            left = "" if result.seconds_left is None else f", {_time(result.seconds_left)} left"
            figure = "" if self._shown[1] is None else f", {result.metric} {self._shown[1]:.3f}"
            loss = "" if self._shown[0] is None else f"loss {self._shown[0]:.3f}"
            super().progress(result.phase, result.step, result.of or None, f"{loss}{figure}{left}".lstrip(", "))

    def progress(self, phase: str, done: int, total: int | None, detail: str = "") -> None:
        """As any; while steps are made, the line with the figures is shown instead."""
        if phase != "Training":
            super().progress(phase, done, total, detail)

    def stop(self, number: int, frame: FrameType | None) -> None:
        """Hears of Ctrl+C, or that the program is to end."""
        if self._stopped:
            raise KeyboardInterrupt
        self._stopped = True


def train(options: argparse.Namespace) -> int:
    """Trains, resumes, lists, or says what becomes of a training; 1 where the model was not to be adopted."""
    _check(options)
    with session(options, create=True) as opened:
        if options.list:
            _list(opened, options)
            return 0
        with _interruptible(options) as context:
            return _train(opened, options, context)


def _check(options: argparse.Namespace) -> None:
    """Refuses what does not go together.

    Raises:
        UsageError: ``bad-arguments``.
    """
    begins = _plan(options) != Plan(judgements=False)
    if options.list and (begins or options.resume or options.adopt or options.keep or options.discard):
        wrong = "'train --list' takes nothing else."
    elif options.resume and begins:
        wrong = "A training is resumed with what it was begun with; name only the run, and what becomes of it."
    elif options.discard and not options.resume:
        wrong = "--discard goes with --resume RUN."
    elif options.list or options.resume:
        return
    elif not (options.labels or options.judgements):
        wrong = "There is nothing to learn from: name a table of labels, or --judgements."
    elif not options.name.strip():
        wrong = "The new model needs a name: --name NAME."
    elif not 0.0 < options.held_out < 1.0:
        wrong = f"A share of {options.held_out:g} cannot be kept aside."
    elif options.patience < 0 or options.hard_negatives < 0:
        wrong = "--patience and --hard-negatives are 0 or more."
    else:
        return
    raise UsageError("bad-arguments", wrong, "See 'sbert-desktop train --help'.")


@contextlib.contextmanager
def _interruptible(options: argparse.Namespace) -> Iterator[TrainingConsole]:
    """Gives a context that Ctrl+C, or the end of the terminal, cancels; says how to go on."""
    context = TrainingConsole(quiet=bool(getattr(options, "quiet", False)))
    before: list[tuple[int, object]] = []
    if threading.current_thread() is threading.main_thread():
        for name in ("SIGINT", "SIGTERM", "SIGHUP"):
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) is not signal.SIG_IGN:  # nohup has it ignored
                before.append((number, signal.signal(number, context.stop)))
    try:
        yield context
    except (Cancelled, KeyboardInterrupt):
        context.clear()
        if context.run:
            output.say(f"The training can be resumed: sbert-desktop train --resume {context.run}")
        raise
    finally:
        context.clear()
        for number, handler in before:
            signal.signal(number, handler)  # type: ignore[arg-type]


def _train(opened: Session, options: argparse.Namespace, context: TrainingConsole) -> int:
    from sbert_desktop.app import tuning

    if options.discard:
        tuning.discard_training(opened, options.resume)
        if as_json(options):
            output.emit({"discarded": options.resume})
        else:
            output.line(f"{options.resume} is removed.")
        return 0
    if options.resume:
        view = tuning.resume_training(opened, options.resume, context)
    else:
        _ = opened.library  # made where there is none: trainings are kept in it
        view = tuning.run_training(opened, _plan(options), context)
    refused = _deed(opened, options, view, context)
    context.clear()
    run = next(found for found in tuning.trainings(opened) if found.run == view.run)
    for notice in (*view.notes, *opened.notices()):
        output.say(notice)
    fields = _fields(run.comparison or view, run)
    if refused is not None:  # the figures are said all the same, in the one object
        output.say(str(refused))
        fields["error"] = {"code": refused.code, "message": refused.message, "hint": refused.hint}
    if as_json(options):
        output.emit(fields)
    else:
        _print(run.comparison or view, run)
    return 0 if refused is None else 1


def _plan(options: argparse.Namespace) -> Plan:
    return Plan(
        task=Task(options.task), name=options.name.strip(), base=options.base, kind=options.kind,
        objective=options.loss, epochs=options.epochs, batch=options.batch, learning_rate=options.lr,
        margin=options.margin, seed=options.seed, max_tokens=options.max_tokens, held_out=options.held_out,
        patience=options.patience, hard_negatives=options.hard_negatives, judgements=options.judgements,
        labels=tuple(Path(path).expanduser().absolute() for path in options.labels), labels_kind=options.label_kind,
    )  # fmt: skip


def _deed(
    opened: Session, options: argparse.Namespace, view: ComparisonView, context: JobContext
) -> SbertDesktopError | None:
    """Keeps or adopts the model as asked; gives why it was refused, so that the figures are shown first."""
    from sbert_desktop.app import tuning

    if options.keep:
        tuning.keep_training(opened, view.run, context)
    elif options.adopt:
        try:
            tuning.adopt(opened, view.run, context)
        except SbertDesktopError as error:
            if error.code != "not-adopted":
                raise
            return error
    return None


def _interval(measure: MeasureView) -> list[float] | None:
    """Gives the ends, None where too little of what is kept aside is independent."""
    return [measure.low, measure.high] if is_known(measure.low, measure.high) else None


def _fields(view: ComparisonView, run: RunView) -> dict[str, object]:
    """Gives the contract of DESIGN section 6, and more. What could not be measured is null."""
    first = view.measures[0] if view.measured and view.measures else None
    return {
        "base": first.base if first else None,
        "tuned": first.tuned if first else None,
        "difference": {
            "metric": first.metric if first else "",
            "value": first.tuned - first.base if first else None,
            "ci95": _interval(first) if first else None,
        },
        "guards": [{"code": guard.code, "title": guard.title, "passed": guard.passed, "severity": guard.severity,
                    "sentence": guard.sentence} for guard in view.guards],
        "recommended": view.recommended,
        "model": str(run.folder or ""),
        "name": view.name,
        "base_model": view.base_name,
        "kind": view.kind,
        "state": run.state,
        "run": view.run,
        "verdict": view.verdict,
        "refusal": view.refusal,
        "measured": view.measured,
        "metrics": {one.metric: {"base": one.base, "tuned": one.tuned, "ci95": _interval(one)}
                    for one in view.measures},
        "held_out": view.held_out,
        "trained_on": view.trained_on,
        "better": view.better,
        "same": view.same,
        "worse": view.worse,
        "changes": [{"query": row.query, "document": row.document, "now": row.now, "tuned": row.tuned,
                     "judged": row.judged} for row in view.changes],
        "searches": [{"query": one.query, "now": list(one.now), "tuned": list(one.tuned), "saved": one.saved}
                     for one in view.searches],
        "duplicates": {"gained": view.groups_gained, "lost": view.groups_lost},
        "steps": run.step,
        "seconds": view.seconds,
        "device": view.device,
        "notes": list(view.notes),
    }  # fmt: skip


def _print(view: ComparisonView, run: RunView) -> None:
    output.line(f"{view.name} ({view.kind}), from {view.base_name}, {view.trained_on:,} labels, "
                f"{_time(view.seconds)} on {view.device}.")  # fmt: skip
    output.line(f"{view.verdict}" + ("" if view.verdict.endswith(".") else "."))
    for one in view.measures if view.measured else ():
        output.line(f"  {one.metric:20} {one.base:.4f} -> {one.tuned:.4f}  ({one.tuned - one.base:+.4f}, "
                    f"95 % interval {interval_words(one.low, one.high)})")  # fmt: skip
    if view.measured:
        output.line(f"  of {view.held_out:,} kept aside: {view.better:,} better, {view.same:,} the same, "
                    f"{view.worse:,} worse")  # fmt: skip
    for guard in view.guards:
        word = "ok" if guard.passed else "STOPS" if guard.severity == "stops" else "note"
        output.line(f"  {word:5} {guard.title}: {guard.sentence}")
    for search in view.searches:
        output.line(f"  {output.one_line(search.query, 60)!r}: {output.one_line(', '.join(search.now[:3]), 90)}"
                    f"  ->  {output.one_line(', '.join(search.tuned[:3]), 90)}")  # fmt: skip
    if view.groups_gained or view.groups_lost:
        output.line(f"  duplicate groups: {view.groups_gained:,} more, {view.groups_lost:,} fewer")
    where = f" Its folder: {display_path(run.folder)}" if run.folder is not None else ""
    if run.state == "adopted":
        output.line(f"Adopted as {run.model}. Run 'sbert-desktop index' to bring the library to it.{where}")
    elif run.state == "kept":
        output.line(f"Kept among the models as {run.model}.{where}")
    elif view.recommended:
        output.line(f"Recommended. 'sbert-desktop train --resume {run.run} --adopt' puts it to use.{where}")
    else:
        output.line(f"Not recommended: {view.refusal}{where}")


def _list(opened: Session, options: argparse.Namespace) -> None:
    from sbert_desktop.app.tuning import trainings

    found = trainings(opened)
    if as_json(options):
        output.emit({"trainings": [_run_fields(run) for run in found]})
        return
    if not found:
        output.line("There are no trainings.")
    for run in found:
        steps = f", {run.step:,} of {run.of:,} steps" if run.of else ""
        said = "" if run.comparison is None else f": {run.comparison.verdict}"
        output.line(f"{run.run}  {run.state}{steps}{said}")


def _run_fields(run: RunView) -> dict[str, object]:
    return {
        "run": run.run, "name": run.name, "state": run.state, "made": run.made, "step": run.step, "of": run.of,
        "kind": run.plan.kind, "base_model": run.plan.base, "model": str(run.folder or ""),
        "recommended": None if run.comparison is None else run.comparison.recommended,
        "verdict": "" if run.comparison is None else run.comparison.verdict,
    }  # fmt: skip


def _time(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"
