"""Turns a model into OpenVINO's form, once; runs in the torch child."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from sbert_desktop.privacy import cut_telemetry


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
