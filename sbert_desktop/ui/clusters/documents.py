"""Lists of documents of a cluster: rows of 44 with an icon, a name, a place and how well each fits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from PySide6.QtCore import (
    QAbstractListModel,
    QEvent,
    QItemSelectionModel,
    QMimeData,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QResizeEvent
from PySide6.QtWidgets import QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from sbert_desktop.app.atlas_views import DocumentRow, ThemeView
from sbert_desktop.domain import short_path
from sbert_desktop.ui import icons, words
from sbert_desktop.ui.clusters.cards import DOCUMENTS_MIME, pack
from sbert_desktop.ui.clusters.words import label_of, percent, place_of, row_tip, title_of
from sbert_desktop.ui.errands import Errands
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.widgets import KeyboardFocus, name, paint_focus, plain_tip

Index = QModelIndex | QPersistentModelIndex
RowRole: Final = Qt.ItemDataRole.UserRole + 1
ASSIGN: Final = "Assign"
LONG: Final = 2000  # rows from which on sorting is left to a thread
NO_THEMES: Final[Mapping[int, ThemeView]] = {}


def _nearest(themes: Mapping[int, ThemeView]) -> Callable[[DocumentRow], tuple[object, ...]]:
    return lambda row: (label_of(themes[row.theme]).casefold() if row.theme in themes else "~", -row.confidence)


_KEYS: Final[dict[str, Callable[[DocumentRow], tuple[object, ...]]]] = {
    "unsure": lambda row: (row.confidence,),
    "title": lambda row: (title_of(row).casefold(),),
    "newest": lambda row: (-(row.date if row.date is not None else float("-inf")),),
    "folder": lambda row: (str(row.path.parent).casefold(), title_of(row).casefold()),
}


def in_order(rows: Sequence[DocumentRow], order: str, themes: Mapping[int, ThemeView]) -> list[DocumentRow]:
    """Gives documents in an order; callable from any thread."""
    key = _nearest(themes) if order == "nearest" else _KEYS.get(order)
    return sorted(rows, key=key) if key is not None else list(rows)


class DocumentModel(QAbstractListModel):
    """Documents in an order; ``fit`` and ``sure`` are the order in which they were given."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._all: tuple[DocumentRow, ...] = ()
        self.rows: list[DocumentRow] = []
        self.order = "fit"
        self.themes: Mapping[int, ThemeView] = NO_THEMES  # those that unsorted documents are nearest to

    def set_rows(self, rows: Sequence[DocumentRow], themes: Mapping[int, ThemeView] = NO_THEMES) -> None:
        """Shows other documents."""
        self._all, self.themes = tuple(rows), themes
        self._fill()

    def given(self) -> tuple[DocumentRow, ...]:
        """Gives the documents as they were given."""
        return self._all

    def set_order(self, order: str) -> None:
        """Sorts."""
        self.order = order
        self._fill()

    def _fill(self) -> None:
        self.show(in_order(self._all, self.order, self.themes))

    def show(self, rows: list[DocumentRow]) -> None:
        """Shows rows that are in their order already."""
        self.beginResetModel()
        self.rows = rows
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008  Qt's own signature
        return 0 if parent.isValid() else len(self.rows)

    def flags(self, index: Index) -> Qt.ItemFlag:
        flag = Qt.ItemFlag
        return flag.ItemIsEnabled | flag.ItemIsSelectable | flag.ItemIsDragEnabled if index.isValid() else \
            flag.NoItemFlags

    def mimeTypes(self) -> list[str]:
        return [DOCUMENTS_MIME]

    def mimeData(self, indexes: Sequence[QModelIndex]) -> QMimeData:
        made = QMimeData()
        made.setData(DOCUMENTS_MIME, pack([self.rows[index.row()].content for index in indexes]))
        return made

    def supportedDragActions(self) -> Qt.DropAction:
        return Qt.DropAction.CopyAction

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid() or not 0 <= index.row() < len(self.rows):
            return None
        row = self.rows[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return title_of(row)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{title_of(row)}, {self.number(row)}, {short_path(row.path.parent)}{self._near_words(row)}"
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tip(row_tip(row)).replace("\n", "<br>")
        return row if role == RowRole else None

    def number(self, row: DocumentRow) -> str:
        """Gives the number at the end of a row: how well it fits, or how sure its nearest cluster is."""
        return percent(row.confidence) if self.themes else f"{row.fit:.2f}"

    def _near_words(self, row: DocumentRow) -> str:
        near = self.themes.get(row.theme)
        return f", nearest {label_of(near)}" if near is not None else ""


class DocumentDelegate(QStyledItemDelegate):
    """Paints a row; where clusters are known by the model, the nearest one and a way to assign it."""

    def __init__(self, view: DocumentList) -> None:
        super().__init__(view)
        self._view = view

    @staticmethod
    def row_height() -> int:
        """Gives the height of a row."""
        lines = theme.line("body", 20) + theme.line("meta", 16)
        return 44 if lines <= 36 else lines + 8

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(200, self.row_height())

    def link_rect(self, rect: QRect) -> QRect:
        """Gives where the link that assigns lies; empty where nothing can be assigned."""
        if not self._view.documents.themes or not self._view.may_assign:
            return QRect()
        wide = theme.metrics("medium").horizontalAdvance(ASSIGN)
        return QRect(rect.right() + 1 - self._view.side - wide, rect.y(), wide, rect.height() - 1)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        row: DocumentRow = index.data(RowRole)
        rect: QRect = option.rect
        side, model = self._view.side, self._view.documents
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        if chosen:
            painter.fillRect(rect, theme.color("selected"))
        elif option.state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(rect, theme.color("hover"))
        painter.fillRect(QRect(rect.x() + side, rect.bottom(), rect.width() - 2 * side, 1), theme.color("border"))
        icons.paint(painter, icons.for_format(row.format), QRect(rect.x() + side, rect.center().y() - 9, 18, 18),
                    "accent" if chosen else "muted")
        room = rect.adjusted(side + 26, 0, -side, -1)
        link = self.link_rect(rect)
        if not link.isEmpty():
            painter.setFont(theme.font("medium"))
            painter.setPen(theme.color("accent"))
            painter.drawText(link, Qt.AlignmentFlag.AlignVCenter, ASSIGN)
            room.setRight(link.left() - 17)
        room = self._paint_number(painter, room, model.number(row))
        if model.themes:
            room = self._paint_near(painter, room, model.themes.get(row.theme))
        elif self._view.wide() and row.date is not None:
            room = self._paint_date(painter, room, row.date)
        self._paint_words(painter, room, row, chosen)
        if option.state & QStyle.StateFlag.State_HasFocus and self._view.shows_focus():
            paint_focus(painter, rect.adjusted(max(0, side - 8), 0, -max(0, side - 8), -1))

    @staticmethod
    def _paint_number(painter: QPainter, room: QRect, number: str) -> QRect:
        painter.setFont(theme.numbers_font("strong"))
        painter.setPen(theme.color("text"))
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, number)
        return room.adjusted(0, 0, -max(36, painter.fontMetrics().horizontalAdvance(number) + 16), 0)

    @staticmethod
    def _paint_date(painter: QPainter, room: QRect, date: float) -> QRect:
        painter.setFont(theme.numbers_font("meta"))
        painter.setPen(theme.color("muted"))
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, words.day(date))
        return room.adjusted(0, 0, -painter.fontMetrics().horizontalAdvance("30 Mar 2024") - 16, 0)

    @staticmethod
    def _paint_near(painter: QPainter, room: QRect, near: ThemeView | None) -> QRect:
        wide = min(220, room.width() * 2 // 5)
        place = QRect(room.right() + 1 - wide, room.y(), wide, room.height())
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.group_color(near.colour if near is not None else -1))
        painter.drawEllipse(QRect(place.x(), place.center().y() - 4, 10, 10))
        painter.restore()
        painter.setFont(theme.font("body"))
        painter.setPen(theme.color("text" if near is not None else "muted"))
        text = label_of(near) if near is not None else "None near"
        place.adjust(18, 0, -8, 0)
        painter.drawText(place, Qt.AlignmentFlag.AlignVCenter,
                         painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, place.width()))
        return room.adjusted(0, 0, -wide - 16, 0)

    @staticmethod
    def _paint_words(painter: QPainter, room: QRect, row: DocumentRow, chosen: bool) -> None:
        first, second = theme.line("body", 20), theme.line("meta", 16)
        top = room.y() + (room.height() - first - second) // 2
        line = QRect(room.x(), top, room.width(), first)
        painter.setFont(theme.font("strong" if chosen else "body"))
        painter.setPen(theme.color("text"))
        right = Qt.TextElideMode.ElideRight
        painter.drawText(line, Qt.AlignmentFlag.AlignVCenter,
                         painter.fontMetrics().elidedText(title_of(row), right, line.width()))
        painter.setFont(theme.font("meta"))
        painter.setPen(theme.color("muted"))
        place = place_of(row) + (f" and {words.count(row.copies - 1)} more" if row.copies > 1 else "")
        line = QRect(room.x(), top + first, room.width(), second)
        painter.drawText(line, Qt.AlignmentFlag.AlignVCenter,
                         painter.fontMetrics().elidedText(place, Qt.TextElideMode.ElideMiddle, line.width()))


