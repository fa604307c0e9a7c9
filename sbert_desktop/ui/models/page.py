"""The Models page: the models there are, their facts, and whether their files are what they should be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, cast

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QScrollArea, QStackedWidget, QVBoxLayout, QWidget

from sbert_desktop.app.views import LibraryView, ModelView
from sbert_desktop.domain import Finished, Outcome, short_path
from sbert_desktop.ui import words
from sbert_desktop.ui.bridge import Latest
from sbert_desktop.ui.library.tables import Column, Table
from sbert_desktop.ui.page import Action, Desk, Page, PageHead, failure_text
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.widgets import (
    Button,
    Card,
    ElidedLabel,
    EmptyState,
    IconButton,
    Label,
    Line,
    Panel,
    SkeletonList,
    announce,
    name,
)

LANGUAGES = {"en": "English", "de": "German", "fr": "French", "es": "Spanish", "it": "Italian", "zh": "Chinese"}


def _model(row: object) -> ModelView:
    return cast(ModelView, row)


def state_tag(model: ModelView) -> tuple[str, str, str]:
    """Gives words, tone and icon of a model's state."""
    if model.state == "refused":
        return "Files changed", "danger", "warning"
    if model.state == "missing":
        return "Missing", "danger", "warning"
    if model.state == "preparing":
        return "Being prepared", "accent", ""
    return ("In use", "good", "check") if model.active else ("Ready", "neutral", "")


def languages(model: ModelView) -> str:
    """Gives the languages that a model reads."""
    if not model.languages:
        return "not known"
    if len(model.languages) > 3:
        return f"{len(model.languages)} languages"
    return words.listed([LANGUAGES.get(code, code) for code in model.languages])


COLUMNS = (
    Column("Name", lambda row: _model(row).name, 0, role="medium", icon=lambda row: "models"),
    Column("Dimension", lambda row: words.count(_model(row).dimension), 96, right=True,
           key=lambda row: _model(row).dimension),
    Column("Max tokens", lambda row: words.count(_model(row).max_tokens), 104, right=True,
           key=lambda row: _model(row).max_tokens),
    Column("Pooling", lambda row: _model(row).pooling, 88),
    Column("Size", lambda row: words.size(_model(row).size) if _model(row).size else "", 88, right=True,
           key=lambda row: _model(row).size),
    Column("State", lambda row: state_tag(_model(row))[0], 148, tag=lambda row: state_tag(_model(row))[1:],
           tip=lambda row: _model(row).note),
)


class ModelDetail(Panel):
    """The facts of one model, in the inspector."""

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
        for at, (key, text) in enumerate((("dimension", "Dimension"), ("tokens", "Max tokens"), ("pooling", "Pooling"),
                                          ("languages", "Languages"), ("size", "Size"), ("device", "Runs on"),
                                          ("files", "Files"))):
            head_label = Label(text, tone="muted")
            head_label.setMinimumWidth(100)
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

    def show_model(self, model: ModelView, library: LibraryView | None, verified: str) -> None:
        """Shows a model's facts; ``verified`` says how the last check went."""
        self.title.set_full_text(model.name)
        self.place.set_full_text(short_path(model.path))
        self.note.setVisible(bool(model.note))
        self.note_text.setText(model.note)
        self.values["dimension"].setText(words.count(model.dimension))
        self.values["tokens"].setText(f"{words.count(model.max_tokens)}, about "
                                      f"{words.count(round(model.max_tokens * 0.75 / 10) * 10)} words")
        self.values["pooling"].setText(model.pooling)
        self.values["languages"].setText(languages(model))
        self.values["size"].setText(words.size(model.size) if model.size else "")
        runs = library is not None and model.active
        where = ", ".join(part for part in (library.device, library.precision) if part) if library is not None else ""
        self.values["device"].setText((where or "being prepared") if runs else "not in use")
        self.values["files"].setText(verified)
        bad = model.state in ("refused", "missing")
        theme.set_tone(self.values["files"], "danger" if bad else "good" if verified.startswith("Verified") else "text")
        self.checksum.set_full_text(model.sha256)

    def _copy(self) -> None:
        from PySide6.QtWidgets import QApplication

        QApplication.clipboard().setText(self.checksum.full_text())
        self._desk.toast("Checksum copied")


