"""Progress on a terminal: the command line's job context."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable


class ConsoleContext:
    """Writes progress to standard error: one line that is rewritten on a terminal, else seldom."""

    def __init__(self, *, quiet: bool = False, look: Callable[[], None] | None = None) -> None:
        self._quiet = quiet
        self._look = look
        self._terminal = sys.stderr is not None and sys.stderr.isatty()
        self._last = 0.0
        self._phase = ""
        self._width = 0

    @property
    def paused(self) -> bool:
        """Never paused."""
        return False

    def check(self) -> None:
        """Raises Cancelled after Ctrl+C where somebody looks for it; else Ctrl+C ends the command by itself."""
        if self._look is not None:
            self._look()

    def partial(self, result: object) -> None:
        """Ignores it: the command prints the whole."""

    def progress(self, phase: str, done: int, total: int | None, detail: str = "") -> None:
        """Prints ``phase done/total`` at most ten times a second (every 5 s without a terminal)."""
        if self._quiet:
            return
        now = time.monotonic()
        if now - self._last < (0.1 if self._terminal else 5.0) and not (phase != self._phase and self._terminal):
            return
        self._last, self._phase = now, phase
        of = f" of {total:,}" if total else ""
        line = f"{phase}: {done:,}{of}" + (f"  {detail}" if detail else "")
        if self._terminal:
            line = line[:100]
            _write("\r" + line.ljust(self._width))
            self._width = len(line)
        else:
            _write(line + "\n")

    def clear(self) -> None:
        """Wipes the progress line."""
        if self._width:
            _write("\r" + " " * self._width + "\r")
            self._width = 0


def _write(text: str) -> None:
    """Writes progress; that nobody can read it stops no command."""
    with contextlib.suppress(OSError, AttributeError):
        sys.stderr.write(text)
        sys.stderr.flush()
