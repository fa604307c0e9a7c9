"""Children answer, and every way in which they can end is one JobError."""

from __future__ import annotations

import os
import signal
import threading
from contextlib import closing
from pathlib import Path

import psutil
import pytest

from sbert_desktop.errors import JobError
from sbert_desktop.jobs import children, spawn_child


@pytest.fixture
def child():
    child = spawn_child("echo")
    yield child
    child.close()


def test_child_answers_with_header_and_raw_bytes(child):
    reply, payload = child.request({"word": "grün \u2028", "n": 3}, b"\x00\xff" * 50_000)
    assert reply == {"echo": {"word": "grün \u2028", "n": 3}}
    assert payload == b"\x00\xff" * 50_000


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="reads /proc, which is not here")
@pytest.mark.parametrize(("own", "expected"), [(None, b"10000"), ("7", b"7")])
def test_threads_of_a_child_wait_asleep_unless_the_person_wants_it_otherwise(monkeypatch, own, expected):
    monkeypatch.delenv("GOMP_SPINCOUNT", raising=False)
    if own:
        monkeypatch.setenv("GOMP_SPINCOUNT", own)
    with closing(spawn_child("echo")) as child:
        child.request({"n": 1})  # it runs
        assert b"GOMP_SPINCOUNT=" + expected in Path(f"/proc/{child.pid}/environ").read_bytes().split(b"\0")


def test_exception_in_child_is_one_error_and_child_lives_on(child):
    with pytest.raises(JobError) as caught:
        child.request({"do": "raise"})
    assert caught.value.code == "bug"
    assert "asked to raise" in caught.value.message
    assert child.request({"n": 1})[0] == {"echo": {"n": 1}}


def test_dying_child_is_reported_with_its_status(child):
    with pytest.raises(JobError) as caught:
        child.request({"do": "die"})
    assert caught.value.code == "child-died"
    assert "7" in caught.value.message
    assert not child.alive


def test_hanging_child_is_killed_at_its_limit(child):
    with pytest.raises(JobError) as caught:
        child.request({"do": "sleep", "seconds": 30}, timeout=0.3)
    assert caught.value.code == "child-timeout"
    assert not child.alive


def test_close_in_the_middle_of_a_request_ends_it(child):
    caught: list[JobError] = []

    def ask() -> None:
        try:
            child.request({"do": "sleep", "seconds": 30})
        except JobError as error:
            caught.append(error)

    thread = threading.Thread(target=ask)
    thread.start()
    while not child._lock.locked():
        pass
    child.close()
    thread.join(60)
    assert not thread.is_alive()
    assert [error.code for error in caught] == ["child-died"]


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_child_ends_when_its_parent_was_killed(tmp_path):
    import subprocess
    import sys
    import time

    code = (
        "from sbert_desktop.jobs import spawn_child\n"
        "import threading, time\n"
        "c = spawn_child('echo'); c.request({}); print(c.pid, flush=True)\n"
        "threading.Thread(target=c.request, args=({'do': 'sleep', 'seconds': 60},)).start()\n"
        "print('asked', flush=True); time.sleep(60)\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    pid = int(parent.stdout.readline())
    assert parent.stdout.readline() == "asked\n"
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    parent.stdout.close()
    end = time.monotonic() + 60
    while time.monotonic() < end:
        try:
            with open(f"/proc/{pid}/stat") as stream:
                if stream.read().rsplit(")", 1)[1].split()[0] == "Z":
                    return
        except FileNotFoundError:
            return
        time.sleep(0.05)
    os.kill(pid, signal.SIGKILL)
    pytest.fail("the child outlived its parent by a minute")


def test_programs_of_a_killed_child_end_with_it(child):
    reply, _ = child.request({"do": "start"})
    program = psutil.Process(reply["pid"])
    with pytest.raises(JobError, match="longer than"):
        child.request({"do": "sleep", "seconds": 60}, timeout=0.2)
    gone, alive = psutil.wait_procs([program], timeout=60)
    assert gone or all(process.status() == psutil.STATUS_ZOMBIE for process in alive)


def test_a_child_that_answers_more_than_its_limit_is_ended(child, monkeypatch):
    monkeypatch.setitem(children.REPLY_LIMITS, "echo", 1_000_000)
    assert len(child.request({"do": "flood", "bytes": 1_000_000})[1]) == 1_000_000
    with pytest.raises(JobError) as caught:
        child.request({"do": "flood", "bytes": 1_000_001})
    assert caught.value.code == "child-died"
    assert not child.alive
