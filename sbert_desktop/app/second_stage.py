"""Keeps the cross-encoder that is in use: opened in a thread of its own at the first wish, closed with the session."""

from __future__ import annotations

import threading
from collections.abc import Callable

from sbert_desktop.domain import CrossEncoder, JobContext
from sbert_desktop.errors import EncoderError, SbertDesktopError

_POLL_SECONDS = 0.05


class SecondStage:
    """The cross-encoder of a session. Any thread.

    Args:
        open_one: Opens the one that is in use now; None when there is none. Takes seconds.
    """

    def __init__(self, open_one: Callable[[], CrossEncoder | None]) -> None:
        self._open_one = open_one
        self._lock = threading.Lock()
        self._opening: _Opening | None = None
        self._closed = False

    def start(self) -> None:
        """Begins to open it, so that the first query finds it ready; waits for nothing."""
        self._begun()

    def wait(self, context: JobContext) -> CrossEncoder | None:
        """Gives it, None when none is in use; a cancel ends the waiting, not the opening.

        Raises:
            EncoderError: It could not be opened.
        """
        opening = self._begun()
        if opening is None:
            return None
        while not opening.done.wait(_POLL_SECONDS):
            context.check()
        if opening.error is not None:
            raise opening.error
        return opening.cross

    def _begun(self) -> _Opening | None:
        with self._lock:
            if self._opening is None and not self._closed:
                self._opening = _Opening(self._open_one)
            return self._opening

    def forget(self) -> None:
        """Closes it, so that the next wish opens the one that is in use then."""
        with self._lock:
            opening, self._opening = self._opening, None
        if opening is not None:
            opening.close()

    def close(self) -> None:
        """Closes it for good. Idempotent."""
        with self._lock:
            self._closed = True
        self.forget()


class _Opening:
    """One attempt at opening: what came of it, or why nothing did."""

    def __init__(self, open_one: Callable[[], CrossEncoder | None]) -> None:
        self.done = threading.Event()
        self.cross: CrossEncoder | None = None
        self.error: EncoderError | None = None
        self._unwanted = False
        self._lock = threading.Lock()
        threading.Thread(target=self._run, args=(open_one,), name="cross-encoder-start", daemon=True).start()

    def _run(self, open_one: Callable[[], CrossEncoder | None]) -> None:
        try:
            cross = open_one()
        except SbertDesktopError as error:
            self.error = EncoderError(error.code, error.message, error.hint)
        except Exception as error:  # a broken installation of a native library is a known problem here
            self.error = EncoderError(
                "model-failed",
                f"The cross-encoder could not be started: {type(error).__name__}: {error}.",
                "Search goes on without it. Look under Models.",
            )
        else:
            with self._lock:
                self.cross = cross
                if self._unwanted and cross is not None:
                    cross.close()
                    self.cross = None
        finally:
            self.done.set()

    def close(self) -> None:
        """Closes what was opened, or will be."""
        with self._lock:
            self._unwanted = True
            cross, self.cross = self.cross, None
        if cross is not None:
            cross.close()
