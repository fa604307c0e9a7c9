"""A walk always ends, opens nothing, and tells added, changed, moved and removed apart."""

from __future__ import annotations

import os
from dataclasses import dataclass

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
