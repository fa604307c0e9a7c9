"""The loop that trains: which examples when, each objective, and that an interruption changes nothing."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sbert_desktop.errors import TrainingError
from sbert_desktop.training import _trainer, _work
from sbert_desktop.training._trainer import Trainer, plan_batches, rate
from sbert_desktop.training._work import CROSS_ENCODER, ENCODER, Recipe
from sbert_desktop.training.labels import Example, LabelKind, LabelSet, same_text
from sbert_desktop.training.objectives import OBJECTIVES, HyperParameters

from .conftest import labels_of, save_tiny, sentences

pytest.importorskip("torch")
pytestmark = [pytest.mark.xdist_group("training"), pytest.mark.timeout(300)]  # torch is imported first
EVERY = [(one.key, kind) for one in OBJECTIVES for kind in one.kinds]
HYPER = HyperParameters("multiple-negatives", 2, 8, learning_rate=1e-3, patience=None)


def made(work: Path, base: Path, kind: LabelKind = LabelKind.POSITIVES, *, hyper: HyperParameters = HYPER,
         labels: LabelSet | None = None, scorer: bool = False, **more: object) -> Trainer:  # fmt: skip
    recipe = Recipe(base, labels or labels_of(kind), hyper, CROSS_ENCODER if scorer else ENCODER, device="cpu", **more)  # type: ignore[arg-type]
    _work.write_recipe(work, recipe, 0.0)
    return Trainer(work, threads=1)


def weights(trainer: Trainer) -> dict[str, np.ndarray]:
    return {name: one.detach().cpu().numpy().copy() for name, one in trainer.loss.named_parameters()}


def assert_same(first: dict[str, np.ndarray], second: dict[str, np.ndarray]) -> None:
    assert first.keys() == second.keys()
    for name, one in first.items():
        np.testing.assert_array_equal(one, second[name], err_msg=name)


def test_each_epoch_sees_each_example_once_in_an_order_of_its_own() -> None:
    plan = plan_batches(labels_of(LabelKind.PAIRS, 21), batch=8, epochs=3, seed=4, distinct=False)
    orders = [np.concatenate(epoch).tolist() for epoch in plan]
    assert [len(epoch) for epoch in plan] == [3, 3, 3]
    assert all(sorted(order) == list(range(21)) for order in orders)
    assert len({tuple(order) for order in orders}) == 3
    again = plan_batches(labels_of(LabelKind.PAIRS, 21), batch=8, epochs=3, seed=4, distinct=False)
    assert [np.concatenate(epoch).tolist() for epoch in again] == orders


def test_no_text_stands_twice_in_a_batch_where_all_others_count_as_wrong() -> None:
    rng = np.random.default_rng(2)
    texts = sentences(12)
    examples = tuple(Example((texts[a], texts[b].upper()), 1.0) for a, b in rng.integers(0, 12, (60, 2)) if a != b)
    plan = plan_batches(LabelSet(LabelKind.POSITIVES, examples), batch=8, epochs=2, seed=0, distinct=True)
    for epoch in plan:
        seen = np.concatenate(epoch).tolist()
        assert len(seen) == len(set(seen)) > 0.9 * len(examples)
        for batch in epoch:
            forms = [same_text(text) for place in batch for text in examples[place].texts]
            assert len(forms) == len(set(forms))
            assert len(batch) > 1


def test_the_same_question_everywhere_ends_soon() -> None:
    examples = tuple(Example(("the same", f"w{n}"), 1.0) for n in range(3000))
    plan = plan_batches(LabelSet(LabelKind.POSITIVES, examples), batch=8, epochs=1, seed=0, distinct=True)
    assert sum(len(batch) for batch in plan[0]) == 3000


@pytest.mark.parametrize(("of", "warm_up"), [(100, 0.1), (7, 0.1), (30, 0.0), (1, 0.1)])
def test_the_learning_rate_is_that_of_transformers(of: int, warm_up: float) -> None:
    import math

    import torch
    from transformers import get_linear_schedule_with_warmup

    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=1.0)
    schedule = get_linear_schedule_with_warmup(optimizer, math.ceil(of * warm_up), of)
    for step in range(of):
        assert rate(step, of, warm_up) == pytest.approx(optimizer.param_groups[0]["lr"])
        optimizer.step()
        schedule.step()


@pytest.mark.parametrize(("key", "kind"), EVERY)
def test_each_objective_learns(key: str, kind: LabelKind, tiny: Path, tmp_path: Path) -> None:
    hyper = replace(HYPER, objective=key, epochs=6, learning_rate=3e-3)
    trainer = made(tmp_path / "work", tiny, kind, hyper=hyper)
    losses = [trainer.step() for _ in range(trainer.of)]
    assert np.mean(losses[-6:]) < 0.9 * np.mean(losses[:6])


@pytest.mark.parametrize("kind", list(LabelKind))
def test_a_cross_encoder_learns_from_each_kind_of_label(kind: LabelKind, tiny: Path, tmp_path: Path) -> None:
    hyper = replace(HYPER, epochs=12, batch=16, learning_rate=3e-3)
    trainer = made(tmp_path / "work", tiny, kind, hyper=hyper, scorer=True)
    losses = [trainer.step() for _ in range(trainer.of)]
    assert np.mean(losses[-6:]) < 0.95 * np.mean(losses[:6])
    scores = trainer.encode([["w1 the boat sails"], ["w1 a boat sails today"]], ["", ""])
    assert scores[0].shape == (1, 1)
    assert 0.0 < scores[0][0, 0] < 1.0


def test_the_loss_is_the_librarys_own_on_unit_vectors(tmp_path: Path) -> None:
    import torch

    base = save_tiny(tmp_path / "plain", normalize=False)
    trainer = made(tmp_path / "work", base, LabelKind.TRIPLETS, hyper=replace(HYPER, objective="triplet"))
    trainer.loss.eval()
    rows = np.arange(4)
    loss = float(trainer._loss_of(rows).detach())
    examples = [trainer.labels.examples[row] for row in rows]
    a, p, n = (torch.from_numpy(trainer.model.encode([one.texts[place] for one in examples],
                                                     normalize_embeddings=True)) for place in range(3))  # fmt: skip
    expected = torch.relu((a - p).norm(dim=1) - (a - n).norm(dim=1) + 1.0).mean()
    assert loss == pytest.approx(float(expected), abs=1e-4)


@pytest.mark.parametrize(("key", "kind"), [("multiple-negatives", LabelKind.POSITIVES), ("softmax", LabelKind.NLI)])
def test_a_run_that_was_broken_off_gives_what_it_would_have_given(
    key: str, kind: LabelKind, tiny: Path, tmp_path: Path
) -> None:
    hyper = replace(HYPER, objective=key)
    whole = made(tmp_path / "whole", tiny, kind, hyper=hyper)
    losses = [whole.step() for _ in range(whole.of)]

    first = made(tmp_path / "parts", tiny, kind, hyper=hyper)
    some = [first.step() for _ in range(5)]
    first.checkpoint({"said": "by the parent"})
    first.encode([sentences(10)], [""])  # a look at the held-out part changes nothing
    second = Trainer(tmp_path / "parts", threads=1)
    assert second.done == 5
    assert second.note == {"said": "by the parent"}
    assert some + [second.step() for _ in range(second.of - 5)] == losses
    assert_same(weights(second), weights(whole))


def test_the_same_seed_gives_the_same_weights_and_another_does_not(tiny: Path, tmp_path: Path) -> None:
    found = []
    for place, seed in enumerate((1, 1, 2)):
        trainer = made(tmp_path / str(place), tiny, hyper=replace(HYPER, seed=seed))
        for _ in range(3):
            trainer.step()
        found.append(weights(trainer))
    assert_same(found[0], found[1])
    assert any(not np.array_equal(one, found[2][name]) for name, one in found[0].items())


def test_only_the_newest_checkpoint_and_the_best_state_stay(tiny: Path, tmp_path: Path) -> None:
    work = tmp_path / "work"
    trainer = made(work, tiny)
    for _ in range(3):
        trainer.step()
        trainer.keep()
        trainer.checkpoint({"best": 2})
    assert sorted(entry.name for entry in work.iterdir()) == [
        "best-00000002", "checkpoint-00000003", "labels.json", "run.json"]
    assert {entry.suffix for entry in work.rglob("*") if entry.is_file()} == {".json", ".safetensors"}
    assert (work / "labels.json").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("name", ["model.safetensors", "optimizer.safetensors", "state.json"])
def test_a_damaged_checkpoint_is_passed_over_with_a_word(name: str, tiny: Path, tmp_path: Path) -> None:
    trainer = made(tmp_path / "work", tiny)
    trainer.step()
    trainer.checkpoint({})
    file = tmp_path / "work" / "checkpoint-00000001" / name
    file.write_bytes(file.read_bytes()[:-20])
    again = Trainer(tmp_path / "work", threads=1)
    assert again.done == 0
    assert again.notices


def test_what_a_kill_left_half_written_is_cleared(tiny: Path, tmp_path: Path) -> None:
    trainer = made(tmp_path / "work", tiny)
    trainer.step()
    trainer.checkpoint({})
    half = tmp_path / "work" / ".checkpoint-00000002.part"
    shutil.copytree(tmp_path / "work" / "checkpoint-00000001", half)
    assert Trainer(tmp_path / "work", threads=1).done == 1
    assert not half.exists()


class Card:
    """A graphics card with room for so many examples; counts what it was given."""

    def __init__(self, trainer: Trainer, room: int) -> None:
        self.sizes: list[int] = []
        real, self.room, self.trainer = trainer._loss_of, room, trainer
        trainer.device = "pretended"

        def loss_of(rows: np.ndarray) -> object:
            import torch

            self.sizes.append(len(rows))
            if trainer.device != "cpu" and len(rows) > room:
                raise torch.OutOfMemoryError("pretended")
            device, trainer.device = trainer.device, "cpu"
            try:
                return real(rows)
            finally:
                trainer.device = device

        trainer._loss_of = loss_of  # type: ignore[method-assign]


def test_a_card_without_room_gets_halves_and_the_run_goes_on(tiny: Path, tmp_path: Path) -> None:
    trainer = made(tmp_path / "work", tiny, hyper=replace(HYPER, batch=16))
    card = Card(trainer, room=5)
    of = trainer.of
    losses = [trainer.step() for _ in range(of)]
    assert trainer.device == "pretended"
    assert card.sizes[:6] == [16, 8, 4, 4, 4, 4]
    assert trainer.notices[-1] == _trainer.OUT_OF_MEMORY.format(count=4)
    assert trainer.done == of
    assert np.isfinite(losses).all()


def test_a_card_without_any_room_leaves_it_to_the_cpu(tiny: Path, tmp_path: Path) -> None:
    trainer = made(tmp_path / "work", tiny)
    trainer.step()
    Card(trainer, room=0)
    trainer.step()
    assert trainer.device == "cpu"
    assert trainer.notices[-1] == _trainer.ON_THE_CPU
    assert trainer.done == 2
    trainer.checkpoint({})
    assert json.loads((tmp_path / "work/checkpoint-00000002/state.json").read_text())["device"] == "cpu"


def test_the_cpu_without_memory_is_an_error_and_no_endless_loop(tiny: Path, tmp_path: Path) -> None:
    trainer = made(tmp_path / "work", tiny)

    def fails(rows: np.ndarray) -> object:
        raise RuntimeError("[enforce fail] not enough memory: out of memory")

    trainer._loss_of = fails  # type: ignore[method-assign]
    with pytest.raises(RuntimeError):
        trainer.step()


def test_a_loss_that_is_no_number_stops_before_it_spoils_the_weights(tiny: Path, tmp_path: Path) -> None:
    trainer = made(tmp_path / "work", tiny)
    trainer.step()
    before, real = weights(trainer), trainer._loss_of
    trainer._loss_of = lambda rows: real(rows) * float("nan")  # type: ignore[method-assign]
    with pytest.raises(TrainingError) as raised:
        trainer.step()
    assert raised.value.code == "training-diverged"
    assert_same(weights(trainer), before)


def test_prompts_are_put_before_questions_and_passages(tiny: Path, tmp_path: Path) -> None:
    trainer = made(tmp_path / "work", tiny, LabelKind.RELEVANCE, hyper=replace(HYPER, objective="contrastive"),
                   prompts=("old ", "new "))  # fmt: skip
    seen: list[str] = []
    real = trainer.model.preprocess
    trainer.model.preprocess = lambda texts, prompt=None, **more: seen.append(prompt) or real(texts, prompt=prompt)
    trainer.step()
    assert seen == ["old ", "new "]
    del trainer.model.preprocess
    same = ["w1 the boat sails"]
    question, passage = trainer.encode([same, same], ["old ", "new "])
    assert not np.allclose(question, passage)


def test_fewer_tokens_are_read_while_training_but_not_while_looking(tiny: Path, tmp_path: Path) -> None:
    limited = made(tmp_path / "work", tiny, hyper=replace(HYPER, max_tokens=8))
    text = "the boat sails north today again late early red"
    lengths: list[int] = []
    real = limited.model.preprocess

    def preprocess(texts: list[str], prompt: str | None = None, **more: object) -> dict[str, object]:
        found = real(texts, prompt=prompt)
        lengths.append(found["input_ids"].shape[1])
        return found

    limited.model.preprocess = preprocess
    limited.encode([[text]], [""])
    assert lengths.pop() == 11
    limited.step()
    assert set(lengths) == {8}


def test_the_base_that_is_gone_and_the_missing_card_are_said(tiny: Path, tmp_path: Path) -> None:
    import torch

    _work.write_recipe(tmp_path / "gone", Recipe(tmp_path / "none", labels_of(LabelKind.POSITIVES), HYPER), 0.0)
    with pytest.raises(TrainingError) as raised:
        Trainer(tmp_path / "gone")
    assert raised.value.code == "base-missing"
    if not torch.cuda.is_available():
        _work.write_recipe(tmp_path / "gpu", Recipe(tiny, labels_of(LabelKind.POSITIVES), HYPER, device="gpu"), 0.0)
        with pytest.raises(TrainingError) as raised:
            Trainer(tmp_path / "gpu")
        assert raised.value.code == "no-gpu"
    (tmp_path / "gone" / "labels.json").write_text("{")
    with pytest.raises(TrainingError) as raised:
        Trainer(tmp_path / "gone")
    assert raised.value.code == "training-damaged"
