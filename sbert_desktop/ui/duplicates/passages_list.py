"""The list of passages that several documents share, and the places of one of them."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPointF,
    QRect,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QFontMetrics, QKeyEvent, QPainter, QResizeEvent
from PySide6.QtWidgets import QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from sbert_desktop.app.diffing import differing_words
from sbert_desktop.app.duplicate_views import SharedPassage, Span
from sbert_desktop.domain import short_path
from sbert_desktop.ui import icons
from sbert_desktop.ui.duplicates.diff_text import LEFT_INK, CellText
from sbert_desktop.ui.naming import file_words, kind_of
from sbert_desktop.ui.search.text import collapse
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.widgets import KeyboardFocus, name, paint_focus
from sbert_desktop.ui.words import counted

Index = QModelIndex | QPersistentModelIndex
_ROOT = QModelIndex()
KEPT = 300
FIRST_WORDS = 200  # code points of a passage that a row of the list is made of


def documents_of(passage: SharedPassage) -> int:
    """Gives in how many documents a passage stands."""
    return len({(path, member) for path, member, *_ in passage.places})


class PassageModel(QAbstractListModel):
    """Passages, one per row."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.passages: Sequence[SharedPassage] = ()

    def set_passages(self, passages: Sequence[SharedPassage]) -> None:
        """Takes other passages."""
        self.beginResetModel()
        self.passages = passages
        self.endResetModel()

    def rowCount(self, parent: Index = _ROOT) -> int:
        """Gives how many there are."""
        return 0 if parent.isValid() else len(self.passages)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Gives the first words, and for a screen reader where they stand."""
        if not index.isValid() or index.row() >= len(self.passages):
            return None
        passage = self.passages[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return collapse(passage.places[0][4][:FIRST_WORDS])[0]
        if role == Qt.ItemDataRole.AccessibleTextRole:
            words = collapse(passage.places[0][4][:FIRST_WORDS])[0]
            return f"{words}, in {counted(documents_of(passage), 'document')}, similarity {passage.lowest:.2f}"
        return None


class _PassageDelegate(QStyledItemDelegate):
    """Paints a row: first words, similarity, in how many documents."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """Gives two lines."""
        return QSize(200, theme.line("body", 20) + theme.line("meta", 16) + 20)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Paints it."""
        model, view = index.model(), option.widget
        assert isinstance(model, PassageModel)
        passage = model.passages[index.row()]
        rect: QRect = option.rect
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        if chosen:
            painter.fillRect(rect, theme.color("selected"))
            painter.fillRect(QRect(rect.x(), rect.y(), 3, rect.height()), theme.color("accent"))
        elif option.state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(rect, theme.color("hover"))
        painter.fillRect(QRect(rect.x(), rect.bottom(), rect.width(), 1), theme.color("border"))
        line, small = theme.line("body", 20), theme.line("meta", 16)
        first = QRect(rect.x() + 16, rect.y() + 9, rect.width() - 28, line)
        second = QRect(first.x(), first.bottom() + 1, first.width(), small)
        sides = Qt.AlignmentFlag
        number = f"{passage.lowest:.2f}"
        painter.setFont(theme.numbers_font("strong"))
        painter.setPen(theme.color("text"))
        painter.drawText(first, sides.AlignRight | sides.AlignVCenter, number)
        font = theme.font("strong" if chosen else "medium")
        room = first.width() - QFontMetrics(theme.numbers_font("strong")).horizontalAdvance(number) - 12
        painter.setFont(font)
        text = QFontMetrics(font).elidedText(str(index.data()), Qt.TextElideMode.ElideRight, room)
        painter.drawText(QRect(first.x(), first.y(), room, line), sides.AlignVCenter | sides.AlignLeft, text)
        painter.setFont(theme.font("meta"))
        painter.setPen(theme.color("muted"))
        painter.drawText(second, sides.AlignVCenter, f"in {counted(documents_of(passage), 'document')}")
        if chosen and isinstance(view, PassageList) and view.shows_focus():
            paint_focus(painter, rect, 4)


