"""The lines of a document's pages as blocks: headings, paragraphs, footnotes, tables, furniture, with their runs.

Pages come in batches, so that a document of thousands of pages is never in memory as lines; what has to be known of
the whole (the size of its usual letters, its words, its outline) is gathered as they come.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sbert_desktop.domain import BlockKind, Run
from sbert_desktop.extraction._builder import TextBuilder
from sbert_desktop.extraction._normalise import normalise, one_line
from sbert_desktop.extraction._pdf_layout import IDEOGRAPHS, Line, Page, Paragraph, paragraphs

_DIGITS = re.compile(r"\d+")
_WORDS = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_PARTED = re.compile(r"[\ufffe\x02]|[-\u2010]\s*[\r\n]\s*")
_LAST_PIECE, _FIRST_PIECE = re.compile(r"\w+$"), re.compile(r"^\s*\w+")
_TERMINAL = re.compile(r"[.!?:;,。！？][\"'”’»)\]」]*$")
_NUMBERING = re.compile(r"^(?:(\d{1,2}(?:\.\d{1,2}){0,4})\.?|[IVXLC]{1,6}\.|[A-Z](?:\.\d{1,2}){0,3}\.?)\s+\S")
_NUMBERED = re.compile(r"^(?:(?:chapter|section|part|appendix|kapitel|abschnitt|teil|anhang|chapitre)\s+)?"
                       r"(?:[\divxlc]+|[a-z])(?:\.\d+)*[.:)]?\s+", re.IGNORECASE)
_ENDS_IN_DASH = re.compile(r"\w[\u2013/]$")
_NOTE = re.compile(r"^(?:\d{1,3}|[*†‡§¶]{1,3}|\[\d{1,3}\])[.)]?(?:\s|(?=[A-Z\"“]))")
_BIG = 1.18  # times the body's height: larger lines are headings
_SMALL = 0.93  # times the body's height: notes at the foot of a page are smaller
_MOST = 0.4  # share of the pages on which a header or footer repeats (left and right pages differ)
_MOST_WORDS = 400_000  # different words that are remembered; a vocabulary has fewer

Outline = Mapping[int, Mapping[str, int]]
"""Page to squeezed title to level, from 1."""


@dataclass(frozen=True, slots=True)
class Note:
    """A comment or the value of a form's field: text that lies on a page, not in it."""

    text: str
    page: int
    part: str
    box: tuple[float, float, float, float] | None = None


def squeezed(title: str) -> str:
    """Gives a title without its number, blanks and case, to find the line that says the same."""
    line = " ".join(normalise(title).split())
    return (_NUMBERED.sub("", line) or line).casefold().replace(" ", "")


