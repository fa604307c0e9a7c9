"""A document's text cut into passages that fill the encoder's window with whole sentences.

The tokenizer is called once per document (once per window of a million characters for huge ones)
and its offsets tell how many tokens any stretch holds; everything else is arithmetic on arrays.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sbert_desktop.domain import Block, BlockKind, ExtractedText, Location, Passage, SplitRules, Tokenizer
from sbert_desktop.extraction._normalise import one_line
from sbert_desktop.extraction._sentences import sentences

WINDOW = 1_000_000
"""Characters given to the tokenizer at once."""
_LONG_TOKEN = 64  # a longer token is an unknown word: counted as if it were pieces of two characters
_VIRTUAL = 2
_CLAUSE = re.compile(r"[,;:—–…、，；：)\]]\s*(?=\s)|[、，；：]|\s[-–—]\s")
_SPACE = re.compile(r"\s+")
_TERMINAL = re.compile(r"[.!?…。！？:;।؟۔][\"'”’»)\]」』]*$")
_HALF = 0.5  # a heading opens a new passage once the current one is half full
_SMALL = 0.25  # a last passage under a quarter of the window is evened out with the one before it


@dataclass(frozen=True, slots=True)
class _Unit:
    """A sentence or a piece of one: what is packed."""

    start: int
    end: int
    tokens: int
    block: int
    heading: bool
    whole: bool


class _Tokens:
    """Token positions of the whole text; counts the tokens of any stretch in O(log n)."""

    def __init__(self, text: str, tokenizer: Tokenizer) -> None:
        offsets = _offsets(text, tokenizer)
        self.starts = offsets[:, 0]
        self.ends = offsets[:, 1]

    def index(self, position: int) -> int:
        """Gives the number of tokens that begin before a position."""
        return int(np.searchsorted(self.starts, position, side="left"))

    def indices(self, positions: NDArray[np.int64]) -> NDArray[np.int64]:
        """As :meth:`index`, for many positions."""
        return np.searchsorted(self.starts, positions, side="left")


def split(text: ExtractedText, rules: SplitRules, tokenizer: Tokenizer) -> list[Passage]:
    """Cuts a document into passages of at most ``rules.max_tokens`` tokens, context included.

    Whole sentences are packed greedily; a sentence over the limit is cut at a clause, else a word,
    else a token border. A heading stays with the text that it heads. Every character of the blocks
    that is not white space lies in at least one passage. Furniture gives passages that are not
    embedded. ``Passage.text == text.text[start:end]``. Pure; any thread.
    """
    if not text.text:
        return []
    blocks = text.blocks or (Block(0, len(text.text)),)
    tokens = _Tokens(text.text, tokenizer)
    contexts = _Contexts(text, rules, tokenizer, blocks)
    units = _units(text.text, blocks, tokens, contexts)
    passages: list[Passage] = []
    for group in _groups(units, blocks):
        furniture = blocks[group[0].block].kind is BlockKind.FURNITURE
        for first, last in _pack(group, rules, contexts, text.text, tokens):
            block = blocks[group[first].block]
            start, end = group[first].start, group[last].end
            passages.append(Passage(
                len(passages), start, end, text.text[start:end],
                "" if furniture else contexts.of(group[first]),
                Location(block.page, block.heading, block.part), not furniture))
    return passages


def _offsets(text: str, tokenizer: Tokenizer) -> NDArray[np.int64]:
    pieces: list[NDArray[np.int64]] = []
    begin = 0
    while begin < len(text):
        end = _window_end(text, begin)
        found = np.asarray(tokenizer.offsets(text[begin:end]), dtype=np.int64).reshape(-1, 2) + begin
        pieces.append(found)
        begin = end
    offsets = pieces[0] if len(pieces) == 1 else np.concatenate(pieces)
    offsets = offsets[offsets[:, 1] > offsets[:, 0]]
    return _with_long_tokens_parted(offsets)


def _window_end(text: str, begin: int) -> int:
    end = begin + WINDOW
    if end >= len(text):
        return len(text)
    for separator in ("\n\n", "\n", " "):
        cut = text.rfind(separator, begin + WINDOW // 2, end)
        if cut > 0:
            return cut + len(separator)
    return end


def _with_long_tokens_parted(offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """Replaces each token of over 64 characters by pieces of two, so that it can be cut."""
    lengths = offsets[:, 1] - offsets[:, 0]
    if not lengths.size or int(lengths.max()) <= _LONG_TOKEN:
        return offsets
    counts = np.where(lengths > _LONG_TOKEN, -(-lengths // _VIRTUAL), 1)
    owner = np.repeat(np.arange(len(offsets)), counts)
    nth = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
    parted = counts[owner] > 1
    starts = offsets[owner, 0] + np.where(parted, nth * _VIRTUAL, 0)
    ends = np.where(parted, np.minimum(starts + _VIRTUAL, offsets[owner, 1]), offsets[owner, 1])
    return np.stack([starts, ends], axis=1)


class _Contexts:
    """The context of each block and what it costs; all distinct contexts are tokenised in one call."""

    def __init__(self, text: ExtractedText, rules: SplitRules, tokenizer: Tokenizer, blocks: tuple[Block, ...]) -> None:
        self.limit = max(1, rules.max_tokens)
        wants_title, wants_heading = "title" in rules.context, "heading" in rules.context
        title = one_line(text.title, 200) if wants_title else ""
        self._of_block: list[str] = []
        self._title_of_block: list[str] = []
        for block in blocks:
            shown = one_line(text.text[block.start : min(block.end, block.start + 400)], 200)
            own_title = "" if block.kind is BlockKind.FURNITURE or shown.startswith(title) else title
            heading = block.heading if wants_heading else ""
            if block.kind is BlockKind.HEADING:  # its own words stand in the text already
                heading = heading.rpartition(" > ")[0]
            elif block.kind is BlockKind.FURNITURE:
                heading = ""
            if own_title and heading.startswith(own_title):
                heading = heading[len(own_title) :].removeprefix(" > ")
            self._of_block.append("\n".join(part for part in (own_title, heading) if part))
        self._cost = self._fitted(tokenizer)

    def of(self, unit: _Unit) -> str:
        """Gives the context of a passage that begins with a unit."""
        return self._of_block[unit.block]

    def budget(self, unit: _Unit) -> int:
        """Gives how many tokens of text a passage that begins with a unit may hold."""
        return self.limit - self._cost.get(self._of_block[unit.block], 0)

    def budget_of_block(self, block: int) -> int:
        """As :meth:`budget`, by block."""
        return self.limit - self._cost.get(self._of_block[block], 0)

    def _fitted(self, tokenizer: Tokenizer) -> dict[str, int]:
        """Counts the tokens of each context and cuts those that take over a quarter of the window."""
        distinct = sorted(set(self._of_block) - {""})
        if not distinct:
            return {}
        joined = "\n".join(distinct)
        offsets = np.asarray(tokenizer.offsets(joined), dtype=np.int64).reshape(-1, 2)
        most = self.limit // 4
        cost: dict[str, int] = {}
        fitted: dict[str, str] = {"": ""}
        begin = 0
        for context in distinct:
            end = begin + len(context)
            first, last = (int(at) for at in np.searchsorted(offsets[:, 0], [begin, end]))
            kept, count = context, last - first
            if count > most:
                stop = int(offsets[first + most, 0]) - begin
                space = max(context.rfind(" ", 0, stop + 1), context.rfind("\n", 0, stop + 1))
                kept = context[:space].rstrip() if space > 0 else ""
                count = int(np.searchsorted(offsets[:, 0], begin + len(kept))) - first
            fitted[context] = kept
            cost[kept] = count
            begin = end + 1
        self._of_block = [fitted[context] for context in self._of_block]
        return cost


def _units(text: str, blocks: tuple[Block, ...], tokens: _Tokens, contexts: _Contexts) -> list[_Unit]:
    spans: list[tuple[int, int, int]] = []
    for number, block in enumerate(blocks):
        found = sentences(text[block.start : block.end])
        for at, (start, end) in enumerate(found):
            span = (start + block.start, end + block.start, number)
            if at == 0 and spans and _goes_on(text, spans[-1], span, blocks):
                spans[-1] = (spans[-1][0], span[1], spans[-1][2])
            else:
                spans.append(span)
    if not spans:
        return []
    positions = np.asarray([span[:2] for span in spans], dtype=np.int64)
    counts = tokens.indices(positions[:, 1]) - tokens.indices(positions[:, 0])
    units: list[_Unit] = []
    for (start, end, number), count in zip(spans, counts.tolist(), strict=True):
        heading = blocks[number].kind is BlockKind.HEADING
        if count <= contexts.budget_of_block(number):
            units.append(_Unit(start, end, count, number, heading, True))
        else:
            units += _pieces(text, start, end, number, tokens, contexts.budget_of_block(number), heading)
    return units


def _goes_on(text: str, before: tuple[int, int, int], after: tuple[int, int, int], blocks: tuple[Block, ...]) -> bool:
    """Tells whether a sentence runs over a page or column break: no stop, then a small letter."""
    first, second = blocks[before[2]], blocks[after[2]]
    if not (first.kind is second.kind is BlockKind.PARAGRAPH) or first.page is None or second.page is None:
        return False
    return text[after[0]].islower() and not _TERMINAL.search(text[max(before[0], before[1] - 4) : before[1]])


def _pieces(text: str, start: int, end: int, block: int, tokens: _Tokens, budget: int, heading: bool) -> list[_Unit]:
    """Cuts a sentence that is over the budget, each piece as long as its border allows."""
    pieces: list[_Unit] = []
    stop_token = tokens.index(end)
    while start < end:
        first = tokens.index(start)
        if stop_token - first <= budget:
            cut, kept = end, end
        else:
            cut = _cut(text, start, first, tokens, budget)
            kept = cut
        piece_end = start + len(text[start:kept].rstrip())
        pieces.append(_Unit(start, piece_end, tokens.index(piece_end) - first, block, heading, False))
        start = cut
        while start < end and text[start].isspace():
            start += 1
    return pieces


def _cut(text: str, start: int, first: int, tokens: _Tokens, budget: int) -> int:
    """Gives where to cut: a clause border in the second half, else a word border, else a token border."""
    latest = int(tokens.starts[first + max(1, budget)])
    stretch = text[start:latest]
    if latest < len(text) and text[latest].isspace():
        stretch += " "
    half = len(stretch) // 2
    best = 0
    for match in _CLAUSE.finditer(stretch, half):
        best = match.end()
    if best:
        return start + min(best, latest - start)
    space = max(stretch.rfind(" "), stretch.rfind("\n"), stretch.rfind("\t"))
    if space > len(stretch) // 8:
        return start + space
    # Inside a word: its parts may take more tokens on their own than together, so leave a margin.
    safe = first + max(1, int(budget * 0.85)) if text[latest - 1].isascii() else first + max(1, budget)
    cut = int(tokens.starts[safe])
    return cut if cut > start else max(start + 1, int(tokens.ends[first]))


def _groups(units: list[_Unit], blocks: tuple[Block, ...]) -> list[list[_Unit]]:
    """Parts the units where furniture begins and ends: no passage crosses such a border."""
    groups: list[list[_Unit]] = []
    before: tuple[bool, str] | None = None
    for unit in units:
        block = blocks[unit.block]
        kind = (block.kind is BlockKind.FURNITURE, block.part)
        if kind != before:
            groups.append([])
            before = kind
        groups[-1].append(unit)
    return groups


def _pack(
    units: list[_Unit], rules: SplitRules, contexts: _Contexts, text: str, tokens: _Tokens
) -> list[tuple[int, int]]:
    """Gives (first, last) unit of each passage, greedily, with the small last one evened out.

    A sentence too long to stand under its heading is cut there: the heading is not left alone.
    """
    packed: list[tuple[int, int]] = []
    first = 0
    fresh = 0  # the first unit that no passage holds yet
    while fresh < len(units):
        budget = contexts.budget(units[first])
        used = sum(unit.tokens for unit in units[first:fresh])
        last = fresh
        used += units[fresh].tokens
        while last + 1 < len(units):
            following = units[last + 1]
            if used + following.tokens > budget:
                if used > budget // 2 or following.heading or not all(unit.heading for unit in units[first : last + 1]):
                    break
                pieces = _pieces(text, following.start, following.end, following.block, tokens, budget - used, False)
                units[last + 1 : last + 2] = pieces
                following = pieces[0]
                if used + following.tokens > budget:
                    break
            if following.heading and not units[last].heading and used >= _HALF * budget:
                break
            used += following.tokens
            last += 1
        if last + 1 < len(units):
            last = _without_trailing_headings(units, fresh, last)
        packed.append((first, last))
        fresh = last + 1
        first = _overlap_start(units, packed[-1], fresh, rules, contexts) if fresh < len(units) else fresh
    _even_out(packed, units, contexts)
    return packed


def _without_trailing_headings(units: list[_Unit], fresh: int, last: int) -> int:
    """Gives the last unit once headings at the end were left for the next passage."""
    kept = last
    while kept > fresh and units[kept].heading:
        kept -= 1
    return last if units[kept].heading else kept


def _overlap_start(units: list[_Unit], done: tuple[int, int], fresh: int, rules: SplitRules,
                   contexts: _Contexts) -> int:
    """Gives where the next passage begins: some whole sentences back, if they fit and belong to it."""
    start, taken = fresh, 0
    if rules.overlap_tokens <= 0 or units[fresh].heading:
        return fresh
    while start - 1 > done[0]:
        unit = units[start - 1]
        if unit.heading or not unit.whole or taken + unit.tokens > rules.overlap_tokens:
            break
        if taken + unit.tokens + units[fresh].tokens > contexts.budget(unit):
            break
        taken += unit.tokens
        start -= 1
    return start


def _even_out(packed: list[tuple[int, int]], units: list[_Unit], contexts: _Contexts) -> None:
    """Shares the units of the last two passages evenly where the last one is small."""
    if len(packed) < 2:
        return
    (first, middle), (second, last) = packed[-2:]
    tail = sum(unit.tokens for unit in units[second : last + 1])
    if tail >= _SMALL * contexts.limit or units[middle + 1].heading or second <= middle:
        return
    total = sum(unit.tokens for unit in units[first : last + 1])
    held = 0
    for at in range(first, last):
        held += units[at].tokens
        rest = total - held
        if held >= rest and not units[at].heading:
            if held <= contexts.budget(units[first]) and rest <= contexts.budget(units[at + 1]):
                packed[-2:] = [(first, at), (at + 1, last)]
            return
