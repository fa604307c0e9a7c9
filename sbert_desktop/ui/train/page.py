"""The Train page: judge, check, train, compare, adopt, one step after the other."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from PySide6.QtGui import QDragEnterEvent, QDragMoveEvent, QHideEvent, QResizeEvent
from PySide6.QtWidgets import QApplication, QFileDialog, QLineEdit, QStackedWidget, QVBoxLayout, QWidget

from sbert_desktop.app.training_views import ComparisonView, ImportedView, LabelsView, Plan, RunView, Task
from sbert_desktop.domain import Finished, Outcome
from sbert_desktop.ui.drop import local_paths
from sbert_desktop.ui.page import Action, Desk, Page, PageHead
from sbert_desktop.ui.saving import ask_target
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.train.checks import CheckingStep
from sbert_desktop.ui.train.comparing import ComparingStep
from sbert_desktop.ui.train.history_sheet import open_history
from sbert_desktop.ui.train.import_sheet import open_import
from sbert_desktop.ui.train.labelling import LabellingStep
from sbert_desktop.ui.train.page_actions import page_actions
from sbert_desktop.ui.train.running import RunningStep
from sbert_desktop.ui.train.stepper import Step, Stepper
from sbert_desktop.ui.train.table_drop import TableDrop
from sbert_desktop.ui.widgets import Button, FlowLayout, Line, StyledWidget

STEPS: Final = (Step("judge", "Judge"), Step("check", "Check"), Step("train", "Train"), Step("compare", "Compare"),
                Step("adopt", "Adopt", goal=True))
TABLES: Final = "Tables (*.csv *.tsv *.txt);;All files (*)"


class TrainPage(Page):
    """See the module."""

    key = "train"
    title = "Train"
    icon = "train"

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._step = "judge"
        self._adopted = False
        self._comparison: ComparisonView | None = None
        self._runs: tuple[RunView, ...] = ()
        self.imported: tuple[ImportedView, ...] = ()
        self._asked = False
        self._told_runs = False
        self._build()
        self._connect()
        self._show_steps()

    # ---- building

    def _build(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        self.head = PageHead("Train", "train_title")
        self.stepper = Stepper(STEPS)
        self.import_button = Button("Import pairs...", icon="get", object_name="train_import",
                                    tip="Takes in pairs that you have elsewhere, from a table. "
                                        "One can be dropped on the page, too")
        self.head.row.addWidget(self.stepper)
        self.head.row.addStretch(1)
        self.below = StyledWidget()
        self.below.setObjectName("train_below")
        FlowLayout(self.below, gap=8).setContentsMargins(16, 0, 16, 8)
        self.below.hide()
        self.stack = QStackedWidget()
        self.stack.setObjectName("train_stack")
        self.labelling = LabellingStep(self.desk)
        self.checking = CheckingStep(self.desk)
        self.running = RunningStep(self.desk)
        self.comparing = ComparingStep(self.desk)
        self.steps: dict[str, LabellingStep | CheckingStep | RunningStep | ComparingStep] = {
            "judge": self.labelling, "check": self.checking, "train": self.running, "compare": self.comparing}
        self._buttons: dict[str, tuple[QWidget, ...]] = {
            "judge": (self.import_button,), "check": (), "train": tuple(self.running.head_widgets()),
            "compare": tuple(self.comparing.head_widgets())}
        for buttons in self._buttons.values():
            for button in buttons:
                self.head.row.addWidget(button)
        for step in self.steps.values():
            self.stack.addWidget(step)
        for part in (self.head, self.below, Line()):
            column.addWidget(part)
        column.addWidget(self.stack, 1)
        self.drop = TableDrop(self)
        self.setAcceptDrops(True)
        for edit in self.findChildren(QLineEdit):
            edit.setAcceptDrops(False)  # a dropped file is a table, not its address

    def _connect(self) -> None:
        self.stepper.chosen.connect(self.show_step)
        self.stack.currentChanged.connect(
            lambda _: self.labelling.preview.close() if self.stack.currentWidget() is not self.labelling else None)
        self.import_button.clicked.connect(self.import_pairs)
        self.drop.offered.connect(self.take_tables)
        self.drop.dropped.connect(self.desk.add_folders)
        labelling, checking, running, comparing = self.labelling, self.checking, self.running, self.comparing
        labelling.changed.connect(self._on_labels)
        labelling.checkWanted.connect(lambda: self.show_step("check"))
        labelling.historyWanted.connect(self.show_history)
        labelling.importWanted.connect(self.import_pairs)
        checking.back.connect(lambda: self.show_step("judge"))
        checking.importWanted.connect(self.import_pairs)
        checking.rowsWanted.connect(lambda rows: self.show_history(rows=rows))
        checking.trainWanted.connect(self.train)
        running.back.connect(lambda: self.show_step("check"))
        running.finished.connect(self._on_trained)
        running.wanted.connect(self._compare)
        running.broke.connect(self._on_broke)
        running.runningChanged.connect(lambda _: self._show_steps())
        comparing.back.connect(lambda: self.show_step("train"))
        comparing.adopted.connect(self._on_adopted)
        comparing.discarded.connect(self._on_discarded)
        comparing.deeds.undone.connect(lambda _run: self._on_undone())
        bridge = self.desk.bridge
        bridge.listen("trainings", on_finished=self._on_runs)
        for kind in ("imported-labels", "import-labels"):
            bridge.listen(kind, on_finished=self._on_imported)
        theme.themeChanged.connect(self._fit_head)

    # ---- for the window

    def activate(self) -> None:
        if not self._asked and self.desk.library is not None:
            self._asked = True
            self.desk.start(self.desk.commands.trainings())
            self.desk.start(self.desk.commands.imported_labels())
        self.steps[self._step].activate()
        self._fit_head()

    def focus_first(self) -> None:
        self.steps[self._step].focus_first()

    def actions_list(self) -> Sequence[Action]:
        return page_actions(self)

    def save_state(self) -> dict[str, object]:
        return {"task": self.labelling.task.value, "graded": self.labelling.graded.isChecked(),
                "plan": self.checking.save_state()}

    def restore_state(self, state: dict[str, object]) -> None:
        self.labelling.set_graded(state.get("graded") is True)
        if state.get("task") == Task.ANSWERS.value:
            self.labelling.show_task(Task.ANSWERS)
        plan = state.get("plan")
        if isinstance(plan, dict):
            self.checking.restore_state(plan)

    def take_among(self, contents: tuple[int, ...], label: str) -> None:
        """Judges pairs of these documents only."""
        self.show_step("judge")
        self.labelling.judge_among(contents, label)

    # ---- steps

    def step(self) -> str:
        """Gives the step in front."""
        return self._step

    def show_step(self, key: str) -> None:
        """Goes to a step."""
        if key not in self.steps or self._blocked().get(key):
            return
        if key == "check":
            self.checking.show_task(self.labelling.task)
        focus = QApplication.focusWidget()  # none: it went with the message whose button was pressed
        had_focus = focus is None or self.isAncestorOf(focus)
        self._step = key
        self.stack.setCurrentWidget(self.steps[key])
        self._show_steps()
        if self.isVisible():
            self.steps[key].activate()
            if had_focus:
                self.focus_first()

    def _blocked(self) -> dict[str, str]:
        blocked = {}
        view = self.labelling.view()
        if (view is None or not view.rows) and not self.imported:
            blocked["check"] = "Judge or import some pairs first"
        if not (self.running.running() or self.running.tells_failure() or self._runs or self._step == "train"):
            blocked["train"] = "Nothing was trained yet"
        if self._comparison is None:
            blocked["compare"] = "There is nothing to compare yet"
        blocked.pop(self._step, None)
        return blocked

    def _done(self) -> set[str]:
        done = set()
        view = self.labelling.view()
        if self._step != "judge" and ((view is not None and not view.left and view.total) or self.imported or
                                      self._step in ("train", "compare")):
            done.add("judge")
        if self._step in ("train", "compare"):
            done.add("check")
        if self._comparison is not None and not self.running.running():
            done.add("train")
        if self._adopted:
            done |= {"compare", "adopt"}
        return done

    def _show_steps(self) -> None:
        self.stepper.show_steps(self._step, self._done(), self._blocked())
        for key, buttons in self._buttons.items():
            for button in buttons:
                button.setVisible(key == self._step)
        self._fit_head()

    def _fit_head(self) -> None:
        buttons = [button for button in self._buttons[self._step] if not button.isHidden()]
        used = sum(button.sizeHint().width() + 12 for button in buttons)
        first = self.head.row.itemAt(0)
        title = first.widget() if first is not None else None
        assert title is not None
        self.stepper.fit(self.width() - 32 - title.sizeHint().width() - 24 - used)
        if buttons:
            self.head.give_way(self.below, buttons)
        else:
            self.below.hide()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_head()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        for feed in self.labelling.feeds.values():
            feed.stop()

    # ---- what happens

    def _on_labels(self, view: LabelsView) -> None:
        self.checking.take_labels(view)
        self._show_steps()

    def _on_imported(self, finished: Finished) -> None:
        if finished.outcome is Outcome.DONE and isinstance(finished.result, tuple):
            self.imported = tuple(one for one in finished.result if isinstance(one, ImportedView))
            self.labelling.side.show_imported(sum(one.rows for one in self.imported))
            self.checking.take_imported(self.imported)
            self._show_steps()

    def _on_runs(self, finished: Finished) -> None:
        if finished.outcome is not Outcome.DONE or not isinstance(finished.result, tuple):
            return
        first = not self._told_runs
        self._told_runs = True
        self._runs = tuple(one for one in finished.result if isinstance(one, RunView))
        cut = next((one for one in self._runs if one.state == "interrupted"), None)
        if first and cut is not None and not self.running.running() and self._step != "train":
            self.desk.toast(f"{cut.name} was broken off and can go on where it stopped.", action="Show",
                            run=lambda: self.show_step("train"))
        if self._comparison is None or all(one.run != self._comparison.run for one in self._runs):
            newest = next((one for one in self._runs if one.comparison is not None and one.state == "trained"), None)
            self._comparison = newest.comparison if newest is not None else None
            if newest is not None and newest.comparison is not None:
                self.comparing.show_comparison(newest.comparison)
        self._show_steps()

    def train(self, plan: Plan) -> None:
        """Trains, and shows how it goes."""
        self._adopted = False
        self._step = "train"
        self.stack.setCurrentWidget(self.running)
        self.running.start(plan)
        self.running.activate()
        self.running.focus_first()
        self._show_steps()

    def _on_trained(self, comparison: ComparisonView) -> None:
        if self._step == "train":
            self._compare(comparison)
            if self.isVisible():
                return
        elif self._step != "compare":  # what is being read is not put aside for it
            self._take(comparison)
        self.desk.toast(f"{comparison.name} is trained.", action="Compare", run=lambda: self._show(comparison))
        self._show_steps()

    def _on_broke(self, why: str) -> None:
        self._show_steps()
        if self._step != "train" or not self.isVisible():
            self.desk.toast(f"The training failed. {why}", action="Show", run=self._show_training)

    def _show_training(self) -> None:
        self.desk.show_page(self.key)
        self.show_step("train")

    def _take(self, comparison: ComparisonView) -> None:
        self._comparison = comparison
        self._adopted = False
        self.comparing.show_comparison(comparison)

    def _compare(self, comparison: ComparisonView) -> None:
        self._take(comparison)
        self.show_step("compare")
        self._show_steps()

    def _show(self, comparison: ComparisonView) -> None:
        self.desk.show_page(self.key)
        self._compare(comparison)

    def can_compare(self) -> bool:
        """True when a comparison can be gone to."""
        return self._comparison is not None and self._step != "compare"

    def _on_adopted(self) -> None:
        self._adopted = True
        self._show_steps()

    def _on_undone(self) -> None:
        self._adopted = False
        self._show_steps()

    def _on_discarded(self) -> None:
        self._comparison = None
        self._adopted = False
        self.show_step("judge")
        self._show_steps()

    # ---- sheets

    def show_history(self, row: str = "", rows: tuple[str, ...] = ()) -> None:
        """Shows all judgements; ``row`` chooses one, ``rows`` shows only some."""
        open_history(self.window(), self, row, rows)

    def import_pairs(self) -> None:
        """Asks for a table and shows what would be taken in."""
        open_import(self.window(), self)

    def take_tables(self, paths: tuple[Path, ...]) -> None:
        """Shows what would be taken in from what was dropped."""
        open_import(self.window(), self, paths)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        paths = local_paths(event.mimeData())
        if paths and event.source() is None:  # what is dragged out of the window is no table of judgements
            event.acceptProposedAction()
            self.drop.offer(paths)
        else:
            event.ignore()

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        event.acceptProposedAction()

    def ask_table(self) -> str:
        """Asks for the file of a table; "" when the person changed their mind."""
        return QFileDialog.getOpenFileName(self, "Import pairs", "", TABLES)[0]

    def export_judgements(self) -> None:
        """Asks where to, and writes the judgements of the task in front."""
        target = ask_target(self, "Export judgements", f"judgements-{self.labelling.task.value}.csv",
                            (("Table", ".csv"),))
        if target is not None:
            self.desk.start(self.desk.commands.export_labels(self.labelling.task, target),
                            lambda _: self.desk.toast(f"Exported to {target.name}"))

    def foot(self) -> int:
        return 84 if self._step == "judge" else 64
