"""What is wrong with labels before anything is trained on them: each finding with what to do about it.

``stops``: training on them makes no sense. ``warns``: it will do less than it could, or say more than it knows.
``tells``: good to know. Pure functions, any thread.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from sbert_desktop.training.enough import HELD_OUT, Enough, count_enough
from sbert_desktop.training.labels import (
    GRADE_TOP,
    LabelKind,
    LabelSet,
    key_of,
    nearly_same_text,
    same_text,
    value_word,
)
from sbert_desktop.training.resampling import Draws
from sbert_desktop.training.splitting import Apart, Split

FEWEST = 10
"""Labels under which nothing is trained: with a quarter kept aside, two or three would speak for all."""
RARE = 0.10
"""Share of an answer under which it is said to be rare."""
MANY_CONTRADICTIONS = 0.10
"""Share of labels in contradictions from which training on them is stopped."""
_FAR_GRADES = 2.0
"""Grades of one pair that differ by so much cannot both be meant."""
_MOST_LISTED = 50
"""Chains that are shown."""


class Severity(StrEnum):
    """How bad it is."""

    STOPS = "stops"
    WARNS = "warns"
    TELLS = "tells"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was found.

    Attributes:
        code: Stable kebab-case identifier.
        severity: How bad it is.
        sentence: What it is, in one sentence.
        advice: What to do about it.
        examples: Places of the labels concerned, rising.
        chains: For contradictions: places of the labels that say "the same" one after another, then of the one that
            says "different".
    """

    code: str
    severity: Severity
    sentence: str
    advice: str
    examples: tuple[int, ...] = ()
    chains: tuple[tuple[int, ...], ...] = ()


def check(labels: LabelSet, split: Split | None = None, *, share: float = HELD_OUT) -> tuple[Finding, ...]:
    """Gives what is wrong, the worst first.

    Args:
        labels: All of them.
        split: How they were parted, to look for what stands on both sides; None: not yet.
        share: Share that was to be kept aside.
    """
    found = [*_few(labels, split, share), *_classes(labels), *_contradictions(labels), *_sides(labels),
             *_duplicates(labels)]  # fmt: skip
    if split is not None:
        found += _leaks(labels, split)
    return tuple(sorted(found, key=lambda finding: list(Severity).index(finding.severity)))


def may_train(findings: Sequence[Finding]) -> bool:
    """Says whether nothing that was found stops training."""
    return all(finding.severity is not Severity.STOPS for finding in findings)


def how_many(labels: LabelSet, split: Split | None = None, *, share: float = HELD_OUT) -> Enough:
    """Says whether there are enough labels: what is told while judging is what is told before training.

    Args:
        labels: All of them; of relevance their questions count.
        split: How they are parted: those that have a document in common count for less. None: not yet.
        share: Share that is to be kept aside.
    """
    count = len(labels)
    if labels.kind is LabelKind.RELEVANCE:
        count = len({same_text(example.texts[0]) for example in labels.examples})
    if split is None or not split.held_out:
        return count_enough(labels.kind, count, share=share)
    draws = held_draws(labels, split)
    return count_enough(labels.kind, count, share=len(split.held_out) / len(labels), aim=share,
                        worth=draws.worth / len(draws))  # fmt: skip


def held_draws(labels: LabelSet, split: Split) -> Draws:
    """Gives how what is kept aside is drawn anew: labels, or of relevance their questions."""
    units: dict[object, list[int]] = defaultdict(list)
    for place in split.held_out:
        key = same_text(labels.examples[place].texts[0]) if labels.kind is LabelKind.RELEVANCE else place
        units[key].append(place)
    return Draws.of_units(labels, list(units.values()), split.clusters[[places[0] for places in units.values()]])


def _few(labels: LabelSet, split: Split | None, share: float) -> Iterator[Finding]:
    enough = how_many(labels, split, share=share)
    if len(labels) < FEWEST:
        said = f"There are only {len(labels)} {labels.unit}" if len(labels) != 1 else "There is only one label"
        yield Finding("too-few", Severity.STOPS, f"{said}, too few to learn from.", f"Label about {enough.alone:,}.")
    elif not enough.enough:
        advice = enough.shared or f"About {enough.alone:,} would tell more."
        yield Finding("few", Severity.WARNS, enough.sentence, advice)


