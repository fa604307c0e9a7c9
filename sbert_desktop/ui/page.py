"""What a page is and what it may use: the contract between the window and its pages.

The window makes each page with one argument, the :class:`Desk` (``SearchPage(desk)`` of
``ui/search/page.py``); a page gives its panel to ``desk.inspector.set_content(self.key, widget)``.
A page sets ``key``, ``title`` and ``icon`` and may override :meth:`Page.activate`, :meth:`Page.focus_first`, :meth:`Page.actions_list`,
:meth:`Page.save_state` and :meth:`Page.restore_state`. It talks to the program through
``desk.commands`` and hears from it through ``desk.bridge``; it never touches another page.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from sbert_desktop.app.interface import Commands
from sbert_desktop.app.views import IndexProgress, LibraryView
from sbert_desktop.domain import Failure, Finished, JobId, Outcome
from sbert_desktop.settings import Settings
from sbert_desktop.ui.bridge import Bridge
from sbert_desktop.ui.widgets import Panel


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
    run: Callable[[], None]
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
        super().__init__("surface", lines="left", parent=parent)
        self.setObjectName("inspector")
        self.setAccessibleName("Preview")
        self.setMinimumWidth(300)
        column = QVBoxLayout(self)
        column.setContentsMargins(1, 0, 0, 0)
        self._column = column
        self._contents: dict[str, QWidget] = {}
        self._key = ""
        self._open = True

    def set_content(self, key: str, widget: QWidget | None) -> None:
        """Gives the panel of page ``key``; None takes it away."""
        old = self._contents.pop(key, None)
        if old is not None and old is not widget:
            self._column.removeWidget(old)
            old.hide()
        if widget is not None:
            self._contents[key] = widget
            self._column.addWidget(widget)
            widget.setVisible(key == self._key)
        self.contentChanged.emit()

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
    """What a page may use: commands, events, the library's state, toasts, navigation, inspector."""

    libraryChanged = Signal(object)  # LibraryView
    indexProgressed = Signal(object)  # IndexProgress, or None when no run is under way
    pageRequested = Signal(str)
    addFoldersRequested = Signal(object)  # tuple[Path, ...]; empty: ask for a folder
    searchRequested = Signal(str)  # words to search for, from anywhere
    toastRequested = Signal(str, str, object, object)  # text, action, run, expired

    def __init__(self, commands: Commands, bridge: Bridge, inspector: Inspector, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.commands = commands
        self.bridge = bridge
        self.inspector = inspector
        self.library: LibraryView | None = None
        self.index_job: JobId | None = None
        self.index_progress: IndexProgress | None = None

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self.commands.settings

    def show_page(self, key: str) -> None:
        """Goes to a page."""
        self.pageRequested.emit(key)

    def add_folders(self, folders: Sequence[Path] = ()) -> None:
        """Offers to add folders; without any the person chooses one."""
        self.addFoldersRequested.emit(tuple(folders))

    def search_for(self, words: str) -> None:
        """Goes to Search and searches for words."""
        self.searchRequested.emit(words)

    def toast(self, text: str, *, action: str = "", run: Callable[[], None] | None = None,
              expired: Callable[[], None] | None = None) -> None:
        """Shows a message at the foot of the window."""
        self.toastRequested.emit(text, action, run, expired)

    def show_failure(self, failure: Failure | None) -> None:
        """Shows why something did not work, in one line."""
        if failure is not None:
            self.toast(failure_text(failure))

    def report_failure(self, finished: Finished) -> bool:
        """Shows the failure of a job that ended with one; True if it had."""
        if finished.outcome is Outcome.FAILED:
            self.show_failure(finished.failure)
            return True
        return False


def failure_text(failure: Failure) -> str:
    """Gives one line for a failure: what happened and what to do."""
    if failure.is_bug:
        return f"Something went wrong in the program itself: {failure.message}"
    return f"{failure.message} {failure.hint}".strip()


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

    def focus_first(self) -> None:
        """Puts the focus where work on this page begins."""
        self.setFocus()

    def actions_list(self) -> Sequence[Action]:
        """Gives the page's commands for the palette and the shortcut list."""
        return ()

    def save_state(self) -> dict[str, object]:
        """Gives what the page remembers (JSON values)."""
        return {}

    def restore_state(self, state: dict[str, object]) -> None:
        """Takes back what :meth:`save_state` gave."""
