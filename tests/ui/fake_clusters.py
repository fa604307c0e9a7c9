"""The part of the fake program that sorts documents into clusters: canned ones, with a history of changes."""

from __future__ import annotations

import calendar
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from sbert_desktop.app.atlas_views import (
    UNSORTED,
    ClusterRequest,
    ClustersView,
    Curve,
    DocumentRow,
    Keyword,
    Neighbour,
    SplitPart,
    SplitView,
    ThemeChange,
    ThemeDeed,
    ThemeView,
)
from sbert_desktop.domain import Event, Finished, JobId, Outcome, Progress, Started

HOME = Path.home()

# label, size, colour, similarity, rest, keywords, folders, years
_THEMES: tuple[tuple[str, int, int, float, float, str, tuple[int, ...], tuple[int, int]], ...] = (
    ("Invoices and receipts", 702, 1, 0.61, 0.28, "invoice, total, due, delivery, timber", (390, 232, 80),
     (2014, 2024)),
    ("Soil research", 634, 3, 0.63, 0.31, "moisture, sensor, drying curve, plot, clay content, field season, "
     "calibration", (498, 104, 32), (2016, 2024)),
    ("Home and tenancy", 512, 0, 0.58, 0.33, "deposit, rent, keys, handover, heating", (340, 87, 85), (2011, 2024)),
    ("Recipes", 468, 2, 0.66, 0.22, "dough, oven, rye, simmer, caraway", (408, 60), (2009, 2023)),
    ("Travel plans", 410, 4, 0.55, 0.30, "ferry, cottage, platform, coast, luggage", (175, 177, 58), (2013, 2024)),
    ("Letters and family", 388, 5, 0.49, 0.34, "dear, birthday, visit, thank, summer", (215, 173), (2002, 2024)),
    ("Garden notebook", 352, 6, 0.57, 0.29, "seedlings, bed, frost, prune, compost", (262, 46, 44), (2018, 2024)),
    ("Courses and teaching", 294, 7, 0.52, 0.35, "exercise, week, reading, grade, seminar", (98, 98, 98),
     (2010, 2021)),
    ("Choir", 252, 8, 0.60, 0.27, "alto, rehearsal, concert, score", (200, 52), (2015, 2024)),
)
_CENTRAL = (
    ("Documents/Research/Soil moisture/Soil moisture protocol v3.docx", 0.86),
    ("Documents/Research/Soil moisture/2022 field season/Field report 2022, plots 1 to 12.pdf", 0.84),
    ("Notes/Research/Drying curves, first look.md", 0.82),
    ("Documents/Research/Reading/Clay content and sensor drift.pdf", 0.81),
    ("Documents/Research/Soil moisture/2022 field season/Plot readings July.xlsx", 0.79),
    ("Documents/Research/Talks/Soil talk, spring meeting.pptx", 0.77),
)
_ROOTS = ("Documents", "Notes", "Mail")
_SPLIT = (("Sensor readings", 0.475), ("Reading list", 0.312), ("Talks and reports", 0.213))


def row(content: int, place: str, fit: float, **more: object) -> DocumentRow:
    """Gives one canned document."""
    path = HOME / place
    made = DocumentRow(content, path, "", path.stem, path.suffix[1:], "en", 1_600_000_000.0 + 86_400 * (content % 999),
                       path.parent, fit=fit, confidence=min(1.0, fit + 0.1), passage=content * 10)
    return replace(made, **more)  # type: ignore[arg-type]


