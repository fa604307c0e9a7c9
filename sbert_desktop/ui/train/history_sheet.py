"""All judgements: filtered, changed, taken back, exported."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from sbert_desktop.app.training_views import LabelRow, LabelsView, Task
from sbert_desktop.domain import Finished
from sbert_desktop.ui import icons
from sbert_desktop.ui.library.tables import Column, Table
from sbert_desktop.ui.naming import quick_path
from sbert_desktop.ui.overlay import Sheet
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.train.words import GRADES, SOURCES, TASKS, verdict_look, verdict_words, verdicts_of
from sbert_desktop.ui.widgets import (
    Button,
    Chip,
    ComboBox,
    EmptyState,
    Label,
    SearchBox,
    announce,
    menu,
    name,
)
from sbert_desktop.ui.words import ago, count, counted

if TYPE_CHECKING:
    from sbert_desktop.ui.train.page import TrainPage


def _row(row: object) -> LabelRow:
    return cast(LabelRow, row)


def _side(title: str, text: str) -> str:
    words = " ".join(text.split())
    return f"{quick_path(title)}: {words}" if title else words


COLUMNS: Final = (
    Column("Judgement", lambda row: verdict_words(_row(row).verdict), 122, tag=lambda row: verdict_look(
        _row(row).verdict)),
    Column("First", lambda row: _side(_row(row).left_title, _row(row).left), 0, tip=lambda row: _row(row).left),
    Column("Second", lambda row: _side(_row(row).right_title, _row(row).right), 0, tip=lambda row: _row(row).right),
    Column("From", lambda row: SOURCES.get(_row(row).source, _row(row).source), 96, role="meta", tone="muted"),
    Column("When", lambda row: ago(_row(row).made), 112, role="meta", tone="muted", right=True,
           key=lambda row: -_row(row).made),
)


def open_history(window: QWidget, page: TrainPage, row: str = "", rows: tuple[str, ...] = ()) -> HistorySheet:
    """Opens the sheet; ``row`` chooses a judgement, ``rows`` shows only some."""
    sheet = window.findChild(HistorySheet, "train_history_sheet")
    if sheet is None:
        sheet = HistorySheet(window, page)
    sheet.show_history(row, rows)
    return sheet


class HistorySheet(Sheet):
    """Keys in the table: those of the task change what is chosen, Delete takes it back."""

    def __init__(self, window: QWidget, page: TrainPage) -> None:
        super().__init__(window, width=880)
        name(self, "train_history_sheet", "All judgements")
        self._page, self._desk = page, page.desk
        self._rows: tuple[LabelRow, ...] = ()
        self._only: tuple[str, ...] = ()
        self._wanted = ""
        self.title = Label("All judgements", role="page_title", object_name="train_history_title")
        self.column.addWidget(self.title)
        self._build_filters()
        self.stack = QStackedWidget()
        self.stack.setObjectName("train_history_stack")
        self.table = Table(COLUMNS, object_name="train_history_rows", accessible="Judgements", multi=True,
                           key=lambda row: _row(row).id)
        self.none = EmptyState("No judgement fits", "Clear the filters to see all.", drawing="nothing",
                               action="Show all", object_name="train_history_none", primary=False)
        self.stack.addWidget(self.table)
        self.stack.addWidget(self.none)
        self.column.addWidget(self.stack, 1)
        self._build_detail()
        self._build_foot()
        self._connect()
        self._fit()

    def _build_filters(self) -> None:
        row = QHBoxLayout()
        row.setSpacing(8)
        self.search = SearchBox("Words or document", object_name="train_history_filter",
                                accessible="Filter judgements", height=28, role="body")
        self.verdict = ComboBox(object_name="train_history_verdict", accessible="Which judgements",
                                caption="Judgement")
        self.source = ComboBox(object_name="train_history_source", accessible="Where they were made", caption="From")
        self.only = Chip("Found by the checks", object_name="train_history_only")
        self.shown = Label("", role="meta", tone="muted", object_name="train_history_count")
        row.addWidget(self.search, 1)
        for widget in (self.verdict, self.source, self.only, self.shown):
            row.addWidget(widget)
        self.column.addLayout(row)

    def _build_detail(self) -> None:
        self.detail = QWidget()
        name(self.detail, "train_history_detail", "The judgement chosen")
        row = QHBoxLayout(self.detail)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(24)
        self.sides: list[tuple[Label, Label]] = []
        for own in ("left", "right"):
            column = QVBoxLayout()
            column.setSpacing(2)
            head = Label("", role="meta", tone="muted", object_name=f"train_history_{own}_title")
            text = Label("", wrap=True, object_name=f"train_history_{own}")
            text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            text.setAlignment(Qt.AlignmentFlag.AlignTop)
            column.addWidget(head)
            column.addWidget(text, 1)
            row.addLayout(column, 1)
            self.sides.append((head, text))
        self.column.addWidget(self.detail)

    def _build_foot(self) -> None:
        foot = QHBoxLayout()
        foot.setSpacing(8)
        self.export = Button("Export...", icon="export", object_name="train_history_export")
        self.change = Button("Change to...", icon="pencil", object_name="train_history_change")
        self.take_back = Button("Take back", icon="undo", object_name="train_history_take_back")
        self.close_button = Button("Close", object_name="train_history_close")
        foot.addWidget(self.export)
        foot.addStretch(1)
        for button in (self.change, self.take_back, self.close_button):
            foot.addWidget(button)
        self.column.addLayout(foot)

    def _connect(self) -> None:
        self.search.textChanged.connect(lambda _: self._filter())
        self.verdict.activated.connect(lambda _: self._filter())
        self.source.activated.connect(lambda _: self._filter())
        self.only.cleared.connect(self._show_all)
        self.only.clicked.connect(self._show_all)
        self.none.clicked.connect(self._show_all)
        self.table.chosenChanged.connect(self._on_chosen)
        self.table.rowActivated.connect(lambda _: self._change_menu())
        self.table.menuAsked.connect(lambda _row, spot: self._change_menu(spot))
        self.change.clicked.connect(lambda: self._change_menu())
        self.take_back.clicked.connect(self.take_back_chosen)
        self.export.clicked.connect(self._page.export_judgements)
        self.close_button.clicked.connect(lambda: self.close_sheet(False))
        self._desk.bridge.listen("labels", on_finished=self._on_labels)
        theme.themeChanged.connect(self._fit)

    # ---- showing

    def show_history(self, row: str = "", rows: tuple[str, ...] = ()) -> None:
        """Shows the judgements of the task in front."""
        self._only, self._wanted = rows, row
        view = self._page.labelling.view()
        task = self._page.labelling.task
        self.title.setText("All judgements" if task is Task.SAME else "All judgements of passages")
        self.search.edit.clear()
        self._fill_choices(task)
        self._take(view)
        self.open()
        self.place()
        if view is None:
            self._desk.start(self._desk.commands.labels(task))

    def first_focus(self) -> QWidget:
        return self.table if self._rows else self.close_button

    def _fill_choices(self, task: Task) -> None:
        words = TASKS[task]
        verdicts = (words.yes.verdict, words.no.verdict, *(GRADES if task is Task.SAME else ()))
        self.verdict.clear()
        self.verdict.addItem("all", "")
        for verdict in verdicts:
            self.verdict.addItem(verdict_words(verdict), verdict)
        self.source.clear()
        self.source.addItem("all", "")
        for key, text in SOURCES.items():
            self.source.addItem(text, key)
        keys = {key: lambda verdict=verdict: self.change_chosen(verdict)
                for key, verdict in ((getattr(Qt.Key, f"Key_{words.yes.key}"), words.yes.verdict),
                                     (getattr(Qt.Key, f"Key_{words.no.key}"), words.no.verdict))}
        if task is Task.SAME:
            keys.update({getattr(Qt.Key, f"Key_{grade}"): lambda grade=grade: self.change_chosen(grade)
                         for grade in GRADES})
        self.table.keys = {**keys, Qt.Key.Key_Delete: self.take_back_chosen,
                           Qt.Key.Key_Backspace: self.take_back_chosen}

    def _on_labels(self, finished: Finished) -> None:
        if self.isVisible() and isinstance(finished.result, LabelsView) and \
                finished.result.task is self._page.labelling.task:
            self._take(self._page.labelling.view() or finished.result)

    def _take(self, view: LabelsView | None) -> None:
        self._rows = view.rows if view is not None else ()
        self._filter()
        if self._wanted:
            at = next((n for n, row in enumerate(self.table.rows_model.rows) if _row(row).id == self._wanted), -1)
            if at >= 0:
                self.table.selectRow(at)
                self.table.scrollTo(self.table.rows_model.index(at, 0))
            self._wanted = ""
        elif self._rows and not self.table.chosen_rows() and self.table.rows_model.rows:
            self.table.selectRow(0)

    def _filter(self) -> None:
        words = self.search.text().casefold().split()
        verdict, source = str(self.verdict.currentData() or ""), str(self.source.currentData() or "")
        only = set(self._only)
        self.only.setVisible(bool(only))
        self.only.set_value(counted(len(only), "pair") if only else "")

        def fits(row: LabelRow) -> bool:
            text = f"{row.left} {row.right} {row.left_title} {row.right_title}".casefold()
            return (not only or row.id in only) and (not verdict or row.verdict == verdict) and \
                (not source or row.source == source) and all(word in text for word in words)

        found = [row for row in self._rows if fits(row)]
        self.table.set_rows(found)
        whole = len(found) == len(self._rows)
        self.shown.setText(counted(len(found), "judgement") if whole
                           else f"{count(len(found))} of {count(len(self._rows))}")
        self.none.set_texts("No judgement fits" if self._rows else "Nothing is judged yet",
                            "Clear the filters to see all." if self._rows else "What you judge stands here.")
        self.stack.setCurrentWidget(self.table if found else self.none)
        self._on_chosen()

    def _show_all(self) -> None:
        self._only = ()
        self.search.edit.clear()
        self.verdict.setCurrentIndex(0)
        self.source.setCurrentIndex(0)
        self._filter()

    def _on_chosen(self) -> None:
        chosen = [_row(row) for row in self.table.chosen_rows()] if self.stack.currentWidget() is self.table else []
        self.change.setEnabled(bool(chosen))
        self.take_back.setEnabled(bool(chosen))
        self.take_back.setText("Take back" if len(chosen) < 2 else f"Take back {count(len(chosen))}")
        self.export.setEnabled(bool(self._rows))
        one = chosen[0] if len(chosen) == 1 else None
        self.detail.setVisible(one is not None)
        if one is not None:
            for (head, text), title, words in zip(self.sides, (one.left_title, one.right_title),
                                                  (one.left, one.right), strict=True):
                head.setText(quick_path(title) or "Your question")
                shown = " ".join(words.split())
                text.setText(shown if len(shown) <= 400 else f"{shown[:400]}…")

    # ---- changing

    def chosen(self) -> list[LabelRow]:
        """Gives the judgements chosen."""
        return [_row(row) for row in self.table.chosen_rows()]

    def _change_menu(self, spot: object = None) -> None:
        chosen = self.chosen()
        if not chosen:
            return
        shown = menu(self, "train_history_menu", "Change to")
        both = set(verdicts_of(chosen[0])).intersection(*(verdicts_of(row) for row in chosen))
        for verdict in verdicts_of(chosen[0]):
            if verdict in both:
                action = shown.addAction(verdict_words(verdict))
                action.setCheckable(True)
                action.setChecked(all(row.verdict == verdict for row in chosen))
                action.triggered.connect(lambda _=False, verdict=verdict: self.change_chosen(verdict))
        shown.addSeparator()
        back = shown.addAction(icons.icon("undo"), "Take back")
        back.triggered.connect(lambda _=False: self.take_back_chosen())
        shown.aboutToHide.connect(shown.deleteLater)
        shown.popup(spot if isinstance(spot, QPoint) else self.change.mapToGlobal(QPoint(0, self.change.height())))

    def change_chosen(self, verdict: str) -> None:
        """Changes the judgements chosen."""
        for row in self.chosen():
            if row.verdict != verdict and verdict in verdicts_of(row):
                self._desk.start(self._desk.commands.relabel(row.task, row.id, verdict))
        announce(self, verdict_words(verdict))

    def take_back_chosen(self) -> None:
        """Takes the judgements chosen back."""
        chosen = self.chosen()
        if not chosen:
            return
        task = chosen[0].task
        self._desk.start(self._desk.commands.unlabel(task, tuple(row.id for row in chosen)))
        announce(self, f"{counted(len(chosen), 'judgement')} taken back")

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Find):
            self.search.edit.setFocus(Qt.FocusReason.ShortcutFocusReason)
        else:
            super().keyPressEvent(event)

    def _fit(self) -> None:
        window = self.parentWidget()
        around = 320 + 3 * max(0, theme.text_scale - 100)  # title, filters, the texts of one judgement, buttons
        room = max(96, (window.height() if window is not None else 640) - around)
        self.stack.setMinimumHeight(min(360, room))
