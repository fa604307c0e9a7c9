"""What every test of every room gets: a home of its own, no screen, no network."""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

HERE = Path(__file__).resolve().parent
SHARED_DATA = HERE.parent.parent / "shared" / "data"

# A shell that starts the tests in the background lets them ignore Ctrl+C, and every child inherits that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# At import, before any test module is: each xdist worker comes here on its own.
_scratch = Path(tempfile.mkdtemp(prefix="sbert-desktop-tests-"))
_network_log = _scratch / "network.log"
os.environ["SBERT_DESKTOP_HOME"] = str(_scratch / "home")
os.environ.pop("SBERT_DESKTOP_LIBRARY", None)
os.environ["QT_QPA_PLATFORM"] = "offscreen"
os.environ["TZ"] = "UTC"  # a day that a test expects is the same day everywhere
if hasattr(time, "tzset"):
    time.tzset()
os.environ["SBERT_DESKTOP_NETWORK_LOG"] = str(_network_log)

# The same examples in every run, and none judged by how long it or its making took.
settings.register_profile(
    "suite", deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
)
settings.load_profile("suite")


def _guard_the_network() -> None:
    guard = HERE / "network_guard"
    inherited = [part for part in os.environ.get("PYTHONPATH", "").split(os.pathsep) if part and part != str(guard)]
    os.environ["PYTHONPATH"] = os.pathsep.join([str(guard), *inherited])
    spec = importlib.util.spec_from_file_location("sbert_desktop_network_guard", guard / "sitecustomize.py")
    assert spec is not None
    assert spec.loader is not None
    spec.loader.exec_module(importlib.util.module_from_spec(spec))


_guard_the_network()


def _look_ups() -> list[str]:
    try:
        return _network_log.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return []


@pytest.fixture(autouse=True)
def _no_look_ups() -> Iterator[None]:
    """Fails the test in which a host was looked up, in any child or fork, swallowed or not."""
    before = len(_look_ups())
    yield
    fresh = _look_ups()[before:]
    if fresh:
        pytest.fail("a host was looked up:\n" + "\n".join(fresh), pytrace=False)


@pytest.fixture(autouse=True)
def _nothing_ends_this_process() -> Iterator[None]:
    """Fails the test that leaves a timer behind which would end the whole run, minutes later and without a word."""
    yield
    armed = [thread for thread in threading.enumerate() if getattr(thread, "function", None) is os._exit]
    for timer in armed:
        timer.cancel()  # type: ignore[attr-defined]
    assert not armed, "a timer that ends the process is left running"


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fails the run for any look-up, also one that a child made after its test had ended."""
    lines = _look_ups()
    if lines:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
        print("\nhosts were looked up in this run:\n" + "\n".join(lines))


def pytest_unconfigure() -> None:
    """Removes the home of this run."""
    shutil.rmtree(_scratch, ignore_errors=True)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Gives the folder of real evaluation data that stands beside a developer's checkout."""
    if not SHARED_DATA.is_dir():
        pytest.skip("needs ../shared/data, which is not here")
    return SHARED_DATA.resolve()  # it may be a link, and the library keeps real paths
