"""Old and binary workbooks (xls, xlsb) through calamine; how far their cells reach is looked up before.

calamine lays a sheet out as a full rectangle: one cell in the last row and column would take all the memory.
"""

from __future__ import annotations

import io
import re
import struct
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from typing import TYPE_CHECKING

from sbert_desktop.domain import ExtractedText
from sbert_desktop.extraction._builder import TextBuilder
from sbert_desktop.extraction._legacy import OLE, properties, read_converted, read_disguised
from sbert_desktop.extraction._locked import unlocked
from sbert_desktop.extraction._numbers import general
from sbert_desktop.extraction._problems import failure
from sbert_desktop.extraction._sheets import SheetWriter
from sbert_desktop.extraction._source import Source
from sbert_desktop.extraction._xml import TEXT_LIMIT, Container, attribute, drop, elements, local

if TYPE_CHECKING:
    from python_calamine import CalamineWorkbook

_MOST_CELLS = 12_000_000
"""Cells of a sheet's full rectangle: calamine takes about 32 bytes for each."""
_BIFF_CELLS = frozenset((0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x7E, 0xBD, 0xBE, 0xD6, 0xFD, 0x201, 0x203, 0x204, 0x205,
                         0x206, 0x27E, 0x406))
"""Records that hold a cell: row and column come first. Source: MS-XLS 2.3.1."""
_SECTOR = 4096
_SHEET_XML = b"urn:schemas-microsoft-com:office:spreadsheet"


def read(source: Source) -> ExtractedText:
    """Reads an xls or xlsb, or a page, a table or the XML of 2003 under that name.

    Raises:
        ExtractionError: ``damaged``, ``encrypted``, ``too-large``, ``needs-program`` or ``empty``.
    """
    if source.data.startswith(b"PK"):
        return _read_workbook(source.data, TextBuilder("xlsb", limit=TEXT_LIMIT))
    if source.data.startswith(OLE):
        data = unlocked(source)
        out = properties(data)
        out.format = "xls"
        name, book = _book(data)
        if book:
            _refuse_far_cells(_biff_cells(book))
            extracted = _read_workbook(_packed(name, book), out)
            if extracted.blocks:
                return extracted
        return read_converted(source, "ods", "xls")
    if _SHEET_XML in source.data[:8192]:
        return _read_xml(source.data)
    found = read_disguised(source)
    return found if found is not None else read_converted(source, "ods", "xls")


def _read_workbook(data: bytes, out: TextBuilder) -> ExtractedText:
    from python_calamine import CalamineError, CalamineWorkbook

    if data.startswith(b"PK"):
        for cells in _binary_sheets(Container(data)):
            _refuse_far_cells(cells)
    try:
        _write(CalamineWorkbook.from_filelike(io.BytesIO(data)), out)
    except (CalamineError, OSError, ValueError) as error:
        if out.format == "xls":
            return out.finish()  # what calamine refuses LibreOffice may read
        raise failure("damaged", detail=type(error).__name__) from error
    extracted = out.finish()
    if not extracted.blocks and out.format != "xls":
        raise failure("empty")
    return extracted


def _write(book: CalamineWorkbook, out: TextBuilder) -> None:
    from python_calamine import SheetTypeEnum, SheetVisibleEnum

    hidden = 0
    for number, sheet in enumerate(book.sheets_metadata):
        if sheet.typ != SheetTypeEnum.WorkSheet:
            continue
        concealed = sheet.visible != SheetVisibleEnum.Visible
        hidden += concealed
        writer = SheetWriter(out, sheet.name, hidden=concealed)
        for row in book.get_sheet_by_index(number).iter_rows():
            writer.row([_shown(value) for value in row])
            if out.full:
                break
        writer.flush()
    if hidden:
        out.metadata.append(("hidden sheets", str(hidden)))


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float):
        return general(value)
    if isinstance(value, datetime):
        if value.time() == time.min:
            return value.strftime("%Y-%m-%d")
        return value.strftime("%Y-%m-%d %H:%M:%S" if value.second else "%Y-%m-%d %H:%M")
    if isinstance(value, date | time | timedelta):
        return str(value)
    return str(value) if value is not None else ""


def _refuse_far_cells(cells: Iterator[tuple[int, int]]) -> None:
    top = left = 1 << 30
    bottom = right = -1
    for row, column in cells:
        if row < 0:  # the next sheet
            top, left, bottom, right = 1 << 30, 1 << 30, -1, -1
            continue
        top, bottom = min(top, row), max(bottom, row)
        left, right = min(left, column), max(right, column)
        if (bottom - top + 1) * (right - left + 1) > _MOST_CELLS:
            raise failure("too-large", "A sheet reaches over too many rows and columns.",
                          "Delete the stray cells far away from the others, or save the file as xlsx.")


