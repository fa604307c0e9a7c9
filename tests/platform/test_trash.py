"""The system's trash takes files whole, tells where they lie, and gives them back."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from sbert_desktop.errors import PlatformError
from sbert_desktop.platform import SystemTrash, is_in_trash
from sbert_desktop.platform import _trash as module

pytestmark = pytest.mark.skipif(
    os.name == "nt" or sys.platform == "darwin", reason="the trash of freedesktop.org is looked into"
)


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    (tmp_path / "docs").mkdir()
    return tmp_path


def _file(path: Path, data: bytes = b"text") -> Path:
    path.write_bytes(data)
    return path


def test_a_file_goes_to_the_trash_and_comes_back_the_same(home):
    path = _file(home / "docs" / "letter.txt")
    os.utime(path, ns=(1_600_000_000_000_000_000, 1_600_000_000_000_000_000))
    before = path.stat()
    trashed = SystemTrash().move(path)
    assert trashed is not None
    assert not path.exists()
    assert is_in_trash(trashed)
    assert SystemTrash().find(path) == (trashed,)
    SystemTrash().restore(trashed, path)
    after = path.stat()
    assert (after.st_ino, after.st_mtime_ns, path.read_bytes()) == (before.st_ino, before.st_mtime_ns, b"text")
    assert SystemTrash().find(path) == ()
    assert not list((home / "share" / "Trash" / "info").iterdir())


def test_several_files_of_one_path_are_found_newest_first(home):
    path = home / "docs" / "letter.txt"
    moved = [SystemTrash().move(_file(path, text)) for text in (b"one", b"two")]
    assert set(SystemTrash().find(path)) == set(moved)
    assert SystemTrash().find(home / "docs" / "other.txt") == ()


@pytest.mark.parametrize("name", [b"n\xffame.txt", "naïve ☃ 100%.txt".encode(), b"new\nline.txt", b" lead and trail "])
def test_odd_names_go_and_come_back(home, name):
    path = Path(os.fsdecode(os.fsencode(home / "docs") + b"/" + name))
    try:
        _file(path)
    except OSError:
        pytest.skip("this file system does not take the name")
    trashed = SystemTrash().move(path)
    assert trashed is not None
    assert not os.path.lexists(path)
    assert trashed.read_bytes() == b"text"
    SystemTrash().restore(trashed, path)
    assert path.read_bytes() == b"text"


def test_links_and_folders_are_refused(home):
    target = _file(home / "docs" / "letter.txt")
    link = home / "docs" / "link.txt"
    link.symlink_to(target)
    for path in (link, home / "docs", home / "docs" / "missing.txt"):
        with pytest.raises(PlatformError, match="is not a file"):
            SystemTrash().move(path)
    assert target.exists()
    assert link.is_symlink()


def test_nothing_is_put_over_another_file(home):
    path = _file(home / "docs" / "letter.txt", b"old")
    trashed = SystemTrash().move(path)
    _file(path, b"new")
    with pytest.raises(PlatformError) as caught:
        SystemTrash().restore(trashed, path)
    assert caught.value.code == "file-exists"
    assert (path.read_bytes(), trashed.read_bytes()) == (b"new", b"old")


def test_a_folder_that_went_away_is_made_again(home):
    path = _file(home / "docs" / "letter.txt")
    trashed = SystemTrash().move(path)
    path.parent.rmdir()
    SystemTrash().restore(trashed, path)
    assert path.read_bytes() == b"text"


def test_where_the_system_refuses_the_file_stays_and_the_reason_is_said(home, monkeypatch):
    path = _file(home / "docs" / "letter.txt")
    monkeypatch.setattr(module, "_move_by_qt", lambda path: ("", "refused"))
    monkeypatch.setattr(module, "_same_volume", lambda path, other: False)
    with pytest.raises(PlatformError, match="has no trash") as caught:
        SystemTrash().move(path)
    assert caught.value.code == "no-trash"
    assert path.read_bytes() == b"text"


def test_a_path_through_a_link_is_found_in_the_trash(home):
    (home / "link").symlink_to(home / "docs")
    path = _file(home / "link" / "letter.txt")
    trashed = SystemTrash().move(path)
    assert SystemTrash().find(path) == SystemTrash().find(home / "docs" / "letter.txt") == (trashed,)
    SystemTrash().restore(trashed, path)
    assert (home / "docs" / "letter.txt").read_bytes() == b"text"


def test_a_restore_that_was_cut_short_is_ended(home):
    path = _file(home / "docs" / "letter.txt")
    trashed = SystemTrash().move(path)
    os.link(trashed, path)
    SystemTrash().restore(trashed, path)
    assert path.read_bytes() == b"text"
    assert not trashed.exists()


def test_a_folder_that_is_a_file_now_is_said_to_be(home):
    path = _file(home / "docs" / "letter.txt")
    trashed = SystemTrash().move(path)
    (home / "docs").rmdir()
    _file(home / "docs")
    with pytest.raises(PlatformError, match="is no folder any more") as caught:
        SystemTrash().restore(trashed, path)
    assert caught.value.code == "trash-refused"
    assert trashed.read_bytes() == b"text"


def test_a_name_too_long_for_the_trash_stays_and_is_said_to_be(home):
    path = _file(home / "docs" / ("n" * 255))
    with pytest.raises(PlatformError, match="too long for the trash"):
        SystemTrash().move(path)
    assert path.read_bytes() == b"text"


def test_a_volume_without_hard_links_gets_its_file_back_too(home, monkeypatch):
    path = _file(home / "docs" / "letter.txt")
    trashed = SystemTrash().move(path)

    def refuse(*args, **options):
        raise OSError(module.errno.EPERM, "no links here")

    monkeypatch.setattr(module.os, "link", refuse)
    SystemTrash().restore(trashed, path)
    assert path.read_bytes() == b"text"
    assert not trashed.exists()


@pytest.mark.parametrize(
    ("path", "inside"),
    [
        ("/home/a/.local/share/Trash/files/x.txt", True),
        ("/media/stick/.Trash-1000/files/x.txt", True),
        ("/media/stick/.Trash/1000/files/x.txt", True),
        ("/Users/a/.Trash/x.txt", True),
        ("/Volumes/b/.Trashes/501/x.txt", True),
        ("/mnt/c/$RECYCLE.BIN/S-1/x.txt", True),
        ("/home/a/Trash/x.txt", False),
        ("/home/a/Trash talk/files.txt", False),
    ],
)
def test_paths_in_a_trash_are_known(path, inside):
    assert is_in_trash(Path(path)) is inside
