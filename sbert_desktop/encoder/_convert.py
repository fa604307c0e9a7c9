"""Turns a model into OpenVINO's form, once; runs in the torch child."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sbert_desktop.privacy import cut_telemetry

if TYPE_CHECKING:
    import torch


def convert_model(folder: Path, spec: Mapping[str, Any], target: Path) -> str:
    """Writes ``model.xml`` and ``model.bin`` (float32 weights, any batch, any length) into ``target``.

    Returns:
        OpenVINO's version.
    """
    cut_telemetry()
    import openvino as ov
    import torch

    from sbert_desktop.encoder._torch_model import build_module

    scores = spec["kind"] == "cross-encoder"
    # The activation of a cross-encoder is computed outside, in float32 (see _openvino_pairs).
    module = build_module(folder, {**spec, "activation": "identity"} if scores else spec)
    if scores:
        _read_first_token_alone(module.transformer)
    example = torch.from_numpy(np.array([[101, 2000, 102, 0], [101, 2000, 2001, 102]], np.int64) % spec["vocabulary"])
    mask = torch.tensor([[1, 1, 1, 0], [1, 1, 1, 1]])
    with torch.no_grad():
        inputs = {"input_ids": example, "attention_mask": mask}
        if scores:
            inputs["token_types"] = torch.tensor([[0, 0, 1, 0], [0, 0, 1, 1]])
        elif not spec["prompt_pooled"]:
            inputs["pooling_mask"] = mask.clone()
        converted = ov.convert_model(module, example_input=inputs)
    for port in converted.inputs:
        port.get_node().set_partial_shape(ov.PartialShape([-1, -1]))
    converted.validate_nodes_and_infer_types()
    ov.save_model(converted, str(target / "model.xml"), compress_to_fp16=False)
    return str(ov.__version__)


def _read_first_token_alone(model: Any) -> None:
    """Leaves out what a classifier never reads: all tokens but the first, behind the attention of the last layer.

    The scores stay the same; with six layers an eighth of the multiplications goes. Done for the family of BERT,
    whose classifiers take the first token; another architecture stays as it is.
    """
    import torch

    if getattr(model.config, "model_type", "") not in {"bert", "roberta", "xlm-roberta", "electra", "camembert"}:
        return
    attention = getattr(model, model.base_model_prefix).encoder.layer[-1].attention
    whole = attention.output

    class First(torch.nn.Module):  # type: ignore[misc]  # torch is not followed by mypy
        """What follows the attention, for the first token."""

        def __init__(self) -> None:
            super().__init__()
            self.whole = whole

        def forward(self, states: torch.Tensor, before: torch.Tensor) -> torch.Tensor:
            found: torch.Tensor = self.whole(states[:, :1], before[:, :1])
            return found

    attention.output = First()
