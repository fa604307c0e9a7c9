"""Spaces when others interfere: another process, a model that fails, a disk that is full, files that are damaged."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from pathlib import Path

import numpy as np
import pytest

from sbert_desktop.app import duplicates, having, quoting, shared, spaces
from sbert_desktop.app.doctor import run_doctor
from sbert_desktop.app.searching import run_search
from sbert_desktop.app.session import Session
from sbert_desktop.cleanup import DuplicateQuery
from sbert_desktop.domain import Mode, Query
from sbert_desktop.encoder.store import find_model
from sbert_desktop.errors import EncoderError, LibraryError
from sbert_desktop.explore.near_pairs import near_pairs
from sbert_desktop.jobs import NullContext
from sbert_desktop.settings import Settings
from tests.app.made_models import Made
from tests.app.test_spaces import (
    ASKED,
    OWN,
    Watch,
    answers,
    fingerprint,
    folder,
    index,
    made,
    session,
    small_steps,
    sound,
    states,
)

__all__ = ["folder", "made", "session"]  # fixtures
pytestmark = pytest.mark.model
SHEARS = Query(ASKED[0], mode=Mode.SEMANTIC)


def another(session: Session, tmp_path: Path) -> Session:
    """Opens the library once more, as another process does."""
    return Session(session.library_path, Settings(tmp_path / "settings.toml"))


def switched_by_another(session: Session, tmp_path: Path, *, forgets: bool = False) -> None:
    """Has the library come to "mine" while this session holds its own model open."""
    run_search(session, SHEARS)
    other = another(session, tmp_path)
    try:
        spaces.adopt(other, "mine")
        index(other)
        if forgets:
            spaces.remove_space(other, fingerprint(OWN))
    finally:
        other.close()


# ------------------------------------------------------------ another process


@pytest.mark.parametrize(("name", "state"), [("long", "building"), (OWN, "in use"), ("mine", "in use")])
def test_what_is_chosen_after_another_process_has_switched_is_chosen(session, tmp_path, name, state):
    switched_by_another(session, tmp_path)
    spaces.adopt(session, name)
    assert states(session)[name] == state
    if state == "in use":
        assert session.encoder().info.name == name
        assert session.library.wanted_space() is None


def test_a_space_that_another_process_has_left_and_removed_is_left_here_too(session, tmp_path):
    switched_by_another(session, tmp_path, forgets=True)
    run_search(session, SHEARS)  # by words: the vectors of its model are gone
    assert session.encoder().info.name == "mine"
    view = run_search(session, SHEARS)
    assert view.notes == ()
    assert view.documents[0].path.name == "tools.txt"


def test_another_process_is_followed_to_the_same_space_again_and_again(session, tmp_path):
    for _ in range(2):
        switched_by_another(session, tmp_path)
        run_search(session, SHEARS)
        assert session.encoder().info.name == "mine"
        spaces.roll_back(session, fingerprint(OWN))
        assert session.encoder().info.name == OWN


def test_a_space_that_is_not_wanted_any_more_is_not_prepared_to_its_end(session, tmp_path, monkeypatch):
    small_steps(monkeypatch)
    spaces.adopt(session, "mine")
    watch = Watch(5, lambda: session.library.want_space(None))
    report = index(session, watch)
    assert 5 <= report.encoded_passages < watch.seen[-1][1] / 2
    assert report.preparing == ""
    assert states(session) == {OWN: "in use", "mine": "kept"}


def test_where_another_space_is_wanted_meanwhile_the_same_run_prepares_that_one(session, tmp_path, monkeypatch):
    small_steps(monkeypatch)
    spaces.adopt(session, "mine")

    def another_wish() -> None:
        other = another(session, tmp_path)
        spaces.adopt(other, "long")
        other.close()

    index(session, Watch(5, another_wish))
    assert states(session) == {"long": "in use", OWN: "kept", "mine": "kept"}
    part = next(view for view in spaces.list_spaces(session) if view.name == "mine")
    assert 0 < part.passages < part.of
    assert sound(session)


def test_going_back_to_a_space_that_is_on_its_way_changes_nothing(session):
    spaces.adopt(session, "mine")
    assert states(session) == {OWN: "in use", "mine": "building"}
    spaces.roll_back(session, fingerprint("mine"))
    assert states(session) == {OWN: "in use", "mine": "building"}


# ------------------------------------------------------------ models that fail, or come and go


def fails(name: str) -> None:
    if name == "mine":
        raise EncoderError("model-failed", "The model could not go on.", "Try again.")


def test_a_model_that_fails_in_the_middle_is_told_and_the_run_is_none_the_worse(session, monkeypatch):
    before = answers(session)
    spaces.adopt(session, "mine")
    monkeypatch.setattr(Made, "pace", staticmethod(fails))
    report = index(session)
    assert report.notices == (f"The model could not go on. The library stays with {OWN}.",)
    assert report.preparing == ""
    assert answers(session) == before
    monkeypatch.setattr(Made, "pace", staticmethod(lambda name: None))
    index(session)
    assert states(session)["mine"] == "in use"


@pytest.mark.parametrize("name", [OWN, "mine"])
def test_vectors_that_are_no_numbers_are_the_models_fault_and_get_nowhere(session, folder, monkeypatch, name):
    whole = Made.encode_passages
    before = answers(session)

    def broken(self, texts, context=None):
        vectors = whole(self, texts, context)
        return vectors * np.float32(np.nan) if self.info.name == name else vectors

    monkeypatch.setattr(Made, "encode_passages", broken)
    if name == OWN:
        (folder / "late.txt").write_text("The ferry to the island leaves at dawn.")
        with pytest.raises(EncoderError, match="numbers that are none"):
            index(session)
    else:
        spaces.adopt(session, name)
        assert "numbers that are none" in index(session).notices[0]
        assert answers(session) == before
    assert states(session)[OWN] == "in use"
    assert sound(session)


def test_a_model_that_was_away_serves_again_in_the_same_session(session, tmp_path):
    spaces.adopt(session, "mine")
    index(session)
    session.close()
    place = find_model("mine")
    shutil.move(place, tmp_path / "away")
    Settings(tmp_path / "settings.toml").set("models.encoder", "")
    again = another(session, tmp_path)
    try:
        assert again.models.name() == ""
        shutil.move(tmp_path / "away", place)
        assert again.models.name() == "mine"
        assert run_search(again, SHEARS).notes == ()
    finally:
        again.close()


def test_settings_that_cannot_be_written_keep_nobody_from_going_back(session, monkeypatch):
    spaces.adopt(session, "mine")
    index(session)

    def refuses(settings: Settings) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(Settings, "_save", refuses)
    assert spaces.roll_back(session, fingerprint(OWN))[0].name == OWN
    assert states(session)[OWN] == "in use"
    assert "Read-only file system" in session.notices()[-1]
    assert spaces.adopt(session, "mine")[0].name == "mine"


# ------------------------------------------------------------ damage, and no room


@pytest.mark.parametrize("name", ["mine", "long"])
def test_a_text_that_is_missing_holds_nobody_up(session, name):
    spaces.adopt(session, name)
    with sqlite3.connect(session.library_path / "catalog.sqlite") as connection:
        connection.execute("DELETE FROM text_part WHERE content=3")
    index(session)
    assert states(session)[name] == "in use"
    spaces.roll_back(session, fingerprint(OWN))
    assert index(session).encoded_passages == 0


@pytest.mark.parametrize("said", ["null", "[]", "{}", '"x"', "{", '{"model": 1}'])
def test_a_wish_that_cannot_be_read_is_none(session, said):
    with sqlite3.connect(session.library_path / "catalog.sqlite") as connection:
        connection.execute("INSERT OR REPLACE INTO meta VALUES('wanted-space', ?)", (said,))
    assert states(session) == {OWN: "in use"}
    assert index(session).preparing == ""
    spaces.adopt(session, "mine")
    assert json.loads(json.dumps(states(session)))["mine"] == "building"


class Full(sqlite3.OperationalError):
    """What SQLite says of a disk that is full."""

    sqlite_errorcode = sqlite3.SQLITE_FULL
    sqlite_errorname = "SQLITE_FULL"


def test_a_disk_that_is_full_while_preparing_or_at_the_switch_leaves_the_old_model(session, monkeypatch):
    from sbert_desktop.library import _disk, _spaces

    small_steps(monkeypatch)
    before = answers(session)
    spaces.adopt(session, "mine")
    commits = []

    def full(path: Path) -> None:
        commits.append(path)
        if len(commits) > 5:
            raise _disk.disk_full(path)

    with monkeypatch.context() as patch:
        patch.setattr(_disk, "check_room", full)
        with pytest.raises(LibraryError, match="almost full"):
            index(session)
    activate = _spaces.activate

    def no_room(*values) -> None:
        activate(*values)
        raise Full

    with monkeypatch.context() as patch:
        patch.setattr(_spaces, "activate", no_room)
        with pytest.raises(LibraryError, match="almost full"):
            index(session)
        assert answers(session) == before
        assert states(session) == {OWN: "in use", "mine": "building"}
    assert index(session).encoded_passages == 0
    after = answers(session)
    with monkeypatch.context() as patch:
        patch.setattr(_spaces, "activate", no_room)
        with pytest.raises(LibraryError, match="almost full"):
            spaces.roll_back(session, fingerprint(OWN))
    assert answers(session) == after
    assert states(session)["mine"] == "in use"
    assert sound(session)


# ------------------------------------------------------------ nothing of another space


def test_passages_that_stand_in_several_documents_are_never_those_of_another_space(session):
    duplicates.find(session, NullContext())
    spaces.adopt(session, "long")
    index(session)
    snapshot, pairs = duplicates.passage_pairs(session, NullContext())
    alone = near_pairs(snapshot.vectors, snapshot.alive, floor=duplicates.FLOOR, context=NullContext())
    assert pairs.rows == len(snapshot.vectors)
    assert pairs.cosine.tolist() == alone.cosine.tolist()


@pytest.mark.parametrize("asks", ["have", "quotes", "shared"])
def test_a_switch_in_the_middle_mixes_no_spaces(session, tmp_path, monkeypatch, asks):
    """The other model comes into force as soon as a state of the library was taken."""
    draft = tmp_path / "draft.txt"
    draft.write_text('He wrote: "Oil the shears and the spade before the winter comes, every single year", and left.')
    spaces.adopt(session, "long")
    index(session)
    spaces.roll_back(session, fingerprint(OWN))
    taken = []
    state_of = type(session.library).snapshot

    def take(library, space):
        snapshot = state_of(library, space)
        if not taken:
            taken.append(space)
            spaces.roll_back(session, fingerprint("long"))
        return snapshot

    monkeypatch.setattr(type(session.library), "snapshot", take)
    if asks == "have":
        having.run_have(session, draft, NullContext())
    elif asks == "quotes":
        quoting.run_quotes(session, draft, NullContext())
    else:
        found = shared.run_shared_passages(session, DuplicateQuery(), NullContext())
        for one in found:
            texts = {text for *_, text in one.places}
            assert len({text.split(" line ")[0][:4] for text in texts}) == 1
    assert taken == [fingerprint(OWN)]
    assert session.encoder().info.name == "long"


def test_the_doctor_finds_and_mends_what_is_damaged_in_a_kept_space(session, tmp_path):
    before = answers(session)
    spaces.adopt(session, "mine")
    index(session)
    session.close()
    vectors = next((session.library_path / "spaces" / fingerprint(OWN)).glob("vectors-*"))
    with open(vectors, "r+b") as stream:
        stream.seek(-256 * 4, os.SEEK_END)
        stream.write(b"\xff" * 256 * 4)  # the last row
    again = another(session, tmp_path)
    try:
        wrong = [check for check in run_doctor(again, NullContext()) if not check.ok]
        assert [check.detail for check in wrong] == [f"{OWN}, which is kept: 1 vector is damaged"]
        assert all(check.ok for check in run_doctor(again, NullContext(), repair=True))
        spaces.roll_back(again, fingerprint(OWN))
        assert index(again).encoded_passages >= 1
        assert answers(again) == before
        assert sound(again)
    finally:
        again.close()


def test_a_kept_space_whose_vectors_are_gone_is_made_again_before_it_serves(session, tmp_path):
    before = answers(session)
    spaces.adopt(session, "mine")
    index(session)
    after = answers(session)
    session.close()
    shutil.rmtree(session.library_path / "spaces" / fingerprint(OWN))
    again = another(session, tmp_path)
    try:
        wrong = [check for check in run_doctor(again, NullContext()) if not check.ok]
        assert wrong
        assert all(OWN in check.detail or "vectors file" in check.detail for check in wrong)
        spaces.roll_back(again, fingerprint(OWN))
        assert states(again) == {"mine": "in use", OWN: "building"}
        assert answers(again) == after
        index(again)
        assert states(again)[OWN] == "in use"
        assert answers(again) == before
        assert sound(again)
    finally:
        again.close()


def test_more_like_a_passage_of_another_cut_is_not_told_as_an_answer_by_words(session):
    hit = run_search(session, SHEARS).documents[0].hits[0]
    spaces.adopt(session, "long")
    index(session)
    more = Query(ASKED[0], mode=Mode.SEMANTIC, more=(hit.passage_id,))
    view = run_search(session, more)
    assert [note.split(";")[0] for note in view.notes] == [
        "The passages to have more or less of are cut in another way by now"
    ]
    assert view.documents[0].hits[0].cosine is not None
    spaces.roll_back(session, fingerprint(OWN))
    assert run_search(session, more).notes == ()
