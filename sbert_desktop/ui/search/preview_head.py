"""The head of the preview: what is shown, where it lies, and the menu of what can be done with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from sbert_desktop.app.views import DocumentView
from sbert_desktop.domain import short_path
from sbert_desktop.ui import icons
from sbert_desktop.ui.search.model import STATE_TIPS, STATE_WORDS, date_text, place_of, title_of
from sbert_desktop.ui.theme import Theme
from sbert_desktop.ui.widgets import ElidedLabel, IconButton, menu, plain_tip
from sbert_desktop.ui.words import size as size_words

Deed = tuple[str, str, str, Callable[[], object]]  # name, text, icon, what it does


class PreviewHead(QWidget):
    """Title, place, menu and the button that hides the panel. ``menuOpens()`` before the menu is shown."""

    menuOpens = Signal()

    def __init__(self, theme: Theme, deeds: Sequence[Deed], parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 8, 8, 8)
        row.setSpacing(8)
        words = QVBoxLayout()
        words.setSpacing(0)
        self.title = ElidedLabel("", mode=Qt.TextElideMode.ElideMiddle, role="section", object_name="preview_title")
        self.place = ElidedLabel("", role="meta", tone="muted", mode=Qt.TextElideMode.ElideMiddle,
                                 object_name="preview_path")
        words.addWidget(self.title)
        words.addWidget(self.place)
        row.addLayout(words, 1)
        self.more_button = IconButton("more", "More actions", object_name="preview_more")
        self.hide_button = IconButton("panel", "Hide preview", object_name="preview_hide", shortcut="Space")
        self.menu = menu(self, "preview_menu", "Actions for this document")
        self.actions_of_menu: dict[str, QAction] = {}
        self._icons: list[tuple[QAction, str]] = []
        for name, text, icon, run in deeds:
            action = self.menu.addAction(icons.icon(icon), text)
            action.setObjectName(f"preview_action_{name}")
            action.triggered.connect(lambda _=False, run=run: run())
            self.actions_of_menu[name] = action
            self._icons.append((action, icon))
        self.menu.aboutToShow.connect(self._recolour)
        self.menu.aboutToShow.connect(self.menuOpens)
        self.more_button.clicked.connect(lambda: self.menu.popup(self.spot()))
        row.addWidget(self.more_button)
        row.addWidget(self.hide_button)
        self.setMinimumHeight(theme.height(56, lines=2, padding=20))

    def spot(self) -> QPoint:
        """Gives where a menu about the document belongs, on the screen."""
        return self.more_button.mapToGlobal(self.more_button.rect().bottomLeft())

    def _recolour(self) -> None:
        for action, icon in self._icons:
            action.setIcon(icons.icon(icon))

    def describe(self, document: DocumentView) -> None:
        """Names a document, its place, and how it is there."""
        self.title.set_full_text(title_of(document))
        pieces = []
        if document.size > 0:
            pieces.append(size_words(document.size))
        if document.state in STATE_WORDS:
            pieces.append(STATE_WORDS[document.state])
        self.place.set_full_text(place_of(document), "".join(f" · {piece}" for piece in pieces))
        tips = [short_path(path) for path in document.paths or (document.path,)]
        if document.date > 0:
            tips.append(date_text(document.date))
        if document.state in STATE_TIPS:
            tips.append(STATE_TIPS[document.state])
        self.place.setToolTip(plain_tip("\n".join(tips)))
        tone = {"gone": "danger", "changed": "warn", "offline": "warn"}.get(document.state, "muted")
        self._theme.set_tone(self.place, tone)
