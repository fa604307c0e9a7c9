"""The part of the fake program that draws the map: nine invented clusters, shaped as a library's would be.

``map_state``: ``full`` (4,102 documents), ``few`` (3), ``none`` (nothing to lay out), ``huge`` (a million points).
``hold_map`` keeps the next map under way until :meth:`FakeMap.let_map_go`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import numpy as np

from sbert_desktop.app.atlas_views import (
    UNSORTED,
    ColourBy,
    ColourGroup,
    ColourView,
    DocumentRow,
    MapCard,
    MapLabel,
    MapRequest,
    MapView,
)
from sbert_desktop.domain import Event, Finished, JobId, Outcome, Partial, Progress, Query, Started

HOME = Path.home()
NOW = 1_700_000_000.0
FIRST = 1_000_000
"""The content of point 0; the other parts of the fake have smaller ones."""

# name, size, x, y of its bends, parts of it, kinds of files in it; places as in a picture 920 x 700
CLUSTERS: tuple[tuple[str, int, tuple[tuple[float, float], ...], tuple[tuple[str, float, float], ...], str], ...] = (
    ("Home and tenancy", 512, ((300, 160), (330, 140), (370, 180), (390, 240)),
     (("deposit", 350, 150), ("repairs", 386, 210)), "pdf docx pdf eml"),
    ("Invoices and receipts", 702, ((496, 90), (500, 150), (560, 185), (610, 195), (670, 170)),
     (("delivery notes", 498, 140), ("timber", 610, 187)), "pdf pdf xlsx"),
    ("Recipes", 468, ((725, 590), (640, 600), (680, 645), (610, 660)), (("soups", 698, 607), ("bread", 622, 660)),
     "md txt pdf"),
    ("Soil research", 634, ((700, 270), (750, 290), (790, 255), (850, 245), (890, 265)),
     (("drying curves", 713, 325), ("reading list", 812, 262), ("sensor drift", 855, 243)), "pdf md docx xlsx pptx"),
    ("Travel plans", 410, ((240, 430), (290, 430), (350, 440), (370, 400)),
     (("rail tickets", 262, 430), ("coast walk", 341, 436)), "pdf md eml"),
    ("Letters and family", 388, ((410, 370), (470, 375), (500, 385), (545, 355)), (("birthdays", 414, 386),),
     "docx eml"),
    ("Garden notebook", 352, ((810, 420), (820, 470), (850, 490), (890, 510)),
     (("compost", 822, 476), ("seedlings", 886, 505)), "md txt"),
    ("Courses and teaching", 294, ((655, 450), (628, 480), (615, 520), (612, 552)), (("handouts", 630, 480),),
     "pptx pdf docx"),
    ("Insurance and health", 252, ((280, 262), (272, 300), (215, 310)), (("claims", 266, 343),), "pdf eml"),
)
UNSORTED_SIZE = 90
_NAMES = (
    "Drying curves, first look", "Clay content and sensor drift", "Plot readings July", "Plot notes week 31",
    "Plot notes week 30", "Re: sensor 7 reads too dry", "Calibration certificate, probes 1 to 8",
    "Evaporation under straw cover", "Soil talk, spring meeting", "Soil moisture protocol v3", "Questions for the lab",
    "Probe log 2021", "Rain gauge comparison", "Letter about the fence", "Order of twelve boards",
)
_FOLDERS = ("Notes", "Documents/Research/Reading", "Documents/Research/2022 field season", "Mail/mail-2022-08.mbox",
            "Documents/Research/Equipment", "Documents/Research/Talks")
KEYWORDS = ("sensor", "moisture", "drying curve", "calibration")


def shape(cluster: int, size: int, random: np.random.Generator) -> np.ndarray:
    """Gives float32 [size, 2]: points along a cluster's bends."""
    bends = np.array(CLUSTERS[cluster][2])
    at = random.random(size) * (len(bends) - 1)
    low = np.minimum(at.astype(int), len(bends) - 2)
    line = bends[low] + (at - low)[:, None] * (bends[low + 1] - bends[low])
    wide = np.where(random.random(size) < 0.12, 26.0, 11.0)
    return (line + random.normal(size=(size, 2)) * wide[:, None]).astype(np.float32)


