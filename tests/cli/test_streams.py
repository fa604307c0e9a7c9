"""What a command does when its arguments, its streams or the person say no: one line, one object, one status."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import pytest

from sbert_desktop.cli import main
from sbert_desktop.errors import SbertDesktopError


@pytest.fixture
def environment(tmp_path):
    return {
        **os.environ,
        "SBERT_DESKTOP_ADVANCED_ENCODER": "hashing",
        "SBERT_DESKTOP_HOME": str(tmp_path / "home"),
        "SBERT_DESKTOP_LIBRARY": str(tmp_path / "library"),
    }


@pytest.fixture
def shell(tmp_path, environment):
    def call(line: str) -> subprocess.CompletedProcess[str]:
        program = f'"{sys.executable}" -m sbert_desktop'
        return subprocess.run(
            ["sh", "-c", line.replace("@", program)], cwd=tmp_path, env=environment, capture_output=True, text=True
        )

    return call


@pytest.mark.parametrize(
    "arguments",
    [["frobnicate"], ["search"], ["search", "x", "--top", "many"], ["index", ""], ["evaluate"], ["--library", ""]],
)
def test_wrong_usage_is_one_line_and_one_object(arguments, capfd):
    assert main([*arguments, "--json"]) == 2
    out, err = capfd.readouterr()
    assert json.loads(out)["error"]["code"] == "bad-arguments"
    assert len(err.splitlines()) == 1


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize("where", ["> /dev/full", ">&-"])
@pytest.mark.parametrize("option", ["", "--json"])
def test_answer_that_cannot_be_written_is_said_once(shell, where, option):
    done = shell(f"@ models list {option} {where}")
    assert done.returncode == 1
    assert done.stderr.count("The answer could not be written") == len(done.stderr.splitlines()) == 1


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize("where", ["2> /dev/full", "2>&-"])
def test_messages_that_nobody_can_read_stop_no_command(shell, tmp_path, where):
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers" / "a.txt").write_text("The rain gauge was full.")
    done = shell(f"@ index papers --json {where}")
    assert done.returncode == 0
    assert json.loads(done.stdout)["documents"] == 1


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals")
def test_interrupted_command_gives_130_and_one_object(tmp_path, environment):
    from sbert_desktop.library import open_library

    with open_library(tmp_path / "library") as library, library.writer():
        command = [sys.executable, "-m", "sbert_desktop", "index", "--json"]
        process = subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, process_group=0
        )
        assert process.stderr is not None
        assert "Waiting for process" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert json.loads(out)["error"]["code"] == "interrupted"


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals")
def test_interrupt_during_the_start_gives_130_without_a_traceback():
    start = "import os, signal, sbert_desktop.interrupt as i; i.end_at_once_until_begun(); {}os.kill(os.getpid(), 2)"
    for begun, status in (("", 130), ("i.begun(); ", -signal.SIGINT)):
        done = subprocess.run([sys.executable, "-c", start.format(begun)], capture_output=True, text=True)
        assert done.returncode == status
        assert ("Traceback" in done.stderr) == bool(begun)


def test_name_that_the_system_refuses_is_no_bug(capfd):
    assert main(["index", "a" * 300, "--json"]) == 1
    assert json.loads(capfd.readouterr().out)["error"]["code"] == "system-refused"


def test_message_and_hint_are_two_sentences():
    assert str(SbertDesktopError("x", "There is no library in /a", "Choose another.")) == (
        "There is no library in /a. Choose another."
    )
    assert str(SbertDesktopError("x", "It is gone.", "Look again.")) == "It is gone. Look again."
    assert str(SbertDesktopError("x", "There is no folder /a")) == "There is no folder /a"
