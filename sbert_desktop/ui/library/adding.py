"""Adding folders: choose, measure what it takes, ask about languages, go."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QStandardPaths, Qt
from PySide6.QtWidgets import QFileDialog, QGridLayout, QHBoxLayout, QWidget

from sbert_desktop.app.views import Estimate, UnreadLanguage
from sbert_desktop.domain import Finished, Outcome, short_path
from sbert_desktop.ui import words
from sbert_desktop.ui.bridge import Latest
from sbert_desktop.ui.overlay import Sheet
from sbert_desktop.ui.page import Desk, failure_text
from sbert_desktop.ui.widgets import Button, Card, ElidedLabel, Label, ProgressBar, announce, name


def add_folders(window: QWidget, desk: Desk, paths: Sequence[Path]) -> AddSheet | None:
    """Opens the sheet for folders, after asking for one if none is given."""
    if not paths:
        start = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.HomeLocation)
        chosen = QFileDialog.getExistingDirectory(window, "Choose a folder to add", start)
        if not chosen:
            return None
        paths = (Path(chosen),)
    sheet = window.findChild(AddSheet, "add_sheet")
    if sheet is None:
        sheet = AddSheet(window, desk)
    sheet.offer(paths)
    return sheet


def language_sentence(unread: Sequence[UnreadLanguage], reads: Sequence[str]) -> str:
    """Gives the sentence about documents in languages that the model does not read."""
    parts = [f"{words.count(_rounded(item.documents))} documents are {item.name}" for item in unread]
    names = {"en": "English", "de": "German", "fr": "French", "es": "Spanish", "it": "Italian"}
    known = words.listed([names.get(code, code) for code in reads]) or "other languages"
    return f"About {words.listed(parts)}: this model reads {known}."


def _rounded(number: int) -> int:
    if number < 100:
        return number
    step = 10 ** (len(str(number)) - 1)
    return round(number / step) * step if number >= 1000 else round(number / 10) * 10


class AddSheet(Sheet):
    """Shows what adding takes; Add (also before that is measured), Words only, or Cancel."""

    def __init__(self, window: QWidget, desk: Desk) -> None:
        super().__init__(window, width=520)
        name(self, "add_sheet", "Add folders")
        self._desk = desk
        self._paths: tuple[Path, ...] = ()
        self._latest = Latest(desk.bridge)
        self.title = Label("Add folder", role="page_title", wrap=True, object_name="add_title")
        self.column.addWidget(self.title)
        self.paths_label = ElidedLabel(mode=Qt.TextElideMode.ElideMiddle, tone="muted", object_name="add_paths")
        self.column.addWidget(self.paths_label)
        self.measuring = QWidget()
        row = QHBoxLayout(self.measuring)
        row.setContentsMargins(0, 8, 0, 8)
        row.setSpacing(12)
        self.bar = ProgressBar(object_name="add_measuring_bar", accessible="Measuring")
        self.bar.setFixedWidth(120)
        self.bar.set_fraction(None)
        row.addWidget(self.bar)
        self.measuring_text = Label("Looking at the files and measuring a few of them...", tone="muted",
                                    object_name="add_measuring_text")
        row.addWidget(self.measuring_text, 1)
        self.column.addWidget(self.measuring)
        self.facts = QWidget()
        self._grid = QGridLayout(self.facts)
        self._grid.setContentsMargins(0, 4, 0, 4)
        self._grid.setHorizontalSpacing(16)
        self._grid.setVerticalSpacing(8)
        self._grid.setColumnStretch(1, 1)
        self.values: dict[str, Label] = {}
        facts = (("files", "Files"), ("words", "Findable by words"), ("meaning", "Also by meaning"),
                 ("disk", "Space on disk"))
        for at, (key, text) in enumerate(facts):
            value = Label(role="medium", wrap=True, object_name=f"add_{key}")
            self.values[key] = value
            self._grid.addWidget(Label(text, tone="muted"), at, 0, Qt.AlignmentFlag.AlignTop)
            self._grid.addWidget(value, at, 1)
        self.column.addWidget(self.facts)
        self.warning = Card(fill="warn_soft", edge=None)
        box = QHBoxLayout(self.warning)
        box.setContentsMargins(12, 8, 12, 8)
        self.warning_text = Label(wrap=True, object_name="add_warning")
        box.addWidget(self.warning_text)
        self.column.addWidget(self.warning)
        self.multilingual = Button("Get a multilingual model...", kind="link", icon="get",
                                   object_name="add_multilingual",
                                   tip="Offers a model that reads many languages, from huggingface.co")
        self.multilingual.clicked.connect(self._on_multilingual)
        self.column.addWidget(self.multilingual)
        foot = QHBoxLayout()
        foot.setSpacing(8)
        foot.setContentsMargins(0, 8, 0, 0)
        self.cancel = Button("Cancel", object_name="add_cancel")
        self.words_only = Button("Words only", object_name="add_words_only",
                                 tip="Index these folders so that they are found by their words, without meaning")
        self.add = Button("Add folder", kind="primary", object_name="add_confirm")
        foot.addStretch(1)
        for button in (self.cancel, self.words_only, self.add):
            foot.addWidget(button)
        self.column.addLayout(foot)
        self.cancel.clicked.connect(lambda: self.close_sheet(False))
        self.words_only.clicked.connect(lambda: self._add(words_only=True))
        self.add.clicked.connect(lambda: self._add(words_only=False))
        self.closed.connect(self._on_closed)

    def offer(self, paths: Sequence[Path]) -> None:
        """Measures these folders and shows what adding them takes."""
        self._paths = tuple(paths)
        many = len(self._paths) > 1
        self.title.setText(f"Add {len(self._paths)} folders" if many else "Add folder")
        self.add.setText("Add folders" if many else "Add folder")
        self.paths_label.set_full_text(", ".join(short_path(path) for path in self._paths))
        self.measuring.setVisible(True)
        self.facts.setVisible(False)
        self.warning.setVisible(False)
        self.words_only.setVisible(False)
        self.multilingual.setVisible(False)
        self.add.setVisible(True)
        self.add.setEnabled(True)  # nobody has to wait for the measurement
        self.open()
        self.place()
        self._latest.watch(self._desk.commands.estimate(self._paths), on_finished=self._on_estimated)

    def first_focus(self) -> QWidget:
        return self.add if self.add.isEnabled() and self.add.isVisible() else self.cancel

    def _on_estimated(self, finished: Finished) -> None:
        if not self.isVisible():
            return
        self.measuring.setVisible(False)
        if finished.outcome is Outcome.FAILED and finished.failure is not None:
            self._refuse(failure_text(finished.failure))
        elif isinstance(finished.result, Estimate):
            if finished.result.problem:
                self._refuse(finished.result.problem)
            else:
                self._show(finished.result)
        self.place()
        self.first_focus().setFocus(Qt.FocusReason.OtherFocusReason)

    def _refuse(self, text: str) -> None:
        self.add.setVisible(False)
        self.cancel.setText("Close")
        self.warning_text.setText(text)
        self.warning.setVisible(True)
        announce(self, text)

    def _show(self, estimate: Estimate) -> None:
        self.cancel.setText("Cancel")
        self.facts.setVisible(True)
        self.add.setEnabled(True)
        self.values["files"].setText(f"{words.count(estimate.files)}, {words.size(estimate.bytes)}")
        self.values["words"].setText(f"in {words.between(*estimate.words_seconds)}")
        self.values["meaning"].setText(f"in {words.between(*estimate.seconds)}; "
                                       "you can search meanwhile")
        free = f" ({words.size(estimate.free_disk)} free)" if estimate.free_disk else ""
        self.values["disk"].setText(f"{words.sizes_between(*estimate.disk)}{free}")
        notes = []
        if estimate.free_disk and estimate.disk[1] > estimate.free_disk:
            notes.append("There is not enough room on the disk for all of it: indexing pauses when it is nearly full.")
        if estimate.unread:
            view = self._desk.library
            reads = view.model.languages if view is not None and view.model.languages else ("en",)
            notes.append(language_sentence(estimate.unread, reads))
            notes.append("“Words only” finds these folders by their exact words; “Go on” also by a meaning that will "
                         "often be wrong for those documents.")
            self.words_only.setVisible(True)
            self.multilingual.setVisible(self._desk.can("add_model"))
            self.add.setText("Go on")
        self.warning_text.setText(" ".join(notes))
        self.warning.setVisible(bool(notes))
        announce(self, f"{words.counted(estimate.files, 'file')}, {self.values['meaning'].text()}. {' '.join(notes)}")

    def _add(self, *, words_only: bool) -> None:
        self._desk.commands.add_folders(self._paths, words_only=words_only)
        self.close_sheet(True)
        self._desk.show_page("library")

    def _on_multilingual(self) -> None:
        from sbert_desktop.ui.models.get_sheet import MULTILINGUAL

        self.close_sheet(False)
        self._desk.get_model(MULTILINGUAL)

    def _on_closed(self, accepted: bool) -> None:
        job = self._latest.job
        if job is not None and self.measuring.isVisibleTo(self.card):
            self._desk.commands.cancel(job)  # also when the folders are added meanwhile: it measures for nobody
        self._latest.drop()


def home_folders() -> list[tuple[str, str, Path]]:
    """Gives (name, icon, path) of the usual folders that exist; asks the disk: call it in a thread."""
    home = Path.home()
    place = QStandardPaths.writableLocation
    where = QStandardPaths.StandardLocation
    wanted = (("Documents", "folder", Path(place(where.DocumentsLocation) or home / "Documents")),
              ("Notes", "note", home / "Notes"), ("Mail", "mail", home / "Mail"),
              ("Downloads", "folder", Path(place(where.DownloadLocation) or home / "Downloads")))
    return [(text, icon, path) for text, icon, path in wanted if path != home and os.path.isdir(path)]
