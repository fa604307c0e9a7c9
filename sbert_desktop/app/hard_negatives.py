"""Hard negatives for a training: passages that look like the right one and are not it.

They come from the library's passages where it has vectors of the base, from a part of them that is read where it has
not, and from the labels' own texts. What was judged not to belong comes first. Nothing that is kept aside is taken.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sbert_desktop.app.model_readers import Reader, open_reader
from sbert_desktop.app.session import Session
from sbert_desktop.domain import CrossEncoder, JobContext, Snapshot, Vectors
from sbert_desktop.errors import SbertDesktopError
from sbert_desktop.training.labels import Example, LabelKind, LabelSet, nearly_same_text, same_text
from sbert_desktop.training.mining import Mined, Rules, Score, mine, with_negatives

if TYPE_CHECKING:
    from sbert_desktop.app.planning import Gathered

Integers = NDArray[np.int64]

_READ = 2_000
"""Passages of the library that are read where it has no vectors of the base."""
_MOST = 100_000
"""Passages that are looked through: each anchor costs as much as an exact search of them."""
_BY_WORDS = 50
_FEW = 200
"""Passages from which the first ranks are passed over; among fewer, right answers that nobody judged are rare."""
_SCORED = 40
"""Passages of an anchor that a cross-encoder reads at most."""


@dataclass(frozen=True, slots=True)
class _Corpus:
    """Where to look: texts, vectors (float32 [n, dimension]) and documents (int64 [n]); library rows come first.

    ``ids``: int64 [m], passages of the library of the first m rows.
    """

    texts: list[str]
    vectors: Vectors
    documents: Integers
    ids: Integers


def find_negatives(session: Session, gathered: Gathered, base: Path, context: JobContext) -> tuple[LabelSet, str]:
    """Gives what is learned from with hard negatives, as triplets, and a sentence on what was found.

    Where nothing was found it is given as it was. Labels that are no positives stay as they are.

    Raises:
        EncoderError: The base cannot be opened.
        Cancelled: Through ``context``.
    """
    train, wanted = gathered.train, gathered.plan.hard_negatives
    if train.kind is not LabelKind.POSITIVES or not len(train):
        return train, "Hard negatives are looked for only where texts are learned that belong together."
    aside = _texts_of(gathered.held_out, gathered.watched)
    judged = _judged(gathered, aside)
    with open_reader(session, base, "Reading with the model before") as reader:
        anchors = reader.queries([one.texts[0] for one in train.examples], context)
        positives = reader.passages([one.texts[1] for one in train.examples], context)
        corpus = _corpus(session, gathered, aside, reader, base, context)
    context.check()
    context.progress("Looking for hard negatives", 0, None)
    excluded, words = _excluded(session, train, corpus), _by_words(session, train, corpus)
    rules = Rules(per_positive=wanted) if len(corpus.texts) >= _FEW else Rules(per_positive=wanted, first=1)
    with_scores = _score(session, train, corpus, context)
    mined = mine(anchors, positives, corpus.vectors, corpus.documents, excluded, rules=rules, by_words=words,
                 score=with_scores)  # fmt: skip
    return _joined(train, mined, corpus, judged, wanted, scored=with_scores is not None)


def _joined(
    train: LabelSet, mined: Mined, corpus: _Corpus, judged: dict[str, list[str]], wanted: int, *, scored: bool
) -> tuple[LabelSet, str]:
    """Puts what was judged not to belong before what was found; positives without either stay out."""
    found = with_negatives(train, mined, corpus.texts)
    own: dict[tuple[str, ...], list[Example]] = {}
    for example in train.examples:
        for text in judged.get(same_text(example.texts[0]), [])[:wanted]:
            own.setdefault(example.texts[:2], []).append(replace(example, texts=(*example.texts[:2], text),
                                                                 documents=()))  # fmt: skip
    for example in found.examples:
        kept = own.setdefault(example.texts[:2], [])
        if len(kept) < wanted:
            kept.append(example)
    triplets = [example for some in own.values() for example in some]
    if not triplets:
        return train, "No hard negatives were found; it is learned from the pairs alone."
    left = sum(example.texts[:2] not in own for example in train.examples)
    said = f"{len(triplets):,} hard negatives for {len(train) - left:,} of {len(train):,} pairs that belong together"
    if mined.too_near:
        said += f"; {mined.too_near:,} passages were as near as the right one and left out"
    if scored:
        said += f"; {mined.called_right:,} were called right by the cross-encoder"
    return LabelSet(LabelKind.TRIPLETS, tuple(triplets)), f"{said}."


def _texts_of(*sets: LabelSet) -> set[str]:
    return {nearly_same_text(text) for labels in sets for example in labels.examples for text in example.texts}


def _judged(gathered: Gathered, aside: Collection[str]) -> dict[str, list[str]]:
    """Gives for each first text those that were judged not to belong to it."""
    found: dict[str, list[str]] = {}
    if gathered.split is None or gathered.kind not in {LabelKind.PAIRS, LabelKind.RELEVANCE}:
        return found
    for place in gathered.split.train:
        example = gathered.labels.examples[place]
        if example.value < 0.5 and not any(nearly_same_text(text) in aside for text in example.texts):
            found.setdefault(same_text(example.texts[0]), []).append(example.texts[1])
    return found


# ---------------------------------------------------------------- where to look


def _corpus(
    session: Session, gathered: Gathered, aside: Collection[str], reader: Reader, base: Path, context: JobContext
) -> _Corpus:
    """Gives the library's passages and the labels' own, but those that are kept aside."""
    texts, vectors, documents, ids = _library_part(session, gathered, reader, base, context)
    fresh = [index for index, text in enumerate(texts) if nearly_same_text(text) not in aside]
    if len(fresh) < len(texts):
        texts, vectors = [texts[index] for index in fresh], vectors[fresh]
        documents, ids = documents[fresh], ids[fresh]
    numbers: dict[str, int] = {}
    own = list(dict.fromkeys(example.texts[1] for example in gathered.train.examples))
    more = reader.passages(own, context)
    low = int(documents.max(initial=0)) + 1
    named = [low + numbers.setdefault(same_text(text), len(numbers)) for text in own]
    vectors = np.concatenate([vectors, more]) if len(texts) else more
    return _Corpus([*texts, *own], vectors, np.concatenate([documents, np.array(named, np.int64)]), ids)


def _library_part(
    session: Session, gathered: Gathered, reader: Reader, base: Path, context: JobContext
) -> tuple[list[str], Vectors, Integers, Integers]:
    """Gives texts, vectors, contents and passages of the library; nothing where there are none."""
    from sbert_desktop.encoder import expected_fingerprint

    none = np.zeros(0, np.int64)
    nothing: tuple[list[str], Vectors, Integers, Integers] = [], np.zeros((0, 1), np.float32), none, none
    try:
        space, snapshot = session.space_and_snapshot()
        alive = np.flatnonzero(snapshot.alive)
        held = _contents_of(session, gathered.held_out, gathered.watched)
    except SbertDesktopError:
        return nothing
    alive = alive[~np.isin(snapshot.contents[alive], held)]
    known = bool(len(alive)) and expected_fingerprint(base) == space
    most = _MOST if known else _READ
    if len(alive) > most:
        alive = np.sort(np.random.default_rng(gathered.plan.seed).permutation(alive)[:most])
    if not len(alive):
        return nothing
    texts = _fetched(snapshot, snapshot.passage_ids[alive], context)
    there = np.array([text is not None for text in texts], np.bool_)
    alive = alive[there]
    kept = [text for text in texts if text is not None]
    vectors = np.ascontiguousarray(snapshot.vectors[alive]) if known else reader.passages(kept, context)
    return kept, vectors, snapshot.contents[alive].astype(np.int64), snapshot.passage_ids[alive].astype(np.int64)


def _fetched(snapshot: Snapshot, ids: Integers, context: JobContext) -> list[str | None]:
    found: list[str | None] = []
    for start in range(0, len(ids), 2_000):
        context.check()
        step = [int(one) for one in ids[start : start + 2_000]]
        records = snapshot.fetch(step)
        found += [records[one].text if one in records else None for one in step]
    return found


def _contents_of(session: Session, *sets: LabelSet) -> Integers:
    """Gives the contents of the library that labels are from, int64."""
    names = {example.document(place) for labels in sets for example in labels.examples
             for place in range(labels.kind.texts)}  # fmt: skip
    found = [session.library.has_content(name) for name in names if name]
    return np.array([int(content) for content in found if content is not None], np.int64)


def _excluded(session: Session, train: LabelSet, corpus: _Corpus) -> list[set[int]]:
    """Gives for each positive the documents that may not be taken: both its own, and all that belong to its anchor."""
    numbers: dict[str, set[int]] = {}
    for text, document in zip(corpus.texts, corpus.documents.tolist(), strict=True):
        numbers.setdefault(same_text(text), set()).add(document)
    contents: dict[str, int] = {}
    for example in train.examples:
        for name in filter(None, example.documents):
            if name not in contents:
                known = session.library.has_content(name)
                contents[name] = int(known) if known is not None else -1
    belongs: dict[str, set[int]] = {}
    for example in train.examples:
        mine = belongs.setdefault(same_text(example.texts[0]), set())
        for text in example.texts[:2]:
            mine |= numbers.get(same_text(text), set())
        mine |= {contents[name] for name in example.documents if name}
    return [belongs[same_text(example.texts[0])] for example in train.examples]


def _by_words(session: Session, train: LabelSet, corpus: _Corpus) -> list[list[int]] | None:
    """Gives for each anchor the library's passages that share its words, as rows of the corpus; None without any."""
    if not len(corpus.ids):
        return None
    order = np.argsort(corpus.ids, kind="stable")
    ids = corpus.ids[order]
    snapshot = session.snapshot()
    found = []
    for example in train.examples:
        hits = snapshot.keyword(example.texts[0], None, _BY_WORDS)[0]
        places = np.searchsorted(ids, hits)
        places[places == len(ids)] = 0
        found.append(order[places[ids[places] == hits]].tolist())
    return found


def _score(session: Session, train: LabelSet, corpus: _Corpus, context: JobContext) -> Score | None:
    """Gives what calls passages right after all: the cross-encoder in use; None without one."""
    try:
        cross: CrossEncoder | None = session.second_stage.wait(context)
    except SbertDesktopError:
        return None
    if cross is None:
        return None
    chosen = cross

    def score(place: int, rows: Integers) -> NDArray[np.floating]:
        context.check()
        given = chosen.score(train.examples[place].texts[0], [corpus.texts[row] for row in rows[:_SCORED]], context)
        found = np.ones(len(rows), np.float32)  # what is not read counts as right, and is not taken
        raw = bool(len(given)) and (given.min() < 0 or given.max() > 1)  # not brought to 0-1 by the model itself
        found[: len(given)] = 1.0 / (1.0 + np.exp(-given)) if raw else given
        return found

    return score
