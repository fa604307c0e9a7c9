"""What a page is and what it may use: the contract between the window and its pages.

The window makes each page with one argument, the :class:`Desk`; a page gives its panel to
``desk.inspector.set_content(self.key, widget)``. A page sets ``key``, ``title`` and ``icon`` and may
override what :class:`Page` declares. It talks to the program through ``desk.commands`` and hears
from it through ``desk.bridge``; it never touches another page.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Final

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtWidgets import QApplication, QHBoxLayout, QVBoxLayout, QWidget

from sbert_desktop.app.atlas_views import ClustersView
from sbert_desktop.app.interface import Commands
from sbert_desktop.app.views import HitView, IndexProgress, IndexReport, LibraryView
from sbert_desktop.domain import Failure, Finished, JobId, Outcome, Progress, Query, Started
from sbert_desktop.settings import Settings
from sbert_desktop.ui.bridge import Bridge
from sbert_desktop.ui.collections.shelf import Shelf
from sbert_desktop.ui.doorbell import Letterbox
from sbert_desktop.ui.errands import Errands
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.widgets import Label, Panel

BEAT_MS: Final = 15_000  # how often a folder that went away is looked for
QUIET_FILES: Final = 20  # a run over no more files than these shows itself by a sign only


@dataclass(frozen=True, slots=True)
class Action:
    """One command of the palette and the shortcut list.

    Args:
        name: Stable identifier in snake case.
        text: A verb phrase in sentence case.
        run: Called on the GUI thread.
        shortcut: Portable key sequence text, e.g. ``Ctrl+K``; "" for none.
        icon: Name of an icon.
        note: What it acts on, shown muted.
        enabled: Asked when the palette opens; None means always.
        bind: False when the page or the control itself already handles the shortcut.
    """

    name: str
    text: str
    run: Callable[[], object]
    shortcut: str = ""
    icon: str = "chevron_right"
    note: str = ""
    enabled: Callable[[], bool] | None = None
    bind: bool = True


class Inspector(Panel):
    """The panel on the right that every page shares; a page fills it with ``set_content``.

    Each content stays alive and is shown again with its page. ``wanted`` tells whether the page in
    front has something to show; the window decides with the width whether it is visible.
    """

    contentChanged = Signal()
    toggled = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("surface", parent=parent)
        self.setObjectName("inspector")
        self.setAccessibleName("Preview")
        self._fit_least()
        theme.themeChanged.connect(self._fit_least)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        self._column = column
        self._contents: dict[str, QWidget] = {}
        self._widths: dict[str, int] = {}
        self._key = ""
        self._open = True

    def least_width(self) -> int:
        """Gives the width below which what it shows would be cut off; it grows with the text."""
        return 300 + max(0, theme.text_scale - 100) * 6 // 5

    def _fit_least(self) -> None:
        self.setMinimumWidth(self.least_width())

    def set_content(self, key: str, widget: QWidget | None, *, width: int = 0) -> None:
        """Gives the panel of page ``key``; None takes it away. ``width``: until the person drags it, 0 as elsewhere."""
        self._widths[key] = width
        old = self._contents.pop(key, None)
        if old is not None and old is not widget:
            self._column.removeWidget(old)
            old.hide()
        if widget is not None:
            self._contents[key] = widget
            self._column.addWidget(widget)
            widget.setVisible(key == self._key)
        self.contentChanged.emit()

    def usual_width(self, otherwise: int) -> int:
        """Gives the width that the page in front has the panel at until the person drags it."""
        return self._widths.get(self._key, 0) or otherwise

    def show_for(self, key: str) -> None:
        """Shows the content of a page (the window calls it when the page changes)."""
        self._key = key
        for name, widget in self._contents.items():
            widget.setVisible(name == key)
        self.contentChanged.emit()

    def wanted(self) -> bool:
        """True while the page in front has a content and the person has not closed the panel."""
        return self._key in self._contents and self._open

    def has_content(self) -> bool:
        """True while the page in front has a content."""
        return self._key in self._contents

    def is_open(self) -> bool:
        """True unless the person closed the panel."""
        return self._open

    def set_open(self, open_: bool) -> None:
        """Opens or closes the panel for all pages."""
        if open_ != self._open:
            self._open = open_
            self.toggled.emit(open_)
            self.contentChanged.emit()


class Desk(QObject):
    """What a page may use: commands, events, the library's state, toasts, navigation, inspector.

    It follows every indexing run, whoever started it: ``indexProgressed`` comes at most four times
    a second, ``libraryChanged`` with every new state of the library.
    """

    libraryChanged = Signal(object)  # LibraryView
    indexProgressed = Signal(object)  # IndexProgress, or None when no run is under way
    indexFinished = Signal(object)  # Finished
    settingChanged = Signal(str)  # key; on the GUI thread
    pageRequested = Signal(str)
    addFoldersRequested = Signal(object)  # tuple[Path, ...]; empty: ask for a folder
    searchRequested = Signal(str)  # words to search for, from anywhere
    searchInRequested = Signal(object)  # Path of a folder to search in
    settingRequested = Signal(str)  # key of a setting to be shown
    rulesChanged = Signal(object)  # Path of a folder whose rules the person changed
    toastRequested = Signal(str, str, object, object)  # text, action, run, expired
    collectRequested = Signal(object)  # tuple[HitView, ...] to be put into a collection
    collectDocumentsRequested = Signal(object, str)  # tuple of content ids to be put into a collection, what they are
    saveSearchRequested = Signal(object)  # Query to be kept by name
    quotesRequested = Signal(object)  # Path of a draft whose quotations are checked, or None: the person chooses
    modelWanted = Signal(str)  # a model to be got from the hub is offered by this name
    amongRequested = Signal(str, object, str)  # page, tuple of content ids, what they are
    themesChanged = Signal(object)  # ClustersView: the newest themes of the whole library
    foundChanged = Signal()  # another search was answered: see found_query, found_contents
    chosenChanged = Signal(str, object)  # page, tuple of content ids that are chosen on it

    def __init__(self, commands: Commands, bridge: Bridge, inspector: Inspector, errands: Errands,
                 parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.commands = commands
        self.bridge = bridge
        self.inspector = inspector
        self.errands = errands
        self.shelf = Shelf(commands, bridge, self)
        self.pages: frozenset[str] = frozenset()
        self.library: LibraryView | None = None
        self.themes: ClustersView | None = None
        self.found_query: Query | None = None
        self.found_contents: tuple[int, ...] = ()
        self.index_job: JobId | None = None
        self.index_progress: IndexProgress | None = None
        self.removals_pending = 0
        self.quiet = False  # the run under way is so small that nothing but a sign shows it
        self._note = ""
        self._told: JobId | None = None  # whose failure was shown last
        self._throttle = QTimer(self)
        self._throttle.setSingleShot(True)
        self._throttle.setInterval(250)
        self._throttle.timeout.connect(self._emit_progress)
        # a look that finds nothing new is over before this; a longer run shows itself before its first file
        self._first = QTimer(self)
        self._first.setSingleShot(True)
        self._first.setInterval(300)
        self._first.timeout.connect(self._show_beginning)
        bridge.listen("index", on_started=self._on_index_started, on_progress=self._on_index_phase,
                      on_partial=self._on_index_partial, on_finished=self._on_index_finished)
        bridge.listen("errand", on_progress=self._on_errand_waits)
        # the program also refreshes by itself, when the model is ready or something is to be noticed
        for kind in ("refresh", "remove"):
            bridge.listen(kind, on_finished=self._on_view_finished)
        for kind in ("clusters", "change-clusters"):
            bridge.listen(kind, on_finished=self._on_themes)
        self._letters = Letterbox(self, self._tell_setting)
        commands.settings.subscribe(self._letters.drop)  # in whatever thread; settings outlive the window
        self._beat = QTimer(self)
        self._beat.setInterval(BEAT_MS)
        self._beat.timeout.connect(self.look_again)
        self._beat.start()

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self.commands.settings

    def close(self) -> None:
        """Stops timers; nothing is emitted any more."""
        self._throttle.stop()
        self._first.stop()
        self._beat.stop()
        self._letters.shut()
        self.blockSignals(True)

    # ---- asking

    def show_page(self, key: str) -> None:
        """Goes to a page."""
        self.pageRequested.emit(key)

    def add_folders(self, folders: Sequence[Path] = ()) -> None:
        """Offers to add folders; without any the person chooses one."""
        self.addFoldersRequested.emit(tuple(folders))

    def search_for(self, words: str) -> None:
        """Goes to Search and searches for words."""
        self.searchRequested.emit(words)

    def can(self, command: str) -> bool:
        """True when the program behind the window knows a command; a control without one is left out."""
        return self.shelf.can(command)

    def has_page(self, key: str) -> bool:
        """True when the window has a page; a control that leads to another one is left out."""
        return key in self.pages

    def collect_documents(self, contents: Sequence[int], label: str) -> None:
        """Asks into which collection these documents (content ids) go, and puts them there; ``label``: what they are.

        A message tells, with Undo.
        """
        if contents and self.can("collect_documents"):
            self.collectDocumentsRequested.emit(tuple(contents), label)

    def collect(self, hits: Sequence[HitView]) -> None:
        """Asks into which collection these passages go, and puts them there."""
        if hits and self.can("collect"):
            self.collectRequested.emit(tuple(hits))

    def save_search(self, query: Query) -> None:
        """Asks for a name and keeps this search by it."""
        if query.text.strip() and self.can("save_search"):
            self.saveSearchRequested.emit(query)

    def check_quotes(self, draft: Path | None = None) -> None:
        """Opens "Check my quotes"; with a draft, checks it at once."""
        if self.can("quotes"):
            self.quotesRequested.emit(draft)

    def get_model(self, name: str = "") -> None:
        """Goes to Models and offers to get one; ``name`` is suggested."""
        self.modelWanted.emit(name)

    def go_with(self, page: str, contents: Sequence[int], label: str) -> None:
        """Goes to a page with some documents: to search, sort or clean up only them, or to see them on the map.

        ``label`` says what they are in the page's own line, e.g. "99 documents of the map".
        """
        if contents:
            self.amongRequested.emit(page, tuple(contents), label)

    def set_found(self, query: Query | None, contents: Sequence[int]) -> None:
        """Tells what the search in front found, so that the map lights it; None: nothing is searched for."""
        now = query, tuple(contents)
        if now != (self.found_query, self.found_contents):  # an answer comes in pieces; the map is not lit twice for it
            self.found_query, self.found_contents = now
            self.foundChanged.emit()

    def set_chosen(self, page: str, contents: Sequence[int]) -> None:
        """Tells which documents are chosen on a page, so that the map shows where they are."""
        self.chosenChanged.emit(page, tuple(contents))

    def show_setting(self, key: str) -> None:
        """Goes to a setting."""
        self.settingRequested.emit(key)

    def toast(self, text: str, *, action: str = "", run: Callable[[], object] | None = None,
              expired: Callable[[], object] | None = None) -> None:
        """Shows a message at the foot of the window."""
        self.toastRequested.emit(text, action, run, expired)

    def refresh(self) -> None:
        """Asks for the library's state again."""
        self.commands.refresh()

    def start(self, job_id: JobId, done: Callable[[object], None] | None = None) -> JobId:
        """Watches a job: ``done(result)`` when it is done, its failure as a toast."""

        def on_finished(finished: Finished) -> None:
            if not self.report_failure(finished) and finished.outcome is Outcome.DONE and done is not None:
                done(finished.result)

        return self.bridge.watch(job_id, on_finished=on_finished)

    def pause(self) -> None:
        """Pauses the run under way, or goes on with it."""
        progress = self.index_progress
        if progress is None:
            return
        if progress.paused:
            self.commands.resume()
        else:
            self.commands.pause()
        # shown at once: a paused run reports nothing until it goes on
        self.index_progress = replace(progress, paused=not progress.paused)
        self.indexProgressed.emit(self.index_progress)

    def cancel_index(self) -> None:
        """Cancels the run under way."""
        if self.index_job is not None:
            self.commands.cancel(self.index_job)

    def set_pace(self, pace: str) -> None:
        """Sets and remembers the pace: auto, gentle or full."""
        self.commands.set_pace(pace)

    def check_for_changes(self, *, confirm_removals: bool = False) -> None:
        """Brings all folders up to date."""
        self.removals_pending = 0
        self.start(self.commands.update(confirm_removals=confirm_removals))

    def check_folder(self, folder: Path) -> None:
        """Looks for changes in one folder only."""
        self.start(self.commands.check((folder,)))

    # ---- failures

    def show_failure(self, failure: Failure | None) -> None:
        """Shows why something did not work, in one line."""
        if failure is not None:
            self.toast(failure_text(failure))

    def report_failure(self, finished: Finished) -> bool:
        """Shows the failure of a job that ended with one; True if it had."""
        if finished.outcome is Outcome.FAILED:
            if finished.job_id != self._told:  # the window tells of every run, and who asked for it may too
                self._told = finished.job_id
                self.show_failure(finished.failure)
            return True
        return False

    # ---- hearing

    def _on_index_started(self, started: Started) -> None:
        self.index_job = started.job_id
        self._note = ""
        self._first.start()

    def _show_beginning(self) -> None:
        if self.index_job is not None and self.index_progress is None:
            self._take_progress(IndexProgress(None, "", 0, 0, 0, 0, 0.0, 0.0, None, note=self._note))

    def _on_index_phase(self, progress: Progress) -> None:
        # a step without a count: waiting for another process, preparing the model, building the index
        note = progress.phase if progress.total is None else ""
        if note == self._note:
            return
        self._note = note
        if note and self.index_progress is None:
            self._show_beginning()
        elif self.index_progress is not None:
            self._take_progress(replace(self.index_progress, note=note))

    def _on_errand_waits(self, progress: Progress) -> None:
        # else a click would seem to do nothing while another program writes to this library
        if progress.total is None and progress.phase:
            self.toast(f"{progress.phase}, which writes to this library")

    def _on_index_partial(self, result: object) -> None:
        if isinstance(result, LibraryView):
            self._take_library(result)
        elif isinstance(result, IndexProgress):
            self._take_progress(result)

    def _take_progress(self, progress: IndexProgress) -> None:
        first = self.index_progress is None
        self.index_progress = progress
        self.quiet = is_quiet(progress) and (first or self.quiet)  # what was loud once stays so until it ends
        if first:
            self.indexProgressed.emit(progress)
        elif not self._throttle.isActive():
            self._throttle.start()

    def _emit_progress(self) -> None:
        if self.index_progress is not None:
            self.indexProgressed.emit(self.index_progress)

    def _on_index_finished(self, finished: Finished) -> None:
        if finished.job_id != self.index_job:
            return
        self._throttle.stop()
        self._first.stop()
        self._note = ""
        self.index_job = None
        self.index_progress = None
        self.quiet = False
        if isinstance(finished.result, IndexReport):
            self.removals_pending = finished.result.removed_pending
        self.indexProgressed.emit(None)
        self.indexFinished.emit(finished)
        self.refresh()

    def _on_view_finished(self, finished: Finished) -> None:
        if isinstance(finished.result, LibraryView):
            self._take_library(finished.result)
        elif finished.outcome is Outcome.FAILED and self.library is None:
            self.show_failure(finished.failure)

    def _on_themes(self, finished: Finished) -> None:
        if isinstance(finished.result, ClustersView) and not finished.result.scope:
            self.themes = finished.result
            self.themesChanged.emit(self.themes)

    def look_again(self) -> None:
        """Asks for the library's state though nothing happened: a drive that went away makes no noise."""
        if self.index_job is None and QApplication.activeWindow() is not None:
            self.refresh()

    def _take_library(self, view: LibraryView) -> None:
        if view == self.library:
            return  # asked for every few seconds; lists must not be read again for nothing
        self.library = view
        self.libraryChanged.emit(view)

    def _tell_setting(self, key: str) -> None:
        self.settingChanged.emit(key)


