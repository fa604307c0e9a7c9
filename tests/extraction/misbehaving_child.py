"""An extraction child that hangs, dies or eats memory where a file's name says so."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
os.environ["SBERT_DESKTOP_CHILD_MEMORY_MB"] = sys.argv[1]

from sbert_desktop.extraction import _series, child
from sbert_desktop.extraction._source import Source
from sbert_desktop.wire import serve

real = _series.read_as


def hang() -> None:
    os.write(2, b"hangs\n")  # whoever wants to know need not wait for a clock
    time.sleep(3600.0)


def misbehave(source: Source, name: str) -> object:
    if source.name.startswith("hang"):
        hang()
    if source.name.startswith("slow"):
        until = Path(os.environ["SBERT_DESKTOP_TEST_SLOW_UNTIL"])
        while not until.exists():
            time.sleep(0.01)
    if source.name.startswith("spin"):
        began = time.process_time()
        while time.process_time() - began < 5.0:
            pass
    if source.name.startswith("hoard"):
        held = bytearray(400 * 1024**2)
        held[:: 4096] = b"x" * len(held[:: 4096])
        time.sleep(3600.0)
    if source.name.startswith("crash"):
        os._exit(11)
    if source.name.startswith("eat"):
        return bytearray(8 * 1024**3)
    return real(source, name)


real_level = _series._level


def stick(source: Source, name: str) -> object:
    if source.name.startswith("stuck"):
        hang()
    return real_level(source, name)


_series.read_as = misbehave
_series._level = stick  # type: ignore[assignment]
frames = os.fdopen(os.dup(1), "wb")
os.dup2(2, 1)
serve(sys.stdin.buffer, frames, child.make_handler())
