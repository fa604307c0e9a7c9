"""A cross-encoder from the same labels: pairs with targets, a fresh head on the base, sentence-transformers' loss.

As :mod:`sbert_desktop.training._trainer`, only a child imports torch from here.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sbert_desktop.training import _work
from sbert_desktop.training._work import Recipe
from sbert_desktop.training.labels import Example, LabelKind, LabelSet, same_text

if TYPE_CHECKING:
    import torch


def pairs_to_score(labels: LabelSet, seed: int) -> LabelSet:
    """Gives labels of any kind as graded pairs: what a cross-encoder with one output learns from.

    Triplets become a right and a wrong pair; to a pair that only belongs together comes one with another's partner;
    entailment counts as the same, neutral and contradiction as not.
    """
    top = 5.0
    if labels.kind is LabelKind.GRADED:
        return labels
    found: list[tuple[str, str, float]] = []
    for example in labels.examples:
        first, second = example.texts[:2]
        if labels.kind is LabelKind.NLI:
            found.append((first, second, top if example.value == 0 else 0.0))
        else:
            found.append((first, second, top * example.value))
        if labels.kind is LabelKind.TRIPLETS:
            found.append((first, example.texts[2], 0.0))
    if labels.kind is LabelKind.POSITIVES:
        found += _with_others(labels, seed)
    return LabelSet(LabelKind.GRADED, tuple(Example((first, second), value) for first, second, value in found))


def _with_others(labels: LabelSet, seed: int) -> list[tuple[str, str, float]]:
    """Gives each first text with the partner of another that it was not said to belong to."""
    partners: dict[str, set[str]] = {}
    for example in labels.examples:
        partners.setdefault(same_text(example.texts[0]), set()).add(same_text(example.texts[1]))
    order = np.random.default_rng(seed).permutation(len(labels)).tolist()
    found = []
    for place, example in enumerate(labels.examples):
        first = same_text(example.texts[0])
        for step in range(min(len(order), 20)):
            other = labels.examples[order[(place + step) % len(order)]].texts[1]
            if same_text(other) not in partners[first] and same_text(other) != first:
                found.append((example.texts[0], other, 0.0))
                break
    return found


def build(work: Path, recipe: Recipe, device: str) -> tuple[Any, Any]:
    """Gives the CrossEncoder and its loss, both float32; the head is fresh where the base is an encoder."""
    import torch
    from sentence_transformers import CrossEncoder
    from sentence_transformers.cross_encoder.losses import BinaryCrossEntropyLoss

    folder = recipe.base
    figures = {"use_safetensors": True, "dtype": torch.float32}
    if not is_scorer(folder):
        folder = work / _work.SCORER
        if not folder.is_dir():
            fresh = CrossEncoder(str(recipe.base), num_labels=1, device="cpu", local_files_only=True,
                                 model_kwargs=figures)  # fmt: skip
            with _work.whole_folder(folder) as part:
                fresh.save_pretrained(str(part), create_model_card=False)
    model = CrossEncoder(str(folder), device=device, local_files_only=True, model_kwargs=figures)
    if recipe.hyper.max_tokens is not None:
        model.max_seq_length = min(recipe.hyper.max_tokens, model.max_seq_length or recipe.hyper.max_tokens)
    torch.manual_seed(recipe.hyper.seed)  # also where the head lay ready already
    return model, BinaryCrossEntropyLoss(model)


def is_scorer(folder: Path) -> bool:
    """Says whether a model folder holds a cross-encoder."""
    try:
        names = json.loads((folder / "config.json").read_text("utf-8")).get("architectures") or []
    except (OSError, ValueError):
        return False
    return any(str(name).endswith("ForSequenceClassification") for name in names)


def score(model: Any, columns: Sequence[Sequence[str]], batch: int) -> NDArray[np.float32]:
    """Gives the scores of pairs, float32 [n, 1], 0 to 1."""
    first, second = columns
    if not first:
        return np.empty((0, 1), np.float32)
    scores = model.predict(list(zip(first, second, strict=True)), batch_size=batch, show_progress_bar=False,
                           activation_fn=_sigmoid(), convert_to_numpy=True)  # fmt: skip
    return np.ascontiguousarray(scores, np.float32).reshape(-1, 1)


def _sigmoid() -> torch.nn.Module:
    import torch

    return torch.nn.Sigmoid()
