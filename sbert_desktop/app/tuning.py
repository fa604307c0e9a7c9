"""Training from the plan to the comparison, and what becomes of the tuned model: kept, adopted or discarded.

The training itself runs in a child (:mod:`sbert_desktop.training.running`); here it is begun, watched and, whatever
broke it off, resumed from its folder (:mod:`sbert_desktop.app.training_runs`). A tuned model stays in that folder until
the person keeps or adopts it; it may be adopted only when it is clearly better and no guard stops it.
"""

from __future__ import annotations

import contextlib
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from sbert_desktop.app import training_pace
from sbert_desktop.app import training_runs as runs
from sbert_desktop.app.session import Session
from sbert_desktop.app.spaces import kept_whole
from sbert_desktop.app.training_runs import Material
from sbert_desktop.app.training_views import (
    ComparisonView,
    CurvePoint,
    Plan,
    RunView,
    SpaceView,
    TrainingView,
    interval_words,
)
from sbert_desktop.domain import Child, JobContext, Vectors
from sbert_desktop.errors import EncoderError, TrainingError, UsageError
from sbert_desktop.training import running
from sbert_desktop.training.comparing import METRIC, as_columns, measure
from sbert_desktop.training.labels import LabelKind, LabelSet
from sbert_desktop.training.objectives import HyperParameters, defaults
from sbert_desktop.training.running import CROSS_ENCODER, HeldOut, Recipe, Standing, Trained, Training

if TYPE_CHECKING:
    from sbert_desktop.app.planning import Gathered

COMPARING = "Comparing with the model before"


def run_training(session: Session, plan: Plan, context: JobContext) -> ComparisonView:
    """Trains on a plan and compares base and tuned.

    Raises:
        TrainingError: ``cannot-train`` with what stops it, ``base-missing``, or what the training met.
        UsageError: ``no-name``, or a figure that training cannot use.
        Cancelled: From ``context.check()``; the run can be resumed.
    """
    from sbert_desktop.app.planning import gather

    if not plan.name.strip():
        raise UsageError("no-name", "The new model has no name.", "Give it one.")
    base = base_folder(session, plan)
    gathered = gather(session if plan.judgements else None, plan, context)
    gathered.require()
    material = _material(session, gathered, base, context)
    folder = runs.new_run(session, plan)
    try:
        runs.write_plan(folder, replace(plan, base=_name_of(base)), material)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return _go_on(session, folder, context)


def resume_training(session: Session, run: str, context: JobContext) -> ComparisonView:
    """Goes on with a training that was broken off; one that has ended gives its comparison.

    Raises:
        TrainingError: ``training-unknown``, ``training-runs``, ``training-damaged``, or what the training met.
        Cancelled: From ``context.check()``; the run can be resumed.
    """
    folder = runs.find_run(session, run)
    _view_of(folder)
    known = runs.read_comparison(folder)
    return known if known is not None else _go_on(session, folder, context)


def _view_of(folder: Path) -> RunView:
    view = runs.read_run(folder)
    if view is None:
        raise TrainingError("training-damaged", "What this training was begun with cannot be read.", "Train anew.")
    return view


def trainings(session: Session) -> tuple[RunView, ...]:
    """Lists trainings, the newest first; one whose model was adopted and gave way to another since is ``kept``.

    The comparison of a model whose vectors the library keeps says that no passage is to be read anew.
    """
    used, found = _models_in_use(session), runs.list_runs(session)
    asked = any(run.model and run.model not in used for run in found)
    whole = kept_whole(session) if asked else frozenset()
    return tuple(_as_it_stands(run, used, whole) for run in found)


def _as_it_stands(run: RunView, used: set[str], whole: frozenset[str]) -> RunView:
    if not run.model or run.model in used:
        return run
    if run.comparison is not None and run.model in whole:
        run = replace(run, comparison=replace(run.comparison, passages=0, minutes=0.0, bytes=0))
    return replace(run, state=runs.KEPT) if run.state == runs.ADOPTED else run


def _models_in_use(session: Session) -> set[str]:
    """Gives the names of the models that search with, or are about to."""
    from sbert_desktop.app.models import CROSS_ENCODER as SECOND_LOOK

    wanted = session.library.wanted_space()
    return {session.models.name(), session.settings.text(SECOND_LOOK), wanted.model if wanted is not None else ""}


