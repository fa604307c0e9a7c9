"""The Search page: query, filters, results; the preview beside it is its inspector."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QModelIndex, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QShowEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from sbert_desktop.app.interface import Commands
from sbert_desktop.app.views import DocumentView, HitView, LibraryView, Marks, SearchView
from sbert_desktop.domain import Failure
from sbert_desktop.ui.bridge import Bridge
from sbert_desktop.ui.doorbell import Letterbox
from sbert_desktop.ui.naming import quick_path
from sbert_desktop.ui.search.area import ResultArea, answer_words
from sbert_desktop.ui.search.arrival import Arrival
from sbert_desktop.ui.search.citing import short_text
from sbert_desktop.ui.search.deeds import Deeds
from sbert_desktop.ui.search.files import Files
from sbert_desktop.ui.search.head import NEWER_PREFERRED, ORDERS, RECENCY, SearchHead
from sbert_desktop.ui.search.inspector import PreviewInspector
from sbert_desktop.ui.search.model import Kind, ResultModel, title_of
from sbert_desktop.ui.search.narrowing import Narrowing
from sbert_desktop.ui.search.onward import Onward
from sbert_desktop.ui.search.page_actions import make_actions, offered_actions
from sbert_desktop.ui.search.result_list import AT_ONCE, Chosen
from sbert_desktop.ui.search.second_look import SecondLook
from sbert_desktop.ui.search.session import SearchSession
from sbert_desktop.ui.search.versions import Versions
from sbert_desktop.ui.theme import Theme, theme
from sbert_desktop.ui.widgets import (
    Line,
    Panel,
    announce,
)
from sbert_desktop.ui.words import counted

PASTED = 300  # characters that come at once are a text to look like, not words to look for


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
    undoOffered = Signal(str, object)  # what was done, and what takes it back
    collectWanted = Signal(object)  # tuple[HitView, ...]
    quotesWanted = Signal()
    saveWanted = Signal(object)  # Query
    modelWanted = Signal(str)

    def __init__(self, commands: Commands, bridge: Bridge, theme: Theme = theme, parent: QWidget | None = None,
                 inspector: PreviewInspector | None = None, can: Callable[[str], bool] = lambda command: True,
                 has_page: Callable[[str], bool] = lambda key: False) -> None:
        super().__init__("surface", parent=parent)
        self._stale = False
        self.setObjectName("page_search")
        self.setAccessibleName("Search")
        self._commands = commands
        self._bridge = bridge
        self._theme = theme
        self._library: LibraryView | None = None
        self.can = can
        self._typed_length = 0  # before the last change: a text that comes at once was pasted
        self._inspector_open = True
        self.session = SearchSession(commands, bridge, self)
        self.model = ResultModel(self)
        self.files = Files(commands, bridge, self)
        self.files.said.connect(self.statusMessage)
        self.inspector = inspector if inspector is not None else PreviewInspector(commands, bridge, theme)
        self._build()
        self.onward = Onward(self.model, self.stack, self.session, self.filters, self.arrival, has_page, self)
        self._connect()
        make_actions(self)
        self._take_keys()
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
        if before is None:
            self._commands.models()
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
        head = self.head = SearchHead(self._commands, self.session.words_weight, self._theme, self)
        self.query, self.balance, self.filters, self.sort = head.query, head.balance, head.filters, head.sort
        self.count, self.notes, self.newer = head.count, head.notes, head.newer
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(head)
        column.addWidget(Line(parent=self))
        self.stack = ResultArea(self.model, self._theme, self)
        self.list, self.start = self.stack.list, self.stack.start
        self.arrival = Arrival(self.model, self.stack, self.session, self.newer, self)
        self.deeds = Deeds(self._commands, self._bridge, self.list, self.session, self)
        self.second_look = SecondLook(self._bridge, head, self.session, self)
        self.versions = Versions(self._commands, self._bridge, self.inspector.why, self)
        self.narrowing = Narrowing(self._commands, self.session, head, parses=self.can("parse"), parent=self,
                                   rest=lambda: [*self.start.parts(), self.list])
        column.addWidget(self.stack, 1)
        self.narrowing.order_tab()

    def _connect(self) -> None:
        session = self.session
        self.query.typed.connect(self._on_typed)
        self.query.entered.connect(self._on_entered)
        self.query.descended.connect(self._go_to_list)
        self.query.historyCleared.connect(self.clear_history)
        self.query.can_descend = self._can_descend
        self.balance.weightChanged.connect(self._on_weight)
        self.balance.slider.sliderReleased.connect(self._remember_weight)
        self.filters.changed.connect(self._on_filters)
        self.filters.similarCleared.connect(self._leave_similar)
        self.sort.currentIndexChanged.connect(self._on_sort)
        self.sort.currentIndexChanged.connect(lambda _number: self.sort.updateGeometry())
        self.query.textChanged.connect(self._on_text)
        self.narrowing.rewritten.connect(self._take_query)
        self.start.chosen.connect(self.run)
        self.start.cleared.connect(self.clear_history)
        self.start.set_quotes(self.can("quotes"))
        for button in (self.start.quotes, self.head.quotes):
            button.clicked.connect(self.quotesWanted)
        self.stack.empty_filters.clicked.connect(self.filters.clear)
        self.stack.empty_library.clicked.connect(lambda: self.openRequested.emit("library"))
        self.stack.failed.clicked.connect(session.submit)
        self.stack.changed.connect(self._on_area)
        session.answered.connect(self._on_answer)
        self.arrival.shown.connect(self._describe)
        self.arrival.emptied.connect(self._on_nothing)
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
        self.list.moreWanted.connect(self.arrival.want_more)
        self.list.foldedWanted.connect(lambda: self.narrowing.set_folded(False))
        self.list.judgeWanted.connect(self.deeds.judge)
        self.list.steerWanted.connect(self.deeds.steer)
        self.list.citationWanted.connect(self.deeds.cite)
        self.list.openWithWanted.connect(
            lambda: self.files.open_with(self.list.chosen_documents()[:AT_ONCE], self, self.list.spot()))
        self.list.exportWanted.connect(lambda: self.deeds.export(self))
        self.list.collectWanted.connect(
            lambda: self.collectWanted.emit(tuple(hit for _, hit in self.list.chosen())))
        self.list.chosenChanged.connect(self._on_chosen)
        self.deeds.said.connect(self.statusMessage)
        self.deeds.undoOffered.connect(self.undoOffered)
        self.deeds.judged.connect(self._on_judged)
        inspector = self.inspector
        inspector.openWanted.connect(self.files.open)
        inspector.revealWanted.connect(self.files.reveal)
        inspector.openWithWanted.connect(
            lambda document: self.files.open_with([document], self, inspector.menu_spot()))
        inspector.similarWanted.connect(self._show_similar)
        inspector.captionWanted.connect(self.captionWanted)
        inspector.statusMessage.connect(self.statusMessage)
        inspector.hitWanted.connect(self._on_hit_wanted)
        inspector.judgeWanted.connect(self._judge_shown)
        inspector.closeWanted.connect(lambda: self._set_inspector(False))
        self._preview = QTimer(self)  # arrow keys held down must not start a preview per row
        self._preview.setSingleShot(True)
        self._preview.setInterval(60)
        self._preview.timeout.connect(self._show_preview)
        self._theme.themeChanged.connect(self._on_theme)
        self._letters = Letterbox(self, self._on_setting)
        self._commands.settings.subscribe(self._letters.drop)  # in whatever thread; settings outlive the page

    def _take_keys(self) -> None:
        settings = self._commands.settings
        keys = settings.text("search.key_relevant"), settings.text("search.key_not_relevant")
        self.list.row.set_keys(*keys)
        self.inspector.why.set_keys(*keys)

    def _on_setting(self, key: str) -> None:
        if key in ("search.key_relevant", "search.key_not_relevant"):
            self._take_keys()
        weight = self._commands.settings.number("search.words_weight")
        if key == "search.words_weight" and weight != self.balance.weight():
            self.balance.set_weight(weight)
            self.session.set_words_weight(weight)

    def actions(self) -> list[QAction]:
        """Gives what the palette and the list of keys may name: the page's own actions and those of a result."""
        return offered_actions(self) + self.list.row_actions()

    def possible(self, action: QAction) -> bool:
        """True when an action would do something now: those of results need one."""
        of_result = action in self.list.row_actions()
        return action.isEnabled() and (not of_result or self.list.current_document() is not None)

    # ---- query ----------------------------------------------------------------------------
    def _on_text(self, text: str) -> None:
        self._typed_length = len(text)

    def _on_typed(self, text: str) -> None:
        if len(text) - self._typed_length >= PASTED and self.can("similar_text"):
            self.search_like(text)
            return
        self.filters.set_similar("")
        self.arrival.drop_waiting()
        self.session.type_text(text)

    def search_like(self, text: str) -> None:
        """Looks for documents like a text."""
        self.arrival.drop_waiting()
        self.query.set_text("")
        self.filters.set_similar(short_text(text, 40))
        self.session.show_like(text)
        self.narrowing.show()

    def search_by_file(self, path: Path) -> None:
        """Looks for documents like a file, in the library or not."""
        self.arrival.drop_waiting()
        self.filters.set_similar(quick_path(path.name))
        self.session.show_similar(path)

    def search_among(self, contents: Sequence[int], label: str) -> None:
        """Searches only in these documents (content ids) until the chip that says so is cleared."""
        if self.session.similar_path is not None or self.session.like:
            self._leave_similar()  # what is similar is looked for everywhere
        self.filters.set_among(contents, label)
        self.narrowing.order_tab()

    def show_document(self, document: DocumentView) -> None:
        """Shows a document that was not searched for in the preview; the results stay, none of them is chosen."""
        self.arrival.unchosen = True
        self.list.clearSelection()
        self.list.setCurrentIndex(QModelIndex())
        self._preview.stop()
        if self.can("family"):
            self.versions.show(None)
        self.inspector.show_document(document)

    def _take_query(self, text: str) -> None:
        self.query.set_text(text)
        self._on_typed(text)
        self.session.submit()

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
        self.arrival.drop_waiting()
        self.session.set_words_weight(weight)

    def _remember_weight(self) -> None:
        self._commands.settings.set("search.words_weight", self.balance.weight())

    def set_weight(self, weight: int) -> None:
        """Searches with this share of words in per cent."""
        self.balance.set_weight(weight)
        self._on_weight(weight)

    def _on_filters(self, filters: object) -> None:
        self.arrival.drop_waiting()
        self.session.set_filters(self.filters.filters())
        if self.session.similar_path is None:
            self.filters.set_similar("")

    def clear_history(self) -> None:
        """Forgets recent searches."""
        self._commands.clear_history()
        self.start.set_history(())
        self.statusMessage.emit("Recent searches cleared")

    def _show_similar(self, document: DocumentView) -> None:
        self.arrival.drop_waiting()
        self.filters.set_similar(title_of(document))
        self.session.show_similar(document.path)

    def want_caption(self) -> None:
        """Asks for a caption of the current result."""
        document = self.list.current_document()
        if document is not None:
            self.captionWanted.emit(document)

    def _leave_similar(self) -> None:
        self.filters.set_similar("")
        self.session.show_similar(None)

    def _on_sort(self, number: int) -> None:
        passage = self.arrival.current_passage()
        self.model.sort_by(ORDERS[max(0, number)][0])
        self.session.set_recency(RECENCY if number == NEWER_PREFERRED else 0.0)
        self.arrival.choose_passage(passage)

    # ---- answers --------------------------------------------------------------------------
    def _on_answer(self, view: SearchView, quiet: bool, final: bool) -> None:
        self.arrival.take(view, quiet, final)
        if final:
            self.second_look.rest()
        self.narrowing.show()

    def _on_nothing(self, view: SearchView) -> None:
        self.stack.show_nothing(view, self._library)
        self.count.setText("No passages")
        self.notes.set_full_text("".join(f" · {note.rstrip('.')}" for note in view.notes))

    def _on_chosen(self, number: int) -> None:
        if number > 1:
            words = f"{counted(number, 'result')} chosen"
            self.count.setText(words)
            announce(self.count, words)
        elif self.model.view is not None and self.stack.has_results:
            similar = self.session.similar_path is not None or bool(self.session.like)
            self.count.setText(answer_words(self.model.view, similar=similar)[0])

    def _judge_shown(self, verdict: str) -> None:
        document, hit = self.inspector.shown()
        if document is not None and hit is not None:
            chosen: Chosen = ((document, hit),)
            self.deeds.judge(verdict, chosen)

    def _on_marks(self, marks: Marks) -> None:
        self.model.apply_marks(marks.spans)
        hit = self.list.current_hit()
        if hit is not None and hit.passage_id in marks.spans:
            self._preview.start()

    def _describe(self, view: SearchView, final: bool) -> None:
        count, rest = answer_words(view, similar=self.session.similar_path is not None or bool(self.session.like))
        self.count.setText(count)
        self.notes.set_full_text("".join(f" · {piece}" for piece in rest))
        self._show_line(True)
        if final:
            announce(self.count, f"{count}. {'. '.join(rest[1:])}")

    # ---- states ---------------------------------------------------------------------------
    def _on_area(self, results: bool) -> None:
        if not results:
            self._show_line(False)
            self.arrival.drop_waiting()
            if not self.arrival.unchosen:
                self.inspector.show_hit(None, None, None)

    def _show_line(self, full: bool) -> None:
        self.sort.setVisible(full)
        self.head.quotes.setVisible(full and self.can("quotes"))  # where nothing is listed, the start offers it
        self.second_look.show(full)
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
        if document is not None:
            self.arrival.unchosen = False
        if not self.arrival.unchosen:
            self._preview.start()

    def _on_judged(self, verdicts: object) -> None:
        self._on_current(self.list.current_document(), None)

    def _show_preview(self) -> None:
        self.inspector.why.set_weights(self.session.words_weight, self.session.recency)
        if self.can("family"):
            self.versions.show(self.list.current_hit() if self._inspector_open else None)
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
        self.head.fit()
        self.update()



def _content_of(view: LibraryView) -> tuple[object, ...]:
    # a file that changed may leave every count as it was: its folder's last change tells
    return (view.passages, view.embedded, view.documents,
            tuple((folder.path, folder.last_change, folder.state) for folder in view.folders))
