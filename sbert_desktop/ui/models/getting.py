"""The strip over the table of models while one is being added: how far, Cancel, and why it failed."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from sbert_desktop.domain import Finished, Outcome, Progress
from sbert_desktop.ui import words
from sbert_desktop.ui.bridge import Latest
from sbert_desktop.ui.naming import quick_path
from sbert_desktop.ui.page import Desk, failure_text
from sbert_desktop.ui.widgets import Button, Card, ElidedLabel, Notice, ProgressBar, announce, name


class Getting(QWidget):
    """Adds one model at a time; ``added(models)`` is called with the new list. ``changed``: it is further, or ended."""

    changed = Signal()

    def __init__(self, desk: Desk, added: Callable[[tuple[object, ...], str], object],
                 parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("models_getting")
        self._desk, self._added = desk, added
        self._latest = Latest(desk.bridge)
        self._source = ""
        self._said = -1
        self._again = ""
        self._fraction = 0.0
        self._arrived = 0  # bytes that came from the hub
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 12, 16, 12)
        column.setSpacing(8)
        self.card = Card()
        name(self.card, "models_getting_card", "Adding a model")
        row = QHBoxLayout(self.card)
        row.setContentsMargins(12, 8, 8, 8)
        row.setSpacing(12)
        self.label = ElidedLabel(object_name="models_getting_text")
        self.bar = ProgressBar(object_name="models_getting_bar", accessible="Adding a model")
        self.bar.setFixedWidth(120)
        self.cancel = Button("Cancel", size="small", object_name="models_getting_cancel")
        row.addWidget(self.label, 1)
        row.addWidget(self.bar)
        row.addWidget(self.cancel)
        self.notice = Notice("models_getting_failed")
        column.addWidget(self.card)
        column.addWidget(self.notice)
        self.notice.close_button.clicked.connect(lambda: self.setVisible(self.busy()))
        self.cancel.clicked.connect(self._on_cancel)
        self.hide()

    def busy(self) -> bool:
        """True while a model is being added."""
        return self._latest.job is not None

    def coming(self) -> tuple[str, float] | None:
        """Gives name and fraction of the model on its way; None while there is none."""
        return (self._title(), self._fraction) if self.busy() else None

    def add(self, source: str, *, again: str = "") -> None:
        """Adds a model from a folder or by its name at the hub; ``again``: in place of the one so called."""
        if self.busy():
            self._desk.toast("One model at a time: wait for the one that is being added, or cancel it")
            return
        self._source, self._again, self._said = source, again, -1
        self._fraction, self._arrived = 0.0, 0
        self.notice.hide()
        self.card.show()
        self.show()
        self.bar.set_fraction(None)
        self.label.set_full_text(f"Adding {self._title()}")
        job = self._desk.commands.add_model(source, again=again)
        self._latest.watch(job, on_progress=self._on_progress, on_finished=self._on_finished)
        self.changed.emit()

    def stop(self) -> None:
        """Stops what is being added."""
        self._on_cancel()

    def _title(self) -> str:
        if self._again:
            return self._again
        return quick_path(self._source.rstrip("/\\").replace("\\", "/").rpartition("/")[2] or self._source)

    def _on_progress(self, progress: Progress) -> None:
        known = progress.total is not None and progress.total > 0
        self.bar.set_fraction(progress.done / progress.total if known and progress.total else None)
        if known and progress.total:
            before, self._fraction = self._fraction, progress.done / progress.total
            self._arrived = progress.done if self._from_hub() else 0
            if int(100 * before) != int(100 * self._fraction):
                self.changed.emit()
        far = ""
        if known and progress.total:
            far = f": {words.size(progress.done)} of {words.size(progress.total)}" if progress.total > 100_000 else \
                f": {words.count(progress.done)} of {words.count(progress.total)}"
            quarter = 4 * progress.done // progress.total
            if quarter != self._said:
                self._said = quarter
                announce(self.bar, f"{self._title()}{far}")
        self.label.set_full_text(f"{self._title()}, {progress.phase}{far}" if progress.phase else
                                 f"{self._title()}{far}")

    def _on_cancel(self) -> None:
        if self._latest.job is not None:
            self._desk.commands.cancel(self._latest.job)
            self.label.set_full_text("Cancelling...")

    def _from_hub(self) -> bool:
        return not self._source.startswith(("/", "\\")) and self._source[1:2] != ":"

    def _on_finished(self, finished: Finished) -> None:
        self._latest.job = None
        self.card.hide()
        source, again = self._source, self._again
        if finished.outcome is Outcome.FAILED and finished.failure is not None:
            lost = self._arrived and finished.failure.code == "fetch-failed"
            kept = f" The {words.size(self._arrived)} that arrived are kept." if lost else ""
            self.notice.show_text(f"{self._title()} was not added. {failure_text(finished.failure)}{kept}",
                                  action="Go on" if lost else "Try again",
                                  run=lambda: self.add(source, again=again))
            self.changed.emit()
            return
        self.hide()
        if finished.outcome is Outcome.CANCELLED:
            if self._arrived:
                self._desk.toast(f"Stopped; the {words.size(self._arrived)} of {self._title()} that arrived are kept "
                                 "for a day", action="Go on", run=lambda: self.add(source, again=again))
            else:
                self._desk.toast(f"{self._title()} was not added; nothing of it is kept")
        elif isinstance(finished.result, tuple):
            self._added(finished.result, self._title())
        self.changed.emit()
