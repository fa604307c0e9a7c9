"""The inspector of the Models page: the facts of one model, and what can be done with it."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from sbert_desktop.app.views import LibraryView, ModelView
from sbert_desktop.domain import short_path
from sbert_desktop.ui import words
from sbert_desktop.ui.page import Desk
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.widgets import Button, Card, ElidedLabel, IconButton, Label, Line, Panel, name, plain_tip

LANGUAGES = {"en": "English", "de": "German", "fr": "French", "es": "Spanish", "it": "Italian", "zh": "Chinese"}
SECOND = "cross-encoder"


def languages(model: ModelView) -> str:
    """Gives the languages that a model reads."""
    if not model.languages:
        return "not known"
    if len(model.languages) > 3:
        return f"{len(model.languages)} languages"
    return words.listed([LANGUAGES.get(code, code) for code in model.languages])


def purpose(model: ModelView) -> str:
    """Gives in a sentence what a model is for."""
    if model.kind == SECOND:
        return "Reads your question together with each of the first hits and puts the best ones first."
    if len(model.languages) > 1:
        return f"Finds passages by their meaning, in {languages(model)}: ask in one language, find in another."
    read = f" in {languages(model)}" if model.languages else ""
    return f"Finds passages by their meaning{read}." + (" It comes with the program." if model.bundled else "")


class ModelDetail(Panel):
    """The facts of one model, and below them Use and Remove as far as they apply."""

    useAsked = Signal()
    removeAsked = Signal()

    def __init__(self, desk: Desk, parent: QWidget | None = None) -> None:
        super().__init__("surface", parent=parent)
        name(self, "model_detail", "Model")
        self._desk = desk
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        head = QHBoxLayout()
        head.setContentsMargins(16, 0, 8, 0)
        titles = QVBoxLayout()
        titles.setSpacing(0)
        titles.setContentsMargins(0, 8, 0, 8)
        self.title = ElidedLabel(role="section", object_name="model_title")
        self.place = ElidedLabel(mode=Qt.TextElideMode.ElideMiddle, role="meta", tone="muted", object_name="model_path")
        titles.addWidget(self.title)
        titles.addWidget(self.place)
        head.addLayout(titles, 1)
        self.close_button = IconButton("panel", "Hide the preview", object_name="model_close", shortcut="Ctrl+I")
        self.close_button.clicked.connect(lambda: desk.inspector.set_open(False))
        head.addWidget(self.close_button, 0, Qt.AlignmentFlag.AlignVCenter)
        head_box = QWidget()
        head_box.setObjectName("model_head")
        head_box.setLayout(head)
        head_box.setMinimumHeight(56)
        column.addWidget(head_box)
        column.addWidget(Line())
        area = QScrollArea()
        name(area, "model_facts", "Facts of the model")
        area.setWidgetResizable(True)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        body = QWidget()
        body.setObjectName("model_facts_content")
        inner = QVBoxLayout(body)
        inner.setContentsMargins(16, 16, 16, 16)
        inner.setSpacing(16)
        self.purpose = Label("", wrap=True, object_name="model_purpose")
        inner.addWidget(self.purpose)
        self.note = Card(fill="danger_soft", edge=None)
        box = QHBoxLayout(self.note)
        box.setContentsMargins(12, 8, 12, 8)
        self.note_text = Label(wrap=True, object_name="model_note")
        box.addWidget(self.note_text)
        inner.addWidget(self.note)
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(16)
        self._grid.setVerticalSpacing(10)
        self._grid.setColumnStretch(1, 1)
        self.values: dict[str, Label] = {}
        self._heads: dict[str, Label] = {}
        for at, (key, text) in enumerate((("dimension", "Dimension"), ("tokens", "Max tokens"), ("pooling", "Pooling"),
                                          ("languages", "Languages"), ("size", "Size"), ("device", "Runs on"),
                                          ("files", "Files"))):
            head_label = Label(text, tone="muted")
            head_label.setMinimumWidth(100)
            self._heads[key] = head_label
            value = Label(wrap=True, object_name=f"model_{key}")
            self.values[key] = value
            self._grid.addWidget(head_label, at, 0, Qt.AlignmentFlag.AlignTop)
            self._grid.addWidget(value, at, 1)
        row = len(self.values)
        self._grid.addWidget(Label("Checksum", tone="muted"), row, 0)
        line = QHBoxLayout()
        line.setSpacing(4)
        self.checksum = ElidedLabel(mode=Qt.TextElideMode.ElideMiddle, object_name="model_sha256")
        self.checksum.setFont(theme.mono_font())
        self.copy = IconButton("copy", "Copy checksum", object_name="model_copy_sha256", size=24, icon_size=16)
        self.copy.clicked.connect(self._copy)
        line.addWidget(self.checksum, 1)
        line.addWidget(self.copy)
        self._grid.addLayout(line, row, 1)
        inner.addLayout(self._grid)
        inner.addStretch(1)
        area.setWidget(body)
        column.addWidget(area, 1)
        column.addWidget(self._make_foot())

    def _make_foot(self) -> QWidget:
        self.foot = QWidget()
        self.foot.setObjectName("model_foot")
        column = QVBoxLayout(self.foot)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(Line())
        row = QHBoxLayout()
        row.setContentsMargins(16, 12, 16, 12)
        row.setSpacing(8)
        self.use = Button("Use this model", kind="primary", icon="check", object_name="model_use")
        self.remove = IconButton("trash", "Remove this model", object_name="model_remove", shortcut="Delete", size=32)
        row.addWidget(self.use)
        row.addStretch(1)
        row.addWidget(self.remove)
        column.addLayout(row)
        self.use.clicked.connect(self.useAsked)
        self.remove.clicked.connect(self.removeAsked)
        return self.foot

    def show_model(self, model: ModelView, library: LibraryView | None, verified: str) -> None:
        """Shows a model's facts; ``verified`` says how the last check went."""
        self.title.set_full_text(model.name)
        self.purpose.setText(purpose(model))
        for key in ("dimension", "pooling"):  # a second look makes no vectors
            self._heads[key].setVisible(model.kind != SECOND)
            self.values[key].setVisible(model.kind != SECOND)
        self.use.setVisible(can_use(model) and self._desk.can("use_model"))
        self.use.setToolTip(plain_tip("Put the first hits in its order from now on" if model.kind == SECOND else
                                      "Your library is read anew for it in the background; words work meanwhile"))
        self.remove.setVisible(can_remove(model) and self._desk.can("remove_model"))
        self.remove.set_tip("Stop using and remove this model" if model.active else "Remove this model", "Delete")
        self.foot.setVisible(self.use.isVisibleTo(self.foot) or self.remove.isVisibleTo(self.foot))
        self.place.set_full_text(short_path(model.path))
        bad = model.state in ("refused", "missing")
        self.note.setVisible(bool(model.note))
        self.note.set_fill("danger_soft" if bad else "hover")  # a note may say that all is well
        self.note_text.setText(model.note)
        self.values["dimension"].setText(words.count(model.dimension))
        self.values["tokens"].setText(f"{words.count(model.max_tokens)}, about "
                                      f"{words.count(round(model.max_tokens * 0.75 / 10) * 10)} words"
                                      if model.max_tokens else "not known")
        self.values["pooling"].setText(model.pooling)
        self.values["languages"].setText(languages(model))
        self.values["size"].setText(words.size(model.size) if model.size else "")
        runs = library is not None and model.active
        where = ", ".join(part for part in (library.device, library.precision) if part) if library is not None else ""
        self.values["device"].setText((where or "being prepared") if runs else "not in use")
        self.values["files"].setText(verified)
        theme.set_tone(self.values["files"], "danger" if bad else "good" if verified.startswith("Verified") else "text")
        self.checksum.set_full_text(model.sha256)

    def _copy(self) -> None:
        from PySide6.QtWidgets import QApplication

        QApplication.clipboard().setText(self.checksum.full_text())
        self._desk.toast("Checksum copied")


def can_use(model: ModelView) -> bool:
    """True for a model that is sound and not in use."""
    return model.state == "ready" and not model.active


def can_remove(model: ModelView) -> bool:
    """True for one that was added and that search can do without: a second look ends with its model."""
    return not model.bundled and (not model.active or model.kind == SECOND)
