"""The torch module of a model: token ids in, unit vectors out. Only children import this."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

_FAR = 1_000_000  # a position beyond every text

def build_module(folder: Path, spec: Mapping[str, Any]) -> torch.nn.Module:
    """Loads weights and puts pooling, dense layers and normalisation behind them.

    The folder was checked by the parent (sha256, no code, no pickles). Pooling is part of the module
    so that one batch gives back [rows, dimension] and not [rows, length, width].

    Args:
        folder: Folder of the model.
        spec: ``pooling``, ``dense`` (folder, inputs, outputs, bias, activation, unit), ``layers``, ``dimension``
            and ``prompt_pooled``, see ``ModelFacts``; or ``kind`` cross-encoder with ``activation``. With ``ways``,
            a list of ``pooling`` and ``layers``, the vectors of all of them stand behind each other, each of unit
            length, out of one pass through the transformer.

    Returns:
        A module in eval mode: ``forward(input_ids, attention_mask)``, int64 [rows, length] each,
        gives float32 [rows, dimension]. Where the prompt is left out of the pooling there is a third
        input, the mask of what is pooled. That of a cross-encoder takes token types as third input and
        gives float32 [rows, 1].
    """
    if spec.get("kind") == "cross-encoder":
        return _build_scorer(folder, spec)
    import torch
    from transformers import AutoModel

    # Eager attention: OpenVINO fuses it by itself, and the name in config.json, which could ask the hub
    # for a kernel, is not followed.
    model = AutoModel.from_pretrained(
        str(folder), attn_implementation="eager", local_files_only=True, use_safetensors=True,
        trust_remote_code=False, dtype=torch.float32,
    )
    types = "token_type_ids" in _parameters(model)
    layers = [_dense(folder, layer) for layer in spec["dense"]]
    ways = [([_POOLINGS[name] for name in way["pooling"].split("+")], *_layer_shares(folder, way["layers"]))
            for way in spec.get("ways") or [spec]]
    before = [layer["unit"] for layer in spec["dense"]]
    deep = any(share is not None for _, _, share in ways)
    kept = spec["dimension"]

    class Module(torch.nn.Module):  # type: ignore[misc]  # torch is not followed by mypy
        """Transformer, pooling, dense layers, unit length."""

        def __init__(self) -> None:
            super().__init__()
            self.transformer = model
            self.layers = torch.nn.ModuleList(layers)

        def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
            return self.pooled(input_ids, attention_mask, attention_mask)

        def pooled(
            self, input_ids: torch.Tensor, attention_mask: torch.Tensor, pooling_mask: torch.Tensor
        ) -> torch.Tensor:
            more = {"token_type_ids": torch.zeros_like(input_ids)} if types else {}
            if deep:
                more["output_hidden_states"] = True
            found = self.transformer(input_ids=input_ids, attention_mask=attention_mask, **more)
            mask = pooling_mask.unsqueeze(-1).float()
            parts = []
            for pools, start, share in ways:
                # Sums over tokens and squares want float32, also where the transformer runs in half precision.
                if share is None:
                    states = found.last_hidden_state.float()
                else:
                    layered = found.hidden_states[start:]
                    states = sum(part * layer.float() for part, layer in zip(share, layered, strict=True))
                parts.append(self.finished(torch.cat([pool(states, mask) for pool in pools], 1)))
            return torch.cat(parts, 1) if len(parts) > 1 else parts[0]

        def finished(self, vectors: torch.Tensor) -> torch.Tensor:
            for unit, layer in zip(before, self.layers, strict=True):
                vectors = layer(torch.nn.functional.normalize(vectors, p=2.0, dim=1) if unit else vectors)
            return torch.nn.functional.normalize(vectors[:, :kept], p=2.0, dim=1)

    class PromptLeftOut(Module):
        """As Module; the third input says which tokens are pooled."""

        def forward(  # type: ignore[override]
            self, input_ids: torch.Tensor, attention_mask: torch.Tensor, pooling_mask: torch.Tensor
        ) -> torch.Tensor:
            return self.pooled(input_ids, attention_mask, pooling_mask)

    return _frozen(Module() if spec["prompt_pooled"] else PromptLeftOut())


def _build_scorer(folder: Path, spec: Mapping[str, Any]) -> torch.nn.Module:
    import torch
    from transformers import AutoModelForSequenceClassification

    model = AutoModelForSequenceClassification.from_pretrained(
        str(folder), attn_implementation="eager", local_files_only=True, use_safetensors=True,
        trust_remote_code=False, dtype=torch.float32,
    )
    types = "token_type_ids" in _parameters(model) and getattr(model.config, "type_vocab_size", 0) > 1
    activate = torch.sigmoid if spec["activation"] == "sigmoid" else torch.nn.Identity()

    class Scorer(torch.nn.Module):  # type: ignore[misc]  # torch is not followed by mypy
        """A classifier with one class, and the function behind it."""

        def __init__(self) -> None:
            super().__init__()
            self.transformer = model

        def forward(
            self, input_ids: torch.Tensor, attention_mask: torch.Tensor, token_types: torch.Tensor
        ) -> torch.Tensor:
            more = {"token_type_ids": token_types} if types else {}
            logits = self.transformer(input_ids=input_ids, attention_mask=attention_mask, **more).logits
            scores: torch.Tensor = activate(logits.float())
            return scores

    return _frozen(Scorer())


def _frozen(module: torch.nn.Module) -> torch.nn.Module:
    module.eval()
    for parameter in module.parameters():
        parameter.requires_grad_(False)
    return module


def _layer_shares(folder: Path, layers: Mapping[str, Any] | None) -> tuple[int, list[float] | None]:
    """Gives from which layer on states are averaged and the share of each; None for the last layer alone."""
    if layers is None:
        return 0, None
    if not layers["folder"]:
        count = -int(layers["start"])
        return -count, [1.0 / count] * count
    from safetensors.torch import load_file

    weights = load_file(str(folder / layers["folder"] / "model.safetensors"))["layer_weights"].double()
    return int(layers["start"]), [float(one) for one in weights / weights.sum()]


def _parameters(model: torch.nn.Module) -> Mapping[str, Any]:
    import inspect

    return inspect.signature(model.forward).parameters


def _dense(folder: Path, layer: Mapping[str, Any]) -> torch.nn.Module:
    import torch
    from safetensors.torch import load_file

    linear = torch.nn.Linear(layer["inputs"], layer["outputs"], bias=layer["bias"])
    weights = load_file(str(folder / layer["folder"] / "model.safetensors"))
    linear.load_state_dict({name.removeprefix("linear."): value.float() for name, value in weights.items()})
    activations = {"tanh": torch.nn.Tanh, "identity": torch.nn.Identity, "relu": torch.nn.ReLU,
                   "gelu": torch.nn.GELU, "sigmoid": torch.nn.Sigmoid}
    return torch.nn.Sequential(linear, activations[layer["activation"]]())


def _mean(states: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    return (states * mask).sum(1) / mask.sum(1).clamp(min=1e-9)


def _mean_sqrt_len(states: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    return (states * mask).sum(1) / mask.sum(1).clamp(min=1e-9).sqrt()


def _positions(mask: torch.Tensor) -> torch.Tensor:
    """Gives the position of each token, from 1 on; int64 [1, length, 1] (bf16 cannot count beyond 256)."""
    import torch

    return torch.ones_like(mask[:1, :, 0], dtype=torch.int64).cumsum(1).unsqueeze(-1)


def _at(states: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
    """Gives the states at one place of each text, counted from 1, int64 [rows, 1]; [rows, width].

    A sum over one token and not ``gather``, of which OpenVINO makes something else in a batch (measured:
    a cosine of 0.86).
    """
    chosen = (_positions(states) == places.unsqueeze(1)).to(states.dtype)
    return (states * chosen).sum(1)


def _cls(states: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    # The first token that is pooled: not [CLS] where the prompt is left out.
    first = (_positions(mask) + (1 - mask.long()) * _FAR).amin(1)
    return _at(states, first - (first // _FAR) * (first - 1))  # 1 where no token is pooled at all


def _lasttoken(states: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    return _at(states, (_positions(mask) * mask.long()).amax(1))


def _weightedmean(states: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    return _mean(states, mask * _positions(mask).to(mask.dtype))


def _max(states: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    # A large number and not infinity: it stays finite in bf16 and never meets 0 * inf.
    return (states - (1.0 - mask) * 1e9).max(1).values


_POOLINGS = {"mean": _mean, "mean_last_4": _mean, "mean_last_2": _mean, "mean_sqrt_len": _mean_sqrt_len, "cls": _cls,
             "max": _max, "lasttoken": _lasttoken, "weightedmean": _weightedmean}


def spec_of(header: Mapping[str, object]) -> dict[str, Any]:
    """Reads the spec that the parent sent; it travels as JSON."""
    spec = json.loads(str(header["spec"]))
    assert isinstance(spec, dict)
    return spec
