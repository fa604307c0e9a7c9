"""What stands over two documents that are compared: which two, how, what differs, and each one's heading."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QSizePolicy, QWidget

from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.widgets import (
    CheckBox,
    ComboBox,
    ElidedLabel,
    IconButton,
    Label,
    Line,
    Panel,
    Segmented,
    Tag,
    name,
    plain_tip,
)

MODES = (("text", "Text"), ("pages", "Pages"), ("facts", "Facts"))
HEIGHT = 44


class CompareBar(Panel):
    """The bar: pair, mode, count, steps, "Only differences". It breaks into two rows where one has no room."""

    pairChosen = Signal(int)  # place in what set_pairs gave
    modeChosen = Signal(str)
    stepWanted = Signal(int)
    onlyChanged = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("surface", lines="bottom", parent=parent)
        name(self, "compare_bar", "Compare")
        self._counts: tuple[str, ...] = ()
        self._box = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._box.setContentsMargins(16, 0, 16, 0)
        self._box.setSpacing(0)
        self.first, self.second = QWidget(self), QWidget(self)
        self._box.addWidget(self.first)
        self._box.addWidget(self.second)
        self._fill_first()
        self._fill_second()
        self._fit()
        theme.themeChanged.connect(self._fit)

    def _fill_first(self) -> None:
        row = QHBoxLayout(self.first)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(12)
        self.caption = Label("Compare", role="strong", object_name="compare_caption")
        self.pair = ComboBox(object_name="compare_pair", accessible="Which two are compared")
        self.pair.activated.connect(self.pairChosen)
        self.pair.hide()
        self.mode = Segmented(MODES, object_name="compare_mode", accessible="Compare")
        self.mode.set_value("text")
        self.mode.changed.connect(self.modeChosen)
        for widget in (self.caption, self.pair, self.mode):
            row.addWidget(widget)
        row.addStretch(1)

    def _fill_second(self) -> None:
        row = QHBoxLayout(self.second)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        self.count = ElidedLabel(role="meta", tone="muted", object_name="compare_count")
        self.place = Label("", role="meta", tone="muted", object_name="compare_place")
        self.previous = IconButton("up", "Previous difference", object_name="compare_previous", shortcut="Shift+F7")
        self.next = IconButton("down", "Next difference", object_name="compare_next", shortcut="F7")
        self.previous.clicked.connect(lambda: self.stepWanted.emit(-1))
        self.next.clicked.connect(lambda: self.stepWanted.emit(1))
        self.only = CheckBox("Only differences", object_name="compare_only")
        self.only.setChecked(True)
        self.only.toggled.connect(self.onlyChanged)
        row.addWidget(self.count, 1)
        for widget in (self.place, self.previous, self.next, self.only):
            row.addWidget(widget)

    def set_pairs(self, texts: Sequence[str], chosen: int) -> None:
        """Offers pairs of documents; a group of two has nothing to choose."""
        if [self.pair.itemText(number) for number in range(self.pair.count())] != list(texts):
            self.pair.clear()
            self.pair.addItems(list(texts))
        self.pair.setCurrentIndex(chosen)
        self.pair.setVisible(len(texts) > 1)
        self._break()

    def set_pages_offered(self, offered: bool) -> None:
        """Shows the segment "Pages" only where there are any."""
        segment = self.mode.findChild(QWidget, "compare_mode_pages")
        if segment is not None:
            segment.setVisible(offered)
        self._break()

    def show_count(self, *texts: str) -> None:
        """Says what differs: as much of it as there is room for, the longest words first."""
        self._counts = texts
        self._break()

    def show_steps(self, number: int, total: int, *, shown: bool, only: bool = False) -> None:
        """Shows which difference is current, or takes the steps away; ``only``: with "Only differences"."""
        for widget in (self.place, self.previous, self.next):
            widget.setVisible(shown)
        self.only.setVisible(only)
        self.place.setText(f"{number} of {total}" if number else f"{total} in all" if total else "")
        for button in (self.previous, self.next):
            button.setEnabled(total > 0)
        self._break()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Breaks into two rows or joins them."""
        super().resizeEvent(event)
        self._break()

    def _fit(self) -> None:
        self._break()

    def minimumSizeHint(self) -> QSize:
        """Gives the width that the wider of the two rows needs: it breaks before it is cut."""
        width = max(self.first.minimumSizeHint().width(), self.second.minimumSizeHint().width())
        return QSize(width + 32, self.height())

    def _break(self) -> None:
        caption = self.caption.sizeHint().width() + 12
        before = self.first.sizeHint().width() - (caption if self.caption.isVisibleTo(self.first) else 0)
        after = self.second.minimumSizeHint().width() - self.count.minimumSizeHint().width()
        room = self.width() - before - 12 - after - 32 - 12
        widths = [self.count.fontMetrics().horizontalAdvance(words) + 4 for words in self._counts] or [0]
        wide = room >= min(widths)
        # the word says least of all that stands there
        self.caption.setVisible(not wide or room - caption >= widths[0])
        ways = QBoxLayout.Direction
        self._box.setDirection(ways.LeftToRight if wide else ways.TopToBottom)
        self._box.setSpacing(12 if wide else 0)
        self._box.setStretch(0, 0)
        self._box.setStretch(1, 1)
        one = theme.height(HEIGHT, padding=24)
        self.first.setFixedHeight(one - 1 if wide else one - 4)
        self.second.setFixedHeight(one - 1 if wide else one - 8)
        self.setFixedHeight(one if wide else 2 * one - 11)
        if self._counts:
            have = room if wide else self.width() - after - 44
            fits = next((words for words, width in zip(self._counts, widths, strict=True) if width <= have),
                        self._counts[-1])  # fmt: skip
            self.count.set_full_text(fits)
            self.count.setToolTip(plain_tip(self._counts[0]))
            self.count.setAccessibleName(self._counts[0])


