from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil
import pytest

from sbert_desktop.errors import ExtractionError
from sbert_desktop.extraction import _programs
from tests.extraction.conftest import REPO

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="uses a shell")
SHELL = "/bin/sh"


def shell(script: str, timeout: float = 60.0, **options: object) -> str:
    return _programs.run([SHELL, "-c", script], timeout=timeout, **options).output.decode()  # type: ignore[arg-type]


def in_a_child(script: str) -> subprocess.CompletedProcess[str]:
    """Runs Python with the limits of an extraction child."""
    head = "from sbert_desktop.extraction._limits import set_limits\nset_limits()\n" \
           "from sbert_desktop.extraction import _programs\n"
    return subprocess.run([sys.executable, "-c", head + script], cwd=REPO, capture_output=True, text=True, timeout=60)


def test_a_program_has_a_home_of_its_own_that_is_gone_afterwards() -> None:
    home = shell('echo "$HOME"; touch "$HOME/left"').strip()
    assert Path(home).name.startswith("sbert-desktop-run-")
    assert not Path(home).exists()


def test_a_program_reads_its_input_and_knows_nothing_of_our_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OUR_SECRET", "1")
    ended = _programs.run([SHELL, "-c", "cat; env >&2; exit 3"], stdin=b"given", timeout=60)
    assert (ended.status, ended.output) == (3, b"given")
    assert b"OUR_SECRET" not in ended.errors
    assert b"http_proxy=http://127.0.0.1:9" in ended.errors


@pytest.mark.skipif(sys.platform != "linux", reason="network namespaces are Linux")
def test_a_program_has_a_network_of_its_own_without_any_way_out() -> None:
    if subprocess.run(["unshare", "-Urn", "true"], capture_output=True, check=False).returncode:
        pytest.skip("the kernel lets nobody make network namespaces here")
    assert shell("readlink /proc/self/ns/net").strip() != os.readlink("/proc/self/ns/net")
    devices = shell("cat /proc/net/dev").splitlines()[2:]
    assert [line.split(":")[0].strip() for line in devices] == ["lo"]


def test_a_program_that_takes_too_long_ends_with_all_that_it_started() -> None:
    with _programs.workspace() as folder:
        for seconds in (0.5, 5.0, 50.0):  # on a busy machine a shell may need more to begin at all
            began = time.monotonic()
            with pytest.raises(ExtractionError) as caught:
                shell("sleep 300 & echo $! > pid; wait", timeout=seconds, folder=folder)
            assert caught.value.code == "timed-out"
            assert time.monotonic() - began < seconds + 60  # of 300
            if (folder / "pid").exists() and (folder / "pid").read_text():
                break
        pid = int((folder / "pid").read_text())
    gone_within(pid, 60)


def gone_within(pid: int, seconds: float) -> None:
    try:
        process = psutil.Process(pid)
        if process.status() != psutil.STATUS_ZOMBIE:
            process.wait(seconds)
    except psutil.NoSuchProcess:
        return


@pytest.mark.skipif(sys.platform != "linux", reason="the death signal is Linux")
def test_no_program_outlives_the_child_that_started_it(tmp_path: Path) -> None:
    script = ("from sbert_desktop.extraction import _programs\n"
              "_programs.run(['/bin/sh', '-c', 'echo $$; echo $$ > \"$0\"; exec sleep 300', r'%s'], timeout=300)")
    place = tmp_path / "pid"
    child = subprocess.Popen([sys.executable, "-c", script % place], cwd=REPO)
    try:
        deadline = time.monotonic() + 60
        while not (place.exists() and place.read_text().strip()) and time.monotonic() < deadline:
            time.sleep(0.01)
        pid = int(place.read_text())
        assert psutil.pid_exists(pid)
    finally:
        child.kill()
        child.wait()
    gone_within(pid, 60)
    with _programs.workspace():  # the next one clears away what the killed one left
        prefix = f"sbert-desktop-run-{child.pid}-"
        left = [entry for entry in os.listdir(tempfile.gettempdir()) if entry.startswith(prefix)]
    assert not left


def test_a_program_has_limits_of_its_own() -> None:
    assert shell("ulimit -n; ulimit -c").split() == ["512", "0"]
    if sys.platform == "linux":
        assert int(shell("ulimit -v")) == _programs.MEMORY_MB * 1024


def test_inside_a_child_only_our_own_code_starts_programs_and_nothing_looks_for_hosts() -> None:
    done = in_a_child("print(_programs.run(['/bin/echo', 'ran'], timeout=60).output)\n"
                      "import subprocess, resource, socket\n"
                      "from sbert_desktop.extraction._limits import own_files\n"
                      "for call in (lambda: subprocess.run(['/bin/echo']), lambda: open('never', 'w'),\n"
                      "             lambda: resource.setrlimit(resource.RLIMIT_AS, (-1, -1))):\n"
                      "    try: call()\n"
                      "    except PermissionError: print('refused')\n"
                      "with own_files():\n"
                      "    try: socket.socket().connect(('127.0.0.1', 9))\n"
                      "    except PermissionError as error: print(error)\n")
    assert done.stdout.splitlines() == ["b'ran\\n'", "refused", "refused", "refused",
                                        "socket.connect is not allowed in a reader of files"], done.stderr


def test_a_missing_program_is_said() -> None:
    with pytest.raises(ExtractionError) as caught:
        _programs.run(["/nowhere/soffice"], timeout=5)
    assert caught.value.code == "needs-program"


def test_the_programs_of_this_machine_are_found_with_their_languages() -> None:
    found = _programs.find()
    if not found.tesseract:
        pytest.skip("Tesseract is not installed here")
    assert found.tesseract[0].isdigit()
    assert "osd" not in found.languages
    assert found.languages
