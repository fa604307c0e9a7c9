"""A batch in groups of like length: the same vectors and gradients, with far less padding to compute.

What a batch holds stays as it was drawn, so that training has the same statistics; only the forward pass is made in
several parts, each padded to its own longest text, and the loss is taken of all vectors together. On a CPU, where
time goes with the tokens, that is worth it; a graphics card waits rather for the number of its tasks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import torch

VECTOR = "sentence_embedding"
_MASK = "attention_mask"
_PASS_BY_TOKEN = 40.0
"""Time that one more forward and backward pass costs for each weight, by that of one token for each weight of the
layers. A pass writes the whole gradient anew, that of the words, too; measured with all-MiniLM-L6-v2 on one core: 52 ms
a pass, 0.63 ms a token."""


def price_of_pass(model: Any) -> float:
    """Gives how many tokens cost as much as one more pass through a model does."""
    import torch

    weights = sum(one.numel() for one in model.parameters())
    words = sum(one.weight.numel() for one in model.modules() if isinstance(one, torch.nn.Embedding))
    return _PASS_BY_TOKEN * float(weights) / max(1.0, float(weights - words))


def group(lengths: NDArray[np.int64], price: float) -> list[NDArray[np.int64]]:
    """Parts texts by length so that padded tokens and passes together cost least.

    Args:
        lengths: Tokens of each text, int64 [n].
        price: Tokens that one more group costs.

    Returns:
        The places of each group's texts, shorter ones first; each stands in one group.
    """
    order = np.argsort(lengths, kind="stable").astype(np.int64)
    ordered = lengths[order].astype(np.float64)
    cost, begins = np.zeros(len(order) + 1), np.zeros(len(order) + 1, np.int64)
    for end in range(1, len(order) + 1):  # the cheapest way to part the first so many
        ways = cost[:end] + (end - np.arange(end)) * ordered[end - 1]
        begins[end] = ways.argmin()
        cost[end] = ways[begins[end]] + price
    found = []
    end = len(order)
    while end:
        found.append(order[begins[end] : end])
        end = int(begins[end])
    return found[::-1]


def group_pairs(model: Any, pairs: Sequence[Sequence[str]], price: float) -> list[NDArray[np.int64]]:
    """Parts pairs, as a cross-encoder reads them, as :func:`group` does."""
    return group(_lengths(model.preprocess([tuple(pair) for pair in pairs])[_MASK]), price)


def take_vectors(model: Any) -> None:
    """Lets a model pass on what has its vectors already: losses give all that they are given to their model."""
    forward = model.forward

    def pass_on(features: dict[str, Any], **more: Any) -> dict[str, Any]:
        result: dict[str, Any] = features if VECTOR in features else forward(features, **more)
        return result

    model.forward = pass_on


def embed(
    model: Any, columns: Sequence[Sequence[str]], prompts: Sequence[str], price: float, *, prepare: Callable[..., Any]
) -> list[dict[str, torch.Tensor]] | None:
    """Gives the vectors of columns of texts in the form that losses take, see :func:`take_vectors`; with gradients.

    Args:
        model: The one that the loss holds, on the CPU.
        columns: Texts, all columns equally long.
        prompts: Put before the texts of each column; those of one prompt are read together.
        price: See :func:`price_of_pass`.
        prepare: Makes tokens of texts: ``preprocess`` of the model.

    Returns:
        None where the model takes no padded rows of tokens.
    """
    found: list[dict[str, torch.Tensor]] = [{} for _ in columns]
    for prompt in dict.fromkeys(prompts):
        places = [place for place, own in enumerate(prompts) if own == prompt]
        texts = [text for place in places for text in columns[place]]
        vectors = _embed(model, prepare(texts, prompt=prompt or None), price)
        if vectors is None:
            return None
        for place, one in zip(places, vectors.chunk(len(places)), strict=True):
            found[place][VECTOR] = one
    return found


def _embed(model: Any, ready: Mapping[str, Any], price: float) -> torch.Tensor | None:
    import torch

    mask = ready.get(_MASK)
    if not isinstance(mask, torch.Tensor) or mask.ndim != 2:
        return None
    groups = group(_lengths(mask), price)
    vectors = torch.cat([model(_rows(ready, torch.from_numpy(one)))[VECTOR] for one in groups])
    return vectors[torch.from_numpy(np.argsort(np.concatenate(groups)))]


def _rows(ready: Mapping[str, Any], rows: torch.Tensor) -> dict[str, Any]:
    """Gives some texts of what was made ready, without the padding that only longer ones need (on either side)."""
    import torch

    mask = ready[_MASK]
    used = mask[rows].any(dim=0)
    found = {}
    for name, one in ready.items():
        if isinstance(one, torch.Tensor) and one.shape[:2] == mask.shape:
            one = one[rows][:, used]
        elif isinstance(one, torch.Tensor) and one.ndim and len(one) == len(mask) > 1:
            one = one[rows]
        found[name] = one
    return found


def _lengths(mask: torch.Tensor) -> NDArray[np.int64]:
    found: NDArray[np.int64] = mask.sum(dim=1).numpy().astype(np.int64)
    return found
