"""The search use case: encode, rank, fetch, mark, and say honestly what was searched."""

from __future__ import annotations

import os
import time
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sbert_desktop.app.asking_query import with_notes
from sbert_desktop.app.chance import known_chance
from sbert_desktop.app.judging import Verdicts
from sbert_desktop.app.presence import CHANGED, CURRENT, GONE, OFFLINE
from sbert_desktop.app.reading import read_file
from sbert_desktop.app.session import Session
from sbert_desktop.app.views import DocumentView, HitView, SearchView
from sbert_desktop.domain import (
    DocumentHits,
    Encoder,
    ExtractedText,
    Filters,
    Mode,
    Parsed,
    PassageRecord,
    Query,
    SearchResults,
    Snapshot,
    SourceFile,
    display_path,
)
from sbert_desktop.errors import EncoderError, UsageError
from sbert_desktop.explore import parse, search, similar, steer

_PLACES_LOOKED_AT = 200
_COMPARED_PASSAGES = 64
"""Passages of a file or pasted text that stand for all of it."""
_PASTED_CHARS = 200_000
_FOLDERS_TOLD = 3
_NAME_SHOWN = 60
_ORDER = {CURRENT: 0, CHANGED: 1, OFFLINE: 2}


Stale = Callable[[frozenset[Path]], None]


@dataclass(frozen=True, slots=True)
class Found:
    """A ranked answer that is not fetched yet: what :func:`show` makes a view of, and a second stage orders anew.

    ``milliseconds``: what went into it so far. ``results`` may hold more documents than ``query.top``.
    """

    query: Query
    snapshot: Snapshot
    results: SearchResults
    milliseconds: float
    notes: tuple[str, ...] = ()
    by_meaning: bool = False
    reranked: int = 0


def run_search(
    session: Session, query: Query, *, wait_for_model: bool = True, on_stale: Stale | None = None
) -> SearchView:
    """Answers a query without a second stage; see :func:`find` and :func:`show`."""
    return show(session, find(session, query, wait_for_model=wait_for_model), on_stale=on_stale)


def find(session: Session, query: Query, *, wait_for_model: bool = True) -> Found:
    """Ranks what a query finds.

    Args:
        session: The opened library.
        query: What is asked; ``top`` at least 1. With ``rerank`` at least so many documents are ranked.
        wait_for_model: Wait until the model is prepared; else answer by words while it is not.

    Raises:
        UsageError: ``empty-query`` or ``bad-top``.
    """
    if not (query.text.strip() or query.like.strip() or query.more or query.filters):
        raise UsageError("empty-query", "The query is empty.", "Type what you are looking for.")
    if query.top < 1:
        raise UsageError("bad-top", f"{query.top} hits cannot be shown.", "Ask for at least 1.")
    if query.parsed is None:
        query = replace(query, parsed=parse_query(session, query.text))
    asked = query
    return session.with_one_encoder(lambda: _ranked(session, asked, wait_for_model))


def _ranked(session: Session, query: Query, wait_for_model: bool) -> Found:
    notes = list(query.parsed.notes) if query.parsed is not None else []
    means = query.mode is not Mode.KEYWORD and bool(query.words.strip() or query.like.strip() or query.more)
    encoder = _encoder(session, wait_for_model, notes) if means else None
    began = time.perf_counter()  # loading the model is not part of a query
    vector = _vector(encoder, session, query) if encoder is not None else None
    snapshot = _snapshot(session, encoder)
    vector = _steered(snapshot, query, vector, notes)
    if vector is not None and not len(snapshot.vectors):
        vector = None
        if snapshot.passages:
            notes.append("Nothing is findable by meaning yet; these were found by their words.")
    notes += _honest_notes(session, snapshot, query, vector is not None)
    chance = known_chance(session, encoder) if encoder is not None and vector is not None else None
    results = search(snapshot, replace(query, top=max(query.top, query.rerank)), vector, chance=chance)
    return Found(query, snapshot, results, _since(began), tuple(notes), vector is not None)


def _since(began: float) -> float:
    return (time.perf_counter() - began) * 1000.0


def _snapshot(session: Session, encoder: Encoder | None) -> Snapshot:
    """Gives the vectors that are to be compared with those of an encoder: another may be in force by now."""
    return session.snapshot() if encoder is None else session.library.snapshot(encoder.info.fingerprint)


def _vector(encoder: Encoder, session: Session, query: Query) -> NDArray[np.float32] | None:
    if query.like.strip():
        return _meaning_of(encoder, session, query.like)
    return encoder.encode_query(query.words) if query.words.strip() else None


