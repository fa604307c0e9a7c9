"""Reads texts with a model that is not the one in force: the base of a training, the tuned one, a cross-encoder.

A reader is opened for a while, in a child that steps aside for the person, and closed again. Models that are read one
after the other share the child: it starts once, and one of them is in memory at a time. Vectors and scores come as
float32, so that base and tuned are compared without the small differences of faster arithmetic.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sbert_desktop.app.session import Session
from sbert_desktop.domain import Child, CrossEncoder, Encoder, JobContext, Vectors
from sbert_desktop.errors import JobError
from sbert_desktop.training.comparing import as_columns
from sbert_desktop.training.labels import LabelKind, LabelSet

_STEP = 128
"""Texts between two moves of the progress line."""
_SHARED = "torch"
_DEAD = frozenset(("child-died", "child-timeout"))


class Reader(Protocol):
    """Gives what a comparison needs of a model."""

    @property
    def name(self) -> str:
        """Its name."""
        ...

    def columns(self, labels: LabelSet, context: JobContext) -> tuple[Vectors, ...]:
        """Gives vectors of each text of the labels, one array for each place."""
        ...

    def passages(self, texts: Sequence[str], context: JobContext) -> Vectors:
        """Gives vectors of passages, float32 [n, dimension], unit rows."""
        ...

    def queries(self, texts: Sequence[str], context: JobContext) -> Vectors:
        """Gives vectors of questions, float32 [n, dimension], unit rows."""
        ...


class EncoderReader:
    """Reads with an encoder; each text is encoded once."""

    def __init__(self, encoder: Encoder, phase: str, *, one_prompt: bool) -> None:
        self._encoder = encoder
        self._phase = phase
        self._one_prompt = one_prompt
        self._known: dict[tuple[bool, str], NDArray[np.float32]] = {}
        self._pace = (0, 0.0)  # passages, seconds

    @property
    def name(self) -> str:
        """The model's name."""
        return self._encoder.info.name

    @property
    def speed(self) -> float:
        """Passages a second of what was read last; 0.0 before."""
        count, seconds = self._pace
        return count / seconds if seconds > 0 else 0.0

    def columns(self, labels: LabelSet, context: JobContext) -> tuple[Vectors, ...]:
        """Gives vectors of each text of the labels."""
        found = []
        for place in range(labels.kind.texts):
            texts = [example.texts[place] for example in labels.examples]
            asks = place == 0 and labels.kind is LabelKind.RELEVANCE
            found.append(self.queries(texts, context) if asks else self.passages(texts, context))
        return tuple(found)

    def passages(self, texts: Sequence[str], context: JobContext) -> Vectors:
        """Gives vectors of passages."""
        return self._read(texts, False, context)

    def queries(self, texts: Sequence[str], context: JobContext) -> Vectors:
        """Gives vectors of questions, with the prompt that the model has for them."""
        return self._read(texts, not self._one_prompt, context)

    def _read(self, texts: Sequence[str], asks: bool, context: JobContext) -> Vectors:
        new = [text for text in dict.fromkeys(texts) if (asks, text) not in self._known]
        began = time.monotonic()
        for start in range(0, len(new), _STEP):
            context.check()
            context.progress(self._phase, start, len(new))
            step = new[start : start + _STEP]
            rows = ([self._encoder.encode_query(text) for text in step] if asks
                    else list(self._encoder.encode_passages(step, context)))  # fmt: skip
            self._known.update(((asks, text), row) for text, row in zip(step, rows, strict=True))
        if new and not asks:
            self._pace = len(new), time.monotonic() - began
        if not texts:
            return np.empty((0, self._encoder.info.dimension), np.float32)
        return np.stack([self._known[asks, text] for text in texts])


