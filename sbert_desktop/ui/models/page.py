"""The Models page: the models there are, their facts, and whether their files are what they should be."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, cast

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFileDialog, QStackedWidget, QVBoxLayout, QWidget

from sbert_desktop.app.views import LibraryView, ModelView
from sbert_desktop.domain import Finished, Outcome
from sbert_desktop.ui import words
from sbert_desktop.ui.bridge import Latest
from sbert_desktop.ui.library.tables import Column, Table
from sbert_desktop.ui.models.detail import SECOND, ModelDetail, can_remove, can_use, languages
from sbert_desktop.ui.models.get_sheet import GetSheet
from sbert_desktop.ui.models.getting import Getting
from sbert_desktop.ui.page import Action, Desk, Page, PageHead, failure_text
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.widgets import Button, EmptyState, FlowLayout, Label, Line, SkeletonList, announce


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


NAME = Column("Name", lambda row: _model(row).name, 0, role="medium", icon=lambda row: "models")
TAIL = (
    Column("Max tokens", lambda row: words.count(_model(row).max_tokens), 96, right=True,
           key=lambda row: _model(row).max_tokens),
    Column("Languages", lambda row: languages(_model(row)), 104),
    Column("Size", lambda row: words.size(_model(row).size) if _model(row).size else "", 88, right=True,
           key=lambda row: _model(row).size),
    Column("State", lambda row: state_tag(_model(row))[0], 148, tag=lambda row: state_tag(_model(row))[1:],
           tip=lambda row: _model(row).note),
)
COLUMNS = (
    NAME,
    Column("Dimension", lambda row: words.count(_model(row).dimension), 88, right=True,
           key=lambda row: _model(row).dimension),
    *TAIL,
)
SECOND_COLUMNS = (NAME, *TAIL)
SECOND_WORDS = ("A second look compares your question with each of the first hits, word by word, and puts the best "
                "ones first. It takes a moment longer; the first hits are shown at once.")


class ModelsPage(Page):
    """A table of models, below it those for a second look; the inspector shows the row chosen."""

    key: ClassVar[str] = "models"
    title: ClassVar[str] = "Models"
    icon: ClassVar[str] = "models"

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._latest = Latest(desk.bridge)
        self._verified: dict[str, str] = {}
        self._checking = False
        self._models: tuple[ModelView, ...] = ()
        self._hidden: set[str] = set()  # being removed, while Undo is offered
        self._shown = ""
        self._model_state: tuple[str, str, str] | None = None
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        self.head = self._build_head()
        column.addWidget(self.head)
        self.second_row = QWidget()
        self.second_row.setObjectName("models_second_row")
        flow = FlowLayout(self.second_row, gap=8)
        flow.setContentsMargins(16, 0, 16, 12)
        self.second_row.hide()
        column.addWidget(self.second_row)
        column.addWidget(Line())
        self.getting = Getting(desk, self._on_added)
        column.addWidget(self.getting)
        self.stack = QStackedWidget()
        self.stack.setObjectName("models_stack")
        self.loading = SkeletonList(3, row_height=44, object_name="models_loading")
        self.failed = EmptyState("The models could not be listed", "", action="Try again", drawing="problem",
                                 object_name="models_failed")
        self.none = EmptyState("No model here", "Search goes on by words. The program's own model is missing: "
                               "install the program again.", drawing="model", object_name="models_none")
        self.full = self._build_tables()
        for widget in (self.loading, self.full, self.failed, self.none):
            self.stack.addWidget(widget)
        column.addWidget(self.stack, 1)
        self.detail = ModelDetail(desk)
        desk.inspector.set_content(self.key, self.detail)
        for table in (self.table, self.second):
            table.currentRowChanged.connect(lambda row, table=table: self._on_row_changed(table, row))
            table.rowActivated.connect(lambda _: desk.inspector.set_open(True))
            table.keys = {Qt.Key.Key_Delete: self.remove_chosen}
        self.detail.useAsked.connect(self.use_chosen)
        self.detail.removeAsked.connect(self.remove_chosen)
        self.failed.clicked.connect(self.reload)
        desk.libraryChanged.connect(self._on_library_changed)
        theme.themeChanged.connect(self._fit)

    def _build_head(self) -> PageHead:
        head = PageHead("Models", "models_title")
        self.verify = Button("Verify files", icon="shield", object_name="models_verify",
                             tip="Compare every file of every model with its known checksum")
        self.from_folder = Button("Add from folder...", icon="folder", object_name="models_add_folder",
                                  tip="Add a model that lies in a folder of this computer")
        self.get = Button("Get a model...", kind="primary", icon="get", object_name="models_get",
                          tip="Load a model from huggingface.co; nothing is asked of it before you click Get")
        self.verify.clicked.connect(self.verify_files)
        self.from_folder.clicked.connect(self.ask_folder)
        self.get.clicked.connect(lambda: self.get_model())
        for button in (self.verify, self.from_folder, self.get):
            head.row.addWidget(button)
        for button in (self.from_folder, self.get):
            button.setVisible(self.desk.can("add_model"))
        return head

    def _build_tables(self) -> QWidget:
        full = QWidget()
        full.setObjectName("models_full")
        column = QVBoxLayout(full)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        self.table = Table(COLUMNS, object_name="models_table", accessible="Models", key=lambda row: _model(row).name)
        column.addWidget(self.table)
        self.second_head = QWidget()
        self.second_head.setObjectName("models_second_head")
        box = QVBoxLayout(self.second_head)
        box.setContentsMargins(16, 24, 16, 8)
        box.setSpacing(4)
        box.addWidget(Label("Second look", role="section", object_name="models_second_title"))
        box.addWidget(Label(SECOND_WORDS, tone="muted", wrap=True, object_name="models_second_words"))
        self.offer = Button("Get one...", kind="link", object_name="models_second_get",
                            tip="Offers a model for a second look, from huggingface.co")
        self.offer.clicked.connect(lambda: self.get_model("cross-encoder/ms-marco-MiniLM-L6-v2"))
        box.addWidget(self.offer)
        column.addWidget(self.second_head)
        self.second = Table(SECOND_COLUMNS, object_name="models_second_table", accessible="Models for a second look",
                            key=lambda row: _model(row).name)
        column.addWidget(self.second)
        column.addStretch(1)
        return full

    def activate(self) -> None:
        if not self._models:
            self.reload()

    def focus_first(self) -> None:
        self.table.setFocus(Qt.FocusReason.OtherFocusReason)

    def actions_list(self) -> Sequence[Action]:
        out = [Action("verify_models", "Verify model files", self.verify_files, icon="shield",
                      enabled=lambda: not self._checking)]
        if self.desk.can("add_model"):
            out += [Action("add_model_folder", "Add a model from a folder...", self.ask_folder, icon="folder"),
                    Action("get_model", "Get a model...", self.get_model, icon="get", note="from huggingface.co")]
        if self.desk.can("use_model"):
            out.append(Action("use_model", "Use this model", self.use_chosen, icon="check", note=self._shown,
                              enabled=lambda: (model := self.chosen()) is not None and can_use(model)))
        if self.desk.can("remove_model"):
            out.append(Action("remove_model", "Remove this model", self.remove_chosen, icon="trash", note=self._shown,
                              enabled=lambda: (model := self.chosen()) is not None and can_remove(model)))
        return out

    def reload(self) -> None:
        """Asks for the models."""
        self._latest.watch(self.desk.commands.models(), on_finished=self._on_listed)

    # ---- adding, using, removing

    def ask_folder(self) -> None:
        """Asks for a folder and adds the model in it."""
        chosen = QFileDialog.getExistingDirectory(self, "Choose the folder of a model")
        if chosen:
            self.getting.add(str(Path(chosen)))

    def get_model(self, suggested: str = "") -> None:
        """Offers to get a model from the hub; a name may be suggested."""
        if not self.desk.can("add_model"):
            return
        sheet = self.window().findChild(GetSheet, "get_model_sheet")
        if sheet is None:
            sheet = GetSheet(self.window())
            sheet.wanted.connect(self.getting.add)
        sheet.ask(suggested)

    def _on_added(self, models: tuple[object, ...], title: str) -> None:
        before = {model.name for model in self._models}
        self._show_models(cast(tuple[ModelView, ...], models))
        new = next((model for model in self._models if model.name not in before), None)
        if new is None:
            self.desk.toast(f"{title} is here")
            return
        self._choose(new.name)
        can = can_use(new) and self.desk.can("use_model")
        self.desk.toast(f"Added {new.name}", action="Use it" if can else "",
                        run=(lambda: self.use(new.name)) if can else None)

    def chosen(self) -> ModelView | None:
        """Gives the model that the inspector shows."""
        return next((model for model in self._models if model.name == self._shown), None)

    def use_chosen(self) -> None:
        """Makes the model shown the one in force."""
        model = self.chosen()
        if model is not None and can_use(model) and self.desk.can("use_model"):
            self.use(model.name)

    def use(self, own: str) -> None:
        """Makes a model the one in force."""
        model = next((each for each in self._models if each.name == own), None)
        if model is None:
            return
        before = next((each.name for each in self._models if each.active and each.kind == model.kind), "")
        after = "It reads your library now; words work meanwhile" if model.kind != SECOND else \
            "It puts the first hits in order from now on"

        def done(result: object) -> None:
            if isinstance(result, tuple):
                self._show_models(result)
            self.desk.refresh()
            self.desk.toast(f"Using {own}. {after}", action="Undo" if before else "",
                            run=(lambda: self.desk.start(self.desk.commands.use_model(before), self._take))
                            if before else None)

        self.desk.start(self.desk.commands.use_model(own), done)

    def _take(self, result: object) -> None:
        if isinstance(result, tuple):
            self._show_models(result)
        self.desk.refresh()

    def remove_chosen(self) -> None:
        """Takes the model shown away; its files go only when Undo is no longer offered."""
        model = self.chosen()
        if model is None or not can_remove(model) or not self.desk.can("remove_model"):
            return
        own = model.name
        self._hidden.add(own)
        self._show_models(self._models)
        gone = "; search goes on without a second look" if model.active else ""
        self.desk.toast(f"Removed {own}, {words.size(model.size)}{gone}", action="Undo",
                        run=lambda: self._bring_back(own), expired=lambda: self._remove(own))

    def _bring_back(self, own: str) -> None:
        self._hidden.discard(own)
        self._show_models(self._models)
        self._choose(own)

    def _remove(self, own: str) -> None:
        def done(finished: Finished) -> None:
            self._hidden.discard(own)
            if self.desk.report_failure(finished) or not isinstance(finished.result, tuple):
                self._show_models(self._models)  # it is there still
            else:
                self._show_models(finished.result)

        self.desk.bridge.watch(self.desk.commands.remove_model(own), on_finished=done)

    # ---- verifying

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

    # ---- showing

    def _show_models(self, models: tuple[ModelView, ...]) -> None:
        self._models = models
        there = [model for model in models if model.name not in self._hidden]
        second = [model for model in there if model.kind == SECOND]
        self.table.set_rows([model for model in there if model.kind != SECOND])
        self.second.set_rows(second)
        self.second.setVisible(bool(second))
        self.offer.setVisible(not second and self.desk.can("add_model"))
        self.second_head.setVisible(bool(second) or self.desk.can("add_model"))
        self.stack.setCurrentWidget(self.full if there else self.none)
        self._fit()
        if there:
            names = [model.name for model in there]
            self._choose(self._shown if self._shown in names else
                         next((model.name for model in there if model.active), names[0]))

    def _choose(self, own: str) -> None:
        for table in (self.table, self.second):
            for at, row in enumerate(table.rows_model.rows):
                if _model(row).name == own:
                    table.selectRow(at)
                    self._on_row_changed(table, row)

    def _on_row_changed(self, table: Table, row: object) -> None:
        if row is None:
            return
        other = self.second if table is self.table else self.table
        if other.selectionModel().hasSelection():
            other.clearSelection()
        model = _model(row)
        self._shown = model.name
        self.detail.show_model(model, self.desk.library, self._verified.get(model.name, _files_words(model)))

    def _on_library_changed(self, view: LibraryView) -> None:
        state = (view.model.name, view.model.state, view.model.note)
        model = self.chosen()
        if self._model_state and state != self._model_state and self._models:
            self.reload()  # the model became ready, or was refused
        elif model is not None:
            self.detail.show_model(model, view, self._verified.get(model.name, _files_words(model)))
        self._model_state = state

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_head()

    def _fit_head(self) -> None:
        self.head.give_way(self.second_row, (self.verify, self.from_folder, self.get))

    def _fit(self) -> None:
        self._fit_head()
        # each table is as high as its rows, so that the second stands right below the first
        for table in (self.table, self.second):
            rows = max(1, table.rows_model.rowCount())
            table.setMaximumHeight(table.horizontalHeader().height() + rows * theme.height(32, padding=12) + 2)


def _files_words(model: ModelView) -> str:
    if model.state in ("refused", "missing"):
        return "Not what they should be"
    return "Checked when the model was loaded" if model.active else "Not checked yet"
