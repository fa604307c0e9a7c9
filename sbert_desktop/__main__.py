"""Entry of the program and of its child processes; standard library only at module level."""

from __future__ import annotations

import sys


def main() -> int:
    """Runs ``child KIND`` for our own children, else the command line; gives the exit status."""
    if len(sys.argv) >= 3 and sys.argv[1] == "child":
        return child_main(sys.argv[2])
    from sbert_desktop.cli import main as cli_main

    return cli_main()


def child_main(kind: str) -> int:
    """Serves requests of one kind on standard input and output until the parent closes the pipe.

    Standard output belongs to the frames: whatever a library prints goes to standard error.
    """
    import os

    frames_out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    frames_in = os.fdopen(os.dup(0), "rb")
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    from sbert_desktop.privacy import cut_telemetry
    from sbert_desktop.wire import serve

    cut_telemetry()
    if kind == "extract":
        from sbert_desktop.extraction.child import make_handler
    elif kind == "torch":
        from sbert_desktop.encoder._torch import make_handler
    elif kind == "echo":
        from sbert_desktop.jobs.echo import make_handler
    else:
        print(f"unknown child kind: {kind}", file=sys.stderr)
        return 2
    serve(frames_in, frames_out, make_handler())
    return 0


if __name__ == "__main__":
    sys.exit(main())