def layout(seed: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Gives the positions of the full map and which cluster each point is in, -1 for none."""
    random = np.random.default_rng(seed)
    parts = [shape(number, cluster[1], random) for number, cluster in enumerate(CLUSTERS)]
    parts.append(np.column_stack([random.uniform(200, 900, UNSORTED_SIZE), random.uniform(90, 730, UNSORTED_SIZE)]))
    groups = np.repeat([*range(len(CLUSTERS)), -1], [*(cluster[1] for cluster in CLUSTERS), UNSORTED_SIZE])
    order = random.permutation(len(groups))
    return (np.concatenate(parts).astype(np.float32) / 60)[order], groups.astype(np.int32)[order]


def view_of(positions: np.ndarray, request: MapRequest, *, labels: bool = True) -> MapView:
    """Gives a map of these positions; every fortieth point stands for four documents."""
    counts = np.where(np.arange(len(positions)) % 40 == 7, 4, 1).astype(np.int32)
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    members = np.arange(starts[-1], dtype=np.int64)
    made = tuple(
        MapLabel(text, x / 60, y / 60, size, level, number)
        for number, (own, size, bends, parts, _) in enumerate(CLUSTERS)
        for text, x, y, level in [(own, sum(b[0] for b in bends) / len(bends),
                                   min(b[1] for b in bends) - 24, 0), *((*part, 1) for part in parts)]
    ) if labels else ()
    return MapView(
        request, positions, counts, FIRST + members, 5_000_000 + members, starts, np.zeros(len(positions), np.bool_),
        made, quality="good", quality_sentence="Documents that lie together here are alike.", trustworthiness=0.94,
        kept=0.47, seconds=1.4, generation=1,
    )


class FakeMap:
    """Mixed into :class:`FakeApp`; every call stands in ``calls``."""

    calls: list[tuple[object, ...]]
    state: str
    _job: Callable[..., JobId]
    say: Callable[[Sequence[Event]], None]
    map_state: str = "full"
    map_note: str = ""
    map_generation: int = 1
    hold_map: bool = False
    clusters_known: bool = True
    map_kept: bool = False  # a map was laid out in an earlier session
    fresh: int = 0
    waiting: int = 0
    _held_map: tuple[JobId, MapView] | None = None
    _layouts: ClassVar[dict[str, tuple[np.ndarray, np.ndarray]]] = {}

    def _points(self) -> tuple[np.ndarray, np.ndarray]:
        found = self._layouts.get(self.map_state)
        if found is None:
            if self.map_state == "huge":
                random = np.random.default_rng(1)
                groups = random.integers(-1, len(CLUSTERS), 1_000_000).astype(np.int32)
                positions = random.normal(size=(1_000_000, 2)) * 0.6 + np.column_stack([groups % 3, groups // 3]) * 3
                found = positions.astype(np.float32), groups
            elif self.map_state in ("few", "none"):
                number = 3 if self.map_state == "few" else 0
                found = (np.array([[0, 0], [1, 0.3], [0.4, 1]], np.float32)[:number],
                         np.array([-1, -1, -1], np.int32)[:number])
            else:
                found = layout()
            self._layouts[self.map_state] = found
        return found

    def map_view(self, request: MapRequest | None = None) -> MapView:
        """Gives the map that is answered."""
        request = request or MapRequest()
        positions, _ = self._points()
        if request.refit and len(positions) > 3:
            positions = (positions + np.float32(0.4) * np.sin(positions[:, ::-1])).astype(np.float32)
        few = self.map_state in ("few", "none")
        view = view_of(positions, request, labels=not few and self.clusters_known)
        fresh = view.fresh.copy()
        if self.fresh and not request.refit:
            fresh[-self.fresh:] = True
        note = self.map_note
        if self.map_state == "none":
            note = "There is nothing to lay out yet: no document has been understood so far."
        elif self.map_state == "few":
            note = "With 3 documents the map says little; it shows which two are the nearest."
        return replace(view, fresh=fresh, note=note, waiting=self.waiting, generation=self.map_generation,
                       quality="exact" if few else view.quality,
                       moved=self._points()[0] if request.refit and not few else None)

    def map(self, request: MapRequest) -> JobId:
        if request.stored:
            self.calls.append(("map-stored", request))
            positions = self._points()[0] if self.map_kept else np.zeros((0, 2), np.float32)
            return self._job("map-stored", view_of(positions, request, labels=False))
        self.calls.append(("map", request))
        view = self.map_view(request)
        if self.hold_map:
            job = JobId(f"map-held-{len(self.calls)}")
            self._held_map = (job, view)
            self.say([Started(job, "map"), Progress(job, "Placing the documents", 120, 400)])
            return job
        return self._job("map", view)

    def let_map_go(self, outcome: Outcome = Outcome.DONE, *, preview: bool = False) -> None:
        """Ends the map that is held, or posts its preview and keeps holding it."""
        assert self._held_map is not None
        job, view = self._held_map
        if preview:
            spread = np.random.default_rng(5).normal(size=view.positions.shape).astype(np.float32) * 2
            self.say([Partial(job, replace(view, positions=spread, labels=(), preview=True, quality=""))])
            return
        self._held_map = None
        self.say([Finished(job, outcome, view if outcome is Outcome.DONE else None)])

    def map_colours(self, view: MapView, by: ColourBy, *, query: Query | None = None) -> JobId:
        self.calls.append(("map_colours", by, query))
        return self._job("map-colours", self.colours(view, by, query))

    def colours(self, view: MapView, by: ColourBy, query: Query | None = None) -> ColourView:
        """Gives what the colours say."""
        _, clusters = self._points()
        random = np.random.default_rng(9)
        dates = NOW - random.uniform(0, 8 * 365 * 86_400, len(view))
        dates[::9] = np.nan
        none = np.full(len(view), -1, np.int32)
        if by is ColourBy.THEME and self.clusters_known and self.map_state in ("full", "huge"):
            sizes = np.bincount(clusters + 1, view.counts, len(CLUSTERS) + 1)
            groups = tuple(ColourGroup(own[0], int(sizes[n + 1]), n, n) for n, own in enumerate(CLUSTERS))
            groups += (ColourGroup("Unsorted", int(sizes[0]), -1, UNSORTED),)
            return ColourView(by, np.where(clusters < 0, len(CLUSTERS), clusters).astype(np.int32), groups, None, "",
                              "", dates)
        if by is ColourBy.THEME:
            return ColourView(by, none, (), None, "", "", dates, "The documents are not sorted into clusters yet.")
        if by is ColourBy.DATE:
            values = ((dates - np.nanmin(dates)) / max(1.0, float(np.nanmax(dates) - np.nanmin(dates))))
            return ColourView(by, none, (), values.astype(np.float32), "Nov 2015", "Nov 2023", dates)
        if by is ColourBy.QUERY:
            if query is None:
                return ColourView(by, none, (), None, "", "", dates, "Search for something first.")
            values = random.random(len(view)).astype(np.float32)
            return ColourView(by, none, (), values, "least alike", "most alike", dates)
        names = {ColourBy.FOLDER: ("~/Documents", "~/Notes", "~/Mail"), ColourBy.TYPE: ("PDF", "Word", "Mail", "Notes"),
                 ColourBy.LANGUAGE: ("English", "German"), ColourBy.DUPLICATES: ("Has a duplicate", "Has none")}[by]
        chosen = (np.arange(len(view)) % len(names)).astype(np.int32)
        groups = tuple(ColourGroup(own, int(view.counts[chosen == n].sum()), n if own != "Has none" else -1)
                       for n, own in enumerate(names))
        return ColourView(by, chosen, groups, None, "", "", dates)

    def map_row(self, content: int) -> DocumentRow:
        """Gives what lists show of a document of the map."""
        at = content - FIRST
        _, clusters = self._points()
        rest = at % 43  # of forty points the eighth stands for four documents
        point = at // 43 * 40 + (rest if rest < 8 else max(7, rest - 3))
        theme = int(clusters[point]) if 0 <= point < len(clusters) else UNSORTED
        kinds = CLUSTERS[theme][4].split() if theme >= 0 else ["txt"]
        kind = kinds[at % len(kinds)]
        folder = HOME / _FOLDERS[at % len(_FOLDERS)]
        title = f"{_NAMES[at % len(_NAMES)]}{'' if at < len(_NAMES) else f', {at}'}"
        mail = folder.suffix == ".mbox"
        path = folder if mail else folder / f"{title}.{kind}"
        return DocumentRow(content, path, f"{at} {title}.eml" if mail else "", title, "eml" if mail else kind, "en",
                           None if at % 9 == 0 else NOW - at * 70_000.0, HOME / folder.relative_to(HOME).parts[0],
                           theme, 0.9 - (at % 50) / 100, 0.8, theme >= 0, passage=5_000_000 + at)

    def map_card(self, view: MapView, point: int) -> JobId:
        self.calls.append(("map_card", point))
        row = self.map_row(int(view.contents[view.starts[point]]))
        theme = CLUSTERS[row.theme][0] if row.theme >= 0 else ""
        text = "The curve is steep in the first three days and then follows the clay content. Probe 7 was left out."
        return self._job("map-card", MapCard(point, row, text, theme, int(view.counts[point]) - 1))

    def export_map(self, view: MapView, colours: ColourView, target: Path, *, palette: Sequence[str] = ()) -> JobId:
        self.calls.append(("export_map", view, colours, target, tuple(palette)))
        return self._job("export", target)

    # ---- what the map shares with Clusters

    def document_rows(self, contents: Sequence[int]) -> JobId:
        other = getattr(super(), "document_rows", None)
        if other is not None and contents and contents[0] < FIRST:
            return other(contents)
        self.calls.append(("document_rows", tuple(contents)))
        return self._job("document-rows", tuple(self.map_row(int(content)) for content in contents))

    def collect_documents(self, name: str, contents: Sequence[int], *, note: str = "") -> JobId:
        other = getattr(super(), "collect_documents", None)
        if other is not None and contents and contents[0] < FIRST:
            return other(name, contents, note=note)
        self.calls.append(("collect_documents", name, tuple(contents), note))
        return self._job("collections", ())

