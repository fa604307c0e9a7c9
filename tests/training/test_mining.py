"""Which passages are taken as hard negatives, and which never."""

from __future__ import annotations

import numpy as np
import pytest

from sbert_desktop.errors import UsageError
from sbert_desktop.training.labels import Example, LabelKind, LabelSet
from sbert_desktop.training.mining import Mined, Rules, mine, with_negatives


def on_a_circle(cosines: list[float]) -> np.ndarray:
    """Gives unit rows with these cosines to the first axis."""
    values = np.array(cosines, np.float64)
    return np.stack([values, np.sqrt(1 - values**2)], axis=1).astype(np.float32)


ANCHOR = on_a_circle([1.0])
POSITIVE = on_a_circle([0.9])
#                      0    1     2     3    4    5    6    7
COSINES = [0.9, 0.88, 0.80, 0.70, 0.6, 0.5, 0.2, -0.5]
PASSAGES = on_a_circle(COSINES)
DOCUMENTS = np.arange(8)
ALL = Rules(per_positive=8, first=1)


def rows(excluded: set[int] | None = None, rules: Rules = ALL, **more: object) -> tuple[int, ...]:
    found = mine(ANCHOR, POSITIVE, PASSAGES, DOCUMENTS, [excluded if excluded is not None else {0}], rules=rules,
                 **more)  # type: ignore[arg-type]  # fmt: skip
    return found.rows[0]


def test_the_hardest_come_first_and_what_is_as_near_as_the_positive_never() -> None:
    assert rows() == (2, 3, 4, 5, 6, 7)  # 1 is above 0.95 of 0.9
    assert rows(rules=Rules(8, first=1, share=1.0)) == (1, 2, 3, 4, 5, 6, 7)
    assert rows(rules=Rules(8, first=1, margin=0.2)) == (4, 5, 6, 7)
    assert rows(rules=Rules(2, first=1)) == (2, 3)


def test_ranks_are_counted_without_what_is_excluded() -> None:
    assert rows(rules=Rules(8, first=3, last=5)) == (3, 4, 5)
    assert rows({0, 1, 2}, rules=Rules(8, first=2, last=3)) == (4, 5)


def test_no_passage_of_the_positives_own_or_a_judged_document_is_taken() -> None:
    documents = np.array([0, 1, 0, 2, 1, 3, 0, 2])
    found = mine(ANCHOR, POSITIVE, PASSAGES, documents, [{0, 2}], rules=ALL)
    assert found.rows == ((4, 5),)


@pytest.mark.parametrize("seed", range(5))
def test_what_is_excluded_is_never_taken_whatever_the_rules(seed: int) -> None:
    rng = np.random.default_rng(seed)

    def units(count: int) -> np.ndarray:
        found = rng.normal(size=(count, 8)).astype(np.float32)
        return found / np.linalg.norm(found, axis=1, keepdims=True)

    anchors, positives, passages = units(20), units(20), units(200)
    documents = rng.integers(0, 40, 200)
    excluded = [set(rng.integers(0, 40, 6).tolist()) for _ in range(20)]
    words = [rng.permutation(200)[:30].tolist() for _ in range(20)]
    rules = Rules(int(rng.integers(1, 9)), first=int(rng.integers(1, 5)), last=int(rng.integers(10, 60)),
                  share=float(rng.uniform(0.5, 1)), margin=float(rng.uniform(0, 0.2)))  # fmt: skip
    found = mine(anchors, positives, passages, documents, excluded, rules=rules, by_words=words,
                 score=lambda place, rows: rng.random(len(rows)))  # fmt: skip
    assert any(found.rows)
    for place, taken in enumerate(found.rows):
        assert len(taken) == len(set(taken)) <= rules.per_positive
        own = float(anchors[place] @ positives[place])
        for row in taken:
            assert documents[row] not in excluded[place]
            cosine = float(anchors[place] @ passages[row])
            assert cosine <= min(own, own * rules.share) - rules.margin + 1e-6