def _book(data: bytes) -> tuple[str, bytes]:
    """Gives the name and the bytes of the stream that is the workbook, empty where it cannot be read."""
    import olefile

    try:
        with olefile.OleFileIO(io.BytesIO(data)) as ole:
            name = next((name for name in ("Workbook", "Book") if ole.exists(name)), "")
            return name, ole.openstream(name).read() if name else b""
    except (OSError, olefile.olefile.OleFileError, ValueError, IndexError, struct.error, MemoryError):
        return "", b""


def _packed(name: str, book: bytes) -> bytes:
    """Puts the workbook alone into a fresh OLE container. Source: MS-CFB, version 4.

    calamine follows a chain of sectors that bites its own tail until the memory is gone; olefile, which read the
    stream, does not.
    """
    free, end, table = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD
    book += bytes(max(0, 4096 - len(book)))  # a shorter stream would stand elsewhere
    sectors = -(-len(book) // _SECTOR)
    tables = 1
    while tables * (_SECTOR // 4) < sectors + 1 + tables:
        tables += 1
    if tables > 109:
        raise failure("too-large")
    chain = [*range(1, sectors), end, end, *[table] * tables]  # the workbook, the directory, the table itself
    chain += [free] * (tables * (_SECTOR // 4) - len(chain))
    head = struct.pack("<8s16xHHHHH6xIII4xIIIII", OLE, 0x3E, 4, 0xFFFE, 12, 6, 1, tables, sectors, 4096, end, 0, end, 0)
    places = [sectors + 1 + number for number in range(tables)]
    head += struct.pack("<109I", *places, *[free] * (109 - tables))

    def entry(label: str, kind: int, child: int, start: int, size: int) -> bytes:
        text = label.encode("utf-16-le")
        length = len(text) + 2 if text else 0
        return struct.pack("<64sHBBIII36xIQ", text, length, kind, 1, free, free, child, start, size)

    directory = entry("Root Entry", 5, 1, 0, 0) + entry(name, 2, free, 0, len(book))
    directory += entry("", 0, free, 0, 0) * (_SECTOR // 128 - 2)
    body = book + bytes(sectors * _SECTOR - len(book))
    return head.ljust(_SECTOR, b"\0") + body + directory + struct.pack(f"<{len(chain)}I", *chain)


def _biff_cells(book: bytes) -> Iterator[tuple[int, int]]:
    """Gives the places of all cells of an xls; (-1, -1) where a sheet begins."""
    at = 0
    while at + 8 <= len(book):
        kind, length, row, column = struct.unpack_from("<4H", book, at)
        if kind in _BIFF_CELLS:
            yield row, column
        elif kind == 0x809:
            yield -1, -1
        at += 4 + length


def _binary_sheets(container: Container) -> Iterator[Iterator[tuple[int, int]]]:
    for name in container.names:
        if re.fullmatch(r"xl/worksheets/[^/]+\.bin", name):
            yield _biff12_cells(container.part(name))


def _biff12_cells(data: bytes) -> Iterator[tuple[int, int]]:
    """Gives the places of all cells of a sheet of an xlsb. Source: MS-XLSB 2.1.4."""
    at = row = 0
    while at < len(data):
        kind = data[at]
        at += 1
        if kind & 0x80 and at < len(data):
            kind = (kind & 0x7F) | (data[at] & 0x7F) << 7
            at += 1
        length = shift = 0
        while at < len(data) and shift < 28:
            byte = data[at]
            at += 1
            length |= (byte & 0x7F) << shift
            shift += 7
            if not byte & 0x80:
                break
        if kind == 0 and at + 4 <= len(data):
            row = struct.unpack_from("<I", data, at)[0]
        elif 1 <= kind <= 11 and at + 4 <= len(data):
            yield row, struct.unpack_from("<I", data, at)[0]
        at += length


def _read_xml(data: bytes) -> ExtractedText:
    """Reads the XML that Excel 2002 and 2003 could save."""
    out = TextBuilder("xls")
    for sheet in elements(data, "Worksheet", "Title"):
        if local(sheet.tag) == "Title":
            out.title = out.title or (sheet.text or "").strip()
            continue
        writer = SheetWriter(out, attribute(sheet, "Name"))
        for row in sheet.iter("{*}Row"):
            writer.row(["".join(str(part) for part in cell.itertext()) for cell in row])
        writer.flush()
        drop(sheet)
    extracted = out.finish()
    if not extracted.blocks:
        raise failure("empty")
    return extracted
