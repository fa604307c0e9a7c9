"""How much work something is, measured so that a busy or slow machine does not change the answer."""

from __future__ import annotations

import time
from collections.abc import Callable


def least_cpu(
    run: Callable[[], object], *, enough: float, tries: int = 5, clock: Callable[[], float] = time.thread_time
) -> float:
    """Gives the least seconds of this thread's own processor time (or of another clock) that one run took.

    What else goes on only ever makes a run longer (cold caches, a neighbour on the same core), never shorter: so the
    runs end with the first one that took less than ``enough``, and only what is too slow each time is too slow.
    """
    least = float("inf")
    for _ in range(tries):
        began = clock()
        run()
        least = min(least, clock() - began)
        if least < enough:
            break
    return least