def keep_training(session: Session, run: str, context: JobContext) -> tuple[RunView, ...]:
    """Puts a tuned model among the models, without using it.

    Raises:
        TrainingError: ``training-unknown``, ``not-trained``, ``training-damaged`` or ``disk-full``.
    """
    _kept(session, runs.find_run(session, run), context)
    return trainings(session)


def discard_training(session: Session, run: str) -> tuple[RunView, ...]:
    """Removes a training and what it made; of one that was adopted only its record: its model has a space.

    Raises:
        TrainingError: ``training-unknown``, ``training-runs`` or ``training-not-removed``.
        EncoderError: ``model-in-use``: its model was kept, and is used.
    """
    from sbert_desktop.app.models import remove_model

    folder = runs.find_run(session, run)
    view = runs.read_run(folder)
    with runs.running(folder):
        if view is not None and view.state == runs.KEPT and view.model:
            try:
                remove_model(session, view.model)
            except EncoderError as error:
                if error.code != "model-missing":
                    raise
    runs.remove_run(folder)
    return trainings(session)


def adopt(session: Session, run: str, context: JobContext) -> tuple[SpaceView, ...]:
    """Puts a tuned model to use: an encoder's space is prepared in the background, a cross-encoder is used at once.

    Raises:
        TrainingError: ``not-adopted`` with the reason, ``training-unknown``, ``not-trained``, ``training-damaged``,
            ``disk-full``.
    """
    from sbert_desktop.app import spaces

    folder = runs.find_run(session, run)
    view = _comparison_of(folder)
    if not view.recommended:
        stopped = any(not guard.passed and guard.severity == "stops" for guard in view.guards)
        raise TrainingError("not-adopted", f"{view.name} is not put to use. {view.refusal}",
                            "Train anew, fewer times or more slowly." if stopped else "Label more, then train anew.")
    name = _kept(session, folder, context)
    if view.kind == CROSS_ENCODER:
        from sbert_desktop.app.models import use_model

        use_model(session, name)
        found = spaces.list_spaces(session)
    else:
        found = spaces.adopt(session, name)
    runs.write_state(folder, runs.ADOPTED, name)
    return found


def _comparison_of(folder: Path) -> ComparisonView:
    view = runs.read_comparison(folder)
    if view is None:
        raise TrainingError("not-trained", "This training has not ended yet.", "Resume it first.")
    return view


def _kept(session: Session, folder: Path, context: JobContext) -> str:
    """Puts the model into the store unless it is there; gives its name."""
    from sbert_desktop import paths
    from sbert_desktop.encoder.models import seal
    from sbert_desktop.encoder.store import find_model
    from sbert_desktop.training.saving import save_model

    view, run = _comparison_of(folder), _view_of(folder)
    with runs.running(folder):
        name = runs.stored_model(folder)
        if name:
            find_model(name)  # says so where it was removed meanwhile
            return name
        context.progress("Storing the model", 0, None)
        source = f"trained here, {folder.name}"
        saved = save_model(_last_work(folder), paths.added_models(), run.plan.name,
                           results=_card_lines(view), seal=lambda path: seal(path, source))  # fmt: skip
        runs.write_state(folder, runs.KEPT, saved.name)
        runs.write_comparison(folder, replace(view, name=saved.name))
        runs.drop_files(folder)
        return saved.name


def _card_lines(view: ComparisonView) -> list[tuple[str, str]]:
    lines = [(f"{one.metric} on {view.held_out:,} labels kept aside",
              f"{one.tuned:.4f}, before {one.base:.4f} (95 % of the difference: {interval_words(one.low, one.high)})")
             for one in view.measures]  # fmt: skip
    return [*lines, *((guard.title, guard.sentence) for guard in view.guards)]


# ---------------------------------------------------------------- what is trained on


def base_folder(session: Session, plan: Plan) -> Path:
    """Gives the model folder that a plan begins with: the one named, else the one in use.

    Raises:
        EncoderError: ``model-missing``.
        UsageError: ``base-does-not-fit``: a cross-encoder cannot become an encoder.
    """
    from sbert_desktop.app.comparing_models import is_scorer
    from sbert_desktop.encoder.models import check_model, describe
    from sbert_desktop.encoder.store import find_model

    name = plan.base
    if not name and plan.kind == CROSS_ENCODER:
        name = session.settings.text("models.cross_encoder")
    folder = find_model(name or session.models.name())
    check_model(describe(folder))
    if plan.kind != CROSS_ENCODER and is_scorer(folder):
        raise UsageError("base-does-not-fit", f"{_name_of(folder)} scores pairs; it cannot become an encoder.",
                         "Begin with an encoder, or train a cross-encoder.")  # fmt: skip
    return folder


