"""What the command line writes: one JSON object, or plain lines; messages go to standard error."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
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
    """After a broken pipe: keeps Python from complaining at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def emit(result: Mapping[str, object]) -> None:
    """Writes the one JSON object of ``--json``."""
    sys.stdout.write(json.dumps(result, ensure_ascii=False, allow_nan=False) + "\n")
    sys.stdout.flush()


def line(text: str = "") -> None:
    """Writes a line of the answer."""
    sys.stdout.write(text + "\n")


def say(text: str) -> None:
    """Writes a message beside the answer."""
    sys.stderr.write(f"sbert-desktop: {text}\n")
    sys.stderr.flush()


def fail(error: SbertDesktopError, as_json: bool) -> None:
    """Writes a known problem: one plain line, and an object where JSON was asked for."""
    say(str(error))
    if as_json:
        emit({"error": {"code": error.code, "message": error.message, "hint": error.hint}})


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
