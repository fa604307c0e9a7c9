"""The lab's figures as a table: every column of every row, for screen readers and for export."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, cast

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHeaderView, QWidget

from sbert_desktop.app.training_views import LabRow
from sbert_desktop.ui import words
from sbert_desktop.ui.library.tables import Column, Table
from sbert_desktop.ui.models.table import content_width
from sbert_desktop.ui.models.words import change, is_correlation, metric, quality, way
from sbert_desktop.ui.theme import theme


def _row(row: object) -> LabRow:
    return cast(LabRow, row)


def _figure(pick: Callable[[LabRow], float | None], form: str = "{:.2f}") -> Callable[[object], str]:
    def text(row: object) -> str:
        value = pick(_row(row))
        return "" if value is None else form.format(value)

    return text


def _key(pick: Callable[[LabRow], float | None]) -> Callable[[object], object]:
    def key(row: object) -> object:
        value = pick(_row(row))
        return -1e300 if value is None else value

    return key


def _quality(pick: Callable[[LabRow], float | None]) -> Callable[[object], str]:
    def text(row: object) -> str:
        value = pick(_row(row))
        if value is None:
            return ""
        return quality(value, _row(row).metric) if is_correlation(_row(row).metric) else f"{100 * value:.1f}"

    return text


def _change(pick: Callable[[LabRow], float | None]) -> Callable[[object], str]:
    def text(row: object) -> str:
        value = pick(_row(row))
        if value is None:
            return ""
        return f"{value:+.3f}" if is_correlation(_row(row).metric) else f"{100 * value:+.1f}"

    return text


COLUMNS: Final = (
    Column("Model", lambda row: _row(row).model, 0, role="medium", least=120),
    Column("Way", lambda row: way(_row(row).way), 128, tone="muted", tip=lambda row: _row(row).way or "as it is"),
    Column("Measure", lambda row: _row(row).metric, 84, tone="muted", tip=lambda row: metric(_row(row).metric)),
    Column("Quality", _quality(lambda row: row.quality), 64, right=True, key=_key(lambda row: row.quality),
           tip=lambda row: metric(_row(row).metric)),
    Column("From", _quality(lambda row: row.low), 56, right=True, key=_key(lambda row: row.low),
           tip=lambda row: "95 % sure to be no lower"),
    Column("To", _quality(lambda row: row.high), 56, right=True, key=_key(lambda row: row.high),
           tip=lambda row: "95 % sure to be no higher"),
    Column("Against as it is", _change(lambda row: row.change), 84, right=True, key=_key(lambda row: row.change),
           tip=lambda row: change(_row(row))),
    Column("From", _change(lambda row: row.change_low), 56, right=True, key=_key(lambda row: row.change_low),
           tip=lambda row: "95 % sure to be no lower"),
    Column("To", _change(lambda row: row.change_high), 56, right=True, key=_key(lambda row: row.change_high),
           tip=lambda row: "95 % sure to be no higher"),
    Column("Random pairs", _figure(lambda row: row.mean_cosine), 84, right=True, key=_key(lambda row: row.mean_cosine),
           tip=lambda row: "Mean cosine of random pairs (anisotropy): near 0, unrelated texts stay apart"),
    Column("Evenness", _figure(lambda row: row.isotropy), 68, right=True, key=_key(lambda row: row.isotropy),
           tip=lambda row: "Isotropy after whitening, 0 to 1: near 1, all directions are used alike"),
    Column("Passages/s", _figure(lambda row: row.speed, "{:,.0f}"), 76, right=True, key=_key(lambda row: row.speed),
           tip=lambda row: "Measured on this computer"),
    Column("Size", lambda row: words.size(_row(row).size) if _row(row).size else "", 64, right=True,
           key=_key(lambda row: row.size)),
    Column("Numbers", lambda row: words.count(_row(row).dimension) if _row(row).dimension else "", 64, right=True,
           key=_key(lambda row: row.dimension), tip=lambda row: "Dimension: how many numbers a vector has"),
    Column("Note", lambda row: _row(row).note, 100, tone="muted"),
)  # fmt: skip


class LabTable(Table):
    """The table, as high as its rows; what has no room is reached by scrolling or by the arrow keys."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(COLUMNS, object_name="lab_table", accessible="What the lab measured",
                         key=lambda row: (_row(row).model, _row(row).way, _row(row).metric), parent=parent)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self.setHorizontalScrollMode(Table.ScrollMode.ScrollPerPixel)
        self.rows_model.modelReset.connect(self.fit)
        theme.themeChanged.connect(self.fit)

    def fit(self) -> None:
        """Makes the table as high as its rows."""
        rows = max(1, self.rows_model.rowCount())
        self._share_width()
        bar = 12 if self.horizontalHeader().length() > self.viewport().width() else 0
        self.setFixedHeight(self.horizontalHeader().height() + rows * theme.height(32, padding=12) + 2 + bar)

    def _share_width(self) -> None:
        rows = self.rows_model.rows
        self.setColumnHidden(len(COLUMNS) - 1, not any(_row(row).note for row in rows))
        header = self.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        most = round(280 * max(1.0, theme.line("body") / 16))
        wide = [min(most, content_width(column, rows, first=not at, last=at == len(COLUMNS) - 1))
                for at, column in enumerate(COLUMNS)]
        spare = self.viewport().width() - sum(width for at, width in enumerate(wide) if not self.isColumnHidden(at))
        for at, width in enumerate(wide):
            header.resizeSection(at, width + (max(0, spare) if not at else 0))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit()
