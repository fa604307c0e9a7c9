"""The state of the open library in one record, for the window, ``status`` and ``problems``."""

from __future__ import annotations

import os
from pathlib import Path

from sbert_desktop.app.session import Session
from sbert_desktop.app.views import (
    ChangeView,
    FolderView,
    IndexHealth,
    LibraryView,
    ModelView,
    ProblemView,
)
from sbert_desktop.errors import EncoderError


def library_view(session: Session, *, indexing: bool = False) -> LibraryView:
    """Reads folders, counts, model and index health. Any worker thread."""
    library = session.library
    session.follow_space()
    fingerprint = session.fingerprint()
    counts = library.counts(fingerprint)
    folders = []
    records = [record for record in library.folders(fingerprint) if record.state != "leaving"]
    away = session.presence.away({os.fsencode(r.path): r.documents + r.problems for r in records})
    watched = session.watch_states()
    for record in records:
        watch, watch_note = watched.get(record.path, ("", ""))
        if os.fsencode(record.path) in away:  # a folder that is closed to us is no error here
            state = "offline"
        elif record.last_scan is None:
            state = "indexing" if indexing else "waiting"
        elif indexing:
            state = "indexing"
        elif not record.words_only and record.embedded < record.passages:
            state = "waiting"
        else:
            state = "current"
        folders.append(
            FolderView(
                path=record.path,
                documents=record.documents,
                embedded=round(record.documents * record.embedded / record.passages) if record.passages else 0,
                passages=record.passages,
                problems=record.problems,
                state=state,
                last_change=record.last_change,
                words_only=record.words_only,
                watch=watch,
                watch_note=watch_note,
                rules=record.rules,
                ignored=record.ignored,
            )
        )
    encoder = session.ready_encoder()
    return LibraryView(
        path=session.library_path,
        folders=tuple(folders),
        documents=counts.documents,
        passages=counts.passages,
        embedded=counts.embedded,
        problems=counts.problems,
        model=active_model(session),
        backend=encoder.info.backend if encoder else "",
        device=encoder.info.device if encoder else "",
        precision=encoder.info.precision if encoder else "",
        index=index_health(session),
        read_only=library.read_only,
        notices=session.notices(),
        formats=library.formats(),
        languages=library.languages(),
        preparing=preparing_line(session),
    )


def preparing_line(session: Session) -> str:
    """Says how far the space is that is to take the place of the one in use; "" where none is wanted."""
    library = session.library
    wanted = library.wanted_space()
    if wanted is None:
        return ""
    from sbert_desktop.encoder.models import BUNDLED_NAME

    held, left = library.held(wanted.fingerprint), library.pending_count(wanted.fingerprint)[1]
    total = held + left or library.counts().passages
    return f"Preparing {wanted.model or BUNDLED_NAME}: {held:,} of {total:,} passages"


def index_health(session: Session, *, sample: int = 0) -> IndexHealth:
    """Says whether search is exact or by the index; ``sample`` > 0 also measures recall@10.

    Recall is the share of the exact 10 nearest rows that the index gives, over ``sample`` stored
    vectors taken at even steps.
    """
    snapshot = session.snapshot()
    index = snapshot.index
    if index is None:
        return IndexHealth("exact", int(snapshot.alive.sum()))
    recall: float | None = None
    if sample:
        import numpy as np

        rows = np.flatnonzero(snapshot.alive[: index.rows])
        step = max(1, len(rows) // sample)
        shares = []
        for row in rows[::step][:sample]:
            vector = np.asarray(snapshot.vectors[row])
            exact = np.asarray(snapshot.vectors[: index.rows]) @ vector
            best = set(np.argpartition(-exact, 10)[:10].tolist()) if len(exact) > 10 else set(range(len(exact)))
            found, _ = index.search(vector, min(10, index.rows))
            shares.append(len(best & set(found.tolist())) / max(1, len(best)))
        recall = float(np.mean(shares)) if shares else None
    return IndexHealth("hnsw", index.rows, recall)


def active_model(session: Session) -> ModelView:
    """Describes the model in use; its state says whether it is ready, being prepared, missing or refused."""
    from sbert_desktop.encoder.models import BUNDLED_NAME, default_model_dir

    state, note = session.encoder_state()
    encoder = session.ready_encoder()
    try:
        path = session.models.folder() or default_model_dir()
    except EncoderError as error:
        path, note = None, error.message
    if encoder is None:
        return ModelView(
            session.models.name() or BUNDLED_NAME,
            path or Path(),
            0,
            0,
            "",
            "",
            True,
            # without a folder there is nothing whose files could have changed
            state="preparing" if state == "preparing" else "missing" if path is None else "refused",
            note=note,
        )
    info = encoder.info
    return ModelView(
        name=info.name,
        path=path or Path(),
        dimension=info.dimension,
        max_tokens=info.max_tokens,
        pooling=info.pooling,
        sha256="",
        active=True,
        fingerprint=info.fingerprint,
        state="ready",
        note="; ".join(info.notices),
        languages=info.languages,
    )


def problem_views(session: Session) -> tuple[ProblemView, ...]:
    """Lists every file that was not read, or only in part, with cause and advice."""
    return tuple(
        ProblemView(
            path=record.path,
            folder=record.folder,
            code=record.code,
            message=record.message,
            hint=record.hint,
            partial=record.partial,
            member=record.member,
            ignored=record.ignored,
            size=record.size,
            when=record.when,
        )
        for record in session.library.problems()
    )


def recent_views(session: Session, limit: int) -> tuple[ChangeView, ...]:
    """Lists the documents read last."""
    return tuple(
        ChangeView(record.path, record.title, record.when, record.passages, record.member)
        for record in session.library.recent(limit)
    )
