"""What a typed query was understood to ask, as chips that can be taken out again."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QApplication

from sbert_desktop.domain import Parsed, Term, TermKind
from sbert_desktop.ui.search.citing import short_text
from sbert_desktop.ui.search.filters import FilterBar
from sbert_desktop.ui.search.session import Steer
from sbert_desktop.ui.search.text import one_line
from sbert_desktop.ui.widgets import Chip

FIELD_WORDS: dict[str, str] = {
    "type": "Type", "folder": "Folder", "after": "After", "before": "Before", "size": "Size", "lang": "Language",
    "name": "Name", "from": "From", "to": "To", "subject": "Subject", "has": "Has", "in": "In collection",
}
MOST = 12  # chips of one kind; a pasted text may hold hundreds of phrases


def caption_of(term: Term) -> str:
    """Gives what a chip calls a piece of a query."""
    if term.kind is TermKind.FIELD:
        word = FIELD_WORDS.get(term.field, one_line(term.field).capitalize())
        return f"Not {word.lower()}" if term.excluded else word
    return "Without" if term.excluded else "Exactly"


def shown_terms(parsed: Parsed) -> list[Term]:
    """Gives the pieces that get a chip: fields, phrases and what is left out; plain words need none."""
    return [term for term in parsed.terms if term.kind is not TermKind.WORD or term.excluded]


def without(text: str, term: Term) -> str:
    """Gives a query without one of its pieces, and without the space that stood beside it."""
    before, after = text[: term.start], text[term.end :]
    if before and before[-1].isspace() and (not after or after[0].isspace()):
        before = before[:-1]
    elif not before:
        after = after.lstrip()
    return before + after


class TypedChips(QObject):
    """Keeps chips in a :class:`FilterBar` for the pieces of the query, steering passages and unfolding.

    Signals: ``termRemoved(Term)``, ``steerRemoved(Steer)``, ``foldWanted()``.
    """

    termRemoved = Signal(object)
    steerRemoved = Signal(object)
    foldWanted = Signal()
    emptied = Signal()  # the last chip is gone, and with it the focus

    def __init__(self, bar: FilterBar, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._bar = bar
        self._shown: tuple[object, ...] = ()
        self._terms: list[tuple[Chip, Term]] = []
        self._steers: list[tuple[Chip, Steer]] = []
        self._unfolded: Chip | None = None

    def chips(self) -> list[Chip]:
        """Gives the chips in their order."""
        last = [self._unfolded] if self._unfolded is not None else []
        return [chip for chip, _ in self._terms] + [chip for chip, _ in self._steers] + last

    def show(self, parsed: Parsed, steer: Sequence[Steer], folded: bool) -> None:
        """Shows chips for these; those that were there stay, with their focus."""
        terms = shown_terms(parsed)[:MOST]
        shown = (tuple(terms), tuple(steer), folded)
        if shown == self._shown:
            return
        self._shown = shown
        focus = QApplication.focusWidget()
        at = self.chips().index(focus) if focus in self.chips() else -1
        for chip in self.chips():
            chip.hide()
            chip.deleteLater()
        self._terms = [(self._make(f"query_chip_{number}", caption_of(term), term.value, "Takes it out of the query"),
                        term) for number, term in enumerate(terms)]
        self._steers = [(self._make(f"steer_chip_{number}", "More like" if each.sign > 0 else "Less like", each.words,
                                    "Takes it back"), each) for number, each in enumerate(steer)]
        self._unfolded = None if folded else self._make("unfold_chip", "Nearly the same", "one by one",
                                                        "Lists them as one again")
        for chip, term in self._terms:
            for signal in (chip.clicked, chip.cleared):
                signal.connect(lambda *_, term=term: self.termRemoved.emit(term))
        for chip, each in self._steers:
            for signal in (chip.clicked, chip.cleared):
                signal.connect(lambda *_, each=each: self.steerRemoved.emit(each))
        if self._unfolded is not None:
            for signal in (self._unfolded.clicked, self._unfolded.cleared):
                signal.connect(lambda *_: self.foldWanted.emit())
        self._bar.set_typed({term.field for term in terms if term.kind is TermKind.FIELD}, self.chips())
        left = self.chips()
        if at >= 0 and left:
            left[min(at, len(left) - 1)].setFocus(Qt.FocusReason.OtherFocusReason)
        elif at >= 0:
            self.emptied.emit()

    def _make(self, object_name: str, caption: str, value: str, deed: str) -> Chip:
        chip = Chip(caption, object_name=object_name, parent=self._bar)
        chip.set_value(short_text(value, 40) or "nothing yet", one_line(f"{caption}: {value}")[:400])
        chip.setAccessibleDescription(f"{deed}: Enter, Delete or Backspace")
        return chip