class PassageList(KeyboardFocus, QListView):
    """Passages; ``chosen(SharedPassage or None)`` when another one is current."""

    chosen = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        name(self, "passages_list", "Passages that several documents share")
        self.setFrameShape(QListView.Shape.NoFrame)
        self.setUniformItemSizes(True)
        self.setMouseTracking(True)
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.passages = PassageModel(self)
        self.setModel(self.passages)
        self.setItemDelegate(_PassageDelegate(self))
        self.selectionModel().currentChanged.connect(lambda current, _before: self.chosen.emit(self._at(current)))
        theme.themeChanged.connect(self.scheduleDelayedItemsLayout)

    def set_passages(self, passages: Sequence[SharedPassage]) -> None:
        """Shows passages, the first one chosen."""
        self.passages.set_passages(passages)
        if passages:
            self.setCurrentIndex(self.passages.index(0))
        else:
            self.chosen.emit(None)

    def current(self) -> SharedPassage | None:
        """Gives the passage chosen."""
        return self._at(self.currentIndex())

    def _at(self, index: Index) -> SharedPassage | None:
        return self.passages.passages[index.row()] if index.isValid() else None


class PlaceModel(QAbstractListModel):
    """The places of one passage."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.passage: SharedPassage | None = None
        self._marks: dict[int, tuple[Span, ...]] = {}

    def set_passage(self, passage: SharedPassage | None) -> None:
        """Takes another passage."""
        self.beginResetModel()
        self.passage = passage
        self._marks.clear()
        self.endResetModel()

    def rowCount(self, parent: Index = _ROOT) -> int:
        """Gives how many places it has."""
        return 0 if parent.isValid() or self.passage is None else len(self.passage.places)

    def text(self, row: int) -> str:
        """Gives the passage as it stands in a place, whitespace collapsed."""
        assert self.passage is not None
        return collapse(self.passage.places[row][4])[0]

    def marks(self, row: int) -> tuple[Span, ...]:
        """Gives the words of a place that the first one lacks; worked out when they are painted."""
        if row == 0:
            return ()
        found = self._marks.get(row)
        if found is None:
            found = self._marks[row] = differing_words(self.text(0), self.text(row))[1]
        return found

    def place_words(self, row: int) -> tuple[str, str]:
        """Gives the name of a place, and where that is."""
        assert self.passage is not None
        path, member, page, *_ = self.passage.places[row]
        folder = short_path(path.parent)
        return file_words(path, member), f"{folder}, page {page}" if page is not None else folder

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Gives the text; for a screen reader with its place and the words that the first one lacks."""
        if not index.isValid() or self.passage is None or index.row() >= len(self.passage.places):
            return None
        row = index.row()
        if role == Qt.ItemDataRole.DisplayRole:
            return self.text(row)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            text, marks = self.text(row), self.marks(row)
            only = "; ".join(f"“{text[low:high]}”" for low, high in marks)
            same = " The words are all in the first." if row else ""
            differs = f" Other than in the first: {only}" if only else same
            return f"{', '.join(self.place_words(row))}: {text}{differs}"
        return None