def theme(number: int) -> ThemeView:
    """Gives one canned cluster."""
    label, size, colour, similarity, rest, keys, folders, years = _THEMES[number % len(_THEMES)]
    roots = ("Documents/Research", "Notes/Research", "Mail") if number == 1 else _ROOTS
    words = tuple(Keyword(text, round(0.42 - 0.04 * at, 2), 0.5 - 0.05 * at, 0.02)
                  for at, text in enumerate(keys.split(", ")))
    central = tuple(row(1000 * number + at, place if number == 1 else
                        f"Documents/{label}/{words[at % len(words)].text.capitalize()} {at + 1}.pdf", fit,
                        theme=number) for at, (place, fit) in enumerate(_CENTRAL))
    beside = {1: (Neighbour(6, 0.58, ("compost", "clay")), Neighbour(7, 0.44, ("seminar",))),
              }.get(number, (Neighbour((number + 1) % 9, 0.41, ()),))
    first, last = (float(calendar.timegm((year, 6, 1, 0, 0, 0))) for year in years)
    return ThemeView(number, label, False, False, colour, size, "words", words, central[0].title, central,
                     tuple(zip([HOME / root for root in roots], folders, strict=False)), similarity, rest, beside,
                     first, last)


def curve() -> Curve:
    """Gives a canned curve."""
    counts = np.arange(2, 16, dtype=np.int32)
    return Curve(counts, 0.4 - 0.004 * (counts - 9.0) ** 2, 1.0 / np.sqrt(counts), 9, 6)


