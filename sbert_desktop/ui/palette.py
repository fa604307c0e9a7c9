"""The command palette (Ctrl+Shift+P): every command and page by its name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

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

from sbert_desktop.ui import icons
from sbert_desktop.ui.overlay import Sheet
from sbert_desktop.ui.page import Action
from sbert_desktop.ui.shortcuts import split_keys
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.widgets import KeyCap, Label, Line, announce, key_cap_width, name, paint_box, paint_key_cap

Index = QModelIndex | QPersistentModelIndex
ROWS = 12


@dataclass(frozen=True, slots=True)
class Entry:
    """A row: an action of a group, or the group's caption (``action`` None)."""

    group: str
    action: Action | None = None
    found: tuple[int, ...] = ()


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

    def keyPressEvent(self, event: QKeyEvent) -> None:
        steps = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1, Qt.Key.Key_PageDown: 8, Qt.Key.Key_PageUp: -8}
        step = steps.get(Qt.Key(event.key()))
        if step is not None:
            self.moved.emit(step)
            return
        super().keyPressEvent(event)


class _Glass(QWidget):
    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setFixedSize(18, 18)

    def paintEvent(self, event: QPaintEvent) -> None:
        icons.paint(QPainter(self), "search", self.rect(), "muted")


class CommandPalette(Sheet):
    """Finds and runs commands; ``?`` as first letter hands the words to Search."""

    searchAsked = Signal(str)

    def __init__(self, host: QWidget, actions: Callable[[], Sequence[tuple[str, Action]]]) -> None:
        super().__init__(host, width=640, top=88)
        name(self, "command_palette", "Command palette")
        self._actions = actions
        self._recent: list[str] = []
        self.column.setContentsMargins(1, 0, 1, 0)
        self.column.setSpacing(0)
        head = QHBoxLayout()
        head.setContentsMargins(44, 0, 16, 0)
        head.setSpacing(12)
        self.edit = _Input()
        self.edit.setProperty("bare", True)
        self.edit.setPlaceholderText("Type a command")
        name(self.edit, "command_palette_input", "Command", "Arrow keys choose, Enter runs, Escape closes")
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
        self.none = Label("No command is called that. Start with ? to search your documents.", tone="muted",
                          object_name="command_palette_none")
        self.none.setContentsMargins(16, 16, 16, 16)
        self.column.addWidget(self.none)
        self.column.addWidget(Line())
        foot = QHBoxLayout()
        foot.setContentsMargins(16, 6, 16, 6)
        foot.setSpacing(8)
        for keys, text in (("↑ ↓", "choose"), ("Enter", "run")):
            for key in keys.split():
                foot.addWidget(KeyCap(key))
            foot.addWidget(Label(text, role="meta", tone="muted"))
            foot.addSpacing(8)
        foot.addStretch(1)
        foot.addWidget(KeyCap("?"))
        foot.addWidget(Label("search your documents instead", role="meta", tone="muted"))
        self.column.addLayout(foot)
        self.edit.textChanged.connect(self._on_text_changed)
        self.edit.returnPressed.connect(self._on_return_pressed)
        self.edit.moved.connect(self._on_moved)
        theme.themeChanged.connect(self._fit)
        self._fit()

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
        for group, action in self._actions():
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
            # a word that starts the text is the better find
            rows.sort(key=lambda entry: entry.found[0] if entry.found else 0 if not words else 1000)
            entries += [Entry(group), *rows]
        self._model.set_entries(entries)
        self.none.setVisible(not entries)
        self.list.setVisible(bool(entries))
        self._choose(1 if entries else -1)
        delegate, option = self.list.itemDelegate(), QStyleOptionViewItem()
        heights = [delegate.sizeHint(option, self._model.index(i)).height() for i in range(len(entries))]
        self.list.setFixedHeight(min(sum(heights), ROWS * theme.height(36, padding=14)) + 10)
        self.place()
        announce(self, f"{len(self.shown())} commands")

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
        self._fill("" if text.startswith("?") else text)

    def _on_return_pressed(self) -> None:
        text = self.edit.text()
        if text.startswith("?"):
            self.close_sheet(True)
            self.searchAsked.emit(text[1:].strip())
            return
        self._run(self.list.currentIndex())

    def _on_clicked(self, index: Index) -> None:
        self._run(index)

    def _run(self, index: Index) -> None:
        if not index.isValid():
            return
        action = self._model.entries[index.row()].action
        if action is None:
            return
        self._recent = [action.name, *(key for key in self._recent if key != action.name)][:4]
        self.close_sheet(True)
        action.run()
