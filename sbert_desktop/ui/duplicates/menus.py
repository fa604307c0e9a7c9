"""What can be done with a group and with one of its files: the menu, opening, showing, copying the path."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QPoint, Qt
from PySide6.QtWidgets import QApplication, QWidget

from sbert_desktop.app.duplicate_views import GroupView, MemberView
from sbert_desktop.app.views import DocumentView
from sbert_desktop.domain import short_path
from sbert_desktop.ui import icons
from sbert_desktop.ui.duplicates.words import member_name
from sbert_desktop.ui.naming import in_title, kind_of, quick_path
from sbert_desktop.ui.page import Desk
from sbert_desktop.ui.search.files import Files
from sbert_desktop.ui.widgets import menu, no_mnemonic
from sbert_desktop.ui.words import counted

if TYPE_CHECKING:
    from sbert_desktop.ui.duplicates.page import DuplicatesPage


def document_of(member: MemberView) -> DocumentView:
    """Gives a row as what can be opened and shown."""
    copy = member.copy
    return DocumentView(copy.content, copy.path, (copy.path,), copy.title or copy.path.name,
                        copy.format or kind_of(copy.path, copy.member), copy.mtime_ns / 1e9 or time.time(), copy.size,
                        "", 1.0, (), 0, member.state, copy.member)


def contents_of(group: GroupView | None) -> tuple[int, ...]:
    """Gives the documents (content ids) of a group: identical files are one, files without text are none."""
    copies = [copy for member in group.members for copy in member.files or (member.copy,)] if group is not None else []
    return tuple(dict.fromkeys(copy.content for copy in copies if copy.content))


def _what(group: GroupView | None, documents: int) -> str:
    title = in_title(quick_path(group.title)) if group is not None else ""
    return f"{counted(documents, 'document')} of the group {title}"


class FileDeeds(QObject):
    """Opens, shows and copies; makes the menu."""

    def __init__(self, desk: Desk, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._desk = desk
        self._files = Files(desk.commands, desk.bridge, self)
        self._files.said.connect(desk.toast)

    def open(self, member: MemberView | None) -> None:
        """Opens a file; of what lies in a container, the container; a folder is shown."""
        if member is not None:
            if member.files:
                self._files.reveal(document_of(member))
            else:
                self._files.open(document_of(member), None)

    def reveal(self, member: MemberView | None) -> None:
        """Shows a file in its folder."""
        if member is not None:
            self._files.reveal(document_of(member))

    def open_with(self, member: MemberView | None, parent: QWidget, spot: QPoint) -> None:
        """Offers programs."""
        if member is not None:
            self._files.open_with([document_of(member)], parent, spot)

    def copy_path(self, member: MemberView | None) -> None:
        """Puts a path on the clipboard."""
        if member is not None:
            QApplication.clipboard().setText(str(member.copy.path))
            self._desk.toast(f"Copied {short_path(member.copy.path)}")

    def show_on_map(self, group: GroupView | None) -> None:
        """Goes to the map with the documents of a group."""
        if contents := contents_of(group):
            self._desk.go_with("map", contents, _what(group, len(contents)))

    def collect(self, group: GroupView | None) -> None:
        """Asks into which collection the documents of a group go."""
        if contents := contents_of(group):
            self._desk.collect_documents(contents, _what(group, len(contents)))

    def show_menu(self, page: DuplicatesPage, group: GroupView, member: MemberView | None, spot: QPoint) -> None:
        """Shows the menu of a group and its row chosen."""
        made = menu(page, "duplicates_menu", "Group and file")
        made.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        selection = page.selection

        def add(icon: str, text: str, run: Callable[[], object], key: str = "", *, enabled: bool = True) -> None:
            action = made.addAction(icons.icon(icon, 16), no_mnemonic(text) + (f"\t{key}" if key else ""))
            action.triggered.connect(lambda _=False: run())
            action.setEnabled(enabled)

        if member is not None:
            own = in_title(member_name(member), 40)
            file = not member.files
            add("open", f"Open {own}", lambda: self.open(member), "Enter")
            if file:
                add("open", "Open with...", lambda: self.open_with(member, page, spot))
            add("reveal", "Show in folder", lambda: self.reveal(member))
            add("copy", "Copy path", lambda: self.copy_path(member), "Ctrl+C")
            if file and not member.copy.member:
                add("similar", "Search for similar documents", lambda: page.search_like(member))
            made.addSeparator()
        add("check", "Tick all but the one that stays", lambda: selection.tick_all_but_kept(group),
            enabled=any(one.may_tick for one in group.members))
        add("close", "Untick all in this group", lambda: selection.tick_none((group,)),
            enabled=bool(selection.of(group)))
        add("undo", "Tick as the rules suggest", lambda: selection.tick_suggested((group,)))
        made.addSeparator()
        readable = bool(contents_of(group))
        if self._desk.has_page("map"):
            add("map", "Show on the map", lambda: self.show_on_map(group), enabled=readable)
        if self._desk.can("collect_documents"):
            add("collection", "Save group as collection...", lambda: self.collect(group), enabled=readable)
        made.addSeparator()
        add("not_relevant", "Not duplicates", page.say_apart, "Ctrl+Shift+D")
        made.popup(spot)
