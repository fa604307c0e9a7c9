"""Ctrl+C while a command runs: it ends where it asks its context, and its library is closed in good order.

A KeyboardInterrupt that is raised between any two steps may come in the middle of taking a lock of ``threading`` or
``queue``, which then is never given back: what waits for that lock on the way out hangs for ever. So a command that
looks for a wish to end is ended where it looks, and only one that does not look for a second is interrupted wherever
it is.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from sbert_desktop.errors import Cancelled

_PATIENCE = 1.0
"""Seconds after which a command that does not look is interrupted wherever it is."""


class Wish:
    """That the command ends: by Ctrl+C, or with its terminal. The second one is not waited for."""

    def __init__(self) -> None:
        self._told = self._seen = self._over = False
        self._number = signal.SIGINT
        # One primitive lock: a signal handler may come in the middle of anything that is made of Python code.
        self._gate = threading.Lock()
        self._gate.acquire()
        self._reminder = threading.Thread(target=self._remind, name="interrupt", daemon=True)
        self._reminder.start()

    def tell(self, number: int, frame: object) -> None:
        """The handler of the signals."""
        if self._told:
            raise KeyboardInterrupt
        self._told, self._number = True, signal.Signals(number)
        self._gate.release()

    def look(self) -> None:
        """Ends the command if that is wished; from any thread.

        Raises:
            Cancelled: It is.
        """
        if self._told:
            self._seen = True
            raise Cancelled

    def end(self) -> bool:
        """Nothing is waited for any more; True when a wish was told and nobody saw it."""
        self._over = True
        if not self._told:
            self._gate.release()
            self._reminder.join(_PATIENCE)
        return self._told and not self._seen

    def _remind(self) -> None:
        self._gate.acquire()
        if self._over:
            return
        until = time.monotonic() + _PATIENCE
        while time.monotonic() < until:
            time.sleep(_PATIENCE / 20)
            if self._seen or self._over:
                return
        if hasattr(signal, "pthread_kill"):  # the main thread itself, or what it waits in would not notice
            signal.pthread_kill(threading.main_thread().ident or 0, self._number)
        else:
            signal.raise_signal(self._number)


@contextmanager
def granted() -> Iterator[Wish]:
    """Has the signals that end a command wait until it looks; a second at most.

    Raises:
        KeyboardInterrupt: At the end, where the command went through without looking.
    """
    wish = Wish()
    taken: list[int] = []
    if threading.current_thread() is threading.main_thread():
        numbers = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
        taken = [number for number in numbers if signal.getsignal(number) is signal.default_int_handler]
    for number in taken:
        signal.signal(number, wish.tell)
    try:
        yield wish
    finally:
        for number in taken:
            signal.signal(number, signal.default_int_handler)
        unseen = wish.end()
    if unseen:
        raise KeyboardInterrupt


def ends_a_command(number: int) -> bool:
    """Says whether this signal ends the command that runs, by raising or by a wish: nobody else has taken it."""
    handler = signal.getsignal(number)
    return handler is signal.default_int_handler or isinstance(getattr(handler, "__self__", None), Wish)
