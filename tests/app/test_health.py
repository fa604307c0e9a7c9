"""The health of the index, from the session's side."""

from __future__ import annotations

import pytest

from sbert_desktop.app.doctor import run_doctor
from sbert_desktop.app.health import run_health, run_repair
from sbert_desktop.app.indexing import IndexRequest, run_index
from sbert_desktop.app.session import Session
from sbert_desktop.errors import LibraryError
from sbert_desktop.settings import Settings


class Context:
    """A job that is never cancelled and remembers its phases."""

    paused = False

    def __init__(self) -> None:
        self.phases: list[str] = []

    def check(self) -> None: ...

    def progress(self, phase: str, done: int, total: int | None, detail: str = "") -> None:
        self.phases.append(phase)

    def partial(self, result: object) -> None: ...


@pytest.fixture
def indexed(session: Session, folder) -> Session:
    run_index(session, IndexRequest((folder,)), Context())
    session.library.exact_below = 1
    session.library.index_from = 2
    with session.library.writer() as writer:
        writer.build_index(None, force=True)
    for query in ("compost", "bread", "keys of the flat"):
        session.library.add_history(query)
    return session


def test_the_index_is_measured_with_earlier_queries(indexed: Session) -> None:
    view = run_health(indexed, Context())
    assert view.rows == indexed.library.counts().embedded
    assert view.queries == 3 + view.rows
    assert view.recall_at_10 == 1.0
    assert not view.repairable
    assert view.words == "The search accelerator finds 100 of 100 of the best hits."


def test_what_is_no_longer_used_can_be_repaired(indexed: Session, folder) -> None:
    (folder / "garden" / "beds.md").unlink()
    (folder / "kitchen" / "bread.txt").unlink()
    run_index(indexed, IndexRequest(confirm_removals=True), Context())
    view = run_health(indexed, Context())
    assert view.dead > 0
    assert view.repairable
    assert view.wasteful
    assert "no longer used" in view.words
    found = {check.name: check for check in run_doctor(indexed, Context())}
    assert found["index"].ok, "free places are no fault"
    assert "no longer used" in found["index"].detail
    context = Context()
    after = run_repair(indexed, context)
    assert (after.dead, after.orphans, after.recall_at_10, after.repairable) == (0, 0, 1.0, False)
    assert "index" in context.phases


def test_a_library_that_can_only_be_read_is_measured_and_not_repaired(indexed: Session, tmp_path) -> None:
    import shutil

    indexed.library.close()
    place = tmp_path / "copy"
    shutil.copytree(indexed.library_path, place)
    session = Session(place, Settings(tmp_path / "other.toml"))
    from sbert_desktop.library import open_library

    session._library = open_library(place, read_only=True)
    assert not run_health(session, Context()).repairable
    with pytest.raises(LibraryError) as caught:
        run_repair(session, Context())
    assert caught.value.code == "library-readonly"
    session.close()


def test_an_empty_library_is_in_order(session: Session) -> None:
    assert run_health(session, Context()).words == "The vectors are in order."
    assert run_repair(session, Context()).rows == 0
