"""Sessions on the hashing encoder: everything real but the model."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from sbert_desktop.app import session as session_module
from sbert_desktop.app.session import Session
from sbert_desktop.settings import Settings
from tests import warm
from tests.patience import wait_for_disk_and_children

TEXTS = {
    "garden/beds.md": "# Raised beds\n\nTurn the compost in March. Sow the broad beans as soon as the soil is warm.\n\n"
    "## Watering\n\nWater early in the morning, never on the leaves of the tomatoes.\n",
    "garden/tools.txt": "The spade hangs behind the door. Oil the shears before winter and sharpen the hoe.\n",
    "kitchen/bread.txt": "Knead the dough for ten minutes. Let the sourdough rest overnight in the cold cellar.\n",
    "kitchen/soup.html": "<html><head><title>Leek soup</title></head><body><h1>Leek soup</h1><p>Slice three leeks and "
    "stew them in butter. Add potatoes and stock.</p></body></html>",
    "letters/flat.eml": "From: Ada Moor <ada@example.org>\nTo: ben@example.org\nSubject: Keys of the flat\n"
    "Date: Tue, 14 Mar 2023 10:00:00 +0000\nContent-Type: text/plain; charset=utf-8\n\n"
    "The deposit comes back within thirty days after the keys are handed over.\n",
    "code/tide.py": '"""Tide tables."""\n\n\ndef height(hours):\n    """Gives the height of the water in metres."""\n'
    "    return 2.0 + 1.5 * hours\n",
}


@pytest.fixture(autouse=True)
def _warm_children(monkeypatch) -> None:
    """Lets the extraction children of one test serve the next one."""
    monkeypatch.setattr(session_module, "spawn_child", warm.spawn_warm)


@pytest.fixture(autouse=True)
def _folders_are_looked_at_once(monkeypatch) -> None:
    """Where watches take long to add the folder is looked at once more, and each file counted twice."""
    monkeypatch.setattr("sbert_desktop.app.watching._BLIND", 3600.0)


@pytest.fixture(autouse=True)
def _disk_and_children_are_waited_for(monkeypatch) -> None:
    wait_for_disk_and_children(monkeypatch)


@pytest.fixture(autouse=True, scope="session")
def _no_child_left() -> Iterator[None]:
    yield
    warm.end_all()


@pytest.fixture
def settings(tmp_path, monkeypatch) -> Settings:
    monkeypatch.setenv("SBERT_DESKTOP_ADVANCED_ENCODER", "hashing")
    return Settings(tmp_path / "settings.toml")


@pytest.fixture
def folder(tmp_path) -> Path:
    root = tmp_path / "docs"
    for name, text in TEXTS.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


@pytest.fixture
def session(tmp_path, settings):
    session = Session(tmp_path / "library", settings)
    yield session
    session.close()


@pytest.fixture
def held(monkeypatch) -> Iterator[threading.Event]:
    """Holds back the last hundred files of a run of more until the event is set: it cannot be over too soon."""
    from sbert_desktop.extraction import ExtractionPool

    go_on, results = threading.Event(), ExtractionPool.results

    def until_told(self, files, context):
        last = len(files) - 100
        for number, item in enumerate(results(self, files, context)):
            while number >= last > 0 and not go_on.is_set():
                context.check()
                go_on.wait(0.05)
            yield item

    monkeypatch.setattr(ExtractionPool, "results", until_told)
    yield go_on
    go_on.set()


@pytest.fixture
def very_deep(tmp_path) -> Iterator[tuple[Path, bytes]]:
    """Gives a folder and the innermost of some two thousand folders in it; takes them away again.

    What removes temporary folders goes down by recursion and could not.
    """
    root = os.fsencode(tmp_path / "deep")
    place = root
    os.mkdir(place)
    while len(place) < 4000:
        place += b"/d"
        os.mkdir(place)
    yield tmp_path / "deep", place
    while len(place) >= len(root):
        for name in os.listdir(place):
            os.unlink(os.path.join(place, name))
        os.rmdir(place)
        place = os.path.dirname(place)
