"""The drawer of the selection: what is selected, what can be done with it, and each document as a row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractItemView, QHBoxLayout, QListView, QVBoxLayout, QWidget

from sbert_desktop.app.atlas_views import DocumentRow
from sbert_desktop.domain import Finished
from sbert_desktop.ui import words
from sbert_desktop.ui.bridge import Latest
from sbert_desktop.ui.map.rows import LISTED, PAGE, RowDelegate, SelectionModel
from sbert_desktop.ui.naming import quick_path
from sbert_desktop.ui.page import Desk
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.widgets import (
    Button,
    ComboBox,
    ElidedLabel,
    FlowLayout,
    IconButton,
    KeyboardFocus,
    Label,
    Line,
    Panel,
    Tag,
    announce,
    name,
)

WIDE: Final = 344
SORTED_BY_ROWS: Final = 5_000
"""Up to so many documents the list is sorted by name and folder: all rows must be known for it."""
ORDERS: Final = (("central", "Most central first"), ("newest", "Newest first"), ("title", "By name"),
                 ("folder", "By folder"))


@dataclass(frozen=True, slots=True)
class Facts:
    """What the head says of a selection.

    ``contents`` by closeness to its middle, ``newest`` by date. ``title``: ``99 documents selected``; ``line``: facts
    known without the rows; ``tags``: keywords of the cluster that most of it is in.
    """

    contents: NDArray[np.int64]
    newest: NDArray[np.int64]
    title: str
    line: tuple[str, ...] = ()
    dates: str = ""
    tags: tuple[str, ...] = ()


class RowList(KeyboardFocus, QListView):
    """The documents. Enter and a click show one, a double click opens the file; Ctrl and Shift choose several."""

    showWanted = Signal()
    openWanted = Signal()
    menuAsked = Signal(object)  # QPoint on the screen
    leftWanted = Signal()
    copyWanted = Signal()

    def __init__(self, rows: SelectionModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        name(self, "map_selection_list", "Selected documents",
             "Enter shows a document beside the map, Ctrl+Enter opens its file")
        self.setModel(rows)
        self.setItemDelegate(RowDelegate(self))
        self.setUniformItemSizes(True)
        self.setMouseTracking(True)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._on_menu)
        self.clicked.connect(lambda _: self.showWanted.emit())
        self.doubleClicked.connect(lambda _: self.openWanted.emit())
        theme.themeChanged.connect(self.doItemsLayout)

    def _on_menu(self, spot: QPoint) -> None:
        if not self.indexAt(spot).isValid():
            spot = self.visualRect(self.currentIndex()).center()
        self.menuAsked.emit(self.viewport().mapToGlobal(spot))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        control = event.modifiers() & Qt.KeyboardModifier.ControlModifier
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            (self.openWanted if control else self.showWanted).emit()
        elif event.key() == Qt.Key.Key_Escape:
            self.leftWanted.emit()
        elif control and event.key() == Qt.Key.Key_C:
            self.copyWanted.emit()
        else:
            super().keyPressEvent(event)


class SelectionDrawer(Panel):
    """344 wide, on the right edge. ``deed(str)`` for its buttons; ``currentChanged()`` and ``chosenChanged()``.

    Deeds: ``search``, ``name``, ``menu``, ``duplicates``, ``export``, ``show``, ``open``, ``copy``.
    """

    deed = Signal(str)
    closeWanted = Signal()
    menuAsked = Signal(object)
    chosenChanged = Signal()
    currentChanged = Signal()

    def __init__(self, desk: Desk, parent: QWidget | None = None) -> None:
        super().__init__("surface", lines="left", parent=parent)
        name(self, "map_drawer", "Selection")
        self._desk = desk
        self.facts: Facts | None = None
        self._latest = Latest(desk.bridge)
        self._told = ""
        self.rows = SelectionModel(self)
        self.list = RowList(self.rows)
        self._build()
        self._look = QTimer(self)  # rows that are scrolled past are not asked for
        self._look.setSingleShot(True)
        self._look.setInterval(30)
        self._look.timeout.connect(self._want_visible)
        self._connect()
        self.hide()

    def _build(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(1, 0, 0, 0)
        column.setSpacing(0)
        head = QWidget()
        inner = QVBoxLayout(head)
        inner.setContentsMargins(16, 12, 16, 12)
        inner.setSpacing(0)
        top = QHBoxLayout()
        top.setSpacing(8)
        texts = QVBoxLayout()
        texts.setSpacing(0)
        self.title = ElidedLabel(role="section", object_name="map_selected")
        self.line = ElidedLabel(role="meta", tone="muted", object_name="map_selected_facts")
        texts.addWidget(self.title)
        texts.addWidget(self.line)
        top.addLayout(texts, 1)
        self.close_button = IconButton("close", "Close and select nothing", object_name="map_drawer_close",
                                       shortcut="Esc")
        top.addWidget(self.close_button, 0, Qt.AlignmentFlag.AlignTop)
        inner.addLayout(top)
        self.tags = QWidget()
        self.tags.setObjectName("map_keywords")
        self._tag_row = FlowLayout(self.tags, gap=6)
        self._tag_row.setContentsMargins(0, 10, 0, 0)
        self._tags = [Tag("", object_name=f"map_keyword_{at}") for at in range(4)]
        for tag in self._tags:
            self._tag_row.addWidget(tag)
        inner.addWidget(self.tags)
        inner.addSpacing(12)
        buttons = QHBoxLayout()
        buttons.setSpacing(8)
        self.search = Button("Search in these", kind="primary", icon="search", object_name="map_search_in",
                             tip="Search only these documents")
        self.own_name = Button("Name...", icon="tag", object_name="map_name", tip="Keep them as a collection")
        self.more = IconButton("more", "More to do with the selection", object_name="map_drawer_more")
        buttons.addWidget(self.search)
        buttons.addWidget(self.own_name)
        buttons.addStretch(1)
        buttons.addWidget(self.more)
        inner.addLayout(buttons)
        column.addWidget(head)
        column.addWidget(Line())
        sort = QWidget()
        order = QHBoxLayout(sort)
        order.setContentsMargins(6, 0, 16, 0)
        self.sort = ComboBox(object_name="map_sort", accessible="Order of the list", flat=True)
        self.state = Label("", role="meta", tone="muted", object_name="map_list_state")
        order.addWidget(self.sort)
        order.addStretch(1)
        order.addWidget(self.state)
        column.addWidget(sort)
        column.addWidget(Line())
        column.addWidget(self.list, 1)
        column.addWidget(Line())
        self.foot = QWidget()
        foot = QHBoxLayout(self.foot)
        foot.setContentsMargins(16, 8, 16, 8)
        self.duplicates = Button("Duplicates here", size="small", icon="duplicates", object_name="map_duplicates_here",
                                 tip="Look for duplicates only among these")
        self.export = Button("Export", size="small", icon="export", object_name="map_export_selection",
                             tip="Save the list of these documents")
        foot.addWidget(self.duplicates)
        foot.addStretch(1)
        foot.addWidget(self.export)
        column.addWidget(self.foot)

    def _connect(self) -> None:
        for button, deed in ((self.search, "search"), (self.own_name, "name"), (self.more, "menu"),
                             (self.duplicates, "duplicates"), (self.export, "export")):
            button.clicked.connect(lambda _=False, deed=deed: self.deed.emit(deed))
        self.close_button.clicked.connect(self.closeWanted)
        self.sort.activated.connect(lambda _: self._order())
        self.sort.currentIndexChanged.connect(lambda _: self.sort.updateGeometry())
        self.rows.wanted.connect(self._ask)
        view = self.list
        view.showWanted.connect(lambda: self.deed.emit("show"))
        view.openWanted.connect(lambda: self.deed.emit("open"))
        view.copyWanted.connect(lambda: self.deed.emit("copy"))
        view.menuAsked.connect(self.menuAsked)
        view.leftWanted.connect(self.closeWanted)
        view.verticalScrollBar().valueChanged.connect(lambda _: self._look.start())
        view.selectionModel().selectionChanged.connect(lambda *_: self.chosenChanged.emit())
        view.selectionModel().currentChanged.connect(lambda *_: self.currentChanged.emit())

    def wide(self, room: int) -> int:
        """Gives how wide it is beside a map of a width; it grows with the text, and leaves some of the map."""
        grown = WIDE * (100 + max(0, theme.text_scale - 100) * 6 // 10) // 100
        return min(grown, max(240, room - 120))

    # ---- what is selected

    def show_facts(self, facts: Facts) -> None:
        """Shows a selection; the same documents again only change the head."""
        same = self.facts is not None and np.array_equal(self.facts.contents, facts.contents)
        self.facts = facts
        number = len(facts.contents)
        self.title.set_full_text(facts.title)
        self.export.setText(f"Export {words.count(number)}")
        self._show_tags(facts.tags)
        if not same:
            self._fill_orders(number)
            self._order()
        self._show_line()
        if facts.title != self._told:
            self._told = facts.title
            announce(self, facts.title)

    def clear(self) -> None:
        """Shows nothing; what still comes is not for it."""
        self.facts = None
        self._told = ""
        self._latest.drop()
        self._look.stop()
        self.rows.set_contents(np.zeros(0, np.int64))

    def _show_tags(self, tags: tuple[str, ...]) -> None:
        for at, tag in enumerate(self._tags):
            tag.setVisible(at < len(tags))
            if at < len(tags):
                own = quick_path(tags[at])
                tag.set_text(own if len(own) < 30 else f"{own[:28]}…")
        self.tags.setVisible(bool(tags))

    def _show_line(self) -> None:
        facts = self.facts
        if facts is None:
            return
        pieces = list(facts.line)
        rows = self.rows.known() if len(facts.contents) <= PAGE else []
        if rows:
            folders = len({row.path.parent for row in rows})
            pieces.append(words.counted(folders, "folder"))
        if facts.dates:
            pieces.append(facts.dates)
        self.line.set_full_text(", ".join(pieces))
        self.line.setVisible(bool(pieces))

    def _fill_orders(self, number: int) -> None:
        now = self.sort.currentData()
        offered = [each for each in ORDERS if number <= SORTED_BY_ROWS or each[0] in ("central", "newest")]
        self.sort.blockSignals(True)
        self.sort.clear()
        for key, text in offered:
            self.sort.addItem(text, key)
        self.sort.setCurrentIndex(max(0, self.sort.findData(now)))
        self.sort.blockSignals(False)

    def _order(self) -> None:
        facts = self.facts
        if facts is None:
            return
        order = self.sort.currentData()
        self._latest.drop()
        self.rows.set_contents(facts.newest if order == "newest" else facts.contents)
        self.list.scrollToTop()
        listed = len(self.rows.contents) < len(facts.contents)
        self.state.setText(f"the first {words.count(LISTED)}" if listed else "")
        if order in ("title", "folder") and not self._sort_known(order):
            self.rows.want_next()
        else:
            self._want_visible()

    def _sort_known(self, order: str) -> bool:
        self.rows.sort_rows(order)
        done = len(self.rows.known()) == len(self.rows.contents)
        self.state.setText("" if done else "reading names")
        return done

    # ---- rows

    def _want_visible(self) -> None:
        top = self.list.indexAt(QPoint(4, 4)).row()
        tall = max(1, self.list.viewport().height() // RowDelegate.row_height())
        self.rows.want(max(0, top), max(0, top) + tall + 20)

    def _ask(self, contents: tuple[int, ...]) -> None:
        self._latest.watch(self._desk.commands.document_rows(contents), on_finished=self._on_rows)

    def _on_rows(self, finished: Finished) -> None:
        self._latest.job = None
        if not isinstance(finished.result, tuple):
            self.rows.lost()
            if not self._desk.report_failure(finished) and self.facts is not None:
                self._look.start()  # another page's request took its place
            return
        self.rows.put(finished.result)
        self._show_line()
        order = self.sort.currentData()
        if order in ("title", "folder"):
            if not self._sort_known(order):
                self.rows.want_next()
        else:
            self._want_visible()

    def forget_rows(self) -> None:
        """Reads what is shown anew: the library changed."""
        self.rows.forget()
        if self.facts is not None:
            self._look.start()

    def current(self) -> DocumentRow | None:
        """Gives the row that the keys are on, if it is known."""
        index = self.list.currentIndex()
        return self.rows.row_at(index.row()) if index.isValid() else None

    def chosen(self) -> list[DocumentRow]:
        """Gives the rows chosen in the list, in its order."""
        at = sorted(index.row() for index in self.list.selectionModel().selectedRows())
        found = [self.rows.row_at(row) for row in at]
        return [row for row in found if row is not None]

    def choose(self, content: int) -> None:
        """Puts the list on a document, if it is in it."""
        found = np.flatnonzero(self.rows.contents == content)
        if len(found):
            self.list.setCurrentIndex(self.rows.index(int(found[0])))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.closeWanted.emit()
        else:
            super().keyPressEvent(event)
