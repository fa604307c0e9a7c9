"""The table of installed models: figures, speed on this computer, state; and the one on its way."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final, cast

from PySide6.QtCore import QRect
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QHeaderView, QStyleOptionViewItem, QWidget

from sbert_desktop.app.training_views import SpaceView
from sbert_desktop.app.views import ModelView
from sbert_desktop.ui import words
from sbert_desktop.ui.library.tables import Column, Index, RowDelegate, RowsModel, Table
from sbert_desktop.ui.models.words import (
    all_languages,
    kind,
    kind_tip,
    languages,
    percent,
    refused_word,
)
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.widgets import paint_bar, tag_width

GIVE_WAY: Final = ("Languages", "Kind", "Speed", "Max tokens", "Dimension")
"""Columns that give way, in this order, where the rest would be cut off; the inspector has their figures too."""


@dataclass(frozen=True, slots=True)
class ModelRow:
    """A model as the table shows it.

    ``speed``: passages per second measured on this computer. ``space``: its vectors in this library. ``serves``: it
    answers searches now. ``getting``: how far it has come from the hub or a folder, 0-1, for one that is not there yet.
    """

    model: ModelView
    speed: float | None = None
    space: SpaceView | None = None
    serves: bool = False
    getting: float | None = None

    @property
    def name(self) -> str:
        """The model's name."""
        return self.model.name

    def state(self) -> tuple[str, str, str]:
        """Gives words, tone and icon of its tag."""
        if self.getting is not None:
            return (f"Getting {100 * self.getting:.0f} %" if self.getting > 0 else "Getting"), "accent", ""
        if self.model.state == "refused":
            return refused_word(self.model), "danger", "warning"
        if self.model.state == "missing":
            return "Missing", "danger", "warning"
        if self.space is not None and self.space.state == "building":
            return f"Preparing {percent(self.space)} %", "accent", ""
        if self.serves:
            return ("Being prepared", "accent", "") if self.model.state == "preparing" else ("In use", "good", "check")
        return ("Tuned" if self.model.base else "Ready"), "neutral", ""

    def fraction(self) -> float | None:
        """Gives how far what goes on with it is, None when nothing does."""
        if self.getting is not None:
            return self.getting
        if self.space is not None and self.space.state == "building" and self.space.of:
            return self.space.passages / self.space.of
        return None


def on_its_way(own: str, fraction: float) -> ModelRow:
    """Gives the row of a model that is being got."""
    return ModelRow(ModelView(own, Path(), 0, 0, "", "", False, state="getting"), getting=fraction)


def model_row(row: object) -> ModelRow:
    """Gives a row of the table by its type."""
    return cast(ModelRow, row)


def _dimension(row: object) -> str:
    figure = model_row(row).model.dimension
    return words.count(figure) if figure else ""


def _tokens(row: object) -> str:
    figure = model_row(row).model.max_tokens
    return words.count(figure) if figure else ""


def _size(row: object) -> str:
    figure = model_row(row).model.size
    return words.size(figure) if figure else ""


def speed_words(speed: float | None) -> str:
    """Gives a speed for the table."""
    return f"{words.count(round(speed))}/s" if speed else ""


def _languages(row: object) -> str:
    return languages(model_row(row).model) if model_row(row).getting is None else ""


COLUMNS: Final = (
    Column("Name", lambda row: model_row(row).name, 0, role="medium", icon=lambda row: "models", least=148),
    Column("Kind", lambda row: kind(model_row(row).model) if model_row(row).getting is None else "", 92, tone="muted",
           tip=lambda row: kind_tip(model_row(row).model)),
    Column("Dimension", _dimension, 84, right=True, key=lambda row: model_row(row).model.dimension,
           tip=lambda row: "How many numbers its vectors have"),
    Column("Max tokens", _tokens, 88, right=True, key=lambda row: model_row(row).model.max_tokens,
           tip=lambda row: "How much of a passage it reads, in pieces of words"),
    Column("Languages", _languages, 96,
           tip=lambda row: all_languages(model_row(row).model)),
    Column("Speed", lambda row: speed_words(model_row(row).speed), 66, right=True,
           key=lambda row: model_row(row).speed or 0.0,
           tip=lambda row: "Passages per second, measured on this computer" if model_row(row).speed else
           "Not measured yet: see the lab below"),
    Column("Size", _size, 72, right=True, key=lambda row: model_row(row).model.size),
    Column("State", lambda row: model_row(row).state()[0], 140, tag=lambda row: model_row(row).state()[1:],
           tip=lambda row: model_row(row).model.note),
)  # fmt: skip


