"""The questions of no concern: encoded once for a model, and encoded again when their file is no good."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sbert_desktop.app import chance
from sbert_desktop.app.indexing import IndexRequest, run_index
from sbert_desktop.app.marking import find_marks
from sbert_desktop.app.searching import run_search
from sbert_desktop.app.session import Session
from sbert_desktop.domain import Query
from sbert_desktop.encoder import HashingEncoder
from sbert_desktop.jobs import NullContext


class CountingEncoder(HashingEncoder):
    asked = 0

    def encode_query(self, text):
        self.asked += 1
        return super().encode_query(text)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(chance, "model_cache", lambda: tmp_path / "cache")
    return tmp_path / "cache"


def opened(tmp_path: Path) -> Session:
    return Session(tmp_path / "library")


def test_questions_are_encoded_once_for_a_model(tmp_path: Path, cache: Path) -> None:
    encoder = CountingEncoder()
    session = opened(tmp_path)
    assert chance.known_chance(session, encoder) is None
    chance.prepare_chance(session, encoder)
    assert encoder.asked == len(chance.STRANGERS)
    first = chance.known_chance(session, encoder)
    chance.prepare_chance(session, encoder)
    again = opened(tmp_path)
    chance.prepare_chance(again, encoder)
    assert encoder.asked == len(chance.STRANGERS)
    assert chance.known_chance(session, encoder) is first
    assert [place.suffix for place in cache.iterdir()] == [".npy"]


@pytest.mark.parametrize("damage", ["empty", "cut", "zeros", "object"])
def test_a_damaged_file_is_made_again(tmp_path: Path, cache: Path, damage: str) -> None:
    encoder = CountingEncoder()
    chance.prepare_chance(opened(tmp_path), encoder)
    (place,) = cache.iterdir()
    if damage == "empty":
        place.write_bytes(b"")
    elif damage == "cut":
        place.write_bytes(place.read_bytes()[:-100])
    elif damage == "zeros":
        np.save(place, np.zeros_like(np.load(place)))
    else:
        np.save(place, np.array([{}]), allow_pickle=True)
    session = opened(tmp_path)
    assert chance.known_chance(session, encoder) is None
    chance.prepare_chance(session, encoder)
    assert chance.known_chance(session, encoder) is not None


def test_a_place_that_cannot_be_written_costs_the_next_start_only(tmp_path: Path, cache: Path) -> None:
    cache.write_text("a file where the folder should be")
    session = opened(tmp_path)
    chance.prepare_chance(session, CountingEncoder())
    assert chance.known_chance(session, CountingEncoder()) is not None


def test_the_first_answer_after_indexing_has_the_line_and_a_command_does_not_wait_for_it(
    session, folder, cache, monkeypatch
) -> None:
    run_index(session, IndexRequest((folder,)), NullContext())
    assert chance.known_chance(session, session.encoder()) is not None
    asked = []
    monkeypatch.setattr("sbert_desktop.app.marking.prepare_chance", lambda *_: asked.append(1))
    view = run_search(session, Query("water the tomatoes"))
    find_marks(session, view)
    assert asked == []
