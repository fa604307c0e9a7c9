from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from sbert_desktop.domain import Vectors
from sbert_desktop.errors import TrainingError
from sbert_desktop.training.guards import check_guards, load_general_set, mean_cosine, neighbour_overlap
from sbert_desktop.training.labels import nearly_same_text


def made(count: int = 160, dimension: int = 64, *, seed: int = 0) -> tuple[tuple[Vectors, Vectors], np.ndarray]:
    rng = np.random.default_rng(seed)
    grades = rng.uniform(0, 5, count)
    first = rng.normal(size=(count, dimension))
    share = (grades / 5)[:, None]
    second = share * first + (1 - share) * rng.normal(size=(count, dimension))
    return (first.astype(np.float32), second.astype(np.float32)), grades


def by_code(found: tuple) -> dict:
    return {guard.code: guard for guard in found}


def test_the_same_model_passes() -> None:
    base, grades = made()
    found = check_guards(base, base, grades)
    assert [guard.passed for guard in found] == [True, True, True]
    assert by_code(found)["neighbours"].tuned == 1.0
    assert not any(guard.stops for guard in found)


def test_a_model_that_was_nudged_passes() -> None:
    base, grades = made()
    rng = np.random.default_rng(1)
    tuned = tuple(part + 0.3 * rng.normal(size=part.shape).astype(np.float32) for part in base)
    assert all(guard.passed for guard in check_guards(base, (tuned[0], tuned[1]), grades))


def test_a_collapsed_model_is_caught_even_if_its_order_stayed() -> None:
    base, grades = made()
    centre = np.full(64, 2.0, np.float32)
    tuned = base[0] + centre, base[1] + centre
    found = by_code(check_guards(base, tuned, grades))
    assert not found["collapse"].passed
    assert found["collapse"].stops
    assert "collapsed" in found["collapse"].sentence
    assert found["collapse"].tuned > 0.6


def test_a_model_whose_texts_draw_together_while_their_order_is_lost_is_collapsing() -> None:
    base, grades = made()
    rng = np.random.default_rng(4)
    drawn = tuple(part + 0.6 for part in base)
    assert by_code(check_guards(base, (drawn[0], drawn[1]), grades))["collapse"].passed  # the order stayed
    noisy = tuple(part + 0.6 + 1.2 * rng.normal(size=part.shape).astype(np.float32) for part in base)
    found = by_code(check_guards(base, (noisy[0], noisy[1]), grades))
    assert found["collapse"].tuned < 0.4
    assert not found["collapse"].passed
    assert "is collapsing" in found["collapse"].sentence


def test_a_model_that_forgot_language_is_caught() -> None:
    base, grades = made()
    other, _ = made(seed=5)
    rng = np.random.default_rng(2)
    tuned = other[0], other[1][rng.permutation(len(grades))]
    found = by_code(check_guards(base, tuned, grades))
    assert found["collapse"].passed
    assert not found["general"].passed
    assert "points lost" in found["general"].sentence
    assert not found["neighbours"].passed


def test_a_bad_base_is_no_excuse_for_a_model_that_knows_nothing() -> None:
    base, grades = made()
    rng = np.random.default_rng(3)
    nothing = base[0], rng.normal(size=base[1].shape).astype(np.float32)
    found = by_code(check_guards(nothing, nothing, grades))
    assert not found["general"].passed


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 0.0])
@pytest.mark.parametrize("whose", ["base", "tuned"])
def test_vectors_that_are_none_fail_with_the_reason(value: float, whose: str) -> None:
    base, grades = made()
    broken = base[0].copy(), base[1].copy()
    broken[1][7] = value
    found = check_guards(broken, base, grades) if whose == "base" else check_guards(base, broken, grades)
    assert not any(guard.passed for guard in found)
    assert all("length zero" in guard.sentence or "no numbers" in guard.sentence for guard in found)
    assert all(guard.tuned is None for guard in found)


def test_one_vector_for_all_texts_fails_every_guard_without_a_warning() -> None:
    base, grades = made()
    tuned = np.ones_like(base[0]), np.ones_like(base[1])
    with np.errstate(all="raise"):
        found = check_guards(base, tuned, grades)
    assert [guard.passed for guard in found] == [False, False, False]


def test_the_mean_cosine_is_that_of_all_pairs_of_other_rows() -> None:
    base, _ = made(12, 5)
    unit = [part / np.linalg.norm(part, axis=1, keepdims=True) for part in base]
    both = np.concatenate(unit)
    rows = np.tile(np.arange(12), 2)
    cosines = (both @ both.T)[rows[:, None] != rows[None, :]]
    assert mean_cosine(*base) == pytest.approx(float(cosines.mean()), abs=1e-5)


def test_neighbours_by_chance_are_few_and_by_identity_all() -> None:
    (one, other), _ = made(200)
    assert neighbour_overlap(one, one * 3) == 1.0
    assert neighbour_overlap(one, np.roll(other, 7, axis=0)) < 0.15


# ------------------------------------------------------------------ the general set


def test_the_general_set_is_balanced_and_says_nothing_twice() -> None:
    general = load_general_set()
    assert 150 <= len(general) <= 200
    counts = Counter(np.round(general.grades).astype(int).tolist())
    assert set(counts) == {0, 1, 2, 3, 4, 5}
    assert min(counts.values()) >= 20
    texts = [nearly_same_text(text) for text in (*general.first, *general.second)]
    assert len(set(texts)) == len(texts)


def test_a_missing_or_damaged_set_is_said(tmp_path: Path) -> None:
    with pytest.raises(TrainingError, match="missing or damaged"):
        load_general_set(tmp_path / "absent.csv")
    damaged = tmp_path / "damaged.csv"
    damaged.write_text("sentence1,sentence2,score\na,b,much\n", encoding="utf-8")
    with pytest.raises(TrainingError, match="missing or damaged"):
        load_general_set(damaged)
