"""The queries that were asked, newest first: which are worth remembering, and when."""

from __future__ import annotations

import threading
import time

from sbert_desktop.app.session import Session
from sbert_desktop.domain import JobContext
from sbert_desktop.errors import Cancelled
from sbert_desktop.jobs import Jobs

STOOD_SECONDS = 2.0
"""A query is remembered once it stood for so long, so half-typed ones are not."""
_LENGTH = 200


class QueryHistory:
    """Remembers a query that stood for a while, or that led to opening a file; from any thread, without waiting.

    Args:
        session: The opened library, which keeps them.
        jobs: The lanes: reading and writing the disk is the helper's.
    """

    def __init__(self, session: Session, jobs: Jobs) -> None:
        self._session = session
        self._jobs = jobs
        self._lock = threading.Lock()
        self._texts: list[str] = []
        self._asked: tuple[str, float] = ("", 0.0)
        self._remembering: threading.Timer | None = None

    def start(self) -> None:
        """Has those of earlier times read."""
        self._jobs.submit("helper", "history", self._load)

    def texts(self) -> tuple[str, ...]:
        """Gives them, newest first."""
        with self._lock:
            return tuple(self._texts)

    def asked(self, text: str) -> None:
        """Takes note of a query; a newer one takes its place until it stood long enough."""
        if text == self._asked[0]:
            return
        self._asked = (text, time.monotonic())
        with self._lock:
            if self._remembering is not None:
                self._remembering.cancel()
            self._remembering = threading.Timer(STOOD_SECONDS, self._remember, (text,)) if text.strip() else None
            if self._remembering is not None:
                self._remembering.daemon = True
                self._remembering.start()

    def led_on(self) -> None:
        """Remembers the last query at once: a file was opened from what it found."""
        if self._asked[0]:
            self._remember(self._asked[0])

    def clear(self) -> None:
        """Forgets all, on disk too."""
        with self._lock:
            self._texts.clear()
            self._asked = ("", 0.0)
            if self._remembering is not None:
                self._remembering.cancel()
        self._jobs.submit("helper", "history", lambda context: self._session.library.clear_history())

    def close(self) -> None:
        """Keeps the last query, where it stood long enough; the lanes may be about to end."""
        with self._lock:
            if self._remembering is not None:
                self._remembering.cancel()
        text, since = self._asked
        if text and time.monotonic() - since >= STOOD_SECONDS and self._wanted():
            try:
                self._session.library.add_history(" ".join(text.split()))
            except (Exception, Cancelled):  # the last query is not worth a failed exit
                return

    def _wanted(self) -> bool:
        return self._session.settings.flag("search.history")

    def _load(self, context: JobContext) -> object:
        found = list(self._session.library.history())[:_LENGTH]
        with self._lock:
            self._texts = [*self._texts, *(text for text in found if text not in self._texts)]
        return None

    def _remember(self, text: str) -> None:
        text = " ".join(text.split())
        if not text or not self._wanted():
            return
        with self._lock:
            if self._texts[:1] == [text]:
                return
            self._texts = [text, *(old for old in self._texts if old != text)][:_LENGTH]
        self._jobs.submit("helper", "history", lambda context: self._session.library.add_history(text))
