"""The line below which hits are no closer than chance."""

from __future__ import annotations

import numpy as np
import pytest

from sbert_desktop.domain import Filters, Mode, Query
from sbert_desktop.explore import search
from sbert_desktop.explore.chance import chance_level, level_of

from .made_snapshot import FakeSnapshot, unit


@pytest.fixture
def rng():
    return np.random.default_rng(3)


def test_half_of_all_unrelated_queries_stay_below_the_line(rng):
    vectors = unit(rng, 2000, 384)
    snapshot = FakeSnapshot(vectors, np.arange(2000))
    below = [(vectors @ q).max() < chance_level(snapshot, q, among=2000) for q in unit(rng, 400, 384)]
    assert 0.42 < np.mean(below) < 0.62


def test_related_passages_lie_above_and_hardly_move_the_line(rng):
    vectors = unit(rng, 1000, 64)
    q = unit(rng, 1, 64)[0]
    before = chance_level(FakeSnapshot(vectors, np.arange(1000)), q, among=1000)
    vectors[:50] = q + 0.1 * vectors[:50]
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    after = chance_level(FakeSnapshot(vectors, np.arange(1000)), q, among=1000)
    assert 0.0 <= after - before < 0.1
    assert (vectors[:50] @ q > after).all()


def test_the_line_rises_with_the_number_searched(rng):
    cosines = rng.normal(0.1, 0.1, 1000).astype(np.float32)
    levels = [level_of(cosines, among=n) for n in (1, 10, 1000, 100_000, 10_000_000)]
    assert levels == sorted(levels)
    assert levels[0] == pytest.approx(float(np.median(cosines)), abs=1e-6)
    assert levels[-1] <= 1.0


def test_fewer_than_50_passages_say_nothing(rng):
    assert chance_level(FakeSnapshot(unit(rng, 49), np.arange(49)), unit(rng, 1)[0], among=49) is None
    assert chance_level(FakeSnapshot(unit(rng, 50), np.arange(50)), unit(rng, 1)[0], among=50) is not None


def test_the_line_is_the_same_each_time_and_looks_at_living_rows_only(rng):
    vectors = unit(rng, 9000, 64)
    q = unit(rng, 1, 64)[0]
    snapshot = FakeSnapshot(vectors, np.arange(9000))
    assert chance_level(snapshot, q, among=9000) == chance_level(snapshot, q, among=9000)
    vectors[:4000] = q
    snapshot.alive[:4000] = False
    assert chance_level(snapshot, q, among=5000) < 0.7


def test_equal_cosines_are_their_own_line():
    assert level_of(np.full(100, 0.25, np.float32), among=100) == 0.25


def test_search_tells_the_line_where_meaning_has_a_say(rng):
    snapshot = FakeSnapshot(unit(rng, 200), np.arange(200), words={103: 1.0}, allowed=set(range(20)))
    q = unit(rng, 1)[0]
    whole = search(snapshot, Query("x"), q).chance
    assert whole == chance_level(snapshot, q, among=200)
    narrow = search(snapshot, Query("x", mode=Mode.SEMANTIC, filters=Filters(types=("pdf",))), q).chance
    assert narrow == chance_level(snapshot, q, among=20)
    assert narrow < whole
    assert search(snapshot, Query("x", mode=Mode.KEYWORD), q).chance is None
    assert search(snapshot, Query("x"), None).chance is None
