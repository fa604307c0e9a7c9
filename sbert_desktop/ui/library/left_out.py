"""The tab of what the rules leave out: seen by a walk of the folders when the person asks."""

from __future__ import annotations

from collections.abc import Hashable
from functools import partial
from pathlib import Path
from typing import cast

from PySide6.QtCore import QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QApplication, QFileDialog, QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from sbert_desktop.app.views import LeftOut, LeftOutView
from sbert_desktop.domain import Finished, Outcome, display_path, short_path
from sbert_desktop.ui import icons, words
from sbert_desktop.ui.bridge import Latest
from sbert_desktop.ui.library.causes import REASONS, title_of_folder
from sbert_desktop.ui.library.chips import ChipRow
from sbert_desktop.ui.library.rules import edit_rules
from sbert_desktop.ui.library.tables import Column, Table
from sbert_desktop.ui.naming import kind_of, quick_path
from sbert_desktop.ui.page import Desk, failure_text
from sbert_desktop.ui.widgets import (
    Button,
    ElidedLabel,
    EmptyState,
    SearchBox,
    SkeletonList,
    announce,
    menu,
    no_mnemonic,
)


def _view(row: object) -> LeftOutView:
    return cast(LeftOutView, row)


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}".rstrip(".")


def reason_words(reason: str) -> str:
    """Gives a reason as a filter shows it."""
    return REASONS.get(reason, reason)


def _key(row: object) -> Hashable:
    return _view(row).path


COLUMNS = (
    Column("Name", lambda row: quick_path(_view(row).path.name), 288, elide=Qt.TextElideMode.ElideMiddle,
           icon=lambda row: "folder" if _view(row).is_folder else icons.for_format(kind_of(_view(row).path)),
           tip=lambda row: quick_path(_view(row).path)),
    Column("Folder", lambda row: short_path(_view(row).path.parent), 256, tone="muted",
           elide=Qt.TextElideMode.ElideMiddle),
    Column("Why", lambda row: _sentence(_view(row).message), 0, tip=lambda row: _view(row).message),
    Column("Leaves out", lambda row: "All inside" if _view(row).is_folder else "This file", 96, role="meta",
           tone="muted"),
)


