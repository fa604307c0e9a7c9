"""The small files of a training: read leniently, written so that a kill never leaves half of one."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping
from pathlib import Path


def read_json(path: Path) -> dict[str, object] | None:
    """Gives the object of a JSON file, None where there is none that can be read."""
    try:
        found = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def write_json(path: Path, value: Mapping[str, object], *, private: bool = False, finite: bool = False) -> None:
    """Writes a JSON file as a whole or not at all.

    Args:
        path: The file; one that is there is replaced.
        value: What it is to hold.
        private: For its owner only.
        finite: NaN and infinity are errors in it.

    Raises:
        OSError: It cannot be written.
        ValueError: A number is not finite.
    """
    part = path.with_name(f".{path.name}.part")
    with contextlib.suppress(OSError):
        part.unlink()
    handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600 if private else 0o666)
    with os.fdopen(handle, "w", encoding="utf-8") as stream:
        json.dump(value, stream, allow_nan=not finite)
        stream.flush()
        os.fsync(stream.fileno())
    os.replace(part, path)
