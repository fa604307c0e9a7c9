"""Encoding on the CPU with OpenVINO: no torch, half a second from nothing to the first query."""

from __future__ import annotations

import hashlib
import os
import platform
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from sbert_desktop.domain import Vectors
from sbert_desktop.encoder._ir_cache import SELF_TEST, Converted, read_choices, write_choice
from sbert_desktop.encoder._texts import Batch, pad_batch
from sbert_desktop.encoder._tokens import ModelTokenizer
from sbert_desktop.errors import EncoderError
from sbert_desktop.privacy import cut_telemetry

if TYPE_CHECKING:
    import openvino as ov

MIN_COSINE = 0.9999
# Padded tokens per bulk batch and core. In a window a query may have to wait for one batch, some 50 ms.
# Source: docs/adr/0005.
_BUDGET_WINDOW = 256
_BUDGET_ALONE = 512
_TURNS_ALONE = 4  # without a window nobody waits: so many batches per core between two looks at a cancel
_MAX_STREAMS = 16
HINTS = {"bf16": "bf16", "float32": "f32"}
_WORTH = 1.05  # bf16 must be so much faster: float32 is exact
_BULK_MULTIPLE = 4
_QUERY_MULTIPLE = 8  # a new length costs some milliseconds of compilation: few lengths occur


