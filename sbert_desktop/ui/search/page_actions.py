"""The commands of the Search page itself, for the keys and the palette."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QWidget

from sbert_desktop.ui.search.head import NEWER_PREFERRED, ORDERS
from sbert_desktop.ui.search.second_look import OFFERED

if TYPE_CHECKING:
    from sbert_desktop.ui.search.page import SearchPage


def make_actions(page: SearchPage) -> None:
    """Gives the page its actions, and takes those of results away that nothing would answer."""

    def make(name: str, text: str, keys: str, slot: Callable[[], object]) -> None:
        action = QAction(text, page)
        action.setObjectName(name)
        if keys:
            action.setShortcut(QKeySequence(keys))
            action.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        action.triggered.connect(lambda _=False: slot())
        page.addAction(action)

    make("search_focus", "Go to the search box", "Ctrl+L", page.focus_query)
    make("search_next_hit", "Next passage of the document", "F3", lambda: page.inspector.step_hit(1))
    make("search_previous_hit", "Previous passage of the document", "Shift+F3", lambda: page.inspector.step_hit(-1))
    make("search_find", "Find in the text of the preview", "Ctrl+F", page.inspector.open_find)
    make("search_as_text", "Show the preview as page or as text", "Ctrl+T", page.inspector.switch_text)
    make("search_language", "How to search: words, phrases and fields", "", page.narrowing.show_language)
    make("search_save", "Keep this search…", "", lambda: page.saveWanted.emit(page.session.query()))
    make("search_get_reader", "Get a model for a second look…", "", lambda: page.modelWanted.emit(OFFERED))
    make("search_clear_filters", "Clear filters", "Ctrl+Shift+X", page.filters.clear)
    make("search_choose_folder", "Search in a folder…", "", page.filters.choose_folder)
    make("search_choose_dates", "Search between two dates…", "", page.filters.choose_dates)
    for number, (_, words) in enumerate(ORDERS):
        make(f"search_sort_{number}", f"Sort results: {words.lower()}", "",
             partial(page.sort.setCurrentIndex, number))
    make("search_meaning_only", "Search by meaning only", "", lambda: page.set_weight(0))
    make("search_words_only", "Search by words only", "", lambda: page.set_weight(100))
    make("search_caption", "Add a caption or transcript to this result…", "", page.want_caption)
    make("search_results_on_map", "Show results on the map", "", partial(page.onward.take_results, "map"))
    make("search_results_themes", "Themes of these results", "", partial(page.onward.take_results, "clusters"))
    make("search_forget", "Clear recent searches", "", page.clear_history)
    row = page.list.row
    for command, actions in (("judge", (row.relevant, row.not_relevant)), ("export_hits", (row.export,)),
                             ("collect", (row.collect,)), ("open_with", (row.open_with,)),
                             ("parse", (row.more, row.less, row.unfold))):
        if not page.can(command):
            row.leave_out(*actions)
    if not page.onward.has_page("map"):
        row.leave_out(row.on_map)
    page.inspector.set_judging(page.can("judge"))


def offered_actions(page: SearchPage) -> list[QAction]:
    """Gives the page's own actions that would do something now."""
    left_out = {name for name, possible in (
        ("search_save", page.can("save_search") and bool(page.session.text.strip())),
        ("search_get_reader", page.can("add_model") and not page.second_look.possible),
        ("search_language", page.can("parse")),
        ("search_results_on_map", page.onward.can_take("map")),
        ("search_results_themes", page.onward.can_take("clusters")),
        (f"search_sort_{NEWER_PREFERRED}", page.can("parse"))) if not possible}
    return [action for action in QWidget.actions(page)
            if isinstance(action, QAction) and action.objectName() not in left_out]
