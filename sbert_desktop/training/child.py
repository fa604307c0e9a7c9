"""The child that trains: one training, asked step by step, so that its parent can pause, cancel and store between.

Requests (``do``):

- ``begin``: ``work`` (a folder with a recipe, see :mod:`sbert_desktop.training._work`), ``threads`` (null: all). Goes
  on from the newest checkpoint there; gives also ``note``, what the parent stored with it.
- ``steps``: until step ``until``, or for ``seconds``; gives ``losses``, one a step.
- ``evaluate``: the payload is JSON, a list of columns of texts; ``prompts`` (one a column). Gives ``shapes``
  and the vectors (or scores) as float32.
- ``keep``: keep the present weights as the best ones. ``checkpoint``: ``note``. ``finish``: ``best`` (a step or null).

Each reply but that of ``evaluate`` says ``step``, ``of``, ``epoch``, ``epochs``, ``device`` and ``notices``.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import cast

import numpy as np

from sbert_desktop.errors import TrainingError
from sbert_desktop.training._trainer import Trainer
from sbert_desktop.wire import Handler


def make_handler() -> Handler:
    """Gives the handler of ``child train``."""
    trainer: Trainer | None = None

    def handle(header: dict[str, object], payload: bytes) -> tuple[Mapping[str, object], bytes]:
        nonlocal trainer
        if header.get("do") == "begin":
            trainer = Trainer(Path(str(header["work"])), threads=_threads(header.get("threads")))
            return {**_state(trainer), "note": trainer.note}, b""
        if trainer is None:
            raise TrainingError("not-begun", "The training was not begun.")
        return _answer(trainer, header, payload)

    return handle


def _answer(trainer: Trainer, header: dict[str, object], payload: bytes) -> tuple[Mapping[str, object], bytes]:
    match header.get("do"):
        case "steps":
            until, seconds = cast(int, header["until"]), cast(float, header["seconds"])
            begun = time.monotonic()
            losses = []
            while trainer.done < min(until, trainer.of):
                losses.append(trainer.step())
                if time.monotonic() - begun >= seconds:
                    break
            return {**_state(trainer), "losses": losses, "seconds": time.monotonic() - begun}, b""
        case "evaluate":
            columns = json.loads(payload)
            arrays = trainer.encode(columns, cast("list[str]", header["prompts"]))
            data = b"".join(np.ascontiguousarray(one, "<f4").tobytes() for one in arrays)
            return {"shapes": [list(one.shape) for one in arrays]}, data
        case "keep":
            trainer.keep()
        case "checkpoint":
            trainer.checkpoint(cast("dict[str, object]", header["note"]))
        case "finish":
            trainer.finish(cast("int | None", header["best"]))
        case other:
            raise TrainingError("child-refused", f"The training child does not know {other!r}.")
    return _state(trainer), b""


def _state(trainer: Trainer) -> dict[str, object]:
    return {"step": trainer.done, "of": trainer.of, "epoch": trainer.epoch, "epochs": trainer.recipe.hyper.epochs,
            "device": trainer.device, "notices": list(trainer.notices)}  # fmt: skip


def _threads(wanted: object) -> int:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(int(str(wanted)), cores) if wanted is not None else cores
