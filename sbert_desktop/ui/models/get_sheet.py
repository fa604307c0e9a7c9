"""The sheet that gets a model from the hub: its name, what happens on the click, a few that are known to be good."""

from __future__ import annotations

import re
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLineEdit, QWidget

from sbert_desktop.ui.overlay import Sheet
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.widgets import Button, Label, announce, name

MULTILINGUAL: Final = "sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2"
SUGGESTED: Final = (
    ("multilingual", MULTILINGUAL, "50 languages, quick: ask in one, find in another"),
    ("multilingual_large", "intfloat/multilingual-e5-base", "100 languages, better and slower"),
    ("second", "cross-encoder/ms-marco-MiniLM-L6-v2", "second look at the first hits, English"),
)
CONTACT: Final = ("“Get” contacts huggingface.co and loads the model's files from there. Nothing of yours is sent, "
                  "and the program goes on without the internet afterwards.")
_NAME: Final = re.compile(r"(?:[A-Za-z0-9][\w.-]{0,95}/)?[A-Za-z0-9][\w.-]{0,95}")


class GetSheet(Sheet):
    """A name, suggestions, Get: ``wanted(name)``. Nothing is asked of the internet before that click."""

    wanted = Signal(str)

    def __init__(self, window: QWidget) -> None:
        super().__init__(window, width=560)
        name(self, "get_model_sheet", "Get a model")
        self.title = Label("Get a model", role="page_title", object_name="get_model_title")
        self.edit = QLineEdit()
        name(self.edit, "get_model_edit", "Name of the model at huggingface.co", CONTACT)
        self.edit.setPlaceholderText("owner/name")
        self.edit.setMaxLength(200)
        theme.set_role(self.edit, "body")
        self.error = Label("", role="meta", tone="danger", wrap=True, object_name="get_model_error")
        for widget in (self.title, self.edit, self.error):
            self.column.addWidget(widget)
        grid = QGridLayout()
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(4)
        grid.setColumnStretch(1, 1)
        self.suggestions: list[Button] = []
        for at, (key, own, what) in enumerate(SUGGESTED):
            button = Button(own.rpartition("/")[2], kind="link", object_name=f"get_model_{key}", tip=own)
            button.clicked.connect(lambda _=False, own=own: self.edit.setText(own))
            self.suggestions.append(button)
            grid.addWidget(button, 2 * at, 0, 1, 2, Qt.AlignmentFlag.AlignLeft)
            label = Label(what, role="meta", tone="muted", wrap=True)
            label.setContentsMargins(4, 0, 0, 4)
            grid.addWidget(label, 2 * at + 1, 0, 1, 2)
        self.column.addLayout(grid)
        self.contact = Label(CONTACT, role="meta", tone="muted", wrap=True, object_name="get_model_contact")
        self.column.addWidget(self.contact)
        foot = QHBoxLayout()
        foot.setSpacing(8)
        self.cancel = Button("Cancel", object_name="get_model_cancel")
        self.get = Button("Get", kind="primary", icon="get", object_name="get_model_go")
        foot.addStretch(1)
        foot.addWidget(self.cancel)
        foot.addWidget(self.get)
        self.column.addSpacing(4)
        self.column.addLayout(foot)
        self.edit.textChanged.connect(lambda _: self._check())
        self.edit.returnPressed.connect(self._on_get)
        self.cancel.clicked.connect(lambda: self.close_sheet(False))
        self.get.clicked.connect(self._on_get)

    def ask(self, suggested: str = "") -> None:
        """Opens; ``suggested`` stands in the line already."""
        self.edit.setText(suggested)
        self._check()
        self.open()
        self.place()

    def first_focus(self) -> QWidget:
        return self.edit

    def _check(self) -> None:
        text = self.edit.text().strip().removeprefix("https://huggingface.co/").strip("/")
        good = bool(_NAME.fullmatch(text))
        self.get.setEnabled(good)
        why = "" if good or not text else "A name looks like owner/name, with letters, digits, dots and dashes."
        if why != self.error.text():
            self.error.setText(why)
            announce(self.error, why)
        self.error.setVisible(bool(why))
        if self.isVisible():
            self.place()

    def _on_get(self) -> None:
        if self.get.isEnabled():
            text = self.edit.text().strip().removeprefix("https://huggingface.co/").strip("/")
            self.close_sheet(True)
            self.wanted.emit(text)
