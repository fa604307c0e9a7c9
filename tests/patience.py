"""What the program waits for on a disk that answers in microseconds, and tests on a machine that may stand still."""

from __future__ import annotations

import pytest

from sbert_desktop.app import rendering
from sbert_desktop.app import session as session_module
from sbert_desktop.app.presence import Presence

SECONDS = 60.0


def wait_for_disk_and_children(patch: pytest.MonkeyPatch) -> None:
    """Lets a machine that stalls show no file as offline, and no page as one that cannot be drawn."""
    patch.setattr(session_module, "Presence", lambda: Presence(SECONDS))
    patch.setattr(rendering, "_SECONDS", SECONDS)
