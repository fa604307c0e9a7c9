"""The search use case: encode, rank, fetch, mark, and say honestly what was searched."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sbert_desktop.app.presence import CHANGED, CURRENT, GONE, OFFLINE
from sbert_desktop.app.reading import read_file
from sbert_desktop.app.session import Session
from sbert_desktop.app.views import DocumentView, HitView, Marks, SearchView, Span
from sbert_desktop.domain import (
    DocumentHits,
    Encoder,
    JobContext,
    Mode,
    PassageRecord,
    Query,
    SearchResults,
    Snapshot,
    SourceFile,
    display_path,
)
from sbert_desktop.errors import EncoderError, UsageError
from sbert_desktop.explore import search, similar

_MARKED_DOCUMENTS, _MARKED_OTHERS = 50, 50
_MARKED_AT_ONCE = 3
"""Passages per step in the window: the next query waits for one step at most, about 50 ms."""
_MAIL_HEAD = re.compile(r"(From|To|Cc|Subject|Date|Sent): ")
_HEADING_WORDS = 3
_MARK_CHARS = 2_000
_PLACES_LOOKED_AT = 200
_ORDER = {CURRENT: 0, CHANGED: 1, OFFLINE: 2}


Stale = Callable[[frozenset[Path]], None]


def run_search(
    session: Session, query: Query, *, wait_for_model: bool = True, on_stale: Stale | None = None
) -> SearchView:
    """Answers a query. What is shown is as it is on the disk now: see :func:`_on_the_disk`.

    Args:
        session: The opened library.
        query: What is asked; ``top`` at least 1.
        wait_for_model: Wait until the model is prepared; else answer by words while it is not.
        on_stale: Told which files changed or are gone, so that they can be looked at.

    Raises:
        UsageError: ``empty-query`` or ``bad-top``.
    """
    if not query.text.strip():
        raise UsageError("empty-query", "The query is empty.", "Type what you are looking for.")
    if query.top < 1:
        raise UsageError("bad-top", f"{query.top} hits cannot be shown.", "Ask for at least 1.")
    notes: list[str] = []
    encoder = _encoder(session, wait_for_model, notes) if query.mode is not Mode.KEYWORD else None
    began = time.perf_counter()  # loading the model is not part of a query
    vector = encoder.encode_query(query.text) if encoder is not None else None
    snapshot = session.snapshot()
    if vector is not None and not len(snapshot.vectors):
        vector = None
        if snapshot.passages:
            notes.append("Nothing is findable by meaning yet; these were found by their words.")
    notes += _honest_notes(session, query, vector is not None)
    results = search(snapshot, query, vector)
    view = _view(session, snapshot, query, results, began, notes, on_stale)
    if vector is not None and view.embedded < view.passages:
        view = replace(view, notes=(*view.notes, f"{view.embedded:,} of {view.passages:,} passages also by meaning"))
    return view


def _honest_notes(session: Session, query: Query, by_meaning: bool) -> list[str]:
    """Says what keeps documents from being found that the person may expect."""
    notes = []
    folder = query.filters.folder
    if folder is not None and not any(
        folder.is_relative_to(record.path) or record.path.is_relative_to(folder) for record in session.library.folders()
    ):
        notes.append(f"No folder of the library lies in {display_path(folder)}.")
    active = session.library.active_space()
    if by_meaning and active is not None and active.fingerprint != session.fingerprint():
        notes.append("The library was last updated with another model; newer documents are found after an update.")
    return notes


def run_similar(session: Session, path: Path, *, top: int = 10, on_stale: Stale | None = None) -> SearchView:
    """Finds the documents that are most like one file, which need not be in the library.

    Raises:
        UsageError: ``bad-top``, ``file-missing``, ``not-a-file`` or ``nothing-by-meaning``.
        ExtractionError: A file outside the library could not be read.
        EncoderError: There is no model and the file has no vectors.
    """
    if top < 1:
        raise UsageError("bad-top", f"{top} hits cannot be shown.", "Ask for at least 1.")
    began = time.perf_counter()
    real = Path(os.path.realpath(path.expanduser()))
    snapshot = session.snapshot()
    content = session.library.content_at(real)
    rows = np.flatnonzero((snapshot.contents == content) & snapshot.alive) if content is not None else np.zeros(0, int)
    if len(rows):
        vector = _mean(np.asarray(snapshot.vectors[rows]))
        exclude = [int(content)] if content is not None else []
    else:
        vector, exclude = _mean(_encode_file(session, real)), []
        snapshot = session.snapshot()
    if not len(snapshot.vectors):
        raise UsageError("nothing-by-meaning", "Nothing in the library is findable by meaning yet.", "Index it first.")
    results = similar(snapshot, vector, top=top, exclude=exclude)
    query = Query("", mode=Mode.SEMANTIC, top=top)
    return _view(session, snapshot, query, results, began, [], on_stale)


def find_marks(session: Session, view: SearchView) -> Marks:
    """Finds the best sentence of each document's best passage; see :func:`mark_some`."""
    spans: dict[int, Span] = {}
    for marks in mark_some(session, view, rounds=1, at_once=_MARKED_DOCUMENTS):
        spans.update(marks.spans)
    return Marks(spans)


