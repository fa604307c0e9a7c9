"""What is being searched: the words, the filters, the job under way and the answers that count.

QtCore only. Knows nothing of widgets: the page tells it what the person does and shows what it says.
An answer of a job that is not the latest is never passed on.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal

from sbert_desktop.app.interface import Commands
from sbert_desktop.app.views import Marks, SearchView, Span
from sbert_desktop.domain import Failure, Filters, Finished, JobId, Mode, Outcome, Query
from sbert_desktop.errors import SbertDesktopError
from sbert_desktop.ui.bridge import Bridge, Latest

DEBOUNCE_MS = 180
SLOW_MS = 250  # skeleton rows appear only for a search that takes longer
RERUN_MS = 3000  # least time between two quiet re-runs while the library changes
FIRST_DOCUMENTS = 50
PASSAGES_PER_DOCUMENT = 10
READ_AGAIN = 50  # passages that a second look scores


@dataclass(frozen=True, slots=True)
class Steer:
    """A passage that the person wants more (``sign`` +1) or less (-1) like, and what names it."""

    passage_id: int
    sign: int
    words: str


class SearchSession(QObject):
    """Turns typing, filters and changes of the library into searches, one at a time.

    Signals: ``answered(SearchView, quiet, final)`` - ``quiet`` for what must not move the list by itself: a
    re-run that nobody asked for, a better order after the first one; ``progressed(Progress)`` of a second look;
    ``steered()`` when it is steered by other passages;
    ``marked(Marks)``; ``slow()`` when an answer takes long; ``failed(Failure)``; ``cleared()`` when
    there is nothing to search.
    """

    answered = Signal(object, bool, bool)
    marked = Signal(object)
    progressed = Signal(object)
    steered = Signal()
    slow = Signal()
    failed = Signal(object)
    cleared = Signal()

    def __init__(self, commands: Commands, bridge: Bridge, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._commands = commands
        self._text = ""
        self._filters = Filters()
        self._words = commands.settings.number("search.words_weight")
        self._top = FIRST_DOCUMENTS
        self._passages = PASSAGES_PER_DOCUMENT
        self._similar: Path | None = None
        self._like = ""  # a text whose like is looked for
        self._steer: tuple[Steer, ...] = ()
        self._fold = True
        self._recency = 0.0
        self._rerank = 0
        self._given = False  # the job under way has answered once
        self._latest = Latest(bridge)
        self._quiet = False
        self._spans: dict[int, Span] = {}  # best sentences known of the answer on screen
        self._again = False  # the library changed once more while a quiet re-run was under way
        self._shown: tuple[object, ...] = ()  # what the answer on screen answers
        self._asked: tuple[object, ...] = ()
        self._rerun_at = 0.0
        self._debounce = self._timer(DEBOUNCE_MS, self.submit)
        self._slow = self._timer(SLOW_MS, self.slow.emit)
        self._rerun = self._timer(RERUN_MS, self._run_quietly)

    def _timer(self, milliseconds: int, slot: object) -> QTimer:
        timer = QTimer(self)
        timer.setSingleShot(True)
        timer.setInterval(milliseconds)
        timer.timeout.connect(slot)
        return timer

    # ---- state ----------------------------------------------------------------------------
    @property
    def text(self) -> str:
        """The words of the query."""
        return self._text

    @property
    def top(self) -> int:
        """How many documents are asked for."""
        return self._top

    @property
    def words_weight(self) -> int:
        """Weight of the words in per cent: 0 is meaning alone, 100 is words alone."""
        return self._words

    @property
    def similar_path(self) -> Path | None:
        """The document whose like are shown, if any."""
        return self._similar

    @property
    def like(self) -> str:
        """The text whose like are shown, if any."""
        return self._like

    @property
    def steer(self) -> tuple[Steer, ...]:
        """The passages that the search is steered by."""
        return self._steer

    @property
    def folded(self) -> bool:
        """True while passages that say nearly the same count as one."""
        return self._fold

    @property
    def busy(self) -> bool:
        """True while an answer is awaited that the person asked for, or about to be."""
        return self._debounce.isActive() or (self._latest.job is not None and not self._quiet)

    @property
    def settled(self) -> bool:
        """True when the list answers exactly what stands in the box."""
        return not self.busy and bool(self._shown) and self._shown == self._key()

    def query(self) -> Query:
        """Gives the query as it stands."""
        mode = {0: Mode.SEMANTIC, 100: Mode.KEYWORD}.get(self._words, Mode.HYBRID)
        return Query(text=self._text.strip(), mode=mode, top=self._top, filters=self._filters,
                     words_weight=self._words / 100, passages_per_document=self._passages, fold=self._fold,
                     recency=self._recency, rerank=self._rerank,
                     more=tuple(each.passage_id for each in self._steer if each.sign > 0),
                     less=tuple(each.passage_id for each in self._steer if each.sign < 0))

    # ---- what the person does -------------------------------------------------------------
    def type_text(self, text: str) -> None:
        """The words changed: search soon."""
        self._commands.typing()
        self._take_text(text)
        if not text.strip():
            self._clear()
            return
        self._debounce.start()

    def run(self, text: str) -> None:
        """Searches for words at once."""
        self._take_text(text)
        self.submit()

    def submit(self) -> None:
        """Searches now, unless the same is already under way."""
        self._debounce.stop()
        if self._similar is None and not self._like and not self._text.strip():
            self._clear()
        elif not (self.busy and self._asked == self._key()):
            self._start(quiet=False)

    def set_filters(self, filters: Filters) -> None:
        """Narrows or widens the search and runs it."""
        self._filters = filters
        self._top, self._passages = FIRST_DOCUMENTS, PASSAGES_PER_DOCUMENT
        if self._text.strip():  # similar documents are not filtered; without words they stay
            self._similar, self._like = None, ""
            self.submit()

    def set_words_weight(self, weight: int) -> None:
        """Changes the balance of words and meaning (per cent of words) and runs soon."""
        self._words = max(0, min(100, weight))
        if self._text.strip() and self._similar is None and not self._like:
            self._debounce.start()

    def show_similar(self, path: Path | None) -> None:
        """Looks for documents like one; None goes back to the words."""
        self._look_like(path, "")

    def show_like(self, text: str) -> None:
        """Looks for documents like a text, instead of the words; "" ends that."""
        self._text = "" if text.strip() else self._text
        self._look_like(None, text.strip())

    def _look_like(self, path: Path | None, text: str) -> None:
        self._debounce.stop()
        self._similar, self._like = path, text
        self._top = FIRST_DOCUMENTS
        self._steer, self._fold = (), True
        self.steered.emit()
        if path is None and not text and not self._text.strip():
            self._clear()
        else:
            self._start(quiet=False)

    def set_steer(self, steer: tuple[Steer, ...]) -> None:
        """Steers the search towards and away from passages; the last word on a passage counts."""
        self._steer = tuple({each.passage_id: each for each in steer}.values())
        self.steered.emit()
        self._rerun_words()

    def set_folded(self, folded: bool) -> None:
        """Lists passages that say nearly the same as one, or one by one."""
        self._fold = folded
        self._rerun_words()

    def set_recency(self, recency: float) -> None:
        """Sets the weight of newness in [0, 1]."""
        if recency != self._recency:
            self._recency = recency
            self._rerun_words()

    def set_rerank(self, passages: int) -> None:
        """Sets how many passages are read again together with the query; 0 for none."""
        if passages != self._rerank:
            self._rerank = passages
            self._rerun_words()

    @property
    def recency(self) -> float:
        """The weight of newness."""
        return self._recency

    def _rerun_words(self) -> None:
        if self._text.strip() and self._similar is None and not self._like:
            self.submit()

    def want_more(self) -> None:
        """Asks for twice as many documents."""
        self._top *= 2
        self._start(quiet=True)

    def want_all_passages(self) -> None:
        """Asks for all passages of each document."""
        self._passages = max(200, self._passages * 4)
        self._start(quiet=True)

    def library_changed(self) -> None:
        """The library has new content: the query on screen may have new hits. At most every 3 s."""
        if not self._shown or self._similar is not None or self._like or self._rerun.isActive():
            return
        wait = self._rerun_at + RERUN_MS / 1000 - time.monotonic()
        self._rerun.start(max(0, round(wait * 1000)))

    # ---- jobs -----------------------------------------------------------------------------
    def _key(self) -> tuple[object, ...]:
        return (self._similar, self._like, replace(self.query(), text=self._text.strip()))

    def _take_text(self, text: str) -> None:
        if text.strip() != self._text.strip():
            self._top, self._passages = FIRST_DOCUMENTS, PASSAGES_PER_DOCUMENT
            self._steer, self._fold = (), True  # they belonged to the other words
        self._similar, self._like = None, ""
        self._text = text

    def _clear(self) -> None:
        self._debounce.stop()
        self._slow.stop()
        self._rerun.stop()
        self._latest.drop()
        self._shown, self._asked = (), ()
        self.cleared.emit()

    def _run_quietly(self) -> None:
        if self.busy or not self._shown:
            return
        if self._latest.job is not None:
            # it would never come to its end while a library keeps changing: the newest search wins
            self._again = True
            return
        self._rerun_at = time.monotonic()
        self._start(quiet=True)

    def _start(self, *, quiet: bool) -> None:
        if not quiet:
            self._spans = {}
        self._again = False
        self._quiet, self._given = quiet, False
        self._asked = self._key()
        try:
            if self._similar is not None:
                job = self._commands.similar(self._similar, top=self._top)
            elif self._like:
                job = self._commands.similar_text(self._like, top=self._top)
            else:
                job = self._commands.search(self.query())
        except SbertDesktopError as error:
            self._fail(Failure(error.code, error.message, error.hint))
            return
        self._latest.watch(job, on_progress=self.progressed.emit,
                           on_partial=partial(self._on_partial, job),
                           on_finished=partial(self._on_finished, job))
        if quiet:
            self._slow.stop()
        else:
            self._slow.start()

    def _on_finished(self, job: JobId, event: Finished) -> None:
        if job != self._latest.job:
            return
        self._latest.job = None
        self._slow.stop()
        if event.outcome is Outcome.DONE and isinstance(event.result, SearchView):
            self._answer(event.result, final=True)
        elif event.outcome is Outcome.FAILED and not self._quiet:
            self._fail(event.failure or Failure("search-failed", "The search did not finish."))
        if self._again:
            self._again = False
            self.library_changed()

    def _on_partial(self, job: JobId, result: object) -> None:
        if job != self._latest.job:
            return
        if isinstance(result, SearchView):
            # finding best sentences anew may take seconds: those that are known stand until then
            self._answer(with_sentences(result, self._spans) if self._quiet else result, final=False)
        elif isinstance(result, Marks):
            self._spans.update(result.spans)
            self.marked.emit(result)

    def _answer(self, view: SearchView, *, final: bool) -> None:
        self._slow.stop()
        self._shown = self._asked
        again, self._given = self._given, True
        self.answered.emit(view, self._quiet or again, final)

    def _fail(self, failure: Failure) -> None:
        self._slow.stop()
        self._latest.drop()
        self._shown = ()
        self.failed.emit(failure)


def with_sentences(view: SearchView, spans: Mapping[int, Span]) -> SearchView:
    """Gives an answer with the best sentences that are known already, by passage."""
    if not spans:
        return view
    return replace(view, documents=tuple(
        replace(document, hits=tuple(
            replace(hit, best_sentence=spans[hit.passage_id])
            if hit.best_sentence is None and hit.passage_id in spans else hit for hit in document.hits))
        for document in view.documents))
