"""The smallest child: it answers with what it was sent. Tests of the transport use it."""

from __future__ import annotations

from collections.abc import Mapping

from sbert_desktop.wire import Handler


def make_handler() -> Handler:
    """Gives a handler that echoes, and on request raises, sleeps, dies, floods or starts a program of its own."""

    def handle(header: dict[str, object], payload: bytes) -> tuple[Mapping[str, object], bytes]:
        match header.get("do"):
            case "raise":
                raise ValueError("asked to raise")
            case "die":
                import os

                os._exit(7)
            case "sleep":
                import time

                time.sleep(float(str(header.get("seconds", 1))))
            case "flood":
                return {}, bytes(int(str(header["bytes"])))
            case "start":
                import subprocess
                import sys

                program = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
                return {"pid": program.pid}, b""
        return {"echo": header}, payload

    return handle
