"""The child of themes: it answers as the function does, keeps what it was sent, and is gone at once when killed."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest

from sbert_desktop.errors import JobError
from sbert_desktop.explore._heavy_clusters import find_clusters
from sbert_desktop.explore.cluster_child import ClusterClient, make_handler
from sbert_desktop.explore.communities import ClusterRequest, Method
from sbert_desktop.explore.neighbours import neighbour_graph
from sbert_desktop.jobs import spawn_child
from tests.explore.made_themes import themes


class Here:
    """The child's handler in this process: frames are left out, nothing else."""

    def __init__(self) -> None:
        self.handler = make_handler(idle_seconds=None)  # or it would end the tests' own process
        self.asked: list[str] = []

    def request(self, header, payload=b"", *, timeout=None):
        self.asked.append(str(header["do"]))
        return self.handler(dict(header), payload)

    def close(self) -> None:
        """Nothing to end."""


@pytest.fixture
def vectors():
    return themes(5, 30)


@pytest.fixture
def client(vectors):
    client = ClusterClient(Here())
    client.load("one", vectors, neighbour_graph(vectors, 15))
    return client


@pytest.mark.parametrize("method", list(Method))
def test_it_answers_as_the_function_does(vectors, client, method):
    request = ClusterRequest(method)
    expected = find_clusters(vectors, request)
    found = client.find(request)
    assert found.nearest.tolist() == expected.nearest.tolist()
    assert np.array_equal(found.outside, expected.outside)
    np.testing.assert_allclose(found.confidence, expected.confidence, atol=1e-6)
    assert (found.count, found.method, found.note) == (expected.count, expected.method, expected.note)
    assert found.silhouette == pytest.approx(expected.silhouette)
    if expected.curve is not None:
        assert found.curve is not None
        assert found.curve.by_silhouette == expected.curve.by_silhouette
        np.testing.assert_allclose(found.curve.losses, expected.curve.losses)


def test_vectors_are_sent_once_and_levels_are_found_once(vectors, client, monkeypatch):
    from sbert_desktop.explore import _heavy_clusters

    made = []
    real = _heavy_clusters.communities
    monkeypatch.setattr(_heavy_clusters, "communities", lambda *a: made.append(1) or real(*a))
    for detail in (0.0, 0.4, -0.4, 0.0):
        client.load("one", vectors, neighbour_graph(vectors, 15))
        again = client.find(ClusterRequest(detail=detail))
        assert again.nearest.tolist() == find_clusters(vectors, ClusterRequest(detail=detail)).nearest.tolist()
    here = client.child
    assert here.asked.count("begin") == 1
    assert len(made) == 1 + 4, "one for the child, four for the comparison"


def test_some_rows_are_sorted_among_themselves(vectors, client):
    rows = np.arange(30, 120)
    found = client.find(ClusterRequest(), rows, part="a")
    assert found.nearest.tolist() == find_clusters(vectors[rows]).nearest.tolist()
    other = client.find(ClusterRequest(), np.arange(60), part="b")
    assert len(other.nearest) == 60
    assert client.split(np.arange(60), ClusterRequest()).count >= 2


def test_no_documents_are_an_answer_too():
    client = ClusterClient(Here())
    empty = np.zeros((0, 0), np.float32)
    client.load("none", empty, neighbour_graph(empty, 15))
    assert client.find(ClusterRequest()).count == 0


def test_what_is_not_held_is_refused(vectors):
    with pytest.raises(JobError, match="not held"):
        ClusterClient(Here()).find(ClusterRequest())


def ask_until_it_ends(client):
    while True:
        client.find(ClusterRequest(Method.KMEANS))


def test_the_real_child_answers_and_dies_at_once(vectors):
    child = spawn_child("clusters")
    try:
        client = ClusterClient(child)
        client.load("one", vectors, neighbour_graph(vectors, 15))
        assert client.find(ClusterRequest()).nearest.tolist() == find_clusters(vectors).nearest.tolist()
        threading.Timer(0.05, child.kill).start()
        with pytest.raises(JobError):
            ask_until_it_ends(client)
    finally:
        child.close()


def test_a_child_that_nobody_asks_ends_by_itself():
    code = """
        import time
        from sbert_desktop.errors import JobError
        from sbert_desktop.explore.cluster_child import make_handler
        handler = make_handler(idle_seconds=0.5)
        try:
            handler({"do": "find", "key": "none"}, b"")
        except JobError:
            time.sleep(200)
    """
    assert subprocess.run([sys.executable, "-c", textwrap.dedent(code)], timeout=100, check=False).returncode == 0
