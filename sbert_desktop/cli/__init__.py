"""The command line over the use cases (DESIGN section 6); without a command it opens the window."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from sbert_desktop.cli._parser import build_parser

DONE, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and gives its exit status: 0 done, 1 failed, 2 wrong usage, 130 interrupted."""
    import logging

    from sbert_desktop.cli import _output as output
    from sbert_desktop.domain import display_path
    from sbert_desktop.errors import Cancelled, SbertDesktopError, UsageError
    from sbert_desktop.interrupt import begun

    output.prepare_streams()
    as_json = "--json" in (sys.argv[1:] if arguments is None else arguments)
    try:
        options = build_parser().parse_args(arguments)
        as_json = bool(getattr(options, "json", False))
        if options.command is None:
            from sbert_desktop.cli._window import open_window

            begun()
            return open_window(options)
        from sbert_desktop.cli import _commands

        # Without a handler, logging writes to standard error what the answer says anyway.
        logging.getLogger("sbert_desktop").addHandler(logging.NullHandler())
        begun()
        status = int(_commands.COMMANDS[options.command](options) or DONE)
        output.flush()
        return status
    except (KeyboardInterrupt, Cancelled):
        output.fail(SbertDesktopError("interrupted", "Interrupted.", "What was committed stays."), as_json)
        return INTERRUPTED
    except BrokenPipeError:
        output.silence()
        return DONE
    except SbertDesktopError as error:
        output.fail(error, as_json)
        return USAGE if isinstance(error, UsageError) and error.code in _parser_codes() else FAILED
    except OSError as error:
        # The system's refusal is no bug of ours: a name that is too long, a folder that is closed to us.
        place = f"{display_path(error.filename)}: " if isinstance(error.filename, str | bytes) else ""
        refused = SbertDesktopError(
            "system-refused", f"{place}{error.strerror or error}.", "Check the name, and whether you may use it."
        )
        output.fail(refused, as_json)
        return FAILED
    except Exception as error:
        import os
        import traceback

        if os.environ.get("SBERT_DESKTOP_DEBUG"):
            traceback.print_exc()
        known = SbertDesktopError(
            "bug",
            f"Something went wrong inside the program: {type(error).__name__}: {error}.",
            "Please report it; SBERT_DESKTOP_DEBUG=1 shows where it happened.",
        )
        output.fail(known, as_json)
        return FAILED


def _parser_codes() -> frozenset[str]:
    """Codes that mean the command was called wrongly, not that it could not be done."""
    return frozenset(
        {"empty-query", "bad-top", "bad-date", "bad-arguments", "bad-format", "bad-rule", "setting-invalid", "no-model"}
    )


if __name__ == "__main__":
    sys.exit(main())
