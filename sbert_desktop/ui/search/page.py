"""The Search page: query, filters, results; the preview beside it is its inspector."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QAction, QKeySequence, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from sbert_desktop.app.interface import Commands
from sbert_desktop.app.views import DocumentView, HitView, LibraryView, Marks, SearchView
from sbert_desktop.domain import Failure
from sbert_desktop.ui.bridge import Bridge
from sbert_desktop.ui.search.area import ResultArea, answer_words
from sbert_desktop.ui.search.files import Files
from sbert_desktop.ui.search.filters import FilterBar
from sbert_desktop.ui.search.inspector import PreviewInspector
from sbert_desktop.ui.search.model import Kind, Order, ResultModel, title_of
from sbert_desktop.ui.search.query_box import BalanceSlider, QueryBox, SortBox
from sbert_desktop.ui.search.session import SearchSession
from sbert_desktop.ui.theme import Theme, theme
from sbert_desktop.ui.widgets import (
    Button,
    ElidedLabel,
    Label,
    Line,
    Panel,
    announce,
)
from sbert_desktop.ui.words import counted

ORDERS = ((Order.BEST, "Best first"), (Order.NEWEST, "Newest first"), (Order.NAME, "Name"))


class SearchPage(Panel):
    """The page. It owns its ``inspector``; the frame puts both where they belong.

    Signals: ``statusMessage(str)`` - one sentence for the foot of the window;
    ``openRequested(str)`` - another page is wanted, by name (``library``);
    ``inspectorWanted(bool)`` - the preview should be shown or hidden; ``captionWanted(DocumentView)``.
    """

    statusMessage = Signal(str)
    openRequested = Signal(str)
    inspectorWanted = Signal(bool)
    captionWanted = Signal(object)  # DocumentView
    _settingChanged = Signal(str)  # settings tell in the thread that changed them

    def __init__(self, commands: Commands, bridge: Bridge, theme: Theme = theme, parent: QWidget | None = None,
                 inspector: PreviewInspector | None = None) -> None:
        super().__init__("surface", parent=parent)
        self._grow = False
        self._stale = False
        self.setObjectName("page_search")
        self.setAccessibleName("Search")
        self._commands = commands
        self._bridge = bridge
        self._theme = theme
        self._library: LibraryView | None = None
        self._waiting: SearchView | None = None  # a re-run that would move what is under the pointer
        self._inspector_open = True
        self.session = SearchSession(commands, bridge, self)
        self.model = ResultModel(self)
        self.files = Files(commands, bridge, self)
        self.files.said.connect(self.statusMessage)
        self.inspector = inspector if inspector is not None else PreviewInspector(commands, bridge, theme)
        self._build()
        self._connect()
        self._make_actions()
        self._show_start()

    # ---- for the frame --------------------------------------------------------------------
    def focus_query(self) -> None:
        """Puts the focus into the query box and selects its words."""
        self.query.edit.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.query.edit.selectAll()

    def run(self, query_text: str) -> None:
        """Searches for words at once, as if they had been typed."""
        self.query.set_text(query_text)
        self.filters.set_similar("")
        self.session.run(query_text)
        self.query.edit.setFocus(Qt.FocusReason.OtherFocusReason)
        self.query.edit.end(False)

    def set_library(self, view: LibraryView) -> None:
        """Takes the state of the library: choices of the filters, and whether there may be new hits."""
        before, self._library = self._library, view
        self.filters.set_library(view)
        if self.stack.currentWidget() in (self.start, self.stack.empty_library):
            self._show_start()
        if before is not None and _content_of(before) != _content_of(view):
            self.library_changed()

    def library_changed(self) -> None:
        """Runs the query on screen again, quietly and at most every 3 s; once it is seen if hidden now."""
        self._stale = not self.isVisible()
        if not self._stale:
            self.session.library_changed()

    def showEvent(self, event: QShowEvent) -> None:
        """Brings the results up to date when the page comes to the front."""
        super().showEvent(event)
        if self._stale:
            self.library_changed()

    # ---- building -------------------------------------------------------------------------
    def _build(self) -> None:
        self.query = QueryBox(self._commands.history, self)
        self.balance = BalanceSlider(self.session.words_weight, self)
        self.filters = FilterBar(self)
        self.count = Label("", role="meta", object_name="search_count")
        self.count.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Preferred)
        self.notes = ElidedLabel("", role="meta", tone="muted", object_name="search_notes")
        self.sort = SortBox(object_name="search_sort", accessible="Sort by", flat=True)
        for order, words in ORDERS:
            self.sort.addItem(words, order)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        head = QVBoxLayout()
        head.setContentsMargins(16, 12, 16, 0)
        head.setSpacing(8)
        first = QHBoxLayout()
        first.setSpacing(16)
        first.addWidget(self.query, 1)
        first.addWidget(self.balance)
        head.addLayout(first)
        head.addWidget(self.filters)
        line = QHBoxLayout()
        line.setSpacing(0)
        line.addWidget(self.count)
        line.addWidget(self.notes, 1)
        # in the line, not above the list: appearing there would push the rows from under the pointer
        self.newer = Button("", kind="link", size="small", icon="refresh", object_name="search_newer")
        self.newer.hide()
        line.addWidget(self.newer)
        line.addSpacing(8)
        line.addWidget(self.sort)
        self.result_line = QWidget(self)
        self.result_line.setLayout(line)
        line.setContentsMargins(0, 0, 0, 0)
        self.result_line.setFixedHeight(self._theme.height(28, role="meta", padding=8))
        head.addWidget(self.result_line)
        column.addLayout(head)
        column.addWidget(Line(parent=self))
        self.stack = ResultArea(self.model, self._theme, self)
        self.list, self.start = self.stack.list, self.stack.start
        column.addWidget(self.stack, 1)
        for first_widget, second in zip(self._tab_order(), self._tab_order()[1:], strict=False):
            QWidget.setTabOrder(first_widget, second)

    def _tab_order(self) -> list[QWidget]:
        return [self.query.edit, self.query.clear_button, self.balance.slider, *self.filters.chips(), self.newer,
                self.sort, self.start.clear_button, self.start.list, self.list]

    def _connect(self) -> None:
        session = self.session
        self.query.typed.connect(self._on_typed)
        self.query.entered.connect(self._on_entered)
        self.query.descended.connect(self._go_to_list)
        self.query.historyCleared.connect(self._clear_history)
        self.query.can_descend = self._can_descend
        self.balance.weightChanged.connect(self._on_weight)
        self.balance.slider.sliderReleased.connect(self._remember_weight)
        self.filters.changed.connect(self._on_filters)
        self.filters.similarCleared.connect(self._leave_similar)
        self.sort.currentIndexChanged.connect(self._on_sort)
        self.sort.currentIndexChanged.connect(lambda _number: self.sort.updateGeometry())
        self.newer.clicked.connect(self._show_waiting)
        self.start.chosen.connect(self.run)
        self.start.cleared.connect(self._clear_history)
        self.stack.empty_filters.clicked.connect(self.filters.clear)
        self.stack.empty_library.clicked.connect(lambda: self.openRequested.emit("library"))
        self.stack.failed.clicked.connect(session.submit)
        self.stack.changed.connect(self._on_area)
        session.answered.connect(self._on_answer)
        session.marked.connect(self._on_marks)
        session.slow.connect(self._on_slow)
        session.failed.connect(self._on_failed)
        session.cleared.connect(self._show_start)
        self.list.currentHitChanged.connect(self._on_current)
        self.list.openWanted.connect(self.files.open)
        self.list.revealWanted.connect(self.files.reveal)
        self.list.similarWanted.connect(self._show_similar)
        self.list.copied.connect(self.statusMessage)
        self.list.inspectorToggled.connect(self._toggle_inspector)
        self.list.left.connect(self._on_left_list)
        self.list.moreWanted.connect(self._on_more)
        inspector = self.inspector
        inspector.openWanted.connect(self.files.open)
        inspector.revealWanted.connect(self.files.reveal)
        inspector.similarWanted.connect(self._show_similar)
        inspector.captionWanted.connect(self.captionWanted)
        inspector.statusMessage.connect(self.statusMessage)
        inspector.hitWanted.connect(self._on_hit_wanted)
        inspector.closeWanted.connect(lambda: self._set_inspector(False))
        self._preview = QTimer(self)  # arrow keys held down must not start a preview per row
        self._preview.setSingleShot(True)
        self._preview.setInterval(60)
        self._preview.timeout.connect(self._show_preview)
        self._theme.themeChanged.connect(self._on_theme)
        self._settingChanged.connect(self._on_setting)
        self._commands.settings.subscribe(self._tell_setting)

    def _tell_setting(self, key: str) -> None:
        try:
            self._settingChanged.emit(key)
        except RuntimeError:
            pass  # the page is gone; settings outlive it

    def _on_setting(self, key: str) -> None:
        weight = self._commands.settings.number("search.words_weight")
        if key == "search.words_weight" and weight != self.balance.weight():
            self.balance.set_weight(weight)
            self.session.set_words_weight(weight)

    def _make_actions(self) -> None:
        def make(name: str, text: str, keys: str, slot: Callable[[], object]) -> None:
            action = QAction(text, self)
            action.setObjectName(name)
            if keys:
                action.setShortcut(QKeySequence(keys))
                action.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
            action.triggered.connect(lambda _=False: slot())
            self.addAction(action)

        make("search_focus", "Go to the search box", "Ctrl+L", self.focus_query)
        make("search_clear_filters", "Clear filters", "Ctrl+Shift+X", self.filters.clear)
        make("search_choose_folder", "Search in a folder…", "", self.filters.choose_folder)
        make("search_choose_dates", "Search between two dates…", "", self.filters.choose_dates)
        for number, (_, words) in enumerate(ORDERS):
            make(f"search_sort_{number}", f"Sort results: {words.lower()}", "",
                 partial(self.sort.setCurrentIndex, number))
        make("search_meaning_only", "Search by meaning only", "", lambda: self._set_weight(0))
        make("search_words_only", "Search by words only", "", lambda: self._set_weight(100))
        make("search_caption", "Add a caption or transcript to this result…", "", self._want_caption)
        make("search_forget", "Clear recent searches", "", self._clear_history)

    def actions(self) -> list[QAction]:
        """Gives what the palette may offer of this page: its own actions and those of the current result."""
        own = [action for action in QWidget.actions(self) if isinstance(action, QAction)]
        return own + (self.list.row_actions() if self.list.current_document() is not None else [])

    # ---- query ----------------------------------------------------------------------------
    def _on_typed(self, text: str) -> None:
        self.filters.set_similar("")
        self._drop_waiting()
        self.session.type_text(text)

    def _on_entered(self) -> None:
        if self.session.settled and self.query.text().strip():
            self._go_to_list()
        else:
            self.session.submit()

    def _can_descend(self) -> bool:
        return self.stack.has_results and self.model.rowCount() > 0 and bool(self.query.text().strip())

    def _go_to_list(self) -> None:
        if self.stack.has_results and self.model.rowCount():
            self.list.setFocus(Qt.FocusReason.TabFocusReason)
            if not self.list.currentIndex().isValid():
                self.list.choose(0)

    def _on_left_list(self, typed: str) -> None:
        edit = self.query.edit
        edit.setFocus(Qt.FocusReason.OtherFocusReason)
        if typed:
            edit.selectAll()
            edit.insert(typed)
            self._on_typed(edit.text())
        else:
            edit.end(False)

    def _on_weight(self, weight: int) -> None:
        if not self.balance.slider.isSliderDown():  # a drag passes many values; only where it ends is kept
            self._remember_weight()
        self._drop_waiting()
        self.session.set_words_weight(weight)

    def _remember_weight(self) -> None:
        self._commands.settings.set("search.words_weight", self.balance.weight())

    def _set_weight(self, weight: int) -> None:
        self.balance.set_weight(weight)
        self._on_weight(weight)

    def _on_filters(self, filters: object) -> None:
        self._drop_waiting()
        self.session.set_filters(self.filters.filters())
        if self.session.similar_path is None:
            self.filters.set_similar("")

    def _clear_history(self) -> None:
        self._commands.clear_history()
        self.start.set_history(())
        self.statusMessage.emit("Recent searches cleared")

    def _show_similar(self, document: DocumentView) -> None:
        self._drop_waiting()
        self.filters.set_similar(title_of(document))
        self.session.show_similar(document.path)

    def _want_caption(self) -> None:
        document = self.list.current_document()
        if document is not None:
            self.captionWanted.emit(document)

    def _leave_similar(self) -> None:
        self.filters.set_similar("")
        self.session.show_similar(None)

    def _on_sort(self, number: int) -> None:
        passage = self._current_passage()
        self.model.sort_by(ORDERS[max(0, number)][0])
        self._choose_passage(passage)

    # ---- answers --------------------------------------------------------------------------
    def _on_answer(self, view: SearchView, quiet: bool, final: bool) -> None:
        if not view.documents and quiet and self.stack.has_results and self._in_use():
            self._hold(view, "Nothing fits any more – show")
        elif not view.documents:
            self._drop_waiting()
            self.model.set_view(view)
            self.stack.show_nothing(view, self._library)
            self.count.setText("No passages")
            self.notes.set_full_text("".join(f" · {note.rstrip('.')}" for note in view.notes))
        elif quiet:
            self._take_quietly(view, final)
        elif self.model.view is not None and self.stack.has_results and self._is_same(view) and \
                self.model.update_view(view):
            self._describe(view, final)
        else:
            self._grow = False
            self._drop_waiting()
            self.model.set_view(view, limit=self.session.top)
            self.stack.show_only(self.list)
            self.list.scrollToTop()
            self.list.choose(0)
            self._describe(view, final)

    def _is_same(self, view: SearchView) -> bool:
        shown = self.model.view
        return shown is not None and (shown.query, shown.mode, shown.filters) == (view.query, view.mode, view.filters)

    def _take_quietly(self, view: SearchView, final: bool) -> None:
        if not self.stack.has_results:
            self.model.set_view(view, limit=self.session.top)
            self.stack.show_only(self.list)
            self.list.choose(0)
            self._describe(view, final)
        elif self.model.same_order(view) and self.model.rowCount():
            self._drop_waiting()
            self.model.update_view(view)
            self._describe(view, final)
        elif self._wanted_by_person(view) or not self._in_use():
            self._replace(view, final)
        else:
            count = self.model.newer(view)
            self._hold(view, f"{counted(count, 'newer hit')} – show" if count else "A better order – show")

    def _in_use(self) -> bool:
        return self.list.pointer_is_over() or self.list.hasFocus()

    def _hold(self, view: SearchView, words: str) -> None:
        # nothing moves under the pointer: the new results wait behind a button
        self._waiting = view
        known = self.newer.isVisible() and self.newer.text() == words
        self.newer.setText(words)
        self.newer.show()
        if not known:
            announce(self.newer, words)

    def _wanted_by_person(self, view: SearchView) -> bool:
        # "Show more" keeps the rows above in their places, so it may grow the list under the pointer.
        before = [(d.content_id, d.path) for d in self.model.documents]
        after = [(d.content_id, d.path) for d in view.documents]
        return self._grow and (self.model.order is not Order.BEST or after[: len(before)] == before)

    def _replace(self, view: SearchView, final: bool = True) -> None:
        self._grow = False
        passage, offset = self._current_passage(), self.list.verticalScrollBar().value()
        self._drop_waiting()
        self.model.set_view(view, limit=self.session.top, keep_open=True)
        self._describe(view, final)
        self._choose_passage(passage)
        self.list.doItemsLayout()
        self.list.verticalScrollBar().setValue(offset)

    def _show_waiting(self) -> None:
        if self._waiting is not None and not self._waiting.documents:
            self._on_answer(self._waiting, False, True)
        elif self._waiting is not None:
            self._replace(self._waiting)
            self.list.scrollToTop()
            self.list.setFocus(Qt.FocusReason.OtherFocusReason)

    def _drop_waiting(self) -> None:
        self._waiting = None
        self.newer.hide()

    def _current_passage(self) -> int:
        hit = self.list.current_hit()
        return hit.passage_id if hit is not None else -1

    def _choose_passage(self, passage: int) -> None:
        number = self.model.find(passage)
        self.list.choose(number if number >= 0 else 0)

    def _on_more(self, number: int) -> None:
        self._grow = True
        if self.model.row(number).kind is Kind.FOOTER:
            self.session.want_more()
        else:
            self.session.want_all_passages()

    def _on_marks(self, marks: Marks) -> None:
        self.model.apply_marks(marks.spans)
        hit = self.list.current_hit()
        if hit is not None and hit.passage_id in marks.spans:
            self._preview.start()

    def _describe(self, view: SearchView, final: bool) -> None:
        count, rest = answer_words(view, similar=self.session.similar_path is not None)
        self.count.setText(count)
        self.notes.set_full_text("".join(f" · {piece}" for piece in rest))
        self._show_line(True)
        if final:
            announce(self.count, f"{count}. {'. '.join(rest[1:])}")

    # ---- states ---------------------------------------------------------------------------
    def _on_area(self, results: bool) -> None:
        if not results:
            self._show_line(False)
            self._drop_waiting()
            self.inspector.show_hit(None, None, None)

    def _show_line(self, full: bool) -> None:
        self.sort.setVisible(full)
        if not full:
            self.count.setText("")
            self.notes.set_full_text("")

    def _show_start(self) -> None:
        self.model.set_view(None)
        library = self._library
        if library is not None and library.documents == 0:
            self.stack.show_only(self.stack.empty_library)
            return
        self.start.set_history(self._commands.history())
        self.stack.show_only(self.start)
        if library is not None:
            self.count.setText(f"{counted(library.documents, 'document')} in the library")

    def _on_slow(self) -> None:
        self.model.set_view(None)
        self.stack.show_only(self.stack.skeleton)
        self.count.setText("Searching…")

    def _on_failed(self, failure: Failure) -> None:
        self.model.set_view(None)
        self.stack.show_failure(failure)

    # ---- current result -------------------------------------------------------------------
    def _on_current(self, document: DocumentView | None, hit: HitView | None) -> None:
        self._preview.start()

    def _show_preview(self) -> None:
        self.inspector.show_hit(self.list.current_document(), self.list.current_hit(), self.model.view)

    def _on_hit_wanted(self, passage_id: int) -> None:
        number = self.model.find(passage_id)
        if number < 0:
            return
        if self.model.row(number).kind is Kind.DOCUMENT and self.model.set_open(number, True):
            number = self.model.find(passage_id)
        self.list.choose(number)
        self._show_preview()

    def _toggle_inspector(self) -> None:
        self._set_inspector(not self._inspector_open)

    def _set_inspector(self, wanted: bool) -> None:
        self._inspector_open = wanted
        self.inspectorWanted.emit(wanted)

    def inspector_shown(self, shown: bool) -> None:
        """Tells the page that the frame showed or hid the preview, so that Space does the opposite."""
        self._inspector_open = shown

    # ---- theme ----------------------------------------------------------------------------
    def _on_theme(self) -> None:
        self.result_line.setFixedHeight(self._theme.height(28, role="meta", padding=8))
        self.update()

    def current_path(self) -> Path | None:
        """Gives the file of the current result."""
        document = self.list.current_document()
        return document.path if document is not None else None


def _content_of(view: LibraryView) -> tuple[object, ...]:
    # a file that changed may leave every count as it was: its folder's last change tells
    return (view.passages, view.embedded, view.documents,
            tuple((folder.path, folder.last_change, folder.state) for folder in view.folders))
