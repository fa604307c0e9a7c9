"""The line of tools over a preview: pages, passages, zoom; and the one that finds words in its text."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QWidget

from sbert_desktop.ui.search.left_button import LeftButton
from sbert_desktop.ui.theme import Theme
from sbert_desktop.ui.widgets import IconButton, Label, SearchBox, announce


class PreviewTools(QWidget):
    """Page and passage numbers with their buttons, and the zoom; shortened where there is no room."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._hits: tuple[str, ...] = ("",)  # longest first
        self._pages: tuple[str, ...] = ("",)
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 0, 8, 0)
        row.setSpacing(0)

        def button(icon: str, tip: str, name: str, keys: str = "") -> IconButton:
            return IconButton(icon, tip, object_name=name, shortcut=keys, size=26, icon_size=16)

        self.page_label = Label("", object_name="preview_page_number")
        self.previous_page = button("up", "Previous page", "preview_previous_page")
        self.next_page = button("down", "Next page", "preview_next_page")
        self.hit_label = Label("", role="meta", tone="muted", object_name="preview_hit_number")
        self.previous_hit = LeftButton("chevron_right", "Previous passage", object_name="preview_previous_hit",
                                       shortcut="Shift+F3", size=26, icon_size=16)
        self.next_hit = button("chevron_right", "Next passage", "preview_next_hit", "F3")
        self.zoom_out = button("minus", "Smaller", "preview_zoom_out", "-")
        self.zoom_in = button("plus", "Larger", "preview_zoom_in", "+")
        self.zoom_fit = button("fit", "Fit to width", "preview_zoom_fit", "0")
        self.find_button = button("search", "Find in this text", "preview_find", "Ctrl+F")
        row.addWidget(self.page_label)
        row.addSpacing(4)
        row.addWidget(self.previous_page)
        row.addWidget(self.next_page)
        row.addStretch(1)
        row.addWidget(self.previous_hit)
        row.addWidget(self.hit_label)
        row.addWidget(self.next_hit)
        row.addStretch(1)
        for last in (self.find_button, self.zoom_out, self.zoom_in, self.zoom_fit):
            row.addWidget(last)
        self.setMinimumHeight(theme.height(36, padding=12))

    def buttons(self) -> list[IconButton]:
        """Gives the buttons in the order of Tab."""
        return [self.previous_page, self.next_page, self.previous_hit, self.next_hit, self.find_button, self.zoom_out,
                self.zoom_in, self.zoom_fit]

    def set_hits(self, number: int, count: int) -> None:
        """Shows which passage of how many; nothing for a single one."""
        several = count > 1
        self._hits = (f"Passage {number + 1} of {count}", f"{number + 1} of {count}") if several else ("",)
        self.hit_label.setAccessibleName(self._hits[0])
        for widget in (self.hit_label, self.previous_hit, self.next_hit):
            widget.setVisible(several)
        self.previous_hit.setEnabled(number > 0)
        self.next_hit.setEnabled(number < count - 1)

    def set_page_words(self, *words: str) -> None:
        """Shows words for the page, longest first; the longest that fits is taken."""
        self._pages = words
        self.page_label.setAccessibleName(words[0])
        self.fit()

    def fit(self) -> None:
        """Shows whole words where there is room, else figures alone; a screen reader always hears the words."""
        room = self.width() - 16 - 8 - 12 - sum(26 for button in self.buttons() if not button.isHidden())
        body, meta = self._theme.metrics("body"), self._theme.metrics("meta")
        pages, hits = self._pages, self._hits
        for page, found in ((pages[0], hits[0]), (pages[0], hits[-1]), (pages[-1], hits[-1])):
            self.page_label.setText(page)
            self.hit_label.setText(found)
            if body.horizontalAdvance(page) + meta.horizontalAdvance(found) <= room:
                break


class FindBar(QWidget):
    """Words to find in the text shown. ``wanted(words, step)``: +1 next, -1 previous, 0 from here on."""

    wanted = Signal(str, int)
    closed = Signal()

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 4, 8, 4)
        row.setSpacing(4)
        self.box = SearchBox("Find in this text", object_name="preview_find_words", accessible="Find in this text",
                             height=28, role="body")
        self.count = Label("", role="meta", tone="muted", object_name="preview_find_count")
        self.previous = IconButton("up", "Previous match", object_name="preview_find_previous", shortcut="Shift+Enter",
                                   size=26, icon_size=16)
        self.next = IconButton("down", "Next match", object_name="preview_find_next", shortcut="Enter", size=26,
                               icon_size=16)
        self.close_button = IconButton("close", "Close", object_name="preview_find_close", shortcut="Esc", size=26,
                                       icon_size=16)
        row.addWidget(self.box, 1)
        for widget in (self.count, self.previous, self.next, self.close_button):
            row.addWidget(widget)
        self.box.textChanged.connect(lambda text: self.wanted.emit(text, 0))
        self.previous.clicked.connect(lambda: self.wanted.emit(self.box.text(), -1))
        self.next.clicked.connect(lambda: self.wanted.emit(self.box.text(), 1))
        self.close_button.clicked.connect(self.closed)
        self.box.edit.installEventFilter(self)
        self.hide()

    def open(self) -> None:
        """Shows itself and takes the words."""
        self.show()
        self.box.edit.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.box.edit.selectAll()

    def show_count(self, at: int, count: int) -> None:
        """Says which match of how many is shown."""
        text = f"{at} of {count:,}" if count else ("not found" if self.box.text() else "")
        self.count.setText(text)
        announce(self.count, text)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Takes Enter and Escape from the line."""
        if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                back = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
                self.wanted.emit(self.box.text(), -1 if back else 1)
                return True
            if event.key() == Qt.Key.Key_Escape:
                self.closed.emit()
                return True
        return super().eventFilter(watched, event)
