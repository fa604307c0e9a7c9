"""A small case of training: a tiny encoder among the models, labels it must learn, children inside this process."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from sbert_desktop.errors import JobError, SbertDesktopError
from sbert_desktop.training.guards import GeneralSet

SAME = (("boat", "ship"), ("invoice", "bill"), ("garden", "tree"), ("house", "roof"), ("cat", "dog"),
        ("letter", "harbour"))  # fmt: skip
FILLERS = ("sails", "arrives", "waits", "grows", "falls", "comes", "old", "new", "red", "late", "early", "today")


def sentence(number: int, noun: str) -> str:
    """Gives a sentence of its own about a noun; most of its words say nothing."""
    one, two = FILLERS[number % 12], FILLERS[(number // 12 + number) % 12]
    return f"w{number % 40} {one} the {noun} {two} w{number // 40}"


def rows(count: int, seed: int = 0) -> list[tuple[str, str, int]]:
    """Gives pairs: the same is what has the other noun of a pair, whatever stands around it."""
    rng = np.random.default_rng(seed)
    found = []
    for number in range(count):
        kind = int(rng.integers(len(SAME)))
        same = number % 2
        other = kind if same else int((kind + 1 + rng.integers(len(SAME) - 1)) % len(SAME))
        found.append((sentence(2 * number, SAME[kind][0]), sentence(2 * number + 1, SAME[other][1]), same))
    return found


def write_pairs(file: Path, count: int, *, only_same: bool = False) -> Path:
    """Writes a table of pairs."""
    with file.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(("text_a", "text_b", "label"))
        writer.writerows(row for row in rows(2 * count if only_same else count) if row[2] or not only_same)
    return file


def general_set() -> GeneralSet:
    """Gives general sentences in the words that the tiny encoder knows."""
    made = rows(160, seed=9)
    grades = np.array([5.0 if same else 0.0 for _, _, same in made])
    return GeneralSet(tuple(a for a, _, _ in made), tuple(b for _, b, _ in made), grades)


class Child:
    """A child's own handler in this process: no ten seconds of imports. ``before`` sees each request, and may die."""

    def __init__(self, kind: str, before: Callable[[Mapping[str, object]], None] = lambda header: None) -> None:
        if kind == "train":
            from sbert_desktop.training.child import make_handler
        elif kind == "torch":
            from sbert_desktop.encoder._torch import make_handler
        else:
            raise JobError("child-not-started", kind)
        self._handle = make_handler()
        self._before = before
        self.kind = kind
        self.alive = True

    def request(
        self, header: Mapping[str, object], payload: bytes = b"", *, timeout: float | None = None
    ) -> tuple[dict[str, object], bytes]:
        """Answers."""
        self._before(header)
        told = json.loads(json.dumps(header))
        if self.kind == "train":
            told = {**told, "threads": 1}
        try:
            reply, data = self._handle(told, payload)
        except SbertDesktopError as error:
            raise JobError(error.code, error.message, error.hint) from error
        return json.loads(json.dumps(reply)), data

    def close(self) -> None:
        """Ends it."""
        self.alive = False


def save_sound(folder: Path) -> Path:
    """Saves the tiny encoder so that unrelated texts are not near each other: places no longer drown words."""
    from safetensors.torch import load_file, save_file

    from tests.training.conftest import save_tiny

    weights = load_file(str(save_tiny(folder) / "model.safetensors"))
    for name, one in weights.items():
        if "position_embeddings" in name or "token_type" in name:
            one *= 0
        elif "word_embeddings" in name:
            one *= 5
    save_file(weights, str(folder / "model.safetensors"), metadata={"format": "pt"})
    return folder
