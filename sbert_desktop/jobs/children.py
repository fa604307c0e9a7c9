"""Isolated child processes: started from this very executable, spoken to in frames, killed on time.

A child parses untrusted files or holds torch. It can hang, crash or eat memory; the parent then
sees one :class:`JobError` and replaces it.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO, cast

from sbert_desktop.errors import JobError
from sbert_desktop.wire import MAX_PAYLOAD, WireError, read_frame, write_frame

REPLY_LIMITS = {"extract": 192 * 1024 * 1024}
"""Most bytes of a reply by kind: a page of text, or a picture of 40 million pixels in RGB with its header."""
_SPINS = "10000"
"""How often threads of GNU OpenMP look before they sleep, unless the environment says otherwise. As it comes they look
so long that training beside two busy programs took 1.3 to 3 times as long; so few cost next to nothing on an idle one.
Source: tests/benchmarks/spinning.py."""


class ChildProcess:
    """One child of one kind; requests from several threads are served one after the other.

    Args:
        kind: What ``python -m sbert_desktop child KIND`` serves: ``extract``, ``torch``, ``echo``.
        env: Added to the environment of the child.
        nice: Added to the niceness of the child (POSIX), 0 to 19.

    Raises:
        JobError: ``child-not-started`` when the system gives no process.
    """

    def __init__(self, kind: str, *, env: Mapping[str, str] | None = None, nice: int = 0) -> None:
        self.kind = kind
        self._lock = threading.Lock()
        self._closed = False
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  closed in close()
        full_env = {"GOMP_SPINCOUNT": _SPINS, **os.environ, "PYTHONUNBUFFERED": "1", "SBERT_DESKTOP_NICE": str(nice)}
        full_env |= env or {}
        if not getattr(sys, "frozen", False):
            root = str(Path(__file__).resolve().parents[2])
            full_env["PYTHONPATH"] = os.pathsep.join(filter(None, [root, full_env.get("PYTHONPATH", "")]))
        command = [sys.executable] if getattr(sys, "frozen", False) else [sys.executable, "-m", "sbert_desktop"]
        try:
            self._process = subprocess.Popen(
                [*command, "child", kind],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                env=full_env,
                start_new_session=True,
                creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
            )
        except OSError as error:
            self._errors.close()
            raise JobError(
                "child-not-started",
                f"A helper process could not be started: {error.strerror}.",
                "Close other programs and try again.",
            ) from error

    @property
    def pid(self) -> int:
        """The child's process id."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """False once the child has ended or was closed."""
        return not self._closed and self._process.poll() is None

    def request(
        self, header: Mapping[str, object], payload: bytes = b"", *, timeout: float | None = None
    ) -> tuple[dict[str, object], bytes]:
        """Sends one request and waits for the reply; see :class:`sbert_desktop.domain.Child`."""
        with self._lock:
            if self._closed:
                raise JobError("child-died", "The helper process was closed.")
            expired = threading.Event()
            timer: threading.Timer | None = None
            if timeout is not None:
                timer = threading.Timer(timeout, self._expire, [expired])
                timer.daemon = True
                timer.start()
            try:
                write_frame(cast(BinaryIO, self._process.stdin), header, payload)
                reply, data = read_frame(
                    cast(BinaryIO, self._process.stdout), most=REPLY_LIMITS.get(self.kind, MAX_PAYLOAD)
                )
            except (WireError, OSError, ValueError) as error:
                self.kill()
                status = self._process.wait()
                if expired.is_set():
                    raise JobError("child-timeout", f"It took longer than {timeout:g} s.") from error
                raise JobError(
                    "child-died", f"The helper process ended unexpectedly (status {status}).", detail=self.last_words()
                ) from error
            finally:
                if timer is not None:
                    timer.cancel()
        problem = reply.get("error")
        if isinstance(problem, dict):
            raise JobError(
                str(problem.get("code", "child-refused")),
                str(problem.get("message", "")),
                str(problem.get("hint", "")),
                detail=str(problem.get("traceback", "")) or str(problem.get("type", "")),
            )
        return reply, data

    def last_words(self) -> str:
        """Gives the end of what the child wrote to standard error (4 kB at most)."""
        with contextlib.suppress(OSError, ValueError):
            size = self._errors.seek(0, os.SEEK_END)
            self._errors.seek(max(0, size - 4096))
            return self._errors.read().decode("utf-8", "replace")
        return ""

    def kill(self) -> None:
        """Ends the child and all programs that it started at once, also in the middle of a request."""
        if hasattr(os, "killpg") and self._process.returncode is None:
            with contextlib.suppress(OSError):  # it leads a session, and so a group, of its own
                os.killpg(self._process.pid, signal.SIGKILL)
        with contextlib.suppress(OSError):
            self._process.kill()

    def close(self) -> None:
        """Ends the child: first by closing its input, then by force. Idempotent."""
        if self._closed:
            return
        self._closed = True
        if self._lock.locked():
            self.kill()
        with contextlib.suppress(OSError, ValueError):
            if self._process.stdin is not None:
                self._process.stdin.close()
        try:
            self._process.wait(timeout=1.0)
        except subprocess.TimeoutExpired:
            self.kill()
            self._process.wait()
        with contextlib.suppress(OSError, ValueError):
            if self._process.stdout is not None:
                self._process.stdout.close()
        self._errors.close()

    def _expire(self, expired: threading.Event) -> None:
        expired.set()
        self.kill()


def spawn_child(kind: str, *, env: Mapping[str, str] | None = None, nice: int = 0) -> ChildProcess:
    """Starts a child of one kind; see :class:`ChildProcess`."""
    return ChildProcess(kind, env=env, nice=nice)
