"""bootstrap.py: cheap when all is ready, plain when something lacks, safe when stopped or started twice."""

from __future__ import annotations

import ast
import importlib.metadata
import importlib.util
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from packaging.requirements import Requirement

from tests.effort import least_cpu

ROOT = Path(__file__).resolve().parent.parent.parent
SCRIPT = ROOT / "packaging" / "bootstrap.py"
posix = pytest.mark.skipif(os.name == "nt", reason="POSIX only")


def run(*arguments: str, cwd: Path = ROOT, script: Path = SCRIPT, **options) -> subprocess.CompletedProcess[str]:
    call = [sys.executable, str(script), *arguments]
    return subprocess.run(call, cwd=cwd, capture_output=True, text=True, timeout=60, **options)


def children_time() -> float:
    """Gives the seconds of processor time of all children that have ended."""
    import resource

    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Makes a repository of three files: what bootstrap.py reads."""
    root = tmp_path / "re po"
    (root / "packaging").mkdir(parents=True)
    shutil.copy(SCRIPT, root / "packaging")
    (root / "pyproject.toml").write_text("[project]\n", encoding="utf-8")
    (root / "packaging" / "constraints.txt").write_text("nothing==1\n", encoding="utf-8")
    return root


@pytest.fixture
def bootstrap(repository: Path) -> ModuleType:
    """Loads the script as the one of that repository."""
    spec = importlib.util.spec_from_file_location("bootstrap_under_test", repository / "packaging" / "bootstrap.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def ready(repository: Path, bootstrap: ModuleType) -> Path:
    """Makes a finished .venv whose sbert-desktop prints its arguments and ends with 7."""
    bootstrap.BIN.mkdir(parents=True)
    bootstrap.PYTHON.symlink_to(sys.executable)
    program = bootstrap.BIN / "sbert-desktop"
    program.write_text('#!/bin/sh\necho "$PWD|$*"\nexit 7\n', encoding="utf-8")
    program.chmod(0o755)
    bootstrap.write_stamp("run")
    return repository


# ---------------------------------------------------------------- the command


@pytest.mark.parametrize("arguments", [[], ["start"], ["run-it"]])
def test_wrong_usage_ends_with_2_and_says_what_is_right(arguments: list[str]) -> None:
    done = run(*arguments)
    assert done.returncode == 2
    assert done.stderr.startswith("usage: ")
    assert done.stdout == ""


def test_help_is_no_error() -> None:
    done = run("--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert "run" in done.stdout


def test_an_older_python_is_told_in_one_line() -> None:
    code = f"import sys; sys.version_info = (3, 9, 2); exec(open({str(SCRIPT)!r}).read())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1
    assert re.fullmatch(r"SBERT Desktop needs Python 3\.11 or newer; this is Python 3\.9\. .*\n", done.stderr)


def test_an_older_python_can_read_the_script_at_all() -> None:
    ast.parse(SCRIPT.read_text(encoding="utf-8"), feature_version=(3, 7))


@posix
def test_a_ready_environment_starts_at_once_and_passes_everything_on(ready: Path, tmp_path: Path) -> None:
    def start() -> None:
        done = run("run", "search", "two words", cwd=tmp_path, script=ready / "packaging" / "bootstrap.py")
        assert done.stdout == f"{tmp_path}|search two words\n"
        assert done.returncode == 7
        assert done.stderr == ""

    assert least_cpu(start, enough=0.5, clock=children_time) < 0.5


@posix
def test_ctrl_c_ends_with_130_and_the_next_start_begins_afresh(
    bootstrap: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    bootstrap.BIN.mkdir(parents=True)
    bootstrap.PYTHON.symlink_to(sys.executable)
    assert bootstrap.is_usable()

    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(bootstrap, "missing_for_build", list)
    monkeypatch.setattr(bootstrap, "watch", interrupt)
    assert bootstrap.main(["run", "status"]) == 130
    assert not bootstrap.is_usable()
    assert not bootstrap.is_ready("run")
    assert capsys.readouterr().err.count("\n") == 2


# ---------------------------------------------------------------- the environment


def unfinish(bootstrap: ModuleType) -> None:
    bootstrap.UNFINISHED.touch()


def change_a_pin(bootstrap: ModuleType) -> None:
    bootstrap.CONSTRAINTS.write_text("nothing==2\n", encoding="utf-8")


def change_the_project(bootstrap: ModuleType) -> None:
    (bootstrap.ROOT / "pyproject.toml").write_text("[project]\nname='x'\n", encoding="utf-8")


def lose_python(bootstrap: ModuleType) -> None:
    bootstrap.PYTHON.unlink()
    bootstrap.PYTHON.symlink_to("gone")


def tear_the_stamp(bootstrap: ModuleType) -> None:
    bootstrap.STAMP.write_bytes(bootstrap.STAMP.read_bytes()[:20])


def come_from_elsewhere(bootstrap: ModuleType) -> None:
    stamp = json.loads(bootstrap.STAMP.read_text(encoding="utf-8"))
    bootstrap.STAMP.write_text(json.dumps({**stamp, "place": "/elsewhere/.venv"}), encoding="utf-8")


@posix
@pytest.mark.parametrize(
    "spoil", [unfinish, change_a_pin, change_the_project, lose_python, tear_the_stamp, come_from_elsewhere]
)
@pytest.mark.usefixtures("ready")
def test_a_spoiled_environment_is_not_taken_for_ready(
    bootstrap: ModuleType, spoil: Callable[[ModuleType], None]
) -> None:
    assert bootstrap.is_ready("run")
    spoil(bootstrap)
    assert not bootstrap.is_ready("run")


@posix
@pytest.mark.usefixtures("ready")
def test_what_serves_the_program_does_not_serve_the_tests(bootstrap: ModuleType) -> None:
    assert not bootstrap.is_ready("test")
    bootstrap.write_stamp("test")
    assert bootstrap.is_ready("test")
    assert bootstrap.is_ready("run")


def test_an_environment_is_made_and_noticed_when_it_was_moved(repository: Path, bootstrap: ModuleType) -> None:
    bootstrap.make_environment()
    assert bootstrap.UNFINISHED.exists()
    assert not bootstrap.is_usable()
    bootstrap.UNFINISHED.unlink()
    assert bootstrap.is_usable()
    config = bootstrap.VENV / "pyvenv.cfg"
    config.write_text(config.read_text(encoding="utf-8").replace("re po", "old place"), encoding="utf-8")
    assert not bootstrap.is_usable()


def test_a_folder_of_somebody_else_is_left_alone(bootstrap: ModuleType) -> None:
    bootstrap.VENV.mkdir()
    (bootstrap.VENV / "thesis.odt").touch()
    with pytest.raises(bootstrap.SetupError, match="Move it away"):
        bootstrap.make_environment()
    assert (bootstrap.VENV / "thesis.odt").exists()


def test_too_little_room_is_said_before_anything_is_fetched(
    bootstrap: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bootstrap, "SPACE_NEEDED", 10**18)
    with pytest.raises(bootstrap.SetupError, match="not enough room"):
        bootstrap.make_environment()
    assert not bootstrap.VENV.exists()


@posix
def test_a_killed_start_frees_the_lock_and_a_running_one_holds_it(bootstrap: ModuleType) -> None:
    code = (
        f"import sys, time; sys.path.insert(0, {str(bootstrap.ROOT / 'packaging')!r}); import bootstrap\n"
        "with bootstrap.only_one_at_a_time(): print('held', flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with (bootstrap.ROOT / ".venv.lock").open("a+b") as file:
            assert not bootstrap.try_lock(file)
            holder.kill()
            holder.wait()
            assert bootstrap.try_lock(file)


# ---------------------------------------------------------------- pip's failures


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("WARNING: Retrying ... NewConnectionError('<...>: Failed to establish a new connection')", "cannot reach"),
        ("socket.gaierror: [Errno -3] Temporary failure in name resolution", "cannot reach"),
        ("ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device", "disk became full"),
        ("ERROR: No matching distribution found for torch==2.13.0", "no build for Python"),
        ("ERROR: Failed building wheel for hnswlib", "hnswlib could not be built"),
        ("ERROR: something new", "last lines of pip"),
    ],
)
def test_pip_failures_become_one_plain_line(bootstrap: ModuleType, line: str, answer: str) -> None:
    said = bootstrap.explain(["Collecting numpy", line])
    assert answer in said
    assert "\n" not in said


@posix
def test_a_refusal_of_pip_leaves_the_environment_usable(
    bootstrap: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    bootstrap.BIN.mkdir(parents=True)
    bootstrap.PYTHON.symlink_to(sys.executable)
    monkeypatch.setattr(bootstrap, "missing_for_build", list)
    monkeypatch.setattr(bootstrap, "watch", lambda *_, **__: (1, [f"line {n}" for n in range(30)]))
    assert bootstrap.main(["run", "status"]) == 1
    assert bootstrap.is_usable()
    assert not bootstrap.is_ready("run")
    shown = capsys.readouterr().err
    assert "line 29" in shown
    assert "line 9\n" not in shown


# ---------------------------------------------------------------- the system


def test_what_the_window_needs_is_only_asked_for_when_it_opens(bootstrap: ModuleType) -> None:
    assert bootstrap.opens_window([])
    assert bootstrap.opens_window(["--library", "search"])
    assert not bootstrap.opens_window(["--library", "x", "search", "y"])
    assert not bootstrap.opens_window(["status"])


def fake_system(bootstrap: ModuleType, monkeypatch: pytest.MonkeyPatch, manager: str, user: int) -> None:
    monkeypatch.setattr(bootstrap.sys, "platform", "linux")
    monkeypatch.setattr(bootstrap.shutil, "which", lambda name: f"/usr/bin/{name}" if name == manager else None)
    monkeypatch.setattr(bootstrap.os, "geteuid", lambda: user, raising=False)


@pytest.mark.parametrize(
    ("manager", "command"),
    [
        ("apt-get", "sudo apt-get install -y --no-install-recommends libegl1 g++"),
        ("dnf", "sudo dnf install libglvnd-egl gcc-c++"),
        ("pacman", "sudo pacman -S libglvnd gcc"),
        ("zypper", "sudo zypper install libEGL1 gcc-c++"),
    ],
)
def test_without_rights_the_exact_command_is_named(
    bootstrap: ModuleType, monkeypatch: pytest.MonkeyPatch, manager: str, command: str
) -> None:
    fake_system(bootstrap, monkeypatch, manager, user=1000)
    with pytest.raises(bootstrap.SetupError) as caught:
        bootstrap.provide(["libEGL.so.1", "a C++ compiler"])
    assert str(caught.value).endswith(command)


def test_root_on_debian_gets_it_installed_after_an_update(
    bootstrap: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[list[str]] = []

    def record(call: list[str], see: object, environment: object = None) -> tuple[int, list[str]]:
        calls.append(call)
        return 0, []

    fake_system(bootstrap, monkeypatch, "apt-get", user=0)
    monkeypatch.setattr(bootstrap, "watch", record)
    bootstrap.provide(["libxcb-icccm.so.4", "Python.h"])
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    assert [call[-1] for call in calls] == ["update", f"python{version}-dev"]
    assert calls[1][-2] == "libxcb-icccm4"


def test_a_library_that_is_not_there_is_found_missing(bootstrap: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    table = {"libnothing-at-all.so.9": ("Qt", "nothing", "nothing", "nothing", "nothing")}
    monkeypatch.setattr(bootstrap, "PACKAGES", table)
    assert bootstrap.missing_for_qt() == ["libnothing-at-all.so.9"]


# ---------------------------------------------------------------- pins


def pins() -> dict[str, str]:
    lines = (ROOT / "packaging" / "constraints.txt").read_text(encoding="utf-8").splitlines()
    found = [Requirement(line) for line in lines if line and not line.startswith("#")]
    assert all(len(r.specifier) == 1 and next(iter(r.specifier)).operator == "==" for r in found)
    return {key(r.name): next(iter(r.specifier)).version for r in found if not r.marker or r.marker.evaluate()}


def key(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_every_dependency_is_pinned_within_its_range() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    pinned = pins()
    for text in [*project["dependencies"], *project["optional-dependencies"]["dev"]]:
        wanted = Requirement(text)
        assert wanted.specifier.contains(pinned[key(wanted.name)]), text


def test_the_versions_under_test_are_the_pinned_ones() -> None:
    differing = {}
    for name, version in pins().items():
        try:
            installed = importlib.metadata.version(name).split("+")[0]
        except importlib.metadata.PackageNotFoundError:
            continue  # of another system, or of dev in an environment without it
        if installed != version:
            differing[name] = (installed, version)
    assert not differing


STEADY = "def test_right():\n    assert True\n"
UNSTEADY = """
from pathlib import Path
def test_by_chance():
    met = Path("met")
    first = not met.exists()
    met.touch()
    assert not first
