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
# Padded tokens per bulk batch. In a window a query may have to wait for one batch. Source: docs/adr/0005.
_BUDGET_WINDOW = {"bf16": 512, "float32": 256}
_BUDGET_ALONE = 1024
_HINTS = {"bf16": "bf16", "float32": "f32"}
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
        note: Callable[[str], None] | None = None,
    ) -> None:
        self._converted = converted
        self._threads = threads or cores()
        self._pad_id = pad_id
        self._limit = limit
        self._interactive = interactive
        self._gentle = False
        self._gentle_request: ov.InferRequest | None = None
        self._note = note or (lambda line: None)
        try:
            cut_telemetry()
            import openvino

            self._ov = openvino
            self._core = openvino.Core()
            self._precision, self._request = self._choose(precision, tokenizer)
        except EncoderError:
            raise
        except Exception as error:  # a missing wheel, a missing system library, an unknown CPU
            raise _failed(error) from error

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
        return _BUDGET_WINDOW[self._precision] if self._interactive else _BUDGET_ALONE

    @property
    def width(self) -> int:
        """Gives 1: all cores work on one batch."""
        return 1

    def run(self, batches: Sequence[Batch], *, bulk: bool) -> list[Vectors]:
        """Computes the batches one after the other, on all cores (gentle bulk work on half of them)."""
        try:
            request = self._slow_request() if bulk and self._gentle else self._request
            return [self._infer(request, batch, _BULK_MULTIPLE if bulk else _QUERY_MULTIPLE) for batch in batches]
        except Exception as error:
            raise _failed(error) from error

    def set_pace(self, *, gentle: bool) -> None:
        """Gentle: bulk work on half the cores, from the next batch on."""
        self._gentle = gentle and self._threads > 1

    def close(self) -> None:
        """Frees the compiled models."""
        for name in ("_request", "_gentle_request", "_core", "_converted"):
            self.__dict__.pop(name, None)
        self._gentle_request = None

    # ------------------------------------------------------------- running

    def _infer(self, request: ov.InferRequest, batch: Batch, multiple: int) -> Vectors:
        ids, mask = pad_batch(batch, self._pad_id, multiple=multiple, limit=self._limit)
        request.infer({"input_ids": ids, "attention_mask": mask}, share_inputs=True)
        vectors: Vectors = np.array(request.get_output_tensor(0).data, np.float32)  # a copy: the tensor is used again
        if not np.isfinite(vectors).all():
            raise ArithmeticError("the model gave numbers that are not finite")
        # bf16 leaves lengths that differ from 1 in the third digit.
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors

    def _slow_request(self) -> ov.InferRequest:
        """Compiles a second model for half the threads when it is first needed (0.2 s, about 45 MB)."""
        if self._gentle_request is None:
            self._gentle_request = self._compile(self._precision, max(1, self._threads // 2))
        return self._gentle_request

    def _compile(self, precision: str, threads: int) -> ov.InferRequest:
        model = self._core.read_model(self._converted.xml, self._ov.Tensor(self._converted.weights, shared_memory=True))
        settings = {
            "INFERENCE_PRECISION_HINT": _HINTS[precision],
            "INFERENCE_NUM_THREADS": threads,
            "NUM_STREAMS": 1,
            # Pinned threads lose when another program works on their core.
            "ENABLE_CPU_PINNING": False,
        }
        return self._core.compile_model(model, "CPU", settings).create_infer_request()

    # ------------------------------------------------------------- precision

    def _choose(self, wanted: str, tokenizer: ModelTokenizer) -> tuple[str, ov.InferRequest]:
        """Gives the precision and the compiled model, by what was measured on this CPU before, or is now."""
        can_bf16 = "BF16" in self._core.get_property("CPU", "OPTIMIZATION_CAPABILITIES")
        if wanted == "bf16" and not can_bf16:
            self._note("This CPU has no bf16 instructions. The model runs in float32.")
        key = "|".join([self._core.get_property("CPU", "FULL_DEVICE_NAME"), _cpu_flags(), self._ov.__version__,
                        str(self._threads)])
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
        return precision, self._compile(precision, self._threads)

    def _measure(self, tokenizer: ModelTokenizer, precisions: Sequence[str]) -> dict[str, object]:
        """Compares each precision with torch's vectors and with the clock; about two seconds, once per machine.

        A CPU can have bf16 instructions and still be slower with them than in float32 (measured:
        docs/adr/0005), so the clock decides and not the list of capabilities alone.
        """
        ids = tokenizer.encode(SELF_TEST)
        requests = {name: self._compile(name, self._threads) for name in precisions}
        cosine = {}
        for name, request in requests.items():
            rows = [self._infer(request, [one], _BULK_MULTIPLE)[0] for one in ids]
            cosine[name] = float(np.min(np.sum(np.stack(rows) * self._converted.reference, axis=1)))
        longest = max(ids, key=len)
        batch = [longest[:128]] * 4
        best = dict.fromkeys(precisions, float("inf"))
        for turn in range(5):  # in turns, so that what else runs on the machine meets both alike
            for name, request in requests.items():
                began = time.perf_counter()
                self._infer(request, batch, _BULK_MULTIPLE)
                if turn:  # the first one compiles the shape
                    best[name] = min(best[name], time.perf_counter() - began)
        good = [name for name in precisions if cosine[name] >= MIN_COSINE]
        fastest = "float32"
        if "bf16" in good and best["bf16"] * _WORTH < best["float32"]:
            fastest = "bf16"
        return {"fastest": fastest, "cosine": cosine, "milliseconds": {k: v * 1000 for k, v in best.items()}}


def cores() -> int:
    """Gives the cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return os.cpu_count() or 1


def _cpu_flags() -> str:
    """Gives a short hash of the CPU's instruction sets: two machines can have one name and differ in them."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as stream:
            flags = next((line for line in stream if line.startswith(("flags", "Features"))), "")
    except OSError:
        flags = platform.processor()
    return hashlib.sha256(flags.encode()).hexdigest()[:8]


def _failed(error: Exception) -> EncoderError:
    return EncoderError("backend-failed", "OpenVINO cannot run the model on this machine.",
                        "The model runs with torch instead.", detail=f"{type(error).__name__}: {error}")
