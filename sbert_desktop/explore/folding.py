"""Near-identical passages of different documents count as one: copies, versions, quoted mails.

Two passages are near-identical when the cosine of their vectors is at least 0.985, or when their texts
are equal but for case, marks and white space. Where one has no vector, as in a library of words only, they are when
19 of 20 words are the same. Only what is about to be shown, and a little more, is compared.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter

import numpy as np
from numpy.typing import NDArray

from sbert_desktop.domain import Mask, Snapshot, Vectors
from sbert_desktop.explore._scan import rows_of

ALIKE = 0.985
"""Cosine from which passages are near-identical. Source: docs/adr/0014-ranking.md."""
_MAYBE = 0.8
"""Cosine from which texts may be equal though vectors differ: the title before each passage does that."""
ALIKE_WORDS = 0.95
"""Share of words from which passages without vectors are near-identical: one of 40 may be another.

Source: docs/adr/0014-ranking.md.
"""
_BLOCK = 32
"""Groups compared at a time."""
_AHEAD = 32
"""Groups looked at behind the last one kept, so that those shown know most of what they stand for."""
_TEXTS = 500
"""Passages read at most for their text in one search."""
_LONGEST_WORD = 30
"""Letters; what is longer and not in ASCII is a sentence of a script without spaces."""
_NOT_WORDS = re.compile(r"[\W_]+")


def fold(
    snapshot: Snapshot, passages: NDArray[np.int64], owners: NDArray[np.int64], top: int
) -> tuple[list[int], list[int]]:
    """Gives which groups are kept, and how many others each of them stands for.

    Args:
        snapshot: Where vectors and texts are.
        passages: int64 [g], the best passage of each group, best first, each once.
        owners: int64 [g], their contents; passages of one document are never folded.
        top: How many are kept at most.

    Returns:
        Places in ``passages`` in rising order, at most ``top``, and as many counts.
    """
    folder = _Folder(snapshot)
    rows = rows_of(snapshot.passage_ids, snapshot.alive, passages)  # all at once: it looks through the whole space
    kept: list[int] = []
    counts: list[int] = []
    end = len(passages)
    start = 0
    while start < end:
        block = slice(start, min(start + _BLOCK, end))
        for place, twin in folder.twins(passages[block], owners[block], rows[block]):
            if twin is not None:
                if twin < top:
                    counts[twin] += 1
            elif len(kept) < top:
                kept.append(start + place)
                counts.append(0)
        start = block.stop
        if len(kept) >= top:
            end = min(end, kept[-1] + 1 + _AHEAD)
    return kept, counts


class _Folder:
    """Remembers the groups that were new, in the order in which they came."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._passages = np.zeros(0, np.int64)
        self._owners = np.zeros(0, np.int64)
        self._vectors: Vectors = np.zeros((0, snapshot.vectors.shape[1]), np.float32)
        self._known = np.zeros(0, np.bool_)
        self._texts: dict[int, str] = {}
        self._words: dict[int, frozenset[tuple[str, int]]] = {}

    def twins(
        self, passages: NDArray[np.int64], owners: NDArray[np.int64], rows: NDArray[np.int64]
    ) -> list[tuple[int, int | None]]:
        """Gives each passage's place and the number of the earlier, kept one that it repeats, or None."""
        before = len(self._passages)
        all_passages = np.concatenate([self._passages, passages])
        all_owners = np.concatenate([self._owners, owners])
        vectors, known = self._vectors_of(rows)
        all_vectors = np.concatenate([self._vectors, vectors])
        all_known = np.concatenate([self._known, known])
        cosines = np.einsum("ij,kj->ik", vectors, all_vectors)  # no BLAS, as in _scan.dot: 0.1 ms instead of 56
        other = owners[:, None] != all_owners[None, :]
        other &= np.arange(len(all_passages))[None, :] < np.arange(before, len(all_passages))[:, None]
        alike: Mask = (cosines >= ALIKE) & other
        maybe: Mask = ((cosines >= _MAYBE) | ~known[:, None] | ~all_known[None, :]) & other & ~alike
        self._read(all_passages[maybe.any(axis=0)], passages[maybe.any(axis=1)])
        number = np.full(len(all_passages), -1, np.int64)  # which kept one a passage is
        number[:before] = np.arange(before)
        fresh = before
        found: list[tuple[int, int | None]] = []
        near: Mask = alike | maybe
        has_near: list[bool] = np.asarray(near.any(axis=1)).tolist()
        for place, passage in enumerate(passages.tolist()):
            candidates = np.flatnonzero(near[place] & (number >= 0)).tolist() if has_near[place] else ()
            twin = next(
                (
                    j
                    for j in candidates
                    if alike[place, j]
                    or self._says_the_same(passage, int(all_passages[j]), known=bool(known[place] and all_known[j]))
                ),
                None,
            )
            if twin is None:
                number[before + place] = fresh
                fresh += 1
            found.append((place, None if twin is None else int(number[twin])))
        kept = number >= 0
        self._passages, self._owners = all_passages[kept], all_owners[kept]
        self._vectors, self._known = all_vectors[kept], all_known[kept]
        return found

    def _says_the_same(self, passage: int, other: int, *, known: bool) -> bool:
        """Compares the texts of two passages; nearly equal ones only where their vectors are not known."""
        one, two = self._texts.get(passage, ""), self._texts.get(other, "")
        if not one or not two:
            return False
        if one == two or known:
            return one == two
        return have_the_same_words(self._words_of(passage), self._words_of(other))

    def _words_of(self, passage: int) -> frozenset[tuple[str, int]]:
        """Gives the words of a passage, each with the number of times it stood before."""
        if passage not in self._words:
            self._words[passage] = numbered(self._texts[passage])
        return self._words[passage]

    def _vectors_of(self, rows: NDArray[np.int64]) -> tuple[Vectors, Mask]:
        """Gives float32 [m, dimension], zeros where there is no vector, and bool [m] where there is."""
        vectors = np.zeros((len(rows), self._vectors.shape[1]), np.float32)
        known = rows >= 0
        if known.any():
            vectors[known] = self._snapshot.vectors[rows[known]]
        return vectors, known

    def _read(self, *groups: NDArray[np.int64]) -> None:
        wanted = [p for p in dict.fromkeys(np.concatenate(groups).tolist()) if p not in self._texts]
        wanted = wanted[: max(0, _TEXTS - len(self._texts))]
        if wanted:
            records = self._snapshot.fetch(wanted)
            self._texts.update((p, plain(records[p].text) if p in records else "") for p in wanted)


def numbered(text: str) -> frozenset[tuple[str, int]]:
    """Gives the words of a plain text, each with the number of times it stood before: a bag as a set.

    A text without spaces (Chinese, Japanese, Thai) is taken by its characters.
    """
    seen: Counter[str] = Counter()
    found = []
    for word in text.split():
        for piece in word if len(word) > _LONGEST_WORD and not word.isascii() else (word,):
            found.append((piece, seen[piece]))
            seen[piece] += 1
    return frozenset(found)


def have_the_same_words(one: frozenset[tuple[str, int]], other: frozenset[tuple[str, int]]) -> bool:
    """Tells whether nearly all words of two texts are in both: Jaccard's index of bags, against the threshold."""
    if min(len(one), len(other)) < ALIKE_WORDS * max(len(one), len(other)):
        return False
    both = len(one & other)
    return both >= ALIKE_WORDS * (len(one) + len(other) - both)


def plain(text: str) -> str:
    """Gives a text without differences of case, marks and white space, for comparing."""
    return _NOT_WORDS.sub(" ", unicodedata.normalize("NFKC", text).casefold()).strip()
