"""The list of clusters as cards: colour, label, size, keywords, the folders as a bar."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Final

from PySide6.QtCore import (
    QAbstractItemModel,
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
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDragMoveEvent, QDropEvent, QKeyEvent, QPainter
from PySide6.QtWidgets import QLineEdit, QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from sbert_desktop.app.atlas_views import ThemeView
from sbert_desktop.ui import icons, words
from sbert_desktop.ui.clusters.words import card_said, card_tip, documents, keywords_of, label_of, shown_themes
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.widgets import KeyboardFocus, name, paint_box, paint_focus, plain_tip

Index = QModelIndex | QPersistentModelIndex
CardRole: Final = Qt.ItemDataRole.UserRole + 1
CARDS_MIME: Final = "application/x-sbert-desktop-clusters"
DOCUMENTS_MIME: Final = "application/x-sbert-desktop-documents"
GAP: Final = 8
SIDE: Final = 16
TINTS: Final = (0.9, 0.6, 0.35)  # of muted: the folders of a card, the fullest first
DIMMED: Final = 0.6

_KEYS: Final[dict[str, Callable[[ThemeView], tuple[object, ...]]]] = {
    "size": lambda one: (-one.size, label_of(one).casefold()),
    "name": lambda one: (label_of(one).casefold(),),
    "newest": lambda one: (-(one.last if one.last is not None else float("-inf")), -one.size),
    "alike": lambda one: (-one.similarity, -one.size),
}


def pack(numbers: Sequence[int]) -> bytes:
    """Gives numbers as what is dragged holds them."""
    return json.dumps(list(numbers)).encode()


def unpack(mime: QMimeData, form: str) -> tuple[int, ...]:
    """Gives the numbers of what is dragged; nothing where it is of another form or damaged."""
    if not mime.hasFormat(form):
        return ()
    try:
        found = json.loads(bytes(mime.data(form).data()))
    except ValueError:
        return ()
    return tuple(one for one in found if isinstance(one, int)) if isinstance(found, list) else ()


class CardModel(QAbstractListModel):
    """The clusters that pass the filter, in the order chosen."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._all: tuple[ThemeView, ...] = ()
        self.themes: list[ThemeView] = []
        self.order = "size"
        self.wanted = ""
        self.may_edit = True

    def set_themes(self, themes: Sequence[ThemeView]) -> None:
        """Shows other clusters."""
        self._all = shown_themes(themes)
        self._fill()

    def set_order(self, order: str) -> None:
        """Sorts."""
        self.order = order
        self._fill()

    def set_filter(self, text: str) -> None:
        """Leaves those whose label or keywords hold all words typed."""
        self.wanted = text
        self._fill()

    def row_of(self, theme_id: int) -> int:
        """Gives the row of a cluster, -1 if it is not shown."""
        return next((row for row, one in enumerate(self.themes) if one.id == theme_id), -1)

    def _fill(self) -> None:
        self.beginResetModel()
        typed = self.wanted.casefold().split()
        self.themes = sorted((one for one in self._all if _holds(one, typed)), key=_KEYS[self.order])
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008  Qt's own signature
        return 0 if parent.isValid() else len(self.themes)

    def flags(self, index: Index) -> Qt.ItemFlag:
        flag = Qt.ItemFlag
        own = flag.ItemIsEnabled | flag.ItemIsSelectable
        if self.may_edit:
            own |= flag.ItemIsEditable | flag.ItemIsDragEnabled | flag.ItemIsDropEnabled
        return own if index.isValid() else flag.NoItemFlags

    def mimeTypes(self) -> list[str]:
        return [CARDS_MIME]

    def mimeData(self, indexes: Sequence[QModelIndex]) -> QMimeData:
        made = QMimeData()
        made.setData(CARDS_MIME, pack([self.themes[index.row()].id for index in indexes]))
        return made

    def supportedDropActions(self) -> Qt.DropAction:
        return Qt.DropAction.CopyAction | Qt.DropAction.MoveAction

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid() or not 0 <= index.row() < len(self.themes):
            return None
        one = self.themes[index.row()]
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.EditRole):
            return label_of(one)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return card_said(one)
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tip(card_tip(one)).replace("\n", "<br>")
        return one if role == CardRole else None


def _holds(one: ThemeView, typed: Sequence[str]) -> bool:
    if not typed:
        return True
    whole = f"{one.label} {' '.join(word.text for word in one.keywords)}".casefold()
    return all(word in whole for word in typed)


