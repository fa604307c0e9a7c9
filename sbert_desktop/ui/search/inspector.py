"""The preview beside the results: the page or the text of a hit, and why it was found."""

from __future__ import annotations

import itertools
from collections import OrderedDict
from dataclasses import replace

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QKeySequence, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from sbert_desktop.app.interface import Commands
from sbert_desktop.app.views import DocumentView, HitView, PreviewPage, PreviewText, SearchView
from sbert_desktop.domain import Failure, Finished, JobId, Outcome
from sbert_desktop.errors import SbertDesktopError
from sbert_desktop.ui.bridge import Bridge, Latest
from sbert_desktop.ui.search.citing import put_on_clipboard
from sbert_desktop.ui.search.page_view import PageView
from sbert_desktop.ui.search.preview_foot import PreviewFoot
from sbert_desktop.ui.search.preview_head import PreviewHead
from sbert_desktop.ui.search.preview_tools import FindBar, PreviewTools
from sbert_desktop.ui.search.text import collapse, one_line
from sbert_desktop.ui.search.text_switch import TextSwitch
from sbert_desktop.ui.search.text_view import TextView
from sbert_desktop.ui.search.why import WhyPanel
from sbert_desktop.ui.theme import Theme, theme
from sbert_desktop.ui.widgets import (
    Label,
    Line,
    Panel,
    announce,
    plain_tip,
)

LATE_MS = 150  # a picture that takes longer leaves a white page with a bar
DRAWN = ("pdf", "picture")  # formats that are shown as the picture of a page, unless the person wants the text
KEPT = 8  # previews kept, so that going back and forth costs nothing

Key = tuple[object, ...]


