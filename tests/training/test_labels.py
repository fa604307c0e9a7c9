from __future__ import annotations

from dataclasses import dataclass

import pytest

from sbert_desktop.training.labels import (
    Example,
    LabelKind,
    LabelSet,
    from_judgements,
    key_of,
    nearly_same_text,
    positives_of,
    same_text,
    value_fits,
)


@dataclass(frozen=True)
class Said:
    kind: str
    verdict: str
    text: str = ""
    other_text: str = ""
    query: str = ""
    sha256: str = "a" * 64
    other_sha256: str = "b" * 64
    made: float = 0.0


def test_the_later_judgement_of_a_pair_wins_whatever_the_order_of_its_texts() -> None:
    records = [
        Said("same", "same", "Rent is due", "Pay the rent", made=2.0),
        Said("same", "different", "pay  the RENT", "rent is due", made=5.0),
        Said("same", "same", "Rent is due", "Pay the rent", made=3.0),
    ]
    labels = from_judgements(records)[LabelKind.PAIRS]
    assert [(example.value, example.made) for example in labels.examples] == [(0.0, 5.0)]


def test_without_times_the_last_one_given_wins() -> None:
    records = [Said("same", "same", "a", "b"), Said("same", "different", "a", "b")]
    assert from_judgements(records)[LabelKind.PAIRS].examples[0].value == 0.0


def test_a_question_and_a_passage_are_not_swapped() -> None:
    records = [
        Said("relevance", "relevant", "the boiler", query="who fixed it"),
        Said("relevance", "not relevant", "who fixed it", query="the boiler"),
    ]
    labels = from_judgements(records)[LabelKind.RELEVANCE]
    assert [(example.texts, example.value) for example in labels.examples] == [
        (("who fixed it", "the boiler"), 1.0),
        (("the boiler", "who fixed it"), 0.0),
    ]
    assert labels.examples[0].documents == ("", "a" * 64)


@pytest.mark.parametrize(
    "record",
    [
        Said("same", "skipped", "a", "b"),
        Said("same", "same", "a", "  "),
        Said("same", "different", "a copy", "A copy"),
        Said("grade", "nan", "a", "b"),
        Said("grade", "6", "a", "b"),
        Said("grade", "very", "a", "b"),
        Said("note", "same", "a", "b"),
    ],
)
def test_what_cannot_be_learned_from_is_passed_over(record: Said) -> None:
    assert from_judgements([record]) == {}


def test_grades_are_read_as_numbers() -> None:
    assert from_judgements([Said("grade", "3.5", "a", "b")])[LabelKind.GRADED].examples[0].value == 3.5


@pytest.mark.parametrize(
    ("one", "other"),
    [("Straße", "STRASSE"), ("ﬁne", "fine"), ("a\u00adb", "ab"), (" two \n words", "two words"), ("e\u0301", "é")],
)
def test_the_same_text_is_the_same_whatever_its_letters_are_made_of(one: str, other: str) -> None:
    assert same_text(one) == same_text(other)


def test_signs_part_texts_but_not_nearly_same_ones() -> None:
    assert same_text("Stop!") != same_text("Stop")
    assert nearly_same_text("Stop — résumé!") == nearly_same_text("stop resume")
    assert nearly_same_text("!!!") != nearly_same_text("???")
    assert nearly_same_text("Invoice 31") != nearly_same_text("Invoice 37")


def test_keys_know_which_kinds_have_an_order() -> None:
    assert key_of(LabelKind.PAIRS, ("b", "A")) == key_of(LabelKind.PAIRS, ("a", "B"))
    assert key_of(LabelKind.NLI, ("a", "b")) != key_of(LabelKind.NLI, ("b", "a"))


def test_counts_name_also_what_nobody_said() -> None:
    labels = LabelSet(LabelKind.PAIRS, (Example(("a", "b"), 1.0),))
    assert labels.counts() == {"same": 1, "different": 0}


def test_values_fit_their_kind() -> None:
    assert value_fits(LabelKind.NLI, 2.0)
    assert not value_fits(LabelKind.PAIRS, 2.0)
    assert not value_fits(LabelKind.GRADED, float("nan"))


@pytest.mark.parametrize(
    ("kind", "values", "kept"),
    [
        (LabelKind.PAIRS, (1.0, 0.0), 1),
        (LabelKind.GRADED, (5.0, 4.0, 3.9), 2),
        (LabelKind.NLI, (0.0, 1.0, 2.0), 1),
    ],
)
def test_positives_are_those_that_say_the_same(kind: LabelKind, values: tuple[float, ...], kept: int) -> None:
    labels = LabelSet(kind, tuple(Example((f"a{value}", f"b{value}"), value) for value in values))
    found = positives_of(labels)
    assert found.kind is LabelKind.POSITIVES
    assert [example.texts[0] for example in found.examples] == [f"a{value}" for value in values[:kept]]


def test_a_triplet_gives_its_anchor_and_its_positive() -> None:
    labels = LabelSet(LabelKind.TRIPLETS, (Example(("a", "p", "n"), 1.0, ("x", "y", "z")),))
    assert positives_of(labels).examples == (Example(("a", "p"), 1.0, ("x", "y")),)