class OpenVinoBackend:
    """Runs a converted model on the CPU.

    Args:
        converted: The checked conversion.
        tokenizer: The model's, for the self-test.
        precision: ``auto``, ``bf16`` or ``float32``.
        threads: Cores to use; all by default.
        interactive: A window is open: small batches.
        pad_id: Of the tokenizer.
        limit: The most tokens of a text.
        prompt_pooled: The model pools all tokens; else it takes a mask of those to pool.
        note: Receives notices.

    Raises:
        EncoderError: ``backend-failed`` when OpenVINO is missing, fails, or computes something else than torch.
    """

    def __init__(
        self,
        converted: Converted,
        tokenizer: ModelTokenizer,
        *,
        precision: str = "auto",
        threads: int | None = None,
        interactive: bool = True,
        pad_id: int = 0,
        limit: int = 512,
        prompt_pooled: bool = True,
        note: Callable[[str], None] | None = None,
    ) -> None:
        self._converted = converted
        self._threads = threads or cores()
        self._pad_id = pad_id
        self._limit = limit
        self._prompt_pooled = prompt_pooled
        self._interactive = interactive
        self._streams = min(self._threads, _MAX_STREAMS)
        self._gentle = False
        self._note = note or (lambda line: None)
        try:
            cut_telemetry()
            import openvino

            self._ov = openvino
            self._core = openvino.Core()
            self._precision, self._requests = self._choose(precision, tokenizer)
        except EncoderError:
            raise
        except Exception as error:  # a missing wheel, a missing system library, an unknown CPU
            raise failed(error) from error

    @property
    def name(self) -> str:
        """Gives ``openvino``."""
        return "openvino"

    @property
    def device(self) -> str:
        """Gives ``CPU``."""
        return "CPU"

    @property
    def precision(self) -> str:
        """Gives ``bf16`` or ``float32``."""
        return self._precision

    @property
    def budget(self) -> int:
        """Gives the padded tokens that a bulk batch may hold."""
        return _BUDGET_WINDOW if self._interactive else _BUDGET_ALONE

    @property
    def width(self) -> int:
        """Gives how many batches one turn may hold: each core works on one of its own (half of them when gentle)."""
        return self._flight(bulk=True) * (1 if self._interactive else _TURNS_ALONE)

    def run(self, batches: Sequence[Batch], *, bulk: bool, skip: int = 0) -> list[Vectors]:
        """Computes the batches, each on one core, as many at once as the pace allows."""
        multiple = _BULK_MULTIPLE if bulk else _QUERY_MULTIPLE
        flight = self._flight(bulk=bulk)
        results: list[Vectors] = []
        try:
            for number, batch in enumerate(batches):
                if number >= flight:
                    results.append(_collect(self._requests[number % flight]))
                self._start(self._requests[number % flight], batch, multiple, skip)
            left = range(max(0, len(batches) - flight), len(batches))
            results += [_collect(self._requests[number % flight]) for number in left]
        except Exception as error:
            raise failed(error) from error
        return results

    def _flight(self, *, bulk: bool) -> int:
        return max(1, self._streams // 2) if bulk and self._gentle else self._streams

    def set_pace(self, *, gentle: bool) -> None:
        """Gentle: bulk work on half the cores, from the next turn on."""
        self._gentle = gentle

    def close(self) -> None:
        """Frees the compiled model."""
        self._requests = []
        for name in ("_core", "_converted"):
            self.__dict__.pop(name, None)

    # ------------------------------------------------------------- running

    def _start(self, request: ov.InferRequest, batch: Batch, multiple: int, skip: int = 0) -> None:
        ids, mask = pad_batch(batch, self._pad_id, multiple=multiple, limit=self._limit)
        request.set_tensor("input_ids", self._ov.Tensor(ids))
        request.set_tensor("attention_mask", self._ov.Tensor(mask))
        if not self._prompt_pooled:
            pooled = mask.copy()
            pooled[:, :skip] = 0
            request.set_tensor("pooling_mask", self._ov.Tensor(pooled))
        request.start_async()

    def _compile(self, precision: str) -> list[ov.InferRequest]:
        """Gives one request per core. One core per batch measured 3 to 11 % faster than all cores on one."""
        model = self._core.read_model(self._converted.xml, self._ov.Tensor(self._converted.weights, shared_memory=True))
        settings = {
            "INFERENCE_PRECISION_HINT": HINTS[precision],
            "INFERENCE_NUM_THREADS": self._threads,
            "NUM_STREAMS": self._streams,
            # Pinned threads lose when another program works on their core.
            "ENABLE_CPU_PINNING": False,
        }
        compiled = self._core.compile_model(model, "CPU", settings)
        return [compiled.create_infer_request() for _ in range(self._streams)]

    # ------------------------------------------------------------- precision

    def _choose(self, wanted: str, tokenizer: ModelTokenizer) -> tuple[str, list[ov.InferRequest]]:
        """Gives the precision and the compiled model, by what was measured on this CPU before, or is now."""
        can_bf16 = "BF16" in self._core.get_property("CPU", "OPTIMIZATION_CAPABILITIES")
        if wanted == "bf16" and not can_bf16:
            self._note("This CPU has no bf16 instructions. The model runs in float32.")
        key = machine_key(self._core, self._ov.__version__, self._threads)
        known = read_choices(self._converted.folder).get(key)
        if known is None or not {"float32", "bf16"}.issuperset({known.get("fastest")}):
            known = self._measure(tokenizer, ["float32", "bf16"] if can_bf16 else ["float32"])
            write_choice(self._converted.folder, key, known)
        precision = str(known["fastest"]) if wanted == "auto" else wanted
        cosines = known.get("cosine")
        if not isinstance(cosines, dict) or cosines.get(precision, 0.0) < MIN_COSINE:
            if wanted == "bf16" and can_bf16:
                self._note("bf16 is not exact enough with this model. It runs in float32.")
            precision = "float32"
        if not isinstance(cosines, dict) or cosines.get("float32", 0.0) < MIN_COSINE:
            raise EncoderError("backend-failed", "OpenVINO computes other vectors than torch with this model.",
                               "The model runs with torch instead.", detail=str(cosines))
        return precision, self._compile(precision)

    def _measure(self, tokenizer: ModelTokenizer, precisions: Sequence[str]) -> dict[str, object]:
        """Compares each precision with torch's vectors and with the clock; about two seconds, once per machine.

        A CPU can have bf16 instructions and still be slower with them than in float32 (measured:
        docs/adr/0005), so the clock decides and not the list of capabilities alone.
        """
        ids = tokenizer.encode(SELF_TEST)
        requests = {name: self._compile(name)[0] for name in precisions}
        cosine = {}
        for name, request in requests.items():
            rows = []
            for one in ids:
                self._start(request, [one], _BULK_MULTIPLE)
                rows.append(_collect(request)[0])
            cosine[name] = float(np.min(np.sum(np.stack(rows) * self._converted.reference, axis=1)))
        longest = max(ids, key=len)
        batch = [longest[:128]] * 4
        best = dict.fromkeys(precisions, float("inf"))
        for turn in range(5):  # in turns, so that what else runs on the machine meets both alike
            for name, request in requests.items():
                began = time.perf_counter()
                self._start(request, batch, _BULK_MULTIPLE)
                _collect(request)
                if turn:  # the first one compiles the shape
                    best[name] = min(best[name], time.perf_counter() - began)
        good = [name for name in precisions if cosine[name] >= MIN_COSINE]
        fastest = "float32"
        if "bf16" in good and best["bf16"] * _WORTH < best["float32"]:
            fastest = "bf16"
        return {"fastest": fastest, "cosine": cosine, "milliseconds": {k: v * 1000 for k, v in best.items()}}


def _collect(request: ov.InferRequest) -> Vectors:
    """Waits for a request and gives its unit vectors; a copy, for the tensor is used again."""
    request.wait()
    vectors: Vectors = np.array(request.get_output_tensor(0).data, np.float32)
    if not np.isfinite(vectors).all():
        raise ArithmeticError("the model gave numbers that are not finite")
    # bf16 leaves lengths that differ from 1 in the third digit.
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


def cores() -> int:
    """Gives the cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return os.cpu_count() or 1


def machine_key(core: ov.Core, version: str, threads: int) -> str:
    """Gives what a measured choice of precision holds for: the CPU, OpenVINO's version, the cores used."""
    return "|".join([core.get_property("CPU", "FULL_DEVICE_NAME"), _cpu_flags(), version, str(threads)])


def _cpu_flags() -> str:
    """Gives a short hash of the CPU's instruction sets: two machines can have one name and differ in them."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as stream:
            flags = next((line for line in stream if line.startswith(("flags", "Features"))), "")
    except OSError:
        flags = platform.processor()
    return hashlib.sha256(flags.encode()).hexdigest()[:8]


def failed(error: Exception) -> EncoderError:
    """Gives the failure of OpenVINO after which torch is taken."""
    return EncoderError("backend-failed", "OpenVINO cannot run the model on this machine.",
                        "The model runs with torch instead.", detail=f"{type(error).__name__}: {error}")
