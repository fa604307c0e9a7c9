"""The Map page's dealings with documents: the card of a point, the selection, and what other pages show."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPoint, Qt, QTimer

from sbert_desktop.app.atlas_views import UNSORTED, ColourBy, DocumentRow, MapCard
from sbert_desktop.domain import Query
from sbert_desktop.ui.map.body import MapBody
from sbert_desktop.ui.map.choosing import describe, few_words
from sbert_desktop.ui.map.deeds import MapDeeds
from sbert_desktop.ui.map.drawer import Facts
from sbert_desktop.ui.map.points import AT_ONCE, Rows, mask_of, points_of
from sbert_desktop.ui.naming import quick_path
from sbert_desktop.ui.page import Desk
from sbert_desktop.ui.widgets import announce

CARD_MS: Final = 150
NO_ROWS: Final = np.zeros(0, np.int32)
CHOSEN: Final = 500  # rings at most; more of them would hide the points


class LinkedMap(MapBody):
    """See the module. ``points`` are selected; the drawer shows the documents that they stand for."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self.points: Rows = NO_ROWS
        self.labels_on, self.contours_on = True, False
        self._turn = 0  # of the newest selection, so that a slow answer about an older one is dropped
        self._lit_off: Query | None = None  # the search whose light the person put out
        self._among: tuple[tuple[int, ...], str] | None = None  # waits for the map
        self._after_card: tuple[int, Callable[[DocumentRow], object]] | None = None
        self._hover: tuple[int, QPoint] = (-1, QPoint())
        self._asked_themes = False
        self._wait = QTimer(self)
        self._wait.setSingleShot(True)
        self._wait.setInterval(CARD_MS)
        self._wait.timeout.connect(lambda: self.finder.ask_card(self._hover[0]))
        self.deeds = MapDeeds(self)

    def fit(self) -> None:
        """Shows the whole map."""
        self.canvas.fit(self.margins())

    def redraw(self) -> None:
        """Lays the map out anew."""

    # ---- the card and single points

    def _on_hovered(self, point: int, spot: QPoint) -> None:
        if self.canvas.coming:
            point = -1  # it is a number of the map that goes, and would name another document
        self._hover = (point, spot)
        if point < 0:
            self.put_card_away()
        elif point != self.card.point:
            self.card.put_away()
            self._wait.start()

    def put_card_away(self) -> None:
        """Hides the card beside the pointer."""
        self._wait.stop()
        self.card.put_away()

    def _on_card(self, card: MapCard) -> None:
        view = self.finder.view
        if view is None:
            return
        waiting = self._after_card
        if waiting is not None and waiting[0] == card.point:
            self._after_card = None
            waiting[1](card.document)
        if card.point == self._hover[0]:
            said = self.card.describe(card, view.request.unit)
            self.card.place_beside(self._hover[1], self.free_room())
            self.canvas.say_point(card.point, said)

    def _with_row(self, point: int, run: Callable[[DocumentRow], object]) -> None:
        """Does something with the document of a point, as soon as it is known which that is."""
        if point >= 0 and not self.canvas.coming:
            self._after_card = (point, run)
            self._wait.stop()
            self.finder.ask_card(point)

    def _on_clicked(self, point: int) -> None:
        if point >= 0:
            self._with_row(point, self.show_row)

    def show_row(self, row: DocumentRow) -> None:
        """Shows a document beside the map, and where it is."""
        self.preview.show(row)
        points = self.points_of((row.content,))
        self.canvas.set_chosen(points)
        self.drawer.choose(row.content)
        self.desk.set_chosen(self.key, (row.content,))

    def search_like(self, row: DocumentRow) -> None:
        """Searches for documents like one."""
        window = self.window()
        show, page = getattr(window, "show_page", None), getattr(window, "page", None)
        if show is not None and page is not None:
            show("search")
            page("search").search_by(row.path)

    def _on_menu(self, point: int, spot: QPoint) -> None:
        if point < 0:
            self.deeds.ground_menu().popup(spot)
        else:
            self._with_row(point, lambda row: self.deeds.row_menu((row,), spot).popup(spot))

    # ---- the selection

    def points_of(self, contents: Sequence[int]) -> Rows:
        """Gives the points of some documents."""
        view = self.finder.view
        return points_of(view, contents) if view is not None else NO_ROWS

    def selected_contents(self) -> NDArray[np.int64]:
        """Gives the documents selected, those in the middle of the selection first."""
        facts = self.drawer.facts
        return facts.contents if facts is not None else np.zeros(0, np.int64)

    def clear_selection(self) -> None:
        """Selects nothing, and closes the drawer."""
        had_focus = self.drawer.isAncestorOf(self.drawer.window().focusWidget() or self.canvas)
        self.canvas.clear_selection()
        self._select(NO_ROWS)
        if had_focus:
            self.canvas.setFocus(Qt.FocusReason.OtherFocusReason)

    def select_contents(self, contents: Sequence[int]) -> None:
        """Selects documents and brings them into sight."""
        self._take(tuple(contents), "")

    def reveal_selection(self) -> None:
        """Moves the map so that the selection shows."""
        if not self.canvas.coming:  # the selection may have the numbers of the map that comes already
            self.canvas.reveal(self.points)

    def _on_selected(self, points: Rows) -> None:
        self._select(points)

    def _select(self, points: Rows) -> None:
        self.points = points
        self._turn += 1
        view = self.finder.view
        if not len(points) or view is None:
            if self.drawer.facts is not None:
                self.drawer.clear()
                announce(self, "Nothing selected")
            self.show_drawer(False)
            self.put_card_away()
            return
        colours = self.finder.kept.get(ColourBy.THEME) or self.finder.colours
        themes, turn = self.desk.themes, self._turn
        if len(points) <= AT_ONCE:
            self._show_facts(turn, describe(view, points, colours, themes))
        else:
            self.desk.errands.run(lambda: describe(view, points, colours, themes),
                                  lambda facts: self._show_facts(turn, facts))
        if ColourBy.THEME not in self.finder.kept:
            self.finder.ask_colours(ColourBy.THEME)
        self._want_keywords()

    def _want_keywords(self) -> None:
        # clusters are kept: reading them takes a moment; where there are none yet, nobody asked for them
        colours = self.finder.kept.get(ColourBy.THEME)
        known = colours is not None and any(group.theme != UNSORTED for group in colours.groups)
        if known and self.desk.themes is None and not self._asked_themes and self.desk.can("clusters"):
            self._asked_themes = True
            self.desk.commands.clusters()

    def _show_facts(self, turn: int, facts: Facts) -> None:
        if turn == self._turn:
            self.drawer.show_facts(facts)
            self.show_drawer(True)

    def _on_deed(self, deed: str) -> None:
        rows, current = self.drawer.chosen(), self.drawer.current()
        if deed == "menu":
            button = self.drawer.more
            self.deeds.selection_menu().popup(button.mapToGlobal(button.rect().bottomLeft()))
        elif deed == "show" and current is not None and len(rows) < 2:
            self.show_row(current)
        elif deed == "open":
            self.preview.open(rows)
        elif deed == "copy":
            self.preview.copy_paths(rows)
        elif deed in ("search", "duplicates"):
            self.deeds.go(deed)
        elif deed == "name":
            self.deeds.keep()
        elif deed == "export":
            self.deeds.export_selection()

    def _on_row_menu(self, spot: QPoint) -> None:
        rows = self.drawer.chosen()
        if rows:
            self.deeds.row_menu(rows, spot).popup(spot)

    def _on_rows_chosen(self) -> None:
        contents = tuple(row.content for row in self.drawer.chosen()[:500])
        self.canvas.set_chosen(self.points_of(contents))
        self.desk.set_chosen(self.key, contents)

    def _on_row(self) -> None:
        row = self.drawer.current()
        if row is not None and self.preview.is_open() and self.drawer.list.hasFocus():
            self.preview.show(row)  # the arrows lead the preview along once it is there

    # ---- other pages

    def _take_waiting(self) -> None:
        if self._among is not None:
            (contents, label), self._among = self._among, None
            self._take(contents, label)

    def _take(self, contents: tuple[int, ...], label: str) -> None:
        view = self.finder.view
        if view is None:
            return

        def done(points: Rows) -> None:
            if self.finder.view is not view:
                return
            if len(points):
                self.canvas.set_selection(points)
                self._select(points)
            if len(points) and not self.canvas.coming:
                self.fit()  # beside the drawer, whole: where they are says most when the rest is seen as well
                self.canvas.reveal(points)
            found = int(np.isin(np.asarray(contents, np.int64), view.contents).sum()) \
                if len(contents) <= AT_ONCE else len(contents)
            if found < len(contents):
                self.desk.toast(few_words(found, len(contents)))
            elif label:
                announce(self, f"{label} shown on the map")

        if len(contents) <= AT_ONCE and len(view) <= 10 * AT_ONCE:
            done(points_of(view, contents))
        else:
            self.desk.errands.run(lambda: points_of(view, contents), done)

    def _on_found(self) -> None:
        self._lit_off = None
        self.finder.forget_colours(ColourBy.QUERY)
        self._light()
        if self.finder.by is ColourBy.QUERY and self.finder.view is not None:
            self.finder.ask_colours(ColourBy.QUERY, again=True)

    def _light(self) -> None:
        query, view, contents = self.desk.found_query, self.finder.view, self.desk.found_contents
        lit = query is not None and query is not self._lit_off
        words = " ".join(query.text.split()) if query is not None else ""
        self.chip.set_value(quick_path(words or "like a document") if lit else "")
        self._place()
        if view is None or not lit:
            self.canvas.set_lit(None)
        elif len(view) <= 10 * AT_ONCE:
            self.canvas.set_lit(mask_of(view, contents))
        else:
            def done(mask: NDArray[np.bool_]) -> None:
                if self.finder.view is view and self.desk.found_contents is contents:
                    self.canvas.set_lit(mask)

            self.desk.errands.run(lambda: mask_of(view, contents), done)

    def _put_out(self) -> None:
        self._lit_off = self.desk.found_query
        self._light()

    def _on_chosen(self, page: str, contents: tuple[int, ...]) -> None:
        view = self.finder.view
        if page == self.key or view is None:
            return

        def done(points: Rows) -> None:
            if self.finder.view is view:
                self.canvas.set_chosen(points)

        if len(view) <= 10 * AT_ONCE:
            done(points_of(view, contents))
        else:
            self.desk.errands.run(lambda: points_of(view, contents), done)
