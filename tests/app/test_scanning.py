"""A walk always ends, opens nothing, and tells added, changed, moved and removed apart."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from sbert_desktop.app.scanning import Scan, compare, root_problem, scan
from sbert_desktop.domain import FileId, SourceFile
from sbert_desktop.jobs import NullContext


@dataclass
class Known:
    id: FileId
    size: int
    mtime_ns: int
    device: int
    inode: int
    content: int | None = None
    problem_code: str = ""


def known_of(found: Scan) -> dict[bytes, Known]:
    return {
        path: Known(FileId(n), f.size, f.mtime_ns, f.device, f.inode, 50 + n)
        for n, (path, f) in enumerate(sorted(found.files.items()))
    }


@pytest.fixture
def folder(tmp_path):
    root = tmp_path / "docs"
    (root / "sub").mkdir(parents=True)
    for name in ("a.txt", "b.txt", "sub/c.txt"):
        (root / name).write_text(name * 3)
    return root


def test_unchanged_folder_has_no_changes(folder):
    found = scan(folder, NullContext())
    changes = compare(found, known_of(found))
    assert (changes.unchanged, changes.added, changes.changed, changes.moved, changes.removed) == (3, [], [], [], [])


def test_added_changed_moved_and_removed_are_told_apart(folder):
    known = known_of(scan(folder, NullContext()))
    (folder / "new.txt").write_text("new")
    (folder / "a.txt").write_text("longer than before")
    os.rename(folder / "b.txt", folder / "sub" / "moved.txt")
    (folder / "sub" / "c.txt").unlink()
    changes = compare(scan(folder, NullContext()), known)
    assert [f.path.name for f in changes.added] == ["new.txt"]
    assert [f.path.name for f in changes.changed] == ["a.txt"]
    assert [f.path.name for _, f in changes.moved] == ["moved.txt"]
    gone = known[os.fsencode(folder / "sub" / "c.txt")]
    assert changes.removed == [gone.id]
    assert changes.removed_contents == [gone.content]


def test_links_and_special_files_are_skipped_and_loops_end(folder):
    os.symlink(folder, folder / "sub" / "loop")
    os.symlink(folder / "a.txt", folder / "link.txt")
    os.mkfifo(folder / "pipe")
    found = scan(folder, NullContext())
    assert len(found.files) == 3
    assert found.skipped == 3


def test_hidden_lock_and_system_files_are_left_out(folder):
    for name in (".hidden.txt", "~$a.docx", ".~lock.a.odt#", "Thumbs.db", "desktop.ini"):
        (folder / name).write_text("x")
    assert len(scan(folder, NullContext()).files) == 3
    assert len(scan(folder, NullContext(), hidden=True).files) == 4


def test_names_that_are_not_utf8_are_found(folder):
    raw = os.fsencode(folder) + b"/caf\xe9 \n.txt"
    with open(raw, "wb") as stream:
        stream.write(b"x")
    found = scan(folder, NullContext())
    assert raw in found.files
    assert os.fsencode(found.files[raw].path) == raw


def test_the_library_itself_is_never_scanned(folder):
    (folder / "library").mkdir()
    (folder / "library" / "catalog.txt").write_text("x")
    assert len(scan(folder, NullContext(), skip=(folder / "library",)).files) == 3


def test_many_files_gone_at_once_are_kept_until_confirmed():
    known = {b"/d/%d.txt" % n: Known(FileId(n), 1, 1, 0, 0) for n in range(300)}
    found = Scan(files={b"/d/0.txt": SourceFile(__import__("pathlib").Path("/d/0.txt"), 1, 1)})
    changes = compare(found, known)
    assert (changes.removed_pending, changes.removed) == (299, [])
    assert len(compare(found, known, confirm_removals=True).removed) == 299


@pytest.mark.skipif(os.geteuid() == 0 if hasattr(os, "geteuid") else True, reason="root reads everything")
def test_unreadable_folder_is_listed_and_its_files_stay(folder):
    known = known_of(scan(folder, NullContext()))
    (folder / "sub").chmod(0)
    try:
        found = scan(folder, NullContext())
        assert [path.name for path, _ in found.unreadable] == ["sub"]
        assert compare(found, known).removed == []
    finally:
        (folder / "sub").chmod(0o755)


def test_files_under_an_unreadable_folder_are_not_removed(folder):
    from sbert_desktop.domain import Problem

    found = scan(folder, NullContext())
    known = known_of(found)
    path = os.fsencode(folder / "sub" / "c.txt")
    del found.files[path]
    found.unreadable.append((folder / "sub", Problem("folder-unreadable", "x")))
    assert compare(found, known).removed == []


def test_vanished_and_emptied_roots_are_offline(tmp_path):
    assert root_problem(tmp_path / "gone", 5) == "missing"
    (tmp_path / "empty").mkdir()
    assert root_problem(tmp_path / "empty", 5) == "empty"
    assert root_problem(tmp_path / "empty", 0) == ""


def test_file_renamed_to_another_type_is_read_again(folder):
    known = known_of(scan(folder, NullContext()))
    os.rename(folder / "a.txt", folder / "a.md")
    os.rename(folder / "b.txt", folder / "B.TXT")
    changes = compare(scan(folder, NullContext()), known)
    assert [f.path.name for f in changes.added] == ["a.md"]
    assert [f.path.name for _, f in changes.moved] == ["B.TXT"]
    assert changes.removed == [known[os.fsencode(folder / "a.txt")].id]


# ---------------------------------------------------------------- comparing while walking


def rescan(folder, known, **options):
    found = scan(folder, NullContext(), known=known, **options)
    return found, compare(found, known)


def test_comparing_while_walking_says_the_same_and_keeps_only_what_differs(folder):
    known = known_of(scan(folder, NullContext()))
    found, changes = rescan(folder, known)
    assert (found.files, changes.unchanged, changes.removed) == ({}, 3, [])
    (folder / "new.txt").write_text("new")
    (folder / "a.txt").write_text("longer than before")
    os.rename(folder / "b.txt", folder / "sub" / "moved.txt")
    (folder / "sub" / "c.txt").unlink()
    found, changes = rescan(folder, known)
    assert sorted(f.path.name for f in found.files.values()) == ["a.txt", "moved.txt", "new.txt"]
    assert changes == compare(scan(folder, NullContext()), known)
    assert [f.path.name for _, f in changes.moved] == ["moved.txt"]


def test_restricted_walk_sees_only_what_was_named_and_leaves_the_rest_alone(folder):
    known = known_of(scan(folder, NullContext()))
    (folder / "a.txt").unlink()
    (folder / "b.txt").unlink()
    (folder / "sub" / "d.txt").write_text("d")
    only = (folder / "a.txt", folder / "sub", folder / "sub" / "d.txt", folder / "never.txt")
    _, changes = rescan(folder, known, only=only)
    assert [f.path.name for f in changes.added] == ["d.txt"]
    assert changes.removed == [known[os.fsencode(folder / "a.txt")].id]
    whole = scan(folder, NullContext(), only=only)
    assert compare(whole, known).removed == changes.removed


def test_restricted_walk_honours_the_rules_and_links_above_the_path(folder, tmp_path):
    (folder / "sub" / ".sbertignore").write_text("*.log\n")
    (folder / "sub" / "x.log").write_text("x")
    (folder / ".hidden").mkdir()
    (folder / ".hidden" / "y.txt").write_text("y")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "z.txt").write_text("z")
    os.symlink(elsewhere, folder / "link")
    named = (folder / "sub" / "x.log", folder / ".hidden" / "y.txt", folder / "link" / "z.txt", elsewhere / "z.txt")
    assert scan(folder, NullContext(), only=named).files == {}
    assert scan(folder, NullContext(), only=(folder / "link", folder / "sub")).files.keys() == {
        os.fsencode(folder / "sub" / "c.txt")
    }


def test_move_is_told_when_both_ends_are_named(folder):
    known = known_of(scan(folder, NullContext()))
    os.rename(folder / "sub", folder / "other")
    _, changes = rescan(folder, known, only=(folder / "sub", folder / "other"))
    assert [str(f.path.relative_to(folder)) for _, f in changes.moved] == ["other/c.txt"]
    assert (changes.added, changes.removed) == ([], [])


def test_deleting_a_folder_is_measured_against_all_files_that_are_known():
    known = {b"/d/x/%d.txt" % n: Known(FileId(n), 1, 1, 0, 0) for n in range(150)}
    found = Scan(root=b"/d", only=(b"/d/x",), missing=set(known))
    assert compare(found, known).removed_pending == 150
    assert len(compare(found, known, known_total=10_000).removed) == 150


# ---------------------------------------------------------------- links, clouds, drives


def test_hard_links_among_new_files_are_read_once(folder):
    os.link(folder / "a.txt", folder / "sub" / "again.txt")
    os.link(folder / "a.txt", folder / "z.txt")
    changes = compare(scan(folder, NullContext()), {})
    first = os.fsencode(folder / "a.txt")
    assert changes.links == {os.fsencode(folder / "sub" / "again.txt"): first, os.fsencode(folder / "z.txt"): first}


def test_new_hard_link_of_a_known_file_names_that_file(folder):
    known = known_of(scan(folder, NullContext()))
    os.link(folder / "a.txt", folder / "0.txt")
    _, changes = rescan(folder, known)
    assert [f.path.name for f in changes.added] == ["0.txt"]
    assert changes.links == {os.fsencode(folder / "0.txt"): os.fsencode(folder / "a.txt")}


@pytest.fixture
def online_only(monkeypatch):
    """Names of files that lie only in the cloud, as Windows and macOS would tell."""
    from sbert_desktop.app import scanning

    sizes: set[int] = set()
    monkeypatch.setattr(scanning, "_MARKS", True)
    monkeypatch.setattr(scanning, "is_online_only", lambda status: status.st_size in sizes)
    return sizes


def test_files_that_lie_only_in_the_cloud_are_listed_and_read_once_they_are_here(folder, online_only):
    (folder / "far.txt").write_text("f" * 77)
    online_only.add(77)
    found = scan(folder, NullContext())
    path = os.fsencode(folder / "far.txt")
    assert path not in found.files
    changes = compare(found, {})
    assert [(file.path.name, problem.code) for file, problem in changes.listed] == [("far.txt", "cloud-only")]
    file = changes.listed[0][0]
    known = known_of(found)
    known[path] = Known(FileId(9), file.size, file.mtime_ns, file.device, file.inode, None, "cloud-only")
    _, again = rescan(folder, known)
    assert (again.listed, again.removed, again.unchanged) == ([], [], 4)
    online_only.clear()  # downloaded: same size, same time
    assert [f.path.name for f in rescan(folder, known)[1].changed] == ["far.txt"]
    assert [f.path.name for f in compare(scan(folder, NullContext()), known).changed] == ["far.txt"]


def test_text_of_a_file_that_was_sent_back_to_the_cloud_stays(folder, online_only):
    known = known_of(scan(folder, NullContext()))
    online_only.add(os.stat(folder / "a.txt").st_size)
    _, changes = rescan(folder, known)
    assert (changes.removed, changes.listed, changes.unchanged) == ([], [], 3)


def test_icloud_placeholder_stands_for_the_file_it_names(folder):
    (folder / ".Report.pdf.icloud").write_bytes(b"bplist00")
    changes = compare(scan(folder, NullContext()), {})
    assert [(file.path.name, problem.code) for file, problem in changes.listed] == [("Report.pdf", "cloud-only")]
    known = known_of(scan(folder, NullContext()))
    os.rename(folder / "a.txt", folder / ".a.txt.icloud")
    assert rescan(folder, known)[1].removed == []


def test_online_only_flags_of_windows_and_macos_are_known():
    from types import SimpleNamespace

    from sbert_desktop.app.rules import is_online_only

    for attributes in (0x1000, 0x40000, 0x400000, 0x400020):
        assert is_online_only(SimpleNamespace(st_file_attributes=attributes))
    assert is_online_only(SimpleNamespace(st_flags=0x40000000))
    assert not is_online_only(SimpleNamespace(st_file_attributes=0x420, st_flags=0))


def test_what_windows_and_macos_mark_as_hidden_is_left_out_unless_asked_for(folder, monkeypatch):
    from sbert_desktop.app import scanning

    monkeypatch.setattr(scanning, "_MARKS", True)
    monkeypatch.setattr(scanning, "is_marked_hidden", lambda status: status.st_size == 15)
    (folder / "a.txt").write_text("h" * 15)
    found = scan(folder, NullContext(), rows=5)
    assert os.fsencode(folder / "a.txt") not in found.files
    assert found.rows[0][2].reason == "hidden"
    assert scan(folder, NullContext(), only=(folder / "a.txt",)).files == {}
    assert len(scan(folder, NullContext(), hidden=True).files) == 3


def test_drive_below_the_folder_that_vanished_is_offline_and_a_deleted_folder_is_not(folder):
    (folder / "usb").mkdir()
    known = known_of(scan(folder, NullContext()))
    for n in range(3):  # what was known of the drive that was mounted at "usb"
        known[os.fsencode(folder / "usb" / f"{n}.txt")] = Known(FileId(90 + n), 1, 1, 4242, 70 + n, 7)
    _, changes = rescan(folder, known)
    assert (changes.removed, changes.offline, changes.offline_folders) == ([], 3, (folder / "usb",))
    (folder / "usb").rmdir()  # some systems remove the place with the drive
    assert rescan(folder, known)[1].offline == 3
    (folder / "sub" / "c.txt").unlink()
    (folder / "sub").rmdir()
    changes = rescan(folder, known)[1]
    assert (len(changes.removed), changes.offline) == (1, 3)


def test_drive_that_got_another_number_is_no_vanished_drive(folder):
    known = known_of(scan(folder, NullContext()))
    for entry in known.values():
        entry.device += 1000
    (folder / "sub" / "c.txt").unlink()
    os.rename(folder / "a.txt", folder / "new name.txt")
    changes = rescan(folder, known)[1]
    assert (len(changes.removed), len(changes.moved), changes.offline) == (1, 1, 0)


def test_root_that_goes_away_during_the_walk_removes_nothing(folder):
    known = known_of(scan(folder, NullContext()))

    class Unplug(NullContext):
        walked = 0

        def check(self) -> None:
            self.walked += 1
            if self.walked == 2:
                os.rename(folder, folder.with_name("unplugged"))

    found = scan(folder, Unplug(), known=known)
    changes = compare(found, known)
    assert found.cut_off
    assert (changes.removed, changes.removed_pending, changes.offline) == ([], 0, 1)


MOUNTED = """
import os, subprocess, sys
from pathlib import Path
from types import SimpleNamespace as Known
from sbert_desktop.app.scanning import compare, root_problem, scan
from sbert_desktop.jobs import NullContext

