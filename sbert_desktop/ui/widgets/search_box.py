"""The line edit with a magnifier and a clear button."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QRect, QSize, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLineEdit, QSizePolicy, QWidget

from sbert_desktop.ui import icons
from sbert_desktop.ui.theme import RADIUS, theme
from sbert_desktop.ui.widgets.buttons import IconButton
from sbert_desktop.ui.widgets.painting import name, paint_box


class SearchBox(QFrame):
    """A line edit in a frame of 40 px with a magnifier and a clear button.

    ``edit`` is the QLineEdit; ``submitted(text)`` on Enter; ``textChanged(text)`` while typing.
    """

    submitted = Signal(str)
    textChanged = Signal(str)

    def __init__(self, placeholder: str, *, object_name: str, accessible: str, height: int = 40, role: str = "search",
                 parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._height = height
        self.setObjectName(f"{object_name}_frame")
        self.edit = QLineEdit(self)
        self.edit.setProperty("bare", True)
        self.edit.setPlaceholderText(placeholder)
        self.edit.setFrame(False)
        theme.set_role(self.edit, role)
        name(self.edit, object_name, accessible, placeholder)
        self.clear_button = IconButton("close", "Clear", object_name=f"{object_name}_clear", size=24, icon_size=16)
        self.clear_button.setVisible(False)
        row = QHBoxLayout(self)
        row.setContentsMargins(38 if height >= 36 else 32, 2, 8 if height >= 36 else 4, 2)
        row.setSpacing(4)
        row.addWidget(self.edit, 1)
        row.addWidget(self.clear_button)
        self.setFocusProxy(self.edit)
        self.edit.installEventFilter(self)
        self.edit.textChanged.connect(self._on_text_changed)
        self.edit.returnPressed.connect(lambda: self.submitted.emit(self.edit.text()))
        self.clear_button.clicked.connect(self._on_clear_clicked)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def text(self) -> str:
        """Gives the words typed."""
        return self.edit.text()

    def set_text(self, text: str) -> None:
        """Puts words into the box."""
        self.edit.setText(text)

    def sizeHint(self) -> QSize:
        return QSize(320, theme.height(self._height, role="search" if self._height >= 36 else "body", padding=12))

    minimumSizeHint = sizeHint

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.FocusIn, QEvent.Type.FocusOut):
            self.update()
        return super().eventFilter(watched, event)

    def _on_text_changed(self, text: str) -> None:
        self.clear_button.setVisible(bool(text))
        self.textChanged.emit(text)

    def _on_clear_clicked(self) -> None:
        self.edit.clear()
        self.edit.setFocus()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        focused = self.edit.hasFocus()
        paint_box(painter, self.rect(), "raised", "accent" if focused else "muted", RADIUS, 2 if focused else 1)
        size = 18 if self._height >= 36 else 16
        left = 12 if self._height >= 36 else 8
        icons.paint(painter, "search", QRect(left, (self.height() - size) // 2, size, size),
                    "accent" if focused else "muted")
