from __future__ import annotations

import math
import re

import numpy as np
import pytest
from numpy.typing import NDArray

from sbert_desktop.domain import Vectors
from sbert_desktop.training import _measures
from sbert_desktop.training.comparing import CannotMeasure, Comparison, Measured, compare, may_adopt
from sbert_desktop.training.guards import Guard
from sbert_desktop.training.labels import Example, LabelKind, LabelSet
from sbert_desktop.training.splitting import Split, split

PASSED = (Guard("collapse", "", True, ""),)


def angled(cosines: NDArray[np.float64]) -> tuple[Vectors, Vectors]:
    """Gives two columns of unit vectors whose rows have these cosines."""
    first = np.tile([1.0, 0.0], (len(cosines), 1))
    second = np.stack([cosines, np.sqrt(1 - cosines**2)], axis=1)
    return first.astype(np.float32), second.astype(np.float32)


def pairs_of(
    count: int, base: float, tuned: float, *, seed: int = 0, same: float = 0.5, together: int = 1
) -> tuple[LabelSet, Split, tuple[Vectors, Vectors], tuple[Vectors, Vectors]]:
    """Gives pairs whose cosines part the answers by so many standard deviations under each model."""
    rng = np.random.default_rng(seed)
    gold = rng.random(count) < same
    labels = LabelSet(
        LabelKind.PAIRS,
        tuple(
            Example((f"a{i}", f"b{i}"), float(yes), (f"d{i // together}", f"d{i // together}"))
            for i, yes in enumerate(gold)
        ),
    )
    shared = rng.normal(size=count)
    columns = []
    for gap in (base, tuned):
        noise = 0.8 * shared + 0.6 * rng.normal(size=count)
        columns.append(angled(np.clip(0.4 + 0.1 * (gap * gold + noise), -1, 1)))
    return labels, split(labels, seed=seed), columns[0], columns[1]


def primary(found: Comparison) -> Measured:
    assert isinstance(found.primary, Measured), found.verdict
    return found.primary


# ------------------------------------------------------------------ measures


def test_average_precision_is_scikit_learns_under_weights_and_ties() -> None:
    from sklearn.metrics import average_precision_score

    rng = np.random.default_rng(0)
    for _ in range(20):
        scores, gold = rng.integers(0, 6, 40) / 5, rng.random(40) < 0.4
        weights = rng.integers(0, 4, (5, 40)).astype(float)
        found = _measures.average_precision(scores, gold, weights)
        wanted = [average_precision_score(gold, scores, sample_weight=row) for row in weights]
        assert found == pytest.approx(wanted, abs=1e-12)


def test_spearman_is_scipys_on_what_was_drawn() -> None:
    from scipy.stats import spearmanr

    rng = np.random.default_rng(1)
    for _ in range(20):
        a, b = rng.integers(0, 8, 30).astype(float), rng.normal(size=30)
        weights = rng.multinomial(30, np.full(30, 1 / 30), size=4).astype(float)
        drawn = [np.repeat(np.arange(30), row.astype(int)) for row in weights]
        wanted = [spearmanr(a[places], b[places]).statistic for places in drawn]
        assert _measures.spearman(a, b, weights) == pytest.approx(wanted, abs=1e-9)


def test_f1_and_its_threshold_are_those_of_sentence_transformers() -> None:
    from sentence_transformers.sentence_transformer.evaluation import BinaryClassificationEvaluator as Evaluator

    rng = np.random.default_rng(2)
    for _ in range(20):
        gold = rng.random(60) < 0.4
        scores = rng.normal(size=60) + gold
        wanted, _, _, threshold = Evaluator.find_best_f1_and_threshold(scores, gold.astype(int), True)
        cut = _measures.best_threshold(scores, gold)
        assert cut == pytest.approx(threshold)
        assert _measures.f1(scores >= cut, gold, np.ones((1, 60)))[0] == pytest.approx(wanted)
        best, threshold = Evaluator.find_best_acc_and_threshold(scores, gold.astype(int), True)
        cut = _measures.best_threshold(scores, gold, np.ones(60))
        assert ((scores >= cut) == gold).mean() == pytest.approx(best)


