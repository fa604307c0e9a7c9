"""The one neighbour graph of the documents, which themes and the map share: made once, stored, extended by what is new.

See DESIGN section 5: nothing computes neighbours twice. It lies among the library's layouts, keyed by the encoder's
fingerprint, and by a mark of each document's vector: whatever else happened, a row is known again only while its
vector is the same. What came is compared exactly with everything, what lost a neighbour is completed exactly; the
passages of the map of passages have such a graph, too.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from sbert_desktop.explore.document_vectors import DocumentVectors, document_vectors
from sbert_desktop.explore.near_pairs import first_equal
from sbert_desktop.explore.neighbours import EXACT, NeighbourGraph, neighbour_graph

if TYPE_CHECKING:
    from sbert_desktop.app.session import Session
    from sbert_desktop.domain import JobContext, Snapshot, Vectors

NEIGHBOURS = 15
"""Neighbours of each document. Source: docs/adr/0018 and 0019, which measured both uses with it."""
DOCUMENTS, PASSAGES = "graph-documents", "graph-passages"
_VERSION = 1
_SHARE = 4
"""Where more than one row in so many would be compared with all, beyond ``EXACT`` rows, a graph is made anew."""
_BLOCK = 16_000_000
"""Cosines held at once: 64 MB."""
_POLL = 0.1

_locks: WeakKeyDictionary[Session, threading.Lock] = WeakKeyDictionary()
_locks_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class DocumentGraph:
    """Documents that have a vector, by rising content id, and the nearest others of each.

    Equal documents are rows of their own here; who wants each vector once collapses them.
    """

    documents: DocumentVectors
    graph: NeighbourGraph
    generation: int


@dataclass(frozen=True, slots=True)
class KnownGraph:
    """A graph with what its rows are known again by: ``ids`` int64 [n], rising, and ``marks`` uint64 [n]."""

    ids: NDArray[np.int64]
    marks: NDArray[np.uint64]
    graph: NeighbourGraph


def document_graph(session: Session, snapshot: Snapshot, context: JobContext | None = None) -> DocumentGraph:
    """Gives the documents of a state of the library with their neighbours; keeps what it had to compute.

    Raises:
        Cancelled: Through ``context``.
    """
    documents = document_vectors(snapshot.vectors, snapshot.contents, snapshot.lengths, snapshot.alive)
    graph = stored_graph(session, DOCUMENTS, documents.contents, documents.vectors, context)
    return DocumentGraph(documents, graph, snapshot.generation)


def stored_graph(
    session: Session, name: str, ids: NDArray[np.int64], vectors: Vectors, context: JobContext | None = None
) -> NeighbourGraph:
    """Gives the neighbours of rows; those known from before are taken, and what is new is kept.

    Args:
        session: Whose library keeps it.
        name: :data:`DOCUMENTS` or :data:`PASSAGES`.
        ids: int64 [n], rising: what each row is.
        vectors: float32 [n, dimension], unit rows.
        context: Asked and told throughout.

    Raises:
        Cancelled: Through ``context``.
    """
    fingerprint = session.fingerprint()
    with _one_at_a_time(session, context):  # the lanes of themes and of the map would make the same one at once
        known = _read(session, name, fingerprint)
        marks = first_equal(vectors, np.ones(len(ids), np.bool_))[1]
        if known is not None and np.array_equal(known.ids, ids) and np.array_equal(known.marks, marks):
            return known.graph
        graph = extended_graph(known, ids, marks, vectors, context=context)
        session.library.layouts.put(
            name,
            {"version": _VERSION, "fingerprint": fingerprint},
            {"ids": ids, "marks": marks, "neighbours": graph.neighbours, "cosines": graph.cosines},
        )
    return graph


def _read(session: Session, name: str, fingerprint: str) -> KnownGraph | None:
    stored = session.library.layouts.get(name)
    if stored is None:
        return None
    meta, arrays = stored
    if meta.get("version") != _VERSION or meta.get("fingerprint") != fingerprint:
        return None
    try:
        graph = NeighbourGraph(
            cast("NDArray[np.int32]", arrays["neighbours"]), cast("NDArray[np.float32]", arrays["cosines"])
        )
        known = KnownGraph(
            cast("NDArray[np.int64]", arrays["ids"]), cast("NDArray[np.uint64]", arrays["marks"]), graph
        )
    except KeyError:
        return None
    rows = len(known.ids)
    sound = graph.neighbours.shape == graph.cosines.shape and len(graph) == len(known.marks) == rows
    return known if sound and (not graph.neighbours.size or graph.neighbours.max() < rows) else None


def extended_graph(
    known: KnownGraph | None,
    ids: NDArray[np.int64],
    marks: NDArray[np.uint64],
    vectors: Vectors,
    *,
    k: int = NEIGHBOURS,
    context: JobContext | None = None,
) -> NeighbourGraph:
    """Gives what a run over all rows would, from what an earlier one found.

    Rows that are new are compared with all; old ones take a new one in where it is nearer; those that lost a
    neighbour are compared with all again. Up to ``EXACT`` rows that is exact, as a full run is; beyond, rows that an
    earlier run only estimated stay so.

    Args:
        known: The earlier one, or None.
        ids: int64 [n], rising.
        marks: uint64 [n], of the vectors.
        vectors: float32 [n, dimension], unit rows.
        k: Neighbours of each.
        context: Asked per block; hears the progress in rows.

    Raises:
        Cancelled: Through ``context``.
    """
    count = len(ids)
    k = max(0, min(k, count - 1))
    if known is None or known.graph.k < k or not k:
        return neighbour_graph(vectors, k, context=context)
    before, now = _same_rows(known, ids, marks)
    moved = np.full(len(known.ids) + 1, -1, np.int32)  # the last one: where there was no neighbour
    moved[before] = now
    neighbours, cosines = np.full((count, k), -1, np.int32), np.full((count, k), -1, np.float32)
    neighbours[now] = moved[known.graph.neighbours[before, :k]]
    cosines[now] = known.graph.cosines[before, :k]
    fresh = np.ones(count, np.bool_)
    fresh[now] = False
    lacking = (neighbours < 0).any(axis=1)
    anew = np.flatnonzero(lacking)
    if len(anew) * (_SHARE if count > EXACT else 1) >= count:
        return neighbour_graph(vectors, k, context=context)
    graph = NeighbourGraph(neighbours, cosines)
    _take_in(graph, vectors, np.flatnonzero(fresh), np.flatnonzero(~lacking), context)
    nearest = exact_rows(vectors, anew, k, context=context)
    neighbours[anew], cosines[anew] = nearest.neighbours, nearest.cosines
    return graph


def _same_rows(
    known: KnownGraph, ids: NDArray[np.int64], marks: NDArray[np.uint64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Gives the places, then and now, of the rows that are the same, in their order."""
    _, before, now = np.intersect1d(known.ids, ids, assume_unique=True, return_indices=True)
    same = known.marks[before] == marks[now]
    return before[same], now[same]


