"""What can be done with documents of the map: going on with them elsewhere, keeping, exporting, menus."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np
from PySide6.QtCore import QObject, QPoint, QSize, Qt
from PySide6.QtWidgets import QMenu

from sbert_desktop.app.atlas_views import ColourBy, ColourView, DocumentRow, MapView
from sbert_desktop.domain import display_path
from sbert_desktop.ui import icons, words
from sbert_desktop.ui.collections.collect_sheet import CollectSheet
from sbert_desktop.ui.map.picture_sheet import ask_picture
from sbert_desktop.ui.map.points import only, only_colours
from sbert_desktop.ui.map.rows import title_words
from sbert_desktop.ui.map.words import of_the_map
from sbert_desktop.ui.naming import in_title
from sbert_desktop.ui.saving import ask_target
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.widgets import menu, no_mnemonic

if TYPE_CHECKING:
    from pathlib import Path

    from sbert_desktop.ui.map.linked import LinkedMap

TABLE: Final = (("CSV table", ".csv"),)
WEB: Final = (("Web page", ".html"),)
LIST: Final = (("CSV table", ".csv"), ("Web page", ".html"))
PICTURE: Final = (("Picture", ".png"),)


def plain_colours(view: MapView) -> ColourView:
    """Gives colours that say nothing, for an export before there are any."""
    return ColourView(ColourBy.FOLDER, np.full(len(view), -1, np.int32), (), None, "", "", np.full(len(view), np.nan))


def palette() -> tuple[str, ...]:
    """Gives the colours of groups for an exported page: light ones, for it is read on white."""
    return tuple(theme.group_color(number).name() for number in range(64))


class MapDeeds(QObject):
    """Asks where that is needed, and does it."""

    def __init__(self, page: LinkedMap) -> None:
        super().__init__(page)
        self._page, self._desk = page, page.desk

    # ---- with a selection

    def go(self, where: str) -> None:
        """Goes to a page with the documents selected."""
        contents = self._page.selected_contents()
        if len(contents):
            self._desk.go_with(where, tuple(contents.tolist()), of_the_map(len(contents)))

    def show_in_clusters(self) -> None:
        """Goes to Clusters, where these documents are marked as chosen."""
        self._desk.set_chosen(self._page.key, tuple(self._page.selected_contents().tolist()))
        self._desk.show_page("clusters")

    def keep(self) -> None:
        """Asks for the name of a collection and puts the documents into it."""
        contents = self._page.selected_contents()
        facts = self._page.drawer.facts
        if not len(contents) or facts is None:
            return
        window = self._page.window()
        sheet = window.findChild(CollectSheet, "collect_sheet")
        if sheet is None:
            sheet = CollectSheet(window)
        sheet.ask((), self._desk.shelf.collections, lambda own: self._keep(own, tuple(contents.tolist())))
        sheet.title.setText(f"Add {words.counted(len(contents), 'document')} to a collection")
        sheet.what.set_full_text(", ".join([*facts.line, *([facts.dates] if facts.dates else [])]))
        if facts.line:
            sheet.edit.setText(facts.line[0])
            sheet.edit.selectAll()
        sheet.place()

    def _keep(self, own: str, contents: tuple[int, ...]) -> None:
        number = words.counted(len(contents), "document")
        self._desk.start(self._desk.commands.collect_documents(own, contents),
                         lambda _: self._desk.toast(f"Added {number} to {in_title(own)}"))

    def export_selection(self) -> None:
        """Writes the list of the documents selected."""
        view, points = self._page.finder.view, self._page.points
        if view is None or not len(points):
            return
        if self._page.canvas.coming:
            self._desk.toast("Another map is just being drawn. Try again when it is there.")
            return
        colours = self._page.finder.colours or plain_colours(view)  # now: another map may come while it is asked where
        target = ask_target(self._page, "Save the list", "selection.csv", LIST)
        if target is not None:
            self._write(only(view, points), only_colours(colours, points), target)

    # ---- with the map

    def export(self, kind: str) -> None:
        """Writes the whole map as ``csv`` or ``html``."""
        view = self._page.finder.view
        if view is None or not len(view):
            return
        colours = self._page.finder.colours or plain_colours(view)
        title = "Save the map as a table" if kind == "csv" else "Save the map as a page"
        target = ask_target(self._page, title, f"map.{kind}", TABLE if kind == "csv" else WEB)
        if target is not None:
            self._write(view, colours, target)

    def _write(self, view: MapView, colours: ColourView, target: Path) -> None:
        self._desk.start(self._desk.commands.export_map(view, colours, target, palette=palette()),
                         lambda _: self._desk.toast(f"Saved {display_path(target.name)}", action="Show",
                                                    run=lambda: self._desk.start(self._desk.commands.reveal(target))))

    def export_picture(self) -> None:
        """Asks for a size and writes a picture."""
        view = self._page.finder.view
        if view is not None and len(view):
            ask_picture(self._page.window(), self._picture)

    def _picture(self, size: QSize, dpi: int, legend: bool) -> None:
        target = ask_target(self._page, "Save the picture", "map.png", PICTURE)
        view = self._page.finder.view
        if target is None or view is None:
            return
        from sbert_desktop.ui.map.picture import render_map

        page, colours = self._page, self._page.finder.colours
        shown = page.canvas.shown
        if len(shown) == len(view) and not shown.all():  # what is filtered away on the screen is not printed
            points = np.flatnonzero(shown).astype(np.int32)
            view, colours = only(view, points), only_colours(colours, points) if colours is not None else None
        drawn, dark, labels, lines = view, theme.dark, page.labels_on, page.contours_on
        self._desk.toast("Drawing the picture...")

        def work() -> bool:
            image = render_map(drawn, colours, (size.width(), size.height()), dark=dark, labels=labels, legend=legend,
                               lines=lines)
            image.setDotsPerMeterX(round(dpi / 0.0254))
            image.setDotsPerMeterY(round(dpi / 0.0254))
            part = target.with_name(f".{target.name}.part")
            if not image.save(str(part), "PNG"):  # type: ignore[call-overload]  # its stub asks for bytes, it for str
                part.unlink(missing_ok=True)
                return False
            os.replace(part, target)
            return True

        self._desk.errands.run(
            work, lambda done: self._desk.toast(f"Saved {display_path(target.name)}" if done else
                                                f"{display_path(target.name)} could not be written here"),
            failed=lambda error: self._desk.toast(f"The picture could not be drawn: {error}"))

    # ---- menus

    def selection_menu(self) -> QMenu:
        """Makes the menu "..." of the drawer."""
        made, add = self._menu("map_selection_menu", "Selection")
        add("clusters", "Sort only these into clusters", lambda: self.go("clusters"), there="clusters")
        add("duplicates", "Find duplicates only in these", lambda: self.go("duplicates"), there="duplicates")
        add("train", "Label pairs of these", lambda: self.go("train"), there="label")
        made.addSeparator()
        add("export", "Export the list...", self.export_selection, there="export_map")
        add("clusters", "Show in Clusters", self.show_in_clusters, there="clusters")
        add("fit", "Show them in the middle", self._page.reveal_selection)
        made.addSeparator()
        add("close", "Select nothing", self._page.clear_selection, "Esc")
        return made

    def row_menu(self, rows: Sequence[DocumentRow], spot: QPoint) -> QMenu:
        """Makes the menu of documents in the list, or of the one under the pointer."""
        preview = self._page.preview
        made, add = self._menu("map_row_menu", "Documents")
        one = rows[0]
        if len(rows) == 1:
            add("panel", "Show beside the map", lambda: self._page.show_row(one), "Enter")
            add("open", f"Open {in_title(title_words(one), 40)}", lambda: preview.open(rows), "Ctrl+Enter")
        else:
            add("open", f"Open {words.counted(min(len(rows), 20), 'file')}", lambda: preview.open(rows), "Ctrl+Enter")
        add("open", "Open with...", lambda: preview.open_with(rows, spot))
        if len(rows) == 1:
            add("reveal", "Show in folder", lambda: preview.reveal(one))
        add("copy", f"Copy {words.counted(len(rows), 'path') if len(rows) > 1 else 'path'}",
            lambda: preview.copy_paths(rows), "Ctrl+C")
        made.addSeparator()
        contents = tuple(row.content for row in rows)
        if len(rows) == 1 and not one.member:
            add("similar", "Find similar documents", lambda: self._page.search_like(one))
        add("search", "Search in these" if len(rows) > 1 else "Search in this",
            lambda: self._desk.go_with("search", contents, of_the_map(len(contents))))
        if len(rows) > 1:
            add("marquee", "Select only these on the map", lambda: self._page.select_contents(contents))
        return made

    def ground_menu(self) -> QMenu:
        """Makes the menu of the ground of the map."""
        page = self._page
        made, add = self._menu("map_ground_menu", "Map")
        if len(page.points):
            add("search", "Search in these", lambda: self.go("search"))
            add("tag", "Name...", self.keep, there="collect_documents")
            add("close", "Select nothing", page.clear_selection, "Esc")
            made.addSeparator()
        add("marquee", "Select all that is shown", page.canvas.select_shown, "Ctrl+A")
        add("fit", "Fit the map into the window", page.fit, "F")
        add("refresh", "Redraw the map", page.redraw)
        return made

    def _menu(self, object_name: str, title: str) -> tuple[QMenu, Callable[..., None]]:
        made = menu(self._page, object_name, title)
        made.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)

        def add(icon: str, text: str, run: Callable[[], object], key: str = "", *, there: str = "") -> None:
            if there and not self._desk.can(there):
                return
            action = made.addAction(icons.icon(icon, 16), no_mnemonic(text) + (f"\t{key}" if key else ""))
            action.triggered.connect(lambda _=False: run())

        return made, add
