"""Pairs of a query and a text as the cross-encoder's back-ends take them, and the one that runs in the torch child."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sbert_desktop.domain import Child
from sbert_desktop.encoder._remote import LOAD_S, Launch, spec_text
from sbert_desktop.encoder.models import ModelFacts
from sbert_desktop.errors import EncoderError, JobError

Pair = tuple[NDArray[np.int32], NDArray[np.int32]]
"""Token ids and token types of one pair, int32 [tokens] each."""
Scores = NDArray[np.float32]

_SCORE_S = 120.0  # one batch; a healthy child needs a second
_BUDGET = 1024  # padded tokens between two looks at a cancel, a quarter of a second on two cores
_LIVES = 1  # a child that died is replaced so often in one request


class PairBackend(Protocol):
    """What computes scores. Called by one thread at a time."""

    @property
    def name(self) -> str:
        """``openvino`` or ``torch``."""
        ...

    @property
    def precision(self) -> str:
        """``bf16`` or ``float32``; that of the child is its own matter."""
        ...

    @property
    def budget(self) -> int:
        """Padded tokens that a batch may hold."""
        ...

    @property
    def width(self) -> int:
        """How many batches :meth:`run` should get at once."""
        ...

    def run(self, batches: Sequence[Sequence[Pair]]) -> list[Scores]:
        """Gives the scores of each batch, float32 [pairs] each.

        Raises:
            EncoderError: ``backend-failed`` or ``encoder-closed``.
        """
        ...

    def close(self) -> None:
        """Frees everything, also in the middle of a request; idempotent."""
        ...


def pack_pairs(pairs: Sequence[Pair]) -> tuple[list[int], bytes]:
    """Gives the lengths, and all ids and then all types behind each other, little-endian int32."""
    joined = np.concatenate([ids for ids, _ in pairs] + [types for _, types in pairs])
    return [len(ids) for ids, _ in pairs], joined.astype("<i4").tobytes()


class RemotePairs:
    """The cross-encoder in a torch child, which the first batch starts; one that dies is replaced once.

    Args:
        facts: The checked model.
        launch: ``launch("torch")`` gives a child.
        device: ``auto``, ``cpu`` or ``gpu``.
        note: Receives plain one-line notices.
    """

    name = "torch"
    precision = "float32"
    budget = _BUDGET
    width = 1

    def __init__(
        self, facts: ModelFacts, launch: Launch, *, device: str, note: Callable[[str], None]
    ) -> None:
        self._facts = facts
        self._launch = launch
        self._device = device
        self._note = note
        self._child: Child | None = None
        self._closed = False

    def run(self, batches: Sequence[Sequence[Pair]]) -> list[Scores]:
        """Computes the batches in the child, one after the other."""
        return [self._one(batch) for batch in batches]

    def close(self) -> None:
        """Ends the child."""
        self._closed = True
        child, self._child = self._child, None
        if child is not None:
            child.close()

    def _one(self, batch: Sequence[Pair]) -> Scores:
        lengths, payload = pack_pairs(batch)
        for life in range(_LIVES + 1):
            try:
                reply, data = self._ready().request({"do": "score", "lengths": lengths}, payload, timeout=_SCORE_S)
                break
            except JobError as error:
                self._bury(error, last=life == _LIVES)
        notices = reply.get("notices")
        for line in notices if isinstance(notices, list) else ():
            self._note(str(line))
        return np.frombuffer(data, "<f4")

    def _ready(self) -> Child:
        if self._closed:
            raise EncoderError("encoder-closed", "The model was closed.")
        if self._child is None:
            self._child = self._launch("torch")
            self._child.request({"do": "load", "folder": str(self._facts.path.absolute()),
                                 "spec": spec_text(self._facts), "device": self._device}, timeout=LOAD_S)
        return self._child

    def _bury(self, error: JobError, *, last: bool) -> None:
        child, self._child = self._child, None
        if child is not None:
            child.close()
        if self._closed:
            raise EncoderError("encoder-closed", "The model was closed.") from error
        if last or error.code not in {"child-died", "child-timeout", "child-not-started"}:
            raise EncoderError("backend-failed", f"{self._facts.name} cannot run: {error.message}",
                               "The order of the first search stays. Remove the model and add it again if this stays.",
                               detail=error.detail) from error
        self._note("The helper process of the model ended and was started again.")
