"""Whether a tuned model is still good at general text: three looks at a small set that was written for the program.

A model can do well on a person's labels and be ruined for all else: every text moves to one place (collapse), or what
it knew of language is gone. The set has pairs of everyday sentences with a grade of 0-5. A guard never gives a number
that is none: vectors that are zero or no numbers fail it, with the reason. numpy only; any thread.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sbert_desktop import paths
from sbert_desktop.domain import Vectors
from sbert_desktop.errors import TrainingError
from sbert_desktop.training import _measures

NEIGHBOURS = 10
"""Nearest texts that are compared between base and tuned."""
MOST_MEAN_COSINE = 0.40
"""Mean cosine of random pairs from which a space counts as collapsed. Sound encoders lie under 0.1 on this set, raw
BERT near 1 (Ethayarajh 2019); at 0.4 a third of the scale is gone and thresholds mean nothing any more."""
MOST_RISE = 0.20
"""Rise of it over the base's that is allowed, for a base that is narrow itself."""
RISE_WITH_LOSS = 0.05
"""Rise of it that counts as collapsing where the order of general pairs was lost too (:data:`MOST_DROP`). Measured:
20 positives, 50 epochs at 1e-3 bring all-MiniLM-L6-v2 from 0.06 to 0.16-0.25 and take 14 to 35 points of the order;
a training that is sound moves it by about 0.01."""
MOST_DROP = 0.05
"""Drop of the correlation with the grades that is allowed: about twice what chance makes of so many pairs."""
LEAST_CORRELATION = 0.30
"""Correlation under which a model cannot be said to know what texts mean, whatever the base had."""
LEAST_KEPT = 0.30
"""Share of the nearest texts that must be the same ones as before; by chance it would be a thirtieth."""


@dataclass(frozen=True, slots=True)
class GeneralSet:
    """Sentence pairs with grades from 0 to 5 (float64 [n])."""

    first: tuple[str, ...]
    second: tuple[str, ...]
    grades: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.first)


@dataclass(frozen=True, slots=True)
class Guard:
    """One look at a tuned model.

    Attributes:
        code: ``collapse``, ``general`` or ``neighbours``.
        title: What it asks, in a few words.
        passed: It found nothing wrong.
        sentence: What it found, in one plain sentence.
        severity: ``stops``: a model that fails it may not be adopted; ``warns``.
        base: What was measured of the base, None where that was not possible.
        tuned: Of the tuned model.
    """

    code: str
    title: str
    passed: bool
    sentence: str
    severity: str = "stops"
    base: float | None = None
    tuned: float | None = None

    @property
    def stops(self) -> bool:
        """It failed, and so forbids to adopt."""
        return not self.passed and self.severity == "stops"


_TITLES = {"collapse": "Unrelated texts stay apart", "general": "Still good at general text",
           "neighbours": "Knows its way as before"}  # fmt: skip


def load_general_set(path: Path | None = None) -> GeneralSet:
    """Reads the set that comes with the program.

    Raises:
        TrainingError: ``no-general-set``: it is missing or damaged.
    """
    file = paths.resource("general_set.csv") if path is None else path
    try:
        with open(file, encoding="utf-8", newline="") as stream:
            rows = [(row["sentence1"], row["sentence2"], float(row["score"])) for row in csv.DictReader(stream)]
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise TrainingError("no-general-set", "The general sentences of the program are missing or damaged.",
                            "Install the program anew.") from error  # fmt: skip
    first, second, grades = zip(*rows, strict=True) if rows else ((), (), ())
    return GeneralSet(first, second, np.array(grades, np.float64))


def check_guards(
    base: tuple[Vectors, Vectors], tuned: tuple[Vectors, Vectors], grades: NDArray[np.float64]
) -> tuple[Guard, ...]:
    """Looks at a tuned model on the general set.

    Args:
        base: Vectors of the first and of the second sentences under the base, float32 [n, dimension].
        tuned: The same under the tuned model; its dimension may differ.
        grades: float64 [n], 0-5.
    """
    wrong = _wrong(tuned)
    if wrong:
        return tuple(Guard(code, title, False, f"The tuned model {wrong}.") for code, title in _TITLES.items())
    wrong = _wrong(base)
    if wrong:  # the tuned one cannot be better known than what it is compared with
        return tuple(Guard(code, title, False, f"The base {wrong}, so nothing can be compared.")
                     for code, title in _TITLES.items())  # fmt: skip
    general = _general(base, tuned, grades)
    lost = 0.0 if general.base is None or general.tuned is None else general.base - general.tuned
    return (_collapse(base, tuned, lost), general, _neighbours(base, tuned))