class DocumentList(KeyboardFocus, QListView):
    """Documents. Enter shows the preview, a double click opens the file; several can be chosen.

    ``previewWanted(DocumentRow)``, ``openWanted(DocumentRow)``, ``assignWanted(rows)``, ``chosenChanged()``,
    ``menuAsked(QPoint)``, ``leftWanted()``.
    """

    previewWanted = Signal(object)
    openWanted = Signal(object)
    assignWanted = Signal(object)
    chosenChanged = Signal()
    menuAsked = Signal(object)
    leftWanted = Signal()

    def __init__(self, object_name: str, accessible: str, *, side: int = 0, grows: bool = False,
                 parent: QWidget | None = None) -> None:
        super().__init__(parent)
        name(self, object_name, accessible, "Enter shows a document, Ctrl+Enter opens it")
        self.side, self._grows = side, grows
        self.may_assign = False
        self.documents = DocumentModel(self)
        self.setModel(self.documents)
        self.rows = DocumentDelegate(self)
        self.setItemDelegate(self.rows)
        self.setUniformItemSizes(True)
        self.setMouseTracking(True)
        self.setSelectionMode(QListView.SelectionMode.ExtendedSelection)
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setDragDropMode(QListView.DragDropMode.DragOnly)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._on_menu)
        self.doubleClicked.connect(lambda index: self.openWanted.emit(index.data(RowRole)))
        self.selectionModel().selectionChanged.connect(lambda *_: self.chosenChanged.emit())
        if grows:
            self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        theme.themeChanged.connect(self._fit)

    def set_rows(self, rows: Sequence[DocumentRow], themes: Mapping[int, ThemeView] = NO_THEMES) -> None:
        """Shows documents; those chosen stay chosen while they are there."""
        self._keep(lambda: self.documents.set_rows(rows, themes))
        self._fit()

    def set_order(self, order: str, errands: Errands | None = None) -> None:
        """Sorts; what is chosen stays chosen. Long lists are sorted in a thread where one is given."""
        model = self.documents
        if errands is None or len(model.rows) < LONG:
            self._keep(lambda: model.set_order(order))
            return
        model.order = order
        rows, themes = model.given(), model.themes

        def done(found: list[DocumentRow]) -> None:
            if model.order == order and model.given() is rows:
                self._keep(lambda: model.show(found))

        errands.run(lambda: in_order(rows, order, themes), done)

    def _keep(self, change: Callable[[], object]) -> None:
        chosen = {row.content for row in self.chosen()}
        now = self.currentIndex().data(RowRole) if self.currentIndex().isValid() else None
        change()
        flags = QItemSelectionModel.SelectionFlag
        at = next((n for n, row in enumerate(self.documents.rows) if now is not None and row.content == now.content),
                  -1)
        if at >= 0:
            self.selectionModel().setCurrentIndex(self.documents.index(at), flags.NoUpdate)
        if chosen and len(chosen) < 1000:
            for n, row in enumerate(self.documents.rows):
                if row.content in chosen:
                    self.selectionModel().select(self.documents.index(n), flags.Select)
        self.chosenChanged.emit()

    def chosen(self) -> list[DocumentRow]:
        """Gives the documents chosen, from top to bottom."""
        selection = self.selectionModel().selection()
        parts = [selection.at(number) for number in range(selection.count())]
        numbers = sorted({at for part in parts for at in range(part.top(), part.bottom() + 1)})
        return [self.documents.rows[at] for at in numbers if at < len(self.documents.rows)]

    def wide(self) -> bool:
        """True while there is room for dates."""
        return not self._grows and self.width() > 560 * max(100, theme.text_scale) // 100

    def current(self) -> DocumentRow | None:
        """Gives the document that has the focus."""
        index = self.currentIndex()
        return index.data(RowRole) if index.isValid() else None

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, modifiers = event.key(), event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        row = self.current()
        enter = key in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if enter and modifiers == Qt.KeyboardModifier.NoModifier:
            if row is not None:
                self.previewWanted.emit(row)
        elif enter and modifiers == Qt.KeyboardModifier.ControlModifier:
            if row is not None:
                self.openWanted.emit(row)
        elif key == Qt.Key.Key_Escape:
            self.leftWanted.emit()
        elif key in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            event.accept()  # nothing goes by a key that is hit by mistake
        else:
            super().keyPressEvent(event)

    def event(self, event: QEvent) -> bool:
        """Keeps the keys of this list from the window's shortcuts."""
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and event.key() in (
                Qt.Key.Key_Escape, Qt.Key.Key_Delete, Qt.Key.Key_Return, Qt.Key.Key_Enter):
            event.accept()
            return True
        return super().event(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        index = self.indexAt(event.position().toPoint())
        if event.button() == Qt.MouseButton.LeftButton and index.isValid() and \
                self.rows.link_rect(self.visualRect(index)).adjusted(-8, 0, 8, 0).contains(event.position().toPoint()):
            self.assignWanted.emit((index.data(RowRole),))

    def _on_menu(self, position: QPoint) -> None:
        index = self.indexAt(position)
        if index.isValid():
            if not self.selectionModel().isSelected(index):
                self.setCurrentIndex(index)
        elif self.currentIndex().isValid():
            position = self.visualRect(self.currentIndex()).center()
        if self.chosen():
            self.menuAsked.emit(self.viewport().mapToGlobal(position))

    def _fit(self) -> None:
        if self._grows:
            self.setFixedHeight(self.rows.row_height() * len(self.documents.rows))
        self.doItemsLayout()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.viewport().update()
