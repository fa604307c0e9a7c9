"""A batch read in groups of like length: the same loss and gradients, fewer tokens computed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sbert_desktop.training import _packing, _work
from sbert_desktop.training._packing import group
from sbert_desktop.training._trainer import Trainer
from sbert_desktop.training._work import CROSS_ENCODER, ENCODER, Recipe
from sbert_desktop.training.labels import LabelKind, LabelSet
from sbert_desktop.training.objectives import OBJECTIVES, HyperParameters

from .conftest import labels_of

pytest.importorskip("torch")
pytestmark = [pytest.mark.xdist_group("training"), pytest.mark.timeout(300)]  # torch is imported first
HYPER = HyperParameters("multiple-negatives", 1, 16, learning_rate=1e-3, patience=None)
EVERY = [(one.key, kind) for one in OBJECTIVES for kind in one.kinds]


def uneven(kind: LabelKind, count: int = 32) -> LabelSet:
    """Gives labels of texts of very different lengths."""
    return LabelSet(kind, tuple(
        replace(one, texts=tuple(text + " north" * ((5 * n + 3 * place) % 13) for place, text in enumerate(one.texts)))
        for n, one in enumerate(labels_of(kind, count).examples)))  # fmt: skip


def made(work: Path, base: Path, labels: LabelSet, key: str = "multiple-negatives", *, scorer: bool = False,
         price: float = 10.0, prompts: tuple[str, str] = ("", "")) -> Trainer:  # fmt: skip
    recipe = Recipe(base, labels, replace(HYPER, objective=key), CROSS_ENCODER if scorer else ENCODER, device="cpu",
                    prompts=prompts)  # fmt: skip
    _work.write_recipe(work, recipe, 0.0)
    trainer = Trainer(work, threads=1)
    trainer.loss.eval()  # no dropout: nothing is left to chance
    trainer._price = price
    return trainer


def learned(trainer: Trainer, packs: bool) -> tuple[float, dict[str, np.ndarray], list[tuple[int, int]]]:
    """Gives the loss and the gradients of a first batch, and the shapes that the model was given."""
    shapes: list[tuple[int, int]] = []
    handle = trainer.model[0].register_forward_pre_hook(
        lambda module, given: shapes.append(tuple(given[0]["attention_mask"].shape)))  # fmt: skip
    trainer.packs = packs
    loss = trainer._backward(trainer.batches[0])
    handle.remove()
    return loss, {name: one.grad.numpy().copy() for name, one in trainer.parameters if one.grad is not None}, shapes


def assert_alike(trainer: Trainer) -> None:
    loss, gradients, shapes = learned(trainer, packs=True)
    plain_loss, plain_gradients, plain_shapes = learned(trainer, packs=False)
    assert loss == pytest.approx(plain_loss, rel=1e-4, abs=1e-6)
    assert gradients.keys() == plain_gradients.keys()
    for name, one in gradients.items():
        np.testing.assert_allclose(one, plain_gradients[name], rtol=1e-3, atol=1e-5, err_msg=name)
    assert any(np.abs(one).max() > 1e-4 for one in gradients.values())
    assert len(shapes) > 1
    assert sum(rows for rows, _ in shapes) == sum(rows for rows, _ in plain_shapes)
    assert sum(rows * width for rows, width in shapes) < sum(rows * width for rows, width in plain_shapes)


@pytest.mark.parametrize(("key", "kind"), EVERY)
def test_loss_and_gradients_are_those_of_the_whole_batch(
    key: str, kind: LabelKind, tiny: Path, tmp_path: Path
) -> None:
    assert_alike(made(tmp_path / "work", tiny, uneven(kind), key))


@pytest.mark.parametrize("kind", [LabelKind.GRADED, LabelKind.TRIPLETS])
def test_a_cross_encoder_learns_the_same(kind: LabelKind, tiny: Path, tmp_path: Path) -> None:
    assert_alike(made(tmp_path / "work", tiny, uneven(kind), scorer=True))


def test_questions_and_passages_keep_their_own_prompts(tiny: Path, tmp_path: Path) -> None:
    labels = uneven(LabelKind.RELEVANCE)
    assert_alike(made(tmp_path / "own", tiny, labels, "contrastive", prompts=("old old old ", "new ")))


def test_a_model_that_has_no_padded_rows_is_read_as_the_library_does() -> None:
    import torch

    flat = {"input_ids": torch.arange(5), "offsets": torch.tensor([0, 2])}
    assert _packing.embed(None, [["a"], ["b"]], ["", ""], 1.0, prepare=lambda texts, prompt: flat) is None


@pytest.mark.parametrize("seed", range(4))
def test_each_text_is_in_one_group_and_no_way_to_part_costs_less(seed: int) -> None:
    rng = np.random.default_rng(seed)
    lengths = rng.integers(3, 60, 9)
    price = float(rng.uniform(1, 60))
    groups = group(lengths, price)
    assert sorted(np.concatenate(groups).tolist()) == list(range(9))
    ordered = np.sort(lengths)
    ways = []
    for cuts in range(2**8):
        ends = [n + 1 for n in range(8) if cuts >> n & 1] + [9]
        ways.append(sum((b - a) * ordered[b - 1] + price for a, b in zip([0, *ends], ends, strict=False)))
    assert sum(len(one) * lengths[one].max() + price for one in groups) == pytest.approx(min(ways))


def test_texts_of_one_length_stay_together_and_a_costly_pass_is_the_only_one() -> None:
    assert [one.tolist() for one in group(np.array([7, 7, 7]), 1.0)] == [[0, 1, 2]]
    assert len(group(np.arange(1, 30), 1e9)) == 1
    assert group(np.array([], np.int64), 1.0) == []


@pytest.mark.parametrize("side", ["left", "right"])
def test_padding_that_only_longer_texts_need_is_left_out_on_either_side(side: str) -> None:
    import torch

    flip: Callable[[list[int]], list[int]] = (lambda row: row[::-1]) if side == "left" else list
    mask = torch.tensor([flip([1, 1, 0, 0]), flip([1, 1, 1, 1]), flip([1, 0, 0, 0])])
    ready = {"input_ids": 5 * mask, "attention_mask": mask, "prompt_length": 3, "kind": torch.tensor([4, 5, 6])}
    found = _packing._rows(ready, torch.tensor([2, 0]))
    assert found["input_ids"].tolist() == [[5 * one for one in flip(row)] for row in ([1, 0], [1, 1])]
    assert found["kind"].tolist() == [6, 4]
    assert found["prompt_length"] == 3


def test_a_model_of_many_words_makes_fewer_passes() -> None:
    import torch

    layers = torch.nn.Linear(100, 100, bias=False)
    few, many = (torch.nn.ModuleList([torch.nn.Embedding(count, 100), layers]) for count in (100, 1000))
    assert _packing.price_of_pass(many) == pytest.approx(5.5 * _packing.price_of_pass(few))