def _steered(
    snapshot: Snapshot, query: Query, vector: NDArray[np.float32] | None, notes: list[str]
) -> NDArray[np.float32] | None:
    """Moves the query towards the passages that the person wants more of; without words it is their mean."""
    if not (query.more or query.less):
        return vector
    more, less = _vectors_of(snapshot, query.more), _vectors_of(snapshot, query.less)
    if vector is None and len(more) and not query.words.strip():
        vector = _mean(more)
    if vector is None or not len(more) + len(less):
        by_words = "More and less like this need the meaning; this answer is by words."
        # after another model has taken over, which cuts texts in other places
        elsewhere = "The passages to have more or less of are cut in another way by now; this answer is without them."
        notes.append(by_words if vector is None else elsewhere)
        return vector
    return steer(vector, more, less)


def _vectors_of(snapshot: Snapshot, passages: Sequence[int]) -> NDArray[np.float32]:
    """Gives the vectors of passages, float32 [n, dimension]; those without a live one are left out."""
    if not passages:
        return np.zeros((0, 0), np.float32)
    rows = np.flatnonzero(np.isin(snapshot.passage_ids, list(passages)) & snapshot.alive)
    return np.asarray(snapshot.vectors[rows], np.float32)


def parse_query(session: Session, text: str) -> Parsed:
    """Gives what a typed query means in this library."""
    library = session.library
    parsed = parse(text, now=time.time(), types=library.formats(), languages=library.languages())
    return with_notes(parsed, lambda: [record.name for record in library.collections()])


def show(session: Session, found: Found, *, on_stale: Stale | None = None) -> SearchView:
    """Fetches, marks and looks at the disk: what is shown is as it is there now, see :func:`_on_the_disk`.

    Args:
        session: The opened library.
        found: What :func:`find` gave.
        on_stale: Told which files changed or are gone, so that they can be looked at.
    """
    view = _view(session, found, on_stale)
    if found.by_meaning and view.embedded < view.passages:
        view = replace(view, notes=(*view.notes, f"{view.embedded:,} of {view.passages:,} passages also by meaning"))
    return view


def _honest_notes(session: Session, snapshot: Snapshot, query: Query, by_meaning: bool) -> list[str]:
    """Says what keeps documents from being found that the person may expect."""
    notes = []
    folder = query.filters.folder
    if folder is not None and not any(
        folder.is_relative_to(record.path) or record.path.is_relative_to(folder) for record in session.library.folders()
    ):
        notes.append(f"No folder of the library lies in {display_path(folder)}.")
    elif folder is not None and _is_empty(snapshot, Filters(folder=folder)):
        notes.append(f"No document of the library lies in {display_path(folder)}.")
    typed = query.parsed.filters.folders if query.parsed is not None else ()
    for name in dict.fromkeys((*query.filters.folders, *typed)):
        if len(notes) < _FOLDERS_TOLD and _is_empty(snapshot, Filters(folders=(name,))):
            notes.append(f"No document of the library lies in a folder “{display_path(name[:_NAME_SHOWN])}”.")
    active = session.library.active_space()
    if active is not None and active.fingerprint != session.fingerprint():
        session.follow_space()  # where another process has switched, the next question is asked of its model
        if not by_meaning:  # also where that one's space is there no more
            return notes
        notes.append("The library was last updated with another model; newer documents are found after an update.")
    return notes


def _is_empty(snapshot: Snapshot, filters: Filters) -> bool:
    passing = snapshot.select(filters)
    return passing is not None and not passing.any()


def run_similar(session: Session, path: Path, *, top: int = 10, on_stale: Stale | None = None) -> SearchView:
    """Finds the documents that are most like one file, which need not be in the library.

    Raises:
        UsageError: ``bad-top``, ``file-missing``, ``not-a-file`` or ``nothing-by-meaning``.
        ExtractionError: A file outside the library could not be read.
        EncoderError: There is no model and the file has no vectors.
    """
    if top < 1:
        raise UsageError("bad-top", f"{top} hits cannot be shown.", "Ask for at least 1.")
    return session.with_one_encoder(lambda: _similar(session, path, top, on_stale))


def _similar(session: Session, path: Path, top: int, on_stale: Stale | None) -> SearchView:
    began = time.perf_counter()
    real = Path(os.path.realpath(path.expanduser()))
    snapshot = session.snapshot()
    content = session.library.content_at(real)
    rows = np.flatnonzero((snapshot.contents == content) & snapshot.alive) if content is not None else np.zeros(0, int)
    if len(rows):
        vector = _mean(np.asarray(snapshot.vectors[rows]))
        exclude = [int(content)] if content is not None else []
    else:
        encoder = session.encoder()
        vector, exclude = _mean(_encode_file(encoder, session, real)), []
        snapshot = _snapshot(session, encoder)
    if not len(snapshot.vectors):
        raise UsageError("nothing-by-meaning", "Nothing in the library is findable by meaning yet.", "Index it first.")
    results = similar(snapshot, vector, top=top, exclude=exclude)
    query = Query("", mode=Mode.SEMANTIC, top=top)
    return _view(session, Found(query, snapshot, results, _since(began)), on_stale)