def mean_cosine(first: Vectors, second: Vectors) -> float:
    """Gives the mean cosine of pairs that have nothing to do with each other: the anisotropy, near 0 is good.

    All pairs of texts of different rows are taken, so nothing is drawn by lot.
    """
    a, b = _unit(first), _unit(second)
    count = len(a)
    if count < 2:
        return 0.0
    both = np.concatenate([a, b])
    total = both.sum(axis=0)
    own = float(np.einsum("ij,ij->", both, both)) + 2 * float(np.einsum("ij,ij->", a, b))
    return (float(total @ total) - own) / (4 * count * (count - 1))


def neighbour_overlap(base: Vectors, tuned: Vectors, k: int = NEIGHBOURS) -> float:
    """Gives the share of each text's k nearest that are the same under both models, 0-1."""
    k = min(k, len(base) - 1)
    if k < 1:
        return 1.0
    near = []
    for vectors in (base, tuned):
        unit = _unit(vectors)
        cosines = unit @ unit.T
        np.fill_diagonal(cosines, -np.inf)
        near.append(np.argsort(-cosines, axis=1, kind="stable")[:, :k])
    return float(np.mean([len(np.intersect1d(one, other)) / k for one, other in zip(*near, strict=True)]))


def _wrong(vectors: tuple[Vectors, Vectors]) -> str:
    """Says what is wrong with vectors as such, "" for nothing."""
    for part in vectors:
        if part.ndim != 2 or not len(part):
            return "gives no vectors"
        if not np.isfinite(part).all():
            return "gives vectors that are no numbers"
        if not (np.abs(part).sum(axis=1) > 0).all():
            return "gives vectors of length zero"
    return ""


def _unit(vectors: Vectors) -> NDArray[np.float64]:
    found = vectors.astype(np.float64)
    found /= np.linalg.norm(found, axis=1, keepdims=True)
    return found


def _collapse(base: tuple[Vectors, Vectors], tuned: tuple[Vectors, Vectors], lost: float) -> Guard:
    before, now = mean_cosine(*base), mean_cosine(*tuned)
    collapsed = now > max(MOST_MEAN_COSINE, before + MOST_RISE)
    collapsing = now > before + RISE_WITH_LOSS and lost > MOST_DROP
    said = f"Texts that have nothing in common have a similarity of {now:.2f} in the mean, before {before:.2f}"
    if collapsed:
        said += ": the model has collapsed, all texts look alike to it"
    elif collapsing:
        said += ": the model is collapsing, texts draw together and their order is lost"
    return Guard("collapse", _TITLES["collapse"], not (collapsed or collapsing), f"{said}.", base=before, tuned=now)


def _general(base: tuple[Vectors, Vectors], tuned: tuple[Vectors, Vectors], grades: NDArray[np.float64]) -> Guard:
    title = _TITLES["general"]
    found: list[float] = []
    for first, second in (base, tuned):
        cosines = np.einsum("ij,ij->i", _unit(first), _unit(second))
        whole = np.ones((1, len(grades)))
        spread = float(np.ptp(cosines))
        found.append(float(_measures.spearman(cosines, grades, whole)[0]) if spread > 1e-6 else float("nan"))
    before, now = found
    if not np.isfinite(now):
        return Guard("general", title, False, "The tuned model gives all general pairs the same similarity.")
    if not np.isfinite(before):
        return Guard("general", title, False, "The base gives all general pairs the same similarity.", tuned=now)
    lost = before - now
    said = f"Its order of general sentence pairs agrees with people's by {now:.2f}, before {before:.2f}"
    passed = lost <= MOST_DROP and now >= LEAST_CORRELATION
    if lost > MOST_DROP:
        said += f": {100 * lost:.0f} points lost, {100 * MOST_DROP:.0f} are allowed"
    elif not passed:
        said += ": it does not know what general text means"
    return Guard("general", title, passed, f"{said}.", base=before, tuned=now)


def _neighbours(base: tuple[Vectors, Vectors], tuned: tuple[Vectors, Vectors]) -> Guard:
    kept = neighbour_overlap(np.concatenate(base), np.concatenate(tuned))
    passed = kept >= LEAST_KEPT
    said = f"Of the {NEIGHBOURS} nearest to each general sentence, {NEIGHBOURS * kept:.0f} are the same as before"
    if not passed:
        said += ": the model has forgotten most of what it knew"
    return Guard("neighbours", _TITLES["neighbours"], passed, f"{said}.", base=1.0, tuned=kept)
