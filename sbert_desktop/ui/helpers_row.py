"""What other programs on this computer help with reading: Tesseract and LibreOffice, in plain words."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from sbert_desktop.app.views import ProgramsView
from sbert_desktop.domain import Finished
from sbert_desktop.ui import words
from sbert_desktop.ui.bridge import Latest
from sbert_desktop.ui.library.causes import install_words
from sbert_desktop.ui.library.welcome import IconMark
from sbert_desktop.ui.page import Desk
from sbert_desktop.ui.widgets import Button, Label, announce

# codes of Tesseract's own language files
LANGUAGES = {"eng": "English", "deu": "German", "fra": "French", "spa": "Spanish", "ita": "Italian",
             "nld": "Dutch", "por": "Portuguese", "pol": "Polish", "rus": "Russian", "ukr": "Ukrainian",
             "tur": "Turkish", "ara": "Arabic", "heb": "Hebrew", "jpn": "Japanese", "kor": "Korean",
             "chi_sim": "Chinese, simplified", "chi_tra": "Chinese, traditional", "lat": "Latin", "swe": "Swedish",
             "dan": "Danish", "nor": "Norwegian", "fin": "Finnish", "ces": "Czech", "ell": "Greek", "hun": "Hungarian"}


def helper_words(view: ProgramsView) -> tuple[tuple[bool, str, str], ...]:
    """Gives (there, sentence, detail) for each program."""
    known = [LANGUAGES.get(code, code) for code in view.languages if code not in ("osd", "equ")]
    shown = known[:12] + ([f"{len(known) - 12} more"] if len(known) > 12 else [])
    if view.tesseract:
        reads = f"Reads {words.listed(shown)}." if shown else "No language is installed for it."
        scans = (True, f"Text recognition: Tesseract {view.tesseract}", reads)
    else:
        scans = (False, "Text recognition: Tesseract is not on this computer",
                 f"Scans and pictures stay listed under Problems. {install_words('tesseract')}.")
    if view.libreoffice:
        office = (True, f"Old office files: LibreOffice {view.libreoffice}",
                  "Reads doc, xls and ppt; it is started without a network and only for such files.")
    else:
        office = (False, "Old office files: LibreOffice is not on this computer",
                  f"Files of doc, xls and ppt stay listed under Problems. {install_words('libreoffice')}.")
    return scans, office


class HelpersRow(QWidget):
    """Two sentences with a sign each, and Look again."""

    def __init__(self, desk: Desk, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("setting_helpers_row")
        self._desk = desk
        self._latest = Latest(desk.bridge)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 10, 44, 10)
        row.setSpacing(16)
        column = QVBoxLayout()
        column.setSpacing(4)
        column.addWidget(Label("Programs that help with reading", role="medium", object_name="setting_helpers_label"))
        grid = QGridLayout()
        grid.setHorizontalSpacing(8)
        grid.setVerticalSpacing(2)
        grid.setColumnStretch(1, 1)
        self._lines: list[tuple[IconMark, Label, Label]] = []
        for at in range(2):
            mark = IconMark("clock", size=16)
            head = Label("Looking...", object_name=f"setting_helper_{at}")
            detail = Label("", role="meta", tone="muted", wrap=True, object_name=f"setting_helper_{at}_detail")
            head.setWordWrap(True)
            grid.addWidget(mark, 2 * at, 0, Qt.AlignmentFlag.AlignTop)
            grid.addWidget(head, 2 * at, 1)
            grid.addWidget(detail, 2 * at + 1, 1)
            self._lines.append((mark, head, detail))
        column.addLayout(grid)
        row.addLayout(column, 1)
        self.again = Button("Look again", size="small", icon="refresh", object_name="setting_helpers_look")
        self.again.clicked.connect(lambda: self.look(again=True))
        row.addWidget(self.again, 0, Qt.AlignmentFlag.AlignTop)
        self._known = False

    def look(self, *, again: bool = False) -> None:
        """Asks which programs there are, once, or again."""
        if again or not self._known:
            self._known = True
            self._latest.watch(self._desk.commands.programs(), on_finished=self._on_finished)

    def matches(self, text: str) -> bool:
        """True when every word stands in this row's words."""
        said = " ".join(label.text() for _, head, detail in self._lines for label in (head, detail))
        here = f"programs that help with reading tesseract ocr libreoffice {said}".casefold()
        return all(word in here for word in text.casefold().split())

    def _on_finished(self, finished: Finished) -> None:
        if not isinstance(finished.result, ProgramsView):
            self._known = False
            for _, head, detail in self._lines:
                head.setText("Could not be looked for")
                detail.setText("")
            return
        for (mark, head, detail), (there, sentence, more) in zip(self._lines, helper_words(finished.result),
                                                                 strict=True):
            mark.set_icon("check" if there else "info", "good" if there else "muted")
            head.setText(sentence)
            detail.setText(more)
        announce(self, ". ".join(head.text() for _, head, _ in self._lines))
