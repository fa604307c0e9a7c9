"""The vocabulary of labels: what a person, or a file, says of texts.

One :class:`Example` is one statement about two texts (or three); a :class:`LabelSet` holds those of one kind, in order.
The value of an example is a number whose meaning its kind gives:

===========  =====================================  ==================================================
kind         texts                                  value
===========  =====================================  ==================================================
pairs        two texts                              1 same, 0 different
positives    two texts that belong together         1
graded       two texts                              0 (nothing in common) to 5 (the same)
triplets     anchor, positive, negative             1
nli          premise, hypothesis                    0 entailment, 1 neutral, 2 contradiction
relevance    question, passage                      1 answers it, 0 does not
===========  =====================================  ==================================================

Pure functions, any thread.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol


class LabelKind(StrEnum):
    """What kind of statement a label is; the table above says what its texts and its value are."""

    PAIRS = "pairs"
    POSITIVES = "positives"
    GRADED = "graded"
    TRIPLETS = "triplets"
    NLI = "nli"
    RELEVANCE = "relevance"

    @property
    def texts(self) -> int:
        """How many texts an example has."""
        return 3 if self is LabelKind.TRIPLETS else 2

    @property
    def ordered(self) -> bool:
        """False where the two texts may be swapped without a change of meaning."""
        return self in {LabelKind.TRIPLETS, LabelKind.NLI, LabelKind.RELEVANCE}

    @property
    def unit(self) -> str:
        """What one label is called in a sentence, in the plural."""
        return {
            LabelKind.PAIRS: "pairs",
            LabelKind.POSITIVES: "pairs that belong together",
            LabelKind.GRADED: "graded pairs",
            LabelKind.TRIPLETS: "triplets",
            LabelKind.NLI: "sentence pairs",
            LabelKind.RELEVANCE: "judged passages",
        }[self]


GRADE_TOP = 5.0
"""The highest grade; 0 is the lowest. Source: the STS tasks of SemEval."""
NLI_NAMES = ("entailment", "neutral", "contradiction")
"""The words of the values 0, 1 and 2. Source: the order of SNLI and MultiNLI as data sets."""
SAME, DIFFERENT = "same", "different"
RELEVANT, NOT_RELEVANT = "relevant", "not relevant"
GRADE_WORD = "grade"
"""Kind of a judgement in the library whose verdict is a number from 0 to 5."""


@dataclass(frozen=True, slots=True)
class Example:
    """One label.

    Attributes:
        texts: Two or three, as the kind says.
        value: As the kind says.
        documents: For each text the sha256 of the document that it is from, ``""`` where it is not known (a question
            has none). Empty: none is known.
        source: Where it came from, to be shown: ``judgement``, or the name of a file.
        line: The line of the file, from 1; 0 for what is not from a file.
        made: When it was said, in seconds since the epoch; 0 where that is not known.
    """

    texts: tuple[str, ...]
    value: float
    documents: tuple[str, ...] = ()
    source: str = ""
    line: int = 0
    made: float = 0.0

    def document(self, place: int) -> str:
        """Gives the sha256 of the document of a text, ``""`` where it is not known."""
        return self.documents[place] if place < len(self.documents) else ""


@dataclass(frozen=True, slots=True)
class LabelSet:
    """Labels of one kind, in the order in which they were made."""

    kind: LabelKind
    examples: tuple[Example, ...] = ()

    def __len__(self) -> int:
        return len(self.examples)

    @property
    def unit(self) -> str:
        """What one label is called in a sentence, in the plural."""
        return self.kind.unit

    def only(self, places: Iterable[int]) -> LabelSet:
        """Gives the labels at these places, in the order given."""
        return LabelSet(self.kind, tuple(self.examples[place] for place in places))

    def counts(self) -> dict[str, int]:
        """Gives how many labels say what, in words: ``{"same": 38, "different": 26}``."""
        found = Counter(value_word(self.kind, example.value) for example in self.examples)
        order = [value_word(self.kind, value) for value in _VALUES.get(self.kind, ())]
        return {word: found[word] for word in order} if order else dict(sorted(found.items()))


_VALUES: dict[LabelKind, tuple[float, ...]] = {
    LabelKind.PAIRS: (1.0, 0.0),
    LabelKind.POSITIVES: (1.0,),
    LabelKind.TRIPLETS: (1.0,),
    LabelKind.NLI: (0.0, 1.0, 2.0),
    LabelKind.RELEVANCE: (1.0, 0.0),
}


def value_word(kind: LabelKind, value: float) -> str:
    """Gives the word that a person knows a value by."""
    if kind is LabelKind.GRADED:
        return f"{value:g}"
    if kind is LabelKind.NLI:
        return NLI_NAMES[int(value)]
    if kind is LabelKind.POSITIVES:
        return "belongs together"
    if kind is LabelKind.TRIPLETS:
        return "triplet"
    if kind is LabelKind.RELEVANCE:
        return RELEVANT if value > 0.5 else NOT_RELEVANT
    return SAME if value > 0.5 else DIFFERENT


def value_fits(kind: LabelKind, value: float) -> bool:
    """Says whether a number may be the value of a label of this kind."""
    if kind is LabelKind.GRADED:
        return 0.0 <= value <= GRADE_TOP  # also false for nan
    return value in _VALUES[kind]


def same_text(text: str) -> str:
    """Gives the form by which two texts are the same text: letters alike, no case, white space collapsed.

    Accents and punctuation stay: what differs in them may differ in meaning ("resume", "résumé").
    """
    if text.isascii():  # nine of ten, and ten times as fast
        return " ".join(text.lower().split())
    plain = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(plain.translate(_UNSEEN).split())


def nearly_same_text(text: str) -> str:
    """Gives a form that survives what does not change what is said: punctuation, accents, case, white space.

    Used to find a text of the held-out part that stands in the training part but for a full stop. Text that has no
    letters and digits keeps its signs.
    """
    parts = unicodedata.normalize("NFKD", text).casefold()
    plain = "".join(sign if sign.isalnum() else " " for sign in parts if not unicodedata.combining(sign))
    return " ".join(plain.split()) or same_text(text)


# Soft hyphen, zero-width signs, marks of direction, byte order mark.
_UNSEEN = dict.fromkeys((0xAD, 0x200B, 0x200C, 0x200D, 0x200E, 0x200F, 0x2060, 0xFEFF))


def key_of(kind: LabelKind, texts: Sequence[str]) -> tuple[str, ...]:
    """Gives what two labels about the same texts have in common: without order where the kind knows none."""
    forms = tuple(same_text(text) for text in texts)
    return forms if kind.ordered else tuple(sorted(forms))


class Judgement(Protocol):
    """What is needed of a judgement of the library (``JudgementRecord`` there)."""

    @property
    def kind(self) -> str:
        """``same``, ``grade`` or ``relevance``; others are passed over."""
        ...

    @property
    def verdict(self) -> str:
        """What was said; words that are not known are passed over, so skipped pairs may be kept there."""
        ...

    @property
    def query(self) -> str:
        """The question, for relevance."""
        ...

    @property
    def sha256(self) -> str:
        """The document of the text."""
        ...

    @property
    def text(self) -> str:
        """The first text."""
        ...

    @property
    def other_sha256(self) -> str:
        """The document of the other text."""
        ...

    @property
    def other_text(self) -> str:
        """The other text."""
        ...

    @property
    def made(self) -> float:
        """When, in seconds since the epoch."""
        ...


def from_judgements(records: Iterable[Judgement]) -> dict[LabelKind, LabelSet]:
    """Gives what a person said as labels, by kind; kinds of which nothing was said are left out.

    Where one pair was judged more than once, the later one counts (by ``made``, then by the order given). Judgements
    without both texts are passed over (those of whole documents may keep none), and those of a text and itself (the
    person said of two copies of a file that both stay).
    """
    found: dict[LabelKind, dict[tuple[str, ...], Example]] = {}
    for record in records:
        read = _example(record)
        if read is None:
            continue
        kind, example = read
        said = found.setdefault(kind, {})
        key = key_of(kind, example.texts)
        before = said.get(key)
        if before is not None and before.made > example.made:
            continue
        said.pop(key, None)  # so that it stands at the place of the later one
        said[key] = example
    return {kind: LabelSet(kind, tuple(found[kind].values())) for kind in LabelKind if kind in found}


def _example(record: Judgement) -> tuple[LabelKind, Example] | None:
    """Reads one judgement, None where it is none that can be learned from."""
    if record.kind == "relevance":
        value = {RELEVANT: 1.0, NOT_RELEVANT: 0.0}.get(record.verdict)
        texts, documents, kind = (record.query, record.text), ("", record.sha256), LabelKind.RELEVANCE
    else:
        texts, documents = (record.text, record.other_text), (record.sha256, record.other_sha256)
        if record.kind == "same":
            value, kind = {SAME: 1.0, DIFFERENT: 0.0}.get(record.verdict), LabelKind.PAIRS
        elif record.kind == GRADE_WORD:
            value, kind = _grade(record.verdict), LabelKind.GRADED
        else:
            return None
    if value is None or not all(text.strip() for text in texts) or same_text(texts[0]) == same_text(texts[1]):
        return None
    return kind, Example(texts, value, documents, "judgement", made=record.made)


def _grade(word: str) -> float | None:
    try:
        value = float(word)
    except ValueError:
        return None
    return value if value_fits(LabelKind.GRADED, value) else None


def positives_of(labels: LabelSet) -> LabelSet:
    """Gives the pairs that belong together out of labels of any kind, for an objective that needs only those.

    Triplets give anchor and positive, grades from 4 on count as the same, entailment too. Source for 4: STS calls it
    "equivalent but for unimportant details".
    """
    return LabelSet(
        LabelKind.POSITIVES,
        tuple(
            Example(example.texts[:2], 1.0, example.documents[:2], example.source, example.line, example.made)
            for example in labels.examples
            if _positive(labels.kind, example.value)
        ),
    )


def _positive(kind: LabelKind, value: float) -> bool:
    if kind is LabelKind.NLI:
        return value == 0.0
    return value >= (4.0 if kind is LabelKind.GRADED else 0.5)
