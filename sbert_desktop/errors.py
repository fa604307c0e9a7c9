"""Problems the program knows about, each with one plain line, its cause and what to do.

A :class:`SbertDesktopError` is a *known problem*: it is shown to the person as it stands and
never with a traceback. Anything else that escapes a job is a *bug* and is reported as one
(see :class:`sbert_desktop.domain.Failure`). Each room raises its own child, so a reader of a
log knows at once where it came from.
"""

from __future__ import annotations


class SbertDesktopError(Exception):
    """A known problem: a stable ``code``, one plain ``message`` and a ``hint`` on what to do.

    Args:
        code: Stable kebab-case identifier; tests and scripts rely on it.
        message: One sentence in plain words, cause included. Ends without a full stop only
            when it ends with a path.
        hint: What the person can do now; may be empty.
        detail: Technical detail for logs and "Copy details"; never shown by default and never
            holds text of a document or a query.
    """

    def __init__(self, code: str, message: str, hint: str = "", detail: str = "") -> None:
        super().__init__(code, message, hint, detail)
        self.code = code
        self.message = message
        self.hint = hint
        self.detail = detail

    def __str__(self) -> str:
        stop = "." if self.hint and self.message[-1:] not in {"", ".", "!", "?"} else ""
        return f"{self.message}{stop} {self.hint}".strip()


class UsageError(SbertDesktopError):
    """The caller asked for something that has no meaning (exit status 2 on the command line)."""


class ExtractionError(SbertDesktopError):
    """A file could not be read, or only in part. Data, not the end of a job."""


class EncoderError(SbertDesktopError):
    """A model is missing, damaged, refused, or failed to run."""


class LibraryError(SbertDesktopError):
    """The library on disk cannot be opened, written or trusted."""


class LibraryBusy(LibraryError):  # noqa: N818  the word of DESIGN
    """Another process holds the writer's lock; the message names it."""


class JobError(SbertDesktopError):
    """A lane or a child process could not do its work."""


class PlatformError(SbertDesktopError):
    """A system service (open, reveal, trash) refused."""


class TrainingError(SbertDesktopError):
    """Judgements or a training run are not usable."""


class Cancelled(Exception):  # noqa: N818  a control-flow signal, not an error
    """Raised by ``JobContext.check()`` after a cancel; what was committed stays."""
