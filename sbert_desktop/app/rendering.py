"""The child process that draws pages of documents."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

from sbert_desktop.errors import SbertDesktopError

if TYPE_CHECKING:
    from sbert_desktop.jobs import ChildProcess

_MEMORY_MB = "2048"
_SECONDS = 20.0


class Launch(Protocol):
    """Starts a child process of a kind."""

    def __call__(self, kind: str, *, env: Mapping[str, str]) -> ChildProcess:
        """Gives the child."""
        ...


class Renderer:
    """Keeps one, started at the first wish and replaced when it died. Any thread; one picture at a time.

    Args:
        launch: Starts the child.
    """

    def __init__(self, launch: Launch) -> None:
        self._launch = launch
        self._child: ChildProcess | None = None
        self._lock = threading.Lock()
        self._closed = False

    def request(self, header: Mapping[str, object]) -> tuple[dict[str, object], bytes]:
        """Asks for a picture.

        Raises:
            SbertDesktopError: ``closed``, or what the child says.
        """
        with self._lock:
            if self._closed:
                raise SbertDesktopError("closed", "The program is closing.")
            if self._child is None or not self._child.alive:
                if self._child is not None:
                    self._child.close()
                self._child = self._launch("extract", env={"SBERT_DESKTOP_CHILD_MEMORY_MB": _MEMORY_MB})
            return self._child.request(header, timeout=_SECONDS)

    def close(self) -> None:
        """Ends the child; a picture under way ends with it. Idempotent."""
        self._closed = True
        child = self._child
        if child is not None:
            child.close()
