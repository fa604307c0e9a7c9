"""Ranking against a plain-Python oracle, and its promises on filters, grouping and fusion."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest

from sbert_desktop.domain import Filters, Mode, Query, ScoreKind
from sbert_desktop.explore import search, similar


@dataclass
class FakeIndex:
    vectors: np.ndarray
    rows: int
    asked: list = field(default_factory=list)

    def search(self, vector, k):
        self.asked.append(k)
        cosines = self.vectors[: self.rows] @ vector
        order = np.argsort(-cosines)[:k]
        return order.astype(np.int64), cosines[order]


@dataclass
class FakeSnapshot:
    vectors: np.ndarray
    contents: np.ndarray
    words: dict = field(default_factory=dict)  # passage id -> bm25
    allowed: set | None = None
    index: FakeIndex | None = None
    extra: dict = field(default_factory=dict)  # passage id -> content, without a vector
    generation: int = 1

    def __post_init__(self):
        self.alive = np.ones(len(self.vectors), bool)
        self.passage_ids = np.arange(len(self.vectors), dtype=np.int64) + 100

    @property
    def passages(self):
        return int(self.alive.sum()) + len(self.extra)

    def select(self, filters):
        if self.allowed is None:
            return None
        mask = np.zeros(int(self.contents.max()) + 1, bool)
        mask[list(self.allowed)] = True
        return mask

    def keyword(self, text, mask, limit):
        owner = {int(p): int(c) for p, c in zip(self.passage_ids, self.contents, strict=True)} | self.extra
        found = [(p, s) for p, s in self.words.items() if mask is None or (owner[p] < len(mask) and mask[owner[p]])]
        found.sort(key=lambda item: -item[1])
        found = found[:limit]
        return (
            np.array([p for p, _ in found], np.int64),
            np.array([s for _, s in found], float),
            np.array([owner[p] for p, _ in found], np.int64),
        )


def unit(rng, n, d=16):
    x = rng.standard_normal((n, d)).astype(np.float32)
    return x / np.linalg.norm(x, axis=1, keepdims=True)


@pytest.fixture
def rng():
    return np.random.default_rng(5)


def ids(results):
    return [hit.passage_id for document in results.documents for hit in document.hits]


def test_semantic_is_the_exact_order_of_cosines(rng):
    snapshot = FakeSnapshot(unit(rng, 500), np.arange(500))
    q = unit(rng, 1)[0]
    results = search(snapshot, Query("x", mode=Mode.SEMANTIC, top=20), q)
    expected = np.argsort(-(snapshot.vectors @ q))[:20] + 100
    assert ids(results) == expected.tolist()
    assert results.documents[0].hits[0].score_kind is ScoreKind.COSINE


def test_dead_rows_are_never_found(rng):
    snapshot = FakeSnapshot(unit(rng, 300), np.arange(300))
    q = snapshot.vectors[7]
    snapshot.alive[7] = False
    assert 107 not in ids(search(snapshot, Query("x", mode=Mode.SEMANTIC, top=300), q))


def test_filter_applies_before_the_top(rng):
    vectors = unit(rng, 1001)
    q = unit(rng, 1)[0]
    vectors[:1000] = q + 0.01 * vectors[:1000]
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    snapshot = FakeSnapshot(vectors, np.arange(1001), allowed={1000})
    results = search(snapshot, Query("x", mode=Mode.SEMANTIC, top=10, filters=Filters(types=("pdf",))), q)
    assert ids(results) == [1100]


def test_one_long_document_never_fills_the_list(rng):
    q = unit(rng, 1)[0]
    book = q + 0.05 * unit(rng, 3000)
    others = unit(rng, 20)
    vectors = np.concatenate([book, others]).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    snapshot = FakeSnapshot(vectors, np.array([0] * 3000 + list(range(1, 21))))
    results = search(snapshot, Query("x", mode=Mode.SEMANTIC, top=10), q)
    assert len(results.documents) == 10
    assert results.documents[0].content_id == 0
    assert len(results.documents[0].hits) == 3
    assert results.documents[0].more > 0


def test_hybrid_is_the_convex_sum(rng):
    snapshot = FakeSnapshot(unit(rng, 50), np.arange(50), words={110: 8.0, 120: 4.0})
    q = unit(rng, 1)[0]
    results = search(snapshot, Query("x", top=50, words_weight=0.3), q)
    cosines = snapshot.vectors @ q
    spread = (cosines - cosines.min()) / (cosines.max() - cosines.min())
    expected = 0.7 * spread
    expected[10] += 0.3
    expected[20] += 0.15
    order = np.argsort(-expected)
    assert ids(results) == (order + 100).tolist()
    scores = [document.hits[0].score for document in results.documents]
    np.testing.assert_allclose(scores, expected[order], atol=1e-5)
    hit = next(d.hits[0] for d in results.documents if d.hits[0].passage_id == 110)
    assert (hit.bm25, hit.words_rank) == (8.0, 1)
    assert hit.cosine == pytest.approx(cosines[10], abs=1e-6)


def test_extremes_of_the_slider_are_the_pure_modes(rng):
    snapshot = FakeSnapshot(unit(rng, 50), np.arange(50), words={110: 8.0, 120: 4.0})
    q = unit(rng, 1)[0]
    assert ids(search(snapshot, Query("x", words_weight=1.0), q)) == [110, 120]
    meaning = search(snapshot, Query("x", words_weight=0.0), q)
    assert ids(meaning) == ids(search(snapshot, Query("x", mode=Mode.SEMANTIC), q))


def test_without_a_vector_words_decide(rng):
    snapshot = FakeSnapshot(unit(rng, 50), np.arange(50), words={110: 8.0})
    results = search(snapshot, Query("x", mode=Mode.HYBRID), None)
    assert ids(results) == [110]
    assert results.documents[0].hits[0].score_kind is ScoreKind.BM25


def test_passage_without_a_vector_is_found_by_words_in_hybrid(rng):
    snapshot = FakeSnapshot(unit(rng, 50), np.arange(50), words={9999: 8.0}, extra={9999: 77})
    results = search(snapshot, Query("x", top=60), unit(rng, 1)[0])
    hit = next(d.hits[0] for d in results.documents if d.content_id == 77)
    assert hit.cosine is None
    assert hit.bm25 == 8.0


def test_index_is_united_with_the_exact_tail(rng):
    vectors = unit(rng, 4000)
    index = FakeIndex(vectors, rows=3000)
    snapshot = FakeSnapshot(vectors, np.arange(4000), index=index)
    q = vectors[3500]
    results = search(snapshot, Query("x", mode=Mode.SEMANTIC, top=10), q)
    assert ids(results) == (np.argsort(-(vectors @ q))[:10] + 100).tolist()
    assert index.asked


def test_narrow_filter_leaves_the_index_alone(rng):
    vectors = unit(rng, 1000)
    index = FakeIndex(vectors, rows=1000)
    snapshot = FakeSnapshot(vectors, np.arange(1000), index=index, allowed={5, 6})
    assert sorted(ids(search(snapshot, Query("x", mode=Mode.SEMANTIC), unit(rng, 1)[0]))) == [105, 106]
    assert not index.asked


def test_empty_library_gives_an_empty_answer():
    snapshot = FakeSnapshot(np.zeros((0, 16), np.float32), np.zeros(0, np.int64))
    results = search(snapshot, Query("x"), np.ones(16, np.float32))
    assert results.documents == ()


def test_similar_leaves_the_document_itself_out(rng):
    snapshot = FakeSnapshot(unit(rng, 100), np.arange(100))
    results = similar(snapshot, snapshot.vectors[3], top=5, exclude=[3])
    assert len(results.documents) == 5
    assert 103 not in ids(results)


def test_negative_cosines_keep_their_order(rng):
    vectors = -np.abs(unit(rng, 20, 4))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    q = np.full(4, 0.5, np.float32)
    snapshot = FakeSnapshot(vectors.astype(np.float32), np.arange(20))
    results = search(snapshot, Query("x", mode=Mode.SEMANTIC, top=20), q)
    assert ids(results) == (np.argsort(-(snapshot.vectors @ q)) + 100).tolist()
    assert all(0.0 <= d.hits[0].score <= 1.0 for d in results.documents)
