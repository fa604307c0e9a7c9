"""The second view of the Duplicates page under its own head: paragraphs that several documents share."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from sbert_desktop.ui.duplicates.column import VIEWS
from sbert_desktop.ui.duplicates.passages import PassagesView
from sbert_desktop.ui.page import Desk
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.widgets import Label, Line, Panel, Segmented, name


class PassagesPane(Panel):
    """Title, the switch between files and passages, and the view. ``viewChosen(str)``."""

    viewChosen = Signal(str)

    def __init__(self, desk: Desk, parent: QWidget | None = None) -> None:
        super().__init__("surface", parent=parent)
        name(self, "duplicates_passages_pane", "Passages")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        self.head = QWidget()
        row = QHBoxLayout(self.head)
        row.setContentsMargins(16, 0, 16, 0)
        row.setSpacing(16)
        self.views = Segmented(VIEWS, object_name="duplicates_passages_view", accessible="Show")
        self.views.set_value("passages")
        row.addWidget(Label("Duplicates", role="page_title", object_name="duplicates_passages_title"))
        row.addWidget(self.views)
        row.addStretch(1)
        column.addWidget(self.head)
        column.addWidget(Line())
        self.view = PassagesView(desk)
        column.addWidget(self.view, 1)
        self.setFocusProxy(self.view)
        self.views.changed.connect(self._on_chosen)
        theme.themeChanged.connect(self._fit)
        self._fit()

    def focus_view(self) -> None:
        """Puts the focus where work in the view begins."""
        self.view.focus_first()

    def _on_chosen(self, view: str) -> None:
        self.views.set_value("passages")  # it says so again when it comes back
        self.viewChosen.emit(view)

    def _fit(self) -> None:
        self.head.setFixedHeight(theme.height(56, role="page_title", padding=24))
