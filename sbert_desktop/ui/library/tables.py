"""Tables of the Library page: one look, keyboard and context menus for each."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass

from PySide6.QtCore import (
    QAbstractTableModel,
    QEvent,
    QItemSelection,
    QItemSelectionModel,
    QItemSelectionRange,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QKeyEvent, QPainter, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from sbert_desktop.ui import icons
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.widgets import KeyboardFocus, name, paint_focus, paint_tag, plain_tip, tag_width

Index = QModelIndex | QPersistentModelIndex
IconRole = Qt.ItemDataRole.UserRole + 1
ToneRole = Qt.ItemDataRole.UserRole + 2
TagRole = Qt.ItemDataRole.UserRole + 3
RowRole = Qt.ItemDataRole.UserRole + 4


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its head, its text of a row, and how it looks.

    ``elide`` middle for paths. ``tag`` gives (tone, icon) to paint the text as a tag, no tone for mere text.
    ``width`` 0 means that the column takes what is left, but no less than ``least``.
    """

    head: str
    text: Callable[[object], str]
    width: int = 0
    role: str = "body"
    tone: str = "text"
    elide: Qt.TextElideMode = Qt.TextElideMode.ElideRight
    right: bool = False
    icon: Callable[[object], str] | None = None
    tag: Callable[[object], tuple[str, str]] | None = None
    tip: Callable[[object], str] | None = None
    key: Callable[[object], object] | None = None
    least: int = 140


