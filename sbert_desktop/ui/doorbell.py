"""What a worker thread rings so that the GUI thread looks at its post.

A signal may not be emitted by one thread while another destroys its sender: Qt then reads freed memory, once in some
thousand closes of the window. So no thread emits a signal of the window or of anything that lies in it. It rings a
:class:`Doorbell`, whose small Qt object belongs to nobody and goes only when nobody rings.
"""

from __future__ import annotations

import threading
import weakref
from collections import deque
from collections.abc import Callable
from typing import Generic, TypeVar

from PySide6.QtCore import QObject, Qt, Signal

T = TypeVar("T")


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

    def is_open(self) -> bool:
        """True until it is shut or its owner is destroyed."""
        return self._bell is not None

    def shut(self) -> None:
        """Lets the bell go once nobody rings it; nothing is answered any more. GUI thread only."""
        with self._lock:
            self._bell = None


class Letterbox(Generic[T]):
    """Hands on the GUI thread what any thread drops: at once if it is dropped there, else soon, and in order.

    Args:
        owner: The object that ``take`` belongs to; after its end nothing is handed on.
        take: Called with each item.
    """

    def __init__(self, owner: QObject, take: Callable[[T], object]) -> None:
        self._items: deque[T] = deque()
        self._take = weakref.WeakMethod(take)
        self._bell = Doorbell(owner, self._empty)

    def drop(self, item: T) -> None:
        """Callable from any thread, also after the owner is gone."""
        self._items.append(item)
        if threading.current_thread() is threading.main_thread():
            self._empty()
        else:
            self._bell.ring()

    def shut(self) -> None:
        """Hands on nothing more. GUI thread only."""
        self._bell.shut()

    def _empty(self) -> None:
        take = self._take()
        while self._items and take is not None and self._bell.is_open():
            take(self._items.popleft())
