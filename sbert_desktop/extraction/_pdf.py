"""PDF through pdfium: text with its place on the page, so that a hit can be marked there."""

from __future__ import annotations

import ctypes
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol, cast

from sbert_desktop.domain import BlockKind, ExtractedText, Run
from sbert_desktop.extraction._builder import TextBuilder
from sbert_desktop.extraction._dates import parse_date
from sbert_desktop.extraction._normalise import normalise, one_line
from sbert_desktop.extraction._pdf_layout import Boxes, Line, Page, Paragraph, in_reading_order, paragraphs, read_lines
from sbert_desktop.extraction._problems import failure
from sbert_desktop.extraction._source import Source

_DIGITS = re.compile(r"\d+")
_WORDS = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_PARTED = re.compile(r"\w*(?:[\ufffe\x02]|[-\u2010]\s*[\r\n])\s*\w*")
_TERMINAL = re.compile(r"[.!?:;,。！？][\"'”’»)\]」]*$")
_NUMBERING = re.compile(r"^(?:(\d{1,2}(?:\.\d{1,2}){0,4})\.?|[IVXLC]{1,6}\.|[A-Z](?:\.\d{1,2}){0,3}\.?)\s+\S")
_ENDS_IN_DASH = re.compile(r"\w[\u2013/]$")
_SURROGATE = re.compile("[\ud800-\udfff]")
_UNREADABLE = re.compile("[\ufffd\ue000-\uf8ff\x00-\x01\x03-\x08\x0e-\x1f]")
_BOLD = re.compile(r"bold|black|heavy|semib|demi|medi\b|cmbx|cmb10|sfbx|,b\b", re.IGNORECASE)
_BAD_TITLE = re.compile(r"^(?:microsoft (?:word|powerpoint|excel) - .*|untitled.*|title|document\d*|"
                        r".*\.(?:docx?|pdf|dvi|tex|indd|qxd|pptx?|rtf|odt|ps|eps|xlsx?|txt)|slide \d+|\W*|"
                        r"[\d\W]+|<.*>|none)$", re.IGNORECASE)
_BIG = 1.18  # times the body's height: larger lines are headings
_MOST = 0.4  # share of the pages on which a header or footer repeats (left and right pages differ)


class _Pdf(Protocol):
    """The little that is used of pypdfium2's document."""

    def __len__(self) -> int: ...
    def __getitem__(self, index: int) -> _PdfPage: ...
    def get_metadata_value(self, key: str) -> str: ...
    def close(self) -> None: ...


class _PdfPage(Protocol):
    def get_size(self) -> tuple[float, float]: ...
    def get_textpage(self) -> _TextPage: ...
    def close(self) -> None: ...


class _TextPage(Protocol):
    raw: object

    def count_chars(self) -> int: ...
    def get_text_range(self) -> str: ...
    def close(self) -> None: ...


@contextmanager
def opened(data: bytes, password: str | None = None) -> Iterator[_Pdf]:
    """Opens a PDF.

    Raises:
        ExtractionError: ``encrypted`` or ``damaged``.
    """
    import pypdfium2
    import pypdfium2.raw as pdfium

    try:
        document = pypdfium2.PdfDocument(data, password=password, autoclose=True)
        pages = len(document)
    except pypdfium2.PdfiumError as error:
        code = getattr(error, "err_code", None)
        if code in {pdfium.FPDF_ERR_PASSWORD, pdfium.FPDF_ERR_SECURITY}:
            raise failure("encrypted") from error
        raise failure("damaged") from error
    try:
        if not pages:
            raise failure("damaged", "The PDF has no pages.")
        yield cast(_Pdf, document)
    finally:
        document.close()


def read(source: Source) -> ExtractedText:
    """Reads a PDF: paragraphs in reading order with runs, headings, furniture, title and date.

    Raises:
        ExtractionError: ``encrypted``, ``damaged``, ``no-text-layer`` or ``empty``.
    """
    out = TextBuilder("pdf")
    with opened(source.data, source.password) as document:
        pages, without_text, broken = _read_pages(document)
        if not any(page.lines for page in pages):
            if broken:
                raise failure("damaged")
            raise failure("no-text-layer" if without_text else "empty")
        if _is_unreadable(pages):
            raise failure("no-text-layer", "The fonts of this PDF do not say which letters they draw.",
                          "Run text recognition on it, or export it again from its own program.")
        titled = _metadata_title(document)
        for key in ("Author", "Subject", "Keywords"):
            out.metadata.append((key.lower(), document.get_metadata_value(key) or ""))
        out.date = parse_date(document.get_metadata_value("CreationDate") or "")
    if without_text:
        out.note("no-text-layer", _some_pages("hold no text that can be read", without_text))
    if broken:
        out.note("damaged", _some_pages("could not be read", broken))
    out.metadata.append(("pages", str(len(pages))))
    _write(pages, titled, out)
    return out.finish()


