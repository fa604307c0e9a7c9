"""The search part of the fake program: the query language, verdicts, versions and export."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from sbert_desktop.app.views import DocumentView, FamilyView, HitView, SearchView
from sbert_desktop.domain import JobId, Parsed, Query
from tests.ui.fake_query import fake_parse


class FakeSearch:
    """Mixed into :class:`FakeApp`; every call stands in ``calls``."""

    calls: list[tuple[object, ...]]
    search: Callable[[Query], JobId]
    _job: Callable[..., JobId]
    all_documents: Callable[[], tuple[DocumentView, ...]]

    def judge_nothing_yet(self) -> None:
        self.verdicts: dict[int, str] = {}

    def told(self, view: SearchView) -> SearchView:
        """Gives an answer with verdicts, chance, and near-identical passages behind the second document."""
        if not view.query or not view.documents:
            return view
        out: list[DocumentView] = []
        for number, each in enumerate(view.documents):
            hits = tuple(replace(hit, judged=self.verdicts.get(hit.passage_id, ""),
                                 folded=3 if number == 1 and at == 0 else 0) for at, hit in enumerate(each.hits))
            out.append(replace(each, hits=hits))
        return replace(view, documents=tuple(out), chance=0.38, parsed=fake_parse(view.query))

    def similar_text(self, text: str, *, top: int = 10) -> JobId:
        self.calls.append(("similar_text", text))
        return self.search(Query(text, top=top))

    def parse(self, text: str) -> Parsed:
        return fake_parse(text)

    def judge(self, query: str, hit: HitView, verdict: str) -> JobId:
        self.calls.append(("judge", query, hit.passage_id, verdict))
        self.verdicts[hit.passage_id] = verdict
        return self._job("judge", None)

    def export_hits(self, view: SearchView, target: Path) -> JobId:
        self.calls.append(("export_hits", len(view.documents), target))
        return self._job("export", target)

    def documents(self, words: str, *, limit: int = 8) -> JobId:
        self.calls.append(("documents", words))
        found = [each for each in self.all_documents()
                 if all(word in f"{each.path.name} {each.title}".casefold() for word in words.casefold().split())]
        return self._job("documents", tuple(found[:limit]))

    def openers(self, path: Path) -> JobId:
        return self._job("openers", ())

    def open_with(self, path: Path, program: Path) -> JobId:
        self.calls.append(("open_with", path, program))
        return self._job("open", None)

    def family(self, hit: HitView) -> JobId:
        self.calls.append(("family", hit.passage_id))
        letter = FamilyView((hit.path,) * 4, 3, "Newest of 4; this sentence changed in draft 3")
        return self._job("family", letter if hit.path.name.startswith("Letter") else None)
