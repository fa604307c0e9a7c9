"""Why a file was not read: one place for the words, so that every format says the same."""

from __future__ import annotations

from sbert_desktop.domain import Problem
from sbert_desktop.errors import ExtractionError, JobError

# code: (message, hint)
_WORDS: dict[str, tuple[str, str]] = {
    "encrypted": ("The file is protected with a password.", "Save a copy without the password to make it findable."),
    "no-text-layer": ("The file holds pictures of pages but no text.",
                      "Turn on text recognition in the settings; it needs Tesseract (the package tesseract-ocr)."),
    "picture": ("The file is a picture; its text was not recognised.",
                "Turn on text recognition in the settings; it needs Tesseract (the package tesseract-ocr)."),
    "empty": ("The file holds no text.", ""),
    "unreadable": ("The file could not be opened.", "Check that it exists and that you may read it."),
    "too-large": ("The file is larger than the limit.", "Raise the size limit in the settings to read it."),
    "damaged": ("The file is damaged and could not be read.", "Open it in its own program and save it again."),
    "unknown-type": ("This type of file is not read.", ""),
    "needs-program": ("Reading this file needs a program that is not installed.", ""),
    "changed-while-read": ("The file changed while it was read.", "It is read again at the next update."),
    "timed-out": ("Reading the file took longer than the limit.", "Raise the time limit in the settings to try again."),
    "crashed-parser": ("The reader for this type of file crashed on it.",
                       "The file may be damaged. Save it again in its own program."),
    "too-much-memory": ("Reading the file took more memory than the limit.",
                        "Raise the memory limit in the settings to try again."),
    "interrupted": ("The program was ended while it read this file, so it was skipped.", "Try again, alone."),
    "cloud-only": ("The file lies only in the cloud.", "Make it available offline to have it read."),
    "needs-export": ("This kind of mail store is not read.", "Export it as mbox or eml from the mail program."),
    "archive-limit": ("The archive goes beyond what is read of archives.", "Unpack it to have all of it read."),
    "reads-badly": ("Text recognition was unsure about most words, perhaps handwriting.",
                    "Add a transcript of your own to make it findable."),
    "internal": ("The reader for this type of file failed on it.", "Please report this with the file's type."),
}


def failure(code: str, message: str = "", hint: str | None = None, detail: str = "") -> ExtractionError:
    """Makes the error for a code, with its usual words unless others are given."""
    usual, usual_hint = _WORDS[code]
    return ExtractionError(code, message or usual, usual_hint if hint is None else hint, detail)


def problem(code: str, message: str = "", hint: str | None = None, *, partial: bool = False) -> Problem:
    """Makes the problem record for a code, with its usual words unless others are given."""
    usual, usual_hint = _WORDS[code]
    return Problem(code, message or usual, usual_hint if hint is None else hint, partial)


def problem_of(error: ExtractionError) -> Problem:
    """Gives an error as the record that stands in the list of problems."""
    return Problem(error.code, error.message, error.hint)


def problem_of_child(error: JobError) -> Problem:
    """Gives what the death or refusal of a child means for the file it was reading."""
    code = {"child-timeout": "timed-out", "child-died": "crashed-parser"}.get(error.code, "internal")
    if any(sign in f"{error.message} {error.detail}" for sign in ("MemoryError", "bad_alloc", "allocate memory")):
        code = "too-much-memory"
    return problem(code)