def _is_unreadable(pages: list[Page]) -> bool:
    """Tells text whose fonts carry no table of characters: signs of private use and replacement signs."""
    total = sum(len(page.characters) - page.characters.count(" ") for page in pages)
    return sum(len(_UNREADABLE.findall(page.characters)) for page in pages) > 0.4 * total


def _some_pages(what: str, pages: list[int]) -> str:
    shown = ", ".join(map(str, pages[:5])) + (" ..." if len(pages) > 5 else "")
    return f"{len(pages)} page{'s' if len(pages) > 1 else ''} {what} ({shown})."


def _read_pages(document: _Pdf) -> tuple[list[Page], list[int], list[int]]:
    """Gives the pages, and the numbers of those without text and of those that are broken."""
    pages: list[Page] = []
    without_text: list[int] = []
    broken: list[int] = []
    import pypdfium2

    for index in range(len(document)):
        try:
            page = document[index]
            text_page = page.get_textpage()
        except pypdfium2.PdfiumError:
            broken.append(index + 1)
            continue
        width, height = page.get_size()
        entry = Page(index + 1, _characters(text_page), width, height)
        boxes = Boxes(text_page.raw)
        entry.lines = in_reading_order(read_lines(entry, boxes), width)
        for line in entry.lines:
            line.bold = _is_bold(text_page, line)
        if not entry.lines and _has_objects(page):
            without_text.append(index + 1)
        pages.append(entry)
        text_page.close()
        page.close()
    return pages, without_text, broken


def _characters(text_page: _TextPage) -> str:
    """Gives one code point per pdfium character, so that positions are pdfium's own."""
    count = text_page.count_chars()
    if count <= 0:
        return ""
    text = text_page.get_text_range()
    if len(text) == count and not _SURROGATE.search(text):
        return text
    import pypdfium2.raw as pdfium

    codes = (int(pdfium.FPDFText_GetUnicode(text_page.raw, index)) for index in range(count))
    return "".join(chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else "\ufffd" for code in codes)


def _has_objects(page: _PdfPage) -> bool:
    import pypdfium2.raw as pdfium

    return int(pdfium.FPDFPage_CountObjects(page.raw)) > 0  # type: ignore[attr-defined]


def _is_bold(text_page: _TextPage, line: Line) -> bool:
    """Tells whether a line begins and ends in a bold font, by the fonts' names."""
    import pypdfium2.raw as pdfium

    flags = ctypes.c_int()
    buffer = ctypes.create_string_buffer(128)
    for index in {line.words[0][0], line.words[-1][0]}:
        length = pdfium.FPDFText_GetFontInfo(text_page.raw, index, buffer, len(buffer), ctypes.byref(flags))
        if not (0 < length <= len(buffer) and _BOLD.search(buffer.value.decode("utf-8", "replace"))):
            return False
    return True


def _metadata_title(document: _Pdf) -> str:
    title = one_line(document.get_metadata_value("Title") or "")
    return "" if _BAD_TITLE.match(title) or len(title) < 4 else title


# ---------------------------------------------------------------- from lines to blocks


def _write(pages: list[Page], titled: str, out: TextBuilder) -> None:
    furniture = _furniture(pages)
    characters = {page.number: page.characters for page in pages}
    vocabulary = _vocabulary(pages)
    found: list[Paragraph] = []
    for page in pages:
        kept = [line for line in page.lines if id(line) not in furniture]
        for entry in paragraphs(kept):
            if found and _runs_over(found[-1], entry):
                found[-1].lines += entry.lines
            else:
                found.append(entry)
    levels = _Levels(found)
    out.title = titled or _largest_on_first_page(found, levels, characters, vocabulary)
    for entry in found:
        level = levels.of(entry)
        text, runs = _text_of(entry, characters, vocabulary)
        if level:
            out.add_heading(text, level, page=entry.page, runs=runs, ready=True)
        else:
            kind = BlockKind.TABLE if entry.lines[0].table else BlockKind.PARAGRAPH
            out.add(text, kind, page=entry.page, runs=runs, ready=True)
        if out.full:
            break
    out.reset_headings()
    for page in pages:
        for line in page.lines:
            if id(line) in furniture:
                text, runs = _text_of(Paragraph([line]), characters, vocabulary)
                out.add(text, BlockKind.FURNITURE, page=page.number, runs=runs, ready=True)