"""
UNREADABLE = """
import os
assert "PYTEST_XDIST_WORKER" not in os.environ
def test_alone():
    pass
"""
BROKEN = "import pytest\n@pytest.mark.parametrize('n', range({count}))\ndef test_wrong(n):\n    assert n < 0\n"


@pytest.mark.parametrize(
    ("texts", "chosen", "status", "told"),
    [
        ((STEADY,), (), 0, 0),
        ((STEADY, UNSTEADY), (), 0, 1),
        ((STEADY, UNSTEADY), ("test_1.py",), 1, 0),  # a part that was asked for runs as pytest would run it
        ((UNSTEADY, BROKEN.format(count=1)), (), 1, 0),
        ((UNSTEADY, BROKEN.format(count=3)), (), 1, 0),
        (("import nothing_of_this_name\n",), (), 1, 0),
        ((STEADY, UNREADABLE), (), 1, 0),
    ],
)
def test_a_test_that_passes_alone_is_named_and_one_that_does_not_fails_the_run(
    repository: Path,
    bootstrap: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    texts: tuple[str, ...],
    chosen: tuple[str, ...],
    status: int,
    told: int,
) -> None:
    for number, text in enumerate(texts):
        (repository / f"test_{number}.py").write_text(text, encoding="utf-8")
    bootstrap.LAST_FAILED.parent.mkdir(parents=True)
    bootstrap.LAST_FAILED.write_text('{"test_gone.py::test_of_last_week": true}', encoding="utf-8")
    bootstrap.BIN.mkdir(parents=True)
    # ruff and mypy pass at once; pytest is the real one
    bootstrap.PYTHON.write_text(
        f'#!/bin/sh\n[ "$2" = pytest ] || exit 0\nexec {shlex.quote(sys.executable)} "$@"\n', encoding="utf-8"
    )
    bootstrap.PYTHON.chmod(0o755)
    for name in [name for name in os.environ if name.startswith("PYTEST_")]:
        monkeypatch.delenv(name)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    assert bootstrap.run_tests(chosen) == status
    out = "".join(capfd.readouterr())
    assert out.count("UNSTEADY") == told
    assert told == 0 or "UNSTEADY: test_1.py::test_by_chance" in out


def test_ci_runs_the_test_command() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert "set -euo pipefail" in script
    assert "packaging/bootstrap.py test" in script


@pytest.mark.slow
@pytest.mark.timeout(1200)
@posix
def test_a_fresh_clone_starts_and_the_second_start_is_quick(tmp_path: Path) -> None:
    subprocess.run(["git", "clone", "-q", str(ROOT), str(tmp_path / "clone")], check=True)
    dropped = ("PYTHONPATH", "SBERT_DESKTOP_NETWORK_LOG")  # pip fetches
    environment = {k: v for k, v in os.environ.items() if k not in dropped}
    call = [sys.executable, str(tmp_path / "clone" / "packaging" / "bootstrap.py"), "run", "--help"]
    first = subprocess.run(call, env=environment, capture_output=True, text=True, timeout=900)
    assert first.returncode == 0, first.stderr

    def start() -> None:
        second = subprocess.run(call, env=environment, capture_output=True, text=True)
        assert second.returncode == 0
        assert second.stderr == ""

    assert least_cpu(start, enough=2, clock=children_time) < 2
