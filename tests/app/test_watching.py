"""A change is heard of within three seconds of the last write, once, and as what it was.

Real events of the system on real files; a test waits for what it expects and never for a time. That
something is *not* told is shown by a later change that is: reports keep the order.
"""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from sbert_desktop.app import watching
from sbert_desktop.app.watching import Watching, united
from sbert_desktop.domain import FolderRules
from sbert_desktop.settings import Settings

WAIT = 60.0


class Heard:
    """Collects reports and lets a test wait for one."""

    def __init__(self) -> None:
        self.reports: list[tuple[float, frozenset[Path]]] = []
        self._news = threading.Condition()

    def __call__(self, paths: frozenset[Path]) -> None:
        with self._news:
            self.reports.append((time.monotonic(), paths))
            self._news.notify_all()

    def wait_for(self, wanted: Callable[[set[Path]], bool]) -> float:
        """Waits until all paths reported so far are as wanted; gives the time of the last report."""
        with self._news:
            assert self._news.wait_for(lambda: wanted(self.paths()), WAIT), self.reports
            return self.reports[-1][0]

    def paths(self) -> set[Path]:
        return {path for _, paths in self.reports for path in paths}


@pytest.fixture
def heard() -> Heard:
    return Heard()


@pytest.fixture(autouse=True)
def _shorter(request, monkeypatch) -> None:
    """Half a second of quiet is enough here, but where the figures themselves are tested."""
    if "within" not in request.node.name:
        monkeypatch.setattr(watching, "_QUIET", 0.5)
        monkeypatch.setattr(watching, "_GAP", 0.4)


@pytest.fixture(autouse=True)
def _halves_of_a_move_are_waited_for(monkeypatch) -> None:
    """watchdog waits half a second for the second half of a move, then takes the first for a deletion; longer here."""
    with suppress(ImportError):  # of Linux, and of watchdog 7 on
        from watchdog.observers.inotify_move_event_grouper import InotifyMoveEventGrouper

        monkeypatch.setattr(InotifyMoveEventGrouper, "delay", 2.0)


@pytest.fixture
def folder(tmp_path) -> Path:
    root = tmp_path / "docs"
    (root / "sub").mkdir(parents=True)
    (root / "a.txt").write_text("a")
    (root / "sub" / "b.txt").write_text("b")
    return root


@pytest.fixture
def watch(heard, tmp_path):
    """Starts watching and waits until it is ready; ends it after the test."""
    started: list[Watching] = []

    def begin(folder: Path, rules: FolderRules | None = None, **options) -> Watching:
        made = Watching(heard, settings=Settings(tmp_path / "settings.toml"), **options)
        started.append(made)
        made.start([(folder, rules or FolderRules())])
        until(lambda: "not begun" not in made.states()[folder][1])
        return made

    yield begin
    for one in started:
        one.stop(WAIT)
    assert not [thread.name for one in started for thread in one._threads], "its own: another test's may end late"


def until(true: Callable[[], bool]) -> None:
    """Polls for what has no event of its own."""
    end = time.monotonic() + WAIT
    while not true():
        assert time.monotonic() < end
        time.sleep(0.01)


@contextmanager
def in_one_go(one: Watching, last: Path, monkeypatch) -> Iterator[None]:
    """Lets nothing be told before the last of some changes was heard of and is quiet, so that all are told at once.

    However long the machine stalls in the middle of them.
    """
    raw, quiet = os.fsencode(last), watching._QUIET
    with monkeypatch.context() as patch:
        patch.setattr(watching, "_QUIET", 2 * WAIT)
        patch.setattr(watching, "_LATEST", 2 * WAIT)
        yield
        until(lambda: raw in one._pending and time.monotonic() - one._pending[raw].last > quiet)


def mark(folder: Path, heard: Heard) -> Path:
    """Makes a last change and waits for its report: what was to come before it has come."""
    last = folder / "last.txt"
    last.write_text("last")
    heard.wait_for(lambda paths: last in paths or folder in paths)
    return last


def test_written_file_is_told_within_three_seconds(folder, watch, heard):
    one = watch(folder)
    assert one.states() == {folder: ("live", "")}
    # what a report waits for: the quiet, and then the turn that sees it; the rest is the machine's
    assert watching._QUIET + watching._TICK + watching._GAP < 3.0
    (folder / "sub" / "b.txt").write_text("changed")
    heard.wait_for(lambda paths: folder / "sub" / "b.txt" in paths)
    assert heard.paths() == {folder / "sub" / "b.txt"}


