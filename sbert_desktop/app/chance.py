"""The line of chance of a session: questions of no concern, encoded once per model and kept in its cache."""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path
from weakref import WeakKeyDictionary

import numpy as np

from sbert_desktop.app.session import Session
from sbert_desktop.domain import Encoder, JobContext, Vectors
from sbert_desktop.explore import STRANGERS, Chance, strangers_in
from sbert_desktop.paths import model_cache

_known: WeakKeyDictionary[Session, tuple[str, Chance]] = WeakKeyDictionary()


def known_chance(session: Session, encoder: Encoder) -> Chance | None:
    """Gives what tells the line of chance, or None as long as its questions are not encoded."""
    fingerprint = encoder.info.fingerprint
    kept = _known.get(session)
    if kept is not None and kept[0] == fingerprint:
        return kept[1]
    vectors = _read(_place(fingerprint), encoder.info.dimension)
    if vectors is None:
        return None
    chance = Chance(vectors, strangers_in(encoder.info.languages))
    _known[session] = (fingerprint, chance)
    return chance


def prepare_chance(session: Session, encoder: Encoder, context: JobContext | None = None) -> None:
    """Encodes the questions unless that was done before; about a second, once for each model.

    Call it when the person waits for nothing; ``context`` is asked for a cancel before each question.
    """
    if known_chance(session, encoder) is not None:
        return
    vectors = np.zeros((len(STRANGERS), encoder.info.dimension), np.float32)
    for number, text in enumerate(STRANGERS):
        if context is not None:
            context.check()
        vectors[number] = encoder.encode_query(text)
    fingerprint = encoder.info.fingerprint
    _known[session] = (fingerprint, Chance(vectors, strangers_in(encoder.info.languages)))
    _write(_place(fingerprint), vectors)


def _place(fingerprint: str) -> Path:
    texts = "\n".join((fingerprint, *STRANGERS))
    return model_cache() / f"chance-{hashlib.sha256(texts.encode()).hexdigest()[:24]}.npy"


def _read(place: Path, dimension: int) -> Vectors | None:
    try:
        vectors = np.load(place, allow_pickle=False)
    except (OSError, ValueError, EOFError):
        return None
    if vectors.shape != (len(STRANGERS), dimension) or vectors.dtype != np.float32:
        return None
    if not np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-2):
        return None
    unit: Vectors = vectors
    return unit


def _write(place: Path, vectors: Vectors) -> None:
    """Keeps the vectors for the next start; without a place to write they are encoded again."""
    temporary: str | None = None
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=place.parent, suffix=".tmp")
        with os.fdopen(handle, "wb") as stream:
            np.save(stream, vectors)
        os.replace(temporary, place)
    except OSError:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)
