"""The lab's plots: quality over speed at the left, bars of one model's ways or of all models at the right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from sbert_desktop.app.training_views import LabRow
from sbert_desktop.ui import words
from sbert_desktop.ui.models.bars import Bar, Bars
from sbert_desktop.ui.models.scatter import Point, Scatter
from sbert_desktop.ui.models.words import change, is_correlation, metric, plain, quality, row_words, way
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.widgets import ComboBox, Label, Line, plain_tip

MEASURES: Final = (
    ("quality", "Quality", ""),
    ("mean_cosine", "Unrelated texts", "How alike two random passages look; lower keeps unrelated texts apart"),
    ("isotropy", "Evenness", "How evenly all directions are used once the mean is taken away; higher is better"),
    ("speed", "Speed", "Passages per second on this computer"),
    ("size", "Size", "On the disk"),
)  # fmt: skip
_TERMS: Final = {"mean_cosine": "Anisotropy: the mean cosine of random pairs", "isotropy": "Isotropy after whitening"}


class Plots(QWidget):
    """Both plots, beside each other or, where there is no room, below each other. ``chosen(model)``: by its disc."""

    chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("lab_plots")
        self._rows: tuple[LabRow, ...] = ()
        self._model = ""
        self._marks: dict[str, str] = {}
        self._fell_back = False  # what the bars show is not what the person chose
        self._box = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._box.setContentsMargins(16, 0, 16, 0)
        self._box.setSpacing(24)
        left = QWidget()
        left.setObjectName("lab_left")
        column = QVBoxLayout(left)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        self.scatter_title = Label("Quality and speed", role="strong", object_name="lab_scatter_title")
        column.addWidget(self.scatter_title)
        self.scatter_words = Label("", role="meta", tone="muted", wrap=True, object_name="lab_scatter_words")
        self.scatter = Scatter("lab_scatter")
        self.scatter.chosen.connect(self.chosen)
        column.addWidget(self.scatter_words)
        column.addSpacing(8)
        column.addWidget(self.scatter)
        column.addStretch(1)
        self._line = Line(vertical=True)
        right = QWidget()
        right.setObjectName("lab_right")
        right.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        side = QVBoxLayout(right)
        side.setContentsMargins(0, 0, 0, 0)
        side.setSpacing(0)
        head = QHBoxLayout()
        head.setSpacing(8)
        self.bars_title = Label("", role="strong", wrap=True, object_name="lab_bars_title")
        self.measure = ComboBox(object_name="lab_measure", accessible="What the bars show", flat=True, caption="Show")
        for key, text, _ in MEASURES:
            self.measure.addItem(text, key)
        head.addWidget(self.bars_title, 1)
        head.addWidget(self.measure, 0, Qt.AlignmentFlag.AlignTop)
        self.bars_words = Label("", role="meta", tone="muted", wrap=True, object_name="lab_bars_words")
        self.bars = Bars("lab_bars", "Bars")
        side.addLayout(head)
        side.addWidget(self.bars_words)
        side.addSpacing(16)
        side.addWidget(self.bars)
        side.addStretch(1)
        self._box.addWidget(left, 4)
        self._box.addWidget(self._line)
        self._box.addWidget(right, 3)
        self.measure.currentIndexChanged.connect(lambda _: self._show_bars())
        self.measure.activated.connect(self._on_chosen)
        theme.themeChanged.connect(self._turn)

    def show_rows(self, rows: Sequence[LabRow], *, model: str, marks: dict[str, str]) -> None:
        """Shows what was measured. ``model``: the one chosen; ``marks``: ``in use`` or ``tuned`` by name."""
        self._rows, self._model, self._marks = tuple(rows), model, marks
        points = [Point(row, marks.get(row.model, ""), marks.get(row.model, "") == "tuned")
                  for row in self._rows if plain(row)]
        self.scatter.set_points(points)
        drawn = self.scatter.points()
        if drawn:
            sure = " Lines: 95 % sure." if any(point.row.low is not None for point in drawn) else ""
            self.scatter_words.setText(f"{metric(drawn[0].row.metric)}.{sure}")
            self.scatter_words.setToolTip(plain_tip(drawn[0].row.metric))
        else:
            self.scatter_words.setText("How well each model finds things is not known yet.")
        self.scatter.setVisible(bool(drawn))
        self._fall_back(any(row.quality is not None for row in self._rows))
        self._show_bars()

    def _on_chosen(self) -> None:
        self._fell_back = False

    def _fall_back(self, known: bool) -> None:
        """Shows speed while no quality is known, and quality again once it is."""
        if known and self._fell_back:
            self._fell_back = False
            self.measure.setCurrentIndex(self.measure.findData("quality"))
        elif self._rows and not known and self.measure.currentData() == "quality":
            self.measure.setCurrentIndex(self.measure.findData("speed"))
            self._fell_back = True

    def _chosen_rows(self) -> tuple[str, list[LabRow]]:
        """Gives a title and its rows: the ways to use the model chosen, or all models where it has none."""
        own = [row for row in self._rows if row.model == self._model]
        if len(own) > 1 and self.measure.currentData() not in ("speed", "size"):  # those are the model's, whatever way
            return f"Ways to use {self._model}", own
        return "All models", [row for row in self._rows if plain(row)]

    def _show_bars(self) -> None:
        title, rows = self._chosen_rows()
        key = str(self.measure.currentData())
        if title == "All models":  # the best first; what was not measured last
            sign = 1 if key in ("mean_cosine", "size") else -1
            rows.sort(key=lambda row: (_value(row, key) is None, sign * (_value(row, key) or 0.0)))
        values = [_value(row, key) for row in rows]
        most = max((abs(value) for value in values if value is not None), default=0.0)
        if key == "quality":
            most = 1.0
        elif key in ("mean_cosine", "isotropy"):
            most = max(1.0, most)
        ways = title != "All models"
        base = next((row for row in rows if plain(row)), None) if ways else None
        bars = []
        for row, value in zip(rows, values, strict=True):
            bars.append(Bar(
                title=way(row.way) if ways else row.model,
                share=None if value is None else abs(value) / most if most else 0.0,
                figure=_figure(row, key),
                below=_below(row, base, key) if ways else row.note if value is None else "",
                tip=row_words(row),
                tail="" if ways else self._marks.get(row.model, ""),
                strong=plain(row) if ways else self._marks.get(row.model, "") == "in use",
            ))
        said = next(text for own, _, text in MEASURES if own == key)
        if key == "quality":
            said = metric(rows[0].metric) + "." if rows else ""
        self.bars_title.setText(title)
        self.bars_title.setToolTip(plain_tip(title))
        self.bars_words.setText(said if said.endswith(".") or not said else f"{said}.")
        self.bars_words.setToolTip(plain_tip(_TERMS.get(key, "")))
        self.bars.set_bars(f"{title}: {self.measure.currentText()}", bars)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._turn()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and hasattr(self, "_line"):
            self._turn()

    def minimumSizeHint(self) -> QSize:
        hint = super().minimumSizeHint()
        return QSize(260, hint.height())

    def _turn(self) -> None:
        grow = max(1.0, theme.line("body") / 16)
        for title in (self.scatter_title, self.bars_title):  # both stand on one line
            title.setMinimumHeight(self.measure.sizeHint().height())
        beside = self.width() >= 640 * grow
        direction = QBoxLayout.Direction.LeftToRight if beside else QBoxLayout.Direction.TopToBottom
        if self._box.direction() != direction:
            self._box.setDirection(direction)
            self.updateGeometry()  # it is higher now, or lower
        self._line.setVisible(beside)


def _value(row: LabRow, key: str) -> float | None:
    value = getattr(row, key)
    return None if value is None or (key == "size" and not value) else float(value)


def _figure(row: LabRow, key: str) -> str:
    value = _value(row, key)
    if value is None:
        return "none"
    if key == "quality":
        return quality(value, row.metric) if is_correlation(row.metric) else f"{100 * value:.1f}"
    if key == "speed":
        return f"{words.count(round(value))}/s"
    return words.size(value) if key == "size" else f"{value:.2f}"


def _below(row: LabRow, base: LabRow | None, key: str) -> str:
    """Gives what a way costs against the model as it is."""
    if base is None or plain(row):
        return ""
    value, before = _value(row, key), _value(base, key)
    if value is None or before is None:
        return row.note
    return change(row) or row.note if key == "quality" else ""
