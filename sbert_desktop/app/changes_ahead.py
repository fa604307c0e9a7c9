"""What would change with a tuned model, before anything is encoded anew: searches, related documents, the map.

A bounded sample of passages is read with the tuned model, and compared with the vectors that the library has: what the
person's saved searches (and ten more questions) find now, what lies near it by meaning or by words, and documents from
everywhere. Ranks are those among the sample, by meaning alone, so both sides are asked alike. The library is only read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sbert_desktop.app.model_readers import EncoderReader
from sbert_desktop.app.session import Session
from sbert_desktop.app.training_views import Arrow, ChangeRow, ComparisonView, SideBySide
from sbert_desktop.domain import JobContext, PassageRecord, Snapshot, Vectors, display_path
from sbert_desktop.errors import SbertDesktopError
from sbert_desktop.training.labels import LabelKind, LabelSet

if TYPE_CHECKING:
    from sbert_desktop.explore.layout import Positions

Integers = NDArray[np.int64]

_SAVED, _SAMPLED, _JUDGED = 15, 10, 20
"""Saved searches, questions that are sampled beside them, and judged questions that are asked at most."""
_BY_MEANING, _BY_WORDS = 30, 10
"""Passages of each question that are read."""
_MOST = 1_200
"""Passages read in all: about half a minute of a small model on two cores."""
_DOCUMENTS, _OF_EACH = 300, 2
"""Documents from everywhere, and the first passages of each that stand for it."""
_PAIRED = 100
"""Of them, documents that were chosen because another is near: what is related, or nearly so."""
_LOOKED_AT = 2_000
"""Documents among which those are sought."""
_SHOWN = 5
_RANKED = 100
_TITLE = (8, 90)
"""Characters of a title that can stand for a question."""
_BYTES = 4
_BLOCK = 50_000


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question: ``right``: the content that was judged to answer it, -1 where none was."""

    text: str
    saved: bool = False
    right: int = -1


@dataclass(frozen=True, slots=True)
class _Sample:
    """What both models are asked about.

    ``rows``: of the snapshot; ``records`` and ``contents`` (int64) of each. ``documents``: contents on the map, int64.
    """

    asked: tuple[_Asked, ...]
    vectors: Vectors  # of the questions, as now
    rows: Integers
    records: tuple[PassageRecord, ...]
    contents: Integers
    documents: Integers
    names: dict[int, str]


def changes_ahead(
    session: Session, view: ComparisonView, reader: EncoderReader, context: JobContext, *, held: LabelSet | None = None
) -> ComparisonView:
    """Adds to a comparison what would change in this library; nothing where it has no vectors.

    Args:
        session: The opened library, with the model that is in use.
        view: The comparison.
        reader: Reads with the tuned model.
        context: Asked and told throughout.
        held: Labels that were kept aside: their questions are asked, too, where they are of the library.
    """
    try:
        session.encoder()  # first, so that the snapshot is of its space
        snapshot = session.snapshot()
        sample = _sample(session, snapshot, held, context)
    except SbertDesktopError:  # no library, or no model in use: there is nothing to compare with
        return view
    if sample is None:
        return view
    now = np.ascontiguousarray(snapshot.vectors[sample.rows])
    tuned = reader.passages([record.text for record in sample.records], context)
    queries = reader.queries([one.text for one in sample.asked], context)
    context.progress("Looking at what would change", 0, None)
    changes, searches = _searches(sample, now @ sample.vectors.T, tuned @ queries.T)
    old, new = _document_vectors(sample, now), _document_vectors(sample, tuned)
    gained, lost = _groups(old, new, session.settings.number("duplicates.related") / 100)
    speed = reader.speed
    return replace(
        view, changes=changes, searches=searches, groups_gained=gained, groups_lost=lost,
        arrows=_arrows(sample, old, new, context), passages=snapshot.passages,
        minutes=round(snapshot.passages / speed / 60, 1) if speed else 0.0,
        bytes=snapshot.passages * tuned.shape[1] * _BYTES,
    )  # fmt: skip


# ---------------------------------------------------------------- the sample


