"""What the command line writes: one JSON object, or plain lines; messages go to standard error."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from sbert_desktop.domain import display_path
from sbert_desktop.errors import SbertDesktopError


def prepare_streams() -> None:
    """Makes both streams UTF-8, so that no file name can stop a command in a C locale."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding="utf-8", errors="backslashreplace")


def silence() -> None:
    """After output failed: keeps Python from trying again, and complaining, at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def emit(result: Mapping[str, object]) -> None:
    """Writes the one JSON object of ``--json``."""
    _write(json.dumps(result, ensure_ascii=False, allow_nan=False) + "\n")
    flush()


def line(text: str = "") -> None:
    """Writes a line of the answer."""
    _write(text + "\n")


def flush() -> None:
    """Hands on what was written; not left to the end of Python, which could no longer report a failure."""
    with _reported():
        if sys.stdout is not None:
            sys.stdout.flush()


def say(text: str) -> None:
    """Writes a message beside the answer; that nobody can read it stops no command."""
    with contextlib.suppress(OSError, AttributeError):
        sys.stderr.write(f"sbert-desktop: {text}\n")
        sys.stderr.flush()


def fail(error: SbertDesktopError, as_json: bool) -> None:
    """Writes a known problem: one plain line, and an object where JSON was asked for."""
    say(str(error))
    if as_json:
        try:
            emit({"error": {"code": error.code, "message": error.message, "hint": error.hint}})
        except (OSError, SbertDesktopError):
            silence()


def _write(text: str) -> None:
    with _reported():
        if sys.stdout is None:
            raise OSError(errno.EBADF, "standard output is closed")
        sys.stdout.write(text)


@contextlib.contextmanager
def _reported() -> Iterator[None]:
    """Makes a known problem of an answer that cannot be written; a closed pipe stays what it is."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        silence()
        raise SbertDesktopError(
            "output-unwritable",
            f"The answer could not be written: {error.strerror or error}.",
            "See whether the disk is full, or send the answer elsewhere.",
        ) from error


def path_fields(path: Path | bytes) -> dict[str, str]:
    """Gives ``path``, and ``path_hex`` where the name is not UTF-8."""
    raw = os.fsencode(path)
    fields = {"path": display_path(raw)}
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        fields["path_hex"] = raw.hex()
    else:
        if fields["path"] != raw.decode("utf-8"):
            fields["path"] = raw.decode("utf-8")
    return fields


def one_line(text: str, width: int) -> str:
    """Gives text on one line, cut to a width."""
    flat = " ".join(text.split())
    return flat if len(flat) <= width else flat[: width - 3].rstrip() + "..."


def size_text(count: float) -> str:
    """Gives bytes as people read them."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if count < 1000 or unit == "GB":
            return f"{count:.0f} {unit}" if unit == "bytes" else f"{count:.1f} {unit}"
        count /= 1000
    return ""
