"""Words in a row: which documents hold a phrase, also over the border of two passages.

The keyword table keeps no positions. So: take the passages of the phrase's rarest word whose neighbourhood (as many
passages as the phrase is long in words) has the other words too. Where these are few, compare on the stored text; of
many, first find the documents in which the words stand in a row (see :mod:`_units`), which takes no text.
"""

from __future__ import annotations

import re
import sqlite3
import threading
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sbert_desktop.domain import Holding, Mask
from sbert_desktop.library import _analysis, _units, _words
from sbert_desktop.library._analysis import QueryToken, Unit
from sbert_desktop.library._text import Slices
from sbert_desktop.library._view import View
from sbert_desktop.library._words import Postings

KEPT_ANSWERS = 128
QUICK_STEPS = 40  # of a longer phrase only the beginning is looked for first
LOOKED_UP = 64  # words of a phrase
MANY_PASSAGES = 100  # that may hold a phrase; few are compared on their text at once
FEW_DOCUMENTS = 20  # that hold a phrase by the numbers of its words, and are compared on their text too
AROUND_SHARE = 0.3  # words in more of the passages stand in nearly all documents
FILTER_WORDS = 4
FILTER_FROM = 1_000  # passages of the rarest word; from here on the lists of common words are worth reading
FOOTER_WORDS = 30  # may stand between the end of a page and the beginning of the next
_BETWEEN = r"(?:['’]s)?[\W_]+"

_Ids = NDArray[np.int64]
_Key = tuple[QueryToken, ...]  # a passage with the word has at least one of these


@dataclass(frozen=True, slots=True)
class _Phrase:
    """A phrase as it is compared. ``keys`` has what to look up for each step that can be looked up, with its place."""

    steps: tuple[str, ...]
    keys: tuple[tuple[int, _Key], ...]
    quick: re.Pattern[str]  # finds every place in a folded text where the phrase may begin