def test_reading_files_is_no_change(folder, watch, heard):
    watch(folder)
    (folder / "a.txt").read_text()
    os.listdir(folder / "sub")
    mark(folder, heard)
    assert heard.paths() == {folder / "last.txt"}


@pytest.mark.parametrize("temporary", [".goutputstream-AB12", "lu1234.tmp", "sedXy12", "~WRD0001.tmp"])
def test_atomic_save_is_one_change_of_the_real_file(folder, watch, heard, temporary, monkeypatch):
    one = watch(folder)
    with in_one_go(one, folder / "a.txt", monkeypatch):
        (folder / ".~lock.a.txt#").write_text("me")
        (folder / temporary).write_text("new text")
        os.replace(folder / temporary, folder / "a.txt")
    os.unlink(folder / ".~lock.a.txt#")
    heard.wait_for(lambda paths: folder / "a.txt" in paths)
    mark(folder, heard)
    assert heard.paths() == {folder / "a.txt", folder / "last.txt"}


def test_save_by_way_of_a_backup_is_one_change_of_the_real_file(folder, watch, heard, monkeypatch):
    one = watch(folder)
    with in_one_go(one, folder / "heard.txt", monkeypatch):
        os.rename(folder / "a.txt", folder / "a.txt~")
        (folder / "a.txt").write_text("new text")
        os.unlink(folder / "a.txt~")
        (folder / "heard.txt").write_text("all of it")
    heard.wait_for(lambda paths: folder / "a.txt" in paths)
    mark(folder, heard)
    assert [paths for _, paths in heard.reports if folder / "a.txt" in paths] == [heard.reports[0][1]]
    assert heard.paths() == {folder / "a.txt", folder / "heard.txt", folder / "last.txt"}


def test_move_is_told_with_both_its_places_at_once(folder, watch, heard):
    watch(folder)
    os.rename(folder / "a.txt", folder / "sub" / "moved.txt")
    heard.wait_for(bool)
    assert heard.reports[0][1] == {folder / "a.txt", folder / "sub" / "moved.txt"}


def test_moved_and_deleted_folders_are_told_whole(folder, watch, heard, monkeypatch):
    one = watch(folder)
    os.rename(folder / "sub", folder / "other")
    heard.wait_for(bool)
    assert heard.reports[0][1] == {folder / "sub", folder / "other"}
    (folder / "other" / "b.txt").write_text("written at the new place")
    heard.wait_for(lambda paths: folder / "other" / "b.txt" in paths)
    until(lambda: not one.has_pending())  # one writing may be told as two
    before = len(heard.reports)
    with in_one_go(one, folder / "other", monkeypatch):
        os.unlink(folder / "other" / "b.txt")
        os.rmdir(folder / "other")
    heard.wait_for(lambda paths: len(heard.reports) > before)
    assert heard.reports[before][1] == {folder / "other"}


def test_file_that_is_being_written_waits_but_not_for_ever(folder, watch, heard, monkeypatch):
    monkeypatch.setattr(watching, "_LATEST", 2.0)
    monkeypatch.setattr(watching, "_QUIET", 1.9)  # so long the writer may be held up by others
    watch(folder)
    ending = threading.Event()
    written: list[float] = []

    def write() -> None:
        with open(folder / "log.txt", "w") as stream:
            while not ending.wait(0.1):
                written.append(time.monotonic())  # before: it is heard of later, however long that takes
                stream.write("line\n")
                stream.flush()

    writer = threading.Thread(target=write)
    writer.start()
    try:
        first = heard.wait_for(bool)
        assert first - written[0] > 1.5
    finally:
        ending.set()
        writer.join()
    # Where the writer was held up for long that was told in between, and the end is told once more.
    heard.wait_for(lambda paths: heard.reports[-1][0] - written[-1] > 1.5)
    assert heard.paths() == {folder / "log.txt"}