def mark_some(
    session: Session,
    view: SearchView,
    context: JobContext | None = None,
    *,
    rounds: int = 2,
    at_once: int = _MARKED_AT_ONCE,
) -> Iterator[Marks]:
    """Finds the sentence of shown passages that is closest to the query, by cosine, a few at a time.

    Sentences are encoded now, ahead of bulk work; only the first 2,000 characters of a passage are
    looked at. Gives nothing without a model.

    Args:
        session: The opened library.
        view: What is shown.
        context: Asked for a cancel before each step.
        at_once: Passages per step.
        rounds: 1: the best passage of each document; 2: the other passages of the first ones too.
    """
    encoder = session.ready_encoder()
    if encoder is None or not view.query.strip() or not view.documents:
        return
    query = encoder.encode_query(view.query)
    first = [document.hits[0] for document in view.documents][:_MARKED_DOCUMENTS]
    others = [hit for document in view.documents for hit in document.hits[1:]][:_MARKED_OTHERS]
    wanted = [*first, *(others if rounds > 1 else ())]
    for start in range(0, len(wanted), at_once):
        if context is not None:
            context.check()
        yield _mark(encoder, query, wanted[start : start + at_once])


def _mark(encoder: Encoder, query: NDArray[np.float32], hits: Sequence[HitView]) -> Marks:
    from sbert_desktop.extraction import sentences

    owners: list[tuple[int, Span]] = []
    texts: list[str] = []
    spans: dict[int, Span] = {}
    for hit in hits:
        text = hit.text[:_MARK_CHARS]
        found = sentences(text)
        found = [span for span in found if _says_something(text[span[0] : span[1]])] or found
        if len(found) == 1:
            spans[hit.passage_id] = found[0]
        for span in found if len(found) > 1 else ():
            owners.append((hit.passage_id, span))
            texts.append(hit.text[span[0] : span[1]])
    if texts:
        cosines = encoder.encode_now(texts) @ query
        best: dict[int, float] = {}
        for (passage, span), cosine in zip(owners, cosines.tolist(), strict=True):
            if cosine > best.get(passage, -2.0):
                best[passage] = cosine
                spans[passage] = span
    return Marks(spans)


def _says_something(sentence: str) -> bool:
    """Tells a sentence from a heading of a word or two and from the head of a mail, which answer nothing.

    Scripts that write no spaces are never too short.
    """
    if _MAIL_HEAD.match(sentence):
        return False
    return not sentence.isascii() or len(sentence.split()) > _HEADING_WORDS


def with_marks(view: SearchView, marks: Marks) -> SearchView:
    """Gives the view with best sentences filled in."""
    documents = tuple(
        replace(
            document,
            hits=tuple(
                replace(hit, best_sentence=marks.spans.get(hit.passage_id, hit.best_sentence)) for hit in document.hits
            ),
        )
        for document in view.documents
    )
    return replace(view, documents=documents)


def _encoder(session: Session, wait: bool, notes: list[str]) -> Encoder | None:
    session.start_encoder()
    if not wait and session.ready_encoder() is None:
        state, line = session.encoder_state()
        if state == "preparing":
            notes.append("The model is being prepared; these were found by their words.")
            return None
        if state == "failed":
            notes.append(f"{line} These were found by their words.")
            return None
    try:
        return session.encoder()
    except EncoderError as error:
        notes.append(f"{error.message} These were found by their words.")
        return None


