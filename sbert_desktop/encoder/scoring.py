"""The cross-encoder: a query and a text go through the model together.

On a CPU with OpenVINO in this process, on a graphics card (and where OpenVINO fails) in the torch child. What is
slow about it, reading and converting the model, happens in a thread of its own that a cancel does not wait for.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sbert_desktop.domain import Child, CrossEncoder, JobContext
from sbert_desktop.encoder._pairs import Pair, PairBackend, RemotePairs, Scores
from sbert_desktop.encoder._parts import read_object
from sbert_desktop.encoder._texts import plan_batches
from sbert_desktop.encoder._tokens import ModelTokenizer
from sbert_desktop.encoder.models import CROSS_ENCODER, ModelFacts, check_model, describe
from sbert_desktop.errors import EncoderError

_KEPT = 20_000  # scores: some megabytes, and all pairs of the last two hundred queries
_LEAST = 128  # padded tokens below which a batch of its own is not worth it
_POLL_S = 0.02  # how often somebody who waits for the model asks for a cancel
_SELF_TEST_QUERY = "When is the invoice due, and how far did the river rise?"


def open_cross_encoder(
    model: Path,
    *,
    launch: Callable[..., Child],
    device: str = "auto",
    precision: str = "auto",
    backend: str = "auto",
    start: bool = False,
    notify: Callable[[str], None] | None = None,
) -> CrossEncoder:
    """Opens a cross-encoder; the first :meth:`CrossEncoder.score` makes it ready where ``start`` did not.

    Args:
        model: Folder of a sentence-transformers CrossEncoder with one score.
        launch: ``launch("torch")`` gives a child process: it converts, once, and scores on a graphics card.
        device: ``auto``, ``cpu`` or ``gpu``.
        precision: ``float32`` gives sentence-transformers' scores within 1e-4; ``bf16`` about twice as fast
            ones that differ in the second or third digit; ``auto`` the faster of those that are good here.
        backend: ``openvino``, ``torch``, or ``auto`` for the first that works.
        start: Begin at once to make it ready, in a thread.
        notify: Receives plain one-line notices, from any thread.

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
    opened = _PairScorer(facts, tokenizer, launch, (backend, device, precision), notify or (lambda line: None))
    if start:
        opened.start()
    return opened


