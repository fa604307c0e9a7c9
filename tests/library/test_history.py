"""Earlier queries: never waited for, and never lost because somebody wrote at that moment."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest

from sbert_desktop.library import Library, _history, open_library


@contextmanager
def somebody_writes(library: Library) -> Iterator[None]:
    with closing(sqlite3.connect(library.path / "catalog.sqlite", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


def on_disk(library: Library) -> set[str]:
    with closing(sqlite3.connect(library.path / "catalog.sqlite")) as connection:
        return {row[0] for row in connection.execute("SELECT query FROM history")}


def test_a_query_that_found_no_room_is_written_without_another_one(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_history, "LATER", 0.02)
    waited: list[float] = []
    write = _history.History._write
    monkeypatch.setattr(_history.History, "_write",
                        lambda self, items, wait: (waited.append(wait), write(self, items, wait))[1])  # fmt: skip
    with somebody_writes(library):
        library.add_history("first")
        library.add_history("second")
        assert waited, "it was tried"
        assert max(waited) <= 0.1, "a search is not kept waiting"
        assert library.history() == ("second", "first")
        assert on_disk(library) == set()
        later = library._history._later
    assert later is not None
    later.join(60)
    assert on_disk(library) == {"first", "second"}
    with somebody_writes(library):
        library.add_history("third")
        again = library._history._later
    assert again is not None
    again.join(60)
    assert on_disk(library) == {"first", "second", "third"}


def test_forgotten_queries_do_not_come_back(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_history, "LATER", 0.02)
    with somebody_writes(library):
        library.add_history("secret")
        later = library._history._later
        library._history._unsaved.clear()  # what clear_history does before it asks the disk
    assert later is not None
    later.join(60)
    library.clear_history()
    assert on_disk(library) == set()


def test_what_is_left_at_the_end_is_written_or_told(
    library: Library, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(_history, "LAST", 0.05)
    with somebody_writes(library):
        library.add_history("a word of mine")
    library.close()
    with open_library(library.path) as again:
        assert again.history() == ("a word of mine",)
        with caplog.at_level(logging.WARNING), somebody_writes(again):
            again.add_history("another word")
            again.close()
    assert "1 earlier queries were not kept" in caplog.text
    assert "another word" not in caplog.text
