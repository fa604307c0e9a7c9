"""The cross-encoder: a query and a text go through the model together; in the torch child."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sbert_desktop.domain import Child, CrossEncoder, JobContext
from sbert_desktop.encoder._parts import read_object
from sbert_desktop.encoder._remote import LOAD_S, spec_text
from sbert_desktop.encoder._texts import plan_batches
from sbert_desktop.encoder._tokens import ModelTokenizer
from sbert_desktop.encoder.models import CROSS_ENCODER, ModelFacts, check_model, describe
from sbert_desktop.errors import EncoderError, JobError

_SCORE_S = 120.0  # one batch; a healthy child needs a second
_BUDGET = 2048  # padded tokens between two looks at a cancel, half a second on two cores
_LIVES = 1  # a child that died is replaced so often in one request


def open_cross_encoder(
    model: Path,
    *,
    launch: Callable[..., Child],
    device: str = "auto",
    notify: Callable[[str], None] | None = None,
) -> CrossEncoder:
    """Opens a cross-encoder; its child is started by the first :meth:`CrossEncoder.score`.

    Args:
        model: Folder of a sentence-transformers CrossEncoder with one score.
        launch: ``launch("torch")`` gives a child process.
        device: ``auto``, ``cpu`` or ``gpu``.
        notify: Receives plain one-line notices, from the thread that scores.

    Raises:
        EncoderError: ``model-missing``, ``model-refused`` or ``model-unsupported``.
    """
    facts = describe(model)
    check_model(facts)
    if facts.kind != CROSS_ENCODER:
        raise EncoderError("model-unsupported", f"{facts.name} gives vectors and no scores of pairs.",
                           "Choose a cross-encoder.")
    tokenizer = ModelTokenizer(facts.path, facts.tokenizer_sha256, max_tokens=facts.max_tokens,
                               lower_case=facts.lower_case)
    return _PairScorer(facts, tokenizer, launch, device, notify or (lambda line: None))


class _PairScorer:
    """The cross-encoder of a real model. Safe from any thread; one request at a time."""

    def __init__(
        self, facts: ModelFacts, tokenizer: ModelTokenizer, launch: Callable[..., Child], device: str,
        notify: Callable[[str], None],
    ) -> None:
        self._facts = facts
        self._tokenizer = tokenizer
        self._launch = launch
        self._device = device
        self._notify = notify
        self._child: Child | None = None
        self._typed = _has_types(facts.path)
        self._closed = False
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """Gives the model's name."""
        return self._facts.name

    def score(
        self, query: str, texts: Sequence[str], context: JobContext | None = None
    ) -> NDArray[np.float32]:
        """Gives one score per text, float32 [n], larger is better; longest texts are done first.

        Raises:
            Cancelled: From ``context.check()``, between batches.
            EncoderError: ``backend-failed`` or ``encoder-closed``.
        """
        out = np.zeros(len(texts), np.float32)
        pairs = self._tokenizer.encode_pairs(query, texts)
        lengths = np.array([len(ids) for ids, _ in pairs], np.int64)
        with self._lock:
            for rows in plan_batches(lengths, _BUDGET):
                if context is not None:
                    context.check()
                out[rows] = self._run([pairs[row] for row in rows])
        return out

    def close(self) -> None:
        """Ends the child, also in the middle of a request; idempotent."""
        self._closed = True
        child, self._child = self._child, None
        if child is not None:
            child.close()

    def _run(self, batch: Sequence[tuple[NDArray[np.int32], NDArray[np.int32]]]) -> NDArray[np.float32]:
        kinds = [types if self._typed else np.zeros_like(types) for _, types in batch]
        joined = np.concatenate([ids for ids, _ in batch] + kinds)
        header = {"do": "score", "lengths": [len(ids) for ids, _ in batch]}
        for life in range(_LIVES + 1):
            try:
                reply, data = self._ready().request(header, joined.astype("<i4").tobytes(), timeout=_SCORE_S)
                break
            except JobError as error:
                self._bury(error, last=life == _LIVES)
        notices = reply.get("notices")
        for line in notices if isinstance(notices, list) else ():
            self._notify(str(line))
        scores = np.frombuffer(data, "<f4")
        if len(scores) != len(batch) or not np.isfinite(scores).all():
            raise EncoderError("backend-failed", f"{self.name} gave scores that are no numbers.",
                               "Replace the model by a fresh copy.")
        return scores

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
            raise EncoderError("backend-failed", f"{self.name} cannot run: {error.message}",
                               "The order of the first search stays. Remove the model and add it again if this stays.",
                               detail=error.detail) from error
        self._notify("The helper process of the model ended and was started again.")


def _has_types(folder: Path) -> bool:
    """Says whether the model's tokenizer tells the two texts of a pair apart, as transformers decides it."""
    config = read_object(folder, "tokenizer_config.json", optional=True)
    names = config.get("model_input_names")
    if isinstance(names, list):
        return "token_type_ids" in names
    return config.get("tokenizer_class") not in {"PreTrainedTokenizerFast", "TokenizersBackend"}
