"""The side column of a cluster: keywords, where it lies on the map, and its folders."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from sbert_desktop.app.atlas_views import ThemeView
from sbert_desktop.domain import short_path
from sbert_desktop.ui import words
from sbert_desktop.ui.clusters.bars import BarRow, BarTable
from sbert_desktop.ui.clusters.mini_map import MiniMap
from sbert_desktop.ui.clusters.words import label_of, percent
from sbert_desktop.ui.errands import Errands
from sbert_desktop.ui.naming import quick_path
from sbert_desktop.ui.widgets import Button, ElidedLabel, Label, name

KEYWORDS = 8
FOLDERS = 8


def section(title: str, object_name: str, link: str = "", link_name: str = ""
            ) -> tuple[QWidget, ElidedLabel, Button | None]:
    """Gives a section's title of 28, with a link at its right."""
    holder = QWidget()
    row = QHBoxLayout(holder)
    row.setContentsMargins(0, 0, 0, 0)
    row.setSpacing(8)
    label = ElidedLabel(title, role="section", object_name=object_name)
    row.addWidget(label, 1)
    button = None
    if link:
        button = Button(link, kind="link", size="small", object_name=link_name)
        row.addWidget(button)
    holder.setMinimumHeight(28)
    return holder, label, button


class ThemeSide(QWidget):
    """See the module. ``mapWanted()``: the map is to be opened."""

    mapWanted = Signal()

    def __init__(self, errands: Errands, *, with_map: bool, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        name(self, "clusters_side", "About this cluster")
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 12, 16, 16)
        column.setSpacing(0)
        self.words_head, _, _ = section("Keywords", "clusters_keywords_title")
        self.words = BarTable("clusters_keywords", "Keywords")
        column.addWidget(self.words_head)
        column.addWidget(self.words)
        column.addSpacing(16)
        self.map_head, _, button = section("On the map", "clusters_map_title", "Open map", "clusters_open_map")
        assert button is not None
        self.open_map = button
        self.map = MiniMap(errands)
        self.no_map = Label("Open the map once to see this cluster on it.", role="meta", tone="muted", wrap=True,
                            object_name="clusters_no_map")
        self._with_map = with_map
        for widget in (self.map_head, self.map, self.no_map):
            column.addWidget(widget)
            widget.setVisible(with_map)
        column.addSpacing(16)
        self.folders_head, _, _ = section("Folders", "clusters_folders_title")
        self.folders = BarTable("clusters_folders", "Folders", bar=0, middle=True)
        column.addWidget(self.folders_head)
        column.addWidget(self.folders)
        column.addStretch(1)
        self.open_map.clicked.connect(self.mapWanted)
        self.map.openWanted.connect(self.mapWanted)
        self.fit_map()

    def show_theme(self, shown: ThemeView) -> None:
        """Shows a cluster."""
        keys = sorted(shown.keywords, key=lambda word: -word.weight)[:KEYWORDS]
        self.words.set_rows([
            BarRow(quick_path(word.text), word.weight, f"{word.weight:.2f}",
                   f"{word.text}: in {percent(word.share)} of its documents, "
                   f"in {percent(word.elsewhere)} of the others")
            for word in keys])
        self.words_head.setVisible(bool(keys))
        self.words.setVisible(bool(keys))
        self.folders.set_rows([
            BarRow(short_path(folder), number / max(1, shown.size), words.count(number), short_path(folder))
            for folder, number in shown.folders[:FOLDERS]])
        self.folders_head.setVisible(bool(shown.folders))
        self.folders.setVisible(bool(shown.folders))
        self.map.clear()
        self.fit_map()

    def show_contents(self, shown: ThemeView, contents: tuple[int, ...]) -> None:
        """Puts the cluster's documents on the small map."""
        self.map.show_documents(contents, shown.colour, label_of(shown))

    def fit_map(self) -> None:
        """Shows the small map where there is a map, else how to come to one."""
        self.map.setVisible(self._with_map and self.map.has_map())
        self.no_map.setVisible(self._with_map and not self.map.has_map())
