from __future__ import annotations

import numpy as np
import pytest

from sbert_desktop.training.checks import Finding, Severity, check, may_train
from sbert_desktop.training.labels import Example, LabelKind, LabelSet
from sbert_desktop.training.splitting import Apart, Split, split
from tests.effort import least_cpu


def pairs(*rows: tuple[str, str, int], good: int = 150) -> LabelSet:
    """Gives these pairs, then so many that have nothing wrong."""
    made = [Example((a, b), float(value)) for a, b, value in rows]
    made += [Example((f"fine {i}", f"good {i}"), float(i % 2)) for i in range(good)]
    return LabelSet(LabelKind.PAIRS, tuple(made))


def one(found: tuple[Finding, ...], code: str) -> Finding:
    assert [finding.code for finding in found].count(code) == 1, found
    return next(finding for finding in found if finding.code == code)


def codes(found: tuple[Finding, ...]) -> set[str]:
    return {finding.code for finding in found}


def test_labels_with_nothing_wrong_pass_in_silence() -> None:
    labels = pairs()
    assert check(labels, split(labels)) == ()


def test_a_pair_said_both_ways_is_found_whatever_its_order() -> None:
    found = one(check(pairs(("Rent", "Lease", 1), ("x", "y", 1), ("lease ", "RENT", 0))), "contradictions")
    assert found.examples == (0, 2)
    assert found.chains == ((0, 2),)
    assert found.severity is Severity.WARNS


def test_a_contradiction_by_way_of_others_is_found_with_its_chain() -> None:
    found = one(check(pairs(("a", "b", 1), ("c", "b", 1), ("q", "a", 1), ("c", "d", 1), ("D", "a", 0))),
                "chain-contradictions")  # fmt: skip
    assert found.chains == ((3, 1, 0, 4),)  # D = c = b = a, yet D and a are called different
    assert "“D” = “c” = “b” = “a”, yet “D” and “a”" in found.sentence
    assert found.examples == (0, 1, 3, 4)


def test_the_chain_shown_is_the_shortest() -> None:
    rows = [("a", "b", 1), ("b", "c", 1), ("c", "d", 1), ("a", "x", 1), ("x", "d", 1), ("a", "d", 0)]
    assert one(check(pairs(*rows)), "chain-contradictions").chains == ((3, 4, 5),)


def test_different_things_of_different_groups_are_no_contradiction() -> None:
    rows = [("a", "b", 1), ("c", "d", 1), ("a", "c", 0), ("b", "d", 0)]
    assert not codes(check(pairs(*rows))) & {"contradictions", "chain-contradictions"}


def test_many_contradictions_stop() -> None:
    rows = [(f"a{i}", f"b{i}", value) for i in range(30) for value in (0, 1)]
    found = check(pairs(*rows))
    assert one(found, "contradictions").severity is Severity.STOPS
    assert not may_train(found)
    assert found[0].severity is Severity.STOPS


def test_grades_may_differ_a_little() -> None:
    def graded(first: float, second: float) -> LabelSet:
        rest = [Example((f"x{i}", f"y{i}"), float(i % 6)) for i in range(200)]
        return LabelSet(LabelKind.GRADED, (Example(("a", "b"), first), Example(("b", "a"), second), *rest))

    assert "contradictions" not in codes(check(graded(3.0, 4.0)))
    assert one(check(graded(1.0, 4.0)), "contradictions").examples == (0, 1)


def test_triplets_in_reverse_and_with_equal_sides_are_found() -> None:
    rows = [("a", "p", "n"), ("a", "n", "p"), ("b", "x", "x"), ("c", "c", "y"), ("d", "z", "d")]
    rows += [(f"a{i}", f"p{i}", f"n{i}") for i in range(150)]
    found = check(LabelSet(LabelKind.TRIPLETS, tuple(Example(row, 1.0) for row in rows)))
    assert one(found, "contradictions").examples == (0, 1)
    assert one(found, "same-text-apart").examples == (2, 4)
    assert one(found, "same-text").examples == (3,)


def test_duplicates_are_told() -> None:
    found = one(check(pairs(("a", "b", 1), ("B", "a", 1), ("b", "A", 1))), "duplicates")
    assert (found.severity, found.examples) == (Severity.TELLS, (1, 2))


