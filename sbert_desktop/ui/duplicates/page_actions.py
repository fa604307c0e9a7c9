"""The commands of the Duplicates page, for the palette and the list of keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sbert_desktop.ui import words
from sbert_desktop.ui.duplicates.menus import contents_of
from sbert_desktop.ui.naming import in_title, quick_path
from sbert_desktop.ui.page import Action

if TYPE_CHECKING:
    from sbert_desktop.ui.duplicates.page import DuplicatesPage


def page_actions(page: DuplicatesPage) -> list[Action]:
    """Gives the commands of the page, and those of what is in front on it."""

    def there() -> bool:
        return page.finder.view is not None and not page.cleaning.busy

    def group() -> bool:
        return there() and page.group() is not None

    def ticked() -> bool:
        return there() and page.selection.total.files > 0

    title = in_title(quick_path(chosen.title)) if (chosen := page.group()) is not None else ""
    return [
        Action("duplicates_move", "Move what is ticked to the trash", page.move_ticked, "Ctrl+Return", "trash",
               words.counted(page.selection.total.files, "file"), ticked, bind=False),
        Action("duplicates_again", "Look again for duplicates", page.look_again, "Ctrl+R", "refresh", bind=False,
               enabled=lambda: not page.cleaning.busy),
        Action("duplicates_have", "Do I have this file already?", page.ask_have, "Ctrl+H", "question", bind=False),
        Action("duplicates_history", "Earlier clean-ups", page.show_history, "Ctrl+Shift+H", "history", bind=False),
        Action("duplicates_rules", "Rules of the clean-up...", page.edit_rules, "", "sliders"),
        Action("duplicates_apart", "Not duplicates", page.say_apart, "Ctrl+Shift+D", "not_relevant", title, group,
               bind=False),
        Action("duplicates_export", "Export the groups...", page.export, "Ctrl+S", "export", "", there, bind=False),
        Action("duplicates_untick", "Untick everything", page.untick_all, "", "close", "", ticked),
        Action("duplicates_suggested", "Tick as the rules suggest", page.tick_suggested, "", "check", "", there),
        Action("duplicates_filter", "Narrow duplicates by folder or type",
               lambda: page.column.show_filters(True), "", "filter", "", there),
        Action("duplicates_files", "Show files that are alike", lambda: page.show_view("files"), "", "duplicates"),
        Action("duplicates_passages", "Show passages that are shared", lambda: page.show_view("passages"), "",
               "text"),
        *_onward_actions(page, title),
        *_inner_actions(page),
    ]


def _onward_actions(page: DuplicatesPage, title: str) -> Sequence[Action]:
    """Gives the commands that take the group's documents elsewhere, where there is such a place."""

    def readable() -> bool:
        return page.finder.view is not None and bool(contents_of(page.group()))

    made = []
    if page.desk.has_page("map"):
        made.append(Action("duplicates_on_map", "Show the group on the map",
                           lambda: page.deeds.show_on_map(page.group()), "", "map", title, readable))
    if page.desk.can("collect_documents"):
        made.append(Action("duplicates_collect", "Save group as collection...",
                           lambda: page.deeds.collect(page.group()), "", "collection", title, readable))
    return made


def _inner_actions(page: DuplicatesPage) -> Sequence[Action]:
    """Gives the commands of the comparison, or of the passages, whichever is in front."""
    passages = page.passages()
    if passages is not None:
        return passages.view.actions_list()
    sides = page.detail.compare.sides
    return sides.actions_list() if sides is not None else ()