@dataclass(slots=True)
class DocumentWriter:
    """Writes batch after batch of pages into a builder.

    Args:
        out: Where to.
        titled: The document's title where its file says one; else the largest heading of the first page is taken.
        outline: Its table of contents.
        single: The document is one picture: its blocks have no page number.
    """

    out: TextBuilder
    titled: str = ""
    outline: Outline = field(default_factory=dict)
    single: bool = False
    _words: Counter[str] = field(default_factory=Counter)
    _levels: _Levels | None = None
    _furniture: list[tuple[str, int, tuple[Run, ...]]] = field(default_factory=list)

    def add(self, pages: Sequence[Page], notes: Sequence[Note] = ()) -> None:
        """Adds pages, in order, and what lies on them."""
        furniture = _furniture(pages)
        if len(self._words) < _MOST_WORDS:
            _count_words(pages, self._words)
        by_number = {page.number: page for page in pages}
        found = _paragraphs_of(pages, furniture, self.outline)
        if self._levels is None:
            self._levels = _Levels(self.outline)
        self._levels.learn(found)
        if not self.out.title:
            self.out.title = self.titled or self._largest_on_first_page(found, by_number)
        self._write(found, by_number, notes)
        for page in pages:
            for line in page.lines:
                if id(line) in furniture:
                    text, runs = _text_of(Paragraph([line]), by_number, self._words)
                    self._furniture.append((text, page.number, runs))

    def finish(self) -> None:
        """Adds what repeats on the pages, behind everything else."""
        self.out.reset_headings()
        for text, page, runs in self._furniture:
            self.out.add(text, BlockKind.FURNITURE, page=self._page(page), runs=runs, ready=True)
        self._furniture.clear()

    def _write(self, found: list[Paragraph], pages: dict[int, Page], notes: Sequence[Note]) -> None:
        assert self._levels is not None
        waiting = list(notes)
        for entry in found:
            while waiting and waiting[0].page < entry.page:
                self._add_note(waiting.pop(0))
            level = self._levels.of(entry)
            text, runs = _text_of(entry, pages, self._words)
            if level:
                self.out.add_heading(text, level, page=self._page(entry.page), runs=runs, ready=True)
            else:
                kind = BlockKind.TABLE if entry.lines[0].table else BlockKind.PARAGRAPH
                self.out.add(text, kind, page=self._page(entry.page), runs=runs, ready=True)
            if self.out.full:
                return
        for note in waiting:
            self._add_note(note)

    def _add_note(self, note: Note) -> None:
        text = normalise(note.text).strip()
        runs = (Run(0, note.page, 0, len(text), note.box),) if note.box else ()
        self.out.add(text, page=note.page, part=note.part, runs=runs, ready=True)

    def _page(self, number: int) -> int | None:
        return None if self.single else number

    def _largest_on_first_page(self, found: list[Paragraph], pages: dict[int, Page]) -> str:
        assert self._levels is not None
        first = [entry for entry in found
                 if entry.page == found[0].page and self._levels.of(entry) and entry.characters >= 4]
        if not first:
            return ""
        largest = max(first, key=lambda entry: round(entry.height, 1))
        return one_line(_text_of(largest, pages, self._words)[0])


def _paragraphs_of(pages: Sequence[Page], furniture: set[int], outline: Outline) -> list[Paragraph]:
    """Groups the lines of pages; a paragraph that goes on past a page's end or its footnotes is one."""
    found: list[Paragraph] = []
    for page in pages:
        kept = [line for line in page.lines if id(line) not in furniture]
        if page.number in outline:
            _mark_titles(kept, outline[page.number])
        for entry in paragraphs(kept):
            before = next((other for other in reversed(found[-6:]) if not _is_note(other, entry)), None)
            if before is not None and _runs_over(before, entry):
                before.lines += entry.lines
            else:
                found.append(entry)
    return found


def _mark_titles(lines: list[Line], titles: Mapping[str, int]) -> None:
    """Marks the lines (one to three in a row) that say what the table of contents says, so that they stand alone."""
    at = 0
    while at < len(lines):
        count = next((count for count in (1, 2, 3) if at + count <= len(lines) and squeezed(
            " ".join(line.text for line in lines[at : at + count])) in titles), 0)
        for number in range(count):
            lines[at + number].title = 2 if number else 1
        at += count or 1


def _is_note(entry: Paragraph, after: Paragraph) -> bool:
    """Tells a footnote: smaller than the text that goes on after it, and it begins with a number or a sign."""
    return entry.height < _SMALL * after.height and len(entry.lines) < 12 and bool(_NOTE.match(entry.lines[0].text))