def _name_of(folder: Path) -> str:
    from sbert_desktop.encoder.models import name_of

    return name_of(folder)


def _material(session: Session, gathered: Gathered, base: Path, context: JobContext) -> Material:
    """Gives what is learned from and measured on; hard negatives are looked for here, once."""
    _, hyper = gathered.require()
    assert gathered.split is not None
    notes = [finding.sentence for finding in gathered.findings]
    train = gathered.train
    if gathered.plan.hard_negatives and gathered.plan.kind != CROSS_ENCODER:
        from sbert_desktop.app.hard_negatives import find_negatives

        train, note = find_negatives(session, gathered, base, context)
        notes.append(note)
    return Material(gathered.labels, gathered.split, train, gathered.watched, gathered.watches_held_out, hyper,
                    gathered.parameters, gathered.before, tuple(notes))  # fmt: skip


# ---------------------------------------------------------------- training


def _go_on(session: Session, folder: Path, context: JobContext) -> ComparisonView:
    """Trains from wherever the run stands, compares, and keeps the result."""
    from sbert_desktop.training.saving import assemble, next_name

    with runs.running(folder):
        plan, material = _view_of(folder).plan, runs.read_material(folder)
        first = base = base_folder(session, plan)
        stages = (*material.before, material.train)
        trained: Trained | None = None
        for number, labels in enumerate(stages, 1):
            last = number == len(stages)
            work = folder / f"{runs.WORK}-{number}"
            if running.resumable(work) is None:
                shutil.rmtree(work, ignore_errors=True)
                hyper = material.hyper if last else _stage_hyper(labels, material.hyper)
                running.begin(work, _recipe(session, plan, material, base, labels, hyper, last=last))
            try:
                trained = _train(session, folder.name, work, plan, material, context, stage=(number, len(stages)))
            finally:
                _keep_pace(folder, work)
            if not last:
                base = _assembled(folder / "base" / f"{_name_of(first)}-{number}", partial(assemble, work))
        assert trained is not None
        from sbert_desktop import paths

        name = next_name(paths.added_models(), plan.name)
        model = runs.model_folder(folder) or _assembled(folder / runs.MODEL / name, partial(assemble, work))
        found = _compare(session, folder, plan, material, first, model, trained, context)
        runs.write_comparison(folder, found)
        return found


def _stage_hyper(labels: LabelSet, hyper: HyperParameters) -> HyperParameters:
    """Gives the figures of a stage before: the usual ones of its kind, seed and length of texts as asked."""
    return replace(defaults(labels.kind, len(labels)), seed=hyper.seed, max_tokens=hyper.max_tokens, patience=None,
                   keep_best=False)  # fmt: skip


def _recipe(
    session: Session, plan: Plan, material: Material, base: Path, labels: LabelSet, hyper: HyperParameters, *,
    last: bool,
) -> Recipe:  # fmt: skip
    from sbert_desktop.encoder.models import describe

    prompts = describe(base).prompts
    device = {"torch-cpu": "cpu", "torch-gpu": "gpu"}.get(session.settings.text("advanced.encoder"), "auto")
    return Recipe(base, labels, hyper, plan.kind, material.parameters if last else {},
                  (prompts.get("query", ""), prompts.get("document", "")), device, _name_of(base),
                  material.labels.kind is LabelKind.RELEVANCE)  # fmt: skip


def _assembled(target: Path, write: Callable[[Path], None]) -> Path:
    """Makes a model folder as a whole, in place of what a kill may have left half written."""
    part = target.with_name(f".{target.name}") / target.name  # it bears its name from the start
    if not target.is_dir():
        shutil.rmtree(part.parent, ignore_errors=True)
        part.parent.mkdir(parents=True)
        try:
            write(part)
            part.rename(target)
        except OSError as error:
            raise TrainingError("disk-full", f"The model could not be stored: {error.strerror or error}.",
                                "See whether the disk is full, then resume.") from error  # fmt: skip
        finally:
            shutil.rmtree(part.parent, ignore_errors=True)
    return target


def _last_work(folder: Path) -> Path:
    """Gives the work folder of the last stage."""
    found = sorted(folder.glob(f"{runs.WORK}-*"))
    if not found:
        raise TrainingError("training-damaged", "The files of this training are gone.", "Train anew.")
    return found[-1]


