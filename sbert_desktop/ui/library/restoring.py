"""The line that offers what a daily copy holds and the library lacks."""

from __future__ import annotations

import datetime

from PySide6.QtWidgets import QHBoxLayout, QWidget

from sbert_desktop.app.keeping import in_words
from sbert_desktop.app.views import KeptView
from sbert_desktop.domain import Finished
from sbert_desktop.ui.bridge import Latest
from sbert_desktop.ui.page import Desk
from sbert_desktop.ui.widgets import Button, Label, announce, name


def day_words(day: str) -> str:
    """Gives a day as people write it, ``29 November 2026``."""
    date = datetime.date.fromisoformat(day)
    return f"{date.day} {date.strftime('%B %Y')}"


class RestoreLine(QWidget):
    """Hidden as long as no copy holds more than the library."""

    def __init__(self, desk: Desk, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        name(self, "health_kept", "Daily copy")
        self._desk = desk
        self._latest = Latest(desk.bridge)
        self._restoring = Latest(desk.bridge)
        self._found: KeptView | None = None
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 8)
        row.setSpacing(12)
        self.text = Label(wrap=True, object_name="health_kept_text")
        self.restore = Button("Bring back", icon="undo", object_name="health_restore",
                              tip="Adds what the copy holds; what is in the library stays as it is")
        row.addWidget(self.text, 1)
        row.addWidget(self.restore)
        self.restore.clicked.connect(self._on_restore)
        self.fit()

    def look(self) -> None:
        """Looks for a copy that holds more than the library."""
        if self._desk.can("kept_copy") and self._latest.job is None and self._restoring.job is None:
            self._latest.watch(self._desk.commands.kept_copy(), on_finished=self._on_looked)

    def _on_looked(self, finished: Finished) -> None:
        self._latest.job = None
        self._found = finished.result if isinstance(finished.result, KeptView) and finished.result.total else None
        self.fit()

    def _on_restore(self) -> None:
        if self._found is None or self._restoring.job is not None:
            return
        self._latest.drop()
        self.restore.setEnabled(False)
        self._restoring.watch(self._desk.commands.restore_kept(self._found.path), on_finished=self._on_restored)

    def _on_restored(self, finished: Finished) -> None:
        self._restoring.job = None
        self.restore.setEnabled(True)
        if self._desk.report_failure(finished):
            return
        self._found = None
        self.fit()
        if isinstance(finished.result, KeptView):
            self._desk.toast(f"Brought back: {in_words(finished.result)}")
            self._desk.shelf.refresh()

    def fit(self) -> None:
        """Shows itself where there is something to bring back."""
        found = self._found
        if found is not None:
            of = f" of {day_words(found.day)}" if found.day else ""
            self.text.setText(f"The copy{of} holds more than the library: {in_words(found)}.")
            announce(self, self.text.text())
        if self.parentWidget() is not None:  # alone it would be a window
            self.setVisible(found is not None)