class ScoreReader:
    """Reads with a cross-encoder: what it gives as vectors are its scores, see :func:`as_columns`."""

    def __init__(self, cross: CrossEncoder, phase: str, *, raw: bool) -> None:
        self._cross = cross
        self._phase = phase
        self._raw = raw  # the model gives what must still be brought to 0-1

    @property
    def name(self) -> str:
        """The model's name."""
        return self._cross.name

    def columns(self, labels: LabelSet, context: JobContext) -> tuple[Vectors, ...]:
        """Gives the scores of the labels' pairs as vectors with these cosines."""
        first = [example.texts[0] for example in labels.examples]
        scores = [self.scores(first, [example.texts[place] for example in labels.examples], context)
                  for place in range(1, labels.kind.texts)]  # fmt: skip
        return as_columns(np.stack(scores, axis=1) if scores and len(first) else np.empty((0, 1)))

    def scores(self, first: Sequence[str], second: Sequence[str], context: JobContext) -> NDArray[np.float32]:
        """Gives the scores of pairs, float32 [n], 0 to 1."""
        found = np.zeros(len(first), np.float32)
        places: dict[str, list[int]] = {}
        for place, text in enumerate(first):
            places.setdefault(text, []).append(place)
        done = 0
        for text, rows in places.items():
            context.check()
            context.progress(self._phase, done, len(first))
            found[rows] = self._cross.score(text, [second[row] for row in rows], context)
            done += len(rows)
        return (1.0 / (1.0 + np.exp(-found))).astype(np.float32) if self._raw else found

    def passages(self, texts: Sequence[str], context: JobContext) -> Vectors:
        """A cross-encoder knows no vectors of single texts."""
        raise NotImplementedError

    def queries(self, texts: Sequence[str], context: JobContext) -> Vectors:
        """A cross-encoder knows no vectors of single texts."""
        raise NotImplementedError


class Readers:
    """Opens models for reading, one after the other, in one child that starts with the first; a context manager.

    Args:
        session: Knows the settings, and starts the child.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._child: Child | None = None

    def __enter__(self) -> Readers:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    @contextlib.contextmanager
    def open(self, folder: Path, phase: str) -> Iterator[EncoderReader | ScoreReader]:
        """Opens the model of a folder, encoder or cross-encoder; the one before it must be closed.

        Raises:
            EncoderError: It cannot be opened.
        """
        from sbert_desktop.encoder import open_cross_encoder, open_encoder
        from sbert_desktop.encoder.models import CROSS_ENCODER, describe
        from sbert_desktop.encoder.opening import may_have_gpu

        facts = describe(folder)
        chosen = self._session.settings.text("advanced.encoder")
        gpu = chosen not in {"torch-cpu", "openvino"} and may_have_gpu()
        if facts.kind == CROSS_ENCODER:
            cross = open_cross_encoder(folder, launch=self._lend, device="auto" if gpu else "cpu",
                                       precision="float32", backend="torch")  # fmt: skip
            try:
                yield ScoreReader(cross, phase, raw=facts.activation == "identity")
            finally:
                cross.close()
            return
        encoder = open_encoder(folder, backend="auto" if gpu else "torch-cpu", precision="float32", launch=self._lend,
                               interactive=False, notify=self._session.notice)  # fmt: skip
        try:
            yield EncoderReader(encoder, phase,
                                one_prompt=facts.prompts.get("query", "") == facts.prompts.get("document", ""))
        finally:
            encoder.close()

    def _lend(self, kind: str, *, env: Mapping[str, str] | None = None, nice: int = 0) -> Child:
        """Gives the child, or a new one where another kind or another surrounding is asked for."""
        if kind != _SHARED or env:
            return self._launch(kind, env, nice)
        if self._child is None:
            self._child = self._launch(kind, env, nice)
        return _Lent(self._child, self._end)

    def _launch(self, kind: str, env: Mapping[str, str] | None, nice: int) -> Child:
        return self._session.launch(kind, env=env, nice=10 if self._session.interactive else nice)

    def _end(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            child.close()


class _Lent:
    """A child that goes on when it is closed; one that failed is ended, so that the next one is new."""

    def __init__(self, child: Child, end: Callable[[], None]) -> None:
        self._child = child
        self._end = end

    def request(
        self, header: Mapping[str, object], payload: bytes = b"", *, timeout: float | None = None
    ) -> tuple[dict[str, object], bytes]:
        """Sends one request."""
        try:
            return self._child.request(header, payload, timeout=timeout)
        except JobError as error:
            if error.code in _DEAD:
                self._end()
            raise

    def close(self) -> None:
        """Leaves the child to whoever asks next."""


@contextlib.contextmanager
def open_reader(session: Session, folder: Path, phase: str) -> Iterator[EncoderReader | ScoreReader]:
    """Opens the model of a folder for reading, in a child of its own; encoder or cross-encoder.

    Raises:
        EncoderError: It cannot be opened.
    """
    with Readers(session) as readers, readers.open(folder, phase) as reader:
        yield reader
