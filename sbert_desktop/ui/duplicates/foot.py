"""The foot of the Duplicates page: what is ticked, export, and the one button that says what will happen."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from sbert_desktop.domain import Progress
from sbert_desktop.ui import words
from sbert_desktop.ui.duplicates.selection import Total
from sbert_desktop.ui.naming import quick_path
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.widgets import Button, ElidedLabel, Label, Panel, ProgressBar, announce, name


def move_words(total: Total) -> str:
    """Gives what the primary button says."""
    if not total.files:
        return "Nothing ticked"
    return f"Move {words.counted(total.files, 'file')} to the trash, {words.size(total.bytes)}"


def short_words(total: Total) -> str:
    """Gives the same for a button that has little room."""
    return f"Move {words.count(total.files)} to the trash, {words.size(total.bytes)}" if total.files else \
        "Nothing ticked"


def ticked_words(total: Total, groups: int) -> str:
    """Gives what is ticked in a sentence."""
    if not total.files:
        return f"Nothing ticked in {words.counted(groups, 'group')}. One file always stays."
    return f"{words.count(total.files)} ticked in {words.count(total.groups)} of " \
           f"{words.counted(groups, 'group')}. One file always stays."


class Foot(Panel):
    """``moveWanted``, ``exportWanted``, ``cancelWanted``."""

    moveWanted = Signal()
    exportWanted = Signal()
    cancelWanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("surface", lines="top", parent=parent)
        name(self, "duplicates_foot", "What is ticked")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 1, 0, 0)
        self.stack = QStackedWidget()
        self.stack.setObjectName("duplicates_foot_stack")
        column.addWidget(self.stack)
        self.still = QWidget()
        row = QHBoxLayout(self.still)
        row.setContentsMargins(16, 0, 16, 0)
        row.setSpacing(12)
        self.label = Label("", role="meta", tone="muted", wrap=True, object_name="duplicates_ticked")
        self.export = Button("Export...", icon="export", size="large", object_name="duplicates_export",
                             tip="Write the groups as a table, JSON or a web page (Ctrl+S)")
        self.move_button = Button("Nothing ticked", kind="primary", icon="trash", size="large",
                                  object_name="duplicates_move")
        row.addWidget(self.label, 1000)
        row.addStretch(1)
        row.addWidget(self.export)
        row.addWidget(self.move_button)
        self.busy = QWidget()
        line = QHBoxLayout(self.busy)
        line.setContentsMargins(16, 0, 16, 0)
        line.setSpacing(12)
        self.doing = ElidedLabel(mode=Qt.TextElideMode.ElideMiddle, object_name="duplicates_moving")
        self.bar = ProgressBar(thickness=6, object_name="duplicates_moving_bar", accessible="Moving to the trash")
        self.bar.setFixedWidth(160)
        self.cancel = Button("Cancel", size="large", object_name="duplicates_moving_cancel",
                             tip="Stop after the file at hand; what was moved can be undone")
        line.addWidget(self.doing, 1)
        line.addWidget(self.bar)
        line.addWidget(self.cancel)
        self.stack.addWidget(self.still)
        self.stack.addWidget(self.busy)
        self._total, self._groups = Total(), 0
        self._said = ""
        self.export.clicked.connect(self.exportWanted)
        self.move_button.clicked.connect(self.moveWanted)
        self.cancel.clicked.connect(self.cancelWanted)
        theme.themeChanged.connect(self._fit)
        self._fit()

    def show_total(self, total: Total, groups: int, *, frozen: bool = False) -> None:
        """Says what is ticked; ``frozen``: an answer is awaited and nothing can be moved meanwhile."""
        self._total, self._groups = total, groups
        text = ticked_words(total, groups)
        self.label.setText(text)
        self.move_button.setEnabled(bool(total.files) and not frozen)
        self.export.setEnabled(groups > 0)
        self._share()
        if text != self._said:
            self._said = text
            announce(self.label, text)

    def show_moving(self, progress: Progress | None, total: int, *, back: bool = False) -> None:
        """Shows how far the clean-up (or bringing back) is."""
        self.stack.setCurrentWidget(self.busy)
        verb = "Bringing back" if back else "Moving to the trash"
        self.cancel.setEnabled(True)
        if progress is None:
            self.bar.set_fraction(0.0)
            self.doing.set_full_text(f"{verb}: {words.counted(total, 'file')}")
            announce(self.doing, self.doing.full_text())
            return
        whole = progress.total or total
        self.bar.set_fraction(progress.done / whole if whole else None)
        detail = f": {quick_path(progress.detail)}" if progress.detail else ""
        number = words.count(min(progress.done + 1, whole))
        self.doing.set_full_text(f"{verb}, {number} of {words.count(whole)}{detail}")

    def show_stopping(self) -> None:
        """Says that it ends after the file at hand."""
        self.cancel.setEnabled(False)
        self.doing.set_full_text("Stopping after this file...")

    def show_still(self) -> None:
        """Shows the buttons again."""
        self.stack.setCurrentWidget(self.still)

    def is_busy(self) -> bool:
        """True while files are moved."""
        return self.stack.currentWidget() is self.busy

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._share()

    def _share(self) -> None:
        # the button with the words stays whole; where it gets narrow, first the sentence wraps, then Export is an icon
        long = theme.metrics("medium").horizontalAdvance(move_words(self._total)) + 64
        little = self.width() < long + 100
        self.move_button.setText(short_words(self._total) if little else move_words(self._total))
        self.move_button.setAccessibleName(move_words(self._total))
        needed = self.move_button.sizeHint().width() + 56
        full = needed + self.label.fontMetrics().horizontalAdvance("00,000 ticked in 0,000 of") + 12
        text = "Export..." if self.width() >= full + 140 else ""
        if self.export.label() != text:
            self.export.setText(text)
            self.export.setAccessibleName("Export...")
        self.label.setVisible(self.width() >= full + 60)

    def _fit(self) -> None:
        self.setFixedHeight(max(60, theme.height(36, padding=16) + 24))
        self._share()
