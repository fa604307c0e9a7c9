"""Commands in this process: everything real."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sbert_desktop.app import session as session_module
from tests import warm
from tests.patience import wait_for_disk_and_children


@pytest.fixture(autouse=True)
def _warm_children(monkeypatch) -> None:
    """Lets the extraction children of one test serve the next one."""
    monkeypatch.setattr(session_module, "spawn_child", warm.spawn_warm)


@pytest.fixture(autouse=True)
def _disk_and_children_are_waited_for(monkeypatch) -> None:
    wait_for_disk_and_children(monkeypatch)


@pytest.fixture(autouse=True, scope="session")
def _no_child_left() -> Iterator[None]:
    yield
    warm.end_all()
