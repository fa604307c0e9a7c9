"""The health of the accelerator and of the vectors: measured with the person's own queries, and put right."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sbert_desktop.app.session import Session
from sbert_desktop.app.views import HealthView
from sbert_desktop.domain import JobContext, Vectors
from sbert_desktop.errors import EncoderError

if TYPE_CHECKING:
    from sbert_desktop.library import HealthRecord

QUERIES = 50  # earlier queries that are asked again
ENOUGH = 0.95  # of the ten best hits
MANY_DEAD = 0.1  # of the rows; below, the next clean-up by itself is soon enough


def run_health(session: Session, context: JobContext) -> HealthView:
    """Counts rows and measures recall@10 against exact search, with earlier queries where the model is ready.

    Raises:
        LibraryError: The library cannot be read.
        Cancelled: After a cancel.
    """
    context.progress("Asking earlier queries", 0, None)
    queries = _earlier_queries(session, context)

    def step(done: int, total: int) -> None:
        context.check()
        context.progress("Comparing with every passage", done, total)

    return _view(session, session.library.health(queries, fingerprint=session.fingerprint() or None, step=step))


def run_repair(session: Session, context: JobContext) -> HealthView:
    """Drops what is damaged or not needed and builds the accelerator anew, then measures; takes the writer's lock.

    What lost its vectors gets them by the next update: see ``HealthView.waiting``.

    Raises:
        LibraryError: ``library-readonly``, ``library-busy``, ``disk-full``.
        Cancelled: After a cancel; what was there before stays in use.
    """
    with session.library.writer(
        on_wait=lambda holder: context.progress(f"Waiting for {holder}", 0, None), check=context.check
    ) as writer:
        context.progress("Putting the index in order", 0, None)
        if session.library.active_space() is not None:
            writer.repair(context)
    return run_health(session, context)


def _earlier_queries(session: Session, context: JobContext) -> Vectors | None:
    import numpy as np

    encoder = session.ready_encoder()
    if encoder is None:
        return None
    vectors = []
    try:
        for text in session.library.history(QUERIES):
            context.check()
            vectors.append(encoder.encode_query(text))
    except EncoderError:
        return None  # another model was chosen meanwhile
    return np.stack(vectors) if vectors else None


def _view(session: Session, record: HealthRecord) -> HealthView:
    low = record.recall_at_10 is not None and record.recall_at_10 < ENOUGH
    wasteful = record.dead > MANY_DEAD * max(1, record.live + record.dead)
    wrong = bool(record.lost or record.bad or record.no_index or record.orphans or low)
    return HealthView(
        rows=record.live,
        dead=record.dead,
        orphans=record.orphans,
        recall_at_10=record.recall_at_10,
        queries=record.queries,
        words=_words(record, low=low, wasteful=wasteful),
        repairable=(wrong or wasteful) and not session.library.read_only,
        damaged=bool(record.lost or record.bad),
        wasteful=wasteful and not wrong,
        waiting=session.library.pending_count(session.fingerprint() or None)[1],
    )


def _words(record: HealthRecord, *, low: bool, wasteful: bool) -> str:
    found = f"The search accelerator finds {round(100 * (record.recall_at_10 or 0))} of 100 of the best hits."
    if record.lost:
        return f"{_vectors(record.lost)} missing from the vectors file; these passages are found by words only."
    if record.bad:
        return f"{_vectors(record.bad)} damaged; these passages are not found by meaning."
    if record.no_index:
        return "The search accelerator is missing or damaged; every search compares with every passage."
    if record.orphans:
        return f"{_counted(record.orphans)} to files that are gone."
    if low:
        return found
    if wasteful:
        return f"{record.dead:,} of {record.live + record.dead:,} places in the vectors file are no longer used."
    if record.recall_at_10 is not None:
        return found
    return "The vectors are in order."


def _vectors(count: int) -> str:
    return "1 vector is" if count == 1 else f"{count:,} vectors are"


def _counted(orphans: int) -> str:
    return "1 vector belongs" if orphans == 1 else f"{orphans:,} vectors belong"
