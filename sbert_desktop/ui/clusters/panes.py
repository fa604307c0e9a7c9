"""All documents of a cluster, and all that are unsorted: a list with its order and its deeds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from sbert_desktop.app.atlas_views import ClustersView, DocumentRow
from sbert_desktop.domain import Failure
from sbert_desktop.ui import words
from sbert_desktop.ui.clusters.column import SortBox
from sbert_desktop.ui.clusters.documents import DocumentList
from sbert_desktop.ui.clusters.title import Dot
from sbert_desktop.ui.clusters.words import DOCUMENT_ORDERS, UNSORTED_ORDERS, documents, percent
from sbert_desktop.ui.errands import Errands
from sbert_desktop.ui.page import failure_text
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.widgets import (
    Button,
    EmptyState,
    FlowLayout,
    IconButton,
    Label,
    Line,
    Panel,
    SkeletonList,
    announce,
    name,
    set_tip,
)

ALL_OF_THEM: Final = "Shows every document that is in no cluster, each with the one it is nearest to."


class DocumentsPane(QWidget):
    """All documents of a cluster. ``backWanted``; ``againWanted``: the list could not be read."""

    backWanted = Signal()
    againWanted = Signal()
    key = "clusters_all"
    title = "Documents of this cluster"
    orders = DOCUMENT_ORDERS

    def __init__(self, errands: Errands, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        name(self, f"{self.key}_pane", self.title)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        self.bar = QWidget()
        row = QHBoxLayout(self.bar)
        row.setContentsMargins(16, 0, 16, 0)
        row.setSpacing(8)
        self.build_bar(row)
        column.addWidget(self.bar)
        column.addWidget(Line())
        self.stack = QStackedWidget()
        self.stack.setObjectName(f"{self.key}_stack")
        self.list = DocumentList(f"{self.key}_list", self.title, side=16)
        self.loading = SkeletonList(8, row_height=44, object_name=f"{self.key}_loading")
        self.failed = EmptyState("The documents could not be listed", "", drawing="problem", action="Try again",
                                 primary=False, object_name=f"{self.key}_failed")
        for widget in (self.list, self.loading, self.failed):
            self.stack.addWidget(widget)
        column.addWidget(self.stack, 1)
        self.failed.clicked.connect(self.againWanted)
        self.sort.activated.connect(lambda at: self.list.set_order(str(self.sort.itemData(at)), errands))
        self.list.leftWanted.connect(self.backWanted)
        self.list.chosenChanged.connect(self._on_chosen)
        theme.themeChanged.connect(self._fit)
        self._fit()

    def build_bar(self, row: QHBoxLayout) -> None:
        """Puts what stands above the list into its row."""
        self.back = IconButton("undo", "Back to the cluster",
                               object_name=f"{self.key}_back", shortcut="Esc")
        self.count = Label("", role="section", object_name=f"{self.key}_count")
        self.sort = self.make_sort()
        row.addWidget(self.back)
        row.addWidget(self.count, 1)
        row.addWidget(self.sort)
        self.back.clicked.connect(self.backWanted)

    def make_sort(self) -> SortBox:
        """Makes the choice of the order."""
        made = SortBox(object_name=f"{self.key}_sort", accessible="Order of the documents", flat=True)
        for key, text in self.orders:
            made.addItem(text, key)
        set_tip(made, "Order of the documents")
        return made

    def show_loading(self) -> None:
        """The list is on its way."""
        self.stack.setCurrentWidget(self.loading)
        self.count.setText("Documents")

    def show_rows(self, rows: Sequence[DocumentRow]) -> None:
        """Shows documents."""
        self.list.set_rows(rows)
        self.stack.setCurrentWidget(self.list)
        self._on_chosen()

    def show_failure(self, failure: Failure) -> None:
        """Says why there is no list."""
        self.failed.set_texts("The documents could not be listed", failure_text(failure))
        self.stack.setCurrentWidget(self.failed)

    def focus_first(self) -> None:
        """Puts the focus into the list, on its first row."""
        if not self.list.currentIndex().isValid() and self.list.documents.rows:
            self.list.setCurrentIndex(self.list.documents.index(0))
        (self.list if self.stack.currentWidget() is self.list else self.sort).setFocus(Qt.FocusReason.OtherFocusReason)

    def _on_chosen(self) -> None:
        whole, chosen = len(self.list.documents.rows), len(self.list.chosen())
        text = documents(whole) + (f", {words.count(chosen)} chosen" if chosen > 1 else "")
        if text != self.count.text():
            announce(self.count, text)
        self.count.setText(text)

    def _fit(self) -> None:
        self.bar.setMinimumHeight(theme.height(44, padding=16))


class UnsortedPane(DocumentsPane):
    """All unsorted documents with their nearest cluster. ``assignWanted(rows)``; empty: all of them."""

    assignWanted = Signal(object)
    key = "clusters_unsorted"
    title = "Unsorted documents"
    orders = UNSORTED_ORDERS

    def __init__(self, errands: Errands, parent: QWidget | None = None) -> None:
        super().__init__(errands, parent)
        self._may_edit = True
        self.list.documents.order = "sure"
        self.head = Panel("surface", lines="bottom")
        inner = QVBoxLayout(self.head)
        inner.setContentsMargins(16, 0, 16, 12)
        inner.setSpacing(0)
        top = QHBoxLayout()
        top.setSpacing(12)
        self.dot = Dot(12)
        self.name_label = Label("Unsorted", role="page_title", object_name="clusters_unsorted_title")
        top.addWidget(self.dot)
        top.addWidget(self.name_label, 1)
        self.sentence = Label(ALL_OF_THEM, tone="muted", wrap=True, object_name="clusters_unsorted_facts")
        self.top = QWidget()
        self.top.setLayout(top)
        top.setContentsMargins(0, 0, 0, 0)
        inner.addWidget(self.top)
        inner.addWidget(self.sentence)
        own = self.layout()
        assert isinstance(own, QVBoxLayout)
        own.insertWidget(0, self.head)
        self.list.assignWanted.connect(self.assignWanted)
        self.chosen_button.clicked.connect(lambda: self.assignWanted.emit(tuple(self.list.chosen())))
        self.all_button.clicked.connect(lambda: self.assignWanted.emit(()))
        self._fit()

    def build_bar(self, row: QHBoxLayout) -> None:
        """As in the other pane, with the two buttons that assign."""
        super().build_bar(row)
        self.back.set_tip("Back to the clusters", "Esc")
        self.buttons = QWidget()
        flow = FlowLayout(self.buttons, gap=8)
        self.chosen_button = Button("Assign to nearest", size="small", object_name="clusters_assign_chosen",
                                    tip="Put the documents chosen into the cluster that each is nearest to")
        self.all_button = Button("Assign all to nearest", size="small", object_name="clusters_assign_all",
                                 tip="Put every unsorted document into the cluster that it is nearest to")
        for button in (self.chosen_button, self.all_button):
            flow.addWidget(button)
        row.removeWidget(self.sort)
        for widget in (self.sort, self.chosen_button, self.all_button):
            row.addWidget(widget)

    def show_unsorted(self, rows: Sequence[DocumentRow], view: ClustersView, *, may_edit: bool) -> None:
        """Shows documents with what they are nearest to."""
        self._may_edit = may_edit
        self.list.may_assign = may_edit
        self.list.set_rows(rows, {one.id: one for one in view.themes})
        self.stack.setCurrentWidget(self.list)
        self.describe(view)
        self._on_chosen()

    def describe(self, view: ClustersView) -> None:
        """Says how many, and how large a share of all."""
        share = view.unsorted / max(1, view.documents)
        self.sentence.setText(f"{documents(view.unsorted)} of {words.count(view.documents)} ({percent(share)}) are "
                              "not sure enough of any cluster. The number says how much of what is near a document "
                              "is in its nearest cluster.")

    def _on_chosen(self) -> None:
        super()._on_chosen()
        if not hasattr(self, "_may_edit"):
            return
        chosen, whole = len(self.list.chosen()), len(self.list.documents.rows)
        self.chosen_button.setText(f"Assign {words.count(chosen)} to nearest" if chosen else "Assign to nearest")
        self.chosen_button.setEnabled(chosen > 0)
        self.all_button.setText(f"Assign all {words.count(whole)} to nearest" if whole else "Assign all to nearest")
        self.all_button.setEnabled(whole > 0)
        for button in (self.chosen_button, self.all_button):
            button.setVisible(self._may_edit)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._share()

    def _share(self) -> None:
        # one line where it fits, else the buttons in a line of their own
        row, own = self.bar.layout(), self.layout()
        assert row is not None
        assert isinstance(own, QVBoxLayout)
        pair = (self.chosen_button, self.all_button)
        needed = sum(widget.sizeHint().width() + 8 for widget in (self.sort, *pair, self.count)) + 80
        wide = self.width() >= needed
        flow = self.buttons.layout()
        assert flow is not None
        if wide == (row.indexOf(pair[0]) >= 0):
            return
        for button in pair:
            hidden = button.isHidden()
            (flow if wide else row).removeWidget(button)
            (row if wide else flow).addWidget(button)
            button.setHidden(hidden)
        if own.indexOf(self.buttons) < 0:
            self.buttons.setContentsMargins(16, 0, 16, 8)
            own.insertWidget(2, self.buttons)
        self.buttons.setVisible(not wide)

    def _fit(self) -> None:
        super()._fit()
        if hasattr(self, "top"):
            self.top.setFixedHeight(theme.height(56, role="page_title", padding=24))
