"""Prepares everything and starts SBERT Desktop, or runs its tests.

    python packaging/bootstrap.py run [ARGUMENTS OF sbert-desktop]
    python packaging/bootstrap.py test [ARGUMENTS OF pytest]

Standard library only. It makes ``.venv`` beside this repository's ``pyproject.toml``, installs the
project into it with the exact versions of ``constraints.txt``, looks for what the system itself
must bring (a C++ compiler, Qt's system libraries) and installs that where it may, else names the
command. A stamp in ``.venv`` makes every later start cheap; whatever is found half made, moved or
of another version is made again. Exit status: that of the program, or 1 when something lacks,
2 wrong usage, 130 interrupted.
"""

import sys

if sys.version_info < (3, 11):  # noqa: UP036  before anything that an older Python cannot even define
    sys.exit(
        f"SBERT Desktop needs Python 3.11 or newer; this is Python {sys.version_info[0]}.{sys.version_info[1]}. "
        "Start it with a newer one, for example: python3.11 packaging/bootstrap.py run"
    )

import contextlib
import hashlib
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
STAMP = VENV / "bootstrap.json"
UNFINISHED = VENV / "bootstrap-unfinished"
DISCARDED = ROOT / ".venv.discarded"
CONSTRAINTS = ROOT / "packaging" / "constraints.txt"
LAST_FAILED = ROOT / ".pytest_cache" / "v" / "cache" / "lastfailed"
MOST_UNSTEADY = 3  # more failing tests than this are no accident
WINDOWS = os.name == "nt"
BIN = VENV / ("Scripts" if WINDOWS else "bin")
PYTHON = BIN / ("python.exe" if WINDOWS else "python")
SPACE_NEEDED = 4_000_000_000  # a finished .venv took 2.1 GB on Linux; pip needs room for the wheels beside it
USAGE = "usage: python packaging/bootstrap.py run [ARGUMENTS OF sbert-desktop] | test [ARGUMENTS OF pytest]"


class SetupError(Exception):
    """Something lacks that this script cannot bring; the message is one plain line."""


