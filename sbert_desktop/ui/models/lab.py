"""The lab below the table of models: what was measured of them, and the measuring itself."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from sbert_desktop.app.training_views import LabRow, LabView
from sbert_desktop.app.views import ModelView
from sbert_desktop.domain import Failure, Finished, Outcome, Progress
from sbert_desktop.ui import words
from sbert_desktop.ui.bridge import Latest
from sbert_desktop.ui.models.lab_plots import Plots
from sbert_desktop.ui.models.lab_sheet import LabSheet, Measurement, expected_seconds
from sbert_desktop.ui.models.lab_table import LabTable
from sbert_desktop.ui.models.words import SECOND, measured_on, plain
from sbert_desktop.ui.page import Desk, failure_text
from sbert_desktop.ui.saving import ask_target
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.widgets import (
    Button,
    Card,
    ElidedLabel,
    FlowLayout,
    Label,
    Notice,
    ProgressBar,
    announce,
    name,
    plain_tip,
)

UNMEASURED = ("Which of your models finds things best, and which is quickest? The lab measures it on this computer, "
              "with what you judged yourself or with a file of yours.")


class Lab(QWidget):
    """Head, plots or table, and the states around them. ``rowsChanged``: other figures are known."""

    rowsChanged = Signal()
    modelChosen = Signal(str)

    def __init__(self, desk: Desk, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        name(self, "lab", "Lab")
        self._desk = desk
        self._latest = Latest(desk.bridge)
        self._measuring: Measurement | None = None
        self._before: Measurement | None = None
        self._began = self._last = 0.0
        self._seen: set[tuple[str, str]] = set()
        self._took: dict[str, float] = {}
        self._models: tuple[ModelView, ...] = ()
        self._model = ""
        self._marks: dict[str, str] = {}
        self.view: LabView | None = None
        self._said = -1
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 24, 0, 24)
        column.setSpacing(8)
        column.addWidget(self._make_head())
        column.addWidget(self._make_progress())
        self.notice = Notice("lab_failed")
        self._pad(column, self.notice)
        self.empty = self._make_empty()
        self.plots = Plots()
        self.plots.chosen.connect(self.modelChosen)
        self.table = LabTable()
        for widget in (self.empty, self.plots, self.table):
            column.addWidget(widget)
        self.notes = Label("", role="meta", tone="muted", wrap=True, object_name="lab_notes")
        self.notes.setContentsMargins(16, 8, 16, 0)
        column.addWidget(self.notes)
        self._show()

    # ---- parts

    @staticmethod
    def _pad(column: QVBoxLayout, widget: QWidget) -> None:
        row = QHBoxLayout()
        row.setContentsMargins(16, 0, 16, 0)
        row.addWidget(widget)
        column.addLayout(row)

    def _make_head(self) -> QWidget:
        head = QWidget()
        head.setObjectName("lab_head")
        row = QHBoxLayout(head)
        row.setContentsMargins(16, 0, 16, 0)
        row.setSpacing(12)
        row.addWidget(Label("Lab", role="section", object_name="lab_title"))
        self.data = ElidedLabel(tone="muted", object_name="lab_data_words")
        row.addWidget(self.data, 1)
        self._buttons_row = row
        self.as_table = Button("Show as table", size="small", icon="table", object_name="lab_as_table")
        self._tabular = False
        self.export = Button("Export...", size="small", icon="export", object_name="lab_export",
                             tip="Write all figures as a table of comma-separated values")
        self.measure = Button("Measure...", size="small", icon="play", object_name="lab_measure_again")
        self._head_buttons = (self.as_table, self.export, self.measure)
        for button in self._head_buttons:
            row.addWidget(button)
        self._below = QWidget()
        self._below.setObjectName("lab_head_below")
        FlowLayout(self._below, gap=8).setContentsMargins(16, 0, 16, 0)
        self._below.hide()
        self.as_table.clicked.connect(lambda: self.show_as_table(not self._tabular))
        self.export.clicked.connect(self.export_table)
        self.measure.clicked.connect(self.ask)
        both = QWidget()
        both.setObjectName("lab_head_both")
        column = QVBoxLayout(both)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addWidget(head)
        column.addWidget(self._below)
        return both

    def _make_progress(self) -> QWidget:
        self.progress = QWidget()
        self.progress.setObjectName("lab_progress")
        outer = QHBoxLayout(self.progress)
        outer.setContentsMargins(16, 0, 16, 0)
        card = Card()
        name(card, "lab_progress_card", "Measuring")
        row = QHBoxLayout(card)
        row.setContentsMargins(12, 8, 8, 8)
        row.setSpacing(12)
        self.progress_words = ElidedLabel(object_name="lab_progress_words")
        self.bar = ProgressBar(object_name="lab_progress_bar", accessible="Measuring models")
        self.bar.setFixedWidth(120)
        self.stop = Button("Cancel", size="small", object_name="lab_cancel", tip="What was measured so far stays")
        row.addWidget(self.progress_words, 1)
        row.addWidget(self.bar)
        row.addWidget(self.stop)
        outer.addWidget(card)
        self.stop.clicked.connect(self.cancel)
        self.progress.hide()
        return self.progress

    def _make_empty(self) -> QWidget:
        empty = QWidget()
        empty.setObjectName("lab_empty")
        column = QVBoxLayout(empty)
        column.setContentsMargins(16, 0, 16, 0)
        column.setSpacing(12)
        self.empty_words = Label(UNMEASURED, tone="muted", wrap=True, object_name="lab_empty_words")
        self.first = Button("Measure...", kind="primary", icon="play", object_name="lab_first")
        self.first.clicked.connect(self.ask)
        column.addWidget(self.empty_words)
        column.addWidget(self.first, 0, Qt.AlignmentFlag.AlignLeft)
        column.addStretch(1)
        return empty

    # ---- asking and measuring

    def load(self) -> None:
        """Asks for what was measured last."""
        if self._desk.can("lab_results"):
            self._desk.bridge.watch(self._desk.commands.lab_results(), on_finished=self._on_results)

    def busy(self) -> bool:
        """True while models are measured."""
        return self._measuring is not None

    def ask(self) -> None:
        """Asks what to measure."""
        if self.busy() or not self._models:
            return
        sheet = self.window().findChild(LabSheet, "lab_sheet")
        if sheet is None:
            sheet = LabSheet(self.window())
            sheet.wanted.connect(self.run)
        sheet.ask(self._models, before=self._before, took=self._took)

    def run(self, wanted: Measurement) -> None:
        """Measures."""
        if self.busy():
            return
        self._measuring = self._before = wanted
        self._began = self._last = time.monotonic()
        self._seen = set()
        self._said = -1
        self.notice.hide()
        self.bar.set_fraction(None)
        self.progress_words.set_full_text("Preparing")
        self.progress.show()
        self._show()
        self._latest.watch(self._desk.commands.lab(wanted.models, wanted.data, wanted.ways),
                           on_progress=self._on_progress, on_partial=self._on_partial, on_finished=self._on_finished)

    def cancel(self) -> None:
        """Stops measuring; what was measured so far stays on the page."""
        if self._latest.job is not None and self.busy():
            self._desk.commands.cancel(self._latest.job)
            self.progress_words.set_full_text("Stopping...")

    def _on_progress(self, progress: Progress) -> None:
        known = bool(progress.total)
        self.bar.set_fraction(progress.done / progress.total if progress.total else None)
        far = f": {words.count(progress.done)} of {words.count(progress.total)}" if known and progress.total else ""
        detail = f", {progress.detail}" if progress.detail else ""
        self.progress_words.set_full_text(f"{progress.phase or 'Measuring'}{far}{detail}")
        quarter = 4 * progress.done // progress.total if progress.total else 0
        if quarter != self._said:
            self._said = quarter
            announce(self.bar, self.progress_words.full_text())

    def _on_partial(self, result: object) -> None:
        if isinstance(result, LabView):
            self._note_times(result)
            self._take(result)

    def _note_times(self, view: LabView) -> None:
        now = time.monotonic()
        for row in view.rows:
            key = (row.model, row.way)
            if key not in self._seen:
                self._seen.add(key)
                if plain(row) and self._measuring is not None and self._measuring.judged:
                    self._took[row.model] = max(1.0, now - self._last)
                self._last = now

    def _on_finished(self, finished: Finished) -> None:
        wanted, self._measuring = self._measuring, None
        self._latest.job = None
        self.progress.hide()
        if isinstance(finished.result, LabView):
            self._take(finished.result)
        if finished.outcome is Outcome.FAILED and finished.failure is not None:
            self._show_failure(finished.failure)
        elif finished.outcome is Outcome.CANCELLED:
            some = len(self._seen)
            self._desk.toast(f"Stopped; {words.counted(some, 'row')} measured" if some else "Nothing was measured")
        elif isinstance(finished.result, LabView):
            announce(self, f"Measured. {measured_on(finished.result)}")
            notes = finished.result.notes
            if wanted is not None and wanted.judged and notes and all(row.quality is None for row in
                                                                      finished.result.rows):
                self.notice.show_text(f"Only speed and size could be measured. {notes[0]}", action="Choose a file...",
                                      run=self._ask_with_file)
        self._show()

    def _show_failure(self, failure: Failure) -> None:
        what = "Not all was measured" if self._seen else "Nothing was measured"
        self.notice.show_text(f"{what}. {failure_text(failure)}", action="Measure...", run=self.ask)

    def _ask_with_file(self) -> None:
        self.ask()
        sheet = self.window().findChild(LabSheet, "lab_sheet")
        if sheet is not None and sheet.isVisible():
            sheet.choose_file()

    def _on_results(self, finished: Finished) -> None:
        if isinstance(finished.result, LabView) and not self.busy():
            self._take(finished.result)

    # ---- showing

    def set_models(self, models: Sequence[ModelView], *, marks: Mapping[str, str], chosen: str) -> None:
        """Tells which models there are, what stands below their names, and which one is chosen on the page."""
        self._models = tuple(model for model in models
                             if model.kind != SECOND and model.state in ("ready", "preparing"))
        self._marks, self._model = dict(marks), chosen
        self._show()

    def choose(self, model: str) -> None:
        """Shows the ways to use another model."""
        if model != self._model:
            self._model = model
            self._show_plots()

    def speeds(self) -> dict[str, float]:
        """Gives passages per second of each model that was measured as it is."""
        rows = self.view.rows if self.view is not None else ()
        return {row.model: row.speed for row in rows if plain(row) and row.speed}

    def took(self) -> dict[str, float]:
        """Gives how many seconds each model took here, to be remembered."""
        return dict(self._took)

    def set_took(self, took: Mapping[str, float]) -> None:
        """Takes back what :meth:`took` gave."""
        self._took = dict(took)
        self._show()

    def _take(self, view: LabView) -> None:
        self.view = view
        self._show()
        self.rowsChanged.emit()

    def _show(self) -> None:
        rows = self.view.rows if self.view is not None else ()
        self.data.set_full_text(measured_on(self.view) if self.view is not None and rows else "")
        for button in (self.as_table, self.measure):
            button.setVisible(bool(rows))
        self.export.setVisible(bool(rows) and self._tabular and self._desk.can("export_lab"))
        self.measure.setText("Measure again")
        may = not self.busy() and bool(self._models)
        self.measure.setEnabled(may)
        self.first.setVisible(not self.busy())
        self.first.setEnabled(may)
        usual = Measurement(tuple(model.name for model in self._models))
        long = words.duration(expected_seconds(self._before or usual, self._took))
        self.first.setText(f"Measure, about {long}...")
        self.measure.setToolTip(plain_tip(f"As before, it takes about {long}"))
        self.empty_words.setText("The first figures stand here as soon as they are known." if self.busy() else
                                 UNMEASURED)
        self.table.set_rows(rows)
        self._show_plots()
        self.notes.setText(" ".join(self.view.notes) if self.view is not None else "")
        self.notes.setVisible(bool(self.notes.text()))
        self._show_front()
        self._fit_head()

    def _show_plots(self) -> None:
        rows: Sequence[LabRow] = self.view.rows if self.view is not None else ()
        self.plots.show_rows(rows, model=self._model, marks=self._marks)
        self._show_front()

    def show_as_table(self, tabular: bool) -> None:
        """Shows the figures as a table, or as plots."""
        self._tabular = tabular
        self.as_table.setText("Show as plots" if tabular else "Show as table")
        self.as_table.set_icon("gauge" if tabular else "table")
        self._show()

    def _show_front(self) -> None:
        rows = self.view.rows if self.view is not None else ()
        front = self.empty if not rows else self.table if self._tabular else self.plots
        for widget in (self.empty, self.plots, self.table):  # no stack: what is behind must not make the page high
            widget.setVisible(widget is front)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_head()

    def _fit_head(self) -> None:
        flow = self._below.layout()
        assert flow is not None
        needed = 32 + 60 + 120 + sum(b.sizeHint().width() + 12 for b in self._head_buttons if not b.isHidden())
        wide = self.width() >= needed or theme.text_scale <= 100
        if wide == (self._buttons_row.indexOf(self.measure) >= 0):
            return
        for button in self._head_buttons:
            hidden = button.isHidden()
            (flow if wide else self._buttons_row).removeWidget(button)
            (self._buttons_row if wide else flow).addWidget(button)
            button.setHidden(hidden)
        self._below.setVisible(not wide)

    # ---- export

    def export_table(self) -> None:
        """Asks for a file and writes all figures."""
        view = self.view
        if view is None:
            return
        target = ask_target(self, "Export what the lab measured", "lab.csv", (("Table", ".csv"),))
        if target is None:
            return

        def done(result: object) -> None:
            place = result if isinstance(result, Path) else target
            self._desk.toast(f"Wrote {place.name}", action="Show" if self._desk.can("reveal") else "",
                             run=(lambda: self._desk.start(self._desk.commands.reveal(place))))

        self._desk.start(self._desk.commands.export_lab(replace(view), target), done)
