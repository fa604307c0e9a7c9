from __future__ import annotations

import numpy as np

from sbert_desktop.explore.map_labels import arrange_labels, theme_anchors


def crowd(labels: int = 150) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    random = np.random.default_rng(9)
    anchors = random.uniform([-50, -50], [850, 650], (labels, 2)).astype(np.float32)
    sizes = np.stack([random.uniform(40, 160, labels), np.full(labels, 18)], axis=1).astype(np.float32)
    return anchors, sizes, random.uniform(0, 1, labels).astype(np.float32)


def test_no_two_labels_overlap_and_none_is_cut_off():
    anchors, sizes, weights = crowd()
    placed = arrange_labels(anchors, sizes, weights, 800, 600)
    assert len(placed) > 15
    boxes = np.array([[one.left, one.top, *(np.array([one.left, one.top]) + sizes[one.index])] for one in placed])
    assert (boxes >= 0).all()
    assert (boxes[:, 2] <= 800).all()
    assert (boxes[:, 3] <= 600).all()
    for first in range(len(boxes)):
        for other in range(first):
            a, b = boxes[first], boxes[other]
            assert a[0] >= b[2] + 4 or b[0] >= a[2] + 4 or a[1] >= b[3] + 4 or b[1] >= a[3] + 4


def test_the_weightiest_comes_first_and_few_are_shown_where_few_are_wanted():
    anchors, sizes, weights = crowd()
    placed = arrange_labels(anchors, sizes, weights, 800, 600, most=5)
    shown = [one.index for one in placed]
    assert len(shown) == 5
    assert weights[shown].tolist() == sorted(weights[shown].tolist(), reverse=True)
    visible = (anchors > [0, 0]).all(axis=1) & (anchors < [800, 600]).all(axis=1)
    assert shown[0] == int(np.argmax(np.where(visible, weights, -1)))


def test_zooming_in_brings_out_labels_that_had_no_room():
    anchors = np.array([[100, 100], [104, 103], [110, 99], [96, 97], [101, 102], [99, 98]], np.float32)
    sizes, weights = np.full((6, 2), [80, 18], np.float32), np.arange(6, dtype=np.float32)
    far = arrange_labels(anchors, sizes, weights, 800, 600)
    close = arrange_labels((anchors - 100) * 30 + 300, sizes, weights, 800, 600)
    assert len(far) < len(close) == 6


def test_a_label_keeps_its_side_while_there_is_room():
    anchors, sizes = np.array([[100, 100]], np.float32), np.array([[60, 18]], np.float32)
    weights = np.ones(1, np.float32)
    assert arrange_labels(anchors, sizes, weights, 800, 600)[0].side == 0
    assert arrange_labels(anchors, sizes, weights, 800, 600, before={0: 2})[0].side == 2
    assert arrange_labels(np.array([[100, 590]], np.float32), sizes, weights, 800, 600, before={0: 2})[0].side != 2


def test_nothing_and_themes_without_a_point_have_no_label():
    empty = np.zeros((0, 2), np.float32)
    assert arrange_labels(empty, empty, np.zeros(0, np.float32), 800, 600) == []
    anchors = theme_anchors(np.array([[1, 1], [3, 3], [50, 50]], np.float32), np.array([0, 0, -1], np.int32), 2)
    assert anchors[0].tolist() == [2, 2]
    assert np.isnan(anchors[1]).all()
    assert len(arrange_labels(anchors, np.full((2, 2), 1, np.float32), np.ones(2, np.float32), 800, 600)) == 1


def test_a_theme_in_two_places_is_labelled_by_the_median_not_by_one_stray_point():
    spots = np.array([[0, 0], [0, 0.1], [0.1, 0], [900, 900]], np.float32)
    assert np.linalg.norm(theme_anchors(spots, np.zeros(4, np.int32), 1)[0]) < 0.2
