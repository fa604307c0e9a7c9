"""The command palette (Ctrl+Shift+P): every command, page and document by its name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import cast

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QRect,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QFont, QFontMetrics, QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLineEdit,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from sbert_desktop.app.views import DocumentView
from sbert_desktop.ui import icons
from sbert_desktop.ui.overlay import Sheet
from sbert_desktop.ui.page import Action
from sbert_desktop.ui.palette_documents import DocumentFinder
from sbert_desktop.ui.search.model import title_of
from sbert_desktop.ui.shortcuts import split_keys
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.widgets import KeyCap, Label, Line, announce, key_cap_width, name, paint_box, paint_key_cap

Index = QModelIndex | QPersistentModelIndex
ROWS = 12
MOST = {"Settings": 2}  # of a group while words are typed: they must not bury pages and documents
MOST_OF_OTHERS = 4
DOCUMENTS = "Documents"


@dataclass(frozen=True, slots=True)
class Entry:
    """A row: an action of a group, or the group's caption (``action`` None); a document can also be opened."""

    group: str
    action: Action | None = None
    found: tuple[int, ...] = ()
    document: DocumentView | None = None


def match(words: str, text: str) -> tuple[int, ...] | None:
    """Gives the places of the letters found, or None: every word must stand in the text, word starts first."""
    low = text.casefold()
    if len(low) != len(text):  # a letter that folds to two would shift the places
        low = text.lower() if len(text.lower()) == len(text) else text
    places: set[int] = set()
    for word in words.casefold().split():
        at = next((i for i in range(len(low)) if low.startswith(word, i) and (i == 0 or not low[i - 1].isalnum())), -1)
        if at < 0:
            at = low.find(word)
        if at < 0:
            return None
        places.update(range(at, at + len(word)))
    return tuple(sorted(places))


def _place_of_find(entry: Entry) -> tuple[bool, int]:
    """The beginning of a word is a better find than its middle, and what stands first is better than what follows."""
    if not entry.found or entry.action is None:
        return True, 1000
    at = entry.found[0]
    return at > 0 and entry.action.text[at - 1].isalnum(), at


class _Model(QAbstractListModel):
    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.entries: list[Entry] = []

    def set_entries(self, entries: list[Entry]) -> None:
        self.beginResetModel()
        self.entries = entries
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008  Qt's own signature
        return 0 if parent.isValid() else len(self.entries)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        entry = self.entries[index.row()]
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return entry.group if entry.action is None else entry.action.text
        if role == Qt.ItemDataRole.AccessibleDescriptionRole and entry.action is not None:
            return f"{entry.action.note} {entry.action.shortcut}".strip()
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        if self.entries[index.row()].action is None:
            return Qt.ItemFlag.NoItemFlags
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable


