"""The sheet for a person's own caption or transcript of a file: it is searched like any passage."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent, QTextCursor
from PySide6.QtWidgets import QHBoxLayout, QPlainTextEdit, QWidget

from sbert_desktop.app.views import CaptionView
from sbert_desktop.domain import Finished, Outcome, short_path
from sbert_desktop.ui.bridge import Latest
from sbert_desktop.ui.naming import file_words
from sbert_desktop.ui.overlay import Sheet
from sbert_desktop.ui.page import Desk, failure_text
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.widgets import Button, ElidedLabel, Label, announce, name, plain_tip

HINT = "What it shows or says, in your own words. It is searched like a passage of the file and stays when it moves."


def edit_caption(window: QWidget, desk: Desk, path: Path, member: str = "",
                 done: Callable[[], object] | None = None) -> CaptionSheet:
    """Opens the sheet for a file; ``done`` is called once its caption was changed."""
    sheet = window.findChild(CaptionSheet, "caption_sheet")
    if sheet is None:
        sheet = CaptionSheet(window, desk)
    sheet.edit_for(path, member, done)
    return sheet


class CaptionSheet(Sheet):
    """A few lines of text; Save, Remove or Cancel. Ctrl+Enter saves."""

    def __init__(self, window: QWidget, desk: Desk) -> None:
        super().__init__(window, width=560)
        name(self, "caption_sheet", "Caption or transcript")
        self._desk = desk
        self._path, self._member = Path(), ""
        self._old = ""
        self._done: Callable[[], object] | None = None
        self._latest = Latest(desk.bridge)
        self.title = Label("Caption or transcript", role="page_title", wrap=True, object_name="caption_title")
        self.file = ElidedLabel(mode=Qt.TextElideMode.ElideMiddle, tone="muted", object_name="caption_file")
        self.text = QPlainTextEdit()
        name(self.text, "caption_text", "Caption or transcript", HINT)
        self.text.setTabChangesFocus(True)
        self.text.setPlaceholderText("What it shows or says")
        self.text.document().setDocumentMargin(8)
        theme.set_role(self.text, "body")
        self.hint = Label(HINT, role="meta", tone="muted", wrap=True, object_name="caption_hint")
        self.error = Label("", tone="danger", wrap=True, object_name="caption_error")
        for widget in (self.title, self.file, self.text, self.hint, self.error):
            self.column.addWidget(widget)
        foot = QHBoxLayout()
        foot.setSpacing(8)
        self.remove = Button("Remove it", object_name="caption_remove", tip="Take the caption away")
        self.cancel = Button("Cancel", object_name="caption_cancel")
        self.save = Button("Save", kind="primary", object_name="caption_save", tip="Save it (Ctrl+Enter)")
        foot.addWidget(self.remove)
        foot.addStretch(1)
        foot.addWidget(self.cancel)
        foot.addWidget(self.save)
        self.column.addSpacing(4)
        self.column.addLayout(foot)
        self.cancel.clicked.connect(lambda: self.close_sheet(False))
        self.save.clicked.connect(lambda: self._set(self.text.toPlainText().strip()))
        self.remove.clicked.connect(lambda: self._set(""))
        self.text.textChanged.connect(self._fit_buttons)
        self.closed.connect(lambda _: self._latest.drop())
        self._fit()
        theme.themeChanged.connect(self._fit)

    def edit_for(self, path: Path, member: str, done: Callable[[], object] | None = None) -> None:
        """Asks for a file's caption and shows it."""
        self._path, self._member, self._done, self._old = path, member, done, ""
        self.file.set_full_text(file_words(path, member))
        self.file.setToolTip(plain_tip(short_path(path)))
        self._show("", known=False)
        self.open()
        self.place()
        self._latest.watch(self._desk.commands.caption(path, member), on_finished=self._on_read)

    def first_focus(self) -> QWidget:
        return self.text if self.text.isEnabled() else self.cancel

    def keyPressEvent(self, event: QKeyEvent) -> None:
        control = event.modifiers() & Qt.KeyboardModifier.ControlModifier
        if control and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.save.isEnabled():
            self.save.click()
            return
        super().keyPressEvent(event)

    def _show(self, text: str, *, known: bool, error: str = "") -> None:
        self.text.setEnabled(known)
        self.text.setPlainText(text)
        self.error.setText(error)
        self.error.setVisible(bool(error))
        self.title.setText("Caption or transcript" if text else "Add a caption or transcript")
        self._fit_buttons()

    def _on_read(self, finished: Finished) -> None:
        if isinstance(finished.result, CaptionView):
            self._old = finished.result.text
            self._show(self._old, known=True)
        elif finished.outcome is Outcome.FAILED and finished.failure is not None:
            self._show("", known=False, error=failure_text(finished.failure))
        self.place()
        self.text.moveCursor(QTextCursor.MoveOperation.End)
        self.first_focus().setFocus(Qt.FocusReason.OtherFocusReason)

    def _fit_buttons(self) -> None:
        text = self.text.toPlainText().strip()
        self.save.setEnabled(self.text.isEnabled() and bool(text) and text != self._old.strip())
        self.remove.setVisible(bool(self._old))

    def _set(self, text: str) -> None:
        self.save.setEnabled(False)
        self._latest.watch(self._desk.commands.set_caption(self._path, text, self._member),
                           on_finished=lambda finished: self._on_set(finished, text))

    def _on_set(self, finished: Finished, text: str) -> None:
        if finished.outcome is Outcome.FAILED and finished.failure is not None:
            self.error.setText(failure_text(finished.failure))
            self.error.setVisible(True)
            announce(self, self.error.text())
            self._fit_buttons()
            self.place()
            return
        title, before, path, member, done = (file_words(self._path, self._member), self._old, self._path,
                                             self._member, self._done)
        self.close_sheet(True)

        def back(_result: object) -> None:
            if done is not None:
                done()

        if text:
            self._desk.toast(f"{title} is found by its caption now")
        else:
            self._desk.toast(f"Removed the caption of {title}", action="Undo",
                             run=lambda: self._desk.start(self._desk.commands.set_caption(path, before, member), back))
        if done is not None:
            done()

    def _fit(self) -> None:
        self.text.setMinimumHeight(theme.line("body") * 7 + 24)
