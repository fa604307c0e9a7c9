"""Judgements of the library as labels: which belong to a task, what names each, and what can be learned from them.

A pair of passages is a judgement of kind ``same`` (or ``grade``) with no query, its sides sorted by document and place;
two whole documents are one of kind ``same`` with ``document`` as its query (``app/deciding``); a question and a passage
are one of kind ``relevance`` (``app/judging``). Any thread.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from sbert_desktop.app import deciding, judging
from sbert_desktop.app.training_views import Task
from sbert_desktop.library import JudgementRecord
from sbert_desktop.training.labels import (
    GRADE_WORD,
    Example,
    LabelKind,
    LabelSet,
    from_judgements,
    key_of,
)

KINDS: Mapping[Task, tuple[str, ...]] = {Task.SAME: (deciding.KIND, GRADE_WORD), Task.ANSWERS: (judging.KIND,)}
"""The kinds of judgements of each task."""
OPENING = 1_000
"""Characters of a whole document that stand for it: about what an encoder of 256 tokens reads."""
OF_A_DOCUMENT = 8
"""Judged pairs of whole documents that count of each document."""
_SAME_FROM, _DIFFERENT_TO = 4.0, 2.0
"""Grades that count as the same and as different beside plain verdicts. Source: the scale of STS ("4: but for
unimportant details", "2: not equivalent, but some details in common"); 3 lies between and counts as neither."""


@dataclass(frozen=True, slots=True)
class Named:
    """Labels with the id of the judgement that each is from, ``""`` for those of a table."""

    labels: LabelSet
    ids: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.labels)


def id_of(record: JudgementRecord) -> str:
    """Gives what names a judgement: the same for a verdict and a grade on the same two places."""
    query = record.query if record.kind != GRADE_WORD else ""
    key = (query, record.sha256, record.start, record.end, record.other_sha256, record.other_start, record.other_end)
    return hashlib.sha256(repr(key).encode("utf-8", "surrogatepass")).hexdigest()[:24]


def records_of(records: Iterable[JudgementRecord], task: Task) -> list[JudgementRecord]:
    """Gives the judgements of a task out of many, in their order."""
    return [record for record in records if record.kind in KINDS[task]]


def is_document(record: JudgementRecord) -> bool:
    """Says whether two whole documents were judged."""
    return record.kind == deciding.KIND and record.query == deciding.WHOLE


