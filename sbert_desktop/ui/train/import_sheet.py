"""Taking in pairs from a table: what kind they are, which column is which, the first rows, what is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QTableWidget, QTableWidgetItem, QVBoxLayout, QWidget

from sbert_desktop.app.training_views import ImportedView, TableView
from sbert_desktop.domain import Finished, Outcome
from sbert_desktop.ui.bridge import Latest
from sbert_desktop.ui.drop import local_paths
from sbert_desktop.ui.naming import quick_path
from sbert_desktop.ui.overlay import Sheet
from sbert_desktop.ui.page import failure_text
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.train.table_drop import is_like_a_table
from sbert_desktop.ui.train.words import FIELD_WORDS, KINDS
from sbert_desktop.ui.widgets import (
    Button,
    ComboBox,
    ElidedLabel,
    FlowLayout,
    IconButton,
    Label,
    Notice,
    announce,
    name,
)
from sbert_desktop.ui.words import counted, day, listed

if TYPE_CHECKING:
    from sbert_desktop.ui.train.page import TrainPage

ROWS = 5
COLUMNS, CHARACTERS = 16, 300
"""Columns of a table that are shown at most, and characters of each text."""
EXPECTED = "Drop a table here, .csv or .tsv, or choose one"
ROW = "Each of its rows has two or three texts, and what was said of them."


def open_import(window: QWidget, page: TrainPage, paths: Sequence[Path] = ()) -> ImportSheet:
    """Opens the sheet; with paths it looks at the table among them at once."""
    sheet = window.findChild(ImportSheet, "train_import_sheet")
    if sheet is None:
        sheet = ImportSheet(window, page)
    sheet.begin()
    if paths:
        sheet.take(paths)
    return sheet


class ImportSheet(Sheet):
    """Nothing is taken in before "Import"; what was taken in before is listed below and can be removed."""

    def __init__(self, window: QWidget, page: TrainPage) -> None:
        super().__init__(window, width=720)
        name(self, "train_import_sheet", "Import pairs")
        self.setAcceptDrops(True)
        self._page, self._desk = page, page.desk
        self._table: TableView | None = None
        self._path: Path | None = None
        self._told = ""  # of what was dropped beside the table
        self._latest = Latest(page.desk.bridge)
        self._fields: list[tuple[str, ComboBox]] = []
        self._busy = False
        self.column.addWidget(Label("Import pairs", role="page_title", object_name="train_import_title"))
        self._build_file()
        self.notice = Notice("train_import_notice")
        self.column.addWidget(self.notice)
        self._build_mapping()
        self._build_imported()
        foot = QHBoxLayout()
        foot.setSpacing(8)
        self.cancel = Button("Close", object_name="train_import_cancel")
        self.go = Button("Import", kind="primary", object_name="train_import_go")
        foot.addStretch(1)
        foot.addWidget(self.cancel)
        foot.addWidget(self.go)
        self.column.addLayout(foot)
        self.choose.clicked.connect(self.choose_file)
        self.kind.activated.connect(lambda _: self._on_kind())
        self.cancel.clicked.connect(lambda: self.close_sheet(False))
        self.go.clicked.connect(self.take_in)
        for kind in ("imported-labels", "import-labels"):
            page.desk.bridge.listen(kind, on_finished=self._on_imported)
        theme.themeChanged.connect(self._fit_preview)

    # ---- building

    def _build_file(self) -> None:
        row = QHBoxLayout()
        row.setSpacing(8)
        self.file = ElidedLabel("", mode=Qt.TextElideMode.ElideMiddle, object_name="train_import_file")
        self.choose = Button("Choose a table...", icon="table", object_name="train_import_choose")
        row.addWidget(self.file, 1)
        row.addWidget(self.choose)
        self.column.addLayout(row)
        self.expected = Label(ROW, role="meta", tone="muted", wrap=True, object_name="train_import_expected")
        self.column.addWidget(self.expected)

    def _build_mapping(self) -> None:
        self.mapping = QWidget()
        name(self.mapping, "train_import_mapping", "What is in the table")
        column = QVBoxLayout(self.mapping)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        row = QHBoxLayout()
        row.setSpacing(12)
        self.kind = ComboBox(object_name="train_import_kind", accessible="What each row is")
        self.kind.addItem("choose", "")  # what could not be guessed
        for key, text, _ in KINDS:
            self.kind.addItem(text, key)
        self.kind_hint = Label("", role="meta", tone="muted", wrap=True, object_name="train_import_kind_hint")
        row.addWidget(Label("Each row is"))
        row.addWidget(self.kind)
        row.addWidget(self.kind_hint, 1)
        column.addLayout(row)
        self.fields = QWidget()
        name(self.fields, "train_import_fields", "Which column is which")
        FlowLayout(self.fields, gap=8)
        column.addWidget(self.fields)
        self.preview = QTableWidget(0, 0)
        name(self.preview, "train_import_preview", "First rows")
        self.preview.setEditTriggers(QTableWidget.EditTrigger.NoEditTriggers)
        self.preview.setSelectionMode(QTableWidget.SelectionMode.NoSelection)
        self.preview.setShowGrid(False)
        self.preview.setWordWrap(False)
        self.preview.setTabKeyNavigation(False)
        self.preview.setStyleSheet("QTableWidget::item { padding-left: 5px; }")  # as its head
        self.preview.verticalHeader().hide()
        self.preview.verticalHeader().setObjectName("train_import_preview_rows")
        head = self.preview.horizontalHeader()
        name(head, "train_import_preview_head", "Columns")
        head.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        head.setStretchLastSection(True)
        head.setHighlightSections(False)
        self.preview.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        column.addWidget(self.preview)
        self.problems = Label("", tone="warn", wrap=True, object_name="train_import_problems")
        column.addWidget(self.problems)
        self.mapping.hide()
        self.column.addWidget(self.mapping)

    def _build_imported(self) -> None:
        self.taken = QWidget()
        name(self.taken, "train_imported", "Taken in before")
        column = QVBoxLayout(self.taken)
        column.setContentsMargins(0, 4, 0, 0)
        column.setSpacing(2)
        column.addWidget(Label("Taken in before", role="section", object_name="train_imported_title"))
        self._taken_rows = QVBoxLayout()
        self._taken_rows.setSpacing(2)
        column.addLayout(self._taken_rows)
        self.taken.hide()
        self.column.addWidget(self.taken)

    # ---- showing

    def begin(self) -> None:
        """Opens with no table."""
        self._table, self._path, self._busy, self._told = None, None, False, ""
        self._latest.drop()
        self.notice.hide()
        self.mapping.hide()
        self.expected.show()
        self.file.set_full_text(EXPECTED)
        self.choose.setText("Choose a table...")
        self._show_imported(self._page.imported)
        self._fit_foot()
        self.open()
        self.place()

    def first_focus(self) -> QWidget:
        return self.choose

    def choose_file(self) -> None:
        """Asks for a table."""
        found = self._page.ask_table()
        if found:
            self.look(Path(found))

    def look(self, path: Path, told: str = "") -> None:
        """Looks at a table; what is in it is guessed. ``told``: what has to be said of it beside that."""
        self._expect(path)
        self._told = told
        self._ask((), "")

    def take(self, paths: Sequence[Path]) -> None:
        """Looks at what was dropped: at the first that may be a table; a folder is none."""
        if self._busy:
            return
        path = next(filter(is_like_a_table, paths), paths[0])
        left = len(paths) - 1
        told = f"Tables are taken in one at a time: this is “{quick_path(path.name)}”. Drop the other " \
            f"{counted(left, 'file') if left > 1 else 'one'} after it." if left else ""
        self._expect(path)
        self._fit_foot()

        def known(folder: bool) -> None:
            if self._path != path or not self.isVisible():
                return
            if folder:
                self._refuse(f"“{quick_path(path.name)}” is a folder. Choose the table in it, or drop that.")
            else:
                self.look(path, told)

        self._desk.errands.run(path.is_dir, known)  # a disk may be slow

    def _expect(self, path: Path) -> None:
        self._path, self._table = path, None
        self._latest.drop()
        self.file.set_full_text(quick_path(path))
        self.choose.setText("Another one...")
        self.expected.hide()
        self.notice.hide()

    def _refuse(self, why: str) -> None:
        self.notice.show_text(why)
        self.mapping.setVisible(self._table is not None)
        self._fit_foot()
        self.place()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if local_paths(event.mimeData()) and event.source() is None and not self._busy:
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        paths = local_paths(event.mimeData())
        # never Move: the sender would delete what it thinks has been taken
        event.setDropAction(Qt.DropAction.CopyAction)
        event.accept()
        if paths:
            self.take(paths)

    def _ask(self, mapping: tuple[tuple[str, str], ...], kind: str) -> None:
        assert self._path is not None
        self._fit_foot()
        self._latest.watch(self._desk.commands.look_at_table(self._path, mapping, kind), on_finished=self._on_looked)

    def _on_looked(self, finished: Finished) -> None:
        self._latest.job = None
        if finished.outcome is Outcome.FAILED and finished.failure is not None:
            self._table = None if self._table is None or self._table.path != self._path else self._table
            self._refuse(failure_text(finished.failure))
            return
        if isinstance(finished.result, TableView):
            self._table = finished.result
            self.notice.hide()
            if self._told:
                self.notice.show_text(self._told)
                self._told = ""
            self._show_table(finished.result)
        self._fit_foot()
        self.place()

    def _show_table(self, table: TableView) -> None:
        self.file.set_full_text(quick_path(table.path.name), f" · {counted(table.rows, 'row')}")
        self.kind.setCurrentIndex(max(0, self.kind.findData(table.kind)))
        self.kind_hint.setText(next((hint for key, _, hint in KINDS if key == table.kind), ""))
        self._show_fields(table)
        self._show_preview(table)
        self.problems.setText(" ".join(table.problems))
        self.problems.setVisible(bool(table.problems))
        self.mapping.show()
        announce(self, f"{counted(table.rows, 'row')}. {self.problems.text()}")

    def _show_fields(self, table: TableView) -> None:
        flow = self.fields.layout()
        assert flow is not None
        focused = next((field for field, box in self._fields if box.hasFocus()), "")
        while (item := flow.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        self._fields = []
        for field, column in table.mapping:
            words = FIELD_WORDS.get(field, field.replace("_", " ").capitalize())
            box = ComboBox(object_name=f"train_import_field_{field}", accessible=f"Column of: {words}", caption=words)
            box.addItem("choose", "")
            for own in table.columns:
                box.addItem(quick_path(own[:CHARACTERS]), own)
            box.setCurrentIndex(max(0, box.findData(column)))
            box.activated.connect(lambda _: self._on_mapping())
            flow.addWidget(box)
            self._fields.append((field, box))
            box.show()
            if field == focused:
                box.setFocus(Qt.FocusReason.OtherFocusReason)
        self.fields.updateGeometry()

    def _show_preview(self, table: TableView) -> None:
        fields = {column: FIELD_WORDS.get(field, field) for field, column in table.mapping}
        rows = table.sample[:ROWS]
        # a column costs the same whether it can be seen or not: those in use, and the first of the others
        used = [at for at, column in enumerate(table.columns) if column in fields]
        others = [at for at, column in enumerate(table.columns) if column not in fields]
        shown = sorted(used + others[: max(0, COLUMNS - len(used))])
        self.preview.setColumnCount(len(shown))
        self.preview.setRowCount(len(rows))
        heads = [quick_path(table.columns[at][:CHARACTERS]) for at in shown]
        self.preview.setHorizontalHeaderLabels(
            [f"{head} → {fields[table.columns[at]]}" if table.columns[at] in fields else head
             for at, head in zip(shown, heads, strict=True)])
        for at, row in enumerate(rows):
            for across, column in enumerate(shown):
                item = QTableWidgetItem(" ".join(row[column][:4 * CHARACTERS].split())[:CHARACTERS]
                                        if column < len(row) else "")
                item.setFlags(Qt.ItemFlag.ItemIsEnabled)
                item.setForeground(theme.color("text" if table.columns[column] in fields else "muted"))
                self.preview.setItem(at, across, item)
        self._fit_preview()

    def _fit_preview(self) -> None:
        tall = theme.height(28, padding=8)
        self.preview.verticalHeader().setDefaultSectionSize(tall)
        head = self.preview.horizontalHeader()
        head.setFixedHeight(tall)
        self.preview.setFixedHeight(tall * (self.preview.rowCount() + 1) + 12)
        room = self.card.width() - 52
        plain = theme.metrics("body")
        wide = []
        for across in range(self.preview.columnCount()):
            above = self.preview.horizontalHeaderItem(across)
            title = above.text() if above is not None else ""
            texts = [self.preview.item(at, across) for at in range(self.preview.rowCount())]
            longest = max((plain.horizontalAdvance(item.text()[:80]) for item in texts if item is not None), default=0)
            wide.append(max(longest, plain.horizontalAdvance(title)) + 24)
        while wide and sum(wide) > room and max(wide) > 160:
            wide[wide.index(max(wide))] -= 8  # long texts give way to heads and short values
        for across, width in enumerate(wide):
            head.resizeSection(across, width)

    def _show_imported(self, imported: tuple[ImportedView, ...]) -> None:
        while (item := self._taken_rows.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        for at, one in enumerate(imported):
            row = QWidget()
            row.setObjectName(f"train_imported_{at}")
            line = QHBoxLayout(row)
            line.setContentsMargins(0, 0, 0, 0)
            said = listed([f"{count:,} {word}" for word, count in one.counts]) or counted(one.rows, "row")
            text = ElidedLabel(f"{quick_path(one.name)}: {said}, {day(one.made)}",
                               object_name=f"train_imported_{at}_text")
            remove = IconButton("trash", f"Remove {quick_path(one.name)}", object_name=f"train_imported_{at}_remove")
            remove.clicked.connect(lambda _=False, own=one.name: self._desk.start(
                self._desk.commands.remove_imported(own)))
            line.addWidget(text, 1)
            line.addWidget(remove)
            self._taken_rows.addWidget(row)
        self.taken.setVisible(bool(imported))

    def _fit_foot(self) -> None:
        table = self._table
        whole = (table is not None and bool(table.kind) and bool(self._fields) and table.rows > 0 and
                 all(box.currentData() for _, box in self._fields))
        self.go.setEnabled(whole and not self._busy and self._latest.job is None)
        self.go.setText("Importing..." if self._busy else f"Import {counted(table.rows, 'row')}"
                        if table is not None else "Import")
        self.kind.setEnabled(not self._busy)

    # ---- choosing

    def _mapping(self) -> tuple[tuple[str, str], ...]:
        return tuple((field, str(box.currentData() or "")) for field, box in self._fields)

    def _on_kind(self) -> None:
        self._ask((), str(self.kind.currentData() or ""))

    def _on_mapping(self) -> None:
        self._ask(self._mapping(), str(self.kind.currentData() or ""))

    def take_in(self) -> None:
        """Takes the rows in."""
        table = self._table
        if table is None or self._busy:
            return
        self._busy = True
        self._fit_foot()
        job = self._desk.commands.import_labels(table.path, str(self.kind.currentData()), self._mapping())
        self._desk.bridge.watch(job, on_finished=self._on_taken)

    def _on_taken(self, finished: Finished) -> None:
        self._busy = False
        if finished.outcome is Outcome.DONE:
            newest = finished.result[0] if isinstance(finished.result, tuple) and finished.result else None
            self.close_sheet(True)
            if isinstance(newest, ImportedView):
                self._desk.toast(f"Imported {counted(newest.rows, 'row')} from {quick_path(newest.name)}.",
                                 action="Undo", run=lambda: self._desk.start(
                                     self._desk.commands.remove_imported(newest.name)))
        elif finished.failure is not None:
            self.notice.show_text(failure_text(finished.failure))
        self._fit_foot()

    def _on_imported(self, finished: Finished) -> None:
        if self.isVisible() and isinstance(finished.result, tuple):
            self._show_imported(tuple(one for one in finished.result if isinstance(one, ImportedView)))
            self.place()
