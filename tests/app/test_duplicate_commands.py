"""The window's commands on duplicates, from finding to undo: what they answer, what the library knows after."""

from __future__ import annotations

import os
import sys
import threading
import time
from pathlib import Path

import pytest

from sbert_desktop.app.duplicate_views import CleanUpView, DuplicatesView
from sbert_desktop.app.facade import App
from sbert_desktop.app.ticking import removals, ticks_of
from sbert_desktop.cleanup import Assistant, DuplicateKind, DuplicateQuery
from sbert_desktop.domain import Filters, Mode, Outcome, Query
from sbert_desktop.platform import SystemTrash
from tests.app.test_duplicates import BREAD, WALK
from tests.events import Inbox

pytestmark = pytest.mark.skipif(os.name == "nt" or sys.platform == "darwin", reason="looks into the trash itself")
NEAR = WALK.replace("eleven ships", "a great many ships")


@pytest.fixture
def inbox():
    return Inbox()


@pytest.fixture
def root(tmp_path) -> Path:
    folder = tmp_path / "docs"
    for name, text in {"walk.txt": WALK, "b/walk copy.txt": WALK, "near.txt": NEAR, "bread.txt": BREAD}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        os.utime(path, (1_600_000_000, 1_600_000_000))
    return folder


@pytest.fixture
def app(tmp_path, settings, inbox, root, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    app = App(tmp_path / "library", settings)
    app.connect(inbox.post)
    inbox.result(app.add_folders([root]))
    yield app
    began = time.monotonic()
    app.close()
    assert time.monotonic() - began < 30  # it waits for 5 s at most, and the machine may stand still


def _view(app, inbox, query=None, **options) -> DuplicatesView:
    return inbox.result(app.duplicates(query or DuplicateQuery(), **options))


def _names(view: DuplicatesView) -> list[set[str]]:
    return [{member.copy.path.name for member in group.members} for group in view.groups]


def _found(app, inbox, words: str) -> set[str]:
    answer = inbox.result(app.search(Query(words, mode=Mode.KEYWORD)))
    return {document.path.name for document in answer.documents for hit in document.hits}


def _until(app, inbox, documents: int) -> None:
    """Waits until the library holds so many documents."""
    for _ in range(1_000):
        if inbox.result(app.refresh()).documents == documents:
            return
        threading.Event().wait(0.05)
    raise AssertionError("the library did not follow")


def test_from_finding_to_undo(app, inbox, root):
    view = _view(app, inbox)
    assert _names(view) == [{"walk.txt", "walk copy.txt", "near.txt"}]
    strict = _view(app, inbox, DuplicateQuery(near=0.99))
    assert _names(strict) == [{"walk.txt", "walk copy.txt"}]
    going = removals(strict.groups, ticks_of(strict.groups))
    dry = inbox.result(app.clean_up(going, dry=True))
    assert (dry.dry, dry.moved) == (True, 1)
    assert (root / "b" / "walk copy.txt").exists()

    done = inbox.result(app.clean_up(going))
    assert isinstance(done, CleanUpView)
    assert [(one.path.name, one.state) for one in done.files] == [("walk copy.txt", "moved")]
    after = _view(app, inbox, DuplicateQuery(near=0.99))
    assert after.groups == (), "what is gone is not shown, though nothing was looked at again"
    assert _names(_view(app, inbox)) == [{"walk.txt", "near.txt"}]
    _until(app, inbox, 3)
    assert _names(_view(app, inbox, again=True)) == [{"walk.txt", "near.txt"}]

    listed = inbox.result(app.clean_ups())
    assert [(one.id, one.moved, one.undone) for one in listed] == [(done.id, 1, False)]
    back = inbox.result(app.undo_clean_up(done.id))
    assert (back.undone, (root / "b" / "walk copy.txt").read_text()) == (True, WALK)
    _until(app, inbox, 4)
    assert _names(_view(app, inbox, again=True)) == [{"walk.txt", "walk copy.txt", "near.txt"}]


def test_what_goes_is_forgotten_without_a_question_and_found_again_after_undo(app, inbox, root):
    for number in range(150):
        (root / f"note {number} copy.txt").write_text(BREAD)
    inbox.result(app.update())
    view = _view(app, inbox, DuplicateQuery(kinds=(DuplicateKind.BYTES,)))
    done = inbox.result(app.clean_up(removals(view.groups, ticks_of(view.groups))))
    assert done.moved == 151
    _until(app, inbox, 3)
    assert _found(app, inbox, "sour dough") == {"bread.txt"}
    inbox.result(app.undo_clean_up(done.id))
    _until(app, inbox, 154)


def test_what_the_person_sends_away_for_another_one_teaches_that_they_are_the_same(app, inbox, root, monkeypatch):
    run = app._runs.run

    def at_once(request):  # the run that takes the file out of the library could hardly be quicker
        job = run(request)
        inbox.finished(job)
        return job

    monkeypatch.setattr(app._runs, "run", at_once)
    near = DuplicateQuery(assistant=Assistant(kinds=(DuplicateKind.BYTES, DuplicateKind.NEAR)))
    view = _view(app, inbox, near)
    ticks = frozenset(member.key for member in view.groups[0].members if member.copy.path.name == "near.txt")
    inbox.result(app.clean_up(removals(view.groups, ticks)))
    [judged] = app._session.library.judgements("same", "document")
    assert judged.verdict == "same"
    assert {judged.text, judged.other_text} == {WALK.strip(), NEAR.strip()}


def test_what_a_clean_up_taught_is_taken_back_with_it(app, inbox, root):
    kinds = Assistant(kinds=(DuplicateKind.BYTES, DuplicateKind.NEAR))
    for number in range(2):
        (root / f"other {number}.txt").write_text(BREAD.replace("dough", f"paste {number}"))
    inbox.result(app.update())

    def clean(*names: str) -> CleanUpView:
        view = _view(app, inbox, DuplicateQuery(assistant=kinds), again=True)
        ticks = frozenset(m.key for g in view.groups for m in g.members if m.copy.path.name in names)
        done = inbox.result(app.clean_up(removals(view.groups, ticks)))
        assert done.moved == len(names)
        return done

    def taught() -> int:
        return len(app._session.library.judgements("same", "document"))

    first = clean("near.txt")
    second = clean("other 0.txt", "other 1.txt")
    assert taught() == 3
    inbox.result(app.undo_clean_up(second.id, [root / "other 0.txt"]))
    assert taught() == 2  # only what has come back
    inbox.result(app.undo_clean_up(second.id))
    assert taught() == 1
    inbox.result(app.undo_clean_up(first.id))
    assert taught() == 0


def test_duplicates_are_looked_for_only_among_the_documents_chosen(app, inbox, root):
    (root / "bread copy.txt").write_text(BREAD)
    inbox.result(app.update())
    library = app._session.library
    walk, bread = (library.content_at(root / name) for name in ("walk.txt", "bread.txt"))
    everything = _view(app, inbox, again=True)
    assert len(everything.groups) == 2

    def among(*contents: int) -> DuplicatesView:
        return _view(app, inbox, DuplicateQuery(filters=Filters(contents=contents, contents_label="chosen")))

    assert _names(among(bread)) == [{"bread.txt", "bread copy.txt"}]
    only = among(walk)
    assert _names(only) == [{"walk.txt", "walk copy.txt"}]  # both files hold the one content; near.txt was not chosen
    assert only.files == 2
    assert among(10_000).groups == ()
    assert len(_view(app, inbox).groups) == 2


def test_not_duplicates_holds_at_once_and_can_be_taken_back(app, inbox):
    group = _view(app, inbox).groups[0]
    inbox.result(app.not_duplicates(group))
    assert _names(_view(app, inbox)) == [{"walk.txt", "walk copy.txt"}]
    inbox.result(app.not_duplicates(group, undo=True))
    assert _names(_view(app, inbox)) == [{"walk.txt", "walk copy.txt", "near.txt"}]


def test_equal_folders_that_are_no_duplicates_stay_away(app, inbox, root):
    for top in ("x", "y"):
        for number in range(3):
            path = root / top / f"{number}.bin"
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(bytes([number]) * 900)
    inbox.result(app.update())
    view = _view(app, inbox, DuplicateQuery(kinds=(DuplicateKind.BYTES,)), again=True)
    group = next(group for group in view.groups if group.folders)
    inbox.result(app.not_duplicates(group))
    left = _view(app, inbox, DuplicateQuery(kinds=(DuplicateKind.BYTES,)))
    assert _names(left) == [{"walk.txt", "walk copy.txt"}]


def test_a_cancelled_search_for_duplicates_ends_soon_and_the_next_one_finds(app, inbox, root, monkeypatch):
    from sbert_desktop.app import copies

    began = threading.Event()

    def endless(path):
        began.set()
        return open("/dev/zero", "rb", buffering=0)

    for name in ("a.bin", "b.bin"):
        (root / name).write_bytes(b"same" * 20_000)
    inbox.result(app.update())
    whole = copies.open_plain
    monkeypatch.setattr(copies, "open_plain", endless)
    monkeypatch.setattr(copies, "_ends", lambda path, size: b"")
    job = app.duplicates(DuplicateQuery(), again=True)
    assert began.wait(60)
    app.cancel(job)
    assert inbox.finished(job).outcome is Outcome.CANCELLED
    monkeypatch.setattr(copies, "open_plain", whole)
    assert {"a.bin", "b.bin"} in _names(_view(app, inbox))


def test_a_window_closed_midway_leaves_a_journal_that_tells_all(tmp_path, settings, inbox, root, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    for number in range(80):
        (root / f"{number} copy.txt").write_text(BREAD)
    app = App(tmp_path / "library", settings)
    app.connect(inbox.post)
    inbox.result(app.add_folders([root]))
    view = _view(app, inbox)
    midway = threading.Event()
    move, moved = SystemTrash.move, []

    def slowly(self, path):
        moved.append(path)
        if len(moved) == 5:
            midway.set()
        end = time.monotonic() + 60
        while len(moved) > 20 and "clean-up" in app._jobs.kinds("cleaner") and time.monotonic() < end:
            threading.Event().wait(0.01)  # whoever closes the window is late
        return move(self, path)

    monkeypatch.setattr(SystemTrash, "move", slowly)
    app.clean_up(removals(view.groups, ticks_of(view.groups)))
    assert midway.wait(60)
    began = time.monotonic()
    app.close()
    assert time.monotonic() - began < 30  # it waits for 5 s at most, and the machine may stand still
    there = {path.name for path in root.rglob("*.txt")}

    later = App(tmp_path / "library", settings)
    later.connect(inbox.post)
    [told] = inbox.result(later.clean_ups())
    assert told.finished
    assert 0 < told.moved < 81
    assert {one.path.name for one in told.files if one.state == "moved"}.isdisjoint(there)
    assert {one.path.name for one in told.files if one.state != "moved"} <= there
    inbox.result(later.undo_clean_up(told.id))
    assert len(list(root.rglob("*.txt"))) == 84
    later.close()
