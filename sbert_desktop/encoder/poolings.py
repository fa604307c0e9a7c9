"""One model under several poolings at once, in the torch child: to compare them, not to search with."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

import numpy as np

from sbert_desktop.domain import Child, JobContext, Vectors
from sbert_desktop.encoder._parts import LAST_LAYERS, LayerFacts, hidden_size, read_object, unsupported
from sbert_desktop.encoder._remote import LOAD_S, Launch, pack, spec_text
from sbert_desktop.encoder._texts import plan_batches
from sbert_desktop.encoder._tokens import ModelTokenizer
from sbert_desktop.encoder.models import ENCODER, ModelFacts, check_model, describe
from sbert_desktop.errors import EncoderError, JobError

COMPARED = ("cls", "mean", "max", "mean_sqrt_len", "mean_last_2", "mean_last_4")
"""Poolings that are worth comparing."""
_BUDGET = 4096  # padded tokens of a batch
_ENCODE_S = 600.0


class Poolings:
    """A model whose hidden states are pooled in several ways; use it as a context manager.

    Args:
        folder: Of the model; its files are checked first.
        poolings: Names of :data:`sbert_desktop.encoder.models.POOLINGS`, or joined ones.
        launch: ``launch("torch")`` gives the child.
        device: ``cpu`` (float32), ``gpu`` or ``auto``.

    Raises:
        EncoderError: As :func:`sbert_desktop.encoder.open_encoder`; ``model-unsupported`` too where a dense layer
            behind the pooling fits none of them.
    """

    def __init__(self, folder: Path, poolings: Sequence[str], *, launch: Launch, device: str = "cpu") -> None:
        facts = describe(folder)
        check_model(facts)
        if facts.kind != ENCODER:
            raise unsupported(folder, "scores pairs and has no vectors to pool")
        width = hidden_size(read_object(folder, "config.json"), folder)
        if facts.dense and facts.dense[0].inputs != width:
            raise unsupported(folder, "has a dense layer that fits its own pooling only")
        self.names = tuple(poolings)
        self._facts = facts
        self._tokenizer = ModelTokenizer(facts.path, facts.tokenizer_sha256, max_tokens=facts.max_tokens,
                                         lower_case=facts.lower_case)  # fmt: skip
        self._child: Child = launch("torch")
        try:
            self._load(device)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Poolings:
        """Gives itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Ends the child."""
        self.close()

    def close(self) -> None:
        """Ends the child."""
        self._child.close()

    def encode(self, texts: Sequence[str], context: JobContext, *, queries: bool = False) -> dict[str, Vectors]:
        """Gives the vectors of texts under each pooling, float32 [n, dimension] of unit rows.

        Args:
            texts: Passages, or questions.
            context: Asked for a cancel between batches.
            queries: They are questions: the prompt of those is put before.

        Raises:
            Cancelled: Through ``context``.
            EncoderError: ``backend-failed``.
        """
        facts = self._facts
        prompt = facts.prompts.get("query" if queries else "document", "")
        skip = 0 if facts.prompt_pooled else self._tokenizer.prompt_length(prompt)
        ids = self._tokenizer.encode([prompt + text for text in texts])
        made: Vectors | None = None
        done = 0
        for rows in plan_batches(np.array([len(one) for one in ids], np.int64), _BUDGET):
            context.check()
            context.progress("Comparing ways to pool", done, len(texts))
            lengths, payload = pack([ids[row] for row in rows])
            data = self._ask({"do": "encode", "lengths": lengths, "skip": skip}, payload, _ENCODE_S)
            vectors = np.frombuffer(data, "<f4").reshape(len(rows), -1)
            if made is None:
                made = np.empty((len(texts), vectors.shape[1]), np.float32)
            made[rows] = vectors
            done += len(rows)
        if made is None:
            made = np.empty((0, len(self.names) * facts.dimension), np.float32)
        return dict(zip(self.names, np.split(made, len(self.names), axis=1), strict=True))

    def _load(self, device: str) -> None:
        spec = json.loads(spec_text(self._facts))
        spec["ways"] = [{"pooling": name, "layers": _layers(name, self._facts)} for name in self.names]
        folder = str(self._facts.path.absolute())
        self._ask({"do": "load", "folder": folder, "spec": json.dumps(spec), "device": device}, b"", LOAD_S)

    def _ask(self, header: dict[str, object], payload: bytes, seconds: float) -> bytes:
        try:
            return self._child.request(header, payload, timeout=seconds)[1]
        except JobError as error:
            raise EncoderError(
                "backend-failed", f"The model cannot run with torch: {error.message}",
                "Close other programs and try again.", detail=error.detail,
            ) from error  # fmt: skip


def _layers(name: str, facts: ModelFacts) -> dict[str, object] | None:
    """Gives which layers a pooling averages, as the child reads it."""
    layers = LayerFacts("", -LAST_LAYERS[name]) if name in LAST_LAYERS else facts.layers
    return None if layers is None else {"folder": layers.folder, "start": layers.start}
