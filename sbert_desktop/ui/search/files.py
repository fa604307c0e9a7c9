"""Opening what was found, and showing where it lies."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import cast

from PySide6.QtCore import QObject, QPoint, Qt, Signal
from PySide6.QtWidgets import QFileDialog, QWidget

from sbert_desktop.app.interface import Commands
from sbert_desktop.app.views import DocumentView, HitView, OpenerView
from sbert_desktop.domain import Finished, JobId, Outcome
from sbert_desktop.errors import SbertDesktopError
from sbert_desktop.ui.bridge import Bridge
from sbert_desktop.ui.naming import quick_path
from sbert_desktop.ui.search.model import title_of
from sbert_desktop.ui.search.text import one_line
from sbert_desktop.ui.widgets import menu, no_mnemonic

OFFERED = 12  # programs in the menu; more are found by their file
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

    def open_with(self, documents: Sequence[DocumentView], parent: QWidget, spot: QPoint) -> None:
        """Offers the programs that the desktop knows for the first of the documents, in a menu at ``spot``.

        Where it knows none, the person chooses a program's file.
        """
        ask = getattr(self._commands, "openers", None)
        if not documents:
            return
        if ask is None:
            self._choose_program(documents, parent)
            return
        self._bridge.watch(ask(documents[0].path),
                           on_finished=lambda event: self._offer(event, documents, parent, spot))

    def _offer(self, event: Finished, documents: Sequence[DocumentView], parent: QWidget, spot: QPoint) -> None:
        openers = cast(tuple[OpenerView, ...], event.result) if isinstance(event.result, tuple) else ()
        if event.outcome is Outcome.SUPERSEDED or not parent.isVisible():
            return
        if not openers:
            self._choose_program(documents, parent)
            return
        offered = menu(parent, "open_with_menu", "Open with")
        offered.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for opener in openers[:OFFERED]:
            offered.addAction(no_mnemonic(opener.name),
                              partial(self._open_all, documents, opener.program, one_line(opener.name)))
        offered.addSeparator()
        offered.addAction("Another program…", lambda: self._choose_program(documents, parent))
        offered.setActiveAction(offered.actions()[0])
        offered.popup(spot)

    def _choose_program(self, documents: Sequence[DocumentView], parent: QWidget) -> None:
        several = _named(documents)
        found, _ = QFileDialog.getOpenFileName(parent, f"Open {several} with", str(self._programs))
        if not found:
            return
        program = Path(found)
        self._programs = program.parent
        self._open_all(documents, program, quick_path(program.stem))

    def _open_all(self, documents: Sequence[DocumentView], program: Path, name: str) -> None:
        for document in documents:
            self._ask(partial(self._commands.open_with, document.path, program),
                      f"Opening {_named(documents)} with {name}")

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


def _named(documents: Sequence[DocumentView]) -> str:
    return f"{len(documents)} files" if len(documents) > 1 else title_of(documents[0])
