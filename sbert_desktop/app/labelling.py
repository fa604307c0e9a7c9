"""Pairs to judge, and what the person says of them: kept, taken back, changed, listed."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from sbert_desktop.app import deciding, judging, label_records
from sbert_desktop.app.label_proposals import propose_same
from sbert_desktop.app.label_questions import propose_answers
from sbert_desktop.app.training_views import LabelRow, LabelsView, PairView, Task, TextSide
from sbert_desktop.domain import ContentId
from sbert_desktop.errors import LibraryError, SbertDesktopError, TrainingError, UsageError
from sbert_desktop.library import JudgementRecord
from sbert_desktop.training.checks import how_many
from sbert_desktop.training.labels import (
    DIFFERENT,
    GRADE_TOP,
    GRADE_WORD,
    NOT_RELEVANT,
    RELEVANT,
    SAME,
    LabelKind,
    LabelSet,
)
from sbert_desktop.training.splitting import Split, split

if TYPE_CHECKING:
    from sbert_desktop.app.session import Session
    from sbert_desktop.domain import JobContext

_SHORT = 0.2
"""Share of the rarer answer under which more of it are asked for."""
_PARTED = 2_000
"""Judgements up to which they are parted after each: a tenth of a second at most with half of them."""
_LISTED = 2_000
"""Characters shown of a text in the list of judgements."""

_changes: WeakKeyDictionary[Session, int] = WeakKeyDictionary()
_titles: WeakKeyDictionary[Session, dict[str, str]] = WeakKeyDictionary()
_lock = threading.Lock()


def propose_pairs(
    session: Session, task: Task, count: int, context: JobContext, among: Sequence[int] = ()
) -> tuple[PairView, ...]:
    """Gives pairs to judge, in the order in which to ask them; fewer, or none, where there are no more.

    No text stands twice in what one call gives, and none of an earlier call in this session or of a judgement as long
    as there are others. Nothing that was judged comes again; what was proposed and not judged (skipped) only when
    nothing else is left.

    Args:
        session: The opened library.
        task: What is to be judged.
        count: Pairs wanted.
        context: Asked between steps.
        among: Passages of these documents (content ids) only; none: of all.

    Raises:
        Cancelled: Through ``context``.
        LibraryError: The library cannot be read.
    """
    if count < 1:
        return ()
    context.progress("Looking for pairs", 0, None)
    propose = propose_answers if task is Task.ANSWERS else propose_same
    return propose(session, count, context, among)


def keep_label(session: Session, pair: PairView, verdict: str) -> LabelsView:
    """Keeps what the person said of a pair, in the place of what was said of it before; ``""`` takes it back.

    Args:
        session: The opened library.
        pair: As proposed.
        verdict: ``same``, ``different`` or a grade from 0 to 5 of two texts; ``relevant`` or ``not relevant`` of a
            question and a passage.

    Raises:
        UsageError: ``bad-verdict``.
        LibraryError: ``content-gone``, ``library-readonly`` or ``library-busy``.
    """
    verdict = checked_verdict(pair.task, verdict) if verdict else ""
    if pair.task is Task.ANSWERS:
        side = _placed(session, pair.right)
        record = JudgementRecord(judging.KIND, verdict, judging.same_query(pair.left.text), side.sha256, side.start,
                                 side.end, side.text, made=time.time())  # fmt: skip
        records = [record]
    else:
        records = _both_kinds(_record_of(session, pair), verdict)
    _write(session, records)
    return labels_view(session, pair.task)


def take_back(session: Session, task: Task, ids: Sequence[str]) -> LabelsView:
    """Takes judgements back, wherever they were made; ids that are not there (any more) are passed over.

    Raises:
        LibraryError: ``library-readonly`` or ``library-busy``.
    """
    wanted = set(ids)
    gone = [replace(record, verdict="") for record in _records(session, task) if label_records.id_of(record) in wanted]
    _write(session, gone)
    return labels_view(session, task)


def change_label(session: Session, task: Task, label: str, verdict: str) -> LabelsView:
    """Changes a judgement that was made; it stays where it stands in the list. ``""`` takes it back.

    Raises:
        UsageError: ``bad-verdict``, ``label-gone``.
        LibraryError: ``library-readonly`` or ``library-busy``.
    """
    if not verdict:
        return take_back(session, task, (label,))
    verdict = checked_verdict(task, verdict)
    found = next((record for record in _records(session, task) if label_records.id_of(record) == label), None)
    if found is None:
        raise UsageError("label-gone", "This judgement is no longer there.", "Look at the list again.")
    if label_records.is_document(found):
        if verdict not in {SAME, DIFFERENT}:
            raise UsageError("bad-verdict", "Two whole documents are the same or different.", "Grade passages instead.")
        records = [replace(found, verdict=verdict)]
    elif task is Task.ANSWERS:
        records = [replace(found, verdict=verdict)]
    else:
        records = _both_kinds(found, verdict)
    _write(session, records)
    return labels_view(session, task)


def labels_view(session: Session, task: Task) -> LabelsView:
    """Lists what was judged: while labelling, in search (relevance) and in duplicates (whole documents).

    ``enough`` and ``left`` count pairs, of questions and passages questions: what is done is ``enough - left``. What
    judgements of one document are worth is in ``sentence`` and ``shared``, as the check before training has it.
    Documents are shown, and learned from, by their opening passages. ``generation`` rises with each change made in
    this session, so that an answer that was overtaken can be told. ``source`` of a row: ``train``, ``duplicates``, or
    ``""`` for a question and a passage, which are kept alike wherever they were judged.
    """
    with _lock:
        generation = _changes.get(session, 0)
    records = _records(session, task)
    found = label_records.labels_from(records)
    kind = label_records.main_kind(found) or (LabelKind.PAIRS if task is Task.SAME else LabelKind.RELEVANCE)
    labels = label_records.as_kind(found, kind)[0].labels
    goal, stands = how_many(labels), how_many(labels, _parted(labels))
    said = Counter(record.verdict for record in records)
    order = (SAME, DIFFERENT) if task is Task.SAME else (RELEVANT, NOT_RELEVANT)
    counts = [(word, said.pop(word, 0)) for word in order] + sorted(said.items())
    return LabelsView(
        task, len(records), tuple(counts), goal.needed, 0 if goal.enough else max(1, goal.needed - goal.count),
        stands.sentence, _balance(dict(counts), order), _rows(session, task, records), generation, stands.shared,
    )  # fmt: skip


def _parted(labels: LabelSet) -> Split | None:
    """Parts labels as the check before training will, None where that cannot be or would take long."""
    if len(labels) > _PARTED:
        return None
    try:
        return split(labels)
    except TrainingError:
        return None


# ---------------------------------------------------------------- verdicts and records


def checked_verdict(task: Task, verdict: str) -> str:
    """Gives a verdict in the form in which it is kept.

    Raises:
        UsageError: ``bad-verdict``.
    """
    plain = verdict.strip().lower()
    if task is Task.ANSWERS:
        if plain in {RELEVANT, NOT_RELEVANT}:
            return plain
        raise UsageError("bad-verdict", f"{verdict!r} is no verdict.", "It is relevant or not relevant.")
    if plain in {SAME, DIFFERENT}:
        return plain
    try:
        grade = float(plain)
    except ValueError:
        grade = -1.0
    if 0.0 <= grade <= GRADE_TOP:
        return f"{grade:g}"
    raise UsageError("bad-verdict", f"{verdict!r} is no verdict.", "It is same, different, or a grade from 0 to 5.")


def _placed(session: Session, side: TextSide) -> TextSide:
    """Gives a passage with the hash of its document.

    Raises:
        LibraryError: ``content-gone``.
    """
    if side.sha256:
        return side
    sha256 = session.library.sha256_of(ContentId(side.content)) if side.content else ""
    if not sha256:
        raise LibraryError("content-gone", "This document is no longer in the library.", "Judge another pair.")
    return replace(side, sha256=sha256)


def _record_of(session: Session, pair: PairView) -> JudgementRecord:
    """Gives the judgement of two passages, without a verdict; its sides sorted, so that it is found either way."""
    sides = (_placed(session, pair.left), _placed(session, pair.right))
    one, other = sorted(sides, key=lambda side: (side.sha256, side.start, side.end))
    return JudgementRecord(deciding.KIND, "", "", one.sha256, one.start, one.end, one.text, other.sha256, other.start,
                           other.end, other.text, made=time.time())  # fmt: skip


def _both_kinds(record: JudgementRecord, verdict: str) -> list[JudgementRecord]:
    """Gives a plain verdict and a grade on the same pair, of which one is taken back: never both are there."""
    graded = bool(verdict) and verdict not in {SAME, DIFFERENT}
    return [
        replace(record, kind=deciding.KIND, verdict="" if graded else verdict),
        replace(record, kind=GRADE_WORD, verdict=verdict if graded else ""),
    ]


def _records(session: Session, task: Task) -> list[JudgementRecord]:
    """Gives the judgements of a task, oldest first."""
    records = [record for kind in label_records.KINDS[task] for record in session.library.judgements(kind)]
    return sorted(records, key=lambda record: record.made)


def _write(session: Session, records: Sequence[JudgementRecord]) -> None:
    if not records:
        return
    session.library.judge_all(records)
    with _lock:
        _changes[session] = _changes.get(session, 0) + 1


# ---------------------------------------------------------------- what is shown


def _balance(counts: dict[str, int], order: tuple[str, str]) -> str:
    """Says whether one of the two answers is short; of grades, whether one end of the scale is."""
    grades = {float(word): count for word, count in counts.items() if word not in order}
    first = counts[order[0]] + sum(count for grade, count in grades.items() if grade >= 3.0)
    second = counts[order[1]] + sum(count for grade, count in grades.items() if grade < 3.0)
    total = first + second
    words = order if not grades else (f"{order[0]} or graded 3 and more", f"{order[1]} or graded less than 3")
    if not total:
        return ""
    few, word = min((first, words[0]), (second, words[1]))
    if not few:
        return f"None of {total:,} is {word}: both answers are needed."
    if few < _SHORT * total:
        verb = "is" if few == 1 else "are"
        return f"Only {few:,} of {total:,} {verb} {word}: more of these would help."
    return f"{first:,} {words[0]}, {second:,} {words[1]}: well mixed."


def _rows(session: Session, task: Task, records: Sequence[JudgementRecord]) -> tuple[LabelRow, ...]:
    titles = _Titles(session)
    rows = []
    for record in reversed(records):
        id_ = label_records.id_of(record)
        if task is Task.ANSWERS:
            rows.append(LabelRow(id_, task, record.query, _listed(record.text), record.verdict, record.made,
                                 right_title=titles.of(record.sha256)))  # fmt: skip
            continue
        document = label_records.is_document(record)
        left, right = record.text, record.other_text
        if document:
            left, right = label_records.opening(left), label_records.opening(right)
        rows.append(LabelRow(
            id_, task, _listed(left), _listed(right), record.verdict, record.made,
            "duplicates" if document else "train", titles.of(record.sha256), titles.of(record.other_sha256),
        ))  # fmt: skip
    return tuple(rows)


def _listed(text: str) -> str:
    return text if len(text) <= _LISTED else f"{text[: _LISTED - 1]}…"


class _Titles:
    """Names of documents by their hash; each is looked up once in a session, and once more where it was gone."""

    def __init__(self, session: Session) -> None:
        self._library = session.library
        with _lock:
            self._known = _titles.setdefault(session, {})

    def of(self, sha256: str) -> str:
        """Gives the name of the file, ``""`` where the document is gone."""
        name = self._known.get(sha256)
        if name is None:
            name = self._look_up(sha256)
            if name:
                self._known[sha256] = name
        return name

    def _look_up(self, sha256: str) -> str:
        try:
            content = self._library.has_content(sha256)
            files = self._library.paths_of(content) if content is not None else ()
        except SbertDesktopError:
            return ""
        if not files:
            return ""
        return (files[0].member or files[0].path.name).rpartition("/")[2]
