"""The sheet before a measurement: which models, on what, what else of each, and how long it will take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from sbert_desktop.app.views import ModelView
from sbert_desktop.ui import words
from sbert_desktop.ui.models.words import SECOND
from sbert_desktop.ui.naming import quick_path
from sbert_desktop.ui.overlay import Sheet
from sbert_desktop.ui.widgets import Button, CheckBox, ElidedLabel, Label, Segmented, name, set_tip

JUDGEMENTS: Final = "judgements"
WAYS: Final = (
    ("pooling", "Other ways to pool", "First token, maximum, mean of the last layers and others, in place of the "
     "model's own way to make one vector of the vectors of words", 6.0),
    ("dimensions", "Fewer dimensions", "Shorter vectors by PCA and by cutting them off (Matryoshka): less room on the "
     "disk, and what it costs in quality", 0.3),
    ("int8", "8-bit numbers", "The model with rounded weights (int8): quicker on most computers", 1.0),
)  # fmt: skip
_AS_IT_IS_S: Final = 45.0  # of one model on two cores, until one was measured here
_START_S: Final = 8.0


@dataclass(frozen=True, slots=True)
class Measurement:
    """What is to be measured: names of models, ``judgements`` or the path of a file, and ways."""

    models: tuple[str, ...]
    data: str = JUDGEMENTS
    ways: tuple[str, ...] = ()


def expected_seconds(wanted: Measurement, took: Mapping[str, float]) -> float:
    """Gives about how long a measurement takes; ``took``: seconds that each model took here as it is."""
    each = 1.0 + sum(times for key, _, _, times in WAYS if key in wanted.ways)
    typical = sum(took.values()) / len(took) if took else _AS_IT_IS_S
    return sum(_START_S + each * took.get(model, typical) for model in wanted.models)


class LabSheet(Sheet):
    """Asks what to measure: ``wanted(Measurement)``."""

    wanted = Signal(object)

    def __init__(self, window: QWidget) -> None:
        super().__init__(window, width=560)
        name(self, "lab_sheet", "Measure models")
        self._took: Mapping[str, float] = {}
        self._file = ""
        self.boxes: dict[str, CheckBox] = {}
        self.column.addWidget(Label("Measure models", role="page_title", object_name="lab_sheet_title"))
        self.column.addWidget(Label("How well each model finds what you are after, and how quickly on this computer.",
                                    tone="muted", wrap=True))
        self.column.addWidget(Label("Models", role="strong"))
        self._list = QWidget()
        self._list.setObjectName("lab_models_content")
        self._list.setStyleSheet("#lab_models_content { background: transparent; }")
        self._rows = QVBoxLayout(self._list)
        self._rows.setContentsMargins(0, 0, 0, 0)
        self._rows.setSpacing(4)
        self._area = QScrollArea()
        self._area.setWidgetResizable(True)
        self._area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._area.viewport().setAutoFillBackground(False)
        name(self._area, "lab_models", "Models to measure")
        self._area.setWidget(self._list)
        self._area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.column.addWidget(self._area, 1)
        self._make_data()
        self._make_ways()
        self.time = Label("", tone="muted", wrap=True, object_name="lab_time")
        self.column.addWidget(self.time)
        foot = QHBoxLayout()
        foot.setSpacing(8)
        self.cancel = Button("Cancel", object_name="lab_sheet_cancel")
        self.measure = Button("Measure", kind="primary", icon="play", object_name="lab_sheet_go")
        foot.addStretch(1)
        foot.addWidget(self.cancel)
        foot.addWidget(self.measure)
        self.column.addLayout(foot)
        self.cancel.clicked.connect(lambda: self.close_sheet(False))
        self.measure.clicked.connect(self._on_measure)

    def _make_data(self) -> None:
        self.column.addWidget(Label("On what", role="strong"))
        line = QHBoxLayout()
        line.setSpacing(8)
        self.data = Segmented(((JUDGEMENTS, "My judgements"), ("file", "A file")), object_name="lab_data",
                              accessible="Measured on")
        self.choose = Button("Choose a file...", icon="file", object_name="lab_choose_file",
                             tip="A table of judged pairs, grades, triplets or questions")
        self.file = ElidedLabel(mode=Qt.TextElideMode.ElideMiddle, role="meta", tone="muted", object_name="lab_file")
        line.addWidget(self.data)
        line.addWidget(self.choose)
        line.addWidget(self.file, 1)
        line.addStretch(0)
        self.column.addLayout(line)
        self.column.setAlignment(line, Qt.AlignmentFlag.AlignLeft)
        self.data.changed.connect(self._on_data)
        self.choose.clicked.connect(self.choose_file)

    def _make_ways(self) -> None:
        self.column.addWidget(Label("Beside each model as it is", role="strong"))
        self.ways: dict[str, CheckBox] = {}
        rows = QVBoxLayout()
        rows.setSpacing(4)
        for key, text, tip, _ in WAYS:
            box = CheckBox(text, object_name=f"lab_way_{key}")
            set_tip(box, tip)
            box.toggled.connect(self._fit_time)
            rows.addWidget(box)
            self.ways[key] = box
        self.column.addLayout(rows)

    def ask(self, models: Sequence[ModelView], *, before: Measurement | None, took: Mapping[str, float]) -> None:
        """Opens with the models that can be measured; what was measured ``before`` is chosen again."""
        self._took = took
        for box in self.boxes.values():
            self._rows.removeWidget(box)
            box.hide()
            box.deleteLater()
        self.boxes = {}
        while self._rows.count():
            self._rows.takeAt(0)
        for at, model in enumerate(models):
            second = ", second look" if model.kind == SECOND else ""
            box = CheckBox(f"{model.name}{second}", object_name=f"lab_model_{at}")
            box.setChecked(model.name in before.models if before is not None and before.models else
                           model.kind != SECOND)
            box.toggled.connect(self._fit_time)
            self._rows.addWidget(box)
            self.boxes[model.name] = box
        self._rows.addStretch(1)
        if before is not None:
            self._file = before.data if before.data != JUDGEMENTS else self._file
            for key, box in self.ways.items():
                box.setChecked(key in before.ways)
        self.data.set_value("file" if before is not None and before.data != JUDGEMENTS else JUDGEMENTS)
        self._fit_file()
        self._fit_time()
        self._fit_list()
        self.open()
        self.place()

    def _fit_list(self) -> None:
        host = self.parentWidget()
        assert host is not None
        need = self._list.sizeHint().height()
        self._area.setFixedHeight(min(need, max(72, host.height() // 3 - 40)))

    def first_focus(self) -> QWidget:
        return self.measure if self.measure.isEnabled() else next(iter(self.boxes.values()), self.cancel)

    def asked(self) -> Measurement:
        """Gives what is chosen now."""
        on_file = self.data.value() == "file"
        return Measurement(tuple(own for own, box in self.boxes.items() if box.isChecked()),
                           self._file if on_file else JUDGEMENTS,
                           tuple(key for key, box in self.ways.items() if box.isChecked()))

    def choose_file(self) -> None:
        """Asks for the file to measure on."""
        found, _ = QFileDialog.getOpenFileName(self, "Choose a file to measure on", self._file,
                                               "Tables (*.csv *.tsv *.json *.jsonl);;All files (*)")
        if found:
            self._file = found
            self.data.set_value("file")
        self._fit_file()
        self._fit_time()

    def _on_data(self, key: str) -> None:
        if key == "file" and not self._file:
            self.choose_file()
        self._fit_file()
        self._fit_time()

    def _fit_file(self) -> None:
        on_file = self.data.value() == "file"
        self.choose.setVisible(on_file)
        self.file.setVisible(on_file)
        self.file.set_full_text(quick_path(str(Path(self._file))) if self._file else "none chosen")

    def _fit_time(self) -> None:
        asked = self.asked()
        ready = bool(asked.models) and (self.data.value() != "file" or bool(self._file))
        self.measure.setEnabled(ready)
        if not asked.models:
            text = "Choose a model."
        elif not ready:
            text = "Choose a file."
        else:
            text = f"About {words.duration(expected_seconds(asked, self._took))}. Search goes on meanwhile."
        self.time.setText(text)

    def _on_measure(self) -> None:
        asked = self.asked()
        self.close_sheet(True)
        self.wanted.emit(asked)
