"""The list of results: one column of rows that the keyboard, the mouse and a screen reader can walk."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QItemSelectionModel, QModelIndex, QPoint, Qt, Signal
from PySide6.QtGui import (
    QAction,
    QContextMenuEvent,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import QAbstractItemView, QListView, QMenu, QWidget

from sbert_desktop.app.views import DocumentView, HitView
from sbert_desktop.ui import icons
from sbert_desktop.ui.search.delegate import ResultDelegate
from sbert_desktop.ui.search.model import Kind, ResultModel
from sbert_desktop.ui.search.text import collapse
from sbert_desktop.ui.theme import Theme


class ResultList(QListView):
    """Shows a :class:`ResultModel`; says what the person wants, does nothing of it itself."""

    currentHitChanged = Signal(object, object)  # DocumentView, HitView; or None, None
    openWanted = Signal(object, object)  # DocumentView, HitView
    revealWanted = Signal(object)  # DocumentView
    similarWanted = Signal(object)  # DocumentView
    copied = Signal(str)  # a sentence for the status bar
    inspectorToggled = Signal()
    left = Signal(str)  # back to the query box, with what was typed
    moreWanted = Signal(int)  # row of REST or FOOTER
    pointerLeft = Signal()

    def __init__(self, model: ResultModel, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self.setObjectName("search_results")
        self.setAccessibleName("Results")
        self.setAccessibleDescription("Documents found, best first. Right arrow shows more passages, Enter opens.")
        self.setModel(model)
        self._delegate = ResultDelegate(model, theme, self)
        self.setItemDelegate(self._delegate)
        self.setUniformItemSizes(False)
        self.setLayoutMode(QListView.LayoutMode.Batched)
        self.setBatchSize(100)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setResizeMode(QListView.ResizeMode.Adjust)
        self.setMouseTracking(True)
        self.setFrameShape(QListView.Shape.NoFrame)
        self.verticalScrollBar().setSingleStep(24)
        model.modelReset.connect(self._delegate.forget)
        model.modelReset.connect(self._on_current)
        self.selectionModel().currentChanged.connect(lambda *_: self._on_current())
        theme.themeChanged.connect(self._on_theme)
        self._make_actions()

    # ---- actions --------------------------------------------------------------------------
    def _make_actions(self) -> None:
        def make(name: str, text: str, icon: str, keys: list[str], slot: object) -> QAction:
            action = QAction(icons.icon(icon), text, self)
            action.setObjectName(name)
            action.setShortcuts([QKeySequence(key) for key in keys])
            action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
            action.triggered.connect(slot)
            self.addAction(action)
            return action

        self.open_action = make("search_open", "Open", "open", ["Return", "Enter"], self.open_current)
        self.reveal_action = make("search_reveal", "Show in folder", "reveal", ["Ctrl+Return", "Ctrl+Enter"],
                                  self.reveal_current)
        self.copy_path_action = make("search_copy_path", "Copy path", "copy", ["Ctrl+C"], self.copy_path)
        self.copy_passage_action = make("search_copy_passage", "Copy passage", "copy", ["Ctrl+Shift+C"],
                                        self.copy_passage)
        self.similar_action = make("search_similar", "Find similar documents", "similar", ["Ctrl+Shift+F"],
                                   self._want_similar)
        self.expand_action = make("search_expand", "Show or hide further passages", "chevron", [], self.toggle_current)
        self.inspector_action = make("search_inspector", "Show or hide the preview", "panel", ["Space"],
                                     self.inspectorToggled.emit)

    def row_actions(self) -> list[QAction]:
        """Gives what can be done with a row, in the order of the context menu."""
        return [self.open_action, self.reveal_action, self.copy_path_action, self.copy_passage_action,
                self.similar_action, self.expand_action, self.inspector_action]

    def current_document(self) -> DocumentView | None:
        """Gives the document of the current row."""
        number = self._current()
        return self._model.document_at(number) if number >= 0 else None

    def current_hit(self) -> HitView | None:
        """Gives the passage of the current row."""
        number = self._current()
        return self._model.hit_at(number) if number >= 0 else None

    def _current(self) -> int:
        index = self.currentIndex()
        if not index.isValid() or self._model.row(index.row()).kind is Kind.FOOTER:
            return -1
        return index.row()

    def open_current(self) -> None:
        """Opens the current row's file, or follows its link."""
        index = self.currentIndex()
        if not index.isValid():
            return
        if self._model.row(index.row()).kind in (Kind.REST, Kind.FOOTER):
            self.moreWanted.emit(index.row())
            return
        self.openWanted.emit(self.current_document(), self.current_hit())

    def reveal_current(self) -> None:
        """Shows the current row's file in the file manager."""
        document = self.current_document()
        if document is not None:
            self.revealWanted.emit(document)

    def copy_path(self) -> None:
        """Copies the path of the current row's file."""
        document = self.current_document()
        if document is not None:
            put_on_clipboard(str(document.path))
            self.copied.emit("Path copied")

    def copy_passage(self) -> None:
        """Copies the text of the current passage."""
        hit = self.current_hit()
        if hit is not None:
            put_on_clipboard(hit.text.strip())
            self.copied.emit("Passage copied")

    def _want_similar(self) -> None:
        document = self.current_document()
        if document is not None:
            self.similarWanted.emit(document)

    def toggle_current(self) -> None:
        """Opens or closes the current document's passages."""
        number = self._current()
        if number >= 0:
            self._toggle(number)

    def _toggle(self, number: int) -> None:
        opened = self._model.is_open(number)
        head = self._model.row_of_document(self._model.row(number).document)
        if opened and self.currentIndex().row() > head and self._same_document(self.currentIndex().row(), head):
            self.setCurrentIndex(self._model.index(head))
        self._model.set_open(head, not opened)

    def _same_document(self, one: int, other: int) -> bool:
        return self._model.row(one).document == self._model.row(other).document

    # ---- choosing -------------------------------------------------------------------------
    def choose(self, number: int) -> None:
        """Makes a row current and visible."""
        if 0 <= number < self._model.rowCount():
            index = self._model.index(number)
            self.selectionModel().setCurrentIndex(index, QItemSelectionModel.SelectionFlag.ClearAndSelect)
            self.scrollTo(index)

    def _on_current(self) -> None:
        self.currentHitChanged.emit(self.current_document(), self.current_hit())

    def pointer_is_over(self) -> bool:
        """Tells whether the pointer rests on the list, so that nothing may move."""
        return self.viewport().underMouse()

    # ---- keyboard -------------------------------------------------------------------------
    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Right and Left open and close, Up leaves at the top, letters go to the query box."""
        number = self.currentIndex().row()
        key, plain = event.key(), event.modifiers() in (Qt.KeyboardModifier.NoModifier,
                                                        Qt.KeyboardModifier.KeypadModifier)
        if key == Qt.Key.Key_Escape or (key == Qt.Key.Key_Up and plain and number <= 0):
            self.left.emit("")
        elif key in (Qt.Key.Key_Right, Qt.Key.Key_Plus) and plain and number >= 0:
            self._go_right(number)
        elif key in (Qt.Key.Key_Left, Qt.Key.Key_Minus) and plain and number >= 0:
            self._go_left(number)
        elif plain and event.text().isprintable() and event.text().strip():
            self.left.emit(event.text())
        else:
            super().keyPressEvent(event)
            return
        event.accept()

    def _go_right(self, number: int) -> None:
        if self._model.row(number).kind is not Kind.DOCUMENT:
            return
        if self._model.is_open(number):
            self.choose(number + 1)
        else:
            self._model.set_open(number, True)

    def _go_left(self, number: int) -> None:
        row = self._model.row(number)
        if row.kind is Kind.FOOTER:
            return
        if row.kind is Kind.DOCUMENT:
            self._model.set_open(number, False)
        else:
            self.choose(self._model.row_of_document(row.document))

    # ---- mouse ----------------------------------------------------------------------------
    def _link_at(self, place: QPoint) -> int:
        index = self.indexAt(place)
        if index.isValid() and self._delegate.link_rect(self.visualRect(index), index.row()).contains(place):
            return index.row()
        return -1

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A press on a link follows it; elsewhere it chooses the row."""
        number = self._link_at(event.position().toPoint()) if event.button() == Qt.MouseButton.LeftButton else -1
        if number < 0:
            super().mousePressEvent(event)
            return
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        if self._model.row(number).kind is Kind.DOCUMENT:
            self._toggle(number)
        else:
            self.moreWanted.emit(number)
        event.accept()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """A double click opens the file."""
        place = event.position().toPoint()
        if event.button() == Qt.MouseButton.LeftButton and self._link_at(place) < 0 and self.indexAt(place).isValid():
            self.open_current()
        event.accept()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Shows links under the pointer."""
        super().mouseMoveEvent(event)
        self._hover(self._link_at(event.position().toPoint()))

    def _hover(self, number: int) -> None:
        if number != self._delegate.hovered_link:
            self._delegate.hovered_link = number
            self.viewport().setCursor(
                Qt.CursorShape.PointingHandCursor if number >= 0 else Qt.CursorShape.ArrowCursor)
            self.viewport().update()

    def viewportEvent(self, event: QEvent) -> bool:
        """Notices when the pointer leaves, because answers may be waiting for that."""
        if event.type() == QEvent.Type.Leave:
            self._hover(-1)
            self.pointerLeft.emit()
        return super().viewportEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offers what can be done with the row, by mouse or by the menu key."""
        place = event.pos()
        if event.reason() == QContextMenuEvent.Reason.Keyboard:
            place = self.visualRect(self.currentIndex()).center()
        else:
            index = self.indexAt(place)
            if index.isValid():
                self.choose(index.row())
        if self._current() < 0:
            return
        menu = self.make_menu()
        menu.exec(self.viewport().mapToGlobal(place))
        menu.deleteLater()

    def make_menu(self) -> QMenu:
        """Makes the context menu of the current row."""
        menu = QMenu(self)
        menu.setObjectName("search_row_menu")
        number = self._current()
        for action in self.row_actions():
            if action in (self.similar_action, self.inspector_action, self.copy_path_action):
                menu.addSeparator()
            menu.addAction(action)
        if number >= 0:
            document = self._model.document_at(number)
            self.expand_action.setEnabled(self._model.is_open(number) or self._model.more_at(number) > 0)
            for action in (self.open_action, self.reveal_action):
                action.setEnabled(document.state != "gone")
            menu.aboutToHide.connect(self._enable_all)
        return menu

    def _enable_all(self) -> None:
        for action in self.row_actions():
            action.setEnabled(True)

    # ---- size and theme -------------------------------------------------------------------
    def resizeEvent(self, event: QResizeEvent) -> None:
        """Lays the rows out anew when the width changed, and keeps the current one in sight."""
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.scheduleDelayedItemsLayout()

    def _on_theme(self) -> None:
        for action, name in zip(self.row_actions(),
                                ("open", "reveal", "copy", "copy", "similar", "chevron", "panel"), strict=True):
            action.setIcon(icons.icon(name))
        self.scheduleDelayedItemsLayout()
        self.viewport().update()

    def spoken(self) -> list[str]:
        """Gives what a screen reader says of each row (for tests and for "copy list")."""
        role = Qt.ItemDataRole.AccessibleTextRole
        return [str(self._model.data(self._model.index(n), role)) for n in range(self._model.rowCount(QModelIndex()))]


def put_on_clipboard(text: str) -> None:
    """Puts plain text on the clipboard; a path that is not UTF-8 arrives with U+FFFD."""
    QGuiApplication.clipboard().setText(text.encode("utf-8", "replace").decode("utf-8"))


def short_text(text: str, limit: int = 60) -> str:
    """Gives the beginning of a text on one line."""
    flat, _ = collapse(text)
    return flat if len(flat) <= limit else flat[: limit - 1].rstrip() + "…"
