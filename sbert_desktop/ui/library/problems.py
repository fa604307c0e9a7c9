"""The Problems tab: every file that is not in the results or only in part, why, and what to do."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple, cast

from PySide6.QtCore import QPoint, Qt, QTimer
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QApplication, QFileDialog, QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from sbert_desktop.app.views import IndexProgress, ProblemView, ProgramsView
from sbert_desktop.domain import Finished, JobId, Outcome, display_path, short_path
from sbert_desktop.ui import icons, words
from sbert_desktop.ui.bridge import Latest
from sbert_desktop.ui.caption import edit_caption
from sbert_desktop.ui.library.causes import install_words, recognition_switch
from sbert_desktop.ui.library.chips import ChipRow
from sbert_desktop.ui.library.problem_detail import Offer, ProblemDetail, offer_for
from sbert_desktop.ui.library.problem_rows import (
    COLUMNS,
    Row,
    Wanted,
    causes_of,
    filtered,
    folders_of,
    make_rows,
    paths_of,
    places_of,
    row_key,
    summary,
)
from sbert_desktop.ui.library.tables import Table
from sbert_desktop.ui.library.unlock import ask_password
from sbert_desktop.ui.naming import file_words, quick_path
from sbert_desktop.ui.page import Desk, failure_text
from sbert_desktop.ui.widgets import (
    Button,
    CheckBox,
    ComboBox,
    ElidedLabel,
    EmptyState,
    Notice,
    SearchBox,
    SkeletonList,
    announce,
    menu,
)

AT_ONCE = 2000  # rows that are filtered within one frame; more are filtered in a thread
IN_VAIN = "It could still not be read"
CALM = ("Everything was read", "Every file that is to be read is in the results.")
SO_FAR = ("No problems so far", "Files are still being read.")


Places = Sequence[tuple[Path, str]]


class _Shown(NamedTuple):
    rows: list[Row]
    causes: list[tuple[str, int]]
    ignored: int
    sentence: str
    scans: int


def _look(rows: Sequence[Row], wanted: Wanted) -> _Shown:
    scans = len({row.key for row in rows if row.able and not row.problem.ignored})
    return _Shown(filtered(rows, wanted), causes_of(rows, wanted), sum(row.problem.ignored for row in rows),
                  summary(rows), scans)


def _read(problems: Sequence[ProblemView]) -> tuple[tuple[Row, ...], dict[Path, int]]:
    rows = make_rows(problems)
    return rows, folders_of(rows)


class ProblemsTab(QWidget):
    """Summary, filters, table, and the strip with what can be done."""

    def __init__(self, desk: Desk, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("library_problems")
        self._desk = desk
        self._rows: tuple[Row, ...] = ()
        self._latest = Latest(desk.bridge)
        self._busy = False
        self._again = False  # the list on its way was asked for too early to know all that happened
        self._trying: JobId | None = None
        self._tries = 0
        self._knows = 0  # the last try that had ended when the list was asked for
        self._turn = 0
        self._tried: set[Hashable] = set()
        self._in_vain = IN_VAIN
        self._programs: ProgramsView | None = None
        self._build()
        self._connect()
        self._on_index_progressed(desk.index_progress)
        self._fit_buttons()

    # ---- building

    def _build(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        self.head = QWidget()
        head = QVBoxLayout(self.head)
        head.setContentsMargins(16, 8, 16, 8)
        head.setSpacing(8)
        first = QHBoxLayout()
        first.setSpacing(8)
        self.sentence = ElidedLabel(role="strong", object_name="problems_count")
        self.all_scans = Button("", size="small", icon="scan", object_name="problems_recognise_all",
                                tip="Read the text in the pictures of all scans of this list")
        self.export = Button("Export CSV...", size="small", icon="export", object_name="problems_export",
                             tip="Save the rows shown as a table (Ctrl+S)")
        first.addWidget(self.sentence, 1)
        first.addWidget(self.all_scans)
        first.addWidget(self.export)
        head.addLayout(first)
        second = QHBoxLayout()
        second.setSpacing(8)
        self.search = SearchBox("Find a file", object_name="problems_search", accessible="Find a file among these",
                                height=28, role="body")
        self.search.setMaximumWidth(280)
        self.folder = ComboBox(object_name="problems_folder", accessible="Folder of problems", caption="Folder")
        self.show_ignored = CheckBox("Show ignored", object_name="problems_show_ignored")
        second.addWidget(self.search, 1)
        second.addWidget(self.folder)
        second.addStretch(1)
        second.addWidget(self.show_ignored)
        head.addLayout(second)
        self.causes = ChipRow("problems_causes", "Cause")
        head.addWidget(self.causes)
        self.notice = Notice("problems_notice")
        head.addWidget(self.notice)
        column.addWidget(self.head)
        self.stack = QStackedWidget()
        self.table = Table(COLUMNS, object_name="problems_table", accessible="Problems", multi=True, key=row_key)
        self.none = EmptyState(*CALM, drawing="done", object_name="problems_none")
        self.hushed = EmptyState("Nothing else to look at", "The files that were not read are ones that you ignore.",
                                 action="Show ignored", primary=False, drawing="done", object_name="problems_hushed")
        self.filtered = EmptyState("No file fits these filters", "Clear them to see the whole list.",
                                   action="Clear filters", primary=False, drawing="nothing",
                                   object_name="problems_filtered")
        self.loading = SkeletonList(6, row_height=44, object_name="problems_loading")
        self.failed = EmptyState("The list could not be read", "", action="Try again", drawing="problem",
                                 object_name="problems_failed")
        for widget in (self.loading, self.table, self.none, self.hushed, self.filtered, self.failed):
            self.stack.addWidget(widget)
        column.addWidget(self.stack, 1)
        self.detail = ProblemDetail()
        self.open_button, self.reveal_button = self.detail.open_button, self.detail.reveal_button
        self.copy_button = self.detail.copy_button
        column.addWidget(self.detail)
        self.head.hide()
        self.detail.hide()

    def _connect(self) -> None:
        desk, table, detail = self._desk, self.table, self.detail
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(120)
        self._soon.timeout.connect(self._filter)
        self.search.textChanged.connect(lambda _: self._soon.start())
        self.folder.activated.connect(lambda _: self._filter())
        self.show_ignored.clicked.connect(lambda _: self._filter())
        self.causes.changed.connect(lambda _: self._filter())
        self.filtered.clicked.connect(self.show_all)
        self.hushed.clicked.connect(self._reveal_ignored)
        self.failed.clicked.connect(self.reload)
        self.all_scans.clicked.connect(lambda: self._recognise(self._rows))
        self.export.clicked.connect(self._on_export)
        table.rowActivated.connect(lambda _: self._open())
        table.menuAsked.connect(lambda _, position: self._on_menu(position))
        table.chosenChanged.connect(self._fit_buttons)
        for button, run in ((detail.retry, self._retry), (detail.ignore, self._ignore), (detail.unlock, self._unlock),
                            (detail.recognise, self._recognise_chosen), (detail.limit, self._raise_limit),
                            (detail.caption, self._caption), (detail.open_button, self._open),
                            (detail.reveal_button, self._reveal), (detail.copy_button, self._copy)):
            button.clicked.connect(lambda _=False, run=run: run())
        keys = Qt.Key
        table.keys = {keys.Key_R: self._retry, keys.Key_F5: self._retry, keys.Key_I: self._ignore,
                      keys.Key_Delete: self._ignore, keys.Key_P: self._unlock, keys.Key_T: self._recognise_chosen,
                      keys.Key_L: self._raise_limit, keys.Key_C: self._caption}
        for sequence, run in (("Ctrl+Return", self._reveal), ("Ctrl+C", self._copy), ("Ctrl+S", self._on_export)):
            shortcut = QShortcut(QKeySequence(sequence), table)
            shortcut.setContext(Qt.ShortcutContext.WidgetShortcut)
            shortcut.activated.connect(run)
        desk.indexProgressed.connect(self._on_index_progressed)
        desk.indexFinished.connect(self._on_index_finished)

    # ---- the list

    def _on_index_progressed(self, progress: IndexProgress | None) -> None:
        # "everything was read" is a promise that only a finished run can give
        texts = CALM if progress is None else SO_FAR
        if self.none.title.text() != texts[0]:
            self.none.set_texts(*texts)

    def _on_index_finished(self, finished: Finished) -> None:
        if finished.job_id == self._trying:
            self._trying = None

    def _ended(self) -> int:
        return self._tries if self._trying is None else self._tries - 1

    def reload(self) -> None:
        """Asks for the list; many requests become one, and another after the one that is on its way."""
        if self._busy:
            self._again = True
            return
        self._busy, self._again, self._knows = True, False, self._ended()
        self._latest.watch(self._desk.commands.problems(), on_finished=self._on_finished)

    def show_folder(self, folder: Path, *, ignored: bool = False) -> None:
        """Shows the problems of one folder only."""
        self.search.set_text("")
        self.causes.set_value("")
        self.show_ignored.setChecked(ignored or self.show_ignored.isChecked())
        if _find(self.folder, folder) == 0:
            self.folder.addItem(short_path(folder), folder)
        self.folder.setCurrentIndex(_find(self.folder, folder))
        self._filter()

    def show_all(self) -> None:
        """Clears the filters."""
        self.search.set_text("")
        self.causes.set_value("")
        self.folder.setCurrentIndex(0)
        self._filter()

    def _reveal_ignored(self) -> None:
        self.show_ignored.setChecked(True)
        self._filter()

    def _on_finished(self, finished: Finished) -> None:
        self._busy = False
        if finished.outcome is Outcome.FAILED and finished.failure is not None:
            self.failed.set_texts("The list could not be read", failure_text(finished.failure))
            self._show_only(self.failed)
        else:
            self._take(finished.result, knows=self._knows)
        if self._again:
            self.reload()

    def _take(self, result: object, *, knows: int) -> None:
        if not isinstance(result, tuple):
            return
        problems = cast(tuple[ProblemView, ...], result)
        take = partial(self._take_rows, knows)
        if len(problems) <= AT_ONCE:
            take(_read(problems))
        else:
            self._desk.errands.run(partial(_read, problems), take)

    def _take_rows(self, knows: int, read: tuple[tuple[Row, ...], dict[Path, int]]) -> None:
        self._rows, folders = read
        self._fill_folders(folders)
        self._filter()
        if knows == self._tries:
            self._say_tried()

    def _fill_folders(self, folders: dict[Path, int]) -> None:
        before = self.folder.currentData()
        self.folder.clear()
        self.folder.addItem("all", None)
        for path, number in folders.items():
            self.folder.addItem(f"{short_path(path)} ({number:,})", path)
        if before is not None and _find(self.folder, before) == 0:
            self.folder.addItem(short_path(before), before)
        self.folder.setCurrentIndex(_find(self.folder, before))
        self.folder.updateGeometry()

    def wanted(self) -> Wanted:
        """Gives the filters as they stand."""
        return Wanted(self.search.text(), self.causes.value(), self.folder.currentData(),
                      self.show_ignored.isChecked())

    def _filter(self) -> None:
        self._soon.stop()
        self._turn += 1
        look = partial(_look, self._rows, self.wanted())
        if len(self._rows) <= AT_ONCE:
            self._show(self._turn, look())
        else:
            self._desk.errands.run(look, partial(self._show, self._turn))

    def _show(self, turn: int, shown: _Shown) -> None:
        if turn != self._turn:
            return  # the filters changed meanwhile
        self.causes.set_counts(shown.causes)
        self.table.set_rows(shown.rows)
        if shown.rows:
            self._show_only(self.table)
        elif not self._rows:
            self._show_only(self.none)
        elif shown.ignored == len(self._rows) and not self.wanted().narrows():
            self._show_only(self.hushed)
        else:
            self._show_only(self.filtered)
        self.sentence.set_full_text(shown.sentence or ("Nothing to look at" if shown.ignored else ""))
        self.show_ignored.setText(f"Show ignored ({shown.ignored:,})" if shown.ignored else "Show ignored")
        self.show_ignored.setVisible(shown.ignored > 0 or self.show_ignored.isChecked())
        self.show_ignored.updateGeometry()
        self.all_scans.setText(f"Read text from {words.counted(shown.scans, 'scan')}")
        self.all_scans.setVisible(shown.scans > 1 and not self._read_only())
        self.export.setEnabled(bool(shown.rows))
        announce(self.sentence, f"{words.counted(len(shown.rows), 'row')}. {shown.sentence}")

    def _show_only(self, widget: QWidget) -> None:
        self.stack.setCurrentWidget(widget)
        self.head.setVisible(bool(self._rows) and widget is not self.failed)
        self.detail.setVisible(widget is self.table)

    # ---- what is chosen

    def chosen(self) -> list[Row]:
        """Gives the rows chosen."""
        return [cast(Row, row) for row in self.table.chosen_rows()]

    def _read_only(self) -> bool:
        return self._desk.library is not None and self._desk.library.read_only

    def _offer(self) -> Offer:
        return offer_for(self.chosen(), read_only=self._read_only())

    def _fit_buttons(self) -> None:
        rows = self.chosen()
        self.detail.show_rows(rows, offer_for(rows, read_only=self._read_only()))

    # ---- what can be done

    def _retry(self) -> None:
        rows = self.chosen()
        if self._offer().retry:
            paths = paths_of(rows)
            self._try(self._desk.commands.retry(paths), rows, IN_VAIN)
            self._desk.toast(f"Trying {_these([(path, '') for path in paths])} again")

    def _try(self, job: JobId, rows: Sequence[Row], in_vain: str) -> None:
        self._tried, self._in_vain, self._trying = {row_key(row) for row in rows}, in_vain, job
        self._tries += 1

        def done(_: object) -> None:
            if self._trying == job:
                self._trying = None
            if not (self._busy and self._knows == self._tries):
                self.reload()

        self._desk.start(job, done)

    def _say_tried(self) -> None:
        # said once the list is there that was read after the try
        if not self._tried or self._desk.index_job is not None:
            return
        tried, self._tried = self._tried, set()
        left = sum(row_key(row) in tried for row in self._rows)
        found = len(tried) - left
        if len(tried) == 1:
            self._desk.toast("It is in the results now" if found else self._in_vain)
        else:
            self._desk.toast(f"{words.count(found)} of {words.counted(len(tried), 'file')} are in the results now")

    def _ignore(self) -> None:
        rows, offer = self.chosen(), self._offer()
        if not (offer.ignore or offer.restore):
            return
        self._set_ignored(places_of(rows), offer.ignore, undo=True)

    def _set_ignored(self, places: Places, ignored: bool, *, undo: bool) -> None:
        commands = self._desk.commands

        def done(result: object) -> None:
            self._again = self._busy  # a list on its way does not know of this
            self._take(result, knows=self._ended())
            self._desk.refresh()
            if undo:
                text = f"Ignoring {_these(places)}" if ignored else f"{_these(places, start=True)} back on the list"
                self._desk.toast(text, action="Undo",
                                 run=lambda: self._set_ignored(places, not ignored, undo=False))

        self._desk.start(commands.ignore((), ignored=ignored, members=places), done)

    def _unlock(self) -> None:
        if self._offer().unlock:
            problem = self.chosen()[0].problem
            ask_password(self.window(), self._desk, problem.path, problem.member, self.reload)

    def _caption(self) -> None:
        if self._offer().caption:
            problem = self.chosen()[0].problem
            edit_caption(self.window(), self._desk, problem.path, problem.member, self.reload)

    def _raise_limit(self) -> None:
        limit = self._offer().limit
        if limit:
            self._desk.show_setting(limit)

    def _recognise_chosen(self) -> None:
        if self._offer().recognise:
            self._recognise(self.chosen())

    def _recognise(self, rows: Sequence[Row]) -> None:
        able = [row for row in rows if row.able and not row.problem.ignored] or [row for row in rows if row.able]
        if able:  # asked each time: it may have been installed a minute ago
            self._desk.start(self._desk.commands.programs(), lambda found: self._recognise_with(found, able))

    def _recognise_with(self, found: object, rows: Sequence[Row]) -> None:
        if not isinstance(found, ProgramsView):
            return
        if not found.tesseract:
            self.notice.show_text(
                f"Text recognition needs Tesseract, which is not on this computer. {install_words('tesseract')}",
                action="Look again", run=lambda: self._recognise(rows))
            return
        self.notice.hide()
        places = places_of(rows)
        self._try(self._desk.commands.recognise((), members=places), rows, "Text recognition found no text in it")
        self._desk.toast(f"Reading the text of {_these(places)}; this goes on while you work")
        self._offer_always()

    def _offer_always(self) -> None:
        # asked for by hand it is done whatever the setting says; the setting is for scans that come later
        switch = recognition_switch()
        if switch and not self._desk.settings.flag(switch):
            self.notice.show_text("Scans that come later are not read by themselves.", action="Read those too",
                                  run=lambda: self._turn_on(switch))

    def _turn_on(self, switch: str) -> None:
        self._desk.settings.set(switch, True)
        self.notice.hide()

    def _open(self) -> None:
        rows = self.chosen()
        if len(rows) == 1:
            self._desk.start(self._desk.commands.open_file(rows[0].problem.path))

    def _reveal(self) -> None:
        rows = self.chosen()
        if len(rows) == 1:
            self._desk.start(self._desk.commands.reveal(rows[0].problem.path))

    def _copy(self) -> None:
        lines = [f"{_full(row.problem)}\n{row.problem.code}: {row.problem.message}\n{row.problem.hint}".strip()
                 for row in self.chosen()[:1000]]
        if lines:
            QApplication.clipboard().setText("\n\n".join(lines))
            self._desk.toast("Details copied")

    def _on_menu(self, position: QPoint) -> None:
        offer = self._offer()
        made = menu(self, "problems_menu", "Problem")
        made.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        ignore = "Stop ignoring" if offer.restore else "Ignore"
        entries: tuple[tuple[str, str, str, Callable[[], None], bool, bool], ...] = (
            ("lock", "Enter password...", "P", self._unlock, offer.unlock, False),
            ("scan", "Read with text recognition", "T", self._recognise_chosen, offer.recognise > 0, False),
            ("sliders", "Raise the limit...", "L", self._raise_limit, bool(offer.limit), False),
            ("refresh", "Try again", "R", self._retry, True, offer.retry),
            ("eye" if offer.restore else "eye_off", ignore, "I", self._ignore, True, offer.ignore or offer.restore),
            ("quote", "Add a caption or transcript...", "C", self._caption, True, offer.caption),
            ("", "", "", self._copy, True, True),
            ("open", "Open", "Enter", self._open, True, offer.open),
            ("reveal", "Show in file manager", "Ctrl+Return", self._reveal, True, offer.open),
            ("copy", "Copy details", "Ctrl+C", self._copy, True, True),
            ("", "", "", self._copy, True, True),
            ("export", "Export CSV...", "Ctrl+S", self._on_export, True, True),
        )
        for icon, text, key, run, shown, enabled in entries:
            if not text:
                made.addSeparator()
            elif shown:
                made.addAction(icons.icon(icon, 16), f"{text}\t{key}", run).setEnabled(enabled or icon in (
                    "lock", "scan", "sliders"))
        made.popup(position)

    # ---- export

    def _on_export(self) -> None:
        chosen, _ = QFileDialog.getSaveFileName(self, "Save the problems as a table", "problems.csv", "CSV (*.csv)")
        if chosen:
            self.export_to(Path(chosen))

    def export_to(self, file: Path) -> None:
        """Writes the rows now shown as CSV."""
        rows = [cast(Row, row).problem for row in self.table.rows_model.rows]
        self._desk.start(self._desk.commands.export_problems(file, rows), lambda _: self._desk.toast(
            f"Saved {words.counted(len(rows), 'row')} to {display_path(file.name)}"))


def _find(combo: ComboBox, value: object) -> int:
    # findData() compares Python objects by identity; the first entry stands for all
    return next((at for at in range(combo.count()) if combo.itemData(at) == value), 0)


def _these(places: Places, *, start: bool = False) -> str:
    if len(places) == 1:
        return file_words(*places[0]) + (" is" if start else "")
    return words.counted(len(places), "file") + (" are" if start else "")


def _full(problem: ProblemView) -> str:
    return quick_path(problem.path) + (f" / {display_path(problem.member)}" if problem.member else "")
