"""What stands in place of a pair: no folders, nothing read yet, no model, looking, none left, failed."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from sbert_desktop.app.training_views import Task
from sbert_desktop.app.views import LibraryView
from sbert_desktop.ui.page import failure_text
from sbert_desktop.ui.train.labelling_feed import PairFeed
from sbert_desktop.ui.widgets import EmptyState, SkeletonList, name


class PairStates(QWidget):
    """Shows one of them; each has at most one action."""

    addWanted = Signal()
    libraryWanted = Signal()
    modelsWanted = Signal()
    importWanted = Signal()
    againWanted = Signal()
    otherWanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        name(self, "train_states", "Pairs")
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        self.stack = QStackedWidget()
        self.empty = EmptyState(
            "Teach it what you mean", "Add folders first: pairs of passages from your own documents are shown here, "
            "and you say whether they mean the same.", action="Add folders...", icon="plus", object_name="train_empty")
        self.waiting = EmptyState(
            "Documents are being read", "Pairs come as soon as it is known what the documents are about.",
            action="Go to Library", icon="library", object_name="train_waiting", primary=False)
        self.model = EmptyState(
            "No model is in use", "Pairs are proposed, and trained on, by a model that knows what texts are about.",
            drawing="model", action="Go to Models", icon="models", object_name="train_no_model")
        self.looking = SkeletonList(5, row_height=72, object_name="train_looking")
        self.looking.setAccessibleName("Looking for pairs")
        self.none = EmptyState(
            "No pair is left to judge", "", drawing="done", action="Import pairs...", icon="get",
            object_name="train_none_left", primary=False)
        self.questions = EmptyState(
            "No question is left to judge", "Questions come from what you search for, passages from what was found. "
            "Search for a few things, then come back.", drawing="nothing", action="Judge pairs instead", icon="train",
            object_name="train_no_questions", primary=False)
        self.failed = EmptyState("No pairs could be proposed", "", drawing="problem", action="Try again",
                                 icon="refresh", object_name="train_pairs_failed", primary=False)
        for shown in (self.empty, self.waiting, self.model, self.looking, self.none, self.questions, self.failed):
            self.stack.addWidget(shown)
        column.addWidget(self.stack)
        self.empty.clicked.connect(self.addWanted)
        self.waiting.clicked.connect(self.libraryWanted)
        self.model.clicked.connect(self.modelsWanted)
        self.none.clicked.connect(self.importWanted)
        self.questions.clicked.connect(self.otherWanted)
        self.failed.clicked.connect(self.againWanted)

    def show_state(self, state: str, task: Task, feed: PairFeed, library: LibraryView | None) -> None:
        """Shows a state by its name."""
        match state:
            case "model":
                if library is not None and library.model.note:
                    self.model.sentence.setText(library.model.note)
            case "none" if task is Task.SAME:
                self.none.set_texts("No pair is left to judge", "All that is worth judging in these documents was "
                                    "shown. Add documents, or import pairs that you have elsewhere.")
            case "failed":
                if feed.failure is not None:
                    self.failed.set_texts("No pairs could be proposed", failure_text(feed.failure))
        shown = {"empty": self.empty, "waiting": self.waiting, "model": self.model, "looking": self.looking,
                 "none": self.none if task is Task.SAME else self.questions, "failed": self.failed}[state]
        self.stack.setCurrentWidget(shown)
        if isinstance(shown, EmptyState):
            shown._fit()

    def focus_first(self) -> None:
        """Puts the focus on the one thing that can be done, or keeps it here until there is one."""
        shown = self.stack.currentWidget()
        wanted = shown.button if isinstance(shown, EmptyState) and shown.button is not None else self
        wanted.setFocus(Qt.FocusReason.OtherFocusReason)


def state_of(library: LibraryView | None, feed: PairFeed) -> str:
    """Gives which state is shown in place of a pair; "" while there is one."""
    if feed.current() is not None:
        return ""
    if library is None:
        return "looking"
    if not library.folders:
        return "empty"
    if feed.failure is not None:
        return "failed"
    if library.embedded == 0:
        return "waiting" if library.model.state in ("ready", "preparing") else "model"
    return "none" if feed.exhausted else "looking"