def _furniture(pages: Sequence[Page]) -> set[int]:
    """Finds lines that repeat, digits apart, at the same height of most pages (of three or more)."""
    if len(pages) < 3:
        return set()
    places: defaultdict[tuple[str, int], list[tuple[int, Line]]] = defaultdict(list)
    for page in pages:
        ordered = sorted((line for line in page.lines if line.upright), key=lambda line: line.bottom)
        edge = {id(line): line for line in [*ordered[:3], *ordered[-3:]]}
        for line in edge.values():
            middle = (line.bottom + line.top) / 2 / max(page.height, 1)
            if 0.2 < middle < 0.8:
                continue
            key = _DIGITS.sub("#", line.text.casefold()).replace(" ", "")
            places[key, round(middle * 100)].append((page.number, line))
    found: set[int] = set()
    least = max(3, int(_MOST * len(pages)))
    for (key, place), entries in places.items():
        near = [*entries, *places.get((key, place - 1), ()), *places.get((key, place + 1), ())]
        if len({number for number, _ in near}) >= least:
            found.update(id(line) for _, line in entries)
    return found


def _count_words(pages: Sequence[Page], words: Counter[str]) -> None:
    """Counts the words of the document, those parted at a line's end left out, to tell hyphenation from hyphens."""
    for page in pages:
        pieces = _PARTED.split(page.characters.lower())
        for number, piece in enumerate(pieces):
            if number:
                piece = _FIRST_PIECE.sub("", piece)
            if number < len(pieces) - 1:
                tail = piece[-60:]
                piece = piece[: len(piece) - len(tail)] + _LAST_PIECE.sub("", tail)
            words.update(_WORDS.findall(piece))


def _runs_over(before: Paragraph, after: Paragraph) -> bool:
    """Tells whether a paragraph goes on in the next column or on the next page."""
    last, first = before.lines[-1], after.lines[0]
    if last.table or first.table or not (last.upright and first.upright):
        return False
    if not 0.9 < first.height / max(last.height, 0.1) < 1.12 or not first.text[:1].islower():
        return False
    moved = first.page != last.page or first.left > last.right
    return moved and (last.hyphen or not _TERMINAL.search(last.text)) and last.width > 0.6 * first.width


class _Levels:
    """Which paragraphs are headings, and of which level: by the outline, by size, weight and numbering."""

    def __init__(self, outline: Outline) -> None:
        self._outline = outline
        self._depth = max((level for titles in outline.values() for level in titles.values()), default=0)
        self._sizes: Counter[float] = Counter()
        self._weights = {True: 0, False: 0}
        self._big: set[float] = set()
        self._first_page = 0
        self._in_outline = False
        self.body = 1.0

    def learn(self, found: list[Paragraph]) -> None:
        """Takes account of a batch; the levels of its paragraphs hold from then on."""
        for entry in found:
            self._sizes[round(entry.height, 1)] += entry.characters
            self._weights[all(line.bold for line in entry.lines)] += entry.characters
        self.body = self._sizes.most_common(1)[0][0] if self._sizes else 1.0
        self._bold_counts = self._weights[True] < 0.2 * (self._weights[True] + self._weights[False])
        if not self._first_page and found:
            self._first_page = found[0].page
        self._big |= {round(entry.height / self.body, 1) for entry in found if self._is_big(entry)}
        self._ranks = {size: rank for rank, size in enumerate(sorted(self._big, reverse=True)[:5], 1)}
        self._labels = self._runs_of_labels(found)

    def of(self, entry: Paragraph) -> int:
        """Gives the level from 1 on, 0 for a text."""
        told = self._told(entry)
        if told:
            self._in_outline = True
            return told
        level = 0 if id(entry) in self._labels else self._looks_like(entry)
        return level + self._depth if level and self._in_outline else level

    def _told(self, entry: Paragraph) -> int:
        titles = self._outline.get(entry.page)
        if not titles or len(entry.lines) > 4 or entry.characters > 250 or entry.lines[0].table:
            return 0
        return titles.get(squeezed(" ".join(line.text for line in entry.lines)), 0)

    def _runs_of_labels(self, found: list[Paragraph]) -> set[int]:
        """Finds runs of four and more would-be headings past the first page: labels of a figure."""
        labels: set[int] = set()
        run: list[Paragraph] = []
        for entry in [*found, None]:
            if entry is not None and (self._looks_like(entry) or (run and entry.characters < 25)):
                run.append(entry)
                continue
            if len(run) > 3 and run[-1].page > self._first_page:
                labels.update(id(label) for label in (run[:-1] if _numbered(run[-1]) else run))
            run = []
        return labels

    def _looks_like(self, entry: Paragraph) -> int:
        if entry.lines[0].group >= 0:  # recognised: the height of its ink says little
            return 0
        if self._is_big(entry):
            return self._ranks.get(round(entry.height / self.body, 1), len(self._ranks) or 1)
        if not (self._bold_counts and len(entry.lines) <= 2 and all(line.bold for line in entry.lines)):
            return 0
        text = " ".join(line.text for line in entry.lines)
        if _TERMINAL.search(text) or len(text) > 160:
            return 0
        if not any(char.isalpha() for char in text) or not (text[0].isupper() or text[0].isdigit()):
            return 0
        numbering = _NUMBERING.match(text)
        depth = numbering.group(1).count(".") if numbering and numbering.group(1) else 0
        return len(self._ranks) + 1 + depth

    def _is_big(self, entry: Paragraph) -> bool:
        if entry.lines[0].table or not entry.lines[0].upright or len(entry.lines) > 4 or entry.characters > 250:
            return False
        return entry.height > _BIG * self.body and sum(map(str.isalpha, "".join(
            line.text for line in entry.lines))) > 2


