"""The sheet that asks for a file's password, and shows the text once where it is not kept."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QPlainTextEdit, QWidget

from sbert_desktop.app.views import UnlockView
from sbert_desktop.domain import Finished, Outcome, short_path
from sbert_desktop.ui.bridge import Latest
from sbert_desktop.ui.naming import file_words
from sbert_desktop.ui.overlay import Sheet
from sbert_desktop.ui.page import Desk, failure_text
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.widgets import Button, CheckBox, ElidedLabel, IconButton, Label, announce, name, plain_tip

SHOWN = 200_000  # characters; laying out more would hold the window up
LINE = 1000  # characters; one line of 200,000 took 5 s to lay out, in pieces it takes none


def ask_password(window: QWidget, desk: Desk, path: Path, member: str = "",
                 kept: Callable[[], object] | None = None) -> PasswordSheet:
    """Opens the sheet for a file; ``kept`` is called once its text is in the library."""
    sheet = window.findChild(PasswordSheet, "password_sheet")
    if sheet is None:
        sheet = PasswordSheet(window, desk)
    sheet.ask(path, member, kept)
    return sheet


class PasswordSheet(Sheet):
    """File name, password, whether the text is kept; then the text itself, read-only, where it is not."""

    def __init__(self, window: QWidget, desk: Desk) -> None:
        super().__init__(window, width=520)
        name(self, "password_sheet", "Enter password")
        self._desk = desk
        self._path, self._member = Path(), ""
        self._kept: Callable[[], object] | None = None
        self._latest = Latest(desk.bridge)
        self.title = Label("Enter password", role="page_title", wrap=True, object_name="password_title")
        self.file = ElidedLabel(mode=Qt.TextElideMode.ElideMiddle, tone="muted", object_name="password_file")
        self.column.addWidget(self.title)
        self.column.addWidget(self.file)
        self.entry = QWidget()
        row = QHBoxLayout(self.entry)
        row.setContentsMargins(0, 4, 0, 0)
        row.setSpacing(4)
        self.edit = QLineEdit()
        name(self.edit, "password_edit", "Password")
        self.edit.setEchoMode(QLineEdit.EchoMode.Password)
        self.edit.setPlaceholderText("Password")
        theme.set_role(self.edit, "body")
        self.eye = IconButton("eye", "Show the password", object_name="password_show", checkable=True, size=32)
        row.addWidget(self.edit, 1)
        row.addWidget(self.eye)
        self.column.addWidget(self.entry)
        self.error = Label("", tone="danger", wrap=True, object_name="password_error")
        self.column.addWidget(self.error)
        self.keep = CheckBox("Keep its text findable", object_name="password_keep")
        self.column.addWidget(self.keep)
        self.note = Label("", role="meta", tone="muted", wrap=True, object_name="password_note")
        self.column.addWidget(self.note)
        self.text = QPlainTextEdit()
        name(self.text, "password_text", "Text of the file, shown once")
        self.text.setReadOnly(True)
        self.text.setTabChangesFocus(True)
        self.text.document().setDocumentMargin(8)
        theme.set_role(self.text, "body")
        self.column.addWidget(self.text, 1)
        foot = QHBoxLayout()
        foot.setSpacing(8)
        self.cancel = Button("Cancel", object_name="password_cancel")
        self.go = Button("Open", kind="primary", object_name="password_open")
        foot.addStretch(1)
        foot.addWidget(self.cancel)
        foot.addWidget(self.go)
        self.column.addSpacing(4)
        self.column.addLayout(foot)
        self.edit.textChanged.connect(lambda text: self.go.setEnabled(bool(text)))
        self.edit.returnPressed.connect(self._open)
        self.eye.toggled.connect(self._on_eye)
        self.keep.toggled.connect(lambda _: self._say_what_happens())
        self.cancel.clicked.connect(lambda: self.close_sheet(False))
        self.go.clicked.connect(self._open)
        self.closed.connect(lambda _: self._forget())
        self._forget()

    def ask(self, path: Path, member: str, kept: Callable[[], object] | None = None) -> None:
        """Asks for the password of a file."""
        self._forget()
        self._path, self._member, self._kept = path, member, kept
        self.file.set_full_text(file_words(path, member))
        self.file.setToolTip(plain_tip(short_path(path)))
        self.open()
        self.place()

    def first_focus(self) -> QWidget:
        return self.edit if self.entry.isVisibleTo(self.card) else self.cancel

    def _forget(self) -> None:
        # neither the password nor the text outlives the sheet, nor is a text kept that was given up
        if self._latest.job is not None:
            self._desk.commands.cancel(self._latest.job)
        self._latest.drop()
        self.title.setText("Enter password")
        self.edit.clear()
        self.text.clear()
        self.error.setText("")
        self.eye.setChecked(False)
        self.keep.setChecked(False)
        for widget in (self.entry, self.keep, self.go):
            widget.setVisible(True)
        for widget in (self.error, self.text):
            widget.setVisible(False)
        self.edit.setEnabled(True)
        self.go.setEnabled(False)
        self.go.setText("Open")
        self.cancel.setText("Cancel")
        self._say_what_happens()

    def _say_what_happens(self) -> None:
        kept = "Its text becomes part of the library on this computer, unprotected. The password is not stored."
        once = "Its text is shown once, here, and kept nowhere. The password is not stored."
        self.note.setText(kept if self.keep.isChecked() else once)
        if self.isVisible():
            self.place()
            announce(self.note, self.note.text())

    def _on_eye(self, shown: bool) -> None:
        self.edit.setEchoMode(QLineEdit.EchoMode.Normal if shown else QLineEdit.EchoMode.Password)
        self.eye.set_icon("eye_off" if shown else "eye")
        self.eye.set_tip("Hide the password" if shown else "Show the password")

    def _open(self) -> None:
        password = self.edit.text()
        if not password or not self.go.isEnabled():
            return
        self.edit.setEnabled(False)
        self.go.setEnabled(False)
        self.go.setText("Opening...")
        self._latest.watch(self._desk.commands.unlock(self._path, password, keep=self.keep.isChecked(),
                                                      member=self._member), on_finished=self._on_answer)

    def _on_answer(self, finished: Finished) -> None:
        self._latest.job = None
        self.edit.setEnabled(True)
        self.go.setEnabled(True)
        self.go.setText("Open")
        if finished.outcome is Outcome.FAILED and finished.failure is not None:
            self._refuse(failure_text(finished.failure))
        elif isinstance(finished.result, UnlockView):
            if not finished.result.opened:
                self._refuse(finished.result.message or "This password does not open the file.")
            elif finished.result.kept:
                self._say_kept()
            else:
                self._show_text(finished.result.text)

    def _refuse(self, text: str) -> None:
        self.error.setText(text)
        self.error.setVisible(True)
        self.edit.selectAll()
        self.place()
        self.edit.setFocus(Qt.FocusReason.OtherFocusReason)
        announce(self.error, text)

    def _say_kept(self) -> None:
        title, kept = file_words(self._path, self._member), self._kept
        self.close_sheet(True)
        self._desk.toast(f"{title} is in the results now")
        if kept is not None:
            kept()

    def _show_text(self, text: str) -> None:
        self.edit.clear()
        self.title.setText("Text, shown once")
        for widget in (self.entry, self.keep, self.go, self.error):
            widget.setVisible(False)
        self.text.setVisible(True)
        self.text.setMinimumHeight(theme.line("body") * 10 + 24)
        self.text.setPlainText(in_short_lines(text[:SHOWN]) if text.strip() else "The file holds no text.")
        cut = f" Only its first {SHOWN:,} characters are shown." if len(text) > SHOWN else ""
        self.note.setText(f"This text is kept nowhere: it is gone when you close it.{cut}")
        self.cancel.setText("Close")
        self.place()
        self.text.setFocus(Qt.FocusReason.OtherFocusReason)
        announce(self.text, self.note.text())


def in_short_lines(text: str) -> str:
    """Gives the text with its endless lines cut, at a blank where there is one near."""
    out = []
    for line in text.split("\n"):
        while len(line) > LINE:
            at = line.rfind(" ", LINE - 200, LINE) + 1 or LINE
            out.append(line[:at])
            line = line[at:]
        out.append(line)
    return "\n".join(out)
