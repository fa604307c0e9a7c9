"""The child that finds themes: it holds the vectors and the neighbour graph between requests, and the merge tree.

scikit-network, scikit-learn and scipy live here alone; the window's process never imports them. Requests are those of
:class:`ClusterClient`, which is the other side and imports nothing heavy; arrays travel as the bytes of the payload.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from typing import cast

import numpy as np
from numpy.typing import NDArray

from sbert_desktop.domain import Child, Vectors
from sbert_desktop.errors import JobError
from sbert_desktop.explore._partitions import MergeTree
from sbert_desktop.explore.communities import Clustering, ClusterRequest, Curve, Method
from sbert_desktop.explore.neighbours import NeighbourGraph

_PIECE = 64 * 1024 * 1024
"""Bytes sent at a time, so that a million documents need no frame of 1.5 GB."""
_IDLE_SECONDS = 300.0
NOT_HELD = "vectors-not-held"
Trees = dict[tuple[float, int], MergeTree]
Ask = Callable[[Mapping[str, object], bytes], tuple[dict[str, object], bytes]]


# ---------------------------------------------------------------- the child's side


@dataclass
class _Held:
    """What was loaded, under the name that the parent gave it."""

    key: str
    vectors: bytearray
    neighbours: bytearray
    cosines: bytearray
    shape: tuple[int, int, int]
    trees: dict[str, Trees] = field(default_factory=dict)

    def rows(self) -> Vectors:
        count, dimension, _ = self.shape
        return np.frombuffer(self.vectors, np.float32).reshape(count, dimension)

    def graph(self) -> NeighbourGraph:
        count, _, k = self.shape
        return NeighbourGraph(
            np.frombuffer(self.neighbours, np.int32).reshape(count, k),
            np.frombuffer(self.cosines, np.float32).reshape(count, k),
        )


def make_handler(
    *, idle_seconds: float | None = _IDLE_SECONDS
) -> Callable[[dict[str, object], bytes], tuple[Mapping[str, object], bytes]]:
    """Gives what answers requests: ``begin``, ``piece``, ``find``, ``split``.

    Args:
        idle_seconds: The process ends when nothing was asked for so long; None where others share the process.
    """
    held: list[_Held] = []
    idle = _Idle(idle_seconds)

    def handle(header: dict[str, object], payload: bytes) -> tuple[Mapping[str, object], bytes]:
        with idle.busy():
            return answer(header, payload)

    def answer(header: dict[str, object], payload: bytes) -> tuple[Mapping[str, object], bytes]:
        do = header["do"]
        if do == "begin":
            shape = cast("tuple[int, int, int]", tuple(cast("list[int]", header["shape"])))
            held[:] = [_Held(str(header["key"]), bytearray(), bytearray(), bytearray(), shape)]
            return {}, b""
        if not held or held[0].key != header["key"]:
            raise JobError(NOT_HELD, "These vectors are not held here.")
        if do == "piece":
            getattr(held[0], str(header["name"])).extend(payload)
            return {}, b""
        return _answer(held[0], header, payload)

    return handle


class _Idle:
    """Ends the process when nothing was asked for a while: the memory is given back, and the parent starts another."""

    def __init__(self, seconds: float | None) -> None:
        self._seconds = seconds
        self._timer: threading.Timer | None = None

    @contextmanager
    def busy(self) -> Iterator[None]:
        """Waits anew from the end of a request on."""
        if self._timer is not None:
            self._timer.cancel()
        try:
            yield
        finally:
            if self._seconds is not None:
                self._timer = threading.Timer(self._seconds, os._exit, [0])
                self._timer.daemon = True
                self._timer.start()


def _answer(held: _Held, header: dict[str, object], payload: bytes) -> tuple[Mapping[str, object], bytes]:
    from sbert_desktop.explore._heavy_clusters import find_clusters, split_preview

    request = unpack_request(cast("dict[str, object]", header["request"]))
    vectors = held.rows()
    rows = np.frombuffer(payload, np.int64)
    if header["do"] == "split":
        return _packed(split_preview(vectors, rows, request))
    if header.get("all"):
        return _packed(find_clusters(vectors, request, graph=held.graph(), trees=held.trees.setdefault("", {})))
    # A part of the documents (around pinned themes, or a selection) has a graph, and levels, of its own.
    name = str(header.get("part", ""))
    if name not in held.trees:
        held.trees = {key: trees for key, trees in held.trees.items() if key == ""}
    return _packed(find_clusters(vectors[rows], request, trees=held.trees.setdefault(name, {})))


def _packed(found: Clustering) -> tuple[Mapping[str, object], bytes]:
    curve = found.curve
    header: dict[str, object] = {
        "n": len(found.nearest), "method": found.method.value, "count": found.count,
        "silhouette": float(found.silhouette), "note": found.note,
        "curve": None if curve is None else [curve.counts.tolist(), curve.silhouettes.tolist(),
                                             curve.losses.tolist(), int(curve.by_silhouette), int(curve.by_elbow)],
    }  # fmt: skip
    arrays = (found.nearest.astype("<i4"), found.confidence.astype("<f4"), found.outside.astype(bool))
    return header, b"".join(np.ascontiguousarray(array).tobytes() for array in arrays)


# ---------------------------------------------------------------- the parent's side


def pack_request(request: ClusterRequest) -> dict[str, object]:
    """Gives a request as JSON takes it."""
    return {one.name: getattr(request, one.name) for one in fields(request)}


def unpack_request(values: Mapping[str, object]) -> ClusterRequest:
    """Gives a request back."""
    return ClusterRequest(**{**values, "method": Method(cast(str, values["method"]))})  # type: ignore[arg-type]


def unpack_clustering(header: Mapping[str, object], payload: bytes) -> Clustering:
    """Gives the answer of the child."""
    count = cast(int, header["n"])
    drawn = cast("list[object] | None", header["curve"])
    curve = None
    if drawn is not None:
        curve = Curve(
            np.array(drawn[0], np.int32), np.array(drawn[1], np.float64), np.array(drawn[2], np.float64),
            cast(int, drawn[3]), cast(int, drawn[4]),
        )  # fmt: skip
    return Clustering(
        Method(cast(str, header["method"])),
        np.frombuffer(payload, "<i4", count).astype(np.int32),
        np.frombuffer(payload, "<f4", count, 4 * count).astype(np.float32),
        np.frombuffer(payload, bool, count, 8 * count).copy(),
        cast(int, header["count"]),
        float(cast(float, header["silhouette"])),
        curve,
        cast(str, header["note"]),
    )


class ClusterClient:
    """Speaks with one child of kind ``clusters``.

    ``ask`` makes a request where more than waiting is to be done, for instance to end the child on a cancel.
    """

    def __init__(self, child: Child) -> None:
        self.child = child
        self._key = ""

    def load(self, key: str, vectors: Vectors, graph: NeighbourGraph, ask: Ask | None = None) -> None:
        """Sends vectors and graph unless the child has them already under this name.

        Args:
            key: Names the state that they belong to.
            vectors: float32 [n, dimension], unit rows.
            graph: Of all rows.
            ask: Makes a request; the child itself by default.
        """
        if key == self._key:
            return
        send = ask or self.child.request
        self._key = ""
        shape = [len(vectors), vectors.shape[1] if len(vectors) else 0, graph.k]
        send({"do": "begin", "key": key, "shape": shape}, b"")
        for name, array in (("vectors", vectors), ("neighbours", graph.neighbours), ("cosines", graph.cosines)):
            data = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
            for at in range(0, len(data), _PIECE):
                send({"do": "piece", "key": key, "name": name}, data[at : at + _PIECE].tobytes())
        self._key = key

    def find(
        self, request: ClusterRequest, rows: NDArray[np.int64] | None = None, *, part: str = "", ask: Ask | None = None
    ) -> Clustering:
        """Finds themes among the loaded rows, or some of them; ``part`` names these, so that levels are kept."""
        header = {"do": "find", "key": self._key, "request": pack_request(request), "all": rows is None, "part": part}
        payload = b"" if rows is None else rows.astype(np.int64).tobytes()
        return unpack_clustering(*(ask or self.child.request)(header, payload))

    def split(self, rows: NDArray[np.int64], request: ClusterRequest, *, ask: Ask | None = None) -> Clustering:
        """Finds what rows would become when they are parted."""
        header = {"do": "split", "key": self._key, "request": pack_request(request)}
        return unpack_clustering(*(ask or self.child.request)(header, rows.astype(np.int64).tobytes()))