def _numbered(entry: Paragraph) -> bool:
    return bool(_NUMBERING.match(entry.lines[0].text))


# ---------------------------------------------------------------- from lines to text with runs


def _text_of(entry: Paragraph, pages: dict[int, Page], vocabulary: Counter[str]) -> tuple[str, tuple[Run, ...]]:
    """Gives the normalised text of a paragraph and where its characters stand."""
    writer = _RunWriter()
    for number, line in enumerate(entry.lines):
        if number:
            before = entry.lines[number - 1]
            if before.hyphen:
                keep = _keeps_hyphen(before, line, vocabulary)
                writer.end_hyphenated(keep)
            elif line.table:
                writer.space("\n")
            elif not _ENDS_IN_DASH.search(before.text) and not _in_ideographs(before.text, line.text):
                writer.space(" ")
        writer.add_line(line, pages[line.page])
    text, runs = writer.finish()
    if any(pages[page].boxes is not None for page in {line.page for line in entry.lines}):
        runs = tuple(part for run in runs for part in _boxed(run, pages[run.page]))
    return text, runs


def _in_ideographs(before: str, after: str) -> bool:
    """Tells whether a line's end lies within Chinese or Japanese text, which has no spaces."""
    return bool(before and after and IDEOGRAPHS.match(before[-1]) and IDEOGRAPHS.match(after[0]))


def _boxed(run: Run, page: Page) -> list[Run]:
    """Cuts a run over recognised words into one run per word, with its box."""
    if page.boxes is None:
        return [run]
    found: list[Run] = []
    at = max(0, bisect_right(page.boxes, run.char_start, key=lambda entry: entry[0]) - 1)
    for start, end, box in page.boxes[at:]:
        low, high = max(start, run.char_start), min(end, run.char_start + run.length)
        if start >= run.char_start + run.length:
            break
        if low < high:
            found.append(Run(run.text_start + low - run.char_start, run.page, low, high - low, box))
    return found


def _keeps_hyphen(before: Line, after: Line, vocabulary: Counter[str]) -> bool:
    """Tells a hyphen that belongs to the word from one that only parts it, by the rest of the document."""
    head = re.search(r"[^\W\d_]*$", before.text.rstrip("-\u2010\u00ad"))
    tail = re.match(r"[^\W\d_]*", after.text)
    first, second = head.group() if head else "", tail.group() if tail else ""
    if before.text.endswith("\u00ad"):
        return False
    if len(first) < 2 or not second:
        return True
    whole, parted = vocabulary[f"{first}{second}".lower()], vocabulary[f"{first}-{second}".lower()]
    if whole or parted:
        return parted > whole
    if second[0].isupper() and not first.isupper():
        return True
    return len(second) > 2 and len(first) > 2 and vocabulary[first.lower()] > 0 and vocabulary[second.lower()] > 0


