"""The torch child: encodes on a graphics card (or the CPU) and converts models. Never in the window's process.

Requests (``do``): ``load``, ``encode``, ``score``, ``convert``, ``pace``. Token ids come as raw little-endian int32
behind each other, vectors go back as raw float32; texts never travel, the parent tokenises.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sbert_desktop.encoder._texts import pad_batch, plan_batches
from sbert_desktop.errors import EncoderError
from sbert_desktop.wire import Handler

if TYPE_CHECKING:
    import torch

Ids = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Placement:
    """Where and how precisely the model runs; ``budget`` counts padded tokens per batch."""

    device: str
    precision: str
    budget: int

    @property
    def accelerated(self) -> bool:
        """True on a graphics card."""
        return self.device != "cpu"


CPU = Placement("cpu", "float32", 2048)
OUT_OF_MEMORY_NOTICE = "The graphics card ran out of memory. Encoding goes on with the CPU."


def choose_placement(wanted: str) -> Placement:
    """Gives the best device: ``gpu`` insists on a graphics card, ``cpu`` on none, ``auto`` takes what there is.

    Raises:
        EncoderError: ``no-gpu`` when there is none but it was asked for.
    """
    import torch

    if wanted != "cpu":
        if torch.cuda.is_available():
            return Placement("cuda", "float16", 32768)
        if hasattr(torch, "xpu") and torch.xpu.is_available():
            return Placement("xpu", "float16", 16384)
        if torch.backends.mps.is_available():
            return Placement("mps", "float16", 16384)
        if wanted == "gpu":
            raise EncoderError("no-gpu", "No graphics card was found that torch can use.",
                               "Let the model run on the CPU.")
    return CPU


class TorchModel:
    """One loaded model; falls back by itself when memory runs out.

    Args:
        load: Gives the module in float32 on the CPU; called again for the fall-back, so that the CPU
            computes with the full weights and not with halves.
        placement: Where to begin.
        pad_id: Of the model's tokenizer.
        limit: The most tokens of a text.
        third: What the module takes beside ids and mask: nothing, ``pooling mask`` or ``token types``.
    """

    def __init__(
        self, load: Callable[[], torch.nn.Module], placement: Placement, *, pad_id: int = 0, limit: int = 512,
        third: str = "",
    ) -> None:
        self._third = third
        self._load = load
        self._pad_id = pad_id
        self._limit = limit
        self.placement = placement
        self.budget = placement.budget
        self.notices: list[str] = []
        self._skip = 0
        self._types: Sequence[Ids] | None = None
        self._module = self._place(placement)

    def encode(
        self, ids: Sequence[Ids], *, skip: int = 0, types: Sequence[Ids] | None = None
    ) -> NDArray[np.float32]:
        """Gives float32 [n, dimension] of unit rows in the order given; no text is lost on a fall-back.

        ``skip`` tokens at the beginning of each text are left out of the pooling, where the model asks
        for it. With ``types`` (a cross-encoder) scores come instead, float32 [n, 1].
        """
        self._skip, self._types = skip, types
        lengths = np.array([len(one) for one in ids], np.int64)
        out: NDArray[np.float32] | None = None
        for rows in plan_batches(lengths, self.budget):
            for some, vectors in self._run(ids, rows):
                if out is None:
                    out = np.empty((len(ids), vectors.shape[1]), np.float32)
                out[some] = vectors
        return out if out is not None else np.empty((0, 0), np.float32)

    def _run(self, ids: Sequence[Ids], rows: NDArray[np.int64]) -> Iterator[tuple[NDArray[np.int64], NDArray[Any]]]:
        """Runs one batch, in halves when memory runs out, on the CPU when one text alone is too much."""
        try:
            vectors = self._forward([ids[row] for row in rows], rows)
        except Exception as error:
            if not is_out_of_memory(error) or not self.placement.accelerated:
                raise
            error.__traceback__ = None  # its frames would keep the tensors of the failed batch alive
        else:
            yield rows, vectors
            return
        self._free()
        if len(rows) == 1:
            self._module = self._place(CPU)
            self.placement, self.budget = CPU, CPU.budget
            self.notices.append(OUT_OF_MEMORY_NOTICE)
            yield from self._run(ids, rows)
            return
        half = (len(rows) + 1) // 2
        self.budget = max(1, min(self.budget, half * int(max(len(ids[row]) for row in rows))))
        yield from self._run(ids, rows[:half])
        yield from self._run(ids, rows[half:])

    def _forward(self, batch: Sequence[Ids], rows: NDArray[np.int64]) -> NDArray[np.float32]:
        import torch

        ids, mask = pad_batch(batch, self._pad_id, multiple=8, limit=self._limit)
        inputs = [ids, mask]
        if self._third == "pooling mask":
            pooled = mask.copy()
            pooled[:, : self._skip] = 0
            inputs.append(pooled)
        elif self._third == "token types":
            kinds = [] if self._types is None else [self._types[row] for row in rows]
            inputs.append(pad_batch(kinds, 0, multiple=8, limit=self._limit)[0] if kinds else np.zeros_like(ids))
        device = self.placement.device
        with torch.inference_mode():
            vectors = self._module(*(torch.from_numpy(one).to(device) for one in inputs))
            result: NDArray[np.float32] = vectors.float().cpu().numpy()
        return result

    def _place(self, placement: Placement) -> torch.nn.Module:
        import torch

        module = self._load().to(placement.device)
        # Pooling, dense layers and unit length stay in float32: they cost nothing and keep the cosine.
        module.transformer.to(getattr(torch, placement.precision))
        return module

    def _free(self) -> None:
        import torch

        for kind in (torch.cuda, getattr(torch, "xpu", None), torch.mps):
            with contextlib.suppress(Exception):
                if kind is not None and kind.is_available():
                    kind.empty_cache()


def is_out_of_memory(error: BaseException) -> bool:
    """Says whether a graphics card ran out of memory (MPS raises a plain RuntimeError)."""
    import torch

    kinds = tuple(kind for kind in (getattr(torch, "OutOfMemoryError", None), torch.cuda.OutOfMemoryError) if kind)
    return isinstance(error, kinds) or (isinstance(error, RuntimeError) and "out of memory" in str(error).lower())


def make_handler() -> Handler:
    """Gives the handler of ``child torch``."""
    model: TorchModel | None = None

    def handle(header: dict[str, object], payload: bytes) -> tuple[Mapping[str, object], bytes]:
        nonlocal model
        match header.get("do"):
            case "load":
                model = None  # first, so that never two of them are in memory
                model = _load(header)
                return _state(model), b""
            case "encode":
                if model is None:
                    raise EncoderError("not-loaded", "The model is not loaded.")
                vectors = model.encode(_split(payload, header["lengths"]), skip=int(str(header.get("skip", 0))))
                return {**_state(model), "rows": len(vectors)}, np.ascontiguousarray(vectors, "<f4").tobytes()
            case "score":
                if model is None:
                    raise EncoderError("not-loaded", "The model is not loaded.")
                ids, types = _split_pairs(payload, header["lengths"])
                scores = model.encode(ids, types=types)
                return _state(model), np.ascontiguousarray(scores, "<f4").tobytes()
            case "pace":
                _set_pace(gentle=bool(header.get("gentle")))
                return {}, b""
            case "convert":
                from sbert_desktop.encoder._convert import convert_model
                from sbert_desktop.encoder._torch_model import spec_of

                spec = spec_of(header)
                folder = Path(str(header["folder"]))
                version = convert_model(folder, spec, Path(str(header["target"])))
                if spec["kind"] == "cross-encoder":
                    ids, types = _split_pairs(payload, header["lengths"])
                    reference = _model(folder, {**spec, "activation": "identity"}, CPU).encode(ids, types=types)
                else:
                    reference = _model(folder, spec, CPU).encode(_split(payload, header["lengths"]))
                return {"version": version}, np.ascontiguousarray(reference, "<f4").tobytes()
        raise EncoderError("child-refused", f"The torch child does not know {header.get('do')!r}.")

    return handle


def _load(header: Mapping[str, object]) -> TorchModel:
    from sbert_desktop.encoder._torch_model import spec_of

    spec = spec_of(header)
    return _model(Path(str(header["folder"])), spec, choose_placement(str(header.get("device", "auto"))))


def _model(folder: Path, spec: Mapping[str, Any], placement: Placement) -> TorchModel:
    from sbert_desktop.encoder._torch_model import build_module

    third = "token types" if spec["kind"] == "cross-encoder" else "" if spec["prompt_pooled"] else "pooling mask"
    return TorchModel(lambda: build_module(folder, spec), placement, pad_id=spec["pad_id"], limit=spec["max_tokens"],
                      third=third)


def _state(model: TorchModel) -> dict[str, object]:
    place = model.placement
    return {"device": _device_name(place.device), "accelerated": place.accelerated, "precision": place.precision,
            "budget": model.budget, "notices": list(model.notices)}


def _device_name(device: str) -> str:
    if device == "cuda":
        import torch

        return str(torch.cuda.get_device_name())
    return {"cpu": "CPU", "mps": "Apple GPU", "xpu": "Intel GPU"}.get(device, device)


def _split(payload: bytes, lengths: object) -> list[Ids]:
    assert isinstance(lengths, list)
    ids = np.frombuffer(payload, "<i4")
    return [part.astype(np.int32) for part in np.split(ids, np.cumsum(lengths)[:-1])] if lengths else []


def _split_pairs(payload: bytes, lengths: object) -> tuple[list[Ids], list[Ids]]:
    half = len(payload) // 2
    return _split(payload[:half], lengths), _split(payload[half:], lengths)


def _set_pace(*, gentle: bool) -> None:
    import torch

    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    torch.set_num_threads(max(1, cores // 2) if gentle else cores)
