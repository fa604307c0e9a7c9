"""The line below which hits are no closer than chance."""

from __future__ import annotations

import numpy as np
import pytest

from sbert_desktop.domain import Filters, Mode, Query
from sbert_desktop.explore import STRANGERS, Chance, search, strangers_in
from sbert_desktop.explore.chance import standing_out

from .made_snapshot import FakeSnapshot, unit


@pytest.fixture
def rng():
    return np.random.default_rng(3)


def test_nearly_all_unrelated_queries_stay_below_the_line(rng):
    vectors = unit(rng, 2000, 384)
    line = Chance(unit(rng, 96, 384)).level(FakeSnapshot(vectors, np.arange(2000)), among=2000)
    below = [(vectors @ q).max() < line for q in unit(rng, 400, 384)]
    assert np.mean(below) > 0.98
    assert line < 0.3


def test_a_library_about_one_subject_does_not_raise_the_line(rng):
    subject = unit(rng, 1, 384)
    vectors = unit(rng, 1000, 384) + subject
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    line = Chance(unit(rng, 96, 384)).level(FakeSnapshot(vectors, np.arange(1000)), among=1000)
    q = unit(rng, 1, 384) + subject
    q /= np.linalg.norm(q)
    assert (vectors @ q[0] > line).mean() > 0.95


def test_strangers_that_the_library_answers_hardly_move_the_line(rng):
    vectors = unit(rng, 1000, 384)
    strangers = unit(rng, 96, 384)
    before = Chance(strangers).level(FakeSnapshot(vectors, np.arange(1000)), among=1000)
    for number in range(20):
        vectors[number * 10 : number * 10 + 10] = strangers[number]
    after = Chance(strangers).level(FakeSnapshot(vectors, np.arange(1000)), among=1000)
    assert abs(after - before) < 0.02


def test_the_line_rises_with_the_number_searched(rng):
    chance, snapshot = Chance(unit(rng, 96, 64)), FakeSnapshot(unit(rng, 500, 64), np.arange(500))
    levels = [chance.level(snapshot, among=n) for n in (1, 10, 1000, 100_000, 10_000_000)]
    assert levels == sorted(levels)
    assert len(set(levels)) == 5
    assert levels[-1] <= 1.0


def test_a_library_of_fewer_than_200_living_passages_has_no_line(rng):
    snapshot = FakeSnapshot(unit(rng, 200), np.arange(200))
    chance = Chance(unit(rng, 96))
    assert chance.level(snapshot, among=50) is not None
    snapshot.alive[3] = False
    assert chance.level(snapshot, among=50) is None


def test_questions_in_a_language_that_the_model_does_not_read_do_not_raise_the_line(rng):
    # What is written in one such language lies on one side, whatever it says.
    language = unit(rng, 1, 384)
    foreign = unit(rng, 150, 384) + language
    vectors = np.concatenate([unit(rng, 150, 384), foreign / np.linalg.norm(foreign, axis=1, keepdims=True)])
    own, other = unit(rng, 84, 384), unit(rng, 40, 384) + language
    strangers = np.concatenate([own, other / np.linalg.norm(other, axis=1, keepdims=True)])
    snapshot = FakeSnapshot(vectors.astype(np.float32), np.arange(300))
    everyone = Chance(strangers).level(snapshot, among=300)
    read = Chance(strangers, np.arange(len(strangers)) < 84).level(snapshot, among=300)
    assert read == Chance(own).level(snapshot, among=300) < everyone - 0.2
    # Where the library holds nothing in that language they are questions like others.
    plain = FakeSnapshot(unit(rng, 300, 384), np.arange(300))
    assert Chance(strangers, np.arange(len(strangers)) < 84).level(plain, among=300) == Chance(strangers).level(
        plain, among=300
    )


def test_vectors_of_another_model_say_nothing(rng):
    assert Chance(unit(rng, 96, 32)).level(FakeSnapshot(unit(rng, 260, 16), np.arange(260)), among=260) is None


def test_what_was_measured_is_kept_until_the_library_changed(rng):
    vectors = unit(rng, 1000, 64)
    chance = Chance(unit(rng, 96, 64))
    first = chance.level(FakeSnapshot(vectors, np.arange(1000)), among=1000)
    other = np.abs(vectors)
    grown = FakeSnapshot(np.concatenate([other, other]), np.arange(2000), generation=2)
    assert chance.level(FakeSnapshot(other[:960], np.arange(960), generation=2), among=1000) == first
    assert chance.level(grown, among=1000) != first


def test_search_tells_the_line_where_meaning_has_a_say(rng):
    snapshot = FakeSnapshot(unit(rng, 200), np.arange(200), words={103: 1.0}, allowed=set(range(20)))
    q, chance = unit(rng, 1)[0], Chance(unit(rng, 96))
    whole = search(snapshot, Query("x"), q, chance=chance).chance
    assert whole == chance.level(snapshot, among=200)
    narrow = Query("x", mode=Mode.SEMANTIC, filters=Filters(types=("pdf",)))
    assert search(snapshot, narrow, q, chance=chance).chance == chance.level(snapshot, among=20)
    assert search(snapshot, Query("x", mode=Mode.KEYWORD), q, chance=chance).chance is None
    assert search(snapshot, Query("x"), None, chance=chance).chance is None
    assert search(snapshot, Query("x"), q).chance is None


def test_strangers_are_many_and_all_different():
    assert len(set(STRANGERS)) == len(STRANGERS) == 96


@pytest.mark.parametrize(
    ("languages", "words"),
    [(("en",), {"What", "How"}), (("de",), {"Wie", "Was"}), (("fr",), {"Quelle"}), (("es",), {"¿Qué"})],
)
def test_strangers_are_told_apart_by_their_language(languages, words):
    own = strangers_in(languages)
    first = {text.split()[0] for text, held in zip(STRANGERS, own, strict=True) if held}
    others = {text.split()[0] for text, held in zip(STRANGERS, own, strict=True) if not held}
    assert words <= first
    assert first.isdisjoint(others)
    assert strangers_in(()).all()
    assert strangers_in(("ja",)).all(), "no question is in Japanese: then all have to do"
    assert strangers_in(("en", "de", "fr", "es", "ja")).all()


def test_what_stands_out_is_more_than_the_library_holds_anyway(rng):
    subject = unit(rng, 1, 384)
    vectors = unit(rng, 1000, 384) + subject
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    q = unit(rng, 1, 384)[0] + subject[0]
    q /= np.linalg.norm(q)
    snapshot = FakeSnapshot(vectors.astype(np.float32), np.arange(1000))
    level = standing_out(snapshot, q, among=1000)
    assert np.count_nonzero(vectors @ q > level) < 5
    assert level > Chance(unit(rng, 96, 384)).level(snapshot, among=1000)
    assert standing_out(FakeSnapshot(vectors[:49], np.arange(49)), q, among=49) is None