def test_rankings_are_scikit_learns_where_nothing_ties() -> None:
    from sklearn.metrics import average_precision_score, ndcg_score

    rng = np.random.default_rng(3)
    for _ in range(30):
        scores, relevant = rng.permutation(25) / 25, rng.random(25) < 0.2
        relevant[rng.integers(25)] = True
        ndcg, reciprocal, average = _measures.ranking(scores, relevant)
        assert ndcg == pytest.approx(ndcg_score([relevant.astype(float)], [scores], k=10))
        assert average == pytest.approx(average_precision_score(relevant, scores))
        rank = int(np.flatnonzero(relevant[np.argsort(-scores)])[0]) + 1
        assert reciprocal == pytest.approx(1 / rank if rank <= 10 else 0.0)


def test_equal_scores_earn_what_a_guess_earns() -> None:
    relevant = np.array([True, False, False, False])
    assert _measures.ranking(np.zeros(4), relevant)[1] == pytest.approx(
        _measures.ranking(np.zeros(4), relevant[::-1])[1]
    )
    assert _measures.ranking(np.zeros(4), relevant)[0] < 0.8


# ------------------------------------------------------------------ pairs


def test_a_better_model_is_better_in_the_unit_of_the_labels() -> None:
    labels, parts, base, tuned = pairs_of(1200, 0.6, 3.0)
    found = compare(labels, parts, base, tuned)
    assert found.clearly_better
    assert may_adopt(found, PASSED) == (True, "")
    assert isinstance(found.shown, Measured)
    right = f"{100 * found.shown.tuned:.0f}", f"{100 * found.shown.base:.0f}"
    assert found.verdict.startswith(f"Finds {right[0]} of 100 pairs right instead of {right[1]}; between ")
    assert found.verdict.endswith("better, 95 % sure.")
    assert found.better + found.same + found.worse == found.n == len(parts.held_out)
    assert (found.better - found.worse) / found.n == pytest.approx(found.shown.difference)
    assert {measure.metric for measure in found.others} == {"f1"}


def test_a_small_difference_is_told_with_decimals_that_show_it() -> None:
    rng = np.random.default_rng(0)
    grades = rng.uniform(0, 5, 3000)
    labels = LabelSet(LabelKind.GRADED, tuple(Example((f"a{i}", f"b{i}"), g) for i, g in enumerate(grades)))
    noise = rng.normal(size=len(grades))
    base, tuned = (angled(np.clip(0.1 * grades + size * noise, 0, 1)) for size in (0.2, 0.199))
    found = compare(labels, split(labels), base, tuned)
    assert found.clearly_better
    now, before, low, high = (float(word) for word in re.findall(r"\d\.\d+", found.verdict))
    assert round(now, 2) == round(before, 2)
    assert now > before
    assert 0 < low < high


def test_a_worse_model_is_refused_and_said_to_be_worse() -> None:
    labels, parts, base, tuned = pairs_of(1200, 3.0, 0.6)
    found = compare(labels, parts, base, tuned)
    assert "worse, 95 % sure" in found.verdict
    assert may_adopt(found, PASSED) == (False, found.verdict)


def test_the_same_model_is_no_better() -> None:
    labels, parts, base, _ = pairs_of(200, 1.0, 1.0)
    found = compare(labels, parts, base, base)
    assert primary(found).difference == primary(found).low == primary(found).high == 0.0
    assert not found.clearly_better
    assert "no difference" in found.verdict


def test_the_interval_is_that_of_a_bootstrap_done_by_hand() -> None:
    from sklearn.metrics import average_precision_score

    labels, parts, base, tuned = pairs_of(160, 1.0, 1.5, together=2)
    found = primary(compare(labels, parts, base, tuned))
    held = np.array(parts.held_out)
    gold = np.array([labels.examples[place].value for place in held])
    scores = [np.einsum("ij,ij->i", *columns)[held] for columns in (base, tuned)]
    groups = parts.clusters[held]
    rng = np.random.default_rng(99)
    differences = []
    for _ in range(600):
        drawn = np.concatenate([np.flatnonzero(groups == g) for g in rng.choice(np.unique(groups), len(set(groups)))])
        if 0 < gold[drawn].sum() < len(drawn):
            one, other = (average_precision_score(gold[drawn], values[drawn]) for values in scores)
            differences.append(other - one)
    low, high = np.quantile(differences, (0.025, 0.975))
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.2 * (high - low))


