"""Text recognition: pictures and the pages of a PDF that hold no text, through Tesseract where it is installed.

A page that was recognised goes the same way as one that has text: lines with their place become paragraphs, words
parted at a line's end are joined, what repeats on every page is furniture. Instead of pdfium's character numbers its
runs carry the box of each word, as fractions of the page.
"""

from __future__ import annotations

import csv
import io
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from sbert_desktop.domain import ExtractedText
from sbert_desktop.errors import ExtractionError
from sbert_desktop.extraction import _programs
from sbert_desktop.extraction._builder import TextBuilder
from sbert_desktop.extraction._pdf_layout import Line, Page
from sbert_desktop.extraction._problems import failure
from sbert_desktop.extraction._registry import HEAD, format_of

if TYPE_CHECKING:
    from PIL.Image import Image

DPI = 300
"""Dots per inch at which pages are recognised. Source: Tesseract's manual, "Improving the quality of the output"."""
MOST_PIXELS = 36_000_000
"""A larger page is made smaller: two sheets of A3 at 300 dpi; Tesseract's time grows with the pixels."""
_FEWEST_DOTS = 1_000_000  # smaller pictures are made larger: screenshots have letters of 10 dots
_READS_BADLY = 55.0  # mean confidence of a document, of 100; typed text has over 85, handwriting under 50
_SURE = 80.0  # of a few words only
_NOISE = 30.0  # blocks below are stains, screens and drawings
_PAGE_SECONDS = 60.0
_LANGUAGES = re.compile(r"[A-Za-z0-9_/-]+(?:\+[A-Za-z0-9_/-]+)*")
_TERMINAL = re.compile(r"[.!?:;][\"'”’»)\]]*$")
_PACKAGE = "tesseract-ocr"


@dataclass(slots=True)
class Recognised:
    """A recognised page: its lines, how sure Tesseract was (0 to 100), and how many characters that rests on."""

    page: Page
    confidence: float
    weight: int


def check_languages(languages: str) -> str:
    """Gives the languages as Tesseract wants them, ``eng+deu``.

    Raises:
        ExtractionError: ``needs-program`` when Tesseract or one of the language packs is missing, by name.
    """
    programs = _programs.find()
    if not programs.tesseract:
        raise failure("needs-program", "Text recognition needs Tesseract, which is not installed.",
                      f"Install the package {_PACKAGE} and try again.")
    wanted = "+".join(re.split(r"[\s,;+]+", languages.strip().lower())) or "eng"
    missing = [name for name in wanted.split("+") if name not in programs.languages]
    if missing or not _LANGUAGES.fullmatch(wanted):
        name = missing[0] if missing else wanted
        raise failure("needs-program", f"Tesseract has no language pack for {name}.",
                      f"Install the package {_PACKAGE}-{name.replace('_', '-')}, or choose among: "
                      f"{', '.join(programs.languages)}.")
    return wanted


def recognise(data: bytes, name: str, languages: str, *, password: str | None = None,
              seconds: float = 120.0) -> ExtractedText:
    """Reads a scanned PDF or a picture by text recognition; pages of a PDF that have text are read as ever.

    Args:
        data: The file's bytes.
        name: Its name, for its suffix.
        languages: Tesseract's codes, ``eng+deu``.
        password: Opens an encrypted PDF.
        seconds: After so long no further page is begun; the document says which were not reached.

    Raises:
        ExtractionError: ``needs-program``, ``no-text-layer`` or ``picture`` when no word was found, and what reading
            the file raises.
    """
    reader = Reader(check_languages(languages), time.monotonic() + seconds)
    kind = format_of(Path(name), data[:HEAD], data)
    if kind == "pdf":
        from sbert_desktop.extraction._pdf import read_with

        return read_with(data, password, reader)
    if kind != "picture":
        raise failure("unknown-type", "Text recognition reads PDFs and pictures only.")
    return _recognise_picture(data, reader)


