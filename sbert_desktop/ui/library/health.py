"""The tab that says in words how well the library can answer."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QGridLayout, QScrollArea, QVBoxLayout, QWidget

from sbert_desktop.app.views import LibraryView
from sbert_desktop.domain import short_path
from sbert_desktop.ui import words
from sbert_desktop.ui.library.welcome import IconMark
from sbert_desktop.ui.widgets import Label, name, plain_tip

Statement = tuple[str, str, str, str]  # icon, tone, sentence, detail


def statements(view: LibraryView) -> list[Statement]:
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
    if index.kind == "exact":
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


class HealthTab(QScrollArea):
    """Sentences with a sign, details in meta under each."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        name(self, "library_health", "Index health")
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._view: LibraryView | None = None
        self._stale = False

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

    def _build(self, view: LibraryView) -> None:
        # some dozens of labels: made only while somebody looks at them
        self._stale = False
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
        for icon, tone, sentence, detail in statements(view):
            grid.addWidget(IconMark(icon, tone, 18), row, 0, Qt.AlignmentFlag.AlignTop)
            grid.addWidget(Label(sentence, role="medium", wrap=True), row, 1)
            if detail:
                grid.addWidget(Label(detail, role="meta", tone="muted", wrap=True), row + 1, 1)
            grid.setRowMinimumHeight(row + 2, 8)
            row += 3
        column.addLayout(grid)
        column.addWidget(Label("Details", role="section"))
        facts = QGridLayout()
        facts.setHorizontalSpacing(16)
        facts.setVerticalSpacing(8)
        facts.setColumnStretch(1, 1)
        for at, (head, value) in enumerate(details(view)):
            facts.addWidget(Label(head, tone="muted"), at, 0, Qt.AlignmentFlag.AlignTop)
            label = Label(value, wrap=True)
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            label.setToolTip(plain_tip(value))
            facts.addWidget(label, at, 1, Qt.AlignmentFlag.AlignTop)
        column.addLayout(facts)
        column.addStretch(1)
        self.setWidget(content)


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
