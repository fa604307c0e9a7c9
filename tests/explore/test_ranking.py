"""Ranking against a plain-Python oracle, and its promises on filters, grouping and fusion."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sbert_desktop.domain import Filters, Mode, Parsed, Query, ScoreKind
from sbert_desktop.explore import search, similar

from .made_snapshot import FakeIndex, FakeSnapshot, unit


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
    query = Query("x", mode=Mode.SEMANTIC, filters=Filters(types=("pdf",)))
    assert sorted(ids(search(snapshot, query, unit(rng, 1)[0]))) == [105, 106]
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
    results = search(snapshot, Query("x", mode=Mode.SEMANTIC, top=20, fold=False), q)
    assert ids(results) == (np.argsort(-(snapshot.vectors @ q)) + 100).tolist()
    assert all(0.0 <= d.hits[0].score <= 1.0 for d in results.documents)


def parsed(words="", **pieces):
    return Parsed(words, **pieces)


def documents(results):
    return [document.content_id for document in results.documents]


@pytest.mark.parametrize("mode", list(Mode))
@pytest.mark.parametrize("by", ["document", "passage"])
def test_a_book_of_300_passages_and_20_small_files_give_as_many_as_were_asked_for(rng, mode, by):
    q = unit(rng, 1)[0]
    vectors = np.concatenate([q + 0.1 * unit(rng, 300), unit(rng, 20)]).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    words = {100 + p: 9.0 - p / 100 for p in range(320)}
    snapshot = FakeSnapshot(vectors, np.array([0] * 300 + list(range(1, 21))), words=words)
    found = documents(search(snapshot, Query("x", mode=mode, by=by, fold=False), q))
    assert len(found) == 10
    assert len(set(found)) == (10 if by == "document" else 1)


def test_what_a_long_document_crowds_out_of_one_ranking_still_enters_the_fusion(rng):
    q = np.zeros(64, np.float32)
    q[0] = 1.0
    vectors = unit(rng, 1040, 64)
    vectors[:1000] = q + 0.02 * vectors[:1000]  # a book that fills the first 200 by meaning
    vectors[1000] = q + 0.5 * vectors[1000]  # the next best, and without the word
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    words = {100 + row: 5.0 for row in (*range(1000), *range(1001, 1040))}
    contents = np.array([0] * 1000 + list(range(1, 41)))
    found = search(FakeSnapshot(vectors, contents, words=words), Query("x", words_weight=0.1, top=2), q)
    assert documents(found) == [0, 1]


def test_without_words_the_newest_that_pass_the_filters_come_first(rng):
    snapshot = FakeSnapshot(
        unit(rng, 30), np.arange(30) // 3, days={c: float(c % 7) for c in range(10)}, allowed=set(range(8))
    )
    query = Query("type:pdf", filters=Filters(types=("pdf",)), parsed=parsed(), top=3)
    results = search(snapshot, query, None)
    assert documents(results) == [6, 5, 4]
    assert ids(results) == [118, 115, 112]
    hit = results.documents[0].hits[0]
    assert (hit.score, hit.score_kind, hit.cosine, hit.bm25) == (0.0, ScoreKind.BM25, None, None)
    assert results.chance is None


def test_without_words_an_excluded_word_still_leaves_out(rng):
    snapshot = FakeSnapshot(unit(rng, 4), np.arange(4), days={c: float(c) for c in range(4)}, holders={"draft": {3, 1}})
    query = Query("-draft", parsed=parsed(excluded_words=("draft",)))
    assert documents(search(snapshot, query, None)) == [2, 0]
    assert documents(search(snapshot, query, unit(rng, 1)[0])) == [2, 0]  # what an encoder makes of no words


def test_typed_filters_count_even_when_nobody_joined_them_with_the_others(rng):
    snapshot = FakeSnapshot(unit(rng, 10), np.arange(10), allowed={4})
    query = Query("x type:pdf", parsed=parsed("x", filters=Filters(types=("pdf",))))
    assert documents(search(snapshot, query, unit(rng, 1)[0])) == [4]


def test_words_are_looked_up_without_the_fields_that_were_typed(rng):
    snapshot = FakeSnapshot(unit(rng, 10), np.arange(10), words={103: 1.0})
    search(snapshot, Query("tax type:pdf", parsed=parsed("tax")), unit(rng, 1)[0])
    assert set(snapshot.asked_words) == {"tax"}


@pytest.mark.parametrize("mode", list(Mode))
def test_the_passage_in_which_a_phrase_begins_stands_first_in_its_document(rng, mode):
    snapshot = FakeSnapshot(
        unit(rng, 400),
        np.arange(400) // 8,
        words={100 + row: 5.0 if row % 8 else 1.0 for row in range(400)},
        begins={"flat tyre": [100, 116, 131, 9999]},
        extra={9999: 60},
    )
    query = Query('"flat tyre"', mode=mode, parsed=parsed("flat tyre", phrases=("flat tyre",)), top=20)
    results = search(snapshot, query, unit(rng, 1)[0])
    assert sorted(documents(results)) == [0, 2, 3, 60]
    assert {document.hits[0].passage_id for document in results.documents} == {100, 116, 131, 9999}
    tops = [document.hits[0].score for document in results.documents]
    assert tops == sorted(tops, reverse=True)


def test_a_phrase_that_no_document_holds_finds_nothing(rng):
    snapshot = FakeSnapshot(unit(rng, 40), np.arange(40), words={103: 1.0})
    query = Query('"no such"', parsed=parsed("no such", phrases=("no such",)))
    assert search(snapshot, query, unit(rng, 1)[0]).documents == ()


def test_a_phrase_is_found_without_a_model_though_its_words_were_pruned(rng):
    snapshot = FakeSnapshot(unit(rng, 40), np.arange(40), begins={"to be": [107]})
    query = Query('"to be"', parsed=parsed("to be", phrases=("to be",)))
    assert ids(search(snapshot, query, None)) == [107]


def test_a_pasted_text_is_searched_by_meaning_alone(rng):
    snapshot = FakeSnapshot(unit(rng, 40), np.arange(40), words={103: 1.0})
    results = search(snapshot, Query("", parsed=parsed(), like="a long text"), snapshot.vectors[7])
    assert ids(results)[0] == 107
    assert results.documents[0].hits[0].score_kind is ScoreKind.COSINE
    assert snapshot.asked_words == []


def test_recency_is_off_by_default_and_brings_the_new_one_up(rng):
    vectors = np.zeros((2, 4), np.float32)
    vectors[:, 0] = (1.0, 0.95)
    vectors[1, 1] = np.sqrt(1 - 0.95**2)
    year = 365 * 86_400.0
    snapshot = FakeSnapshot(vectors, np.arange(2), days={0: 0.0, 1: 10 * year})
    q = np.array([1, 0, 0, 0], np.float32)
    query = Query("x", mode=Mode.SEMANTIC)
    plain = search(snapshot, query, q, now=10 * year)
    assert documents(plain) == [0, 1]
    mixed = search(snapshot, replace(query, recency=0.2), q, now=10 * year)
    assert documents(mixed) == [1, 0]
    scores = [document.hits[0].score for document in mixed.documents]
    assert scores == pytest.approx([0.8 * 0.95 + 0.2, 0.8 + 0.2 / 11])
    assert mixed.documents[0].hits[0].score_kind is ScoreKind.FUSED
    assert mixed.documents[0].hits[0].cosine == pytest.approx(0.95)


def test_dates_in_the_future_and_missing_ones_do_no_harm(rng):
    snapshot = FakeSnapshot(unit(rng, 3), np.arange(3), days={0: 1e12})
    results = search(snapshot, Query("x", recency=1.0), unit(rng, 1)[0], now=0.0)
    assert documents(results)[0] == 0
    assert results.documents[0].hits[0].score == 1.0
    assert results.documents[1].hits[0].score == 0.0
