"""Extraction children that outlive a test: starting one costs more than most tests do.

They are the real ones in processes of their own, started by the real ``spawn_child``; only their end is put off. One
that was killed, or closed in the middle of a request, ends as always.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from sbert_desktop.errors import JobError
from sbert_desktop.jobs import ChildProcess

MOST_IDLE = 4
MOST_USES = 50
_OF_THE_PARENT = {"PYTEST_CURRENT_TEST", "XDG_DATA_HOME", "SBERT_DESKTOP_HOME", "SBERT_DESKTOP_LIBRARY",
                  "SBERT_DESKTOP_ADVANCED_ENCODER"}  # fmt: skip
"""What an extraction child never asks for."""

_idle: list[tuple[object, ChildProcess]] = []
_uses: dict[int, int] = {}


class WarmChild(ChildProcess):
    """A child that is kept for the next test when it is closed in good health."""

    key: object = None

    def close(self) -> None:
        if self.key is None or self._closed or not self._can_serve_on():
            super().close()
            return
        self._closed = True  # for whoever closed it
        _idle.append((self.key, self))
        while len(_idle) > MOST_IDLE:
            _end(_idle.pop(0)[1])

    def _can_serve_on(self) -> bool:
        if self._lock.locked() or not self.alive or _uses[self.pid] >= MOST_USES:
            return False
        try:
            self.request({"op": "ping"}, timeout=60)  # ends a series that was left in the middle
        except JobError:
            return False
        return True


def spawn_warm(kind: str, *, env: Mapping[str, str] | None = None, nice: int = 0) -> ChildProcess:
    """Gives a child as ``spawn_child`` does: one of an earlier test, where its environment is the same."""
    if kind != "extract":
        return ChildProcess(kind, env=env, nice=nice)
    mine = {name: value for name, value in os.environ.items() if name not in _OF_THE_PARENT}
    key = (frozenset({**mine, **(env or {})}.items()), nice, os.getcwd())
    at = next((at for at, (other, child) in enumerate(_idle) if other == key), None)
    if at is None:
        child = WarmChild(kind, env=env, nice=nice)
        child.key = key
        _uses[child.pid] = 0
    else:
        child = _idle.pop(at)[1]  # type: ignore[assignment]
        child._closed = False
        if not child.alive:
            _end(child)
            return spawn_warm(kind, env=env, nice=nice)
    _uses[child.pid] += 1
    return child


def end_all() -> None:
    """Ends those that wait."""
    while _idle:
        _end(_idle.pop()[1])


def _end(child: ChildProcess) -> None:
    child._closed = False
    ChildProcess.close(child)
