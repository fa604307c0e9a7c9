"""What the window remembers between two starts: one small JSON file.

It is read once, before the first paint, and written when the window closes (a few hundred bytes);
both are too small to be worth a thread. A damaged file counts as none.
"""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import cast

State = dict[str, object]


def load(file: Path) -> State:
    """Gives what was remembered, or nothing."""
    try:
        found = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return cast(State, found) if isinstance(found, dict) else {}


def save(file: Path, state: State) -> None:
    """Writes the state in one step; a full or read-only disk only costs the memory of it."""
    temporary = ""
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle, temporary = tempfile.mkstemp(dir=file.parent, prefix=".window-")
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            json.dump(state, stream, indent=1, sort_keys=True)
        os.replace(temporary, file)
    except OSError:
        if temporary:
            Path(temporary).unlink(missing_ok=True)


def section(state: State, key: str) -> State:
    """Gives a nested table, or an empty one."""
    found = state.get(key)
    return cast(State, found) if isinstance(found, dict) else {}


def numbers(state: State, key: str) -> list[int]:
    """Gives a list of whole numbers, or an empty one."""
    found = state.get(key)
    return [item for item in found if isinstance(item, int)] if isinstance(found, list) else []
