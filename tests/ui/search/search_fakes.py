"""A program that answers from canned views, in a thread, as the real one does."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from sbert_desktop.app.views import (
    DocumentView,
    FamilyView,
    FolderView,
    HitView,
    IndexHealth,
    LibraryView,
    Marks,
    ModelView,
    OpenerView,
    PreviewPage,
    PreviewText,
    SearchView,
)
from sbert_desktop.domain import (
    Event,
    Failure,
    Filters,
    Finished,
    JobId,
    Mode,
    Outcome,
    Parsed,
    Partial,
    Progress,
    Query,
    ScoreKind,
    Started,
)
from sbert_desktop.settings import Settings
from tests.ui.fake_query import fake_parse

HOME = Path.home()


def spans_of(text: str, *words: str) -> tuple[tuple[int, int], ...]:
    low = text.lower()
    found = []
    for word in words:
        at = low.find(word)
        while at >= 0:
            found.append((at, at + len(word)))
            at = low.find(word, at + 1)
    return tuple(sorted(found))


_ids = iter(range(1, 10_000_000))


def hit(text: str, *, score: float = 0.5, best: str = "", words: Sequence[str] = ("deposit",), page: int | None = None,
        location: str = "", path: Path = HOME / "a.txt", content: int = 0, start: int = 0, rank: int = 1,
        words_rank: int | None = 3) -> HitView:
    at = text.find(best) if best else -1
    return HitView(
        passage_id=next(_ids), content_id=content, path=path, text=text, start=start, end=start + len(text), page=page,
        location=location or (f"p. {page}" if page else ""), score=score, score_kind=ScoreKind.FUSED, cosine=score,
        bm25=4.2, meaning_rank=rank, words_rank=words_rank, best_sentence=(at, at + len(best)) if best else None,
        words=spans_of(text, *words))


def document(name: str, hits: Sequence[HitView], *, folder: str = "Documents/Home", title: str = "", kind: str = "",
             date: str = "2023-03-14", more: int = 0, state: str = "current", size: int = 412_000,
             content: int | None = None, copies: int = 0) -> DocumentView:
    path = HOME / folder / name
    content = content if content is not None else next(_ids)
    kind = kind or path.suffix[1:]
    return DocumentView(
        content_id=content, path=path, paths=(path, *(HOME / f"Copy{n}" / name for n in range(copies))),
        title=title or path.stem, format=kind, date=datetime.fromisoformat(date).timestamp(), size=size, language="en",
        score=hits[0].score, hits=tuple(replace(each, path=path, content_id=content) for each in hits), more=more,
        state=state)


def view(documents: Sequence[DocumentView], query: str = "deposit", **values: Any) -> SearchView:
    found = sum(len(each.hits) + each.more for each in documents)
    given: dict[str, Any] = {
        "query": query, "mode": Mode.HYBRID, "filters": Filters(), "by": "document", "milliseconds": 38.0,
        "documents": tuple(documents), "passages_found": found, "passages": 40_000, "embedded": 40_000,
        "generation": 1} | values
    return SearchView(**given)


def library(**values: Any) -> LibraryView:
    given: dict[str, Any] = {
        "path": HOME / "lib", "documents": 1240, "passages": 40_000, "embedded": 40_000, "problems": 0,
        "folders": tuple(FolderView(HOME / name, 10, 10, 100, 0, "current") for name in ("Documents", "Mail", "Notes")),
        "model": ModelView("MiniLM", HOME / "m", 384, 256, "mean", "", True), "backend": "openvino", "device": "CPU",
        "precision": "bf16", "index": IndexHealth("exact", 40_000),
        "formats": ("pdf", "md", "eml", "mbox", "odt", "txt"),
        "languages": ("en", "de", "fr")} | values
    return LibraryView(**given)


def page_picture(number: int = 3, pages: int = 12, width: int = 352) -> PreviewPage:
    height = round(width * 297 / 210)
    rows = bytearray(b"\xff" * (width * height * 3))
    for line in range(height // 12 - 8):  # grey lines for text
        y = 40 + line * 12
        for thick in range(3):
            begin = ((y + thick) * width + 30) * 3
            rows[begin : begin + (width - 60) * 3] = b"\x50" * ((width - 60) * 3)
    return PreviewPage(HOME / "x.pdf", "x", number, pages, width, height, bytes(rows),
                       passage=((30, 148, width - 60, 60),), sentence=((120, 160, width - 150, 12), (30, 172, 200, 12)))


class FakeCommands:
    """Answers every search with ``answers[query]`` or ``answer``; what was called stands in ``calls``."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.answer: SearchView | Failure = view(())
        self.answers: dict[str, SearchView | Failure] = {}
        self.marks: Marks | None = None
        self.better: SearchView | None = None  # the order after a second look
        self.kinds: tuple[ModelView, ...] = ()
        self.fail: dict[str, Failure] = {}
        self.previews: Callable[[HitView, int | None, int], object] = lambda hit, page, width: page_picture(
            page or 3, 12, max(200, width))
        self.texts: Callable[[HitView], object] = lambda hit: PreviewText(
            hit.path, "x", "pdf", f"Before.\n\n{hit.text}\n\nAfter.", 0, (9, 9 + len(hit.text)), None, ())
        self.programs: tuple[OpenerView, ...] = ()
        self.hold: set[str] = set()  # queries that wait for release()
        self.calls: list[tuple[Any, ...]] = []
        self.queries = ["deposit", "rent increase", "water meter"]
        self._post: Callable[[Event], None] = lambda event: None
        self._tasks: queue.Queue[Callable[[], None] | None] = queue.Queue()
        self._held: list[Callable[[], None]] = []
        self._number = 0
        self._thread = threading.Thread(target=self._work, name="fake-lane", daemon=True)
        self._thread.start()

    def _work(self) -> None:
        while True:
            task = self._tasks.get()
            if task is None:
                return
            task()

    def close(self, timeout: float = 5.0) -> None:
        self._tasks.put(None)
        self._thread.join(timeout)

    def connect(self, post: Callable[[Event], None]) -> None:
        self._post = post

    def _job(self, kind: str) -> JobId:
        self._number += 1
        return JobId(f"{kind}-{self._number}")

    def _submit(self, kind: str, events: Callable[[JobId], list[Event]], held: bool = False) -> JobId:
        job = self._job(kind)

        def run() -> None:
            self._post(Started(job, kind))
            for event in events(job):
                self._post(event)

        if held:
            self._held.append(run)
        else:
            self._tasks.put(run)
        return job

    def release(self) -> None:
        held, self._held = self._held, []
        for run in held:
            self._tasks.put(run)

    def typing(self) -> None:
        self.calls.append(("typing",))

    def search(self, query: Query) -> JobId:
        self.calls.append(("search", query))
        answer = self.answers.get(query.text, self.answer)
        marks = self.marks

        def events(job: JobId) -> list[Event]:
            if isinstance(answer, Failure):
                return [Finished(job, Outcome.FAILED, failure=answer)]
            shown = replace(answer, query=query.text, mode=query.mode, filters=query.filters)
            middle: list[Event] = [Partial(job, marks)] if marks is not None else []
            if query.rerank and self.better is not None:
                last = replace(self.better, query=query.text, mode=query.mode, filters=query.filters)
                return [Partial(job, shown), Progress(job, "reading", 25, query.rerank), *middle,
                        Finished(job, Outcome.DONE, last)]
            return [Partial(job, shown), *middle, Finished(job, Outcome.DONE, shown)]

        return self._submit("search", events, query.text in self.hold)

    def similar(self, path: Path, *, top: int = 10) -> JobId:
        self.calls.append(("similar", path))
        shown = replace(self.answer, query="") if isinstance(self.answer, SearchView) else view(())
        return self._submit("search", lambda job: [Finished(job, Outcome.DONE, shown)])

    def similar_text(self, text: str, *, top: int = 10) -> JobId:
        self.calls.append(("similar_text", text))
        shown = replace(self.answer, query="") if isinstance(self.answer, SearchView) else view(())
        return self._submit("search", lambda job: [Finished(job, Outcome.DONE, shown)])

    def parse(self, text: str) -> Parsed:
        return fake_parse(text)

    def _done(self, kind: str, result: object = None) -> JobId:
        failure = self.fail.get(kind)
        outcome = Outcome.FAILED if failure else Outcome.DONE
        return self._submit(kind, lambda job: [Finished(job, outcome, None if failure else result, failure)])

    def judge(self, query: str, hit: HitView, verdict: str) -> JobId:
        self.calls.append(("judge", query, hit.passage_id, verdict))
        return self._done("judge")

    def export_hits(self, view: SearchView, target: Path) -> JobId:
        self.calls.append(("export_hits", view, target))
        return self._done("export", target)

    def openers(self, path: Path) -> JobId:
        return self._done("openers", self.programs)

    def open_with(self, path: Path, program: Path) -> JobId:
        self.calls.append(("open_with", path, program))
        return self._done("open")

    def family(self, hit: HitView) -> JobId:
        self.calls.append(("family", hit.passage_id))
        return self._done("family", FamilyView((hit.path, hit.path), 1, "Newest of 2") if hit.page == 9 else None)

    def models(self) -> JobId:
        return self._done("models", self.kinds)

    def preview(self, hit: HitView, *, page: int | None = None, width: int = 704, as_text: bool = False) -> JobId:
        self.calls.append(("preview", hit.passage_id, page, width))
        result = self.texts(hit) if as_text else self.previews(hit, page, width)
        if isinstance(result, Failure):
            return self._submit("preview", lambda job: [Finished(job, Outcome.FAILED, failure=result)])
        return self._submit("preview", lambda job: [Finished(job, Outcome.DONE, result)], result is None)

    def history(self) -> tuple[str, ...]:
        return tuple(self.queries)

    def clear_history(self) -> None:
        self.calls.append(("clear_history",))
        self.queries = []

    def open_file(self, path: Path, page: int | None = None) -> JobId:
        self.calls.append(("open", path, page))
        return self._submit("open", lambda job: [Finished(job, Outcome.DONE)])

    def reveal(self, path: Path) -> JobId:
        self.calls.append(("reveal", path))
        return self._submit("open", lambda job: [Finished(job, Outcome.DONE)])

    def searches(self) -> list[Query]:
        return [call[1] for call in self.calls if call[0] == "search"]

    def named(self, name: str) -> list[tuple[Any, ...]]:
        return [call for call in self.calls if call[0] == name]


