"""Near pairs: none is lost, none is made up, memory is bounded, what is known is not compared again."""

from __future__ import annotations

import csv
import json
import tracemalloc
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from sbert_desktop.errors import Cancelled
from sbert_desktop.explore import _pair_store
from sbert_desktop.explore import near_pairs as near_pairs_module
from sbert_desktop.explore.near_pairs import NearPairs, near_pairs
from sbert_desktop.explore.shared_passages import shared_passages

SHARED_DATA = Path(__file__).resolve().parents[3] / "shared" / "data"


def made(rng, rows, dimension=96, topics=40, noise=0.8):
    """Gives unit vectors with a falling spectrum, in topics, with planted near pairs of all cosines."""
    spectrum = 1 / np.sqrt(np.arange(1, dimension + 1))
    centres = rng.standard_normal((topics, dimension)) * spectrum
    own = rng.standard_normal((rows, dimension)) * spectrum
    vectors = centres[rng.integers(0, topics, rows)] + noise * own
    copies = rng.choice(rows, rows // 4, replace=False)
    vectors[copies] = vectors[rng.permutation(copies)] + rng.random((len(copies), 1)) * 0.5 * own[copies]
    return unit(vectors)


def unit(vectors):
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def all_pairs(vectors, alive, floor, slack=0.0):
    """Gives the pairs of a plain product of everything."""
    cosines = vectors.astype(np.float64) @ vectors.T.astype(np.float64)
    a, b = np.nonzero(np.triu(cosines >= floor - slack, 1) & alive[:, None] & alive[None, :])
    return set(zip(a.tolist(), b.tolist(), strict=True))


def as_set(pairs: NearPairs):
    """Gives the pairs with the rows that stand for one written out."""
    stands = {}
    for row, first in enumerate(pairs.same.tolist()):
        stands.setdefault(first, []).append(row)
    stands.pop(-1, None)
    out = {pair for rows in stands.values() for pair in combinations(rows, 2)}
    for a, b in zip(pairs.a.tolist(), pairs.b.tolist(), strict=True):
        out |= {(min(i, j), max(i, j)) for i in stands[a] for j in stands[b]}
    return out


def assert_exact(pairs, vectors, alive, floor):
    """All pairs but those that rounding alone puts on one side of the floor."""
    found = as_set(pairs)
    assert all_pairs(vectors, alive, floor, -1e-6) <= found <= all_pairs(vectors, alive, floor, 1e-6)
    assert pairs.cut == 0
    assert pairs.whole == floor
    assert (pairs.a < pairs.b).all()
    assert (np.diff(pairs.a.astype(np.int64) * len(vectors) + pairs.b) > 0).all()


@pytest.fixture
def rng():
    return np.random.default_rng(7)


class Job:
    """Counts what a job is told; cancels when asked so often."""

    paused = False

    def __init__(self, cancel_after=None):
        self.checks, self.told, self._cancel_after = 0, [], cancel_after

    def check(self):
        self.checks += 1
        if self._cancel_after is not None and self.checks > self._cancel_after:
            raise Cancelled()

    def progress(self, phase, done, total, detail=""):
        self.told.append((done, total))

    def partial(self, result):
        pass


@pytest.mark.parametrize("floor", [0.95, 0.9, 0.7, 0.3])
@pytest.mark.parametrize("rows", [1, 2, 63, 64, 65, 1500])
def test_finds_exactly_the_pairs_of_a_plain_product(rng, rows, floor):
    vectors = made(rng, rows)
    alive = rng.random(rows) < 0.9
    assert_exact(near_pairs(vectors, alive, floor=floor), vectors, alive, floor)


@pytest.mark.parametrize("dimension", [1, 2, 7, 64, 65, 130, 768])
def test_any_dimension_will_do(rng, dimension):
    vectors = made(rng, 300, dimension)
    assert_exact(near_pairs(vectors, np.ones(300, bool), floor=0.85), vectors, np.ones(300, bool), 0.85)


def test_vectors_without_any_structure_lose_no_pair(rng):
    vectors = unit(rng.standard_normal((900, 128)))
    vectors[450:] = unit(vectors[:450] + 0.035 * rng.standard_normal((450, 128)))
    pairs = near_pairs(vectors, np.ones(900, bool), floor=0.9)
    assert len(pairs.a) >= 400
    assert_exact(pairs, vectors, np.ones(900, bool), 0.9)


def test_vectors_of_a_few_directions_only_lose_no_pair(rng):
    vectors = np.zeros((500, 300), np.float32)
    vectors[:, [3, 50, 299]] = unit(rng.standard_normal((500, 3)))
    alive = rng.random(500) < 0.8
    few = near_pairs(vectors, alive, floor=0.95)
    cut_free = few.at_least(few.whole)
    assert all_pairs(vectors, alive, few.whole, -1e-6) <= as_set(cut_free)
    zeros = near_pairs(np.zeros((5, 4), np.float32), np.ones(5, bool), floor=0.7)
    assert zeros.same.tolist() == [0] * 5
    assert len(zeros.a) == 0


def test_the_cosines_are_those_of_the_rows(rng):
    vectors = made(rng, 800)
    pairs = near_pairs(vectors, np.ones(800, bool), floor=0.8)
    np.testing.assert_allclose(pairs.cosine, (vectors[pairs.a] * vectors[pairs.b]).sum(axis=1), atol=2e-6)
    assert pairs.cosine.max() <= 1


def test_nothing_comes_of_nothing():
    pairs = near_pairs(np.zeros((0, 8), np.float32), np.zeros(0, bool), floor=0.7)
    assert len(pairs.a) == pairs.cut == pairs.rows == 0
    dead = near_pairs(np.ones((3, 1), np.float32), np.zeros(3, bool), floor=0.7)
    assert len(dead.a) == 0
    assert dead.same.tolist() == [-1, -1, -1]


def test_equal_rows_stand_as_one_and_cost_nothing(rng):
    vectors = made(rng, 5_200)
    vectors[100:5_100] = vectors[99]
    alive = np.ones(5_200, bool)
    alive[99] = False
    pairs = near_pairs(vectors, alive, floor=0.7)
    assert (pairs.same[100:5_100] == 100).all()
    assert pairs.same[99] == -1
    assert len(pairs.a) < 20_000
    few = np.concatenate([np.arange(100), [100], np.arange(5_100, 5_200)])
    expected = {(int(few[a]), int(few[b])) for a, b in all_pairs(vectors[few], np.ones(len(few), bool), 0.7)}
    stand_ins = set(zip(pairs.a.tolist(), pairs.b.tolist(), strict=True))
    assert stand_ins == {(a, b) for a, b in expected if pairs.same[a] == a and pairs.same[b] == b}


def test_the_outcome_does_not_depend_on_threads(rng):
    vectors = made(rng, 2_000, noise=0.3)
    one, many = (near_pairs(vectors, np.ones(2_000, bool), floor=0.7, workers=n) for n in (1, 5))
    for name in ("a", "b", "cosine", "same", "left_out"):
        np.testing.assert_array_equal(getattr(one, name), getattr(many, name))


def test_below_the_line_each_row_keeps_its_best_pairs(rng, monkeypatch):
    """400 passages of one form (all cosines around 0.8): each keeps its 64 best, and the result says so."""
    monkeypatch.setattr(_pair_store, "_FEW", 20_000)
    core = unit(rng.standard_normal((1, 200)))
    vectors = unit(core + 0.5 * unit(rng.standard_normal((400, 200))))
    pairs = near_pairs(vectors, np.ones(400, bool), floor=0.7)
    cosines = vectors @ vectors.T
    np.fill_diagonal(cosines, -1)
    bar = np.sort(cosines, axis=1)[:, -64]

    def best(slack):  # which of two that are alike but for rounding is the 64th, each machine may see otherwise
        a, b = np.nonzero(np.triu((cosines >= bar[:, None] - slack) | (cosines >= bar[None, :] - slack), 1))
        return set(zip(a.tolist(), b.tolist(), strict=True))

    assert best(-1e-6) <= as_set(pairs) <= best(1e-6)
    assert abs(len(as_set(pairs)) - len(best(0.0))) <= 2
    assert pairs.whole == 0.85
    assert pairs.cut == 400
    assert pairs.at_least(0.85).cut == 0


def test_as_long_as_there_are_few_pairs_all_are_kept(rng):
    core = unit(rng.standard_normal((1, 200)))
    vectors = unit(core + 0.5 * unit(rng.standard_normal((400, 200))))
    assert_exact(near_pairs(vectors, np.ones(400, bool), floor=0.7), vectors, np.ones(400, bool), 0.7)


def test_above_the_line_nothing_is_cut(rng, monkeypatch):
    monkeypatch.setattr(_pair_store, "_FEW", 100)
    core = unit(rng.standard_normal((1, 200)))
    vectors = unit(core + 0.3 * unit(rng.standard_normal((400, 200))))
    pairs = near_pairs(vectors, np.ones(400, bool), floor=0.7)
    assert len(pairs.a) == 400 * 399 // 2
    assert pairs.cut == 0


@pytest.mark.parametrize("floor", [0.7, pytest.param(0.9, marks=pytest.mark.slow)])
def test_too_many_near_pairs_raise_the_line_and_keep_the_memory_flat(rng, floor, monkeypatch):
    """Boilerplate: every row is like every other. What is kept does not depend on the threads either."""
    monkeypatch.setattr(_pair_store, "_FEW", 10_000)
    monkeypatch.setattr(_pair_store, "_MOST_WHOLE", 20_000)
    monkeypatch.setattr(_pair_store, "_ROOM", 20_000)
    core = unit(rng.standard_normal((1, 64)))
    vectors = unit(core + 0.4 * rng.random((1_500, 1)) * unit(rng.standard_normal((1_500, 64))))
    alive = np.ones(1_500, bool)
    results = [near_pairs(vectors, alive, floor=floor, workers=n) for n in (1, 4)]
    pairs = results[0]
    assert len(pairs.a) <= 20_000 + 1_500 * 64
    assert pairs.whole > 0.9
    assert pairs.cut > 1_000
    exact = all_pairs(vectors, alive, pairs.whole, -1e-6)
    assert len(exact) > 1_000
    assert exact <= as_set(pairs)
    assert as_set(results[1]) == as_set(pairs)
    assert results[1].whole == pairs.whole


class LastFirst(_pair_store.PairStore):
    """Takes the pairs in the other order, as threads that overtake each other may."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.held = []

    def add(self, a, b, cosine):
        self.held.append((a, b, cosine))

    def finish(self):
        for pairs in reversed(self.held):
            super().add(*pairs)
        return super().finish()


@pytest.mark.parametrize(("store", "workers"), [(_pair_store.PairStore, 1), (_pair_store.PairStore, 4), (LastFirst, 1)])
def test_ties_without_number_are_bounded_too(store, workers, monkeypatch):
    """Few words hashed: thousands of rows with exactly the same cosine to each other.

    How many of the pairs stay depends on the order in which the threads bring them. That each row that lacks one is
    known to lack one does not.
    """
    monkeypatch.setattr(near_pairs_module, "PairStore", store)
    monkeypatch.setattr(_pair_store, "_FEW", 10_000)
    monkeypatch.setattr(_pair_store, "_MOST_WHOLE", 10_000)
    monkeypatch.setattr(_pair_store, "_ROOM", 10_000)
    vectors = np.zeros((1_500, 1_501), np.float32)
    # 0.875 squared is exact in float32: a tie whichever order the machine's BLAS adds in
    vectors[:, 0] = 0.875
    vectors[np.arange(1_500), np.arange(1_500) + 1] = np.sqrt(1 - 0.875**2)
    pairs = near_pairs(vectors, np.ones(1_500, bool), floor=0.7, workers=workers)
    assert len(pairs.a) <= 10_000 + 1_500 * 64
    each = np.bincount(pairs.a, minlength=1_500) + np.bincount(pairs.b, minlength=1_500)
    assert pairs.cut > 1_000
    np.testing.assert_array_equal(pairs.left_out, each < 1_499)


def test_only_new_rows_are_compared_and_the_result_is_that_of_a_full_run(rng):
    vectors = made(rng, 1_600)
    vectors[1_500] = vectors[40]  # a new row that equals an old one
    vectors[1_501] = vectors[1_502] = vectors[700]
    before = np.ones(1_400, bool)
    before[rng.choice(1_400, 60, replace=False)] = False
    before[[40, 700]] = True
    known = near_pairs(vectors[:1_400], before, floor=0.7)
    after = np.ones(1_600, bool)
    after[:1_400] = before
    after[rng.choice(1_400, 30, replace=False)] = False
    after[700] = False  # the one that stood for 1501 and 1502 would have been this one
    full, job = near_pairs(vectors, after, floor=0.7), Job()
    joined = near_pairs(vectors, after, floor=0.7, known=known, context=job)
    for name in ("a", "b", "cosine", "same"):
        np.testing.assert_array_equal(getattr(joined, name), getattr(full, name))
    assert job.told[-1][1] <= 202
    again = near_pairs(vectors, after, floor=0.7, known=joined, context=(nothing := Job()))
    np.testing.assert_array_equal(again.a, full.a)
    assert nothing.told == []


def test_a_first_row_that_died_leaves_its_pairs_to_its_twin(rng):
    vectors = made(rng, 300)
    vectors[200] = vectors[5]
    alive = np.ones(300, bool)
    known = near_pairs(vectors, alive, floor=0.5)
    assert known.same[200] == 5
    alive[5] = False
    joined, full = near_pairs(vectors, alive, floor=0.5, known=known), near_pairs(vectors, alive, floor=0.5)
    assert joined.same[200] == 200
    assert as_set(joined) == as_set(full)


def test_rows_are_known_again_wherever_they_stand(rng):
    """The library was compacted or another one was opened: numbers say nothing."""
    vectors = made(rng, 700)
    known = near_pairs(vectors, np.ones(700, bool), floor=0.7)
    other = np.concatenate([made(rng, 30), vectors[rng.permutation(700)[:400]]])
    alive = np.ones(430, bool)
    full, job = near_pairs(other, alive, floor=0.7), Job()
    joined = near_pairs(other, alive, floor=0.7, known=known, context=job)
    assert as_set(joined) == as_set(full)
    np.testing.assert_array_equal(joined.cosine, full.cosine)
    assert job.told[-1] == (30, 30)


@pytest.mark.parametrize("few", [10_000, pytest.param(90_000, marks=pytest.mark.slow)])
def test_rows_that_lost_a_pair_get_back_one_that_was_left_out(rng, few, monkeypatch):
    """Also where so many died that all would have room (90,000: of 450 rows too many, of 400 not)."""
    monkeypatch.setattr(_pair_store, "_FEW", few)
    core = unit(rng.standard_normal((1, 200)))
    vectors = unit(core + 0.5 * unit(rng.standard_normal((500, 200))))
    known = near_pairs(vectors[:450], np.ones(450, bool), floor=0.7)
    assert known.cut == 450
    alive = np.ones(500, bool)
    alive[: 8 if few < 50_000 else 100] = False
    joined, full = near_pairs(vectors, alive, floor=0.7, known=known), near_pairs(vectors, alive, floor=0.7)
    assert as_set(joined) == as_set(full)
    assert joined.cut == full.cut


@pytest.mark.slow
def test_a_result_of_a_higher_floor_is_not_taken_for_a_lower_one(rng):
    vectors = made(rng, 500)
    alive = np.ones(500, bool)
    known = near_pairs(vectors, alive, floor=0.95)
    assert as_set(near_pairs(vectors, alive, floor=0.8, known=known)) == as_set(near_pairs(vectors, alive, floor=0.8))
    lower = near_pairs(vectors, alive, floor=0.7)
    assert as_set(near_pairs(vectors, alive, floor=0.8, known=lower)) == as_set(near_pairs(vectors, alive, floor=0.8))
    assert as_set(lower.at_least(0.8)) == as_set(near_pairs(vectors, alive, floor=0.8))


def test_a_cancel_is_heard_within_a_few_strips(rng):
    vectors = made(rng, 6_400)
    job = Job(cancel_after=3)
    with pytest.raises(Cancelled):
        near_pairs(vectors, np.ones(6_400, bool), floor=0.9, context=job, workers=1)
    assert job.checks == 4
    assert len(job.told) <= 4


def test_progress_counts_rows_up_to_the_end(rng):
    job = Job()
    near_pairs(made(rng, 1_000), np.ones(1_000, bool), floor=0.9, context=job)
    assert job.told[-1] == (1_000, 1_000)
    assert [done for done, _ in job.told] == sorted(done for done, _ in job.told)


def test_memory_is_that_of_short_rows_and_pairs_not_of_a_square(rng):
    vectors = made(rng, 12_000, 64)
    tracemalloc.start()
    near_pairs(vectors, np.ones(12_000, bool), floor=0.9, workers=2)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 60e6  # the square would take 576 MB


# ---------------------------------------------------------------- groups of passages


def passages(vectors, threshold, owners=None, floor=0.7):
    pairs = near_pairs(vectors, np.ones(len(vectors), bool), floor=floor)
    owners = np.arange(len(vectors)) if owners is None else np.asarray(owners)
    return shared_passages(pairs, owners, threshold=threshold)


def arc(*degrees):
    """Gives unit vectors in a plane."""
    angles = np.radians(np.array(degrees, float))
    return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)


def test_a_chain_is_no_group():
    """0 and 20 degrees are alike, 20 and 40 are, 0 and 40 are not."""
    found = passages(arc(0, 19, 40), 0.9)
    assert [group.rows for group in found] == [(0, 1)]
    assert found[0].lowest == pytest.approx(np.cos(np.radians(19)), abs=1e-6)


def test_every_two_passages_of_a_group_are_alike_and_the_lowest_cosine_is_true(rng):
    vectors = made(rng, 900, noise=0.35)
    found = passages(vectors, 0.8)
    assert len(found) > 20
    assert max(len(group.rows) for group in found) > 3
    rows = [row for group in found for row in group.rows]
    assert len(rows) == len(set(rows))
    for group in found:
        part = vectors[list(group.rows)]
        cosines = (part @ part.T)[np.triu_indices(len(part), 1)]
        assert cosines.min() == pytest.approx(group.lowest, abs=2e-6)
        assert group.lowest >= 0.8


def test_groups_cannot_be_joined_any_further(rng):
    vectors = made(rng, 500, noise=0.35)
    found = [list(group.rows) for group in passages(vectors, 0.8)]
    grouped = {row for rows in found for row in rows}
    found += [[row] for row in range(500) if row not in grouped]
    for one, two in combinations(found, 2):
        assert (vectors[one] @ vectors[two].T).min() < 0.8 + 1e-6


def test_the_order_of_the_rows_changes_no_group(rng):
    vectors = made(rng, 600, noise=0.35)
    order = rng.permutation(600)
    straight = {frozenset(group.rows) for group in passages(vectors, 0.8)}
    mixed = {frozenset(order[list(group.rows)].tolist()) for group in passages(vectors[order], 0.8)}
    assert straight == mixed


def test_equal_rows_are_named_in_the_group_and_make_one_alone():
    vectors = arc(0, 0, 0, 10, 90, 90)
    found = passages(vectors, 0.95)
    assert [(group.rows, group.owners) for group in found] == [((0, 1, 2, 3), 4), ((4, 5), 2)]
    assert found[1].lowest == 1.0


def test_a_paragraph_that_one_document_repeats_is_not_shared():
    assert passages(arc(0, 0, 5), 0.9, owners=[7, 7, 7]) == []
    assert [group.owners for group in passages(arc(0, 0, 5), 0.9, owners=[7, 7, 8])] == [2]


# ---------------------------------------------------------------- real sentences


@pytest.mark.slow
@pytest.mark.model
@pytest.mark.timeout(300)
@pytest.mark.skipif(not SHARED_DATA.is_dir(), reason="needs ../shared/data")
def test_the_pairs_are_those_of_paraphrase_mining(tmp_path):
    """1,200 real sentences: the same pairs with the same scores, where paraphrase mining leaves none out."""
    with (SHARED_DATA / "pairs" / "mrpc_val.csv").open(encoding="utf-8", newline="") as lines:
        texts = [text for row in csv.DictReader(lines) for text in list(row.values())[:2]][:600]
    with (SHARED_DATA / "clustering" / "banking77_train.csv").open(encoding="utf-8", newline="") as lines:
        texts += [next(iter(row.values())) for row in csv.DictReader(lines)][:600]
    (tmp_path / "texts.json").write_text(json.dumps(texts), encoding="utf-8")
    vectors, mined = paraphrases(tmp_path, 0.75)
    pairs = near_pairs(vectors, np.ones(len(vectors), bool), floor=0.75)
    assert len(mined) > 500
    assert np.bincount(np.array(list(mined)).ravel()).max() < 200
    assert as_set(pairs) == set(mined)
    for a, b, cosine in zip(pairs.a.tolist(), pairs.b.tolist(), pairs.cosine.tolist(), strict=True):
        assert mined[a, b] == pytest.approx(cosine, abs=2e-6)


MINE = """
import json, sys
from pathlib import Path
import numpy as np, torch
from sbert_desktop.encoder.models import default_model_dir
from sentence_transformers import SentenceTransformer
from sentence_transformers.util import paraphrase_mining_embeddings
folder = Path(sys.argv[1])
model = SentenceTransformer(str(default_model_dir()), device="cpu")
vectors = model.encode(json.loads((folder / "texts.json").read_text()), normalize_embeddings=True)
np.save(folder / "vectors.npy", vectors)
mined = paraphrase_mining_embeddings(torch.from_numpy(vectors), top_k=200, max_pairs=10_000_000)
mined = [(i, j, score) for score, i, j in mined if score >= float(sys.argv[2])]
(folder / "mined.json").write_text(json.dumps(mined))
"""


def paraphrases(folder, threshold):
    """Encodes and mines in a process of its own, as torch is never imported beside a window."""
    import os
    import subprocess
    import sys

    subprocess.run(
        [sys.executable, "-c", MINE, str(folder), str(threshold)],
        check=True, timeout=280, env={**os.environ, "HF_HUB_OFFLINE": "1", "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    mined = json.loads((folder / "mined.json").read_text(encoding="utf-8"))
    return np.load(folder / "vectors.npy"), {(min(i, j), max(i, j)): score for i, j, score in mined}