@pytest.mark.parametrize(("kind", "value", "word"), [
    (LabelKind.PAIRS, 1.0, "same"), (LabelKind.PAIRS, 0.0, "different"), (LabelKind.RELEVANCE, 1.0, "relevant"),
    (LabelKind.NLI, 2.0, "contradiction"),
])  # fmt: skip
def test_one_answer_only_stops(kind: LabelKind, value: float, word: str) -> None:
    labels = LabelSet(kind, tuple(Example((f"a{i}", f"b{i}"), value) for i in range(200)))
    found = check(labels)
    assert one(found, "one-class-missing").severity is Severity.STOPS
    assert word in one(found, "one-class-missing").sentence
    assert not may_train(found)


def test_one_of_three_classes_missing_warns() -> None:
    labels = LabelSet(LabelKind.NLI, tuple(Example((f"a{i}", f"b{i}"), float(i % 2)) for i in range(200)))
    assert one(check(labels), "one-class-missing").severity is Severity.WARNS


def test_equal_grades_stop() -> None:
    labels = LabelSet(LabelKind.GRADED, tuple(Example((f"a{i}", f"b{i}"), 3.0) for i in range(200)))
    assert one(check(labels), "constant-grades").severity is Severity.STOPS


def test_a_rare_answer_is_told() -> None:
    found = one(check(LabelSet(LabelKind.PAIRS, tuple(Example((f"a{i}", f"b{i}"), float(i < 9)) for i in range(200)))),
                "rare-class")  # fmt: skip
    assert found.examples == tuple(range(9))


def test_few_labels_say_what_they_allow_and_very_few_stop() -> None:
    found = check(pairs(good=40))
    assert "expect noise" in one(found, "few").sentence
    assert may_train(found)
    assert one(check(pairs(good=8)), "too-few").severity is Severity.STOPS
    assert one(check(LabelSet(LabelKind.PAIRS)), "too-few").severity is Severity.STOPS


def test_labels_of_one_document_count_less() -> None:
    made = [Example((f"a{i}", f"b{i}"), float(i % 2), (f"d{i % 12}", f"d{i % 12}")) for i in range(150)]
    labels = LabelSet(LabelKind.PAIRS, tuple(made))
    assert "few" in codes(check(labels, split(labels)))
    assert "few" not in codes(check(labels))


def test_a_text_unlike_itself_and_one_on_both_sides_are_told_apart() -> None:
    found = check(pairs(("same words", "Same  words", 1), ("one", "one", 0)))
    assert one(found, "same-text").examples == (0,)
    assert one(found, "same-text-apart").examples == (1,)


def test_leaks_are_found_by_text_by_nearly_equal_text_and_by_document() -> None:
    rows = [Example((f"t{i}", f"u{i}"), float(i % 2), (f"d{i}", f"e{i}")) for i in range(150)]
    rows += [Example(("T0", "new"), 1.0), Example(("t1!", "newer"), 0.0), Example(("v", "w"), 1.0, ("d2", ""))]
    labels = LabelSet(LabelKind.PAIRS, tuple(rows))
    parted = Split(tuple(range(100)), tuple(range(100, 153)), (), Apart.DOCUMENT, np.arange(153))
    found = check(labels, parted)
    assert one(found, "leak").examples == (150,)
    assert one(found, "near-leak").examples == (151,)
    assert one(found, "document-leak").examples == (152,)
    assert not may_train(found)
    by_text = Split(parted.train, tuple(range(100, 150)) + (152,), (), Apart.TEXT, np.arange(153))  # noqa: RUF005
    assert may_train(check(labels, by_text))


def test_a_split_of_the_program_never_leaks() -> None:
    rng = np.random.default_rng(0)
    rows = [Example((f"t{a}", f"t{b}"), float(a % 2), (f"d{a % 90}", f"d{b % 90}"))
            for a, b in rng.integers(400, size=(80, 2))]  # fmt: skip
    labels = LabelSet(LabelKind.PAIRS, tuple(rows))
    assert not codes(check(labels, split(labels))) & {"leak", "near-leak", "document-leak"}


def test_every_finding_says_what_to_do() -> None:
    rows = [("a", "b", 1), ("b", "a", 0), ("c", "c", 0), ("d", "d", 1), ("e", "f", 1), ("f", "g", 1), ("e", "g", 0)]
    for finding in check(pairs(*rows, good=10)):
        assert finding.sentence.endswith(".")
        assert finding.advice.endswith(".")


def test_fifty_thousand_labels_are_checked_in_seconds() -> None:
    rng = np.random.default_rng(1)
    picks = rng.integers(60_000, size=(50_000, 2)).tolist()
    labels = LabelSet(LabelKind.PAIRS, tuple(Example((f"t{a}", f"t{b}"), float(a % 2)) for a, b in picks))
    assert least_cpu(lambda: check(labels), enough=6.0) < 6.0  # 0.7 s measured
