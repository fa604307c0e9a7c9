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
from sbert_desktop.ui.naming import quick_path
from sbert_desktop.ui.overlay import Sheet
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.widgets import (
    Button,
    CheckBox,
    ComboBox,
    ElidedLabel,
    FlowLayout,
    Label,
    Segmented,
    name,
    set_tip,
)

JUDGEMENTS: Final = "judgements"
KINDS: Final = (
    (JUDGEMENTS, "those that tell most"), ("judgements:same", "same or different"), ("judgements:grades", "grades"),
    ("judgements:answers", "questions and answers"),
)  # fmt: skip
WAYS: Final = (
    ("pooling", "Other ways to pool", "First token, maximum, mean of the last layers and others, in place of the "
     "model's own way to make one vector of the vectors of words", 2.0),
    ("dimensions", "Fewer dimensions", "Shorter vectors, by PCA and by cutting them off (Matryoshka): they take less "
     "room, and this is what it costs", 0.3),
    ("int8", "8-bit numbers", "Vectors in 8-bit numbers (int8): a quarter of the room, and what it costs", 0.1),
)  # fmt: skip
_AS_IT_IS_S: Final = 20.0  # of one model and a few hundred judgements on two cores, until one was measured here
_BYTES: Final = 120  # of one text in a table
_SPEED: Final = 200.0  # texts a second, until a model was measured


@dataclass(frozen=True, slots=True)
class Measurement:
    """What is to be measured: names of models, ``judgements`` (see :data:`KINDS`) or the path of a file, and ways.

    ``bytes``: of the file, 0 for judgements.
    """

    models: tuple[str, ...]
    data: str = JUDGEMENTS
    ways: tuple[str, ...] = ()
    bytes: int = 0

    @property
    def judged(self) -> bool:
        """True for one on judgements."""
        return self.data.partition(":")[0] == JUDGEMENTS


def expected_seconds(wanted: Measurement, took: Mapping[str, float]) -> float:
    """Gives about how long a measurement takes; ``took``: seconds that each model took here on judgements."""
    each = 1.0 + sum(times for key, _, _, times in WAYS if key in wanted.ways)
    typical = sum(took.values()) / len(took) if took else _AS_IT_IS_S
    more = wanted.bytes / _BYTES / _SPEED
    return sum(each * (took.get(model, typical) + more) for model in wanted.models)


def bytes_of(place: str) -> int:
    """Gives how large a file is, or the files of a folder; 0 when it cannot be seen."""
    path = Path(place)
    try:
        files = path.iterdir() if path.is_dir() else (path,)
        return sum(file.stat().st_size for file in files if file.is_file())
    except OSError:
        return 0