class Answers:
    """Phrases already looked for, while the library does not change. Safe from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._generation = -1
        self._known: dict[tuple[int, tuple[str, ...]], _Ids] = {}

    def get(self, view: View, steps: tuple[str, ...]) -> _Ids | None:
        """Gives the passages in which the phrase begins, if known."""
        with self._lock:
            return self._known.get((view.segmentation or 0, steps)) if view.generation == self._generation else None

    def keep(self, view: View, steps: tuple[str, ...], passages: _Ids) -> None:
        """Remembers them."""
        with self._lock:
            if view.generation > self._generation or len(self._known) >= KEPT_ANSWERS:
                self._known.clear()
                self._generation = max(self._generation, view.generation)
            if view.generation == self._generation:
                self._known[view.segmentation or 0, steps] = passages


def holding(
    connection: sqlite3.Connection,
    postings: Postings,
    answers: Answers,
    view: View,
    phrases: Sequence[str],
    excluded_words: Sequence[str],
    excluded_phrases: Sequence[str],
    mask: Mask | None,
) -> Holding | None:
    """Gives the documents that hold all phrases and nothing excluded; see :class:`sbert_desktop.domain.Snapshot`."""
    wanted = [phrase for phrase in map(_phrase, phrases) if phrase is not None]
    unwanted = [phrase for phrase in map(_phrase, excluded_phrases) if phrase is not None]
    languages = _analysis.query_languages(view.language_order())
    keys: list[_Key] = []
    for word in excluded_words:
        as_phrase = _phrase(word)
        if as_phrase is None:
            continue
        spans = _analysis.analyzer("").spans(word)
        if len(spans) == 1 and (len(as_phrase.steps) == 1 or not _analysis.is_bigram_script(word[spans[0][0]])):
            keys.append(_analysis.word_tokens(word[slice(*spans[0])], languages))
        else:
            unwanted.append(as_phrase)
    if not (wanted or unwanted or keys):
        return None
    passing = view.content_live.copy() if mask is None else view.content_live & mask
    reader = _Reader(connection, postings, answers, view, filtered=mask is not None)
    begin: list[_Ids] = []
    for phrase in wanted:
        found = reader.places(phrase, passing)
        passing &= reader.holders(found)
        begin.append(found)
    for phrase in unwanted:
        passing &= ~reader.holders(reader.places(phrase, passing))
    for key in keys:
        passing &= ~reader.holders(reader.list_of(key))
    passages = np.unique(np.concatenate(begin)) if begin else np.zeros(0, np.int64)
    return Holding(passing, passages[passing[view.passage_content[passages]]])


def _phrase(text: str) -> _Phrase | None:
    found = _analysis.units(text)
    if not found:
        return None
    keys = []
    for at, unit in enumerate(found):
        if not unit.single:
            keys.append((at, _analysis.held_tokens(unit.text)))
        elif at + 1 < len(found) and found[at + 1].single:
            # Two characters in a row are a token, unless a passage ends between them: then the first stands alone.
            keys.append((at, (QueryToken(unit.text + found[at + 1].text, 1.0), QueryToken(unit.text, 1.0))))
        elif at == 0 or not found[at - 1].single:
            keys.append((at, (QueryToken(unit.text, 1.0, prefix=True),)))
    # A word in camel case inside a compound is in the table by its pieces only: not looked up.
    kept = tuple((at, key) for at, key in keys if not _is_humped(text, found[at]))
    keys_kept = (kept or tuple(keys))[:LOOKED_UP]
    return _Phrase(tuple(unit.text for unit in found), keys_kept, _quick_pattern(found[:QUICK_STEPS]))


def _is_humped(text: str, unit: Unit) -> bool:
    before = text[unit.start - 1 : unit.start]
    piece = text[unit.start : unit.start + len(unit.text) + 1]
    return bool(re.search("[a-z][A-Z]", piece)) and (before in "-_/.@:" or not piece.isalpha())


def _quick_pattern(found: Sequence[Unit]) -> re.Pattern[str]:
    pieces: list[str] = []
    for at, unit in enumerate(found):
        if at:
            pieces.append(_BETWEEN if not (unit.single or found[at - 1].single) else r"(?:['’]s)?[\W_]*")
        # A cut word goes on; an apostrophe inside a whole one was taken out.
        long = len(unit.text) >= _analysis.LONGEST
        whole = any(ch.isdigit() or ch in "+#" for ch in unit.text)
        pieces.append("['’]*".join(map(re.escape, unit.text)) if whole else re.escape(unit.text))
        if long:
            pieces.append(r"\S*?")
    return re.compile("".join(pieces))


@dataclass(frozen=True, slots=True)
class _Near:
    """Passages, and the first and last one around each in which the phrase may stand, int64 [m]."""

    passages: _Ids
    first: _Ids
    last: _Ids

    def of(self, kept: Mask) -> _Near:
        """Gives those that are marked."""
        return _Near(self.passages[kept], self.first[kept], self.last[kept])


class _Reader:
    """Looks for phrases in one state of the library."""

    def __init__(
        self, connection: sqlite3.Connection, postings: Postings, answers: Answers, view: View, *, filtered: bool
    ) -> None:
        self._connection = connection
        self._postings = postings
        self._answers = answers
        self._view = view
        self._filtered = filtered

    def holders(self, passages: _Ids) -> Mask:
        """Gives the contents of passages, bool [max content id + 1]."""
        mask = np.zeros(len(self._view.content_live), np.bool_)
        mask[self._view.passage_content[passages]] = True
        return mask

    def list_of(self, key: _Key) -> _Ids:
        """Gives the passages that have one of the tokens, in rising order."""
        view = self._view
        if view.segmentation is None:
            return np.zeros(0, np.int64)
        held = np.zeros(len(view.passage_content), np.bool_)
        for token in key:
            ids = self._postings.get(self._connection, view.segmentation, token, view.generation)
            held[ids[ids < len(held)]] = True
        return np.flatnonzero(held & (view.passage_content >= 0))

    def places(self, phrase: _Phrase, passing: Mask) -> _Ids:
        """Gives the passages of passing contents in which the phrase begins, in rising order."""
        known = self._answers.get(self._view, phrase.steps)
        if known is not None:
            return known[passing[self._view.passage_content[known]]]
        whole = not self._filtered and int(passing.sum()) == int(self._view.content_live.sum())
        found = self._look(phrase, passing)
        if whole:
            self._answers.keep(self._view, phrase.steps, found)
        return found

    def _look(self, phrase: _Phrase, passing: Mask) -> _Ids:
        view = self._view
        ordered = view.segmentation is not None and _units.up_to_date(self._connection)
        if ordered and self._is_all_around(phrase):
            begins, near = self._in_a_row(phrase, np.flatnonzero(passing))
        else:
            near = self._near(phrase, passing)
            begins = np.zeros(0, np.int64)
            if ordered and len(near.passages) > MANY_PASSAGES:
                begins, near = self._in_a_row(phrase, np.unique(view.passage_content[near.passages]))
        found = [
            passage
            for content, first, last in self._windows(near)
            for passage in self._verify(phrase, content, first, last)
        ]
        return np.union1d(begins, np.array(found, np.int64))

    def _is_all_around(self, phrase: _Phrase) -> bool:
        """Says whether every word is so common that its list leaves hardly a document out."""
        view = self._view
        if view.words < _words.PRUNE_FROM or view.segmentation is None:
            return False
        keys = {key for _, key in phrase.keys}
        return all(self._is_common(key, AROUND_SHARE) for key in keys)

    def _is_common(self, key: _Key, share: float) -> bool:
        view = self._view
        assert view.segmentation is not None
        return any(
            not token.prefix and self._postings.is_common(self._connection, view.segmentation, token, share, view.words)
            for token in key
        )

    def _in_a_row(self, phrase: _Phrase, contents: _Ids) -> tuple[_Ids, _Near]:
        """Gives the passages in which the phrase begins, and those that need a look at their text."""
        view = self._view
        assert view.segmentation is not None
        passages, owners, broken = _units.find(self._connection, view.segmentation, contents, phrase.steps)
        # What was cut anew since the view was made is not of it.
        known = passages < len(view.passage_content)
        known &= view.passage_content[np.where(known, passages, 0)] == owners
        passages, owners = passages[known], owners[known]
        closer = np.unique(broken[broken < len(view.passage_content)])
        if len(np.unique(owners)) <= FEW_DOCUMENTS:
            passages, closer = passages[:0], np.union1d(passages, closer)
        return passages, _Near(closer, *self._around(closer, 0, len(phrase.steps) - 1 + FOOTER_WORDS))

    def _near(self, phrase: _Phrase, passing: Mask) -> _Near:
        """Gives the passages of the rarest word that have the other words around them."""
        view = self._view
        telling = self._telling(phrase)
        lists = [(at, self.list_of(key)) for at, key in telling]
        if min(len(ids) for _, ids in lists) > FILTER_FROM:
            more = list({key: (at, key) for at, key in phrase.keys if (at, key) not in telling}.values())
            lists += [(at, self.list_of(key)) for at, key in more[:FILTER_WORDS]]
        passing = passing.copy()
        for _, ids in lists:
            passing &= self.holders(ids)
        at, ids = min(lists, key=lambda pair: len(pair[1]))
        rarest = phrase.steps[at]
        ids = ids[passing[view.passage_content[ids]]]
        if not len(ids):
            return _Near(ids, ids, ids)
        before = len(phrase.steps) - 1 - phrase.steps[::-1].index(rarest)
        behind = len(phrase.steps) - 1 - phrase.steps.index(rarest)
        near = _Near(ids, *self._around(ids, before, behind))
        for _, others in lists:
            place = np.minimum(np.searchsorted(others, near.first), len(others) - 1)
            near = near.of((others[place] >= near.first) & (others[place] <= near.last))
        return near

    def _windows(self, near: _Near) -> Iterator[tuple[int, int, int]]:
        """Gives content, first and last passage of every stretch that may hold the phrase."""
        open_: tuple[int, int, int] | None = None
        owners = self._view.passage_content[near.passages]
        for content, low, high in zip(owners.tolist(), near.first.tolist(), near.last.tolist(), strict=True):
            if open_ is not None and open_[0] == content and low <= open_[2] + 1:
                open_ = (content, min(low, open_[1]), max(high, open_[2]))
                continue
            if open_ is not None:
                yield open_
            open_ = (content, low, high)
        if open_ is not None:
            yield open_

    def _telling(self, phrase: _Phrase) -> list[tuple[int, _Key]]:
        """Leaves out words that are common, whose lists are long, unless nothing remains."""
        view = self._view
        keys = list({key: (at, key) for at, key in phrase.keys}.values())
        if view.words < _words.PRUNE_FROM or view.segmentation is None or len(keys) == 1:
            return keys
        share = _words.PRUNE_SHARE
        while share < 1:
            rare = [(at, key) for at, key in keys if not self._is_common(key, share)]
            if rare:
                return rare
            share *= 4
        return keys

    def _around(self, ids: _Ids, before: int, behind: int) -> tuple[_Ids, _Ids]:
        """Gives the first and last passage that so many words before and behind a passage reach into."""
        total, begin, end = self._borders
        first = np.searchsorted(total, total[ids] - before - FOOTER_WORDS, side="right") - 1 if before > 0 else ids
        last = np.searchsorted(total, total[ids + 1] + behind + FOOTER_WORDS, side="left") - 1 if behind > 0 else ids
        return np.clip(first, begin[ids], ids), np.clip(last, ids, end[ids])

    @cached_property
    def _borders(self) -> tuple[NDArray[np.float64], _Ids, _Ids]:
        """Words before each passage; the first and the last passage of its content (they have consecutive ids)."""
        view = self._view
        total = np.concatenate([[0.0], np.cumsum(view.passage_length, dtype=np.float64)])
        places = np.arange(len(view.passage_content))
        changes = np.flatnonzero(np.diff(view.passage_content)) + 1
        begin = np.concatenate([[0], changes])
        run = np.searchsorted(begin, places, side="right") - 1
        end = np.concatenate([changes, [len(places)]]) - 1
        return total, begin[run], end[run]

    # ------------------------------------------------------------ on the stored text

    def _verify(self, phrase: _Phrase, content: int, first: int, last: int) -> Iterator[int]:
        rows = self._connection.execute(
            "SELECT id, start, end, embedded FROM passage WHERE id>=? AND id<=? AND content=? ORDER BY start, id",
            (first, last, content),
        ).fetchall()
        slices = Slices(self._connection)
        found = list(_occurrences(phrase, rows, slices, content))
        # A page's footer and header stand between the end of one page and the beginning of the next.
        body = [row for row in rows if row[3]]
        if len(phrase.steps) > 1 and 1 < len(body) < len(rows):
            found += _occurrences(phrase, body, slices, content)
        yield from found
        if first == 0 or self._view.passage_content[first - 1] != content:
            row = self._connection.execute("SELECT title FROM content WHERE id=?", (content,)).fetchone()
            if row and row[0] and next(_matches(phrase, row[0]), None) is not None:
                yield first


def _occurrences(
    phrase: _Phrase, rows: Sequence[tuple[int, int, int, int]], slices: Slices, content: int
) -> Iterator[int]:
    """Gives the passages in which the phrase begins; the passages' texts are read as one."""
    pieces, begins, length, covered = [], [], 0, 0
    for _, start, end, _ in rows:
        piece = slices.get(content, max(start, covered), end) if end > covered else ""
        covered = max(covered, end)
        pieces.append(piece)
        begins.append(length)
        length += len(piece) + 1
    text = "\n".join(pieces)
    if phrase.quick.search(_analysis.fold_text(text)):
        for at in _matches(phrase, text):
            yield rows[bisect_right(begins, at) - 1][0]


def _matches(phrase: _Phrase, text: str) -> Iterator[int]:
    found = _analysis.units(text)
    texts = tuple(unit.text for unit in found)
    steps, count = phrase.steps, len(phrase.steps)
    at = -1
    while True:
        try:
            at = texts.index(steps[0], at + 1)
        except ValueError:
            return
        if texts[at : at + count] == steps:
            yield found[at].start
