"""What the indexing run under way does: files, speed, time left, and its switches."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from sbert_desktop.app.views import IndexProgress
from sbert_desktop.domain import short_path
from sbert_desktop.settings import BY_KEY
from sbert_desktop.ui import words
from sbert_desktop.ui.page import Desk
from sbert_desktop.ui.status_bar import fraction, run_text
from sbert_desktop.ui.widgets import Button, Card, ComboBox, ElidedLabel, Label, ProgressBar, name, plain_tip


class ProgressPanel(Card):
    """Shown only while a run is under way."""

    def __init__(self, desk: Desk, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self._desk = desk
        name(self, "library_progress", "Indexing")
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 12, 16, 12)
        row.setSpacing(16)
        left = QVBoxLayout()
        left.setSpacing(6)
        head = QHBoxLayout()
        head.setSpacing(8)
        self.title = Label(role="strong", object_name="progress_title")
        self.speed = Label(role="meta", tone="muted", object_name="progress_speed")
        self.eta = Label(role="strong", object_name="progress_eta")
        head.addWidget(self.title)
        head.addWidget(self.speed)
        head.addStretch(1)
        head.addWidget(self.eta)
        left.addLayout(head)
        self.bar = ProgressBar(thickness=6, object_name="progress_bar", accessible="Indexing progress")
        left.addWidget(self.bar)
        self.current = ElidedLabel(mode=Qt.TextElideMode.ElideMiddle, role="meta", tone="muted",
                                   object_name="progress_current")
        left.addWidget(self.current)
        row.addLayout(left, 1)
        self.pace = ComboBox(object_name="progress_pace", accessible="Pace of indexing", caption="Pace")
        for key, text in (("auto", "automatic"), ("gentle", "gentle"), ("full", "full")):
            self.pace.addItem(text, key)
        self.pace.setToolTip(plain_tip(BY_KEY["indexing.pace"].help))
        self.pause = Button("Pause", icon="pause", object_name="progress_pause", tip="Pause or continue (Ctrl+.)")
        self.cancel = Button("Cancel", object_name="progress_cancel", tip="Stop here; what was read stays")
        buttons = QHBoxLayout()
        buttons.setSpacing(8)
        for widget in (self.pace, self.pause, self.cancel):
            buttons.addWidget(widget, 0, Qt.AlignmentFlag.AlignVCenter)
        row.addLayout(buttons)
        self.pause.clicked.connect(desk.pause)
        self.cancel.clicked.connect(desk.cancel_index)
        self.pace.activated.connect(lambda at: desk.set_pace(str(self.pace.itemData(at))))
        desk.settingChanged.connect(self._on_setting_changed)
        self._on_setting_changed("indexing.pace")

    def set_progress(self, progress: IndexProgress) -> None:
        """Shows a run's progress."""
        self.title.setText(run_text(progress))
        speed = words.count(round(progress.passages_per_second))
        self.speed.setText("" if progress.paused or not progress.passages_per_second else f"{speed} passages/s")
        self.speed.setToolTip(plain_tip(f"{words.count(round(progress.tokens_per_second))} tokens/s"))
        self.eta.setText("" if progress.paused else words.left(progress.seconds_left))
        self.bar.set_fraction(fraction(progress))
        self.bar.set_paused(progress.paused)
        verb = "Next" if progress.paused else "Reading"
        self.current.set_full_text(f"{verb} {short_path(progress.current)}" if progress.current else "")
        self.pause.setText("Continue" if progress.paused else "Pause")
        self.pause.set_icon("play" if progress.paused else "pause")

    def _on_setting_changed(self, key: str) -> None:
        if key == "indexing.pace":
            self.pace.setCurrentIndex(max(0, self.pace.findData(self._desk.settings.text(key))))
