"""What stands in the column of the label: the words and numbers that people and data sets use, read and written."""

from __future__ import annotations

from collections.abc import Callable

from sbert_desktop.training.labels import GRADE_TOP, NLI_NAMES, LabelKind, value_word

_YES = frozenset(("1", "1.0", "true", "yes", "y", "same", "duplicate", "relevant", "match", "equal", "paraphrase"))
_NO = frozenset(("0", "0.0", "false", "no", "n", "different", "distinct", "irrelevant", "unequal", "not relevant",
                 "not_relevant", "not duplicate", "not_duplicate", "not same", "no match"))  # fmt: skip
_NLI_WORDS = {
    **{word: float(value) for value, word in enumerate(NLI_NAMES)},
    **{f"{value}": float(value) for value in range(3)},
    **{f"{value}.0": float(value) for value in range(3)},
    "entails": 0.0, "contradicts": 2.0, "e": 0.0, "n": 1.0, "c": 2.0,
}  # fmt: skip
_NO_GOLD = frozenset(("-", "-1", "-1.0"))  # SNLI's pairs on which the annotators did not agree


def is_yes_or_no(word: str) -> bool:
    """Says whether a cell, in small letters, says that two texts belong together or that they do not."""
    return word in _YES or word in _NO


def is_entailment(word: str, *, numbers: bool = False) -> bool:
    """Says whether a cell, in small letters, names an entailment, or none agreed upon; ``numbers``: also 0, 1 and 2."""
    return word in _NO_GOLD or word in (_NLI_WORDS if numbers else NLI_NAMES)


def number(cell: str) -> float | None:
    """Reads a number, with a point or a comma; None for what is none (nan and inf are none)."""
    try:
        read = float(cell.strip().replace(",", "."))
    except ValueError:
        return None
    return read if abs(read) < 1e300 else None


def value_reader(kind: LabelKind, scale: tuple[float, float]) -> Callable[[str], float | str]:
    """Gives a function from a cell to its value, or to the reason why it is none; equal cells are read once.

    Args:
        kind: Kind of label.
        scale: The lowest and highest grade of the table; grades become 0-5.
    """
    known: dict[str, float | str] = {}
    low, high = scale

    def read(cell: str) -> float | str:
        word = cell.strip().lower()
        if not word:
            return "the label is empty"
        if kind is LabelKind.NLI:
            if word in _NO_GOLD:
                return "the annotators did not agree"
            return _NLI_WORDS.get(word, f"the label {cell.strip()[:40]!r} is not entailment, neutral or contradiction")
        if kind is LabelKind.GRADED:
            grade = number(word)
            if grade is None or not low <= grade <= high:
                return f"the grade {cell.strip()[:40]!r} is not from {low:g} to {high:g}"
            return (grade - low) * GRADE_TOP / (high - low)
        if word in _YES or word in _NO:
            return float(word in _YES)
        return f"the label {cell.strip()[:40]!r} is neither 0 nor 1"

    def value(cell: str) -> float | str:
        if cell not in known:
            known[cell] = read(cell)
        return known[cell]

    return value


def written(kind: LabelKind, value: float) -> str:
    """Gives a value as it stands in a file."""
    return value_word(kind, value) if kind is LabelKind.NLI else f"{value:g}"
