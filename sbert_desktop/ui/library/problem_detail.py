"""The strip under the list of problems: what is chosen, what can be done about it, and the buttons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QVBoxLayout, QWidget

from sbert_desktop.ui import words
from sbert_desktop.ui.library.causes import hint_words
from sbert_desktop.ui.library.problem_rows import Row, held_words
from sbert_desktop.ui.naming import file_words
from sbert_desktop.ui.widgets import Button, ElidedLabel, FlowLayout, IconButton, Panel, announce, set_tip


@dataclass(frozen=True, slots=True)
class Offer:
    """What can be done with the rows chosen."""

    retry: bool = False
    ignore: bool = False
    restore: bool = False
    open: bool = False
    unlock: bool = False
    files: int = 0
    recognise: int = 0
    limit: str = ""
    caption: bool = False
    read_only: bool = False


def offer_for(rows: Sequence[Row], *, read_only: bool = False) -> Offer:
    """Gives what can be done; passwords, captions and opening go one file at a time."""
    if not rows:
        return Offer()
    one = rows[0].problem if len(rows) == 1 else None
    ignored = all(row.problem.ignored for row in rows)
    if read_only:
        return Offer(open=one is not None, read_only=True)
    limits = {row.limit for row in rows}
    return Offer(
        retry=True,
        ignore=not ignored,
        restore=ignored,
        open=one is not None,
        unlock=one is not None and one.code == "encrypted",
        files=len({row.key for row in rows}),
        recognise=len({row.key for row in rows if row.able}),
        limit=limits.pop() if len(limits) == 1 else "",
        caption=one is not None,
    )


class ProblemDetail(Panel):
    """The strip; its buttons are connected by the tab."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("rail", lines="top", parent=parent)
        self.setObjectName("problems_detail")
        self.setAccessibleName("What can be done")
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 10, 16, 10)
        column.setSpacing(2)
        self.title = ElidedLabel(role="strong", mode=Qt.TextElideMode.ElideMiddle, object_name="problems_detail_title")
        self.hint = ElidedLabel(tone="muted", object_name="problems_detail_hint")
        column.addWidget(self.title)
        column.addWidget(self.hint)
        column.addSpacing(6)
        self._bar = QWidget(self)
        flow = FlowLayout(self._bar, gap=8)

        def button(text: str, icon: str, key: str, tip: str) -> Button:
            made = Button(text, size="small", icon=icon, object_name=f"problems_{key}", tip=tip)
            flow.addWidget(made)
            return made

        self.unlock = button("Enter password...", "lock", "unlock", "Open this file with its password (P)")
        self.recognise = button("Read with text recognition", "scan", "recognise",
                                "Read the text in the pictures of these files (T)")
        self.limit = button("Raise the limit...", "sliders", "limit", "Go to the limit in Settings (L)")
        self.retry = button("Try again", "refresh", "retry", "Read these files again (R or F5)")
        self.ignore = button("Ignore", "eye_off", "ignore", "Take these files off the list (I or Del)")
        self.caption = button("Add a caption...", "quote", "caption",
                              "Write a caption or transcript that is searched in place of its text (C)")
        self.open_button = IconButton("open", "Open the file", object_name="problems_open", shortcut="Enter", size=26)
        self.reveal_button = IconButton("reveal", "Show in file manager", object_name="problems_reveal",
                                        shortcut="Ctrl+Return", size=26)
        self.copy_button = IconButton("copy", "Copy details", object_name="problems_copy", shortcut="Ctrl+C", size=26)
        for each in (self.open_button, self.reveal_button, self.copy_button):
            flow.addWidget(each)
        column.addWidget(self._bar)

    def show_rows(self, rows: Sequence[Row], offer: Offer) -> None:
        """Says what is chosen and offers what can be done with it."""
        if not rows:
            self.title.set_full_text("No file chosen")
            self.hint.set_full_text("Choose a file to see what can be done about it.")
        elif len(rows) == 1:
            problem = rows[0].problem
            self.title.set_full_text(rows[0].name)
            help_ = "This library can only be read, so nothing here can be changed." if offer.read_only \
                else hint_words(problem)
            self.hint.set_full_text(f"{problem.message} {help_}".strip())
        else:
            causes = list(dict.fromkeys(row.cause for row in rows))
            self.title.set_full_text(f"{words.counted(len(rows), 'file')} chosen")
            self.hint.set_full_text(", ".join(causes[:6]) + (", ..." if len(causes) > 6 else ""))
        for widget, wanted in ((self.unlock, offer.unlock), (self.recognise, offer.recognise > 0),
                               (self.limit, bool(offer.limit))):
            widget.setVisible(wanted)
        self.recognise.setText("Read with text recognition" if offer.recognise == offer.files
                               else f"Read {words.count(offer.recognise)} with text recognition")
        self.ignore.setText("Stop ignoring" if offer.restore else "Ignore")
        self.ignore.set_icon("eye" if offer.restore else "eye_off")
        self.retry.setEnabled(offer.retry)
        self.ignore.setEnabled(offer.ignore or offer.restore)
        # an archive or a mailbox is read as a whole: said where one of its members is chosen
        whole = held_words(rows)
        set_tip(self.retry, f"{whole} (R or F5)" if whole else "Read these files again (R or F5)")
        self.retry.setText("Try the whole file again" if whole and len(rows) == 1 else "Try again")
        self.caption.setEnabled(offer.caption)
        for each in (self.open_button, self.reveal_button):
            each.setEnabled(offer.open)
        self.copy_button.setEnabled(bool(rows))
        held = file_words(rows[0].problem.path) if len(rows) == 1 and rows[0].problem.member else ""
        self.open_button.set_tip(f"Open {held}, which holds it" if held else "Open the file", "Enter")
        self._bar.updateGeometry()
        announce(self.hint, f"{self.title.full_text()}. {self.hint.full_text()}" if rows else "")