def main(arguments: Sequence[str]) -> int:
    """Prepares the environment and runs the command; gives the exit status."""
    if not arguments or arguments[0] not in ("run", "test"):
        wanted = arguments[:1] in (["-h"], ["--help"])
        print(USAGE, file=sys.stdout if wanted else sys.stderr)
        return 0 if wanted else 2
    command, rest = arguments[0], list(arguments[1:])
    with contextlib.suppress(ValueError, AttributeError):
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        if Path(sys.prefix).resolve() == VENV.resolve() and not is_ready(command):
            # Making .venv again would pull the ground from under this very process.
            return hand_over([getattr(sys, "_base_executable", sys.executable), __file__, *arguments])
        prepare(command, window=command == "test" or opens_window(rest))
        return run_tests(rest) if command == "test" else run_program(rest)
    except SetupError as error:
        print(f"bootstrap: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("bootstrap: interrupted; the next start goes on from here.", file=sys.stderr)
        return 130
    except OSError as error:
        place = f" {error.filename}" if error.filename else ""
        print(f"bootstrap: cannot go on, {error.strerror or error}:{place}", file=sys.stderr)
        return 1


# ---------------------------------------------------------------- the two commands


def opens_window(arguments: Sequence[str]) -> bool:
    """Tells whether sbert-desktop will open its window: the command line works without Qt's libraries."""
    rest = list(arguments)
    while rest[:1] == ["--library"]:
        del rest[:2]
    return not rest or (len(rest) == 1 and rest[0].startswith("--library="))


def run_program(arguments: Sequence[str]) -> int:
    """Becomes sbert-desktop (on Windows: waits for it)."""
    return hand_over([str(BIN / ("sbert-desktop.exe" if WINDOWS else "sbert-desktop")), *arguments])


def run_tests(arguments: Sequence[str]) -> int:
    """Runs ruff, mypy and, last, so that its closing line ends the output, pytest.

    Of the whole suite, the files of up to three failed tests run once more, alone.
    """
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "PYTHONUNBUFFERED": "1"}
    failed = []
    cores = os.cpu_count() or 1
    # the whole suite is shared out over cores; a chosen part runs as pytest would run it
    shared = ["-n", str(min(4, cores))] if cores > 1 and not arguments else []
    for name, call in (
        ("ruff", ["-m", "ruff", "check", "--output-format", "concise", "."]),
        ("mypy", ["-m", "mypy"]),
        ("pytest", ["-m", "pytest", *shared, *arguments]),
    ):
        say(f"{name} ...")
        if name == "pytest":
            LAST_FAILED.unlink(missing_ok=True)
        status = subprocess.call([str(PYTHON), *call], cwd=ROOT, env=environment)
        if name == "pytest" and shared and status == 1:
            status = run_again(environment, status)
        if status:
            failed.append(f"{name} ({status})")
    if failed:
        print(f"bootstrap: failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


def run_again(environment: Mapping[str, str], status: int) -> int:
    """Runs the files of the few tests that failed once more, alone; see docs/adr/0021-unsteady-tests.md.

    Gives 0 if all of them pass now, and names them as unsteady; else the status of the first run.
    """
    try:
        failed = list(json.loads(LAST_FAILED.read_text("utf-8")))
    except (OSError, ValueError):
        return status
    if not 0 < len(failed) <= MOST_UNSTEADY or any("::" not in test for test in failed):  # or a file cannot be read
        return status
    files = sorted({test.partition("::")[0] for test in failed})
    say(f"{len(failed)} failed; once more, alone: {' '.join(files)} ...")
    if subprocess.call([str(PYTHON), "-m", "pytest", *files], cwd=ROOT, env=dict(environment)):
        return status
    for test in failed:
        say(f"UNSTEADY: {test} failed among the others (its failure stands above) and passed alone. It wants mending.")
    return 0


def hand_over(call: Sequence[str]) -> int:
    """Replaces this process by another; on Windows, where that detaches the console, waits for it."""
    sys.stdout.flush()
    sys.stderr.flush()
    if WINDOWS:
        return subprocess.call(call)
    os.execv(call[0], list(call))


# ---------------------------------------------------------------- the environment


def prepare(command: str, *, window: bool) -> None:
    """Makes sure that ``.venv`` is complete for the command. ``window``: Qt will need the system's libraries."""
    if window and sys.platform.startswith("linux"):
        provide(missing_for_qt())
    if is_ready(command):
        return
    with only_one_at_a_time():
        if is_ready(command):  # made by the start that we waited for
            return
        begin = time.monotonic()
        provide(missing_for_python())
        make_environment()
        provide(missing_for_build())
        install(command)
        write_stamp(command)
        say(f"ready after {time.monotonic() - begin:.0f} s")


def fingerprint() -> str:
    """Gives the hash of what decides the content of ``.venv``."""
    digest = hashlib.sha256()
    for path in (ROOT / "pyproject.toml", CONSTRAINTS):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def is_ready(command: str) -> bool:
    """Tells whether ``.venv`` is whole, still where it was made, and up to date for the command."""
    try:
        stamp = json.loads(STAMP.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return (
        isinstance(stamp, dict)
        and stamp.get("fingerprint") == fingerprint()
        and stamp.get("place") == str(VENV.resolve())
        and command in stamp.get("commands", ())
        and PYTHON.exists()  # False when the Python that it was made with has gone
        and not UNFINISHED.exists()
    )


def write_stamp(command: str) -> None:
    """Writes the stamp, whole or not at all; what serves the tests serves the program too."""
    stamp = {
        "fingerprint": fingerprint(),
        "place": str(VENV.resolve()),
        "commands": ["run", "test"] if command == "test" else ["run"],
    }
    fresh = STAMP.with_suffix(".new")
    fresh.write_text(json.dumps(stamp), encoding="utf-8")
    os.replace(fresh, STAMP)


def make_environment() -> None:
    """Makes ``.venv`` unless a usable one stands there."""
    if is_usable():
        STAMP.unlink(missing_ok=True)
        return
    free = shutil.disk_usage(ROOT).free
    if free < SPACE_NEEDED:
        raise SetupError(
            f"not enough room: {free / 1e9:.1f} GB are free beside {ROOT}, "
            f"{SPACE_NEEDED / 1e9:.0f} GB are needed. Free some and start again."
        )
    shutil.rmtree(DISCARDED, ignore_errors=True)
    if VENV.is_symlink() or VENV.is_file():
        raise SetupError(f"{VENV} is not a folder. Move it away and start again.")
    if VENV.exists():
        known = [(VENV / name).exists() for name in ("pyvenv.cfg", "bin", "Scripts", UNFINISHED.name)]
        if not any(known) and any(VENV.iterdir()):
            raise SetupError(f"{VENV} holds something else than a Python environment. Move it away and start again.")
        say("making .venv again: it is incomplete, or was moved")
        VENV.rename(DISCARDED)  # first, so that an interruption never leaves half a folder that looks whole
    shutil.rmtree(DISCARDED, ignore_errors=True)
    say(f"making .venv with Python {sys.version.split()[0]}")
    VENV.mkdir()
    UNFINISHED.touch()
    call = [getattr(sys, "_base_executable", sys.executable), "-m", "venv", str(VENV)]
    status, lines = watch(call, lambda line: None)
    if status:
        raise SetupError(f"Python could not make {VENV}: {last_words(lines)}")


def is_usable() -> bool:
    """Tells whether ``.venv`` has a Python and a pip that run, in the place where it was made."""
    if UNFINISHED.exists() or not PYTHON.exists():
        return False
    with contextlib.suppress(OSError):
        for line in (VENV / "pyvenv.cfg").read_text(encoding="utf-8", errors="replace").splitlines():
            # "command = /usr/bin/python3 -m venv /home/me/repo/.venv": scripts in bin/ hold that path too.
            if line.startswith("command") and not line.rstrip().endswith((str(VENV), str(VENV.resolve()))):
                return False
    question = "import sys, pip; print(sys.version_info >= (3, 11))"
    answer = subprocess.run([str(PYTHON), "-c", question], capture_output=True, text=True, env=clean_environment())
    return answer.returncode == 0 and answer.stdout.strip() == "True"


def clean_environment() -> dict[str, str]:
    """Gives the environment without what makes a venv's Python or pip look elsewhere."""
    dropped = ("PYTHONHOME", "PYTHONPATH", "PIP_USER", "PIP_TARGET", "PIP_PREFIX", "PIP_REQUIRE_VIRTUALENV")
    return {**{k: v for k, v in os.environ.items() if k not in dropped}, "PIP_USER": "0"}


def install(command: str) -> None:
    """Installs the project, editable, with the pinned versions.

    An interruption leaves the mark, so that the next start makes ``.venv`` again; a clean refusal
    of pip does not: it installs nothing before everything is fetched and built.
    """
    UNFINISHED.touch()
    what = f"{ROOT}[dev]" if command == "test" else str(ROOT)
    call = [str(PYTHON), "-m", "pip", "install", "--disable-pip-version-check", "--no-input", "--no-color",
            "--progress-bar", "off", "--retries", "2", "-c", str(CONSTRAINTS), "-e", what]  # fmt: skip
    say("fetching and installing packages (a few minutes the first time)")
    status, lines = watch(call, PipProgress().see, environment=clean_environment())
    UNFINISHED.unlink(missing_ok=True)
    if status:
        raise SetupError(explain(lines))


class PipProgress:
    """Turns pip's output into a handful of lines."""

    def __init__(self) -> None:
        self.fetched = 0
        self.shown = time.monotonic()

    def see(self, line: str) -> None:
        """Takes one line of pip."""
        words = line.split()
        if line.lstrip().startswith(("Downloading ", "Using cached ")):
            self.fetched += 1
        if line.startswith("Building wheels for collected packages:"):
            say(f"  building {' '.join(words[5:])}")
        elif line.startswith("Installing collected packages:"):
            say(f"  installing {line.count(',') + 1} packages")
            self.shown = float("inf")  # nothing is fetched any more
        elif time.monotonic() - self.shown > 15:
            self.shown = time.monotonic()
            say(f"  {self.fetched} files fetched so far")


NO_NETWORK = ("NewConnectionError", "Name or service not known", "Temporary failure in name resolution",
              "nodename nor servname", "getaddrinfo failed", "ConnectTimeoutError", "Network is unreachable",
              "ReadTimeoutError", "ProxyError", "Connection refused")  # fmt: skip


def explain(lines: Sequence[str]) -> str:
    """Gives one plain line on why pip failed; prints its last lines where the cause is not plain."""
    text = "\n".join(lines)
    if any(sign in text for sign in NO_NETWORK):
        return "cannot reach the package index. Connect to the network (or set pip's proxy or index) and start again."
    if "No space left on device" in text or "Errno 28" in text:
        return f"the disk became full while packages were installed. Free some room beside {ROOT} and start again."
    print("\n".join(f"  pip: {line}" for line in lines[-20:]), file=sys.stderr)
    if "Failed building wheel for hnswlib" in text or "Failed to build hnswlib" in text:
        return "hnswlib could not be built. Its compiler's message stands above; it needs a C++ compiler and Python.h."
    if "No matching distribution" in text or "Could not find a version" in text:
        return (
            f"a package has no build for Python {sys.version_info[0]}.{sys.version_info[1]} on this system (named "
            "above). Python 3.11 to 3.13, 64 bit, is what it was made for."
        )
    return "packages could not be installed; the last lines of pip stand above. Start again once the cause is gone."


# ---------------------------------------------------------------- what the system must bring

# need: (what for, apt, dnf, pacman, zypper). A "" means that the system's Python or base always has it.
PACKAGES = {
    "libEGL.so.1": ("Qt", "libegl1", "libglvnd-egl", "libglvnd", "libEGL1"),
    "libGL.so.1": ("Qt", "libgl1", "libglvnd-glx", "libglvnd", "libGL1"),
    "libxkbcommon.so.0": ("Qt", "libxkbcommon0", "libxkbcommon", "libxkbcommon", "libxkbcommon0"),
    "libxkbcommon-x11.so.0": ("Qt", "libxkbcommon-x11-0", "libxkbcommon-x11", "libxkbcommon-x11", "libxkbcommon-x11-0"),
    "libdbus-1.so.3": ("Qt", "libdbus-1-3", "dbus-libs", "dbus", "libdbus-1-3"),
    "libfontconfig.so.1": ("Qt", "libfontconfig1", "fontconfig", "fontconfig", "fontconfig"),
    "libglib-2.0.so.0": ("Qt", "libglib2.0-0", "glib2", "glib2", "libglib-2_0-0"),
    "libX11-xcb.so.1": ("Qt", "libx11-xcb1", "libX11-xcb", "libx11", "libX11-xcb1"),
    "libxcb-cursor.so.0": ("Qt", "libxcb-cursor0", "xcb-util-cursor", "xcb-util-cursor", "libxcb-cursor0"),
    "libxcb-icccm.so.4": ("Qt", "libxcb-icccm4", "xcb-util-wm", "xcb-util-wm", "libxcb-icccm4"),
    "libxcb-keysyms.so.1": ("Qt", "libxcb-keysyms1", "xcb-util-keysyms", "xcb-util-keysyms", "libxcb-keysyms1"),
    "libxcb-image.so.0": ("Qt", "libxcb-image0", "xcb-util-image", "xcb-util-image", "libxcb-image0"),
    "libxcb-render-util.so.0": (
        "Qt", "libxcb-render-util0", "xcb-util-renderutil", "xcb-util-renderutil", "libxcb-render-util0",
    ),
    "libxcb-randr.so.0": ("Qt", "libxcb-randr0", "libxcb", "libxcb", "libxcb-randr0"),
    "libxcb-shape.so.0": ("Qt", "libxcb-shape0", "libxcb", "libxcb", "libxcb-shape0"),
    "libxcb-xinerama.so.0": ("Qt", "libxcb-xinerama0", "libxcb", "libxcb", "libxcb-xinerama0"),
    "libxcb-xkb.so.1": ("Qt", "libxcb-xkb1", "libxcb", "libxcb", "libxcb-xkb1"),
    "a font": ("Qt", "fonts-dejavu-core", "dejavu-sans-fonts", "ttf-dejavu", "dejavu-fonts"),
    "venv": ("Python", "python{version}-venv", "", "", "python{digits}-venv"),
    "a C++ compiler": ("hnswlib", "g++", "gcc-c++", "gcc", "gcc-c++"),
    "Python.h": ("hnswlib", "python{version}-dev", "python3-devel", "", "python{digits}-devel"),
}  # fmt: skip
MANAGERS = {
    "apt-get": (1, "apt-get install -y --no-install-recommends"),
    "dnf": (2, "dnf install"),
    "pacman": (3, "pacman -S"),
    "zypper": (4, "zypper install"),
}


def missing_for_qt() -> list[str]:
    """Lists what Qt needs of a Linux system and cannot be loaded."""
    import ctypes

    missing = []
    for need, packages in PACKAGES.items():
        if packages[0] != "Qt":
            continue
        if need == "a font":
            if not has_font():
                missing.append(need)
            continue
        try:
            ctypes.CDLL(need)
        except OSError:
            missing.append(need)
    return missing


def has_font() -> bool:
    """Tells whether any scalable font is installed where fontconfig looks."""
    home = Path.home()
    data = os.environ.get("XDG_DATA_DIRS", "/usr/local/share:/usr/share").split(":")
    for place in (*(Path(p) / "fonts" for p in data if p), home / ".fonts", home / ".local/share/fonts"):
        for _, _, names in os.walk(place):
            if any(name.lower().endswith((".ttf", ".otf", ".ttc")) for name in names):
                return True
    return False


def missing_for_python() -> list[str]:
    """Lists what this Python lacks to make an environment (Debian ships ensurepip apart)."""
    from importlib.util import find_spec

    if is_usable():
        return []
    return [] if find_spec("venv") and find_spec("ensurepip") else ["venv"]


def missing_for_build() -> list[str]:
    """Lists what building hnswlib lacks: it comes without wheels. Nothing when it is installed already."""
    question = (
        "import importlib.metadata as m, os, shutil, sysconfig\n"
        "try: print('built', m.version('hnswlib'))\n"
        "except m.PackageNotFoundError: print(os.path.exists(sysconfig.get_paths()['include'] + '/Python.h'))\n"
    )
    answer = subprocess.run([str(PYTHON), "-c", question], capture_output=True, text=True, env=clean_environment())
    if answer.stdout.startswith("built"):
        return []
    missing = [] if has_compiler() else ["a C++ compiler"]
    if not WINDOWS and answer.stdout.strip() == "False":
        missing.append("Python.h")
    return missing


def has_compiler() -> bool:
    """Tells whether a C++ compiler is there."""
    if WINDOWS:
        base = os.environ.get("PROGRAMFILES(X86)", "C:/Program Files (x86)")
        finder = Path(base, "Microsoft Visual Studio", "Installer", "vswhere.exe")
        if not finder.exists():
            return shutil.which("cl") is not None
        call = [str(finder), "-products", "*", "-requires", "Microsoft.VisualStudio.Component.VC.Tools.x86.x64",
                "-property", "installationPath"]  # fmt: skip
        return bool(subprocess.run(call, capture_output=True, text=True).stdout.strip())
    if sys.platform == "darwin":  # /usr/bin/c++ is a stub there until the tools are installed
        return subprocess.run(["xcode-select", "-p"], capture_output=True).returncode == 0
    named = os.environ.get("CXX", "").split()
    return any(shutil.which(name) for name in (*named[:1], "c++", "g++", "clang++"))


def provide(missing: Sequence[str]) -> None:
    """Installs what the system lacks where that is allowed, else says which command does.

    Raises:
        SetupError: It cannot be installed from here.
    """
    if not missing:
        return
    names = ", ".join(missing)
    for manager, (column, install_command) in MANAGERS.items():
        if not shutil.which(manager) or not sys.platform.startswith("linux"):
            continue
        packages = [package_name(need, column) for need in missing]
        packages = [package for package in dict.fromkeys(packages) if package]
        if not packages:
            break
        call = f"{install_command} {' '.join(packages)}"
        if manager == "apt-get" and os.geteuid() == 0:
            say(f"the system lacks {names}; installing {' '.join(packages)}")
            apt_install(call)
            return
        raise SetupError(f"the system lacks {names}. Install it and start again: sudo {call}")
    if sys.platform == "darwin" and "a C++ compiler" in missing:
        raise SetupError(f"the system lacks {names}. Install it and start again: xcode-select --install")
    if WINDOWS and "a C++ compiler" in missing:
        raise SetupError(
            f"the system lacks {names}. Install it and start again: winget install --id "
            'Microsoft.VisualStudio.2022.BuildTools --override "--passive --add '
            'Microsoft.VisualStudio.Workload.VCTools --includeRecommended"'
        )
    raise SetupError(
        f"the system lacks {names}. Install it with the system's package manager, or use a complete "
        "Python 3.11 or newer (on macOS: brew install python@3.12), and start again."
    )


def package_name(need: str, column: int) -> str:
    """Gives the package that brings a need, ``""`` where there is none."""
    major, minor = sys.version_info[:2]
    return PACKAGES[need][column].format(version=f"{major}.{minor}", digits=f"{major}{minor}")


def apt_install(call: str) -> None:
    """Runs apt-get as root, quietly, waiting for another apt that holds its lock."""
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    wait = ["-o", "DPkg::Lock::Timeout=300", "-q"]
    # A failed update is no end: the lists that are there may do.
    watch(["apt-get", *wait, "update"], lambda line: None, environment=environment)
    program, *rest = call.split()
    status, lines = watch([program, *wait, *rest], lambda line: None, environment=environment)
    if status:
        raise SetupError(f"the system's packages could not be installed ({last_words(lines)}). Try by hand: {call}")


# ---------------------------------------------------------------- small tools


def say(line: str) -> None:
    """Prints a line of progress; standard output belongs to the program."""
    print(f"bootstrap: {line}", file=sys.stderr, flush=True)


def last_words(lines: Sequence[str]) -> str:
    """Gives the last line that says something."""
    return next((line.strip() for line in reversed(lines) if line.strip()), "no reason given")


def watch(call, see, environment=None) -> tuple[int, list[str]]:
    """Runs a program, hands each line of its output to ``see``, gives status and lines.

    The program does not outlive this one, and if this one is killed, it still holds our lock.
    """
    with subprocess.Popen(
        call, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        env=environment, text=True, encoding="utf-8", errors="replace", close_fds=False,
    ) as process:  # fmt: skip
        lines: list[str] = []
        try:
            for line in process.stdout:
                lines.append(line.rstrip())
                see(line.rstrip())
            return process.wait(), lines
        except BaseException:
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(10)
            process.kill()
            raise


@contextlib.contextmanager
def only_one_at_a_time() -> Iterator[None]:
    """Holds a lock that ends with this process, so that two starts do not build one ``.venv``."""
    place = ROOT if os.access(ROOT, os.W_OK) else Path(tempfile.gettempdir())
    with (place / ".venv.lock").open("a+b") as file:
        told = False
        while not try_lock(file):
            if not told:
                say("another start is preparing .venv; waiting for it")
                told = True
            time.sleep(0.2)
        if not WINDOWS:
            os.set_inheritable(file.fileno(), True)  # pip goes on holding it should this process be killed
        yield


def try_lock(file) -> bool:
    """Takes the lock of an open file unless somebody holds it."""
    try:
        if WINDOWS:
            import msvcrt

            file.seek(0)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
