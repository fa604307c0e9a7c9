"""Workbooks (xlsx): sheets with their rows as lines, numbers and dates as the cells show them, comments, charts.

Read as a stream of cells that are there, so that one cell in the last row and column costs nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from sbert_desktop.domain import BlockKind, ExtractedText
from sbert_desktop.extraction._builder import TextBuilder
from sbert_desktop.extraction._docx import drawing_text, main_part, read_properties
from sbert_desktop.extraction._numbers import BUILT_IN, general, show
from sbert_desktop.extraction._problems import failure
from sbert_desktop.extraction._source import Source
from sbert_desktop.extraction._xml import TEXT_LIMIT, Container, attribute, drop, elements, local, root_of

if TYPE_CHECKING:
    from lxml.etree import _Element

_ROWS = 40
_CELL_LIMIT = 32_767
"""Characters of one cell. Source: Excel's specifications and limits."""
_STRINGS_LIMIT = 128 * 1024 * 1024
_USUAL_NAME = re.compile(r"^(?:sheet|tabelle|feuil|hoja|foglio|blad|ark|лист|arkusz|planilha|シート|工作表)\s*\d*$",
                         re.IGNORECASE)


def read(source: Source) -> ExtractedText:
    """Reads a workbook.

    Raises:
        ExtractionError: ``damaged``, ``encrypted``, ``too-large`` or ``empty``.
    """
    container = Container(source.data)
    book = _Book(container, main_part(container, "xl/workbook.xml"))
    if not book.sheets:
        raise failure("damaged")
    out = TextBuilder("xlsx", limit=TEXT_LIMIT)
    read_properties(container, out)
    hidden = 0
    for name, state, place in book.sheets:
        hidden += state != "visible"
        writer = SheetWriter(out, name, hidden=state != "visible")
        for row in book.rows(place):
            writer.row(row)
            if out.full:
                break
        writer.flush()
        _write_beside(container, place, out, writer.part)
        if out.full:
            break
    if hidden:
        out.metadata.append(("hidden sheets", str(hidden)))
    if container.problem is not None:
        out.problems.append(container.problem)
    extracted = out.finish()
    if not extracted.blocks:
        raise failure("empty")
    return extracted


class SheetWriter:
    """Writes one sheet: its name as a heading, its rows as TABLE blocks of 40 lines."""

    def __init__(self, out: TextBuilder, name: str, *, hidden: bool = False) -> None:
        self._out, self._name = out, name
        self.part = f"{name} (hidden)" if hidden else name
        self._lines: list[str] = []
        self._begun = False

    def row(self, cells: list[str]) -> None:
        """Adds a row; empty cells and rows are left out."""
        line = "\t".join(" ".join(cell[:_CELL_LIMIT].split()) for cell in cells if cell and not cell.isspace())
        if line:
            self._lines.append(line)
            if len(self._lines) >= _ROWS:
                self.flush()

    def flush(self) -> None:
        """Writes the lines that wait."""
        if not self._begun and self._lines:
            self._begun = True
            self._out.reset_headings()
            if not _USUAL_NAME.match(self._name):
                self._out.add_heading(self._name, 1, part=self.part)
        self._out.add("\n".join(self._lines), BlockKind.TABLE, part=self.part)
        self._lines.clear()