def _classes(labels: LabelSet) -> Iterator[Finding]:
    values = [example.value for example in labels.examples]
    if not values:
        return
    if labels.kind is LabelKind.GRADED:
        if max(values) - min(values) < 1e-9:
            yield Finding("constant-grades", Severity.STOPS, f"All grades are {values[0]:g}: nothing can be ordered.",
                          "Grade pairs that are more and less alike.")  # fmt: skip
        return
    if labels.kind in {LabelKind.POSITIVES, LabelKind.TRIPLETS}:
        return
    counts = labels.counts()
    missing = [word for word, count in counts.items() if not count]
    if missing and labels.kind is LabelKind.NLI and len(missing) == 1:
        yield Finding("one-class-missing", Severity.WARNS, f"No label says {missing[0]}.",
                      f"Add some that say {missing[0]}.")  # fmt: skip
    elif missing:
        only = next(word for word, count in counts.items() if count)
        advice = "Add labels of other classes" if labels.kind is LabelKind.NLI else f"Add some that are {missing[0]}"
        if only in {"same", "relevant"}:
            advice += ", or train on positives only"
        yield Finding("one-class-missing", Severity.STOPS, f"All labels say {only}, so nothing can be told apart.",
                      f"{advice}.", tuple(range(len(values))))  # fmt: skip
    for word, count in counts.items():
        if 0 < count < RARE * len(values):
            places = tuple(place for place, value in enumerate(values) if value_word(labels.kind, value) == word)
            yield Finding("rare-class", Severity.TELLS, f"Only {count:,} of {len(values):,} labels say {word}.",
                          "Both answers count alike in the result; more of these make it surer.", places)  # fmt: skip


# ---------------------------------------------------------------- contradictions


def _contradictions(labels: LabelSet) -> Iterator[Finding]:
    direct = _direct(labels)
    if direct:
        places = tuple(sorted(place for group in direct for place in group))
        severity = Severity.STOPS if len(places) > MANY_CONTRADICTIONS * len(labels) else Severity.WARNS
        if labels.kind is LabelKind.TRIPLETS:
            sentence = f"{len(direct):,} triplets say the reverse of others."
        elif len(direct) == 1:
            sentence = "The same texts were given two answers once."
        else:
            sentence = f"The same texts were given two answers {len(direct):,} times."
        yield Finding("contradictions", severity, sentence, "Open them and keep one answer.", places,
                      tuple(direct[:_MOST_LISTED]))  # fmt: skip
    if labels.kind is LabelKind.PAIRS:
        told = {place for group in direct for place in group}
        chains = _chains(labels, told)
        if chains:
            places = tuple(sorted({place for chain in chains for place in chain}))
            severity = Severity.STOPS if len(chains) > MANY_CONTRADICTIONS * len(labels) else Severity.WARNS
            yield Finding("chain-contradictions", severity, _chain_sentence(labels, chains),
                          "Open them: one of the answers along the chain is wrong.", places,
                          tuple(chains[:_MOST_LISTED]))  # fmt: skip


def _direct(labels: LabelSet) -> list[tuple[int, ...]]:
    """Gives groups of labels about the same texts that cannot all be meant."""
    if labels.kind is LabelKind.TRIPLETS:
        first: dict[tuple[str, str, str], int] = {}
        groups: list[tuple[int, ...]] = []
        for place, example in enumerate(labels.examples):
            anchor, near, far = (same_text(text) for text in example.texts)
            first.setdefault((anchor, near, far), place)
            if near != far and (anchor, far, near) in first:
                groups.append((first[anchor, far, near], place))
        return groups
    said: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for place, example in enumerate(labels.examples):
        said[key_of(labels.kind, example.texts)].append(place)
    allowed = _FAR_GRADES if labels.kind is LabelKind.GRADED else 0.5
    groups = []
    for places in said.values():
        values = [labels.examples[place].value for place in places]
        if len(places) > 1 and max(values) - min(values) >= allowed:
            groups.append(tuple(places))
    return groups


def _chains(labels: LabelSet, told: set[int]) -> list[tuple[int, ...]]:
    """Gives for each "different" between texts that are the same by way of others the shortest way, and itself."""
    beside: dict[str, dict[str, int]] = defaultdict(dict)
    parent: dict[str, str] = {}

    def root(text: str) -> str:
        while parent.setdefault(text, text) != text:
            parent[text] = parent[parent[text]]
            text = parent[text]
        return text

    apart = []
    for place, example in enumerate(labels.examples):
        one, other = (same_text(text) for text in example.texts)
        if place in told or one == other:
            continue
        if example.value > 0.5:
            beside[one].setdefault(other, place)
            beside[other].setdefault(one, place)
            parent[root(one)] = root(other)
        else:
            apart.append((place, one, other))
    found = []
    for place, one, other in apart:
        if root(one) == root(other):
            found.append((*_way(beside, one, other), place))
    return found


def _way(beside: dict[str, dict[str, int]], start: str, end: str) -> list[int]:
    """Gives the labels on the shortest way between two texts that are joined."""
    came: dict[str, tuple[str, int]] = {start: ("", -1)}
    waiting = deque([start])
    while end not in came:
        text = waiting.popleft()
        for other, place in beside[text].items():
            if other not in came:
                came[other] = text, place
                waiting.append(other)
    way = []
    while end != start:
        end, place = came[end]
        way.append(place)
    return way[::-1]


