from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from sbert_desktop.domain import SplitRules
from sbert_desktop.errors import Cancelled
from sbert_desktop.library import Library, open_library

from .makers import embed_all, info, put_text

ROWS = 400


@pytest.fixture
def indexed(tmp_path: Path) -> Library:
    library = open_library(tmp_path / "library", exact_below=50, index_from=100)
    with library.writer() as writer:
        writer.use_space(info(), "tokenizer", SplitRules())
        folder = writer.add_folder(Path("/docs"))
        for number in range(ROWS):
            put_text(writer, folder, Path(f"/docs/{number}"), [f"text {number}"])
        embed_all(writer)
        assert writer.build_index(None)
    yield library  # type: ignore[misc]
    library.close()


def nearest(library: Library, k: int = 10) -> tuple[list[int], list[int]]:
    snapshot = library.snapshot("fake-1")
    query = snapshot.vectors[5] + 0.1
    index = snapshot.index
    assert index is not None
    rows, cosines = index.search(query, k)
    exact = snapshot.vectors[: index.rows] @ query
    np.testing.assert_allclose(cosines, exact[rows], atol=1e-5)
    return rows.tolist(), np.argsort(-exact)[:k].tolist()


def test_index_finds_what_exact_search_finds(indexed: Library) -> None:
    found, wanted = nearest(indexed)
    assert found == wanted
    index = indexed.snapshot("fake-1").index
    assert index is not None
    assert index.rows == ROWS
    assert len(index.search(indexed.snapshot("fake-1").vectors[0], ROWS * 10)[0]) == ROWS, "k beyond the elements"
    assert len(index.search(indexed.snapshot("fake-1").vectors[0], 0)[0]) == 0


def test_small_libraries_have_no_index(indexed: Library) -> None:
    indexed.exact_below = ROWS + 1
    assert indexed.snapshot("fake-1").index is None
    with open_library(indexed.path, index_from=ROWS + 1) as library, library.writer() as writer:
        assert not writer.build_index(None, force=True)


def test_index_is_extended_by_what_came_later(indexed: Library) -> None:
    held = indexed.snapshot("fake-1").index
    assert held is not None
    with indexed.writer() as writer:
        folder = indexed.folders()[0].id
        for number in range(50):
            put_text(writer, folder, Path(f"/docs/new{number}"), [f"new {number}"])
        embed_all(writer)
        snapshot = indexed.snapshot("fake-1")
        assert snapshot.index is not None
        assert (snapshot.index.rows, len(snapshot.vectors)) == (ROWS, ROWS + 50), "the tail is searched exactly"
        assert not writer.build_index(None), "few new rows are not worth it"
        assert writer.build_index(None, force=True)
    found, wanted = nearest(indexed)
    assert found == wanted
    newest = indexed.snapshot("fake-1").index
    assert newest is not None
    assert newest.rows == ROWS + 50
    assert len(held.search(indexed.snapshot("fake-1").vectors[0], 3)[0]) == 3, "the old one serves its holder"
    assert len(list(indexed.path.glob("spaces/*/hnsw-*"))) == 1


def test_removed_rows_are_left_out_of_a_fresh_index(indexed: Library) -> None:
    with indexed.writer() as writer:
        known = indexed.known_files(indexed.folders()[0].id)
        writer.remove([known[f"/docs/{number}".encode()].id for number in range(0, 200, 2)])
        writer.commit()
        assert writer.build_index(None)
    snapshot = indexed.snapshot("fake-1")
    assert snapshot.index is not None
    rows, _ = snapshot.index.search(snapshot.vectors[1], ROWS)
    assert len(rows) == ROWS - 100
    assert snapshot.alive[rows].all()


