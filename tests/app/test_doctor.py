"""A library that was damaged is noticed, told, mended by the window's Repair and by ``doctor --repair``."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from sbert_desktop.app.facade import App
from sbert_desktop.app.health import run_health
from sbert_desktop.app.indexing import IndexRequest, run_index
from sbert_desktop.app.session import Session
from sbert_desktop.cli import main
from sbert_desktop.domain import Query
from sbert_desktop.jobs import NullContext
from sbert_desktop.library import Library, _opening
from sbert_desktop.settings import Settings
from tests.events import Inbox

NOTES = 60
QUERY = "entry 41 speaks of mill 287"


def small(path: Path, mode: str, exact_below: int, index_from: int, version: int) -> Library:
    """Opens a library that wants an accelerator from two rows on."""
    return Library(path, mode, 1, 2, version)


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    """Makes documents and a library with an accelerator once."""
    place = tmp_path_factory.mktemp("doctor")
    (place / "docs").mkdir()
    for n in range(NOTES):
        text = f"Entry {n} speaks of mill {n * 7} and weir {n * 13} beside lock {n}.\n"
        (place / "docs" / f"note-{n}.txt").write_text(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_opening, "Library", small)
        patch.setenv("SBERT_DESKTOP_ADVANCED_ENCODER", "hashing")
        session = Session(place / "library", Settings(place / "settings.toml"))
        run_index(session, IndexRequest((place / "docs",)), NullContext())
        assert session.snapshot().index is not None
        session.close()
    return place


@pytest.fixture
def folder(made) -> Path:
    return made / "docs"


@pytest.fixture
def library(made, settings, tmp_path, monkeypatch) -> Path:
    """Gives a copy of it, closed."""
    monkeypatch.setattr(_opening, "Library", small)
    shutil.copytree(made / "library", tmp_path / "library")
    return tmp_path / "library"


def only(library: Path, pattern: str) -> Path:
    (path,) = library.glob(pattern)
    return path


def delete_index(library: Path) -> None:
    only(library, "spaces/*/hnsw-*").unlink()


def flip_in_index(library: Path) -> None:
    path = only(library, "spaces/*/hnsw-*")
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0x40
    path.write_bytes(data)


def cut_index(library: Path) -> None:
    path = only(library, "spaces/*/hnsw-*")
    path.write_bytes(path.read_bytes()[:-100])


def forget_index(library: Path) -> None:
    with closing(sqlite3.connect(library / "catalog.sqlite")) as connection:
        connection.execute("DELETE FROM index_state")
        connection.execute("INSERT INTO change(kind, id) VALUES(3, 1)")
        connection.commit()
    delete_index(library)


def cut_vectors(library: Path) -> None:
    path = only(library, "spaces/*/vectors-*")
    data = path.read_bytes()
    path.write_bytes(data[: len(data) - len(data) // 4 - 3])


def delete_vectors(library: Path) -> None:
    only(library, "spaces/*/vectors-*").unlink()


def spoil_vectors(library: Path) -> None:
    path = only(library, "spaces/*/vectors-*")
    vectors = np.fromfile(path, "<f4")
    vectors[1000:1300] = np.nan
    vectors[9000:9100] = 1e9
    vectors.tofile(path)


DAMAGES: dict[Callable[[Path], None], tuple[str, str]] = {
    delete_index: ("index", "accelerator is missing or damaged"),
    flip_in_index: ("index", "accelerator is missing or damaged"),
    cut_index: ("index", "accelerator is missing or damaged"),
    forget_index: ("index", "accelerator is missing or damaged"),
    cut_vectors: ("vectors", "missing from the vectors file"),
    delete_vectors: ("vectors", "missing from the vectors file"),
    spoil_vectors: ("vectors", "vectors are damaged"),
}
each_damage = pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)


def in_order(session: Session) -> None:
    view = run_health(session, NullContext())
    assert (view.repairable, view.damaged, view.waiting, view.dead, view.orphans) == (False, False, 0, 0, 0), view
    assert view.rows == session.library.counts().passages
    assert view.recall_at_10 == 1.0
    assert session.snapshot().index is not None
    assert {key: count for key, count in session.library.integrity().items() if key.startswith("bad_") and count} == {}


@each_damage
def test_the_window_tells_and_repairs(library, settings, damage):
    damage(library)
    inbox = Inbox()
    settings.set("indexing.check_at_start", False)
    app = App(library, settings)
    try:
        app.connect(inbox.post)
        session = app._session
        session.encoder()
        before = inbox.result(app.health())
        assert before.repairable
        assert DAMAGES[damage][1] in before.words
        found = inbox.result(app.search(Query(QUERY)))
        assert found.documents[0].path.name == "note-41.txt", "search goes on"
        inbox.result(app.repair())
        for job in app._jobs.ids("writer"):
            inbox.result(job)
        in_order(session)
        assert inbox.result(app.search(Query(QUERY))).documents[0].path.name == "note-41.txt"
    finally:
        app.close()


@each_damage
def test_the_command_line_tells_and_repairs(library, settings, damage, capfd):
    damage(library)

    def doctor(*more: str) -> tuple[int, dict[str, tuple[bool, str]], str]:
        capfd.readouterr()
        status = main(["--library", str(library), "doctor", "--json", *more])
        out, err = capfd.readouterr()
        checks = json.loads(out)["checks"]
        return status, {check["name"]: (check["ok"], check["detail"]) for check in checks}, err

    name, words = DAMAGES[damage]
    status, checks, err = doctor()
    assert status == 1
    assert not checks[name][0]
    assert words in checks[name][1]
    assert "doctor --repair" in err
    status, checks, _ = doctor("--repair")
    assert status == 0, checks
    assert all(ok for ok, _ in checks.values())
    session = Session(library, settings)
    in_order(session)
    session.close()
    assert doctor()[0] == 0


def test_a_sound_library_is_told_part_by_part(library, capfd):
    assert main(["--library", str(library), "doctor", "--quiet"]) == 0
    out, err = capfd.readouterr()
    assert [line.split()[1] for line in out.splitlines()] == [
        "catalog", "words", "vectors", "index", "model", "folder", "daily"]  # fmt: skip
    assert all(line.startswith("ok") for line in out.splitlines())
    assert err == ""


def test_a_folder_that_is_away_is_told_and_no_damage(library, folder, capfd):
    folder.rename(folder.with_name("elsewhere"))
    try:
        assert main(["--library", str(library), "doctor", "--json"]) == 0
    finally:
        folder.with_name("elsewhere").rename(folder)
    (away,) = [check for check in json.loads(capfd.readouterr().out)["checks"] if check["name"] == "folder"]
    assert not away["ok"]
    assert "offline" in away["detail"]
