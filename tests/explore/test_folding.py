"""Near-identical passages: what is folded, what is counted, what is left alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sbert_desktop.domain import Mode, Query
from sbert_desktop.explore import search
from sbert_desktop.explore.folding import ALIKE, fold, plain

from .made_snapshot import FakeSnapshot, unit


@pytest.fixture
def rng():
    return np.random.default_rng(11)


def near(rng, vectors, cosine):
    """Gives vectors at exactly this cosine of the given ones."""
    noise = unit(rng, len(vectors), vectors.shape[1])
    noise -= (noise * vectors).sum(axis=1, keepdims=True) * vectors
    noise /= np.linalg.norm(noise, axis=1, keepdims=True)
    return (cosine * vectors + np.sqrt(1 - cosine**2) * noise).astype(np.float32)


def shown(results):
    return [(document.content_id, document.hits[0].folded) for document in results.documents]


def test_copies_are_one_with_a_count_and_make_room_for_others(rng):
    q = unit(rng, 1, 64)[0]
    copies = np.repeat(near(rng, q[None], 0.9), 30, axis=0)
    others = near(rng, np.repeat(q[None], 12, axis=0), 0.5)
    snapshot = FakeSnapshot(np.concatenate([copies, others]), np.arange(42))
    query = Query("x", mode=Mode.SEMANTIC, top=10)
    results = search(snapshot, query, q)
    assert len(results.documents) == 10
    assert shown(results)[0] == (0, 29)
    assert {count for _, count in shown(results)[1:]} == {0}
    unfolded = search(snapshot, replace(query, fold=False, top=42), q)
    assert sorted(content for content, _ in shown(unfolded)) == list(range(42))
    assert {count for _, count in shown(unfolded)} == {0}


@pytest.mark.parametrize(("cosine", "folded"), [(0.99, 1), (0.98, 0)])
def test_the_threshold_is_a_cosine_of_0985(rng, cosine, folded):
    q = unit(rng, 1, 64)
    vectors = np.concatenate([q, near(rng, q, cosine)])
    results = search(FakeSnapshot(vectors, np.arange(2)), Query("x", mode=Mode.SEMANTIC), q[0])
    assert shown(results)[0] == (0, folded)
    assert len(results.documents) == 2 - folded


def test_equal_texts_under_different_titles_are_folded(rng):
    q = unit(rng, 1, 64)
    vectors = np.concatenate([q, near(rng, np.repeat(q, 2, axis=0), 0.9)])
    texts = {100: "Pay within 30 days.", 101: "PAY  within 30 days", 102: "Pay within 31 days."}
    results = search(FakeSnapshot(vectors, np.arange(3), texts=texts), Query("x", mode=Mode.SEMANTIC), q[0])
    assert shown(results) == [(0, 1), (2, 0)]


def test_without_any_vector_texts_are_compared(rng):
    snapshot = FakeSnapshot(
        np.zeros((0, 0), np.float32),
        np.zeros(0, np.int64),
        words={1: 3.0, 2: 2.0, 3: 1.0},
        extra={1: 1, 2: 2, 3: 3},
        texts={1: "the same", 2: "another", 3: "The same!"},
    )
    assert shown(search(snapshot, Query("x"), None)) == [(1, 1), (2, 0)]


SENTENCE = (
    "The rain gauge on the roof filled twice in October, so we emptied it by hand and wrote down what it held each "
    "time before we put it back between the chimney and the small window that does not close in wet weather any more"
)


def words_only(*texts):
    return FakeSnapshot(
        np.zeros((0, 0), np.float32),
        np.zeros(0, np.int64),
        words={number: 100.0 - number for number in range(len(texts))},
        extra={number: number for number in range(len(texts))},
        texts=dict(enumerate(texts)),
    )


def test_without_vectors_copies_that_differ_in_one_word_of_45_are_folded(rng):
    copies = [SENTENCE.replace("October", month) for month in ("May", "June", "July", "March", "April", "August")]
    other = " ".join(word[::-1] for word in SENTENCE.split())
    snapshot = words_only(SENTENCE, *copies, other)
    assert len(SENTENCE.split()) == 45
    for mode in (Mode.KEYWORD, Mode.HYBRID):
        assert shown(search(snapshot, Query("x", mode=mode), None)) == [(0, 6), (7, 0)]
    assert len(search(snapshot, Query("x", mode=Mode.KEYWORD, fold=False), None).documents) == 8


@pytest.mark.parametrize(
    "other",
    [
        SENTENCE.replace("October", "May").replace("roof", "shed").replace("twice", "once"),
        SENTENCE + " and it stays so for ever",
        " ".join(SENTENCE.split()[:20]),
        "one two three four five six seven eight nine ten",
    ],
)
def test_without_vectors_texts_that_say_otherwise_stay_apart(other):
    assert shown(search(words_only(SENTENCE, other), Query("x"), None)) == [(0, 0), (1, 0)]


def test_short_texts_without_vectors_are_folded_only_when_equal():
    texts = ("Pay within 30 days", "Pay within 31 days", "pay within 30 days!", "30 30 30", "30 30")
    assert shown(search(words_only(*texts), Query("x"), None)) == [(0, 1), (1, 0), (3, 0), (4, 0)]


def test_a_text_without_spaces_is_compared_by_its_characters():
    text = (
        "我们在十月把屋顶上的雨量计倒空了两次每次都记下了水量然后放回烟囱和那扇小窗之间"
        "窗户在雨天总是关不上所以我们用毛巾堵住它"
    )
    texts = (text, text.replace("十", "五"), text.replace("屋顶上的雨量计", "花园里的大水桶").replace("毛巾", "旧报纸"))
    assert shown(search(words_only(*texts), Query("x"), None)) == [(0, 1), (2, 0)]


def test_vectors_that_are_known_and_apart_are_not_folded_by_nearly_equal_texts(rng):
    q = unit(rng, 1, 64)
    vectors = np.concatenate([q, near(rng, q, 0.9)])
    texts = {100: SENTENCE, 101: SENTENCE.replace("October", "May")}
    results = search(FakeSnapshot(vectors, np.arange(2), texts=texts), Query("x", mode=Mode.SEMANTIC), q[0])
    assert shown(results) == [(0, 0), (1, 0)]


def test_empty_texts_are_not_equal(rng):
    snapshot = FakeSnapshot(
        np.zeros((0, 0), np.float32),
        np.zeros(0, np.int64),
        words={1: 3.0, 2: 2.0},
        extra={1: 1, 2: 2},
        texts={1: "--", 2: "..."},
    )
    assert len(search(snapshot, Query("x"), None).documents) == 2


def test_passages_of_one_document_are_never_folded(rng):
    q = unit(rng, 1, 64)
    snapshot = FakeSnapshot(np.repeat(q, 4, axis=0), np.array([0, 0, 0, 1]))
    results = search(snapshot, Query("x", mode=Mode.SEMANTIC, by="passage"), q[0])
    assert shown(results) == [(0, 1), (0, 0), (0, 0)]


def test_a_thousand_copies_do_not_hide_the_rest(rng):
    q = unit(rng, 1, 64)
    vectors = np.concatenate([np.repeat(q, 1000, axis=0), near(rng, np.repeat(q, 5, axis=0), 0.3)])
    results = search(FakeSnapshot(vectors, np.arange(1005)), Query("x", mode=Mode.SEMANTIC, top=6), q[0])
    assert shown(results)[0] == (0, 999)
    assert len(results.documents) == 6


def test_every_document_is_shown_or_counted(rng):
    base = unit(rng, 40, 64)
    vectors = np.concatenate([base, base[:20], near(rng, base[:10], 0.995)])
    q = unit(rng, 1, 64)[0]
    results = search(FakeSnapshot(vectors, np.arange(70)), Query("x", mode=Mode.SEMANTIC, top=100), q)
    assert sum(1 + count for _, count in shown(results)) == 70
    assert len(results.documents) == 40


def one_by_one(snapshot, passages, owners):
    """Folds with two loops and nothing clever."""
    row = {int(p): r for r, p in enumerate(snapshot.passage_ids)}
    kept, counts = [], []
    for place in range(len(passages)):
        twin = None
        for number, other in enumerate(kept):
            if owners[place] == owners[other]:
                continue
            a, b = row.get(int(passages[place])), row.get(int(passages[other]))
            cosine = float(snapshot.vectors[a] @ snapshot.vectors[b]) if a is not None and b is not None else None
            texts = {plain(snapshot.texts.get(int(passages[i]), f"text {passages[i]}")) for i in (place, other)}
            same = len(texts) == 1 and texts != {""}
            if (cosine is not None and cosine >= ALIKE) or ((cosine is None or cosine >= 0.8) and same):
                twin = number
                break
        if twin is None:
            kept.append(place)
            counts.append(0)
        else:
            counts[twin] += 1
    return kept, counts


@pytest.mark.parametrize("seed", range(8))
def test_folding_agrees_with_two_loops_on_random_passages(seed):
    rng = np.random.default_rng(seed)
    base = unit(rng, 12, 384)
    groups = [near(rng, np.repeat(base, 5, axis=0), cosine) for cosine in (0.999, 0.97, 0.9, 0.6)]
    vectors = np.concatenate([base, *groups])
    count = len(vectors)
    cosines = vectors @ vectors.T
    assert (np.abs(cosines - ALIKE) > 1e-6).all()
    words = ["one", "two", "three", "--", "Four!"]
    texts = {100 + i: str(rng.choice(words)) for i in range(count + 6)}
    extra = {100 + count + i: int(rng.integers(40)) for i in range(6)}  # without a vector
    snapshot = FakeSnapshot(vectors, rng.integers(0, 40, count), texts=texts, extra=extra)
    passages = rng.permutation(np.array(sorted(snapshot.owner), np.int64))
    owners = np.array([snapshot.owner[int(p)] for p in passages], np.int64)
    kept, counts = fold(snapshot, passages, owners, count + 6)
    assert (kept, counts) == one_by_one(snapshot, passages, owners)
    assert 0 < sum(counts) < count
    # With fewer asked for, those shown are the same, and know most of what they stand for.
    few, fewer = fold(snapshot, passages, owners, 10)
    assert few == kept[:10]
    assert all(a <= b for a, b in zip(fewer, counts, strict=False))


def test_texts_are_read_only_where_they_may_be_equal(rng):
    snapshot = FakeSnapshot(unit(rng, 500, 64), np.arange(500))
    search(snapshot, Query("x", mode=Mode.SEMANTIC), unit(rng, 1, 64)[0])
    assert snapshot.fetched == []


def test_plain_text_forgets_case_marks_and_white_space():
    assert plain("  The ﬁrst, and\n“last”… ") == plain("the FIRST and last")
    assert plain("v1.2") != plain("v12")
