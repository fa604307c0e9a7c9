"""The programs of a Linux desktop are found by its own entries, in the person's order."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from sbert_desktop.errors import PlatformError
from sbert_desktop.platform import opening, programs


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def entry(name: str, kinds: str, command: str = "/bin/true %f", more: str = "") -> str:
    return f"[Desktop Entry]\nType=Application\nName={name}\nExec={command}\nMimeType={kinds}\n{more}"


@pytest.fixture
def desktop(tmp_path, monkeypatch) -> Path:
    """Gives the folders of a desktop of its own: ``own`` is the person's, ``shared`` the system's."""
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "own"))
    monkeypatch.setenv("XDG_DATA_DIRS", f"{tmp_path / 'shared'}:relative")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_CONFIG_DIRS", str(tmp_path / "etc"))
    for name in ("LC_ALL", "LC_MESSAGES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", "de_DE.UTF-8")
    write(tmp_path / "shared/mime/globs2", "# a comment\n50:application/pdf:*.pdf\n50:text/x-moor:*.moor\n"
                                           "50:application/x-tar:*.tar\n50:application/x-gz-tar:*.tar.gz\n")
    write(tmp_path / "shared/mime/subclasses", "text/x-moor text/x-base\n")
    for name, text in {
        "paper.desktop": entry("Paper", "application/pdf;", more="Name[de]=Papier\n"),
        "reader.desktop": entry("Reader", "image/png;application/pdf;"),
        "hidden.desktop": entry("Hidden", "application/pdf;", more="Hidden=true\n"),
        "shell.desktop": entry("Shell", "application/pdf;", more="Terminal=true\n"),
        "lost.desktop": entry("Lost", "application/pdf;", more="TryExec=/nowhere/lost\n"),
        "tools/writer.desktop": entry("Writer", "text/x-base;text/plain;"),
    }.items():
        write(tmp_path / "shared/applications" / name, text)
    return tmp_path


def names(path: str) -> list[str]:
    return [name for name, _ in programs.programs_for(Path(path))]


def test_programs_of_a_kind_are_named_in_the_persons_language(desktop):
    assert names("/a/Bill.PDF") == ["Papier", "Reader"]
    assert names("/a/b.moor") == ["Writer"]  # by what it is a kind of
    assert names("/a/b.unheard-of") == []


def test_the_persons_order_counts(desktop):
    write(desktop / "config/mimeapps.list", "[Default Applications]\napplication/pdf=reader.desktop;\n"
                                            "[Added Associations]\napplication/pdf=tools-writer.desktop;gone.desktop\n"
                                            "[Removed Associations]\napplication/pdf=paper.desktop;\n")
    assert names("a.pdf") == ["Reader", "Writer"]


def test_an_own_entry_hides_the_systems(desktop):
    write(desktop / "own/applications/paper.desktop", entry("Paper", "", more="Hidden=true\n"))
    assert names("a.pdf") == ["Reader"]


def test_damaged_files_are_passed_over(desktop):
    (desktop / "shared/applications/bad.desktop").write_bytes(b"\xff\xfe\x00[Desktop Entry\nExec\n=\n")
    (desktop / "config").mkdir()
    (desktop / "config/mimeapps.list").write_bytes(bytes(range(256)))
    assert names("a.pdf") == ["Papier", "Reader"]


def test_other_systems_have_no_list(desktop, monkeypatch):
    monkeypatch.setattr(sys, "platform", "win32")
    assert names("a.pdf") == []


@pytest.mark.parametrize(
    ("command", "started"),
    [
        ("view %f", ["view", "/x/a b.pdf"]),
        ("view --name %c %U", ["view", "--name", "file:///x/a%20b.pdf"]),
        ("view", ["view", "/x/a b.pdf"]),
        ('"/opt/my viewer" --at=50%% %F', ["/opt/my viewer", "--at=50%", "/x/a b.pdf"]),
        ('"never ends', None),
        ("", None),
    ],
)
def test_a_command_is_read_without_a_shell(desktop, command, started):
    found = write(desktop / "own/applications/view.desktop", entry("View", "", command))
    assert programs.command_of(found, Path("/x/a b.pdf")) == started


def test_an_entry_of_the_desktop_opens_a_file_and_one_from_elsewhere_does_not(desktop, monkeypatch):
    calls: list[list[str]] = []
    monkeypatch.setattr(opening, "_start", lambda command, path: calls.append(command))
    document = write(desktop / "a.pdf", "x")
    opening.open_with(document, desktop / "shared/applications/paper.desktop")
    assert calls == [["/bin/true", os.fspath(document)]]
    stray = write(desktop / "downloads/paper.desktop", entry("Paper", "application/pdf;"))
    with pytest.raises(PlatformError) as caught:
        opening.open_with(document, stray)
    assert caught.value.code == "program-unfit"
    assert len(calls) == 1
