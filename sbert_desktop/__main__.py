"""Entry of the program and of its child processes; standard library only at module level."""

from __future__ import annotations

import sys


def main() -> int:
    """Runs ``child KIND`` for our own children, else the command line; gives the exit status."""
    if len(sys.argv) >= 3 and sys.argv[1] == "child":
        return child_main(sys.argv[2])
    from sbert_desktop.interrupt import end_at_once_until_begun

    end_at_once_until_begun()
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
    _be_nice()
    _follow_parent()
    makers = {
        "extract": "sbert_desktop.extraction.child",
        "torch": "sbert_desktop.encoder._torch",
        "fetch": "sbert_desktop.encoder.fetching",
        "clusters": "sbert_desktop.explore.cluster_child",
        "train": "sbert_desktop.training.child",
        "echo": "sbert_desktop.jobs.echo",
    }
    if kind not in makers:
        print(f"unknown child kind: {kind}", file=sys.stderr)
        return 2
    import importlib

    make_handler = importlib.import_module(makers[kind]).make_handler
    serve(frames_in, frames_out, make_handler())
    return 0


def _be_nice() -> None:
    """Lowers the child's priority as the parent asked."""
    import os

    nice = int(os.environ.get("SBERT_DESKTOP_NICE", "0") or 0)
    if nice > 0 and hasattr(os, "nice"):
        os.nice(nice)


def _follow_parent() -> None:
    """Ends the child within a second when the parent is gone (kill -9 leaves no time to say so)."""
    import os
    import threading
    import time

    parent = os.getppid()

    def watch() -> None:
        while True:
            time.sleep(0.5)
            if os.getppid() != parent:
                os._exit(3)

    threading.Thread(target=watch, name="follow-parent", daemon=True).start()


if __name__ == "__main__":
    sys.exit(main())
