"""Pairs of texts to judge next, from the person's own index: few texts are read, however many there are.

Rows are drawn and compared (``app/label_draws``); ``training.proposing`` chooses among the candidates. Only then are
texts read, and what turns out to be known is replaced. Any thread.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sbert_desktop.app import deciding, label_records
from sbert_desktop.app.label_draws import DrawnPairs, Integers, draw
from sbert_desktop.app.label_memory import memory_of, text_hash
from sbert_desktop.app.label_sides import sides_of
from sbert_desktop.app.label_threshold import Threshold
from sbert_desktop.app.training_views import PairView, Task
from sbert_desktop.domain import PassageRecord
from sbert_desktop.library import JudgementRecord
from sbert_desktop.training import proposing

if TYPE_CHECKING:
    from sbert_desktop.app.session import Session
    from sbert_desktop.domain import JobContext

_ROUNDS = 5
"""Times that others are looked for in the place of what turned out to be known, in each stage."""


def propose_same(session: Session, count: int, context: JobContext, among: Sequence[int] = ()) -> tuple[PairView, ...]:
    """Gives pairs of passages that may say the same; see :func:`sbert_desktop.app.labelling.propose_pairs`.

    Raises:
        Cancelled: Through ``context``.
        LibraryError: The library cannot be read.
    """
    return _Proposing(session, context, among).pairs(count)


@dataclass(frozen=True, slots=True)
class _Chosen:
    why: str
    left: PassageRecord
    right: PassageRecord
    cosine: float


class _Proposing:
    """One call: draws, compares, chooses, reads."""

    def __init__(self, session: Session, context: JobContext, among: Sequence[int] = ()) -> None:
        self._session, self._context = session, context
        self._among = np.unique(np.asarray(among, np.int64))
        self._memory = memory_of(session)
        self._snapshot = session.snapshot()
        self._rng = np.random.default_rng((20_260_101, self._memory.calls))
        records = [one for kind in label_records.KINDS[Task.SAME] for one in session.library.judgements(kind)]
        self._labels = label_records.labels_from(records)
        self._records = {label_records.id_of(record): record for record in records}
        self._judged_texts = {  # whole documents are none of the passages that are asked about
            _both(text_hash(one.text), text_hash(one.other_text))
            for one in records
            if not label_records.is_document(one)
        }
        self._old_texts = {text for pair in self._judged_texts for text in pair}
        self._shas: dict[int, str] = {}

    def pairs(self, count: int) -> tuple[PairView, ...]:
        """Gives them."""
        drawn = draw(self._snapshot, self._rng, self._clusters_of, self._among)
        if drawn is None:
            return ()
        self._context.check()
        threshold = self._threshold(drawn.chance)
        found = drawn.candidates(threshold, self._rng, self._snapshot)
        chosen: list[_Chosen] = []
        if len(found.cosines):
            for stage in range(3):
                if len(chosen) < count:
                    chosen += self._stage(found, threshold, count - len(chosen), stage, chosen)
        return self._shown(chosen)

    def _clusters_of(self, contents: Integers) -> Integers | None:
        """Gives the cluster of each content, -1 for those in none (yet); None where no clusters are kept."""
        from sbert_desktop.app.theme_desk import desk_of

        themes = desk_of(self._session).stored(self._session)
        if themes is None or not themes.themes or not len(themes.keys):
            return None
        distinct, place = np.unique(contents, return_inverse=True)
        self._shas.update(self._session.library.sha256s(distinct.tolist()))
        keys = np.array([self._shas.get(one, "").encode("ascii", "replace") for one in distinct.tolist()],
                        themes.keys.dtype)  # fmt: skip
        order = np.argsort(themes.keys)
        at = order[np.minimum(np.searchsorted(themes.keys, keys, sorter=order), len(order) - 1)]
        labels: Integers = np.where(themes.keys[at] == keys, themes.labels()[at], -1).astype(np.int64)
        return labels[place]

    def _threshold(self, chance: float) -> float:
        threshold = Threshold(self._session.library, self._snapshot, self._records, self._memory.cosines)
        return threshold.find(self._labels, chance)

    # ------------------------------------------------------------ choosing and reading

    def _stage(
        self, found: DrawnPairs, threshold: float, count: int, stage: int, before: Sequence[_Chosen]
    ) -> list[_Chosen]:
        """Chooses pairs: first among texts that are new, then among pairs that are, then among all not judged."""
        memory = self._memory
        used = {text_hash(side.text) for pair in before for side in (pair.left, pair.right)}
        avoided = memory.texts | self._old_texts if stage == 0 else set()
        free = np.ones(len(found.cosines), bool)
        chosen: list[_Chosen] = []
        for _ in range(_ROUNDS):
            self._context.check()
            missing = count - len(chosen)
            if missing <= 0:
                break
            places = np.flatnonzero(free)
            proposals = proposing.propose_pairs(
                found.only(places), threshold, missing + missing // 2,
                shown=self._known_marks(avoided | used), judged=self._known_pairs(stage),
                seed=int(self._rng.integers(2**31)),
            )  # fmt: skip
            if not proposals:
                break
            at = [int(places[one.place]) for one in proposals]
            records = self._read(found, at)
            for place, proposal in zip(at, proposals, strict=True):
                if len(chosen) == count:
                    break
                free[place] = False
                pair = self._pair(found, place, records)
                if pair is None:
                    continue
                left, right = (text_hash(side.text) for side in pair)
                id_ = self._id(*pair)
                if (
                    left == right or used & {left, right} or avoided & {left, right}
                    or id_ in self._records or _both(left, right) in self._judged_texts
                    or (stage < 2 and id_ in memory.pairs)
                ):  # fmt: skip
                    continue
                used |= {left, right}
                memory.mark_pairs.add((int(found.first[place]), int(found.second[place])))
                cosine = float(found.cosines[place])
                memory.cosines[id_] = cosine
                chosen.append(_Chosen(proposal.why.value, *pair, cosine))
        return chosen

    def _known_marks(self, texts: Collection[int]) -> list[int]:
        """Gives the marks of vectors that are known to be of one of these texts."""
        return [mark for mark, text in self._memory.marks.items() if text in texts]

    def _known_pairs(self, stage: int) -> set[tuple[int, int]]:
        """Gives marks of pairs that need not be read to know that they were judged, or proposed before."""
        pairs = set(self._memory.mark_pairs) if stage < 2 else set()
        marks: dict[int, list[int]] = {}
        for mark, text in self._memory.marks.items():
            marks.setdefault(text, []).append(mark)
        for one, other in self._judged_texts:
            pairs |= {(a, b) for a in marks.get(one, ()) for b in marks.get(other, ())}
        return pairs

    def _read(self, found: DrawnPairs, places: Sequence[int]) -> dict[int, PassageRecord]:
        """Reads the passages of candidates; remembers which texts their marks are of."""
        wanted = [int(ids[place]) for place in places for ids in (found.left, found.right)]
        records = self._snapshot.fetch(wanted)
        missing = {int(record.content_id) for record in records.values()} - self._shas.keys()
        self._shas.update(self._session.library.sha256s(missing))
        for place in places:
            for ids, marks in ((found.left, found.first), (found.right, found.second)):
                record = records.get(int(ids[place]))
                if record is not None:
                    self._memory.marks[int(marks[place])] = text_hash(record.text)
        return records

    def _pair(
        self, found: DrawnPairs, place: int, records: dict[int, PassageRecord]
    ) -> tuple[PassageRecord, PassageRecord] | None:
        """Gives the two passages of a candidate as they are stored, None where one is gone or has no words."""
        sides = [records.get(int(ids[place])) for ids in (found.left, found.right)]
        there = [one for one in sides if one is not None and int(one.content_id) in self._shas and one.text.strip()]
        if len(there) < 2:
            return None
        there.sort(key=lambda one: (self._shas[int(one.content_id)], one.start, one.end))
        return there[0], there[1]

    def _id(self, left: PassageRecord, right: PassageRecord) -> str:
        one, other = self._shas[int(left.content_id)], self._shas[int(right.content_id)]
        record = JudgementRecord(deciding.KIND, "", "", one, left.start, left.end, "", other, right.start, right.end)
        return label_records.id_of(record)

    def _shown(self, chosen: Sequence[_Chosen]) -> tuple[PairView, ...]:
        sides = [side for pair in chosen for side in (pair.left, pair.right)]
        shown = iter(sides_of(self._snapshot, sides, self._shas))
        pairs = []
        for one in chosen:
            id_ = self._id(one.left, one.right)
            pairs.append(PairView(id_, Task.SAME, next(shown), next(shown), one.why))
            self._memory.pairs.add(id_)
            self._memory.texts |= {text_hash(one.left.text), text_hash(one.right.text)}
        return tuple(pairs)


def _both(one: int, other: int) -> tuple[int, int]:
    return (one, other) if one <= other else (other, one)
