"""Opening what was found, and showing where it lies."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QFileDialog, QWidget

from sbert_desktop.app.interface import Commands
from sbert_desktop.app.views import DocumentView, HitView
from sbert_desktop.domain import Finished, JobId, Outcome
from sbert_desktop.errors import SbertDesktopError
from sbert_desktop.ui.bridge import Bridge
from sbert_desktop.ui.naming import quick_path
from sbert_desktop.ui.search.model import title_of

PROGRAMS = {"darwin": Path("/Applications"), "win32": Path("C:/Program Files")}


class Files(QObject):
    """Opens and reveals; ``said(str)`` tells what happens, and why it did not."""

    said = Signal(str)

    def __init__(self, commands: Commands, bridge: Bridge, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._commands = commands
        self._bridge = bridge
        self._programs = PROGRAMS.get(sys.platform, Path("/usr/bin"))  # where the last one was chosen

    def open(self, document: DocumentView, hit: HitView | None) -> None:
        """Opens a document at the hit's page; of what lies in a container, the container."""
        # a page of what lies in a container is no page of the container
        page = hit.page if hit is not None and not document.member else None
        title = f"{quick_path(document.path.name)}, which holds it" if document.member else title_of(document)
        self._ask(lambda: self._commands.open_file(document.path, page), f"Opening {title}")

    def open_with(self, documents: Sequence[DocumentView], parent: QWidget) -> None:
        """Asks for a program and opens documents with it."""
        if not documents:
            return
        several = f"{len(documents)} files" if len(documents) > 1 else title_of(documents[0])
        found, _ = QFileDialog.getOpenFileName(parent, f"Open {several} with", str(self._programs))
        if not found:
            return
        program = Path(found)
        self._programs = program.parent
        for document in documents:
            self._ask(partial(self._commands.open_with, document.path, program),
                      f"Opening {several} with {quick_path(program.stem)}")

    def reveal(self, document: DocumentView) -> None:
        """Shows a document's file in the file manager."""
        self._ask(lambda: self._commands.reveal(document.path), f"Showing {title_of(document)} in its folder")

    def _ask(self, command: Callable[[], JobId], words: str) -> None:
        try:
            job = command()
        except SbertDesktopError as error:
            self.said.emit(str(error))
            return
        self.said.emit(words)
        self._bridge.watch(job, on_finished=self._on_opened)

    def _on_opened(self, event: Finished) -> None:
        if event.outcome is Outcome.FAILED and event.failure is not None:
            self.said.emit(f"{event.failure.message} {event.failure.hint}".strip())