def test_compaction_discards_the_index(indexed: Library) -> None:
    assert indexed.snapshot("fake-1").index is not None
    with indexed.writer() as writer:
        known = indexed.known_files(indexed.folders()[0].id)
        writer.remove([known[f"/docs/{number}".encode()].id for number in range(200)])
        assert writer.compact()
    assert indexed.snapshot("fake-1").index is None
    with indexed.writer() as writer:
        assert writer.build_index(None)
    found, wanted = nearest(indexed)
    assert found == wanted


def test_a_cancelled_build_leaves_the_old_index(indexed: Library) -> None:
    class Context:
        def check(self) -> None:
            raise Cancelled

        def progress(self, phase: str, done: int, total: int | None, detail: str = "") -> None: ...

        def partial(self, result: object) -> None: ...

    (before,) = indexed.path.glob("spaces/*/hnsw-*")
    with indexed.writer() as writer:
        put_text(writer, indexed.folders()[0].id, Path("/docs/x"), ["x"])
        embed_all(writer)
        with pytest.raises(Cancelled):
            writer.build_index(Context(), force=True)
    assert list(indexed.path.glob("spaces/*/hnsw-*")) == [before]
    assert indexed.snapshot("fake-1").index is not None


def mutate(data: bytearray, chance: random.Random, kind: int) -> bytearray:
    at = chance.randrange(len(data))
    if kind == 0:
        data[at] ^= 1 << chance.randrange(8)
    elif kind == 1:
        del data[at:]
    elif kind == 2:
        data[at:at] = bytes(chance.randrange(256) for _ in range(8))
    elif kind == 3:
        data[: min(200, len(data))] = chance.randbytes(min(200, len(data)))
    elif kind == 4:
        data.clear()
    else:
        data[8 * chance.randrange(12)] ^= 0xFF  # the header: sizes and counts
    return data


def test_every_damaged_index_is_noticed_before_hnswlib_sees_it(
    indexed: Library, monkeypatch: pytest.MonkeyPatch
) -> None:  # R8
    (file,) = indexed.path.glob("spaces/*/hnsw-*")
    good, chance = file.read_bytes(), random.Random(8)
    path = indexed.path
    indexed.close()
    import hnswlib

    with monkeypatch.context() as watched:
        watched.setattr(hnswlib, "Index", lambda **_: pytest.fail("hnswlib was given a damaged file"))
        for number in range(40):
            file.write_bytes(mutate(bytearray(good), chance, number % 6))
            with open_library(path, exact_below=50, index_from=100) as library:
                snapshot = library.snapshot("fake-1")
                assert snapshot.index is None
                assert snapshot.index is None
                assert library.notices == [
                    "The index did not match its checksum; it was discarded and is rebuilt from the vectors."
                ]
                assert len(snapshot.vectors) == ROWS, "exact search serves meanwhile"
    with open_library(path, exact_below=50, index_from=100) as library:
        with library.writer() as writer:
            assert writer.build_index(None)
        found, wanted = nearest(library)
        assert found == wanted
        (fresh,) = path.glob("spaces/*/hnsw-*")
        assert fresh.name != file.name


def test_a_wrong_dimension_or_count_in_the_catalog_is_noticed(indexed: Library) -> None:  # R8
    import sqlite3

    path = indexed.path
    indexed.close()
    for column in ("dimension", "count"):
        connection = sqlite3.connect(path / "catalog.sqlite")
        connection.execute(f"UPDATE index_state SET {column}={column}+1")
        connection.commit()
        connection.close()
        with open_library(path, exact_below=50, index_from=100) as library:
            assert library.snapshot("fake-1").index is None
            assert len(library.notices) == 1
            with library.writer() as writer:
                assert writer.build_index(None, force=True)


def test_a_missing_index_is_rebuilt(indexed: Library) -> None:
    (file,) = indexed.path.glob("spaces/*/hnsw-*")
    file.unlink()
    with indexed.writer() as writer:
        assert any("discarded" in notice for notice in indexed.notices)
        assert writer.build_index(None)
    found, wanted = nearest(indexed)
    assert found == wanted
