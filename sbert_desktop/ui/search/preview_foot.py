"""The foot of the preview: what can be done with the document, shortened where there is no room."""

from __future__ import annotations

from PySide6.QtWidgets import QHBoxLayout, QWidget

from sbert_desktop.app.views import DocumentView, HitView
from sbert_desktop.ui.naming import quick_path
from sbert_desktop.ui.widgets import Button, IconButton, plain_tip

ICONS_WIDTH = 28 + 8 + 28  # the icon, the gap before it, the margins


class PreviewFoot(QWidget):
    """Open and show in folder in words, similar documents as an icon; the inspector connects them.

    Copying stands in the menu above and on Ctrl+C: its icons took the room of the words "Show in folder".
    """

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 4, 12, 12)
        row.setSpacing(8)
        self.open = Button("Open", kind="primary", icon="open", object_name="preview_open")
        self.reveal = Button("Show in folder", icon="reveal", object_name="preview_reveal")
        self.similar = IconButton("similar", "Find similar documents", object_name="preview_similar")
        row.addWidget(self.open)
        row.addWidget(self.reveal)
        row.addStretch(1)
        row.addWidget(self.similar)

    def buttons(self) -> list[QWidget]:
        """Gives the buttons in the order of Tab."""
        return [self.open, self.reveal, self.similar]

    def fit(self, document: DocumentView | None, hit: HitView | None, room: int) -> None:
        """Names what is opened as fully as the room allows; tooltips and accessible names stay whole."""
        member = document.member if document is not None else ""
        page = hit.page if hit is not None and not member else None
        opens = (f"Open at page {page}", f"Page {page}", "Open") if page is not None else ("Open",)
        choices = [(opens[0], words) for words in ("Show in folder", "Folder", "")] + [(text, "") for text in opens[1:]]
        for text, words in choices:
            self.open.setText(text)
            self.reveal.setText(words)
            if self.open.sizeHint().width() + 8 + self.reveal.sizeHint().width() + ICONS_WIDTH <= room:
                break
        self.open.setAccessibleName(opens[0])
        holder = quick_path(document.path.name) if document is not None and member else ""
        self.open.setToolTip(plain_tip(f"Opens {holder}, which holds it (Enter)" if holder else f"{opens[0]} (Enter)"))
        self.open.setAccessibleDescription(f"Opens {holder}, which holds it" if holder else "")
        self.reveal.setAccessibleName("Show in folder")
        self.reveal.setToolTip(plain_tip("Show in folder (Ctrl+Enter)"))
