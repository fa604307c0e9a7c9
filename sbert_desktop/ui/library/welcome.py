"""The Library page while it has no folder: drop zone, sample library, usual folders."""

from __future__ import annotations

import os
from pathlib import Path

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from sbert_desktop import paths
from sbert_desktop.domain import short_path
from sbert_desktop.ui import icons, words
from sbert_desktop.ui.library.adding import home_folders
from sbert_desktop.ui.page import Desk
from sbert_desktop.ui.theme import RADIUS, theme
from sbert_desktop.ui.widgets import Button, Drawing, ElidedLabel, Label, name


class IconMark(QWidget):
    """An icon to look at, 18 px."""

    def __init__(self, icon: str, tone: str = "muted", size: int = 18, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._icon, self._tone = icon, tone
        self.setFixedSize(size, size)

    def set_icon(self, icon: str, tone: str = "") -> None:
        """Changes icon and tone."""
        self._icon, self._tone = icon, tone or self._tone
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        icons.paint(QPainter(self), self._icon, self.rect(), self._tone)


class DropZone(QWidget):
    """The dashed area with the drawing and the first button."""

    chosen = Signal()
    sample = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        name(self, "library_drop_zone", "Drop your folders here")
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 40, 24, 24)
        column.setSpacing(0)
        column.addWidget(Drawing("documents"), 0, Qt.AlignmentFlag.AlignHCenter)
        column.addSpacing(16)
        title = Label("Drop your folders here", role="page_title", object_name="library_empty_title")
        column.addWidget(title, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addSpacing(8)
        sentence = Label("Then search them by meaning, in your own words. Everything stays on this computer.",
                         tone="muted", wrap=True, object_name="library_empty_sentence")
        sentence.setAlignment(Qt.AlignmentFlag.AlignCenter)
        sentence.setMaximumWidth(440)
        row = QHBoxLayout()
        row.addStretch(1)
        row.addWidget(sentence, 100)
        row.addStretch(1)
        column.addLayout(row)
        column.addSpacing(16)
        self.choose = Button("Choose folder...", kind="primary", size="large", icon="folder",
                             object_name="library_choose")
        column.addWidget(self.choose, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addSpacing(12)
        self.explore = Button("Explore the sample library", kind="link", object_name="library_sample")
        column.addWidget(self.explore, 0, Qt.AlignmentFlag.AlignHCenter)
        self.note = Label("", role="meta", tone="muted", object_name="library_sample_note")
        column.addWidget(self.note, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addStretch(1)
        self.choose.clicked.connect(self.chosen)
        self.explore.clicked.connect(self.sample)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        pen = QPen(theme.color("muted"), 1.5)
        pen.setDashPattern([4 / 1.5, 3 / 1.5])
        painter.setPen(pen)
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), RADIUS, RADIUS)


class _Suggestion(QWidget):
    """A usual folder with its Add button."""

    def __init__(self, text: str, icon: str, path: Path, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 1)
        row.setSpacing(12)
        row.addWidget(IconMark(icon))
        row.addWidget(Label(text, role="medium"))
        row.addWidget(ElidedLabel(short_path(path), mode=Qt.TextElideMode.ElideMiddle, role="meta", tone="muted"), 1)
        self.add = Button("Add", size="small", icon="plus", object_name=f"library_suggest_{text.lower()}",
                          accessible=f"Add {text}")
        row.addWidget(self.add)
        self.setFixedHeight(theme.height(44, padding=20))

    def paintEvent(self, event: QPaintEvent) -> None:
        QPainter(self).fillRect(0, self.height() - 1, self.width(), 1, theme.color("border"))


class Welcome(QScrollArea):
    """The first run: one column of 640 in the middle."""

    def __init__(self, desk: Desk, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._desk = desk
        name(self, "library_welcome", "Add your first folder")
        self.setWidgetResizable(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        content = QWidget()
        content.setObjectName("library_welcome_content")
        outer = QHBoxLayout(content)
        outer.setContentsMargins(16, 24, 16, 24)
        outer.addStretch(1)
        middle = QWidget()
        middle.setMaximumWidth(640)
        outer.addWidget(middle, 100)
        outer.addStretch(1)
        column = QVBoxLayout(middle)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        self.zone = DropZone()
        self.zone.setMinimumHeight(368)
        column.addWidget(self.zone)
        self.heading = Label("Or start with one of these", role="section", object_name="library_suggest_title")
        self.heading.setVisible(False)
        column.addSpacing(24)
        column.addWidget(self.heading)
        self._rows = QVBoxLayout()
        self._rows.setContentsMargins(0, 4, 0, 0)
        self._rows.setSpacing(0)
        column.addLayout(self._rows)
        column.addSpacing(16)
        foot = QHBoxLayout()
        foot.setSpacing(8)
        foot.addWidget(IconMark("file", size=16))
        kinds = "Reads PDF, text, office files, books, mail, archives, web pages and source code"
        foot.addWidget(Label(kinds, role="meta", tone="muted"))
        foot.addSpacing(16)
        foot.addWidget(IconMark("shield", size=16))
        foot.addWidget(Label("Changes no file", role="meta", tone="muted"))
        foot.addStretch(1)
        column.addLayout(foot)
        column.addStretch(1)
        self.setWidget(content)
        self.zone.chosen.connect(lambda: desk.add_folders())
        self.zone.sample.connect(self._on_sample)
        self._asked = False

    def look_around(self) -> None:
        """Asks once, in a thread, which usual folders exist and how large the sample library is."""
        if not self._asked:
            self._asked = True
            self._desk.errands.run(_look, self._on_looked)

    def _on_looked(self, found: tuple[list[tuple[str, str, Path]], int]) -> None:
        folders, documents = found
        self.heading.setVisible(bool(folders))
        for text, icon, path in folders[:4]:
            row = _Suggestion(text, icon, path)
            row.add.clicked.connect(lambda _=False, path=path: self._desk.add_folders((path,)))
            self._rows.addWidget(row)
        if documents:
            self.zone.note.setText(f"{words.counted(documents, 'document')}, ready in seconds")
        else:
            self.zone.explore.setVisible(False)

    def _on_sample(self) -> None:
        self._desk.start(self._desk.commands.add_sample(), lambda _: self._desk.toast(
            "The sample library is ready", action="Search it", run=lambda: self._desk.search_for("")))


def _look() -> tuple[list[tuple[str, str, Path]], int]:
    sample = paths.resource("sample")
    documents = sum(len(files) for _, _, files in os.walk(sample)) if sample.is_dir() else 0
    return home_folders(), documents


