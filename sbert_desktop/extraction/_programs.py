"""The two programs of the machine that readers may use, Tesseract and LibreOffice: found, and run with limits.

A program gets a temporary home of its own, no network, limits on time, memory, files and output, and dies with the
child that started it. Nothing else in this room starts programs.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from sbert_desktop.errors import ExtractionError
from sbert_desktop.extraction._limits import own_files
from sbert_desktop.extraction._problems import failure

MEMORY_MB = 4096
"""Address space of a program: LibreOffice maps about 1.5 GB before it has read anything."""
OUTPUT_LIMIT = 256 * 1024 * 1024
"""Bytes of the largest file (and of each output) that a program may write."""
_DESCRIPTORS = 512
_PREFIX = "sbert-desktop-run-"
_DEAD = "http://127.0.0.1:9"
_KEPT = ("PATH", "SYSTEMROOT", "WINDIR", "COMSPEC", "PATHEXT", "PROGRAMFILES", "PROGRAMDATA", "TESSDATA_PREFIX")
_PLACES = {
    "tesseract": ("/opt/homebrew/bin", "/usr/local/bin", r"C:\Program Files\Tesseract-OCR"),
    "soffice": ("/Applications/LibreOffice.app/Contents/MacOS", "/opt/libreoffice/program",
                "/usr/lib/libreoffice/program", r"C:\Program Files\LibreOffice\program",
                r"C:\Program Files (x86)\LibreOffice\program"),
}
_CLONE_NEWUSER, _CLONE_NEWNET, _PR_SET_PDEATHSIG = 0x10000000, 0x40000000, 1  # Source: linux/sched.h, linux/prctl.h


@dataclass(frozen=True, slots=True)
class Programs:
    """What is installed: versions (``""`` where a program is missing), Tesseract's languages, paths."""

    tesseract: str = ""
    languages: tuple[str, ...] = ()
    libreoffice: str = ""
    tesseract_path: str = ""
    libreoffice_path: str = ""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a program ended: its exit status and what it wrote on its two outputs."""

    status: int
    output: bytes
    errors: bytes


@lru_cache(maxsize=1)
def find() -> Programs:
    """Looks for both programs and asks them for their versions, once per process."""
    tesseract, soffice = _locate("tesseract"), _locate("soffice")
    version = _first(r"(\d+\.\d+[\w.-]*)", _said([tesseract, "--version"])) if tesseract else ""
    languages: tuple[str, ...] = ()
    if version:
        lines = _said([tesseract, "--list-langs"]).splitlines()[1:]
        languages = tuple(sorted(line.strip() for line in lines if line.strip() and line.strip() != "osd"))
    office = _first(r"(\d+\.\d+[\w.]*)", _said([soffice, "--version"])) if soffice else ""
    return Programs(version, languages, office, tesseract if version else "", soffice if office else "")


@contextlib.contextmanager
def workspace() -> Iterator[Path]:
    """Gives a temporary folder in which this package's own code may write; it is gone afterwards.

    What a killed child left behind is removed by the next one that needs a folder.
    """
    with own_files():
        base = Path(tempfile.gettempdir())
        _remove_left_behind(base)
        folder = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-", dir=base))
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def run(argv: Sequence[str], *, stdin: bytes = b"", timeout: float, folder: Path | None = None,
        environment: Mapping[str, str] | None = None, memory_mb: int = MEMORY_MB) -> Ended:
    """Runs a program to its end, without network, in a home of its own.

    Args:
        argv: The program and its arguments; never a shell.
        stdin: What it reads on its standard input.
        timeout: Seconds of wall time; its CPU time is limited to twice that.
        folder: Where it works and has its home, from :func:`workspace`; None for one of its own.
        environment: Further variables.
        memory_mb: Its address space (Linux).

    Raises:
        ExtractionError: ``timed-out``, or ``needs-program`` when it does not start.
    """
    if folder is None:
        with workspace() as own:
            return run(argv, stdin=stdin, timeout=timeout, folder=own, environment=environment, memory_mb=memory_mb)
    with own_files(), contextlib.ExitStack() as stack:
        given, said, complained = (stack.enter_context(tempfile.TemporaryFile(dir=folder)) for _ in range(3))
        given.write(stdin)
        given.seek(0)
        process = _start(argv, folder, environment, (given, said, complained), timeout, memory_mb)
        try:
            status = process.wait(timeout)
        except subprocess.TimeoutExpired as error:
            raise failure("timed-out", f"{Path(argv[0]).stem} took longer than {timeout:g} s.") from error
        finally:
            _end(process)
        outputs = []
        for stream in (said, complained):
            stream.seek(0)
            outputs.append(stream.read(OUTPUT_LIMIT))
    return Ended(status, outputs[0], outputs[1])


def _start(argv: Sequence[str], folder: Path, environment: Mapping[str, str] | None, streams: tuple[object, ...],
           timeout: float, memory_mb: int) -> subprocess.Popen[bytes]:
    given, said, complained = streams
    home = {key: str(folder) for key in ("HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "TMPDIR", "TEMP", "TMP",
                                         "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR")}
    proxies = {key: _DEAD for name in ("http_proxy", "https_proxy", "ftp_proxy", "all_proxy")
               for key in (name, name.upper())}
    variables = {key: os.environ[key] for key in _KEPT if key in os.environ}
    variables |= {"LANG": "C.UTF-8", "LC_ALL": "C.UTF-8"} | home | proxies | dict(environment or {})
    prepare = _preparation(timeout, memory_mb) if sys.platform != "win32" else None
    flags = getattr(subprocess, "CREATE_NO_WINDOW", 0)
    try:
        return subprocess.Popen(list(argv), stdin=given, stdout=said, stderr=complained, cwd=folder,  # type: ignore[call-overload,no-any-return]
                                env=variables, close_fds=True, start_new_session=sys.platform != "win32",
                                preexec_fn=prepare, creationflags=flags)
    except (OSError, subprocess.SubprocessError) as error:
        raise failure("needs-program", f"{Path(argv[0]).stem} could not be started.", "Check its installation.",
                      detail=type(error).__name__) from error


def _preparation(timeout: float, memory_mb: int) -> Callable[[], None]:
    """Gives what happens in the new process before the program: all that can be looked up is looked up here."""
    import ctypes
    import resource

    linux = sys.platform == "linux"
    libc = ctypes.CDLL(None, use_errno=True) if linux else None
    parent, user, group = os.getpid(), os.getuid(), os.getgid()
    limits = [(resource.RLIMIT_CORE, 0), (resource.RLIMIT_NOFILE, _DESCRIPTORS),
              (resource.RLIMIT_FSIZE, OUTPUT_LIMIT), (resource.RLIMIT_CPU, int(2 * timeout) + 1)]
    if linux:
        limits.append((resource.RLIMIT_AS, memory_mb << 20))

    def prepare() -> None:
        for kind, value in limits:
            hard = resource.getrlimit(kind)[1]
            value = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.setrlimit(kind, (value, value))
        if libc is None:
            return
        if libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNET) == 0:
            for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"),
                               ("gid_map", f"{group} {group} 1")):
                try:
                    with open(f"/proc/self/{name}", "w") as stream:
                        stream.write(text)
                except OSError:
                    break  # the program then runs as "nobody": it may read less, never more
        else:
            libc.unshare(_CLONE_NEWNET)  # root in a container; if this fails too, only the dead proxies stand
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)  # last: a change of rights would take it back
        if os.getppid() != parent:
            os._exit(1)

    return prepare


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ends a program with everything that it started."""
    if sys.platform == "win32":
        process.kill()
    else:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(5.0)


def _remove_left_behind(base: Path) -> None:
    with contextlib.suppress(OSError):
        for entry in os.scandir(base):
            match = re.fullmatch(rf"{_PREFIX}(\d+)-\w+", entry.name)
            if match and entry.is_dir(follow_symlinks=False) and not _lives(int(match.group(1))):
                shutil.rmtree(entry.path, ignore_errors=True)


def _lives(pid: int) -> bool:
    if pid == os.getpid():
        return True
    import psutil

    return bool(psutil.pid_exists(pid))


def _locate(name: str) -> str:
    found = shutil.which(name) or shutil.which(name, path=os.pathsep.join(_PLACES[name])) or ""
    if found and name == "soffice":
        # The script starts a helper that starts the program: only the program itself dies with us.
        binary = Path(os.path.realpath(found)).with_name("soffice.bin")
        if binary.is_file():
            return str(binary)
    return found


def _said(argv: Sequence[str]) -> str:
    try:
        ended = run(argv, timeout=20.0)
    except ExtractionError:
        return ""
    return (ended.output or ended.errors).decode("utf-8", "replace") if ended.status == 0 else ""


def _first(pattern: str, text: str) -> str:
    match = re.search(pattern, text)
    return match.group(1) if match else ""
