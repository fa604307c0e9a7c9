"""The documents of a selection: fetched by the page, painted in rows of 44."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, QRect, QSize, Qt, Signal
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from sbert_desktop.app.atlas_views import DocumentRow
from sbert_desktop.app.views import DocumentView, HitView
from sbert_desktop.domain import ScoreKind, short_path
from sbert_desktop.ui import icons, words
from sbert_desktop.ui.naming import file_words, quick_path
from sbert_desktop.ui.search.text import one_line
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.widgets import paint_focus, plain_tip

Index = QModelIndex | QPersistentModelIndex
RowRole: Final = Qt.ItemDataRole.UserRole + 1
PAGE: Final = 500
LISTED: Final = 20_000
"""Rows shown at most; what is done with a selection takes all of it."""
_MAIL: Final = ("eml", "msg", "emlx", "mbox")


def title_words(row: DocumentRow) -> str:
    """Gives what names a document: a mail's subject, what lies in a container, else the file's name."""
    if row.format in _MAIL and row.title:
        return one_line(row.title)
    if row.member:
        return one_line(file_words(row.path, row.member))
    return one_line(row.path.name) or one_line(row.title)


def place_words(row: DocumentRow) -> str:
    """Gives where it lies: the folder of a file, the container of what lies in one."""
    return quick_path(short_path(row.path if row.member else row.path.parent))


def document_of(row: DocumentRow) -> DocumentView:
    """Gives a row as what can be opened and shown; its one hit is the passage meant, else its first one."""
    hit = HitView(row.passage, row.content, row.path, "", row.start, row.end, row.page, "", 0.0,
                  ScoreKind.FUSED, None, None, None, None, None, (), member=row.member)
    return DocumentView(row.content, row.path, (row.path,), row.title or row.path.name, row.format, row.date or 0.0, 0,
                        row.language, 1.0, (hit,), 0, "current", row.member)


class SelectionModel(QAbstractListModel):
    """Documents in an order; a row without its :class:`DocumentRow` yet asks for the page it is in.

    ``wanted(tuple of content ids)``: at most one page is under way.
    """

    wanted = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.contents: NDArray[np.int64] = np.zeros(0, np.int64)
        self._rows: dict[int, DocumentRow] = {}
        self._asked: tuple[int, ...] = ()

    def set_contents(self, contents: NDArray[np.int64]) -> None:
        """Shows other documents; rows that are known are not asked for again."""
        self.beginResetModel()
        self.contents = contents[:LISTED]
        if len(self._rows) > 4 * LISTED:
            self._rows.clear()
        self._asked = ()
        self.endResetModel()

    def forget(self) -> None:
        """Forgets what is known of documents: the library changed."""
        self._rows.clear()
        self._asked = ()
        if len(self.contents):
            self.dataChanged.emit(self.index(0), self.index(len(self.contents) - 1))

    def row_at(self, at: int) -> DocumentRow | None:
        """Gives a row if it is known."""
        return self._rows.get(int(self.contents[at])) if 0 <= at < len(self.contents) else None

    def known(self) -> list[DocumentRow]:
        """Gives all rows in their order; empty unless every one is known."""
        found = [self._rows.get(content) for content in self.contents.tolist()]
        return [row for row in found if row is not None] if None not in found else []

    def want(self, first: int, last: int) -> None:
        """Asks for the page around rows, if one of them is missing and nothing is under way."""
        if self._asked or not len(self.contents):
            return
        low = max(0, first)
        missing = next((at for at in range(low, min(last, len(self.contents) - 1) + 1)
                        if int(self.contents[at]) not in self._rows), -1)
        if missing < 0:
            return
        begin = missing // PAGE * PAGE
        page = [content for content in self.contents[begin: begin + PAGE].tolist() if content not in self._rows]
        self._asked = tuple(page)
        self.wanted.emit(self._asked)

    def want_next(self) -> bool:
        """Asks for the next missing page, wherever it is; False when all is known."""
        at = next((at for at in range(0, len(self.contents)) if int(self.contents[at]) not in self._rows), -1)
        if at < 0:
            return False
        self.want(at, at)
        return True

    def put(self, rows: Sequence[DocumentRow]) -> None:
        """Takes what was asked for; what did not come is gone, and is not asked for again."""
        for row in rows:
            self._rows[row.content] = row
        gone = set(self._asked) - {row.content for row in rows}
        self._asked = ()
        if gone:
            self.beginResetModel()
            self.contents = self.contents[~np.isin(self.contents, np.fromiter(gone, np.int64))]
            self.endResetModel()
        elif len(self.contents):
            self.dataChanged.emit(self.index(0), self.index(len(self.contents) - 1))

    def lost(self) -> None:
        """Another request took the place of ours: it may be asked again."""
        self._asked = ()

    def sort_rows(self, order: str) -> None:
        """Sorts by ``title`` or ``folder``; only once all rows are known."""
        rows = self.known()
        if rows:
            rows.sort(key=lambda row: (place_words(row).casefold() if order == "folder" else "",
                                       title_words(row).casefold(), row.content))
            self.beginResetModel()
            self.contents = np.array([row.content for row in rows], np.int64)
            self.endResetModel()

    # ---- for Qt

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008  Qt's own signature
        return 0 if parent.isValid() else len(self.contents)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        row = self.row_at(index.row())
        if role == RowRole:
            return row
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            if row is None:
                return "Loading"
            date = f", {words.day(row.date)}" if row.date is not None else ""
            return f"{title_words(row)}, {place_words(row)}{date}"
        if role == Qt.ItemDataRole.ToolTipRole and row is not None:
            return plain_tip(f"{title_words(row)}\n{short_path(row.path)}")
        return None


class RowDelegate(QStyledItemDelegate):
    """Paints a row of 44: icon, title, place; grey bars while it loads."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(200, self.row_height())

    @staticmethod
    def row_height() -> int:
        """Gives the height of every row."""
        need = theme.line("body", 18) + theme.line("meta", 15) + 8
        return max(44, -(-need // 4) * 4)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        rect: QRect = option.rect
        row: DocumentRow | None = index.data(RowRole)
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        if chosen:
            painter.fillRect(rect, theme.color("selected"))
        elif option.state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(rect, theme.color("hover"))
        painter.fillRect(QRect(rect.x(), rect.bottom(), rect.width(), 1), theme.color("border"))
        top, low = theme.line("body", 18), theme.line("meta", 15)
        y = rect.y() + (rect.height() - 1 - top - low) // 2
        first = QRect(rect.x() + 42, y, rect.width() - 42 - 12, top)
        second = QRect(first.x(), y + top, first.width(), low)
        if row is None:
            for room, share in ((first, 0.6), (second, 0.4)):
                painter.fillRect(QRect(room.x(), room.center().y() - 3, int(room.width() * share), 7),
                                 theme.color("track"))
            return
        icons.paint(painter, icons.for_format(row.format), QRect(rect.x() + 16, rect.center().y() - 9, 18, 18),
                    "accent" if chosen else "muted")
        painter.setFont(theme.font("strong" if chosen else "body"))
        painter.setPen(theme.color("text"))
        painter.drawText(first, Qt.AlignmentFlag.AlignVCenter, painter.fontMetrics().elidedText(
            title_words(row), Qt.TextElideMode.ElideRight, first.width()))
        painter.setFont(theme.font("meta"))
        painter.setPen(theme.color("muted"))
        copies = f" · {words.counted(row.copies, 'place')}" if row.copies > 1 else ""
        space = second.width() - painter.fontMetrics().horizontalAdvance(copies)
        painter.drawText(second, Qt.AlignmentFlag.AlignVCenter, painter.fontMetrics().elidedText(
            place_words(row), Qt.TextElideMode.ElideMiddle, space) + copies)
        view = option.widget
        focused = bool(option.state & QStyle.StateFlag.State_HasFocus)
        if focused and isinstance(view, QListView) and getattr(view, "shows_focus", lambda: False)():
            paint_focus(painter, rect.adjusted(0, 0, 0, -1))
