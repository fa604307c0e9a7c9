"""Draws for intervals: what is shared varies together, and labels of few documents lead to a verdict all the same."""

from __future__ import annotations

import numpy as np
import pytest

from sbert_desktop.training.checks import held_draws, how_many
from sbert_desktop.training.comparing import UNKNOWN, Measured, compare
from sbert_desktop.training.labels import Example, LabelKind, LabelSet
from sbert_desktop.training.resampling import FEWEST_DOCUMENTS, Draws
from sbert_desktop.training.splitting import components, split


def pairs_between(documents: int, count: int, *, seed: int = 0) -> LabelSet:
    """Gives pairs of passages drawn from these documents: with many of them all hang together."""
    rng = np.random.default_rng(seed)
    found = []
    for number in range(count):
        first, second = rng.choice(documents, 2, replace=False)
        found.append(Example((f"left {number}", f"right {number}"), float(number % 2), (f"d{first}", f"d{second}")))
    return LabelSet(LabelKind.PAIRS, tuple(found))


def draws_of(labels: LabelSet) -> Draws:
    return Draws.of_labels(labels, np.arange(len(labels)), components(labels))


def with_cosines(labels: LabelSet, noise: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Gives vectors whose cosines tell the answers apart as well as the noise allows."""
    rng = np.random.default_rng(seed)
    values = np.array([example.value for example in labels.examples])
    cosines = np.clip(0.3 + 0.3 * values + noise * rng.normal(size=len(values)), -0.99, 0.99)
    first = np.zeros((len(values), 2), np.float32)
    first[:, 0] = 1.0
    return first, np.stack([cosines, np.sqrt(1 - cosines**2)], axis=1).astype(np.float32)


@pytest.mark.parametrize(("documents", "count"), [(60, 480), (200, 400)])
def test_judging_more_in_a_small_library_leads_to_a_verdict(documents: int, count: int) -> None:
    """Their documents join all labels that are kept aside into one group."""
    labels = pairs_between(documents, count)
    parts = split(labels)
    assert len(parts.sizes(parts.held_out)) < 3
    base, tuned = with_cosines(labels, 0.6, 1), with_cosines(labels, 0.05, 2)
    found = compare(labels, parts, base, tuned)
    assert found.clusters >= FEWEST_DOCUMENTS
    assert found.clearly_better
    assert "better, 95 % sure" in found.verdict
    same = compare(labels, parts, with_cosines(labels, 0.6, 3), with_cosines(labels, 0.6, 4))
    assert not same.clearly_better
    assert isinstance(found.primary, Measured)
    assert compare(labels, parts, base, tuned).primary == found.primary


def test_more_labels_of_the_same_documents_are_never_worth_less() -> None:
    worth = [draws_of(pairs_between(60, count)).worth for count in (60, 120, 240, 480)]
    assert min(worth) > 8
    assert how_many(pairs_between(60, 480), split(pairs_between(60, 480))).half_width < 0.5


def test_what_one_document_has_a_hand_in_everywhere_is_not_told_from_chance() -> None:
    """Its own effect would cancel out of every draw."""
    examples = [Example((f"a{i}", f"b{i}"), float(i // 4 % 2), (f"hub {i % 4 == 0}", f"{i % 4 == 0} {i // 4 % 24}"))
                for i in range(200)]  # fmt: skip
    labels = LabelSet(LabelKind.PAIRS, tuple(examples))
    parts = split(labels)
    draws = held_draws(labels, parts)
    assert (draws.by_document, draws.enough, draws.worth) == (False, False, 1.0)
    found = compare(labels, parts, with_cosines(labels, 0.6, 1), with_cosines(labels, 0.05, 2))
    assert not found.clearly_better
    assert "too few independent labels" in found.verdict
    assert isinstance(found.primary, Measured)
    assert (found.primary.low, found.primary.high) == UNKNOWN
    assert how_many(labels, parts).sentence == "With 200 pairs nothing could be told from chance."


def test_questions_count_as_such_however_many_passages_were_judged_for_each() -> None:
    examples = [Example((f"question {i // 5}?", f"passage {i}"), float(i % 5 == 0)) for i in range(600)]
    labels = LabelSet(LabelKind.RELEVANCE, tuple(examples))
    found = how_many(labels, split(labels))
    assert found.count == 120
    assert found.half_width == pytest.approx(how_many(labels).half_width, rel=0.1)


def test_in_a_large_library_chains_of_documents_do_not_make_labels_worthless() -> None:
    labels = pairs_between(1_000, 400)
    found = how_many(labels, split(labels))
    assert len(split(labels).sizes(split(labels).held_out)) < 60
    assert found.enough
    assert found.needed < 400


def test_so_few_documents_that_none_can_be_drawn_stay_one_group() -> None:
    draws = draws_of(pairs_between(10, 200))
    assert not draws.by_document
    assert draws.count == 1
    assert not draws.enough


def test_where_groups_do_they_are_drawn_whole() -> None:
    groups = np.repeat(np.arange(40), 5)
    draws = Draws(groups, [[0]] * 200)
    assert not draws.by_document
    assert draws.worth == pytest.approx(40)
    weights = draws.weights(np.random.default_rng(0), 50)
    assert weights.sum(axis=1).tolist() == [200.0] * 50
    assert all(len(set(weights[0][groups == group])) == 1 for group in range(40))
    units = draws.units(np.random.default_rng(0))
    assert np.ptp(np.bincount(units, minlength=200).reshape(40, 5), axis=1).max() == 0


def test_labels_of_one_document_vary_together_and_others_do_not() -> None:
    # a chain: label i touches documents i and i + 1
    draws = Draws(np.zeros(40, np.int64), [[place, place + 1] for place in range(40)])
    assert draws.by_document
    weights = draws.weights(np.random.default_rng(0), 20_000)
    assert np.abs(weights.mean(axis=0) - 1).max() < 0.06
    together = np.corrcoef(weights.T)
    assert np.diag(together, 1)[1:-1].min() > 0.2
    assert np.abs(np.diag(together, 2)).max() < 0.05
    units = [np.bincount(draws.units(np.random.default_rng(seed)), minlength=40) for seed in range(300)]
    assert np.mean(units) == pytest.approx(1.0, abs=0.1)
    times = np.corrcoef(np.array(units).T)
    assert np.diag(times, 1)[1:-1].mean() > 0.2
    assert abs(np.diag(times, 2).mean()) < 0.1


def test_what_a_unit_shares_with_none_is_its_own() -> None:
    touched = [[place // 2, 100 + place] for place in range(40)]
    weights = Draws(np.zeros(40, np.int64), touched).weights(np.random.default_rng(0), 10)
    assert (weights[:, ::2] == weights[:, 1::2]).all()
    alone = Draws(np.zeros(40, np.int64), [[place] for place in range(40)])
    assert alone.count == 40
    assert len(np.unique(alone.weights(np.random.default_rng(0), 1))) == 40


def test_a_text_of_two_documents_joins_what_is_said_of_both() -> None:
    labels = LabelSet(LabelKind.PAIRS, (
        Example(("The same words", "one"), 1.0, ("copy 1", "x")),
        Example(("the same words.", "two"), 0.0, ("copy 2", "y")),
        *(Example((f"a{i}", f"b{i}"), 1.0, (f"c{i // 2}", "")) for i in range(40)),
    ))  # fmt: skip
    draws = Draws.of_labels(labels, np.arange(42), np.zeros(42, np.int64))
    weights = draws.weights(np.random.default_rng(0), 5)
    assert (weights[:, 0] == weights[:, 1]).all()


def test_intervals_hold_the_truth_where_labels_share_documents() -> None:
    """Pairs of documents with effects of their own; drawn as if they were independent the intervals are too narrow."""
    rng = np.random.default_rng(0)
    inside, alone, samples = 0, 0, 150
    for seed in range(samples):
        labels = pairs_between(25, 40, seed=seed)
        ends = np.array([[int(name[1:]) for name in example.documents] for example in labels.examples])
        effect = rng.normal(size=25)
        values = effect[ends].sum(axis=1) + rng.normal(size=40)
        for draws in (draws_of(labels), Draws(np.arange(40))):
            weights = draws.weights(rng, 400)
            low, high = np.quantile((weights * values).sum(axis=1) / weights.sum(axis=1), (0.025, 0.975))
            if draws.by_document:
                inside += low <= 0 <= high
            else:
                alone += low <= 0 <= high
    assert inside >= 0.92 * samples
    assert alone < 0.85 * samples
