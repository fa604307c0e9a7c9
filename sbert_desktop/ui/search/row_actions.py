"""What can be done with the chosen results: one action each, for the menu, the keys and the palette."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMenu

from sbert_desktop.ui import icons
from sbert_desktop.ui.widgets import menu
from sbert_desktop.ui.words import counted

if TYPE_CHECKING:
    from sbert_desktop.ui.search.result_list import ResultList


class RowActions:
    """The actions of a :class:`ResultList`; those in ``without`` are left out (the program cannot do them)."""

    def __init__(self, view: ResultList) -> None:
        self._view = view
        self._icons: list[tuple[QAction, str]] = []
        make = self._make
        self.open = make("search_open", "Open", "open", ["Return", "Enter"], view.open_current)
        self.open_with = make("search_open_with", "Open with…", "open", ["Ctrl+Shift+O"], view.openWithWanted.emit)
        self.reveal = make("search_reveal", "Show in folder", "reveal", ["Ctrl+Return", "Ctrl+Enter"],
                           view.reveal_current)
        self.copy_path = make("search_copy_path", "Copy path", "copy", ["Ctrl+C"], view.copy_path)
        self.copy_passage = make("search_copy_passage", "Copy passage", "copy", ["Ctrl+Shift+C"], view.copy_passage)
        self.cite = make("search_cite", "Copy as citation", "quote", ["Ctrl+Alt+C"], view.citationWanted.emit)
        self.export = make("search_export", "Export…", "export", ["Ctrl+Shift+S"], view.exportWanted.emit)
        self.collect = make("search_collect", "Add to a collection…", "collection", ["M"], view.collectWanted.emit)
        self.on_map = make("search_on_map", "Show on the map", "map", [], view.mapWanted.emit)
        self.relevant = make("search_relevant", "This is what I meant", "relevant", ["S", "1"],
                             partial(view.want_verdict, "relevant"))
        self.not_relevant = make("search_not_relevant", "This is not what I meant", "not_relevant", ["D", "2"],
                                 partial(view.want_verdict, "not relevant"))
        self.more = make("search_more_like", "More like this", "plus", ["Ctrl+Shift+M"],
                         partial(view.steerWanted.emit, 1))
        self.less = make("search_less_like", "Less like this", "minus", ["Ctrl+Shift+L"],
                         partial(view.steerWanted.emit, -1))
        self.similar = make("search_similar", "Find similar documents", "similar", ["Ctrl+Shift+F"],
                            view.want_similar)
        self.unfold = make("search_unfold", "Show passages that say nearly the same", "copy", ["Ctrl+Shift+N"],
                           view.foldedWanted.emit)
        self.expand = make("search_expand", "Show or hide further passages", "chevron", [], view.toggle_current)
        self.inspector = make("search_inspector", "Show or hide the preview", "panel", ["Space"],
                              view.inspectorToggled.emit)
        self._without: set[QAction] = set()
        self._texts = {action: action.text() for action, _ in self._icons}

    def _make(self, name: str, text: str, icon: str, keys: Sequence[str], slot: Callable[..., object]) -> QAction:
        action = QAction(icons.icon(icon), text, self._view)
        action.setObjectName(name)
        action.setShortcuts([QKeySequence(key) for key in keys])
        action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        action.setAutoRepeat(False)  # a key held down must not open thirty files, or judge to and fro
        action.triggered.connect(lambda _=False: slot())
        self._view.addAction(action)
        self._icons.append((action, icon))
        return action

    def leave_out(self, *actions: QAction) -> None:
        """Takes actions away that nothing would answer."""
        for action in actions:
            self._without.add(action)
            self._view.removeAction(action)

    def icon_of(self, action: QAction) -> str:
        """Gives the name of an action's icon; "" of one that is not of a result."""
        return next((icon for each, icon in self._icons if each is action), "")

    def offered(self) -> list[QAction]:
        """Gives the actions in the order of the menu."""
        return [action for action, _ in self._icons if action not in self._without]

    def set_keys(self, relevant: str, not_relevant: str) -> None:
        """Changes the keys of the two verdicts; beside them 1 and 2, which every alphabet has. "" for none."""
        for action, key, digit in ((self.relevant, relevant, "1"), (self.not_relevant, not_relevant, "2")):
            keys = list(dict.fromkeys((key.strip(), digit))) if key.strip() else []
            action.setShortcuts([QKeySequence(each) for each in keys])

    def make_menu(self) -> QMenu:
        """Makes the context menu of the chosen rows."""
        view = self._view
        made = menu(view, "search_row_menu", "Results")
        first = {self.copy_path, self.relevant, self.similar, self.inspector, self.collect}
        for action in self.offered():
            if action in first:
                made.addSeparator()
            made.addAction(action)
        self._describe()
        made.aboutToHide.connect(self._enable_all)
        return made

    def _describe(self) -> None:
        """Says how many are meant, and greys what does not apply to the current row."""
        view = self._view
        documents, hits = view.chosen_documents(), view.chosen()
        if len(documents) > 1:
            self.open.setText(f"Open {counted(len(documents), 'file')}")
            self.copy_path.setText(f"Copy {counted(len(documents), 'path')}")
        if len(hits) > 1:
            self.copy_passage.setText(f"Copy {counted(len(hits), 'passage')}")
            self.cite.setText(f"Copy {counted(len(hits), 'citation')}")
        index = view.currentIndex()
        if not index.isValid():
            return
        model = view.results
        self.expand.setEnabled(model.is_open(index.row()) or model.more_at(index.row()) > 0)
        self.unfold.setEnabled(model.folded_at(index.row()) > 0)
        away = all(document.state == "gone" for document in documents)
        for action in (self.open, self.open_with, self.reveal):
            action.setEnabled(not away)

    def _enable_all(self) -> None:
        for action, text in self._texts.items():
            action.setEnabled(True)
            action.setText(text)

    def recolour(self) -> None:
        """Draws the icons in the colours now in force."""
        for action, icon in self._icons:
            action.setIcon(icons.icon(icon))