class _RunWriter:
    """Collects text and runs; a run ends wherever text and pdfium's numbering part ways."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self._runs: list[Run] = []

    def add_line(self, line: Line, page: Page) -> None:
        characters = page.characters
        first, last = line.words[0][0], line.words[-1][1]
        whole = characters[first:last]
        if whole.isascii() and last - first == len(line.text) and whole == line.text:  # the usual case, at once
            self._add(whole, line.page, first)
            return
        previous_end = -1
        for (start, end), spaced in zip(line.words, line.breaks, strict=True):
            if previous_end >= 0 and spaced:
                if start == previous_end + 1 and characters[previous_end] == " ":
                    self._add(" ", line.page, previous_end)
                else:
                    self.space(" ")
            word = characters[start:end]
            order = page.orders.get(start) if page.orders else None
            if order is not None:
                self._add_ordered(characters, order, line.page)
            elif word.isascii():
                self._add(word, line.page, start)
            else:
                self._add_mapped(word, line.page, start)
            previous_end = end

    def space(self, text: str) -> None:
        if self._length and not self._parts[-1].endswith((" ", "\n")):
            self._parts.append(text)
            self._length += 1

    def end_hyphenated(self, keep: bool) -> None:
        """Closes a line that ends inside a word: takes its hyphen away, or puts one there."""
        ends = bool(self._parts) and self._parts[-1].endswith(("-", "\u2010"))
        if keep and not ends:
            self._parts.append("-")
            self._length += 1
        elif ends and not keep:
            self._parts[-1] = self._parts[-1][:-1]
            self._length -= 1
            last = self._runs[-1]
            if last.length > 1:
                self._runs[-1] = Run(last.text_start, last.page, last.char_start, last.length - 1)
            else:
                self._runs.pop()

    def finish(self) -> tuple[str, tuple[Run, ...]]:
        return "".join(self._parts), tuple(self._runs)

    def _add(self, text: str, page: int, at: int) -> None:
        if not text:
            return
        last = self._runs[-1] if self._runs else None
        if (last is not None and last.page == page and last.text_start + last.length == self._length
                and last.char_start + last.length == at):
            self._runs[-1] = Run(last.text_start, page, last.char_start, last.length + len(text))
        else:
            self._runs.append(Run(self._length, page, at, len(text)))
        self._parts.append(text)
        self._length += len(text)

    def _add_mapped(self, word: str, page: int, start: int) -> None:
        """Adds a word in normal form, character by character with its combining marks."""
        at = 0
        while at < len(word):
            end = at + 1
            while end < len(word) and unicodedata.combining(word[end]):
                end += 1
            text = normalise(word[at:end])
            if len(text) == end - at:
                self._add(text, page, start + at)
            else:
                for char in text:  # a ligature: each of its letters points at the one character
                    self._add_single(char, page, start + at)
            at = end

    def _add_ordered(self, characters: str, order: Sequence[int], page: int) -> None:
        """Adds the characters of a word whose order in the file is not the one in which they are read."""
        at = 0
        while at < len(order):
            end = at + 1
            while end < len(order) and unicodedata.combining(characters[order[end]]):
                end += 1
            text = normalise("".join(characters[place] for place in order[at:end]))
            for number, char in enumerate(text):
                self._add_single(char, page, order[min(at + number, end - 1)])
            at = end

    def _add_single(self, char: str, page: int, at: int) -> None:
        self._runs.append(Run(self._length, page, at, 1))
        self._parts.append(char)
        self._length += 1