def test_an_excluded_document_of_many_passages_hides_nothing() -> None:
    cosines = [0.8] * 300 + [0.5, 0.4]
    documents = np.array([0] * 300 + [1, 2])
    found = mine(ANCHOR, POSITIVE, on_a_circle(cosines), documents, [{0}], rules=Rules(2, first=1, last=10))
    assert found.rows == ((300, 301),)


def test_candidates_by_words_join_those_by_meaning() -> None:
    rules = Rules(8, first=1, last=3)
    assert rows(rules=rules) == (2, 3)  # ranks 1 to 3 are 1, 2 and 3
    assert rows(rules=rules, by_words=[[0, 6, 3, 5, 7]]) == (2, 3, 5, 6)  # 0 is excluded, so 5 is its third


def test_what_a_cross_encoder_calls_right_is_left_out() -> None:
    asked: list[int] = []

    def score(place: int, some: np.ndarray) -> np.ndarray:
        assert place == 0
        asked.extend(some.tolist())
        return np.where(np.isin(some, [2, 4]), 0.9, 0.1)

    found = mine(ANCHOR, POSITIVE, PASSAGES, DOCUMENTS, [{0}], rules=Rules(2, first=1), score=score)
    assert found.rows == ((3, 5),)
    assert found.called_right == 2
    assert 1 not in asked  # what the cosine leaves out costs no scoring


def test_it_counts_what_it_left_out() -> None:
    found = mine(np.vstack([ANCHOR, ANCHOR]), np.vstack([POSITIVE, on_a_circle([-0.9])]), PASSAGES, DOCUMENTS,
                 [{0}, set()], rules=ALL)  # fmt: skip
    assert (found.without, found.too_near) == (1, 1 + 8)


def test_a_positive_of_negative_cosine_has_only_farther_negatives() -> None:
    found = mine(ANCHOR, on_a_circle([-0.3]), PASSAGES, DOCUMENTS, [set()], rules=Rules(8, first=1))
    assert found.rows == ((7,),)


def test_equals_are_taken_in_the_same_order_again() -> None:
    passages = on_a_circle([0.5] * 50)
    found = [mine(ANCHOR, POSITIVE, passages, np.arange(50), [{3}], rules=Rules(5, first=1)).rows for _ in range(2)]
    assert found[0] == found[1] == ((0, 1, 2, 4, 5),)


def test_nothing_to_look_in_gives_nothing() -> None:
    found = mine(ANCHOR, POSITIVE, np.empty((0, 2), np.float32), np.empty(0, np.int64), [{0}])
    assert found == Mined(((),), 1, 0, 0)


@pytest.mark.parametrize("wrong", [{"per_positive": 0}, {"first": 0}, {"first": 9, "last": 8}, {"share": 1.2},
                                   {"share": 0.0}, {"margin": -0.1}])  # fmt: skip
def test_rules_without_a_meaning_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(UsageError) as raised:
        Rules(**wrong)  # type: ignore[arg-type]
    assert raised.value.code == "bad-mining-rules"


def test_positives_become_triplets_with_their_documents() -> None:
    labels = LabelSet(LabelKind.POSITIVES, (
        Example(("question", "answer"), 1.0, ("", "aa"), "judgement", 3),
        Example(("other", "reply"), 1.0),
    ))  # fmt: skip
    texts = ["ANSWER ", "wrong", "wronger"]
    found = with_negatives(labels, Mined(((0, 1, 2), ()), 1, 0, 0), texts, ["d0", "d1", "d2"])
    assert found.kind is LabelKind.TRIPLETS
    assert [one.texts for one in found.examples] == [("question", "answer", "wrong"), ("question", "answer", "wronger")]
    assert found.examples[0].documents == ("", "aa", "d1")
    assert found.examples[0].source == "judgement"
