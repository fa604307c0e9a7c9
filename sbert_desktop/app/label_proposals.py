"""Pairs to judge next, from the person's own index: few rows are compared and few texts read, however many there are.

Some rows are drawn as anchors, evenly over the clusters where these are kept, and compared with a part of the library
that is taken in stretches (neighbours on the disk are often versions of one another) and with their neighbours in the
index. Of each anchor those nearest, those near the threshold and some by lot are candidates; ``training.proposing``
chooses among them. Only then are texts read, and what turns out to be known is replaced. Any thread.
"""

from __future__ import annotations

import hashlib
import re
import threading
import time
import unicodedata
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from sbert_desktop.app import deciding, label_records
from sbert_desktop.app.training_views import PairView, Task, TextSide
from sbert_desktop.domain import PassageRecord, Snapshot, Vectors
from sbert_desktop.library import JudgementRecord
from sbert_desktop.training import proposing
from sbert_desktop.training.labels import LabelKind, same_text

if TYPE_CHECKING:
    from sbert_desktop.app.session import Session
    from sbert_desktop.domain import JobContext

Integers = NDArray[np.int64]
Marks = NDArray[np.uint64]

ANCHORS, POOL, STRETCH = 192, 16_384, 128
"""Rows that are compared with others; rows that they are compared with; rows in one piece of these."""
_ASKED_OF_INDEX, _FROM_INDEX = 48, 12
_NEAREST, _UNSURE, _BY_LOT = 5, 8, 4
"""Candidates of each anchor."""
_FEWEST_WORDS = 5
"""Words of a passage that can be judged; fewer only where there is nothing else."""
_ROUNDS = 5
"""Times that others are looked for in the place of what turned out to be known, in each stage."""
AROUND = 600
"""Characters given of what stands before and after a passage."""

_OF_SCALE = 0.58
"""Where the threshold lies between the mean of random pairs and 1, before anything is judged: 0.6 for an encoder whose
random pairs have 0.05, as all-MiniLM-L6-v2's; 0.9 for one whose random pairs have 0.75, as E5's."""
_WORTH = 20
"""Judged pairs that the threshold before anything was judged weighs as much as."""
_SECONDS = 0.15
"""How long one call may look for the vectors of judged pairs, to place the threshold; the next one goes on."""


@dataclass(slots=True)
class Memory:
    """What was proposed in this session.

    Attributes:
        texts: Hashes of the texts that were shown.
        pairs: Ids of the pairs that were shown.
        mark_pairs: The same by the marks of their vectors.
        marks: Which text, by its hash, a vector with a mark is of.
        cosines: Of pairs, by id; nan where a passage is gone.
        fingerprint: Of the encoder that marks and cosines are of.
        calls: How often pairs were asked for.
    """

    texts: set[int] = field(default_factory=set)
    pairs: set[str] = field(default_factory=set)
    mark_pairs: set[tuple[int, int]] = field(default_factory=set)
    marks: dict[int, int] = field(default_factory=dict)
    cosines: dict[str, float] = field(default_factory=dict)
    fingerprint: str = ""
    calls: int = 0


_memories: WeakKeyDictionary[Session, Memory] = WeakKeyDictionary()
_lock = threading.Lock()


def memory_of(session: Session) -> Memory:
    """Gives what was proposed in a session; cosines and marks only of the encoder in force."""
    fingerprint = session.fingerprint()
    with _lock:
        memory = _memories.setdefault(session, Memory())
        if memory.fingerprint != fingerprint:
            memory.fingerprint = fingerprint
            memory.marks.clear()
            memory.mark_pairs.clear()
            memory.cosines.clear()
        memory.calls += 1
        return memory


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
    if task is Task.ANSWERS:
        from sbert_desktop.app.label_questions import propose_answers

        return propose_answers(session, count, context, among)
    return _Proposing(session, context, among).pairs(count)


def text_hash(text: str) -> int:
    """Gives what two texts have in common that differ in case, accents and punctuation only."""
    plain = text.lower() if text.isascii() else _ACCENTS.sub("", unicodedata.normalize("NFKD", text).casefold())
    form = _SIGNS.sub(" ", plain).strip() or same_text(text)
    return int.from_bytes(hashlib.blake2b(form.encode("utf-8", "replace"), digest_size=8).digest())


