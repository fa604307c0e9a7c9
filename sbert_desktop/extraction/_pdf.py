"""PDF through pdfium: text with its place on the page, so that a hit can be marked there."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Protocol, cast

from sbert_desktop.domain import BlockKind, ExtractedText, Problem
from sbert_desktop.errors import ExtractionError
from sbert_desktop.extraction._builder import TextBuilder
from sbert_desktop.extraction._container import Member, Members, MembersOf, Remainder
from sbert_desktop.extraction._dates import parse_date
from sbert_desktop.extraction._normalise import one_line
from sbert_desktop.extraction._pdf_layout import Boxes, Line, Page, in_reading_order, read_lines
from sbert_desktop.extraction._pdf_notes import Notes, attachments_of, embedded_in, outline_of
from sbert_desktop.extraction._pdf_text import DocumentWriter, Note
from sbert_desktop.extraction._problems import failure, problem_of
from sbert_desktop.extraction._source import Source

_SURROGATE = re.compile("[\ud800-\udfff]")
_UNREADABLE = re.compile("[\ufffd\ue000-\uf8ff\x00-\x01\x03-\x08\x0e-\x1f]")
_BOLD = re.compile(r"bold|black|heavy|semib|demi|medi\b|cmbx|cmb10|sfbx|,b\b", re.IGNORECASE)
_BAD_TITLE = re.compile(r"^(?:microsoft (?:word|powerpoint|excel) - .*|untitled.*|title|document\d*|"
                        r".*\.(?:docx?|pdf|dvi|tex|indd|qxd|pptx?|rtf|odt|ps|eps|xlsx?|txt)|slide \d+|\W*|"
                        r"[\d\W]+|<.*>|none)$", re.IGNORECASE)
_BATCH = 200
"""Pages whose lines are in memory at a time: about 20 MB; what repeats on pages is looked for among so many."""
_WHOLE, _PART = 2000, 1000
"""A PDF of more pages than the first is read in parts of so many: dense pages take about 5 ms each."""
_RECOGNISED_DPI = 300
_MOST_PIXELS = 36_000_000
_STAMP = 40  # letters; a page with a picture and fewer is a scan with a page number or the name of the scanner's app
_RUBBISH = 0.4  # share of signs of private use from which a text is taken for unreadable


class _Pdf(Protocol):
    """The little that is used of pypdfium2's document."""

    def __len__(self) -> int: ...
    def __getitem__(self, index: int) -> _PdfPage: ...
    def get_metadata_value(self, key: str) -> str: ...
    def close(self) -> None: ...


class _PdfPage(Protocol):
    raw: object

    def get_size(self) -> tuple[float, float]: ...
    def get_rotation(self) -> int: ...
    def get_textpage(self) -> _TextPage: ...
    def close(self) -> None: ...


class _TextPage(Protocol):
    raw: object

    def count_chars(self) -> int: ...
    def get_text_range(self) -> str: ...
    def close(self) -> None: ...


class Recogniser(Protocol):
    """Reads the picture of a page (see ``_ocr.Reader``)."""

    left: list[int]
    blank: list[int]
    failed: list[int]

    def late(self) -> bool:
        """Tells whether no further page may be begun."""
        ...

    def read_grey(self, grey: bytes, size: tuple[int, int], number: int, dpi: int) -> Page:
        """Gives the page, of 8-bit grey pixels, with its lines and boxes."""
        ...

    def note(self, out: TextBuilder, pages: int) -> None:
        """Adds what is to be said about the recognition."""
        ...


@contextmanager
def opened(data: bytes, password: str | None = None) -> Iterator[_Pdf]:
    """Opens a PDF; one whose password is empty opens without.

    Raises:
        ExtractionError: ``encrypted`` or ``damaged``.
    """
    import pypdfium2
    import pypdfium2.raw as pdfium

    try:
        document = pypdfium2.PdfDocument(data, password=password or None, autoclose=True)
        pages = len(document)
    except pypdfium2.PdfiumError as error:
        code = getattr(error, "err_code", None)
        if code == pdfium.FPDF_ERR_SECURITY:
            raise failure("encrypted", "The file is locked in a way that this program does not know.",
                          "Save a copy without protection to make it findable.") from error
        if code == pdfium.FPDF_ERR_PASSWORD and password:
            raise failure("encrypted", "The password is wrong.", "Try another one.") from error
        raise failure("encrypted" if code == pdfium.FPDF_ERR_PASSWORD else "damaged") from error
    try:
        if not pages:
            raise failure("damaged", "The PDF has no pages.")
        yield cast(_Pdf, document)
    finally:
        document.close()


def read(source: Source) -> ExtractedText:
    """Reads a PDF: paragraphs in reading order with runs, headings, furniture, comments, fields, title and date.

    Raises:
        ExtractionError: ``encrypted``, ``damaged``, ``no-text-layer`` or ``empty``.
    """
    return read_with(source.data, source.password)


