from __future__ import annotations

import numpy as np
import pytest

from sbert_desktop.training.enough import DIFFERENCE, HELD_OUT, count_enough, effective, half_width, wilson
from sbert_desktop.training.labels import LabelKind


def test_about_120_pairs_are_enough_by_default() -> None:
    found = count_enough(LabelKind.PAIRS, 64)
    assert found.ring == "64 of about 120"
    assert not found.enough
    assert "expect noise" in found.sentence
    assert found.share == pytest.approx(64 / 120)
    assert count_enough(LabelKind.PAIRS, 120).enough


@pytest.mark.parametrize("kind", list(LabelKind))
def test_more_labels_never_see_less(kind: LabelKind) -> None:
    widths = [count_enough(kind, count).half_width for count in (0, 5, 20, 50, 100, 500, 2000)]
    assert widths == sorted(widths, reverse=True)
    assert widths[0] == 1.0
    assert count_enough(kind, 2000).half_width <= DIFFERENCE[kind]


@pytest.mark.parametrize("kind", list(LabelKind))
def test_a_smaller_difference_needs_more_labels(kind: LabelKind) -> None:
    wide = count_enough(kind, 10, difference=0.1).needed
    narrow = count_enough(kind, 10, difference=0.05).needed
    assert narrow > 3 * wide


def share_of(sizes: list[int]) -> float:
    """Gives what a label is worth where clusters have so many labels each."""
    return effective(sizes) / sum(sizes)


def test_labels_of_few_documents_count_less() -> None:
    alone = count_enough(LabelKind.PAIRS, 100, worth=share_of([1] * 100))
    together = count_enough(LabelKind.PAIRS, 100, worth=share_of([10] * 10))
    assert together.needed > 5 * alone.needed
    assert effective([10] * 10) == pytest.approx(10)
    assert effective([]) == 0.0


def test_it_says_why_more_are_needed_and_what_helps_instead_where_more_of_the_same_do_not() -> None:
    alone = count_enough(LabelKind.PAIRS, 100, worth=share_of([1] * 25))
    assert (alone.shared, alone.needed, alone.alone) == ("", 120, 120)
    some = count_enough(LabelKind.PAIRS, 100, worth=share_of([3] * 5 + [1] * 10))
    assert some.alone == 120
    assert 1.25 * 120 < some.needed < 4 * 120
    assert some.shared.endswith(f"about {some.needed:,} pairs are needed in place of 120.")
    together = count_enough(LabelKind.PAIRS, 400, worth=share_of([90, 5, 5]))
    assert not together.enough
    assert "pairs of other documents" in together.shared
    assert not any(letter.isdigit() for letter in together.shared), "a number that rises with each label says nothing"
    enough = count_enough(LabelKind.PAIRS, 2_000, worth=share_of([3] * 200))
    assert (enough.enough, enough.shared) == (True, "")


def test_the_expected_width_is_that_of_a_simulated_bootstrap() -> None:
    rng = np.random.default_rng(5)
    kind, count = LabelKind.PAIRS, 200
    held = int(count * HELD_OUT)
    widths = []
    for _ in range(40):  # a fifth of the labels change, 0.15 better in the mean
        change = rng.choice([1.0, -1.0, 0.0], size=held, p=[0.175, 0.025, 0.8])
        means = rng.choice(change, size=(500, held)).mean(axis=1)
        widths.append((np.quantile(means, 0.975) - np.quantile(means, 0.025)) / 2)
    assert half_width(kind, held) == pytest.approx(float(np.mean(widths)), rel=0.12)


def test_the_expected_width_of_a_correlation_is_that_of_a_simulation() -> None:
    rng = np.random.default_rng(6)
    found = []
    n = 60
    for _ in range(600):
        # Both correlate at .75 with the gold; what they get wrong, they mostly get wrong alike.
        gold, shared, one, other = rng.normal(size=(4, n))
        noise = [np.sqrt(0.8) * shared + np.sqrt(0.2) * own for own in (one, other)]
        ranks = [np.argsort(np.argsort(values)) for values in (gold, *(0.77 * gold + 0.64 * part for part in noise))]
        found.append(np.corrcoef(ranks[0], ranks[1])[0, 1] - np.corrcoef(ranks[0], ranks[2])[0, 1])
    assert half_width(LabelKind.GRADED, n) == pytest.approx(1.96 * float(np.std(found)), rel=0.25)


def test_wilson_is_statsmodels_interval() -> None:
    assert wilson(8, 10) == pytest.approx((0.4901625, 0.9433178), abs=1e-6)
    assert wilson(0, 10) == pytest.approx((0.0, 0.2775328), abs=1e-6)
    assert wilson(0, 0) == (0.0, 1.0)


def test_nothing_labelled_is_said() -> None:
    assert count_enough(LabelKind.GRADED, 0).sentence == "Nothing is labelled yet."