def _sample(session: Session, snapshot: Snapshot, held: LabelSet | None, context: JobContext) -> _Sample | None:
    alive = np.flatnonzero(snapshot.alive)
    if not len(alive) or session.encoder().info.dimension != snapshot.vectors.shape[1]:
        return None  # nothing to compare with, or another model is just coming into force
    rng = np.random.default_rng(0)
    map_rows, documents = _from_everywhere(snapshot, alive, rng)
    asked = _questions(session, snapshot, alive, held, rng)
    encoder = session.encoder()
    vectors = (np.stack([encoder.encode_query(one.text) for one in asked]) if asked
               else np.zeros((0, snapshot.vectors.shape[1]), np.float32))  # fmt: skip
    chosen = [map_rows]
    by_id = np.argsort(snapshot.passage_ids[alive], kind="stable")
    ids = snapshot.passage_ids[alive][by_id]
    for one, nearest in zip(asked, _nearest(snapshot, alive, vectors, _BY_MEANING), strict=True):
        context.check()
        chosen.append(nearest)
        found = snapshot.keyword(one.text, None, _BY_WORDS)[0]
        places = np.searchsorted(ids, found)
        places[places == len(ids)] = 0
        chosen.append(alive[by_id[places[ids[places] == found]]])
        if one.right >= 0:
            chosen.append(alive[snapshot.contents[alive] == one.right][:_BY_MEANING])
    rows = np.unique(np.concatenate(chosen)).astype(np.int64)
    if len(rows) > _MOST:  # what is on the map stays, and as much of the rest as may be
        rest = rng.permutation(np.setdiff1d(rows, map_rows))
        rows = np.sort(np.concatenate([map_rows, rest[: max(0, _MOST - len(map_rows))]]))
    records = snapshot.fetch([int(one) for one in snapshot.passage_ids[rows]])
    there = np.array([int(one) in records for one in snapshot.passage_ids[rows]], np.bool_)
    rows = rows[there]
    if not len(rows):
        return None
    found_records = tuple(records[int(one)] for one in snapshot.passage_ids[rows])
    contents = snapshot.contents[rows].astype(np.int64)
    names = {int(content): _name(record) for content, record in zip(contents, found_records, strict=True)}
    return _Sample(asked, vectors, rows, found_records, contents, documents[np.isin(documents, contents)], names)


def _nearest(snapshot: Snapshot, alive: Integers, vectors: Vectors, count: int) -> list[Integers]:
    """Gives for each question the rows nearest to it by meaning; all vectors are read once, without a copy of them."""
    best = [np.zeros((2, 0)) for _ in vectors]
    for start in range(0, len(alive), _BLOCK):
        rows = alive[start : start + _BLOCK]
        for place, cosines in enumerate((snapshot.vectors[rows] @ vectors.T).T):
            both = np.concatenate([best[place], np.stack([cosines, rows])], axis=1)
            top = np.argsort(-both[0], kind="stable")[:count]
            best[place] = both[:, top]
    return [found[1].astype(np.int64) for found in best]


def _name(record: PassageRecord) -> str:
    """Gives what a person knows a document by."""
    if not record.paths:
        return record.title
    first = record.paths[0]
    return display_path(first.member or first.path.name)


def _from_everywhere(snapshot: Snapshot, alive: Integers, rng: np.random.Generator) -> tuple[Integers, Integers]:
    """Chooses documents by lot and some that are near another; gives rows of their first passages, and contents."""
    contents = snapshot.contents[alive].astype(np.int64)
    known, first = np.unique(contents, return_index=True)
    looked = np.sort(rng.permutation(len(known))[:_LOOKED_AT])
    near: list[int] = []
    if len(known) > _DOCUMENTS:
        vectors = snapshot.vectors[alive[first[looked]]]
        cosines = vectors @ vectors.T
        np.fill_diagonal(cosines, -1.0)
        nearest = cosines.argmax(axis=1)
        for place in np.argsort(-cosines.max(axis=1), kind="stable").tolist():
            near += [one for one in (place, int(nearest[place])) if one not in near]
            if len(near) >= _PAIRED:
                break
    others = [one for one in rng.permutation(len(looked)).tolist() if one not in set(near)]
    documents = known[looked[np.array([*near, *others][:_DOCUMENTS], np.int64)]]
    order = np.argsort(contents, kind="stable")
    starts = np.searchsorted(contents[order], documents)
    ends = np.searchsorted(contents[order], documents, side="right")
    rows = [alive[order[start : min(end, start + _OF_EACH)]] for start, end in zip(starts, ends, strict=True)]
    return np.concatenate(rows).astype(np.int64), documents


def _questions(
    session: Session, snapshot: Snapshot, alive: Integers, held: LabelSet | None, rng: np.random.Generator
) -> tuple[_Asked, ...]:
    """Gives judged questions that were kept aside, saved searches, and ten more: what was searched for, else titles."""
    from sbert_desktop.app.collecting import unpack_query

    library = session.library
    found: dict[str, _Asked] = {}
    examples = held.examples if held is not None and held.kind is LabelKind.RELEVANCE else ()
    for example in examples:
        content = library.has_content(example.document(1)) if example.value > 0.5 and example.document(1) else None
        if content is not None and len(found) < _JUDGED:
            found.setdefault(example.texts[0].strip(), _Asked(example.texts[0].strip(), right=int(content)))
    for search in library.saved_searches()[:_SAVED]:
        words = unpack_query(search.query).words.strip()
        if words:
            found[words] = replace(found.get(words, _Asked(words)), saved=True)
    wanted = len(found) + _SAMPLED
    for text in library.history(100):
        if len(found) < wanted and text.strip():
            found.setdefault(text.strip(), _Asked(text.strip()))
    known, first = np.unique(snapshot.contents[alive], return_index=True)
    picks = rng.permutation(len(known))[: 4 * _SAMPLED]
    records = snapshot.fetch([int(snapshot.passage_ids[alive[first[pick]]]) for pick in picks])
    for record in records.values():
        title = " ".join(record.title.split())
        if len(found) < wanted and _TITLE[0] <= len(title) <= _TITLE[1]:
            found.setdefault(title, _Asked(title))
    return tuple(found.values())


