"""The Map page: every document as a point, alike ones close together; what is selected stands in a drawer."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QWidget

from sbert_desktop.app.atlas_views import (
    UNSORTED,
    ClustersView,
    ColourBy,
    ColourView,
    LayoutRules,
    MapUnit,
    MapView,
)
from sbert_desktop.app.views import LibraryView
from sbert_desktop.domain import Failure
from sbert_desktop.ui.map.advanced_sheet import edit_rules
from sbert_desktop.ui.map.linked import LinkedMap
from sbert_desktop.ui.map.page_actions import page_actions
from sbert_desktop.ui.map.words import counted
from sbert_desktop.ui.naming import quick_path
from sbert_desktop.ui.page import Action, Desk, failure_text
from sbert_desktop.ui.widgets import EmptyState


class MapPage(LinkedMap):
    """See the module."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._asked = False  # in this session
        self._stale = False  # something changed while nobody looked
        self._renumber = False  # what is selected still has the numbers of the map before
        self._counted: tuple[int, int] | None = None  # documents and understood passages when the map was asked for
        if not desk.can("collect_documents"):
            self.drawer.own_name.hide()
        if desk.library is not None:
            self.drawer.own_name.setEnabled(not desk.library.read_only)
        self._connect()
        self._keys()
        self._show_state()

    def _connect(self) -> None:
        finder, canvas, toolbar, drawer = self.finder, self.canvas, self.toolbar, self.drawer
        finder.began.connect(self._on_began)
        finder.progressed.connect(self.progress.show_progress)
        finder.answered.connect(self._on_map)
        finder.failed.connect(self._on_failed)
        finder.cancelled.connect(self._on_cancelled)
        finder.ended.connect(self._on_ended)
        finder.coloured.connect(self._on_colours)
        finder.carded.connect(self._on_card)
        canvas.hovered.connect(self._on_hovered)
        canvas.clicked.connect(self._on_clicked)
        canvas.doubleClicked.connect(lambda point: self._with_row(point, lambda row: self.preview.open((row,))))
        canvas.selectionChanged.connect(self._on_selected)
        canvas.ready.connect(self._on_ready)
        canvas.viewChanged.connect(self.put_card_away)
        canvas.menuAsked.connect(self._on_menu)
        canvas.toolChanged.connect(toolbar.show_tool)
        toolbar.toolChosen.connect(self.set_tool)
        toolbar.colourChosen.connect(self.colour_by)
        toolbar.filterWanted.connect(self.open_filter)
        toolbar.unitChosen.connect(self.set_unit)
        toolbar.contoursChosen.connect(self._on_contours)
        toolbar.labelsChosen.connect(self._on_labels)
        deeds: dict[str, Callable[[], object]] = {
            "zoom_in": canvas.zoom_in, "zoom_out": canvas.zoom_out, "fit": self.fit, "redraw": self.redraw,
            "advanced": self.edit_rules, "picture": self.deeds.export_picture,
            "csv": lambda: self.deeds.export("csv"), "html": lambda: self.deeds.export("html"),
        }
        toolbar.wanted.connect(lambda key: deeds[key]())
        self.badge.clicked.connect(self.open_quality)
        self.chip.clicked.connect(lambda: self.desk.show_page("search"))
        self.chip.cleared.connect(self._put_out)
        self.note.redrawWanted.connect(self.redraw)
        self.progress.cancelWanted.connect(finder.cancel)
        self.legend.hiddenChanged.connect(self._on_hidden)
        self.legend.findWanted.connect(lambda: self.desk.show_page("clusters"))
        self.filter_panel.hiddenChanged.connect(self._on_hidden)
        self.filter_panel.datesChanged.connect(self._on_dates)
        drawer.closeWanted.connect(self.clear_selection)
        drawer.deed.connect(self._on_deed)
        drawer.menuAsked.connect(self._on_row_menu)
        drawer.chosenChanged.connect(self._on_rows_chosen)
        drawer.currentChanged.connect(self._on_row)
        states = self.states
        states.empty.clicked.connect(lambda: self.desk.add_folders(()))
        states.nothing.clicked.connect(lambda: self.desk.show_page("library"))
        for state in (states.failed, states.stopped):
            state.clicked.connect(lambda: self.finder.ask())
        self.preview.closed.connect(lambda: self.canvas.set_chosen(()))
        self.preview.similarWanted.connect(
            lambda document: self.desk.go_with("search", (document.content_id,), quick_path(document.title)))
        desk = self.desk
        desk.libraryChanged.connect(self._on_library)
        desk.foundChanged.connect(self._on_found)
        desk.chosenChanged.connect(self._on_chosen)
        desk.themesChanged.connect(self._on_themes)

    def _keys(self) -> None:
        # letters act while the map has the focus only: in the list of documents they look for a name
        for key, run in (("H", lambda: self.set_tool("pan")), ("L", lambda: self.set_tool("lasso")),
                         ("R", lambda: self.set_tool("rectangle")), ("F", self.fit)):
            self._bind(key, run, self.canvas, Qt.ShortcutContext.WidgetShortcut)
        for key, run in (("Ctrl+R", self.redraw), ("Ctrl+Shift+L", self.open_filter)):
            self._bind(key, run, self, Qt.ShortcutContext.WidgetWithChildrenShortcut)

    @staticmethod
    def _bind(key: str, run: Callable[[], object], widget: QWidget, context: Qt.ShortcutContext) -> None:
        shortcut = QShortcut(QKeySequence(key), widget)
        shortcut.setContext(context)
        shortcut.activated.connect(run)

    # ---- for the window

    def activate(self) -> None:
        library = self.desk.library
        if library is not None and library.folders and not self.finder.busy and \
                (not self._asked or self._stale or (self.finder.view is not None and self._grown(library))):
            self._ask(quiet=self.finder.view is not None)
        elif not self._asked and library is not None:
            self._show_state()

    def focus_first(self) -> None:
        state = self.states.shown()
        target = state.button if state is not None and state.button is not None else self.canvas
        target.setFocus(Qt.FocusReason.OtherFocusReason)

    def actions_list(self) -> Sequence[Action]:
        return page_actions(self)

    def take_among(self, contents: tuple[int, ...], label: str) -> None:
        self._among = (contents, label)
        if self.finder.view is not None and not self.finder.view.preview and not self.canvas.coming:
            self._take_waiting()

    def foot(self) -> int:
        return self.drawer.foot.height() if not self.drawer.isHidden() else 0

    def save_state(self) -> dict[str, object]:
        return {"unit": self.finder.unit.value, "by": self.finder.by.value, "contours": self.contours_on,
                "labels": self.labels_on, "folded": self.legend.collapsed}

    def restore_state(self, state: dict[str, object]) -> None:
        if state.get("unit") in {unit.value for unit in MapUnit}:
            self.finder.unit = MapUnit(str(state["unit"]))
        if state.get("by") in {by.value for by in ColourBy}:
            self.finder.by = ColourBy(str(state["by"]))
        self.toolbar.show_unit(self.finder.unit)
        self.toolbar.show_colour(self.finder.by)
        self.toolbar.actions_of["contours"].setChecked(state.get("contours") is True)
        self.toolbar.actions_of["labels"].setChecked(state.get("labels") is not False)
        self.legend.set_collapsed(state.get("folded") is True)

    # ---- asking

    def has_map(self) -> bool:
        """True while there is a map to work with."""
        return self.finder.view is not None and len(self.finder.view) > 0

    def _grown(self, library: LibraryView) -> bool:
        return (library.documents, library.embedded) != self._counted

    def _ask(self, *, refit: bool = False, quiet: bool = False) -> None:
        library = self.desk.library
        self._asked, self._stale = True, False
        self._counted = (library.documents, library.embedded) if library is not None else None
        self.finder.ask(refit=refit, quiet=quiet)

    def redraw(self) -> None:
        """Lays the map out anew."""
        if self.has_map() and not self.finder.busy:
            self._ask(refit=True)

    def edit_rules(self) -> None:
        """Asks how the map is to be laid out."""
        def done(method: str, rules: LayoutRules) -> None:
            self.finder.method, self.finder.rules = method, rules
            self.redraw()

        view = self.finder.view
        if view is not None and not self.finder.busy:
            edit_rules(self.window(), view.request.method, view.request.rules, done)

    def set_unit(self, unit: MapUnit) -> None:
        """Shows documents or passages."""
        self.toolbar.show_unit(unit)
        self.clear_selection()
        self.finder.set_unit(unit)

    def _on_library(self, library: LibraryView) -> None:
        if not library.folders or not self._asked:
            self._show_state()
        self.drawer.own_name.setEnabled(not library.read_only)
        if not self._asked and self.isVisible():
            self.activate()
        elif self._asked and self._grown(library) and self.desk.index_job is None:
            if self.isVisible() and not self.finder.busy and library.folders:
                self._ask(quiet=True)
            else:
                self._stale = True

    # ---- what comes

    def _on_began(self) -> None:
        if not self.finder.quiet:
            first = self.finder.view is None
            self.progress.begin("Reading the map..." if first else "Laying out the map...")
            self.canvas.set_faded(self.finder.refitting)
            self.note.hide()
        self.toolbar.set_busy(True)
        self._show_state()

    def _on_map(self, view: MapView, changed: bool) -> None:
        first = len(self.canvas.shown) == 0
        self.badge.show_quality(view if not view.preview else None)
        self.note.show_text(view.note, redraw="Redraw" in view.note)
        self._show_state()
        if first:
            self.canvas.fit(self.margins(), animate=False)
        if changed:
            self.canvas.set_faded(False)
            self.canvas.set_map(view, animate=True)
            self.put_card_away()
        if not self.labels_on:
            self.canvas.set_labels(())
        elif not changed:
            self.canvas.set_labels(view.labels)
        if not view.preview:
            if changed or self.finder.colours is None:
                self.finder.ask_colours(self.finder.by)
            if changed:
                self._light()
                self._keep_selection()
            if not self.canvas.coming:
                self._take_waiting()
        self._show_state()

    def _keep_selection(self) -> None:
        # points have other numbers on another map: the canvas carries the selection over by document; of a large map
        # that is not done yet, and what was selected would be taken for other documents
        self._renumber = self.canvas.coming
        if len(self.points) and not self.canvas.coming:
            self._select(self.canvas.selection)

    def _on_ready(self) -> None:
        if self._renumber:
            self._keep_selection()
            self._take_waiting()

    def _on_failed(self, failure: Failure) -> None:
        if self.finder.view is None:
            self.states.failed.set_texts("The map could not be drawn", failure_text(failure))
            self._show_state(self.states.failed)
        else:
            self.desk.show_failure(failure)

    def _on_cancelled(self) -> None:
        if self.finder.view is None or self.finder.view.preview:
            self._show_state(self.states.stopped)

    def _on_ended(self) -> None:
        self.progress.hide()
        self.canvas.set_faded(False)
        self.toolbar.set_busy(False)
        if self.finder.view is not None:
            self.note.show_text(self.finder.view.note, redraw="Redraw" in self.finder.view.note)
        if self.states.shown() not in (self.states.failed, self.states.stopped):
            self._show_state()
        self._place()

    def _show_state(self, state: EmptyState | None = None) -> None:
        library, view = self.desk.library, self.finder.view
        wanted = state
        if library is not None and not library.folders:
            wanted = self.states.empty
        elif wanted is None and view is not None and not len(view) and not self.finder.busy:
            model = library.model if library is not None else None
            why = view.note or "No document has been understood yet."
            if model is not None and model.state in ("refused", "missing") and model.note:
                why = model.note
            self.states.nothing.sentence.setText(why)
            self.states.nothing.set_texts("Nothing on the map yet", why)
            wanted = self.states.nothing
        had_focus = self.isAncestorOf(self.focusWidget() or self.desk.inspector)
        self.states.show_state(wanted)
        if wanted is not None:
            self.put_card_away()
        self._place()
        if wanted is not None and had_focus:
            self.focus_first()

    # ---- colours and filters

    def colour_by(self, by: ColourBy) -> None:
        """Colours points by something else."""
        if by is not self.finder.by:
            self.legend.set_hidden(set())
            self.canvas.set_hidden_groups(set())
        self.finder.by = by
        self.toolbar.show_colour(by)
        self.finder.ask_colours(by)

    def _on_colours(self, colours: ColourView) -> None:
        view = self.finder.view
        if view is None:
            return
        if colours.by is ColourBy.THEME and len(self.points) and not self.canvas.coming:
            self._select(self.points)  # it can be said now what it is about
        if colours.by is not self.finder.by:
            return
        groups = len(colours.groups)
        hidden = {group for group in self.legend.hidden() if group < groups}
        self.canvas.set_colours(colours)
        self.canvas.set_hidden_groups(hidden)
        sorted_ = any(group.theme != UNSORTED for group in colours.groups)
        find = colours.by is ColourBy.THEME and not sorted_ and self.desk.can("clusters") and len(view) > 3
        self.legend.show_colours(colours, counted(int(view.counts.sum()), view.request.unit), hidden, may_find=find)
        self.filter_panel.set_colours(colours, view.counts, hidden)
        self._show_filter()
        self._place()

    def _on_hidden(self, hidden: set[int]) -> None:
        self.canvas.set_hidden_groups(hidden)
        self.legend.set_hidden(hidden)
        self.filter_panel.set_hidden(hidden)
        self._show_filter()
        self._place()

    def _on_dates(self, low: float | None, high: float | None) -> None:
        self.canvas.set_date_range(low, high)
        self._show_filter()
        self._place()

    def _show_filter(self) -> None:
        self.toolbar.set_filter(self.filter_panel.words(), len(self.legend.hidden() - {-1}))

    def open_filter(self) -> None:
        """Opens the panel with dates and groups."""
        if self.finder.colours is not None:
            self.put_card_away()
            self.filter_panel.open_under(self.toolbar.filter)

    def open_quality(self) -> None:
        """Tells how far the map can be trusted."""
        if self.finder.view is not None and not self.badge.isHidden():
            self.put_card_away()
            self.quality_panel.show_view(self.finder.view)
            self.quality_panel.open_under(self.badge)

    def fold_legend(self) -> None:
        """Folds the legend, or unfolds it."""
        self.legend.set_collapsed(not self.legend.collapsed)

    def _on_contours(self, on: bool) -> None:
        self.contours_on = on
        self.canvas.set_contours(on)

    def _on_labels(self, on: bool) -> None:
        self.labels_on = on
        view = self.finder.view
        self.canvas.set_labels((view.labels if view is not None else None) if on else ())

    def set_tool(self, tool: str) -> None:
        """Chooses what dragging does."""
        self.canvas.tool = tool  # type: ignore[assignment]
        self.toolbar.show_tool(tool)

    # ---- clusters

    def _on_themes(self, themes: ClustersView) -> None:
        self.finder.forget_colours(ColourBy.THEME)
        if self.finder.view is None or self.finder.view.preview:
            return
        self.finder.ask_colours(ColourBy.THEME, again=True)
        if self.isVisible() and not self.finder.busy:
            self._ask(quiet=True)  # for the labels; the places stay
        else:
            self._stale = True

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and len(self.points):
            self.clear_selection()
        else:
            super().keyPressEvent(event)