class RowsModel(QAbstractTableModel):
    """Rows of any record, shown through columns; sorts by a column's key."""

    def __init__(self, columns: Sequence[Column], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.columns = tuple(columns)
        self.rows: list[object] = []

    def set_rows(self, rows: Sequence[object]) -> None:
        """Shows other rows."""
        self.beginResetModel()
        self.rows = list(rows)
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008  Qt's own signature
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008  Qt's own signature
        return 0 if parent.isValid() else len(self.columns)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        column, row = self.columns[index.column()], self.rows[index.row()]
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return column.text(row)
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tip(column.tip(row) if column.tip is not None else column.text(row))
        if role == RowRole:
            return row
        return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if orientation == Qt.Orientation.Horizontal:
            if role == Qt.ItemDataRole.DisplayRole:
                return self.columns[section].head
            if role == Qt.ItemDataRole.TextAlignmentRole:
                side = Qt.AlignmentFlag.AlignRight if self.columns[section].right else Qt.AlignmentFlag.AlignLeft
                return int(side | Qt.AlignmentFlag.AlignVCenter)
        return None

    def sorted(self, rows: Sequence[object], column: int, order: Qt.SortOrder) -> list[object]:
        """Gives rows in the order of a column; as they are for a column that is not there."""
        if not 0 <= column < len(self.columns):
            return list(rows)
        spec = self.columns[column]
        key = spec.key or (lambda row: spec.text(row).casefold())
        return sorted(rows, key=key, reverse=order == Qt.SortOrder.DescendingOrder)  # type: ignore[arg-type]

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        if not 0 <= column < len(self.columns):
            return
        self.layoutAboutToBeChanged.emit()
        self.rows = self.sorted(self.rows, column, order)
        self.layoutChanged.emit()


class RowDelegate(QStyledItemDelegate):
    """Paints a cell: fill of the row, icon, text in its tone, or a tag; one line below each row."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        model = index.model()
        assert isinstance(model, RowsModel)
        column, row = model.columns[index.column()], model.rows[index.row()]
        rect: QRect = option.rect
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        if chosen:
            painter.fillRect(rect, theme.color("selected"))
            if index.column() == 0:
                painter.fillRect(QRect(rect.x(), rect.y(), 3, rect.height()), theme.color("accent"))
        elif option.state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(rect, theme.color("hover"))
        painter.fillRect(QRect(rect.x(), rect.bottom(), rect.width(), 1), theme.color("border"))
        first, last = index.column() == 0, index.column() == len(model.columns) - 1
        box = rect.adjusted(16 if first else 8, 0, -16 if last else -8, 0)
        text = column.text(row)
        if column.icon is not None:
            icons.paint(painter, column.icon(row), QRect(box.x(), box.center().y() - 7, 16, 16),
                        "accent" if chosen else "muted")
            box.setLeft(box.left() + 24)
        tone, icon = column.tag(row) if column.tag is not None else ("", "")
        if tone and text:
            height = theme.height(20, role="meta", padding=4)
            tag = QRect(box.x(), box.center().y() - height // 2 + 1, min(box.width(), tag_width(text, icon)), height)
            paint_tag(painter, tag, text, tone, icon)
        else:
            self._paint_text(painter, box, column, text, strong=chosen and first)
        if chosen and isinstance(option.widget, Table) and option.widget.shows_focus():
            # one ring around the row: each cell paints its piece of it
            painter.save()
            painter.setClipRect(rect)
            paint_focus(painter, QRect(0, rect.y(), option.widget.viewport().width(), rect.height() - 1))
            painter.restore()

    @staticmethod
    def _paint_text(painter: QPainter, box: QRect, column: Column, text: str, *, strong: bool) -> None:
        font = theme.font("strong") if strong else \
            theme.numbers_font(column.role) if column.right else theme.font(column.role)
        painter.setFont(font)
        painter.setPen(theme.color(column.tone))
        side = Qt.AlignmentFlag.AlignRight if column.right else Qt.AlignmentFlag.AlignLeft
        shown = painter.fontMetrics().elidedText(text.replace("\n", " "), column.elide, box.width())
        painter.drawText(box, int(side | Qt.AlignmentFlag.AlignVCenter), shown)

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(80, theme.height(32, padding=12))


class Head(QHeaderView):
    """A head that stands over its cells: the same paddings, meta type, a chevron where it sorts."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self.sorted_by: tuple[int, Qt.SortOrder] = (-1, Qt.SortOrder.AscendingOrder)

    def paintSection(self, painter: QPainter, rect: QRect, logical: int) -> None:
        model = self.model()
        assert isinstance(model, RowsModel)
        column = model.columns[logical]
        painter.save()
        painter.fillRect(rect, theme.color("surface"))
        painter.fillRect(QRect(rect.x(), rect.bottom(), rect.width(), 1), theme.color("border"))
        first, last = logical == 0, logical == len(model.columns) - 1
        box = rect.adjusted(16 if first else 8, 0, -16 if last else -8, 0)
        painter.setFont(theme.font("meta_strong" if logical == self.sorted_by[0] else "meta"))
        painter.setPen(theme.color("muted"))
        side = Qt.AlignmentFlag.AlignRight if column.right else Qt.AlignmentFlag.AlignLeft
        head = painter.fontMetrics().elidedText(column.head, Qt.TextElideMode.ElideRight, box.width())
        painter.drawText(box, int(side | Qt.AlignmentFlag.AlignVCenter), head)
        if logical == self.sorted_by[0]:
            width = painter.fontMetrics().horizontalAdvance(column.head)
            x = box.right() - width - 18 if column.right else box.x() + width + 4
            up = self.sorted_by[1] == Qt.SortOrder.AscendingOrder
            icons.paint(painter, "up" if up else "down", QRect(x, box.center().y() - 6, 14, 14), "muted")
        painter.restore()


class Table(KeyboardFocus, QTableView):
    """A table that fills its width; Enter and a double click activate a row, the menu key its menu.

    With ``multi`` several rows can be chosen. ``key`` gives what a row is known by when the list is read
    again (else the row itself). ``keys`` maps a key (Qt.Key) without modifiers to what it does; such keys
    go before the window's own shortcuts while the table has the focus.
    """

    rowActivated = Signal(object)
    menuAsked = Signal(object, object)  # row, global position
    currentRowChanged = Signal(object)
    chosenChanged = Signal()

    def __init__(self, columns: Sequence[Column], *, object_name: str, accessible: str, sortable: bool = True,
                 multi: bool = False, key: Callable[[object], Hashable] | None = None,
                 parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._key = key or (lambda row: row)
        self._multi = multi
        self._quiet = False
        self.keys: Mapping[Qt.Key, Callable[[], object]] = {}
        self.rows_model = RowsModel(columns, self)
        self.setModel(self.rows_model)
        self.setItemDelegate(RowDelegate(self))
        name(self, object_name, accessible)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection if multi
                              else QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setMouseTracking(True)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.verticalHeader().hide()
        self.verticalHeader().setObjectName(f"{object_name}_rows")
        head = Head(self)
        self.setHorizontalHeader(head)
        self._head = head
        name(head, f"{object_name}_head", f"{accessible}: columns")
        head.setHighlightSections(False)
        head.setSectionsClickable(sortable)
        head.setMinimumSectionSize(56)
        self._order = (-1, Qt.SortOrder.AscendingOrder)
        if sortable:
            head.sectionClicked.connect(self._on_head_clicked)
        self.customContextMenuRequested.connect(self._on_menu)
        self.doubleClicked.connect(lambda index: self.rowActivated.emit(index.data(RowRole)))
        self.selectionModel().currentRowChanged.connect(
            lambda now, _before: self.currentRowChanged.emit(now.data(RowRole) if now.isValid() else None))
        self.selectionModel().selectionChanged.connect(lambda *_: None if self._quiet else self.chosenChanged.emit())
        theme.themeChanged.connect(self._fit)
        self._fit()

    def set_rows(self, rows: Sequence[object]) -> None:
        """Shows other rows; the rows chosen stay chosen as far as they are still there, at the same place."""
        now, chosen = self.current_row(), {self._key(row) for row in self.chosen_rows()}
        current = self._key(now) if now is not None else None
        offset = self.verticalScrollBar().value()
        self._quiet = True
        ordered = self.rows_model.sorted(rows, *self._order)
        if chosen:
            first = min((part.top() for part in self._ranges()), default=0)
            self.rows_model.set_rows(ordered)
            self._choose(chosen, current)
            if self._multi and ordered and not self.selectionModel().hasSelection():
                self.selectRow(min(first, len(ordered) - 1))  # the next one takes the place of what went
        else:
            self.rows_model.set_rows(ordered)
        self.verticalScrollBar().setValue(offset)
        self._quiet = False
        self.chosenChanged.emit()

    def selectRow(self, row: int) -> None:
        """Chooses one row alone, whatever key is held: Qt's own would add it to the rest while Ctrl is down."""
        flags, index = QItemSelectionModel.SelectionFlag, self.rows_model.index(row, 0)
        self.selectionModel().setCurrentIndex(index, flags.ClearAndSelect | flags.Rows)

    def _ranges(self) -> list[QItemSelectionRange]:
        selection = self.selectionModel().selection()
        return [selection.at(number) for number in range(selection.count())]

    def _choose(self, keys: set[Hashable], current: Hashable | None) -> None:
        last = self.rows_model.columnCount() - 1
        selection = QItemSelection()
        flags = QItemSelectionModel.SelectionFlag
        begin = -1  # rows that follow each other are chosen as one range: a range each would be slow
        for at, row in enumerate((*self.rows_model.rows, None)):
            key = self._key(row) if row is not None else None
            if row is not None and key == current:
                self.selectionModel().setCurrentIndex(self.rows_model.index(at, 0), flags.NoUpdate)
            if row is not None and key in keys:
                begin = at if begin < 0 else begin
            elif begin >= 0:
                selection.select(self.rows_model.index(begin, 0), self.rows_model.index(at - 1, last))
                begin = -1
        self.selectionModel().select(selection, flags.ClearAndSelect | flags.Rows)

    def chosen_rows(self) -> list[object]:
        """Gives the records of the rows chosen, from top to bottom."""
        numbers = sorted({at for part in self._ranges()
                          for at in range(part.top(), part.bottom() + 1)})
        return [self.rows_model.rows[at] for at in numbers if at < len(self.rows_model.rows)]

    def current_row(self) -> object | None:
        """Gives the record of the row chosen."""
        index = self.currentIndex()
        return index.data(RowRole) if index.isValid() else None

    def event(self, event: QEvent) -> bool:
        """Keeps the keys of this table from the window's shortcuts."""
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and self._run_of(event):
            event.accept()
            return True
        return super().event(event)

    def _run_of(self, event: QKeyEvent) -> Callable[[], object] | None:
        plain = event.modifiers() in (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.KeypadModifier)
        return self.keys.get(Qt.Key(event.key())) if plain and not event.isAutoRepeat() else None

    def keyPressEvent(self, event: QKeyEvent) -> None:
        run = self._run_of(event)
        if run is not None:
            run()
            return
        row = self.current_row()
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and row is not None:
            self.rowActivated.emit(row)
            return
        super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._share_width()
        row, before = self.visualRect(self.currentIndex()), event.oldSize().height()
        if row.isValid() and 0 <= row.top() < before and row.bottom() > self.viewport().height():
            self.scrollTo(self.currentIndex())  # what is below the table grew over the row that was chosen

    def _fit(self) -> None:
        self.verticalHeader().setDefaultSectionSize(theme.height(32, padding=12))
        head = self.horizontalHeader()
        head.setFixedHeight(theme.height(28, role="meta", padding=10))
        self._share_width()

    def _share_width(self) -> None:
        # fixed columns shrink together when the table is narrow; the rest goes to those without a width
        columns = self.rows_model.columns
        room = self.viewport().width()
        grow = theme.line("body") / 16 if theme.line("body") > 16 else 1.0
        fixed = sum(column.width * grow for column in columns)
        open_ones = sum(1 for column in columns if not column.width)
        least = sum(column.least for column in columns if not column.width)
        share = max(0.5, min(1.0, (room - least) / fixed)) if fixed else 1.0
        head = self.horizontalHeader()
        head.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        left = room
        for at, column in enumerate(columns):
            if column.width:
                whole = tag_width("Ignored") + 16 if column.tag else 56  # a tag that is cut off says nothing
                width = max(whole, int(column.width * grow * share))
                head.resizeSection(at, width)
                left -= width
        for at, column in enumerate(columns):
            if not column.width:
                head.resizeSection(at, max(80, left // open_ones))

    def _on_head_clicked(self, section: int) -> None:
        before, order = self._order
        down, up = Qt.SortOrder.DescendingOrder, Qt.SortOrder.AscendingOrder
        self._order = (section, down if before == section and order == up else up)
        self.set_rows(self.rows_model.rows)  # not sort(): the rows chosen stay chosen wherever they go
        self._head.sorted_by = self._order
        self._head.viewport().update()

    def _on_menu(self, position: QPoint) -> None:
        index = self.indexAt(position)
        if not index.isValid():
            index = self.currentIndex()
            position = self.visualRect(index).center()
        if index.isValid():
            if not self._multi or not self.selectionModel().isRowSelected(index.row()):
                self.selectRow(index.row())
            self.menuAsked.emit(index.data(RowRole), self.viewport().mapToGlobal(position))
