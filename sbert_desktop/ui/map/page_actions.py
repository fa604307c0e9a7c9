"""The commands of the Map page, for the palette and the list of keys."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from sbert_desktop.app.atlas_views import MapUnit
from sbert_desktop.ui.map.words import COLOUR_BY, counted
from sbert_desktop.ui.page import Action

if TYPE_CHECKING:
    from sbert_desktop.ui.map.page import MapPage


def page_actions(page: MapPage) -> list[Action]:
    """Gives the commands of the map, and those of its selection."""

    def there() -> bool:
        return page.has_map()

    def idle() -> bool:
        return there() and not page.finder.busy

    def selected() -> bool:
        return there() and len(page.points) > 0

    chosen = counted(len(page.drawer.facts.contents)) if page.drawer.facts is not None else ""
    units = [
        Action("map_documents", "Points are documents", partial(page.set_unit, MapUnit.DOCUMENTS), "", "file", "",
               there),
        Action("map_passages", "Points are passages", partial(page.set_unit, MapUnit.PASSAGES), "", "text", "", there),
    ]
    colours = [Action(f"map_by_{by.value}", f"Colour the map by {text}", partial(page.colour_by, by), "", "palette", "",
                      there) for by, text in COLOUR_BY.items()]
    actions = [
        Action("map_pan", "Move the map", partial(page.set_tool, "pan"), "H", "move", "", there, bind=False),
        Action("map_lasso", "Select with a line around", partial(page.set_tool, "lasso"), "L", "lasso", "", there,
               bind=False),
        Action("map_rectangle", "Select in a rectangle", partial(page.set_tool, "rectangle"), "R", "marquee", "", there,
               bind=False),
        Action("map_fit", "Fit the map into the window", page.fit, "F", "fit", "", there, bind=False),
        Action("map_zoom_in", "Zoom into the map", page.canvas.zoom_in, "", "plus", "", there),
        Action("map_zoom_out", "Zoom out of the map", page.canvas.zoom_out, "", "minus", "", there),
        *colours,
        Action("map_filter", "Filter the map by date or group", page.open_filter, "Ctrl+Shift+L", "filter", "", there,
               bind=False),
        Action("map_everything", "Show everything on the map", page.filter_panel.show_everything, "", "eye", "", there),
        Action("map_labels", "Show or hide labels", page.toolbar.actions_of["labels"].toggle, "", "text", "", there),
        Action("map_contours", "Show or hide contours", page.toolbar.actions_of["contours"].toggle, "", "map", "",
               there),
        Action("map_legend", "Fold or unfold the legend", page.fold_legend, "", "chevron", "", there),
        Action("map_quality_shown", "How far the map can be trusted", page.open_quality, "", "gauge", "", there),
        *units,
        Action("map_redraw", "Redraw the map", page.redraw, "Ctrl+R", "refresh", "", idle, bind=False),
        Action("map_advanced", "How the map is laid out...", page.edit_rules, "", "sliders", "", idle),
        Action("map_picture", "Export a picture of the map...", page.deeds.export_picture, "", "export", "", idle),
        Action("map_csv", "Export the map as a table...", partial(page.deeds.export, "csv"), "", "table", "", idle),
        Action("map_html", "Export the map as a page...", partial(page.deeds.export, "html"), "", "web", "", idle),
        Action("map_select_all", "Select all that is shown", page.canvas.select_shown, "Ctrl+A", "marquee", "", there,
               bind=False),
        Action("map_select_none", "Select nothing on the map", page.clear_selection, "Esc", "close", chosen, selected,
               bind=False),
        Action("map_search_selected", "Search in the selection", partial(page.deeds.go, "search"), "", "search", chosen,
               selected),
        Action("map_name_selected", "Add the selection to a collection...", page.deeds.keep, "", "tag", chosen,
               selected),
        Action("map_duplicates_selected", "Find duplicates in the selection", partial(page.deeds.go, "duplicates"), "",
               "duplicates", chosen, selected),
        Action("map_sort_selected", "Sort the selection into clusters", partial(page.deeds.go, "clusters"), "",
               "clusters", chosen, selected),
        Action("map_export_selected", "Export the list of the selection...", page.deeds.export_selection, "", "export",
               chosen, selected),
    ]
    without = {"map_sort_selected": "clusters", "map_name_selected": "collect_documents",
               "map_duplicates_selected": "duplicates"}
    return [each for each in actions if each.name not in without or page.desk.can(without[each.name])]