def read_with(data: bytes, password: str | None, recogniser: Recogniser | None = None) -> ExtractedText:
    """As :func:`read`, with text recognition for the pages that have no text."""
    with opened(data, password) as document:
        return _read_pages(document, 0, len(document), recogniser)


def members_of(source: Source) -> MembersOf | None:
    """Gives the generator for a PDF of thousands of pages, or with attachments; None for one that is one document.

    The first is read in parts: limits of time hold for each part then, and each is found as soon as it was read.
    """
    try:
        with opened(source.data, source.password) as document:
            if len(document) > _WHOLE:
                return _members
            return _with_attachments if embedded_in(document) else None
    except ExtractionError:  # said when it is read
        return None


def _members(source: Source, cursor: str) -> Members:
    title: list[str] = []
    with opened(source.data, source.password) as document:
        count = len(document)
        for number, start in enumerate(range(0, count, _PART), 1):
            yield Member(f"part {number}", load=partial(_read_part, document, start, min(count, start + _PART), title))
    return None


def _with_attachments(source: Source, cursor: str) -> Members:
    """Gives the pages as the file's own text, then what is attached."""
    problems: tuple[Problem, ...] = ()
    with opened(source.data, source.password) as document:
        try:
            yield Member("", document=_read_pages(document, 0, len(document), None))
        except ExtractionError as error:
            problems = (problem_of(error),)
        for name, load in embedded_in(document):
            source.budget.count_member()
            yield Member(name or "attachment", load=partial(_counted, source, load))
    return Remainder(problems)


def _counted(source: Source, load: Callable[[], bytes]) -> bytes:
    data = load()
    source.budget.count(len(data))
    return data


def _read_part(document: _Pdf, start: int, stop: int, title: list[str]) -> ExtractedText:
    part = _read_pages(document, start, stop, None, title[0] if title else "")
    title.append(part.title)
    return part


def _read_pages(document: _Pdf, first: int, stop: int, recogniser: Recogniser | None,
                titled: str = "") -> ExtractedText:
    out = TextBuilder("pdf")
    out.date = parse_date(document.get_metadata_value("CreationDate") or "")
    for key in ("Author", "Subject", "Keywords"):
        out.metadata.append((key.lower(), document.get_metadata_value(key) or ""))
    out.metadata.append(("pages", str(len(document))))
    pages = _Pages(document, recogniser)
    writer = DocumentWriter(out, titled or _metadata_title(document), outline_of(document))
    for start in range(first, stop, _BATCH):
        batch, notes = pages.read(start, min(stop, start + _BATCH))
        writer.add(batch, notes)
        if out.full:
            break
    writer.finish()
    pages.judge(out)
    attached = attachments_of(document) if first == 0 else []
    if attached:
        out.add("\n".join(attached), BlockKind.FURNITURE, part="attachments")
    if recogniser is not None:
        recogniser.note(out, stop - first)
    return out.finish()


def _some_pages(what: str, pages: list[int]) -> str:
    shown = ", ".join(map(str, pages[:5])) + (" ..." if len(pages) > 5 else "")
    return f"{len(pages)} page{'s' if len(pages) > 1 else ''} {what} ({shown})."


class _Pages:
    """Reads the pages of a document and keeps account of those without text and those that are broken."""

    def __init__(self, document: _Pdf, recogniser: Recogniser | None) -> None:
        self._document = document
        self._recogniser = recogniser
        self._notes = Notes(document)
        self._without_text: list[int] = []
        self._broken: list[int] = []
        self._signs = self._rubbish = 0
        self._with_text = self._with_notes = 0

    def read(self, start: int, stop: int) -> tuple[list[Page], list[Note]]:
        """Reads pages by their index; gives them with what lies on them."""
        import pypdfium2

        pages: list[Page] = []
        notes: list[Note] = []
        for index in range(start, stop):
            try:
                page = self._document[index]
                text_page = page.get_textpage()
            except pypdfium2.PdfiumError:
                self._broken.append(index + 1)
                continue
            entry = _page_of(page, text_page, index + 1)
            text_page.close()
            if (not entry.lines and _has_objects(page)) or (self._recogniser is not None and _hides_text(page, entry)):
                entry = self._recognised(page, entry)
            if entry.boxes is None:
                self._signs += len(entry.characters) - entry.characters.count(" ")
                self._rubbish += len(_UNREADABLE.findall(entry.characters))
            self._with_text += bool(entry.lines)
            found = self._notes.on(page, index + 1)
            self._with_notes += bool(found)
            notes += found
            pages.append(entry)
            page.close()
        return pages, notes

    def judge(self, out: TextBuilder) -> None:
        """Says what could not be read.

        Raises:
            ExtractionError: When that is everything.
        """
        if not self._with_text and not self._with_notes:
            if self._broken and not self._without_text:
                raise failure("damaged")
            if self._recogniser is not None and self._recogniser.blank:
                raise failure("no-text-layer", "Text recognition found no words in it.",
                              "Add a transcript of your own to make it findable.")
            if self._recogniser is not None and (self._recogniser.left or self._recogniser.failed):
                raise failure("timed-out", "Text recognition did not get through one page within its time limit.",
                              "Raise the time limit of text recognition in the settings.")
            raise failure("no-text-layer" if self._without_text else "empty")
        if self._rubbish > _RUBBISH * max(1, self._signs):
            raise failure("no-text-layer", "The fonts of this PDF do not say which letters they draw.",
                          "Run text recognition on it, or export it again from its own program.")
        if self._without_text:
            out.note("no-text-layer", _some_pages("hold no text that can be read", self._without_text))
        if self._broken:
            out.note("damaged", _some_pages("could not be read", self._broken))

    def _recognised(self, page: _PdfPage, entry: Page) -> Page:
        """Gives the page as text recognition reads it, as it was where there is none."""
        recogniser = self._recogniser
        if recogniser is None:
            self._without_text.append(entry.number)
            return entry
        if recogniser.late():
            recogniser.left.append(entry.number)
            return entry
        grey, size, dpi = _grey_of(page)
        found = recogniser.read_grey(grey, size, entry.number, dpi)
        return found if found.lines or not entry.lines else entry


