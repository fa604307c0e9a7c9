"""The window: rail, pages, shared inspector, status bar; what is dropped, typed and remembered.

It is shown before the program behind it exists (:meth:`MainWindow.connect_program` follows), so that
the first paint waits for nothing. It does no disk, network or model work of its own.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Final, cast

from PySide6.QtCore import QByteArray, QEventLoop, QPoint, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDragMoveEvent, QKeySequence, QResizeEvent, QShortcut
from PySide6.QtWidgets import QApplication, QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from sbert_desktop.app.interface import Commands
from sbert_desktop.app.views import IndexProgress, LibraryView
from sbert_desktop.domain import Failure, display_path, short_path
from sbert_desktop.ui import window_state, words
from sbert_desktop.ui.bridge import Bridge
from sbert_desktop.ui.collections.frame import ShelfFrame
from sbert_desktop.ui.drop import DropOverlay, local_paths
from sbert_desktop.ui.errands import Errands
from sbert_desktop.ui.inspector_split import InspectorSplit
from sbert_desktop.ui.overlay import Sheet
from sbert_desktop.ui.page import Action, Desk, Inspector, Page, failure_text
from sbert_desktop.ui.pages import PAGES, PageSpec
from sbert_desktop.ui.rail import Rail
from sbert_desktop.ui.status_bar import StatusBar
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.widgets import EmptyState, Panel, SkeletonList, Toast, announce, name
from sbert_desktop.ui.window_actions import own_actions, scale_text

PRODUCT: Final = "SBERT Desktop"
RAIL_COLLAPSES: Final = 1180
INSPECTOR_FOLDS: Final = 1060
UNDER_A_SHEET: Final = frozenset({"Ctrl++", "Ctrl+=", "Ctrl+-", "Ctrl+0", "Ctrl+Q"})  # what never leads away from it
CLOSING_MS: Final = 8000  # the program takes 5 s at most (DESIGN section 4), saving what is remembered a little


class MainWindow(QWidget):
    """The one window. ``closed`` is emitted once, after the program behind it has been closed."""

    closed = Signal()
    ready = Signal()  # all pages are made and the library's state has arrived
    retryRequested = Signal()

    def __init__(self, library: Path, *, state: window_state.State | None = None,
                 save_state: Callable[[window_state.State], None] | None = None,
                 pages: Sequence[PageSpec] = PAGES) -> None:
        super().__init__()
        name(self, "main_window", PRODUCT)
        self._library_path = library
        self._state = state or {}
        self._save_state = save_state
        self._specs = tuple(pages)
        # a page that the program cannot fill leaves a gap: the keys of the others stay as the rail showed them
        self._digits = {spec.key: f"Ctrl+{number}" if number < 10 else "" for number, spec in enumerate(pages, start=1)}
        self._pages: dict[str, Page] = {}
        self._current = ""
        self._closing = False
        self._ended = False
        self._ready = False
        self._shortcuts: list[QShortcut] = []
        self.commands: Commands | None = None
        self.desk: Desk | None = None
        self.frame: ShelfFrame | None = None
        self.bridge = Bridge(self)
        self.errands = Errands(self)
        self.setAcceptDrops(True)
        self.setMinimumSize(720, 480)
        self._build()
        self._restore_geometry()
        self._install_shortcuts()
        self._go(str(self._state.get("page", "")) or self._specs[0].key)
        self._set_title()

    # ---- building

    def _build(self) -> None:
        self.rail = Rail()
        for spec in self._specs:
            self.rail.add_page(spec.key, spec.title, spec.icon, shortcut=self._digits[spec.key], foot=spec.foot)
        self.rail.head.set_name(self.library_name(), short_path(self._library_path))
        self.rail.set_collapsed(bool(self._state.get("rail_collapsed", False)))
        self.rail.pageChosen.connect(self._on_page_chosen)
        self.stack = QStackedWidget()
        self.stack.setObjectName("pages")
        self._opening = Panel()
        column = QVBoxLayout(self._opening)
        column.setContentsMargins(0, 56, 0, 0)
        column.addWidget(SkeletonList(object_name="opening_skeleton"))
        column.addStretch(1)
        self.stack.addWidget(self._opening)
        self.inspector = Inspector()
        self.inspector.set_open(bool(self._state.get("inspector_open", True)))
        self.splitter = InspectorSplit(self.stack, self.inspector, narrow=self._narrow,
                                       width=self._state.get("inspector_width"))
        self.status = StatusBar()
        self.splitter.shared.connect(self._on_room_shared)
        self.status.pauseClicked.connect(self.pause_or_continue)
        self.status.paceChosen.connect(self._on_pace_chosen)
        self.status.inspectorToggled.connect(self.splitter.show_inspector)
        middle = QHBoxLayout()
        middle.setSpacing(0)
        middle.addWidget(self.rail)
        middle.addWidget(self.splitter, 1)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(0)
        whole.addLayout(middle, 1)
        whole.addWidget(self.status)
        self.toast = Toast(self)
        self.toast.lift = lambda: self._pages[self._current].foot() if self._current in self._pages else 0
        self.drop = DropOverlay(self)
        self.drop.dropped.connect(self.add_folders_from)
        self.drop.searched.connect(self._on_search_by)
        theme.themeChanged.connect(self._on_theme_changed)

    def library_name(self) -> str:
        """Gives the library's name as the rail shows it."""
        own = display_path(self._library_path.name)
        return "My library" if own in ("library", "") else own

    # ---- the program behind the window

    def connect_program(self, commands: Commands) -> None:
        """Takes the program, makes the pages (the one in front first) and asks for the library."""
        if self._closing:  # closed before the program was there: nobody else would close that
            self.errands.run(commands.close, lambda _: None)
            return
        self.commands = commands
        commands.connect(self.bridge.post)
        desk = self.desk = Desk(commands, self.bridge, self.inspector, self.errands, self)
        desk.pageRequested.connect(self.show_page)
        desk.addFoldersRequested.connect(self.add_folders_from)
        desk.searchRequested.connect(self.search_for)
        desk.searchInRequested.connect(self._on_search_in)
        desk.settingRequested.connect(self._on_setting_wanted)
        desk.amongRequested.connect(self._on_among)
        desk.toastRequested.connect(self._on_toast)
        desk.libraryChanged.connect(self._on_library_changed)
        desk.indexProgressed.connect(self._on_index_progressed)
        desk.indexFinished.connect(lambda finished: desk.report_failure(finished))
        desk.settingChanged.connect(self._on_setting_changed)
        self.status.set_settings(desk.settings)
        self._apply_theme()
        for spec in [spec for spec in self._specs if spec.needs and not desk.can(spec.needs)]:
            self.rail.remove_page(spec.key)
        self._specs = tuple(spec for spec in self._specs if not spec.needs or desk.can(spec.needs))
        desk.pages = frozenset(spec.key for spec in self._specs)
        self.frame = ShelfFrame(self, desk)
        desk.refresh()
        self._go(self._current)
        self._page(self._current).focus_first()
        QTimer.singleShot(0, self, self._make_next_page)

    def show_opening_failure(self, failure: Failure) -> None:
        """Shows why the library could not be opened, with one thing to do."""
        state = EmptyState("The library could not be opened", failure_text(failure), action="Try again", icon="refresh",
                           drawing="problem", object_name="opening_failed")
        state.clicked.connect(self._on_retry)
        panel = Panel()
        column = QVBoxLayout(panel)
        column.addWidget(state)
        self.stack.addWidget(panel)
        self.stack.setCurrentWidget(panel)
        if state.button is not None:
            state.button.setFocus(Qt.FocusReason.OtherFocusReason)
        self.status.set_message(failure.message, "danger")
        announce(panel, failure_text(failure))

    def _on_retry(self) -> None:
        self.stack.setCurrentWidget(self._opening)
        self.status.set_message("Opening the library...")
        self.retryRequested.emit()

    def _make_next_page(self) -> None:
        if self._closing:
            return
        for spec in self._specs:
            if spec.key not in self._pages:
                self._page(spec.key)
                QTimer.singleShot(0, self, self._make_next_page)
                return
        self._check_ready()

    def _check_ready(self) -> None:
        if not self._ready and len(self._pages) == len(self._specs) and self.desk is not None and self.desk.library:
            self._ready = True
            self.ready.emit()

    # ---- pages

    def page(self, key: str) -> Page:
        """Gives a page, made if it is not there yet; KeyError when there is no such page."""
        return self._page(key)

    def made_page(self, key: str) -> Page | None:
        """Gives a page if it is made already."""
        return self._pages.get(key)

    def current_page(self) -> str:
        """Gives the key of the page in front."""
        return self._current

    def show_page(self, key: str) -> None:
        """Brings a page to the front and puts the focus into it."""
        self._go(key)
        if key in self._pages:
            self._pages[key].focus_first()
            announce(self, self._pages[key].title)

    def _show_there(self, key: str) -> None:
        if any(spec.key == key for spec in self._specs):
            self.show_page(key)

    def search_for(self, text: str) -> None:
        """Goes to Search; with words, searches for them."""
        self.show_page("search")
        page = self._pages.get("search")
        search = getattr(page, "search", None)
        if text and search is not None:
            search(text)

    def _on_search_in(self, folder: Path) -> None:
        self.show_page("search")
        search_in = getattr(self._pages.get("search"), "search_in", None)
        if search_in is not None:
            search_in(folder)

    def _on_search_by(self, path: Path) -> None:
        search_by = getattr(self._pages.get("search"), "search_by", None)
        if search_by is not None:
            search_by(path)

    def _on_setting_wanted(self, setting: str) -> None:
        self.show_page("settings")
        show_key = getattr(self._pages.get("settings"), "show_key", None)
        if show_key is not None:
            show_key(setting)

    def _on_among(self, key: str, contents: tuple[int, ...], label: str) -> None:
        if any(spec.key == key for spec in self._specs):
            self.show_page(key)
            self._pages[key].take_among(contents, label)

    def _page(self, key: str) -> Page:
        if key not in self._pages:
            assert self.desk is not None
            spec = next(spec for spec in self._specs if spec.key == key)
            made = cast(Page, getattr(importlib.import_module(spec.module), spec.class_name)(self.desk))
            made.restore_state(window_state.section(window_state.section(self._state, "pages"), key))
            self._pages[key] = made
            self.stack.addWidget(made)
            # a page made later may have put a panel into the inspector: show the one of the page in front
            self.inspector.show_for(self._current)
        return self._pages[key]

    def _go(self, key: str) -> None:
        if key not in {spec.key for spec in self._specs}:
            key = self._specs[0].key
        self._current = key
        self.rail.show_current(key)
        if self.desk is not None:
            page = self._page(key)
            self.stack.setCurrentWidget(page)
            page.activate()
        self.inspector.show_for(key)
        self._set_title()
        if self.frame is not None:
            self.frame.page_changed()

    def _on_page_chosen(self, key: str) -> None:
        self._go(key)
        # whoever points goes on in the page, whose keys would be lost on the rail; whoever came by keys walks on there
        if not self.rail.item(key).shows_focus() and key in self._pages:
            self._pages[key].focus_first()

    def _set_title(self) -> None:
        title = next((spec.title for spec in self._specs if spec.key == self._current), "")
        self.setWindowTitle(f"{title} - {self.library_name()} - {PRODUCT}")

    # ---- what the program says

    def _on_library_changed(self, view: LibraryView) -> None:
        self.status.set_library(view)
        if any(spec.key == "library" for spec in self._specs):
            self.rail.set_badge("library", words.count(view.problems) if view.problems else "", warn=True,
                                description=words.counted(view.problems, "problem") if view.problems else "")
        self._check_ready()

    def _on_index_progressed(self, progress: IndexProgress | None) -> None:
        self.status.set_progress(progress, quiet=self.desk is not None and self.desk.quiet)
        if progress is None and self.desk is not None and self.desk.library is not None:
            self.status.set_library(self.desk.library)

    def pause_or_continue(self) -> None:
        """Pauses the run under way, or goes on with it."""
        if self.desk is not None:
            self.desk.pause()

    def _on_pace_chosen(self, pace: str) -> None:
        if self.desk is not None:
            self.desk.set_pace(pace)

    def _on_setting_changed(self, key: str) -> None:
        if key.startswith("appearance."):
            self._apply_theme()
        elif key == "indexing.pace" and self.desk is not None:
            self.status.set_settings(self.desk.settings)

    def _apply_theme(self) -> None:
        if self.desk is not None:
            settings = self.desk.settings
            theme.apply(scheme=settings.text("appearance.theme"), text_scale=settings.number("appearance.text_scale"),
                        reduce_motion=settings.flag("appearance.reduce_motion"))

    def _on_theme_changed(self) -> None:
        self.update()
        self.toast.place()

    def _on_toast(self, text: str, action: str, run: Callable[[], object] | None,
                  expired: Callable[[], object] | None) -> None:
        self.toast.show_message(text, action=action, run=run, expired=expired)

    # ---- adding folders

    def add_folders_from(self, paths: Sequence[Path]) -> None:
        """Offers to add folders; without any the person chooses one."""
        if self.desk is None:
            return
        from sbert_desktop.ui.library.adding import add_folders

        add_folders(self, self.desk, tuple(paths))

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        paths = local_paths(event.mimeData())
        if paths and self.desk is not None and event.source() is None:  # results dragged out are in already
            event.acceptProposedAction()
            self.drop.offer(paths, search=self._current == "search")
        else:
            event.ignore()

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        event.acceptProposedAction()

    # ---- inspector and narrow windows

    def _narrow(self) -> bool:
        return self.width() < INSPECTOR_FOLDS

    def _on_room_shared(self, available: bool, shown: bool) -> None:
        self.status.set_inspector(available=available, shown=shown)

    def toggle_inspector(self) -> None:
        """Shows or hides the preview."""
        if self.inspector.has_content():
            self.splitter.show_inspector(not self.splitter.inspector_shown())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.rail.set_forced(event.size().width() < RAIL_COLLAPSES)
        if self._narrow() and event.oldSize().width() >= INSPECTOR_FOLDS:
            self.splitter.fold()
        self.splitter.share()
        self.toast.place()
        if self.drop.isVisible():
            self.drop.setGeometry(self.rect())

    # ---- commands

    def actions_by_group(self) -> list[tuple[str, Action]]:
        """Gives every command with its group: the palette, the shortcut list and the tests use it."""
        out: list[tuple[str, Action]] = []
        page = self._pages.get(self._current)
        if page is not None and page.key != "settings":
            out += [(page.title, action) for action in page.actions_list()]
        out += [("Commands", action) for action in own_actions(self)]
        out += self.frame.actions() if self.frame is not None else []
        for spec in self._specs:
            out.append(("Go to", Action(f"go_{spec.key}", spec.title, partial(self.show_page, spec.key),
                                        self._digits[spec.key], spec.icon, bind=False)))
        if "settings" in self._pages:
            out += [("Settings", action) for action in self._pages["settings"].actions_list()]
        return out

    def _install_shortcuts(self) -> None:
        def bind(keys: str, run: Callable[[], object]) -> None:
            shortcut = QShortcut(QKeySequence(keys), self)
            shortcut.activated.connect(lambda: run() if keys in UNDER_A_SHEET or not self.covered() else None)
            self._shortcuts.append(shortcut)

        for action in own_actions(self):
            if action.shortcut and action.bind:
                bind(action.shortcut, partial(self._run, action))
        bind("Ctrl+=", lambda: scale_text(self.desk, 10))
        for spec in self._specs:
            if self._digits[spec.key]:
                bind(self._digits[spec.key], partial(self._show_there, spec.key))
        if any(spec.key == "settings" for spec in self._specs):
            bind("Ctrl+,", lambda: self.show_page("settings"))

    def covered(self) -> bool:
        """True while a sheet lies over the page; the window's keys rest then."""
        # a page that changes under an open sheet takes the focus with it, and what is typed goes where nobody sees it
        sheets = self.findChildren(Sheet, options=Qt.FindChildOption.FindDirectChildrenOnly)
        return any(sheet.isVisible() for sheet in sheets)

    @staticmethod
    def _run(action: Action) -> None:
        if action.enabled is None or action.enabled():
            action.run()

    def open_palette(self) -> None:
        """Opens the command palette."""
        if not hasattr(self, "palette_sheet"):
            from sbert_desktop.ui.palette import CommandPalette
            from sbert_desktop.ui.palette_documents import DocumentFinder

            self.palette_sheet = CommandPalette(self, self.actions_by_group, DocumentFinder(self))
            self.palette_sheet.searchAsked.connect(self.search_for)
        self.palette_sheet.open()

    def open_shortcuts(self) -> None:
        """Shows the list of keyboard shortcuts."""
        if not hasattr(self, "shortcuts_sheet"):
            from sbert_desktop.ui.shortcuts import ShortcutsSheet

            self.shortcuts_sheet = ShortcutsSheet(self, self.actions_by_group)
        self.shortcuts_sheet.open()

    # ---- remembering, showing, closing

    def bring_to_front(self) -> None:
        """Shows the window above the others (a second start asked for it)."""
        if self.isMinimized():
            self.showNormal()
        self.show()
        self.raise_()
        self.activateWindow()

    def _restore_geometry(self) -> None:
        self.resize(QSize(1280, 800))
        saved = self._state.get("geometry")
        if isinstance(saved, str):
            self.restoreGeometry(QByteArray.fromBase64(saved.encode("ascii", "ignore")))
        screen = self.screen()
        if screen is not None:
            room = screen.availableGeometry()
            if not room.contains(self.geometry().center()):  # the screen it was on is gone
                self.resize(self.size().boundedTo(room.size()))
                self.move(room.center() - QPoint(self.width() // 2, self.height() // 2))

    def state(self) -> window_state.State:
        """Gives what the next start should find."""
        pages = window_state.section(self._state, "pages")
        for key, page in self._pages.items():
            pages[key] = page.save_state()
        return {
            **self._state,
            "geometry": bytes(self.saveGeometry().toBase64().data()).decode("ascii"),
            "page": self._current,
            "rail_collapsed": self.rail.collapsed_by_hand(),
            "inspector_open": self.inspector.is_open(),
            "inspector_width": self.splitter.inspector_width(),
            "pages": pages,
        }

    def closeEvent(self, event: QCloseEvent) -> None:
        """Goes from the screen at once; the program behind is closed in a thread, then ``closed``."""
        if self._closing:
            event.accept()
            return
        self._closing = True
        state = self.state()
        self.toast.dismiss()
        event.accept()
        self.hide()
        if self.desk is not None:
            self.desk.close()
        commands, save = self.commands, self._save_state

        def work() -> None:
            if save is not None:
                save(state)
            if commands is not None:
                commands.close()

        self.errands.run(work, lambda _: self._on_program_closed(), lambda _: self._on_program_closed())

    def finish(self) -> None:
        """Closes the window and waits until the program behind it is closed, at most as long as that may take."""
        self.close()
        if not self._ended:
            loop, limit = QEventLoop(), QTimer()
            limit.setSingleShot(True)
            limit.timeout.connect(loop.quit)
            limit.start(CLOSING_MS)
            self.closed.connect(loop.quit)
            loop.exec()
            limit.stop()

    def _on_program_closed(self) -> None:
        self._ended = True
        self.bridge.close()
        self.errands.close()
        self.closed.emit()
        app = QApplication.instance()
        if isinstance(app, QApplication) and app.quitOnLastWindowClosed() is False:
            app.quit()
