"""Earlier clean-ups: when, how many files, what became of each, and bringing them back."""

from __future__ import annotations

import time
from typing import Final, cast

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from sbert_desktop.app.duplicate_views import CleanUpView, MovedView
from sbert_desktop.domain import Finished, Outcome, short_path
from sbert_desktop.ui import words
from sbert_desktop.ui.bridge import Latest
from sbert_desktop.ui.duplicates.cleaning import Cleaning
from sbert_desktop.ui.library.tables import Column, Table
from sbert_desktop.ui.naming import quick_path
from sbert_desktop.ui.overlay import Sheet
from sbert_desktop.ui.page import Desk, failure_text
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.widgets import Button, EmptyState, Label, SkeletonList, announce, name

STATES: Final = {
    "moved": ("In the trash", "neutral", "trash"),
    "skipped": ("Left where it is", "warn", "warning"),
    "failed": ("Not moved", "danger", "warning"),
    "restored": ("Brought back", "good", "check"),
    "lost": ("Not found", "danger", "warning"),
}


def when_words(when: float) -> str:
    """Gives a moment as ``14 Mar 2024, 16:20``."""
    try:
        moment = time.localtime(when)
    except (OverflowError, ValueError, OSError):
        return ""
    return f"{words.day(when)}, {moment.tm_hour:02}:{moment.tm_min:02}"


def state_words(view: CleanUpView) -> tuple[str, str, str]:
    """Gives words, tone and icon for the state of a clean-up."""
    if not view.finished:
        return "Cut short", "warn", "warning"
    if view.undone:
        return "Brought back", "good", "check"
    stayed = view.skipped + view.failed
    if stayed:
        return f"{words.count(stayed)} not moved", "warn", "warning"
    back = sum(one.state == "restored" for one in view.files)
    if back:
        return f"{words.count(back)} brought back", "good", "check"
    return "In the trash", "neutral", "trash"


def _view(row: object) -> CleanUpView:
    return cast(CleanUpView, row)


def _file(row: object) -> MovedView:
    return cast(MovedView, row)


RUNS: Final = (
    Column("When", lambda row: when_words(_view(row).when), 0, role="medium", least=150,
           key=lambda row: -_view(row).when),
    Column("Files", lambda row: words.count(len(_view(row).files)), 72, right=True,
           key=lambda row: len(_view(row).files)),
    Column("In the trash", lambda row: words.size(_view(row).bytes) if _view(row).bytes else "", 104, right=True,
           key=lambda row: _view(row).bytes),
    Column("State", lambda row: state_words(_view(row))[0], 150, tag=lambda row: state_words(_view(row))[1:],
           key=lambda row: state_words(_view(row))[0]),
)
FILES: Final = (
    Column("File", lambda row: quick_path(_file(row).path.name), 190, role="medium",
           elide=Qt.TextElideMode.ElideMiddle,
           tip=lambda row: quick_path(_file(row).path)),
    Column("Place", lambda row: quick_path(short_path(_file(row).path.parent)), 160, role="meta", tone="muted",
           elide=Qt.TextElideMode.ElideMiddle),
    Column("Now", lambda row: STATES.get(_file(row).state, (_file(row).state, "neutral", "info"))[0], 156,
           tag=lambda row: STATES.get(_file(row).state, ("", "neutral", "info"))[1:]),
    Column("Why", lambda row: _file(row).message, 0, role="meta", least=160),
)


def open_history(window: QWidget, desk: Desk, cleaning: Cleaning, id: str = "") -> HistorySheet:
    """Opens the sheet; ``id`` chooses a clean-up."""
    sheet = window.findChild(HistorySheet, "duplicates_history_sheet")
    if sheet is None:
        sheet = HistorySheet(window, desk, cleaning)
    sheet.show_history(id)
    return sheet