base = Path(sys.argv[1])
drive, docs = base / "drive", base / "docs"
mount = lambda *words: subprocess.run(words, check=True)
mount("mount", "-t", "tmpfs", "none", str(drive))
(drive / "a.txt").write_text("a")
(drive / "b").mkdir()
(drive / "b" / "c.txt").write_text("c")
plug = lambda: mount("mount", "--bind", str(drive), str(docs / "usb"))
unplug = lambda: mount("umount", str(docs / "usb"))
def look():
    found = scan(docs, NullContext(), known=known)
    return compare(found, known)
plug()
known = {}
first = scan(docs, NullContext())
known = {p: Known(id=n, size=f.size, mtime_ns=f.mtime_ns, device=f.device, inode=f.inode, content=n, problem_code="")
         for n, (p, f) in enumerate(first.files.items())}
assert len(known) == 3 and look().unchanged == 3
assert root_problem(docs / "usb", 2) == ""
unplug()
gone = look()
assert (gone.removed, gone.offline, gone.unchanged) == ([], 2, 1), gone
assert gone.offline_folders == (docs / "usb",)
assert root_problem(docs / "usb", 2) == "empty"
plug()
back = look()
assert (back.unchanged, back.offline, back.removed) == (3, 0, []), back
(docs / "usb" / "a.txt").unlink()
assert len(look().removed) == 1