def _take_in(
    graph: NeighbourGraph,
    vectors: Vectors,
    fresh: NDArray[np.int64],
    whole: NDArray[np.int64],
    context: JobContext | None,
) -> None:
    """Puts new rows among the neighbours of ``whole`` ones where they are nearer than the last of these."""
    k = graph.k
    step = max(256, _BLOCK // max(1, len(fresh)))
    for at in range(0, len(whole) if len(fresh) else 0, step):
        _tell(context, at, len(whole))
        rows = whole[at : at + step]
        cosines = np.minimum(vectors[rows] @ vectors[fresh].T, np.float32(1))
        last, place = graph.cosines[rows, -1], graph.neighbours[rows, -1]
        nearer = (cosines > last[:, None]) | ((cosines == last[:, None]) & (fresh[None, :] < place[:, None]))
        touched = np.flatnonzero(nearer.any(axis=1))
        if not len(touched):
            continue
        cosines = np.where(nearer[touched], cosines[touched], np.float32(-2))
        most = min(k, len(fresh))
        best = np.argpartition(-cosines, most - 1, axis=1)[:, :most]
        rows = rows[touched]
        values = np.concatenate([graph.cosines[rows], np.take_along_axis(cosines, best, 1)], axis=1)
        others = np.concatenate([graph.neighbours[rows], fresh[best].astype(np.int32)], axis=1)
        order = np.lexsort((others, -values), axis=1)[:, :k]
        graph.neighbours[rows] = np.take_along_axis(others, order, 1)
        graph.cosines[rows] = np.take_along_axis(values, order, 1)


def exact_rows(
    vectors: Vectors, rows: NDArray[np.int64], k: int, *, context: JobContext | None = None
) -> NeighbourGraph:
    """Gives the ``k`` nearest others of some rows, by comparing them with all.

    Args:
        vectors: float32 [n, dimension], unit rows.
        rows: int64 [m]: which.
        k: How many, below n.
        context: Asked per block; hears the progress in rows.

    Raises:
        Cancelled: Through ``context``.
    """
    neighbours, found = np.full((len(rows), k), -1, np.int32), np.full((len(rows), k), -1, np.float32)
    step = max(1, min(512, _BLOCK // max(1, len(vectors))))
    for at in range(0, len(rows) if k else 0, step):
        _tell(context, at, len(rows))
        part = rows[at : at + step]
        cosines = vectors[part] @ vectors.T
        cosines[np.arange(len(part)), part] = -2
        best = np.argpartition(-cosines, k - 1, axis=1)[:, :k]
        values = np.take_along_axis(cosines, best, 1)
        order = np.lexsort((best, -values), axis=1)
        neighbours[at : at + step] = np.take_along_axis(best, order, 1)
        found[at : at + step] = np.minimum(np.take_along_axis(values, order, 1), 1)
    return NeighbourGraph(neighbours, found)


@contextmanager
def _one_at_a_time(session: Session, context: JobContext | None) -> Iterator[None]:
    """Lets one thread at a time in; who waits may be cancelled."""
    with _locks_lock:
        lock = _locks.setdefault(session, threading.Lock())
    while not lock.acquire(timeout=_POLL):
        if context is not None:
            context.check()
    try:
        yield
    finally:
        lock.release()


def _tell(context: JobContext | None, done: int, total: int) -> None:
    if context is not None:
        context.check()
        context.progress("comparing", done, total)
