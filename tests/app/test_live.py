"""A window that is open: what happens to files shows in the results within seconds, whatever else goes on."""

from __future__ import annotations

import os
import threading
import time
from collections import Counter
from pathlib import Path

import pytest

from sbert_desktop.app import live
from sbert_desktop.app.facade import App
from sbert_desktop.app.storing import Storing
from sbert_desktop.app.views import IndexProgress
from sbert_desktop.domain import FolderRules, Mode, Outcome, Partial, Query
from tests.events import Inbox

SECONDS = 90.0  # a hang only: the promise is 10 s, and kept by the figures of app/watching.py (see test_watching.py)


@pytest.fixture
def inbox():
    return Inbox()


@pytest.fixture
def app(tmp_path, settings, inbox):
    app = App(tmp_path / "library", settings)
    app.connect(inbox.post)
    yield app
    app.close()


def names(app, inbox, query) -> list[str]:
    view = inbox.result(app.search(Query(query, mode=Mode.KEYWORD)))
    return [document.path.name for document in view.documents]


def until(test) -> None:
    end = time.monotonic() + SECONDS
    while not test():
        assert time.monotonic() < end
        threading.Event().wait(0.1)


def until_found(app, inbox, query, expected) -> None:
    """Asks as a person would who types all the time; nothing may wait for the end of the typing."""
    end = time.monotonic() + SECONDS
    while (found := names(app, inbox, query)) != expected:
        assert time.monotonic() < end, f"{query}: {found}, not {expected}"
        threading.Event().wait(0.1)


def until_watched(app, inbox, folder: Path) -> None:
    end = time.monotonic() + SECONDS
    while True:
        views = {view.path: view for view in inbox.result(app.refresh()).folders}
        if views.get(folder) is not None and views[folder].watch == "live":
            return
        assert time.monotonic() < end, views
        threading.Event().wait(0.05)


def moved(inbox) -> int:
    """Gives how many files the runs that ended took for moved ones."""
    ended = [e.result for e in list(inbox.events) if getattr(e, "outcome", None) is Outcome.DONE]
    return sum(getattr(report, "moved", 0) for report in ended)


def test_new_changed_saved_moved_renamed_and_deleted_files_show(app, inbox, folder):
    inbox.result(app.add_folders([folder]))
    until_watched(app, inbox, folder)
    (folder / "garden" / "walrus.txt").write_text("A walrus sings on the ice floe.\n")
    until_found(app, inbox, "walrus", ["walrus.txt"])
    temporary = folder / "garden" / ".walrus.tmp"
    temporary.write_text("A pelican came instead.\n")
    os.replace(temporary, folder / "garden" / "walrus.txt")  # as editors save
    until_found(app, inbox, "pelican", ["walrus.txt"])
    assert names(app, inbox, "walrus") == []
    os.rename(folder / "garden", folder / "yard")
    until_found(app, inbox, "spade shears", ["tools.txt"])
    os.rename(folder / "yard" / "walrus.txt", folder / "kitchen" / "bird.txt")
    until_found(app, inbox, "pelican", ["bird.txt"])
    (folder / "kitchen" / "bird.txt").unlink()
    until_found(app, inbox, "pelican", [])
    until(lambda: inbox.result(app.refresh()).documents == 6)
    # The folder's two files, and one. One run may have done it all, and it tells so when it ends: later than it shows.
    until(lambda: moved(inbox) >= 3)


def test_changes_show_while_a_long_run_goes_on_and_the_person_types(app, inbox, folder, held):
    for number in range(1500):
        (folder / f"note-{number}.txt").write_text(f"Entry {number} speaks of the mill and the weir. " * 20)
    job = app.add_folders([folder])
    until_watched(app, inbox, folder)
    inbox.until(lambda e: isinstance(e, Partial) and isinstance(e.result, IndexProgress) and e.result.files_done > 5)
    (folder / "walrus.txt").write_text("A walrus sings on the ice floe.\n")
    until_found(app, inbox, "walrus", ["walrus.txt"])
    assert inbox.result(app.set_caption(folder / "walrus.txt", "Seen near Svalbard")).text
    assert not any(getattr(e, "outcome", None) and e.job_id == job for e in inbox.events), "the run was over too soon"
    app.cancel(job)
    inbox.finished(job)


def test_files_that_a_run_comes_to_anyway_are_not_read_for_who_looks_meanwhile(app, inbox, folder, held, monkeypatch):
    for number in range(300):
        (folder / f"note-{number}.txt").write_text(f"Entry {number} speaks of the mill and the weir.\n")
    stored: Counter[str] = Counter()
    some, store = threading.Event(), Storing.store

    def noted(self, item, batch) -> None:
        store(self, item, batch)
        stored.update([item[0].path.name])
        if stored.total() > 5:
            some.set()

    monkeypatch.setattr(Storing, "store", noted)
    job = app.add_folders([folder])
    assert some.wait(60)  # what is told of it comes four times a second at most: of a quick machine's first file alone
    oldest = min(folder.glob("note-*"), key=lambda path: path.stat().st_mtime_ns)  # the newest are read first
    oldest.write_text("A pelican listens.\n")
    (folder / "walrus.txt").write_text("A walrus sings on the ice floe.\n")
    app.check([folder])  # as who begins to watch a large folder does
    until_found(app, inbox, "walrus", ["walrus.txt"])
    until_found(app, inbox, "pelican", [oldest.name])
    assert not any(getattr(e, "outcome", None) and e.job_id == job for e in inbox.events), "the run was over too soon"
    held.set()
    report = inbox.result(job)
    assert (report.documents, report.added, report.changed) == (307, 307, 0)
    assert stored.total() == 308, "only what changed while it waited is read twice"
    assert stored[oldest.name] == 2


