"""The inspector of the Collections page: one item's passage, its note, and what can be done with it."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QHBoxLayout, QPlainTextEdit, QVBoxLayout, QWidget

from sbert_desktop.app.views import CollectionItem
from sbert_desktop.domain import short_path
from sbert_desktop.ui import words
from sbert_desktop.ui.naming import file_words, quick_path
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.widgets import Button, ElidedLabel, IconButton, Label, Line, Panel, name

SHOWN = 20_000  # characters of a passage: a whole document may have been put in


def item_title(item: CollectionItem) -> str:
    """Gives an item's name as a list shows it."""
    return quick_path(item.title) if item.title else file_words(item.path, item.member)


def place_words(item: CollectionItem) -> str:
    """Gives where an item lies."""
    return f"{short_path(item.path)} / {quick_path(item.member)}" if item.member else short_path(item.path)


class NoteEdit(QPlainTextEdit):
    """A note that is kept by itself: when it is left, and a moment after the last key."""

    noted = Signal(str)

    def __init__(self, object_name: str, accessible: str, placeholder: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        name(self, object_name, accessible, "Kept by itself")
        self.setPlaceholderText(placeholder)
        self.setTabChangesFocus(True)
        self.document().setDocumentMargin(8)
        theme.set_role(self, "body")
        self._kept = ""
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(1200)
        self._soon.timeout.connect(self.keep)
        self.textChanged.connect(self._soon.start)

    def show_note(self, text: str) -> None:
        """Shows a note that is kept already."""
        self._kept = text
        if text != self.toPlainText():
            self.setPlainText(text)
        self._soon.stop()

    def keep(self) -> None:
        """Says the note now if it changed."""
        self._soon.stop()
        text = self.toPlainText().strip()
        if text != self._kept.strip():
            self._kept = text
            self.noted.emit(text)

    def is_busy(self) -> bool:
        """True while the person writes in it."""
        return self.hasFocus() or self._soon.isActive()

    def focusOutEvent(self, event: object) -> None:
        super().focusOutEvent(event)  # type: ignore[arg-type]
        self.keep()


class ItemDetail(Panel):
    """Title and place, the passage, the note; below: open, show in folder, take out.

    ``noted(item id, text)``; ``openAsked``, ``revealAsked``, ``takeOutAsked``.
    """

    noted = Signal(int, str)
    openAsked = Signal()
    revealAsked = Signal()
    takeOutAsked = Signal()
    hideAsked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("surface", parent=parent)
        name(self, "collection_detail", "Passage")
        self._item: CollectionItem | None = None
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        head = QHBoxLayout()
        head.setContentsMargins(16, 0, 8, 0)
        titles = QVBoxLayout()
        titles.setSpacing(0)
        titles.setContentsMargins(0, 8, 0, 8)
        self.title = ElidedLabel(role="section", object_name="collection_item_title")
        self.place = ElidedLabel(mode=Qt.TextElideMode.ElideMiddle, role="meta", tone="muted",
                                 object_name="collection_item_place")
        titles.addWidget(self.title)
        titles.addWidget(self.place)
        head.addLayout(titles, 1)
        self.close_button = IconButton("panel", "Hide the preview", object_name="collection_item_close",
                                       shortcut="Ctrl+I")
        self.close_button.clicked.connect(self.hideAsked)
        head.addWidget(self.close_button, 0, Qt.AlignmentFlag.AlignVCenter)
        box = QWidget()
        box.setObjectName("collection_item_head")
        box.setLayout(head)
        box.setMinimumHeight(56)
        column.addWidget(box)
        column.addWidget(Line())
        body = QVBoxLayout()
        body.setContentsMargins(16, 12, 16, 12)
        body.setSpacing(8)
        self.facts = Label("", role="meta", tone="muted", wrap=True, object_name="collection_item_facts")
        body.addWidget(self.facts)
        self.text = QPlainTextEdit()
        name(self.text, "collection_item_text", "Passage")
        self.text.setReadOnly(True)
        self.text.setTabChangesFocus(True)
        self.text.document().setDocumentMargin(8)
        theme.set_role(self.text, "body")
        body.addWidget(self.text, 3)
        body.addWidget(Label("Note", role="section"))
        self.note = NoteEdit("collection_item_note", "Note on this passage", "Why you kept it")
        body.addWidget(self.note, 1)
        column.addLayout(body, 1)
        column.addWidget(Line())
        foot = QHBoxLayout()
        foot.setContentsMargins(16, 12, 16, 12)
        foot.setSpacing(8)
        self.open_button = Button("Open", kind="primary", icon="open", object_name="collection_item_open",
                                  tip="Open the document (Enter)")
        self.reveal_button = IconButton("reveal", "Show in folder", object_name="collection_item_reveal",
                                        shortcut="Ctrl+Return", size=32)
        self.take_out = IconButton("trash", "Take out of the collection", object_name="collection_item_take_out",
                                   shortcut="Delete", size=32)
        foot.addWidget(self.open_button)
        foot.addWidget(self.reveal_button)
        foot.addStretch(1)
        foot.addWidget(self.take_out)
        column.addLayout(foot)
        self.note.noted.connect(self._on_noted)
        self.open_button.clicked.connect(self.openAsked)
        self.reveal_button.clicked.connect(self.revealAsked)
        self.take_out.clicked.connect(self.takeOutAsked)

    def item(self) -> CollectionItem | None:
        """Gives the item shown."""
        return self._item

    def show_item(self, item: CollectionItem | None) -> None:
        """Shows an item; what was being written about another is kept first."""
        before = self._item
        if before is not None and (item is None or item.id != before.id):
            self.note.keep()
        self._item = item
        if item is None:
            return
        same = before is not None and before.id == item.id
        self.title.set_full_text(item_title(item))
        self.place.set_full_text(place_words(item))
        facts = [f"Page {words.count(item.page)}"] if item.page else []
        facts.append(f"added {words.ago(item.added)}")
        if not item.content_id:
            facts.append("no longer in the library; the passage was kept here")
        self.facts.setText(" · ".join(facts))
        if not same or self.text.toPlainText() != item.text[:SHOWN]:
            self.text.setPlainText(item.text[:SHOWN])
        if not (same and self.note.is_busy()):
            self.note.show_note(item.note)
        self.open_button.setText(f"Open at page {item.page}" if item.page and not item.member else "Open")

    def _on_noted(self, text: str) -> None:
        if self._item is not None:
            self.noted.emit(self._item.id, text)
