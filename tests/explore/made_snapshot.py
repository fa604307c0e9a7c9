"""A snapshot of arrays and dictionaries, for tests of what is found in one."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from sbert_desktop.domain import Holding, Location, PassageRecord


@dataclass
class FakeIndex:
    vectors: np.ndarray
    rows: int
    asked: list = field(default_factory=list)

    def search(self, vector, k):
        self.asked.append(k)
        cosines = self.vectors[: self.rows] @ vector
        order = np.argsort(-cosines)[:k]
        return order.astype(np.int64), cosines[order]


@dataclass
class FakeSnapshot:
    """Row r is passage 100 + r."""

    vectors: np.ndarray
    contents: np.ndarray
    words: dict = field(default_factory=dict)  # passage id -> bm25
    allowed: set | None = None
    index: FakeIndex | None = None
    extra: dict = field(default_factory=dict)  # passage id -> content, without a vector
    generation: int = 1
    texts: dict = field(default_factory=dict)  # passage id -> text
    days: dict = field(default_factory=dict)  # content -> date
    begins: dict = field(default_factory=dict)  # phrase -> passages in which it begins
    holders: dict = field(default_factory=dict)  # excluded word -> contents
    fetched: list = field(default_factory=list)
    asked_words: list = field(default_factory=list)

    def __post_init__(self):
        self.alive = np.ones(len(self.vectors), bool)
        self.passage_ids = np.arange(len(self.vectors), dtype=np.int64) + 100

    @property
    def passages(self):
        return int(self.alive.sum()) + len(self.extra)

    @property
    def owner(self):
        return {int(p): int(c) for p, c in zip(self.passage_ids, self.contents, strict=True)} | self.extra

    @property
    def size(self):
        return max(self.owner.values(), default=0) + 1

    def select(self, filters):
        if self.allowed is None or not filters:
            return None
        mask = np.zeros(self.size, bool)
        mask[list(self.allowed)] = True
        return mask

    def dates(self):
        return np.array([self.days.get(content, np.nan) for content in range(self.size)])

    def newest(self, mask, limit):
        first = {}
        for passage, content in sorted(self.owner.items()):
            first.setdefault(content, passage)
        found = [c for c in first if c in self.days and (mask is None or (c < len(mask) and mask[c]))]
        found = sorted(found, key=lambda c: -self.days[c])[:limit]
        return np.array([first[c] for c in found], np.int64), np.array(found, np.int64)

    def keyword(self, text, mask, limit):
        self.asked_words.append(text)
        owner = self.owner
        found = [(p, s) for p, s in self.words.items() if mask is None or (owner[p] < len(mask) and mask[owner[p]])]
        found.sort(key=lambda item: -item[1])
        found = found[:limit]
        return (
            np.array([p for p, _ in found], np.int64),
            np.array([s for _, s in found], float),
            np.array([owner[p] for p, _ in found], np.int64),
        )

    def holding(self, phrases, excluded_words, excluded_phrases, mask):
        if not (phrases or excluded_words or excluded_phrases):
            return None
        owner = self.owner
        passing = np.ones(self.size, bool) if mask is None else mask.copy()
        begins = set()
        for phrase in phrases:
            found = self.begins.get(phrase, ())
            holds = np.zeros(self.size, bool)
            holds[[owner[p] for p in found]] = True
            passing &= holds
            begins.update(found)
        for excluded in (*excluded_words, *excluded_phrases):
            passing[list(self.holders.get(excluded, ()))] = False
        return Holding(passing, np.array(sorted(p for p in begins if passing[owner[p]]), np.int64))

    def fetch(self, passage_ids):
        self.fetched.append(list(passage_ids))
        owner = self.owner
        return {
            p: PassageRecord(p, owner[p], self.texts.get(p, f"text {p}"), 0, 1, Location(), "", "txt", "en", 0.0, ())
            for p in passage_ids
            if p in owner
        }


def unit(rng, n, d=16):
    x = rng.standard_normal((n, d)).astype(np.float32)
    return x / np.linalg.norm(x, axis=1, keepdims=True)