def _recognise_picture(data: bytes, reader: Reader) -> ExtractedText:
    from sbert_desktop.extraction import _picture
    from sbert_desktop.extraction._pdf_text import DocumentWriter

    out = TextBuilder("picture")
    with _picture.opened(data) as picture:
        _picture.describe(picture, out)
        count = _picture.frames(picture)
        writer = DocumentWriter(out, out.title, single=count == 1)
        pages: list[Page] = []
        for number in range(1, count + 1):
            if reader.late():
                break
            if count > 1:
                picture.seek(number - 1)
            pages.append(reader.read(_picture.turned(picture, MOST_PIXELS), number))
        writer.add(pages)
        writer.finish()
    reader.note(out, count)
    document = out.finish()
    if not document.text:
        raise failure("picture", "No text was recognised in the picture.",
                      "Add a caption of your own to make it findable.")
    return document


class Reader:
    """Recognises page after page of one file and keeps the account of how well that went."""

    def __init__(self, languages: str, deadline: float) -> None:
        self._languages = languages
        self._deadline = deadline
        self._sum, self._weight = 0.0, 0
        self.done = 0
        self.blank: list[int] = []
        self.failed: list[int] = []
        self.left: list[int] = []

    def late(self) -> bool:
        """Tells whether no further page may be begun."""
        return time.monotonic() > self._deadline

    def read(self, picture: Image, number: int) -> Page:
        """Recognises a picture; an empty page when nothing was found or Tesseract failed on it."""
        width, height = picture.size
        if width * height < _FEWEST_DOTS:
            factor = 3 if width * height < _FEWEST_DOTS / 4 else 2
            picture = picture.resize((width * factor, height * factor))
        grey = picture if picture.mode == "L" else picture.convert("L")
        return self.read_grey(grey.tobytes(), grey.size, number, DPI)

    def read_grey(self, grey: bytes, size: tuple[int, int], number: int, dpi: int) -> Page:
        """Recognises a page of 8-bit grey pixels."""
        points = (size[0] * 72 / dpi, size[1] * 72 / dpi)
        try:
            found = self._best(b"P5\n%d %d\n255\n" % size + grey, number, size, points, dpi)
        except ExtractionError as error:
            if error.code == "needs-program":
                raise
            self.failed.append(number)
            return Page(number, "", *points)
        self.done += 1
        if not found.page.lines:
            self.blank.append(number)
        self._sum += found.confidence * found.weight
        self._weight += found.weight
        return found.page

    def note(self, out: TextBuilder, pages: int) -> None:
        """Adds what is to be said about the recognition."""
        reached = self.done + len(self.failed)
        if self.left or (out.format == "picture" and reached < pages):
            total = len(self.left) or pages - reached
            out.note("timed-out", f"Text recognition did not reach {total} of {pages} pages within its time limit.",
                     "Raise the time limit of text recognition in the settings.")
        if self.failed:
            out.note("timed-out", f"Text recognition failed on {len(self.failed)} of {pages} pages.", "")
        if self._weight and self._sum / self._weight < _READS_BADLY:
            out.note("reads-badly")

    def _best(self, pnm: bytes, number: int, dots: tuple[int, int], size: tuple[float, float],
              dpi: int) -> Recognised:
        found = self._once(pnm, number, dots, size, dpi, "3")
        sure = _READS_BADLY if found.weight >= 40 else _SURE
        if found.confidence < sure:  # lies on its side, perhaps
            other = self._once(pnm, number, dots, size, dpi, "1") if not self.late() else found
            if other.confidence * other.weight > 1.2 * found.confidence * found.weight:
                found = other
        return found

    def _once(self, pnm: bytes, number: int, dots: tuple[int, int], size: tuple[float, float], dpi: int,
              mode: str) -> Recognised:
        left = max(5.0, min(_PAGE_SECONDS, self._deadline + 10.0 - time.monotonic()))
        ended = _programs.run(
            [_programs.find().tesseract_path, "stdin", "stdout", "-l", self._languages, "--psm", mode, "--dpi",
             str(dpi), "-c", "tessedit_create_tsv=1"],
            stdin=pnm, timeout=left, environment={"OMP_THREAD_LIMIT": "1"})
        if ended.status:
            if mode == "1":  # no pack for telling which side is up, or too few letters for it
                return Recognised(Page(number, "", *size), 0.0, 0)
            raise failure("damaged", "Text recognition failed on this page.",
                          detail=ended.errors[-200:].decode("utf-8", "replace"))
        return page_of(ended.output.decode("utf-8", "replace"), number, dots, size)