def _furniture(pages: list[Page]) -> set[int]:
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


def _vocabulary(pages: list[Page]) -> Counter[str]:
    """Counts the words of the document, to tell hyphenation from hyphens."""
    words: Counter[str] = Counter()
    for page in pages:
        words.update(word.lower() for word in _WORDS.findall(_PARTED.sub(" ", page.characters)))
    return words


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
    """Which paragraphs are headings, and of which level, by size, weight and numbering."""

    def __init__(self, found: list[Paragraph]) -> None:
        sizes: Counter[float] = Counter()
        weights = {True: 0, False: 0}
        for entry in found:
            sizes[round(entry.height, 1)] += entry.characters
            weights[all(line.bold for line in entry.lines)] += entry.characters
        self.body = sizes.most_common(1)[0][0] if sizes else 1.0
        self._bold_counts = weights[True] < 0.2 * (weights[True] + weights[False])
        big = sorted({round(entry.height / self.body, 1) for entry in found if self._is_big(entry)}, reverse=True)
        self._ranks = {size: rank for rank, size in enumerate(big[:5], 1)}
        self._labels = self._runs_of_labels(found)

    def of(self, entry: Paragraph) -> int:
        """Gives the level from 1 on, 0 for a text."""
        return 0 if id(entry) in self._labels else self._looks_like(entry)

    def _runs_of_labels(self, found: list[Paragraph]) -> set[int]:
        """Finds runs of four and more would-be headings past the first page: labels of a figure."""
        labels: set[int] = set()
        run: list[Paragraph] = []
        for entry in [*found, None]:
            if entry is not None and (self._looks_like(entry) or (run and entry.characters < 25)):
                run.append(entry)
                continue
            if len(run) > 3 and run[-1].page > found[0].page:
                labels.update(id(label) for label in (run[:-1] if _numbered(run[-1]) else run))
            run = []
        return labels

    def _looks_like(self, entry: Paragraph) -> int:
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
        letters = sum(char.isalpha() for line in entry.lines for char in line.text)
        return letters > 2 and entry.height > _BIG * self.body


def _numbered(entry: Paragraph) -> bool:
    return bool(_NUMBERING.match(entry.lines[0].text))


def _largest_on_first_page(found: list[Paragraph], levels: _Levels, characters: dict[int, str],
                           vocabulary: Counter[str]) -> str:
    first = [entry for entry in found if entry.page == found[0].page and levels.of(entry) and entry.characters >= 4]
    if not first:
        return ""
    largest = max(first, key=lambda entry: round(entry.height, 1))
    return one_line(_text_of(largest, characters, vocabulary)[0])


# ---------------------------------------------------------------- from lines to text with runs


def _text_of(entry: Paragraph, characters: dict[int, str], vocabulary: Counter[str]) -> tuple[str, tuple[Run, ...]]:
    """Gives the normalised text of a paragraph and where its characters stand."""
    writer = _RunWriter()
    for number, line in enumerate(entry.lines):
        if number:
            before = entry.lines[number - 1]
            if before.hyphen:
                keep = _keeps_hyphen(before, line, vocabulary)
                writer.end_hyphenated(keep)
            elif not _ENDS_IN_DASH.search(before.text):
                writer.space("\n" if line.table else " ")
        writer.add_line(line, characters[line.page])
    return writer.finish()


def _keeps_hyphen(before: Line, after: Line, vocabulary: Counter[str]) -> bool:
    """Tells a hyphen that belongs to the word from one that only parts it, by the rest of the document."""
    head = re.search(r"[^\W\d_]*$", before.text.rstrip("-\u2010"))
    tail = re.match(r"[^\W\d_]*", after.text)
    first, second = head.group() if head else "", tail.group() if tail else ""
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

    def add_line(self, line: Line, characters: str) -> None:
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
            if word.isascii():
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

    def _add_single(self, char: str, page: int, at: int) -> None:
        self._runs.append(Run(self._length, page, at, 1))
        self._parts.append(char)
        self._length += 1
