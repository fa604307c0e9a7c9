"""The tab of the documents read last."""

from __future__ import annotations

from typing import cast

from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from sbert_desktop.app.views import ChangeView
from sbert_desktop.domain import Finished, display_path, short_path
from sbert_desktop.ui import icons, words
from sbert_desktop.ui.bridge import Latest
from sbert_desktop.ui.library.tables import Column, Table
from sbert_desktop.ui.naming import kind_of, member_words
from sbert_desktop.ui.page import Desk
from sbert_desktop.ui.widgets import EmptyState, SkeletonList, menu


def _change(row: object) -> ChangeView:
    return cast(ChangeView, row)


def _title(row: object) -> str:
    change = _change(row)
    return change.title or (member_words(change.member) if change.member else display_path(change.path.name))


def _place(row: object) -> str:
    change = _change(row)
    return short_path(change.path if change.member else change.path.parent)


COLUMNS = (
    Column("Document", _title, 0,
           icon=lambda row: icons.for_format(kind_of(_change(row).path, _change(row).member)),
           tip=lambda row: display_path(_change(row).path) + (
               f" / {display_path(_change(row).member)}" if _change(row).member else "")),
    Column("Folder", _place, 300, tone="muted",
           elide=Qt.TextElideMode.ElideMiddle),
    Column("Passages", lambda row: words.count(_change(row).passages), 96, right=True,
           key=lambda row: _change(row).passages),
    Column("Read", lambda row: words.ago(_change(row).when), 136, tone="muted", right=True,
           key=lambda row: _change(row).when),
)


class RecentTab(QWidget):
    """What was read last, newest first; Enter opens."""

    def __init__(self, desk: Desk, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("library_recent")
        self._desk = desk
        self._latest = Latest(desk.bridge)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 8, 0, 0)
        self.stack = QStackedWidget()
        self.table = Table(COLUMNS, object_name="recent_table", accessible="Recently read documents")
        self.none = EmptyState("Nothing read yet", "Documents appear here as they are read.", drawing="nothing",
                               object_name="recent_none")
        self.loading = SkeletonList(6, row_height=44, object_name="recent_loading")
        for widget in (self.loading, self.table, self.none):
            self.stack.addWidget(widget)
        column.addWidget(self.stack)
        self.table.rowActivated.connect(self._open)
        self.table.menuAsked.connect(self._on_menu)

    def reload(self) -> None:
        """Asks for the list."""
        self._latest.watch(self._desk.commands.recent(), on_finished=self._on_finished)

    def _on_finished(self, finished: Finished) -> None:
        if isinstance(finished.result, tuple):
            self.table.set_rows(finished.result)
            self.stack.setCurrentWidget(self.table if finished.result else self.none)
        else:
            self._desk.report_failure(finished)

    def _open(self, row: object) -> None:
        self._desk.start(self._desk.commands.open_file(_change(row).path))

    def _on_menu(self, row: object, position: QPoint) -> None:
        made = menu(self, "recent_menu", "Document")
        made.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        made.addAction(icons.icon("open", 16), "Open\tEnter", lambda: self._open(row))
        made.addAction(icons.icon("reveal", 16), "Show in file manager",
                       lambda: self._desk.start(self._desk.commands.reveal(_change(row).path)))
        made.popup(position)
