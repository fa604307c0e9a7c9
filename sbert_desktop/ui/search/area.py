"""What stands under the filters: results, or the state that explains why there are none."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QStackedWidget, QWidget

from sbert_desktop.app.views import LibraryView, SearchView
from sbert_desktop.domain import Failure, Mode
from sbert_desktop.ui.search.filters import among_words
from sbert_desktop.ui.search.model import ResultModel
from sbert_desktop.ui.search.result_list import ResultList
from sbert_desktop.ui.search.start import StartPanel
from sbert_desktop.ui.theme import Theme
from sbert_desktop.ui.widgets import EmptyState, SkeletonList
from sbert_desktop.ui.words import counted

ADD_FIRST = "Add a folder, and its documents can be found here within seconds."


class _State(EmptyState):
    """An empty state whose sentence may take several lines."""

    def set_texts(self, title: str, sentence: str) -> None:
        super().set_texts(title, sentence)
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        # a centred label of fixed width is given one line by the layout, however many it needs
        self.sentence.setMinimumHeight(max(0, self.sentence.heightForWidth(self.sentence.maximumWidth())))


class ResultArea(QStackedWidget):
    """Results, start, loading, three kinds of nothing, failure; one at a time."""

    changed = Signal(bool)  # True while the results are shown

    def __init__(self, model: ResultModel, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("search_area")
        self.list = ResultList(model, theme, self)
        self.start = StartPanel(theme, self)
        self.skeleton = SkeletonList(6, row_height=105, object_name="search_loading")
        self.empty_filters = _State("Nothing found with these filters",
                                    "The filters leave no document that fits. Clear them to search everything.",
                                    action="Clear filters", icon="close", drawing="nothing",
                                    object_name="search_empty_filters")
        self.empty_library = _State("Nothing to search yet", ADD_FIRST, action="Go to Library", icon="library",
                                    object_name="search_empty_library")
        self.empty_words = _State("Nothing found", "", drawing="nothing", object_name="search_empty_words")
        self.failed = _State("The search did not work", "", action="Try again", icon="refresh", drawing="problem",
                             object_name="search_failed")
        for widget in (self.list, self.start, self.skeleton, self.empty_filters, self.empty_library, self.empty_words,
                       self.failed):
            self.addWidget(widget)

    def show_only(self, widget: QWidget) -> None:
        """Shows one of the states."""
        self.setCurrentWidget(widget)
        self.changed.emit(widget is self.list)

    @property
    def has_results(self) -> bool:
        """True while the list is shown."""
        return self.currentWidget() is self.list

    def show_nothing(self, view: SearchView, library: LibraryView | None) -> None:
        """Explains an answer without documents, and offers what helps."""
        if view.passages == 0 and (library is None or library.documents == 0):
            self.show_only(self.empty_library)
            self.empty_library.set_texts("Nothing to search yet", ADD_FIRST)
        elif view.filters.contents:
            self.show_only(self.empty_filters)
            self.empty_filters.set_texts("Nothing found among these documents",
                                         f"The search looked only in {among_words(view.filters)}. Clear the filters to "
                                         "search everything.")
        elif view.filters:
            self.show_only(self.empty_filters)
            self.empty_filters.set_texts("Nothing found with these filters",
                                         "The filters leave no document that fits. Clear them to search everything.")
        else:
            self.show_only(self.empty_words)
            self.empty_words.set_texts("Nothing found", why_nothing(view))

    def show_failure(self, failure: Failure) -> None:
        """Says what did not work and why."""
        self.show_only(self.failed)
        title = "The search went wrong" if failure.is_bug else "The search did not work"
        self.failed.set_texts(title, f"{failure.message} {failure.hint}".strip())


def why_nothing(view: SearchView) -> str:
    """Gives the likeliest reason for an empty answer, in words."""
    missing = next((note for note in view.notes if note.startswith("No collection")), "")
    if missing:
        return missing
    if view.mode is Mode.KEYWORD:
        return "No document holds these words. Move the slider towards Meaning, or try other words."
    if view.embedded < view.passages:
        return (f"So far {view.embedded:,} of {view.passages:,} passages can be found by meaning. "
                "Try again in a while, or try words that stand in the document.")
    return "Try other words, or fewer. A file that could not be read is listed under Problems in the Library."


def answer_words(view: SearchView, *, similar: bool = False) -> tuple[str, list[str]]:
    """Gives the result line: what was found, then milliseconds, what is missing, and notes."""
    documents = len(view.documents)
    if similar:
        count = counted(documents, "similar document")
    else:
        count = f"{counted(view.passages_found, 'passage')} in {counted(documents, 'document')}"
    rest = [f"{view.milliseconds:.0f} ms" if view.milliseconds >= 1 else "under 1 ms"]
    told = any("by meaning" in note for note in view.notes)
    if view.embedded < view.passages and view.mode is not Mode.KEYWORD and not told:
        rest.append(f"{view.embedded:,} of {view.passages:,} also by meaning")
    return count, rest + [note.rstrip(".") for note in view.notes]