_SIGNS, _ACCENTS = re.compile(r"[\W_]+"), re.compile("[\u0300-\u036f]+")


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

    # ------------------------------------------------------------ the threshold

    def _threshold(self, chance: float) -> float:
        """Gives the cosine from which two texts are called the same, as far as the judgements tell."""
        start = chance + _OF_SCALE * (1.0 - chance)
        if not self._labels:
            return start
        pairs, _ = label_records.as_kind(self._labels, LabelKind.PAIRS)
        cosines, same = self._cosines(pairs)
        if not same.any() or same.all():
            return start
        best = best_threshold(cosines, same)
        return float((best * len(same) + start * _WORTH) / (len(same) + _WORTH))

    def _cosines(self, pairs: label_records.Named) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Gives the cosines of judged pairs that are known, and of the newest others as many as there is time for."""
        known = self._memory.cosines
        missing = [id_ for id_ in pairs.ids if id_ not in known][::-1]
        began = time.monotonic()
        for id_ in missing:
            if time.monotonic() - began > _SECONDS:
                break
            record = self._records[id_]
            sides = [self._vector(record.sha256, record.start), self._vector(record.other_sha256, record.other_start)]
            one, other = sides
            known[id_] = float(one @ other) if one is not None and other is not None else np.nan
        cosines = np.array([known.get(id_, np.nan) for id_ in pairs.ids], np.float64)
        same = np.array([example.value > 0.5 for example in pairs.labels.examples], bool)
        there = np.isfinite(cosines)
        return cosines[there], same[there]

    def _vector(self, sha256: str, start: int) -> NDArray[np.float32] | None:
        """Gives the vector of the passage in which a place of a document lies; of whole documents that is the first."""
        content = self._session.library.has_content(sha256)
        snapshot = self._snapshot
        if content is None:
            return None
        rows = np.flatnonzero((snapshot.contents == int(content)) & snapshot.alive)
        rows = rows[np.argsort(snapshot.passage_ids[rows])]
        low, high = 0, len(rows)  # passages stand in a row: the last one that begins at the place or before it
        while low < high:
            middle = (low + high) // 2
            id_ = int(snapshot.passage_ids[rows[middle]])
            record = snapshot.fetch([id_]).get(id_)
            if record is None:
                return None
            low, high = (middle + 1, high) if record.start <= start else (low, middle)
        return np.asarray(snapshot.vectors[rows[max(0, low - 1)]], np.float32) if len(rows) else None

    # ------------------------------------------------------------ choosing and reading

    def _stage(
        self, found: _Candidates, threshold: float, count: int, stage: int, before: Sequence[_Chosen]
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

    def _read(self, found: _Candidates, places: Sequence[int]) -> dict[int, PassageRecord]:
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
        self, found: _Candidates, place: int, records: dict[int, PassageRecord]
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


def best_threshold(cosines: NDArray[np.float64], same: NDArray[np.bool_]) -> float:
    """Gives the cosine that parts "same" from "different" best (F1), half way between two that were seen.

    Args:
        cosines: float64 [n].
        same: bool [n], with one of each at least.
    """
    order = np.argsort(-cosines, kind="stable")
    right = np.cumsum(same[order])
    said = np.arange(1, len(order) + 1)
    f1 = 2.0 * right / (said + right[-1])
    ranked = cosines[order]
    last = np.append(ranked[:-1] > ranked[1:], True)  # only between two that differ
    place = int(np.argmax(np.where(last, f1, -1.0)))
    below = ranked[place + 1] if place + 1 < len(ranked) else ranked[place]
    return float((ranked[place] + below) / 2.0)


# ---------------------------------------------------------------- what is shown


def sides_of(snapshot: Snapshot, records: Sequence[PassageRecord], shas: dict[int, str]) -> list[TextSide]:
    """Gives passages with where they stand, and up to :data:`AROUND` characters before and after each.

    Passages of a document have numbers in a row, so that its neighbours are read, never the whole document.
    """
    near = [int(record.passage_id) + step for record in records for step in (-1, 1)]
    around = snapshot.fetch(near)
    sides = []
    for record in records:
        file = record.paths[0]
        name = (file.member or file.path.name).rpartition("/")[2]
        before, after = (around.get(int(record.passage_id) + step) for step in (-1, 1))
        sides.append(TextSide(
            record.text, file.path, file.member, record.title or name, record.location.page,
            _before(before, record), _after(after, record), int(record.content_id),
            shas.get(int(record.content_id), ""), record.start, record.end,
        ))  # fmt: skip
    return sides


def _before(other: PassageRecord | None, record: PassageRecord) -> str:
    if other is None or other.content_id != record.content_id or other.start >= record.start:
        return ""
    text = other.text[: max(0, min(other.end, record.start) - other.start)]
    return text if len(text) <= AROUND else text[-AROUND:].partition(" ")[2]


def _after(other: PassageRecord | None, record: PassageRecord) -> str:
    if other is None or other.content_id != record.content_id or other.end <= record.end:
        return ""
    text = other.text[max(0, record.end - other.start) :]
    return text if len(text) <= AROUND else text[:AROUND].rpartition(" ")[0]


# ---------------------------------------------------------------- drawing and comparing


@dataclass(frozen=True, slots=True)
class _Candidates(proposing.Candidates):
    """Candidates with the passages that they are of: ids, int64 [n]."""

    left: Integers = field(default_factory=lambda: np.empty(0, np.int64))
    right: Integers = field(default_factory=lambda: np.empty(0, np.int64))

    def only(self, places: Integers) -> _Candidates:
        """Gives those at these places."""

        def at(values: NDArray[np.int64] | None) -> NDArray[np.int64] | None:
            return None if values is None else values[places]

        return _Candidates(self.cosines[places], self.first[places], self.second[places], at(self.clusters),
                           at(self.first_documents), at(self.second_documents), self.left[places],
                           self.right[places])  # fmt: skip


@dataclass(frozen=True, slots=True)
class Drawn:
    """Rows of the library that were drawn, and the cosines of some with all.

    Attributes:
        rows: int64 [p], rising: rows of the snapshot.
        anchors: int64 [a]: places in ``rows``.
        cosines: float32 [a, p]; -2 where both are of one document.
        vectors: float32 [p, dimension].
        contents: int64 [p].
        clusters: int64 [a], None where none are kept.
        chance: Mean cosine of two passages drawn by lot, between 0 and 0.95.
    """

    rows: Integers
    anchors: Integers
    cosines: NDArray[np.float32]
    vectors: Vectors
    contents: Integers
    clusters: Integers | None
    chance: float
    among: Integers

    def candidates(self, threshold: float, rng: np.random.Generator, snapshot: Snapshot) -> _Candidates:
        """Gives pairs of each anchor: the nearest, those near the threshold, and some by lot."""
        usable = self.cosines > -1.5
        left, right = [], []
        ranked = (
            (np.where(usable, -self.cosines, np.inf), _NEAREST),
            (np.where(usable, np.abs(self.cosines - np.float32(threshold)), np.inf), _UNSURE),
            (np.where(usable, rng.random(self.cosines.shape, np.float32), np.inf), _BY_LOT),
        )
        for order, most in ranked:
            most = min(most, order.shape[1])
            best = np.argpartition(order, most - 1, axis=1)[:, :most]
            left.append(np.repeat(np.arange(len(self.anchors)), most))
            right.append(best.ravel())
        anchor, other = np.concatenate(left), np.concatenate(right)
        fine = usable[anchor, other]
        anchor, other = anchor[fine], other[fine]
        one, two = self.rows[self.anchors[anchor]], self.rows[other]
        cosines = self.cosines[anchor, other]
        more = self._of_index(rng, snapshot)
        anchor = np.concatenate([anchor, more[0]])
        one, two = np.concatenate([one, more[1]]), np.concatenate([two, more[2]])
        cosines = np.concatenate([cosines, more[3]])
        # each pair once, whichever was the anchor
        _, first = np.unique(np.stack([np.minimum(one, two), np.maximum(one, two)]), axis=1, return_index=True)
        first.sort()
        anchor, one, two, cosines = anchor[first], one[first], two[first], cosines[first]
        ids, contents = snapshot.passage_ids, snapshot.contents
        return _Candidates(
            cosines.astype(np.float64), marks_of(snapshot.vectors[one]), marks_of(snapshot.vectors[two]),
            None if self.clusters is None else self.clusters[anchor], contents[one], contents[two], ids[one], ids[two],
        )  # fmt: skip

    def _of_index(
        self, rng: np.random.Generator, snapshot: Snapshot
    ) -> tuple[Integers, Integers, Integers, NDArray[np.float32]]:
        """Gives anchors' nearest in the whole library, where it has an index: anchor, both rows, cosine."""
        index = snapshot.index
        found: list[tuple[int, int, int, float]] = []
        if index is not None:
            alive, contents = snapshot.alive, snapshot.contents
            for place in rng.permutation(len(self.anchors))[:_ASKED_OF_INDEX].tolist():
                at = int(self.anchors[place])
                rows, cosines = index.search(self.vectors[at], _FROM_INDEX)
                found += [
                    (place, int(self.rows[at]), int(row), float(cosine))
                    for row, cosine in zip(rows.tolist(), cosines.tolist(), strict=True)
                    if alive[row] and contents[row] != self.contents[at] and self._wanted(int(contents[row]))
                ]
        table = np.array(found, np.float64).reshape(-1, 4)
        whole = table[:, :3].astype(np.int64)
        return whole[:, 0], whole[:, 1], whole[:, 2], table[:, 3].astype(np.float32)


    def _wanted(self, content: int) -> bool:
        at = int(np.searchsorted(self.among, content))
        return not len(self.among) or (at < len(self.among) and int(self.among[at]) == content)


