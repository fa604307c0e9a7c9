"""The list of results: one column of rows that the keyboard, the mouse and a screen reader can walk."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QItemSelectionModel, QModelIndex, QPoint, Qt, Signal
from PySide6.QtGui import QAction, QContextMenuEvent, QKeyEvent, QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QListView, QMenu, QWidget

from sbert_desktop.app.views import DocumentView, HitView
from sbert_desktop.ui.search.citing import put_on_clipboard
from sbert_desktop.ui.search.delegate import FOLDED, ResultDelegate
from sbert_desktop.ui.search.model import Kind, ResultModel
from sbert_desktop.ui.search.row_actions import RowActions
from sbert_desktop.ui.theme import Theme

Chosen = tuple[tuple[DocumentView, HitView], ...]


AT_ONCE = 10  # files opened by one command: more would bury the screen


class ResultList(QListView):
    """Shows a :class:`ResultModel`; says what the person wants, does nothing of it itself.

    Several rows can be chosen with Ctrl and Shift, and dragged out as files. ``chosen()`` gives them.
    """

    currentHitChanged = Signal(object, object)  # DocumentView, HitView; or None, None
    openWanted = Signal(object, object)  # DocumentView, HitView
    revealWanted = Signal(object)  # DocumentView
    similarWanted = Signal(object)  # DocumentView
    copied = Signal(str)  # a sentence for the status bar
    inspectorToggled = Signal()
    left = Signal(str)  # back to the query box, with what was typed
    moreWanted = Signal(int)  # row of REST or FOOTER
    foldedWanted = Signal()  # passages that say nearly the same are to be listed one by one
    judgeWanted = Signal(str)  # "relevant", "not relevant" or "" for the chosen hits
    steerWanted = Signal(int)  # +1 more, -1 less like the chosen hits
    exportWanted = Signal()
    openWithWanted = Signal()
    citationWanted = Signal()
    collectWanted = Signal()
    mapWanted = Signal()
    chosenChanged = Signal(int)  # how many rows are chosen
    pointerLeft = Signal()

    def __init__(self, model: ResultModel, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self.setObjectName("search_results")
        self.setAccessibleName("Results")
        self.setAccessibleDescription("Documents found, best first. Right arrow shows more passages, Enter opens; "
                                      "Ctrl and Shift choose several.")
        self.setModel(model)
        self._delegate = ResultDelegate(model, theme, self)
        self.setItemDelegate(self._delegate)
        self.setUniformItemSizes(False)
        self.setLayoutMode(QListView.LayoutMode.Batched)
        self.setBatchSize(100)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setDragEnabled(True)
        self.setDragDropMode(QAbstractItemView.DragDropMode.DragOnly)
        self.setDefaultDropAction(Qt.DropAction.CopyAction)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setResizeMode(QListView.ResizeMode.Adjust)
        self.setMouseTracking(True)
        self.setFrameShape(QListView.Shape.NoFrame)
        self.verticalScrollBar().setSingleStep(24)
        model.modelReset.connect(self._delegate.forget)
        model.modelReset.connect(self._on_current)
        self.selectionModel().currentChanged.connect(lambda *_: self._on_current())
        self.selectionModel().selectionChanged.connect(lambda *_: self.chosenChanged.emit(len(self.chosen())))
        theme.themeChanged.connect(self._on_theme)
        self.row = RowActions(self)
        self.open_action, self.reveal_action = self.row.open, self.row.reveal
        self.similar_action, self.expand_action = self.row.similar, self.row.expand

    # ---- actions --------------------------------------------------------------------------
    def row_actions(self) -> list[QAction]:
        """Gives what can be done with a row, in the order of the context menu."""
        return self.row.offered()

    def chosen(self) -> Chosen:
        """Gives the documents and passages of the chosen rows, in the order of the list."""
        numbers = sorted(index.row() for index in self.selectionModel().selectedRows())
        out = [(self._model.document_at(number), hit) for number in numbers
               if self._model.row(number).document >= 0 and (hit := self._model.hit_at(number)) is not None]
        if not out:
            document, hit = self.current_document(), self.current_hit()
            out = [(document, hit)] if document is not None and hit is not None else []
        return tuple(out)

    def chosen_documents(self) -> list[DocumentView]:
        """Gives the documents of the chosen rows, each once."""
        documents = {(each.content_id, each.path): each for each, _ in self.chosen()}
        current = self.current_document()
        return list(documents.values()) or ([current] if current is not None else [])

    @property
    def results(self) -> ResultModel:
        """The rows."""
        return self._model

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
        if not index.isValid() or self._model.row(index.row()).document < 0:
            return -1
        return index.row()

    def open_current(self) -> None:
        """Opens the chosen rows' files (at most ten at once), or follows the current row's link."""
        index = self.currentIndex()
        if not index.isValid():
            return
        if self._model.row(index.row()).kind in (Kind.REST, Kind.FOOTER):
            self.moreWanted.emit(index.row())
            return
        several = self.chosen_documents()
        if len(several) < 2:
            self.openWanted.emit(self.current_document(), self.current_hit())
            return
        hits = {(document.content_id, document.path): hit for document, hit in reversed(self.chosen())}
        for document in several[:AT_ONCE]:
            self.openWanted.emit(document, hits[document.content_id, document.path])
        if len(several) > AT_ONCE:
            self.copied.emit(f"Opening the first {AT_ONCE} of {len(several)} files")

    def reveal_current(self) -> None:
        """Shows the chosen rows' files in the file manager, each folder once and at most ten."""
        folders = {document.path.parent: document for document in reversed(self.chosen_documents())}
        for document in list(folders.values())[:AT_ONCE]:
            self.revealWanted.emit(document)

    def copy_path(self) -> None:
        """Copies the paths of the chosen rows' files, one a line."""
        paths = list(dict.fromkeys(str(document.path) for document in self.chosen_documents()))
        if paths:
            put_on_clipboard("\n".join(paths))
            self.copied.emit("Path copied" if len(paths) == 1 else f"{len(paths)} paths copied")

    def copy_passage(self) -> None:
        """Copies the text of the chosen passages."""
        texts = [hit.text.strip() for _, hit in self.chosen()]
        if texts:
            put_on_clipboard("\n\n".join(texts))
            self.copied.emit("Passage copied" if len(texts) == 1 else f"{len(texts)} passages copied")

    def want_similar(self) -> None:
        document = self.current_document()
        if document is not None:
            self.similarWanted.emit(document)

    def want_verdict(self, verdict: str) -> None:
        """Asks to keep a verdict on the chosen hits; the same again takes it back."""
        chosen = self.chosen()
        if chosen:
            self.judgeWanted.emit("" if all(hit.judged == verdict for _, hit in chosen) else verdict)

    def toggle_current(self) -> None:
        """Opens or closes the current document's passages."""
        number = self._current()
        if number >= 0:
            self._toggle(number)

    def _toggle(self, number: int) -> None:
        opened = self._model.is_open(number)
        head = self._model.row_of_document(self._model.row(number).document)
        if opened and self.currentIndex().row() > head and self._same_document(self.currentIndex().row(), head):
            self.choose(head)
        self._model.set_open(head, not opened)

    def _same_document(self, one: int, other: int) -> bool:
        return self._model.row(one).document == self._model.row(other).document

    # ---- choosing -------------------------------------------------------------------------
    def choose(self, number: int) -> None:
        """Makes a row current and visible."""
        number = max(number, self._model.first_row()) if number >= 0 else number
        if 0 <= number < self._model.rowCount():
            index = self._model.index(number)
            self.selectionModel().setCurrentIndex(index, QItemSelectionModel.SelectionFlag.ClearAndSelect)
            self.scrollTo(index)

    def _on_current(self) -> None:
        self.currentHitChanged.emit(self.current_document(), self.current_hit())

    def spot(self) -> QPoint:
        """Gives where a menu about the current row belongs, on the screen."""
        rect = self.visualRect(self.currentIndex()).intersected(self.viewport().rect())
        return self.viewport().mapToGlobal(rect.center() if rect.isValid() else self.viewport().rect().center())

    def pointer_is_over(self) -> bool:
        """Tells whether the pointer rests on the list, so that nothing may move."""
        return self.viewport().underMouse()

    # ---- keyboard -------------------------------------------------------------------------
    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Right and Left open and close, Up leaves at the top, letters go to the query box."""
        number = self.currentIndex().row()
        key, plain = event.key(), event.modifiers() in (Qt.KeyboardModifier.NoModifier,
                                                        Qt.KeyboardModifier.KeypadModifier)
        if key == Qt.Key.Key_Escape or (key == Qt.Key.Key_Up and plain and
                                           number <= self._model.first_row()):
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
        if row.document < 0:
            return
        if row.kind is Kind.DOCUMENT:
            self._model.set_open(number, False)
        else:
            self.choose(self._model.row_of_document(row.document))

    # ---- mouse ----------------------------------------------------------------------------
    def _link_at(self, place: QPoint) -> int:
        index = self.indexAt(place)
        if not index.isValid():
            return -1
        rect = self.visualRect(index)
        if self._delegate.folded_rect(rect, index.row()).contains(place):
            return index.row() + FOLDED
        return index.row() if self._delegate.link_rect(rect, index.row()).contains(place) else -1

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A press on a link follows it; elsewhere it chooses the row."""
        number = self._link_at(event.position().toPoint()) if event.button() == Qt.MouseButton.LeftButton else -1
        if number < 0:
            super().mousePressEvent(event)
            return
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        if number >= FOLDED:
            self.foldedWanted.emit()
        elif self._model.row(number).kind is Kind.DOCUMENT:
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
            if index.isValid() and not self.selectionModel().isSelected(index):
                self.choose(index.row())
        if self._current() < 0:
            return
        menu = self.make_menu()
        menu.exec(self.viewport().mapToGlobal(place))
        menu.deleteLater()

    def make_menu(self) -> QMenu:
        """Makes the context menu of the current row."""
        return self.row.make_menu()

    # ---- size and theme -------------------------------------------------------------------
    def resizeEvent(self, event: QResizeEvent) -> None:
        """Lays the rows out anew when the width changed, and keeps the current one in sight."""
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.scheduleDelayedItemsLayout()

    def _on_theme(self) -> None:
        self.row.recolour()
        self.scheduleDelayedItemsLayout()
        self.viewport().update()

    def spoken(self) -> list[str]:
        """Gives what a screen reader says of each row (for tests and for "copy list")."""
        role = Qt.ItemDataRole.AccessibleTextRole
        return [str(self._model.data(self._model.index(n), role)) for n in range(self._model.rowCount(QModelIndex()))]
