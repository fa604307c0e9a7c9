"""Programs are never started silently."""

from __future__ import annotations

import os

import pytest

from sbert_desktop.errors import PlatformError
from sbert_desktop.platform import opening


@pytest.fixture
def started(monkeypatch):
    calls = []
    monkeypatch.setattr(opening, "_start", lambda command, path: calls.append(command))
    monkeypatch.setattr(opening.shutil, "which", lambda name: f"/usr/bin/{name}" if name == "xdg-open" else None)
    monkeypatch.setattr(opening.sys, "platform", "linux")
    return calls


@pytest.mark.parametrize(
    "name",
    [
        "a.exe",
        "b.BAT",
        "c.sh",
        "d.desktop",
        "e.py",
        "f.jar",
        "g.AppImage",
        "h.lnk",
        "i.scr",
        "j.command",
        "k.ps1",
        "l.hta",
        "m.exe ",
        "n.sh. .",
    ],
)
def test_program_suffixes_are_refused(tmp_path, started, name):
    path = tmp_path / name
    path.write_text("x")
    with pytest.raises(PlatformError) as caught:
        opening.open_file(path)
    assert caught.value.code == "file-is-program"
    assert started == []


@pytest.mark.parametrize("head", [b"\x7fELF\x02", b"MZ\x90", b"#!/bin/sh\n", b"\xcf\xfa\xed\xfe", b"[Desktop Entry]\n"])
def test_program_contents_are_refused_whatever_the_name(tmp_path, started, head):
    path = tmp_path / "report.pdf"
    path.write_bytes(head + b"rest")
    with pytest.raises(PlatformError, match="program"):
        opening.open_file(path)
    assert started == []


def test_executable_mode_is_refused(tmp_path, started):
    path = tmp_path / "notes.txt"
    path.write_text("x")
    path.chmod(0o755)
    with pytest.raises(PlatformError, match="program"):
        opening.open_file(path)


def test_document_is_opened_without_a_shell(tmp_path, started):
    path = tmp_path / "a; rm -rf $(x).txt"
    path.write_text("x")
    opening.open_file(path)
    assert started == [["/usr/bin/xdg-open", os.fspath(path)]]


def test_a_chosen_program_gets_the_file_without_a_shell(tmp_path, started):
    path, program = tmp_path / "a; rm -rf $(x).txt", tmp_path / "reader"
    path.write_text("x")
    with pytest.raises(PlatformError) as caught:
        opening.open_with(path, program)
    assert caught.value.code == "program-unfit"
    program.write_text("x")
    program.chmod(0o755)
    opening.open_with(path, program)
    assert started == [[os.fspath(program), os.fspath(path)]]
    with pytest.raises(PlatformError) as caught:
        opening.open_with(tmp_path / "gone", program)
    assert caught.value.code == "file-gone"


def test_missing_file_is_said(tmp_path, started):
    with pytest.raises(PlatformError) as caught:
        opening.open_file(tmp_path / "gone.txt")
    assert caught.value.code == "file-gone"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="POSIX")
def test_pipe_in_the_place_of_a_document_stops_nobody(tmp_path, started):
    os.mkfifo(tmp_path / "a.txt")
    assert not opening.is_program(tmp_path / "a.txt")


@pytest.mark.skipif(os.name != "posix", reason="names that only POSIX has")
@pytest.mark.parametrize(
    "name",
    [b"\xff\xfe.txt", b"new\nline.txt", b"--help", b"=1+1.txt", b"trail.txt ", b"n" * 251 + b".txt", b"%s;$(x).txt"],
)
def test_odd_names_reach_the_opener_as_they_are(tmp_path, started, name):
    path = tmp_path / os.fsdecode(name)
    path.write_text("words")
    opening.open_file(path)
    assert started == [["/usr/bin/xdg-open", str(path)]]
