"""Ctrl+C while the program starts: it ends at once, since nothing has begun that could be left half done.

Once a command has begun, Ctrl+C, SIGTERM and SIGHUP all end it in good order. Otherwise a closed
terminal or a shutdown would look like a crash, and the file just being read would be shunned by the next run.

An import that is cut short may also fail as something else (numpy calls it a broken installation),
so until the command begins no exception is raised. Standard library only.
"""

from __future__ import annotations

import os
import signal

INTERRUPTED = 130


def end_at_once_until_begun() -> None:
    """Makes Ctrl+C end the process, unless whoever started it had it ignored."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)


def begun() -> None:
    """From here on Ctrl+C raises KeyboardInterrupt again; harmless where nothing was changed."""
    if signal.getsignal(signal.SIGINT) is _end:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for name in ("SIGTERM", "SIGHUP"):
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) is signal.SIG_DFL:  # nohup has it ignored
                signal.signal(number, signal.default_int_handler)


def _end(*_: object) -> None:
    os.write(2, b"sbert-desktop: Interrupted.\n")
    os._exit(INTERRUPTED)
