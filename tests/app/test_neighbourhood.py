"""The stored neighbour graph: what an earlier run found and what is new make the same as a full run."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from sbert_desktop.app import neighbourhood
from sbert_desktop.app.neighbourhood import (
    DOCUMENTS,
    KnownGraph,
    document_graph,
    exact_rows,
    extended_graph,
    stored_graph,
)
from sbert_desktop.app.session import Session
from sbert_desktop.errors import Cancelled
from sbert_desktop.explore.near_pairs import first_equal
from sbert_desktop.explore.neighbours import NeighbourGraph, neighbour_graph

from .made_map import Listening, clustered, put_documents

K = 6


@pytest.fixture
def session(tmp_path, monkeypatch):
    monkeypatch.setenv("SBERT_DESKTOP_ADVANCED_ENCODER", "hashing")
    opened = Session(tmp_path / "library")
    yield opened
    opened.close()


def marks_of(vectors):
    return first_equal(vectors, np.ones(len(vectors), bool))[1]


def known_of(ids, vectors):
    return KnownGraph(np.asarray(ids, np.int64), marks_of(vectors), neighbour_graph(vectors, K))


def counted(monkeypatch):
    """Notes how many rows are compared with all."""
    rows = []
    exact, full = exact_rows, neighbour_graph
    monkeypatch.setattr(neighbourhood, "exact_rows", lambda v, r, k, **x: rows.append(len(r)) or exact(v, r, k, **x))
    monkeypatch.setattr(neighbourhood, "neighbour_graph", lambda v, k, **x: rows.append(len(v)) or full(v, k, **x))
    return rows


@pytest.mark.parametrize(
    ("before", "now"),
    [
        (range(200), range(230)),  # new ones at the end
        (range(0, 400, 2), range(400)),  # between
        (range(300), [*range(0, 300, 3), *range(1, 300, 3)]),  # a third is gone
        (range(50, 250), [*range(100), *range(120, 260)]),  # both
    ],
)
def test_extending_gives_what_a_full_run_gives(before, now):
    everything = clustered(400, 7, seed=3)
    before, now = np.sort(list(before)), np.sort(list(now))
    vectors = everything[now]
    extended = extended_graph(known_of(before, everything[before]), now, marks_of(vectors), vectors, k=K)
    full = neighbour_graph(vectors, K)
    assert (extended.neighbours == full.neighbours).all()
    np.testing.assert_allclose(extended.cosines, full.cosines, atol=1e-6)


def test_a_new_document_displaces_a_farther_neighbour_only():
    base = np.eye(8, dtype=np.float32)[:8]
    known = KnownGraph(np.arange(8), marks_of(base), neighbour_graph(base, 2))
    close = base[0] + 0.3 * base[1]
    vectors = np.vstack([base, close / np.linalg.norm(close)]).astype(np.float32)
    graph = extended_graph(known, np.arange(9), marks_of(vectors), vectors, k=2)
    assert graph.neighbours[0, 0] == 8
    assert graph.neighbours[1, 0] == 8
    assert 8 not in graph.neighbours[5]


def test_only_what_is_new_and_what_lost_a_neighbour_is_compared(monkeypatch):
    everything = clustered(600, 5, seed=4)
    known = known_of(range(600), everything)
    rows = counted(monkeypatch)
    vectors = np.delete(everything, [10, 11], axis=0)
    ids = np.delete(np.arange(600), [10, 11])
    extended_graph(known, ids, marks_of(vectors), vectors, k=K)
    lost = np.isin(known.graph.neighbours, [10, 11]).any(axis=1).sum()
    assert rows == [lost - np.isin([10, 11], np.flatnonzero(np.isin(known.graph.neighbours, [10, 11]).any(1))).sum()]


def test_a_document_whose_vector_changed_is_new():
    vectors = clustered(100, 3)
    known = known_of(range(100), vectors)
    changed = vectors.copy()
    changed[7] = clustered(1, seed=5)[0]
    graph = extended_graph(known, np.arange(100), marks_of(changed), changed, k=K)
    assert (graph.neighbours == neighbour_graph(changed, K).neighbours).all()


@pytest.mark.parametrize("count", [0, 1, 2, 3, 5])
def test_few_documents_have_all_others_as_neighbours(count):
    vectors = clustered(5, 2)[:count]
    graph = extended_graph(known_of(range(2), clustered(5, 2)[:2]), np.arange(count), marks_of(vectors), vectors, k=K)
    assert graph.neighbours.shape == (count, max(0, count - 1))
    assert all(sorted({*row, place}) == list(range(count)) for place, row in enumerate(graph.neighbours.tolist()))


def test_the_graph_is_kept_and_taken_again(session, tmp_path, monkeypatch):
    put_documents(session, tmp_path / "docs", clustered(60))
    first = document_graph(session, session.snapshot())
    rows = counted(monkeypatch)
    again = document_graph(session, session.snapshot())
    assert rows == []
    assert (again.graph.neighbours == first.graph.neighbours).all()
    put_documents(session, tmp_path / "docs", clustered(65)[60:], first=60)
    more = document_graph(session, session.snapshot())
    assert sum(rows) < 65
    assert len(more.documents) == len(more.graph) == 65
    assert (more.graph.neighbours == neighbour_graph(more.documents.vectors, 15).neighbours).all()


def test_a_changed_model_makes_it_anew(session, tmp_path, monkeypatch):
    contents = put_documents(session, tmp_path / "docs", clustered(60))
    document_graph(session, session.snapshot())
    monkeypatch.setattr(session, "fingerprint", lambda: "another")
    rows = counted(monkeypatch)
    stored_graph(session, DOCUMENTS, np.array(contents), clustered(60, seed=9))
    assert rows == [60]


def test_what_is_stored_and_damaged_is_made_anew(session, tmp_path):
    put_documents(session, tmp_path / "docs", clustered(60))
    first = document_graph(session, session.snapshot()).graph
    meta, arrays = session.library.layouts.get(DOCUMENTS)
    session.library.layouts.put(DOCUMENTS, meta, {**arrays, "neighbours": arrays["neighbours"] + 1000})
    assert (document_graph(session, session.snapshot()).graph.neighbours == first.neighbours).all()


def test_a_cancel_is_heard_while_another_thread_makes_the_graph(session, tmp_path):
    put_documents(session, tmp_path / "docs", clustered(30))
    inside, leave = threading.Event(), threading.Event()

    class Holding(Listening):
        def check(self):
            inside.set()
            leave.wait(60)

    vectors, ids = clustered(30), np.arange(30)
    thread = threading.Thread(target=stored_graph, args=(session, DOCUMENTS, ids, vectors, Holding()))
    thread.start()
    assert inside.wait(60)
    try:
        with pytest.raises(Cancelled):
            stored_graph(session, DOCUMENTS, ids, vectors, Listening(end_at=1))
    finally:
        leave.set()
        thread.join()


def test_exact_rows_are_those_of_the_full_graph():
    vectors = clustered(120, 4)
    full = neighbour_graph(vectors, K)
    some = exact_rows(vectors, np.array([3, 50, 119]), K)
    assert isinstance(some, NeighbourGraph)
    assert (some.neighbours == full.neighbours[[3, 50, 119]]).all()
