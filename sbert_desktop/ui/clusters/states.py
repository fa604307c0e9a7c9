"""What the Clusters page shows before there are clusters."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from sbert_desktop.app.views import LibraryView
from sbert_desktop.ui.clusters.column import Working
from sbert_desktop.ui.clusters.finder import ClusterFinder
from sbert_desktop.ui.clusters.words import documents
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.widgets import Drawing, EmptyState, Label, Panel, name


class StartStates(Panel):
    """No folders, nothing that has a meaning yet, too little, finding for the first time, failed."""

    lookWanted = Signal()
    addWanted = Signal()
    libraryWanted = Signal()
    modelsWanted = Signal()
    backWanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("surface", parent=parent)
        name(self, "clusters_states", "Clusters")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        self.stack = QStackedWidget()
        self.stack.setObjectName("clusters_states_stack")
        column.addWidget(self.stack)
        self.empty = EmptyState("No folders yet", "Add a folder, and its documents are sorted here by what they are "
                                "about.", action="Add folder...", icon="folder", object_name="clusters_empty")
        self.waiting = EmptyState("Documents are still being read", "", action="Go to Library", icon="library",
                                  object_name="clusters_waiting", primary=False)
        self.model = EmptyState("No model yet", "", action="Go to Models", icon="models", drawing="model",
                                object_name="clusters_no_model")
        self.little = EmptyState("Too little to sort", "", action="Go to Library", icon="library",
                                 drawing="nothing", object_name="clusters_little", primary=False)
        self.never = EmptyState("What your documents are about", "", action="Find clusters", icon="clusters",
                                object_name="clusters_never")
        self.failed = EmptyState("The clusters could not be found", "", action="Try again", drawing="problem",
                                 object_name="clusters_failed")
        self.busy = self._build_busy()
        for widget in (self.never, self.empty, self.waiting, self.model, self.little, self.failed, self.busy):
            self.stack.addWidget(widget)
        self.empty.clicked.connect(self.addWanted)
        self.waiting.clicked.connect(self.libraryWanted)
        self.little.clicked.connect(self._on_little)
        self.model.clicked.connect(self.modelsWanted)
        self.never.clicked.connect(self.lookWanted)
        self.failed.clicked.connect(self.lookWanted)
        theme.themeChanged.connect(self._fit)
        self._among = False
        self._fit()

    def _build_busy(self) -> QWidget:
        busy = QWidget()
        busy.setObjectName("clusters_busy")
        column = QVBoxLayout(busy)
        column.setContentsMargins(24, 24, 24, 24)
        column.setSpacing(8)
        column.addStretch(1)
        column.addWidget(Drawing("nothing"), 0, Qt.AlignmentFlag.AlignHCenter)
        self.busy_title = Label("Finding clusters", role="page_title", wrap=True, object_name="clusters_busy_title")
        self.busy_title.setAlignment(Qt.AlignmentFlag.AlignCenter)
        column.addSpacing(8)
        column.addWidget(self.busy_title)
        self.working = Working("clusters_finding")
        column.addWidget(self.working, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addStretch(1)
        return busy

    def show_state(self, state: str, sentence: str = "", *, number: int = 0, among: bool = False) -> None:
        """Shows one of the states by its name."""
        self._among = among
        match state:
            case "waiting":
                self.waiting.sentence.setText(sentence)
            case "model":
                self.model.sentence.setText(sentence)
            case "little":
                button = self.little.button
                assert button is not None
                button.setText("Back to all clusters" if among else "Go to Library")
                button.set_icon("clusters" if among else "library")
                self.little.sentence.setText(sentence)
            case "never":
                self.never.sentence.setText(f"{documents(number)} can be sorted by what they are about. "
                                            "Files stay where they are.")
            case "failed":
                self.failed.set_texts("The clusters could not be found", sentence)
            case "busy":
                self.busy_title.setText(sentence or "Finding clusters")
        shown = {"empty": self.empty, "waiting": self.waiting, "model": self.model, "little": self.little,
                 "never": self.never, "failed": self.failed, "busy": self.busy}[state]
        self.stack.setCurrentWidget(shown)
        if isinstance(shown, EmptyState):
            shown._fit()

    def is_failed(self) -> bool:
        """True while the failure is shown."""
        return self.stack.currentWidget() is self.failed

    def focus_first(self) -> None:
        """Puts the focus on the one thing that can be done."""
        shown = self.stack.currentWidget()
        button = shown.button if isinstance(shown, EmptyState) else self.working.cancel
        if button is not None:
            button.setFocus(Qt.FocusReason.OtherFocusReason)

    def _on_little(self) -> None:
        (self.backWanted if self._among else self.libraryWanted).emit()

    def _fit(self) -> None:
        self.working.setFixedWidth(min(560, 440 * max(100, theme.text_scale) // 100))


def state_of(library: LibraryView | None, finder: ClusterFinder, failed: str) -> tuple[str, str]:
    """Gives which state is shown instead of clusters, "" for none, and its sentence."""
    view = finder.view
    if library is not None and not library.folders and not finder.scope:
        return "empty", ""
    if view is not None and (view.themes or view.unsorted):
        return "", ""
    if finder.looking:
        return "busy", f"Finding clusters in {finder.scope_label}" if finder.scope else ""
    if failed:
        return "failed", failed
    if view is not None and view.waiting and not view.documents:
        return "waiting", (f"{documents(view.waiting)} wait to be read. They are sorted here as soon as it is known "
                           "what they are about.")
    if view is not None:
        return "little", view.note or "There are too few documents to sort."
    if library is not None and library.embedded == 0 and library.documents:
        if library.model.state in ("ready", "preparing"):
            return "waiting", "They are sorted here as soon as it is known what they are about."
        return "model", library.model.note or "Clusters need a model that knows what documents are about."
    return "never", ""
