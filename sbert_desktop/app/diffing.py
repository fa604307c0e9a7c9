"""Two texts as rows that lie side by side: what is the same, what only one of them says, what stands elsewhere.

Words are compared as the duplicate finder compares them (see :mod:`sbert_desktop.explore.comparable`), so that a text
saved in two formats has no differences. Sentences are paired first; what differs is then aligned word by word, and
sentences that share too little are shown apart. Any thread.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from sbert_desktop.app.duplicate_views import DiffRow, Span
from sbert_desktop.domain import BlockKind, ExtractedText
from sbert_desktop.explore.comparable import JOINED, cleaned, placed_words
from sbert_desktop.explore.differences import match
from sbert_desktop.extraction import sentences

MOST_CHARACTERS = 1_200_000
"""Of each text are compared; what lies beyond is said not to be."""
_LONGEST = 1_000
"""Code points of a sentence; one without an end is parted."""
_ROW = 1_500
"""Code points of a row; a longer paragraph is parted where it is the same for a while."""
_ALIKE = 0.4
"""Share of the words of the shorter of two sentences, rare ones counting more, from which they are versions."""
_SURELY = 0.6
"""The same for a sentence that is much shorter than the other."""
_FREE = 3
"""Occurrences, on both sides together, up to which a word counts fully."""
_MOVED = 4
"""Words of a sentence that is looked for elsewhere; shorter ones stand in many places."""
_ISLAND = 3
"""Equal words between longer differences that are no more than chance."""
_PARTS = 3
"""Words that may be one word on the other side: "well known", "well-known", "wellknown"."""
_HARD = frozenset({BlockKind.TABLE, BlockKind.CODE})
_ENDED = re.compile(r"[.!?…:;。！？][\"'”’»)\]]*$")
_APOSTROPHES = frozenset("'’ʼ")


@dataclass(frozen=True, slots=True)
class Unit:
    """One sentence, heading or row of a table: its place, and its words as numbers first and last (half open)."""

    start: int
    end: int
    block: int
    kind: BlockKind
    first: int
    last: int


class Pages:
    """Where the pages of a document begin in its text."""

    def __init__(self, extracted: ExtractedText) -> None:
        self._starts: list[int] = []
        self._numbers: list[int] = []
        for block in extracted.blocks:
            for start, page in ((block.start, block.page), *((run.text_start, run.page) for run in block.runs)):
                known = self._numbers[-1:] == [page] or (self._starts and start < self._starts[-1])
                if page is not None and not known:
                    self._starts.append(start)
                    self._numbers.append(page)

    def at(self, offset: int) -> int | None:
        """Gives the page on which a code point stands, None where there are no pages."""
        found = bisect_right(self._starts, offset) - 1
        return self._numbers[found] if found >= 0 else None

    def holds(self, page: int, span: Span) -> bool:
        """Tells whether a part of a stretch of the text stands on a page."""
        first, last = self.at(span[0]), self.at(max(span[0], span[1] - 1))
        return first is not None and last is not None and first <= page <= last


class Document:
    """A text ready to be laid beside another one.

    Attributes:
        text: The first 1.2 million code points.
        units: In their order; those without words are left out.
        words: As they are compared.
        spans: Place of each word.
    """

    def __init__(self, extracted: ExtractedText) -> None:
        self.text = extracted.text[:MOST_CHARACTERS]
        self.is_cut = len(extracted.text) > MOST_CHARACTERS
        self.units: list[Unit] = []
        self.words: list[str] = []
        self.spans: list[Span] = []
        self._clean = cleaned(self.text, [block for block in extracted.blocks if block.end <= len(self.text)])
        self._code = extracted.format
        self.page = Pages(extracted).at
        blocks = [(one.start, min(one.end, len(self.text)), one.kind) for one in extracted.blocks
                  if one.start < len(self.text)]  # fmt: skip
        for number, (start, end, kind) in enumerate(blocks or [(0, len(self.text), BlockKind.PARAGRAPH)]):
            if kind is not BlockKind.FURNITURE:
                self._add(number, start, end, kind)

    def _add(self, number: int, start: int, end: int, kind: BlockKind) -> None:
        piece = self.text[start:end]
        if kind is BlockKind.HEADING:
            spans: Sequence[Span] = [(0, len(piece))]
        elif kind in _HARD:
            spans = [found.span() for found in re.finditer(r"[^\n]+", piece)]
        else:
            spans = sentences(piece)
        for low, high in spans:
            for from_, to in _parts(piece, low, high):
                words, places = placed_words(self._clean, start + from_, start + to, format=self._code)
                if not words:
                    continue
                first = len(self.words)
                self.words += words
                self.spans += places
                self.units.append(Unit(start + from_, start + to, number, kind, first, len(self.words)))

    def said(self, unit: int) -> tuple[str, ...]:
        """Gives the words of a unit."""
        found = self.units[unit]
        return tuple(self.words[found.first : found.last])

    def joined(self, words: Sequence[int]) -> str:
        """Gives words in a row without what parts them, but apostrophes and what is between figures."""
        out = self.words[words[0]]
        for number in words[1:]:
            word = self.words[number]
            low, high = self.spans[number - 1][1], self.spans[number][0]
            if high - low == 1 and self.text[low] in _APOSTROPHES:
                out += "'"  # "don't" is not "dont"
            elif out[-1].isdigit() and word[0].isdigit():
                out += " "
            out += word
        return out

    def show(self, first: int, last: int) -> tuple[str, dict[int, int]]:
        """Gives units as one text without the line ends of a page, and where each begins in it."""
        parts: list[str] = []
        begins: dict[int, int] = {}
        size = 0
        for number in range(first, last):
            unit = self.units[number]
            if number > first:
                gap = self._gap(self.units[number - 1], unit)
                parts.append(gap)
                size += len(gap)
            shown = self.text[unit.start : unit.end]
            if unit.kind not in _HARD:
                shown = shown.replace("\n", " ")
                if JOINED in self._clean[unit.start : unit.end]:  # a word that was parted at the end of a line
                    shown = "".join(
                        JOINED if sign == JOINED else own
                        for own, sign in zip(shown, self._clean[unit.start : unit.end], strict=True)
                    )
            begins[number] = size
            parts.append(shown)
            size += len(shown)
        return "".join(parts), begins

    def _gap(self, before: Unit, unit: Unit) -> str:
        gap = self.text[before.end : unit.start]
        if before.block != unit.block or ("\n" in gap and not _ENDED.search(self.text[before.start : before.end])):
            return "\n"
        return " " if gap.strip() == "" and gap else gap.replace("\n", " ")


def _parts(piece: str, low: int, high: int) -> Iterator[Span]:
    while high - low > _LONGEST:
        cut = max(piece.rfind(" ", low + _LONGEST // 2, low + _LONGEST), piece.rfind("\n", low + 1, low + _LONGEST))
        cut = cut if cut > low else low + _LONGEST
        yield low, cut
        low = cut
    yield low, high


@dataclass(frozen=True, slots=True)
class _Pair:
    """Units of both sides that belong together, half open; one side may be empty."""

    a0: int
    a1: int
    b0: int
    b1: int
    same: bool
    moved: bool = False


class Comparison:
    """Aligns two documents. ``rows`` and ``marks`` (places in the two texts) hold the outcome after :meth:`run`."""

    def __init__(self, a: Document, b: Document, check: Callable[[], object]) -> None:
        self._a, self._b, self._check = a, b, check
        numbers: dict[str, int] = {}
        self._words_a = [numbers.setdefault(word, len(numbers)) for word in a.words]
        self._words_b = [numbers.setdefault(word, len(numbers)) for word in b.words]
        self._often = Counter(self._words_a)
        self._often.update(self._words_b)
        self._only: tuple[dict[int, list[Span]], dict[int, list[Span]]] = ({}, {})  # by unit, places in the text
        self._moved: tuple[set[int], set[int]] = (set(), set())
        self.rows: list[DiffRow] = []
        self.marks: tuple[list[Span], list[Span]] = ([], [])

    def run(self) -> None:
        """Pairs sentences, and words where these differ."""
        for paragraph in _paragraphs(self._before_the_cut(list(self._pairs())), self._a, self._b):
            self.rows += [self._row(pairs) for pairs in _rows(paragraph, self._a, self._b)]
        self._gather()

    def run_words(self) -> None:
        """Pairs all words as if each text were one sentence; gives marks only."""
        links = self._links(range(len(self._a.words)), range(len(self._b.words)))
        links = without_islands(links, (0, len(self._a.words)), (0, len(self._b.words)))
        self._note(0, 0, len(self._a.units), {n for n, _ in links})
        self._note(1, 0, len(self._b.units), {p for _, p in links})
        self._gather()

    def _gather(self) -> None:
        mine, theirs = ([span for unit in sorted(side) for span in side[unit]] for side in self._only)
        self.marks = (mine, theirs)

    # ---- sentences

    def _pairs(self) -> Iterator[_Pair]:
        numbers: dict[tuple[str, ...], int] = {}
        mine = [numbers.setdefault(self._a.said(unit), len(numbers)) for unit in range(len(self._a.units))]
        theirs = [numbers.setdefault(self._b.said(unit), len(numbers)) for unit in range(len(self._b.units))]
        partner = match(mine, theirs, self._check).tolist()
        self._moved = self._found_elsewhere(mine, theirs, partner)
        i = j = 0
        for at, other in [*((n, p) for n, p in enumerate(partner) if p >= 0), (len(mine), len(theirs))]:
            if at > i or other > j:
                self._check()
                yield from self._differing(i, at, j, other)
            if at < len(mine):
                yield _Pair(at, at + 1, other, other + 1, same=True)
            i, j = at + 1, other + 1

    def _before_the_cut(self, pairs: list[_Pair]) -> list[_Pair]:
        """Leaves out what differs at the end only because the other text was not read on."""
        end = len(pairs)
        if self._a.is_cut or self._b.is_cut:
            while end and not pairs[end - 1].same:
                end -= 1
            alone = pairs[end:]
            keep = next((n for n, pair in enumerate(alone[::-1]) if pair.a1 > pair.a0 and pair.b1 > pair.b0), None)
            # up to the last sentence that has a version on the other side; that one itself may be cut
            end += 0 if keep is None else max(0, len(alone) - keep - 1)
        for pair in pairs[end:]:
            for side, units in enumerate((range(pair.a0, pair.a1), range(pair.b0, pair.b1))):
                for unit in units:
                    self._only[side].pop(unit, None)
        return pairs[:end]

    def _found_elsewhere(
        self, mine: Sequence[int], theirs: Sequence[int], partner: Sequence[int]
    ) -> tuple[set[int], set[int]]:
        """Gives units that are left over on both sides, equally often: they only stand elsewhere."""
        held = set(partner)
        left_a = [n for n, p in enumerate(partner) if p < 0 and len(self._a.said(n)) >= _MOVED]
        left_b = [n for n in range(len(theirs)) if n not in held and len(self._b.said(n)) >= _MOVED]
        often_a, often_b = Counter(mine[n] for n in left_a), Counter(theirs[n] for n in left_b)
        both = {said for said, count in often_a.items() if often_b[said] == count}
        return {n for n in left_a if mine[n] in both}, {n for n in left_b if theirs[n] in both}

    def _differing(self, a0: int, a1: int, b0: int, b1: int) -> Iterator[_Pair]:
        """Gives the pairs of a stretch in which no sentence is the same."""
        units_a = [unit for unit in range(a0, a1) if unit not in self._moved[0]]
        units_b = [unit for unit in range(b0, b1) if unit not in self._moved[1]]
        i, j = a0, b0
        for pair in [*self._versions(units_a, units_b), _Pair(a1, a1, b1, b1, same=True)]:
            yield from self._unlike(range(i, pair.a0), range(j, pair.b0))
            if pair.a1 > pair.a0:
                yield pair
            i, j = pair.a1, pair.b1

    def _unlike(self, units_a: Sequence[int], units_b: Sequence[int]) -> Iterator[_Pair]:
        """Gives sentences that have no version on the other side; as many on both sides stand beside each other."""
        moved = any(n in self._moved[0] for n in units_a) or any(n in self._moved[1] for n in units_b)
        for side, units in enumerate((units_a, units_b)):
            for unit in units:
                if unit not in self._moved[side]:
                    found = (self._a, self._b)[side].units[unit]
                    self._only[side][unit] = [(found.start, found.end)]
        if len(units_a) == len(units_b) and not moved:
            yield from (_Pair(n, n + 1, p, p + 1, same=False) for n, p in zip(units_a, units_b, strict=True))
            return
        for unit in units_a:
            yield _Pair(unit, unit + 1, 0, 0, same=False, moved=unit in self._moved[0])
        for unit in units_b:
            yield _Pair(0, 0, unit, unit + 1, same=False, moved=unit in self._moved[1])

    # ---- words

    def _versions(self, units_a: Sequence[int], units_b: Sequence[int]) -> list[_Pair]:
        """Pairs sentences by the words that they share in order; one may be several on the other side."""
        if not units_a or not units_b:
            return []
        owner_a = {word: n for n in units_a for word in range(self._a.units[n].first, self._a.units[n].last)}
        owner_b = {word: n for n in units_b for word in range(self._b.units[n].first, self._b.units[n].last)}
        links = self._links(list(owner_a), list(owner_b))
        shared: dict[tuple[int, int], float] = {}
        for n, p in links:
            key = (owner_a[n], owner_b[p])
            shared[key] = shared.get(key, 0.0) + self._weight(self._words_a[n])
        strong = {key for key, weight in shared.items() if self._are_versions(*key, weight)}
        # words at the edge of a sentence that ends elsewhere on the other side are no less the same
        links = [
            link for run in _in_runs(links) if any((owner_a[n], owner_b[p]) in strong for n, p in run) for link in run
        ]
        pairs: list[_Pair] = []
        for unit, other in sorted(strong):
            if pairs and (unit < pairs[-1].a1 or other < pairs[-1].b1):
                last = pairs[-1]
                pairs[-1] = replace(last, a1=max(last.a1, unit + 1), b1=max(last.b1, other + 1))
            else:
                pairs.append(_Pair(unit, unit + 1, other, other + 1, same=False))
        return self._marked(pairs, links)

    def _weight(self, word: int) -> float:
        return min(1.0, _FREE / self._often[word])

    def _are_versions(self, unit: int, other: int, shared: float) -> bool:
        one, two = self._a.units[unit], self._b.units[other]
        whole_a = sum(self._weight(word) for word in self._words_a[one.first : one.last])
        whole_b = sum(self._weight(word) for word in self._words_b[two.first : two.last])
        less, more = min(whole_a, whole_b), max(whole_a, whole_b)
        return shared >= (_SURELY if less * 3 < more else _ALIKE) * less

    def _links(self, words_a: Sequence[int], words_b: Sequence[int]) -> list[tuple[int, int]]:
        """Pairs equal words in order; a word that is written in parts on one side is linked part by part."""
        partner = match([self._words_a[n] for n in words_a], [self._words_b[n] for n in words_b], self._check)
        out: list[tuple[int, int]] = []
        i = j = 0
        for n, p in [*((n, p) for n, p in enumerate(partner.tolist()) if p >= 0), (len(words_a), len(words_b))]:
            if n > i and p > j:
                out += self._parted(words_a[i:n], words_b[j:p])
            if n < len(words_a):
                out.append((words_a[n], words_b[p]))
            i, j = n + 1, p + 1
        return out

    def _parted(self, left: Sequence[int], right: Sequence[int]) -> Iterator[tuple[int, int]]:
        theirs: dict[str, list[tuple[int, int]]] = {}
        for at in range(len(right)):
            for size in range(1, min(_PARTS, len(right) - at) + 1):
                theirs.setdefault(self._b.joined(right[at : at + size]), []).append((at, size))
        i = j = 0
        while i < len(left):
            step = 1
            for count in range(1, min(_PARTS, len(left) - i) + 1):
                found = theirs.get(self._a.joined(left[i : i + count]), ())
                other = next(((at, size) for at, size in found if at >= j and (size == 1) != (count == 1)), None)
                if other is not None:
                    at, size = other
                    for place in range(max(count, size)):
                        yield left[i + min(place, count - 1)], right[at + min(place, size - 1)]
                    step, j = count, at + size
                    break
            i += step

    # ---- marks

    def _marked(self, pairs: Sequence[_Pair], links: Sequence[tuple[int, int]]) -> list[_Pair]:
        """Notes which words of each pair only one side has."""
        out = []
        at = 0
        for pair in pairs:
            low, high = self._a.units[pair.a0].first, self._a.units[pair.a1 - 1].last
            from_, to = self._b.units[pair.b0].first, self._b.units[pair.b1 - 1].last
            while at < len(links) and links[at][0] < low and links[at][1] < from_:
                at += 1
            touching = []
            stop = at
            while stop < len(links) and (links[stop][0] < high or links[stop][1] < to):
                touching.append(links[stop])
                stop += 1
            inside = without_islands(
                [(n, p) for n, p in touching if low <= n < high and from_ <= p < to], (low, high), (from_, to)
            )
            edges = [(n, p) for n, p in touching if (low <= n < high) != (from_ <= p < to)]
            self._note(0, pair.a0, pair.a1, {n for n, _ in (*inside, *edges)})
            self._note(1, pair.b0, pair.b1, {p for _, p in (*inside, *edges)})
            differs = any(n in self._only[0] for n in range(pair.a0, pair.a1)) or any(
                p in self._only[1] for p in range(pair.b0, pair.b1)
            )
            out.append(replace(pair, same=not differs))
        return out

    def _note(self, side: int, first: int, last: int, equal: set[int]) -> None:
        document = (self._a, self._b)[side]
        for number in range(first, last):
            unit = document.units[number]
            spans: list[Span] = []
            follows = False
            for word in range(unit.first, unit.last):
                if word not in equal:
                    low, high = document.spans[word]
                    spans = [*spans[:-1], (spans[-1][0], high)] if follows else [*spans, (low, high)]
                follows = word not in equal
            if spans:
                self._only[side][number] = spans

    # ---- rows

    def _row(self, pairs: Sequence[_Pair]) -> DiffRow:
        sides: list[tuple[str | None, tuple[Span, ...], int | None]] = []
        heading = False
        for side, document in enumerate((self._a, self._b)):
            ranges = [(pair.a0, pair.a1) if side == 0 else (pair.b0, pair.b1) for pair in pairs]
            ranges = [(low, high) for low, high in ranges if high > low]
            if not ranges:
                sides.append((None, (), None))
                continue
            first, last = ranges[0][0], ranges[-1][1]
            text, begins = document.show(first, last)
            spans = []
            for number in range(first, last):
                shift = begins[number] - document.units[number].start
                spans += [(low + shift, high + shift) for low, high in self._only[side].get(number, ())]
            heading |= document.units[first].kind is BlockKind.HEADING
            sides.append((text, _run_on(text, spans), document.page(document.units[first].start)))
        (left, left_marks, left_page), (right, right_marks, right_page) = sides
        same = all(pair.same for pair in pairs)
        moved = all(pair.moved for pair in pairs)
        return DiffRow(left, right, same, left_marks, right_marks, left_page, right_page, heading, moved)


def without_islands(links: Sequence[tuple[int, int]], whole_a: Span, whole_b: Span) -> list[tuple[int, int]]:
    """Leaves out a few equal words between longer stretches that differ: they are equal by chance.

    Args:
        links: Word numbers of both sides, rising.
        whole_a: First and last word of the left side, half open.
        whole_b: The same of the right side.
    """
    runs = _in_runs(links)
    at = 0
    while at < len(runs):
        run = runs[at]
        before = runs[at - 1][-1] if at else (whole_a[0] - 1, whole_b[0] - 1)
        after = runs[at + 1][0] if at + 1 < len(runs) else (whole_a[1], whole_b[1])
        gap_before = max(run[0][0] - before[0], run[0][1] - before[1]) - 1
        gap_after = max(after[0] - run[-1][0], after[1] - run[-1][1]) - 1
        if len(run) <= _ISLAND and len(run) < gap_before and len(run) < gap_after and len(runs) > 1:
            del runs[at]
            at = max(0, at - 1)
        else:
            at += 1
    return [link for run in runs for link in run]


def _in_runs(links: Sequence[tuple[int, int]]) -> list[list[tuple[int, int]]]:
    """Parts links where a word stands between that has none, on either side."""
    runs: list[list[tuple[int, int]]] = []
    for n, p in links:
        if runs and n - runs[-1][-1][0] <= 1 and p - runs[-1][-1][1] <= 1:
            runs[-1].append((n, p))
        else:
            runs.append([(n, p)])
    return runs


def _run_on(text: str, spans: Sequence[Span]) -> tuple[Span, ...]:
    """Joins marks between which there is nothing but white space, and keeps them inside the text."""
    out: list[Span] = []
    for low, high in spans:
        low, high = max(0, low), min(len(text), high)
        if out and low >= out[-1][1] and not text[out[-1][1] : low].strip():
            out[-1] = (out[-1][0], high)
        elif high > low:
            out.append((low, high))
    return tuple(out)


def _paragraphs(pairs: Sequence[_Pair], a: Document, b: Document) -> Iterator[list[_Pair]]:
    """Puts pairs together that stand in one paragraph, of either side."""
    held: list[_Pair] = []
    blocks: tuple[int, int] = (-1, -1)
    for pair in pairs:
        mine = (_block(a, pair.a0, pair.a1, pair.a0), _block(b, pair.b0, pair.b1, pair.b0))
        goes_on = bool(held) and any(one >= 0 and one == other for one, other in zip(mine, blocks, strict=True))
        if goes_on:
            last = held[-1]
            goes_on = pair.moved == last.moved and not _stands_alone(pair, a, b) and not _stands_alone(last, a, b)
            if pair.moved and goes_on:
                goes_on = (pair.a1 > pair.a0) == (last.a1 > last.a0)
        if held and not goes_on:
            yield held
            held = []
        held.append(pair)
        ends = (_block(a, pair.a0, pair.a1, pair.a1 - 1), _block(b, pair.b0, pair.b1, pair.b1 - 1))
        blocks = (ends[0] if ends[0] >= 0 else blocks[0], ends[1] if ends[1] >= 0 else blocks[1]) if goes_on else ends
    if held:
        yield held


def _block(document: Document, first: int, last: int, unit: int) -> int:
    return document.units[unit].block if last > first else -1


def _stands_alone(pair: _Pair, a: Document, b: Document) -> bool:
    kinds = {unit.kind for unit in (*a.units[pair.a0 : pair.a1], *b.units[pair.b0 : pair.b1])}
    return bool(kinds & {BlockKind.HEADING, *_HARD})


def _rows(paragraph: Sequence[_Pair], a: Document, b: Document) -> Iterator[list[_Pair]]:
    """Parts a long paragraph where it is the same for a while; a sentence beside a difference stays with it."""
    sizes = [max(_length(a, pair.a0, pair.a1), _length(b, pair.b0, pair.b1)) for pair in paragraph]
    whole = sum(sizes) <= _ROW
    near = [whole or not all(pair.same for pair in paragraph[max(0, at - 1) : at + 2]) for at in range(len(paragraph))]
    held: list[_Pair] = []
    size = 0
    for at, pair in enumerate(paragraph):
        if held and (near[at] != near[at - 1] or size + sizes[at] > _ROW):
            yield held
            held, size = [], 0
        held.append(pair)
        size += sizes[at]
    if held:
        yield held


def _length(document: Document, first: int, last: int) -> int:
    return document.units[last - 1].end - document.units[first].start if last > first else 0


def differing_words(one: str, other: str) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
    """Gives the stretches of each of two passages that the other lacks, code points. Quick; any thread."""
    comparison = Comparison(_passage(one), _passage(other), lambda: None)
    comparison.run_words()
    return _run_on(one, comparison.marks[0]), _run_on(other, comparison.marks[1])


def _passage(text: str) -> Document:
    return Document(ExtractedText("", text))