def test_burst_becomes_the_folders_that_it_happened_in(folder, watch, heard, monkeypatch):
    one, last = watch(folder), folder / "last.txt"
    with in_one_go(one, last, monkeypatch):
        for n in range(10):
            place = folder / "sub" / f"unpacked {n}"
            place.mkdir()
            for m in range(150):
                (place / f"{m}.txt").write_text("x")
        last.write_text("last")
    heard.wait_for(lambda paths: last in paths or folder in paths)
    assert sum(len(paths) for _, paths in heard.reports) <= 60
    made = [path for path in folder.rglob("*.txt") if path != last and "unpacked" in str(path)]
    assert all(any(path == told or told in path.parents for told in heard.paths()) for path in made)


def test_flood_of_what_is_left_out_makes_the_whole_folder_be_looked_at(folder, watch, heard, monkeypatch):
    monkeypatch.setattr(watching, "_FLOOD", 50)
    monkeypatch.setattr(watching, "_FLOOD_SECONDS", WAIT)
    watch(folder)
    for n in range(60):
        (folder / "sub" / f".left out {n}").write_text("x")
    heard.wait_for(lambda paths: folder in paths)


def test_what_the_rules_leave_out_is_not_told(folder, watch, heard, tmp_path):
    library = folder / "library"
    library.mkdir()
    (folder / "node_modules").mkdir()
    watch(folder, FolderRules(exclude=("*.log",)), skip=(library,))
    for name in ("x.log", "library/catalog.txt", "node_modules/readme.md", ".hidden.txt", "~$a.docx", "b.crdownload"):
        (folder / name).write_text("x")
    mark(folder, heard)
    assert heard.paths() == {folder / "last.txt"}


def test_library_that_was_named_by_a_link_is_not_told(folder, watch, heard, tmp_path):
    (folder / "library").mkdir()
    (tmp_path / "short").symlink_to(folder / "library")
    watch(folder, skip=(tmp_path / "short",))
    (folder / "library" / "catalog.txt").write_text("x")
    mark(folder, heard)
    assert heard.paths() == {folder / "last.txt"}


def test_changed_ignore_file_makes_its_folder_be_looked_at_and_is_in_force_at_once(folder, watch, heard):
    watch(folder)
    (folder / "sub" / ".sbertignore").write_text("*.md\n")
    heard.wait_for(lambda paths: folder / "sub" in paths)
    (folder / "sub" / "x.md").write_text("x")
    mark(folder, heard)
    assert heard.paths() == {folder / "sub", folder / "last.txt"}
    (folder / ".sbertignore").write_text("*.txt\n")
    heard.wait_for(lambda paths: folder in paths)


def test_changed_rules_are_in_force_at_once(folder, watch, heard):
    one = watch(folder)
    one.update([(folder, FolderRules(exclude=("*.log",)))])
    (folder / "x.log").write_text("x")
    mark(folder, heard)
    assert heard.paths() == {folder / "last.txt"}


def test_folder_that_is_added_is_watched_and_one_that_is_taken_away_is_not(folder, watch, heard, tmp_path):
    one = watch(folder)
    second = tmp_path / "second"
    second.mkdir()
    one.update([(second, FolderRules())])
    until(lambda: one.states() == {second: ("live", "")})
    (folder / "a.txt").write_text("not told")
    mark(second, heard)
    assert heard.paths() == {second / "last.txt"}


def test_root_that_vanishes_and_returns_is_told_when_it_returns(folder, watch, heard, monkeypatch):
    monkeypatch.setattr(watching, "_LOOK", 0.1)
    one = watch(folder)
    os.rename(folder, folder.with_name("away"))
    until(lambda: one.states()[folder] == ("", "The folder is not there now."))
    os.rename(folder.with_name("away"), folder)
    heard.wait_for(lambda paths: folder in paths)
    until(lambda: one.states()[folder] == ("live", ""))
    (folder / "a.txt").write_text("heard again")
    heard.wait_for(lambda paths: folder / "a.txt" in paths)


def test_root_that_is_not_there_at_start_is_told_when_it_appears(tmp_path, watch, heard, monkeypatch):
    monkeypatch.setattr(watching, "_LOOK", 0.1)
    one = watch(tmp_path / "usb")
    assert one.states() == {tmp_path / "usb": ("", "The folder is not there now.")}
    (tmp_path / "usb").mkdir()
    heard.wait_for(lambda paths: tmp_path / "usb" in paths)