def test_labels_of_one_document_do_not_make_the_interval_narrow() -> None:
    rng = np.random.default_rng(4)
    labels, parts, base, tuned = pairs_of(400, 1.0, 1.4, together=10)
    alone = Split(parts.train, parts.held_out, (), parts.apart, np.arange(400))
    # In each document the tuned model does alike.
    shift = np.repeat(rng.normal(size=40), 10)
    gold = np.array([example.value for example in labels.examples])
    tuned = angled(np.clip(np.einsum("ij,ij->i", *tuned) + 0.1 * shift * (2 * gold - 1), -1, 1))
    together, apart = (primary(compare(labels, part, base, tuned)) for part in (parts, alone))
    assert together.high - together.low > 1.3 * (apart.high - apart.low)


def test_an_interval_covers_the_truth_nineteen_times_of_twenty() -> None:
    truth_of = [primary(compare(*pairs_of(8000, 1.0, 1.4, seed=seed), resamples=2)).difference for seed in (501, 502)]
    truth = float(np.mean(truth_of))
    inside = 0
    for seed in range(60):
        found = primary(compare(*pairs_of(240, 1.0, 1.4, seed=seed), resamples=300))
        inside += found.low <= truth <= found.high
    assert inside >= 51


def test_the_same_seed_gives_the_same_interval() -> None:
    made = pairs_of(120, 1.0, 1.4)
    assert compare(*made, seed=7) == compare(*made, seed=7)
    assert primary(compare(*made, seed=7)).low != primary(compare(*made, seed=8)).low


def test_thresholds_come_from_the_part_that_was_learned_from() -> None:
    labels, parts, base, tuned = pairs_of(400, 2.0, 2.0)
    before = compare(labels, parts, base, tuned)
    changed = [column.copy() for column in tuned]
    for place in parts.held_out:  # held-out cosines all shift; the threshold must not follow
        changed[1][place] = [0.99, math.sqrt(1 - 0.99**2)] if place % 2 else [0.98, math.sqrt(1 - 0.98**2)]
    after = compare(labels, parts, base, changed)
    assert before.thresholds == after.thresholds


def test_a_rare_answer_counts_as_much_as_the_frequent_one() -> None:
    labels, parts, base, tuned = pairs_of(1000, 0.2, 0.2, same=0.1)
    found = compare(labels, parts, base, tuned)
    assert isinstance(found.shown, Measured)
    assert found.shown.metric == "balanced_accuracy"
    assert found.shown.base < 0.7  # "always different" would have been right nine times of ten
    assert "counting alike" in found.verdict


def test_few_documents_are_not_trusted() -> None:
    labels, parts, base, tuned = pairs_of(120, 0.2, 4.0, together=10)
    assert len(set(parts.clusters[list(parts.held_out)].tolist())) < 8
    found = compare(labels, parts, base, tuned)
    assert not found.clearly_better
    assert "too few independent labels" in found.verdict


# ------------------------------------------------------------------ other kinds


def test_grades_are_compared_by_spearman() -> None:
    from scipy.stats import spearmanr

    rng = np.random.default_rng(8)
    grades = rng.uniform(0, 5, 300)
    labels = LabelSet(LabelKind.GRADED, tuple(Example((f"a{i}", f"b{i}"), g) for i, g in enumerate(grades.tolist())))
    parts = split(labels)
    base, tuned = (angled(np.clip(grades / 6 + noise * rng.normal(size=300), -1, 1)) for noise in (0.4, 0.1))
    found = compare(labels, parts, base, tuned)
    held = list(parts.held_out)
    wanted = spearmanr(np.einsum("ij,ij->i", *tuned)[held], grades[held]).statistic
    assert primary(found).tuned == pytest.approx(wanted, abs=1e-6)
    assert found.clearly_better
    assert found.verdict.startswith("Follows your grades with a correlation of 0.9")
    assert found.better > found.worse


def test_triplets_are_compared_by_their_order() -> None:
    rng = np.random.default_rng(9)
    labels = LabelSet(LabelKind.TRIPLETS, tuple(Example((f"a{i}", f"p{i}", f"n{i}"), 1.0) for i in range(400)))
    parts = split(labels)
    columns = []
    for share in (0.6, 0.9):
        right = rng.random(400) < share
        near, far = angled(np.where(right, 0.8, 0.3)), angled(np.where(right, 0.3, 0.8))
        columns.append((near[0], near[1], far[1]))
    found = compare(labels, parts, *columns)
    assert primary(found).tuned == pytest.approx(0.9, abs=0.08)
    assert "of 100 triplets in the right order" in found.verdict
    assert found.clearly_better