class _PairScorer:
    """The cross-encoder of a real model. Safe from any thread; one request at a time."""

    def __init__(
        self, facts: ModelFacts, tokenizer: ModelTokenizer, launch: Callable[..., Child], wanted: tuple[str, str, str],
        notify: Callable[[str], None],
    ) -> None:
        self._facts = facts
        self._tokenizer = tokenizer
        self._outer_launch = launch
        self._wanted_backend, self._wanted_device, self._wanted_precision = wanted
        self._notify = notify
        self._typed = _has_types(facts.path)
        self._backend: PairBackend | None = None
        self._error: EncoderError | None = None
        self._ready = threading.Event()
        self._thread: threading.Thread | None = None
        self._children: list[Child] = []  # of the preparation
        self._closed = False
        self._state = threading.Lock()
        self._lock = threading.Lock()
        self._known: OrderedDict[bytes, float] = OrderedDict()

    @property
    def name(self) -> str:
        """Gives the model's name."""
        return self._facts.name

    @property
    def runs(self) -> str:
        """Gives back-end and precision in words, "" before it is ready."""
        backend = self._backend
        return "" if backend is None else f"{backend.name} {backend.precision}"

    def start(self) -> None:
        """Begins to make the model ready; does nothing when it has begun."""
        with self._state:
            if self._thread is None and not self._closed:
                self._thread = threading.Thread(target=self._prepare, name="cross-encoder-load", daemon=True)
                self._thread.start()

    def score(
        self, query: str, texts: Sequence[str], context: JobContext | None = None
    ) -> NDArray[np.float32]:
        """Gives one score per text, float32 [n], larger is better; what was scored before is not computed again.

        Raises:
            Cancelled: From ``context.check()``, between batches and while the model is being made ready.
            EncoderError: ``backend-failed`` or ``encoder-closed``.
        """
        if self._closed:
            raise EncoderError("encoder-closed", "The model was closed.")
        keys = [_key(query, text) for text in texts]
        found = {key: self._known[key] for key in keys if key in self._known}
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in found}
        if new:
            scores = self._compute(query, list(new.values()), context)
            found.update(zip(new, scores.tolist(), strict=True))
            self._keep(found)
        return np.array([found[key] for key in keys], np.float32)

    def close(self) -> None:
        """Frees the model and ends its child, also in the middle of a request; idempotent."""
        with self._state:
            self._closed = True
            backend, children = self._backend, list(self._children)
        self._ready.set()
        for child in children:
            child.close()
        if backend is not None:
            backend.close()

    def _keep(self, scores: dict[bytes, float]) -> None:
        for key, score in scores.items():
            self._known[key] = score
            self._known.move_to_end(key)
        while len(self._known) > _KEPT:
            self._known.popitem(last=False)

    def _compute(self, query: str, texts: Sequence[str], context: JobContext | None) -> Scores:
        backend = self._wait(context)
        pairs = [(ids, types if self._typed else np.zeros_like(types))
                 for ids, types in self._tokenizer.encode_pairs(query, texts)]
        out = np.zeros(len(texts), np.float32)
        with self._lock:
            self._run_all(backend, pairs, out, context)
        if not np.isfinite(out).all():
            raise EncoderError("backend-failed", f"{self.name} gave scores that are no numbers.",
                               "Replace the model by a fresh copy.")
        return out

    def _run_all(self, backend: PairBackend, pairs: Sequence[Pair], out: Scores, context: JobContext | None) -> None:
        lengths = np.array([len(ids) for ids, _ in pairs], np.int64)
        # A few pairs are shared out: no core waits for another that has all of them.
        share = -(-int(lengths.sum()) // backend.width)
        plan = plan_batches(lengths, min(backend.budget, max(_LEAST, share)))
        while group := list(islice(plan, backend.width)):
            if context is not None:
                context.check()
            results = backend.run([[pairs[row] for row in rows] for rows in group])
            for rows, scores in zip(group, results, strict=True):
                if len(scores) != len(rows):
                    raise EncoderError("backend-failed", f"{self.name} gave another number of scores than pairs.",
                                       "Replace the model by a fresh copy.")
                out[rows] = scores

    # ------------------------------------------------------------- making it ready

    def _wait(self, context: JobContext | None) -> PairBackend:
        self.start()
        while not self._ready.wait(_POLL_S):
            if context is not None:
                context.check()
        if self._closed:
            raise EncoderError("encoder-closed", "The model was closed.")
        if self._backend is None:
            raise self._error or EncoderError("encoder-closed", "The model was closed.")
        return self._backend

    def _prepare(self) -> None:
        try:
            backend = self._open()
        except EncoderError as error:
            self._error = error
        except Exception as error:  # a broken installation of a native library is a known problem here
            self._error = EncoderError("backend-failed", f"{self.name} cannot run: {type(error).__name__}.",
                                       "The order of the first search stays.", detail=str(error))
        else:
            with self._state:
                self._backend = backend
                closed = self._closed
            if closed:
                backend.close()
        finally:
            self._ready.set()

    def _open(self) -> PairBackend:
        from sbert_desktop.encoder.opening import may_have_gpu

        card = self._wanted_device == "gpu" or (self._wanted_device == "auto" and may_have_gpu())
        if self._wanted_backend == "torch" or (card and self._wanted_backend == "auto"):
            return self._remote(self._wanted_device)
        try:
            return self._openvino()
        except EncoderError as error:
            if self._closed or self._wanted_backend == "openvino":
                raise
            self._notify(f"{error.message} {self.name} runs with torch instead, which is slower.")
            return self._remote("cpu")

    def _remote(self, device: str) -> PairBackend:
        return RemotePairs(self._facts, self._outer_launch, device=device, note=self._notify)

    def _openvino(self) -> PairBackend:
        from sbert_desktop.encoder._ir_cache import SELF_TEST, get_conversion
        from sbert_desktop.encoder._openvino_pairs import OpenVinoPairs
        from sbert_desktop.encoder._pairs import pack_pairs

        pairs = [(ids, types if self._typed else np.zeros_like(types))
                 for ids, types in self._tokenizer.encode_pairs(_SELF_TEST_QUERY, SELF_TEST)]
        converted = get_conversion(self._facts, self._tokenizer, self._launch, packed=pack_pairs(pairs))
        return OpenVinoPairs(converted, pairs, activation=self._facts.activation, precision=self._wanted_precision,
                             pad_id=self._facts.pad_id, limit=self._facts.max_tokens, note=self._notify)

    def _launch(self, kind: str) -> Child:
        """Starts the child that converts, so that closing ends it."""
        child = self._outer_launch(kind)
        with self._state:
            self._children.append(child)
            closed = self._closed
        if closed:
            child.close()
        return child


def _key(query: str, text: str) -> bytes:
    both = f"{len(query)}:{query}{text}".encode("utf-8", "surrogatepass")
    return hashlib.blake2b(both, digest_size=16).digest()


def _has_types(folder: Path) -> bool:
    """Says whether the model's tokenizer tells the two texts of a pair apart, as transformers decides it."""
    config = read_object(folder, "tokenizer_config.json", optional=True)
    names = config.get("model_input_names")
    if isinstance(names, list):
        return "token_type_ids" in names
    return config.get("tokenizer_class") not in {"PreTrainedTokenizerFast", "TokenizersBackend"}