def is_quiet(progress: IndexProgress) -> bool:
    """True for a look for changes, and for a handful of files: what a watched folder brings all day long."""
    return not progress.note and not progress.paused and progress.files_total <= QUIET_FILES and \
        progress.passages_total - progress.passages_done <= 50 * QUIET_FILES


def failure_text(failure: Failure) -> str:
    """Gives one line for a failure: what happened and what to do."""
    if failure.is_bug:
        return f"Something went wrong in the program itself: {failure.message}"
    return f"{failure.message} {failure.hint}".strip()


class PageHead(QWidget):
    """The head of a page: 56 high, title on the left; ``row`` takes what stands on the right."""

    def __init__(self, title: str, object_name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(f"{object_name}_head")
        self.row = QHBoxLayout(self)
        self.row.setContentsMargins(16, 0, 16, 0)
        self.row.setSpacing(12)
        self.row.addWidget(Label(title, role="page_title", object_name=object_name))
        self.row.addStretch(1)
        self._fit()
        theme.themeChanged.connect(self._fit)

    def _fit(self) -> None:
        self.setFixedHeight(theme.height(56, role="page_title", padding=24))

    def give_way(self, below: QWidget, buttons: Sequence[QWidget]) -> None:
        """Puts the buttons into the head, or, where large text leaves no room for them, into ``below``.

        ``below`` has a flow layout; call it when the page's width or the text changed.
        """
        flow = below.layout()
        assert flow is not None
        needed = 2 * 16 + sum(button.sizeHint().width() + 12 for button in buttons if not button.isHidden())
        for at in range(self.row.count()):
            item = self.row.itemAt(at)
            widget = item.widget() if item is not None else None
            if widget is not None and widget not in buttons and not widget.isHidden():
                needed += widget.sizeHint().width() + 12
        wide = self.width() >= needed
        if wide == (self.row.indexOf(buttons[-1]) >= 0):
            return
        for button in buttons:
            hidden = button.isHidden()
            (flow if wide else self.row).removeWidget(button)
            (self.row if wide else flow).addWidget(button)
            button.setHidden(hidden)
        below.setVisible(not wide)


class Page(Panel):
    """One page of the window."""

    key: ClassVar[str] = ""
    title: ClassVar[str] = ""
    icon: ClassVar[str] = ""

    def __init__(self, desk: Desk) -> None:
        super().__init__("surface")
        self.desk = desk
        self.setObjectName(f"page_{self.key}")
        self.setAccessibleName(self.title)

    def activate(self) -> None:
        """Called each time the page comes to the front."""

    def foot(self) -> int:
        """Gives the height of buttons at the page's foot that a message must not cover."""
        return 0

    def focus_first(self) -> None:
        """Puts the focus where work on this page begins."""
        self.setFocus()

    def actions_list(self) -> Sequence[Action]:
        """Gives the page's commands for the palette and the shortcut list."""
        return ()

    def take_among(self, contents: tuple[int, ...], label: str) -> None:
        """Shows, searches or sorts only these documents (content ids); called after the page came to the front."""

    def save_state(self) -> dict[str, object]:
        """Gives what the page remembers (JSON values)."""
        return {}

    def restore_state(self, state: dict[str, object]) -> None:
        """Takes back what :meth:`save_state` gave."""
