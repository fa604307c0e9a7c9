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

    Answers that come after :meth:`close` go to ``dropped``, if that is given, in whatever thread. An
    exception goes to ``failed`` if one is given, else it counts as no answer.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._lock = threading.Lock()
        self._answers: list[tuple[Callable[[], object], Callable[[], object]]] = []  # and what drops them
        # with all that a thread was given: whatever it drops last, a part of the window for one, would die in it
        self._threads: list[tuple[threading.Thread, tuple[object, ...]]] = []
        self._closed = False
        self._bell = Doorbell(self, self._on_arrived)

    def run(self, work: Callable[[], T], done: Callable[[T], None],
            failed: Callable[[Exception], None] | None = None, dropped: Callable[[T], object] | None = None) -> None:
        """Runs ``work`` in a thread, then ``done(answer)`` on the GUI thread."""

        def body() -> None:
            try:
                answer = work()
            except Exception as error:
                if failed is not None:
                    self._hand_over(lambda error=error: failed(error))  # type: ignore[misc]
                return
            self._hand_over(lambda: done(answer), lambda: dropped(answer) if dropped is not None else None)

        thread = threading.Thread(target=body, name="errand", daemon=True)
        self._threads = [other for other in self._threads if other[0].is_alive()]
        self._threads.append((thread, (work, done, failed, dropped)))
        thread.start()

    def close(self, timeout: float = 2.0) -> None:
        """Drops answers and waits for the threads."""
        with self._lock:
            self._closed = True
            answers, self._answers = self._answers, []
        self._bell.shut()
        for _, drop in answers:
            drop()
        for thread, _ in self._threads:
            thread.join(timeout)

    def _hand_over(self, answer: Callable[[], object], drop: Callable[[], object] = lambda: None) -> None:
        with self._lock:
            late = self._closed
            if not late:
                self._answers.append((answer, drop))
        if late:
            drop()
        else:
            self._bell.ring()

    def _on_arrived(self) -> None:
        with self._lock:
            answers, self._answers = self._answers, []
        for answer, _ in answers:
            answer()
