from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sbert_desktop.library import Library, open_library


@pytest.fixture(autouse=True)
def _any_free_space(monkeypatch: pytest.MonkeyPatch) -> None:
    """Disks of test machines may be small; tests of a full disk set their own limit."""
    monkeypatch.setenv("SBERT_DESKTOP_MIN_FREE_MB", "1")


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    with open_library(tmp_path / "library") as opened:
        yield opened