class FakeClusters:
    """Mixed into :class:`FakeApp`; every call stands in ``calls``."""

    calls: list[tuple[object, ...]]
    state: str
    say: Callable[[Sequence[Event]], None]

    def sort_nothing_yet(self) -> None:
        """Sets up what the state wants."""
        self.hold_clusters = False
        self.held_clusters: list[tuple[JobId, Callable[[], object]]] = []
        self.cluster_rows: dict[int, tuple[DocumentRow, ...]] = {}
        self.split_views: dict[int, SplitView] = {}
        self._past: list[tuple[str, ClustersView]] = []
        self._future: list[tuple[str, ClustersView]] = []
        self._next_theme = 100
        at = tuple(round(0.022 * (step / 5) ** 1.6, 4) for step in range(21))
        shown = tuple(theme(number) for number in range(len(_THEMES)))
        self.clusters_view = ClustersView(shown, 4102, 90, ClusterRequest(), 0.25, 0.21, curve(), unsorted_at=at)
        if self.state == "empty":
            self.clusters_view = ClustersView((), 0, 0, ClusterRequest(), 0.25, 0.0)

    def _job(self, kind: str, result: object, *partials: object, events: Sequence[Event] = ()) -> JobId:
        raise NotImplementedError

    # ---- finding

    def clusters(self, request: ClusterRequest | None = None, *, again: bool = False,
                 contents: Sequence[int] = ()) -> JobId:
        self.calls.append(("clusters", request, again, tuple(contents)))

        def answer() -> ClustersView:
            if contents:
                few = tuple(replace(one, size=max(2, one.size // 40)) for one in self.clusters_view.themes[:3])
                return replace(self.clusters_view, themes=few, scope=tuple(contents), documents=len(contents),
                               unsorted=0, fresh=0, undo="", redo="")
            if request is not None or again:
                self.clusters_view = replace(self.clusters_view, request=request or self.clusters_view.request, fresh=0,
                                             generation=self.clusters_view.generation + 1)
            return self.clusters_view

        if self.hold_clusters:
            job = JobId(f"clusters-held-{len(self.held_clusters)}")
            self.held_clusters.append((job, answer))
            self.say([Started(job, "clusters"), Progress(job, "Comparing documents", 1240, 4102)])
            return job
        return self._job("clusters", answer())

    def let_clusters_go(self, outcome: Outcome = Outcome.DONE) -> None:
        """Ends the jobs that were held."""
        held, self.held_clusters = self.held_clusters, []
        for job, answer in held:
            self.say([Finished(job, outcome, answer() if outcome is Outcome.DONE else None)])

    def theme_documents(self, theme: int, *, scope: Sequence[int] = ()) -> JobId:
        self.calls.append(("theme_documents", theme, tuple(scope)))
        return self._job("theme-documents", self.rows_of(theme))

    def rows_of(self, number: int) -> tuple[DocumentRow, ...]:
        """Gives the documents of a cluster, or those in none."""
        if number in self.cluster_rows:
            return self.cluster_rows[number]
        if number == UNSORTED:
            return tuple(row(90_000 + at, f"Documents/Various/Note {at + 1:02}.txt", 0.4, theme=at % 9,
                             confidence=0.24 - 0.002 * at, sorted_in=False)
                         for at in range(self.clusters_view.unsorted))
        shown = self.clusters_view.theme(number)
        if shown is None:
            return ()
        rest = tuple(row(1000 * number + at, f"Documents/Research/Series/Reading {at:03}.pdf", 0.76 - at * 0.001,
                         theme=number) for at in range(len(shown.central), shown.size))
        return shown.central[: shown.size] + rest

    def split_preview(self, number: int) -> JobId:
        self.calls.append(("split_preview", number))
        shown = self.clusters_view.theme(number)
        size = shown.size if shown is not None else 0
        parts = tuple(SplitPart(label, round(size * share), ("plot", "sensor")) for label, share in _SPLIT)
        return self._job("split-preview", self.split_views.get(number, SplitView(number, parts)))

    # ---- changing

    def change_clusters(self, change: ThemeChange) -> JobId:
        self.calls.append(("change_clusters", change))
        before = self.clusters_view
        if change.deed is ThemeDeed.UNDO:
            deed, view = self._past.pop()
            self._future.append((deed, before))
        elif change.deed is ThemeDeed.REDO:
            deed, view = self._future.pop()
            self._past.append((deed, before))
        else:
            self._past.append((change.deed.value, before))
            self._future.clear()
            view = self._changed(before, change)
        self.clusters_view = replace(view, undo=self._past[-1][0] if self._past else "",
                                     redo=self._future[-1][0] if self._future else "",
                                     generation=before.generation + 1)
        return self._job("change-clusters", self.clusters_view)

    def _changed(self, view: ClustersView, change: ThemeChange) -> ClustersView:
        themes = {one.id: one for one in view.themes}
        first = themes.get(change.themes[0]) if change.themes else None
        unsorted = view.unsorted
        match change.deed:
            case ThemeDeed.RENAME if first is not None:
                own = theme(first.id).label if first.id < 100 else "Part"
                themes[first.id] = replace(first, label=change.name or own, named=bool(change.name))
            case ThemeDeed.MERGE if first is not None:
                others = [themes.pop(one) for one in change.themes[1:]]
                themes[first.id] = replace(first, size=first.size + sum(one.size for one in others), beside=())
            case ThemeDeed.SPLIT if first is not None:
                themes.pop(first.id)
                for label, share in _SPLIT:
                    self._next_theme += 1
                    themes[self._next_theme] = replace(first, id=self._next_theme, label=label, beside=(),
                                                       colour=self._next_theme % 9, size=round(first.size * share))
            case ThemeDeed.PIN | ThemeDeed.UNPIN:
                for one in change.themes:
                    themes[one] = replace(themes[one], pinned=change.deed is ThemeDeed.PIN)
            case ThemeDeed.ASSIGN:
                unsorted -= len(change.contents) or unsorted
            case ThemeDeed.MOVE:
                unsorted += len(change.contents) if change.themes == (UNSORTED,) else 0
            case ThemeDeed.STRICTNESS:
                unsorted = round(view.unsorted_at[round(change.strictness * 20)] * view.documents)
                view = replace(view, strictness=change.strictness)
        return replace(view, themes=tuple(themes.values()), unsorted=unsorted)

    # ---- beside

    def document_rows(self, contents: Sequence[int]) -> JobId:
        self.calls.append(("document_rows", tuple(contents)))
        return self._job("document-rows", tuple(row(one, f"Documents/Found/Paper {one}.pdf", 0.6) for one in contents))

    def export_clusters(self, target: Path) -> JobId:
        self.calls.append(("export_clusters", target))
        return self._job("export", target)
