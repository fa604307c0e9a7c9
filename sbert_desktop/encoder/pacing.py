"""Who may run the model now: queries first, bulk work between them, and how hard bulk may work.

The model has one owner at a time. A query waits at most for the one bulk batch that is running;
bulk waits while queries wait, while :meth:`Gate.hold` is in force (somebody types) and, with a
gentle pace, rests after each batch where the back-end cannot use fewer cores by itself.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from sbert_desktop.domain import JobContext

AFTER_QUERY_S = 1.0  # bulk stays away so long after a query: the next keystrokes find the CPU free
_POLL_S = 0.05  # how often waiting bulk work asks whether its job was cancelled


@dataclass(frozen=True, slots=True)
class EncodeStats:
    """What bulk encoding did so far. ``tokens`` counts special ones and no padding.

    ``seconds`` is the time with the model at work (waiting for queries left out); ``padded`` counts
    tokens with padding.
    """

    passages: int = 0
    tokens: int = 0
    padded: int = 0
    seconds: float = 0.0
    batches: int = 0

    @property
    def tokens_per_second(self) -> float:
        """Gives the measured pace, 0.0 before the first batch."""
        return self.tokens / self.seconds if self.seconds > 0 else 0.0


class Gate:
    """The one door to the model, and the counter beside it. Safe from any thread."""

    def __init__(self, *, clock_after_query: float = AFTER_QUERY_S) -> None:
        self._condition = threading.Condition()
        self._busy = False
        self._queries_waiting = 0
        self._held_until = 0.0
        self._after_query = clock_after_query
        self._stats = EncodeStats()

    @property
    def stats(self) -> EncodeStats:
        """Gives what :meth:`count` added up."""
        with self._condition:
            return self._stats

    def hold(self, seconds: float) -> None:
        """Keeps bulk work away for so long from now; a longer hold in force stays."""
        with self._condition:
            self._held_until = max(self._held_until, time.monotonic() + seconds)

    def count(self, *, passages: int, tokens: int, padded: int, seconds: float) -> None:
        """Adds one finished batch to the stats."""
        with self._condition:
            old = self._stats
            self._stats = EncodeStats(old.passages + passages, old.tokens + tokens, old.padded + padded,
                                      old.seconds + seconds, old.batches + 1)

    @contextmanager
    def query(self) -> Iterator[None]:
        """Owns the model for one query, ahead of all bulk work; holds bulk for a second after it."""
        with self._condition:
            self._queries_waiting += 1
            while self._busy:
                self._condition.wait()
            self._queries_waiting -= 1
            self._busy = True
        try:
            yield
        finally:
            with self._condition:
                self._busy = False
                self._held_until = max(self._held_until, time.monotonic() + self._after_query)
                self._condition.notify_all()

    @contextmanager
    def bulk(self, context: JobContext | None = None) -> Iterator[None]:
        """Owns the model for one bulk batch, when no query waits and nobody holds it.

        Raises:
            Cancelled: From ``context.check()``, also while waiting.
        """
        if context is not None:
            context.check()
        while not self._enter_bulk():
            if context is not None:
                context.check()
        try:
            yield
        finally:
            with self._condition:
                self._busy = False
                self._condition.notify_all()

    def _enter_bulk(self) -> bool:
        """Waits a moment for the model; gives False when it is still taken."""
        with self._condition:
            held = self._held_until - time.monotonic()
            if self._busy or self._queries_waiting or held > 0:
                self._condition.wait(min(_POLL_S, held) if held > 0 and not self._busy else _POLL_S)
            if self._busy or self._queries_waiting or self._held_until > time.monotonic():
                return False
            self._busy = True
            return True
