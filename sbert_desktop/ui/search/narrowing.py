"""Keeps the words in the box, the chips under it and the search saying the same."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import cast

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QWidget

from sbert_desktop.app.interface import Commands
from sbert_desktop.domain import Parsed, Term
from sbert_desktop.ui.search.head import SearchHead
from sbert_desktop.ui.search.language_help import LanguageHelp
from sbert_desktop.ui.search.session import SearchSession, Steer
from sbert_desktop.ui.search.typed_chips import TypedChips, without

WAITING = "0x0"


def _with_field(text: str, field: str, value: str) -> str:
    from sbert_desktop.app.asking_query import with_field  # not at start: it brings the whole search with it

    return with_field(text, field, value)


class Narrowing(QObject):
    """Parses what is typed, shows it as chips, takes pieces out and writes fields.

    ``rewritten(str)``: the query became this by a click, and is to be searched at once. ``parses`` False:
    the program knows no query language, so nothing of it is shown.
    """

    rewritten = Signal(str)

    def __init__(self, commands: Commands, session: SearchSession, head: SearchHead, *, parses: bool,
                 rest: Callable[[], list[QWidget]], parent: QObject) -> None:
        super().__init__(parent)
        self._commands, self._session, self._head, self._parses = commands, session, head, parses
        self._rest = rest  # what Tab comes to after the head
        self._parsed = Parsed("")
        self.chips = TypedChips(head.filters, self)
        self.help: LanguageHelp | None = None
        bar = head.filters
        for widget in (bar.add_button, bar.help_button):
            widget.setVisible(parses)
        head.query.textChanged.connect(self._parse)
        bar.add_button.offered = lambda: [word for word, _ in bar.menus()]
        bar.add_button.chipWanted.connect(self._open_chip)
        bar.add_button.fieldWanted.connect(self.write_field)
        bar.add_button.valueWanted.connect(self.write_value)
        bar.help_button.clicked.connect(self.show_language)
        self.chips.termRemoved.connect(self._remove_term)
        self.chips.emptied.connect(lambda: head.query.edit.setFocus(Qt.FocusReason.OtherFocusReason))
        self.chips.steerRemoved.connect(self._remove_steer)
        session.steered.connect(self.show)
        self.chips.foldWanted.connect(lambda: self.set_folded(True))

    def order_tab(self) -> None:
        """Puts all controls into the order of reading."""
        chips = cast(list[QWidget], self.chips.chips())
        for first, second in itertools.pairwise([*self._head.parts(chips), *self._rest()]):
            QWidget.setTabOrder(first, second)

    def _parse(self, text: str) -> None:
        self._parsed = self._commands.parse(text) if self._parses else Parsed(text)
        self.show()

    def show(self) -> None:
        """Shows the chips of what is asked now."""
        before = self.chips.chips()
        self.chips.show(self._parsed, self._session.steer, self._session.folded)
        if self.chips.chips() != before:
            self.order_tab()

    def _remove_term(self, term: Term) -> None:
        self.rewritten.emit(without(self._head.query.text(), term))

    def _remove_steer(self, steer: Steer) -> None:
        self._session.set_steer(tuple(each for each in self._session.steer if each != steer))

    def set_folded(self, folded: bool) -> None:
        """Lists passages that say nearly the same as one, or one by one."""
        self._session.set_folded(folded)
        self.show()

    def write_field(self, field: str) -> None:
        """Writes a field of the language behind what stands in the box; a whole one is searched at once."""
        name, _, value = field.partition(":")
        if value:
            self.write_value(name, value)
            return
        box = self._head.query
        # a value that is taken away again: so a quote that is still open is closed before the field
        box.set_text(_with_field(box.text(), name, WAITING).removesuffix(WAITING))
        box.edit.setFocus(Qt.FocusReason.OtherFocusReason)
        box.edit.end(False)

    def write_value(self, field: str, value: str) -> None:
        """Writes a field with its value, quoted where it must be, and searches at once."""
        box = self._head.query
        self.rewritten.emit(_with_field(box.text(), field, value))
        box.edit.setFocus(Qt.FocusReason.OtherFocusReason)
        box.edit.end(False)

    def _open_chip(self, word: str) -> None:
        for known, chip in self._head.filters.menus():
            if known == word:
                chip.setFocus(Qt.FocusReason.OtherFocusReason)
                chip.showMenu()

    def show_language(self) -> None:
        """Shows the query language in ten lines."""
        if self.help is None:
            self.help = LanguageHelp(self._head.window())
        self.help.open()
