"""The parent's side of the torch child: a back-end whose work is done in another process."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from sbert_desktop.domain import Child, Vectors
from sbert_desktop.encoder._texts import Batch
from sbert_desktop.encoder.models import ModelFacts
from sbert_desktop.errors import EncoderError, JobError

Launch = Callable[..., Child]
LOAD_S = 300.0  # importing torch from a cold disk, and the driver's first use of a graphics card
_ENCODE_S = 600.0  # one batch; a healthy child needs seconds
_LIVES = 3  # how often a child that died is replaced


def spec_text(facts: ModelFacts) -> str:
    """Gives what the child must know of a model, as JSON."""
    config = json.loads((facts.path / "config.json").read_text("utf-8"))
    return json.dumps({
        "pooling": facts.pooling,
        "dense": [dataclasses.asdict(layer) for layer in facts.dense],
        "pad_id": facts.pad_id,
        "max_tokens": facts.max_tokens,
        "vocabulary": int(config.get("vocab_size", 30522)),
        "layers": None if facts.layers is None else dataclasses.asdict(facts.layers),
        "dimension": facts.dimension,
        "prompt_pooled": facts.prompt_pooled,
        "kind": facts.kind,
        "activation": facts.activation,
    })


def pack(batch: Batch) -> tuple[list[int], bytes]:
    """Gives the lengths and all ids behind each other, little-endian int32."""
    joined = np.concatenate(batch) if len(batch) else np.empty(0, np.int32)
    return [len(one) for one in batch], joined.astype("<i4").tobytes()


class RemoteBackend:
    """A back-end in the torch child. A child that dies is replaced and the batch repeated.

    Args:
        facts: The checked model.
        launch: ``launch("torch")`` gives a child.
        device: ``gpu``, ``cpu`` or ``auto``.
        note: Receives notices of the child (out of memory) and of its replacement.

    Raises:
        EncoderError: ``no-gpu`` or ``backend-failed``.
    """

    def __init__(self, facts: ModelFacts, launch: Launch, *, device: str, note: Callable[[str], None]) -> None:
        self._facts = facts
        self._launch = launch
        self._wanted = device
        self._note = note
        self._gentle = False
        self._paced = False
        self._deaths = 0
        self._child: Child | None = None
        self._state: Mapping[str, object] = {}
        self._request({}, b"")

    @property
    def name(self) -> str:
        """Gives ``torch-gpu`` or, also after a fall-back, ``torch-cpu``."""
        return "torch-gpu" if self._state.get("accelerated") else "torch-cpu"

    @property
    def device(self) -> str:
        """Gives the device as the child names it."""
        return str(self._state.get("device", ""))

    @property
    def precision(self) -> str:
        """Gives ``float16`` on a graphics card, else ``float32``."""
        return str(self._state.get("precision", ""))

    @property
    def budget(self) -> int:
        """Gives what the child found its memory to hold."""
        return int(str(self._state.get("budget", 1024)))

    @property
    def width(self) -> int:
        """Gives 1: the child works on one batch."""
        return 1

    def run(self, batches: Sequence[Batch], *, bulk: bool, skip: int = 0) -> list[Vectors]:
        """Computes the batches in the child.

        Raises:
            EncoderError: ``backend-failed`` after the third child that died, or when a request fails.
        """
        results = []
        for batch in batches:
            lengths, payload = pack(batch)
            header = {"do": "encode", "lengths": lengths, "skip": skip}
            reply, data = self._request(header, payload, pace=bulk and self._gentle)
            vectors = np.frombuffer(data, "<f4").reshape(len(batch), -1).astype(np.float32)
            if vectors.shape[1] != self._facts.dimension:
                raise EncoderError("backend-failed", "The model gave vectors of another dimension than it states.",
                                   "Replace the model by a fresh copy.", detail=str(reply.get("rows")))
            results.append(vectors)
        return results

    def set_pace(self, *, gentle: bool) -> None:
        """Half the threads of the child on a CPU, from the next batch on; a graphics card is not slowed."""
        self._gentle = gentle

    def close(self) -> None:
        """Ends the child."""
        child, self._child = self._child, None
        if child is not None:
            child.close()

    def _request(
        self, header: dict[str, object], payload: bytes, *, pace: bool = False
    ) -> tuple[Mapping[str, object], bytes]:
        """Sends a request to a loaded child; replaces a dead one and repeats."""
        while True:
            try:
                child = self._ready()
                if pace != self._paced and header:
                    child.request({"do": "pace", "gentle": pace}, timeout=LOAD_S)
                    self._paced = pace
                if not header:
                    return {}, b""
                reply, data = child.request(header, payload, timeout=_ENCODE_S)
                self._learn(reply)
                return reply, data
            except JobError as error:
                self._bury(error)

    def _ready(self) -> Child:
        if self._child is None:
            self._child = self._launch("torch")
            self._paced = False
            reply, _ = self._child.request(
                {"do": "load", "folder": str(Path(self._facts.path).absolute()), "spec": spec_text(self._facts),
                 "device": self._wanted}, timeout=LOAD_S)
            self._learn(reply)
        return self._child

    def _learn(self, reply: Mapping[str, object]) -> None:
        self._state = {key: reply[key] for key in ("device", "accelerated", "precision", "budget") if key in reply}
        notices = reply.get("notices")
        for line in notices if isinstance(notices, list) else ():
            self._note(str(line))

    def _bury(self, error: JobError) -> None:
        """Ends the failed child; raises when another try makes no sense."""
        self.close()
        if error.code == "no-gpu":
            raise EncoderError(error.code, error.message, error.hint) from error
        died = error.code in {"child-died", "child-timeout", "child-not-started"}
        self._deaths += died
        if not died or self._deaths > _LIVES:
            raise EncoderError(
                "backend-failed", f"The model cannot run with torch: {error.message}",
                "Search by words goes on. Re-install the program if this stays.", detail=error.detail,
            ) from error
        self._note("The helper process of the model ended and was started again.")
