"""What the Train page says about tasks, verdicts, kinds of tables and objectives."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from sbert_desktop.app.training_views import LabelRow, LabelsView, PairView, Task, TextSide
from sbert_desktop.domain import short_path
from sbert_desktop.ui.naming import file_words, member_words, quick_path
from sbert_desktop.ui.words import count

_SUFFIX: Final = re.compile(r"(?<=\w)\.\w{1,5}$")
SAME, DIFFERENT, RELEVANT, NOT_RELEVANT = "same", "different", "relevant", "not relevant"
GRADES: Final = ("0", "1", "2", "3", "4", "5")
GRADE_WORDS: Final = ("Unrelated", "One topic", "Some in common", "Roughly alike", "Nearly the same", "The same")
GRADES_BRIEF: Final = ("Unrelated", "One topic", "Partly", "Roughly", "Nearly", "Same")


@dataclass(frozen=True, slots=True)
class Key:
    """One of the keys that judge: the verdict, its key, what it is called, what it means, its icon and tone."""

    verdict: str
    key: str
    title: str
    meaning: str
    icon: str
    tone: str


@dataclass(frozen=True, slots=True)
class TaskWords:
    """What is asked in a task, and with which keys it is answered; 1 and 2 do the same on any keyboard."""

    tab: str
    question: str
    hint: str
    yes: Key
    no: Key
    unit: str
    units: str


TASKS: Final[dict[Task, TaskWords]] = {
    Task.SAME: TaskWords(
        "Same?", "Do these two say the same thing?",
        "Judge the meaning, not the wording. The score is hidden so as not to sway you.",
        Key(SAME, "S", "Same", "Either could answer the same question", "check", "good"),
        Key(DIFFERENT, "D", "Different", "Alike in topic at most", "close", "danger"), "pair", "pairs"),
    Task.ANSWERS: TaskWords(
        "Does this answer?", "Does this passage answer the question?",
        "Would it have helped, had you searched for this? The score is hidden.",
        Key(RELEVANT, "Y", "Yes, it answers", "You would be glad to find it", "check", "good"),
        Key(NOT_RELEVANT, "N", "No, it does not", "On the topic at most", "close", "danger"), "question", "questions"),
}

KINDS: Final[tuple[tuple[str, str, str], ...]] = (
    ("pairs", "Pairs: same or different", "Two texts, and whether they say the same."),
    ("graded", "Graded pairs, 0 to 5", "Two texts, and how alike they are."),
    ("relevance", "Questions and passages", "A question, a passage, and whether it answers."),
    ("positives", "Pairs that belong together", "A text and its partner; all others count as wrong."),
    ("triplets", "Triplets", "A text, its right partner and a wrong one."),
    ("nli", "Entailment (NLI)", "Two sentences: entailment, neutral or contradiction."),
)
FIELD_WORDS: Final = {
    "text_a": "First text", "text_b": "Second text", "label": "Label", "anchor": "Text", "positive": "Right partner",
    "negative": "Wrong partner", "sentence1": "First text", "sentence2": "Second text", "score": "Grade",
    "premise": "Premise", "hypothesis": "Hypothesis", "question": "Question", "passage": "Passage",
    "relevant": "Answers it",
}  # fmt: skip
OBJECTIVES: Final[tuple[tuple[str, str, str], ...]] = (
    ("auto", "Chosen by your labels", ""),
    ("online-contrastive", "Same or different, hard pairs", "OnlineContrastiveLoss"),
    ("contrastive", "Same or different, all pairs", "ContrastiveLoss"),
    ("multiple-negatives", "Belongs together, all others do not", "MultipleNegativesRankingLoss"),
    ("cosent", "Graded, by order", "CoSENTLoss"),
    ("angle", "Graded, by order of angles", "AnglELoss"),
    ("cosine", "Graded, by value", "CosineSimilarityLoss"),
    ("triplet", "Nearer and farther", "TripletLoss"),
    ("softmax", "Entailment, neutral or contradiction", "SoftmaxLoss"),
)
SOURCES: Final = {"train": "Judged here", "search": "Search", "duplicates": "Duplicates", "import": "Imported"}


def verdict_words(verdict: str) -> str:
    """Gives a verdict as it is shown: ``Same``, ``Grade 4``."""
    return f"Grade {verdict}" if verdict in GRADES else verdict.capitalize()


def verdict_look(verdict: str) -> tuple[str, str]:
    """Gives tone and icon of a verdict."""
    if verdict in GRADES:
        return "accent", ""
    return ("good", "check") if verdict in (SAME, RELEVANT) else ("danger", "close")


def verdicts_of(row: LabelRow) -> tuple[str, ...]:
    """Gives the verdicts that a judgement may have; whole documents (from Duplicates) have no grades."""
    words = TASKS[row.task]
    graded = row.task is Task.SAME and row.source != "duplicates"
    return (words.yes.verdict, words.no.verdict, *(GRADES if graded else ()))


def done_of(view: LabelsView) -> int:
    """Gives how many count towards enough: pairs, or questions."""
    if view.left:
        return max(0, view.enough - view.left)
    return view.total if view.task is Task.SAME else max(view.enough, len({row.left for row in view.rows}))


BRIEF: Final = 120
"""Characters of a reason that stands beside its button."""
FROM_A_TITLE: Final = "The title of a document, as you have not searched yet"


def brief(sentence: str) -> str:
    """Gives a sentence, or what it says before the examples that it names, where it is long."""
    if len(sentence) <= BRIEF:
        return sentence
    head = sentence.partition(": ")[0]
    return f"{head}." if len(head) <= BRIEF else f"{head[:BRIEF].rpartition(' ')[0]}…"


def side_title(side: TextSide) -> str:
    """Gives the name of the document that a passage stands in."""
    if side.path is None:
        return "Your question"
    if side.member:
        return member_words(side.member).rpartition(" / ")[2]
    return quick_path(side.title) if side.title and side.title != side.path.stem else file_words(side.path)


def side_place(side: TextSide) -> str:
    """Gives where a passage stands: ``~/Documents/Courses · p. 2``."""
    if side.path is None:
        return "What you searched for"
    place = short_path(side.path if side.member else side.path.parent)
    return f"{place} · p. {side.page}" if side.page is not None else place


def row_title(row: LabelRow) -> str:
    """Gives a judgement in one line: the two documents, or the question and the document."""
    return f"{_stem(row.left_title) or row.left} · {_stem(row.right_title) or row.right}"


def _stem(title: str) -> str:
    # what kind of file it is matters little here, and costs the room of its name
    return _SUFFIX.sub("", quick_path(title)) or title


def pair_aloud(pair: PairView) -> str:
    """Gives a pair as a screen reader says it."""
    first = "Question" if pair.left.path is None else f"First, from {side_title(pair.left)}"
    second = "Passage" if pair.left.path is None else "Second"
    return f"{first}: {pair.left.text} {second}, from {side_title(pair.right)}: {pair.right.text}"


def balance_of(view: LabelsView) -> tuple[tuple[str, int, str], tuple[str, int, str]]:
    """Gives both ends of what was judged, each with its word, its count and its key: grades count by their half."""
    counts = dict(view.counts)
    words = TASKS[view.task]
    high = sum(counts.get(grade, 0) for grade in GRADES[3:])
    low = sum(counts.get(grade, 0) for grade in GRADES[:3])
    yes, no = counts.get(words.yes.verdict, 0) + high, counts.get(words.no.verdict, 0) + low
    if view.task is Task.ANSWERS:
        return ("relevant", yes, "yes"), ("not relevant", no, "no")
    if high + low and not counts.get(SAME, 0) + counts.get(DIFFERENT, 0):
        return ("graded 3 to 5", yes, "yes"), ("graded 0 to 2", no, "no")
    return ("same", yes, "yes"), ("different", no, "no")


def to_go(view: LabelsView) -> str:
    """Gives what is missing: ``56 pairs``."""
    words = TASKS[view.task]
    return f"{count(view.left)} {words.unit if view.left == 1 else words.units}"