class Unplug(NullContext):
    walked = 0
    def check(self):
        self.walked += 1
        if self.walked == 3:  # in "usb" below the root, with its sub-folder still to come
            unplug()

found = scan(docs, Unplug(), known=known)
late = compare(found, known)
assert os.fsencode(docs / "usb" / "b" / "c.txt") not in found.files and late.unchanged == 1, late
assert known[os.fsencode(docs / "usb" / "b" / "c.txt")].id not in late.removed, late
"""


def in_own_mounts(*words: str) -> list[str]:
    """Gives the command that runs another one where it may mount, or skips."""
    enter = ["unshare", "-Urm"]
    if shutil.which("unshare") is None or subprocess.run([*enter, "true"], capture_output=True).returncode:
        pytest.skip("this system lets no ordinary user mount in a name space of his own")
    return [*enter, *words]


def test_unplugged_drive_keeps_its_documents_and_comes_back_unchanged(tmp_path):
    for name in ("drive", "docs/usb"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "docs" / "own.txt").write_text("own")
    done = subprocess.run(
        in_own_mounts(sys.executable, "-c", MOUNTED, str(tmp_path)), capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr


# ---------------------------------------------------------------- names (R14)


ODD_NAMES = [
    b"caf\xe9.txt",
    b"\xff\xfe\x80.txt",
    "caf\u00e9.txt".encode(),
    "cafe\u0301.txt".encode(),
    b"case.txt",
    b"CASE.txt",
    b"two\nlines.txt",
    b"trailing space.txt ",
    b" leading.txt",
    b"tab\t\x01\x7f.txt",
    "\U0001f600 \u202egnp.txt".encode(),
    b"n" * 251 + b".txt",
    b"-rf.txt",
    b"a'\"`$(x);&.txt",
    b"back\\slash.txt",
    b"trailing dot..txt.",
]


def test_names_of_any_bytes_are_found_and_known_again(folder):
    raw = os.fsencode(folder)
    made = set()
    for name in ODD_NAMES:
        with open(raw + b"/sub/" + name, "wb") as stream:
            stream.write(name)
        made.add(raw + b"/sub/" + name)
    found = scan(folder, NullContext())
    assert made <= found.files.keys()
    assert all(os.fsencode(file.path) == path for path, file in found.files.items())
    known = known_of(found)
    assert rescan(folder, known)[1].unchanged == 3 + len(ODD_NAMES)
    one = raw + b"/sub/caf\xe9.txt"
    os.unlink(one)
    named = tuple(file.path for path, file in found.files.items() if path in made)
    assert rescan(folder, known, only=named)[1].removed == [known[one].id]


def test_paths_up_to_the_limit_are_read_and_longer_ones_are_listed(tmp_path):
    root = tmp_path / "deep"
    root.mkdir()
    handle = os.open(root, os.O_RDONLY)
    path = os.fsencode(root)
    try:
        while len(path) < 4600:
            name = b"f" * 200
            if 4096 - len(path) < 450 and len(path) < 4096:
                name = b"g" * 40
            os.mkdir(name, dir_fd=handle)
            deeper = os.open(name, os.O_RDONLY, dir_fd=handle)
            os.close(handle)
            handle, path = deeper, path + b"/" + name
            os.close(os.open(b"note.txt", os.O_CREAT | os.O_WRONLY, dir_fd=handle))
    finally:
        os.close(handle)
    found = scan(root, NullContext())
    assert all(len(path) < 4096 for path in found.files)
    assert max(map(len, found.files)) > 4000
    assert [problem.code for _, problem in found.listed.values()] == ["path-too-long"] * len(found.listed)
    assert max(map(len, found.listed)) > 4600
    assert len(found.files) + len(found.listed) == path.count(b"/") - os.fsencode(root).count(b"/")
    assert not found.unreadable
    for file in found.files.values():
        file.path.read_bytes()
    known = known_of(found)
    for n, (path, (file, problem)) in enumerate(found.listed.items()):
        known[path] = Known(FileId(900 + n), file.size, file.mtime_ns, file.device, file.inode, None, problem.code)
    found, changes = rescan(root, known)
    assert (changes.unchanged, changes.listed, changes.removed) == (len(known), [], [])


def test_two_thousand_folders_in_one_another_are_walked_and_named(very_deep):
    root, place = very_deep
    path = place + b"/x.txt"
    with open(path, "wb") as stream:
        stream.write(b"x")
    assert list(scan(root, NullContext()).files) == [path]
    assert list(scan(root, NullContext(), only=(Path(os.fsdecode(path)),)).files) == [path]


def test_text_of_a_file_that_cannot_be_looked_at_any_more_stays(folder, monkeypatch):
    known = known_of(scan(folder, NullContext()))
    lstat = os.lstat

    def refuse(path, **options):
        if os.fsencode(path).endswith(b".txt"):
            raise PermissionError(13, "Permission denied")
        return lstat(path, **options)

    monkeypatch.setattr(os, "lstat", refuse)
    found, changes = rescan(folder, known, only=(folder / "a.txt", folder / "new.txt"))
    assert changes.removed == []
    assert [path.name for path, _ in found.unreadable] == ["new.txt"]


def test_socket_device_and_loop_end_the_walk_and_are_counted(folder):
    import socket

    place = os.getcwd()
    os.chdir(folder / "sub")  # a socket's path may only be short
    try:
        with socket.socket(socket.AF_UNIX) as sock:
            sock.bind("sock")
    finally:
        os.chdir(place)
    os.mkfifo(folder / "pipe.txt")
    os.symlink("..", folder / "sub" / "up")
    os.symlink("/", folder / "all")
    os.symlink("nowhere", folder / "dangling.txt")
    found = scan(folder, NullContext(), rows=9)
    assert len(found.files) == 3
    assert found.left_out == {"special": 2, "link": 3}
    assert {os.path.basename(path) for path, _, verdict in found.rows if verdict.reason == "special"} == {
        b"sock",
        b"pipe.txt",
    }


def test_rows_of_what_is_left_out_end_and_the_count_goes_on(folder):
    for n in range(20):
        (folder / f"{n}.tmp").write_text("x")
    found = scan(folder, NullContext(), rows=5, count_only=True)
    assert (len(found.rows), found.left_out["lock-file"], found.files) == (5, 20, {})


def test_nothing_in_the_folder_is_touched(folder):
    def state():
        return sorted((p, s.st_mtime_ns, s.st_ctime_ns, s.st_atime_ns) for p in folder.rglob("*") for s in [p.stat()])

    def leaves_all() -> bool:
        before = state()
        scan(folder, NullContext())
        return state() == before

    (folder / ".sbertignore").write_text("*.log\n")
    written = [times[:3] for times in state()]
    # What is read within a tick of the clock after it was written has its time of access set once more by the next one.
    assert any(leaves_all() for _ in range(1000))
    assert [times[:3] for times in state()] == written


def test_maildir_is_read_without_what_is_under_way_and_with_its_folders(tmp_path):
    for inner in ("Maildir", "Maildir/.Sent", "Maildir/.Archives.2024"):
        for part in ("cur", "new", "tmp"):
            (tmp_path / inner / part).mkdir(parents=True)
            (tmp_path / inner / part / f"1700000000.M1P2.host:2,{part}").write_text("From: a@example.org\n\nwords")
    for other in ("tmp", ".git/cur", "notes/new"):
        (tmp_path / other).mkdir(parents=True)
        (tmp_path / other / "a.txt").write_text("words")
    found = scan(tmp_path, NullContext())
    names = sorted(os.path.relpath(os.fsdecode(path), tmp_path) for path in found.files)
    assert names == sorted(
        [f"{inner}/{part}/1700000000.M1P2.host:2,{part}" for inner in ("Maildir", "Maildir/.Sent",
         "Maildir/.Archives.2024") for part in ("cur", "new")] + ["tmp/a.txt", "notes/new/a.txt"])  # fmt: skip
    below = scan(tmp_path, NullContext(), only=[tmp_path / "Maildir/.Sent/cur", tmp_path / "Maildir/tmp"])
    assert [os.path.basename(path) for path in below.files] == [b"1700000000.M1P2.host:2,cur"]


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="needs /proc")
def test_what_the_kernel_makes_up_is_no_document():
    found = scan(Path("/"), NullContext(), only=[Path("/proc"), Path("/proc/self/status"), Path("/dev/null")])
    assert not found.files
    assert len(scan(Path("/proc/self"), NullContext(), only=[Path("/proc/self/status")]).files) == 1
