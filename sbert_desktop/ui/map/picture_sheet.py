"""How large the picture of the map is to be printed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QWidget

from sbert_desktop.ui import words
from sbert_desktop.ui.overlay import Sheet
from sbert_desktop.ui.widgets import Button, CheckBox, Label, NumberBox, Segmented, name

Done = Callable[[QSize, int, bool], object]
PAPERS: Final = (("a4", "A4"), ("a3", "A3"), ("own", "Own size"))
MILLIMETRES: Final = {"a4": (297, 210), "a3": (420, 297)}
DPI: Final = 300
INCH: Final = 25.4


def ask_picture(window: QWidget, done: Done) -> PictureSheet:
    """Opens the sheet; ``done(pixels, dots per inch, with legend)``."""
    sheet = window.findChild(PictureSheet, "map_picture_sheet")
    if sheet is None:
        sheet = PictureSheet(window)
    sheet.ask(done)
    return sheet


class PictureSheet(Sheet):
    """A paper or a size in millimetres, and how fine."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window, width=440)
        name(self, "map_picture_sheet", "Export a picture of the map")
        self._done: Done = lambda *_: None
        self.column.addWidget(Label("Export a picture", role="page_title", object_name="map_picture_title"))
        self.paper = Segmented(PAPERS, object_name="map_paper", accessible="Size")
        self.column.addWidget(self.paper)
        grid = QGridLayout()
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(8)
        grid.setColumnStretch(0, 1)
        self.wide = NumberBox(object_name="map_picture_width", accessible="Width in millimetres")
        self.tall = NumberBox(object_name="map_picture_height", accessible="Height in millimetres")
        self.dpi = NumberBox(object_name="map_picture_dpi", accessible="Dots per inch")
        for box, low, high in ((self.wide, 20, 1200), (self.tall, 20, 1200), (self.dpi, 72, 600)):
            box.setRange(low, high)
        for at, (caption, box) in enumerate((("Width, mm", self.wide), ("Height, mm", self.tall),
                                             ("Dots per inch", self.dpi))):
            grid.addWidget(Label(caption), at, 0)
            grid.addWidget(box, at, 1)
        self.column.addLayout(grid)
        self.legend = CheckBox("With the legend", object_name="map_picture_legend")
        self.legend.setChecked(True)
        self.column.addWidget(self.legend)
        self.size_words = Label("", role="meta", tone="muted", object_name="map_picture_pixels")
        self.column.addWidget(self.size_words)
        foot = QHBoxLayout()
        foot.setSpacing(8)
        self.cancel = Button("Cancel", object_name="map_picture_cancel")
        self.save = Button("Save...", kind="primary", object_name="map_picture_save")
        foot.addStretch(1)
        foot.addWidget(self.cancel)
        foot.addWidget(self.save)
        self.column.addLayout(foot)
        self.paper.changed.connect(lambda _: self._fit())
        for box in (self.wide, self.tall, self.dpi):
            box.valueChanged.connect(lambda _: self._tell())
        self.legend.toggled.connect(lambda _: self._tell())
        self.cancel.clicked.connect(lambda: self.close_sheet(False))
        self.save.clicked.connect(self._on_save)
        self.paper.set_value("a4")
        self.dpi.setValue(DPI)
        self._fit()

    def ask(self, done: Done) -> None:
        """Asks for a size."""
        self._done = done
        self.open()
        self.place()

    def first_focus(self) -> QWidget:
        return self.save

    def pixels(self) -> QSize:
        """Gives the size in pixels."""
        dots = self.dpi.value() / INCH
        return QSize(round(self.wide.value() * dots), round(self.tall.value() * dots))

    def _fit(self) -> None:
        own = self.paper.value() == "own"
        if not own:
            wide, tall = MILLIMETRES[self.paper.value()]
            self.wide.setValue(wide)
            self.tall.setValue(tall)
        self.wide.setEnabled(own)
        self.tall.setEnabled(own)
        self._tell()

    def _tell(self) -> None:
        size = self.pixels()
        self.size_words.setText(f"{words.count(size.width())} x {words.count(size.height())} pixels"
                                f"{', with the legend' if self.legend.isChecked() else ''}")

    def _on_save(self) -> None:
        self.close_sheet(True)
        self._done(self.pixels(), self.dpi.value(), self.legend.isChecked())
