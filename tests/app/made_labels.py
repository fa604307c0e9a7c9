"""A small made library to label in, and judgements made in it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from sbert_desktop.app.indexing import IndexRequest, run_index
from sbert_desktop.app.labelling import keep_label, propose_pairs
from sbert_desktop.app.session import Session
from sbert_desktop.app.training_views import PairView, Task
from sbert_desktop.jobs import NullContext
from sbert_desktop.settings import Settings

CONTEXT = NullContext()
_THINGS = ("compost", "tomatoes", "leeks", "beans", "pears", "roses", "hedge", "pond", "shed", "spade")
_DEEDS = ("turned over in March", "watered every second evening", "cut back after the first frost",
          "covered with straw before winter", "sown again under glass")  # fmt: skip


def write_notes(folder: Path, count: int = 40) -> Path:
    """Writes notes that are more and less alike, no two of them equal, and one copy of the first."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(count):
        thing, deed = _THINGS[number % 10], _DEEDS[number // 10 % 5]
        text = (
            f"# Note {number} on the {thing}\n\nThe {thing} were {deed}, as the neighbour of plot {number} told us.\n"
        )
        (folder / f"note-{number:03}.md").write_text(text, "utf-8")
    if count:
        (folder / "copy of note-000.md").write_bytes((folder / "note-000.md").read_bytes() + b"\n")
    return folder


def indexed(session: Session, folder: Path) -> Session:
    """Gives the session with a folder indexed."""
    run_index(session, IndexRequest((folder,)), CONTEXT)
    return session


def make_library(place: Path) -> Path:
    """Makes a library of notes, once for many tests: each takes a copy of it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SBERT_DESKTOP_ADVANCED_ENCODER", "hashing")
        session = Session(place / "library", Settings(place / "settings.toml"))
        indexed(session, write_notes(place / "notes")).close()
    return place / "library"


def session_on_copy(library: Path, place: Path, settings: Settings) -> Session:
    """Opens a copy of a library; close it."""
    shutil.copytree(library, place)
    session = Session(place, settings)
    session.encoder()
    return session


def judge_some(session: Session, count: int, task: Task = Task.SAME) -> tuple[PairView, ...]:
    """Judges so many proposed pairs, by turns one way and the other."""
    words = ("same", "different") if task is Task.SAME else ("relevant", "not relevant")
    pairs = propose_pairs(session, task, count, CONTEXT)
    for number, pair in enumerate(pairs):
        keep_label(session, pair, words[number % 2])
    return pairs
