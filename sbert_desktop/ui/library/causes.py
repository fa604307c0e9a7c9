"""Causes of problems and reasons for leaving out, in words, and what helps against each."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from sbert_desktop.app.views import ProblemView
from sbert_desktop.domain import PICTURE
from sbert_desktop.settings import BY_KEY
from sbert_desktop.ui.naming import kind_of

# code: what a filter calls it
CAUSES: Final = {
    "encrypted": "Password",
    "no-text-layer": "No text layer",
    "picture": "Picture",
    "wordless": "Picture without words",
    "empty": "Empty",
    "unreadable": "Cannot be opened",
    "too-large": "Too large",
    "damaged": "Damaged",
    "unknown-type": "Kind not read",
    "needs-program": "Program missing",
    "changed-while-read": "Still changing",
    "timed-out": "Took too long",
    "crashed-parser": "Reader crashed",
    "too-much-memory": "Too much memory",
    "interrupted": "Interrupted",
    "cloud-only": "Only in the cloud",
    "needs-export": "Needs an export",
    "archive-limit": "Archive too big",
    "reads-badly": "Reads badly",
    "internal": "Reader failed",
}

# code: what to do, where the page has a button for it that the reader of the file does not know of
HINTS: Final = {
    "encrypted": "Enter its password to read it, once or for good.",
    "no-text-layer": "Read it with text recognition, or add a caption of your own.",
    "picture": "Read it with text recognition, or add a caption of your own.",
}

# reason: what a filter calls it
REASONS: Final = {
    "hidden": "Hidden",
    "pattern": "Your rules",
    "ignore-file": "Ignore file",
    "unknown-type": "Kind not read",
    "system": "System file",
    "link": "Link",
    "special": "Not a real file",
    "too-large": "Too large",
    "lock-file": "Lock file",
}

# code: the setting that holds the limit
LIMITS: Final = {
    "too-large": "reading.size_limit",
    "timed-out": "reading.time_limit",
    "too-much-memory": "reading.memory_limit",
}

PICTURES: Final = frozenset({"png", "jpg", "jpeg", "tif", "tiff", "heic", "heif", "bmp", "gif", "webp"})


def cause_words(problem: ProblemView) -> str:
    """Gives the cause as a filter shows it; a code from a later version is named by its message."""
    return CAUSES.get(problem.code) or problem.message.rstrip(".") or problem.code


def hint_words(problem: ProblemView) -> str:
    """Gives what to do about it; where a button of the page helps, it is that button."""
    return HINTS.get(problem.code, problem.hint)


def can_recognise(problem: ProblemView) -> bool:
    """True where reading a file's pictures can give it a text."""
    if problem.code in ("no-text-layer", PICTURE, "reads-badly"):
        return True
    return problem.code in ("unknown-type", "empty", "needs-program") and \
        kind_of(problem.path, problem.member) in PICTURES


def limit_of(problem: ProblemView) -> str:
    """Gives the key of the setting whose limit stopped a file; "" if none did."""
    key = LIMITS.get(problem.code, "")
    return key if key in BY_KEY else ""


def recognition_switch() -> str:
    """Gives the key of the setting that turns text recognition on; "" where there is none."""
    return "reading.ocr" if "reading.ocr" in BY_KEY else ""


def install_words(program: str) -> str:
    """Gives how Tesseract or LibreOffice comes onto this machine, in one sentence."""
    if sys.platform == "darwin":
        command = {"tesseract": "brew install tesseract tesseract-lang", "libreoffice": "brew install libreoffice"}
        return f"Install it with Homebrew: {command[program]}"
    if sys.platform == "win32":
        return {"tesseract": "Install Tesseract for Windows and tick the languages that you read.",
                "libreoffice": "Install LibreOffice for Windows."}[program]
    command = {"tesseract": "sudo apt install tesseract-ocr", "libreoffice": "sudo apt install libreoffice"}
    return f"Install it with your system's packages, for example: {command[program]}"


def title_of_folder(folder: Path) -> str:
    """Gives what a folder of the library is called."""
    from sbert_desktop.domain import display_path

    return display_path(folder.name or str(folder))