class Heading(Panel):
    """The heading of one side: its mark, folder and name, what becomes of it and which page is shown."""

    def __init__(self, side: str, parent: QWidget | None = None) -> None:
        super().__init__("surface", lines="bottom", parent=parent)
        name(self, f"compare_{side}", "")
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 0, 16, 0)
        row.setSpacing(8)
        self.tag = Tag("A", object_name=f"compare_{side}_mark")
        self.title = ElidedLabel(role="medium", object_name=f"compare_{side}_name")
        self.note = Label("", role="meta", tone="muted", object_name=f"compare_{side}_note")
        row.addWidget(self.tag)
        row.addWidget(self.title, 1)
        row.addWidget(self.note)
        self._fate, self._page = "", ""
        self._fit()
        theme.themeChanged.connect(self._fit)

    def _fit(self) -> None:
        self.setFixedHeight(theme.height(37, padding=16))

    def show_document(self, mark: str, title: str, tip: str, fate: str) -> None:
        """Names the document of this side."""
        self.tag.set_text(mark)
        self.title.set_full_text(title)
        self.title.setAccessibleDescription(tip)
        self.setAccessibleName(f"{mark}: {title}")
        self._page = ""
        self.show_fate(fate)

    def show_fate(self, fate: str) -> None:
        """Says what becomes of it."""
        self._fate = fate
        self._say()

    def show_page(self, page: int | None) -> None:
        """Says which page is at the top."""
        self._page = f"p. {page}" if page is not None else ""
        self._say()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Says less beside the name where that has no room."""
        super().resizeEvent(event)
        self._say()

    def _say(self) -> None:
        whole = ", ".join(part for part in (self._fate, self._page) if part)
        metrics, room = theme.metrics("meta"), self.width() - self.tag.sizeHint().width() - 48
        least = min(self.title.sizeHint().width(), room * 3 // 5)  # of the name, which comes first
        parts = (whole, self._fate, self._page)
        self.note.setText(next((one for one in parts if metrics.horizontalAdvance(one) <= room - least), ""))
        self.note.setAccessibleName(whole)
        self.note.setToolTip(plain_tip(whole))
        self.note.setVisible(bool(self.note.text()))


class Headings(QWidget):
    """Both headings with the centre line between them."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        name(self, "compare_headings", "Compared documents")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        self.left, self.right = Heading("left", self), Heading("right", self)
        self._line = Line(vertical=True, parent=self)
        for widget in (self.left, self._line, self.right):
            row.addWidget(widget, 0 if widget is self._line else 1)
        for heading in (self.left, self.right):  # names give way: they are shortened, and whole in their tooltip
            heading.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
            heading.setMinimumWidth(120)

    def __iter__(self):  # type: ignore[no-untyped-def]
        return iter((self.left, self.right))

