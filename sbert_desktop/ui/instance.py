"""One window per person and library: a second start brings the first window to the front."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Final

from PySide6.QtCore import QObject, Signal
from PySide6.QtNetwork import QLocalServer, QLocalSocket

CONNECT_MS: Final = 200
ANSWER_MS: Final = 700  # together under the second that a second start may take


def server_name(library: Path) -> str:
    """Gives the name of the local server: one per person and real path of the library."""
    real = os.fsencode(os.path.realpath(library))
    user = str(os.getuid()) if hasattr(os, "getuid") else os.environ.get("USERNAME", "")
    digest = hashlib.sha256(user.encode() + b"\0" + real).hexdigest()[:24]
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    # the runtime folder belongs to this person alone; else Qt takes the folder for temporary files
    return os.path.join(runtime, f"sbert-desktop-{digest}") if runtime and os.path.isdir(runtime) \
        else f"sbert-desktop-{digest}"


class Instance(QObject):
    """Claims a library for this process, or hands over to the process that has it.

    ``raised`` is emitted in the first process each time another start asked for its window.
    """

    raised = Signal()

    def __init__(self, library: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._name = server_name(library)
        self._server: QLocalServer | None = None
        self._sockets: set[QLocalSocket] = set()

    def claim(self) -> str:
        """Asks, then listens: ``first``, ``handed-over`` or ``no-answer``."""
        return self.ask() or self.listen()

    def listen(self) -> str:
        """Takes the name; needs a QApplication. Gives ``first``, or what another start answered."""
        server = QLocalServer(self)
        server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        server.newConnection.connect(self._on_connection)
        # nobody answered: what lies there was left by a process that was killed
        QLocalServer.removeServer(self._name)
        if not server.listen(self._name):
            # another start was quicker by a moment
            return self.ask() or "first"
        self._server = server
        return "first"

    def close(self) -> None:
        """Gives the name free."""
        if self._server is not None:
            self._server.close()
            self._server = None

    def ask(self) -> str:
        """Gives ``handed-over``, ``no-answer`` (the first window hangs), or "" if there is none; under 1 s.

        Works before there is a QApplication, so that a second start loads hardly anything.
        """
        socket = QLocalSocket()
        socket.connectToServer(self._name)
        if not socket.waitForConnected(CONNECT_MS):
            return ""
        token = os.environ.get("XDG_ACTIVATION_TOKEN", "")
        socket.write(f"raise {token}\n".encode())
        socket.flush()
        answered = socket.waitForReadyRead(ANSWER_MS) and bytes(socket.readAll().data()).startswith(b"ok")
        socket.disconnectFromServer()
        return "handed-over" if answered else "no-answer"

    def _on_connection(self) -> None:
        assert self._server is not None
        while (socket := self._server.nextPendingConnection()) is not None:
            self._sockets.add(socket)
            socket.readyRead.connect(lambda socket=socket: self._on_ready(socket))
            socket.disconnected.connect(lambda socket=socket: self._on_gone(socket))
            if socket.bytesAvailable():
                self._on_ready(socket)

    def _on_ready(self, socket: QLocalSocket) -> None:
        words = bytes(socket.readAll().data())[:4096].decode("utf-8", "replace").split()
        if words[:1] == ["raise"]:
            if len(words) > 1:
                # Wayland lets a window come to the front only with the token of the start that asked
                os.environ["XDG_ACTIVATION_TOKEN"] = words[1]
            socket.write(b"ok\n")
            socket.flush()
            self.raised.emit()

    def _on_gone(self, socket: QLocalSocket) -> None:
        self._sockets.discard(socket)
        socket.deleteLater()