class _Delegate(RowDelegate):
    """Paints a bar at the foot of a tag that tells how far something is."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        super().paint(painter, option, index)
        model = index.model()
        assert isinstance(model, RowsModel)
        row = model_row(model.rows[index.row()])
        fraction = row.fraction()
        if index.column() != len(model.columns) - 1 or fraction is None:
            return
        rect: QRect = option.rect
        high = theme.height(20, role="meta", padding=4)
        wide = min(rect.width() - 24, tag_width(row.state()[0]))
        foot = rect.center().y() + high // 2
        paint_bar(painter, QRect(rect.x() + 8 + 6, foot - 3, wide - 12, 2), fraction)


class ModelTable(Table):
    """The table; columns that have no room give way to the name and the state."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(COLUMNS, object_name="models_table", accessible="Models",
                         key=lambda row: model_row(row).name, parent=parent)
        self.setItemDelegate(_Delegate(self))
        self.rows_model.modelReset.connect(self.fit)
        theme.themeChanged.connect(self.fit)

    def fit(self) -> None:
        """Makes the table as high as its rows."""
        rows = max(1, self.rows_model.rowCount())
        self.setFixedHeight(self.horizontalHeader().height() + rows * theme.height(32, padding=12) + 1)

    def show_rows(self, rows: list[ModelRow]) -> None:
        """Shows rows; the speeds' column stands there once one was measured."""
        self.set_rows(rows)
        self._share_width()

    def _share_width(self) -> None:
        """Makes each column as wide as what it holds; the name gets the rest."""
        rows = self.rows_model.rows
        wide = {column.head: content_width(column, rows, first=not at, last=at == len(COLUMNS) - 1)
                for at, column in enumerate(COLUMNS)}
        room = self.viewport().width()
        gone = set() if any(model_row(row).speed for row in rows) else {"Speed"}
        least = min(wide["Name"], round(200 * max(1.0, theme.line("body") / 16)))
        for head in GIVE_WAY:
            if least + sum(width for own, width in wide.items() if own not in gone and own != "Name") <= room:
                break
            gone.add(head)
        header = self.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        shown = [column.head for column in COLUMNS if column.head not in gone]
        spare = room - sum(wide[head] for head in shown)
        extra = max(0, min(24, (spare - 24) // max(1, len(shown))))  # air between the columns where there is room
        left = room
        for at, column in enumerate(COLUMNS):
            self.setColumnHidden(at, column.head in gone)
            if at and column.head not in gone:
                header.resizeSection(at, wide[column.head] + extra)
                left -= wide[column.head] + extra
        header.resizeSection(0, max(80, left))

    def row_of(self, own: str) -> ModelRow | None:
        """Gives the row of a model by its name."""
        return next((model_row(row) for row in self.rows_model.rows if model_row(row).name == own), None)


def content_width(column: Column, rows: list[object], *, first: bool, last: bool) -> int:
    """Gives the width that a column needs for its head and what it holds, its paddings included."""
    texts = [column.text(row) for row in rows]
    around = 16 + (8 if first or last else 0) + (24 if column.icon is not None else 0)
    head = theme.metrics("meta").horizontalAdvance(column.head) + 2
    if column.tag is not None:
        most = max((tag_width(text, column.tag(row)[1]) for text, row in zip(texts, rows, strict=True)), default=0)
    else:
        metrics = theme.metrics("strong" if first else column.role)
        most = max((metrics.horizontalAdvance(text) for text in texts), default=0)
    return max(head, most) + around + 2
