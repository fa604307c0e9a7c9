"""Themes: the right ones are found, nothing depends on the order, small and odd collections get a sane answer."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from sbert_desktop.explore._heavy_clusters import find_clusters, split_preview, try_counts
from sbert_desktop.explore._partitions import k_means, merge_tree, silhouette
from sbert_desktop.explore.communities import (
    Clustering,
    ClusterRequest,
    Method,
    assign,
    confidences,
    describe_themes,
    match_themes,
    shared_words,
    sum_of_themes,
)
from sbert_desktop.explore.document_vectors import document_vectors
from sbert_desktop.explore.neighbours import NeighbourGraph, neighbour_graph

METHODS = list(Method)


def unit(rows: NDArray[np.floating]) -> NDArray[np.float32]:
    return (rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)).astype(np.float32)


def made(
    themes: int, each: int, *, noise: float = 0.6, dimension: int = 48, seed: int = 3
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    rng = np.random.default_rng(seed)
    middles = unit(rng.standard_normal((themes, dimension)))
    truth = np.repeat(np.arange(themes), each)
    rows = middles[truth] + noise * rng.standard_normal((len(truth), dimension)) / np.sqrt(dimension)
    order = rng.permutation(len(truth))
    return unit(rows)[order], truth[order]


def agreement(truth: NDArray[np.integer], labels: NDArray[np.integer]) -> float:
    """Share of pairs on which both agree."""
    same = truth[:, None] == truth
    return float(np.mean(same == (labels[:, None] == labels)))


# ---- document vectors


def test_a_document_is_the_mean_of_its_passages_by_their_words() -> None:
    vectors = unit(np.array([[1.0, 0], [0, 1.0], [1.0, 1.0], [0, 1.0]]))
    found = document_vectors(
        vectors, np.array([7, 7, 2, 7]), np.array([30, 10, 5, 99]), np.array([True, True, True, False])
    )
    assert found.contents.tolist() == [2, 7]
    np.testing.assert_allclose(found.vectors, unit(np.array([[1, 1], [3, 1]])), atol=1e-6)
    assert found.passages.tolist() == [1, 2]
    assert found.words.tolist() == [5, 40]


def test_only_the_chosen_documents_get_a_vector() -> None:
    vectors = unit(np.eye(3))
    chosen = np.array([False, True])  # shorter than the largest content
    found = document_vectors(vectors, np.array([0, 1, 2]), np.ones(3, np.int64), np.ones(3, bool), chosen)
    assert found.contents.tolist() == [1]
    nothing = document_vectors(vectors, np.arange(3), np.ones(3, np.int64), np.zeros(3, bool))
    assert len(nothing) == 0
    assert nothing.vectors.shape == (0, 3)


def test_passages_that_cancel_each_other_out_leave_the_longest() -> None:
    vectors = np.array([[1.0, 0], [-1.0, 0]], np.float32)
    found = document_vectors(vectors, np.array([1, 1]), np.array([5, 5]), np.ones(2, bool))
    np.testing.assert_allclose(found.vectors, [[1, 0]])


# ---- neighbours


def test_neighbours_are_the_nearest_ones_nearest_first() -> None:
    vectors, _ = made(6, 40)
    graph = neighbour_graph(vectors, 7)
    cosines = vectors @ vectors.T
    np.fill_diagonal(cosines, -2)
    np.testing.assert_allclose(graph.cosines, -np.sort(-cosines, axis=1)[:, :7], atol=1e-5)
    assert not (graph.neighbours == np.arange(len(vectors))[:, None]).any()
    assert (np.diff(graph.cosines, axis=1) <= 1e-6).all()


def test_neighbours_by_regions_are_nearly_all_right() -> None:
    vectors, _ = made(12, 200)
    exact, near = neighbour_graph(vectors, 10), neighbour_graph(vectors, 10, exact=500)
    hits = [len(set(a) & set(b)) for a, b in zip(exact.neighbours.tolist(), near.neighbours.tolist(), strict=True)]
    assert np.mean(hits) / 10 > 0.9


@pytest.mark.parametrize(("rows", "k"), [(0, 5), (1, 5), (2, 5), (5, 3)])
def test_few_rows_have_as_many_neighbours_as_there_are(rows: int, k: int) -> None:
    vectors, _ = made(1, rows) if rows else (np.zeros((0, 8), np.float32), None)
    graph = neighbour_graph(vectors, k)
    assert graph.neighbours.shape == (rows, max(0, min(k, rows - 1)))
    assert (graph.neighbours >= 0).all()


# ---- finding


@pytest.mark.parametrize("method", [Method.AUTO, Method.KMEANS, Method.HDBSCAN])
def test_clear_themes_are_found_without_being_told_how_many(method: Method) -> None:
    vectors, truth = made(6, 60)
    found = find_clusters(vectors, ClusterRequest(method))
    assert found.count == 6
    assert agreement(truth, found.nearest) > 0.99
    assert found.silhouette > 0.2
    assert found.unsorted_share() < 0.1


def test_threshold_communities_gather_around_a_middle_document() -> None:
    vectors, truth = made(4, 50, noise=0.4)
    found = find_clusters(vectors, ClusterRequest(Method.THRESHOLD, threshold=0.6, smallest=10))
    assert found.count == 4
    inside = ~found.outside
    assert agreement(truth[inside], found.nearest[inside]) > 0.99
    assert find_clusters(vectors, ClusterRequest(Method.THRESHOLD, threshold=0.999)).outside.all()
    close = find_clusters(vectors, ClusterRequest(Method.THRESHOLD, threshold=0.85, smallest=3)).outside
    assert 0 < close.sum() < len(close)


@pytest.mark.parametrize("method", [Method.COMMUNITIES, Method.KMEANS])
@pytest.mark.parametrize("count", [1, 2, 3, 9, 40, 100])
def test_as_many_themes_as_asked_for(method: Method, count: int) -> None:
    vectors, _ = made(5, 40)
    found = find_clusters(vectors, ClusterRequest(method, count=count))
    assert found.count == count
    assert (found.sizes(0) > 0).all()


def test_no_theme_of_k_means_empties_where_hardly_anything_differs() -> None:
    rng = np.random.default_rng(5)
    vectors = unit(np.ones((40, 8)) + 1e-7 * rng.standard_normal((40, 8)))
    for seed in range(5):
        labels, _ = k_means(vectors, 25, seed=seed)
        assert len(set(labels.tolist())) == 25


@pytest.mark.parametrize("method", METHODS)
def test_neither_the_order_nor_copies_of_a_document_change_the_themes(method: Method) -> None:
    vectors, _ = made(5, 30, noise=0.9)
    order = np.random.default_rng(8).permutation(len(vectors))
    request = ClusterRequest(method)
    plain = find_clusters(vectors, request)
    turned = find_clusters(vectors[order], request)
    np.testing.assert_array_equal(plain.nearest[order], turned.nearest)
    np.testing.assert_array_equal(plain.labels(0.5)[order], turned.labels(0.5))
    copied = find_clusters(np.concatenate([vectors, vectors[:1].repeat(40, axis=0)]), request)
    assert agreement(plain.nearest, copied.nearest[: len(vectors)]) == 1
    assert set(copied.nearest[len(vectors) :]) == {copied.nearest[0]}


@pytest.mark.parametrize("method", [*(one for one in METHODS if one is not Method.HDBSCAN),
                                    pytest.param(Method.HDBSCAN, marks=pytest.mark.slow)])
def test_the_same_seed_gives_the_same_themes(method: Method) -> None:
    vectors, _ = made(5, 30, noise=1.2)
    first, again = (find_clusters(vectors, ClusterRequest(method, seed=4)) for _ in range(2))
    np.testing.assert_array_equal(first.nearest, again.nearest)
    np.testing.assert_array_equal(first.confidence, again.confidence)


def test_themes_are_numbered_by_their_size() -> None:
    a, _ = made(3, 20, seed=1)
    b, _ = made(1, 70, seed=2)
    sizes = find_clusters(np.concatenate([a, b])).sizes(0)
    assert sizes.tolist() == sorted(sizes, reverse=True)
    assert sizes[0] == 70


def test_fewer_and_more_move_the_number_of_themes() -> None:
    vectors, _ = made(8, 40)
    counts = [find_clusters(vectors, ClusterRequest(detail=detail)).count for detail in (-1, -0.4, 0, 0.4, 1)]
    assert counts == sorted(counts)
    assert counts[0] < counts[2] < counts[-1]


def test_levels_of_communities_are_nested() -> None:
    vectors, _ = made(8, 40, noise=0.9)
    tree = find_clusters(vectors).tree
    assert tree is not None
    for count in range(2, tree.count):
        fewer, more = tree.level(count), tree.level(count + 1)
        assert len(set(fewer.tolist())) == count
        assert len(set(zip(fewer.tolist(), more.tolist(), strict=True))) == count + 1


# ---- odd collections


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("rows", [0, 1, 2, 3, 5])
def test_few_documents_get_a_sane_answer(method: Method, rows: int) -> None:
    vectors, _ = made(rows, 1) if rows else (np.zeros((0, 8), np.float32), None)
    found = find_clusters(vectors, ClusterRequest(method))
    assert len(found.nearest) == rows
    assert found.count == len(set(found.nearest.tolist())) <= max(1, rows)
    assert np.isfinite(found.silhouette)
    if rows < 4:
        assert found.note.endswith(".")
        assert found.labels().tolist() == [0] * rows
    describe_themes(vectors, found.labels(), found.count)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("count", [None, 3])
def test_documents_that_are_all_alike_are_one_theme(method: Method, count: int | None) -> None:
    vectors = np.repeat(unit(np.ones((1, 16))), 30, axis=0)
    found = find_clusters(vectors, ClusterRequest(method, count=count))
    assert found.count == 1
    assert found.labels().tolist() == [0] * 30
    assert "1 different document" in found.note or "only one different document" in found.note


@pytest.mark.parametrize("method", METHODS)
def test_nearly_equal_documents_stay_together_or_at_least_lose_nobody(method: Method) -> None:
    rng = np.random.default_rng(1)
    vectors = unit(np.ones((60, 32)) + 1e-4 * rng.standard_normal((60, 32)))
    found = find_clusters(vectors, ClusterRequest(method))
    assert (found.nearest >= 0).all()
    assert np.isfinite(found.confidence).all()


@pytest.mark.parametrize("method", [Method.COMMUNITIES, Method.KMEANS])
def test_more_themes_than_documents_gives_each_its_own_and_says_so(method: Method) -> None:
    vectors, _ = made(1, 5)
    found = find_clusters(vectors, ClusterRequest(method, count=9))
    assert found.count == 5
    assert sorted(found.nearest.tolist()) == [0, 1, 2, 3, 4]
    assert "only 5 different documents" in found.note


def test_a_vector_of_zeros_breaks_nothing() -> None:
    vectors, _ = made(3, 10)
    vectors[4] = 0
    for method in METHODS:
        assert np.isfinite(find_clusters(vectors, ClusterRequest(method)).confidence).all()


# ---- unsorted


def test_strictness_only_adds_unsorted_documents_and_none_at_zero() -> None:
    vectors, _ = made(6, 40, noise=1.6)
    found = find_clusters(vectors)
    shares = [found.unsorted_share(s) for s in (0, 0.2, 0.4, 0.6, 0.8, 1.01)]
    assert shares[0] == 0
    assert shares == sorted(shares)
    assert shares[-1] > shares[1]


def test_confidence_is_the_share_of_what_is_near() -> None:
    graph = NeighbourGraph(
        np.array([[1, 2], [0, 2], [0, 1], [0, -1]], np.int32),
        np.array([[0.8, 0.4], [0.8, 0.4], [0.4, 0.4], [0.1, -1.0]], np.float32),
    )
    found = confidences(graph, np.array([0, 0, 1, 0], np.int32), 0.2)
    np.testing.assert_allclose(found, [0.75, 0.75, 0, 0], atol=1e-6)  # the last has no document near, only one of its


def test_documents_of_small_themes_are_as_sure_as_those_of_large_ones() -> None:
    vectors, _ = made(8, 5)  # of 15 neighbours only 4 can be of the same theme
    found = find_clusters(vectors)
    assert found.count == 8
    assert found.unsorted_share() < 0.1


def test_pairs_are_not_taken_for_themes_however_tight_they_are() -> None:
    rng = np.random.default_rng(5)
    topics, _ = made(6, 4, noise=1.0)
    twins = unit(np.repeat(topics, 2, axis=0) + 0.05 * rng.standard_normal((48, 48)))
    found = find_clusters(twins)
    assert found.count <= 8
    assert found.curve is not None
    assert found.curve.by_silhouette == found.count
    assert found.curve.counts[np.argmax(found.curve.silhouettes)] > 12, "the silhouette alone would say otherwise"


def test_what_a_method_left_out_is_unsorted_until_assigned() -> None:
    found = Clustering(
        Method.HDBSCAN, np.zeros(3, np.int32), np.ones(3, np.float32), np.array([False, True, False]), 1, 0.0
    )
    assert found.labels().tolist() == [0, -1, 0]
    assert found.labels(0).tolist() == [0, 0, 0]
    assert found.unsorted_share() == pytest.approx(1 / 3)


def test_a_document_like_no_other_is_unsorted() -> None:
    vectors, _ = made(5, 40, noise=0.4)
    odd = np.zeros((1, vectors.shape[1]), np.float32)
    odd[0] = np.linalg.svd(vectors.astype(float))[2][-1]  # where the others hardly reach
    found = find_clusters(np.concatenate([vectors, odd]))
    assert found.labels()[-1] == -1
    assert found.nearest[-1] >= 0
    assert found.confidence[-1] < np.quantile(found.confidence[:-1], 0.05)


def test_what_stands_between_two_themes_is_less_sure() -> None:
    vectors, truth = made(2, 60, noise=0.4)
    middles = [vectors[truth == theme].mean(axis=0) for theme in (0, 1)]
    between = unit(np.sum(middles, axis=0, keepdims=True))
    found = find_clusters(np.concatenate([vectors, between]), ClusterRequest(count=2))
    assert found.confidence[-1] < 0.9 < np.median(found.confidence)


# ---- after finding


def test_typical_documents_and_spread() -> None:
    vectors, truth = made(3, 40, noise=0.5)
    wide, _ = made(1, 40, noise=1.5, seed=9)
    rows, labels = np.concatenate([vectors, wide]), np.concatenate([truth, np.full(40, 3)]).astype(np.int32)
    themes = describe_themes(rows, labels, 4)
    for theme, about in enumerate(themes):
        assert about.size == 40
        assert set(labels[about.central]) == {theme}
        middle = unit(rows[labels == theme].mean(axis=0, keepdims=True))[0]
        assert rows[about.central[0]] @ middle == pytest.approx(max(rows[labels == theme] @ middle), abs=1e-5)
        assert len(about.beside) == 3
        assert theme not in [other for other, _ in about.beside]
    assert themes[3].spread > 2 * max(about.spread for about in themes[:3])


def test_themes_keep_their_identity_between_runs() -> None:
    keys = [f"d{n}" for n in range(100)]
    old = np.repeat([0, 1, 2, 3], 25).astype(np.int32)
    new = np.array([3, 2, 1, 0], np.int32)[old]
    new[:3] = -1
    matched = match_themes(keys, old, keys[::-1], new[::-1])
    assert matched.before.tolist() == [3, 2, 1, 0]
    assert matched.gone == ()
    assert matched.shares[3] == pytest.approx(22 / 25)


def test_a_split_theme_goes_on_in_its_larger_part_and_a_merged_one_is_the_larger() -> None:
    keys = [str(n) for n in range(30)]
    old = np.repeat([0, 1], [20, 10]).astype(np.int32)
    split = np.repeat([0, 1, 2], [13, 7, 10]).astype(np.int32)
    assert match_themes(keys, old, keys, split).before.tolist() == [0, -1, 1]
    halves = np.repeat([0, 1, 2], [10, 10, 10]).astype(np.int32)
    assert match_themes(keys, old, keys, halves).before.tolist() == [0, -1, 1]
    merged = match_themes(keys, old, keys, np.zeros(30, np.int32))
    assert merged.before.tolist() == [0]
    assert merged.gone == (1,)
    pinned = match_themes(keys, old, keys, np.zeros(30, np.int32), pinned=[1])
    assert pinned.before.tolist() == [1]


def test_a_theme_of_other_documents_is_new() -> None:
    old = np.zeros(20, np.int32)
    new = np.repeat([0, 1], [15, 15]).astype(np.int32)
    keys = [str(n) for n in range(20)]
    later = [str(n) for n in range(12, 42)]
    matched = match_themes(keys, old, later, new)
    assert matched.before.tolist() == [0, -1]
    nothing = match_themes([], np.zeros(0, np.int32), keys, old)
    assert nothing.before.tolist() == [-1]


def test_new_documents_go_to_the_nearest_theme() -> None:
    vectors, truth = made(4, 40)
    found = find_clusters(vectors[20:])
    nearest, cosine = assign(vectors[:20], sum_of_themes(vectors[20:], found))
    for row in range(20):
        assert set(found.nearest[truth[20:] == truth[row]]) == {nearest[row]}
    assert (cosine > 0.5).all()
    assert assign(vectors[:3], np.zeros((0, vectors.shape[1])))[0].tolist() == [-1, -1, -1]


def test_a_split_makes_at_least_two() -> None:
    vectors, truth = made(4, 40)
    rows = np.flatnonzero(truth < 2)
    preview = split_preview(vectors, rows)
    assert preview.count == 2
    assert agreement(truth[rows], preview.nearest) > 0.99
    assert split_preview(vectors, np.flatnonzero(truth == 0)[:2]).count == 2
    assert split_preview(vectors, rows[:1]).count == 1


def test_shared_words_are_found_whatever_their_case() -> None:
    assert shared_words(["Tax", "budget"], ["TAX", "vote"]) == ("Tax",)


# ---- the parts


def test_the_curve_of_k_means_shows_the_right_number_twice() -> None:
    vectors, _ = made(6, 50)
    curve = try_counts(vectors)
    assert curve.by_silhouette == 6
    assert curve.by_elbow in (5, 6, 7)
    assert len(curve.counts) == len(curve.silhouettes) == len(curve.losses)
    assert (np.diff(curve.losses) < 0.02).all()


def test_the_silhouette_is_that_of_scikit_learn() -> None:
    from sklearn.metrics import silhouette_score

    vectors, truth = made(4, 30, noise=1.2)
    assert silhouette(vectors, truth.astype(np.int32), 4) == pytest.approx(
        silhouette_score(vectors, truth, metric="cosine"), abs=1e-4
    )


def test_merging_finds_the_loss_that_it_says() -> None:
    vectors, _ = made(5, 30, noise=1.0)
    fine, _ = k_means(vectors, 20)
    tree = merge_tree(vectors, fine, 20)
    sums = {theme: vectors[fine == theme].sum(axis=0, dtype=float) for theme in range(20)}
    for first, second in tree.merges.tolist():
        loss = {
            (a, b): np.linalg.norm(sums[a]) + np.linalg.norm(sums[b]) - np.linalg.norm(sums[a] + sums[b])
            for a in sums for b in sums if a < b
        }  # fmt: skip
        assert loss[first, second] == pytest.approx(min(loss.values()), abs=1e-6)
        sums[first] += sums.pop(second)
    level = tree.level(7)
    assert tree.silhouettes[7] == pytest.approx(silhouette(vectors, level, 7), abs=1e-6)
