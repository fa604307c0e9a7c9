"""The Library page: empty it invites, filled it shows folders, problems, what is left out, and health."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import ClassVar

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QApplication, QFileDialog, QHBoxLayout, QScrollArea, QStackedWidget, QVBoxLayout, QWidget

from sbert_desktop.app.views import FolderView, IndexProgress, LibraryView
from sbert_desktop.domain import Finished, Outcome, display_path
from sbert_desktop.settings import BY_KEY
from sbert_desktop.ui import words
from sbert_desktop.ui.library.cards import FolderCard
from sbert_desktop.ui.library.causes import title_of_folder
from sbert_desktop.ui.library.health import HealthTab
from sbert_desktop.ui.library.left_out import LeftOutTab
from sbert_desktop.ui.library.problems import ProblemsTab
from sbert_desktop.ui.library.progress_panel import ProgressPanel
from sbert_desktop.ui.library.recent import RecentTab
from sbert_desktop.ui.library.rules import edit_rules
from sbert_desktop.ui.library.tab_bar import INSET, Tabs
from sbert_desktop.ui.library.welcome import Welcome
from sbert_desktop.ui.page import Action, Desk, Page, PageHead
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.widgets import Button, Card, FlowLayout, Label, Line, SkeletonList, name

FOLDERS, PROBLEMS, LEFT_OUT, RECENT, HEALTH = range(5)
TABS = (("folders", "Folders"), ("problems", "Problems"), ("left_out", "Left out"), ("recent", "Recently read"),
        ("health", "Index health"))


class LibraryPage(Page):
    """Tabs: the folders as cards, Problems, Left out, Recently read and Index health."""

    key: ClassVar[str] = "library"
    title: ClassVar[str] = "Library"
    icon: ClassVar[str] = "library"

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._cards: dict[Path, FolderCard] = {}
        self._number = 0
        self._paused = False
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._build_head())
        self.stack = QStackedWidget()
        self.stack.setObjectName("library_stack")
        self.loading = SkeletonList(4, row_height=120, object_name="library_loading")
        self.welcome = Welcome(desk)
        self.full = self._build_full()
        for widget in (self.loading, self.welcome, self.full):
            self.stack.addWidget(widget)
        column.addWidget(self.stack, 1)
        # the lists below are asked for again at most every two seconds while indexing runs
        self._late = QTimer(self)
        self._late.setSingleShot(True)
        self._late.setInterval(2000)
        self._late.timeout.connect(self._reload_tab)
        desk.libraryChanged.connect(self._on_library_changed)
        desk.indexProgressed.connect(self._on_index_progressed)
        desk.indexFinished.connect(self._on_index_finished)
        desk.rulesChanged.connect(lambda _: self.left_out.forget())
        theme.themeChanged.connect(self._fit)
        if desk.library is not None:
            self._on_library_changed(desk.library)
        if desk.index_progress is not None:
            self._on_index_progressed(desk.index_progress)

    def _build_head(self) -> PageHead:
        head = PageHead("Library", "library_title")
        self.check = Button("Check for changes", icon="refresh", object_name="library_check",
                            tip="Look for new and changed files (F5)")
        self.add = Button("Add folder...", kind="primary", icon="plus", object_name="library_add",
                          tip="Add a folder (Ctrl+O), or drop it on the window")
        self.check.clicked.connect(lambda: self.desk.check_for_changes())
        self.add.clicked.connect(lambda: self.desk.add_folders())
        self.check.setVisible(False)
        self.add.setVisible(False)
        head.row.addWidget(self.check)
        head.row.addWidget(self.add)
        return head

    def _build_full(self) -> QWidget:
        full = QWidget()
        full.setObjectName("library_full")
        column = QVBoxLayout(full)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        top = QVBoxLayout()
        top.setContentsMargins(16, 0, 16, 0)
        top.setSpacing(16)
        self.progress = ProgressPanel(self.desk)
        self.progress.setVisible(False)
        top.addWidget(self.progress)
        self.pending = Card(fill="warn_soft", edge=None)
        name(self.pending, "library_pending", "Files that are gone")
        row = QHBoxLayout(self.pending)
        row.setContentsMargins(16, 8, 12, 8)
        self.pending_text = Label(wrap=True, object_name="library_pending_text")
        self.pending_apply = Button("Remove them", size="small", object_name="library_pending_apply")
        self.pending_apply.clicked.connect(lambda: self.desk.check_for_changes(confirm_removals=True))
        row.addWidget(self.pending_text, 1)
        row.addWidget(self.pending_apply)
        self.pending.setVisible(False)
        top.addWidget(self.pending)
        column.addLayout(top)
        self.cards_area = QScrollArea()
        name(self.cards_area, "library_folders", "Folders")
        self.cards_area.setWidgetResizable(True)
        self.cards_area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.cards_area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._cards_host = QWidget()
        self._cards_host.setObjectName("library_folders_content")
        self._flow = FlowLayout(self._cards_host, gap=16, least=280)
        self._flow.setContentsMargins(16, 16, 16, 16)
        self.cards_area.setWidget(self._cards_host)
        self.tabs = Tabs(object_name="library_tabs", accessible="Library")
        for _, text in TABS:
            self.tabs.add(text)
        bar = QHBoxLayout()
        bar.setContentsMargins(16 - INSET, 0, 16, 0)
        bar.addWidget(self.tabs)
        bar.addStretch(1)
        column.addLayout(bar)
        column.addWidget(Line())
        self.tab_stack = QStackedWidget()
        self.tab_stack.setObjectName("library_tab_pages")
        self.problems = ProblemsTab(self.desk)
        self.left_out = LeftOutTab(self.desk)
        self.recent = RecentTab(self.desk)
        self.health = HealthTab(self.desk)
        for widget in (self.cards_area, self.problems, self.left_out, self.recent, self.health):
            self.tab_stack.addWidget(widget)
        column.addWidget(self.tab_stack, 1)
        self.left_out.looked.connect(lambda: self.tabs.set_count(
            LEFT_OUT, words.count(self.left_out.total() or 0) if self.left_out.total() else ""))
        self.tabs.currentChanged.connect(self._on_tab_changed)
        return full

    # ---- for the window

    def foot(self) -> int:
        shown = self.problems.detail.isVisible()
        return self.problems.detail.height() if shown else 0

    def activate(self) -> None:
        self.desk.look_again()
        self._reload_tab()
        self.welcome.look_around()

    def focus_first(self) -> None:
        at = self.tabs.currentIndex()
        wanted: QWidget = self.tabs
        if self.stack.currentWidget() is self.welcome:
            wanted = self.welcome.zone.choose
        elif at == FOLDERS and self._cards:
            wanted = next(iter(self._cards.values()))
        elif at == PROBLEMS and self.problems.table.isVisible():
            wanted = self.problems.table
        elif at == LEFT_OUT and self.left_out.table.isVisible():
            wanted = self.left_out.table
        wanted.setFocus(Qt.FocusReason.OtherFocusReason)

    def actions_list(self) -> Sequence[Action]:
        out = []
        if self.stack.currentWidget() is self.full:
            for at, text in ((FOLDERS, "folders"), (PROBLEMS, "problems"), (LEFT_OUT, "what is left out"),
                             (RECENT, "recently read documents"), (HEALTH, "index health")):
                out.append(Action(f"library_tab_{at}", f"Show {text}", partial(self.tabs.setCurrentIndex, at),
                                  icon="library"))
            out += [Action(f"rules_{number}", f"Rules of {display_path(path.name)}...",
                           partial(self._edit_rules_of, path), icon="filter")
                    for number, path in enumerate(self._cards)]
        out += [Action(f"remove_{number}", f"Remove folder {display_path(path.name)}",
                       partial(self.remove, path), icon="close", note="from the library; its files stay")
                for number, path in enumerate(self._cards)]
        return out

    def save_state(self) -> dict[str, object]:
        return {"open_tab": TABS[self.tabs.currentIndex()][0]}

    def restore_state(self, state: dict[str, object]) -> None:
        for at, (key, _) in enumerate(TABS):
            if state.get("open_tab") == key:
                self.tabs.setCurrentIndex(at)

    def remove(self, folder: Path) -> None:
        """Takes a folder out of the library at once; it is erased only when Undo is no longer offered."""
        commands = self.desk.commands
        title = display_path(folder.name or str(folder))

        def removed(_: object) -> None:
            self.desk.toast(f"Removed {title} from the library; its files are untouched", action="Undo",
                            run=lambda: self.desk.start(commands.undo_remove(folder)),
                            expired=lambda: commands.finish_removals())

        self.desk.start(commands.remove_folder(folder), removed)

    # ---- what the program says

    def _on_library_changed(self, view: LibraryView) -> None:
        empty = not view.folders
        self.stack.setCurrentWidget(self.welcome if empty else self.full)
        self.add.setVisible(not empty)
        self.check.setVisible(not empty and not self._run_shown())
        self.check.setEnabled(not view.read_only)
        self.add.setEnabled(not view.read_only)
        self._show_folders(view.folders)
        self.tabs.set_count(PROBLEMS, words.count(view.problems) if view.problems else "", "warn")
        self.health.set_library(view)
        if empty and self.isVisible():
            self.welcome.look_around()
        if not self._late.isActive():
            # a list of many thousands is not made anew every other second
            self._late.start(2000 if view.problems < 5000 else 15_000)

    def _show_folders(self, folders: Sequence[FolderView]) -> None:
        wanted = {folder.path for folder in folders}
        if wanted != self._cards.keys():
            self.left_out.forget()
        for path in [path for path in self._cards if path not in wanted]:
            card = self._cards.pop(path)
            self._flow.removeWidget(card)
            card.hide()
            card.deleteLater()
        new = False
        self._paused = self._is_paused()
        for folder in folders:
            if self._paused and folder.state == "indexing":
                folder = replace(folder, state="paused")  # the program says so only when it goes on
            known = self._cards.get(folder.path)
            if known is not None:
                known.set_view(folder)
            else:
                self._cards[folder.path] = self._make_card(folder)
                new = True
        if new:
            self._order_tabs()
        self._fit()

    def _order_tabs(self) -> None:
        # cards are made after the tables below them; Tab follows what the eye sees
        chain: list[QWidget] = [self.check, self.add, self.progress.pace, self.progress.pause, self.progress.cancel]
        for card in self._cards.values():
            chain += [card, card.problems, card.more, card.ignored, card.locate]
        chain[5:5] = [self.tabs]
        chain.append(self.problems.all_scans)  # what follows was made in the order in which it is seen
        for first, second in itertools.pairwise(chain):
            QWidget.setTabOrder(first, second)

    def _make_card(self, folder: FolderView) -> FolderCard:
        card = FolderCard(folder, self._number, minutes=self._minutes())
        self._number += 1
        card.problemsAsked.connect(self._show_problems_of)
        card.searchAsked.connect(self._search_in)
        card.revealAsked.connect(lambda path: self.desk.start(self.desk.commands.reveal(path)))
        card.checkAsked.connect(self.desk.check_folder)
        card.ignoredAsked.connect(lambda path: self._show_problems_of(path, ignored=True))
        card.rulesAsked.connect(lambda view: edit_rules(self.window(), self.desk, view))
        card.locateAsked.connect(self._locate)
        card.removeAsked.connect(self.remove)
        self._flow.addWidget(card)
        card.show()  # now, not with the next event: a hidden card would take no room in the height worked out below
        return card

    def _minutes(self) -> int:
        key = "indexing.rescan_minutes"
        return self.desk.settings.number(key) if key in BY_KEY else 10

    def _search_in(self, folder: Path) -> None:
        self.desk.searchInRequested.emit(folder)

    def _edit_rules_of(self, folder: Path) -> None:
        edit_rules(self.window(), self.desk, self._cards[folder].view)

    def _locate(self, folder: Path) -> None:
        chosen = QFileDialog.getExistingDirectory(self, f"Where does {title_of_folder(folder)} lie now?")
        if chosen:
            self.locate(folder, Path(chosen))

    def locate(self, folder: Path, place: Path) -> None:
        """Says where a folder that is offline lies now."""
        self.desk.start(self.desk.commands.locate(folder, place), lambda _: self.desk.toast(
            f"{title_of_folder(folder)} is followed at its new place"))

    def _show_problems_of(self, folder: Path, *, ignored: bool = False) -> None:
        self.tabs.setCurrentIndex(PROBLEMS)
        self.problems.show_folder(folder, ignored=ignored)
        self.problems.table.setFocus(Qt.FocusReason.OtherFocusReason)

    def _on_index_progressed(self, progress: IndexProgress | None) -> None:
        self.progress.setVisible(self._run_shown())
        self.check.setVisible(not self._run_shown() and self.stack.currentWidget() is self.full)
        if progress is not None:
            self.progress.set_progress(progress)
        if self.desk.library is not None and self._paused != self._is_paused():
            self._show_folders(self.desk.library.folders)

    def _run_shown(self) -> bool:
        # a handful of changed files must not push the page down and up again
        return self.desk.index_progress is not None and not self.desk.quiet

    def _is_paused(self) -> bool:
        progress = self.desk.index_progress
        return progress is not None and progress.paused

    def _on_index_finished(self, finished: Finished) -> None:
        pending = self.desk.removals_pending
        self.pending.setVisible(pending > 0)
        if pending:
            self.pending_text.setText(
                f"{words.counted(pending, 'file')} of your folders are gone. Their entries were kept, in case a drive "
                "is away.")
        if finished.outcome is Outcome.DONE:
            self._reload_tab()

    def _on_tab_changed(self, at: int) -> None:
        focus = QApplication.focusWidget()
        if focus is not None and self.tab_stack.isAncestorOf(focus):
            # what is hidden loses the focus: it goes to the tabs, not to whatever control comes next
            self.tabs.setFocus(Qt.FocusReason.OtherFocusReason)
        self.tab_stack.setCurrentIndex(at)
        self._reload_tab()

    def _reload_tab(self) -> None:
        if not self.isVisible() or self.stack.currentWidget() is not self.full:
            return
        if self.tabs.currentIndex() == PROBLEMS:
            self.problems.reload()
        elif self.tabs.currentIndex() == LEFT_OUT:
            self.left_out.ensure()
        elif self.tabs.currentIndex() == RECENT:
            self.recent.reload()
        elif self.tabs.currentIndex() == HEALTH:
            self.health.measure()

    # ---- layout

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        self._flow.set_least(280 * max(100, theme.text_scale) // 100)
