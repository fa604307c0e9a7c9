"""Finds what holds between all documents of a library: the slow part of looking for duplicates, done once.

Equal texts are found by their digests, pairs that may be alike by meaning and by word runs; each pair is then
compared on its texts. Any thread; numpy only.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from sbert_desktop.cleanup import FLOOR, DuplicateKind, Relation
from sbert_desktop.explore.candidates import MOST_PARTNERS, DocumentPairs, by_sketches, may_share_words
from sbert_desktop.explore.comparable import FEWEST_WORDS, Comparable, Fingerprint
from sbert_desktop.explore.grouping import Kinship
from sbert_desktop.explore.relations import FEWEST_PLAIN, relate

FEWEST_RELATED = 4
"""Words of the shorter one of two related documents; "Thanks!" is like much."""
_KEPT_WORDS = 1_000_000
"""Words of texts that are kept at hand while pairs are compared (about 200 MB with their sentences)."""

Load = Callable[[int], Comparable | None]
Pair = tuple[int, int]


def find_relations(
    fingerprints: Sequence[Fingerprint | None],
    formats: Sequence[str],
    load: Load,
    near: DocumentPairs | None = None,
    *,
    cosine: Callable[[int, int], float] | None = None,
    on_step: Callable[[int, int], None] | None = None,
) -> Kinship:
    """Gives all relations between documents.

    Args:
        fingerprints: Of each document, None where no text is known; numbered in the order of their sha256.
        formats: Of each document.
        load: Gives a document's text; None when it is gone. Asked only for those that may share words, again now
            and then.
        near: Pairs that are near by meaning, as :func:`candidates.by_passages` gives them.
        cosine: Gives the exact cosine of two documents of ``near``; else the one of ``near`` is taken.
        on_step: Told how many pairs of how many are compared; may raise to end it.
    """
    texts = _equal_texts(fingerprints)
    by_words, cosines = _pairs(fingerprints, texts, near)
    pairs = sorted(by_words | cosines.keys())
    shelf = _Shelf(load)
    relations: list[Relation] = []
    for done, (a, b) in enumerate(pairs):
        if on_step is not None:
            on_step(done, len(pairs))
        one, other = fingerprints[a], fingerprints[b]
        if one is None or other is None:
            continue
        long_enough = min(one.words, other.words) >= FEWEST_WORDS
        relation = _relation(a, b, shelf) if long_enough and (a, b) in by_words else None
        if relation is None and (a, b) in cosines and min(one.words, other.words) >= FEWEST_RELATED:
            value = min(1.0, cosine(a, b) if cosine is not None else cosines[a, b])
            if value >= FLOOR:
                relation = Relation(a, b, DuplicateKind.RELATED, value, -1, -1)
        if relation is not None:
            relations.append(relation)
    if on_step is not None:
        on_step(len(pairs), len(pairs))
    return Kinship(texts, formats, relations)


def _equal_texts(fingerprints: Sequence[Fingerprint | None]) -> list[int]:
    """Gives for each document the first one with the same words, itself if none, -1 without words."""
    first: dict[bytes, int] = {}
    return [-1 if found is None or not found.words else first.setdefault(found.text, number)
            for number, found in enumerate(fingerprints)]  # fmt: skip


def _pairs(
    fingerprints: Sequence[Fingerprint | None], texts: Sequence[int], near: DocumentPairs | None
) -> tuple[set[Pair], dict[Pair, float]]:
    """Gives the pairs of unlike texts whose words are to be compared, and the cosines of those near by meaning."""
    firsts = [fingerprint if texts[number] == number else None for number, fingerprint in enumerate(fingerprints)]
    by_words = set(_of_forms(firsts))
    words = by_sketches([one if one is not None and one.words >= FEWEST_WORDS else None for one in firsts])
    by_words.update(zip(words.a.tolist(), words.b.tolist(), strict=True))
    cosines: dict[Pair, float] = {}
    if near is not None:
        for a, b, value in zip(near.a.tolist(), near.b.tolist(), near.cosine.tolist(), strict=True):
            one, other = sorted((texts[a], texts[b]))
            if one >= 0 and one != other:
                cosines[one, other] = max(value, cosines.get((one, other), 0.0))
        pairs = list(cosines)
        sides = np.array(pairs, np.int64).reshape(-1, 2)
        maybe = may_share_words(fingerprints, sides[:, 0], sides[:, 1]).tolist()
        by_words.update(pair for pair, is_open in zip(pairs, maybe, strict=True) if is_open)
    return by_words, cosines


def _of_forms(fingerprints: Iterable[Fingerprint | None]) -> Iterator[Pair]:
    """Gives the pairs that differ in numbers only, of very many of one form those in parts of 64."""
    forms: dict[bytes, list[int]] = defaultdict(list)
    for number, found in enumerate(fingerprints):
        if found is not None and found.words >= FEWEST_WORDS and found.plain >= FEWEST_PLAIN:
            forms[found.letters].append(number)
    for numbers in forms.values():
        for start in range(0, len(numbers), MOST_PARTNERS):
            part = numbers[start : start + MOST_PARTNERS]
            yield from ((a, b) for place, a in enumerate(part) for b in part[place + 1 :])


def _relation(a: int, b: int, shelf: _Shelf) -> Relation | None:
    one, other = shelf.take(a), shelf.take(b)
    if one is None or other is None:
        return None
    verdict = relate(one, other)
    if verdict is None:
        return None
    smaller = -1 if verdict.smaller < 0 else (a, b)[verdict.smaller]
    return Relation(a, b, verdict.kind, verdict.similarity, verdict.missing_a, verdict.missing_b, smaller)


class _Shelf:
    """Texts that were used last."""

    def __init__(self, load: Load) -> None:
        self._load = load
        self._texts: OrderedDict[int, Comparable | None] = OrderedDict()
        self._words = 0

    def take(self, number: int) -> Comparable | None:
        if number in self._texts:
            self._texts.move_to_end(number)
            return self._texts[number]
        text = self._load(number)
        self._texts[number] = text
        self._words += self._size(text)
        while self._words > _KEPT_WORDS and len(self._texts) > 2:
            _, oldest = self._texts.popitem(last=False)
            self._words -= self._size(oldest)
        return text

    def _size(self, text: Comparable | None) -> int:
        return 100 + (0 if text is None else len(text))
