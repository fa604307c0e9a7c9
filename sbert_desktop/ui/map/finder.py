"""Asks for the map, its colours and the card beside a point, and remembers what was answered."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from PySide6.QtCore import QObject, Signal

from sbert_desktop.app.atlas_views import ColourBy, ColourView, LayoutRules, MapCard, MapRequest, MapUnit, MapView
from sbert_desktop.domain import Finished, Outcome, Progress
from sbert_desktop.errors import SbertDesktopError
from sbert_desktop.ui.bridge import Latest
from sbert_desktop.ui.page import Desk


def same_places(old: MapView | None, new: MapView) -> bool:
    """True when both show the same points at the same places: only labels or notes differ."""
    return old is not None and old.request.unit is new.request.unit and old.preview == new.preview and \
        len(old) == len(new) and np.array_equal(old.positions, new.positions) and \
        np.array_equal(old.contents, new.contents) and np.array_equal(old.fresh, new.fresh)


class MapFinder(QObject):
    """What is asked for and what has come.

    ``answered(MapView, changed)``: a map, also a preview of one; ``changed`` False where only its words are new.
    ``quiet`` while the person did not ask and nothing is to be shown of it.
    """

    began = Signal()
    progressed = Signal(object)  # Progress
    answered = Signal(object, bool)
    ended = Signal()  # whatever the outcome, after everything else
    failed = Signal(object)  # Failure
    cancelled = Signal()
    coloured = Signal(object)  # ColourView
    carded = Signal(object)  # MapCard

    def __init__(self, desk: Desk, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._desk = desk
        self._maps, self._colours, self._cards = (Latest(desk.bridge) for _ in range(3))
        self._wanted: list[ColourBy] = []
        self.unit = MapUnit.DOCUMENTS
        self.by = ColourBy.THEME
        self.method = "umap"
        self.rules = LayoutRules()
        self.view: MapView | None = None
        self.quiet = False
        self.refitting = False
        self.kept: dict[ColourBy, ColourView] = {}

    @property
    def busy(self) -> bool:
        """True while a map is under way."""
        return self._maps.job is not None

    @property
    def colours(self) -> ColourView | None:
        """The colours in force; None while they are under way."""
        return self.kept.get(self.by)

    # ---- the map

    def ask(self, *, refit: bool = False, quiet: bool = False) -> None:
        """Asks for the map; ``refit`` lays it out anew. What is under way is left."""
        self.quiet = quiet and self.view is not None
        self.refitting = refit and self.view is not None
        request = MapRequest(self.unit, refit, self.method, self.rules)
        try:
            job = self._desk.commands.map(request)
        except SbertDesktopError as error:
            self._desk.toast(str(error))
            self.ended.emit()
            return
        self._maps.watch(job, on_progress=self._on_progress, on_partial=self._on_partial, on_finished=self._on_map)
        self.began.emit()

    def cancel(self) -> None:
        """Stops the layout under way; what was there before stays."""
        if self._maps.job is not None:
            self._desk.commands.cancel(self._maps.job)

    def set_unit(self, unit: MapUnit) -> None:
        """Shows documents or passages."""
        if unit is not self.unit:
            self.unit = unit
            self.ask()

    def _on_progress(self, progress: Progress) -> None:
        if not self.quiet:
            self.progressed.emit(progress)

    def _on_partial(self, result: object) -> None:
        if isinstance(result, MapView):
            self._take(result)

    def _on_map(self, finished: Finished) -> None:
        self._maps.job = None
        if isinstance(finished.result, MapView) and finished.outcome is Outcome.DONE:
            self._take(finished.result)
            if self.refitting:
                self.method, self.rules = finished.result.request.method, finished.result.request.rules
        elif finished.outcome is Outcome.FAILED:
            self.failed.emit(finished.failure)
        elif finished.outcome is Outcome.CANCELLED:
            self.cancelled.emit()
        self.quiet = self.refitting = False
        self.ended.emit()

    def _take(self, view: MapView) -> None:
        old = self.view
        same = same_places(old, view)
        if same and old is not None:  # the arrays that others hold stay the ones in use
            view = replace(view, positions=old.positions, contents=old.contents, counts=old.counts,
                           passages=old.passages, starts=old.starts, fresh=old.fresh)
        self.view = view
        if not same:
            self.kept.clear()
            self._colours.drop()
            self._cards.drop()
            self._wanted.clear()
        self.answered.emit(view, not same)

    # ---- its colours

    def ask_colours(self, by: ColourBy, *, again: bool = False) -> None:
        """Brings what points are coloured by; at once where it is known."""
        known = self.kept.get(by)
        if again:
            self.kept.pop(by, None)
        elif known is not None:
            self.coloured.emit(known)
            return
        if by not in self._wanted:
            self._wanted.append(by)
        if self._colours.job is None or again:
            self._next_colours()

    def forget_colours(self, *which: ColourBy) -> None:
        """Forgets colours that are no longer true."""
        for by in which:
            self.kept.pop(by, None)

    def _next_colours(self) -> None:
        view = self.view
        if view is None or view.preview or not self._wanted:
            return
        by = self.by if self.by in self._wanted else self._wanted[0]
        self._wanted.remove(by)
        query = self._desk.found_query if by is ColourBy.QUERY else None
        try:
            job = self._desk.commands.map_colours(view, by, query=query)
        except SbertDesktopError as error:
            self._desk.toast(str(error))
            return
        self._colours.watch(job, on_finished=self._on_colours)

    def _on_colours(self, finished: Finished) -> None:
        self._colours.job = None
        result = finished.result
        if isinstance(result, ColourView) and self.view is not None and len(result.point_groups) == len(self.view):
            self.kept[result.by] = result
            self.coloured.emit(result)
        else:
            self._desk.report_failure(finished)
        self._next_colours()

    # ---- the card

    def ask_card(self, point: int) -> None:
        """Asks what a point is; -1: nothing more."""
        view = self.view
        if point < 0 or view is None or view.preview or point >= len(view):
            self._cards.drop()
            return
        self._cards.watch(self._desk.commands.map_card(view, point), on_finished=self._on_card)

    def _on_card(self, finished: Finished) -> None:
        self._cards.job = None
        if isinstance(finished.result, MapCard):
            self.carded.emit(finished.result)
