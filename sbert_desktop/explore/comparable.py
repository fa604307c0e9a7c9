"""Documents made ready for comparing: their words as numbers, their sentences, and a fingerprint to find pairs by.

Words are compared without case, punctuation, line ends, hyphens at line ends, bullets, list numbers, page numbers
and furniture: what differs when one text is saved in two formats. Accents, numbers with their points and signs,
currencies and ticked boxes count; in program code every sign does. Scripts without spaces are compared sign by
sign. Words are 64-bit numbers that are the same in every process; two words share one by chance of 1e-19.
Any thread; numpy only.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sbert_desktop.domain import Block, BlockKind
from sbert_desktop.explore import _calendar
from sbert_desktop.explore.wording import SIGNS

Span = tuple[int, int]
Numbers = NDArray[np.uint64]

FINGERPRINT_VERSION = 1
"""Raised whenever the fingerprint of a text changes: those that were kept are made again."""
FEWEST_WORDS = 8
"""Words of a text; those with fewer are duplicates only when they are equal, word by word."""
MOST_WORDS = 2_000_000
"""Words of a document that are compared one by one (a shelf of books); digests are made of all."""
RUN = 5
"""Words in a row that are no chance when two documents share them."""
_SKETCHED = 3
"""Words in a row of which a sketch is made."""
SMALLEST_SKETCH = 64
_LARGEST_SKETCH, _SKETCH_SHARE = 4096, 8
_FEW_LETTERS = 12
"""Words that are not numbers; with fewer a sketch is made of all words."""
_CHUNK = 1_000_000
"""Code points tokenised at a time."""

_MARKS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc"
    "\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u0711\u0730-\u074a\u07a6-\u07b0\u0900-\u0903\u093a-\u094f\u0951-\u0957\u0962\u0963"
    "\u0981-\u0983\u09bc-\u09cd\u09d7\u09e2\u09e3\u0a01-\u0a03\u0a3c-\u0a51\u0a70\u0a71\u0a75\u0a81-\u0a83\u0abc-\u0acd\u0ae2"
    "\u0ae3\u0b01-\u0b03\u0b3c-\u0b57\u0b62\u0b63\u0b82\u0bbe-\u0bcd\u0bd7\u0c00-\u0c04\u0c3e-\u0c56\u0c62\u0c63\u0c81-\u0c83"
    "\u0cbc-\u0cd6\u0ce2\u0ce3\u0d00-\u0d03\u0d3b-\u0d4d\u0d57\u0d62\u0d63\u0d81-\u0d83\u0dca-\u0ddf\u0df2\u0df3\u0f18\u0f19"
    "\u0f35\u0f37\u0f39\u0f3e\u0f3f\u0f71-\u0f84\u0f86\u0f87\u0f8d-\u0fbc\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
)
"""Signs that belong to the letter before them, which ``\\w`` leaves out: vowels of Indian scripts, points."""
JOINED = "\u2060"
"""Stands where a hyphen at a line end was, so that the text keeps its length; it is not seen when shown."""
_JOINED = JOINED
_LETTER = rf"[^\W_{SIGNS}]"
_PART = rf"{_LETTER}{{1,12}}"
_TOKENS = (
    # RE-2024-017, 2024-03-12, 12/2024: a number of a thing, or a day, is one word.
    rf"(?=(?:[^\W\d_]{{1,6}}+[-_/])*+[^\W\d_]{{0,6}}+\d){_PART}(?:[-_/]{_PART})+"
    r"|(?:(?<![^\s(\[\"“‘„«'=:;,|€$£])-)?\d+(?:[.,:']\d+)*"
    rf"|{_LETTER}+(?:[{_MARKS}{_JOINED}]+{_LETTER}*)*"
    rf"|[{SIGNS}]"
    r"|[%‰°€$£¥\u2610-\u2612\u2713-\u2718\u2705\u274c\U0001f300-\U0001faff]"
    r"|(?<=[^\n][ \t])[+=<>≤≥≠±×÷](?=[ \t])"
)
_TOKEN = re.compile(_TOKENS)
_CODE_TOKEN = re.compile(_TOKENS + r"|[^\w\s]")
_CODE = frozenset(("code",))
"""Formats in which every sign counts."""

_PLAIN = str.maketrans("−’", "-'")
_BROKEN = re.compile(r"(?<=[^\W\d_])[-\u2010][ \t]*\n[ \t]*(?=[^\W\d_])")
_LISTED = re.compile(r"^[ \t]*\(?(\d{1,3})[.)](?=[ \t])", re.MULTILINE)
_OF = r"(?:\s*(?:/|of|von|de|di|sur|av)\s*\d{1,4})?"
_PAGE = r"\b(?:page|seite|página|pagina|blatt|pág\.?|pag\.?|p\.|s\.)\s*"
_PAGE_NUMBER = re.compile(rf"\W*(?:{_PAGE})?(\d{{1,4}}){_OF}\W*", re.IGNORECASE)
_PAGED = re.compile(rf"{_PAGE}(\d{{1,4}})\b{_OF}", re.IGNORECASE)
_EDGE = 3
"""Blocks at the top and at the bottom of a page that may be furniture which extraction did not notice."""
_LONGEST_EDGE = 120
_LONGEST_SENTENCE = 1000
"""Code points."""
_END = re.compile(r"[.!?…]+[\"'”’»)\]]*\s+|[。！？]+[」』”’）]*\s*|\n\s*\n")
_LINE = re.compile(r"\n+")
_ABBREVIATED = re.compile(
    r"(?:^|[\s(])(?:[^\W\d_]|dr|mr|mrs|ms|prof|st|no|nr|vs|art|abs|bzw|ca|cf|eg|ie|etc|fig|inc|ltd|jr|sr|vol|pp|tel|str|usw"
    r"|approx|dept|est|hr|fr|bd|ggf|inkl|zzgl|sog|vgl|sig|av|ed|op|sec)\.$",
    re.IGNORECASE,
)


class _Coded(dict[str, int]):
    """Words as numbers, remembered; odd numbers are those of numbers, days, months and amounts."""

    def __missing__(self, word: str) -> int:
        if len(self) > 1_000_000:
            self.clear()
        code = int.from_bytes(hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")
        code = (code & ~1) | _calendar.is_number(word)
        self[word] = code
        return code


class _Written(dict[str, str]):
    """Words as they are digested: nothing between words, so that a parted word is the same, but around numbers."""

    def __missing__(self, word: str) -> str:
        if len(self) > 1_000_000:
            self.clear()
        written = f"\x1f{word}\x1f" if any(map(str.isdecimal, word)) else word
        self[word] = written
        return written


_coded = _Coded()
_written = _Written()


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What a document is found by, small enough to be kept for all.

    Attributes:
        words: How many it has.
        text: 16 bytes; equal for equal word sequences.
        letters: 16 bytes; equal where nothing but numbers, days, months and amounts differs.
        plain: Words that are none of these.
        sketch: uint64 [m], rising: the smallest numbers of its runs of three words; at least 64 or all, at most 4,096.
    """

    words: int
    text: bytes
    letters: bytes
    plain: int
    sketch: Numbers

    def pack(self) -> bytes:
        """Gives it as bytes."""
        head = self.words.to_bytes(8, "little") + self.plain.to_bytes(8, "little")
        return head + self.text + self.letters + self.sketch.astype("<u8").tobytes()

    @classmethod
    def unpack(cls, data: bytes) -> Fingerprint:
        """Reads what :meth:`pack` gave.

        Raises:
            ValueError: The bytes are none.
        """
        if len(data) < 48 or len(data) % 8:
            raise ValueError(f"not a fingerprint: {len(data)} bytes")
        words, plain = int.from_bytes(data[:8], "little"), int.from_bytes(data[8:16], "little")
        return cls(words, data[16:32], data[32:48], plain, np.frombuffer(data[48:], "<u8").astype(np.uint64))


