"""The guard of conftest.py sees every kind of process, also when the error is swallowed."""

from __future__ import annotations

import errno
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
LOOK_UP = """
import socket
try: socket.getaddrinfo("somewhere.invalid", 443)
except OSError: pass
"""
FORK = f"""
import os
child = os.fork()
if child == 0:
    exec({LOOK_UP!r})
    os._exit(0)
os.waitpid(child, 0)
"""


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Takes the notes of one test, so that they do not fail the run."""
    path = tmp_path / "network.log"
    monkeypatch.setenv("SBERT_DESKTOP_NETWORK_LOG", str(path))
    return path


def test_a_look_up_in_the_test_process_is_refused_and_noted(log: Path) -> None:
    with pytest.raises(OSError, match="no network"):
        socket.getaddrinfo("somewhere.invalid", 443)
    assert "'somewhere.invalid'" in log.read_text(encoding="utf-8")


def test_a_connection_by_number_is_refused_and_noted(log: Path) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as outward, pytest.raises(OSError, match="no network"):
        outward.connect(("192.0.2.1", 9))
    assert "socket.connect '192.0.2.1'" in log.read_text(encoding="utf-8")


@pytest.mark.parametrize("code", [LOOK_UP, pytest.param(FORK, marks=pytest.mark.skipif(
    not hasattr(os, "fork"), reason="forks exist on POSIX only"))], ids=["child", "fork"])  # fmt: skip
def test_a_swallowed_look_up_of_a_child_is_noted(log: Path, code: str) -> None:
    subprocess.run([sys.executable, "-c", code], check=True)
    assert "'somewhere.invalid'" in log.read_text(encoding="utf-8")


def test_this_machine_itself_may_be_reached(log: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        try:
            socket.create_connection(server.getsockname(), timeout=5).close()
        except OSError as error:
            if error.errno == errno.ENETUNREACH:  # as under ``unshare -rn``, where not even loopback is up
                pytest.skip("needs a loopback interface, which is not up here")
            raise
    assert not log.exists()


@pytest.mark.parametrize(
    ("body", "closing"),
    [
        (f"def test_one(): exec({LOOK_UP!r})", "1 passed, 1 error"),
        # Too late for the test itself: only the end of the run can see it.
        (f"import pytest\n@pytest.fixture(scope='session')\ndef late():\n    yield\n    exec({LOOK_UP!r})\n"
         "def test_one(late): pass", "hosts were looked up in this run"),
        ("def test_one(): pass", "1 passed"),
    ],
    ids=["inside", "after", "none"],
)  # fmt: skip
def test_a_run_with_a_look_up_fails(tmp_path: Path, body: str, closing: str) -> None:
    (tmp_path / "test_sample.py").write_text(body, encoding="utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST_", "SBERT_DESKTOP_"))}
    call = [sys.executable, "-m", "pytest", "-q", "-p", "tests.conftest", "-c", str(tmp_path / "pytest.ini"),
            "--rootdir", str(tmp_path), "-p", "no:cacheprovider", "-p", "no:xdist", str(tmp_path)]  # fmt: skip
    done = subprocess.run(call, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert closing in done.stdout, done.stdout + done.stderr
    assert (done.returncode == 0) == (closing == "1 passed")
