"""Opens and reveals files with the system's own programs; never starts a program silently.

A file that the system would *run* (by suffix, by mode or by content) is refused with the advice to
reveal it instead. No shell is involved: arguments are passed as a list.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from sbert_desktop.domain import display_path
from sbert_desktop.errors import PlatformError
from sbert_desktop.platform.programs import command_of, is_entry

_RUN_SUFFIXES = frozenset(
    {
        "exe",
        "com",
        "bat",
        "cmd",
        "ps1",
        "psm1",
        "vbs",
        "vbe",
        "js",
        "jse",
        "wsf",
        "wsh",
        "msi",
        "msp",
        "scr",
        "pif",
        "cpl",
        "hta",
        "jar",
        "lnk",
        "url",
        "reg",
        "inf",
        "gadget",
        "application",
        "appref-ms",
        "sh",
        "bash",
        "zsh",
        "csh",
        "ksh",
        "fish",
        "run",
        "bin",
        "out",
        "desktop",
        "appimage",
        "deb",
        "rpm",
        "flatpakref",
        "snap",
        "app",
        "command",
        "tool",
        "workflow",
        "scpt",
        "scptd",
        "action",
        "pkg",
        "mpkg",
        "dmg",
        "terminal",
        "py",
        "pyw",
        "pyz",
        "rb",
        "pl",
        "php",
        "lua",
        "tcl",
    }
)
_RUN_MAGIC = (
    b"\x7fELF",
    b"MZ",
    b"#!",
    b"\xfe\xed\xfa\xce",
    b"\xfe\xed\xfa\xcf",
    b"\xce\xfa\xed\xfe",
    b"\xcf\xfa\xed\xfe",
    b"\xca\xfe\xba\xbe",
    b"[Desktop Entry]",
)


def is_program(path: Path) -> bool:
    """Says whether the system might run the file instead of showing it."""
    # Windows leaves spaces and dots at the end of a name away
    if path.name.rstrip(" .").lower().rpartition(".")[2] in _RUN_SUFFIXES and "." in path.name:
        return True
    try:
        if not path.is_file():
            return False  # opening a pipe would wait for ever
        if os.name == "posix" and os.access(path, os.X_OK) and os.stat(path).st_mode & 0o111:
            return True
        with open(path, "rb") as stream:
            head = stream.read(64)
    except OSError:
        return False
    return head.startswith(_RUN_MAGIC)


def open_file(path: Path, page: int | None = None) -> None:
    """Opens a document with the program that the system has for it.

    Args:
        path: The file.
        page: 1-based page to open at, where a known PDF viewer can be told.

    Raises:
        PlatformError: ``file-gone``, ``file-is-program`` or ``open-failed``.
    """
    if not path.exists():
        raise PlatformError("file-gone", f"{display_path(path)} is no longer there.", "Check the folder for changes.")
    if is_program(path):
        raise PlatformError(
            "file-is-program",
            f"{path.name!a} could be run as a program, so it was not opened.",
            "Show it in its folder instead.",
        )
    if page and page > 1 and path.suffix.lower() == ".pdf" and sys.platform.startswith("linux"):
        for viewer, option in (
            ("okular", "--page"),
            ("evince", "--page-index"),
            ("xreader", "--page-index"),
            ("atril", "--page-index"),
        ):
            program = shutil.which(viewer)
            if program:
                _start([program, option, str(page), os.fspath(path)], path)
                return
    if sys.platform == "win32":
        try:
            os.startfile(path)
        except OSError as error:
            raise _failed(path, str(error)) from error
    elif sys.platform == "darwin":
        _start(["open", os.fspath(path)], path)
    else:
        program = shutil.which("xdg-open")
        if program is None:
            raise _failed(path, "the system has no xdg-open")
        _start([program, os.fspath(path)], path)


def open_with(path: Path, program: Path) -> None:
    """Opens a document with a program that the person chose.

    Args:
        path: The file.
        program: The program's own file; on macOS the ``.app`` folder, on Linux also a ``.desktop`` entry.

    Raises:
        PlatformError: ``file-gone``, ``program-unfit`` or ``open-failed``.
    """
    if not path.exists():
        raise PlatformError("file-gone", f"{display_path(path)} is no longer there.", "Check the folder for changes.")
    if sys.platform == "darwin" and program.suffix == ".app":
        _start(["open", "-a", str(program), "--", str(path)], path)
        return
    if sys.platform.startswith("linux") and is_entry(program):
        command = command_of(program, path)
        if command is not None:
            _start(command, path)
            return
    if not program.is_file() or not os.access(program, os.X_OK):
        raise PlatformError(
            "program-unfit", f"{display_path(program)} is no program that can be started.", "Choose a program."
        )
    _start([str(program), str(path)], path)


def reveal(path: Path) -> None:
    """Shows a file in the system's file manager, selected where that is possible.

    Raises:
        PlatformError: ``file-gone`` or ``open-failed``.
    """
    target = path if path.exists() else path.parent
    if not target.exists():
        raise PlatformError(
            "file-gone", f"{display_path(path)} and its folder are no longer there.", "Check the folder for changes."
        )
    if sys.platform == "win32":
        _start(["explorer", f"/select,{target}"], path)
    elif sys.platform == "darwin":
        _start(["open", "-R", os.fspath(target)], path)
    else:
        if _reveal_by_dbus(target):
            return
        program = shutil.which("xdg-open")
        if program is None:
            raise _failed(path, "the system has no xdg-open")
        _start([program, os.fspath(target if target.is_dir() else target.parent)], path)


def _reveal_by_dbus(target: Path) -> bool:
    program = shutil.which("dbus-send")
    if program is None or not os.environ.get("DBUS_SESSION_BUS_ADDRESS"):
        return False
    command = [
        program,
        "--session",
        "--print-reply",
        "--dest=org.freedesktop.FileManager1",
        "/org/freedesktop/FileManager1",
        "org.freedesktop.FileManager1.ShowItems",
        f"array:string:{target.absolute().as_uri()}",
        "string:",
    ]
    try:
        return subprocess.run(command, capture_output=True, timeout=3, check=False).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def _start(command: list[str], path: Path) -> None:
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        raise _failed(path, str(error)) from error
    try:
        status = process.wait(timeout=1.0)
    except subprocess.TimeoutExpired:
        import threading

        threading.Thread(target=process.wait, name="reap", daemon=True).start()
        return
    if status not in (0, None) and sys.platform != "win32":
        raise _failed(path, f"{Path(command[0]).name} ended with status {status}")


def _failed(path: Path, reason: str) -> PlatformError:
    return PlatformError(
        "open-failed", f"{display_path(path)} could not be opened: {reason}.", "Open it from your file manager."
    )
