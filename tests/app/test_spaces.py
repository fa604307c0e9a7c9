"""Another model is adopted: prepared while the old one answers, it takes over as a whole, and can be left again."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from sbert_desktop.app import models, spaces
from sbert_desktop.app.indexing import IndexRequest, run_index
from sbert_desktop.app.overview import library_view
from sbert_desktop.app.searching import run_search
from sbert_desktop.app.session import Session
from sbert_desktop.app.waiting import Waiting
from sbert_desktop.cli import main
from sbert_desktop.domain import Mode, Outcome, Query
from sbert_desktop.encoder.models import BUNDLED_NAME as OWN
from sbert_desktop.errors import Cancelled, EncoderError, LibraryError, UsageError
from sbert_desktop.jobs import NullContext
from sbert_desktop.settings import Settings
from tests.app.conftest import TEXTS
from tests.app.made_models import Made, named, use_made
from tests.app.test_models import make
from tests.events import Inbox

pytestmark = pytest.mark.model
MORE = 30
SECONDS = 60
ASKED = ("oil the shears before winter", "the deposit and the keys", "note 7 about the weir")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Documents, a library that was indexed once, and two more models."""
    root = tmp_path_factory.mktemp("made")
    for name, text in TEXTS.items():
        (root / "docs" / name).parent.mkdir(parents=True, exist_ok=True)
        (root / "docs" / name).write_text(text, encoding="utf-8")
    for number in range(MORE):
        words = " ".join(f"Note {number} line {line} is about the weir and the mill." for line in range(number % 9 + 1))
        (root / "docs" / f"note{number}.txt").write_text(words)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SBERT_DESKTOP_HOME", str(root / "home"))
        patch.setenv("SBERT_DESKTOP_MIN_FREE_MB", "1")
        use_made(patch.setattr)
        opened = Session(root / "library", Settings(root / "settings.toml"))
        for name in ("mine", "long"):
            models.add_model(opened, str(make(root / name)), NullContext())
        run_index(opened, IndexRequest((root / "docs",)), NullContext())
        opened.close()
    return root


@pytest.fixture
def folder(made: Path):
    yield made / "docs"
    (made / "docs" / "late.txt").unlink(missing_ok=True)