class PreviewInspector(Panel):
    """Shows one hit. Signals say what the person wants; the page does it.

    Signals: ``openWanted(DocumentView, HitView)``; ``openWithWanted``, ``revealWanted``, ``similarWanted``,
    ``captionWanted`` with the ``DocumentView``; ``hitWanted(passage id)`` for the next or previous passage,
    ``judgeWanted(verdict)``, ``closeWanted()``, ``statusMessage(str)``.
    """

    openWanted = Signal(object, object)
    openWithWanted = Signal(object)
    revealWanted = Signal(object)
    similarWanted = Signal(object)
    captionWanted = Signal(object)
    hitWanted = Signal(int)
    closeWanted = Signal()
    judgeWanted = Signal(str)
    statusMessage = Signal(str)

    def __init__(self, commands: Commands, bridge: Bridge, theme: Theme = theme, parent: QWidget | None = None) -> None:
        super().__init__("surface", parent=parent)
        self.setObjectName("search_inspector")
        self.setAccessibleName("Preview")
        self._commands, self._theme = commands, theme
        self._document: DocumentView | None = None
        self._hit: HitView | None = None
        self._view: SearchView | None = None
        self._wanted: tuple[HitView, int | None] | None = None  # asked for while hidden
        self._page_number: int | None = None
        self._page_of: HitView | None = None  # whose page is shown: that of the one before until the next has come
        self._as_text = False  # wanted by the person, of what could be drawn
        self._find_wanted = False  # as soon as the text is there
        self._kept: OrderedDict[Key, PreviewPage | PreviewText] = OrderedDict()
        self._latest = Latest(bridge)
        self._late = QTimer(self)
        self._late.setSingleShot(True)
        self._late.setInterval(LATE_MS)
        self._late.timeout.connect(self._show_loading)
        self._sharpen = QTimer(self)
        self._sharpen.setSingleShot(True)
        self._sharpen.setInterval(250)
        self._sharpen.timeout.connect(self._on_sharpen)
        self._build()
        self.show_hit(None, None, None)

    # ---- building -------------------------------------------------------------------------
    def _build(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        self.head = self._make_head()
        column.addWidget(self.head)
        column.addWidget(Line(parent=self))
        tools = self.tools = PreviewTools(self._theme, self)
        self.page_label, self.previous_page, self.next_page = tools.page_label, tools.previous_page, tools.next_page
        self.hit_label, self.previous_hit, self.next_hit = tools.hit_label, tools.previous_hit, tools.next_hit
        self.zoom_out, self.zoom_in, self.zoom_fit = tools.zoom_out, tools.zoom_in, tools.zoom_fit
        self.previous_page.clicked.connect(lambda: self.turn_page(-1))
        self.next_page.clicked.connect(lambda: self.turn_page(1))
        self.previous_hit.clicked.connect(lambda: self.step_hit(-1))
        self.next_hit.clicked.connect(lambda: self.step_hit(1))
        self.zoom_out.clicked.connect(lambda: self._zoom(-1))
        self.zoom_in.clicked.connect(lambda: self._zoom(1))
        self.zoom_fit.clicked.connect(lambda: self._zoom(0))
        tools.find_button.clicked.connect(self.open_find)
        column.addWidget(self.tools)
        self.find_bar = FindBar(self._theme, self)
        self.find_bar.wanted.connect(self._find)
        self.find_bar.closed.connect(self.close_find)
        column.addWidget(self.find_bar)
        self._tools_line = Line(parent=self)
        column.addWidget(self._tools_line)
        self.stack = QStackedWidget(self)
        self.page_view = PageView(self._theme, self.stack)
        self.text_view = TextView(self._theme, self.stack)
        self.note = Label("", tone="muted", wrap=True, object_name="preview_note")
        self.note.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.note.setMargin(24)
        for widget in (self.note, self.page_view, self.text_view):
            self.stack.addWidget(widget)
        self.stack.currentChanged.connect(self._on_kind)
        self.text_switch = TextSwitch(self.stack)
        self.text_switch.switched.connect(self.set_as_text)
        column.addWidget(self.stack, 1)
        self._why_line = Line(parent=self)
        column.addWidget(self._why_line)
        self.why = WhyPanel(self._theme, self)
        column.addWidget(self.why)
        foot = self.foot = PreviewFoot(self)
        self.open_button, self.reveal_button, self.similar_button = foot.open, foot.reveal, foot.similar
        for button, slot in ((foot.open, self._open), (foot.reveal, self._reveal), (foot.similar, self._similar)):
            button.clicked.connect(slot)
        column.addWidget(self.foot)
        self.page_view.pageTurned.connect(self.turn_page)
        self.page_view.copyWanted.connect(self.copy_passage)
        self.page_view.menuWanted.connect(self.more_menu.popup)
        self.page_view.zoomChanged.connect(lambda _zoom: self._sharpen.start())
        self.page_view.installEventFilter(self)
        self.why.judged.connect(self.judgeWanted)
        for name, text, keys, slot in (("preview_key_find", "Find in this text", "Ctrl+F", self.open_find),
                                       ("preview_key_text", "Page or text", "Ctrl+T", self.switch_text),
                                       ("preview_key_next", "Next passage", "F3", lambda: self.step_hit(1)),
                                       ("preview_key_previous", "Previous passage", "Shift+F3",
                                        lambda: self.step_hit(-1))):
            action = QAction(text, self)
            action.setObjectName(name)
            action.setShortcut(QKeySequence(keys))
            action.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
            action.triggered.connect(lambda _=False, slot=slot: slot())
            self.addAction(action)
        bar = self.find_bar
        order = [self.more_button, self.hide_button, *self.tools.buttons(), bar.box.edit, bar.previous,
                 bar.next, bar.close_button, self.page_view, self.text_view, self.text_switch, *self.why.controls(),
                 *foot.buttons()]
        for first, second in itertools.pairwise(order):
            QWidget.setTabOrder(first, second)

    def _make_head(self) -> PreviewHead:
        head = PreviewHead(self._theme, (
            ("open", "Open", "open", self._open),
            ("open_with", "Open with…", "open", self._open_with),
            ("reveal", "Show in folder", "reveal", self._reveal),
            ("copy_path", "Copy path", "copy", self.copy_path),
            ("copy_passage", "Copy passage", "copy", self.copy_passage),
            ("copy_selection", "Copy the selected text", "copy", self.copy_selection),
            ("similar", "Find similar documents", "similar", self._similar),
            ("caption", "Add a caption...", "quote", self._caption),
        ), self)
        self.title, self.place, self.more_menu = head.title, head.place, head.menu
        self.more_button, self.hide_button = head.more_button, head.hide_button
        head.menuOpens.connect(self._fit_menu)
        head.hide_button.clicked.connect(self.closeWanted)
        return head

    # ---- what is shown --------------------------------------------------------------------
    def shown(self) -> tuple[DocumentView | None, HitView | None]:
        """Gives what is shown."""
        return self._document, self._hit

    def set_judging(self, possible: bool) -> None:
        """Shows the two buttons of a verdict, or leaves them out."""
        self.why.set_judging(possible)

    def show_document(self, document: DocumentView, *, marked: bool = False) -> None:
        """Shows a document that was not searched for; ``marked``: with a mark on what its hit says."""
        first = document.hits[0] if document.hits else None
        if first is None:
            return
        plain = replace(first, end=first.start, best_sentence=None, words=())
        self.show_hit(document, first if marked else plain, None)
        self.why.hide()
        self._why_line.hide()
        (self.text_view if self.stack.currentWidget() is self.text_view else self.page_view).setFocus(
            Qt.FocusReason.OtherFocusReason)

    def show_hit(self, document: DocumentView | None, hit: HitView | None, view: SearchView | None) -> None:
        """Shows a passage of a document; None for nothing chosen."""
        same = hit is not None and hit == self._hit and document == self._document
        self._document, self._hit, self._view = document, hit, view
        shown = document is not None and hit is not None
        for widget in (self.place, self.tools, self._tools_line, self.why, self._why_line, self.foot,
                       self.more_button):
            widget.setVisible(shown)
        if document is None or hit is None:
            self._latest.drop()
            self._late.stop()
            self._wanted = None
            self.title.set_full_text("Preview")
            self.place.set_full_text("")
            self.text_switch.hide()
            self.note.setText("Choose a result to see it here.")
            self.stack.setCurrentWidget(self.note)
            return
        self._describe(document, hit)
        self.why.set_hit(hit, view)
        if not same or self.stack.currentWidget() is self.note:
            self._page_number = None
            self._ask(hit, None)

    def _describe(self, document: DocumentView, hit: HitView) -> None:
        self.head.describe(document)
        ids = [each.passage_id for each in document.hits]
        number = ids.index(hit.passage_id) if hit.passage_id in ids else 0
        if (self.next_hit.hasFocus() and number >= len(ids) - 1) or (self.previous_hit.hasFocus() and number <= 0):
            # a disabled button would hand the focus to whatever stands next: another press would do something else
            view = self.stack.currentWidget()
            (self.hide_button if view is None or view is self.note else view).setFocus(Qt.FocusReason.OtherFocusReason)
        self.tools.set_hits(number, len(ids))
        gone = document.state in ("gone", "offline")
        self.open_button.setEnabled(not gone)
        self.reveal_button.setEnabled(not gone)
        self.foot.fit(document, hit, self.width())
        drawn = document.format in DRAWN
        self.text_switch.setVisible(drawn)
        self.text_view.leave_below(self.text_switch.height() + 16 if drawn else 0)
        self.tools.fit()

    def _ask(self, hit: HitView, page: int | None) -> None:
        if not self.isVisible():
            self._wanted = (hit, page)  # rendering for nobody would only cost the search its time
            self._latest.drop()
            self._late.stop()
            return
        self._wanted = None
        width = self.page_view.wanted_width()
        text = self._as_text and self._document is not None and self._document.format in DRAWN
        key: Key = (hit.passage_id, hit.path, hit.end, hit.best_sentence, page, width, text)
        kept = self._kept.get(key)
        if kept is not None:
            self._latest.drop()
            self._late.stop()
            self._show_preview(kept, width)
            return
        try:
            job = self._commands.preview(hit, page=page, width=width, as_text=text)
        except SbertDesktopError as error:
            self._show_failure(Failure(error.code, error.message, error.hint))
            return
        self._latest.watch(job, on_finished=lambda event: self._on_finished(job, key, width, event))
        self._late.start()

    def _on_finished(self, job: JobId, key: Key, width: int, event: Finished) -> None:
        if job != self._latest.job:
            return
        self._latest.job = None
        self._late.stop()
        if event.outcome is Outcome.DONE and isinstance(event.result, PreviewPage | PreviewText):
            self._kept[key] = event.result
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
            self._show_preview(event.result, width)
        elif event.outcome is Outcome.FAILED:
            self._show_failure(event.failure)
        elif self.page_view.loading():
            self._show_failure(Failure("preview", "The preview was interrupted.", "Choose the result again."))

    def _show_preview(self, preview: PreviewPage | PreviewText, width: int) -> None:
        if isinstance(preview, PreviewPage):
            self._page_number, self._page_of = preview.page, self._hit
            self.stack.setCurrentWidget(self.page_view)
            self.page_view.set_page(preview)
            self._show_page_tools(preview.page, preview.pages)
            self.page_view.setAccessibleDescription(self._page_words(preview))
            if self._is_blurred(width):  # the panel or the zoom changed while the picture was made
                self._sharpen.start()
            return
        self._page_number = None
        self.stack.setCurrentWidget(self.text_view)
        window = self.text_view.set_preview(preview)
        where = one_line(self._hit.location) if self._hit is not None else ""
        part = "Part of the text" if window.before or window.after else "Text"
        for widget in (self.previous_page, self.next_page):
            widget.hide()
        self.tools.set_page_words(part, "Part" if part != "Text" else part)
        self.page_label.setToolTip(plain_tip(where))
        self.text_view.setAccessibleDescription(self._passage_words())
        if self._find_wanted:
            self._find_wanted = False
            self.find_bar.open()

    def _show_page_tools(self, page: int, pages: int) -> None:
        for widget in (self.previous_page, self.next_page):
            widget.show()
        if (self.previous_page.hasFocus() and page <= 1) or (self.next_page.hasFocus() and page >= pages):
            # a disabled button would hand the focus to whatever stands next: another press would do something else
            self.page_view.setFocus(Qt.FocusReason.OtherFocusReason)
        self.previous_page.setEnabled(page > 1)
        self.next_page.setEnabled(page < pages)
        self.tools.set_page_words(f"Page {page} of {pages:,}", f"{page} / {pages:,}")
        self.page_label.setToolTip("")
        announce(self.page_label, self.page_label.accessibleName())

    def _page_words(self, preview: PreviewPage) -> str:
        marked = "the passage is marked" if preview.passage or preview.sentence else "the passage is on another page"
        return f"Page {preview.page} of {preview.pages}, {marked}. {self._passage_words()}"

    def _passage_words(self) -> str:
        return f"Passage: {collapse(self._hit.text)[0]}" if self._hit is not None else ""

    def _show_loading(self) -> None:
        self.stack.setCurrentWidget(self.page_view)
        self.page_view.set_loading(True)
        self.page_view.setAccessibleDescription("The preview is being prepared")
        if not self.page_label.text():
            self.tools.set_page_words("…")

    def _show_failure(self, failure: Failure | None) -> None:
        self._late.stop()
        self.page_view.set_loading(False)
        words = "There is no preview of this document."
        if failure is not None:
            words = f"{failure.message} {failure.hint}".strip()
        self.note.setText(words)
        self.stack.setCurrentWidget(self.note)
        self.tools.set_page_words("")
        for widget in (self.previous_page, self.next_page):
            widget.hide()
        announce(self.note, words)

    # ---- moving about ---------------------------------------------------------------------
    def _on_kind(self, _number: int) -> None:
        # only a text has words to find; the picture of a page has none
        text = self.stack.currentWidget() is self.text_view
        self.tools.find_button.setVisible(text)
        if not text:
            self.find_bar.hide()

    def set_as_text(self, wanted: bool) -> None:
        """Shows the text of what is drawn as a page, to select and copy; False: the page again."""
        self._as_text = wanted
        self.text_switch.show_text(wanted)
        if self._hit is not None:
            had_focus = self.page_view.hasFocus() or self.text_view.hasFocus()
            self._ask(self._hit, None)
            if had_focus:
                (self.text_view if wanted else self.page_view).setFocus(Qt.FocusReason.OtherFocusReason)

    def switch_text(self) -> None:
        """Shows the page as text, or the text as page, where there are both."""
        if self._document is not None and self._document.format in DRAWN:
            self.set_as_text(not self._as_text)

    def open_find(self) -> None:
        """Opens the line that finds words in the text; of what is drawn as a page, in its text."""
        if self.stack.currentWidget() is self.text_view:
            self.find_bar.open()
        elif self._document is not None and self._document.format in DRAWN:
            self._find_wanted = True
            self.set_as_text(True)

    def close_find(self) -> None:
        """Closes it and goes back to the text."""
        self.find_bar.hide()
        self.text_view.find_words("", 0)
        self.text_view.setFocus(Qt.FocusReason.OtherFocusReason)

    def _find(self, words: str, step: int) -> None:
        self.find_bar.show_count(*self.text_view.find_words(words, step))

    def turn_page(self, step: int) -> None:
        """Shows the next or previous page of the document."""
        page = self._shown_page()
        if self._hit is None or page is None:
            return
        wanted = page.page + step
        if 1 <= wanted <= page.pages:
            self._ask(self._hit, wanted)

    def step_hit(self, step: int) -> None:
        """Goes to the next or previous passage of the document."""
        if self._document is None or self._hit is None:
            return
        ids = [each.passage_id for each in self._document.hits]
        number = ids.index(self._hit.passage_id) + step if self._hit.passage_id in ids else 0
        if 0 <= number < len(ids):
            self.hitWanted.emit(ids[number])

    def _zoom(self, step: int) -> None:
        view = self.text_view if self.stack.currentWidget() is self.text_view else self.page_view
        if step:
            view.zoom_by(step)
        else:
            view.set_zoom(1.0)

    def _shown_page(self) -> PreviewPage | None:
        """Gives the page of the hit that is shown; None while its text is shown, or still the page of another one."""
        if self._page_of != self._hit or self.stack.currentWidget() is not self.page_view:
            return None
        return self.page_view.page()

    def _is_blurred(self, width: int) -> bool:
        return abs(self.page_view.wanted_width() - width) > width * 0.12

    def _on_sharpen(self) -> None:
        if self._latest.job is not None:
            return  # it must not take the place of what is asked for; that is looked at when it has come
        page = self._shown_page()
        if page is not None and self._hit is not None and self._is_blurred(page.width):
            self._ask(self._hit, page.page)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Asks for a sharper picture when the panel became wider."""
        if watched is self.page_view and event.type() == QEvent.Type.Resize:
            self._sharpen.start()
        return super().eventFilter(watched, event)

    # ---- actions --------------------------------------------------------------------------
    def _open(self) -> None:
        if self._document is not None:
            self.openWanted.emit(self._document, self._hit)

    def _open_with(self) -> None:
        if self._document is not None:
            self.openWithWanted.emit(self._document)

    def _reveal(self) -> None:
        if self._document is not None:
            self.revealWanted.emit(self._document)

    def _similar(self) -> None:
        if self._document is not None:
            self.similarWanted.emit(self._document)

    def _caption(self) -> None:
        if self._document is not None:
            self.captionWanted.emit(self._document)

    def copy_path(self) -> None:
        """Copies the file's path."""
        if self._document is not None:
            put_on_clipboard(str(self._document.path))
            self.statusMessage.emit("Path copied")

    def copy_passage(self) -> None:
        """Copies the passage's text."""
        if self._hit is not None:
            put_on_clipboard(self._hit.text.strip())
            self.statusMessage.emit("Passage copied")

    def copy_selection(self) -> None:
        """Copies what is selected in the text."""
        self.text_view.copy()
        self.statusMessage.emit("Selected text copied")

    def menu_spot(self) -> QPoint:
        """Gives where a menu about the document belongs, on the screen."""
        return self.head.spot()

    def _fit_menu(self) -> None:
        selected = self.stack.currentWidget() is self.text_view and self.text_view.textCursor().hasSelection()
        self.head.actions_of_menu["copy_selection"].setVisible(selected)

    # ---- size -----------------------------------------------------------------------------
    def showEvent(self, event: QShowEvent) -> None:
        """Prepares what was chosen while the panel was hidden."""
        super().showEvent(event)
        if self._wanted is not None:
            hit, page = self._wanted
            self._ask(hit, page)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Shortens buttons that have no room."""
        super().resizeEvent(event)
        self.foot.fit(self._document, self._hit, self.width())
        self.tools.fit()