def _page_of(page: _PdfPage, text_page: _TextPage, number: int) -> Page:
    """Reads one page that may have text."""
    width, height = page.get_size()
    rotation = page.get_rotation()
    if rotation in {90, 270}:
        width, height = height, width
    characters = _characters(text_page)
    boxes = Boxes(text_page.raw, len(characters), width, height)
    entry = Page(number, characters, *boxes.size)
    entry.lines = in_reading_order(read_lines(entry, boxes), not boxes.turn or boxes.turn * 90 == 360 - rotation)
    bold = _Bold(text_page)
    for line in entry.lines:
        line.bold = bold.is_bold(line)
    return entry


def _grey_of(page: _PdfPage) -> tuple[bytes, tuple[int, int], int]:
    """Draws a page for text recognition; gives its pixels, width and height, and dots per inch."""
    import pypdfium2
    import pypdfium2.raw as pdfium

    wide, high = page.get_size()
    scale = _RECOGNISED_DPI / 72
    scale *= min(1.0, (_MOST_PIXELS / max(1.0, wide * high * scale * scale)) ** 0.5)
    width, height = max(1, round(wide * scale)), max(1, round(high * scale))
    bitmap = pypdfium2.PdfBitmap.new_native(width, height, pdfium.FPDFBitmap_Gray)
    bitmap.fill_rect((255, 255, 255, 255), 0, 0, width, height)
    pdfium.FPDF_RenderPageBitmap(bitmap, page, 0, 0, width, height, 0, pdfium.FPDF_ANNOT | pdfium.FPDF_GRAYSCALE)
    stride, rows = bitmap.stride, bytes(bitmap.buffer)
    bitmap.close()
    grey = rows if stride == width else b"".join(rows[at * stride : at * stride + width] for at in range(height))
    return grey[: width * height], (width, height), max(70, round(72 * scale))


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


def _hides_text(page: _PdfPage, entry: Page) -> bool:
    """Tells a page to be recognised although it has a text: a stamp on a scan, or signs that mean nothing."""
    import pypdfium2.raw as pdfium

    if len(_UNREADABLE.findall(entry.characters)) > _RUBBISH * max(1, len(entry.characters)):
        return True
    if sum(map(str.isalnum, entry.characters)) > _STAMP:
        return False
    count = min(50, int(pdfium.FPDFPage_CountObjects(page.raw)))
    objects = (pdfium.FPDFPage_GetObject(page.raw, index) for index in range(count))
    return any(pdfium.FPDFPageObj_GetType(entry) == pdfium.FPDF_PAGEOBJ_IMAGE for entry in objects)


def _has_objects(page: _PdfPage) -> bool:
    import pypdfium2.raw as pdfium

    return int(pdfium.FPDFPage_CountObjects(page.raw)) > 0


class _Bold:
    """Tells whether lines begin and end in a bold font, by the fonts' names."""

    def __init__(self, text_page: _TextPage) -> None:
        import pypdfium2.raw as pdfium

        self._raw = text_page.raw
        self._get = pdfium.FPDFText_GetFontInfo
        self._flags = ctypes.byref(ctypes.c_int())
        self._buffer = ctypes.create_string_buffer(128)
        self._known: dict[bytes, bool] = {}

    def is_bold(self, line: Line) -> bool:
        """Asks for the first word and, if that is bold, for the last."""
        first, last = line.words[0][0], line.words[-1][0]
        return self._of(first) and (first == last or self._of(last))

    def _of(self, index: int) -> bool:
        length = self._get(self._raw, index, self._buffer, 128, self._flags)
        if not 0 < length <= 128:
            return False
        name = self._buffer.value
        known = self._known.get(name)
        if known is None:
            known = self._known[name] = bool(_BOLD.search(name.decode("utf-8", "replace")))
        return known


def _metadata_title(document: _Pdf) -> str:
    title = one_line(document.get_metadata_value("Title") or "")
    return "" if _BAD_TITLE.match(title) or len(title) < 4 else title