def _chain_sentence(labels: LabelSet, chains: list[tuple[int, ...]]) -> str:
    *way, last = min(chains, key=len)
    one, other = labels.examples[last].texts
    walked = [_short(one)]
    here = same_text(one)
    for place in way:
        texts = labels.examples[place].texts
        following = texts[1] if same_text(texts[0]) == here else texts[0]
        walked.append(_short(following))
        here = same_text(following)
    shown = " = ".join(walked if len(walked) <= 4 else [*walked[:2], "…", walked[-1]])
    count = "One label contradicts" if len(chains) == 1 else f"{len(chains):,} labels contradict"
    end = f"yet {_short(one)} and {_short(other)} are called different."
    return f"{count} others by way of a third text: {shown}, {end}"


def _short(text: str) -> str:
    plain = " ".join(text.split())
    return f"“{plain if len(plain) <= 40 else plain[:39] + '…'}”"


# ---------------------------------------------------------------- texts


def _sides(labels: LabelSet) -> Iterator[Finding]:
    """Looks for labels whose texts are one."""
    alike, wrong = [], []
    for place, example in enumerate(labels.examples):
        forms = [same_text(text) for text in example.texts]
        if labels.kind is LabelKind.TRIPLETS:
            if forms[2] in forms[:2]:
                wrong.append(place)
            elif forms[0] == forms[1]:
                alike.append(place)
        elif forms[0] == forms[1]:
            says_so = {
                LabelKind.GRADED: example.value >= GRADE_TOP - 1,
                LabelKind.NLI: example.value == 0.0,
            }.get(labels.kind, example.value > 0.5)
            (alike if says_so else wrong).append(place)
    if wrong:
        what = "have one text as right and wrong" if labels.kind is LabelKind.TRIPLETS else "call a text unlike itself"
        severity = Severity.STOPS if len(wrong) > 0.5 * len(labels) else Severity.WARNS
        yield Finding("same-text-apart", severity, f"{len(wrong):,} of {len(labels):,} labels {what}.",
                      "Take them out: no model can learn that.", tuple(wrong))  # fmt: skip
    if alike:
        severity = Severity.STOPS if len(alike) == len(labels) else Severity.TELLS
        yield Finding("same-text", severity, f"{len(alike):,} of {len(labels):,} labels have one text on both sides.",
                      "They teach nothing; leave them or take them out.", tuple(alike))  # fmt: skip


def _duplicates(labels: LabelSet) -> Iterator[Finding]:
    first: dict[tuple[tuple[str, ...], float], int] = {}
    again = []
    for place, example in enumerate(labels.examples):
        if first.setdefault((key_of(labels.kind, example.texts), example.value), place) != place:
            again.append(place)
    if again:
        yield Finding("duplicates", Severity.TELLS, f"{len(again):,} of {len(labels):,} labels repeat others.",
                      "They count double; take them out if that is not meant.", tuple(again))  # fmt: skip


def _leaks(labels: LabelSet, split: Split) -> Iterator[Finding]:
    """Looks for what stands among what is learned from and among what is kept aside."""
    learned = {same_text(text) for place in split.train for text in labels.examples[place].texts}
    nearly = {nearly_same_text(text) for place in split.train for text in labels.examples[place].texts}
    documents = {name for place in split.train for name in labels.examples[place].documents if name}
    same, near, homes = [], [], []
    for place in split.held_out:
        example = labels.examples[place]
        if any(same_text(text) in learned for text in example.texts):
            same.append(place)
        elif any(nearly_same_text(text) in nearly for text in example.texts):
            near.append(place)
        elif any(name in documents for name in example.documents if name):
            homes.append(place)
    of = f"of {len(split.held_out):,} labels kept aside"
    advice = "Part the labels anew: what is asked must not have been shown."
    if same:
        yield Finding("leak", Severity.STOPS, f"{len(same):,} {of} have a text that is also learned from.", advice,
                      tuple(same))  # fmt: skip
    if near:
        yield Finding("near-leak", Severity.STOPS, f"{len(near):,} {of} have a text that is learned from but for "
                      "punctuation, accents or case.", advice, tuple(near))  # fmt: skip
    if homes:
        yield Finding("document-leak", Severity.WARNS if split.apart is Apart.TEXT else Severity.STOPS,
                      f"{len(homes):,} {of} are from documents that are also learned from.",
                      "The result may look better than it will be on new documents; label texts of more documents.",
                      tuple(homes))  # fmt: skip
    if split.left_out:
        yield Finding("left-out", Severity.TELLS, split.note or f"{len(split.left_out):,} labels are left out.",
                      "Label texts of more documents.", split.left_out)  # fmt: skip
