"""Texts to vectors: one door, :func:`open_encoder`, whatever computes behind it. Nothing heavy at import."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from sbert_desktop.domain import Child, CrossEncoder, Encoder, JobContext, Vectors
from sbert_desktop.encoder.hashing import HashingEncoder
from sbert_desktop.encoder.pacing import EncodeStats, Gate

__all__ = ["EncodeStats", "Gate", "HashingEncoder", "PacedEncoder", "expected_fingerprint", "open_cross_encoder",
           "open_encoder"]


class PacedEncoder(Encoder, Protocol):
    """An encoder whose bulk work can be held back; every encoder of this room is one."""

    @property
    def stats(self) -> EncodeStats:
        """Gives what bulk encoding did so far."""
        ...

    def encode_now(self, texts: Sequence[str]) -> Vectors:
        """Encodes a few passages (the sentences of the hits shown) ahead of bulk work, as ``encode_passages``."""
        ...

    def hold_bulk(self, seconds: float = 1.0) -> None:
        """Keeps bulk work away for so long: call it at each keystroke in the search box."""
        ...

    def set_pace(self, *, gentle: bool) -> None:
        """Gentle: bulk uses half the cores, from the next batch on. Queries always use all."""
        ...


def expected_fingerprint(model: Path | None = None, *, backend: str = "auto", pooling: str | None = None) -> str:
    """Gives the fingerprint that :func:`open_encoder` will give a model, without opening it (0.1 s).

    Args:
        model: As there.
        backend: As there.
        pooling: As there.

    Raises:
        EncoderError: ``model-missing``, ``model-refused`` or ``model-unsupported``.
    """
    from sbert_desktop.encoder import opening

    return opening.expected_fingerprint(model, backend=backend, pooling=pooling)


def open_encoder(
    model: Path | None = None,
    *,
    backend: str = "auto",
    precision: str = "auto",
    launch: Callable[..., Child],
    notify: Callable[[str], None] | None = None,
    threads: int | None = None,
    interactive: bool = True,
    progress: JobContext | None = None,
    pooling: str | None = None,
    prompt: str = "",
) -> Encoder:
    """Opens the encoder of a model. Half a second of CPU once the model was converted on this machine.

    The files are checked by sha256 first. The first time on a machine, a child converts the model
    (some ten seconds); ``progress`` hears of it. torch is imported in children only.

    Args:
        model: Folder of a sentence-transformers model; the bundled all-MiniLM-L6-v2 by default.
        backend: ``auto`` (the fastest that works), ``openvino``, ``torch-cpu``, ``torch-gpu``, ``hashing``.
        precision: ``auto`` (what is fastest here and keeps a cosine of 0.9999), ``bf16``, ``float32``.
        launch: ``launch("torch")`` gives a child process of that kind.
        notify: Receives plain one-line notices (fall-backs), from any thread.
        threads: Cores to use; all by default.
        interactive: A window is open: bulk batches stay small, so that queries need not wait.
        progress: Hears of long preparations.
        pooling: One of ``models.POOLINGS`` in place of the model's own.
        prompt: Put before every text in place of the model's own prompts.

    Raises:
        EncoderError: ``model-missing``, ``model-refused`` (naming the file), ``model-unsupported``,
            ``no-gpu``, ``backend-failed``.
    """
    from sbert_desktop.encoder import opening

    return opening.open_encoder(
        model, backend=backend, precision=precision, launch=launch, notify=notify, threads=threads,
        interactive=interactive, progress=progress, pooling=pooling, prompt=prompt,
    )


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
    """Opens a cross-encoder; making it ready begins with the first ``score``, or at once with ``start``.

    On a CPU it runs with OpenVINO in this process: ready within two seconds once it was converted on this machine
    (some ten seconds, in a child). Closing it ends what is under way.

    Args:
        model: Folder of a sentence-transformers CrossEncoder that gives one score.
        launch: ``launch("torch")`` gives a child process of that kind.
        device: ``auto``, ``cpu`` or ``gpu``.
        precision: ``auto`` (what is fastest here and good enough), ``bf16``, or ``float32``, which gives
            sentence-transformers' scores within 1e-4.
        backend: ``auto`` (the fastest that works), ``openvino`` or ``torch``.
        start: Begin at once, in a thread, to make it ready.
        notify: Receives plain one-line notices, from any thread.

    Raises:
        EncoderError: ``model-missing``, ``model-refused`` (naming the file) or ``model-unsupported``.
    """
    from sbert_desktop.encoder import scoring

    return scoring.open_cross_encoder(
        model, launch=launch, device=device, precision=precision, backend=backend, start=start, notify=notify
    )
