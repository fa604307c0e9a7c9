"""The query box: one line, a history that Down opens, and the balance of words and meaning."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, QModelIndex, QObject, QSize, QStringListModel, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QCompleter, QHBoxLayout, QListView, QSizePolicy, QSlider, QWidget

from sbert_desktop.ui.search.start import RecentDelegate
from sbert_desktop.ui.search.text import collapse
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.widgets import ComboBox, Label, SearchBox, announce, set_tip

CLEAR = "Clear recent searches"


class QueryBox(SearchBox):
    """A search box that knows earlier queries.

    Down opens them while there is nothing to go down to (``can_descend``), Alt+Down always; the
    last line forgets them.
    """

    typed = Signal(str)
    descended = Signal()  # Down: into the results
    entered = Signal()  # Enter
    historyCleared = Signal()

    def __init__(self, history: Callable[[], Sequence[str]], parent: QWidget | None = None) -> None:
        super().__init__("What do you remember?", object_name="search_query", accessible="Search", parent=parent)
        self._history = history
        self.can_descend: Callable[[], bool] = lambda: False
        self.edit.setMaxLength(10_000)
        self.edit.setAccessibleDescription("Say what you remember in your own words. Down opens recent searches.")
        self.clear_button.set_tip("Clear the search")
        self._model = QStringListModel(self)
        self._completer = QCompleter(self._model, self)
        self._completer.setWidget(self.edit)  # not setCompleter: it must open on Down alone, never while typing
        self._completer.setCompletionMode(QCompleter.CompletionMode.UnfilteredPopupCompletion)
        popup = self._popup = QListView()
        popup.setObjectName("search_history")
        popup.setAccessibleName("Recent searches")
        self._completer.setPopup(popup)
        popup.setItemDelegate(RecentDelegate(theme, popup, popup=True))  # after setPopup, which sets its own
        popup.setMouseTracking(True)
        popup.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        theme.themeChanged.connect(self._style_popup)
        self._style_popup()
        self._completer.setMaxVisibleItems(10)
        self._completer.activated[QModelIndex].connect(self._on_chosen)  # type: ignore[index]
        self.edit.textEdited.connect(self.typed)

    def _style_popup(self) -> None:
        self._popup.setStyleSheet(f"QListView {{ background: {theme.hex('raised')}; "
                                  f"border: 1px solid {theme.hex('muted')}; padding: 0; }}")

    @property
    def completer(self) -> QCompleter:
        """The history's pop-up."""
        return self._completer

    def _on_clear_clicked(self) -> None:
        super()._on_clear_clicked()
        self.typed.emit("")

    def open_history(self) -> bool:
        """Opens the list of recent searches; False if there are none."""
        queries = list(self._history())
        if not queries:
            return False
        self._model.setStringList([*(collapse(query)[0] for query in queries), CLEAR])
        self._completer.setCompletionPrefix("")
        self._completer.complete()
        self._popup.setCurrentIndex(self._completer.completionModel().index(0, 0))
        return True

    def _on_chosen(self, index: QModelIndex) -> None:
        text = str(index.data())
        if index.row() == self._model.rowCount() - 1 and text == CLEAR:
            self.historyCleared.emit()
            return
        self.set_text(text)
        self.typed.emit(text)
        self.entered.emit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Takes Down and Enter from the line edit."""
        if watched is self.edit and event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            key = event.key()
            if key in (Qt.Key.Key_Down, Qt.Key.Key_PageDown):
                alt = bool(event.modifiers() & Qt.KeyboardModifier.AltModifier)
                if not alt and self.can_descend():
                    self.descended.emit()
                else:
                    self.open_history()
                return True
            if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not event.modifiers():
                self.entered.emit()
                return True
            if key == Qt.Key.Key_Escape and self.text():
                self._on_clear_clicked()
                return True
        return super().eventFilter(watched, event)


class BalanceSlider(QWidget):
    """From words to meaning in steps of 10; ``weightChanged`` gives the share of words in per cent."""

    weightChanged = Signal(int)

    def __init__(self, weight: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        self.slider = QSlider(Qt.Orientation.Horizontal)
        self.slider.setObjectName("search_balance")
        self.slider.setRange(0, 100)
        self.slider.setSingleStep(10)
        self.slider.setPageStep(10)
        self.slider.setFixedWidth(88)
        self.slider.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.slider.setAccessibleName("Words or meaning")
        row.addWidget(Label("Words", role="meta", tone="muted"))
        row.addWidget(self.slider)
        row.addWidget(Label("Meaning", role="meta", tone="muted"))
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.slider.setValue(100 - weight)
        self._describe()
        self.slider.valueChanged.connect(self._on_value)

    def weight(self) -> int:
        """Gives the share of words in per cent."""
        return 100 - self.slider.value()

    def set_weight(self, weight: int) -> None:
        """Moves the handle without a signal."""
        self.slider.blockSignals(True)
        self.slider.setValue(100 - weight)
        self.slider.blockSignals(False)
        self._describe()

    def _on_value(self) -> None:
        self._describe()
        announce(self.slider, self.words())
        self.weightChanged.emit(self.weight())

    def words(self) -> str:
        """Names the blend."""
        weight = self.weight()
        if weight == 0:
            return "Meaning only"
        if weight == 100:
            return "Words only"
        return f"{100 - weight} % meaning, {weight} % words"

    def _describe(self) -> None:
        self.slider.setAccessibleDescription("")
        set_tip(self.slider, self.words())
        self.slider.setAccessibleDescription(self.words())


class SortBox(ComboBox):
    """A flat choice as wide as its value, so that the chevron stands beside the words."""

    def sizeHint(self) -> QSize:
        words = theme.metrics("meta_medium").horizontalAdvance(self.currentText())
        return QSize(10 + words + 2 + 6 + 16 + 8, super().sizeHint().height())

    minimumSizeHint = sizeHint
