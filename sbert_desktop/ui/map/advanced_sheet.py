"""What a person may set of the layout: method, neighbours, distance, seed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from PySide6.QtWidgets import QDoubleSpinBox, QGridLayout, QHBoxLayout, QWidget

from sbert_desktop.app.atlas_views import LayoutRules
from sbert_desktop.ui.overlay import Sheet
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.widgets import Button, Label, NumberBox, Segmented, name

Done = Callable[[str, LayoutRules], object]
METHODS: Final = (("umap", "UMAP"), ("pca", "PCA"))
HINTS: Final = {
    "umap": "Draws each document towards its nearest neighbours: clusters become visible.",
    "pca": "Looks at the documents from the side on which they differ most: quick and always the same, but clusters "
           "overlap.",
}


def edit_rules(window: QWidget, method: str, rules: LayoutRules, done: Done) -> AdvancedSheet:
    """Opens the sheet; ``done`` takes the method and the rules with which the map is to be redrawn."""
    sheet = window.findChild(AdvancedSheet, "map_advanced_sheet")
    if sheet is None:
        sheet = AdvancedSheet(window)
    sheet.edit(method, rules, done)
    return sheet


class AdvancedSheet(Sheet):
    """Nothing happens before "Redraw"."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window, width=480)
        name(self, "map_advanced_sheet", "How the map is laid out")
        self._done: Done = lambda *_: None
        self._given = LayoutRules()
        self.column.addWidget(Label("How the map is laid out", role="page_title", object_name="map_advanced_title"))
        self.method = Segmented(METHODS, object_name="map_method", accessible="Method")
        self.hint = Label("", role="meta", tone="muted", wrap=True, object_name="map_method_hint")
        self.column.addWidget(self.method)
        self.column.addWidget(self.hint)
        self.grid = QWidget()
        grid = QGridLayout(self.grid)
        grid.setContentsMargins(0, 4, 0, 0)
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(10)
        grid.setColumnStretch(1, 1)
        self.neighbours = NumberBox(object_name="map_neighbours", accessible="Neighbours")
        self.neighbours.setRange(2, 200)
        self.distance = _ShareBox("map_distance", "Least distance")
        self.seed = NumberBox(object_name="map_seed", accessible="Seed")
        self.seed.setRange(0, 999_999)
        self._rows: list[tuple[QWidget, QWidget, QWidget]] = []
        for at, (caption, box, hint) in enumerate((
            ("Neighbours", self.neighbours, "Few show detail, many the large picture. 15 is usual."),
            ("Least distance", self.distance, "How close alike documents may lie, 0 to 1. 0.1 is usual."),
            ("Seed", self.seed, "Another number gives another map of the same documents."),
        )):
            head = Label(caption)
            words = Label(hint, role="meta", tone="muted", wrap=True)
            grid.addWidget(head, at, 0)
            grid.addWidget(words, at, 1)
            grid.addWidget(box, at, 2)
            self._rows.append((head, words, box))
        self.compared = Label("Documents are compared by meaning (cosine). Their vectors have length 1, so other "
                            "distances give the same order.", role="meta", tone="muted", wrap=True,
                            object_name="map_metric")
        self.column.addWidget(self.grid)
        self.column.addWidget(self.compared)
        foot = QHBoxLayout()
        foot.setSpacing(8)
        self.reset = Button("Reset", kind="link", object_name="map_advanced_reset",
                            tip="Back to what is usual")
        self.cancel = Button("Cancel", object_name="map_advanced_cancel")
        self.redraw = Button("Redraw", kind="primary", object_name="map_advanced_redraw")
        foot.addWidget(self.reset)
        foot.addStretch(1)
        foot.addWidget(self.cancel)
        foot.addWidget(self.redraw)
        self.column.addSpacing(4)
        self.column.addLayout(foot)
        self.method.changed.connect(lambda _: self._show_method())
        self.neighbours.valueChanged.connect(lambda _: self._fit())
        self.distance.valueChanged.connect(lambda _: self._fit())
        self.seed.valueChanged.connect(lambda _: self._fit())
        self.reset.clicked.connect(lambda: self._show("umap", LayoutRules()))
        self.cancel.clicked.connect(lambda: self.close_sheet(False))
        self.redraw.clicked.connect(self._on_redraw)

    def edit(self, method: str, rules: LayoutRules, done: Done) -> None:
        """Shows rules."""
        self._done, self._given = done, rules
        self._show(method, rules)
        self.open()
        self.place()

    def first_focus(self) -> QWidget:
        return self.neighbours if self.method.value() == "umap" else self.redraw

    def rules(self) -> LayoutRules:
        """Gives what stands in the boxes."""
        return replace(self._given, neighbours=self.neighbours.value(), seed=self.seed.value(),
                       minimum_distance=round(self.distance.value(), 2))

    def _show(self, method: str, rules: LayoutRules) -> None:
        self.method.set_value(method)
        self.neighbours.setValue(rules.neighbours)
        self.distance.setValue(rules.minimum_distance)
        self.seed.setValue(rules.seed)
        self._show_method()

    def _show_method(self) -> None:
        method = self.method.value() or "umap"
        self.hint.setText(HINTS[method])
        for row in self._rows:
            for widget in row:
                widget.setEnabled(method == "umap")
        self.grid.setVisible(method == "umap")
        self._fit()

    def _fit(self) -> None:
        usual = LayoutRules()
        self.reset.setEnabled(self.method.value() != "umap" or self.rules() != replace(
            self._given, neighbours=usual.neighbours, minimum_distance=usual.minimum_distance, seed=usual.seed))
        if self.isVisible():
            self.place()

    def _on_redraw(self) -> None:
        method, rules = self.method.value() or "umap", self.rules()
        self.close_sheet(True)
        self._done(method, rules)


class _ShareBox(QDoubleSpinBox):
    """A number from 0 to 1."""

    def __init__(self, object_name: str, accessible: str) -> None:
        super().__init__()
        name(self, object_name, accessible)
        self.setRange(0.0, 1.0)
        self.setSingleStep(0.05)
        self.setDecimals(2)
        theme.set_role(self, "body")
        line = self.lineEdit()
        assert line is not None
        name(line, f"{object_name}_line", accessible)