def _mean(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    mean = vectors.mean(axis=0)
    norm = float(np.linalg.norm(mean))
    unit: NDArray[np.float32] = (mean / norm if norm > 0 else mean).astype(np.float32)
    return unit


def _encode_file(session: Session, path: Path) -> NDArray[np.float32]:
    from sbert_desktop.extraction import split

    outcome = read_file(session, path)
    encoder = session.encoder()
    passages = [p for p in split(outcome, session.rules(encoder), encoder.tokenizer) if p.embedded]
    if not passages:
        raise UsageError("no-text", f"There is no text in {display_path(path)}.", "Choose another file.")
    return encoder.encode_now([p.encoder_input() for p in passages[:64]])


def _view(
    session: Session,
    snapshot: Snapshot,
    query: Query,
    results: SearchResults,
    began: float,
    notes: list[str],
    on_stale: Stale | None,
) -> SearchView:
    records = snapshot.fetch([hit.passage_id for document in results.documents for hit in document.hits])
    first: list[tuple[DocumentHits, PassageRecord]] = []
    for document in results.documents:
        known = [records[hit.passage_id] for hit in document.hits if hit.passage_id in records]
        if known and known[0].paths:
            first.append((document, known[0]))
    shown, stale, gone = _on_the_disk(session, [record.paths for _, record in first])
    documents = [
        _document(session, query, document, records, place)
        for (document, _), place in zip(first, shown, strict=True)
        if place is not None
    ]
    if gone:
        which = "1 document is" if gone == 1 else f"{gone} documents are"
        notes = [*notes, f"{which} gone from the disk and {'was' if gone == 1 else 'were'} left out."]
    if stale and on_stale is not None:
        on_stale(stale)
    found = sum(len(document.hits) + document.more for document in results.documents)
    return SearchView(
        query=query.text,
        mode=query.mode,
        filters=query.filters,
        by=query.by,
        milliseconds=(time.perf_counter() - began) * 1000.0,
        documents=tuple(documents),
        passages_found=found,
        passages=results.passages,
        embedded=results.embedded,
        generation=results.generation,
        notes=tuple(notes),
    )


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a document is shown to lie, how it is there, and all its places that are not gone."""

    file: SourceFile
    state: str
    paths: tuple[Path, ...]


def _on_the_disk(
    session: Session, documents: Sequence[tuple[SourceFile, ...]]
) -> tuple[list[_Place | None], frozenset[Path], int]:
    """Looks at the files of what is shown: the best place of each document, the others where it is not current.

    Returns:
        The place of each document, None where all of its places are gone; the paths that changed or are
        gone; how many documents are gone.
    """
    roots = session.roots()
    look = session.presence.states
    first = look([places[0] for places in documents], roots)
    others = [place for places, state in zip(documents, first, strict=True) if state != CURRENT for place in places[1:]]
    further = iter(look(others[:_PLACES_LOOKED_AT], roots)) if others else iter(())
    shown: list[_Place | None] = []
    stale: set[Path] = set()
    for places, state in zip(documents, first, strict=True):
        states = [state] if state == CURRENT else [state, *(next(further, OFFLINE) for _ in places[1:])]
        stale.update(place.path for place, one in zip(places, states, strict=False) if one in (CHANGED, GONE))
        kept = [number for number, one in enumerate(states) if one != GONE]
        if not kept:
            shown.append(None)
            continue
        best = min(kept, key=lambda number: _ORDER[states[number]])
        gone = {number for number, one in enumerate(states) if one == GONE}
        paths = tuple(place.path for number, place in enumerate(places) if number not in gone)
        shown.append(_Place(places[best], states[best], paths))
    return shown, frozenset(stale), sum(place is None for place in shown)


def _document(
    session: Session, query: Query, document: DocumentHits, records: dict[int, PassageRecord], place: _Place
) -> DocumentView:
    file = place.file
    hits = []
    for hit in document.hits:
        record = records.get(hit.passage_id)
        if record is None:
            continue
        words = session.library.match_words(query.text, record.text) if query.text else []
        hits.append(
            HitView(
                passage_id=hit.passage_id,
                content_id=hit.content_id,
                path=file.path,
                text=record.text,
                start=record.start,
                end=record.end,
                page=record.location.page,
                location=record.location.label(),
                score=hit.score,
                score_kind=hit.score_kind,
                cosine=hit.cosine,
                bm25=hit.bm25,
                meaning_rank=hit.meaning_rank,
                words_rank=hit.words_rank,
                best_sentence=None,
                words=tuple(words),
                stale=place.state == CHANGED,
                member=file.member,
            )
        )
    first = next(records[hit.passage_id] for hit in document.hits if hit.passage_id in records)
    return DocumentView(
        content_id=document.content_id,
        path=file.path,
        paths=place.paths,
        title=first.title,
        format=first.format,
        date=first.date,
        size=file.size,
        language=first.language,
        score=document.hits[0].score,
        hits=tuple(hits),
        more=document.more,
        state=place.state,
        member=file.member,
    )