@pytest.fixture
def session(tmp_path: Path, made: Path, folder: Path, monkeypatch: pytest.MonkeyPatch):
    for name in ("home", "library"):
        shutil.copytree(made / name, tmp_path / name)
    monkeypatch.setenv("SBERT_DESKTOP_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("SBERT_DESKTOP_MIN_FREE_MB", "1")
    use_made(monkeypatch.setattr)
    monkeypatch.setattr(Made, "pace", staticmethod(lambda name: None))
    opened = Session(tmp_path / "library", Settings(tmp_path / "settings.toml"))
    yield opened
    opened.close()


def fingerprint(name: str) -> str:
    return Made(name).info.fingerprint


def index(session: Session, context=None, **more):
    return run_index(session, IndexRequest(), context or NullContext(), **more)


def answers(session: Session) -> list[tuple]:
    """What searches show, every score to the last bit."""
    out = []
    for text in ASKED:
        for mode in Mode:
            for document in run_search(session, Query(text, mode=mode)).documents:
                out += [(document.path, hit.score, hit.cosine, hit.bm25, hit.text) for hit in document.hits]
    return out


def states(session: Session) -> dict[str, str]:
    return {view.name: view.state for view in spaces.list_spaces(session)}


def sound(session: Session) -> bool:
    return not any(count for name, count in session.library.integrity().items() if name.startswith("bad_"))


class Watch(NullContext):
    """Calls a function when a space is being prepared and so many of its passages are there."""

    def __init__(self, at: int, call) -> None:
        super().__init__()
        self.at, self.call = at, call
        self.seen: list[tuple[int, int]] = []

    def progress(self, phase, done, total, detail="") -> None:
        if phase.startswith("Preparing ") and total:
            self.seen.append((done, total))
            if done >= self.at and self.call is not None:
                call, self.call = self.call, None
                call()


def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sbert_desktop.app.embedding._ENCODE_CHARS_CONSOLE", 400)
    monkeypatch.setattr("sbert_desktop.app.reporting._REPORT_SECONDS", 0.0)


@pytest.mark.parametrize("name", ["mine", "long"])
def test_the_old_model_answers_until_the_new_one_has_read_everything(session, folder, monkeypatch, name):
    small_steps(monkeypatch)
    before = answers(session)
    listed = spaces.adopt(session, name)
    assert [(view.name, view.state, view.passages) for view in listed] == [
        (OWN, "in use", listed[0].of), (name, "building", 0)]  # fmt: skip
    assert answers(session) == before

    def meanwhile() -> None:
        assert answers(session) == before
        assert states(session) == {OWN: "in use", name: "building"}
        assert spaces.kept_whole(session) == frozenset()
        assert library_view(session).preparing.startswith(f"Preparing {name}: ")
        assert library_view(session).model.name == OWN

    watch = Watch(5, meanwhile)
    report = index(session, watch)
    assert watch.call is None
    assert watch.seen[-1][0] == watch.seen[-1][1]
    assert (report.added, report.preparing) == (0, "")
    assert report.encoded_passages == report.passages > 0
    assert states(session) == {name: "in use", OWN: "kept"}
    assert session.encoder().info.name == session.settings.text(models.ENCODER) == name
    assert [view.name for view in models.list_models(session) if view.active] == [name]
    after = answers(session)
    assert after != before
    assert {row[0].name for row in after if row[2] is not None} >= {"tools.txt", "flat.eml"}
    assert library_view(session).preparing == ""
    listed = spaces.roll_back(session, fingerprint(OWN))
    assert (listed[0].name, listed[0].state, session.encoder().info.name) == (OWN, "in use", OWN)
    assert spaces.kept_whole(session) == {name}
    assert answers(session) == before
    assert index(session).encoded_passages == 0
    assert answers(session) == before
    listed = spaces.adopt(session, name)  # kept and complete: at once, too
    assert (listed[0].name, listed[0].state) == (name, "in use")
    assert answers(session) == after
    assert sound(session)


@pytest.mark.parametrize("name", ["mine", "long"])
def test_a_file_that_comes_meanwhile_is_found_by_the_old_model_first_and_by_both_later(
    session, folder, monkeypatch, name
):
    small_steps(monkeypatch)
    before = answers(session)
    waiting, held = Waiting(), []
    late = folder / "late.txt"

    def comes() -> None:
        late.write_text("The ferry to the island leaves at dawn.")
        waiting.note([late])

    def look(encoding: str) -> None:
        if encoding == name and late.exists():
            held.append(session.library.pending_count(fingerprint(OWN))[1])

    spaces.adopt(session, name)
    monkeypatch.setattr(Made, "pace", staticmethod(look))
    index(session, Watch(5, comes), waiting=waiting)
    ferry = Query("ferry to the island", mode=Mode.SEMANTIC)
    assert run_search(session, ferry).documents[0].path == late
    assert len(held) > 2
    assert held[-1] == 0
    spaces.roll_back(session, fingerprint(OWN))
    assert run_search(session, ferry).documents[0].path == late  # it got into the old one as well
    late.unlink()
    index(session)
    assert answers(session) == before
    assert sound(session)


def test_after_going_back_what_came_meanwhile_is_read_by_the_old_model(session, folder):
    spaces.adopt(session, "long")
    index(session)
    (folder / "late.txt").write_text("The ferry to the island leaves at dawn.")
    index(session)
    semantic = Query("oil the shears before winter", mode=Mode.SEMANTIC)
    spaces.roll_back(session, fingerprint(OWN))
    assert run_search(session, semantic).documents[0].path.name == "tools.txt"
    report = index(session)
    assert (report.added, report.encoded_passages) == (0, 1)
    assert run_search(session, Query("ferry island", mode=Mode.SEMANTIC)).documents[0].path.name == "late.txt"
    assert sound(session)


@pytest.mark.parametrize("name", ["mine", "long"])
def test_a_kept_space_that_is_far_behind_is_prepared_before_it_serves_again(session, folder, name):
    spaces.adopt(session, name)
    index(session)
    spaces.roll_back(session, fingerprint(OWN))
    late = folder / "late.txt"
    late.write_text("\n\n".join(f"Part {number} of the tale of the ferry. " * 60 for number in range(9)))
    with session.library.writer() as writer:  # most of what the library holds came after it
        known = session.library.known_files(session.library.folders()[0].id)
        writer.remove([file.id for path, file in known.items() if b"note" in path])
    run_index(session, IndexRequest(only=(late,)), NullContext())
    assert spaces.list_spaces(session)[1].state == "kept"
    assert {view.name: view.state for view in spaces.adopt(session, name)} == {OWN: "in use", name: "building"}


def test_a_run_that_is_cancelled_leaves_the_old_model_and_is_taken_up_where_it_stopped(session, monkeypatch):
    small_steps(monkeypatch)
    before = answers(session)
    spaces.adopt(session, "mine")

    def cancel() -> None:
        raise Cancelled

    with pytest.raises(Cancelled):
        index(session, Watch(10, cancel))
    building = next(view for view in spaces.list_spaces(session) if view.state == "building")
    assert 10 <= building.passages < building.of
    assert answers(session) == before
    assert index(session).encoded_passages == building.of - building.passages
    assert states(session) == {"mine": "in use", OWN: "kept"}


def test_the_model_in_use_chosen_again_ends_the_preparation_and_keeps_what_is_there(session, monkeypatch):
    small_steps(monkeypatch)
    spaces.adopt(session, "mine")
    assert models.changes_encoder(session, OWN)
    assert not models.changes_encoder(session, "mine")
    report = index(session, Watch(10, lambda: spaces.adopt(session, OWN)))
    assert session.encoder().info.name == OWN
    assert states(session) == {OWN: "in use", "mine": "kept"}
    assert index(session).encoded_passages == 0
    part = spaces.list_spaces(session)[1]
    spaces.roll_back(session, part.fingerprint)  # never complete: it is prepared further
    assert states(session) == {OWN: "in use", "mine": "building"}
    assert index(session).encoded_passages == part.of - part.passages
    assert report.encoded_passages >= 10


def test_spaces_and_the_models_that_they_need_are_removed_only_when_nothing_uses_them(session, tmp_path):
    spaces.adopt(session, "mine")
    with pytest.raises(EncoderError, match="prepares"):
        models.remove_model(session, "mine")
    assert states(spaces_removed(session, "mine")) == {OWN: "in use"}  # it was not even begun
    spaces.adopt(session, "mine")
    index(session)
    assert spaces.kept_model_names(session) == {OWN, "mine"}
    with pytest.raises(EncoderError) as caught:
        models.remove_model(session, "mine")
    assert caught.value.code == "model-in-use"
    with pytest.raises(LibraryError) as refused:
        spaces.remove_space(session, fingerprint("mine"))
    assert refused.value.code == "space-in-use"
    with pytest.raises(UsageError):
        spaces.remove_space(session, "nobody's")
    spaces.roll_back(session, fingerprint(OWN))
    with pytest.raises(EncoderError):
        models.remove_model(session, "mine")
    before = answers(session)
    assert states(spaces_removed(session, "mine")) == {OWN: "in use"}
    assert not (tmp_path / "library" / "spaces" / fingerprint("mine")).exists()
    models.remove_model(session, "mine")
    assert answers(session) == before
    assert sound(session)


def spaces_removed(session: Session, name: str) -> Session:
    spaces.remove_space(session, fingerprint(name))
    return session


def test_going_back_to_a_space_whose_model_is_gone_is_refused(session, monkeypatch):
    spaces.adopt(session, "mine")
    index(session)
    spaces.roll_back(session, fingerprint(OWN))
    monkeypatch.setattr("sbert_desktop.encoder.expected_fingerprint", lambda model, **more: "another")
    with pytest.raises(EncoderError, match="not here as it was"):
        spaces.roll_back(session, fingerprint("mine"))
    assert states(session)[OWN] == "in use"


def test_a_disk_without_room_for_a_second_space_is_told_before_anything_begins(session, monkeypatch):
    monkeypatch.setattr("sbert_desktop.library.Library.room", lambda library: 1000)
    with pytest.raises(LibraryError) as caught:
        spaces.adopt(session, "mine")
    assert caught.value.code == "disk-full"
    assert states(session) == {OWN: "in use"}


def test_a_library_that_its_model_has_hardly_read_comes_to_another_one_at_once(tmp_path, folder, session):
    fresh = Session(tmp_path / "fresh", session.settings)
    try:
        models.use_model(fresh, "mine")  # there is no library yet
        assert fresh.models.name() == "mine"
        assert not (tmp_path / "fresh" / "catalog.sqlite").exists()
        with pytest.raises(Cancelled):
            run_index(fresh, IndexRequest((folder,)), Begun(fresh))
        models.use_model(fresh, "long")
        assert (fresh.encoder().info.name, fresh.library.wanted_space()) == ("long", None)
        assert index(fresh).encoded_passages == fresh.library.counts().passages
        assert states(fresh)["long"] == "in use"
    finally:
        fresh.close()
    # the other library stays with its own, whatever the settings name by now
    again = Session(session.library_path, session.settings)
    try:
        assert again.encoder().info.name == OWN
        assert index(again).encoded_passages == 0
    finally:
        again.close()


class Begun(NullContext):
    """Cancels a run as soon as there is a space."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session

    def check(self) -> None:
        if self._session.library.active_space() is not None:
            raise Cancelled


def scores(view) -> list[float]:
    return [hit.score for document in view.documents for hit in document.hits]


def test_a_session_follows_when_another_process_has_switched(session, tmp_path):
    question = Query(ASKED[0], mode=Mode.SEMANTIC)
    before = scores(run_search(session, question))
    other = Session(session.library_path, Settings(tmp_path / "settings.toml"))
    try:
        spaces.adopt(other, "mine")
        index(other)
    finally:
        other.close()
    view = run_search(session, question)
    assert scores(view) == before  # its own model, with that model's vectors
    assert any("another model" in note for note in view.notes)
    assert session.encoder().info.name == "mine"  # and the next question is for the other one
    view = run_search(session, question)
    assert scores(view) != before
    assert view.notes == ()
    assert index(session).encoded_passages == 0
    assert states(session)["mine"] == "in use"


def test_no_query_is_answered_by_one_model_in_the_space_of_the_other(session, monkeypatch):
    """Searches without a pause while models take over and are left again: each answer is wholly one model's."""
    whole = {OWN: answers(session)}
    spaces.adopt(session, "mine")
    index(session)
    whole["mine"] = answers(session)
    found: list[list[tuple]] = []
    errors: list[BaseException] = []
    stop = threading.Event()

    def ask() -> None:
        try:
            while not stop.is_set():
                found.append([row for text in ASKED for row in one(session, text)])
        except BaseException as error:
            errors.append(error)

    def one(session: Session, text: str) -> list[tuple]:
        view = run_search(session, Query(text, mode=Mode.SEMANTIC))
        return [(text, document.path, hit.score) for document in view.documents for hit in document.hits]

    expected = {}
    for name in (OWN, "mine"):
        spaces.roll_back(session, fingerprint(name))
        expected[name] = {text: one(session, text) for text in ASKED}
    threads = [threading.Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    end = time.monotonic() + SECONDS
    switches = 0
    while switches < 20 or (len(found) < 8 and not errors and time.monotonic() < end):
        for name in (OWN, "mine"):
            spaces.roll_back(session, fingerprint(name))
            switches += 1
    stop.set()
    for thread in threads:
        thread.join(SECONDS)
    assert not errors
    assert len(found) >= 8
    for rows in found:
        for text in ASKED:
            mine = [row for row in rows if row[0] == text]
            assert mine in (expected[OWN][text], expected["mine"][text])
    assert answers(session) == whole["mine"]


def test_what_was_compared_with_one_model_is_not_taken_for_what_the_other_finds(session):
    from sbert_desktop.app import duplicates
    from sbert_desktop.explore.near_pairs import near_pairs

    def pairs() -> tuple[list[float], list[float]]:
        found = duplicates.find(session, NullContext(), again=True).pairs
        snapshot = session.snapshot()
        alone = near_pairs(snapshot.vectors, snapshot.alive, floor=duplicates.FLOOR, context=NullContext())
        assert found is not None
        return found.cosine.tolist(), alone.cosine.tolist()

    first, alone = pairs()
    assert first == alone != []
    spaces.adopt(session, "mine")
    index(session)
    second, alone = pairs()
    assert second == alone != first


def test_commands_choose_a_model_prepare_it_go_back_and_remove_its_space(session, tmp_path, capsys):
    session.close()

    def run(*words: str) -> tuple[int, dict, str]:
        status = main(["--library", str(tmp_path / "library"), *words, "--json"])
        streams = capsys.readouterr()
        return status, json.loads(streams.out), streams.err

    status, told, said = run("models", "use", "mine")
    assert (status, [model["name"] for model in told["models"] if model["active"]]) == (0, [OWN])
    assert "index" in said
    assert f"till then {OWN} is searched" in said
    assert run("status")[1]["preparing"].startswith("Preparing mine: 0 of ")
    assert [(one["name"], one["state"]) for one in run("models", "spaces")[1]["spaces"]] == [
        (OWN, "in use"), ("mine", "building")]  # fmt: skip
    hits = run("search", ASKED[0])[1]["hits"]
    status, told, _ = run("index")
    assert (status, told["preparing"], told["encoded_passages"]) == (0, "", told["passages"])
    assert run("models", "list")[1]["models"][0]["active"] is False
    assert run("search", ASKED[0])[1]["hits"] != hits
    status, told, said = run("models", "back", OWN)
    assert (status, told["spaces"][0]["name"], told["spaces"][0]["state"]) == (0, OWN, "in use")
    assert run("search", ASKED[0])[1]["hits"] == hits
    assert run("models", "forget-space", OWN)[1]["error"]["code"] == "space-in-use"
    status, told, _ = run("models", "forget-space", fingerprint("mine")[:8])
    assert (status, len(told["spaces"])) == (0, 1)
    assert run("models", "back", "nobody")[1]["error"]["code"] == "space-unknown"
    assert run("models", "back")[0] == 2
    assert main(["--library", str(tmp_path / "library"), "models", "spaces"]) == 0
    assert f"* {OWN}  in use" in capsys.readouterr().out


def model_of(event) -> tuple[str, str]:
    model = getattr(getattr(event, "result", None), "model", None)
    return (model.name, model.state) if model is not None else ("", "")


def refreshed(app, inbox: Inbox):
    """Gives the library's state; a refresh of the program's own may take the place of one that is asked for."""
    while (end := inbox.finished(app.refresh())).outcome is Outcome.SUPERSEDED:
        pass
    assert end.outcome is Outcome.DONE
    return end.result


def test_the_window_prepares_in_the_background_and_lets_new_folders_pass(tmp_path, folder, session, monkeypatch):
    from sbert_desktop.app.facade import App
    from sbert_desktop.app.views import IndexProgress

    session.close()
    monkeypatch.setattr("sbert_desktop.app.embedding._ENCODE_CHARS_WINDOW", 400)
    monkeypatch.setattr("sbert_desktop.app.reporting._REPORT_SECONDS", 0.0)
    preparing, go_on = threading.Event(), threading.Event()

    def hold(name: str) -> None:
        if name == "mine":
            preparing.set()
            assert go_on.wait(SECONDS)

    monkeypatch.setattr(Made, "pace", staticmethod(hold))
    more = tmp_path / "more"
    more.mkdir()
    (more / "ferry.txt").write_text("The ferry to the island leaves at dawn.")
    inbox = Inbox()
    app = App(tmp_path / "library", Settings(tmp_path / "settings.toml"))
    ferry = Query("ferry to the island", mode=Mode.SEMANTIC)
    try:
        app.connect(inbox.post)
        inbox.until(lambda event: model_of(event) == (OWN, "ready"))
        listed = inbox.result(app.use_model("mine"))
        assert [view.name for view in listed if view.active] == [OWN]
        assert "Being prepared" in next(view.note for view in listed if view.name == "mine")
        assert preparing.wait(SECONDS)
        found = inbox.result(app.search(Query(ASKED[0], mode=Mode.SEMANTIC)))
        assert found.documents[0].path.name == "tools.txt"
        assert refreshed(app, inbox).preparing.startswith("Preparing mine: ")
        added = app.add_folders([more])
        go_on.set()
        inbox.result(added)
        assert inbox.result(app.search(ferry)).documents[0].path.name == "ferry.txt"
        inbox.until(lambda event: getattr(getattr(event, "result", None), "preparing", None) == "mine")
        inbox.until(lambda event: isinstance(getattr(event, "result", None), IndexProgress) and event.result.preparing)
        inbox.until(lambda event: model_of(event) == ("mine", "ready"))
        assert inbox.result(app.search(ferry)).documents[0].path.name == "ferry.txt"
        listed = inbox.result(app.use_space(fingerprint(OWN)))
        assert (listed[0].name, listed[0].state) == (OWN, "in use")
        assert refreshed(app, inbox).model.name == OWN
        listed = inbox.result(app.remove_space(fingerprint("mine")))
        assert [view.name for view in listed] == [OWN]
    finally:
        go_on.set()
        app.close()


CHILD = """
import sys, unittest.mock
sys.path.insert(0, {root!r})
from pathlib import Path
from tests.app.conftest import TEXTS
from tests.app.made_models import Made, use_made
use_made(lambda name, value: unittest.mock.patch(name, value).start())
from sbert_desktop.app import embedding, spaces
from sbert_desktop.app.indexing import IndexRequest, run_index
from sbert_desktop.app.session import Session
from sbert_desktop.jobs import NullContext
from sbert_desktop.settings import Settings
embedding._ENCODE_CHARS_CONSOLE = 300
session = Session(Path({library!r}), Settings(Path({settings!r})))
session.encoder()
print("begun", flush=True)
while True:
    for name in ("mine", "long"):
        spaces.adopt(session, name)
        run_index(session, IndexRequest(), NullContext())
        spaces.roll_back(session, Made({own!r}).info.fingerprint)
        run_index(session, IndexRequest(), NullContext())
        spaces.remove_space(session, Made(name).info.fingerprint)
"""


@pytest.mark.timeout(900)
@pytest.mark.parametrize("kills", [1, pytest.param(60, marks=pytest.mark.slow)])
def test_killed_while_it_prepares_switches_or_goes_back_one_whole_model_answers(session, tmp_path, kills):
    expected = {OWN: answers(session)}
    for name in ("mine", "long"):
        spaces.adopt(session, name)
        index(session)
        expected[name] = answers(session)
        spaces.roll_back(session, fingerprint(OWN))
        spaces.remove_space(session, fingerprint(name))
    session.close()
    code = CHILD.format(root=str(Path(__file__).resolve().parents[2]), library=str(session.library_path),
                        settings=str(tmp_path / "settings.toml"), own=OWN)  # fmt: skip
    chance = random.Random(11)
    for _ in range(kills):
        child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env=os.environ)
        assert child.stdout is not None
        assert child.stdout.readline() == "begun\n"
        with pytest.raises(subprocess.TimeoutExpired):
            child.wait(chance.uniform(0.05, 1.5))
        child.kill()
        child.wait()
        child.stdout.close()
        again = Session(session.library_path, Settings(tmp_path / "settings.toml"))
        try:
            name = again.encoder().info.name
            assert answers(again) == expected[name]
            assert states(again)[name] == "in use"
            assert sound(again)
        finally:
            again.close()
    final = Session(session.library_path, Settings(tmp_path / "settings.toml"))
    try:
        index(final)
        assert final.library.wanted_space() is None
        assert answers(final) == expected[final.encoder().info.name]
    finally:
        final.close()


def test_named_models_differ() -> None:
    assert len({fingerprint(name) for name in (OWN, "mine", "long")}) == 3
    assert named(None).info.name == OWN
