"""The commands that the window itself has, whatever page is in front."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from sbert_desktop.ui.page import Action, Desk
from sbert_desktop.ui.theme import theme

if TYPE_CHECKING:
    from sbert_desktop.ui.main_window import MainWindow


def own_actions(window: MainWindow) -> list[Action]:
    """Gives the window's commands, in the order of the palette."""

    def working() -> bool:
        return window.desk is not None and window.desk.index_progress is not None

    def ready() -> bool:
        return window.desk is not None

    def with_desk(run: Callable[[Desk], object]) -> Callable[[], object]:
        return lambda: run(window.desk) if window.desk is not None else None

    def set_theme(value: str) -> Callable[[], object]:
        return with_desk(lambda desk: desk.settings.set("appearance.theme", value))

    return [
        Action("search_focus_everywhere", "Search your documents", lambda: window.search_for(""), "Ctrl+K", "search"),
        Action("add_folder", "Add folder...", lambda: window.add_folders_from(()), "Ctrl+O", "folder", enabled=ready),
        Action("check_changes", "Check for changes", with_desk(lambda desk: desk.check_for_changes()), "F5", "refresh",
               "all folders", enabled=ready),
        Action("pause_indexing", "Pause or continue indexing", window.pause_or_continue, "Ctrl+.", "pause",
               enabled=working),
        Action("cancel_indexing", "Cancel indexing", with_desk(lambda desk: desk.cancel_index()), "", "close",
               "what was read stays", enabled=working),
        Action("toggle_preview", "Show or hide the preview", window.toggle_inspector, "Ctrl+I", "panel",
               enabled=window.inspector.has_content),
        Action("toggle_rail", "Collapse or expand the page list", window.rail.toggle, "Ctrl+B", "collapse"),
        Action("undo", "Undo", window.toast.run_action, "Ctrl+Z", "undo", "the last message's action",
               enabled=window.toast.has_action),
        Action("text_larger", "Larger text", lambda: scale_text(window.desk, 10), "Ctrl++", "plus", enabled=ready),
        Action("text_smaller", "Smaller text", lambda: scale_text(window.desk, -10), "Ctrl+-", "minus", enabled=ready),
        Action("text_normal", "Normal text size", lambda: scale_text(window.desk, 0), "Ctrl+0", "fit", enabled=ready),
        Action("colours_light", "Colours: light", set_theme("light"), "", "sliders", enabled=ready),
        Action("colours_dark", "Colours: dark", set_theme("dark"), "", "sliders", enabled=ready),
        Action("colours_system", "Colours: like the system", set_theme("system"), "", "sliders", enabled=ready),
        Action("command_palette", "All commands", window.open_palette, "Ctrl+Shift+P", "more"),
        Action("shortcuts", "Keyboard shortcuts", window.open_shortcuts, "F1", "keyboard"),
        Action("quit", "Quit", window.close, "Ctrl+Q", "close"),
    ]


def scale_text(desk: Desk | None, step: int) -> None:
    """Makes all text larger or smaller by so many per cent; 0 is the normal size again."""
    if desk is not None:
        value = 100 if step == 0 else theme.text_scale + step
        desk.settings.set("appearance.text_scale", max(80, min(200, value)))
