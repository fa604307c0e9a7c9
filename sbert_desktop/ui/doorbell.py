"""What a worker thread rings so that the GUI thread looks at its post.

A signal may not be emitted by one thread while another destroys its sender: Qt then reads freed memory, once in some
thousand closes of the window. So no thread emits a signal of the window or of anything that lies in it. It rings a
:class:`Doorbell`, whose small Qt object belongs to nobody and goes only when nobody rings.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable

from PySide6.QtCore import QObject, Qt, Signal


class _Bell(QObject):
    """Rings in any thread, answers in the one that made it."""

    rang = Signal()

    def __init__(self, answer: Callable[[], object]) -> None:
        super().__init__()
        # weakly: the bell must not keep the window alive
        self._answer = weakref.WeakMethod(answer) if hasattr(answer, "__self__") else lambda: answer
        self.rang.connect(self._on_rang, Qt.ConnectionType.QueuedConnection)

    def _on_rang(self) -> None:
        answer = self._answer()
        if answer is not None:
            answer()


class Doorbell:
    """Calls ``answer()`` on the GUI thread some time after :meth:`ring`, until it is shut or its owner is destroyed.

    Args:
        owner: The object that ``answer`` belongs to; made, and destroyed, on the GUI thread.
        answer: Called once per ring, or once for several.
    """

    def __init__(self, owner: QObject, answer: Callable[[], object]) -> None:
        # one thread may come twice: a collection of garbage in a ring can destroy the owner
        self._lock = threading.RLock()
        self._bell: _Bell | None = _Bell(answer)
        owner.destroyed.connect(lambda *_: self.shut())

    def ring(self) -> None:
        """Callable from any thread, also after the owner is gone; never waits for the window."""
        with self._lock:
            if self._bell is not None:
                self._bell.rang.emit()

    def shut(self) -> None:
        """Lets the bell go once nobody rings it; nothing is answered any more. GUI thread only."""
        with self._lock:
            self._bell = None
