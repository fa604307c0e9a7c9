"""Another model, or none for a while: nothing hides, nothing is read twice, and the state is told."""

from __future__ import annotations

import pytest

from sbert_desktop.app.indexing import IndexRequest, run_index
from sbert_desktop.app.searching import run_search
from sbert_desktop.app.session import Session
from sbert_desktop.domain import Mode, Query
from sbert_desktop.encoder import HashingEncoder, opening
from sbert_desktop.jobs import NullContext


@pytest.fixture
def library(tmp_path, settings):
    """Opens a session of its own for each run, as processes do."""

    def run(work):
        session = Session(tmp_path / "library", settings)
        try:
            return work(session)
        finally:
            session.close()

    return run


def update(*folders):
    return lambda session: run_index(session, IndexRequest(folders), NullContext())


def names(text, mode=Mode.HYBRID):
    def work(session):
        view = run_search(session, Query(text, mode=mode))
        return [document.path.name for document in view.documents], " ".join(view.notes)

    return work


@pytest.fixture
def no_model(monkeypatch):
    """Gives a switch that takes the model away, and brings it back."""

    def switch(gone: bool) -> None:
        monkeypatch.setenv("SBERT_DESKTOP_ADVANCED_ENCODER", "auto" if gone else "hashing")

    monkeypatch.setattr(opening, "default_model_dir", lambda: None)
    return switch


def other_encoder(monkeypatch) -> None:
    other = HashingEncoder(dimension=128, max_tokens=64, name="other")  # it cuts texts in another way, too
    monkeypatch.setattr("sbert_desktop.encoder.hashing.HashingEncoder", lambda: other)


def test_update_with_another_encoder_brings_all_texts_to_it(library, folder, monkeypatch):
    library(update(folder))
    with monkeypatch.context() as patch:
        other_encoder(patch)
        report = library(update())
        assert (report.added, report.unchanged) == (0, 6)
        assert report.encoded_passages == report.passages
        (folder / "late.txt").write_text("The ferry to the island leaves at dawn.")
        library(update())
    found, notes = library(names("ferry to the island"))
    assert "late.txt" not in found
    assert "another model" in notes
    report = library(update())
    assert (report.added, report.encoded_passages) == (0, 1)
    found, notes = library(names("ferry to the island"))
    assert found[0] == "late.txt"
    assert notes == ""


def test_change_of_encoder_that_was_killed_is_finished_by_the_next_update(library, folder, monkeypatch):
    library(update(folder))
    other_encoder(monkeypatch)

    def begin(session):
        encoder = session.encoder()
        with session.library.writer() as writer:
            writer.use_space(encoder.info, encoder.tokenizer.key, session.rules(encoder))

    library(begin)
    report = library(update())
    assert report.unchanged == 6
    assert report.encoded_passages == report.passages > 0
    assert library(names("sourdough", Mode.KEYWORD))[0] == ["bread.txt"]


def test_missing_model_hides_no_old_text_and_later_needs_no_second_reading(library, folder, no_model):
    library(update(folder))
    no_model(True)
    (folder / "late.txt").write_text("The ferry to the island leaves at dawn.")
    report = library(update())
    assert report.added == 1
    assert any("not installed" in notice for notice in report.notices)
    assert library(names("sourdough"))[0] == ["bread.txt"]
    assert library(names("ferry"))[0] == ["late.txt"]
    no_model(False)
    report = library(update())
    assert (report.added, report.changed, report.encoded_passages) == (0, 0, 1)
    assert library(names("sourdough cellar", Mode.SEMANTIC))[0][0] == "bread.txt"
    assert library(names("ferry island", Mode.SEMANTIC))[0][0] == "late.txt"


def test_missing_model_leaves_an_unchanged_library_as_it_is(library, folder, no_model):
    library(update(folder))
    before = library(lambda session: session.library.active_space())
    no_model(True)
    library(update())
    assert library(lambda session: session.library.active_space()) == before
