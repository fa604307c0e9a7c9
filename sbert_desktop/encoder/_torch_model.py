"""The torch module of a model: token ids in, unit vectors out. Only children import this."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch


def build_module(folder: Path, spec: Mapping[str, Any]) -> torch.nn.Module:
    """Loads weights and puts pooling, dense layers and normalisation behind them.

    The folder was checked by the parent (sha256, no code, no pickles). Pooling is part of the module
    so that one batch gives back [rows, dimension] and not [rows, length, width].

    Args:
        folder: Folder of the model.
        spec: ``pooling`` and ``dense`` (folder, inputs, outputs, bias, activation), see ``ModelFacts``.

    Returns:
        A module in eval mode: ``forward(input_ids, attention_mask)``, int64 [rows, length] each,
        gives float32 [rows, dimension].
    """
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
    pool = _POOLINGS[spec["pooling"]]

    class Module(torch.nn.Module):  # type: ignore[misc]  # torch is not followed by mypy
        """Transformer, pooling, dense layers, unit length."""

        def __init__(self) -> None:
            super().__init__()
            self.transformer = model
            self.layers = torch.nn.ModuleList(layers)

        def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
            more = {"token_type_ids": torch.zeros_like(input_ids)} if types else {}
            states = self.transformer(input_ids=input_ids, attention_mask=attention_mask, **more).last_hidden_state
            # Sums over tokens and squares want float32, also where the transformer runs in half precision.
            vectors = pool(states.float(), attention_mask.unsqueeze(-1).float())
            for layer in self.layers:
                vectors = layer(vectors)
            return torch.nn.functional.normalize(vectors, p=2.0, dim=1)

    module = Module().eval()
    for parameter in module.parameters():
        parameter.requires_grad_(False)
    return module


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


def _cls(states: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    return states[:, 0]


def _max(states: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    # A large number and not infinity: it stays finite in bf16 and never meets 0 * inf.
    return (states - (1.0 - mask) * 1e9).max(1).values


_POOLINGS = {"mean": _mean, "mean_sqrt_len": _mean_sqrt_len, "cls": _cls, "max": _max}


def spec_of(header: Mapping[str, object]) -> dict[str, Any]:
    """Reads the spec that the parent sent; it travels as JSON."""
    spec = json.loads(str(header["spec"]))
    assert isinstance(spec, dict)
    return spec
