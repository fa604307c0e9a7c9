"""The sheet "How to search": the query language in ten lines."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QScrollArea, QWidget

from sbert_desktop.ui.overlay import Sheet
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.widgets import Button, Label, name

LINES: tuple[tuple[str, str], ...] = (
    ("deposit back", "what is said about it, in these or other words"),
    ('"thirty days"', "exactly these words, one after the other"),
    ("-car  -\"car sales\"", "without this word, without this phrase"),
    ("type:pdf  -type:mail", "only PDF files; everything but mail"),
    ("folder:taxes  name:invoice", "lies in such a folder; is called so"),
    ("after:2023-05  before:today", "dated from then on; until then"),
    ("size:>1mb  lang:de", "larger than that; written in that language"),
    ("from:anna  to:ben  subject:rent", "who wrote the mail, to whom, about what"),
    ("has:attachment", "mails with attachments"),
    ('in:"Flat 14"', "in one of your collections"),
)

WIDTH = 600


class LanguageHelp(Sheet):
    """Ten lines; nothing that is typed is wrong, so there is nothing more to learn."""

    def __init__(self, host: QWidget) -> None:
        super().__init__(host, width=WIDTH)
        name(self, "search_language_sheet", "How to search")
        self.column.addWidget(Label("How to search", role="page_title"))
        self.column.addWidget(Label("Type what you remember. These make it narrower, in any order:", tone="muted",
                                    wrap=True))
        content = QWidget()
        content.setObjectName("search_language_rows")
        content.setStyleSheet("#search_language_rows { background: transparent; }")
        grid = QGridLayout(content)
        grid.setContentsMargins(0, 0, 12, 0)
        grid.setHorizontalSpacing(16)
        grid.setVerticalSpacing(8)
        grid.setColumnStretch(1, 1)
        for row, (typed, meaning) in enumerate(LINES):
            grid.addWidget(Label(typed, role="medium", object_name=f"search_language_{row}"), row, 0,
                           Qt.AlignmentFlag.AlignTop)
            grid.addWidget(Label(meaning, tone="muted", wrap=True), row, 1)
        grid.setRowStretch(len(LINES), 1)
        self._rows = content
        self._area = QScrollArea()  # large text needs more room than a window may have
        self._area.setWidgetResizable(True)
        self._area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        name(self._area, "search_language_lines", "How to search")
        self._area.viewport().setAutoFillBackground(False)
        self._area.setWidget(content)
        self.column.addWidget(self._area, 1)
        foot = QHBoxLayout()
        foot.addStretch(1)
        self.done = Button("Close", object_name="search_language_close")
        self.done.clicked.connect(lambda: self.close_sheet(True))
        foot.addWidget(self.done)
        self.column.addLayout(foot)

    def open(self) -> None:
        """Shows the sheet as high as its lines need, if the window is."""
        host = self.parentWidget()
        assert host is not None
        width = min(WIDTH * (100 + max(0, theme.text_scale - 100) // 2) // 100, host.width() - 48) - 48 - 8
        layout = self._rows.layout()
        assert layout is not None
        needed = layout.heightForWidth(width) + 8
        around = 148 + theme.text_scale * 14 // 10  # title, sentence, button and margins
        self._area.setMinimumHeight(min(needed, max(96, host.height() - around)))
        self._area.setMaximumHeight(max(needed, self._area.minimumHeight()))
        super().open()

    def first_focus(self) -> QWidget:
        """The button that closes it."""
        return self.done