class _Book:
    """The parts that the sheets share: names and states, strings, number formats."""

    def __init__(self, container: Container, main: str) -> None:
        self._container = container
        self._related = container.related(main)
        self.from_1904 = False
        self.sheets: list[tuple[str, str, str]] = []
        root = root_of(container.text_of(main))
        for element in root.iter() if root is not None else ():
            kind = local(element.tag)
            if kind == "workbookPr":
                self.from_1904 = attribute(element, "date1904") in {"1", "true"}
            elif kind == "sheet":
                place = next((self._related[str(value)][1] for key, value in element.attrib.items()
                              if str(key).endswith("}id") and str(value) in self._related), "")
                if place in container.names:
                    self.sheets.append((attribute(element, "name"), attribute(element, "state") or "visible", place))
        if not self.sheets:  # a damaged file: by their numbers
            names = [name for name in container.names if re.fullmatch(r"xl/worksheets/sheet\d+\.xml", name)]
            self.sheets = [(f"Sheet{number}", "visible", name)
                           for number, name in enumerate(sorted(names, key=lambda name: (len(name), name)), 1)]
        self._strings = self._read_strings()
        self._codes = self._read_codes()

    def rows(self, place: str) -> Iterator[list[str]]:
        """Gives the texts of each row's cells, in order; cells that are not there are left out."""
        for row in elements(self._container.text_of(place) or b"<none/>", "row"):
            yield [text for cell in row if local(cell.tag) == "c" and (text := self._cell(cell))]
            drop(row)

    def _place(self, kind: str, usual: str) -> str:
        return next((place for found, place in self._related.values() if found == kind), usual)

    def _read_strings(self) -> list[str]:
        strings: list[str] = []
        size = 0
        for element in elements(self._container.text_of(self._place("sharedStrings", "xl/sharedStrings.xml"))
                                or b"<none/>", "si"):
            text = _rich_text(element)[:_CELL_LIMIT]
            size += len(text)
            if size > _STRINGS_LIMIT:
                break
            strings.append(text)
            drop(element)
        return strings

    def _read_codes(self) -> list[str]:
        """Gives the number format of each cell style."""
        root = root_of(self._container.text_of(self._place("styles", "xl/styles.xml")))
        own: dict[str, str] = {}
        codes: list[str] = []
        for element in root if root is not None else ():
            if local(element.tag) == "numFmts":
                own.update((attribute(child, "numFmtId"), attribute(child, "formatCode")) for child in element)
            elif local(element.tag) == "cellXfs":
                for child in element:
                    number = attribute(child, "numFmtId")
                    codes.append(own.get(number) or BUILT_IN.get(int(number) if number.isdigit() else 0, "General"))
        return codes

    def _cell(self, cell: _Element) -> str:
        kind, value = cell.get("t", "n"), ""
        for child in cell:
            name = local(child.tag)
            if name == "v":
                value = child.text or ""
            elif name == "is":
                return _rich_text(child)
        if not value:
            return ""
        if kind == "s":
            return self._strings[int(value)] if value.isdigit() and int(value) < len(self._strings) else ""
        if kind == "b":
            return "TRUE" if value == "1" else "FALSE"
        if kind != "n":
            return value  # text of a formula, an ISO date, an error
        try:
            number = float(value)
            style = cell.get("s", "0")
            code = self._codes[int(style)] if style.isdigit() and int(style) < len(self._codes) else "General"
            return general(number) if code == "General" else show(number, code, from_1904=self.from_1904)
        except (ValueError, OverflowError):
            return value


def _rich_text(element: _Element) -> str:
    """Gives the runs of a string; how it is pronounced (phonetic runs) is not part of it."""
    parts: list[str] = []
    for child in element:
        name = local(child.tag)
        if name == "t":
            parts.append(child.text or "")
        elif name == "r":
            parts += [node.text or "" for node in child if local(node.tag) == "t"]
    return "".join(parts)


def _write_beside(container: Container, place: str, out: TextBuilder, part: str) -> None:
    """Adds a sheet's comments and the words of its text boxes and charts."""
    related = sorted(container.related(place).values())
    threaded = any(kind == "threadedComment" for kind, _ in related)
    for kind, target in related:
        if kind == "threadedComment" or (kind == "comments" and not threaded):
            for comment in elements(container.text_of(target) or b"<none/>", "threadedComment", "comment"):
                words = "".join(node.text or "" for node in comment.iter() if local(node.tag) in {"t", "text"})
                out.add(words, part=f"{part}, comment")
        elif kind == "drawing":
            out.add(drawing_text(container.text_of(target)), part=part)
            for kind_of, chart in sorted(container.related(target).values()):
                if kind_of == "chart":
                    out.add(drawing_text(container.text_of(chart)), part=f"{part}, chart")