class LeftOutTab(QWidget):
    """Counts by reason, table, Edit rules, Look again."""

    looked = Signal()

    def __init__(self, desk: Desk, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("library_left_out")
        self._desk = desk
        self._found: LeftOut | None = None
        self._stale = True
        self._latest = Latest(desk.bridge)
        self._build()
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(120)
        self._soon.timeout.connect(self._filter)
        self.search.textChanged.connect(lambda _: self._soon.start())
        self.reasons.changed.connect(lambda _: self._filter())
        self.look.clicked.connect(self.reload)
        self.failed.clicked.connect(self.reload)
        self.filtered.clicked.connect(self._clear)
        self.export.clicked.connect(self._on_export)
        self.rules.clicked.connect(self._on_rules)
        self.table.rowActivated.connect(self._reveal)
        self.table.menuAsked.connect(self._on_menu)
        copy = QShortcut(QKeySequence("Ctrl+C"), self.table)
        copy.setContext(Qt.ShortcutContext.WidgetShortcut)
        copy.activated.connect(lambda: self._copy(self.table.current_row()))

    def _build(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 8, 0, 0)
        column.setSpacing(8)
        head = QVBoxLayout()
        head.setContentsMargins(16, 0, 16, 0)
        head.setSpacing(8)
        first = QHBoxLayout()
        first.setSpacing(8)
        self.sentence = ElidedLabel(role="strong", object_name="left_out_count")
        self.rules = Button("Edit rules...", size="small", icon="filter", object_name="left_out_rules",
                            tip="Choose what of a folder is read")
        self.look = Button("Look again", size="small", icon="refresh", object_name="left_out_look",
                           tip="Go through the folders again")
        self.export = Button("Export CSV...", size="small", icon="export", object_name="left_out_export",
                             tip="Save the rows shown as a table")
        first.addWidget(self.sentence, 1)
        for button in (self.rules, self.look, self.export):
            first.addWidget(button)
        head.addLayout(first)
        second = QHBoxLayout()
        second.setSpacing(8)
        self.search = SearchBox("Find a file", object_name="left_out_search",
                                accessible="Find a file among those left out", height=28, role="body")
        self.search.setMaximumWidth(280)
        self.reasons = ChipRow("left_out_reasons", "Reason")
        second.addWidget(self.search, 1, Qt.AlignmentFlag.AlignTop)
        second.addWidget(self.reasons, 2)
        head.addLayout(second)
        column.addLayout(head)
        self.stack = QStackedWidget()
        self.loading = SkeletonList(6, row_height=44, object_name="left_out_loading")
        self.table = Table(COLUMNS, object_name="left_out_table", accessible="Files left out", key=_key)
        self.none = EmptyState("Nothing is left out", "Every file of your folders is of a kind that is read.",
                               drawing="done", object_name="left_out_none")
        self.filtered = EmptyState("No file fits these filters", "Clear them to see the whole list.",
                                   action="Clear filters", primary=False, drawing="nothing",
                                   object_name="left_out_filtered")
        self.failed = EmptyState("The folders could not be looked through", "", action="Try again", drawing="problem",
                                 object_name="left_out_failed")
        for widget in (self.loading, self.table, self.none, self.filtered, self.failed):
            self.stack.addWidget(widget)
        column.addWidget(self.stack, 1)

    # ---- the list

    def reload(self) -> None:
        """Looks through the folders; the list stays as it is meanwhile."""
        if self._latest.job is not None:
            return
        self.look.setEnabled(False)
        if self._found is None:
            self.stack.setCurrentWidget(self.loading)
        self.sentence.set_full_text("Looking through your folders...")
        self._changed = self._wanted = False
        self._latest.watch(self._desk.commands.left_out(), on_finished=self._on_finished)

    def ensure(self) -> None:
        """Looks through the folders if that was not done since they changed."""
        if self._stale:
            self._wanted = True
            self.reload()

    def forget(self) -> None:
        """Looks again when the tab is seen next (rules or folders changed)."""
        self._stale = self._changed = True

    def total(self) -> int | None:
        """Gives how much is left out; None while nobody looked."""
        return self._found.total if self._found is not None else None

    def _on_finished(self, finished: Finished) -> None:
        self._latest.job = None
        self.look.setEnabled(True)
        if finished.outcome is Outcome.FAILED and finished.failure is not None:
            self.failed.set_texts("The folders could not be looked through", failure_text(finished.failure))
            self.sentence.set_full_text("")
            self.stack.setCurrentWidget(self.failed)
        elif isinstance(finished.result, LeftOut):
            self._found = finished.result
            self._stale = self._changed  # by what changed while it was looked
            self._filter()
            self.looked.emit()
        if self._wanted and self._changed:
            self.reload()

    def _filter(self) -> None:
        self._soon.stop()
        found = self._found
        if found is None:
            return
        self.reasons.set_counts([(reason_words(reason), number) for reason, number in
                                 sorted(found.counts, key=lambda entry: -entry[1])])
        reason, wanted = self.reasons.value(), self.search.text().casefold().split()
        rows = [row for row in found.rows if (not reason or reason_words(row.reason) == reason)
                and (not wanted or all(word in str(row.path).casefold() for word in wanted))]
        self.table.set_rows(rows)
        self.stack.setCurrentWidget(self.table if rows else self.filtered if found.rows else self.none)
        text = f"{words.counted(found.total, 'file or folder', 'files and folders')} " \
               f"{'is' if found.total == 1 else 'are'} left out" if found.total else ""
        if len(found.rows) < found.total:
            text += f"; the first {words.count(len(found.rows))} are listed"
        self.sentence.set_full_text(text)
        self.export.setEnabled(bool(rows))
        self.search.setVisible(bool(found.rows))
        self.rules.setVisible(self._desk.library is None or not self._desk.library.read_only)
        announce(self.sentence, f"{text}. {words.counted(len(rows), 'row')} shown.")

    def _clear(self) -> None:
        self.search.set_text("")
        self.reasons.set_value("")
        self._filter()

    # ---- what can be done

    def _on_rules(self) -> None:
        folders = [folder.path for folder in self._desk.library.folders] if self._desk.library is not None else []
        row = self.table.current_row()
        if len(folders) == 1:
            self._edit(folders[0])
        elif row is not None and _view(row).folder in folders:
            self._edit(_view(row).folder)
        elif folders:
            made = menu(self, "left_out_folders", "Folder")
            made.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            for folder in folders:
                made.addAction(icons.icon("folder", 16), no_mnemonic(title_of_folder(folder)),
                               partial(self._edit, folder))
            made.popup(self.rules.mapToGlobal(self.rules.rect().bottomLeft()))

    def _edit(self, folder: Path) -> None:
        library = self._desk.library
        view = next((view for view in library.folders if view.path == folder), None) if library is not None else None
        if view is not None:
            edit_rules(self.window(), self._desk, view)

    def _reveal(self, row: object) -> None:
        self._desk.start(self._desk.commands.reveal(_view(row).path))

    def _copy(self, row: object) -> None:
        if row is not None:
            QApplication.clipboard().setText(quick_path(_view(row).path))
            self._desk.toast("Path copied")

    def _on_menu(self, row: object, position: QPoint) -> None:
        made = menu(self, "left_out_menu", "File left out")
        made.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        made.addAction(icons.icon("reveal", 16), "Show in file manager\tEnter", lambda: self._reveal(row))
        made.addAction(icons.icon("copy", 16), "Copy path\tCtrl+C", lambda: self._copy(row))
        if self.rules.isVisibleTo(self):
            title = no_mnemonic(title_of_folder(_view(row).folder))
            made.addAction(icons.icon("filter", 16), f"Edit rules of {title}...", lambda: self._edit(_view(row).folder))
        made.popup(position)

    def _on_export(self) -> None:
        chosen, _ = QFileDialog.getSaveFileName(self, "Save what is left out as a table", "left-out.csv",
                                                "CSV (*.csv)")
        if chosen:
            self.export_to(Path(chosen))

    def export_to(self, file: Path) -> None:
        """Writes the rows now shown as CSV."""
        rows = [_view(row) for row in self.table.rows_model.rows]
        self._desk.start(self._desk.commands.export_problems(file, rows), lambda _: self._desk.toast(
            f"Saved {words.counted(len(rows), 'row')} to {display_path(file.name)}"))
