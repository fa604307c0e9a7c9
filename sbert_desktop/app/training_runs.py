"""Where trainings are kept: one folder each in the library, from the plan to the comparison, so that each survives.

::

    <library>/trainings/home-2026-11-30-0912/
        plan.json        the plan, and when it was begun; the folder counts as a training once it is there
        material.json    the labels with their parts: learned from, watched while learning, kept aside (private)
        base/NAME/       of two stages: the model that the first one gave
        work-1/, ...     of each stage: what sbert_desktop.training keeps of a run (see training/_work.py)
        model/NAME/      the tuned model as a folder that any program loads
        result.json      the comparison
        state.json       what became of it: trained, kept, adopted; and the model's name in the store
        pace.json        what it did in which time (app/training_pace)

Files are written as a whole or not at all. Nothing here is needed to search; ``doctor`` and the rest pass it over.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import TypeVar, cast

import numpy as np

from sbert_desktop import paths
from sbert_desktop.app.session import Session
from sbert_desktop.app.training_views import (
    Arrow,
    ChangeRow,
    ComparisonView,
    GuardView,
    MeasureView,
    Plan,
    RunView,
    SideBySide,
    Task,
)
from sbert_desktop.errors import TrainingError, UsageError
from sbert_desktop.training.files import read_json, write_json
from sbert_desktop.training.labels import Example, LabelKind, LabelSet
from sbert_desktop.training.objectives import HyperParameters, checked
from sbert_desktop.training.saving import file_stem
from sbert_desktop.training.splitting import Apart, Split

Noted = TypeVar("Noted")
PLAN, MATERIAL, RESULT, STATE, LOCK = "plan.json", "material.json", "result.json", "state.json", "lock"
WORK, MODEL = "work", "model"
_NAMED = 8
"""Trainings named where one is asked for that is not there."""
INTERRUPTED, RUNNING, TRAINED, KEPT, ADOPTED = "interrupted", "running", "trained", "kept", "adopted"


@dataclass(frozen=True, slots=True)
class Material:
    """What a training learns from and is measured on.

    Attributes:
        labels: All of them, of the kind that is measured.
        split: Which are learned from and which are kept aside for the comparison.
        train: What is learned from, in the form that the objective needs.
        watched: Those looked at while training; a part of its own, which chooses the best state, unless ``shared``.
        shared: What is watched is the part kept aside itself: it chooses nothing.
        hyper: The figures of the run.
        parameters: Arguments of the loss in place of its own.
        before: Labels of stages before (NLI before grades).
        notes: Plain sentences on what was decided, for the person.
    """

    labels: LabelSet
    split: Split
    train: LabelSet
    watched: LabelSet
    shared: bool
    hyper: HyperParameters
    parameters: Mapping[str, float] = field(default_factory=dict)
    before: tuple[LabelSet, ...] = ()
    notes: tuple[str, ...] = ()


def runs_folder(session: Session) -> Path:
    """Gives the folder of all trainings of a library; it may not be there yet."""
    return session.library_path / "trainings"


def new_run(session: Session, plan: Plan) -> Path:
    """Makes the folder of a new training; its name is readable and says when it was begun.

    Raises:
        TrainingError: ``disk-full``.
    """
    made = time.time()
    stem = file_stem(plan.name.lower(), 60)
    name = f"{stem}-{time.strftime('%Y-%m-%d-%H%M', time.localtime(made))}"
    place = runs_folder(session)
    try:
        place.mkdir(parents=True, exist_ok=True, mode=0o700)
        for number in range(1, 1000):
            folder = place / (name if number == 1 else f"{name}-{number}")
            try:
                folder.mkdir(mode=0o700)
            except FileExistsError:
                continue
            return folder
    except OSError as error:
        raise _not_stored(error) from error
    raise TrainingError("training-exists", "There are too many trainings of this name.", "Discard some.")


def find_run(session: Session, run: str) -> Path:
    """Gives the folder of a training.

    Raises:
        TrainingError: ``training-unknown``, naming those there are.
    """
    folders = run_folders(session)
    found = next((folder for folder in folders if folder.name == run), None)
    if found is not None:
        return found
    newest = sorted(folders, key=lambda folder: (folder / PLAN).stat().st_mtime, reverse=True)[:_NAMED]
    known = ", ".join(path.name for path in newest) or "none"
    if len(folders) > _NAMED:
        known += f" and {len(folders) - _NAMED:,} more"
    raise TrainingError("training-unknown", f"There is no training called {run!r}.", f"Trainings here: {known}.")


def list_runs(session: Session) -> tuple[RunView, ...]:
    """Lists all trainings, the newest first; what cannot be read is left out."""
    found = [view for view in map(read_run, run_folders(session)) if view is not None]
    return tuple(sorted(found, key=lambda view: view.made, reverse=True))


def run_folders(session: Session) -> list[Path]:
    """Gives the folders of all trainings of a library."""
    place = runs_folder(session)
    if not place.is_dir():
        return []
    return sorted(path for path in place.iterdir() if not path.name.startswith(".") and (path / PLAN).is_file())


def read_run(folder: Path) -> RunView | None:
    """Gives how a training stands, None where it cannot be read."""
    from sbert_desktop.training.running import result_of, resumable

    kept = read_json(folder / PLAN)
    if kept is None:
        return None
    try:
        plan, made = plan_of(cast("Mapping[str, object]", kept["plan"])), float(cast(float, kept["made"]))
    except (KeyError, TypeError, ValueError, AttributeError):
        return None
    became = read_json(folder / STATE) or {}
    state, when = str(became.get("state", "")), became.get("when")
    comparison = read_comparison(folder)
    if comparison is None:
        state = RUNNING if _is_locked(folder) else INTERRUPTED
    elif state not in {KEPT, ADOPTED}:
        state = TRAINED
    step = of = 0
    for work in sorted(folder.glob(f"{WORK}*"), reverse=True):
        trained, unfinished = result_of(work), resumable(work)
        if trained is not None:
            step, of = trained.step, trained.of
        elif unfinished is not None:
            step, of = unfinished.step, unfinished.of
        break
    model = stored_model(folder)
    kept_at = paths.added_models() / model if model else model_folder(folder)
    return RunView(folder.name, plan.name, state, made, plan, step, of, comparison, model,
                   kept_at if kept_at is not None and kept_at.is_dir() else None,
                   float(when) if isinstance(when, int | float) and 0 < when < 1e11 else 0.0)  # fmt: skip


# ---------------------------------------------------------------- what lies in a folder


def write_plan(folder: Path, plan: Plan, material: Material) -> None:
    """Writes what a training needs to be begun, or begun again; the plan comes last."""
    split = material.split
    noted = {
        "version": 1, "labels": _labels_note(material.labels), "train": _labels_note(material.train),
        "watched": _labels_note(material.watched), "shared": material.shared,
        "before": [_labels_note(one) for one in material.before],
        "split": {"train": split.train, "held_out": split.held_out, "left_out": split.left_out,
                  "apart": split.apart.value, "clusters": split.clusters.tolist(), "note": split.note},
        "hyper": asdict(material.hyper), "parameters": dict(material.parameters), "notes": material.notes,
    }  # fmt: skip
    try:
        write_json(folder / MATERIAL, noted, private=True, finite=True)
        write_json(folder / PLAN, {"version": 1, "made": time.time(), "plan": plan_note(plan)}, finite=True)
    except OSError as error:
        raise _not_stored(error) from error


def read_material(folder: Path) -> Material:
    """Gives what a training was begun with.

    Raises:
        TrainingError: ``training-damaged``.
    """
    try:
        kept = json.loads((folder / MATERIAL).read_text("utf-8"))
        parts = kept["split"]
        split = Split(tuple(parts["train"]), tuple(parts["held_out"]), tuple(parts["left_out"]), Apart(parts["apart"]),
                      np.array(parts["clusters"], np.int64), parts["note"])  # fmt: skip
        labels = _labels_of(kept["labels"])
        if len(split.clusters) != len(labels):
            raise ValueError("parts")
        for places in (split.train, split.held_out, split.left_out):
            labels.only(places)  # each is there
        return Material(
            labels, split, _labels_of(kept["train"]), _labels_of(kept["watched"]), bool(kept["shared"]),
            checked(HyperParameters(**kept["hyper"])),
            {str(name): float(value) for name, value in kept["parameters"].items()},
            tuple(map(_labels_of, kept["before"])), tuple(str(note) for note in kept["notes"]),
        )  # fmt: skip
    except (OSError, ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError,
            UsageError) as error:  # fmt: skip
        raise TrainingError("training-damaged", "What this training was begun with cannot be read.",
                            "Train anew.", detail=type(error).__name__) from error  # fmt: skip


def _labels_note(labels: LabelSet) -> dict[str, object]:
    return {"kind": labels.kind.value,
            "examples": [[one.texts, one.value, one.documents] for one in labels.examples]}  # fmt: skip


def _labels_of(note: Mapping[str, object]) -> LabelSet:
    rows = cast("list[tuple[list[str], float, list[str]]]", note["examples"])
    return LabelSet(LabelKind(str(note["kind"])),
                    tuple(Example(tuple(texts), float(value), tuple(documents)) for texts, value, documents in rows))


def plan_note(plan: Plan) -> dict[str, object]:
    """Gives a plan as JSON holds it."""
    return {**asdict(plan), "task": plan.task.value, "labels": [os.fsdecode(path) for path in plan.labels]}


def plan_of(note: Mapping[str, object]) -> Plan:
    """Reads a plan; fields that are not known (of a newer program) are passed over."""
    known = {one.name for one in fields(Plan)}
    rest = {name: value for name, value in note.items() if name in known}
    rest["task"] = Task(str(note["task"]))
    rest["labels"] = tuple(Path(name) for name in cast("list[str]", note["labels"]))
    plan = Plan(**rest)  # type: ignore[arg-type]
    _require_types(plan)
    return plan


def _require_types(made: object) -> None:
    """Looks whether texts, numbers and truths are such: a file may be damaged, or another's.

    Raises:
        TypeError: One is not.
    """
    for one in fields(made):  # type: ignore[arg-type]
        value, wanted = getattr(made, one.name), [word for word in str(one.type).split(" | ") if word in _SIMPLE]
        if wanted and not (value is None and "None" in wanted):
            right = any(type(value) in _SIMPLE[word] for word in wanted)
            if not right or (isinstance(value, int | float) and not abs(value) < _MOST):
                raise TypeError(one.name)


_SIMPLE: Mapping[str, tuple[type, ...]] = {
    "str": (str,), "int": (int,), "float": (int, float), "bool": (bool,), "None": (),
}  # fmt: skip
_MOST = 1e300


def write_comparison(folder: Path, view: ComparisonView) -> None:
    """Keeps the comparison of a training; from then on it counts as trained.

    Raises:
        TrainingError: ``disk-full``.
    """
    try:
        write_json(folder / RESULT, asdict(view), private=True, finite=True)
    except OSError as error:
        raise _not_stored(error) from error


def read_comparison(folder: Path) -> ComparisonView | None:
    """Gives the comparison, None where there is none yet (or none that can be read).

    What a newer program noted besides is passed over. The folder says which run it is: it may have been renamed.
    """
    kept = read_json(folder / RESULT)
    if kept is None:
        return None
    try:
        rows = cast("dict[str, list[dict[str, object]]]", kept)
        made = {
            "guards": tuple(_made(GuardView, one) for one in rows["guards"]),
            "changes": tuple(_made(ChangeRow, one) for one in rows["changes"]),
            "searches": tuple(
                SideBySide(str(one["query"]), tuple(cast("list[str]", one["now"])),
                           tuple(cast("list[str]", one["tuned"])), bool(one["saved"])) for one in rows["searches"]),
            "arrows": tuple(_made(Arrow, one) for one in rows["arrows"]),
            "measures": tuple(_made(MeasureView, one) for one in rows["measures"]),
            "notes": tuple(str(note) for note in cast("list[str]", kept["notes"])),
            "other_metrics": tuple((str(name), float(base), float(tuned))
                                   for name, base, tuned in cast("list[list[float]]", kept["other_metrics"])),
        }  # fmt: skip
        return _made(ComparisonView, {**kept, **made, "run": folder.name})
    except (KeyError, TypeError, ValueError, AttributeError):
        return None


def _made(kind: type[Noted], note: Mapping[str, object]) -> Noted:
    """Makes a view of what was noted of it."""
    known = {one.name for one in fields(kind)}  # type: ignore[arg-type]
    made = kind(**{name: value for name, value in note.items() if name in known})
    _require_types(made)
    return made


def write_state(folder: Path, state: str, model: str) -> None:
    """Keeps what became of a training, and the name of its model in the store."""
    write_json(folder / STATE, {"state": state, "model": model, "when": time.time()}, finite=True)


def stored_model(folder: Path) -> str:
    """Gives the name under which the model is in the store, "" where it is not."""
    name = (read_json(folder / STATE) or {}).get("model", "")
    return name if isinstance(name, str) and name == file_stem(name, 200) else ""


def model_folder(folder: Path) -> Path | None:
    """Gives the tuned model's folder inside a run; None where there is none (yet, or any more)."""
    place = folder / MODEL
    found = sorted(place.iterdir()) if place.is_dir() else []
    return next((path for path in found if path.is_dir() and not path.name.startswith(".")), None)


