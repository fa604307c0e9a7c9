"""Best sentences of what is shown: the sentence of a passage that is closest to the query by cosine."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sbert_desktop.app.chance import prepare_chance
from sbert_desktop.app.session import Session
from sbert_desktop.app.views import HitView, Marks, SearchView, Span
from sbert_desktop.domain import Encoder, JobContext
from sbert_desktop.errors import EncoderError

_MARKED_DOCUMENTS, _MARKED_OTHERS = 50, 50
_MARKED_AT_ONCE = 3
"""Passages per step in the window: the next query waits for one step at most, about 50 ms."""
_MAIL_HEAD = re.compile(r"(From|To|Cc|Subject|Date|Sent): ")
_HEADING_WORDS = 3
_MARK_CHARS = 2_000


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
    looked at. Gives nothing without a model, and no more once another one is chosen.

    Args:
        session: The opened library.
        view: What is shown.
        context: Asked for a cancel before each step.
        at_once: Passages per step.
        rounds: 1: the best passage of each document; 2: the other passages of the first ones too.
    """
    encoder = session.ready_encoder()
    words = view.query if view.parsed is None else view.parsed.words
    if encoder is None or not words.strip() or not view.documents:
        return
    try:
        yield from _marks(encoder, words, view, context, rounds, at_once)
        if context is not None:  # everything is shown: the next answer has the line; a command would only end later
            prepare_chance(session, encoder, context)
    except EncoderError as error:
        if error.code != "encoder-closed":
            raise


def _marks(
    encoder: Encoder, words: str, view: SearchView, context: JobContext | None, rounds: int, at_once: int
) -> Iterator[Marks]:
    query = encoder.encode_query(words)
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