# ---------------------------------------------------------------- searches


def _searches(
    sample: _Sample, now: NDArray[np.float32], tuned: NDArray[np.float32]
) -> tuple[tuple[ChangeRow, ...], tuple[SideBySide, ...]]:
    """Gives how each question is answered by both; cosines float32 [passages, questions]."""
    changes, searches = [], []
    for place, one in enumerate(sample.asked):
        orders = [_documents(cosines[:, place], sample.contents) for cosines in (now, tuned)]
        named = [tuple(dict.fromkeys(sample.names[content] for content in order[:_SHOWN])) for order in orders]
        searches.append(SideBySide(one.text, named[0], named[1], one.saved))
        content = one.right if one.right in sample.names else orders[1][0]
        before, after = (_rank(order, content) for order in orders)
        if one.right == content or before != after:
            changes.append(ChangeRow(one.text, sample.names[content], before, after, one.right == content))
    # What the person knows best comes first: their own judgements, then what moves most.
    changes.sort(key=lambda row: (not row.judged, -abs((row.now or _RANKED) - (row.tuned or _RANKED))))
    return tuple(changes), tuple(sorted(searches, key=lambda search: not search.saved))


def _documents(cosines: NDArray[np.float32], contents: Integers) -> list[int]:
    """Gives documents by their best passage, the best first."""
    order = np.argsort(-cosines, kind="stable")
    return list(dict.fromkeys(contents[order].tolist()))


def _rank(order: Sequence[int], content: int) -> int:
    rank = order.index(content) + 1 if content in order else 0
    return rank if rank <= _RANKED else 0


# ---------------------------------------------------------------- documents


def _document_vectors(sample: _Sample, vectors: Vectors) -> Vectors:
    """Gives the mean of the first passages of each document, float32 [documents, dimension], unit rows."""
    found = np.zeros((len(sample.documents), vectors.shape[1]), np.float64)
    for place, content in enumerate(sample.documents.tolist()):
        rows = np.flatnonzero(sample.contents == content)[:_OF_EACH]
        found[place] = vectors[rows].mean(axis=0)
    found /= np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-12)
    return found.astype(np.float32)


def _groups(now: Vectors, tuned: Vectors, threshold: float) -> tuple[int, int]:
    """Gives how many groups of related documents there are that were none before, and how many are none any more."""
    before, after = _pairs(now, threshold), _pairs(tuned, threshold)
    return _components(after - before, len(now)), _components(before - after, len(now))


def _pairs(vectors: Vectors, threshold: float) -> set[tuple[int, int]]:
    first, second = np.nonzero(np.triu(vectors @ vectors.T, 1) >= threshold)
    return set(zip(first.tolist(), second.tolist(), strict=True))


def _components(pairs: set[tuple[int, int]], count: int) -> int:
    """Counts the groups that pairs make."""
    parent = list(range(count))

    def root(node: int) -> int:
        while parent[node] != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    for first, second in pairs:
        parent[root(second)] = root(first)
    return len({root(first) for first, _ in pairs})


def _arrows(sample: _Sample, now: Vectors, tuned: Vectors, context: JobContext) -> tuple[Arrow, ...]:
    """Lays the documents out as they are near each other now, and lets them move to where the tuned model has them."""
    from sbert_desktop.explore.layout import collapse, exact_neighbours, lay_out, make_layout, membership
    from sbert_desktop.explore.registration import register

    rows = collapse(now, np.ones(len(now), np.bool_)).rows
    if len(rows) < 4:
        return ()
    old = make_layout(now[rows], context=context)
    near = exact_neighbours(tuned[rows], 15, context=context)
    new = lay_out(membership(near, context=context), old, context=context)
    new = register(new, old).apply(new)
    old, new = _fitted(old, new)
    return tuple(
        Arrow(sample.names[int(sample.documents[row])], *(round(float(one), 4) for one in (*a, *b)))
        for row, a, b in zip(rows, old, new, strict=True)
    )


def _fitted(old: Positions, new: Positions) -> tuple[Positions, Positions]:
    """Brings both maps between 0 and 1 by the same scale."""
    both = np.concatenate([old, new])
    low, high = both.min(axis=0), both.max(axis=0)
    size = max(float((high - low).max()), 1e-6)
    middle = (low + high) / 2
    return (old - middle) / size + 0.5, (new - middle) / size + 0.5

