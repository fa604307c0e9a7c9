from __future__ import annotations

import numpy as np

from sbert_desktop.explore.layout import Neighbours, make_layout
from sbert_desktop.explore.placing import nearest_old, place
from tests.explore.made_themes import themes


def test_new_points_join_their_theme_and_old_ones_keep_every_bit():
    vectors = themes(6, 60)
    new = np.arange(0, 360, 6)
    old = np.setdiff1d(np.arange(360), new)
    layout = make_layout(vectors[old])
    before = layout.tobytes()
    places = place(layout, nearest_old(vectors[new], vectors[old]))
    assert layout.tobytes() == before
    middles = np.stack([layout[old // 60 == theme].mean(axis=0) for theme in range(6)])
    nearest = np.argmin(((places[:, None] - middles) ** 2).sum(axis=2), axis=1)
    assert (nearest == new // 60).all()


def test_a_point_between_two_themes_joins_the_stronger_instead_of_the_void():
    layout = np.array([[0, 0], [0.1, 0], [0, 0.1], [10, 0], [10, 0.1]], np.float32)
    neighbours = Neighbours(np.array([[0, 1, 2, 3, 4]], np.int32), np.full((1, 5), 0.7, np.float32))
    assert np.linalg.norm(place(layout, neighbours)[0]) < 0.5


def test_nearest_old_are_those_of_a_full_sort_whatever_the_blocks(monkeypatch):
    vectors = themes(5, 500)
    new = vectors[::83]  # from all themes, so that the nearest lie in all blocks
    truth = -np.sort(-(new @ vectors[100:].T), axis=1)[:, :9]
    monkeypatch.setattr("sbert_desktop.explore.placing._BLOCK", 1)  # blocks of 1,024 rows
    found = nearest_old(new, vectors[100:], 9)
    np.testing.assert_allclose(found.cosine, truth, atol=1e-6)
    picked = np.einsum("nd,nkd->nk", new, vectors[100:][found.rows])
    np.testing.assert_allclose(picked, truth, atol=1e-6)


def test_a_copy_of_an_old_point_lies_almost_on_it():
    vectors = themes(4, 50)
    layout = make_layout(vectors)
    places = place(layout, nearest_old(vectors[:20], vectors))
    assert np.median(np.linalg.norm(places - layout[:20], axis=1)) < 0.5 * layout.std()


def test_no_old_points_few_old_points_and_missing_neighbours_give_finite_places():
    nothing = place(np.zeros((0, 2), np.float32), nearest_old(themes(1, 3), np.zeros((0, 32), np.float32)))
    assert nothing.tolist() == [[0, 0]] * 3
    one = place(np.array([[3, 4]], np.float32), nearest_old(themes(1, 2), themes(1, 1)))
    np.testing.assert_allclose(one, [[3, 4]] * 2, rtol=1e-5)
    some = Neighbours(np.array([[0, -1], [-1, -1]], np.int32), np.array([[0.5, 0], [0, 0]], np.float32))
    assert np.isfinite(place(np.array([[3, 4]], np.float32), some)).all()
    np.testing.assert_allclose(place(np.array([[3, 4]], np.float32), some)[0], [3, 4], rtol=1e-5)
    assert place(np.array([[3, 4]], np.float32), nearest_old(np.zeros((0, 32), np.float32), themes(1, 1))).shape == (
        0,
        2,
    )


def test_missing_neighbours_draw_a_point_nowhere():
    layout = np.array([[50, 50], [1, 0], [9, 0]], np.float32)
    neighbours = Neighbours(np.array([[1, 2] + [-1] * 8], np.int32), np.array([[0.9, 0.4] + [0] * 8], np.float32))
    np.testing.assert_allclose(place(layout, neighbours), [[1, 0]], atol=0.1)
    heap = np.array([[50, 50], [50.01, 50], [1, 0]], np.float32)  # what stands for "missing" lies in a thick place
    some = Neighbours(np.array([[2, 1] + [-1] * 8], np.int32), np.array([[0.9, 0.5] + [0] * 8], np.float32))
    np.testing.assert_allclose(place(heap, some), [[1, 0]], atol=0.1)
