"""What an extraction child may not do: set once, at its start, before it sees a file."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

MEMORY_MB = 2048
"""Address space of a child. Source: RELIABILITY R1."""
DESCRIPTORS = 64
_NETWORK = frozenset((
    "socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr", "socket.bind",
    "socket.sendto", "socket.sendmsg", "webbrowser.open", "ftplib.connect", "urllib.Request", "smtplib.connect",
))
_REFUSED = frozenset((
    "subprocess.Popen", "os.system", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.startfile",
    "os.remove", "os.rename", "os.rmdir", "os.truncate", "os.mkdir", "shutil.rmtree", "pty.spawn",
    "resource.setrlimit",
))
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


_own_files = 0


@contextmanager
def own_files() -> Iterator[None]:
    """Lets this package's own code write and start programs; the network stays refused.

    For a library that unpacks its model into a temporary file, and for :mod:`_programs`.
    """
    global _own_files
    _own_files += 1
    try:
        yield
    finally:
        _own_files -= 1


def set_limits() -> None:
    """Limits memory, open files and core dumps (POSIX) and refuses network, programs and writing.

    The refusals are an audit hook: it cannot be taken back by whatever runs in this process later. Memory and open
    files are soft limits, because LibreOffice needs more of both (it gets its own); the hook keeps them in place.
    ``SBERT_DESKTOP_CHILD_MEMORY_MB`` sets the memory (Linux; elsewhere the parent watches).
    """
    if sys.platform != "win32":
        import resource

        _lower(resource.RLIMIT_CORE, 0)
        _lower(resource.RLIMIT_NOFILE, DESCRIPTORS)
        if sys.platform == "linux":
            megabytes = int(os.environ.get("SBERT_DESKTOP_CHILD_MEMORY_MB", str(MEMORY_MB)))
            _lower(resource.RLIMIT_AS, megabytes * 1024 * 1024)
    sys.addaudithook(_refuse)


def _lower(kind: int, value: int) -> None:
    import resource

    _, hard = resource.getrlimit(kind)
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
    try:
        resource.setrlimit(kind, (value, value if kind == resource.RLIMIT_CORE else hard))
    except (ValueError, OSError) as error:
        print(f"limit {kind} could not be set: {error}", file=sys.stderr)


def _refuse(event: str, arguments: tuple[object, ...]) -> None:
    if event in _NETWORK:
        raise PermissionError(f"{event} is not allowed in a reader of files")
    if _own_files:
        return
    if event in _REFUSED:
        raise PermissionError(f"{event} is not allowed in a reader of files")
    if event == "open" and len(arguments) > 2 and isinstance(arguments[2], int) and arguments[2] & _WRITING:
        path = arguments[0]
        if path != os.devnull and not isinstance(path, int):
            raise PermissionError("a reader of files may not write")