def drop_files(folder: Path) -> None:
    """Removes what only a training under way needs; plan, state and comparison stay."""
    for name in (*(path.name for path in folder.glob(f"{WORK}*")), MODEL, "base"):
        shutil.rmtree(folder / name, ignore_errors=True)
    with contextlib.suppress(OSError):
        (folder / MATERIAL).unlink()


def remove_run(folder: Path) -> None:
    """Removes a training as a whole; one that is broken off here is listed no more.

    Raises:
        TrainingError: ``training-not-removed``.
    """
    doomed = folder.with_name(f".{folder.name}.gone")
    try:
        shutil.rmtree(doomed, ignore_errors=True)
        os.rename(folder, doomed)
        shutil.rmtree(doomed)
    except OSError as error:
        raise TrainingError("training-not-removed", f"The training could not be removed: {error.strerror}.",
                            "Close what uses its files and try again.") from error  # fmt: skip


# ---------------------------------------------------------------- one at a time


@contextlib.contextmanager
def running(folder: Path) -> Iterator[None]:
    """Holds a training for this process; the system lets go of it with the process, also by a kill.

    Raises:
        TrainingError: ``training-runs``: another process, or another job, is at it.
    """
    handle = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        if not _lock(handle):
            raise TrainingError("training-runs", "This training is under way already.", "Wait until it has ended.")
        yield
    finally:
        os.close(handle)


def _is_locked(folder: Path) -> bool:
    try:
        handle = os.open(folder / LOCK, os.O_RDWR)
    except OSError:
        return False
    try:
        return not _lock(handle)
    finally:
        os.close(handle)


def _lock(handle: int) -> bool:
    """Takes the lock of an open file; False where another has it. Closing the file gives it back."""
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _not_stored(error: OSError) -> TrainingError:
    return TrainingError("disk-full", f"The training could not be stored: {error.strerror or error}.",
                         "See whether the disk is full, and whether you may write there.")  # fmt: skip


def renamed(view: ComparisonView, name: str) -> ComparisonView:
    """Gives a comparison under the name that the model has in the store."""
    return replace(view, name=name)
