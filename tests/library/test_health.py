from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from sbert_desktop.domain import SplitRules
from sbert_desktop.errors import Cancelled
from sbert_desktop.library import Library, open_library

from .makers import DIMENSION, embed_all, encode, info, put_text

ROWS = 300


@pytest.fixture
def indexed(tmp_path: Path) -> Iterator[Library]:
    with open_library(tmp_path / "library", exact_below=50, index_from=100) as library:
        with library.writer() as writer:
            writer.use_space(info(), "tokenizer", SplitRules())
            folder = writer.add_folder(Path("/docs"))
            for number in range(ROWS):
                put_text(writer, folder, Path(f"/docs/{number}"), [f"text {number}"])
            embed_all(writer)
            assert writer.build_index(None)
        yield library


def remove(library: Library, count: int) -> None:
    (folder,) = library.folders()
    known = list(library.known_files(folder.id).values())
    with library.writer() as writer:
        writer.remove([file.id for file in known[:count]])


def test_a_sound_index_finds_the_ten_best(indexed: Library) -> None:
    found = indexed.health(encode([f"question {n}" for n in range(20)]))
    assert (found.live, found.dead, found.orphans, found.queries, found.behind) == (ROWS, 0, 0, 100, 0)
    assert found.recall_at_10 == 1.0


def test_a_bad_index_is_measured_as_bad_and_repaired(indexed: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    index = indexed.snapshot("fake-1").index
    assert index is not None

    class Half:
        rows = index.rows

        def search(self, vector: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
            rows, cosines = index.search(vector, k)
            return rows[::2], cosines[::2]

    with monkeypatch.context() as patched:
        patched.setattr(Library, "_index_of", lambda self, view: Half())
        assert indexed.health().recall_at_10 == pytest.approx(0.5)
    record = indexed._view("fake-1").index
    assert record is not None
    with indexed.writer() as writer:
        assert writer.repair(None)
    fresh = indexed._view("fake-1").index
    assert fresh is not None
    assert fresh.file != record.file
    assert indexed.health().recall_at_10 == 1.0


def test_dead_rows_are_counted_and_go(indexed: Library) -> None:
    remove(indexed, 40)
    before = indexed.health()
    assert (before.live, before.dead, before.orphans) == (ROWS - 40, 40, 0)
    assert before.recall_at_10 == 1.0, "dead rows are no best hits"
    with indexed.writer() as writer:
        writer.repair(None)
    after = indexed.health()
    assert (after.live, after.dead, after.recall_at_10) == (ROWS - 40, 0, 1.0)
    assert len(indexed.snapshot("fake-1").vectors) == ROWS - 40


def test_orphans_are_counted_and_go(indexed: Library) -> None:
    with closing(sqlite3.connect(indexed.path / "catalog.sqlite")) as connection:
        connection.execute("DELETE FROM file WHERE id<=7")
        connection.execute("INSERT INTO change(kind, id) VALUES(3, 1)")
        connection.commit()
    assert indexed.health().orphans == 7
    assert indexed.integrity()["bad_contents_without_file"] == 7
    with indexed.writer() as writer:
        writer.repair(None)
    found = indexed.health()
    assert (found.live, found.dead, found.orphans, found.recall_at_10) == (ROWS - 7, 0, 0, 1.0)
    assert {key: value for key, value in indexed.integrity().items() if key.startswith("bad_") and value} == {}
    assert len(indexed.snapshot("fake-1").keyword("text", None, 1_000)[0]) == ROWS - 7


def test_a_cancelled_repair_leaves_what_was_in_use(indexed: Library) -> None:
    class Context:
        paused = False

        def check(self) -> None:
            raise Cancelled

        def progress(self, phase: str, done: int, total: int | None, detail: str = "") -> None: ...
        def partial(self, result: object) -> None: ...

    before = indexed._view("fake-1").index
    with pytest.raises(Cancelled), indexed.writer() as writer:
        writer.repair(Context())
    assert indexed._view("fake-1").index == before
    assert indexed.health().recall_at_10 == 1.0


def test_a_measurement_can_be_given_up(indexed: Library) -> None:
    def stop(done: int, total: int) -> None:
        raise Cancelled

    with pytest.raises(Cancelled):
        indexed.health(step=stop)


def test_without_an_index_only_rows_are_counted(indexed: Library, tmp_path: Path) -> None:
    indexed.exact_below = ROWS + 1
    found = indexed.health()
    assert (found.live, found.recall_at_10, found.queries) == (ROWS, None, 0)
    with open_library(tmp_path / "empty") as empty:
        assert empty.health().live == 0
    assert indexed.health(np.ones((2, DIMENSION + 1), np.float32)).live == ROWS, "vectors of another model are not used"


def test_rows_behind_the_index_are_told(indexed: Library) -> None:
    (folder,) = indexed.folders()
    with indexed.writer() as writer:
        put_text(writer, folder.id, Path("/docs/late"), ["late"])
        embed_all(writer)
    found = indexed.health()
    assert (found.live, found.behind, found.recall_at_10) == (ROWS + 1, 1, 1.0)
