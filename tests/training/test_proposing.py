from __future__ import annotations

from collections import Counter

import numpy as np

from sbert_desktop.training.proposing import Candidates, Why, propose_pairs, propose_passages
from tests.effort import least_cpu


def made(count: int, *, texts: int = 100_000, clusters: int = 20, documents: int = 5_000, seed: int = 0) -> Candidates:
    rng = np.random.default_rng(seed)
    return Candidates(
        rng.uniform(0.1, 1.0, count).astype(np.float32),
        rng.integers(texts, size=count).astype(np.uint64),
        rng.integers(texts, size=count).astype(np.uint64),
        rng.integers(clusters, size=count),
        rng.integers(documents, size=count),
        rng.integers(documents, size=count),
    )


def test_pairs_are_near_the_threshold_and_mixed_with_sure_ones() -> None:
    candidates = made(50_000)
    found = propose_pairs(candidates, 0.6, 50, seed=1)
    assert Counter(proposal.why for proposal in found) == {
        Why.UNSURE: 30, Why.SURE_SAME: 10, Why.SURE_DIFFERENT: 10,
    }  # fmt: skip
    for proposal in found:
        away = float(candidates.cosines[proposal.place]) - 0.6
        if proposal.why is Why.UNSURE:
            assert abs(away) < 0.02
        else:
            assert away >= 0.12 if proposal.why is Why.SURE_SAME else away <= -0.12
    kinds = [proposal.why for proposal in found]
    assert len(set(kinds[:12])) == 3  # not one kind after the other


def test_no_text_is_shown_twice_in_a_session() -> None:
    candidates = made(5_000, texts=400)
    shown: set[int] = set()
    for seed in range(4):
        for proposal in propose_pairs(candidates, 0.6, 20, shown=shown, seed=seed):
            texts = {int(candidates.first[proposal.place]), int(candidates.second[proposal.place])}
            assert len(texts) == 2
            assert not texts & shown
            shown |= texts
    assert len(shown) == 160


def test_what_was_judged_is_never_asked_again() -> None:
    candidates = made(400, texts=2_000)
    judged = {(int(b), int(a)) for a, b in zip(candidates.first[:380], candidates.second[:380], strict=True)}
    found = propose_pairs(candidates, 0.6, 50, judged=judged)
    assert found
    assert all(proposal.place >= 380 for proposal in found)


def test_pairs_are_spread_over_clusters_and_documents() -> None:
    candidates = made(20_000, clusters=10)
    skewed = np.where(np.arange(20_000) % 20 > 0, 0, candidates.clusters)  # nearly all lie in one cluster
    candidates = Candidates(
        candidates.cosines,
        candidates.first,
        candidates.second,
        skewed,
        np.where(np.arange(20_000) % 3, 7, candidates.first_documents),
        candidates.second_documents,
    )
    found = propose_pairs(candidates, 0.6, 40)
    clusters = Counter(int(skewed[proposal.place]) for proposal in found)
    assert len(clusters) >= 8
    assert clusters[0] <= 12
    assert sum(int(candidates.first_documents[proposal.place]) == 7 for proposal in found) <= 8


def test_the_same_seed_asks_the_same() -> None:
    candidates = made(10_000)
    assert propose_pairs(candidates, 0.6, 30, seed=3) == propose_pairs(candidates, 0.6, 30, seed=3)
    assert propose_pairs(candidates, 0.6, 30, seed=3) != propose_pairs(candidates, 0.6, 30, seed=4)


def test_where_no_pair_is_sure_there_are_still_as_many() -> None:
    candidates = made(3_000)
    near = Candidates(np.full(3_000, 0.6), candidates.first, candidates.second)
    found = propose_pairs(near, 0.6, 30)
    assert len(found) == 30
    assert {proposal.why for proposal in found} == {Why.UNSURE}


def test_few_candidates_give_few_and_none_gives_none() -> None:
    assert len(propose_pairs(made(5), 0.6, 30)) <= 5
    assert propose_pairs(made(0), 0.6, 30) == ()
    assert propose_pairs(made(5), 0.6, 0) == ()
    broken = Candidates(np.array([np.nan, 0.6]), np.array([1, 3], np.uint64), np.array([2, 4], np.uint64))
    assert [proposal.place for proposal in propose_pairs(broken, 0.6, 5)] == [1]


def test_a_text_is_not_compared_with_itself() -> None:
    same = Candidates(np.array([0.6]), np.array([9], np.uint64), np.array([9], np.uint64))
    assert propose_pairs(same, 0.6, 5) == ()


def test_a_million_candidates_take_well_under_a_second() -> None:
    candidates = made(1_000_000, texts=2_000_000)
    judged = {(int(a), int(b)) for a, b in zip(candidates.first[:2000], candidates.second[:2000], strict=True)}
    shown = set(candidates.first[5000:5500].tolist())
    found: list[object] = []
    taken = least_cpu(
        lambda: found.append(propose_pairs(candidates, 0.6, 20, judged=judged, shown=shown)), enough=2.0
    )
    assert len(found[0]) == 20  # type: ignore[arg-type]
    assert taken < 2.0  # 0.25 s measured


# ------------------------------------------------------------------ does this answer?


def ranked(questions: int, each: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    numbers = np.repeat(np.arange(questions), each)
    scores = np.tile(np.linspace(1, 0, each), questions)
    return numbers, scores, np.arange(questions * each).astype(np.uint64)


def test_questions_take_turns_and_start_at_the_top() -> None:
    numbers, scores, passages = ranked(5, 20)
    found = propose_passages(numbers, scores, passages, 25)
    assert Counter(int(numbers[proposal.place]) for proposal in found) == dict.fromkeys(range(5), 5)
    assert {proposal.place % 20 for proposal in found[:5]} == {0}
    assert Counter(proposal.why for proposal in found) == {
        Why.SURE_SAME: 5, Why.UNSURE: 15, Why.SURE_DIFFERENT: 5,
    }  # fmt: skip
    assert all(proposal.place % 20 >= 16 for proposal in found if proposal.why is Why.SURE_DIFFERENT)


def test_judged_and_shown_passages_and_second_ones_of_a_document_are_passed_over() -> None:
    numbers, scores, passages = ranked(2, 10)
    documents = np.arange(20) // 2
    found = propose_passages(
        numbers, scores, passages, 30, judged={(0, 0), (1, 11)}, shown={2}, documents=documents
    )  # fmt: skip
    places = [proposal.place for proposal in found]
    assert not {0, 11, 2} & set(places)
    assert len(places) == len(set(documents[places])) == 10


def test_one_passage_for_two_questions_is_shown_once() -> None:
    numbers, scores, passages = ranked(2, 10)
    found = propose_passages(numbers, scores, passages % 10, 30)
    assert len(found) == 10


def test_no_question_gives_nothing() -> None:
    empty = np.zeros(0, np.int64)
    assert propose_passages(empty, empty.astype(float), empty.astype(np.uint64), 5) == ()
