"""The second view of duplicates: the same paragraph, in these or other words, in several documents."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import ClassVar

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QAction, QGuiApplication, QHideEvent, QKeySequence, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QSplitter, QStackedWidget, QVBoxLayout, QWidget

from sbert_desktop.app.duplicate_views import SharedPassage
from sbert_desktop.app.views import DocumentView, HitView
from sbert_desktop.cleanup import DuplicateQuery
from sbert_desktop.domain import Finished, Outcome, Progress, ScoreKind
from sbert_desktop.ui import icons
from sbert_desktop.ui.bridge import Latest
from sbert_desktop.ui.caption import edit_caption
from sbert_desktop.ui.duplicates.passages_list import PassageList, PlaceList, documents_of
from sbert_desktop.ui.naming import kind_of
from sbert_desktop.ui.page import Action, Desk, failure_text
from sbert_desktop.ui.search.files import Files
from sbert_desktop.ui.search.inspector import PreviewInspector
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.widgets import (
    Button,
    ElidedLabel,
    EmptyState,
    IconButton,
    Label,
    Panel,
    ProgressBar,
    announce,
    menu,
    name,
)
from sbert_desktop.ui.words import counted

MOST = 1_000  # passages that the program gives at most


class PassagesView(Panel):
    """Lists shared passages and shows where each one stands. ``ask(query)`` looks for them."""

    said = Signal(str)  # what the view holds now, for whoever shows a count

    KEY: ClassVar[str] = "duplicates"  # of the page in whose panel the preview is shown

    def __init__(self, desk: Desk, parent: QWidget | None = None) -> None:
        super().__init__("surface", parent=parent)
        name(self, "passages", "Shared passages")
        self._desk = desk
        self._latest = Latest(desk.bridge)
        self._query: DuplicateQuery | None = None
        self._files = Files(desk.commands, desk.bridge, self)
        self._files.said.connect(desk.toast)
        self._preview: PreviewInspector | None = None
        self._previewing = False
        self._actions: dict[str, QAction] = {}
        self._strips: list[Panel] = []
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        self.stack = QStackedWidget(self)
        column.addWidget(self.stack)
        self.splitter = self._make_result()
        self.busy = self._make_busy()
        self.empty = EmptyState("No passage is shared", "", action="Look again", icon="refresh", drawing="nothing",
                                object_name="passages_empty", primary=False)
        self.never = EmptyState(
            "Paragraphs that you have more than once",
            "Finds what several documents say in the same or in other words: boilerplate, quotations, old versions.",
            action="Look for shared passages", icon="search", object_name="passages_never")
        self.failed = EmptyState("The passages could not be looked for", "", action="Try again", drawing="problem",
                                 object_name="passages_failed")
        for widget in (self.never, self.splitter, self.busy, self.empty, self.failed):
            self.stack.addWidget(widget)
        for state in (self.empty, self.never, self.failed):
            state.clicked.connect(lambda: self.ask(self._query))
        self._make_actions()
        self._fit()
        theme.themeChanged.connect(self._fit)

    # ---- building

    def _make_result(self) -> QSplitter:
        splitter = QSplitter(Qt.Orientation.Horizontal, self)
        splitter.setObjectName("passages_splitter")
        splitter.setChildrenCollapsible(False)
        splitter.setHandleWidth(1)
        left, right = Panel("surface", parent=splitter), Panel("surface", parent=splitter)
        name(left, "passages_left", "Passages")
        name(right, "passages_right", "Places")
        column = QVBoxLayout(left)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        self.count = ElidedLabel(role="meta", tone="muted", object_name="passages_count")
        self.again = IconButton("refresh", "Look again", object_name="passages_again")
        self.again.clicked.connect(lambda: self.ask(self._query))
        column.addWidget(self._strip(left, self.count, self.again))
        self.list = PassageList(left)
        self.list.chosen.connect(self._show)
        column.addWidget(self.list, 1)
        column = QVBoxLayout(right)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        self.title = ElidedLabel(role="meta", tone="muted", object_name="passages_title")
        self.open_button = IconButton("open", "Open", object_name="passages_open_button", shortcut="Enter")
        self.reveal_button = IconButton("reveal", "Show in folder", object_name="passages_reveal_button",
                                        shortcut="Ctrl+Enter")
        self.preview_button = IconButton("panel", "Show in the preview", object_name="passages_preview_button",
                                         shortcut="Space")
        self.open_button.clicked.connect(self.open_place)
        self.reveal_button.clicked.connect(self.reveal_place)
        self.preview_button.clicked.connect(self.toggle_preview)
        column.addWidget(self._strip(right, self.title, self.open_button, self.reveal_button, self.preview_button))
        self.places = PlaceList(right)
        self.places.doubleClicked.connect(lambda _index: self.open_place())
        self.places.selectionModel().currentChanged.connect(lambda _now, _before: self._on_place())
        self.places.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.places.customContextMenuRequested.connect(self._open_menu)
        column.addWidget(self.places, 1)
        self.note = Label("", role="meta", tone="muted", object_name="passages_note")
        self.note.setContentsMargins(16, 8, 16, 8)
        self.note.hide()
        column.addWidget(self.note)
        splitter.addWidget(left)
        splitter.addWidget(right)
        splitter.setStretchFactor(1, 1)
        splitter.setSizes([320, 640])
        left.setMinimumWidth(220)
        right.setMinimumWidth(260)
        return splitter

    def _strip(self, parent: QWidget, label: ElidedLabel, *buttons: IconButton) -> Panel:
        strip = Panel("surface", lines="bottom", parent=parent)
        row = QHBoxLayout(strip)
        row.setContentsMargins(16, 0, 12, 0)
        row.setSpacing(4)
        row.addWidget(label, 1)
        for button in buttons:
            row.addWidget(button)

        self._strips.append(strip)
        return strip

    def _fit(self) -> None:
        for strip in self._strips:
            strip.setFixedHeight(theme.height(44, role="meta", padding=20))

    def _make_busy(self) -> QWidget:
        panel = Panel("surface", parent=self.stack)
        name(panel, "passages_busy", "Looking for shared passages")
        column = QVBoxLayout(panel)
        column.setSpacing(8)
        column.addStretch(1)
        title = Label("Looking for shared passages", role="page_title", object_name="passages_busy_title")
        self.phase = Label("", tone="muted", object_name="passages_phase")
        self.progress = ProgressBar(object_name="passages_progress", accessible="Looking for shared passages")
        self.progress.setFixedWidth(320)
        self.cancel_button = Button("Cancel", object_name="passages_cancel")
        self.cancel_button.clicked.connect(self.cancel)
        for label in (title, self.phase):
            label.setAlignment(Qt.AlignmentFlag.AlignCenter)
            column.addWidget(label)
        column.addWidget(self.progress, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addSpacing(8)
        column.addWidget(self.cancel_button, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addStretch(1)
        return panel

    def _make_actions(self) -> None:
        table: tuple[tuple[str, str, str, tuple[str, ...], Callable[[], None]], ...] = (
            ("open", "Open", "open", ("Return", "Enter"), self.open_place),
            ("reveal", "Show in folder", "reveal", ("Ctrl+Return", "Ctrl+Enter"), self.reveal_place),
            ("preview", "Show in the preview", "panel", ("Space",), self.toggle_preview),
            ("copy", "Copy passage", "copy", ("Ctrl+C",), self.copy_place),
            ("copy_path", "Copy path", "copy", ("Ctrl+Shift+C",), self.copy_path),
        )
        for key, text, icon, keys, slot in table:
            action = QAction(icons.icon(icon), text, self.places)
            action.setObjectName(f"passages_{key}")
            action.setShortcuts([QKeySequence(each) for each in keys])
            action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
            action.setAutoRepeat(False)
            action.triggered.connect(lambda _=False, slot=slot: slot())
            self.places.addAction(action)
            self._actions[key] = action

    # ---- asking

    def ask(self, query: DuplicateQuery | None = None) -> None:
        """Looks for passages; without a query from the similarity that the settings name."""
        if query is None:
            query = DuplicateQuery(related=self._desk.settings.number("duplicates.related") / 100)
        self._query = query
        self.phase.setText("")
        self.progress.set_fraction(None)
        self.stack.setCurrentWidget(self.busy)
        job = self._desk.commands.shared_passages(query)
        self._latest.watch(job, on_progress=self._on_progress, on_finished=self._on_finished)

    def asked(self) -> DuplicateQuery | None:
        """Gives what was asked last, None before."""
        return self._query

    def is_looking(self) -> bool:
        """Tells whether an answer is still to come."""
        return self._latest.job is not None

    def cancel(self) -> None:
        """Ends the search for passages."""
        if self._latest.job is not None:
            self._desk.commands.cancel(self._latest.job)

    def _on_progress(self, progress: Progress) -> None:
        many = f", {progress.done:,} of {progress.total:,}" if progress.total else ""
        self.phase.setText(f"{progress.phase}{many}")
        self.progress.set_fraction(progress.done / progress.total if progress.total else None)

    def _on_finished(self, finished: Finished) -> None:
        self._latest.drop()
        had_focus = self.cancel_button.hasFocus()
        if finished.outcome is Outcome.DONE and isinstance(finished.result, tuple):
            self._take(finished.result)
        elif finished.outcome is Outcome.FAILED and finished.failure is not None:
            self.failed.set_texts("The passages could not be looked for", failure_text(finished.failure))
            self.stack.setCurrentWidget(self.failed)
        elif self.list.passages.passages:
            self.stack.setCurrentWidget(self.splitter)
        else:
            self.stack.setCurrentWidget(self.never)
        if had_focus:
            self.focus_first()

    def _take(self, passages: tuple[SharedPassage, ...]) -> None:
        self.list.set_passages(passages)
        if not passages:
            library = self._desk.library
            why = "Each paragraph stands in one document only, as far as documents are indexed."
            if library is not None and library.passages == 0:
                why = "Nothing is indexed yet. Passages are compared when a folder has been read."
            self.empty.set_texts("No passage is shared", why)
            self.stack.setCurrentWidget(self.empty)
            self.said.emit("No passage is shared")
            return
        text = f"{counted(len(passages), 'passage')} in several documents"
        if len(passages) >= MOST:
            text = f"The {len(passages):,} passages in most documents"
        self.count.set_full_text(text)
        self.stack.setCurrentWidget(self.splitter)
        announce(self, text)
        self.said.emit(text)

    # ---- what is chosen

    def _show(self, passage: SharedPassage | None) -> None:
        self.places.set_passage(passage)
        if passage is None:
            self.title.set_full_text("")
            self.note.hide()
            return
        said = f"In {counted(documents_of(passage), 'document')}, lowest similarity {passage.lowest:.2f}"
        self.title.set_full_text(f"{said}. Underlined: words that the first lacks")
        self.note.setText(f"{counted(passage.more, 'more place')} not shown" if passage.more else "")
        self.note.setVisible(passage.more > 0)
        self._on_place()

    def _on_place(self) -> None:
        chosen = self.places.path() is not None
        for button in (self.open_button, self.reveal_button, self.preview_button):
            button.setEnabled(chosen)
        if self._previewing:
            self._fill_preview()

    def open_place(self) -> None:
        """Opens the file of the place chosen, on its page."""
        passage, row = self.places.places.passage, self.places.row()
        if passage is not None and row >= 0:
            path, member, page, *_ = passage.places[row]
            # a page of what lies in a container is no page of the container
            self._desk.start(self._desk.commands.open_file(path, None if member else page))

    def reveal_place(self) -> None:
        """Shows the file of the place chosen in its folder."""
        path = self.places.path()
        if path is not None:
            self._desk.start(self._desk.commands.reveal(path))

    def copy_place(self) -> None:
        """Puts the passage as it stands in the place chosen on the clipboard."""
        passage, row = self.places.places.passage, self.places.row()
        if passage is not None and row >= 0:
            QGuiApplication.clipboard().setText(passage.places[row][4])
            announce(self, "Copied")

    def copy_path(self) -> None:
        """Puts the path of the place chosen on the clipboard."""
        path = self.places.path()
        if path is not None:
            QGuiApplication.clipboard().setText(str(path))
            announce(self, "Copied")

    def _open_menu(self, place: QPoint) -> None:
        index = self.places.indexAt(place)
        if index.isValid():
            self.places.setCurrentIndex(index)
        opened = menu(self, "passages_menu", "Place")
        opened.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        opened.addActions(list(self._actions.values()))
        opened.popup(self.places.viewport().mapToGlobal(place))

    # ---- preview

    def toggle_preview(self) -> None:
        """Shows the place chosen in the panel beside the page, or closes that."""
        inspector = self._desk.inspector
        if self._previewing and inspector.is_open():
            inspector.set_open(False)
            return
        if self._preview is None:
            self._preview = self._make_preview()
        self._previewing = True
        inspector.set_content(self.KEY, self._preview)
        inspector.set_open(True)
        self._fill_preview()

    def _make_preview(self) -> PreviewInspector:
        preview = PreviewInspector(self._desk.commands, self._desk.bridge)
        preview.setObjectName("passages_preview_panel")
        preview.set_judging(False)
        preview.openWanted.connect(lambda _document, _hit: self.open_place())
        preview.revealWanted.connect(lambda _document: self.reveal_place())
        preview.closeWanted.connect(partial(self._desk.inspector.set_open, False))
        preview.openWithWanted.connect(
            lambda document: self._files.open_with([document], self, preview.menu_spot()))
        preview.captionWanted.connect(
            lambda document: edit_caption(self.window(), self._desk, document.path, document.member))
        preview.statusMessage.connect(self._desk.toast)
        preview.similar_button.hide()  # a search stands on another page
        preview.head.actions_of_menu["similar"].setVisible(False)
        return preview

    def _fill_preview(self) -> None:
        document = self._document()
        if self._preview is not None and document is not None:
            self._preview.show_hit(document, document.hits[0], None)
            self._preview.why.hide()  # nothing was searched for

    def _document(self) -> DocumentView | None:
        """Gives the place chosen as the preview wants it."""
        passage, row = self.places.places.passage, self.places.row()
        if passage is None or row < 0 or row >= len(passage.spans):
            return None
        path, member, page, passage_id, text = passage.places[row]
        content, start, end = passage.spans[row]
        hit = HitView(passage_id, content, path, text, start, end, page, f"p. {page}" if page is not None else "",
                      passage.lowest, ScoreKind.COSINE, None, None, None, None, None, (), member=member)
        form = passage.formats[row] if row < len(passage.formats) else kind_of(path, member)
        return DocumentView(content, path, (path,), "", form, 0.0, 0, "", passage.lowest, (hit,), 0, member=member)

    def hideEvent(self, event: QHideEvent) -> None:
        """Takes the preview away with the view."""
        super().hideEvent(event)
        if self._previewing:
            self._previewing = False
            self._desk.inspector.set_content(self.KEY, None)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Puts the places below the list where both do not fit beside each other."""
        super().resizeEvent(event)
        narrow = self.width() < 480 + max(0, theme.text_scale - 100) * 3
        way = Qt.Orientation.Vertical if narrow else Qt.Orientation.Horizontal
        if way != self.splitter.orientation():
            self.splitter.setOrientation(way)

    # ---- for the page

    def focus_first(self) -> None:
        """Puts the focus where work begins."""
        shown = self.stack.currentWidget()
        first: QWidget = self.list if shown is self.splitter else self.cancel_button
        if isinstance(shown, EmptyState) and shown.button is not None:
            first = shown.button
        first.setFocus(Qt.FocusReason.OtherFocusReason)

    def actions_list(self) -> tuple[Action, ...]:
        """Gives commands for the palette."""
        def chosen() -> bool:
            return self.isVisible() and self.places.path() is not None

        return (
            Action("passages_look", "Look for shared passages", lambda: self.ask(self._query), icon="refresh",
                   enabled=lambda: not self.is_looking()),
            Action("passages_open", "Open the place of the passage", self.open_place, icon="open", enabled=chosen),
            Action("passages_preview", "Show the passage in the preview", self.toggle_preview, icon="panel",
                   enabled=chosen),
        )