def test_network_drive_is_checked_again_after_some_minutes_and_says_so(folder, watch, heard, monkeypatch):
    monkeypatch.setattr(watching, "_LOOK", 0.05)
    monkeypatch.setattr(watching, "network_share", lambda path: "nfs4")
    monkeypatch.setattr(Watching, "_minutes", lambda self: 0.005)
    one = watch(folder)
    state, note = one.states()[folder]
    assert state == "periodic"
    assert note.startswith("The folder is on a network drive (nfs4)")
    heard.wait_for(lambda paths: len(heard.reports) >= 2)
    assert heard.paths() == {folder}


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EMFILE])
def test_without_watches_left_the_folder_is_checked_periodically(folder, watch, monkeypatch, number):
    def refuse(raw, hear):
        raise OSError(number, "limit reached")

    monkeypatch.setattr(watching, "_observe", refuse)
    state, note = watch(folder).states()[folder]
    assert (state, "limit" in note, "every 15 minutes" in note) == ("periodic", True, True)


def test_limit_that_only_sub_folders_met_is_noticed(folder, watch, monkeypatch):
    monkeypatch.setattr(watching, "_no_watches_left", lambda observer: True)
    assert watch(folder).states()[folder][0] == "periodic"


LIMITED = """
import sys, time
from pathlib import Path
from sbert_desktop.app.watching import Watching
from sbert_desktop.domain import FolderRules

Path("/proc/sys/user/max_inotify_watches").write_text("20")
root = Path(sys.argv[1])
for n in range(60):
    (root / str(n)).mkdir()
one = Watching(print)
one.start([(root, FolderRules())])
while "not begun" in one.states()[root][1]:
    time.sleep(0.01)
print(*one.states()[root])
one.stop()
"""


def test_real_limit_of_watches_is_noticed(tmp_path):
    enter = ["unshare", "-Ur"]
    if shutil.which("unshare") is None or subprocess.run([*enter, "true"], capture_output=True).returncode:
        pytest.skip("this system gives no ordinary user a name space of his own")
    done = subprocess.run(
        [*enter, sys.executable, "-c", LIMITED, str(tmp_path)], capture_output=True, text=True, timeout=60
    )
    assert done.stdout.startswith("periodic The system watches no more folders"), done


def test_observer_that_broke_off_is_replaced_and_the_folder_looked_at(folder, watch, heard, monkeypatch):
    monkeypatch.setattr(watching, "_LOOK", 0.05)
    broken = [True]
    monkeypatch.setattr(watching, "_alive", lambda observer: not broken or bool(broken.clear()))
    one = watch(folder)
    heard.wait_for(lambda paths: folder in paths)
    assert one.states()[folder] == ("live", "")
    (folder / "a.txt").write_text("heard again")
    heard.wait_for(lambda paths: folder / "a.txt" in paths)


def test_folders_too_deep_to_be_watched_are_checked_periodically(very_deep, watch):
    root, _ = very_deep
    state, note = watch(root).states()[root]
    assert state == "live" or note.startswith("Its folders lie too deep")


def test_error_of_the_listener_does_not_end_the_watching(folder, watch, heard, monkeypatch):
    caught = []
    monkeypatch.setattr("sys.excepthook", lambda *what: caught.append(what))
    one = watch(folder)
    monkeypatch.setattr(one, "_on_change", lambda paths: 1 / 0)
    (folder / "a.txt").write_text("x")
    until(lambda: bool(caught))
    monkeypatch.setattr(one, "_on_change", heard)
    mark(folder, heard)


def test_names_of_any_bytes_are_told(folder, watch, heard):
    watch(folder)
    raw = os.fsencode(folder) + b"/caf\xe9 \n.txt"
    with open(raw, "wb") as stream:
        stream.write(b"x")
    heard.wait_for(lambda paths: raw in {os.fsencode(path) for path in paths})


def test_many_paths_are_united_into_their_folders_and_never_above_a_root():
    root = b"/r"
    many = {b"/r/%d/%d/%d.txt" % (n % 40, n % 400, n) for n in range(4_000)}
    some = united(many | {b"/r/x.txt"}, frozenset([root]))
    assert len(some) <= 200
    assert all(any(path.startswith(told + b"/") or path == told for told in some) for path in many)
    assert united({b"/r/a", b"/r/a/b", b"/r/a/b/c", b"/r/ab"}, frozenset([root])) == {b"/r/a", b"/r/ab"}
    wide = {b"/r/%d/x" % n for n in range(1_000)}
    assert united(wide, frozenset([root])) == {root}
