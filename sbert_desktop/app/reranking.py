"""The second stage of a search: a cross-encoder reads the best passages again, each together with the query."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from sbert_desktop.app.searching import Found
from sbert_desktop.app.session import Session
from sbert_desktop.domain import CrossEncoder, JobContext
from sbert_desktop.errors import EncoderError
from sbert_desktop.explore import reorder, shortlist

_AT_ONCE = 16
"""Passages between two moves of the progress line; a cancel is heard earlier, by the cross-encoder."""
_HELD_SECONDS = 1.0


def cross_encoder_in_use(session: Session, context: JobContext) -> CrossEncoder:
    """Gives the cross-encoder that is in use.

    Raises:
        EncoderError: ``no-cross-encoder``, or why it could not be opened.
    """
    cross = session.second_stage.wait(context)
    if cross is None:
        raise EncoderError(
            "no-cross-encoder",
            "There is no cross-encoder that could read the hits again.",
            "Add one with 'sbert-desktop models add', or search without --rerank.",
        )
    return cross


def rerank(
    found: Found, cross: CrossEncoder, context: JobContext, *, hold: Callable[[float], None] | None = None
) -> Found:
    """Scores the best passages of an answer and puts them into the order of these scores.

    Args:
        found: As :func:`sbert_desktop.app.searching.find` gave it, with ``query.rerank`` above 0.
        cross: Scores query and passage together.
        context: Asked for a cancel before each step, told how many were read.
        hold: Keeps bulk work away for so many seconds: somebody waits for this.

    Returns:
        The same answer in the new order; unchanged where there are no words to compare with.

    Raises:
        EncoderError: The cross-encoder failed.
    """
    query = found.query
    wanted = query.words.strip() or query.like.strip()
    chosen = shortlist(found.results, query.rerank)
    if not wanted or not chosen:
        return found
    began = time.perf_counter()
    records = found.snapshot.fetch(chosen)
    # Texts of one length go together: what is padded is computed too.
    passages = sorted((passage for passage in chosen if passage in records), key=lambda p: len(records[p].text))
    phase = f"Reading the best {len(passages)} again"
    scores: dict[int, float] = {}
    for start in range(0, len(passages), _AT_ONCE):
        context.check()
        context.progress(phase, start, len(passages))
        if hold is not None:
            hold(_HELD_SECONDS)
        step = passages[start : start + _AT_ONCE]
        given = cross.score(wanted, [records[passage].text for passage in step], context)
        scores.update(zip((int(passage) for passage in step), given.tolist(), strict=True))
    context.check()
    context.progress(phase, len(passages), len(passages))
    return replace(
        found,
        results=reorder(found.results, scores),
        milliseconds=found.milliseconds + (time.perf_counter() - began) * 1000.0,
        reranked=len(scores),
    )