# ---------------------------------------------------------------- Tesseract's table to lines


@dataclass(slots=True)
class _Word:
    text: str
    confidence: float
    box: tuple[int, int, int, int]


def page_of(table: str, number: int, dots: tuple[int, int], size: tuple[float, float]) -> Recognised:
    """Makes a page of Tesseract's TSV.

    Args:
        table: The output with its head line.
        number: The page, from 1.
        dots: Width and height of what was recognised.
        size: The page in points.
    """
    characters: list[str] = []
    length = 0
    page = Page(number, "", size[0], size[1], boxes=[])
    assert page.boxes is not None
    total, weight, group = 0.0, 0, -1
    for block in _blocks(table):
        sure = [(word.confidence, len(word.text)) for line in block for word in line]
        letters = sum(count for _, count in sure)
        mean = sum(value * count for value, count in sure) / max(1, letters)
        if mean < _NOISE or not any(any(map(str.isalnum, word.text)) for line in block for word in line):
            continue
        total, weight = total + mean * letters, weight + letters
        for number_in_block, words in enumerate(block):
            ranges = []
            for word in words:
                ranges.append((length, length + len(word.text)))
                x, y, width, height = (round(value / dots[at % 2], 5) for at, value in enumerate(word.box))
                page.boxes.append((length, length + len(word.text), (x, y, width, height)))
                characters += (word.text, " ")
                length += len(word.text) + 1
            characters[-1] = "\n"
            line = _line(number, words, ranges, group, dots, size)
            if not number_in_block and not (page.lines and _goes_on(page.lines[-1], line)):
                group += 1
            line.group = group
            page.lines.append(line)
    page.characters = "".join(characters)
    return Recognised(page, total / weight if weight else 0.0, weight)


def _line(number: int, words: list[_Word], ranges: list[tuple[int, int]], group: int, dots: tuple[int, int],
          size: tuple[float, float]) -> Line:
    across, down = size[0] / dots[0], size[1] / dots[1]
    left, top = min(word.box[0] for word in words), min(word.box[1] for word in words)
    right = max(word.box[0] + word.box[2] for word in words)
    bottom = max(word.box[1] + word.box[3] for word in words)
    text = " ".join(word.text for word in words)
    hyphen = len(text) > 2 and text[-1] in "-\u2010\u00ad" and text[-2].isalpha()
    return Line(number, ranges, [True] * len(ranges), left * across, right * across, size[1] - bottom * down,
                size[1] - top * down, text, hyphen, group=group)


def _goes_on(before: Line, line: Line) -> bool:
    """Tells a line that Tesseract took for a new paragraph only because the one before is full, or it is short."""
    step, height = before.bottom - line.bottom, max(before.height, line.height, 0.1)
    across = min(before.right, line.right) - max(before.left, line.left)
    return bool(line.text[0].islower() and not _TERMINAL.search(before.text) and 0 < step < 2.2 * height and across > 0)


def _blocks(table: str) -> Iterator[list[list[_Word]]]:
    """Gives the paragraphs as lists of lines of words."""
    rows = csv.DictReader(io.StringIO(table), delimiter="\t", quoting=csv.QUOTE_NONE)
    lines: list[list[_Word]] = []
    at: tuple[str, ...] = ()
    line_at = ""
    for row in rows:
        text = (row.get("text") or "").strip()
        if row.get("level") != "5" or not text:
            continue
        try:
            confidence = float(row["conf"])
            box = cast(tuple[int, int, int, int], tuple(int(row[key]) for key in ("left", "top", "width", "height")))
        except (KeyError, ValueError, TypeError):
            continue
        if confidence < 0 or (confidence < 50 and not any(map(str.isalnum, text))):
            continue
        place = (row["block_num"], row["par_num"])
        if place != at:
            if lines:
                yield lines
            lines, at, line_at = [], place, ""
        if row["line_num"] != line_at:
            lines.append([])
            line_at = row["line_num"]
        lines[-1].append(_Word(text.replace(" ", "\u00a0"), confidence, box))
    if lines:
        yield lines
