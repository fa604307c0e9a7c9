"""Do I have this already? A file is chosen or dropped; a card says what the library has of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from sbert_desktop.app.duplicate_views import HaveView
from sbert_desktop.domain import Failure, Finished, JobId, Outcome, Progress, short_path
from sbert_desktop.ui import words
from sbert_desktop.ui.drop import local_paths
from sbert_desktop.ui.duplicates.words import similarity
from sbert_desktop.ui.naming import file_words, quick_path
from sbert_desktop.ui.overlay import Sheet
from sbert_desktop.ui.page import Desk, failure_text
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.widgets import (
    Button,
    Card,
    ElidedLabel,
    IconButton,
    Label,
    ProgressBar,
    Tag,
    announce,
    name,
)

VERDICTS: Final = {
    "identical": ("You have it", "good", "check"),
    "same text": ("You have its text", "good", "check"),
    "newer version": ("This is newer", "accent", "up"),
    "older version": ("This is older", "neutral", "down"),
    "similar": ("Similar", "warn", "similar"),
    "new": ("New", "accent", "plus"),
}
MOST: Final = 12
"""Files asked about at once; more are left out, and that is said."""
SHOWN: Final = 3


class HaveCard(Card):
    """One file and what the library has of it."""

    def __init__(self, desk: Desk, path: Path, number: int, parent: QWidget | None = None) -> None:
        super().__init__(fill="surface", parent=parent)
        name(self, f"duplicates_have_card_{number}", quick_path(path.name))
        self._desk, self._path, self._number = desk, path, number
        self._job: JobId | None = None
        self.view: HaveView | None = None
        column = self._column = QVBoxLayout(self)
        column.setContentsMargins(16, 12, 12, 12)
        column.setSpacing(8)
        row = QHBoxLayout()
        row.setSpacing(8)
        self.title = ElidedLabel(quick_path(path.name), role="section", mode=Qt.TextElideMode.ElideMiddle)
        self.tag = Tag("", object_name=f"duplicates_have_verdict_{number}")
        self.tag.hide()
        row.addWidget(self.title, 1)
        row.addWidget(self.tag)
        column.addLayout(row)
        self.said = Label("Reading the file...", wrap=True, object_name=f"duplicates_have_said_{number}")
        column.addWidget(self.said)
        self.bar = ProgressBar(object_name=f"duplicates_have_bar_{number}", accessible="Comparing")
        self.bar.set_fraction(None)
        column.addWidget(self.bar)
        self._job = desk.commands.have(path)
        desk.bridge.watch(self._job, on_progress=self._on_progress, on_finished=self._on_finished)

    def stop(self) -> None:
        """Gives the question up."""
        if self._job is not None:
            self._desk.bridge.unwatch(self._job)
            self._desk.commands.cancel(self._job)
            self._job = None

    def _on_progress(self, progress: Progress) -> None:
        self.said.setText(f"{progress.phase}...")
        self.bar.set_fraction(progress.done / progress.total if progress.total else None)

    def _on_finished(self, finished: Finished) -> None:
        self._job = None
        self.bar.hide()
        if finished.outcome is Outcome.DONE and isinstance(finished.result, HaveView):
            self._show(finished.result)
        else:
            self._say_failure(finished.failure)

    def _say_failure(self, failure: Failure | None) -> None:
        self.tag.set_text("Not compared", "danger", "warning")
        self.tag.show()
        self.said.setText(failure_text(failure) if failure is not None else "It was not compared.")
        announce(self, self.said.text())

    def _show(self, view: HaveView) -> None:
        self.view = view
        self.tag.set_text(*VERDICTS.get(view.verdict, (view.verdict, "neutral", "info")))
        self.tag.show()
        self.said.setText(view.words)
        for at, (path, member, alike) in enumerate(view.files[:SHOWN]):
            self._column.addLayout(self._row(at, path, member, alike, exact=view.verdict == "identical"))
        if len(view.files) > SHOWN:
            self._column.addWidget(Label(f"and {words.counted(len(view.files) - SHOWN, 'other file')}", role="meta",
                                         tone="muted"))
        if view.folder is not None:
            self._column.addLayout(self._folder_row(view))
        announce(self, f"{quick_path(self._path.name)}: {view.words}")

    def _row(self, at: int, path: Path, member: str, alike: float, *, exact: bool) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(4)
        score = Label("1.00" if exact else similarity(alike), role="strong")
        own = ElidedLabel(file_words(path, member), role="medium", mode=Qt.TextElideMode.ElideMiddle)
        place = ElidedLabel(quick_path(short_path(path.parent)), role="meta", tone="muted",
                            mode=Qt.TextElideMode.ElideMiddle)
        row.addWidget(score)
        row.addSpacing(8)
        row.addWidget(own, 3)
        row.addSpacing(8)
        row.addWidget(place, 2)
        part = f"{self._number}_{at}"
        for icon, tip, key, run in (
            ("open", f"Open {own.full_text()}", "open", lambda: self._desk.commands.open_file(path)),
            ("reveal", f"Show {own.full_text()} in its folder", "reveal", lambda: self._desk.commands.reveal(path)),
        ):
            button = IconButton(icon, tip, object_name=f"duplicates_have_{key}_{part}", size=24, icon_size=16)
            button.clicked.connect(lambda _=False, run=run: self._desk.start(run()))
            row.addWidget(button)
        return row

    def _folder_row(self, view: HaveView) -> QHBoxLayout:
        assert view.folder is not None
        folder = view.folder
        row = QHBoxLayout()
        row.setSpacing(8)
        text = "Its neighbours lie in" if view.verdict in ("new", "similar") else "It lies in"
        row.addWidget(Label(text, role="meta", tone="muted"))
        link = Button(quick_path(short_path(folder)), kind="link", size="small", icon="folder",
                      object_name=f"duplicates_have_folder_{self._number}", tip="Show this folder")
        link.clicked.connect(lambda: self._desk.start(self._desk.commands.reveal(folder)))
        row.addWidget(link)
        row.addStretch(1)
        return row


def open_have(window: QWidget, desk: Desk, paths: Sequence[Path] = ()) -> HaveSheet:
    """Opens the sheet; with files, asks about them at once."""
    sheet = window.findChild(HaveSheet, "duplicates_have_sheet")
    if sheet is None:
        sheet = HaveSheet(window, desk)
    sheet.open()
    if paths:
        sheet.ask(paths)
    return sheet


class HaveSheet(Sheet):
    """A place to drop files on, and a card for each."""

    def __init__(self, window: QWidget, desk: Desk) -> None:
        super().__init__(window, width=600)
        name(self, "duplicates_have_sheet", "Do I have this already?")
        self.setAcceptDrops(True)
        self._desk = desk
        self.cards: list[HaveCard] = []
        self.column.addWidget(Label("Do I have this already?", role="page_title", object_name="duplicates_have_title"))
        self.hint = Label("Drop a file here or choose one: you are told whether the library has it, in which version, "
                          "or what is like it. The file is only read; it is not added.", tone="muted", wrap=True,
                          object_name="duplicates_have_hint")
        self.column.addWidget(self.hint)
        inner = QWidget()
        self._box = QVBoxLayout(inner)
        self._box.setContentsMargins(0, 0, 8, 0)
        self._box.setSpacing(8)
        self._box.addStretch(1)
        self._inner = inner
        self.area = QScrollArea()
        self.area.setObjectName("duplicates_have_area")
        self.area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.area.setWidgetResizable(True)
        self.area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.area.setWidget(inner)
        self.area.viewport().setAutoFillBackground(False)
        inner.setAutoFillBackground(False)
        self.area.hide()
        self.column.addWidget(self.area, 1)
        foot = QHBoxLayout()
        foot.setSpacing(8)
        self.close_button = Button("Close", object_name="duplicates_have_close")
        self.choose = Button("Choose files...", kind="primary", icon="file", object_name="duplicates_have_choose")
        foot.addStretch(1)
        foot.addWidget(self.close_button)
        foot.addWidget(self.choose)
        self.column.addLayout(foot)
        self.close_button.clicked.connect(lambda: self.close_sheet(False))
        self.choose.clicked.connect(self._on_choose)
        self.closed.connect(lambda _: self._drop_cards())
        theme.themeChanged.connect(self._fit)

    def first_focus(self) -> QWidget:
        return self.choose

    def _on_choose(self) -> None:
        found, _ = QFileDialog.getOpenFileNames(self, "Do I have this already?")
        if found:
            self.ask([Path(one) for one in found])

    def ask(self, paths: Sequence[Path]) -> None:
        """Asks about files; those asked about before go."""
        self._drop_cards()
        for number, path in enumerate(paths[:MOST]):
            card = HaveCard(self._desk, path, number)
            self.cards.append(card)
            self._box.insertWidget(self._box.count() - 1, card)
        left = len(paths) - MOST
        self.hint.setText(f"The first {MOST} of {len(paths)} files; drop the others afterwards." if left > 0 else
                          "The files are only read; nothing is added to the library.")
        self.area.show()
        self._fit()

    def _drop_cards(self) -> None:
        cards, self.cards = self.cards, []
        for card in cards:
            card.stop()
            self._box.removeWidget(card)
            card.setParent(None)
            card.deleteLater()
        self.area.hide()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if local_paths(event.mimeData()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        paths = local_paths(event.mimeData())
        # never Move: the sender would delete what it thinks has been taken
        event.setDropAction(Qt.DropAction.CopyAction)
        event.accept()
        if paths:
            self.ask(paths)

    def _fit(self) -> None:
        window = self.parentWidget()
        room = max(160, (window.height() if window is not None else 640) - 260)
        wanted = max(150, theme.line("body") * 9) * max(1, len(self.cards))
        self.area.setFixedHeight(min(room, wanted, 480))
        if self.isVisible():
            self.place()
