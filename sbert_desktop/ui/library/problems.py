"""The Problems tab: what could not be read, why, and what to do."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import cast

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QApplication, QFileDialog, QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from sbert_desktop.app.views import IndexProgress, ProblemView
from sbert_desktop.domain import Finished, Outcome, display_path, short_path
from sbert_desktop.ui import icons, words
from sbert_desktop.ui.bridge import Latest
from sbert_desktop.ui.library.tables import Column, Table
from sbert_desktop.ui.page import Desk, failure_text
from sbert_desktop.ui.widgets import (
    Button,
    ComboBox,
    ElidedLabel,
    EmptyState,
    IconButton,
    SkeletonList,
    announce,
    menu,
)


def _problem(row: object) -> ProblemView:
    return cast(ProblemView, row)


COLUMNS = (
    Column("File", lambda row: display_path(_problem(row).path.name), 256, icon=lambda row: icons.for_format(
        _problem(row).path.suffix[1:]), tip=lambda row: display_path(_problem(row).path)),
    Column("Folder", lambda row: short_path(_problem(row).path.parent), 216, tone="muted",
           elide=Qt.TextElideMode.ElideMiddle),
    Column("What happened", lambda row: _problem(row).message.rstrip("."), 240,
           tip=lambda row: f"{_problem(row).message} ({_problem(row).code})"),
    Column("What you can do", lambda row: _problem(row).hint.rstrip("."), 0, tone="muted",
           tip=lambda row: _problem(row).hint),
)


class ProblemsTab(QWidget):
    """Table with filters by kind and folder; open, show, copy details, export."""

    def __init__(self, desk: Desk, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("library_problems")
        self._desk = desk
        self._all: tuple[ProblemView, ...] = ()
        self._latest = Latest(desk.bridge)
        self._busy = False
        self._running = False
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 8, 0, 0)
        column.setSpacing(8)
        bar = QHBoxLayout()
        bar.setContentsMargins(16, 0, 16, 0)
        bar.setSpacing(8)
        self.kind = ComboBox(object_name="problems_kind", accessible="Kind of problem", caption="Kind")
        self.folder = ComboBox(object_name="problems_folder", accessible="Folder of problems", caption="Folder")
        self.sentence = ElidedLabel(role="meta", tone="muted", object_name="problems_count")
        self.open_button = IconButton("open", "Open the file", object_name="problems_open", shortcut="Enter")
        self.reveal_button = IconButton("reveal", "Show in file manager", object_name="problems_reveal",
                                        shortcut="Ctrl+Return")
        self.copy_button = IconButton("copy", "Copy details", object_name="problems_copy", shortcut="Ctrl+C")
        self.export = Button("Export", size="small", icon="export", object_name="problems_export",
                             tip="Save this list as a table (CSV)")
        bar.addWidget(self.kind)
        bar.addWidget(self.folder)
        bar.addWidget(self.sentence, 1)
        for button in (self.open_button, self.reveal_button, self.copy_button, self.export):
            bar.addWidget(button)
        column.addLayout(bar)
        self.stack = QStackedWidget()
        self.table = Table(COLUMNS, object_name="problems_table", accessible="Problems")
        self.none = EmptyState("No problems", "Every file could be read.", drawing="done", object_name="problems_none")
        self.filtered = EmptyState("No problem of this kind here", "", action="Show all problems", primary=False,
                                   drawing="nothing", object_name="problems_filtered")
        self.loading = SkeletonList(6, row_height=44, object_name="problems_loading")
        self.failed = EmptyState("The list could not be read", "", action="Try again", drawing="problem",
                                 object_name="problems_failed")
        for widget in (self.loading, self.table, self.none, self.filtered, self.failed):
            self.stack.addWidget(widget)
        column.addWidget(self.stack, 1)
        self.kind.activated.connect(lambda _: self._filter())
        self.folder.activated.connect(lambda _: self._filter())
        self.filtered.clicked.connect(self.show_all)
        self.failed.clicked.connect(self.reload)
        self.table.rowActivated.connect(self._open)
        self.table.menuAsked.connect(self._on_menu)
        self.table.currentRowChanged.connect(lambda _: self._fit_buttons())
        self.open_button.clicked.connect(lambda: self._with_row(self._open))
        self.reveal_button.clicked.connect(lambda: self._with_row(self._reveal))
        self.copy_button.clicked.connect(lambda: self._with_row(self._copy))
        self.export.clicked.connect(self._on_export)
        for keys, run in (("Ctrl+Return", self._reveal), ("Ctrl+C", self._copy)):
            shortcut = QShortcut(QKeySequence(keys), self.table)
            shortcut.setContext(Qt.ShortcutContext.WidgetShortcut)
            shortcut.activated.connect(lambda run=run: self._with_row(run))
        desk.indexProgressed.connect(self._on_index_progressed)
        self._on_index_progressed(desk.index_progress)
        self._fit_buttons()

    def _on_index_progressed(self, progress: IndexProgress | None) -> None:
        # "every file could be read" is a promise that only a finished run can give
        running = progress is not None
        if running != self._running:
            self._running = running
            self.none.set_texts(*(("No problems so far", "Files are still being read.") if running
                                  else ("No problems", "Every file could be read.")))

    def reload(self) -> None:
        """Asks for the list; many requests in a row become one."""
        if self._busy:
            return
        self._busy = True
        self._latest.watch(self._desk.commands.problems(), on_finished=self._on_finished)

    def show_folder(self, folder: Path) -> None:
        """Shows the problems of one folder only."""
        self.kind.setCurrentIndex(0)
        self.folder.setCurrentIndex(_find(self.folder, folder))
        self._filter()

    def show_all(self) -> None:
        """Clears both filters."""
        self.kind.setCurrentIndex(0)
        self.folder.setCurrentIndex(0)
        self._filter()

    def _on_finished(self, finished: Finished) -> None:
        self._busy = False
        if finished.outcome is Outcome.FAILED and finished.failure is not None:
            self.failed.set_texts("The list could not be read", failure_text(finished.failure))
            self.stack.setCurrentWidget(self.failed)
        elif isinstance(finished.result, tuple):
            self._all = finished.result
            self._fill_choices()
            self._filter()

    def _fill_choices(self) -> None:
        kinds: dict[str, int] = {}
        folders: dict[Path, int] = {}
        for problem in self._all:
            kinds[problem.message] = kinds.get(problem.message, 0) + 1
            folders[problem.folder] = folders.get(problem.folder, 0) + 1
        often = sorted(kinds.items(), key=lambda entry: -entry[1])
        for combo, entries in (
            (self.kind, [(f"{text.rstrip('.')} ({n})", text) for text, n in often]),
            (self.folder, [(f"{short_path(path)} ({n})", path) for path, n in folders.items()]),
        ):
            before = combo.currentData()
            combo.clear()
            combo.addItem("all", None)
            for text, value in entries:
                combo.addItem(text, value)
            combo.setCurrentIndex(_find(combo, before))
            combo.updateGeometry()

    def _filter(self) -> None:
        kind, folder = self.kind.currentData(), self.folder.currentData()
        rows = [problem for problem in self._all
                if (kind is None or problem.message == kind) and (folder is None or problem.folder == folder)]
        self.table.set_rows(rows)
        self.stack.setCurrentWidget(self.table if rows else self.filtered if self._all else self.none)
        partly = sum(problem.partial for problem in rows)
        text = f"{words.counted(len(rows), 'file')} could not be read" if rows else ""
        if rows and partly:
            text += f", {words.count(partly)} of them in part"
        self.sentence.set_full_text(f"{text}. The rest is searchable." if text else "")
        for widget in (self.kind, self.folder, self.export, self.open_button, self.reveal_button, self.copy_button):
            widget.setVisible(bool(self._all))
        announce(self.sentence, self.sentence.full_text())
        self._fit_buttons()

    def _fit_buttons(self) -> None:
        chosen = self.table.current_row() is not None
        for button in (self.open_button, self.reveal_button, self.copy_button):
            button.setEnabled(chosen)

    def _with_row(self, run: Callable[[object], None]) -> None:
        row = self.table.current_row()
        if row is not None:
            run(row)

    def _open(self, row: object) -> None:
        self._desk.start(self._desk.commands.open_file(_problem(row).path))

    def _reveal(self, row: object) -> None:
        self._desk.start(self._desk.commands.reveal(_problem(row).path))

    def _copy(self, row: object) -> None:
        problem = _problem(row)
        QApplication.clipboard().setText(
            f"{display_path(problem.path)}\n{problem.code}: {problem.message}\n{problem.hint}".strip())
        self._desk.toast("Details copied")

    def _on_menu(self, row: object, position: QPoint) -> None:
        made = menu(self, "problems_menu", "Problem")
        made.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        made.addAction(icons.icon("open", 16), "Open\tEnter", lambda: self._open(row))
        made.addAction(icons.icon("reveal", 16), "Show in file manager\tCtrl+Return", lambda: self._reveal(row))
        made.addAction(icons.icon("copy", 16), "Copy details\tCtrl+C", lambda: self._copy(row))
        made.popup(position)

    def _on_export(self) -> None:
        chosen, _ = QFileDialog.getSaveFileName(self, "Save the problems as a table", "problems.csv", "CSV (*.csv)")
        if chosen:
            self.export_to(Path(chosen))

    def export_to(self, file: Path) -> None:
        """Writes the rows now shown as CSV, in a thread."""
        text = to_csv([_problem(row) for row in self.table.rows_model.rows])

        def write() -> None:
            file.write_text(text, encoding="utf-8", newline="")

        self._desk.errands.run(write, lambda _: self._desk.toast(f"Saved {display_path(file.name)}"), lambda error:
                               self._desk.toast(f"{display_path(file)} could not be written ({error})."))


def _find(combo: ComboBox, value: object) -> int:
    # findData() compares Python objects by identity; the first entry stands for all
    return next((at for at in range(combo.count()) if combo.itemData(at) == value), 0)


def to_csv(problems: Sequence[ProblemView]) -> str:
    """Gives the problems as CSV; a cell can never be taken for a formula by a spreadsheet."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["path", "code", "what happened", "what you can do", "partly read"])
    for problem in problems:
        cells = [display_path(problem.path), problem.code, problem.message, problem.hint,
                 "yes" if problem.partial else "no"]
        writer.writerow([f"'{cell}" if cell[:1] in "=+-@" and cell else cell for cell in cells])
    return out.getvalue()