def questions(noise: float, *, seed: int) -> tuple[Vectors, Vectors]:
    rng = np.random.default_rng(seed)
    topics = np.repeat(np.random.default_rng(0).normal(size=(80, 12)), 3, axis=0)
    asked = topics.copy()
    passages = topics + noise * rng.normal(size=topics.shape)
    passages[1::3] = rng.normal(size=passages[1::3].shape)
    return asked.astype(np.float32), passages.astype(np.float32)


@pytest.mark.parametrize("kind", [LabelKind.RELEVANCE, LabelKind.POSITIVES])
def test_questions_are_ranked_among_all_that_was_kept_aside(kind: LabelKind) -> None:
    examples = [
        Example((f"question {i // 3}", f"passage {i}"), float(i % 3 != 1), ("", f"d{i // 3}")) for i in range(240)
    ]
    base, tuned = questions(3.0, seed=1), questions(0.5, seed=2)
    if kind is LabelKind.POSITIVES:
        keep = [i for i in range(240) if i % 3 != 1]
        examples = [examples[i] for i in keep]
        base, tuned = ((a[keep], b[keep]) for a, b in (base, tuned))
    labels = LabelSet(kind, tuple(examples))
    parts = split(labels)
    found = compare(labels, parts, base, tuned)
    assert found.clearly_better
    assert primary(found).metric == "ndcg@10"
    assert {measure.metric for measure in found.others} == {"mrr@10", "map"}
    assert found.n == len({labels.examples[place].texts[0] for place in parts.held_out})
    assert found.verdict.startswith("Finds the right ")
    assert "first in" in found.verdict


# ------------------------------------------------------------------ what cannot be measured


def assert_cannot(found: Comparison, said: str) -> None:
    assert isinstance(found.primary, CannotMeasure)
    assert not found.measured
    assert found.verdict.startswith("Cannot measure: ")
    assert said in found.verdict
    assert "nan" not in found.verdict.lower().split()
    assert may_adopt(found, PASSED) == (False, found.verdict)


def test_constant_similarities_cannot_be_measured() -> None:
    labels, parts, base, _ = pairs_of(100, 1.0, 1.0)
    assert_cannot(compare(labels, parts, base, angled(np.full(100, 0.5))), "tuned model gives every pair the same")


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 0.0])
def test_vectors_that_are_none_cannot_be_measured(value: float) -> None:
    labels, parts, base, tuned = pairs_of(100, 1.0, 1.0)
    tuned[1][parts.held_out[0]] = value
    assert_cannot(compare(labels, parts, base, tuned), "zero or no numbers")


@pytest.mark.parametrize("kind", [LabelKind.PAIRS, LabelKind.GRADED, LabelKind.RELEVANCE])
def test_labels_of_one_value_cannot_be_measured(kind: LabelKind) -> None:
    labels = LabelSet(kind, tuple(Example((f"a{i}", f"b{i}"), 0.0) for i in range(80)))
    rng = np.random.default_rng(0)
    base = angled(rng.uniform(-1, 1, 80))
    found = compare(labels, split(labels), base, base)
    assert isinstance(found.primary, CannotMeasure)


def test_nothing_kept_aside_cannot_be_measured() -> None:
    labels, parts, base, tuned = pairs_of(100, 1.0, 1.0)
    assert_cannot(compare(labels, Split(parts.train, (), (), parts.apart, parts.clusters), base, tuned), "kept aside")


def test_entailment_is_not_compared() -> None:
    labels = LabelSet(LabelKind.NLI, tuple(Example((f"a{i}", f"b{i}"), float(i % 3)) for i in range(90)))
    base = angled(np.random.default_rng(0).uniform(-1, 1, 90))
    assert_cannot(compare(labels, split(labels), base, base), "entailment is no similarity")


def test_a_guard_that_tripped_forbids_to_adopt_with_its_reason() -> None:
    found = compare(*pairs_of(1200, 0.6, 3.0))
    tripped = Guard("collapse", "", False, "All texts look alike.")
    assert may_adopt(found, (*PASSED, tripped)) == (False, "All texts look alike.")
    assert may_adopt(found, (Guard("neighbours", "", False, "Hm.", "warns"),)) == (True, "")
    assert may_adopt(found, ())[0] is False