class CardDelegate(QStyledItemDelegate):
    """Paints a card of 74; its label is edited in place."""

    def __init__(self, view: ThemeList) -> None:
        super().__init__(view)
        self._view = view

    @staticmethod
    def card_height() -> int:
        """Gives the height of a card without the gap below it."""
        lines = theme.line("body", 20) + theme.line("meta", 16)
        return 74 if lines <= 38 else 38 + lines

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(200, self.card_height() + GAP)

    def card(self, rect: QRect) -> QRect:
        """Gives where a row's card lies."""
        return rect.adjusted(SIDE, 0, self._view.bar_width() - SIDE, -GAP)

    def label_rect(self, rect: QRect) -> QRect:
        """Gives where the label stands."""
        card = self.card(rect)
        return QRect(card.x() + 35, card.y() + 12, card.width() - 47, theme.line("body", 20))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        one: ThemeView = index.data(CardRole)
        card = self.card(option.rect)
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        hover = bool(option.state & QStyle.StateFlag.State_MouseOver)
        painter.save()
        if self._view.dimmed:
            painter.setOpacity(DIMMED)
        aimed = self._view.aimed == one.id
        fill = "selected" if chosen or aimed else "hover" if hover else "raised"
        paint_box(painter, card, fill, "accent" if chosen or aimed else "border", width=2 if aimed else 1)
        self._paint_head(painter, option.rect, one)
        painter.setFont(theme.font("meta"))
        painter.setPen(theme.color("muted"))
        line = QRect(card.x() + 17, card.y() + 14 + theme.line("body", 20), card.width() - 29, theme.line("meta", 16))
        text = keywords_of(one) or "No words in common"
        painter.drawText(line, Qt.AlignmentFlag.AlignVCenter,
                         painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, line.width()))
        paint_folders(painter, QRect(card.x() + 17, card.bottom() - 15, card.width() - 29, 4), one)
        if chosen and self._view.shows_focus():
            paint_focus(painter, card)
        painter.restore()

    def _paint_head(self, painter: QPainter, rect: QRect, one: ThemeView) -> None:
        line = self.label_rect(rect)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.group_color(one.colour))
        painter.drawEllipse(QRect(line.x() - 18, line.center().y() - 4, 10, 10))
        short = line.width() < theme.metrics("strong").averageCharWidth() * 26
        number = words.count(one.size) if short else documents(one.size)
        painter.setFont(theme.numbers_font("meta"))
        painter.setPen(theme.color("muted"))
        painter.drawText(line, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, number)
        room = line.adjusted(0, 0, -painter.fontMetrics().horizontalAdvance(number) - 12, 0)
        if one.pinned:
            room.setRight(room.right() - 20)
        painter.setFont(theme.font("strong"))
        painter.setPen(theme.color("text"))
        shown = painter.fontMetrics().elidedText(label_of(one), Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter, shown)
        if one.pinned:
            x = room.x() + min(room.width(), painter.fontMetrics().horizontalAdvance(shown)) + 5
            icons.paint(painter, "pin", QRect(x, line.center().y() - 6, 14, 14), "muted")

    # ---- the label, edited in place

    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: Index) -> QWidget:
        edit = QLineEdit(parent)
        name(edit, "clusters_card_edit", "Name of the cluster", "Enter keeps it, Escape leaves it as it was")
        edit.setMaxLength(120)
        theme.set_role(edit, "strong")
        return edit

    def setEditorData(self, editor: QWidget, index: Index) -> None:
        if isinstance(editor, QLineEdit) and not editor.isModified():
            editor.setText(str(index.data(Qt.ItemDataRole.EditRole)))
            editor.selectAll()

    def setModelData(self, editor: QWidget, model: QAbstractItemModel, index: Index) -> None:
        if isinstance(editor, QLineEdit):
            self._view.tell_name(index.data(CardRole), editor.text())

    def updateEditorGeometry(self, editor: QWidget, option: QStyleOptionViewItem, index: Index) -> None:
        line = self.label_rect(option.rect)
        high = editor.sizeHint().height()
        editor.setGeometry(QRect(line.x() - 10, line.center().y() - high // 2, line.width() + 14, high))


def paint_folders(painter: QPainter, bar: QRect, one: ThemeView) -> None:
    """Paints how many of the documents lie in which folder: three tints, the rest in the last."""
    parts = [number for _, number in one.folders[:2]]
    rest = sum(number for _, number in one.folders[2:])
    parts += [rest] if rest else []
    whole = sum(parts)
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    painter.setPen(Qt.PenStyle.NoPen)
    if not whole:
        painter.fillRect(bar, theme.color("track"))
    x = bar.x()
    for at, number in enumerate(parts):
        last = at == len(parts) - 1
        width = bar.right() + 1 - x if last else round(bar.width() * number / whole)
        painter.fillRect(QRect(x, bar.y(), max(1, width - (0 if last else 1)), bar.height()),
                         theme.faded("muted", TINTS[at]))
        x += width
    painter.restore()


class ThemeList(KeyboardFocus, QListView):
    """The cards. Enter shows the documents, F2 renames, P pins, M merges, S splits; Delete does nothing.

    ``currentThemeChanged(ThemeView | None)``, ``renameWanted(id, name)``, ``documentsWanted()``, ``pinWanted()``,
    ``mergeWanted(QPoint)``, ``splitWanted()``, ``mergeIntoWanted(id of the target, ids)``,
    ``moveWanted(id of the target, contents)``, ``menuAsked(QPoint)``, ``cancelWanted()``.
    """

    currentThemeChanged = Signal(object)
    renameWanted = Signal(int, str)
    documentsWanted = Signal()
    pinWanted = Signal()
    mergeWanted = Signal(object)
    splitWanted = Signal()
    mergeIntoWanted = Signal(int, object)
    moveWanted = Signal(int, object)
    menuAsked = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        name(self, "clusters_list", "Clusters",
             "Enter shows the documents, F2 renames, P pins, M merges, S splits")
        self.dimmed = False
        self.aimed = -1
        self._told: ThemeView | None = None
        self.cards = CardModel(self)
        self.setModel(self.cards)
        self.rows = CardDelegate(self)
        self.setItemDelegate(self.rows)
        self.setUniformItemSizes(True)
        self.setMouseTracking(True)
        self.setSelectionMode(QListView.SelectionMode.SingleSelection)
        self.setEditTriggers(QListView.EditTrigger.EditKeyPressed)
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setDragDropMode(QListView.DragDropMode.DragDrop)
        self.setDefaultDropAction(Qt.DropAction.CopyAction)
        self.setDropIndicatorShown(False)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._on_menu)
        self.selectionModel().currentChanged.connect(lambda *_: self._tell())
        self.doubleClicked.connect(lambda _: self.documentsWanted.emit())
        theme.themeChanged.connect(self.doItemsLayout)

    def bar_width(self) -> int:
        """Gives the width of the scroll bar while it is there: cards keep their edge."""
        return min(10, self.width() - self.viewport().width())

    def current(self) -> ThemeView | None:
        """Gives the cluster chosen."""
        index = self.currentIndex()
        return index.data(CardRole) if index.isValid() else None

    def set_themes(self, themes: Sequence[ThemeView]) -> None:
        """Shows other clusters; the one chosen stays chosen while it is there."""
        self._keep(lambda: self.cards.set_themes(themes))

    def set_order(self, order: str) -> None:
        """Sorts; the one chosen stays chosen and in sight."""
        self._keep(lambda: self.cards.set_order(order))
        if self.currentIndex().isValid():
            self.scrollTo(self.currentIndex(), QListView.ScrollHint.EnsureVisible)

    def set_filter(self, text: str) -> None:
        """Leaves those that hold the words typed."""
        self._keep(lambda: self.cards.set_filter(text))

    def set_dimmed(self, dimmed: bool) -> None:
        """Pales the cards while others are being found."""
        if dimmed != self.dimmed:
            self.dimmed = dimmed
            self.viewport().update()

    def _keep(self, change: Callable[[], object]) -> None:
        now, row = self.current(), self.currentIndex().row()
        offset = self.verticalScrollBar().value()
        change()
        count = len(self.cards.themes)
        at = self.cards.row_of(now.id) if now is not None else -1
        if at < 0:
            at = max(0, min(row, count - 1))
        if count:
            self.setCurrentIndex(self.cards.index(at))
            self.verticalScrollBar().setValue(offset)
        self._tell()

    def choose(self, theme_id: int) -> bool:
        """Chooses a cluster by its id; False if it is not shown."""
        row = self.cards.row_of(theme_id)
        if row >= 0:
            self.setCurrentIndex(self.cards.index(row))
        return row >= 0

    def choose_again(self) -> None:
        """Marks the card again that was left for something else."""
        if self.currentIndex().isValid():
            self.selectionModel().select(self.currentIndex(), QItemSelectionModel.SelectionFlag.ClearAndSelect)

    def rename(self) -> None:
        """Edits the label in place."""
        if self.currentIndex().isValid() and self.cards.may_edit:
            self.edit(self.currentIndex())

    def tell_name(self, one: ThemeView, text: str) -> None:
        """Says a name that was typed, if it is another one."""
        text = " ".join(text.split())
        if text != label_of(one):
            self.renameWanted.emit(one.id, text)

    def _tell(self) -> None:
        now = self.current()
        if now is not self._told:
            self._told = now
            self.currentThemeChanged.emit(now)

    # ---- keys

    _KEYS: Final = (Qt.Key.Key_P, Qt.Key.Key_M, Qt.Key.Key_S, Qt.Key.Key_Delete)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, plain = event.key(), event.modifiers() in (Qt.KeyboardModifier.NoModifier,
                                                        Qt.KeyboardModifier.KeypadModifier)
        there = self.current() is not None
        if plain and key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            if there:
                self.documentsWanted.emit()
        elif plain and key == Qt.Key.Key_P:
            if there and not event.isAutoRepeat():
                self.pinWanted.emit()
        elif plain and key == Qt.Key.Key_M:
            if there:
                self.mergeWanted.emit(self._spot())
        elif plain and key == Qt.Key.Key_S:
            if there and not event.isAutoRepeat():
                self.splitWanted.emit()
        elif key in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            event.accept()  # nothing goes by a key that is hit by mistake
        elif key == Qt.Key.Key_Escape:
            event.ignore()  # the page cancels what is under way
        else:
            super().keyPressEvent(event)

    def event(self, event: QEvent) -> bool:
        """Keeps the list's keys from the window's shortcuts."""
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) \
                and event.key() in self._KEYS and event.modifiers() == Qt.KeyboardModifier.NoModifier:
            event.accept()
            return True
        return super().event(event)

    def _spot(self) -> QPoint:
        return self.viewport().mapToGlobal(self.visualRect(self.currentIndex()).center())

    def _on_menu(self, position: QPoint) -> None:
        index = self.indexAt(position)
        if index.isValid():
            self.setCurrentIndex(index)
        elif self.currentIndex().isValid():
            position = self.visualRect(self.currentIndex()).center()
        if self.current() is not None:
            self.menuAsked.emit(self.viewport().mapToGlobal(position))

    # ---- dropping a card or documents on a card

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if self._takes(event):
            event.acceptProposedAction()
        else:
            event.ignore()  # files from outside are for the window

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        self._aim(self._target(event) if self._takes(event) else None)
        if self.aimed >= 0:
            event.setDropAction(Qt.DropAction.CopyAction)
            event.accept()
        else:
            event.ignore()

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        self._aim(None)

    def dropEvent(self, event: QDropEvent) -> None:
        target = self._target(event) if self._takes(event) else None
        self._aim(None)
        if target is None:
            event.ignore()
            return
        event.setDropAction(Qt.DropAction.CopyAction)
        event.accept()
        cards = unpack(event.mimeData(), CARDS_MIME)
        contents = unpack(event.mimeData(), DOCUMENTS_MIME)
        if cards:
            self.mergeIntoWanted.emit(target.id, cards)
        elif contents:
            self.moveWanted.emit(target.id, contents)

    def _takes(self, event: QDropEvent) -> bool:
        mime = event.mimeData()
        return self.cards.may_edit and (mime.hasFormat(CARDS_MIME) or mime.hasFormat(DOCUMENTS_MIME))

    def _target(self, event: QDropEvent) -> ThemeView | None:
        index = self.indexAt(event.position().toPoint())
        one: ThemeView | None = index.data(CardRole) if index.isValid() else None
        return one if one is not None and one.id not in unpack(event.mimeData(), CARDS_MIME) else None

    def _aim(self, one: ThemeView | None) -> None:
        aimed = one.id if one is not None else -1
        if aimed != self.aimed:
            self.aimed = aimed
            self.viewport().update()
