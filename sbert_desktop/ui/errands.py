"""Small waits off the GUI thread: counting files, looking whether a folder exists, writing an export."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

from PySide6.QtCore import QObject

from sbert_desktop.ui.doorbell import Doorbell

T = TypeVar("T")


class Errands(QObject):
    """Runs functions in threads and hands their answers back on the GUI thread.

    Answers that come after :meth:`close` are dropped. An exception goes to ``failed`` if one is
    given, else it counts as no answer.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._lock = threading.Lock()
        self._answers: list[Callable[[], None]] = []
        # with all that a thread was given: whatever it drops last, a part of the window for one, would die in it
        self._threads: list[tuple[threading.Thread, tuple[object, ...]]] = []
        self._closed = False
        self._bell = Doorbell(self, self._on_arrived)

    def run(self, work: Callable[[], T], done: Callable[[T], None],
            failed: Callable[[Exception], None] | None = None) -> None:
        """Runs ``work`` in a thread, then ``done(answer)`` on the GUI thread."""

        def body() -> None:
            try:
                answer = work()
            except Exception as error:
                if failed is not None:
                    self._hand_over(lambda error=error: failed(error))  # type: ignore[misc]
                return
            self._hand_over(lambda: done(answer))

        thread = threading.Thread(target=body, name="errand", daemon=True)
        self._threads = [other for other in self._threads if other[0].is_alive()]
        self._threads.append((thread, (work, done, failed)))
        thread.start()

    def close(self, timeout: float = 2.0) -> None:
        """Drops answers and waits for the threads."""
        with self._lock:
            self._closed = True
            self._answers.clear()
        self._bell.shut()
        for thread, _ in self._threads:
            thread.join(timeout)

    def _hand_over(self, answer: Callable[[], None]) -> None:
        with self._lock:
            if self._closed:
                return
            self._answers.append(answer)
        self._bell.ring()

    def _on_arrived(self) -> None:
        with self._lock:
            answers, self._answers = self._answers, []
        for answer in answers:
            answer()
