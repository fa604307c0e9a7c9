"""Steering a query, and the order that a cross-encoder gives."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sbert_desktop.domain import DocumentHits, Hit, ScoreKind, SearchResults
from sbert_desktop.explore.refinement import reorder, shortlist, steer

NONE = np.zeros((0, 8), np.float32)


def unit(seed, n=1):
    x = np.random.default_rng(seed).standard_normal((n, 8)).astype(np.float32)
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def results(*groups, first=None):
    def hit(passage, content):
        return Hit(passage, content, (first or {}).get(passage, 0.5), ScoreKind.FUSED, 0.4, 1.0)

    return SearchResults(
        tuple(DocumentHits(c, tuple(hit(p, c) for p in group)) for c, group in enumerate(groups)), 1, 9, 9, 9
    )


def order(found):
    return [[hit.passage_id for hit in document.hits] for document in found.documents]


def test_nothing_marked_leaves_the_query():
    q = unit(1)[0]
    np.testing.assert_allclose(steer(q, NONE, NONE), q, atol=1e-6)


def test_more_like_this_is_nearer_and_less_like_this_farther():
    q, wanted, unwanted = unit(1)[0], unit(2, 3), unit(3, 2)
    moved = steer(q, wanted, unwanted)
    assert moved.dtype == np.float32
    assert np.linalg.norm(moved) == pytest.approx(1.0, abs=1e-6)
    expected = q + 0.75 * wanted.mean(0) - 0.25 * unwanted.mean(0)
    np.testing.assert_allclose(moved, expected / np.linalg.norm(expected), atol=1e-6)
    assert (wanted @ moved).mean() > (wanted @ q).mean()
    assert (unwanted @ steer(q, NONE, unwanted)).mean() < (unwanted @ q).mean()


def test_marks_that_cancel_the_query_leave_it():
    q = unit(1)[0]
    np.testing.assert_array_equal(steer(q, -q[None] / 0.75, NONE), q)


def test_the_best_of_each_document_is_scored_before_second_ones():
    found = results([1, 2, 3], [4], [5, 6])
    assert shortlist(found, 4) == (1, 4, 5, 2)
    assert shortlist(found, 100) == (1, 4, 5, 2, 6, 3)
    assert shortlist(found, 0) == ()


def test_scored_passages_come_first_and_the_others_keep_their_order():
    found = results([1, 2], [3], [4, 5], [6], [7])
    again = reorder(found, {1: -2.0, 3: 1.5, 5: 4.0}, share=0.5)
    assert order(again) == [[5, 4], [3], [1, 2], [6], [7]]
    best = again.documents[0].hits[0]
    assert best.score_kind is ScoreKind.RERANK
    assert best.rerank == 4.0
    assert best.score == 1.0  # the best of the second stage, and like all others in the first
    assert again.documents[1].hits[0].score == pytest.approx(0.5 * 3.5 / 6 + 0.5)
    assert again.documents[2].hits[0].score == pytest.approx(0.5)
    assert again.documents[3].hits[0].score_kind is ScoreKind.FUSED
    assert again.documents[3].hits[0].rerank is None


def test_a_share_of_nothing_keeps_the_first_order_and_one_of_all_gives_the_second():
    first = {passage: 1.0 - passage / 10 for passage in range(1, 6)}
    found = results([1], [2], [3], [4], [5], first=first)
    scores = {1: 0.1, 2: 0.9, 3: 0.2, 4: 0.3, 5: 0.4}
    assert order(reorder(found, scores, share=0.0)) == order(found)
    assert order(reorder(found, scores, share=1.0)) == [[2], [5], [4], [3], [1]]
    assert order(reorder(found, scores, share=0.5))[0] == [2]  # the best of one, and the second of the other


def test_a_cross_encoder_that_tells_the_passages_hardly_apart_moves_little_and_a_sure_one_decides():
    first = {1: 0.9, 2: 0.8, 3: 0.1}
    found = results([1], [2], [3], first=first)
    assert order(reorder(found, {1: 0.20, 2: 0.21, 3: 0.22})) == order(found)  # noise is not blown up
    assert order(reorder(found, {1: 0.01, 2: 0.01, 3: 0.99}))[0] == [3]


def test_a_cross_encoder_that_says_the_same_of_everything_changes_no_order():
    first = {1: 0.9, 2: 0.5, 3: 0.1}
    found = results([1], [2], [3], first=first)
    assert order(reorder(found, dict.fromkeys(first, 0.73))) == order(found)


def test_scores_of_a_logistic_function_are_told_apart_near_1():
    found = results([1], [2], [3], first={1: 0.5, 2: 0.52, 3: 0.4})
    again = reorder(found, {1: 0.9999, 2: 0.99, 3: 0.01}, share=0.9)
    assert order(again) == [[1], [2], [3]]
    assert again.documents[0].hits[0].rerank == 0.9999


def test_no_scores_change_nothing_and_cutting_comes_last():
    found = results([1], [2], [3])
    assert reorder(found, {}) == found
    assert order(reorder(found, {3: 1.0}, top=2)) == [[3], [1]]


@given(st.dictionaries(st.integers(1, 30), st.floats(allow_nan=True, allow_infinity=True)))
def test_any_scores_lose_no_hit_and_keep_scores_in_range(scores):
    found = results(*[list(range(n, n + 3)) for n in range(1, 31, 3)])
    again = reorder(found, scores)
    assert sorted(map(sorted, order(again))) == sorted(map(sorted, order(found)))
    assert all(0.0 <= hit.score <= 1.0 for document in again.documents for hit in document.hits)
