"""How long a training takes: by what earlier trainings of this library took on this machine, else by a rough figure.

Each training leaves in its folder what it did in which time. A machine may be busy one day and idle the next, so the
answer is a range; it holds all that was seen.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from sbert_desktop.errors import EncoderError
from sbert_desktop.training.files import read_json, write_json
from sbert_desktop.training.labels import LabelSet
from sbert_desktop.training.running import CROSS_ENCODER

if TYPE_CHECKING:
    from sbert_desktop.app.session import Session

PACE = "pace.json"
_FEWEST_STEPS = 5
"""Steps from which a training says how fast this machine is: the first ones are slower."""
_DAY = 86_400.0
_NEWEST = 5
"""Trainings looked at: a machine, or what else it has to do, changes."""
_BESIDE = 1.25
"""How far an answer reaches beyond what was seen."""
_AN_HOUR = 30_000_000.0
"""Characters that an encoder of :data:`_WEIGHTS` learns from in an hour on two idle cores. Measured with
all-MiniLM-L6-v2: about 1,000 tokens a second and core."""
_SLOWEST = 4.0
"""How much longer it may take where nothing was seen yet: on a slower machine, or one that is busy."""
_WEIGHTS = 10_600_000.0
"""Weights of the layers of all-MiniLM-L6-v2: six of 12 x 384 squared."""
_MOST_READ, _AT_LEAST = 1_150, 60
"""Characters read of a text (256 tokens), and what a short one costs for all that comes with it."""


@dataclass(frozen=True, slots=True)
class Pace:
    """What a training did: ``work`` (see :func:`work_of`) in ``seconds``; ``kind`` of model; when that was."""

    work: float
    seconds: float
    device: str
    kind: str
    when: float


def work_of(labels: LabelSet, epochs: int, base: Path | None) -> float:
    """Gives what a training has to do: characters read, times the size of the base beside all-MiniLM-L6-v2."""
    characters = sum(_AT_LEAST + min(len(text), _MOST_READ) for example in labels.examples for text in example.texts)
    return epochs * characters * max(1.0, _weights(base) / _WEIGHTS)


def keep_pace(folder: Path, work: float, *, steps: int, of: int, seconds: float, device: str, kind: str) -> None:
    """Keeps in a training's folder how fast it went so far; what can say nothing is passed over."""
    if steps >= _FEWEST_STEPS and seconds > 0:
        pace = Pace(work * steps / max(steps, of), seconds, device, kind, time.time())
        try:
            write_json(folder / PACE, asdict(pace), finite=True)
        except OSError:  # the disk is full, which the training itself tells
            return


def read_paces(folders: Sequence[Path]) -> tuple[Pace, ...]:
    """Gives how fast trainings went, the newest first; what cannot be read is passed over."""
    found = []
    for folder in folders:
        kept = read_json(folder / PACE)
        try:
            if kept is None:
                continue
            figures = [float(cast(float, kept[name])) for name in ("work", "seconds", "when")]
            work, seconds, when = figures
            if all(0 < one < math.inf for one in (*figures, seconds / work)) and when < time.time() + _DAY:
                found.append(Pace(work, seconds, str(kept["device"]), str(kept["kind"]), when))
        except (KeyError, TypeError, ValueError, ArithmeticError):
            continue
    return tuple(sorted(found, key=lambda pace: pace.when, reverse=True))


def minutes_for(work: float, kind: str, paces: Sequence[Pace], *, cpu: bool = False) -> tuple[float, float]:
    """Gives about how long some work takes, at least and at most, in minutes.

    Args:
        work: See :func:`work_of`; 0 takes no time.
        kind: ``encoder`` or ``cross-encoder``.
        paces: Of this machine, the newest first.
        cpu: It will not run on a graphics card.
    """
    alike = [pace for pace in paces if pace.kind == kind and (not cpu or pace.device == "cpu")]
    alike = [pace for pace in alike if pace.device == alike[0].device][:_NEWEST]
    if not alike:
        low = 60 * work / _AN_HOUR
        return low, _SLOWEST * low
    each = [work * pace.seconds / pace.work / 60 for pace in alike]
    return min(each) / _BESIDE, max(each) * _BESIDE


def _weights(base: Path | None) -> float:
    """Gives about how many weights the layers of a model have, 0 where that cannot be read."""
    try:
        figures = json.loads((base / "config.json").read_text("utf-8")) if base is not None else {}
        return 12.0 * float(figures["hidden_size"]) ** 2 * float(figures["num_hidden_layers"])
    except (OSError, ValueError, KeyError, TypeError, ArithmeticError, RecursionError):
        return 0.0


def base_of(session: Session | None, name: str, kind: str) -> Path | None:
    """Gives the folder of the model that a plan begins with, None where it cannot be found."""
    from sbert_desktop.encoder.store import find_model

    if not name and session is not None and kind == CROSS_ENCODER:
        name = session.settings.text("models.cross_encoder")
    try:
        return (session.models.folder() if session is not None and not name else None) or find_model(name)
    except (EncoderError, OSError):
        return None
