"""The work folder of a training: what lies in it, and how it is written so that a kill never leaves half a file.

::

    run.json                 the recipe: base, objective, hyper-parameters; no texts
    labels.json              the labels that are learned from: the one file with the person's texts, theirs to read
    scorer/                  a cross-encoder that begins from an encoder: its model folder with a fresh head
    checkpoint-00000120/     after 120 steps, the newest only: model.safetensors (weights, the head too),
                             optimizer.safetensors (AdamW's state, random numbers), state.json (step, device, the note)
    best-00000100/           model.safetensors of the state that did best on the held-out part
    final/                   the result: model.safetensors, config.json, <module>/model.safetensors, result.json
    trained.json             what came of it

The base model's own files stay where they are; :mod:`sbert_desktop.training.saving` joins both to a model folder.
Folders are written under a name that begins with a full stop and renamed when they are whole and on the disk.
Standard library only: parent and child share it.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from sbert_desktop.errors import TrainingError, UsageError
from sbert_desktop.training.files import write_json
from sbert_desktop.training.labels import Example, LabelKind, LabelSet
from sbert_desktop.training.objectives import HyperParameters, checked

ENCODER, CROSS_ENCODER = "encoder", "cross-encoder"
RUN, LABELS, TRAINED = "run.json", "labels.json", "trained.json"
SCORER, FINAL, RESULT = "scorer", "final", "result.json"
WEIGHTS, OPTIMIZER, STATE = "model.safetensors", "optimizer.safetensors", "state.json"
CHECKPOINT, BEST = "checkpoint", "best"


@dataclass(frozen=True, slots=True)
class Recipe:
    """All that decides what comes of a training.

    Attributes:
        base: Model folder that is begun with, checked by whoever gives it.
        labels: What is learned from; the held-out part is not among them.
        hyper: Its figures. Of a cross-encoder, ``objective`` is not looked at.
        kind: ``encoder`` or ``cross-encoder``; the latter may begin from an encoder's folder.
        parameters: Arguments of the loss in place of the objective's own (``margin``, ``scale``).
        prompts: Put before a question and before a passage, as the base wants them.
        device: ``auto``, ``cpu`` or ``gpu``.
        base_name: The base's name, for the model card.
        asks: The first text of an example is a question, also of labels that became positives or triplets.
    """

    base: Path
    labels: LabelSet
    hyper: HyperParameters
    kind: str = ENCODER
    parameters: Mapping[str, float] = field(default_factory=dict)
    prompts: tuple[str, str] = ("", "")
    device: str = "auto"
    base_name: str = ""
    asks: bool = False

    def column_prompts(self) -> tuple[str, ...]:
        """Gives what is put before each text of an example."""
        query, passage = self.prompts
        if self.asks or self.labels.kind is LabelKind.RELEVANCE:
            return query, *(passage,) * (self.labels.kind.texts - 1)
        return (passage,) * self.labels.kind.texts


def write_recipe(work: Path, recipe: Recipe, made: float) -> None:
    """Makes the work folder, or writes a recipe into an empty one."""
    work.mkdir(parents=True, exist_ok=True, mode=0o700)
    labels = {"kind": recipe.labels.kind.value, "made": made,
              "examples": [[list(one.texts), one.value] for one in recipe.labels.examples]}  # fmt: skip
    write_json(work / LABELS, labels, private=True)
    run = {"version": 1, "made": made, "base": str(recipe.base), "base_name": recipe.base_name or recipe.base.name,
           "kind": recipe.kind, "hyper": asdict(recipe.hyper), "parameters": dict(recipe.parameters),
           "prompts": list(recipe.prompts), "device": recipe.device, "asks": recipe.asks,
           "label_kind": recipe.labels.kind.value, "counts": recipe.labels.counts(),
           "labels": len(recipe.labels)}  # fmt: skip
    write_json(work / RUN, run)  # last: a folder with it is one that can be trained in


_WORDS = ("base", "kind", "device", "base_name")


def read_recipe(work: Path) -> Recipe:
    """Gives the recipe of a work folder.

    Raises:
        TrainingError: ``training-damaged``.
    """
    try:
        run = json.loads((work / RUN).read_text("utf-8"))
        labels = json.loads((work / LABELS).read_text("utf-8"))
        examples = tuple(Example(tuple(texts), float(value)) for texts, value in labels["examples"])
        query, passage = run["prompts"]
        if not all(isinstance(one, str) for one in (query, passage, *(run[name] for name in _WORDS))):
            raise TypeError("a text is wanted")
        return Recipe(
            Path(run["base"]), LabelSet(LabelKind(labels["kind"]), examples), checked(HyperParameters(**run["hyper"])),
            run["kind"], run["parameters"], (query, passage), run["device"], run["base_name"],
            bool(run.get("asks", False)),
        )  # fmt: skip
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError, UsageError) as error:
        raise TrainingError("training-damaged", "What this training was begun with cannot be read.",
                            "Train anew.", detail=type(error).__name__) from error  # fmt: skip


_REFUSED = re.compile(r"([^:]+?) ?\(os error \d+\)")
"""How libraries written in Rust (safetensors, tokenizers) tell of the system's refusal: not as an OSError."""


@contextlib.contextmanager
def whole_folder(target: Path) -> Iterator[Path]:
    """Gives a folder to write into; it takes its name, in place of one that was there, once it is whole.

    Raises:
        TrainingError: ``disk-full``, where it cannot be written.
    """
    part = target.with_name(f".{target.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    try:
        part.mkdir()
        yield part
        for file in sorted(part.rglob("*")):
            sync(file)
        sync(part)
        if target.exists():
            old = target.with_name(f".{target.name}.old")
            shutil.rmtree(old, ignore_errors=True)
            os.rename(target, old)
            os.rename(part, target)
            shutil.rmtree(old, ignore_errors=True)
        else:
            os.rename(part, target)
        sync(target.parent)
    except Exception as error:
        reason = error.strerror if isinstance(error, OSError) else _REFUSED.search(str(error))
        if reason is None and not isinstance(error, OSError):
            raise
        said = reason if isinstance(reason, str) else str(error) if reason is None else reason[1]
        raise TrainingError("disk-full", f"The state of the training could not be stored: {said}.",
                            "See whether the disk is full, then resume.") from error  # fmt: skip
    finally:
        shutil.rmtree(part, ignore_errors=True)


def clear_parts(work: Path) -> None:
    """Removes what a kill left half written."""
    for path in [*work.glob(".*.part"), *work.glob(".*.old")]:
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)


def sync(path: Path) -> None:
    """Waits until a file or folder is on the disk; systems that cannot open a folder are passed over."""
    if path.is_dir() and os.name == "nt":
        return
    handle = os.open(path, os.O_RDWR if os.name == "nt" else os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def numbered(work: Path, kind: str, step: int) -> Path:
    """Gives the folder of a checkpoint, or of a best state, after so many steps."""
    return work / f"{kind}-{step:08d}"


def all_numbered(work: Path, kind: str) -> list[tuple[int, Path]]:
    """Gives those that there are, the newest first."""
    found = [(int(path.name.rpartition("-")[2]), path) for path in work.glob(f"{kind}-*")
             if path.name.rpartition("-")[2].isdigit()]  # fmt: skip
    return sorted(found, reverse=True)


def remove_numbered(work: Path, kind: str, *, keep: int | None) -> None:
    """Removes all of a kind but one."""
    for step, path in all_numbered(work, kind):
        if step != keep:
            shutil.rmtree(path, ignore_errors=True)
