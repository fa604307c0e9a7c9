"""The line edit with a magnifier and a clear button."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QRect, QSize, Qt, Signal
from PySide6.QtGui import QDragEnterEvent, QPainter, QPaintEvent, QResizeEvent, QShowEvent, QWheelEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLineEdit, QSizePolicy, QSpinBox, QWidget

from sbert_desktop.ui import icons
from sbert_desktop.ui.theme import RADIUS, theme
from sbert_desktop.ui.widgets.buttons import IconButton
from sbert_desktop.ui.widgets.painting import name, paint_box


class _Edit(QLineEdit):
    """A line edit that leaves dropped files to the window."""

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if event.mimeData().hasUrls():
            event.ignore()
        else:
            super().dragEnterEvent(event)


class NumberBox(QSpinBox):
    """A whole number typed or stepped with the arrow keys; painted by us (style sheets hide its text).

    The wheel is left to the page that scrolls.
    """

    def __init__(self, *, object_name: str, accessible: str, unit: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        name(self, object_name, accessible)
        self.setButtonSymbols(QSpinBox.ButtonSymbols.NoButtons)
        self.setFrame(False)
        self.setGroupSeparatorShown(True)
        self.setSuffix(f" {unit}" if unit else "")
        self.setKeyboardTracking(False)  # a half-typed number is no choice yet
        self.setAlignment(Qt.AlignmentFlag.AlignRight)
        edit = self.lineEdit()
        edit.setObjectName(f"{object_name}_edit")
        edit.setAccessibleName(accessible)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        return QSize(max(160, theme.metrics().horizontalAdvance("10,000,000 passages") + 20),
                     theme.height(28, padding=10))

    minimumSizeHint = sizeHint

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._inset()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        self._inset()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._inset()

    def _inset(self) -> None:
        # Qt lays the edit over the whole box; the edge that is painted below must stay visible
        self.lineEdit().setGeometry(self.rect().adjusted(2, 2, -2, -2))

    def paintEvent(self, event: QPaintEvent) -> None:
        focused = self.hasFocus()
        paint_box(QPainter(self), self.rect(), "raised", "accent" if focused else "muted", RADIUS, 2 if focused else 1)


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
        self.edit = _Edit(self)
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
