from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sbert_desktop.errors import TrainingError
from sbert_desktop.training.labels import Example, LabelKind, LabelSet, nearly_same_text
from sbert_desktop.training.splitting import Apart, Split, components, split
from tests.effort import least_cpu


def texts_of(labels: LabelSet, places: tuple[int, ...]) -> set[str]:
    return {nearly_same_text(text) for place in places for text in labels.examples[place].texts}


def documents_of(labels: LabelSet, places: tuple[int, ...]) -> set[str]:
    return {document for place in places for document in labels.examples[place].documents if document}


def assert_nothing_leaks(labels: LabelSet, found: Split) -> None:
    parts = (*found.train, *found.held_out, *found.left_out)
    assert sorted(parts) == list(range(len(labels)))
    assert found.train
    assert found.held_out
    assert not texts_of(labels, found.train) & texts_of(labels, found.held_out)
    if found.apart is Apart.DOCUMENT:
        assert not documents_of(labels, found.train) & documents_of(labels, found.held_out)
    else:
        assert "documents are" in found.note
    if found.left_out:
        assert f"{len(found.left_out):,} of" in found.note
    held = {int(found.clusters[place]) for place in found.held_out}
    assert not held & {int(found.clusters[place]) for place in found.train}


@st.composite
def label_sets(draw: st.DrawFn) -> LabelSet:
    count = draw(st.integers(2, 60))
    pool = draw(st.integers(2, 120))
    seed = draw(st.integers(0, 2**32 - 1))
    known = draw(st.floats(0, 1))
    documents = draw(st.integers(1, 60))
    kind = draw(st.sampled_from(list(LabelKind)))
    rng = np.random.default_rng(seed)
    home = rng.integers(documents, size=pool)
    examples = []
    for _ in range(count):
        picks = rng.integers(pool, size=kind.texts)
        signs = rng.choice(["", ".", "!"], size=kind.texts)
        value = {LabelKind.GRADED: rng.uniform(0, 5), LabelKind.NLI: rng.integers(3)}.get(kind, rng.integers(2))
        if kind in {LabelKind.TRIPLETS, LabelKind.POSITIVES}:
            value = 1
        examples.append(
            Example(
                tuple(f"text {pick}{sign}" for pick, sign in zip(picks, signs, strict=True)),
                float(value),
                tuple(f"d{home[pick]}" if pick < known * pool else "" for pick in picks),
            )
        )
    return LabelSet(kind, tuple(examples))


@settings(max_examples=250, deadline=None, derandomize=True)
@given(label_sets(), st.integers(0, 5), st.sampled_from([0.1, 0.25, 0.5]))
def test_no_text_and_no_document_is_on_both_sides(labels: LabelSet, seed: int, share: float) -> None:
    try:
        found = split(labels, share=share, seed=seed)
    except TrainingError:
        return
    assert_nothing_leaks(labels, found)
    again = split(labels, share=share, seed=seed)
    assert (again.train, again.held_out) == (found.train, found.held_out)


def pairs(count: int, *, documents: int, seed: int = 0, same: float = 0.3) -> LabelSet:
    rng = np.random.default_rng(seed)
    return LabelSet(
        LabelKind.PAIRS,
        tuple(
            Example((f"left {i}", f"right {i}"), float(rng.random() < same), (f"d{home}", f"d{home}"))
            for i, home in enumerate(rng.integers(documents, size=count))
        ),
    )


def test_share_and_balance_are_kept() -> None:
    labels = pairs(400, documents=120)
    found = split(labels, share=0.25, seed=3)
    assert found.apart is Apart.DOCUMENT
    assert not found.note
    assert len(found.held_out) == pytest.approx(100, abs=4)
    positives = sum(labels.examples[place].value for place in found.held_out)
    wanted = 0.25 * sum(example.value for example in labels.examples)
    assert positives == pytest.approx(wanted, abs=3)


def test_another_seed_keeps_other_documents_aside() -> None:
    labels = pairs(400, documents=120)
    assert split(labels, seed=1).held_out != split(labels, seed=2).held_out


def test_where_all_hangs_together_a_few_labels_between_are_left_out() -> None:
    # A chain of documents: each pair is of two that follow one another.
    chain = [Example((f"a{i}", f"b{i}"), float(i % 2), (f"d{i}", f"d{i + 1}")) for i in range(80)]
    labels = LabelSet(LabelKind.PAIRS, tuple(chain))
    assert components(labels).max() == 0
    found = split(labels)
    assert found.apart is Apart.DOCUMENT
    assert 1 <= len(found.left_out) <= 4
    assert len(found.held_out) >= 12
    assert_nothing_leaks(labels, found)


def test_one_document_alone_is_parted_by_text_and_says_so() -> None:
    labels = LabelSet(LabelKind.PAIRS, tuple(Example((f"a{i}", f"b{i}"), float(i % 2), ("d", "d")) for i in range(40)))
    found = split(labels)
    assert found.apart is Apart.TEXT
    assert "too few documents" in found.note
    assert_nothing_leaks(labels, found)


def test_one_text_in_all_labels_is_refused() -> None:
    star = tuple(Example(("the same", f"b{i}"), float(i % 2)) for i in range(40))
    with pytest.raises(TrainingError, match="all hang together"):
        split(LabelSet(LabelKind.PAIRS, star))


@pytest.mark.parametrize("count", [0, 1])
def test_too_few_to_part_are_refused(count: int) -> None:
    with pytest.raises(TrainingError, match=r"so few labels|hang together"):
        split(pairs(count, documents=5))


def test_copies_of_a_text_join_their_documents() -> None:
    labels = LabelSet(
        LabelKind.PAIRS,
        (Example(("A copy.", "x"), 1.0, ("d1", "d2")), Example(("a copy", "y"), 0.0, ("d3", "d4"))),
    )
    assert components(labels).tolist() == [0, 0]
    assert components(LabelSet(LabelKind.PAIRS, labels.examples[:1] + pairs(1, documents=1).examples)).tolist() == [
        0,
        1,
    ]


def test_a_hundred_thousand_labels_are_parted_in_seconds() -> None:
    labels = pairs(100_000, documents=30_000)
    found: list[Split] = []
    assert least_cpu(lambda: found.append(split(labels)), enough=8.0) < 8.0  # 1.6 s measured
    assert len(found[0].held_out) == pytest.approx(25_000, rel=0.02)
