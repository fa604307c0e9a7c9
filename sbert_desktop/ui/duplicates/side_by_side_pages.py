"""Pages of two documents as pictures, side by side, with the differing words marked; both turn together."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from sbert_desktop.app.duplicate_views import ComparisonView, PagesView
from sbert_desktop.app.views import PreviewPage
from sbert_desktop.domain import Finished, Outcome
from sbert_desktop.ui.bridge import Latest
from sbert_desktop.ui.page import Desk, failure_text
from sbert_desktop.ui.search.page_view import PageView
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.widgets import IconButton, Label, Panel, announce, name
from sbert_desktop.ui.words import counted

LATE_MS = 150


class PagePair(Panel):
    """Two pages; ``turn(+1)`` turns both."""

    turned = Signal(object, object)  # the pages shown

    def __init__(self, desk: Desk, parent: QWidget | None = None) -> None:
        super().__init__("rail", parent=parent)
        name(self, "compare_pages", "Pages of both documents")
        self._desk = desk
        self._latest = Latest(desk.bridge)
        self._view: ComparisonView | None = None
        self._number = 0
        self._marked: list[int] = []  # pages on which something differs
        self._scrolling = False
        self._late = QTimer(self)
        self._late.setSingleShot(True)
        self._late.setInterval(LATE_MS)
        self._late.timeout.connect(self._show_loading)
        self._sharpen = QTimer(self)
        self._sharpen.setSingleShot(True)
        self._sharpen.setInterval(250)
        self._sharpen.timeout.connect(self._ask)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._make_tools())
        row = QHBoxLayout()
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(1)
        column.addLayout(row, 1)
        self.views: list[PageView] = []
        self._stacks: list[QStackedWidget] = []
        self._notes: list[Label] = []
        for side in ("left", "right"):
            row.addWidget(self._make_side(side), 1)
        for mine, theirs in ((0, 1), (1, 0)):
            bar = self.views[mine].verticalScrollBar()
            bar.valueChanged.connect(lambda _value, mine=mine, theirs=theirs: self._scroll_along(mine, theirs))
            self.views[mine].zoomChanged.connect(lambda zoom, theirs=theirs: self._zoom_along(theirs, zoom))

    def _make_tools(self) -> QWidget:
        tools = Panel("surface", lines="bottom", parent=self)
        row = QHBoxLayout(tools)
        row.setContentsMargins(16, 4, 16, 4)
        row.setSpacing(8)
        self.previous = IconButton("up", "Previous page", object_name="compare_page_previous")
        self.next = IconButton("down", "Next page", object_name="compare_page_next")
        self.place = Label("", role="meta", object_name="compare_page_place")
        self.said = Label("", role="meta", tone="muted", object_name="compare_page_said")
        zoom_out = IconButton("minus", "Smaller", object_name="compare_zoom_out")
        zoom_in = IconButton("plus", "Larger", object_name="compare_zoom_in")
        self.previous.clicked.connect(lambda: self.turn(-1))
        self.next.clicked.connect(lambda: self.turn(1))
        zoom_out.clicked.connect(lambda: self.views[0].zoom_by(-1))
        zoom_in.clicked.connect(lambda: self.views[0].zoom_by(1))
        for widget in (self.previous, self.next, self.place, self.said):
            row.addWidget(widget)
        row.addStretch(1)
        row.addWidget(zoom_out)
        row.addWidget(zoom_in)
        return tools

    def _make_side(self, side: str) -> QStackedWidget:
        stack = QStackedWidget(self)
        view = PageView(theme, stack)
        name(view, f"compare_page_{side}", f"Page, {side}")
        view.pageTurned.connect(self.turn)
        note = Label("", tone="muted", wrap=True, object_name=f"compare_page_{side}_note")
        note.setMargin(24)
        note.setAlignment(Qt.AlignmentFlag.AlignCenter)
        stack.addWidget(view)
        stack.addWidget(note)
        self.views.append(view)
        self._stacks.append(stack)
        self._notes.append(note)
        return stack

    # ---- content

    def set_comparison(self, view: ComparisonView | None) -> None:
        """Takes what is compared; pages are asked for when they are shown."""
        self._latest.drop()
        self._late.stop()
        self._view = view
        self._number = 1
        self._marked = _marked_pages(view)
        if self._marked:
            self._number = self._marked[0]
        for one in self.views:
            one.set_page(None)
        if view is not None and self.isVisible():
            self._ask()

    def pages(self) -> int:
        """Gives how many pages can be turned."""
        return max(self._view.left_pages, self._view.right_pages) if self._view is not None else 0

    def number(self) -> int:
        """Gives the page shown, from 1 on."""
        return self._number

    def show_page(self, number: int) -> None:
        """Shows a page of both."""
        number = max(1, min(self.pages(), number))
        if number != self._number:
            self._number = number
            self._ask()

    def turn(self, by: int) -> None:
        """Turns both."""
        self.show_page(self._number + by)

    def step(self, by: int) -> None:
        """Goes to the next page on which something differs, around at the end."""
        if not self._marked:
            return
        if by > 0:
            found = next((page for page in self._marked if page > self._number), self._marked[0])
        else:
            found = next((page for page in reversed(self._marked) if page < self._number), self._marked[-1])
        self.show_page(found)

    def place_of(self) -> tuple[int, int]:
        """Gives which page with differences is shown (0: none), and how many there are."""
        at = self._marked.index(self._number) + 1 if self._number in self._marked else 0
        return at, len(self._marked)

    def showEvent(self, event) -> None:  # type: ignore[no-untyped-def]
        """Asks for what is not there yet."""
        super().showEvent(event)
        if self._view is not None and all(one.page() is None for one in self.views):
            self._ask()

    def hideEvent(self, event) -> None:  # type: ignore[no-untyped-def]
        """Waits for nothing that cannot be seen."""
        super().hideEvent(event)
        self._late.stop()
        self._sharpen.stop()

    # ---- asking

    def _ask(self) -> None:
        view = self._view
        if view is None or not self.pages():
            return
        sides = [self._number if self._number <= count else None for count in (view.left_pages, view.right_pages)]
        width = max(one.wanted_width() for one in self.views)
        self.place.setText(f"Page {self._number} of {self.pages()}")
        at, total = self.place_of()
        self.said.setText("differs" if at else "no differing words" if total else "")
        self.previous.setEnabled(self._number > 1)
        self.next.setEnabled(self._number < self.pages())
        self._late.start()
        job = self._desk.commands.compare_pages(view.left, view.right, (sides[0], sides[1]), width=width)
        self._latest.watch(job, on_finished=self._on_finished)
        self.turned.emit(sides[0], sides[1])

    def _on_finished(self, finished: Finished) -> None:
        self._late.stop()
        if finished.outcome is Outcome.DONE and isinstance(finished.result, PagesView):
            for side, page in enumerate((finished.result.left, finished.result.right)):
                self._show(side, page)
            announce(self, f"{self.place.text()}, {self.said.text()}")
        elif finished.failure is not None:
            for side in (0, 1):
                self._say(side, failure_text(finished.failure))

    def _show(self, side: int, page: PreviewPage | None) -> None:
        view = self._view
        assert view is not None
        if page is not None:
            # what differs is the one thing marked here: at full strength, as a found sentence is
            self.views[side].set_page(replace(page, sentence=page.passage, passage=()))
            places = counted(len(page.passage), "place differs", "places differ")
            self.views[side].setAccessibleDescription(f"{self.place.text()}, {places}")
            self._stacks[side].setCurrentIndex(0)
            return
        count = (view.left_pages, view.right_pages)[side]
        if not count:
            self._say(side, "This file has no pages to be drawn.")
        elif self._number > count:
            self._say(side, f"It has {count} pages only." if count > 1 else "It has one page only.")
        else:
            self._say(side, "This page cannot be drawn now.")

    def _say(self, side: int, text: str) -> None:
        self.views[side].set_page(None)
        self._notes[side].setText(text)
        self._stacks[side].setCurrentIndex(1)

    def _show_loading(self) -> None:
        for side in (0, 1):
            self._stacks[side].setCurrentIndex(0)
            self.views[side].set_loading(True)

    # ---- both move together

    def _scroll_along(self, mine: int, theirs: int) -> None:
        if self._scrolling:
            return
        self._scrolling = True
        bar, other = self.views[mine].verticalScrollBar(), self.views[theirs].verticalScrollBar()
        other.setValue(round(bar.value() / max(1, bar.maximum()) * other.maximum()))
        self._scrolling = False

    def _zoom_along(self, theirs: int, zoom: float) -> None:
        if self.views[theirs].zoom != zoom:
            self.views[theirs].set_zoom(zoom)
        self._sharpen.start()


def _marked_pages(view: ComparisonView | None) -> list[int]:
    """Gives the pages, of either side, on which words differ."""
    if view is None:
        return []
    drawn = (view.left_pages > 0, view.right_pages > 0)
    pages = {page for row in view.rows if not row.same
             for page, is_drawn in zip((row.left_page, row.right_page), drawn, strict=True) if is_drawn and page}
    return sorted(pages)
