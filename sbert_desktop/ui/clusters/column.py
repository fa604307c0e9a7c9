"""The left column of the Clusters page: how many, in which order, the cards, and what is unsorted."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QSize, Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QSlider, QStackedWidget, QVBoxLayout, QWidget

from sbert_desktop.app.atlas_views import ClustersView
from sbert_desktop.domain import Progress
from sbert_desktop.ui import words
from sbert_desktop.ui.clusters.cards import ThemeList
from sbert_desktop.ui.clusters.words import ORDERS, counts, would_be
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.widgets import (
    Button,
    ComboBox,
    IconButton,
    Label,
    Panel,
    ProgressBar,
    SearchBox,
    SkeletonList,
    announce,
    name,
    set_tip,
)

STEPS: Final = 20  # of the strictness, 0.05 each
LEANS: Final = 10  # of the slider Fewer - More to each side
RESTS_MS: Final = 400  # a key that is held moves the strictness many times


class SortBox(ComboBox):
    """A choice as wide as what is chosen."""

    def sizeHint(self) -> QSize:
        wide = theme.metrics("meta_medium").horizontalAdvance(self.currentText())
        return QSize(10 + wide + 6 + 16 + 8 + 2, super().sizeHint().height())

    minimumSizeHint = sizeHint


class NoteLine(QWidget):
    """A sentence above the cards, with a link where something can be done about it. ``clicked``."""

    clicked = Signal()

    def __init__(self, object_name: str, action: str = "", *, tone: str = "muted", parent: QWidget | None = None
                 ) -> None:
        super().__init__(parent)
        self.setObjectName(object_name)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        self.label = Label("", role="meta", tone=tone, wrap=True, object_name=f"{object_name}_text")
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


class Working(QWidget):
    """What is being done, how far, and Cancel. ``cancelWanted``."""

    cancelWanted = Signal()

    def __init__(self, object_name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        name(self, object_name, "Finding clusters")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        row = QHBoxLayout()
        row.setSpacing(8)
        self.label = Label("", role="meta", tone="muted", wrap=True, object_name=f"{object_name}_phase")
        self.cancel = Button("Cancel", size="small", object_name=f"{object_name}_cancel", tip="Stop finding (Esc)")
        row.addWidget(self.label, 1)
        row.addWidget(self.cancel)
        self.bar = ProgressBar(object_name=f"{object_name}_bar", accessible="Finding clusters")
        column.addLayout(row)
        column.addWidget(self.bar)
        self._phase = ""
        self.cancel.clicked.connect(self.cancelWanted)

    def begin(self) -> None:
        """Shows that it begins."""
        self._phase = ""
        self.label.setText("Looking at the documents...")
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


class Foot(Panel):
    """How many clusters, how much is unsorted, and how sure a document must be to count as sorted.

    ``unsortedWanted()``; ``strictnessChosen(float)`` when the slider was let go.
    """

    unsortedWanted = Signal()
    strictnessChosen = Signal(float)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("surface", lines="top", parent=parent)
        name(self, "clusters_foot", "Unsorted documents")
        self._view: ClustersView | None = None
        self._settled = -1
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 5, 16, 5)
        column.setSpacing(2)
        line = self._line = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        line.setSpacing(8)
        self.count = Label("", role="meta", tone="muted", wrap=True, object_name="clusters_count")
        self.unsorted = Button("Show unsorted", kind="link", size="small", object_name="clusters_unsorted")
        line.addWidget(self.count, 1)
        line.addWidget(self.unsorted)
        column.addLayout(line)
        self.strict_row = QWidget()
        row = QHBoxLayout(self.strict_row)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        self.low = Label("All", role="meta", tone="muted", object_name="clusters_strictness_low")
        self.slider = QSlider(Qt.Orientation.Horizontal)
        name(self.slider, "clusters_strictness", "How sure a document must be",
             "To the right, documents that are less sure count as unsorted")
        self.slider.setRange(0, STEPS)
        self.slider.setPageStep(2)
        set_tip(self.slider, "How sure a document must be to count as sorted")
        self.high = Label("Only sure ones", role="meta", tone="muted", object_name="clusters_strictness_high")
        self.share = Label("", role="meta_medium", object_name="clusters_strictness_share")
        self.share.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        row.addWidget(self.low)
        row.addWidget(self.slider, 1)
        row.addWidget(self.high)
        column.addWidget(self.strict_row)
        column.addWidget(self.share)
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(RESTS_MS)
        self._rest.timeout.connect(self._settle)
        self.unsorted.clicked.connect(self.unsortedWanted)
        self.slider.valueChanged.connect(self._on_moved)
        self.slider.sliderReleased.connect(self._settle)
        theme.themeChanged.connect(self._share_room)

    def show_view(self, view: ClustersView, *, may_edit: bool) -> None:
        """Shows what the view says, the slider where it stands."""
        self._view = view
        text = counts(view)
        if text != self.count.text():
            announce(self.count, text)
        self.count.setText(text)
        self.unsorted.setVisible(view.unsorted > 0)
        if not self.slider.isSliderDown() and not self._rest.isActive():
            self._settled = round(view.strictness * STEPS)
            self.slider.blockSignals(True)
            self.slider.setValue(self._settled)
            self.slider.blockSignals(False)
            self._say(self.slider.value())
            self.share.hide()
        self.strict_row.setVisible(len(view.unsorted_at) == STEPS + 1 and may_edit and bool(view.themes))
        self._share_room()

    def _on_moved(self, step: int) -> None:
        self._say(step)
        self.share.setVisible(bool(self.share.text()))
        if not self.slider.isSliderDown():
            self._rest.start()

    def _say(self, step: int) -> None:
        text = would_be(self._view, step) if self._view is not None else ""
        self.share.setText(text)
        self.slider.setAccessibleDescription(f"{text}. To the right, documents that are less sure count as unsorted")
        if self.share.isVisible() or self.slider.hasFocus():
            announce(self.slider, text)

    def _settle(self) -> None:
        self._rest.stop()
        if self.slider.value() != self._settled:
            self._settled = self.slider.value()
            self.strictnessChosen.emit(self._settled / STEPS)
        else:
            self.share.hide()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._share_room()

    def _share_room(self) -> None:
        wide = self.count.fontMetrics().horizontalAdvance(self.count.text()) + self.unsorted.sizeHint().width() + 8
        self._line.setDirection(QBoxLayout.Direction.LeftToRight if wide <= self.width() - 32 else
                                QBoxLayout.Direction.TopToBottom)


class ThemesColumn(Panel):
    """What is asked for and the cards. ``list`` is the :class:`ThemeList`, ``foot`` the :class:`Foot`."""

    againWanted = Signal()
    moreWanted = Signal(object)
    leanMoved = Signal(float)
    orderChosen = Signal(str)
    backWanted = Signal()
    libraryWanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("surface", parent=parent)
        name(self, "clusters_column", "Clusters")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        self.head = self._build_head()
        column.addWidget(self.head)
        self.busy = ProgressBar(thickness=2, object_name="clusters_busy_bar", accessible="Finding clusters")
        self.busy.set_fraction(None)
        self._busy_room = QWidget()
        self._busy_room.setFixedHeight(2)
        inner = QVBoxLayout(self._busy_room)
        inner.setContentsMargins(16, 0, 16, 0)
        inner.addWidget(self.busy)
        self.busy.hide()
        controls = QWidget()
        box = QVBoxLayout(controls)
        box.setContentsMargins(16, 0, 16, 6)
        box.setSpacing(8)
        self.back = NoteLine("clusters_among", "Back to all")
        self.filter = SearchBox("Filter by name or keyword", object_name="clusters_filter_text",
                                accessible="Filter clusters by name or keyword", height=28, role="body")
        self.filter.hide()
        for widget in (self.back, self.filter):
            box.addWidget(widget)
        box.addLayout(self._build_line())
        self.working = Working("clusters_working")
        self.working.bar.hide()  # the bar below the head runs already
        self.working.hide()
        self.fresh = NoteLine("clusters_fresh", "Find anew")
        self.few = NoteLine("clusters_few", "Add folders")
        self.notes = NoteLine("clusters_notes")
        for line in (self.working, self.fresh, self.few, self.notes):
            box.addWidget(line)
        column.addWidget(controls)
        column.addWidget(self._busy_room)
        self.stack = QStackedWidget()
        self.stack.setObjectName("clusters_list_stack")
        self.list = ThemeList()
        self.skeleton = SkeletonList(6, row_height=82, object_name="clusters_skeleton")
        self.none = Label("", tone="muted", wrap=True, object_name="clusters_list_none")
        self.none.setAlignment(Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop)
        self.none.setContentsMargins(24, 24, 24, 24)
        for part in (self.list, self.skeleton, self.none):
            self.stack.addWidget(part)
        column.addWidget(self.stack, 1)
        self.foot = Foot()
        column.addWidget(self.foot)
        self._connect()
        self._fit()

    def _build_head(self) -> QWidget:
        head = QWidget()
        head.setObjectName("clusters_head")
        row = QHBoxLayout(head)
        row.setContentsMargins(16, 4, 9, 0)  # level with the head beside it
        row.setSpacing(12)
        self.filter_button = IconButton("filter", "Filter by name or keyword", object_name="clusters_filter",
                                        shortcut="Ctrl+F", checkable=True)
        self.again = IconButton("refresh", "Find clusters anew", object_name="clusters_again", shortcut="Ctrl+R")
        self.more = IconButton("more", "Method, number, export", object_name="clusters_more")
        row.addWidget(Label("Clusters", role="page_title", object_name="clusters_title"))
        row.addStretch(1)
        for button in (self.filter_button, self.again, self.more):
            row.addWidget(button)
        return head

    def _build_line(self) -> QBoxLayout:
        line = self._line = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        line.setSpacing(8)
        self.lean_row = QWidget()
        row = QHBoxLayout(self.lean_row)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        self.fewer = Label("Fewer", role="meta", tone="muted", object_name="clusters_fewer")
        self.lean = QSlider(Qt.Orientation.Horizontal)
        name(self.lean, "clusters_lean", "Fewer or more clusters", "Left finds fewer, right finds more")
        self.lean.setRange(-LEANS, LEANS)
        self.lean.setPageStep(5)
        self.lean.setMinimumWidth(64)
        set_tip(self.lean, "Fewer or more clusters")
        self.more_label = Label("More", role="meta", tone="muted", object_name="clusters_more_label")
        row.addWidget(self.fewer)
        row.addWidget(self.lean, 1)
        row.addWidget(self.more_label)
        self.lean_row.setMaximumWidth(220)
        self.sort = SortBox(object_name="clusters_sort", accessible="Order")
        for key, text in ORDERS:
            self.sort.addItem(text, key)
        set_tip(self.sort, "Order of the clusters")
        line.addWidget(self.lean_row, 1)
        line.addStretch(0)
        line.addWidget(self.sort)
        return line

    def _connect(self) -> None:
        self.filter_button.toggled.connect(self._on_filter)
        self.filter.textChanged.connect(self._on_typed)
        self.filter.submitted.connect(lambda _: self.list.setFocus(Qt.FocusReason.OtherFocusReason))
        self.again.clicked.connect(self.againWanted)
        self.fresh.clicked.connect(self.againWanted)
        self.more.clicked.connect(
            lambda: self.moreWanted.emit(self.more.mapToGlobal(self.more.rect().bottomLeft())))
        self.lean.valueChanged.connect(lambda value: self.leanMoved.emit(value / LEANS))
        self.sort.activated.connect(lambda at: self.orderChosen.emit(str(self.sort.itemData(at))))
        self.sort.currentIndexChanged.connect(lambda _: self._share())
        self.back.clicked.connect(self.backWanted)
        self.few.clicked.connect(self.libraryWanted)
        theme.themeChanged.connect(self._fit)

    # ---- showing

    def show_view(self, view: ClustersView, *, may_edit: bool) -> None:
        """Shows clusters and what is to be said of them all."""
        self.list.cards.may_edit = may_edit
        self.list.set_themes(view.themes)
        self.show_lean(view.request.detail)
        self.foot.show_view(view, may_edit=may_edit)
        self.show_list(view)

    def show_list(self, view: ClustersView) -> None:
        """Shows the cards, or why there are none."""
        if not self.list.cards.themes:
            self.none.setText("No cluster has this in its name or keywords." if self.list.cards.wanted else
                              "No document is sure enough of a cluster." if view.themes else "No clusters.")
        self.stack.setCurrentWidget(self.list if self.list.cards.themes else self.none)

    def show_lean(self, detail: float) -> None:
        """Puts the slider where a request has it, without telling."""
        if not self.lean.isSliderDown():
            self.lean.blockSignals(True)
            self.lean.setValue(round(detail * LEANS))
            self.lean.blockSignals(False)

    def show_busy(self, busy: bool, *, slow: bool) -> None:
        """Pales the cards and lets a bar run below the head; ``slow``: with words and Cancel."""
        self.busy.setVisible(busy)
        self.list.set_dimmed(busy)
        self.again.setEnabled(not busy)
        if slow and self.working.isHidden():
            self.working.begin()
        self.working.setVisible(slow)

    def show_progress(self, progress: Progress) -> None:
        """Shows a step of what is under way."""
        self.busy.set_fraction(progress.done / progress.total if progress.total else None)
        self.working.show_progress(progress)

    def show_filter(self, on: bool) -> None:
        """Shows or hides the line of the filter."""
        self.filter_button.setChecked(on)
        if on:
            self.filter.edit.setFocus(Qt.FocusReason.OtherFocusReason)

    def _on_filter(self, on: bool) -> None:
        self.filter.setVisible(on)
        if not on:
            self.filter.set_text("")
        else:
            self.filter.edit.setFocus(Qt.FocusReason.OtherFocusReason)

    def _on_typed(self, text: str) -> None:
        self.list.set_filter(text)
        shown = len(self.list.cards.themes)
        self.none.setText("No cluster has this in its name or keywords.")
        self.stack.setCurrentWidget(self.list if shown else self.none)
        announce(self.list, words.counted(shown, "cluster"))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._share()

    def _share(self) -> None:
        wide = self.lean_row.minimumSizeHint().width() + self.sort.sizeHint().width() + 8
        self._line.setDirection(QBoxLayout.Direction.LeftToRight if wide <= self.width() - 32 else
                                QBoxLayout.Direction.TopToBottom)

    def _fit(self) -> None:
        self.head.setFixedHeight(theme.height(52, role="page_title", padding=24))
        self._share()