def tenancy() -> list[DocumentView]:
    """About as dense as a real answer."""
    lease = "§ 7 Deposit. The landlord returns the deposit of 1,350 within thirty days after the keys are " \
            "handed over, less any sums still owed."
    weeks = "Six weeks have passed since the handover on 31 October and the deposit has not reached my account."
    return [
        document("Tenancy agreement Alder Street 14.pdf", [
            hit(lease, score=0.71, page=3, words=("deposit", "thirty days"), rank=1,
                best="The landlord returns the deposit of 1,350 within thirty days after the keys are handed over,"),
            hit("Interest earned on the deposit belongs to the tenant and is paid out together with it.", score=0.58,
                page=3, rank=4),
            hit("Both parties sign a record of each room; the deposit is settled on its basis.", score=0.55, page=9,
                rank=6)], folder="Documents/Home/Contracts"),
        document("mail-2022-11.mbox", [
            hit("I will transfer the deposit by the end of December, as soon as the final water reading is in.",
                score=0.64, best="I will transfer the deposit by the end of December,", location="Ilse Tarrow"),
            hit("The deposit.", score=0.4), hit("Deposit again.", score=0.3)],
            folder="Mail", title="Re: flat, handing over the keys", date="2022-11-18"),
        document("Moving out checklist.md", [
            hit("Ask for the deposit in writing; they have a month after handover to pay it back. Photograph the "
                "meters. Cancel the broadband a month ahead.", score=0.61, words=("deposit", "back"),
                best="Ask for the deposit in writing; they have a month after handover to pay it back.",
                location="Before the last day")], folder="Notes/Home", date="2022-10-02"),
        document("Letter to the landlord, draft 2.odt", [
            hit(f"{weeks} Please let me know the date of the transfer.", score=0.57, page=1, best=weeks),
            hit("The deposit was 1,350.", score=0.4, page=1)], folder="Documents/Home/Letters", date="2022-12-12",
            state="changed"),
        document("Larkmoor cottage booking terms.pdf", [
            hit("The damage deposit is refunded to the card used for booking no later than seven days after departure.",
                score=0.52, page=2,
                best="The damage deposit is refunded to the card used for booking no later than seven days after "
                     "departure.")], folder="Documents/Travel/2024 Coast walk", date="2024-02-09", copies=2),
        document("Scooter hire invoice 2024-03.pdf", [
            hit("A deposit of 200 is blocked on your card\n\n and   released\twhen the scooter is back.", score=0.43,
                page=1)], folder="Documents/Invoices/2024", date="2024-03-21"),
        document("Note on the boiler.txt", [
            hit("Nothing here is marked, and no word is found, yet it is near in meaning.", score=0.31, words=())],
            state="gone", folder="Notes"),
    ]


def wait_until_quiet(seconds: float = 0.05) -> None:
    time.sleep(seconds)
