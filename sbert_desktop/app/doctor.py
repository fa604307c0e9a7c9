"""Looks a library over, part by part, and mends what can be mended: the command line's ``doctor``."""

from __future__ import annotations

from sbert_desktop.app.health import run_health, run_repair
from sbert_desktop.app.indexing import IndexRequest, run_index
from sbert_desktop.app.models import list_models
from sbert_desktop.app.scanning import root_problem
from sbert_desktop.app.session import Session
from sbert_desktop.app.views import CheckView, HealthView
from sbert_desktop.domain import JobContext, short_path
from sbert_desktop.errors import EncoderError

_NAMES = {
    "bad_words": "words of passages differ from the keyword table",
    "bad_vectors": "rows are named that the vectors file does not hold",
    "bad_waiting": "documents neither have vectors nor wait for them",
    "bad_half_documents": "documents have only some of their vectors",
    "bad_contents_without_file": "texts belong to no file",
    "bad_contents_without_text": "documents have no text",
}
_VECTORS = frozenset({"bad_vectors", "bad_words", "bad_contents_without_file"})
"""What a repair mends; told under their own names."""


def run_doctor(session: Session, context: JobContext, *, repair: bool = False) -> tuple[CheckView, ...]:
    """Checks catalog, words, vectors, accelerator, model, folders and the daily copy.

    Args:
        session: The opened library.
        context: Told how far it is; asked for a cancel.
        repair: Mend first: damaged rows and words, the accelerator; then the folders are brought up to date, which
            gives lost vectors back.

    Raises:
        LibraryError: The library cannot be read, or, with ``repair``, not be written.
        Cancelled: After a cancel.
    """
    if repair:
        run_repair(session, context)
        if session.library.pending_count()[1]:
            run_index(session, IndexRequest(keep_leaving=True), context)
    context.progress("Checking the catalog", 0, None)
    health = run_health(session, context)
    return (
        *_catalog(session),
        *_rows(health),
        *_kept(session, context),
        _model(session),
        *_folders(session),
        _copy(session),
    )


def _catalog(session: Session) -> tuple[CheckView, ...]:
    found = session.library.quick_check()
    if found:
        return (CheckView("catalog", False, "; ".join(found[:3])),)
    counts = session.library.integrity()
    wrong = {key: count for key, count in counts.items() if key.startswith("bad_") and count and key not in _VECTORS}
    told = "; ".join(f"{count:,} {_NAMES.get(key, key.removeprefix('bad_').replace('_', ' '))}"
                     for key, count in wrong.items())  # fmt: skip
    words = counts["bad_words"]
    return (
        CheckView("catalog", not wrong, told or f"{counts['contents']:,} documents, {counts['passages']:,} passages"),
        CheckView("words", not words, f"{words:,} {_NAMES['bad_words']}" if words else "every passage has its words"),
    )


def _rows(health: HealthView) -> tuple[CheckView, ...]:
    waiting = f"{health.waiting:,} passages wait for a vector: run 'index'" if health.waiting else ""
    index = "no accelerator: every search is exact" if health.recall_at_10 is None else health.words
    return (
        CheckView("vectors", not health.damaged, health.words if health.damaged else
                  waiting or f"{health.rows:,} in order, {health.dead:,} places free"),
        CheckView("index", health.damaged or health.wasteful or not health.repairable,
                  health.words if health.repairable else index),
    )  # fmt: skip


def _kept(session: Session, context: JobContext) -> tuple[CheckView, ...]:
    """Says which spaces beside the one in use would not answer as they did: somebody may go back to them."""
    out = []
    for space in session.library.spaces():
        if space.state == "active":
            continue
        context.check()
        record = session.library.health(fingerprint=space.fingerprint, step=lambda done, total: context.check())
        wrong = record.lost + record.bad
        if wrong:
            told = f"{space.name}, which is kept: {'1 vector is' if wrong == 1 else f'{wrong:,} vectors are'} damaged"
            out.append(CheckView("vectors", False, told))
    return tuple(out)


def _model(session: Session) -> CheckView:
    chosen = next((view for view in list_models(session, verify=True) if view.active and view.kind == "encoder"), None)
    if chosen is None:
        return CheckView("model", False, "There is no model: search goes by words.")
    if chosen.state == "refused":
        return CheckView("model", False, f"{chosen.name}: {chosen.note}")
    try:
        session.encoder()
    except EncoderError as error:
        return CheckView("model", False, str(error))
    return CheckView("model", True, f"{chosen.name}: {chosen.note or 'ready'}")


def _folders(session: Session) -> tuple[CheckView, ...]:
    out = []
    for record in session.library.folders():
        trouble = root_problem(record.path, record.documents + record.problems + record.ignored)
        told = f"offline ({trouble}): its files stay in the library" if trouble else f"{record.documents:,} documents"
        out.append(CheckView("folder", not trouble, f"{short_path(record.path)}: {told}"))
    return tuple(out)


def _copy(session: Session) -> CheckView:
    copies = session.library.kept_copies()
    return CheckView("daily copy", True, f"of {copies[0].stem}" if copies else "nothing to keep yet")
