"""The tab that says in words how well the library can answer."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QApplication, QGridLayout, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from sbert_desktop.app.views import HealthView, LibraryView
from sbert_desktop.domain import Finished, Progress, short_path
from sbert_desktop.ui import words
from sbert_desktop.ui.bridge import Latest
from sbert_desktop.ui.library.restoring import RestoreLine
from sbert_desktop.ui.library.welcome import IconMark
from sbert_desktop.ui.page import Desk
from sbert_desktop.ui.widgets import Button, Label, ProgressBar, announce, name, plain_tip

ENOUGH = 0.95  # of the ten best hits: the window calls that good

Statement = tuple[str, str, str, str]  # icon, tone, sentence, detail


def statements(view: LibraryView, health: HealthView | None = None) -> list[Statement]:
    """Gives the health of a library as sentences, the important ones first."""
    out: list[Statement] = [("warning", "warn", notice, "") for notice in view.notices]
    if view.read_only:
        out.append(("info", "warn", "The library is read-only: it can be searched but not changed.", ""))
    if view.model.state in ("refused", "missing"):
        out.append(("warning", "danger", f"The model is {view.model.state}: search goes on by words only.",
                    view.model.note))
    elif view.model.state == "preparing":
        out.append(("clock", "muted", "The model is being prepared; until then search goes by words.", ""))
    if view.passages == 0:
        out.append(("info", "muted", "There is nothing to find yet.", ""))
    elif view.embedded >= view.passages:
        out.append(("check", "good",
                    f"All {words.counted(view.passages, 'passage')} can be found by words and by meaning.", ""))
    else:
        out.append(("clock", "muted", f"{words.count(view.embedded)} of {words.counted(view.passages, 'passage')} "
                    "can be found by meaning, all of them by words.", "The rest follows while indexing runs."))
    index = view.index
    if health is not None and health.recall_at_10 is not None:
        pass  # what was measured just now is said above
    elif index.kind == "exact":
        out.append(("check", "good", "Every search compares with every passage: nothing is missed.",
                    f"Exact search over {words.counted(index.rows, 'vector')}"))
    elif index.recall_at_10 is not None:
        found = round(index.recall_at_10 * 100)
        out.append(("check" if found >= 95 else "warning", "good" if found >= 95 else "warn",
                    f"The search accelerator finds {found} of 100 of the best hits.",
                    f"{index.kind}, {words.counted(index.rows, 'vector')}, recall at 10: {index.recall_at_10:.3f}"))
    else:
        out.append(("check", "good", "A search accelerator is in use.",
                    f"{index.kind}, {words.count(index.rows)} vectors"))
    if index.notice:
        out.append(("info", "muted", index.notice, ""))
    away = [short_path(folder.path) for folder in view.folders if folder.state == "offline"]
    if away:
        out.append(("disk", "warn", f"Not connected: {words.listed(away)}.",
                    "What was read there stays findable by its stored text."))
    if view.problems:
        out.append(("warning", "warn", f"{words.counted(view.problems, 'file')} could not be read, or only in part.",
                    "They are listed under Problems."))
    return out


def measured(health: HealthView) -> Statement:
    """Gives what a measurement found, in words."""
    good = not health.repairable and (health.recall_at_10 is None or health.recall_at_10 >= ENOUGH)
    queries = f"Measured with {words.counted(health.queries, 'search', 'searches')} against every passage"
    return ("check" if good else "warning", "good" if good else "warn", health.words,
            queries if health.queries else "")


class HealthTab(QScrollArea):
    """Sentences with a sign, details in meta under each; what was measured, and Repair when it helps."""

    def __init__(self, desk: Desk, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        name(self, "library_health", "Index health")
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._desk = desk
        self._latest = Latest(desk.bridge)
        self._repairing = Latest(desk.bridge)
        self._view: LibraryView | None = None
        self._health: HealthView | None = None
        self._measured_at: tuple[int, int] | None = None  # what the library held when it was measured
        self._stale = False
        self.again = Button("Measure again", icon="refresh", object_name="health_measure",
                            tip="Compare the accelerator with a search through everything")
        self.repair = Button("Repair", kind="primary", icon="shield", object_name="health_repair",
                             tip="Build the accelerator anew and drop what belongs to nothing; search goes on")
        self.bar = ProgressBar(object_name="health_bar", accessible="Repair")
        self.bar.setFixedWidth(160)
        self.said = Label("", tone="muted", object_name="health_said")
        self.kept = RestoreLine(desk)
        self.tools = QWidget()
        self.tools.setObjectName("health_tools")
        row = QHBoxLayout(self.tools)
        row.setContentsMargins(0, 4, 0, 8)
        row.setSpacing(12)
        for widget in (self.repair, self.again, self.bar, self.said):
            row.addWidget(widget)
        row.addStretch(1)
        self.again.clicked.connect(lambda: self.measure(again=True))
        self.repair.clicked.connect(self.start_repair)
        self._fit_tools()

    def set_library(self, view: LibraryView) -> None:
        """Says how this library is."""
        if view != self._view:
            self._view = view
            self._stale = True
        if self._stale and self.isVisible():
            self._build(view)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._stale and self._view is not None:
            self._build(self._view)

    # ---- measuring and repairing

    def measure(self, *, again: bool = False) -> None:
        """Measures, unless this state of the library was measured already."""
        view = self._view
        if view is None or not self._desk.can("health") or self._latest.job or self._repairing.job:
            return
        now = (view.passages, view.embedded)
        if again or self._measured_at != now:
            self._measured_at = now
            self.kept.look()
            self._latest.watch(self._desk.commands.health(), on_finished=self._on_measured)
            self._fit_tools()

    def _on_measured(self, finished: Finished) -> None:
        self._latest.job = None
        if not self._desk.report_failure(finished) and isinstance(finished.result, HealthView):
            self._take(finished.result)
        self._fit_tools()

    def _take(self, health: HealthView) -> None:
        self._health = health
        self._stale = True
        if self._view is not None and self.isVisible():
            self._build(self._view)
        announce(self, health.words)

    def start_repair(self) -> None:
        """Builds the accelerator anew; the tab follows."""
        if self._repairing.job is None and self._desk.can("repair"):
            self.bar.set_fraction(None)
            self._repairing.watch(self._desk.commands.repair(), on_progress=self._on_progress,
                                  on_finished=self._on_repaired)
            self._fit_tools()

    def _on_progress(self, progress: Progress) -> None:
        self.bar.set_fraction(progress.done / progress.total if progress.total else None)
        if progress.phase:
            self.said.setText(f"{progress.phase}...")

    def _on_repaired(self, finished: Finished) -> None:
        self._repairing.job = None
        # a run of the program: the window itself tells when it failed
        if isinstance(finished.result, HealthView):
            self._take(finished.result)
            waiting = finished.result.waiting
            self._desk.toast(f"Repaired; {words.counted(waiting, 'passage')} get their vectors now" if waiting
                             else "Repaired: every search uses the new accelerator")
        self._fit_tools()

    def _fit_tools(self) -> None:
        busy, repairing = self._latest.job is not None, self._repairing.job is not None
        read_only = self._view is not None and self._view.read_only
        wanted = self._health is not None and self._health.repairable and not read_only and self._desk.can("repair")
        self.repair.setVisible(wanted and not repairing)
        self.again.setVisible(not busy and not repairing)
        self.bar.setVisible(repairing)
        self.said.setVisible(busy or repairing)
        self.said.setText("Repairing; search goes on..." if repairing else "Measuring..." if busy else "")
        if self.tools.parentWidget() is not None:  # alone it would be a window
            self.tools.setVisible(self._desk.can("health"))

    # ---- showing

    def _build(self, view: LibraryView) -> None:
        # some dozens of labels: made only while somebody looks at them
        self._stale = False
        focus = self.tools.isAncestorOf(QApplication.focusWidget() or self)
        self.tools.setParent(None)  # they outlive the labels around them
        self.kept.setParent(None)
        content = QWidget()
        content.setObjectName("library_health_content")
        column = QVBoxLayout(content)
        column.setContentsMargins(16, 16, 16, 16)
        column.setSpacing(12)
        grid = QGridLayout()
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(2)
        grid.setColumnStretch(1, 1)
        row = 0
        found = [measured(self._health)] if self._health is not None else []
        for icon, tone, sentence, detail in (*found, *statements(view, self._health)):
            grid.addWidget(IconMark(icon, tone, 18), row, 0, Qt.AlignmentFlag.AlignTop)
            grid.addWidget(Label(sentence, role="medium", wrap=True), row, 1)
            if detail:
                grid.addWidget(Label(detail, role="meta", tone="muted", wrap=True), row + 1, 1)
            grid.setRowMinimumHeight(row + 2, 8)
            row += 3
        column.addLayout(grid)
        column.addWidget(self.tools)
        column.addWidget(self.kept)
        column.addWidget(Label("Details", role="section"))
        facts = QGridLayout()
        facts.setHorizontalSpacing(16)
        facts.setVerticalSpacing(8)
        facts.setColumnStretch(1, 1)
        for at, (head, value) in enumerate((*details(view), *counts(self._health))):
            facts.addWidget(Label(head, tone="muted"), at, 0, Qt.AlignmentFlag.AlignTop)
            label = Label(value, wrap=True)
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            label.setToolTip(plain_tip(value))
            facts.addWidget(label, at, 1, Qt.AlignmentFlag.AlignTop)
        column.addLayout(facts)
        column.addStretch(1)
        self.setWidget(content)
        self._fit_tools()
        self.kept.fit()
        if focus:
            (self.again if self.again.isVisibleTo(self.tools) else self).setFocus(Qt.FocusReason.OtherFocusReason)


def counts(health: HealthView | None) -> list[tuple[str, str]]:
    """Gives what a measurement counted."""
    if health is None:
        return []
    recall = "" if health.recall_at_10 is None else f"{health.recall_at_10:.3f}"
    rows = [("Recall at 10", recall)] if recall else []
    return [*rows, ("Rows alive", words.count(health.rows)), ("Rows dead", words.count(health.dead)),
            ("Rows without a passage", words.count(health.orphans))]


def model_words(view: LibraryView) -> str:
    """Gives the model with its measures, as far as they are known yet."""
    model = view.model
    if not model.dimension:
        return model.name
    return f"{model.name}, {model.dimension} dimensions, {model.max_tokens} tokens at most"


def details(view: LibraryView) -> list[tuple[str, str]]:
    """Gives the technical facts."""
    rows = [("Library", short_path(view.path)), ("Documents", words.count(view.documents)),
            ("Passages", f"{words.count(view.passages)}, {words.count(view.embedded)} with a vector"),
            ("Model", model_words(view))]
    runs = ", ".join(part for part in (view.device, view.backend, view.precision) if part)
    if runs:
        rows.append(("Runs on", runs))
    if view.formats:
        rows.append(("Formats", ", ".join(view.formats)))
    if view.languages:
        rows.append(("Languages", ", ".join(view.languages)))
    return rows