def run_similar_text(session: Session, text: str, *, top: int = 10, on_stale: Stale | None = None) -> SearchView:
    """Finds the documents that are most like a text, by meaning alone.

    Raises:
        UsageError: ``bad-top``, ``no-text`` or ``nothing-by-meaning``.
        EncoderError: There is no model.
    """
    if top < 1:
        raise UsageError("bad-top", f"{top} hits cannot be shown.", "Ask for at least 1.")
    return session.with_one_encoder(lambda: _similar_text(session, text, top, on_stale))


def _similar_text(session: Session, text: str, top: int, on_stale: Stale | None) -> SearchView:
    encoder = session.encoder()
    began = time.perf_counter()
    vector = _meaning_of(encoder, session, text)
    snapshot = _snapshot(session, encoder)
    if not len(snapshot.vectors):
        raise UsageError("nothing-by-meaning", "Nothing in the library is findable by meaning yet.", "Index it first.")
    query = Query("", mode=Mode.SEMANTIC, top=top)
    return _view(session, Found(query, snapshot, similar(snapshot, vector, top=top), _since(began)), on_stale)


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


def _encode_file(encoder: Encoder, session: Session, path: Path) -> NDArray[np.float32]:
    vectors = _encode_text(encoder, session, read_file(session, path))
    if not len(vectors):
        raise UsageError("no-text", f"There is no text in {display_path(path)}.", "Choose another file.")
    return vectors


def _meaning_of(encoder: Encoder, session: Session, text: str) -> NDArray[np.float32]:
    normal = unicodedata.normalize("NFC", text[:_PASTED_CHARS].replace("\0", " "))
    vectors = _encode_text(encoder, session, ExtractedText("text", normal.encode("utf-8", "replace").decode()))
    if not len(vectors):
        raise UsageError("no-text", "There is no text.", "Paste a sentence or a page.")
    return _mean(vectors)


def _encode_text(encoder: Encoder, session: Session, text: ExtractedText) -> NDArray[np.float32]:
    """Encodes the first passages of a text, float32 [n <= 64, dimension]."""
    from sbert_desktop.extraction import split

    passages = [p for p in split(text, session.rules(encoder), encoder.tokenizer) if p.embedded]
    if not passages:
        return np.zeros((0, encoder.info.dimension), np.float32)
    return encoder.encode_now([p.encoder_input() for p in passages[:_COMPARED_PASSAGES]])


def _view(session: Session, found: Found, on_stale: Stale | None) -> SearchView:
    began = time.perf_counter()
    query, snapshot, notes = found.query, found.snapshot, list(found.notes)
    results = _shortened(found.results, query)
    records = snapshot.fetch([hit.passage_id for document in results.documents for hit in document.hits])
    first: list[tuple[DocumentHits, PassageRecord]] = []
    for document in results.documents:
        known = [records[hit.passage_id] for hit in document.hits if hit.passage_id in records]
        if known and known[0].paths:
            first.append((document, known[0]))
    shown, stale, gone = _on_the_disk(session, [record.paths for _, record in first])
    verdicts = Verdicts(session, query.text)
    documents = [
        _document(session, query, document, records, place, verdicts)
        for (document, _), place in zip(first, shown, strict=True)
        if place is not None
    ]
    if gone:
        which = "1 document is" if gone == 1 else f"{gone} documents are"
        notes = [*notes, f"{which} gone from the disk and {'was' if gone == 1 else 'were'} left out."]
    if stale and on_stale is not None:
        on_stale(stale)
    return SearchView(
        query=query.text,
        mode=query.mode,
        filters=query.filters,
        by=query.by,
        milliseconds=found.milliseconds + _since(began),
        documents=tuple(documents),
        passages_found=sum(len(document.hits) + document.more for document in results.documents),
        passages=results.passages,
        embedded=results.embedded,
        generation=results.generation,
        notes=tuple(notes),
        parsed=query.parsed,
        chance=results.chance,
        reranked=found.reranked,
    )


def _shortened(results: SearchResults, query: Query) -> SearchResults:
    """Leaves out the documents that were ranked for a second stage only."""
    return replace(results, documents=results.documents[: query.top])


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
    session: Session,
    query: Query,
    document: DocumentHits,
    records: dict[int, PassageRecord],
    place: _Place,
    verdicts: Verdicts,
) -> DocumentView:
    file = place.file
    said = verdicts.of(document.content_id)
    hits = []
    for hit in document.hits:
        record = records.get(hit.passage_id)
        if record is None:
            continue
        words = session.library.match_words(query.words, record.text) if query.words else []
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
                rerank=hit.rerank,
                folded=hit.folded,
                judged=said.get((record.start, record.end), ""),
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