def opening(text: str) -> str:
    """Gives the opening passage of a document: up to :data:`OPENING` characters, cut between two words."""
    text = text.strip()
    if len(text) <= OPENING:
        return text
    head = text[:OPENING]
    end = max(head.rfind(" "), head.rfind("\n"))
    return head[: end if end > OPENING // 2 else OPENING].rstrip()


def labels_from(records: Sequence[JudgementRecord]) -> dict[LabelKind, Named]:
    """Gives what can be learned from judgements, by kind, each label with the id of its judgement.

    Two whole documents that were judged (in duplicates) are taken by their opening passages: more of them is not
    read by an encoder, and what was judged of the documents is most often true of their beginnings. Where these are
    one text, they are passed over. Of each document no more than :data:`OF_A_DOCUMENT` pairs count, the newest: "no
    duplicates" of a group of a hundred is one decision, and would outweigh with 5,000 pairs all that was judged else.
    """
    records = _thinned(records)
    shortened = [
        replace(record, text=opening(record.text), other_text=opening(record.other_text))
        if is_document(record) else record
        for record in records
    ]  # fmt: skip
    ids: dict[tuple[tuple[str, ...], tuple[str, ...], float], str] = {}
    for record in shortened:
        texts, documents = (record.text, record.other_text), (record.sha256, record.other_sha256)
        if record.kind == judging.KIND:
            texts, documents = (record.query, record.text), ("", record.sha256)
        ids[texts, documents, record.made] = id_of(record)
    found = from_judgements(shortened)
    return {
        kind: Named(labels, tuple(ids.get((one.texts, one.documents, one.made), "") for one in labels.examples))
        for kind, labels in found.items()
    }


def _thinned(records: Sequence[JudgementRecord]) -> list[JudgementRecord]:
    """Leaves out pairs of whole documents that were judged often already, in later pairs."""
    counts: Counter[str] = Counter()
    kept = []
    for record in sorted(records, key=lambda one: one.made, reverse=True):
        if is_document(record):
            if max(counts[record.sha256], counts[record.other_sha256]) >= OF_A_DOCUMENT:
                continue
            counts.update((record.sha256, record.other_sha256))
        kept.append(record)
    return kept[::-1]


def joined(found: Sequence[Named], kind: LabelKind) -> Named:
    """Gives labels of one kind from several places; exact repetitions once, in favour of the person's judgements."""
    examples: list[Example] = []
    ids: list[str] = []
    known: set[tuple[tuple[str, ...], float]] = set()
    judged: set[tuple[str, ...]] = set()
    for named in found:
        for example, id_ in zip(named.labels.examples, named.ids, strict=True):
            key = key_of(kind, example.texts)
            if id_:
                judged.add(key)
            elif (key, example.value) in known and key in judged:
                continue  # the table holds what the person judged here: an export that came back
            known.add((key, example.value))
            examples.append(example)
            ids.append(id_)
    return Named(LabelSet(kind, tuple(examples)), tuple(ids))


def main_kind(found: Mapping[LabelKind, Named], kinds: Sequence[LabelKind] = ()) -> LabelKind | None:
    """Gives the kind that is trained for: the first of ``kinds`` that is there, else the one with most labels.

    Grades go before NLI where both are there: NLI is learned from first, as a stage before. Source: Reimers &
    Gurevych 2019, who found NLI and then STS best.
    """
    there = {kind: named for kind, named in found.items() if len(named)}
    for kind in kinds:
        if kind in there:
            return kind
    if LabelKind.GRADED in there and LabelKind.NLI in there and len(there) == 2:
        return LabelKind.GRADED
    return max(there, key=lambda kind: len(there[kind]), default=None)


def as_kind(found: Mapping[LabelKind, Named], kind: LabelKind) -> tuple[Named, int]:
    """Gives all labels that can be read as one kind, and how many of the other kinds cannot.

    Grades from 4 on are "the same" among pairs, up to 2 "different"; of pairs among grades only those that are the
    same have one (5).
    """
    sets, lost = [], 0
    for other, named in found.items():
        if other is kind:
            sets.append(named)
            continue
        read = _read_as(named, other, kind)
        sets.append(read)
        lost += len(named) - len(read)
    sets.sort(key=lambda named: not any(named.ids))  # judgements first
    return joined(sets, kind), lost


def _read_as(named: Named, kind: LabelKind, wanted: LabelKind) -> Named:
    examples, ids = [], []
    for example, id_ in zip(named.labels.examples, named.ids, strict=True):
        value = _value_as(example.value, kind, wanted)
        if value is not None:
            examples.append(replace(example, value=value))
            ids.append(id_)
    return Named(LabelSet(wanted, tuple(examples)), tuple(ids))


def _value_as(value: float, kind: LabelKind, wanted: LabelKind) -> float | None:
    """Gives a value of one kind in another, None where it says nothing there."""
    if wanted is LabelKind.PAIRS and kind is LabelKind.GRADED:
        return 1.0 if value >= _SAME_FROM else 0.0 if value <= _DIFFERENT_TO else None
    if wanted is LabelKind.PAIRS and kind is LabelKind.POSITIVES:
        return 1.0
    if wanted is LabelKind.GRADED and kind is LabelKind.PAIRS:
        return 5.0 if value > 0.5 else None
    if wanted is LabelKind.POSITIVES and kind in {LabelKind.PAIRS, LabelKind.RELEVANCE}:
        return 1.0 if value > 0.5 else None
    if wanted is LabelKind.POSITIVES and kind is LabelKind.GRADED:
        return 1.0 if value >= _SAME_FROM else None
    if wanted is LabelKind.RELEVANCE and kind is LabelKind.POSITIVES:
        return 1.0
    return None
