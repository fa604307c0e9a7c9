"""What people do to the commands: name folders, close streams, end them from outside, mistype places and patterns."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys

import pytest

from sbert_desktop.cli import main

posix = pytest.mark.skipif(os.name != "posix", reason="signals and byte names of POSIX")


@pytest.fixture
def environment(tmp_path):
    return {
        **os.environ,
        "SBERT_DESKTOP_ADVANCED_ENCODER": "hashing",
        "SBERT_DESKTOP_HOME": str(tmp_path / "home"),
        "SBERT_DESKTOP_LIBRARY": str(tmp_path / "library"),
    }


@pytest.fixture
def folder(tmp_path):
    root = tmp_path / "papers"
    (root / "deep").mkdir(parents=True)
    (root / "rain.txt").write_text("The rain gauge on the roof filled twice in October.\n")
    (root / "deep" / "bad.pdf").write_bytes(b"%PDF-1.4 nothing here")
    (root / "song.mp3").write_bytes(b"ID3\x04\0\0\0\0\0\0" + bytes(100))
    return root


@pytest.fixture
def run(environment, monkeypatch, capfd):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)

    def call(*arguments, stdin: object = None) -> tuple[int, dict, str]:
        monkeypatch.setattr(sys, "stdin", stdin)
        capfd.readouterr()
        status = main([*map(str, arguments), "--json"])
        out, err = capfd.readouterr()
        return status, json.loads(out), err

    return call


@posix
@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_run_that_is_ended_from_outside_shuns_no_file(tmp_path, environment, run, name):
    (tmp_path / "mail").mkdir()
    with open(tmp_path / "mail" / "box.mbox", "w") as box:
        for number in range(12_000):
            box.write(f"From a@b Thu Jan  1 00:00:00 2020\nFrom: a@b\nSubject: n {number}\n\n{'some words ' * 100}\n\n")
    command = [sys.executable, "-m", "sbert_desktop", "index", str(tmp_path / "mail"), "--words-only", "--json"]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    notes = tmp_path / "library" / "reading"
    assert "Looking for files" in process.stderr.readline()
    process.send_signal(getattr(signal, name))
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert json.loads(out)["error"]["code"] == "interrupted"
    assert not notes.is_dir() or os.listdir(notes) == []
    assert run("problems")[1]["problems"] == []


def test_folder_stands_for_its_files_with_problems(run, folder):
    run("index", folder)
    assert run("retry", folder)[1]["changed"] == 1
    assert [problem["ignored"] for problem in run("ignore", folder / "deep")[1]["problems"]] == [True]
    assert run("problems")[1]["count"] == 0
    assert [problem["ignored"] for problem in run("ignore", folder, "--undo")[1]["problems"]] == [False]


def test_problems_are_counted_as_status_counts_them(run, folder):
    run("index", folder)
    listed = run("problems")[1]
    assert len(listed["problems"]) == 2
    assert listed["count"] == run("status")[1]["problems"] == 1


def test_file_that_nobody_knows_is_said_to_be_missing(run, folder):
    run("index", folder)
    for command in ("retry", "ignore", "recognise"):
        status, answer, _ = run(command, folder / "none.txt")
        assert (status, answer["error"]["code"]) == (1, "file-missing")


def test_place_that_holds_none_of_the_files_is_refused(run, folder, tmp_path):
    run("index", folder)
    other = tmp_path / "other"
    other.mkdir()
    (other / "else.txt").write_text("Something else.")
    status, answer, _ = run("locate", folder, other)
    assert (status, answer["error"]["code"]) == (1, "place-differs")
    assert run("status")[1]["folders"][0]["path"] == str(folder)
    assert run("locate", folder, folder)[0] == 0


@pytest.mark.parametrize("line", ["", "  ", "!", "#x", "*a" * 30, "a\nb"])
@pytest.mark.parametrize("option", ["--include", "--exclude"])
def test_pattern_that_can_match_nothing_is_refused(run, folder, line, option):
    run("index", folder)
    status, answer, _ = run("rules", folder, f"{option}={line}")
    assert (status, answer["error"]["code"]) == (2, "bad-arguments")
    assert run("status")[1]["documents"] == 1


def test_list_and_object_do_not_share_the_output(run, folder):
    run("index", folder)
    status, answer, _ = run("problems", "--csv", "-")
    assert (status, answer["error"]["code"]) == (2, "bad-arguments")


def test_words_that_are_no_utf8_or_not_there(run, folder):
    run("index", folder)
    status, answer, _ = run("caption", folder / "rain.txt", "-", stdin=None)
    assert (status, answer["error"]["code"]) == (1, "empty-caption")
    typed = io.TextIOWrapper(io.BytesIO(b"\xff walrus w\xc3\xb6rter"), encoding="ascii", errors="surrogateescape")
    assert run("caption", folder / "rain.txt", "-", stdin=typed)[1]["text"] == "\ufffd walrus w\u00f6rter"
    odd = "w\udcc3\udcb6rter \udcff"  # how Python gives these bytes where the locale is C
    assert run("caption", folder / "rain.txt", odd)[1]["text"] == "w\u00f6rter \ufffd"
    assert run("search", odd)[1]["query"] == "w\u00f6rter \ufffd"


def test_folder_is_called_a_folder(run, folder):
    run("index", folder)
    assert "is a folder" in run("similar", folder)[1]["error"]["message"]


@posix
def test_name_that_ends_with_a_space_keeps_its_type(run, folder):
    (folder / "walrus.txt ").write_text("A walrus sings on the ice floe.")
    run("index", folder)
    hits = run("search", "walrus", "--mode", "keyword", "--type", "txt")[1]["hits"]
    assert [hit["path"] for hit in hits] == [str(folder / "walrus.txt ")]
