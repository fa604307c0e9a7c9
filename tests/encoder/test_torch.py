"""Out of memory in the torch child (R15), with a module of two lines in place of a card."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from sbert_desktop.encoder._torch import OUT_OF_MEMORY_NOTICE, Placement, TorchModel, choose_placement  # noqa: E402
from sbert_desktop.encoder._torch_model import _POOLINGS  # noqa: E402
from sbert_desktop.errors import EncoderError  # noqa: E402


class Module(torch.nn.Module):
    """Gives the sum and the count of the ids; runs out of memory over so many padded tokens."""

    def __init__(self, memory: list[int]) -> None:
        super().__init__()
        self.transformer = torch.nn.Linear(2, 2)
        self.memory = memory
        self.asked: list[tuple[int, int]] = []

    def forward(self, ids, mask):
        self.asked.append(tuple(ids.shape))
        if ids.numel() > self.memory[0]:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB")
        sums = torch.stack([(ids * mask).sum(1), mask.sum(1)], 1).float()
        return torch.nn.functional.normalize(sums)


class Card(Placement):
    """Takes the CPU for a graphics card."""

    @property
    def accelerated(self) -> bool:
        return True


IDS = [np.arange(1, 2 + n % 13, dtype=np.int32) for n in range(60)]
EXPECTED = np.stack([np.array([one.sum(), len(one)]) / np.hypot(one.sum(), len(one)) for one in IDS])


def open_model(memory_of_card: int) -> tuple[TorchModel, list[Module]]:
    made: list[Module] = []

    def load() -> Module:
        # The first is on the card; the second, after the fall-back, has all the memory it wants.
        made.append(Module([memory_of_card if not made else 10**9]))
        return made[-1]

    return TorchModel(load, Card("cpu", "float16", 512), limit=16), made


def test_without_trouble_one_module_does_it_all() -> None:
    model, made = open_model(10**9)
    np.testing.assert_allclose(model.encode(IDS), EXPECTED, atol=1e-6)
    assert len(made) == 1
    assert made[0].transformer.weight.dtype == torch.float16
    assert model.notices == []


def test_out_of_memory_halves_the_batch_and_the_next_ones_are_small_at_once() -> None:
    model, made = open_model(100)
    np.testing.assert_allclose(model.encode(IDS), EXPECTED, atol=1e-6)
    assert len(made) == 1
    assert model.placement.accelerated
    assert model.notices == []
    assert model.budget <= 100
    failures = sum(rows * length > 100 for rows, length in made[0].asked)
    model.encode(IDS)
    assert sum(rows * length > 100 for rows, length in made[0].asked) == failures


def test_one_text_too_many_goes_to_the_cpu_in_float32_in_the_same_run() -> None:
    model, made = open_model(10)  # the long texts of 16 padded tokens do not fit even alone
    np.testing.assert_allclose(model.encode(IDS), EXPECTED, atol=1e-6)
    assert model.placement == Placement("cpu", "float32", 2048)
    assert model.notices == [OUT_OF_MEMORY_NOTICE]
    assert len(made) == 2  # loaded again: halves are not turned back into wholes
    assert made[1].transformer.weight.dtype == torch.float32


def test_another_error_is_no_lack_of_memory() -> None:
    model, made = open_model(10**9)
    made[0].forward = lambda ids, mask: (_ for _ in ()).throw(RuntimeError("shapes differ"))
    with pytest.raises(RuntimeError, match="shapes differ"):
        model.encode(IDS)


@pytest.mark.parametrize("pooling", ["mean", "mean_sqrt_len", "cls", "max"])
def test_pooling_leaves_padding_out(pooling: str) -> None:
    states = torch.tensor([[[1.0, -2.0], [3.0, -5.0], [99.0, 99.0]], [[-1.0, 4.0], [99.0, 99.0], [99.0, 99.0]]])
    mask = torch.tensor([[1.0, 1.0, 0.0], [1.0, 0.0, 0.0]])
    by_hand = {"mean": [[2, -3.5], [-1, 4]], "mean_sqrt_len": [[4 / 2**0.5, -7 / 2**0.5], [-1, 4]],
               "cls": [[1, -2], [-1, 4]], "max": [[3, -2], [-1, 4]]}  # fmt: skip
    np.testing.assert_allclose(_POOLINGS[pooling](states, mask.unsqueeze(-1)).numpy(), by_hand[pooling], rtol=1e-6)


def test_a_card_that_is_not_there_is_named() -> None:
    assert choose_placement("cpu") == Placement("cpu", "float32", 2048)
    if choose_placement("auto").accelerated:
        pytest.skip("there is a graphics card")
    with pytest.raises(EncoderError) as caught:
        choose_placement("gpu")
    assert caught.value.code == "no-gpu"
