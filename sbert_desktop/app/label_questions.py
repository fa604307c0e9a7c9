"""Questions and passages to judge next: the person's own questions, and what a search of theirs finds. Any thread.

Questions are the saved searches, then what was searched for, then what was judged before. A person who has not searched
yet is asked with titles of their documents (``why`` is ``title``), taken as they stand: they are no questions, but
what a person knows of a document when looking for it.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from sbert_desktop.app import judging, label_records
from sbert_desktop.app.collecting import unpack_query
from sbert_desktop.app.label_memory import Memory, memory_of, text_hash
from sbert_desktop.app.label_sides import sides_of
from sbert_desktop.app.searching import find
from sbert_desktop.app.training_views import PairView, Task, TextSide
from sbert_desktop.domain import Filters, PassageRecord, Query, Snapshot
from sbert_desktop.errors import SbertDesktopError
from sbert_desktop.library import JudgementRecord
from sbert_desktop.training import proposing

if TYPE_CHECKING:
    from sbert_desktop.app.session import Session
    from sbert_desktop.domain import JobContext

TITLE = "title"
"""``why`` of a pair whose question is the title of a document, or its first sentence."""
_HISTORY, _TITLES = 100, 60
_TOP = 24
"""Documents asked about of one question at most: its best passage each."""
_A_QUESTION = 4
"""Passages that a question should give to one call: more would all be about one thing."""
_SECONDS = 0.5
"""After so long no further question is searched for."""
_LONGEST, _SHORTEST = 90, 8
"""Characters of a title that can stand for a question."""


@dataclass(frozen=True, slots=True)
class _Question:
    text: str
    query: Query
    is_title: bool = False


@dataclass(frozen=True, slots=True)
class _Candidate:
    question: int
    score: float
    record: PassageRecord


def propose_answers(
    session: Session, count: int, context: JobContext, among: Sequence[int] = ()
) -> tuple[PairView, ...]:
    """Gives questions with passages to judge; see :func:`sbert_desktop.app.labelling.propose_pairs`.

    Raises:
        Cancelled: Through ``context``.
        LibraryError: The library cannot be read.
    """
    memory = memory_of(session)
    rng = np.random.default_rng((20_260_102, memory.calls))
    snapshot = session.snapshot()
    if not snapshot.passages:
        return ()
    records = session.library.judgements(judging.KIND)
    questions = _questions(session, snapshot, records, rng)
    if among:
        only = Filters(contents=tuple(among))
        questions = [replace(one, query=replace(one.query, filters=only)) for one in questions]
    found = _searched(session, questions, count, context)
    if not found:
        return ()
    shas = session.library.sha256s({int(one.record.content_id) for one in found})
    found = [one for one in found if int(one.record.content_id) in shas]
    judged = {(judging.same_query(record.query), text_hash(record.text)) for record in records}
    chosen = _chosen(found, questions, judged, memory, shas, count, rng)
    sides = sides_of(snapshot, [found[one.place].record for one in chosen], shas)
    pairs = []
    for one, side in zip(chosen, sides, strict=True):
        question = questions[found[one.place].question]
        id_ = _id(question.text, found[one.place].record, shas)
        why = TITLE if question.is_title else one.why.value
        pairs.append(PairView(id_, Task.ANSWERS, TextSide(question.text), side, why))
        memory.pairs.add(id_)
        memory.texts.add(text_hash(side.text))
    return tuple(pairs)


def _id(question: str, record: PassageRecord, shas: dict[int, str]) -> str:
    sha256 = shas[int(record.content_id)]
    return label_records.id_of(JudgementRecord(judging.KIND, "", question, sha256, record.start, record.end, ""))


def _chosen(
    found: Sequence[_Candidate], questions: Sequence[_Question], judged: Collection[tuple[str, int]], memory: Memory,
    shas: dict[int, str], count: int, rng: np.random.Generator,
) -> list[proposing.Proposal]:  # fmt: skip
    """Chooses: first passages that were not shown, then such of another question, then what was skipped."""
    numbers = np.array([one.question for one in found], np.int64)
    scores = np.array([one.score for one in found], np.float64)
    texts = [text_hash(one.record.text) for one in found]
    hashes = np.array(texts, np.uint64)
    homes = np.array([int(one.record.content_id) for one in found], np.int64)
    ids = [_id(questions[one.question].text, one.record, shas) for one in found]
    known = {
        (one.question, text)
        for one, text in zip(found, texts, strict=True)
        if (questions[one.question].text, text) in judged or text_hash(questions[one.question].text) == text
    }
    chosen: list[proposing.Proposal] = []
    taken: set[int] = set()
    for stage in range(3):
        if len(chosen) >= count:
            break
        skipped = {
            (one.question, text)
            for one, text, id_ in zip(found, texts, ids, strict=True)
            if stage < 2 and id_ in memory.pairs
        }
        shown = taken | memory.texts if stage == 0 else taken
        more = proposing.propose_passages(
            numbers, scores, hashes, count - len(chosen), judged=known | skipped, shown=shown, documents=homes,
            seed=int(rng.integers(2**31)),
        )  # fmt: skip
        chosen += more
        taken |= {texts[one.place] for one in more}
        known |= {(found[one.place].question, texts[one.place]) for one in more}
    return chosen


def _searched(session: Session, questions: Sequence[_Question], count: int, context: JobContext) -> list[_Candidate]:
    """Gives what questions find, the first questions first, as many as are wanted or there is time for."""
    enough = max(2, -(-count // _A_QUESTION))
    began: float | None = None  # when the first was answered: that one may have waited for the model
    found: list[_Candidate] = []
    for number, question in enumerate(questions):
        late = began is not None and time.monotonic() - began > _SECONDS
        if late or (number >= enough and len(found) >= _A_QUESTION * count):
            break
        context.check()
        try:
            ranked = find(session, question.query)
        except SbertDesktopError:
            continue  # a search that cannot be answered, e.g. in a folder that left
        began = began or time.monotonic()
        documents = ranked.results.documents[:_TOP]
        records = ranked.snapshot.fetch([hit.passage_id for document in documents for hit in document.hits])
        for document in documents:
            best = next((hit for hit in document.hits if _can_answer(records.get(hit.passage_id), question)), None)
            if best is not None:
                found.append(_Candidate(number, best.score, records[best.passage_id]))
    return found


def _can_answer(record: PassageRecord | None, question: _Question) -> bool:
    """Says whether a passage may be asked about: one that holds the title that it is asked with answers nothing."""
    if record is None or not record.text.strip():
        return False
    return not question.is_title or question.text.casefold() not in judging.same_query(record.text).casefold()


# ---------------------------------------------------------------- questions


def _questions(
    session: Session, snapshot: Snapshot, records: Sequence[JudgementRecord], rng: np.random.Generator
) -> list[_Question]:
    """Gives questions, each once: those that were judged least before others, and else by lot."""
    library = session.library
    queries: dict[str, Query] = {}
    for saved in library.saved_searches():
        query = unpack_query(saved.query)
        queries.setdefault(judging.same_query(query.text), query)
    for text in (*library.history(_HISTORY), *(record.query for record in records)):
        queries.setdefault(judging.same_query(text), Query(text))
    found = [
        _Question(text, replace(query, text=text, top=_TOP, rerank=0, by="document", passages_per_document=1))
        for text, query in queries.items()
        if text
    ]  # fmt: skip
    if not found:
        found = [
            _Question(text, Query(text, top=_TOP, passages_per_document=2), is_title=True)
            for text in titles(snapshot, rng)
        ]  # fmt: skip
    judged = Counter(judging.same_query(record.query) for record in records)
    order = rng.permutation(len(found)).tolist()
    return [found[place] for place in sorted(order, key=lambda place: judged[found[place].text])]


def titles(snapshot: Snapshot, rng: np.random.Generator) -> list[str]:
    """Gives titles of documents drawn by lot, or the first sentence of those that have no title of two words."""
    ids, _ = snapshot.newest(None, 5_000)
    if not len(ids):
        return []
    drawn = rng.permutation(np.asarray(ids))[:_TITLES].tolist()
    found: dict[str, None] = {}
    for record in snapshot.fetch(drawn).values():
        for line in (record.title, *_first_lines(record.text)):
            text = judging.same_query(line)
            if _SHORTEST <= len(text) <= _LONGEST and " " in text and any(sign.isalpha() for sign in text):
                found[text] = None
                break
    return list(found)


def _first_lines(text: str) -> list[str]:
    """Gives the first sentences of a passage, each as a line, without marks of headings."""
    from sbert_desktop.extraction import sentences

    head = text[:1_000]
    return [head[start:end].strip().lstrip("#*- ") for start, end in sentences(head)[:3]]
