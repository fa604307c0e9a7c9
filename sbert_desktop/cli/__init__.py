"""The command line over the use cases (DESIGN section 6); without a command it opens the window."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from sbert_desktop.cli._parser import build_parser

DONE, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and gives its exit status: 0 done, 1 failed, 2 wrong usage, 130 interrupted."""
    from sbert_desktop.cli import _output as output
    from sbert_desktop.errors import Cancelled, SbertDesktopError, UsageError

    output.prepare_streams()
    parser = build_parser()
    options = parser.parse_args(arguments)
    as_json = bool(getattr(options, "json", False))
    try:
        if options.command is None:
            from sbert_desktop.cli._window import open_window

            return open_window(options)
        from sbert_desktop.cli import _commands

        return int(_commands.COMMANDS[options.command](options) or DONE)
    except (KeyboardInterrupt, Cancelled):
        output.say("Interrupted. What was committed stays.")
        return INTERRUPTED
    except BrokenPipeError:
        output.silence()
        return DONE
    except SbertDesktopError as error:
        output.fail(error, as_json)
        return USAGE if isinstance(error, UsageError) and error.code in _parser_codes() else FAILED
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
    return frozenset({"empty-query", "bad-top", "bad-date", "bad-arguments", "setting-invalid"})


if __name__ == "__main__":
    sys.exit(main())
