"""The cross-encoder on the CPU with OpenVINO: in the program's own process, nothing to start for a query."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sbert_desktop.encoder._ir_cache import Converted, read_choices, write_choice
from sbert_desktop.encoder._openvino import HINTS, cores, failed, machine_key
from sbert_desktop.encoder._pairs import Pair, Scores
from sbert_desktop.encoder._texts import pad_batch
from sbert_desktop.errors import EncoderError
from sbert_desktop.privacy import cut_telemetry

if TYPE_CHECKING:
    import openvino as ov

MAX_DIFFERENCE = {"float32": 1e-4, "bf16": 0.03}
"""How far the scores of the self-test may lie from torch's, in parts of the greatest of them (at least of 1).
bf16 keeps 8 bits: a hundredth at each step. Source: tests/benchmarks/rerank.py."""
_BUDGET = 512  # padded tokens per batch and core: a new query waits for one of them, some 50 ms
_MULTIPLE = 8  # a new length costs some milliseconds of compilation: few lengths occur
_MAX_STREAMS = 16
_WORTH = 1.05  # bf16 must be so much faster: float32 is exact


class OpenVinoPairs:
    """Runs a converted cross-encoder on the CPU.

    Args:
        converted: The checked conversion; it gives what stands before the activation.
        self_test: The pairs of which the conversion keeps torch's scores.
        activation: ``sigmoid`` or ``identity``, computed here in float32: in bf16 all good scores would be 1.
        precision: ``auto``, ``bf16`` or ``float32``.
        pad_id: Of the tokenizer.
        limit: The most tokens of a pair.
        note: Receives notices.

    Raises:
        EncoderError: ``backend-failed`` when OpenVINO is missing, fails, or computes something else than torch.
    """

    name = "openvino"
    budget = _BUDGET

    def __init__(
        self,
        converted: Converted,
        self_test: Sequence[Pair],
        *,
        activation: str,
        precision: str = "auto",
        pad_id: int = 0,
        limit: int = 512,
        note: Callable[[str], None] | None = None,
    ) -> None:
        self._converted = converted
        self._activation = activation
        self._pad_id = pad_id
        self._limit = limit
        self._note = note or (lambda line: None)
        self._threads = cores()
        self.width = min(self._threads, _MAX_STREAMS)
        self._closed = False
        try:
            cut_telemetry()
            import openvino

            self._ov = openvino
            self._core = openvino.Core()
            self.precision = self._choose(precision, self_test)
            self._requests = self._compile(self.precision)
        except EncoderError:
            raise
        except Exception as error:  # a missing wheel, a missing system library, an unknown CPU
            raise failed(error) from error

    def run(self, batches: Sequence[Sequence[Pair]]) -> list[Scores]:
        """Computes the batches, each on one core, as many at once as there are cores."""
        requests = self._requests
        if self._closed or not requests:
            raise EncoderError("encoder-closed", "The model was closed.")
        results: list[Scores] = []
        try:
            for number, batch in enumerate(batches):
                if number >= len(requests):
                    results.append(self._finished(requests[number % len(requests)]))
                self._start(requests[number % len(requests)], batch)
            left = range(max(0, len(batches) - len(requests)), len(batches))
            results += [self._finished(requests[number % len(requests)]) for number in left]
        except Exception as error:
            raise failed(error) from error
        return results

    def close(self) -> None:
        """Frees the compiled model; a batch that runs ends first, for its request is still held."""
        self._closed = True
        self._requests = []

    def _finished(self, request: ov.InferRequest) -> Scores:
        scores = _collect(request)
        if self._activation == "sigmoid":
            with np.errstate(over="ignore"):
                scores = (1.0 / (1.0 + np.exp(-scores))).astype(np.float32)
        return scores

    def _start(self, request: ov.InferRequest, batch: Sequence[Pair]) -> None:
        ids, mask = pad_batch([one for one, _ in batch], self._pad_id, multiple=_MULTIPLE, limit=self._limit)
        request.set_tensor("input_ids", self._ov.Tensor(ids))
        request.set_tensor("attention_mask", self._ov.Tensor(mask))
        if self._typed:
            types, _ = pad_batch([one for _, one in batch], 0, multiple=_MULTIPLE, limit=self._limit)
            request.set_tensor("token_types", self._ov.Tensor(types))
        request.start_async()

    def _compile(self, precision: str) -> list[ov.InferRequest]:
        model = self._core.read_model(self._converted.xml, self._ov.Tensor(self._converted.weights, shared_memory=True))
        self._typed = any("token_types" in port.get_names() for port in model.inputs)
        settings = {
            "INFERENCE_PRECISION_HINT": HINTS[precision],
            "INFERENCE_NUM_THREADS": self._threads,
            "NUM_STREAMS": self.width,
            "ENABLE_CPU_PINNING": False,
        }
        compiled = self._core.compile_model(model, "CPU", settings)
        return [compiled.create_infer_request() for _ in range(self.width)]

    # ------------------------------------------------------------- precision

    def _choose(self, wanted: str, pairs: Sequence[Pair]) -> str:
        """Gives the precision by what was measured on this CPU before, or is now."""
        able = ["float32"]
        if "BF16" in self._core.get_property("CPU", "OPTIMIZATION_CAPABILITIES"):
            able.append("bf16")
        key = machine_key(self._core, self._ov.__version__, self._threads)
        known = read_choices(self._converted.folder).get(key)
        if known is None or not isinstance(known.get("difference"), dict) or known.get("fastest") not in able:
            known = self._measure(pairs, able)
            write_choice(self._converted.folder, key, known)
        differences = known["difference"]
        assert isinstance(differences, dict)
        good = [one for one in able if float(differences.get(one, np.inf)) <= MAX_DIFFERENCE[one]]
        if "float32" not in good:
            raise EncoderError("backend-failed", "OpenVINO computes other scores than torch with this model.",
                               "The model runs with torch instead.", detail=str(differences))
        chosen = str(known["fastest"]) if wanted == "auto" else wanted
        if chosen not in good and wanted == "bf16":
            self._note("bf16 is missing here or not exact enough for the second look. It runs in float32.")
        return chosen if chosen in good else "float32"

    def _measure(self, pairs: Sequence[Pair], able: Sequence[str]) -> dict[str, object]:
        """Compares each precision with torch's scores and with the clock; about a second, once per machine."""
        requests = {name: self._compile(name)[0] for name in able}
        reference = self._converted.reference[:, 0].astype(np.float64)
        size = max(1.0, float(np.abs(reference).max()))
        difference = {}
        for name, request in requests.items():
            found = []
            for pair in pairs:
                self._start(request, [pair])
                found.append(float(_collect(request)[0]))
            difference[name] = float(np.abs(np.array(found) - reference).max()) / size
        longest = max(pairs, key=lambda pair: len(pair[0]))
        batch = [(longest[0][:128], longest[1][:128])] * 4
        best = dict.fromkeys(able, float("inf"))
        for turn in range(5):  # in turns, so that what else runs on the machine meets both alike
            for name, request in requests.items():
                began = time.process_time()  # of all cores: what other programs take meanwhile is not in it
                self._start(request, batch)
                _collect(request)
                if turn:  # the first one compiles the shape
                    best[name] = min(best[name], time.process_time() - began)
        quick = "bf16" in able and best["bf16"] * _WORTH < best["float32"]
        good = quick and difference["bf16"] <= MAX_DIFFERENCE["bf16"]
        return {"fastest": "bf16" if good else "float32", "difference": difference,
                "cpu_milliseconds": {name: seconds * 1000 for name, seconds in best.items()}}


def _collect(request: ov.InferRequest) -> Scores:
    """Waits for a request and gives its scores before the activation; a copy, for the tensor is used again."""
    request.wait()
    scores: NDArray[np.float32] = np.array(request.get_output_tensor(0).data, np.float32)[:, 0]
    if not np.isfinite(scores).all():
        raise ArithmeticError("the model gave numbers that are not finite")
    return scores