class HistorySheet(Sheet):
    """Above the clean-ups, below the files of the one chosen."""

    def __init__(self, window: QWidget, desk: Desk, cleaning: Cleaning) -> None:
        super().__init__(window, width=820)
        name(self, "duplicates_history_sheet", "Earlier clean-ups")
        self._desk, self._cleaning = desk, cleaning
        self._latest = Latest(desk.bridge)
        self._wanted = ""
        self.column.addWidget(Label("Earlier clean-ups", role="page_title", object_name="duplicates_history_title"))
        self.stack = QStackedWidget()
        self.stack.setObjectName("duplicates_history_stack")
        self.loading = SkeletonList(4, row_height=40, object_name="duplicates_history_loading")
        self.none = EmptyState("No clean-up yet", "Each one is kept here with its files, and can be undone as long as "
                               "they lie in the trash.", drawing="documents", object_name="duplicates_history_none")
        self.failed = EmptyState("The clean-ups could not be read", "", drawing="problem", action="Try again",
                                 object_name="duplicates_history_failed", primary=False)
        self.full = QWidget()
        inner = QVBoxLayout(self.full)
        inner.setContentsMargins(0, 0, 0, 0)
        inner.setSpacing(8)
        self.runs = Table(RUNS, object_name="duplicates_history_runs", accessible="Clean-ups",
                          key=lambda row: _view(row).id)
        self.said = Label("", role="meta", tone="muted", wrap=True, object_name="duplicates_history_said")
        self.files = Table(FILES, object_name="duplicates_history_files", accessible="Files of the clean-up",
                           multi=True, key=lambda row: _file(row).path)
        inner.addWidget(self.runs, 2)
        inner.addWidget(self.said)
        inner.addWidget(self.files, 3)
        for widget in (self.loading, self.none, self.failed, self.full):
            self.stack.addWidget(widget)
        self.column.addWidget(self.stack, 1)
        foot = QHBoxLayout()
        foot.setSpacing(8)
        self.close_button = Button("Close", object_name="duplicates_history_close")
        self.some = Button("Bring back the chosen files", object_name="duplicates_history_some", icon="undo")
        self.all = Button("Bring back all", kind="primary", object_name="duplicates_history_all", icon="undo")
        foot.addStretch(1)
        for button in (self.close_button, self.some, self.all):
            foot.addWidget(button)
        self.column.addLayout(foot)
        self.failed.clicked.connect(self.reload)
        self.runs.currentRowChanged.connect(self._on_run)
        self.files.chosenChanged.connect(self._fit_buttons)
        self.files.rowActivated.connect(lambda row: self._reveal(_file(row)))
        self.close_button.clicked.connect(lambda: self.close_sheet(False))
        self.some.clicked.connect(self._on_some)
        self.all.clicked.connect(self._on_all)
        cleaning.ended.connect(lambda: self.reload() if self.isVisible() else None)
        theme.themeChanged.connect(self._fit)
        self._fit()

    def show_history(self, id: str = "") -> None:
        """Reads the clean-ups and shows them."""
        self._wanted = id
        if self._current() is None:
            self.stack.setCurrentWidget(self.loading)
        self.open()
        self.place()
        self.reload()

    def first_focus(self) -> QWidget:
        return self.runs if self.stack.currentWidget() is self.full else self.close_button

    def reload(self) -> None:
        """Reads them again."""
        self._latest.watch(self._desk.commands.clean_ups(), on_finished=self._on_finished)

    def _on_finished(self, finished: Finished) -> None:
        self._latest.job = None
        if finished.outcome is Outcome.FAILED and finished.failure is not None:
            self.failed.set_texts("The clean-ups could not be read", failure_text(finished.failure))
            self.stack.setCurrentWidget(self.failed)
        elif isinstance(finished.result, tuple):
            views = cast(tuple[CleanUpView, ...], finished.result)
            self.runs.set_rows(views)
            self.stack.setCurrentWidget(self.full if views else self.none)
            rows = self.runs.rows_model.rows
            at = next((n for n, row in enumerate(rows) if _view(row).id == self._wanted), -1)
            if at >= 0 or (views and self.runs.current_row() is None):
                self.runs.selectRow(max(0, at))
            if self._wanted:
                announce(self, self.said.text())
            self._wanted = ""
            self._on_run(self.runs.current_row())
            if self.stack.currentWidget() is self.full and self.close_button.hasFocus():
                self.runs.setFocus(Qt.FocusReason.OtherFocusReason)
        self._fit_buttons()

    def _current(self) -> CleanUpView | None:
        row = self.runs.current_row()
        return _view(row) if row is not None else None

    def _on_run(self, row: object) -> None:
        view = _view(row) if row is not None else None
        if view is not None:
            # what did not go as meant stands first: it is what a person looks for
            order = {"failed": 0, "lost": 0, "skipped": 1, "moved": 2, "restored": 3}
            files: list[MovedView] = sorted(view.files, key=lambda one: order.get(one.state, 4))
            self.files.set_rows(files)
            self.said.setText(_said(view))
        else:
            self.files.set_rows(())
        self._fit_buttons()

    def _chosen(self) -> list[MovedView]:
        return [_file(row) for row in self.files.chosen_rows() if _file(row).state in ("moved", "lost")]

    def _fit_buttons(self) -> None:
        view = self._current() if self.stack.currentWidget() is self.full else None
        away = view is not None and any(one.state in ("moved", "lost") for one in view.files)
        free = not self._cleaning.busy
        self.all.setVisible(view is not None)
        self.some.setVisible(view is not None)
        self.all.setEnabled(away and free)
        chosen = self._chosen() if view is not None else []
        self.some.setEnabled(bool(chosen) and free)
        self.some.setText(f"Bring back {words.counted(len(chosen), 'file')}" if chosen else
                          "Bring back the chosen files")

    def _on_all(self) -> None:
        view = self._current()
        if view is not None:
            self._cleaning.bring_back(view.id, (), view.moved)

    def _on_some(self) -> None:
        view, chosen = self._current(), self._chosen()
        if view is not None and chosen:
            self._cleaning.bring_back(view.id, [one.path for one in chosen], len(chosen))

    def _reveal(self, file: MovedView) -> None:
        self._desk.start(self._desk.commands.reveal(file.path))

    def _fit(self) -> None:
        window = self.parentWidget()
        room = max(220, (window.height() if window is not None else 640) - 200)
        self.stack.setMinimumHeight(min(440, room))


def _said(view: CleanUpView) -> str:
    parts = [f"{words.counted(view.moved, 'file')} in the trash"] if view.moved else []
    stayed = view.skipped + view.failed
    if stayed:
        parts.append(f"{words.count(stayed)} not moved")
    back = sum(one.state == "restored" for one in view.files)
    if back:
        parts.append(f"{words.count(back)} brought back")
    text = f"{', '.join(parts)}." if parts else ""
    if not view.finished:
        text += " The program was ended before this clean-up was through: what is listed is what really happened."
    return " ".join(part for part in (text, *view.notes) if part)
