from __future__ import annotations

import hashlib
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from sbert_desktop.domain import FolderRules, Problem
from sbert_desktop.errors import LibraryError
from sbert_desktop.library import _schema, open_library

from .makers import document, embed_all, file_at, put_text, start
from .old_schemas import TABLES, make_old

DOCUMENTS = 60


@pytest.fixture(scope="module", params=sorted(TABLES))
def old_library(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Path:
    version = int(request.param)
    path = tmp_path_factory.mktemp("old") / "library"
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("SBERT_DESKTOP_MIN_FREE_MB", "1")
        fill(path)
    make_old(path, version)
    return path


def fill(path: Path) -> None:
    with open_library(path) as library:
        (folder,) = start(library, Path("/docs"))
        with library.writer() as writer:
            for number in range(DOCUMENTS):
                put_text(writer, folder, Path(f"/docs/{number}.txt"), [f"sample text {number}", "second part"])
            bad = Problem("encrypted", "The file is encrypted.", "")
            writer.put(folder, file_at(Path("/docs/locked.pdf"), "x"), None, (), (bad,))  # type: ignore[arg-type]
            text, passages = document(["half"])
            half = Problem("page-unread", "Page 3.", "", True)
            writer.put(folder, file_at(Path("/docs/half.pdf"), "half"), text, passages, (half,))  # type: ignore[arg-type]
            embed_all(writer)
        library.add_history("an earlier query")


@pytest.fixture
def old(old_library: Path, tmp_path: Path) -> Path:
    shutil.copytree(old_library, tmp_path / "library")
    return tmp_path / "library"


def version_of(path: Path) -> int:
    with closing(sqlite3.connect(path / "catalog.sqlite")) as connection:
        return int(connection.execute("PRAGMA user_version").fetchone()[0])


def shape_of(path: Path) -> dict[str, object]:
    with closing(sqlite3.connect(path / "catalog.sqlite")) as connection:
        names = connection.execute("SELECT type, name FROM sqlite_schema WHERE name NOT LIKE 'words%'").fetchall()
        tables = [name for kind, name in names if kind == "table"]
        columns = {name: connection.execute(f"PRAGMA table_info({name})").fetchall() for name in tables}
        keys = {name: sorted(connection.execute(f"PRAGMA foreign_key_list({name})").fetchall()) for name in tables}
        return {"names": sorted(names), "columns": columns, "keys": [key[2:5] for key in keys.values()]}


def test_every_released_schema_opens_with_all_that_it_held(old: Path) -> None:  # R25
    assert sorted(TABLES) == list(range(1, _schema.SCHEMA_VERSION)), "keep the tables of each released schema"
    version = version_of(old)
    with open_library(old, extractor_version=2) as library:
        (folder,) = library.folders()
        assert (folder.documents, folder.passages, folder.embedded) == (DOCUMENTS + 1, 121, 121)
        assert (folder.problems, folder.ignored, folder.rules) == (2, 0, FolderRules())
        snapshot = library.snapshot("fake-1")
        assert snapshot.alive.sum() == 121
        assert len(snapshot.keyword("sample", None, 500)[0]) == DOCUMENTS
        known = library.known_files(folder.id)
        assert len(known) == DOCUMENTS + 2
        assert all(file.outdated for file in known.values()), "also what could not be read is worth another try"
        assert {file.cursor for file in known.values()} == {""}
        assert known[b"/docs/locked.pdf"].problem_code == "encrypted"
        assert library.history() == ("an earlier query",)
        library.judge("relevance", "relevant", "q", "sha", 0, 4, "text")
        library.collect("box", ())
        library.save_search("mine", "{}")
        library.arrange("themes", b"packed")
        assert library.arrangement("themes") == b"packed"
        assert {key: value for key, value in library.integrity().items() if key.startswith("bad_") and value} == {}
        with library.writer() as writer:
            put_text(writer, folder.id, Path("/docs/new.txt"), ["fresh"])
            embed_all(writer)
            writer.set_rules(folder.id, FolderRules(exclude=("*.tmp",)))
    (backup,) = _schema.backups(old)
    with closing(sqlite3.connect(backup)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (version,)
        assert connection.execute("SELECT count(*) FROM file").fetchone() == (DOCUMENTS + 2,)


def test_a_migrated_catalog_has_the_shape_of_a_new_one(old: Path, tmp_path: Path) -> None:
    open_library(old).close()
    open_library(tmp_path / "new").close()
    assert shape_of(old) == shape_of(tmp_path / "new")


def test_an_old_library_is_not_changed_by_a_reader(old: Path) -> None:
    before = hashlib.sha256((old / "catalog.sqlite").read_bytes()).hexdigest()
    with pytest.raises(LibraryError) as caught:
        open_library(old, read_only=True)
    assert caught.value.code == "library-older"
    assert hashlib.sha256((old / "catalog.sqlite").read_bytes()).hexdigest() == before


def kill_while_migrating(path: Path, statement: int) -> None:
    code = (
        "import os, signal, sqlite3, sys\n"
        "from pathlib import Path\n"
        "from sbert_desktop.library import _schema, open_library\n"
        "wanted, seen = int(sys.argv[2]), 0\n"
        "steps = dict(_schema.MIGRATIONS)\n"
        "class Counting:\n"
        "    def __init__(self, inner): self.inner = inner\n"
        "    def execute(self, *a):\n"
        "        global seen\n"
        "        seen += 1\n"
        "        if seen == wanted: os.kill(os.getpid(), signal.SIGKILL)\n"
        "        return self.inner.execute(*a)\n"
        "def counted(step, last):\n"
        "    def run(connection):\n"
        "        step(Counting(connection))\n"
        "        if last and wanted > seen: os.kill(os.getpid(), signal.SIGKILL)\n"
        "    return run\n"
        "for at, step in steps.items(): _schema.MIGRATIONS[at] = counted(step, at == max(steps))\n"
        "if wanted == 0:\n"
        "    _schema.back_up = lambda *a: os.kill(os.getpid(), signal.SIGKILL)\n"
        "open_library(Path(sys.argv[1]))\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path), str(statement)], check=False,
                          cwd=Path(__file__).resolve().parents[2])  # fmt: skip
    assert done.returncode == -signal.SIGKILL


def run_kills(old: Path, kills: int) -> None:
    chance, version = random.Random(25), version_of(old)
    for number in range(kills):
        kill_while_migrating(old, chance.randrange(18 if version == 1 else 6) if number else 99)
        assert version_of(old) == version, "all of it or nothing"
    with open_library(old) as library:
        assert library.counts().documents == DOCUMENTS + 1
        assert library.quick_check() == []
    assert version_of(old) == _schema.SCHEMA_VERSION
    assert len(_schema.backups(old)) <= _schema.BACKUPS_KEPT


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
def test_a_killed_migration_leaves_the_old_library_whole(old: Path) -> None:  # R25
    run_kills(old, 5)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
def test_a_migration_killed_many_times(old: Path) -> None:  # R25
    run_kills(old, 50)