class ModelsPage(Page):
    """A table of models; its inspector shows the row chosen."""

    key: ClassVar[str] = "models"
    title: ClassVar[str] = "Models"
    icon: ClassVar[str] = "models"

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._latest = Latest(desk.bridge)
        self._verified: dict[str, str] = {}
        self._checking = False
        self._model_state: tuple[str, str, str] | None = None
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        head = PageHead("Models", "models_title")
        self.verify = Button("Verify files", icon="shield", object_name="models_verify",
                             tip="Compare every file of every model with its known checksum")
        self.verify.clicked.connect(self.verify_files)
        head.row.addWidget(self.verify)
        column.addWidget(head)
        column.addWidget(Line())
        self.stack = QStackedWidget()
        self.stack.setObjectName("models_stack")
        self.loading = SkeletonList(3, row_height=44, object_name="models_loading")
        self.table = Table(COLUMNS, object_name="models_table", accessible="Models")
        self.failed = EmptyState("The models could not be listed", "", action="Try again", drawing="problem",
                                 object_name="models_failed")
        self.none = EmptyState("No model here", "Search goes on by words. The program's own model is missing: "
                               "install the program again.", drawing="model", object_name="models_none")
        for widget in (self.loading, self.table, self.failed, self.none):
            self.stack.addWidget(widget)
        column.addWidget(self.stack, 1)
        self.detail = ModelDetail(desk)
        desk.inspector.set_content(self.key, self.detail)
        self.table.currentRowChanged.connect(self._on_row_changed)
        self.table.rowActivated.connect(lambda _: desk.inspector.set_open(True))
        self.failed.clicked.connect(self.reload)
        desk.libraryChanged.connect(self._on_library_changed)

    def activate(self) -> None:
        if not self.table.rows_model.rows:
            self.reload()

    def focus_first(self) -> None:
        self.table.setFocus(Qt.FocusReason.OtherFocusReason)

    def actions_list(self) -> Sequence[Action]:
        return [Action("verify_models", "Verify model files", self.verify_files, icon="shield",
                       enabled=lambda: not self._checking)]

    def reload(self) -> None:
        """Asks for the models."""
        self._latest.watch(self.desk.commands.models(), on_finished=self._on_listed)

    def verify_files(self) -> None:
        """Checks every file of every model; the table shows what was found."""
        if self._checking:
            return
        self._checking = True
        self._show_checking(True)
        self._latest.watch(self.desk.commands.verify_models(), on_finished=self._on_verified)

    def _show_checking(self, checking: bool) -> None:
        self.verify.setEnabled(not checking)
        self.verify.setText("Verifying..." if checking else "Verify files")

    def _on_listed(self, finished: Finished) -> None:
        if finished.outcome is Outcome.FAILED and finished.failure is not None:
            self.failed.set_texts("The models could not be listed", failure_text(finished.failure))
            self.stack.setCurrentWidget(self.failed)
        elif isinstance(finished.result, tuple):
            self._show_models(finished.result)

    def _on_verified(self, finished: Finished) -> None:
        self._checking = False
        self._show_checking(False)
        if self.desk.report_failure(finished) or not isinstance(finished.result, tuple):
            return
        bad = []
        for model in finished.result:
            good = model.state in ("ready", "preparing")
            self._verified[model.name] = "Verified just now" if good else "Not what they should be"
            if not good:
                bad.append(model.name)
        self._show_models(finished.result)
        text = f"Not usable: {words.listed(bad)}" if bad else "All model files are what they should be"
        self.desk.toast(text)
        announce(self, text)

    def _show_models(self, models: tuple[ModelView, ...]) -> None:
        chosen = self.table.current_row()
        self.table.set_rows(models)
        self.stack.setCurrentWidget(self.table if models else self.none)
        if models:
            names = [model.name for model in models]
            before = _model(chosen).name if chosen is not None else ""
            at = names.index(before) if before in names else next((i for i, m in enumerate(models) if m.active), 0)
            self.table.selectRow(at)
            self._on_row_changed(models[at])

    def _on_row_changed(self, row: object) -> None:
        if row is not None:
            model = _model(row)
            self.detail.show_model(model, self.desk.library, self._verified.get(model.name, _files_words(model)))

    def _on_library_changed(self, view: LibraryView) -> None:
        state = (view.model.name, view.model.state, view.model.note)
        if self._model_state and state != self._model_state and self.table.rows_model.rows:
            self.reload()  # the model became ready, or was refused
        elif self.table.current_row() is not None:
            self._on_row_changed(self.table.current_row())
        self._model_state = state


def _files_words(model: ModelView) -> str:
    if model.state in ("refused", "missing"):
        return "Not what they should be"
    return "Checked when the model was loaded" if model.active else "Not checked yet"