class _PlaceDelegate(QStyledItemDelegate):
    """Paints a place: icon, name, folder and page, then the text with the differing words marked."""

    def __init__(self, view: PlaceList) -> None:
        super().__init__(view)
        self._view = view

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """Gives the height of the text laid out."""
        cell = self._view.cell(index.row())
        return QSize(200, math.ceil(cell.height) + theme.line("body", 20) + 28)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Paints it."""
        view = self._view
        model, row = view.places, index.row()
        assert model.passage is not None
        path, member, *_ = model.passage.places[row]
        rect: QRect = option.rect
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(rect, theme.color("selected"))
            painter.fillRect(QRect(rect.x(), rect.y(), 3, rect.height()), theme.color("accent"))
        elif option.state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(rect, theme.color("hover"))
        painter.fillRect(QRect(rect.x(), rect.bottom(), rect.width(), 1), theme.color("border"))
        line = theme.line("body", 20)
        own, where = model.place_words(row)
        icons.paint(painter, icons.for_format(kind_of(path, member)),
                    QRect(rect.x() + 16, rect.y() + 12 + (line - 16) // 2, 16, 16), "muted")
        box = QRect(rect.x() + 40, rect.y() + 12, rect.width() - 56, line)
        strong, small = QFontMetrics(theme.font("medium")), QFontMetrics(theme.font("meta"))
        flags = Qt.AlignmentFlag.AlignVCenter
        shown = strong.elidedText(own, Qt.TextElideMode.ElideMiddle, box.width() * 3 // 5)
        painter.setFont(theme.font("medium"))
        painter.setPen(theme.color("text"))
        painter.drawText(box, flags, shown)
        rest = box.adjusted(strong.horizontalAdvance(shown) + 12, 0, 0, 0)
        painter.setFont(theme.font("meta"))
        painter.setPen(theme.color("muted"))
        painter.drawText(rest, flags | Qt.AlignmentFlag.AlignRight,
                         small.elidedText(where, Qt.TextElideMode.ElideMiddle, rest.width()))
        view.cell(row, marked=True).draw(painter, QPointF(rect.x() + 40, box.bottom() + 5), LEFT_INK)
        if index == view.currentIndex() and view.shows_focus():
            paint_focus(painter, rect, 4)


class PlaceList(KeyboardFocus, QListView):
    """The places of a passage with its text as it stands there."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        name(self, "passages_places", "Places of the passage")
        self.setFrameShape(QListView.Shape.NoFrame)
        self.setMouseTracking(True)
        self.setLayoutMode(QListView.LayoutMode.Batched)
        self.setBatchSize(20)
        self.setResizeMode(QListView.ResizeMode.Adjust)
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.verticalScrollBar().setSingleStep(32)
        self._cells: OrderedDict[tuple[int, bool], CellText] = OrderedDict()
        self.places = PlaceModel(self)
        self.setModel(self.places)
        self.setItemDelegate(_PlaceDelegate(self))
        theme.themeChanged.connect(self._lay_out_anew)

    def set_passage(self, passage: SharedPassage | None) -> None:
        """Shows the places of another passage."""
        self._cells.clear()
        self.places.set_passage(passage)
        if passage is not None:
            self.setCurrentIndex(self.places.index(0))
        self.scrollToTop()

    def row(self) -> int:
        """Gives the number of the place chosen, -1 for none."""
        return self.currentIndex().row()

    def path(self) -> Path | None:
        """Gives the file of the place chosen."""
        passage, row = self.places.passage, self.row()
        return passage.places[row][0] if passage is not None and row >= 0 else None

    def cell(self, row: int, *, marked: bool = False) -> CellText:
        """Gives the text of a place laid out; ``marked`` with its marks, which takes comparing."""
        key = (row, marked)
        found = self._cells.get(key)
        if found is None:
            width = self.viewport().width() - 56
            marks = self.places.marks(row) if marked else ()
            found = CellText(self.places.text(row), marks, theme.font("body"), width, theme.line("body", 20))
            self._cells[key] = found
            if len(self._cells) > KEPT:
                self._cells.popitem(last=False)
        return found

    def _lay_out_anew(self) -> None:
        self._cells.clear()
        self.scheduleDelayedItemsLayout()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Lays out anew for another width."""
        if event.oldSize().width() != event.size().width():
            self._lay_out_anew()
        super().resizeEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Leaves letters and Enter to the actions."""
        if event.text() and event.text().isprintable():
            event.ignore()
            return
        super().keyPressEvent(event)