class Places:
    """Where each word of a text stands."""

    def __init__(self, words: Numbers) -> None:
        self.words = words
        self._order = np.argsort(words, kind="stable")
        self._ranked = words[self._order]

    def spans(self, words: Numbers) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Gives for each word a half open span, int64 [n] each, for :meth:`at`."""
        return np.searchsorted(self._ranked, words), np.searchsorted(self._ranked, words, "right")

    def at(self, low: int, high: int) -> NDArray[np.int64]:
        """Gives the places of a word, rising."""
        return self._order[low:high]


class Comparable:
    """A document's text, ready for comparing.

    Attributes:
        words: uint64 [n], the first two million; odd ones are numbers, days, months and amounts.
        total: How many words the text has.
        plain: How many of them are no numbers.
        text: 16 bytes, digest of all words in their order.
        letters: 16 bytes, the same without numbers.
        format: The document's format.
    """

    __slots__ = ("_begins", "_clean", "_hard", "_joined", "_listed", "_places", "_runs", "_said", "_spans", "_words",
                 "format", "letters", "plain", "text", "total", "words")  # fmt: skip

    def __init__(self, text: str, blocks: Sequence[Block] = (), *, format: str = "") -> None:
        """Reads a text.

        Args:
            text: Normalised, as extraction gives it.
            blocks: Its blocks; furniture is left out. Without blocks all is text.
            format: As the library names it; texts of equal words are ``format`` duplicates where it differs.
        """
        self.format = format
        self._clean = _cleaned(text, blocks)
        self._hard = [(b.start, b.end) for b in blocks if b.kind in {BlockKind.TABLE, BlockKind.CODE}]
        whole, letters = hashlib.blake2b(digest_size=16), hashlib.blake2b(digest_size=16)
        kept: list[Numbers] = []
        self.total = self.plain = 0
        for chunk in _chunks(self._clean):
            words = _tokens(chunk, format)
            codes = np.fromiter(map(_coded.__getitem__, words), np.uint64, len(words))
            is_number = (codes & np.uint64(1)).astype(bool)
            whole.update("".join(map(_written.__getitem__, words)).encode("utf-8", "surrogatepass"))
            plain = [word for word, number in zip(words, is_number.tolist(), strict=True) if not number]
            letters.update("".join(plain).encode("utf-8", "surrogatepass"))
            if self.total < MOST_WORDS:
                kept.append(codes[: MOST_WORDS - self.total])
            self.total += len(words)
            self.plain += len(plain)
        if self.total < FEWEST_WORDS:  # "nowhere" and "now here"
            whole.update(b"\0%d" % self.total)
        self.words: Numbers = np.concatenate(kept) if kept else np.zeros(0, np.uint64)
        self.text, self.letters = whole.digest(), letters.digest()
        self._runs: dict[int, tuple[Numbers, Numbers]] = {}
        self._spans: list[Span] | None = None
        self._words: list[list[str]] = []
        self._listed: list[str] | None = None
        self._places: Places | None = None
        self._said: frozenset[str] | None = None
        self._joined: str | None = None
        self._begins: NDArray[np.int64] = np.zeros(0, np.int64)

    def __len__(self) -> int:
        return len(self.words)

    @property
    def is_cut(self) -> bool:
        """It has more words than are compared."""
        return self.total > len(self.words)

    def fingerprint(self) -> Fingerprint:
        """Gives what the document is found by."""
        words = self.words[(self.words & np.uint64(1)) == 0]
        if len(words) < _FEW_LETTERS:
            words = self.words
        runs = np.unique(mixed(words, _SKETCHED))
        size = min(max(SMALLEST_SKETCH, len(runs) // _SKETCH_SHARE), _LARGEST_SKETCH)
        return Fingerprint(self.total, self.text, self.letters, self.plain, runs[:size].copy())

    def runs(self, length: int = RUN) -> tuple[Numbers, Numbers]:
        """Gives the runs of so many words: uint64 [n - length + 1] in their order, and each once, rising."""
        if length not in self._runs:
            runs = mixed(self.words, length)
            self._runs[length] = (runs, np.unique(runs))
        return self._runs[length]

    def sentences(self) -> list[tuple[Span, list[str]]]:
        """Gives the place of each sentence in the text, code points, and its words; those without words are left out.

        A row of a table, or a line of code, is one. Only sentences that begin in the words compared.
        """
        if self._spans is None:
            spans: list[Span] = []
            lists: list[list[str]] = []
            count = 0
            for low, high in _sentence_spans(self._clean, self._hard):
                words = _tokens(self._clean[low:high], self.format)
                count += len(words)
                if words and count <= MOST_WORDS:
                    spans.append((low, high))
                    lists.append(words)
            self._spans, self._words = spans, lists
        return list(zip(self._spans, self._words, strict=True))

    def listed(self) -> list[str]:
        """Gives the words as they are compared, as many as ``words`` has."""
        if self._listed is None:
            listed = [word for chunk in _chunks(self._clean) for word in _tokens(chunk, self.format)]
            self._listed = listed[:MOST_WORDS]
        return self._listed

    def places(self) -> Places:
        """Gives where each of the words compared stands."""
        if self._places is None:
            self._places = Places(self.words)
        return self._places

    def said(self) -> frozenset[str]:
        """Gives the sentences, each with its words joined as :func:`written` joins them."""
        if self._said is None:
            self._said = frozenset(written(words) for _, words in self.sentences())
        return self._said

    def joined(self) -> tuple[str, NDArray[np.int64]]:
        """Gives all words without anything between them (but around numbers), and int64 [n + 1]: where each begins."""
        if self._joined is None:
            pieces = [_written[word] for word in self.listed()]
            self._joined = "".join(pieces)
            self._begins = np.zeros(len(pieces) + 1, np.int64)
            np.cumsum(np.fromiter(map(len, pieces), np.int64, len(pieces)), out=self._begins[1:])
        return self._joined, self._begins


def cleaned(text: str, blocks: Sequence[Block] = ()) -> str:
    """Gives a text of the same length without what is not compared: furniture, bullets, hyphens at line ends."""
    return _cleaned(text, blocks)


def placed_words(clean: str, low: int, high: int, *, format: str = "") -> tuple[list[str], list[Span]]:
    """Gives the words of a stretch of what :func:`cleaned` gave, as they are compared, and the place of each."""
    piece = clean[low:high]
    folded = piece.lower() if piece.isascii() else piece.casefold()
    if not folded.isascii() and not unicodedata.is_normalized("NFC", folded):
        folded = unicodedata.normalize("NFC", folded)
    pattern = _CODE_TOKEN if format in _CODE else _TOKEN
    found = [(match.group(), match.start(), match.end()) for match in pattern.finditer(folded)]
    if len(folded) != len(piece):
        places = _places_folded(piece, len(folded))
        found = [(word, places[start], max(places[start] + 1, places[end])) for word, start, end in found]
    words = [word.replace(_JOINED, "") for word, _, _ in found]
    return words, [(low + start, low + end) for _, start, end in found]


def _places_folded(text: str, length: int) -> list[int]:
    """Gives for each code point of the folded text, and its end, where it comes from."""
    places: list[int] = []
    start = 0
    while start < len(text):
        end = start + 1
        while end < len(text) and unicodedata.combining(text[end]):
            end += 1
        places += [start] * len(unicodedata.normalize("NFC", text[start:end].casefold()))
        start = end
    # joined differently as a whole (letters that are composed of several): near enough, and never outside
    return [*places[:length], *[len(text)] * (length + 1 - len(places))]


def coded(words: Sequence[str]) -> Numbers:
    """Gives words as the numbers that :class:`Comparable` has for them, uint64 [n]."""
    return np.fromiter(map(_coded.__getitem__, words), np.uint64, len(words))


def written(words: Sequence[str]) -> str:
    """Gives words as :meth:`Comparable.joined` joins them."""
    return "".join(map(_written.__getitem__, words))


def mixed(words: Numbers, length: int) -> Numbers:
    """Gives a number for each run of ``length`` words, uint64 [max(0, n - length + 1)], evenly spread."""
    count = len(words) - length + 1
    if count <= 0:
        return np.zeros(0, np.uint64)
    out = np.zeros(count, np.uint64)
    for place in range(length):  # wraps around, as hashes may
        out = (out ^ words[place : place + count]) * np.uint64(0x9E3779B97F4A7C15)
        out ^= out >> np.uint64(29)
    out *= np.uint64(0xBF58476D1CE4E5B9)
    out ^= out >> np.uint64(32)
    return out


def _tokens(text: str, format: str) -> list[str]:
    folded = text.lower() if text.isascii() else text.casefold().translate(_PLAIN)
    if not folded.isascii() and not unicodedata.is_normalized("NFC", folded):
        folded = unicodedata.normalize("NFC", folded)
    words: list[str] = (_CODE_TOKEN if format in _CODE else _TOKEN).findall(folded)
    if _JOINED in folded:
        words = [word.replace(_JOINED, "") for word in words]
    return words


def _chunks(text: str) -> Iterator[str]:
    """Cuts a text at white space, so that no word is parted."""
    start = 0
    while start < len(text):
        end = min(start + _CHUNK, len(text))
        if end < len(text):
            cut = max(text.rfind("\n", start, end), text.rfind(" ", start, end))
            end = cut if cut > start else end
        yield text[start:end]
        start = end


def _cleaned(text: str, blocks: Sequence[Block]) -> str:
    """Gives a text of the same length without what differs from format to format."""
    drop = _furniture(text, blocks)
    if drop and sum(high - low for low, high in drop) < len(text.strip()):
        parts = []
        at = 0
        for low, high in drop:
            parts += [text[at:low], " " * (high - low)]
            at = high
        text = "".join([*parts, text[at:]])
    text = _BROKEN.sub(lambda m: _JOINED * len(m.group()) if m.string[m.end()].islower() else m.group(), text)
    expected = {1}

    def unlisted(match: re.Match[str]) -> str:
        number = int(match.group(1))
        if number not in expected:  # "... of chapter\n5. Next": no list
            return match.group()
        expected.add(number + 1)
        return " " * len(match.group())

    return _LISTED.sub(unlisted, text)


def _furniture(text: str, blocks: Sequence[Block]) -> list[Span]:
    """Gives the places of furniture: as extraction says, page numbers, and what stands at the edge of every page."""
    pages: dict[int, list[Block]] = {}
    for block in blocks:
        if block.page is not None and block.kind is not BlockKind.FURNITURE:
            pages.setdefault(block.page, []).append(block)
    edges = [(page, block) for page, held in pages.items() for place, block in enumerate(held)
             if min(place, len(held) - 1 - place) < _EDGE and block.end - block.start <= _LONGEST_EDGE
             and block.kind in {BlockKind.PARAGRAPH, BlockKind.HEADING}]  # fmt: skip
    where: dict[str, set[int]] = {}
    for page, block in edges:
        where.setdefault(_without_number(text[block.start : block.end], page), set()).add(page)
    found = [(block.start, block.end) for block in blocks if block.kind is BlockKind.FURNITURE]
    for page, block in edges:
        said = text[block.start : block.end]
        number = _PAGE_NUMBER.fullmatch(said)
        everywhere = len(pages) > 1 and len(where[_without_number(said, page)]) == len(pages)
        if everywhere or (number and int(number.group(1)) == page):
            found.append((block.start, block.end))
    return sorted(found)


def _without_number(text: str, page: int) -> str:
    return _PAGED.sub(lambda match: "#" if int(match.group(1)) == page else match.group(), text).strip()


def _sentence_spans(text: str, hard: Sequence[Span]) -> Iterator[Span]:
    """Cuts at ends of sentences and at blank lines; at each line end within the spans of ``hard``."""
    at = 0
    for low, high in hard:
        yield from _prose(text, at, low)
        yield from _cut(text, low, high, [match.span() for match in _LINE.finditer(text, low, high)])
        at = high
    yield from _prose(text, at, len(text))


def _prose(text: str, low: int, high: int) -> Iterator[Span]:
    cuts = []
    for match in _END.finditer(text, low, high):
        if match.group()[0] == ".":
            following = text[match.end() : match.end() + 1]
            before = text[max(low, match.start() - 12) : match.start() + 1]
            if "\n\n" not in match.group() and (following.islower() or _ABBREVIATED.search(before)):
                continue
        cuts.append(match.span())
    yield from _cut(text, low, high, cuts)


def _cut(text: str, low: int, high: int, cuts: Sequence[Span]) -> Iterator[Span]:
    at = low
    for end in (*(end for _, end in cuts), high):
        while end - at > _LONGEST_SENTENCE:  # no marks at all: it is cut somewhere, between words if there are any
            middle = at + _LONGEST_SENTENCE // 2
            part = max(
                text.rfind("\n", middle, at + _LONGEST_SENTENCE), text.rfind(" ", middle, at + _LONGEST_SENTENCE)
            )
            part = part + 1 if part > 0 else at + _LONGEST_SENTENCE
            yield at, part
            at = part
        if at < end:
            yield at, end
        at = end
