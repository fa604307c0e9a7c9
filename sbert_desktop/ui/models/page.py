"""The Models page: the models there are, what they are worth here, and the vectors that the library has of them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar, cast

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QScrollArea, QStackedWidget, QVBoxLayout, QWidget

from sbert_desktop.app.training_views import SpaceView
from sbert_desktop.app.views import LibraryView, ModelView, UnreadLanguage
from sbert_desktop.domain import Finished, Outcome
from sbert_desktop.ui import words
from sbert_desktop.ui.bridge import Latest
from sbert_desktop.ui.models.deeds import Deeds
from sbert_desktop.ui.models.detail import ModelDetail, Shown, can_remove, can_use, first_deed
from sbert_desktop.ui.models.get_sheet import MULTILINGUAL, GetSheet
from sbert_desktop.ui.models.getting import Getting
from sbert_desktop.ui.models.lab import Lab
from sbert_desktop.ui.models.preparing import Preparing
from sbert_desktop.ui.models.table import ModelRow, ModelTable, model_row, on_its_way
from sbert_desktop.ui.models.words import SECOND, SECOND_WORDS, unread
from sbert_desktop.ui.page import Action, Desk, Page, PageHead, failure_text
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.widgets import Button, EmptyState, FlowLayout, Label, Line, Notice, SkeletonList, announce

INSPECTOR = 336
AGAIN_MS = 1500  # how often spaces are asked for while one is built


class ModelsPage(Page):
    """Above the table of models, below it the lab; the inspector shows the row chosen."""

    key: ClassVar[str] = "models"
    title: ClassVar[str] = "Models"
    icon: ClassVar[str] = "models"

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._latest = Latest(desk.bridge)
        self._spaces_latest = Latest(desk.bridge)
        self._unread_latest = Latest(desk.bridge)
        self._verified: dict[str, float] = {}
        self._checking = False
        self._models: tuple[ModelView, ...] = ()
        self._listed = False
        self.spaces: tuple[SpaceView, ...] = ()
        self.deeds = Deeds(self)
        self._shown = ""
        self._again_for = ""  # the model that is got again, while its name is asked for
        self._put_away = ""  # the notice of languages that the person closed
        self._model_state: tuple[object, ...] | None = None
        self._unread_of: tuple[object, ...] | None = None
        self._again = QTimer(self)
        self._again.setSingleShot(True)
        self._again.setInterval(AGAIN_MS)
        self._again.timeout.connect(self.ask_spaces)
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
        self.preparing = Preparing()
        self.getting = Getting(desk, self._on_added)
        column.addWidget(self._build_notice())
        column.addWidget(self.preparing)
        column.addWidget(self.getting)
        self.stack = QStackedWidget()
        self.stack.setObjectName("models_stack")
        self.loading = SkeletonList(3, row_height=44, object_name="models_loading")
        self.failed = EmptyState("The models could not be listed", "", action="Try again", drawing="problem",
                                 object_name="models_failed")
        self.none = EmptyState("No model here", "Search goes on by words. The program's own model is missing: "
                               "install the program again.", drawing="model", object_name="models_none")
        self.full = self._build_full()
        for widget in (self.loading, self.full, self.failed, self.none):
            self.stack.addWidget(widget)
        column.addWidget(self.stack, 1)
        self.detail = ModelDetail(desk)
        self.detail.can_reveal(desk.can("reveal"))
        desk.inspector.set_content(self.key, self.detail, width=INSPECTOR)
        self._connect()

    # ---- parts

    def _connect(self) -> None:
        desk, detail = self.desk, self.detail
        self.table.currentRowChanged.connect(self._on_row_changed)
        self.table.rowActivated.connect(lambda _: desk.inspector.set_open(True))
        self.table.keys = {Qt.Key.Key_Delete: self.deeds.remove_chosen}
        detail.firstAsked.connect(self._on_first)
        detail.tuneAsked.connect(lambda: desk.show_page("train"))
        detail.removeAsked.connect(self.deeds.remove_chosen)
        detail.revealAsked.connect(self._reveal)
        detail.useSpaceAsked.connect(self.deeds.use_space)
        detail.removeSpaceAsked.connect(self.deeds.remove_space)
        self.preparing.cancelAsked.connect(self.deeds.remove_space)
        self.getting.changed.connect(self.show_again)
        self.lab.rowsChanged.connect(self.show_again)
        self.lab.modelChosen.connect(self.choose)
        self.failed.clicked.connect(self.reload)
        desk.libraryChanged.connect(self._on_library_changed)
        desk.indexProgressed.connect(self._on_index)
        desk.bridge.listen("spaces", on_finished=self._on_spaces)
        theme.themeChanged.connect(self._fit_head)

    def _build_head(self) -> PageHead:
        head = PageHead("Models", "models_title")
        self.from_folder = Button("Add from folder...", icon="folder", object_name="models_add_folder",
                                  tip="Add a model that lies in a folder of this computer")
        self.get = Button("Get a model...", kind="primary", icon="get", object_name="models_get",
                          tip="Load a model from huggingface.co; nothing is asked of it before you click Get")
        self.from_folder.clicked.connect(self.ask_folder)
        self.get.clicked.connect(lambda: self.get_model())
        for button in (self.from_folder, self.get):
            head.row.addWidget(button)
            button.setVisible(self.desk.can("add_model"))
        return head

    def _build_notice(self) -> QWidget:
        self.notice_row = QWidget()
        self.notice_row.setObjectName("models_notice_row")
        row = QHBoxLayout(self.notice_row)
        row.setContentsMargins(16, 12, 16, 12)
        self.languages = Notice("models_languages")
        row.addWidget(self.languages)
        self.languages.close_button.clicked.connect(self._put_notice_away)
        self.languages.button.clicked.connect(self.notice_row.hide)
        self.notice_row.hide()
        return self.notice_row

    def _build_full(self) -> QScrollArea:
        area = QScrollArea()
        area.setObjectName("models_full")
        area.setAccessibleName("Models and lab")
        area.setWidgetResizable(True)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        content = QWidget()
        content.setObjectName("models_content")
        column = QVBoxLayout(content)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        self.table = ModelTable()
        column.addWidget(self.table)
        self.second = QWidget()
        self.second.setObjectName("models_second")
        row = QHBoxLayout(self.second)
        row.setContentsMargins(16, 8, 16, 0)
        row.setSpacing(8)
        self.second_words = Label("No model for a second look yet: one that puts the first hits in a better order.",
                                  role="meta", tone="muted", wrap=True, object_name="models_second_words")
        self.offer = Button("Get one...", kind="link", object_name="models_second_get", tip=SECOND_WORDS)
        self.offer.clicked.connect(lambda: self.get_model("cross-encoder/ms-marco-MiniLM-L6-v2"))
        row.addWidget(self.second_words, 1)
        row.addWidget(self.offer)
        column.addWidget(self.second)
        self.lab = Lab(self.desk)
        column.addWidget(self.lab)
        self.lab.setVisible(self.desk.can("lab"))  # in its place first: alone it would open as a window
        column.addStretch(1)
        area.setWidget(content)
        return area

    # ---- the page

    def activate(self) -> None:
        if not self._models:
            self.reload()
            self.lab.load()
        else:
            self.ask_spaces()
        self._ask_languages()

    def focus_first(self) -> None:
        self.table.setFocus(Qt.FocusReason.OtherFocusReason)

    def save_state(self) -> dict[str, object]:
        return {"lab_seconds": self.lab.took(), "languages_put_away": self._put_away}

    def restore_state(self, state: dict[str, object]) -> None:
        took = state.get("lab_seconds")
        if isinstance(took, dict):
            self.lab.set_took({str(own): float(value) for own, value in took.items()
                               if isinstance(value, int | float) and 0 < value < 1e5})
        away = state.get("languages_put_away")
        self._put_away = away if isinstance(away, str) else ""

    def actions_list(self) -> Sequence[Action]:
        out = [Action("verify_models", "Verify model files", self.verify_files, icon="shield",
                      enabled=lambda: not self._checking)]
        if self.desk.can("add_model"):
            out += [Action("add_model_folder", "Add a model from a folder...", self.ask_folder, icon="folder"),
                    Action("get_model", "Get a model...", self.get_model, icon="get", note="from huggingface.co")]
        if self.desk.can("use_model"):
            out.append(Action("use_model", "Use this model", self.deeds.use_chosen, icon="check", note=self._shown,
                              enabled=lambda: (row := self.chosen_row()) is not None and can_use(row)))
        if self.desk.can("remove_model"):
            out.append(Action("remove_model", "Remove this model", self.deeds.remove_chosen, icon="trash",
                              note=self._shown,
                              enabled=lambda: (row := self.chosen_row()) is not None and can_remove(row)))
        if self.desk.can("lab"):
            out.append(Action("measure_models", "Measure models...", self.lab.ask, icon="gauge",
                              enabled=lambda: bool(self._models) and not self.lab.busy()))
        return out

    # ---- asking

    def reload(self) -> None:
        """Asks for the models and the spaces."""
        self._latest.watch(self.desk.commands.models(), on_finished=self._on_listed)
        self.ask_spaces()

    def ask_spaces(self) -> None:
        """Asks for the spaces of the library."""
        if self.desk.can("spaces"):  # the answer comes as every list of spaces does, whoever asked
            self._spaces_latest.watch(self.desk.commands.spaces())

    def _ask_languages(self) -> None:
        library = self.desk.library
        if library is None or not self.desk.can("unread_languages"):
            return
        now = (library.documents, library.model.name, library.model.fingerprint)
        if now != self._unread_of:
            self._unread_of = now
            self._unread_latest.watch(self.desk.commands.unread_languages(), on_finished=self._on_languages)

    def _on_languages(self, finished: Finished) -> None:
        rows = finished.result
        if not isinstance(rows, tuple) or self.desk.library is None:
            return
        text = unread(cast(tuple[UnreadLanguage, ...], rows), self.desk.library.model)
        if not text or text == self._put_away:
            self.notice_row.hide()
            return
        wanted = {row.code for row in cast(tuple[UnreadLanguage, ...], rows)}
        known = [row for row in self.rows() if can_use(row) and row.model.kind != SECOND
                 and len(wanted & set(row.model.languages)) * 2 > len(wanted)]
        best = max(known, key=lambda row: len(wanted & set(row.model.languages)), default=None)
        if best is not None and self.desk.can("use_model"):
            self.languages.show_text(text, action=f"Use {best.name}", run=lambda: self.deeds.use(best.name))
        elif self.desk.can("add_model"):
            self.languages.show_text(text, action="Get a multilingual model...",
                                     run=lambda: self.get_model(MULTILINGUAL))
        else:
            self.languages.show_text(text)
        self.notice_row.show()

    def _put_notice_away(self) -> None:
        self._put_away = self.languages.label.text()
        self.notice_row.hide()

    # ---- adding

    def ask_folder(self) -> None:
        """Asks for a folder and adds the model in it."""
        chosen = QFileDialog.getExistingDirectory(self, "Choose the folder of a model")
        if chosen:
            self.getting.add(str(Path(chosen)))

    def get_model(self, suggested: str = "") -> None:
        """Offers to get a model from the hub; a name may be suggested."""
        if not self.desk.can("add_model"):
            return
        self._again_for = ""
        sheet = self.window().findChild(GetSheet, "get_model_sheet")
        if sheet is None:
            sheet = GetSheet(self.window())
            sheet.wanted.connect(self._get)
        sheet.ask(suggested)

    def _get(self, source: str) -> None:
        wanted, self._again_for = self._again_for, ""
        row = self.table.row_of(wanted) or self.table.row_of(source.rpartition("/")[2])
        again = row is not None and first_deed(row) == "again"
        self.getting.add(source, again=row.name if row is not None and again else "")

    def _get_again(self, model: ModelView) -> None:
        """Gets a model whose files changed from where it came; from the hub only after the person's click there."""
        if Path(model.source).is_absolute():
            self.getting.add(model.source, again=model.name)
        else:
            self.get_model(model.source or model.name)
            self._again_for = model.name

    def _on_added(self, models: tuple[object, ...], title: str) -> None:
        before = {model.name for model in self._models}
        self.show_models(cast(tuple[ModelView, ...], models))
        new = next((model for model in self._models if model.name not in before), None)
        if new is None:
            self.desk.toast(f"{title} is here")
            return
        self.choose(new.name)
        can = (row := self.chosen_row()) is not None and can_use(row) and self.desk.can("use_model")
        self.desk.toast(f"Added {new.name}", action="Use it" if can else "",
                        run=(lambda: self.deeds.use(new.name)) if can else None)

    # ---- the row chosen

    def chosen(self) -> ModelView | None:
        """Gives the model that the inspector shows."""
        row = self.chosen_row()
        return row.model if row is not None else None

    def chosen_row(self) -> ModelRow | None:
        """Gives the row that the inspector shows."""
        return self.table.row_of(self._shown)

    def choose(self, own: str) -> None:
        """Chooses a model by its name."""
        for at, row in enumerate(self.table.rows_model.rows):
            if model_row(row).name == own:
                self.table.selectRow(at)
                self._on_row_changed(row)

    def _on_row_changed(self, row: object) -> None:
        if row is not None:
            self._shown = model_row(row).name
            self.lab.choose(self._shown)
            self._show_detail()

    def _on_first(self, deed: str) -> None:
        model = self.chosen()
        if deed == "use":
            self.deeds.use_chosen()
        elif deed == "verify":
            self.verify_files()
        elif deed == "cancel":
            self.getting.stop()
        elif model is not None:
            self._get_again(model)

    def _reveal(self) -> None:
        model = self.chosen()
        if model is not None:
            self.desk.start(self.desk.commands.reveal(model.path))

    # ---- verifying

    def verify_files(self) -> None:
        """Checks every file of every model; the table shows what was found."""
        if self._checking:
            return
        self._checking = True
        self._show_detail()
        self._latest.watch(self.desk.commands.verify_models(), on_finished=self._on_verified)

    def _on_listed(self, finished: Finished) -> None:
        if finished.outcome is Outcome.FAILED and finished.failure is not None:
            self._listed = False
            self.failed.set_texts("The models could not be listed", failure_text(finished.failure))
            self.stack.setCurrentWidget(self.failed)
        elif isinstance(finished.result, tuple):
            self.show_models(finished.result)

    def _on_verified(self, finished: Finished) -> None:
        self._checking = False
        if self.desk.report_failure(finished) or not isinstance(finished.result, tuple):
            self._show_detail()
            return
        bad = []
        for model in finished.result:
            if model.state in ("ready", "preparing"):
                self._verified[model.name] = time.time()
            else:
                self._verified.pop(model.name, None)
                bad.append(model.name)
        self.show_models(finished.result)
        text = f"Not usable: {words.listed(bad)}" if bad else "All model files are what they should be"
        self.desk.toast(text)
        announce(self, text)

    # ---- showing

    def show_models(self, models: tuple[ModelView, ...]) -> None:
        """Shows models that were listed."""
        self._models, self._listed = models, True
        self.show_again()

    def rows(self) -> list[ModelRow]:
        """Gives what the table shows, those for a second look last."""
        speeds = self.lab.speeds()
        rows = [ModelRow(model, speeds.get(model.name), self._space_of(model), self._serves(model))
                for model in self._models if model.name not in self.deeds.hidden]
        rows.sort(key=lambda row: row.model.kind == SECOND)
        coming = self.getting.coming()
        if coming is None:
            return rows
        own, fraction = coming
        # one that is fetched anew has its row already
        there = any(row.name == own for row in rows)
        return [replace(row, getting=fraction) if row.name == own else row for row in rows] if there else \
            [*rows, on_its_way(own, fraction)]

    def _space_of(self, model: ModelView) -> SpaceView | None:
        own = [space for space in self.spaces if (space.model or space.name) == model.name]
        order = ("building", "in use", "kept")
        return min(own, key=lambda space: order.index(space.state) if space.state in order else 9, default=None)

    def _serves(self, model: ModelView) -> bool:
        serving = next((space for space in self.spaces if space.state == "in use"), None)
        if model.kind == SECOND or serving is None:
            return model.active
        return (serving.model or serving.name) == model.name

    def show_again(self) -> None:
        """Shows table, inspector and lab anew from what is known."""
        if not self._listed:  # spaces and figures may be known before the models
            return
        rows = self.rows()
        self.table.show_rows(rows)
        second = any(row.model.kind == SECOND for row in rows)
        self.second.setVisible(not second and self.desk.can("add_model"))
        self.stack.setCurrentWidget(self.full if rows else self.none)
        if rows:
            names = [row.name for row in rows]
            self.choose(self._shown if self._shown in names else
                        next((row.name for row in rows if row.serves), names[0]))
        marks = {row.name: "in use" if row.serves else "tuned" for row in rows if row.serves or row.model.base}
        self.lab.set_models([row.model for row in rows if row.getting is None], marks=marks, chosen=self._shown)
        self._fit_head()

    def _show_detail(self) -> None:
        row = self.chosen_row()
        if row is None:
            return
        spaces = tuple(space for space in self.spaces if space.fingerprint not in self.deeds.hidden_spaces)
        self.detail.show_model(Shown(row, self.desk.library, spaces, self._files_words(row), self._checking,
                                     self.desk.has_page("train")))

    def _files_words(self, row: ModelRow) -> str:
        if row.model.state in ("refused", "missing"):
            return "Not what they should be"
        when = self._verified.get(row.name)
        if when is not None:
            return f"Verified {words.ago(when)}"
        return "Checked when loaded" if row.serves else "Not checked yet"

    # ---- hearing

    def _on_spaces(self, finished: Finished) -> None:
        if isinstance(finished.result, tuple):
            changed = finished.result != self.spaces
            in_use = {space.fingerprint for space in self.spaces if space.state == "in use"}
            self.spaces = finished.result
            if in_use and in_use != {space.fingerprint for space in self.spaces if space.state == "in use"}:
                self._latest.watch(self.desk.commands.models(), on_finished=self._on_listed)
            if changed:
                self.show_again()
            self._show_preparing()

    def _show_preparing(self) -> None:
        self.preparing.show_spaces(self.spaces, self.desk.index_progress, may_cancel=self.desk.can("remove_space"))

    def _on_index(self, progress: object) -> None:
        if any(space.state == "building" for space in self.spaces):
            self._show_preparing()
            if self.isVisible() and not self._again.isActive():
                self._again.start()
        if progress is None and self._models:
            self._again.stop()
            self.ask_spaces()

    def _on_library_changed(self, view: LibraryView) -> None:
        state = (view.model.name, view.model.state, view.model.note)
        if self._model_state and state != self._model_state and self._models:
            self.reload()  # the model became ready, or was refused
        elif self._models:
            self._show_detail()
        self._model_state = state
        if self.isVisible():
            self._ask_languages()

    def hideEvent(self, event: object) -> None:
        self._again.stop()
        super().hideEvent(event)  # type: ignore[arg-type]

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_head()

    def _fit_head(self) -> None:
        self.head.give_way(self.second_row, (self.from_folder, self.get))
