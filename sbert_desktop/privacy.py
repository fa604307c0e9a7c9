"""Cuts off what libraries would send home, before they are imported, in every process."""

from __future__ import annotations

import os
import sys


def cut_telemetry() -> None:
    """Makes openvino, transformers and huggingface_hub unable to look up a host. Idempotent.

    Importing openvino forks a child that asks an analytics host unless its telemetry module is
    blocked first (measured, DESIGN section 10).
    """
    sys.modules.setdefault("openvino_telemetry", None)  # type: ignore[arg-type]
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    os.environ.setdefault("TRANSFORMERS_OFFLINE", "1")
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    os.environ.setdefault("DO_NOT_TRACK", "1")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")