class _Delegate(QStyledItemDelegate):
    def __init__(self, model: _Model) -> None:
        super().__init__(model)
        self._model = model

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        if self._model.entries[index.row()].action is None:
            return QSize(100, theme.line("meta_medium") + 16)
        return QSize(100, theme.height(36, padding=14))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        entry = self._model.entries[index.row()]
        rect: QRect = option.rect
        flags = Qt.AlignmentFlag.AlignVCenter
        if entry.action is None:
            painter.setFont(theme.font("meta_medium"))
            painter.setPen(theme.color("muted"))
            painter.drawText(rect.adjusted(16, 8, -16, 0), flags, entry.group)
            return
        row = rect.adjusted(8, 0, -8, 0)
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        if chosen or option.state & QStyle.StateFlag.State_MouseOver:
            paint_box(painter, row, "selected" if chosen else "hover", None)
        icons.paint(painter, entry.action.icon, QRect(row.x() + 8, row.center().y() - 8, 18, 18),
                    "accent" if chosen else "muted")
        right = self._paint_keys(painter, row, entry.action.shortcut)
        x = self._paint_text(painter, QRect(row.x() + 38, row.y(), right - row.x() - 50, row.height()), entry)
        if entry.action.note and x + 40 < right:
            painter.setFont(theme.font("meta"))
            painter.setPen(theme.color("muted"))
            room = QRect(x + 12, row.y(), right - x - 24, row.height())
            painter.drawText(room, flags, painter.fontMetrics().elidedText(
                entry.action.note, Qt.TextElideMode.ElideRight, room.width()))

    @staticmethod
    def _paint_keys(painter: QPainter, row: QRect, shortcut: str) -> int:
        right = row.right() - 8
        height = theme.height(20, role="key", padding=6)
        for key in reversed(split_keys(shortcut)):
            width = key_cap_width(key)
            paint_key_cap(painter, QRect(right - width, row.center().y() - height // 2 + 1, width, height), key)
            right -= width + 4
        return right

    @staticmethod
    def _paint_text(painter: QPainter, room: QRect, entry: Entry) -> int:
        assert entry.action is not None
        plain, bold = theme.font("body"), theme.font("strong")
        painter.setPen(theme.color("text"))
        found = set(entry.found)
        text, at, x = entry.action.text, 0, room.x()
        while at < len(text):
            strong = at in found
            end = at
            while end < len(text) and (end in found) == strong:
                end += 1
            font: QFont = bold if strong else plain
            painter.setFont(font)
            painter.drawText(QRect(x, room.y(), max(0, room.right() - x), room.height()),
                             Qt.AlignmentFlag.AlignVCenter, text[at:end])
            x += QFontMetrics(font).horizontalAdvance(text[at:end])
            at = end
        return x


class _Input(QLineEdit):
    """The palette's line: arrows move the choice while the focus stays here."""

    moved = Signal(int)
    opened = Signal()  # Ctrl+Enter

    def keyPressEvent(self, event: QKeyEvent) -> None:
        steps = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1, Qt.Key.Key_PageDown: 8, Qt.Key.Key_PageUp: -8}
        step = steps.get(Qt.Key(event.key()))
        if step is not None:
            self.moved.emit(step)
            return
        enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if enter and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.opened.emit()
            return
        super().keyPressEvent(event)


class _Glass(QWidget):
    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setFixedSize(18, 18)

    def paintEvent(self, event: QPaintEvent) -> None:
        icons.paint(QPainter(self), "search", self.rect(), "muted")


class CommandPalette(Sheet):
    """Finds and runs commands, finds documents; ``?`` as first letter hands the words to Search."""

    searchAsked = Signal(str)

    def __init__(self, host: QWidget, actions: Callable[[], Sequence[tuple[str, Action]]],
                 finder: DocumentFinder | None = None) -> None:
        super().__init__(host, width=640, top=88)
        name(self, "command_palette", "Command palette")
        self._actions = actions
        self._recent: list[str] = []
        self._finder = finder
        self._hasty = ""  # words behind which Enter was pressed before any row was there
        self.column.setContentsMargins(1, 0, 1, 0)
        self.column.setSpacing(0)
        head = QHBoxLayout()
        head.setContentsMargins(44, 0, 16, 0)
        head.setSpacing(12)
        self.edit = _Input()
        self.edit.setProperty("bare", True)
        self.edit.setPlaceholderText("Type a command, a page or the name of a document")
        name(self.edit, "command_palette_input", "Command or document",
             "Arrow keys choose, Enter runs, Escape closes. Enter previews a document, Ctrl+Enter opens it.")
        theme.set_role(self.edit, "search")
        head.addWidget(self.edit, 1)
        head.addWidget(KeyCap("Esc"))
        self.column.addLayout(head)
        self._glass = _Glass(self.card)
        self.column.addWidget(Line())
        self._model = _Model(self)
        self.list = QListView()
        name(self.list, "command_palette_list", "Commands found")
        self.list.setModel(self._model)
        self.list.setItemDelegate(_Delegate(self._model))
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.setMouseTracking(True)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setStyleSheet("QListView { background: transparent; padding: 4px 0; }")
        self.list.clicked.connect(self._on_clicked)
        self.column.addWidget(self.list)
        self.none = Label("", tone="muted", object_name="command_palette_none")
        self.none.setContentsMargins(16, 16, 16, 16)
        self.column.addWidget(self.none)
        self.column.addWidget(Line())
        self.column.addLayout(self._make_foot())
        self.edit.textChanged.connect(self._on_text_changed)
        self.edit.returnPressed.connect(self._on_return_pressed)
        self.edit.moved.connect(self._on_moved)
        self.edit.opened.connect(self._open_document)
        self.list.selectionModel().currentChanged.connect(lambda *_: self._say_keys())
        if finder is not None:
            finder.found.connect(self._on_found)
            self.closed.connect(lambda _accepted: finder.drop())
        theme.themeChanged.connect(self._fit)
        self._fit()

    def _make_foot(self) -> QHBoxLayout:
        foot = QHBoxLayout()
        foot.setContentsMargins(16, 6, 16, 6)
        foot.setSpacing(8)
        self.runs = Label("run", role="meta", tone="muted", object_name="command_palette_runs")
        self.opens = Label("open the file", role="meta", tone="muted", object_name="command_palette_opens")
        self._open_keys = [KeyCap("Ctrl"), KeyCap("Enter")]
        for keys, label in (([KeyCap("↑"), KeyCap("↓")], Label("choose", role="meta", tone="muted")),
                            ([KeyCap("Enter")], self.runs), (self._open_keys, self.opens)):
            for key in keys:
                foot.addWidget(key)
            foot.addWidget(label)
            foot.addSpacing(8)
        foot.addStretch(1)
        foot.addWidget(KeyCap("?"))
        foot.addWidget(Label("search by meaning instead", role="meta", tone="muted"))
        return foot

    def first_focus(self) -> QWidget:
        return self.edit

    def open(self) -> None:
        self.edit.clear()
        self._fill("")
        super().open()

    def shown(self) -> list[str]:
        """Gives the texts of the commands now listed."""
        return [entry.action.text for entry in self._model.entries if entry.action is not None]

    def _fit(self) -> None:
        height = theme.height(48, role="search", padding=20)
        self.edit.setFixedHeight(height)
        self._glass.move(16, (height - 18) // 2)

    def _fill(self, words: str) -> None:
        groups: dict[str, list[Entry]] = {}
        folders = self._finder.folders() if words and self._finder is not None else []
        for group, action in (*self._actions(), *(("Go to", folder) for folder in folders)):
            if action.enabled is not None and not action.enabled():
                continue
            found = match(words, action.text)
            if found is None and match(words, action.note) is not None:
                found = ()
            if found is not None:
                groups.setdefault(group, []).append(Entry(group, action, found))
        entries: list[Entry] = []
        if not words and self._recent:
            every = {e.action.name: e for rows in groups.values() for e in rows if e.action is not None}
            recent = [Entry("Recent", every[key].action) for key in self._recent if key in every]
            if recent:
                entries += [Entry("Recent"), *recent[:4]]
        if not words:
            groups.pop("Settings", None)  # every single setting would bury the rest
        for group, rows in groups.items():
            if words:
                rows = sorted(rows, key=_place_of_find)[: MOST.get(group, MOST_OF_OTHERS)]
            entries += [Entry(group), *rows]
        asked = self._finder is not None and self._finder.ask(words)
        self._show(entries, 1 if entries else -1, waits=asked)
        if not asked:
            announce(self, f"{len(self.shown())} commands")

    def _show(self, entries: list[Entry], chosen: int, *, waits: bool = False) -> None:
        self._model.set_entries(entries)
        self.none.setText("Looking for documents of that name…" if waits else
                          "Nothing is called that. Start with ? to search inside your documents.")
        self.none.setVisible(not entries)
        self.list.setVisible(bool(entries))
        self._choose(chosen)
        self._say_keys()
        delegate, option = self.list.itemDelegate(), QStyleOptionViewItem()
        heights = [delegate.sizeHint(option, self._model.index(i)).height() for i in range(len(entries))]
        captions = sum(height for height, entry in zip(heights, entries, strict=True) if entry.action is None)
        host = self.parentWidget()
        assert host is not None
        # below the palette's own line, and above its foot and some of the window
        room = host.height() - 88 - 48 - 2 * theme.height(48, role="search", padding=20)
        most = min(ROWS * theme.height(36, padding=14) + captions, max(120, room))
        self.list.setFixedHeight(min(sum(heights) + 10, most))
        self.place()

    def _on_found(self, words: str, documents: object) -> None:
        """Adds the documents of a name below what is there: no row moves, and the choice stays."""
        if words != self.edit.text() or not self.isVisible() or self._finder is None:
            return
        rows = [Entry(DOCUMENTS, self._finder.action(document), match(words, title_of(document)) or (), document)
                for document in cast(tuple[DocumentView, ...], documents)]
        # the word at the beginning of a name is the better find; the library gave the newest first
        rows.sort(key=_place_of_find)
        chosen = self.list.currentIndex().row()
        before = self._model.entries
        entries = [*before, Entry(DOCUMENTS), *rows] if rows else before
        top = self.list.verticalScrollBar().value()
        self._show(entries, chosen if before else 1 if rows else -1)
        if before:
            self.list.verticalScrollBar().setValue(top)
        announce(self, f"{len(self.shown()) - len(rows)} commands, {len(rows)} documents")
        if self._hasty == words and rows and not before:
            self._run(self.list.currentIndex())

    def _document(self) -> DocumentView | None:
        row = self.list.currentIndex().row()
        return self._model.entries[row].document if 0 <= row < len(self._model.entries) else None

    def _say_keys(self) -> None:
        document = self._document() is not None
        self.runs.setText("show" if document else "run")
        for widget in (*self._open_keys, self.opens):
            widget.setVisible(document)

    def _open_document(self) -> None:
        document = self._document()
        if document is not None and self._finder is not None:
            self.close_sheet(True)
            self._finder.open(document)

    def _choose(self, row: int) -> None:
        if 0 <= row < len(self._model.entries):
            index = self._model.index(row)
            self.list.setCurrentIndex(index)
            if row <= 1:
                self.list.scrollToTop()
            else:
                self.list.scrollTo(index)

    def _on_moved(self, step: int) -> None:
        rows = [i for i, entry in enumerate(self._model.entries) if entry.action is not None]
        if not rows:
            return
        at = rows.index(self.list.currentIndex().row()) if self.list.currentIndex().row() in rows else -1
        at = (at + step) % len(rows) if abs(step) == 1 else max(0, min(len(rows) - 1, at + step))
        self._choose(rows[at])

    def _on_text_changed(self, text: str) -> None:
        self._hasty = ""
        self._fill("" if text.startswith("?") else text)

    def _on_return_pressed(self) -> None:
        text = self.edit.text()
        if text.startswith("?"):
            self.close_sheet(True)
            self.searchAsked.emit(text[1:].strip())
            return
        if not self._model.entries:
            self._hasty = text
        self._run(self.list.currentIndex())

    def _on_clicked(self, index: Index) -> None:
        self._run(index)

    def _run(self, index: Index) -> None:
        if not index.isValid():
            return
        entry = self._model.entries[index.row()]
        action = entry.action
        if action is None:
            return
        if entry.document is None:
            self._recent = [action.name, *(key for key in self._recent if key != action.name)][:4]
        self.close_sheet(True)
        action.run()
