"""The sheet that asks for a name: of a saved search, or a new one for a collection."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QWidget

from sbert_desktop.ui.overlay import Sheet
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.widgets import Button, Label, announce, name

LONGEST = 80


def ask_name(window: QWidget, *, title: str, action: str, text: str = "", note: str = "",
             refuse: Callable[[str], str], done: Callable[[str], object]) -> NameSheet:
    """Opens the sheet; ``refuse`` says why a name will not do ("" when it will), ``done`` takes it."""
    sheet = window.findChild(NameSheet, "name_sheet")
    if sheet is None:
        sheet = NameSheet(window)
    sheet.ask(title, action, text, note, refuse, done)
    return sheet


class NameSheet(Sheet):
    """One line, why it will not do, and two buttons."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window, width=440)
        name(self, "name_sheet", "Name")
        self._refuse: Callable[[str], str] = lambda _: ""
        self._done: Callable[[str], object] = lambda _: None
        self.title = Label("", role="page_title", wrap=True, object_name="name_title")
        self.edit = QLineEdit()
        name(self.edit, "name_edit", "Name")
        self.edit.setMaxLength(LONGEST)
        theme.set_role(self.edit, "body")
        self.note = Label("", role="meta", tone="muted", wrap=True, object_name="name_note")
        self.error = Label("", role="meta", tone="danger", wrap=True, object_name="name_error")
        for widget in (self.title, self.edit, self.note, self.error):
            self.column.addWidget(widget)
        foot = QHBoxLayout()
        foot.setSpacing(8)
        self.cancel = Button("Cancel", object_name="name_cancel")
        self.save = Button("Save", kind="primary", object_name="name_save")
        foot.addStretch(1)
        foot.addWidget(self.cancel)
        foot.addWidget(self.save)
        self.column.addSpacing(4)
        self.column.addLayout(foot)
        self.edit.textChanged.connect(lambda _: self._check())
        self.edit.returnPressed.connect(self._on_save)
        self.cancel.clicked.connect(lambda: self.close_sheet(False))
        self.save.clicked.connect(self._on_save)

    def ask(self, title: str, action: str, text: str, note: str, refuse: Callable[[str], str],
            done: Callable[[str], object]) -> None:
        """Asks for a name."""
        self._refuse, self._done = refuse, done
        self.title.setText(title)
        self.save.setText(action)
        self.note.setText(note)
        self.note.setVisible(bool(note))
        self.edit.setText(text[:LONGEST])
        self.edit.selectAll()
        self._check()
        self.open()
        self.place()

    def first_focus(self) -> QWidget:
        return self.edit

    def _check(self) -> None:
        text = self.edit.text().strip()
        why = self._refuse(text) if text else ""
        self.save.setEnabled(bool(text) and not why)
        if why != self.error.text():
            self.error.setText(why)
            announce(self.error, why)
        self.error.setVisible(bool(why))
        if self.isVisible():
            self.place()

    def _on_save(self) -> None:
        if self.save.isEnabled():
            text = self.edit.text().strip()
            self.close_sheet(True)
            self._done(text)