def _train(
    session: Session, run: str, work: Path, plan: Plan, material: Material, context: JobContext, *,
    stage: tuple[int, int],
) -> Trained:  # fmt: skip
    """Trains one stage, from its newest checkpoint; tells how it stands."""
    number, of = stage
    metric = METRIC[material.watched.kind]

    def report(standing: Standing) -> None:
        phase = standing.phase if of == 1 else f"{standing.phase} (part {number} of {of})"
        curve = tuple(CurvePoint(one.step, one.loss, one.held_out) for one in standing.curve)
        context.partial(TrainingView(run, phase, standing.step, standing.of, curve, metric, standing.seconds_left,
                                     " ".join(standing.notices)))  # fmt: skip

    def launch(kind: str, *, env: Mapping[str, str] | None = None, nice: int = 0) -> Child:
        return session.launch(kind, env=env, nice=nice)

    held_out = _held_out(material.watched, plan, running.recipe_of(work)) if number == of else None
    return Training(work, launch, held_out=held_out, report=report, nice=10 if session.interactive else 0).run(context)


def _keep_pace(folder: Path, work: Path) -> None:
    """Keeps how fast a stage went, also of one that was broken off: the next training is told of by it."""
    stands = running.result_of(work) or running.resumable(work)
    with contextlib.suppress(TrainingError):
        recipe = running.recipe_of(work)
        if stands is not None:
            amount = training_pace.work_of(recipe.labels, recipe.hyper.epochs, recipe.base)
            training_pace.keep_pace(folder, amount, steps=stands.step, of=stands.of, seconds=stands.seconds,
                                    device=stands.device, kind=recipe.kind)  # fmt: skip


def _held_out(watched: LabelSet, plan: Plan, recipe: Recipe) -> HeldOut | None:
    """Gives what is looked at while training, None where nothing of it can be measured."""
    if plan.kind != CROSS_ENCODER:
        if not METRIC[watched.kind]:
            return None
        # Its kind may be another than that of what is learned from.
        prompts = replace(recipe, labels=watched).column_prompts()
        return replace(running.hold_out(watched, lambda columns: measure(watched, columns)), prompts=prompts)
    from sbert_desktop.app.comparing_models import as_scored

    pairs = as_scored(watched)
    first = [example.texts[0] for example in pairs.examples]
    seconds = [[example.texts[place] for example in pairs.examples] for place in range(1, pairs.kind.texts)]

    def scored(arrays: Sequence[Vectors]) -> float | None:
        return measure(pairs, as_columns(arrays[0].reshape(len(seconds), len(first)).T))

    columns = (tuple(first * len(seconds)), tuple(text for column in seconds for text in column))
    return HeldOut(columns, scored)


# ---------------------------------------------------------------- comparing


def _compare(
    session: Session, folder: Path, plan: Plan, material: Material, base: Path, model: Path, trained: Trained,
    context: JobContext,
) -> ComparisonView:  # fmt: skip
    """Compares base and tuned, and looks at what would change."""
    from sbert_desktop.app import comparing_models as comparing
    from sbert_desktop.app.changes_ahead import changes_ahead
    from sbert_desktop.app.model_readers import EncoderReader, Readers

    curve = tuple(CurvePoint(one.step, one.loss, one.held_out) for one in trained.curve)

    def tell(phase: str) -> None:
        context.check()
        context.progress(phase, 0, None)
        context.partial(TrainingView(folder.name, phase, trained.step, trained.of, curve,
                                     METRIC[material.watched.kind], None, " ".join(trained.notices)))  # fmt: skip

    tell(COMPARING)
    began = time.monotonic()
    question = comparing.question_of(material, scores=plan.kind == CROSS_ENCODER)
    with contextlib.ExitStack() as opened:
        readers = opened.enter_context(Readers(session))
        with readers.open(base, "Reading with the model before") as reader:
            before = comparing.read(reader, question, context)
        reader = opened.enter_context(readers.open(model, "Reading with the new model"))
        after = comparing.read(reader, question, context)
        compared = comparing.compare_models(question, before, after, seed=plan.seed)
        notes = (*material.notes, *trained.notices)
        view = comparing.view_of(compared, plan, material, run=folder.name, name=model.name,
                                 seconds=round(trained.seconds + time.monotonic() - began, 1), device=trained.device,
                                 notes=notes)  # fmt: skip
        if isinstance(reader, EncoderReader):
            tell("Looking at what would change")
            view = changes_ahead(session, view, reader, context,
                                 held=material.labels.only(material.split.held_out))  # fmt: skip
    return view