def test_at_most_one_check_waits(app, inbox, folder):
    inbox.result(app.add_folders([folder]))
    going = threading.Event()
    app._jobs.submit("writer", "wait", lambda context: going.wait(60))
    jobs = {app.check([folder / f"{number}.txt"]) for number in range(50)}
    going.set()
    assert len(jobs) == 1
    assert inbox.result(jobs.pop()).documents == 6


def test_check_that_was_cancelled_while_it_waited_loses_no_change(app, inbox, folder):
    inbox.result(app.add_folders([folder]))
    app._live._watching.stop()
    (folder / "walrus.txt").write_text("A walrus sings.\n")
    going = threading.Event()
    app._jobs.submit("writer", "wait", lambda context: going.wait(60))
    first = app.check([folder / "walrus.txt"])
    app.cancel(first)
    second = app.check([folder / "kitchen"])
    going.set()
    assert inbox.finished(first).outcome is Outcome.CANCELLED
    assert inbox.result(second).added == 1
    assert names(app, inbox, "walrus") == ["walrus.txt"]


def test_check_of_a_few_paths_does_not_walk_the_folder(app, inbox, folder, monkeypatch):
    inbox.result(app.add_folders([folder]))
    until_watched(app, inbox, folder)  # who begins to watch walks it
    app._live.stop()
    (folder / "kitchen" / "new.txt").write_text("A walrus sings.\n")
    (folder / "garden" / "other.txt").write_text("A pelican listens.\n")
    listed: list[str] = []
    scandir = os.scandir
    monkeypatch.setattr(os, "scandir", lambda path=".": (listed.append(os.fsdecode(path)), scandir(path))[1])
    assert inbox.result(app.check([folder / "kitchen" / "new.txt"])).added == 1
    assert not [path for path in listed if path.startswith(str(folder) + os.sep)]
    assert names(app, inbox, "walrus") == ["new.txt"]
    assert names(app, inbox, "pelican") == []


def test_stale_hits_are_queued_for_reading(app, inbox, folder):
    inbox.result(app.add_folders([folder]))
    app._live._watching.stop()
    (folder / "kitchen" / "bread.txt").write_text("Sourdough, and now a walrus too.\n")
    (folder / "kitchen" / "soup.html").unlink()
    view = inbox.result(app.search(Query("sourdough leeks", mode=Mode.KEYWORD)))
    assert [(d.path.name, d.state) for d in view.documents] == [("bread.txt", "changed")]
    assert any("gone from the disk" in note for note in view.notes)
    until_found(app, inbox, "walrus", ["bread.txt"])
    until(lambda: inbox.result(app.refresh()).documents == 5)
    view = inbox.result(app.search(Query("sourdough leeks", mode=Mode.KEYWORD)))
    assert [(d.state, view.notes) for d in view.documents] == [("current", ())]


def test_stale_hits_wait_for_whoever_watches_but_not_for_ever(app, inbox, folder, monkeypatch):
    inbox.result(app.add_folders([folder]))
    monkeypatch.setattr(live, "_STALE_AFTER", 0.05)
    checked: list[Path] = []
    monkeypatch.setattr(app._live, "check", lambda paths: checked.extend(paths))
    asked: list[bool] = []
    for answers, times in (([True, True, False], 3), ([True] * 99, live._STALE_WAITS + 1)):
        asked.clear()
        checked.clear()
        left = iter(answers)

        def has_pending(left=left) -> bool:
            asked.append(next(left))
            return asked[-1]

        monkeypatch.setattr(app._live._watching, "has_pending", has_pending)
        app._live.stale([folder / "kitchen" / "soup.html"])
        until(lambda: checked)
        assert (checked, asked) == ([folder / "kitchen" / "soup.html"], answers[:times])


def test_rules_and_a_new_place_are_in_force_after_their_run(app, inbox, folder, tmp_path):
    inbox.result(app.add_folders([folder]))
    report = inbox.result(app.set_rules(folder, FolderRules(exclude=("*.html",))))
    assert report.documents == 5
    assert inbox.result(app.refresh()).folders[0].rules.exclude == ("*.html",)
    os.rename(folder, tmp_path / "elsewhere")
    report = inbox.result(app.update())
    assert report.documents == 5
    assert inbox.result(app.refresh()).folders[0].state == "offline"
    view = inbox.result(app.search(Query("sourdough", mode=Mode.KEYWORD)))
    assert [document.state for document in view.documents] == ["offline"]
    report = inbox.result(app.locate(folder, tmp_path / "elsewhere"))
    assert (report.documents, report.encoded_passages) == (5, 0)
    view = inbox.result(app.search(Query("sourdough", mode=Mode.KEYWORD)))
    assert [(d.path.parent.parent.name, d.state) for d in view.documents] == [("elsewhere", "current")]


def test_folders_are_not_watched_where_the_person_says_so(app, inbox, folder, settings):
    inbox.result(app.add_folders([folder]))
    until_watched(app, inbox, folder)
    settings.set("indexing.watch", False)
    until(lambda: not inbox.result(app.refresh()).folders[0].watch)