class LabSheet(Sheet):
    """Asks what to measure: ``wanted(Measurement)``."""

    wanted = Signal(object)

    def __init__(self, window: QWidget) -> None:
        super().__init__(window, width=560)
        name(self, "lab_sheet", "Measure models")
        self._took: Mapping[str, float] = {}
        self._file, self._bytes = "", 0
        self.boxes: dict[str, CheckBox] = {}
        self.column.addWidget(Label("Measure models", role="page_title", object_name="lab_sheet_title"))
        self._body = QWidget()
        self._body.setObjectName("lab_sheet_content")
        self._body.setStyleSheet("#lab_sheet_content { background: transparent; }")
        self._inner = QVBoxLayout(self._body)
        self._inner.setContentsMargins(0, 0, 12, 0)
        self._inner.setSpacing(12)
        self._inner.addWidget(Label("How well each model finds what you are after, and how quickly on this computer.",
                                    tone="muted", wrap=True))
        self._inner.addWidget(Label("Models", role="strong"))
        self._rows = QVBoxLayout()
        self._rows.setSpacing(4)
        self._inner.addLayout(self._rows)
        self._make_data()
        self._make_ways()
        self._area = QScrollArea()  # many models and large text need more room than a window may have
        self._area.setWidgetResizable(True)
        self._area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._area.viewport().setAutoFillBackground(False)
        name(self._area, "lab_sheet_area", "What to measure")
        self._area.setWidget(self._body)
        self.column.addWidget(self._area, 1)
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
        self._inner.addWidget(Label("On what", role="strong"))
        line = QWidget()
        line.setObjectName("lab_data_row")
        flow = FlowLayout(line, gap=8)
        self.data = Segmented(((JUDGEMENTS, "My judgements"), ("file", "A file"), ("folder", "A folder")),
                              object_name="lab_data", accessible="Measured on")
        self.kind = ComboBox(object_name="lab_kind", accessible="Which judgements")
        for key, text in KINDS:
            self.kind.addItem(text, key)
        self.choose = Button("Choose...", object_name="lab_choose_file",
                             tip="A table of judged pairs, grades, triplets or questions; or a folder with a corpus, "
                             "queries and qrels")
        for widget in (self.data, self.kind, self.choose):
            flow.addWidget(widget)
        self._inner.addWidget(line)
        self.file = ElidedLabel(mode=Qt.TextElideMode.ElideMiddle, role="meta", tone="muted", object_name="lab_file")
        self._inner.addWidget(self.file)
        self.data.changed.connect(self._on_data)
        self.kind.activated.connect(lambda _: self._fit_time())
        self.choose.clicked.connect(self.choose_file)

    def _make_ways(self) -> None:
        self._inner.addWidget(Label("Beside each model as it is", role="strong"))
        self.ways: dict[str, CheckBox] = {}
        rows = QVBoxLayout()
        rows.setSpacing(4)
        for key, text, tip, _ in WAYS:
            box = CheckBox(text, object_name=f"lab_way_{key}")
            set_tip(box, tip)
            box.toggled.connect(self._fit_time)
            rows.addWidget(box)
            self.ways[key] = box
        self._inner.addLayout(rows)
        self._inner.addStretch(1)

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
            box = CheckBox(model.name, object_name=f"lab_model_{at}")
            box.setChecked(model.name in before.models if before is not None and before.models else True)
            box.toggled.connect(self._fit_time)
            self._rows.addWidget(box)
            self.boxes[model.name] = box
        self._rows.addStretch(1)
        chosen = JUDGEMENTS
        if before is not None:
            for key, box in self.ways.items():
                box.setChecked(key in before.ways)
            if before.judged:
                self.kind.setCurrentIndex(max(0, self.kind.findData(before.data)))
            else:
                self._file, self._bytes = before.data, before.bytes
                chosen = "folder" if Path(before.data).is_dir() else "file"
        self.data.set_value(chosen)
        self._fit_file()
        self._fit_time()
        self.open()

    def place(self) -> None:
        """Makes the middle as high as it needs, if the window is."""
        host = self.parentWidget()
        assert host is not None
        width = min(560 * (100 + max(0, theme.text_scale - 100) // 2) // 100, host.width() - 48) - 48
        needed = self._inner.heightForWidth(width) + 4
        around = 48 + 3 * 12 + theme.line("page_title") + 2 * theme.line("body") + theme.height(32, padding=12) + 60
        self._area.setFixedHeight(min(needed, max(96, host.height() - around)))
        super().place()

    def first_focus(self) -> QWidget:
        return self.measure if self.measure.isEnabled() else next(iter(self.boxes.values()), self.cancel)

    def asked(self) -> Measurement:
        """Gives what is chosen now."""
        on_file = self.data.value() != JUDGEMENTS
        return Measurement(tuple(own for own, box in self.boxes.items() if box.isChecked()),
                           self._file if on_file else str(self.kind.currentData()),
                           tuple(key for key, box in self.ways.items() if box.isChecked()),
                           self._bytes if on_file else 0)

    def choose_file(self) -> None:
        """Asks for the file, or the folder, to measure on."""
        if self.data.value() == "folder":
            found = QFileDialog.getExistingDirectory(self, "Choose a folder to measure on", self._file)
        else:
            self.data.set_value("file")
            found, _ = QFileDialog.getOpenFileName(self, "Choose a file to measure on", self._file,
                                                   "Tables (*.csv *.tsv *.jsonl);;All files (*)")
        if found:
            self._file, self._bytes = found, bytes_of(found)
        self._fit_file()
        self._fit_time()

    def _on_data(self, key: str) -> None:
        if key != JUDGEMENTS and (not self._file or Path(self._file).is_dir() != (key == "folder")):
            self._file = ""
            self.choose_file()
        self._fit_file()
        self._fit_time()

    def _fit_file(self) -> None:
        on_file = self.data.value() != JUDGEMENTS
        self.kind.setVisible(not on_file)
        self.choose.setVisible(on_file)
        self.file.setVisible(on_file)
        self.file.set_full_text(quick_path(self._file) if self._file else "Nothing chosen yet")
        if self.isVisible():
            self.place()

    def _fit_time(self) -> None:
        asked = self.asked()
        ready = bool(asked.models) and bool(asked.data)
        self.measure.setEnabled(ready)
        if not asked.models:
            text = "Choose a model."
        elif not ready:
            text = "Choose what to measure on."
        else:
            text = f"About {words.duration(expected_seconds(asked, self._took))}. Search goes on meanwhile."
        self.time.setText(text)

    def _on_measure(self) -> None:
        asked = self.asked()
        self.close_sheet(True)
        self.wanted.emit(asked)
