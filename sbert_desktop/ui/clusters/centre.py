"""The middle of a cluster: its typical documents, the clusters beside it, what a split would make, and its deeds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import Signal
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from sbert_desktop.app.atlas_views import ClustersView, SplitView, ThemeView
from sbert_desktop.ui import words
from sbert_desktop.ui.clusters.bars import BarRow, BarTable
from sbert_desktop.ui.clusters.documents import DocumentList
from sbert_desktop.ui.clusters.side import section
from sbert_desktop.ui.clusters.title import Dot
from sbert_desktop.ui.clusters.words import documents, label_of
from sbert_desktop.ui.naming import quick_path
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.widgets import Button, ElidedLabel, FlowLayout, Label, name

CENTRAL: Final = 6
BESIDE: Final = 5
DEEDS: Final = (
    ("search", "Search in these", "search"),
    ("map", "Show on the map", "map"),
    ("collect", "Save as collection", "collection"),
    ("duplicates", "Find duplicates in these", "duplicates"),
    ("open", "Open all", "open"),
    ("label", "Label pairs from it", "train"),
)
"""What can be done with all documents of a cluster: key, words, icon."""


class BesideRow(QWidget):
    """A cluster beside the one shown: dot, name, shared words, how near, Merge. ``mergeWanted``, ``goWanted``."""

    mergeWanted = Signal(int)
    goWanted = Signal(int)

    def __init__(self, number: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme_id = -1
        name(self, f"clusters_beside_{number}", "Cluster beside")
        self.setMinimumWidth(120)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 1)
        row.setSpacing(0)
        self.dot = Dot(10)
        self.label = Button("", kind="flat", object_name=f"clusters_beside_{number}_go", tip="Show this cluster")
        self.label.setMinimumWidth(40)  # a long name gives way
        self.shared = ElidedLabel(role="meta", tone="muted", object_name=f"clusters_beside_{number}_shared")
        self.near = Label("", role="strong", object_name=f"clusters_beside_{number}_near")
        self.merge = Button("Merge", size="small", icon="merge", object_name=f"clusters_beside_{number}_merge")
        row.addWidget(self.dot)
        row.addWidget(self.label)
        row.addWidget(self.shared, 1)
        row.addSpacing(8)
        row.addWidget(self.near)
        row.addSpacing(8)
        row.addWidget(self.merge)
        self.label.clicked.connect(lambda: self.goWanted.emit(self.theme_id))
        self.merge.clicked.connect(lambda: self.mergeWanted.emit(self.theme_id))

    def show_beside(self, other: ThemeView, cosine: float, shared: Sequence[str], *, may_edit: bool) -> None:
        """Shows a cluster."""
        self.theme_id = other.id
        text = label_of(other)
        self.dot.set_colour(other.colour)
        self.label.setText(text)
        self.label.setAccessibleName(f"Show {text}")
        self.shared.set_full_text(f"share {', '.join(quick_path(word) for word in shared)}" if shared else "")
        self.near.setText(f"{cosine:.2f}")
        self.near.setAccessibleName(f"Similarity {cosine:.2f}")
        self.merge.setAccessibleName(f"Merge with {text}")
        self.merge.setVisible(may_edit)
        self.setFixedHeight(theme.height(36, padding=14))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        # large text leaves no room for the word beside its icon
        words_of = "Merge" if self.width() > theme.metrics("medium").averageCharWidth() * 44 else ""
        if self.merge.label() != words_of:
            said = self.merge.accessibleName()
            self.merge.setText(words_of)
            self.merge.setAccessibleName(said)

    def paintEvent(self, event: QPaintEvent) -> None:
        QPainter(self).fillRect(0, self.height() - 1, self.width(), 1, theme.color("border"))


class ThemeCentre(QWidget):
    """See the module. ``allWanted``, ``mergeWanted(id)``, ``goWanted(id)``, ``deedWanted(key)``."""

    allWanted = Signal()
    mergeWanted = Signal(int)
    goWanted = Signal(int)
    deedWanted = Signal(str)

    def __init__(self, deeds: Sequence[str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        name(self, "clusters_centre", "Documents of this cluster")
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 12, 16, 16)
        column.setSpacing(0)
        head, _, link = section("Central documents", "clusters_central_title", "Show all", "clusters_show_all")
        assert link is not None
        self.show_all = link
        self.central = DocumentList("clusters_central", "Central documents", grows=True)
        self.central.setDragEnabled(True)
        column.addWidget(head)
        column.addWidget(self.central)
        column.addSpacing(16)
        self.beside_head, self.beside_title, _ = section("Neighbouring clusters", "clusters_beside_title")
        column.addWidget(self.beside_head)
        self.beside = [BesideRow(number) for number in range(BESIDE)]
        for row in self.beside:
            column.addWidget(row)
            row.hide()
            row.mergeWanted.connect(self.mergeWanted)
            row.goWanted.connect(self.goWanted)
        column.addSpacing(16)
        self.split_head, self.split_title, _ = section("Split", "clusters_split_title")
        self.split = BarTable("clusters_split_parts", "What a split would make", bar=160, row=32, color="muted",
                              lines=True)
        self.split_note = Label("", role="meta", tone="muted", wrap=True, object_name="clusters_split_note")
        for widget in (self.split_head, self.split, self.split_note):
            column.addWidget(widget)
        column.addSpacing(16)
        head, self.deeds_title, _ = section("With these documents", "clusters_deeds_title")
        column.addWidget(head)
        holder = QWidget()
        flow = FlowLayout(holder, gap=8)
        self.deeds: dict[str, Button] = {}
        for key, text, icon in DEEDS:
            if key in deeds:
                button = Button(text, size="small", icon=icon, object_name=f"clusters_do_{key}")
                button.clicked.connect(lambda _=False, key=key: self.deedWanted.emit(key))
                flow.addWidget(button)
                self.deeds[key] = button
        column.addWidget(holder)
        column.addStretch(1)
        self.show_all.clicked.connect(self.allWanted)

    def show_theme(self, shown: ThemeView, view: ClustersView, *, may_edit: bool) -> None:
        """Shows a cluster."""
        self.central.set_rows(shown.central[:CENTRAL])
        self.central.may_assign = False
        self.show_all.setText(f"Show all {words.count(shown.size)}")
        self.show_all.setVisible(shown.size > 0)
        near = [(view.theme(one.theme), one) for one in shown.beside]
        found = [(other, one) for other, one in near if other is not None and other.size][:BESIDE]
        for row, pair in zip(self.beside, [*found, *[None] * BESIDE], strict=False):
            row.setVisible(pair is not None)
            if pair is not None:
                row.show_beside(pair[0], pair[1].cosine, pair[1].shared, may_edit=may_edit)
        self.beside_head.setVisible(bool(found))
        several = f"With these {documents(shown.size)}"
        self.deeds_title.set_full_text(several if shown.size > 1 else "With this document")

    def show_split(self, split: SplitView | None, size: int, *, wanted: bool) -> None:
        """Shows what a split would make; None: not known yet, or not asked for unless ``wanted``."""
        for widget in (self.split_head, self.split, self.split_note):
            widget.setVisible(wanted)
        if not wanted:
            return
        if split is None:
            self.split_title.set_full_text("Split")
            self.split.set_rows(())
            self.split_note.setText("Looking at what a split would make...")
            return
        parts = sorted(split.parts, key=lambda part: -part.size)
        self.split_title.set_full_text(f"Split would make {words.count(len(parts))}" if parts else "Split")
        self.split.set_rows([
            BarRow(quick_path(part.label) or "Untitled", part.size / max(1, size), words.count(part.size),
                   f"{part.label}: {', '.join(part.keywords)}" if part.keywords else part.label) for part in parts])
        self.split_note.setText(split.note or ("" if parts else "It is too much of one piece to be split."))
        self.split_note.setVisible(bool(self.split_note.text()))
