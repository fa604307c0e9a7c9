"""The bar at the foot of the window: what runs, how far, and what answers."""

from __future__ import annotations

import time

from PySide6.QtCore import Signal
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QWidget

from sbert_desktop.app.views import IndexProgress, LibraryView
from sbert_desktop.settings import BY_KEY, Settings
from sbert_desktop.ui import icons, words
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.widgets import (
    Button,
    ComboBox,
    ElidedLabel,
    IconButton,
    Label,
    Line,
    Panel,
    ProgressBar,
    announce,
    name,
    plain_tip,
)

STATES = {"ready": "", "preparing": "being prepared", "missing": "missing", "refused": "files changed"}


class _Sign(QWidget):
    """A small icon in a tone."""

    def __init__(self, icon: str, tone: str) -> None:
        super().__init__()
        self._icon, self._tone = icon, tone
        self.setFixedSize(16, 16)

    def show_sign(self, icon: str, tone: str) -> None:
        """Changes icon and tone."""
        self._icon, self._tone = icon, tone
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        icons.paint(QPainter(self), self._icon, self.rect(), self._tone)


class StatusBar(Panel):
    """Progress with Pause and pace on the left, model, device and passages on the right."""

    pauseClicked = Signal()
    paceChosen = Signal(str)
    inspectorToggled = Signal(bool)

    def __init__(self, settings: Settings | None = None, parent: QWidget | None = None) -> None:
        super().__init__("rail", lines="top", parent=parent)
        name(self, "status_bar", "Status")
        self._settings = settings
        self._progress: IndexProgress | None = None
        self._quarter = -1
        self._known = False
        self._taking_in = False
        self._checked_at: float | None = None
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 1, 8, 0)
        row.setSpacing(12)
        self.bar = ProgressBar(thickness=4, object_name="status_progress", accessible="Indexing progress")
        self.bar.setFixedWidth(120)
        self.sign = _Sign("check", "good")
        self.text = ElidedLabel(role="meta", object_name="status_text")
        self.speed = Label(role="meta", tone="muted", object_name="status_speed")
        self.eta = Label(role="meta", tone="muted", object_name="status_eta")
        self.pause = Button("Pause", kind="flat", size="small", icon="pause", object_name="status_pause")
        self.pause.clicked.connect(self.pauseClicked)
        self.pace = ComboBox(object_name="status_pace", accessible="Pace of indexing", flat=True, caption="Pace")
        for key, text in (("auto", "automatic"), ("gentle", "gentle"), ("full", "full")):
            self.pace.addItem(text, key)
        self.pace.setToolTip(plain_tip(BY_KEY["indexing.pace"].help))
        self.pace.activated.connect(lambda at: self.paceChosen.emit(str(self.pace.itemData(at))))
        self.notice = ElidedLabel(role="meta", tone="warn", object_name="status_notice")
        self.model = Label(role="meta", tone="muted", object_name="status_model")
        self.device = Label(role="meta", tone="muted", object_name="status_device")
        self.passages = Label(role="meta", tone="muted", object_name="status_passages")
        self.panel = IconButton("panel", "Preview", object_name="status_inspector", shortcut="Ctrl+I", checkable=True,
                                size=24, icon_size=16)
        self.panel.clicked.connect(lambda checked: self.inspectorToggled.emit(checked))
        self._lines = (Line(vertical=True, length=12), Line(vertical=True, length=12))
        left: tuple[QWidget, ...] = (self.bar, self.sign, self.text, self.speed, self.eta, self.pause, self.pace)
        for widget in left:
            row.addWidget(widget)
        row.addStretch(1)
        row.addWidget(self.notice)
        right: tuple[QWidget, ...] = (
            self.model, self._lines[0], self.device, self._lines[1], self.passages, self.panel)
        for widget in right:
            row.addWidget(widget)
        self.panel.setVisible(False)
        self._fit()
        theme.themeChanged.connect(self._fit)
        self.set_progress(None)
        self.set_library(None)

    def set_settings(self, settings: Settings) -> None:
        """Shows the pace in force."""
        self._settings = settings
        self.pace.setCurrentIndex(max(0, self.pace.findData(settings.text("indexing.pace"))))

    def set_progress(self, progress: IndexProgress | None, *, quiet: bool = False) -> None:
        """Shows a run; None when none is under way. A quiet one changes the sign and the words only."""
        if progress is not None and quiet:
            self._show_quiet(progress)
            return
        running = progress is not None
        was_running = self._progress is not None or self._taking_in
        self._taking_in = False
        self._progress = progress
        for widget in (self.bar, self.pause):
            widget.setVisible(running)
        self.sign.setVisible(not running)
        if progress is None:
            if was_running:
                self._checked_at = time.time()
                self._quarter = -1
            self._fit_width()
            return
        self.text.set_full_text(run_text(progress))
        speed = words.count(round(progress.passages_per_second))
        self.speed.setText("" if progress.paused or not progress.passages_per_second else f"{speed} passages/s")
        self.speed.setToolTip(plain_tip(f"{words.count(round(progress.tokens_per_second))} tokens/s"))
        self.eta.setText("" if progress.paused else words.left(progress.seconds_left))
        self._fit_width()
        self.pause.setText("Continue" if progress.paused else "Pause")
        self.pause.set_icon("play" if progress.paused else "pause")
        self.bar.set_paused(progress.paused)
        share = fraction(progress)
        self.bar.set_fraction(share)
        quarter = int(4 * (share or 0))
        if quarter != self._quarter:
            # a screen reader hears each quarter, not every file
            self._quarter = quarter
            announce(self, f"{self.text.full_text()}. {self.eta.text()}")

    def _show_quiet(self, progress: IndexProgress) -> None:
        self._taking_in = True
        self.sign.show_sign("refresh", "muted")
        self.sign.setVisible(True)
        total = progress.files_total
        self.text.set_full_text(f"Taking in {words.counted(total, 'changed file')}" if total
                                else "Looking for changes...")
        self._fit_width()

    def set_library(self, view: LibraryView | None) -> None:
        """Shows what the library holds and what answers."""
        known = self._known = view is not None
        for widget in (self.model, self.device, self.passages, *self._lines):
            widget.setVisible(known)
        self.notice.setVisible(False)
        if view is None:
            self.sign.setVisible(False)
            self.text.set_full_text("Opening the library...")
            return
        state = STATES.get(view.model.state, view.model.state)
        self.model.setText(f"{view.model.name}: {state}" if state else view.model.name)
        theme.set_tone(self.model, "warn" if view.model.state in ("missing", "refused") else "muted")
        self.model.setToolTip(plain_tip(view.model.note))
        self.device.setText(", ".join(part for part in (view.device, view.precision) if part))
        self.device.setToolTip(plain_tip(f"{view.backend} on {view.device}" if view.device else ""))
        self.passages.setText(words.counted(view.passages, "passage"))
        self.passages.setToolTip(plain_tip(f"{words.count(view.embedded)} also by meaning"))
        if view.notices:
            self.notice.set_full_text(view.notices[-1])
            self.notice.setVisible(True)
        if self._progress is None and not self._taking_in:
            self._show_idle(view)
        self._fit_width()

    def set_message(self, text: str, tone: str = "muted") -> None:
        """Shows one line instead of the idle state (the library could not be opened)."""
        self.sign.show_sign("warning" if tone in ("warn", "danger") else "clock", tone)
        self.sign.setVisible(True)
        self.text.set_full_text(text)

    def set_inspector(self, *, available: bool, shown: bool) -> None:
        """Shows the switch of the preview while the page in front has one."""
        self.panel.setVisible(available)
        self.panel.setChecked(shown)

    def _show_idle(self, view: LibraryView) -> None:
        if not view.folders:
            self.sign.setVisible(False)
            self.text.set_full_text("No folders yet")
            return
        away = [folder for folder in view.folders if folder.state == "offline"]
        self.sign.setVisible(True)
        if view.model.state in ("missing", "refused"):
            self.sign.show_sign("warning", "warn")
            self.text.set_full_text("Searching by words only: see Models")
            return
        if away:
            self.sign.show_sign("disk", "warn")
            self.text.set_full_text(f"{words.counted(len(away), 'folder')} not connected; the rest is up to date")
            return
        chosen = sum(folder.passages for folder in view.folders if folder.words_only)
        left = view.passages - view.embedded - chosen
        if left > 0:
            self.sign.show_sign("clock", "muted")
            self.text.set_full_text(f"{words.counted(left, 'passage')} findable by words only")
            return
        self.sign.show_sign("check", "good")
        if all(folder.watch == "live" for folder in view.folders):
            self.text.set_full_text("Kept up to date")
            return
        when = f", checked {words.ago(self._checked_at)}" if self._checked_at is not None else ""
        self.text.set_full_text(f"Up to date{when}")

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_width()

    def _fit_width(self) -> None:
        # what tells least goes first when the window is narrow; all of it stands elsewhere too
        width, grow = self.width(), theme.line("meta", 15) / 15
        running, known = self._progress is not None, self._known
        self.speed.setVisible(running and bool(self.speed.text()) and width >= 1180 * grow)
        self.pace.setVisible(running and width >= 1060 * grow)
        self.eta.setVisible(running and bool(self.eta.text()) and width >= 700 * grow)
        for widget in (self.device, self._lines[0]):
            widget.setVisible(known and bool(self.device.text()) and width >= 900 * grow)
        for widget in (self.model, self._lines[1]):
            widget.setVisible(known and width >= 800 * grow)
        text = self.text.sizeHint().width()
        self.text.setMinimumWidth(min(text, max(120, width // 3)))

    def _fit(self) -> None:
        self.setFixedHeight(theme.height(28, role="meta", padding=12))


def fraction(progress: IndexProgress) -> float | None:
    """Gives how far a run is in [0, 1]: half the files read, half the passages encoded; None if unknown."""
    if progress.note or (progress.files_total <= 0 and progress.passages_total <= 0):
        return None
    if progress.files_total <= 0:
        return progress.passages_done / progress.passages_total
    files = progress.files_done / progress.files_total
    if progress.passages_total <= 0:
        return files
    # encoding is nearly all of the work once every file has been read
    passages = progress.passages_done / progress.passages_total
    return min(files, passages) if progress.files_done < progress.files_total else passages


def run_text(progress: IndexProgress) -> str:
    """Gives what a run does now: ``Indexing 1,240 of 8,800 files``, or the step that has no count."""
    if progress.note and not progress.paused:
        return f"{progress.note}..."
    if progress.files_total <= 0 and progress.passages_total <= 0:
        return "Paused" if progress.paused else "Looking for changes..."
    if progress.preparing:
        doing = "Paused: preparing" if progress.paused else "Preparing"
        return f"{doing} {progress.preparing}: {progress_text(progress)}"
    return f"{'Paused at' if progress.paused else 'Indexing'} {progress_text(progress)}"


def progress_text(progress: IndexProgress) -> str:
    """Gives ``1,240 of 8,800 files``, or passages once every file has been read."""
    if progress.files_total <= 0 or (
            progress.files_done >= progress.files_total and progress.passages_done < progress.passages_total):
        return f"{words.count(progress.passages_done)} of {words.counted(progress.passages_total, 'passage')}"
    return f"{words.count(progress.files_done)} of {words.counted(progress.files_total, 'file')}"



