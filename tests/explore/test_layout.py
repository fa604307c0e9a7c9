from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from sbert_desktop.explore.layout import (
    Graph,
    LayoutRules,
    Neighbours,
    collapse,
    collapse_neighbours,
    curve,
    exact_neighbours,
    lay_out,
    make_layout,
    membership,
    one_sided,
    principal_plane,
)
from sbert_desktop.explore.map_quality import measure_quality
from tests.explore.made_themes import themes


class Stop(Exception):
    pass


class Context:
    """A job that is cancelled after so many checks."""

    paused = False

    def __init__(self, checks: int = 10**9) -> None:
        self.left = checks
        self.told: list[tuple[str, int, int | None]] = []

    def check(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise Stop

    def progress(self, phase: str, done: int, total: int | None, detail: str = "") -> None:
        self.told.append((phase, done, total))

    def partial(self, result: object) -> None:
        raise AssertionError("positions go to on_positions")


def test_equal_rows_become_one_counted_point_and_dead_rows_none():
    vectors = np.eye(4, dtype=np.float32)[[0, 1, 0, 2, 0, 3]]
    collapsed = collapse(vectors, np.array([True, True, True, False, True, True]))
    assert collapsed.rows.tolist() == [0, 1, 5]
    assert collapsed.point.tolist() == [0, 1, 0, -1, 0, 2]
    assert collapsed.count.tolist() == [3, 1, 1]


def test_a_stored_graph_between_rows_becomes_one_between_points_without_itself_repeats_and_the_dead():
    vectors = np.eye(4, dtype=np.float32)[[0, 1, 0, 2, 1, 3]]
    collapsed = collapse(vectors, np.array([True, True, True, False, True, True]))  # points: rows 0, 1, 5
    rows = np.array([[2, 1, 4, 3, 5], [4, 3, 0, 2, -1], [0] * 5, [0] * 5, [0] * 5, [3, 4, 1, 2, 0]], np.int32)
    cosine = np.tile(np.array([0.9, 0.8, 0.7, 0.6, 0.5], np.float32), (6, 1))
    found = collapse_neighbours(Neighbours(rows, cosine), collapsed, most=3)
    assert found.rows.tolist() == [[1, 2, -1], [0, -1, -1], [1, 0, -1]]
    assert found.cosine[0, :2].tolist() == pytest.approx([0.8, 0.5])
    assert found.cosine[2, :2].tolist() == pytest.approx([0.8, 0.6])


def test_exact_neighbours_are_those_of_a_full_sort_and_never_the_row_itself():
    vectors = themes(5, 40)
    found = exact_neighbours(vectors, 7)
    cosines = vectors @ vectors.T
    np.fill_diagonal(cosines, -2)
    np.testing.assert_allclose(found.cosine, -np.sort(-cosines, axis=1)[:, :7], atol=1e-6)
    assert not (found.rows == np.arange(200)[:, None]).any()


def test_weights_of_a_point_sum_to_log2_of_its_neighbours_and_the_nearest_weighs_one():
    weights = one_sided(exact_neighbours(themes(5, 60), 15))
    np.testing.assert_allclose(weights.sum(axis=1), np.log2(16), atol=0.02)
    np.testing.assert_allclose(weights[:, 0], 1)
    assert (np.diff(weights, axis=1) <= 1e-6).all()


def test_missing_neighbours_weigh_nothing():
    weights = one_sided(
        Neighbours(np.array([[1, 2, -1], [-1, -1, -1]], np.int32), np.array([[0.9, 0.5, 0.99], [0, 0, 0]], np.float32))
    )
    assert weights[0, 2] == 0
    assert not weights[1].any()


def test_an_edge_weighs_the_same_from_both_ends_by_a_plus_b_minus_ab():
    neighbours = exact_neighbours(themes(3, 30), 6)
    graph = membership(neighbours)
    dense = np.zeros((90, 90))
    dense[graph.heads, graph.tails] = graph.weights
    np.testing.assert_array_equal(dense, dense.T)
    seen = np.zeros((90, 90))
    np.put_along_axis(seen, neighbours.rows.astype(np.int64), one_sided(neighbours), 1)
    np.testing.assert_allclose(dense, seen + seen.T - seen * seen.T, atol=1e-6)
    assert len(np.unique(graph.heads.astype(np.int64) * 90 + graph.tails)) == len(graph.heads)


def test_the_curve_is_the_published_one_for_the_default_distances():
    a, b = curve(0.1, 1.0)
    assert (a, b) == (pytest.approx(1.577, abs=1e-3), pytest.approx(0.895, abs=1e-3))  # umap-learn's documentation


@pytest.mark.parametrize("distance", [0.0, 0.01, 0.25, 0.5, 0.99])
def test_the_curve_falls_for_any_minimum_distance(distance: float):
    a, b = curve(distance, 1.0)
    assert a > 0
    assert b > 0
    assert np.isfinite([a, b]).all()


def test_the_principal_plane_is_that_of_a_singular_value_decomposition():
    vectors = themes(4, 50)
    plane = principal_plane(vectors)
    _, _, axes = np.linalg.svd(vectors - vectors.mean(axis=0), full_matrices=False)
    truth = (vectors - vectors.mean(axis=0)) @ axes[:2].T
    truth *= 10 / np.abs(truth).max()
    np.testing.assert_allclose(np.abs(plane), np.abs(truth), atol=1e-2)


def test_themes_stand_apart_and_the_map_keeps_neighbours_better_than_the_plane():
    vectors = themes(8, 60, spread=0.8)
    layout = make_layout(vectors)
    middles = layout.reshape(8, 60, 2).mean(axis=1)
    nearest = np.argmin(((layout[:, None] - middles) ** 2).sum(axis=2), axis=1)
    assert (nearest == np.repeat(np.arange(8), 60)).mean() > 0.98
    after, before = measure_quality(vectors, layout), measure_quality(vectors, principal_plane(vectors))
    assert after.trustworthiness > before.trustworthiness + 0.05


def test_one_seed_gives_one_layout_to_the_last_bit_and_another_seed_another():
    vectors = themes(4, 50)
    first, again = make_layout(vectors), make_layout(vectors)
    assert first.tobytes() == again.tobytes()
    assert first.tobytes() != make_layout(vectors, rules=LayoutRules(seed=1)).tobytes()


@pytest.mark.parametrize("points", [0, 1, 2, 3, 4, 5])
def test_a_few_points_get_finite_places_apart_from_each_other(points: int):
    layout = make_layout(themes(1, 5)[:points])
    assert layout.shape == (points, 2)
    assert layout.dtype == np.float32
    assert np.isfinite(layout).all()
    away = np.sqrt(((layout[:, None] - layout[None]) ** 2).sum(axis=2))[np.triu_indices(points, 1)]
    assert (away > 0.05).all()


def test_rows_that_are_all_alike_are_one_point_in_the_middle():
    collapsed = collapse(np.tile(themes(1, 1), (500, 1)), np.ones(500, bool))
    assert collapsed.count.tolist() == [500]
    assert make_layout(themes(1, 1)[: len(collapsed.rows)]).tolist() == [[0, 0]]


def test_points_that_are_alike_but_were_not_collapsed_still_get_finite_places():
    layout = make_layout(np.tile(themes(1, 1), (60, 1)))
    assert np.isfinite(layout).all()


def test_points_without_a_neighbour_stay_where_they_start():
    edges = np.array([0, 1], np.int32), np.array([1, 0], np.int32), np.ones(2, np.float32)
    start = np.array([[0, 0], [1, 0], [7, 7]], np.float32)
    layout = lay_out(Graph(3, *edges), start)
    np.testing.assert_allclose(layout[2], [7, 7], atol=0.01)
    assert start.tolist() == [[0, 0], [1, 0], [7, 7]]


def test_the_plane_comes_first_and_positions_on_the_way_are_copies_that_near_the_last_ones():
    seen: list[np.ndarray] = []
    vectors = themes(4, 50)
    layout = make_layout(vectors, on_positions=seen.append)
    assert 20 <= len(seen) <= 60
    np.testing.assert_array_equal(seen[0], principal_plane(vectors))
    steps = [float(np.abs(layout - one).mean()) for one in seen]
    assert steps[-1] < 0.2 < steps[1]


def test_a_cancel_is_heard_within_a_round():
    vectors = themes(4, 50)
    context = Context(checks=20)
    with pytest.raises(Stop):
        make_layout(vectors, context=context)
    assert context.told
    assert context.told[-1][1] < 20


def test_progress_counts_the_rounds():
    context = Context()
    make_layout(themes(2, 30), rules=LayoutRules(rounds=12), context=context)
    assert context.told == [("laying out", done, 12) for done in range(12)]


def test_hubs_and_slabs_give_the_layout_that_one_slab_gives(monkeypatch):
    vectors = themes(4, 50)
    whole = make_layout(vectors, rules=LayoutRules(rounds=5))
    monkeypatch.setattr("sbert_desktop.explore.layout._SLAB", 7)  # less than the edges of most points
    cut = make_layout(vectors, rules=LayoutRules(rounds=5))
    np.testing.assert_allclose(cut, whole, atol=1e-4)


def test_a_layout_needs_neither_a_compiler_nor_a_learning_library():
    code = (
        "import sys, numpy as np\n"
        "from sbert_desktop.explore.layout import make_layout\n"
        "v = np.random.default_rng(0).standard_normal((50, 8)).astype('f4')\n"
        "make_layout(v / np.linalg.norm(v, axis=1, keepdims=True))\n"
        "print([name for name in ('numba', 'umap', 'sklearn', 'scipy', 'torch') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_dense_theme_is_round_not_square():
    # Pushes cut in x and in y pile points up on the diagonals and leave straight sides.
    layout = make_layout(themes(1, 1500, spread=1.2), rules=LayoutRules(minimum_distance=0.0))
    ways = layout - np.median(layout, axis=0)
    angle = np.arctan2(ways[:, 1], ways[:, 0])
    far = np.linalg.norm(ways, axis=1) > np.quantile(np.linalg.norm(ways, axis=1), 0.8)
    assert abs(np.exp(4j * angle[far]).mean()) < 0.09
