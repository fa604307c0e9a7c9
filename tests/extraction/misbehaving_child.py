"""An extraction child that hangs, dies or eats memory where a file's name says so."""

from __future__ import annotations

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
os.environ["SBERT_DESKTOP_CHILD_MEMORY_MB"] = sys.argv[1]

from sbert_desktop.extraction import _extract, child
from sbert_desktop.wire import serve

real = _extract.extract_bytes


def misbehave(path: Path, data: bytes, password: str | None = None) -> object:
    if path.name.startswith("hang"):
        while True:
            pass
    if path.name.startswith("crash"):
        os._exit(11)
    if path.name.startswith("eat"):
        return bytearray(8 * 1024**3)
    return real(path, data, password)


child.extract_bytes = misbehave
frames = os.fdopen(os.dup(1), "wb")
os.dup2(2, 1)
serve(sys.stdin.buffer, frames, child.make_handler())
