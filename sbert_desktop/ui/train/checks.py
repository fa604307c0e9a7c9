"""The step in which what was judged is checked: what speaks against it, how it would be learned from, how surely."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from PySide6.QtCore import QRect, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QKeySequence, QPainter, QPaintEvent, QShortcut
from PySide6.QtWidgets import QHBoxLayout, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from sbert_desktop.app.training_views import CheckView, FindingView, ImportedView, LabelsView, Plan, Task
from sbert_desktop.app.views import ModelView
from sbert_desktop.domain import Finished, Outcome, Progress
from sbert_desktop.ui import icons
from sbert_desktop.ui.bridge import Latest
from sbert_desktop.ui.naming import quick_path
from sbert_desktop.ui.page import Action, Desk, failure_text
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.train.checks_options import PlanOptions
from sbert_desktop.ui.train.words import OBJECTIVES, TASKS, brief
from sbert_desktop.ui.widgets import Button, CheckBox, Label, Line, Notice, Panel, SkeletonList, Tag, announce, name
from sbert_desktop.ui.words import between, count, counted

LATER_MS: Final = 250  # a choice may be followed by another
SIDE: Final = 304
LOOK: Final = {"stops": ("warning", "danger", "Stops training"), "warns": ("warning", "warn", "Warning"),
               "tells": ("info", "muted", "Note"), "fine": ("check", "good", "Fine")}
KIND_FIELDS: Final = ("epochs", "batch", "learning_rate", "warm_up", "margin", "seed", "max_tokens", "held_out",
                      "patience", "hard_negatives", "objective", "kind", "base", "name")


class _Sign(QWidget):
    """The icon of a finding."""

    def __init__(self, severity: str) -> None:
        super().__init__()
        self._icon, self._tone, word = LOOK.get(severity, LOOK["tells"])
        self.setAccessibleName(word)
        self.setFixedSize(18, 18)

    def paintEvent(self, event: QPaintEvent) -> None:
        icons.paint(QPainter(self), self._icon, QRect(0, 0, 18, 18), self._tone)


class FindingRow(QWidget):
    """One thing that was found, what to do about it, and where it can be seen."""

    def __init__(self, at: int, finding: FindingView, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        own = f"train_finding_{at}"
        name(self, own, f"{LOOK.get(finding.severity, LOOK['tells'])[2]}: {finding.sentence}", finding.hint)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        row = QHBoxLayout()
        row.setContentsMargins(0, 8, 0, 8)
        row.setSpacing(12)
        words = QVBoxLayout()
        words.setSpacing(2)
        words.addWidget(Label(finding.sentence, role="medium", wrap=True, object_name=f"{own}_text"))
        if finding.hint:
            words.addWidget(Label(finding.hint, role="meta", tone="muted", wrap=True, object_name=f"{own}_hint"))
        row.addWidget(_Sign(finding.severity), 0, Qt.AlignmentFlag.AlignTop)
        row.addLayout(words, 1)
        self.show_button = Button("Show", size="small", object_name=f"{own}_show",
                                  accessible=f"Show the pairs: {finding.sentence}")
        row.addWidget(self.show_button, 0, Qt.AlignmentFlag.AlignTop)
        column.addLayout(row)
        self.show_button.setVisible(bool(finding.rows))  # not before it has a parent: it would be a window
        column.addWidget(Line())


class CheckingStep(QWidget):
    """See the module. ``trainWanted(Plan)``: it may begin; ``rowsWanted(ids)``: judgements that are to be shown."""

    back = Signal()
    importWanted = Signal()
    rowsWanted = Signal(tuple)
    trainWanted = Signal(object)

    def __init__(self, desk: Desk, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.desk = desk
        self.setObjectName("train_checking")
        self._task = Task.SAME
        self._view: CheckView | None = None
        self._labels: dict[Task, LabelsView] = {}
        self._imported: tuple[ImportedView, ...] = ()
        self._left_out: set[Path] = set()
        self._stale = True
        self._latest = Latest(desk.bridge)
        self._models_asked = False
        self._came = False  # the focus waits for the button that is enabled after the checks
        self._boxes: list[CheckBox] = []
        self._later = QTimer(self)
        self._later.setSingleShot(True)
        self._later.setInterval(LATER_MS)
        self._later.timeout.connect(self.check)
        self._build()
        desk.bridge.listen("models", on_finished=self._on_models)
        theme.themeChanged.connect(self._fit)
        self._fit()

    # ---- building

    def _build(self) -> None:
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        self.area = _scroll("train_checks_area", "Checks")
        inner = QWidget()
        inner.setObjectName("train_checks_inner")
        inner.setStyleSheet("#train_checks_inner { background: transparent; }")
        self.area.setWidget(inner)
        column = QVBoxLayout(inner)
        column.setContentsMargins(24, 24, 24, 24)
        column.setSpacing(0)
        self.title = Label("", role="page_title", wrap=True, object_name="train_checks_title")
        self.split = Label("", role="meta", tone="muted", wrap=True, object_name="train_checks_split")
        self.notice = Notice("train_checks_notice")
        column.addWidget(self.title)
        column.addSpacing(4)
        column.addWidget(self.split)
        column.addSpacing(8)
        column.addWidget(self.notice)
        self._build_sources(column)
        column.addSpacing(16)
        column.addWidget(Label("What the checks found", role="section", object_name="train_findings_title"))
        column.addSpacing(4)
        self.loading = SkeletonList(3, row_height=48, object_name="train_checks_loading")
        self.loading.setFixedHeight(144)
        self.loading.setAccessibleName("Checking")
        column.addWidget(self.loading)
        self.findings = QWidget()
        name(self.findings, "train_findings", "What the checks found")
        found = QVBoxLayout(self.findings)
        found.setContentsMargins(0, 0, 0, 0)
        found.setSpacing(0)
        column.addWidget(self.findings)
        column.addSpacing(20)
        column.addWidget(Label("How it learns", role="section", object_name="train_how_title"))
        column.addSpacing(8)
        self.objective = Label("", role="medium", wrap=True, object_name="train_objective_name")
        self.sentence = Label("", wrap=True, object_name="train_objective_sentence")
        self.interval = Label("", tone="muted", wrap=True, object_name="train_interval")
        for label in (self.objective, self.sentence, self.interval):
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            column.addWidget(label)
            column.addSpacing(4)
        column.addStretch(1)
        row.addWidget(self.area, 1)
        row.addWidget(self._build_side())

    def _build_sources(self, column: QVBoxLayout) -> None:
        self.sources = QWidget()
        name(self.sources, "train_sources", "What is learned from")
        inner = QVBoxLayout(self.sources)
        inner.setContentsMargins(0, 8, 0, 0)
        inner.setSpacing(0)
        self.own = CheckBox("My judgements", object_name="train_source_own")
        self.own.setChecked(True)
        self.tables = QVBoxLayout()
        self.tables.setSpacing(0)
        inner.addWidget(self.own, 0, Qt.AlignmentFlag.AlignLeft)
        inner.addLayout(self.tables)
        self.own.toggled.connect(lambda _: self._changed())
        column.addWidget(self.sources)

    def _build_side(self) -> Panel:
        self.side = Panel("surface", lines="left")
        name(self.side, "train_checks_side", "How it is trained")
        column = QVBoxLayout(self.side)
        column.setContentsMargins(1, 0, 0, 0)
        column.setSpacing(0)
        area = _scroll("train_options_area", "How it is trained")
        self.options = PlanOptions()
        holder = QWidget()
        holder.setObjectName("train_options_holder")
        holder.setStyleSheet("#train_options_holder { background: transparent; }")
        inner = QVBoxLayout(holder)
        inner.setContentsMargins(24, 24, 24, 16)
        inner.addWidget(self.options)
        area.setWidget(holder)
        foot = QVBoxLayout()
        foot.setContentsMargins(24, 12, 24, 16)
        foot.setSpacing(8)
        self.state = Tag("", object_name="train_state")
        self.reason = Label("", role="meta", tone="muted", wrap=True, object_name="train_reason")
        self.train_button = Button("Train", kind="primary", size="large", icon="play", object_name="train_start",
                                   tip="Begins to train (Ctrl+Enter)")
        self.back_button = Button("Judge more", object_name="train_back", size="large")
        for button in (self.train_button, self.back_button):
            button.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        buttons = QHBoxLayout()
        buttons.setSpacing(8)
        buttons.addWidget(self.back_button)
        buttons.addWidget(self.train_button, 1)
        foot.addWidget(self.reason)
        foot.addLayout(buttons)
        column.addWidget(area, 1)
        column.addWidget(Line())
        column.addLayout(foot)
        self.options.changed.connect(self._changed)
        self.train_button.clicked.connect(self.train)
        self.back_button.clicked.connect(self.back)
        for keys in ("Ctrl+Return", "Ctrl+Enter"):
            shortcut = QShortcut(QKeySequence(keys), self)
            shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
            shortcut.activated.connect(self.train)
        return self.side

    # ---- for the page

    def activate(self) -> None:
        """Called each time the step comes to the front."""
        if not self._models_asked:
            self._models_asked = True
            self.desk.start(self.desk.commands.models())
        if self._stale or self._view is None:
            self.check()

    def focus_first(self) -> None:
        """Puts the focus on what comes next."""
        self._came = not self.train_button.isEnabled()
        (self.train_button if self.train_button.isEnabled() else self.back_button).setFocus(
            Qt.FocusReason.OtherFocusReason)

    def actions_list(self) -> Sequence[Action]:
        """Gives the step's commands: the page has them."""
        return ()

    def show_task(self, task: Task) -> None:
        """Checks what was judged in a task."""
        if task is not self._task:
            self._task = task
            self._stale = True
        self._show_sources()

    def take_labels(self, view: LabelsView) -> None:
        """Takes note of what was judged."""
        self._labels[view.task] = view
        self._stale = True
        self._show_sources()
        if self.isVisible():
            self._changed()

    def take_imported(self, imported: tuple[ImportedView, ...]) -> None:
        """Takes note of the tables that were taken in."""
        if imported == self._imported:
            return
        self._imported = imported
        self._stale = True
        self._show_sources()
        if self.isVisible():
            self._changed()

    def save_state(self) -> dict[str, object]:
        """Gives the choices that differ from what is usual."""
        usual = Plan()
        plan = replace(self.plan(), name=self.options.name_edit.text())
        return {key: getattr(plan, key) for key in KIND_FIELDS if getattr(plan, key) != getattr(usual, key)}

    def restore_state(self, state: dict[str, object]) -> None:
        """Takes back what :meth:`save_state` gave; what does not fit is left out."""
        usual = Plan()
        kept = {}
        for key in KIND_FIELDS:
            value, own = state.get(key), getattr(usual, key)
            fits = isinstance(value, type(own)) if own is not None else isinstance(value, int | float)
            if key in state and fits and not isinstance(value, bool):
                kept[key] = value
        try:
            self.options.show_plan(replace(usual, **kept))  # type: ignore[arg-type]
        except (KeyError, TypeError, OverflowError):
            self.options.show_plan(usual)

    # ---- checking

    def plan(self) -> Plan:
        """Gives what would be trained, with all choices."""
        tables = tuple(one.path for one in self._fitting() if one.path not in self._left_out)
        own = self.own.isChecked() or not tables
        return self.options.apply(Plan(task=self._task, judgements=own, labels=tables))

    def _fitting(self) -> list[ImportedView]:
        if self._task is Task.ANSWERS:
            return [one for one in self._imported if one.kind in ("relevance", "positives")]
        return [one for one in self._imported if one.kind != "relevance"]

    def check(self) -> None:
        """Checks the plan; the newest answer wins."""
        self._later.stop()
        self._stale = False
        self.notice.hide()
        self._show_busy(True)
        self._latest.watch(self.desk.commands.check_labels(self.plan()), on_progress=self._on_progress,
                           on_finished=self._on_checked)

    def _changed(self) -> None:
        self._stale = True
        if self.isVisible():
            if self.train_button.hasFocus():  # it comes back after the checks
                self.back_button.setFocus(Qt.FocusReason.OtherFocusReason)
                self._came = True
            self.train_button.setEnabled(False)
            self._later.start()

    def _on_progress(self, progress: Progress) -> None:
        self.reason.setText(f"{progress.phase}...")

    def _on_checked(self, finished: Finished) -> None:
        self._latest.job = None
        self._show_busy(False)
        if finished.outcome is Outcome.FAILED and finished.failure is not None:
            self._view = None
            self.notice.show_text(failure_text(finished.failure), action="Check again", run=self.check)
            self._show_view()
        elif isinstance(finished.result, CheckView):
            self._view = finished.result
            waited = self.back_button.hasFocus()
            self._show_view()
            if waited and self._came and self.train_button.isEnabled():
                self.focus_first()
            self._came = False
            announce(self.findings, f"{self.title.text()} {self.reason.text()}")
        else:
            self._stale = True
            self._show_view()

    def may_train(self) -> bool:
        """True when training can begin."""
        return self.train_button.isEnabled()

    def train(self) -> None:
        """Begins."""
        if self.may_train():
            self.trainWanted.emit(self.plan())

    # ---- showing

    def _show_busy(self, busy: bool) -> None:
        first = busy and self._view is None
        self.loading.setVisible(first)
        self.findings.setVisible(not first)
        if busy:
            self.train_button.setEnabled(False)
            self.reason.setText("Checking...")
            if self._view is None:
                self.title.setText("Checking what you judged")
                self.split.setText("")

    def _show_sources(self) -> None:
        view = self._labels.get(self._task)
        judged = len(view.rows) if view is not None else 0
        fitting = self._fitting()
        self.own.setText(f"My judgements ({count(judged)})")
        self.own.setAccessibleName(self.own.text())
        self.own.setEnabled(judged > 0)
        for box in self._boxes:
            self.tables.removeWidget(box)
            box.hide()
            box.deleteLater()
        self._boxes = []
        for at, one in enumerate(fitting):
            text = f"{quick_path(one.name)} ({counted(one.rows, 'row')} from a table)"
            box = CheckBox(text, object_name=f"train_source_{at}")
            box.setChecked(one.path not in self._left_out)
            box.toggled.connect(lambda on, path=one.path: self._on_table(path, on))
            self.tables.addWidget(box, 0, Qt.AlignmentFlag.AlignLeft)
            self._boxes.append(box)
        self.sources.setVisible(bool(fitting))

    def _on_table(self, path: Path, used: bool) -> None:
        (self._left_out.discard if used else self._left_out.add)(path)
        self._changed()

    def _show_view(self) -> None:
        view = self._view
        column = self.findings.layout()
        assert isinstance(column, QVBoxLayout)
        while (item := column.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        if view is None:
            self.title.setText("This could not be checked")
            for label in (self.split, self.objective, self.sentence, self.interval, self.reason):
                label.setText("")
            self.train_button.setEnabled(False)
            return
        units = TASKS[self._task].units if self._task is Task.SAME else "passages"
        self.title.setText(f"{count(view.train)} {units} to learn from, {count(view.held_out)} kept aside")
        self.split.setText("Kept aside are whole documents, so that no text is both learned from and asked about.")
        findings = view.findings or (FindingView("fine", "fine", "Nothing speaks against training.", ""),)
        for at, finding in enumerate(findings):
            row = FindingRow(at, finding)
            row.show_button.clicked.connect(lambda _=False, rows=finding.rows: self.rowsWanted.emit(rows))
            column.addWidget(row)
        words, loss = next(((text, loss) for key, text, loss in OBJECTIVES if key == view.objective),
                           (view.objective, ""))
        self.objective.setText(words)
        self.objective.setToolTip(loss)
        self.objective.setAccessibleDescription(loss)
        self.sentence.setText(view.objective_sentence)
        self.interval.setText(view.interval)
        self._show_foot(view)

    def _show_foot(self, view: CheckView) -> None:
        stops = next((finding for finding in view.findings if finding.severity == "stops"), None)
        read_only = self.desk.library is not None and self.desk.library.read_only
        if read_only:
            self.reason.setText("The library is read-only: nothing can be trained in it.")
        elif not view.may_train:
            self.reason.setText(brief(stops.sentence) if stops is not None else "There is nothing to learn from.")
        elif view.minutes:
            takes = between(60 * view.minutes, 60 * max(view.minutes, view.most_minutes))
            self.reason.setText(f"Takes {takes}. The window may be closed meanwhile.")
        else:
            self.reason.setText("The window may be closed meanwhile.")
        theme.set_tone(self.reason, "muted" if view.may_train and not read_only else "danger")
        self.train_button.setEnabled(view.may_train and not read_only)
        self.train_button.setAccessibleDescription(self.reason.text())

    def _on_models(self, finished: Finished) -> None:
        if isinstance(finished.result, tuple) and all(isinstance(one, ModelView) for one in finished.result):
            self.options.show_models(finished.result)

    def _fit(self) -> None:
        self.side.setFixedWidth(SIDE + max(0, theme.text_scale - 100) * 6 // 5)

    def sizeHint(self) -> QSize:
        return QSize(800, 600)


def _scroll(object_name: str, accessible: str) -> QScrollArea:
    area = QScrollArea()
    area.setWidgetResizable(True)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    name(area, object_name, accessible)
    area.viewport().setAutoFillBackground(False)
    return area
