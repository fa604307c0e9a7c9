"""The left column of the Duplicates page: what kinds, how alike, in which order, and the list of groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QSlider, QStackedWidget, QVBoxLayout, QWidget

from sbert_desktop.app.duplicate_views import DuplicatesView
from sbert_desktop.domain import Progress
from sbert_desktop.ui import words
from sbert_desktop.ui.duplicates.group_list import ORDERS, GroupList
from sbert_desktop.ui.duplicates.narrowing import NarrowBar
from sbert_desktop.ui.duplicates.selection import Selection
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.widgets import (
    Button,
    ComboBox,
    IconButton,
    Label,
    Line,
    Panel,
    ProgressBar,
    Segmented,
    SkeletonList,
    announce,
    name,
    set_tip,
)

KINDS: Final = (("all", "All"), ("bytes", "Identical"), ("text", "Same text"), ("near", "Near"),
                ("related", "Related"))
VIEWS: Final = (("files", "Files"), ("passages", "Passages"))
SLIDER_WORDS: Final = {"near": "Words shared", "related": "How alike"}
LEAST: Final = 70


class FittingBox(ComboBox):
    """A choice that is as wide as what is chosen: in a sentence, or at the end of a line."""

    def sizeHint(self) -> QSize:
        wide = theme.metrics("meta_medium").horizontalAdvance(self.currentText())
        most = 260 * max(100, theme.text_scale) // 100
        return QSize(10 + min(wide, most) + 6 + 16 + 8 + 2, super().sizeHint().height())

    minimumSizeHint = sizeHint


class HowAlike(QWidget):
    """A slider from 70 to 100 % with its value beside it; ``moved(int)`` at once, with every step."""

    moved = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        name(self, "duplicates_threshold_row", "How alike")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        self.caption = Label("", role="meta", tone="muted", object_name="duplicates_threshold_caption")
        self.slider = QSlider(Qt.Orientation.Horizontal)
        name(self.slider, "duplicates_threshold", "How alike", "Left and right change it by 1 %")
        self.slider.setRange(LEAST, 100)
        self.slider.setPageStep(5)
        self.value = Label("", role="meta_strong", object_name="duplicates_threshold_value")
        self.value.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        row.addWidget(self.caption)
        row.addWidget(self.slider, 1)
        row.addWidget(self.value)
        self.slider.valueChanged.connect(self._on_moved)
        theme.themeChanged.connect(self._fit)
        self._fit()

    def show_share(self, kinds: str, percent: int) -> None:
        """Shows the threshold of a segment without telling."""
        text = SLIDER_WORDS[kinds]
        self.caption.setText(text)
        self.slider.setAccessibleName(f"{text}, at least")
        self.slider.blockSignals(True)
        self.slider.setValue(percent)
        self.slider.blockSignals(False)
        self.value.setText(f"{percent} %")

    def _on_moved(self, percent: int) -> None:
        self.value.setText(f"{percent} %")
        self.moved.emit(percent)

    def _fit(self) -> None:
        self.value.setFixedWidth(theme.metrics("meta_strong").horizontalAdvance("100 %") + 4)


class NoteLine(QWidget):
    """A sentence above the list, with a link where something can be done about it."""

    clicked = Signal()

    def __init__(self, object_name: str, action: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(object_name)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        self.label = Label("", role="meta", tone="muted", wrap=True, object_name=f"{object_name}_text")
        row.addWidget(self.label, 1)
        self.button: Button | None = None
        if action:
            self.button = Button(action, kind="link", size="small", object_name=f"{object_name}_action")
            self.button.clicked.connect(self.clicked)
            row.addWidget(self.button, 0, Qt.AlignmentFlag.AlignTop)
        self.hide()

    def show_text(self, text: str) -> None:
        """Shows a sentence, or nothing."""
        if text and text != self.label.text():
            announce(self, text)
        self.label.setText(text)
        self.setVisible(bool(text))


class Looking(QWidget):
    """How far the comparing is: the step in words, a bar, Cancel. ``cancelWanted``."""

    cancelWanted = Signal()

    def __init__(self, object_name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        name(self, object_name, "Looking for duplicates")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        row = QHBoxLayout()
        row.setSpacing(8)
        self.label = Label("", role="meta", tone="muted", wrap=True, object_name=f"{object_name}_phase")
        self.cancel = Button("Cancel", size="small", object_name=f"{object_name}_cancel", tip="Stop comparing")
        row.addWidget(self.label, 1)
        row.addWidget(self.cancel)
        self.bar = ProgressBar(object_name=f"{object_name}_bar", accessible="Looking for duplicates")
        column.addLayout(row)
        column.addWidget(self.bar)
        self._phase = ""
        self.cancel.clicked.connect(self.cancelWanted)

    def begin(self) -> None:
        """Shows that it begins."""
        self._phase = ""
        self.label.setText("Looking at the files...")
        self.bar.set_fraction(None)
        self.show()

    def show_progress(self, progress: Progress) -> None:
        """Shows a step."""
        text = progress.phase
        if progress.total:
            text += f", {words.count(progress.done)} of {words.count(progress.total)}"
        self.label.setText(text)
        self.bar.set_fraction(progress.done / progress.total if progress.total else None)
        if progress.phase != self._phase:
            self._phase = progress.phase
            announce(self, progress.phase)


class GroupColumn(Panel):
    """What is asked for and the groups. ``list`` is the :class:`GroupList`, ``filters`` the chips."""

    kindsChosen = Signal(str)
    viewChosen = Signal(str)
    orderChosen = Signal(str)
    lookAgainWanted = Signal()
    haveWanted = Signal()
    historyWanted = Signal()

    def __init__(self, selection: Selection, parent: QWidget | None = None) -> None:
        super().__init__("surface", parent=parent)
        name(self, "duplicates_column", "Groups")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        self.head = self._build_head()
        column.addWidget(self.head)
        controls = QWidget()
        box = self._box = QVBoxLayout(controls)
        box.setContentsMargins(16, 0, 16, 8)
        box.setSpacing(8)
        row = QHBoxLayout()
        row.setSpacing(4)
        self.views = Segmented(VIEWS, object_name="duplicates_view", accessible="Show")
        self.views.set_value("files")
        self.have = IconButton("question", "Do I have this file already?", object_name="duplicates_have",
                               shortcut="Ctrl+H")
        self.history = IconButton("history", "Earlier clean-ups", object_name="duplicates_history",
                                  shortcut="Ctrl+Shift+H")
        row.addWidget(self.views)
        row.addStretch(1)
        row.addWidget(self.have)
        row.addWidget(self.history)
        box.addLayout(row)
        self.filters = NarrowBar()
        self.filters.hide()
        box.addWidget(self.filters)
        self.kinds = Segmented(KINDS, object_name="duplicates_kinds", accessible="Kind")
        self.kinds.set_value("all")
        self.kinds_box = ComboBox(object_name="duplicates_kinds_box", accessible="Kind", caption="Kind")
        for key, text in KINDS:
            self.kinds_box.addItem(text, key)
        self.kinds_box.hide()
        box.addWidget(self.kinds)
        box.addWidget(self.kinds_box)
        self.alike = HowAlike()
        self.alike.hide()
        box.addWidget(self.alike)
        line = self._line = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        line.setSpacing(8)
        self.count = Label("", role="meta", tone="muted", wrap=True, object_name="duplicates_count")
        self.sort = FittingBox(object_name="duplicates_sort", accessible="Order", flat=True)
        for key, text in ORDERS:
            self.sort.addItem(text, key)
        line.addWidget(self.count, 1)
        line.addWidget(self.sort)
        box.addLayout(line)
        self.looking = Looking("duplicates_looking_again")
        self.looking.hide()
        box.addWidget(self.looking)
        self.stale = NoteLine("duplicates_stale", "Look again")
        self.notes = NoteLine("duplicates_notes")
        box.addWidget(self.stale)
        box.addWidget(self.notes)
        column.addWidget(controls)
        column.addWidget(Line())
        self.stack = QStackedWidget()
        self.stack.setObjectName("duplicates_list_stack")
        self.list = GroupList(selection)
        self.skeleton = SkeletonList(6, row_height=56, object_name="duplicates_skeleton")
        self.none = Label("", tone="muted", wrap=True, object_name="duplicates_list_none")
        self.none.setAlignment(Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop)
        self.none.setContentsMargins(24, 24, 24, 24)
        for widget in (self.list, self.skeleton, self.none):
            self.stack.addWidget(widget)
        column.addWidget(self.stack, 1)
        self._connect()
        self._fit()

    def _build_head(self) -> QWidget:
        head = QWidget()
        head.setObjectName("duplicates_head")
        row = QHBoxLayout(head)
        row.setContentsMargins(16, 0, 16, 0)
        row.setSpacing(4)
        self.filter_button = IconButton("filter", "Narrow by folder or type", object_name="duplicates_filter",
                                        checkable=True)
        self.again = IconButton("refresh", "Look again", object_name="duplicates_again", shortcut="Ctrl+R")
        row.addWidget(Label("Duplicates", role="page_title", object_name="duplicates_title"))
        row.addStretch(1)
        row.addWidget(self.filter_button)
        row.addWidget(self.again)
        return head

    def _connect(self) -> None:
        self.kinds.changed.connect(self.kindsChosen)
        self.kinds_box.activated.connect(lambda at: self.kindsChosen.emit(str(self.kinds_box.itemData(at))))
        self.views.changed.connect(self.viewChosen)
        self.sort.activated.connect(lambda at: self.orderChosen.emit(str(self.sort.itemData(at))))
        self.filter_button.toggled.connect(self._on_filter)
        self.again.clicked.connect(self.lookAgainWanted)
        self.stale.clicked.connect(self.lookAgainWanted)
        self.have.clicked.connect(self.haveWanted)
        self.history.clicked.connect(self.historyWanted)
        self.sort.currentIndexChanged.connect(lambda _: self._share())
        theme.themeChanged.connect(self._fit)

    def show_kinds(self, kinds: str) -> None:
        """Shows which segment is in force."""
        self.kinds.set_value(kinds)
        self.kinds_box.setCurrentIndex(self.kinds_box.findData(kinds))

    def show_view(self, view: DuplicatesView) -> None:
        """Shows groups and what is to be said of them all."""
        self.list.set_groups(view.groups)
        self.show_count(view)
        self.stack.setCurrentWidget(self.list if view.groups else self.none)

    def show_count(self, view: DuplicatesView) -> None:
        """Says how many groups, and how much there is to win."""
        text = words.counted(len(view.groups), "group")
        if view.groups:
            text += f", {words.size(view.bytes_to_win)} to win"
        if text != self.count.text():
            announce(self.count, text)
        self.count.setText(text)
        self._share()

    def show_none(self, text: str) -> None:
        """Says in the place of the list why it is empty."""
        self.none.setText(text)

    def show_notes(self, notes: Sequence[str], stale: str) -> None:
        """Shows notes, and that the library changed."""
        self.notes.show_text(" ".join(notes))
        self.stale.show_text(stale)

    def set_controls(self, enabled: bool) -> None:
        """Lets the controls rest while everything is compared."""
        for widget in (self.kinds, self.kinds_box, self.alike, self.filters, self.sort, self.again):
            widget.setEnabled(enabled)

    def _on_filter(self, on: bool) -> None:
        self.filters.setVisible(on)
        if not on:
            self.filters.clear()

    def show_filters(self, on: bool) -> None:
        """Shows or hides the chips."""
        self.filter_button.setChecked(on)

    def resizeEvent(self, event: object) -> None:
        super().resizeEvent(event)  # type: ignore[arg-type]
        self._share()

    def _share(self) -> None:
        # large text leaves no room for five words side by side: the same choice as a box
        narrow = self.kinds.sizeHint().width() > self.width() - 32
        wide = self.count.fontMetrics().horizontalAdvance(self.count.text()) + self.sort.sizeHint().width() + 8
        self._line.setDirection(QBoxLayout.Direction.LeftToRight if wide <= self.width() - 32 else
                                QBoxLayout.Direction.TopToBottom)
        self.kinds.setVisible(not narrow)
        self.kinds_box.setVisible(narrow)

    def _fit(self) -> None:
        self.head.setFixedHeight(theme.height(56, role="page_title", padding=24))
        set_tip(self.sort, "Order of the groups")
        self._share()
