"""The pictures of docs/images."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np

SCRIPT = Path(__file__).resolve().parents[2] / "packaging" / "screenshots.py"


def test_a_rare_colour_of_a_small_icon_is_kept_among_many_greys() -> None:
    spec = importlib.util.spec_from_file_location("screenshots", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    colours = np.array([0xFF000000 | (value * 0x010101 + value // 3) for value in range(255)] * 4, np.uint32)
    colours = np.unique(colours + np.repeat(np.arange(4, dtype=np.uint32) * 0x100, 255))
    assert len(colours) > 512
    warn = np.uint32(0xFF855600)
    kept = module.spread_out(np.append(colours, warn))  # the least frequent of all
    assert len(kept) == len(set(kept.tolist())) == 256
    assert warn in kept
