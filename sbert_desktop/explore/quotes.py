"""Check my quotes: finds each quotation of a draft in the library, and what the source says otherwise.

Candidates come by words, and by meaning for what words did not find. Each is compared word by word, together with
the passages around it, so that a quotation over the border of passages is found too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from sbert_desktop.domain import PassageRecord, Snapshot, Vectors
from sbert_desktop.explore.quotations import Quotation, Quoted, quoted_words
from sbert_desktop.explore.wording import Span, Wording, align, changed_spans, find_exactly

SIMILAR_FROM = 0.6
"""Share of equal words from which a wording is a changed quotation."""
SHORT, SHORT_FROM = 6, 0.75
"""With fewer words more of them must be equal: four common words in a row stand in every long text."""
_QUERY_WORDS = 14
"""Words of a quotation that are looked up, the longest ones: they are the rare ones."""
_LISTED = 40
_COMPARED = 12
_ALIGNED = 5
_BY_MEANING = 6
_COMMON = 6
"""Letters; a quotation without a longer word ("to be or not to be") is looked for as a phrase as well."""
_PHRASES = 10
"""Quotations of a draft that are looked for so: it takes longer."""
_CLOSE_GAP = 12
"""Left-out source words that are shown; more are shown as an ellipsis."""

Encode = Callable[[Sequence[str]], Vectors | None]


@dataclass(frozen=True, slots=True)
class Source:
    """Where a quotation stands. ``start``/``end`` are code points of the document; ``wording`` what it says there.

    ``changes`` are stretches of the quotation's text that differ, none if it is exact. ``similarity`` in [0, 1].
    """

    record: PassageRecord
    start: int
    end: int
    wording: str
    changes: tuple[Span, ...]
    similarity: float

    @property
    def exact(self) -> bool:
        """All words are there, in their order."""
        return not self.changes and self.similarity >= 1.0


def check_quotations(
    snapshot: Snapshot,
    quotations: Sequence[Quotation],
    *,
    is_own: Callable[[int], bool],
    encode: Encode | None = None,
    on_step: Callable[[int, int], None] | None = None,
) -> list[Source | None]:
    """Looks for each quotation; gives its best source, or None.

    Args:
        snapshot: The state of the library.
        quotations: As found in a draft.
        is_own: Tells whether a content is the draft itself, or a version of it; asked for sources only.
        encode: Gives the unit vectors of texts, float32 [n, dimension], or None when it cannot; None: by words alone.
        on_step: Told how many quotations of how many are done; may raise to end the search.
    """
    quoted = [quoted_words(quotation.text) for quotation in quotations]
    search = _Search(snapshot, is_own)
    found: list[Source | None] = []
    for number, (quotation, words) in enumerate(zip(quotations, quoted, strict=True)):
        if on_step is not None:
            on_step(number, len(quotations))
        found.append(search.by_words(quotation.text, words))
    missing = [number for number, source in enumerate(found) if source is None]
    vectors = encode([quotations[number].text for number in missing]) if missing and encode is not None else None
    if vectors is not None and snapshot.alive.any():
        for number, near in zip(missing, _near(snapshot, vectors), strict=True):
            if on_step is not None:
                on_step(len(quotations), len(quotations))
            found[number] = search.best(quotations[number].text, quoted[number], near)
    if on_step is not None:
        on_step(len(quotations), len(quotations))
    return found


class _Search:
    def __init__(self, snapshot: Snapshot, is_own: Callable[[int], bool]) -> None:
        self._snapshot = snapshot
        self._is_own = is_own
        self._own: dict[int, bool] = {}
        self._phrases = 0

    def by_words(self, text: str, quoted: Quoted) -> Source | None:
        """Compares the passages that have most of its words."""
        ids, _, contents = self._snapshot.keyword(_query(text, quoted), None, _LISTED)
        known = [int(id_) for id_, content in zip(ids, contents, strict=True) if not self._own.get(int(content))]
        found = self.best(text, quoted, known)
        if found is not None and found.exact:
            return found
        return self._by_phrase(text, quoted) or found

    def _by_phrase(self, text: str, quoted: Quoted) -> Source | None:
        """Compares the passages in which a quotation of common words begins, which words alone list far down."""
        words = quoted.wording.words
        if quoted.gaps or not words[0].isascii() or max(map(len, words)) > _COMMON or self._phrases >= _PHRASES:
            return None
        self._phrases += 1
        holding = self._snapshot.holding([text], (), (), None)
        return self.best(text, quoted, holding.passages[:_LISTED].tolist()) if holding is not None else None

    def best(self, text: str, quoted: Quoted, passages: Sequence[int]) -> Source | None:
        """Compares candidates, best first, until one says exactly this; else gives the most similar one."""
        for start in range(0, len(passages), _COMPARED):
            records = self._snapshot.fetch(passages[start : start + _COMPARED])
            ordered = [records[id_] for id_ in passages[start : start + _COMPARED] if id_ in records]
            found = self._best_of(text, quoted, ordered)
            if found is not None:
                return found
            if not any(self._own.get(record.content_id) for record in ordered):
                break  # those that follow have still fewer of its words
        return None

    def _best_of(self, text: str, quoted: Quoted, records: Sequence[PassageRecord]) -> Source | None:
        wanted = Counter(quoted.wording.words)
        shares = []
        for record in records:
            wording = Wording(record.text)
            source = _exact(quoted, wording, record.text, record, record.start)
            if source is not None and not self._owns(record):
                return source
            shares.append((wanted & Counter(wording.words)).total())
        changed: list[Source] = []
        order = sorted(range(len(records)), key=lambda number: -shares[number])[:_ALIGNED]
        for number in order:
            if self._own.get(records[number].content_id):
                continue
            source = self._around(text, quoted, records[number])
            if source is not None and source.exact and not self._owns(source.record):
                return source
            if source is not None:
                changed.append(source)
        for source in sorted(changed, key=lambda source: -source.similarity):
            if not self._owns(source.record):
                return source
        return None

    def _around(self, text: str, quoted: Quoted, record: PassageRecord) -> Source | None:
        """Compares with a passage and as many around it as the quotation may reach into."""
        reach = 1 + min(40, len(text) // max(200, len(record.text)))
        reach += any(gap.most is None for gap in quoted.gaps)
        numbers = range(int(record.passage_id) - reach, int(record.passage_id) + reach + 1)
        near = self._snapshot.fetch(numbers)
        pieces = [near[number] for number in numbers if number in near and near[number].content_id == record.content_id]
        joined, begin = _joined(pieces or [record])
        wording = Wording(joined)
        source = _exact(quoted, wording, joined, record, begin) or _changed(quoted, wording, joined, record, begin)
        if source is None:
            return None
        holding = next((piece for piece in pieces if piece.start <= source.start < piece.end), record)
        return Source(holding, source.start, source.end, source.wording, source.changes, source.similarity)

    def _owns(self, record: PassageRecord) -> bool:
        content = int(record.content_id)
        if content not in self._own:
            self._own[content] = self._is_own(content)
        return self._own[content]


def _query(text: str, quoted: Quoted) -> str:
    words = list(dict.fromkeys(text[start:end] for start, end in quoted.wording.spans))
    if all(len(word) == 1 for word in words):  # a script without spaces
        start, end = quoted.wording.spans[0][0], quoted.wording.spans[-1][1]
        return text[start : min(end, start + 4 * _QUERY_WORDS)]
    longest = set(sorted(words, key=len, reverse=True)[:_QUERY_WORDS])
    return " ".join(word for word in words if word in longest)


def _near(snapshot: Snapshot, vectors: Vectors) -> Iterator[list[int]]:
    """Gives the passages closest to each vector, best first."""
    rows = np.flatnonzero(snapshot.alive)
    take = min(_BY_MEANING, len(rows))
    for start in range(0, len(vectors), 32):
        cosines: NDArray[np.float32] = vectors[start : start + 32] @ np.asarray(snapshot.vectors).T
        for line in cosines[:, rows]:
            best = np.argpartition(-line, take - 1)[:take]
            yield [int(snapshot.passage_ids[rows[place]]) for place in best[np.argsort(-line[best])]]


def _joined(pieces: Sequence[PassageRecord]) -> tuple[str, int]:
    """Gives the text of passages that follow each other, overlaps once, and where it begins in the document."""
    ordered = sorted(pieces, key=lambda piece: piece.start)
    begin = at = ordered[0].start
    parts: list[str] = []
    for piece in ordered:
        if piece.end <= at:
            continue
        if piece.start > at:
            parts.append("\n" * (piece.start - at))
            at = piece.start
        parts.append(piece.text[max(0, at - piece.start) :])
        at = piece.end
    return "".join(parts), begin


def _exact(quoted: Quoted, wording: Wording, text: str, record: PassageRecord, begin: int) -> Source | None:
    places = find_exactly(quoted.wording.words, quoted.gaps, wording)
    if places is None:
        return None
    start, end = wording.spans[places[0][0]][0], wording.spans[places[-1][1] - 1][1]
    return Source(record, begin + start, begin + end, _said(text, wording, places), (), 1.0)


def _changed(quoted: Quoted, wording: Wording, text: str, record: PassageRecord, begin: int) -> Source | None:
    found = align(quoted.wording.words, quoted.gaps, wording.words)
    if found is None or found.last <= found.first:
        return None
    words = quoted.wording.words
    letters = sum(len(word) for word, pair in zip(words, found.pairs, strict=True) if pair >= 0)
    similarity = min(found.similarity, letters / sum(map(len, words)))
    if similarity < (SHORT_FROM if len(words) < SHORT else SIMILAR_FROM):
        return None
    borders = sorted({0, len(words), *(gap.at for gap in quoted.gaps if gap.most is None)})
    places = _pieces(found.pairs, borders, found.first, found.last)
    start, end = wording.spans[found.first][0], wording.spans[found.last - 1][1]
    changes = changed_spans(quoted.wording, found)
    return Source(record, begin + start, begin + end, _said(text, wording, places), changes, min(similarity, 0.999))


def _pieces(pairs: Sequence[int], borders: Sequence[int], first: int, last: int) -> list[Span]:
    """Gives the source's words for each piece of the quotation between ellipses."""
    places: list[Span] = []
    for number, (low, high) in enumerate(pairwise(borders)):
        equal = [pair for pair in pairs[low:high] if pair >= 0]
        if not equal:
            continue
        places.append((first if number == 0 else equal[0], last if high == len(pairs) else equal[-1] + 1))
    return places or [(first, last)]


def _said(text: str, wording: Wording, places: Sequence[Span]) -> str:
    """Gives the source's own text; what a quotation left out is shown if it is short."""
    parts: list[Span] = []
    for first, last in places:
        if parts and first - parts[-1][1] <= _CLOSE_GAP:
            parts[-1] = (parts[-1][0], max(last, parts[-1][1]))
        else:
            parts.append((first, last))
    return " […] ".join(
        " ".join(text[wording.spans[first][0] : wording.spans[last - 1][1]].split()) for first, last in parts
    )