def marks_of(vectors: Vectors) -> Marks:
    """Gives a mark of each vector, uint64 [n]: equal for equal texts in equal contexts, else nearly never."""
    head = np.ascontiguousarray(vectors[:, :2], np.float32)
    if head.shape[1] < 2:
        head = np.ascontiguousarray(np.pad(head, ((0, 0), (0, 2 - head.shape[1]))))
    marks: Marks = head.view(np.uint64).ravel()
    return marks


def draw(
    snapshot: Snapshot, rng: np.random.Generator, clusters_of: Callable[[Integers], Integers | None] | None = None,
    among: Integers | None = None,
) -> Drawn | None:  # fmt: skip
    """Draws rows and compares some with all of them; None where there are no two documents to compare.

    Args:
        snapshot: A state of the library.
        rng: Says which.
        clusters_of: Gives the cluster of each content, None where none are known.
        among: Of these contents (rising) only; none: of all.
    """
    among = np.zeros(0, np.int64) if among is None else among
    alive = np.asarray(snapshot.alive)
    if len(among):
        alive = alive & np.isin(np.asarray(snapshot.contents), among)
    usable = alive & (np.asarray(snapshot.lengths) >= _FEWEST_WORDS)
    if int(usable.sum()) < min(50, int(alive.sum())):
        usable = alive
    rows = np.flatnonzero(usable)
    if len(rows) < 2:
        return None
    if len(rows) > POOL:
        starts = rng.permutation(-(-len(rows) // STRETCH))[: POOL // STRETCH] * STRETCH
        places = (np.sort(starts)[:, None] + np.arange(STRETCH)).ravel()
        rows = rows[places[places < len(rows)]]
    vectors = np.asarray(snapshot.vectors[rows], np.float32)
    contents = np.asarray(snapshot.contents[rows], np.int64)
    labels = None if clusters_of is None else clusters_of(contents)
    anchors = _anchors(labels, contents, rng)
    cosines = vectors[anchors] @ vectors.T
    cosines[contents[anchors][:, None] == contents[None, :]] = -2.0
    other = cosines[cosines > -1.5]
    if not len(other):
        return None
    chance = float(np.clip(other.mean(), 0.0, 0.95))
    return Drawn(rows, anchors, cosines, vectors, contents, None if labels is None else labels[anchors], chance,
                 among)


def _anchors(labels: Integers | None, contents: Integers, rng: np.random.Generator) -> Integers:
    """Draws anchors: clusters take turns, and within one its documents do."""
    order = rng.permutation(len(contents))
    order = order[np.argsort(_turns(contents[order]), kind="stable")]
    if labels is not None:
        order = order[np.argsort(_turns(labels[order]), kind="stable")]
    return np.sort(order[:ANCHORS])


def _turns(values: Integers) -> Integers:
    """Gives how often each value stood before: 0 for the first of its kind, 1 for the second, and so on."""
    order = np.argsort(values, kind="stable")
    ranked = values[order]
    first = np.flatnonzero(np.diff(ranked, prepend=ranked[:1] - 1))
    sizes = np.diff(np.append(first, len(ranked)))
    turns = np.empty(len(values), np.int64)
    turns[order] = np.arange(len(values)) - np.repeat(first, sizes)
    return turns
