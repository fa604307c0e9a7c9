"""The fault of PySide6 6.12.0 (docs/adr/0003): emits and void calls must not use up True and None."""

from __future__ import annotations

import os
import subprocess
import sys

CODE = """
import sys
from PySide6.QtCore import QObject, Signal

class Sender(QObject):
    changed = Signal(bool)

sender = Sender()
sender.changed.connect(lambda value: None)
before = sys.getrefcount(True), sys.getrefcount(None)
for _ in range(5000):
    sender.changed.emit(True)
for _ in range(1000):
    sender.setObjectName("x")
print(before[0] - sys.getrefcount(True), before[1] - sys.getrefcount(None))
"""


def test_signals_and_void_calls_keep_the_counts_of_true_and_none() -> None:
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert max(map(int, done.stdout.split())) < 100
